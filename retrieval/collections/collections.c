/* Collections: their indexes opened and brought up to the store; made, replaced and deleted. Which of
 * them are open is open_collections.c's business. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "index/filter/metadata.h"
#include "kernels/file.h"
#include "retrieval/collections/document_acl.h"
#include "retrieval/collections/page_images.h"
#include "retrieval/collections/service_internal.h"
#include "retrieval/collections/title_vectors.h"

bool service_name_valid(const char *name) {
    size_t n = strlen(name);
    if (n < 1 || n > 64 || name[0] == '.') return false;
    return strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.") == n;
}

int collection_check_names(const char *tenant, const char *name, fo_err *err) {
    if (!tenant || !service_name_valid(tenant))
        return fo_fail_field(err, FO_EINVAL, "tenant", "tenant is not a valid name");
    if (!name || !service_name_valid(name))
        return fo_fail_field(err, FO_EINVAL, "collection",
                             "collection must be 1 to 64 characters of A-Z a-z 0-9 _ - . and not "
                             "start with a dot");
    return FO_OK;
}

collection *collection_create(service *s, const char *tenant, const char *name, fo_err *err) {
    collection *c = calloc(1, sizeof *c);
    if (c) {
        c->service = s;
        c->refs = 1;
        c->tenant = strdup(tenant);
        c->name = strdup(name);
        if (c->tenant && c->name) return c;
        collection_free(c);
    }
    fo_fail(err, FO_ENOMEM, "out of memory for collection '%s'", name);
    return NULL;
}

void collection_close_index(collection *c) {
    if (c->index) {
        search_index_stop(c->index);
        if (!c->service->read_only && !c->remove_files)
            search_index_seal(c->index, NULL); /* else it comes again from the store */
        collection_count_last(c);
        search_index_close(c->index, false, NULL);
    }
    c->index = NULL;
    if (c->remove_files) fo_remove_tree(c->dir, NULL);
}

void collection_free(collection *c) {
    if (!c) return;
    for (int i = 0; i < c->n_idle_analyzers; i++) analyzer_free(c->idle_analyzers[i]);
    title_vectors_forget(c);
    free(c->tenant);
    free(c->name);
    free(c->language);
    free(c->dir);
    free(c);
}

/* Under index/, of one of a collection's two editions; caller frees. The id keeps a new collection
 * apart from a deleted one whose files still go. */
static char *folder_of(const service *s, const store_collection *row, int edition) {
    char *dir;
    int n = asprintf(&dir, "%s/index/%s/%s-%lld.%d", s->home, row->tenant, row->name,
                     (long long)row->id, edition);
    return n < 0 ? NULL : dir;
}

/* ---- bringing an index up to the store --------------------------------------------------- */

typedef struct catch_up {
    search_index *index;
    search_bulk *bulk;   /* NULL: few are missing, they are staged in memory */
    const int64_t *have; /* ascending: ids that sealed files hold */
    size_t n_have, at;
    uint32_t dim;
    int64_t shown; /* epoch of what searches see meanwhile */
    size_t n_added, n_left_out;
    int64_t left_out; /* the first */
    int64_t judged;   /* the document at hand; 0: none yet */
    bool bare;        /* the index refuses its metadata */
    char *acl;        /* then what it gets: the list of groups alone; NULL: there is none */
    size_t n_bare;
    int64_t first_bare; /* a chunk of the first */
    fo_err why_bare;
    fo_err *err;
} catch_up;

/* A store may hold metadata that no index takes, of a version that did not look. Its text is worth finding;
 * but who may see it stays said. Once a document: its chunks follow each other. */
static int judge_metadata(catch_up *u, const store_index_row *row) {
    if (row->document == u->judged) return FO_OK;
    fo_err why = {0};
    int rc = metadata_check(row->metadata, &why);
    free(u->acl);
    u->acl = NULL;
    u->judged = row->document;
    u->bare = rc == FO_ELIMIT || rc == FO_EINVAL;
    if (!u->bare) {
        if (rc && u->err) *u->err = why;
        return rc;
    }
    if (u->n_bare++ == 0) {
        u->first_bare = row->chunk;
        u->why_bare = why;
    }
    return document_acl_alone(&u->acl, row->metadata, u->err);
}

