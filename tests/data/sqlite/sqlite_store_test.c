/* What the store of homes does beyond store.h: its file, its copies, its own check. Crashes and failing
 * disks are in sqlite_crash_test.c and sqlite_fault_test.c, damage in sqlite_damage_test.c. */
#include "tests/test.h"

#include <sqlite3.h>

#include "data/sqlite/sqlite_store.h"
#include "kernels/clock.h"
#include "kernels/page_sums.h"
#include "tests/data/store/store_fixture.h"

typedef struct env {
    char *dir;
    char path[4096];
    store *s;
    store_collection c;
} env;

static env open_env(void) {
    env e = {.dir = test_folder()};
    fo_err err = {0};
    snprintf(e.path, sizeof e.path, "%s/forage.db", e.dir);
    assert_ok(sqlite_store_open(&e.s, e.path, NULL, &err), &err);
    assert_ok(store_create_collection(e.s, "acme", "docs", NULL, &e.c, &err), &err);
    return e;
}

static void close_env(env *e) {
    fo_err err = {0};
    assert_ok(store_verify(e->s, &err), &err);
    store_collection_deinit(&e->c);
    store_close(e->s);
    test_remove(e->dir);
}

static void the_query_log_takes_batches(void **state) {
    (void)state;
    env e = open_env();
    fo_err err = {0};
    store_query_log rows[] = {
        {1000, "acme", "docs", "why?", "answered", "extractive", 3.5, 4, false, {{0}}, {0}},
        {1001, "acme", "docs", NULL, "abstained", NULL, 1.5, 0, true, {{0}}, {0}},
    };
    assert_ok(store_log_queries(e.s, rows, 2, &err), &err);
    sqlite3 *db;
    sqlite3_stmt *st;
    assert_int_equal(sqlite3_open(e.path, &db), SQLITE_OK);
    sqlite3_prepare_v2(db, "SELECT count(*), count(query), sum(cache_hit) FROM query_log", -1, &st,
                       NULL);
    assert_int_equal(sqlite3_step(st), SQLITE_ROW);
    assert_int_equal(sqlite3_column_int(st, 0), 2);
    assert_int_equal(sqlite3_column_int(st, 1), 1);
    assert_int_equal(sqlite3_column_int(st, 2), 1);
    sqlite3_finalize(st);
    sqlite3_close(db);
    close_env(&e);
}

static void a_backup_is_one_whole_database(void **state) {
    (void)state;
    env e = open_env();
    fo_err err = {0};
    uint64_t seed = test_seed();
    fixture_document d;
    fixture_make(&d, e.c.id, 7, 200000, &seed);
    store_put_result res;
    assert_ok(fixture_put(e.s, &d, &res, &err), &err);
    char path[4200], wal[4300];
    snprintf(path, sizeof path, "%s/copy.db", e.dir);
    snprintf(wal, sizeof wal, "%s-wal", path);
    assert_ok(store_backup(e.s, path, NULL, &err), &err);
    assert_int_not_equal(access(wal, F_OK), 0);
    store *copy;
    assert_ok(sqlite_store_open(&copy, path, NULL, &err), &err);
    assert_ok(store_verify(copy, &err), &err);
    store_document got;
    assert_ok(store_get_document(copy, e.c.id, d.id, true, &got, &err), &err);
    assert_memory_equal(got.text, d.text, d.in.text_len);
    store_document_deinit(&got);
    store_close(copy);
    assert_int_equal(store_backup(e.s, "/nonexistent-folder/x.db", NULL, &err), FO_EIO);
    fixture_free(&d);
    close_env(&e);
}

static void a_strange_or_newer_database_is_refused(void **state) {
    (void)state;
    env e = open_env();
    fo_err err = {0};
    store *s = NULL;
    store_close(e.s);
    sqlite3 *db;
    const char *vfs = fo_page_sums_vfs(NULL);
    assert_int_equal(sqlite3_open_v2(e.path, &db, SQLITE_OPEN_READWRITE, vfs), SQLITE_OK);
    sqlite3_exec(db, "PRAGMA user_version = 999", NULL, NULL, NULL);
    sqlite3_close(db);
    assert_int_equal(sqlite_store_open(&s, e.path, NULL, &err), FO_EMISMATCH);
    assert_non_null(strstr(err.msg, "999"));
    assert_int_equal(sqlite3_open_v2(e.path, &db, SQLITE_OPEN_READWRITE, vfs), SQLITE_OK);
    sqlite3_exec(db, "PRAGMA user_version = 1; PRAGMA application_id = 0", NULL, NULL, NULL);
    sqlite3_close(db);
    assert_int_equal(sqlite_store_open(&s, e.path, NULL, &err), FO_EMISMATCH);
    char other[4200];
    snprintf(other, sizeof other, "%s/not-a-database", e.dir);
    FILE *f = fopen(other, "w");
    for (int i = 0; i < 2000; i++) fputs("this is no database\n", f);
    fclose(f);
    assert_int_equal(sqlite_store_open(&s, other, NULL, &err), FO_ECORRUPT);
    sqlite_options ro = {.store.read_only = true};
    snprintf(other, sizeof other, "%s/absent.db", e.dir);
    assert_int_equal(sqlite_store_open(&s, other, &ro, &err), FO_EIO);
    assert_int_not_equal(access(other, F_OK), 0);
    store_collection_deinit(&e.c);
    test_remove(e.dir);
}

