/* The ledger of commits: what it knows after commits, rollbacks and crashes, and that a store which
 * lost acknowledged commits does not open as if nothing had happened. */
#include "tests/test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "data/sqlite/sqlite_store.h"
#include "kernels/file.h"
#include "kernels/page_sums.h"
#include "tests/data/store/store_fixture.h"

#include "data/sqlite/ledger.h"

static const unsigned char id[16] = "0123456789abcdef";

/* In the place of the C library's, for this program: the next one of each fails with this errno; 0: none does. */
static atomic_int data_sync_fails, sync_fails;
static atomic_bool slow; /* a sync takes its time */
static atomic_int n_synced;

int fdatasync(int fd) {
    const int fails = atomic_exchange(&data_sync_fails, 0);
    const struct timespec while_slow = {.tv_nsec = 100 * 1000 * 1000};
    if (atomic_load(&slow)) nanosleep(&while_slow, NULL);
    const int rc = fails ? -1 : (int)syscall(SYS_fdatasync, fd);
    atomic_fetch_add(&n_synced, 1);
    if (fails) errno = fails;
    return rc;
}

int fsync(int fd) {
    const int fails = atomic_exchange(&sync_fails, 0);
    if (!fails) return (int)syscall(SYS_fsync, fd);
    errno = fails;
    return -1;
}

static ledger_state state(int64_t collection, int64_t epoch) {
    ledger_state s = {.collection = collection, .epoch = epoch, .n_documents = 10 * epoch};
    snprintf(s.name, sizeof s.name, "c%lld", (long long)collection);
    return s;
}

static void commit(ledger *l, int64_t number, int64_t collection, bool made) {
    fo_err err = {0};
    ledger_state s = state(collection, number);
    assert_ok(ledger_begin(l, number, &s, 1, &err), &err);
    assert_ok(ledger_end(l, number, made, &err), &err);
}

/* Without what a commit is to be known by after a loss of power, it is not said to be made; the next one is. */
static void a_commit_whose_record_is_not_synced_fails(void **unused) {
    (void)unused;
    char *dir = test_folder();
    char path[4096];
    snprintf(path, sizeof path, "%s/ledger", dir);
    fo_err err = {0};
    ledger *l;
    const ledger_state first = state(3, 7), next = state(3, 8);
    assert_ok(ledger_create(&l, path, id, 7, &first, 1, &err), &err);
    commit(l, 7, 3, true);
    const struct timespec idle = {.tv_nsec =
                                      200 * 1000 * 1000}; /* that it was made is synced by then */
    nanosleep(&idle, NULL);
    atomic_store(&data_sync_fails, EIO);
    assert_ok(ledger_begin(l, 8, &next, 1, &err), &err);
    assert_int_equal(ledger_end(l, 8, true, &err), FO_EIO);
    assert_non_null(strstr(err.msg, "cannot sync the ledger"));
    commit(l, 9, 3, true);
    /* Nor before the sync is over. */
    nanosleep(&idle, NULL);
    const int before = atomic_load(&n_synced);
    atomic_store(&slow, true);
    commit(l, 10, 3, true);
    atomic_store(&slow, false);
    assert_in_range(atomic_load(&n_synced), before + 1, before + 2);
    ledger_close(l);
    test_remove(dir);
}

