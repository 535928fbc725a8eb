/* reader_text.c - a text's token vectors, and what is asked of them: spans, alignment, weights. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "engine/embed/reader_impl.h"
#include "kernels/align.h"
#include "kernels/buf.h"
#include "kernels/vec.h"

static size_t round_up(size_t n, size_t to) {
    return (n + to - 1) / to * to;
}

/* --- the block --- */
reader_text *reader_text_create(size_t n_tokens, size_t dim, bool vectors) {
    const size_t n = n_tokens, len = round_up(dim, ALIGN_WIDTH);
    const size_t ids = round_up(sizeof(reader_text), sizeof(int32_t));
    const size_t spans = ids + (n + 2) * sizeof(int32_t);
    const size_t scale = spans + n * sizeof(tokenizer_span);
    const size_t codes = round_up(scale + n * sizeof(float), ALIGN_WIDTH);
    const size_t floats = codes + n * len;
    const size_t bytes = round_up(floats + (vectors ? n * dim * sizeof(float) : 0), ALIGN_WIDTH);
    unsigned char *block = aligned_alloc(ALIGN_WIDTH, bytes);
    if (!block) return NULL;
    reader_text *t = (reader_text *)(void *)block;
    *t = (reader_text){.n_tokens = (uint32_t)n,
                       .dim = (uint32_t)dim,
                       .len = (uint32_t)len,
                       .bytes = bytes,
                       .ids = (int32_t *)(void *)(block + ids),
                       .spans = (tokenizer_span *)(void *)(block + spans),
                       .scale = (float *)(void *)(block + scale),
                       .codes = (int8_t *)(void *)(block + codes),
                       .vectors = vectors ? (float *)(void *)(block + floats) : NULL};
    atomic_init(&t->refs, 1);
    return t;
}

void reader_text_release(reader_text *t) {
    if (t && atomic_fetch_sub_explicit(&t->refs, 1, memory_order_acq_rel) == 1) free(t);
}

void reader_texts_release(reader_text **texts, size_t n) {
    for (size_t i = 0; i < n; i++) reader_text_release(texts[i]);
}

/* To unit length, less the centre. */
static void take_off(float *vector, const float *centre, size_t dim) {
    double squares = 0;
    for (size_t k = 0; k < dim; k++) squares += (double)vector[k] * (double)vector[k];
    if (!(squares > 1e-30 && squares < 1e30)) return;
    const float times = (float)(1 / sqrt(squares));
    for (size_t k = 0; k < dim; k++) vector[k] = vector[k] * times - centre[k];
}

/* The scale gives the rounded vector unit length: a cosine is then that of the two directions that
 * the codes have, and 1 for tokens that are the same. */
void reader_text_set(reader_text *t, size_t i, float *vector, const float *centre) {
    const vec_kernels *vec = vec_get();
    if (centre) take_off(vector, centre, t->dim);
    const int dim = (int)t->dim;
    int8_t *row = t->codes + i * t->len;
    memset(row, 0, t->len);
    t->scale[i] = 0;
    if (t->vectors) memset(t->vectors + i * t->dim, 0, t->dim * sizeof(float));
    const float most = vec->magnitude(vector, dim);
    if (!(most > 1e-30f && most < 1e30f)) return;
    vec->to_i8(row, vector, 127.0f / most, dim);
    int32_t squares = 0; /* at most 127^2 * ALIGN_MAX_LEN */
    for (int k = 0; k < dim; k++) squares += row[k] * row[k];
    t->scale[i] = (float)(1.0 / sqrt(squares));
    if (!t->vectors) return;
    double sum = 0;
    for (int k = 0; k < dim; k++) sum += (double)vector[k] * (double)vector[k];
    for (int k = 0; k < dim; k++)
        t->vectors[i * t->dim + (size_t)k] = (float)((double)vector[k] / sqrt(sum));
}

size_t reader_text_tokens(const reader_text *t) {
    return t->n_tokens;
}

size_t reader_text_bytes(const reader_text *t) {
    return t->read;
}

reader_span reader_text_span(const reader_text *t, size_t i) {
    return (reader_span){t->spans[i].begin, t->spans[i].end};
}

