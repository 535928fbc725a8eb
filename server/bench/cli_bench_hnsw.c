/* cli_bench_hnsw.c - `forage bench hnsw`: the dense graph against exact neighbours from a file. */
#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "index/dense/hnsw.h"
#include "kernels/bits.h"
#include "kernels/cpu.h"
#include "kernels/file.h"
#include "kernels/paths.h"
#include "server/cli/cli.h"

static struct {
    const char *base, *query, *truth, *metric;
    int64_t M, efc, threads, k, seed, repeat;
    cli_list share;
    bool json;
} o = {.metric = "auto", .M = 16, .efc = 200, .threads = 2, .k = 10, .seed = 1, .repeat = 3};

static const cli_option options[] = {
    {"base", CLI_STRING, &o.base, "FILE", "vectors to index, .fvecs or .f32", .required = true},
    {"query", CLI_STRING, &o.query, "FILE", "vectors to look for, .fvecs or .f32",
     .required = true},
    {"truth", CLI_STRING, &o.truth, "FILE", "their exact neighbours, .ivecs or .i32",
     .required = true},
    {"metric", CLI_STRING, &o.metric, "NAME",
     "cosine, ip or l2 (default: cosine where all base vectors have length 1, else l2)"},
    {"M", CLI_INT, &o.M, "N", "links of a point (default 16)", .min = 2, .max = HNSW_MAX_M},
    {"efc", CLI_INT, &o.efc, "N", "candidates while building (default 200)", .min = 1,
     .max = HNSW_MAX_EF},
    {"threads", CLI_INT, &o.threads, "N", "threads of the build (default 2); searches use one",
     .min = 1, .max = 1024},
    {"k", CLI_INT, &o.k, "N", "neighbours asked for (default 10)", .min = 1, .max = 1000},
    {"seed", CLI_INT, &o.seed, "N", "of the levels (default 1)", .min = 0, .max = 1e15},
    {"repeat", CLI_INT, &o.repeat, "N",
     "passes a point of the curve, the fastest counts "
     "(default 3)",
     .min = 1, .max = 1000},
    {"share", CLI_LIST, &o.share, "X", "also search with a random filter that lets this share by"},
    {"json", CLI_BOOL, &o.json, NULL, "one JSON object on stdout (the only form there is)"},
    {0}};

typedef struct table { /* rows of 4-byte values */
    fo_map map;
    void *cells; /* [n, d], 64-byte aligned */
    size_t n, d;
} table;

static void table_free(table *t) {
    free(t->cells);
    fo_map_close(&t->map);
}

/* .fvecs/.ivecs: rows of int32 d, d values; .f32/.i32: int32 n, int32 d, rows. */
static int table_read(table *t, const char *path, fo_err *err) {
    int rc = fo_map_open(&t->map, path, err);
    if (rc) return rc;
    const unsigned char *p = t->map.data;
    size_t size = t->map.size, head = 8, row_head = 0;
    int32_t n = 0, d = 0;
    bool vecs = fo_ends_with(path, "vecs");
    if (size >= 8 && vecs) {
        memcpy(&d, p, 4);
        head = 0;
        row_head = 4;
        if (d > 0) n = (int32_t)(size / (4 + 4 * (size_t)d));
    } else if (size >= 8) {
        memcpy(&n, p, 4);
        memcpy(&d, p + 4, 4);
    }
    if (n < 1 || d < 1 || size != head + (size_t)n * (row_head + 4 * (size_t)d))
        return fo_fail(err, FO_ECORRUPT, "%s: %zu bytes are not whole rows of one length", path,
                       size);
    t->n = (size_t)n;
    t->d = (size_t)d;
    size_t bytes = t->n * t->d * 4;
    t->cells = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!t->cells) return fo_fail(err, FO_ENOMEM, "out of memory for %s", path);
    for (size_t i = 0; i < t->n; i++) {
        const unsigned char *row = p + head + i * (row_head + 4 * t->d);
        int32_t own = d;
        if (row_head) memcpy(&own, row, 4);
        if (own != d)
            return fo_fail(err, FO_ECORRUPT, "%s: row %zu has %d values, not %d", path, i, own, d);
        memcpy((char *)t->cells + i * t->d * 4, row + row_head, t->d * 4);
    }
    return FO_OK;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool all_unit(const table *t) {
    const float *x = t->cells;
    for (size_t i = 0; i < t->n; i++) {
        double sum = 0;
        for (size_t j = 0; j < t->d; j++) sum += (double)x[i * t->d + j] * x[i * t->d + j];
        if (fabs(sum - 1) > 1e-3) return false;
    }
    return true;
}

static int choose_metric(const table *base, hnsw_metric *out, fo_err *err) {
    if (strcmp(o.metric, "auto") == 0)
        *out = all_unit(base) ? HNSW_COSINE : HNSW_L2;
    else if (strcmp(o.metric, "cosine") == 0)
        *out = HNSW_COSINE;
    else if (strcmp(o.metric, "ip") == 0)
        *out = HNSW_IP;
    else if (strcmp(o.metric, "l2") == 0)
        *out = HNSW_L2;
    else
        return fo_fail(err, FO_EINVAL, "--metric must be auto, cosine, ip or l2");
    return FO_OK;
}

