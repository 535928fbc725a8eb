/* step_pace_test.c - how many rows of a prompt a step takes beside tokens that are written: within
 * the time that was asked for, on machines where a row costs much or little, and never none. */
#include "tests/test.h"

#include "engine/generate/step_pace.h"

static uint64_t seed;

/* A machine whose step costs `base`, and `row` for each row of a prompt in it. */
static double runs(double base, double row, int n_read) {
    return (base + row * n_read) * (.97 + .06 * test_uniform(&seed));
}

static void steps_take_the_time_that_was_asked_for(void **state) {
    (void)state;
    for (int round = 0; round < 200; round++) {
        const double base = 2 + 60 * test_uniform(&seed),
                     row = base * (.002 + .08 * test_uniform(&seed)),
                     stretch = 1.5 + 2 * test_uniform(&seed);
        const bool reads_first = round % 2;
        step_pace p = {0};
        if (reads_first) step_pace_add(&p, 0, 512, runs(0, row * 1.3, 512));
        for (int i = 0; i < 30; i++) step_pace_add(&p, 1, 0, runs(base, row, 0));
        double took = 0;
        int n = 0;
        for (int i = 0; i < 60; i++) {
            step_pace_rest(&p, stretch);
            n = step_pace_rows(&p, stretch, 512);
            took = runs(base, row, n);
            step_pace_add(&p, 1, n, took);
        }
        const double four = 4 * row; /* what one step leaves the next may take */
        if (n > 2 * STEP_PACE_LEAST) assert_true(took < 1.1 * stretch * base + four);
        if (n < 512) assert_true(took > .7 * stretch * base - four || n == STEP_PACE_LEAST);
        assert_true(n == 512 || n % 4 == 0);
    }
}

/* As if a long prompt was being read. */
static step_pace busy(void) {
    return (step_pace){.spent = STEP_PACE_BURST};
}

static void takes_few_rows_before_it_knows_and_never_none(void **state) {
    (void)state;
    step_pace p = busy();
    assert_int_equal(step_pace_rows(&p, 2, 512), STEP_PACE_FIRST);
    assert_int_equal(step_pace_rows(&p, 2, 3), 3);
    step_pace_add(&p, 4, 16, 100); /* whose time? */
    assert_int_equal(step_pace_rows(&p, 2, 512), STEP_PACE_FIRST);
    step_pace_add(&p, 1, 0, 1);
    step_pace_add(&p, 1, 16, 1000); /* a machine that pays dearly for rows */
    assert_int_equal(step_pace_rows(&p, 2, 512), STEP_PACE_LEAST);
    assert_int_equal(step_pace_rows(&p, .5, 512), STEP_PACE_LEAST);
}

static void one_late_step_changes_little(void **state) {
    (void)state;
    step_pace p = busy();
    for (int i = 0; i < 50; i++) step_pace_add(&p, 1, 0, 20);
    for (int i = 0; i < 50; i++) step_pace_add(&p, 1, 16, 36);
    const int before = step_pace_rows(&p, 2, 512);
    step_pace_add(&p, 1, 16, 5000);
    assert_true(step_pace_rows(&p, 2, 512) >= before / 2);
    step_pace_add(&p, 1, 16, 3); /* faster than a step that only writes */
    assert_true(step_pace_rows(&p, 2, 512) <= 512);
    for (int i = 0; i < 30; i++) step_pace_add(&p, 1, 16, 36);
    assert_true(abs(step_pace_rows(&p, 2, 512) - before) <= 4);
}

static void a_short_question_is_read_at_once_but_not_one_after_the_other(void **state) {
    (void)state;
    step_pace p = {0};
    for (int i = 0; i < 20; i++) step_pace_add(&p, 1, 0, 20);
    step_pace_add(&p, 0, 512, 1024); /* a row is 2 ms: eight beside each token */
    int read = 0, steps = 0;
    for (; read < 480; steps++) {
        step_pace_rest(&p, 2);
        const int n = step_pace_rows(&p, 2, 512);
        if (steps == 0) assert_int_equal(n, STEP_PACE_BURST);
        if (steps > 0) assert_in_range(n, 4, 12);
        step_pace_add(&p, 1, n, 20 + 2 * n);
        read += n;
    }
    assert_in_range(steps, 50, 58); /* 48 and then 8 each */
    for (int i = 0; i < 3; i++) step_pace_rest(&p, 2), step_pace_add(&p, 1, 0, 20);
    assert_in_range(step_pace_rows(&p, 2, 512), 16, 32); /* half made up for */
    for (int i = 0; i < 6; i++) step_pace_rest(&p, 2);
    assert_int_equal(step_pace_rows(&p, 2, 512), STEP_PACE_BURST);
}

int main(void) {
    seed = test_seed();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_take_the_time_that_was_asked_for),
        cmocka_unit_test(takes_few_rows_before_it_knows_and_never_none),
        cmocka_unit_test(one_late_step_changes_little),
        cmocka_unit_test(a_short_question_is_read_at_once_but_not_one_after_the_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
