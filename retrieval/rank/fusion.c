#include "retrieval/rank/fusion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/error.h"

/* What one list contributes for a hit of this score and 0-based rank, and for a hit it lacks. */
typedef struct list_norm {
    double offset, scale; /* (score - offset) * scale */
    double low, high;     /* bounds of that; low is also what a missing hit counts */
    int rrf_k;            /* rank-based when > 0 */
} list_norm;

/* Of the n hits and n_zero more that score 0. */
static void mean_and_deviation(const fusion_hit *h, size_t n, size_t n_zero, double *mean,
                               double *sd) {
    const double all = (double)(n + n_zero);
    double sum = 0, var = 0;
    for (size_t i = 0; i < n; i++) sum += h[i].score;
    *mean = n ? sum / all : 0;
    for (size_t i = 0; i < n; i++) var += (h[i].score - *mean) * (h[i].score - *mean);
    var += (double)n_zero * *mean * *mean;
    *sd = n ? sqrt(var / all) : 0;
}

static list_norm norm_z(const fusion_hit *h, size_t n, size_t n_zero) {
    double mean, sd;
    mean_and_deviation(h, n, n_zero, &mean, &sd);
    /* One hit, or all alike: each stands a deviation above what is missing. */
    if (!(sd > 0)) return (list_norm){mean - 1, 1, 0, INFINITY, 0};
    const double lowest = n_zero ? 0 : h[n - 1].score;
    return (list_norm){mean, 1 / sd, (lowest - mean) / sd, INFINITY, 0};
}

static list_norm norm_rank(const fusion_hit *h, size_t n, size_t n_zero) {
    (void)h, (void)n, (void)n_zero;
    return (list_norm){.rrf_k = 60};
}

static list_norm norm_distribution(const fusion_hit *h, size_t n, size_t n_zero) {
    (void)n_zero;
    double mean, sd;
    mean_and_deviation(h, n, 0, &mean, &sd);
    return sd > 0 ? (list_norm){mean - 3 * sd, 1 / (6 * sd), 0, 1, 0}
                  : (list_norm){mean - .5, 1, 0, 1, 0};
}

static double identity(double x) {
    return x;
}
static double logistic(double x) {
    return 1 / (1 + exp(-x));
}

const char *const fusion_names[] = {
    [FUSION_WEIGHTED] = "weighted",
    [FUSION_RRF] = "rrf",
    [FUSION_DBSF] = "dbsf",
    NULL,
};

static const struct fusion_method {
    list_norm (*norm)(const fusion_hit *h, size_t n, size_t n_zero);
    double (*score)(double sum); /* monotone: from the weighted sum to what users see */
} methods[] = {
    [FUSION_WEIGHTED] = {norm_z, logistic},
    [FUSION_RRF] = {norm_rank, identity},
    [FUSION_DBSF] = {norm_distribution, identity},
};
_Static_assert(sizeof fusion_names / sizeof *fusion_names == sizeof methods / sizeof *methods + 1,
               "each method has a name");

static double contribution(const list_norm *l, double score, size_t rank) {
    if (l->rrf_k) return 2.0 / (double)((size_t)l->rrf_k + rank + 1);
    double v = (score - l->offset) * l->scale;
    return v < l->low ? l->low : v > l->high ? l->high : v;
}

static int by_id(const void *a, const void *b) {
    int64_t x = ((const fused_hit *)a)->id, y = ((const fused_hit *)b)->id;
    return x < y ? -1 : x > y;
}

size_t fusion_merge(const fusion_params *p, const fusion_hit *dense, size_t n_dense,
                    const fusion_hit *sparse, size_t n_sparse, size_t k, fused_hit *scratch,
                    topk_item *heap, fused_hit *out) {
    const size_t zeroes = n_sparse < p->depth && n_sparse < n_dense ? n_dense - n_sparse : 0;
    list_norm nd = methods[p->kind].norm(dense, n_dense, 0);
    list_norm ns = methods[p->kind].norm(sparse, n_sparse, zeroes);
    if (nd.rrf_k && p->rrf_k > 0) nd.rrf_k = ns.rrf_k = p->rrf_k;
    double wd = p->alpha, ws = 1 - p->alpha;
    size_t n = 0;
    for (size_t i = 0; i < n_dense; i++)
        scratch[n++] =
            (fused_hit){dense[i].id, wd * contribution(&nd, dense[i].score, i) + ws * ns.low,
                        dense[i].score, NAN};
    for (size_t i = 0; i < n_sparse; i++)
        scratch[n++] =
            (fused_hit){sparse[i].id, ws * contribution(&ns, sparse[i].score, i) + wd * nd.low, NAN,
                        sparse[i].score};
    qsort(scratch, n, sizeof *scratch, by_id);
    size_t m = 0;
    for (size_t i = 0; i < n; i++) {
        fused_hit *last = m ? &scratch[m - 1] : NULL;
        if (!last || last->id != scratch[i].id) {
            scratch[m++] = scratch[i];
            continue;
        }
        last->score += scratch[i].score - wd * nd.low - ws * ns.low; /* missing in neither */
        if (isnan(last->dense)) last->dense = scratch[i].dense;
        if (isnan(last->sparse)) last->sparse = scratch[i].sparse;
    }
    topk best = topk_over(heap, k);
    for (size_t i = 0; i < m; i++) topk_push(&best, scratch[i].score, (int64_t)i);
    topk_sort(&best);
    for (size_t i = 0; i < best.n; i++) {
        out[i] = scratch[best.items[i].id];
        out[i].score = methods[p->kind].score(out[i].score);
    }
    return best.n;
}
