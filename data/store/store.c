/* Each call goes to the table of the store it is made of (store_backend.h). */
#include "data/store/store_backend.h"

#include <stdlib.h>
#include <string.h>

static int not_of_this_store(fo_err *err, const char *what) {
    return fo_fail(err, FO_EUNSUPPORTED, "this kind of store cannot %s", what);
}

int store_open(store **out, const store_backend *backend, const char *home,
               const store_options *opt, fo_err *err) {
    static const store_options defaults = {0};
    return backend->open(out, home, opt ? opt : &defaults, err);
}

void store_close(store *s) {
    if (s) s->ops->close(s);
}

/* ---- collections ------------------------------------------------------------------------ */

int store_get_collection(store *s, const char *tenant, const char *name, store_collection *out,
                         fo_err *err) {
    return s->ops->get_collection(s, tenant, name, out, err);
}

int store_create_collection(store *s, const char *tenant, const char *name, const char *language,
                            store_collection *out, fo_err *err) {
    return s->ops->create_collection(s, tenant, name, language, out, err);
}

int store_delete_collection(store *s, const char *tenant, const char *name,
                            const atomic_bool *cancel, fo_err *err) {
    return s->ops->delete_collection(s, tenant, name, cancel, err);
}

int store_list_collections(store *s, const char *tenant, store_collection **out, size_t *n,
                           fo_err *err) {
    return s->ops->list_collections(s, tenant, out, n, err);
}

int store_foreign_collections(store *s, const char *tenant, const char *name, const char *embedder,
                              const char *also, size_t limit, store_collection **out, size_t *n,
                              size_t *n_all, fo_err *err) {
    return s->ops->foreign_collections(s, tenant, name, embedder, also, limit, out, n, n_all, err);
}

int store_set_tuning(store *s, int64_t collection, double alpha, double min_support, fo_err *err) {
    return s->ops->set_tuning(s, collection, alpha, min_support, err);
}

/* ---- write transactions ----------------------------------------------------------------- */

int store_begin(store *s, store_txn **out, fo_err *err) {
    return s->ops->begin(s, out, err);
}

int store_commit(store_txn *t, fo_err *err) {
    return t->store->ops->commit(t, err);
}

void store_rollback(store_txn *t) {
    if (t) t->store->ops->rollback(t);
}

int store_put_document(store_txn *t, const store_document_in *doc, const store_chunk_in *chunks,
                       size_t n_chunks, store_put_result *out, fo_err *err) {
    return t->store->ops->put_document(t, doc, chunks, n_chunks, out, err);
}

int store_delete_document(store_txn *t, int64_t collection, const char *id, int64_t **removed,
                          size_t *n_removed, fo_err *err) {
    return t->store->ops->delete_document(t, collection, id, NULL, removed, n_removed, err);
}

int store_delete_version(store_txn *t, int64_t collection, const char *id,
                         const unsigned char sha256[32], int64_t **removed, size_t *n_removed,
                         fo_err *err) {
    return t->store->ops->delete_document(t, collection, id, sha256, removed, n_removed, err);
}

int store_txn_get_document(store_txn *t, int64_t collection, const char *id, store_document *out,
                           fo_err *err) {
    return t->store->ops->txn_get_document(t, collection, id, out, err);
}

int store_txn_epoch(store_txn *t, int64_t collection, int64_t *epoch, fo_err *err) {
    return t->store->ops->txn_epoch(t, collection, epoch, err);
}

/* ---- reading ---------------------------------------------------------------------------- */

int store_document_unchanged(store *s, int64_t collection, const char *id,
                             const unsigned char sha256[32], bool *unchanged, size_t *n_chunks,
                             fo_err *err) {
    return s->ops->document_unchanged(s, collection, id, sha256, unchanged, n_chunks, err);
}

int store_get_document(store *s, int64_t collection, const char *id, bool with_text,
                       store_document *out, fo_err *err) {
    return s->ops->get_document(s, collection, id, with_text, out, err);
}

int store_list_documents(store *s, int64_t collection, const char *after, size_t limit,
                         store_document **out, size_t *n, bool *has_more, fo_err *err) {
    return s->ops->list_documents(s, collection, after, limit, out, n, has_more, err);
}

