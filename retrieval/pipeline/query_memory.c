#include "retrieval/pipeline/query_memory_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cond.h"
#include "kernels/clock.h"

enum {
    SEMANTIC_QUESTIONS = 2048, /* looked through one by one */
    FLIGHT_MAX_MS = 10000 /* a follower computes for itself after that: a leader may be held up by
                             a client that reads slowly */
};

/* One computation that others wait for. */
typedef struct flight {
    struct flight *next;
    unsigned char key[QUERY_KEY_BYTES];
    int64_t epoch;
    int refs;
    bool done;
    cache_value *value; /* NULL: it failed, or must not be shared */
} flight;

/* ---- single flight ------------------------------------------------------------------------- */

/* The lock is held. */
static void flight_drop(flight *f) {
    if (--f->refs) return;
    cache_value_drop(f->value);
    free(f);
}

/* Lead (t->flight is set, *value NULL), or wait for who does and take what it found. */
static int fly(query_lookup *t, cache_value **value, fo_err *err) {
    query_memory *m = t->m;
    const query_request *q = t->q;
    const unsigned char *key = q->generate ? t->answer_key : t->contexts_key;
    double limit = q->timeout_ms > 0 ? q->timeout_ms : 60000;
    int rc = FO_OK;
    pthread_mutex_lock(&m->mu);
    while (!rc && !*value && !t->flight) {
        flight *f = m->flights;
        while (f && (f->epoch != t->epoch || memcmp(f->key, key, sizeof f->key) != 0)) f = f->next;
        if (!f) {
            f = calloc(1, sizeof *f);
            if (!f) break; /* alone, then */
            memcpy(f->key, key, sizeof f->key);
            f->epoch = t->epoch;
            f->refs = 1;
            f->next = m->flights;
            m->flights = f;
            t->flight = f;
            break;
        }
        f->refs++;
        double waited = 0;
        while (!rc && !f->done) {
            /* Looks up now and then: a client may have gone. */
            fo_cond_wait_until(&m->landed, &m->mu, fo_now_ms() + 20);
            waited = fo_now_ms() - t->started;
            if (q->cancel && atomic_load(q->cancel))
                rc = fo_fail(err, FO_ECANCELLED, "cancelled by the client");
            else if (waited > limit)
                rc = fo_fail_field(err, FO_ETIMEOUT, "timeout_ms",
                                   "no answer within timeout_ms = %.0f", limit);
            else if (!f->done && waited > FLIGHT_MAX_MS)
                break;
        }
        bool late = !f->done;
        if (!rc && f->value) *value = cache_value_keep(f->value);
        flight_drop(f);
        if (late) break;
    }
    pthread_mutex_unlock(&m->mu);
    if (*value) atomic_fetch_add_explicit(&m->coalesced, 1, memory_order_relaxed);
    return rc;
}

static void land(query_lookup *t, cache_value *value) {
    query_memory *m = t->m;
    flight *f = t->flight;
    if (!f) return;
    pthread_mutex_lock(&m->mu);
    flight **at = &m->flights;
    while (*at != f) at = &(*at)->next;
    *at = f->next;
    f->done = true;
    f->value = value ? cache_value_keep(value) : NULL;
    flight_drop(f);
    pthread_cond_broadcast(&m->landed);
    pthread_mutex_unlock(&m->mu);
    t->flight = NULL;
}

/* ---- the steps of a query ------------------------------------------------------------------ */

/* A hit's figures; priming counts nowhere. */
static void tally(query_lookup *t, query_cache *c, bool hit, double ms, size_t tokens) {
    if (t->q->background) return;
    query_cache_count(c, hit, ms, tokens);
    t->out->cache.saved_ms += ms;
    t->out->cache.saved_tokens += tokens;
}

