/* POST /v1/chat/completions and POST /v1/completions: whole or as a stream of chunks, from the
 * model alone or, with the model "forage/<collection>", from the documents of a collection. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "server/base/log.h"
#include "server/openai/model_names.h"
#include "server/openai/openai.h"
#include "server/routes/query_json.h"

enum { MAX_GENERATIONS = 128, DEFAULT_TOKENS = 2048, POLL_MS = 50 };

typedef struct choice {
    generation *g;
    generation_event ev;
    fo_buf text;      /* not yet sent */
    size_t n_sent;    /* tokens whose logprobs were sent */
    const char *echo; /* put before the text; NULL: nothing */
} choice;

typedef struct reply {
    http_request *r;
    openai_call *call;
    const char *model;
    const tokenizer *t;
    char id[40];
    int64_t created;
    bool begun;
    size_t prompt_tokens, completion_tokens, cached_tokens;
    choice *choices;
    size_t n_choices;
} reply;

static void reply_init(reply *p, http_request *r, openai_call *call, const char *name) {
    *p = (reply){.r = r, .call = call, .model = name, .created = log_now_ms() / 1000};
    app_make_id(p->id, call->chat ? "chatcmpl-" : "cmpl-");
}

/* ---- pieces of a body ----------------------------------------------------------------------- */

