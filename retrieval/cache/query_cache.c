#include "retrieval/cache/query_cache.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "retrieval/cache/count_min_sketch.h"

enum segment { WINDOW, PROBATION, PROTECTED, N_SEGMENTS };

typedef struct entry {
    struct entry *chain;         /* of its bucket */
    struct entry *newer, *older; /* of its segment */
    enum segment segment;
    unsigned char key[QUERY_KEY_BYTES];
    cache_value *value;
    size_t bytes;
    int64_t put_ms;
} entry;

typedef struct lru {
    entry *newest, *oldest;
    size_t bytes;
} lru;

struct query_cache {
    query_cache_options opt; /* immutable after create */
    size_t window_bytes, protected_bytes;
    pthread_mutex_t mu;
    /* guarded by mu */
    count_min *sketch;
    entry **buckets;
    size_t n_buckets; /* a power of two */
    lru lists[N_SEGMENTS];
    query_cache_stats stats;
};

void cache_value_init(cache_value *v, void (*destroy)(cache_value *)) {
    atomic_init(&v->refs, 1);
    v->destroy = destroy;
}

void *cache_value_keep(cache_value *v) {
    atomic_fetch_add_explicit(&v->refs, 1, memory_order_relaxed);
    return v;
}

void cache_value_drop(cache_value *v) {
    if (v && atomic_fetch_sub_explicit(&v->refs, 1, memory_order_acq_rel) == 1) v->destroy(v);
}

int query_cache_create(query_cache **out, const query_cache_options *opt, fo_err *err) {
    query_cache *c = calloc(1, sizeof *c);
    if (!c) return fo_no_memory(err);
    c->opt = *opt;
    c->window_bytes = opt->budget_bytes / 100;
    c->protected_bytes = (opt->budget_bytes - c->window_bytes) / 5 * 4;
    pthread_mutex_init(&c->mu, NULL);
    c->n_buckets = 256;
    c->buckets = calloc(c->n_buckets, sizeof(entry *));
    int rc = c->buckets ? FO_OK : fo_no_memory(err);
    /* 4 x 32,768 counters, 512 KiB: estimates that only have to be right about which is larger. */
    if (!rc) rc = count_min_create(&c->sketch, 1e-4, 0.02, 0x54696e794c4655u, err);
    if (rc) return query_cache_free(c), rc;
    *out = c;
    return FO_OK;
}

static uint64_t hash_of(const unsigned char *key) {
    uint64_t h;
    memcpy(&h, key, sizeof h); /* SHA-256: any part of it will do */
    return h;
}

/* ---- lists and buckets; the lock is held --------------------------------------------------- */

static void unlink_entry(query_cache *c, entry *e) {
    lru *l = &c->lists[e->segment];
    *(e->newer ? &e->newer->older : &l->newest) = e->older;
    *(e->older ? &e->older->newer : &l->oldest) = e->newer;
    l->bytes -= e->bytes;
}

static void link_newest(query_cache *c, entry *e, enum segment segment) {
    lru *l = &c->lists[segment];
    e->segment = segment;
    e->newer = NULL;
    e->older = l->newest;
    *(l->newest ? &l->newest->newer : &l->oldest) = e;
    l->newest = e;
    l->bytes += e->bytes;
}

static entry **place_of(query_cache *c, const unsigned char *key) {
    entry **at = &c->buckets[hash_of(key) & (c->n_buckets - 1)];
    while (*at && memcmp((*at)->key, key, QUERY_KEY_BYTES) != 0) at = &(*at)->chain;
    return at;
}

/* Takes e out; its value comes back to be dropped after the lock. */
static cache_value *remove_entry(query_cache *c, entry *e) {
    entry **at = place_of(c, e->key);
    *at = e->chain;
    unlink_entry(c, e);
    c->stats.entries--;
    cache_value *v = e->value;
    free(e);
    return v;
}

static void grow(query_cache *c) {
    if (c->stats.entries < c->n_buckets) return;
    size_t n = c->n_buckets * 2;
    entry **buckets = calloc(n, sizeof(entry *));
    if (!buckets) return; /* longer chains, nothing worse */
    for (size_t i = 0; i < c->n_buckets; i++)
        for (entry *e = c->buckets[i], *next; e; e = next) {
            next = e->chain;
            entry **to = &buckets[hash_of(e->key) & (n - 1)];
            e->chain = *to;
            *to = e;
        }
    free(c->buckets);
    c->buckets = buckets;
    c->n_buckets = n;
}

void query_cache_free(query_cache *c) {
    if (!c) return;
    for (int s = 0; s < N_SEGMENTS; s++)
        for (entry *e = c->lists[s].newest, *next; e; e = next) {
            next = e->older;
            cache_value_drop(e->value);
            free(e);
        }
    free(c->buckets);
    count_min_free(c->sketch);
    pthread_mutex_destroy(&c->mu);
    free(c);
}

/* ---- policy -------------------------------------------------------------------------------- */

