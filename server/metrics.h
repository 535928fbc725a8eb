/* metrics.h - counters and latency histograms in the Prometheus text format.
 * Source: prometheus.io/docs/instrumenting/exposition_formats. Analytics of caches join here. */
#ifndef FORAGE_SERVER_METRICS_H
#define FORAGE_SERVER_METRICS_H

#include <stddef.h>
#include <stdint.h>
#include "data/store.h"
#include "kernels/buf.h"

typedef struct metrics metrics;

/* One row a route ("POST /query"), in the order of the route table; one more for what matched
 * none. Names must outlive m. */
metrics *metrics_create(const char *const *methods, const char *const *patterns, size_t n_routes);
void metrics_free(metrics *m);
/* route == n_routes: none matched. Any thread. */
void metrics_request(metrics *m, size_t route, int status, double ms);
void metrics_query(metrics *m, int query_status); /* enum query_status */
/* One query's stages; 0 ms: the stage was not run. */
void metrics_stages(metrics *m, const double ms[STORE_N_STAGES]);
void metrics_ingest(metrics *m, const size_t by_status[4]);
/* # HELP, # TYPE and samples of all of it. */
void metrics_write(const metrics *m, fo_buf *b);
/* One gauge or counter ("gauge"/"counter") without labels. */
void metrics_write_value(fo_buf *b, const char *name, const char *type, const char *help, double v);

#endif
