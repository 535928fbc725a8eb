/* analytics_args.h - what the routes below /analytics take and give alike: spans of time, steps,
 * times, CSV. */
#ifndef FORAGE_SERVER_ANALYTICS_ARGS_H
#define FORAGE_SERVER_ANALYTICS_ARGS_H

#include "server/http/http.h"

/* ?name= as "90s", "15m", "24h", "7d", in seconds. False after an error reply. */
bool analytics_span(http_request *r, const char *name, int64_t def, int64_t *out);
/* ?window= and ?step= of a series; a step fits the window where none is given. */
bool analytics_series_args(http_request *r, int64_t *window_s, int64_t *step_s);
bool analytics_wants_csv(const http_request *r);
/* "2026-11-20T10:00:00Z" */
void analytics_stamp(char out[32], int64_t t_s);

#endif
