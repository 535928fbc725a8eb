#include "engine/embed/weight_changes.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/quant.h"
#include "kernels/vec.h"

enum { MAX_RANK = 256 };

/* W + B A, row by row: A is [rank][columns], B [rows][rank]. */
typedef struct change {
    const gguf_tensor *matrix, *a, *b;
    float *a_rows;  /* A unpacked */
    float *scratch; /* [threads][columns + rank] */
} change;

static int misfit(const gguf_tensor *t, fo_err *err) {
    return fo_fail(err, FO_ECORRUPT, "the change %.*s does not fit the encoder", (int)t->name.len,
                   t->name.ptr);
}

static void change_rows(void *arg, size_t begin, size_t end, int thread) {
    const change *c = arg;
    const vec_kernels *vec = vec_get();
    const size_t columns = c->matrix->dims[0], rank = c->b->dims[0];
    float *row = c->scratch + (size_t)thread * (columns + rank), *by = row + columns;
    for (size_t i = begin; i < end; i++) {
        unsigned char *out = (unsigned char *)c->matrix->data + i * c->matrix->row_bytes;
        const unsigned char *b = (const unsigned char *)c->b->data + i * c->b->row_bytes;
        quant_unpack_row(c->matrix->type, out, row, columns);
        quant_unpack_row(c->b->type, b, by, rank);
        for (size_t k = 0; k < rank; k++)
            vec->mul_add(row, c->a_rows + k * columns, by[k], (int)columns);
        quant_pack_row(c->matrix->type, row, out, columns);
    }
}

static int change_matrix(fo_pool *pool, change *c, fo_err *err) {
    const size_t columns = c->matrix->dims[0], rank = c->b->dims[0];
    if (rank < 1 || rank > MAX_RANK || c->a->n_rows != rank || c->a->dims[0] != columns ||
        c->b->n_rows != c->matrix->n_rows || !quant_can_pack(c->matrix->type))
        return misfit(c->a, err);
    c->a_rows = malloc(rank * columns * sizeof *c->a_rows);
    c->scratch = malloc((size_t)fo_pool_threads(pool) * (columns + rank) * sizeof *c->scratch);
    int rc = c->a_rows && c->scratch ? FO_OK : fo_no_memory(err);
    for (size_t k = 0; !rc && k < rank; k++)
        quant_unpack_row(c->a->type, (const unsigned char *)c->a->data + k * c->a->row_bytes,
                         c->a_rows + k * columns, columns);
    if (!rc) fo_pool_run(pool, c->matrix->n_rows, 16, change_rows, c);
    free(c->a_rows);
    free(c->scratch);
    return rc;
}

/* The encoder's tensor that `t` changes: NAME of "NAME.lora_a", or t's own name; NULL: none. *b: the
 * other half, NULL for a tensor that comes whole. */
static const gguf_tensor *changed_by(const gguf *changes, const gguf *from, const gguf_tensor *t,
                                     const gguf_tensor **b) {
    static const char end[] = ".lora_a";
    const size_t n_end = sizeof end - 1, len = t->name.len;
    char name[96];
    *b = NULL;
    if (len >= sizeof name) return NULL;
    memcpy(name, t->name.ptr, len);
    name[len] = 0;
    if (len > n_end && memcmp(name + len - n_end, end, n_end) == 0) {
        name[len - 1] = 'b';
        *b = gguf_find_tensor(changes, name);
        name[len - n_end] = 0;
    }
    return gguf_find_tensor(from, name);
}

/* --- the tensors that are changed, in memory of their own --- */
typedef struct changed {
    const gguf *base;
    gguf_tensor *v; /* [tensors of base] */
    size_t n;
    fo_pool *pool;
} changed;

static void repack_rows(void *arg, size_t begin, size_t end, int thread) {
    const change *c = arg; /* from a into matrix */
    const size_t columns = c->a->dims[0];
    float *row = c->scratch + (size_t)thread * columns;
    for (size_t i = begin; i < end; i++) {
        quant_unpack_row(c->a->type, (const unsigned char *)c->a->data + i * c->a->row_bytes, row,
                         columns);
        quant_pack_row(c->matrix->type, row,
                       (unsigned char *)c->matrix->data + i * c->matrix->row_bytes, columns);
    }
}

