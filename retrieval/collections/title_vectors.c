#include "retrieval/collections/title_vectors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/dist.h"
#include "kernels/order.h"

enum {
    PIECE = 32,    /* titles at a time: some tens of milliseconds of the encoder */
    AT_ONCE = 512, /* that are asked for */
};

/* A vector's bytes are values + 128, as dist.h has them. */
struct title_vectors {
    atomic_int refs;
    embedder *encoder; /* the service's */
    uint64_t serial;
    size_t n, room, dim, stride;
    int64_t *documents; /* [n], ascending */
    uint8_t *codes;     /* [n][stride], aligned */
    float *scales;      /* [n]: what makes a row one of unit length */
    atomic_bool *left;  /* [n]: its document has another title by now */
};

static atomic_uint_fast64_t last_serial;

static void free_all(title_vectors *t) {
    if (!t) return;
    free(t->documents);
    free(t->codes);
    free(t->scales);
    free(t->left);
    free(t);
}

void title_vectors_drop(title_vectors *t) {
    if (t && atomic_fetch_sub(&t->refs, 1) == 1) free_all(t);
}

size_t title_vectors_count(const title_vectors *t) {
    return t ? t->n : 0;
}

uint64_t title_vectors_serial(const title_vectors *t) {
    return t ? t->serial : 0;
}

int64_t title_vectors_document(const title_vectors *t, size_t i) {
    return t->documents[i];
}

size_t title_vectors_find(const title_vectors *t, int64_t document) {
    const size_t n = title_vectors_count(t);
    const int64_t *at =
        n ? bsearch(&document, t->documents, n, sizeof document, fo_order_int64) : NULL;
    return at ? (size_t)(at - t->documents) : n;
}

/* ---- from the store to memory --------------------------------------------------------------- */

static bool make_room(title_vectors *t) {
    if (t->n < t->room) return true;
    const size_t room = t->room ? 2 * t->room : 256;
    int64_t *documents = realloc(t->documents, room * sizeof *documents);
    if (documents) t->documents = documents;
    float *scales = realloc(t->scales, room * sizeof *scales);
    if (scales) t->scales = scales;
    uint8_t *codes = aligned_alloc(DIST_CODE_ALIGN, room * t->stride);
    if (!documents || !scales || !codes) {
        free(codes);
        return false;
    }
    if (t->n) memcpy(codes, t->codes, t->n * t->stride);
    free(t->codes);
    t->codes = codes;
    t->room = room;
    return true;
}

static int add_row(void *ctx, int64_t document, const float *vector, uint32_t dim) {
    title_vectors *t = ctx;
    if (!t->n) {
        t->dim = dim;
        t->stride = (dim + DIST_CODE_ALIGN - 1) / DIST_CODE_ALIGN * DIST_CODE_ALIGN;
    }
    if (!dim || dim != t->dim || t->stride > DIST_MAX_LEN) return FO_OK;
    if (t->n == TITLE_VECTORS_MOST) return FO_OK;
    if (!make_room(t)) return FO_ENOMEM;
    float most = 0;
    for (size_t j = 0; j < t->dim; j++) most = fmaxf(most, fabsf(vector[j]));
    if (!isfinite(most) || most < DIST_TINY)
        return FO_OK; /* a title without a word it has learnt */
    uint8_t *row = t->codes + t->n * t->stride;
    double squares = 0;
    memset(row, 128, t->stride);
    for (size_t j = 0; j < t->dim; j++) {
        const long v = lrintf(vector[j] * (127 / most));
        row[j] = (uint8_t)(v + 128);
        squares += (double)(v * v);
    }
    t->documents[t->n] = document;
    t->scales[t->n++] = (float)(1 / sqrt(squares));
    return FO_OK;
}

