/* /v1/chat/completions with the model "forage/<collection>": answers from the documents of a collection,
 * with citations. Whoever writes is behind service_query. */
#include <stdlib.h>
#include <string.h>

#include "server/openai/model_names.h"
#include "server/openai/openai_reply.h"
#include "server/routes/query_account.h"
#include "server/routes/query_json.h"

static const char NO_ANSWER[] = "The documents do not answer this question.";

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
        query_json_write_citation(b, result, &result->citations[i]);
    }
    fo_buf_char(b, ']');
}

static const char *said(const query_result *result) {
    return result->answer[0] ? result->answer : NO_ANSWER;
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
    for (*n = 0; !rc && *n < (size_t)p->call->n; ++*n, q->seed++) {
        query_result *r = &results[*n];
        telling t = {.p = p, .index = *n};
        query_sink sink = {.ctx = &t, .token = on_token};
        rc = service_query(a->service, q, p->call->stream ? &sink : NULL, r, err);
        if (rc) break;
        query_account(a, p->r, q, r);
        p->prompt_tokens = r->usage.prompt_tokens;
        p->completion_tokens += r->usage.completion_tokens;
        p->cached_tokens = r->usage.cached_tokens;
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

/* The last message is the question; what the user and the assistant said before goes with it. */
static query_message *read_turns(const openai_call *c, size_t *n, const char **question) {
    size_t all = (size_t)cJSON_GetArraySize(c->messages);
    query_message *turns = calloc(all + 1, sizeof *turns);
    const cJSON *m;
    *n = 0;
    *question = NULL;
    if (!turns) return NULL;
    cJSON_ArrayForEach(m, c->messages) {
        const char *role = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(m, "role"));
        const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(m, "content"));
        bool user = !strcmp(role, "user");
        if (!m->next && user)
            *question = text;
        else if (user || !strcmp(role, "assistant"))
            turns[(*n)++] = (query_message){role, text};
    }
    return turns;
}

void openai_answer_grounded(openai_reply *p, app *a) {
    openai_call *c = p->call;
    size_t n_turns;
    const char *question;
    query_message *turns = read_turns(c, &n_turns, &question);
    if (!question) {
        http_error(p->r, 400, "bad_field", "messages", "messages must end with the user's");
        free(turns);
        return;
    }
    const generator_options *o = &c->options;
    bool warm = cJSON_GetObjectItemCaseSensitive(c->root, "temperature") != NULL;
    query_request q = {.tenant = app_tenant(p->r),
                       .collection = c->collection,
                       .sees = app_sees(p->r),
                       .query = question,
                       .messages = n_turns ? turns : NULL,
                       .n_messages = n_turns,
                       .search = {.alpha = -1},
                       .generate = true,
                       .strict = true,
                       .max_tokens = c->max_tokens,
                       .temperature = warm ? o->temperature : 0,
                       .top_p = o->top_p,
                       .sampling_top_k = o->top_k,
                       .min_p = o->min_p,
                       .presence_penalty = o->presence_penalty,
                       .frequency_penalty = o->frequency_penalty,
                       .repetition_penalty = o->repetition_penalty,
                       .seed = o->seed,
                       .priority = o->priority,
                       .kv_reuse = o->reuse,
                       .no_lookup = o->no_lookup,
                       .stop = o->stop,
                       .n_stop = o->n_stop,
                       .cancel = http_cancel(p->r)};
    size_t n = 0;
    query_result *results = calloc((size_t)c->n, sizeof *results);
    fo_err err = {0};
    int rc = !results                            ? fo_no_memory(&err)
             : !app_may_use(p->r, c->collection) ? app_no_collection(c->collection, &err)
                                                 : ask_grounded(p, a, &q, results, &n, &err);
    if (rc == FO_ENOTFOUND) /* the collection: to this client it is a model */
        model_names_refuse(a, p->r, c->model, MODEL_GENERATOR | MODEL_GROUNDED, &err);
    if (rc)
        openai_fail(p, &err);
    else if (c->stream || c->response)
        openai_send_end(p);
    else
        reply_grounded(p, results, n);
    for (size_t i = 0; i < n; i++) query_result_deinit(&results[i]);
    free(results);
    free(turns);
}
