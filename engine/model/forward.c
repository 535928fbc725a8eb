#include "engine/model/forward.h"

#include <string.h>
#include <sys/mman.h>

#include "engine/model/lm_head.h"
#include "engine/model/placement.h"
#include "kernels/buf.h"

enum {
    ALIGN = 64,
    ROWS_ALONE = 3,
    ROW_GRAIN = 4,
    FINE_ROWS = 128,    /* rows of two terms that are multiplied at a time */
    FINE_FLOATS = 8192, /* a thread's room for their products */
    FEW_ROWS = 16, /* up to these, a product is reading: small pieces, so that all end together */
    PIECES = 4,
    FEW_ROWS_PIECES = 32, /* of a thread's share of a product */
    UP_ROWS = 96,         /* of a piece of gate and up, */
    UP_CHANNELS = 256,    /* which lies in the second cache until it is rounded */
    ATTEND_TILES = 3,     /* that read each span of keys and values after it was unpacked */
};

static int round_up(int n, int to) {
    return (n + to - 1) / to * to;
}

static int max_int(int a, int b) {
    return a > b ? a : b;
}

static int threads_of(const forward *f) {
    return f->pool ? fo_pool_threads(f->pool) : 1;
}

/* --- scratch: laid out once; with block NULL only the size is counted --- */
typedef struct arena {
    unsigned char *base;
    size_t used;
    bool overflow;
} arena;

static void *take(arena *a, size_t count, size_t width) {
    size_t n;
    if (!fo_mul_size(count, width, &n) || n > (SIZE_MAX >> 2) - a->used) {
        a->overflow = true;
        return NULL;
    }
    void *p = a->base ? a->base + a->used : NULL;
    a->used += (n + ALIGN - 1) / ALIGN * ALIGN;
    return p;
}

static void lay_out(forward *f, arena *a) {
    const model *m = f->m;
    const model_info *i = &m->info;
    size_t rows = (size_t)f->cap_rows;
    int qkv = 0, up = 0, act = m->d_ff, k = i->d_model;
    for (int j = 0; j < i->n_layers; j++) {
        const layer *y = &m->layers[j], *ffn = y->experts ? &y->experts[0] : y;
        qkv = max_int(qkv, y->qkv.n_out);
        up = max_int(up, ffn->up.n_out);
        k = max_int(k, max_int(max_int(y->qkv.k, y->out.k), max_int(ffn->up.k, ffn->down.k)));
        if (!y->shared) continue;
        up = max_int(up, y->shared->up.n_out);
        act = max_int(act, y->shared->down.k);
        k = max_int(k, y->shared->down.k);
    }
    f->d_stride = round_up(i->d_model, VEC_GROUP);
    f->att_stride = round_up(i->n_heads * i->v_dim, VEC_GROUP);
    f->act_stride = round_up(act, VEC_GROUP);
    f->q_stride = round_up(k, 2 * VEC_GROUP); /* any k_padded */
    if (f->q_stride / 64 % 2 == 0) /* an odd number of lines, so that a tile's rows do not meet in
                                    * a few sets of the cache */
        f->q_stride += 2 * VEC_GROUP;
    f->g_stride = f->q_stride / VEC_GROUP;
    f->v_stride = round_up(i->v_dim, 16);
    f->x = take(a, rows * (size_t)f->d_stride, sizeof(float));
    f->xn = take(a, rows * (size_t)f->d_stride, sizeof(float));
    f->qkv = take(a, rows * (size_t)qkv, sizeof(float));
    f->att = take(a, rows * (size_t)f->att_stride, sizeof(float));
    f->up = take(a, rows * (size_t)max_int(up, f->d_stride), sizeof(float));
    f->act = take(a, rows * (size_t)f->act_stride, sizeof(float));
    for (int r = 0; r < MODEL_ROPES; r++) {
        size_t pairs = (size_t)m->ropes[r].n_pairs;
        f->cosines[r] = take(a, rows * pairs, sizeof(float));
        f->sines[r] = take(a, rows * pairs, sizeof(float));
    }
    if (i->fast) { /* twice: the second term of fine products */
        f->q = take(a, 2 * rows * (size_t)f->q_stride, 1);
        f->q_scale = take(a, 2 * rows * (size_t)f->g_stride, sizeof(float));
        f->q_wsum = take(a, 2 * rows * (size_t)f->g_stride, sizeof(float));
        f->q_sum = take(a, 2 * rows * (size_t)f->g_stride, sizeof(int32_t));
        f->q_halves = take(a, 4 * rows * (size_t)f->g_stride, sizeof(int32_t));
        if (m->mm->int16_sums)
            f->q_compensation = take(a, 8 * rows * (size_t)f->g_stride, sizeof(int32_t));
        f->rest = take(a, rows * (size_t)f->d_stride, sizeof(float));
    }
    if (m->n_experts) {
        const size_t used = rows * (size_t)m->n_experts_used, d = rows * (size_t)f->d_stride;
        f->expert_weights = take(a, used, sizeof(float));
        f->experts_of = take(a, used, sizeof(int));
        f->expert_rows = take(a, rows, sizeof(int));
        f->expert_x = take(a, d, sizeof(float));
        f->expert_y = take(a, d, sizeof(float));
        f->expert_sum = take(a, d, sizeof(float));
    }
    f->places = take(a, rows, sizeof(row_place));
    size_t kd = (size_t)i->k_dim, vs = (size_t)f->v_stride;
    f->thread_floats = (ATTENTION_SPAN + ATTEND_TILES * ATTENTION_ROWS) * (kd + vs) + 64;
    if (f->thread_floats < FINE_FLOATS) f->thread_floats = FINE_FLOATS;
    if (f->thread_floats < 2 * UP_ROWS * UP_CHANNELS) f->thread_floats = 2 * UP_ROWS * UP_CHANNELS;
    f->thread_scratch = take(a, (size_t)threads_of(f) * f->thread_floats, sizeof(float));
    if (m->head.two_terms) {
        size_t n = (size_t)f->cap_head_rows;
        f->head_tops = take(a, n * (size_t)lm_head_stretches(&m->head), sizeof(float));
        f->head_rests = take(a, n, sizeof(float));
        f->head_bars = take(a, n, sizeof(float));
    }
    f->logits = take(a, (size_t)f->cap_head_rows * (size_t)m->head.n_out, sizeof(float));
}

