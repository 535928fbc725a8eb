/* memory_store.h - a second store, small and in memory: what proves that the first one lies behind
 * store.h, and a model for who makes a third.
 *
 * A home's store is a world that lives until memory_store_forget, over closing and opening. What is
 * committed is a state that never changes: rows (collections, documents, gathered vectors) with a count
 * of their users each. A reader holds the state it found; a transaction works on a copy of the lists
 * and puts it in the state's place when it commits. Jobs and keys change where they lie, under the
 * lock. It keeps no log of queries, no digests and no copies: those functions are left out.
 *
 * Here is how it is opened, and its table; the functions of the table are in memory_state.h (rows,
 * transactions, collections), memory_documents.h and memory_jobs.h. */
#ifndef FORAGE_TESTS_DATA_MEMORY_STORE_H
#define FORAGE_TESTS_DATA_MEMORY_STORE_H

#include "tests/data/store/memory_documents.h"
#include "tests/data/store/memory_jobs.h"

static inline void memory_close(store *s) {
    free(s); /* the world stays */
}

static const store_ops memory_store_ops = {
    .close = memory_close,
    .get_collection = memory_get_collection,
    .create_collection = memory_create_collection,
    .delete_collection = memory_delete_collection,
    .list_collections = memory_list_collections,
    .foreign_collections = memory_foreign_collections,
    .set_tuning = memory_set_tuning,
    .begin = memory_begin,
    .commit = memory_commit,
    .rollback = memory_rollback,
    .put_document = memory_put_document,
    .delete_document = memory_delete_document,
    .txn_get_document = memory_txn_get_document,
    .txn_epoch = memory_txn_epoch,
    .document_unchanged = memory_document_unchanged,
    .get_document = memory_get_document,
    .list_documents = memory_list_documents,
    .get_chunks = memory_get_chunks,
    .get_text = memory_get_text,
    .each_chunk = memory_each_chunk,
    .chunk_ids = memory_chunk_ids,
    .chunks_to_embed = memory_chunks_to_embed,
    .gather_vectors = memory_gather_vectors,
    .adopt_vectors = memory_adopt_vectors,
    .create_job = memory_create_job,
    .update_job = memory_update_job,
    .get_job = memory_get_job,
    .fail_running_jobs = memory_fail_running_jobs,
    .trim_jobs = memory_trim_jobs,
    .idem_claim = memory_idem_claim,
    .idem_finish = memory_idem_finish,
    .idem_abandon = memory_idem_abandon,
};

static inline memory_world *memory_find_world(const char *home, bool make) {
    pthread_mutex_lock(&memory_worlds_mu);
    memory_world *w = memory_worlds;
    while (w && strcmp(w->home, home)) w = w->next;
    if (!w && make && (w = calloc(1, sizeof *w))) {
        w->home = strdup(home);
        w->state = calloc(1, sizeof *w->state);
        w->state->users = 1;
        pthread_mutex_init(&w->mu, NULL);
        pthread_cond_init(&w->turn, NULL);
        w->next = memory_worlds;
        memory_worlds = w;
    }
    pthread_mutex_unlock(&memory_worlds_mu);
    return w;
}

static inline int memory_open(store **out, const char *home, const store_options *opt,
                              fo_err *err) {
    memory_world *w = memory_find_world(home, !opt->read_only);
    if (!w) return fo_fail(err, FO_EIO, "there is no store in %s", home);
    memory_store *s = calloc(1, sizeof *s);
    if (!s) return fo_no_memory(err);
    *s = (memory_store){.base.ops = &memory_store_ops, .world = w, .read_only = opt->read_only};
    pthread_mutex_lock(&w->mu); /* whoever held the claims that have no answer is gone */
    for (memory_key **k = &w->keys; *k && !opt->read_only;)
        if ((*k)->response)
            k = &(*k)->next;
        else
            memory_drop_key(k);
    pthread_mutex_unlock(&w->mu);
    *out = &s->base;
    return FO_OK;
}

static inline int memory_look(const char *home, enum store_presence *out, bool *acknowledged,
                              fo_err *err) {
    (void)err;
    *out = memory_find_world(home, false) ? STORE_THERE : STORE_GONE;
    *acknowledged = false;
    return FO_OK;
}

static const char *const memory_files[] = {NULL};
static const store_backend memory_store_backend = {.name = "memory",
                                                   .file = "memory",
                                                   .files = memory_files,
                                                   .open = memory_open,
                                                   .look = memory_look};

/* All of a home's store, which nobody has open. */
static inline void memory_store_forget(const char *home) {
    pthread_mutex_lock(&memory_worlds_mu);
    memory_world **at = &memory_worlds, *w;
    while (*at && strcmp((*at)->home, home)) at = &(*at)->next;
    w = *at;
    if (w) *at = w->next;
    pthread_mutex_unlock(&memory_worlds_mu);
    if (!w) return;
    memory_drop_state(w->state);
    while (w->keys) memory_drop_key(&w->keys);
    for (memory_job *j = w->jobs, *next; j; j = next) {
        next = j->next;
        store_job_deinit(&j->j);
        free(j);
    }
    pthread_mutex_destroy(&w->mu);
    pthread_cond_destroy(&w->turn);
    free(w->home);
    free(w);
}

#endif
