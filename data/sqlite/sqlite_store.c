/* Connections, statements, the write lock, and the upkeep of the whole database.
 *
 *   sqlite_begin   ticket taken -> its number comes -> BEGIN IMMEDIATE
 *   sqlite_commit  ledger, COMMIT (WAL synced: this is what "acknowledged" rests on) -> lock passed on
 */
#include "data/sqlite/sqlite_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "kernels/buf.h"
#include "kernels/clock.h"
#include "kernels/file.h"
#include "kernels/page_sums.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "vectors are stored as they lie");

enum { MAX_IDLE_READERS = 16 };

/* ---- errors ------------------------------------------------------------------------------ */

int sqlite_fail(sqlite3 *db, fo_err *err, const char *doing) {
    int last = errno;
    int code = db ? sqlite3_extended_errcode(db) : SQLITE_NOMEM;
    int os = db ? sqlite3_system_errno(db) : 0;
    if (code == SQLITE_IOERR_WRITE && last == EFBIG) os = EFBIG; /* of a COMMIT it keeps none */
    const char *why = db ? sqlite3_errmsg(db) : "out of memory";
    switch (code & 0xff) {
    case SQLITE_FULL:
        return fo_fail(err, FO_ENOSPC, "%s: the disk is full", doing);
    case SQLITE_IOERR:
        if (code == SQLITE_IOERR_NOMEM) return fo_fail(err, FO_ENOMEM, "%s: out of memory", doing);
        if (os == ENOSPC || os == EDQUOT)
            return fo_fail(err, FO_ENOSPC, "%s: the disk is full", doing);
        if (os == EFBIG)
            return fo_fail(err, FO_ENOSPC, "%s: a file has reached the limit of its size", doing);
        if (code == SQLITE_IOERR_DATA)
            return fo_fail(err, FO_ECORRUPT, "%s: page %lld fails its checksum", doing,
                           (long long)fo_page_sums_failed());
        return fo_fail(err, FO_EIO, "%s: %s%s%s", doing, why, os ? ": " : "",
                       os ? strerror(os) : "");
    case SQLITE_CANTOPEN:
        if (os == ENOSPC || os == EDQUOT)
            return fo_fail(err, FO_ENOSPC, "%s: the disk is full", doing);
        return fo_fail(err, FO_EIO, "%s: %s%s%s", doing, why, os ? ": " : "",
                       os ? strerror(os) : "");
    case SQLITE_PERM:
    case SQLITE_READONLY:
        return fo_fail(err, FO_EIO, "%s: %s", doing, why);
    case SQLITE_NOMEM:
        return fo_fail(err, FO_ENOMEM, "%s: out of memory", doing);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return fo_fail(err, FO_EBUSY, "%s: another process is using the database", doing);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return fo_fail(err, FO_ECORRUPT, "%s: %s", doing, why);
    case SQLITE_CONSTRAINT:
        return fo_fail(err, FO_ECONFLICT, "%s: %s", doing, why);
    case SQLITE_TOOBIG:
        return fo_fail(err, FO_ELIMIT, "%s: %s", doing, why);
    case SQLITE_INTERRUPT:
        return fo_fail(err, FO_ECANCELLED, "cancelled");
    default:
        return fo_fail(err, FO_EIO, "%s: %s", doing, why);
    }
}

/* ---- connections ------------------------------------------------------------------------- */

void sqlite_conn_close(sqlite_conn *c) {
    if (!c) return;
    for (size_t i = 0; i < c->n_cached; i++) sqlite3_finalize(c->cached[i].st);
    free(c->cached);
    sqlite3_close(c->db);
    free(c);
}

int sqlite_make_private(const char *path, fo_err *err) {
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 && errno == EEXIST) return FO_OK;
    if (fd < 0)
        return fo_fail(err, errno == ENOSPC || errno == EDQUOT ? FO_ENOSPC : FO_EIO,
                       "could not make the database %s: %s", path, strerror(errno));
    close(fd);
    return FO_OK;
}

