/* hnsw.c - the memory of a graph: made, encoded into, given out as sections, mapped again. */
#include "index/dense/hnsw.h"

#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "index/dense/hnsw_internal.h"
#include "kernels/buf.h"

static size_t round_up(size_t n, size_t multiple) {
    return (n + multiple - 1) / multiple * multiple;
}

static void set_geometry(hnsw *h) {
    h->m0 = 2 * h->M;
    h->code_stride = round_up(h->dim, DIST_CODE_ALIGN);
    dist_init(&h->k);
}

/* Zeroed address space: pages are taken when they are first written. Large arrays ask for huge
 * pages: the walk jumps about in them, and most of its cache misses would be TLB misses too. */
static void *reserve(size_t bytes) {
    enum { HUGE_FROM = 16 << 20 };
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    if (p == MAP_FAILED) return NULL;
    if (bytes >= HUGE_FROM) madvise(p, bytes, MADV_HUGEPAGE);
    return p;
}

static void unreserve(void *p, size_t bytes) {
    if (p) munmap(p, bytes);
}

int hnsw_create(hnsw **out, const hnsw_params *p, fo_err *err) {
    uint32_t M = p->M ? p->M : 16, efc = p->ef_construction ? p->ef_construction : 200;
    if (p->dim < 1 || p->dim > HNSW_MAX_DIM)
        return fo_fail(err, FO_EINVAL, "dim must be between 1 and %d", HNSW_MAX_DIM);
    if (M < 2 || M > HNSW_MAX_M)
        return fo_fail(err, FO_EINVAL, "M must be between 2 and %d", HNSW_MAX_M);
    if (efc > HNSW_MAX_EF)
        return fo_fail(err, FO_EINVAL, "ef_construction must be at most %d", HNSW_MAX_EF);
    if (p->metric > HNSW_L2) return fo_fail(err, FO_EINVAL, "unknown metric %d", (int)p->metric);
    if (p->capacity < 1 || p->capacity > 1u << 30)
        return fo_fail(err, FO_EINVAL, "capacity must be between 1 and %u", 1u << 30);
    hnsw *h = calloc(1, sizeof *h);
    if (!h) return fo_fail(err, FO_ENOMEM, "out of memory for a dense graph");
    h->dim = p->dim;
    h->M = M;
    h->metric = p->metric;
    h->ef_construction = efc < M ? M : efc;
    h->seed = p->seed;
    h->capacity = h->limit = p->capacity;
    set_geometry(h);
    atomic_init(&h->n, 0);
    atomic_init(&h->entry, HNSW_NONE);
    atomic_init(&h->upper_len, 0);
    pthread_mutex_init(&h->entry_mu, NULL);
    size_t cap = h->capacity;
    h->upper_cap = 2 * cap + 65536; /* 1.2 a point expected; past the end points stay on level 0 */
    h->codes = reserve(cap * h->code_stride);
    h->rest = reserve(cap * h->code_stride);
    h->scales = reserve(cap * sizeof *h->scales);
    if (h->metric == HNSW_L2) h->bias = reserve(cap * sizeof *h->bias);
    h->upper_at = reserve(cap * sizeof *h->upper_at);
    h->links0 = reserve(cap * h->m0 * sizeof *h->links0);
    h->upper = reserve(h->upper_cap * sizeof *h->upper);
    h->locks = malloc(HNSW_LOCKS * sizeof *h->locks);
    if (h->locks)
        for (int i = 0; i < HNSW_LOCKS; i++) pthread_mutex_init(&h->locks[i], NULL);
    if (!h->codes || !h->rest || !h->scales || (h->metric == HNSW_L2 && !h->bias) || !h->upper_at ||
        !h->links0 || !h->upper || !h->locks) {
        hnsw_free(h);
        return fo_fail(err, FO_ENOMEM, "no address space for a dense graph of %u points of %u",
                       p->capacity, p->dim);
    }
    *out = h;
    return FO_OK;
}

