#include "engine/embed/reader_builtin.h"

#include "engine/embed/builtin_bytes.h"

BUILTIN_BYTES(forage_reader, "data/models/forage-reader.gguf")
BUILTIN_BYTES(forage_reader_cross, "data/models/forage-reader-cross.gguf")
BUILTIN_BYTES(forage_reader_cross_e5, "data/models/forage-reader-cross-e5.gguf")
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

const void *reader_builtin_cross_e5(size_t *size) {
    return BUILTIN(forage_reader_cross_e5, size);
}