/* What lies ahead of the records has to be on disk, for it is never synced again; and nothing of a step that failed stays. */
static void a_step_that_is_not_synced_fails(void **unused) {
    (void)unused;
    char *dir = test_folder();
    char path[4096];
    snprintf(path, sizeof path, "%s/ledger", dir);
    fo_err err = {0};
    ledger *l;
    const ledger_state first = state(3, 7);
    assert_ok(ledger_create(&l, path, id, 7, &first, 1, &err), &err);
    struct stat before, now;
    assert_int_equal(stat(path, &before), 0);
    atomic_store(&sync_fails, EIO);
    int64_t number = 8;
    int rc = FO_OK;
    for (; !rc && number < 2000; number++) {
        const ledger_state next = state(3, number);
        rc = ledger_begin(l, number, &next, 1, &err);
        if (!rc) assert_ok(ledger_end(l, number, true, &err), &err);
    }
    assert_int_equal(rc, FO_EIO);
    assert_non_null(strstr(err.msg, "cannot sync the ledger"));
    assert_int_equal(atomic_load(&sync_fails), 0);
    commit(l, number, 3, true);
    assert_int_equal(stat(path, &now), 0);
    assert_true(now.st_size > before.st_size);
    ledger_close(l);
    test_remove(dir);
}

static void flip(const char *path, uint64_t at, int bit) {
    int fd = open(path, O_RDWR);
    unsigned char b;
    assert_true(fd >= 0 && pread(fd, &b, 1, (off_t)at) == 1);
    b ^= (unsigned char)(1 << bit);
    assert_int_equal(pwrite(fd, &b, 1, (off_t)at), 1);
    close(fd);
}

static void it_knows_the_last_commit_and_the_one_before(void **unused) {
    (void)unused;
    char *dir = test_folder();
    char path[4096];
    snprintf(path, sizeof path, "%s/ledger", dir);
    fo_err err = {0};
    ledger_view v;
    assert_int_equal(ledger_read(path, &v, &err), FO_ENOTFOUND);
    ledger *l;
    ledger_state two[2] = {state(3, 7), state(5, 7)};
    assert_ok(ledger_create(&l, path, id, 7, two, 2, &err), &err);
    assert_ok(ledger_read(path, &v, &err), &err);
    assert_true(v.last == 7 && v.done && memcmp(v.store, id, 16) == 0);
    assert_int_equal(ledger_at(&v, 5, 7)->n_documents, 70);
    assert_null(ledger_at(&v, 4, 7));
    ledger_view_deinit(&v);
    commit(l, 8, 4, true);  /* a collection is made */
    commit(l, 9, 3, false); /* rolled back ... */
    commit(l, 9, 5, true);  /* ... and tried again */
    ledger_state s = state(3, 10);
    assert_ok(ledger_begin(l, 10, &s, 1, &err), &err);
    assert_ok(ledger_read(path, &v, &err), &err);
    assert_true(v.last == 10 && !v.done);
    assert_int_equal(ledger_at(&v, 3, 10)->epoch, 10);
    assert_int_equal(ledger_at(&v, 3, 9)->epoch, 7);
    assert_int_equal(ledger_at(&v, 4, 9)->epoch, 8);
    assert_int_equal(ledger_at(&v, 5, 9)->epoch, 9);
    ledger_view_deinit(&v);
    assert_ok(ledger_end(l, 10, true, &err), &err);
    s.deleted = true;
    assert_ok(ledger_begin(l, 11, &s, 1, &err), &err);
    assert_ok(ledger_end(l, 11, true, &err), &err);
    ledger_close(l);
    assert_ok(ledger_read(path, &v, &err), &err);
    assert_true(v.last == 11 && v.done);
    assert_null(ledger_at(&v, 3, 11));
    assert_int_equal(ledger_at(&v, 3, 10)->epoch, 10);
    ledger_view_deinit(&v);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    test_remove(dir);
}

