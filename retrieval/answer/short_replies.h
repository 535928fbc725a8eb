/* short_replies.h - "Yes" and "No" below a question reply to that question: "Does it need a GPU? No. It runs on any processor" is no
 * "No" to "Does it run without AVX2?". */
#ifndef FORAGE_RETRIEVAL_SHORT_REPLIES_H
#define FORAGE_RETRIEVAL_SHORT_REPLIES_H

#include "retrieval/answer/candidates.h"

/* Does the unit begin with such a word below a heading that asks something else than the question: with a word of content that the
 * question has not? Then the heading has to be said with it. English, German, French, Spanish, Italian and Portuguese. */
bool short_reply_needs_its_question(const candidate_passage *p, const text_unit *u);

#endif
