/* Bodies of /v1/chat/completions and /v1/completions, and what their errors are called. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/clock.h"
#include "server/base/request_limits.h"
#include "server/openai/openai.h"
#include "server/openai/openai_fields.h"
#include "server/routes/diffusion_json.h"
#include "server/routes/sparse_json.h"

enum { MAX_MESSAGES = 4096 };

static void read_stop(openai_call *c, json_in *in) {
    const cJSON *stop = json_in_any(in, "stop"), *item = stop;
    if (!stop || json_in_failed(in)) return;
    if (cJSON_IsArray(stop)) item = stop->child;
    for (; item; item = cJSON_IsArray(stop) ? item->next : NULL) {
        const char *s = cJSON_GetStringValue(item);
        if (!s || c->options.n_stop == OPENAI_MAX_STOPS) {
            fo_fail_field(in->err, FO_EINVAL, "stop",
                          "stop must be a string or an array of at most %d strings",
                          OPENAI_MAX_STOPS);
            return;
        }
        if (*s) c->stop[c->options.n_stop++] = s;
    }
    if (!stop_match_check(c->stop, c->options.n_stop, in->err)) c->options.stop = c->stop;
}

/* A token's id as JSON has numbers: no blank, sign or zero before it, which strtol would take, so that none has two names. -1:
 * it is none. */
static long token_of_key(const char *key) {
    enum { MOST_DIGITS = 9 };
    const size_t n = key ? strspn(key, "0123456789") : 0;
    if (!n || n > MOST_DIGITS || key[n] || (key[0] == '0' && n > 1)) return -1;
    return strtol(key, NULL, 10);
}

static void read_bias(openai_call *c, json_in *in, int32_t n_vocab) {
    const cJSON *map = json_in_any(in, "logit_bias"), *item;
    if (!map || json_in_failed(in)) return;
    if (!cJSON_IsObject(map)) {
        fo_fail_field(in->err, FO_EINVAL, "logit_bias", "logit_bias must be an object");
        return;
    }
    cJSON_ArrayForEach(item, map) {
        long token = token_of_key(item->string);
        bool number = cJSON_IsNumber(item) && fabs(item->valuedouble) <= 100;
        if (token < 0 || !number || c->n_bias == OPENAI_MAX_BIAS || (n_vocab && token >= n_vocab)) {
            fo_fail_field(in->err, FO_EINVAL, "logit_bias",
                          "logit_bias must map at most %d token ids of the model to numbers from "
                          "-100 to 100",
                          OPENAI_MAX_BIAS);
            return;
        }
        /* -100 is a ban in OpenAI's words. */
        float bias = item->valuedouble <= -100 ? -INFINITY : (float)item->valuedouble;
        c->bias[c->n_bias++] = (openai_bias){(int32_t)token, bias};
    }
}

static void read_format(openai_call *c, json_in *in) {
    static const char *const kinds[] = {"text", "json_object", "json_schema", NULL};
    json_in format, schema;
    json_in_child(&format, in, "response_format");
    int kind = json_in_enum(&format, "type", 0, kinds);
    json_in_child(&schema, &format, "json_schema");
    json_in_string(&schema, "name", NULL, 0, 64); /* who asked knows what it is for */
    json_in_string(&schema, "description", NULL, 0, 65536);
    json_in_bool(&schema, "strict", true);
    c->schema = json_in_any(&schema, "schema");
    c->json = kind > 0;
    if (kind == 2 && !c->schema && !json_in_failed(in))
        fo_fail_field(in->err, FO_EINVAL, "response_format.json_schema.schema",
                      "response_format.json_schema.schema is missing");
    if (kind != 2 && schema.object && !json_in_failed(in))
        fo_fail_field(in->err, FO_EINVAL, "response_format.json_schema",
                      "response_format.json_schema needs the type json_schema");
    json_in_end(&schema);
    json_in_end(&format);
}

