/* KV kept in RAM and on disk: kills during writes, budgets, what is evicted, restarts, damaged
 * bytes, a lying index, a disk that refuses, many threads at once. */
#include "tests/test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "kernels/clock.h"
#include "kernels/page_sums.h"
#include "engine/kv/kv_store.h"
#include "engine/kv/kv_store_index.h"

static const unsigned char model_a[32] = {1}, model_b[32] = {2};
static kv_layout layout = {
    .n_layers = 2, .n_kv_heads = 2, .k_dim = 32, .v_dim = 32, .page_tokens = 16, .type = KV_BF16};

/* Reads at one place fail from here on: the linker leads every pread here. */
static struct { off_t from, to; } bad_sectors;
ssize_t __real_pread(int fd, void *p, size_t n, off_t at);
ssize_t __wrap_pread(int fd, void *p, size_t n, off_t at);
ssize_t __wrap_pread(int fd, void *p, size_t n, off_t at) {
    if (at >= bad_sectors.to || at + (off_t)n <= bad_sectors.from)
        return __real_pread(fd, p, n, at);
    errno = EIO;
    return -1;
}

/* And every record's write takes so long. */
static useconds_t write_us;
ssize_t __real_pwritev(int fd, const struct iovec *part, int n, off_t at);
ssize_t __wrap_pwritev(int fd, const struct iovec *part, int n, off_t at);
ssize_t __wrap_pwritev(int fd, const struct iovec *part, int n, off_t at) {
    if (write_us) usleep(write_us);
    return __real_pwritev(fd, part, n, at);
}

/* Record number i: its key, and bytes that follow from it. */
static void fill(unsigned char key[32], unsigned char *bytes, size_t n, uint64_t i) {
    uint64_t state = i * 7919 + 13;
    for (int k = 0; k < 32; k += 8) {
        uint64_t x = test_random(&state);
        memcpy(key + k, &x, 8);
    }
    for (size_t k = 0; bytes && k < n; k++) bytes[k] = (unsigned char)(test_random(&state) >> 3);
}

static kv_store *must_open(const char *dir, uint64_t ram, uint64_t disk,
                           const unsigned char model[32]) {
    fo_err err = {0};
    kv_store *s = NULL;
    kv_store_options o = {.dir = dir, .ram_bytes = ram, .disk_bytes = disk};
    assert_ok(kv_store_open(&s, &o, model, &layout, &err), &err);
    return s;
}

static int put(kv_store *s, enum kv_store_kind kind, uint64_t i, size_t n, double reuse) {
    fo_err err = {0};
    unsigned char key[32], *bytes = malloc(n);
    fill(key, bytes, n, i);
    int rc =
        kv_store_put(s, &(kv_store_item){.key = key, .kind = kind, .n_tokens = 16, .reuse = reuse},
                     bytes, n, &err);
    free(bytes);
    return rc;
}

/* True where record i is there; its bytes must be right then. */
static bool has(kv_store *s, enum kv_store_kind kind, uint64_t i, size_t n) {
    unsigned char key[32], *bytes = malloc(n);
    fill(key, bytes, n, i);
    kv_store_ref ref;
    int rc = kv_store_get(s, kind, key, &ref, NULL);
    if (!rc) {
        assert_int_equal(ref.n_bytes, n);
        assert_int_equal(ref.n_tokens, 16);
        assert_int_equal((uintptr_t)ref.data % 64, 0);
        assert_memory_equal(ref.data, bytes, n);
        kv_store_release(s, &ref);
        unsigned char *again = malloc(n);
        if (kv_store_read(s, kind, key, again, n, NULL) == FO_OK)
            assert_memory_equal(again, bytes, n);
        free(again);
    } else {
        assert_int_equal(rc, FO_ENOTFOUND);
    }
    free(bytes);
    return !rc;
}

static void must_check(kv_store *s) {
    fo_err err = {0};
    assert_ok(kv_store_check(s, &err), &err);
}

/* The first file of a folder whose name ends so. */
static char *find_file(const char *dir, const char *end) {
    DIR *d = opendir(dir);
    char *found = NULL;
    for (struct dirent *e; d && !found && (e = readdir(d));) {
        size_t n = strlen(e->d_name), k = strlen(end);
        if (n >= k && !strcmp(e->d_name + n - k, end) &&
            asprintf(&found, "%s/%s", dir, e->d_name) < 0)
            found = NULL;
    }
    if (d) closedir(d);
    assert_non_null(found);
    return found;
}

