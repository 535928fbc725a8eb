/* Failing disks. A VFS laid over the system's one (1) loses what was not synced when the power
 * goes, keeping any subset of the 512-byte sectors in flight, and (2) fails writes with "disk
 * full" or an I/O error. Shared memory of the WAL index is passed through: it is rebuilt from the
 * log and never has to last. */
#include "tests/test.h"

#include <errno.h>
#include <sqlite3.h>

#include "data/sqlite/sqlite_store.h"
#include "data/store/store_backend.h"
#include "kernels/file.h"
#include "kernels/hex.h"
#include "tests/data/store/store_fixture.h"

/* ---- the VFS ----------------------------------------------------------------------------- */

enum { MAX_FILES = 8, SECTOR = 512 };

typedef struct pending { /* a write that was not synced yet, or (n == 0) a truncation */
    sqlite3_int64 at;
    int n;
    unsigned char *bytes;
} pending;

typedef struct image { /* a file as the platter has it, and what is under way */
    char path[1024];
    unsigned char *bytes;
    sqlite3_int64 size;
    pending *list;
    size_t n, cap;
} image;

static struct {
    sqlite3_vfs vfs, *real;
    image files[MAX_FILES];
    long writes_left; /* before the power goes or the disk fails; < 0: never */
    int failure;      /* SQLITE_FULL or SQLITE_IOERR_WRITE: the disk fails; 0: the power goes */
    bool tracking, dead, no_sync; /* no_sync: what is written is there, and every sync fails */
    const char *refuses;          /* files whose name ends so take no write; NULL: all do */
} disk;

typedef struct file {
    sqlite3_file base;
    sqlite3_file *real;
    image *image; /* NULL: not tracked */
    bool refuses;
} file;

static void image_apply(image *im, const pending *p, bool whole, uint64_t *seed) {
    if (p->n == 0) {
        if (p->at < im->size) im->size = p->at;
        return;
    }
    sqlite3_int64 end = p->at + p->n;
    if (end > im->size) {
        im->bytes = realloc(im->bytes, (size_t)end);
        memset(im->bytes + im->size, 0, (size_t)(end - im->size));
        im->size = end;
    }
    for (int k = 0; k < p->n;) {
        int n = SECTOR - (int)((p->at + k) % SECTOR);
        if (n > p->n - k) n = p->n - k;
        if (whole || test_random(seed) % 2) memcpy(im->bytes + p->at + k, p->bytes + k, (size_t)n);
        k += n;
    }
}

static void image_settle(image *im, bool whole, uint64_t *seed) {
    for (size_t i = 0; i < im->n; i++) {
        if (whole || test_random(seed) % 3) image_apply(im, &im->list[i], whole, seed);
        free(im->list[i].bytes);
    }
    im->n = 0;
}

static void image_add(image *im, sqlite3_int64 at, const void *bytes, int n) {
    if (im->n == im->cap) {
        im->cap = im->cap ? im->cap * 2 : 64;
        im->list = realloc(im->list, im->cap * sizeof *im->list);
    }
    pending p = {at, n, n ? malloc((size_t)n) : NULL};
    if (n) memcpy(p.bytes, bytes, (size_t)n);
    im->list[im->n++] = p;
}

/* The next change of the disk: SQLITE_OK, or how it fails. */
static int next_change(void) {
    if (disk.dead) return SQLITE_IOERR_WRITE;
    if (disk.writes_left < 0) return SQLITE_OK;
    if (disk.writes_left-- > 0) return SQLITE_OK;
    disk.writes_left = 0;
    if (disk.failure) return disk.failure;
    disk.dead = true;
    return SQLITE_IOERR_WRITE;
}

