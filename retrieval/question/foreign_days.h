/* foreign_days.h - days of the week that a text in another language than English names, in words or in short: "Mo-Fr 9-18 Uhr",
 * "du lundi au vendredi", "lun-ven", "segunda a sexta", "по будням". Lists of our own for German, French, Spanish, Italian, Portuguese
 * and Russian; English is demand_days.h's. */
#ifndef FORAGE_RETRIEVAL_FOREIGN_DAYS_H
#define FORAGE_RETRIEVAL_FOREIGN_DAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bit 0: Monday ... bit 6: Sunday; those between two as well, all where something is daily; 0: none, or a language without lists.
 * *open, which may be NULL: a time is said of which one end was not ("ab Donnerstag"). */
uint8_t foreign_days_in(int language, const char *text, size_t len, bool *open);

/* Does the question ask for more than yes or no: "Wann ...", "À quelle heure ..."? Of a language with such lists. */
bool foreign_days_question_asks(int language, const char *text, size_t len);

/* Is the word one of those by which days are named: "samstags", "feira", "Wochenende"? Whether it is meant so is not asked. */
bool foreign_day_named(int language, const char *word, size_t n);

#endif
