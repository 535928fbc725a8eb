/* Contexts and answers as they are kept: copies that never change, with counted references. */
#include <stdlib.h>
#include <string.h>

#include "kernels/clock.h"
#include "kernels/sha256.h"
#include "retrieval/pipeline/query_memory_internal.h"

static char *copy(const char *s, bool *ok) {
    if (!s) return NULL;
    char *c = strdup(s);
    *ok = *ok && c;
    return c;
}

static size_t length(const char *s) {
    return s ? strlen(s) + 17 : 0; /* malloc's own included */
}

static bool copy_contexts(const query_context *from, size_t n, query_context **out) {
    query_context *to = calloc(n + 1, sizeof *to);
    if (!to) return false;
    bool ok = true;
    for (size_t i = 0; i < n; i++) {
        to[i] = from[i];
        store_chunk *c = &to[i].chunk;
        const store_chunk *o = &from[i].chunk;
        c->text = malloc(o->n_before + o->text_len + 1);
        ok = ok && c->text;
        if (!c->text) c->n_before = 0;
        if (c->text && o->text)
            memcpy(c->text, o->text - o->n_before, o->n_before + o->text_len + 1);
        if (c->text) c->text += c->n_before;
        c->heading = copy(o->heading, &ok);
        c->place = copy(o->place, &ok);
        c->document_id = copy(o->document_id, &ok);
        c->title = copy(o->title, &ok);
        c->uri = copy(o->uri, &ok);
        c->metadata = copy(o->metadata, &ok);
    }
    if (!ok) {
        for (size_t i = 0; i < n; i++) store_chunk_deinit(&to[i].chunk);
        free(to);
        return false;
    }
    *out = to;
    return true;
}

/* The answer part of a result, contexts and cache figures left out. */
static bool copy_answer(const query_result *from, query_result *to) {
    bool ok = true;
    *to = *from;
    to->contexts = NULL;
    to->n_contexts = 0;
    memset(&to->cache, 0, sizeof to->cache);
    to->answer = copy(from->answer ? from->answer : "", &ok);
    to->stop_sequence = copy(from->stop_sequence, &ok);
    to->prompt.contexts = malloc((from->prompt.n_contexts + 1) * sizeof *to->prompt.contexts);
    if (to->prompt.contexts && from->prompt.n_contexts)
        memcpy(to->prompt.contexts, from->prompt.contexts,
               from->prompt.n_contexts * sizeof *to->prompt.contexts);
    ok = ok && to->prompt.contexts;
    to->citations = calloc(from->n_citations + 1, sizeof *to->citations);
    ok = ok && to->citations;
    for (size_t i = 0; to->citations && i < from->n_citations; i++) {
        to->citations[i] = from->citations[i];
        to->citations[i].quote = copy(from->citations[i].quote, &ok);
    }
    if (!to->citations) to->n_citations = 0;
    if (!ok) query_result_deinit(to);
    return ok;
}

static void destroy_contexts(cache_value *v) {
    cached_contexts *k = (cached_contexts *)v;
    for (size_t i = 0; i < k->n; i++) store_chunk_deinit(&k->contexts[i].chunk);
    free(k->contexts);
    free(k);
}

static void destroy_answer(cache_value *v) {
    cached_answer *k = (cached_answer *)v;
    query_result_deinit(&k->r);
    if (k->contexts) cache_value_drop(&k->contexts->head);
    free(k);
}

/* Scores are left out: they move with every document, and say nothing that is cited. */
static void digest_contexts(const query_context *x, size_t n, unsigned char out[]) {
    fo_buf b = {0};
    for (size_t i = 0; i < n; i++) {
        const store_chunk *c = &x[i].chunk;
        const char *texts[] = {c->document_id, c->title, c->uri, c->heading, c->place, c->metadata};
        uint64_t at[] = {c->ordinal, c->start, c->end, c->start_cp, c->end_cp, c->text_len};
        fo_buf_add(&b, at, sizeof at);
        fo_buf_add(&b, c->text, c->text_len);
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
            uint64_t len = texts[k] ? strlen(texts[k]) : UINT64_MAX;
            fo_buf_add(&b, &len, sizeof len);
            if (texts[k]) fo_buf_str(&b, texts[k]);
        }
    }
    if (b.failed) /* a digest that equals no other */
        for (size_t i = 0; i < 32; i += sizeof(double)) {
            double now = fo_now_ms();
            memcpy(out + i, &now, sizeof now);
        }
    else
        fo_sha256_of(out, b.data, b.len);
    fo_buf_free(&b);
}

cached_contexts *cached_contexts_make(const query_result *r, int64_t epoch, double tail,
                                      double cost_ms) {
    cached_contexts *k = calloc(1, sizeof *k);
    if (!k || !copy_contexts(r->contexts, r->n_contexts, &k->contexts)) {
        free(k);
        return NULL;
    }
    cache_value_init(&k->head, destroy_contexts);
    k->epoch = epoch;
    k->n = r->n_contexts;
    k->n_collapsed = r->n_collapsed;
    k->tail = tail;
    k->cost_ms = cost_ms;
    k->bytes = sizeof *k;
    for (size_t i = 0; i < k->n; i++) {
        const store_chunk *c = &k->contexts[i].chunk;
        k->bytes += sizeof *k->contexts + c->n_before + c->text_len + 17 + length(c->heading) +
                    length(c->place) + length(c->document_id) + length(c->title) + length(c->uri) +
                    length(c->metadata);
    }
    digest_contexts(k->contexts, k->n, k->digest);
    return k;
}

cached_answer *cached_answer_make(const query_result *r, cached_contexts *contexts, int64_t epoch,
                                  double cost_ms, double answer_ms) {
    cached_answer *k = calloc(1, sizeof *k);
    if (!k || !copy_answer(r, &k->r)) {
        free(k);
        return NULL;
    }
    cache_value_init(&k->head, destroy_answer);
    k->epoch = epoch;
    k->contexts = cache_value_keep(&contexts->head);
    k->cost_ms = cost_ms;
    k->answer_ms = answer_ms;
    return k;
}

size_t cached_answer_bytes(const cached_answer *k) {
    size_t n = sizeof *k + length(k->r.answer) + length(k->r.stop_sequence) + k->contexts->bytes +
               (k->r.prompt.n_contexts + 1) * sizeof *k->r.prompt.contexts + 17;
    for (size_t i = 0; i < k->r.n_citations; i++)
        n += sizeof *k->r.citations + length(k->r.citations[i].quote);
    return n;
}

bool cached_contexts_copy(const cached_contexts *k, query_context **out) {
    return copy_contexts(k->contexts, k->n, out);
}

bool cached_answer_copy(const cached_answer *k, query_result *out) {
    return copy_answer(&k->r, out);
}
