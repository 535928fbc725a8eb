/* markers.h - keeps a model from citing what it was not given: while it writes, "[n]" may only name
 * 1 .. max. A constraint on tokens, without a grammar: a candidate is refused when its text would
 * make, or could only go on to make, another number between brackets. */
#ifndef FORAGE_ENGINE_MARKERS_H
#define FORAGE_ENGINE_MARKERS_H

#include <stdbool.h>
#include <stdint.h>
#include "engine/tokenizer/tokenizer.h"

typedef struct marker_state {
    int number; /* digits read since "[": -1 outside, 0 right after it */
} marker_state;

static inline marker_state marker_start(void) {
    return (marker_state){-1};
}

typedef struct marker_filter { /* for sampler_pick */
    const tokenizer *t;
    marker_state state;
    int max;
} marker_filter;
bool marker_allows(void *filter, int32_t token);
void marker_take(marker_filter *f, int32_t token); /* it was chosen */

#endif
