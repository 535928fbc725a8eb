/* fit.h - distils an encoder into a static table (embed_static.h): finds the table for which the
 * mean of a text's word pieces comes closest to the encoder's vector of the same text.
 *
 *     fit *f;
 *     fit_create(&f, pieces, n_pieces, 384, &err);
 *     for (...) fit_add_text(f, text, len, vector, &err);     // what the encoder says of it
 *     fit_set_pieces(f, piece_vectors, &err);                 // and of every piece alone
 *     fit_solve(f, &(fit_options){.dim = 256}, &report, &err);
 *     fit_write(f, "e.gguf", &(fit_about){.name = "..."}, &err);
 *     fit_free(f);
 *
 * With X[n_texts, n_pieces] the bags (counts to the power FIT_TF, over their sum), Y[n_texts,
 * teacher_dim] the centred targets and S the start, the table T minimises
 *
 *     |X T - Y|^2 + lambda |T - S|^2,   S_i = c (v_i - mean v) a / (a + p_i),
 *
 * v_i being the encoder's vector of piece i alone, p_i its share of all tokens and c the best
 * factor: a piece that the texts hardly show keeps what the encoder says of it, and function words
 * weigh little from the start. Solved by conjugate gradients with a Jacobi preconditioner, stopped
 * early; then PCA over the texts to `dim` axes, each divided by (its variance)^w so that the few
 * strong ones do not drown the rest (half-way to whitening); then int8 with a scale a row.
 * Source: SIF weights from Arora, Liang, Ma (2017); the rest ours, measured in docs/measurements/quality.md. */
#ifndef FORAGE_ENGINE_FIT_H
#define FORAGE_ENGINE_FIT_H

#include <stddef.h>
#include <stdint.h>
#include "engine/tokenizer/tokenizer.h"
#include "kernels/error.h"
#include "kernels/pool.h"

typedef struct fit fit; /* one thread */

enum { FIT_MAX_TOKENS = 254 }; /* of a text; the rest is cut, as the teacher cuts at 256 */

typedef struct fit_options {
    int dim;       /* of the table; 0: 256; at most the teacher's */
    int steps;     /* of conjugate gradients; 0: FIT_STEPS */
    double lambda; /* 0: FIT_LAMBDA */
    double sif;    /* a above; 0: FIT_SIF */
    double whiten; /* w above; 0: FIT_WHITEN */
    fo_pool *pool; /* NULL: the calling thread alone */
    void (*progress)(void *arg, uint64_t step, uint64_t n_steps); /* may be NULL */
    void *progress_arg;
} fit_options;

/* Chosen on the eight judged sets; see docs/measurements/quality.md. */
#define FIT_STEPS  15
#define FIT_LAMBDA 0.01
#define FIT_SIF    1e-4
#define FIT_WHITEN 0.25
/* A piece that a text repeats says less each time. Stored with the table. */
#define FIT_TF 0.75

typedef struct fit_report {
    size_t n_texts, n_tokens;
    size_t n_seen;        /* pieces that occur in the texts */
    size_t n_held_out;    /* texts kept out of the sums (every 50th) */
    double start_cosine;  /* mean cosine of table and teacher on those, before fitting */
    double cosine;        /* after fitting, in the teacher's dimensions */
    double kept_variance; /* share that the PCA keeps */
} fit_report;

typedef struct fit_about { /* stored in the file; NULL or 0: left out */
    const char *name, *license, *description;
    float alpha; /* weight in fusion; 0: the default of static tables */
} fit_about;

/* The pieces are a WordPiece vocabulary as tokenizer_from_wordpiece takes it; copied.
 * FO_EINVAL, FO_ECORRUPT, FO_ENOMEM. */
int fit_create(fit **out, const tokenizer_string *pieces, size_t n_pieces, size_t teacher_dim,
               fo_err *err);
void fit_free(fit *f); /* NULL is fine */

size_t fit_teacher_dim(const fit *f);

/* vector[teacher_dim], any length but zero: it is normalised. A text without a known piece is left
 * out. FO_EINVAL (not finite), FO_ENOMEM. */
int fit_add_text(fit *f, const char *text, size_t len, const float *vector, fo_err *err);

/* vectors[n_pieces, teacher_dim]: the encoder's mean over [CLS] piece [SEP], not normalised;
 * copied. Without it the fit starts from zero. */
int fit_set_pieces(fit *f, const float *vectors, fo_err *err);

/* FO_EINVAL (no texts, dim over the teacher's), FO_ENOMEM. report may be NULL. */
int fit_solve(fit *f, const fit_options *options, fit_report *report, fo_err *err);

/* After fit_solve. Writes a GGUF file of architecture "forage-static". */
int fit_write(const fit *f, const char *path, const fit_about *about, fo_err *err);

#endif
