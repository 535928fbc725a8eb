/* POST /v1/chat/completions, POST /v1/completions and POST /v1/responses: whole or as a stream of chunks, from the
 * model of this process alone or, with the model "forage/<collection>", from documents. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "kernels/clock.h"
#include "server/base/log.h"
#include "server/base/request_limits.h"
#include "retrieval/local/local_generator.h"
#include "server/completions/completions_prompt.h"
#include "server/completions/grounded_text.h"
#include "server/completions/logprobs.h"
#include "server/completions/tool_calls.h"
#include "server/completions/tool_prompt.h"
#include "server/openai/model_names.h"
#include "server/openai/openai_reply.h"
#include "server/openai/openai_responses.h"
#include "server/routes/query_account.h"

enum { MAX_GENERATIONS = 128, DEFAULT_TOKENS = 2048, POLL_MS = 50 };
_Static_assert((int)OPENAI_MAX_LOGPROBS == GENERATION_LOGPROBS, "what is let in can be honoured");

typedef struct choice {
    generation *g;
    double submitted_ms; /* monotonic */
    generation_event ev;
    fo_buf raw;                    /* as it was written, not yet looked through for calls */
    fo_buf text;                   /* what of it is no call, not yet sent */
    size_t n_sent, chars_sent;     /* tokens whose logprobs were sent, and characters of these */
    fo_buf echo;                   /* put before the text */
    tool_calls calls;              /* read out of the text, where tools may be called */
    size_t n_told, arguments_told; /* calls of a stream, and bytes of the last one */
    bool over;                     /* done, and told so */
    fo_buf whole;                  /* of a grounded answer: its text, sent or not */
    fo_buf citations, checked;     /* of it, once it is done */
} choice;

typedef struct plain {
    openai_reply *reply;
    engine *engine;
    const tokenizer *t;
    choice *choices;
    size_t n_choices;
    sampler_bias bias[OPENAI_MAX_BIAS];
    answer_rule rule;
    json_schema *schema;
    grounded_text *grounded; /* where it writes from documents; NULL: the model alone */
    bool may_call;           /* of it: a call of a tool, or else the documents answer as ever */
    bool declined;           /* ... and it did not begin with a call */
} plain;

/* One choice that is streaming. */
typedef struct telling {
    plain *p;
    size_t index;
} telling;

/* ---- log probabilities ---------------------------------------------------------------------- */

/* Of the tokens that came since the last call. Those whose text is held back wait with it, since it may be that of a stop
 * string: what is no part of the text has no tokens beside it either. */
static void write_logprobs(const plain *p, json_out *o, choice *c) {
    size_t n = 0;
    const generation_token *t = c->g ? generation_tokens(c->g, &n) : NULL;
    const bool all = c->ev.done && c->ev.stop_index < 0;
    while (!all && n > c->n_sent && t[n - 1].text_end > c->ev.text_bytes) n--;
    if (p->reply->call->n_logprobs < 0 || n <= c->n_sent) {
        json_out_null(o, "logprobs");
        return;
    }
    json_out_open(o, "logprobs", '{');
    if (p->reply->call->chat)
        logprobs_write_chat(o, p->t, t + c->n_sent, n - c->n_sent);
    else
        logprobs_write_text(o, p->t, t + c->n_sent, n - c->n_sent, &c->chars_sent);
    json_out_close(o, '}');
    c->n_sent = n;
}

static void logprobs_of(void *ctx, json_out *o) {
    const telling *t = ctx;
    write_logprobs(t->p, o, &t->p->choices[t->index]);
}

static int send_text(plain *p, size_t index, bool role, const char *text, size_t len,
                     const char *finish) {
    telling t = {p, index};
    const choice *c = &p->choices[index];
    return openai_send_chunk(p->reply,
                             &(openai_chunk){.index = index,
                                             .role = role,
                                             .text = text,
                                             .len = len,
                                             .finish = finish,
                                             .citations = finish ? c->citations.data : NULL,
                                             .checked = finish ? c->checked.data : NULL,
                                             .logprobs = logprobs_of,
                                             .logprobs_ctx = &t});
}

