/* experts.c - the FFN of a mixture of experts: every row goes through the few experts that a router
 * names, and what they give is added up by its weights.
 *
 * Some models have an FFN beside them that every row goes through (shared experts).
 *
 * Experts are taken one after the other, each with all rows of the step that want it; a row's sum has
 * them in the order of their numbers. So it does not depend on its company.
 * Sources: Shazeer et al. 2017; Jiang et al. 2024 (Mixtral); Dai et al. 2024 (shared experts); llada-moe
 * and qwen3moe as in GGUF. */
#include <math.h>
#include <string.h>

#include "engine/model/forward.h"

typedef struct route_job {
    forward *f;
    const layer *y;
} route_job;

/* The n_used likeliest of p[n], the first of equals, as ascending numbers. */
static void take_best(const float *p, int n, int n_used, int *out) {
    int last = -1; /* likelier ones are taken already: those before it in (p, number) order */
    for (int k = 0; k < n_used; k++) {
        int best = -1;
        for (int e = 0; e < n; e++) {
            if (last >= 0 && (p[e] > p[last] || (!(p[e] < p[last]) && e <= last))) continue;
            if (best < 0 || p[e] > p[best]) best = e;
        }
        int at = k;
        for (; at && out[at - 1] > best; at--) out[at] = out[at - 1];
        out[at] = best;
        last = best;
    }
}

static void route_some(void *arg, size_t begin, size_t end, int thread) {
    const route_job *j = arg;
    forward *f = j->f;
    const model *m = f->m;
    const int n = m->n_experts, used = m->n_experts_used, d = m->info.d_model;
    float *p = f->thread_scratch + (size_t)thread * f->thread_floats;
    for (size_t r = begin; r < end; r++) {
        const float *x = f->xn + r * (size_t)f->d_stride;
        float *weights = f->expert_weights + r * (size_t)used, top = -INFINITY;
        int *of = f->experts_of + r * (size_t)used;
        for (int e = 0; e < n; e++) {
            const float logit = m->vec->dot(x, j->y->router + (size_t)e * (size_t)d, d);
            p[e] = isfinite(logit) ? logit : -3.0e38f; /* of weights that are none */
            if (p[e] > top) top = p[e];
        }
        take_best(p, n, used, of);
        double all = 0, kept = 0;
        for (int e = 0; e < n; e++) all += exp((double)(p[e] - top));
        for (int k = 0; k < used; k++) kept += exp((double)(p[of[k]] - top));
        const double by = (double)m->expert_scale / (m->expert_norm ? kept : all);
        for (int k = 0; k < used; k++) weights[k] = (float)(exp((double)(p[of[k]] - top)) * by);
    }
}

/* f->expert_rows: the rows that want expert e. How many. */
static int rows_of(forward *f, int e, int rows) {
    const int used = f->m->n_experts_used;
    int n = 0;
    for (int r = 0; r < rows; r++)
        for (int k = 0; k < used; k++)
            if (f->experts_of[r * used + k] == e) f->expert_rows[n++] = r;
    return n;
}

static float weight_of(const forward *f, int row, int e) {
    const int used = f->m->n_experts_used;
    int k = 0;
    while (f->experts_of[row * used + k] != e) k++;
    return f->expert_weights[row * used + k];
}

typedef struct shared_job {
    forward *f;
    const layer *y;
} shared_job;

static void add_shared_some(void *arg, size_t begin, size_t end, int thread) {
    (void)thread;
    const shared_job *j = arg;
    const model *m = j->f->m;
    const size_t d = (size_t)j->f->d_stride;
    for (size_t r = begin; r < end; r++) {
        float by = 1;
        if (j->y->shared_gate) {
            const float x = m->vec->dot(j->f->xn + r * d, j->y->shared_gate, m->info.d_model);
            by = (float)(1 / (1 + exp(-(double)x)));
        }
        m->vec->mul_add(j->f->expert_sum + r * d, j->f->expert_y + r * d, by, m->info.d_model);
    }
}

/* Every row's, onto the sum of those that the router named. */
static void add_shared(forward *f, const layer *y, int rows) {
    mm_input in, down;
    shared_job job = {f, y};
    forward_input(f, &y->shared->up, f->xn, f->d_stride, rows, &in);
    forward_up(f, y->shared, &in, rows, &down);
    forward_linear(f, &y->shared->down, &down, rows, f->expert_y, f->d_stride);
    forward_rows(f, rows, add_shared_some, &job);
}

const float *forward_experts(forward *f, const layer *y, int rows) {
    const model *m = f->m;
    const size_t d = (size_t)f->d_stride;
    route_job job = {f, y};
    forward_rows(f, rows, route_some, &job);
    memset(f->expert_sum, 0, (size_t)rows * d * sizeof *f->expert_sum);
    for (int e = 0; e < m->n_experts; e++) {
        const layer *x = &y->experts[e];
        const int n = rows_of(f, e, rows);
        mm_input in, down;
        if (n == 0) continue;
        for (int i = 0; i < n; i++)
            memcpy(f->expert_x + (size_t)i * d, f->xn + (size_t)f->expert_rows[i] * d,
                   d * sizeof *f->expert_x);
        forward_input(f, &x->up, f->expert_x, f->d_stride, n, &in);
        forward_up(f, x, &in, n, &down);
        forward_linear(f, &x->down, &down, n, f->expert_y, f->d_stride);
        for (int i = 0; i < n; i++) {
            const int r = f->expert_rows[i];
            m->vec->mul_add(f->expert_sum + (size_t)r * d, f->expert_y + (size_t)i * d,
                            weight_of(f, r, e), m->info.d_model);
        }
    }
    if (y->shared) add_shared(f, y, rows);
    return f->expert_sum;
}
