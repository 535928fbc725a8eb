#include "engine/kv/kv_check.h"

#include <dirent.h>
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/kv/kv_segment.h"
#include "kernels/map_guard.h"
#include "kernels/page_sums.h"
#include "kernels/sqlite_files.h"

typedef struct check {
    const char *dir;
    kv_check_fn *fn;
    void *ctx;
    sqlite3 *index; /* NULL: none that can be read */
} check;

/* How far the index knows the segment; 0: not at all. */
static uint64_t known_bytes(const check *k, uint32_t id) {
    sqlite3_stmt *st = NULL;
    uint64_t bytes = 0;
    if (!k->index || sqlite3_prepare_v2(k->index, "SELECT bytes FROM segments WHERE id = ?", -1,
                                        &st, NULL) != SQLITE_OK)
        return 0;
    sqlite3_bind_int64(st, 1, id);
    if (sqlite3_step(st) == SQLITE_ROW) bytes = (uint64_t)sqlite3_column_int64(st, 0);
    sqlite3_finalize(st);
    return bytes;
}

static void check_file(check *k, const char *name, uint32_t id) {
    char path[4096];
    fo_guarded_file f = {0};
    fo_err why = {0};
    snprintf(path, sizeof path, "%s/%s", k->dir, name);
    int rc = fo_guarded_file_open(&f, path, &why);
    if (!rc) rc = kv_segment_check(f.map.data, f.map.size, &why);
    size_t at;
    if (fo_guarded_file_failed(&f, &at)) /* what was found in its place is void */
        rc = fo_fail(&why, FO_EIO, "it cannot be read at byte %zu", at);
    if (!rc && f.map.size < known_bytes(k, id))
        rc = fo_fail(&why, FO_ECORRUPT, "it is cut off: the index knows %llu bytes",
                     (unsigned long long)known_bytes(k, id));
    if (rc) k->fn(k->ctx, name, false, why.msg);
    fo_guarded_file_close(&f);
}

/* Rows that tell of records which are not there. */
static void check_rows(check *k) {
    static const char sql[] = "SELECT segment, key, offset, bytes, kind, n_tokens FROM records "
                              "ORDER BY segment, offset";
    sqlite3_stmt *st = NULL;
    int step = sqlite3_prepare_v2(k->index, sql, -1, &st, NULL), wrong = 0;
    fo_guarded_file f = {0};
    int64_t at = -1;
    while (step != SQLITE_DONE && (step = sqlite3_step(st)) == SQLITE_ROW) {
        int64_t id = sqlite3_column_int64(st, 0);
        if (id != at) {
            char *path = id >= 0 && id <= UINT32_MAX ? kv_segment_path(k->dir, (uint32_t)id) : NULL;
            fo_guarded_file_close(&f);
            if (path)
                (void)fo_guarded_file_open(&f, path, NULL); /* else none, which has no bytes */
            free(path);
            at = id;
        }
        kv_segment_record r = {.kind = (uint32_t)sqlite3_column_int64(st, 4),
                               .n_tokens = sqlite3_column_int(st, 5),
                               .n_bytes = (uint64_t)sqlite3_column_int64(st, 3),
                               .offset = (uint64_t)sqlite3_column_int64(st, 2)};
        if (sqlite3_column_bytes(st, 1) == 32) memcpy(r.key, sqlite3_column_blob(st, 1), 32);
        /* Of a file that cannot be read it is told already; no row is to blame for it. */
        wrong += f.map.size && !kv_segment_holds(f.map.data, f.map.size, &r) &&
                 !fo_guarded_file_failed(&f, NULL);
    }
    sqlite3_finalize(st);
    fo_guarded_file_close(&f);
    char what[120];
    snprintf(what, sizeof what, "%d of its rows tell of records that are not there", wrong);
    if (step != SQLITE_DONE)
        k->fn(k->ctx, "index.db", false, "it cannot be read");
    else if (wrong)
        k->fn(k->ctx, "index.db", false, what);
}

static void check_segments_there(check *k) {
    sqlite3_stmt *st = NULL;
    int step = sqlite3_prepare_v2(k->index, "SELECT id FROM segments ORDER BY id", -1, &st, NULL);
    while (step != SQLITE_DONE && (step = sqlite3_step(st)) == SQLITE_ROW) {
        int64_t id = sqlite3_column_int64(st, 0);
        char *path = kv_segment_path(k->dir, (uint32_t)id);
        if (path && access(path, F_OK) != 0)
            k->fn(k->ctx, path + strlen(k->dir) + 1, false, "it is gone");
        free(path);
    }
    sqlite3_finalize(st);
}

static void open_index(check *k) {
    char path[4096], wal[4100];
    struct stat st;
    snprintf(path, sizeof path, "%s/index.db", k->dir);
    snprintf(wal, sizeof wal, "%s-wal", path);
    if (access(path, F_OK) != 0) return;
    bool still = stat(wal, &st) != 0 || st.st_size == 0;
    char *uri = still ? fo_sqlite_unchanging(path) : NULL;
    if (sqlite3_open_v2(uri ? uri : path, &k->index,
                        SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | (uri ? SQLITE_OPEN_URI : 0),
                        fo_page_sums_vfs(NULL)) != SQLITE_OK) {
        sqlite3_close(k->index);
        k->index = NULL;
    }
    free(uri);
}

static void on_page(void *ctx, bool unused, const char *what) {
    const check *k = ctx;
    (void)unused;
    k->fn(k->ctx, "index.db", false, what);
}

int kv_check(const char *dir, kv_check_fn *fn, void *ctx, fo_err *err) {
    check k = {.dir = dir, .fn = fn, .ctx = ctx};
    DIR *d = opendir(dir);
    if (!d) return fo_fail_errno(err, "cannot read %s", dir);
    open_index(&k);
    bool has_index = false, has_segments = false;
    for (struct dirent *e; (e = readdir(d));) {
        static const char *const known[] = {
            ".", "..", "lock", "index.db", "index.db-wal", "index.db-shm", "index.db-journal"};
        uint32_t id;
        bool ours = false;
        has_index |= strcmp(e->d_name, "index.db") == 0;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            ours |= strcmp(e->d_name, known[i]) == 0;
        bool segment = kv_segment_name(e->d_name, &id);
        has_segments |= segment;
        if (segment)
            check_file(&k, e->d_name, id);
        else if (!ours)
            fn(ctx, e->d_name, true, "it is no file of the KV store");
    }
    closedir(d);
    if (k.index) {
        check_rows(&k);
        check_segments_there(&k);
    } else if (has_index || has_segments) { /* where nothing is kept, whoever opens it makes one */
        fn(ctx, "index.db", false, has_index ? "it cannot be read" : "it is gone");
    }
    sqlite3_close(k.index);
    char path[4096];
    if (!has_index || snprintf(path, sizeof path, "%s/index.db", dir) >= (int)sizeof path)
        return FO_OK;
    return fo_sqlite_check_files(path, on_page, &k, err);
}
