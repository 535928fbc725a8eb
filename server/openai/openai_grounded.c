/* /v1/chat/completions with the model "forage/<collection>": answers from the documents of a collection,
 * with citations. Whoever writes is behind service_query. */
#include <stdlib.h>
#include <string.h>

#include "kernels/utf8.h"
#include "server/base/request_limits.h"
#include "server/openai/model_names.h"
#include "server/openai/openai_reply.h"
#include "server/routes/query_account.h"
#include "server/routes/query_json.h"

/* One choice that is streaming. */
typedef struct telling {
    openai_reply *p;
    size_t index;
    bool begun;
} telling;

static int on_token(void *ctx, const char *text, size_t len) {
    telling *t = ctx;
    int rc = t->begun
                 ? FO_OK
                 : openai_send_chunk(t->p, &(openai_chunk){t->index, .role = true, .text = ""});
    t->begun = true;
    return rc ? rc : openai_send_chunk(t->p, &(openai_chunk){t->index, .text = text, .len = len});
}

static void write_citations(fo_buf *b, const query_result *result) {
    fo_buf_char(b, '[');
    for (size_t i = 0; i < result->n_citations; i++) {
        if (i) fo_buf_char(b, ',');
        query_json_write_citation(b, result, &result->citations[i], NULL);
    }
    fo_buf_char(b, ']');
}

static const char *said(const query_result *result) {
    return result->answer[0] ? result->answer : result->refusal;
}

static int end_telling(telling *t, const query_result *result) {
    fo_buf citations = {0};
    const char *text = said(result);
    write_citations(&citations, result);
    int rc = t->begun ? FO_OK : on_token(t, text, strlen(text));
    if (!rc)
        rc = openai_send_chunk(t->p,
                               &(openai_chunk){t->index, .text = "",
                                               .finish = openai_finish_name(result->finish_reason),
                                               .citations = citations.data});
    fo_buf_free(&citations);
    return rc;
}

static void write_choice(json_out *o, size_t index, const query_result *result,
                         const fo_buf *citations) {
    json_out_open(o, NULL, '{');
    json_out_int(o, "index", (int64_t)index);
    json_out_open(o, "message", '{');
    json_out_string(o, "role", "assistant");
    json_out_string(o, "content", said(result));
    json_out_null(o, "refusal");
    json_out_close(o, '}');
    json_out_null(o, "logprobs");
    json_out_string(o, "finish_reason", openai_finish_name(result->finish_reason));
    json_out_raw(o, "citations", citations->data);
    json_out_close(o, '}');
}

/* Status, source and citations beside the choices are those of the first. */
static void reply_grounded(openai_reply *p, const query_result *results, size_t n) {
    fo_buf b = {0}, first = {0};
    json_out o = {&b, false};
    write_citations(&first, &results[0]);
    openai_write_head(p, &o, false);
    json_out_open(&o, "choices", '[');
    for (size_t i = 0; i < n; i++) {
        fo_buf citations = {0};
        write_citations(&citations, &results[i]);
        write_choice(&o, i, &results[i], &citations);
        fo_buf_free(&citations);
    }
    json_out_close(&o, ']');
    json_out_string(&o, "status", query_status_names[results[0].status]);
    json_out_string(&o, "answer_source", answer_source_names[results[0].source]);
    json_out_raw(&o, "citations", first.data);
    openai_write_figures(p, &o);
    json_out_close(&o, '}');
    http_reply_json(p->r, 200, &b);
    fo_buf_free(&first);
}

/* One choice after the other: the second finds the prompt's KV there. */
static int ask_grounded(openai_reply *p, app *a, query_request *q, query_result *results, size_t *n,
                        fo_err *err) {
    int rc = FO_OK;
    const size_t read = p->prompt_tokens, kept = p->cached_tokens; /* before, for its tools */
    for (*n = 0; !rc && *n < (size_t)p->call->n; ++*n, q->seed++) {
        query_result *r = &results[*n];
        telling t = {.p = p, .index = *n};
        query_sink sink = {.ctx = &t, .token = on_token};
        rc = openai_call_time_left(p->call, &q->timeout_ms, err);
        if (rc) break;
        rc = service_query(a->service, q, p->call->stream ? &sink : NULL, r, err);
        if (rc) {
            query_account_failed(p->r, r);
            break;
        }
        query_account(a, p->r, q, r);
        p->prompt_tokens = read + r->usage.prompt_tokens;
        p->completion_tokens += r->usage.completion_tokens;
        p->cached_tokens = kept + r->usage.cached_tokens;
        p->passes += r->usage.passes;
        p->held = r->usage.held;
        p->kv_note = r->usage.kv_note;
        p->index_incomplete |= r->index_incomplete;
        p->timings.queue_ms = r->ms.queue;
        p->timings.retrieval_ms =
            r->ms.embed + r->ms.dense + r->ms.sparse + r->ms.fuse + r->ms.rerank;
        p->timings.prefill_ms = r->ms.prefill;
        p->timings.decode_ms = r->usage.completion_tokens ? r->ms.decode : 0;
        if ((p->call->stream || p->call->response) && end_telling(&t, r))
            rc = fo_fail(err, FO_ECANCELLED, "the client went away");
    }
    return rc;
}

