#include "server/completions/tool_prompt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const cJSON *get(const cJSON *o, const char *key) {
    return cJSON_GetObjectItemCaseSensitive(o, key);
}

/* ---- the prompt ------------------------------------------------------------------------------ */

bool tool_prompt_native(const char *template, size_t len) {
    return template && memmem(template, len, "tools", 5) &&
           memmem(template, len, "<tool_call>", 11) && memmem(template, len, "arguments", 9);
}

static void describe_tools(const cJSON *tools, fo_buf *out) {
    const cJSON *tool;
    fo_buf_str(out,
               "You may call functions. Their signatures are within <tools></tools>:\n<tools>");
    cJSON_ArrayForEach(tool, tools) {
        char *text = json_tree_text(tool);
        fo_buf_printf(out, "\n%s", text ? text : "");
        free(text);
    }
    fo_buf_str(out, "\n</tools>\n\nTo call one, write its name and arguments as JSON within "
                    "<tool_call></tool_call>:\n" TOOL_OPEN
                    "{\"name\": <name>, \"arguments\": <object>}" TOOL_CLOSE);
}

/* What was said, with the calls that were made. */
static void write_turn(const cJSON *m, fo_buf *out) {
    const char *role = cJSON_GetStringValue(get(m, "role"));
    const char *text = cJSON_GetStringValue(get(m, "content"));
    const cJSON *call;
    bool result = !strcmp(role, "tool");
    fo_buf_printf(out, result ? "<tool_response>\n%s\n</tool_response>" : "%s", text);
    cJSON_ArrayForEach(call, get(m, "tool_calls")) {
        const cJSON *f = get(call, "function");
        const cJSON *given = get(f, "arguments");
        char *arguments = given ? json_tree_text(given) : NULL;
        fo_buf_printf(out, "%s" TOOL_OPEN "{\"name\": \"%s\", \"arguments\": %s}" TOOL_CLOSE,
                      out->len ? "\n" : "", cJSON_GetStringValue(get(f, "name")),
                      arguments ? arguments : "{}");
        free(arguments);
    }
}

static bool add_turn(cJSON *list, const char *role, fo_buf *text) {
    cJSON *m = cJSON_CreateObject();
    bool ok = m && !text->failed && cJSON_AddStringToObject(m, "role", role) &&
              cJSON_AddStringToObject(m, "content", text->data ? text->data : "");
    fo_buf_clear(text);
    return cJSON_AddItemToArray(list, m) && ok;
}

cJSON *tool_prompt_messages(const cJSON *messages, const cJSON *tools) {
    cJSON *list = cJSON_CreateArray();
    fo_buf text = {0};
    const cJSON *m = messages->child;
    bool ok = list != NULL;
    bool system = m && !strcmp(cJSON_GetStringValue(get(m, "role")), "system");
    if (system) {
        fo_buf_printf(&text, "%s\n\n", cJSON_GetStringValue(get(m, "content")));
        m = m->next;
    }
    if (tools) {
        describe_tools(tools, &text);
        ok = ok && add_turn(list, "system", &text);
    } else if (system) {
        text.len -= 2;
        text.data[text.len] = 0;
        ok = ok && add_turn(list, "system", &text);
    }
    for (; ok && m; m = m->next) {
        const char *role = cJSON_GetStringValue(get(m, "role"));
        write_turn(m, &text);
        bool results = !strcmp(role, "tool");
        while (results && m->next && !strcmp(cJSON_GetStringValue(get(m->next, "role")), "tool")) {
            m = m->next; /* results of one turn are one turn */
            fo_buf_char(&text, '\n');
            write_turn(m, &text);
        }
        ok = add_turn(list, results ? "user" : role, &text);
    }
    fo_buf_free(&text);
    if (ok) return list;
    cJSON_Delete(list);
    return NULL;
}

/* ---- the rule -------------------------------------------------------------------------------- */

static int compile_format(const openai_call *c, json_schema **out, fo_err *err) {
    static const char field[] = "response_format.json_schema.schema";
    if (!c->schema) return json_schema_any_object(out, err);
    fo_err why = {0};
    int rc = json_schema_compile(out, c->schema, &why);
    return rc ? fo_fail_field(err, rc, field, "%s: %s", field, why.msg) : FO_OK;
}

/* References of a schema that stands at `place` now. */
static bool move_references(cJSON *schema, const char *place) {
    cJSON *item;
    bool ok = true;
    cJSON_ArrayForEach(item, schema) {
        if (item->string && !strcmp(item->string, "$ref") && cJSON_IsString(item) &&
            item->valuestring[0] == '#') {
            fo_buf b = {0};
            fo_buf_printf(&b, "#%s%s", place, item->valuestring + 1);
            ok = ok && !b.failed && cJSON_SetValuestring(item, b.data);
            fo_buf_free(&b);
        } else {
            ok = move_references(item, place) && ok;
        }
    }
    return ok;
}

