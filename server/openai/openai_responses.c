#include "server/openai/openai_responses.h"
#include "kernels/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ITEMS = 4096 };

static cJSON *add_message(cJSON *list, const char *role) {
    cJSON *m = cJSON_CreateObject();
    cJSON_AddStringToObject(m, "role", role);
    cJSON_AddItemToArray(list, m);
    return m;
}

/* ---- input ----------------------------------------------------------------------------------- */

/* Items of an answer come back with every field that the client knows of, most of them null. */
static void pass_nulls(json_in *in) {
    const cJSON *field;
    int n = 0;
    cJSON_ArrayForEach(field, in->object) if (cJSON_IsNull(field) && n++ < 32)
        json_in_any(in, field->string);
}

/* A content as chat has it: input_text and output_text are text there, and so is a refusal. */
static void add_content(cJSON *m, json_in *in, const char *key) {
    static const char *const types[] = {"input_text", "output_text", "text", "refusal", NULL};
    const cJSON *content = json_in_any(in, key), *item;
    char path[64];
    json_in_path(in, key, path);
    if (cJSON_IsString(content)) {
        cJSON_AddStringToObject(m, "content", content->valuestring);
        return;
    }
    if (!cJSON_IsArray(content)) {
        if (!json_in_failed(in))
            fo_fail_field(in->err, FO_EINVAL, path, "%s must be a string or an array of texts",
                          path);
        return;
    }
    cJSON *parts = cJSON_AddArrayToObject(m, "content");
    int i = 0;
    cJSON_ArrayForEach(item, content) {
        json_in part;
        char at[96];
        snprintf(at, sizeof at, "%s[%d]", path, i++);
        json_in_object(&part, item, at, in->err);
        pass_nulls(&part);
        const char *said = json_in_enum(&part, "type", 0, types) == 3 ? "refusal" : "text";
        const char *text = json_in_string(&part, said, NULL, 0, SIZE_MAX);
        json_in_any(&part, "annotations"); /* of an answer that comes back */
        json_in_any(&part, "logprobs");
        if (json_in_end(&part) || !text) {
            if (!json_in_failed(in))
                fo_fail_field(in->err, FO_EINVAL, at, "%s.%s is missing", at, said);
            return;
        }
        cJSON *to = cJSON_CreateObject();
        cJSON_AddStringToObject(to, "type", "text");
        cJSON_AddStringToObject(to, "text", text);
        cJSON_AddItemToArray(parts, to);
    }
}

/* Calls in a row are one message. */
static void add_call(cJSON *messages, json_in *in) {
    int n = cJSON_GetArraySize(messages);
    cJSON *m = n ? cJSON_GetArrayItem(messages, n - 1) : NULL;
    cJSON *calls = m ? cJSON_GetObjectItemCaseSensitive(m, "tool_calls") : NULL;
    if (!calls) calls = cJSON_AddArrayToObject(add_message(messages, "assistant"), "tool_calls");
    cJSON *call = cJSON_CreateObject(), *f = cJSON_AddObjectToObject(call, "function");
    const char *id = json_in_string(in, "call_id", NULL, 0, 256);
    const char *name = json_in_string(in, "name", "", 1, 64);
    const char *arguments = json_in_string(in, "arguments", "{}", 0, SIZE_MAX);
    json_in_string(in, "id", NULL, 0, 256);
    json_in_string(in, "status", NULL, 0, 64);
    if (id) cJSON_AddStringToObject(call, "id", id);
    cJSON_AddStringToObject(f, "name", name);
    cJSON_AddStringToObject(f, "arguments", arguments);
    cJSON_AddItemToArray(calls, call);
}

static void add_item(cJSON *messages, const cJSON *item, int i, fo_err *err) {
    static const char *const types[] = {"message", "function_call", "function_call_output", NULL};
    static const char *const roles[] = {"user", "assistant", "system", "developer", NULL};
    char path[64];
    json_in in;
    snprintf(path, sizeof path, "input[%d]", i);
    json_in_object(&in, item, path, err);
    pass_nulls(&in);
    int type = json_in_enum(&in, "type", 0, types);
    if (type == 0) {
        int role = json_in_enum(&in, "role", 0, roles);
        json_in_string(&in, "id", NULL, 0, 256);
        json_in_string(&in, "status", NULL, 0, 64);
        add_content(add_message(messages, roles[role]), &in, "content");
    } else if (type == 1) {
        add_call(messages, &in);
    } else {
        cJSON *m = add_message(messages, "tool");
        const char *id = json_in_string(&in, "call_id", NULL, 0, 256);
        json_in_string(&in, "id", NULL, 0, 256);
        json_in_string(&in, "status", NULL, 0, 64);
        if (id) cJSON_AddStringToObject(m, "tool_call_id", id);
        add_content(m, &in, "output");
    }
    json_in_end(&in);
}

