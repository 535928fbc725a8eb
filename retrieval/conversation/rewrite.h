/* rewrite.h - the last turn of a conversation made into a question that stands alone, no model.
 *
 *     char *text;
 *     query_rewrite(&text, &lx, turns, n_turns, "And who built it?", &err);
 *     // "And who built it? Harbour Bridge"
 *
 * People refer back: with pronouns, with half sentences, or with a bare key word. The words that
 * the turn lacks are taken from the turns before it: of the user's last ones the rarest first, things before what was asked of
 * them. Where the last two name no thing themselves ("how many are there?", "Thanks!"), those before them are looked at, until one does.
 * A question that stands alone is left as it is.
 * What was tried and what it gave: docs/measurements/answers.md. */
#ifndef FORAGE_RETRIEVAL_REWRITE_H
#define FORAGE_RETRIEVAL_REWRITE_H

#include "retrieval/generator/prompt.h"
#include "retrieval/text/support.h"

/* *out: fresh memory, the question itself where nothing is to be added. *whole: a question that stands alone (follow_up.h),
 * of which every word may be asked to stand in an answer. FO_ENOMEM, FO_ELIMIT. */
int query_rewrite(char **out, bool *whole, const lexicon *lx, const prompt_turn *turns,
                  size_t n_turns, const char *question, fo_err *err);

/* How many words query_rewrite would add at most: many where the question points back, none where it
 * stands alone. */
int query_rewrite_wants(size_t *out, const lexicon *lx, const char *question, fo_err *err);

#endif
