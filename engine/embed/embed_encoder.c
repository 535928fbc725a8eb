/* embed_encoder.c - text vectors from an encoder model (BERT and its kin) in a GGUF file.
 *
 * Metadata of ours, all optional, written by convert.c:
 *   forage.embedding.query_prefix, .passage_prefix   strings put before the text
 *   forage.embedding.max_tokens                      u32, [CLS] and [SEP] included
 *   forage.embedding.alpha                           f32, weight of the dense side in fusion */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "engine/embed/embed_builtin.h"
#include "engine/embed/embedder_impl.h"
#include "engine/embed/encoder_vocabulary.h"
#include "engine/embed/reader_builtin.h"
#include "engine/embed/weight_changes.h"
#include "engine/model/encoder.h"
#include "engine/tokenizer/tokenizer.h"
#include "kernels/buf.h"
#include "kernels/sha256.h"

/* Measured on eight sets with MiniLM (docs/measurements/quality.md): equal weights are best for an encoder. */
static const float DEFAULT_ALPHA = 0.5f;

enum { MAX_PREFIX = 1024, TEXTS_AT_ONCE = 512, STEP_TOKENS = 512 };
enum {
    BUILTIN_TOKENS = 254
}; /* the built-in encoder's max_tokens; a test holds it against the file */

typedef struct embed_encoder {
    embedder base; /* immutable after open, with what follows */
    model *weights;
    tokenizer *tokens;
    fo_pool *own_pool;
    gguf *under; /* the built-in encoder's weights: those that they are changes of; else NULL */
    char prefix[2][MAX_PREFIX]; /* by embed_kind */
    size_t prefix_len[2];
    int32_t first, last; /* [CLS] and [SEP] */
    size_t room;         /* tokens of a text behind its prefix, the prefix included */
    uint64_t said;       /* the same by the file, which the fingerprint has */
    /* Questions and passages run side by side, each kind one call at a time: people wait for a
     * question, and a batch of passages takes seconds. */
    struct lane {
        pthread_mutex_t mu;
        encoder *run; /* guarded by mu */
    } lanes[2];       /* by embed_kind */
} embed_encoder;

static void close_encoder(embedder *e) {
    embed_encoder *s = (embed_encoder *)e;
    for (int k = 0; k < 2; k++) {
        encoder_free(s->lanes[k].run);
        pthread_mutex_destroy(&s->lanes[k].mu);
    }
    tokenizer_free(s->tokens);
    model_close(s->weights);
    fo_pool_free(s->own_pool);
    gguf_close(s->under);
    free(s);
}

/* Token ids of a text behind its prefix, between [CLS] and [SEP], cut to the model's length. */
static int tokenize(const embed_encoder *s, enum embed_kind kind, const char *text, size_t len,
                    int32_t **ids, int *n, fo_err *err) {
    fo_buf joined = {0};
    if (s->prefix_len[kind]) {
        fo_buf_add(&joined, s->prefix[kind], s->prefix_len[kind]);
        fo_buf_add(&joined, text, len);
        if (joined.failed) return fo_no_memory(err);
        text = joined.data;
        len = joined.len;
    }
    size_t room = s->room;
    *ids = malloc((room + 2) * sizeof **ids);
    int64_t all = *ids ? tokenizer_encode(s->tokens, text, len, 0, *ids + 1, room) : FO_ENOMEM;
    fo_buf_free(&joined);
    if (all < 0) return fo_fail(err, (int)all, "a text of %zu bytes cannot be split", len);
    size_t take = (size_t)all < room ? (size_t)all : room;
    (*ids)[0] = s->first;
    (*ids)[take + 1] = s->last;
    *n = (int)take + 2;
    return FO_OK;
}

static int by_length(const void *a, const void *b) {
    const encoder_text *x = *(const encoder_text *const *)a, *y = *(const encoder_text *const *)b;
    if (x->n_tokens != y->n_tokens) return x->n_tokens < y->n_tokens ? -1 : 1;
    return (x > y) - (x < y);
}

