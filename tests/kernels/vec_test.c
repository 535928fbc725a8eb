/* vec_test.c - row operations and attention of every ISA level against the definition in double. */
#include "tests/test.h"

#include <math.h>

#include "kernels/attention.h"
#include "kernels/vec.h"

static uint64_t seed;

static void fill(float *x, int n, double size) {
    for (int i = 0; i < n; i++) x[i] = (float)((2 * test_uniform(&seed) - 1) * size);
}

static void near(const float *got, const double *want, int n, double tolerance, const char *what) {
    for (int i = 0; i < n; i++)
        if (!(fabs((double)got[i] - want[i]) <= tolerance * (1 + fabs(want[i]))))
            fail_msg("%s: [%d of %d] is %.9g, not %.9g", what, i, n, (double)got[i], want[i]);
    /* what lies beyond the row was not touched */
    assert_true(got[n] == 12345.0f);
}

static void norms_follow_their_definition(void **state) {
    (void)state;
    for (int level = 0; level < 3; level++) {
        const vec_kernels *v = vec_get_level(level);
        if (!v) continue;
        for (int n = 1; n < 100; n += 1 + n / 20) {
            float x[128], w[128], b[128], y[128];
            double want[128], sum = 0, square = 0, var = 0;
            fill(x, n, 3), fill(w, n, 2), fill(b, n, 1);
            for (int i = 0; i < n; i++) sum += (double)x[i], square += (double)x[i] * (double)x[i];
            for (int i = 0; i < n; i++) var += pow((double)x[i] - sum / n, 2);
            y[n] = 12345.0f;
            for (int i = 0; i < n; i++)
                want[i] = (double)x[i] / sqrt(square / n + 1e-5) * (double)w[i];
            v->rms_norm(y, x, w, n, 1e-5f);
            near(y, want, n, 2e-6, "rms_norm");
            for (int i = 0; i < n; i++)
                want[i] =
                    ((double)x[i] - sum / n) / sqrt(var / n + 1e-5) * (double)w[i] + (double)b[i];
            v->layer_norm(y, x, w, b, n, 1e-5f);
            near(y, want, n, 1e-5, "layer_norm");
        }
    }
}

static void activations_follow_their_definition(void **state) {
    (void)state;
    for (int level = 0; level < 3; level++) {
        const vec_kernels *v = vec_get_level(level);
        if (!v) continue;
        for (int round = 0; round < 60; round++) {
            int n = 1 + (int)(test_random(&seed) % 90);
            float x[128], u[128], y[128];
            double want[128];
            fill(x, n, round % 3 == 0 ? 200 : 6), fill(u, n, 2);
            y[n] = 12345.0f;
            for (int i = 0; i < n; i++)
                want[i] = 0.5 * (double)x[i] * (1 + erf((double)x[i] / sqrt(2)));
            v->gelu(y, x, n);
            near(y, want, n, 1e-6, "gelu");
            for (int i = 0; i < n; i++) {
                double z = (double)x[i];
                want[i] = 0.5 * z * (1 + tanh(0.7978845608028654 * (z + 0.044715 * z * z * z))) *
                          (double)u[i];
            }
            v->gelu_mul(y, x, u, n);
            near(y, want, n, 3e-6, "gelu_mul");
            for (int i = 0; i < n; i++)
                want[i] = (double)x[i] / (1 + exp(-(double)x[i])) * (double)u[i];
            v->silu_mul(y, x, u, n);
            near(y, want, n, 2e-6, "silu_mul");
            for (int i = 0; i < n; i++) want[i] = 30 * tanh((double)x[i] / 30), y[i] = x[i];
            v->soft_cap(y, 30, n);
            near(y, want, n, 1e-5, "soft_cap");
            double sum = 0;
            float top = v->max(x, n);
            for (int i = 0; i < n; i++) sum += exp((double)x[i] - (double)top);
            assert_true(fabs(v->sum_exp(x, top, n) - sum) < 1e-5 * sum);
        }
    }
}

enum { WIDE = 1024 };

