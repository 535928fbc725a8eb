/* sqlite_internal.h - what the files of the SQLite store share: connections, statements, the write lock.
 *
 * sqlite_store.c     opening, the pool of readers, the write lock, statements, upkeep
 * sqlite_home.c      a home's files: forage.db, its log, the ledger; restoring
 * sqlite_schema.c    schema and migrations
 * sqlite_ledger.c    the ledger of commits and the database held against each other
 * sqlite_digest.c    digests of rows
 * sqlite_verify.c    all of it checked
 * sqlite_backup.c    copies
 * sqlite_collections.c, sqlite_documents.c, sqlite_chunks.c, sqlite_vectors.c, sqlite_jobs.c,
 * sqlite_sources.c, sqlite_conversations.c, sqlite_analytics.c, sqlite_latency.c    one group of tables each
 *
 * A connection is used by one thread at a time: readers are taken from the pool for one call, the
 * writer belongs to whoever has the write lock (a ticket lock, so that no writer starves). Neither lock
 * is held while the other is taken. */
#ifndef FORAGE_DATA_SQLITE_INTERNAL_H
#define FORAGE_DATA_SQLITE_INTERNAL_H

#include <pthread.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdatomic.h>
#include "data/sqlite/ledger.h"
#include "data/sqlite/sqlite_store.h"
#include "data/store/store_backend.h"

enum {
    TEXT_PIECE_BYTES = 65536, /* see table texts in schema.sql */
    TEXT_MAX_PIECES = 65536,
    STORE_DAMAGED = 256,
};
#define STORE_MAX_TEXT ((int64_t)TEXT_PIECE_BYTES * TEXT_MAX_PIECES)

typedef struct sqlite_cached {
    const char *sql; /* compared by address: every statement is a literal used at one place */
    sqlite3_stmt *st;
} sqlite_cached;

typedef struct sqlite_conn {
    sqlite3 *db;
    sqlite_cached *cached;
    size_t n_cached, cap_cached;
    struct sqlite_conn *next; /* in the pool */
    double since_ms;          /* when a reader was taken */
} sqlite_conn;

typedef struct sqlite_store {
    store base;
    /* immutable after open */
    char *path;
    const char *vfs; /* kernels/page_sums.h over what was asked for */
    bool read_only;
    bool unchanging; /* on a file system that nobody may write to, and nothing in its log */
    int busy_timeout_ms;
    sqlite_conn *writer; /* owned: who has the write lock; NULL when read_only */
    fo_notices notices;
    char *ledger_path; /* NULL: none is kept */
    ledger *ledger;    /* owned: who has the write lock */
    int64_t commits;   /* owned: who has the write lock: number of the last commit */

    pthread_mutex_t ticket_mu;
    pthread_cond_t ticket_called;
    uint64_t next_ticket, now_serving; /* guarded by ticket_mu */

    pthread_mutex_t pool_mu;
    sqlite_conn *idle; /* guarded by pool_mu */
    int n_idle;

    pthread_mutex_t damaged_mu;
    int64_t damaged[STORE_DAMAGED]; /* guarded by damaged_mu: rowids found damaged of late */
    size_t n_damaged;               /* guarded by damaged_mu: ever; the list is a ring */

    fo_histogram timings[STORE_N_TIMINGS]; /* atomic */
    /* atomic, set under the write lock: a COMMIT failed. What the log has of it may be whole, and would come back
     * at the next opening, until another commit lies over it */
    atomic_bool unsure;
    atomic_uint_fast64_t n_refused; /* atomic: reads that damage was the answer to */
} sqlite_store;

typedef struct sqlite_txn {
    store_txn base;
    sqlite_store *s;
    sqlite_conn *c;
    int64_t *touched; /* collections whose epoch this transaction has raised */
    size_t n_touched;
    int64_t *noted; /* collections that the ledger is told of */
    size_t n_noted;
    int64_t changes; /* of the connection before */
    double began_ms;
    bool broken; /* SQLite has rolled back by itself: only sqlite_rollback is left */
    fo_err why;
} sqlite_txn;

