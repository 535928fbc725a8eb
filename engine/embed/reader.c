/* reader.c - opening a reader, and texts to token vectors: what is new of a call is split, sorted by
 * length and encoded in steps of about one size.
 *
 * Lock order: none; r->mu (the encoder), those of r->pairs and the cache's are never held together. */
#include "engine/embed/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/embed/reader_builtin.h"
#include "engine/embed/reader_pair.h"
#include "engine/tokenizer/tokenizer_gguf.h"
#include "kernels/align.h"
#include "kernels/sha256.h"

enum { ENDS = 2, THREAD_TOKENS = 512, MOST_TOKENS = 8192, MAX_TEXT = 1 << 30 };

/* --- opening --- */
static int read_vocabulary(reader *r, const char *name, fo_err *err) {
    int rc = tokenizer_from_gguf(&r->tokens, model_gguf(r->weights), err);
    if (rc) return rc;
    const int kind = tokenizer_get_kind(r->tokens);
    if (kind != TOKENIZER_WORDPIECE && kind != TOKENIZER_UNIGRAM)
        return fo_fail(err, FO_EUNSUPPORTED,
                       "%s has neither a WordPiece nor a unigram vocabulary, as a reader needs",
                       name);
    if (!tokenizer_text_ends(r->tokens, &r->first, &r->last))
        return fo_fail(err, FO_ECORRUPT, "%s: the vocabulary has no token before and behind a text",
                       name);
    return FO_OK;
}

static int load_weights(reader *r, const char *path, const char *name, fo_err *err) {
    const model_options o = {.pool = r->pool, .fast = !r->exact};
    size_t size;
    if (path && path[0]) return model_open(&r->weights, path, &o, err);
    const void *data = reader_builtin(&size);
    return model_open_memory(&r->weights, data, size, name, &o, err);
}

static int load(reader *r, const char *path, const reader_options *o, fo_err *err) {
    const char *name = path && path[0] ? path : "the built-in reader";
    r->exact = o->exact;
    r->builtin = !path || !path[0];
    r->pool = o->pool;
    if (!r->pool && !(r->pool = r->own_pool = fo_pool_create_bound(0, NULL)))
        return fo_fail(err, FO_ENOMEM, "out of memory for threads");
    if (o->cache_bytes && !(r->cache = reader_cache_create(o->cache_bytes)))
        return fo_fail(err, FO_ENOMEM, "out of memory for the reader's cache");
    r->shares = o->weights != NULL;
    r->weights = o->weights;
    int rc = r->shares ? FO_OK : load_weights(r, path, name, err);
    if (rc) return rc;
    const model_info *i = model_get_info(r->weights);
    if (!i->encoder || i->n_scores || i->d_model > ALIGN_MAX_LEN || i->n_context <= ENDS)
        return fo_fail(err, FO_EUNSUPPORTED, "%s is no encoder that a reader can use: it %s", name,
                       !i->encoder   ? "writes text"
                       : i->n_scores ? "is a reranker"
                                     : "is too wide or too short");
    if ((rc = read_vocabulary(r, name, err))) return rc;
    r->dim = (size_t)i->d_model;
    r->max_tokens = (size_t)i->n_context - ENDS;
    if (r->max_tokens > READER_MAX_TOKENS) r->max_tokens = READER_MAX_TOKENS;
    r->step_tokens = THREAD_TOKENS * (size_t)fo_pool_threads(r->pool);
    if (r->step_tokens > MOST_TOKENS) r->step_tokens = MOST_TOKENS;
    const encoder_limits limits = {.batch_tokens = (int)r->step_tokens, .pool = r->pool};
    if ((rc = encoder_create(&r->run, r->weights, &limits, err))) return rc;
    r->rows = malloc(r->step_tokens * r->dim * sizeof *r->rows);
    if (!r->rows) return fo_fail(err, FO_ENOMEM, "out of memory for a step of the reader");
    if ((rc = pair_family_find(r, err))) return rc;
    return r->builtin ? FO_OK : reader_centre_find(r, err); /* that one has none */
}

int reader_open(reader **out, const char *path, const reader_options *options, fo_err *err) {
    reader *r = calloc(1, sizeof *r);
    if (!r) return fo_no_memory(err);
    pthread_mutex_init(&r->mu, NULL);
    r->pairs = calloc(PAIR_KINDS, sizeof *r->pairs);
    for (int i = 0; r->pairs && i < PAIR_KINDS; i++) pthread_mutex_init(&r->pairs[i].mu, NULL);
    int rc = r->pairs ? load(r, path, options, err) : fo_no_memory(err);
    if (rc) {
        reader_close(r);
        return rc;
    }
    *out = r;
    return FO_OK;
}

