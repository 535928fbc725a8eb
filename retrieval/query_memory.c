#include "retrieval/query_memory.h"

#include <math.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utf8proc.h>

#include "kernels/clock.h"
#include "kernels/file.h"

enum {
    TENANTS_MAX = 256,    /* whose questions are counted; each costs the sketch, 0.9 MiB */
    PRIME_DEPTH = 32,     /* hottest questions of a tenant that are kept answered */
    PRIME_LEAST = 2,      /* asked at least so often */
    TICK_MS = 250,        /* of the upkeep thread */
    SAVE_MS = 60000,      /* between two saves of the counts */
    FLIGHT_MAX_MS = 10000 /* a follower computes for itself after that: a leader may be held up by
                             a client that reads slowly */
};

typedef struct kept_contexts {
    cache_value head;
    int64_t epoch;
    unsigned char digest[SHA256_DIGEST_LENGTH]; /* of what the contexts say and where it stands */
    query_context *contexts;
    size_t n, n_collapsed, bytes;
    double tail, cost_ms;
} kept_contexts;

typedef struct kept_answer {
    cache_value head;
    int64_t epoch;
    query_result r; /* without contexts */
    kept_contexts *contexts;
    double cost_ms, answer_ms; /* of the whole query; of the answer alone */
} kept_answer;

/* One computation that others wait for. */
typedef struct flight {
    struct flight *next;
    unsigned char key[QUERY_KEY_BYTES];
    int64_t epoch;
    int refs;
    bool done;
    cache_value *value; /* NULL: it failed, or must not be shared */
} flight;

typedef struct tenant_heat {
    struct tenant_heat *next;
    char *name;
    hot_queries *hot;
} tenant_heat;

struct query_memory {
    /* immutable after create */
    service *s;
    query_cache *answers, *contexts; /* NULL: no caches */
    char *folder;                    /* NULL: counts are not saved */
    bool hide_text;
    double primes_per_s;

    pthread_mutex_t mu;
    pthread_cond_t landed; /* a flight is done, or the upkeep thread shall look up */
    flight *flights;       /* guarded by mu */
    tenant_heat *tenants;  /* guarded by mu; nodes live as long as the memory */
    size_t n_tenants;
    bool stop, running;
    pthread_t upkeep;

    atomic_uint_fast64_t coalesced, revalidated, primed; /* relaxed counters */
};

/* ---- values -------------------------------------------------------------------------------- */

static char *copy(const char *s, bool *ok) {
    if (!s) return NULL;
    char *c = strdup(s);
    *ok = *ok && c;
    return c;
}

static size_t length(const char *s) {
    return s ? strlen(s) + 17 : 0; /* malloc's own included */
}

static bool copy_contexts(const query_context *from, size_t n, query_context **out) {
    query_context *to = calloc(n + 1, sizeof *to);
    if (!to) return false;
    bool ok = true;
    for (size_t i = 0; i < n; i++) {
        to[i] = from[i];
        store_chunk *c = &to[i].chunk;
        const store_chunk *o = &from[i].chunk;
        c->text = malloc(o->text_len + 1);
        ok = ok && c->text;
        if (c->text && o->text) memcpy(c->text, o->text, o->text_len + 1);
        c->heading = copy(o->heading, &ok);
        c->document_id = copy(o->document_id, &ok);
        c->title = copy(o->title, &ok);
        c->uri = copy(o->uri, &ok);
        c->metadata = copy(o->metadata, &ok);
    }
    if (!ok) {
        for (size_t i = 0; i < n; i++) store_chunk_deinit(&to[i].chunk);
        free(to);
        return false;
    }
    *out = to;
    return true;
}

