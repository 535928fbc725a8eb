/* chain_model.h - a language model that says what a test wants: every token has its successors, and
 * nothing that came before it counts. Tokens are one-hot, the layers add nothing, and the head
 * holds the table of successors.
 *
 *     chain_model_write(path, "The heron stands|waits here.");   // "The heron stands here.", or
 * ...
 *
 * Words are separated by blanks and must differ; `|` parts alternatives, equally likely; the word
 * `@` at the end makes the answer begin anew instead of ending. What is no word of it is spelt in
 * bytes. The answer begins after a line break, with which ChatML's call for an answer ends. */
#ifndef FORAGE_TESTS_CHAIN_MODEL_H
#define FORAGE_TESTS_CHAIN_MODEL_H

#include "engine/gguf/gguf.h"
#include "tests/test.h"

enum { CHAIN_DIM = 384, CHAIN_BYTES = 3, CHAIN_WORDS = 259, CHAIN_CONTEXT = 2048 };

typedef struct chain_words {
    char text[CHAIN_DIM - CHAIN_WORDS][64];
    int place[CHAIN_DIM - CHAIN_WORDS]; /* which word of the answer, alternatives alike */
    int n, n_places;
    bool again;
} chain_words;

static inline void chain_read(chain_words *c, const char *answer) {
    char copy[4096], *outer = NULL, *inner = NULL;
    *c = (chain_words){0};
    snprintf(copy, sizeof copy, "%s", answer);
    for (char *w = strtok_r(copy, " ", &outer); w; w = strtok_r(NULL, " ", &outer)) {
        if (!strcmp(w, "@")) {
            c->again = true;
            break;
        }
        for (char *a = strtok_r(w, "|", &inner); a; a = strtok_r(NULL, "|", &inner)) {
            assert_true(c->n < CHAIN_DIM - CHAIN_WORDS);
            snprintf(c->text[c->n], sizeof c->text[0], "\xe2\x96\x81%.60s", a);
            c->place[c->n++] = c->n_places;
        }
        c->n_places++;
    }
}

static inline bool chain_follows(const chain_words *c, int before, int after) {
    bool end = after == 2, word = after >= CHAIN_WORDS && after - CHAIN_WORDS < c->n;
    int at = word ? c->place[after - CHAIN_WORDS] : -1;
    if (before == CHAIN_BYTES + '\n') return at == 0;
    if (before < CHAIN_WORDS || before - CHAIN_WORDS >= c->n) return end;
    int was = c->place[before - CHAIN_WORDS];
    if (was + 1 < c->n_places) return at == was + 1;
    return c->again ? at == 0 : end;
}

static inline void chain_tokenizer(gguf_writer *w, const chain_words *c) {
    static char bytes[256][8];
    gguf_str pieces[CHAIN_DIM];
    float scores[CHAIN_DIM];
    int32_t types[CHAIN_DIM];
    char unused[CHAIN_DIM][16];
    for (int i = 0; i < CHAIN_DIM; i++) {
        snprintf(unused[i], sizeof unused[i], "<unused%d>", i);
        const char *piece = unused[i];
        types[i] = 5;
        scores[i] = -1000;
        if (i < 3) {
            piece = i == 0 ? "<unk>" : i == 1 ? "<s>" : "</s>";
            types[i] = i == 0 ? 2 : 3;
        } else if (i < CHAIN_WORDS) {
            snprintf(bytes[i - 3], sizeof bytes[0], "<0x%02X>", i - 3);
            piece = bytes[i - 3];
            types[i] = 6;
        } else if (i - CHAIN_WORDS < c->n) {
            piece = c->text[i - CHAIN_WORDS];
            types[i] = 1;
            scores[i] = -(float)i;
        }
        pieces[i] = (gguf_str){piece, strlen(piece)};
    }
    gguf_put_str(w, "tokenizer.ggml.model", "llama");
    gguf_put_strs(w, "tokenizer.ggml.tokens", pieces, CHAIN_DIM);
    gguf_put_f32s(w, "tokenizer.ggml.scores", scores, CHAIN_DIM);
    gguf_put_i32s(w, "tokenizer.ggml.token_type", types, CHAIN_DIM);
    gguf_put_u32(w, "tokenizer.ggml.bos_token_id", 1);
    gguf_put_u32(w, "tokenizer.ggml.eos_token_id", 2);
}