int query_memory_begin(query_memory *m, query_lookup *t, const query_request *q, collection *c,
                       const char *sought, double alpha, query_result *out, fo_err *err) {
    *t = (query_lookup){.titles = t->titles,
                        .n_index_drops = t->n_index_drops,
                        .has_gap = t->has_gap,
                        .q = q,
                        .out = out,
                        .epoch = out->epoch,
                        .started = fo_now_ms()};
    const char *asked = q->query        ? q->query
                        : q->n_messages ? q->messages[q->n_messages - 1].content
                                        : "";
    char *question = query_normalise(asked);
    if (!question) return fo_no_memory(err);
    out->cache.hot_estimate = query_heat_count(m, q, question);
    int rc = FO_OK;
    if (m->answers && q->cache != CACHE_BYPASS && !t->has_gap) {
        t->m = m;
        t->reads = q->cache == CACHE_DEFAULT;
        t->c = c;
        t->alpha = alpha;
        if (!query_keys_make(t, c, alpha, question, sought)) rc = fo_no_memory(err);
    }
    free(question);
    return rc;
}

static bool take_contexts(query_lookup *t, cached_contexts *k) {
    query_result *out = t->out;
    if (!cached_contexts_copy(k, &out->contexts)) return false;
    out->n_contexts = k->n;
    out->n_collapsed = k->n_collapsed;
    t->context = cache_value_keep(&k->head);
    return true;
}

/* Fill the answer part of *out from k, keeping what belongs to this query. */
static bool take_answer(query_lookup *t, const cached_answer *k) {
    query_result *out = t->out, fresh;
    if (!cached_answer_copy(k, &fresh)) return false;
    fresh.contexts = out->contexts;
    fresh.n_contexts = out->n_contexts;
    fresh.n_collapsed = out->n_collapsed;
    fresh.epoch = t->epoch;
    fresh.cache = out->cache;
    fresh.ms = out->ms;
    fresh.usage.cached_tokens = fresh.usage.prompt_tokens;
    fresh.usage.prefix_tokens = fresh.usage.chunk_tokens = fresh.usage.recomputed_tokens = 0;
    free(out->answer);
    *out = fresh;
    out->cache.answer = CACHE_HIT;
    t->answered = true;
    t->beyond = k->beyond;
    t->cost_ms = k->cost_ms;
    t->answer_ms = k->answer_ms;
    return true;
}

static size_t tokens_of(const query_result *r) {
    return r->usage.prompt_tokens + r->usage.completion_tokens;
}

static bool serve_answer(query_lookup *t, cached_answer *k) {
    query_result *out = t->out;
    if (!take_contexts(t, k->contexts)) return false;
    if (!take_answer(t, k)) {
        for (size_t i = 0; i < out->n_contexts; i++) store_chunk_deinit(&out->contexts[i].chunk);
        free(out->contexts);
        out->contexts = NULL;
        out->n_contexts = 0;
        cache_value_drop(&t->context->head);
        t->context = NULL;
        return false;
    }
    t->whole = true;
    double spent = fo_now_ms() - t->started;
    tally(t, t->m->answers, true, k->cost_ms > spent ? k->cost_ms - spent : 0, tokens_of(&k->r));
    return true;
}

int query_memory_answer(query_lookup *t, bool *found, fo_err *err) {
    *found = false;
    if (!t->reads) return FO_OK;
    query_memory *m = t->m;
    bool answers = t->q->generate;
    cache_value *v = answers ? query_cache_get(m->answers, t->answer_key, fo_unix_ms()) : NULL;
    if (v && ((cached_answer *)v)->epoch == t->epoch) {
        *found = serve_answer(t, (cached_answer *)v);
        cache_value_drop(v);
        return FO_OK;
    }
    t->stale = (cached_answer *)v;
    double cosine;
    if ((v = (cache_value *)query_semantic_find(t, &cosine))) {
        if ((*found = serve_answer(t, (cached_answer *)v))) {
            t->out->cache.similarity = cosine;
            atomic_fetch_add_explicit(&m->semantic_hits, 1, memory_order_relaxed);
        }
        cache_value_drop(v);
        return FO_OK;
    }
    /* Users never wait for the low-priority thread that primes. */
    int rc = t->q->background ? FO_OK : fly(t, &v, err);
    if (!rc && !v && t->flight && answers) {
        /* Who led before may have landed between our look-up and our lead. */
        v = query_cache_get(m->answers, t->answer_key, fo_unix_ms());
        if (v && ((cached_answer *)v)->epoch != t->epoch) {
            cache_value_drop(v);
            v = NULL;
        }
        if (v) land(t, v);
    }
    if (v) {
        if (answers)
            *found = serve_answer(t, (cached_answer *)v);
        else if ((*found = take_contexts(t, (cached_contexts *)v))) {
            t->out->cache.retrieval = CACHE_HIT;
            t->answered = true;
            tally(t, m->contexts, true, ((cached_contexts *)v)->cost_ms, 0);
        }
        cache_value_drop(v);
    }
    return rc;
}

