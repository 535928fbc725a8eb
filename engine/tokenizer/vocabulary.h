/* vocabulary.h - WordPiece vocabularies: out of Hugging Face's files, into GGUF metadata. */
#ifndef FORAGE_ENGINE_VOCABULARY_H
#define FORAGE_ENGINE_VOCABULARY_H

#include <stddef.h>
#include "engine/gguf/gguf.h"
#include "engine/tokenizer/tokenizer.h"
#include "kernels/error.h"

typedef struct vocabulary {
    tokenizer_string *pieces; /* [n]; a piece's id is its index; "##" marks a continuation */
    size_t n;
    char *bytes; /* what the pieces point into */
} vocabulary;

/* A piece a line (vocab.txt). FO_ENOTFOUND, FO_EIO, FO_EINVAL (no pieces), FO_ENOMEM. */
int vocabulary_read_text(vocabulary *out, const char *path, fo_err *err);

/* model.vocab of a tokenizer.json. FO_EUNSUPPORTED where its model is not WordPiece; FO_ECORRUPT
 * where ids are not 0 .. n - 1, each once. */
int vocabulary_read_json(vocabulary *out, const char *path, fo_err *err);

/* tokenizer.ggml.tokens as they stand there; copied, the file may be closed. */
int vocabulary_read_gguf(vocabulary *out, const gguf *g, fo_err *err);

void vocabulary_free(vocabulary *v); /* zeroes it */

/* tokenizer.ggml.* for these pieces, whose special ones `t` (made from them) knows. */
int vocabulary_put(gguf_writer *w, const tokenizer_string *pieces, size_t n, const tokenizer *t,
                   fo_err *err);

#endif