/* Texts of like length share a step: attention then works on tiles of one size. */
static int run_texts(embed_encoder *s, enum embed_kind kind, const encoder_text *texts, size_t n,
                     float *out, fo_err *err) {
    struct lane *lane = &s->lanes[kind];
    size_t dim = s->base.dim;
    const encoder_text *order[TEXTS_AT_ONCE];
    encoder_text sorted[TEXTS_AT_ONCE];
    size_t n_run = 0;
    for (size_t i = 0; i < n; i++)
        if (texts[i].n_tokens > 2) order[n_run++] = &texts[i];
    memset(out, 0, n * dim * sizeof *out);
    if (!n_run) return FO_OK;
    qsort(order, n_run, sizeof *order, by_length);
    for (size_t i = 0; i < n_run; i++) sorted[i] = *order[i];
    float *rows = malloc(n_run * dim * sizeof *rows);
    if (!rows) return fo_fail(err, FO_ENOMEM, "out of memory for %zu vectors", n_run);
    int rc = FO_OK;
    for (size_t first = 0, k; !rc && first < n_run; first += k) {
        int tokens = sorted[first].n_tokens;
        for (k = 1; first + k < n_run && tokens + sorted[first + k].n_tokens <= STEP_TOKENS; k++)
            tokens += sorted[first + k].n_tokens;
        pthread_mutex_lock(&lane->mu);
        rc = encoder_embed(lane->run, sorted + first, k, rows + first * dim, err);
        pthread_mutex_unlock(&lane->mu);
    }
    for (size_t i = 0; !rc && i < n_run; i++)
        memcpy(out + (size_t)(order[i] - texts) * dim, rows + i * dim, dim * sizeof *rows);
    free(rows);
    return rc;
}

static int embed(embedder *e, enum embed_kind kind, const char *const *texts, const size_t *lens,
                 size_t n_texts, float *out, fo_err *err) {
    embed_encoder *s = (embed_encoder *)e;
    encoder_text batch[TEXTS_AT_ONCE];
    int32_t *ids[TEXTS_AT_ONCE];
    int rc = FO_OK;
    for (size_t first = 0; !rc && first < n_texts; first += TEXTS_AT_ONCE) {
        size_t n = n_texts - first < TEXTS_AT_ONCE ? n_texts - first : TEXTS_AT_ONCE, done = 0;
        for (; !rc && done < n; done++) {
            int n_tokens = 0;
            ids[done] = NULL;
            rc = tokenize(s, kind, texts[first + done], lens[first + done], &ids[done], &n_tokens,
                          err);
            batch[done] = (encoder_text){.tokens = ids[done], .n_tokens = n_tokens};
        }
        if (!rc) rc = run_texts(s, kind, batch, n, out + first * s->base.dim, err);
        for (size_t i = 0; i < done; i++) free(ids[i]);
    }
    return rc;
}

static size_t count_tokens(embedder *e, const char *text, size_t len) {
    int64_t n = tokenizer_count(((embed_encoder *)e)->tokens, text, len, 0);
    return n < 0 ? len : (size_t)n;
}

static int intact(const embedder *e, fo_err *err) {
    return gguf_intact(model_gguf(e->weights), err);
}

static const embedder_ops encoder_ops = {close_encoder, embed, count_tokens, intact};

/* --- opening --- */
static int read_prefix(embed_encoder *s, const gguf *g, enum embed_kind kind, const char *key,
                       const char *override, fo_err *err) {
    gguf_str v = {override, override ? strlen(override) : 0};
    if (!override) {
        int rc = gguf_get_optional_str(g, key, &v, err);
        if (rc) return rc;
    }
    if (v.len >= MAX_PREFIX)
        return fo_fail(err, FO_ELIMIT, "%s has %zu bytes; at most %d are possible", key, v.len,
                       MAX_PREFIX - 1);
    memcpy(s->prefix[kind], v.ptr ? v.ptr : "", v.len);
    s->prefix_len[kind] = v.len;
    return FO_OK;
}

