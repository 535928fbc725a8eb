/* A large text in parts: together they are the text; each ends at an empty line, a line, a word or a character, in this
 * order, of a table at the end of a row; what is added at the end changes the last alone; text in UTF-16 and packed text come
 * out as the same parts; and only what is text is cut. */
#include "tests/test.h"

#include <zlib.h>

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
    text_kind kind;
    return extract_in_parts(head, n, type, name, &kind);
}

/* ---- packed, wide, tables ------------------------------------------------------------------------------ */

static fo_buf gzip_of(const char *s, size_t n) {
    fo_buf out = {0};
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_true(fo_buf_reserve(&out, deflateBound(&z, n) + 64));
    z.next_in = (unsigned char *)s;
    z.avail_in = (uInt)n;
    z.next_out = (unsigned char *)out.data;
    z.avail_out = (uInt)(n + 4096);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    out.len = z.total_out;
    deflateEnd(&z);
    return out;
}

static fo_buf utf16_of(const char *s, size_t n, bool big) {
    fo_buf out = {0};
    fo_buf_add(&out, big ? "\xfe\xff" : "\xff\xfe", 2);
    for (size_t at = 0; at < n;) {
        int32_t cp;
        at += fo_utf8_decode(s + at, n - at, &cp);
        uint16_t units[2] = {(uint16_t)cp, 0};
        size_t k = cp > 0xFFFF ? 2 : 1;
        if (k == 2) {
            units[0] = (uint16_t)(0xD800 + ((cp - 0x10000) >> 10));
            units[1] = (uint16_t)(0xDC00 + ((cp - 0x10000) & 0x3FF));
        }
        for (size_t i = 0; i < k; i++) {
            fo_buf_char(&out, (char)(big ? units[i] >> 8 : units[i]));
            fo_buf_char(&out, (char)(big ? units[i] : units[i] >> 8));
        }
    }
    return out;
}

/* In pieces of so many bytes, as extract_in_parts says they are to be taken. */
static parts cut_as(const fo_buf *b, const char *name, size_t piece, fo_err *bad) {
    parts to = {0};
    fo_err err = {0};
    text_cutter c = {.part = on_part, .ctx = &to};
    assert_true(extract_in_parts(b->data, b->len < 32768 ? b->len : 32768, NULL, name, &c.kind));
    for (size_t at = 0; at < b->len; at += piece)
        assert_ok(
            text_cutter_feed(&c, b->data + at, b->len - at < piece ? b->len - at : piece, &err),
            &err);
    assert_ok(text_cutter_end(&c, FO_OK, &err), &err);
    *bad = c.bad;
    return to;
}

static void what_is_packed_or_wide_comes_out_as_the_same_parts(void **state) {
    (void)state;
    fo_buf text = {0};
    for (unsigned i = 0; text.len < N; i++) /* numbers at random: it does not pack like a bomb */
        fo_buf_printf(&text, "The h\xc3\xa9ron \xf0\x9f\x90\xa6 waits %u.\nNobody sees it.\n%s",
                      i * 2654435761u, i % 5 ? "" : "\n");
    char *s = fo_buf_take(&text, NULL);
    assert_non_null(s);
    parts plain = cut(s, N, 4096);
    size_t n = plain.joined.len;
    fo_buf wide = utf16_of(s, N, false), big = utf16_of(s, N, true), packed = gzip_of(s, N),
           both = gzip_of(wide.data, wide.len);
    const struct {
        const fo_buf *b;
        const char *name;
    } rows[] = {{&wide, "a.txt"}, {&big, "a.txt"}, {&packed, "a.txt.gz"}, {&both, "a.log.gz"}};
    const size_t pieces[] = {1, 3, 1000, 1 << 20};
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < 4; k++) {
            fo_err bad;
            parts p = cut_as(rows[i].b, rows[i].name, pieces[k], &bad);
            assert_int_equal(bad.code, FO_OK);
            /* text_of may end within a character: that is replaced on the way through UTF-16 */
            assert_in_range(p.joined.len, n - 4, n + 4);
            assert_memory_equal(p.joined.data, s, n - 8);
            assert_int_equal(p.n, plain.n);
            for (size_t e = 1; e + 1 < p.n; e++) assert_int_equal(p.ends[e], plain.ends[e]);
            fo_buf_free(&p.joined);
        }
    /* Two members, and padding: one text. */
    fo_buf two = {0};
    fo_buf_add(&two, packed.data, packed.len);
    fo_buf_add(&two, packed.data, packed.len);
    fo_buf_add(&two, "\0\0\0", 3);
    fo_err bad;
    parts p = cut_as(&two, "a.txt.gz", 777, &bad);
    assert_int_equal(bad.code, FO_OK);
    assert_int_equal(p.joined.len, 2 * (size_t)N);
    fo_buf_free(&p.joined);
    fo_buf_free(&two);
    fo_buf_free(&wide);
    fo_buf_free(&big);
    fo_buf_free(&packed);
    fo_buf_free(&both);
    fo_buf_free(&plain.joined);
    free(s);
}

