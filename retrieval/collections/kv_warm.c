#include "retrieval/collections/kv_warm.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/clock.h"
#include "kernels/sha256.h"
#include "retrieval/cache/count_min_sketch.h"

enum {
    WINDOW = 256,      /* chunks that are put into order at a time */
    QUIET_MS = 5000,   /* KV_WARM_IDLE begins when nobody asked for so long */
    POLL_MS = 500,     /* and looks so often */
    LEAST_TOKENS = 32, /* of a chunk: shorter ones are computed as fast as they are fetched */
    AGE_ADDS = 100000, /* found chunks after which all counts are halved */
};
#define BUDGET_SHARE .75 /* of the tier below: the rest is what queries leave */

typedef struct mark { /* how far a collection has been gone through */
    int64_t collection, after;
} mark;

typedef struct place {
    int64_t collection;
    char *tenant;
} place;

struct kv_warm {
    /* immutable */
    service *s;
    enum kv_warm_mode mode;
    pthread_t thread;

    pthread_mutex_t mu;
    pthread_cond_t wake;
    /* guarded by mu */
    bool stop, news;
    double asked_ms; /* the latest query */
    count_min *heat; /* of documents */
    service_warm_stats stats;

    /* owned: the thread */
    mark *marks;
    size_t n_marks;
};

static uint64_t heat_key(int64_t in, const char *document) {
    unsigned char digest[32];
    uint64_t key = 0;
    fo_sha256_of(digest, document, strlen(document));
    memcpy(&key, digest, sizeof key);
    return key ^ (uint64_t)in * 0x9E3779B97F4A7C15u;
}

static bool stopping(kv_warm *w) {
    pthread_mutex_lock(&w->mu);
    bool stop = w->stop;
    pthread_mutex_unlock(&w->mu);
    return stop;
}

/* ---- one chunk --------------------------------------------------------------------------- */

/* A prompt with the chunk as its only context. */
static int lay_out_chunk(kv_warm *w, const store_chunk *k, const unsigned char salt[32],
                         generator_layout **out) {
    prompt_context c = {.text = k->text, .len = k->text_len, .title = k->title};
    prompt_input in = {.contexts = &c, .n_contexts = 1, .question = "?", .salt = salt};
    prompt p;
    int rc = prompt_make(&p, w->s->prompts, &in, NULL);
    if (rc) return rc;
    rc = generator_lay_out(w->s->generator, &p.prompt, out, NULL);
    prompt_deinit(&p);
    return rc;
}

static void wait_for(kv_warm *w, generator_stream *g, generator_event *ev) {
    do {
        generator_next(g, POLL_MS, ev, NULL);
    } while (!ev->done && !stopping(w));
}

static void count_chunk(kv_warm *w, const generator_layout *l, size_t cached) {
    size_t n = l->head_tokens + l->context_tokens;
    generator_kept kept;
    generator_get_kept(w->s->generator, &kept);
    pthread_mutex_lock(&w->mu);
    w->stats.chunks++;
    w->stats.tokens += l->context_tokens;
    if (cached < n) w->stats.computed_tokens += n - cached;
    w->stats.bytes += l->context_tokens * kept.page_bytes / kept.page_tokens;
    pthread_mutex_unlock(&w->mu);
}

/* A model that has no place for it now gets it later: it is not passed over. */
static bool start(kv_warm *w, const generator_layout *l, const generator_options *o,
                  generator_stream **out) {
    int rc;
    while ((rc = generator_start(w->s->generator, l, o, out, NULL, NULL)) == FO_EBUSY &&
           !stopping(w)) {
        struct timespec t = {0, POLL_MS * 1000000L};
        nanosleep(&t, NULL);
    }
    return rc == FO_OK;
}

static void warm_chunk(kv_warm *w, const store_chunk *k, const unsigned char salt[32],
                       double heat) {
    generator_layout *l = NULL;
    generator_stream *g = NULL;
    if (lay_out_chunk(w, k, salt, &l)) return;
    generator_options o = {.priority = -100,
                           .reuse = REUSE_CHUNK,
                           .expected_uses = heat,
                           .prefill_only = true,
                           .background = true};
    bool fits = l->n_used == 1 && !l->cut && l->context_tokens >= LEAST_TOKENS;
    if (fits && start(w, l, &o, &g)) {
        generator_event ev = {0};
        wait_for(w, g, &ev);
        generator_stream_free(g);
        if (ev.done && !ev.error) count_chunk(w, l, ev.usage.cached_tokens);
    }
    generator_layout_free(l);
}

/* ---- which ------------------------------------------------------------------------------- */

