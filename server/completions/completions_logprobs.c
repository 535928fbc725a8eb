#include "server/completions/completions_logprobs.h"

#include <stdio.h>

/* ---- chat ------------------------------------------------------------------------------------ */

static void write_token(json_out *o, const tokenizer *t, int32_t token, float logprob) {
    tokenizer_string s = tokenizer_piece(t, token);
    json_out_bytes(o, "token", s.data, s.len);
    json_out_number(o, "logprob", logprob > -9999 ? (double)logprob : -9999);
    json_out_open(o, "bytes", '[');
    for (size_t i = 0; i < s.len; i++) json_out_int(o, NULL, (unsigned char)s.data[i]);
    json_out_close(o, ']');
}

void completions_write_chat_logprobs(json_out *o, const tokenizer *t,
                                     const generation_token *tokens, size_t n) {
    json_out_open(o, "content", '[');
    for (size_t i = 0; i < n; i++) {
        json_out_open(o, NULL, '{');
        write_token(o, t, tokens[i].token, tokens[i].logprob);
        json_out_open(o, "top_logprobs", '[');
        for (int k = 0; k < tokens[i].n_top; k++) {
            json_out_open(o, NULL, '{');
            write_token(o, t, tokens[i].top[k].token, tokens[i].top[k].logprob);
            json_out_close(o, '}');
        }
        json_out_close(o, ']');
        json_out_close(o, '}');
    }
    json_out_close(o, ']');
    json_out_null(o, "refusal");
}

/* ---- text ------------------------------------------------------------------------------------ */

static bool continues(char c) {
    return ((unsigned char)c & 0xC0) == 0x80;
}

/* A token may begin within a character: its place is that character's. */
static void write_offsets(json_out *o, const tokenizer *t, const generation_token *tokens, size_t n,
                          size_t *chars) {
    json_out_open(o, "text_offset", '[');
    for (size_t i = 0; i < n; i++) {
        tokenizer_string s = tokenizer_piece(t, tokens[i].token);
        bool within = *chars && s.len && continues(s.data[0]);
        json_out_int(o, NULL, (int64_t)(*chars - within));
        for (size_t k = 0; k < s.len; k++) *chars += !continues(s.data[k]);
    }
    json_out_close(o, ']');
}

static void write_tops(json_out *o, const tokenizer *t, const generation_token *tokens, size_t n) {
    json_out_open(o, "top_logprobs", '[');
    for (size_t i = 0; i < n; i++) {
        json_out_open(o, NULL, '{');
        for (int k = 0; k < tokens[i].n_top; k++) {
            tokenizer_string s = tokenizer_piece(t, tokens[i].top[k].token);
            char name[128];
            snprintf(name, sizeof name, "%.*s", (int)(s.len < 100 ? s.len : 100), s.data);
            json_out_number(o, name, (double)tokens[i].top[k].logprob);
        }
        json_out_close(o, '}');
    }
    json_out_close(o, ']');
}

void completions_write_text_logprobs(json_out *o, const tokenizer *t,
                                     const generation_token *tokens, size_t n, size_t *chars) {
    json_out_open(o, "tokens", '[');
    for (size_t i = 0; i < n; i++) {
        tokenizer_string s = tokenizer_piece(t, tokens[i].token);
        json_out_bytes(o, NULL, s.data, s.len);
    }
    json_out_close(o, ']');
    json_out_open(o, "token_logprobs", '[');
    for (size_t i = 0; i < n; i++) json_out_number(o, NULL, (double)tokens[i].logprob);
    json_out_close(o, ']');
    write_tops(o, t, tokens, n);
    write_offsets(o, t, tokens, n, chars);
}
