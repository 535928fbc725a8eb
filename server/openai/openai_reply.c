#include "server/openai/openai_reply.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/clock.h"
#include "server/base/log.h"
#include "server/openai/openai_responses.h"
#include "server/routes/diffusion_json.h"
#include "server/routes/sparse_json.h"

void openai_reply_init(openai_reply *p, http_request *r, openai_call *call, const char *name) {
    *p = (openai_reply){.r = r,
                        .call = call,
                        .model = name,
                        .created = log_now_ms() / 1000,
                        .started_ms = fo_now_ms()};
    app_make_id(p->id, call->response ? "resp_" : call->chat ? "chatcmpl-" : "cmpl-");
}

void openai_reply_deinit(openai_reply *p) {
    openai_responses_deinit(p);
}

void openai_write_head(const openai_reply *p, json_out *o, bool chunk) {
    json_out_open(o, NULL, '{');
    json_out_string(o, "id", p->id);
    json_out_string(o, "object",
                    !p->call->chat ? "text_completion"
                    : chunk        ? "chat.completion.chunk"
                                   : "chat.completion");
    json_out_int(o, "created", p->created);
    json_out_string(o, "model", p->model);
    json_out_null(o, "system_fingerprint");
}

const char *openai_finish_name(const char *reason) {
    if (!strcmp(reason, "tool_calls")) return "tool_calls";
    return !strcmp(reason, "length") || !strcmp(reason, "timeout") ? "length" : "stop";
}

static void write_ms(json_out *o, const char *name, double ms) {
    json_out_number(o, name, round(ms * 1000) / 1000);
}

void openai_write_timings(openai_reply *p, json_out *o) {
    openai_timings *t = &p->timings;
    t->total_ms = fo_now_ms() - p->started_ms;
    if (t->first_visible_ms == 0) t->first_visible_ms = t->total_ms;
    json_out_open(o, "timings", '{');
    write_ms(o, "queue_ms", t->queue_ms);
    write_ms(o, "retrieval_ms", t->retrieval_ms);
    write_ms(o, "prefill_ms", t->prefill_ms);
    write_ms(o, "decode_ms", t->decode_ms);
    write_ms(o, "first_visible_ms", t->first_visible_ms);
    write_ms(o, "total_ms", t->total_ms);
    json_out_close(o, '}');
    bool wrote = p->completion_tokens && t->decode_ms > 0;
    write_ms(o, "tokens_per_s", wrote ? 1000 * (double)p->completion_tokens / t->decode_ms : 0);
    diffusion_json_write(o, p->passes, p->completion_tokens, p->kv_note);
    sparse_json_write(o, &p->held);
    if (p->index_incomplete) json_out_bool(o, "index_incomplete", true);
}

void openai_write_figures(openai_reply *p, json_out *o) {
    openai_write_usage(o, p->prompt_tokens, p->completion_tokens, p->cached_tokens);
    openai_write_timings(p, o);
}

/* ---- streams -------------------------------------------------------------------------------- */

static int send_data(openai_reply *p, const fo_buf *json) {
    if (!p->begun) {
        p->begun = true;
        http_set_header(p->r, "Cache-Control", "no-cache");
        http_stream_begin(p->r, 200, "text/event-stream");
    }
    fo_buf b = {0};
    fo_buf_str(&b, "data: ");
    fo_buf_add(&b, json->data, json->len);
    fo_buf_str(&b, "\n\n");
    int rc = b.failed || json->failed ? FO_ENOMEM : http_stream_write(p->r, b.data, b.len);
    fo_buf_free(&b);
    return rc;
}

static int send_done(openai_reply *p) {
    fo_buf done = {0};
    fo_buf_str(&done, "[DONE]");
    int rc = send_data(p, &done);
    fo_buf_free(&done);
    return rc;
}

int openai_send_chunk(openai_reply *p, const openai_chunk *k) {
    if (p->call->stream && k->len && p->timings.first_visible_ms == 0)
        p->timings.first_visible_ms = fo_now_ms() - p->started_ms;
    if (p->call->response) return openai_responses_chunk(p, k);
    fo_buf b = {0};
    json_out o = {&b, false};
    openai_write_head(p, &o, true);
    json_out_open(&o, "choices", '[');
    json_out_open(&o, NULL, '{');
    json_out_int(&o, "index", (int64_t)k->index);
    if (p->call->chat) {
        json_out_open(&o, "delta", '{');
        if (k->role) json_out_string(&o, "role", "assistant");
        if ((k->role || k->len) && !k->refusal) json_out_bytes(&o, "content", k->text, k->len);
        if (k->refusal) json_out_string(&o, "refusal", k->refusal);
        if (k->calls) json_out_raw(&o, "tool_calls", k->calls);
        json_out_close(&o, '}');
    } else {
        json_out_bytes(&o, "text", k->text, k->len);
    }
    if (k->logprobs)
        k->logprobs(k->logprobs_ctx, &o);
    else
        json_out_null(&o, "logprobs");
    json_out_string(&o, "finish_reason", k->finish);
    json_out_close(&o, '}');
    json_out_close(&o, ']');
    if (k->citations) json_out_raw(&o, "citations", k->citations);
    if (k->checked) json_out_raw(&o, "checked", k->checked);
    if (p->call->include_usage) json_out_null(&o, "usage");
    json_out_close(&o, '}');
    int rc = send_data(p, &b);
    fo_buf_free(&b);
    return rc;
}

int openai_send_end(openai_reply *p) {
    if (p->call->response) return openai_responses_end(p);
    int rc = FO_OK;
    if (p->call->include_usage) {
        fo_buf b = {0};
        json_out o = {&b, false};
        openai_write_head(p, &o, true);
        json_out_open(&o, "choices", '[');
        json_out_close(&o, ']');
        openai_write_figures(p, &o);
        json_out_close(&o, '}');
        rc = send_data(p, &b);
        fo_buf_free(&b);
    }
    return rc ? rc : send_done(p);
}

/* Is it the prompt, with the answer's room, that is too long? Else it is what the field says: a schema. */
static bool is_of_window(const fo_err *err) {
    static const char *const fields[] = {"",         "max_tokens", "max_completion_tokens",
                                         "messages", "prompt",     "input"};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (!strcmp(err->field, fields[i])) return true;
    return false;
}

void openai_fail(openai_reply *p, const fo_err *told) {
    fo_err own = *told, *err = &own;
    const bool too_long = err->code == FO_ELIMIT && is_of_window(err);
    if (err->code == FO_ELIMIT && !too_long) err->code = FO_EINVAL;
    if (p->call->response) openai_responses_name(p->call->response, err);
    if (!p->begun) {
        if (err->code == FO_EBUSY)
            http_error(p->r, 429, "rate_limit_exceeded", NULL, "%s", err->msg);
        else if (too_long)
            http_error(p->r, 400, "context_length_exceeded",
                       p->call->response ? "input"
                       : p->call->chat   ? "messages"
                                         : "prompt",
                       "%s", err->msg);
        else
            openai_error(p->r, err);
        return;
    }
    const char *code;
    int status = openai_status_of(err, &code);
    if (status == 500) /* the line of the request says 200, with which the stream began */
        log_event(LOG_LEVEL_WARN, http_id(p->r), "stream_failed", LOG_STR("error", err->msg));
    if (p->call->response) {
        openai_responses_error(p, status, code, err);
        return;
    }
    fo_buf b = {0};
    http_error_json(&b, status, code, err->field, err->msg, http_id(p->r));
    send_data(p, &b);
    fo_buf_free(&b);
}