static int try_schema(const cJSON *schema, size_t *effort, fo_err *err) {
    json_schema *tried = NULL;
    int rc = json_schema_compile_next(&tried, schema, effort, err);
    json_schema_free(tried);
    return rc;
}

static bool is_for_objects(const cJSON *schema) {
    const char *type = cJSON_GetStringValue(get(schema, "type"));
    return type && !strcmp(type, "object");
}

/* What of `own` is an object: arguments are one, whatever else a schema without a type or for null lets pass. In an
 * allOf, not by its own type: #, where it refers to itself, may still be what it was. NULL: no memory. */
static cJSON *objects_of(const cJSON *own) {
    cJSON *copy = cJSON_Duplicate(own, true);
    if (is_for_objects(own)) return copy;
    cJSON *all = cJSON_Parse("{\"type\":\"object\"}"), *list = cJSON_AddArrayToObject(all, "allOf");
    if (!cJSON_AddItemToArray(list, copy))
        cJSON_Delete(copy);
    else if (move_references(copy, "/allOf/0"))
        return all;
    cJSON_Delete(all);
    return NULL;
}

/* *out: `own` for objects; NULL where it is not supported and need not be kept to. */
static int bind_arguments(const cJSON *own, bool strict, size_t *effort, cJSON **out, fo_err *err) {
    *out = NULL;
    int rc = try_schema(own, effort, err);
    if (rc == FO_EUNSUPPORTED && !strict) return FO_OK;
    if (rc) return rc;
    if (!(*out = objects_of(own))) return fo_no_memory(err);
    if (is_for_objects(own) || (rc = try_schema(*out, effort, err)) == FO_OK) return FO_OK;
    cJSON_Delete(*out);
    *out = NULL;
    return rc == FO_EINVAL ? fo_fail(err, rc, "#: no object satisfies this schema") : rc;
}

/* The schema of a tool's arguments; NULL with *err set. effort: of all tools. */
static cJSON *arguments_of(const cJSON *tool, int i, int place, size_t *effort, fo_err *err) {
    const cJSON *f = get(tool, "function"), *own = get(f, "parameters");
    char at[80];
    cJSON *copy = NULL;
    if (own && !cJSON_IsNull(own)) {
        fo_err why = {0};
        int rc = bind_arguments(own, cJSON_IsTrue(get(f, "strict")), effort, &copy, &why);
        if (rc) {
            snprintf(at, sizeof at, "tools[%d].function.parameters", i);
            fo_fail_field(err, rc, at, "%s: %s", at, why.msg);
            return NULL;
        }
    }
    if (!copy) copy = cJSON_Parse("{\"type\":\"object\"}");
    snprintf(at, sizeof at, "/anyOf/%d/properties/arguments", place);
    if (copy && move_references(copy, at)) return copy;
    cJSON_Delete(copy);
    fo_no_memory(err);
    return NULL;
}

static cJSON *call_schema(const char *name, cJSON *arguments) {
    cJSON *one = cJSON_CreateObject(), *p = cJSON_AddObjectToObject(one, "properties");
    cJSON *fixed = cJSON_AddObjectToObject(p, "name");
    static const char *const both[] = {"name", "arguments"};
    cJSON_AddStringToObject(one, "type", "object");
    cJSON_AddStringToObject(fixed, "const", name);
    cJSON_AddItemToObject(p, "arguments", arguments);
    cJSON_AddItemToObject(one, "required", cJSON_CreateStringArray(both, 2));
    cJSON_AddFalseToObject(one, "additionalProperties");
    return one;
}

static int compile_tools(const openai_tools *t, json_schema **out, fo_err *err) {
    cJSON *root = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(root, "anyOf");
    const cJSON *tool;
    size_t effort = 0;
    int rc = FO_OK, i = 0, place = 0;
    cJSON_ArrayForEach(tool, t->list) {
        const char *name = cJSON_GetStringValue(get(get(tool, "function"), "name"));
        if (!rc && (!t->only || !strcmp(t->only, name))) {
            cJSON *arguments = arguments_of(tool, i, place++, &effort, err);
            if (!arguments)
                rc = err->code;
            else
                cJSON_AddItemToArray(list, call_schema(name, arguments));
        }
        i++;
    }
    fo_err why = {0};
    if (!rc && (rc = json_schema_compile_next(out, root, &effort, &why)))
        fo_fail_field(err, rc, "tools", "tools: %s", why.msg);
    cJSON_Delete(root);
    return rc;
}

int tool_prompt_rule(const openai_call *c, answer_rule *rule, json_schema **schema, fo_err *err) {
    *rule = (answer_rule){0};
    *schema = NULL;
    if (!c->json && !c->tools.list) return FO_OK;
    int rc = c->json ? compile_format(c, schema, err) : compile_tools(&c->tools, schema, err);
    if (rc) return rc;
    rule->schema = *schema;
    if (c->json) return FO_OK;
    rule->open = TOOL_OPEN;
    rule->close = TOOL_CLOSE;
    rule->required = c->tools.required;
    rule->repeats = !c->tools.one;
    return FO_OK;
}
