/* encoder.c - texts into steps and out of them: packing, pooling, scores. The layers are
 * encoder_layers.c's. */
#include "engine/model/encoder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/model/encoder_layers.h"

enum {
    THREAD_TOKENS = 512, /* of a step: enough tiles to share out; more would leave the last cache */
    SHORT_TEXTS = 256,   /* pages of a step for what texts leave of their last page */
};

struct encoder {
    encoder_layers l;
    int step_tokens; /* that texts are packed to; a single one may be longer */
    int n_pages;
    int32_t *table; /* [n_pages]: page i is page i; a text's block table is a slice of it */
};

static int pages_of(int n_tokens) {
    return (n_tokens + ENCODER_PAGE - 1) / ENCODER_PAGE;
}

int encoder_create(encoder **out, const model *m, const encoder_limits *limits, fo_err *err) {
    if (!m->info.encoder)
        return fo_fail(err, FO_EUNSUPPORTED, "%s writes text: it is no embedding model",
                       m->info.arch);
    fo_pool *pool = limits && limits->pool ? limits->pool : m->pool;
    int step = limits && limits->batch_tokens > 0
                   ? limits->batch_tokens
                   : THREAD_TOKENS * (pool ? fo_pool_threads(pool) : 1);
    int longest = m->info.n_context < ENCODER_MAX_TOKENS ? m->info.n_context : ENCODER_MAX_TOKENS;
    if (step > ENCODER_MAX_TOKENS) step = ENCODER_MAX_TOKENS;
    int tokens = step > longest ? step : longest;
    encoder *e = calloc(1, sizeof *e);
    if (!e) return fo_fail(err, FO_ENOMEM, "no memory for an encoder");
    e->step_tokens = step;
    e->n_pages = pages_of(tokens) + SHORT_TEXTS;
    int rc = encoder_layers_create(&e->l, m, pool, tokens, e->n_pages, err);
    if (!rc && !(e->table = malloc((size_t)e->n_pages * sizeof *e->table)))
        rc = fo_fail(err, FO_ENOMEM, "no memory for an encoder");
    if (rc) {
        encoder_free(e);
        return rc;
    }
    for (int i = 0; i < e->n_pages; i++) e->table[i] = i;
    *out = e;
    return FO_OK;
}

void encoder_free(encoder *e) {
    if (!e) return;
    encoder_layers_free(&e->l);
    free(e->table);
    free(e);
}

/* Texts [0, n) that fit together; leaves the last layer in the step's x. */
static void run_step(encoder *e, const encoder_text *texts, size_t n) {
    int r = 0, page = 0;
    for (size_t t = 0; t < n; t++) {
        const int second = texts[t].second_segment;
        for (int i = 0; i < texts[t].n_tokens; i++, r++) {
            e->l.f.places[r] = (row_place){
                .pages = e->table + page, .position = i, .slot = i, .n_keys = texts[t].n_tokens};
            e->l.rows[r] = (encoder_row){texts[t].tokens[i], second > 0 && i >= second};
        }
        page += pages_of(texts[t].n_tokens);
    }
    encoder_layers_run(&e->l, r);
}

static int check_text(const encoder *e, const encoder_text *t, size_t index, fo_err *err) {
    const model_info *i = &e->l.f.m->info;
    int longest = i->n_context < e->l.f.cap_rows ? i->n_context : e->l.f.cap_rows;
    if (t->n_tokens < 1 || t->n_tokens > longest)
        return fo_fail(err, FO_ELIMIT, "text %zu has %d tokens; the model takes 1 to %d", index,
                       t->n_tokens, longest);
    if (t->second_segment < 0 || t->second_segment > t->n_tokens)
        return fo_fail(err, FO_EINVAL, "text %zu: second segment at %d of %d", index,
                       t->second_segment, t->n_tokens);
    for (int j = 0; j < t->n_tokens; j++)
        if (t->tokens[j] < 0 || t->tokens[j] >= i->n_vocab)
            return fo_fail(err, FO_EINVAL, "text %zu: token %d is %d, outside the vocabulary of %d",
                           index, j, (int)t->tokens[j], i->n_vocab);
    return FO_OK;
}