/* One call, or more of its arguments: a delta of "tool_calls". */
static int send_call(plain *p, size_t index, size_t number, bool first, const char *text,
                     size_t len) {
    const tool_call *call = &p->choices[index].calls.calls[number];
    fo_buf b = {0};
    json_out o = {&b, false};
    json_out_open(&o, NULL, '[');
    json_out_open(&o, NULL, '{');
    json_out_int(&o, "index", (int64_t)number);
    if (first) json_out_string(&o, "id", call->id);
    if (first) json_out_string(&o, "type", "function");
    json_out_open(&o, "function", '{');
    if (first) json_out_string(&o, "name", call->name);
    json_out_bytes(&o, "arguments", text, len);
    json_out_close(&o, '}');
    json_out_close(&o, '}');
    json_out_close(&o, ']');
    int rc = b.failed ? FO_ENOMEM
                      : openai_send_chunk(
                            p->reply, &(openai_chunk){.index = index, .text = "", .calls = b.data});
    fo_buf_free(&b);
    return rc;
}

static int send_calls(plain *p, size_t index) {
    choice *c = &p->choices[index];
    int rc = FO_OK;
    while (!rc && c->n_told <= c->calls.n_calls) {
        if (c->n_told) { /* the rest of the last one that was told of */
            const fo_buf *a = &c->calls.calls[c->n_told - 1].arguments;
            size_t from = c->arguments_told;
            if (a->len > from)
                rc = send_call(p, index, c->n_told - 1, false, a->data + from, a->len - from);
            c->arguments_told = a->len;
        }
        if (c->n_told == c->calls.n_calls || !c->calls.calls[c->n_told].name) break;
        if (!rc) rc = send_call(p, index, c->n_told, true, "", 0);
        c->n_told++;
        c->arguments_told = 0;
    }
    return rc;
}

static const char *finish_of(const choice *c) {
    bool called = c->calls.n_calls && strcmp(c->ev.finish_reason, "length") != 0;
    return openai_finish_name(called ? "tool_calls" : c->ev.finish_reason);
}

/* What came is text, but for the calls in it. */
static int take_calls(plain *p, choice *c, fo_err *err) {
    const char *raw = c->raw.data ? c->raw.data : "";
    if (p->rule.open) {
        tool_calls_add(&c->calls, raw, c->raw.len);
        if (c->ev.done) tool_calls_end(&c->calls);
        fo_buf_add(&c->text, c->calls.text.data, c->calls.text.len);
        fo_buf_clear(&c->calls.text);
    } else {
        fo_buf_add(&c->text, raw, c->raw.len);
    }
    fo_buf_clear(&c->raw);
    return c->calls.failed || c->raw.failed || c->text.failed ? fo_no_memory(err) : FO_OK;
}

/* What is new of a choice goes where it belongs; of an answer from documents all that was written is
 * looked at once it is done. */
static int take_news(plain *p, choice *c, fo_err *err) {
    if (take_calls(p, c, err)) return err->code;
    if (!p->grounded) return FO_OK;
    fo_buf_add(&c->whole, c->text.data ? c->text.data : "", c->text.len);
    if (!c->ev.done || c->calls.n_calls || p->may_call) return FO_OK;
    if (c->whole.failed) return fo_no_memory(err);
    return grounded_text_check(p->grounded, c->whole.data ? c->whole.data : "", c->whole.len,
                               &c->citations, &c->checked, err);
}

/* How a text begins that is a call in another form than ours: Qwen2.5-Coder leaves the tags away, or
 * puts a block of code around it. 1: it is one, 0: it is none, -1: too short to tell. */
