#include "server/access/rate_limits.h"

#include <ctype.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/clock.h"

enum { SLOTS = 2 * RATE_BUCKETS, NONE = -1 };

typedef struct bucket {
    unsigned char who[RATE_WHO_MAX];
    size_t n_who;
    const rate_tier *tier;
    double requests, tokens; /* left, as of at_ms */
    double at_ms;
    int holders; /* tickets that are out */
    int running; /* of them at work */
    int next;    /* of the same slot */
    int newer, older;
} bucket;

struct rate_limits {
    rate_tier tiers[RATE_TIERS_MAX]; /* immutable */
    size_t n_tiers;
    /* guarded by mu */
    pthread_mutex_t mu;
    bucket *buckets; /* [RATE_BUCKETS] */
    int *slots;      /* [SLOTS] */
    int n, newest, oldest;
};

static const char *const limit_names[] = {"requests", "tokens", "concurrent"};

const char *rate_limit_name(enum rate_limit limit) {
    return limit_names[limit];
}

/* ---- tiers --------------------------------------------------------------------------------- */

static int wrong(fo_err *err, const char *text, const char *what) {
    return fo_fail_field(err, FO_EINVAL, "tier",
                         "'%.150s': %s; write NAME: requests=5, burst=10, tokens=20000, "
                         "concurrent=2 (a second, at once, a minute, at work)",
                         text, what);
}

/* One limit of the tier `text`, name[n]=v; *given: a bit for each that it had already. */
static int take_limit(rate_tier *t, unsigned *given, const char *name, size_t n, double v,
                      const char *text, fo_err *err) {
    static const char *const names[] = {"requests", "burst", "tokens", "concurrent"};
    double *const values[] = {&t->requests_per_s, &t->burst, &t->tokens_per_min};
    size_t i = 0;
    while (i < 4 && (strlen(names[i]) != n || memcmp(names[i], name, n) != 0)) i++;
    if (i == 4) return wrong(err, text, "there is no such limit");
    if (*given & 1u << i) return wrong(err, text, "a limit stands there twice");
    *given |= 1u << i;
    if (i < 3)
        *values[i] = v;
    else if (v > 1e6 || v != floor(v)) /* less than one would be none at all: no limit */
        return wrong(err, text, "concurrent is a whole number, 1000000 at most");
    else
        t->concurrent = (int)v;
    return FO_OK;
}

int rate_tier_read(rate_tier *out, const char *text, fo_err *err) {
    *out = (rate_tier){0};
    const char *s = text + strspn(text, " ");
    size_t n = strcspn(s, ": ");
    unsigned given = 0;
    bool named = n > 0 && n < sizeof out->name && *s != '.';
    for (size_t i = 0; i < n; i++) named &= isalnum((unsigned char)s[i]) || strchr("_-.", s[i]);
    if (!named || s[n + strspn(s + n, " ")] != ':') return wrong(err, text, "no name");
    memcpy(out->name, s, n);
    s = strchr(s, ':') + 1;
    for (;;) {
        s += strspn(s, " ,");
        if (!*s) break;
        n = strcspn(s, "=, ");
        char *end;
        double v = s[n] == '=' ? strtod(s + n + 1, &end) : NAN;
        if (!(v >= 0 && v <= 1e12) || end == s + n + 1 || !strchr(" ,", *end))
            return wrong(err, text, "no number of 0 or more");
        int rc = take_limit(out, &given, s, n, v, text, err);
        if (rc) return rc;
        s = end;
    }
    if (out->burst > 0 && out->burst < 1) return wrong(err, text, "a burst is 1 at least");
    if (!out->burst) out->burst = fmax(1, out->requests_per_s);
    return FO_OK;
}

int rate_limits_create(rate_limits **out, const rate_tier *tiers, size_t n, fo_err *err) {
    if (n > RATE_TIERS_MAX)
        return fo_fail_field(err, FO_EINVAL, "tier", "there may be %d tiers", RATE_TIERS_MAX);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            if (!strcmp(tiers[i].name, tiers[k].name))
                return fo_fail_field(err, FO_EINVAL, "tier", "the tier '%s' is given twice",
                                     tiers[i].name);
    rate_limits *l = calloc(1, sizeof *l);
    if (!l) return fo_no_memory(err);
    pthread_mutex_init(&l->mu, NULL);
    if (n) memcpy(l->tiers, tiers, n * sizeof *tiers);
    l->n_tiers = n;
    l->newest = l->oldest = NONE;
    l->buckets = calloc(RATE_BUCKETS, sizeof *l->buckets);
    l->slots = malloc(SLOTS * sizeof *l->slots);
    if (!l->buckets || !l->slots) return rate_limits_free(l), fo_no_memory(err);
    for (int i = 0; i < SLOTS; i++) l->slots[i] = NONE;
    *out = l;
    return FO_OK;
}

void rate_limits_free(rate_limits *l) {
    if (!l) return;
    pthread_mutex_destroy(&l->mu);
    free(l->buckets);
    free(l->slots);
    free(l);
}

const rate_tier *rate_limits_tier(const rate_limits *l, const char *name) {
    for (size_t i = 0; i < l->n_tiers; i++)
        if (!strcmp(l->tiers[i].name, name)) return &l->tiers[i];
    return NULL;
}

