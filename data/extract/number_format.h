/* number_format.h - what a cell's format of numbers makes of one: "#,##0.00 \"EUR\"" of 5 is "5.00 EUR", "yyyy\-mm\-dd" a date,
 * "00000" of 1067 the postcode 01067. No digit of a number is left out.
 * Source: ECMA-376 part 1, 18.8.31. */
#ifndef FORAGE_DATA_NUMBER_FORMAT_H
#define FORAGE_DATA_NUMBER_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum number_kind {
    NUMBER_PLAIN,
    NUMBER_DATE,
    NUMBER_MONTH,
    NUMBER_TIME,
    NUMBER_ELAPSED,
    NUMBER_DATE_TIME,
    NUMBER_SHARE,
    NUMBER_KINDS
};

enum { NUMBER_WORDS = 32, NUMBER_SHOWN = 400 }; /* bytes */

typedef struct number_format {
    uint8_t kind;     /* enum number_kind */
    uint8_t digits;   /* of a whole number, at least; 0: as many as it has */
    uint8_t decimals; /* the same, of one with words beside it: 5.00 EUR */
    char before[NUMBER_WORDS],
        behind[NUMBER_WORDS]; /* what stands beside a plain one: its unit, its currency */
} number_format;

void number_format_read(number_format *f, const char *code);
/* Of the formats that files name by a number alone. */
uint8_t number_format_builtin(long id);

/* The number that s says, as f shows it; 0: s is none. from_1904: days count from there. */
size_t number_format_show(const number_format *f, const char *s, bool from_1904,
                          char out[NUMBER_SHOWN]);

#endif
