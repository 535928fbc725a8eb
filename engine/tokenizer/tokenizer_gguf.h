/* tokenizer_gguf.h - a tokenizer from a model file's metadata (tokenizer.ggml.*). */
#ifndef FORAGE_ENGINE_TOKENIZER_GGUF_H
#define FORAGE_ENGINE_TOKENIZER_GGUF_H

#include "engine/gguf/gguf.h"
#include "engine/tokenizer/tokenizer.h"

/* The file may be closed afterwards. FO_ENOTFOUND (no vocabulary), FO_ECORRUPT, FO_EUNSUPPORTED
 * (a family or pre-tokeniser that Forage does not know), FO_ENOMEM. */
int tokenizer_from_gguf(tokenizer **out, const gguf *g, fo_err *err);

#endif
