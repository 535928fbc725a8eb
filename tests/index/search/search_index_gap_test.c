/* An index that lost a file: until its chunks are all there again, no manifest says that the files
 * cover an epoch. */
#include "tests/test.h"

#include <stdatomic.h>
#include <unistd.h>

#include "index/search/search_index.h"
#include "tests/index/search/index_fixture.h"

static search_index *open_index(const char *dir, size_t expect_dropped) {
    search_index *ix;
    fo_err err = {0};
    size_t dropped;
    search_index_options o = {.tenant = "default"};
    assert_ok(search_index_open(&ix, dir, &o, &dropped, &err), &err);
    assert_int_equal(dropped, expect_dropped);
    return ix;
}

static void publish(search_index *ix, int64_t epoch) {
    fo_err err = {0};
    assert_ok(search_index_publish(ix, epoch, &err), &err);
}

/* Two sealed files, of epochs 1 and 2. */
static void fill(search_index *ix) {
    fo_err err = {0};
    for (int64_t epoch = 1; epoch <= 2; epoch++) {
        for (int64_t i = 0; i < 20; i++) add(ix, epoch * 100 + i);
        publish(ix, epoch);
        assert_ok(search_index_seal(ix, &err), &err);
    }
    assert_int_equal(search_index_epoch(ix), 2);
}

static void damage_first(const char *dir) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%016x.seg", dir, 1);
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    assert_int_equal(fseek(f, 1024, SEEK_SET), 0);
    int c = fgetc(f);
    assert_int_equal(fseek(f, 1024, SEEK_SET), 0);
    assert_true(fputc(c ^ 1, f) != EOF && fclose(f) == 0);
}

static void see(void *ctx, const char *why) {
    assert_true(strstr(why, "checksum") || strstr(why, "it ends at byte"));
    atomic_fetch_add((atomic_int *)ctx, 1);
}

/* What is published and sealed into the gap, before it is filled and after, and what the next opening
 * is told then. */
static void expect_gap(const char *dir, search_index *ix) {
    fo_err err = {0};
    assert_true(search_index_has_gap(ix));
    add(ix, 300);
    publish(ix, 3);
    assert_ok(search_index_close(ix, true, &err), &err);
    ix = open_index(dir, 0);
    assert_int_equal(search_index_epoch(ix), -1);
    assert_int_equal(search_index_newest(ix), 3);
    assert_ok(search_index_close(ix, false, &err), &err);
}

static void cut_first(const char *dir) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%016x.seg", dir, 1);
    assert_int_equal(truncate(path, 0), 0);
}

static search_index *with_file_dropped(const char *dir, void (*harm)(const char *dir)) {
    fo_err err = {0};
    static atomic_int n_seen;
    n_seen = 0;
    size_t n_dropped = 0;
    search_index *ix = open_index(dir, 0);
    fill(ix);
    harm(dir);
    search_index_watch(ix, see, &n_seen);
    for (int i = 0; i < 12000 && !n_seen; i++) usleep(10000);
    assert_ok(search_index_drop_damaged(ix, &n_dropped, &err), &err);
    assert_int_equal(n_dropped, 1);
    return ix;
}

static search_index *with_file_dropped_in_use(const char *dir) {
    return with_file_dropped(dir, damage_first);
}

static search_index *with_file_cut_in_use(const char *dir) {
    return with_file_dropped(dir, cut_first);
}

static search_index *with_file_dropped_at_opening(const char *dir) {
    fo_err err = {0};
    search_index *ix = open_index(dir, 0);
    fill(ix);
    assert_ok(search_index_close(ix, true, &err), &err);
    damage_first(dir);
    return open_index(dir, 1);
}

static void no_seal_covers_a_gap(void **state) {
    (void)state;
    search_index *(*const drop[])(const char *) = {with_file_dropped_in_use, with_file_cut_in_use,
                                                   with_file_dropped_at_opening};
    for (size_t i = 0; i < sizeof drop / sizeof *drop; i++) {
        char *dir = test_folder();
        expect_gap(dir, drop[i](dir));
        test_remove(dir);
    }
}

/* Killed before anything else was published: what was in the file that is gone is not taken for there. */
static void a_crash_behind_a_drop_leaves_the_gap(void **state) {
    (void)state;
    char *dir = test_folder();
    fo_err err = {0};
    search_index *ix = with_file_dropped_in_use(dir);
    assert_ok(search_index_close(ix, false, &err), &err);
    ix = open_index(dir, 0);
    assert_int_equal(search_index_epoch(ix), -1);
    assert_ok(search_index_close(ix, false, &err), &err);
    test_remove(dir);
}

static void a_filled_gap_is_covered_again(void **state) {
    (void)state;
    char *dir = test_folder();
    fo_err err = {0};
    search_index *ix = with_file_dropped_at_opening(dir);
    for (int64_t i = 0; i < 20; i++) add(ix, 100 + i);
    publish(ix, 2);
    search_index_gap_filled(ix);
    assert_false(search_index_has_gap(ix));
    assert_ok(search_index_close(ix, true, &err), &err);
    ix = open_index(dir, 0);
    assert_int_equal(search_index_epoch(ix), 2);
    assert_ok(search_index_close(ix, false, &err), &err);
    test_remove(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_seal_covers_a_gap),
        cmocka_unit_test(a_crash_behind_a_drop_leaves_the_gap),
        cmocka_unit_test(a_filled_gap_is_covered_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
