/* store_backend.h - for who makes a store: what one has to do. Whoever uses a store includes store.h.
 *
 * A store is a struct that begins with a `store`, a transaction one that begins with a `store_txn`;
 * both lead to a table of functions. Each function of the table is the one of store.h that has its
 * name, with its promises: the answers, the codes, who frees what, which threads. data/sqlite/ is the
 * store that homes have, tests/data/store/memory_store.h a small one; docs/adding-a-store.md goes
 * through it. */
#ifndef FORAGE_DATA_STORE_BACKEND_H
#define FORAGE_DATA_STORE_BACKEND_H

#include "data/store/store.h"

typedef struct store_ops store_ops;

struct store {
    const store_ops *ops; /* immutable */
};

struct store_txn {
    store *store; /* immutable */
};

struct store_ops {
    void (*close)(store *s);

    int (*get_collection)(store *s, const char *tenant, const char *name, store_collection *out,
                          fo_err *err);
    int (*create_collection)(store *s, const char *tenant, const char *name, const char *language,
                             store_collection *out, fo_err *err); /* language, out: may be NULL */
    int (*delete_collection)(store *s, const char *tenant, const char *name,
                             const atomic_bool *cancel, fo_err *err);
    int (*list_collections)(store *s, const char *tenant, store_collection **out, size_t *n,
                            fo_err *err);
    int (*foreign_collections)(store *s, const char *tenant, const char *name, const char *embedder,
                               const char *also, size_t limit, store_collection **out, size_t *n,
                               size_t *n_all, fo_err *err);
    int (*set_tuning)(store *s, int64_t collection, double alpha, double min_support, fo_err *err);

    int (*begin)(store *s, store_txn **out, fo_err *err);
    int (*commit)(store_txn *t, fo_err *err);
    void (*rollback)(store_txn *t);
    int (*put_document)(store_txn *t, const store_document_in *doc, const store_chunk_in *chunks,
                        size_t n_chunks, store_put_result *out, fo_err *err);
    /* store_delete_document (sha256 NULL) and store_delete_version */
    int (*delete_document)(store_txn *t, int64_t collection, const char *id,
                           const unsigned char *sha256, int64_t **removed, size_t *n_removed,
                           fo_err *err);
    int (*txn_get_document)(store_txn *t, int64_t collection, const char *id, store_document *out,
                            fo_err *err);
    int (*txn_epoch)(store_txn *t, int64_t collection, int64_t *epoch, fo_err *err);

    int (*document_unchanged)(store *s, int64_t collection, const char *id,
                              const unsigned char sha256[32], bool *unchanged, size_t *n_chunks,
                              fo_err *err);
    int (*get_document)(store *s, int64_t collection, const char *id, bool with_text,
                        store_document *out, fo_err *err);
    int (*list_documents)(store *s, int64_t collection, const char *after, size_t limit,
                          store_document **out, size_t *n, bool *has_more, fo_err *err);
    int (*get_chunks)(store *s, const int64_t *ids, size_t n, store_chunk *out, fo_err *err);
    int (*get_text)(store *s, int64_t document, size_t start, size_t end, char *out, fo_err *err);
    int (*each_chunk)(store *s, int64_t collection, int64_t after, store_index_fn *fn, void *ctx,
                      int64_t *epoch, fo_err *err);
    int (*chunk_ids)(store *s, int64_t collection, int64_t **ids, int64_t **documents, size_t *n,
                     int64_t *epoch, fo_err *err);

    int (*chunks_to_embed)(store *s, int64_t collection, const char *embedder, int64_t after,
                           size_t limit, int64_t **ids, size_t *n, fo_err *err);
    int (*gather_vectors)(store_txn *t, const char *tenant, const char *embedder,
                          const int64_t *ids, const float *vectors, size_t n, uint32_t dim,
                          fo_err *err);
    int (*adopt_vectors)(store_txn *t, int64_t collection, const char *embedder, uint32_t dim,
                         fo_err *err);

    /* NULL, all three: this kind of store keeps none */
    int (*titles_to_embed)(store *s, int64_t collection, const char *embedder, int64_t after,
                           size_t limit, store_title **out, size_t *n, fo_err *err);
    int (*put_title_vectors)(store_txn *t, const char *tenant, const char *embedder,
                             const store_title *titles, const float *vectors, size_t n,
                             uint32_t dim, fo_err *err);
    int (*each_title_vector)(store *s, int64_t collection, const char *embedder,
                             store_title_vector_fn *fn, void *ctx, fo_err *err);

    int (*create_job)(store *s, const char *tenant, const char *kind, const char *collection,
                      int64_t *id, fo_err *err);
    int (*update_job)(store *s, int64_t id, const char *state, int64_t n_total, int64_t n_done,
                      int64_t n_failed, const char *error, const char *result, fo_err *err);
    int (*get_job)(store *s, const char *tenant, int64_t id, store_job *out, fo_err *err);
    int (*fail_running_jobs)(store *s, fo_err *err);
    int (*trim_jobs)(store *s, int64_t now_ms, fo_err *err);

    int (*idem_claim)(store *s, const char *tenant, const char *route, const char *key,
                      const unsigned char body_sha256[32], enum store_idem *state, int *status,
                      char **response, fo_err *err);
    int (*idem_finish)(store *s, const char *tenant, const char *route, const char *key, int status,
                       const char *response, fo_err *err);
    int (*idem_abandon)(store *s, const char *tenant, const char *route, const char *key,
                        fo_err *err);