static int copy_tensor(changed *all, const gguf_tensor *of, bool to_add, gguf_tensor *out,
                       fo_err *err) {
    *out = *of;
    size_t bytes = 0;
    const bool wide = of->type == QUANT_F32 || of->type == QUANT_F16 || of->type == QUANT_BF16;
    if (to_add && !wide && quant_row_bytes(QUANT_Q8_0, of->dims[0], &bytes)) {
        out->type = QUANT_Q8_0;
        out->row_bytes = bytes;
        out->size_bytes = bytes * of->n_rows;
    }
    unsigned char *data = aligned_alloc(64, (out->size_bytes + 63) / 64 * 64);
    if (!data) return fo_no_memory(err);
    out->data = data;
    if (out->type == of->type) {
        memcpy(data, of->data, of->size_bytes);
        return FO_OK;
    }
    change c = {.matrix = out, .a = of};
    c.scratch = malloc((size_t)fo_pool_threads(all->pool) * of->dims[0] * sizeof *c.scratch);
    if (!c.scratch) {
        free(data);
        return fo_no_memory(err);
    }
    fo_pool_run(all->pool, of->n_rows, 16, repack_rows, &c);
    free(c.scratch);
    return FO_OK;
}

/* That tensor of the base in memory of its own, as it was changed until now; of a type that a change can be added to. */
static int take_tensor(changed *all, const gguf_tensor *of, bool to_add, gguf_tensor **out,
                       fo_err *err) {
    for (size_t i = 0; i < all->n; i++)
        if (all->v[i].name.ptr == of->name.ptr) {
            *out = &all->v[i];
            return FO_OK;
        }
    int rc = copy_tensor(all, of, to_add, &all->v[all->n], err);
    if (!rc) *out = &all->v[all->n++];
    return rc;
}

static int change_all(changed *all, const gguf *changes, fo_err *err) {
    size_t n = 0;
    for (size_t i = 0; i < gguf_n_tensors(changes); i++) {
        const gguf_tensor *t = gguf_tensor_at(changes, i), *b;
        const gguf_tensor *of = changed_by(changes, all->base, t, &b);
        gguf_tensor *mine;
        const bool is_half =
            t->name.len > 7 && memcmp(t->name.ptr + t->name.len - 7, ".lora_", 6) == 0;
        if (!of) {
            if (is_half && t->name.ptr[t->name.len - 1] == 'a') return misfit(t, err);
            continue; /* another half, or a head of its own */
        }
        if (!b && (is_half || of->type != t->type || of->n_rows != t->n_rows ||
                   of->row_bytes != t->row_bytes))
            return misfit(t, err);
        int rc = take_tensor(all, of, b != NULL, &mine, err);
        if (!rc && b)
            rc = change_matrix(all->pool, &(change){.matrix = mine, .a = t, .b = b}, err);
        else if (!rc && mine->type == t->type)
            memcpy((void *)mine->data, t->data, t->size_bytes);
        else if (!rc)
            rc = misfit(t, err); /* its other values were packed anew before */
        if (rc) return rc;
        n++;
    }
    return n ? FO_OK : fo_fail(err, FO_ECORRUPT, "changes of an encoder change nothing");
}

int weights_changed(gguf **out, const gguf *base, const gguf *const *changes, size_t n,
                    fo_pool *pool, fo_err *err) {
    changed all = {.base = base, .pool = pool};
    all.v = calloc(gguf_n_tensors(base) + 1, sizeof *all.v);
    int rc = all.v ? FO_OK : fo_no_memory(err);
    for (size_t i = 0; !rc && i < n; i++) rc = change_all(&all, changes[i], err);
    if (!rc) rc = gguf_overlay(out, base, all.v, all.n, err);
    for (size_t i = 0; rc && i < all.n; i++) free((void *)all.v[i].data);
    free(all.v);
    return rc;
}
