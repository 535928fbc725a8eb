/* Sources and what is known of their files: kept, replaced, forgotten, and there after opening again; and a home from
 * before there were any. */
#include "tests/test.h"
#include "tests/data/sqlite/older_schemas.h"

#include <sqlite3.h>

#include "data/sqlite/sqlite_store.h"
#include "kernels/page_sums.h"
#include "tests/data/store/store_fixture.h"

typedef struct env {
    char *dir;
    char path[4200];
    store *s;
    fo_err err;
} env;

static void open_store(env *e) {
    assert_ok(sqlite_store_open(&e->s, e->path, NULL, &e->err), &e->err);
}

static env begin(void) {
    env e = {.dir = test_folder()};
    snprintf(e.path, sizeof e.path, "%s/forage.db", e.dir);
    open_store(&e);
    return e;
}

static void end(env *e) {
    store_close(e->s);
    test_remove(e->dir);
}

static char notes[] = "notes", folder[] = "/home/me/notes", acme[] = "acme", fault[] = "it broke",
            done[] = "{\"created\":1}", cellar[] = "cellar", reading[] = "0 ocr 1 deu";

static store_source source(const char *name) {
    return (store_source){.tenant = acme,
                          .name = (char *)name,
                          .collection = cellar,
                          .path = folder,
                          .max_tokens = 256,
                          .reading = reading,
                          .overlap = -1,
                          .started_ms = 5};
}

static store_source_file row(const char *path, int64_t size, bool stored) {
    store_source_file f = {.path = (char *)path,
                           .size = size,
                           .mtime_ns = -7,
                           .ctime_ns = INT64_MAX,
                           .inode = -1,
                           .stored = stored,
                           .error = stored ? NULL : fault};
    memset(f.sha256, (int)size, 32);
    if (stored) memset(f.content_sha256, 0, 32); /* 0 is a hash as any other */
    return f;
}

static void free_files(store_source_file *f, size_t n) {
    for (size_t i = 0; i < n; i++) store_source_file_deinit(&f[i]);
    free(f);
}

static void a_source_and_its_files_last(void **state) {
    (void)state;
    env e = begin();
    store_source out = {0}, in = source(notes);
    int64_t id = 0, other = 0, again = 0;
    assert_int_equal(store_get_source(e.s, acme, notes, &out, &e.err), FO_ENOTFOUND);
    assert_string_equal(e.err.field, "source");
    assert_ok(store_put_source(e.s, &in, &id, &e.err), &e.err);
    store_source second = source("more");
    assert_ok(store_put_source(e.s, &second, &other, &e.err), &e.err);
    assert_true(id > 0 && other > 0 && id != other);
    store_source_file files[] = {row("b", 2, true), row("a/b", 1, true), row("a", 3, false)};
    assert_ok(store_write_source_files(e.s, id, files, 3, NULL, 0, &e.err), &e.err);
    assert_ok(store_write_source_files(e.s, other, files, 1, NULL, 0, &e.err), &e.err);
    in.finished_ms = 9, in.error = fault, in.report = done;
    assert_ok(store_put_source(e.s, &in, &again, &e.err), &e.err); /* its files stay */
    assert_int_equal(again, id);
    store_close(e.s);
    open_store(&e);
    assert_ok(store_get_source(e.s, acme, notes, &out, &e.err), &e.err);
    assert_true(out.id == id && out.finished_ms == 9 && out.started_ms == 5 && out.overlap == -1);
    assert_string_equal(out.error, fault);
    assert_string_equal(out.report, done);
    assert_string_equal(out.path, folder);
    assert_string_equal(out.reading, reading);
    assert_string_equal(out.collection, cellar);
    assert_int_equal(out.n_documents, 2);
    store_source_deinit(&out);
    store_source_file *list;
    size_t n;
    assert_ok(store_list_source_files(e.s, id, &list, &n, &e.err), &e.err);
    assert_int_equal(n, 3);
    assert_string_equal(list[0].path, "a");
    assert_string_equal(list[1].path, "a/b");
    assert_string_equal(list[2].path, "b");
    assert_true(!list[0].stored && list[1].stored && list[2].stored);
    assert_string_equal(list[0].error, fault);
    assert_null(list[1].error);
    assert_true(list[1].mtime_ns == -7 && list[1].ctime_ns == INT64_MAX && list[1].inode == -1);
    assert_memory_equal(list[2].sha256, files[0].sha256, 32);
    free_files(list, n);
    const char *gone[] = {"a/b", "not there"};
    store_source_file changed = row("a", 4, true);
    assert_ok(store_write_source_files(e.s, id, &changed, 1, gone, 2, &e.err), &e.err);
    assert_ok(store_list_source_files(e.s, id, &list, &n, &e.err), &e.err);
    assert_int_equal(n, 2);
    assert_true(list[0].size == 4 && list[0].stored && !list[0].error);
    free_files(list, n);
    end(&e);
}

