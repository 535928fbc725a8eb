/* cell_values.h - what the figure in a table's cell comes to, so that cells of one column can be compared: "€1,250", "45 min",
 * "2.1 km", "12-14 kg", "11 May 1901, Lemberg", "9:30". */
#ifndef FORAGE_RETRIEVAL_CELL_VALUES_H
#define FORAGE_RETRIEVAL_CELL_VALUES_H

#include <stdbool.h>
#include <stddef.h>

enum cell_unit {
    CELL_PLAIN,   /* a number of nothing, or of what its column says */
    CELL_MONEY,   /* whatever the currency */
    CELL_SPAN,    /* of time, in seconds */
    CELL_LENGTH,  /* in metres */
    CELL_WEIGHT,  /* in grams */
    CELL_BYTES,   /* of data */
    CELL_DEGREES, /* of temperature */
    CELL_SPEED,   /* whatever the unit */
    CELL_CLOCK,   /* a time of the day, in minutes */
    CELL_DATE,    /* in days, CELL_YEAR of them a year; of no year, of the year 0 */
    CELL_OTHER,   /* a unit that is not known here: of one column it is taken for the same */
};

enum { CELL_YEAR = 372 }; /* of a CELL_DATE: 31 days in each month */

typedef struct cell_value {
    enum cell_unit unit;
    double low, high; /* equal but for a range */
    bool year;        /* a plain number that may be a year */
} cell_value;

/* Of cell[n]. False: it states no figure, or says more than one about more than a range. */
bool cell_value_read(const char *cell, size_t n, cell_value *out);

/* Is it empty, a dash, "none", "n/a"? */
bool cell_is_empty(const char *cell, size_t n);

#endif
