#include "engine/chat/chat_template.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "engine/chat/jinja.h"

/* Real templates: under 20 KiB, 20 levels, some 10^4 steps, a prompt of some 100 KiB. */
enum {
    MAX_TEMPLATE = 1 << 20,
    MAX_OUTPUT = 32 << 20,
    MAX_DEPTH = 250, /* of nested calls of eval and run: some 100 KiB of stack */
};
/* A fuzzer finds what reaches the bounds, and behind them nothing more. */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
#define MAX_MEMORY ((size_t)8 << 20)
#define MAX_STEPS  100000u
#else
#define MAX_MEMORY ((size_t)192 << 20)
#define MAX_STEPS  4000000u
#endif

struct chat_template {
    jinja parser; /* owns the tree's memory */
    jtemplate tree;
};

int chat_template_parse(chat_template **out, const char *text, size_t len, fo_err *err) {
    if (len > MAX_TEMPLATE)
        return fo_fail(err, FO_ELIMIT, "chat template of %zu bytes; the limit is 1 MiB", len);
    chat_template *t = calloc(1, sizeof *t);
    if (!t) return fo_fail(err, FO_ENOMEM, "chat template: out of memory");
    fo_err own = {0};
    t->parser = (jinja){
        .max_bytes = MAX_MEMORY, .max_steps = 10 * MAX_STEPS, .max_depth = MAX_DEPTH, .err = &own};
    if (!jinja_parse(&t->parser, text, len, &t->tree)) {
        int rc = t->parser.failed;
        chat_template_free(t);
        return fo_fail(err, rc, "chat %s", own.msg);
    }
    t->parser.err = NULL;
    *out = t;
    return FO_OK;
}

void chat_template_free(chat_template *t) {
    if (!t) return;
    jinja_deinit(&t->parser);
    free(t);
}

/* ---- variables ---- */

/* What the template never names need not be set. */
static void set(jinja *c, jscope *s, const chat_template *t, const char *name, jval v) {
    for (size_t i = 0; i < t->tree.n_names && !c->failed; i++)
        if (j_is(t->tree.names[i], name)) jscope_set(c, s, (uint32_t)i, v);
}

static void set_text(jinja *c, jscope *s, const chat_template *t, const char *name,
                     const char *text) {
    text = text ? text : "";
    set(c, s, t, name, j_string(c, text, strlen(text)));
}

static void set_all(jinja *c, jscope *s, const chat_template *t, const chat_template_input *in,
                    const cJSON *messages) {
    static const struct {
        const char *name;
        int64_t function;
    } functions[] = {{"range", F_RANGE},
                     {"namespace", F_NAMESPACE},
                     {"dict", F_DICT},
                     {"raise_exception", F_RAISE},
                     {"strftime_now", F_STRFTIME}};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        set(c, s, t, functions[i].name, (jval){.type = J_FUNCTION, .i = functions[i].function});
    set(c, s, t, "messages", j_from_json(c, messages));
    if (in->tools) set(c, s, t, "tools", j_from_json(c, in->tools));
    set(c, s, t, "add_generation_prompt", j_bool(in->add_generation_prompt));
    set(c, s, t, "enable_thinking", j_bool(true));
    set_text(c, s, t, "bos_token", in->bos);
    set_text(c, s, t, "eos_token", in->eos);
    for (const cJSON *v = in->extra ? in->extra->child : NULL; v && !c->failed; v = v->next)
        if (v->string && strcmp(v->string, "messages") != 0 && strcmp(v->string, "tools") != 0)
            set(c, s, t, v->string, j_from_json(c, v));
}

static int render(const chat_template *t, const chat_template_input *in, const cJSON *messages,
                  fo_buf *out, bool *raised, fo_err *err) {
    fo_err own = {0};
    jinja c = {.max_bytes = MAX_MEMORY,
               .max_steps = MAX_STEPS,
               .max_depth = MAX_DEPTH,
               .max_out = MAX_OUTPUT,
               .err = &own,
               .out = out,
               .year = in->year,
               .month = in->month,
               .day = in->day};
    size_t before = out->len;
    jscope globals = {0};
    set_all(&c, &globals, t, in, messages);
    if (!c.failed) jinja_run(&c, &t->tree, &globals);
    jinja_deinit(&c);
    *raised = c.raised;
    if (!c.failed) return FO_OK;
    out->len = before;
    if (out->data) out->data[before] = 0;
    return fo_fail(err, c.failed, "chat %s", own.msg);
}

/* ---- system messages that a template cannot take ---- */

static const char *text_of(const cJSON *message, const char *key) {
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(message, key));
}

static bool has_role(const cJSON *message, const char *role) {
    const char *own = text_of(message, "role");
    return own && strcmp(own, role) == 0;
}

/* Is the system text, without the white space that templates trim, anywhere in the prompt? */
static bool shows(const char *prompt, size_t n, const char *text) {
    size_t len = strlen(text);
    while (len && strchr(" \t\r\n", *text)) text++, len--;
    while (len && strchr(" \t\r\n", text[len - 1])) len--;
    return !len || (n && memmem(prompt, n, text, len));
}

