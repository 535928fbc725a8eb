/* demand_dimensions.h - of what an amount is that a question demands: width, age, speed, energy; and whether a text may state it.
 * English. */
#ifndef FORAGE_RETRIEVAL_DEMAND_DIMENSIONS_H
#define FORAGE_RETRIEVAL_DEMAND_DIMENSIONS_H

#include <stdbool.h>
#include <stddef.h>

enum demand_dimension {
    DIMENSION_ANY,
    DIMENSION_WIDTH,
    DIMENSION_DEPTH,
    DIMENSION_THICKNESS,
    DIMENSION_HEIGHT, /* how tall: any number but one of a speed, a weight, a time, a price */
    DIMENSION_AGE, /* how old: any number but one of a way, a speed, a weight, a share, a temperature, a price, an hour; or "older", or from what
                      height on one may */
    DIMENSION_ENERGY, /* how many calories, how much fat and so on: the text has a word for it */
    DIMENSION_FAT,
    DIMENSION_SUGAR,
    DIMENSION_SALT,
    DIMENSION_PROTEIN,
    DIMENSION_FIBRE,
    DIMENSION_CAFFEINE,
    DIMENSION_ALCOHOL,
    DIMENSION_PACE,  /* how fast something is: a speed or a time */
    DIMENSION_SPEED, /* how fast something moves: a way and a time, or a word for it */
};

/* "How wide is it?", "What is the depth?", "How fast does it swim?"; how fast something is done, or how fast one has to be, or gets
 * somewhere, is a time. DIMENSION_ANY of a length or a height in other words: of those it is often not said
 * that they are one. */
enum demand_dimension demand_dimension_of(const char *question, size_t len);
/* May the text say how far something goes that way? True of any. */
bool demand_dimension_in(enum demand_dimension dimension, const char *text, size_t len);
/* Has what is measured to be named? Calories and fat are, a width seldom is. */
bool demand_dimension_is_named(enum demand_dimension dimension);

#endif