static void remove_index(const char *dir) {
    static const char *const names[] = {"index.db", "index.db-wal", "index.db-shm"};
    for (int k = 0; k < 3; k++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", dir, names[k]);
        unlink(path);
    }
}

/* Bytes of the segment files, as the file system says. */
static uint64_t bytes_in(const char *dir) {
    uint64_t sum = 0;
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d));) {
        char path[4096];
        struct stat st;
        snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
        size_t n = strlen(e->d_name);
        if (n > 3 && !strcmp(e->d_name + n - 3, ".kv") && stat(path, &st) == 0)
            sum += (uint64_t)st.st_size;
    }
    if (d) closedir(d);
    return sum;
}

static void keeps_chunks_in_ram_within_its_budget(void **state) {
    (void)state;
    kv_store *s = must_open(NULL, 100000, 0, model_a);
    for (uint64_t i = 0; i < 40; i++) {
        assert_int_equal(put(s, KV_STORE_CHUNK, i, 5000, 0), FO_OK);
        kv_store_stats st;
        kv_store_get_stats(s, &st);
        assert_true(st.ram.bytes <= 100000);
        must_check(s);
    }
    kv_store_stats st;
    kv_store_get_stats(s, &st);
    assert_int_equal(st.ram.records, 20);
    assert_int_equal(st.ram.evictions, 20);
    assert_true(has(s, KV_STORE_CHUNK, 39, 5000));
    assert_false(has(s, KV_STORE_CHUNK, 0, 5000));
    kv_store_get_stats(s, &st);
    assert_int_equal(st.lookups[KV_STORE_CHUNK], 3);
    assert_int_equal(st.hits[KV_STORE_CHUNK], 2);
    assert_int_equal(st.hit_tokens[KV_STORE_CHUNK], 32);
    assert_int_equal(st.lookups[KV_STORE_BLOCK], 0);
    /* Blocks live in RAM as pages: without a disk there is no place for them here. */
    assert_int_equal(put(s, KV_STORE_BLOCK, 1000, 5000, 0), FO_ELIMIT);
    assert_int_equal(put(s, KV_STORE_CHUNK, 1001, 100001, 0), FO_ELIMIT);
    unsigned char key[32];
    fill(key, NULL, 0, 39);
    kv_store_drop(s, key);
    assert_false(kv_store_contains(s, key));
    must_check(s);
    kv_store_close(s);
}

static void what_is_used_more_stays_longer(void **state) {
    (void)state;
    kv_store *s = must_open(NULL, 100000, 0, model_a);
    for (uint64_t i = 0; i < 20; i++) put(s, KV_STORE_CHUNK, i, 5000, 0);
    for (int k = 0; k < 10; k++) assert_true(has(s, KV_STORE_CHUNK, 3, 5000));
    for (uint64_t i = 100; i < 150; i++) put(s, KV_STORE_CHUNK, i, 5000, 0);
    assert_true(has(s, KV_STORE_CHUNK, 3, 5000));
    assert_false(has(s, KV_STORE_CHUNK, 4, 5000));
    /* ... but not for ever: what went before ages it. */
    for (uint64_t i = 1000; i < 3000; i++) put(s, KV_STORE_CHUNK, i, 5000, 0);
    assert_false(has(s, KV_STORE_CHUNK, 3, 5000));
    kv_store_close(s);
}

/* All of a full RAM was used since it came: what is new is worth less than any of it, and comes in
 * all the same before long, while what is used on stays. */
static void what_was_used_once_keeps_nothing_out_for_ever(void **state) {
    (void)state;
    kv_store *s = must_open(NULL, 100000, 0, model_a);
    for (uint64_t i = 0; i < 20; i++) {
        put(s, KV_STORE_CHUNK, i, 5000, 0);
        assert_true(has(s, KV_STORE_CHUNK, i, 5000));
    }
    unsigned char key[32];
    int n_declined = 0, n_gone = 0;
    for (uint64_t i = 100; i < 120; i++) {
        put(s, KV_STORE_CHUNK, i, 5000, 0);
        fill(key, NULL, 0, i);
        n_declined += !kv_store_contains(s, key);
        assert_true(has(s, KV_STORE_CHUNK, 7, 5000));
        must_check(s);
    }
    assert_true(n_declined > 0 && n_declined < 5);
    for (uint64_t i = 0; i < 20; i++) {
        fill(key, NULL, 0, i);
        n_gone += !kv_store_contains(s, key);
    }
    assert_true(n_gone >= 10 && n_gone <= 19);
    kv_store_close(s);
}

