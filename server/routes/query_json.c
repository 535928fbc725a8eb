#include "server/routes/query_json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/chunk/chunk_places.h"
#include "kernels/utf8.h"
#include "kernels/words.h"
#include "retrieval/question/relative_days.h"
#include "server/base/json.h"
#include "server/base/request_limits.h"
#include "server/routes/app.h"
#include "server/routes/diffusion_json.h"
#include "server/routes/sparse_json.h"
#include "server/routes/documents_json.h"

#define MESSAGES_MAX      256
#define NAME_MAX_BYTES    64
#define MAX_TOKENS_MAX    65536
#define CONTENT_MAX_BYTES (256u << 10)

/* "rerank": true (the cross-encoder), false, "model", "reader" or "none". */
static enum rerank_kind read_rerank(json_in *s) {
    const cJSON *v = json_in_any(s, "rerank");
    if (!v || cJSON_IsNull(v) || cJSON_IsFalse(v)) return RERANK_NONE;
    if (cJSON_IsTrue(v)) return RERANK_MODEL;
    int kind = cJSON_IsString(v) ? fo_names_find(rerank_names, v->valuestring) : -1;
    if (kind >= 0) return (enum rerank_kind)kind;
    char path[64];
    json_in_path(s, "rerank", path);
    fo_fail_field(s->err, FO_EINVAL, path,
                  "%s must be true, false, \"model\", \"reader\" or \"none\"", path);
    return RERANK_NONE;
}

static void read_search(query_call *c, json_in *in) {
    json_in s;
    json_in_child(&s, in, "search");
    search_params *p = &c->request.search;
    p->mode = (enum search_mode)json_in_enum(&s, "mode", SEARCH_HYBRID, search_mode_names);
    p->fusion = (enum fusion_kind)json_in_enum(&s, "fusion", FUSION_WEIGHTED, fusion_names);
    p->alpha = json_in_number(&s, "alpha", -1, 0, 1);
    p->rrf_k = (int)json_in_int(&s, "rrf_k", 60, 1, 10000);
    p->ef = (size_t)json_in_int(&s, "ef", 0, 1, 10000);
    p->rerank = read_rerank(&s);
    p->score_threshold = json_in_number(&s, "score_threshold", 0, -1e9, 1e9);
    if (json_in_end(&s)) return;
}

static void read_messages(query_call *c, json_in *in) {
    static const char *const roles[] = {"system", "user", "assistant", NULL};
    const cJSON *list = json_in_array(in, "messages", MESSAGES_MAX);
    if (!list || !list->child) return;
    size_t n = (size_t)cJSON_GetArraySize(list);
    c->messages = calloc(n, sizeof *c->messages);
    if (!c->messages) {
        fo_no_memory(in->err);
        return;
    }
    for (const cJSON *item = list->child; item && !json_in_failed(in); item = item->next) {
        char path[32];
        snprintf(path, sizeof path, "messages[%zu]", c->request.n_messages);
        json_in m;
        json_in_object(&m, item, path, in->err);
        int role = json_in_enum(&m, "role", -1, roles);
        const char *content = json_in_string(&m, "content", NULL, 0, CONTENT_MAX_BYTES);
        if (json_in_end(&m)) return;
        if (role < 0 || !content) {
            fo_fail_field(in->err, FO_EINVAL, path, "%s needs a role and a content", path);
            return;
        }
        c->messages[c->request.n_messages++] = (query_message){roles[role], content};
    }
    c->request.messages = c->messages;
}

static void read_include(query_call *c, json_in *in) {
    const cJSON *list = json_in_array(in, "include", 8);
    c->with_contexts = c->with_scores = list == NULL;
    for (const cJSON *item = list ? list->child : NULL; item; item = item->next) {
        if (cJSON_IsString(item) && !strcmp(item->valuestring, "contexts"))
            c->with_contexts = true;
        else if (cJSON_IsString(item) && !strcmp(item->valuestring, "scores"))
            c->with_scores = true;
        else {
            fo_fail_field(in->err, FO_EINVAL, "include",
                          "include is a list of \"contexts\" and \"scores\"");
            return;
        }
    }
}

static void read_stop(query_call *c, json_in *in) {
    query_request *q = &c->request;
    const cJSON *item = json_in_any(in, "stop");
    if (!item || cJSON_IsNull(item)) return;
    bool one = cJSON_IsString(item), ok = one || cJSON_IsArray(item);
    for (const cJSON *e = !ok   ? NULL
                          : one ? item
                                : item->child;
         e && ok; e = one ? NULL : e->next) {
        ok = cJSON_IsString(e) && e->valuestring[0] && q->n_stop < QUERY_STOP_MAX;
        if (ok) c->stop[q->n_stop++] = e->valuestring;
    }
    q->stop = c->stop;
    if (!ok)
        fo_fail_field(in->err, FO_EINVAL, "stop",
                      "stop must be a string or a list of at most %d strings", QUERY_STOP_MAX);
    else
        stop_match_check(q->stop, q->n_stop, in->err);
}

