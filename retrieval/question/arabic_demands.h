/* arabic_demands.h - what a question in Arabic demands: a price, a length of time or of way, a weight, a temperature, a number, a
 * day, an hour, an address. "Is" is left out in Arabic, "how much" stands before a noun as well as a verb, and what is
 * asked for stands right behind what asks: "كم سعر التذكرة", "ما مدة الإعارة". What a text states is read by
 * foreign_amounts.h. */
#ifndef FORAGE_RETRIEVAL_ARABIC_DEMANDS_H
#define FORAGE_RETRIEVAL_ARABIC_DEMANDS_H

#include <stddef.h>

#include "retrieval/question/foreign_demands.h"

/* w: those of Arabic. */
foreign_demands arabic_demands_read(const demand_words *w, const char *question, size_t len);

#endif