static int is_foreign_call(const char *said, bool over) {
    static const char *const forms[] = {
        "{\"name\"",          "{\n  \"name\"",          "{ \"name\"",
        "```json\n{\"name\"", "```json\n{\n  \"name\"", "```xml\n<tool_call>",
        "```\n{\"name\""};
    int told = 0;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        size_t n = strlen(forms[i]), have = strlen(said);
        if (have >= n && !strncmp(said, forms[i], n)) return 1;
        if (have < n && !over && !strncmp(said, forms[i], have)) told = -1;
    }
    return told;
}

/* The request was cancelled: its time was over, or its client has gone. */
static int ended_early(const plain *p, fo_err *err) {
    if (http_timed_out(p->reply->r))
        return fo_fail_field(err, FO_ETIMEOUT, "timeout_ms", "no answer within timeout_ms = %d",
                             p->reply->call->timeout_ms);
    return fo_fail(err, FO_ECANCELLED, "the client went away");
}

/* Where tools may be called: wait until it is said whether one is. A call comes first or not at all.
 * *again: it is one in another form, and is to be written in ours. */
static int await_decision(plain *p, bool *again, fo_err *err) {
    choice *c = &p->choices[0];
    int foreign = -1;
    while (!c->calls.n_calls && foreign < 0) {
        if (!c->ev.done) generation_next(c->g, POLL_MS, &c->ev, &c->raw);
        if (c->ev.done && c->ev.error) return fo_fail(err, c->ev.error, "%s", c->ev.message);
        if (atomic_load(http_cancel(p->reply->r))) return ended_early(p, err);
        if (take_calls(p, c, err)) return err->code;
        const char *said = c->text.data ? c->text.data : "";
        foreign = is_foreign_call(said + strspn(said, " \t\r\n"), c->ev.done);
    }
    *again = foreign == 1;
    p->declined = p->grounded && p->may_call && !c->calls.n_calls && !*again;
    return FO_OK;
}

/* Take what is new of every choice, send it where a stream is asked for, until all are done. */
static int pump(plain *p, fo_err *err) {
    size_t left = p->n_choices;
    int rc = FO_OK;
    for (size_t i = 0; !rc && p->reply->call->stream && i < p->n_choices; i++) {
        const fo_buf *echo = &p->choices[i].echo;
        if (p->reply->call->chat || echo->len)
            rc = send_text(p, i, true, echo->data ? echo->data : "", echo->len, NULL);
    }
    while (!rc && left) {
        int wait = POLL_MS; /* for the first that is not done; the others are only looked at */
        for (size_t i = 0; !rc && i < p->n_choices; i++) {
            choice *c = &p->choices[i];
            if (c->over) continue;
            bool news = !c->ev.done && generation_next(c->g, wait, &c->ev, &c->raw) > 0;
            wait = 0;
            c->over = c->ev.done;
            left -= c->over;
            if (c->ev.done && c->ev.error) return fo_fail(err, c->ev.error, "%s", c->ev.message);
            if (!p->reply->call->stream || !(news || c->ev.done)) continue;
            if (take_news(p, c, err)) return err->code;
            if (c->text.len || (c->ev.done && !c->calls.n_calls)) {
                rc = send_text(p, i, false, c->text.data ? c->text.data : "", c->text.len,
                               c->ev.done && !c->calls.n_calls ? finish_of(c) : NULL);
                fo_buf_clear(&c->text);
            }
            if (!rc && c->calls.n_calls) rc = send_calls(p, i);
            if (!rc && c->ev.done && c->calls.n_calls)
                rc = send_text(p, i, false, "", 0, finish_of(c));
        }
        if (atomic_load(http_cancel(p->reply->r))) rc = FO_ECANCELLED;
    }
    return rc ? ended_early(p, err) : FO_OK;
}