static void held_records_outlive_their_eviction(void **state) {
    (void)state;
    fo_err err = {0};
    kv_store *s = must_open(NULL, 20000, 0, model_a);
    put(s, KV_STORE_CHUNK, 1, 10000, 0);
    unsigned char key[32], *bytes = malloc(10000);
    fill(key, bytes, 10000, 1);
    kv_store_ref ref;
    assert_ok(kv_store_get(s, KV_STORE_CHUNK, key, &ref, &err), &err);
    for (uint64_t i = 10; i < 30; i++) put(s, KV_STORE_CHUNK, i, 10000, 100);
    must_check(s);
    kv_store_drop(s, key);
    assert_memory_equal(ref.data, bytes, 10000);
    kv_store_release(s, &ref);
    kv_store_stats st;
    kv_store_get_stats(s, &st);
    assert_true(st.ram.bytes <= 20000);
    free(bytes);
    kv_store_close(s);
}

static void records_survive_a_restart(void **state) {
    (void)state;
    char *dir = test_folder();
    kv_store *s = must_open(dir, 1 << 20, 8 << 20, model_a);
    for (uint64_t i = 0; i < 100; i++) {
        assert_int_equal(put(s, i % 2 ? KV_STORE_BLOCK : KV_STORE_CHUNK, i, 1000 + i, 0), FO_OK);
        assert_true(has(s, i % 2 ? KV_STORE_BLOCK : KV_STORE_CHUNK, i, 1000 + i));
    }
    kv_store *second = NULL;
    assert_int_equal(kv_store_open(&second, &(kv_store_options){.dir = dir, .disk_bytes = 8 << 20},
                                   model_a, &layout, NULL),
                     FO_ECONFLICT);
    kv_store_close(s);
    for (int how = 0; how < 4; how++) {
        if (how == 1) remove_index(dir);
        if (how == 2) { /* an index that is no database */
            char *path = find_file(dir, "index.db");
            int fd = open(path, O_WRONLY | O_TRUNC);
            assert_int_equal(write(fd, "nonsense", 8), 8);
            close(fd);
            free(path);
        }
        s = must_open(dir, 1 << 20, 8 << 20, model_a);
        kv_store_stats st;
        kv_store_get_stats(s, &st);
        assert_int_equal(st.disk.records, 100);
        must_check(s);
        for (uint64_t i = 0; i < 100; i++)
            assert_true(has(s, i % 2 ? KV_STORE_BLOCK : KV_STORE_CHUNK, i, 1000 + i));
        kv_store_get_stats(s, &st);
        assert_int_equal(st.corrupt, 0);
        must_check(s);
        kv_store_close(s);
    }
    test_remove(dir);
}

static void rows_that_lie_are_found_out(void **state) {
    (void)state;
    char *dir = test_folder(), *path;
    kv_store *s = must_open(dir, 0, 8 << 20, model_a);
    for (uint64_t i = 0; i < 20; i++) put(s, KV_STORE_BLOCK, i, 3000, 0);
    kv_store_close(s);
    path = find_file(dir, "index.db");
    sqlite3 *db;
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, fo_page_sums_vfs(NULL)),
                     SQLITE_OK);
    assert_int_equal(sqlite3_exec(db,
                                  "UPDATE records SET offset = offset - 512 * 7 WHERE offset IN "
                                  "(SELECT offset FROM records ORDER BY offset LIMIT 5 OFFSET 5)",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(db);
    s = must_open(dir, 0, 8 << 20, model_a);
    int found = 0;
    for (uint64_t i = 0; i < 20; i++) found += has(s, KV_STORE_BLOCK, i, 3000);
    assert_int_equal(found, 15);
    kv_store_stats st;
    kv_store_get_stats(s, &st);
    assert_int_equal(st.corrupt, 5);
    must_check(s);
    kv_store_close(s);
    free(path);
    test_remove(dir);
}

static bool keep_none(void *arg, uint32_t segment) {
    (void)segment;
    ++*(int *)arg;
    return false;
}

/* The table goes while the index is open: an error at the statement, as a page that cannot be read is one. */
static void a_sweep_that_fails_ends_its_transaction(void **state) {
    (void)state;
    char *dir = test_folder(), *path;
    kv_store_index *x;
    bool replaced;
    fo_err err = {0};
    int asked = 0;
    assert_ok(kv_store_index_open(&x, dir, &replaced, &err), &err);
    path = find_file(dir, "index.db");
    sqlite3 *db;
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, fo_page_sums_vfs(NULL)),
                     SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "ALTER TABLE segments RENAME TO gone", NULL, NULL, NULL),
                     SQLITE_OK);
    assert_ok(kv_store_index_begin(x, &err), &err);
    assert_int_equal(kv_store_index_sweep(x, keep_none, &asked, &err), FO_EIO);
    assert_int_equal(asked, 0);
    assert_int_equal(sqlite3_exec(db, "ALTER TABLE gone RENAME TO segments", NULL, NULL, NULL),
                     SQLITE_OK); /* nobody holds it */
    sqlite3_close(db);
    assert_ok(kv_store_index_begin(x, &err), &err);
    assert_ok(kv_store_index_set_segment(x, 3, 512, &err), &err);
    assert_ok(kv_store_index_sweep(x, keep_none, &asked, &err), &err);
    assert_ok(kv_store_index_commit(x, &err), &err);
    assert_int_equal(asked, 1);
    kv_store_index_close(x);
    free(path);
    test_remove(dir);
}

