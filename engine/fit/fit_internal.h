/* fit_internal.h - between fit.c (what is collected and written) and fit_solve.c (the numbers). */
#ifndef FORAGE_ENGINE_FIT_INTERNAL_H
#define FORAGE_ENGINE_FIT_INTERNAL_H

#include "engine/fit/fit.h"

/* Rows of (column, value), one behind the other: row i is [start[i], start[i + 1]). */
typedef struct sparse {
    size_t n_rows, n_cols;
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

#endif
