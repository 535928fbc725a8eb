/* demands.h - what a question demands of its answer beyond its words: an amount of a kind (what does it
 * cost, how heavy is it), a day of the week, a place, or the holder of an office. A passage that
 * shares every word with the question and states no price, speaks of other days or says of nothing where it is, answers
 * another question. English; a question of another language demands nothing here. */
#ifndef FORAGE_RETRIEVAL_DEMANDS_H
#define FORAGE_RETRIEVAL_DEMANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum demand_amount {
    AMOUNT_NONE,
    AMOUNT_MONEY,
    AMOUNT_EXPENSE, /* what does it cost: money, or time, memory, a share */
    AMOUNT_WEIGHT,
    AMOUNT_TEMPERATURE,
    AMOUNT_LONG, /* how long: of time or of way */
    AMOUNT_ANY,  /* how many, how far: a number, in digits or letters */
};

typedef struct demands {
    enum demand_amount amount;
    uint8_t days; /* bit 0: Monday ... bit 6: Sunday; 0: none is named */
    bool place;   /* it begins with "where" */
    size_t
        counted; /* "How many cranes were seen?": where the word for them begins in the question; 0: nowhere */
    uint8_t rank; /* "Who is the vice chair?": which words set an office apart; 0: none does */
} demands;

/* *out borrows nothing. */
demands demands_read(const char *question, size_t len);

/* Does text[len] state an amount of the kind? True where none is demanded. */
bool demands_amount_in(const demands *d, const char *text, size_t len);

/* May a row of a table, or what its columns are called, state the amount by a number alone, since a word of it says
 * of what kind its numbers are ("Weight: 62")? True for what may be counted or paid: that is said above a table. */
bool demands_column_in(const demands *d, const char *text, size_t len);

/* May the text say where something is or goes: by a preposition, a path, a name? True where no place is demanded. */
bool demands_place_in(const demands *d, const char *text, size_t len);

/* Does the text speak of the office that was asked for, and not of the one above it? True where none is demanded. */
bool demands_rank_in(const demands *d, const char *text, size_t len);

enum demand_day {
    DAY_NOT_SAID, /* no day is demanded, or the text names none */
    DAY_MET,      /* by name, within a range (Tuesday to Friday), or daily */
    DAY_OTHER,    /* the text speaks of other days only */
};
enum demand_day demands_day_in(const demands *d, const char *text, size_t len);

#endif