int forward_create(forward *f, const model *m, fo_pool *pool, int rows, int head_rows,
                   fo_err *err) {
    *f = (forward){.m = m, .pool = pool, .cap_rows = rows, .cap_head_rows = head_rows};
    arena a = {0};
    lay_out(f, &a);
    void *block = a.overflow ? MAP_FAILED
                             : mmap(NULL, a.used, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (block == MAP_FAILED)
        return fo_fail(err, FO_ENOMEM, "no memory for a step of %d tokens (%zu MiB)", rows,
                       a.used >> 20);
    /* Zeroes, which the padding must be; rows that no step reaches never take memory. */
    f->block_bytes = a.used;
    a = (arena){.base = block};
    f->block = block;
    lay_out(f, &a);
    return FO_OK;
}

void forward_free(forward *f) {
    if (f->block) munmap(f->block, f->block_bytes);
    *f = (forward){0};
}

void forward_rows(forward *f, int n, fo_pool_fn *fn, void *arg) {
    if (!f->pool || n <= ROWS_ALONE)
        fn(arg, 0, (size_t)n, 0);
    else
        fo_pool_run(f->pool, (size_t)n, ROW_GRAIN, fn, arg);
}

/* --- products --- */
/* Where the codes of a row go, from `channel` on. */
static vec_codes codes_at(const forward *f, const linear *w, int row, int channel) {
    const size_t g = (size_t)row * (size_t)f->g_stride + (size_t)(channel / VEC_GROUP);
    return (vec_codes){.q = f->q + (size_t)row * (size_t)f->q_stride + channel,
                       .scale = f->q_scale + g,
                       .sum = f->q_sum + g,
                       .halves = f->q_halves + 2 * g,
                       .wsum = f->q_wsum + g,
                       .compensation = w->int16_sums ? f->q_compensation + 4 * g : NULL,
                       .wide = w->wide};
}

/* Row number `row` of f->q. The two terms of fine parts' rows are neighbours, 2r and 2r + 1; the
 * second terms of a few groups lie cap_rows behind the first ones. */
static int8_t *quantize_row(forward *f, const linear *w, const float *x, int row) {
    const vec_codes to = codes_at(f, w, row, 0);
    f->m->vec->quantize(&to, x, w->k, w->w[0].k_padded);
    return to.q;
}

/* The same of a wide linear's row, rotated first, piece by piece. */
static void quantize_rotated(forward *f, const linear *w, const float *x, int row) {
    enum { PIECE = 8 * VEC_WIDE };
    float rotated[PIECE];
    const int k = w->w[0].k_padded;
    for (int c = 0; c < k; c += PIECE) {
        const int n = k - c < PIECE ? k - c : PIECE;
        const vec_codes to = codes_at(f, w, row, c);
        f->m->vec->rotate(rotated, x + c, w->k - c, n);
        f->m->vec->quantize(&to, rotated, n, n);
    }
}

void forward_quantize_row(forward *f, const linear *w, const float *x, int row) {
    const int first = w->n_fine ? 2 * row : row;
    const int second = w->n_fine ? first + 1 : f->cap_rows + row;
    if (w->wide) { /* never has a second term */
        quantize_rotated(f, w, x, first);
        return;
    }
    const int8_t *q = quantize_row(f, w, x, first);
    if (!w->n_fine && !w->fine_groups && !w->two_terms) return;
    float *rest = f->rest + (size_t)row * (size_t)f->d_stride;
    f->m->vec->residual(rest, x, q, f->q_scale + (size_t)first * (size_t)f->g_stride, w->k);
    quantize_row(f, w, rest, second);
}

typedef struct quantize_job {
    forward *f;
    const linear *w;
    const float *x;
    int x_stride;
} quantize_job;

static void quantize_some(void *arg, size_t begin, size_t end, int thread) {
    (void)thread;
    quantize_job *j = arg;
    for (size_t r = begin; r < end; r++)
        forward_quantize_row(j->f, j->w, j->x + r * (size_t)j->x_stride, (int)r);
}

void forward_input(forward *f, const linear *w, const float *x, int x_stride, int rows,
                   mm_input *in) {
    if (f->m->info.fast) {
        quantize_job job = {f, w, x, x_stride};
        forward_rows(f, rows, quantize_some, &job);
    }
    *in = forward_rounded(f, x, x_stride);
}

mm_input forward_rounded(const forward *f, const float *x, int x_stride) {
    return (mm_input){.x = x,
                      .x_stride = (size_t)x_stride,
                      .q = f->q,
                      .scale = f->q_scale,
                      .wsum = f->q_wsum,
                      .sum = f->q_sum,
                      .halves = f->q_halves,
                      .compensation = f->q_compensation,
                      .q_stride = (size_t)f->q_stride,
                      .g_stride = (size_t)f->g_stride};
}

typedef struct linear_job {
    const forward *f;
    const linear *w;
    const mm_input *in;
    int rows, out_stride;
    float *out;
    int first[LINEAR_PARTS + 1]; /* first strip of each part */
} linear_job;

static mm_input input_from(const mm_input *in, int row) {
    mm_input t = *in;
    const size_t r = (size_t)row;
    t.q += r * t.q_stride;
    t.scale += r * t.g_stride;
    t.wsum += r * t.g_stride;
    t.sum += r * t.g_stride;
    t.halves += r * t.g_stride * 2;
    if (t.compensation) t.compensation += r * t.g_stride * 4;
    return t;
}

mm_input forward_second_term(const forward *f, const linear *w, const mm_input *in) {
    mm_input t = input_from(in, f->cap_rows);
    t.add = true;
    t.groups = w->fine_groups;
    t.n_groups = w->n_fine_groups;
    return t;
}

/* Both terms of each row beside each other, so that the weights are read once. */
static void run_fine(const linear_job *j, const mm_weights *w, int p0, int p1, float *out,
                     float *scratch) {
    const model *m = j->f->m;
    for (int r0 = 0; r0 < j->rows; r0 += FINE_ROWS) {
        const int rows = j->rows - r0 < FINE_ROWS ? j->rows - r0 : FINE_ROWS;
        const int strip = m->mm->panels * MM_PANEL;
        const mm_input in = input_from(j->in, 2 * r0);
        const int wide = max_int(FINE_FLOATS / (2 * rows) / strip, 1) * m->mm->panels;
        for (int p = p0; p < p1; p += wide) {
            const int end = p1 - p < wide ? p1 : p + wide, n = (end - p) * MM_PANEL;
            mm_weights part = *w; /* from panel p on */
            part.data += (size_t)p * w->panel_bytes;
            part.n_panels -= p;
            m->mm->run[w->kind](&part, &in, 0, 2 * rows, 0, end - p, scratch, (size_t)n);
            for (int r = 0; r < rows; r++) {
                float *o = out + (size_t)(r0 + r) * (size_t)j->out_stride + (size_t)p * MM_PANEL;
                memcpy(o, scratch + (size_t)(2 * r) * (size_t)n, (size_t)n * sizeof *o);
                m->vec->add(o, scratch + (size_t)(2 * r + 1) * (size_t)n, n);
            }
        }
    }
}

/* Panels [p0, p1) of part number `part`. */
static void run_part(const linear_job *j, int part, int p0, int p1, int thread) {
    const model *m = j->f->m;
    const mm_weights *w = &j->w->w[part];
    float *out = j->out + j->w->offset[part];
    if (m->info.fast && j->w->n_fine && part < j->w->n_parts - j->w->n_fine) {
        mm_input first = *j->in; /* of each row's two terms */
        first.q_stride *= 2;
        first.g_stride *= 2;
        m->mm->run[w->kind](w, &first, 0, j->rows, p0, p1, out, (size_t)j->out_stride);
    } else if (m->info.fast && j->w->n_fine)
        run_fine(j, w, p0, p1, out, j->f->thread_scratch + (size_t)thread * j->f->thread_floats);
    else if (m->info.fast && j->w->fine_groups) {
        mm_input rest = forward_second_term(j->f, j->w, j->in);
        for (int p = p0; p < p1; p += m->mm->panels) { /* strip by strip: weights in the cache */
            int end = p + m->mm->panels < p1 ? p + m->mm->panels : p1;
            m->mm->run[w->kind](w, j->in, 0, j->rows, p, end, out, (size_t)j->out_stride);
            m->mm->run[w->kind](w, &rest, 0, j->rows, p, end, out, (size_t)j->out_stride);
        }
    } else
        m->mm->run[w->kind](w, j->in, 0, j->rows, p0, p1, out, (size_t)j->out_stride);
    if (!j->w->bias) return;
    int c0 = p0 * MM_PANEL, n = (p1 - p0) * MM_PANEL;
    for (int r = 0; r < j->rows; r++)
        m->vec->add(out + (size_t)r * (size_t)j->out_stride + c0,
                    j->w->bias + j->w->offset[part] + c0, n);
}

static void linear_some(void *arg, size_t begin, size_t end, int thread) {
    const linear_job *j = arg;
    const int panels = j->f->m->mm->panels;
    for (int p = 0; p < j->w->n_parts; p++) {
        int s0 = max_int((int)begin, j->first[p]) - j->first[p];
        int s1 = ((int)end < j->first[p + 1] ? (int)end : j->first[p + 1]) - j->first[p];
        if (s0 >= s1) continue;
        int p1 = s1 * panels;
        run_part(j, p, s0 * panels, p1 < j->w->w[p].n_panels ? p1 : j->w->w[p].n_panels, thread);
    }
}

void forward_linear(forward *f, const linear *w, const mm_input *in, int rows, float *out,
                    int out_stride) {
    linear_job job = {f, w, in, rows, out_stride, out, {0}};
    const int strips = placement_strips(w, f->m->mm->panels, job.first);
    if (!f->pool) {
        linear_some(&job, 0, (size_t)strips, 0);
        return;
    }
    int pieces = (rows <= FEW_ROWS ? FEW_ROWS_PIECES : PIECES) * threads_of(f);
    int grain = max_int(1, strips / pieces);
    fo_pool_run(f->pool, (size_t)strips, (size_t)grain, linear_some, &job);
}

void forward_embed(const gguf_tensor *t, int row, float *out) {
    quant_unpack_row(t->type, (const unsigned char *)t->data + (size_t)row * t->row_bytes, out,
                     (size_t)t->dims[0]);
}

/* --- attention --- */
void forward_angles(forward *f, int rows) {
    for (int i = 0; i < MODEL_ROPES; i++) {
        const rope_table *t = &f->m->ropes[i];
        size_t n = (size_t)t->n_pairs;
        for (int r = 0; n && r < rows; r++)
            rope_angles(t, f->places[r].position, f->cosines[i] + (size_t)r * n,
                        f->sines[i] + (size_t)r * n);
    }
}

typedef struct kv_job {
    forward *f;
    const layer *y;
    kv_pages *kv;
    int kv_layer;
} kv_job;

/* KV heads [h0, h1) of a row, with the query heads of each. */
static void store_row(kv_job *j, size_t r, int h0, int h1) {
    forward *f = j->f;
    const model *m = f->m;
    const layer *y = j->y;
    const int page_tokens = kv_pages_layout(j->kv)->page_tokens;
    const size_t k_dim = (size_t)m->info.k_dim, v_dim = (size_t)m->info.v_dim;
    float *row = f->qkv + r * (size_t)y->qkv.n_out;
    float *q = row + y->qkv.offset[0], *k = row + y->qkv.offset[1], *v = row + y->qkv.offset[2];
    for (int i = h0 * m->group; i < h1 * m->group + h1 - h0; i++) {
        const bool key = i >= h1 * m->group;
        float *x = key ? k + (size_t)(h0 + i - h1 * m->group) * k_dim : q + (size_t)i * k_dim;
        const float *norm = key ? y->k_norm : y->q_norm;
        if (norm) m->vec->rms_norm(x, x, norm, (int)k_dim, m->norm_eps);
        if (y->rope) {
            size_t t = (size_t)(y->rope - m->ropes), n = (size_t)y->rope->n_pairs;
            (y->rope->adjacent ? m->vec->rope_pairs : m->vec->rope_halves)(
                x, f->cosines[t] + r * n, f->sines[t] + r * n, (int)n);
        }
        if (!key) m->vec->scale(x, m->attn_scale, (int)k_dim);
    }
    const row_place *p = &f->places[r];
    int page = p->pages[p->slot / page_tokens], slot = p->slot % page_tokens;
    for (int h = h0; h < h1; h++)
        kv_pages_store(j->kv, page, slot, j->kv_layer, h, k + (size_t)h * k_dim,
                       v + (size_t)h * v_dim);
}

static void store_rows(void *arg, size_t begin, size_t end, int thread) {
    (void)thread;
    kv_job *j = arg;
    for (size_t r = begin; r < end; r++) store_row(j, r, 0, j->f->m->info.n_kv_heads);
}

void forward_store_kv(forward *f, const layer *y, kv_pages *kv, int kv_layer, int rows) {
    kv_job job = {f, y, kv, kv_layer};
    forward_rows(f, rows, store_rows, &job);
}

typedef struct attend_job {
    forward *f;
    const layer *y;
    const kv_pages *kv;
    int kv_layer, rows;
    int tile_rows;  /* neighbouring rows that one tile may take, */
    int item_rows;  /* and those that share what is unpacked: of up to ATTEND_TILES tiles */
    int head_parts; /* tiles that one KV head's query heads are split into */
} attend_job;

/* Some rows of one sequence, query heads [h0, h0 + heads) of one KV head. */
typedef struct attend_part {
    int row, n, h0, heads;
    attention_tile t;
    int first[ATTENTION_ROWS], last[ATTENTION_ROWS]; /* slots that a row of the tile sees */
    int begin, end;                                  /* and all of them together */
} attend_part;

/* Slots [at, at + ATTENTION_BLOCK) and the weights w that a finished tile's rows give them, where
 * its sequence wants every position's. */
static void observe_block(const attend_part *a, const model_sequence *s, int at,
                          float (*w)[ATTENTION_BLOCK]) {
    for (int k = 0; k < ATTENTION_BLOCK && at + k < s->n_attention; k++) {
        uint64_t sum = 0;
        for (int r = 0; r < a->t.n_rows; r++) sum += (uint64_t)((double)w[r][k] * 0x1p32);
        __atomic_fetch_add(&s->attention[at + k], sum, __ATOMIC_RELAXED);
    }
}

/* The same of those rows that are watched, for a head's block. */
static void watch_block(const attend_job *j, const attend_part *a, const model_sequence *s,
                        int kv_head, int block, float (*w)[ATTENTION_BLOCK]) {
    uint64_t sum = 0;
    for (int r = 0; r < a->t.n_rows; r++)
        for (int k = 0; k < ATTENTION_BLOCK && j->f->places[a->row + r / a->heads].watched; k++)
            sum += (uint64_t)((double)w[r][k] * 0x1p32);
    const size_t head = (size_t)(j->kv_layer * j->f->m->info.n_kv_heads + kv_head);
    __atomic_fetch_add(&s->watched[head * (size_t)s->n_watched + (size_t)block], sum,
                       __ATOMIC_RELAXED);
}

/* Add up the weights of a finished tile, where its sequence wants them. */
static void observe_tile(attend_job *j, const attend_part *a, int kv_head, float *keys,
                         float *values) {
    const row_place *p = &j->f->places[a->row];
    const model_sequence *s = NULL;
    bool some = false;
    for (int r = 0; r < a->n; r++) {
        if (p[r].observed) s = p[r].observed;
        some |= p[r].watched;
    }
    if (!s) return;
    const bool all = s->attention && j->kv_layer >= s->attention_layers[0] &&
                     j->kv_layer < s->attention_layers[1];
    const int most = max_int(all ? s->n_attention : 0, some ? s->n_watched * ATTENTION_BLOCK : 0);
    const int page_tokens = kv_pages_layout(j->kv)->page_tokens,
              end = a->end < most ? a->end : most;
    float w[ATTENTION_ROWS][ATTENTION_BLOCK];
    int lo[ATTENTION_ROWS], hi[ATTENTION_ROWS];
    for (int at = 0; at < end; at += ATTENTION_BLOCK) {
        kv_pages_unpack(j->kv, p->pages[at / page_tokens], at % page_tokens, j->kv_layer, kv_head,
                        keys, values, j->f->v_stride);
        for (int r = 0; r < a->t.n_rows; r++) {
            lo[r] = a->first[r] > at ? a->first[r] - at : 0;
            hi[r] = a->last[r] - at < ATTENTION_BLOCK ? a->last[r] - at : ATTENTION_BLOCK;
        }
        j->f->m->attention->weights(&a->t, keys, lo, hi, w);
        if (all) observe_block(a, s, at, w);
        if (some && at / ATTENTION_BLOCK < s->n_watched)
            watch_block(j, a, s, kv_head, at / ATTENTION_BLOCK, w);
    }
}

/* room: for the queries and sums of a tile. */
static void begin_tile(const attend_job *j, attend_part *a, float *room) {
    const forward *f = j->f;
    const model *m = f->m;
    const size_t k_dim = (size_t)m->info.k_dim;
    a->t = (attention_tile){.n_rows = a->n * a->heads,
                            .k_dim = m->info.k_dim,
                            .v_dim = m->info.v_dim,
                            .v_stride = f->v_stride,
                            .soft_cap = m->attn_soft_cap,
                            .bf16 = m->info.fast && kv_pages_layout(j->kv)->type == KV_BF16,
                            .q = room,
                            .o = room + ATTENTION_ROWS * k_dim};
    a->begin = INT32_MAX, a->end = 0;
    for (int r = 0; r < a->n; r++) {
        const row_place *p = &f->places[a->row + r];
        const float *q = f->qkv + (size_t)(a->row + r) * (size_t)j->y->qkv.n_out +
                         j->y->qkv.offset[0] + (size_t)a->h0 * k_dim;
        memcpy(a->t.q + (size_t)(r * a->heads) * k_dim, q, (size_t)a->heads * k_dim * sizeof *q);
        int from = j->y->window && p->slot >= j->y->window ? p->slot - j->y->window + 1 : 0;
        for (int h = 0; h < a->heads; h++) {
            a->first[r * a->heads + h] = from;
            a->last[r * a->heads + h] = p->n_keys;
        }
        if (from < a->begin) a->begin = from;
        if (p->n_keys > a->end) a->end = p->n_keys;
    }
    m->attention->begin(&a->t);
}

static void end_tile(const attend_job *j, attend_part *a) {
    const forward *f = j->f;
    const size_t v_dim = (size_t)f->m->info.v_dim;
    f->m->attention->end(&a->t);
    for (int r = 0; r < a->n; r++)
        for (int h = 0; h < a->heads; h++)
            memcpy(
                f->att + (size_t)(a->row + r) * (size_t)f->att_stride + (size_t)(a->h0 + h) * v_dim,
                a->t.o + (size_t)(r * a->heads + h) * (size_t)f->v_stride, v_dim * sizeof(float));
}

/* Keys [at, next) and what of them a tile's rows see. */
static void attend_span(const attend_job *j, attend_part *a, int at, int next, int n_blocks,
                        const float *keys, const float *values) {
    int lo[ATTENTION_ROWS], hi[ATTENTION_ROWS];
    if (at >= a->end || next <= a->begin) return;
    for (int r = 0; r < a->t.n_rows; r++) {
        lo[r] = a->first[r] > at ? a->first[r] - at : 0;
        hi[r] = a->last[r] < next ? a->last[r] - at : next - at;
    }
    j->f->m->attention->span(&a->t, n_blocks, keys, values, lo, hi);
}

/* Rows [r0, r0 + n) of one sequence, up to ATTEND_TILES tiles of them. */
static void attend_tiles(attend_job *j, int r0, int n, int kv_head, int h0, int heads,
                         float *scratch) {
    const forward *f = j->f;
    const size_t k_dim = (size_t)f->m->info.k_dim, v_stride = (size_t)f->v_stride;
    const int page_tokens = kv_pages_layout(j->kv)->page_tokens;
    float *keys = scratch, *values = keys + ATTENTION_SPAN * k_dim;
    float *room = values + ATTENTION_SPAN * v_stride;
    attend_part tiles[ATTEND_TILES];
    int n_tiles = 0, begin = INT32_MAX, end = 0;
    for (int r = 0; r < n; r += j->tile_rows, n_tiles++) {
        attend_part *a = &tiles[n_tiles];
        a->row = r0 + r, a->n = n - r < j->tile_rows ? n - r : j->tile_rows;
        a->h0 = h0, a->heads = heads;
        begin_tile(j, a, room + (size_t)n_tiles * ATTENTION_ROWS * (k_dim + v_stride));
        if (a->begin < begin) begin = a->begin;
        if (a->end > end) end = a->end;
    }
    const int32_t *pages = f->places[r0].pages;
    /* Whole spans of an encoder's pages are read where they lie. */
    const bool in_place =
        page_tokens % ATTENTION_SPAN == 0 && kv_pages_viewable(j->kv, f->v_stride);
    for (int at = begin / ATTENTION_BLOCK * ATTENTION_BLOCK, next; at < end; at = next) {
        int n_blocks = 0;
        const float *span_keys = keys, *span_values = values;
        if (in_place)
            kv_pages_view(j->kv, pages[at / page_tokens], at % page_tokens, j->kv_layer, kv_head,
                          &span_keys, &span_values);
        for (next = at; next < end && (next == at || next % ATTENTION_SPAN); n_blocks++) {
            if (!in_place)
                kv_pages_unpack(j->kv, pages[next / page_tokens], next % page_tokens, j->kv_layer,
                                kv_head, keys + (size_t)(next - at) * k_dim,
                                values + (size_t)(next - at) * v_stride, f->v_stride);
            next += ATTENTION_BLOCK;
        }
        for (int i = 0; i < n_tiles; i++)
            attend_span(j, &tiles[i], at, next, n_blocks, span_keys, span_values);
    }
    for (int i = 0; i < n_tiles; i++) end_tile(j, &tiles[i]);
    for (int i = 0; i < n_tiles; i++) observe_tile(j, &tiles[i], kv_head, keys, values);
}

/* Tiles from row r on, cut where the sequence changes. */
static void attend_rows(attend_job *j, int r, int kv_head, int h0, int heads, float *scratch) {
    const int end = r + j->item_rows < j->rows ? r + j->item_rows : j->rows;
    while (r < end) {
        int n = 1;
        while (r + n < end && j->f->places[r + n].pages == j->f->places[r].pages) n++;
        attend_tiles(j, r, n, kv_head, h0, heads, scratch);
        r += n;
    }
}

/* An item: some rows (item_rows of them), one KV head, one part of its query heads. */
static void attend_some(void *arg, size_t begin, size_t end, int thread) {
    attend_job *j = arg;
    const model *m = j->f->m;
    float *scratch = j->f->thread_scratch + (size_t)thread * j->f->thread_floats;
    int per_row = m->info.n_kv_heads * j->head_parts;
    int part_heads = (m->group + j->head_parts - 1) / j->head_parts;
    for (size_t i = begin; i < end; i++) {
        int item = (int)i / per_row, rest = (int)i % per_row;
        int kv_head = rest / j->head_parts, part = rest % j->head_parts;
        int h0 = kv_head * m->group + part * part_heads;
        int heads = m->group - part * part_heads;
        if (heads > part_heads) heads = part_heads;
        if (heads <= 0) continue;
        attend_rows(j, item * j->item_rows, kv_head, h0, heads, scratch);
    }
}

void forward_attention(forward *f, const layer *y, const kv_pages *kv, int kv_layer, int rows) {
    const model *m = f->m;
    attend_job job = {f, y, kv, kv_layer, rows, 1, 1, 1};
    if (m->group > ATTENTION_ROWS)
        job.head_parts = (m->group + ATTENTION_ROWS - 1) / ATTENTION_ROWS;
    else { /* many rows unpack keys less often; there must be items for every thread */
        int share = max_int(1, rows * m->info.n_kv_heads / (4 * threads_of(f)));
        job.tile_rows = ATTENTION_ROWS / m->group < share ? ATTENTION_ROWS / m->group : share;
        job.item_rows = ATTEND_TILES * job.tile_rows;
        if (job.item_rows > share) job.item_rows = share / job.tile_rows * job.tile_rows;
    }
    size_t per_head = (size_t)((rows + job.item_rows - 1) / job.item_rows);
    size_t items = per_head * (size_t)(m->info.n_kv_heads * job.head_parts);
    if (f->pool)
        fo_pool_run(f->pool, items, 1, attend_some, &job);
    else
        attend_some(&job, 0, items, 0);
}

/* --- few rows, head by head --- */
typedef struct heads_job {
    linear_job qkv;
    kv_job store;
    attend_job attend;
} heads_job;

/* Panels of a part of qkv that belong to one KV head. */
static int head_panels(const forward *f, const layer *y, int part) {
    return y->qkv.w[part].n / f->m->info.n_kv_heads / MM_PANEL;
}

bool forward_by_heads(const forward *f, const layer *y, int rows) {
    const model *m = f->m;
    const int heads = m->info.n_kv_heads, threads = threads_of(f);
    bool whole = y->qkv.n_parts == 3; /* each head has whole strips */
    for (int p = 0; p < y->qkv.n_parts; p++)
        whole = whole && y->qkv.w[p].n % (heads * MM_PANEL * m->mm->panels) == 0;
    return whole && f->pool && rows > ROWS_ALONE && rows * m->group <= ATTENTION_ROWS &&
           (heads % threads == 0 || heads >= 4 * threads);
}

static void heads_some(void *arg, size_t begin, size_t end, int thread) {
    heads_job *j = arg;
    forward *f = j->attend.f;
    const int group = f->m->group;
    float *scratch = f->thread_scratch + (size_t)thread * f->thread_floats;
    for (int h = (int)begin; h < (int)end; h++) {
        for (int p = 0; p < 3; p++) {
            const int n = head_panels(f, j->attend.y, p);
            run_part(&j->qkv, p, h * n, (h + 1) * n, thread);
        }
        for (int r = 0; r < j->attend.rows; r++) store_row(&j->store, (size_t)r, h, h + 1);
        attend_rows(&j->attend, 0, h, h * group, group, scratch);
    }
}

void forward_heads(forward *f, const layer *y, const mm_input *in, kv_pages *kv, int kv_layer,
                   int rows) {
    heads_job job = {.qkv = {f, &y->qkv, in, rows, y->qkv.n_out, f->qkv, {0}},
                     .store = {f, y, kv, kv_layer},
                     .attend = {f, y, kv, kv_layer, rows, rows, rows, 1}};
    fo_pool_run(f->pool, (size_t)f->m->info.n_kv_heads, 1, heads_some, &job);
}

/* --- the FFN's activation --- */
static void activate(const model *m, float *to, const float *a, const float *b, int n) {
    switch (m->ffn) {
    case FFN_SILU_GATED:
        m->vec->silu_mul(to, a, b, n);
        break;
    case FFN_GELU_TANH_GATED:
        m->vec->gelu_mul(to, a, b, n);
        break;
    case FFN_GELU:
        m->vec->gelu(to, a, n);
        break;
    }
}

typedef struct activate_job {
    forward *f;
    const linear *up, *next;
} activate_job;

/* What is rounded at once need not be kept: the row is changed in place, in the first cache. */
static void activate_some(void *arg, size_t begin, size_t end, int thread) {
    (void)thread;
    const activate_job *j = arg;
    forward *f = j->f;
    const model *m = f->m;
    const linear *up = j->up;
    for (size_t r = begin; r < end; r++) {
        float *a = f->up + r * (size_t)up->n_out;
        float *to = m->info.fast ? a : f->act + r * (size_t)f->act_stride;
        activate(m, to, a, a + up->offset[1], j->next->k);
        if (m->info.fast) forward_quantize_row(f, j->next, to, (int)r);
    }
}

typedef struct up_job {
    forward *f;
    const layer *y;
    const mm_input *in;
    int rows, row_pieces;
} up_job;

/* Some channels of some rows, from the products of gate and up to the codes of their activation:
 * what lies between never leaves the cache. Codes are the same as those of whole rows. */
static void up_some(void *arg, size_t begin, size_t end, int thread) {
    const up_job *j = arg;
    forward *f = j->f;
    const model *m = f->m;
    float *parts[2] = {f->thread_scratch + (size_t)thread * f->thread_floats};
    parts[1] = parts[0] + UP_ROWS * UP_CHANNELS;
    for (size_t i = begin; i < end; i++) {
        const int c0 = (int)i / j->row_pieces * UP_CHANNELS, r0 = (int)i % j->row_pieces * UP_ROWS;
        const int left = j->y->down.k - c0, n = left < UP_CHANNELS ? left : UP_CHANNELS;
        const int rows = j->rows - r0 < UP_ROWS ? j->rows - r0 : UP_ROWS;
        const int last = j->y->down.w[0].k_padded - c0; /* with the zeroes behind it */
        const int padded = last < UP_CHANNELS ? last : UP_CHANNELS;
        const mm_input in = input_from(j->in, r0);
        for (int p = 0; p < 2; p++) {
            mm_weights w = j->y->up.w[p]; /* from the panel of c0 on */
            w.data += (size_t)(c0 / MM_PANEL) * w.panel_bytes;
            w.n_panels = n / MM_PANEL;
            m->mm->run[w.kind](&w, &in, 0, rows, 0, w.n_panels, parts[p], UP_CHANNELS);
        }
        for (int r = 0; r < rows; r++) {
            float *a = parts[0] + r * UP_CHANNELS;
            const vec_codes to = codes_at(f, &j->y->down, f->cap_rows + r0 + r, c0);
            activate(m, a, a, parts[1] + r * UP_CHANNELS, n);
            if (to.wide) m->vec->rotate(a, a, n, padded);
            m->vec->quantize(&to, a, to.wide ? padded : n, padded);
        }
    }
}

/* Codes of the activation go to where second terms would lie: there must be none of them. */
static bool in_pieces(const forward *f, const layer *y, int rows) {
    const linear *up = &y->up, *down = &y->down;
    return rows > UP_ROWS && f->m->info.fast && up->n_parts == 2 && !up->bias && !up->n_fine &&
           !up->fine_groups && !down->n_fine && !down->fine_groups && down->k % VEC_GROUP == 0;
}

void forward_up(forward *f, const layer *y, const mm_input *in, int rows, mm_input *down) {
    if (in_pieces(f, y, rows)) {
        up_job job = {f, y, in, rows, (rows + UP_ROWS - 1) / UP_ROWS};
        const int chunks = (y->down.k + UP_CHANNELS - 1) / UP_CHANNELS;
        if (f->pool)
            fo_pool_run(f->pool, (size_t)(chunks * job.row_pieces), 1, up_some, &job);
        else
            up_some(&job, 0, (size_t)(chunks * job.row_pieces), 0);
        const mm_input codes = forward_rounded(f, NULL, 0);
        *down = input_from(&codes, f->cap_rows);
        return;
    }
    forward_linear(f, &y->up, in, rows, f->up, y->up.n_out);
    activate_job job = {f, &y->up, &y->down};
    forward_rows(f, rows, activate_some, &job);
    *down = forward_rounded(f, f->act, f->act_stride);
}
