/* reader_cache.c - token vectors by content: a hash table whose entries stand in one list by use.
 *
 * Invariants: bytes is the sum of the entries' sizes and at most max_bytes; every entry is in one
 * bucket and in the list; an entry holds one reference to its text. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "engine/embed/reader_impl.h"

enum { LEAST_BUCKETS = 64, MOST_BUCKETS = 1 << 16, BYTES_A_BUCKET = 1 << 13 };

typedef struct entry {
    struct entry *next;          /* of the bucket */
    struct entry *newer, *older; /* by last use */
    reader_key key;
    reader_text *text;
    size_t bytes;
} entry;

struct reader_cache {
    size_t max_bytes, n_buckets; /* immutable */
    pthread_mutex_t mu;
    /* guarded by mu */
    entry **buckets;
    entry *newest, *oldest;
    reader_stats stats;
};

reader_cache *reader_cache_create(size_t max_bytes) {
    reader_cache *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    c->max_bytes = max_bytes;
    c->n_buckets = LEAST_BUCKETS;
    while (c->n_buckets < MOST_BUCKETS && c->n_buckets < max_bytes / BYTES_A_BUCKET)
        c->n_buckets *= 2;
    if (!(c->buckets = calloc(c->n_buckets, sizeof *c->buckets))) {
        free(c);
        return NULL;
    }
    pthread_mutex_init(&c->mu, NULL);
    return c;
}

static entry **bucket_of(reader_cache *c, const reader_key *key) {
    uint64_t hash;
    memcpy(&hash, key->sha256, sizeof hash);
    return &c->buckets[hash & (c->n_buckets - 1)];
}

static entry *find(reader_cache *c, const reader_key *key) {
    for (entry *e = *bucket_of(c, key); e; e = e->next)
        if (!memcmp(&e->key, key, sizeof *key)) return e;
    return NULL;
}

static void list_remove(reader_cache *c, entry *e) {
    *(e->newer ? &e->newer->older : &c->newest) = e->older;
    *(e->older ? &e->older->newer : &c->oldest) = e->newer;
}

static void list_add(reader_cache *c, entry *e) {
    e->newer = NULL;
    e->older = c->newest;
    *(c->newest ? &c->newest->newer : &c->oldest) = e;
    c->newest = e;
}

static void drop(reader_cache *c, entry *e) {
    entry **at = bucket_of(c, &e->key);
    while (*at != e) at = &(*at)->next;
    *at = e->next;
    list_remove(c, e);
    c->stats.bytes -= e->bytes;
    c->stats.texts--;
    reader_text_release(e->text);
    free(e);
}

void reader_cache_free(reader_cache *c) {
    if (!c) return;
    while (c->oldest) drop(c, c->oldest);
    pthread_mutex_destroy(&c->mu);
    free(c->buckets);
    free(c);
}

reader_text *reader_cache_find(reader_cache *c, const reader_key *key) {
    pthread_mutex_lock(&c->mu);
    entry *e = find(c, key);
    if (e) {
        list_remove(c, e);
        list_add(c, e);
        c->stats.hits++;
    } else {
        c->stats.misses++;
    }
    reader_text *t = e ? reader_text_retain(e->text) : NULL;
    pthread_mutex_unlock(&c->mu);
    return t;
}

void reader_cache_add(reader_cache *c, const reader_key *key, reader_text *t) {
    const size_t bytes = t->bytes + sizeof(entry);
    entry *e = bytes <= c->max_bytes ? malloc(sizeof *e) : NULL;
    if (!e) return; /* a text that cannot be kept is computed again */
    pthread_mutex_lock(&c->mu);
    if (find(c, key)) { /* two threads read the same text */
        pthread_mutex_unlock(&c->mu);
        free(e);
        return;
    }
    while (c->stats.bytes > c->max_bytes - bytes) {
        drop(c, c->oldest);
        c->stats.evictions++;
    }
    *e = (entry){.key = *key, .text = reader_text_retain(t), .bytes = bytes};
    entry **bucket = bucket_of(c, key);
    e->next = *bucket;
    *bucket = e;
    list_add(c, e);
    c->stats.bytes += bytes;
    c->stats.texts++;
    pthread_mutex_unlock(&c->mu);
}

void reader_cache_stats(reader_cache *c, reader_stats *out) {
    pthread_mutex_lock(&c->mu);
    *out = c->stats;
    pthread_mutex_unlock(&c->mu);
}
