/* forward_decoder.c - a step of a decoder: norm before attention and before the FFN, residuals
 * around both, logits for the rows that want them. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "engine/model/lm_head.h"

struct model_context {
    forward f;
    int rows, head_rows; /* of the step that was begun */
    int layer;           /* its next one */
};

int model_context_create(model_context **out, const model *m, const model_limits *limits,
                         fo_err *err) {
    if (m->info.encoder)
        return fo_fail(err, FO_EUNSUPPORTED, "%s is an encoder: it gives vectors, not text",
                       m->info.arch);
    if (limits->batch_tokens < 1 || limits->logit_rows < 1 || limits->batch_tokens > 1 << 20 ||
        limits->logit_rows > limits->batch_tokens)
        return fo_fail(err, FO_EINVAL, "a step of %d tokens and %d rows of logits is not possible",
                       limits->batch_tokens, limits->logit_rows);
    model_context *c = calloc(1, sizeof *c);
    if (!c) return fo_fail(err, FO_ENOMEM, "no memory for a step");
    int rc = forward_create(&c->f, m, m->pool, limits->batch_tokens, limits->logit_rows, err);
    if (rc) {
        free(c);
        return rc;
    }
    *out = c;
    return FO_OK;
}

void model_context_free(model_context *c) {
    if (!c) return;
    forward_free(&c->f);
    free(c);
}

/* --- the batch --- */
static int check_sequence(const model_context *c, const kv_pages *kv, const model_sequence *s,
                          int index, fo_err *err) {
    const model *m = c->f.m;
    const int page_tokens = kv_pages_layout(kv)->page_tokens, n_pages = kv_pages_count(kv);
    if (s->n_tokens < 1 || s->n_logits < 0 || s->n_logits > s->n_tokens || s->start < 0 ||
        s->n_pages < 0)
        return fo_fail(err, FO_EINVAL, "sequence %d: %d tokens from %d with %d rows of logits",
                       index, s->n_tokens, s->start, s->n_logits);
    if (s->layers < 0 || s->layers > m->info.n_layers || (s->layers && s->n_logits))
        return fo_fail(err, FO_EINVAL, "sequence %d: %d of %d layers with %d rows of logits", index,
                       s->layers, m->info.n_layers, s->n_logits);
    const int64_t shift = s->slot_shift;
    if (shift % KV_BLOCK || (shift && m->info.sliding_window) || (s->watched && s->n_watched < 0))
        return fo_fail(err, FO_EINVAL,
                       "sequence %d: slots lie %d behind positions%s, %d blocks "
                       "are watched",
                       index, s->slot_shift, m->info.sliding_window ? " with a sliding window" : "",
                       s->n_watched);
    int64_t before = -1 - shift, covered = (int64_t)s->n_pages * page_tokens - shift;
    for (int i = 0; i < s->n_tokens; i++) {
        int64_t p = s->positions ? s->positions[i] : (int64_t)s->start + i;
        if (p < 0 || p <= before || p >= covered || p > INT32_MAX - ATTENTION_BLOCK)
            return fo_fail(err, FO_EINVAL,
                           "sequence %d: token %d stands at position %lld, after %lld, and its "
                           "block table covers %lld",
                           index, i, (long long)p, (long long)before, (long long)covered);
        if (s->tokens[i] < 0 || s->tokens[i] >= m->info.n_vocab)
            return fo_fail(err, FO_EINVAL,
                           "sequence %d: token %d is %d, outside the vocabulary of %d", index, i,
                           (int)s->tokens[i], m->info.n_vocab);
        before = p;
    }
    if (s->n_keys) {
        if (m->info.causal || s->n_keys <= before || s->n_keys > covered)
            return fo_fail(err, FO_EINVAL,
                           "sequence %d: rows up to %lld see %d positions of %lld, %s", index,
                           (long long)before, s->n_keys, (long long)covered,
                           m->info.causal ? "but the model is causal" : "which cannot be");
        before = s->n_keys - 1;
    }
    for (int i = 0; s->logit_rows && i < s->n_logits; i++)
        if (s->logit_rows[i] < 0 || s->logit_rows[i] >= s->n_tokens ||
            (i && s->logit_rows[i] <= s->logit_rows[i - 1]))
            return fo_fail(err, FO_EINVAL, "sequence %d: row %d of %d wants logits after %d", index,
                           (int)s->logit_rows[i], s->n_tokens, i ? (int)s->logit_rows[i - 1] : -1);
    for (int i = 0; i <= (before + shift) / page_tokens; i++)
        if (s->pages[i] < 0 || s->pages[i] >= n_pages)
            return fo_fail(err, FO_EINVAL, "sequence %d: page %d of its block table is %d of %d",
                           index, i, (int)s->pages[i], n_pages);
    return FO_OK;
}

