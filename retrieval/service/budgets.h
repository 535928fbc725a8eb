/* budgets.h - what a service keeps under a bound of bytes, by name: for whoever asks where memory goes.
 *
 *     service_budget b[SERVICE_MAX_BUDGETS];
 *     size_t n = service_get_budgets(s, b);
 *
 * KV and indexes have figures of their own (generator.h, service_get_index_stats). */
#ifndef FORAGE_RETRIEVAL_BUDGETS_H
#define FORAGE_RETRIEVAL_BUDGETS_H

#include "retrieval/service/service.h"

enum { SERVICE_MAX_BUDGETS = 4 };

typedef struct service_budget {
    const char *name; /* answer, retrieval, reader (token vectors of passages), ingest */
    uint64_t bytes, budget_bytes; /* held now, and at most; 0 of 0: switched off */
} service_budget;

/* Their number; any thread, nothing waits. */
size_t service_get_budgets(service *s, service_budget out[SERVICE_MAX_BUDGETS]);

#endif