static void read_stop_tokens(openai_call *c, json_in *in, int32_t n_vocab) {
    const cJSON *list = json_in_any(in, "stop_token_ids"), *item;
    if (!list || json_in_failed(in)) return;
    if (!cJSON_IsArray(list) || (list->child && !openai_is_tokens(list)) ||
        cJSON_GetArraySize(list) > OPENAI_MAX_STOP_TOKENS) {
        fo_fail_field(in->err, FO_EINVAL, "stop_token_ids",
                      "stop_token_ids must be an array of at most %d token ids",
                      OPENAI_MAX_STOP_TOKENS);
        return;
    }
    cJSON_ArrayForEach(item, list) {
        if (n_vocab && item->valuedouble >= n_vocab) {
            fo_fail_field(in->err, FO_EINVAL, "stop_token_ids",
                          "stop_token_ids holds %.0f; the model has %d tokens", item->valuedouble,
                          n_vocab);
            return;
        }
        c->stop_tokens[c->n_stop_tokens++] = (int32_t)item->valuedouble;
    }
}

static void read_logprobs(openai_call *c, json_in *in) {
    c->n_logprobs = -1;
    if (!c->chat) {
        const cJSON *n = json_in_any(in, "logprobs");
        if (n) c->n_logprobs = (int)json_in_int(in, "logprobs", 0, 0, OPENAI_MAX_LOGPROBS);
        if (c->echo && c->n_logprobs >= 0 && !json_in_failed(in))
            fo_fail_field(in->err, FO_EUNSUPPORTED, "echo",
                          "echo is not supported together with logprobs: log probabilities of the "
                          "prompt are not computed");
        return;
    }
    bool on = json_in_bool(in, "logprobs", false);
    int top = (int)json_in_int(in, "top_logprobs", 0, 0, OPENAI_MAX_LOGPROBS);
    if (on) c->n_logprobs = top;
    if (top && !on && !json_in_failed(in))
        fo_fail_field(in->err, FO_EINVAL, "top_logprobs", "top_logprobs needs logprobs: true");
}

static void read_sampling(openai_call *c, json_in *in, int32_t n_vocab) {
    generator_options *o = &c->options;
    c->warm = json_in_any(in, "temperature") != NULL;
    o->temperature = json_in_number(in, "temperature", 1, 0, 2);
    o->top_p = json_in_number(in, "top_p", 1, 0, 1);
    o->top_k = (int)json_in_int(in, "top_k", 0, 0, 1 << 30);
    o->min_p = json_in_number(in, "min_p", 0, 0, 1);
    o->presence_penalty = json_in_number(in, "presence_penalty", 0, -2, 2);
    o->frequency_penalty = json_in_number(in, "frequency_penalty", 0, -2, 2);
    o->repetition_penalty = json_in_number(in, "repetition_penalty", 1, .01, 10);
    const cJSON *seed = json_in_any(in, "seed");
    c->seeded = seed != NULL;
    o->seed = (uint64_t)json_in_int(in, "seed", 0, -9007199254740991, 9007199254740991);
    read_bias(c, in, n_vocab);
    o->no_lookup = !json_in_bool(in, "lookup", true);
    diffusion_json_read(in, &o->diffusion);
    sparse_json_read(in, &o->sparse);
    o->priority = (int)json_in_int(in, "priority", 0, -100, 100);
    c->timeout_ms = (int)json_in_int(in, "timeout_ms", 0, 1, REQUEST_TIMEOUT_MAX_MS);
    o->reuse =
        (enum generator_reuse)json_in_enum(in, "kv_reuse", REUSE_EXACT, generator_reuse_names);
}

/* A content is a string or an array of text parts (or refusals, which are text); "" where there is none. */
static char *join_content(json_in *m) {
    static const char *const types[] = {"text", "refusal", NULL};
    const cJSON *content = json_in_any(m, "content");
    char path[64];
    fo_buf b = {0};
    fo_buf_str(&b, "");
    json_in_path(m, "content", path);
    if (cJSON_IsString(content)) {
        fo_buf_str(&b, content->valuestring);
    } else if (cJSON_IsArray(content)) {
        const cJSON *item;
        int i = 0;
        cJSON_ArrayForEach(item, content) {
            char at[96];
            json_in part;
            snprintf(at, sizeof at, "%s[%d]", path, i++);
            json_in_object(&part, item, at, m->err);
            const char *key = types[json_in_enum(&part, "type", 0, types)];
            const char *text = json_in_string(&part, key, NULL, 0, SIZE_MAX);
            if (!text && !json_in_failed(m))
                fo_fail_field(m->err, FO_EINVAL, path,
                              "%s must be a string or an array of text parts", path);
            json_in_end(&part);
            fo_buf_str(&b, text ? text : "");
        }
    } else if (content && !json_in_failed(m)) {
        fo_fail_field(m->err, FO_EINVAL, path, "%s must be a string or an array of text parts",
                      path);
    }
    if (b.failed && !json_in_failed(m)) fo_no_memory(m->err);
    return fo_buf_take(&b, NULL);
}