/* What was read before the damage stands, and the sentence says what is wrong. */
static void damage_and_bombs_are_said(void **state) {
    (void)state;
    char *s = malloc(N);
    assert_non_null(s);
    uint32_t x = 1;
    for (size_t i = 0; i < N; i++) /* that packs badly: the first part comes out before the end */
        s[i] = (char)('a' + ((x = x * 1664525 + 1013904223) >> 24) % 26),
        s[i] = i % 60 ? s[i] : '\n';
    fo_buf packed = gzip_of(s, N);
    fo_buf cut_off = {0}, bent = {0};
    fo_buf_add(&cut_off, packed.data, packed.len / 2);
    fo_buf_add(&bent, packed.data, packed.len);
    memset(bent.data + bent.len / 2, 0xFF, 64);
    fo_err bad;
    parts p = cut_as(&cut_off, "a.txt.gz", 5000, &bad);
    assert_int_equal(bad.code, FO_EINVAL);
    assert_non_null(strstr(bad.msg, "ends too early"));
    assert_in_range(p.n, 1, 3);
    assert_memory_equal(p.joined.data, s, p.joined.len);
    fo_buf_free(&p.joined);
    p = cut_as(&bent, "a.txt.gz", 5000, &bad);
    assert_int_equal(bad.code, FO_EINVAL);
    assert_non_null(strstr(bad.msg, "damaged"));
    fo_buf_free(&p.joined);
    fo_buf_free(&packed);
    const size_t n = 8 << 20;
    char *same = malloc(n);
    assert_non_null(same);
    memset(same, 'a', n);
    packed = gzip_of(same, n);
    p = cut_as(&packed, "a.txt.gz", 5000, &bad);
    assert_int_equal(bad.code, FO_ELIMIT);
    assert_non_null(strstr(bad.msg, "bomb"));
    fo_buf_free(&p.joined);
    fo_buf_free(&packed);
    fo_buf_free(&cut_off);
    fo_buf_free(&bent);
    free(same);
    free(s);
}

typedef struct table {
    fo_buf text; /* what the parts are read as */
    size_t n, rows;
    uint32_t last_row;
    bool cut; /* a row is longer than a part: the next part begins with more of it */
} table;

/* A part is read as the service would: its rows have the header's names and their own numbers. */
static int read_table_part(void *ctx, const text_part *p, fo_err *err) {
    (void)err;
    table *t = ctx;
    extracted x;
    fo_err why = {0};
    extract_request rq = {.bytes = p->bytes,
                          .n = p->n,
                          .file_name = "t.csv",
                          .max_text_bytes = 64 << 20,
                          .first_row = p->first_row,
                          .header_rows = p->header_rows};
    assert_true(p->n <= TEXT_PART_BYTES);
    assert_int_equal(p->number, ++t->n);
    assert_ok(extract_text(&x, &rq, &why), &why);
    for (size_t i = 0; i < x.n_blocks; i++) {
        const text_block *b = &x.blocks[i];
        const char *range = extracted_place(&x, b)->range;
        uint32_t row = (uint32_t)atoi(range + 1);
        if (p->number > 1 && i == 0 && p->header_rows) { /* the header again, where it stands */
            assert_int_equal(row, p->header_rows);
            continue;
        }
        assert_true(row > t->last_row || (t->cut && i == 1 && row == t->last_row));
        t->last_row = row;
        t->rows++;
        fo_buf_add(&t->text, x.text + b->start, b->end - b->start);
        fo_buf_char(&t->text, '\n');
    }
    extracted_deinit(&x);
    return FO_OK;
}

