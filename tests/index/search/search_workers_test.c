/* Many indexes in one process: how many threads work for them, how much of the address space a
 * small one takes, and that no index waits for another's long work. */
#include "tests/test.h"

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>
#include "index/search/search_index_internal.h"
#include "index/search/search_workers.h"
#include "kernels/clock.h"
#include "kernels/file.h"

enum { DIM = 384, SEAL = 8 };

static search_index *open_index(const char *dir, int i, search_workers *w, size_t seal_chunks,
                                int64_t merge_bytes_per_s) {
    char path[4096];
    fo_err err = {0};
    search_index *ix;
    search_index_options o = {.dim = DIM,
                              .fingerprint = "feed",
                              .tenant = "default",
                              .ef_construction = 40,
                              .seal_chunks = seal_chunks,
                              .merge_bytes_per_s = merge_bytes_per_s,
                              .workers = w};
    snprintf(path, sizeof path, "%s/%d", dir, i);
    assert_ok(search_index_open(&ix, path, &o, NULL, &err), &err);
    return ix;
}

static void add(search_index *ix, int64_t chunk) {
    char text[64];
    float v[DIM] = {0};
    v[chunk % DIM] = 1;
    fo_err err = {0};
    snprintf(text, sizeof text, "word%lld of many", (long long)chunk);
    search_chunk_in c = {
        .chunk = chunk, .document = chunk, .text = text, .text_len = strlen(text), .vector = v};
    assert_ok(search_index_add(ix, &c, &err), &err);
}

/* Memory segments of SEAL chunks each, which the workers seal and merge by fours. */
static void fill(search_index *ix, int n_segments) {
    fo_err err = {0};
    for (int64_t id = 1; id <= n_segments * SEAL; id++) {
        add(ix, id);
        if (id % SEAL == 0) assert_ok(search_index_publish(ix, id, &err), &err);
    }
}

static search_index_stats stats_of(search_index *ix) {
    search_index_stats st;
    search_index_get_stats(ix, &st);
    return st;
}

