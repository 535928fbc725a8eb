/* figure_forms.h - what figures say together that is no plain number, part of facts.h: a time of the day, "8:30", and a
 * fraction, a half as one sign or 3/4 in figures. The caller sees to what stands before them. */
#ifndef FORAGE_RETRIEVAL_FIGURE_FORMS_H
#define FORAGE_RETRIEVAL_FIGURE_FORMS_H

#include <stdbool.h>
#include <stddef.h>

#include "retrieval/text/facts.h"

/* "8:30", "17:05": hours below 25, minutes below 60 in two figures, and no seconds. Bytes; 0: s[n] begins with none.
 * *minutes: since midnight, as they are written. */
size_t figure_clock_at(const char *s, size_t n, double *minutes);

/* "8.30 am", "8.30 Uhr", "8.30 o'clock", and the first of "8.30-9.30 Uhr", "8.30 bis 9.30 Uhr", "8.30 to 9.30 am": the same
 * with a point, where what stands behind it tells. Bytes, without that; 0: none. */
size_t figure_pointed_clock_at(const char *s, size_t n, double *minutes);

/* The signs of 1/4, 1/2, 3/4, 1/3, 2/3 and the eighths. Bytes; 0: none. */
size_t figure_sign_at(const char *s, size_t n, double *value);

/* "3/4", "5/16": halves, thirds, quarters and what rulers have, below 1. A rating of 8/10, 24/7 and the day 3/2 are none.
 * Bytes; 0: none. */
size_t figure_fraction_at(const char *s, size_t n, double *value);

/* " and a half", " and a quarter". Bytes; 0: none. */
size_t figure_and_part_at(const char *s, size_t n, double *value);

/* Are two numbers, one of which is of UNIT_CLOCK, the same time: 17:30 and 5:30 pm, 8:00 and 8 am, 8:00 and 8, 8.30 Uhr and
 * 8.30? Without "am"
 * or "pm", 8:00 is that of either half beside one that is told, but never 20:00. */
bool figure_clocks_equal(const fact_number *a, const fact_number *b);

#endif