int store_get_chunks(store *s, const int64_t *ids, size_t n, store_chunk *out, fo_err *err) {
    return s->ops->get_chunks(s, ids, n, out, err);
}

int store_get_text(store *s, int64_t document, size_t start, size_t end, char *out, fo_err *err) {
    return s->ops->get_text(s, document, start, end, out, err);
}

int store_each_chunk(store *s, int64_t collection, int64_t after, store_index_fn *fn, void *ctx,
                     int64_t *epoch, fo_err *err) {
    return s->ops->each_chunk(s, collection, after, fn, ctx, epoch, err);
}

int store_chunk_ids(store *s, int64_t collection, int64_t **ids, int64_t **documents, size_t *n,
                    int64_t *epoch, fo_err *err) {
    return s->ops->chunk_ids(s, collection, ids, documents, n, epoch, err);
}

/* ---- another embedder -------------------------------------------------------------------- */

int store_chunks_to_embed(store *s, int64_t collection, const char *embedder, int64_t after,
                          size_t limit, int64_t **ids, size_t *n, fo_err *err) {
    return s->ops->chunks_to_embed(s, collection, embedder, after, limit, ids, n, err);
}

int store_gather_vectors(store_txn *t, const char *tenant, const char *embedder, const int64_t *ids,
                         const float *vectors, size_t n, uint32_t dim, fo_err *err) {
    return t->store->ops->gather_vectors(t, tenant, embedder, ids, vectors, n, dim, err);
}

int store_adopt_vectors(store_txn *t, int64_t collection, const char *embedder, uint32_t dim,
                        fo_err *err) {
    return t->store->ops->adopt_vectors(t, collection, embedder, dim, err);
}

/* ---- vectors of titles -------------------------------------------------------------------- */

int store_titles_to_embed(store *s, int64_t collection, const char *embedder, int64_t after,
                          size_t limit, store_title **out, size_t *n, fo_err *err) {
    return s->ops->titles_to_embed
               ? s->ops->titles_to_embed(s, collection, embedder, after, limit, out, n, err)
               : not_of_this_store(err, "keep vectors of titles");
}

int store_put_title_vectors(store_txn *t, const char *tenant, const char *embedder,
                            const store_title *titles, const float *vectors, size_t n, uint32_t dim,
                            fo_err *err) {
    const store_ops *ops = t->store->ops;
    return ops->put_title_vectors
               ? ops->put_title_vectors(t, tenant, embedder, titles, vectors, n, dim, err)
               : not_of_this_store(err, "keep vectors of titles");
}

int store_each_title_vector(store *s, int64_t collection, const char *embedder,
                            store_title_vector_fn *fn, void *ctx, fo_err *err) {
    return s->ops->each_title_vector
               ? s->ops->each_title_vector(s, collection, embedder, fn, ctx, err)
               : not_of_this_store(err, "keep vectors of titles");
}

/* ---- jobs, idempotency, query log ------------------------------------------------------- */

int store_create_job(store *s, const char *tenant, const char *kind, const char *collection,
                     int64_t *id, fo_err *err) {
    return s->ops->create_job(s, tenant, kind, collection, id, err);
}

int store_update_job(store *s, int64_t id, const char *state, int64_t n_total, int64_t n_done,
                     int64_t n_failed, const char *error, const char *result, fo_err *err) {
    return s->ops->update_job(s, id, state, n_total, n_done, n_failed, error, result, err);
}

int store_get_job(store *s, const char *tenant, int64_t id, store_job *out, fo_err *err) {
    return s->ops->get_job(s, tenant, id, out, err);
}

int store_fail_running_jobs(store *s, fo_err *err) {
    return s->ops->fail_running_jobs(s, err);
}

int store_trim_jobs(store *s, int64_t now_ms, fo_err *err) {
    return s->ops->trim_jobs(s, now_ms, err);
}

int store_idem_claim(store *s, const char *tenant, const char *route, const char *key,
                     const unsigned char body_sha256[32], enum store_idem *state, int *status,
                     char **response, fo_err *err) {
    return s->ops->idem_claim(s, tenant, route, key, body_sha256, state, status, response, err);
}

