/* The reader's models inside the binary, data/models/forage-reader*.gguf. */
#include "engine/embed/builtin_bytes.h"
#include "engine/embed/reader_impl.h"

BUILTIN_BYTES(forage_reader, "data/models/forage-reader.gguf")
BUILTIN_BYTES(forage_reader_cross, "data/models/forage-reader-cross.gguf")
BUILTIN_BYTES(forage_reader_spans, "data/models/forage-reader-spans.gguf")

const void *reader_builtin(size_t *size) {
    return BUILTIN(forage_reader, size);
}

const void *reader_builtin_cross(size_t *size) {
    return BUILTIN(forage_reader_cross, size);
}

const void *reader_builtin_spans(size_t *size) {
    return BUILTIN(forage_reader_spans, size);
}