static void write_calls(const choice *c, json_out *o) {
    if (!c->calls.n_calls) return;
    json_out_open(o, "tool_calls", '[');
    for (size_t i = 0; i < c->calls.n_calls; i++) {
        const tool_call *call = &c->calls.calls[i];
        json_out_open(o, NULL, '{');
        json_out_string(o, "id", call->id);
        json_out_string(o, "type", "function");
        json_out_open(o, "function", '{');
        json_out_string(o, "name", call->name);
        json_out_bytes(o, "arguments", call->arguments.data, call->arguments.len);
        json_out_close(o, '}');
        json_out_close(o, '}');
    }
    json_out_close(o, ']');
}

static void reply_whole(plain *p) {
    fo_buf b = {0};
    json_out o = {&b, false};
    openai_write_head(p->reply, &o, false);
    json_out_open(&o, "choices", '[');
    for (size_t i = 0; i < p->n_choices; i++) {
        choice *c = &p->choices[i];
        const char *text = c->text.data ? c->text.data : "";
        json_out_open(&o, NULL, '{');
        json_out_int(&o, "index", (int64_t)i);
        if (p->reply->call->chat) {
            json_out_open(&o, "message", '{');
            json_out_string(&o, "role", "assistant");
            if (c->calls.n_calls && !c->text.len)
                json_out_null(&o, "content");
            else
                json_out_bytes(&o, "content", text, c->text.len);
            json_out_null(&o, "refusal");
            write_calls(c, &o);
            json_out_close(&o, '}');
        } else {
            fo_buf whole = {0};
            fo_buf_str(&whole, "");
            if (c->echo.len) fo_buf_add(&whole, c->echo.data, c->echo.len);
            fo_buf_add(&whole, text, c->text.len);
            json_out_bytes(&o, "text", whole.data, whole.len);
            fo_buf_free(&whole);
        }
        write_logprobs(p, &o, c);
        json_out_string(&o, "finish_reason", finish_of(c));
        if (c->citations.data) json_out_raw(&o, "citations", c->citations.data);
        if (c->checked.data) json_out_raw(&o, "checked", c->checked.data);
        json_out_close(&o, '}');
    }
    json_out_close(&o, ']');
    if (p->grounded) {
        const choice *first = &p->choices[0];
        json_out_string(&o, "status", query_status_names[p->grounded->found.status]);
        json_out_string(&o, "answer_source", answer_source_names[ANSWER_GENERATED]);
        json_out_raw(&o, "citations", first->citations.data ? first->citations.data : "[]");
    }
    openai_write_figures(p->reply, &o);
    json_out_close(&o, '}');
    http_reply_json(p->reply->r, 200, &b);
}

/* One choice, as if it were a stream. */
static void reply_response(plain *p) {
    choice *c = &p->choices[0];
    const char *text = c->text.data ? c->text.data : "";
    int rc = send_text(p, 0, false, text, c->text.len, finish_of(c));
    if (!rc) rc = send_calls(p, 0);
    if (!rc) rc = openai_send_end(p->reply);
    fo_err err = {0};
    if (rc) fo_no_memory(&err), openai_fail(p->reply, &err);
}

static generation_request request_of(const openai_call *c, const answer_rule *rule) {
    const generator_options *o = &c->options;
    generation_request q = {.sampling = sampler_params_default(),
                            .stop = o->stop,
                            .n_stop = o->n_stop,
                            .priority = o->priority,
                            .kv_reuse = (enum kv_reuse)o->reuse,
                            .no_lookup = o->no_lookup,
                            .n_logprobs = c->n_logprobs,
                            .rule = *rule,
                            .stop_tokens = c->stop_tokens,
                            .n_stop_tokens = c->n_stop_tokens};
    q.sampling.temperature = (float)o->temperature;
    q.sampling.top_p = (float)o->top_p;
    q.sampling.top_k = o->top_k;
    q.sampling.min_p = (float)o->min_p;
    q.sampling.presence = (float)o->presence_penalty;
    q.sampling.frequency = (float)o->frequency_penalty;
    q.sampling.repetition = (float)o->repetition_penalty;
    return q;
}