static int check_batch(const model_context *c, const kv_pages *kv, const model_sequence *seqs,
                       int n_seqs, int max_head_rows, int *rows, int *head_rows, fo_err *err) {
    const kv_layout *l = kv_pages_layout(kv);
    const model_info *m = &c->f.m->info;
    if (l->n_layers != m->n_layers || l->n_kv_heads != m->n_kv_heads || l->k_dim != m->k_dim ||
        l->v_dim != m->v_dim)
        return fo_fail(err, FO_EINVAL, "the KV pages were laid out for another model");
    int64_t n = 0, n_head = 0;
    for (int i = 0; i < n_seqs; i++) {
        int rc = check_sequence(c, kv, &seqs[i], i, err);
        if (rc) return rc;
        n += seqs[i].n_tokens;
        n_head += seqs[i].n_logits;
    }
    if (n > c->f.cap_rows || n_head > max_head_rows)
        return fo_fail(err, FO_ELIMIT,
                       "%lld tokens with %lld rows of logits are more than a step takes (%d, %d)",
                       (long long)n, (long long)n_head, c->f.cap_rows, max_head_rows);
    *rows = (int)n;
    *head_rows = (int)n_head;
    return FO_OK;
}

static void embed_rows(forward *f, const model_sequence *seqs, int n_seqs) {
    const model *m = f->m;
    float *x = f->x;
    for (int i = 0; i < n_seqs; i++)
        for (int j = 0; j < seqs[i].n_tokens; j++, x += f->d_stride) {
            forward_embed(m->token_embd, seqs[i].tokens[j], x);
            if (m->embed_scale != 1.0f) m->vec->scale(x, m->embed_scale, m->info.d_model);
        }
}

/* Up to where a row sees that stands at position p of a sequence. */
static int keys_of(const model_info *info, int p, int n_keys) {
    if (info->causal) return p + 1;
    if (info->attention_block == 0) return n_keys;
    const int64_t end = ((int64_t)p / info->attention_block + 1) * info->attention_block;
    return end < n_keys ? (int)end : n_keys;
}

static void place_rows(forward *f, const model_sequence *seqs, int n_seqs) {
    int r = 0;
    for (int i = 0; i < n_seqs; i++) {
        const model_sequence *s = &seqs[i];
        int last = s->positions ? s->positions[s->n_tokens - 1] : s->start + s->n_tokens - 1;
        const int n_keys = s->n_keys ? s->n_keys : last + 1;
        for (int j = 0; j < s->n_tokens; j++, r++) {
            int p = s->positions ? s->positions[j] : s->start + j;
            const bool watched = s->watched && p >= s->watch_from && p < s->watch_to;
            f->places[r] = (row_place){.pages = s->pages,
                                       .position = p,
                                       .slot = p + s->slot_shift,
                                       .n_keys = keys_of(&f->m->info, p, n_keys) + s->slot_shift,
                                       .observed = s->attention || watched ? s : NULL,
                                       .watched = watched};
        }
    }
}

/* --- passes over rows --- */
typedef struct norm_job {
    forward *f;
    const float *add;   /* NULL, or what to add to x first; normed by post before that */
    const float *post;  /* NULL: added as it is */
    const float *norm;  /* NULL: nothing after */
    const linear *next; /* the product that reads the normed row; NULL: it is read as it is */
    int add_stride;
} norm_job;

/* x += post(add); xn = norm(x), rounded for the next product where that wants int8. */
static void norm_some(void *arg, size_t begin, size_t end, int thread) {
    (void)thread;
    norm_job *j = arg;
    forward *f = j->f;
    const model *m = f->m;
    const int d = m->info.d_model;
    for (size_t r = begin; r < end; r++) {
        float *x = f->x + r * (size_t)f->d_stride, *xn = f->xn + r * (size_t)f->d_stride;
        if (j->add) {
            const float *a = j->add + r * (size_t)j->add_stride;
            if (j->post) {
                m->vec->rms_norm(xn, a, j->post, d, m->norm_eps);
                a = xn;
            }
            m->vec->add(x, a, d);
        }
        if (!j->norm) continue;
        m->vec->rms_norm(xn, x, j->norm, d, m->norm_eps);
        if (m->info.fast && j->next) forward_quantize_row(f, j->next, xn, (int)r);
    }
}

