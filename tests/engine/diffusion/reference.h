/* reference.h - how the papers write with a diffusion language model, said as plainly as it goes: all
 * logits of all positions in every step, full sorts, every step of the schedule. It shares the noise
 * (diffusion_uniform) and the network with the engine, and nothing else. */
#ifndef FORAGE_TESTS_DIFFUSION_REFERENCE_H
#define FORAGE_TESTS_DIFFUSION_REFERENCE_H

#include <math.h>

#include "engine/diffusion/diffusion.h"
#include "tests/test.h"

enum {
    REFERENCE_MOST = 256 /* positions of a canvas */,
    REFERENCE_PAGE = 16,
    REFERENCE_SPARE = 32 /* pages that the reference leaves to others, behind its own */
};

/* A model, and pages for a canvas with its prompt and one without. */
typedef struct reference_network {
    model *m;
    model_context *c;
    kv_pages *kv;
    const model_info *info;
    diffusion_model d;
    int32_t table[2][REFERENCE_MOST / REFERENCE_PAGE];
    float *logits[2]; /* [REFERENCE_MOST][n_vocab]: as of the last pass that computed a row */
} reference_network;

static inline void network_open(reference_network *r, const char *path, bool fast, fo_pool *pool) {
    fo_err err;
    kv_layout l;
    *r = (reference_network){0};
    assert_ok(model_open(&r->m, path, &(model_options){.pool = pool, .fast = fast}, &err), &err);
    r->info = model_get_info(r->m);
    assert_true(diffusion_is(r->info));
    assert_ok(diffusion_model_read(&r->d, r->info, model_gguf(r->m), &err), &err);
    assert_ok(model_kv_layout(r->m, REFERENCE_PAGE, KV_BF16, &l, &err), &err);
    const int n = REFERENCE_MOST / REFERENCE_PAGE;
    assert_ok(kv_pages_create(&r->kv, &l, 2 * n + REFERENCE_SPARE, &err), &err);
    assert_ok(model_context_create(&r->c, r->m, &(model_limits){2 * REFERENCE_MOST, REFERENCE_MOST},
                                   &err),
              &err);
    for (int i = 0; i < n; i++) {
        r->table[0][i] = n - 1 - i;
        r->table[1][i] = 2 * n - 1 - i;
    }
    for (int i = 0; i < 2; i++)
        r->logits[i] =
            malloc((size_t)REFERENCE_MOST * (size_t)r->info->n_vocab * sizeof *r->logits[i]);
}

static inline void network_close(reference_network *r) {
    model_context_free(r->c);
    kv_pages_free(r->kv);
    model_close(r->m);
    free(r->logits[0]);
    free(r->logits[1]);
}

/* Rows [from, to) of canvas x, which see n_keys positions: their logits, all of them. */
static inline void network_pass(reference_network *r, int canvas, const int32_t *x, int from,
                                int to, int n_keys) {
    fo_err err;
    model_sequence s = {.tokens = x + from,
                        .n_tokens = to - from,
                        .start = from,
                        .pages = r->table[canvas],
                        .n_pages = REFERENCE_MOST / REFERENCE_PAGE,
                        .n_keys = n_keys,
                        .n_logits = to - from};
    assert_ok(model_forward(r->c, r->kv, &s, 1,
                            r->logits[canvas] + (size_t)from * (size_t)r->info->n_vocab, &err),
              &err);
}

/* ---- one position: token and confidence --------------------------------------------------- */

typedef struct reference_choice {
    int position;
    int32_t token;
    double confidence;
} reference_choice;

static inline int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

