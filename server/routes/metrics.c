#include "server/routes/metrics.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "server/access/rate_limits.h"

typedef struct route_metrics {
    atomic_ullong classes[6]; /* by status / 100 */
    fo_histogram time;
} route_metrics;

typedef struct layer_metrics {
    atomic_ullong lookups, hits, saved_us, saved_tokens;
} layer_metrics;

struct metrics {
    const char *const *methods, *const *patterns;
    size_t n_routes;
    route_metrics *routes;
    fo_histogram stages[STORE_N_STAGES];
    layer_metrics layers[STORE_N_LAYERS];
    atomic_ullong queries[3], ingested[4], refused[METRICS_N_REFUSALS];
    atomic_ullong limited[2][RATE_N_LIMITS];
};

metrics *metrics_create(const char *const *methods, const char *const *patterns, size_t n_routes) {
    metrics *m = calloc(1, sizeof *m);
    if (!m) return NULL;
    m->methods = methods, m->patterns = patterns, m->n_routes = n_routes;
    m->routes = calloc(n_routes + 1, sizeof *m->routes);
    if (!m->routes) return free(m), NULL;
    return m;
}

void metrics_free(metrics *m) {
    if (!m) return;
    free(m->routes);
    free(m);
}

void metrics_stages(metrics *m, const double ms[STORE_N_STAGES]) {
    for (int i = 0; i < STORE_N_STAGES; i++)
        if (ms[i] > 0) fo_histogram_add(&m->stages[i], ms[i]);
}

void metrics_layers(metrics *m, const store_layer_use use[STORE_N_LAYERS]) {
    for (int i = 0; i < STORE_N_LAYERS; i++) {
        layer_metrics *l = &m->layers[i];
        atomic_fetch_add(&l->lookups, (unsigned long long)use[i].lookups);
        atomic_fetch_add(&l->hits, (unsigned long long)use[i].hits);
        atomic_fetch_add(&l->saved_us, (unsigned long long)(use[i].saved_ms * 1000));
        atomic_fetch_add(&l->saved_tokens, (unsigned long long)use[i].saved_tokens);
    }
}

void metrics_request(metrics *m, size_t route, int status, double ms) {
    route_metrics *r = &m->routes[route < m->n_routes ? route : m->n_routes];
    int c = status / 100;
    atomic_fetch_add(&r->classes[c >= 1 && c <= 5 ? c : 0], 1);
    fo_histogram_add(&r->time, ms);
}

void metrics_query(metrics *m, int query_status) {
    if (query_status >= 0 && query_status < 3) atomic_fetch_add(&m->queries[query_status], 1);
}

void metrics_ingest(metrics *m, const size_t by_status[4]) {
    for (int i = 0; i < 4; i++) atomic_fetch_add(&m->ingested[i], by_status[i]);
}

void metrics_refused(metrics *m, enum metrics_refusal why) {
    atomic_fetch_add(&m->refused[why], 1);
}

void metrics_limited(metrics *m, bool of_key, int limit) {
    atomic_fetch_add(&m->limited[of_key][limit], 1);
}

static void route_labels(const metrics *m, size_t i, char *out, size_t n) {
    if (i < m->n_routes)
        snprintf(out, n, "method=\"%s\",route=\"%s\"", m->methods[i], m->patterns[i]);
    else
        snprintf(out, n, "method=\"\",route=\"none\"");
}

static void write_requests(const metrics *m, fo_buf *b) {
    char labels[256];
    metrics_write_head(b, "forage_http_requests_total", "counter", "Requests answered.");
    for (size_t i = 0; i <= m->n_routes; i++)
        for (int c = 0; c < 6; c++) {
            unsigned long long n = atomic_load(&m->routes[i].classes[c]);
            if (!n) continue;
            route_labels(m, i, labels, sizeof labels);
            fo_buf_printf(b, "forage_http_requests_total{%s,status=\"%dxx\"} %llu\n", labels, c, n);
        }
    metrics_write_head(b, "forage_http_request_seconds", "histogram",
                       "Time from headers to the end of the reply.");
    for (size_t i = 0; i <= m->n_routes; i++) {
        unsigned long long any = 0;
        for (int c = 0; c < 6; c++) any += atomic_load(&m->routes[i].classes[c]);
        if (!any) continue;
        route_labels(m, i, labels, sizeof labels);
        metrics_write_histogram(b, "forage_http_request_seconds", labels, &m->routes[i].time);
    }
}

