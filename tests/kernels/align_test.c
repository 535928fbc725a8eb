/* Every level against sums in 64 bits, on random and on extreme rows, at every rest of a tile. */
#include "tests/test.h"

#include "kernels/align.h"
#include "kernels/cpu.h"
#include "tests/kernels/vnni_trap.h"

enum { ROWS = 11, MAX_LEN = 1536, STRIDE = 16 };

static int levels(align_kernels out[4]) {
    int n = 0;
    align_init_generic(&out[n++]);
    if (fo_cpu()->level >= FO_CPU_AVX2) align_init_avx2(&out[n++]);
    if (fo_cpu()->level >= FO_CPU_AVX2 && vnni_trap()) align_init_avxvnni(&out[n++]);
    if (fo_cpu()->level >= FO_CPU_AVX512) align_init_avx512(&out[n++]);
    return n;
}

static void check(const align_rows *a, const align_rows *b, size_t len) {
    align_kernels k[4];
    const int n = levels(k);
    for (int l = 0; l < n; l++) {
        float out[ROWS * STRIDE];
        for (int i = 0; i < ROWS * STRIDE; i++) out[i] = 12345;
        k[l].products(a, b, len, out, STRIDE);
        for (size_t i = 0; i < ROWS; i++) {
            for (size_t j = 0; j < STRIDE; j++) {
                int64_t sum = 0;
                float want = 12345; /* nothing is written beside the rows' products */
                if (i < a->n && j < b->n) {
                    for (size_t c = 0; c < len; c++)
                        sum += (int64_t)a->codes[i * len + c] * b->codes[j * len + c];
                    want = (float)sum * (a->scale[i] * b->scale[j]);
                }
                if (memcmp(&out[i * STRIDE + j], &want, sizeof want))
                    fail_msg("%s: %zu x %zu rows of %zu: [%zu][%zu] is %g, not %g", k[l].name, a->n,
                             b->n, len, i, j, (double)out[i * STRIDE + j], (double)want);
            }
        }
    }
}

static void products_agree_on_random_rows(void **state) {
    (void)state;
    uint64_t r = test_seed();
    static int8_t a[ROWS * MAX_LEN], b[ROWS * MAX_LEN];
    float a_scale[ROWS], b_scale[ROWS];
    for (int i = 0; i < ROWS; i++) a_scale[i] = (float)test_uniform(&r) / 64;
    for (int i = 0; i < ROWS; i++) b_scale[i] = (float)test_uniform(&r) / 64;
    for (size_t i = 0; i < sizeof a; i++) a[i] = (int8_t)((int)(test_random(&r) % 255) - 127);
    for (size_t i = 0; i < sizeof b; i++) b[i] = (int8_t)((int)(test_random(&r) % 255) - 127);
    for (size_t len = 64; len <= 448; len += 64)
        for (size_t n = 0; n <= ROWS; n++)
            for (size_t m = 0; m <= ROWS; m++)
                check(&(align_rows){a, a_scale, n}, &(align_rows){b, b_scale, m}, len);
    check(&(align_rows){a, a_scale, ROWS}, &(align_rows){b, b_scale, ROWS}, MAX_LEN);
}

static void products_agree_on_extreme_rows(void **state) {
    (void)state;
    static const int8_t fill[] = {-127, -126, -1, 0, 1, 126, 127};
    static int8_t a[ROWS * MAX_LEN], b[ROWS * MAX_LEN];
    const float scale[ROWS] = {0, 1, 1e-30f, 1e30f, -1, 1, 1, 1, 1, 1, 1};
    for (int f = 0; f < ROWS; f++) {
        memset(a + f * MAX_LEN, fill[f % 7], MAX_LEN);
        memset(b + f * MAX_LEN, fill[(f + 3) % 7], MAX_LEN);
    }
    for (int j = 0; j < MAX_LEN; j++) a[8 * MAX_LEN + j] = b[9 * MAX_LEN + j] = j % 2 ? 127 : -127;
    check(&(align_rows){a, scale, ROWS}, &(align_rows){b, scale, ROWS}, MAX_LEN);
}

static void the_longest_row_does_not_overflow(void **state) {
    (void)state;
    int8_t *a = malloc(ALIGN_MAX_LEN), *b = malloc(ALIGN_MAX_LEN);
    const float one = 1;
    for (int sign = 0; sign < 4; sign++) {
        memset(a, sign & 1 ? -127 : 127, ALIGN_MAX_LEN);
        memset(b, sign & 2 ? -127 : 127, ALIGN_MAX_LEN);
        check(&(align_rows){a, &one, 1}, &(align_rows){b, &one, 1}, ALIGN_MAX_LEN);
    }
    free(a);
    free(b);
}

static void the_best_level_is_chosen(void **state) {
    (void)state;
    align_kernels k;
    align_init(&k);
    const fo_cpu_info *cpu = fo_cpu();
    assert_string_equal(k.name, cpu->level >= FO_CPU_AVX512 ? "avx512"
                                : cpu->avx_vnni             ? "avxvnni"
                                : cpu->level >= FO_CPU_AVX2 ? "avx2"
                                                            : "generic");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_agree_on_random_rows),
        cmocka_unit_test(products_agree_on_extreme_rows),
        cmocka_unit_test(the_longest_row_does_not_overflow),
        cmocka_unit_test(the_best_level_is_chosen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
