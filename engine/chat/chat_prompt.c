#include "engine/chat/chat_prompt.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

struct chat_prompt {
    chat_template *template; /* NULL: ChatML */
    const tokenizer *t;
    char *bos, *eos;
};

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
    p->bos = tokenizer_special_text(t, TOKENIZER_BOS);
    p->eos = tokenizer_special_text(t, TOKENIZER_EOS);
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

void chat_prompt_date(chat_template_input *in, time_t now) {
    struct tm day;
    gmtime_r(&now, &day);
    in->year = day.tm_year + 1900;
    in->month = day.tm_mon + 1;
    in->day = day.tm_mday;
}

static chat_template_input input_of(const chat_prompt *p, const cJSON *messages) {
    chat_template_input in = {
        .messages = messages, .add_generation_prompt = true, .bos = p->bos, .eos = p->eos};
    chat_prompt_date(&in, time(NULL));
    return in;
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

/* Numbers of tokens alone do not tell: what a name is made of may join with what stands around it. */
bool chat_prompt_has_control(const tokenizer *t, const char *text) {
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
        if (text && chat_prompt_has_control(t, text)) {
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

/* ---- both ------------------------------------------------------------------------------------- */

/* BOS where the model wants it and the template left it out; append kept room for it. */
static void put_bos(token_list *l, const tokenizer *t) {
    int32_t bos = tokenizer_special_id(t, TOKENIZER_BOS);
    if (!tokenizer_adds_bos(t) || bos < 0 || !l->n || l->ids[0] == bos) return;
    memmove(l->ids + 1, l->ids, l->n * sizeof *l->ids);
    l->ids[0] = bos;
    l->n++;
}

int chat_prompt_render_tokens(const tokenizer *t, const chat_template *template,
                              const chat_template_input *in, bool control, int32_t **ids, size_t *n,
                              fo_err *why, fo_err *err) {
    char sign[SIGN_BYTES + 1];
    cJSON *marked = NULL;
    chat_template_input given = *in;
    fo_buf text = {0};
    token_list l = {0};
    bool fell_back;
    int rc = draw_sign(sign, err);
    if (!rc && !control) rc = mark_messages(t, in->messages, sign, &marked, err);
    if (marked) given.messages = marked;
    if (!rc) rc = chat_template_render_or_chatml(template, &given, &text, &fell_back, why, err);
    if (!rc) rc = tokenize_rendered(&l, t, sign, text.data ? text.data : "", text.len, err);
    fo_buf_free(&text);
    cJSON_Delete(marked);
    if (rc) {
        free(l.ids);
        return rc;
    }
    put_bos(&l, t);
    *ids = l.ids;
    *n = l.n;
    return FO_OK;
}

int chat_prompt_tokens(const chat_prompt *p, const cJSON *messages, bool control, int32_t **ids,
                       size_t *n, fo_err *why, fo_err *err) {
    const chat_template_input in = input_of(p, messages);
    return chat_prompt_render_tokens(p->t, p->template, &in, control, ids, n, why, err);
}
