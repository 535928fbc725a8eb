/* store_internal.h - what the files of the store share: connections, statements, the write turn.
 *
 * store.c            opening, the pool of readers, the write turn, statements, backup, upkeep
 * store_schema.c     schema and migrations
 * store_ledger.c     the ledger of commits and the database held against each other
 * store_digest.c     digests of rows
 * store_verify.c     all of it checked; store_files.c: the files as they lie
 * store_backup.c     copies
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
#include <stdatomic.h>
#include "data/store/ledger.h"
#include "data/store/store.h"

enum {
    TEXT_PIECE_BYTES = 65536, /* see table texts in schema.sql */
    TEXT_MAX_PIECES = 65536,
    STORE_DAMAGED = 256,
};
#define STORE_MAX_TEXT ((int64_t)TEXT_PIECE_BYTES * TEXT_MAX_PIECES)

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
    char *path;
    const char *vfs; /* kernels/page_sums.h over what was asked for */
    bool read_only;
    bool unchanging; /* on a file system that nobody may write to, and nothing in its log */
    int busy_timeout_ms;
    store_conn *writer; /* owned: who has the turn; NULL when read_only */
    fo_notices notices;
    char *ledger_path; /* NULL: none is kept */
    ledger *ledger;    /* owned: who has the turn */
    int64_t commits;   /* owned: who has the turn: number of the last commit */

    pthread_mutex_t turn_mu;
    pthread_cond_t turn_moved;
    uint64_t next_ticket, now_serving; /* guarded by turn_mu */

    pthread_mutex_t pool_mu;
    store_conn *idle; /* guarded by pool_mu */
    int n_idle;

    pthread_mutex_t damaged_mu;
    int64_t damaged[STORE_DAMAGED]; /* guarded by damaged_mu: rowids found damaged of late */
    size_t n_damaged;               /* guarded by damaged_mu: ever; the list is a ring */

    fo_histogram timings[STORE_N_TIMINGS]; /* atomic */
    atomic_uint_fast64_t n_refused;        /* atomic: reads that damage was the answer to */
};

struct store_txn {
    store *s;
    store_conn *c;
    int64_t *touched; /* collections whose epoch this transaction has raised */
    size_t n_touched;
    int64_t *noted; /* collections that the ledger is told of */
    size_t n_noted;
    int64_t changes; /* of the connection before */
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

/* An empty file that its owner alone may read, where there is none: SQLite's own would be readable
 * by all, and its log takes the mode of the database. */
int store_make_private(const char *path, fo_err *err);

/* The ledger shall know this collection as it is when t commits. */
int store_note(store_txn *t, int64_t collection, fo_err *err);

/* ---- store_ledger.c ---------------------------------------------------------------------- */

/* Before anything is written through c: hold the ledger against what c reads. *view is for
 * store_ledger_start. */
int store_ledger_check(store *s, store_conn *c, const store_options *opt, ledger_view *view,
                       fo_err *err);
/* After migrations: make the ledger anew, as of now. */
int store_ledger_start(store *s, const store_options *opt, const ledger_view *view, fo_err *err);
/* COMMIT, numbered, and noted in the ledger before and after. */
int store_ledger_commit(store_txn *t, fo_err *err);

/* ---- store_digest.c ---------------------------------------------------------------------- */

typedef struct store_digest_fields { /* of a document's row; strings may be NULL */
    int64_t collection;
    const char *id, *title, *uri, *content_type, *metadata;
    const unsigned char *content_sha256, *text_sha256;
    int64_t text_bytes, n_chunks, created_ms, updated_ms;
} store_digest_fields;

typedef struct store_digest_span { /* what is served of a chunk */
    const char *document_id, *title, *uri, *metadata;
    int64_t ordinal, start_cp, end_cp, n_tokens;
    const char *heading, *text;
    size_t heading_len, text_len;
} store_digest_span;

void store_digest_text(const char *text, size_t len, unsigned char out[32]);
void store_digest_document(const store_digest_fields *d, unsigned char out[32]);
void store_digest_chunk(const store_digest_span *k, unsigned char out[32]);
uint32_t store_vector_crc(int64_t chunk, const void *vector, size_t n);
/* Is this column that digest? */
bool store_digest_same(sqlite3_stmt *st, int column, const unsigned char want[32]);
/* These columns, from `at` on. Pointers are the statement's; text_sha256 is left NULL. */
#define STORE_DIGEST_COLUMNS                                                                       \
    "collection, name, title, uri, content_type, metadata, content_sha256, text_bytes, n_chunks, " \
    "created_ms, updated_ms"
void store_digest_read_row(sqlite3_stmt *st, int at, unsigned char content_sha256[32],
                           store_digest_fields *out);
void store_hex(const unsigned char *bytes, size_t n, char *out); /* 2 * n digits and a NUL */

/* A document found damaged as it was read: counted, and remembered, so that the same content
 * ingested again replaces it. Returns FO_ECORRUPT with a sentence. */
int store_refuse_damaged(store *s, int64_t document, const char *id, fo_err *err);
bool store_known_damaged(store *s, int64_t document);
void store_forget_damaged(store *s, int64_t document);

/* Of all rows, in a migration. A document that cannot be read gets none: it is damaged. */
int store_fill_digests(store_conn *c, fo_err *err);

#endif
