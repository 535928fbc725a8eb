/* demand_units.h - numbers in digits or letters, and the units that may stand behind them. English. */
#ifndef FORAGE_RETRIEVAL_DEMAND_UNITS_H
#define FORAGE_RETRIEVAL_DEMAND_UNITS_H

#include <stdbool.h>
#include <stddef.h>

#include "retrieval/text/word_tokens.h"

bool demand_unit_is_number(const word_token *t);

bool demand_unit_of_weight(const word_token *t);
bool demand_unit_of_degrees(const word_token *t);
bool demand_unit_of_a_way(const word_token *t);
/* What something may cost besides money: a time, memory, a share. */
bool demand_unit_of_an_expense(const word_token *t);

/* "12.5 m/s", "45 km/h": what the unit at t is so far is a speed, and no way and no time. Text up to its end. */
bool demand_unit_of_a_speed(const char *text, size_t len, const word_token *t);

#endif
