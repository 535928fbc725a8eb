/* inspect.h - what a GGUF file holds, what it needs, and whether this program can run it. */
#ifndef FORAGE_ENGINE_INSPECT_H
#define FORAGE_ENGINE_INSPECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "engine/gguf/gguf.h"
#include "kernels/error.h"

typedef enum inspect_kind {
    INSPECT_UNKNOWN,    /* no architecture that this program knows */
    INSPECT_VOCABULARY, /* a tokenizer alone, no tensors */
    INSPECT_GENERATOR,
    INSPECT_ENCODER,
    INSPECT_RERANKER,
    INSPECT_STATIC, /* a table for the static embedder */
} inspect_kind;

typedef struct inspect_report {
    inspect_kind kind;
    char architecture[64], name[128]; /* "" where the file does not say */
    uint64_t file_bytes, n_parameters;
    struct {
        size_t n_tensors;
        uint64_t bytes;
    } types[QUANT_TYPE_END];
    int n_layers, n_context, n_vocab; /* 0 where it makes no sense */
    uint64_t weight_bytes;            /* as they are repacked, on the serving path */
    uint64_t scratch_bytes;           /* for what a step computes */
    uint64_t kv_bytes_per_token;      /* in BF16; 0 for what has no KV cache */
    uint64_t needed_bytes;            /* weights + scratch + KV of kv_tokens */
    int kv_tokens;                    /* the context, at most 4096 */
    uint64_t available_bytes;         /* what this machine can give now; 0: unknown */
    bool runs;                        /* this program would open it, given the memory */
    bool fits;                        /* and there is the memory; the mapped file needs none of its
                                         own, and the KV cache makes do with less than kv_tokens */
    char reason[512];                 /* why it does not run, or does not fit; "" if it does */
} inspect_report;

const char *inspect_kind_name(inspect_kind kind); /* "generator"; static */

/* Fill *out. `g` is the same file, opened. A model that this program cannot run is no error:
 * runs is false then and reason says why. Each kind of model is judged by the code that opens it
 * (engine_file.h, embedder.h, encoder_vocabulary.h), up to where the weights would be read. */
void inspect_file(inspect_report *out, const char *path, const gguf *g);

#endif
