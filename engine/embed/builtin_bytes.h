/* builtin_bytes.h - a file that travels inside the binary, brought in by the assembler.
 *
 *     BUILTIN_BYTES(forage_table, "data/models/table.gguf")
 *     const void *table(size_t *size) { return BUILTIN(forage_table, size); }
 *
 * 64-aligned, as GGUF tensors want. The pages are mapped with the program: what is never read takes no memory. */
#ifndef FORAGE_ENGINE_EMBED_BUILTIN_BYTES_H
#define FORAGE_ENGINE_EMBED_BUILTIN_BYTES_H

#include <stddef.h>

/* The names are global, so that C code finds them wherever a linker puts it (local ones are reached on x86-64 and
 * not on every other machine), and hidden, so that no library shows them. */
#define BUILTIN_BYTES(name, file)                                                                  \
    __asm__(".pushsection .rodata\n"                                                               \
            ".globl " #name "_begin\n.hidden " #name "_begin\n"                                    \
            ".globl " #name "_end\n.hidden " #name "_end\n"                                        \
            ".balign 64\n" #name "_begin:\n.incbin \"" file "\"\n" #name "_end:\n"                 \
            ".popsection\n");                                                                      \
    extern __attribute__((visibility("hidden"))) const unsigned char name##_begin[], name##_end[];

#define BUILTIN(name, size)                                                                        \
    (*(size) = (size_t)(name##_end - name##_begin), (const void *)name##_begin)

#endif
