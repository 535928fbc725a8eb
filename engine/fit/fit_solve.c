/* fit_solve.c - the numbers of a fit: sparse products, conjugate gradients, whitening, PCA.
 *
 * Every sum runs in an order fixed by its row, so that the table does not depend on the number of
 * threads. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "engine/fit/fit_internal.h"
#include "kernels/buf.h"
#include "kernels/vec.h"

enum { HOLD_OUT_EVERY = 50, MIN_TEXTS_TO_HOLD_OUT = 500 };

typedef struct solver {
    const fit *f;
    const fit_options *o;
    fo_pool *pool;
    size_t n, v, d;          /* texts taken, pieces, teacher's dimensions */
    sparse x, xt;            /* bags of the texts taken, and their transpose */
    float *y;                /* [n, d] centred targets */
    float *mean;             /* [d] */
    float *table;            /* [v, d] */
    float *inverse_diagonal; /* [v] */
    double lambda;
} solver;

static bool alloc_floats(float **p, size_t rows, size_t cols) {
    size_t n, bytes;
    if (!fo_mul_size(rows, cols, &n) || !fo_mul_size(n, sizeof(float), &bytes)) return false;
    *p = calloc(1, bytes ? bytes : 1);
    return *p != NULL;
}

static bool alloc_sparse(sparse *s, size_t rows, size_t entries) {
    s->n_rows = rows;
    s->start = calloc(rows + 1, sizeof *s->start);
    s->col = malloc((entries + 1) * sizeof *s->col);
    s->value = malloc((entries + 1) * sizeof *s->value);
    return s->start && s->col && s->value;
}

static void free_sparse(sparse *s) {
    free(s->start);
    free(s->col);
    free(s->value);
}

static bool held_out(const fit *f, size_t text) {
    return f->bags.n_rows >= MIN_TEXTS_TO_HOLD_OUT && text % HOLD_OUT_EVERY == HOLD_OUT_EVERY / 2;
}

/* --- products --- */
typedef struct product {
    const sparse *a;
    const float *b; /* [columns, d] */
    float *out;     /* [a.n_rows, d] */
    size_t d;
} product;

static void multiply_rows(void *arg, size_t begin, size_t end, int thread) {
    (void)thread;
    const product *p = arg;
    const vec_kernels *vec = vec_get();
    for (size_t i = begin; i < end; i++) {
        float *out = p->out + i * p->d;
        memset(out, 0, p->d * sizeof *out);
        for (size_t k = p->a->start[i]; k < p->a->start[i + 1]; k++)
            vec->mul_add(out, p->b + p->a->col[k] * p->d, p->a->value[k], (int)p->d);
    }
}

static void run_rows(fo_pool *pool, size_t n, fo_pool_fn *fn, void *arg) {
    fit_run(pool, n, 64, fn, arg);
}

/* out = A b */
static void multiply(const solver *s, const sparse *a, const float *b, float *out) {
    product p = {a, b, out, s->d};
    run_rows(s->pool, a->n_rows, multiply_rows, &p);
}

typedef struct reduction {
    const float *table; /* [rows, d] */
    const float *map;   /* [d, dim] */
    float *out;         /* [rows, dim], zero */
    size_t d, dim;
} reduction;

/* out = table map */
static void reduce_rows(void *arg, size_t begin, size_t end, int thread) {
    (void)thread;
    const reduction *r = arg;
    const vec_kernels *vec = vec_get();
    for (size_t i = begin; i < end; i++)
        for (size_t c = 0; c < r->d; c++)
            vec->mul_add(r->out + i * r->dim, r->map + c * r->dim, r->table[i * r->d + c],
                         (int)r->dim);
}

/* --- building the problem --- */
static bool take_texts(solver *s) {
    const sparse *all = &s->f->bags;
    size_t n = 0, entries = 0;
    for (size_t i = 0; i < all->n_rows; i++) {
        if (held_out(s->f, i)) continue;
        n++;
        entries += all->start[i + 1] - all->start[i];
    }
    s->n = n;
    if (!alloc_sparse(&s->x, n, entries) || !alloc_sparse(&s->xt, s->v, entries) ||
        !alloc_floats(&s->y, n, s->d) || !alloc_floats(&s->mean, 1, s->d) ||
        !alloc_floats(&s->inverse_diagonal, 1, s->v))
        return false;
    size_t row = 0, at = 0;
    for (size_t i = 0; i < all->n_rows; i++) {
        if (held_out(s->f, i)) continue;
        size_t len = all->start[i + 1] - all->start[i];
        memcpy(s->x.col + at, all->col + all->start[i], len * sizeof *all->col);
        memcpy(s->x.value + at, all->value + all->start[i], len * sizeof *all->value);
        memcpy(s->y + row * s->d, s->f->targets + i * s->d, s->d * sizeof *s->y);
        s->x.start[++row] = at += len;
    }
    return true;
}

