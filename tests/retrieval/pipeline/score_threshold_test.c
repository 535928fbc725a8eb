/* score_threshold_test.c - hits below a score are left out where somebody names one; none is, of any mode, where nobody does. */
#include "tests/retrieval/service/home_fixture.h"

enum { N_TEXTS = 5 };
static service *s;
static char *home;

static int setup(void **state) {
    (void)state;
    static const char *const texts[N_TEXTS] = {
        "The north pump is serviced every 400 hours.", "The barn owl hunts mice at night.",
        "A fee of 12 euros is due on the first of the month.",
        "Sydney's Harbour Bridge was opened in 1932.", "Bread is baked at 220 degrees."};
    home = test_folder();
    s = open_home(home);
    for (int i = 0; i < N_TEXTS; i++) {
        char id[8];
        snprintf(id, sizeof id, "d%d", i);
        assert_int_equal(put_note(s, id, NULL, texts[i], strlen(texts[i])), INGEST_CREATED);
    }
    return 0;
}

static int teardown(void **state) {
    (void)state;
    service_close(s);
    test_remove(home);
    return 0;
}

/* How many contexts it finds; *least: the score of the last one. */
static size_t find(enum search_mode mode, double threshold, double *least) {
    fo_err err = {0};
    query_result r = {0};
    const query_request q = {.tenant = "default",
                             .collection = "notes",
                             .query = "xylophone kangaroo",
                             .cache = CACHE_BYPASS,
                             .search = {.mode = mode, .alpha = -1, .score_threshold = threshold}};
    assert_ok(service_query(s, &q, NULL, &r, &err), &err);
    const size_t n = r.n_contexts;
    *least = n ? r.contexts[n - 1].score : 1;
    for (size_t i = 0; threshold != 0 && i < n; i++) assert_true(r.contexts[i].score >= threshold);
    query_result_deinit(&r);
    return n;
}

static void without_one_hits_below_nought_stay(void **state) {
    (void)state;
    double least;
    assert_int_equal(find(SEARCH_DENSE, 0, &least), N_TEXTS);
    assert_true(least < 0);
}

static void one_that_is_named_holds(void **state) {
    (void)state;
    double least;
    assert_in_range(find(SEARCH_DENSE, 1e-9, &least), 1, N_TEXTS - 1);
    assert_true(least > 0);
    assert_int_equal(find(SEARCH_DENSE, -1, &least), N_TEXTS);
    assert_int_equal(find(SEARCH_DENSE, 2, &least), 0);
}

static void in_other_modes_no_score_is_below_nought(void **state) {
    (void)state;
    double least;
    assert_int_equal(find(SEARCH_HYBRID, 0, &least), N_TEXTS);
    assert_true(least >= 0);
    assert_int_equal(find(SEARCH_SPARSE, 0, &least), 0); /* no word of it is there */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_one_hits_below_nought_stay),
        cmocka_unit_test(one_that_is_named_holds),
        cmocka_unit_test(in_other_modes_no_score_is_below_nought),
    };
    return cmocka_run_group_tests_name("score_threshold", tests, setup, teardown);
}
