#include "retrieval/service/budgets.h"

#include "retrieval/collections/service_internal.h"

size_t service_get_budgets(service *s, service_budget out[SERVICE_MAX_BUDGETS]) {
    size_t n = 0;
    service_cache_stats caches;
    service_get_cache_stats(s, &caches);
    out[n++] = (service_budget){"answer", caches.answer.bytes, caches.answer.budget_bytes};
    out[n++] = (service_budget){"retrieval", caches.retrieval.bytes, caches.retrieval.budget_bytes};
    reader_stats kept = {0}, others = {0};
    if (pthread_mutex_trylock(&s->reader_mu) ==
        0) { /* busy: it is being opened and keeps nothing */
        if (s->reader) reader_get_stats(s->reader, &kept);
        if (s->other_reader) reader_get_stats(s->other_reader, &others);
        pthread_mutex_unlock(&s->reader_mu);
    }
    const size_t readers = (size_t)s->reads + s->reads_others;
    out[n++] = (service_budget){"reader", kept.bytes + others.bytes, readers * s->reader_bytes};
    memory_budget_stats documents;
    service_get_ingest_memory(s, &documents);
    out[n++] = (service_budget){"ingest", documents.used, documents.bytes};
    return n;
}
