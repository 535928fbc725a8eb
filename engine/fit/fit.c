/* fit.c - collects texts and targets, writes the table. The solver is in fit_solve.c. */
#include "engine/fit/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "engine/embed/embed_static.h"
#include "engine/fit/fit_internal.h"
#include "engine/gguf/gguf.h"
#include "engine/tokenizer/vocabulary.h"
#include "kernels/buf.h"

static int copy_pieces(fit *f, const tokenizer_string *pieces, fo_err *err) {
    size_t bytes = 0;
    for (size_t i = 0; i < f->n_pieces; i++) bytes += pieces[i].len;
    f->pieces = calloc(f->n_pieces, sizeof *f->pieces);
    f->piece_bytes = malloc(bytes + 1);
    f->piece_tokens = calloc(f->n_pieces, sizeof *f->piece_tokens);
    f->bags.start = calloc(1, sizeof *f->bags.start);
    if (!f->pieces || !f->piece_bytes || !f->piece_tokens || !f->bags.start)
        return fo_fail(err, FO_ENOMEM, "out of memory for %zu pieces", f->n_pieces);
    char *at = f->piece_bytes;
    for (size_t i = 0; i < f->n_pieces; i++) {
        memcpy(at, pieces[i].data, pieces[i].len);
        f->pieces[i] = (tokenizer_string){at, pieces[i].len};
        at += pieces[i].len;
    }
    return FO_OK;
}

int fit_create(fit **out, const tokenizer_string *pieces, size_t n_pieces, size_t teacher_dim,
               fo_err *err) {
    if (!n_pieces || teacher_dim < 1 || teacher_dim > 8192)
        return fo_fail(err, FO_EINVAL, "a fit needs pieces and vectors of 1 to 8192 dimensions");
    fit *f = calloc(1, sizeof *f);
    if (!f) return fo_no_memory(err);
    f->n_pieces = n_pieces;
    f->dim = teacher_dim;
    int rc = copy_pieces(f, pieces, err);
    if (!rc) rc = tokenizer_from_wordpiece(&f->tokens, f->pieces, n_pieces, err);
    if (rc) {
        fit_free(f);
        return rc;
    }
    f->unk = tokenizer_special_id(f->tokens, TOKENIZER_UNK);
    *out = f;
    return FO_OK;
}

void fit_free(fit *f) {
    if (!f) return;
    tokenizer_free(f->tokens);
    free(f->pieces);
    free(f->piece_bytes);
    free(f->piece_vectors);
    free(f->bags.start);
    free(f->bags.col);
    free(f->bags.value);
    free(f->targets);
    free(f->piece_tokens);
    free(f->table);
    free(f);
}

size_t fit_teacher_dim(const fit *f) {
    return f->dim;
}

/* *p to hold at least `need` items of `size` bytes. */
static bool grow(void **p, size_t need, size_t size) {
    size_t bytes;
    if (!fo_mul_size(need, size, &bytes)) return false;
    void *q = realloc(*p, bytes);
    if (q) *p = q;
    return q != NULL;
}

static int make_room(fit *f, size_t entries, fo_err *err) {
    sparse *b = &f->bags;
    if (b->n_rows == f->cap_rows) {
        size_t cap = f->cap_rows ? 2 * f->cap_rows : 4096;
        if (!grow((void **)&b->start, cap + 1, sizeof *b->start) ||
            !grow((void **)&f->targets, cap, f->dim * sizeof *f->targets))
            return fo_fail(err, FO_ENOMEM, "out of memory for %zu texts", cap);
        f->cap_rows = cap;
    }
    size_t used = b->start[b->n_rows];
    if (used + entries > f->cap_entries) {
        size_t cap = 2 * (used + entries);
        if (!grow((void **)&b->col, cap, sizeof *b->col) ||
            !grow((void **)&b->value, cap, sizeof *b->value))
            return fo_fail(err, FO_ENOMEM, "out of memory for %zu pieces of texts", cap);
        f->cap_entries = cap;
    }
    return FO_OK;
}