static size_t longest_prefix(embed_encoder *s) {
    size_t most = 0;
    for (int k = 0; k < 2; k++) {
        const size_t n = count_tokens(&s->base, s->prefix[k], s->prefix_len[k]);
        if (n > most) most = n;
    }
    return most;
}

static int read_limits(embed_encoder *s, const gguf *g, const model_info *info, fo_err *err) {
    uint64_t most = (uint64_t)info->n_context, wanted = most;
    double alpha = (double)DEFAULT_ALPHA;
    int rc = gguf_get_u64(g, "forage.embedding.max_tokens", &wanted, err);
    if (rc && rc != FO_ENOTFOUND) return rc;
    rc = gguf_get_f64(g, "forage.embedding.alpha", &alpha, err);
    if (rc && rc != FO_ENOTFOUND) return rc;
    if (wanted < 3 || most < 3 || !(alpha >= 0 && alpha <= 1))
        return fo_fail(err, FO_ECORRUPT, "forage.embedding.max_tokens or .alpha is out of range");
    s->said = (wanted < most ? wanted : most) - 2;
    s->room = (size_t)s->said;
    if (s->room > ENCODER_MAX_TOKENS - 2) s->room = ENCODER_MAX_TOKENS - 2;
    const size_t prefix = longest_prefix(s);
    s->base.max_tokens = s->room > prefix ? s->room - prefix : 0;
    s->base.alpha = (float)alpha;
    return FO_OK;
}

/* weights: what tells them apart from all others. */
static int fingerprint_of(const void *weights, size_t n, uint64_t max_tokens,
                          const gguf_str prefixes[2], char hex[65], fo_err *err) {
    fingerprint *f = embedder_fingerprint_begin("forage encoder, numerics 1");
    if (!f) return fo_no_memory(err);
    embedder_fingerprint_add(f, weights, n);
    embedder_fingerprint_add(f, &max_tokens, sizeof max_tokens);
    for (int k = 0; k < 2; k++) embedder_fingerprint_add(f, prefixes[k].ptr, prefixes[k].len);
    return embedder_fingerprint_end(f, hex, err);
}

static int take_fingerprint(embed_encoder *s, const void *weights, size_t n, fo_err *err) {
    const gguf_str prefixes[] = {{s->prefix[0], s->prefix_len[0]},
                                 {s->prefix[1], s->prefix_len[1]}};
    return fingerprint_of(weights, n, s->said, prefixes, s->base.fingerprint, err);
}

/* The packing of changed matrices differs in last bits from one SIMD level to another, so the fingerprint is
 * of what they are made of: a home may move from machine to machine. The changes are of one reader: they name
 * it by its SHA-256. */
static void sum_of_builtin(unsigned char sum[32]) {
    size_t n;
    const void *changes = embed_builtin_encoder(&n);
    fo_sha256_of(sum, changes, n);
}

/* Asked for at every look at whether a service is ready, and always the same: hashed once. */
static char builtin_fingerprint[65];

static void find_builtin_fingerprint(void) {
    unsigned char sum[32];
    const gguf_str none[2] = {{"", 0}, {"", 0}};
    sum_of_builtin(sum);
    if (fingerprint_of(sum, sizeof sum, BUILTIN_TOKENS, none, builtin_fingerprint, NULL))
        builtin_fingerprint[0] = 0;
}

void embedder_encoder_fingerprint(char hex[65]) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_builtin_fingerprint);
    memcpy(hex, builtin_fingerprint, sizeof builtin_fingerprint);
}

/* All that the file says beside its weights. */
static int read_head(embed_encoder *s, const gguf *g, const model_info *i, const char *path,
                     const embedder_options *o, fo_err *err) {
    const char *name = i->name[0] ? i->name : path;
    if (!i->encoder || i->n_scores)
        return fo_fail(err, FO_EUNSUPPORTED, "%s is %s: it cannot embed", name,
                       i->n_scores ? "a reranker" : "a model that writes text");
    s->base.dim = (size_t)i->d_model;
    int rc = encoder_vocabulary(&s->tokens, &s->first, &s->last, g, i, err);
    if (rc) return rc;
    s->base.vocabulary = s->tokens;
    s->base.weights = s->weights;
    rc = read_prefix(s, g, EMBED_QUERY, "forage.embedding.query_prefix", o->query_prefix, err);
    if (!rc)
        rc = read_prefix(s, g, EMBED_PASSAGE, "forage.embedding.passage_prefix", o->passage_prefix,
                         err);
    if (!rc) rc = read_limits(s, g, i, err);
    if (!rc) embedder_set_name(&s->base, name, strlen(name));
    return rc;
}