/* Who of several speaks, for templates that tell: in letters of which no control token is made. */
static const char *read_name(json_in *m) {
    const char *name = json_in_string(m, "name", NULL, 1, 64);
    char path[64];
    if (!name || strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") ==
                     strlen(name))
        return name;
    json_in_path(m, "name", path);
    fo_fail_field(m->err, FO_EINVAL, path, "%s must be made of A-Z a-z 0-9 _ and -", path);
    return NULL;
}

/* Why there was no answer is what the assistant said then: it comes back in the place of a content. */
static void read_refusal(json_in *m, bool assistant, char **text) {
    const char *refusal = json_in_string(m, "refusal", NULL, 0, SIZE_MAX);
    if (!refusal || !*refusal || json_in_failed(m)) return;
    if (!assistant || (*text && **text)) {
        char path[64];
        json_in_path(m, "refusal", path);
        fo_fail_field(m->err, FO_EUNSUPPORTED, path,
                      "%s is not supported here: it is an assistant's without a content", path);
        return;
    }
    free(*text);
    *text = strdup(refusal);
    if (!*text) fo_no_memory(m->err);
}

/* Only the assistant may say nothing, where it calls or refuses; calls are its own, and a tool answers one. */
static void check_role(json_in *m, const char *role, const cJSON *calls, const char *answers) {
    const bool assistant = !strcmp(role, "assistant");
    const char *field = calls && !assistant                    ? "tool_calls"
                        : answers && strcmp(role, "tool") != 0 ? "tool_call_id"
                                                               : NULL;
    char path[64];
    if (json_in_failed(m)) return;
    if (field) {
        json_in_path(m, field, path);
        fo_fail_field(m->err, FO_EUNSUPPORTED, path,
                      "%s is not supported in a message with the role %s", path, role);
    } else if (!strcmp(role, "function")) { /* of functions, which are refused too */
        json_in_path(m, "role", path);
        fo_fail_field(m->err, FO_EUNSUPPORTED, path,
                      "%s function is not supported: what a tool gave goes with the role tool and "
                      "its tool_call_id",
                      path);
    } else if (!assistant && !json_in_any(m, "content")) {
        json_in_path(m, "content", path);
        fo_fail_field(m->err, FO_EINVAL, path, "%s is missing", path);
    }
}

static void read_message(openai_call *c, json_in *in, const cJSON *item, int i) {
    static const char *const roles[] = {"system", "developer", "user", "assistant",
                                        "tool",   "function",  NULL};
    char path[64];
    json_in m;
    snprintf(path, sizeof path, "messages[%d]", i);
    json_in_object(&m, item, path, in->err);
    int role = json_in_enum(&m, "role", -1, roles);
    if (role < 0 && !json_in_failed(in)) {
        json_in_path(&m, "role", path);
        fo_fail_field(in->err, FO_EINVAL, path, "%s is missing", path);
    }
    const char *name = read_name(&m);
    char *text = join_content(&m);
    read_refusal(&m, role >= 0 && !strcmp(roles[role], "assistant"), &text);
    cJSON *calls = openai_tool_calls_read(&m);
    const char *answers = json_in_string(&m, "tool_call_id", NULL, 0, 256);
    if (role >= 0) check_role(&m, roles[role], calls, answers);
    openai_fields_read(&m, OPENAI_MESSAGE);
    if (json_in_end(&m) == FO_OK) {
        cJSON *to = cJSON_CreateObject();
        cJSON_AddStringToObject(to, "role", role == 1 ? "system" : roles[role]);
        cJSON_AddStringToObject(to, "content", text);
        if (name) cJSON_AddStringToObject(to, "name", name);
        if (calls) cJSON_AddItemToObject(to, "tool_calls", calls);
        calls = NULL;
        if (answers) cJSON_AddStringToObject(to, "tool_call_id", answers);
        cJSON_AddItemToArray(c->messages, to);
    }
    cJSON_Delete(calls);
    free(text);
}