typedef struct window {
    int64_t ids[WINDOW];
    size_t n;
} window;

static int take_id(void *ctx, const store_index_row *row) {
    window *v = ctx;
    if (v->n == WINDOW) return 1;
    v->ids[v->n++] = row->chunk;
    return 0;
}

typedef struct ranked {
    size_t at;
    uint32_t heat;
} ranked;

static int hottest_first(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    if (x->heat != y->heat) return x->heat < y->heat ? 1 : -1;
    return (x->at > y->at) - (x->at < y->at);
}

static mark *mark_of(kv_warm *w, int64_t id) {
    for (size_t i = 0; i < w->n_marks; i++)
        if (w->marks[i].collection == id) return &w->marks[i];
    mark *more = realloc(w->marks, (w->n_marks + 1) * sizeof *more);
    if (!more) return NULL;
    w->marks = more;
    more[w->n_marks] = (mark){.collection = id};
    return &more[w->n_marks++];
}

static bool budget_left(kv_warm *w) {
    generator_kept kept;
    generator_get_kept(w->s->generator, &kept);
    pthread_mutex_lock(&w->mu);
    w->stats.budget_bytes = (uint64_t)(BUDGET_SHARE * (double)kept.budget_bytes);
    bool left = w->stats.bytes < w->stats.budget_bytes;
    pthread_mutex_unlock(&w->mu);
    return left;
}

/* KV_WARM_IDLE works while nobody has asked for a while. */
static bool may_work(kv_warm *w) {
    if (w->mode != KV_WARM_IDLE) return true;
    pthread_mutex_lock(&w->mu);
    bool quiet = fo_now_ms() - w->asked_ms >= QUIET_MS;
    pthread_mutex_unlock(&w->mu);
    return quiet;
}

/* The chunks of the window; one of a damaged document has id 0, as one that is gone. */
static bool read_window(kv_warm *w, const window *v, store_chunk *chunks) {
    int rc = store_get_chunks(w->s->store, v->ids, v->n, chunks, NULL);
    if (rc != FO_ECORRUPT) return rc == FO_OK;
    for (size_t i = 0; i < v->n; i++) /* it says not which one: the others are worth reading */
        if (store_get_chunks(w->s->store, &v->ids[i], 1, &chunks[i], NULL))
            chunks[i] = (store_chunk){0};
    return true;
}

/* The next chunks of a collection, hottest first. False: there are none. */
static bool warm_window(kv_warm *w, const place *at) {
    window v = {0};
    store_chunk *chunks = calloc(WINDOW, sizeof *chunks);
    ranked *order = calloc(WINDOW, sizeof *order);
    mark *m = mark_of(w, at->collection);
    unsigned char salt[32];
    service_kv_salt(at->tenant, NULL, salt);
    bool read = false;
    if (chunks && order && m && service_enter(w->s, NULL) == FO_OK) {
        store_each_chunk(w->s->store, at->collection, m->after, take_id, &v, NULL, NULL);
        read = v.n && read_window(w, &v, chunks);
        service_leave(w->s);
    }
    if (read) {
        pthread_mutex_lock(&w->mu);
        for (size_t i = 0; i < v.n; i++)
            order[i] = (ranked){
                i, chunks[i].id ? count_min_estimate(
                                      w->heat, heat_key(at->collection, chunks[i].document_id))
                                : 0};
        pthread_mutex_unlock(&w->mu);
        qsort(order, v.n, sizeof *order, hottest_first);
        for (size_t i = 0; i < v.n && !stopping(w) && budget_left(w); i++) {
            while (!may_work(w) && !stopping(w)) {
                struct timespec t = {0, POLL_MS * 1000000L};
                nanosleep(&t, NULL);
            }
            if (chunks[order[i].at].id)
                warm_chunk(w, &chunks[order[i].at], salt, (double)order[i].heat);
        }
        for (size_t i = 0; i < v.n; i++) store_chunk_deinit(&chunks[i]);
        m->after = v.ids[v.n - 1];
    }
    free(chunks);
    free(order);
    return read;
}

static place *list_places(kv_warm *w, size_t *n) {
    *n = 0;
    if (service_enter(w->s, NULL) != FO_OK) return NULL;
    store_collection *all = NULL;
    size_t n_all = 0;
    store_list_collections(w->s->store, NULL, &all, &n_all, NULL);
    service_leave(w->s);
    place *list = calloc(n_all + 1, sizeof *list);
    for (size_t i = 0; i < n_all; i++) {
        if (list && all[i].n_chunks) {
            list[(*n)++] = (place){all[i].id, all[i].tenant};
            all[i].tenant = NULL;
        }
        store_collection_deinit(&all[i]);
    }
    free(all);
    return list;
}