/* ---- buckets; mu held ---------------------------------------------------------------------- */

static size_t slot_of(const unsigned char *who, size_t n) {
    uint64_t h = 14695981039346656037u; /* FNV-1a */
    for (size_t i = 0; i < n; i++) h = (h ^ who[i]) * 1099511628211u;
    return (size_t)(h ^ h >> 29) % SLOTS;
}

static void unlink_age(rate_limits *l, int i) {
    bucket *b = &l->buckets[i];
    *(b->newer == NONE ? &l->newest : &l->buckets[b->newer].older) = b->older;
    *(b->older == NONE ? &l->oldest : &l->buckets[b->older].newer) = b->newer;
}

static void make_newest(rate_limits *l, int i) {
    bucket *b = &l->buckets[i];
    b->newer = NONE;
    b->older = l->newest;
    *(l->newest == NONE ? &l->oldest : &l->buckets[l->newest].newer) = i;
    l->newest = i;
}

static void unlink_slot(rate_limits *l, int i) {
    int *at = &l->slots[slot_of(l->buckets[i].who, l->buckets[i].n_who)];
    while (*at != i) at = &l->buckets[*at].next;
    *at = l->buckets[i].next;
}

/* A place for a new one; NONE where each is held by a request. */
static int take_place(rate_limits *l) {
    if (l->n < RATE_BUCKETS) return l->n++;
    int i = l->oldest;
    while (i != NONE && l->buckets[i].holders) i = l->buckets[i].newer;
    if (i == NONE) return NONE;
    unlink_age(l, i);
    unlink_slot(l, i);
    return i;
}

static int bucket_of(rate_limits *l, const unsigned char *who, size_t n, const rate_tier *t,
                     double now) {
    size_t slot = slot_of(who, n);
    int i = l->slots[slot];
    while (i != NONE && (l->buckets[i].n_who != n || memcmp(l->buckets[i].who, who, n) != 0))
        i = l->buckets[i].next;
    if (i == NONE) {
        i = take_place(l);
        if (i == NONE) return NONE;
        bucket *b = &l->buckets[i];
        *b = (bucket){.n_who = n,
                      .requests = t->burst,
                      .tokens = t->tokens_per_min,
                      .at_ms = now,
                      .next = l->slots[slot]};
        memcpy(b->who, who, n);
        l->slots[slot] = i;
    } else {
        unlink_age(l, i);
    }
    l->buckets[i].tier = t;
    make_newest(l, i);
    return i;
}

static void fill(bucket *b, double now) {
    double s = (now - b->at_ms) / 1000;
    b->at_ms = now;
    b->requests = fmin(b->tier->burst, b->requests + s * b->tier->requests_per_s);
    b->tokens = fmin(b->tier->tokens_per_min, b->tokens + s * b->tier->tokens_per_min / 60);
}

static bool judge(bucket *b, bool computes, rate_refusal *no) {
    const rate_tier *t = b->tier;
    if (t->requests_per_s > 0 && b->requests < 1) {
        *no = (rate_refusal){RATE_REQUESTS, (1 - b->requests) / t->requests_per_s};
        return false;
    }
    if (computes && t->tokens_per_min > 0 && b->tokens <= 0) {
        *no = (rate_refusal){RATE_TOKENS, (1 - b->tokens) * 60 / t->tokens_per_min};
        return false;
    }
    if (computes && t->concurrent && b->running >= t->concurrent) {
        *no = (rate_refusal){RATE_CONCURRENT, 1};
        return false;
    }
    return true;
}

/* ---- from outside -------------------------------------------------------------------------- */

bool rate_limits_admit(rate_limits *l, const void *who, size_t n, const rate_tier *t, bool computes,
                       rate_ticket *out, rate_refusal *no) {
    *out = RATE_NO_TICKET;
    if (!t || n > RATE_WHO_MAX) return true;
    double now = fo_now_ms();
    pthread_mutex_lock(&l->mu);
    int i = bucket_of(l, who, n, t, now);
    bool may = i != NONE;
    if (may) {
        bucket *b = &l->buckets[i];
        fill(b, now);
        may = judge(b, computes, no);
        if (may) {
            b->requests -= 1;
            b->holders++;
            b->running += computes;
            *out = (rate_ticket){i, computes};
        }
    } else {
        *no = (rate_refusal){RATE_CONCURRENT, 1};
    }
    pthread_mutex_unlock(&l->mu);
    return may;
}

void rate_limits_charge(rate_limits *l, const rate_ticket *t, double tokens) {
    if (t->bucket < 0) return;
    pthread_mutex_lock(&l->mu);
    l->buckets[t->bucket].tokens -= tokens;
    pthread_mutex_unlock(&l->mu);
}

void rate_limits_done(rate_limits *l, rate_ticket *t) {
    if (t->bucket < 0) return;
    pthread_mutex_lock(&l->mu);
    l->buckets[t->bucket].holders--;
    l->buckets[t->bucket].running -= t->runs;
    pthread_mutex_unlock(&l->mu);
    *t = RATE_NO_TICKET;
}

size_t rate_limits_count(rate_limits *l) {
    pthread_mutex_lock(&l->mu);
    size_t n = (size_t)l->n;
    pthread_mutex_unlock(&l->mu);
    return n;
}