static inline sqlite_store *sqlite_of(store *s) {
    return (sqlite_store *)s;
}
static inline sqlite_txn *sqlite_txn_of(store_txn *t) {
    return (sqlite_txn *)t;
}

int sqlite_txn_begin(sqlite_store *s, sqlite_txn **out, fo_err *err);
/* One that *cancel ends until its commit: FO_ECANCELLED, at once or from a statement. NULL: nothing does. */
int sqlite_txn_begin_until(sqlite_store *s, const atomic_bool *cancel, sqlite_txn **out,
                           fo_err *err);
int sqlite_txn_commit(sqlite_txn *t, fo_err *err); /* t is gone either way; failed: rolled back */
void sqlite_txn_rollback(sqlite_txn *t);           /* NULL is fine */

/* FO_* for what `db` failed with last; the sentence begins with `doing`. */
int sqlite_fail(sqlite3 *db, fo_err *err, const char *doing);

int sqlite_conn_open(sqlite_conn **out, const sqlite_store *s, bool writer, fo_err *err);
void sqlite_conn_close(sqlite_conn *c);

/* A reader of one's own until the release. With snapshot, all reads until then see one state. */
int sqlite_reader(sqlite_store *s, bool snapshot, sqlite_conn **out, fo_err *err);
void sqlite_reader_release(sqlite_store *s, sqlite_conn *c);

/* From here on *cancel ends what statements of c do, with FO_ECANCELLED; NULL: nothing does any more. The end of a
 * transaction and a reader's release do that by themselves. */
void sqlite_heed(sqlite_conn *c, const atomic_bool *cancel);

/* Prepare (or take from the cache) and bind. types, one letter for each parameter:
 * i int64_t, d double, s const char * (NULL is NULL), b const void * and size_t. */
int sqlite_query(sqlite_conn *c, sqlite3_stmt **out, fo_err *err, const char *sql,
                 const char *types, ...);
/* 1: a row is there, 0: no more rows, < 0: FO_*. The statement is reset unless 1 is returned. */
int sqlite_step(sqlite_conn *c, sqlite3_stmt *st, fo_err *err);
/* Run a statement that gives no rows. */
int sqlite_run(sqlite_conn *c, fo_err *err, const char *sql, const char *types, ...);
int sqlite_run_args(sqlite_conn *c, fo_err *err, const char *sql, const char *types, va_list args);

/* All rows that a statement gives, each read into `bytes` of a list; on an error none. The caller ends
 * each row and frees *out. */
typedef struct sqlite_row_kind {
    size_t bytes;
    int (*read)(sqlite3_stmt *st, void *row, fo_err *err);
    void (*deinit)(void *row);
} sqlite_row_kind;
int sqlite_read_rows(sqlite_conn *c, sqlite3_stmt *st, const sqlite_row_kind *kind, void **out,
                     size_t *n, fo_err *err);
/* Commit where rc is FO_OK, else roll back and return it. */
int sqlite_txn_end(sqlite_txn *t, int rc, fo_err *err);

/* store_latency.c: count the stages of these queries. */
int sqlite_roll_up_latency(sqlite_txn *t, const store_query_log *rows, size_t n, fo_err *err);

/* A copy of a text column, NULL for NULL; *oom is set where memory ran out. */
char *sqlite_column(sqlite3_stmt *st, int i, bool *oom);

/* Remember that t changes this collection: raises its epoch once, adds to its counts. */
int sqlite_touch(sqlite_txn *t, int64_t collection, int64_t documents, int64_t chunks, fo_err *err);
/* A failed statement may have ended the transaction: note it. Returns rc. */
int sqlite_txn_failed(sqlite_txn *t, int rc, const fo_err *err);
/* FO_OK, or why the transaction ended. */
int sqlite_txn_usable(const sqlite_txn *t, fo_err *err);

/* Copy bytes [start, end) of a document's text to out; *blob is reused between calls and closed
 * by the caller; after an error it is NULL, and may be used for the next text all the same. */
int sqlite_read_text(sqlite_conn *c, sqlite3_blob **blob, int64_t document, size_t start,
                     size_t end, char *out, fo_err *err);

