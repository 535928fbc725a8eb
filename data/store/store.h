/* store.h - the store: the truth that every index file is derived from, whatever it is made of
 * (store_backend.h; data/sqlite/ is what homes have).
 *
 * Everything belongs to a tenant. A collection's *epoch* rises by one with every committed
 * transaction that changes it. Chunk ids rise, are never used twice, and a chunk never changes: an
 * updated document gets new chunks.
 *
 * Threads: any thread may read, and sees what is committed. One write transaction at a time:
 * store_begin waits for the write lock.
 *
 *     store_txn *t;
 *     store_begin(s, &t, &err);
 *     store_put_document(t, &doc, chunks, n, &res, &err);
 *     store_commit(t, &err);                 // durable when it returns FO_OK
 */
#ifndef FORAGE_DATA_STORE_H
#define FORAGE_DATA_STORE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "data/store/store_records.h"
#include "kernels/error.h"
#include "kernels/histogram.h"
#include "kernels/notice.h"

typedef struct store store;
typedef struct store_txn store_txn;
typedef struct store_backend store_backend; /* a kind of store */

typedef struct store_options {
    bool read_only;   /* also from where nothing can be written: then nobody may write elsewhere */
    bool no_ledger;   /* what is known of its commits outside of it is not looked at */
    bool accept_loss; /* go on where that says that commits were lost */
    fo_notices notices; /* while it opens: ledger_missing, ledger_damaged, ledger_short,
                           commits_lost, commit_unfinished, counts_differ; later, from any thread:
                           document_damaged (once each), ledger_failed */
} store_options;

/* Open the store of a home, or make one; one of an older version is brought up to this one. A newer
 * one is refused with a sentence (FO_EMISMATCH). So is one that lacks commits which are known to have
 * been acknowledged (FO_ECORRUPT), files untouched, unless it is opened read-only (a notice) or the
 * loss is accepted (a notice; epochs go on past those lost). opt NULL: all 0. */
int store_open(store **out, const store_backend *backend, const char *home,
               const store_options *opt, fo_err *err);
/* Nothing is lost where this is not reached. No transaction may be open; NULL is fine. */
void store_close(store *s);

/* ---- collections ------------------------------------------------------------------------ */

/* FO_ENOTFOUND when absent. */
int store_get_collection(store *s, const char *tenant, const char *name, store_collection *out,
                         fo_err *err);
/* FO_ECONFLICT when it exists. language NULL: "english". Makes its own transaction. */
int store_create_collection(store *s, const char *tenant, const char *name, const char *language,
                            store_collection *out, fo_err *err);
/* *cancel (NULL: none) ends it, FO_ECANCELLED, with all of it still there. */
int store_delete_collection(store *s, const char *tenant, const char *name,
                            const atomic_bool *cancel, fo_err *err);
/* All of a tenant (NULL: all tenants), by name; caller deinits each and frees *out. */
int store_list_collections(store *s, const char *tenant, store_collection **out, size_t *n,
                           fo_err *err);
/* Those of a tenant and a name (NULL: any) that hold vectors of another embedder than these two (also: NULL where
 * there is one): at most `limit` by name, *n_all counts them all. Caller deinits each and frees *out. */
int store_foreign_collections(store *s, const char *tenant, const char *name, const char *embedder,
                              const char *also, size_t limit, store_collection **out, size_t *n,
                              size_t *n_all, fo_err *err);
/* < 0: the embedder's again. */
int store_set_tuning(store *s, int64_t collection, double alpha, double min_support, fo_err *err);

/* ---- write transactions ----------------------------------------------------------------- */

int store_begin(store *s, store_txn **out, fo_err *err);
int store_commit(store_txn *t, fo_err *err); /* t is gone either way; failed: rolled back */
void store_rollback(store_txn *t);           /* NULL is fine */

enum store_put_status { STORE_CREATED, STORE_UPDATED, STORE_UNCHANGED };

typedef struct store_chunk_in {
    size_t start, end, start_cp, end_cp; /* span in the document's text: bytes, code points */
    size_t heading_start, heading_end;   /* bytes */
    uint32_t n_tokens;
    const char
        *place; /* where it stands in its document (data/chunk/chunk_places.h); NULL: unknown */
    const float *vector; /* [dim], unit length */
} store_chunk_in;

