#include "retrieval/answer/reading.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/buf.h"

/* A title names the subject that its text leaves out, and much besides. */
static const float title_weight = 0.9f;

/* Order of passages, beside the reader's own standard score: docs/measurements/answers.md. */
static const double sparse_weight = 1, dense_weight = 0.6;
/* A title that is nearer than by chance: its cosine is worth as it is, not beside those of the others, which may all be far. */
static const double titled_weight = 8, titled_least = 0.3;
/* Where a passage is as likely to answer as not, and how fast that changes. */
static const double answers_middle = 0.62, answers_slope = 18;

/* A reader takes READER_MAX_TOKENS of a text. A passage that is longer, since its sentences were made
 * whole, is read in windows, each beginning where the one before it ends; one whose tables were made whole is read to
 * its end (whole_passages.c follows them for 32 KiB), or its last rows would lose to the first whatever they say. */
enum { WINDOWS = 48, USUAL_WINDOWS = 4 };

typedef struct window {
    reader_text *text; /* NULL: the passage ends before it */
    size_t begin;      /* bytes of the passage before it */
} window;

struct reading {
    const passage *passages;
    size_t n_passages;
    reader_text **texts; /* [0] the question, then titles */
    size_t n_texts;
    window (*windows)[WINDOWS]; /* [n_passages] */
    double *of_passage;
};

static const reader_text *title_of(const reading *r, size_t i) {
    return r->texts[1 + i];
}