static int add_missing(void *ctx, const store_index_row *row) {
    catch_up *u = ctx;
    while (u->at < u->n_have && u->have[u->at] < row->chunk) u->at++;
    if (u->at < u->n_have && u->have[u->at] == row->chunk) return FO_OK;
    if (row->damaged || (u->dim && (!row->vector || row->dim != u->dim))) {
        if (u->n_left_out++ == 0) u->left_out = row->chunk; /* the others are worth having */
        return FO_OK;
    }
    int rc = judge_metadata(u, row);
    if (rc) return rc;
    const char *bare = u->acl ? u->acl : "";
    u->n_added++;
    search_chunk_in in = {row->chunk,
                          row->document,
                          row->title,
                          row->text,
                          row->text_len,
                          u->bare ? bare : row->metadata,
                          u->dim ? row->vector : NULL};
    if (u->bulk) return search_bulk_add(u->bulk, &in, u->err);
    /* Few chunks, but much metadata: what is staged needs memory until it is published. Under the epoch that is shown,
     * since files cover no other before all of it is there. */
    if (search_index_is_full(u->index)) rc = search_index_publish(u->index, u->shown, u->err);
    return !rc ? search_index_add(u->index, &in, u->err) : rc;
}

typedef struct id_gap {    /* between what sealed files hold and what the store holds */
    int64_t first_missing; /* -1: none */
    size_t n_missing;
} id_gap;

/* Buries what the store lost. */
static int compare_ids(search_index *ix, const int64_t *have, size_t n_have, const int64_t *want,
                       size_t n_want, id_gap *out, fo_err *err) {
    id_gap gap = {-1, n_want};
    int rc = FO_OK;
    size_t j = 0;
    for (size_t i = 0; i < n_have && !rc; i++) {
        while (j < n_want && want[j] < have[i]) {
            if (gap.first_missing < 0) gap.first_missing = want[j];
            j++;
        }
        if (j < n_want && want[j] == have[i]) {
            gap.n_missing--;
            j++;
        } else {
            rc = search_index_remove(ix, have[i], err);
        }
    }
    if (gap.first_missing < 0 && j < n_want) gap.first_missing = want[j];
    *out = gap;
    return rc;
}

typedef struct build_watch {
    service_build_progress *progress;
    void *ctx;
    uint64_t total;
    const atomic_bool *cancel;
    bool anew; /* it was empty: that it is filled is no news */
} build_watch;

static void on_bulk(void *ctx, enum search_bulk_stage stage, uint64_t done) {
    const build_watch *w = ctx;
    if (w->progress) w->progress(w->ctx, stage, done, stage == SEARCH_BULK_COMMIT ? 0 : w->total);
}

/* More than the memory segment is meant to hold: straight into files. */
static int add_in_bulk(service *s, catch_up *u, int64_t id, const id_gap *gap, build_watch *watch,
                       int64_t *epoch) {
    /* What was buried comes first, under the epoch that is shown: files beside a gap cover none, and answers meanwhile are
     * of one all the same. Dying in between, the next comparison finds the same gap. */
    int rc = search_index_publish(u->index, u->shown, u->err);
    search_bulk_options opt = {.memory_bytes = s->build_memory,
                               .progress = on_bulk,
                               .ctx = watch,
                               .cancel = watch->cancel};
    if (!rc) rc = search_bulk_begin(&u->bulk, u->index, &opt, u->err);
    if (rc) return rc;
    rc = store_each_chunk(s->store, id, gap->first_missing - 1, add_missing, u, epoch, u->err);
    if (!rc) return search_bulk_finish(u->bulk, *epoch, u->err);
    search_bulk_abort(u->bulk);
    return rc;
}

static void tell_bare(service *s, const catch_up *u, const char *name) {
    store_chunk k = {0};
    (void)store_get_chunks(s->store, &u->first_bare, 1, &k, NULL); /* else it has no name */
    fo_notice(&s->notices, "metadata_left_out",
              "collection '%s': the metadata of %zu documents is not in the index (the first is "
              "'%.200s': %s); no "
              "filter finds them by it until it is mended",
              name, u->n_bare, k.document_id ? k.document_id : "", u->why_bare.msg);
    store_chunk_deinit(&k);
}

static int64_t epoch_shown(search_index *ix) {
    search_snapshot *now = search_index_acquire(ix);
    const int64_t shown = search_snapshot_epoch(now);
    search_index_release(now);
    return shown;
}

static void tell_added(service *s, const catch_up *u, const char *name, bool dropped) {
    if (dropped)
        fo_notice(&s->notices, "index_refilled",
                  "index of collection '%s': %zu chunks were indexed again from the store", name,
                  u->n_added);
    else if (!s->offline)
        fo_notice(&s->notices, "index_caught_up",
                  "index of collection '%s': %zu chunks that no file held yet were indexed", name,
                  u->n_added);
}