static void add_input(cJSON *out, json_in *in) {
    const char *instructions = json_in_string(in, "instructions", NULL, 0, SIZE_MAX);
    const cJSON *input = json_in_any(in, "input"), *item;
    cJSON *messages = cJSON_AddArrayToObject(out, "messages");
    int i = 0;
    if (instructions)
        cJSON_AddStringToObject(add_message(messages, "system"), "content", instructions);
    if (cJSON_IsString(input)) {
        cJSON_AddStringToObject(add_message(messages, "user"), "content", input->valuestring);
    } else if (cJSON_IsArray(input) && cJSON_GetArraySize(input) <= MAX_ITEMS) {
        cJSON_ArrayForEach(item, input) if (!json_in_failed(in))
            add_item(messages, item, i++, in->err);
    } else if (!json_in_failed(in)) {
        fo_fail_field(in->err, FO_EINVAL, "input",
                      "input must be a string or an array of at most %d items", MAX_ITEMS);
    }
}

/* ---- the other fields ------------------------------------------------------------------------ */

/* {"type":"function","name":..,...} here, {"type":"function","function":{...}} there. */
static cJSON *nested(const cJSON *flat) {
    if (!cJSON_IsObject(flat)) return cJSON_Duplicate(flat, true);
    cJSON *out = cJSON_CreateObject(), *f = cJSON_Duplicate(flat, true);
    cJSON *type = cJSON_DetachItemFromObjectCaseSensitive(f, "type");
    if (type) cJSON_AddItemToObject(out, "type", type);
    cJSON_AddItemToObject(out, "function", f);
    return out;
}

static void add_tools(cJSON *out, json_in *in) {
    const cJSON *tools = json_in_any(in, "tools"), *choice = json_in_any(in, "tool_choice"), *item;
    if (cJSON_IsArray(tools)) {
        cJSON *list = cJSON_AddArrayToObject(out, "tools");
        cJSON_ArrayForEach(item, tools) {
            cJSON_AddItemToArray(list, nested(item));
        }
    } else if (tools) {
        cJSON_AddItemToObject(out, "tools", cJSON_Duplicate(tools, true));
    }
    if (choice) cJSON_AddItemToObject(out, "tool_choice", nested(choice));
}

static void add_format(cJSON *out, json_in *in) {
    json_in text;
    json_in_child(&text, in, "text");
    const cJSON *format = json_in_any(&text, "format"),
                *verbosity = json_in_any(&text, "verbosity");
    if (verbosity) cJSON_AddItemToObject(out, "verbosity", cJSON_Duplicate(verbosity, true));
    json_in_end(&text);
    if (!format) return;
    cJSON *own = cJSON_Duplicate(format, true);
    cJSON *type = cJSON_IsObject(own) ? cJSON_GetObjectItemCaseSensitive(own, "type") : NULL;
    if (cJSON_IsString(type) && !strcmp(type->valuestring, "json_schema")) {
        cJSON *outer = cJSON_CreateObject();
        cJSON_AddItemToObject(outer, "type", cJSON_DetachItemFromObjectCaseSensitive(own, "type"));
        cJSON_AddItemToObject(outer, "json_schema", own);
        own = outer;
    }
    cJSON_AddItemToObject(out, "response_format", own);
}

/* Nothing is kept, looked up or done later: what asks for that is refused. */
static void refuse_state(json_in *in) {
    static const char *const fields[] = {"previous_response_id", "conversation", "prompt",
                                         "max_tool_calls", "reasoning"};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (json_in_any(in, fields[i]) && !json_in_failed(in))
            fo_fail_field(in->err, FO_EUNSUPPORTED, fields[i],
                          "%s is not supported: responses are not kept, and models here do not "
                          "reason aside",
                          fields[i]);
    const cJSON *include = json_in_any(in, "include"), *background = json_in_any(in, "background");
    if (include && (!cJSON_IsArray(include) || include->child) && !json_in_failed(in))
        fo_fail_field(in->err, FO_EUNSUPPORTED, "include", "include is not supported");
    if (background && !cJSON_IsFalse(background) && !json_in_failed(in))
        fo_fail_field(in->err, FO_EUNSUPPORTED, "background", "background is not supported");
    static const char *const ways[] = {"disabled", NULL};
    json_in_enum(in, "truncation", 0, ways);
}

static void add_rest(cJSON *out, json_in *in) {
    static const char *const same[] = {"model",
                                       "temperature",
                                       "top_p",
                                       "stream",
                                       "user",
                                       "metadata",
                                       "store",
                                       "parallel_tool_calls",
                                       "service_tier",
                                       "safety_identifier",
                                       "prompt_cache_key",
                                       "prompt_cache_retention",
                                       "seed",
                                       "stop",
                                       "stop_token_ids",
                                       "top_k",
                                       "min_p",
                                       "logit_bias",
                                       "presence_penalty",
                                       "frequency_penalty",
                                       "repetition_penalty",
                                       "priority",
                                       "kv_reuse",
                                       "lookup",
                                       "diffusion",
                                       "sparse",
                                       "timeout_ms"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        const cJSON *v = json_in_any(in, same[i]);
        if (v) cJSON_AddItemToObject(out, same[i], cJSON_Duplicate(v, true));
    }
    const cJSON *most = json_in_any(in, "max_output_tokens");
    if (most) cJSON_AddItemToObject(out, "max_completion_tokens", cJSON_Duplicate(most, true));
    json_in_int(in, "top_logprobs", 0, 0, 0);
    json_in options;
    json_in_child(&options, in, "stream_options");
    openai_obfuscation_read(&options);
    json_in_end(&options);
}

