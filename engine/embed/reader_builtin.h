/* reader_builtin.h - the reader's models inside the binary, GGUF files: the reader; files of changes (weight_changes.h) that make the
 * cross-encoder of it, and of the cross-encoder the reader of spans; those that make a cross-encoder of multilingual-e5-small,
 * which is not inside. They live as long as the program. */
#ifndef FORAGE_ENGINE_READER_BUILTIN_H
#define FORAGE_ENGINE_READER_BUILTIN_H

#include <stddef.h>

const void *reader_builtin(size_t *size);
const void *reader_builtin_cross(size_t *size);
const void *reader_builtin_spans(size_t *size);
const void *reader_builtin_cross_e5(size_t *size);

#endif
