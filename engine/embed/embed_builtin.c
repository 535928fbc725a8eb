/* The embedder inside the binary: dense search works on a machine with no model file. The bytes of
 * data/models/forage-embed-256.gguf come in by the assembler, 64-aligned as GGUF tensors want. */
#include "engine/embed/embed_builtin.h"

__asm__(".pushsection .rodata\n"
        ".balign 64\n"
        "forage_embed_builtin_begin:\n"
        ".incbin \"data/models/forage-embed-256.gguf\"\n"
        "forage_embed_builtin_end:\n"
        ".popsection\n");

extern const unsigned char forage_embed_builtin_begin[], forage_embed_builtin_end[];

const void *embed_builtin(size_t *size) {
    *size = (size_t)(forage_embed_builtin_end - forage_embed_builtin_begin);
    return forage_embed_builtin_begin;
}
