#include "index/sparse/inverted_hot.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include "index/sparse/postings.h"

enum { SLOTS = 2 * INVERTED_HOT_LISTS, LEAST_DOCS = 1024, LEAST_SHIFT = 6, MAX_BUCKETS = 1 << 14 };

typedef struct hot_slot {
    _Atomic(const uint8_t *) key; /* the list's bytes; set last */
    inverted_hot_list list;
    /* Of the list, as the dictionary had it: in a file that lies two terms may have the same bytes and other bounds. */
    uint32_t n;
    uint8_t bound;
} hot_slot;

struct inverted_hot {
    const inverted *inv; /* immutable, as are shift and inverse_k */
    unsigned shift;
    float inverse_k[256]; /* 1 / (k1 (1 - b + b length / average)) of each norm */
    hot_slot slots[SLOTS];
    atomic_int n, n_tfs;
    pthread_mutex_t mu; /* one list is laid out at a time */
};

static size_t peaks_room(const inverted_hot *h) {
    return ((h->inv->n_docs >> h->shift) / INVERTED_HOT_PAD + 1) * (size_t)INVERTED_HOT_PAD;
}

inverted_hot *inverted_hot_create(const inverted *inv) {
    if (inv->n_docs < LEAST_DOCS) return NULL;
    inverted_hot *h = calloc(1, sizeof *h);
    if (!h) return NULL;
    h->inv = inv;
    h->shift = LEAST_SHIFT;
    while (inv->n_docs >> h->shift >= MAX_BUCKETS) h->shift++;
    for (int i = 0; i < 256; i++) {
        double ratio =
            inv->bound_average > 0 ? bm25_norm_decode((uint8_t)i) / inv->bound_average : 1;
        h->inverse_k[i] = (float)(1 / (inv->bound_k1 * (1 - inv->bound_b + inv->bound_b * ratio)));
    }
    pthread_mutex_init(&h->mu, NULL);
    return h;
}

void inverted_hot_free(inverted_hot *h) {
    if (!h) return;
    for (int i = 0; i < SLOTS; i++) {
        free((void *)(uintptr_t)h->slots[i].list.peaks);
        free((void *)(uintptr_t)h->slots[i].list.tfs);
    }
    pthread_mutex_destroy(&h->mu);
    free(h);
}

unsigned inverted_hot_shift(const inverted_hot *h) {
    return h->shift;
}

size_t inverted_hot_memory(const inverted_hot *h) {
    if (!h) return 0;
    return sizeof *h + (size_t)atomic_load(&h->n) * 3 * peaks_room(h) +
           (size_t)atomic_load(&h->n_tfs) * ((size_t)h->inv->n_docs / 2 + 1);
}

/* The slot of the list, or the free one where it belongs. */
static hot_slot *find(inverted_hot *h, const uint8_t *key) {
    size_t i = (size_t)(((uintptr_t)key * 0x9E3779B97F4A7C15u) >> 32) % SLOTS;
    for (;; i = (i + 1) % SLOTS) { /* never full: SLOTS > INVERTED_HOT_LISTS */
        const uint8_t *k = atomic_load_explicit(&h->slots[i].key, memory_order_acquire);
        if (!k || k == key) return &h->slots[i];
    }
}

static uint8_t *lay_out_tfs(const inverted *inv, const uint32_t *docs, const uint32_t *tfs,
                            uint32_t n) {
    uint8_t *out = calloc((size_t)inv->n_docs / 2 + 1, 1);
    for (uint32_t i = 0; out && i < n; i++) {
        uint32_t tf = tfs[i] < INVERTED_HOT_MORE ? tfs[i] : INVERTED_HOT_MORE;
        out[docs[i] >> 1] |= (uint8_t)(tf << (docs[i] & 1) * 4);
    }
    return out;
}

/* The peaks and, behind them, the places. Norms are rounded down, so a peak is never below the
 * exact value. */
static uint8_t *lay_out_peaks(const inverted_hot *h, const uint32_t *docs, const uint32_t *tfs,
                              const inverted_list *list) {
    uint8_t *out = calloc(peaks_room(h), 3);
    uint16_t *places = out ? (uint16_t *)(void *)(out + peaks_room(h)) : NULL;
    for (uint32_t i = 0; out && i < list->n;) {
        uint32_t bucket = docs[i] >> h->shift;
        float best = 0;
        for (; i < list->n && docs[i] >> h->shift == bucket; i++) {
            float ratio = (float)tfs[i] * h->inverse_k[h->inv->norms[docs[i]]];
            best = ratio > best ? ratio : best;
            places[bucket] |= (uint16_t)(1u << (docs[i] >> (h->shift - 4) & 15));
        }
        double peak = ceil(255 * ((double)best / (1 + (double)best)) + 1e-4);
        out[bucket] = peak < list->bound ? (uint8_t)peak : list->bound;
    }
    return out;
}

static bool lay_out(inverted_hot *h, const inverted_list *list, inverted_hot_list *out) {
    const inverted *inv = h->inv;
    size_t room = ((size_t)list->n + POSTINGS_BLOCK - 1) / POSTINGS_BLOCK * POSTINGS_BLOCK;
    uint32_t *docs = malloc(room * sizeof *docs), *tfs = malloc(room * sizeof *tfs);
    fo_err ignored = {0}; /* a damaged list is reported by who reads its blocks */
    uint8_t *peaks = NULL;
    if (docs && tfs && inverted_decode(inv, list, docs, tfs, &ignored) == FO_OK) {
        peaks = lay_out_peaks(h, docs, tfs, list);
        if (peaks && list->n >= inv->n_docs / INVERTED_HOT_TFS_SHARE &&
            atomic_load(&h->n_tfs) < INVERTED_HOT_TFS) {
            uint8_t *by_doc = lay_out_tfs(inv, docs, tfs, list->n);
            atomic_fetch_add(&h->n_tfs, by_doc != NULL);
            out->tfs = by_doc;
        }
        out->peaks = peaks;
        if (peaks) out->places = (const uint16_t *)(const void *)(peaks + peaks_room(h));
    }
    free(docs);
    free(tfs);
    return peaks != NULL;
}

/* The slot's list where that is the asked one, whose bound its peaks keep. */
static const inverted_hot_list *list_of(const hot_slot *s, const inverted_list *list) {
    return s->n == list->n && s->bound == list->bound ? &s->list : NULL;
}

const inverted_hot_list *inverted_hot_get(inverted_hot *h, const inverted_list *list) {
    if (list->n < h->inv->n_docs / INVERTED_HOT_SHARE) return NULL;
    hot_slot *s = find(h, list->data);
    if (atomic_load_explicit(&s->key, memory_order_acquire)) return list_of(s, list);
    if (atomic_load(&h->n) >= INVERTED_HOT_LISTS || pthread_mutex_trylock(&h->mu) != 0) return NULL;
    s = find(h, list->data);
    if (!atomic_load(&s->key) && atomic_load(&h->n) < INVERTED_HOT_LISTS &&
        lay_out(h, list, &s->list)) {
        s->n = list->n;
        s->bound = list->bound;
        atomic_store_explicit(&s->key, list->data, memory_order_release);
        atomic_fetch_add(&h->n, 1);
    }
    const inverted_hot_list *found = atomic_load(&s->key) ? list_of(s, list) : NULL;
    pthread_mutex_unlock(&h->mu);
    return found;
}