static void transpose(const sparse *a, sparse *t) {
    for (size_t k = 0; k < a->start[a->n_rows]; k++) t->start[a->col[k] + 1]++;
    for (size_t i = 0; i < t->n_rows; i++) t->start[i + 1] += t->start[i];
    for (size_t i = 0; i < a->n_rows; i++) {
        for (size_t k = a->start[i]; k < a->start[i + 1]; k++) {
            size_t at = t->start[a->col[k]]++;
            t->col[at] = (uint32_t)i;
            t->value[at] = a->value[k];
        }
    }
    for (size_t i = t->n_rows; i > 0; i--) t->start[i] = t->start[i - 1];
    t->start[0] = 0;
}

static void centre_targets(solver *s) {
    for (size_t c = 0; c < s->d; c++) {
        double sum = 0;
        for (size_t i = 0; i < s->n; i++) sum += (double)s->y[i * s->d + c];
        s->mean[c] = (float)(sum / (double)s->n);
    }
    for (size_t i = 0; i < s->n; i++)
        for (size_t c = 0; c < s->d; c++) s->y[i * s->d + c] -= s->mean[c];
}

static double dot(const float *a, const float *b, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += (double)a[i] * (double)b[i];
    return sum;
}

/* The start S: centred piece vectors, weighted, times the factor that brings X S nearest to Y. */
static bool make_start(solver *s) {
    const fit *f = s->f;
    if (!alloc_floats(&s->table, s->v, s->d)) return false;
    if (!f->piece_vectors) return true;
    float *predicted;
    if (!alloc_floats(&predicted, s->n, s->d)) return false;
    double sif = s->o->sif > 0 ? s->o->sif : FIT_SIF;
    for (size_t c = 0; c < s->d; c++) {
        double sum = 0;
        for (size_t i = 0; i < s->v; i++) sum += (double)f->piece_vectors[i * s->d + c];
        float mean = (float)(sum / (double)s->v);
        for (size_t i = 0; i < s->v; i++) {
            double p = (double)f->piece_tokens[i] / (double)f->n_tokens;
            s->table[i * s->d + c] =
                (f->piece_vectors[i * s->d + c] - mean) * (float)(sif / (sif + p));
        }
    }
    multiply(s, &s->x, s->table, predicted);
    double up = 0, down = 0;
    for (size_t i = 0; i < s->n; i++) {
        up += dot(predicted + i * s->d, s->y + i * s->d, s->d);
        down += dot(predicted + i * s->d, predicted + i * s->d, s->d);
    }
    float factor = down > 0 ? (float)(up / down) : 0;
    for (size_t i = 0; i < s->v * s->d; i++) s->table[i] *= factor;
    free(predicted);
    return true;
}

/* --- conjugate gradients on (X'X + lambda) delta = X'(Y - X S), all columns side by side --- */
typedef struct cg {
    solver *s;
    float *r, *z, *p, *ap; /* [v, d] */
    float *text;           /* [n, d] */
    double *rz, *pap;      /* [d] */
    float *alpha, *beta;   /* [d] */
} cg;

static void precondition(void *arg, size_t begin, size_t end, int thread) {
    (void)thread;
    const cg *c = arg;
    for (size_t i = begin; i < end; i++) {
        float inverse = c->s->inverse_diagonal[i];
        for (size_t k = i * c->s->d; k < (i + 1) * c->s->d; k++) c->z[k] = inverse * c->r[k];
    }
}

/* A p was X'X p so far. */
static void add_ridge(void *arg, size_t begin, size_t end, int thread) {
    (void)thread;
    const cg *c = arg;
    size_t d = c->s->d;
    for (size_t i = begin; i < end; i++)
        vec_get()->mul_add(c->ap + i * d, c->p + i * d, (float)c->s->lambda, (int)d);
}

static void step_rows(void *arg, size_t begin, size_t end, int thread) {
    (void)thread;
    const cg *c = arg;
    size_t d = c->s->d;
    for (size_t i = begin; i < end; i++) {
        float *t = c->s->table + i * d, *r = c->r + i * d;
        const float *p = c->p + i * d, *ap = c->ap + i * d;
        for (size_t k = 0; k < d; k++) {
            t[k] += c->alpha[k] * p[k];
            r[k] -= c->alpha[k] * ap[k];
        }
    }
}