#define REAL(f) (((file *)(f))->real)
static int f_close(sqlite3_file *f) {
    int rc = REAL(f)->pMethods->xClose(REAL(f));
    sqlite3_free(REAL(f));
    return rc;
}
static int f_read(sqlite3_file *f, void *p, int n, sqlite3_int64 at) {
    return REAL(f)->pMethods->xRead(REAL(f), p, n, at);
}
static int f_write(sqlite3_file *f, const void *p, int n, sqlite3_int64 at) {
    int rc = ((file *)f)->refuses ? SQLITE_IOERR_WRITE : next_change();
    if (rc != SQLITE_OK) return rc;
    if (((file *)f)->image) image_add(((file *)f)->image, at, p, n);
    return REAL(f)->pMethods->xWrite(REAL(f), p, n, at);
}
static int f_truncate(sqlite3_file *f, sqlite3_int64 size) {
    int rc = next_change();
    if (rc != SQLITE_OK) return rc;
    if (((file *)f)->image) image_add(((file *)f)->image, size, NULL, 0);
    return REAL(f)->pMethods->xTruncate(REAL(f), size);
}
static int f_sync(sqlite3_file *f, int flags) {
    (void)flags; /* the image is the platter: no need to trouble the real one */
    if (disk.dead || disk.no_sync) return SQLITE_IOERR_FSYNC;
    uint64_t unused = 0;
    if (((file *)f)->image) image_settle(((file *)f)->image, true, &unused);
    return SQLITE_OK;
}
static int f_size(sqlite3_file *f, sqlite3_int64 *size) {
    return REAL(f)->pMethods->xFileSize(REAL(f), size);
}
static int f_lock(sqlite3_file *f, int level) {
    return REAL(f)->pMethods->xLock(REAL(f), level);
}
static int f_unlock(sqlite3_file *f, int level) {
    return REAL(f)->pMethods->xUnlock(REAL(f), level);
}
static int f_reserved(sqlite3_file *f, int *out) {
    return REAL(f)->pMethods->xCheckReservedLock(REAL(f), out);
}
static int f_control(sqlite3_file *f, int op, void *arg) {
    return REAL(f)->pMethods->xFileControl(REAL(f), op, arg);
}
static int f_sector(sqlite3_file *f) {
    (void)f;
    return SECTOR;
}
static int f_traits(sqlite3_file *f) {
    (void)f;
    return 0;
} /* no powersafe overwrite */
static int f_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **out) {
    return REAL(f)->pMethods->xShmMap(REAL(f), page, size, extend, out);
}
static int f_shm_lock(sqlite3_file *f, int at, int n, int flags) {
    return REAL(f)->pMethods->xShmLock(REAL(f), at, n, flags);
}
static void f_shm_barrier(sqlite3_file *f) {
    REAL(f)->pMethods->xShmBarrier(REAL(f));
}
static int f_shm_unmap(sqlite3_file *f, int drop) {
    return REAL(f)->pMethods->xShmUnmap(REAL(f), drop);
}

static const sqlite3_io_methods methods = {
    2,          f_close,       f_read,      f_write,   f_truncate, f_sync,   f_size,
    f_lock,     f_unlock,      f_reserved,  f_control, f_sector,   f_traits, f_shm_map,
    f_shm_lock, f_shm_barrier, f_shm_unmap, NULL,      NULL,
};

static int v_open(sqlite3_vfs *v, const char *path, sqlite3_file *out, int flags, int *got) {
    (void)v;
    file *f = (file *)out;
    *f = (file){0};
    f->real = sqlite3_malloc(disk.real->szOsFile);
    memset(f->real, 0, (size_t)disk.real->szOsFile);
    int rc = disk.real->xOpen(disk.real, path, f->real, flags, got);
    if (rc != SQLITE_OK) {
        sqlite3_free(f->real);
        return rc;
    }
    for (int i = 0; path && disk.tracking && i < MAX_FILES; i++) {
        image *im = &disk.files[i];
        if (im->path[0] && strcmp(im->path, path) != 0) continue;
        snprintf(im->path, sizeof im->path, "%s", path);
        f->image = im;
        break;
    }
    size_t end = disk.refuses ? strlen(disk.refuses) : 0, len = path ? strlen(path) : 0;
    f->refuses = end && len >= end && strcmp(path + len - end, disk.refuses) == 0;
    f->base.pMethods = &methods;
    return SQLITE_OK;
}
static int v_delete(sqlite3_vfs *v, const char *path, int sync_dir) {
    (void)v;
    if (disk.dead) return SQLITE_IOERR_DELETE;
    for (int i = 0; i < MAX_FILES; i++)
        if (strcmp(disk.files[i].path, path) == 0) {
            uint64_t unused = 0;
            image_settle(&disk.files[i], true, &unused);
            disk.files[i].size = 0;
        }
    return disk.real->xDelete(disk.real, path, sync_dir);
}

static void disk_install(void) {
    disk.real = sqlite3_vfs_find(NULL);
    disk.vfs = *disk.real;
    disk.vfs.zName = "faulty";
    disk.vfs.szOsFile = sizeof(file);
    disk.vfs.xOpen = v_open;
    disk.vfs.xDelete = v_delete;
    sqlite3_vfs_register(&disk.vfs, 0);
    disk.writes_left = -1;
}