bool query_memory_contexts(query_lookup *t, double *tail) {
    if (!t->reads) return false;
    cache_value *v = query_cache_get(t->m->contexts, t->contexts_key, fo_unix_ms());
    cached_contexts *k = (cached_contexts *)v;
    bool hit = k && k->epoch == t->epoch && take_contexts(t, k);
    if (hit) *tail = k->tail;
    t->out->cache.retrieval = hit ? CACHE_HIT : CACHE_MISS;
    tally(t, t->m->contexts, hit, hit ? k->cost_ms : 0, 0);
    cache_value_drop(v);
    return hit;
}

void query_memory_keep_contexts(query_lookup *t, double tail) {
    if (!t->m) return;
    cached_contexts *k = cached_contexts_make(t->out, t->epoch, tail, fo_now_ms() - t->started);
    if (!k) return;
    query_cache_put(t->m->contexts, t->contexts_key, &k->head, k->bytes, fo_unix_ms());
    t->context = k;
}

/* Would the answer be made of the same again? Chunks are never changed and their numbers never used
 * twice: while a chunk is there, so are those beside it. */
static bool is_of(const cached_answer *k, const cached_contexts *now) {
    const cached_contexts *old = k->contexts;
    if (old->n != now->n || memcmp(old->digest, now->digest, sizeof old->digest) != 0) return false;
    for (size_t i = 0; k->beyond && i < now->n; i++)
        if (old->contexts[i].chunk.id != now->contexts[i].chunk.id) return false;
    return true;
}

bool query_memory_same_contexts(query_lookup *t) {
    t->answer_from = fo_now_ms();
    if (!t->reads || !t->q->generate) return false;
    cached_answer *k = t->stale;
    bool same = k && t->context && is_of(k, t->context) && take_answer(t, k);
    if (same) {
        atomic_fetch_add_explicit(&t->m->revalidated, 1, memory_order_relaxed);
        tally(t, t->m->answers, true, k->answer_ms, tokens_of(&k->r));
    } else {
        t->out->cache.answer = CACHE_MISS;
        tally(t, t->m->answers, false, 0, 0);
    }
    return same;
}

/* What a clock or a client cut short is not kept, nor what was asked for its effect. */
static bool complete(const query_request *q, const query_result *r) {
    return strcmp(r->finish_reason, "timeout") != 0 && strcmp(r->finish_reason, "cancelled") != 0 &&
           !q->prefill_only;
}

void query_memory_end(query_lookup *t, int rc) {
    if (!t->m) return;
    cache_value *shared = NULL;
    if (!rc && t->context && !t->q->generate) {
        shared = cache_value_keep(&t->context->head);
    } else if (!rc && t->context && !t->whole && !t->passing && complete(t->q, t->out)) {
        double now = fo_now_ms();
        double answer_ms = t->answered ? t->answer_ms : now - t->answer_from;
        double cost_ms = t->answered ? t->cost_ms : now - t->started;
        cached_answer *k = cached_answer_make(t->out, t->context, t->epoch, cost_ms, answer_ms);
        if (k) {
            k->beyond = t->beyond;
            query_cache_put(t->m->answers, t->answer_key, &k->head, cached_answer_bytes(k),
                            fo_unix_ms());
        }
        shared = k ? &k->head : NULL;
    }
    if (shared && t->q->generate) query_semantic_keep(t);
    land(t, shared);
    cache_value_drop(shared);
    if (t->stale) cache_value_drop(&t->stale->head);
    if (t->context) cache_value_drop(&t->context->head);
    semantic_question_free(t->semantic);
    *t = (query_lookup){0};
}