static void read_messages(openai_call *c, json_in *in) {
    const cJSON *list = json_in_array(in, "messages", MAX_MESSAGES), *m;
    if (json_in_failed(in)) return;
    if (!list || !list->child) {
        fo_fail_field(in->err, FO_EINVAL, "messages", "messages must hold at least one message");
        return;
    }
    c->messages = cJSON_CreateArray();
    int i = 0;
    for (m = list->child; m && !json_in_failed(in); m = m->next) read_message(c, in, m, i++);
}

static void read_lengths(openai_call *c, json_in *in) {
    int64_t most = json_in_int(in, "max_tokens", 0, 1, 1 << 24), old = most;
    if (c->chat) most = json_in_int(in, "max_completion_tokens", most, 1, 1 << 24);
    if (old && old != most && !json_in_failed(in))
        fo_fail_field(in->err, FO_EINVAL, "max_tokens",
                      "max_tokens and max_completion_tokens are two names of one bound; they say "
                      "%lld and %lld",
                      (long long)old, (long long)most);
    c->max_tokens = (size_t)most;
    if (!most && !c->chat) c->max_tokens = 16; /* OpenAI's default there */
}

void openai_obfuscation_read(json_in *options) {
    if (json_in_bool(options, "include_obfuscation", false))
        fo_fail_field(options->err, FO_EUNSUPPORTED, "stream_options.include_obfuscation",
                      "stream_options.include_obfuscation is not supported: nothing is padded");
}

static void read_stream(openai_call *c, json_in *in) {
    json_in options;
    c->stream = json_in_bool(in, "stream", false);
    json_in_child(&options, in, "stream_options");
    c->include_usage = json_in_bool(&options, "include_usage", false);
    openai_obfuscation_read(&options);
    json_in_end(&options);
}

static void read_choices(openai_call *c, json_in *in) {
    c->n = (int)json_in_int(in, "n", 1, 1, OPENAI_MAX_CHOICES);
    if (c->chat) return;
    int64_t best = json_in_int(in, "best_of", c->n, 1, 1 << 20);
    if (best != c->n && !json_in_failed(in))
        fo_fail_field(in->err, FO_EUNSUPPORTED, "best_of",
                      "best_of is not supported: all of n are given, so it must be n");
}

int openai_call_read(openai_call *c, bool chat, int32_t n_vocab, const char *body, size_t len,
                     fo_err *err) {
    *c = (openai_call){.chat = chat};
    fo_err local = {0};
    json_in in;
    if (!json_parse(body, len, &c->root, &local)) {
        json_in_object(&in, c->root, "", &local);
        if (!in.object && !local.code) fo_fail(&local, FO_EINVAL, "the body must be an object");
    }
    if (!local.code) {
        c->model = json_in_string(&in, "model", NULL, 0, 256);
        if (chat)
            read_messages(c, &in);
        else
            c->echo = json_in_bool(&in, "echo", false);
        if (!chat) json_in_any(&in, "prompt"); /* read where it is split into tokens */
        read_stream(c, &in);
        read_choices(c, &in);
        read_lengths(c, &in);
        read_sampling(c, &in, n_vocab);
        read_stop(c, &in);
        read_logprobs(c, &in);
        read_stop_tokens(c, &in, n_vocab);
        if (chat) read_format(c, &in);
        if (chat) openai_tools_read(&c->tools, &in);
        if (c->json && c->tools.list && !json_in_failed(&in))
            fo_fail_field(in.err, FO_EUNSUPPORTED, "response_format",
                          "response_format is not supported together with tools");
        openai_fields_read(&in, chat ? OPENAI_CHAT : OPENAI_COMPLETION);
        json_in_end(&in);
    }
    if (local.code) {
        openai_call_deinit(c);
        *err = local;
    }
    return local.code;
}