reader *reader_apart(reader *of, const unsigned char space[32]) {
    reader *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    r->of = of->of ? of->of : of;
    memcpy(r->space, space, sizeof r->space);
    return r;
}

static const reader *whole(const reader *r) {
    return r->of ? r->of : r;
}

void reader_close(reader *r) {
    if (!r) return;
    if (r->of) {
        free(r);
        return;
    }
    for (int i = 0; r->pairs && i < PAIR_KINDS; i++) {
        pair_encoder_free(r->pairs[i].opened);
        pthread_mutex_destroy(&r->pairs[i].mu);
    }
    free(r->pairs);
    reader_cache_free(r->cache);
    encoder_free(r->run);
    tokenizer_free(r->tokens);
    if (!r->shares) model_close(r->weights);
    fo_pool_free(r->own_pool);
    pthread_mutex_destroy(&r->mu);
    free(r->centre);
    free(r->rows);
    free(r);
}

int reader_intact(const reader *r, fo_err *err) {
    return gguf_intact(model_gguf(whole(r)->weights), err);
}

bool reader_has_languages(const reader *r) {
    return tokenizer_get_kind(whole(r)->tokens) == TOKENIZER_UNIGRAM;
}

void reader_get_stats(reader *r, reader_stats *out) {
    *out = (reader_stats){0};
    if (whole(r)->cache) reader_cache_stats(whole(r)->cache, out);
}

/* --- encoding --- */
/* A text that the cache does not hold; texts of the same bytes share one. */
typedef struct fresh {
    reader_key key;
    reader_text *text;
} fresh;

/* Tokens and spans, vectors not yet. */
static int split(const reader *r, const char *text, size_t len, reader_text **out, fo_err *err) {
    int32_t ids[READER_MAX_TOKENS];
    tokenizer_span spans[READER_MAX_TOKENS];
    const int64_t all = tokenizer_encode_spans(r->tokens, text, len, ids, spans, r->max_tokens);
    if (all < 0) return fo_fail(err, (int)all, "a text of %zu bytes cannot be read", len);
    const bool cut = (size_t)all > r->max_tokens;
    const size_t n = cut ? r->max_tokens : (size_t)all;
    reader_text *t = reader_text_create(n, r->dim, r->exact);
    if (!t) return fo_fail(err, FO_ENOMEM, "out of memory for the vectors of %zu tokens", n);
    t->ids[0] = r->first;
    memcpy(t->ids + 1, ids, n * sizeof *ids);
    t->ids[n + 1] = r->last;
    memcpy(t->spans, spans, n * sizeof *spans);
    t->read = cut ? spans[n - 1].end : len;
    *out = t;
    return FO_OK;
}

/* Of one space no key is another's: texts of all are hashed behind its 32 bytes. */
static void key_of(reader_key *key, const unsigned char *space, const char *text, size_t len) {
    fo_sha256 h;
    fo_sha256_begin(&h);
    if (space) fo_sha256_add(&h, space, 32);
    fo_sha256_add(&h, text, len);
    fo_sha256_end(&h, key->sha256);
}

/* The texts that are not kept, each once, into news[*n_news]; which[i] is the one of text i. */
static int gather(reader *r, const unsigned char *space, const char *const *texts,
                  const size_t *lens, size_t n, fresh *news, size_t *n_news, size_t *which,
                  reader_text **out, fo_err *err) {
    for (size_t i = 0; i < n; i++) {
        fresh *f = &news[*n_news];
        key_of(&f->key, space, texts[i], lens[i]);
        if (r->cache && (out[i] = reader_cache_find(r->cache, &f->key))) continue;
        size_t k = 0;
        while (k < *n_news && memcmp(&news[k].key, &f->key, sizeof f->key)) k++;
        which[i] = k;
        if (k < *n_news) continue;
        int rc = split(r, texts[i], lens[i], &f->text, err);
        if (rc) return rc;
        ++*n_news;
    }
    return FO_OK;
}

static int by_tokens(const void *a, const void *b) {
    const reader_text *x = *(reader_text *const *)a, *y = *(reader_text *const *)b;
    return (x->n_tokens > y->n_tokens) - (x->n_tokens < y->n_tokens);
}

/* Row i of a step's output is token row - 1 of the text that begins there. */
typedef struct rounding {
    reader_text *const *texts;
    const size_t *rows; /* [n + 1] where each text begins */
    float *from;
    const float *centre;
} rounding;