static int by_size_falling(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* Weights of the question's tokens among units that compete, and the least weight of those that make
 * up half of the mass. */
static float weigh(const reading *r, const reader_unit *among, size_t n_units, float *weights) {
    size_t n = reader_text_tokens(r->texts[0]);
    reader_idf(r->texts[0], among, n_units, weights);
    float sorted[READER_MAX_TOKENS], mass = 0, sum = 0, least = 0;
    for (size_t i = 0; i < n; i++) mass += sorted[i] = weights[i];
    qsort(sorted, n, sizeof *sorted, by_size_falling);
    for (size_t i = 0; i < n && sum < mass / 2; i++) {
        least = sorted[i];
        sum += sorted[i];
    }
    return least;
}

static reader_part whole(const reader_text *t, float weight) {
    return (reader_part){t, 0, (uint32_t)reader_text_tokens(t), weight};
}

static int read_passages(reading *r, fo_err *err) {
    size_t n = r->n_passages, tokens = reader_text_tokens(r->texts[0]);
    enum { EACH = WINDOWS + 1 };
    reader_part *parts = calloc(EACH * n + 1, sizeof *parts);
    reader_unit *units = calloc(n + 1, sizeof *units);
    float *best = calloc(n * tokens + 1, sizeof *best);
    int rc =
        parts && units && best ? FO_OK : fo_fail(err, FO_ENOMEM, "out of memory for a reading");
    for (size_t i = 0; !rc && i < n; i++) {
        reader_part *own = parts + EACH * i;
        size_t k = 0;
        for (; k < WINDOWS && r->windows[i][k].text; k++) own[k] = whole(r->windows[i][k].text, 1);
        own[k++] = whole(title_of(r, i), title_weight);
        units[i] = (reader_unit){own, k};
    }
    if (!rc && n) rc = reader_align(r->texts[0], units, n, best, err);
    float weights[READER_MAX_TOKENS];
    if (!rc && n) weigh(r, units, n, weights);
    for (size_t i = 0; !rc && i < n; i++)
        r->of_passage[i] = (double)reader_score(best + i * tokens, weights, tokens);
    free(parts);
    free(units);
    free(best);
    return rc;
}

/* The k-th window of every passage that goes on behind the one before, in one batch. */
static int read_windows(reading *r, reader *model, size_t k, const atomic_bool *cancelled,
                        fo_err *err) {
    size_t n = r->n_passages, m = 0;
    const char **texts = calloc(n + 1, sizeof *texts);
    size_t *lens = calloc(n + 1, sizeof *lens), *of = calloc(n + 1, sizeof *of);
    reader_text **out = calloc(n + 1, sizeof *out);
    int rc =
        texts && lens && of && out ? FO_OK : fo_fail(err, FO_ENOMEM, "out of memory for a reading");
    for (size_t i = 0; !rc && i < n; i++) {
        const window *before = k ? &r->windows[i][k - 1] : NULL;
        size_t begin = 0;
        if (k >= (r->passages[i].whole_tables ? WINDOWS : USUAL_WINDOWS)) continue;
        if (before) {
            if (!before->text) continue;
            begin = before->begin + reader_text_bytes(before->text);
            if (begin >= r->passages[i].len || begin == before->begin) continue;
        }
        r->windows[i][k].begin = begin;
        texts[m] = r->passages[i].text + begin;
        lens[m] = r->passages[i].len - begin;
        of[m++] = i;
    }
    if (!rc && m) rc = reader_encode(model, texts, lens, m, cancelled, out, err);
    for (size_t i = 0; !rc && i < m; i++) r->windows[of[i]][k].text = out[i];
    free(texts);
    free(lens);
    free(of);
    free(out);
    return rc;
}

static int read_titles(reading *r, reader *model, const char *question,
                       const atomic_bool *cancelled, fo_err *err) {
    size_t n = 1 + r->n_passages;
    const char **texts = calloc(n, sizeof *texts);
    size_t *lens = calloc(n, sizeof *lens);
    int rc = texts && lens ? FO_OK : fo_fail(err, FO_ENOMEM, "out of memory for a reading");
    for (size_t i = 0; !rc && i < n; i++) {
        texts[i] = i == 0 ? question : r->passages[i - 1].title ? r->passages[i - 1].title : "";
        lens[i] = strlen(texts[i]);
    }
    if (!rc) rc = reader_encode(model, texts, lens, n, cancelled, r->texts, err);
    if (!rc) r->n_texts = n;
    free(texts);
    free(lens);
    return rc;
}

int reading_create(reading **out, reader *model, const char *question, const passage *passages,
                   size_t n_passages, const atomic_bool *cancelled, fo_err *err) {
    *out = NULL;
    reading *r = calloc(1, sizeof *r);
    if (!r) return fo_fail(err, FO_ENOMEM, "out of memory for a reading");
    *r = (reading){.passages = passages, .n_passages = n_passages};
    r->texts = calloc(1 + n_passages, sizeof *r->texts);
    r->windows = calloc(n_passages + 1, sizeof *r->windows);
    r->of_passage = calloc(n_passages + 1, sizeof *r->of_passage);
    int rc = r->texts && r->windows && r->of_passage
                 ? FO_OK
                 : fo_fail(err, FO_ENOMEM, "out of memory for a reading");
    if (!rc) rc = read_titles(r, model, question, cancelled, err);
    for (size_t k = 0; !rc && k < WINDOWS; k++) rc = read_windows(r, model, k, cancelled, err);
    if (!rc) rc = read_passages(r, err);
    if (!rc)
        *out = r;
    else
        reading_free(r);
    return rc;
}

void reading_free(reading *r) {
    if (!r) return;
    if (r->n_texts) reader_texts_release(r->texts, r->n_texts);
    for (size_t i = 0; r->windows && i < r->n_passages; i++)
        for (size_t k = 0; k < WINDOWS; k++) reader_text_release(r->windows[i][k].text);
    free(r->windows);
    free(r->texts);
    free(r->of_passage);
    free(r);
}

double reading_of_passage(const reading *r, size_t i) {
    return r->of_passage[i];
}

/* In standard deviations of the list; what a list lacks counts as its least. */
static void standardise(double *x, size_t n) {
    double least = INFINITY, sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++)
        if (isfinite(x[i])) least = fmin(least, x[i]);
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(x[i])) x[i] = isfinite(least) ? least : 0;
        sum += x[i];
        squares += x[i] * x[i];
    }
    double mean = sum / (double)n, variance = squares / (double)n - mean * mean;
    double scale = variance > 1e-12 ? 1 / sqrt(variance) : 0;
    for (size_t i = 0; i < n; i++) x[i] = (x[i] - mean) * scale;
}

void reading_rank_passages(const reading *r, const double *titled, reading_rank *ranks) {
    double align[READING_MAX_PASSAGES], sparse[READING_MAX_PASSAGES], dense[READING_MAX_PASSAGES];
    size_t n = r->n_passages < READING_MAX_PASSAGES ? r->n_passages : READING_MAX_PASSAGES;
    for (size_t i = 0; i < n; i++) {
        align[i] = r->of_passage[i];
        sparse[i] = (double)r->passages[i].sparse;
        dense[i] = (double)r->passages[i].dense;
        ranks[i].answers = 1 / (1 + exp(-(answers_slope * (align[i] - answers_middle))));
    }
    if (n == 0) return;
    standardise(align, n);
    standardise(sparse, n);
    standardise(dense, n);
    for (size_t i = 0; i < n; i++) {
        const double near = titled ? titled[i] - titled_least : 0;
        ranks[i].score = align[i] + sparse_weight * sparse[i] + dense_weight * dense[i] +
                         (near > 0 ? titled_weight * near : 0);
    }
}

/* A stretch of a passage in each of two windows at most, for a unit, for what it hangs on and what that hangs on; the
 * title. */
enum { STRETCHES = 2, PARTS = 3 * STRETCHES + 1 };

