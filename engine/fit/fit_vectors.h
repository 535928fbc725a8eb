/* fit_vectors.h - rows of vectors out of a file: float32 (NAME.f32) or int8 with a float32 scale a
 * row (NAME.i8 beside NAME.scale.f32; value = number x scale). Little-endian, row-major, no header:
 * the number of rows is the file's size over the row's.
 *
 *     fit_vectors_open(&v, "corpus.f32", 384, &err);
 *     for (size_t i = 0; i < fit_vectors_count(v); i++) fit_vectors_row(v, i, row);
 *     rc = fit_vectors_intact(v, &err);   // else what was read is void
 *     fit_vectors_close(v);
 */
#ifndef FORAGE_ENGINE_FIT_VECTORS_H
#define FORAGE_ENGINE_FIT_VECTORS_H

#include <stddef.h>
#include "kernels/error.h"

typedef struct fit_vectors fit_vectors; /* immutable after open; any thread may read */

/* dim: of a row. On error *out is untouched. FO_ENOTFOUND, FO_EIO, FO_EINVAL (a name or size that fits no format),
 * FO_ENOMEM. */
int fit_vectors_open(fit_vectors **out, const char *path, size_t dim, fo_err *err);
void fit_vectors_close(fit_vectors *v); /* NULL is fine */
size_t fit_vectors_count(const fit_vectors *v);
/* Row i < count into out[dim]. Zeroes for what the disk does not give any more, which fit_vectors_intact tells. */
void fit_vectors_row(const fit_vectors *v, size_t i, float *out);
/* Was all that was read until now given by the disk? FO_EIO names the file and the byte. Any thread. */
int fit_vectors_intact(const fit_vectors *v, fo_err *err);

#endif
