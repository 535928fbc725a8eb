/* formats_here.h - formats that a worker reads, read in the test's own process: what is made of bytes stands beside
 * them in the test.
 *
 *     read_one(bytes, "rtf", "The plan.");
 *     ... cmocka_run_group_tests(tests, formats_here, NULL) ... */
#ifndef FORAGE_TESTS_FORMATS_HERE_H
#define FORAGE_TESTS_FORMATS_HERE_H

#include "tests/test.h"

#include "data/extract/extract.h"

enum { LIMIT = 4 << 20, MAX_ROWS = 48 };

/* The registry's formats as they are in a worker: in this process. */
static extract_format here[MAX_ROWS];
static size_t n_here;

static inline int formats_here(void **state) {
    (void)state;
    const extract_format *f;
    for (size_t i = 0; (f = extract_format_at(i)) && n_here < MAX_ROWS; i++) {
        if (!f->apart || f->program) continue;
        here[n_here] = *f;
        here[n_here++].apart = false;
    }
    return n_here < 5;
}

/* These bytes, under this name (NULL: none), are of this format and come out as this text. */
static inline void read_named(const char *name, const char *bytes, const char *format,
                              const char *text) {
    extracted x;
    fo_err err = {0};
    extract_request rq = {.bytes = bytes,
                          .n = strlen(bytes),
                          .file_name = name,
                          .max_text_bytes = LIMIT,
                          .formats = here,
                          .n_formats = n_here};
    assert_ok(extract_text(&x, &rq, &err), &err);
    assert_string_equal(x.format, format);
    assert_string_equal(x.text, text);
    extracted_deinit(&x);
}

static inline void read_one(const char *bytes, const char *format, const char *text) {
    read_named(NULL, bytes, format, text);
}

#endif