static inline reference_choice choose(const reference_network *r, const diffusion_params *p,
                                      uint64_t step, int position) {
    const int n = r->info->n_vocab;
    const int row = r->d.shift ? position - 1 : position;
    const float *with = r->logits[0] + (size_t)row * (size_t)n;
    const float *without = r->logits[1] + (size_t)row * (size_t)n;
    float *x = malloc((size_t)n * sizeof *x);
    double *probability = malloc((size_t)n * sizeof *probability);
    for (int i = 0; i < n; i++)
        x[i] = p->guidance > 0 ? without[i] + (p->guidance + 1) * (with[i] - without[i]) : with[i];
    x[r->d.mask] = -INFINITY;
    if (r->d.dream) { /* top_p, then top_k, of the tempered distribution */
        const double by = p->temperature > 0 ? 1 / (double)p->temperature : 1;
        double best = -INFINITY, all = 0, before = 0;
        int *order = malloc((size_t)n * sizeof *order);
        for (int i = 0; i < n; i++) {
            int at = i;
            for (; at && x[order[at - 1]] < x[i]; at--) order[at] = order[at - 1];
            order[at] = i;
            if ((double)x[i] > best) best = (double)x[i];
        }
        for (int i = 0; i < n; i++) all += exp(((double)x[i] - best) * by);
        for (int i = 0; i < n; i++) {
            const double share = exp(((double)x[order[i]] - best) * by) / all;
            if (i && before > (double)p->top_p) x[order[i]] = -INFINITY;
            before += share;
        }
        for (int i = p->top_k; p->top_k && i < n; i++)
            if (x[order[i]] < x[order[p->top_k - 1]]) x[order[i]] = -INFINITY;
        free(order);
    }
    /* Gumbel: exp(logit) / (-log u)^temperature, whose largest is taken */
    int best = 0;
    double most = -INFINITY;
    for (int i = 0; i < n; i++) {
        double u = diffusion_uniform(p->seed, step, position, i);
        double v = p->temperature > 0 ? (double)x[i] - (double)p->temperature * log(-log(u))
                                      : (double)x[i];
        if (v > most) most = v, best = i;
    }
    const double t = r->d.dream && p->temperature > 0 ? (double)p->temperature : 1;
    double top = -INFINITY, sum = 0;
    for (int i = 0; i < n; i++)
        if ((double)x[i] > top) top = (double)x[i];
    for (int i = 0; i < n; i++) sum += probability[i] = exp(((double)x[i] - top) / t);
    for (int i = 0; i < n; i++) probability[i] /= sum;
    reference_choice c = {position, best, probability[best]};
    if (p->remasking == DIFFUSION_ENTROPY) {
        c.confidence = 0;
        for (int i = 0; i < n; i++) c.confidence += probability[i] * log(probability[i] + 1e-10);
    } else if (p->remasking == DIFFUSION_MARGIN) {
        qsort(probability, (size_t)n, sizeof *probability, by_size);
        c.confidence = probability[0] - probability[1];
    } else if (p->remasking == DIFFUSION_RANDOM) {
        c.confidence = diffusion_uniform(p->seed, step, position, -1);
    }
    free(x);
    free(probability);
    return c;
}

static inline int by_confidence(const void *a, const void *b) {
    const reference_choice *x = a, *y = b;
    if (x->confidence != y->confidence) return x->confidence < y->confidence ? 1 : -1;
    return x->position - y->position;
}

/* ---- the algorithm ------------------------------------------------------------------------ */

/* Which rows the caches of Fast-dLLM (prefix, dual) and dLLM-Cache (prompt) compute afresh. */
static inline void compute(reference_network *r, const diffusion_params *p,
                           int32_t x[2][REFERENCE_MOST], int n_prompt, int n, int begin, int end,
                           int *age) {
    int from = 0, to = n;
    const bool whole = p->kv == DIFFUSION_KV_OFF || *age < 0 || (p->refresh && *age >= p->refresh);
    if (r->d.attention_block) {
        to = n = end; /* and everything afresh: keeping what is before the block changes nothing */
    } else if (!whole) {
        from = p->kv == DIFFUSION_KV_PROMPT ? n_prompt : begin;
        to = p->kv == DIFFUSION_KV_DUAL ? end : n;
        /* Dream's first position reads the row before it, where that is still asked for */
        if (r->d.shift && x[0][from] == r->d.mask) from--;
    }
    *age = whole ? 1 : *age + 1;
    for (int canvas = 0; canvas < (p->guidance > 0 ? 2 : 1); canvas++)
        network_pass(r, canvas, x[canvas], from, to, n);
}

