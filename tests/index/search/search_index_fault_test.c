/* An index whose memory runs out while changes are staged or published: nothing is written past an array, and what the
 * store has is found in the end. One whose memory runs out while it is opened, or whose files another process merges
 * meanwhile: nothing of it is dropped. One that finds no descriptor to check its files with: they are not taken for
 * damaged. One whose folder cannot be synced: what its manifest names is there. */
#include "tests/test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "index/search/search_index.h"
#include "kernels/clock.h"
#include "tests/index/search/index_fixture.h"

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
char *__real_strdup(const char *s);
char *__wrap_strdup(const char *s);

static long left = -1; /* allocations that succeed still; -1: all do */

/* Called once, after as many allocations more of the thread that set it; NULL: never. */
static _Thread_local void (*meanwhile)(void);
static _Thread_local long until;

static bool fails(void) {
    if (meanwhile && until-- == 0) {
        void (*now)(void) = meanwhile;
        meanwhile = NULL;
        now();
    }
    if (left < 0) return false;
    return left == 0 || left-- == 0;
}
void *__wrap_malloc(size_t n) {
    return fails() ? NULL : __real_malloc(n);
}
void *__wrap_calloc(size_t n, size_t size) {
    return fails() ? NULL : __real_calloc(n, size);
}
void *__wrap_realloc(void *p, size_t n) {
    return fails() ? NULL : __real_realloc(p, n);
}