static void sources_are_listed_and_go_with_their_files(void **state) {
    (void)state;
    env e = begin();
    store_source *list, in = source(notes), before = source("m"), others = source("n");
    char nobody[] = "nobody";
    others.tenant = nobody;
    int64_t id, ids[2];
    size_t n;
    assert_ok(store_put_source(e.s, &in, &id, &e.err), &e.err);
    assert_ok(store_put_source(e.s, &before, &ids[0], &e.err), &e.err);
    assert_ok(store_put_source(e.s, &others, &ids[1], &e.err), &e.err);
    store_source_file file = row("a", 1, true);
    assert_ok(store_write_source_files(e.s, id, &file, 1, NULL, 0, &e.err), &e.err);
    assert_ok(store_list_sources(e.s, acme, &list, &n, &e.err), &e.err);
    assert_int_equal(n, 2);
    assert_string_equal(list[0].name, "m");
    assert_string_equal(list[1].name, notes);
    for (size_t i = 0; i < n; i++) store_source_deinit(&list[i]);
    free(list);
    assert_ok(store_delete_source(e.s, acme, notes, &e.err), &e.err);
    assert_int_equal(store_delete_source(e.s, acme, notes, &e.err), FO_ENOTFOUND);
    store_source_file *files;
    assert_ok(store_list_source_files(e.s, id, &files, &n, &e.err), &e.err);
    assert_int_equal(n, 0);
    assert_ok(store_put_source(e.s, &in, &ids[0], &e.err), &e.err);
    assert_true(ids[0] > id); /* a number is never used twice */
    end(&e);
}

static void a_home_from_before_there_were_sources_is_brought_up_to_date(void **state) {
    (void)state;
    env e = begin();
    store_collection c = {0};
    assert_ok(store_create_collection(e.s, acme, cellar, NULL, &c, &e.err), &e.err);
    uint64_t seed = test_seed();
    fixture_document d;
    fixture_make(&d, c.id, 1, 1500, &seed);
    store_txn *t;
    store_put_result put;
    assert_ok(store_begin(e.s, &t, &e.err), &e.err);
    assert_ok(store_put_document(t, &d.in, d.chunks, d.n_chunks, &put, &e.err), &e.err);
    assert_ok(store_commit(t, &e.err), &e.err);
    fixture_free(&d);
    store_close(e.s);
    schema_go_back(e.path, 4, fo_page_sums_vfs(NULL));
    open_store(&e);
    int64_t id;
    store_source in = source(notes);
    assert_ok(store_put_source(e.s, &in, &id, &e.err), &e.err);
    store_document held = {0};
    assert_ok(store_get_document(e.s, c.id, "doc-1", true, &held, &e.err), &e.err);
    assert_int_equal(held.text_bytes, 1500);
    store_document_deinit(&held);
    store_collection_deinit(&c);
    assert_ok(store_verify(e.s, &e.err), &e.err);
    end(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_source_and_its_files_last),
        cmocka_unit_test(sources_are_listed_and_go_with_their_files),
        cmocka_unit_test(a_home_from_before_there_were_sources_is_brought_up_to_date),
    };
    return cmocka_run_group_tests_name("sqlite_sources", tests, NULL, NULL);
}