/* The answer part of a result, contexts and cache figures left out. */
static bool copy_answer(const query_result *from, query_result *to) {
    bool ok = true;
    *to = *from;
    to->contexts = NULL;
    to->n_contexts = 0;
    memset(&to->cache, 0, sizeof to->cache);
    to->answer = copy(from->answer ? from->answer : "", &ok);
    to->citations = calloc(from->n_citations + 1, sizeof *to->citations);
    ok = ok && to->citations;
    for (size_t i = 0; to->citations && i < from->n_citations; i++) {
        to->citations[i] = from->citations[i];
        to->citations[i].quote = copy(from->citations[i].quote, &ok);
    }
    if (!to->citations) to->n_citations = 0;
    if (!ok) query_result_deinit(to);
    return ok;
}

static void destroy_contexts(cache_value *v) {
    kept_contexts *k = (kept_contexts *)v;
    for (size_t i = 0; i < k->n; i++) store_chunk_deinit(&k->contexts[i].chunk);
    free(k->contexts);
    free(k);
}

static void destroy_answer(cache_value *v) {
    kept_answer *k = (kept_answer *)v;
    query_result_deinit(&k->r);
    if (k->contexts) cache_value_drop(&k->contexts->head);
    free(k);
}

/* Scores are left out: they move with every document, and say nothing that is cited. */
static void digest_contexts(const query_context *x, size_t n, unsigned char out[]) {
    fo_buf b = {0};
    for (size_t i = 0; i < n; i++) {
        const store_chunk *c = &x[i].chunk;
        const char *texts[] = {c->document_id, c->title, c->uri, c->heading, c->metadata};
        uint64_t at[] = {c->ordinal, c->start, c->end, c->start_cp, c->end_cp, c->text_len};
        fo_buf_add(&b, at, sizeof at);
        fo_buf_add(&b, c->text, c->text_len);
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
            uint64_t len = texts[k] ? strlen(texts[k]) : UINT64_MAX;
            fo_buf_add(&b, &len, sizeof len);
            if (texts[k]) fo_buf_str(&b, texts[k]);
        }
    }
    if (b.failed) /* a digest that equals no other */
        for (size_t i = 0; i < SHA256_DIGEST_LENGTH; i += sizeof(double)) {
            double now = fo_now_ms();
            memcpy(out + i, &now, sizeof now);
        }
    else
        SHA256((const void *)(b.data ? b.data : ""), b.len, out);
    fo_buf_free(&b);
}

static kept_contexts *make_contexts(const query_result *r, int64_t epoch, double tail,
                                    double cost_ms) {
    kept_contexts *k = calloc(1, sizeof *k);
    if (!k || !copy_contexts(r->contexts, r->n_contexts, &k->contexts)) {
        free(k);
        return NULL;
    }
    cache_value_init(&k->head, destroy_contexts);
    k->epoch = epoch;
    k->n = r->n_contexts;
    k->n_collapsed = r->n_collapsed;
    k->tail = tail;
    k->cost_ms = cost_ms;
    k->bytes = sizeof *k;
    for (size_t i = 0; i < k->n; i++) {
        const store_chunk *c = &k->contexts[i].chunk;
        k->bytes += sizeof *k->contexts + c->text_len + 17 + length(c->heading) +
                    length(c->document_id) + length(c->title) + length(c->uri) +
                    length(c->metadata);
    }
    digest_contexts(k->contexts, k->n, k->digest);
    return k;
}

static kept_answer *make_answer(const query_result *r, kept_contexts *contexts, int64_t epoch,
                                double cost_ms, double answer_ms) {
    kept_answer *k = calloc(1, sizeof *k);
    if (!k || !copy_answer(r, &k->r)) {
        free(k);
        return NULL;
    }
    cache_value_init(&k->head, destroy_answer);
    k->epoch = epoch;
    k->contexts = cache_value_keep(&contexts->head);
    k->cost_ms = cost_ms;
    k->answer_ms = answer_ms;
    return k;
}