/* ---- life ---------------------------------------------------------------------------------- */

int64_t query_memory_budget(int64_t cache_bytes) {
    int64_t bytes = cache_bytes ? cache_bytes : 64 << 20;
    return bytes > 0 ? bytes : 0;
}

int query_memory_create(query_memory **out, service *s, const query_memory_options *opt,
                        fo_err *err) {
    query_memory *m = calloc(1, sizeof *m);
    if (!m) return fo_no_memory(err);
    m->s = s;
    m->hide_text = opt->hide_queries;
    m->primes_per_s = opt->primes_per_s == 0 ? 4 : opt->primes_per_s;
    pthread_mutex_init(&m->mu, NULL);
    fo_cond_init(&m->landed);
    int rc = FO_OK;
    if (asprintf(&m->folder, "%s/hot", s->home) < 0) {
        m->folder = NULL;
        rc = fo_no_memory(err);
    }
    int64_t bytes = query_memory_budget(opt->cache_bytes);
    query_cache_options half = {(size_t)bytes / 2, opt->cache_ttl_ms};
    if (!rc && bytes > 0) rc = query_cache_create(&m->answers, &half, err);
    if (!rc && bytes > 0) rc = query_cache_create(&m->contexts, &half, err);
    if (!rc && bytes > 0 && opt->semantic_threshold > 0)
        rc = semantic_hits_create(&m->semantic, SEMANTIC_QUESTIONS, embedder_dim(s->embedder),
                                  opt->semantic_threshold, err);
    if (rc) return query_memory_free(m), rc;
    *out = m;
    return FO_OK;
}

int query_memory_start(query_memory *m, fo_err *err) {
    store_collection *list = NULL;
    size_t n = 0;
    int rc = store_list_collections(m->s->store, NULL, &list, &n, err);
    for (size_t i = 0; !rc && i < n; i++) query_heat_of(m, list[i].tenant); /* for priming */
    for (size_t i = 0; i < n; i++) store_collection_deinit(&list[i]);
    free(list);
    if (rc) return rc;
    if (pthread_create(&m->upkeep, NULL, query_heat_upkeep, m) != 0)
        return fo_fail(err, FO_ENOMEM, "cannot start a thread");
    m->running = true;
    return FO_OK;
}

void query_memory_stop(query_memory *m) {
    if (!m || !m->running) return;
    atomic_store(&m->ending, true);
    pthread_mutex_lock(&m->mu);
    m->stop = true;
    pthread_cond_broadcast(&m->landed);
    pthread_mutex_unlock(&m->mu);
    pthread_join(m->upkeep, NULL);
    m->running = false;
    query_heat_save(m);
}

void query_memory_free(query_memory *m) {
    if (!m) return;
    query_cache_free(m->answers);
    query_cache_free(m->contexts);
    semantic_hits_free(m->semantic);
    for (tenant_heat *t = m->tenants, *next; t; t = next) {
        next = t->next;
        hot_queries_free(t->hot);
        free(t->name);
        free(t);
    }
    free(m->folder);
    pthread_cond_destroy(&m->landed);
    pthread_mutex_destroy(&m->mu);
    free(m);
}

void service_get_cache_stats(service *s, service_cache_stats *out) {
    *out = (service_cache_stats){0};
    query_memory *m = s->memory;
    if (m->answers) query_cache_get_stats(m->answers, &out->answer);
    if (m->contexts) query_cache_get_stats(m->contexts, &out->retrieval);
    out->coalesced = atomic_load_explicit(&m->coalesced, memory_order_relaxed);
    out->revalidated = atomic_load_explicit(&m->revalidated, memory_order_relaxed);
    out->semantic = atomic_load_explicit(&m->semantic_hits, memory_order_relaxed);
    out->primed = atomic_load_explicit(&m->primed, memory_order_relaxed);
}
