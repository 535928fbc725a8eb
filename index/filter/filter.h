/* filter.h - conditions on documents' metadata, evaluated inside the search.
 * JSON form as pinned for the HTTP API: {"type":"gte","key":"year","value":2024},
 * {"type":"and","filters":[...]}, types eq ne gt gte lt lte in nin exists and or not. */
#ifndef FORAGE_INDEX_FILTER_H
#define FORAGE_INDEX_FILTER_H

#include <stdint.h>

#include "kernels/buf.h"
#include "kernels/error.h"

typedef struct search_filter search_filter; /* immutable; any thread */
struct cJSON;

/* Parse; depth at most 32, 1,024 nodes. err->field is a path such as "filter.filters[1].key". A number that has
 * its digits as its valuestring is a whole one that no double holds (server/base/json.h): refused (FO_EINVAL),
 * and so are bounds (gt gte lt lte) of one key under an `and` of which one is a number and one a string. */
int search_filter_parse(search_filter **out, const struct cJSON *json, fo_err *err);
void search_filter_free(search_filter *f);
size_t search_filter_count(const search_filter *f); /* conditions, itself among them */

/* Who may see a document stands in its metadata under this key, as a list of groups; where it is
 * missing everybody may. No filter from outside may name it, and no metadata from outside has it. */
#define FILTER_ACL_KEY "$acl"
/* Documents that somebody of these groups sees. */
int search_filter_sees(search_filter **out, const char *const *groups, size_t n, fo_err *err);
/* What both match (either may be NULL, then it is the other's meaning). The two must outlive *out,
 * which is freed before them; NULL where both are. */
int search_filter_both(search_filter **out, const search_filter *a, const search_filter *b,
                       fo_err *err);
/* Documents of these numbers that `also` (NULL: anything) matches too; for a search alone, not a part of another filter. The
 * numbers, n <= 64, and `also` must outlive *out. */
int search_filter_within(search_filter **out, const int64_t *documents, size_t n,
                         const search_filter *also, fo_err *err);
/* Append bytes that are equal exactly where two filters are: part of what a cache is keyed by. */
void search_filter_write(const search_filter *f, fo_buf *b);

#endif