int store_idem_finish(store *s, const char *tenant, const char *route, const char *key, int status,
                      const char *response, fo_err *err) {
    return s->ops->idem_finish(s, tenant, route, key, status, response, err);
}

int store_idem_abandon(store *s, const char *tenant, const char *route, const char *key,
                       fo_err *err) {
    return s->ops->idem_abandon(s, tenant, route, key, err);
}

/* ---- what a store may leave out --------------------------------------------------------- */

static int no_log(fo_err *err) {
    return not_of_this_store(err, "keep a log of queries");
}

int store_log_queries(store *s, const store_query_log *rows, size_t n, fo_err *err) {
    return s->ops->log_queries ? s->ops->log_queries(s, rows, n, err) : no_log(err);
}

int store_trim_analytics(store *s, int64_t now_ms, fo_err *err) {
    return s->ops->trim_analytics ? s->ops->trim_analytics(s, now_ms, err) : FO_OK;
}

int store_cache_series(store *s, const char *tenant, int64_t since_s, int64_t step_s,
                       store_rollup **out, size_t *n, fo_err *err) {
    if (!s->ops->cache_series) return no_log(err);
    return s->ops->cache_series(s, tenant, since_s, step_s, out, n, err);
}

int store_latency_series(store *s, const char *tenant, int64_t since_s, int64_t step_s,
                         store_latency **out, size_t *n, fo_err *err) {
    if (!s->ops->latency_series) return no_log(err);
    return s->ops->latency_series(s, tenant, since_s, step_s, out, n, err);
}

int store_list_queries(store *s, const char *tenant, const char *collections, int64_t since_ms,
                       enum store_query_order order, size_t limit, store_query_row **out, size_t *n,
                       fo_err *err) {
    if (!s->ops->list_queries) return no_log(err);
    return s->ops->list_queries(s, tenant, collections, since_ms, order, limit, out, n, err);
}

static int no_sources(fo_err *err) {
    return not_of_this_store(err, "keep documents in step with folders");
}

int store_put_source(store *s, const store_source *in, int64_t *id, fo_err *err) {
    return s->ops->put_source ? s->ops->put_source(s, in, id, err) : no_sources(err);
}

int store_get_source(store *s, const char *tenant, const char *name, store_source *out,
                     fo_err *err) {
    return s->ops->get_source ? s->ops->get_source(s, tenant, name, out, err) : no_sources(err);
}

int store_list_sources(store *s, const char *tenant, store_source **out, size_t *n, fo_err *err) {
    return s->ops->list_sources ? s->ops->list_sources(s, tenant, out, n, err) : no_sources(err);
}

int store_delete_source(store *s, const char *tenant, const char *name, fo_err *err) {
    return s->ops->delete_source ? s->ops->delete_source(s, tenant, name, err) : no_sources(err);
}

int store_list_source_files(store *s, int64_t source, store_source_file **out, size_t *n,
                            fo_err *err) {
    if (!s->ops->list_source_files) return no_sources(err);
    return s->ops->list_source_files(s, source, out, n, err);
}

int store_write_source_files(store *s, int64_t source, const store_source_file *put, size_t n_put,
                             const char *const *gone, size_t n_gone, fo_err *err) {
    if (!s->ops->write_source_files) return no_sources(err);
    return s->ops->write_source_files(s, source, put, n_put, gone, n_gone, err);
}

static int no_conversations(fo_err *err) {
    return not_of_this_store(err, "keep conversations");
}

int store_create_conversation(store *s, const store_conversation *in, const atomic_bool *cancel,
                              fo_err *err) {
    return s->ops->create_conversation ? s->ops->create_conversation(s, in, cancel, err)
                                       : no_conversations(err);
}

int store_get_conversation(store *s, const char *tenant, const char *id, bool with_turns,
                           const atomic_bool *cancel, store_conversation *out, fo_err *err) {
    if (!s->ops->get_conversation) return no_conversations(err);
    return s->ops->get_conversation(s, tenant, id, with_turns, cancel, out, err);
}