/* One prompt, n times: with seeds one after the other, so that they differ and can be had again. */
static int submit(plain *p, const int32_t *ids, size_t n, const fo_buf *echo, uint64_t seed,
                  fo_err *err) {
    const openai_call *call = p->reply->call;
    generation_request q = request_of(call, &p->rule);
    diffusion_params diffusion;
    sparse_params sparse;
    q.diffusion = local_diffusion(&call->options.diffusion, &diffusion);
    q.sparse = local_sparse(&call->options.sparse, &sparse);
    for (size_t i = 0; i < call->n_bias; i++)
        p->bias[i] = (sampler_bias){call->bias[i].token, call->bias[i].bias};
    q.sampling.bias = p->bias;
    q.sampling.n_bias = call->n_bias;
    service_kv_salt(app_tenant(p->reply->r), app_sees(p->reply->r), q.salt);
    size_t window = (size_t)engine_model(p->engine)->n_context;
    if (n >= window)
        return fo_fail(err, FO_ELIMIT,
                       "the prompt has %zu tokens; the model's window holds %zu, "
                       "the answer included",
                       n, window);
    size_t room = window - n, wanted = p->reply->call->max_tokens;
    if (!wanted) wanted = DEFAULT_TOKENS;
    q.prompt = ids;
    q.n_prompt = n;
    q.max_tokens = wanted < room ? wanted : room;
    for (int i = 0; i < p->reply->call->n; i++) {
        choice *c = &p->choices[p->n_choices];
        q.sampling.seed = seed + (uint64_t)i;
        int64_t retry_ms = 0;
        c->submitted_ms = fo_now_ms();
        int rc = engine_submit(p->engine, &q, &c->g, &retry_ms, err);
        if (rc) {
            char seconds[32];
            snprintf(seconds, sizeof seconds, "%lld", (long long)(retry_ms / 1000 + 1));
            if (rc == FO_EBUSY) http_set_header(p->reply->r, "Retry-After", seconds);
            return rc;
        }
        p->n_choices++;
        if (echo->len) fo_buf_add(&c->echo, echo->data, echo->len);
        if (c->echo.failed) return fo_no_memory(err);
        if (i == 0) p->reply->prompt_tokens += n; /* once, and not where it was refused */
    }
    return FO_OK;
}

/* The prompt with as many contexts as leave room for the answer. */
static int grounded_tokens(plain *p, int32_t **ids, size_t *n, fo_err *err) {
    enum { LEAST_ANSWER = 256 };
    const openai_call *c = p->reply->call;
    const size_t window = (size_t)engine_model(p->engine)->n_context;
    const size_t answer = c->max_tokens ? c->max_tokens : LEAST_ANSWER;
    for (size_t contexts = p->grounded->most_contexts;; contexts--) {
        cJSON *messages = grounded_text_messages(p->grounded, contexts, err);
        if (!messages) return err->code;
        int rc = completions_chat_tokens(p->engine, messages, c->tools.list, ids, n, err);
        cJSON_Delete(messages);
        if (rc || *n + answer <= window || contexts <= 1) return rc;
        free(*ids);
        *ids = NULL;
    }
}

static int submit_all(plain *p, fo_err *err) {
    const cJSON *prompt = cJSON_GetObjectItemCaseSensitive(p->reply->call->root, "prompt");
    int n_prompts = p->reply->call->chat ? 1 : completions_prompt_count(prompt, err);
    if (n_prompts < 0) return n_prompts;
    if (n_prompts * p->reply->call->n > MAX_GENERATIONS)
        return fo_fail_field(err, FO_EINVAL, "n", "prompts times n must be at most %d",
                             MAX_GENERATIONS);
    p->choices = calloc((size_t)(n_prompts * p->reply->call->n), sizeof *p->choices);
    if (!p->choices) return fo_no_memory(err);
    uint64_t seed = p->reply->call->options.seed;
    if (!p->reply->call->seeded && getrandom(&seed, sizeof seed, 0) != sizeof seed)
        seed = (uint64_t)log_now_ms();
    int rc = FO_OK;
    for (int i = 0; !rc && i < n_prompts; i++) {
        int32_t *ids = NULL;
        size_t n = 0;
        rc = p->grounded ? grounded_tokens(p, &ids, &n, err)
             : p->reply->call->chat
                 ? completions_chat_tokens(p->engine, p->reply->call->messages,
                                           p->reply->call->tools.list, &ids, &n, err)
                 : completions_prompt_tokens(p->engine, prompt, i, &ids, &n, err);
        fo_buf echo = {0};
        if (!rc && p->reply->call->echo)
            rc = completions_prompt_text(p->engine, prompt, i, ids, n, &echo, err);
        if (!rc) rc = submit(p, ids, n, &echo, seed, err);
        fo_buf_free(&echo);
        free(ids);
    }
    return rc;
}

