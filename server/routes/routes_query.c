/* POST /query and POST /search; answers whole or as server-sent events. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/routes/app.h"
#include "server/routes/query_account.h"
#include "server/base/json.h"
#include "server/base/log.h"
#include "server/base/request_limits.h"
#include "server/routes/query_json.h"

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
    query_json_write_citation(&b, partial, c, NULL);
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

/* The language model refuses for load. */
static void refuse(http_request *r, int64_t retry_after_ms, const fo_err *err) {
    char seconds[32];
    snprintf(seconds, sizeof seconds, "%lld", (long long)(retry_after_ms + 999) / 1000);
    http_set_header(r, "Retry-After", seconds);
    http_error(r, 429, "rate_limit_exceeded", NULL, "%s", err->msg);
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
    int rc = request_limits_spend_wait(&call.request.timeout_ms, http_queue_ms(r), &err);
    if (!rc)
        rc = service_query(a->service, &call.request, call.stream ? &sink : NULL, &result, &err);
    if (rc) {
        query_account_failed(r, &result);
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
    log_event(LOG_LEVEL_DEBUG, http_id(r), "query", LOG_STR("query_id", id),
              LOG_STR("status", query_status_names[result.status]),
              LOG_INT("contexts", result.n_contexts), LOG_NUM("ms", result.ms.total));
    query_account(a, r, &call.request, &result);
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