typedef struct store_document_in {
    int64_t collection;
    const char *id;                         /* the user's document id */
    const char *title, *uri, *content_type; /* NULL: none */
    const char *metadata;                   /* JSON object text, NULL: none */
    const char *text;                       /* extracted, UTF-8 */
    size_t text_len;
    unsigned char content_sha256[32]; /* over everything that decides what is stored:
                                         see ingest.c; equal hash = unchanged */
    const char *embedder;             /* fingerprint, 64 hex digits */
    uint32_t dim;
} store_document_in;

typedef struct store_put_result {
    enum store_put_status status;
    int64_t document;    /* rowid */
    int64_t first_chunk; /* new chunks have ids first_chunk .. first_chunk + n - 1 */
    int64_t *removed;    /* ids of the chunks that went; caller frees */
    size_t n_removed;
    bool
        retitled; /* it was there by another title ("" and none are the same), or by one that cannot be read */
} store_put_result;

/* Insert or replace by (collection, id). A collection that holds vectors of another embedder
 * refuses with FO_EMISMATCH and a sentence that says what to do. */
int store_put_document(store_txn *t, const store_document_in *doc, const store_chunk_in *chunks,
                       size_t n_chunks, store_put_result *out, fo_err *err);
/* Is a document with this id and hash there already? Cheap, outside any transaction: lets ingest
 * skip extraction and embedding of what has not changed. */
int store_document_unchanged(store *s, int64_t collection, const char *id,
                             const unsigned char sha256[32], bool *unchanged, size_t *n_chunks,
                             fo_err *err);
/* FO_ENOTFOUND when absent; removed chunk ids as above (caller frees). */
int store_delete_document(store_txn *t, int64_t collection, const char *id, int64_t **removed,
                          size_t *n_removed, fo_err *err);
/* The same, but only while its content is what this hash was taken of: FO_ECONFLICT else. */
int store_delete_version(store_txn *t, int64_t collection, const char *id,
                         const unsigned char sha256[32], int64_t **removed, size_t *n_removed,
                         fo_err *err);
/* As store_get_document without its text, of what will be there once t commits. */
int store_txn_get_document(store_txn *t, int64_t collection, const char *id, store_document *out,
                           fo_err *err);
/* The epoch that the collection will have once t commits. */
int store_txn_epoch(store_txn *t, int64_t collection, int64_t *epoch, fo_err *err);

/* ---- reading ---------------------------------------------------------------------------- */

/* FO_ECORRUPT: what is stored is not what was ingested. */
int store_get_document(store *s, int64_t collection, const char *id, bool with_text,
                       store_document *out, fo_err *err);
/* A page in order of id, ids > after (NULL: from the first). Caller deinits each, frees *out. */
int store_list_documents(store *s, int64_t collection, const char *after, size_t limit,
                         store_document **out, size_t *n, bool *has_more, fo_err *err);

/* The chunks with these ids, in the order given. An id that is gone leaves id = 0 in its place
 * (a search on an older snapshot may meet one). out[n] is the caller's. FO_ECORRUPT names a
 * document of which something else is stored than was ingested. */
int store_get_chunks(store *s, const int64_t *ids, size_t n, store_chunk *out, fo_err *err);

/* Bytes [start, end) of a document's text (its rowid), as they lie there: no digest is looked at.
 * FO_ECORRUPT where the text does not reach so far. */
int store_get_text(store *s, int64_t document, size_t start, size_t end, char *out, fo_err *err);

/* Every live chunk of a collection with id > after, in order of id, to (re)build an index.
 * vector is NULL where it is missing. Pointers live until the callback returns; a non-zero
 * return stops the walk and is returned. epoch (may be NULL) gets the epoch of the snapshot. */
typedef struct store_index_row {
    int64_t chunk, document;
    const char *title; /* "" if none */
    const char *text;  /* the chunk's */
    size_t text_len;
    const char *metadata; /* JSON, "" if none */
    const float *vector;
    uint32_t dim;
    bool damaged; /* the text cannot be read (then it is "") or the vector is not the one stored */
} store_index_row;
typedef int store_index_fn(void *ctx, const store_index_row *row);
int store_each_chunk(store *s, int64_t collection, int64_t after, store_index_fn *fn, void *ctx,
                     int64_t *epoch, fo_err *err);