typedef struct bench {
    hnsw *h;
    hnsw_scratch *s;
    const table *query;
    size_t k;
    uint32_t *found; /* [query n, k] */
    size_t n_scored;
} bench;

/* All queries once, on this thread; seconds -> *seconds. */
static int pass(bench *b, size_t ef, const uint64_t *allowed, size_t n_allowed, bool exact,
                double *seconds, fo_err *err) {
    hnsw_hit hits[1000];
    double start = now();
    b->n_scored = 0;
    for (size_t i = 0; i < b->query->n; i++) {
        hnsw_query q = {.vector = (const float *)b->query->cells + i * b->query->d,
                        .k = b->k,
                        .ef = ef,
                        .visible = UINT32_MAX,
                        .allowed = allowed,
                        .n_allowed = n_allowed,
                        .exact = exact};
        size_t n;
        int rc = hnsw_search(b->h, &q, b->s, hits, &n, err);
        if (rc) return rc;
        hnsw_search_stats stats;
        hnsw_get_search_stats(b->s, &stats);
        b->n_scored += stats.n_scored;
        for (size_t j = 0; j < b->k; j++) b->found[i * b->k + j] = j < n ? hits[j].id : UINT32_MAX;
    }
    *seconds = now() - start;
    return FO_OK;
}

static int best_pass(bench *b, size_t ef, const uint64_t *allowed, size_t n_allowed, double *best,
                     fo_err *err) {
    *best = INFINITY;
    for (int64_t i = 0; i < o.repeat; i++) {
        double seconds;
        int rc = pass(b, ef, allowed, n_allowed, false, &seconds, err);
        if (rc) return rc;
        if (seconds < *best) *best = seconds;
    }
    return FO_OK;
}

/* Share of truth[n, width] (its first k columns) among found[n, k]. */
static double recall(const bench *b, const uint32_t *truth, size_t width) {
    size_t hit = 0, n = b->query->n;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < b->k; j++)
            for (size_t t = 0; t < b->k; t++)
                hit += truth[i * width + t] != UINT32_MAX &&
                       truth[i * width + t] == b->found[i * b->k + j];
    size_t want = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t t = 0; t < b->k; t++) want += truth[i * width + t] != UINT32_MAX;
    return want ? (double)hit / (double)want : 1;
}

static const size_t efs[] = {10, 12, 14, 17,  20,  24,  28,  34,  40,  48,
                             56, 68, 80, 112, 160, 224, 320, 480, 700, 1000};
enum { N_EFS = sizeof efs / sizeof *efs };
static const char *const marks[] = {"0.90", "0.95", "0.99"};

/* The curve and, between its points, the speed at round recalls (geometric interpolation). */
static int run_curve(bench *b, const table *truth, cJSON *out, fo_err *err) {
    double at[N_EFS], qps[N_EFS];
    size_t n = 0;
    cJSON *curve = cJSON_AddArrayToObject(out, "curve");
    for (size_t i = 0; i < N_EFS; i++) {
        if (efs[i] < b->k) continue;
        double seconds;
        int rc = best_pass(b, efs[i], NULL, 0, &seconds, err);
        if (rc) return rc;
        at[n] = recall(b, truth->cells, truth->d);
        qps[n] = (double)b->query->n / seconds;
        cJSON *point = cJSON_CreateObject();
        cJSON_AddNumberToObject(point, "ef", (double)efs[i]);
        cJSON_AddNumberToObject(point, "recall", at[n]);
        cJSON_AddNumberToObject(point, "qps", round(qps[n]));
        cJSON_AddNumberToObject(point, "scored", round((double)b->n_scored / (double)b->query->n));
        cJSON_AddItemToArray(curve, point);
        if (at[n++] > 0.998) break;
    }
    cJSON *marked = cJSON_AddObjectToObject(out, "qps_at");
    for (size_t m = 0; m < 3; m++) {
        double want = atof(marks[m]), value = NAN;
        if (n && at[0] >= want) value = qps[0];
        for (size_t i = 0; i + 1 < n && isnan(value); i++) {
            if (at[i] >= want || at[i + 1] < want) continue;
            double t = (want - at[i]) / (at[i + 1] - at[i]);
            value = exp(log(qps[i]) * (1 - t) + log(qps[i + 1]) * t);
        }
        if (isnan(value))
            cJSON_AddNullToObject(marked, marks[m]);
        else
            cJSON_AddNumberToObject(marked, marks[m], round(value));
    }
    return FO_OK;
}

