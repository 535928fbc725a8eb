/* spoken_of.h - the document that a conversation was answered from last.
 *
 *     int rc = spoken_of_find(r, &lx, turns, n_turns);   // r->spoken_of: its id, or NULL
 *
 * A request carries what was said, not what was cited. What a service quotes stands in its document word by word, so of the
 * chunks that have most of the last question and its answer one is of that document; where a chunk has less than half of what the answer
 * says (it was a refusal, or thanks), the exchange before it is looked at. "Is there anywhere to park?" is asked of the
 * practice that the talk is of, not of any folder's car park: such chunks come first among equals, and nothing else is left out:
 * where they hold no answer to a question that stands alone, the others are looked at as if nothing had been said before
 * (extractive.c). A long
 * question that stands alone says itself what it is about: for that one the document is not looked for. */
#ifndef FORAGE_RETRIEVAL_SPOKEN_OF_H
#define FORAGE_RETRIEVAL_SPOKEN_OF_H

#include "retrieval/pipeline/query_run.h"

/* Sets r->spoken_of, freed with the run; one sparse search an exchange, three at most. Error codes as search_sparse. */
int spoken_of_find(run *r, const lexicon *lx, const prompt_turn *turns, size_t n_turns);

#endif
