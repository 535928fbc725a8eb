/* fit_internal.h - between fit.c (what is collected and written), fit_solve.c (the table) and
 * fit_axes.c (the axes it is reduced to). */
#ifndef FORAGE_ENGINE_FIT_INTERNAL_H
#define FORAGE_ENGINE_FIT_INTERNAL_H

#include "engine/fit/fit.h"

/* Rows of (column, value), one behind the other: row i is [start[i], start[i + 1]). */
typedef struct sparse {
    size_t n_rows;
    size_t *start; /* n_rows + 1 */
    uint32_t *col;
    float *value;
} sparse;

struct fit {
    tokenizer *tokens;
    tokenizer_string *pieces; /* as they were given, for the file */
    char *piece_bytes;
    size_t n_pieces, dim; /* dim: the teacher's */
    int32_t unk;
    float *piece_vectors; /* [n_pieces, dim] or NULL */

    sparse bags; /* [n_texts, n_pieces] counts / length; n_rows grows */
    size_t cap_rows, cap_entries;
    float *targets; /* [n_texts, dim], unit length */
    uint64_t n_tokens;
    uint64_t *piece_tokens; /* [n_pieces] occurrences */

    size_t out_dim;
    float *table; /* [n_pieces, out_dim], after fit_solve */
};

/* fo_pool_run, or the whole loop at once in the calling thread where pool is NULL. */
void fit_run(fo_pool *pool, size_t n, size_t grain, fo_pool_fn *fn, void *arg);

/* The principal axes of x[n, d], whose columns have mean zero: axes[d, d] holds one unit vector a
 * row, variance[d] how far x spreads along each, the widest first. FO_ENOMEM, FO_EINVAL (x holds
 * what is not finite). */
int fit_axes(const float *x, size_t n, size_t d, fo_pool *pool, double *axes, double *variance,
             fo_err *err);

/* The eigenvectors of the symmetric a[n, n], one a row and in its place, and their values[n], the
 * largest first. FO_ENOMEM, FO_EINVAL (a holds what is not finite). */
int fit_eigen(double *a, double *values, size_t n, fo_pool *pool, fo_err *err);

#endif
