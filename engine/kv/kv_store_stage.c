/* kv_store_stage.c - records read ahead of those who wait for them: the disk is read on the thread
 * of the one who asks, and nobody else waits for it. */
#include <stdlib.h>

#include "engine/kv/kv_store_internal.h"

static const uint64_t least_budget = (uint64_t)32 << 20;

struct kv_store_stage {
    size_t n;
    kv_buffer *held[];
};

static uint64_t budget(const kv_store *s) {
    return s->ram_budget / 2 > least_budget ? s->ram_budget / 2 : least_budget;
}

/* It is there, or somebody read it at the same time: let it stay. */
static kv_buffer *hold(kv_store *s, int i) {
    kv_store_hold(s, s->entries[i].buffer);
    return s->entries[i].buffer;
}

/* The record's buffer with a reference for the stage; NULL: not on disk, no room, damaged. */
static kv_buffer *read_ahead(kv_store *s, const unsigned char key[32]) {
    int i = kv_store_find(s, key);
    if (i == KV_NONE || !s->entries[i].segment) return NULL;
    if (s->entries[i].buffer) return hold(s, i);
    uint64_t n = s->entries[i].n_bytes;
    if (s->stats.staged_bytes + n > budget(s)) return NULL;
    kv_buffer *b = kv_store_new_buffer(n);
    if (!b) return NULL;
    b->staged = true;
    s->stats.staged_bytes += n;
    int rc = kv_store_read_record(s, i, b->data, NULL);
    i = kv_store_find(s, key);
    if (!rc && i != KV_NONE && !s->entries[i].buffer && s->entries[i].n_bytes == n) {
        kv_store_give_buffer(s, i, b, false);
        return b;
    }
    kv_store_let_go(s, b);
    return i != KV_NONE && s->entries[i].buffer ? hold(s, i) : NULL;
}

kv_store_stage *kv_store_stage_keys(kv_store *s, const unsigned char *keys, size_t n) {
    if (!s->dir || n == 0) return NULL;
    kv_store_stage *t = malloc(sizeof *t + n * sizeof *t->held);
    if (!t) return NULL;
    t->n = 0;
    kv_store_prefetch(s, keys, n);
    pthread_mutex_lock(&s->mu);
    for (size_t k = 0; k < n; k++) {
        kv_buffer *b = read_ahead(s, keys + 32 * k);
        if (b) t->held[t->n++] = b;
    }
    pthread_mutex_unlock(&s->mu);
    if (t->n) return t;
    free(t);
    return NULL;
}

void kv_store_stage_free(kv_store *s, kv_store_stage *t) {
    if (!t) return;
    pthread_mutex_lock(&s->mu);
    for (size_t k = 0; k < t->n; k++) kv_store_let_go(s, t->held[k]);
    pthread_mutex_unlock(&s->mu);
    free(t);
}
