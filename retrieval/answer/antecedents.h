/* antecedents.h - sentences that say little without what stands beside them: a word that points back at the sentence before, a
 * "why" whose reason stands in the neighbour. English alone. */
#ifndef FORAGE_RETRIEVAL_ANTECEDENTS_H
#define FORAGE_RETRIEVAL_ANTECEDENTS_H

#include "retrieval/answer/candidates.h"

/* Does the sentence speak of what the one before it names? "It includes water", "This is not possible in the first year", "There a
 * day pass costs £6", "During it either side may ...", "The default is 5%", "For contracts made in our shop there is none." */
bool antecedent_is_meant(const char *s, size_t n);

/* ... by "Water does so only down to four degrees", which names itself what does it? */
bool antecedent_does_so(const char *s, size_t n);

/* "... there is none.": none of what it does not say. */
bool antecedent_is_of_none(const char *s, size_t n);

/* Does it go on from what is said before it, by the word it begins with: "However, ...", "Then ...", "As an example, ..."? */
bool antecedent_is_linked(const char *s, size_t n);

/* "This variable specifies ...", "If set, this option ...": of which entry, its heading says. */
bool antecedent_is_entry(const char *s, size_t n);

/* The sentence right before unit `order` of a passage, in its paragraph, where that one points back at it; NULL: it does not. */
const text_unit *antecedent_of(const candidate_passage *p, uint32_t order);

/* Who asks why, and is told chosen[n] without a reason, is told the sentence right before or behind one of them that has one, in the
 * same paragraph: "The owner will not pay for the repair. The board gave up the move." What only says that something failed has to
 * speak of the same: a word, "it", a heading above both. Where no
 * reason is told, the sentence before "If it fails, ..." tells the case, if it is short and says more of what is asked. Which of set->c; set->n: there is none. */
size_t antecedent_reason_beside(const candidate_set *set, const candidate *chosen, size_t n);

#endif