    /* ---- may be NULL: then nothing is known, or the call is FO_EUNSUPPORTED ---- */

    int (*log_queries)(store *s, const store_query_log *rows, size_t n, fo_err *err);
    int (*trim_analytics)(store *s, int64_t now_ms, fo_err *err);
    int (*cache_series)(store *s, const char *tenant, int64_t since_s, int64_t step_s,
                        store_rollup **out, size_t *n, fo_err *err);
    int (*latency_series)(store *s, const char *tenant, int64_t since_s, int64_t step_s,
                          store_latency **out, size_t *n, fo_err *err);
    int (*list_queries)(store *s, const char *tenant, const char *collections, int64_t since_ms,
                        enum store_query_order order, size_t limit, store_query_row **out,
                        size_t *n, fo_err *err);

    int (*put_source)(store *s, const store_source *in, int64_t *id, fo_err *err);
    int (*get_source)(store *s, const char *tenant, const char *name, store_source *out,
                      fo_err *err);
    int (*list_sources)(store *s, const char *tenant, store_source **out, size_t *n, fo_err *err);
    int (*delete_source)(store *s, const char *tenant, const char *name, fo_err *err);
    int (*list_source_files)(store *s, int64_t source, store_source_file **out, size_t *n,
                             fo_err *err);
    int (*write_source_files)(store *s, int64_t source, const store_source_file *put, size_t n_put,
                              const char *const *gone, size_t n_gone, fo_err *err);

    int (*create_conversation)(store *s, const store_conversation *in, const atomic_bool *cancel,
                               fo_err *err);
    int (*get_conversation)(store *s, const char *tenant, const char *id, bool with_turns,
                            const atomic_bool *cancel, store_conversation *out, fo_err *err);
    int (*list_conversations)(store *s, const char *tenant, const char *owner, const char *text,
                              const char *after, size_t limit, const atomic_bool *cancel,
                              store_conversation **out, size_t *n, bool *has_more, fo_err *err);
    int (*change_conversation)(store *s, const char *tenant, const char *owner, const char *id,
                               const char *title, int shared, const atomic_bool *cancel,
                               fo_err *err);
    int (*delete_conversation)(store *s, const char *tenant, const char *owner, const char *id,
                               const atomic_bool *cancel, fo_err *err);
    int (*write_turn)(store *s, const char *tenant, const char *owner, const char *id, size_t at,
                      int64_t n_known, const store_turn *in, const atomic_bool *cancel,
                      fo_err *err);
    int (*put_feedback)(store *s, const store_feedback *in, fo_err *err);
    int (*list_feedback)(store *s, const char *tenant, const char *owner, const char *collections,
                         int64_t since_ms, size_t limit, store_feedback **out, size_t *n,
                         fo_err *err);

    const fo_histogram *(*get_timing)(const store *s, enum store_timing which);
    uint64_t (*n_refused)(const store *s);
    uint64_t (*n_bytes)(const store *s);
    int64_t (*free_disk_bytes)(store *s);
    int (*backup)(store *s, const char *path, const atomic_bool *cancel, fo_err *err);
    int (*check)(store *s, store_finding_fn *fn, void *ctx, store_check_counts *out, fo_err *err);
    int (*mark_damaged)(store *s, int64_t document, fo_err *err);
    int (*rewrite)(store *s, fo_err *err);
};

/* What there is of a store in a folder. */
enum store_presence {
    STORE_GONE,  /* nothing */
    STORE_EMPTY, /* without anything in it */
    STORE_THERE  /* whole or damaged: opening it says */
};

/* A kind of store: constant, shared by all threads. The files of a store lie in a home folder, beside
 * those of others: lock, index, kv, hot, backups, tmp, forage.conf, keys, audit.log, lost-*. */
struct store_backend {
    const char *name; /* "SQLite" */

    /* ---- names below the home ---- */
    const char *file;   /* there where a store is; findings and sentences name it by this */
    const char *ledger; /* what knows acknowledged commits outside of it; NULL: none */
    const char *log;    /* of which a copy is put aside before a loss is accepted; NULL: none */
    const char *const *files; /* all that is the store's, these three too: at most 24, then NULL */

    int (*open)(store **out, const char *home, const store_options *opt, fo_err *err);
    /* Without opening it. *acknowledged: the ledger is there. FO_EIO where it cannot be seen. */
    int (*look)(const char *home, enum store_presence *out, bool *acknowledged, fo_err *err);

    /* ---- may be NULL: FO_EUNSUPPORTED, or nothing to find ---- */

    /* Its files as they lie; nobody has them open. Findings do not make it fail. */
    int (*check_files)(const char *home, store_finding_fn *fn, void *ctx, fo_err *err);
    /* The same of a copy that `backup` made. */
    int (*check_backup)(const char *file, store_finding_fn *fn, void *ctx, fo_err *err);
    /* Restoring, in two steps: a copy is brought into the home beside the store (`move`: the file itself,
     * which lies below the home) in the place of what a killed restore left there, looked through (what it
     * is not is said by the sentence) and made a store of its own; then it takes the place of the store and
     * of its log and ledger, at once and synced, and whoever is killed in between finds the old store or
     * the new one; or it is dropped. */
    int (*stage_backup)(const char *home, const char *file, bool move, fo_err *err);
    int (*take_staged)(const char *home, fo_err *err);
    void (*drop_staged)(const char *home);
};

#endif