static int by_id(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static void add_bag(fit *f, int32_t *ids, size_t n) {
    sparse *b = &f->bags;
    size_t at = b->start[b->n_rows];
    double sum = 0;
    qsort(ids, n, sizeof *ids, by_id);
    for (size_t i = 0; i < n;) {
        size_t j = i;
        while (j < n && ids[j] == ids[i]) j++;
        double weight = pow((double)(j - i), FIT_TF);
        b->col[at] = (uint32_t)ids[i];
        b->value[at++] = (float)weight;
        sum += weight;
        f->piece_tokens[ids[i]] += j - i;
        i = j;
    }
    for (size_t i = b->start[b->n_rows]; i < at; i++) b->value[i] /= (float)sum;
    b->start[++b->n_rows] = at;
    f->n_tokens += n;
}

int fit_add_text(fit *f, const char *text, size_t len, const float *vector, fo_err *err) {
    int32_t ids[FIT_MAX_TOKENS];
    int64_t all = tokenizer_encode(f->tokens, text, len, 0, ids, FIT_MAX_TOKENS);
    if (all < 0) return fo_fail(err, (int)all, "a text of %zu bytes cannot be split", len);
    size_t n = 0, take = all < FIT_MAX_TOKENS ? (size_t)all : FIT_MAX_TOKENS;
    for (size_t i = 0; i < take; i++)
        if (ids[i] != f->unk) ids[n++] = ids[i];
    double sum = 0;
    for (size_t i = 0; i < f->dim; i++) sum += (double)vector[i] * (double)vector[i];
    if (!isfinite(sum) || !(sum > 0))
        return fo_fail(err, FO_EINVAL, "the vector of text %zu is zero or not finite",
                       f->bags.n_rows);
    if (!n) return FO_OK;
    int rc = make_room(f, n, err);
    if (rc) return rc;
    float *target = f->targets + f->bags.n_rows * f->dim, scale = (float)(1 / sqrt(sum));
    for (size_t i = 0; i < f->dim; i++) target[i] = vector[i] * scale;
    add_bag(f, ids, n);
    return FO_OK;
}

int fit_set_pieces(fit *f, const float *vectors, fo_err *err) {
    size_t bytes;
    if (!fo_mul_size(f->n_pieces, f->dim * sizeof *vectors, &bytes) ||
        (!f->piece_vectors && !(f->piece_vectors = malloc(bytes))))
        return fo_fail(err, FO_ENOMEM, "out of memory for the vectors of %zu pieces", f->n_pieces);
    for (size_t i = 0; i < f->n_pieces * f->dim; i++)
        if (!isfinite(vectors[i]))
            return fo_fail(err, FO_EINVAL, "the vector of piece %zu is not finite", i / f->dim);
    memcpy(f->piece_vectors, vectors, bytes);
    return FO_OK;
}

/* --- the file --- */

static int write_rows(gguf_writer *w, const fit *f, fo_err *err) {
    size_t dim = f->out_dim;
    float *scales = malloc(f->n_pieces * sizeof *scales);
    int8_t *row = malloc(dim);
    int rc = scales && row ? FO_OK : fo_no_memory(err);
    for (size_t i = 0; !rc && i < f->n_pieces; i++) {
        const float *t = f->table + i * dim;
        float top = 0;
        for (size_t k = 0; k < dim; k++) top = fmaxf(top, fabsf(t[k]));
        scales[i] = top / 127;
        for (size_t k = 0; k < dim; k++)
            row[k] = (int8_t)(scales[i] > 0 ? lrintf(t[k] / scales[i]) : 0);
        rc = gguf_write_data(w, row, dim, err);
    }
    if (!rc) rc = gguf_write_data(w, scales, f->n_pieces * sizeof *scales, err);
    free(scales);
    free(row);
    return rc;
}

int fit_write(const fit *f, const char *path, const fit_about *about, fo_err *err) {
    if (!f->table) return fo_fail(err, FO_EINVAL, "nothing is fitted yet");
    gguf_writer *w;
    int rc = gguf_writer_create(&w, path, err);
    if (rc) return rc;
    gguf_put_str(w, "general.architecture", EMBED_STATIC_ARCH);
    if (about->name) gguf_put_str(w, "general.name", about->name);
    if (about->license) gguf_put_str(w, "general.license", about->license);
    if (about->description) gguf_put_str(w, "general.description", about->description);
    gguf_put_u32(w, EMBED_STATIC_ARCH ".embedding_length", (uint32_t)f->out_dim);
    gguf_put_f32(w, EMBED_STATIC_ARCH ".tf_power", (float)FIT_TF);
    gguf_put_f32(w, EMBED_STATIC_ARCH ".alpha",
                 about->alpha > 0 ? about->alpha : EMBED_STATIC_ALPHA);
    rc = vocabulary_put(w, f->pieces, f->n_pieces, f->tokens, err);
    gguf_put_tensor(w, "token_embd.weight", QUANT_I8, 2, (uint64_t[]){f->out_dim, f->n_pieces});
    gguf_put_tensor(w, "token_embd.scale", QUANT_F32, 1, (uint64_t[]){f->n_pieces});
    if (!rc) rc = write_rows(w, f, err);
    if (rc) {
        gguf_writer_abort(w);
        return rc;
    }
    return gguf_writer_commit(w, err);
}
