/* cache_sums.h - what each cache layer did in the last 30 days, as GET /stats and forage stats tell
 * it. */
#ifndef FORAGE_SERVER_CACHE_SUMS_H
#define FORAGE_SERVER_CACHE_SUMS_H

#include "retrieval/service/service.h"
#include "server/base/json.h"

/* Adds "cache_30_days":{"answer":{"lookups":…,"hits":…,"hit_ratio":…},…} to the open object; null where the store keeps no log of queries. */
int cache_sums_write(json_out *out, service *s, const char *tenant, fo_err *err);

#endif