/* Ids alone, ascending, and (unless documents is NULL) the documents they belong to: what mapped
 * segments are checked against. Caller frees both. */
int store_chunk_ids(store *s, int64_t collection, int64_t **ids, int64_t **documents, size_t *n,
                    int64_t *epoch, fo_err *err);

/* ---- another embedder -------------------------------------------------------------------- */

/* Vectors of another model are gathered beside those in use and take their place all at once. */

/* Chunks of the collection, id > after, that have no gathered vector of this embedder: at most
 * `limit` ids, ascending. Caller frees *ids. */
int store_chunks_to_embed(store *s, int64_t collection, const char *embedder, int64_t after,
                          size_t limit, int64_t **ids, size_t *n, fo_err *err);
/* vectors[n][dim]; what another embedder gathered for these chunks is replaced. */
int store_gather_vectors(store_txn *t, const char *tenant, const char *embedder, const int64_t *ids,
                         const float *vectors, size_t n, uint32_t dim, fo_err *err);
/* The gathered vectors become those of the collection; raises its epoch. FO_ECONFLICT while a
 * chunk has none. */
int store_adopt_vectors(store_txn *t, int64_t collection, const char *embedder, uint32_t dim,
                        fo_err *err);

/* ---- vectors of titles --------------------------------------------------------------------- */

/* What a document is about, as an encoder sees its title: kept beside the vectors of chunks, whichever embedder made
 * those. A document that is replaced loses its own. FO_EUNSUPPORTED: this kind of store keeps none. */

typedef struct store_title {
    int64_t document; /* its number in the store */
    char *text;       /* never empty */
} store_title;
/* Of the collection's documents above `after`, at most `limit` whose titles have no vector of this embedder, ascending.
 * The caller frees each text and *out. */
int store_titles_to_embed(store *s, int64_t collection, const char *embedder, int64_t after,
                          size_t limit, store_title **out, size_t *n, fo_err *err);
/* vectors[n][dim]. A document that is gone, or has another title by now, is passed over. */
int store_put_title_vectors(store_txn *t, const char *tenant, const char *embedder,
                            const store_title *titles, const float *vectors, size_t n, uint32_t dim,
                            fo_err *err);
/* Every one of this embedder, by ascending number of the document; those that are damaged are passed over. The vector
 * lives until fn returns; what it returns, if not 0, ends the walk and is returned. */
typedef int store_title_vector_fn(void *ctx, int64_t document, const float *vector, uint32_t dim);
int store_each_title_vector(store *s, int64_t collection, const char *embedder,
                            store_title_vector_fn *fn, void *ctx, fo_err *err);

/* ---- folders that documents are kept in step with ---------------------------------------- */

/* What is known of a folder and its files. The documents are documents as all others are: these calls
 * touch none. Each is a transaction of its own. FO_EUNSUPPORTED: this kind of store keeps none. */

/* Make the source (tenant, name), or replace what is said of it; its files stay. *id is its number. */
int store_put_source(store *s, const store_source *in, int64_t *id, fo_err *err);
/* FO_ENOTFOUND (field "source") when absent; caller deinits. */
int store_get_source(store *s, const char *tenant, const char *name, store_source *out,
                     fo_err *err);
/* By name; caller deinits each and frees *out. */
int store_list_sources(store *s, const char *tenant, store_source **out, size_t *n, fo_err *err);
/* With what is known of its files. */
int store_delete_source(store *s, const char *tenant, const char *name, fo_err *err);
/* All of them in byte order of their paths; caller deinits each and frees *out. */
int store_list_source_files(store *s, int64_t source, store_source_file **out, size_t *n,
                            fo_err *err);
/* Put (or replace) these, and forget those paths. */
int store_write_source_files(store *s, int64_t source, const store_source_file *put, size_t n_put,
                             const char *const *gone, size_t n_gone, fo_err *err);

/* ---- conversations, feedback ------------------------------------------------------------- */

