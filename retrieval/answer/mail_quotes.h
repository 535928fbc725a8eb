/* mail_quotes.h - what a mail quotes was said before what it says itself, and may hold no longer: "185 people, not 160". */
#ifndef FORAGE_RETRIEVAL_MAIL_QUOTES_H
#define FORAGE_RETRIEVAL_MAIL_QUOTES_H

#include "retrieval/answer/candidates.h"

/* Was c said before the best, in the same document: quoted, which the best is not, or in a quotation of that? */
bool mail_quotes_before(const candidate_set *set, const candidate *c);

/* Is the best quoted, and does the mail itself say the same anew in c: "at 8:15, not 8:45"? Nearly as well, or it says that it corrects it or
 * that it holds no longer, and repeats half of it. Where a day, an hour or a sum is asked for, also what names that of the best again and
 * another one: "they cannot do the 14th after all, it will be the 17th". English. */
bool mail_quotes_corrected(const candidate_set *set, const candidate *c);

#endif
