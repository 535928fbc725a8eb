/* courtesy.h - "Thanks! And how do I sort?": the question behind what people say first.
 *
 * Greetings and thanks are no part of what is asked: searched for, they find pages that greet and
 * thank. English, German, French, Spanish, Italian, Portuguese. */
#ifndef FORAGE_RETRIEVAL_COURTESY_H
#define FORAGE_RETRIEVAL_COURTESY_H

#include <stdbool.h>

/* Where the question begins: a pointer into text (UTF-8, NUL-terminated); its end where nothing but
 * courtesies is said, or nothing at all: "????", "...", a face. "&&" is a question. A word is taken
 * for one only where the sentence ends behind it, a comma follows, or the question itself: "Hello
 * world in C", "OK is which exit status?" and "Nice is how far from here?" stay whole. */
const char *question_behind_courtesy(const char *text);

/* Has it a letter or a digit of any script? What has none leans on nothing that was said before. */
bool question_has_words(const char *text);

/* What to say to a text that is courtesy alone, in its language, or says nothing: static. Thanks
 * count before greetings. */
const char *courtesy_reply(const char *text);

#endif