static void damage_is_found_by_verify(void **state) {
    (void)state;
    static const char *const harm[] = {
        "UPDATE collections SET n_chunks = n_chunks + 1",
        "UPDATE documents SET text_bytes = text_bytes + 1",
        "DELETE FROM texts",
        "DELETE FROM embeddings WHERE chunk = (SELECT min(chunk) FROM embeddings)",
        "UPDATE embeddings SET vector = x'00'",
        "UPDATE chunks SET stop = 999999999",
        "DELETE FROM documents", /* without cascades: foreign keys are off here */
    };
    for (size_t i = 0; i < sizeof harm / sizeof *harm; i++) {
        env e = open_env();
        fo_err err = {0};
        uint64_t seed = 5;
        fixture_document d;
        fixture_make(&d, e.c.id, 7, 5000, &seed);
        store_put_result res;
        assert_ok(fixture_put(e.s, &d, &res, &err), &err);
        fixture_free(&d);
        assert_ok(store_verify(e.s, &err), &err);
        sqlite3 *db;
        assert_int_equal(sqlite3_open(e.path, &db), SQLITE_OK);
        assert_int_equal(sqlite3_exec(db, harm[i], NULL, NULL, NULL), SQLITE_OK);
        sqlite3_close(db);
        assert_int_equal(store_verify(e.s, &err), FO_ECORRUPT);
        store_collection_deinit(&e.c);
        store_close(e.s);
        test_remove(e.dir);
    }
}

static void eight_chunks_are_read_quickly_from_a_long_document(void **state) {
    (void)state;
    env e = open_env();
    fo_err err = {0};
    uint64_t seed = test_seed();
    fixture_document d;
    fixture_make(&d, e.c.id, 1, 20 << 20, &seed);
    store_put_result res;
    assert_ok(fixture_put(e.s, &d, &res, &err), &err);
    enum { ROUNDS = 301 };
    double took[ROUNDS];
    for (int r = 0; r < ROUNDS; r++) {
        int64_t ids[8];
        for (int i = 0; i < 8; i++)
            ids[i] = res.first_chunk + (int64_t)(test_random(&seed) % d.n_chunks);
        store_chunk got[8];
        double t0 = fo_now_ms();
        assert_ok(store_get_chunks(e.s, ids, 8, got, &err), &err);
        took[r] = fo_now_ms() - t0;
        for (int i = 0; i < 8; i++) store_chunk_deinit(&got[i]);
    }
    for (int i = 1; i < ROUNDS; i++)
        for (int j = i; j > 0 && took[j] < took[j - 1]; j--) {
            double swap = took[j];
            took[j] = took[j - 1];
            took[j - 1] = swap;
        }
    print_message("# 8 chunks of a 20 MiB document: p50 %.3f ms, p99 %.3f ms\n", took[ROUNDS / 2],
                  took[ROUNDS * 99 / 100]);
    assert_true(took[ROUNDS / 2] < 5.0); /* a busy machine or a sanitizer: far from 1 ms, not 50 */
    fixture_free(&d);
    close_env(&e);
}

static void the_log_goes_into_the_database(void **state) {
    (void)state;
    env e = open_env();
    fo_err err = {0};
    assert_ok(sqlite_checkpoint(e.s, &err), &err);
    assert_true(store_free_disk_bytes(e.s) > 0);
    assert_true(store_n_bytes(e.s) > 0);
    close_env(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_query_log_takes_batches),
        cmocka_unit_test(a_backup_is_one_whole_database),
        cmocka_unit_test(a_strange_or_newer_database_is_refused),
        cmocka_unit_test(damage_is_found_by_verify),
        cmocka_unit_test(eight_chunks_are_read_quickly_from_a_long_document),
        cmocka_unit_test(the_log_goes_into_the_database),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
