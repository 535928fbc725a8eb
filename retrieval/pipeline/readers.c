#include "retrieval/pipeline/readers.h"

int service_open_reader(service *s, const char *path, fo_err *err) {
    return reader_open(&s->reader, path,
                       &(reader_options){.pool = s->model_pool, .cache_bytes = s->reader_bytes},
                       err);
}

static int open_other_reader(service *s, fo_err *err) {
    const reader_options how = {.pool = s->model_pool,
                                .cache_bytes = s->reader_bytes,
                                .weights = embedder_model(s->embedder)};
    return reader_open(&s->other_reader, embedder_name(s->embedder), &how, err);
}

int service_take_reader(service *s, bool others, reader **out, fo_err *err) {
    int rc = FO_OK;
    *out = NULL;
    if (!s->reads) return FO_OK;
    pthread_mutex_lock(&s->reader_mu);
    if (others && !s->other_reader) rc = open_other_reader(s, err);
    if (!others && !s->reader) rc = service_open_reader(s, NULL, err);
    *out = others ? s->other_reader : s->reader;
    pthread_mutex_unlock(&s->reader_mu);
    return rc;
}
