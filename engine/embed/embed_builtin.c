/* The embedders inside the binary: dense search works on a machine with no model file. A table,
 * data/models/forage-embed-256.gguf, and what makes an encoder of the reader's weights,
 * data/models/forage-encoder.gguf. */
#include "engine/embed/embed_builtin.h"
#include "engine/embed/builtin_bytes.h"

BUILTIN_BYTES(forage_embed_builtin, "data/models/forage-embed-256.gguf")
BUILTIN_BYTES(forage_encoder_builtin, "data/models/forage-encoder.gguf")

const void *embed_builtin(size_t *size) {
    return BUILTIN(forage_embed_builtin, size);
}

const void *embed_builtin_encoder(size_t *size) {
    return BUILTIN(forage_encoder_builtin, size);
}
