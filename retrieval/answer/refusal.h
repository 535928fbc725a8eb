/* refusal.h - what is said where the documents do not answer, in the language of the question.
 *
 *     printf("%s\n", refusal_text("Wie hoch ist der Mond?", true));
 *     // "Die Dokumente beantworten diese Frage nicht." */
#ifndef FORAGE_RETRIEVAL_REFUSAL_H
#define FORAGE_RETRIEVAL_REFUSAL_H

#include <stdbool.h>

/* In English, German, French, Spanish, Italian, Portuguese, Russian, Chinese, Japanese, Arabic or
 * Hindi; English where the question is in none of them, or does not tell. found: there were passages,
 * which do not answer; else there are none. Static text. Any thread. */
const char *refusal_text(const char *question, bool found);

#endif
