/* foreign_amounts.h - whether a text in German, French, Spanish, Italian, Portuguese or Russian states what is demanded: an amount of a
 * kind (demand_amounts.h), a time, a telephone number, the name of somebody (demand_details.h). */
#ifndef FORAGE_RETRIEVAL_FOREIGN_AMOUNTS_H
#define FORAGE_RETRIEVAL_FOREIGN_AMOUNTS_H

#include "retrieval/question/demand_amounts.h"
#include "retrieval/question/demand_details.h"

/* As demand_amount_in, demand_amount_column_in and demand_detail_in, of a text in the language of that number, of which there
 * are lists (demand_words.h). */
enum amount_stated foreign_amount_in(int language, enum demand_amount amount, const char *text,
                                     size_t len);
/* Is there one of what is counted, by an article, where the text has the noun (folded, demand_words.h) in the singular:
 * "einen Koffer"? AMOUNT_PERHAPS where a sentence begins with it; by one less where the text speaks of money: "Ein Bett kostet 12 €". */
enum amount_stated foreign_amount_of_one(int language, const char *noun, const char *text,
                                         size_t len);
bool foreign_amount_column_in(int language, enum demand_amount amount, const char *text,
                              size_t len);
bool foreign_detail_in(int language, enum demand_detail detail, const char *text, size_t len);

#endif