int openai_responses_translate(const char *body, size_t len, char **text, cJSON **given,
                               fo_err *err) {
    cJSON *root = NULL, *out = cJSON_CreateObject();
    fo_err local = {0};
    json_in in;
    *text = NULL;
    *given = NULL;
    if (!json_parse(body, len, &root, &local)) {
        json_in_object(&in, root, "", &local);
        if (!in.object && !local.code) fo_fail(&local, FO_EINVAL, "the body must be an object");
    }
    if (!local.code) {
        add_input(out, &in);
        add_tools(out, &in);
        add_format(out, &in);
        refuse_state(&in);
        add_rest(out, &in);
        json_in_end(&in);
    }
    if (!local.code && !(*text = json_tree_text(out))) fo_no_memory(&local);
    cJSON_Delete(out);
    if (local.code)
        *err = local, cJSON_Delete(root);
    else
        *given = root;
    return local.code;
}

/* ---- names in errors --------------------------------------------------------------------------- */

/* The item that became the call of that number in the message of that number: calls in a row are one message. */
static int find_item(const cJSON *input, int message, int call) {
    const cJSON *item;
    bool in_calls = false;
    int at = -1, i = 0, nth = 0;
    cJSON_ArrayForEach(item, input) {
        const char *type = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "type"));
        const bool is_call = type && !strcmp(type, "function_call");
        nth = is_call && in_calls ? nth + 1 : 0;
        at += !nth;
        in_calls = is_call;
        if (at == message && nth == call) return i;
        i++;
    }
    return 0;
}

/* "[12]" at *p, which is then what follows; -1: there is none. */
static int read_index(const char **p) {
    char *end;
    const char *digits = *p + 1;
    if (**p != '[') return -1;
    const long n = strtol(digits, &end, 10);
    if (end == digits || *end != ']' || n < 0 || n > MAX_ITEMS) return -1;
    *p = end + 1;
    return (int)n;
}

static bool skip(const char **p, const char *word) {
    const size_t n = strlen(word);
    if (strncmp(*p, word, n) != 0) return false;
    *p += n;
    return true;
}

/* "messages[2].tool_calls[1].function.name" is "input[4].name". path is what follows "messages". */
static void name_message(const cJSON *given, const char *path, char out[64]) {
    const cJSON *input = cJSON_GetObjectItemCaseSensitive(given, "input");
    const bool told = cJSON_IsString(cJSON_GetObjectItemCaseSensitive(given, "instructions"));
    int message = read_index(&path), call = 0;
    if (message < told || !cJSON_IsArray(input)) {
        snprintf(out, 64, "%s", told && message == 0 ? "instructions" : "input");
        return;
    }
    if (skip(&path, ".tool_calls")) {
        call = read_index(&path);
        if (call < 0) call = 0;
        skip(&path, ".function");
    }
    if (!strcmp(path, ".id") || !strcmp(path, ".tool_call_id")) path = ".call_id";
    fo_utf8_print(out, 64, "input[%d]%.40s", find_item(input, message - told, call), path);
}

/* A path of the chat's body as one of this one's. */
static void name_path(const cJSON *given, const char *path, char out[64]) {
    static const char *const names[][2] = {{"max_completion_tokens", "max_output_tokens"},
                                           {"response_format.json_schema", "text.format"},
                                           {"response_format", "text.format"},
                                           {"tool_choice.function", "tool_choice"}};
    static const char messages[] = "messages", nested[] = "].function";
    const char *function = strstr(path, nested);
    if (!strncmp(path, messages, sizeof messages - 1)) {
        name_message(given, path + sizeof messages - 1, out);
        return;
    }
    if (!strncmp(path, "tools[", 6) && function) {
        fo_utf8_print(out, 64, "%.*s%s", (int)(function + 1 - path), path,
                      function + sizeof nested - 1);
        return;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t n = strlen(names[i][0]);
        if (strncmp(path, names[i][0], n) != 0) continue;
        fo_utf8_print(out, 64, "%.20s%.40s", names[i][1], path + n);
        return;
    }
    fo_utf8_print(out, 64, "%s", path);
}

void openai_responses_name(const cJSON *given, fo_err *err) {
    char path[64], name[64], told[64], said[sizeof err->msg];
    const size_t n = strcspn(err->msg, " :");
    name_path(given, err->field, name);
    if (n && n < sizeof path &&
        *err->field) { /* sentences begin with the field, or one within it */
        snprintf(path, sizeof path, "%.*s", (int)n, err->msg);
        snprintf(said, sizeof said, "%s", err->msg + n);
        name_path(given, path, told);
        fo_utf8_print(err->msg, sizeof err->msg, "%s%s", told, said);
    }
    snprintf(err->field, sizeof err->field, "%s", name);
}