static void free_places(place *list, size_t n) {
    for (size_t i = 0; i < n; i++) free(list[i].tenant);
    free(list);
}

/* What is there already is not "after ingest": pass over it. */
static void skip_to_end(kv_warm *w) {
    size_t n, k;
    place *list = list_places(w, &n);
    for (size_t i = 0; i < n; i++) {
        int64_t *ids = NULL;
        mark *m = mark_of(w, list[i].collection);
        if (!m || service_enter(w->s, NULL) != FO_OK) continue;
        if (store_chunk_ids(w->s->store, list[i].collection, &ids, NULL, &k, NULL, NULL) == FO_OK &&
            k)
            m->after = ids[k - 1];
        free(ids);
        service_leave(w->s);
    }
    free_places(list, n);
}

static void *warm(void *arg) {
    kv_warm *w = arg;
    while (!stopping(w)) {
        size_t n;
        bool any = false;
        place *list = list_places(w, &n);
        for (size_t i = 0; i < n && !stopping(w) && budget_left(w); i++)
            any |= warm_window(w, &list[i]); /* in turns: no collection waits for a large one */
        free_places(list, n);
        pthread_mutex_lock(&w->mu);
        w->stats.waiting = any;
        while (!any && !w->news && !w->stop) pthread_cond_wait(&w->wake, &w->mu);
        if (!any) w->news = false;
        pthread_mutex_unlock(&w->mu);
    }
    return NULL;
}

/* ---- from outside ------------------------------------------------------------------------ */

int kv_warm_start(kv_warm **out, service *s, enum kv_warm_mode mode, fo_err *err) {
    kv_warm *w = calloc(1, sizeof *w);
    if (!w) return fo_no_memory(err);
    w->s = s;
    w->mode = mode;
    pthread_mutex_init(&w->mu, NULL);
    pthread_cond_init(&w->wake, NULL);
    int rc = count_min_create(&w->heat, 1e-4, 1e-2, 0x77a2, err);
    if (!rc && mode == KV_WARM_INGEST) skip_to_end(w);
    if (!rc && pthread_create(&w->thread, NULL, warm, w) != 0)
        rc = fo_fail_errno(err, "cannot start the thread that warms");
    if (!rc) {
        *out = w;
        return FO_OK;
    }
    count_min_free(w->heat);
    free(w->marks);
    free(w);
    return rc;
}

void kv_warm_stop(kv_warm *w) {
    if (!w) return;
    pthread_mutex_lock(&w->mu);
    w->stop = true;
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->mu);
    pthread_join(w->thread, NULL);
}

void kv_warm_free(kv_warm *w) {
    if (!w) return;
    count_min_free(w->heat);
    free(w->marks);
    pthread_cond_destroy(&w->wake);
    pthread_mutex_destroy(&w->mu);
    free(w);
}

void kv_warm_notify(kv_warm *w) {
    if (!w) return;
    pthread_mutex_lock(&w->mu);
    w->news = true;
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->mu);
}

void kv_warm_asked(kv_warm *w) {
    if (!w) return;
    pthread_mutex_lock(&w->mu);
    w->asked_ms = fo_now_ms();
    pthread_mutex_unlock(&w->mu);
}

void kv_warm_touch(kv_warm *w, const collection *c, const char *document) {
    if (!w) return;
    pthread_mutex_lock(&w->mu);
    count_min_add(w->heat, heat_key(c->id, document), 1);
    if (count_min_total(w->heat) > AGE_ADDS) count_min_age(w->heat, 1);
    pthread_mutex_unlock(&w->mu);
}

void kv_warm_get_stats(kv_warm *w, service_warm_stats *out) {
    *out = (service_warm_stats){0};
    if (!w) return;
    pthread_mutex_lock(&w->mu);
    *out = w->stats;
    out->mode = w->mode;
    pthread_mutex_unlock(&w->mu);
}

/* ---- whose KV ------------------------------------------------------------------------------ */

void service_kv_salt(const char *tenant, const search_filter *sees, unsigned char out[32]) {
    fo_buf b = {0};
    fo_buf_str(&b, tenant);
    if (sees) {
        fo_buf_char(&b, 0);
        search_filter_write(sees, &b);
    }
    if (b.failed)
        memset(out, 0xff, 32); /* nobody else's, but those who had no memory either */
    else
        fo_sha256_of(out, b.data, b.len);
    fo_buf_free(&b);
}