int hnsw_grow(hnsw **out, const hnsw *h, uint32_t capacity, fo_err *err) {
    hnsw_params p = {.dim = h->dim,
                     .metric = h->metric,
                     .M = h->M,
                     .ef_construction = h->ef_construction,
                     .seed = h->seed,
                     .capacity = capacity};
    size_t n = hnsw_count(h);
    if (n > capacity)
        return fo_fail(err, FO_EINVAL, "%zu points do not fit a dense graph of %u", n, capacity);
    hnsw *g;
    int rc = hnsw_create(&g, &p, err);
    if (rc) return rc;
    uint32_t upper_len = atomic_load(&h->upper_len);
    memcpy(g->codes, h->codes, n * h->code_stride);
    memcpy(g->rest, h->rest, n * h->code_stride);
    memcpy(g->scales, h->scales, n * sizeof *h->scales);
    if (h->bias) memcpy(g->bias, h->bias, n * sizeof *h->bias);
    memcpy(g->upper_at, h->upper_at, n * sizeof *h->upper_at);
    memcpy(g->links0, h->links0, n * h->m0 * sizeof *h->links0);
    memcpy(g->upper, h->upper, upper_len * sizeof *h->upper); /* its room grows with capacity */
    atomic_store(&g->upper_len, upper_len);
    atomic_store(&g->entry, atomic_load(&h->entry));
    atomic_store(&g->n, (uint32_t)n);
    *out = g;
    return FO_OK;
}

void hnsw_free(hnsw *h) {
    if (!h) return;
    if (!h->mapped) {
        size_t cap = h->capacity;
        unreserve(h->codes, cap * h->code_stride);
        unreserve(h->rest, cap * h->code_stride);
        unreserve(h->scales, cap * sizeof *h->scales);
        unreserve(h->bias, cap * sizeof *h->bias);
        unreserve(h->upper_at, cap * sizeof *h->upper_at);
        unreserve(h->links0, cap * h->m0 * sizeof *h->links0);
        unreserve(h->upper, h->upper_cap * sizeof *h->upper);
    }
    if (h->locks)
        for (int i = 0; i < HNSW_LOCKS; i++) pthread_mutex_destroy(&h->locks[i]);
    free(h->locks);
    pthread_mutex_destroy(&h->entry_mu);
    free(h);
}

uint32_t hnsw_count(const hnsw *h) {
    return atomic_load_explicit(&h->n, memory_order_acquire);
}

uint32_t hnsw_capacity(const hnsw *h) {
    return h->capacity;
}

uint32_t hnsw_dim(const hnsw *h) {
    return h->dim;
}

size_t hnsw_memory(const hnsw *h) {
    size_t point = 2 * h->code_stride + sizeof *h->scales + (h->bias ? sizeof *h->bias : 0) +
                   sizeof *h->upper_at + h->m0 * sizeof *h->links0;
    return hnsw_count(h) * point + atomic_load(&h->upper_len) * sizeof *h->upper;
}

int hnsw_prepare(const hnsw *h, const float *x, float *out, const char *what, fo_err *err) {
    enum { LANES = 8 }; /* sums side by side, as the compiler may not reorder them itself */
    double acc[LANES] = {0}, sum = 0;
    bool fine[LANES];
    memset(fine, true, sizeof fine);
    uint32_t j = 0;
    for (; j + LANES <= h->dim; j += LANES) {
        for (int i = 0; i < LANES; i++) {
            fine[i] &= fabsf(x[j + i]) <= HNSW_MAX_VALUE;
            acc[i] += (double)x[j + i] * x[j + i];
        }
    }
    for (int i = 0; i < LANES; i++) {
        sum += acc[i];
        fine[0] &= fine[i];
    }
    for (; j < h->dim; j++) {
        fine[0] &= fabsf(x[j]) <= HNSW_MAX_VALUE;
        sum += (double)x[j] * x[j];
    }
    if (!fine[0]) {
        for (j = 0; fabsf(x[j]) <= HNSW_MAX_VALUE;) j++;
        return fo_fail(err, FO_EINVAL, "value %u of %s is not a number below 1e15", j, what);
    }
    if (h->metric != HNSW_COSINE) {
        memcpy(out, x, h->dim * sizeof *x);
        return FO_OK;
    }
    if (!(sum > 0)) return fo_fail(err, FO_EINVAL, "%s is all zeroes, which has no cosine", what);
    double inverse = 1.0 / sqrt(sum);
    for (j = 0; j < h->dim; j++) out[j] = (float)(x[j] * inverse);
    return FO_OK;
}

