/* The query log: a disk that hangs, text that is not kept, tenants apart. */
#include "tests/test.h"

#include "kernels/clock.h"
#include "retrieval/service/activity.h"
#include "retrieval/service/service_store.h"
#include "server/routes/query_log.h"

static store_query_log row(const char *tenant) {
    return (store_query_log){.t_ms = fo_unix_ms(),
                             .tenant = tenant,
                             .collection = "notes",
                             .query = "why?",
                             .status = "answered",
                             .answer_source = "extractive",
                             .total_ms = 1,
                             .layers = {{.lookups = 1, .hits = 1, .saved_ms = 2},
                                        [STORE_LAYER_KV_DISK] = {.lookups = 1, .saved_tokens = 3}}};
}

static store_rollup sum(service *s, const char *tenant, enum store_cache_layer layer) {
    fo_err err = {0};
    store_rollup *list, all = {0};
    size_t n;
    assert_ok(service_cache_series(s, tenant, 0, 86400, &list, &n, &err), &err);
    for (size_t i = 0; i < n; i++) {
        if (list[i].layer != layer) continue;
        all.lookups += list[i].lookups;
        all.hits += list[i].hits;
        all.saved_ms += list[i].saved_ms;
        all.saved_tokens += list[i].saved_tokens;
    }
    free(list);
    return all;
}

static int64_t logged(service *s, const char *tenant) {
    fo_err err = {0};
    store_query_row *rows;
    size_t n;
    assert_ok(service_list_queries(s, tenant, NULL, 0, STORE_QUERIES_HOT, 10, &rows, &n, &err),
              &err);
    int64_t count = n ? rows[0].count : 0;
    store_query_rows_free(rows, n);
    return count;
}

static void a_stuck_disk_holds_up_no_query_and_loses_no_sum(void **state) {
    (void)state;
    fo_err err = {0};
    char *folder = test_folder();
    service *s;
    query_log *log;
    assert_ok(service_open(&s, &(service_options){.home = folder}, &err), &err);
    assert_ok(query_log_create(&log, s, &err), &err);
    store_txn *t; /* the log's thread waits behind this one */
    assert_ok(store_begin(service_store(s), &t, &err), &err);
    enum { N = 3 * 4096 + 100 };
    store_query_log r = row("acme");
    for (int i = 0; i < N; i++) query_log_add(log, &r);
    uint64_t dropped = query_log_dropped(log);
    /* at most two buffers are held: one fills, one waits to be written */
    assert_true(dropped >= N - 2 * 4096);
    assert_true(dropped < N);
    store_rollback(t);
    query_log_free(log); /* writes what is left */
    assert_int_equal(logged(s, "acme"), N - (int64_t)dropped);
    store_rollup answers = sum(s, "acme", STORE_LAYER_ANSWER);
    assert_int_equal(answers.lookups, N);
    assert_int_equal(answers.hits, N);
    assert_float_equal(answers.saved_ms, 2.0 * N, 1e-3);
    assert_int_equal(sum(s, "acme", STORE_LAYER_KV_DISK).saved_tokens, 3 * (int64_t)N);
    service_close(s);
    test_remove(folder);
}

static void text_may_be_absent_and_tenants_stay_apart(void **state) {
    (void)state;
    fo_err err = {0};
    char *folder = test_folder();
    service *s;
    query_log *log;
    assert_ok(service_open(&s, &(service_options){.home = folder}, &err), &err);
    assert_ok(query_log_create(&log, s, &err), &err);
    store_query_log r = row("acme"), q = row("globex");
    q.query = NULL;
    for (int i = 0; i < 3; i++) query_log_add(log, &r);
    query_log_add(log, &q);
    query_log_add(NULL, &q);
    assert_int_equal(query_log_dropped(log), 0);
    query_log_free(log);
    assert_int_equal(logged(s, "acme"), 3);
    assert_int_equal(logged(s, "globex"), 1);
    assert_int_equal(sum(s, "globex", STORE_LAYER_ANSWER).lookups, 1);
    store_query_row *rows;
    size_t n;
    assert_ok(service_list_queries(s, "globex", NULL, 0, STORE_QUERIES_SLOW, 10, &rows, &n, &err),
              &err);
    assert_int_equal(n, 1);
    assert_null(rows[0].query);
    store_query_rows_free(rows, n);
    service_close(s);
    test_remove(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stuck_disk_holds_up_no_query_and_loses_no_sum),
        cmocka_unit_test(text_may_be_absent_and_tenants_stay_apart),
    };
    return cmocka_run_group_tests_name("query_log", tests, NULL, NULL);
}