static void disk_reset(void) {
    for (int i = 0; i < MAX_FILES; i++) {
        uint64_t unused = 0;
        image_settle(&disk.files[i], true, &unused);
        free(disk.files[i].bytes);
        free(disk.files[i].list);
        disk.files[i] = (image){0};
    }
    disk.writes_left = -1;
    disk.failure = 0;
    disk.dead = disk.tracking = disk.no_sync = false;
    disk.refuses = NULL;
}

/* The files as the platter holds them, some of what was in flight included. */
static void disk_write_back(uint64_t *seed) {
    for (int i = 0; i < MAX_FILES; i++) {
        image *im = &disk.files[i];
        if (!im->path[0]) continue;
        image_settle(im, false, seed);
        FILE *f = fopen(im->path, "wb");
        assert_non_null(f);
        assert_int_equal(
            fwrite(im->bytes ? im->bytes : (unsigned char *)"", 1, (size_t)im->size, f), im->size);
        fclose(f);
    }
}

/* ---- tests ------------------------------------------------------------------------------- */

static void count_notice(void *ctx, const char *kind, const char *text) {
    (void)text;
    *(size_t *)ctx += strcmp(kind, "commit_unfinished") != 0;
}

static void a_power_cut_loses_nothing_acknowledged(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    fo_err err = {0};
    size_t n_cuts = 0, n_acknowledged = 0, n_said = 0;
    for (int round = 0; round < 40; round++) {
        char *dir = test_folder();
        char path[900], shm[1000], ledger[1000];
        snprintf(path, sizeof path, "%s/forage.db", dir);
        snprintf(shm, sizeof shm, "%s-shm", path);
        snprintf(ledger, sizeof ledger, "%s/ledger", dir);
        sqlite_options faulty = {.vfs = "faulty", .ledger = ledger};
        store *s;
        store_collection c;
        disk_reset();
        disk.tracking = true;
        assert_ok(sqlite_store_open(&s, path, &faulty, &err), &err);
        assert_ok(store_create_collection(s, "t", "docs", NULL, &c, &err), &err);
        disk.writes_left = (long)(test_random(&seed) % 600);
        size_t acknowledged = 0, tried = 0;
        while (!disk.dead && tried < 60) {
            fixture_document d;
            uint64_t content = tried;
            fixture_make(&d, c.id, tried++, 20000, &content);
            store_put_result res;
            int rc = fixture_put(s, &d, &res, &err);
            fixture_free(&d);
            if (!rc && acknowledged % 5 == 4) sqlite_checkpoint(s, &err);
            if (rc) break;
            acknowledged++;
        }
        n_cuts += disk.dead;
        disk.dead = true; /* nothing that closing does may reach the platter */
        store_close(s);
        disk.dead = false;
        disk_write_back(&seed);
        unlink(shm);
        disk.tracking = false;
        /* The ledger, which this disk does not hold, has seen every commit: it must not cry. */
        sqlite_options watched = {.ledger = ledger, .store.notices = {count_notice, &n_said}};
        assert_ok(sqlite_store_open(&s, path, &watched, &err), &err);
        assert_ok(store_verify(s, &err), &err);
        for (size_t k = 0; k < acknowledged; k++) {
            char id[32];
            snprintf(id, sizeof id, "doc-%zu", k);
            store_document got;
            assert_ok(store_get_document(s, c.id, id, true, &got, &err), &err);
            uint64_t content = k;
            for (size_t b = 0; b < got.text_bytes; b++)
                if (got.text[b] != (char)('a' + test_random(&content) % 26))
                    fail_msg("round %d: document %zu differs at byte %zu", round, k, b);
            store_document_deinit(&got);
        }
        n_acknowledged += acknowledged;
        store_close(s);
        store_collection_deinit(&c);
        test_remove(dir);
    }
    disk_reset();
    print_message("# %zu power cuts, %zu acknowledged documents\n", n_cuts, n_acknowledged);
    assert_int_equal(n_said, 0);
    assert_true(n_cuts >= 20);
    assert_true(n_acknowledged > 20);
}