/* chat: the model's template (Jinja); NULL: none. */
static inline void chain_model_write_with(const char *path, const char *answer, const char *chat) {
    static const struct {
        const char *name;
        int k, n;
    } tensors[] = {
        {"token_embd.weight", CHAIN_DIM, CHAIN_DIM}, {"output_norm.weight", CHAIN_DIM, 1},
        {"output.weight", CHAIN_DIM, CHAIN_DIM},     {"blk.0.attn_norm.weight", CHAIN_DIM, 1},
        {"blk.0.attn_q.weight", CHAIN_DIM, 64},      {"blk.0.attn_k.weight", CHAIN_DIM, 64},
        {"blk.0.attn_v.weight", CHAIN_DIM, 64},      {"blk.0.attn_output.weight", 64, CHAIN_DIM},
        {"blk.0.ffn_norm.weight", CHAIN_DIM, 1},     {"blk.0.ffn_gate.weight", CHAIN_DIM, 64},
        {"blk.0.ffn_up.weight", CHAIN_DIM, 64},      {"blk.0.ffn_down.weight", 64, CHAIN_DIM}};
    fo_err err = {0};
    gguf_writer *w;
    chain_words *c = calloc(1, sizeof *c);
    assert_non_null(c);
    chain_read(c, answer);
    assert_ok(gguf_writer_create(&w, path, &err), &err);
    gguf_put_str(w, "general.architecture", "llama");
    gguf_put_str(w, "general.name", "chain");
    gguf_put_u32(w, "llama.block_count", 1);
    gguf_put_u32(w, "llama.context_length", CHAIN_CONTEXT);
    gguf_put_u32(w, "llama.embedding_length", CHAIN_DIM);
    gguf_put_u32(w, "llama.feed_forward_length", 64);
    gguf_put_u32(w, "llama.attention.head_count", 1);
    gguf_put_u32(w, "llama.attention.head_count_kv", 1);
    gguf_put_u32(w, "llama.attention.key_length", 64);
    gguf_put_u32(w, "llama.attention.value_length", 64);
    gguf_put_f32(w, "llama.attention.layer_norm_rms_epsilon", 1e-5f);
    chain_tokenizer(w, c);
    if (chat) gguf_put_str(w, "tokenizer.chat_template", chat);
    for (size_t i = 0; i < sizeof tensors / sizeof *tensors; i++) {
        uint64_t dims[2] = {(uint64_t)tensors[i].k, (uint64_t)tensors[i].n};
        gguf_put_tensor(w, tensors[i].name, QUANT_F32, tensors[i].n > 1 ? 2 : 1, dims);
    }
    for (size_t i = 0; i < sizeof tensors / sizeof *tensors; i++) {
        float row[CHAIN_DIM];
        for (int r = 0; r < tensors[i].n; r++) {
            for (int j = 0; j < tensors[i].k; j++)
                row[j] = i == 0              ? (float)(r == j)
                         : i == 2            ? (float)chain_follows(c, j, r)
                         : tensors[i].n == 1 ? 1.f
                                             : 0.f;
            assert_ok(gguf_write_data(w, row, (size_t)tensors[i].k * sizeof *row, &err), &err);
        }
    }
    assert_ok(gguf_writer_commit(w, &err), &err);
    free(c);
}

static inline void chain_model_write(const char *path, const char *answer) {
    chain_model_write_with(path, answer, NULL);
}

#endif
