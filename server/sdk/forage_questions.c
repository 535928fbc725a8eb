/* Questions to libforage: passages, verified answers, text of the model alone, vectors. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/stop_match.h"
#include "kernels/utf8.h"
#include "retrieval/local/local_generator.h"
#include "server/base/request_limits.h"
#include "server/completions/completions_prompt.h"
#include "server/routes/app.h"
#include "server/routes/query_json.h"
#include "server/sdk/forage_internal.h"

/* ---- search and query ------------------------------------------------------------------------- */

/* The body of a request: the options with the question put in at their end, so that byte offsets in errors are
 * those of the options. */
static int write_body(fo_buf *b, const char *query, const char *options, fo_err *err) {
    static const char blank[] = " \t\r\n";
    const char *o = options && options[strspn(options, blank)] ? options : "{}";
    size_t n = strlen(o), bad;
    if (n > FORAGE_OPTIONS_MAX)
        return fo_fail_field(err, FO_ELIMIT, "options", "options have more than %d bytes",
                             FORAGE_OPTIONS_MAX);
    if (query && !fo_utf8_valid(query, strlen(query), &bad))
        return fo_fail_field(err, FO_EINVAL, "query", "query is not UTF-8 at byte %zu", bad);
    while (n && strchr(blank, o[n - 1])) n--;
    if (o[strspn(o, blank)] != '{' || o[n - 1] != '}')
        return fo_fail_field(err, FO_EINVAL, "options", "options must be a JSON object");
    fo_buf_add(b, o, query ? n - 1 : n);
    if (query) {
        size_t last = b->len;
        while (last && strchr(blank, b->data[last - 1])) last--;
        fo_buf_str(b, last && b->data[last - 1] == '{' ? "\"query\":" : ",\"query\":");
        json_write_string(b, query, strlen(query));
        fo_buf_char(b, '}');
    }
    return b->failed ? fo_no_memory(err) : FO_OK;
}

/* A question that somebody listens to. */
typedef struct asking {
    forage_call call;
    const query_call *query;
} asking;

static int on_contexts(void *ctx, const query_result *partial) {
    asking *a = ctx;
    fo_buf b = {0};
    if (!a->query->with_contexts) return 0;
    query_json_write_contexts(&b, a->query, partial);
    return forage_call_tell(&a->call, "contexts", &b);
}

static int tell_text(forage_call *c, const char *text, size_t len) {
    fo_buf b = {0};
    json_out o = {&b, false};
    json_out_open(&o, NULL, '{');
    json_out_bytes(&o, "text", text, len);
    json_out_close(&o, '}');
    return forage_call_tell(c, "token", &b);
}

static int on_token(void *ctx, const char *text, size_t len) {
    asking *a = ctx;
    return tell_text(&a->call, text, len);
}

static int on_draft(void *ctx, const query_result *partial) {
    asking *a = ctx;
    fo_buf b = {0};
    query_json_write_draft(&b, partial);
    return forage_call_tell(&a->call, "draft", &b);
}

static int on_citation(void *ctx, const query_result *partial, const query_citation *c) {
    asking *a = ctx;
    fo_buf b = {0};
    query_json_write_citation(&b, partial, c, NULL);
    return forage_call_tell(&a->call, "citation", &b);
}

static int ask(forage *f, const fo_buf *body, bool search_only, const forage_listener *listener,
               forage_reply **out, fo_err *err) {
    query_call call;
    int rc = query_json_read(&call, body->data, body->len, search_only, err);
    if (rc) return rc;
    asking a = {.query = &call};
    forage_call_begin(&a.call, listener);
    query_sink sink = {&a, on_contexts, on_token, on_citation, on_draft};
    call.request.tenant = ACCESS_OWNER;
    call.request.cancel = &a.call.ended;
    bool listens = listener && listener->event;
    fo_buf b = {0};
    rc = query_json_ask(f->service, &call, listens ? &sink : NULL, &b, err);
    if (!rc) rc = forage_call_check(&a.call, err);
    if (!rc)
        rc = forage_reply_make(out, &b, err);
    else
        fo_buf_free(&b);
    query_call_deinit(&call);
    forage_call_end(&a.call);
    return rc;
}

static int question(forage *f, const char *query, const char *options, bool search_only,
                    const forage_listener *listener, forage_reply **out, forage_error *error) {
    fo_err err = {0};
    fo_buf body = {0};
    int rc = forage_check(f, out, &err);
    if (!rc) rc = write_body(&body, query, options, &err);
    if (!rc) rc = ask(f, &body, search_only, listener, out, &err);
    fo_buf_free(&body);
    return forage_hand_out(rc, &err, error);
}

int forage_search(forage *f, const char *query, const char *options,
                  const forage_listener *listener, forage_reply **out, forage_error *error) {
    return question(f, query, options, true, listener, out, error);
}

int forage_query(forage *f, const char *query, const char *options, const forage_listener *listener,
                 forage_reply **out, forage_error *error) {
    return question(f, query, options, false, listener, out, error);
}

/* ---- the model alone --------------------------------------------------------------------------- */

