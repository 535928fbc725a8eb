#include "engine/generate/sampler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct candidate {
    int32_t token;
    float logit;
} candidate;

struct sampler {
    int32_t n_vocab;
    float *logits;    /* [n_vocab] after bias and penalties */
    candidate *heap;  /* [n_vocab] */
    uint16_t *counts; /* [n_vocab] occurrences in the window; all zero between calls */
};

sampler_params sampler_params_default(void) {
    return (sampler_params){.top_p = 1, .repetition = 1};
}

static int in_range(const char *field, double v, double lo, double hi, fo_err *err) {
    if (v >= lo && v <= hi) return FO_OK;
    return fo_fail_field(err, FO_EINVAL, field, "%s must be between %g and %g", field, lo, hi);
}

int sampler_params_check(const sampler_params *p, int32_t n_vocab, fo_err *err) {
    int rc = in_range("temperature", (double)p->temperature, 0, 2, err);
    if (!rc) rc = in_range("top_k", p->top_k, 0, INT32_MAX, err);
    if (!rc) rc = in_range("top_p", (double)p->top_p, 0, 1, err);
    if (!rc) rc = in_range("min_p", (double)p->min_p, 0, 1, err);
    if (!rc) rc = in_range("repetition_penalty", (double)p->repetition, .01, 10, err);
    if (!rc) rc = in_range("presence_penalty", (double)p->presence, -2, 2, err);
    if (!rc) rc = in_range("frequency_penalty", (double)p->frequency, -2, 2, err);
    for (size_t i = 0; !rc && i < p->n_bias; i++) {
        if (p->bias[i].token < 0 || p->bias[i].token >= n_vocab)
            rc = fo_fail_field(err, FO_EINVAL, "logit_bias", "logit_bias names token %d of %d",
                               p->bias[i].token, n_vocab);
        else if (isnan(p->bias[i].bias))
            rc = fo_fail_field(err, FO_EINVAL, "logit_bias", "logit_bias is not a number");
    }
    return rc;
}

int sampler_create(sampler **out, int32_t n_vocab, fo_err *err) {
    sampler *s = calloc(1, sizeof *s);
    size_t n = (size_t)(n_vocab > 0 ? n_vocab : 1);
    if (s) {
        s->n_vocab = n_vocab;
        s->logits = malloc(n * sizeof *s->logits);
        s->heap = malloc(n * sizeof *s->heap);
        s->counts = calloc(n, sizeof *s->counts);
    }
    if (!s || !s->logits || !s->heap || !s->counts) {
        sampler_free(s);
        return fo_no_memory(err);
    }
    *out = s;
    return FO_OK;
}

void sampler_free(sampler *s) {
    if (!s) return;
    free(s->logits);
    free(s->heap);
    free(s->counts);
    free(s);
}

static void penalize(sampler *s, const sampler_params *p, const int32_t *history, size_t n) {
    if (p->repetition == 1 && p->presence == 0 && p->frequency == 0) return;
    size_t window = p->penalty_window < 0    ? n
                    : p->penalty_window == 0 ? 256
                                             : (size_t)p->penalty_window;
    const int32_t *from = history + (n > window ? n - window : 0), *end = history + n;
    for (const int32_t *t = from; t < end; t++)
        if (*t >= 0 && *t < s->n_vocab && s->counts[*t] < UINT16_MAX) s->counts[*t]++;
    for (const int32_t *t = from; t < end; t++) {
        if (*t < 0 || *t >= s->n_vocab || !s->counts[*t]) continue; /* each token once */
        float *l = &s->logits[*t];
        *l = *l > 0 ? *l / p->repetition : *l * p->repetition;
        *l -= p->presence + p->frequency * (float)s->counts[*t];
        s->counts[*t] = 0;
    }
}

static bool better(const candidate *x, const candidate *y) {
    return x->logit != y->logit ? x->logit > y->logit : x->token < y->token;
}

/* A heap of candidates, the best on top: few of them are ever asked for, so that no order has to be
 * made of the rest. (qsort would also allocate.) */
static void sift(candidate *h, size_t n, size_t at) {
    candidate c = h[at];
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && better(&h[child + 1], &h[child])) child++;
        if (!better(&h[child], &c)) break;
        h[at] = h[child];
    }
    h[at] = c;
}

/* Move the best of heap h[0..n) behind the heap, to h[n - 1]. */
static candidate pop_best(candidate *h, size_t n) {
    candidate top = h[0];
    h[0] = h[n - 1];
    h[n - 1] = top;
    sift(h, n - 1, 0);
    return top;
}

