/* avxvnni_test.c - the machine code of the AVX-VNNI kernels against the generic ones bit for bit,
 * on the processor or, where that has AVX2 alone, through traps (vnni_trap.h). */
#include "tests/test.h"

#include "kernels/cpu.h"
#include "kernels/dist.h"
#include "kernels/matmul.h"
#include "tests/kernels/matmul_problem.h"
#include "tests/kernels/vnni_trap.h"

static bool can_run(void) {
    return fo_cpu()->level >= FO_CPU_AVX2 && vnni_trap();
}

/* All kinds; few, some and many rows, whole tiles and the rest of them. */
static void products_are_the_generic_ones(void **state) {
    (void)state;
    static problem p;
    static float want[MAX_M * STRIDE], got[MAX_M * STRIDE];
    static const int rows[] = {1, 2, 3, 4, 7, MAX_M};
    enum { N_ROWS = sizeof rows / sizeof *rows };
    if (!can_run()) skip();
    for (int round = 0; round < N_ROWS * N_INTEGER; round++) {
        const int m = rows[round / N_INTEGER];
        make(&p, integer[round % N_INTEGER], true, m, m > 7 ? 20 : 40, m > 7 ? 256 : 512,
             (round % 2 ? EXTREME : 0) | wide_if_last(round));
        for (int add = 0; add < 2; add++) {
            p.in.add = add;
            for (int i = 0; i < m * STRIDE; i++) want[i] = got[i] = (float)i;
            mm_generic.run[p.w.kind](&p.w, &p.in, 0, m, 0, p.w.n_panels, want, STRIDE);
            mm_avxvnni.run[p.w.kind](&p.w, &p.in, 0, m, 0, p.w.n_panels, got, STRIDE);
            assert_memory_equal(want, got, (size_t)m * STRIDE * sizeof(float));
        }
        mm_weights_deinit(&p.w);
    }
}

static void products_of_codes_are_the_generic_ones(void **state) {
    (void)state;
    enum { ROWS = 37, LEN = 512 };
    static uint8_t codes[ROWS * LEN];
    static int8_t q[LEN];
    uint32_t ids[ROWS];
    if (!can_run()) skip();
    dist_kernels plain = {0}, k = {0};
    dist_init_generic(&plain);
    dist_init_avxvnni(&k);
    for (int round = 0; round < 40; round++) {
        const bool extreme = round % 2;
        const size_t len = 64 * (1 + test_random(&seed) % (LEN / 64));
        for (size_t i = 0; i < sizeof codes; i++)
            codes[i] = extreme ? test_random(&seed) % 2 ? 255 : 0 : (uint8_t)test_random(&seed);
        for (size_t i = 0; i < LEN; i++)
            q[i] = extreme ? round % 4 == 1 ? -64 : 64 : (int8_t)(test_random(&seed) % 129 - 64);
        const size_t n = test_random(&seed) % (ROWS + 1);
        for (size_t i = 0; i < n; i++) ids[i] = (uint32_t)(test_random(&seed) % ROWS);
        int32_t want[ROWS + 1] = {0}, got[ROWS + 1] = {0};
        plain.dot_codes(q, codes, LEN, len, ids, n, want);
        k.dot_codes(q, codes, LEN, len, ids, n, got);
        assert_memory_equal(want, got, sizeof want);
    }
}

int main(void) {
    seed = test_seed();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_the_generic_ones),
        cmocka_unit_test(products_of_codes_are_the_generic_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