/* "2026-11-28" */
static void read_today(query_call *c, json_in *in) {
    const char *day = json_in_string(in, "today", NULL, 1, NAME_MAX_BYTES);
    if (day && !calendar_day_read(day, &c->request.today))
        fo_fail_field(in->err, FO_EINVAL, "today", "today must be a day, such as 2026-11-28");
}

static void read_generation(query_call *c, json_in *in) {
    static const char *const groundings[] = {"strict", "loose", NULL};
    query_request *q = &c->request;
    q->generate = json_in_bool(in, "generate", true);
    q->strict = json_in_enum(in, "grounding", 0, groundings) == 0;
    q->max_tokens = (size_t)json_in_int(in, "max_tokens", 256, 1, MAX_TOKENS_MAX);
    q->max_sentences = (size_t)json_in_int(in, "max_sentences", 3, 1, 20);
    q->temperature = json_in_number(in, "temperature", 0, 0, 2);
    q->top_p = json_in_number(in, "top_p", 1, 0, 1);
    /* top_k is the number of contexts: that of sampling has a name of its own here. */
    q->sampling_top_k = (int)json_in_int(in, "sampling_top_k", 0, 0, 1 << 30);
    q->min_p = json_in_number(in, "min_p", 0, 0, 1);
    q->presence_penalty = json_in_number(in, "presence_penalty", 0, -2, 2);
    q->frequency_penalty = json_in_number(in, "frequency_penalty", 0, -2, 2);
    q->repetition_penalty = json_in_number(in, "repetition_penalty", 1, .01, 10);
    q->seed = (uint64_t)json_in_int(in, "seed", 1, 0, 9007199254740991);
    read_stop(c, in);
    q->priority = (int)json_in_int(in, "priority", 0, -100, 100);
    q->order = (enum context_order)json_in_enum(in, "order", ORDER_SCORE, context_order_names);
    q->kv_reuse =
        (enum generator_reuse)json_in_enum(in, "kv_reuse", REUSE_EXACT, generator_reuse_names);
    q->prefill_only = json_in_bool(in, "prefill_only", false);
    q->drop_kv = !json_in_bool(in, "keep_kv", true);
    q->no_lookup = !json_in_bool(in, "lookup", true);
    q->short_answer = json_in_bool(in, "short_answer", false);
    diffusion_json_read(in, &q->diffusion);
    sparse_json_read(in, &q->sparse);
    c->stream = json_in_bool(in, "stream", false);
}

int query_json_filter(search_filter **out, const cJSON *json, fo_err *err) {
    int rc = search_filter_parse(out, json, err);
    size_t most = request_limits_now()->conditions, n = rc ? 0 : search_filter_count(*out);
    if (n <= most) return rc;
    search_filter_free(*out);
    *out = NULL;
    return fo_fail_field(err, FO_ELIMIT, "filter",
                         "filter has %zu conditions, at most %zu are taken (--max-filter)", n,
                         most);
}

/* The query, or else the last message. */
static int check_limits(const query_request *q, fo_err *err) {
    char field[40] = "query";
    const size_t last = q->n_messages - 1; /* of none, where there is a query */
    if (!q->query) snprintf(field, sizeof field, "messages[%zu].content", last);
    return request_limits_check(q->query ? q->query : q->messages[last].content, field, q->top_k,
                                "top_k", err);
}