int sqlite_conn_open(sqlite_conn **out, const sqlite_store *s, bool writer, fo_err *err) {
    sqlite_conn *c = calloc(1, sizeof *c);
    if (!c) return fo_no_memory(err);
    int flags = writer ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                       : (s->read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE);
    char doing[600];
    snprintf(doing, sizeof doing, "could not open the database %.500s", s->path);
    char *uri = s->unchanging ? fo_sqlite_unchanging(s->path) : NULL;
    if (uri) flags |= SQLITE_OPEN_URI;
    int got = sqlite3_open_v2(uri ? uri : s->path, &c->db, flags | SQLITE_OPEN_NOMUTEX, s->vfs);
    free(uri);
    if (got != SQLITE_OK) goto fail;
    if (writer) fo_page_sums_reserve(c->db);
    sqlite3_extended_result_codes(c->db, 1);
    sqlite3_busy_timeout(c->db, s->busy_timeout_ms);
    /* A database from outside must not make this program run what its schema says. */
    sqlite3_db_config(c->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(c->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    const char *setup = writer ? "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                                 "PRAGMA foreign_keys = ON; PRAGMA cell_size_check = ON;"
                                 "PRAGMA cache_size = -32768; PRAGMA wal_autocheckpoint = 4000;"
                                 "PRAGMA journal_size_limit = 67108864; PRAGMA temp_store = MEMORY;"
                               : "PRAGMA query_only = ON; PRAGMA cell_size_check = ON;"
                                 "PRAGMA cache_size = -8192; PRAGMA temp_store = MEMORY;";
    if (sqlite3_exec(c->db, setup, NULL, NULL, NULL) != SQLITE_OK) goto fail;
    *out = c;
    return FO_OK;
fail:;
    int rc = sqlite_fail(c->db, err, doing);
    sqlite_conn_close(c);
    return rc;
}

static int is_cancelled(void *cancel) {
    return atomic_load((const atomic_bool *)cancel);
}

void sqlite_heed(sqlite_conn *c, const atomic_bool *cancel) {
    enum { EVERY = 1000 }; /* of SQLite's instructions: some microseconds */
    sqlite3_progress_handler(c->db, cancel ? EVERY : 0, cancel ? is_cancelled : NULL,
                             (void *)cancel);
}

int sqlite_reader(sqlite_store *s, bool snapshot, sqlite_conn **out, fo_err *err) {
    pthread_mutex_lock(&s->pool_mu);
    sqlite_conn *c = s->idle;
    if (c) {
        s->idle = c->next;
        s->n_idle--;
    }
    pthread_mutex_unlock(&s->pool_mu);
    if (!c) {
        int rc = sqlite_conn_open(&c, s, false, err);
        if (rc) return rc;
    }
    c->next = NULL;
    c->since_ms = fo_now_ms();
    if (snapshot) {
        int rc = sqlite_run(c, err, "BEGIN", "");
        if (rc) {
            sqlite_reader_release(s, c);
            return rc;
        }
    }
    *out = c;
    return FO_OK;
}

void sqlite_reader_release(sqlite_store *s, sqlite_conn *c) {
    fo_histogram_add(&s->timings[STORE_TIMING_READ], fo_now_ms() - c->since_ms);
    sqlite_heed(c, NULL);
    if (!sqlite3_get_autocommit(c->db) && sqlite_run(c, NULL, "ROLLBACK", "") != FO_OK) {
        sqlite_conn_close(c);
        return;
    }
    pthread_mutex_lock(&s->pool_mu);
    bool keep = s->n_idle < MAX_IDLE_READERS;
    if (keep) {
        c->next = s->idle;
        s->idle = c;
        s->n_idle++;
    }
    pthread_mutex_unlock(&s->pool_mu);
    if (!keep) sqlite_conn_close(c);
}

/* ---- statements -------------------------------------------------------------------------- */

static int prepare(sqlite_conn *c, const char *sql, sqlite3_stmt **out, fo_err *err) {
    for (size_t i = 0; i < c->n_cached; i++)
        if (c->cached[i].sql == sql) {
            *out = c->cached[i].st;
            return FO_OK;
        }
    if (c->n_cached == c->cap_cached) {
        size_t cap = c->cap_cached ? c->cap_cached * 2 : 16;
        sqlite_cached *grown = realloc(c->cached, cap * sizeof *grown);
        if (!grown) return fo_no_memory(err);
        c->cached = grown;
        c->cap_cached = cap;
    }
    sqlite3_stmt *st;
    if (sqlite3_prepare_v3(c->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &st, NULL) != SQLITE_OK)
        return sqlite_fail(c->db, err, "could not read the database");
    c->cached[c->n_cached++] = (sqlite_cached){sql, st};
    *out = st;
    return FO_OK;
}

static int bind_all(sqlite3_stmt *st, const char *types, va_list args) {
    int rc = SQLITE_OK;
    for (int i = 1; types[i - 1] && rc == SQLITE_OK; i++) {
        switch (types[i - 1]) {
        case 'i':
            rc = sqlite3_bind_int64(st, i, va_arg(args, int64_t));
            break;
        case 'd':
            rc = sqlite3_bind_double(st, i, va_arg(args, double));
            break;
        case 's':
            rc = sqlite3_bind_text(st, i, va_arg(args, const char *), -1, SQLITE_STATIC);
            break;
        default: {
            const void *p = va_arg(args, const void *);
            size_t n = va_arg(args, size_t);
            rc = sqlite3_bind_blob64(st, i, n ? p : "", n, SQLITE_STATIC);
        }
        }
    }
    return rc;
}

static int query_args(sqlite_conn *c, sqlite3_stmt **out, fo_err *err, const char *sql,
                      const char *types, va_list args) {
    int rc = prepare(c, sql, out, err);
    if (rc) return rc;
    if (bind_all(*out, types, args) == SQLITE_OK) return FO_OK;
    return sqlite_fail(c->db, err, "could not use the database");
}

int sqlite_query(sqlite_conn *c, sqlite3_stmt **out, fo_err *err, const char *sql,
                 const char *types, ...) {
    va_list args;
    va_start(args, types);
    int rc = query_args(c, out, err, sql, types, args);
    va_end(args);
    return rc;
}

int sqlite_step(sqlite_conn *c, sqlite3_stmt *st, fo_err *err) {
    int got = sqlite3_step(st);
    if (got == SQLITE_ROW) return 1;
    int rc = 0;
    if (got != SQLITE_DONE) { /* SQLite counts COMMIT among those that only read */
        const char *sql = sqlite3_sql(st);
        bool reads = sqlite3_stmt_readonly(st) && strncmp(sql, "COMMIT", 6) != 0 &&
                     strncmp(sql, "BEGIN IMMEDIATE", 15) != 0;
        rc = sqlite_fail(c->db, err,
                         reads ? "could not read the database" : "could not write to the database");
    }
    sqlite3_reset(st);
    return rc;
}

int sqlite_run_args(sqlite_conn *c, fo_err *err, const char *sql, const char *types, va_list args) {
    sqlite3_stmt *st;
    int rc = query_args(c, &st, err, sql, types, args);
    if (rc) return rc;
    rc = sqlite_step(c, st, err);
    if (rc == 1) sqlite3_reset(st);
    return rc < 0 ? rc : FO_OK;
}

int sqlite_run(sqlite_conn *c, fo_err *err, const char *sql, const char *types, ...) {
    va_list args;
    va_start(args, types);
    int rc = sqlite_run_args(c, err, sql, types, args);
    va_end(args);
    return rc;
}

char *sqlite_column(sqlite3_stmt *st, int i, bool *oom) {
    if (sqlite3_column_type(st, i) == SQLITE_NULL) return NULL;
    const char *s = (const char *)sqlite3_column_text(st, i);
    char *copy = s ? strdup(s) : NULL;
    if (!copy) *oom = true;
    return copy;
}

/* ---- opening ----------------------------------------------------------------------------- */

/* Nothing is written, and closing moves nothing out of the log, until the ledger has been asked. */
static int open_writer(sqlite_store *s, const sqlite_options *opt, fo_err *err) {
    int rc = sqlite_make_private(s->path, err);
    if (!rc) rc = sqlite_conn_open(&s->writer, s, true, err);
    if (rc) return rc;
    ledger_view view = {0};
    sqlite3_db_config(s->writer->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    rc = sqlite_ledger_check(s, s->writer, opt, &view, err);
    if (!rc) {
        sqlite3_db_config(s->writer->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
        rc = sqlite_migrate(s, s->writer, err);
    }
    if (!rc) rc = sqlite_ledger_start(s, opt, &view, err);
    ledger_view_deinit(&view);
    /* Whoever held these claims is gone with the process. */
    sqlite_txn *t = NULL;
    if (!rc) rc = sqlite_txn_begin(s, &t, err);
    if (rc) return rc;
    rc = sqlite_run(t->c, err, "DELETE FROM idempotency WHERE status IS NULL", "");
    if (!rc) return sqlite_txn_commit(t, err);
    sqlite_txn_rollback(t);
    return rc;
}

static bool log_is_empty(const sqlite_store *s) {
    char name[4096];
    struct stat st;
    snprintf(name, sizeof name, "%s-wal", s->path);
    return stat(name, &st) != 0 || st.st_size == 0;
}

/* SQLite reads a database with a log beside it only where it may write: it keeps an index of the
 * log there. Where nobody may, and the log is empty, the file cannot change and none is needed. */
static int look_at_folder(sqlite_store *s, fo_err *err) {
    char name[4096];
    snprintf(name, sizeof name, "%s", s->path);
    char *slash = strrchr(name, '/');
    if (slash)
        slash[slash == name] = 0;
    else
        strcpy(name, ".");
    if (access(name, W_OK) == 0 || errno == ENOENT) return FO_OK;
    s->unchanging = log_is_empty(s);
    if (s->unchanging) return FO_OK;
    snprintf(name, sizeof name, "%s-shm", s->path);
    if (access(name, R_OK) == 0) return FO_OK; /* of a writer, or of one that crashed */
    return fo_fail(
        err, FO_EUNSUPPORTED,
        "%s cannot be opened where nothing may be written: its log holds commits that it "
        "does not hold yet; open it once where it can be written to",
        s->path);
}

/* A full disk has no room for the index of a log that is empty: then as where nobody may write. */
static int read_first(sqlite_store *s, sqlite_conn **c, fo_err *err) {
    for (;;) {
        int rc = sqlite_reader(s, false, c, err);
        bool opened = !rc;
        if (opened) rc = sqlite_migrate(s, *c, err);
        if (!rc) return FO_OK;
        if (opened) sqlite_conn_close(*c);
        if (rc != FO_ENOSPC || s->unchanging || !log_is_empty(s)) return rc;
        s->unchanging = true;
    }
}

static const store_ops OPS;
static void close_store(store *base);

int sqlite_store_open(store **out, const char *path, const sqlite_options *opt, fo_err *err) {
    static const sqlite_options defaults = {0};
    if (!opt) opt = &defaults;
    if (!path || !path[0]) return fo_fail(err, FO_EINVAL, "the database needs a path");
    sqlite_store *s = calloc(1, sizeof *s);
    if (!s) return fo_no_memory(err);
    pthread_mutex_init(&s->ticket_mu, NULL);
    pthread_cond_init(&s->ticket_called, NULL);
    pthread_mutex_init(&s->pool_mu, NULL);
    pthread_mutex_init(&s->damaged_mu, NULL);
    s->base.ops = &OPS;
    s->read_only = opt->store.read_only;
    s->notices = opt->store.notices;
    s->busy_timeout_ms = opt->busy_timeout_ms > 0 ? opt->busy_timeout_ms : 10000;
    s->path = strdup(path);
    s->vfs = fo_page_sums_vfs(opt->vfs);
    int rc = FO_OK;
    s->ledger_path = opt->ledger ? strdup(opt->ledger) : NULL;
    if (!s->path || !s->vfs || (opt->ledger && !s->ledger_path)) {
        rc = fo_no_memory(err);
        goto fail;
    }
    if (s->read_only) {
        sqlite_conn *c;
        rc = look_at_folder(s, err);
        if (!rc) rc = read_first(s, &c, err);
        if (rc) goto fail;
        rc = sqlite_ledger_look(s, c, opt, err);
        sqlite_reader_release(s, c);
    } else {
        rc = open_writer(s, opt, err);
    }
    if (rc) goto fail;
    *out = &s->base;
    return FO_OK;
fail:
    close_store(&s->base);
    return rc;
}

static void close_store(store *base) {
    sqlite_store *s = sqlite_of(base);
    while (s->idle) {
        sqlite_conn *c = s->idle;
        s->idle = c->next;
        sqlite_conn_close(c);
    }
    ledger_close(s->ledger);
    sqlite_conn_close(s->writer); /* the last connection to close checkpoints and removes the WAL */
    pthread_mutex_destroy(&s->ticket_mu);
    pthread_cond_destroy(&s->ticket_called);
    pthread_mutex_destroy(&s->pool_mu);
    pthread_mutex_destroy(&s->damaged_mu);
    free(s->path);
    free(s->ledger_path);
    free(s);
}

/* ---- transactions ------------------------------------------------------------------------ */

static void lock_writer(sqlite_store *s) {
    pthread_mutex_lock(&s->ticket_mu);
    uint64_t mine = s->next_ticket++;
    while (s->now_serving != mine) pthread_cond_wait(&s->ticket_called, &s->ticket_mu);
    pthread_mutex_unlock(&s->ticket_mu);
}

static void unlock_writer(sqlite_store *s) {
    pthread_mutex_lock(&s->ticket_mu);
    s->now_serving++;
    pthread_cond_broadcast(&s->ticket_called);
    pthread_mutex_unlock(&s->ticket_mu);
}

static const fo_histogram *get_timing(const store *base, enum store_timing which) {
    const sqlite_store *s = (const sqlite_store *)base;
    return &s->timings[which];
}

int sqlite_txn_begin(sqlite_store *s, sqlite_txn **out, fo_err *err) {
    if (s->read_only) return fo_fail(err, FO_EUNSUPPORTED, "the database is open read-only");
    sqlite_txn *t = calloc(1, sizeof *t);
    if (!t) return fo_no_memory(err);
    t->base.store = &s->base;
    t->s = s;
    t->c = s->writer;
    double asked_ms = fo_now_ms();
    lock_writer(s);
    t->began_ms = fo_now_ms();
    fo_histogram_add(&s->timings[STORE_TIMING_WAIT], t->began_ms - asked_ms);
    int rc = sqlite_run(t->c, err, "BEGIN IMMEDIATE", "");
    if (rc) {
        unlock_writer(s);
        free(t);
        return rc;
    }
    t->changes = sqlite3_total_changes64(t->c->db);
    *out = t;
    return FO_OK;
}

int sqlite_txn_begin_until(sqlite_store *s, const atomic_bool *cancel, sqlite_txn **out,
                           fo_err *err) {
    int rc = sqlite_txn_begin(s, out, err);
    if (rc || !cancel) return rc;
    if (atomic_load(cancel)) { /* while it waited for others */
        sqlite_txn_rollback(*out);
        return fo_fail(err, FO_ECANCELLED, "cancelled");
    }
    sqlite_heed((*out)->c, cancel);
    return FO_OK;
}

static void txn_end(sqlite_txn *t) {
    sqlite_store *s = t->s;
    free(t->touched);
    free(t->noted);
    free(t);
    unlock_writer(s);
}

int sqlite_txn_commit(sqlite_txn *t, fo_err *err) {
    int rc = FO_OK;
    sqlite_heed(t->c, NULL);
    if (t->broken) {
        rc = t->why.code;
        if (err) *err = t->why;
    } else {
        double from_ms = fo_now_ms();
        fo_histogram_add(&t->s->timings[STORE_TIMING_WRITE], from_ms - t->began_ms);
        rc = sqlite_ledger_commit(t, err);
        fo_histogram_add(&t->s->timings[STORE_TIMING_COMMIT], fo_now_ms() - from_ms);
    }
    if (rc) {
        sqlite_txn_rollback(t);
        return rc;
    }
    txn_end(t);
    return FO_OK;
}

void sqlite_txn_rollback(sqlite_txn *t) {
    if (!t) return;
    sqlite_heed(t->c, NULL);
    if (!sqlite3_get_autocommit(t->c->db)) sqlite_run(t->c, NULL, "ROLLBACK", "");
    txn_end(t);
}

int sqlite_txn_failed(sqlite_txn *t, int rc, const fo_err *err) {
    if (rc && !t->broken && sqlite3_get_autocommit(t->c->db)) {
        t->broken = true;
        if (err && err->code == rc)
            t->why = *err;
        else
            fo_fail(&t->why, rc, "the transaction was rolled back");
    }
    return rc;
}

int sqlite_txn_usable(const sqlite_txn *t, fo_err *err) {
    if (t->broken && err) *err = t->why;
    return t->broken ? t->why.code : FO_OK;
}

/* ---- upkeep ------------------------------------------------------------------------------ */

int sqlite_checkpoint(store *base, fo_err *err) {
    sqlite_store *s = sqlite_of(base);
    if (s->read_only) return fo_fail(err, FO_EUNSUPPORTED, "the database is open read-only");
    lock_writer(s);
    int rc = FO_OK;
    int got =
        sqlite3_wal_checkpoint_v2(s->writer->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    /* BUSY: a long read still needs the WAL; what could be moved has been. */
    if (got != SQLITE_OK && got != SQLITE_BUSY)
        rc = sqlite_fail(s->writer->db, err, "could not checkpoint the database");
    unlock_writer(s);
    return rc;
}

static int64_t free_disk_bytes(store *base) {
    sqlite_store *s = sqlite_of(base);
    struct statvfs v;
    if (statvfs(s->path, &v) != 0) return -1;
    uint64_t n;
    if (__builtin_mul_overflow((uint64_t)v.f_bavail, (uint64_t)v.f_frsize, &n) || n > INT64_MAX)
        return INT64_MAX;
    return (int64_t)n;
}

static uint64_t n_bytes(const store *base) {
    const sqlite_store *s = (const sqlite_store *)base;
    static const char *const tails[] = {"", "-wal"};
    uint64_t bytes = 0;
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
        char name[4096];
        struct stat st;
        snprintf(name, sizeof name, "%s%s", s->path, tails[i]);
        if (stat(name, &st) == 0) bytes += (uint64_t)st.st_size;
    }
    return bytes;
}

/* ---- for all groups of tables ------------------------------------------------------------- */

int sqlite_read_rows(sqlite_conn *c, sqlite3_stmt *st, const sqlite_row_kind *kind, void **out,
                     size_t *n, fo_err *err) {
    size_t cap = 0;
    int rc;
    *out = NULL;
    *n = 0;
    while ((rc = sqlite_step(c, st, err)) == 1) {
        if (*n == cap) {
            cap = cap ? cap * 2 : 64;
            void *more = realloc(*out, cap * kind->bytes);
            rc = more ? FO_OK : fo_no_memory(err);
            if (more) *out = more;
        } else {
            rc = FO_OK;
        }
        if (!rc) rc = kind->read(st, (char *)*out + *n * kind->bytes, err);
        if (rc) {
            sqlite3_reset(st);
            break;
        }
        ++*n;
    }
    if (!rc) return FO_OK;
    for (size_t i = 0; i < *n; i++) kind->deinit((char *)*out + i * kind->bytes);
    free(*out);
    *out = NULL;
    *n = 0;
    return rc;
}

int sqlite_txn_end(sqlite_txn *t, int rc, fo_err *err) {
    if (!rc) return sqlite_txn_commit(t, err);
    sqlite_txn_rollback(t);
    return rc;
}

/* ---- the table of functions -------------------------------------------------------------- */

static int begin(store *s, store_txn **out, fo_err *err) {
    sqlite_txn *t;
    int rc = sqlite_txn_begin(sqlite_of(s), &t, err);
    if (!rc) *out = &t->base;
    return rc;
}

static int commit(store_txn *t, fo_err *err) {
    return sqlite_txn_commit(sqlite_txn_of(t), err);
}

static void rollback(store_txn *t) {
    sqlite_txn_rollback(sqlite_txn_of(t));
}

static const store_ops OPS = {
    .close = close_store,
    .get_collection = sqlite_get_collection,
    .create_collection = sqlite_create_collection,
    .delete_collection = sqlite_delete_collection,
    .list_collections = sqlite_list_collections,
    .foreign_collections = sqlite_foreign_collections,
    .set_tuning = sqlite_set_tuning,
    .begin = begin,
    .commit = commit,
    .rollback = rollback,
    .put_document = sqlite_put_document,
    .delete_document = sqlite_delete_document,
    .txn_get_document = sqlite_txn_get_document,
    .txn_epoch = sqlite_txn_epoch,
    .document_unchanged = sqlite_document_unchanged,
    .get_document = sqlite_get_document,
    .list_documents = sqlite_list_documents,
    .get_chunks = sqlite_get_chunks,
    .get_text = sqlite_get_text,
    .each_chunk = sqlite_each_chunk,
    .chunk_ids = sqlite_chunk_ids,
    .chunks_to_embed = sqlite_chunks_to_embed,
    .gather_vectors = sqlite_gather_vectors,
    .adopt_vectors = sqlite_adopt_vectors,
    .titles_to_embed = sqlite_titles_to_embed,
    .put_title_vectors = sqlite_put_title_vectors,
    .each_title_vector = sqlite_each_title_vector,
    .create_job = sqlite_create_job,
    .update_job = sqlite_update_job,
    .get_job = sqlite_get_job,
    .fail_running_jobs = sqlite_fail_running_jobs,
    .trim_jobs = sqlite_trim_jobs,
    .idem_claim = sqlite_idem_claim,
    .idem_finish = sqlite_idem_finish,
    .idem_abandon = sqlite_idem_abandon,
    .log_queries = sqlite_log_queries,
    .trim_analytics = sqlite_trim_analytics,
    .cache_series = sqlite_cache_series,
    .latency_series = sqlite_latency_series,
    .list_queries = sqlite_list_queries,
    .put_source = sqlite_put_source,
    .get_source = sqlite_get_source,
    .list_sources = sqlite_list_sources,
    .delete_source = sqlite_delete_source,
    .list_source_files = sqlite_list_source_files,
    .write_source_files = sqlite_write_source_files,
    .create_conversation = sqlite_create_conversation,
    .get_conversation = sqlite_get_conversation,
    .list_conversations = sqlite_list_conversations,
    .change_conversation = sqlite_change_conversation,
    .delete_conversation = sqlite_delete_conversation,
    .write_turn = sqlite_write_turn,
    .put_feedback = sqlite_put_feedback,
    .list_feedback = sqlite_list_feedback,
    .get_timing = get_timing,
    .n_refused = sqlite_n_refused,
    .n_bytes = n_bytes,
    .free_disk_bytes = free_disk_bytes,
    .backup = sqlite_backup,
    .check = sqlite_check,
    .mark_damaged = sqlite_mark_damaged,
    .rewrite = sqlite_rewrite,
};
