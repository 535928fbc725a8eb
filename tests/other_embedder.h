/* other_embedder.h - an embedder that is not the built-in one: a home can meet a stranger. */
#ifndef FORAGE_TESTS_OTHER_EMBEDDER_H
#define FORAGE_TESTS_OTHER_EMBEDDER_H

#include "engine/gguf/gguf.h"
#include "tests/test.h"

/* A table of two dimensions, written into the folder; the path is the caller's to free. */
static inline char *other_embedder(const char *folder) {
    fo_err err = {0};
    char path[4096];
    snprintf(path, sizeof path, "%s/other.gguf", folder);
    gguf_writer *w;
    assert_ok(gguf_writer_create(&w, path, &err), &err);
    static const char *const words[] = {"[PAD]",       "[UNK]",   "[CLS]",         "[SEP]",
                                        "[MASK]",      "\u2581a", "\u2581e",       "\u2581near",
                                        "\u2581found", "n",       "\u2581granite", "\u2581slate",
                                        "\u2581marble"};
    enum { N = sizeof words / sizeof *words, DIM = 2 };
    gguf_str pieces[N];
    float table[N][DIM];
    for (int i = 0; i < N; i++) {
        pieces[i] = (gguf_str){words[i], strlen(words[i])};
        table[i][0] = (float)(i + 1);
        table[i][1] = (float)(N - i);
    }
    gguf_put_str(w, "general.architecture", "forage-static");
    gguf_put_str(w, "general.name", "other");
    gguf_put_u32(w, "forage-static.embedding_length", DIM);
    gguf_put_str(w, "tokenizer.ggml.model", "bert");
    gguf_put_strs(w, "tokenizer.ggml.tokens", pieces, N);
    gguf_put_u32(w, "tokenizer.ggml.unknown_token_id", 1);
    uint64_t dims[] = {DIM, N};
    gguf_put_tensor(w, "token_embd.weight", QUANT_F32, 2, dims);
    assert_ok(gguf_write_data(w, table, sizeof table, &err), &err);
    assert_ok(gguf_writer_commit(w, &err), &err);
    return strdup(path);
}

#endif