/* A copy of the messages with the leading system message inside the first user message. NULL
 * where that cannot be done. */
static cJSON *merge_system(const cJSON *messages) {
    const cJSON *first = messages ? messages->child : NULL, *user = first ? first->next : NULL;
    const char *system = first && has_role(first, "system") ? text_of(first, "content") : NULL;
    const char *text = user && has_role(user, "user") ? text_of(user, "content") : NULL;
    if (!system || !text) return NULL;
    fo_buf both = {0};
    fo_buf_str(&both, system);
    fo_buf_char(&both, '\n');
    fo_buf_str(&both, text);
    cJSON *copy = both.failed ? NULL : cJSON_Duplicate(messages, true);
    if (copy) {
        cJSON_DeleteItemFromArray(copy, 0);
        cJSON *content = cJSON_CreateString(both.data);
        if (!content || !cJSON_ReplaceItemInObjectCaseSensitive(copy->child, "content", content)) {
            cJSON_Delete(content);
            cJSON_Delete(copy);
            copy = NULL;
        }
    }
    fo_buf_free(&both);
    return copy;
}

int chat_template_render(const chat_template *t, const chat_template_input *in, fo_buf *out,
                         fo_err *err) {
    if (!cJSON_IsArray(in->messages))
        return fo_fail_field(err, FO_EINVAL, "messages", "messages is not an array");
    size_t before = out->len;
    bool raised, again;
    int rc = render(t, in, in->messages, out, &raised, err);
    const cJSON *first = in->messages->child;
    const char *system = first && has_role(first, "system") ? text_of(first, "content") : NULL;
    bool lost = !rc && system && out->data && !shows(out->data + before, out->len - before, system);
    if (!(rc && raised && system) && !lost) return rc;
    cJSON *merged = merge_system(in->messages);
    if (!merged) return rc;
    fo_buf other = {0};
    fo_err why = {0};
    if (!render(t, in, merged, &other, &again, &why)) {
        out->len = before;
        fo_buf_add(out, other.data, other.len);
        rc = out->failed ? fo_fail(err, FO_ENOMEM, "chat template: out of memory") : FO_OK;
        if (!rc && err) *err = (fo_err){0};
    }
    fo_buf_free(&other);
    cJSON_Delete(merged);
    return rc;
}

/* ---- ChatML ---- */

static int chatml_content(const cJSON *content, int index, fo_buf *out, fo_err *err) {
    if (cJSON_IsString(content)) {
        fo_buf_str(out, content->valuestring);
        return FO_OK;
    }
    if (!content || cJSON_IsNull(content)) return FO_OK;
    if (!cJSON_IsArray(content))
        return fo_fail_field(err, FO_EINVAL, "messages",
                             "messages[%d].content is neither a string nor an array", index);
    const cJSON *part;
    cJSON_ArrayForEach(part, content) {
        const char *text = text_of(part, "text");
        if (text) fo_buf_str(out, text);
    }
    return FO_OK;
}

/* <|im_start|>role\ncontent<|im_end|>\n for every message. FO_EINVAL, FO_ENOMEM. */
static int render_chatml(const chat_template_input *in, fo_buf *out, fo_err *err) {
    if (!cJSON_IsArray(in->messages))
        return fo_fail_field(err, FO_EINVAL, "messages", "messages is not an array");
    size_t before = out->len;
    const cJSON *message;
    int index = 0, rc = FO_OK;
    cJSON_ArrayForEach(message, in->messages) {
        const char *role = text_of(message, "role");
        if (!role)
            rc = fo_fail_field(err, FO_EINVAL, "messages", "messages[%d] has no role", index);
        if (rc) break;
        fo_buf_printf(out, "<|im_start|>%s\n", role);
        rc =
            chatml_content(cJSON_GetObjectItemCaseSensitive(message, "content"), index++, out, err);
        fo_buf_str(out, "<|im_end|>\n");
    }
    if (in->add_generation_prompt) fo_buf_str(out, "<|im_start|>assistant\n");
    if (!rc && out->failed) rc = fo_fail(err, FO_ENOMEM, "chat template: out of memory");
    if (rc && out->data) {
        out->len = before;
        out->data[before] = 0;
    }
    return rc;
}

int chat_template_render_or_chatml(const chat_template *t, const chat_template_input *in,
                                   fo_buf *out, bool *fell_back, fo_err *why, fo_err *err) {
    fo_err unasked = {0};
    if (!why) why = &unasked;
    *fell_back = false;
    int rc = t ? chat_template_render(t, in, out, why)
               : fo_fail(why, FO_ENOTFOUND, "the model has no chat template");
    if (!rc || rc == FO_ENOMEM) {
        if (rc && err) *err = *why;
        return rc;
    }
    *fell_back = true;
    return render_chatml(in, out, err);
}
