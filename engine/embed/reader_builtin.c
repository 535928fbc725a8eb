/* The reader's model inside the binary, data/models/forage-reader.gguf, 64-aligned as GGUF tensors
 * want. Its pages are mapped with the program: memory that is never read takes none. */
#include "engine/embed/reader_impl.h"

__asm__(".pushsection .rodata\n"
        ".balign 64\n"
        "forage_reader_begin:\n"
        ".incbin \"data/models/forage-reader.gguf\"\n"
        "forage_reader_end:\n"
        ".popsection\n");

extern const unsigned char forage_reader_begin[], forage_reader_end[];

const void *reader_builtin(size_t *size) {
    *size = (size_t)(forage_reader_end - forage_reader_begin);
    return forage_reader_begin;
}