static void write_layers(const metrics *m, fo_buf *b) {
    metrics_write_head(b, "forage_cache_lookups_total", "counter",
                       "Queries that asked a cache layer.");
    for (int i = 0; i < STORE_N_LAYERS; i++)
        fo_buf_printf(b, "forage_cache_lookups_total{layer=\"%s\"} %llu\n",
                      store_cache_layer_name(i), atomic_load(&m->layers[i].lookups));
    metrics_write_head(b, "forage_cache_hits_total", "counter",
                       "Queries that a cache layer served, whole or in part.");
    for (int i = 0; i < STORE_N_LAYERS; i++)
        fo_buf_printf(b, "forage_cache_hits_total{layer=\"%s\"} %llu\n", store_cache_layer_name(i),
                      atomic_load(&m->layers[i].hits));
    metrics_write_head(b, "forage_cache_saved_seconds_total", "counter",
                       "Time that hits were spared, by what they cost at first.");
    for (int i = 0; i < STORE_N_LAYERS; i++)
        fo_buf_printf(b, "forage_cache_saved_seconds_total{layer=\"%s\"} %.6f\n",
                      store_cache_layer_name(i), (double)atomic_load(&m->layers[i].saved_us) / 1e6);
    metrics_write_head(b, "forage_cache_saved_tokens_total", "counter",
                       "Tokens that hits were spared.");
    for (int i = 0; i < STORE_N_LAYERS; i++)
        fo_buf_printf(b, "forage_cache_saved_tokens_total{layer=\"%s\"} %llu\n",
                      store_cache_layer_name(i), atomic_load(&m->layers[i].saved_tokens));
}

void metrics_write(const metrics *m, fo_buf *b) {
    char labels[64];
    write_requests(m, b);
    metrics_write_head(b, "forage_query_stage_seconds", "histogram",
                       "Time of a query's stages that were run.");
    for (int i = 0; i < STORE_N_STAGES; i++) {
        snprintf(labels, sizeof labels, "stage=\"%s\"", store_stage_name(i));
        metrics_write_histogram(b, "forage_query_stage_seconds", labels, &m->stages[i]);
    }
    write_layers(m, b);
    metrics_write_head(b, "forage_queries_total", "counter", "Questions by outcome.");
    for (int i = 0; query_status_names[i]; i++)
        fo_buf_printf(b, "forage_queries_total{status=\"%s\"} %llu\n", query_status_names[i],
                      atomic_load(&m->queries[i]));
    static const char *const refusals[METRICS_N_REFUSALS] = {"no_key", "unknown_key",
                                                             "missing_scope", "memory_low"};
    metrics_write_head(
        b, "forage_access_refused_total", "counter",
        "Requests refused for the key that they came with, or without; for want of memory.");
    for (int i = 0; i < METRICS_N_REFUSALS; i++)
        fo_buf_printf(b, "forage_access_refused_total{reason=\"%s\"} %llu\n", refusals[i],
                      atomic_load(&m->refused[i]));
    metrics_write_head(b, "forage_rate_limited_total", "counter",
                       "Requests refused with 429 by the tier of a key or of an address.");
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < RATE_N_LIMITS; i++)
            fo_buf_printf(b, "forage_rate_limited_total{of=\"%s\",limit=\"%s\"} %llu\n",
                          k ? "key" : "address", rate_limit_name(i),
                          atomic_load(&m->limited[k][i]));
    static const char *const ingest_names[] = {"created", "updated", "unchanged", "failed"};
    metrics_write_head(b, "forage_documents_ingested_total", "counter",
                       "Documents taken in by outcome.");
    for (int i = 0; i < 4; i++)
        fo_buf_printf(b, "forage_documents_ingested_total{status=\"%s\"} %llu\n", ingest_names[i],
                      atomic_load(&m->ingested[i]));
}
