/* rate_limits_test.c - tiers as they are written, buckets as they fill, and that no number of addresses
 * takes more memory. Time is the clock's: only what cannot fail by being slow is asked of it. */
#include "server/access/rate_limits.h"
#include "tests/test.h"

#include <pthread.h>

static rate_tier tier(const char *text) {
    rate_tier t;
    fo_err err = {0};
    assert_ok(rate_tier_read(&t, text, &err), &err);
    return t;
}

static void tiers_are_read_or_refused(void **state) {
    (void)state;
    rate_tier t = tier("free: requests=.5, burst=3, tokens=20000, concurrent=2");
    assert_string_equal(t.name, "free");
    assert_true(t.requests_per_s == .5 && t.burst == 3 && t.tokens_per_min == 20000);
    assert_int_equal(t.concurrent, 2);
    t = tier(" pro :requests=100");
    assert_true(t.burst == 100 && t.tokens_per_min == 0 && t.concurrent == 0);
    t = tier("any:");
    assert_true(t.requests_per_s == 0);
    static const char *const bad[] = {"",
                                      "free",
                                      ": requests=1",
                                      "a b: requests=1",
                                      ".x: requests=1",
                                      "free: requests",
                                      "free: requests=",
                                      "free: requests=x",
                                      "free: requests=-1",
                                      "free: requests=nan",
                                      "free: requests=inf",
                                      "free: requests=1x",
                                      "free: request=1",
                                      "free: burst=.5",
                                      "free: concurrent=1e9",
                                      "free: concurrent=.5",
                                      "free: concurrent=2.5",
                                      "free: requests=1, requests=2",
                                      "free: concurrent=2, burst=3, concurrent=2"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        fo_err err = {0};
        if (rate_tier_read(&t, bad[i], &err) != FO_EINVAL) fail_msg("'%s' is taken", bad[i]);
        assert_string_equal(err.field, "tier");
    }
    rate_limits *l = NULL;
    rate_tier twice[2] = {tier("a:"), tier("a:")};
    assert_int_equal(rate_limits_create(&l, twice, 2, NULL), FO_EINVAL);
}

static rate_limits *limits(const char *text) {
    rate_limits *l;
    fo_err err = {0};
    rate_tier t = tier(text);
    assert_ok(rate_limits_create(&l, &t, 1, &err), &err);
    return l;
}

static bool ask(rate_limits *l, const char *who, rate_ticket *out, rate_refusal *no) {
    return rate_limits_admit(l, who, strlen(who), rate_limits_tier(l, "t"), true, out, no);
}

/* Bucket levels move by the clock alone, so slow refilling is what can be relied on. */
static void each_limit_refuses_by_its_name(void **state) {
    (void)state;
    rate_ticket t;
    rate_refusal no = {0};
    rate_limits *l = limits("t: requests=.001, burst=3");
    for (int i = 0; i < 3; i++) {
        assert_true(ask(l, "a", &t, &no));
        rate_limits_done(l, &t);
    }
    assert_false(ask(l, "a", &t, &no));
    assert_int_equal(no.limit, RATE_REQUESTS);
    assert_true(no.retry_s > 900 && no.retry_s <= 1000);
    assert_true(ask(l, "b", &t, &no)); /* another has its own */
    rate_limits_done(l, &t);
    rate_limits_free(l);

    l = limits("t: tokens=1");
    assert_true(ask(l, "a", &t, &no));
    rate_limits_charge(l, &t, 61); /* the last may take more than is left */
    rate_limits_done(l, &t);
    assert_false(ask(l, "a", &t, &no));
    assert_int_equal(no.limit, RATE_TOKENS);
    assert_true(no.retry_s > 3500 && no.retry_s <= 3661);
    assert_true(
        rate_limits_admit(l, "a", 1, rate_limits_tier(l, "t"), false, &t, &no)); /* takes none */
    rate_limits_done(l, &t);
    rate_limits_free(l);

    l = limits("t: concurrent=2");
    rate_ticket two[2];
    assert_true(ask(l, "a", &two[0], &no) && ask(l, "a", &two[1], &no));
    assert_false(ask(l, "a", &t, &no));
    assert_int_equal(no.limit, RATE_CONCURRENT);
    assert_true(ask(l, "b", &t, &no));
    rate_limits_done(l, &t);
    rate_limits_done(l, &two[0]);
    rate_limits_done(l, &two[0]); /* once is enough */
    assert_true(ask(l, "a", &two[0], &no));
    assert_false(ask(l, "a", &t, &no));
    rate_limits_done(l, &two[0]);
    rate_limits_done(l, &two[1]);
    assert_true(rate_limits_admit(l, "a", 1, NULL, true, &t, &no)); /* no tier, no limit */
    rate_limits_free(l);
}

static void no_number_of_addresses_takes_more(void **state) {
    (void)state;
    rate_limits *l = limits("t: requests=.001, burst=1, concurrent=9");
    rate_ticket held, t;
    rate_refusal no;
    assert_true(ask(l, "held", &held, &no));
    for (int i = 0; i < 3 * RATE_BUCKETS; i++) {
        char who[16];
        snprintf(who, sizeof who, "w%d", i);
        assert_true(ask(l, who, &t, &no));
        rate_limits_done(l, &t);
        if (i % 1000 == 0) assert_false(ask(l, who, &t, &no)); /* it is known */
    }
    assert_int_equal(rate_limits_count(l), RATE_BUCKETS);
    assert_false(ask(l, "held", &t, &no)); /* what is at work is not forgotten */
    assert_int_equal(no.limit, RATE_REQUESTS);
    assert_true(ask(l, "w0", &t, &no)); /* who was idle longest is */
    rate_limits_done(l, &t);
    rate_limits_done(l, &held);

    /* Where all places are at work the next is turned away, not let in uncounted. */
    rate_ticket *all = calloc(RATE_BUCKETS, sizeof *all);
    size_t n = 0;
    for (int i = 0; n < RATE_BUCKETS && i < 9 * RATE_BUCKETS; i++) {
        char who[16];
        snprintf(who, sizeof who, "x%d", i);
        n += ask(l, who, &all[n], &no);
    }
    assert_int_equal(n, RATE_BUCKETS);
    assert_false(ask(l, "late", &t, &no));
    for (size_t i = 0; i < n; i++) rate_limits_done(l, &all[i]);
    assert_true(ask(l, "late", &t, &no));
    rate_limits_done(l, &t);
    free(all);
    rate_limits_free(l);
}

static void *hammer(void *arg) {
    rate_limits *l = arg;
    uint64_t seed = (uint64_t)(uintptr_t)&seed;
    for (int i = 0; i < 20000; i++) {
        char who[16];
        snprintf(who, sizeof who, "%d", (int)(test_random(&seed) % 20000));
        rate_ticket t;
        rate_refusal no;
        if (!ask(l, who, &t, &no)) continue;
        rate_limits_charge(l, &t, 1);
        rate_limits_done(l, &t);
    }
    return NULL;
}

static void many_threads_leave_nothing_at_work(void **state) {
    (void)state;
    rate_limits *l = limits("t: concurrent=1");
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, hammer, l);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < 20000; i++) {
        char who[16];
        snprintf(who, sizeof who, "%d", i);
        rate_ticket t;
        rate_refusal no;
        assert_true(ask(l, who, &t, &no));
        rate_limits_done(l, &t);
    }
    rate_limits_free(l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiers_are_read_or_refused),
        cmocka_unit_test(each_limit_refuses_by_its_name),
        cmocka_unit_test(no_number_of_addresses_takes_more),
        cmocka_unit_test(many_threads_leave_nothing_at_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
