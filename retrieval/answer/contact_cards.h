/* contact_cards.h - of a document of contact cards, as data/extract makes it of vCards, each says what is so of one person:
 *
 *     Kieran Dunmore
 *
 *     Title: Roofer
 *     Telephone (mobile): 07700 900412
 *
 * Whoever asks for Kieran's birthday is not told that of the plumber, though his card alone has one. */
#ifndef FORAGE_RETRIEVAL_CONTACT_CARDS_H
#define FORAGE_RETRIEVAL_CONTACT_CARDS_H

#include "retrieval/answer/candidates.h"

/* Where the question says the name of a card, or else the title or organization of one, what stands in the others of its document and
 * does not name them either is of somebody else (CAND_OTHER_THING). */
void contact_cards_mark(candidate_set *set);

#endif