static void add_and_norm(forward *f, int rows, const float *sum, int sum_stride, const float *post,
                         const float *norm, const linear *next) {
    norm_job job = {f, sum, post, norm, next, sum_stride};
    forward_rows(f, rows, norm_some, &job);
}

/* Queries, keys and values: in f->qkv and the pages. */
static void project(forward *f, int index, kv_pages *kv, int rows) {
    const layer *y = &f->m->layers[index];
    mm_input in = forward_rounded(f, f->xn, f->d_stride);
    forward_linear(f, &y->qkv, &in, rows, f->qkv, y->qkv.n_out);
    forward_store_kv(f, y, kv, index, rows);
}

/* The rest of a layer, to the next one's input. */
static void attend_and_feed(forward *f, int index, kv_pages *kv, int rows) {
    const model *m = f->m;
    const layer *y = &m->layers[index];
    float *sum = f->up; /* free between the halves; at least d_stride wide */
    const float *out = sum;
    mm_input in, down;
    forward_attention(f, y, kv, index, rows);
    forward_input(f, &y->out, f->att, f->att_stride, rows, &in);
    forward_linear(f, &y->out, &in, rows, sum, f->d_stride);
    add_and_norm(f, rows, sum, f->d_stride, y->attn_post_norm, y->ffn_norm,
                 y->experts ? NULL : &y->up);
    if (y->experts) {
        out = forward_experts(f, y, rows);
    } else {
        in = forward_rounded(f, f->xn, f->d_stride);
        forward_up(f, y, &in, rows, &down);
        forward_linear(f, &y->down, &down, rows, sum, f->d_stride);
    }
    const layer *next = index + 1 < m->info.n_layers ? y + 1 : NULL;
    add_and_norm(f, rows, out, f->d_stride, y->ffn_post_norm, next ? next->attn_norm : NULL,
                 next ? &next->qkv : NULL);
}

/* Move the rows that want logits to the front, with their queries and places. */
static void gather_head_rows(forward *f, const model_sequence *seqs, int n_seqs) {
    const size_t d = (size_t)f->d_stride,
                 n_qkv = (size_t)f->m->layers[f->m->info.n_layers - 1].qkv.n_out;
    size_t begin = 0, to = 0;
    for (int i = 0; i < n_seqs; begin += (size_t)seqs[i++].n_tokens) {
        const model_sequence *s = &seqs[i];
        for (int j = 0; j < s->n_logits; j++, to++) {
            const size_t r =
                begin + (size_t)(s->logit_rows ? s->logit_rows[j] : s->n_tokens - s->n_logits + j);
            if (r == to) continue;
            memcpy(f->x + to * d, f->x + r * d, d * sizeof *f->x);
            memcpy(f->qkv + to * n_qkv, f->qkv + r * n_qkv, n_qkv * sizeof *f->qkv);
            f->places[to] = f->places[r];
        }
    }
}

/* Behind the last layer's keys and values only the rows that want logits go on, unless its
 * attention is added up. */
static void run_last_layer(forward *f, const model_sequence *seqs, int n_seqs, kv_pages *kv,
                           int rows, int head_rows) {
    const int last = f->m->info.n_layers - 1;
    bool observed = false;
    for (int i = 0; i < n_seqs; i++)
        observed |= seqs[i].watched || (seqs[i].attention && seqs[i].attention_layers[1] > last);
    project(f, last, kv, rows);
    if (!observed) gather_head_rows(f, seqs, n_seqs);
    if (observed || head_rows) attend_and_feed(f, last, kv, observed ? rows : head_rows);
    if (observed) gather_head_rows(f, seqs, n_seqs);
}