typedef void finish_fn(encoder *e, const encoder_text *t, int row, float **out);

static int run_all(encoder *e, const encoder_text *texts, size_t n_texts, finish_fn *finish,
                   float *out, fo_err *err) {
    const gguf *file = model_gguf(e->l.f.m);
    for (size_t i = 0; i < n_texts; i++) {
        int rc = check_text(e, &texts[i], i, err);
        if (rc) return rc;
    }
    for (size_t first = 0; first < n_texts;) {
        size_t n = 1;
        int rows = texts[first].n_tokens, pages = pages_of(rows);
        for (; first + n < n_texts; n++) {
            rows += texts[first + n].n_tokens;
            pages += pages_of(texts[first + n].n_tokens);
            if (rows > e->step_tokens || pages > e->n_pages) break;
        }
        int rc = gguf_intact(file, err); /* one that was lost is read no further */
        if (!rc) {
            run_step(e, texts + first, n);
            rc = gguf_intact(file, err);
        }
        if (rc) return rc;
        for (size_t i = 0, row = 0; i < n; i++) {
            finish(e, &texts[first + i], (int)row, &out);
            row += (size_t)texts[first + i].n_tokens;
        }
        first += n;
    }
    return FO_OK;
}

static void finish_hidden(encoder *e, const encoder_text *t, int row, float **out) {
    const forward *f = &e->l.f;
    const size_t d = (size_t)f->m->info.d_model;
    for (int i = 0; i < t->n_tokens; i++, *out += d)
        memcpy(*out, f->x + (size_t)(row + i) * (size_t)f->d_stride, d * sizeof(float));
}

static void finish_pooled(encoder *e, const encoder_text *t, int row, float **out) {
    const forward *f = &e->l.f;
    const int d = f->m->info.d_model;
    const float *x = f->x + (size_t)row * (size_t)f->d_stride;
    if (f->m->info.pooling == MODEL_POOL_LAST) x += (size_t)(t->n_tokens - 1) * (size_t)f->d_stride;
    memcpy(*out, x, (size_t)d * sizeof(float));
    if (f->m->info.pooling == MODEL_POOL_MEAN) {
        for (int i = 1; i < t->n_tokens; i++)
            f->m->vec->add(*out, x + (size_t)i * (size_t)f->d_stride, d);
        f->m->vec->scale(*out, 1.0f / (float)t->n_tokens, d);
    }
    *out += d;
}

static void finish_score(encoder *e, const encoder_text *t, int row, float **out) {
    (void)t;
    forward *f = &e->l.f;
    const model *m = f->m;
    const float *x = f->x + (size_t)row * (size_t)f->d_stride;
    float *y = f->xn; /* rows of the finished step: free */
    mm_input in;
    if (m->pooler.n_parts) {
        forward_input(f, &m->pooler, x, f->d_stride, 1, &in);
        forward_linear(f, &m->pooler, &in, 1, y, f->d_stride);
        for (int i = 0; i < m->info.d_model; i++) y[i] = tanhf(y[i]);
        x = y;
    }
    float *score = f->act;
    forward_input(f, &m->score, x, f->d_stride, 1, &in);
    forward_linear(f, &m->score, &in, 1, score, m->score.n_out);
    *(*out)++ = score[0];
}

int encoder_hidden(encoder *e, const encoder_text *texts, size_t n_texts, float *out, fo_err *err) {
    return run_all(e, texts, n_texts, finish_hidden, out, err);
}

int encoder_embed(encoder *e, const encoder_text *texts, size_t n_texts, float *out, fo_err *err) {
    return run_all(e, texts, n_texts, finish_pooled, out, err);
}

int encoder_score(encoder *e, const encoder_text *pairs, size_t n_texts, float *out, fo_err *err) {
    if (!e->l.f.m->info.n_scores)
        return fo_fail(err, FO_EUNSUPPORTED, "the model has no rerank head (cls.output.weight)");
    return run_all(e, pairs, n_texts, finish_score, out, err);
}
