/* A response of /v1/responses: items of output, a message or calls of functions, each told by events as
 * it grows and kept for the whole at the end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/openai/openai_responses.h"

/* ---- events ---------------------------------------------------------------------------------- */

/* Begins the event's object; end_event closes and sends it. Nothing goes out where the answer is
 * wanted whole. */
static void begin_event(openai_reply *p, json_out *o, const char *type) {
    json_out_open(o, NULL, '{');
    json_out_string(o, "type", type);
    json_out_int(o, "sequence_number", p->response.n_events++);
}

static int end_event(openai_reply *p, json_out *o, const char *type) {
    json_out_close(o, '}');
    int rc = o->b->failed ? FO_ENOMEM : FO_OK;
    if (!rc && p->call->stream) {
        fo_buf b = {0};
        if (!p->begun) {
            p->begun = true;
            http_set_header(p->r, "Cache-Control", "no-cache");
            http_stream_begin(p->r, 200, "text/event-stream");
        }
        fo_buf_printf(&b, "event: %s\ndata: ", type);
        fo_buf_add(&b, o->b->data, o->b->len);
        fo_buf_str(&b, "\n\n");
        rc = b.failed ? FO_ENOMEM : http_stream_write(p->r, b.data, b.len);
        fo_buf_free(&b);
    }
    fo_buf_free(o->b);
    return rc;
}

int openai_responses_error(openai_reply *p, int status, const char *code, const fo_err *err) {
    fo_buf b = {0}, body = {0};
    json_out o = {&b, false};
    begin_event(p, &o, "error");
    json_out_string(&o, "code", code);
    json_out_string(&o, "message", err->msg);
    json_out_string(&o, "param", *err->field ? err->field : NULL);
    /* ... and what every error has, which official clients look for */
    http_error_json(&body, status, code, err->field, err->msg, http_id(p->r));
    if (body.len) body.data[body.len - 1] = 0; /* its last brace is end_event's */
    fo_buf_printf(&b, ",%s", body.len ? body.data + 1 : "");
    b.failed |= body.failed;
    fo_buf_free(&body);
    return end_event(p, &o, "error");
}

/* ---- items ----------------------------------------------------------------------------------- */

static const char *text_of(const cJSON *object, const char *key) {
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));
}

static void write_annotations(const openai_reply *p, json_out *o) {
    const openai_response *s = &p->response;
    cJSON *list = s->citations.len ? cJSON_Parse(s->citations.data) : NULL, *c;
    json_out_open(o, "annotations", '[');
    cJSON_ArrayForEach(c, list) {
        const cJSON *source = cJSON_GetObjectItemCaseSensitive(c, "source");
        const cJSON *span = cJSON_GetObjectItemCaseSensitive(c, "answer_span");
        const cJSON *end = cJSON_GetObjectItemCaseSensitive(span, "end");
        json_out_open(o, NULL, '{');
        json_out_string(o, "type", "file_citation");
        json_out_int(o, "index", end ? end->valueint : 0);
        json_out_string(o, "file_id", text_of(source, "document_id"));
        const char *name = text_of(source, "title");
        if (!name) name = text_of(source, "uri");
        json_out_string(o, "filename", name ? name : text_of(source, "document_id"));
        json_out_close(o, '}');
    }
    json_out_close(o, ']');
    cJSON_Delete(list);
}

static void write_part(const openai_reply *p, json_out *o, const char *key, bool whole) {
    const openai_response *s = &p->response;
    json_out_open(o, key, '{');
    if (s->refused) {
        json_out_string(o, "type", "refusal");
        json_out_bytes(o, "refusal", whole && s->text.data ? s->text.data : "",
                       whole ? s->text.len : 0);
        json_out_close(o, '}');
        return;
    }
    json_out_string(o, "type", "output_text");
    json_out_bytes(o, "text", whole && s->text.data ? s->text.data : "", whole ? s->text.len : 0);
    write_annotations(p, o);
    json_out_raw(o, "logprobs", "[]");
    json_out_close(o, '}');
}

/* The item in hand. */
static void write_item(const openai_reply *p, json_out *o, const char *key, bool whole) {
    const openai_response *s = &p->response;
    json_out_open(o, key, '{');
    json_out_string(o, "id", s->item_id);
    json_out_string(o, "type", s->in_call ? "function_call" : "message");
    json_out_string(o, "status",
                    !whole                ? "in_progress"
                    : p->response.cut_off ? "incomplete"
                                          : "completed");
    if (s->in_call) {
        json_out_string(o, "call_id", s->call_id);
        json_out_string(o, "name", s->name);
        json_out_bytes(o, "arguments", whole && s->text.data ? s->text.data : "",
                       whole ? s->text.len : 0);
    } else {
        json_out_string(o, "role", "assistant");
        json_out_open(o, "content", '[');
        if (whole) write_part(p, o, NULL, true);
        json_out_close(o, ']');
    }
    json_out_close(o, '}');
}