/* Tokens of bytes [start, end) of a passage; how many parts. */
static size_t stretch(const reading *r, size_t of, size_t start, size_t end, float weight,
                      reader_part *parts) {
    size_t n = 0;
    for (size_t k = 0; k < WINDOWS && n < STRETCHES; k++) {
        const window *w = &r->windows[of][k];
        if (!w->text || end <= w->begin) break;
        size_t from = start > w->begin ? start - w->begin : 0;
        reader_part part = reader_part_of(w->text, from, end - w->begin, weight);
        if (part.end > part.begin) parts[n++] = part;
    }
    return n;
}

/* The parts of a unit: itself, what it hangs on, and, unless `alone`, what an item hangs on that it stands in, and the title. */
static reader_unit parts_of(const reading *r, const reading_unit *u, bool alone,
                            reader_part *parts) {
    bool belongs = u->unit.head_kind != TEXT_UNIT_HEADING;
    size_t n = stretch(r, u->passage, u->unit.start, u->unit.end, 1, parts);
    if (u->unit.head_end > u->unit.head_start && (belongs || !alone))
        n += stretch(r, u->passage, u->unit.head_start, u->unit.head_end,
                     belongs ? 1 : title_weight, parts + n);
    if (!alone && u->unit.outer_end > u->unit.outer_start)
        n +=
            stretch(r, u->passage, u->unit.outer_start, u->unit.outer_end, title_weight, parts + n);
    if (!alone) parts[n++] = whole(title_of(r, u->passage), title_weight);
    return (reader_unit){parts, n};
}

/* What of a unit's tokens comes near the question, in one window: their sum, and how many. */
typedef struct nearness {
    double sum;
    size_t n;
} nearness;

/* values[].back: every window is aligned with the question once, its units are stretches of it. */
static int measure_back(const reading *r, const reading_unit *units, size_t n,
                        reading_values *values, fo_err *err) {
    reader_part part = whole(r->texts[0], 1);
    reader_unit question = {&part, 1};
    nearness *near = calloc(n + 1, sizeof *near);
    int rc = near ? FO_OK : fo_fail(err, FO_ENOMEM, "out of memory for a reading");
    for (size_t p = 0; !rc && p < r->n_passages * WINDOWS; p++) {
        const window *w = &r->windows[p / WINDOWS][p % WINDOWS];
        if (!w->text) continue;
        float best[READER_MAX_TOKENS];
        rc = reader_align(w->text, &question, 1, best, err);
        for (size_t i = 0; !rc && i < n; i++) {
            const text_unit *u = &units[i].unit;
            if (units[i].passage != p / WINDOWS || u->end <= w->begin) continue;
            size_t from = u->start > w->begin ? u->start - w->begin : 0;
            reader_part own = reader_part_of(w->text, from, u->end - w->begin, 1);
            for (uint32_t k = own.begin; k < own.end; k++) near[i].sum += (double)best[k];
            near[i].n += own.end - own.begin;
        }
    }
    for (size_t i = 0; !rc && i < n; i++)
        values[i].back = near[i].n ? near[i].sum / (double)near[i].n : 0;
    free(near);
    return rc;
}

int reading_units_measure(const reading *r, const reading_unit *units, size_t n,
                          reading_values *values, fo_err *err) {
    size_t tokens = reader_text_tokens(r->texts[0]), floats, bytes;
    if (n == 0) return FO_OK;
    reader_part *parts = calloc(2 * n, PARTS * sizeof *parts);
    reader_unit *asked = calloc(2 * n, sizeof *asked); /* n with their titles, n alone */
    float *best = fo_mul_size(n, tokens + 1, &floats) && fo_mul_size(floats, sizeof *best, &bytes)
                      ? malloc(bytes)
                      : NULL;
    int rc =
        parts && asked && best ? FO_OK : fo_fail(err, FO_ENOMEM, "out of memory for a reading");
    for (size_t i = 0; !rc && i < 2 * n; i++)
        asked[i] = parts_of(r, &units[i % n], i >= n, parts + i * PARTS);
    if (!rc) rc = reader_align(r->texts[0], asked, n, best, err);
    if (!rc) {
        float weights[READER_MAX_TOKENS]; /* among units alone: a title stands in all of a page */
        float least_idf = weigh(r, asked + n, n, weights);
        for (size_t i = 0; i < n; i++) {
            const float *of = best + i * tokens;
            float least = 1;
            for (size_t k = 0; k < tokens; k++)
                if (weights[k] >= least_idf && of[k] < least) least = of[k];
            values[i] = (reading_values){.align = (double)reader_score(of, weights, tokens),
                                         .least = (double)least};
        }
        rc = measure_back(r, units, n, values, err);
    }
    free(parts);
    free(asked);
    free(best);
    return rc;
}