static void write_head(const reply *p, json_out *o, bool chunk) {
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

static void write_token(const reply *p, json_out *o, int32_t token, float logprob) {
    tokenizer_string s = tokenizer_piece(p->t, token);
    json_out_bytes(o, "token", s.data, s.len);
    json_out_number(o, "logprob", logprob > -9999 ? (double)logprob : -9999);
    json_out_open(o, "bytes", '[');
    for (size_t i = 0; i < s.len; i++) json_out_int(o, NULL, (unsigned char)s.data[i]);
    json_out_close(o, ']');
}

static void write_chat_logprobs(const reply *p, json_out *o, const generation_token *t, size_t n) {
    json_out_open(o, "content", '[');
    for (size_t i = 0; i < n; i++) {
        json_out_open(o, NULL, '{');
        write_token(p, o, t[i].token, t[i].logprob);
        json_out_open(o, "top_logprobs", '[');
        for (int k = 0; k < t[i].n_top; k++) {
            json_out_open(o, NULL, '{');
            write_token(p, o, t[i].top[k].token, t[i].top[k].logprob);
            json_out_close(o, '}');
        }
        json_out_close(o, ']');
        json_out_close(o, '}');
    }
    json_out_close(o, ']');
    json_out_null(o, "refusal");
}

static void write_text_logprobs(const reply *p, json_out *o, const generation_token *t, size_t n) {
    json_out_open(o, "tokens", '[');
    for (size_t i = 0; i < n; i++) {
        tokenizer_string s = tokenizer_piece(p->t, t[i].token);
        json_out_bytes(o, NULL, s.data, s.len);
    }
    json_out_close(o, ']');
    json_out_open(o, "token_logprobs", '[');
    for (size_t i = 0; i < n; i++) json_out_number(o, NULL, (double)t[i].logprob);
    json_out_close(o, ']');
    json_out_open(o, "top_logprobs", '[');
    for (size_t i = 0; i < n; i++) {
        json_out_open(o, NULL, '{');
        for (int k = 0; k < t[i].n_top; k++) {
            tokenizer_string s = tokenizer_piece(p->t, t[i].top[k].token);
            char name[128];
            snprintf(name, sizeof name, "%.*s", (int)(s.len < 100 ? s.len : 100), s.data);
            json_out_number(o, name, (double)t[i].top[k].logprob);
        }
        json_out_close(o, '}');
    }
    json_out_close(o, ']');
}

/* Of the tokens that came since the last call. */
static void write_logprobs(const reply *p, json_out *o, choice *c) {
    size_t n = 0;
    const generation_token *t = c->g ? generation_tokens(c->g, &n) : NULL;
    if (p->call->request.n_logprobs < 0 || n <= c->n_sent) {
        json_out_null(o, "logprobs");
        return;
    }
    json_out_open(o, "logprobs", '{');
    (p->call->chat ? write_chat_logprobs : write_text_logprobs)(p, o, t + c->n_sent, n - c->n_sent);
    json_out_close(o, '}');
    c->n_sent = n;
}

/* What OpenAI calls the ways an answer ends. */
static const char *finish_name(const char *reason) {
    return !strcmp(reason, "length") || !strcmp(reason, "timeout") ? "length" : "stop";
}

/* ---- streams -------------------------------------------------------------------------------- */

static int send_data(reply *p, const fo_buf *json) {
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

static int send_done(reply *p) {
    fo_buf done = {0};
    fo_buf_str(&done, "[DONE]");
    int rc = send_data(p, &done);
    fo_buf_free(&done);
    return rc;
}

/* One chunk of choice `index`. role: the first of a chat. finish NULL: more follows. citations:
 * JSON of an array or NULL. */
static int send_chunk(reply *p, size_t index, choice *c, bool role, const char *text, size_t len,
                      const char *finish, const char *citations) {
    fo_buf b = {0};
    json_out o = {&b, false};
    write_head(p, &o, true);
    json_out_open(&o, "choices", '[');
    json_out_open(&o, NULL, '{');
    json_out_int(&o, "index", (int64_t)index);
    if (p->call->chat) {
        json_out_open(&o, "delta", '{');
        if (role) json_out_string(&o, "role", "assistant");
        if (role || len) json_out_bytes(&o, "content", text, len);
        json_out_close(&o, '}');
    } else {
        json_out_bytes(&o, "text", text, len);
    }
    write_logprobs(p, &o, c);
    json_out_string(&o, "finish_reason", finish);
    json_out_close(&o, '}');
    json_out_close(&o, ']');
    if (citations) json_out_raw(&o, "citations", citations);
    if (p->call->include_usage) json_out_null(&o, "usage");
    json_out_close(&o, '}');
    int rc = send_data(p, &b);
    fo_buf_free(&b);
    return rc;
}

static int send_end(reply *p) {
    int rc = FO_OK;
    if (p->call->include_usage) {
        fo_buf b = {0};
        json_out o = {&b, false};
        write_head(p, &o, true);
        json_out_open(&o, "choices", '[');
        json_out_close(&o, ']');
        openai_write_usage(&o, p->prompt_tokens, p->completion_tokens, p->cached_tokens);
        json_out_close(&o, '}');
        rc = send_data(p, &b);
        fo_buf_free(&b);
    }
    return rc ? rc : send_done(p);
}

/* Streams have said 200 already: the error comes as an event, as OpenAI's do. */
static void fail(reply *p, const fo_err *err) {
    if (!p->begun) {
        if (err->code == FO_EBUSY)
            http_error(p->r, 429, "rate_limit_exceeded", NULL, "%s", err->msg);
        else if (err->code == FO_ELIMIT)
            http_error(p->r, 400, "context_length_exceeded", p->call->chat ? "messages" : "prompt",
                       "%s", err->msg);
        else
            openai_error(p->r, err);
        return;
    }
    const char *code;
    int status = openai_status_of(err, &code);
    fo_buf b = {0};
    http_error_json(&b, status, code, err->field, err->msg, http_id(p->r));
    send_data(p, &b);
    fo_buf_free(&b);
}

/* ---- the model alone ------------------------------------------------------------------------ */

/* Take what is new of every choice, send it where a stream is asked for, until all are done. */
static int pump(reply *p, fo_err *err) {
    size_t left = p->n_choices;
    int rc = FO_OK;
    for (size_t i = 0; !rc && p->call->stream && i < p->n_choices; i++) {
        const char *echo = p->choices[i].echo ? p->choices[i].echo : "";
        if (p->call->chat || *echo)
            rc = send_chunk(p, i, &p->choices[i], true, echo, strlen(echo), NULL, NULL);
    }
    while (!rc && left) {
        int wait = POLL_MS; /* for the first that is not done; the others are only looked at */
        for (size_t i = 0; !rc && i < p->n_choices; i++) {
            choice *c = &p->choices[i];
            if (c->ev.done) continue;
            bool news = generation_next(c->g, wait, &c->ev, &c->text) > 0;
            wait = 0;
            if (c->ev.done) left--;
            if (c->ev.done && c->ev.error) return fo_fail(err, c->ev.error, "%s", c->ev.message);
            if (!p->call->stream || !(news || c->ev.done)) continue;
            if (c->text.len || c->ev.done) {
                rc = send_chunk(p, i, c, false, c->text.data ? c->text.data : "", c->text.len,
                                c->ev.done ? finish_name(c->ev.finish_reason) : NULL, NULL);
                fo_buf_clear(&c->text);
            }
        }
        if (atomic_load(http_cancel(p->r))) rc = FO_ECANCELLED;
    }
    return rc ? fo_fail(err, rc, "the client went away") : FO_OK;
}

static void reply_whole(reply *p) {
    fo_buf b = {0};
    json_out o = {&b, false};
    write_head(p, &o, false);
    json_out_open(&o, "choices", '[');
    for (size_t i = 0; i < p->n_choices; i++) {
        choice *c = &p->choices[i];
        const char *text = c->text.data ? c->text.data : "";
        json_out_open(&o, NULL, '{');
        json_out_int(&o, "index", (int64_t)i);
        if (p->call->chat) {
            json_out_open(&o, "message", '{');
            json_out_string(&o, "role", "assistant");
            json_out_bytes(&o, "content", text, c->text.len);
            json_out_null(&o, "refusal");
            json_out_close(&o, '}');
        } else {
            fo_buf whole = {0};
            fo_buf_str(&whole, c->echo ? c->echo : "");
            fo_buf_add(&whole, text, c->text.len);
            json_out_bytes(&o, "text", whole.data, whole.len);
            fo_buf_free(&whole);
        }
        write_logprobs(p, &o, c);
        json_out_string(&o, "finish_reason", finish_name(c->ev.finish_reason));
        json_out_close(&o, '}');
    }
    json_out_close(&o, ']');
    openai_write_usage(&o, p->prompt_tokens, p->completion_tokens, p->cached_tokens);
    json_out_close(&o, '}');
    http_reply_json(p->r, 200, &b);
}

/* One prompt, n times: with seeds one after the other, so that they differ and can be had again. */
static int submit(reply *p, engine *e, const int32_t *ids, size_t n, const char *echo,
                  uint64_t seed, fo_err *err) {
    generation_request q = p->call->request;
    size_t window = (size_t)engine_model(e)->n_context;
    if (n >= window)
        return fo_fail(err, FO_ELIMIT,
                       "the prompt has %zu tokens; the model's window holds %zu, "
                       "the answer included",
                       n, window);
    size_t room = window - n, wanted = p->call->max_tokens;
    if (!wanted) wanted = DEFAULT_TOKENS;
    q.prompt = ids;
    q.n_prompt = n;
    q.max_tokens = wanted < room ? wanted : room;
    p->prompt_tokens += n;
    for (int i = 0; i < p->call->n; i++) {
        choice *c = &p->choices[p->n_choices];
        c->echo = echo;
        q.sampling.seed = seed + (uint64_t)i;
        int64_t retry_ms = 0;
        int rc = engine_submit(e, &q, &c->g, &retry_ms, err);
        if (rc) {
            char seconds[32];
            snprintf(seconds, sizeof seconds, "%lld", (long long)(retry_ms / 1000 + 1));
            if (rc == FO_EBUSY) http_set_header(p->r, "Retry-After", seconds);
            return rc;
        }
        p->n_choices++;
    }
    return FO_OK;
}

static int submit_all(reply *p, engine *e, fo_err *err) {
    const cJSON *prompt = cJSON_GetObjectItemCaseSensitive(p->call->root, "prompt");
    int n_prompts = p->call->chat ? 1 : openai_prompt_count(prompt, err);
    if (n_prompts < 0) return n_prompts;
    if (n_prompts * p->call->n > MAX_GENERATIONS)
        return fo_fail_field(err, FO_EINVAL, "n", "prompts times n must be at most %d",
                             MAX_GENERATIONS);
    p->choices = calloc((size_t)(n_prompts * p->call->n), sizeof *p->choices);
    if (!p->choices) return fo_no_memory(err);
    uint64_t seed = p->call->request.sampling.seed;
    if (!p->call->seeded && getrandom(&seed, sizeof seed, 0) != sizeof seed)
        seed = (uint64_t)log_now_ms();
    int rc = FO_OK;
    for (int i = 0; !rc && i < n_prompts; i++) {
        int32_t *ids = NULL;
        size_t n = 0;
        rc = p->call->chat ? openai_chat_prompt(e, p->call->messages, &ids, &n, err)
                           : openai_text_prompt(e, prompt, i, &ids, &n, err);
        const char *echo = NULL;
        if (p->call->echo) {
            echo = cJSON_GetStringValue(prompt);
            if (!echo) echo = cJSON_GetStringValue(cJSON_GetArrayItem(prompt, i));
        }
        if (!rc) rc = submit(p, e, ids, n, echo, seed, err);
        free(ids);
    }
    return rc;
}

static void answer_plain(reply *p, engine *e) {
    fo_err err = {0};
    p->t = engine_tokenizer(e);
    int rc = submit_all(p, e, &err);
    if (!rc) rc = pump(p, &err);
    for (size_t i = 0; i < p->n_choices; i++) {
        p->completion_tokens += p->choices[i].ev.completion_tokens;
        p->cached_tokens += p->choices[i].ev.cached_tokens;
    }
    if (rc)
        fail(p, &err);
    else if (p->call->stream)
        send_end(p);
    else
        reply_whole(p);
    for (size_t i = 0; i < p->n_choices; i++) {
        generation_free(p->choices[i].g);
        fo_buf_free(&p->choices[i].text);
    }
    free(p->choices);
}

/* ---- from documents ------------------------------------------------------------------------- */

static const char NO_ANSWER[] = "The documents do not answer this question.";

/* One choice that is streaming. */
typedef struct telling {
    reply *p;
    size_t index;
    bool begun;
} telling;

static int on_token(void *ctx, const char *text, size_t len) {
    telling *t = ctx;
    choice none = {0};
    int rc = t->begun ? FO_OK : send_chunk(t->p, t->index, &none, true, "", 0, NULL, NULL);
    t->begun = true;
    return rc ? rc : send_chunk(t->p, t->index, &none, false, text, len, NULL, NULL);
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
    choice none = {0};
    const char *text = said(result);
    write_citations(&citations, result);
    int rc = t->begun ? FO_OK : on_token(t, text, strlen(text));
    if (!rc)
        rc = send_chunk(t->p, t->index, &none, false, "", 0, finish_name(result->finish_reason),
                        citations.data);
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
    json_out_string(o, "finish_reason", finish_name(result->finish_reason));
    json_out_raw(o, "citations", citations->data);
    json_out_close(o, '}');
}

/* Status, source and citations beside the choices are those of the first. */
static void reply_grounded(reply *p, const query_result *results, size_t n) {
    fo_buf b = {0}, first = {0};
    json_out o = {&b, false};
    write_citations(&first, &results[0]);
    write_head(p, &o, false);
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
    openai_write_usage(&o, p->prompt_tokens, p->completion_tokens, p->cached_tokens);
    json_out_close(&o, '}');
    http_reply_json(p->r, 200, &b);
    fo_buf_free(&first);
}

/* One choice after the other: the second finds the prompt's KV there. */
static int ask_grounded(reply *p, app *a, query_request *q, query_result *results, size_t *n,
                        fo_err *err) {
    int rc = FO_OK;
    for (*n = 0; !rc && *n < (size_t)p->call->n; ++*n, q->seed++) {
        query_result *r = &results[*n];
        telling t = {.p = p, .index = *n};
        query_sink sink = {.ctx = &t, .token = on_token};
        rc = service_query(a->service, q, p->call->stream ? &sink : NULL, r, err);
        if (rc) break;
        metrics_query(a->metrics, (int)r->status);
        p->prompt_tokens = r->usage.prompt_tokens;
        p->completion_tokens += r->usage.completion_tokens;
        p->cached_tokens = r->usage.cached_tokens;
        if (p->call->stream && end_telling(&t, r))
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

static void answer_grounded(reply *p, app *a) {
    openai_call *c = p->call;
    size_t n_turns;
    const char *question;
    query_message *turns = read_turns(c, &n_turns, &question);
    if (!question) {
        http_error(p->r, 400, "bad_field", "messages", "messages must end with the user's");
        free(turns);
        return;
    }
    const sampler_params *sampling = &c->request.sampling;
    bool warm = cJSON_GetObjectItemCaseSensitive(c->root, "temperature") != NULL;
    query_request q = {.tenant = app_tenant(p->r),
                       .collection = c->collection,
                       .query = question,
                       .messages = n_turns ? turns : NULL,
                       .n_messages = n_turns,
                       .search = {.alpha = -1},
                       .generate = true,
                       .strict = true,
                       .max_tokens = c->max_tokens,
                       .temperature = warm ? (double)sampling->temperature : 0,
                       .top_p = (double)sampling->top_p,
                       .sampling_top_k = sampling->top_k,
                       .min_p = (double)sampling->min_p,
                       .presence_penalty = (double)sampling->presence,
                       .frequency_penalty = (double)sampling->frequency,
                       .repetition_penalty = (double)sampling->repetition,
                       .seed = sampling->seed,
                       .priority = c->request.priority,
                       .kv_reuse = (enum generator_reuse)c->request.kv_reuse,
                       .no_lookup = c->request.no_lookup,
                       .stop = c->request.stop,
                       .n_stop = c->request.n_stop,
                       .cancel = http_cancel(p->r)};
    size_t n = 0;
    query_result *results = calloc((size_t)c->n, sizeof *results);
    fo_err err = {0};
    int rc = results ? ask_grounded(p, a, &q, results, &n, &err) : fo_no_memory(&err);
    if (rc == FO_ENOTFOUND) /* the collection: to this client it is a model */
        model_names_refuse(a, q.tenant, c->model, MODEL_GENERATOR | MODEL_GROUNDED, &err);
    if (rc)
        fail(p, &err);
    else if (c->stream)
        send_end(p);
    else
        reply_grounded(p, results, n);
    for (size_t i = 0; i < n; i++) query_result_deinit(&results[i]);
    free(results);
    free(turns);
}

/* ---- routes --------------------------------------------------------------------------------- */

static void route(http_request *r, app *a, bool chat) {
    size_t len;
    const char *body = http_body(r, &len);
    engine *e = local_generator_engine(service_generator(a->service));
    openai_call *c = calloc(1, sizeof *c);
    fo_err err = {0};
    if (!c) {
        fo_no_memory(&err);
        http_error_from(r, &err);
        return;
    }
    if (openai_call_read(c, chat, e ? engine_model(e)->n_vocab : 0, body, len, &err)) {
        openai_error(r, &err);
        free(c);
        return;
    }
    model_choice m;
    unsigned kinds = chat ? MODEL_GENERATOR | MODEL_GROUNDED : MODEL_GENERATOR;
    int rc = model_names_find(&m, a, app_tenant(r), c->model, kinds, &err);
    c->collection = m.collection;
    if (!rc) rc = openai_call_check(c, &err);
    reply p;
    reply_init(&p, r, c, m.name);
    if (rc)
        openai_error(r, &err);
    else if (c->collection)
        answer_grounded(&p, a);
    else
        answer_plain(&p, e);
    openai_call_deinit(c);
    free(c);
}

void route_chat_completions(http_request *r, void *ctx) {
    route(r, ctx, true);
}

void route_completions(http_request *r, void *ctx) {
    route(r, ctx, false);
}
