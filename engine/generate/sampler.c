#include "engine/generate/sampler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/splitmix.h"

typedef struct candidate {
    int32_t token;
    float logit;
} candidate;

struct sampler {
    int32_t n_vocab;
    float *logits;    /* [n_vocab] after bias and penalties */
    candidate *heap;  /* [n_vocab] */
    candidate *kept;  /* [n_vocab] of the heap those that are allowed */
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
        s->kept = malloc(n * sizeof *s->kept);
        s->counts = calloc(n, sizeof *s->counts);
    }
    if (!s || !s->logits || !s->heap || !s->kept || !s->counts) {
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
    free(s->kept);
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

/* Uniform in [0, 1) out of seed and position. The seed is mixed first: an arithmetic progression
 * of another step through one finaliser alone was measurably uneven. */
static double draw(uint64_t seed, uint64_t position) {
    uint64_t z = fo_mix64(fo_mix64(seed + FO_SPLITMIX_STEP) + (position + 1) * FO_SPLITMIX_STEP);
    return fo_uniform(z);
}

static int32_t argmax(const float *x, int32_t n) {
    int32_t best = -1;
    for (int32_t i = 0; i < n; i++)
        if (x[i] > -INFINITY && (best < 0 || x[i] > x[best])) best = i;
    return best;
}

/* Tokens within `reach` of the best, as a heap. What lies further below has, all together, less than
 * n_vocab * exp(-reach) of the best one's probability. */
static size_t collect(sampler *s, float best, float reach) {
    size_t n = 0;
    for (int32_t i = 0; i < s->n_vocab; i++)
        if (s->logits[i] > -INFINITY && s->logits[i] >= best - reach)
            s->heap[n++] = (candidate){i, s->logits[i]};
    for (size_t i = n / 2; i-- > 0;) sift(s->heap, n, i);
    return n;
}

/* ---- under a rule ---------------------------------------------------------------------------- */

typedef struct ruled {
    sampler *s;
    const sampler_params *p;
    uint64_t position;
    sampler_allow_fn *allow;
    void *ctx;
} ruled;

/* The best token that is allowed; .token -1: there is none. */
static candidate best_allowed(const ruled *r) {
    int32_t top = argmax(r->s->logits, r->s->n_vocab);
    if (top < 0) return (candidate){-1, 0};
    if (r->allow(r->ctx, top)) return (candidate){top, r->s->logits[top]};
    for (size_t n = collect(r->s, 0, INFINITY); n; n--) {
        candidate c = pop_best(r->s->heap, n);
        if (c.token != top && r->allow(r->ctx, c.token)) return c;
    }
    return (candidate){-1, 0};
}

static double weight(const ruled *r, candidate c, float best) {
    return exp(((double)c.logit - (double)best) / (double)r->p->temperature);
}

static size_t draw_among(const ruled *r, const candidate *list, size_t n, double sum, float best,
                         uint64_t attempt) {
    double at = draw(r->p->seed + attempt * 0xD1B54A32D192ED03u, r->position) * sum;
    size_t i = 0;
    for (; i + 1 < n; i++)
        if ((at -= weight(r, list[i], best)) < 0) break;
    return i;
}

/* The best one was asked already: a rule that has had enough work may refuse later what it allowed then. */
static bool may_draw(const ruled *r, candidate c, candidate best) {
    return c.token == best.token || r->allow(r->ctx, c.token);
}

/* With top_k or top_p: the best that are allowed, as many as these want. */
static int32_t draw_of_best(const ruled *r, size_t n, candidate top) {
    const float best = top.logit;
    sampler *s = r->s;
    double total = 0, sum = 0;
    size_t n_kept = 0, most = r->p->top_k > 0 ? (size_t)r->p->top_k : n;
    for (size_t i = 0; i < n; i++) total += weight(r, s->heap[i], best);
    for (; n && n_kept < most; n--) {
        if (r->p->top_k <= 0 && n_kept && sum >= (double)r->p->top_p * total) break;
        candidate c = pop_best(s->heap, n);
        double w = weight(r, c, best);
        if (!may_draw(r, c, top)) {
            total -= w;
            continue;
        }
        s->kept[n_kept++] = c;
        sum += w;
    }
    if (r->p->top_k > 0) { /* the nucleus is one of these */
        double all = sum;
        for (sum = 0, most = n_kept, n_kept = 0; n_kept < most; n_kept++) {
            if (n_kept && sum >= (double)r->p->top_p * all) break;
            sum += weight(r, s->kept[n_kept], best);
        }
    }
    return s->kept[draw_among(r, s->kept, n_kept, sum, best, 0)].token;
}

/* Draw from all and draw again what is not allowed: that is the distribution of what is. Where most
 * of it is not, all are asked. */
static int32_t draw_of_all(const ruled *r, size_t n, candidate top) {
    const float best = top.logit;
    enum { ATTEMPTS = 16 };
    sampler *s = r->s;
    double total = 0;
    for (size_t i = 0; i < n; i++) total += weight(r, s->heap[i], best);
    for (uint64_t attempt = 0; attempt < ATTEMPTS; attempt++) {
        size_t at = draw_among(r, s->heap, n, total, best, attempt);
        candidate c = s->heap[at];
        if (may_draw(r, c, top)) return c.token;
        total -= weight(r, c, best);
        s->heap[at] = s->heap[--n];
    }
    size_t n_kept = 0;
    total = 0;
    for (size_t i = 0; i < n; i++) {
        if (!may_draw(r, s->heap[i], top)) continue;
        total += weight(r, s->heap[i], best);
        s->kept[n_kept++] = s->heap[i];
    }
    return s->kept[draw_among(r, s->kept, n_kept, total, best, ATTEMPTS)].token;
}

static int32_t pick_ruled(const ruled *r) {
    const sampler_params *p = r->p;
    sampler *s = r->s;
    candidate best = best_allowed(r);
    if (best.token < 0) return -1;
    if (p->temperature <= 0) return best.token;
    float reach = 40 * p->temperature;
    if (p->min_p > 0 && -p->temperature * logf(p->min_p) < reach)
        reach = -p->temperature * logf(p->min_p);
    size_t n = 0;
    for (int32_t i = 0; i < s->n_vocab; i++) /* better ones are not allowed */
        if (s->logits[i] <= best.logit && s->logits[i] >= best.logit - reach)
            s->heap[n++] = (candidate){i, s->logits[i]};
    bool ordered = p->top_k > 0 || p->top_p < 1;
    if (!ordered) return draw_of_all(r, n, best);
    for (size_t i = n / 2; i-- > 0;) sift(s->heap, n, i);
    return draw_of_best(r, n, best);
}

int32_t sampler_pick(sampler *s, const sampler_params *p, const float *logits,
                     const int32_t *history, size_t n_history, uint64_t position,
                     sampler_allow_fn *allow, void *allow_ctx) {
    memcpy(s->logits, logits, (size_t)s->n_vocab * sizeof *logits);
    for (size_t i = 0; i < p->n_bias; i++) s->logits[p->bias[i].token] += p->bias[i].bias;
    penalize(s, p, history, n_history);
    if (allow) return pick_ruled(&(ruled){s, p, position, allow, allow_ctx});
    int32_t top = argmax(s->logits, s->n_vocab);
    if (top < 0 || p->temperature <= 0) return top;
    size_t n = collect(s, s->logits[top], 40 * p->temperature);
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
    if (!top_k && p->top_p >= 1 && p->min_p <= 0) { /* sorted only as far as the draw reaches */
        double at = draw(p->seed, position) * total;
        candidate c = s->heap[0];
        for (; n; n--) {
            c = pop_best(s->heap, n);
            at -= exp(((double)c.logit - best) / t);
            if (at < 0) break;
        }
        return c.token;
    }
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
