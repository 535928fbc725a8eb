/* extract_fixture.h - bytes of a type or name as text, whose blocks are in order. */
#ifndef FORAGE_TESTS_EXTRACT_FIXTURE_H
#define FORAGE_TESTS_EXTRACT_FIXTURE_H

#include "data/extract/extract.h"
#include "kernels/utf8.h"
#include "tests/test.h"

enum { LIMIT = 8 << 20 };

static inline extracted read_as(const char *bytes, size_t n, const char *type, const char *name) {
    extracted x;
    fo_err err = {0};
    assert_ok(extract_text(&x,
                           &(extract_request){.bytes = bytes,
                                              .n = n,
                                              .content_type = type,
                                              .file_name = name,
                                              .max_text_bytes = LIMIT},
                           &err),
              &err);
    size_t at = 0;
    for (size_t i = 0; i < x.n_blocks; i++) {
        assert_true(x.blocks[i].start >= at && x.blocks[i].end > x.blocks[i].start);
        at = x.blocks[i].end;
    }
    assert_true(at <= x.len);
    assert_true(fo_utf8_valid(x.text, x.len, NULL));
    return x;
}

static inline extracted read_string(const char *s, const char *type, const char *name) {
    return read_as(s, strlen(s), type, name);
}

#endif
