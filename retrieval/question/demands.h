/* demands.h - what a question demands of its answer beyond its words: an amount of a kind (what does it
 * cost, how heavy is it), a day of the week, a month, a place, a reason, or the holder of an office. A passage that
 * shares every word with the question and states no price, speaks of other days or months or says of nothing where it is, answers
 * another question. English; of German, French, Spanish, Italian, Portuguese, Russian and Arabic the amount, the address, the time and the person
 * that is asked for (foreign_demands.h), as of Chinese and Japanese (unspaced_demands.h) and Hindi (hindi_demands.h), and a question of another language demands nothing here. */
#ifndef FORAGE_RETRIEVAL_DEMANDS_H
#define FORAGE_RETRIEVAL_DEMANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "retrieval/question/demand_amounts.h"
#include "retrieval/question/demand_details.h"
#include "retrieval/question/demand_dimensions.h"
#include "retrieval/question/demand_words.h"

typedef struct demands {
    int language; /* of the texts, where that is one of demand_words.h, unspaced_demands.h or hindi_demands.h; else -1 */
    enum demand_amount amount;
    enum demand_dimension dimension;
    enum demand_detail detail;
    uint8_t days;    /* bit 0: Monday ... bit 6: Sunday; 0: none is named */
    uint16_t year;   /* demand_year_of */
    uint16_t date;   /* demand_date_in, where no yes or no is asked for; 0: none */
    uint16_t months; /* bit 0: January ...; 0: none is named */
    bool
        whether; /* yes or no is what it asks for: "Can I come on Sunday?", "Is blue chalk allowed?" */
    bool which;      /* "Which boats need a licence?": those that do, not those that need none */
    bool which_none; /* "Which boats need none?" */
    bool who_not;    /* "Who is not on duty on Monday?" */
    bool none;       /* it says no, none, not or never: "How many boats need no licence?" */
    bool extreme;    /* "Which is the oldest?", "Who has the most points?" */
    bool in_turn;    /* "When does the last bus leave?" */
    bool place;      /* it begins with "where" */
    bool reason;     /* it begins with "why" */
    bool when;       /* demand_when_asked */
    size_t
        counted; /* "How many cranes were seen?": where the word for them begins in the question; 0: nowhere */
    char noun
        [DEMAND_WORD_MOST]; /* of a question in another language, what is counted, people and days too, folded; of Hindi, as hindi_demands.h; of Japanese the counter; "" */
    /* "Qui est le vice-président ?": where the word for the office begins in the question, and what makes another one of it; 0: nowhere.
     * Of languages with demand_words.h. */
    size_t office, deputy;
    uint8_t rank; /* "Who is the vice chair?": which words set an office apart; 0: none does */
} demands;

/* Of a question about texts in the language of that number (language.h), -1: English. The question is read in theirs or, by its
 * words, in English, and about English texts in another one that it is plainly in. Borrows nothing. */
demands demands_read(const char *question, size_t len, int language);

/* demand_amount_in, demand_amount_column_in and demand_detail_in of a text in the language of the texts. */
enum amount_stated demands_amount_in(const demands *d, enum demand_amount amount, const char *text,
                                     size_t len);
bool demands_amount_column_in(const demands *d, const char *text, size_t len);
bool demands_detail_in(const demands *d, const char *text, size_t len);

/* May the text say where something is or goes: by a preposition, a path, a name? True where no place is demanded. */
bool demands_place_in(const demands *d, const char *text, size_t len);

/* Reasons are given in many ways: by a word for them, an aim, a condition, or by what somebody is, has or may do. */
enum reason_given {
    REASON_NONE,    /* none of those words: it states a fact */
    REASON_PERHAPS, /* "Dust and mud keep off flies, which bite" */
    REASON_GIVEN,   /* "because", "so that", "due to"; or none is demanded */
};
enum reason_given demands_reason_in(const demands *d, const char *text, size_t len);

/* Does the text say of something that it is the most or the least of its kind? */
bool demands_extreme_in(const char *text, size_t len);

/* Does the text ask which of those that come one after another is the first, or the last: "When does the last bus leave?", "Which
 * boat starts first?", "first tram sunday"? *last: it is the last; *behind: the byte behind that word; both as they were where it does not. Not what has lasted, and no last name. */
bool demands_turn_in(const char *text, size_t len, bool *last, size_t *behind);

/* Either: rows of a table have to be compared. */
bool demands_comparison_in(const char *text, size_t len);

/* Does the text speak of the office that was asked for, and not of the one above it? True where none is demanded. */
bool demands_rank_in(const demands *d, const char *text, size_t len);

enum demand_day {
    DAY_NOT_SAID, /* no day is demanded, or the text names none, or others where yes or no is asked for, or a time without its
                   * other end ("from June on") */
    DAY_MET,      /* by name, within a range (Tuesday to Friday), or daily */
    DAY_OTHER,    /* the text speaks of other days only */
};
enum demand_day demands_day_in(const demands *d, const char *text, size_t len);

/* The same of months: by name, or within a range (1 November to 31 March). */
enum demand_day demands_month_in(const demands *d, const char *text, size_t len);

#endif
