/* The one writer: calls that arrive together become one transaction (group commit).
 *
 *   caller ---- queue ----> [leader takes the whole queue]
 *                              begin -> put/delete each -> stage in the index
 *                              commit (durable)  -> publish (findable) -> wake everybody
 *
 * 1. Whoever finds the write lock free leads and serves all that is queued, his own included.
 * 2. An index is published only after the commit it mirrors; a failed commit discards it.
 *    Offline, indexes are left alone: service_catch_up brings them up to the store.
 * 3. A document that the store refuses by itself fails alone, and so do one that would take the place of what its
 *    caller does not see and a call whose collection was deleted while it waited; an I/O error fails the group.
 *    A page that cannot be read ends SQLite's transaction: the group begins again without the document that
 *    wanted it.
 * 4. A call whose caller has left is dropped before its commit, and within it where it is alone; what
 *    is committed stays. */
#include <stdlib.h>
#include <string.h>

#include "kernels/clock.h"
#include "retrieval/collections/document_acl.h"
#include "retrieval/collections/page_images.h"
#include "retrieval/collections/service_internal.h"
#include "retrieval/collections/title_vectors.h"

enum {
    GROUP_DOCUMENTS = 4096, /* bounds a transaction's size and the wait of those behind */
    MOST_RUNS = 16,         /* of one group; more are damaged only where all of the database is */
};

struct write_op {
    write_op *next;
    collection *c;
    write_document *docs; /* NULL: deletions */
    write_deletion *deletions;
    size_t n;
    const atomic_bool *cancel; /* NULL: nobody leaves */
    /* written by the leader */
    bool done;
    bool gone; /* its collection was deleted while it waited */
    int rc;
    fo_err err;
    int64_t epoch;
    double index_ms, commit_ms;
};

void writer_take(service *s) {
    pthread_mutex_lock(&s->write_mu);
    while (s->writing) pthread_cond_wait(&s->write_free, &s->write_mu);
    s->writing = true;
    pthread_mutex_unlock(&s->write_mu);
}

void writer_yield(service *s) {
    pthread_mutex_lock(&s->write_mu);
    s->writing = false;
    pthread_cond_broadcast(&s->write_free);
    pthread_mutex_unlock(&s->write_mu);
}

/* Errors that leave the transaction as it was, so that the rest of the group may go on. */
static bool fails_alone(int rc) {
    return rc == FO_EINVAL || rc == FO_EMISMATCH || rc == FO_ENOTFOUND || rc == FO_ELIMIT ||
           rc == FO_EUNSUPPORTED;
}

static bool left(const write_op *op) {
    return op->cancel && atomic_load_explicit(op->cancel, memory_order_relaxed);
}

/* After a document that is damaged: may the others go on in this transaction? FO_ECORRUPT: in another. */
static int goes_on(store_txn *t, const write_op *op, fo_err *err) {
    int64_t epoch;
    fo_err own = {0};
    int rc = store_txn_epoch(t, op->c->id, &epoch, &own);
    if (!rc || rc == FO_ENOTFOUND) return FO_OK;
    if (err) *err = own;
    return rc;
}

/* What is there now may be another version than the one that was judged before the text was made. */
static int refuse_unseen(store_txn *t, const write_document *d, fo_err *err) {
    store_document there = {0};
    if (!d->sees) return FO_OK;
    fo_err own = {0};
    int rc = store_txn_get_document(t, d->in.collection, d->in.id, &there, &own);
    if (rc == FO_ENOTFOUND) return FO_OK;
    if (!rc) rc = document_acl_refuse_unseen(d->sees, there.metadata, d->in.id, &own);
    store_document_deinit(&there);
    if (rc) *err = own;
    return rc;
}

