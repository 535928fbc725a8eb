#include "engine/tools/inspect.h"

#include <stdio.h>
#include <string.h>
#include "engine/embed/embed_static.h"
#include "engine/embed/embedder_impl.h"
#include "engine/embed/encoder_vocabulary.h"
#include "engine/generate/engine_file.h"
#include "engine/model/model.h"
#include "engine/model/model_memory.h"
#include "engine/tokenizer/tokenizer_gguf.h"

enum { KV_TOKENS = 4096, BF16_BYTES = 2 };

const char *inspect_kind_name(inspect_kind kind) {
    static const char *const names[] = {"unknown", "vocabulary", "generator",
                                        "encoder", "reranker",   "static embedder"};
    return names[kind];
}

static void copy_string(const gguf *g, const char *key, char *out, size_t size) {
    gguf_str s;
    if (gguf_get_str(g, key, &s, NULL)) return;
    snprintf(out, size, "%.*s", (int)(s.len < size ? s.len : size - 1), s.ptr);
}

static void count_tensors(inspect_report *r, const gguf *g) {
    for (size_t i = 0; i < gguf_n_tensors(g); i++) {
        const gguf_tensor *t = gguf_tensor_at(g, i);
        r->types[t->type].n_tensors++;
        r->types[t->type].bytes += t->size_bytes;
        r->n_parameters += t->n_values;
    }
}

static void say_why(inspect_report *r, const fo_err *err) {
    snprintf(r->reason, sizeof r->reason, "%s", err->msg);
}

static void look_at_table(inspect_report *r, const char *path) {
    fo_err err = {0};
    embedder *e;
    r->kind = INSPECT_STATIC;
    if (embedder_open(&e, path, &err)) {
        say_why(r, &err);
        return;
    }
    r->runs = r->fits = true;
    embedder_close(e);
}

static void look_at_vocabulary(inspect_report *r, const gguf *g) {
    fo_err err = {0};
    tokenizer *t;
    r->kind = INSPECT_VOCABULARY;
    if (tokenizer_from_gguf(&t, g, &err)) {
        say_why(r, &err);
        return;
    }
    r->n_vocab = (int)tokenizer_vocab_size(t);
    snprintf(r->reason, sizeof r->reason, "the file holds a vocabulary but no weights");
    tokenizer_free(t);
}

/* One that writes: the engine's own checks, with its defaults. */
static void look_at_generator(inspect_report *r, const char *path, const model_info *i) {
    engine_file c;
    fo_err err = {0};
    r->kind = INSPECT_GENERATOR;
    r->kv_bytes_per_token = (uint64_t)i->n_layers * (uint64_t)i->n_kv_heads *
                            (uint64_t)(i->k_dim + i->v_dim) * BF16_BYTES;
    r->kv_tokens = i->n_context < KV_TOKENS ? i->n_context : KV_TOKENS;
    int rc = engine_file_check(&c, &(engine_options){.model = path, .kv_type = KV_BF16}, &err);
    r->scratch_bytes = c.memory.scratch;
    r->runs = !rc || rc == FO_ENOMEM;
    r->fits = !rc;
    if (rc) say_why(r, &err);
    tokenizer_free(c.tokenizer);
}

static void look_at_encoder(inspect_report *r, const char *path, const gguf *g,
                            const model_info *i) {
    fo_err err = {0};
    tokenizer *t = NULL;
    int32_t first, last;
    uint64_t bytes = 0;
    r->kind = i->n_scores ? INSPECT_RERANKER : INSPECT_ENCODER;
    int rc = i->n_scores ? encoder_vocabulary(&t, &first, &last, g, i, &err)
                         : embed_encoder_check(g, i, path, &err);
    tokenizer_free(t);
    if (!rc) rc = model_memory_of_encoder(&bytes, path, &err);
    r->scratch_bytes = bytes > i->weight_bytes ? bytes - i->weight_bytes : 0;
    r->runs = !rc;
    r->fits = r->runs && (!r->available_bytes || bytes <= r->available_bytes);
    if (rc) say_why(r, &err);
    if (r->runs && !r->fits)
        snprintf(r->reason, sizeof r->reason, "%s needs %llu MiB; %llu MiB are available", path,
                 (unsigned long long)(bytes >> 20), (unsigned long long)(r->available_bytes >> 20));
}

static void look_at_model(inspect_report *r, const char *path, const gguf *g) {
    fo_err err = {0};
    model_info i;
    if (model_probe(&i, path, true, &err)) {
        say_why(r, &err);
        return;
    }
    r->n_layers = i.n_layers;
    r->n_context = i.n_context;
    r->n_vocab = i.n_vocab;
    r->weight_bytes = i.weight_bytes;
    if (i.encoder)
        look_at_encoder(r, path, g, &i);
    else
        look_at_generator(r, path, &i);
}

void inspect_file(inspect_report *out, const char *path, const gguf *g) {
    inspect_report r = {.file_bytes = gguf_file_bytes(g),
                        .available_bytes = model_memory_available()};
    copy_string(g, "general.architecture", r.architecture, sizeof r.architecture);
    copy_string(g, "general.name", r.name, sizeof r.name);
    count_tensors(&r, g);
    if (!strcmp(r.architecture, EMBED_STATIC_ARCH))
        look_at_table(&r, path);
    else if (!gguf_n_tensors(g))
        look_at_vocabulary(&r, g);
    else
        look_at_model(&r, path, g);
    r.needed_bytes =
        r.weight_bytes + r.scratch_bytes + r.kv_bytes_per_token * (uint64_t)r.kv_tokens;
    *out = r;
}
