#include "engine/embed/builtin_changes.h"

#include <stdlib.h>
#include <string.h>

#include "engine/embed/reader_impl.h"
#include "kernels/quant.h"
#include "kernels/vec.h"

enum { MAX_RANK = 256 };

/* W + B A, row by row: A is [rank][columns], B [rows][rank]. */
typedef struct change {
    const gguf_tensor *matrix, *a, *b;
    unsigned char *out; /* the matrix's bytes in the copy */
    float *a_rows;      /* A unpacked */
    float *scratch;     /* [threads][columns + rank] */
} change;

static int misfit(const gguf_tensor *t, fo_err *err) {
    return fo_fail(err, FO_ECORRUPT, "the change %.*s does not fit the built-in reader",
                   (int)t->name.len, t->name.ptr);
}

static void change_rows(void *arg, size_t begin, size_t end, int thread) {
    const change *c = arg;
    const vec_kernels *vec = vec_get();
    const size_t columns = c->matrix->dims[0], rank = c->b->dims[0];
    float *row = c->scratch + (size_t)thread * (columns + rank), *by = row + columns;
    for (size_t i = begin; i < end; i++) {
        unsigned char *out = c->out + i * c->matrix->row_bytes;
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

/* The reader's tensor that `t` changes: NAME of "NAME.lora_a", or t's own name; NULL: none. *b: the
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

static int change_all(unsigned char *copy, const void *base, const gguf *from, const gguf *changes,
                      fo_pool *pool, fo_err *err) {
    size_t n = 0;
    for (size_t i = 0; i < gguf_n_tensors(changes); i++) {
        const gguf_tensor *t = gguf_tensor_at(changes, i);
        change x = {.a = t};
        x.matrix = changed_by(changes, from, t, &x.b);
        const bool is_half =
            t->name.len > 7 && memcmp(t->name.ptr + t->name.len - 7, ".lora_", 6) == 0;
        if (!x.matrix) {
            if (is_half && t->name.ptr[t->name.len - 1] == 'a') return misfit(t, err);
            continue; /* another half, or a head of its own */
        }
        x.out = copy + ((const unsigned char *)x.matrix->data - (const unsigned char *)base);
        n++;
        if (x.b) {
            int rc = change_matrix(pool, &x, err);
            if (rc) return rc;
        } else if (is_half || x.matrix->type != t->type || x.matrix->n_rows != t->n_rows ||
                   x.matrix->row_bytes != t->row_bytes) {
            return misfit(t, err);
        } else {
            memcpy(x.out, t->data, t->n_rows * t->row_bytes);
        }
    }
    return n ? FO_OK : fo_fail(err, FO_ECORRUPT, "changes of the built-in reader change nothing");
}

int builtin_changed(void **out, size_t *size, const gguf *const *changes, size_t n, fo_pool *pool,
                    fo_err *err) {
    const void *base = reader_builtin(size);
    unsigned char *copy = aligned_alloc(64, (*size + 63) / 64 * 64);
    if (!copy) return fo_no_memory(err);
    memcpy(copy, base, *size);
    gguf *from = NULL;
    int rc = gguf_open_memory(&from, base, *size, err);
    for (size_t i = 0; !rc && i < n; i++) rc = change_all(copy, base, from, changes[i], pool, err);
    gguf_close(from);
    if (rc)
        free(copy);
    else
        *out = copy;
    return rc;
}