/* alone: nobody else is in the group, so that the whole of it may be dropped. */
static int put_one(store_txn *t, const write_op *op, write_document *d, bool alone, bool indexed,
                   fo_err *err) {
    collection *c = op->c;
    store_put_result put = {0};
    ingest_result *r = d->result;
    fo_err own = {0};
    d->retitled = 0;
    if (d->damaged) return FO_OK; /* an earlier run of the group has found it so */
    int rc = refuse_unseen(t, d, &own);
    bool refused = rc == FO_EDENIED;
    if (!rc) rc = store_put_document(t, &d->in, d->chunks, d->n_chunks, &put, &own);
    if (rc && (refused || rc == FO_ECORRUPT || fails_alone(rc))) {
        r->status = INGEST_FAILED;
        r->error = own;
        d->damaged = rc == FO_ECORRUPT;
        return d->damaged ? goes_on(t, op, err) : FO_OK;
    }
    if (rc) {
        if (err) *err = own;
        return rc;
    }
    if (put.retitled) d->retitled = put.document;
    r->error = (fo_err){0};
    r->status = put.status == STORE_CREATED   ? INGEST_CREATED
                : put.status == STORE_UPDATED ? INGEST_UPDATED
                                              : INGEST_UNCHANGED;
    for (size_t i = 0; i < put.n_removed && indexed && !rc; i++)
        rc = search_index_remove(c->index, put.removed[i], err);
    free(put.removed);
    if (rc) return rc;
    if (put.status == STORE_UNCHANGED || !indexed) return FO_OK;
    for (size_t i = 0; i < d->n_chunks; i++) {
        const store_chunk_in *k = &d->chunks[i];
        if (alone && left(op)) return fo_fail(err, FO_ECANCELLED, "cancelled");
        search_chunk_in in = {.chunk = put.first_chunk + (int64_t)i,
                              .document = put.document,
                              .title = d->in.title ? d->in.title : "",
                              .text = d->in.text + k->start,
                              .text_len = k->end - k->start,
                              .metadata = d->in.metadata ? d->in.metadata : "",
                              .vector = k->vector};
        rc = search_index_add(c->index, &in, err);
        if (rc) return rc;
    }
    return FO_OK;
}

static int delete_one(store_txn *t, write_op *op, write_deletion *d, bool indexed, fo_err *err) {
    int64_t *removed = NULL;
    size_t n = 0;
    fo_err own = {0};
    if (d->rc == FO_ECORRUPT) return FO_OK; /* by an earlier run of the group */
    int rc = d->sha256 ? store_delete_version(t, op->c->id, d->id, d->sha256, &removed, &n, &own)
                       : store_delete_document(t, op->c->id, d->id, &removed, &n, &own);
    d->rc = rc;
    if (rc && (fails_alone(rc) || rc == FO_ECONFLICT || rc == FO_ECORRUPT)) {
        op->err = own;
        return rc == FO_ECORRUPT ? goes_on(t, op, err) : FO_OK;
    }
    if (rc) {
        if (err) *err = own;
        return rc;
    }
    for (size_t i = 0; i < n && indexed && !rc; i++)
        rc = search_index_remove(op->c->index, removed[i], err);
    free(removed);
    return rc;
}

static bool first_of_collection(const write_op *group, const write_op *op) {
    for (const write_op *o = group; o != op; o = o->next)
        if (o->c == op->c) return false;
    return true;
}

/* While an op waited for the write lock a rebuild may have put another index in the place of its
 * collection's: what is written from here on belongs into that one. The op's caller holds the collection,
 * which holds its successors. */
static void to_successors(service *s, write_op *group) {
    pthread_mutex_lock(&s->mu);
    for (write_op *op = group; op; op = op->next)
        while (op->c->successor) op->c = op->c->successor;
    pthread_mutex_unlock(&s->mu);
}

/* The epoch that the op's collection will have; where that is gone, the others of the group go on. */
static int take_epoch(store_txn *t, write_op *op, fo_err *err) {
    fo_err own = {0};
    int rc = store_txn_epoch(t, op->c->id, &op->epoch, &own);
    op->gone = rc == FO_ENOTFOUND;
    if (op->gone) {
        op->rc = fo_fail_field(&op->err, rc, "collection", "collection '%s' does not exist",
                               op->c->name);
        return FO_OK;
    }
    if (rc && err) *err = own;
    return rc;
}

/* The documents are safe whatever comes of it; a failed publish means no memory, and the next group begins with another
 * (search_index_settle). Until then nobody finds them: all calls of the collection are told. */
static void publish(write_op *group, const write_op *first) {
    fo_err late = {0};
    if (search_index_publish(first->c->index, first->epoch, &late) == FO_OK) return;
    for (write_op *op = group; op; op = op->next) {
        if (op->c != first->c || op->rc) continue;
        op->rc = late.code;
        op->err = late;
    }
}

/* Before the new version is to be found: no question sees it by its old title. */
static void leave_old_titles(service *s, write_op *op) {
    for (size_t i = 0; op->docs && !op->gone && i < op->n; i++)
        if (op->docs[i].retitled) title_vectors_leave(s, op->c, op->docs[i].retitled);
}