/* Sealed files cover some epoch. What the store has beyond it is added, what it lost is removed:
 * after a crash, a restored backup, a deleted or damaged file, an offline ingest alike. */
static int reconcile(service *s, collection *c, uint32_t dim, int64_t store_epoch, bool dropped,
                     build_watch *watch, fo_err *err) {
    enum { BULK_LEAST = 16384 };
    if (!dropped && search_index_epoch(c->index) == store_epoch) return FO_OK;
    int64_t *have = NULL, *want = NULL, epoch = 0;
    size_t n_have = 0, n_want = 0;
    id_gap gap = {-1, 0};
    const bool had_gap = search_index_has_gap(c->index);
    int rc = search_index_ids(c->index, &have, &n_have, err);
    if (!rc) rc = store_chunk_ids(s->store, c->id, &want, NULL, &n_want, &epoch, err);
    if (!rc) rc = compare_ids(c->index, have, n_have, want, n_want, &gap, err);
    free(want);
    catch_up u = {.index = c->index,
                  .have = have,
                  .n_have = n_have,
                  .dim = dim,
                  .shown = epoch_shown(c->index),
                  .err = err};
    watch->total = gap.n_missing;
    const size_t in_memory = s->seal_chunks ? s->seal_chunks : BULK_LEAST;
    const bool in_bulk = !s->read_only && (s->offline || gap.n_missing > in_memory);
    if (!rc && in_bulk) {
        rc = add_in_bulk(s, &u, c->id, &gap, watch, &epoch);
    } else if (!rc) {
        if (gap.first_missing >= 0)
            rc = store_each_chunk(s->store, c->id, gap.first_missing - 1, add_missing, &u, &epoch,
                                  err);
        if (!rc) rc = search_index_publish(c->index, epoch, err);
    }
    free(have);
    free(u.acl);
    if (!rc) search_index_gap_filled(c->index);
    /* The load sealed all of it, while the manifest could not say so yet. */
    if (!rc && in_bulk && had_gap) rc = search_index_seal(c->index, err);
    if (rc) return fo_fail_prefix(err, "index of collection '%s'", c->name);
    const fo_notices *tell = &s->notices;
    if (u.n_added && !watch->anew) tell_added(s, &u, c->name, dropped);
    if (u.n_left_out)
        fo_notice(tell, "chunk_left_out",
                  "collection '%s': %zu chunks are not in the index, their text or vector is "
                  "damaged (the first is chunk %lld; 'forage index verify' names the documents)",
                  c->name, u.n_left_out, (long long)u.left_out);
    if (u.n_bare) tell_bare(s, &u, c->name);
    return FO_OK;
}

/* The index found a file of its own damaged: its chunks come again from the store. */
static void on_damage(void *ctx, const char *why) {
    collection *c = ctx;
    service *s = c->service;
    fo_err err = {0};
    store_collection now = {0};
    size_t n_dropped = 0;
    bool gap = false; /* of this file, or one that an earlier repair could not fill */
    int rc = service_enter(s, &err);
    if (rc) return; /* it closes: the next opening or pass finds the damage */
    writer_take(s);
    rc = store_get_collection(s->store, c->tenant, c->name, &now, &err);
    if (!rc) rc = search_index_settle(c->index, &err);
    if (!rc) rc = search_index_seal(c->index, &err); /* reconcile looks at files alone */
    if (!rc) rc = search_index_drop_damaged(c->index, &n_dropped, &err);
    if (n_dropped) atomic_fetch_add(&s->n_index_drops, 1);
    build_watch unwatched = {0};
    gap = !rc && search_index_has_gap(c->index);
    if (gap) rc = reconcile(s, c, c->dim, now.epoch, true, &unwatched, &err);
    if (gap && rc)
        search_index_discard(c->index); /* half of a gap is not the next writer's to show */
    if (gap && !rc) rc = search_index_seal(c->index, &err);
    writer_yield(s);
    store_collection_deinit(&now);
    if (s->index_damaged)
        s->index_damaged(s->index_damaged_ctx, c->tenant, c->name, !rc ? why : err.msg, !rc);
    service_leave(s);
}

