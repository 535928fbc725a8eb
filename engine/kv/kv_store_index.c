#include "engine/kv/kv_store_index.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/page_sums.h"

enum { VERSION = 2 };

enum {
    SEGMENT,
    SEGMENTS,
    RECORDS,
    PUT,
    DROP,
    SET_SEGMENT,
    DROP_SEGMENT,
    DROP_RECORDS,
    N_STATEMENTS
};

static const char *const sql[N_STATEMENTS] = {
    [SEGMENT] = "SELECT bytes FROM segments WHERE id = ?",
    [SEGMENTS] = "SELECT id FROM segments WHERE id > ? ORDER BY id LIMIT 1",
    [RECORDS] = "SELECT key, kind, n_tokens, cost_ms, bytes, offset, reuse FROM records "
                "WHERE segment = ? ORDER BY offset",
    [PUT] = "INSERT OR REPLACE INTO records (segment, key, kind, n_tokens, cost_ms, bytes, offset, "
            "reuse) VALUES (?,?,?,?,?,?,?,?)",
    [DROP] = "DELETE FROM records WHERE key = ?",
    [SET_SEGMENT] = "INSERT OR REPLACE INTO segments (id, bytes) VALUES (?,?)",
    [DROP_SEGMENT] = "DELETE FROM segments WHERE id = ?",
    [DROP_RECORDS] = "DELETE FROM records WHERE segment = ?",
};

struct kv_store_index {
    sqlite3 *db;
    sqlite3_stmt *st[N_STATEMENTS];
};

static int fail(kv_store_index *x, fo_err *err) {
    return fo_fail(err, FO_EIO, "the KV store's index: %s", sqlite3_errmsg(x->db));
}

static void close_db(kv_store_index *x) {
    for (int i = 0; i < N_STATEMENTS; i++) sqlite3_finalize(x->st[i]);
    sqlite3_close(x->db);
    *x = (kv_store_index){0};
}

static int version_row(void *arg, int n, char **values, char **names) {
    (void)names;
    *(int *)arg = n && values[0] ? atoi(values[0]) : 0;
    return 0;
}

static int is_ok(void *arg, int n, char **values, char **names) {
    (void)names;
    *(int *)arg = n && values[0] && strcmp(values[0], "ok") == 0;
    return 0;
}

/* True when the file is there, is a database, and has the tables this version knows. */
static bool open_db(kv_store_index *x, const char *path) {
    int version = 0;
    if (sqlite3_open_v2(path, &x->db,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                        fo_page_sums_vfs(NULL)) != SQLITE_OK)
        return false;
    fo_page_sums_reserve(x->db);
    sqlite3_busy_timeout(x->db, 5000);
    if (sqlite3_exec(x->db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL", NULL, NULL,
                     NULL) != SQLITE_OK ||
        sqlite3_exec(x->db, "PRAGMA user_version", version_row, &version, NULL) != SQLITE_OK)
        return false;
    if (version != 0 && (version != VERSION || !fo_page_sums_on(x->db))) return false;
    if (version == 0 &&
        sqlite3_exec(x->db,
                     "BEGIN;"
                     "CREATE TABLE segments (id INTEGER PRIMARY KEY, bytes INTEGER NOT NULL);"
                     "CREATE TABLE records (key BLOB PRIMARY KEY, segment INTEGER NOT NULL, "
                     "offset INTEGER NOT NULL, bytes INTEGER NOT NULL, kind INTEGER NOT NULL, "
                     "n_tokens INTEGER NOT NULL, cost_ms REAL NOT NULL, reuse REAL NOT NULL) "
                     "WITHOUT ROWID;"
                     "CREATE INDEX records_by_segment ON records (segment, offset);"
                     "PRAGMA user_version = 2;"
                     "COMMIT",
                     NULL, NULL, NULL) != SQLITE_OK)
        return false;
    /* Every page is read once, here, where a bad one costs no more than a scan of the segments. */
    int sound = 0;
    if (version != 0 &&
        (sqlite3_exec(x->db, "PRAGMA quick_check(1)", is_ok, &sound, NULL) != SQLITE_OK || !sound))
        return false;
    for (int i = 0; i < N_STATEMENTS; i++)
        if (sqlite3_prepare_v3(x->db, sql[i], -1, SQLITE_PREPARE_PERSISTENT, &x->st[i], NULL) !=
            SQLITE_OK)
            return false;
    return true;
}

/* For its owner alone: SQLite's own files would be readable by all. */
static void make_private(const char *path) {
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0) close(fd);
}

static void remove_files(const char *path) {
    static const char *const files[] = {"", "-wal", "-shm"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char name[4096];
        snprintf(name, sizeof name, "%s%s", path, files[i]);
        unlink(name);
    }
}

int kv_store_index_open(kv_store_index **out, const char *dir, bool *replaced, fo_err *err) {
    kv_store_index *x = calloc(1, sizeof *x);
    char *path = NULL;
    int rc = FO_OK;
    if (!x || asprintf(&path, "%s/index.db", dir) < 0) {
        free(x);
        return fo_no_memory(err);
    }
    make_private(path);
    *replaced = false;
    if (!open_db(x, path)) {
        close_db(x);
        *replaced = true;
        remove_files(path);
        make_private(path);
        if (!open_db(x, path)) rc = fail(x, err);
    }
    free(path);
    if (!rc) {
        *out = x;
        return FO_OK;
    }
    close_db(x);
    free(x);
    return rc;
}

void kv_store_index_close(kv_store_index *x) {
    if (!x) return;
    close_db(x);
    free(x);
}