static table read_table(const char *s, size_t n, bool row_is_cut) {
    table t = {.cut = row_is_cut};
    fo_err err = {0};
    text_cutter c = {.part = read_table_part, .ctx = &t};
    assert_true(extract_in_parts(s, n < 32768 ? n : 32768, NULL, "t.csv", &c.kind));
    assert_true(c.kind.table);
    for (size_t at = 0; at < n; at += 9999)
        assert_ok(text_cutter_feed(&c, s + at, n - at < 9999 ? n - at : 9999, &err), &err);
    assert_ok(text_cutter_end(&c, FO_OK, &err), &err);
    return t;
}

/* The parts of a table are the table: row by row, each with the names of its columns, under its own number. */
static void parts_of_a_table_have_its_header_and_their_rows(void **state) {
    (void)state;
    enum { ROWS = 60000 };
    const struct {
        const char *head, *begins, *ends; /* of a row, around its number */
        const char *says;
        bool named;
    } tables[] = {
        {"Month,Rain mm,Remark\n", "March,", ",\"windy, and\nof two lines \"\"so\"\"\"\n",
         "Rain mm: 41", true},
        {"The rain of the lake\n\nMonth;Rain mm;Remark\r\n", "March;", ";dry\r\n", "Rain mm: 41",
         true},
        {"The rain of the lake\nMonth,2021,2022\n", "March,", ",77\n", "2021: 41; 2022: 77", true},
        {"", "March,", ",dry\n", "Rain mm: 41", false},
    };
    for (size_t k = 0; k < 4; k++) {
        fo_buf b = {0};
        fo_buf_str(&b, tables[k].head);
        for (int i = 0; i < ROWS; i++)
            fo_buf_printf(&b, "%s%d%s", tables[k].begins, i, tables[k].ends);
        table t = read_table(b.data, b.len, false);
        assert_in_range(t.n, 2, 9);
        extracted x;
        fo_err err = {0};
        extract_request whole = {
            .bytes = b.data, .n = b.len, .file_name = "t.csv", .max_text_bytes = 64 << 20};
        assert_ok(extract_text(&x, &whole, &err), &err);
        assert_int_equal(t.rows, x.n_blocks);
        assert_int_equal(t.last_row,
                         atoi(extracted_place(&x, &x.blocks[x.n_blocks - 1])->range + 1));
        const char *at = t.text.data;
        for (size_t i = 0; i < x.n_blocks; i++) {
            size_t n = x.blocks[i].end - x.blocks[i].start;
            assert_memory_equal(at, x.text + x.blocks[i].start, n);
            at += n + 1;
        }
        assert_int_equal(strstr(x.text, tables[k].says) != NULL, tables[k].named);
        extracted_deinit(&x);
        fo_buf_free(&t.text);
        fo_buf_free(&b);
    }
}

/* A quote that nothing closes costs nothing: its row and those below it are read, under their own numbers. */
static void a_stray_quote_swallows_no_rows(void **state) {
    (void)state;
    enum { ROWS = 60000 };
    const struct {
        const char *begins; /* of a row, before its number */
        bool long_line;     /* as long as a part, so that it is cut anywhere */
    } tables[] = {{"plain text,", false}, {"\"quoted, text\",", false}, {"plain text,", true}};
    for (size_t k = 0; k < 3; k++) {
        fo_buf b = {0};
        fo_buf_str(&b, "Name,Number,Remark\n");
        for (int i = 2; i <= ROWS; i++) {
            fo_buf_printf(&b, "%s%d,%s", tables[k].begins, i, i == 5 ? "\"3 inches" : "dry");
            for (int n = 0; tables[k].long_line && i == 40 && n < 200000; n++)
                fo_buf_str(&b, " word");
            fo_buf_char(&b, '\n');
        }
        table t = read_table(b.data, b.len, tables[k].long_line);
        assert_in_range(t.n, 2, 9);
        assert_int_equal(t.last_row, ROWS);
        assert_true(t.rows >= ROWS);
        assert_non_null(strstr(t.text.data, "Remark: \"3 inches"));
        assert_non_null(strstr(t.text.data, "Number: 6; Remark: dry"));
        assert_non_null(strstr(t.text.data, "Number: 60000; Remark: dry"));
        fo_buf_free(&t.text);
        fo_buf_free(&b);
    }
}

