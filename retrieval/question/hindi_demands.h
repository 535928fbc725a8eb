/* hindi_demands.h - what a question in Hindi demands of its answer, and which texts state it: as foreign_demands.h has it of the
 * languages whose question words come first. Here the noun stands before or behind the word that asks, "शुल्क कितना है", "कितने
 * कोर्ट हैं", and one word is spelt in several ways, which are folded as the analyzer folds them. What is not on its lists is
 * not demanded. */
#ifndef FORAGE_RETRIEVAL_HINDI_DEMANDS_H
#define FORAGE_RETRIEVAL_HINDI_DEMANDS_H

#include "retrieval/question/foreign_demands.h"

/* Is it the language of that number (index/sparse/language.h)? */
bool hindi_demands_known(int language);

/* `noun`: what is counted; a mobile telephone or a speed, where that is asked for; of what kind it is whose price is asked for,
 * "4 bhk". */
foreign_demands hindi_demands_read(const char *question, size_t len);

/* As demand_amount_in, demand_amount_column_in and demand_detail_in, of a text in Hindi; `noun` as the question's. */
enum amount_stated hindi_amount_in(enum demand_amount amount, const char *noun, const char *text,
                                   size_t len);
bool hindi_amount_column_in(enum demand_amount amount, const char *text, size_t len);
bool hindi_detail_in(enum demand_detail detail, const char *noun, const char *text, size_t len);

#endif
