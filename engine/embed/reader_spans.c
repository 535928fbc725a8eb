#include "engine/embed/reader_spans.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/embed/reader_pair.h"

/* What the trainer multiplies the head's products with. */
static const float scale = 4;

bool reader_has_spans(const reader *r) {
    return pair_can(r, PAIR_SPANS);
}

/* With the slot's mutex held. */
static int run(const pair_encoder *p, const int32_t *ids, size_t head, reader_ends *out,
               fo_err *err) {
    const size_t n = head + out->n + 1;
    float *rows = malloc(n * p->dim * sizeof *rows);
    if (!rows) return fo_fail(err, FO_ENOMEM, "out of memory for %zu rows", n);
    const encoder_text text = {.tokens = ids, .n_tokens = (int)n};
    int rc = encoder_hidden(p->run, &text, 1, rows, err);
    for (size_t i = 0; !rc && i < out->n; i++) {
        pair_products(p, rows + (head + i) * p->dim, &out->begin[i], &out->end[i]);
        out->begin[i] *= scale;
        out->end[i] *= scale;
    }
    if (!rc) {
        float begin, end;
        pair_products(p, rows, &begin, &end);
        out->none = scale * (begin + end);
    }
    free(rows);
    return rc;
}

int reader_spans(reader *r, const char *question, const char *title, const char *text, size_t len,
                 reader_ends *out, fo_err *err) {
    if (r->of) r = r->of;
    if (!pair_can(r, PAIR_SPANS))
        return fo_fail(err, FO_EUNSUPPORTED, "this reader does not tell spans");
    int32_t ids[PAIR_HEAD + READER_SPANS_TOKENS + 1];
    tokenizer_span at[READER_SPANS_TOKENS];
    size_t head;
    int rc = pair_head(r, question, title, ids, &head, err);
    if (!rc) rc = pair_tokens(r, text, len, READER_SPANS_TOKENS, ids + head, at, &out->n, err);
    if (rc) return rc;
    for (size_t i = 0; i < out->n; i++) out->at[i] = (reader_span){at[i].begin, at[i].end};
    ids[head + out->n] = r->last;
    pair_encoder *p;
    pthread_mutex_lock(&r->pairs[PAIR_SPANS].mu);
    rc = pair_need(r, PAIR_SPANS, &p, err);
    if (!rc) rc = run(p, ids, head, out, err);
    pthread_mutex_unlock(&r->pairs[PAIR_SPANS].mu);
    return rc;
}

reader_answer reader_ends_best(const reader_ends *e, uint32_t from, uint32_t to) {
    reader_answer best = {0, 0, -INFINITY};
    for (size_t i = 0; i < e->n && from < to; i++) {
        if (e->at[i].end <= from || e->at[i].begin >= to) continue;
        for (size_t k = i; k < e->n && k < i + READER_SPANS_LONGEST && e->at[k].begin < to; k++) {
            const float score = e->begin[i] + e->end[k];
            if (score > best.score) best = (reader_answer){e->at[i].begin, e->at[k].end, score};
        }
    }
    return best;
}