static void turn_rows(void *arg, size_t begin, size_t end, int thread) {
    (void)thread;
    const cg *c = arg;
    size_t d = c->s->d;
    for (size_t i = begin; i < end; i++)
        for (size_t k = 0; k < d; k++)
            c->p[i * d + k] = c->z[i * d + k] + c->beta[k] * c->p[i * d + k];
}

/* out[k] = sum over rows of a[i, k] b[i, k] */
static void column_dots(const float *a, const float *b, size_t rows, size_t d, double *out) {
    memset(out, 0, d * sizeof *out);
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < d; k++) out[k] += (double)a[i * d + k] * (double)b[i * d + k];
}

static void one_step(cg *c) {
    solver *s = c->s;
    size_t d = s->d;
    multiply(s, &s->x, c->p, c->text);
    multiply(s, &s->xt, c->text, c->ap);
    run_rows(s->pool, s->v, add_ridge, c);
    column_dots(c->p, c->ap, s->v, d, c->pap);
    for (size_t k = 0; k < d; k++) c->alpha[k] = c->pap[k] > 0 ? (float)(c->rz[k] / c->pap[k]) : 0;
    run_rows(s->pool, s->v, step_rows, c);
    run_rows(s->pool, s->v, precondition, c);
    column_dots(c->r, c->z, s->v, d, c->pap);
    for (size_t k = 0; k < d; k++) {
        c->beta[k] = c->rz[k] > 0 ? (float)(c->pap[k] / c->rz[k]) : 0;
        c->rz[k] = c->pap[k];
    }
    run_rows(s->pool, s->v, turn_rows, c);
}

static bool descend(solver *s, int steps) {
    cg c = {.s = s};
    size_t cells = s->v * s->d;
    c.rz = calloc(s->d, sizeof *c.rz);
    c.pap = calloc(s->d, sizeof *c.pap);
    bool ok = c.rz && c.pap && alloc_floats(&c.r, s->v, s->d) && alloc_floats(&c.z, s->v, s->d) &&
              alloc_floats(&c.p, s->v, s->d) && alloc_floats(&c.ap, s->v, s->d) &&
              alloc_floats(&c.text, s->n, s->d) && alloc_floats(&c.alpha, 1, s->d) &&
              alloc_floats(&c.beta, 1, s->d);
    if (ok) {
        for (size_t i = 0; i < s->v; i++) {
            double sum = s->lambda;
            for (size_t k = s->xt.start[i]; k < s->xt.start[i + 1]; k++)
                sum += (double)s->xt.value[k] * (double)s->xt.value[k];
            s->inverse_diagonal[i] = (float)(1 / sum);
        }
        multiply(s, &s->x, s->table, c.text);
        for (size_t k = 0; k < s->n * s->d; k++) c.text[k] = s->y[k] - c.text[k];
        multiply(s, &s->xt, c.text, c.r);
        run_rows(s->pool, s->v, precondition, &c);
        memcpy(c.p, c.z, cells * sizeof *c.p);
        column_dots(c.r, c.z, s->v, s->d, c.rz);
        for (int i = 0; i < steps; i++) {
            one_step(&c);
            if (s->o->progress)
                s->o->progress(s->o->progress_arg, (uint64_t)i + 1, (uint64_t)steps);
        }
    }
    free(c.r);
    free(c.z);
    free(c.p);
    free(c.ap);
    free(c.text);
    free(c.rz);
    free(c.pap);
    free(c.alpha);
    free(c.beta);
    return ok;
}

/* --- how close: mean cosine over the texts held out (all of them where none is) --- */
static double mean_cosine(const solver *s, float *row) {
    const fit *f = s->f;
    bool any = f->bags.n_rows >= MIN_TEXTS_TO_HOLD_OUT;
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < f->bags.n_rows; i++) {
        if (any && !held_out(f, i)) continue;
        memset(row, 0, s->d * sizeof *row);
        for (size_t k = f->bags.start[i]; k < f->bags.start[i + 1]; k++) {
            const float *t = s->table + f->bags.col[k] * s->d;
            for (size_t c = 0; c < s->d; c++) row[c] += f->bags.value[k] * t[c];
        }
        double xx = dot(row, row, s->d), yy = 0, xy = 0;
        for (size_t c = 0; c < s->d; c++) {
            double y = (double)f->targets[i * s->d + c] - (double)s->mean[c];
            yy += y * y;
            xy += y * (double)row[c];
        }
        if (xx > 0 && yy > 0) sum += xy / sqrt(xx * yy);
        n++;
    }
    return n ? sum / (double)n : 0;
}

