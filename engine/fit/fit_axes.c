/* fit_axes.c - the axes along which rows vary most: their covariance, and its eigenvectors by
 * Householder's tridiagonal form and the implicit QL iteration.
 *
 * Each number is summed in an order of its own, whatever the number of threads.
 * Source: Golub and Van Loan, Matrix Computations, 4th edition, sections 8.3.1 and 8.3.3. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "engine/fit/fit_internal.h"
#include "kernels/buf.h"
#include "kernels/vec.h"

enum { BLOCK = 64, STRIP = 512, MAX_SWEEPS = 60 };

void fit_run(fo_pool *pool, size_t n, size_t grain, fo_pool_fn *fn, void *arg) {
    if (pool)
        fo_pool_run(pool, n, grain, fn, arg);
    else
        fn(arg, 0, n, 0);
}

/* --- covariance --- */
typedef struct block_of_rows {
    const float *x; /* [n, d] */
    size_t n, d;
    double *sum; /* [d, d], its upper half */
} block_of_rows;

/* sum += x'x, rows [begin, end) of it. */
static void add_products(void *arg, size_t begin, size_t end, int thread) {
    (void)thread;
    const block_of_rows *b = arg;
    const vec_kernels *vec = vec_get();
    float part[STRIP];
    for (size_t i = begin; i < end; i++) {
        for (size_t j = i; j < b->d; j += STRIP) {
            size_t m = b->d - j < STRIP ? b->d - j : STRIP;
            memset(part, 0, m * sizeof *part);
            for (size_t t = 0; t < b->n; t++)
                vec->mul_add(part, b->x + t * b->d + j, b->x[t * b->d + i], (int)m);
            for (size_t k = 0; k < m; k++) b->sum[i * b->d + j + k] += (double)part[k];
        }
    }
}

static void covariance(const float *x, size_t n, size_t d, fo_pool *pool, double *out) {
    memset(out, 0, d * d * sizeof *out);
    for (size_t at = 0; at < n; at += BLOCK) {
        block_of_rows b = {x + at * d, n - at < BLOCK ? n - at : BLOCK, d, out};
        fit_run(pool, d, 8, add_products, &b);
    }
    for (size_t i = 0; i < d; i++)
        for (size_t j = i; j < d; j++) out[i * d + j] = out[j * d + i] = out[i * d + j] / (double)n;
}

/* --- A = Q T Q', T tridiagonal --- */
typedef struct eigen {
    size_t n;
    double *a;    /* [n, n]; row k then holds, from k + 1, the unit vector of reflection k */
    double *rows; /* [n, n] Q', then the eigenvectors */
    double *diagonal, *off;          /* [n]; off[i] couples i and i + 1, the last one is zero */
    double *v, *w;                   /* [n] */
    double *cosine, *sine;           /* [n] */
    size_t step;                     /* of the reduction */
    size_t first_turned, end_turned; /* of an iteration: rows i and i + 1 of these i */
} eigen;

/* w = A v over what is left of A. */
static void multiply_left(void *arg, size_t begin, size_t end, int thread) {
    (void)thread;
    const eigen *e = arg;
    for (size_t i = e->step + 1 + begin; i < e->step + 1 + end; i++) {
        double sum = 0;
        for (size_t j = e->step + 1; j < e->n; j++) sum += e->a[i * e->n + j] * e->v[j];
        e->w[i] = sum;
    }
}

/* A -= 2 v w' + 2 w v' */
static void reflect_left(void *arg, size_t begin, size_t end, int thread) {
    (void)thread;
    const eigen *e = arg;
    for (size_t i = e->step + 1 + begin; i < e->step + 1 + end; i++) {
        double v = 2 * e->v[i], w = 2 * e->w[i], *row = e->a + i * e->n;
        for (size_t j = e->step + 1; j < e->n; j++) row[j] -= v * e->w[j] + w * e->v[j];
    }
}

/* The reflection 1 - 2 v v' that leaves of column `step` below the diagonal one number: *off.
 * false: nothing stood below it. */
static bool reflection(eigen *e, double *off) {
    size_t n = e->n, from = e->step + 1;
    const double *x = e->a + e->step * n; /* the row, which is the column */
    double top = 0, squares = 0, length = 0;
    for (size_t j = from; j < n; j++) top = fmax(top, fabs(x[j]));
    *off = x[from];
    if (!(top > 0)) return false;
    for (size_t j = from; j < n; j++) squares += (x[j] / top) * (x[j] / top);
    *off = -copysign(top * sqrt(squares), x[from]);
    for (size_t j = from; j < n; j++) e->v[j] = x[j] / top;
    e->v[from] -= *off / top;
    for (size_t j = from; j < n; j++) length += e->v[j] * e->v[j];
    length = sqrt(length);
    for (size_t j = from; j < n; j++) e->v[j] /= length;
    return true;
}

static void to_tridiagonal(eigen *e, fo_pool *pool) {
    size_t n = e->n;
    for (e->step = 0; e->step + 2 < n; e->step++) {
        size_t from = e->step + 1;
        double *row = e->a + e->step * n, along = 0;
        e->diagonal[e->step] = row[e->step];
        if (!reflection(e, &e->off[e->step])) {
            memset(row + from, 0, (n - from) * sizeof *row);
            continue;
        }
        fit_run(pool, n - from, 32, multiply_left, e);
        for (size_t j = from; j < n; j++) along += e->v[j] * e->w[j];
        for (size_t j = from; j < n; j++) e->w[j] -= along * e->v[j];
        fit_run(pool, n - from, 32, reflect_left, e);
        memcpy(row + from, e->v + from, (n - from) * sizeof *row);
    }
    for (size_t i = n < 2 ? 0 : n - 2; i < n; i++) {
        e->diagonal[i] = e->a[i * n + i];
        e->off[i] = i + 1 < n ? e->a[i * n + i + 1] : 0;
    }
}