static void rounding_to_int8_is_the_same_at_every_level(void **state) {
    (void)state;
    for (int round = 0; round < 300; round++) {
        int n = 1 + (int)(test_random(&seed) % (round % 2 ? 200 : 1000)), kp = (n + 31) / 32 * 32,
            groups = kp / 32;
        float x[WIDE], rest[WIDE];
        fill(x, n, round % 4 ? 2 : 1e-3);
        if (round % 5 == 0) x[test_random(&seed) % (uint64_t)n] = 1000.0f;
        if (round % 7 == 0) memset(x, 0, sizeof x);
        const bool odd = round % 20 == 8 || round % 20 == 18 || round % 20 == 16;
        if (odd) x[n - 1 - n / 2] = round % 20 == 8 ? INFINITY : round % 20 == 18 ? -INFINITY : NAN;
        if (round % 20 == 9) x[0] = 1e-44f;
        if (round % 20 == 6) /* tiny groups beside others */
            for (int i = 32; i < n && i < 64; i++) x[i] *= 1e-40f;
        if (round % 20 == 4) x[0] = x[n - 1] = 3.3e38f;
        int8_t q[3][WIDE];
        float scale[3][WIDE / 32], wsum[3][WIDE / 32];
        int32_t sum[3][WIDE / 32], halves[3][WIDE / 16];
        for (int level = 0; level < 3; level++) {
            const vec_kernels *v = vec_get_level(level);
            if (!v) continue;
            memset(q[level], 99, WIDE);
            const vec_codes to = {.q = q[level],
                                  .scale = scale[level],
                                  .sum = sum[level],
                                  .halves = halves[level],
                                  .wsum = wsum[level],
                                  .wide = round % 3 == 0};
            v->quantize(&to, x, n, kp);
            assert_memory_equal(q[level], q[0], (size_t)kp);
            assert_memory_equal(scale[level], scale[0], (size_t)groups * sizeof(float));
            assert_memory_equal(sum[level], sum[0], (size_t)groups * sizeof(int32_t));
            assert_memory_equal(halves[level], halves[0], 2 * (size_t)groups * sizeof(int32_t));
            assert_memory_equal(wsum[level], wsum[0], (size_t)groups * sizeof(float));
            if (odd || round % 20 == 4) continue; /* groups that count as zero */
            v->residual(rest, x, q[level], scale[level], n);
            for (int i = 0; i < n; i++)
                assert_true(fabsf(rest[i]) <= scale[level][i / 32] * 0.5001f + 1e-30f);
        }
        for (int g = 0; round % 3 == 0 && g < groups; g++) { /* one for four groups: the largest */
            float narrow = 0;
            assert_true(scale[0][g] == scale[0][g / 4 * 4]);
            for (int i = g / 4 * 128; i < n && i < g / 4 * 128 + 128; i++)
                if (fabsf(x[i]) > narrow) narrow = fabsf(x[i]);
            if (!odd && round % 20 != 4 && narrow > 1e-30f)
                assert_true(scale[0][g] == narrow / 127.0f);
        }
        for (int g = 0; g < groups; g++) {
            int s[2] = {0};
            for (int i = 0; i < 32; i++) s[i / 16] += q[0][g * 32 + i];
            assert_int_equal(s[0] + s[1], sum[0][g]);
            for (int h = 0; h < 2; h++) assert_int_equal(-32 * s[h], halves[0][2 * g + h]);
        }
        for (int i = 0; i < kp; i++) assert_true(q[0][i] >= -127 && (i < n || q[0][i] == 0));
    }
}

/* Sylvester's matrix, span by span; its own inverse; the same bits at every level. */
static void rotations_follow_their_definition(void **state) {
    (void)state;
    for (int round = 0; round < 60; round++) {
        const int n = 1 + (int)(test_random(&seed) % 500), padded = (n + 63) / 64 * 64;
        float x[WIDE + 1] = {0}, y[WIDE + 1], first[WIDE + 1];
        double want[WIDE];
        fill(x, n, 2);
        if (round % 3 == 0) x[test_random(&seed) % (uint64_t)n] = 1000.0f;
        for (int at = 0; at < padded; at += 128) {
            const int span = padded - at < 128 ? padded - at : 128;
            for (int i = 0; i < span; i++) {
                double sum = 0;
                for (int j = 0; j < span; j++)
                    sum += __builtin_parity((unsigned)(i & j)) ? -(double)x[at + j]
                                                               : (double)x[at + j];
                want[at + i] = sum / sqrt(span);
            }
        }
        for (int level = 0; level < 3; level++) {
            const vec_kernels *v = vec_get_level(level);
            if (!v) continue;
            y[padded] = 12345.0f;
            v->rotate(y, x, n, padded);
            near(y, want, padded, round % 3 ? 1e-5 : 1e-4, "rotate");
            if (!level) memcpy(first, y, sizeof first);
            assert_memory_equal(y, first, (size_t)padded * sizeof *y);
            v->rotate(y, y, padded, padded);
            for (int i = 0; i < padded; i++)
                assert_true(fabsf(y[i] - x[i]) <= (round % 3 ? 1e-5f : 1e-3f));
        }
    }
}