/* *out NULL: there are none. */
static int read_all(service *s, const collection *c, title_vectors **out, fo_err *err) {
    embedder *encoder = NULL;
    char fingerprint[65];
    *out = NULL;
    if (!s->builtins) return FO_OK;
    embedder_encoder_fingerprint(fingerprint);
    title_vectors *t = calloc(1, sizeof *t);
    if (!t) return fo_no_memory(err);
    int rc = store_each_title_vector(s->store, c->id, fingerprint, add_row, t, err);
    /* Questions are answered without them as well as with them: of what is damaged `index verify` tells. */
    if (rc == FO_EUNSUPPORTED || rc == FO_ECORRUPT) rc = FO_OK;
    if (!rc && t->n && !(t->left = calloc(t->n, sizeof *t->left))) rc = FO_ENOMEM;
    if (rc == FO_ENOMEM) rc = fo_no_memory(err);
    /* It takes time to open: only where it is needed. */
    if (!rc && t->n) rc = service_take_encoder(s, &encoder, err);
    if (rc || !t->n) {
        free_all(t);
        return rc;
    }
    t->encoder = encoder;
    t->serial = atomic_fetch_add(&last_serial, 1) + 1;
    atomic_init(&t->refs, 1);
    *out = t;
    return FO_OK;
}

int title_vectors_take(service *s, collection *c, title_vectors **out, fo_err *err) {
    pthread_mutex_lock(&s->mu);
    const bool known = c->titles_read;
    const uint64_t asked = c->titles_changes;
    *out = known ? c->titles : NULL;
    if (*out) atomic_fetch_add(&(*out)->refs, 1);
    pthread_mutex_unlock(&s->mu);
    if (known) return FO_OK;
    title_vectors *read = NULL;
    const int rc = read_all(s, c, &read, err);
    if (rc) return rc;
    title_vectors *before = NULL;
    pthread_mutex_lock(&s->mu);
    if (!c->titles_read && c->titles_changes == asked) {
        before = c->titles;
        c->titles = read;
        c->titles_read = true;
        if (read) atomic_fetch_add(&read->refs, 1);
    }
    pthread_mutex_unlock(&s->mu);
    title_vectors_drop(before);
    *out = read;
    return FO_OK;
}

void title_vectors_leave(service *s, collection *c, int64_t document) {
    pthread_mutex_lock(&s->mu);
    c->titles_changes++; /* whoever is reading them may have read the old one */
    const size_t at = title_vectors_find(c->titles, document);
    if (at < title_vectors_count(c->titles)) atomic_store(&c->titles->left[at], true);
    pthread_mutex_unlock(&s->mu);
}

void title_vectors_forget(collection *c) {
    title_vectors_drop(c->titles);
    c->titles = NULL;
    c->titles_read = false;
}

/* ---- a question ----------------------------------------------------------------------------- */

embedder *title_vectors_encoder(const title_vectors *t) {
    return t ? t->encoder : NULL;
}

int title_vectors_compare(const title_vectors *t, const char *question, float *cosines, bool *known,
                          fo_err *err) {
    enum { ROWS = 256 };
    uint32_t ids[ROWS];
    int32_t dots[ROWS], sum = 0;
    const size_t len = strlen(question);
    float *vector = calloc(t->stride, sizeof *vector);
    int8_t *q = aligned_alloc(DIST_CODE_ALIGN, t->stride);
    int rc = vector && q ? FO_OK : fo_no_memory(err);
    if (!rc) rc = embedder_embed(t->encoder, EMBED_QUERY, &question, &len, 1, vector, err);
    dist_kernels k;
    dist_init(&k);
    *known = !rc && k.to_query(vector, t->stride, q, &sum) >= DIST_TINY;
    if (*known) {
        double squares = 0;
        for (size_t j = 0; j < t->dim; j++) squares += (double)q[j] * q[j];
        const float scale = (float)(1 / sqrt(squares));
        for (size_t at = 0; at < t->n; at += ROWS) {
            const size_t n = t->n - at < ROWS ? t->n - at : ROWS;
            for (size_t i = 0; i < n; i++) ids[i] = (uint32_t)(at + i);
            k.dot_codes(q, t->codes, t->stride, t->stride, ids, n, dots);
            for (size_t i = 0; i < n; i++)
                cosines[at + i] = (float)(dots[i] - 128 * sum) * scale * t->scales[at + i];
        }
        for (size_t i = 0; i < t->n; i++)
            if (atomic_load_explicit(&t->left[i], memory_order_relaxed)) cosines[i] = NAN;
    }
    free(vector);
    free(q);
    return rc;
}

