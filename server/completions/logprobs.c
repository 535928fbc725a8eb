#include "server/completions/logprobs.h"

#include <string.h>

#include "kernels/utf8.h"

/* JSON has no infinity: what was banned is as unlikely as OpenAI says of what is beyond its list. */
static double shown(float logprob) {
    return logprob > -9999 ? (double)logprob : -9999;
}

/* ---- chats ----------------------------------------------------------------------------------- */

static void write_token(json_out *o, const tokenizer *t, int32_t token, float logprob) {
    tokenizer_string s = tokenizer_piece(t, token);
    json_out_bytes(o, "token", s.data, s.len);
    json_out_number(o, "logprob", shown(logprob));
    json_out_open(o, "bytes", '[');
    for (size_t i = 0; i < s.len; i++) json_out_int(o, NULL, (unsigned char)s.data[i]);
    json_out_close(o, ']');
}

void logprobs_write_chat(json_out *o, const tokenizer *t, const generation_token *list, size_t n) {
    json_out_open(o, "content", '[');
    for (size_t i = 0; i < n; i++) {
        json_out_open(o, NULL, '{');
        write_token(o, t, list[i].token, list[i].logprob);
        json_out_open(o, "top_logprobs", '[');
        for (int k = 0; k < list[i].n_top; k++) {
            json_out_open(o, NULL, '{');
            write_token(o, t, list[i].top[k].token, list[i].top[k].logprob);
            json_out_close(o, '}');
        }
        json_out_close(o, ']');
        json_out_close(o, '}');
    }
    json_out_close(o, ']');
    json_out_null(o, "refusal");
}

/* ---- completions ----------------------------------------------------------------------------- */

static bool is_plain(tokenizer_string s) {
    return !memchr(s.data, 0, s.len) && fo_utf8_valid(s.data, s.len, NULL);
}

/* Into *b, which ends in a NUL then. */
static void name_token(fo_buf *b, tokenizer_string s, bool by_bytes) {
    fo_buf_clear(b);
    if (by_bytes) {
        fo_buf_str(b, "bytes:");
        for (size_t i = 0; i < s.len; i++) fo_buf_printf(b, "\\x%02x", (unsigned char)s.data[i]);
    } else {
        fo_buf_add(b, s.data, s.len);
    }
    fo_buf_char(b, 0);
}

/* How many before top[k] have its text. */
static int count_same(const tokenizer *t, const sampler_logprob *top, int k) {
    const tokenizer_string own = tokenizer_piece(t, top[k].token);
    int n = 0;
    for (int i = 0; i < k; i++) {
        const tokenizer_string s = tokenizer_piece(t, top[i].token);
        n += s.len == own.len && !memcmp(s.data, own.data, own.len);
    }
    return n;
}

static void write_top(json_out *o, const tokenizer *t, const generation_token *token) {
    fo_buf name = {0};
    json_out_open(o, NULL, '{');
    for (int k = 0; k < token->n_top; k++) {
        const tokenizer_string s = tokenizer_piece(t, token->top[k].token);
        const bool plain = is_plain(s);
        const int same = count_same(t, token->top, k);
        if (same > (plain ? 1 : 0)) continue; /* likelier ones have all names of it */
        name_token(&name, s, !plain || same);
        if (name.failed) break;
        json_out_number(o, name.data, shown(token->top[k].logprob));
    }
    json_out_close(o, '}');
    o->b->failed |= name.failed;
    fo_buf_free(&name);
}

static void write_names(json_out *o, const tokenizer *t, const generation_token *list, size_t n) {
    fo_buf name = {0};
    json_out_open(o, "tokens", '[');
    for (size_t i = 0; i < n; i++) {
        const tokenizer_string s = tokenizer_piece(t, list[i].token);
        name_token(&name, s, !is_plain(s));
        json_out_string(o, NULL, name.failed ? NULL : name.data);
    }
    json_out_close(o, ']');
    o->b->failed |= name.failed;
    fo_buf_free(&name);
}

static bool continues(char c) {
    return ((unsigned char)c & 0xC0) == 0x80;
}

/* A token may begin within a character: its place is that character's. */
static void write_offsets(json_out *o, const tokenizer *t, const generation_token *list, size_t n,
                          size_t *chars) {
    json_out_open(o, "text_offset", '[');
    for (size_t i = 0; i < n; i++) {
        const tokenizer_string s = tokenizer_piece(t, list[i].token);
        const bool within = *chars && s.len && continues(s.data[0]);
        json_out_int(o, NULL, (int64_t)(*chars - within));
        for (size_t k = 0; k < s.len; k++) *chars += !continues(s.data[k]);
    }
    json_out_close(o, ']');
}

void logprobs_write_text(json_out *o, const tokenizer *t, const generation_token *list, size_t n,
                         size_t *chars) {
    write_names(o, t, list, n);
    json_out_open(o, "token_logprobs", '[');
    for (size_t i = 0; i < n; i++) json_out_number(o, NULL, shown(list[i].logprob));
    json_out_close(o, ']');
    json_out_open(o, "top_logprobs", '[');
    for (size_t i = 0; i < n; i++) write_top(o, t, &list[i]);
    json_out_close(o, ']');
    write_offsets(o, t, list, n, chars);
}