/* The sums that matmul_avx2.c adds up in 16 bits: 4 or 8 codes, each with the channels behind it.
 */
typedef struct largest {
    int pair, four, squares;
} largest;

static void check_compensation(const int8_t *q, const int32_t *compensation, int n, bool wide,
                               largest *most) {
    for (int i = 0; i < n; i += 2) {
        const int pair = abs(q[i] + q[i + 1]);
        most->pair = pair > most->pair ? pair : most->pair;
    }
    const int step = wide ? 16 : 8;
    for (int i = 0; i < n; i += step) {
        for (int half = 0; half < 2; half++) {
            int sum = 0, size = 0, squares = 0;
            for (int j = i + 2 * half; j < i + step; j += 4)
                for (int c = j; c < j + 2; c++)
                    sum += q[c], size += abs(q[c]), squares += q[c] * q[c];
            if (wide)
                most->squares = squares > most->squares ? squares : most->squares;
            else
                most->four = size > most->four ? size : most->four;
            const int32_t two = compensation[wide ? i / 32 * 4 + i % 32 / 16 : i / 8];
            assert_int_equal((int16_t)((uint32_t)two >> (half ? 16 : 0)), (int16_t)(-128 * sum));
        }
    }
}

/* What matmul_avx2.c's proof that nothing saturates stands on. */
static void codes_rounded_for_sums_of_16_bits_add_up_in_them(void **state) {
    (void)state;
    largest most = {0};
    for (int round = 0; round < 4000; round++) {
        int n = 1 + (int)(test_random(&seed) % (round % 2 ? 200 : 1000)), kp = (n + 31) / 32 * 32;
        const bool wide = round / 2000;
        float x[WIDE], rest[WIDE];
        fill(x, n, round % 4 ? 2 : 1e-3);
        if (round % 3 == 0) /* all of one size, so that every bound is met */
            for (int i = 0; i < n; i++) x[i] = round % 2 && x[i] < 0 ? -1.7f : 1.7f;
        if (round % 5 == 0) x[test_random(&seed) % (uint64_t)n] = 1000.0f;
        static const float sizes[] = {1e-23f, 1e-20f, 1e-16f, 1e-15f, 1e-14f, 1e16f, 1e18f, 1e30f};
        const bool odd = round % 7 == 0; /* squares that are no floats, or none that count */
        const float by = sizes[round / 7 % 8];
        for (int i = round % 14 ? 0 : n / 2; odd && i < n; i++) x[i] *= by;
        const bool none = round % 49 == 1;
        if (none) x[n / 2] = round % 2 ? NAN : INFINITY;
        int8_t q[3][WIDE];
        float scale[3][WIDE / 32], wsum[3][WIDE / 32];
        int32_t sum[3][WIDE / 32], halves[3][WIDE / 16], compensation[3][WIDE / 8] = {{0}};
        for (int level = 0; level < 3; level++) {
            const vec_kernels *v = vec_get_level(level);
            if (!v) continue;
            const vec_codes to = {.q = q[level],
                                  .scale = scale[level],
                                  .sum = sum[level],
                                  .halves = halves[level],
                                  .wsum = wsum[level],
                                  .compensation = compensation[level],
                                  .wide = wide};
            v->quantize(&to, x, n, kp);
            assert_memory_equal(q[level], q[0], (size_t)kp);
            assert_memory_equal(scale[level], scale[0], (size_t)kp / 32 * sizeof(float));
            assert_memory_equal(compensation[level], compensation[0],
                                (size_t)kp / 8 * sizeof(int32_t));
            if (none || (odd && by > 1)) continue; /* groups that count as zero */
            v->residual(rest, x, q[level], scale[level], n);
            for (int i = 0; i < n; i++)
                assert_true(fabsf(rest[i]) <=
                            scale[level][i / 32] * 0.5001f + (wide ? 1e-15f : 1e-30f));
        }
        check_compensation(q[0], compensation[0], kp, wide, &most);
    }
    print_message("# pairs up to %d, quads up to %d, norms of eight up to %.1f\n", most.pair,
                  most.four, sqrt(most.squares));
    assert_true(most.pair <= 128 && most.pair >= 127);
    assert_true(most.four <= 255 && most.four >= 252);
    assert_true(most.squares <= VEC_NORM * VEC_NORM && most.squares >= 160 * 160);
}