/* The first token that begins at `byte` or behind it. */
static uint32_t token_from(const reader_text *t, size_t byte) {
    uint32_t low = 0, high = t->n_tokens;
    while (low < high) {
        const uint32_t mid = low + (high - low) / 2;
        if (t->spans[mid].begin < byte)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

reader_part reader_part_of(const reader_text *t, size_t begin, size_t end, float weight) {
    const uint32_t first = token_from(t, begin);
    const uint32_t last = end > begin ? token_from(t, end) : first;
    return (reader_part){t, first, last, weight};
}

/* --- alignment --- */
/* A part and the unit that it is of; sorted by text, so that each text is multiplied once. */
typedef struct place {
    const reader_part *part;
    size_t unit;
} place;

static int by_text(const void *a, const void *b) {
    const place *x = a, *y = b;
    const uintptr_t s = (uintptr_t)x->part->text, t = (uintptr_t)y->part->text;
    if (s != t) return s < t ? -1 : 1;
    return (x->unit > y->unit) - (x->unit < y->unit);
}

static int check_part(const reader_text *question, const reader_part *p, size_t unit, fo_err *err) {
    const reader_text *t = p->text;
    if (!t) return fo_fail(err, FO_EINVAL, "unit %zu has a part of no text", unit);
    if (p->begin > p->end || p->end > t->n_tokens)
        return fo_fail(err, FO_EINVAL, "unit %zu: tokens %u to %u of a text of %u", unit, p->begin,
                       p->end, t->n_tokens);
    if (!(p->weight >= 0 && p->weight <= 1))
        return fo_fail(err, FO_EINVAL, "unit %zu: a weight of %g is not between 0 and 1", unit,
                       (double)p->weight);
    if (t->dim != question->dim || !t->vectors != !question->vectors)
        return fo_fail(err, FO_EINVAL, "unit %zu: question and text are of different readers",
                       unit);
    return FO_OK;
}

/* cosines[tokens of the question][tokens of t] */
static void multiply(const align_kernels *k, const reader_text *q, const reader_text *t,
                     float *cosines) {
    const size_t n = t->n_tokens;
    if (!q->vectors) {
        k->products(&(align_rows){q->codes, q->scale, q->n_tokens},
                    &(align_rows){t->codes, t->scale, n}, q->len, cosines, n);
        return;
    }
    const vec_kernels *vec = vec_get();
    for (size_t i = 0; i < q->n_tokens; i++)
        for (size_t j = 0; j < n; j++)
            cosines[i * n + j] =
                vec->dot(q->vectors + i * q->dim, t->vectors + j * q->dim, (int)q->dim);
}

static void take_best(const place *p, size_t n_question, const float *cosines, float *best) {
    const vec_kernels *vec = vec_get();
    const reader_part *part = p->part;
    const int n = (int)(part->end - part->begin);
    float *row = best + p->unit * n_question;
    for (size_t i = 0; n > 0 && i < n_question; i++) {
        const float *from = cosines + i * part->text->n_tokens + part->begin;
        const float c = part->weight * vec->max(from, n);
        if (c > row[i]) row[i] = c;
    }
}

static int gather(const reader_text *question, const reader_unit *units, size_t n_units,
                  place **out, size_t *n_out, fo_err *err) {
    size_t n = 0;
    for (size_t u = 0; u < n_units; u++)
        if (!fo_add_size(n, units[u].n_parts, &n)) return fo_fail(err, FO_EINVAL, "too many parts");
    place *places = calloc(n + 1, sizeof *places);
    if (!places) return fo_fail(err, FO_ENOMEM, "out of memory for %zu parts", n);
    n = 0;
    int rc = FO_OK;
    for (size_t u = 0; !rc && u < n_units; u++)
        for (size_t p = 0; !rc && p < units[u].n_parts; p++) {
            places[n++] = (place){&units[u].parts[p], u};
            rc = check_part(question, &units[u].parts[p], u, err);
        }
    if (rc) {
        free(places);
        return rc;
    }
    qsort(places, n, sizeof *places, by_text);
    *out = places;
    *n_out = n;
    return FO_OK;
}

int reader_align(const reader_text *question, const reader_unit *units, size_t n_units, float *best,
                 fo_err *err) {
    const size_t nq = question->n_tokens;
    place *places = NULL;
    size_t n = 0;
    int rc = gather(question, units, n_units, &places, &n, err);
    if (rc) return rc;
    float *cosines = malloc(nq * READER_MAX_TOKENS * sizeof *cosines + 1);
    if (!cosines) {
        free(places);
        return fo_fail(err, FO_ENOMEM, "out of memory for a text's cosines");
    }
    align_kernels kernels;
    align_init(&kernels);
    for (size_t i = 0; i < n_units * nq; i++) best[i] = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        const reader_text *t = places[i].part->text;
        if (!i || t != places[i - 1].part->text) multiply(&kernels, question, t, cosines);
        take_best(&places[i], nq, cosines, best);
    }
    for (size_t i = 0; i < n_units * nq; i++)
        if (best[i] == -INFINITY) best[i] = 0;
    free(cosines);
    free(places);
    return FO_OK;
}

/* --- weights --- */
static bool holds(const reader_unit *unit, int32_t id) {
    for (size_t p = 0; p < unit->n_parts; p++) {
        const reader_part *part = &unit->parts[p];
        for (uint32_t i = part->begin; i < part->end && i < part->text->n_tokens; i++)
            if (part->text->ids[i + 1] == id) return true;
    }
    return false;
}

void reader_idf(const reader_text *question, const reader_unit *among, size_t n, float *weights) {
    for (size_t i = 0; i < question->n_tokens; i++) {
        size_t df = 0;
        for (size_t u = 0; u < n; u++) df += holds(&among[u], question->ids[i + 1]);
        weights[i] = (float)log(1 + ((double)(n - df) + .5) / ((double)df + .5));
    }
}

float reader_score(const float *best, const float *weights, size_t n) {
    double sum = 0, all = 0;
    for (size_t i = 0; i < n; i++) {
        sum += (double)weights[i] * (double)best[i];
        all += (double)weights[i];
    }
    return all > 0 ? (float)(sum / all) : 0;
}
