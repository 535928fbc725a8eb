/* Every level against the portable kernels, on random and on extreme rows. */
#include "tests/test.h"

#include <math.h>

#include "kernels/cpu.h"
#include "kernels/dist.h"

enum { ROWS = 37, MAX_LEN = 1536 };

static size_t levels(dist_kernels out[4]) {
    const fo_cpu_info *cpu = fo_cpu();
    size_t n = 0;
    dist_init_generic(&out[n++]);
    if (cpu->level >= FO_CPU_AVX2) dist_init_avx2(&out[n++]);
    if (cpu->avx_vnni) {
        dist_init_avx2(&out[n]);
        dist_init_avxvnni(&out[n++]);
    }
    if (cpu->level >= FO_CPU_AVX512) {
        dist_init_avx2(&out[n]);
        dist_init_avx512(&out[n++]);
    }
    return n;
}

static void check_codes(const int8_t *q, const uint8_t *codes, size_t stride, size_t len,
                        const uint32_t *ids, size_t n) {
    dist_kernels k[4];
    size_t n_levels = levels(k);
    for (size_t l = 0; l < n_levels; l++) {
        int32_t out[ROWS + 1];
        out[n] = 0x5A5A5A5A;
        k[l].dot_codes(q, codes, stride, len, ids, n, out);
        assert_int_equal(out[n], 0x5A5A5A5A);
        for (size_t i = 0; i < n; i++) {
            int64_t want = 0;
            for (size_t j = 0; j < len; j++) want += q[j] * codes[ids[i] * stride + j];
            if (out[i] != want)
                fail_msg("%s: row %zu of %zu, length %zu: %d, not %lld", k[l].name, i, n, len,
                         out[i], (long long)want);
        }
    }
}

static void codes_agree_on_random_rows(void **state) {
    (void)state;
    uint64_t r = test_seed();
    static uint8_t codes[ROWS * MAX_LEN];
    static int8_t q[MAX_LEN];
    for (size_t j = 0; j < sizeof codes; j++) codes[j] = (uint8_t)test_random(&r);
    for (size_t j = 0; j < MAX_LEN; j++) q[j] = (int8_t)(test_random(&r) % 129) - 64;
    for (size_t len = 64; len <= MAX_LEN; len += 64) {
        uint32_t ids[ROWS];
        for (size_t n = 0; n <= ROWS; n += n < 10 ? 1 : 9) {
            for (size_t i = 0; i < n; i++) ids[i] = (uint32_t)(test_random(&r) % ROWS);
            check_codes(q, codes, MAX_LEN, len, ids, n);
        }
    }
}

static void codes_agree_on_extreme_rows(void **state) {
    (void)state;
    static uint8_t codes[8 * MAX_LEN];
    static int8_t q[MAX_LEN];
    const uint8_t fill[] = {0, 1, 127, 128, 129, 254, 255};
    const int8_t qs[] = {-64, -63, -1, 0, 1, 63, 64};
    const uint32_t ids[] = {0, 1, 2, 3, 4, 5, 6, 7};
    for (size_t f = 0; f < sizeof fill; f++) memset(codes + f * MAX_LEN, fill[f], MAX_LEN);
    for (size_t j = 0; j < MAX_LEN; j++) codes[7 * MAX_LEN + j] = j % 2 ? 255 : 0;
    for (size_t v = 0; v < sizeof qs; v++) {
        memset(q, qs[v], sizeof q);
        check_codes(q, codes, MAX_LEN, MAX_LEN, ids, 8);
        for (size_t j = 0; j < MAX_LEN; j += 2) q[j] = (int8_t)-q[j];
        check_codes(q, codes, MAX_LEN, MAX_LEN, ids, 8);
    }
}

static void the_longest_row_does_not_overflow(void **state) {
    (void)state;
    uint8_t *codes = malloc(DIST_MAX_LEN);
    int8_t *q = malloc(DIST_MAX_LEN);
    memset(codes, 255, DIST_MAX_LEN);
    memset(q, 64, DIST_MAX_LEN);
    uint32_t id = 0;
    check_codes(q, codes, DIST_MAX_LEN, DIST_MAX_LEN, &id, 1);
    memset(q, -64, DIST_MAX_LEN);
    check_codes(q, codes, DIST_MAX_LEN, DIST_MAX_LEN, &id, 1);
    free(codes);
    free(q);
}

static void refined_sums_agree_to_rounding(void **state) {
    (void)state;
    uint64_t r = test_seed();
    static float q[MAX_LEN];
    static uint8_t code[MAX_LEN];
    static int8_t rest[MAX_LEN];
    const float scales[] = {1e-20f, 1e-3f, 1.0f, 1e6f, 1e12f};
    for (size_t s = 0; s < 5; s++) {
        for (size_t n = 64; n <= MAX_LEN; n += 64) {
            double dot = 0, l2 = 0, abs_dot = 0;
            bool extreme = n % 128 == 0;
            for (size_t j = 0; j < n; j++) {
                q[j] = (float)(test_uniform(&r) - 0.5) * scales[s] * 65536;
                code[j] = extreme ? (j % 3 ? 255 : 1) : (uint8_t)(1 + test_random(&r) % 255);
                rest[j] = extreme ? (j % 2 ? 127 : -128) : (int8_t)test_random(&r);
                double x = (code[j] - 128) * 256 + rest[j];
                dot += q[j] * x;
                abs_dot += fabs(q[j] * x);
                l2 += (q[j] - scales[s] * x) * (q[j] - scales[s] * x);
            }
            dist_kernels k[4];
            size_t n_levels = levels(k);
            for (size_t l = 0; l < n_levels; l++) {
                assert_true(fabs(k[l].dot_fine(q, code, rest, n) - dot) <= 1e-5 * abs_dot);
                assert_true(fabs(k[l].l2_fine(q, code, rest, scales[s], n) - l2) <= 1e-5 * l2);
            }
        }
    }
}

static void queries_are_the_same_on_every_level(void **state) {
    (void)state;
    uint64_t r = test_seed();
    static float x[MAX_LEN];
    dist_kernels k[4];
    size_t n_levels = levels(k);
    const float scales[] = {0, 1e-38f, 1e-37f, 2e-30f, 1, 1e15f};
    for (size_t s = 0; s < 6; s++) {
        for (size_t n = 64; n <= MAX_LEN; n += 192) {
            for (size_t j = 0; j < n; j++) x[j] = (float)(test_uniform(&r) - 0.5) * scales[s];
            x[n / 2] = -scales[s];
            int8_t want[MAX_LEN], got[MAX_LEN];
            int32_t want_sum, got_sum;
            float max = k[0].to_query(x, n, want, &want_sum);
            assert_true(max == scales[s]);
            assert_int_equal(want[n / 2], scales[s] >= DIST_TINY ? -DIST_QUERY_MAX : 0);
            for (size_t l = 1; l < n_levels; l++) {
                assert_true(k[l].to_query(x, n, got, &got_sum) == max);
                assert_int_equal(got_sum, want_sum);
                assert_memory_equal(got, want, n);
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_agree_on_random_rows),
        cmocka_unit_test(codes_agree_on_extreme_rows),
        cmocka_unit_test(the_longest_row_does_not_overflow),
        cmocka_unit_test(refined_sums_agree_to_rounding),
        cmocka_unit_test(queries_are_the_same_on_every_level),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
