#include "retrieval/cache/hot_queries.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "kernels/file.h"
#include "retrieval/cache/count_min_sketch.h"

enum { VERSION = 1, MAX_CAPACITY = 4096, MAX_TEXT = 4096, MAX_FILE = 256 << 20 };
static const char MAGIC[8] = "FOHOTQS";

struct hot_queries {
    hot_options opt; /* immutable after create */
    pthread_mutex_t mu;
    /* guarded by mu */
    count_min *sketch;
    int64_t aged_ms;  /* when counts were halved last; 0: nothing was counted yet */
    hot_query *heap;  /* min-heap by estimate */
    uint64_t *hashes; /* of heap[i]: scanned in place of a table, 2 KiB for 256 */
    size_t n;
};

static void query_deinit(hot_query *q) {
    free(q->collection);
    free(q->query);
}

void hot_query_list_free(hot_query *list, size_t n) {
    for (size_t i = 0; list && i < n; i++) query_deinit(&list[i]);
    free(list);
}

int hot_queries_create(hot_queries **out, const hot_options *opt, fo_err *err) {
    hot_queries *h = calloc(1, sizeof *h);
    if (!h) return fo_no_memory(err);
    if (opt) h->opt = *opt;
    if (h->opt.capacity == 0) h->opt.capacity = 256;
    if (h->opt.capacity > MAX_CAPACITY) h->opt.capacity = MAX_CAPACITY;
    if (h->opt.epsilon == 0) h->opt.epsilon = 1e-4;
    if (h->opt.delta == 0) h->opt.delta = 1e-3;
    if (h->opt.half_life_ms <= 0) h->opt.half_life_ms = 3600 * 1000;
    pthread_mutex_init(&h->mu, NULL);
    h->heap = calloc(h->opt.capacity, sizeof *h->heap);
    h->hashes = calloc(h->opt.capacity, sizeof *h->hashes);
    int rc = h->heap && h->hashes ? FO_OK : fo_no_memory(err);
    if (!rc) rc = count_min_create(&h->sketch, h->opt.epsilon, h->opt.delta, 0x466f72616765u, err);
    if (rc) return hot_queries_free(h), rc;
    *out = h;
    return FO_OK;
}

void hot_queries_free(hot_queries *h) {
    if (!h) return;
    hot_query_list_free(h->heap, h->n);
    free(h->hashes);
    count_min_free(h->sketch);
    pthread_mutex_destroy(&h->mu);
    free(h);
}

/* ---- the heap ------------------------------------------------------------------------------ */

static void swap(hot_queries *h, size_t a, size_t b) {
    hot_query q = h->heap[a];
    h->heap[a] = h->heap[b];
    h->heap[b] = q;
    h->hashes[a] = h->heap[a].hash;
    h->hashes[b] = h->heap[b].hash;
}

static void sift_down(hot_queries *h, size_t i) {
    for (;;) {
        size_t least = i, l = 2 * i + 1, r = l + 1;
        if (l < h->n && h->heap[l].estimate < h->heap[least].estimate) least = l;
        if (r < h->n && h->heap[r].estimate < h->heap[least].estimate) least = r;
        if (least == i) return;
        swap(h, i, least);
        i = least;
    }
}

static void sift_up(hot_queries *h, size_t i) {
    while (i > 0 && h->heap[i].estimate < h->heap[(i - 1) / 2].estimate) {
        swap(h, i, (i - 1) / 2);
        i = (i - 1) / 2;
    }
}

static size_t find(const hot_queries *h, uint64_t hash) {
    for (size_t i = 0; i < h->n; i++)
        if (h->hashes[i] == hash) return i;
    return SIZE_MAX;
}

static void set_recipe(hot_query *q, const void *recipe, size_t n) {
    if (!recipe || n > HOT_RECIPE_MAX) return;
    memcpy(q->recipe, recipe, n);
    q->n_recipe = n;
}

/* May the text be kept beside the hash? */
static bool is_told(const hot_queries *h, const char *query) {
    return query && !h->opt.hide_text && strlen(query) <= MAX_TEXT;
}

/* A question that is not kept by name yet joins while there is room, or takes the place of one
 * that is asked less. */
static void join(hot_queries *h, uint64_t hash, uint32_t estimate, const char *collection,
                 const char *query, const void *recipe, size_t n_recipe, int64_t now_ms) {
    bool full = h->n == h->opt.capacity;
    if ((full && h->heap[0].estimate >= estimate) || (query && strlen(query) > MAX_TEXT)) return;
    hot_query q = {.hash = hash, .estimate = estimate, .last_ms = now_ms};
    q.collection = strdup(collection);
    q.query = is_told(h, query) ? strdup(query) : NULL;
    if (!q.collection || (is_told(h, query) && !q.query)) {
        query_deinit(&q);
        return;
    }
    set_recipe(&q, recipe, n_recipe);
    if (full) {
        query_deinit(&h->heap[0]);
        h->heap[0] = q;
        h->hashes[0] = hash;
        sift_down(h, 0);
    } else {
        h->heap[h->n] = q;
        h->hashes[h->n] = hash;
        sift_up(h, h->n++);
    }
}