static void write_place(const openai_reply *p, json_out *o, bool part) {
    json_out_string(o, "item_id", p->response.item_id);
    json_out_int(o, "output_index", p->response.n_items);
    if (part) json_out_int(o, "content_index", 0);
}

static int item_event(openai_reply *p, const char *type, bool whole) {
    fo_buf b = {0};
    json_out o = {&b, false};
    begin_event(p, &o, type);
    json_out_int(&o, "output_index", p->response.n_items);
    write_item(p, &o, "item", whole);
    return end_event(p, &o, type);
}

static int part_event(openai_reply *p, const char *type, bool whole) {
    fo_buf b = {0};
    json_out o = {&b, false};
    begin_event(p, &o, type);
    write_place(p, &o, true);
    write_part(p, &o, "part", whole);
    return end_event(p, &o, type);
}

static int text_event(openai_reply *p, const char *type, const char *key, const char *text,
                      size_t len) {
    fo_buf b = {0};
    json_out o = {&b, false};
    begin_event(p, &o, type);
    write_place(p, &o, !p->response.in_call);
    json_out_bytes(&o, key, text, len);
    if (!p->response.in_call && !p->response.refused) json_out_raw(&o, "logprobs", "[]");
    return end_event(p, &o, type);
}

static int close_item(openai_reply *p) {
    openai_response *s = &p->response;
    if (!s->open) return FO_OK;
    const char *text = s->text.data ? s->text.data : "";
    int rc = s->in_call ? text_event(p, "response.function_call_arguments.done", "arguments", text,
                                     s->text.len)
             : s->refused ? text_event(p, "response.refusal.done", "refusal", text, s->text.len)
                          : text_event(p, "response.output_text.done", "text", text, s->text.len);
    if (!rc && !s->in_call) rc = part_event(p, "response.content_part.done", true);
    if (!rc) rc = item_event(p, "response.output_item.done", true);
    json_out o = {&s->output, s->n_items > 0};
    write_item(p, &o, NULL, true);
    s->n_items++;
    s->open = false;
    fo_buf_clear(&s->text);
    return rc;
}

static int open_item(openai_reply *p, bool call) {
    openai_response *s = &p->response;
    int rc = close_item(p);
    s->open = true;
    s->in_call = call;
    app_make_id(s->item_id, call ? "fc_" : "msg_");
    if (!rc) rc = item_event(p, "response.output_item.added", false);
    if (!rc && !call) rc = part_event(p, "response.content_part.added", false);
    return rc;
}

/* ---- the response ---------------------------------------------------------------------------- */

/* What the client gave, or what holds without it. */
static void write_given(const openai_reply *p, json_out *o, const char *key, const char *def) {
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(p->call->response, key);
    char *text = v && !cJSON_IsNull(v) ? json_tree_text(v) : NULL;
    o->b->failed |= v && !cJSON_IsNull(v) && !text;
    json_out_raw(o, key, text ? text : def);
    free(text);
}

static void write_format(const openai_reply *p, json_out *o) {
    const cJSON *text = cJSON_GetObjectItemCaseSensitive(p->call->response, "text");
    const cJSON *format = cJSON_GetObjectItemCaseSensitive(text, "format");
    if (format && !cJSON_IsNull(format))
        write_given(p, o, "text", "null");
    else
        json_out_raw(o, "text", "{\"format\":{\"type\":\"text\"}}");
}

