/* refusal.h - what is said where the documents do not answer, in the language of the question.
 *
 *     printf("%s\n", refusal_text("Wie hoch ist der Mond?", NULL, true));
 *     // "Die Dokumente beantworten diese Frage nicht." */
#ifndef FORAGE_RETRIEVAL_REFUSAL_H
#define FORAGE_RETRIEVAL_REFUSAL_H

#include <stdbool.h>

/* In English, German, French, Spanish, Italian, Portuguese, Russian, Chinese, Japanese, Arabic or
 * Hindi; where the question does not tell ("Poissons rouges"), in the language that the documents are in (its name; NULL: several,
 * or unknown), and else in English. found: there were passages, which do not answer; else there are none. Static text. Any
 * thread. */
const char *refusal_text(const char *question, const char *documents, bool found);

#endif
