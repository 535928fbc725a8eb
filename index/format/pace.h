/* pace.h - how long work on bytes must wait to stay below a rate. Knows no clock: the caller says
 * what time it is, and does the waiting.
 *
 *     pace p = pace_of(64 << 20);                     // bytes a second
 *     double ms = pace_take(&p, n, fo_now_ms());      // before the next n bytes
 *
 * After a pause a quarter of a second's bytes are free; beyond that the rate holds. */
#ifndef FORAGE_INDEX_PACE_H
#define FORAGE_INDEX_PACE_H

#include <stddef.h>
#include <stdint.h>

typedef struct pace {
    double bytes_per_ms; /* 0: no limit */
    double paid_until;   /* ms: what was taken so far is paid for by then */
} pace;

static inline pace pace_of(uint64_t bytes_per_s) {
    return (pace){.bytes_per_ms = (double)bytes_per_s / 1000};
}

/* Milliseconds to wait before n more bytes; 0: none. */
static inline double pace_take(pace *p, size_t n, double now_ms) {
    enum { BURST_MS = 250 };
    if (p->bytes_per_ms <= 0) return 0;
    if (p->paid_until < now_ms - BURST_MS) p->paid_until = now_ms - BURST_MS;
    p->paid_until += (double)n / p->bytes_per_ms;
    return p->paid_until > now_ms ? p->paid_until - now_ms : 0;
}

#endif
