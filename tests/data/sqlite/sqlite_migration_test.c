/* Databases of every earlier schema (older_schemas.h) are brought up to this one, documents, vectors and counts
 * unharmed; that the first of them is the released schema is held against data/sqlite/schema.sql. */
#include "tests/test.h"

#include <sqlite3.h>

#include "data/sqlite/sqlite_store.h"
#include "kernels/buf.h"
#include "kernels/file.h"
#include "kernels/page_sums.h"
#include "tests/data/sqlite/older_schemas.h"
#include "tests/data/store/store_fixture.h"

enum { DOCUMENTS = 7 };

static sqlite3 *open_raw(const char *path) {
    return schema_open(path, fo_page_sums_vfs(NULL));
}

static void go_back(const char *path, int version) {
    schema_go_back(path, version, fo_page_sums_vfs(NULL));
}

/* Tables, their columns in order of name, indexes and triggers. Caller frees. */
static char *shape_of(sqlite3 *db) {
    fo_buf b = {0};
    sqlite3_stmt *st;
    assert_int_equal(sqlite3_prepare_v2(
                         db,
                         "SELECT s.type, s.name, c.name, c.type, c.\"notnull\", c.dflt_value, c.pk "
                         "FROM sqlite_schema s LEFT JOIN pragma_table_info(s.name) c "
                         "WHERE s.name NOT LIKE 'sqlite_%' ORDER BY s.type, s.name, c.name",
                         -1, &st, NULL),
                     SQLITE_OK);
    while (sqlite3_step(st) == SQLITE_ROW) {
        for (int i = 0; i < 7; i++)
            fo_buf_printf(&b, "%s|", (const char *)sqlite3_column_text(st, i));
        fo_buf_char(&b, '\n');
    }
    sqlite3_finalize(st);
    return fo_buf_take(&b, NULL);
}

static char *shape_at(const char *path) {
    sqlite3 *db = open_raw(path);
    char *shape = shape_of(db);
    sqlite3_close(db);
    return shape;
}

static char *make_home(char path[4200], store_collection *c) {
    char *dir = test_folder();
    fo_err err = {0};
    store *s;
    snprintf(path, 4200, "%s/forage.db", dir);
    assert_ok(sqlite_store_open(&s, path, NULL, &err), &err);
    assert_ok(store_create_collection(s, "t", "docs", NULL, c, &err), &err);
    for (size_t k = 0; k < DOCUMENTS; k++) {
        uint64_t content = k;
        fixture_document d;
        store_put_result res;
        fixture_make(&d, c->id, k, 900 + k * 30000, &content); /* the last of several pieces */
        assert_ok(fixture_put(s, &d, &res, &err), &err);
        free(res.removed);
        fixture_free(&d);
    }
    store_close(s);
    return dir;
}

static void expect_documents(store *s, const store_collection *c) {
    fo_err err = {0};
    for (size_t k = 0; k < DOCUMENTS; k++) {
        uint64_t content = k;
        fixture_document d;
        store_document got;
        fixture_make(&d, c->id, k, 900 + k * 30000, &content);
        assert_ok(store_get_document(s, c->id, d.id, true, &got, &err), &err);
        assert_int_equal(got.text_bytes, d.in.text_len);
        assert_memory_equal(got.text, d.text, d.in.text_len);
        assert_string_equal(got.title, d.title);
        assert_string_equal(got.metadata, d.in.metadata);
        bool same = false;
        size_t n;
        assert_ok(store_document_unchanged(s, c->id, d.id, d.in.content_sha256, &same, &n, &err),
                  &err);
        assert_true(same);
        assert_int_equal(n, d.n_chunks);
        store_document_deinit(&got);
        fixture_free(&d);
    }
}

static int count_vectors(void *ctx, const store_index_row *row) {
    assert_false(row->damaged);
    assert_non_null(row->vector);
    assert_int_equal(row->dim, FIXTURE_DIM);
    ++*(size_t *)ctx;
    return FO_OK;
}

/* What was told of a migration. */
typedef struct told {
    int n;
    char text[1024];
} told;

static void hear(void *ctx, const char *kind, const char *text) {
    told *t = ctx;
    assert_string_equal(kind, "schema_migrated");
    t->n++;
    snprintf(t->text, sizeof t->text, "%s", text);
}

static void expect_told(const told *t, const char *path, int from) {
    char want[4300];
    snprintf(want, sizeof want, "%s was brought from schema version %d to %d:", path, from,
             SCHEMA_NOW);
    assert_int_equal(t->n, 1);
    if (strncmp(t->text, want, strlen(want)) != 0) fail_msg("%s, not %s", t->text, want);
}

