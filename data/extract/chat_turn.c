/* Ours: the stamps that chat programs write in several countries, tested in tests/data/extract/chat_turn_test.c. */
#include "data/extract/chat_turn.h"

#include <string.h>

#include "kernels/utf8.h"

enum {
    LONGEST_NAME = 48, /* bytes */
    MOST_WORDS = 5,    /* of a name */
};

typedef struct cursor {
    const char *s;
    size_t n, at;
} cursor;

static char here(const cursor *c) {
    return c->at < c->n ? c->s[c->at] : 0;
}

static bool take(cursor *c, const char *mark) {
    const size_t k = strlen(mark);
    if (c->n - c->at < k || memcmp(c->s + c->at, mark, k) != 0) return false;
    c->at += k;
    return true;
}

/* Blanks, also those that do not break. */
static size_t take_blanks(cursor *c) {
    const size_t from = c->at;
    while (take(c, " ") || take(c, "\xC2\xA0") || take(c, "\xE2\x80\xAF")) continue;
    return c->at - from;
}

/* Marks of direction, which some programs put before a line. */
static void skip_marks(cursor *c) {
    while (take(c, "\xE2\x80\x8E") || take(c, "\xE2\x80\x8F")) continue;
}

/* least to most digits, and no more of them. */
static bool take_digits(cursor *c, size_t least, size_t most) {
    const size_t from = c->at;
    while (fo_is_digit(here(c)) && c->at - from <= most) c->at++;
    const size_t n = c->at - from;
    return n >= least && n <= most;
}

static bool take_one_of(cursor *c, const char *marks) {
    const char mark = here(c);
    if (!mark || !strchr(marks, mark)) return false;
    c->at++;
    return true;
}

/* "PM", "p.m.", "p. m." behind a time, or nothing. */
static void take_half_of_day(cursor *c) {
    const cursor before = *c;
    (void)take_blanks(c);
    if (take_one_of(c, "aApP")) {
        const bool dotted = take(c, ".");
        if (dotted) (void)take_blanks(c);
        if (take_one_of(c, "mM")) {
            if (dotted) (void)take(c, ".");
            return;
        }
    }
    *c = before;
}

static bool take_time(cursor *c, const char *marks) {
    if (!take_digits(c, 1, 2) || !take_one_of(c, marks) || !take_digits(c, 2, 2)) return false;
    const cursor before = *c;
    if (!take_one_of(c, marks) || !take_digits(c, 2, 2)) *c = before;
    take_half_of_day(c);
    return true;
}

/* "28/05/2026", "5/28/26", "28.05.26", "2026-05-28" */
static bool take_date(cursor *c) {
    const size_t from = c->at;
    if (!take_digits(c, 1, 4)) return false;
    const size_t first = c->at - from;
    const char mark[2] = {here(c), 0};
    if (first == 3 || !take_one_of(c, "/.-") || !take_digits(c, 1, 2) || !take(c, mark))
        return false;
    return first == 4 ? take_digits(c, 1, 2) : take_digits(c, 2, 4);
}

/* A date and a time, either first. */
static bool take_date_and_time(cursor *c) {
    const cursor before = *c;
    if (take_date(c)) {
        const bool comma = take(c, ",");
        if (take_blanks(c) || comma || take(c, "T")) {
            if (take(c, "\xC3\xA0 ") || take(c, "at ")) (void)take_blanks(c);
            if (take_time(c, ":.")) return true;
        }
    }
    *c = before;
    if (take_time(c, ":") && take(c, ",") && take_blanks(c) && take_date(c)) return true;
    *c = before;
    return false;
}

/* "Imke: ", "Imke : ", "Dr. Weber:"; false: no name stands there, and c is where it was. */
static bool take_name(cursor *c, chat_turn *out) {
    const cursor before = *c;
    size_t words = 1;
    for (; c->at < c->n && c->at - before.at < LONGEST_NAME && words <= MOST_WORDS; c->at++) {
        const char x = here(c);
        if (strchr("\n\r?!;|<>=\"[]{}", x)) break;
        words += x == ' ';
        const bool ends = c->at + 1 == c->n || fo_is_blank(c->s[c->at + 1]);
        if (x != ':' || !ends || c->at == before.at) continue;
        size_t end = c->at;
        while (end > before.at && c->s[end - 1] == ' ') end--;
        out->name = before.at;
        out->n_name = end - before.at;
        c->at++;
        return out->n_name > 0;
    }
    *c = before;
    return false;
}

/* "<imke> " */
static bool take_nick(cursor *c, chat_turn *out) {
    const cursor before = *c;
    if (take(c, "<")) {
        const size_t from = c->at;
        while (c->at < c->n && c->at - from < LONGEST_NAME && !strchr("<> \n", here(c))) c->at++;
        out->name = from;
        out->n_name = c->at - from;
        if (out->n_name && take(c, ">")) return true;
    }
    *c = before;
    return false;
}

/* The stamp, and what parts it from the name. *dated: it has a date. */
static bool take_stamp(cursor *c, bool *dated) {
    const bool bracket = take(c, "[");
    *dated = take_date_and_time(c);
    if (!*dated && !take_time(c, ":")) return false;
    if (bracket) return take(c, "]");
    (void)take_blanks(c);
    if (here(c) == '<') return true;
    return *dated && (take(c, "- ") || take(c, "\xE2\x80\x93 "));
}

bool chat_turn_read(const char *s, size_t n, chat_turn *out) {
    cursor c = {s, n, 0};
    bool dated;
    *out = (chat_turn){0};
    skip_marks(&c);
    out->start = c.at;
    if (here(&c) != '[' && !fo_is_digit(here(&c))) return false;
    if (!take_stamp(&c, &dated)) return false;
    (void)take_blanks(&c);
    skip_marks(&c);
    out->name = c.at;
    const bool named = take_nick(&c, out) || take_name(&c, out);
    if (!named) {
        out->name = c.at;
        out->n_name = 0;
    }
    (void)take_blanks(&c);
    skip_marks(&c);
    out->said = c.at;
    return named || (dated && c.at < n && !fo_is_blank(here(&c)));
}