/* Row i of Q' is that of the unit matrix, reflected by all, the last one first. */
static void make_rows(void *arg, size_t begin, size_t end, int thread) {
    (void)thread;
    const eigen *e = arg;
    size_t n = e->n;
    for (size_t i = begin; i < end; i++) {
        double *row = e->rows + i * n;
        memset(row, 0, n * sizeof *row);
        row[i] = 1;
        for (size_t k = n < 2 ? 0 : n - 2; k-- > 0;) {
            const double *v = e->a + k * n;
            double along = 0;
            for (size_t j = k + 1; j < n; j++) along += row[j] * v[j];
            if (along == 0) continue;
            for (size_t j = k + 1; j < n; j++) row[j] -= 2 * along * v[j];
        }
    }
}

/* --- the iteration --- */
/* The rotations of one iteration, the last one first, over columns [begin, end). */
static void turn_columns(void *arg, size_t begin, size_t end, int thread) {
    (void)thread;
    const eigen *e = arg;
    for (size_t i = e->end_turned; i-- > e->first_turned;) {
        double *a = e->rows + i * e->n, *b = a + e->n, c = e->cosine[i], s = e->sine[i];
        for (size_t j = begin; j < end; j++) {
            double below = b[j];
            b[j] = s * a[j] + c * below;
            a[j] = c * a[j] - s * below;
        }
    }
}

/* One implicit step with Wilkinson's shift on the block [first, last] of T. */
static void iterate(eigen *e, size_t first, size_t last) {
    double *d = e->diagonal, *off = e->off;
    double half = (d[first + 1] - d[first]) / (2 * off[first]);
    double shift = d[first] - off[first] / (half + copysign(hypot(half, 1), half));
    double x = d[last] - shift, z = off[last - 1];
    /* From below, the number that stands beside the tridiagonal is chased upwards. */
    for (size_t i = last; i-- > first;) {
        double r = hypot(x, z), c = r > 0 ? x / r : 1, s = r > 0 ? z / r : 0;
        if (i + 1 < last) off[i + 1] = r;
        /* The rotation of rows and columns i and i + 1. */
        double a = d[i], b = off[i], g = d[i + 1];
        d[i] = c * c * a - 2 * c * s * b + s * s * g;
        d[i + 1] = s * s * a + 2 * c * s * b + c * c * g;
        off[i] = c * s * (a - g) + (c * c - s * s) * b;
        e->cosine[i] = c;
        e->sine[i] = s;
        if (i > first) {
            x = off[i];
            z = s * off[i - 1];
            off[i - 1] *= c;
        }
    }
    e->first_turned = first;
    e->end_turned = last;
}

static bool to_diagonal(eigen *e, fo_pool *pool) {
    const double *d = e->diagonal;
    for (size_t first = 0; first < e->n; first++) {
        for (int sweep = 0;; sweep++) {
            size_t last = first;
            while (last + 1 < e->n && !(fabs(e->off[last]) <= /* as nothing beside its neighbours */
                                        DBL_EPSILON * (fabs(d[last]) + fabs(d[last + 1]))))
                last++;
            if (last == first) break;
            if (sweep == MAX_SWEEPS) return false;
            iterate(e, first, last);
            fit_run(pool, e->n, 64, turn_columns, e);
        }
    }
    return true;
}

static void sort_descending(eigen *e, double *axes, double *variance) {
    size_t n = e->n;
    for (size_t k = 0; k < n; k++) {
        size_t best = k;
        for (size_t i = k + 1; i < n; i++)
            if (e->diagonal[i] > e->diagonal[best]) best = i;
        variance[k] = e->diagonal[best];
        memcpy(axes + k * n, e->rows + best * n, n * sizeof *axes);
        e->diagonal[best] = e->diagonal[k];
        if (best != k) memcpy(e->rows + best * n, e->rows + k * n, n * sizeof *axes);
    }
}

int fit_eigen(double *a, double *values, size_t n, fo_pool *pool, fo_err *err) {
    size_t cells, bytes;
    eigen e = {.n = n, .a = a};
    double *lines = calloc(6 * n + 1, sizeof *lines);
    bool ok = fo_mul_size(n, n, &cells) && fo_mul_size(cells, sizeof *e.rows, &bytes) &&
              (e.rows = malloc(bytes + 1)) && lines;
    int rc = FO_OK;
    if (!ok) {
        rc = fo_fail(err, FO_ENOMEM, "out of memory for a matrix of %zu dimensions", n);
    } else {
        double **line[] = {&e.diagonal, &e.off, &e.v, &e.w, &e.cosine, &e.sine};
        for (size_t i = 0; i < 6; i++) *line[i] = lines + i * n;
        to_tridiagonal(&e, pool);
        fit_run(pool, n, 4, make_rows, &e);
        if (to_diagonal(&e, pool))
            sort_descending(&e, a, values);
        else
            rc = fo_fail(err, FO_EINVAL, "the texts' covariance has no eigenvectors");
    }
    free(e.rows);
    free(lines);
    return rc;
}

int fit_axes(const float *x, size_t n, size_t d, fo_pool *pool, double *axes, double *variance,
             fo_err *err) {
    covariance(x, n, d, pool, axes);
    return fit_eigen(axes, variance, d, pool, err);
}
