#include "server/completions/completions_prompt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/chat/chat_prompt.h"
#include "server/completions/tool_prompt.h"
#include "server/openai/openai.h"

enum { MAX_PROMPTS = 64 };

static bool any_calls(const cJSON *messages) {
    const cJSON *m;
    cJSON_ArrayForEach(m, messages) {
        const char *role = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(m, "role"));
        if (!strcmp(role, "tool") || cJSON_GetObjectItemCaseSensitive(m, "tool_calls")) return true;
    }
    return false;
}

static bool has_control(const tokenizer *t, const cJSON *tree) {
    char *text = tree ? cJSON_PrintUnformatted(tree) : NULL;
    const bool has = text && chat_prompt_has_control(t, text);
    free(text);
    return has;
}

static int check_message(const tokenizer *t, const cJSON *m, int i, fo_err *err) {
    const cJSON *call;
    int k = 0;
    cJSON_ArrayForEach(call, cJSON_GetObjectItemCaseSensitive(m, "tool_calls")) {
        if (has_control(t, call))
            return fo_fail_field(err, FO_EINVAL, "messages",
                                 "messages[%d].tool_calls[%d] holds a control token of the model",
                                 i, k);
        k++;
    }
    const char *id = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(m, "tool_call_id"));
    if (id && chat_prompt_has_control(t, id))
        return fo_fail_field(err, FO_EINVAL, "messages",
                             "messages[%d].tool_call_id holds a control token of the model", i);
    return FO_OK;
}

/* Templates print tools and calls wherever they like, so what they hold is not found again. */
static int check_tools(const tokenizer *t, const cJSON *messages, const cJSON *tools, fo_err *err) {
    const cJSON *m;
    int i = 0, rc = FO_OK;
    if (has_control(t, tools))
        return fo_fail_field(err, FO_EINVAL, "tools", "tools hold a control token of the model");
    cJSON_ArrayForEach(m, messages) if (!rc) rc = check_message(t, m, i++, err);
    return rc;
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
    char *bos = tokenizer_special_text(t, TOKENIZER_BOS);
    char *eos = tokenizer_special_text(t, TOKENIZER_EOS);
    chat_template_input in = {.messages = messages,
                              .tools = tools,
                              .add_generation_prompt = true,
                              .bos = bos,
                              .eos = eos};
    chat_prompt_date(&in, time(NULL));
    rc = bos && eos ? chat_prompt_render_tokens(t, template, &in, false, out, n, &why, err)
                    : fo_no_memory(err);
    free(bos);
    free(eos);
    chat_template_free(template);
    cJSON_Delete(own);
    return rc;
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

static const cJSON *prompt_item(const cJSON *prompt, int i) {
    return cJSON_IsArray(prompt) && !openai_is_tokens(prompt) ? cJSON_GetArrayItem(prompt, i)
                                                              : prompt;
}

int completions_prompt_text(const engine *e, const cJSON *prompt, int i, const int32_t *ids,
                            size_t n, fo_buf *out, fo_err *err) {
    const char *text = cJSON_GetStringValue(prompt_item(prompt, i));
    if (!text) {
        int rc = tokenizer_decode(engine_tokenizer(e), ids, n, false, out, err);
        if (rc && err) snprintf(err->field, sizeof err->field, "prompt");
        return rc;
    }
    fo_buf_str(out, text);
    return out->failed ? fo_no_memory(err) : FO_OK;
}

int completions_prompt_tokens(const engine *e, const cJSON *prompt, int i, int32_t **out, size_t *n,
                              fo_err *err) {
    const cJSON *item = prompt_item(prompt, i);
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
