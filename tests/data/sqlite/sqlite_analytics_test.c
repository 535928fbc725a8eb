/* The sums of the query log: cache layers and latencies by minute, hour and day. */
#include "tests/test.h"
#include "tests/data/sqlite/older_schemas.h"

#include <math.h>
#include <sqlite3.h>

#include "data/sqlite/sqlite_store.h"
#include "kernels/page_sums.h"

#define DAY INT64_C(86400)

typedef struct env {
    char *folder, path[4096];
    store *s;
} env;

static void open_store(env *e) {
    fo_err err = {0};
    assert_ok(sqlite_store_open(&e->s, e->path, NULL, &err), &err);
}

static env make_env(void) {
    env e = {.folder = test_folder()};
    snprintf(e.path, sizeof e.path, "%s/forage.db", e.folder);
    open_store(&e);
    return e;
}

static void drop_env(env *e) {
    store_close(e->s);
    test_remove(e->folder);
}

static store_query_log row(const char *tenant, int64_t t_s) {
    return (store_query_log){.t_ms = t_s * 1000 + 1,
                             .tenant = tenant,
                             .collection = "notes",
                             .query = "why?",
                             .status = "answered",
                             .answer_source = "extractive",
                             .total_ms = 1};
}

static void log_one(env *e, store_query_log r) {
    fo_err err = {0};
    assert_ok(store_log_queries(e->s, &r, 1, &err), &err);
}

static void every_layer_is_summed_by_step_and_tenant(void **state) {
    (void)state;
    env e = make_env();
    fo_err err = {0};
    const int64_t t0 = 20000 * DAY;
    for (int i = 0; i < 120; i++) { /* a row a minute over two hours */
        store_query_log r = row("acme", t0 + 60 * i);
        for (int k = 0; k < STORE_N_LAYERS; k++)
            r.layers[k] = (store_layer_use){.lookups = k + 1,
                                            .hits = i % 2 ? k : 0,
                                            .saved_ms = 0.5 * k,
                                            .saved_tokens = 10 * k};
        log_one(&e, r);
    }
    store_query_log other = row("globex", t0);
    other.layers[STORE_LAYER_KV_DISK].lookups = 1000;
    log_one(&e, other);
    static const int64_t steps[] = {60, 300, 3600, 7200, DAY};
    static const size_t points[] = {120, 24, 2, 1, 1};
    for (int i = 0; i < 5; i++) {
        store_rollup *list;
        size_t n;
        assert_ok(store_cache_series(e.s, "acme", t0, steps[i], &list, &n, &err), &err);
        assert_int_equal(n, points[i] * STORE_N_LAYERS);
        int64_t lookups[STORE_N_LAYERS] = {0}, hits[STORE_N_LAYERS] = {0};
        int64_t tokens[STORE_N_LAYERS] = {0};
        double ms[STORE_N_LAYERS] = {0};
        for (size_t k = 0; k < n; k++) {
            assert_true(list[k].t_s % steps[i] == 0 || steps[i] == 7200);
            lookups[list[k].layer] += list[k].lookups;
            hits[list[k].layer] += list[k].hits;
            tokens[list[k].layer] += list[k].saved_tokens;
            ms[list[k].layer] += list[k].saved_ms;
        }
        for (int k = 0; k < STORE_N_LAYERS; k++) {
            assert_int_equal(lookups[k], 120 * (k + 1));
            assert_int_equal(hits[k], 60 * k);
            assert_int_equal(tokens[k], 1200 * k);
            assert_float_equal(ms[k], 60.0 * k, 1e-6);
        }
        free(list);
    }
    drop_env(&e);
}