static void round_some(void *arg, size_t begin, size_t end, int thread) {
    (void)thread;
    const rounding *j = arg;
    for (size_t i = begin; i < end; i++) {
        reader_text *t = j->texts[i];
        for (size_t k = 0; k < t->n_tokens; k++)
            reader_text_set(t, k, j->from + (j->rows[i] + 1 + k) * t->dim, j->centre);
    }
}

/* Texts that fit a step together. */
static int run_step(reader *r, reader_text *const *texts, size_t n, fo_err *err) {
    encoder_text *in = malloc(n * sizeof *in);
    size_t *rows = malloc((n + 1) * sizeof *rows);
    int rc = in && rows ? FO_OK : fo_fail(err, FO_ENOMEM, "out of memory for %zu texts", n);
    for (size_t i = 0, at = 0; !rc && i < n; i++) {
        in[i] = (encoder_text){.tokens = texts[i]->ids, .n_tokens = (int)texts[i]->n_tokens + ENDS};
        rows[i] = at;
        at += texts[i]->n_tokens + ENDS;
    }
    if (!rc) {
        rounding job = {texts, rows, r->rows, r->centre};
        pthread_mutex_lock(&r->mu);
        rc = encoder_hidden(r->run, in, n, r->rows, err);
        if (!rc) fo_pool_run(r->pool, n, 1, round_some, &job);
        pthread_mutex_unlock(&r->mu);
    }
    free(in);
    free(rows);
    return rc;
}

/* Texts of like length share a step, since attention then works on tiles of one size; all steps are
 * about as long, since a short last one would leave threads idle. */
static int run_all(reader *r, reader_text **texts, size_t n, const atomic_bool *cancelled,
                   fo_err *err) {
    size_t all = 0;
    qsort(texts, n, sizeof *texts, by_tokens);
    for (size_t i = 0; i < n; i++) all += texts[i]->n_tokens + ENDS;
    const size_t steps = (all + r->step_tokens - 1) / r->step_tokens;
    const size_t enough = steps ? (all + steps - 1) / steps : 0;
    for (size_t first = 0, k; first < n; first += k) {
        size_t rows = texts[first]->n_tokens + ENDS;
        for (k = 1; first + k < n && rows < enough; k++) {
            const size_t more = texts[first + k]->n_tokens + ENDS;
            if (rows + more > r->step_tokens) break;
            rows += more;
        }
        if (cancelled && atomic_load_explicit(cancelled, memory_order_relaxed))
            return fo_fail(err, FO_ECANCELLED, "reading was cancelled");
        int rc = run_step(r, texts + first, k, err);
        if (rc) return rc;
    }
    return FO_OK;
}

int reader_encode(reader *r, const char *const *texts, const size_t *lens, size_t n_texts,
                  const atomic_bool *cancelled, reader_text **out, fo_err *err) {
    const unsigned char *space = r->of ? r->space : NULL;
    if (r->of) r = r->of;
    for (size_t i = 0; i < n_texts; i++) out[i] = NULL;
    if (n_texts > READER_MAX_TEXTS)
        return fo_fail(err, FO_ELIMIT, "%zu texts to read; a call takes %d", n_texts,
                       READER_MAX_TEXTS);
    for (size_t i = 0; i < n_texts; i++)
        if (lens[i] > MAX_TEXT)
            return fo_fail(err, FO_ELIMIT, "text %zu has %zu bytes; a reader takes 1 GiB", i,
                           lens[i]);
    fresh *news = calloc(n_texts + 1, sizeof *news);
    size_t *which = calloc(n_texts + 1, sizeof *which), n_news = 0, n_run = 0;
    reader_text **run = calloc(n_texts + 1, sizeof *run);
    int rc = news && which && run
                 ? gather(r, space, texts, lens, n_texts, news, &n_news, which, out, err)
                 : fo_fail(err, FO_ENOMEM, "out of memory for %zu texts", n_texts);
    for (size_t i = 0; !rc && i < n_news; i++)
        if (news[i].text->n_tokens) run[n_run++] = news[i].text;
    if (!rc) rc = run_all(r, run, n_run, cancelled, err);
    for (size_t i = 0; !rc && i < n_texts; i++)
        if (!out[i]) out[i] = reader_text_retain(news[which[i]].text);
    for (size_t i = 0; i < n_news; i++) {
        if (!rc && r->cache) reader_cache_add(r->cache, &news[i].key, news[i].text);
        reader_text_release(news[i].text);
    }
    if (rc) {
        reader_texts_release(out, n_texts);
        for (size_t i = 0; i < n_texts; i++) out[i] = NULL;
    }
    free(news);
    free(which);
    free(run);
    return rc;
}