/* Every bit of every record, and every length. */
static void damage_is_found(void **unused) {
    (void)unused;
    uint64_t seed = test_seed();
    char *dir = test_folder();
    char path[4096];
    snprintf(path, sizeof path, "%s/ledger", dir);
    fo_err err = {0};
    ledger *l;
    ledger_state two[2] = {state(3, 7), state(5, 7)};
    assert_ok(ledger_create(&l, path, id, 7, two, 2, &err), &err);
    for (int64_t k = 8; k < 40; k++) commit(l, k, 3 + k % 3, true);
    ledger_close(l);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    ledger_view v;
    for (int i = 0; i < 4000; i++) {
        uint64_t at = test_random(&seed) % (uint64_t)st.st_size;
        int bit = (int)(test_random(&seed) % 8);
        flip(path, at, bit);
        int rc = ledger_read(path, &v, &err);
        if (rc != FO_ECORRUPT && rc != FO_EMISMATCH)
            fail_msg("bit %d of byte %llu: %d", bit, (unsigned long long)at, rc);
        flip(path, at, bit);
    }
    char *data;
    size_t size;
    assert_ok(fo_file_read(path, 1 << 20, &data, &size, &err), &err);
    for (int i = 0; i < 200; i++) {
        size_t n = (size_t)(test_random(&seed) % size);
        FILE *f = fopen(path, "wb");
        assert_int_equal(fwrite(data, 1, n, f), n);
        fclose(f);
        assert_int_equal(ledger_read(path, &v, &err), FO_ECORRUPT);
    }
    free(data);
    test_remove(dir);
}

static void it_grows_by_steps_that_are_zero(void **unused) {
    (void)unused;
    char *dir = test_folder();
    char path[4096];
    snprintf(path, sizeof path, "%s/ledger", dir);
    fo_err err = {0};
    ledger *l;
    assert_ok(ledger_create(&l, path, id, 0, NULL, 0, &err), &err);
    int64_t k = 1;
    for (; !ledger_is_long(l); k++) {
        ledger_state s[3] = {state(1, k), state(2, k), state(3, k)};
        assert_ok(ledger_begin(l, k, s, (size_t)(k % 4), &err), &err);
        assert_ok(ledger_end(l, k, true, &err), &err);
        if (k % 97) continue;
        ledger_view v;
        assert_ok(ledger_read(path, &v, &err), &err);
        assert_true(v.last == k && v.done);
        ledger_view_deinit(&v);
    }
    assert_true(k > 1000 && k < 3000);
    ledger_close(l);
    test_remove(dir);
}

/* Allow k more open files; returns the limit before. */
static struct rlimit allow_files(int k) {
    int taken[4], fd = -1;
    struct rlimit old, low;
    for (int i = 0; i <= k; i++) fd = taken[i] = dup(STDIN_FILENO);
    for (int i = 0; i <= k; i++) close(taken[i]);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    low = old;
    low.rlim_cur = (rlim_t)fd;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    return old;
}

/* Where one cannot be made in the place of another, the one that is written is the one that is there. */
static void what_is_written_is_what_is_there(void **unused) {
    (void)unused;
    fo_err err = {0};
    for (int k = 0; k < 4; k++) {
        char *dir = test_folder(), path[900];
        snprintf(path, sizeof path, "%s/ledger", dir);
        ledger_state one = state(1, 5);
        ledger *l, *second = NULL;
        assert_ok(ledger_create(&l, path, id, 7, &one, 1, &err), &err);
        commit(l, 8, 1, true);
        struct rlimit old = allow_files(k);
        int rc = ledger_create(&second, path, id, 8, &one, 1, &err);
        setrlimit(RLIMIT_NOFILE, &old);
        assert_int_equal(rc != FO_OK, k < 3);
        if (second) {
            ledger_close(l);
            l = second;
        }
        commit(l, 9, 1, true);
        ledger_view v;
        assert_ok(ledger_read(path, &v, &err), &err);
        assert_int_equal(v.last, 9);
        ledger_view_deinit(&v);
        ledger_close(l);
        test_remove(dir);
    }
}

/* ---- with a store ------------------------------------------------------------------------ */

typedef struct env {
    char *dir, path[900], wal[1000], ledger[1000];
    store *s;
    int64_t collection;
    fo_err err;
    char said[4000]; /* kinds of notices */
} env;