/* Of several choices the first to write has the first token, the last to end the rest. */
static void add_timings(openai_timings *t, const choice *c, double started_ms) {
    const generation_event *ev = &c->ev;
    const double first = c->submitted_ms - started_ms + ev->first_token_ms;
    t->queue_ms = ev->queue_ms > t->queue_ms ? ev->queue_ms : t->queue_ms;
    t->prefill_ms = ev->prefill_ms > t->prefill_ms ? ev->prefill_ms : t->prefill_ms;
    t->decode_ms = ev->decode_ms > t->decode_ms ? ev->decode_ms : t->decode_ms;
    if (ev->first_token_ms > 0 && (t->first_token_ms == 0 || first < t->first_token_ms))
        t->first_token_ms = first;
}

/* Once all is written, or has failed: who asked is charged what it took until then. */
static void count_tokens(plain *p) {
    openai_reply *reply = p->reply;
    for (size_t i = 0; i < p->n_choices; i++) {
        const generation_event *ev = &p->choices[i].ev;
        reply->completion_tokens += ev->completion_tokens;
        /* A prompt is counted once for all its choices, and so is what was kept of it: by the first, for the others find
         * what that one read. */
        if (i % (size_t)reply->call->n == 0) reply->cached_tokens += ev->cached_tokens;
        reply->passes += (size_t)ev->passes;
        reply->held = local_held(ev);
        reply->kv_note = ev->kv_note;
        add_timings(&reply->timings, &p->choices[i], reply->started_ms);
    }
    app_charge(reply->r, reply->prompt_tokens + reply->completion_tokens);
}

static void choices_free(plain *p) {
    for (size_t i = 0; i < p->n_choices; i++) {
        choice *c = &p->choices[i];
        generation_free(c->g);
        fo_buf_free(&c->echo);
        fo_buf_free(&c->raw);
        fo_buf_free(&c->text);
        fo_buf_free(&c->whole);
        fo_buf_free(&c->citations);
        fo_buf_free(&c->checked);
        tool_calls_deinit(&c->calls);
    }
    free(p->choices);
    p->choices = NULL;
    p->n_choices = 0;
}

/* The same prompt, whose KV is there, with a call from the first token on. */
static int call_again(plain *p, fo_err *err) {
    const size_t read = p->reply->prompt_tokens;
    p->reply->completion_tokens += p->choices[0].ev.completion_tokens;
    choices_free(p);
    p->rule.required = true;
    int rc = submit_all(p, err);
    p->reply->prompt_tokens = read;
    return rc;
}

static int generate(plain *p, fo_err *err) {
    const openai_call *call = p->reply->call;
    int left_ms;
    int rc = openai_call_time_left(call, &left_ms, err);
    if (left_ms) http_set_timeout(p->reply->r, left_ms);
    if (!rc) rc = tool_prompt_rule(call, &p->rule, &p->schema, err);
    if (!rc) rc = submit_all(p, err);
    if (!rc && call->tools.list && !call->tools.required && p->n_choices == 1) {
        bool again = false;
        rc = await_decision(p, &again, err);
        if (!rc && again) rc = call_again(p, err);
    }
    if (!rc && p->declined) return FO_OK;
    if (!rc) rc = pump(p, err);
    for (size_t i = 0; !rc && !call->stream && i < p->n_choices; i++)
        rc = take_news(p, &p->choices[i], err);
    return rc;
}

