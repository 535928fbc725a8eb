/* The embedders inside the binary: dense search works on a machine with no model file. The bytes of
 * data/models/forage-embed-256.gguf, a table, and of data/models/forage-encoder.gguf, what makes an encoder of the
 * reader's weights, come in by the assembler, 64-aligned as GGUF tensors want. */
#include "engine/embed/embed_builtin.h"

__asm__(".pushsection .rodata\n"
        ".balign 64\n"
        "forage_embed_builtin_begin:\n"
        ".incbin \"data/models/forage-embed-256.gguf\"\n"
        "forage_embed_builtin_end:\n"
        ".balign 64\n"
        "forage_encoder_builtin_begin:\n"
        ".incbin \"data/models/forage-encoder.gguf\"\n"
        "forage_encoder_builtin_end:\n"
        ".popsection\n");

extern const unsigned char forage_embed_builtin_begin[], forage_embed_builtin_end[];
extern const unsigned char forage_encoder_builtin_begin[], forage_encoder_builtin_end[];

const void *embed_builtin(size_t *size) {
    *size = (size_t)(forage_embed_builtin_end - forage_embed_builtin_begin);
    return forage_embed_builtin_begin;
}

const void *embed_builtin_encoder(size_t *size) {
    *size = (size_t)(forage_encoder_builtin_end - forage_encoder_builtin_begin);
    return forage_encoder_builtin_begin;
}
