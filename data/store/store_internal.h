/* store_internal.h - what the files of the store share: connections, statements, the write turn.
 *
 * store.c            opening, the pool of readers, the write turn, statements, backup, upkeep
 * store_schema.c     schema and migrations
 * store_collections.c, store_documents.c, store_chunks.c, store_jobs.c, store_analytics.c,
 * store_latency.c    one group of tables each
 *
 * A connection is used by one thread at a time: readers are taken from the pool for one call, the
 * writer belongs to whoever has the turn (a ticket lock, so that no writer starves). Neither lock
 * is held while the other is taken. */
#ifndef FORAGE_DATA_STORE_INTERNAL_H
#define FORAGE_DATA_STORE_INTERNAL_H

#include <pthread.h>
#include <sqlite3.h>
#include <stdarg.h>
#include "data/store/store.h"

enum {
    TEXT_PIECE_BYTES = 65536, /* see table texts in schema.sql */
    TEXT_MAX_PIECES = 65536,
};

typedef struct store_cached {
    const char *sql; /* compared by address: every statement is a literal used at one place */
    sqlite3_stmt *st;
} store_cached;

typedef struct store_conn {
    sqlite3 *db;
    store_cached *cached;
    size_t n_cached, cap_cached;
    struct store_conn *next; /* in the pool */
    double since_ms;         /* when a reader was taken */
} store_conn;

struct store {
    /* immutable after open */
    char *path, *vfs;
    bool read_only;
    int busy_timeout_ms;
    store_conn *writer; /* owned: who has the turn; NULL when read_only */

    pthread_mutex_t turn_mu;
    pthread_cond_t turn_moved;
    uint64_t next_ticket, now_serving; /* guarded by turn_mu */

    pthread_mutex_t pool_mu;
    store_conn *idle; /* guarded by pool_mu */
    int n_idle;

    fo_histogram timings[STORE_N_TIMINGS]; /* atomic */
};

struct store_txn {
    store *s;
    store_conn *c;
    int64_t *touched; /* collections whose epoch this transaction has raised */
    size_t n_touched;
    double began_ms;
    bool broken; /* SQLite has rolled back by itself: only store_rollback is left */
    fo_err why;
};

/* FO_* for what `db` failed with last; the sentence begins with `doing`. */
int store_fail_sqlite(sqlite3 *db, fo_err *err, const char *doing);

int store_conn_open(store_conn **out, const store *s, bool writer, fo_err *err);
void store_conn_close(store_conn *c);

/* A reader of one's own until the release. With snapshot, all reads until then see one state. */
int store_reader(store *s, bool snapshot, store_conn **out, fo_err *err);
void store_reader_release(store *s, store_conn *c);

/* Prepare (or take from the cache) and bind. types, one letter for each parameter:
 * i int64_t, d double, s const char * (NULL is NULL), b const void * and size_t. */
int store_query(store_conn *c, sqlite3_stmt **out, fo_err *err, const char *sql, const char *types,
                ...);
/* 1: a row is there, 0: no more rows, < 0: FO_*. The statement is reset unless 1 is returned. */
int store_step(store_conn *c, sqlite3_stmt *st, fo_err *err);
/* Run a statement that gives no rows. */
int store_run(store_conn *c, fo_err *err, const char *sql, const char *types, ...);
int store_run_args(store_conn *c, fo_err *err, const char *sql, const char *types, va_list args);

/* store_latency.c: count the stages of these queries. */
int store_roll_up_latency(store_txn *t, const store_query_log *rows, size_t n, fo_err *err);

/* A copy of a text column, NULL for NULL; *oom is set where memory ran out. */
char *store_column(sqlite3_stmt *st, int i, bool *oom);
int store_out_of_memory(fo_err *err);

/* Remember that t changes this collection: raises its epoch once, adds to its counts. */
int store_touch(store_txn *t, int64_t collection, int64_t documents, int64_t chunks, fo_err *err);
/* A failed statement may have ended the transaction: note it. Returns rc. */
int store_txn_failed(store_txn *t, int rc, const fo_err *err);

/* Copy bytes [start, end) of a document's text to out; *blob is reused between calls and closed
 * by the caller. */
int store_read_text(store_conn *c, sqlite3_blob **blob, int64_t document, size_t start, size_t end,
                    char *out, fo_err *err);

int store_migrate(store_conn *c, bool read_only, fo_err *err);

#endif
