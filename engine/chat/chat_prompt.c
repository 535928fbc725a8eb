#include "engine/chat/chat_prompt.h"

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

int chat_prompt_text(const chat_prompt *p, const struct cJSON *messages, fo_buf *out, fo_err *err) {
    time_t now = time(NULL);
    struct tm day;
    localtime_r(&now, &day);
    chat_template_input in = {.messages = messages,
                              .add_generation_prompt = true,
                              .bos = p->bos,
                              .eos = p->eos,
                              .year = day.tm_year + 1900,
                              .month = day.tm_mon + 1,
                              .day = day.tm_mday};
    bool fell_back;
    fo_err why;
    return chat_template_render_or_chatml(p->template, &in, out, &fell_back, &why, err);
}

int chat_prompt_tokens(const chat_prompt *p, const struct cJSON *messages, int32_t **ids, size_t *n,
                       fo_err *err) {
    fo_buf text = {0};
    int rc = chat_prompt_text(p, messages, &text, err);
    if (!rc)
        rc = tokenizer_encode_alloc(p->t, text.data ? text.data : "", text.len,
                                    TOKENIZER_PARSE_SPECIAL, ids, n, err);
    fo_buf_free(&text);
    int32_t bos = tokenizer_special_id(p->t, TOKENIZER_BOS);
    if (rc || bos < 0 || !tokenizer_adds_bos(p->t) || (*n && (*ids)[0] == bos)) return rc;
    int32_t *longer = realloc(*ids, (*n + 1) * sizeof *longer); /* the template left it out */
    if (!longer) {
        free(*ids);
        return fo_no_memory(err);
    }
    memmove(longer + 1, longer, *n * sizeof *longer);
    longer[0] = bos;
    *ids = longer;
    ++*n;
    return FO_OK;
}