static size_t answer_bytes(const kept_answer *k) {
    size_t n = sizeof *k + length(k->r.answer) + k->contexts->bytes;
    for (size_t i = 0; i < k->r.n_citations; i++)
        n += sizeof *k->r.citations + length(k->r.citations[i].quote);
    return n;
}

/* ---- keys ---------------------------------------------------------------------------------- */

/* NFKC, case-folded, runs of white space one blank, none at the ends. Caller frees. */
static char *normalise(const char *text) {
    utf8proc_uint8_t *folded = NULL;
    bool ascii = true;
    for (const char *p = text; *p && ascii; p++) ascii = (unsigned char)*p < 0x80;
    if (!ascii)
        utf8proc_map((const utf8proc_uint8_t *)text, 0, &folded,
                     UTF8PROC_NULLTERM | UTF8PROC_STABLE | UTF8PROC_COMPAT | UTF8PROC_COMPOSE |
                         UTF8PROC_CASEFOLD);
    char *out = folded ? (char *)folded : strdup(text);
    if (!out) return NULL;
    size_t n = 0;
    bool blank = false;
    for (const char *p = out; *p; p++) {
        char ch = *p;
        if (ch == ' ' || (ch >= '\t' && ch <= '\r')) {
            blank = n > 0;
            continue;
        }
        if (blank) out[n++] = ' ';
        blank = false;
        out[n++] = ch >= 'A' && ch <= 'Z' ? (char)(ch + 32) : ch;
    }
    out[n] = 0;
    return out;
}

static void key_text(fo_buf *b, const char *s) {
    uint64_t n = s ? strlen(s) : UINT64_MAX;
    fo_buf_add(b, &n, sizeof n);
    if (s) fo_buf_str(b, s);
}

static void key_int(fo_buf *b, uint64_t v) {
    fo_buf_add(b, &v, sizeof v);
}

static void key_number(fo_buf *b, double v) {
    fo_buf_add(b, &v, sizeof v);
}

/* Generator and reranker have no part in the keys: they are the same as long as the service is
 * open, and nothing kept outlives it. */
static bool make_keys(query_turn *t, const collection *c, double alpha, const char *question) {
    const query_request *q = t->q;
    const search_params *p = &q->search;
    fo_buf b = {0};
    key_text(&b, "forage query 1");
    key_text(&b, q->tenant);
    key_int(&b, (uint64_t)c->id);
    key_int(&b, (uint64_t)c->edition * 2 + c->foreign_vectors);
    key_text(&b, embedder_fingerprint(t->m->s->embedder));
    key_text(&b, question);
    key_int(&b, q->n_messages);
    for (size_t i = 0; i < q->n_messages; i++) {
        key_text(&b, q->messages[i].role);
        key_text(&b, q->messages[i].content);
    }
    key_int(&b, q->top_k ? q->top_k : 8);
    key_int(&b, q->generate); /* near-duplicates are collapsed for an answer alone */
    key_int(&b, p->mode);
    key_int(&b, p->fusion);
    key_number(&b, alpha);
    key_int(&b, p->rrf_k ? (uint64_t)p->rrf_k : 60);
    key_int(&b, p->ef);
    key_int(&b, p->rerank);
    key_number(&b, p->score_threshold);
    if (q->filter) search_filter_write(q->filter, &b);
    if (!b.failed) SHA256((const void *)b.data, b.len, t->contexts_key);
    key_text(&b, "answer: extractive 1");
    key_int(&b, q->strict);
    key_int(&b, q->max_tokens ? q->max_tokens : 256);
    key_int(&b, q->max_sentences ? q->max_sentences : 3);
    key_number(&b, q->temperature);
    key_number(&b, q->top_p);
    key_int(&b, q->seed);
    if (!b.failed) SHA256((const void *)b.data, b.len, t->answer_key);
    bool ok = !b.failed;
    fo_buf_free(&b);
    return ok;
}

/* ---- counts -------------------------------------------------------------------------------- */