static void every_earlier_schema_is_brought_up_to_this_one(void **state) {
    (void)state;
    for (int version = SCHEMA_NOW - 1; version >= 1; version--) {
        char path[4200];
        store_collection c, now;
        fo_err err = {0};
        char *dir = make_home(path, &c), *fresh = shape_at(path);
        go_back(path, version);
        store *s = NULL;
        sqlite_options read_only = {.store.read_only = true};
        assert_int_equal(sqlite_store_open(&s, path, &read_only, &err), FO_EMISMATCH);
        assert_non_null(strstr(err.msg, "older schema"));
        told heard = {0};
        sqlite_options watched = {.store.notices = {hear, &heard}};
        assert_ok(sqlite_store_open(&s, path, &watched, &err), &err);
        expect_told(&heard, path, version);
        if (store_verify(s, &err)) fail_msg("from version %d: %s", version, err.msg);
        expect_documents(s, &c);
        assert_ok(store_get_collection(s, "t", "docs", &now, &err), &err);
        assert_int_equal(now.n_documents, DOCUMENTS);
        assert_int_equal(now.epoch, DOCUMENTS);
        size_t n_vectors = 0;
        assert_ok(store_each_chunk(s, c.id, 0, count_vectors, &n_vectors, NULL, &err), &err);
        assert_int_equal(n_vectors, now.n_chunks);
        store_collection_deinit(&now);
        fixture_document d; /* and it goes on */
        store_put_result res;
        uint64_t seed = 99;
        fixture_make(&d, c.id, 99, 5000, &seed);
        assert_ok(fixture_put(s, &d, &res, &err), &err);
        assert_ok(store_verify(s, &err), &err);
        fixture_free(&d);
        store_close(s);
        assert_ok(sqlite_store_open(&s, path, &watched, &err), &err);
        assert_int_equal(heard.n, 1); /* once */
        store_close(s);
        char *shape = shape_at(path);
        assert_string_equal(shape, fresh);
        free(shape);
        free(fresh);
        store_collection_deinit(&c);
        test_remove(dir);
    }
}

static void the_first_of_them_is_the_released_one(void **state) {
    (void)state;
    char path[4200], other[4300], *sql;
    size_t n;
    store_collection c;
    fo_err err = {0};
    char *dir = make_home(path, &c);
    go_back(path, 1);
    assert_ok(fo_file_read("data/sqlite/schema.sql", 1 << 20, &sql, &n, &err), &err);
    snprintf(other, sizeof other, "%s/first.db", dir);
    sqlite3 *db = open_raw(other);
    schema_run(db, sql);
    sqlite3_close(db);
    char *ours = shape_at(path), *released = shape_at(other);
    assert_string_equal(ours, released);
    free(ours), free(released), free(sql);
    store_collection_deinit(&c);
    test_remove(dir);
}

/* A migration that does not get to its end leaves the old version, whole. */
static void half_a_migration_is_none(void **state) {
    (void)state;
    char path[4200];
    store_collection c;
    fo_err err = {0};
    char *dir = make_home(path, &c);
    go_back(path, 2);
    sqlite3 *db = open_raw(path);
    schema_run(db, "CREATE TABLE sources (x)"); /* step 5 fails, after 3 and 4 went well */
    char *before = shape_of(db);
    sqlite3_close(db);
    store *s = NULL;
    told heard = {0};
    sqlite_options watched = {.store.notices = {hear, &heard}};
    assert_true(sqlite_store_open(&s, path, &watched, &err) != FO_OK);
    assert_int_equal(heard.n, 0);
    char *after = shape_at(path);
    assert_string_equal(after, before);
    db = open_raw(path);
    schema_run(db, "DROP TABLE sources");
    sqlite3_close(db);
    assert_ok(sqlite_store_open(&s, path, NULL, &err), &err);
    assert_ok(store_verify(s, &err), &err);
    expect_documents(s, &c);
    store_close(s);
    free(before), free(after);
    store_collection_deinit(&c);
    test_remove(dir);
}

static void a_new_one_was_not_brought_up_to_date(void **state) {
    (void)state;
    char *dir = test_folder(), path[4200];
    fo_err err = {0};
    store *s;
    told heard = {0};
    sqlite_options watched = {.store.notices = {hear, &heard}};
    snprintf(path, sizeof path, "%s/forage.db", dir);
    assert_ok(sqlite_store_open(&s, path, &watched, &err), &err);
    store_close(s);
    assert_int_equal(heard.n, 0);
    test_remove(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_earlier_schema_is_brought_up_to_this_one),
        cmocka_unit_test(the_first_of_them_is_the_released_one),
        cmocka_unit_test(half_a_migration_is_none),
        cmocka_unit_test(a_new_one_was_not_brought_up_to_date),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