/* What a part begins with would be front matter at a text's top, and is a rule within it. */
static void no_part_begins_with_a_rule(void **state) {
    (void)state;
    static const char *const units[] = {"---\nNote: the heron waits.\n---\n\n", "---\nx: y\n",
                                        "\r\n---\r\nx\r\n", "+++\nx = 1\n+++\n\n"};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        for (size_t shift = 0; shift < 12; shift++) {
            fo_buf b = {0};
            for (size_t k = 0; k < shift; k++) fo_buf_char(&b, 'x');
            fo_buf_char(&b, '\n');
            char *s = text_of(units[i], N - b.len);
            fo_buf_str(&b, s);
            parts p = cut(b.data, b.len, 4096);
            for (size_t k = 1; k < p.n; k++) {
                assert_int_equal(b.data[p.ends[k] - 1], '\n');
                if (strncmp(b.data + p.ends[k], "---\n", 4) == 0 ||
                    strncmp(b.data + p.ends[k], "---\r\n", 5) == 0 ||
                    strncmp(b.data + p.ends[k], "+++\n", 4) == 0)
                    fail_msg("part %zu of %zu begins with a rule", k + 1, i);
            }
            fo_buf_free(&p.joined);
            fo_buf_free(&b);
            free(s);
        }
}

/* Rows that do not end, and a header as long as a part, are cut like text. */
static void a_table_that_is_none_ends_all_the_same(void **state) {
    (void)state;
    char *s = text_of("\"open,", N);
    for (size_t i = 1; i < N; i += 6) s[i - 1] = i == 1 ? '"' : 'x'; /* one quote, never closed */
    fo_err bad;
    fo_buf b = {0};
    fo_buf_add(&b, s, N);
    parts to = {0};
    fo_err err = {0};
    text_cutter c = {.kind = {.table = true}, .part = on_part, .ctx = &to};
    assert_ok(text_cutter_feed(&c, b.data, b.len, &err), &err);
    assert_ok(text_cutter_end(&c, FO_OK, &err), &err);
    assert_int_equal(to.joined.len, N);
    fo_buf_free(&to.joined);
    fo_buf_free(&b);
    free(s);
    (void)bad;
}

static void what_is_large_says_so(void **state) {
    (void)state;
    const unsigned char head[] = {0x1F, 0x8B}, large[] = {0, 0, 0, 2}, small[] = {0, 0, 0, 1};
    assert_true(text_may_be_large(TEXT_WHOLE_BYTES + 1, "ab", 2, "", 0));
    assert_false(text_may_be_large(TEXT_WHOLE_BYTES, "ab", 2, large, 4)); /* not packed */
    assert_true(text_may_be_large(1 << 20, head, 2, large, 4));           /* 32 MiB of 1 */
    assert_false(text_may_be_large(1 << 20, head, 2, small, 4));          /* 16 MiB */
    assert_false(text_may_be_large(100 << 10, head, 2, large, 4)); /* a bomb: refused whole */
}

static void only_text_is_cut(void **state) {
    (void)state;
    const char text[] = "The log of the harbour.\nA ship came in.\n", wide[] = "\xff\xfeT\0h\0e\0";
    assert_true(in_parts(text, sizeof text - 1, NULL, "harbour.log"));
    assert_true(in_parts(text, sizeof text - 1, NULL, "harbour.md"));
    assert_true(in_parts(text, sizeof text - 1, "text/plain; charset=iso-8859-1", NULL));
    assert_true(in_parts(text, sizeof text - 1, NULL, NULL));
    assert_true(in_parts(text, sizeof text - 1, NULL, "harbour.csv"));
    assert_false(in_parts(text, sizeof text - 1, NULL, "harbour.json"));
    assert_false(in_parts(text, sizeof text - 1, NULL, "harbour.html"));
    assert_false(in_parts(text, sizeof text - 1, "text/plain; charset=utf-16", NULL));
    assert_true(in_parts(wide, sizeof wide - 1, NULL, "harbour.log"));
    assert_false(in_parts("\xff\xfe\0\0T\0\0\0", 8, NULL, "harbour.log")); /* UTF-32 */
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
        cmocka_unit_test(what_is_packed_or_wide_comes_out_as_the_same_parts),
        cmocka_unit_test(damage_and_bombs_are_said),
        cmocka_unit_test(parts_of_a_table_have_its_header_and_their_rows),
        cmocka_unit_test(a_stray_quote_swallows_no_rows),
        cmocka_unit_test(no_part_begins_with_a_rule),
        cmocka_unit_test(a_table_that_is_none_ends_all_the_same),
        cmocka_unit_test(what_is_large_says_so),
        cmocka_unit_test(only_text_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