/* How a hot question was asked, to ask it again; filters and earlier turns are not carried. */
typedef struct recipe {
    uint64_t top_k, max_tokens, max_sentences, seed, ef;
    double alpha, score_threshold, temperature, top_p;
    int32_t mode, fusion, rrf_k, strict, rerank, zero;
} recipe;
_Static_assert(sizeof(recipe) <= HOT_RECIPE_MAX, "a recipe fits");

static void heat_path(const query_memory *m, const char *tenant, char *out, size_t n) {
    snprintf(out, n, "%s/%s.hot", m->folder, tenant);
}

static hot_queries *heat_of(query_memory *m, const char *tenant) {
    pthread_mutex_lock(&m->mu);
    tenant_heat *t = m->tenants;
    while (t && strcmp(t->name, tenant) != 0) t = t->next;
    if (!t && m->n_tenants < TENANTS_MAX && (t = calloc(1, sizeof *t))) {
        t->name = strdup(tenant);
        hot_options opt = {.hide_text = m->hide_text};
        if (t->name && hot_queries_create(&t->hot, &opt, NULL) == FO_OK) {
            char path[4096];
            heat_path(m, tenant, path, sizeof path);
            hot_queries_load(t->hot, path, NULL); /* absent or damaged: counting starts anew */
            t->next = m->tenants;
            m->tenants = t;
            m->n_tenants++;
        } else {
            free(t->name);
            free(t);
            t = NULL;
        }
    }
    pthread_mutex_unlock(&m->mu);
    return t ? t->hot : NULL;
}

/* Of what makes two questions one in the counts; 0 where memory ran out. */
static uint64_t heat_hash(const char *name, const char *question) {
    fo_buf b = {0};
    key_text(&b, name);
    key_text(&b, question);
    unsigned char digest[SHA256_DIGEST_LENGTH] = {0};
    uint64_t hash = 0;
    if (!b.failed) SHA256((const void *)b.data, b.len, digest);
    memcpy(&hash, digest, sizeof hash);
    fo_buf_free(&b);
    return hash;
}

static uint32_t count(query_memory *m, const query_request *q, const char *question) {
    hot_queries *hot = heat_of(m, q->tenant);
    uint64_t hash = heat_hash(q->collection, question);
    if (!hot || !hash) return 0;
    if (q->background) return hot_queries_estimate(hot, hash);
    const search_params *p = &q->search;
    recipe r = {
        q->top_k,           q->max_tokens,      q->max_sentences, q->seed,   p->ef,
        p->alpha,           p->score_threshold, q->temperature,   q->top_p,  (int32_t)p->mode,
        (int32_t)p->fusion, p->rrf_k,           q->strict,        p->rerank, 0};
    bool again = q->generate && !q->filter && q->n_messages == 0 && q->cache != CACHE_BYPASS;
    return hot_queries_add(hot, hash, q->collection, q->query, again ? &r : NULL, sizeof r,
                           fo_unix_ms());
}

/* ---- single flight ------------------------------------------------------------------------- */

/* The lock is held. */
static void flight_drop(flight *f) {
    if (--f->refs) return;
    cache_value_drop(f->value);
    free(f);
}