static int n_threads(void) {
    int n = 0;
    DIR *d = opendir("/proc/self/task");
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static size_t address_space(void) {
    size_t pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%zu", &pages), 1);
    fclose(f);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static search_workers *start(void) {
    fo_err err = {0};
    search_workers *w;
    assert_ok(search_workers_create(&w, 0, &err), &err);
    return w;
}

static void finish(search_index **ix, int n, bool seal) {
    fo_err err = {0};
    for (int i = 0; i < n; i++) assert_ok(search_index_close(ix[i], seal, &err), &err);
}

static void all_indexes_are_sealed_and_merged_by_the_same_few_threads(void **state) {
    (void)state;
    enum { N = 40 };
    char *dir = test_folder();
    int before = n_threads();
    search_workers *w = start();
    search_index *ix[N];
    for (int i = 0; i < N; i++) ix[i] = open_index(dir, i, w, SEAL, -1);
    assert_true(n_threads() <= before + SEARCH_WORKERS + 1); /* a sanitizer may have one */
    for (int i = 0; i < N; i++) fill(ix[i], 4);
    double late = fo_now_ms() + 120e3;
    for (int i = 0; i < N; i++) {
        search_index_stats st;
        while ((st = stats_of(ix[i])).n_segments != 1 || st.bytes_memory || !st.bytes_files) {
            if (fo_now_ms() > late) fail_msg("index %d: %zu segments", i, st.n_segments);
            usleep(1000);
        }
        assert_int_equal(st.n_chunks, 4 * SEAL);
    }
    finish(ix, N, true);
    search_workers_free(w);
    assert_true(n_threads() <= before + 1);
    test_remove(dir);
}

static void long_merges_hold_up_neither_seals_nor_the_closing(void **state) {
    (void)state;
    enum { SLOW = 3, N = SLOW + 1 };
    char *dir = test_folder(), path[4096];
    search_workers *w = start();
    search_index *ix[N];
    for (int i = 0; i < N; i++) ix[i] = open_index(dir, i, w, SEAL, i < SLOW ? 1 : -1);
    for (int i = 0; i < SLOW; i++) fill(ix[i], 4); /* would take hours */
    int merging = 0;
    for (double late = fo_now_ms() + 60e3; merging < 2;) {
        merging = 0;
        for (int i = 0; i < SLOW; i++) { /* the file that a merge is writing */
            snprintf(path, sizeof path, "%s/%d", dir, i);
            DIR *d = opendir(path);
            for (struct dirent *e; (e = readdir(d));) merging += strstr(e->d_name, ".tmp-") != NULL;
            closedir(d);
        }
        if (fo_now_ms() > late) fail_msg("%d merges are under way", merging);
        usleep(1000);
    }
    fill(ix[SLOW], 1);
    for (double late = fo_now_ms() + 60e3; stats_of(ix[SLOW]).bytes_memory;) {
        if (fo_now_ms() > late) fail_msg("a memory segment waits for the merges of others");
        usleep(1000);
    }
    double begin = fo_now_ms();
    finish(ix, N, true);
    search_workers_free(w);
    assert_true(fo_now_ms() - begin < 60e3);
    test_remove(dir);
}

/* Is a file being written in the folder of index i? */
static bool writes(const char *dir, int i) {
    char path[4096];
    bool found = false;
    snprintf(path, sizeof path, "%s/%d", dir, i);
    DIR *d = opendir(path);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) found |= strstr(e->d_name, ".tmp-") != NULL;
    closedir(d);
    return found;
}

/* What comes in while an index is merged, which would take hours, does not gather in its memory, with the threads of
 * all indexes and with its own; and the merge's files are still the index's. */
static void a_long_merge_does_not_hold_up_the_seals_of_its_own_index(void **state) {
    (void)state;
    enum { MORE = 40 };
    for (int own = 0; own < 2; own++) {
        char *dir = test_folder();
        fo_err err = {0};
        search_workers *w = own ? NULL : start();
        search_index *ix = open_index(dir, 0, w, SEAL, 1);
        fill(ix, 4);
        const double late = fo_now_ms() + 60e3;
        while (!writes(dir, 0) || stats_of(ix).bytes_memory) {
            if (fo_now_ms() > late) fail_msg("no merge is under way");
            usleep(1000);
        }
        for (int64_t id = 4 * SEAL + 1; id <= (4 + MORE) * SEAL; id++) {
            add(ix, id);
            if (id % SEAL) continue;
            assert_ok(search_index_remove(ix, id - 3 * SEAL, &err), &err);
            assert_ok(search_index_publish(ix, id, &err), &err);
        }
        while (stats_of(ix).bytes_memory || search_index_epoch(ix) < (4 + MORE) * SEAL) {
            if (fo_now_ms() > late)
                fail_msg("%zu segments, %llu bytes in memory", stats_of(ix).n_segments,
                         (unsigned long long)stats_of(ix).bytes_memory);
            usleep(1000);
        }
        assert_true(writes(dir, 0));
        assert_int_equal(stats_of(ix).n_segments, 4 + MORE);
        finish(&ix, 1, true);
        search_workers_free(w);
        ix = open_index(dir, 0, NULL, SEAL, -1);
        assert_int_equal(search_index_epoch(ix), (4 + MORE) * SEAL);
        assert_ok(search_index_compact(ix, &err), &err);
        assert_int_equal(stats_of(ix).n_chunks, (4 + MORE) * SEAL - MORE);
        assert_ok(search_index_verify(ix, &err), &err);
        finish(&ix, 1, true);
        test_remove(dir);
    }
}

/* Merges without a limit while seals go on: each document is found once, in whatever order the two end. */
static void seals_and_merges_of_one_index_keep_every_document(void **state) {
    (void)state;
    enum { N = 200 };
    char *dir = test_folder();
    fo_err err = {0};
    search_workers *w = start();
    search_index *ix = open_index(dir, 0, w, SEAL, -1);
    for (int64_t id = 1; id <= N * SEAL; id++) {
        add(ix, id);
        if (id % SEAL) continue;
        if (id > 5 * SEAL) assert_ok(search_index_remove(ix, id - 5 * SEAL, &err), &err);
        assert_ok(search_index_publish(ix, id, &err), &err);
    }
    const double late = fo_now_ms() + 120e3;
    while (stats_of(ix).bytes_memory && fo_now_ms() < late) usleep(1000);
    finish(&ix, 1, true);
    ix = open_index(dir, 0, w, SEAL, -1);
    assert_int_equal(search_index_epoch(ix), N * SEAL);
    int64_t *ids;
    size_t n, k = 0;
    assert_ok(search_index_ids(ix, &ids, &n, &err), &err);
    for (int64_t id = 1; id <= N * SEAL; id++) {
        if (id % SEAL == 0 && id <= (N - 5) * SEAL) continue;
        assert_true(k < n && ids[k] == id);
        k++;
    }
    assert_int_equal(k, n);
    free(ids);
    assert_ok(search_index_verify(ix, &err), &err);
    finish(&ix, 1, true);
    search_workers_free(w);
    test_remove(dir);
}

static void a_small_index_takes_little_of_the_address_space(void **state) {
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* they set aside address space of their own */
#endif
    enum { N = 100 };
    char *dir = test_folder();
    fo_err err = {0};
    search_workers *w = start();
    search_index *ix[N];
    size_t before = address_space();
    for (int i = 0; i < N; i++) {
        ix[i] = open_index(dir, i, w, 0, 0);
        add(ix[i], i + 1);
        assert_ok(search_index_publish(ix[i], 1, &err), &err);
    }
    size_t each = (address_space() - before) / N;
    if (each > 3 << 20) fail_msg("%zu bytes of addresses for one chunk", each);
    finish(ix, N, true);
    search_workers_free(w);
    test_remove(dir);
}

/* The memory segment outgrows the room that it began with, while somebody reads. */
static void a_memory_segment_grows_and_older_snapshots_stay(void **state) {
    (void)state;
    char *dir = test_folder();
    fo_err err = {0};
    search_workers *w = start();
    search_index *ix = open_index(dir, 0, w, 1000, 0);
    search_snapshot *old[8];
    size_t sizes[8];
    int64_t id = 0;
    for (int i = 0; i < 8; i++) {
        for (int k = 0; k < 100 + i; k++) add(ix, ++id);
        assert_ok(search_index_publish(ix, id, &err), &err);
        old[i] = search_index_acquire(ix);
        sizes[i] = (size_t)id;
    }
    assert_int_equal(stats_of(ix).n_segments, 1);
    for (int i = 0; i < 8; i++) {
        search_hit hits[1000];
        size_t n;
        float v[DIM] = {1};
        assert_int_equal(search_snapshot_count(old[i]), sizes[i]);
        assert_ok(search_dense(old[i], v, 1000, 0, NULL, hits, &n, &err), &err);
        assert_int_equal(n, sizes[i]);
        search_index_release(old[i]);
    }
    assert_ok(search_index_seal(ix, &err), &err);
    assert_ok(search_index_verify(ix, &err), &err);
    finish(&ix, 1, true);
    search_workers_free(w);
    test_remove(dir);
}

typedef struct seen {
    _Atomic int n;
} seen;

static void see(void *ctx, const char *why) {
    seen *s = ctx;
    assert_non_null(strstr(why, "checksum"));
    s->n++;
}

static void flip(const char *path, long at) {
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    assert_int_equal(fseek(f, at, SEEK_SET), 0);
    int c = fgetc(f);
    assert_int_equal(fseek(f, at, SEEK_SET), 0);
    assert_true(fputc(c ^ 1, f) != EOF && fclose(f) == 0);
}

static void the_files_of_every_index_are_checked(void **state) {
    (void)state;
    enum { N = 12 };
    char *dir = test_folder(), path[4096];
    search_workers *w = start();
    search_index *ix[N];
    seen s[N] = {0};
    for (int i = 0; i < N; i++) {
        fo_err err = {0};
        ix[i] = open_index(dir, i, w, 1000, 0);
        fill(ix[i], 1);
        assert_ok(search_index_seal(ix[i], &err), &err);
        if (i % 3) continue;
        snprintf(path, sizeof path, "%s/%d/%016x.seg", dir, i, 1);
        flip(path, 1024);
    }
    for (int i = 0; i < N; i++) search_index_watch(ix[i], see, &s[i]);
    for (double late = fo_now_ms() + 120e3;;) {
        int n = 0;
        for (int i = 0; i < N; i++)
            n += (i % 3 == 0) == (s[i].n > 0) && stats_of(ix[i]).bytes_checked > 0;
        if (n == N) break;
        if (fo_now_ms() > late) fail_msg("%d of %d indexes are checked", n, N);
        usleep(1000);
    }
    finish(ix, N, false);
    search_workers_free(w);
    test_remove(dir);
}

static void add_sealed(search_index *ix, int64_t first) {
    fo_err err = {0};
    for (int64_t id = first; id < first + SEAL; id++) add(ix, id);
    assert_ok(search_index_publish(ix, first, &err), &err);
    assert_ok(search_index_seal(ix, &err), &err);
}

/* Told of damage: drops the file, as a service does. */
typedef struct dropper {
    search_index *ix;
    _Atomic int n, n_dropped;
    char why[256];
} dropper;

static void see_and_drop(void *ctx, const char *why) {
    dropper *d = ctx;
    fo_err err = {0};
    size_t n = 0;
    snprintf(d->why, sizeof d->why, "%s", why);
    assert_ok(search_index_drop_damaged(d->ix, &n, &err), &err);
    d->n_dropped += (int)n;
    d->n++;
}

/* Files that follow each other: none is left out, and behind a damaged one the next is looked at from its beginning. */
static void each_file_of_an_index_is_checked_from_its_beginning(void **state) {
    (void)state;
    enum { PARTS = 3, WIDTH = 1 << 20 };
    for (int harmed = 1; harmed <= PARTS; harmed++) {
        char *dir = test_folder(), path[4096];
        search_workers *w = start();
        search_index *ix = open_index(dir, 0, w, 1000, 0);
        for (int64_t i = 0; i < PARTS; i++) add_sealed(ix, 1 + i * SEAL);
        finish(&ix, 1, true);
        ix = open_index(dir, 0, w, 1000, 0);
        snprintf(path, sizeof path, "%s/0/%016x.seg", dir, harmed);
        flip(path, 1024);
        dropper d = {.ix = ix};
        search_index_watch(ix, see_and_drop, &d);
        double late = fo_now_ms() + 120e3;
        while ((d.n == 0 || stats_of(ix).bytes_checked < PARTS * WIDTH) && fo_now_ms() < late)
            usleep(1000);
        usleep(50000); /* whoever takes the next file for damaged, too, has said so */
        assert_int_equal(d.n, 1);
        assert_int_equal(d.n_dropped, 1);
        assert_int_equal(stats_of(ix).n_damaged, 1);
        snprintf(path, sizeof path, "segment %016x: ", harmed);
        assert_non_null(strstr(d.why, path));
        assert_int_equal(stats_of(ix).n_segments, PARTS - 1);
        finish(&ix, 1, false);
        search_workers_free(w);
        test_remove(dir);
    }
}

/* Counts what it is told, and leaves the file where it is. */
static void see_any(void *ctx, const char *why) {
    seen *s = ctx;
    assert_true(why[0]);
    s->n++;
}

/* Told as a watcher is, but no thread checks the files. */
static void leave_to_us(search_index *ix, seen *s) {
    pthread_mutex_lock(&ix->mu);
    ix->damage_fn = see_any;
    ix->damage_ctx = s;
    pthread_mutex_unlock(&ix->mu);
}

/* One slice of the check; is it due again at once, in a minute, or tomorrow? */
enum due { AT_ONCE, IN_A_MINUTE, TOMORROW };
static enum due check_some(search_index *ix, bool restart) {
    const double before = fo_now_ms(), due = search_background_check(ix, restart) - before;
    return due < 30e3 ? AT_ONCE : due < 3600e3 ? IN_A_MINUTE : TOMORROW;
}

/* Slice by slice, without threads: each file once, then a day's rest; from the first on where that is asked for. */
static void a_pass_goes_from_file_to_file(void **state) {
    (void)state;
    enum { PARTS = 3, WIDTH = 1 << 20 };
    char *dir = test_folder(), path[4096];
    search_index *ix = open_index(dir, 0, NULL, 1000, 0);
    seen s = {0};
    for (int64_t i = 0; i < PARTS; i++) add_sealed(ix, 1 + i * SEAL);
    leave_to_us(ix, &s);
    for (int pass = 1; pass <= 2; pass++) {
        for (int i = 0; i < PARTS; i++) assert_int_equal(check_some(ix, false), AT_ONCE);
        assert_int_equal(stats_of(ix).bytes_checked, pass * PARTS * WIDTH);
        assert_int_equal(check_some(ix, false), TOMORROW);
        assert_int_equal(stats_of(ix).bytes_checked, pass * PARTS * WIDTH);
    }
    assert_int_equal(check_some(ix, false), AT_ONCE);
    for (int i = 0; i < PARTS; i++) assert_int_equal(check_some(ix, i == 0), AT_ONCE);
    assert_int_equal(check_some(ix, false), TOMORROW);
    assert_int_equal(s.n, 0);

    snprintf(path, sizeof path, "%s/0/%016x.seg", dir, 2);
    flip(path, 1024);
    assert_int_equal(check_some(ix, false), AT_ONCE);
    assert_int_equal(check_some(ix, false), IN_A_MINUTE); /* what it tells of is still there */
    assert_int_equal(s.n, 1);
    const uint64_t checked = stats_of(ix).bytes_checked;
    assert_int_equal(check_some(ix, false), IN_A_MINUTE);
    assert_int_equal(s.n, 2);
    assert_int_equal(stats_of(ix).bytes_checked, checked);
    assert_int_equal(stats_of(ix).n_damaged, 1);
    fo_err err = {0};
    size_t n_dropped;
    assert_ok(search_index_drop_damaged(ix, &n_dropped, &err), &err);
    assert_int_equal(n_dropped, 1);
    assert_int_equal(check_some(ix, false), AT_ONCE); /* the third */
    assert_int_equal(check_some(ix, false), TOMORROW);
    assert_int_equal(s.n, 2);
    finish(&ix, 1, false);
    test_remove(dir);
}

/* A file of several slices is looked through to its end. */
static void a_large_file_is_checked_to_its_end(void **state) {
    (void)state;
    enum { CHUNKS = 4000, WIDTH = 1 << 20 };
    char *dir = test_folder(), path[4096];
    search_index *ix = open_index(dir, 0, NULL, 2 * CHUNKS, 0);
    seen s = {0};
    fo_err err = {0};
    struct stat st;
    for (int64_t id = 1; id <= CHUNKS; id++) add(ix, id);
    assert_ok(search_index_publish(ix, 1, &err), &err);
    assert_ok(search_index_seal(ix, &err), &err);
    snprintf(path, sizeof path, "%s/0/%016x.seg", dir, 1);
    assert_int_equal(stat(path, &st), 0);
    assert_true(st.st_size > 2 * WIDTH);
    leave_to_us(ix, &s);
    int slices = 1;
    while (check_some(ix, false) == AT_ONCE && slices < 100) slices++;
    assert_int_equal(s.n, 0);
    assert_in_range(slices, st.st_size / WIDTH, st.st_size / WIDTH + 3);
    flip(path, st.st_size - 4096);
    while (check_some(ix, false) == AT_ONCE) continue;
    assert_int_equal(s.n, 1);
    finish(&ix, 1, false);
    test_remove(dir);
}

/* A bit changed after the day's check: the merge finds it, says so and leaves all files. Without the
 * damaged one there is no fourth to merge with. */
static void what_is_damaged_is_not_merged(void **state) {
    (void)state;
    enum { PARTS = 4, WIDTH = 1 << 20 };
    char *dir = test_folder(), path[4096];
    search_workers *w = start();
    search_index *ix = open_index(dir, 0, w, SEAL, 0);
    seen s = {0};
    fo_err err = {0};
    for (int64_t i = 0; i + 1 < PARTS; i++) add_sealed(ix, 1 + i * SEAL);
    assert_int_equal(stats_of(ix).n_segments, PARTS - 1);
    search_index_watch(ix, see, &s);
    double late = fo_now_ms() + 120e3;
    while (stats_of(ix).bytes_checked < (PARTS - 1) * WIDTH && fo_now_ms() < late) usleep(1000);
    usleep(100000); /* the pass is over, and the next is tomorrow's */
    snprintf(path, sizeof path, "%s/0/%016x.seg", dir, 2);
    flip(path, 1024);
    add_sealed(ix, 1 + (PARTS - 1) * SEAL);
    while (s.n == 0 && fo_now_ms() < late) usleep(1000);
    assert_int_equal(s.n, 1);
    assert_int_equal(stats_of(ix).n_damaged, 1);
    assert_int_equal(stats_of(ix).bytes_checked, (PARTS - 1) * WIDTH);
    assert_int_equal(stats_of(ix).n_segments, PARTS);
    assert_int_equal(search_index_compact(ix, &err), FO_ECORRUPT);
    assert_non_null(strstr(err.msg, "segment 0000000000000002: section"));
    assert_int_equal(stats_of(ix).n_segments, PARTS);
    size_t n_dropped;
    assert_ok(search_index_drop_damaged(ix, &n_dropped, &err), &err);
    assert_int_equal(n_dropped, 1);
    assert_ok(search_index_compact(ix, &err), &err);
    assert_int_equal(stats_of(ix).n_segments, 1);
    assert_int_equal(stats_of(ix).n_chunks, (PARTS - 1) * SEAL);
    assert_ok(search_index_verify(ix, &err), &err);
    finish(&ix, 1, true);
    search_workers_free(w);
    test_remove(dir);
}

static void see_unread(void *ctx, const char *why) {
    seen *s = ctx;
    assert_non_null(strstr(why, "segment 0000000000000001: the disk does not give byte "));
    s->n++;
}

/* A file of which pages cannot be read any more: whoever searches is told, the index goes on with the rest,
 * and that the disk gives the bytes again makes no difference. */
static void what_the_disk_does_not_give_is_no_answer(void **state) {
    (void)state;
    char *dir = test_folder(), path[4096], *bytes = NULL;
    search_workers *w = start();
    search_index *ix = open_index(dir, 0, w, SEAL, 0);
    seen s = {0};
    search_hit hits[4];
    size_t n, size, n_dropped;
    float v[DIM] = {0};
    fo_err err = {0};
    v[3] = 1;
    add_sealed(ix, 1);
    add_sealed(ix, 1 + SEAL);
    snprintf(path, sizeof path, "%s/0/%016x.seg", dir, 1);
    assert_ok(fo_file_read(path, 1 << 24, &bytes, &size, &err), &err);
    search_snapshot *sn = search_index_acquire(ix);
    assert_ok(search_dense(sn, v, 4, 0, NULL, hits, &n, &err), &err);
    assert_ok(search_sparse(sn, "word3", 4, NULL, hits, &n, &err), &err);
    assert_int_equal(n, 1);
    assert_int_equal(truncate(path, 0), 0);
    n = 99;
    assert_int_equal(search_dense(sn, v, 4, 0, NULL, hits, &n, &err), FO_ECORRUPT);
    assert_int_equal(n, 0);
    assert_non_null(strstr(err.msg, "segment 0000000000000001: the disk does not give byte "));
    assert_int_equal(search_sparse(sn, "word12", 4, NULL, hits, &n, &err), FO_ECORRUPT);
    FILE *f = fopen(path, "r+b");
    assert_true(f && fwrite(bytes, 1, size, f) == size && fclose(f) == 0);
    free(bytes);
    assert_int_equal(search_sparse(sn, "word12", 4, NULL, hits, &n, &err), FO_ECORRUPT);
    assert_int_equal(search_index_compact(ix, &err), FO_ECORRUPT); /* nothing is made of it */
    assert_int_equal(stats_of(ix).n_segments, 2);
    search_index_release(sn);
    search_index_watch(ix, see_unread, &s);
    search_index_check_files(ix);
    double late = fo_now_ms() + 120e3;
    while (stats_of(ix).n_damaged == 0 && fo_now_ms() < late) usleep(1000);
    assert_ok(search_index_drop_damaged(ix, &n_dropped, &err), &err);
    assert_int_equal(n_dropped, 1);
    sn = search_index_acquire(ix);
    assert_ok(search_sparse(sn, "word12", 4, NULL, hits, &n, &err), &err);
    assert_int_equal(n, 1);
    search_index_release(sn);
    finish(&ix, 1, false);
    assert_int_equal(s.n, 1);
    search_workers_free(w);
    test_remove(dir);
}

/* ---- pools ------------------------------------------------------------------------------------ */

typedef struct holder { /* a loop that lasts until it is told to end */
    pthread_t thread;
    fo_pool *pool;
    atomic_bool has_begun, ends;
} holder;

static void wait_for_end(void *arg, size_t begin, size_t end, int thread) {
    (void)begin, (void)end, (void)thread;
    holder *h = arg;
    atomic_store(&h->has_begun, true);
    while (!atomic_load(&h->ends)) sched_yield();
}

static void *hold(void *arg) {
    holder *h = arg;
    fo_pool_run(h->pool, 2, 1, wait_for_end, h);
    return NULL;
}

static void begin_hold(holder *h, fo_pool *pool) {
    *h = (holder){.pool = pool};
    assert_int_equal(pthread_create(&h->thread, NULL, hold, h), 0);
    while (!atomic_load(&h->has_begun)) sched_yield();
}

static void end_hold(holder *h) {
    atomic_store(&h->ends, true);
    assert_int_equal(pthread_join(h->thread, NULL), 0);
}

/* It would hang. */
static void neither_a_merge_nor_what_is_published_waits_for_the_others_pool(void **state) {
    (void)state;
    enum { MANY = 400 };
    char *dir = test_folder(), path[4096];
    fo_err err = {0};
    search_index *ix;
    holder held;
    search_index_options o = {.dim = DIM,
                              .fingerprint = "feed",
                              .tenant = "default",
                              .ef_construction = 40,
                              .seal_chunks = MANY,
                              .pool = fo_pool_create(2),
                              .merge_pool = fo_pool_create(2)};
    snprintf(path, sizeof path, "%s/0", dir);
    assert_ok(search_index_open(&ix, path, &o, NULL, &err), &err);
    for (int64_t id = 1; id <= 2 * MANY; id++) {
        add(ix, id);
        if (id % MANY == 0) assert_ok(search_index_publish(ix, id, &err), &err);
    }
    begin_hold(&held, o.pool);
    assert_ok(search_index_compact(ix, &err), &err);
    end_hold(&held);
    assert_int_equal(stats_of(ix).n_segments, 1);
    begin_hold(&held, o.merge_pool);
    for (int64_t id = 2 * MANY + 1; id <= 3 * MANY; id++) add(ix, id);
    assert_ok(search_index_publish(ix, 3 * MANY, &err), &err);
    end_hold(&held);
    assert_int_equal(stats_of(ix).n_chunks, 3 * MANY);
    finish(&ix, 1, true);
    fo_pool_free(o.pool);
    fo_pool_free(o.merge_pool);
    test_remove(dir);
}

typedef struct told {
    atomic_int stuck, goes_on;
} told;

static void hear(void *ctx, const char *kind, const char *text) {
    told *t = ctx;
    t->stuck += !strcmp(kind, "index_stuck") && strstr(text, "stays in memory") != NULL;
    t->goes_on += !strcmp(kind, "index_goes_on");
}

/* The folder is gone for a while: told once, counted each time, and when it is over. */
static void a_seal_that_fails_is_told(void **state) {
    (void)state;
    char *dir = test_folder(), folder[600], away[600];
    told t = {0};
    fo_err err = {0};
    search_index *ix;
    snprintf(folder, sizeof folder, "%s/index", dir);
    snprintf(away, sizeof away, "%s/away", dir);
    search_index_options opt = {.tenant = "default", .seal_chunks = 1, .notices = {hear, &t}};
    assert_ok(search_index_open(&ix, folder, &opt, NULL, &err), &err);
    assert_int_equal(rename(folder, away), 0);
    double late = fo_now_ms() + 60e3;
    for (int64_t i = 1; i <= 3; i++) {
        add(ix, i);
        assert_ok(search_index_publish(ix, i, &err), &err);
        while (stats_of(ix).n_failures < (uint64_t)i && fo_now_ms() < late) usleep(1000);
    }
    assert_int_equal(stats_of(ix).n_failures, 3);
    assert_int_equal(rename(away, folder), 0);
    add(ix, 4);
    assert_ok(search_index_publish(ix, 4, &err), &err);
    while (!t.goes_on && fo_now_ms() < late) usleep(1000);
    assert_int_equal(t.stuck, 1);
    assert_int_equal(t.goes_on, 1);
    assert_ok(search_index_close(ix, true, &err), &err);
    test_remove(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_indexes_are_sealed_and_merged_by_the_same_few_threads),
        cmocka_unit_test(long_merges_hold_up_neither_seals_nor_the_closing),
        cmocka_unit_test(a_long_merge_does_not_hold_up_the_seals_of_its_own_index),
        cmocka_unit_test(seals_and_merges_of_one_index_keep_every_document),
        cmocka_unit_test(a_small_index_takes_little_of_the_address_space),
        cmocka_unit_test(a_memory_segment_grows_and_older_snapshots_stay),
        cmocka_unit_test(the_files_of_every_index_are_checked),
        cmocka_unit_test(each_file_of_an_index_is_checked_from_its_beginning),
        cmocka_unit_test(a_pass_goes_from_file_to_file),
        cmocka_unit_test(a_large_file_is_checked_to_its_end),
        cmocka_unit_test(what_is_damaged_is_not_merged),
        cmocka_unit_test(a_seal_that_fails_is_told),
        cmocka_unit_test(what_the_disk_does_not_give_is_no_answer),
        cmocka_unit_test(neither_a_merge_nor_what_is_published_waits_for_the_others_pool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
