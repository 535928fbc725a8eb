/* embedder_impl.h - what the kinds of embedder share; nobody else includes it.
 *
 * A kind is one file: a struct that begins with `embedder base`, one embedder_ops, and an open
 * function which embedder.c calls when it recognises the file. */
#ifndef FORAGE_ENGINE_EMBEDDER_IMPL_H
#define FORAGE_ENGINE_EMBEDDER_IMPL_H

#include "engine/embed/embedder.h"
#include "engine/gguf/gguf.h"
#include "engine/model/model.h"
#include "engine/gguf/safetensors.h"
#include "engine/tokenizer/tokenizer.h"

typedef struct embedder_ops {
    void (*close)(embedder *e); /* frees e itself too */
    int (*embed)(embedder *e, enum embed_kind kind, const char *const *texts, const size_t *lens,
                 size_t n_texts, float *out, fo_err *err); /* need not normalise */
    size_t (*count_tokens)(embedder *e, const char *text, size_t len);
    int (*intact)(const embedder *e, fo_err *err);
} embedder_ops;

struct embedder { /* immutable after open */
    const embedder_ops *ops;
    char name[128];
    char fingerprint[65];
    size_t dim, max_tokens;
    float alpha;
    const tokenizer *vocabulary; /* the kind's own */
    model *weights;              /* the kind's own; NULL: a table */
};

/* SHA-256 fed piece by piece; every piece is preceded by its length, so that no two lists of
 * pieces hash alike. */
typedef struct fingerprint fingerprint;
fingerprint *embedder_fingerprint_begin(const char *kind); /* NULL when out of memory */
void embedder_fingerprint_add(fingerprint *f, const void *p, size_t n);
int embedder_fingerprint_end(fingerprint *f, char hex[65], fo_err *err); /* frees f; NULL fails */

void embedder_set_name(embedder *e, const char *s, size_t n); /* cut to fit at a code point */

/* A static table out of a GGUF file; takes g over, also on failure. */
int embed_static_open_gguf(embedder **out, gguf *g, const char *path, fo_err *err);

/* An encoder out of a GGUF file; NULL: the one inside the binary. */
int embed_encoder_open(embedder **out, const char *path, const embedder_options *o, fo_err *err);
/* What opening it would refuse, without its weights. g: the file; info: of model_probe. */
int embed_encoder_check(const gguf *g, const model_info *info, const char *path, fo_err *err);

/* A model2vec folder. */
int embed_static_open_folder(embedder **out, const char *path, fo_err *err);

#endif