/* Logits of rows [first, first + head_rows) of f->x. */
static void run_head(forward *f, int first, int head_rows, float *logits) {
    const model *m = f->m;
    const int d = m->info.d_model, n_vocab = m->info.n_vocab;
    for (int r = 0; r < head_rows; r++)
        m->vec->rms_norm(f->xn + (size_t)r * (size_t)f->d_stride,
                         f->x + (size_t)(first + r) * (size_t)f->d_stride, m->output_norm, d,
                         m->norm_eps);
    bool direct = n_vocab == m->head.n_out;
    lm_head_logits(f, head_rows, direct ? logits : f->logits);
    for (int i = 0; i < head_rows; i++) {
        float *row = logits + (size_t)i * (size_t)n_vocab;
        if (!direct)
            memcpy(row, f->logits + (size_t)i * (size_t)m->head.n_out,
                   (size_t)n_vocab * sizeof *row);
        if (m->logit_soft_cap > 0) m->vec->soft_cap(row, m->logit_soft_cap, n_vocab);
    }
}

/* How many layers have to be run whole: all, unless nobody in the step wants more than attention.
 */
static int layers_of(const model *m, const model_sequence *seqs, int n_seqs) {
    int n = 0;
    for (int i = 0; i < n_seqs; i++) {
        if (seqs[i].layers == 0) return m->info.n_layers;
        if (seqs[i].layers > n) n = seqs[i].layers;
    }
    return n - 1;
}

static int begin_step(model_context *c, const kv_pages *kv, const model_sequence *seqs, int n_seqs,
                      int max_head_rows, fo_err *err) {
    forward *f = &c->f;
    c->rows = c->layer = 0;
    int rc = check_batch(c, kv, seqs, n_seqs, max_head_rows, &c->rows, &c->head_rows, err);
    if (!rc) rc = gguf_intact(f->m->file, err); /* one that was lost is read no further */
    if (rc || c->rows == 0) return rc;
    embed_rows(f, seqs, n_seqs); /* all that a step reads of the file */
    if ((rc = gguf_intact(f->m->file, err))) return rc;
    place_rows(f, seqs, n_seqs);
    forward_angles(f, c->rows);
    add_and_norm(f, c->rows, NULL, 0, NULL, f->m->layers[0].attn_norm, &f->m->layers[0].qkv);
    return FO_OK;
}

int model_forward_begin(model_context *c, const kv_pages *kv, const model_sequence *seqs,
                        int n_seqs, fo_err *err) {
    return begin_step(c, kv, seqs, n_seqs, c->f.cap_head_rows, err);
}

bool model_forward_go(model_context *c, kv_pages *kv, const model_sequence *seqs, int n_seqs,
                      float *logits, const atomic_bool *give_way) {
    forward *f = &c->f;
    const model *m = f->m;
    if (c->rows == 0) return true;
    if (c->layer) place_rows(f, seqs, n_seqs); /* pages may have been moved meanwhile */
    const int n_layers = layers_of(m, seqs, n_seqs);
    const bool whole = n_layers == m->info.n_layers;
    while (c->layer < n_layers - whole) {
        project(f, c->layer, kv, c->rows);
        attend_and_feed(f, c->layer++, kv, c->rows);
        if (give_way && atomic_load(give_way)) return false;
    }
    if (whole) {
        run_last_layer(f, seqs, n_seqs, kv, c->rows, c->head_rows);
        if (c->head_rows && logits) run_head(f, 0, c->head_rows, logits);
    } else { /* attention is all that is wanted of this one */
        project(f, n_layers, kv, c->rows);
        forward_attention(f, &m->layers[n_layers], kv, n_layers, c->rows);
    }
    c->rows = 0;
    return true;
}

int model_forward(model_context *c, kv_pages *kv, const model_sequence *seqs, int n_seqs,
                  float *logits, fo_err *err) {
    int rc = model_forward_begin(c, kv, seqs, n_seqs, err);
    if (!rc) model_forward_go(c, kv, seqs, n_seqs, logits, NULL);
    return rc;
}

int model_forward_states(model_context *c, kv_pages *kv, const model_sequence *seqs, int n_seqs,
                         fo_err *err) {
    int rc = begin_step(c, kv, seqs, n_seqs, c->f.cap_rows, err);
    if (!rc) model_forward_go(c, kv, seqs, n_seqs, NULL, NULL);
    return rc;
}

void model_forward_logits(model_context *c, int first, int n, float *logits) {
    assert(first >= 0 && n >= 0 && n <= c->f.cap_head_rows && first + n <= c->head_rows);
    if (n) run_head(&c->f, first, n, logits);
}