static void note(void *ctx, const char *kind, const char *text) {
    env *e = ctx;
    size_t n = strlen(e->said);
    snprintf(e->said + n, sizeof e->said - n, "%s ", kind);
    print_message("# %s: %s\n", kind, text);
}

static int reopen(env *e, bool accept) {
    e->said[0] = 0;
    sqlite_options o = {
        .ledger = e->ledger, .store.accept_loss = accept, .store.notices = {note, e}};
    return sqlite_store_open(&e->s, e->path, &o, &e->err);
}

static void begin(env *e) {
    *e = (env){.dir = test_folder()};
    snprintf(e->path, sizeof e->path, "%s/forage.db", e->dir);
    snprintf(e->wal, sizeof e->wal, "%s-wal", e->path);
    snprintf(e->ledger, sizeof e->ledger, "%s/ledger", e->dir);
    assert_ok(reopen(e, false), &e->err);
    store_collection c;
    assert_ok(store_create_collection(e->s, "t", "docs", NULL, &c, &e->err), &e->err);
    e->collection = c.id;
    store_collection_deinit(&c);
}

static void put(env *e, size_t from, size_t n) {
    uint64_t seed = 7;
    for (size_t i = from; i < from + n; i++) {
        fixture_document d;
        store_put_result res;
        fixture_make(&d, e->collection, i, 400, &seed);
        assert_ok(fixture_put(e->s, &d, &res, &e->err), &e->err);
        free(res.removed);
        fixture_free(&d);
    }
}

/* The files as kill -9 would leave them: copied while the store is open. */
static void crash(env *e) {
    char command[4000];
    snprintf(command, sizeof command, "cd '%s' && mkdir c && cp forage.db forage.db-wal ledger c/",
             e->dir);
    assert_int_equal(system(command), 0);
    store_close(e->s);
    snprintf(command, sizeof command, "cd '%s' && rm -f forage.db* ledger && mv c/* . && rmdir c",
             e->dir);
    assert_int_equal(system(command), 0);
}

static int64_t n_documents(env *e) {
    store_collection c;
    assert_ok(store_get_collection(e->s, "t", "docs", &c, &e->err), &e->err);
    int64_t n = c.n_documents;
    store_collection_deinit(&c);
    return n;
}

static void a_store_that_lost_its_log_is_refused(void **unused) {
    (void)unused;
    env e;
    begin(&e);
    put(&e, 0, 50);
    crash(&e);
    assert_ok(reopen(&e, false), &e.err); /* a crash alone loses nothing */
    assert_string_equal(e.said, "");
    assert_int_equal(n_documents(&e), 50);
    assert_ok(sqlite_checkpoint(e.s, &e.err), &e.err);
    put(&e, 50, 50);
    crash(&e);
    struct stat before, after;
    assert_int_equal(stat(e.wal, &before), 0);
    flip(e.wal, (uint64_t)before.st_size / 2, 3);
    assert_int_equal(reopen(&e, false), FO_ECORRUPT);
    print_message("# %s\n", e.err.msg);
    assert_non_null(strstr(e.err.msg, "acknowledged commits are gone"));
    assert_non_null(strstr(e.err.msg, "with 100 documents"));
    assert_int_equal(stat(e.wal, &after), 0); /* for whoever wants to look at it */
    assert_int_equal(after.st_size, before.st_size);
    unlink(e.wal);
    assert_int_equal(reopen(&e, false), FO_ECORRUPT);
    sqlite_options o = {.store.read_only = true, .ledger = e.ledger, .store.notices = {note, &e}};
    assert_ok(sqlite_store_open(&e.s, e.path, &o, &e.err), &e.err);
    assert_string_equal(e.said, "commits_lost ");
    store_close(e.s);
    assert_ok(reopen(&e, true), &e.err);
    assert_string_equal(e.said, "commits_lost ");
    assert_int_equal(n_documents(&e), 50);
    store_collection c;
    assert_ok(store_get_collection(e.s, "t", "docs", &c, &e.err), &e.err);
    assert_true(c.epoch > 100); /* no epoch is used twice */
    store_collection_deinit(&c);
    store_close(e.s);
    assert_ok(reopen(&e, false), &e.err);
    assert_string_equal(e.said, "");
    store_close(e.s);
    test_remove(e.dir);
}