/* A random filter; its truth is our own exact scan of what it allows. */
static int run_share(bench *b, double share, cJSON *out, fo_err *err) {
    size_t n = hnsw_count(b->h), words = n / 64 + 1, n_allowed = 0;
    uint64_t *map = calloc(words, sizeof *map), z = 88172645463325252u;
    uint32_t *truth = malloc(b->query->n * b->k * sizeof *truth), *found = b->found;
    int rc = map && truth ? FO_OK : fo_fail(err, FO_ENOMEM, "out of memory for a filter");
    for (size_t i = 0; i < n && !rc; i++) {
        z ^= z << 13;
        z ^= z >> 7;
        z ^= z << 17;
        if ((double)(z >> 11) * 0x1p-53 >= share) continue;
        fo_bits_set(map, i);
        n_allowed++;
    }
    double exact_s = 0;
    if (!rc && n_allowed) {
        b->found = truth;
        rc = pass(b, 0, map, n_allowed, true, &exact_s, err);
        b->found = found;
    }
    cJSON *entry = cJSON_CreateObject(), *curve = cJSON_AddArrayToObject(entry, "curve");
    cJSON_AddNumberToObject(entry, "share", share);
    cJSON_AddNumberToObject(entry, "exact_qps", round((double)b->query->n / exact_s));
    for (size_t i = 0; i < N_EFS && !rc && n_allowed; i++) {
        if (efs[i] < b->k) continue;
        double seconds;
        rc = best_pass(b, efs[i], map, n_allowed, &seconds, err);
        double r = recall(b, truth, b->k);
        cJSON *point = cJSON_CreateObject();
        cJSON_AddNumberToObject(point, "ef", (double)efs[i]);
        cJSON_AddNumberToObject(point, "recall", r);
        cJSON_AddNumberToObject(point, "qps", round((double)b->query->n / seconds));
        cJSON_AddNumberToObject(point, "scored", round((double)b->n_scored / (double)b->query->n));
        cJSON_AddItemToArray(curve, point);
        if (r > 0.98) break;
    }
    cJSON_AddItemToArray(out, entry);
    free(map);
    free(truth);
    return rc;
}

static int measure(const table *base, const table *query, const table *truth, cJSON *out,
                   fo_err *err) {
    bench b = {.query = query, .k = (size_t)o.k};
    hnsw_params p = {.dim = (uint32_t)base->d,
                     .M = (uint32_t)o.M,
                     .ef_construction = (uint32_t)o.efc,
                     .seed = (uint64_t)o.seed,
                     .capacity = (uint32_t)base->n};
    int rc = choose_metric(base, &p.metric, err);
    if (!rc) rc = hnsw_create(&b.h, &p, err);
    if (rc) return rc;
    fo_pool *pool = fo_pool_create((int)o.threads);
    b.s = hnsw_scratch_create();
    b.found = malloc(query->n * b.k * sizeof *b.found);
    if (!pool || !b.s || !b.found) rc = fo_no_memory(err);
    double start = now();
    if (!rc) rc = hnsw_build(b.h, base->cells, base->n, pool, NULL, NULL, err);
    cJSON_AddNumberToObject(out, "build_s", now() - start);
    cJSON_AddNumberToObject(out, "bytes", (double)hnsw_memory(b.h));
    cJSON_AddStringToObject(out, "isa", fo_cpu_level_name(fo_cpu()->level));
    if (!rc) rc = run_curve(&b, truth, out, err);
    if (!rc && o.share.n) {
        cJSON *filtered = cJSON_AddArrayToObject(out, "filtered");
        for (size_t i = 0; i < o.share.n && !rc; i++)
            rc = run_share(&b, atof(o.share.items[i]), filtered, err);
    }
    free(b.found);
    hnsw_scratch_free(b.s);
    fo_pool_free(pool);
    hnsw_free(b.h);
    return rc;
}

static int run(int argc, char **argv) {
    (void)argc;
    (void)argv;
    fo_err err = {0};
    table base = {0}, query = {0}, truth = {0};
    int rc = table_read(&base, o.base, &err);
    if (!rc) rc = table_read(&query, o.query, &err);
    if (!rc) rc = table_read(&truth, o.truth, &err);
    if (!rc && (query.d != base.d || truth.n < query.n || truth.d < (size_t)o.k))
        rc = fo_fail(&err, FO_EINVAL,
                     "%zu queries of %zu values and %zu x %zu neighbours do not fit %zu values",
                     query.n, query.d, truth.n, truth.d, base.d);
    cJSON *out = cJSON_CreateObject();
    if (!rc) rc = measure(&base, &query, &truth, out, &err);
    if (!rc) {
        char *text = cJSON_PrintUnformatted(out);
        puts(text ? text : "{}");
        cJSON_free(text);
    }
    cJSON_Delete(out);
    table_free(&base);
    table_free(&query);
    table_free(&truth);
    return rc ? cli_fail(&err) : 0;
}

const cli_command cli_command_bench_hnsw = {
    "bench hnsw",
    "speed and recall of the dense graph on a file of vectors",
    "forage bench hnsw --base B.fvecs --query Q.fvecs --truth T.ivecs [--M 16] [--efc 200] "
    "[--threads 2]",
    "Prints build_s, bytes, curve (ef, recall, qps, codes scored a query) and qps_at.",
    options,
    0,
    0,
    run};