static float largest(const float *x, size_t n) {
    float max = 0;
    for (size_t j = 0; j < n; j++) {
        float a = fabsf(x[j]);
        max = a > max ? a : max;
    }
    return max;
}

void hnsw_encode(hnsw *h, uint32_t id, const float *x) {
    uint8_t *code = h->codes + id * h->code_stride;
    int8_t *rest = h->rest + id * h->code_stride;
    float max = largest(x, h->dim);
    float up = max >= DIST_TINY ? 127.0f / max : 0.0f;
    float scale = max >= DIST_TINY ? max / 127.0f : 0.0f;
    double norm = 0;
    memset(code, 128, h->code_stride);
    memset(rest, 0, h->code_stride);
    for (uint32_t j = 0; j < h->dim; j++) {
        float v = x[j] * up;
        long whole = lrintf(v), part = lrintf((v - (float)whole) * 256.0f);
        code[j] = (uint8_t)(128 + whole);
        rest[j] = (int8_t)(part > 127 ? 127 : part);
        double w = (double)scale / 256 * dist_fine(code[j], rest[j]);
        norm += w * w;
    }
    h->scales[id] = scale;
    if (h->bias) h->bias[id] = (float)(-0.5 * norm);
}

void hnsw_probe_vector(const hnsw *h, hnsw_probe *p, const float *x) {
    int32_t sum;
    float max = h->k.to_query(x, h->code_stride, p->q, &sum);
    p->offset = 128 * sum;
    p->scale = max >= DIST_TINY ? max / DIST_QUERY_MAX : 0.0f;
}

/* Half of (code - 128), rounded up: at most +-64, as the kernels ask. */
void hnsw_probe_code(const hnsw *h, hnsw_probe *p, uint32_t id) {
    const uint8_t *code = hnsw_code(h, id);
    int32_t sum = 0;
    for (size_t j = 0; j < h->code_stride; j += DIST_CODE_ALIGN) {
        for (size_t i = 0; i < DIST_CODE_ALIGN; i++)
            p->q[j + i] = (int8_t)(((code[j + i] + 129) >> 1) - 128);
        for (size_t i = 0; i < DIST_CODE_ALIGN; i++) sum += p->q[j + i];
    }
    p->offset = 128 * sum;
    p->scale = 2.0f * h->scales[id];
}

void hnsw_sections(const hnsw *h, hnsw_section out[HNSW_N_SECTIONS]) {
    hnsw *w = (hnsw *)h; /* the head is a cache of what the fields say */
    size_t n = hnsw_count(h);
    w->head = (hnsw_head){.magic = HNSW_MAGIC,
                          .version = HNSW_VERSION,
                          .dim = h->dim,
                          .metric = h->metric,
                          .M = h->M,
                          .ef_construction = h->ef_construction,
                          .seed = h->seed,
                          .n = (uint32_t)n,
                          .entry = atomic_load(&h->entry),
                          .upper_len = atomic_load(&h->upper_len)};
    out[SEC_HEAD] = (hnsw_section){&h->head, sizeof h->head};
    out[SEC_CODES] = (hnsw_section){h->codes, n * h->code_stride};
    out[SEC_SCALES] = (hnsw_section){h->scales, n * sizeof *h->scales};
    out[SEC_BIAS] = (hnsw_section){h->bias, h->bias ? n * sizeof *h->bias : 0};
    out[SEC_LINKS] = (hnsw_section){h->links0, n * h->m0 * sizeof *h->links0};
    out[SEC_UPPER_AT] = (hnsw_section){h->upper_at, n * sizeof *h->upper_at};
    out[SEC_UPPER] = (hnsw_section){h->upper, w->head.upper_len * sizeof *h->upper};
    out[SEC_REST] = (hnsw_section){h->rest, n * h->code_stride};
}

