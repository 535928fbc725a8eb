#include "engine/generate/admission.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 20, BUCKET_MS = 50 };

struct admission {
    double max_qps, max_tps; /* immutable */
    pthread_mutex_t mu;
    /* guarded by mu */
    int64_t newest; /* number of the newest bucket: now_ms / BUCKET_MS */
    int64_t queries[BUCKETS], tokens[BUCKETS];
};

int admission_create(admission **out, double max_qps, double max_tps, fo_err *err) {
    admission *a = calloc(1, sizeof *a);
    if (!a) return fo_no_memory(err);
    a->max_qps = max_qps;
    a->max_tps = max_tps;
    pthread_mutex_init(&a->mu, NULL);
    *out = a;
    return FO_OK;
}

void admission_free(admission *a) {
    if (!a) return;
    pthread_mutex_destroy(&a->mu);
    free(a);
}

static void advance(admission *a, int64_t bucket) {
    if (bucket - a->newest >= BUCKETS) {
        memset(a->queries, 0, sizeof a->queries);
        memset(a->tokens, 0, sizeof a->tokens);
        a->newest = bucket;
    }
    while (a->newest < bucket) {
        a->newest++;
        a->queries[a->newest % BUCKETS] = a->tokens[a->newest % BUCKETS] = 0;
    }
}

/* Milliseconds until `more` fits under `limit`, 0: now. */
static int64_t wait_for(const admission *a, const int64_t *counts, int64_t more, double limit) {
    if (limit <= 0) return 0;
    int64_t sum = 0;
    for (int i = 0; i < BUCKETS; i++) sum += counts[i];
    if (sum == 0 || (double)(sum + more) <= limit) return 0;
    for (int i = 1; i <= BUCKETS; i++) { /* the oldest buckets leave first */
        sum -= counts[(a->newest + i) % BUCKETS];
        if (sum == 0 || (double)(sum + more) <= limit) return (int64_t)i * BUCKET_MS;
    }
    return BUCKETS * BUCKET_MS;
}

int admission_ask(admission *a, double now_ms, int64_t n_tokens, int64_t *retry_after_ms,
                  fo_err *err) {
    pthread_mutex_lock(&a->mu);
    advance(a, (int64_t)(now_ms / BUCKET_MS));
    int64_t q = wait_for(a, a->queries, 1, a->max_qps);
    int64_t t = wait_for(a, a->tokens, n_tokens, a->max_tps);
    *retry_after_ms = q > t ? q : t;
    if (*retry_after_ms == 0) {
        a->queries[a->newest % BUCKETS]++;
        a->tokens[a->newest % BUCKETS] += n_tokens;
    }
    pthread_mutex_unlock(&a->mu);
    if (*retry_after_ms == 0) return FO_OK;
    return fo_fail(err, FO_EBUSY, "more than %g %s a second; try again in %lld ms",
                   q > t ? a->max_qps : a->max_tps, q > t ? "queries" : "tokens",
                   (long long)*retry_after_ms);
}

void admission_refund(admission *a, double now_ms, double asked_ms, int64_t n_tokens) {
    pthread_mutex_lock(&a->mu);
    advance(a, (int64_t)(now_ms / BUCKET_MS));
    int64_t asked = (int64_t)(asked_ms / BUCKET_MS);
    if (asked <= a->newest && a->newest - asked < BUCKETS) {
        int64_t *b = &a->tokens[asked % BUCKETS];
        *b -= *b < n_tokens ? *b : n_tokens;
    }
    pthread_mutex_unlock(&a->mu);
}