enum { STOP_MAX = STOP_MATCH_STRINGS, MESSAGES_MAX = 4096, POLL_MS = 50, TOKENS_MAX = 1 << 20 };

typedef struct writing {
    forage_call call;
    engine *engine;
    cJSON *messages; /* owned */
    json_schema *schema;
    const char *stop[STOP_MAX];
    generation_request request;
    generation *g;
    fo_buf text;
} writing;

static void writing_deinit(writing *w) {
    generation_free(w->g);
    json_schema_free(w->schema);
    cJSON_Delete(w->messages);
    fo_buf_free(&w->text);
}

/* {"role","content"} of each, and nothing else. */
static int read_messages(writing *w, json_in *in, const char *prompt, fo_err *err) {
    static const char *const roles[] = {"system", "user", "assistant", NULL};
    const cJSON *list = json_in_array(in, "messages", MESSAGES_MAX), *item;
    const char *last = "";
    size_t bad, i = 0;
    if (!(w->messages = cJSON_CreateArray())) return fo_no_memory(err);
    cJSON_ArrayForEach(item, list) {
        char path[32];
        snprintf(path, sizeof path, "messages[%zu]", i++);
        json_in m;
        json_in_object(&m, item, path, err);
        int role = json_in_enum(&m, "role", -1, roles);
        const char *content = json_in_string(&m, "content", NULL, 0, FORAGE_OPTIONS_MAX);
        if (json_in_end(&m)) return err->code;
        if (role < 0 || !content)
            return fo_fail_field(err, FO_EINVAL, path, "%s needs a role and a content", path);
        cJSON *copy = cJSON_Duplicate(item, true);
        if (!copy || !cJSON_AddItemToArray(w->messages, copy)) return fo_no_memory(err);
        last = roles[role];
    }
    if (prompt && !fo_utf8_valid(prompt, strlen(prompt), &bad))
        return fo_fail_field(err, FO_EINVAL, "prompt", "prompt is not UTF-8 at byte %zu", bad);
    if (prompt) {
        cJSON *m = cJSON_CreateObject();
        cJSON_AddStringToObject(m, "role", "user");
        if (!cJSON_AddStringToObject(m, "content", prompt) ||
            !cJSON_AddItemToArray(w->messages, m)) {
            cJSON_Delete(m);
            return fo_no_memory(err);
        }
    } else if (strcmp(last, "user") != 0) {
        return fo_fail_field(err, FO_EINVAL, "prompt",
                             "a prompt is needed, or messages that end with the user's");
    }
    return FO_OK;
}

static int read_stop(writing *w, json_in *in, fo_err *err) {
    const cJSON *list = json_in_array(in, "stop", STOP_MAX), *item;
    cJSON_ArrayForEach(item, list) {
        const char *s = cJSON_GetStringValue(item);
        if (!s || !*s)
            return fo_fail_field(err, FO_EINVAL, "stop",
                                 "stop must be an array of at most %d strings", STOP_MAX);
        w->stop[w->request.n_stop++] = s;
    }
    w->request.stop = w->stop;
    return stop_match_check(w->stop, w->request.n_stop, err);
}

static int read_writing(writing *w, json_in *in, const char *prompt, fo_err *err) {
    generation_request *r = &w->request;
    sampler_params *s = &r->sampling;
    *s = sampler_params_default();
    r->n_logprobs = -1;
    r->max_tokens = (size_t)json_in_int(in, "max_tokens", 256, 1, TOKENS_MAX);
    s->temperature = (float)json_in_number(in, "temperature", 0, 0, 2);
    s->top_p = (float)json_in_number(in, "top_p", 1, 0, 1);
    s->top_k = (int)json_in_int(in, "top_k", 0, 0, 1 << 30);
    s->min_p = (float)json_in_number(in, "min_p", 0, 0, 1);
    s->presence = (float)json_in_number(in, "presence_penalty", 0, -2, 2);
    s->frequency = (float)json_in_number(in, "frequency_penalty", 0, -2, 2);
    s->repetition = (float)json_in_number(in, "repetition_penalty", 1, .01, 10);
    s->seed = (uint64_t)json_in_int(in, "seed", 1, 0, INT64_C(9007199254740991));
    r->priority = (int)json_in_int(in, "priority", 0, -100, 100);
    r->deadline_ms = json_in_int(in, "timeout_ms", 0, 1, REQUEST_TIMEOUT_MAX_MS);
    const cJSON *schema = json_in_any(in, "schema");
    int rc = read_stop(w, in, err);
    if (!rc) rc = read_messages(w, in, prompt, err);
    if (!rc) rc = json_in_end(in);
    if (!rc && schema) rc = json_schema_compile(&w->schema, schema, err);
    if (rc && schema && !err->field[0]) snprintf(err->field, sizeof err->field, "schema");
    r->rule.schema = w->schema;
    return rc;
}