static void send_plain(plain *p) {
    if (p->reply->call->stream)
        openai_send_end(p->reply);
    else if (p->reply->call->response)
        reply_response(p);
    else
        reply_whole(p);
}

static void answer_plain(openai_reply *reply, engine *e) {
    fo_err err = {0};
    plain p = {.reply = reply, .engine = e, .t = engine_tokenizer(e)};
    int rc = generate(&p, &err);
    count_tokens(&p);
    if (rc)
        openai_fail(reply, &err);
    else
        send_plain(&p);
    choices_free(&p);
    json_schema_free(p.schema);
}

/* ---- from documents, by a rule -------------------------------------------------------------- */

/* What is said in place of JSON. */
static const char *refusal_of(const grounded_text *g) {
    const query_result *r = &g->found;
    return r->status == QUERY_ANSWERED ? r->answer : r->refusal;
}

static void refuse_in_chunks(openai_reply *reply, const grounded_text *g) {
    int rc = FO_OK;
    for (int i = 0; !rc && i < reply->call->n; i++)
        rc = openai_send_chunk(reply, &(openai_chunk){.index = (size_t)i,
                                                      .text = "",
                                                      .role = true,
                                                      .refusal = refusal_of(g),
                                                      .finish = "stop",
                                                      .citations = "[]"});
    if (!rc) openai_send_end(reply);
}

/* The documents do not answer: no JSON is made of nothing. */
static void refuse(openai_reply *reply, const grounded_text *g) {
    if (reply->call->stream || reply->call->response) {
        refuse_in_chunks(reply, g);
        return;
    }
    fo_buf b = {0};
    json_out o = {&b, false};
    openai_write_head(reply, &o, false);
    json_out_open(&o, "choices", '[');
    for (int i = 0; i < reply->call->n; i++) {
        json_out_open(&o, NULL, '{');
        json_out_int(&o, "index", i);
        json_out_open(&o, "message", '{');
        json_out_string(&o, "role", "assistant");
        json_out_null(&o, "content");
        json_out_string(&o, "refusal", refusal_of(g));
        json_out_close(&o, '}');
        json_out_null(&o, "logprobs");
        json_out_string(&o, "finish_reason", "stop");
        json_out_close(&o, '}');
    }
    json_out_close(&o, ']');
    json_out_string(&o, "status", query_status_names[g->found.status]);
    json_out_string(&o, "answer_source", answer_source_names[ANSWER_NONE]);
    json_out_raw(&o, "citations", "[]");
    openai_write_figures(reply, &o);
    json_out_close(&o, '}');
    http_reply_json(reply->r, 200, &b);
}

/* What the analytics know of it: the model's answer, not the extract that decided whether there is one. Its
 * tokens were charged as they were counted. */
static void account(openai_reply *reply, grounded_text *g) {
    query_result *r = &g->found;
    r->usage.prompt_tokens = reply->prompt_tokens;
    r->usage.completion_tokens = reply->completion_tokens;
    r->usage.cached_tokens = reply->cached_tokens;
    r->source = reply->completion_tokens ? ANSWER_GENERATED : ANSWER_NONE;
    r->ms.total = fo_now_ms() - reply->started_ms;
    if (reply->prompt_tokens) { /* it was asked */
        r->ms.queue = reply->timings.queue_ms;
        r->ms.prefill = reply->timings.prefill_ms;
        r->ms.first_token = reply->timings.first_token_ms;
        r->ms.decode = reply->timings.decode_ms;
    }
    query_account_charged(g->app, reply->r, &g->question, r);
}

/* No call: the documents answer as ever. They keep to the time that is left by themselves, and where it is over have
 * more to say than that. */
