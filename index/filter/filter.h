/* filter.h - conditions on documents' metadata, evaluated inside the search.
 * JSON form as pinned for the HTTP API: {"type":"gte","key":"year","value":2024},
 * {"type":"and","filters":[...]}, types eq ne gt gte lt lte in nin exists and or not. */
#ifndef FORAGE_INDEX_FILTER_H
#define FORAGE_INDEX_FILTER_H

#include "kernels/buf.h"
#include "kernels/error.h"

typedef struct search_filter search_filter; /* immutable; any thread */
struct cJSON;

/* Parse; depth at most 32, 1,024 nodes. err->field is a path such as "filter.filters[1].key". */
int search_filter_parse(search_filter **out, const struct cJSON *json, fo_err *err);
void search_filter_free(search_filter *f);
/* Append bytes that are equal exactly where two filters are: part of what a cache is keyed by. */
void search_filter_write(const search_filter *f, fo_buf *b);

#endif