int query_json_read(query_call *out, const char *body, size_t len, bool search_only, fo_err *err) {
    *out = (query_call){0};
    fo_err local = {0}; /* sticky reading needs a clean one */
    if (json_parse(body, len, &out->root, &local)) goto fail;
    query_request *q = &out->request;
    json_in in;
    json_in_object(&in, out->root, "", &local);
    if (!in.object && !local.code)
        fo_fail(&local, FO_EINVAL, "the body must be a JSON object with a query");
    q->tenant = "default";
    q->query = json_in_string(&in, "query", NULL, 1, SIZE_MAX);
    read_messages(out, &in);
    q->collection = json_in_string(&in, "collection", "default", 1, NAME_MAX_BYTES);
    q->top_k = (size_t)json_in_int(&in, "top_k", (int64_t)request_limits_top_k(), 1,
                                   (int64_t)request_limits_now()->top_k);
    const cJSON *filter = json_in_any(&in, "filter");
    read_search(out, &in);
    read_include(out, &in);
    q->timeout_ms =
        (int)json_in_int(&in, "timeout_ms", REQUEST_TIMEOUT_MS, 1, REQUEST_TIMEOUT_MAX_MS);
    q->cache = (enum cache_mode)json_in_enum(&in, "cache", CACHE_DEFAULT, cache_mode_names);
    q->rewrite = (enum rewrite_by)json_in_enum(&in, "rewrite", REWRITE_AUTO, rewrite_names);
    read_today(out, &in);
    if (!search_only) read_generation(out, &in);
    if (json_in_end(&in)) goto fail;
    if (!q->query && !(q->n_messages && !strcmp(q->messages[q->n_messages - 1].role, "user"))) {
        fo_fail_field(&local, FO_EINVAL, "query",
                      "query is missing (or messages that end with the user's)");
        goto fail;
    }
    if (check_limits(q, &local)) goto fail;
    if (!service_name_valid(q->collection)) {
        fo_fail_field(&local, FO_EINVAL, "collection",
                      "collection must be 1 to 64 of A-Z a-z 0-9 _ - . and not begin with a dot");
        goto fail;
    }
    if (filter && query_json_filter(&out->filter, filter, &local)) goto fail;
    q->filter = out->filter;
    return FO_OK;
fail:
    query_call_deinit(out);
    if (err) *err = local;
    return local.code;
}

void query_call_deinit(query_call *c) {
    search_filter_free(c->filter);
    cJSON_Delete(c->root);
    free(c->messages);
    *c = (query_call){0};
}

/* ---- writing -------------------------------------------------------------------------------- */

static void write_chunk_id(json_out *o, const char *name, const store_chunk *c) {
    char tail[32];
    fo_buf id = {0};
    fo_buf_str(&id, c->document_id ? c->document_id : "");
    snprintf(tail, sizeof tail, "#%zu", c->ordinal);
    fo_buf_str(&id, tail);
    json_out_string(o, name, id.data);
    fo_buf_free(&id);
}

void query_json_write_place(json_out *o, const chunk_place *p) {
    if (p->page) json_out_int(o, "page", p->page);
    if (p->slide) json_out_int(o, "slide", p->slide);
    if (p->line) json_out_int(o, "line", p->line);
    if (p->has_time) {
        json_out_open(o, "time", '[');
        for (int i = 0; i < 2; i++) json_out_number(o, NULL, p->time[i]);
        json_out_close(o, ']');
    }
    if (p->sheet[0]) json_out_string(o, "sheet", p->sheet);
    if (p->range[0]) json_out_string(o, "range", p->range);
    if (!p->has_bbox) return;
    json_out_open(o, "bbox", '[');
    for (int i = 0; i < 4; i++) json_out_number(o, NULL, p->bbox[i]);
    json_out_close(o, ']');
}

static void write_contexts(json_out *o, const query_call *call, const query_result *r) {
    json_out_open(o, "contexts", '[');
    for (size_t i = 0; i < r->n_contexts; i++) {
        const query_context *x = &r->contexts[i];
        json_out_open(o, NULL, '{');
        write_chunk_id(o, "chunk_id", &x->chunk);
        json_out_string(o, "document_id", x->chunk.document_id);
        json_out_string(o, "title", x->chunk.title);
        json_out_string(o, "uri", x->chunk.uri);
        json_out_string(o, "heading", x->chunk.heading);
        json_out_bytes(o, "text", x->chunk.text ? x->chunk.text : "", x->chunk.text_len);
        json_out_int(o, "start", (int64_t)x->chunk.start_cp);
        json_out_int(o, "end", (int64_t)x->chunk.end_cp);
        chunk_place place;
        if (chunk_places_whole(x->chunk.place, &place)) query_json_write_place(o, &place);
        if (x->chunk.metadata && *x->chunk.metadata)
            documents_json_metadata(o, x->chunk.metadata, false);
        json_out_number(o, "score", x->score);
        if (isfinite(x->answers)) json_out_number(o, "answers", x->answers);
        if (call->with_scores) {
            json_out_open(o, "scores", '{');
            json_out_number(o, "dense", x->dense);
            json_out_number(o, "sparse", x->sparse);
            json_out_number(o, "rerank", x->rerank);
            json_out_close(o, '}');
        }
        json_out_close(o, '}');
    }
    json_out_close(o, ']');
}