static int open_lanes(embed_encoder *s, const embedder_options *o, fo_err *err) {
    const encoder_limits passages = {.pool = o->passage_pool};
    int rc = encoder_create(&s->lanes[EMBED_QUERY].run, s->weights, NULL, err);
    return rc ? rc : encoder_create(&s->lanes[EMBED_PASSAGE].run, s->weights, &passages, err);
}

static int load(embed_encoder *s, const char *path, const embedder_options *o, fo_pool *pool,
                fo_err *err) {
    const model_options how = {.pool = pool, .fast = !o->exact};
    int rc = model_open(&s->weights, path, &how, err);
    const model_info *i = rc ? NULL : model_get_info(s->weights);
    if (!rc) rc = read_head(s, model_gguf(s->weights), i, path, o, err);
    if (!rc) rc = take_fingerprint(s, i->fingerprint, sizeof i->fingerprint, err);
    return rc ? rc : open_lanes(s, o, err);
}

static int load_builtin(embed_encoder *s, const embedder_options *o, fo_pool *pool, fo_err *err) {
    static const char what[] = "the built-in encoder";
    const model_options how = {.pool = pool, .fast = !o->exact};
    size_t n_changes, n_reader;
    const void *changes_bytes = embed_builtin_encoder(&n_changes);
    const void *reader_bytes = reader_builtin(&n_reader);
    gguf *changes = NULL, *file = NULL;
    int rc = gguf_open_memory(&changes, changes_bytes, n_changes, err);
    if (!rc) rc = gguf_open_memory(&s->under, reader_bytes, n_reader, err);
    if (!rc) rc = weights_changed(&file, s->under, (const gguf *const[]){changes}, 1, pool, err);
    if (!rc) rc = model_open_gguf(&s->weights, file, what, &how, err);
    if (!rc) rc = read_head(s, model_gguf(s->weights), model_get_info(s->weights), what, o, err);
    gguf_str name = {0};
    if (!rc) rc = gguf_get_str(changes, "general.name", &name, err);
    if (!rc) embedder_set_name(&s->base, name.ptr, name.len);
    gguf_close(changes);
    unsigned char sum[32];
    sum_of_builtin(sum);
    if (!rc) rc = take_fingerprint(s, sum, sizeof sum, err);
    return rc ? rc : open_lanes(s, o, err);
}

static embed_encoder *make(void) {
    embed_encoder *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->base.ops = &encoder_ops;
    for (int k = 0; k < 2; k++) pthread_mutex_init(&s->lanes[k].mu, NULL);
    return s;
}

int embed_encoder_open(embedder **out, const char *path, const embedder_options *o, fo_err *err) {
    embed_encoder *s = make();
    if (!s) return fo_no_memory(err);
    fo_pool *pool = o->pool;
    if (!pool) pool = s->own_pool = fo_pool_create_bound(0, NULL);
    int rc = !pool  ? fo_fail(err, FO_ENOMEM, "out of memory for threads")
             : path ? load(s, path, o, pool, err)
                    : load_builtin(s, o, pool, err);
    if (rc) {
        close_encoder(&s->base);
        return rc;
    }
    *out = &s->base;
    return FO_OK;
}

int embed_encoder_check(const gguf *g, const model_info *info, const char *path, fo_err *err) {
    embed_encoder *s = make();
    if (!s) return fo_no_memory(err);
    int rc = read_head(s, g, info, path, &(embedder_options){0}, err);
    close_encoder(&s->base);
    return rc;
}
