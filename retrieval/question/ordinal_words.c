#include "retrieval/question/ordinal_words.h"

#include <string.h>

#include "retrieval/question/number_words.h"
#include "retrieval/text/word_tokens.h"

/* What is counted so; nobody says "price two", and "day two" is mostly a date. */
static const char things[] =
    "year grade floor level stage phase round term semester trimester module tier division";

enum { PLACES = NUMBER_WORDS_ORDINALS };

enum form { BY_ORDINAL, BY_SHORT_ORDINAL, BY_NUMERAL, BY_FIGURE, FORMS };

/* One place as it stands in a text. */
typedef struct place {
    enum form form;
    int k; /* from 0 */
    const char *from, *end;
    word_token thing;
} place;

/* The place that a figure or a numeral is, from 0; -1: none. */
static int place_of(const word_token *t, bool *figure) {
    *figure = t->digits;
    if (t->digits && (t->n > 2 || t->s[0] == '0')) return -1;
    int k = 0;
    for (size_t i = 0; t->digits && i < t->n; i++) {
        if (t->s[i] < '0' || t->s[i] > '9') return -1;
        k = 10 * k + (t->s[i] - '0');
    }
    if (t->digits) return k <= PLACES ? k - 1 : -1;
    for (k = 0; k < PLACES; k++)
        if (word_token_in(number_words_numerals[k], t)) return k;
    return -1;
}

static bool are_side_by_side(const word_token *a, const word_token *b) {
    return a->n && a->s + a->n + 1 == b->s && (b->s[-1] == ' ' || b->s[-1] == '-');
}

/* Is a place said at t, with the tokens before it: "year two", "second year", "2nd year"? */
static bool place_at(const word_token *further, const word_token *before, const word_token *t,
                     place *out) {
    bool figure;
    if (!are_side_by_side(before, t)) return false;
    out->end = t->s + t->n;
    if (word_token_in(things, before)) {
        out->k = place_of(t, &figure);
        out->form = figure ? BY_FIGURE : BY_NUMERAL;
        out->from = before->s;
        out->thing = *before;
        return out->k >= 0;
    }
    if (!word_token_in(things, t)) return false;
    out->thing = *t;
    out->form = BY_ORDINAL;
    out->k = number_words_ordinal(before->s, before->n);
    out->from = before->s;
    if (out->k >= 0) return true;
    if (!word_token_in("st nd rd th", before) || further->s + further->n != before->s) return false;
    out->form = BY_SHORT_ORDINAL;
    out->k = place_of(further, &figure);
    out->from = further->s;
    return out->k >= 0 && figure;
}

/* Adds the ways in which a passage has that place, and any place of such things: bits. */
static void add_forms(const char *text, size_t len, const place *asked, unsigned *forms,
                      unsigned *any) {
    word_token further = {0}, before = {0}, t;
    for (size_t at = 0; (t = word_token_next(text, len, &at)).n; further = before, before = t) {
        place p;
        if (!place_at(&further, &before, &t, &p) || p.thing.n != asked->thing.n ||
            (p.thing.s[0] | 0x20) != (asked->thing.s[0] | 0x20))
            continue;
        *any |= 1u << p.form;
        if (p.k == asked->k) *forms |= 1u << p.form;
    }
}

static void write_as(fo_buf *out, enum form form, const place *asked, bool article) {
    static const char *const behind[] = {"st", "nd", "rd", "th"};
    const int k = asked->k + 1;
    const bool ordinal = form == BY_ORDINAL || form == BY_SHORT_ORDINAL;
    if (ordinal && article) fo_buf_str(out, "the ");
    if (form == BY_ORDINAL) fo_buf_str(out, number_words_ordinals[asked->k]);
    if (form == BY_SHORT_ORDINAL) fo_buf_printf(out, "%d%s", k, behind[k > 3 ? 3 : k - 1]);
    if (ordinal) fo_buf_char(out, ' ');
    fo_buf_add(out, asked->thing.s, asked->thing.n);
    if (form == BY_NUMERAL) fo_buf_printf(out, " %s", number_words_numerals[asked->k]);
    if (form == BY_FIGURE) fo_buf_printf(out, " %d", k);
}

bool ordinal_words_as_written(fo_buf *out, const char *question, const passage *passages,
                              size_t n) {
    const size_t len = strlen(question);
    size_t copied = 0;
    word_token further = {0}, before = {0}, t;
    for (size_t at = 0; (t = word_token_next(question, len, &at)).n; further = before, before = t) {
        place asked;
        unsigned forms = 0, others = 0;
        if (!place_at(&further, &before, &t, &asked) || (size_t)(asked.from - question) < copied)
            continue;
        for (size_t i = 0; i < n; i++)
            add_forms(passages[i].text, passages[i].len, &asked, &forms, &others);
        if (!forms) forms = others; /* "year four" of what has a first and a second year */
        if (!forms || (forms & 1u << asked.form)) continue;
        int form = 0;
        while (!(forms & 1u << form)) form++;
        fo_buf_add(out, question + copied, (size_t)(asked.from - question) - copied);
        write_as(out, (enum form)form, &asked, asked.form > BY_SHORT_ORDINAL);
        copied = (size_t)(asked.end - question);
    }
    if (copied) fo_buf_str(out, question + copied);
    return copied > 0 && !out->failed;
}
