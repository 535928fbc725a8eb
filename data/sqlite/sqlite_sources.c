/* Sources: folders that documents are kept in step with, and their files as the last run left them. */
#include "data/sqlite/sqlite_internal.h"

#include <stdlib.h>
#include <string.h>

#define COLUMNS                                                                                    \
    "id, tenant, name, collection, path, max_tokens, overlap, started_ms, finished_ms, error, "    \
    "report, (SELECT count(*) FROM source_files WHERE source = sources.id AND "                    \
    "content_sha256 <> x''), reading"

static int read_source(sqlite3_stmt *st, store_source *out, fo_err *err) {
    bool oom = false;
    *out = (store_source){
        .id = sqlite3_column_int64(st, 0),
        .tenant = sqlite_column(st, 1, &oom),
        .name = sqlite_column(st, 2, &oom),
        .collection = sqlite_column(st, 3, &oom),
        .path = sqlite_column(st, 4, &oom),
        .max_tokens = sqlite3_column_int64(st, 5),
        .overlap = sqlite3_column_int64(st, 6),
        .started_ms = sqlite3_column_int64(st, 7),
        .finished_ms = sqlite3_column_int64(st, 8),
        .error = sqlite_column(st, 9, &oom),
        .report = sqlite_column(st, 10, &oom),
        .n_documents = sqlite3_column_int64(st, 11),
        .reading = sqlite_column(st, 12, &oom),
    };
    if (!oom) return FO_OK;
    store_source_deinit(out);
    return fo_no_memory(err);
}

/* ---- lists ------------------------------------------------------------------------------- */

static int read_source_row(sqlite3_stmt *st, void *out, fo_err *err) {
    return read_source(st, out, err);
}

static void deinit_source_row(void *row) {
    store_source_deinit(row);
}

/* ---- sources ----------------------------------------------------------------------------- */

static int no_such_source(const char *name, fo_err *err) {
    return fo_fail_field(err, FO_ENOTFOUND, "source", "there is no source '%s'", name);
}

int sqlite_put_source(store *base, const store_source *in, int64_t *id, fo_err *err) {
    sqlite_txn *t;
    int rc = sqlite_txn_begin(sqlite_of(base), &t, err);
    if (rc) return rc;
    rc = sqlite_run(t->c, err,
                    "INSERT INTO sources (tenant, name, collection, path, max_tokens, overlap, "
                    "started_ms, finished_ms, error, report, reading) "
                    "VALUES (?,?,?,?,?,?,?,?,?,?,?) "
                    "ON CONFLICT (tenant, name) DO UPDATE SET collection = excluded.collection, "
                    "path = excluded.path, max_tokens = excluded.max_tokens, "
                    "overlap = excluded.overlap, started_ms = excluded.started_ms, "
                    "finished_ms = excluded.finished_ms, error = excluded.error, "
                    "report = excluded.report, reading = excluded.reading",
                    "ssssiiiisss", in->tenant, in->name, in->collection, in->path, in->max_tokens,
                    in->overlap, in->started_ms, in->finished_ms, in->error, in->report,
                    in->reading);
    sqlite3_stmt *st;
    if (!rc)
        rc = sqlite_query(t->c, &st, err, "SELECT id FROM sources WHERE tenant = ? AND name = ?",
                          "ss", in->tenant, in->name);
    if (!rc && (rc = sqlite_step(t->c, st, err)) == 1) {
        *id = sqlite3_column_int64(st, 0);
        sqlite3_reset(st);
        rc = FO_OK;
    }
    return sqlite_txn_end(t, rc, err);
}

int sqlite_get_source(store *base, const char *tenant, const char *name, store_source *out,
                      fo_err *err) {
    sqlite_store *s = sqlite_of(base);
    sqlite_conn *c;
    sqlite3_stmt *st;
    int rc = sqlite_reader(s, false, &c, err);
    if (rc) return rc;
    rc = sqlite_query(c, &st, err, "SELECT " COLUMNS " FROM sources WHERE tenant = ? AND name = ?",
                      "ss", tenant, name);
    if (!rc && !(rc = sqlite_step(c, st, err))) rc = no_such_source(name, err);
    if (rc == 1) {
        rc = read_source(st, out, err);
        sqlite3_reset(st);
    }
    sqlite_reader_release(s, c);
    return rc;
}