static int apply_group(service *s, store_txn *t, write_op *group, fo_err *err) {
    int rc = FO_OK;
    for (write_op *op = group; !rc && op; op = op->next) {
        if (left(op)) { /* while it waited */
            op->rc = fo_fail(&op->err, FO_ECANCELLED, "cancelled");
            if (!group->next) rc = fo_fail(err, op->rc, "cancelled");
        } else if (!op->docs) {
            for (size_t i = 0; !rc && i < op->n; i++)
                rc = delete_one(t, op, &op->deletions[i], !s->offline, err);
        } else {
            for (size_t i = 0; !rc && i < op->n; i++)
                rc = put_one(t, op, &op->docs[i], !group->next, !s->offline, err);
        }
    }
    return rc;
}

/* Everything put and deleted in *t (NULL: there is none), again without what was found damaged. */
static int stage_group(service *s, store_txn **t, write_op *group, fo_err *err) {
    for (int run = 1;; run++) {
        int rc = store_begin(s->store, t, err);
        if (rc) return rc;
        rc = apply_group(s, *t, group, err);
        if (rc != FO_ECORRUPT || run == MOST_RUNS) return rc;
        store_rollback(*t);
        *t = NULL;
        for (write_op *op = group; op && !s->offline; op = op->next)
            search_index_discard(op->c->index);
    }
}

static void run_group(service *s, write_op *group) {
    fo_err err = {0};
    store_txn *t = NULL;
    double started = fo_now_ms();
    to_successors(s, group);
    int rc = FO_OK;
    for (write_op *op = group; !rc && op && !s->offline; op = op->next)
        rc = search_index_settle(op->c->index, &err);
    if (!rc) rc = stage_group(s, &t, group, &err);
    for (write_op *op = group; !rc && op; op = op->next) rc = take_epoch(t, op, &err);
    double staged = fo_now_ms();
    if (!rc) {
        rc = store_commit(t, &err);
    } else if (t) {
        store_rollback(t);
    }
    double committed = fo_now_ms();
    for (write_op *op = group; !rc && op; op = op->next) leave_old_titles(s, op);
    for (write_op *op = group; op; op = op->next) {
        if (first_of_collection(group, op) && !s->offline) {
            if (rc || op->gone)
                search_index_discard(op->c->index);
            else
                publish(group, op);
        }
        if (rc) {
            op->rc = rc;
            op->err = err;
        }
        op->index_ms = staged - started + (fo_now_ms() - committed);
        op->commit_ms = committed - staged;
    }
}

static int submit(service *s, write_op *op, fo_err *err) {
    pthread_mutex_lock(&s->write_mu);
    *s->queue_tail = op;
    s->queue_tail = &op->next;
    while (!op->done) {
        if (s->writing) {
            pthread_cond_wait(&s->write_free, &s->write_mu);
            continue;
        }
        s->writing = true;
        write_op *group = s->queue, *last = group;
        for (size_t n = last->n; last->next && n + last->next->n <= GROUP_DOCUMENTS;
             last = last->next)
            n += last->next->n;
        s->queue = last->next;
        if (!s->queue) s->queue_tail = &s->queue;
        last->next = NULL;
        pthread_mutex_unlock(&s->write_mu);
        run_group(s, group);
        pthread_mutex_lock(&s->write_mu);
        while (group) { /* an op is its caller's stack: gone once done is seen */
            write_op *next = group->next;
            group->done = true;
            group = next;
        }
        s->writing = false;
        pthread_cond_broadcast(&s->write_free);
    }
    pthread_mutex_unlock(&s->write_mu);
    if (op->err.code && err) *err = op->err;
    return op->rc;
}

int writer_submit(service *s, collection *c, write_document *docs, size_t n,
                  const atomic_bool *cancel, double *index_ms, double *commit_ms, int64_t *epoch,
                  fo_err *err) {
    write_op op = {.c = c, .docs = docs, .n = n, .cancel = cancel};
    int rc = submit(s, &op, err);
    *index_ms = op.index_ms;
    *commit_ms = op.commit_ms;
    *epoch = op.epoch;
    return rc;
}

int writer_delete(service *s, collection *c, write_deletion *list, size_t n, int64_t *epoch,
                  fo_err *err) {
    write_op op = {.c = c, .deletions = list, .n = n};
    /* First: where the process ends in between, pages of a document are not shown, but never kept of one that is gone. */
    for (size_t i = 0; i < n; i++) page_images_put_aside(s->page_images, c->id, list[i].id);
    int rc = submit(s, &op, err);
    for (size_t i = 0; i < n; i++) {
        page_images_end_aside(s->page_images, c->id, list[i].id, rc || list[i].rc);
        service_settle_original(s, c->id, list[i].id); /* an error need not say that it stayed */
    }
    if (epoch) *epoch = op.epoch;
    return rc;
}
