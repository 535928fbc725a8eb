/* Jobs, idempotency keys and the query log: what requests leave behind beside documents. */
#include "data/sqlite/sqlite_internal.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/clock.h"

static const int64_t IDEMPOTENCY_MS = 24LL * 3600 * 1000, JOBS_MS = 30 * 24LL * 3600 * 1000;

/* A transaction of one statement. */
static int write_one(sqlite_store *s, fo_err *err, const char *sql, const char *types, ...) {
    sqlite_txn *t;
    int rc = sqlite_txn_begin(s, &t, err);
    if (rc) return rc;
    va_list args;
    va_start(args, types);
    rc = sqlite_run_args(t->c, err, sql, types, args);
    va_end(args);
    if (!rc) return sqlite_txn_commit(t, err);
    sqlite_txn_rollback(t);
    return rc;
}

/* ---- jobs -------------------------------------------------------------------------------- */

int sqlite_create_job(store *base, const char *tenant, const char *kind, const char *collection,
                      int64_t *id, fo_err *err) {
    sqlite_store *s = sqlite_of(base);
    sqlite_txn *t;
    int rc = sqlite_txn_begin(s, &t, err);
    if (rc) return rc;
    int64_t now = fo_unix_ms();
    /* Of 2^52 numbers, so that every reader of JSON holds it whole. That two are alike is refused as a
     * failed call: it does not happen. */
    rc = sqlite_run(
        t->c, err,
        "INSERT INTO jobs (id, tenant, kind, state, created_ms, updated_ms, "
        "collection) VALUES (1 + (random() & 4503599627370495), ?, ?, 'queued', ?, ?, ?)",
        "ssiis", tenant, kind, now, now, collection);
    if (rc) {
        sqlite_txn_rollback(t);
        return rc;
    }
    *id = sqlite3_last_insert_rowid(t->c->db);
    return sqlite_txn_commit(t, err);
}

int sqlite_update_job(store *base, int64_t id, const char *state, int64_t n_total, int64_t n_done,
                      int64_t n_failed, const char *error, const char *result, fo_err *err) {
    sqlite_store *s = sqlite_of(base);
    sqlite_txn *t;
    int rc = sqlite_txn_begin(s, &t, err);
    if (rc) return rc;
    rc = sqlite_run(t->c, err,
                    "UPDATE jobs SET state = coalesce(?, state), n_total = ?, n_done = ?, "
                    "n_failed = ?, error = coalesce(?, error), result = coalesce(?, result), "
                    "updated_ms = ? WHERE id = ?",
                    "siiissii", state, n_total, n_done, n_failed, error, result, fo_unix_ms(), id);
    if (!rc && sqlite3_changes(t->c->db) == 0)
        rc = fo_fail(err, FO_ENOTFOUND, "job %lld does not exist", (long long)id);
    if (rc) {
        sqlite_txn_rollback(t);
        return rc;
    }
    return sqlite_txn_commit(t, err);
}

int sqlite_get_job(store *base, const char *tenant, int64_t id, store_job *out, fo_err *err) {
    sqlite_store *s = sqlite_of(base);
    sqlite_conn *c;
    int rc = sqlite_reader(s, false, &c, err);
    if (rc) return rc;
    sqlite3_stmt *st;
    rc = sqlite_query(c, &st, err,
                      "SELECT id, tenant, kind, state, n_total, n_done, n_failed, collection, "
                      "error, result, created_ms, updated_ms FROM jobs WHERE id = ? AND tenant = ?",
                      "is", id, tenant);
    if (!rc) rc = sqlite_step(c, st, err);
    if (rc == 0) rc = fo_fail(err, FO_ENOTFOUND, "job %lld does not exist", (long long)id);
    if (rc == 1) {
        bool oom = false;
        *out = (store_job){
            .id = sqlite3_column_int64(st, 0),
            .tenant = sqlite_column(st, 1, &oom),
            .kind = sqlite_column(st, 2, &oom),
            .state = sqlite_column(st, 3, &oom),
            .n_total = sqlite3_column_int64(st, 4),
            .n_done = sqlite3_column_int64(st, 5),
            .n_failed = sqlite3_column_int64(st, 6),
            .collection = sqlite_column(st, 7, &oom),
            .error = sqlite_column(st, 8, &oom),
            .result = sqlite_column(st, 9, &oom),
            .created_ms = sqlite3_column_int64(st, 10),
            .updated_ms = sqlite3_column_int64(st, 11),
        };
        sqlite3_reset(st);
        rc = FO_OK;
        if (oom) {
            store_job_deinit(out);
            rc = fo_no_memory(err);
        }
    }
    sqlite_reader_release(s, c);
    return rc;
}

