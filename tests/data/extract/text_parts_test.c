/* A large text in parts: together they are the text; each ends at an empty line, a line, a word or a character, in this
 * order; what is added at the end changes the last alone; and only what is text of single bytes is cut. */
#include "tests/test.h"

#include "data/extract/extract.h"
#include "data/extract/text_parts.h"
#include "kernels/utf8.h"

enum { N = 5 * TEXT_PART_BYTES / 2 };

typedef struct parts {
    fo_buf joined;
    size_t n, ends[16];
} parts;

static int on_part(void *ctx, const text_part *p, fo_err *err) {
    (void)err;
    parts *to = ctx;
    assert_int_equal(p->at, to->joined.len);
    assert_int_equal(p->number, ++to->n);
    assert_true(p->n > 0 && p->n <= TEXT_PART_BYTES);
    fo_buf_add(&to->joined, p->bytes, p->n);
    if (to->n < 16) to->ends[to->n] = to->joined.len;
    return FO_OK;
}

/* In pieces of so many bytes. */
static parts cut(const char *s, size_t n, size_t piece) {
    parts to = {0};
    fo_err err = {0};
    text_cutter c = {.part = on_part, .ctx = &to};
    for (size_t at = 0; at < n; at += piece)
        assert_ok(text_cutter_feed(&c, s + at, n - at < piece ? n - at : piece, &err), &err);
    assert_ok(text_cutter_end(&c, FO_OK, &err), &err);
    assert_int_equal(to.joined.len, n);
    assert_memory_equal(to.joined.data, s, n);
    return to;
}

static char *text_of(const char *unit, size_t n) {
    char *s = malloc(n + 1);
    size_t k = strlen(unit);
    for (size_t i = 0; s && i < n; i++) s[i] = unit[i % k];
    if (s) s[n] = 0;
    return s;
}

static void parts_end_where_the_text_does(void **state) {
    (void)state;
    const struct {
        const char *unit, *behind;
    } rows[] = {{"The heron waits. Nobody\nsees it there.\n\n", "\n\n"},
                {"The heron waits. Nobody\r\nsees it there.\r\n\r\n", "\r\n\r\n"},
                {"The heron waits. Nobody sees it there.\n", "\n"},
                {"heron ", " "}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *s = text_of(rows[i].unit, N);
        parts p = cut(s, N, 4096);
        assert_in_range(p.n, 3, 6);
        for (size_t k = 1; k < p.n; k++) {
            size_t n = strlen(rows[i].behind);
            assert_memory_equal(s + p.ends[k] - n, rows[i].behind, n);
        }
        fo_buf_free(&p.joined);
        free(s);
    }
}

static void no_character_is_cut(void **state) {
    (void)state;
    char *s = text_of("\xe9\xb7\xba", N);
    parts p = cut(s, N, 1000);
    for (size_t k = 1; k < p.n; k++) assert_true(fo_utf8_boundary(s[p.ends[k]]));
    fo_buf_free(&p.joined);
    memset(s, 0x80, N); /* no text at all: it ends all the same */
    p = cut(s, N, 70000);
    assert_int_equal(p.n, 3);
    fo_buf_free(&p.joined);
    free(s);
}

static void how_it_comes_does_not_matter_nor_what_follows(void **state) {
    (void)state;
    char *s = text_of("One line of a log that grows.\n", N);
    parts p = cut(s, N, 1), q = cut(s, N, N), r = cut(s, N - 1000, 333);
    assert_int_equal(p.n, q.n);
    assert_memory_equal(p.ends, q.ends, sizeof p.ends);
    assert_int_equal(p.n, r.n);
    for (size_t k = 1; k < p.n; k++) assert_int_equal(p.ends[k], r.ends[k]);
    fo_buf_free(&p.joined);
    fo_buf_free(&q.joined);
    fo_buf_free(&r.joined);
    free(s);
}

static int refuse_second(void *ctx, const text_part *p, fo_err *err) {
    size_t *n = ctx;
    *n += 1;
    return p->number == 2 ? fo_fail(err, FO_ENOSPC, "the disk is full") : FO_OK;
}

static void an_error_ends_it(void **state) {
    (void)state;
    char *s = text_of("line\n", N);
    size_t n = 0;
    fo_err err = {0};
    text_cutter c = {.part = refuse_second, .ctx = &n};
    int rc = text_cutter_feed(&c, s, N, &err);
    assert_int_equal(text_cutter_end(&c, rc, &err), FO_ENOSPC);
    assert_int_equal(n, 2);
    free(s);
}

static bool in_parts(const void *head, size_t n, const char *type, const char *name) {
    return extract_in_parts(head, n, type, name);
}

static void only_text_of_single_bytes_is_cut(void **state) {
    (void)state;
    const char text[] = "The log of the harbour.\nA ship came in.\n", wide[] = "\xff\xfeT\0h\0e\0";
    assert_true(in_parts(text, sizeof text - 1, NULL, "harbour.log"));
    assert_true(in_parts(text, sizeof text - 1, NULL, "harbour.md"));
    assert_true(in_parts(text, sizeof text - 1, "text/plain; charset=iso-8859-1", NULL));
    assert_true(in_parts(text, sizeof text - 1, NULL, NULL));
    assert_false(
        in_parts(text, sizeof text - 1, NULL, "harbour.csv")); /* a header belongs to all */
    assert_false(in_parts(text, sizeof text - 1, NULL, "harbour.html"));
    assert_false(in_parts(text, sizeof text - 1, "text/plain; charset=utf-16", NULL));
    assert_false(in_parts(wide, sizeof wide - 1, NULL, "harbour.log"));
    assert_false(in_parts("\0\1\2\3\4\5\6\7", 8, NULL, "harbour.log"));
    assert_false(in_parts("%PDF-1.4\n", 9, NULL, "harbour.log"));
    assert_false(in_parts("\x1f\x8b\x08\0\0\0\0\0", 8, NULL, "harbour.log"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_end_where_the_text_does),
        cmocka_unit_test(no_character_is_cut),
        cmocka_unit_test(how_it_comes_does_not_matter_nor_what_follows),
        cmocka_unit_test(an_error_ends_it),
        cmocka_unit_test(only_text_of_single_bytes_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
