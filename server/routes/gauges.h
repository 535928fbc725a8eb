/* gauges.h - the memory of this process over the last day: a thread looks every 15 seconds, and a
 * ring holds what it saw. It starts anew with the process, as the memory does. */
#ifndef FORAGE_SERVER_GAUGES_H
#define FORAGE_SERVER_GAUGES_H

#include <stddef.h>
#include <stdint.h>
#include "kernels/error.h"
#include "retrieval/service/service.h"

typedef struct gauges gauges;

enum gauge { GAUGE_RESIDENT, GAUGE_ANSWERS, GAUGE_CONTEXTS, GAUGE_INDEX, GAUGE_KV, N_GAUGES };
const char *gauge_name(enum gauge g);

typedef struct gauge_point {
    int64_t t_s;                  /* begin of the step */
    uint64_t max_bytes[N_GAUGES]; /* the most that was seen in it */
} gauge_point;

int gauges_create(gauges **out, service *s, fo_err *err);
void gauges_free(gauges *g); /* NULL is fine */
/* Steps of step_s seconds from since_s on, in order; those without a look are left out. Caller
 * frees *out. */
int gauges_series(gauges *g, int64_t since_s, int64_t step_s, gauge_point **out, size_t *n,
                  fo_err *err);

#endif
