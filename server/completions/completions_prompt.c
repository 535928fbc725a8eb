#include "server/completions/completions_prompt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/chat/chat_prompt.h"
#include "server/completions/tool_prompt.h"
#include "server/openai/openai.h"

enum { MAX_PROMPTS = 64 };

typedef struct token_list {
    int32_t *ids;
    size_t n;
} token_list;

static int append(token_list *l, const tokenizer *t, const char *text, size_t len, unsigned flags,
                  fo_err *err) {
    if (!len) return FO_OK;
    int32_t *more = NULL;
    size_t n = 0;
    int rc = tokenizer_encode_alloc(t, text, len, flags, &more, &n, err);
    if (rc) return rc;
    int32_t *ids = realloc(l->ids, (l->n + n + 1) * sizeof *ids);
    if (!ids) {
        free(more);
        return fo_no_memory(err);
    }
    memcpy(ids + l->n, more, n * sizeof *ids);
    l->ids = ids;
    l->n += n;
    free(more);
    return FO_OK;
}

/* Does a content hold the name of a control token? Then it must not be parsed with the template. */
static bool has_control(const tokenizer *t, const char *text) {
    size_t len = strlen(text);
    return tokenizer_count(t, text, len, 0) !=
           tokenizer_count(t, text, len, TOKENIZER_PARSE_SPECIAL);
}

/* What the template wrote is parsed with control tokens, contents that name one without. They are
 * found again in the order of the messages, the blanks at their ends aside (templates trim). */
static int tokenize_rendered(token_list *l, const tokenizer *t, const cJSON *messages,
                             const char *text, size_t len, fo_err *err) {
    const char *at = text, *end = text + len;
    const cJSON *m;
    int i = 0, rc = FO_OK;
    cJSON_ArrayForEach(m, messages) {
        const char *content = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(m, "content"));
        i++;
        if (!content || !has_control(t, content)) continue;
        content += strspn(content, " \t\r\n");
        size_t n = strlen(content);
        while (n && strchr(" \t\r\n", content[n - 1])) n--;
        const char *found = memmem(at, (size_t)(end - at), content, n);
        if (!found)
            return fo_fail_field(err, FO_EINVAL, "messages",
                                 "messages[%d].content holds a control token of the model", i - 1);
        rc = append(l, t, at, (size_t)(found - at), TOKENIZER_PARSE_SPECIAL, err);
        if (!rc) rc = append(l, t, found, n, 0, err);
        if (rc) return rc;
        at = found + n;
    }
    return append(l, t, at, (size_t)(end - at), TOKENIZER_PARSE_SPECIAL, err);
}

static const char *piece_name(const tokenizer *t, enum tokenizer_special which, char out[64]) {
    int32_t id = tokenizer_special_id(t, which);
    tokenizer_string s = id < 0 ? (tokenizer_string){"", 0} : tokenizer_piece(t, id);
    snprintf(out, 64, "%.*s", (int)(s.len < 63 ? s.len : 63), s.data);
    return out;
}

static bool any_calls(const cJSON *messages) {
    const cJSON *m;
    cJSON_ArrayForEach(m, messages) {
        const char *role = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(m, "role"));
        if (!strcmp(role, "tool") || cJSON_GetObjectItemCaseSensitive(m, "tool_calls")) return true;
    }
    return false;
}

/* Templates print tools and calls wherever they like, so what they hold is not found again. */
static int check_tools(const tokenizer *t, const cJSON *messages, const cJSON *tools, fo_err *err) {
    char *text = tools ? cJSON_PrintUnformatted(tools) : NULL;
    bool bad = text && has_control(t, text);
    free(text);
    if (bad)
        return fo_fail_field(err, FO_EINVAL, "tools", "tools hold a control token of the model");
    const cJSON *m;
    int i = 0;
    cJSON_ArrayForEach(m, messages) {
        const cJSON *calls = cJSON_GetObjectItemCaseSensitive(m, "tool_calls");
        text = calls ? cJSON_PrintUnformatted(calls) : NULL;
        bad = text && has_control(t, text);
        free(text);
        if (bad)
            return fo_fail_field(err, FO_EINVAL, "messages",
                                 "messages[%d].tool_calls hold a control token of the model", i);
        i++;
    }
    return FO_OK;
}

