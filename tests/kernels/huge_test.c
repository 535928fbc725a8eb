/* huge_test.c - memory out of huge blocks: aligned, zeroed, apart from each other, of any size. */
#include "tests/test.h"

#include "kernels/huge.h"

static uint64_t seed;

static void pieces_are_aligned_zeroed_and_apart(void **state) {
    (void)state;
    enum { N = 300 };
    static unsigned char *at[N];
    static size_t sizes[N];
    fo_huge *h = fo_huge_create();
    assert_non_null(h);
    for (int i = 0; i < N; i++) { /* small ones, and some that leave the rest of a block unused */
        sizes[i] = 1 + test_random(&seed) % (i % 50 == 7 ? (size_t)40 << 20 : 100000);
        at[i] = fo_huge_take(h, sizes[i]);
        assert_non_null(at[i]);
        assert_int_equal((uintptr_t)at[i] % 64, 0);
        assert_int_equal(at[i][0] | at[i][sizes[i] - 1], 0);
        at[i][0] = at[i][sizes[i] - 1] = (unsigned char)(1 + i % 255);
    }
    for (int i = 0; i < N; i++) {
        assert_int_equal(at[i][0], 1 + i % 255);
        assert_int_equal(at[i][sizes[i] - 1], 1 + i % 255);
        for (int j = 0; j < i; j++)
            assert_true(at[j] + sizes[j] <= at[i] || at[i] + sizes[i] <= at[j]);
    }
    fo_huge_free(h);
}

static void more_than_a_block_and_more_than_there_is(void **state) {
    (void)state;
    fo_huge *h = fo_huge_create();
    assert_non_null(h);
    const size_t big = (size_t)150 << 20;
    unsigned char *p = fo_huge_take(h, big); /* never touched but for its ends */
    assert_non_null(p);
    p[0] = p[big - 1] = 1;
    assert_null(fo_huge_take(h, SIZE_MAX));
    assert_null(fo_huge_take(h, SIZE_MAX / 2));
    unsigned char *q = fo_huge_take(h, 64);
    assert_non_null(q);
    assert_true(q < p || q >= p + big);
    fo_huge_free(h);
    fo_huge_free(NULL);
}

/* Wherever in a block, and however often. */
static void what_is_placed_keeps_what_is_written(void **state) {
    (void)state;
    fo_huge *h = fo_huge_create();
    assert_non_null(h);
    const size_t n = (size_t)9 << 20;
    unsigned char *p = fo_huge_take(h, n);
    assert_non_null(p);
    static const int nodes[] = {0, 1, -1, 1023, 5000}; /* of which there may be one */
    static const size_t at[] = {0, 1, 4096, 1 << 20, 2 << 20, (2 << 20) + 64, 5 << 20, 9 << 20};
    for (size_t i = 1; i < sizeof at / sizeof *at; i++)
        fo_huge_place(p + at[i - 1], at[i] - at[i - 1], nodes[i % 5]);
    for (size_t i = 0; i < n; i += 1000) p[i] = (unsigned char)(i / 1000);
    for (size_t i = 1; i < sizeof at / sizeof *at; i++)
        fo_huge_place(p + at[i - 1], at[i] - at[i - 1], nodes[i % 5]);
    for (size_t i = 0; i < n; i += 1000) assert_int_equal(p[i], (unsigned char)(i / 1000));
    fo_huge_free(h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_aligned_zeroed_and_apart),
        cmocka_unit_test(more_than_a_block_and_more_than_there_is),
        cmocka_unit_test(what_is_placed_keeps_what_is_written),
    };
    seed = test_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
