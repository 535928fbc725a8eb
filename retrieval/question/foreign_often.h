/* foreign_often.h - "Ogni quanto si pulisce il filtro?": does a question in German, French, Spanish, Italian, Portuguese or Russian ask how
 * often, and does a text of such a language say how often? As demand_often.h has it of English. */
#ifndef FORAGE_RETRIEVAL_FOREIGN_OFTEN_H
#define FORAGE_RETRIEVAL_FOREIGN_OFTEN_H

#include <stdbool.h>
#include <stddef.h>

bool foreign_often_asked(const char *question, size_t len);
/* language: its number (index/sparse/language.h). A number, a numeral, a time or "each", "always", "after": most things are done on some
 * occasion, so what says none of these is told from it. */
bool foreign_often_in(int language, const char *text, size_t len);

#endif
