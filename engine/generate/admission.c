#include "engine/generate/admission.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 20 };
static const double WINDOW_MS = 1000, LONGEST_WINDOW_MS = 24 * 3600 * 1000.0;

typedef struct window {
    double limit, bucket_ms; /* immutable */
    /* guarded by mu */
    int64_t newest; /* number of the newest bucket: now_ms / bucket_ms */
    int64_t counts[BUCKETS];
} window;

struct admission {
    pthread_mutex_t mu;
    window queries, tokens;
};

/* A limit below one a second is one in a longer window: in a second it would let one through, too. */
static window window_of(double limit) {
    double ms = limit > 0 && limit < 1 ? WINDOW_MS / limit : WINDOW_MS;
    if (ms > LONGEST_WINDOW_MS) ms = LONGEST_WINDOW_MS;
    return (window){.limit = limit, .bucket_ms = ms / BUCKETS};
}

int admission_create(admission **out, double max_qps, double max_tps, fo_err *err) {
    admission *a = calloc(1, sizeof *a);
    if (!a) return fo_no_memory(err);
    a->queries = window_of(max_qps);
    a->tokens = window_of(max_tps);
    pthread_mutex_init(&a->mu, NULL);
    *out = a;
    return FO_OK;
}

void admission_free(admission *a) {
    if (!a) return;
    pthread_mutex_destroy(&a->mu);
    free(a);
}

static int64_t bucket_of(const window *w, double ms) {
    return (int64_t)(ms / w->bucket_ms);
}

static void advance(window *w, double now_ms) {
    int64_t bucket = bucket_of(w, now_ms);
    if (bucket - w->newest >= BUCKETS) {
        memset(w->counts, 0, sizeof w->counts);
        w->newest = bucket;
    }
    while (w->newest < bucket) {
        w->newest++;
        w->counts[w->newest % BUCKETS] = 0;
    }
}

static bool fits(const window *w, int64_t sum, int64_t more) {
    return sum == 0 || (double)(sum + more) * WINDOW_MS <= w->limit * w->bucket_ms * BUCKETS;
}

/* Milliseconds until `more` fits under the limit, 0: now. */
static int64_t wait_for(const window *w, int64_t more) {
    if (w->limit <= 0) return 0;
    int64_t sum = 0;
    for (int i = 0; i < BUCKETS; i++) sum += w->counts[i];
    if (fits(w, sum, more)) return 0;
    int i = 1;
    for (; i < BUCKETS; i++) { /* the oldest buckets leave first */
        sum -= w->counts[(w->newest + i) % BUCKETS];
        if (fits(w, sum, more)) break;
    }
    return (int64_t)(i * w->bucket_ms + .5);
}

int admission_ask(admission *a, double now_ms, int64_t n_tokens, int64_t *retry_after_ms,
                  fo_err *err) {
    pthread_mutex_lock(&a->mu);
    advance(&a->queries, now_ms);
    advance(&a->tokens, now_ms);
    int64_t q = wait_for(&a->queries, 1);
    int64_t t = wait_for(&a->tokens, n_tokens);
    *retry_after_ms = q > t ? q : t;
    if (*retry_after_ms == 0) {
        a->queries.counts[a->queries.newest % BUCKETS]++;
        a->tokens.counts[a->tokens.newest % BUCKETS] += n_tokens;
    }
    pthread_mutex_unlock(&a->mu);
    if (*retry_after_ms == 0) return FO_OK;
    return fo_fail(err, FO_EBUSY, "more than %g %s a second; try again in %lld ms",
                   q > t ? a->queries.limit : a->tokens.limit, q > t ? "queries" : "tokens",
                   (long long)*retry_after_ms);
}

void admission_refund(admission *a, double now_ms, double asked_ms, int64_t n_tokens) {
    pthread_mutex_lock(&a->mu);
    window *w = &a->tokens;
    advance(w, now_ms);
    int64_t asked = bucket_of(w, asked_ms);
    if (asked <= w->newest && w->newest - asked < BUCKETS) {
        int64_t *b = &w->counts[asked % BUCKETS];
        *b -= *b < n_tokens ? *b : n_tokens;
    }
    pthread_mutex_unlock(&a->mu);
}
