#include "engine/chat/chat_prompt.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "engine/chat/jinja.h"
#include "kernels/utf8.h"

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

/* What goes on behind a word gets no space in front, as at the head of a text or behind a special token. */
static unsigned continues(const token_list *l, const tokenizer *t) {
    const unsigned special = TOKENIZER_CONTROL | TOKENIZER_USER_DEFINED;
    const bool word = l->n && !(tokenizer_attributes(t, l->ids[l->n - 1]) & special);
    return word ? TOKENIZER_CONTINUES : 0;
}

/* Behind those that there are; the text is emptied. */
static int append(token_list *l, const tokenizer *t, fo_buf *text, unsigned flags, fo_err *err) {
    if (text->failed) return fo_no_memory(err);
    if (!text->len) return FO_OK;
    int32_t *more = NULL;
    size_t n = 0;
    int rc =
        tokenizer_encode_alloc(t, text->data, text->len, flags | continues(l, t), &more, &n, err);
    if (rc) return rc;
    fo_buf_clear(text);
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
 * cannot be found again, as the template has the same ones. A mark is the sign, its kind, the message's number and
 * 'z'. One stands before each such name, too: a template may take a piece out of a content's middle. */
enum { SIGN_BYTES = 22, MARK_BEGIN = 'b', MARK_NAME = 'n', MARK_END = 'e' };

typedef struct marks {
    const tokenizer *t;
    char sign[SIGN_BYTES + 1];
    bool write; /* else they are only looked for */
    int first;  /* the first message that needs some; -1: none does */
} marks;

/* Drawn anew for each prompt, so that no text can hold it. */
static int draw_sign(char sign[SIGN_BYTES + 1], fo_err *err) {
    uint64_t drawn;
    if (getrandom(&drawn, sizeof drawn, 0) != sizeof drawn)
        return fo_fail(err, FO_EIO, "the system gives no random bytes");
    snprintf(sign, SIGN_BYTES + 1, "forage%016" PRIx64, drawn);
    return FO_OK;
}

/* Blanks at the ends of a text stay outside: templates trim. */
static void inner_part(const char *text, size_t len, size_t *from, size_t *to) {
    *from = *to = len;
    bool any = false;
    for (size_t i = 0, n; i < len; i += n) {
        int32_t cp;
        n = fo_utf8_decode(text + i, len - i, &cp);
        if (jinja_is_blank(cp)) continue;
        if (!any) *from = i;
        any = true;
        *to = i + n;
    }
}

static int mark_text(marks *s, cJSON *string, int i, fo_err *err) {
    const char *text = string->valuestring;
    if (!chat_prompt_has_control(s->t, text)) return FO_OK;
    if (s->first < 0) s->first = i;
    if (!s->write) return FO_OK;
    size_t len = strlen(text), from, to;
    inner_part(text, len, &from, &to);
    fo_buf b = {0};
    fo_buf_add(&b, text, from);
    fo_buf_printf(&b, "%s%c%dz", s->sign, MARK_BEGIN, i);
    for (size_t at = from; at < to; at++) {
        if (tokenizer_special_at(s->t, text + at, to - at))
            fo_buf_printf(&b, "%s%c%dz", s->sign, MARK_NAME, i);
        fo_buf_char(&b, text[at]);
    }
    fo_buf_printf(&b, "%s%c%dz%s", s->sign, MARK_END, i, text + to);
    bool ok = !b.failed && cJSON_SetValuestring(string, b.data);
    fo_buf_free(&b);
    return ok ? FO_OK : fo_no_memory(err);
}

static bool is_field(const cJSON *field, const char *name) {
    return field->string && !strcmp(field->string, name);
}

/* Does a string within it name a control token, or what a field is called? */
static bool any_control(const tokenizer *t, const cJSON *tree) {
    if (tree->string && chat_prompt_has_control(t, tree->string)) return true;
    if (cJSON_IsString(tree)) return chat_prompt_has_control(t, tree->valuestring);
    const cJSON *field;
    cJSON_ArrayForEach(field, tree) if (any_control(t, field)) return true;
    return false;
}

static int refuse(int i, const char *field, fo_err *err) {
    return fo_fail_field(err, FO_EINVAL, "messages",
                         "messages[%d]%s%.40s holds a control token of the model", i,
                         *field ? "." : "", field);
}

/* A text, or parts of which some have a "text". */
static int mark_content(marks *s, cJSON *content, int i, fo_err *err) {
    if (cJSON_IsString(content)) return mark_text(s, content, i, err);
    cJSON *part, *field;
    int rc = FO_OK;
    cJSON_ArrayForEach(part, content) {
        if (!cJSON_IsObject(part) && any_control(s->t, part)) rc = refuse(i, "content", err);
        if (!cJSON_IsObject(part) || rc) continue;
        cJSON_ArrayForEach(field, part) {
            if (rc) break;
            if (is_field(field, "text") && cJSON_IsString(field))
                rc = mark_text(s, field, i, err);
            else if (any_control(s->t, field))
                rc = refuse(i, "content", err);
        }
    }
    return rc;
}

/* Templates compare roles, and print names and calls wherever they like: no marks can stand there. */
static int mark_message(marks *s, cJSON *m, int i, fo_err *err) {
    cJSON *field;
    int rc = FO_OK;
    if (!cJSON_IsObject(m)) return any_control(s->t, m) ? refuse(i, "", err) : FO_OK;
    cJSON_ArrayForEach(field, m) {
        if (rc) break;
        if (is_field(field, "content"))
            rc = mark_content(s, field, i, err);
        else if (any_control(s->t, field))
            rc = refuse(i, field->string, err);
    }
    return rc;
}

static int mark_each(marks *s, const cJSON *messages, fo_err *err) {
    cJSON *m;
    int i = 0, rc = FO_OK;
    cJSON_ArrayForEach(m, messages) if (!rc) rc = mark_message(s, m, i++, err);
    return rc;
}

/* *out: a copy with marks, which the caller deletes; NULL where no content needs any. */
static int mark_messages(marks *s, const cJSON *messages, cJSON **out, fo_err *err) {
    *out = NULL;
    int rc = mark_each(s, messages, err);
    if (rc || s->first < 0) return rc;
    if (!(*out = cJSON_Duplicate(messages, true))) return fo_no_memory(err);
    s->write = true;
    return mark_each(s, *out, err);
}

typedef struct mark {
    const char *at, *behind; /* behind: NULL where it is cut */
    char kind;
    int message;
} mark;

static const char *text_of(const fo_buf *b) {
    return b->data ? b->data : "";
}

/* The first one in from..end; false: there is none. */
static bool next_mark(const char *sign, const char *from, const char *end, mark *m) {
    *m = (mark){.at = memmem(from, (size_t)(end - from), sign, SIGN_BYTES)};
    if (!m->at) return false;
    const char *p = m->at + SIGN_BYTES;
    if (p < end && (*p == MARK_BEGIN || *p == MARK_NAME || *p == MARK_END)) m->kind = *p++;
    for (; p < end && *p >= '0' && *p <= '9' && m->message < INT_MAX / 10 - 1; p++)
        m->message = m->message * 10 + *p - '0';
    if (m->kind && p < end && *p == 'z') m->behind = p + 1;
    return true;
}

/* Is `marked` the same as `plain`, but for its marks? If not, the template cut a content, changed it, or asked what
 * stands in it, and pieces of marks may be anywhere. */
static bool same_but_for_marks(const char *sign, const fo_buf *marked, const fo_buf *plain) {
    const char *at = text_of(marked), *end = at + marked->len;
    const char *want = text_of(plain), *want_end = want + plain->len;
    for (mark m;;) {
        const bool more = next_mark(sign, at, end, &m);
        const size_t n = (size_t)((more ? m.at : end) - at);
        if (n > (size_t)(want_end - want) || memcmp(at, want, n) != 0) return false;
        want += n;
        if (!more) return want == want_end;
        if (!m.behind) return false;
        at = m.behind;
    }
}

/* What the template wrote is parsed with control tokens, what stands between marks without. */
static int tokenize_rendered(token_list *l, const tokenizer *t, const char *sign,
                             const fo_buf *text, fo_err *err) {
    const char *at = text_of(text), *end = at + text->len;
    fo_buf piece = {0};
    int open = -1, rc = FO_OK; /* open: the message whose content is gone through */
    for (mark m; !rc && next_mark(sign, at, end, &m); at = m.behind) {
        fo_buf_add(&piece, at, (size_t)(m.at - at));
        const bool begins = m.kind == MARK_BEGIN;
        if (!m.behind || open != (begins ? -1 : m.message)) {
            rc = refuse(m.message, "content", err);
            break;
        }
        if (m.kind == MARK_NAME) continue;
        rc = append(l, t, &piece, begins ? TOKENIZER_PARSE_SPECIAL : 0, err);
        open = begins ? m.message : -1;
    }
    if (!rc && open >= 0) rc = refuse(open, "content", err);
    if (!rc) fo_buf_add(&piece, at, (size_t)(end - at));
    if (!rc) rc = append(l, t, &piece, TOKENIZER_PARSE_SPECIAL, err);
    fo_buf_free(&piece);
    return rc;
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

static int render_text(const chat_template *template, const chat_template_input *in, fo_buf *text,
                       fo_err *why, fo_err *err) {
    bool fell_back;
    return chat_template_render_or_chatml(template, in, text, &fell_back, why, err);
}

/* The rendering with marks in *text, from which nothing but them may have changed. */
static int render_marked(const marks *s, const cJSON *marked, const chat_template *template,
                         const chat_template_input *in, fo_buf *text, fo_err *err) {
    chat_template_input given = *in;
    fo_buf with = {0};
    given.messages = marked;
    int rc = render_text(template, &given, &with, NULL, err);
    if (!rc && !same_but_for_marks(s->sign, &with, text)) rc = refuse(s->first, "content", err);
    fo_buf_free(text);
    *text = with;
    return rc;
}

int chat_prompt_render_tokens(const tokenizer *t, const chat_template *template,
                              const chat_template_input *in, bool control, int32_t **ids, size_t *n,
                              fo_err *why, fo_err *err) {
    marks s = {.t = t, .first = -1};
    cJSON *marked = NULL;
    fo_buf text = {0};
    token_list l = {0};
    int rc = draw_sign(s.sign, err);
    if (!rc && !control) rc = mark_messages(&s, in->messages, &marked, err);
    if (!rc) rc = render_text(template, in, &text, why, err);
    if (!rc && marked) rc = render_marked(&s, marked, template, in, &text, err);
    if (!rc) rc = tokenize_rendered(&l, t, s.sign, &text, err);
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
