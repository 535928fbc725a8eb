/* cell_times.h - dates and times of the day in a table's cell, part of cell_values.h: "11 May 1901", "2026-06-08",
 * "03/12/2025", "9:30", "6.30 pm", "8.30 Uhr", "noon". */
#ifndef FORAGE_RETRIEVAL_CELL_TIMES_H
#define FORAGE_RETRIEVAL_CELL_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "retrieval/values/cell_values.h"

/* Is c one of the marks? */
static inline bool cell_is_mark(char c, const char *marks) {
    return c && strchr(marks, c);
}

/* Bytes of the blanks that s[n] begins with, narrow and wide; a cell has no line ends. */
size_t cell_blanks_at(const char *s, size_t n);

typedef struct cell_date {
    double day;   /* CELL_YEAR of them a year; of no year, of the year 0 */
    double other; /* DATE_ORDER_OPEN: with the month first */
    enum date_order order;
} cell_date;

/* The date that s[n] begins with, perhaps with a time of the day behind it. Bytes; 0: none. */
size_t cell_date_at(const char *s, size_t n, cell_date *out);

typedef struct cell_clock {
    double minutes;
    bool
        told; /* by what it looks like: 8:30, 8 am, 8.30 Uhr, noon; 8 and 8.30 are times only beside one that is told */
    enum cell_half { CELL_HALF_NOT_SAID, CELL_HALF_AM, CELL_HALF_PM } half;
    enum cell_hours hours;
} cell_clock;

/* The time of the day that s[n] begins with. Bytes; 0: none. */
size_t cell_clock_at(const char *s, size_t n, cell_clock *out);

/* Puts the hour, which is 12 at most or was put into the other half before, into that half of the day. */
void cell_clock_set_half(cell_clock *c, enum cell_half half);

#endif
