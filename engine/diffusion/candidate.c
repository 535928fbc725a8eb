#include "engine/diffusion/candidate.h"

#include <math.h>

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

candidate candidate_take(const candidate_rule *r, float *logits, const float *without,
                         uint64_t step, int position) {
    const vec_kernels *vec = vec_get();
    if (without)
        for (int32_t i = 0; i < r->n_vocab; i++)
            logits[i] = without[i] + (r->guidance + 1) * (logits[i] - without[i]);
    logits[r->mask] = -INFINITY;
    const int32_t top = best_of(logits, r->n_vocab);
    if (top < 0) return (candidate){r->mask == 0, 0};
    candidate c = {top, 0};
    if (r->temperature > 0) c.token = noisy_best(r, logits, top, step, position);
    if (r->remasking == DIFFUSION_RANDOM || r->remasking == DIFFUSION_ORIGIN) return c;
    if (r->tempered && r->temperature > 0) vec->scale(logits, 1 / r->temperature, r->n_vocab);
    const double sum = vec->sum_exp(logits, logits[top], r->n_vocab);
    switch (r->remasking) {
    case DIFFUSION_ENTROPY:
        c.score = entropy(logits, r->n_vocab, logits[top], sum);
        break;
    case DIFFUSION_MARGIN:
        c.score = margin(logits, r->n_vocab, top, sum);
        break;
    default:
        c.score = exp((double)logits[c.token] - (double)logits[top]) / sum;
    }
    if (isnan(c.score)) c.score = -INFINITY; /* of logits that are none */
    return c;
}