/* What repacking takes of weights, at every level the same bits. */
static void weights_are_measured_and_rounded_alike(void **state) {
    (void)state;
    for (int round = 0; round < 400; round++) {
        const int n = 1 + (int)(test_random(&seed) % 200), whole = n / 16 * 16;
        float x[WIDE];
        fill(x, n, round % 3 ? 2 : 1e-6);
        if (round % 7 == 0) x[test_random(&seed) % (uint64_t)n] = -3e38f;
        const bool odd = round % 5 == 0;
        if (odd) x[n / 2] = round % 10 ? NAN : -INFINITY;
        double top = 0, squares = 0;
        for (int i = 0; i < n; i++) top = fmax(top, fabs((double)x[i]));
        const float by = odd ? 0.5f : (float)(127 / top);
        for (int i = 0; i < whole; i += 16)
            for (int half = 0; half < 2; half++) {
                double sum = 0;
                for (int j = i + 2 * half; j < i + 16; j += 4)
                    for (int c = j; c < j + 2; c++) sum += pow((double)x[c] * (double)by, 2);
                squares = fmax(squares, sum);
            }
        float norm0 = 0;
        int8_t first[WIDE], q[WIDE];
        for (int level = 0; level < 3; level++) {
            const vec_kernels *v = vec_get_level(level);
            if (!v) continue;
            const float most = v->magnitude(x, n);
            assert_true(odd ? isnan(most) : (double)most == top);
            if (odd) continue;
            const float norm = v->norm_of_octets(x, by, whole);
            assert_true(fabs((double)norm - sqrt(squares)) <= 1e-5 * sqrt(squares) + 1e-30);
            memset(q, 99, sizeof q);
            v->to_i8(q, x, by * 1.5f, n);
            if (!level) memcpy(first, q, sizeof q), norm0 = norm;
            assert_true(norm == norm0);
            assert_memory_equal(q, first, sizeof q);
            for (int i = 0; i < n; i++) {
                const double want = fmax(-127, fmin(127, (double)(x[i] * (by * 1.5f))));
                assert_true(fabs((double)q[i] - want) <= 0.5);
            }
        }
    }
}

static void bf16_rounds_to_nearest_even(void **state) {
    (void)state;
    const float x[] = {1.0f,     1.00390625f, 1.01171875f, -1.00390625f,
                       INFINITY, NAN,         3.4e38f,     1e-40f};
    const uint16_t want[] = {0x3f80, 0x3f80, 0x3f82, 0xbf80, 0x7f80, 0x7fc0, 0x7f80, 0x0001};
    for (int level = 0; level < 3; level++) {
        const vec_kernels *v = vec_get_level(level);
        if (!v) continue;
        uint16_t y[8];
        v->to_bf16(y, x, 8);
        for (int i = 0; i < 8; i++) assert_int_equal(y[i], want[i]);
        uint16_t many[40];
        float f[40];
        for (int i = 0; i < 40; i++) many[i] = (uint16_t)(test_random(&seed) & 0xbf7f);
        v->from_bf16(f, many, 37);
        for (int i = 0; i < 37; i++) {
            uint32_t b;
            memcpy(&b, &f[i], sizeof b);
            assert_int_equal(b, (uint32_t)many[i] << 16);
        }
    }
}

/* One query row over n keys, in double. */
static void attend(const float *q, const float *keys, const float *values, int k_dim, int v_dim,
                   int v_stride, int lo, int hi, double cap, double *out) {
    double s[256], top = -1e300, sum = 0;
    for (int j = lo; j < hi; j++) {
        s[j] = 0;
        for (int d = 0; d < k_dim; d++)
            s[j] += (double)q[d] * (double)keys[(j / 16 * k_dim + d) * 16 + j % 16];
        if (cap > 0) s[j] = cap * tanh(s[j] / cap);
        if (s[j] > top) top = s[j];
    }
    for (int j = lo; j < hi; j++) sum += s[j] = exp(s[j] - top);
    for (int d = 0; d < v_dim; d++) {
        out[d] = 0;
        for (int j = lo; j < hi; j++) out[d] += s[j] / sum * (double)values[j * v_stride + d];
    }
}

