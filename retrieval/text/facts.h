/* facts.h - what a text states beyond its words: numbers with units, names, negations.
 *
 * One pass of the index's analysis gives words; a small table of closed classes (number words,
 * months, units of time, negations, ...) marks them. Numbers are read from the text itself, since
 * the analysis cuts "1,234.5" apart. A text that is read in another language than English
 * (analyzer_for_text) has the classes of that one besides (fact_classes.h). */
#ifndef FORAGE_RETRIEVAL_FACTS_H
#define FORAGE_RETRIEVAL_FACTS_H

#include <stdint.h>
#include "kernels/buf.h"
#include "kernels/words.h"
#include "retrieval/text/dates.h"
#include "retrieval/text/support.h"

enum {
    WORD_STOP = 1 << 0,     /* a stop word of the language, or an English function word */
    WORD_PART = 1 << 1,     /* part of the compound before it */
    WORD_CAPITAL = 1 << 2,  /* begins with an upper-case letter */
    WORD_DIGIT = 1 << 3,    /* holds an ASCII digit */
    WORD_NUMERAL = 1 << 4,  /* a number in letters: two, third, million */
    WORD_CALENDAR = 1 << 5, /* a month or weekday */
    WORD_TIME = 1 << 6,     /* century, years, BC: what a question for a time may get */
    WORD_NEGATION = 1 << 7, /* not, never, without, n't, except ... */
    WORD_REASON = 1 << 8,   /* because, due, therefore ... */
    WORD_PLACE = 1 << 9,    /* in, near, from: may stand before a place */
    WORD_CLAUSE = 1 << 10,  /* a clause ends before this word: punctuation, but, although */
    WORD_INITIAL = 1 << 11, /* first of its sentence: its capital says little */
    WORD_DATED =
        1
        << 12, /* of a date that what it is held against says too (claim_dates.h): no word by itself */
    WORD_ASKS =
        1
        << 13, /* in another language than English: asks, or is a verb beside ("combien", "muss") */
};

typedef struct fact_word {
    uint64_t id;                /* of the stem: equal stems, equal ids */
    uint32_t start, end;        /* bytes of the text */
    uint32_t stem_at, stem_len; /* in fact_text.stems */
    uint32_t position;          /* ordinal of the word; parts share their compound's */
    uint32_t flags;             /* WORD_* */
} fact_word;

/* A word that carries weight by itself. */
static inline bool fact_is_content(const fact_word *w) {
    return !(w->flags & (WORD_STOP | WORD_PART));
}

typedef struct fact_sentence {
    uint32_t start, end; /* bytes of the text, trimmed of white space */
    uint32_t w0, w1;     /* its words, half-open; may be empty */
} fact_sentence;

typedef struct fact_text {
    const char *text; /* the caller's */
    size_t len, before;
    bool capitals; /* of letters, it has capitals alone */
    int language; /* its number (index/sparse/language.h) where it is read as another than English; -1 */
    fact_word *words;
    size_t n_words, cap_words;
    fact_sentence *sentences;
    size_t n_sentences, cap_sentences;
    fo_buf stems;
} fact_text;

/* Is one of words [first, end) this one? */
static inline bool fact_says(const fact_text *t, size_t first, size_t end, uint64_t id) {
    for (size_t i = first; i < end; i++)
        if (t->words[i].id == id) return true;
    return false;
}

static inline bool fact_has(const fact_text *t, uint64_t id) {
    return fact_says(t, 0, t->n_words, id);
}

/* Is word i, as it is written but for the case of ASCII letters, one of those that `list` divides by blanks? */
static inline bool fact_word_in(const fact_text *t, size_t i, const char *list) {
    return fo_words_have_any_case(list, t->text + t->words[i].start,
                                  t->words[i].end - t->words[i].start);
}

/* Does the capital of word i tell a name? At the beginning of a sentence and in a text of capitals alone it does not; where nouns have one, it does beside
 * another: "Frau Adler", "Haus Seeblick". */
