#include "engine/diffusion/candidate.h"

#include <math.h>
#include <string.h>

#include "kernels/vec.h"

static const double LOG_FLOOR = 1e-10; /* of Dream's entropy */

static int32_t best_of(const float *x, int32_t n) {
    int32_t best = -1;
    for (int32_t i = 0; i < n; i++)
        if (x[i] > -INFINITY && (best < 0 || x[i] > x[best])) best = i;
    return best;
}

/* The largest logit + temperature * noise. A noise of -log(-log u) is at most -log(1 - u), and that
 * below (k + 1) log 2 when 1 - u > 2^-(k+1): most tokens are out of the race before a logarithm is
 * taken. */
static int32_t noisy_best(const candidate_rule *r, const float *x, int32_t top, uint64_t step,
                          int position) {
    const double t = (double)r->temperature;
    int32_t best = top;
    double most = -INFINITY;
    for (int32_t n = -1; n < r->n_vocab; n++) {
        const int32_t i = n < 0 ? top : n; /* the likeliest winner first */
        if ((n >= 0 && n == top) || !(x[i] > -INFINITY)) continue;
        const double u = diffusion_uniform(r->seed, step, position, i);
        if (n >= 0) {
            int k;
            frexp(1 - u, &k); /* 1 - u >= 2^(k-1) */
            if ((double)x[i] + t * (1 - k) * 0.69314718055994531 < most) continue;
        }
        const double v = (double)x[i] - t * log(-log(u));
        if (v > most || (v == most && i < best)) {
            most = v;
            best = i;
        }
    }
    return best;
}

static double entropy(const float *x, int32_t n, float top, double sum) {
    double h = 0;
    for (int32_t i = 0; i < n; i++) {
        const double p = exp((double)x[i] - (double)top) / sum;
        h += p * log(p + LOG_FLOOR);
    }
    return h;
}

static double margin(const float *x, int32_t n, int32_t top, double sum) {
    float second = -INFINITY;
    for (int32_t i = 0; i < n; i++)
        if (i != top && x[i] > second) second = x[i];
    return (1 - exp((double)second - (double)x[top])) / sum;
}

/* Floats in their order as integers. */
static uint32_t key_of(float x) {
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u & 0x80000000u ? ~u : u | 0x80000000u;
}

/* Descending, tokens stay as long as what is before them weighs no more than `most`: digit by digit,
 * the smallest key that stays, and in *room what those of just this key may weigh together. top_p: a
 * token weighs its probability, exp((x - top) by) / sum; else 1. */
static uint32_t last_key(const float *x, int32_t n, bool top_p, double by, double top, double sum,
                         double most, double *room) {
    uint32_t prefix = 0;
    double before = 0;
    for (int shift = 24; shift >= 0; shift -= 8) {
        double weight[256] = {0};
        bool any[256] = {false};
        for (int32_t i = 0; i < n; i++) {
            const uint32_t k = key_of(x[i]);
            if (!(x[i] > -INFINITY) || (shift < 24 && k >> (shift + 8) != prefix >> (shift + 8)))
                continue;
            weight[k >> shift & 255] += top_p ? exp(((double)x[i] - top) * by) / sum : 1;
            any[k >> shift & 255] = true;
        }
        int last = -1;
        double at_last = 0;
        for (int d = 255; d >= 0; d--) {
            if (!any[d]) continue;
            if (last >= 0 && before > most) break;
            last = d;
            at_last = before;
            before += weight[d];
        }
        prefix |= (uint32_t)last << shift;
        before = at_last;
    }
    *room = most - before;
    return prefix;
}

/* Dream's filters, one after the other: what they leave out becomes impossible. Of equals the first
 * stay in top_p, all in top_k. */
static void filter(const candidate_rule *r, float *x, int32_t top) {
    const double by = r->temperature > 0 ? 1 / (double)r->temperature : 1, best = (double)x[top];
    double room;
    if (r->top_p < 1) {
        double sum = 0;
        for (int32_t i = 0; i < r->n_vocab; i++) sum += exp(((double)x[i] - best) * by);
        const uint32_t last = last_key(x, r->n_vocab, true, by, best, sum, (double)r->top_p, &room);
        for (int32_t i = 0; i < r->n_vocab; i++) {
            const uint32_t k = key_of(x[i]);
            const bool stays = k > last || (k == last && room >= 0) || i == top;
            if (k == last) room -= exp(((double)x[i] - best) * by) / sum;
            if (!stays) x[i] = -INFINITY;
        }
    }
    if (r->top_k > 0 && r->top_k < r->n_vocab) {
        const uint32_t last =
            last_key(x, r->n_vocab, false, by, best, 1, (double)r->top_k - 1, &room);
        for (int32_t i = 0; i < r->n_vocab; i++)
            if (key_of(x[i]) < last) x[i] = -INFINITY;
    }
}

candidate candidate_take(const candidate_rule *r, float *logits, const float *without,
                         uint64_t step, int position) {
    const vec_kernels *vec = vec_get();
    if (without)
        for (int32_t i = 0; i < r->n_vocab; i++)
            logits[i] = without[i] + (r->guidance + 1) * (logits[i] - without[i]);
    logits[r->mask] = -INFINITY;
    const int32_t top = best_of(logits, r->n_vocab);
    if (top < 0) return (candidate){.token = r->mask == 0};
    candidate c = {.token = top};
    if (r->top_p < 1 || r->top_k > 0) filter(r, logits, top);
    if (r->temperature > 0) c.token = noisy_best(r, logits, top, step, position);
    const bool drawn = r->remasking == DIFFUSION_RANDOM || r->remasking == DIFFUSION_ORIGIN;
    if (drawn && !r->weighs) return c;
    if (r->tempered && r->temperature > 0) vec->scale(logits, 1 / r->temperature, r->n_vocab);
    const double sum = vec->sum_exp(logits, logits[top], r->n_vocab);
    const double probability = exp((double)logits[c.token] - (double)logits[top]) / sum;
    if (r->weighs) c.probability = probability;
    if (drawn) return c;
    switch (r->remasking) {
    case DIFFUSION_ENTROPY:
        c.score = entropy(logits, r->n_vocab, logits[top], sum);
        break;
    case DIFFUSION_MARGIN:
        c.score = margin(logits, r->n_vocab, top, sum);
        break;
    default:
        c.score = probability;
    }
    if (isnan(c.score)) c.score = -INFINITY; /* of logits that are none */
    return c;
}
