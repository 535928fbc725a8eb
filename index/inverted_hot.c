#include "index/inverted_hot.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include "index/postings.h"

enum { SLOTS = 128, LEAST_DOCS = 1024 };

typedef struct hot_slot {
    _Atomic(const uint8_t *) key; /* the list's bytes; set last */
    uint8_t *tfs;
} hot_slot;

struct inverted_hot {
    const inverted *inv; /* immutable */
    hot_slot slots[SLOTS];
    atomic_int n;
    pthread_mutex_t mu; /* one list is laid out at a time */
};

inverted_hot *inverted_hot_create(const inverted *inv) {
    if (inv->n_docs < LEAST_DOCS) return NULL;
    inverted_hot *h = calloc(1, sizeof *h);
    if (!h) return NULL;
    h->inv = inv;
    pthread_mutex_init(&h->mu, NULL);
    return h;
}

void inverted_hot_free(inverted_hot *h) {
    if (!h) return;
    for (int i = 0; i < SLOTS; i++) free(h->slots[i].tfs);
    pthread_mutex_destroy(&h->mu);
    free(h);
}

size_t inverted_hot_memory(const inverted_hot *h) {
    if (!h) return 0;
    return sizeof *h + (size_t)atomic_load(&h->n) * ((size_t)h->inv->n_docs / 2 + 1);
}

/* The slot of the list, or the free one where it belongs. */
static hot_slot *find(inverted_hot *h, const uint8_t *key) {
    size_t i = (size_t)(((uintptr_t)key * 0x9E3779B97F4A7C15u) >> 57);
    for (;; i = (i + 1) % SLOTS) { /* never full: SLOTS > INVERTED_HOT_LISTS */
        const uint8_t *k = atomic_load_explicit(&h->slots[i].key, memory_order_acquire);
        if (!k || k == key) return &h->slots[i];
    }
}

static uint8_t *lay_out(const inverted *inv, const inverted_list *list) {
    size_t room = ((size_t)list->n + POSTINGS_BLOCK - 1) / POSTINGS_BLOCK * POSTINGS_BLOCK;
    uint32_t *docs = malloc(room * sizeof *docs), *tfs = malloc(room * sizeof *tfs);
    uint8_t *out = calloc((size_t)inv->n_docs / 2 + 1, 1);
    fo_err ignored = {0}; /* a damaged list is reported by who reads its blocks */
    if (docs && tfs && out && inverted_decode(inv, list, docs, tfs, &ignored) == FO_OK) {
        for (uint32_t i = 0; i < list->n; i++) {
            uint32_t tf = tfs[i] < INVERTED_HOT_MORE ? tfs[i] : INVERTED_HOT_MORE;
            out[docs[i] >> 1] |= (uint8_t)(tf << (docs[i] & 1) * 4);
        }
    } else {
        free(out);
        out = NULL;
    }
    free(docs);
    free(tfs);
    return out;
}

const uint8_t *inverted_hot_get(inverted_hot *h, const inverted_list *list) {
    if (list->n < h->inv->n_docs / INVERTED_HOT_SHARE) return NULL;
    hot_slot *s = find(h, list->data);
    if (atomic_load_explicit(&s->key, memory_order_acquire)) return s->tfs;
    if (atomic_load(&h->n) >= INVERTED_HOT_LISTS || pthread_mutex_trylock(&h->mu) != 0) return NULL;
    s = find(h, list->data);
    if (!atomic_load(&s->key) && atomic_load(&h->n) < INVERTED_HOT_LISTS) {
        s->tfs = lay_out(h->inv, list);
        if (s->tfs) {
            atomic_store_explicit(&s->key, list->data, memory_order_release);
            atomic_fetch_add(&h->n, 1);
        }
    }
    const uint8_t *tfs = atomic_load(&s->key) ? s->tfs : NULL;
    pthread_mutex_unlock(&h->mu);
    return tfs;
}
