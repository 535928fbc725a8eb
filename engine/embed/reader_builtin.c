/* The reader's models inside the binary, data/models/forage-reader*.gguf, 64-aligned as GGUF tensors
 * want. Its pages are mapped with the program: memory that is never read takes none. */
#include "engine/embed/reader_impl.h"

__asm__(".pushsection .rodata\n"
        ".balign 64\n"
        "forage_reader_begin:\n"
        ".incbin \"data/models/forage-reader.gguf\"\n"
        "forage_reader_end:\n"
        ".balign 64\n"
        "forage_reader_cross_begin:\n"
        ".incbin \"data/models/forage-reader-cross.gguf\"\n"
        "forage_reader_cross_end:\n"
        ".popsection\n");

extern const unsigned char forage_reader_begin[], forage_reader_end[];
extern const unsigned char forage_reader_cross_begin[], forage_reader_cross_end[];

const void *reader_builtin(size_t *size) {
    *size = (size_t)(forage_reader_end - forage_reader_begin);
    return forage_reader_begin;
}

const void *reader_builtin_cross(size_t *size) {
    *size = (size_t)(forage_reader_cross_end - forage_reader_cross_begin);
    return forage_reader_cross_begin;
}
