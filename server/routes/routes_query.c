/* POST /query and POST /search; answers whole or as server-sent events. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/routes/app.h"
#include "server/base/json.h"
#include "server/base/log.h"
#include "server/routes/query_json.h"
#include "kernels/hex.h"
#include "kernels/sha256.h"

typedef struct answer_stream {
    http_request *r;
    const query_call *call;
    bool begun;
} answer_stream;

/* One event; data is JSON without line breaks. */
static int send_event(answer_stream *s, const char *event, const fo_buf *data) {
    if (!s->begun) {
        s->begun = true;
        http_stream_begin(s->r, 200, "text/event-stream");
    }
    fo_buf b = {0};
    fo_buf_printf(&b, "event: %s\ndata: ", event);
    fo_buf_add(&b, data->data, data->len);
    fo_buf_str(&b, "\n\n");
    int rc = b.failed || data->failed ? FO_ENOMEM : http_stream_write(s->r, b.data, b.len);
    fo_buf_free(&b);
    return rc;
}

static int on_contexts(void *ctx, const query_result *partial) {
    answer_stream *s = ctx;
    if (!s->call->with_contexts) return 0;
    fo_buf b = {0};
    query_json_write_contexts(&b, s->call, partial);
    int rc = send_event(s, "contexts", &b);
    fo_buf_free(&b);
    return rc;
}

static int on_token(void *ctx, const char *text, size_t len) {
    fo_buf b = {0};
    json_out o = {&b, false};
    json_out_open(&o, NULL, '{');
    json_out_bytes(&o, "text", text, len);
    json_out_close(&o, '}');
    int rc = send_event(ctx, "token", &b);
    fo_buf_free(&b);
    return rc;
}

static int on_draft(void *ctx, const query_result *partial) {
    fo_buf b = {0};
    query_json_write_draft(&b, partial);
    int rc = send_event(ctx, "draft", &b);
    fo_buf_free(&b);
    return rc;
}

static int on_citation(void *ctx, const query_result *partial, const query_citation *c) {
    fo_buf b = {0};
    query_json_write_citation(&b, partial, c);
    int rc = send_event(ctx, "citation", &b);
    fo_buf_free(&b);
    return rc;
}

static void fail_stream(answer_stream *s, const fo_err *err) {
    const char *code;
    int status = http_status_of(err, &code);
    fo_buf b = {0};
    http_error_json(&b, status, code, err->field, err->msg, http_id(s->r));
    send_event(s, "error", &b);
    fo_buf_free(&b);
}

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

/* The language model refuses for load. */
static void refuse(http_request *r, int64_t retry_after_ms, const fo_err *err) {
    char seconds[32];
    snprintf(seconds, sizeof seconds, "%lld", (long long)(retry_after_ms + 999) / 1000);
    http_set_header(r, "Retry-After", seconds);
    http_error(r, 429, "rate_limit_exceeded", NULL, "%s", err->msg);
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

static void answer(http_request *r, app *a, bool search_only) {
    size_t len;
    const char *body = http_body(r, &len);
    query_call call;
    fo_err err = {0};
    if (query_json_read(&call, body, len, search_only, &err)) {
        http_error_from(r, &err);
        return;
    }
    if (!app_check_collection(r, call.request.collection)) {
        query_call_deinit(&call);
        return;
    }
    call.request.tenant = app_tenant(r);
    call.request.sees = app_sees(r);
    call.request.cancel = http_cancel(r);
    answer_stream stream = {r, &call, false};
    query_sink sink = {&stream, on_contexts, on_token, on_citation, on_draft};
    query_result result = {0};
    int rc = service_query(a->service, &call.request, call.stream ? &sink : NULL, &result, &err);
    if (rc) {
        if (stream.begun)
            fail_stream(&stream, &err);
        else if (rc == FO_EBUSY && result.retry_after_ms > 0)
            refuse(r, result.retry_after_ms, &err);
        else
            http_error_from(r, &err);
        if (rc != FO_EINVAL && rc != FO_ENOTFOUND)
            log_event(LOG_LEVEL_WARN, http_id(r), "query_failed", LOG_STR("error", err.msg));
        query_call_deinit(&call);
        return;
    }
    char id[32];
    app_make_id(id, "q_");
    fo_buf b = {0};
    query_json_write(&b, id, &call, &result, http_queue_ms(r));
    if (!search_only) metrics_query(a->metrics, (int)result.status);
    log_event(LOG_LEVEL_DEBUG, http_id(r), "query", LOG_STR("query_id", id),
              LOG_STR("status", query_status_names[result.status]),
              LOG_INT("contexts", result.n_contexts), LOG_NUM("ms", result.ms.total));
    double stage_ms[STORE_N_STAGES] = {0};
    stages_of(&result, http_queue_ms(r), stage_ms);
    log_query(a, &call.request, &result, stage_ms);
    if (result.cache.answer != CACHE_HIT)
        app_charge(r, result.usage.prompt_tokens + result.usage.completion_tokens);
    metrics_stages(a->metrics, stage_ms);
    query_result_deinit(&result);
    if (call.stream) {
        send_event(&stream, "done", &b);
        fo_buf_free(&b);
    } else {
        http_reply_json(r, 200, &b);
    }
    query_call_deinit(&call);
}

void route_query(http_request *r, void *ctx) {
    answer(r, ctx, false);
}

void route_search(http_request *r, void *ctx) {
    answer(r, ctx, true);
}