static void a_failing_disk_is_named_and_the_store_goes_on(void **state) {
    (void)state;
    static const struct {
        int failure, code;
    } kinds[] = {{SQLITE_FULL, FO_ENOSPC}, {SQLITE_IOERR_WRITE, FO_EIO}};
    uint64_t seed = test_seed();
    fo_err err = {0};
    for (size_t kind = 0; kind < 2; kind++) {
        char *dir = test_folder();
        char path[900];
        snprintf(path, sizeof path, "%s/forage.db", dir);
        sqlite_options faulty = {.vfs = "faulty"};
        store *s;
        store_collection c;
        disk_reset();
        assert_ok(sqlite_store_open(&s, path, &faulty, &err), &err);
        assert_ok(store_create_collection(s, "t", "docs", NULL, &c, &err), &err);
        size_t n_failed = 0, n_stored = 0;
        for (size_t k = 0; k < 30; k++) {
            fixture_document d;
            fixture_make(&d, c.id, k, 30000, &seed);
            disk.failure = kinds[kind].failure;
            disk.writes_left = (long)(test_random(&seed) % 40);
            store_put_result res;
            int rc = fixture_put(s, &d, &res, &err);
            disk.writes_left = -1;
            if (rc) {
                assert_int_equal(rc, kinds[kind].code);
                n_failed++;
                store_document got;
                assert_int_equal(store_get_document(s, c.id, d.id, false, &got, &err),
                                 FO_ENOTFOUND);
                assert_ok(fixture_put(s, &d, &res, &err), &err); /* once there is room again */
            }
            n_stored++;
            fixture_free(&d);
        }
        assert_true(n_failed > 5);
        store_collection now;
        assert_ok(store_get_collection(s, "t", "docs", &now, &err), &err);
        assert_int_equal(now.n_documents, n_stored);
        store_collection_deinit(&now);
        assert_ok(store_verify(s, &err), &err);
        store_close(s);
        store_collection_deinit(&c);
        test_remove(dir);
    }
}

/* A commit whose sync failed was refused, and yet its frames are whole in the log: if the process ends now they
 * are found at the next opening. Until another commit lies over them nothing may be acknowledged that they
 * would take back. */
static void what_a_failed_commit_left_is_not_denied(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    fo_err err = {0};
    /* Behind the failed commit: nothing; a try; the disk works again. */
    enum { KILLED, REFUSED, MENDED, N_ENDS };
    for (int ends = KILLED; ends < N_ENDS; ends++) {
        char *dir = test_folder();
        char path[900];
        snprintf(path, sizeof path, "%s/forage.db", dir);
        sqlite_options faulty = {.vfs = "faulty"};
        store *s;
        store_collection c;
        fixture_document d, before;
        store_put_result res;
        disk_reset();
        assert_ok(sqlite_store_open(&s, path, &faulty, &err), &err);
        assert_ok(store_create_collection(s, "t", "docs", NULL, &c, &err), &err);
        fixture_make(&before, c.id, 1, 3000, &seed);
        fixture_make(&d, c.id, 1, 3000, &seed);
        assert_ok(fixture_put(s, &before, &res, &err), &err);
        disk.no_sync = true;
        assert_int_equal(fixture_put(s, &d, &res, &err), FO_EIO);
        bool unchanged = true;
        assert_ok(store_document_unchanged(s, c.id, before.id, before.in.content_sha256, &unchanged,
                                           NULL, &err),
                  &err);
        assert_false(unchanged);
        if (ends != KILLED) assert_int_equal(fixture_put(s, &before, &res, &err), FO_EIO);
        disk.no_sync = ends != MENDED;
        if (ends == MENDED) {
            assert_ok(fixture_put(s, &before, &res, &err), &err);
            assert_int_equal(res.status, STORE_UNCHANGED);
            assert_ok(store_document_unchanged(s, c.id, before.id, before.in.content_sha256,
                                               &unchanged, NULL, &err),
                      &err);
            assert_true(unchanged);
        }
        disk.dead = true; /* killed: closing moves nothing */
        store_close(s);
        disk_reset();
        store_document got;
        char sha[65];
        assert_ok(sqlite_store_open(&s, path, NULL, &err), &err);
        assert_ok(store_get_document(s, c.id, d.id, false, &got, &err), &err);
        fo_hex_write(sha, (ends == KILLED ? &d : &before)->in.content_sha256, 32);
        assert_string_equal(got.content_sha256, sha);
        store_document_deinit(&got);
        store_close(s);
        store_collection_deinit(&c);
        fixture_free(&before);
        fixture_free(&d);
        test_remove(dir);
    }
}

/* ---- restoring ---- */