int collection_open_index(collection *c, const store_collection *row, int edition, bool anew,
                          fo_err *err) {
    service *s = c->service;
    c->id = row->id;
    c->alpha = row->alpha;
    c->min_support = row->min_support;
    c->edition = edition;
    c->language = strdup(row->language);
    c->dir = folder_of(s, row, edition);
    if (!c->language || !c->dir) return fo_no_memory(err);
    c->embedder = s->embedder;
    int rc = row->embedder[0] ? service_embedder_of(s, row->embedder, &c->embedder, err) : FO_OK;
    if (rc) return rc;
    c->foreign_vectors = !c->embedder;
    const char *fingerprint = c->embedder ? embedder_fingerprint(c->embedder) : row->embedder;
    c->dim = c->embedder ? (uint32_t)embedder_dim(c->embedder) : row->dim;
    search_index_options opt = {.language = c->language,
                                .dim = c->dim,
                                .fingerprint = fingerprint,
                                .tenant = c->tenant,
                                .pool = s->index_pool,
                                .merge_pool = s->merge_pool,
                                .workers = s->index_workers,
                                .read_only = s->read_only,
                                .notices = s->notices,
                                .seal_chunks = s->seal_chunks,
                                .segment_metadata = s->segment_metadata,
                                .merge_bytes_per_s = s->offline ? -1 : s->merge_bytes_per_s};
    size_t n_dropped = 0;
    bool missing = !anew && row->n_chunks && !s->offline && access(c->dir, F_OK) != 0;
    if (missing)
        fo_notice(&s->notices, "index_missing", "index of collection '%s': %s is gone", c->name,
                  c->dir);
    rc = search_index_open(&c->index, c->dir, &opt, &n_dropped, err);
    if (!rc && !s->read_only && search_index_newest(c->index) > row->epoch) {
        /* Of a time that the store has lost: its numbers may mean other chunks by now, or it has buried
         * what the store still holds. */
        fo_notice(&s->notices, "index_ahead",
                  "index of collection '%s' is of epoch %lld, the store of %lld: it is made anew",
                  c->name, (long long)search_index_newest(c->index), (long long)row->epoch);
        search_index_close(c->index, false, NULL);
        c->index = NULL;
        rc = fo_remove_tree(c->dir, err);
        if (!rc) rc = search_index_open(&c->index, c->dir, &opt, &n_dropped, err);
        missing = true;
    }
    if (n_dropped) atomic_fetch_add(&s->n_index_drops, 1); /* it was open before, perhaps */
    if (!rc) search_index_get_stats(c->index, &c->counted);
    build_watch unwatched = {.anew = anew};
    if (!rc && !s->offline)
        rc = reconcile(s, c, c->dim, row->epoch, anew || missing || n_dropped > 0, &unwatched, err);
    if (rc) {
        search_index_close(c->index, false, NULL);
        c->index = NULL;
        return rc;
    }
    if (!s->read_only && !s->offline) search_index_watch(c->index, on_damage, c);
    return FO_OK;
}

int service_catch_up(service *s, const char *tenant, const char *name,
                     service_build_progress *progress, void *ctx, const atomic_bool *cancel,
                     fo_err *err) {
    int rc = service_enter(s, err);
    if (rc) return rc;
    collection *c = NULL;
    store_collection now = {0};
    rc = s->offline ? collection_acquire(s, tenant, name, &c, err)
                    : fo_fail(err, FO_EUNSUPPORTED, "the service was not opened for a build");
    if (!rc) rc = store_get_collection(s->store, tenant, name, &now, err);
    if (!rc) {
        build_watch watch = {.progress = progress, .ctx = ctx, .cancel = cancel};
        writer_take(s);
        /* A file that was dropped at the opening has left a gap: compare in any case. */
        rc = reconcile(s, c, c->dim, now.epoch, true, &watch, err);
        writer_yield(s);
    }
    store_collection_deinit(&now);
    if (c) collection_release(s, c);
    service_leave(s);
    return rc;
}

/* A rebuild changes between editions 0 and 1. After a crash in it both folders may be there: either
 * will do, since what is opened is brought up to the store. */
int collection_edition(service *s, const store_collection *row) {
    char *dir[2] = {folder_of(s, row, 0), folder_of(s, row, 1)};
    int found = 0;
    if (dir[0] && dir[1]) {
        if (access(dir[0], F_OK) != 0)
            found = access(dir[1], F_OK) == 0;
        else if (!s->read_only)
            fo_remove_tree(dir[1], NULL);
    }
    free(dir[0]);
    free(dir[1]);
    return found;
}

/* ---- made and deleted -------------------------------------------------------------------- */

