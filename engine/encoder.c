/* encoder.c - BERT's forward pass: attention in both directions, the norm after each half. Its keys
 * and values live in F32 pages that every layer writes anew, so that attention is the decoder's. */
#include "engine/encoder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/forward.h"

enum { DEFAULT_BATCH = 2048, LONGEST_TEXT = 8192, PAGE_TOKENS = KV_BLOCK };

struct encoder {
    forward f;
    kv_pages *kv;
    int32_t *table; /* [n_pages]: page i is page i; a text's block table is a slice of it */
    int n_pages;
};

int encoder_create(encoder **out, const model *m, const encoder_limits *limits, fo_err *err) {
    if (!m->info.encoder)
        return fo_fail(err, FO_EUNSUPPORTED, "%s writes text: it is no embedding model",
                       m->info.arch);
    int tokens = limits && limits->batch_tokens > 0 ? limits->batch_tokens : DEFAULT_BATCH;
    int longest = m->info.n_context < LONGEST_TEXT ? m->info.n_context : LONGEST_TEXT;
    if (tokens < longest) tokens = longest;
    encoder *e = calloc(1, sizeof *e);
    if (!e) return fo_fail(err, FO_ENOMEM, "no memory for an encoder");
    /* Every text may leave a page partly filled. */
    int n_pages = tokens;
    kv_layout l = {.n_layers = 1,
                   .n_kv_heads = m->info.n_kv_heads,
                   .k_dim = m->info.k_dim,
                   .v_dim = m->info.v_dim,
                   .page_tokens = PAGE_TOKENS,
                   .type = KV_F32};
    int rc = forward_create(&e->f, m, tokens, 1, err);
    if (!rc) rc = kv_layout_init(&l, err);
    if (!rc) rc = kv_pages_create(&e->kv, &l, n_pages, err);
    if (!rc && !(e->table = malloc((size_t)n_pages * sizeof *e->table)))
        rc = fo_fail(err, FO_ENOMEM, "no memory for an encoder");
    if (rc) {
        encoder_free(e);
        return rc;
    }
    e->n_pages = n_pages;
    for (int i = 0; i < n_pages; i++) e->table[i] = i;
    *out = e;
    return FO_OK;
}

void encoder_free(encoder *e) {
    if (!e) return;
    forward_free(&e->f);
    kv_pages_free(e->kv);
    free(e->table);
    free(e);
}

/* --- one step --- */
static void embed_row(forward *f, const encoder_text *t, int i, size_t r) {
    const model *m = f->m;
    const int d = m->info.d_model;
    float *x = f->x + r * (size_t)f->d_stride, *more = f->xn + r * (size_t)f->d_stride;
    forward_embed(m->token_embd, t->tokens[i], x);
    if (m->type_embd) {
        bool second = t->second_segment > 0 && i >= t->second_segment && m->type_embd->n_rows > 1;
        forward_embed(m->type_embd, second, more);
        m->vec->add(x, more, d);
    }
    if (m->position_embd) {
        forward_embed(m->position_embd, i, more);
        m->vec->add(x, more, d);
    }
    m->vec->layer_norm(x, x, m->embd_norm, m->embd_norm_bias, d, m->norm_eps);
}

typedef struct norm_job {
    forward *f;
    const float *add;
    const float *w, *b;
} norm_job;

/* x = norm(x + add) */
static void norm_some(void *arg, size_t begin, size_t end, int thread) {
    (void)thread;
    norm_job *j = arg;
    forward *f = j->f;
    const int d = f->m->info.d_model;
    for (size_t r = begin; r < end; r++) {
        float *x = f->x + r * (size_t)f->d_stride;
        f->m->vec->add(x, j->add + r * (size_t)f->d_stride, d);
        f->m->vec->layer_norm(x, x, j->w, j->b, d, f->m->norm_eps);
    }
}

static void run_layers(encoder *e, int rows) {
    forward *f = &e->f;
    const model *m = f->m;
    for (int i = 0; i < m->info.n_layers; i++) {
        const layer *y = &m->layers[i];
        float *sum = f->up; /* at least d_stride wide, free between the halves */
        mm_input in;
        forward_input(f, &y->qkv, f->x, f->d_stride, rows, &in);
        forward_linear(f, &y->qkv, &in, rows, f->qkv, y->qkv.n_out);
        forward_store_kv(f, y, e->kv, 0, rows);
        forward_attention(f, y, e->kv, 0, rows);
        forward_input(f, &y->out, f->att, f->att_stride, rows, &in);
        forward_linear(f, &y->out, &in, rows, sum, f->d_stride);
        norm_job job = {f, sum, y->attn_norm, y->attn_norm_bias};
        forward_rows(f, rows, norm_some, &job);
        forward_input(f, &y->up, f->x, f->d_stride, rows, &in);
        forward_linear(f, &y->up, &in, rows, f->up, y->up.n_out);
        forward_activation(f, rows);
        forward_input(f, &y->down, f->act, f->act_stride, rows, &in);
        forward_linear(f, &y->down, &in, rows, sum, f->d_stride);
        job = (norm_job){f, sum, y->ffn_norm, y->ffn_norm_bias};
        forward_rows(f, rows, norm_some, &job);
    }
}

/* Texts [0, n) that fit together; fills f->x with the last layer. Returns the rows. */
static int run_step(encoder *e, const encoder_text *texts, size_t n) {
    forward *f = &e->f;
    int r = 0, page = 0;
    for (size_t t = 0; t < n; t++) {
        for (int i = 0; i < texts[t].n_tokens; i++, r++) {
            f->places[r] = (row_place){e->table + page, i, texts[t].n_tokens, NULL};
            embed_row(f, &texts[t], i, (size_t)r);
        }
        page += (texts[t].n_tokens + PAGE_TOKENS - 1) / PAGE_TOKENS;
    }
    forward_angles(f, r);
    run_layers(e, r);
    return r;
}

static int check_text(const encoder *e, const encoder_text *t, size_t index, fo_err *err) {
    const model_info *i = &e->f.m->info;
    int longest = i->n_context < e->f.cap_rows ? i->n_context : e->f.cap_rows;
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
    for (size_t i = 0; i < n_texts; i++) {
        int rc = check_text(e, &texts[i], i, err);
        if (rc) return rc;
    }
    for (size_t first = 0; first < n_texts;) {
        size_t n = 0;
        int rows = 0;
        while (first + n < n_texts && rows + texts[first + n].n_tokens <= e->f.cap_rows)
            rows += texts[first + n++].n_tokens;
        run_step(e, texts + first, n);
        for (size_t i = 0, row = 0; i < n; i++) {
            finish(e, &texts[first + i], (int)row, &out);
            row += (size_t)texts[first + i].n_tokens;
        }
        first += n;
    }
    return FO_OK;
}

static void finish_hidden(encoder *e, const encoder_text *t, int row, float **out) {
    const forward *f = &e->f;
    const size_t d = (size_t)f->m->info.d_model;
    for (int i = 0; i < t->n_tokens; i++, *out += d)
        memcpy(*out, f->x + (size_t)(row + i) * (size_t)f->d_stride, d * sizeof(float));
}

static void finish_pooled(encoder *e, const encoder_text *t, int row, float **out) {
    const forward *f = &e->f;
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
    forward *f = &e->f;
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
    if (!e->f.m->info.n_scores)
        return fo_fail(err, FO_EUNSUPPORTED, "the model has no rerank head (cls.output.weight)");
    return run_all(e, pairs, n_texts, finish_score, out, err);
}