static void write_citation(json_out *o, const query_result *r, const query_citation *c,
                           const char *path) {
    json_out_open(o, NULL, '{');
    json_out_int(o, "index", c->index);
    if (path) json_out_string(o, "path", path);
    json_out_open(o, "answer_span", '{');
    json_out_int(o, "start", (int64_t)c->answer_start);
    json_out_int(o, "end", (int64_t)c->answer_end);
    json_out_close(o, '}');
    json_out_string(o, "quote", c->quote);
    json_out_bool(o, "verified", c->verified);
    json_out_open(o, "source", '{');
    chunk_place place;
    bool placed = false;
    if (c->context < r->n_contexts) {
        const store_chunk *s = &r->contexts[c->context].chunk;
        json_out_string(o, "document_id", s->document_id);
        write_chunk_id(o, "chunk_id", s);
        json_out_string(o, "title", s->title);
        json_out_string(o, "uri", s->uri);
        placed = chunk_places_find(s->place, c->source_start, &place);
    }
    json_out_int(o, "start", (int64_t)c->source_start);
    json_out_int(o, "end", (int64_t)c->source_end);
    if (placed) query_json_write_place(o, &place);
    json_out_close(o, '}');
    json_out_close(o, '}');
}

/* Only where it is so. */
static void write_incomplete(json_out *o, const query_result *r) {
    if (r->index_incomplete) json_out_bool(o, "index_incomplete", true);
}

void query_json_write_contexts(fo_buf *b, const query_call *call, const query_result *r) {
    json_out o = {b, false};
    json_out_open(&o, NULL, '{');
    write_incomplete(&o, r);
    write_contexts(&o, call, r);
    json_out_close(&o, '}');
}

void query_json_write_citation(fo_buf *b, const query_result *r, const query_citation *c,
                               const char *path) {
    json_out o = {b, false};
    write_citation(&o, r, c, path);
}

static void write_citations(json_out *o, const query_result *r) {
    json_out_open(o, "citations", '[');
    for (size_t i = 0; i < r->n_citations; i++) write_citation(o, r, &r->citations[i], NULL);
    json_out_close(o, ']');
}

void query_json_write_draft(fo_buf *b, const query_result *r) {
    json_out o = {b, false};
    json_out_open(&o, NULL, '{');
    json_out_string(&o, "answer", r->answer);
    write_citations(&o, r);
    json_out_close(&o, '}');
}

/* The few words that answer, where they were asked for and told. */
static void write_short_answer(json_out *o, const query_result *r) {
    const size_t start = r->short_answer.start, end = r->short_answer.end;
    if (start == end) return;
    const size_t n = strlen(r->answer);
    const size_t from = fo_utf8_offset(r->answer, n, start), to = fo_utf8_offset(r->answer, n, end);
    json_out_open(o, "short_answer", '{');
    json_out_bytes(o, "text", r->answer + from, to - from);
    json_out_int(o, "start", (int64_t)start);
    json_out_int(o, "end", (int64_t)end);
    json_out_close(o, '}');
}

/* What the language model was given to read. */
static void write_prompt(json_out *o, const query_result *r) {
    json_out_open(o, "prompt", '{');
    json_out_open(o, "contexts", '[');
    for (size_t i = 0; i < r->prompt.n_contexts; i++)
        write_chunk_id(o, NULL, &r->contexts[r->prompt.contexts[i]].chunk);
    json_out_close(o, ']');
    json_out_int(o, "dropped", (int64_t)r->prompt.n_dropped);
    json_out_int(o, "turns_dropped", (int64_t)r->prompt.n_turns_dropped);
    json_out_bool(o, "cut", r->prompt.cut);
    json_out_close(o, '}');
}

/* To a microsecond. */
static void write_ms(json_out *o, const char *name, double ms) {
    json_out_number(o, name, round(ms * 1000) / 1000);
}

/* "timings": {...} and "tokens_per_s": into an object that is open. */
static void write_timings(json_out *o, const query_result *r, double queue_ms) {
    const double found = r->ms.embed + r->ms.dense + r->ms.sparse + r->ms.fuse + r->ms.rerank;
    const size_t n = r->usage.completion_tokens;
    json_out_open(o, "timings", '{');
    write_ms(o, "queue_ms", r->ms.queue + queue_ms);
    write_ms(o, "retrieval_ms", found);
    write_ms(o, "prefill_ms", r->ms.prefill);
    write_ms(o, "decode_ms", r->ms.decode);
    write_ms(o, "first_visible_ms", r->ms.first_visible + queue_ms);
    write_ms(o, "total_ms", r->ms.total + queue_ms);
    json_out_close(o, '}');
    write_ms(o, "tokens_per_s", n && r->ms.decode > 0 ? 1000 * (double)n / r->ms.decode : 0);
}