static int check_head(const hnsw_head *d, fo_err *err) {
    if (d->magic != HNSW_MAGIC) return fo_fail(err, FO_ECORRUPT, "dense graph: bad magic");
    if (d->version != HNSW_VERSION)
        return fo_fail(err, FO_EMISMATCH, "dense graph: version %u, not %d", d->version,
                       HNSW_VERSION);
    if (d->dim < 1 || d->dim > HNSW_MAX_DIM || d->metric > HNSW_L2 || d->M < 2 ||
        d->M > HNSW_MAX_M || d->ef_construction < 1 || d->ef_construction > HNSW_MAX_EF)
        return fo_fail(err, FO_ECORRUPT, "dense graph: a parameter is out of range");
    if (d->n > 1u << 30 || (d->n == 0 ? d->entry != HNSW_NONE : d->entry >= d->n))
        return fo_fail(err, FO_ECORRUPT, "dense graph: entry %u of %u points", d->entry, d->n);
    return FO_OK;
}

int hnsw_map(hnsw **out, const hnsw_section in[HNSW_N_SECTIONS], fo_err *err) {
    hnsw_head d;
    if (in[SEC_HEAD].size != sizeof d)
        return fo_fail(err, FO_ECORRUPT, "dense graph: head of %zu bytes", in[SEC_HEAD].size);
    memcpy(&d, in[SEC_HEAD].data, sizeof d);
    int rc = check_head(&d, err);
    if (rc) return rc;
    hnsw *h = calloc(1, sizeof *h);
    if (!h) return fo_fail(err, FO_ENOMEM, "out of memory for a dense graph");
    h->dim = d.dim;
    h->M = d.M;
    h->metric = (hnsw_metric)d.metric;
    h->ef_construction = d.ef_construction;
    h->seed = d.seed;
    h->capacity = h->limit = d.n;
    h->mapped = true;
    set_geometry(h);
    size_t n = d.n; /* at most 2^30 rows of at most 16 KiB: no product below overflows */
    const size_t want[HNSW_N_SECTIONS] = {
        [SEC_HEAD] = sizeof d,
        [SEC_CODES] = n * h->code_stride,
        [SEC_SCALES] = n * sizeof *h->scales,
        [SEC_BIAS] = h->metric == HNSW_L2 ? n * sizeof *h->bias : 0,
        [SEC_LINKS] = n * h->m0 * sizeof *h->links0,
        [SEC_UPPER_AT] = n * sizeof *h->upper_at,
        [SEC_UPPER] = (size_t)d.upper_len * sizeof *h->upper,
        [SEC_REST] = n * h->code_stride,
    };
    for (int i = 0; i < HNSW_N_SECTIONS; i++) {
        if (in[i].size != want[i]) {
            rc = fo_fail(err, FO_ECORRUPT, "dense graph: section %d has %zu bytes, not %zu", i,
                         in[i].size, want[i]);
        } else if (i != SEC_HEAD && want[i] && (uintptr_t)in[i].data % HNSW_SECTION_ALIGN) {
            rc = fo_fail(err, FO_EINVAL, "dense graph: section %d is not aligned", i);
        }
        if (rc) {
            free(h);
            return rc;
        }
    }
    h->codes = (uint8_t *)in[SEC_CODES].data; /* mapped: never written through */
    h->scales = (float *)in[SEC_SCALES].data;
    h->bias = h->metric == HNSW_L2 ? (float *)in[SEC_BIAS].data : NULL;
    h->links0 = (uint32_t *)in[SEC_LINKS].data;
    h->upper_at = (uint32_t *)in[SEC_UPPER_AT].data;
    h->upper = (uint32_t *)in[SEC_UPPER].data;
    h->rest = (int8_t *)in[SEC_REST].data;
    atomic_init(&h->n, d.n);
    atomic_init(&h->entry, d.entry);
    atomic_init(&h->upper_len, d.upper_len);
    pthread_mutex_init(&h->entry_mu, NULL);
    *out = h;
    return FO_OK;
}
