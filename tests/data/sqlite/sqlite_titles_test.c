/* sqlite_titles_test.c - vectors of titles: which are missing, what becomes of them when a document is replaced, renamed or
 * deleted, another embedder's, and those that are damaged. */
#include "tests/test.h"

#include <sqlite3.h>

#include "data/sqlite/sqlite_store.h"
#include "kernels/page_sums.h"
#include "tests/data/store/store_fixture.h"

enum { DIM = 4, DOCUMENTS = 5 };
static const char one[] = "1111111111111111111111111111111111111111111111111111111111111111",
                  two[] = "2222222222222222222222222222222222222222222222222222222222222222";

typedef struct env {
    char *dir, path[4200];
    store *s;
    store_collection c;
    fo_err err;
    uint64_t seed;
} env;

/* Was it there by another title? */
static bool put_document(env *e, size_t number, const char *title) {
    fixture_document d;
    store_txn *t;
    store_put_result r;
    fixture_make(&d, e->c.id, number, 900, &e->seed);
    d.in.title = title;
    assert_ok(store_begin(e->s, &t, &e->err), &e->err);
    assert_ok(store_put_document(t, &d.in, d.chunks, d.n_chunks, &r, &e->err), &e->err);
    assert_ok(store_commit(t, &e->err), &e->err);
    free(r.removed);
    fixture_free(&d);
    return r.retitled;
}

static env begin(void) {
    env e = {.dir = test_folder(), .seed = test_seed()};
    snprintf(e.path, sizeof e.path, "%s/forage.db", e.dir);
    assert_ok(sqlite_store_open(&e.s, e.path, NULL, &e.err), &e.err);
    assert_ok(store_create_collection(e.s, "acme", "docs", "english", &e.c, &e.err), &e.err);
    for (size_t i = 0; i < DOCUMENTS; i++) put_document(&e, i, i == 3 ? "" : "some title");
    put_document(&e, 4, NULL);
    return e;
}

static void end(env *e) {
    store_collection_deinit(&e->c);
    store_close(e->s);
    test_remove(e->dir);
}

static size_t missing(env *e, const char *embedder, store_title *out, size_t most) {
    store_title *titles;
    size_t n;
    assert_ok(store_titles_to_embed(e->s, e->c.id, embedder, 0, most, &titles, &n, &e->err),
              &e->err);
    for (size_t i = 0; i < n; i++) {
        assert_true(!i || titles[i].document > titles[i - 1].document);
        if (out)
            out[i] = titles[i];
        else
            free(titles[i].text);
    }
    free(titles);
    return n;
}

static void put_vectors(env *e, const char *embedder, const store_title *titles, size_t n) {
    float v[DOCUMENTS * DIM];
    store_txn *t;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < DIM; j++) v[i * DIM + j] = (float)titles[i].document + (float)j / 8;
    assert_ok(store_begin(e->s, &t, &e->err), &e->err);
    assert_ok(store_put_title_vectors(t, "acme", embedder, titles, v, n, DIM, &e->err), &e->err);
    assert_ok(store_commit(t, &e->err), &e->err);
}

static int count_vector(void *ctx, int64_t document, const float *v, uint32_t dim) {
    size_t *n = ctx;
    assert_int_equal(dim, DIM);
    for (size_t j = 0; j < DIM; j++)
        assert_true(v[j] == (float)document + (float)j / 8); /* as it was given */
    ++*n;
    return 0;
}

static size_t there(env *e, const char *embedder) {
    size_t n = 0;
    assert_ok(store_each_title_vector(e->s, e->c.id, embedder, count_vector, &n, &e->err), &e->err);
    return n;
}