static void another_models_records_are_never_found_and_go_first(void **state) {
    (void)state;
    char *dir = test_folder();
    kv_store *s = must_open(dir, 0, 4 << 20, model_a);
    for (uint64_t i = 0; i < 30; i++) put(s, KV_STORE_BLOCK, i, 50000, 0);
    kv_store_close(s);
    s = must_open(dir, 0, 4 << 20, model_b);
    kv_store_stats st;
    kv_store_get_stats(s, &st);
    assert_int_equal(st.disk.records, 0);
    assert_true(st.foreign_bytes >= 30 * 50000);
    for (uint64_t i = 0; i < 30; i++) assert_false(has(s, KV_STORE_BLOCK, i, 50000));
    put(s, KV_STORE_BLOCK, 500, 50000, 0);
    kv_store_close(s);
    kv_layout other = layout;
    other.type = KV_Q8_0; /* the same model, another KV */
    assert_int_equal(kv_store_open(&s, &(kv_store_options){.dir = dir, .disk_bytes = 4 << 20},
                                   model_a, &other, NULL),
                     FO_OK);
    kv_store_get_stats(s, &st);
    assert_int_equal(st.disk.records, 0);
    kv_store_close(s);
    s = must_open(dir, 0, 4 << 20, model_a); /* back again: nothing was lost */
    for (uint64_t i = 0; i < 30; i++) assert_true(has(s, KV_STORE_BLOCK, i, 50000));
    kv_store_close(s);
    s = must_open(dir, 0, 4 << 20, model_b);
    for (uint64_t i = 1000; i < 1060; i++) {
        put(s, KV_STORE_BLOCK, i, 50000, 0);
        kv_store_flush(s);
        assert_true(bytes_in(dir) <= 4 << 20);
    }
    kv_store_get_stats(s, &st);
    assert_int_equal(st.foreign_bytes, 0);
    assert_true(has(s, KV_STORE_BLOCK, 1059, 50000));
    must_check(s);
    kv_store_close(s);
    test_remove(dir);
}