/* Any bit of the log: the store opens with all that was acknowledged, or it is refused. */
static void no_bit_of_the_log_is_lost_in_silence(void **unused) {
    (void)unused;
    uint64_t seed = test_seed();
    env e;
    begin(&e);
    put(&e, 0, 20);
    crash(&e);
    char keep[4200], back[4200];
    snprintf(keep, sizeof keep, "cd '%s' && mkdir k && cp forage.db* ledger k/", e.dir);
    snprintf(back, sizeof back, "cd '%s' && rm -f forage.db* ledger && cp k/* .", e.dir);
    assert_int_equal(system(keep), 0);
    struct stat st;
    assert_int_equal(stat(e.wal, &st), 0);
    int n_refused = 0;
    for (int i = 0; i < 60; i++) {
        flip(e.wal, test_random(&seed) % (uint64_t)st.st_size, (int)(test_random(&seed) % 8));
        int rc = reopen(&e, false);
        if (!rc) {
            assert_int_equal(n_documents(&e), 20);
            store_close(e.s);
        }
        n_refused += rc != 0;
        assert_int_equal(system(back), 0);
    }
    print_message("# %d of 60 refused\n", n_refused);
    assert_int_equal(n_refused, 60);
    test_remove(e.dir);
}

static void a_ledger_that_is_gone_or_damaged_is_told_of_and_made_anew(void **unused) {
    (void)unused;
    static const char *const said[] = {"ledger_missing ", "ledger_damaged ", "ledger_damaged ",
                                       "ledger_short "};
    for (int kind = 0; kind < 4; kind++) {
        env e;
        begin(&e);
        put(&e, 0, 5);
        char command[4000];
        snprintf(command, sizeof command, "cp '%s' '%s.old'", e.ledger, e.ledger);
        assert_int_equal(system(command), 0);
        put(&e, 5, 5);
        store_close(e.s);
        if (kind == 0) unlink(e.ledger);
        if (kind == 1) flip(e.ledger, 1000, 1);
        if (kind == 2) assert_int_equal(truncate(e.ledger, 2048), 0);
        if (kind == 3) {
            snprintf(command, sizeof command, "mv '%s.old' '%s'", e.ledger, e.ledger);
            assert_int_equal(system(command), 0);
        }
        assert_ok(reopen(&e, false), &e.err);
        assert_string_equal(e.said, said[kind]);
        put(&e, 10, 5);
        store_close(e.s);
        assert_ok(reopen(&e, false), &e.err);
        assert_string_equal(e.said, "");
        assert_int_equal(n_documents(&e), 15);
        store_close(e.s);
        test_remove(e.dir);
    }
}

static void a_ledger_that_cannot_be_made_anew_is_told_of(void **unused) {
    (void)unused;
    env e;
    begin(&e);
    store_close(e.s);
    char away[1000], folder[1000];
    snprintf(folder, sizeof folder, "%s/there", e.dir);
    snprintf(away, sizeof away, "%s/away", e.dir);
    snprintf(e.ledger, sizeof e.ledger, "%s/there/ledger", e.dir);
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_ok(reopen(&e, false), &e.err);
    assert_int_equal(rename(folder, away), 0);
    e.said[0] = 0;
    for (int i = 0; !*e.said && i < 3000; i++)
        assert_ok(store_set_tuning(e.s, e.collection, i % 2 ? .5 : .25, .1, &e.err), &e.err);
    assert_string_equal(e.said, "ledger_failed ");
    assert_int_equal(rename(away, folder), 0);
    put(&e, 0, 1);
    store_close(e.s);
    assert_ok(reopen(&e, false), &e.err);
    assert_string_equal(e.said, "");
    store_close(e.s);
    test_remove(e.dir);
}

