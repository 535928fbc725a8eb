/* rate_limits.h - how much one may ask for: named tiers of requests a second, tokens a minute and
 * requests at work at once, for keys and for addresses.
 *
 *     rate_tier_read(&tier, "free: requests=5, burst=10, tokens=20000, concurrent=2", &err);
 *     rate_limits_create(&l, &opt, &err);
 *     if (!rate_limits_admit(l, who, n, "free", computes, &ticket, &no)) ... no.limit, no.retry_s
 *     rate_limits_charge(l, &ticket, tokens);    // once it is known what it took
 *     rate_limits_done(l, &ticket);
 *
 * Buckets that fill steadily: one of requests, one of tokens, which may be overdrawn by the last
 * request and lets no further one in until it is paid back. At most RATE_BUCKETS of them are kept; in
 * the place of a new one goes that which was idle longest, so that no number of addresses takes more
 * memory. Any thread. */
#ifndef FORAGE_SERVER_RATE_LIMITS_H
#define FORAGE_SERVER_RATE_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "kernels/error.h"

enum { RATE_BUCKETS = 8192, RATE_TIERS_MAX = 32, RATE_WHO_MAX = 24 };

typedef struct rate_tier {
    char name[65];
    double requests_per_s, burst; /* 0: any; burst: that may come at once */
    double tokens_per_min;        /* 0: any */
    int concurrent;               /* 0: any */
} rate_tier;

/* FO_EINVAL says what is wrong: also a limit that stands there twice, and a `concurrent` that is no whole number. */
int rate_tier_read(rate_tier *out, const char *text, fo_err *err);

typedef struct rate_limits rate_limits;
int rate_limits_create(rate_limits **out, const rate_tier *tiers, size_t n, fo_err *err);
void rate_limits_free(rate_limits *l);                                     /* NULL is fine */
const rate_tier *rate_limits_tier(const rate_limits *l, const char *name); /* NULL: no such one */

enum rate_limit { RATE_REQUESTS, RATE_TOKENS, RATE_CONCURRENT, RATE_N_LIMITS };
const char *rate_limit_name(enum rate_limit limit); /* as tiers call it */

typedef struct rate_refusal {
    enum rate_limit limit;
    double retry_s; /* until it may be tried again */
} rate_refusal;

typedef struct rate_ticket {
    int bucket; /* < 0: none */
    bool runs;
} rate_ticket;
#define RATE_NO_TICKET ((rate_ticket){-1, false})

/* who[n]: a key's id, an address. computes: it takes tokens and time, and counts among those at work.
 * False: *no says why; *out needs no end then. t NULL: always true, without a ticket. */
bool rate_limits_admit(rate_limits *l, const void *who, size_t n, const rate_tier *t, bool computes,
                       rate_ticket *out, rate_refusal *no);
void rate_limits_charge(rate_limits *l, const rate_ticket *t, double tokens);
void rate_limits_done(rate_limits *l, rate_ticket *t);
size_t rate_limits_count(rate_limits *l); /* buckets in use */

#endif