static int create(service *s, const char *tenant, const char *name, const char *language,
                  fo_err *err) {
    if (s->read_only) return fo_fail(err, FO_EUNSUPPORTED, "this service is read-only");
    analyzer *a = NULL; /* a language that there is not makes no collection */
    int rc = analyzer_create(&a, language ? language : "english", err);
    analyzer_free(a);
    return !rc ? store_create_collection(s->store, tenant, name, language, NULL, err) : rc;
}

int collection_ensure(service *s, const char *tenant, const char *name, const char *language,
                      collection **out, fo_err *err) {
    int rc = collection_acquire(s, tenant, name, out, err);
    if (rc != FO_ENOTFOUND) return rc;
    pthread_mutex_lock(&s->admin_mu);
    rc = create(s, tenant, name, language, err);
    pthread_mutex_unlock(&s->admin_mu);
    if (rc && rc != FO_ECONFLICT) return rc; /* somebody may have been quicker */
    return collection_acquire(s, tenant, name, out, err);
}

int collection_renew(service *s, collection *c, fo_err *err) {
    pthread_mutex_lock(&s->mu);
    bool gone = c->remove_files; /* somebody was quicker, while the caller waited */
    pthread_mutex_unlock(&s->mu);
    if (gone) return FO_OK;
    store_collection row = {0};
    int rc = store_get_collection(s->store, c->tenant, c->name, &row, err);
    if (rc) return rc;
    collection *fresh = collection_create(s, c->tenant, c->name, err);
    rc = fresh ? collection_open_index(fresh, &row, 1 - c->edition, true, err) : FO_ENOMEM;
    store_collection_deinit(&row);
    if (!rc) rc = search_index_seal(fresh->index, err);
    if (!rc) {
        collection_replace(s, c, fresh);
    } else if (fresh) {
        fresh->remove_files = fresh->dir != NULL;
        collection_close_index(fresh);
        collection_free(fresh);
    }
    return rc;
}

int service_create_collection(service *s, const char *tenant, const char *name,
                              const char *language, fo_err *err) {
    int rc = service_enter(s, err);
    if (rc) return rc;
    rc = collection_check_names(tenant, name, err);
    if (!rc) {
        pthread_mutex_lock(&s->admin_mu);
        rc = create(s, tenant, name, language, err);
        pthread_mutex_unlock(&s->admin_mu);
    }
    service_leave(s);
    return rc;
}

/* The files of one that is not open. */
static void remove_folders(service *s, const store_collection *row) {
    for (int edition = 0; edition < 2; edition++) {
        char *dir = folder_of(s, row, edition);
        if (dir) fo_remove_tree(dir, NULL);
        free(dir);
    }
}

int service_delete_collection(service *s, const char *tenant, const char *name,
                              const atomic_bool *cancel, fo_err *err) {
    int rc = service_enter(s, err);
    if (rc) return rc;
    collection *c = NULL;
    store_collection row = {0};
    pthread_mutex_lock(&s->admin_mu);
    rc = s->read_only ? fo_fail(err, FO_EUNSUPPORTED, "this service is read-only")
                      : collection_hold_closed(s, tenant, name, &c, err);
    if (!rc) {
        writer_take(s); /* no commit of this collection is under way */
        rc = store_get_collection(s->store, tenant, name, &row, err);
        if (!rc) rc = store_delete_collection(s->store, tenant, name, cancel, err);
        writer_yield(s);
        if (!rc && !c->index) remove_folders(s, &row);
        if (!rc) page_images_forget_all(s->page_images, row.id);
        collection_let_go(s, c, !rc);
    }
    store_collection_deinit(&row);
    pthread_mutex_unlock(&s->admin_mu);
    service_leave(s);
    return rc;
}

int service_compare_ids(service *s, const char *tenant, const char *name, search_id_report *out,
                        fo_err *err) {
    int rc = service_enter(s, err);
    if (rc) return rc;
    collection *c = NULL;
    int64_t *chunks = NULL, *documents = NULL, epoch = 0;
    size_t n = 0;
    rc = collection_acquire(s, tenant, name, &c, err);
    if (!rc) {
        writer_take(s); /* nothing is between store and index */
        rc = store_chunk_ids(s->store, c->id, &chunks, &documents, &n, &epoch, err);
        search_snapshot *now = search_index_acquire(c->index);
        if (!rc && search_snapshot_epoch(now) != epoch)
            rc = fo_fail(err, FO_EBUSY, "the store has changed meanwhile: try again");
        search_index_release(now);
        if (!rc) rc = search_index_compare(c->index, chunks, documents, n, out, err);
        writer_yield(s);
        collection_release(s, c);
    }
    free(chunks);
    free(documents);
    service_leave(s);
    return rc;
}
