#include "server/metrics.h"

#include <stdatomic.h>
#include <stdlib.h>

static const double bounds_ms[] = {0.1, 0.25, 0.5, 1,   2.5,  5,    10,   25,
                                   50,  100,  250, 500, 1000, 2500, 5000, 10000};
#define N_BOUNDS (sizeof bounds_ms / sizeof *bounds_ms)

typedef struct route_metrics {
    atomic_ullong classes[6]; /* by status / 100 */
    atomic_ullong buckets[N_BOUNDS + 1];
    atomic_ullong sum_us;
} route_metrics;

struct metrics {
    const char *const *methods, *const *patterns;
    size_t n_routes;
    route_metrics *routes;
    route_metrics stages[STORE_N_STAGES]; /* classes unused */
    atomic_ullong queries[3], ingested[4];
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

static void observe(route_metrics *r, double ms) {
    size_t i = 0;
    while (i < N_BOUNDS && ms > bounds_ms[i]) i++;
    atomic_fetch_add(&r->buckets[i], 1);
    atomic_fetch_add(&r->sum_us, (unsigned long long)(ms * 1000));
}

void metrics_stages(metrics *m, const double ms[STORE_N_STAGES]) {
    for (int i = 0; i < STORE_N_STAGES; i++)
        if (ms[i] > 0) observe(&m->stages[i], ms[i]);
}

void metrics_request(metrics *m, size_t route, int status, double ms) {
    route_metrics *r = &m->routes[route < m->n_routes ? route : m->n_routes];
    int c = status / 100;
    atomic_fetch_add(&r->classes[c >= 1 && c <= 5 ? c : 0], 1);
    observe(r, ms);
}

void metrics_query(metrics *m, int query_status) {
    if (query_status >= 0 && query_status < 3) atomic_fetch_add(&m->queries[query_status], 1);
}

void metrics_ingest(metrics *m, const size_t by_status[4]) {
    for (int i = 0; i < 4; i++) atomic_fetch_add(&m->ingested[i], by_status[i]);
}

void metrics_write_value(fo_buf *b, const char *name, const char *type, const char *help,
                         double v) {
    fo_buf_printf(b, "# HELP %s %s\n# TYPE %s %s\n%s %.17g\n", name, help, name, type, name, v);
}

static void labels(const metrics *m, size_t i, fo_buf *b) {
    if (i < m->n_routes)
        fo_buf_printf(b, "method=\"%s\",route=\"%s\"", m->methods[i], m->patterns[i]);
    else
        fo_buf_str(b, "method=\"\",route=\"none\"");
}

void metrics_write(const metrics *m, fo_buf *b) {
    fo_buf_str(b, "# HELP forage_http_requests_total Requests answered.\n"
                  "# TYPE forage_http_requests_total counter\n");
    for (size_t i = 0; i <= m->n_routes; i++)
        for (int c = 0; c < 6; c++) {
            unsigned long long n = atomic_load(&m->routes[i].classes[c]);
            if (!n) continue;
            fo_buf_str(b, "forage_http_requests_total{");
            labels(m, i, b);
            fo_buf_printf(b, ",status=\"%dxx\"} %llu\n", c, n);
        }
    fo_buf_str(b, "# HELP forage_http_request_seconds Time from headers to the end of the reply.\n"
                  "# TYPE forage_http_request_seconds histogram\n");
    for (size_t i = 0; i <= m->n_routes; i++) {
        unsigned long long total = 0;
        for (size_t k = 0; k <= N_BOUNDS; k++) total += atomic_load(&m->routes[i].buckets[k]);
        if (!total) continue;
        unsigned long long below = 0;
        for (size_t k = 0; k < N_BOUNDS; k++) {
            below += atomic_load(&m->routes[i].buckets[k]);
            fo_buf_str(b, "forage_http_request_seconds_bucket{");
            labels(m, i, b);
            fo_buf_printf(b, ",le=\"%g\"} %llu\n", bounds_ms[k] / 1000, below);
        }
        total = below + atomic_load(&m->routes[i].buckets[N_BOUNDS]);
        fo_buf_str(b, "forage_http_request_seconds_bucket{");
        labels(m, i, b);
        fo_buf_printf(b, ",le=\"+Inf\"} %llu\nforage_http_request_seconds_sum{", total);
        labels(m, i, b);
        fo_buf_printf(b, "} %.6f\nforage_http_request_seconds_count{",
                      (double)atomic_load(&m->routes[i].sum_us) / 1e6);
        labels(m, i, b);
        fo_buf_printf(b, "} %llu\n", total);
    }
    fo_buf_str(b, "# HELP forage_query_stage_seconds Time of a query's stages that were run.\n"
                  "# TYPE forage_query_stage_seconds histogram\n");
    for (int i = 0; i < STORE_N_STAGES; i++) {
        const route_metrics *r = &m->stages[i];
        unsigned long long below = 0;
        for (size_t k = 0; k < N_BOUNDS; k++) {
            below += atomic_load(&r->buckets[k]);
            fo_buf_printf(b, "forage_query_stage_seconds_bucket{stage=\"%s\",le=\"%g\"} %llu\n",
                          store_stage_name(i), bounds_ms[k] / 1000, below);
        }
        below += atomic_load(&r->buckets[N_BOUNDS]);
        fo_buf_printf(b,
                      "forage_query_stage_seconds_bucket{stage=\"%s\",le=\"+Inf\"} %llu\n"
                      "forage_query_stage_seconds_sum{stage=\"%s\"} %.6f\n"
                      "forage_query_stage_seconds_count{stage=\"%s\"} %llu\n",
                      store_stage_name(i), below, store_stage_name(i),
                      (double)atomic_load(&r->sum_us) / 1e6, store_stage_name(i), below);
    }
    static const char *const query_names[] = {"answered", "abstained", "no_context"};
    fo_buf_str(b, "# HELP forage_queries_total Questions by outcome.\n"
                  "# TYPE forage_queries_total counter\n");
    for (int i = 0; i < 3; i++)
        fo_buf_printf(b, "forage_queries_total{status=\"%s\"} %llu\n", query_names[i],
                      atomic_load(&m->queries[i]));
    static const char *const ingest_names[] = {"created", "updated", "unchanged", "failed"};
    fo_buf_str(b, "# HELP forage_documents_ingested_total Documents taken in by outcome.\n"
                  "# TYPE forage_documents_ingested_total counter\n");
    for (int i = 0; i < 4; i++)
        fo_buf_printf(b, "forage_documents_ingested_total{status=\"%s\"} %llu\n", ingest_names[i],
                      atomic_load(&m->ingested[i]));
}