static void damaged_bytes_are_dropped_and_the_rest_is_kept(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    for (int round = 0; round < 16; round++) {
        char *dir = test_folder();
        kv_store *s = must_open(dir, 0, 8 << 20, model_a);
        for (uint64_t i = 0; i < 20; i++) put(s, KV_STORE_BLOCK, i, 2000, 0);
        kv_store_close(s);
        if (round % 2) remove_index(dir);
        char *path = find_file(dir, ".kv");
        struct stat st;
        assert_int_equal(stat(path, &st), 0);
        int fd = open(path, O_RDWR), damaged = 0;
        if (round % 4 < 2) { /* flip a byte behind the file's header */
            off_t at = 512 + (off_t)(test_random(&seed) % (uint64_t)(st.st_size - 512));
            unsigned char c;
            assert_int_equal(pread(fd, &c, 1, at), 1);
            c ^= 0x40;
            assert_int_equal(pwrite(fd, &c, 1, at), 1);
            damaged = 1; /* at most: it may be padding */
        } else {         /* cut the end off */
            off_t keep = 512 + (off_t)(test_random(&seed) % (uint64_t)(st.st_size - 512));
            assert_int_equal(ftruncate(fd, keep), 0);
            damaged = 20 - (int)((keep - 512) / (off_t)(st.st_size / 20));
            if (damaged < 1) damaged = 1;
            damaged += 1;
        }
        close(fd);
        s = must_open(dir, 0, 8 << 20, model_a);
        int found = 0;
        for (uint64_t i = 0; i < 20; i++) found += has(s, KV_STORE_BLOCK, i, 2000);
        if (found < 20 - damaged) fail_msg("round %d: %d of 20 found", round, found);
        must_check(s);
        /* And it goes on: what is written now is found after the next start. */
        for (uint64_t i = 100; i < 105; i++)
            assert_int_equal(put(s, KV_STORE_BLOCK, i, 2000, 0), 0);
        kv_store_close(s);
        if (round % 3 == 0) remove_index(dir);
        s = must_open(dir, 0, 8 << 20, model_a);
        for (uint64_t i = 100; i < 105; i++) assert_true(has(s, KV_STORE_BLOCK, i, 2000));
        kv_store_close(s);
        free(path);
        test_remove(dir);
    }
}

static void the_folder_stays_within_its_budget(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    char *dir = test_folder();
    uint64_t budget = 6 << 20;
    kv_store *s = must_open(dir, 300000, budget, model_a);
    int hits = 0, asked = 0;
    for (int step = 0; step < 2000; step++) {
        /* A few are asked for often, most once. */
        uint64_t i = test_random(&seed) % (step % 3 ? 30 : 100000);
        size_t n = 2000 + 997 * (i % 60);
        enum kv_store_kind kind = i % 3 ? KV_STORE_CHUNK : KV_STORE_BLOCK;
        asked += i < 30;
        if (has(s, kind, i, n)) {
            hits += i < 30;
        } else {
            int rc = put(s, kind, i, n, 0);
            assert_true(!rc || rc == FO_EBUSY);
        }
        if (step % 50 == 0) {
            if (step % 400 == 0) kv_store_flush(s);
            must_check(s);
            assert_true(bytes_in(dir) <= budget);
            kv_store_stats st;
            kv_store_get_stats(s, &st);
            assert_true(st.ram.bytes <= 300000 && st.disk.bytes <= budget);
        }
        if (step % 700 == 699) {
            kv_store_close(s);
            s = must_open(dir, 300000, budget, model_a);
        }
    }
    kv_store_flush(s);
    kv_store_stats st;
    kv_store_get_stats(s, &st);
    assert_true(st.disk.evictions > 0);
    assert_int_equal(st.corrupt, 0);
    assert_int_equal(st.write_errors, 0);
    if (hits < asked * 9 / 10) fail_msg("%d of %d hot records found", hits, asked);
    kv_store_close(s);
    s = must_open(dir, 0, budget / 3, model_a); /* a smaller budget from now on */
    assert_true(bytes_in(dir) <= budget / 3);
    must_check(s);
    kv_store_close(s);
    test_remove(dir);
}

static void what_is_too_large_for_the_disk_drives_nothing_out(void **state) {
    (void)state;
    enum { LARGE = 9 << 20 };
    char *dir = test_folder();
    kv_store *s = must_open(dir, 32 << 20, 8 << 20, model_a);
    for (uint64_t i = 0; i < 10; i++) put(s, KV_STORE_BLOCK, i, 20000, 0);
    for (int k = 0; k < 2;
         k++) { /* kept in RAM; met again, it is no more for the disk than before */
        assert_int_equal(put(s, KV_STORE_CHUNK, 100, LARGE, 5), FO_OK);
        kv_store_flush(s);
        must_check(s);
        for (uint64_t i = 0; i < 10; i++) assert_true(has(s, KV_STORE_BLOCK, i, 20000));
    }
    kv_store_stats st;
    kv_store_get_stats(s, &st);
    assert_int_equal(st.disk.evictions, 0);
    assert_int_equal(st.ram.records, 1);
    kv_store_close(s); /* nor is it at the end */
    s = must_open(dir, 0, 8 << 20, model_a);
    for (uint64_t i = 0; i < 10; i++) assert_true(has(s, KV_STORE_BLOCK, i, 20000));
    assert_false(has(s, KV_STORE_CHUNK, 100, LARGE));
    kv_store_close(s);
    test_remove(dir);
}