int sqlite_fail_running_jobs(store *base, fo_err *err) {
    sqlite_store *s = sqlite_of(base);
    return write_one(s, err,
                     "UPDATE jobs SET state = 'failed', error = 'interrupted by a restart', "
                     "updated_ms = ? WHERE state IN ('queued', 'running')",
                     "i", fo_unix_ms());
}

int sqlite_trim_jobs(store *base, int64_t now_ms, fo_err *err) {
    return write_one(sqlite_of(base), err,
                     "DELETE FROM jobs WHERE state NOT IN ('queued', 'running') AND updated_ms < ?",
                     "i", now_ms - JOBS_MS);
}

/* ---- idempotency ------------------------------------------------------------------------- */

static int claim(sqlite_txn *t, const char *tenant, const char *route, const char *key,
                 const unsigned char body_sha256[32], enum store_idem *state, int *status,
                 char **response, fo_err *err) {
    int64_t now = fo_unix_ms();
    int rc = sqlite_run(t->c, err, "DELETE FROM idempotency WHERE created_ms < ?", "i",
                        now - IDEMPOTENCY_MS);
    if (rc) return rc;
    sqlite3_stmt *st;
    rc = sqlite_query(t->c, &st, err,
                      "SELECT body_sha256, status, response FROM idempotency "
                      "WHERE tenant = ? AND route = ? AND key = ?",
                      "sss", tenant, route, key);
    if (!rc) rc = sqlite_step(t->c, st, err);
    if (rc < 0) return rc;
    if (rc == 0) {
        *state = STORE_IDEM_NEW;
        return sqlite_run(t->c, err,
                          "INSERT INTO idempotency (tenant, route, key, body_sha256, created_ms) "
                          "VALUES (?, ?, ?, ?, ?)",
                          "sssbi", tenant, route, key, body_sha256, (size_t)32, now);
    }
    rc = FO_OK;
    if (sqlite3_column_bytes(st, 0) != 32 || memcmp(sqlite3_column_blob(st, 0), body_sha256, 32)) {
        *state = STORE_IDEM_OTHER_BODY;
    } else if (sqlite3_column_type(st, 1) == SQLITE_NULL) {
        *state = STORE_IDEM_RUNNING;
    } else {
        bool oom = false;
        *state = STORE_IDEM_DONE;
        *status = sqlite3_column_int(st, 1);
        *response = sqlite_column(st, 2, &oom);
        if (oom) rc = fo_no_memory(err);
    }
    sqlite3_reset(st);
    return rc;
}

int sqlite_idem_claim(store *base, const char *tenant, const char *route, const char *key,
                      const unsigned char body_sha256[32], enum store_idem *state, int *status,
                      char **response, fo_err *err) {
    sqlite_store *s = sqlite_of(base);
    *response = NULL;
    *status = 0;
    sqlite_txn *t;
    int rc = sqlite_txn_begin(s, &t, err);
    if (rc) return rc;
    rc = claim(t, tenant, route, key, body_sha256, state, status, response, err);
    if (!rc)
        rc = sqlite_txn_commit(t, err);
    else
        sqlite_txn_rollback(t);
    if (rc) {
        free(*response);
        *response = NULL;
    }
    return rc;
}

int sqlite_idem_finish(store *base, const char *tenant, const char *route, const char *key,
                       int status, const char *response, fo_err *err) {
    sqlite_store *s = sqlite_of(base);
    return write_one(s, err,
                     "UPDATE idempotency SET status = ?, response = ? "
                     "WHERE tenant = ? AND route = ? AND key = ?",
                     "issss", (int64_t)status, response, tenant, route, key);
}

int sqlite_idem_abandon(store *base, const char *tenant, const char *route, const char *key,
                        fo_err *err) {
    sqlite_store *s = sqlite_of(base);
    return write_one(s, err,
                     "DELETE FROM idempotency WHERE tenant = ? AND route = ? AND key = ? "
                     "AND status IS NULL",
                     "sss", tenant, route, key);
}