static const char *in(const char *dir, const char *name) {
    static char path[4][1000];
    static int next;
    next = (next + 1) % 4;
    snprintf(path[next], sizeof path[next], "%s/%s", dir, name);
    return path[next];
}

static void copy(const char *from, const char *to) {
    fo_err err = {0};
    assert_ok(fo_file_copy(from, to, &err), &err);
}

/* A store of so many documents; of its log a copy while it is open, unless log is NULL. */
static void make_store(const char *path, const char *ledger, size_t n, const char *log) {
    fo_err err = {0};
    store *s;
    store_collection c;
    char wal[1100];
    assert_ok(sqlite_store_open(&s, path, &(sqlite_options){.ledger = ledger}, &err), &err);
    assert_ok(store_create_collection(s, "t", "docs", NULL, &c, &err), &err);
    for (size_t i = 0; i < n; i++) {
        fixture_document d;
        uint64_t content = i;
        store_put_result res;
        fixture_make(&d, c.id, i, 3000, &content);
        assert_ok(fixture_put(s, &d, &res, &err), &err);
        fixture_free(&d);
    }
    snprintf(wal, sizeof wal, "%s-wal", path);
    if (log) copy(wal, log);
    store_close(s);
    store_collection_deinit(&c);
}

static void must_hold(const char *home, size_t n) {
    fo_err err = {0};
    store *s;
    store_collection c;
    assert_ok(store_open(&s, &sqlite_store_backend, home, &(store_options){0}, &err), &err);
    assert_ok(store_verify(s, &err), &err);
    assert_ok(store_get_collection(s, "t", "docs", &c, &err), &err);
    assert_int_equal(c.n_documents, n);
    store_collection_deinit(&c);
    store_close(s);
}

/* What a restore commits to the copy lies in the copy's log until it is moved: a copy that does not
 * take it up must not take the store's place. */
static void a_restored_store_is_whole_or_refused(void **state) {
    (void)state;
    const store_backend *be = &sqlite_store_backend;
    fo_err err = {0};
    char *home = test_folder(), *other = test_folder();
    char backup[1000];
    snprintf(backup, sizeof backup, "%s/backup", other);
    disk_reset();
    make_store(in(home, "forage.db"), in(home, "ledger"), 2, NULL);
    make_store(backup, NULL, 5, in(other, "log"));
    disk.refuses = "forage.db.restore";
    sqlite3_vfs_register(&disk.vfs, 1);
    int rc = be->stage_backup(home, backup, false, &err);
    sqlite3_vfs_register(disk.real, 1);
    disk_reset();
    assert_int_equal(rc, FO_EIO);
    be->drop_staged(home);
    must_hold(home, 2);
    /* The same, found out at the last moment. */
    assert_ok(be->stage_backup(home, backup, false, &err), &err);
    copy(in(other, "log"), in(home, "forage.db.restore-wal"));
    assert_int_equal(be->take_staged(home, &err), FO_EIO);
    assert_int_equal(access(in(home, "ledger"), F_OK), 0);
    must_hold(home, 2);
    be->drop_staged(home);
    assert_ok(be->stage_backup(home, backup, false, &err), &err);
    assert_ok(be->take_staged(home, &err), &err);
    be->drop_staged(home);
    must_hold(home, 5);
    test_remove(home);
    test_remove(other);
}

static void the_log_of_a_killed_restore_is_not_played_into_the_next(void **state) {
    (void)state;
    const store_backend *be = &sqlite_store_backend;
    fo_err err = {0};
    char *home = test_folder(), *other = test_folder();
    make_store(in(other, "killed"), NULL, 5, in(home, "forage.db.restore-wal"));
    copy(in(other, "killed"), in(home, "forage.db.restore"));
    make_store(in(other, "backup"), NULL, 2, NULL);
    assert_ok(be->stage_backup(home, in(other, "backup"), false, &err), &err);
    assert_ok(be->take_staged(home, &err), &err);
    must_hold(home, 2);
    test_remove(home);
    test_remove(other);
}

int main(void) {
    disk_install();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_power_cut_loses_nothing_acknowledged),
        cmocka_unit_test(a_failing_disk_is_named_and_the_store_goes_on),
        cmocka_unit_test(what_a_failed_commit_left_is_not_denied),
        cmocka_unit_test(a_restored_store_is_whole_or_refused),
        cmocka_unit_test(the_log_of_a_killed_restore_is_not_played_into_the_next),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
