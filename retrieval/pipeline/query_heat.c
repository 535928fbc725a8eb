/* How often questions are asked, and the thread that asks the hottest again.
 *
 * Questions outlive the process, so one whose asking ends it would end every later start too. The
 * one that is being primed is therefore named in a file, TENANT.priming, which is removed when it
 * is through: what a start finds in that file is not asked again of itself. */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernels/cond.h"
#include "kernels/clock.h"
#include "kernels/file.h"
#include "kernels/sha256.h"
#include "retrieval/pipeline/query_memory_internal.h"

enum {
    TENANTS_MAX = 256, /* whose questions are counted; each costs the sketch, 0.9 MiB */
    PRIME_DEPTH = 32,  /* hottest questions of a tenant that are kept answered */
    PRIME_LEAST = 2,   /* asked at least so often */
    TICK_MS = 250,     /* of the upkeep thread */
    SAVE_MS = 60000,   /* between two saves of the counts */
};

/* How a hot question was asked, to ask it again; filters, earlier turns, stop strings, penalties and
 * what cuts the choice of tokens apart from top_p are not carried. */
typedef struct recipe {
    uint64_t top_k, max_tokens, max_sentences, seed, ef;
    double alpha, score_threshold, temperature, top_p;
    int32_t mode, fusion, rrf_k, marks, rerank, written; /* marks: strict + 2 short_answer;
                                                            written: order + 4 kv_reuse */
} recipe;
_Static_assert(sizeof(recipe) <= HOT_RECIPE_MAX, "a recipe fits");

static void heat_path(const query_memory *m, const char *tenant, char *out, size_t n) {
    snprintf(out, n, "%s/%s.hot", m->folder, tenant);
}

/* ---- what was being primed ----------------------------------------------------------------- */

static void priming_path(const query_memory *m, const char *tenant, char *out, size_t n) {
    snprintf(out, n, "%s/%s.priming", m->folder, tenant);
}

/* Not synced: it has to outlive the process, not the machine. */
static void priming_begin(query_memory *m, const char *tenant, uint64_t hash) {
    char path[4096];
    if (m->s->read_only || fo_make_dirs(m->folder, NULL) != FO_OK) return;
    heat_path(m, tenant, path, sizeof path);
    if (access(path, F_OK) != 0) query_heat_save(m); /* a folder without it has lost it */
    priming_path(m, tenant, path, sizeof path);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return;
    if (write(fd, &hash, sizeof hash) != (ssize_t)sizeof hash) unlink(path);
    close(fd);
}

static void priming_end(const query_memory *m, const char *tenant) {
    char path[4096];
    if (m->s->read_only) return;
    priming_path(m, tenant, path, sizeof path);
    unlink(path);
}

/* Forget the question in whose priming the last process ended, for good. */
static void forget_unfinished(const query_memory *m, const char *tenant, hot_queries *hot) {
    char path[4096], *data = NULL;
    size_t n = 0;
    uint64_t hash;
    priming_path(m, tenant, path, sizeof path);
    if (fo_file_read(path, 64, &data, &n, NULL) != FO_OK) return;
    if (n == sizeof hash) {
        memcpy(&hash, data, sizeof hash);
        hot_queries_forget(hot, hash);
        heat_path(m, tenant, path, sizeof path);
        if (!m->s->read_only) hot_queries_save(hot, path, NULL);
    }
    free(data);
    priming_end(m, tenant);
}

/* ---- counts -------------------------------------------------------------------------------- */