/* Lead (t->flight is set, *value NULL), or wait for who does and take what it found. */
static int fly(query_turn *t, cache_value **value, fo_err *err) {
    query_memory *m = t->m;
    const query_request *q = t->q;
    const unsigned char *key = q->generate ? t->answer_key : t->contexts_key;
    double limit = q->timeout_ms > 0 ? q->timeout_ms : 60000;
    int rc = FO_OK;
    pthread_mutex_lock(&m->mu);
    while (rc == FO_OK && !*value && !t->flight) {
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
        while (rc == FO_OK && !f->done) {
            struct timespec until; /* looks up now and then: a client may have gone */
            clock_gettime(CLOCK_REALTIME, &until);
            until.tv_nsec += 20 * 1000000;
            until.tv_sec += until.tv_nsec / 1000000000;
            until.tv_nsec %= 1000000000;
            pthread_cond_timedwait(&m->landed, &m->mu, &until);
            waited = fo_now_ms() - t->started;
            if (q->cancel && atomic_load(q->cancel))
                rc = fo_fail(err, FO_ECANCELLED, "cancelled by the client");
            else if (waited > limit)
                rc = fo_fail(err, FO_ETIMEOUT, "no answer within timeout_ms = %.0f", limit);
            else if (!f->done && waited > FLIGHT_MAX_MS)
                break;
        }
        bool late = !f->done;
        if (rc == FO_OK && f->value) *value = cache_value_keep(f->value);
        flight_drop(f);
        if (late) break;
    }
    pthread_mutex_unlock(&m->mu);
    if (*value) atomic_fetch_add_explicit(&m->coalesced, 1, memory_order_relaxed);
    return rc;
}

