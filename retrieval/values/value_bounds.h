/* value_bounds.h - amounts that a question names, and bounds that a text states for such: 7 kg falls within "up to 10 kg", four days
 * before within "6 to 2 days before", a child of 9 within "(4-12)". English. */
#ifndef FORAGE_RETRIEVAL_VALUE_BOUNDS_H
#define FORAGE_RETRIEVAL_VALUE_BOUNDS_H

#include "retrieval/values/cell_values.h"

/* Which way a length goes: of a thing of two or three of them each has its own bound. */
enum value_way { WAY_NOT_SAID, WAY_LENGTH, WAY_WIDTH, WAY_HEIGHT, WAY_DEPTH, WAY_THICKNESS };

typedef struct value_bound {
    double low,
        high; /* in the least of its units (cell_values.h); infinite where nothing bounds it */
    bool low_open, high_open; /* "over", "under": the bound itself is not within */
    enum cell_unit unit;      /* CELL_PLAIN: of nothing; CELL_OTHER: of what `noun` says */
    uint32_t noun;            /* a hash of what is counted: parcels; 0 */
    enum value_way way;       /* of a length: "30 cm wide", "Width up to: 30 cm" */
    bool age;                 /* of a question: how old somebody is, in years */
    bool of_years;            /* "under 12s": no seconds where an age is asked for */
    bool short_span;          /* in hours or less: nobody is 45 minutes old */
    bool ahead;               /* so long before something: "four days before" */
    uint32_t at;              /* its first byte in the text */
} value_bound;

enum { VALUE_BOUNDS_MAX = 4 };

/* Amounts of a question, low and high equal: "a 7 kg parcel", "four days before", "my 9-year-old", "an 8 month old baby". At
 * most VALUE_BOUNDS_MAX. */
size_t value_amounts_in(const char *question, size_t len, value_bound out[VALUE_BOUNDS_MAX]);

/* Bounds that a text states: "up to 5 kg", "from 200 parcels", "under 12", "65+", "6 to 2 days". At most VALUE_BOUNDS_MAX. */
size_t value_bounds_in(const char *text, size_t len, value_bound out[VALUE_BOUNDS_MAX]);

/* Does a text state a bound that the amount is within, or the amount itself ("5 days | 60 EUR")? */
bool value_amount_is_met(const char *text, size_t len, const value_bound *amount);

/* Are two amounts of a question of one kind, so that a bound for one is for the other as well? */
bool value_amounts_alike(const value_bound *a, const value_bound *b);

/* Is the bound one for amounts like that one: kilograms, days before, parcels? */
bool value_bound_is_for(const value_bound *bound, const value_bound *amount);

/* ... and is the amount within it? */
bool value_bound_holds(const value_bound *bound, const value_bound *amount);

/* Of two bounds that hold an amount the one that says more of it: "up to 10 kg" beside "up to 20 kg". */
bool value_bound_is_closer(const value_bound *a, const value_bound *b);

#endif