char *__wrap_strdup(const char *s) {
    return fails() ? NULL : __real_strdup(s);
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __real_fsync(int fd);
int __wrap_fsync(int fd);

static const char
    *_Atomic unopened; /* what a path ends with that there is no descriptor for; NULL: there is */

int __wrap_open(const char *path, int flags, ...) {
    const char *end = atomic_load(&unopened);
    va_list ap;
    va_start(ap, flags);
    const mode_t mode = flags & O_CREAT ? va_arg(ap, mode_t) : 0;
    va_end(ap);
    const size_t n = strlen(path), n_end = end ? strlen(end) : 0;
    if (!end || n < n_end || strcmp(path + n - n_end, end) != 0)
        return __real_open(path, flags, mode);
    errno = EMFILE;
    return -1;
}

/* Syncs of a folder by this thread that succeed, and how many fail then; -1: none fails. */
static _Thread_local long synced = -1, unsynced;

int __wrap_fsync(int fd) {
    struct stat st;
    if (synced < 0 || fstat(fd, &st) != 0 || !S_ISDIR(st.st_mode)) return __real_fsync(fd);
    if (synced > 0) {
        synced--;
        return __real_fsync(fd);
    }
    if (unsynced == 0) return __real_fsync(fd);
    unsynced--;
    errno = EIO;
    return -1;
}

static search_index *open_index(const char *dir) {
    search_index *ix;
    fo_err err = {0};
    size_t dropped;
    assert_ok(
        search_index_open(&ix, dir, &(search_index_options){.tenant = "default"}, &dropped, &err),
        &err);
    return ix;
}

static bool finds(search_index *ix, int64_t chunk) {
    char query[40];
    search_hit hit;
    size_t n;
    fo_err err = {0};
    snprintf(query, sizeof query, "word%lld", (long long)chunk);
    search_snapshot *s = search_index_acquire(ix);
    assert_ok(search_sparse(s, query, 1, NULL, &hit, &n, &err), &err);
    search_index_release(s);
    return n == 1;
}

enum { N = 300 }; /* more than the list of removals begins with */

/* The list of removals cannot grow: each that is past it is refused, and those before it stand. */
static void removals_past_the_list_are_refused(void **state) {
    (void)state;
    char *dir = test_folder();
    search_index *ix = open_index(dir);
    fo_err err = {0};
    for (int64_t i = 0; i < N; i++) add(ix, i);
    assert_ok(search_index_publish(ix, 1, &err), &err);
    int64_t taken = 0, refused = 0;
    assert_ok(search_index_remove(ix, 0, &err), &err);
    left = 0;
    for (int64_t i = 1; i < N; i++) {
        int rc = search_index_remove(ix, i, &err);
        if (rc == FO_OK)
            taken += refused == 0;
        else
            refused += rc == FO_ENOMEM;
    }
    left = -1;
    assert_true(taken > 0 && refused > 0);
    assert_int_equal(taken + refused, N - 1);
    assert_ok(search_index_publish(ix, 2, &err), &err);
    for (int64_t i = 0; i < N; i++) assert_int_equal(finds(ix, i), i > taken);
    assert_ok(search_index_close(ix, false, &err), &err);
    test_remove(dir);
}

/* At whichever allocation a publish fails: what it was to show is owed. A discard leaves it, and the next settlement
 * shows it, with the removal. */
static void what_a_publish_could_not_show_is_shown_later(void **state) {
    (void)state;
    bool failed = true;
    size_t failures = 0;
    for (long k = 0; failed; k++) {
        char *dir = test_folder();
        search_index *ix = open_index(dir);
        fo_err err = {0};
        add(ix, 1);
        assert_ok(search_index_publish(ix, 1, &err), &err);
        add(ix, 2);
        assert_ok(search_index_remove(ix, 1, &err), &err);
        left = k;
        int rc = search_index_publish(ix, 2, &err);
        left = -1;
        failed = rc != FO_OK;
        if (failed) {
            failures++;
            assert_int_equal(rc, FO_ENOMEM);
            assert_true(finds(ix, 1) && !finds(ix, 2));
            search_index_discard(ix);
            left = 0;
            assert_int_equal(search_index_settle(ix, NULL), FO_ENOMEM);
            left = -1;
            assert_ok(search_index_settle(ix, &err), &err);
        }
        assert_ok(search_index_settle(ix, &err), &err);
        assert_true(!finds(ix, 1) && finds(ix, 2));
        search_snapshot *s = search_index_acquire(ix);
        assert_int_equal(search_snapshot_epoch(s), 2);
        search_index_release(s);
        add(ix, 3); /* a discard drops what is not owed */
        search_index_discard(ix);
        assert_ok(search_index_publish(ix, 3, &err), &err);
        assert_true(finds(ix, 2) && !finds(ix, 3));
        assert_ok(search_index_close(ix, false, &err), &err);
        test_remove(dir);
    }
    assert_true(failures > 5);
}

static void count(void *ctx, const char *kind, const char *text) {
    (void)kind;
    (void)text;
    ++*(int *)ctx;
}

/* Two sealed files, chunk 1 in the first one and 2 in the second, and tombstones in each, too few for it to be
 * written anew. */
static void fill_two(search_index *ix) {
    fo_err err = {0};
    for (int64_t i = 1; i <= 2; i++) {
        for (int64_t j = 0; j < 40; j += 10) add(ix, j + i);
        assert_ok(search_index_publish(ix, i, &err), &err);
        assert_ok(search_index_seal(ix, &err), &err);
    }
    for (int64_t i = 11; i <= 12; i++) assert_ok(search_index_remove(ix, i, &err), &err);
    assert_ok(search_index_publish(ix, 3, &err), &err);
    assert_ok(search_index_seal(ix, &err), &err);
}

static size_t count_files(const char *dir) {
    size_t n = 0;
    DIR *d = opendir(dir);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        assert_null(strstr(e->d_name, ".bad"));
        n += e->d_name[0] != '.';
    }
    closedir(d);
    return n;
}