int kv_store_index_renew(const char *dir, fo_err *err) {
    kv_store_index *x = NULL;
    char *path = NULL;
    bool replaced;
    if (asprintf(&path, "%s/index.db", dir) < 0) return fo_no_memory(err);
    remove_files(path);
    free(path);
    int rc = kv_store_index_open(&x, dir, &replaced, err);
    kv_store_index_close(x);
    return rc;
}

/* An open transaction would keep all later ones from beginning. */
static int roll_back(kv_store_index *x, int rc) {
    if (rc && !sqlite3_get_autocommit(x->db)) sqlite3_exec(x->db, "ROLLBACK", NULL, NULL, NULL);
    return rc;
}

/* Step a statement that gives no rows. */
static int run(kv_store_index *x, sqlite3_stmt *st, fo_err *err) {
    int rc = sqlite3_step(st) == SQLITE_DONE ? FO_OK : fail(x, err);
    sqlite3_reset(st);
    sqlite3_clear_bindings(st);
    return roll_back(x, rc);
}

int kv_store_index_segment(kv_store_index *x, uint32_t segment, uint64_t *bytes, fo_err *err) {
    sqlite3_stmt *st = x->st[SEGMENT];
    sqlite3_bind_int64(st, 1, segment);
    int step = sqlite3_step(st), rc = FO_OK;
    *bytes = step == SQLITE_ROW ? (uint64_t)sqlite3_column_int64(st, 0) : 0;
    if (step != SQLITE_ROW && step != SQLITE_DONE) rc = fail(x, err);
    sqlite3_reset(st);
    return rc;
}

int kv_store_index_records(kv_store_index *x, uint32_t segment, kv_store_index_fn *fn, void *arg,
                           fo_err *err) {
    sqlite3_stmt *st = x->st[RECORDS];
    sqlite3_bind_int64(st, 1, segment);
    int step, rc = FO_OK;
    while (!rc && (step = sqlite3_step(st)) != SQLITE_DONE) {
        if (step != SQLITE_ROW) {
            rc = fail(x, err);
            break;
        }
        kv_segment_record r = {.kind = (uint32_t)sqlite3_column_int64(st, 1),
                               .n_tokens = sqlite3_column_int(st, 2),
                               .cost_ms = sqlite3_column_double(st, 3),
                               .n_bytes = (uint64_t)sqlite3_column_int64(st, 4),
                               .offset = (uint64_t)sqlite3_column_int64(st, 5)};
        const void *key = sqlite3_column_blob(st, 0);
        if (!key || sqlite3_column_bytes(st, 0) != 32) continue;
        memcpy(r.key, key, 32);
        rc = fn(arg, &r, sqlite3_column_double(st, 6), err);
    }
    sqlite3_reset(st);
    return rc;
}

int kv_store_index_begin(kv_store_index *x, fo_err *err) {
    return sqlite3_exec(x->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK ? FO_OK
                                                                                 : fail(x, err);
}

int kv_store_index_commit(kv_store_index *x, fo_err *err) {
    if (sqlite3_exec(x->db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK) return FO_OK;
    return roll_back(x, fail(x, err));
}

int kv_store_index_put(kv_store_index *x, uint32_t segment, const kv_segment_record *r,
                       double reuse, fo_err *err) {
    sqlite3_stmt *st = x->st[PUT];
    sqlite3_bind_int64(st, 1, segment);
    sqlite3_bind_blob(st, 2, r->key, 32, SQLITE_STATIC);
    sqlite3_bind_int64(st, 3, r->kind);
    sqlite3_bind_int64(st, 4, r->n_tokens);
    sqlite3_bind_double(st, 5, r->cost_ms);
    sqlite3_bind_int64(st, 6, (int64_t)r->n_bytes);
    sqlite3_bind_int64(st, 7, (int64_t)r->offset);
    sqlite3_bind_double(st, 8, reuse);
    return run(x, st, err);
}

int kv_store_index_drop(kv_store_index *x, const unsigned char key[32], fo_err *err) {
    sqlite3_bind_blob(x->st[DROP], 1, key, 32, SQLITE_STATIC);
    return run(x, x->st[DROP], err);
}

int kv_store_index_set_segment(kv_store_index *x, uint32_t segment, uint64_t bytes, fo_err *err) {
    sqlite3_bind_int64(x->st[SET_SEGMENT], 1, segment);
    sqlite3_bind_int64(x->st[SET_SEGMENT], 2, (int64_t)bytes);
    return run(x, x->st[SET_SEGMENT], err);
}

static int drop_segment(kv_store_index *x, uint32_t segment, fo_err *err) {
    sqlite3_bind_int64(x->st[DROP_RECORDS], 1, segment);
    int rc = run(x, x->st[DROP_RECORDS], err);
    if (rc) return rc;
    sqlite3_bind_int64(x->st[DROP_SEGMENT], 1, segment);
    return run(x, x->st[DROP_SEGMENT], err);
}

int kv_store_index_sweep(kv_store_index *x, bool (*keep)(void *arg, uint32_t segment), void *arg,
                         fo_err *err) {
    sqlite3_stmt *st = x->st[SEGMENTS];
    for (int64_t id = -1;;) {
        sqlite3_bind_int64(st, 1, id);
        int step = sqlite3_step(st);
        if (step == SQLITE_ROW) id = sqlite3_column_int64(st, 0);
        sqlite3_reset(st);
        if (step == SQLITE_DONE) return FO_OK;
        if (step != SQLITE_ROW) return roll_back(x, fail(x, err));
        if (id >= 0 && id <= UINT32_MAX && keep(arg, (uint32_t)id)) continue;
        int rc = drop_segment(x, (uint32_t)id, err);
        if (rc) return rc;
    }
}
