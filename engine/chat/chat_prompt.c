#include "engine/chat/chat_prompt.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct chat_prompt {
    chat_template *template; /* NULL: ChatML */
    const tokenizer *t;
    char *bos, *eos;
};

static char *special_text(const tokenizer *t, tokenizer_special which) {
    tokenizer_string s = tokenizer_piece(t, tokenizer_special_id(t, which));
    return strndup(s.len ? s.data : "", s.len);
}

int chat_prompt_source(const gguf *file, gguf_str *out, fo_err *err) {
    return gguf_get_optional_str(file, "tokenizer.chat_template", out, err);
}

int chat_prompt_create(chat_prompt **out, const gguf *file, const tokenizer *t, fo_err *why,
                       fo_err *err) {
    gguf_str text;
    int rc = chat_prompt_source(file, &text, err);
    if (rc) return rc;
    chat_prompt *p = calloc(1, sizeof *p);
    if (!p) return fo_no_memory(err);
    p->t = t;
    p->bos = special_text(t, TOKENIZER_BOS);
    p->eos = special_text(t, TOKENIZER_EOS);
    if (!p->bos || !p->eos) {
        chat_prompt_free(p);
        return fo_no_memory(err);
    }
    if (text.len)
        chat_template_parse(&p->template, text.ptr, text.len, why);
    else
        fo_fail(why, FO_ENOTFOUND, "the model has no chat template");
    *out = p;
    return FO_OK;
}

void chat_prompt_free(chat_prompt *p) {
    if (!p) return;
    chat_template_free(p->template);
    free(p->bos);
    free(p->eos);
    free(p);
}

void chat_prompt_date(chat_template_input *in) {
    time_t now = time(NULL);
    struct tm day;
    gmtime_r(&now, &day);
    in->year = day.tm_year + 1900;
    in->month = day.tm_mon + 1;
    in->day = day.tm_mday;
}

int chat_prompt_text(const chat_prompt *p, const cJSON *messages, fo_buf *out, fo_err *why,
                     fo_err *err) {
    chat_template_input in = {
        .messages = messages, .add_generation_prompt = true, .bos = p->bos, .eos = p->eos};
    bool fell_back;
    chat_prompt_date(&in);
    return chat_template_render_or_chatml(p->template, &in, out, &fell_back, why, err);
}

/* ---- tokens ---------------------------------------------------------------------------------- */

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
    int32_t *ids = realloc(l->ids, (l->n + n + 1) * sizeof *ids); /* one for BOS */
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

bool chat_prompt_has_control(const tokenizer *t, const char *text) {
    size_t len = strlen(text);
    return tokenizer_count(t, text, len, 0) !=
           tokenizer_count(t, text, len, TOKENIZER_PARSE_SPECIAL);
}

/* A message's content without the blanks at its ends, which templates trim; *n 0: it has none. */
static const char *content_of(const cJSON *message, size_t *n) {
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(message, "content"));
    *n = 0;
    if (!text) return "";
    text += strspn(text, " \t\r\n");
    *n = strlen(text);
    while (*n && strchr(" \t\r\n", text[*n - 1])) --*n;
    return text;
}

/* What the template wrote is parsed with control tokens, contents that name one without. All contents
 * are found again in the order of the messages: one that names a control token stands behind those
 * before it. */
static int encode_apart(token_list *l, const tokenizer *t, const cJSON *messages, const char *text,
                        size_t len, fo_err *err) {
    const char *at = text, *from = text, *end = text + len; /* encoded so far; looked through */
    const cJSON *m;
    int i = 0, rc = FO_OK;
    cJSON_ArrayForEach(m, messages) {
        size_t n;
        const char *content = content_of(m, &n);
        i++;
        if (!n) continue;
        const char *found = memmem(from, (size_t)(end - from), content, n);
        if (found) from = found + n;
        if (!chat_prompt_has_control(t, content)) continue;
        if (!found)
            return fo_fail_field(err, FO_EINVAL, "messages",
                                 "messages[%d].content holds a control token of the model", i - 1);
        rc = append(l, t, at, (size_t)(found - at), TOKENIZER_PARSE_SPECIAL, err);
        if (!rc) rc = append(l, t, found, n, 0, err);
        if (rc) return rc;
        at = from;
    }
    return append(l, t, at, (size_t)(end - at), TOKENIZER_PARSE_SPECIAL, err);
}

int chat_prompt_encode(const tokenizer *t, const cJSON *messages, const char *text, size_t len,
                       int32_t **ids, size_t *n, fo_err *err) {
    token_list l = {0};
    int32_t bos = tokenizer_special_id(t, TOKENIZER_BOS);
    int rc = messages ? encode_apart(&l, t, messages, text, len, err)
                      : append(&l, t, text, len, TOKENIZER_PARSE_SPECIAL, err);
    if (rc) {
        free(l.ids);
        return rc;
    }
    if (tokenizer_adds_bos(t) && bos >= 0 && l.n &&
        l.ids[0] != bos) { /* the template left it out */
        memmove(l.ids + 1, l.ids, l.n * sizeof *l.ids);
        l.ids[0] = bos;
        l.n++;
    }
    *ids = l.ids;
    *n = l.n;
    return FO_OK;
}

int chat_prompt_tokens(const chat_prompt *p, const cJSON *messages, bool control, int32_t **ids,
                       size_t *n, fo_err *why, fo_err *err) {
    fo_buf text = {0};
    int rc = chat_prompt_text(p, messages, &text, why, err);
    if (!rc)
        rc = chat_prompt_encode(p->t, control ? NULL : messages, text.data ? text.data : "",
                                text.len, ids, n, err);
    fo_buf_free(&text);
    return rc;
}