/* At whichever allocation an opening fails: the files are as they were, and the next one finds all of them. */
static void an_opening_without_memory_touches_no_file(void **state) {
    (void)state;
    char *dir = test_folder();
    fo_err err = {0};
    int n_notices = 0;
    search_index *ix = open_index(dir);
    fill_two(ix);
    assert_ok(search_index_close(ix, true, &err), &err);
    const search_index_options o = {.tenant = "default", .notices = {count, &n_notices}};
    const size_t n_files = count_files(dir);
    size_t failures = 0, dropped = 0;
    for (long k = 0;; k++) {
        left = k;
        int rc = search_index_open(&ix, dir, &o, &dropped, &err);
        left = -1;
        assert_int_equal(count_files(dir), n_files);
        assert_int_equal(n_notices, 0);
        if (rc == FO_OK) break;
        assert_int_equal(rc, FO_ENOMEM);
        failures++;
    }
    assert_true(failures > 10);
    assert_int_equal(dropped, 0);
    assert_true(finds(ix, 1) && finds(ix, 2) && !finds(ix, 11) && !finds(ix, 12));
    assert_ok(search_index_close(ix, false, &err), &err);
    test_remove(dir);
}

static search_index *writer;

static void merge_all(void) {
    fo_err err = {0};
    assert_ok(search_index_compact(writer, &err), &err);
}

/* Between whichever allocations of its opening another process merges the files that the manifest named. */
static void a_reader_opens_what_is_merged_meanwhile(void **state) {
    (void)state;
    bool merged = true;
    for (long k = 0; merged; k++) {
        char *dir = test_folder();
        fo_err err = {0};
        int n_notices = 0;
        size_t dropped = 0;
        search_index *reader;
        const search_index_options o = {
            .tenant = "default", .read_only = true, .notices = {count, &n_notices}};
        writer = open_index(dir);
        fill_two(writer);
        until = k;
        meanwhile = merge_all;
        assert_ok(search_index_open(&reader, dir, &o, &dropped, &err), &err);
        merged = !meanwhile;
        meanwhile = NULL;
        assert_true(dropped == 0 && n_notices == 0);
        assert_int_equal(search_index_epoch(reader), 3);
        assert_true(finds(reader, 1) && finds(reader, 2) && !finds(reader, 11));
        assert_ok(search_index_close(reader, false, &err), &err);
        assert_ok(search_index_close(writer, false, &err), &err);
        test_remove(dir);
    }
}

/* Nobody merges: a file that is gone is lost, and that is told once. */
static void a_reader_tells_of_a_file_that_is_lost(void **state) {
    (void)state;
    char *dir = test_folder(), path[4200];
    fo_err err = {0};
    int n_notices = 0;
    size_t dropped = 0;
    search_index *ix = open_index(dir);
    fill_two(ix);
    assert_ok(search_index_close(ix, true, &err), &err);
    snprintf(path, sizeof path, "%s/%016x.seg", dir, 1);
    assert_int_equal(unlink(path), 0);
    const search_index_options o = {
        .tenant = "default", .read_only = true, .notices = {count, &n_notices}};
    assert_ok(search_index_open(&ix, dir, &o, &dropped, &err), &err);
    assert_true(dropped == 1 && n_notices == 1);
    assert_true(!finds(ix, 1) && finds(ix, 2));
    assert_ok(search_index_close(ix, false, &err), &err);
    test_remove(dir);
}

static void see(void *ctx, const char *why) {
    (void)why;
    atomic_fetch_add((atomic_int *)ctx, 1);
}

static search_index_stats stats_of(search_index *ix) {
    search_index_stats st;
    search_index_get_stats(ix, &st);
    return st;
}

/* Four sealed files that are to be merged, and no descriptor for the checksums of one: the merge fails, nothing is said
 * to be damaged, and it goes on when there is one again. */