hot_queries *query_heat_of(query_memory *m, const char *tenant) {
    pthread_mutex_lock(&m->mu);
    tenant_heat *t = m->tenants;
    while (t && strcmp(t->name, tenant) != 0) t = t->next;
    if (!t && m->n_tenants < TENANTS_MAX && (t = calloc(1, sizeof *t))) {
        t->name = strdup(tenant);
        hot_options opt = {.hide_text = m->hide_text};
        if (t->name && hot_queries_create(&t->hot, &opt, NULL) == FO_OK) {
            char path[4096];
            heat_path(m, tenant, path, sizeof path);
            fo_err why = {0}; /* absent or damaged: counting starts anew */
            int rc = hot_queries_load(t->hot, path, &why);
            if (rc == FO_ECORRUPT || rc == FO_EMISMATCH)
                fo_notice(&m->s->notices, "hot_damaged", "%s; questions are counted anew", why.msg);
            else if (rc && access(m->folder, F_OK) == 0)
                fo_notice(&m->s->notices, "hot_missing", "%s; questions are counted anew", why.msg);
            forget_unfinished(m, tenant, t->hot);
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
    query_key_text(&b, name);
    query_key_text(&b, question);
    unsigned char digest[32] = {0};
    uint64_t hash = 0;
    if (!b.failed) fo_sha256_of(digest, b.data, b.len);
    memcpy(&hash, digest, sizeof hash);
    fo_buf_free(&b);
    return hash;
}

uint32_t query_heat_count(query_memory *m, const query_request *q, const char *question) {
    hot_queries *hot = query_heat_of(m, q->tenant);
    uint64_t hash = heat_hash(q->collection, question);
    if (!hot || !hash) return 0;
    if (q->background) return hot_queries_estimate(hot, hash, fo_unix_ms());
    const search_params *p = &q->search;
    recipe r = {q->top_k,
                q->max_tokens,
                q->max_sentences,
                q->seed,
                p->ef,
                p->alpha,
                p->score_threshold,
                q->temperature,
                q->top_p,
                (int32_t)p->mode,
                (int32_t)p->fusion,
                p->rrf_k,
                q->strict + 2 * q->short_answer,
                (int32_t)p->rerank,
                (int32_t)q->order + 4 * (int32_t)q->kv_reuse};
    bool plain = !q->diffusion.asked && !q->sparse.asked && q->sampling_top_k == 0 &&
                 q->min_p == 0 && q->presence_penalty == 0 && q->frequency_penalty == 0 &&
                 (q->repetition_penalty == 0 || q->repetition_penalty == 1);
    bool again = q->generate && !q->filter && !q->sees && q->n_messages == 0 &&
                 q->cache != CACHE_BYPASS && !q->prefill_only && q->n_stop == 0 && plain &&
                 q->answer_by == ANSWER_BY_SERVICE;
    return hot_queries_add(hot, hash, q->collection, q->query, again ? &r : NULL, sizeof r,
                           fo_unix_ms());
}

void query_heat_save(query_memory *m) {
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
    rmdir(m->folder); /* where nothing could be saved: one without files has lost them */
}

/* ---- priming ------------------------------------------------------------------------------- */

/* LATER: what writes answers is busy, or it took too long. ENDED: the service closes. No answer is there then. */
enum primed { PRIMED, PRIME_LATER, PRIME_ENDED };

static enum primed prime(query_memory *m, const char *tenant, const hot_query *h) {
    recipe p;
    memcpy(&p, h->recipe, sizeof p);
    query_request q = {.tenant = tenant,
                       .collection = h->collection,
                       .query = h->query,
                       .top_k = p.top_k,
                       .search = {(enum search_mode)p.mode, (enum fusion_kind)p.fusion, p.alpha,
                                  p.rrf_k, p.ef, (enum rerank_kind)p.rerank, p.score_threshold},
                       .generate = true,
                       .strict = (p.marks & 1) != 0,
                       .short_answer = (p.marks & 2) != 0,
                       .max_tokens = p.max_tokens,
                       .max_sentences = p.max_sentences,
                       .temperature = p.temperature,
                       .top_p = p.top_p,
                       .seed = p.seed,
                       .order = (enum context_order)(p.written & 1),
                       .kv_reuse = (enum generator_reuse)((uint32_t)p.written / 4 % 3),
                       .priority = -100,
                       .cancel = &m->ending,
                       .background = true};
    query_result r;
    const int rc = service_query(m->s, &q, NULL, &r, NULL);
    if (rc == FO_EBUSY || rc == FO_ETIMEOUT) return PRIME_LATER;
    if (rc) return rc == FO_ECANCELLED ? PRIME_ENDED : PRIMED;
    if (r.cache.answer != CACHE_HIT) atomic_fetch_add_explicit(&m->primed, 1, memory_order_relaxed);
    query_result_deinit(&r);
    return PRIMED;
}

/* -1 where the collection is gone. */
static int64_t epoch_of(query_memory *m, const char *tenant, const char *name) {
    if (service_enter(m->s, NULL) != FO_OK) return -1;
    int64_t epoch = collection_epoch(m->s, tenant, name);
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
        priming_begin(m, t->name, h->hash);
        const enum primed done = prime(m, t->name, h);
        priming_end(m, t->name);
        if (done == PRIME_ENDED) break;
        if (done == PRIMED) hot_queries_set_primed(t->hot, h->hash, epoch);
        *allowance -= 1;
    }
    hot_query_list_free(list, n);
}

void query_heat_prime(query_memory *m, double *allowance) {
    pthread_mutex_lock(&m->mu);
    tenant_heat *t = m->tenants; /* nodes are only ever added in front */
    pthread_mutex_unlock(&m->mu);
    for (; t && m->answers; t = t->next) prime_tenant(m, t, allowance);
}

void *query_heat_upkeep(void *arg) {
    query_memory *m = arg;
    setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), 19); /* Linux: of this thread alone */
    double saved = fo_now_ms(), last = saved, allowance = 1;
    pthread_mutex_lock(&m->mu);
    while (!m->stop) {
        double until = fo_now_ms() + TICK_MS;
        while (!m->stop && fo_cond_wait_until(&m->landed, &m->mu, until) == 0) {
        }
        pthread_mutex_unlock(&m->mu);
        double now = fo_now_ms();
        allowance =
            fmin(allowance + m->primes_per_s * (now - last) / 1000, fmax(1, m->primes_per_s));
        last = now;
        if (m->primes_per_s > 0) query_heat_prime(m, &allowance);
        if (now - saved > SAVE_MS) {
            query_heat_save(m);
            saved = now;
        }
        pthread_mutex_lock(&m->mu);
    }
    pthread_mutex_unlock(&m->mu);
    return NULL;
}

uint32_t service_hot_estimate(service *s, const char *tenant, const char *name, const char *query) {
    hot_queries *hot = query_heat_of(s->memory, tenant);
    char *question = hot ? query_normalise(query) : NULL;
    uint32_t n = question ? hot_queries_estimate(hot, heat_hash(name, question), fo_unix_ms()) : 0;
    free(question);
    return n;
}
