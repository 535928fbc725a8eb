/* unit_wording.h - what the wording of a unit says beyond its words: that what is asked about is left out, "without the musical",
 * or that a label is what is asked about and its place stands behind it, "Needles: yellow box". English. Part of candidates.h. */
#ifndef FORAGE_RETRIEVAL_UNIT_WORDING_H
#define FORAGE_RETRIEVAL_UNIT_WORDING_H

#include "retrieval/answer/candidates.h"

/* Who asks what something costs, or how many there are, gets no answer by what is said of all without it. */
bool unit_leaves_out(const question *q, const candidate_passage *p, const text_unit *u);

/* Who asks what holds during the trial gets no answer by what holds after it: of the noun that the question's "before", "during" or
 * "after" stands before, the unit says another one of the three, and nowhere that one. CAND_RIVAL where a unit of the passages says
 * that one; 1: none does; 0: it is not so, or what begins in one of them may last behind it ("until", "ahead of", "when it ends", in
 * a condition: "if you do not subscribe during the trial, all is deleted"). English. */
int unit_of_another_time(const candidate_set *set, const candidate_passage *p, const text_unit *u);

/* Who asks whether something can be done on Windows is answered by "It is only possible on Linux and macOS": it has all words of
 * the question but that name, and names others alone behind "only" and the name's preposition. English. */
bool unit_names_only_others(const question *q, const candidate_passage *p, const text_unit *u);

/* Does the question ask where, and does all that the unit says of it, most of what the question says, stand in a label with a place
 * behind it? */
bool unit_label_is_placed(const question *q, const candidate_passage *p, const text_unit *u);

#endif
