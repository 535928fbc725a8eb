#include "retrieval/answer/cross_reading.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/embed/reader_cross.h"
#include "index/sparse/language.h"

enum { PASSAGES = 4 };

/* It learnt English, which is what a text is in if nothing says otherwise. */
static bool is_english(const passage *p, const analyzer *a) {
    const char *expected = language_name(analyzer_language(a));
    const int told = language_of(p->text, p->len, expected ? expected : "english");
    return told < 0 ? !expected || !strcmp(expected, "english")
                    : told == language_number("english");
}

/* The passages of the first candidates, each once. */
static size_t best_passages(const candidate_set *set, size_t most, uint32_t *out) {
    size_t n = 0;
    for (size_t i = 0; i < set->n && n < most; i++) {
        size_t k = 0;
        while (k < n && out[k] != set->c[i].passage) k++;
        if (k == n) out[n++] = set->c[i].passage;
    }
    return n;
}

static int by_start(const void *a, const void *b) {
    const candidate *x = *(candidate *const *)a, *y = *(candidate *const *)b;
    return (x->start > y->start) - (x->start < y->start);
}

/* The candidates of one passage in the order of their start, with their spans. */
static size_t units_of(candidate_set *set, uint32_t which, candidate **of, reader_span *spans) {
    size_t n = 0;
    for (size_t i = 0; i < set->n; i++)
        if (set->c[i].passage == which) of[n++] = &set->c[i];
    qsort(of, n, sizeof *of, by_start);
    for (size_t i = 0; i < n; i++) spans[i] = (reader_span){of[i]->start, of[i]->end};
    return n;
}

int cross_reading(candidate_set *set, const extractive_input *in, fo_err *err) {
    uint32_t chosen[PASSAGES];
    reader_passage pages[PASSAGES];
    const size_t n = best_passages(set, PASSAGES, chosen);
    for (size_t i = 0; i < set->n; i++) set->c[i].cross = NAN;
    if (!n || !in->reader || !set->read || !reader_has_cross(in->reader) ||
        !is_english(&in->passages[chosen[0]], in->lx->analyzer))
        return FO_OK;
    candidate **of = calloc(set->n + 1, sizeof *of);
    reader_span *spans = calloc(set->n + 1, sizeof *spans);
    float *odds = calloc(set->n + 1, sizeof *odds);
    int rc = of && spans && odds ? FO_OK : fo_fail(err, FO_ENOMEM, "out of memory for a reading");
    size_t at = 0;
    for (size_t i = 0; !rc && i < n; i++) {
        const passage *p = &in->passages[chosen[i]];
        const size_t k = units_of(set, chosen[i], of + at, spans + at);
        pages[i] = (reader_passage){p->title, p->text, p->len, spans + at, k};
        at += k;
    }
    if (!rc) rc = reader_cross(in->reader, in->question, pages, n, in->cancel, odds, err);
    for (size_t i = 0; !rc && i < at; i++) of[i]->cross = (double)odds[i];
    set->crossed = !rc;
    free(of);
    free(spans);
    free(odds);
    return rc;
}
