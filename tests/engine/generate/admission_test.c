/* admission_test.c - the moving windows, with a clock of our own. */
#include "tests/test.h"

#include "engine/generate/admission.h"

static uint64_t seed;
static fo_err err;

static void lets_a_burst_in_up_to_the_limit_and_says_when_to_come_again(void **state) {
    (void)state;
    admission *a;
    assert_ok(admission_create(&a, 5, 0, &err), &err);
    int64_t wait;
    for (int i = 0; i < 5; i++) {
        assert_ok(admission_ask(a, 10000 + i, 1000, &wait, &err), &err);
        assert_int_equal(wait, 0);
    }
    assert_int_equal(admission_ask(a, 10006, 1, &wait, &err), FO_EBUSY);
    assert_non_null(strstr(err.msg, "5 queries a second"));
    assert_true(wait > 900 && wait <= 1000);
    /* Who comes when told is let in; who comes a bucket earlier is not. */
    assert_int_equal(admission_ask(a, 10006 + (double)wait - 60, 1, &wait, &err), FO_EBUSY);
    assert_ok(admission_ask(a, 10006 + 1000, 1, &wait, &err), &err);
    admission_free(a);
}

static void counts_tokens_and_takes_them_back(void **state) {
    (void)state;
    admission *a;
    assert_ok(admission_create(&a, 0, 1000, &err), &err);
    int64_t wait;
    assert_ok(admission_ask(a, 5000, 900, &wait, &err), &err);
    assert_int_equal(admission_ask(a, 5100, 200, &wait, &err), FO_EBUSY);
    assert_non_null(strstr(err.msg, "1000 tokens a second"));
    admission_refund(a, 5150, 5000, 300);
    assert_ok(admission_ask(a, 5200, 200, &wait, &err), &err);
    /* What was counted a window ago is gone already: taking it back gives nothing. */
    admission_refund(a, 6150, 5000, 600);
    assert_int_equal(admission_ask(a, 6160, 900, &wait, &err), FO_EBUSY);
    assert_ok(admission_ask(a, 6160, 800, &wait, &err), &err);
    admission_free(a);
}

static void one_query_larger_than_the_window_is_let_in_alone(void **state) {
    (void)state;
    admission *a;
    assert_ok(admission_create(&a, 0, 100, &err), &err);
    int64_t wait;
    assert_ok(admission_ask(a, 5000, 5000, &wait, &err), &err);
    assert_int_equal(admission_ask(a, 5500, 1, &wait, &err), FO_EBUSY);
    assert_ok(admission_ask(a, 5500 + (double)wait, 5000, &wait, &err), &err);
    admission_free(a);
}

static void a_limit_below_one_is_one_in_a_longer_window(void **state) {
    (void)state;
    admission *a;
    assert_ok(admission_create(&a, .5, 0, &err), &err);
    int64_t wait;
    assert_ok(admission_ask(a, 0, 1, &wait, &err), &err);
    assert_int_equal(admission_ask(a, 1100, 1, &wait, &err), FO_EBUSY);
    assert_non_null(strstr(err.msg, "0.5 queries a second"));
    assert_int_equal(wait, 900);
    assert_int_equal(admission_ask(a, 1940, 1, &wait, &err), FO_EBUSY);
    assert_ok(admission_ask(a, 2000, 1, &wait, &err), &err);
    admission_free(a);
    assert_ok(admission_create(&a, 1e-300, 0, &err), &err);
    assert_ok(admission_ask(a, 1e9, 1, &wait, &err), &err);
    assert_int_equal(admission_ask(a, 1e9, 1, &wait, &err), FO_EBUSY);
    assert_true(wait > 0 && wait <= 24 * 3600 * 1000);
    admission_free(a);
}

/* Against a plain list of what was let in: never more than the limit in any second. */
static void never_lets_more_through_than_the_limit_in_any_second(void **state) {
    (void)state;
    admission *a;
    assert_ok(admission_create(&a, 20, 3000, &err), &err);
    static double at[20000];
    static int64_t tokens[20000];
    int n = 0, refused = 0;
    double now = 1e6;
    for (int i = 0; i < 20000; i++) {
        now += test_uniform(&seed) * 40;
        int64_t k = 1 + (int64_t)(test_random(&seed) % 400), wait;
        if (admission_ask(a, now, k, &wait, &err) != FO_OK) {
            assert_true(wait > 0 && wait <= 1000);
            refused++;
            continue;
        }
        assert_int_equal(wait, 0);
        at[n] = now;
        tokens[n++] = k;
        int64_t queries = 0, sum = 0; /* a bucket is 50 ms: the window is at least 950 */
        for (int j = n; j-- > 0 && at[j] > now - 950;) queries++, sum += tokens[j];
        assert_true(queries <= 20 && sum <= 3000);
    }
    assert_true(n > 5000 && refused > 5000);
    admission_free(a);
}

int main(void) {
    seed = test_seed();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lets_a_burst_in_up_to_the_limit_and_says_when_to_come_again),
        cmocka_unit_test(counts_tokens_and_takes_them_back),
        cmocka_unit_test(one_query_larger_than_the_window_is_let_in_alone),
        cmocka_unit_test(a_limit_below_one_is_one_in_a_longer_window),
        cmocka_unit_test(never_lets_more_through_than_the_limit_in_any_second),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
