/* cell_values.h - what the figure in a table's cell comes to, so that cells of one column can be compared: "€1,250", "45 min",
 * "2.1 km", "1 h 50 min", "12-14 kg", "11 May 1901, Lemberg", "03/12/2025", "9:30", "6 pm". */
#ifndef FORAGE_RETRIEVAL_CELL_VALUES_H
#define FORAGE_RETRIEVAL_CELL_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "retrieval/text/dates.h"

enum cell_unit {
    CELL_PLAIN,   /* a number of nothing, or of what its column says */
    CELL_MONEY,   /* whatever the currency */
    CELL_SPAN,    /* of time, in seconds */
    CELL_LENGTH,  /* in metres */
    CELL_WEIGHT,  /* in grams */
    CELL_BYTES,   /* of data */
    CELL_DEGREES, /* of temperature */
    CELL_SPEED,   /* each unit is a kind */
    CELL_CLOCK,   /* a time of the day, in minutes */
    CELL_DATE,    /* in days, CELL_YEAR of them a year, times as parts; of no year, of the year 0 */
    CELL_OTHER,   /* a unit that is not known here: of one column it is taken for the same */
};

enum { CELL_YEAR = 372 }; /* of a CELL_DATE: 31 days in each month */

/* Of a CELL_CLOCK: 8:30 pm is said in halves of the day, 17:00 cannot be, 8:30 may be. */
enum cell_hours { CELL_HOURS_SURE, CELL_HOURS_12, CELL_HOURS_OPEN };

typedef struct cell_value {
    enum cell_unit unit;
    double low, high;      /* equal but for a range */
    bool year;             /* a plain number that may be a year */
    enum date_order order; /* DATE_ORDER_OPEN: others of its column may tell (cell_dates_settle) */
    enum cell_hours hours;
    double
        month_first; /* DATE_ORDER_OPEN: what it is with the month first; low and high have the day first */
    uint32_t kind; /* of what it is besides its unit, "per night", square metres; 0: of nothing */
} cell_value;

/* Of cell[n]. False: it states no figure, or says more than one about more than a range; what stands in brackets behind it
 * is not looked at, but for other prices. */
bool cell_value_read(const char *cell, size_t n, cell_value *out);

/* A hash of s[n] behind `before` (0: of nothing), whatever the case of ASCII letters; never 0. */
uint32_t cell_kind_of(uint32_t before, const char *s, size_t n);

/* The unit that a word names, "kg", "days", and how many of the least of its kind it is; false: it names none. */
bool cell_unit_named(const char *word, size_t n, enum cell_unit *unit, double *times);

/* Can the two be compared? Not metres with grams, prices per day with those per week, "8:30 pm" with "9:15", "8 June" with
 * "9 June 2025". */
bool cell_values_compare(const cell_value *a, const cell_value *b);

/* Puts open dates of a column, v[i] where has[i], into the order that its other dates tell. False: they do not tell. */
bool cell_dates_settle(cell_value *v, const bool *has, size_t n);

/* Is it empty, a dash, "none", "n/a"? */
bool cell_is_empty(const char *cell, size_t n);

#endif
