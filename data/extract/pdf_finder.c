#include "data/extract/pdf_finder.h"

#include <ctype.h>

float pdf_finder_height_of(const pdf_line *l) {
    float h = l->box[3] - l->box[1];
    return h < 4 ? 4 : h > 40 ? 40 : h;
}

size_t pdf_finder_word_end(const finder *f, const pdf_line *l, size_t word) {
    if (word + 1 == l->word + l->n_words) return l->at + l->n;
    size_t next = f->p->words[word + 1].at;
    return next - (f->p->text.data[next - 1] == ' ');
}

size_t pdf_finder_column_of(const finder *f, float x0, float x1, bool *crossed) {
    size_t best = 0, touched = 0;
    float most = -1e9f;
    for (size_t i = 0; i < f->n_columns; i++) {
        float from = x0 > f->columns[i].x0 ? x0 : f->columns[i].x0;
        float to = x1 < f->columns[i].x1 ? x1 : f->columns[i].x1;
        touched += to - from > 1;
        if (to - from <= most) continue;
        most = to - from;
        best = i;
    }
    *crossed = touched > 1;
    return best;
}

static bool is_number(const char *s, size_t n) {
    size_t digits = 0, letters = 0;
    for (size_t i = 0; i < n; i++) {
        digits += isdigit((unsigned char)s[i]) != 0;
        letters += isalpha((unsigned char)s[i]) || (unsigned char)s[i] >= 0xC3;
    }
    return digits && digits >= letters;
}

bool pdf_finder_is_number(const finder *f, const segment *s) {
    const float height = s->y1 - s->y0, line = pdf_finder_height_of(s->line);
    if ((height > line ? height : line) < .8f * (f->rows[s->row - 1].y1 - f->rows[s->row - 1].y0))
        return false;
    size_t at = f->p->words[s->word].at,
           end = pdf_finder_word_end(f, s->line, s->word + s->n_words - 1);
    return is_number(f->p->text.data + at, end - at);
}

size_t pdf_finder_count(uint64_t x) {
    return (size_t)__builtin_popcountll(x);
}

lines_of pdf_finder_look_at(const finder *f, const row *r) {
    lines_of out = {0};
    for (size_t j = 0; j < r->n; j++) {
        const segment *s = &f->s[r->first + j];
        bool crossed;
        out.columns |= (uint64_t)1 << pdf_finder_column_of(f, s->x0, s->x1, &crossed);
        out.numbers += pdf_finder_is_number(f, s);
        out.spans |= crossed;
    }
    return out;
}