/* Each is a transaction of its own, durable when it returns FO_OK. FO_EUNSUPPORTED: this kind of store
 * keeps none; FO_ELIMIT: more than an owner may keep (store_records.h), with what to do. *cancel (NULL: none)
 * ends each, FO_ECANCELLED, with nothing changed. */

/* in: id (a new one), tenant, owner, collection, title, shared, created_ms, and its first turns: it is there with all of
 * them or not at all. */
int store_create_conversation(store *s, const store_conversation *in, const atomic_bool *cancel,
                              fo_err *err);
/* FO_ENOTFOUND (field "id"); whoever owns it: that is the caller's to look at. Caller deinits. */
int store_get_conversation(store *s, const char *tenant, const char *id, bool with_turns,
                           const atomic_bool *cancel, store_conversation *out, fo_err *err);
/* An owner's, without their turns, the last changed first; text (NULL: all): those that have it in
 * their title, a question or an answer, whatever its case (of ASCII). after: the id of the last one of
 * the page before, NULL: from the first. Caller deinits each and frees *out. */
int store_list_conversations(store *s, const char *tenant, const char *owner, const char *text,
                             const char *after, size_t limit, const atomic_bool *cancel,
                             store_conversation **out, size_t *n, bool *has_more, fo_err *err);
/* title NULL: as it is; shared < 0: as it is. FO_ENOTFOUND where that owner has no such one. */
int store_change_conversation(store *s, const char *tenant, const char *owner, const char *id,
                              const char *title, int shared, const atomic_bool *cancel,
                              fo_err *err);
int store_delete_conversation(store *s, const char *tenant, const char *owner, const char *id,
                              const atomic_bool *cancel, fo_err *err);
/* Turn number `at` (from 0): a new one where it is their count, else it takes that one's place and those
 * after it go. FO_EINVAL (field "turn"): beyond their count. n_known: what the caller takes their count
 * for, < 0: whatever it is; FO_ECONFLICT (field "turns") where it is another, with nothing written. */
int store_write_turn(store *s, const char *tenant, const char *owner, const char *id, size_t at,
                     int64_t n_known, const store_turn *in, const atomic_bool *cancel, fo_err *err);

int store_put_feedback(store *s, const store_feedback *in, fo_err *err);
/* Of a tenant since since_ms, the newest first; collections: names with commas between them; these and owner
 * NULL: any. Caller deinits each and frees *out. */
int store_list_feedback(store *s, const char *tenant, const char *owner, const char *collections,
                        int64_t since_ms, size_t limit, store_feedback **out, size_t *n,
                        fo_err *err);

/* ---- jobs, idempotency, query log ------------------------------------------------------- */

/* *id is drawn at random: counted up it would tell one tenant how much the others do. */
int store_create_job(store *s, const char *tenant, const char *kind, const char *collection,
                     int64_t *id, fo_err *err);
/* state/error/result NULL: leave as it is. */
int store_update_job(store *s, int64_t id, const char *state, int64_t n_total, int64_t n_done,
                     int64_t n_failed, const char *error, const char *result, fo_err *err);
int store_get_job(store *s, const char *tenant, int64_t id, store_job *out, fo_err *err);
/* Jobs that a crash left queued or running become failed("interrupted by a restart"). */
int store_fail_running_jobs(store *s, fo_err *err);
/* Drop those that are over and were touched last more than 30 days before now_ms. */
int store_trim_jobs(store *s, int64_t now_ms, fo_err *err);

/* Claim a key for (tenant, route). DONE: *response (caller frees) and *status are the first
 * answer's. Claims left RUNNING by a crash are dropped at open; answers expire after 24 h. */
int store_idem_claim(store *s, const char *tenant, const char *route, const char *key,
                     const unsigned char body_sha256[32], enum store_idem *state, int *status,
                     char **response, fo_err *err);
int store_idem_finish(store *s, const char *tenant, const char *route, const char *key, int status,
                      const char *response, fo_err *err);
int store_idem_abandon(store *s, const char *tenant, const char *route, const char *key,
                       fo_err *err);