static int submit(writing *w, fo_err *err) {
    int32_t *ids = NULL;
    size_t n = 0, window = (size_t)engine_model(w->engine)->n_context;
    int rc = completions_chat_tokens(w->engine, w->messages, NULL, &ids, &n, err);
    if (!rc && n >= window)
        rc = fo_fail_field(err, FO_ELIMIT, "prompt",
                           "the prompt has %zu tokens; the model's window holds %zu, the answer "
                           "included",
                           n, window);
    if (!rc) {
        w->request.prompt = ids;
        w->request.n_prompt = n;
        if (w->request.max_tokens > window - n) w->request.max_tokens = window - n;
        service_kv_salt(ACCESS_OWNER, NULL, w->request.salt);
        rc = engine_submit(w->engine, &w->request, &w->g, NULL, err);
    }
    free(ids);
    return rc;
}

static int pump(writing *w, generation_event *ev, fo_err *err) {
    size_t told = 0;
    do {
        generation_next(w->g, POLL_MS, ev, &w->text);
        if (!ev->done && atomic_load(&w->call.ended)) generation_cancel(w->g);
        if (w->text.len > told) {
            tell_text(&w->call, w->text.data + told, w->text.len - told);
            told = w->text.len;
        }
    } while (!ev->done);
    int rc = forage_call_check(&w->call, err);
    if (rc) return rc;
    return ev->error ? fo_fail(err, ev->error, "%s", ev->message) : FO_OK;
}

static int write_text(const writing *w, const generation_event *ev, const char *name,
                      forage_reply **out, fo_err *err) {
    fo_buf b = {0};
    json_out o = {&b, false};
    json_out_open(&o, NULL, '{');
    json_out_bytes(&o, "text", w->text.data ? w->text.data : "", w->text.len);
    json_out_string(&o, "finish_reason", ev->finish_reason);
    json_out_string(&o, "model", name);
    json_out_open(&o, "usage", '{');
    json_out_int(&o, "prompt_tokens", (int64_t)ev->prompt_tokens);
    json_out_int(&o, "completion_tokens", (int64_t)ev->completion_tokens);
    json_out_int(&o, "total_tokens", (int64_t)(ev->prompt_tokens + ev->completion_tokens));
    json_out_open(&o, "prompt_tokens_details", '{');
    json_out_int(&o, "cached_tokens", (int64_t)ev->cached_tokens);
    json_out_close(&o, '}');
    json_out_close(&o, '}');
    json_out_open(&o, "timings_ms", '{');
    json_out_number(&o, "queue", ev->queue_ms);
    json_out_number(&o, "prefill", ev->prefill_ms);
    json_out_number(&o, "first_token", ev->first_token_ms);
    json_out_number(&o, "decode", ev->decode_ms);
    json_out_close(&o, '}');
    json_out_close(&o, '}');
    return forage_reply_make(out, &b, err);
}

int forage_generate(forage *f, const char *prompt, const char *options,
                    const forage_listener *listener, forage_reply **out, forage_error *error) {
    fo_err err = {0};
    json_in in;
    cJSON *root = NULL;
    generation_event ev = {0};
    writing w = {0};
    forage_call_begin(&w.call, listener);
    int rc = forage_check(f, out, &err);
    generator *g = rc ? NULL : service_generator(f->service);
    if (!rc && !(w.engine = local_generator_engine(g)))
        rc = fo_fail_field(&err, FO_EUNSUPPORTED, "model",
                           "no language model is loaded: open the home with the option model");
    if (!rc) rc = forage_options(&in, &root, options, &err);
    if (!rc) rc = read_writing(&w, &in, prompt, &err);
    if (!rc) rc = submit(&w, &err);
    if (!rc) rc = pump(&w, &ev, &err);
    if (!rc) rc = write_text(&w, &ev, generator_get_info(g)->name, out, &err);
    writing_deinit(&w);
    forage_call_end(&w.call);
    cJSON_Delete(root);
    return forage_hand_out(rc, &err, error);
}

/* ---- vectors ------------------------------------------------------------------------------------ */

size_t forage_embed_dim(const forage *f) {
    return f ? embedder_dim(service_embedder(f->service)) : 0;
}

int forage_embed(forage *f, const char *const *texts, size_t n, int is_query, float *vectors,
                 forage_error *error) {
    fo_err err = {0};
    size_t bytes;
    int rc = forage_check(f, vectors, &err);
    if (!rc && !texts) rc = fo_fail_field(&err, FO_EINVAL, "texts", "texts is NULL");
    if (!rc && !fo_mul_size(n, sizeof(size_t), &bytes))
        rc = fo_fail_field(&err, FO_ELIMIT, "n", "n is too large");
    size_t *lens = rc ? NULL : malloc(bytes + 1);
    if (!rc && !lens) rc = fo_no_memory(&err);
    for (size_t i = 0; !rc && i < n; i++) {
        if (!texts[i])
            rc = fo_fail_field(&err, FO_EINVAL, "texts", "texts[%zu] is NULL", i);
        else
            lens[i] = strlen(texts[i]);
    }
    if (!rc && n)
        rc = embedder_embed(service_embedder(f->service), is_query ? EMBED_QUERY : EMBED_PASSAGE,
                            texts, lens, n, vectors, &err);
    free(lens);
    return forage_hand_out(rc, &err, error);
}