/* The message that asks: the last, or before what the client's functions gave the last of the user's. NULL: the
 * user says nothing. */
static const cJSON *find_question(const cJSON *messages) {
    const cJSON *m = cJSON_GetArrayItem(messages, cJSON_GetArraySize(messages) - 1);
    if (strcmp(openai_text_of(m, "role"), "tool") != 0) return m;
    while (m && strcmp(openai_text_of(m, "role"), "user") != 0)
        m = m == messages->child ? NULL : m->prev; /* before cJSON's first stands the last */
    return m;
}

/* The last message is the question; what the user and the assistant said before goes with it. Behind
 * it there may be calls of the client's functions, and what they gave. */
static query_message *read_turns(const openai_call *c, size_t *n, const char **question) {
    size_t all = (size_t)cJSON_GetArraySize(c->messages);
    query_message *turns = calloc(all + 1, sizeof *turns);
    const cJSON *m, *last = find_question(c->messages);
    *n = 0;
    *question = NULL;
    if (!turns) return NULL;
    cJSON_ArrayForEach(m, c->messages) {
        const char *role = openai_text_of(m, "role"), *text = openai_text_of(m, "content");
        bool user = !strcmp(role, "user");
        if (m == last) {
            if (user) *question = text;
            break;
        }
        if (*text && (user || !strcmp(role, "assistant")))
            turns[(*n)++] = (query_message){role, text};
    }
    return turns;
}

int openai_grounded_ask(query_request *q, query_message **turns, const openai_reply *p,
                        fo_err *err) {
    const openai_call *c = p->call;
    const generator_options *o = &c->options;
    size_t n_turns;
    const char *question;
    *turns = read_turns(c, &n_turns, &question);
    if (!*turns) return fo_no_memory(err);
    if (!question)
        return fo_fail_field(err, FO_EINVAL, "messages", "messages must end with the user's");
    if (fo_only_blanks(question, strlen(question)))
        return fo_fail_field(err, FO_EINVAL, "messages",
                             "messages must end with words of the user's");
    const size_t top_k = request_limits_top_k();
    int timeout_ms;
    int rc = request_limits_check(question, "messages", top_k, "top_k", err);
    if (!rc) rc = openai_call_time_left(c, &timeout_ms, err);
    if (rc) return rc;
    *q = (query_request){.tenant = app_tenant(p->r),
                         .collection = c->collection,
                         .sees = app_sees(p->r),
                         .query = question,
                         .messages = n_turns ? *turns : NULL,
                         .n_messages = n_turns,
                         .top_k = top_k,
                         .search = {.alpha = -1},
                         .generate = true,
                         .strict = true,
                         .max_tokens = c->max_tokens,
                         .temperature = c->warm ? o->temperature : 0,
                         .top_p = o->top_p,
                         .sampling_top_k = o->top_k,
                         .min_p = o->min_p,
                         .presence_penalty = o->presence_penalty,
                         .frequency_penalty = o->frequency_penalty,
                         .repetition_penalty = o->repetition_penalty,
                         .seed = o->seed,
                         .priority = o->priority,
                         .timeout_ms = timeout_ms,
                         .kv_reuse = o->reuse,
                         .no_lookup = o->no_lookup,
                         .diffusion = o->diffusion,
                         .sparse = o->sparse,
                         .stop = o->stop,
                         .n_stop = o->n_stop,
                         .cancel = http_cancel(p->r)};
    return app_may_use(p->r, c->collection) ? FO_OK : app_no_collection(c->collection, err);
}

int openai_grounded_fail(openai_reply *p, app *a, fo_err *err) {
    if (err->code == FO_ENOTFOUND) /* the collection: to this client it is a model */
        model_names_refuse(a, p->r, p->call->model, MODEL_GENERATOR | MODEL_GROUNDED, err);
    openai_fail(p, err);
    return err->code;
}

void openai_answer_grounded(openai_reply *p, app *a) {
    openai_call *c = p->call;
    query_request q;
    query_message *turns = NULL;
    size_t n = 0;
    query_result *results = calloc((size_t)c->n, sizeof *results);
    fo_err err = {0};
    int rc = results ? openai_grounded_ask(&q, &turns, p, &err) : fo_no_memory(&err);
    if (!rc) rc = ask_grounded(p, a, &q, results, &n, &err);
    if (rc)
        openai_grounded_fail(p, a, &err);
    else if (c->stream || c->response)
        openai_send_end(p);
    else
        reply_grounded(p, results, n);
    for (size_t i = 0; i < n; i++) query_result_deinit(&results[i]);
    free(results);
    free(turns);
}