static void land(query_turn *t, cache_value *value) {
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
static void tally(query_turn *t, query_cache *c, bool hit, double ms, size_t tokens) {
    if (t->q->background) return;
    query_cache_count(c, hit, ms, tokens);
    t->out->cache.saved_ms += ms;
    t->out->cache.saved_tokens += tokens;
}

int query_memory_begin(query_memory *m, query_turn *t, const query_request *q, const collection *c,
                       int64_t epoch, double alpha, query_result *out, fo_err *err) {
    *t = (query_turn){.q = q, .out = out, .epoch = epoch, .started = fo_now_ms()};
    const char *asked = q->query        ? q->query
                        : q->n_messages ? q->messages[q->n_messages - 1].content
                                        : "";
    char *question = normalise(asked);
    if (!question) return fo_fail(err, FO_ENOMEM, "out of memory");
    out->cache.hot_estimate = count(m, q, question);
    int rc = FO_OK;
    if (m->answers && q->cache != CACHE_BYPASS) {
        t->m = m;
        t->reads = q->cache == CACHE_DEFAULT;
        if (!make_keys(t, c, alpha, question)) rc = fo_fail(err, FO_ENOMEM, "out of memory");
    }
    free(question);
    return rc;
}

static bool take_contexts(query_turn *t, kept_contexts *k) {
    query_result *out = t->out;
    if (!copy_contexts(k->contexts, k->n, &out->contexts)) return false;
    out->n_contexts = k->n;
    out->n_collapsed = k->n_collapsed;
    t->context = cache_value_keep(&k->head);
    return true;
}

/* Fill the answer part of *out from k, keeping what belongs to this query. */
static bool take_answer(query_turn *t, const kept_answer *k) {
    query_result *out = t->out, fresh;
    if (!copy_answer(&k->r, &fresh)) return false;
    fresh.contexts = out->contexts;
    fresh.n_contexts = out->n_contexts;
    fresh.n_collapsed = out->n_collapsed;
    fresh.epoch = t->epoch;
    fresh.cache = out->cache;
    fresh.ms = out->ms;
    fresh.usage.cached_tokens = fresh.usage.prompt_tokens;
    free(out->answer);
    *out = fresh;
    out->cache.answer = CACHE_HIT;
    t->answered = true;
    t->cost_ms = k->cost_ms;
    t->answer_ms = k->answer_ms;
    return true;
}

static size_t tokens_of(const query_result *r) {
    return r->usage.prompt_tokens + r->usage.completion_tokens;
}

static bool serve_answer(query_turn *t, kept_answer *k) {
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

int query_memory_answer(query_turn *t, bool *found, fo_err *err) {
    *found = false;
    if (!t->reads) return FO_OK;
    query_memory *m = t->m;
    bool answers = t->q->generate;
    cache_value *v = answers ? query_cache_get(m->answers, t->answer_key, fo_unix_ms()) : NULL;
    if (v && ((kept_answer *)v)->epoch == t->epoch) {
        *found = serve_answer(t, (kept_answer *)v);
        cache_value_drop(v);
        return FO_OK;
    }
    t->stale = (kept_answer *)v;
    v = NULL;
    /* Users never wait for the low-priority thread that primes. */
    int rc = t->q->background ? FO_OK : fly(t, &v, err);
    if (rc == FO_OK && !v && t->flight && answers) {
        /* Who led before may have landed between our look-up and our lead. */
        v = query_cache_get(m->answers, t->answer_key, fo_unix_ms());
        if (v && ((kept_answer *)v)->epoch != t->epoch) {
            cache_value_drop(v);
            v = NULL;
        }
        if (v) land(t, v);
    }
    if (v) {
        if (answers)
            *found = serve_answer(t, (kept_answer *)v);
        else if ((*found = take_contexts(t, (kept_contexts *)v))) {
            t->out->cache.retrieval = CACHE_HIT;
            t->answered = true;
            tally(t, m->contexts, true, ((kept_contexts *)v)->cost_ms, 0);
        }
        cache_value_drop(v);
    }
    return rc;
}

bool query_memory_contexts(query_turn *t, double *tail) {
    if (!t->reads) return false;
    cache_value *v = query_cache_get(t->m->contexts, t->contexts_key, fo_unix_ms());
    kept_contexts *k = (kept_contexts *)v;
    bool hit = k && k->epoch == t->epoch && take_contexts(t, k);
    if (hit) *tail = k->tail;
    t->out->cache.retrieval = hit ? CACHE_HIT : CACHE_MISS;
    tally(t, t->m->contexts, hit, hit ? k->cost_ms : 0, 0);
    cache_value_drop(v);
    return hit;
}

void query_memory_keep_contexts(query_turn *t, double tail) {
    if (!t->m) return;
    kept_contexts *k = make_contexts(t->out, t->epoch, tail, fo_now_ms() - t->started);
    if (!k) return;
    query_cache_put(t->m->contexts, t->contexts_key, &k->head, k->bytes, fo_unix_ms());
    t->context = k;
}

bool query_memory_same_contexts(query_turn *t) {
    t->answer_from = fo_now_ms();
    if (!t->reads || !t->q->generate) return false;
    kept_answer *k = t->stale;
    bool same = k && t->context &&
                memcmp(k->contexts->digest, t->context->digest, sizeof k->contexts->digest) == 0 &&
                take_answer(t, k);
    if (same) {
        atomic_fetch_add_explicit(&t->m->revalidated, 1, memory_order_relaxed);
        tally(t, t->m->answers, true, k->answer_ms, tokens_of(&k->r));
    } else {
        t->out->cache.answer = CACHE_MISS;
        tally(t, t->m->answers, false, 0, 0);
    }
    return same;
}

/* What a clock or a client cut short is not kept. */
static bool complete(const query_result *r) {
    return strcmp(r->finish_reason, "timeout") != 0 && strcmp(r->finish_reason, "cancelled") != 0;
}

void query_memory_end(query_turn *t, int rc) {
    if (!t->m) return;
    cache_value *shared = NULL;
    if (rc == FO_OK && t->context && !t->q->generate) {
        shared = cache_value_keep(&t->context->head);
    } else if (rc == FO_OK && t->context && !t->whole && complete(t->out)) {
        double now = fo_now_ms();
        double answer_ms = t->answered ? t->answer_ms : now - t->answer_from;
        double cost_ms = t->answered ? t->cost_ms : now - t->started;
        kept_answer *k = make_answer(t->out, t->context, t->epoch, cost_ms, answer_ms);
        if (k)
            query_cache_put(t->m->answers, t->answer_key, &k->head, answer_bytes(k), fo_unix_ms());
        shared = k ? &k->head : NULL;
    }
    land(t, shared);
    cache_value_drop(shared);
    if (t->stale) cache_value_drop(&t->stale->head);
    if (t->context) cache_value_drop(&t->context->head);
    *t = (query_turn){0};
}

/* ---- upkeep -------------------------------------------------------------------------------- */

static void save_all(query_memory *m) {
    if (!m->folder || m->s->read_only) return;
    pthread_mutex_lock(&m->mu);
    tenant_heat *t = m->tenants; /* nodes are only ever added in front */
    pthread_mutex_unlock(&m->mu);
    if (!t || fo_make_dirs(m->folder, NULL) != FO_OK) return;
    for (; t; t = t->next) {
        char path[4096];
        heat_path(m, t->name, path, sizeof path);
        hot_queries_save(t->hot, path, NULL); /* a full disk costs counts, no answers */
    }
}

static void prime(query_memory *m, const char *tenant, const hot_query *h) {
    recipe p;
    memcpy(&p, h->recipe, sizeof p);
    query_request q = {.tenant = tenant,
                       .collection = h->collection,
                       .query = h->query,
                       .top_k = p.top_k,
                       .search = {(enum search_mode)p.mode, (enum fusion_kind)p.fusion, p.alpha,
                                  p.rrf_k, p.ef, p.rerank != 0, p.score_threshold},
                       .generate = true,
                       .strict = p.strict != 0,
                       .max_tokens = p.max_tokens,
                       .max_sentences = p.max_sentences,
                       .temperature = p.temperature,
                       .top_p = p.top_p,
                       .seed = p.seed,
                       .background = true};
    query_result r;
    if (service_query(m->s, &q, NULL, &r, NULL) != FO_OK) return;
    if (r.cache.answer != CACHE_HIT) atomic_fetch_add_explicit(&m->primed, 1, memory_order_relaxed);
    query_result_deinit(&r);
}

/* -1 where the collection is gone. */
static int64_t epoch_of(query_memory *m, const char *tenant, const char *name) {
    collection *c;
    if (service_enter(m->s, NULL) != FO_OK) return -1;
    int64_t epoch = -1;
    if (collection_acquire(m->s, tenant, name, &c, NULL) == FO_OK) {
        search_snapshot *snapshot = search_index_acquire(c->index);
        epoch = search_snapshot_epoch(snapshot);
        search_index_release(snapshot);
        collection_release(m->s, c);
    }
    service_leave(m->s);
    return epoch;
}

static bool stopping(query_memory *m) {
    pthread_mutex_lock(&m->mu);
    bool stop = m->stop;
    pthread_mutex_unlock(&m->mu);
    return stop;
}

/* Ask the hottest whose collection has moved since they were asked last; *allowance is what the
 * rate limit leaves. */
static void prime_tenant(query_memory *m, tenant_heat *t, double *allowance) {
    hot_query *list = NULL;
    size_t n = 0;
    if (hot_queries_list(t->hot, PRIME_DEPTH, &list, &n, NULL) != FO_OK) return;
    for (size_t i = 0; i < n && *allowance >= 1 && !stopping(m); i++) {
        const hot_query *h = &list[i];
        if (!h->query || h->n_recipe != sizeof(recipe) || h->estimate < PRIME_LEAST) continue;
        int64_t epoch = epoch_of(m, t->name, h->collection);
        if (epoch < 0 || epoch == h->primed_epoch) continue;
        prime(m, t->name, h);
        hot_queries_set_primed(t->hot, h->hash, epoch);
        *allowance -= 1;
    }
    hot_query_list_free(list, n);
}

static void *upkeep(void *arg) {
    query_memory *m = arg;
    setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), 19); /* Linux: of this thread alone */
    double saved = fo_now_ms(), last = saved, allowance = 1;
    pthread_mutex_lock(&m->mu);
    while (!m->stop) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += TICK_MS * 1000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        while (!m->stop && pthread_cond_timedwait(&m->landed, &m->mu, &until) == 0) {
        }
        tenant_heat *tenants = m->tenants;
        pthread_mutex_unlock(&m->mu);
        double now = fo_now_ms();
        allowance =
            fmin(allowance + m->primes_per_s * (now - last) / 1000, fmax(1, m->primes_per_s));
        last = now;
        for (tenant_heat *t = tenants; t && m->answers && m->primes_per_s > 0; t = t->next)
            prime_tenant(m, t, &allowance);
        if (now - saved > SAVE_MS) {
            save_all(m);
            saved = now;
        }
        pthread_mutex_lock(&m->mu);
    }
    pthread_mutex_unlock(&m->mu);
    return NULL;
}