/* --- PCA over the texts, each axis divided by its variance to the power `whiten` --- */
static int principal_axes(const solver *s, double *axes, double *variance, fo_err *err) {
    size_t d = s->d;
    float *text = NULL;
    double *sum = calloc(d, sizeof *sum);
    int rc = FO_OK;
    if (sum && alloc_floats(&text, s->n, d)) {
        multiply(s, &s->x, s->table, text);
        for (size_t i = 0; i < s->n; i++)
            for (size_t c = 0; c < d; c++) sum[c] += (double)text[i * d + c];
        for (size_t i = 0; i < s->n; i++)
            for (size_t c = 0; c < d; c++) text[i * d + c] -= (float)(sum[c] / (double)s->n);
        rc = fit_axes(text, s->n, d, s->pool, axes, variance, err);
    } else {
        rc = fo_fail(err, FO_ENOMEM, "out of memory for %zu texts", s->n);
    }
    free(text);
    free(sum);
    return rc;
}

static int reduce(const solver *s, fit *f, size_t dim, double whiten, fit_report *report,
                  fo_err *err) {
    size_t d = s->d;
    double *axes = malloc(d * d * sizeof *axes), *variance = malloc(d * sizeof *variance);
    float *map = NULL, *table = NULL;
    int rc = axes && variance && alloc_floats(&map, d, dim) && alloc_floats(&table, s->v, dim)
                 ? principal_axes(s, axes, variance, err)
                 : fo_no_memory(err);
    if (!rc) {
        double all = 0, kept = 0, top = variance[0] > 0 ? variance[0] : 1;
        for (size_t i = 0; i < d; i++) all += variance[i];
        for (size_t k = 0; k < dim; k++) {
            double scale = pow(fmax(variance[k] / top, 1e-9), -whiten);
            kept += variance[k];
            for (size_t c = 0; c < d; c++) map[c * dim + k] = (float)(axes[k * d + c] * scale);
        }
        report->kept_variance = all > 0 ? kept / all : 1;
        reduction r = {s->table, map, table, d, dim};
        run_rows(s->pool, s->v, reduce_rows, &r);
        free(f->table);
        f->table = table;
        f->out_dim = dim;
        table = NULL;
    }
    free(axes);
    free(variance);
    free(map);
    free(table);
    return rc;
}

int fit_solve(fit *f, const fit_options *options, fit_report *report, fo_err *err) {
    fit_report local, *out = report ? report : &local;
    *out = (fit_report){.n_texts = f->bags.n_rows, .n_tokens = (size_t)f->n_tokens};
    size_t dim = options->dim > 0 ? (size_t)options->dim : 256;
    if (dim > f->dim)
        return fo_fail_field(err, FO_EINVAL, "dim", "%zu dimensions out of a teacher of %zu", dim,
                             f->dim);
    if (!f->bags.n_rows) return fo_fail(err, FO_EINVAL, "a fit needs texts");
    solver s = {.f = f, .o = options, .pool = options->pool, .v = f->n_pieces, .d = f->dim};
    s.lambda = options->lambda > 0 ? options->lambda : FIT_LAMBDA;
    float *row = NULL;
    int rc = take_texts(&s) && alloc_floats(&row, 1, s.d)
                 ? FO_OK
                 : fo_fail(err, FO_ENOMEM, "out of memory for %zu texts", f->bags.n_rows);
    if (!rc) {
        transpose(&s.x, &s.xt);
        centre_targets(&s);
        if (!make_start(&s)) rc = fo_fail(err, FO_ENOMEM, "out of memory for the table");
    }
    if (!rc) {
        out->n_held_out = f->bags.n_rows - s.n;
        for (size_t i = 0; i < s.v; i++) out->n_seen += f->piece_tokens[i] > 0;
        out->start_cosine = mean_cosine(&s, row);
        if (!descend(&s, options->steps > 0 ? options->steps : FIT_STEPS))
            rc = fo_fail(err, FO_ENOMEM, "out of memory for the solver");
    }
    if (!rc) {
        out->cosine = mean_cosine(&s, row);
        rc = reduce(&s, f, dim, options->whiten > 0 ? options->whiten : FIT_WHITEN, out, err);
    }
    free(row);
    free_sparse(&s.x);
    free_sparse(&s.xt);
    free(s.y);
    free(s.mean);
    free(s.table);
    free(s.inverse_diagonal);
    return rc;
}
