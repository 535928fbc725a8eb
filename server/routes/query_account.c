#include "server/routes/query_account.h"

#include <string.h>

#include "kernels/hex.h"
#include "kernels/sha256.h"
#include "server/base/log.h"

/* In the order of enum store_stage. */
static void stages_of(const query_result *r, double queue_ms, double ms[STORE_N_STAGES]) {
    ms[STORE_STAGE_QUEUE] = queue_ms + r->ms.queue; /* for a worker, for the language model */
    ms[STORE_STAGE_EMBED] = r->ms.embed;
    ms[STORE_STAGE_DENSE] = r->ms.dense;
    ms[STORE_STAGE_SPARSE] = r->ms.sparse;
    ms[STORE_STAGE_FUSE] = r->ms.fuse;
    ms[STORE_STAGE_RERANK] = r->ms.rerank;
    ms[STORE_STAGE_PREFILL] = r->ms.prefill;
    ms[STORE_STAGE_FIRST_TOKEN] = r->ms.first_token;
    ms[STORE_STAGE_DECODE] = r->ms.decode;
    ms[STORE_STAGE_TOTAL] = r->ms.total;
}

/* What each cache layer did for this query. */
static void layers_of(const query_request *q, const query_result *r,
                      store_layer_use use[STORE_N_LAYERS]) {
    const enum cache_outcome outcomes[] = {r->cache.answer, r->cache.retrieval};
    for (int i = STORE_LAYER_ANSWER; i <= STORE_LAYER_RETRIEVAL; i++) {
        use[i].lookups = outcomes[i] != CACHE_BYPASSED;
        use[i].hits = outcomes[i] == CACHE_HIT;
    }
    /* the layer that spared the most */
    int saver = r->cache.answer == CACHE_HIT ? STORE_LAYER_ANSWER : STORE_LAYER_RETRIEVAL;
    use[saver].saved_ms = r->cache.saved_ms;
    use[saver].saved_tokens = (int64_t)r->cache.saved_tokens;
    /* A prompt that was read: what was attached is spared at the rate of what was computed. */
    if (r->prompt.n_contexts == 0 || r->cache.answer == CACHE_HIT) return;
    if (q->kv_reuse == REUSE_OFF) return;
    size_t cached = r->usage.cached_tokens, prompt = r->usage.prompt_tokens;
    size_t disk = r->usage.disk_tokens, prefix = r->usage.prefix_tokens;
    size_t from_pages = prefix > disk ? prefix - disk : 0;
    size_t rest = cached > from_pages + disk ? cached - from_pages - disk : 0;
    const struct {
        enum store_cache_layer layer;
        bool asked;
        size_t tokens;
    } kv[] = {{STORE_LAYER_KV_PREFIX, true, from_pages},
              {STORE_LAYER_KV_CHUNK, q->kv_reuse == REUSE_CHUNK, rest},
              {STORE_LAYER_KV_DISK, r->usage.disk_asked, disk}};
    for (size_t i = 0; i < sizeof kv / sizeof *kv; i++) {
        store_layer_use *u = &use[kv[i].layer];
        u->lookups = kv[i].asked;
        u->hits = kv[i].tokens > 0;
        u->saved_tokens = (int64_t)kv[i].tokens;
        /* At the rate of what was computed; a step of few tokens costs as much as one of 32. */
        size_t computed = prompt > cached + 32 ? prompt - cached : 32;
        u->saved_ms = r->ms.prefill * (double)kv[i].tokens / (double)computed;
    }
}

/* The row of the query log; queued, never waited for. */
static void log_query(app *a, const query_request *q, const query_result *r,
                      const double stage_ms[STORE_N_STAGES]) {
    const char *asked = q->query ? q->query : q->messages[q->n_messages - 1].content;
    char hash[80] = "sha256:";
    if (a->log_queries == LOG_QUERIES_HASH) {
        unsigned char digest[32];
        fo_sha256_of(digest, asked, strlen(asked));
        fo_hex_write(hash + 7, digest, sizeof digest);
        asked = hash;
    }
    store_query_log row = {.t_ms = log_now_ms(),
                           .tenant = q->tenant,
                           .collection = q->collection,
                           .query = a->log_queries == LOG_QUERIES_OFF ? NULL : asked,
                           .status = query_status_names[r->status],
                           .answer_source = answer_source_names[r->source],
                           .total_ms = r->ms.total,
                           .n_contexts = (int)r->n_contexts,
                           .cache_hit = r->cache.answer == CACHE_HIT};
    memcpy(row.stage_ms, stage_ms, sizeof row.stage_ms);
    layers_of(q, r, row.layers);
    metrics_layers(a->metrics, row.layers);
    query_log_add(a->query_log, &row);
}

/* Where the time went: what the named stages leave is the answer's, its sentences chosen and verified. Of several
 * choices the first waited for a worker. */
static void trace(http_request *r, const query_result *result) {
    const double queue_ms = http_is_traced(r) ? 0 : http_queue_ms(r);
    const trace_stage stages[] = {{"queue", queue_ms + result->ms.queue},
                                  {"embed", result->ms.embed},
                                  {"dense", result->ms.dense},
                                  {"sparse", result->ms.sparse},
                                  {"fuse", result->ms.fuse},
                                  {"rerank", result->ms.rerank},
                                  {"prefill", result->ms.prefill},
                                  {"decode", result->ms.decode}};
    http_trace_stages(r, queue_ms + result->ms.total, stages, sizeof stages / sizeof *stages,
                      "answer");
}

static size_t tokens_of(const query_result *r) {
    const bool computed = r->cache.answer != CACHE_HIT;
    return r->rewriting_tokens +
           (computed ? r->usage.prompt_tokens + r->usage.completion_tokens : 0);
}

void query_account_failed(http_request *r, const query_result *result) {
    app_charge(r, tokens_of(result));
}

void query_account(app *a, http_request *r, const query_request *q, const query_result *result) {
    app_charge(r, tokens_of(result));
    query_account_charged(a, r, q, result);
}

void query_account_charged(app *a, http_request *r, const query_request *q,
                           const query_result *result) {
    double stage_ms[STORE_N_STAGES] = {0};
    if (q->generate) metrics_query(a->metrics, (int)result->status);
    stages_of(result, http_queue_ms(r), stage_ms);
    log_query(a, q, result, stage_ms);
    metrics_stages(a->metrics, stage_ms);
    trace(r, result);
}
