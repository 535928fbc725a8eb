#include "data/extract/formula_line.h"

#include <string.h>

#include "kernels/utf8.h"

enum { NOTHING, ABOVE, BELOW, ROOT, DEGREE, BASE }; /* sides */
enum { FRACTION = 1, SQUARE_ROOT, ANY_ROOT };       /* tags */

/* ---- sides ------------------------------------------------------------------------------------------ */

static size_t begin_of(const formula_line *f, size_t from) {
    if (from < f->begin) from = f->begin;
    const char *s = f->text->data;
    const size_t n = f->text->len;
    /* The bars of a row are written with the first words of the next cell. */
    while (from < n && (s[from] == ' ' || (s[from] == '|' && from + 1 < n && s[from + 1] == ' ')))
        from++;
    return from < n ? from : n;
}

/* A number, or a name; below the line a number or a name alone: 1/2a is two things. */
static bool is_one(const char *s, size_t n, bool below) {
    static const char *const signs[] = {"\xE2\x88\x92", "\xC2\xB1", "\xC3\x97",     "\xC2\xB7",
                                        "\xE2\x8B\x85", "\xC2\xA0", "\xE2\x89\xA4", "\xE2\x89\xA5"};
    bool digits = false, letters = false;
    for (size_t i = 0; i < n; i++) {
        if (fo_is_digit(s[i]))
            digits = true;
        else if (fo_is_of_word(s[i]))
            letters = true;
        else if (s[i] != '.' && s[i] != ',' && s[i] != '%')
            return false;
        for (size_t k = 0; k < sizeof signs / sizeof *signs; k++)
            if (n - i >= strlen(signs[k]) && !memcmp(s + i, signs[k], strlen(signs[k])))
                return false;
    }
    return !below || !(digits && letters);
}

static void bracket(formula_line *f, size_t from, bool below) {
    fo_buf *t = f->text;
    size_t end = t->len;
    while (end > from && fo_is_blank(t->data[end - 1])) end--;
    if (end == from || is_one(t->data + from, end - from, below)) return;
    const size_t before = t->len;
    f->add(f->ctx, "()");
    if (t->len != before + 2) return; /* there was no room */
    memmove(t->data + from + 1, t->data + from, end - from);
    t->data[from] = '(';
    t->data[end + 1] = ')';
    if (before > end) memset(t->data + end + 2, ' ', before - end);
}

static void push(formula_line *f, uint8_t what) {
    if (f->n_sides == FORMULA_DEPTH || f->deeper) {
        f->deeper++;
        return;
    }
    f->sides[f->n_sides].what = what;
    f->sides[f->n_sides].said = false;
    f->sides[f->n_sides++].from = f->text->len;
}

static uint8_t top(const formula_line *f) {
    return f->n_sides ? f->sides[f->n_sides - 1].what : NOTHING;
}

static void say_root(formula_line *f) {
    if (top(f) != ROOT || f->deeper || f->sides[f->n_sides - 1].said) return;
    f->add(f->ctx, "\xE2\x88\x9A");
    f->sides[f->n_sides - 1].said = true;
    f->sides[f->n_sides - 1].from = f->text->len;
}

static uint8_t side_of(const char *name) {
    static const struct {
        const char *name;
        uint8_t what;
    } names[] = {{"num", ABOVE}, {"den", BELOW}, {"rad", ROOT}, {"deg", DEGREE}, {"base", BASE}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i].name)) return names[i].what;
    return NOTHING;
}

void formula_open(formula_line *f, const char *name) {
    const uint8_t what = side_of(name);
    if (!what) {
        if (!strcmp(name, "e")) say_root(f);
        return;
    }
    if (what == DEGREE && top(f) != ROOT && !f->deeper) return;
    const fo_buf *t = f->text;
    if (what == ABOVE && t->len > f->begin && fo_is_digit(t->data[t->len - 1]))
        f->add(f->ctx, " "); /* 1 1/2 is no 11/2 */
    if (what == BELOW && f->above && !f->deeper) f->add(f->ctx, "/");
    push(f, what);
}

void formula_close(formula_line *f, const char *name) {
    const uint8_t what = side_of(name);
    if (!what) return;
    if (f->deeper) {
        f->deeper--;
        return;
    }
    if (top(f) != what) return;
    const size_t from = begin_of(f, f->sides[--f->n_sides].from);
    if (what == ABOVE) f->above = f->text->len > from;
    if (what != DEGREE)
        bracket(f, from, what == BELOW || what == ROOT || what == BASE);
    else
        say_root(f);
}

void formula_drop(formula_line *f) {
    f->n_sides = f->deeper = 0;
    f->above = false;
}

/* ---- tags ------------------------------------------------------------------------------------------- */

static uint8_t tag_of(const char *name) {
    return !strcmp(name, "mfrac")   ? FRACTION
           : !strcmp(name, "msqrt") ? SQUARE_ROOT
           : !strcmp(name, "mroot") ? ANY_ROOT
                                    : NOTHING;
}

/* The child'th of the innermost tag begins. */
static void open_child(formula_line *f, uint8_t what, int child) {
    if (what == FRACTION && child < 3) formula_open(f, child == 1 ? "num" : "den");
    if (what == ANY_ROOT && child == 1) formula_open(f, "base");
    if (what == ANY_ROOT && child == 2) f->add(f->ctx, "^(1/");
}

static void close_child(formula_line *f, uint8_t what, int child) {
    if (what == FRACTION && child < 3) formula_close(f, child == 1 ? "num" : "den");
    if (what == ANY_ROOT && child == 1) formula_close(f, "base");
    if (what == ANY_ROOT && child == 2) f->add(f->ctx, ")");
}

void formula_tag_open(formula_line *f, const char *name) {
    const uint8_t what = tag_of(name);
    if (!f->n_tags && !what) return;
    f->level++;
    const int last = f->n_tags - 1;
    if (last >= 0 && f->tags[last].level == f->level - 1)
        open_child(f, f->tags[last].what, ++f->tags[last].children);
    if (!what || f->n_tags == FORMULA_DEPTH) return;
    f->tags[f->n_tags].what = what;
    f->tags[f->n_tags].level = f->level;
    f->tags[f->n_tags++].children = 0;
    if (what != SQUARE_ROOT) return;
    formula_open(f, "rad");
    formula_open(f, "e");
}

void formula_tag_close(formula_line *f) {
    if (!f->n_tags) return;
    if (f->tags[f->n_tags - 1].level == f->level) {
        if (f->tags[f->n_tags - 1].what == SQUARE_ROOT) formula_close(f, "rad");
        f->n_tags--;
    }
    const int last = f->n_tags - 1;
    if (last >= 0 && f->tags[last].level == f->level - 1)
        close_child(f, f->tags[last].what, f->tags[last].children);
    f->level--;
    if (!f->n_tags) f->level = 0;
}
