#include "server/completions/completions_prompt.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
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

/* Does a text hold the name of a control token? Then it must not be parsed with the template. Numbers of tokens
 * alone do not tell: what a name is made of may join with what stands around it. */
static bool has_control(const tokenizer *t, const char *text) {
    int32_t *plain = NULL, *parsed = NULL;
    size_t n = 0, m = 0, len = strlen(text);
    bool read = !tokenizer_encode_alloc(t, text, len, 0, &plain, &n, NULL) &&
                !tokenizer_encode_alloc(t, text, len, TOKENIZER_PARSE_SPECIAL, &parsed, &m, NULL);
    bool same = read && n == m && (!n || !memcmp(plain, parsed, n * sizeof *plain));
    free(plain);
    free(parsed);
    return !same;
}

/* ---- marks ------------------------------------------------------------------------------------ */

/* Contents that name a control token stand between marks while the template is rendered: by their words alone they
 * cannot be found again, as the template has the same ones. A mark is the sign, 'b' or 'e', the message's number
 * and 'z'. */
enum { SIGN_BYTES = 22 };

/* Drawn anew for each prompt, so that no text can hold it. */
static int draw_sign(char sign[SIGN_BYTES + 1], fo_err *err) {
    uint64_t drawn;
    if (getrandom(&drawn, sizeof drawn, 0) != sizeof drawn)
        return fo_fail(err, FO_EIO, "the system gives no random bytes");
    snprintf(sign, SIGN_BYTES + 1, "forage%016" PRIx64, drawn);
    return FO_OK;
}

/* Blanks at the ends of a content stay outside: templates trim. */
static bool mark_content(cJSON *content, const char *sign, int i) {
    static const char blanks[] = " \t\r\n";
    const char *text = content->valuestring;
    size_t from = strspn(text, blanks), to = strlen(text);
    while (to > from && strchr(blanks, text[to - 1])) to--;
    fo_buf b = {0};
    fo_buf_add(&b, text, from);
    fo_buf_printf(&b, "%sb%dz", sign, i);
    fo_buf_add(&b, text + from, to - from);
    fo_buf_printf(&b, "%se%dz%s", sign, i, text + to);
    bool ok = !b.failed && cJSON_SetValuestring(content, b.data);
    fo_buf_free(&b);
    return ok;
}

/* *out: a copy with marks, which the caller deletes; NULL where no content needs any. */
static int mark_messages(const tokenizer *t, const cJSON *messages, const char *sign, cJSON **out,
                         fo_err *err) {
    const cJSON *m;
    int i = 0;
    *out = NULL;
    cJSON_ArrayForEach(m, messages) {
        const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(m, "content"));
        if (text && has_control(t, text)) {
            if (!*out && !(*out = cJSON_Duplicate(messages, true))) return fo_no_memory(err);
            cJSON *copy = cJSON_GetArrayItem(*out, i);
            if (!mark_content(cJSON_GetObjectItemCaseSensitive(copy, "content"), sign, i))
                return fo_no_memory(err);
        }
        i++;
    }
    return FO_OK;
}

/* What the template wrote is parsed with control tokens, what stands between marks without. A template that cuts a
 * content, so that one of its marks is missing, leaves nothing to tell them apart by. */
static int tokenize_rendered(token_list *l, const tokenizer *t, const char *sign, const char *text,
                             size_t len, fo_err *err) {
    const char *at = text, *end = text + len, *mark;
    long open = -1, i = 0;
    bool paired = true;
    while (paired && (mark = memmem(at, (size_t)(end - at), sign, SIGN_BYTES))) {
        int rc = append(l, t, at, (size_t)(mark - at), open < 0 ? TOKENIZER_PARSE_SPECIAL : 0, err);
        if (rc) return rc;
        bool begins = mark[SIGN_BYTES] == 'b';
        char *behind;
        i = strtol(mark + SIGN_BYTES + 1, &behind, 10);
        paired = *behind == 'z' && (begins ? open < 0 : open == i);
        open = begins ? i : -1;
        at = behind + 1;
    }
    if (!paired || open >= 0)
        return fo_fail_field(err, FO_EINVAL, "messages",
                             "messages[%ld].content holds a control token of the model", i);
    return append(l, t, at, (size_t)(end - at), TOKENIZER_PARSE_SPECIAL, err);
}

/* ---- messages --------------------------------------------------------------------------------- */

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
        const char *id = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(m, "tool_call_id"));
        if (id && has_control(t, id))
            return fo_fail_field(err, FO_EINVAL, "messages",
                                 "messages[%d].tool_call_id holds a control token of the model", i);
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
    char sign[SIGN_BYTES + 1];
    cJSON *marked = NULL;
    rc = draw_sign(sign, err);
    if (!rc) rc = mark_messages(t, messages, sign, &marked, err);
    char bos[64], eos[64];
    time_t now = time(NULL);
    struct tm date;
    gmtime_r(&now, &date);
    chat_template_input in = {.messages = marked ? marked : messages,
                              .tools = tools,
                              .add_generation_prompt = true,
                              .bos = piece_name(t, TOKENIZER_BOS, bos),
                              .eos = piece_name(t, TOKENIZER_EOS, eos),
                              .year = date.tm_year + 1900,
                              .month = date.tm_mon + 1,
                              .day = date.tm_mday};
    fo_buf text = {0};
    bool fell_back;
    if (!rc) rc = chat_template_render_or_chatml(template, &in, &text, &fell_back, &why, err);
    token_list l = {0};
    if (!rc) rc = tokenize_rendered(&l, t, sign, text.data, text.len, err);
    int32_t first = tokenizer_special_id(t, TOKENIZER_BOS);
    if (!rc && tokenizer_adds_bos(t) && first >= 0 && l.n && l.ids[0] != first) {
        memmove(l.ids + 1, l.ids, l.n * sizeof *l.ids); /* append left room for one */
        l.ids[0] = first;
        l.n++;
    }
    fo_buf_free(&text);
    chat_template_free(template);
    cJSON_Delete(marked);
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