/* ---- those that are missing ----------------------------------------------------------------- */

static int put_vectors(service *s, const store_collection *row, const embedder *encoder,
                       const store_title *titles, const float *vectors, size_t n, fo_err *err) {
    store_txn *t = NULL;
    int rc = store_begin(s->store, &t, err);
    if (rc) return rc;
    rc = store_put_title_vectors(t, row->tenant, embedder_fingerprint(encoder), titles, vectors, n,
                                 (uint32_t)embedder_dim(encoder), err);
    if (!rc) return store_commit(t, err);
    store_rollback(t);
    return rc;
}

static int embed_piece(service *s, const store_collection *row, embedder *encoder,
                       const store_title *titles, size_t n, fo_err *err) {
    const char *texts[PIECE];
    size_t lens[PIECE];
    float *vectors = malloc(n * embedder_dim(encoder) * sizeof *vectors);
    if (!vectors) return fo_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        texts[i] = titles[i].text;
        lens[i] = strlen(titles[i].text);
    }
    int rc = embedder_embed(encoder, EMBED_PASSAGE, texts, lens, n, vectors, err);
    if (!rc) rc = put_vectors(s, row, encoder, titles, vectors, n, err);
    free(vectors);
    return rc;
}

/* The next question reads them anew. */
static void tell_changed(service *s, const store_collection *row) {
    pthread_mutex_lock(&s->mu);
    collection *c = collection_if_open(s, row->tenant, row->name);
    if (c) {
        c->titles_read = false;
        c->titles_changes++;
    }
    pthread_mutex_unlock(&s->mu);
    if (c) collection_release(s, c);
}

int title_vectors_embed(service *s, const store_collection *row, bool (*goes_on)(void *ctx),
                        void *ctx, size_t *n, fo_err *err) {
    embedder *encoder = NULL;
    char fingerprint[65];
    embedder_encoder_fingerprint(fingerprint);
    int rc = FO_OK;
    *n = 0;
    if (!s->builtins)
        return fo_fail(err, FO_EUNSUPPORTED, "titles are embedded by the built-in encoder");
    if (row->n_documents > TITLE_VECTORS_MOST) return FO_OK;
    for (int64_t after = 0; !rc;) {
        store_title *titles = NULL;
        size_t n_titles = 0;
        rc = store_titles_to_embed(s->store, row->id, fingerprint, after, AT_ONCE, &titles,
                                   &n_titles, err);
        if (!rc && n_titles) after = titles[n_titles - 1].document;
        if (!rc && n_titles && !encoder) rc = service_take_encoder(s, &encoder, err);
        for (size_t at = 0; !rc && at < n_titles; at += PIECE) {
            const size_t piece = n_titles - at < PIECE ? n_titles - at : PIECE;
            if (!goes_on(ctx)) rc = fo_fail(err, FO_ECANCELLED, "cancelled");
            if (!rc) rc = embed_piece(s, row, encoder, titles + at, piece, err);
            *n += rc ? 0 : piece;
        }
        for (size_t i = 0; i < n_titles; i++) free(titles[i].text);
        free(titles);
        if (n_titles < AT_ONCE) break;
    }
    if (*n) tell_changed(s, row);
    return rc;
}

int service_embed_titles(service *s, const char *tenant, const char *name,
                         bool (*goes_on)(void *ctx), void *ctx, size_t *n, fo_err *err) {
    store_collection row = {0};
    *n = 0;
    int rc = service_enter(s, err);
    if (rc) return rc;
    rc = store_get_collection(s->store, tenant, name, &row, err);
    if (!rc) rc = title_vectors_embed(s, &row, goes_on, ctx, n, err);
    store_collection_deinit(&row);
    service_leave(s);
    return rc;
}