/* The answer's tokens. Returns the steps that changed something. */
static inline int reference_write(reference_network *r, const diffusion_params *p,
                                  const int32_t *prompt, int n_prompt, int n_answer,
                                  int32_t *answer) {
    static int32_t x[2][REFERENCE_MOST];
    const int n = n_prompt + n_answer;
    const int32_t mask = r->d.mask;
    int begins[REFERENCE_MOST], n_blocks = 0, changes = 0, age = -1;
    uint64_t step = 0;
    int steps_left = p->steps;
    assert_true(n <= REFERENCE_MOST);
    for (int i = 0; i < n; i++) {
        x[0][i] = i < n_prompt ? prompt[i] : mask;
        x[1][i] = mask;
    }
    for (int i = n_prompt; i < n; i++) { /* where blocks begin */
        int at = r->d.attention_block ? i : i - n_prompt;
        if (i == n_prompt || (p->block_length && at % p->block_length == 0)) begins[n_blocks++] = i;
    }
    begins[n_blocks] = n;
    for (int b = 0; b < n_blocks; b++) {
        const int begin = begins[b], end = begins[b + 1];
        /* The papers want blocks and steps that divide; else in proportion, at least one each. */
        int steps = (int)floor((double)steps_left * (end - begin) / (n - begin) + 1e-9);
        if (steps < 1) steps = 1;
        if (steps > steps_left - (n_blocks - 1 - b)) steps = steps_left - (n_blocks - 1 - b);
        steps_left -= steps;
        if (p->kv != DIFFUSION_KV_PROMPT) age = -1;
        for (int i = 0; i < steps; i++, step++) {
            reference_choice c[REFERENCE_MOST];
            int n_masks = 0, n_take = 0;
            for (int k = begin; k < end; k++) n_masks += x[0][k] == mask;
            if (n_masks == 0) continue;
            /* how many */
            const double t = 1 - (1 - (double)p->eps) * i / steps,
                         s = 1 - (1 - (double)p->eps) * (i + 1) / steps;
            double share = p->eps > 0 ? 1 - s / t : 1.0 / (steps - i);
            if (p->eps > 0)
                n_take = (int)(n_masks * share);
            else
                n_take = (end - begin) / steps + (i < (end - begin) % steps ? 1 : 0);
            if (i == steps - 1 || n_take > n_masks) n_take = n_masks;
            /* which */
            int n_found = 0;
            bool drawn[REFERENCE_MOST] = {0}, any = n_take > 0 || p->threshold > 0;
            if (p->remasking == DIFFUSION_ORIGIN) {
                any = false;
                for (int k = begin; k < end; k++) {
                    drawn[k] = i == steps - 1 || diffusion_uniform(p->seed, step, k, -2) < share;
                    any |= drawn[k] && x[0][k] == mask;
                }
            }
            if (!any) continue; /* what such a step computes is thrown away */
            compute(r, p, x, n_prompt, n, begin, end, &age);
            for (int k = begin; k < end; k++)
                if (x[0][k] == mask) c[n_found++] = choose(r, p, step, k);
            if (p->remasking == DIFFUSION_ORIGIN) {
                for (int k = 0; k < n_found; k++)
                    if (drawn[c[k].position])
                        x[0][c[k].position] = x[1][c[k].position] = c[k].token;
            } else {
                qsort(c, (size_t)n_found, sizeof *c, by_confidence);
                for (int k = 0; k < n_found; k++)
                    if (k < n_take ||
                        (p->threshold > 0 && (k == 0 || c[k].confidence > (double)p->threshold)))
                        x[0][c[k].position] = x[1][c[k].position] = c[k].token;
            }
            changes++;
        }
    }
    memcpy(answer, x[0] + n_prompt, (size_t)n_answer * sizeof *answer);
    return changes;
}

#endif
