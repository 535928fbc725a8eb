/* embed_builtin.h - the static embedding table that travels inside the binary. */
#ifndef FORAGE_ENGINE_EMBED_BUILTIN_H
#define FORAGE_ENGINE_EMBED_BUILTIN_H

#include <stddef.h>

/* The bytes of a GGUF file; they live as long as the program. */
const void *embed_builtin(size_t *size);

#endif
