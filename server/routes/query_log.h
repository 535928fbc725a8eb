/* query_log.h - what was asked, on its way into the store: gathered in memory and written a
 * second's worth in one transaction by a thread of its own, so that no query waits for a disk. A
 * crash loses at most that second. When the buffer is full (the disk is stuck), rows are dropped
 * and counted. */
#ifndef FORAGE_SERVER_QUERY_LOG_H
#define FORAGE_SERVER_QUERY_LOG_H

#include <stdint.h>
#include "retrieval/service/service.h"

typedef struct query_log query_log;

int query_log_create(query_log **out, service *s, fo_err *err);
void query_log_free(query_log *l); /* writes what is left; NULL is fine */
/* Copies the strings (query may be NULL). Any thread; l may be NULL. */
void query_log_add(query_log *l, const store_query_log *row);
uint64_t query_log_dropped(query_log *l);

#endif
