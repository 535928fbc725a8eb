/* office_here.h - Office files put together from their parts, read in the test's own process.
 *
 *     expect((part[]){{"word/document.xml", W P("Care") W_END}, {0}}, "Care"); */
#ifndef FORAGE_TESTS_OFFICE_HERE_H
#define FORAGE_TESTS_OFFICE_HERE_H

#include "tests/data/extract/formats_here.h"

#include <zip.h>

typedef struct part {
    const char *name, *text;
} part;

/* An archive of these parts, which NULL ends. */
static inline void *make(const part *parts, size_t *n) {
    zip_error_t why;
    zip_error_init(&why);
    zip_source_t *to = zip_source_buffer_create(NULL, 0, 0, &why);
    zip_t *z = zip_open_from_source(to, ZIP_TRUNCATE, &why);
    assert_non_null(z);
    zip_source_keep(to);
    for (; parts->name; parts++) {
        zip_source_t *s = zip_source_buffer(z, parts->text, strlen(parts->text), 0);
        zip_int64_t at = zip_file_add(z, parts->name, s, 0);
        assert_true(at >= 0);
        if (!strcmp(parts->name, "mimetype"))
            zip_set_file_compression(z, (zip_uint64_t)at, ZIP_CM_STORE, 0);
    }
    assert_int_equal(zip_close(z), 0);
    zip_stat_t st;
    assert_int_equal(zip_source_stat(to, &st), 0);
    char *bytes = malloc(st.size + 1);
    assert_int_equal(zip_source_open(to), 0);
    assert_int_equal(zip_source_read(to, bytes, st.size), (zip_int64_t)st.size);
    zip_source_close(to);
    zip_source_free(to);
    *n = st.size;
    return bytes;
}

static inline int read_parts(extracted *x, const part *parts, fo_err *err) {
    size_t n;
    void *bytes = make(parts, &n);
    *err = (fo_err){0};
    doc_budget budget = {.cpu_ms = 20000, .max_bytes = 64 << 20};
    doc_budget_begin(&budget);
    extract_request rq = {.bytes = bytes,
                          .n = n,
                          .max_text_bytes = LIMIT,
                          .budget = &budget,
                          .formats = here,
                          .n_formats = n_here};
    int rc = extract_text(x, &rq, err);
    if (rc) assert_int_equal(budget.used, 0);
    free(bytes);
    return rc;
}

static inline void expect(const part *parts, const char *text) {
    extracted x;
    fo_err err;
    assert_ok(read_parts(&x, parts, &err), &err);
    assert_string_equal(x.text, text);
    extracted_deinit(&x);
}

static inline void refuse(const part *parts, int code, const char *says) {
    extracted x;
    fo_err err;
    int rc = read_parts(&x, parts, &err);
    if (rc != code || !strstr(err.msg, says)) fail_msg("%d %s", rc, err.msg);
    assert_null(x.text);
}

#define ODF_TYPE(kind)                                                                             \
    { "mimetype", "application/vnd.oasis.opendocument." kind }

#define REL(id, type, target) "<Relationship Id='" id "' Type='x/" type "' Target='" target "'/>"
#define RELS(rows)            "<Relationships>" rows "</Relationships>"

/* Of a table on a slide. */
#define A_CELL(says, text) "<tc" says "><txBody><p><r><t>" text "</t></r></p></txBody></tc>"

#define W          "<w:document xmlns:w='w' xmlns:mc='mc'><w:body>"
#define W_END      "</w:body></w:document>"
#define P(text)    "<w:p><w:r><w:t>" text "</w:t></w:r></w:p>"
#define CELL(text) "<w:tc>" P(text) "</w:tc>"

#endif