const char *openai_text_of(const cJSON *message, const char *key) {
    const char *s = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(message, key));
    return s ? s : "";
}

bool openai_call_is_ruled(const openai_call *c) {
    const cJSON *last = cJSON_GetArrayItem(c->messages, cJSON_GetArraySize(c->messages) - 1);
    return c->json || c->tools.list || !strcmp(openai_text_of(last, "role"), "tool");
}

static int not_here(const char *field, const char *why, fo_err *err) {
    return fo_fail_field(err, FO_EUNSUPPORTED, field, "%s is not supported here: %s", field, why);
}

/* Sentences with citations are made by the service, token by token only what follows a rule. */
static int check_sentences(const openai_call *c, fo_err *err) {
    static const char why[] = "an answer from documents in sentences has none; one that is JSON "
                              "(response_format) or must be a call (tool_choice) may";
    if (c->n_logprobs >= 0) return not_here("logprobs", why, err);
    if (c->n_stop_tokens) return not_here("stop_token_ids", why, err);
    return c->n_bias ? not_here("logit_bias", why, err) : FO_OK;
}

int openai_call_check(const openai_call *c, bool has_engine, fo_err *err) {
    bool ruled = c->collection && openai_call_is_ruled(c);
    if (c->options.reuse == REUSE_CHUNK && (!c->collection || ruled))
        return not_here("kv_reuse", "chunk is for answers from documents, in sentences", err);
    if (!c->collection) return FO_OK;
    if (ruled && !has_engine)
        return not_here(c->json         ? "response_format"
                        : c->tools.list ? "tools"
                                        : "messages",
                        "it needs a language model of this service (--model)", err);
    bool may_call = c->tools.list && !c->tools.required;
    if (may_call && c->n > 1)
        return not_here("n", "where tools may be called or not there is one choice", err);
    return c->json || c->tools.required ? FO_OK : check_sentences(c, err);
}

int openai_call_begin(openai_call *c, double waited_ms, fo_err *err) {
    if (!c->timeout_ms && c->collection) c->timeout_ms = REQUEST_TIMEOUT_MS;
    if (!c->timeout_ms) return FO_OK;
    int left = c->timeout_ms;
    int rc = request_limits_spend_wait(&left, waited_ms, err);
    if (!rc) c->until_ms = fo_now_ms() + left;
    return rc;
}

int openai_call_time_left(const openai_call *c, int *ms, fo_err *err) {
    *ms = 0;
    if (!c->until_ms) return FO_OK;
    double left = c->until_ms - fo_now_ms();
    if (left < 1)
        return fo_fail_field(err, FO_ETIMEOUT, "timeout_ms", "no answer within timeout_ms = %d",
                             c->timeout_ms);
    *ms = (int)left;
    return FO_OK;
}

void openai_call_deinit(openai_call *c) {
    cJSON_Delete(c->messages);
    cJSON_Delete(c->root);
    c->messages = c->root = NULL;
}

/* ---- errors ------------------------------------------------------------------------------------ */

int openai_status_of(const fo_err *err, const char **code) {
    int status = http_status_of(err, code);
    if (err->code == FO_ENOTFOUND && !strcmp(err->field, "model")) *code = "model_not_found";
    return err->code == FO_EUNSUPPORTED ? 400 : status;
}

void openai_error(http_request *r, const fo_err *err) {
    if (err->code == FO_ECANCELLED && http_timed_out(r)) {
        http_error_from(r, err);
        return;
    }
    const char *code;
    int status = openai_status_of(err, &code);
    http_error(r, status, code, err->field, "%s", err->msg[0] ? err->msg : fo_code_name(err->code));
}

void openai_write_usage(json_out *o, size_t prompt, size_t completion, size_t cached) {
    json_out_open(o, "usage", '{');
    json_out_int(o, "prompt_tokens", (int64_t)prompt);
    json_out_int(o, "completion_tokens", (int64_t)completion);
    json_out_int(o, "total_tokens", (int64_t)(prompt + completion));
    json_out_open(o, "prompt_tokens_details", '{');
    json_out_int(o, "cached_tokens", (int64_t)cached);
    json_out_close(o, '}');
    json_out_close(o, '}');
}