static uint64_t mix(uint64_t z) { /* splitmix64's finaliser */
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* Uniform in [0, 1) out of seed and position. The seed is mixed first: an arithmetic progression
 * of another step through one finaliser alone was measurably uneven. */
static double draw(uint64_t seed, uint64_t position) {
    uint64_t z = mix(mix(seed + 0x9E3779B97F4A7C15u) + (position + 1) * 0x9E3779B97F4A7C15u);
    return (double)(z >> 11) * 0x1p-53;
}

static int32_t argmax(const float *x, int32_t n) {
    int32_t best = -1;
    for (int32_t i = 0; i < n; i++)
        if (x[i] > -INFINITY && (best < 0 || x[i] > x[best])) best = i;
    return best;
}

/* Tokens within `reach` of the best that are allowed, as a heap. What lies further below has, all
 * together, less than n_vocab * exp(-reach) of the best one's probability. */
static size_t collect(sampler *s, float best, float reach, sampler_allow_fn *allow, void *ctx) {
    size_t n = 0;
    for (int32_t i = 0; i < s->n_vocab; i++)
        if (s->logits[i] >= best - reach && (!allow || allow(ctx, i)))
            s->heap[n++] = (candidate){i, s->logits[i]};
    for (size_t i = n / 2; i-- > 0;) sift(s->heap, n, i);
    return n;
}

static int32_t pick_greedy(sampler *s, sampler_allow_fn *allow, void *ctx) {
    int32_t top = argmax(s->logits, s->n_vocab);
    while (allow && top >= 0 && !allow(ctx, top)) {
        s->logits[top] = -INFINITY;
        top = argmax(s->logits, s->n_vocab);
    }
    return top < 0 ? 0 : top;
}

int32_t sampler_pick(sampler *s, const sampler_params *p, const float *logits,
                     const int32_t *history, size_t n_history, uint64_t position,
                     sampler_allow_fn *allow, void *allow_ctx) {
    memcpy(s->logits, logits, (size_t)s->n_vocab * sizeof *logits);
    for (size_t i = 0; i < p->n_bias; i++) s->logits[p->bias[i].token] += p->bias[i].bias;
    penalize(s, p, history, n_history);
    if (p->temperature <= 0) return pick_greedy(s, allow, allow_ctx);
    int32_t top = argmax(s->logits, s->n_vocab);
    if (top < 0) return 0;
    size_t n = collect(s, s->logits[top], 40 * p->temperature, allow, allow_ctx);
    if (n == 0) return pick_greedy(s, allow, allow_ctx);
    double best = (double)s->heap[0].logit, t = (double)p->temperature, total = 0;
    bool top_k = p->top_k > 0 && n > (size_t)p->top_k;
    size_t most = top_k ? (size_t)p->top_k : n;
    candidate *end = s->heap + n; /* the best ones stand before it in turn: end[-1], end[-2], ... */
    size_t taken = 0;
    if (top_k)
        for (; taken < most; taken++)
            total += exp(((double)pop_best(s->heap, n - taken).logit - best) / t);
    else
        for (size_t i = 0; i < n; i++) total += exp(((double)s->heap[i].logit - best) / t);
    double sum = 0;
    size_t keep = 0;
    for (; keep < most; keep++) {
        /* Sorted only as far as the nucleus reaches. */
        if (keep && sum >= (double)p->top_p * total) break;
        if (keep == taken) pop_best(s->heap, n - taken++);
        double w = exp(((double)end[-1 - (ptrdiff_t)keep].logit - best) / t);
        if (keep && w < (double)p->min_p) break;
        sum += w;
    }
    double at = draw(p->seed, position) * sum;
    for (size_t i = 0; i < keep; i++) {
        const candidate *c = end - 1 - i;
        at -= exp(((double)c->logit - best) / t);
        if (at < 0) return c->token;
    }
    return end[-(ptrdiff_t)keep].token;
}

size_t sampler_logprobs(sampler *s, const float *logits, int32_t token, float *logprob,
                        sampler_logprob *top, size_t n_top) {
    int32_t best = argmax(logits, s->n_vocab);
    if (best < 0) {
        *logprob = -INFINITY;
        return 0;
    }
    double sum = 0;
    for (int32_t i = 0; i < s->n_vocab; i++)
        if (logits[i] > -INFINITY) sum += exp((double)(logits[i] - logits[best]));
    double norm = (double)logits[best] + log(sum);
    *logprob = (float)((double)logits[token] - norm);
    size_t n = 0; /* insertion into a short list: n_top is at most 20 in the API */
    for (int32_t i = 0; n_top && i < s->n_vocab; i++) {
        float lp = (float)((double)logits[i] - norm);
        if (n == n_top && !(lp > top[n - 1].logprob)) continue;
        size_t at = n < n_top ? n++ : n - 1;
        for (; at && lp > top[at - 1].logprob; at--) top[at] = top[at - 1];
        top[at] = (sampler_logprob){i, lp};
    }
    return n;
}
