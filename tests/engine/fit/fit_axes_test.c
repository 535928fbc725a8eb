/* Covers fit_axes.c: eigenvectors of symmetric matrices that are easy, degenerate, graded or not
 * finite, checked by what an eigenvector is; and the axes of rows whose spread is known. */
#include "tests/test.h"

#include <math.h>
#include "engine/fit/fit_internal.h"
#include "kernels/pool.h"

enum { MAX = 150 };

/* How far a v is from value v, and the vectors from being at right angles and of length 1, against
 * the largest number of a. */
static void check(const double *a, size_t n, fo_pool *pool, const char *what) {
    static double v[MAX * MAX], values[MAX];
    fo_err err = {0};
    memcpy(v, a, n * n * sizeof *v);
    assert_ok(fit_eigen(v, values, n, pool, &err), &err);
    double top = 0, trace = 0, sum = 0;
    for (size_t i = 0; i < n * n; i++) top = fmax(top, fabs(a[i]));
    for (size_t k = 0; k < n; k++) {
        if (k && !(values[k] <= values[k - 1])) fail_msg("%s: value %zu rises", what, k);
        trace += a[k * n + k];
        sum += values[k];
        for (size_t i = 0; i < n; i++) {
            double left = 0, with = 0;
            for (size_t j = 0; j < n; j++) {
                left += a[i * n + j] * v[k * n + j];
                with += v[i * n + j] * v[k * n + j];
            }
            if (!(fabs(left - values[k] * v[k * n + i]) <= 1e-12 * (double)n * top))
                fail_msg("%s (%zu): vector %zu is %g beside itself", what, n, k,
                         left - values[k] * v[k * n + i]);
            if (!(fabs(with - (i == k)) <= 1e-12 * (double)n))
                fail_msg("%s (%zu): vectors %zu and %zu have product %g", what, n, i, k, with);
        }
    }
    if (!(fabs(trace - sum) <= 1e-12 * (double)n * fmax(top, 1e-300)))
        fail_msg("%s: the values add up to %g, the trace is %g", what, sum, trace);
}

static void eigenvectors_are_what_they_should_be(void **state) {
    (void)state;
    static double a[MAX * MAX];
    uint64_t seed = test_seed();
    fo_pool *pool = fo_pool_create(3);
    const size_t sizes[] = {1, 2, 3, 4, 7, 16, 33, 64, MAX};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        size_t n = sizes[s];
        memset(a, 0, sizeof a);
        check(a, n, NULL, "zeroes");
        for (size_t i = 0; i < n; i++) a[i * n + i] = 3;
        check(a, n, NULL, "one value n times");
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++) a[i * n + j] = 1;
        check(a, n, pool, "rank one");
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j <= i; j++) a[i * n + j] = a[j * n + i] = test_uniform(&seed) - .5;
        check(a, n, pool, "random");
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++) a[i * n + j] *= pow(10, -(double)(i + j) / 8);
        check(a, n, pool, "graded");
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++) a[i * n + j] *= 1e150;
        check(a, n, NULL, "large");
    }
    fo_pool_free(pool);
}

static void what_is_not_finite_is_refused(void **state) {
    (void)state;
    double values[3];
    const double wrong[] = {NAN, INFINITY};
    for (int i = 0; i < 2; i++) {
        double a[9] = {1, 2, 3, 2, 5, wrong[i], 3, wrong[i], 9};
        fo_err err = {0};
        assert_int_equal(fit_eigen(a, values, 3, NULL, &err), FO_EINVAL);
    }
}

/* Rows that spread by 3 along one diagonal of three columns, by 1 and 1/2 along two others. */
static void axes_are_those_along_which_rows_were_spread(void **state) {
    (void)state;
    enum { N = 20000, D = 3 };
    static const double along[D][D] = {
        {.57735, .57735, .57735}, {.70711, -.70711, 0}, {.40825, .40825, -.81650}};
    static const double spread[D] = {3, 1, .5};
    static float x[N * D];
    uint64_t seed = test_seed();
    for (size_t i = 0; i < N * D; i += D) {
        for (size_t k = 0; k < D; k++) {
            double u = spread[k] * sqrt(12) * (test_uniform(&seed) - .5);
            for (size_t c = 0; c < D; c++) x[i + c] += (float)(u * along[k][c]);
        }
    }
    double axes[2][D * D], variance[2][D];
    fo_err err = {0};
    fo_pool *pool = fo_pool_create(2);
    assert_ok(fit_axes(x, N, D, NULL, axes[0], variance[0], &err), &err);
    assert_ok(fit_axes(x, N, D, pool, axes[1], variance[1], &err), &err);
    fo_pool_free(pool);
    assert_memory_equal(axes[0], axes[1], sizeof axes[0]);
    assert_memory_equal(variance[0], variance[1], sizeof variance[0]);
    for (size_t k = 0; k < D; k++) {
        double dot = 0;
        for (size_t c = 0; c < D; c++) dot += axes[0][k * D + c] * along[k][c];
        if (!(fabs(dot) > .99)) fail_msg("axis %zu: cosine %g", k, dot);
        if (!(fabs(sqrt(variance[0][k]) / spread[k] - 1) < .03))
            fail_msg("axis %zu: spread %g", k, sqrt(variance[0][k]));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eigenvectors_are_what_they_should_be),
        cmocka_unit_test(what_is_not_finite_is_refused),
        cmocka_unit_test(axes_are_those_along_which_rows_were_spread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
