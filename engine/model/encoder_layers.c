#include "engine/model/encoder_layers.h"

#include <stdlib.h>

enum {
    TILE_ROWS = 96, /* at most: what a layer makes of them fits the second cache */
    TILE_UNIT = 6,  /* a multiple of what products take at a time */
    FEW_ROWS = 24,  /* a thread's share below which products are shared instead */
};

int encoder_layers_create(encoder_layers *l, const model *m, fo_pool *pool, int rows, int pages,
                          fo_err *err) {
    *l = (encoder_layers){.n_tiles = pool ? fo_pool_threads(pool) : 1};
    kv_layout layout = {.n_layers = 2,
                        .n_kv_heads = m->info.n_kv_heads,
                        .k_dim = m->info.k_dim,
                        .v_dim = m->info.v_dim,
                        .page_tokens = ENCODER_PAGE,
                        .type = KV_F32};
    int rc = forward_create(&l->f, m, pool, rows, 1, err);
    if (!rc) rc = kv_layout_init(&layout, err);
    if (!rc) rc = kv_pages_create(&l->kv, &layout, pages, err);
    if (rc) return rc;
    l->rows = calloc((size_t)rows, sizeof *l->rows);
    l->tiles = calloc((size_t)l->n_tiles, sizeof *l->tiles);
    if (!l->rows || !l->tiles) return fo_fail(err, FO_ENOMEM, "no memory for an encoder");
    for (int i = 0; !rc && i < l->n_tiles; i++)
        rc = forward_create(&l->tiles[i], m, NULL, TILE_ROWS, 1, err);
    return rc;
}

void encoder_layers_free(encoder_layers *l) {
    for (int i = 0; l->tiles && i < l->n_tiles; i++) forward_free(&l->tiles[i]);
    forward_free(&l->f);
    kv_pages_free(l->kv);
    free(l->tiles);
    free(l->rows);
    *l = (encoder_layers){0};
}

/* --- passes over rows --- */
typedef struct row_job {
    forward *f;
    const encoder_row *rows; /* to embed; NULL: x is there */
    const float *add;        /* [rows][d_stride] added to x before the norm; NULL: nothing */
    const float *w, *b;      /* the norm */
    const linear *next;      /* the product that reads x; NULL: none */
} row_job;

static void embed_row(forward *f, const encoder_row *row, int r) {
    const model *m = f->m;
    const int d = m->info.d_model;
    float *x = f->x + (size_t)r * (size_t)f->d_stride,
          *more = f->xn + (size_t)r * (size_t)f->d_stride;
    forward_embed(m->token_embd, row->token, x);
    if (m->type_embd) {
        forward_embed(m->type_embd, row->second_segment && m->type_embd->n_rows > 1, more);
        m->vec->add(x, more, d);
    }
    if (m->position_embd) {
        forward_embed(m->position_embd, f->places[r].position, more);
        m->vec->add(x, more, d);
    }
}

/* x = norm(x + add), rounded for the next product where that wants int8. */
static void rows_some(void *arg, size_t begin, size_t end, int thread) {
    (void)thread;
    const row_job *j = arg;
    forward *f = j->f;
    const model *m = f->m;
    const int d = m->info.d_model;
    for (size_t r = begin; r < end; r++) {
        float *x = f->x + r * (size_t)f->d_stride;
        if (j->rows) embed_row(f, &j->rows[r], (int)r);
        if (j->add) m->vec->add(x, j->add + r * (size_t)f->d_stride, d);
        m->vec->layer_norm(x, x, j->w, j->b, d, m->norm_eps);
        if (j->next && m->info.fast) forward_quantize_row(f, j->next, x, (int)r);
    }
}

/* --- one layer: f is the step's, or a thread's with a tile of it --- */
/* Queries, keys and values of the rows of x; of few rows their attention too. */
static void project(forward *f, kv_pages *kv, int index, int rows) {
    const layer *y = &f->m->layers[index];
    mm_input in = forward_rounded(f, f->x, f->d_stride);
    if (forward_by_heads(f, y, rows)) {
        forward_heads(f, y, &in, kv, index % 2, rows);
        return;
    }
    forward_linear(f, &y->qkv, &in, rows, f->qkv, y->qkv.n_out);
    forward_store_kv(f, y, kv, index % 2, rows);
}