int completions_chat_tokens(const engine *e, const cJSON *messages, const cJSON *tools,
                            int32_t **out, size_t *n, fo_err *err) {
    const tokenizer *t = engine_tokenizer(e);
    gguf_str source;
    chat_template *template = NULL;
    fo_err why = {0};
    int rc = chat_prompt_source(engine_gguf(e), &source, err);
    if (!rc) rc = check_tools(t, messages, tools, err);
    if (rc) return rc;
    cJSON *own = NULL; /* messages in our words */
    if ((tools || any_calls(messages)) && !tool_prompt_native(source.ptr, source.len)) {
        if (!(own = tool_prompt_messages(messages, tools))) return fo_no_memory(err);
        messages = own;
        tools = NULL;
    }
    if (source.len) chat_template_parse(&template, source.ptr, source.len, &why);
    char bos[64], eos[64];
    time_t now = time(NULL);
    struct tm date;
    gmtime_r(&now, &date);
    chat_template_input in = {.messages = messages,
                              .tools = tools,
                              .add_generation_prompt = true,
                              .bos = piece_name(t, TOKENIZER_BOS, bos),
                              .eos = piece_name(t, TOKENIZER_EOS, eos),
                              .year = date.tm_year + 1900,
                              .month = date.tm_mon + 1,
                              .day = date.tm_mday};
    fo_buf text = {0};
    bool fell_back;
    rc = chat_template_render_or_chatml(template, &in, &text, &fell_back, &why, err);
    token_list l = {0};
    if (!rc) rc = tokenize_rendered(&l, t, messages, text.data, text.len, err);
    int32_t first = tokenizer_special_id(t, TOKENIZER_BOS);
    if (!rc && tokenizer_adds_bos(t) && first >= 0 && l.n && l.ids[0] != first) {
        memmove(l.ids + 1, l.ids, l.n * sizeof *l.ids); /* append left room for one */
        l.ids[0] = first;
        l.n++;
    }
    fo_buf_free(&text);
    chat_template_free(template);
    cJSON_Delete(own);
    if (rc) {
        free(l.ids);
        return rc;
    }
    *out = l.ids;
    *n = l.n;
    return FO_OK;
}

int completions_prompt_count(const cJSON *prompt, fo_err *err) {
    if (cJSON_IsString(prompt) || openai_is_tokens(prompt)) return 1;
    int n = cJSON_IsArray(prompt) ? cJSON_GetArraySize(prompt) : 0;
    if (n >= 1 && n <= MAX_PROMPTS) return n;
    return fo_fail_field(err, FO_EINVAL, "prompt",
                         "prompt must be a string, an array of tokens, or an array of 1 to %d of "
                         "them",
                         MAX_PROMPTS);
}

int completions_prompt_tokens(const engine *e, const cJSON *prompt, int i, int32_t **out, size_t *n,
                              fo_err *err) {
    const cJSON *item =
        cJSON_IsArray(prompt) && !openai_is_tokens(prompt) ? cJSON_GetArrayItem(prompt, i) : prompt;
    const tokenizer *t = engine_tokenizer(e);
    if (openai_is_tokens(item)) {
        *n = 0;
        if (!(*out = malloc((size_t)cJSON_GetArraySize(item) * sizeof **out)))
            return fo_no_memory(err);
        const cJSON *v;
        cJSON_ArrayForEach(v, item)(*out)[(*n)++] = (int32_t)v->valuedouble;
        return FO_OK;
    }
    if (!cJSON_IsString(item))
        return fo_fail_field(err, FO_EINVAL, "prompt", "prompt[%d] must be a string or tokens", i);
    int rc = tokenizer_encode_alloc(t, item->valuestring, strlen(item->valuestring),
                                    TOKENIZER_ADD_SPECIAL, out, n, err);
    if (!rc && *n > 1 && tokenizer_adds_eos(t)) --*n; /* it shall go on, not be over */
    return rc;
}
