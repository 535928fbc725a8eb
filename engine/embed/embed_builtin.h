/* embed_builtin.h - the embedders that travel inside the binary. */
#ifndef FORAGE_ENGINE_EMBED_BUILTIN_H
#define FORAGE_ENGINE_EMBED_BUILTIN_H

#include <stddef.h>

/* The bytes of GGUF files; they live as long as the program. A static table; and changes of the reader's weights
 * (weight_changes.h) that make them all-MiniLM-L6-v2 again, from which the reader was trained. */
const void *embed_builtin(size_t *size);
const void *embed_builtin_encoder(size_t *size);

#endif
