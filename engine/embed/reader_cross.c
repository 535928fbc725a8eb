/* reader_cross.c - a question read with each window of each passage: a window is [CLS] question [SEP] title
 * [SEP] text [SEP]. */
#include "engine/embed/reader_cross.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/embed/reader_pair.h"

enum {
    WINDOW_TOKENS = PAIR_HEAD + READER_CROSS_TOKENS + 1,
    TEXT_TOKENS = READER_CROSS_TOKENS * READER_CROSS_WINDOWS,
};

bool reader_has_cross(const reader *r) {
    return pair_can(r, PAIR_CROSS);
}

/* --- reading --- */
/* A window of a passage: tokens [from, from + n) of its text behind `head` others. */
typedef struct window {
    int32_t ids[WINDOW_TOKENS];
    size_t head, from, n;
} window;

typedef struct page { /* a passage in tokens, and its windows */
    int32_t ids[TEXT_TOKENS];
    tokenizer_span spans[TEXT_TOKENS];
    size_t n;
    window windows[READER_CROSS_WINDOWS];
    size_t n_windows;
} page;

static size_t token_from(const page *p, uint32_t byte) {
    size_t i = 0;
    while (i < p->n && p->spans[i].begin < byte) i++;
    return i;
}

static void add_window(const reader *r, page *p, const int32_t *head, size_t n_head, size_t from) {
    window *w = &p->windows[p->n_windows++];
    const size_t left = p->n - from;
    *w = (window){
        .head = n_head, .from = from, .n = left < READER_CROSS_TOKENS ? left : READER_CROSS_TOKENS};
    memcpy(w->ids, head, n_head * sizeof *head);
    memcpy(w->ids + n_head, p->ids + from, w->n * sizeof *w->ids);
    w->ids[n_head + w->n] = r->last;
}

/* The next window begins with the first unit that the one before does not hold whole, or goes on where it
 * ended. */
static void divide(const reader *r, page *p, const reader_passage *of, const int32_t *head,
                   size_t n_head) {
    size_t from = 0;
    do {
        add_window(r, p, head, n_head, from);
        const size_t end = from + p->windows[p->n_windows - 1].n;
        size_t next = end;
        for (size_t u = 0; end < p->n && u < of->n_units; u++) {
            const size_t a = token_from(p, of->units[u].begin), b = token_from(p, of->units[u].end);
            if (b <= end) continue;
            if (a > from && a < end) next = a;
            break;
        }
        from = next;
    } while (from < p->n && p->n_windows < READER_CROSS_WINDOWS);
}

static int read_page(const reader *r, const char *question, const reader_passage *of, page *p,
                     fo_err *err) {
    int32_t head[PAIR_HEAD];
    size_t n;
    int rc = pair_head(r, question, of->title, head, &n, err);
    if (!rc) rc = pair_tokens(r, of->text, of->len, TEXT_TOKENS, p->ids, p->spans, &p->n, err);
    if (rc) return rc;
    p->n_windows = 0;
    divide(r, p, of, head, n);
    return FO_OK;
}

/* odds of the units that begin in a window, as far as it goes: those of a window that holds the unit whole
 * stand above those of one that cuts it. */
static void odds_of(const pair_encoder *c, const page *p, const window *w, const reader_passage *of,
                    const float *rows, float *odds) {
    float mean[READER_CROSS_TOKENS], most[READER_CROSS_TOKENS];
    for (size_t i = 0; i < w->n; i++)
        pair_products(c, rows + (w->head + i) * c->dim, &mean[i], &most[i]);
    for (size_t u = 0; u < of->n_units; u++) {
        const size_t a = token_from(p, of->units[u].begin), b = token_from(p, of->units[u].end);
        const size_t end = b < w->from + w->n ? b : w->from + w->n;
        const bool known = isfinite(odds[u]) && end < b;
        if (a < w->from || a >= end || known) continue;
        float sum = 0, best = -INFINITY;
        for (size_t i = a - w->from; i < end - w->from; i++) {
            sum += mean[i];
            best = most[i] > best ? most[i] : best;
        }
        odds[u] = sum / (float)(end - a) + best + c->bias;
    }
}

/* All windows in one pass of the encoder. */
static int run(const pair_encoder *c, const page *pages, const reader_passage *of, size_t n,
               float *odds, fo_err *err) {
    size_t n_texts = 0, n_rows = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < pages[i].n_windows; k++, n_texts++)
            n_rows += pages[i].windows[k].head + pages[i].windows[k].n + 1;
    encoder_text *texts = malloc(n_texts * sizeof *texts);
    float *rows = malloc(n_rows * c->dim * sizeof *rows);
    int rc = texts && rows ? FO_OK : fo_fail(err, FO_ENOMEM, "out of memory for %zu rows", n_rows);
    n_texts = 0;
    for (size_t i = 0; !rc && i < n; i++)
        for (size_t k = 0; k < pages[i].n_windows; k++) {
            const window *w = &pages[i].windows[k];
            const int n_tokens = (int)(w->head + w->n + 1);
            texts[n_texts++] = (encoder_text){.tokens = w->ids, .n_tokens = n_tokens};
        }
    if (!rc) rc = encoder_hidden(c->run, texts, n_texts, rows, err);
    const float *at = rows;
    for (size_t i = 0; !rc && i < n; i++) {
        for (size_t k = 0; k < pages[i].n_windows; k++) {
            const window *w = &pages[i].windows[k];
            odds_of(c, &pages[i], w, &of[i], at, odds);
            at += (w->head + w->n + 1) * c->dim;
        }
        odds += of[i].n_units;
    }
    free(texts);
    free(rows);
    return rc;
}

int reader_cross(reader *r, const char *question, const reader_passage *passages, size_t n,
                 const atomic_bool *cancelled, float *odds, fo_err *err) {
    if (r->of) r = r->of;
    if (!pair_can(r, PAIR_CROSS))
        return fo_fail(err, FO_EUNSUPPORTED, "this reader has no cross-encoder");
    if (n > READER_CROSS_PASSAGES)
        return fo_fail(err, FO_ELIMIT, "%zu passages to read together; a call takes %d", n,
                       READER_CROSS_PASSAGES);
    size_t n_units = 0;
    for (size_t i = 0; i < n; i++) n_units += passages[i].n_units;
    for (size_t u = 0; u < n_units; u++) odds[u] = NAN;
    if (!n_units) return FO_OK;
    page *pages = malloc(n * sizeof *pages);
    int rc = pages ? FO_OK : fo_fail(err, FO_ENOMEM, "out of memory for %zu passages", n);
    for (size_t i = 0; !rc && i < n; i++) rc = read_page(r, question, &passages[i], &pages[i], err);
    pair_encoder *c = NULL;
    pthread_mutex_lock(&r->pairs[PAIR_CROSS].mu);
    if (!rc) rc = pair_need(r, PAIR_CROSS, &c, err);
    if (!rc && cancelled && atomic_load_explicit(cancelled, memory_order_relaxed))
        rc = fo_fail(err, FO_ECANCELLED, "reading was cancelled");
    if (!rc) rc = run(c, pages, passages, n, odds, err);
    pthread_mutex_unlock(&r->pairs[PAIR_CROSS].mu);
    free(pages);
    return rc;
}