static void answer_declined(openai_reply *reply, app *a) {
    http_set_timeout(reply->r, REQUEST_TIMEOUT_MAX_MS);
    openai_answer_grounded(reply, a);
}

static void answer_ruled(openai_reply *reply, engine *e, app *a) {
    fo_err err = {0};
    grounded_text g;
    openai_call *call = reply->call;
    plain p = {.reply = reply, .engine = e, .t = engine_tokenizer(e), .grounded = &g};
    const cJSON *last = cJSON_GetArrayItem(call->messages, cJSON_GetArraySize(call->messages) - 1);
    p.may_call = call->tools.list && !call->tools.required &&
                 strcmp(openai_text_of(last, "role"), "tool") != 0;
    if (!call->warm) call->options.temperature = 0;
    int rc = grounded_text_find(&g, reply, a, &err);
    /* Thanks are answered in kind, from no document. */
    bool answered = g.found.status == QUERY_ANSWERED && g.found.source != ANSWER_NONE;
    bool refused = !rc && call->json && !answered;
    if (!rc && !refused) rc = generate(&p, &err);
    for (size_t i = 0; p.declined && i < p.n_choices; i++) generation_cancel(p.choices[i].g);
    count_tokens(&p);
    if (!rc && !p.declined) account(reply, &g); /* first: with its reply a request is over */
    if (rc)
        openai_grounded_fail(reply, a, &err);
    else if (p.declined)
        answer_declined(reply, a);
    else if (refused)
        refuse(reply, &g);
    else
        send_plain(&p);
    choices_free(&p);
    json_schema_free(p.schema);
    grounded_text_deinit(&g);
}

/* ---- routes --------------------------------------------------------------------------------- */

/* response: what /v1/responses was asked for, where the body comes from there. */
static void answer_body(http_request *r, app *a, const char *body, size_t len, bool chat,
                        const cJSON *response) {
    engine *e = local_generator_engine(service_generator(a->service));
    openai_call *c = calloc(1, sizeof *c);
    fo_err err = {0};
    if (!c) {
        fo_no_memory(&err);
        http_error_from(r, &err);
        return;
    }
    if (openai_call_read(c, chat, e ? engine_model(e)->n_vocab : 0, body, len, &err)) {
        if (response) openai_responses_name(response, &err);
        openai_error(r, &err);
        free(c);
        return;
    }
    c->response = response;
    model_choice m;
    unsigned kinds = chat ? MODEL_GENERATOR | MODEL_GROUNDED : MODEL_GENERATOR;
    int rc = model_names_find(&m, a, r, c->model, kinds, &err);
    c->collection = m.collection;
    if (!rc) rc = openai_call_check(c, e != NULL, &err);
    if (!rc) rc = openai_call_begin(c, http_queue_ms(r), &err);
    openai_reply p;
    openai_reply_init(&p, r, c, m.name);
    if (rc && response) openai_responses_name(response, &err);
    if (rc)
        openai_error(r, &err);
    else if (c->collection && openai_call_is_ruled(c))
        answer_ruled(&p, e, a);
    else if (c->collection)
        openai_answer_grounded(&p, a);
    else
        answer_plain(&p, e);
    openai_reply_deinit(&p);
    openai_call_deinit(c);
    free(c);
}

static void route(http_request *r, app *a, bool chat) {
    size_t len;
    const char *body = http_body(r, &len);
    answer_body(r, a, body, len, chat, NULL);
}

void route_responses(http_request *r, void *ctx) {
    size_t len;
    const char *body = http_body(r, &len);
    char *chat = NULL;
    cJSON *given = NULL;
    fo_err err = {0};
    if (openai_responses_translate(body, len, &chat, &given, &err))
        openai_error(r, &err);
    else
        answer_body(r, ctx, chat, strlen(chat), true, given);
    cJSON_Delete(given);
    free(chat);
}

void route_chat_completions(http_request *r, void *ctx) {
    route(r, ctx, true);
}

void route_completions(http_request *r, void *ctx) {
    route(r, ctx, false);
}