/* ---- life ---------------------------------------------------------------------------------- */

int query_memory_create(query_memory **out, service *s, const service_options *opt, fo_err *err) {
    query_memory *m = calloc(1, sizeof *m);
    if (!m) return fo_fail(err, FO_ENOMEM, "out of memory");
    m->s = s;
    m->hide_text = opt->hide_queries;
    m->primes_per_s = opt->primes_per_s == 0 ? 4 : opt->primes_per_s;
    pthread_mutex_init(&m->mu, NULL);
    pthread_cond_init(&m->landed, NULL);
    int rc = FO_OK;
    if (asprintf(&m->folder, "%s/hot", s->home) < 0) {
        m->folder = NULL;
        rc = fo_fail(err, FO_ENOMEM, "out of memory");
    }
    int64_t bytes = opt->cache_bytes ? opt->cache_bytes : 64 << 20;
    query_cache_options half = {bytes > 0 ? (size_t)bytes / 2 : 0, opt->cache_ttl_ms};
    if (rc == FO_OK && bytes > 0) rc = query_cache_create(&m->answers, &half, err);
    if (rc == FO_OK && bytes > 0) rc = query_cache_create(&m->contexts, &half, err);
    if (rc != FO_OK) return query_memory_free(m), rc;
    *out = m;
    return FO_OK;
}