/* Brings an older database up to this program's version, all of it or nothing, and says so (schema_migrated). Read-only:
 * FO_EMISMATCH for an older one. */
int sqlite_migrate(const sqlite_store *s, sqlite_conn *c, fo_err *err);
/* A database without a single table, its log included. */
int sqlite_is_empty(const char *path, bool *empty, fo_err *err);
/* A copy put in a home's place (its ledger gone): a store of its own from here on. */
int sqlite_adopt(store *s, fo_err *err);

/* An empty file that its owner alone may read, where there is none: SQLite's own would be readable
 * by all, and its log takes the mode of the database. */
int sqlite_make_private(const char *path, fo_err *err);

/* ---- sqlite_ledger.c ---------------------------------------------------------------------- */

/* Before anything is written through c: hold the ledger against what c reads. *view is for
 * sqlite_ledger_start. */
int sqlite_ledger_check(sqlite_store *s, sqlite_conn *c, const sqlite_options *opt,
                        ledger_view *view, fo_err *err);
/* As a reader does, beside whom a writer may be at work: with some pauses where something differs, and only
 * what stays as it is is told. */
int sqlite_ledger_look(sqlite_store *s, sqlite_conn *c, const sqlite_options *opt, fo_err *err);
/* After migrations: make the ledger anew, as of now. */
int sqlite_ledger_start(sqlite_store *s, const sqlite_options *opt, const ledger_view *view,
                        fo_err *err);
/* COMMIT, numbered, and noted in the ledger before and after. */
int sqlite_ledger_commit(sqlite_txn *t, fo_err *err);

/* ---- sqlite_digest.c ---------------------------------------------------------------------- */

typedef struct sqlite_digest_fields { /* of a document's row; strings may be NULL */
    int64_t collection;
    const char *id, *title, *uri, *content_type, *metadata;
    const unsigned char *content_sha256, *text_sha256;
    int64_t text_bytes, n_chunks, created_ms, updated_ms;
} sqlite_digest_fields;

typedef struct sqlite_digest_span { /* what is served of a chunk */
    const char *document_id, *title, *uri, *metadata;
    int64_t ordinal, start_cp, end_cp, n_tokens;
    const char *heading, *text;
    size_t heading_len, text_len;
    const char *place; /* NULL or "": none */
} sqlite_digest_span;

void sqlite_digest_text(const char *text, size_t len, unsigned char out[32]);
void sqlite_digest_document(const sqlite_digest_fields *d, unsigned char out[32]);
void sqlite_digest_chunk(const sqlite_digest_span *k, unsigned char out[32]);
uint32_t sqlite_vector_crc(int64_t chunk, const void *vector, size_t n);
/* Is this column that digest? */
bool sqlite_digest_same(sqlite3_stmt *st, int column, const unsigned char want[32]);
/* These columns, from `at` on. Pointers are the statement's; text_sha256 is left NULL. */
#define STORE_DIGEST_COLUMNS                                                                       \
    "collection, name, title, uri, content_type, metadata, content_sha256, text_bytes, n_chunks, " \
    "created_ms, updated_ms"
/* Of a row with the columns id, STORE_DIGEST_COLUMNS, text_sha256, digest: are the fields what the digest was made of?
 * Pointers are the statement's and the caller's. */
bool sqlite_digest_check_row(sqlite3_stmt *st, unsigned char content_sha256[32],
                             unsigned char text_sha256[32], sqlite_digest_fields *out);

/* A document found damaged as it was read: counted, and remembered, so that the same content
 * ingested again replaces it. Returns FO_ECORRUPT with a sentence. */
int sqlite_refuse_damaged(sqlite_store *s, int64_t document, const char *id, fo_err *err);
bool sqlite_known_damaged(sqlite_store *s, int64_t document);
void sqlite_forget_damaged(sqlite_store *s, int64_t document);

/* Of all rows, in a migration. A document that cannot be read gets none: it is damaged. */
int sqlite_fill_digests(sqlite_conn *c, fo_err *err);

/* ---- the table of functions (store_backend.h): sqlite_store.c puts it together --------------- */