int store_list_conversations(store *s, const char *tenant, const char *owner, const char *text,
                             const char *after, size_t limit, const atomic_bool *cancel,
                             store_conversation **out, size_t *n, bool *has_more, fo_err *err) {
    if (!s->ops->list_conversations) return no_conversations(err);
    return s->ops->list_conversations(s, tenant, owner, text, after, limit, cancel, out, n,
                                      has_more, err);
}

int store_change_conversation(store *s, const char *tenant, const char *owner, const char *id,
                              const char *title, int shared, const atomic_bool *cancel,
                              fo_err *err) {
    if (!s->ops->change_conversation) return no_conversations(err);
    return s->ops->change_conversation(s, tenant, owner, id, title, shared, cancel, err);
}

int store_delete_conversation(store *s, const char *tenant, const char *owner, const char *id,
                              const atomic_bool *cancel, fo_err *err) {
    if (!s->ops->delete_conversation) return no_conversations(err);
    return s->ops->delete_conversation(s, tenant, owner, id, cancel, err);
}

int store_write_turn(store *s, const char *tenant, const char *owner, const char *id, size_t at,
                     int64_t n_known, const store_turn *in, const atomic_bool *cancel,
                     fo_err *err) {
    if (!s->ops->write_turn) return no_conversations(err);
    return s->ops->write_turn(s, tenant, owner, id, at, n_known, in, cancel, err);
}

static int no_feedback(fo_err *err) {
    return not_of_this_store(err, "keep what people thought of answers");
}

int store_put_feedback(store *s, const store_feedback *in, fo_err *err) {
    return s->ops->put_feedback ? s->ops->put_feedback(s, in, err) : no_feedback(err);
}

int store_list_feedback(store *s, const char *tenant, const char *owner, const char *collections,
                        int64_t since_ms, size_t limit, store_feedback **out, size_t *n,
                        fo_err *err) {
    if (!s->ops->list_feedback) return no_feedback(err);
    return s->ops->list_feedback(s, tenant, owner, collections, since_ms, limit, out, n, err);
}

const fo_histogram *store_get_timing(const store *s, enum store_timing which) {
    static const fo_histogram none;
    return s->ops->get_timing ? s->ops->get_timing(s, which) : &none;
}

uint64_t store_n_refused(const store *s) {
    return s->ops->n_refused ? s->ops->n_refused(s) : 0;
}

uint64_t store_n_bytes(const store *s) {
    return s->ops->n_bytes ? s->ops->n_bytes(s) : 0;
}

int64_t store_free_disk_bytes(store *s) {
    return s->ops->free_disk_bytes ? s->ops->free_disk_bytes(s) : -1;
}

int store_backup(store *s, const char *path, const atomic_bool *cancel, fo_err *err) {
    if (!s->ops->backup) return not_of_this_store(err, "be copied");
    return s->ops->backup(s, path, cancel, err);
}

int store_check(store *s, store_finding_fn *fn, void *ctx, store_check_counts *out, fo_err *err) {
    if (!s->ops->check) return not_of_this_store(err, "be looked through");
    return s->ops->check(s, fn, ctx, out, err);
}

static void keep_first(void *ctx, const store_finding *f) {
    fo_err *first = ctx;
    if (first->code != FO_OK) return;
    fo_fail(first, FO_ECORRUPT, "the database is damaged: %s%.200s%s%s",
            f->document ? "document '" : "", f->document ? f->document : "",
            f->document ? "': " : "", f->what);
}

int store_verify(store *s, fo_err *err) {
    fo_err first = {0};
    int rc = store_check(s, keep_first, &first, NULL, err);
    if (rc || first.code == FO_OK) return rc;
    if (err) *err = first;
    return first.code;
}

int store_mark_damaged(store *s, int64_t document, fo_err *err) {
    if (!s->ops->mark_damaged) return not_of_this_store(err, "mark documents as damaged");
    return s->ops->mark_damaged(s, document, err);
}

int store_rewrite(store *s, fo_err *err) {
    if (!s->ops->rewrite) return not_of_this_store(err, "be written anew");
    return s->ops->rewrite(s, err);
}
