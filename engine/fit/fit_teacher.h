/* fit_teacher.h - what a fit asks of an encoder beside the vectors of texts (embedder.h): its
 * vocabulary, and its vector of every single piece. */
#ifndef FORAGE_ENGINE_FIT_TEACHER_H
#define FORAGE_ENGINE_FIT_TEACHER_H

#include "engine/tokenizer/vocabulary.h"
#include "kernels/error.h"
#include "kernels/pool.h"

typedef struct fit_teacher {
    vocabulary words; /* in GGUF's convention */
    size_t dim;
    float *pieces; /* [words.n, dim]: pooled over [CLS] piece [SEP], not normalised */
} fit_teacher;

/* FO_EUNSUPPORTED where the file is no WordPiece encoder. progress may be NULL; it is called with
 * pieces done and in all. */
int fit_teacher_read(fit_teacher *out, const char *path, fo_pool *pool,
                     void (*progress)(void *arg, uint64_t done, uint64_t total), void *arg,
                     fo_err *err);
void fit_teacher_deinit(fit_teacher *t); /* zeroes it */

#endif