/* sqlite_collections.c */
int sqlite_get_collection(store *s, const char *tenant, const char *name, store_collection *out,
                          fo_err *err);
int sqlite_create_collection(store *s, const char *tenant, const char *name, const char *language,
                             store_collection *out, fo_err *err);
int sqlite_delete_collection(store *s, const char *tenant, const char *name,
                             const atomic_bool *cancel, fo_err *err);
int sqlite_list_collections(store *s, const char *tenant, store_collection **out, size_t *n,
                            fo_err *err);
int sqlite_foreign_collections(store *s, const char *tenant, const char *name, const char *embedder,
                               const char *also, size_t limit, store_collection **out, size_t *n,
                               size_t *n_all, fo_err *err);
int sqlite_set_tuning(store *s, int64_t collection, double alpha, double min_support, fo_err *err);
int sqlite_txn_get_document(store_txn *t, int64_t collection, const char *id, store_document *out,
                            fo_err *err);
int sqlite_txn_epoch(store_txn *t, int64_t collection, int64_t *epoch, fo_err *err);
/* sqlite_documents.c */
int sqlite_document_unchanged(store *s, int64_t collection, const char *id,
                              const unsigned char sha256[32], bool *unchanged, size_t *n_chunks,
                              fo_err *err);
int sqlite_get_document(store *s, int64_t collection, const char *id, bool with_text,
                        store_document *out, fo_err *err);
int sqlite_list_documents(store *s, int64_t collection, const char *after, size_t limit,
                          store_document **out, size_t *n, bool *has_more, fo_err *err);
int sqlite_put_document(store_txn *t, const store_document_in *doc, const store_chunk_in *chunks,
                        size_t n_chunks, store_put_result *out, fo_err *err);
int sqlite_delete_document(store_txn *t, int64_t collection, const char *id,
                           const unsigned char *sha256, int64_t **removed, size_t *n_removed,
                           fo_err *err);
/* sqlite_chunks.c */
int sqlite_get_chunks(store *s, const int64_t *ids, size_t n, store_chunk *out, fo_err *err);
int sqlite_get_text(store *s, int64_t document, size_t start, size_t end, char *out, fo_err *err);
int sqlite_each_chunk(store *s, int64_t collection, int64_t after, store_index_fn *fn, void *ctx,
                      int64_t *epoch, fo_err *err);
int sqlite_chunk_ids(store *s, int64_t collection, int64_t **ids, int64_t **documents, size_t *n,
                     int64_t *epoch, fo_err *err);
/* sqlite_vectors.c */
int sqlite_chunks_to_embed(store *s, int64_t collection, const char *embedder, int64_t after,
                           size_t limit, int64_t **ids, size_t *n, fo_err *err);
int sqlite_gather_vectors(store_txn *t, const char *tenant, const char *embedder,
                          const int64_t *ids, const float *vectors, size_t n, uint32_t dim,
                          fo_err *err);
int sqlite_adopt_vectors(store_txn *t, int64_t collection, const char *embedder, uint32_t dim,
                         fo_err *err);
/* sqlite_titles.c */
int sqlite_titles_to_embed(store *s, int64_t collection, const char *embedder, int64_t after,
                           size_t limit, store_title **out, size_t *n, fo_err *err);
int sqlite_put_title_vectors(store_txn *t, const char *tenant, const char *embedder,
                             const store_title *titles, const float *vectors, size_t n,
                             uint32_t dim, fo_err *err);
int sqlite_each_title_vector(store *s, int64_t collection, const char *embedder,
                             store_title_vector_fn *fn, void *ctx, fo_err *err);
/* sqlite_jobs.c */
int sqlite_create_job(store *s, const char *tenant, const char *kind, const char *collection,
                      int64_t *id, fo_err *err);
int sqlite_update_job(store *s, int64_t id, const char *state, int64_t n_total, int64_t n_done,
                      int64_t n_failed, const char *error, const char *result, fo_err *err);
