/* Functions that a request offers, and calls of them in earlier turns. */
#include <stdio.h>
#include <string.h>

#include "server/openai/openai.h"

enum { MAX_NAME = 64, MAX_CALLS = 128, MAX_ARGUMENTS = 1 << 20 };

/* Names go between quotes and tags: in letters that mean nothing there. */
static const char *read_name(json_in *in) {
    const char *name = json_in_string(in, "name", NULL, 1, MAX_NAME);
    char path[64];
    if (json_in_failed(in)) return NULL;
    json_in_path(in, "name", path);
    if (name && strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.") ==
                    strlen(name))
        return name;
    fo_fail_field(in->err, FO_EINVAL, path, "%s must be made of A-Z a-z 0-9 _ - and .", path);
    return NULL;
}

static void read_type(json_in *in) {
    static const char *const types[] = {"function", NULL};
    json_in_enum(in, "type", 0, types);
}

static const char *read_tool(json_in *in, const cJSON *item, int i) {
    char path[64];
    json_in tool, function;
    snprintf(path, sizeof path, "tools[%d]", i);
    json_in_object(&tool, item, path, in->err);
    read_type(&tool);
    json_in_child(&function, &tool, "function");
    const char *name = read_name(&function);
    json_in_string(&function, "description", NULL, 0, 65536);
    json_in_bool(&function, "strict", false);
    json_in_any(&function, "parameters"); /* a schema: read where it is compiled */
    json_in_end(&function);
    json_in_end(&tool);
    return name;
}

/* none, auto, required, or {"type":"function","function":{"name":...}}. */
static void read_choice(openai_tools *out, json_in *in, bool *none) {
    static const char *const words[] = {"auto", "none", "required", NULL};
    const cJSON *choice = json_in_any(in, "tool_choice");
    if (!choice || json_in_failed(in)) return;
    if (cJSON_IsString(choice)) {
        int word = json_in_enum(in, "tool_choice", 0, words);
        *none = word == 1;
        out->required = word == 2;
        return;
    }
    json_in one, function;
    json_in_child(&one, in, "tool_choice");
    read_type(&one);
    json_in_child(&function, &one, "function");
    out->only = read_name(&function);
    out->required = true;
    json_in_end(&function);
    json_in_end(&one);
}

void openai_tools_read(openai_tools *out, json_in *in) {
    const cJSON *list = json_in_array(in, "tools", OPENAI_MAX_TOOLS), *item;
    bool none = false, found = false;
    int i = 0;
    cJSON_ArrayForEach(item, list) {
        const char *name = json_in_failed(in) ? NULL : read_tool(in, item, i++);
        const cJSON *other = list->child;
        for (int k = 0; name && k + 1 < i; k++, other = other->next) {
            const cJSON *f = cJSON_GetObjectItemCaseSensitive(other, "function");
            const char *earlier = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(f, "name"));
            if (earlier && !strcmp(earlier, name))
                fo_fail_field(in->err, FO_EINVAL, "tools", "tools names '%s' twice", name);
        }
    }
    read_choice(out, in, &none);
    out->one = !json_in_bool(in, "parallel_tool_calls", true);
    if (json_in_failed(in)) return;
    if (!list || !list->child) {
        if (out->required)
            fo_fail_field(in->err, FO_EINVAL, "tool_choice", "tool_choice needs tools");
        return;
    }
    cJSON_ArrayForEach(item, list) {
        const cJSON *f = cJSON_GetObjectItemCaseSensitive(item, "function");
        const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(f, "name"));
        found |= out->only && !strcmp(name, out->only);
    }
    if (out->only && !found) {
        fo_fail_field(in->err, FO_EINVAL, "tool_choice", "tool_choice: there is no tool '%s'",
                      out->only);
        return;
    }
    if (!none) out->list = list;
}

/* One call as templates print it. */
static cJSON *read_call(json_in *m, const cJSON *item, int i) {
    char path[64], at[80];
    json_in call, function;
    json_in_path(m, "tool_calls", path);
    snprintf(at, sizeof at, "%s[%d]", path, i);
    json_in_object(&call, item, at, m->err);
    read_type(&call);
    const char *id = json_in_string(&call, "id", NULL, 0, 256);
    json_in_any(&call, "index"); /* of a chunk, where a client joined them */
    json_in_child(&function, &call, "function");
    const char *name = read_name(&function);
    const char *arguments = json_in_string(&function, "arguments", "{}", 0, MAX_ARGUMENTS);
    json_in_end(&function);
    json_in_end(&call);
    if (json_in_failed(m)) return NULL;
    cJSON *parsed = NULL;
    fo_err why = {0};
    if (json_parse(*arguments ? arguments : "{}", *arguments ? strlen(arguments) : 2, &parsed,
                   &why)) {
        json_in_path(&function, "arguments", path);
        fo_fail_field(m->err, FO_EINVAL, path, "%s must hold JSON: %.200s", path, why.msg);
        return NULL;
    }
    cJSON *out = cJSON_CreateObject(), *f = cJSON_AddObjectToObject(out, "function");
    if (id) cJSON_AddStringToObject(out, "id", id);
    cJSON_AddStringToObject(out, "type", "function");
    cJSON_AddStringToObject(f, "name", name);
    cJSON_AddItemToObject(f, "arguments", parsed);
    return out;
}

cJSON *openai_tool_calls_read(json_in *m) {
    const cJSON *list = json_in_array(m, "tool_calls", MAX_CALLS), *item;
    if (!list || !list->child || json_in_failed(m)) return NULL;
    cJSON *out = cJSON_CreateArray();
    int i = 0;
    cJSON_ArrayForEach(item, list) {
        cJSON *call = json_in_failed(m) ? NULL : read_call(m, item, i++);
        if (call) cJSON_AddItemToArray(out, call);
    }
    return out;
}