static void a_disk_that_refuses_costs_nothing_but_hits(void **state) {
    (void)state;
    char *dir = test_folder();
    kv_store *s = must_open(dir, 1 << 20, 8 << 20, model_a);
    for (uint64_t i = 0; i < 10; i++) put(s, KV_STORE_BLOCK, i, 20000, 0);
    kv_store_flush(s);
    struct rlimit old, low;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    low = old;
    low.rlim_cur = 100000; /* as if the disk were full */
    setrlimit(RLIMIT_FSIZE, &low);
    for (uint64_t i = 100; i < 110; i++)
        put(s, i % 2 ? KV_STORE_BLOCK : KV_STORE_CHUNK, i, 20000, 0);
    kv_store_flush(s);
    setrlimit(RLIMIT_FSIZE, &old);
    must_check(s);
    kv_store_stats st;
    kv_store_get_stats(s, &st);
    assert_true(st.write_errors > 0);
    for (uint64_t i = 0; i < 10; i++) assert_true(has(s, KV_STORE_BLOCK, i, 20000));
    for (uint64_t i = 100; i < 110; i += 2) assert_true(has(s, KV_STORE_CHUNK, i, 20000));
    kv_store_close(s);
    s = must_open(dir, 1 << 20, 8 << 20, model_a);
    for (uint64_t i = 0; i < 10; i++) assert_true(has(s, KV_STORE_BLOCK, i, 20000));
    kv_store_close(s);
    test_remove(dir);
}

static void count_damage(void *arg, const char *kind, const char *text) {
    (void)text;
    *(int *)arg += !strcmp(kind, "kv_damaged");
}

static void what_the_disk_does_not_give_costs_nothing_but_hits(void **state) {
    (void)state;
    enum { BYTES = 8192 - 512, N = 40 }; /* a record each 8 KiB */
    fo_err err = {0};
    for (int all = 0; all < 2; all++) {
        char *dir = test_folder();
        kv_store *s = must_open(dir, 0, 8 << 20, model_a);
        for (uint64_t i = 0; i < N; i++)
            assert_int_equal(put(s, KV_STORE_BLOCK, i, BYTES, 0), FO_OK);
        kv_store_close(s);
        remove_index(dir);
        int n_told = 0;
        kv_store_options o = {
            .dir = dir, .disk_bytes = 8 << 20, .notices = {count_damage, &n_told}};
        bad_sectors.from = 3 * 8192;
        bad_sectors.to = all ? 1 << 30 : 5 * 8192;
        int rc = kv_store_open(&s, &o, model_a, &layout, &err);
        bad_sectors.from = bad_sectors.to = 0;
        assert_ok(rc, &err);
        assert_true(n_told > 0);
        must_check(s);
        int found = 0;
        for (uint64_t i = 0; i < N; i++) found += has(s, KV_STORE_BLOCK, i, BYTES);
        assert_int_equal(found, all ? 3 : N - 2);
        assert_int_equal(put(s, KV_STORE_BLOCK, 100, BYTES, 0), FO_OK);
        kv_store_close(s);
        s = must_open(dir, 0, 8 << 20, model_a);
        assert_true(has(s, KV_STORE_BLOCK, 100, BYTES));
        kv_store_close(s);
        test_remove(dir);
    }
}

static void the_end_waits_no_longer_than_it_may_for_a_slow_disk(void **state) {
    (void)state;
    enum { N = 100, BYTES = 5000, MAY_MS = 1000 };
    char *dir = test_folder();
    kv_store *s = must_open(dir, 1 << 20, 8 << 20, model_a);
    for (uint64_t i = 0; i < N; i++) {
        unsigned char key[32], bytes[BYTES];
        fill(key, bytes, BYTES, i);
        kv_store_item it = {.key = key,
                            .kind = KV_STORE_CHUNK,
                            .n_tokens = 16,
                            .reuse = (double)i + 1,
                            .ram_only = true};
        assert_int_equal(kv_store_put(s, &it, bytes, BYTES, NULL), FO_OK);
    }
    write_us = 100000;
    double began = fo_now_ms();
    kv_store_close_by(s, began + MAY_MS);
    assert_true(fo_now_ms() < began + 5 * MAY_MS);
    write_us = 0;
    s = must_open(dir, 1 << 20, 8 << 20, model_a);
    must_check(s);
    int found = 0;
    for (uint64_t i = 0; i < N; i++) {
        bool there = has(s, KV_STORE_CHUNK, i, BYTES);
        if (found && !there)
            fail_msg("%d is there, %d that is used more is not", (int)i - 1, (int)i);
        found += there;
    }
    assert_true(found > 0 && found < N);
    kv_store_close(s);
    test_remove(dir);
}

