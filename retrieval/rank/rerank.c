#include "retrieval/rank/rerank.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "engine/embed/encoder_vocabulary.h"
#include "engine/model/encoder.h"

enum { PAIRS_AT_ONCE = 64 };

struct reranker {
    /* immutable after open */
    model *weights;
    tokenizer *tokens;
    fo_pool *own_pool;
    int32_t first, separator;
    size_t window;
    char name[160];
    pthread_mutex_t mu;
    encoder *run; /* guarded by mu */
};

void reranker_close(reranker *r) {
    if (!r) return;
    encoder_free(r->run);
    tokenizer_free(r->tokens);
    model_close(r->weights);
    fo_pool_free(r->own_pool);
    pthread_mutex_destroy(&r->mu);
    free(r);
}

static int load(reranker *r, const char *path, fo_pool *pool, fo_err *err) {
    if (!pool && !(pool = r->own_pool = fo_pool_create_bound(0, NULL)))
        return fo_fail(err, FO_ENOMEM, "out of memory for threads");
    int rc = model_open(&r->weights, path, &(model_options){.pool = pool, .fast = true}, err);
    if (rc) return rc;
    const model_info *i = model_get_info(r->weights);
    strncpy(r->name, i->name[0] ? i->name : path, sizeof r->name - 1);
    if (!i->encoder || !i->n_scores)
        return fo_fail_field(err, FO_EUNSUPPORTED, "rerank-model",
                             "%s is no cross-encoder: it has no head that scores a pair", r->name);
    rc = encoder_vocabulary(&r->tokens, &r->first, &r->separator, model_gguf(r->weights), i, err);
    if (rc) return err ? fo_fail_prefix(err, "%s", r->name) : rc;
    r->window = i->n_context < 8192 ? (size_t)i->n_context : 8192;
    return encoder_create(&r->run, r->weights, &(encoder_limits){0}, err);
}

int reranker_open(reranker **out, const char *path, fo_pool *pool, fo_err *err) {
    reranker *r = calloc(1, sizeof *r);
    if (!r) return fo_no_memory(err);
    pthread_mutex_init(&r->mu, NULL);
    int rc = load(r, path, pool, err);
    if (rc)
        reranker_close(r);
    else
        *out = r;
    return rc;
}

const char *reranker_name(const reranker *r) {
    return r->name;
}
int reranker_intact(const reranker *r, fo_err *err) {
    return gguf_intact(model_gguf(r->weights), err);
}

/* [CLS] question [SEP] passage [SEP]; XLM-RoBERTa was trained with two separators in the middle.
 * ids has room for the window, of which the question takes half at most. */
static int make_pair(const reranker *r, const int32_t *query, size_t n_query, const char *passage,
                     size_t len, int32_t *ids, encoder_text *out, fo_err *err) {
    size_t at = 0;
    ids[at++] = r->first;
    memcpy(ids + at, query, n_query * sizeof *ids);
    at += n_query;
    ids[at++] = r->separator;
    if (tokenizer_get_kind(r->tokens) == TOKENIZER_UNIGRAM) ids[at++] = r->separator;
    int second = (int)at;
    size_t room = r->window - at - 1;
    int64_t all = tokenizer_encode(r->tokens, passage, len, 0, ids + at, room);
    if (all < 0) return fo_fail(err, (int)all, "a text of %zu bytes cannot be split", len);
    at += (size_t)all < room ? (size_t)all : room;
    ids[at++] = r->separator;
    *out = (encoder_text){.tokens = ids, .n_tokens = (int)at, .second_segment = second};
    return FO_OK;
}

int reranker_score(reranker *r, const char *query, size_t query_len, const char *const *passages,
                   const size_t *lens, size_t n, float *scores, uint64_t *tokens, fo_err *err) {
    size_t most = r->window / 2;
    int32_t *q = malloc(most * sizeof *q);
    int32_t *ids = malloc(PAIRS_AT_ONCE * r->window * sizeof *ids);
    encoder_text pairs[PAIRS_AT_ONCE];
    int rc = q && ids ? FO_OK : fo_fail(err, FO_ENOMEM, "out of memory to rerank");
    size_t n_query = 0;
    if (!rc) {
        int64_t all = tokenizer_encode(r->tokens, query, query_len, 0, q, most);
        if (all < 0) rc = fo_fail(err, (int)all, "the query cannot be split");
        n_query = all < 0 ? 0 : (size_t)all < most ? (size_t)all : most;
    }
    for (size_t first = 0; !rc && first < n; first += PAIRS_AT_ONCE) {
        size_t m = n - first < PAIRS_AT_ONCE ? n - first : PAIRS_AT_ONCE;
        for (size_t i = 0; !rc && i < m; i++) {
            rc = make_pair(r, q, n_query, passages[first + i], lens[first + i], ids + i * r->window,
                           &pairs[i], err);
            if (!rc && tokens) *tokens += (uint64_t)pairs[i].n_tokens;
        }
        if (rc) break;
        pthread_mutex_lock(&r->mu);
        rc = encoder_score(r->run, pairs, m, scores + first, err);
        pthread_mutex_unlock(&r->mu);
    }
    free(q);
    free(ids);
    return rc;
}