static void write_tail(json_out *o, const query_result *r, double queue_ms) {
    json_out_open(o, "usage", '{');
    json_out_int(o, "prompt_tokens", (int64_t)r->usage.prompt_tokens);
    json_out_int(o, "completion_tokens", (int64_t)r->usage.completion_tokens);
    json_out_int(o, "total_tokens", (int64_t)(r->usage.prompt_tokens + r->usage.completion_tokens));
    json_out_open(o, "prompt_tokens_details", '{');
    json_out_int(o, "cached_tokens", (int64_t)r->usage.cached_tokens);
    json_out_close(o, '}');
    json_out_close(o, '}');
    json_out_open(o, "cache", '{');
    json_out_string(o, "answer", cache_outcome_names[r->cache.answer]);
    json_out_string(o, "retrieval", cache_outcome_names[r->cache.retrieval]);
    json_out_int(o, "hot_estimate", r->cache.hot_estimate);
    if (r->cache.similarity > 0) json_out_number(o, "similarity", r->cache.similarity);
    json_out_open(o, "kv", '{');
    json_out_int(o, "prefix_tokens", (int64_t)r->usage.prefix_tokens);
    json_out_int(o, "chunk_tokens", (int64_t)r->usage.chunk_tokens);
    json_out_int(o, "recomputed_tokens", (int64_t)r->usage.recomputed_tokens);
    json_out_int(o, "disk_tokens", (int64_t)r->usage.disk_tokens);
    if (r->usage.kv_note && *r->usage.kv_note) json_out_string(o, "note", r->usage.kv_note);
    json_out_close(o, '}');
    json_out_close(o, '}');
    diffusion_json_write(o, r->usage.passes, r->usage.completion_tokens, r->usage.kv_note);
    sparse_json_write(o, &r->usage.held);
    json_out_open(o, "timings_ms", '{');
    const struct {
        const char *name;
        double v;
    } rows[] = {{"queue", r->ms.queue + queue_ms},
                {"embed", r->ms.embed},
                {"dense", r->ms.dense},
                {"sparse", r->ms.sparse},
                {"fuse", r->ms.fuse},
                {"rerank", r->ms.rerank},
                {"prefill", r->ms.prefill},
                {"first_token", r->ms.first_token},
                {"decode", r->ms.decode},
                {"total", r->ms.total + queue_ms}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) write_ms(o, rows[i].name, rows[i].v);
    json_out_close(o, '}');
    write_timings(o, r, queue_ms);
}

void query_json_write(fo_buf *b, const char *id, const query_call *call, const query_result *r,
                      double queue_ms) {
    json_out o = {b, false};
    json_out_open(&o, NULL, '{');
    json_out_string(&o, "id", id);
    json_out_string(&o, "model", r->model && *r->model ? r->model : "forage-extractive");
    json_out_int(&o, "epoch", r->epoch);
    if (call->request.generate) {
        json_out_string(&o, "answer", r->answer ? r->answer : "");
        json_out_string(&o, "status", query_status_names[r->status]);
        json_out_string(&o, "answer_source", answer_source_names[r->source]);
        json_out_string(&o, "finish_reason", r->finish_reason);
        json_out_string(&o, "stop_sequence", r->stop_sequence);
        if (r->status != QUERY_ANSWERED) json_out_string(&o, "refusal", r->refusal);
        json_out_number(&o, "support", r->support);
        write_short_answer(&o, r);
        write_citations(&o, r);
    } else {
        json_out_string(&o, "status", r->n_contexts ? "answered" : "no_context");
    }
    write_incomplete(&o, r);
    if (r->rewritten) {
        json_out_open(&o, "rewritten", '{');
        json_out_string(&o, "query", r->rewritten);
        json_out_string(&o, "by",
                        r->respelt
                            ? "spelling"
                            : rewrite_names[r->rewritten_by_model ? REWRITE_MODEL : REWRITE_WORDS]);
        json_out_close(&o, '}');
    }
    if (call->with_contexts || !call->request.generate) write_contexts(&o, call, r);
    json_out_int(&o, "collapsed", (int64_t)r->n_collapsed);
    if (r->prompt.n_contexts) write_prompt(&o, r);
    write_tail(&o, r, queue_ms);
    json_out_close(&o, '}');
}

int query_json_ask(service *s, const query_call *call, const query_sink *sink, fo_buf *b,
                   fo_err *err) {
    query_result result = {0};
    const int rc = service_query(s, &call->request, sink, &result, err);
    if (!rc) {
        char id[32];
        app_make_id(id, "q_");
        query_json_write(b, id, call, &result, 0);
    }
    query_result_deinit(&result);
    return rc;
}