static void begin_rows(forward *f, const encoder_row *which, kv_pages *kv, int rows) {
    const model *m = f->m;
    row_job job = {f, which, NULL, m->embd_norm, m->embd_norm_bias, &m->layers[0].qkv};
    forward_angles(f, rows);
    forward_rows(f, rows, rows_some, &job);
    project(f, kv, 0, rows);
}

/* From a layer's queries, keys and values to the next one's. */
static void run_layer(forward *f, kv_pages *kv, int index, int rows) {
    const model *m = f->m;
    const layer *y = &m->layers[index], *next = index + 1 < m->info.n_layers ? y + 1 : NULL;
    float *sum = f->up; /* at least d_stride wide, free between the halves */
    mm_input in, down;
    if (!forward_by_heads(f, y, rows)) forward_attention(f, y, kv, index % 2, rows);
    forward_input(f, &y->out, f->att, f->att_stride, rows, &in);
    forward_linear(f, &y->out, &in, rows, sum, f->d_stride);
    row_job job = {f, NULL, sum, y->attn_norm, y->attn_norm_bias, &y->up};
    forward_rows(f, rows, rows_some, &job);
    in = forward_rounded(f, f->x, f->d_stride);
    forward_up(f, y, &in, rows, &down);
    forward_linear(f, &y->down, &down, rows, sum, f->d_stride);
    job = (row_job){f, NULL, sum, y->ffn_norm, y->ffn_norm_bias, next ? &next->qkv : NULL};
    forward_rows(f, rows, rows_some, &job);
    if (next) project(f, kv, index + 1, rows);
}

/* --- tiles --- */
typedef struct tile_job {
    encoder_layers *l;
    int layer; /* -1: the embedding */
    int rows, tile_rows;
} tile_job;

static void tiles_some(void *arg, size_t begin, size_t end, int thread) {
    const tile_job *j = arg;
    const forward *all = &j->l->f;
    const size_t qkv = (size_t)all->m->layers[0].qkv.n_out;
    for (size_t i = begin; i < end; i++) {
        const int row = (int)i * j->tile_rows;
        const int n = j->rows - row < j->tile_rows ? j->rows - row : j->tile_rows;
        const size_t r = (size_t)row;
        forward f = j->l->tiles[thread]; /* a window on the step's rows */
        f.x = all->x + r * (size_t)all->d_stride;
        f.qkv = all->qkv + r * qkv;
        f.places = all->places + r;
        for (int k = 0; k < MODEL_ROPES; k++) {
            f.cosines[k] = all->cosines[k] + r * (size_t)all->m->ropes[k].n_pairs;
            f.sines[k] = all->sines[k] + r * (size_t)all->m->ropes[k].n_pairs;
        }
        if (j->layer < 0)
            begin_rows(&f, j->l->rows + r, j->l->kv, n);
        else
            run_layer(&f, j->l->kv, j->layer, n);
    }
}

/* As many tiles for each thread, and all of about one size. */
static int rows_of_tile(int rows, int threads) {
    int each = (rows + threads * TILE_ROWS - 1) / (threads * TILE_ROWS);
    int n = (rows + threads * each - 1) / (threads * each);
    n = (n + TILE_UNIT - 1) / TILE_UNIT * TILE_UNIT;
    return n < TILE_ROWS ? n : TILE_ROWS;
}

void encoder_layers_run(encoder_layers *l, int rows) {
    const model *m = l->f.m;
    if (rows < l->n_tiles * FEW_ROWS && l->n_tiles > 1) {
        begin_rows(&l->f, l->rows, l->kv, rows);
        for (int i = 0; i < m->info.n_layers; i++) run_layer(&l->f, l->kv, i, rows);
        return;
    }
    tile_job job = {l, -1, rows, rows_of_tile(rows, l->n_tiles)};
    const size_t n = (size_t)((rows + job.tile_rows - 1) / job.tile_rows);
    for (; job.layer < m->info.n_layers; job.layer++) {
        if (l->f.pool)
            fo_pool_run(l->f.pool, n, 1, tiles_some, &job);
        else
            tiles_some(&job, 0, n, 0);
    }
}