/* The child writes and tells after each flush how many it knows to be on disk. */
static void write_for_ever(const char *dir, int out) {
    kv_store *s = NULL;
    kv_store_options o = {.dir = dir, .disk_bytes = 64 << 20};
    if (kv_store_open(&s, &o, model_a, &layout, NULL) != FO_OK) _exit(1);
    for (uint64_t i = 0; i < 100000; i++) {
        unsigned char key[32], bytes[8000];
        size_t n = 4000 + i % 4000;
        fill(key, bytes, n, i);
        kv_store_put(s, &(kv_store_item){.key = key, .n_tokens = 16}, bytes, n, NULL);
        if (i % 7) continue;
        kv_store_flush(s);
        if (write(out, &i, sizeof i) != (ssize_t)sizeof i) _exit(1);
    }
    _exit(0);
}

static void a_kill_at_any_moment_loses_nothing_that_was_written(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    for (int round = 0; round < 12; round++) {
        char *dir = test_folder();
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            close(ends[0]);
            write_for_ever(dir, ends[1]);
        }
        close(ends[1]);
        uint64_t last = 0, seen;
        /* So many news, and a little more: the kill falls between two flushes. */
        int news = 1 + (int)(test_random(&seed) % 12);
        for (int k = 0; k < news; k++) {
            assert_int_equal(read(ends[0], &seen, sizeof seen), sizeof seen);
            last = seen;
        }
        usleep((useconds_t)(test_random(&seed) % 3000));
        kill(child, SIGKILL);
        while (read(ends[0], &seen, sizeof seen) == sizeof seen) last = seen;
        waitpid(child, NULL, 0);
        close(ends[0]);
        if (round % 3 == 2) remove_index(dir);
        kv_store *s = must_open(dir, 0, 64 << 20, model_a);
        for (uint64_t i = 0; i <= last; i++)
            if (!has(s, KV_STORE_BLOCK, i, 4000 + i % 4000))
                fail_msg("round %d: record %d of %d is lost", round, (int)i, (int)last);
        kv_store_stats st;
        kv_store_get_stats(s, &st);
        assert_int_equal(st.corrupt, 0);
        must_check(s);
        kv_store_close(s);
        test_remove(dir);
    }
}

typedef struct worker {
    kv_store *s;
    uint64_t seed;
    int wrong;
} worker;

static void *work(void *arg) {
    worker *w = arg;
    for (int step = 0; step < 400; step++) {
        uint64_t i = test_random(&w->seed) % 60;
        size_t n = 1000 + 371 * (i % 20);
        unsigned char key[32], bytes[9000];
        enum kv_store_kind kind = i % 2 ? KV_STORE_CHUNK : KV_STORE_BLOCK;
        fill(key, bytes, n, i);
        kv_store_ref ref;
        kv_store_stage *ahead = step % 3 ? NULL : kv_store_stage_keys(w->s, key, 1);
        if (step % 31 == 30) {
            kv_store_drop(w->s, key);
        } else if (kv_store_get(w->s, kind, key, &ref, NULL) == FO_OK) {
            w->wrong += ref.n_bytes != n || memcmp(ref.data, bytes, n) != 0;
            kv_store_release(w->s, &ref);
        } else {
            kv_store_put(w->s, &(kv_store_item){.key = key, .kind = kind, .n_tokens = 16}, bytes, n,
                         NULL);
        }
        kv_store_stage_free(w->s, ahead);
        if (step % 100 == 99) kv_store_flush(w->s);
    }
    return NULL;
}

