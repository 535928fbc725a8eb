/* metrics.h - counters and latency histograms of the service. What is read from elsewhere at the time
 * of asking (caches, engine, index, store) is added in routes_metrics.c. */
#ifndef FORAGE_SERVER_METRICS_H
#define FORAGE_SERVER_METRICS_H

#include <stddef.h>
#include <stdint.h>
#include "retrieval/service/service.h"
#include "server/base/metrics_text.h"

typedef struct metrics metrics;

/* One row a route ("POST /query"), in the order of the route table; one more for what matched
 * none. Names must outlive m. */
metrics *metrics_create(const char *const *methods, const char *const *patterns, size_t n_routes);
void metrics_free(metrics *m);
/* Everything below: any thread. route == n_routes: none matched. */
void metrics_request(metrics *m, size_t route, int status, double ms);
void metrics_query(metrics *m, int query_status); /* enum query_status */
/* One query's stages; 0 ms: the stage was not run. */
void metrics_stages(metrics *m, const double ms[STORE_N_STAGES]);
/* What each cache layer did for one query. */
void metrics_layers(metrics *m, const store_layer_use use[STORE_N_LAYERS]);
void metrics_ingest(metrics *m, const size_t by_status[4]);
/* Requests that were refused before they were looked at: for who asks, or for want of memory. */
enum metrics_refusal {
    METRICS_KEY_MISSING,
    METRICS_KEY_UNKNOWN,
    METRICS_SCOPE_MISSING,
    METRICS_MEMORY_LOW,
    METRICS_N_REFUSALS
};
void metrics_refused(metrics *m, enum metrics_refusal why);
/* Requests refused by a tier: of a key, or of an address. limit: enum rate_limit. */
void metrics_limited(metrics *m, bool of_key, int limit);
/* # HELP, # TYPE and samples of all of it. */
void metrics_write(const metrics *m, fo_buf *b);

#endif