static void quantiles_are_within_their_bound_of_the_exact_ones(void **state) {
    (void)state;
    env e = make_env();
    fo_err err = {0};
    uint64_t rng = test_seed();
    enum { N = 2000 };
    static double ms[N];
    const int64_t t0 = 20000 * DAY;
    store_query_log *rows = calloc(N, sizeof *rows);
    assert_non_null(rows);
    for (int i = 0; i < N; i++) {
        ms[i] = exp(8 * test_uniform(&rng) - 2); /* .14 ms .. 400 ms */
        rows[i] = row("acme", t0 + i % 3600);
        rows[i].stage_ms[STORE_STAGE_TOTAL] = ms[i];
        if (i % 4 == 0) rows[i].stage_ms[STORE_STAGE_DENSE] = 2.5;
    }
    for (int i = 0; i < N; i += 100) assert_ok(store_log_queries(e.s, rows + i, 100, &err), &err);
    free(rows);
    double sum = 0;
    for (int i = 0; i < N; i++) sum += ms[i];
    for (int i = 1; i < N; i++) /* sorted */
        for (int k = i; k > 0 && ms[k] < ms[k - 1]; k--) {
            double swap = ms[k];
            ms[k] = ms[k - 1], ms[k - 1] = swap;
        }
    store_latency *list;
    size_t n;
    assert_ok(store_latency_series(e.s, "acme", t0, 3600, &list, &n, &err), &err);
    assert_int_equal(n, 2);
    for (size_t i = 0; i < n; i++) {
        if (list[i].stage == STORE_STAGE_DENSE) {
            assert_int_equal(list[i].count, N / 4);
            assert_float_equal(list[i].mean_ms, 2.5, 1e-9);
            assert_true(fabs(list[i].p95_ms / 2.5 - 1) < 0.095);
            continue;
        }
        assert_int_equal(list[i].stage, STORE_STAGE_TOTAL);
        assert_int_equal(list[i].count, N);
        assert_float_equal(list[i].mean_ms, sum / N, 1e-6);
        double exact[] = {ms[N / 2 - 1], ms[N * 95 / 100 - 1], ms[N * 99 / 100 - 1]};
        double got[] = {list[i].p50_ms, list[i].p95_ms, list[i].p99_ms};
        for (int k = 0; k < 3; k++)
            if (fabs(got[k] / exact[k] - 1) > 0.095)
                fail_msg("quantile %d is %g, exactly %g", k, got[k], exact[k]);
    }
    free(list);
    /* the whole time as one step, out of the sums by day that are left of so long ago */
    assert_ok(store_latency_series(e.s, "acme", t0, 0, &list, &n, &err), &err);
    assert_int_equal(n, 2);
    assert_int_equal(list[0].count + list[1].count, N + N / 4);
    free(list);
    drop_env(&e);
}

static size_t count_of(env *e, int64_t step_s) {
    store_rollup *caches;
    store_latency *times;
    size_t n, m;
    fo_err err = {0};
    assert_ok(store_cache_series(e->s, "acme", 0, step_s, &caches, &n, &err), &err);
    assert_ok(store_latency_series(e->s, "acme", 0, step_s, &times, &m, &err), &err);
    assert_int_equal(n, m); /* one layer, one stage in each row here */
    free(caches);
    free(times);
    return n;
}

static void old_minutes_hours_days_and_questions_go(void **state) {
    (void)state;
    env e = make_env();
    fo_err err = {0};
    const int64_t now = 20000 * DAY;
    static const int64_t days_ago[] = {0, 1, 3, 29, 31, 59, 61, 729, 731};
    for (size_t i = 0; i < sizeof days_ago / sizeof *days_ago; i++) {
        store_query_log r = row("acme", now - days_ago[i] * DAY + 120);
        r.layers[STORE_LAYER_ANSWER].lookups = 1;
        r.stage_ms[STORE_STAGE_TOTAL] = 1;
        log_one(&e, r);
    }
    assert_int_equal(count_of(&e, 60), 9);
    assert_ok(store_trim_analytics(e.s, now * 1000, &err), &err);
    assert_int_equal(count_of(&e, 60), 2);   /* 2 days */
    assert_int_equal(count_of(&e, 3600), 6); /* 60 days */
    assert_int_equal(count_of(&e, DAY), 8);  /* 730 days */
    store_query_row *rows;
    size_t n;
    assert_ok(store_list_queries(e.s, "acme", NULL, 0, STORE_QUERIES_HOT, 10, &rows, &n, &err),
              &err);
    assert_int_equal(n, 1);
    assert_int_equal(rows[0].count, 4); /* 30 days */
    store_query_rows_free(rows, n);
    store_close(e.s);
    open_store(&e); /* what is left lasts */
    assert_int_equal(count_of(&e, DAY), 8);
    drop_env(&e);
}

static void a_home_from_before_latencies_were_kept_is_brought_up_to_date(void **state) {
    (void)state;
    env e = make_env();
    store_query_log r = row("acme", 20000 * DAY);
    r.layers[STORE_LAYER_ANSWER].lookups = 1;
    log_one(&e, r);
    store_close(e.s);
    schema_go_back(e.path, 1, fo_page_sums_vfs(NULL));
    open_store(&e);
    r.stage_ms[STORE_STAGE_TOTAL] = 1;
    log_one(&e, r);
    assert_int_equal(count_of(&e, DAY), 1);
    drop_env(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_layer_is_summed_by_step_and_tenant),
        cmocka_unit_test(quantiles_are_within_their_bound_of_the_exact_ones),
        cmocka_unit_test(old_minutes_hours_days_and_questions_go),
        cmocka_unit_test(a_home_from_before_latencies_were_kept_is_brought_up_to_date),
    };
    return cmocka_run_group_tests_name("store_analytics", tests, NULL, NULL);
}