static void many_threads_put_get_and_drop_at_once(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    char *dir = test_folder();
    kv_store *s = must_open(dir, 60000, 2 << 20, model_a);
    worker w[6];
    pthread_t t[6];
    for (int k = 0; k < 6; k++) {
        w[k] = (worker){.s = s, .seed = seed + (uint64_t)k};
        assert_int_equal(pthread_create(&t[k], NULL, work, &w[k]), 0);
    }
    for (int k = 0; k < 20; k++) must_check(s);
    for (int k = 0; k < 6; k++) {
        pthread_join(t[k], NULL);
        assert_int_equal(w[k].wrong, 0);
    }
    must_check(s);
    kv_store_stats st;
    kv_store_get_stats(s, &st);
    assert_int_equal(st.corrupt, 0);
    assert_true(st.disk.hits > 0 && st.ram.hits > 0);
    assert_int_equal(st.staged_bytes, 0);
    kv_store_close(s);
    test_remove(dir);
}

static void what_is_read_ahead_lies_in_ram_until_it_is_let_go(void **state) {
    (void)state;
    enum { N = 3, BYTES = 5000 };
    char *dir = test_folder();
    kv_store *s = must_open(dir, 2 * BYTES, 1 << 20, model_a); /* room for two chunks */
    unsigned char keys[2 * N + 1][32];
    for (uint64_t i = 0; i <= 2 * N; i++) {
        fill(keys[i], NULL, 0, i);
        if (i < 2 * N) assert_int_equal(put(s, i % 2, i, BYTES, 0), FO_OK);
    }
    kv_store_close(s);
    s = must_open(dir, 2 * BYTES, 1 << 20, model_a);
    kv_store_stats st;
    kv_store_stage *t = kv_store_stage_keys(s, keys[0], 2 * N + 1); /* the last is not there */
    assert_non_null(t);
    kv_store_stage *twice = kv_store_stage_keys(s, keys[0], 2 * N);
    kv_store_get_stats(s, &st);
    assert_int_equal(st.staged_bytes, 2 * N * BYTES);
    assert_int_equal(st.ram.bytes, 0);
    must_check(s);
    kv_store_ref ref;
    assert_int_equal(kv_store_get(s, KV_STORE_CHUNK, keys[1], &ref, NULL), FO_OK);
    assert_true(ref.from_disk); /* and stays in RAM now */
    kv_store_release(s, &ref);
    assert_true(has(s, KV_STORE_BLOCK, 0, BYTES));
    kv_store_drop(s, keys[2]);
    kv_store_get_stats(s, &st);
    assert_int_equal(st.ram.bytes, BYTES);
    assert_int_equal(st.disk.hits, 3);
    must_check(s);
    kv_store_stage_free(s, t);
    must_check(s);
    kv_store_get_stats(s, &st);
    assert_int_equal(st.staged_bytes, (2 * N - 1) * BYTES); /* one is in the budget now */
    kv_store_stage_free(s, twice);
    kv_store_get_stats(s, &st);
    assert_int_equal(st.staged_bytes, 0);
    assert_null(kv_store_stage_keys(s, keys[2 * N], 1));
    for (uint64_t i = 0; i < 2 * N; i++) assert_int_equal(has(s, i % 2, i, BYTES), i != 2);
    must_check(s);
    kv_store_close(s);
    test_remove(dir);
}

int main(void) {
    fo_err err = {0};
    if (kv_layout_init(&layout, &err) != FO_OK) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kill_at_any_moment_loses_nothing_that_was_written),
        cmocka_unit_test(keeps_chunks_in_ram_within_its_budget),
        cmocka_unit_test(what_is_used_more_stays_longer),
        cmocka_unit_test(what_was_used_once_keeps_nothing_out_for_ever),
        cmocka_unit_test(held_records_outlive_their_eviction),
        cmocka_unit_test(records_survive_a_restart),
        cmocka_unit_test(rows_that_lie_are_found_out),
        cmocka_unit_test(a_sweep_that_fails_ends_its_transaction),
        cmocka_unit_test(another_models_records_are_never_found_and_go_first),
        cmocka_unit_test(damaged_bytes_are_dropped_and_the_rest_is_kept),
        cmocka_unit_test(the_folder_stays_within_its_budget),
        cmocka_unit_test(what_is_too_large_for_the_disk_drives_nothing_out),
        cmocka_unit_test(a_disk_that_refuses_costs_nothing_but_hits),
        cmocka_unit_test(the_end_waits_no_longer_than_it_may_for_a_slow_disk),
        cmocka_unit_test(what_the_disk_does_not_give_costs_nothing_but_hits),
        cmocka_unit_test(many_threads_put_get_and_drop_at_once),
        cmocka_unit_test(what_is_read_ahead_lies_in_ram_until_it_is_let_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