/* Many rows in one transaction (the log is written in batches), rollups included. */
int store_log_queries(store *s, const store_query_log *rows, size_t n, fo_err *err);
/* Drop queries older than 30 days, minutes older than 2, hours older than 60, days older than
 * 730 days. */
int store_trim_analytics(store *s, int64_t now_ms, fo_err *err);

/* Steps of step_s seconds from since_s on, in order of time; those without a look-up are left
 * out. Caller frees *out. */
int store_cache_series(store *s, const char *tenant, int64_t since_s, int64_t step_s,
                       store_rollup **out, size_t *n, fo_err *err);

/* As store_cache_series, for the time queries took; stages that were not run are left out. step_s
 * 0: the whole time since since_s as one step. */
int store_latency_series(store *s, const char *tenant, int64_t since_s, int64_t step_s,
                         store_latency **out, size_t *n, fo_err *err);

/* Logged questions since since_ms, those that differ in case alone together: most asked, slowest
 * by mean, or most often without an answer first; collections as above. Caller frees with store_query_rows_free. */
int store_list_queries(store *s, const char *tenant, const char *collections, int64_t since_ms,
                       enum store_query_order order, size_t limit, store_query_row **out, size_t *n,
                       fo_err *err);

/* ---- timings ---------------------------------------------------------------------------- */

/* Since it was opened; valid until store_close. */
const fo_histogram *store_get_timing(const store *s, enum store_timing which);

/* ---- upkeep ----------------------------------------------------------------------------- */

uint64_t store_n_bytes(const store *s);  /* of its files, log included; 0: not known */
int64_t store_free_disk_bytes(store *s); /* on their file system; < 0: not known */

/* A copy of all of it in one file, as of one moment, synced; path is the old one or a whole new one.
 * Others may read and write meanwhile. FO_EUNSUPPORTED: not of this kind of store. FO_ECANCELLED: *cancel (may be
 * NULL) became true. */
int store_backup(store *s, const char *path, const atomic_bool *cancel, fo_err *err);
/* Beside a copy, its SHA-256 as `sha256sum` writes it: PATH.sha256. */
int store_backup_seal(const char *path, fo_err *err);
/* FO_ECORRUPT: the copy or its checksum changed since. FO_ENOTFOUND: it has none. */
int store_backup_check(const char *path, fo_err *err);

/* ---- is all well? ----------------------------------------------------------------------- */

enum store_fault {
    STORE_FAULT_FILE,      /* bytes of its files, as they lie */
    STORE_FAULT_UNUSED,    /* the same, where nothing is kept */
    STORE_FAULT_STRUCTURE, /* rows that contradict each other, or cannot be found */
    STORE_FAULT_DOCUMENT,  /* what is stored is not what was ingested */
    STORE_FAULT_VECTOR     /* the vector of a chunk is not the one that was computed */
};

typedef struct store_finding { /* strings live until the callback returns */
    enum store_fault fault;
    const char *tenant, *collection, *document; /* NULL: none in particular */
    int64_t rowid;                              /* the document's; 0: none in particular */
    const char *what;
} store_finding;
typedef void store_finding_fn(void *ctx, const store_finding *f);

typedef struct store_check_counts {
    size_t n_documents, n_chunks, n_findings;
    const char *wants_rewrite; /* a sentence: why store_rewrite would do it good; NULL, or static */
} store_check_counts;

/* All that is stored, against itself and against its digests: documents, chunks, vectors. Findings do
 * not make it fail; FO_EIO, FO_ENOMEM and FO_EUNSUPPORTED do. *out may be NULL. */
int store_check(store *s, store_finding_fn *fn, void *ctx, store_check_counts *out, fo_err *err);
/* The same as one error, the first finding's. */
int store_verify(store *s, fo_err *err);
uint64_t store_n_refused(const store *s); /* reads refused because what is stored is damaged */

/* ---- mending ---------------------------------------------------------------------------- */

/* The document (a finding's rowid) is no longer what any content hash says: ingested again, the
 * same content replaces it. What of it could be read still can. */
int store_mark_damaged(store *s, int64_t document, fo_err *err);
/* Write all of it anew: every byte gets its checksum, what is not in use goes. */
int store_rewrite(store *s, fo_err *err);

#endif
