/* The files of a KV store's folder looked at as they lie: whole ones, and one of which the disk does
 * not give a part (here it is cut off behind its reader's back); by any way to write its name. */
#include "tests/test.h"

#include "engine/kv/kv_check.h"
#include "engine/kv/kv_store.h"
#include "kernels/file.h"

enum { RECORDS = 8, BYTES = 8192 - 512 }; /* a record each 8 KiB */

static const unsigned char model[32] = {1};
static const kv_layout layout = {
    .n_layers = 2, .n_kv_heads = 2, .k_dim = 32, .v_dim = 32, .page_tokens = 16, .type = KV_BF16};

/* A segment is whole when it is mapped, and ends there as soon as it is: the linker leads every call here. */
static off_t cut_at;
int __real_fo_map_open(fo_map *out, const char *path, fo_err *err);
int __wrap_fo_map_open(fo_map *out, const char *path, fo_err *err);
int __wrap_fo_map_open(fo_map *out, const char *path, fo_err *err) {
    size_t n = strlen(path);
    bool cuts = cut_at && n > 3 && !strcmp(path + n - 3, ".kv");
    if (cuts) assert_int_equal(truncate(path, 512 + RECORDS * 8192), 0);
    int rc = __real_fo_map_open(out, path, err);
    if (!rc && cuts) assert_int_equal(truncate(path, cut_at), 0);
    return rc;
}

static void write_records(const char *dir) {
    fo_err err = {0};
    kv_store *s = NULL;
    kv_store_options o = {.dir = dir, .disk_bytes = 8 << 20};
    assert_ok(kv_store_open(&s, &o, model, &layout, &err), &err);
    for (int i = 0; i < RECORDS; i++) {
        unsigned char key[32] = {(unsigned char)i}, bytes[BYTES];
        memset(bytes, i + 1, sizeof bytes);
        kv_store_item item = {.key = key, .kind = KV_STORE_BLOCK, .n_tokens = 16};
        assert_ok(kv_store_put(s, &item, bytes, sizeof bytes, &err), &err);
    }
    kv_store_flush(s);
    kv_store_close(s);
}

typedef struct findings {
    int n;
    char file[64], what[200];
} findings;

static void on_finding(void *ctx, const char *file, bool extra, const char *what) {
    findings *f = ctx;
    assert_false(extra);
    snprintf(f->file, sizeof f->file, "%s", file);
    snprintf(f->what, sizeof f->what, "%s", what);
    f->n++;
}

static void a_part_that_the_disk_does_not_give_is_told(void **state) {
    (void)state;
    char *dir = test_folder();
    fo_err err = {0};
    findings none = {0}, f = {0};
    write_records(dir);
    assert_ok(kv_check(dir, on_finding, &none, &err), &err);
    assert_int_equal(none.n, 0);
    cut_at = 3 * 8192;
    int rc = kv_check(dir, on_finding, &f, &err);
    cut_at = 0;
    assert_ok(rc, &err);
    assert_int_equal(f.n, 1); /* and no row of the index is to blame */
    assert_non_null(strstr(f.file, ".kv"));
    assert_non_null(strstr(f.what, "cannot be read at byte 24576"));
    test_remove(dir);
}

static void a_folder_that_keeps_nothing_needs_no_index(void **state) {
    (void)state;
    char *dir = test_folder(), path[4100];
    fo_err err = {0};
    findings none = {0}, f = {0};
    snprintf(path, sizeof path, "%s/lock", dir);
    assert_ok(fo_file_put(path, "", 0, &err), &err);
    assert_ok(kv_check(dir, on_finding, &none, &err), &err);
    assert_int_equal(none.n, 0);
    write_records(dir);
    snprintf(path, sizeof path, "%s/index.db", dir);
    assert_int_equal(unlink(path), 0);
    assert_ok(kv_check(dir, on_finding, &f, &err), &err);
    assert_int_equal(f.n, 1);
    assert_string_equal(f.file, "index.db");
    assert_string_equal(f.what, "it is gone");
    test_remove(dir);
}

/* Two slashes at its beginning, as a shell's "$X/$Y" makes them: it is the same folder. */
static void a_path_of_two_slashes_is_sound(void **state) {
    (void)state;
    char *dir = test_folder(), path[4100];
    fo_err err = {0};
    findings f = {0};
    write_records(dir);
    snprintf(path, sizeof path, "/%s", dir);
    if (*dir == '/') assert_ok(kv_check(path, on_finding, &f, &err), &err);
    if (f.n) fail_msg("%s: %s", f.file, f.what);
    test_remove(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_that_the_disk_does_not_give_is_told),
        cmocka_unit_test(a_folder_that_keeps_nothing_needs_no_index),
        cmocka_unit_test(a_path_of_two_slashes_is_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