int sqlite_list_sources(store *base, const char *tenant, store_source **out, size_t *n,
                        fo_err *err) {
    static const sqlite_row_kind sources = {sizeof **out, read_source_row, deinit_source_row};
    sqlite_conn *c;
    sqlite3_stmt *st;
    sqlite_store *s = sqlite_of(base);
    int rc = sqlite_reader(s, false, &c, err);
    if (rc) return rc;
    rc = sqlite_query(c, &st, err, "SELECT " COLUMNS " FROM sources WHERE tenant = ? ORDER BY name",
                      "s", tenant);
    void *list = NULL;
    *n = 0;
    if (!rc) rc = sqlite_read_rows(c, st, &sources, &list, n, err);
    *out = list;
    sqlite_reader_release(s, c);
    return rc;
}

int sqlite_delete_source(store *base, const char *tenant, const char *name, fo_err *err) {
    sqlite_txn *t;
    int rc = sqlite_txn_begin(sqlite_of(base), &t, err);
    if (rc) return rc;
    rc = sqlite_run(t->c, err, "DELETE FROM sources WHERE tenant = ? AND name = ?", "ss", tenant,
                    name);
    if (!rc && sqlite3_changes(t->c->db) == 0) rc = no_such_source(name, err);
    return sqlite_txn_end(t, rc, err);
}

/* ---- files ------------------------------------------------------------------------------- */

static int read_file(sqlite3_stmt *st, store_source_file *out, fo_err *err) {
    bool oom = false;
    *out = (store_source_file){
        .path = sqlite_column(st, 0, &oom),
        .size = sqlite3_column_int64(st, 1),
        .mtime_ns = sqlite3_column_int64(st, 2),
        .ctime_ns = sqlite3_column_int64(st, 3),
        .inode = sqlite3_column_int64(st, 4),
        .stored = sqlite3_column_bytes(st, 6) == 32,
        .error = sqlite_column(st, 7, &oom),
    };
    if (sqlite3_column_bytes(st, 5) == 32) memcpy(out->sha256, sqlite3_column_blob(st, 5), 32);
    if (out->stored) memcpy(out->content_sha256, sqlite3_column_blob(st, 6), 32);
    if (!oom) return FO_OK;
    store_source_file_deinit(out);
    return fo_no_memory(err);
}

static int read_file_row(sqlite3_stmt *st, void *out, fo_err *err) {
    return read_file(st, out, err);
}

static void deinit_file_row(void *row) {
    store_source_file_deinit(row);
}

int sqlite_list_source_files(store *base, int64_t source, store_source_file **out, size_t *n,
                             fo_err *err) {
    static const sqlite_row_kind files = {sizeof **out, read_file_row, deinit_file_row};
    sqlite_conn *c;
    sqlite3_stmt *st;
    sqlite_store *s = sqlite_of(base);
    int rc = sqlite_reader(s, false, &c, err);
    if (rc) return rc;
    rc = sqlite_query(c, &st, err,
                      "SELECT path, size, mtime_ns, ctime_ns, inode, sha256, content_sha256, error "
                      "FROM source_files WHERE source = ? ORDER BY path",
                      "i", source);
    void *list = NULL;
    *n = 0;
    if (!rc) rc = sqlite_read_rows(c, st, &files, &list, n, err);
    *out = list;
    sqlite_reader_release(s, c);
    return rc;
}

int sqlite_write_source_files(store *base, int64_t source, const store_source_file *put,
                              size_t n_put, const char *const *gone, size_t n_gone, fo_err *err) {
    sqlite_txn *t;
    int rc = sqlite_txn_begin(sqlite_of(base), &t, err);
    if (rc) return rc;
    for (size_t i = 0; i < n_gone && !rc; i++)
        rc = sqlite_run(t->c, err, "DELETE FROM source_files WHERE source = ? AND path = ?", "is",
                        source, gone[i]);
    for (size_t i = 0; i < n_put && !rc; i++) {
        const store_source_file *f = &put[i];
        rc = sqlite_run(t->c, err,
                        "INSERT OR REPLACE INTO source_files (source, path, size, mtime_ns, "
                        "ctime_ns, inode, sha256, content_sha256, error) "
                        "VALUES (?,?,?,?,?,?,?,?,?)",
                        "isiiiibbs", source, f->path, f->size, f->mtime_ns, f->ctime_ns, f->inode,
                        f->sha256, sizeof f->sha256, f->content_sha256,
                        f->stored ? sizeof f->content_sha256 : 0, f->error);
    }
    return sqlite_txn_end(t, rc, err);
}
