/* fit_vectors.h - rows of vectors out of a file: float32 (NAME.f32) or int8 with a float32 scale a
 * row (NAME.i8 beside NAME.scale.f32; value = number x scale). Little-endian, row-major, no header:
 * the number of rows is the file's size over the row's. */
#ifndef FORAGE_ENGINE_FIT_VECTORS_H
#define FORAGE_ENGINE_FIT_VECTORS_H

#include <stddef.h>
#include "kernels/error.h"

typedef struct fit_vectors fit_vectors; /* immutable after open */

/* dim: of a row. FO_ENOTFOUND, FO_EIO, FO_EINVAL (a name or size that fits no format). */
int fit_vectors_open(fit_vectors **out, const char *path, size_t dim, fo_err *err);
void fit_vectors_close(fit_vectors *v); /* NULL is fine */
size_t fit_vectors_count(const fit_vectors *v);
void fit_vectors_row(const fit_vectors *v, size_t i, float *out); /* out[dim]; i < count */

#endif