static void another_store_under_the_ledger_is_refused(void **unused) {
    (void)unused;
    env a, b;
    begin(&a);
    put(&a, 0, 5);
    store_close(a.s);
    begin(&b);
    put(&b, 0, 9);
    store_close(b.s);
    char command[4000];
    snprintf(command, sizeof command, "cp '%s' '%s'", b.path, a.path);
    assert_int_equal(system(command), 0);
    assert_int_equal(reopen(&a, false), FO_ECORRUPT);
    print_message("# %s\n", a.err.msg);
    assert_int_equal(truncate(a.path, 0), 0);
    assert_int_equal(reopen(&a, false), FO_ECORRUPT);
    print_message("# %s\n", a.err.msg);
    test_remove(a.dir);
    test_remove(b.dir);
}

typedef struct committer {
    env *e;
    pthread_t thread;
    atomic_bool stop;
    int n;
} committer;

static void *commit_on(void *arg) {
    committer *w = arg;
    for (; !atomic_load(&w->stop); w->n++) put(w->e, (size_t)w->n, 1);
    return NULL;
}

/* Beside a writer ledger and database are read at different moments. */
static void a_reader_beside_a_writer_says_nothing(void **unused) {
    (void)unused;
    env e, reader = {0};
    begin(&e);
    committer w = {.e = &e};
    assert_int_equal(pthread_create(&w.thread, NULL, commit_on, &w), 0);
    for (int i = 0; i < 40; i++) {
        sqlite_options o = {
            .store.read_only = true, .ledger = e.ledger, .store.notices = {note, &reader}};
        assert_ok(sqlite_store_open(&reader.s, e.path, &o, &reader.err), &reader.err);
        store_close(reader.s);
    }
    atomic_store(&w.stop, true);
    pthread_join(w.thread, NULL);
    print_message("# %d commits\n", w.n);
    assert_string_equal(reader.said, "");
    store_close(e.s);
    test_remove(e.dir);
}

/* What is wrong stays: each time it is told once. */
static void a_reader_tells_what_is_wrong(void **unused) {
    (void)unused;
    env e, reader = {0};
    begin(&e);
    put(&e, 0, 5);
    store_close(e.s);
    sqlite3 *db;
    assert_int_equal(sqlite3_open_v2(e.path, &db, SQLITE_OPEN_READWRITE, fo_page_sums_vfs(NULL)),
                     SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "UPDATE collections SET epoch = epoch + 1", NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(db);
    sqlite_options o = {
        .store.read_only = true, .ledger = e.ledger, .store.notices = {note, &reader}};
    assert_ok(sqlite_store_open(&reader.s, e.path, &o, &reader.err), &reader.err);
    assert_string_equal(reader.said, "counts_differ ");
    store_close(reader.s);
    test_remove(e.dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_knows_the_last_commit_and_the_one_before),
        cmocka_unit_test(a_commit_whose_record_is_not_synced_fails),
        cmocka_unit_test(a_step_that_is_not_synced_fails),
        cmocka_unit_test(damage_is_found),
        cmocka_unit_test(it_grows_by_steps_that_are_zero),
        cmocka_unit_test(what_is_written_is_what_is_there),
        cmocka_unit_test(a_store_that_lost_its_log_is_refused),
        cmocka_unit_test(no_bit_of_the_log_is_lost_in_silence),
        cmocka_unit_test(a_ledger_that_is_gone_or_damaged_is_told_of_and_made_anew),
        cmocka_unit_test(a_ledger_that_cannot_be_made_anew_is_told_of),
        cmocka_unit_test(a_reader_beside_a_writer_says_nothing),
        cmocka_unit_test(a_reader_tells_what_is_wrong),
        cmocka_unit_test(another_store_under_the_ledger_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
