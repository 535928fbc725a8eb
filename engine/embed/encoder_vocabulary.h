/* encoder_vocabulary.h - what an encoder's file holds beside its weights. */
#ifndef FORAGE_ENGINE_ENCODER_VOCABULARY_H
#define FORAGE_ENGINE_ENCODER_VOCABULARY_H

#include "engine/gguf/gguf.h"
#include "engine/model/model.h"
#include "engine/tokenizer/tokenizer.h"

/* The vocabulary of a file whose shape is `info` (model_probe), with the tokens that stand before
 * and behind a text. Refuses a window without room for a text, or for a pair of them where the
 * model scores pairs. The caller frees *out. FO_ECORRUPT, FO_EUNSUPPORTED, FO_ENOMEM. */
int encoder_vocabulary(tokenizer **out, int32_t *first, int32_t *last, const gguf *g,
                       const model_info *info, fo_err *err);

#endif
