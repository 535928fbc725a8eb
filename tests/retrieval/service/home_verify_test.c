/* A home whose kept KV is damaged: a repair leaves it sound, and loses no more than what was damaged. And which collections
 * are said to be sound. */
#include "tests/test.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "engine/kv/kv_segment.h"
#include "engine/kv/kv_store.h"
#include "kernels/file.h"
#include "kernels/page_sums.h"
#include "retrieval/home/home_backup.h"
#include "retrieval/service/home_verify.h"
#include "tests/retrieval/service/home_fixture.h"

enum { RECORDS = 8, BYTES = 8192 - 512 }; /* a record each 8 KiB */

static const unsigned char model[32] = {1};
static const kv_layout layout = {
    .n_layers = 2, .n_kv_heads = 2, .k_dim = 32, .v_dim = 32, .page_tokens = 16, .type = KV_BF16};

static void count_notice(void *ctx, const char *kind, const char *text) {
    print_message("# %s: %s\n", kind, text);
    ++*(int *)ctx;
}

static kv_store *open_kv(const char *home, int *n_notices) {
    fo_err err = {0};
    kv_store *s = NULL;
    char dir[4096];
    snprintf(dir, sizeof dir, "%s/kv", home);
    kv_store_options o = {.dir = dir, .disk_bytes = 8 << 20, .notices = {count_notice, n_notices}};
    assert_ok(kv_store_open(&s, &o, model, &layout, &err), &err);
    return s;
}

static char *home_with_kv(void) {
    char *home = test_folder();
    int n_notices = 0;
    service *s = open_home(home);
    put_note(s, "heron", NULL, "The grey heron stands one metre tall.", 37);
    service_close(s);
    kv_store *kv = open_kv(home, &n_notices);
    for (int i = 0; i < RECORDS; i++) {
        fo_err err = {0};
        unsigned char key[32] = {(unsigned char)i}, bytes[BYTES];
        memset(bytes, i + 1, sizeof bytes);
        kv_store_item item = {.key = key, .kind = KV_STORE_BLOCK, .n_tokens = 16};
        assert_ok(kv_store_put(kv, &item, bytes, sizeof bytes, &err), &err);
    }
    kv_store_flush(kv);
    kv_store_close(kv);
    return home;
}

/* As the next start of a server finds it: without a word. */
static int records_kept(const char *home) {
    int n = 0, n_notices = 0;
    kv_store *kv = open_kv(home, &n_notices);
    for (int i = 0; i < RECORDS; i++) {
        fo_err err = {0};
        unsigned char key[32] = {(unsigned char)i};
        kv_store_ref ref;
        if (kv_store_get(kv, KV_STORE_BLOCK, key, &ref, &err) != FO_OK) continue;
        assert_int_equal(ref.n_bytes, BYTES);
        assert_int_equal(ref.data[BYTES - 1], i + 1);
        kv_store_release(kv, &ref);
        n++;
    }
    kv_store_close(kv);
    assert_int_equal(n_notices, 0);
    return n;
}

static void print_finding(void *ctx, const home_finding *f) {
    (void)ctx;
    print_message("# %s: %s\n", f->file, f->what);
}

static home_report look(const char *home) {
    fo_err err = {0};
    home_report r = {0};
    home_listener to = {.found = print_finding};
    assert_ok(home_verify(home, NULL, &to, &r, &err), &err);
    return r;
}

static void repair(const char *home) {
    fo_err err = {0};
    home_report r = {0};
    home_listener to = {.found = print_finding};
    service_options opt = {.home = home, .n_threads = 2, .primes_per_s = -1};
    assert_true(look(home).n_faults > 0);
    assert_ok(home_repair(&opt, &to, &r, &err), &err);
    assert_int_equal(look(home).n_faults, 0);
}

static void flip(const char *home, const char *name, off_t at) {
    char path[4096], c;
    snprintf(path, sizeof path, "%s/kv/%s", home, name);
    int fd = open(path, O_RDWR);
    assert_true(fd >= 0 && pread(fd, &c, 1, at) == 1);
    c ^= 1;
    assert_int_equal(pwrite(fd, &c, 1, at), 1);
    close(fd);
}

/* It alone: the records are all there, and are found without it. */
static void a_damaged_index_of_kept_kv_is_made_anew(void **state) {
    (void)state;
    char *home = home_with_kv(), path[4096];
    assert_int_equal(look(home).n_faults, 0);
    flip(home, "index.db", 5000);
    repair(home);
    assert_int_equal(records_kept(home), RECORDS);
    snprintf(path, sizeof path, "%s/kv/index.db", home);
    assert_int_equal(unlink(path), 0);
    repair(home);
    assert_int_equal(records_kept(home), RECORDS);
    assert_int_equal(look(home).n_faults, 0);
    test_remove(home);
}