/* Half-lives that are over and have halved nothing yet. */
static int64_t halvings(const hot_queries *h, int64_t now_ms) {
    const bool set_back = now_ms < h->aged_ms; /* the clock */
    return h->aged_ms == 0 || set_back ? 0 : (now_ms - h->aged_ms) / h->opt.half_life_ms;
}

static void age(hot_queries *h, int64_t now_ms) {
    if (h->aged_ms == 0 || now_ms < h->aged_ms) h->aged_ms = now_ms; /* a clock set back */
    const int64_t times = halvings(h, now_ms);
    if (times <= 0) return;
    unsigned k = times > 64 ? 64 : (unsigned)times;
    h->aged_ms += times * h->opt.half_life_ms;
    count_min_age(h->sketch, k);
    for (size_t i = 0; i < h->n; i++)
        h->heap[i].estimate = k > 31 ? 0 : h->heap[i].estimate >> k; /* keeps the order */
}

uint32_t hot_queries_add(hot_queries *h, uint64_t hash, const char *collection, const char *query,
                         const void *recipe, size_t n_recipe, int64_t now_ms) {
    pthread_mutex_lock(&h->mu);
    age(h, now_ms);
    uint32_t estimate = count_min_add(h->sketch, hash, 1);
    size_t i = find(h, hash);
    if (i == SIZE_MAX) {
        join(h, hash, estimate, collection, query, recipe, n_recipe, now_ms);
    } else {
        h->heap[i].estimate = estimate;
        h->heap[i].last_ms = now_ms;
        set_recipe(&h->heap[i], recipe, n_recipe);
        if (!h->heap[i].query && is_told(h, query)) /* counted by a run that hid it */
            h->heap[i].query = strdup(query);
        sift_down(h, i);
    }
    pthread_mutex_unlock(&h->mu);
    return estimate;
}

uint32_t hot_queries_estimate(hot_queries *h, uint64_t hash, int64_t now_ms) {
    pthread_mutex_lock(&h->mu);
    const uint32_t v = count_min_estimate(h->sketch, hash);
    const int64_t times = halvings(h, now_ms);
    pthread_mutex_unlock(&h->mu);
    return times > 31 ? 0 : v >> times;
}

void hot_queries_set_primed(hot_queries *h, uint64_t hash, int64_t epoch) {
    pthread_mutex_lock(&h->mu);
    size_t i = find(h, hash);
    if (i != SIZE_MAX) h->heap[i].primed_epoch = epoch;
    pthread_mutex_unlock(&h->mu);
}

void hot_queries_forget(hot_queries *h, uint64_t hash) {
    pthread_mutex_lock(&h->mu);
    size_t i = find(h, hash);
    if (i != SIZE_MAX) {
        swap(h, i, --h->n);
        query_deinit(&h->heap[h->n]);
        if (i < h->n) {
            sift_down(h, i);
            sift_up(h, i);
        }
    }
    pthread_mutex_unlock(&h->mu);
}

static int hotter(const void *pa, const void *pb) {
    const hot_query *a = pa, *b = pb;
    if (a->estimate != b->estimate) return a->estimate < b->estimate ? 1 : -1;
    return a->hash < b->hash ? -1 : a->hash > b->hash;
}

int hot_queries_list(hot_queries *h, size_t limit, hot_query **out, size_t *n, fo_err *err) {
    pthread_mutex_lock(&h->mu);
    size_t count = h->n;
    hot_query *list = calloc(count + 1, sizeof *list);
    bool ok = list != NULL;
    for (size_t i = 0; list && i < count; i++) {
        list[i] = h->heap[i];
        list[i].collection = strdup(h->heap[i].collection);
        list[i].query = h->heap[i].query ? strdup(h->heap[i].query) : NULL;
        ok = ok && list[i].collection && (list[i].query || !h->heap[i].query);
    }
    pthread_mutex_unlock(&h->mu);
    if (!ok) {
        hot_query_list_free(list, count);
        return fo_no_memory(err);
    }
    qsort(list, count, sizeof *list, hotter);
    for (; count > limit; count--) query_deinit(&list[count - 1]);
    *out = list;
    *n = count;
    return FO_OK;
}

/* ---- the file ------------------------------------------------------------------------------ */

typedef struct row { /* before its strings, little-endian */
    uint64_t hash;
    int64_t last_ms;
    uint32_t estimate, n_collection, n_query, n_recipe;
} row;