static void attention_follows_its_definition_whatever_the_tile(void **state) {
    (void)state;
    enum { KEYS = 112 };
    static float keys[KEYS * 80], values[KEYS * 80], q[ATTENTION_ROWS * 80],
        tile_q[ATTENTION_ROWS * 80], o[ATTENTION_ROWS * 80], alone[ATTENTION_ROWS * 80];
    const int dims[] = {8, 16, 24, 32, 64, 80};
    for (int level = 0; level < 3; level++) {
        const attention_kernels *a = attention_get_level(level);
        if (!a) continue;
        for (int round = 0; round < 96; round++) {
            int dim = dims[round % 6], stride = (dim + 15) / 16 * 16,
                n = 1 + round % ATTENTION_ROWS;
            int lo[ATTENTION_ROWS], hi[ATTENTION_ROWS];
            fill(keys, KEYS * dim, 2), fill(values, KEYS * stride, 1), fill(q, n * dim, 1);
            for (int r = 0; r < n; r++) {
                hi[r] = 1 + (int)(test_random(&seed) % KEYS);
                lo[r] = round % 2 ? 0 : (int)(test_random(&seed) % (uint64_t)hi[r]);
            }
            float cap = round % 5 == 0 ? 5.0f : 0.0f;
            for (int pass = 0; pass <= n; pass++) { /* all rows together, then each alone */
                int first = pass ? pass - 1 : 0, rows = pass ? 1 : n;
                attention_tile t = {.n_rows = rows,
                                    .k_dim = dim,
                                    .v_dim = dim,
                                    .v_stride = stride,
                                    .soft_cap = cap,
                                    .q = tile_q,
                                    .o = pass ? alone : o};
                memcpy(tile_q, q + first * dim, (size_t)(rows * dim) * sizeof(float));
                a->begin(&t);
                int begin = KEYS, end = 0;
                for (int r = first; r < first + rows; r++) {
                    begin = lo[r] < begin ? lo[r] : begin;
                    end = hi[r] > end ? hi[r] : end;
                }
                for (int at = begin / 16 * 16, next; at < end; at = next) {
                    int l[ATTENTION_ROWS], h[ATTENTION_ROWS];
                    next = (at / ATTENTION_SPAN + 1) * ATTENTION_SPAN;
                    if (next > end) next = (end + 15) / 16 * 16;
                    for (int r = 0; r < rows; r++) {
                        l[r] = lo[first + r] > at ? lo[first + r] - at : 0;
                        h[r] = (hi[first + r] < next ? hi[first + r] : next) - at;
                    }
                    a->span(&t, (next - at) / 16, keys + at * dim, values + at * stride, l, h);
                }
                a->end(&t);
                if (!pass) { /* the weights of all blocks are those that made o */
                    double sum[ATTENTION_ROWS] = {0};
                    static double got[ATTENTION_ROWS * 80];
                    memset(got, 0, sizeof got);
                    for (int at = 0; at < KEYS; at += 16) {
                        float w[ATTENTION_ROWS][ATTENTION_BLOCK];
                        int l[ATTENTION_ROWS], h[ATTENTION_ROWS];
                        for (int r = 0; r < n; r++) l[r] = lo[r] - at, h[r] = hi[r] - at;
                        a->weights(&t, keys + at * dim, l, h, w);
                        for (int r = 0; r < n; r++)
                            for (int j = 0; j < 16; j++) {
                                assert_true(w[r][j] >= 0);
                                if (j < l[r] || j >= h[r]) assert_true(w[r][j] == 0);
                                sum[r] += (double)w[r][j];
                                for (int d = 0; d < dim; d++)
                                    got[r * 80 + d] +=
                                        (double)w[r][j] * (double)values[(at + j) * stride + d];
                            }
                    }
                    for (int r = 0; r < n; r++) {
                        assert_true(fabs(sum[r] - 1) < 1e-5);
                        for (int d = 0; d < dim; d++)
                            assert_true(fabs(got[r * 80 + d] - (double)o[r * stride + d]) < 1e-5);
                    }
                }
                for (int r = first; pass && r <= first; r++)
                    assert_memory_equal(alone, o + r * stride, (size_t)dim * sizeof(float));
            }
            for (int r = 0; r < n; r++) {
                double want[80];
                attend(q + r * dim, keys, values, dim, dim, stride, lo[r], hi[r], (double)cap,
                       want);
                for (int d = 0; d < dim; d++)
                    assert_true(fabs(want[d] - (double)o[r * stride + d]) < 1e-5);
            }
        }
    }
}

int main(void) {
    seed = test_seed();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(norms_follow_their_definition),
        cmocka_unit_test(activations_follow_their_definition),
        cmocka_unit_test(rounding_to_int8_is_the_same_at_every_level),
        cmocka_unit_test(rotations_follow_their_definition),
        cmocka_unit_test(codes_rounded_for_sums_of_16_bits_add_up_in_them),
        cmocka_unit_test(weights_are_measured_and_rounded_alike),
        cmocka_unit_test(bf16_rounds_to_nearest_even),
        cmocka_unit_test(attention_follows_its_definition_whatever_the_tile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