/* The index must not miss it afterwards. */
static void a_damaged_segment_of_kept_kv_is_dropped(void **state) {
    (void)state;
    char *home = home_with_kv(), *path = NULL, dir[4096];
    snprintf(dir, sizeof dir, "%s/kv", home);
    for (uint32_t id = 0; id < 4 && !path; id++) {
        path = kv_segment_path(dir, id);
        assert_non_null(path);
        if (access(path, F_OK) == 0) break;
        free(path);
        path = NULL;
    }
    assert_non_null(path);
    flip(home, path + strlen(dir) + 1, 9000);
    repair(home);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_equal(records_kept(home), 0);
    free(path);
    test_remove(home);
}

static void note_collection(void *ctx, const char *tenant, const char *collection,
                            size_t n_faults) {
    char *to = ctx;
    snprintf(to + strlen(to), 200 - strlen(to), "%s/%s %zu\n", tenant, collection, n_faults);
}

/* As by a person with the sqlite3 shell, page sums kept. */
static void by_hand(const char *home, const char *sql) {
    char path[4096];
    sqlite3 *db;
    snprintf(path, sizeof path, "%s/forage.db", home);
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, fo_page_sums_vfs(NULL)),
                     SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void change_text(const char *home, const char *document) {
    char sql[400];
    snprintf(sql, sizeof sql,
             "UPDATE texts SET bytes = CAST(replace(CAST(bytes AS TEXT), 'a', 'o') AS BLOB) "
             "WHERE id = (SELECT id * 65536 FROM documents WHERE name = '%s')",
             document);
    by_hand(home, sql);
}

/* The row of a collection leads to a folder beside the home: that is found, and the folder stays as it is. */
static void what_a_row_leads_to_outside_is_not_touched(void **state) {
    (void)state;
    char *top = test_folder(), home[2048], path[4096];
    fo_err err = {0};
    snprintf(home, sizeof home, "%s/home", top);
    assert_int_equal(mkdir(home, 0700), 0);
    service *s = open_home(home);
    put_note(s, "heron", NULL, "The grey heron stands one metre tall.", 37);
    service_close(s);
    by_hand(home, "UPDATE collections SET tenant = '../../out'");
    sqlite3_snprintf(sizeof path, path, "%s/out/notes-1.0", top);
    assert_ok(fo_make_dirs(path, &err), &err);
    sqlite3_snprintf(sizeof path, path, "%s/out/notes-1.0/0000000000000007.seg", top);
    assert_ok(fo_file_put(path, "mine", 4, &err), &err);
    assert_true(look(home).n_store_faults > 0);
    home_report r = {0};
    home_listener to = {.found = print_finding};
    service_options opt = {.home = home, .n_threads = 2, .primes_per_s = -1};
    assert_int_not_equal(home_repair(&opt, &to, &r, &err),
                         FO_OK); /* no service opens such a home */
    assert_int_equal(access(path, F_OK), 0);
    test_remove(top);
}

/* Nor is it looked into for a backup, from which nothing could be restored. */
static void no_backup_is_made_of_a_row_that_leads_outside(void **state) {
    (void)state;
    static const char *const names[] = {"tenant = '../../out'", "tenant = ''", "name = '..'",
                                        "name = 'a/b'"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *home = test_folder(), file[4096], sql[200];
        fo_err err = {0};
        sqlite3_snprintf(sizeof file, file, "%s/b.fbk", home);
        service *s = open_home(home);
        put_note(s, "heron", NULL, "The grey heron stands one metre tall.", 37);
        service_close(s);
        assert_ok(home_backup(home, file, &err), &err);
        assert_int_equal(unlink(file), 0);
        sqlite3_snprintf(sizeof sql, sql, "UPDATE collections SET %s", names[i]);
        by_hand(home, sql);
        assert_int_equal(home_backup(home, file, &err), FO_ECORRUPT);
        assert_non_null(
            strstr(err.msg, "the name of collection 1, or that of its tenant, is none"));
        assert_int_not_equal(access(file, F_OK), 0);
        test_remove(home);
    }
}

/* Its index knows nothing of that. */
static void a_collection_with_a_damaged_document_is_not_sound(void **state) {
    (void)state;
    static const char heron[] = "The grey heron stands one metre tall.";
    char *home = test_folder(), said[200] = "";
    fo_err err = {0};
    service *s = open_home(home);
    put(s, "birds", "heron", heron, strlen(heron), 256);
    put(s, "notes", "heron", heron, strlen(heron), 256);
    put(s, "notes", "stork", heron, strlen(heron), 256);
    service_close(s);
    change_text(home, "stork");
    home_listener to = {.found = print_finding, .checked = note_collection, .ctx = said};
    assert_ok(home_verify(home, NULL, &to, NULL, &err), &err);
    assert_string_equal(said, "default/birds 0\ndefault/notes 1\n");
    said[0] = 0;
    assert_ok(home_verify(home, "notes", &to, NULL, &err), &err);
    assert_string_equal(said, "default/notes 1\n");
    test_remove(home);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_damaged_index_of_kept_kv_is_made_anew),
        cmocka_unit_test(a_damaged_segment_of_kept_kv_is_dropped),
        cmocka_unit_test(a_collection_with_a_damaged_document_is_not_sound),
        cmocka_unit_test(what_a_row_leads_to_outside_is_not_touched),
        cmocka_unit_test(no_backup_is_made_of_a_row_that_leads_outside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