static void titles_without_a_vector_are_listed_and_get_one(void **state) {
    (void)state;
    env e = begin();
    store_title titles[DOCUMENTS];
    assert_int_equal(missing(&e, one, NULL, 2), 2);    /* no more than were asked for */
    assert_int_equal(missing(&e, one, titles, 99), 3); /* "" and none are no titles */
    assert_string_equal(titles[0].text, "some title");
    put_vectors(&e, one, titles, 2);
    assert_int_equal(there(&e, one), 2);
    assert_int_equal(missing(&e, one, NULL, 99), 1);
    assert_int_equal(missing(&e, two, NULL, 99), 3);
    assert_int_equal(there(&e, two), 0);
    put_vectors(&e, two, titles, 1); /* takes the place of the first embedder's */
    assert_int_equal(there(&e, one), 1);
    assert_int_equal(there(&e, two), 1);
    for (size_t i = 0; i < 3; i++) free(titles[i].text);
    end(&e);
}

static void what_is_replaced_renamed_or_deleted_has_none(void **state) {
    (void)state;
    env e = begin();
    store_title titles[DOCUMENTS];
    int64_t *removed;
    size_t n_removed;
    store_txn *t;
    assert_int_equal(missing(&e, one, titles, 99), 3);
    put_document(&e, 2, "another title"); /* before its vector comes */
    put_vectors(&e, one, titles, 3);
    assert_int_equal(there(&e, one), 2);
    put_document(&e, 1, "a third one"); /* after it came */
    assert_int_equal(there(&e, one), 1);
    assert_ok(store_begin(e.s, &t, &e.err), &e.err);
    assert_ok(store_delete_document(t, e.c.id, "doc-0", &removed, &n_removed, &e.err), &e.err);
    assert_ok(store_commit(t, &e.err), &e.err);
    free(removed);
    assert_int_equal(there(&e, one), 0);
    put_vectors(&e, one, titles, 3); /* gone, or called otherwise: nothing is stored */
    assert_int_equal(there(&e, one), 0);
    assert_ok(store_verify(e.s, &e.err), &e.err);
    for (size_t i = 0; i < 3; i++) free(titles[i].text);
    end(&e);
}

static void run_sql(env *e, const char *sql) {
    sqlite3 *db;
    assert_int_equal(sqlite3_open_v2(e->path, &db, SQLITE_OPEN_READWRITE, fo_page_sums_vfs(NULL)),
                     SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

/* What a title says that cannot be trusted is told as another one. */
static void a_damaged_title_is_not_taken_for_the_same(void **state) {
    (void)state;
    env e = begin();
    store_close(e.s);
    run_sql(&e, "UPDATE documents SET title = 'sane title' WHERE name = 'doc-1'");
    assert_ok(sqlite_store_open(&e.s, e.path, NULL, &e.err), &e.err);
    assert_true(put_document(&e, 1, "sane title"));
    assert_false(put_document(&e, 1, "sane title"));
    end(&e);
}

static void a_damaged_one_is_passed_over_and_found(void **state) {
    (void)state;
    env e = begin();
    store_title titles[DOCUMENTS];
    assert_int_equal(missing(&e, one, titles, 99), 3);
    put_vectors(&e, one, titles, 3);
    assert_ok(store_verify(e.s, &e.err), &e.err);
    store_close(e.s);
    char sql[120];
    snprintf(sql, sizeof sql,
             "UPDATE title_vectors SET vector = zeroblob(16) WHERE document = %lld",
             (long long)titles[1].document);
    run_sql(&e, sql);
    assert_ok(sqlite_store_open(&e.s, e.path, NULL, &e.err), &e.err);
    assert_int_equal(there(&e, one), 2);
    assert_int_equal(store_verify(e.s, &e.err), FO_ECORRUPT);
    assert_non_null(strstr(e.err.msg, "title"));
    put_document(&e, 1, "some title"); /* brought in again */
    assert_ok(store_verify(e.s, &e.err), &e.err);
    for (size_t i = 0; i < 3; i++) free(titles[i].text);
    end(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(titles_without_a_vector_are_listed_and_get_one),
        cmocka_unit_test(what_is_replaced_renamed_or_deleted_has_none),
        cmocka_unit_test(a_damaged_title_is_not_taken_for_the_same),
        cmocka_unit_test(a_damaged_one_is_passed_over_and_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
