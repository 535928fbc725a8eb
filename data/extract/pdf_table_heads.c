#include "data/extract/pdf_table_heads.h"

#include <string.h>

#include "kernels/utf8.h"

/* Has nearly each of the rows behind the first a name at its left, which that one has not? */
static bool names_are_left(const finder *f, size_t i, size_t n) {
    const lines_of first = pdf_finder_look_at(f, &f->rows[i]);
    size_t named = 0;
    if (first.columns & 1 || pdf_finder_count(first.columns) < 2 || n < 3) return false;
    for (size_t k = i + 1; k < i + n; k++) named += pdf_finder_look_at(f, &f->rows[k]).columns & 1;
    return named * 10 >= (n - 1) * 8;
}

/* Years, or nothing, over columns of numbers that have a name at their left: they head them. */
static bool years_head_it(const finder *f, size_t i, size_t n) {
    if (!names_are_left(f, i, n)) return false;
    for (size_t j = 0; j < f->rows[i].n; j++) {
        const segment *s = &f->s[f->rows[i].first + j];
        const char *t = f->p->text.data + f->p->words[s->word].at;
        if (s->n_words > 1 || !(strncmp(t, "19", 2) == 0 || strncmp(t, "20", 2) == 0))
            return !pdf_finder_is_number(f, s);
    }
    return true;
}

/* The last word of a segment. */
static const char *last_word(const finder *f, const segment *s, size_t *n) {
    const size_t word = s->word + s->n_words - 1, at = f->p->words[word].at;
    *n = pdf_finder_word_end(f, s->line, word) - at;
    return f->p->text.data + at;
}

/* Does a row from i on have a cell that ends in this word? */
static bool comes_below(const finder *f, size_t i, size_t end, const char *word, size_t n) {
    size_t n_own;
    for (; i < end; i++)
        for (size_t j = 0; j < f->rows[i].n; j++) {
            const char *own = last_word(f, &f->s[f->rows[i].first + j], &n_own);
            if (n_own == n && memcmp(own, word, n) == 0) return true;
        }
    return false;
}

/* "46" and "46 SP" above "27 kg" and "33 kg": names of things, not amounts as those below, stand over all columns but that of the
 * names of the rows. */
static bool things_head_it(const finder *f, size_t i, size_t n) {
    const lines_of first = pdf_finder_look_at(f, &f->rows[i]);
    bool name = false;
    if (first.spans || pdf_finder_count(first.columns) + 1 < f->n_columns ||
        !names_are_left(f, i, n))
        return false;
    for (size_t j = 0; j < f->rows[i].n; j++) {
        size_t bytes;
        const char *word = last_word(f, &f->s[f->rows[i].first + j], &bytes);
        const bool letters = fo_is_letter(word[0]) || (word[0] & 0x80);
        if (letters && comes_below(f, i + 1, i + n, word, bytes)) return false;
        name |= letters;
    }
    return name;
}

/* A full row above others that have empty cells: only what names the columns stands over each. */
static bool full_row_heads_it(const finder *f, size_t i, size_t n) {
    lines_of first = pdf_finder_look_at(f, &f->rows[i]);
    if (f->n_columns < 3 || n < 3 || first.numbers || first.spans) return false;
    if (pdf_finder_count(first.columns) < f->n_columns) return false;
    size_t gaps = 0;
    for (size_t k = i + 1; k < i + n; k++)
        gaps += pdf_finder_count(pdf_finder_look_at(f, &f->rows[k]).columns) < f->n_columns;
    return gaps * 2 > n - 1;
}

/* Names of groups of columns above the names of columns: what stands in the corner tells the second row. */
static bool has_groups(const finder *f, size_t i, size_t n) {
    if (n < 3) return false;
    lines_of a = pdf_finder_look_at(f, &f->rows[i]), b = pdf_finder_look_at(f, &f->rows[i + 1]);
    return !(a.columns & 1) && b.columns & 1 && !a.numbers && !b.numbers &&
           pdf_finder_count(b.columns) > pdf_finder_count(a.columns) &&
           pdf_finder_count(b.columns) > 2;
}

/* Are there figures in the second column of most rows behind the first, and none in it? */
static bool names_figures(const finder *f, size_t i, size_t n) {
    size_t figures = 0;
    for (size_t k = i; k < i + n; k++)
        for (size_t j = 0; j < f->rows[k].n; j++) {
            const segment *s = &f->s[f->rows[k].first + j];
            bool crossed;
            if (pdf_finder_column_of(f, s->x0, s->x1, &crossed) != 1 || !pdf_finder_is_number(f, s))
                continue;
            if (k == i) return false;
            figures++;
        }
    return figures * 10 >= (n - 1) * 7;
}

size_t pdf_table_heads_rows(const finder *f, size_t i, size_t n) {
    size_t k = 0, with = 0;
    if (f->n_columns == 2)
        return names_figures(f, i, n) && !pdf_finder_look_at(f, &f->rows[i]).numbers;
    while (k < n && k < 5 && !pdf_finder_look_at(f, &f->rows[i + k]).numbers) k++;
    for (size_t j = k; j < n; j++) with += pdf_finder_look_at(f, &f->rows[i + j]).numbers > 0;
    if (!k || k == n || k == 5 || with * 10 < (n - k) * 7) return has_groups(f, i, n) ? 2 : 0;
    /* It ends at a gap that is wider than those above: the second row is of words by chance. */
    uint64_t named = 0;
    for (size_t j = 1; j < k; j++) {
        named |= pdf_finder_look_at(f, &f->rows[i + j - 1]).columns;
        /* It names more of them, or each of those under a name for several. */
        if (pdf_finder_look_at(f, &f->rows[i + j]).columns & ~named ||
            pdf_finder_look_at(f, &f->rows[i + j - 1]).spans)
            continue;
        float gap = f->rows[i + j].y0 - f->rows[i + j - 1].y1;
        float next = f->rows[i + j + 1].y0 - f->rows[i + j].y1;
        if (gap > next + .05f * pdf_finder_height_of(f->s[f->rows[i].first].line)) k = j;
    }
    /* "Group A" alone above its rows is no part of it. */
    while (k > 1 && pdf_finder_look_at(f, &f->rows[i + k - 1]).columns == 1) k--;
    return k;
}

bool pdf_table_heads_first(const finder *f, size_t i, size_t n) {
    return years_head_it(f, i, n) || things_head_it(f, i, n) || full_row_heads_it(f, i, n);
}