static void saw(query_cache *c, uint64_t hash) {
    count_min_add(c->sketch, hash, 1);
    uint64_t sample = 256 * (uint64_t)c->stats.entries;
    if (count_min_total(c->sketch) >= (sample < 65536 ? 65536 : sample))
        count_min_age(c->sketch, 1);
}

cache_value *query_cache_get(query_cache *c, const unsigned char key[QUERY_KEY_BYTES],
                             int64_t now_ms) {
    cache_value *found = NULL, *gone = NULL;
    pthread_mutex_lock(&c->mu);
    saw(c, hash_of(key));
    entry *e = *place_of(c, key);
    if (e && c->opt.ttl_ms > 0 && now_ms - e->put_ms >= c->opt.ttl_ms) {
        gone = remove_entry(c, e);
        e = NULL;
    }
    if (e) {
        enum segment to = e->segment == WINDOW ? WINDOW : PROTECTED;
        unlink_entry(c, e);
        link_newest(c, e, to);
        while (c->lists[PROTECTED].bytes > c->protected_bytes && c->lists[PROTECTED].oldest != e) {
            entry *down = c->lists[PROTECTED].oldest;
            unlink_entry(c, down);
            link_newest(c, down, PROBATION);
        }
        found = cache_value_keep(e->value);
    }
    pthread_mutex_unlock(&c->mu);
    cache_value_drop(gone);
    return found;
}

static size_t main_bytes(const query_cache *c) {
    return c->lists[PROBATION].bytes + c->lists[PROTECTED].bytes;
}

/* The main part's next victim: out of probation, or where that is empty, the protected. */
static entry *victim(query_cache *c, const entry *except) {
    entry *e = c->lists[PROBATION].oldest;
    if (e == except && e) e = e->newer;
    return e ? e : c->lists[PROTECTED].oldest;
}

/* Bring the cache below its budget; values to drop are chained through gone[]. Returns how many;
 * calls again where gone[] was too short. */
static size_t settle(query_cache *c, cache_value **gone, size_t max) {
    size_t n = 0, main_budget = c->opt.budget_bytes - c->window_bytes;
    while (n < max && c->lists[WINDOW].bytes > c->window_bytes) {
        entry *candidate = c->lists[WINDOW].oldest;
        unlink_entry(c, candidate);
        link_newest(c, candidate, PROBATION);
        uint32_t mine = count_min_estimate(c->sketch, hash_of(candidate->key));
        while (n < max && main_bytes(c) > main_budget) {
            entry *v = victim(c, candidate);
            bool lost = !v || mine <= count_min_estimate(c->sketch, hash_of(v->key));
            gone[n++] = remove_entry(c, lost ? candidate : v);
            *(lost ? &c->stats.rejected : &c->stats.evictions) += 1;
            if (lost) break;
        }
    }
    while (n < max && main_bytes(c) > main_budget) {
        gone[n++] = remove_entry(c, victim(c, NULL));
        c->stats.evictions++;
    }
    return n;
}

void query_cache_put(query_cache *c, const unsigned char key[QUERY_KEY_BYTES], cache_value *v,
                     size_t bytes, int64_t now_ms) {
    bytes += sizeof(entry);
    entry *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return;
    *fresh = (entry){.value = v, .bytes = bytes, .put_ms = now_ms};
    memcpy(fresh->key, key, QUERY_KEY_BYTES);
    cache_value *gone[16];
    size_t n = 0;
    pthread_mutex_lock(&c->mu);
    enum segment segment = WINDOW;
    entry *old = *place_of(c, key);
    if (old) {
        segment = old->segment;
        gone[n++] = remove_entry(c, old);
    }
    if (bytes > c->opt.budget_bytes / 10) {
        c->stats.rejected++;
        free(fresh);
    } else {
        cache_value_keep(v);
        grow(c);
        entry **at = place_of(c, key);
        fresh->chain = *at;
        *at = fresh;
        link_newest(c, fresh, segment);
        c->stats.entries++;
    }
    for (;;) {
        size_t more = settle(c, gone + n, sizeof gone / sizeof *gone - n);
        n += more;
        if (n < sizeof gone / sizeof *gone) break;
        for (size_t i = 0; i < n; i++) cache_value_drop(gone[i]);
        n = 0;
    }
    pthread_mutex_unlock(&c->mu);
    for (size_t i = 0; i < n; i++) cache_value_drop(gone[i]);
}

void query_cache_count(query_cache *c, bool hit, double saved_ms, size_t saved_tokens) {
    pthread_mutex_lock(&c->mu);
    c->stats.lookups++;
    c->stats.hits += hit;
    c->stats.saved_ms += saved_ms;
    c->stats.saved_tokens += saved_tokens;
    pthread_mutex_unlock(&c->mu);
}

void query_cache_get_stats(query_cache *c, query_cache_stats *out) {
    pthread_mutex_lock(&c->mu);
    *out = c->stats;
    out->bytes = c->lists[WINDOW].bytes + main_bytes(c);
    out->budget_bytes = c->opt.budget_bytes;
    pthread_mutex_unlock(&c->mu);
}