int query_memory_start(query_memory *m, fo_err *err) {
    store_collection *list = NULL;
    size_t n = 0;
    int rc = store_list_collections(m->s->store, NULL, &list, &n, err);
    for (size_t i = 0; rc == FO_OK && i < n; i++) heat_of(m, list[i].tenant); /* for priming */
    for (size_t i = 0; i < n; i++) store_collection_deinit(&list[i]);
    free(list);
    if (rc != FO_OK) return rc;
    if (pthread_create(&m->upkeep, NULL, upkeep, m) != 0)
        return fo_fail(err, FO_ENOMEM, "cannot start a thread");
    m->running = true;
    return FO_OK;
}

void query_memory_stop(query_memory *m) {
    if (!m || !m->running) return;
    pthread_mutex_lock(&m->mu);
    m->stop = true;
    pthread_cond_broadcast(&m->landed);
    pthread_mutex_unlock(&m->mu);
    pthread_join(m->upkeep, NULL);
    m->running = false;
    save_all(m);
}

void query_memory_free(query_memory *m) {
    if (!m) return;
    query_cache_free(m->answers);
    query_cache_free(m->contexts);
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
    out->primed = atomic_load_explicit(&m->primed, memory_order_relaxed);
}

int service_hot_queries(service *s, const char *tenant, size_t limit, hot_query **out, size_t *n,
                        fo_err *err) {
    hot_queries *hot = heat_of(s->memory, tenant);
    *out = NULL;
    *n = 0;
    return hot ? hot_queries_list(hot, limit, out, n, err) : FO_OK;
}

uint32_t service_hot_estimate(service *s, const char *tenant, const char *name, const char *query) {
    hot_queries *hot = heat_of(s->memory, tenant);
    char *question = hot ? normalise(query) : NULL;
    uint32_t n = question ? hot_queries_estimate(hot, heat_hash(name, question)) : 0;
    free(question);
    return n;
}