int hot_queries_save(hot_queries *h, const char *path, fo_err *err) {
    fo_buf b = {0};
    uint32_t head[2] = {VERSION, 0};
    pthread_mutex_lock(&h->mu);
    head[1] = (uint32_t)h->n;
    fo_buf_add(&b, MAGIC, sizeof MAGIC);
    fo_buf_add(&b, head, sizeof head);
    fo_buf_add(&b, &h->aged_ms, sizeof h->aged_ms);
    count_min_write(h->sketch, &b);
    for (size_t i = 0; i < h->n; i++) {
        const hot_query *q = &h->heap[i];
        row r = {q->hash,
                 q->last_ms,
                 q->estimate,
                 (uint32_t)strlen(q->collection),
                 q->query ? (uint32_t)strlen(q->query) : UINT32_MAX,
                 (uint32_t)q->n_recipe};
        fo_buf_add(&b, &r, sizeof r);
        fo_buf_str(&b, q->collection);
        if (q->query) fo_buf_str(&b, q->query);
        fo_buf_add(&b, q->recipe, q->n_recipe);
    }
    pthread_mutex_unlock(&h->mu);
    uint32_t crc = (uint32_t)crc32_z(0, (const void *)b.data, b.len);
    fo_buf_add(&b, &crc, sizeof crc);
    int rc = b.failed ? fo_no_memory(err) : fo_file_put(path, b.data, b.len, err);
    fo_buf_free(&b);
    return rc;
}

/* Rows at data[at..n) into h, which was made for it. */
static int read_rows(hot_queries *h, const char *data, size_t at, size_t n, uint32_t count,
                     fo_err *err) {
    for (uint32_t i = 0; i < count; i++) {
        row r;
        if (n - at < sizeof r)
            return fo_fail(err, FO_ECORRUPT, "the list of hot questions ends at byte %zu", n);
        memcpy(&r, data + at, sizeof r);
        bool hidden = r.n_query == UINT32_MAX;
        size_t need = (size_t)r.n_collection + (hidden ? 0 : r.n_query) + r.n_recipe;
        if (r.n_collection > 256 || (!hidden && r.n_query > MAX_TEXT) ||
            r.n_recipe > HOT_RECIPE_MAX || n - at - sizeof r < need)
            return fo_fail(err, FO_ECORRUPT, "a hot question with wrong lengths at byte %zu", at);
        at += sizeof r;
        char *collection = strndup(data + at, r.n_collection);
        at += r.n_collection;
        char *query = hidden ? NULL : strndup(data + at, r.n_query);
        at += hidden ? 0 : r.n_query;
        if (!collection || (!hidden && !query)) {
            free(collection);
            free(query);
            return fo_no_memory(err);
        }
        join(h, r.hash, r.estimate, collection, query, data + at, r.n_recipe, r.last_ms);
        at += r.n_recipe;
        free(collection);
        free(query);
    }
    return at == n ? FO_OK : fo_fail(err, FO_ECORRUPT, "unknown bytes from %zu on", at);
}

int hot_queries_load(hot_queries *h, const char *path, fo_err *err) {
    char *data = NULL;
    size_t n = 0, used = 0;
    int rc = fo_file_read(path, MAX_FILE, &data, &n, err);
    if (rc) return rc;
    uint32_t head[2], crc;
    size_t at = sizeof MAGIC + sizeof head + sizeof(int64_t);
    count_min *sketch = NULL;
    hot_queries *fresh = NULL;
    int64_t aged_ms = 0;
    if (n < at + 4 || memcmp(data, MAGIC, sizeof MAGIC) != 0) {
        rc = fo_fail(err, FO_ECORRUPT, "%s: not a file of hot questions", path);
        goto end;
    }
    memcpy(head, data + sizeof MAGIC, sizeof head);
    memcpy(&aged_ms, data + sizeof MAGIC + sizeof head, sizeof aged_ms);
    memcpy(&crc, data + n - 4, 4);
    if (crc != (uint32_t)crc32_z(0, (const void *)data, n - 4))
        rc = fo_fail(err, FO_ECORRUPT, "%s: checksum at byte %zu does not agree", path, n - 4);
    else if (head[0] != VERSION)
        rc = fo_fail(err, FO_EMISMATCH, "%s: version %u, this program reads %d", path, head[0],
                     VERSION);
    if (!rc) rc = count_min_read(&sketch, data + at, n - 4 - at, &used, err);
    if (!rc && (count_min_width(sketch) != count_min_width(h->sketch) ||
                count_min_depth(sketch) != count_min_depth(h->sketch)))
        rc = fo_fail(err, FO_EMISMATCH, "%s: a sketch of other bounds", path);
    if (!rc) rc = hot_queries_create(&fresh, &h->opt, err);
    if (!rc) rc = read_rows(fresh, data, at + used, n - 4, head[1], err);
    if (!rc) {
        pthread_mutex_lock(&h->mu);
        count_min *old = h->sketch;
        hot_query *heap = h->heap;
        uint64_t *hashes = h->hashes;
        size_t count = h->n;
        h->sketch = sketch, sketch = old;
        h->heap = fresh->heap, fresh->heap = heap;
        h->hashes = fresh->hashes, fresh->hashes = hashes;
        h->n = fresh->n, fresh->n = count;
        h->aged_ms = aged_ms;
        pthread_mutex_unlock(&h->mu);
    }
end:
    count_min_free(sketch);
    hot_queries_free(fresh);
    free(data);
    return rc;
}
