/* damage.h - what the libraries found out of order and went on from (kernels/notice.h): a line of
 * the log each, and counts by kind for /metrics. One set of counts for the process. */
#ifndef FORAGE_SERVER_DAMAGE_H
#define FORAGE_SERVER_DAMAGE_H

#include <stddef.h>
#include <stdint.h>

/* An fo_notices.fn: logs, as an error, a warning or in passing, and counts. */
void damage_log(void *ctx, const char *kind, const char *text);
/* Another: for commands, which have no log. A line on stderr, unless nobody needs to know. */
void damage_print(void *ctx, const char *kind, const char *text);

/* The kinds there are, for i from 0 on; NULL ends them. The last counts all that have no row. */
const char *damage_kind(size_t i);
uint64_t damage_count(size_t i);

#endif