static void write_response(openai_reply *p, json_out *o, const char *key, const char *status) {
    const openai_response *s = &p->response;
    json_out_open(o, key, '{');
    json_out_string(o, "id", p->id);
    json_out_string(o, "object", "response");
    json_out_int(o, "created_at", p->created);
    json_out_string(o, "status", status);
    json_out_null(o, "error");
    if (!strcmp(status, "incomplete")) {
        json_out_open(o, "incomplete_details", '{');
        json_out_string(o, "reason", "max_output_tokens");
        json_out_close(o, '}');
    } else {
        json_out_null(o, "incomplete_details");
    }
    write_given(p, o, "instructions", "null");
    write_given(p, o, "max_output_tokens", "null");
    json_out_string(o, "model", p->model);
    json_out_open(o, "output", '[');
    if (s->output.len) json_out_raw(o, NULL, s->output.data);
    json_out_close(o, ']');
    write_given(p, o, "parallel_tool_calls", "true");
    json_out_null(o, "previous_response_id");
    json_out_bool(o, "store", false);
    write_given(p, o, "temperature", p->call->collection ? "0" : "1");
    write_format(p, o);
    write_given(p, o, "top_p", "1");
    write_given(p, o, "tool_choice", "\"auto\"");
    write_given(p, o, "tools", "[]");
    write_given(p, o, "metadata", "{}");
    if (s->citations.len) json_out_raw(o, "citations", s->citations.data);
    if (s->checked.len) json_out_raw(o, "checked", s->checked.data);
    if (!strcmp(status, "in_progress")) {
        json_out_null(o, "usage");
    } else {
        json_out_open(o, "usage", '{');
        json_out_int(o, "input_tokens", (int64_t)p->prompt_tokens);
        json_out_open(o, "input_tokens_details", '{');
        json_out_int(o, "cached_tokens", (int64_t)p->cached_tokens);
        json_out_close(o, '}');
        json_out_int(o, "output_tokens", (int64_t)p->completion_tokens);
        json_out_open(o, "output_tokens_details", '{');
        json_out_int(o, "reasoning_tokens", 0);
        json_out_close(o, '}');
        json_out_int(o, "total_tokens", (int64_t)(p->prompt_tokens + p->completion_tokens));
        json_out_close(o, '}');
        openai_write_timings(p, o);
    }
    json_out_close(o, '}');
}

static int response_event(openai_reply *p, const char *type, const char *status) {
    fo_buf b = {0};
    json_out o = {&b, false};
    begin_event(p, &o, type);
    write_response(p, &o, "response", status);
    return end_event(p, &o, type);
}

static int begin(openai_reply *p) {
    openai_response *s = &p->response;
    if (s->begun) return FO_OK;
    s->begun = true;
    int rc = response_event(p, "response.created", "in_progress");
    return rc ? rc : response_event(p, "response.in_progress", "in_progress");
}

/* "tool_calls" of a chunk: one call, or more of its arguments. */
static int take_call(openai_reply *p, const char *json) {
    openai_response *s = &p->response;
    cJSON *list = cJSON_Parse(json);
    const cJSON *call = cJSON_GetArrayItem(list, 0);
    const cJSON *f = cJSON_GetObjectItemCaseSensitive(call, "function");
    const char *id = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(call, "id"));
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(f, "name"));
    const char *more = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(f, "arguments"));
    int rc = FO_OK;
    if (name) {
        rc = close_item(p);
        snprintf(s->call_id, sizeof s->call_id, "%s", id ? id : "");
        snprintf(s->name, sizeof s->name, "%s", name);
        if (!rc) rc = open_item(p, true);
    }
    if (!rc && more && *more) {
        fo_buf_str(&s->text, more);
        rc = text_event(p, "response.function_call_arguments.delta", "delta", more, strlen(more));
    }
    cJSON_Delete(list);
    return rc;
}

int openai_responses_chunk(openai_reply *p, const openai_chunk *k) {
    openai_response *s = &p->response;
    int rc = begin(p);
    if (!rc && k->calls) rc = take_call(p, k->calls);
    if (!rc && k->len && (!s->open || s->in_call)) rc = open_item(p, false);
    if (!rc && k->len) {
        fo_buf_add(&s->text, k->text, k->len);
        rc = text_event(p, "response.output_text.delta", "delta", k->text, k->len);
    }
    if (!rc && k->refusal) {
        s->refused = true;
        rc = open_item(p, false);
        fo_buf_str(&s->text, k->refusal);
        if (!rc)
            rc = text_event(p, "response.refusal.delta", "delta", k->refusal, strlen(k->refusal));
    }
    if (k->citations) fo_buf_str(&s->citations, k->citations);
    if (k->checked) fo_buf_str(&s->checked, k->checked);
    if (k->finish) s->cut_off = !strcmp(k->finish, "length");
    return rc;
}

int openai_responses_end(openai_reply *p) {
    openai_response *s = &p->response;
    int rc = begin(p);
    if (!rc && !s->open && !s->n_items) rc = open_item(p, false); /* an answer without a word */
    if (!rc) rc = close_item(p);
    const char *status = s->cut_off ? "incomplete" : "completed";
    if (rc) return rc;
    if (p->call->stream)
        return response_event(p, s->cut_off ? "response.incomplete" : "response.completed", status);
    fo_buf b = {0};
    json_out o = {&b, false};
    write_response(p, &o, NULL, status);
    http_reply_json(p->r, 200, &b);
    return FO_OK;
}

void openai_responses_deinit(openai_reply *p) {
    fo_buf_free(&p->response.text);
    fo_buf_free(&p->response.output);
    fo_buf_free(&p->response.citations);
    fo_buf_free(&p->response.checked);
}