int sqlite_get_job(store *s, const char *tenant, int64_t id, store_job *out, fo_err *err);
int sqlite_fail_running_jobs(store *s, fo_err *err);
int sqlite_trim_jobs(store *s, int64_t now_ms, fo_err *err);
int sqlite_idem_claim(store *s, const char *tenant, const char *route, const char *key,
                      const unsigned char body_sha256[32], enum store_idem *state, int *status,
                      char **response, fo_err *err);
int sqlite_idem_finish(store *s, const char *tenant, const char *route, const char *key, int status,
                       const char *response, fo_err *err);
int sqlite_idem_abandon(store *s, const char *tenant, const char *route, const char *key,
                        fo_err *err);
/* sqlite_sources.c */
int sqlite_put_source(store *s, const store_source *in, int64_t *id, fo_err *err);
int sqlite_get_source(store *s, const char *tenant, const char *name, store_source *out,
                      fo_err *err);
int sqlite_list_sources(store *s, const char *tenant, store_source **out, size_t *n, fo_err *err);
int sqlite_delete_source(store *s, const char *tenant, const char *name, fo_err *err);
int sqlite_list_source_files(store *s, int64_t source, store_source_file **out, size_t *n,
                             fo_err *err);
int sqlite_write_source_files(store *s, int64_t source, const store_source_file *put, size_t n_put,
                              const char *const *gone, size_t n_gone, fo_err *err);
/* sqlite_conversations.c */
int sqlite_create_conversation(store *s, const store_conversation *in, const atomic_bool *cancel,
                               fo_err *err);
int sqlite_get_conversation(store *s, const char *tenant, const char *id, bool with_turns,
                            const atomic_bool *cancel, store_conversation *out, fo_err *err);
int sqlite_list_conversations(store *s, const char *tenant, const char *owner, const char *text,
                              const char *after, size_t limit, const atomic_bool *cancel,
                              store_conversation **out, size_t *n, bool *has_more, fo_err *err);
int sqlite_change_conversation(store *s, const char *tenant, const char *owner, const char *id,
                               const char *title, int shared, const atomic_bool *cancel,
                               fo_err *err);
int sqlite_delete_conversation(store *s, const char *tenant, const char *owner, const char *id,
                               const atomic_bool *cancel, fo_err *err);
int sqlite_write_turn(store *s, const char *tenant, const char *owner, const char *id, size_t at,
                      int64_t n_known, const store_turn *in, const atomic_bool *cancel,
                      fo_err *err);
int sqlite_put_feedback(store *s, const store_feedback *in, fo_err *err);
int sqlite_list_feedback(store *s, const char *tenant, const char *owner, const char *collections,
                         int64_t since_ms, size_t limit, store_feedback **out, size_t *n,
                         fo_err *err);
/* The column `collection` is among those of a parameter, "a,b"; NULL: whatever it is. */
#define SQLITE_OF_COLLECTIONS(of)                                                                  \
    "(" of " IS NULL OR instr(',' || " of " || ',', ',' || collection || ','))"
/* sqlite_analytics.c */
int sqlite_log_queries(store *s, const store_query_log *rows, size_t n, fo_err *err);
int sqlite_trim_analytics(store *s, int64_t now_ms, fo_err *err);
int sqlite_cache_series(store *s, const char *tenant, int64_t since_s, int64_t step_s,
                        store_rollup **out, size_t *n, fo_err *err);
int sqlite_list_queries(store *s, const char *tenant, const char *collections, int64_t since_ms,
                        enum store_query_order order, size_t limit, store_query_row **out,
                        size_t *n, fo_err *err);
/* sqlite_latency.c */
int sqlite_latency_series(store *s, const char *tenant, int64_t since_s, int64_t step_s,
                          store_latency **out, size_t *n, fo_err *err);
/* sqlite_backup.c */
int sqlite_backup(store *s, const char *path, const atomic_bool *cancel, fo_err *err);
/* sqlite_digest.c */
uint64_t sqlite_n_refused(const store *s);
/* sqlite_verify.c */
int sqlite_check(store *s, store_finding_fn *fn, void *ctx, store_check_counts *out, fo_err *err);
int sqlite_mark_damaged(store *s, int64_t document, fo_err *err);
int sqlite_rewrite(store *s, fo_err *err);

#endif