bool fact_is_named(const fact_text *t, size_t i);

/* Words and sentences of a text; *out may be reused (its memory is kept) or zeroed. FO_ENOMEM,
 * FO_ELIMIT. On failure *out still needs fact_text_deinit. */
int fact_text_read(fact_text *out, analyzer *a, const char *text, size_t len, fo_err *err);
/* The same of a text that is part of a longer one: `before` bytes of that stand before text[0] and
 * tell where its first line and sentence began. */
int fact_passage_read(fact_text *out, analyzer *a, const char *text, size_t len, size_t before,
                      fo_err *err);
void fact_text_deinit(fact_text *t);

/* idf of a word of t, 1 where the lexicon has none. */
double fact_word_idf(const lexicon *lx, const fact_text *t, const fact_word *w);

enum {
    UNIT_NONE = 0,
    UNIT_CLOCK = 255 /* 8:30: the value is minutes since midnight, as written */
};

enum fact_half { HALF_NONE, HALF_AM, HALF_PM };

typedef struct fact_number {
    double value; /* scaled: "3.5 million" is 3,500,000; without its sign */
    uint64_t
        digits; /* hash of the digits of a whole number that a double cannot tell from its neighbours; 0 */
    uint32_t start, end; /* bytes, magnitude included, unit and sign not */
    uint8_t unit;        /* UNIT_NONE, or one of a small table: percent, metre, ... */
    uint8_t decimals;    /* digits behind the point; 0 with a magnitude, 2 of 8.30 Uhr */
    uint8_t half;        /* enum fact_half, of a time of the day */
    bool minus;          /* "-18", "minus 18"; not 10-18 */
    bool weak;           /* a "one" that counts nothing: "one of the", "no one" */
    bool dated;          /* as WORD_DATED */
    bool version; /* with a point: may be a version or a section: "Python 3.10", "3.10 Pumps" */
} fact_number;

/* Digits with marks between them that are no number: a date 16.3.2024, an address, a version (v1.2.4), 1.5b. */
typedef struct fact_code {
    uint64_t
        id; /* equal codes, equal ids: whatever the case, with "v" or without, 03.12.2024 as 3.12.2024 */
    uint32_t start, end;
} fact_code;

/* A date, whose figures stand among the numbers or codes besides. Not "5 may", nor "11/2025" without a day. */
typedef struct fact_date {
    date_said said;
    uint32_t start, end;
    bool met; /* as WORD_DATED */
} fact_date;

typedef struct fact_numbers {
    fact_number *v;
    size_t n, cap;
    fact_code *codes;
    size_t n_codes, cap_codes;
    fact_date *dates;
    size_t n_dates, cap_dates;
} fact_numbers;

/* The date of which byte `at` of the text is; NULL: of none. */
const fact_date *fact_date_of(const fact_numbers *f, size_t at);

/* Append the numbers, codes and dates of text[0..len): 1,000 = 1000 = one thousand; 5 % = five per cent;
 * 3rd = third; 1990s = 1990; a time, 8:30, 8.30 am or 8.30 Uhr, is one number, and so is a fraction, 2½ = 2 1/2 = 2.5; digits of other scripts
 * are digits. Those inside a name (A4, H2O, 12B) are none: names are words. FO_ENOMEM. */
int fact_numbers_read(fact_numbers *out, const char *text, size_t len, fo_err *err);

/* Do the two say the same number? Whole numbers to their last digit; of different known units, signs or halves of the day
 * they do not, nor do 3.10 and 3.1 without a unit where either may be a version: "Python 3.10", "3.10 Pumps". A price of
 * 6.40 is 6.4. A time of 17:30 is 5:30 pm, and 8:00 is 8 am and 8. */
bool fact_numbers_equal(const fact_number *a, const fact_number *b);

/* Is the word s[n], which begins with a digit, a name (12B, 40GbE) and no number with what it counts (10GB, 3rd, 8am)? */
bool fact_digits_name(const char *s, size_t n);

void fact_numbers_deinit(fact_numbers *f);

#endif