static void a_merge_without_descriptors_calls_no_file_damaged(void **state) {
    (void)state;
    char *dir = test_folder();
    fo_err err = {0};
    atomic_int n_told = 0;
    search_index *ix;
    const search_index_options o = {.tenant = "default", .seal_chunks = 8};
    assert_ok(search_index_open(&ix, dir, &o, NULL, &err), &err);
    const double late = fo_now_ms() + 120e3;
    for (int64_t i = 0; i < 3 * 8; i++) {
        add(ix, i + 1);
        if (i % 8 == 7) assert_ok(search_index_publish(ix, i, &err), &err);
    }
    while (stats_of(ix).bytes_memory && fo_now_ms() < late) usleep(1000);
    assert_int_equal(stats_of(ix).n_segments, 3);
    search_index_watch(ix, see, &n_told);
    while (!stats_of(ix).bytes_checked && fo_now_ms() < late) usleep(1000);
    usleep(100000); /* the pass is over, and the next is tomorrow's */
    atomic_store(&unopened, "/0000000000000001.seg");
    for (int64_t i = 3 * 8; i < 4 * 8; i++) add(ix, i + 1);
    assert_ok(search_index_publish(ix, 4 * 8, &err), &err);
    while (!n_told && !stats_of(ix).n_failures && fo_now_ms() < late) usleep(1000);
    assert_int_equal(n_told, 0);
    assert_int_equal(stats_of(ix).n_damaged, 0);
    assert_int_equal(stats_of(ix).n_failures, 1);
    assert_int_equal(stats_of(ix).n_segments, 4);
    atomic_store(&unopened, NULL);
    add(ix, 100);
    assert_ok(search_index_publish(ix, 100, &err), &err);
    while (stats_of(ix).n_segments != 2 && fo_now_ms() < late) usleep(1000);
    assert_int_equal(stats_of(ix).n_segments, 2);
    assert_int_equal(stats_of(ix).n_chunks, 4 * 8 + 1);
    assert_ok(search_index_close(ix, true, &err), &err);
    test_remove(dir);
}

/* A merge's manifest, or a seal's, takes its place, but its folder cannot be synced: once, or from then on. What lies in
 * the folder is opened as if the process had ended there. */
static void what_a_manifest_names_is_there_though_its_folder_was_not_synced(void **state) {
    (void)state;
    for (int round = 0; round < 4; round++) {
        const bool seals = round % 2;
        char *dir = test_folder();
        fo_err err = {0};
        int n_notices = 0;
        size_t dropped = 0;
        const search_index_options o = {
            .tenant = "default", .read_only = true, .notices = {count, &n_notices}};
        search_index *ix = open_index(dir), *reader;
        fill_two(ix);
        add(ix, 50);
        if (seals) assert_ok(search_index_publish(ix, 4, &err), &err);
        synced = 1; /* for the segment's own file */
        unsynced = round < 2 ? 1 : 100;
        assert_int_equal(seals ? search_index_seal(ix, &err) : search_index_compact(ix, &err),
                         FO_EIO);
        synced = -1;
        assert_ok(search_index_open(&reader, dir, &o, &dropped, &err), &err);
        assert_true(dropped == 0 && n_notices == 0);
        assert_true(finds(reader, 1) && finds(reader, 2) && !finds(reader, 11));
        assert_ok(search_index_close(reader, false, &err), &err);
        assert_true(finds(ix, 1) && finds(ix, 2) && finds(ix, 50) == seals);
        assert_ok(search_index_publish(ix, 5, &err), &err);
        assert_ok(search_index_close(ix, true, &err), &err);
        ix = open_index(dir);
        assert_true(finds(ix, 1) && finds(ix, 2) && finds(ix, 50) && !finds(ix, 11));
        assert_int_equal(search_index_epoch(ix), 5);
        assert_ok(search_index_close(ix, true, &err), &err);
        test_remove(dir);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(removals_past_the_list_are_refused),
        cmocka_unit_test(what_a_publish_could_not_show_is_shown_later),
        cmocka_unit_test(an_opening_without_memory_touches_no_file),
        cmocka_unit_test(a_reader_opens_what_is_merged_meanwhile),
        cmocka_unit_test(a_reader_tells_of_a_file_that_is_lost),
        cmocka_unit_test(a_merge_without_descriptors_calls_no_file_damaged),
        cmocka_unit_test(what_a_manifest_names_is_there_though_its_folder_was_not_synced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
