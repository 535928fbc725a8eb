/* The seam of formats: a binary format of pages and one of sheets and recordings, given to the
 * extraction as rows of a table, come out as blocks with places; errors, names and types are held
 * to. What Forage knows by sight and does not read is refused by its name, whatever it is called. */
#include "tests/test.h"

#include "data/extract/builder.h"
#include "data/extract/extract.h"
#include "kernels/utf8.h"

enum { LIMIT = 1 << 20 };

/* ---- a small format: "\x01PG1", then blocks of (page, x, y, length, text in Latin letters) ------ */

static bool is_pages(const extract_input *in) {
    return in->n >= 4 && memcmp(in->bytes, "\1PG1", 4) == 0;
}

static int extract_pages(builder *b, extract_input *in, fo_err *err) {
    for (size_t at = 4; at < in->n;) {
        if (in->n - at < 4 || in->n - at - 4 < in->bytes[at + 3])
            return fo_fail(err, FO_EINVAL, "the pages end in the middle of a block at byte %zu",
                           at);
        const unsigned char *p = in->bytes + at;
        if (!builder_go_on(b, p[3])) break;
        builder_set_place(b, &(text_place){.page = p[0], .box = {p[1], p[2], p[1] + 9, p[2] + 2}});
        builder_begin(b, at == 4 ? TEXT_HEADING : TEXT_PARAGRAPH, at == 4);
        builder_add_flowing(b, (const char *)p + 4, p[3]);
        builder_end(b);
        at += 4 + (size_t)p[3];
    }
    builder_set_title(b, "Pages", 5);
    return FO_OK;
}

/* ---- another: what a sheet and a recording say of themselves ------------------------------------- */

static bool is_sheet(const extract_input *in) {
    return in->n >= 4 && memcmp(in->bytes, "\1SH1", 4) == 0;
}

static int extract_sheet(builder *b, extract_input *in, fo_err *err) {
    (void)in, (void)err;
    char name[] = "Budget", range[] = "B2:D9";
    builder_set_place(b, &(text_place){.sheet = name, .range = range});
    builder_str(b, "one");
    builder_end(b);
    memset(name, 'x', 6); /* strings of places were copied */
    memset(range, 'x', 5);
    builder_set_place(b, &(text_place){.start_ms = 1500, .end_ms = 2750});
    builder_str(b, "two");
    builder_end(b);
    builder_set_place(b, NULL);
    builder_str(b, "three");
    return FO_OK;
}

static const extract_format rows[] = {
    {.name = "pages",
     .what = "a file of pages",
     .media_types = "application/x-pages",
     .endings = "pages",
     .is = is_pages,
     .extract = extract_pages},
    {.name = "sheet",
     .what = "a sheet",
     .media_types = "application/x-sheet",
     .endings = "sheet",
     .is = is_sheet,
     .extract = extract_sheet},
};

static int read_with(extracted *x, const void *bytes, size_t n, const char *type, const char *name,
                     fo_err *err) {
    extract_request rq = {.bytes = bytes,
                          .n = n,
                          .content_type = type,
                          .file_name = name,
                          .max_text_bytes = LIMIT,
                          .formats = rows,
                          .n_formats = 2};
    return extract_text(x, &rq, err);
}

static const char pages[] = "\1PG1\1\x0A\x14\5Ponds\1\x0A\x1E\7Water\n1\2\5\5\5Lily.";

static void a_binary_format_is_a_row_and_a_function(void **state) {
    (void)state;
    extracted x;
    fo_err err = {0};
    /* Control characters and all: the bytes decide, not what they are called. */
    const char *const types[] = {NULL, "application/x-pages", "text/plain", "application/pdf"};
    for (size_t i = 0; i < 4; i++) {
        assert_ok(read_with(&x, pages, sizeof pages - 1, types[i], "a.txt", &err), &err);
        assert_string_equal(x.format, "pages");
        assert_null(x.encoding);
        assert_string_equal(x.title, "Pages");
        assert_string_equal(x.text, "Ponds\n\nWater 1\n\nLily.");
        assert_int_equal(x.n_blocks, 3);
        const text_place *first = extracted_place(&x, &x.blocks[0]);
        const text_place *last = extracted_place(&x, &x.blocks[2]);
        assert_int_equal(first->page, 1);
        assert_true(first->box[0] == 10 && first->box[1] == 20 && first->box[2] == 19);
        assert_int_equal(last->page, 2);
        assert_null(last->sheet);
        assert_int_equal(x.blocks[0].kind, TEXT_HEADING);
        extracted_deinit(&x);
    }
}

static void places_of_sheets_and_recordings_are_carried(void **state) {
    (void)state;
    extracted x;
    fo_err err = {0};
    assert_ok(read_with(&x, "\1SH1", 4, NULL, NULL, &err), &err);
    assert_string_equal(x.text, "one\n\ntwo\n\nthree");
    const text_place *one = extracted_place(&x, &x.blocks[0]);
    assert_string_equal(one->sheet, "Budget");
    assert_string_equal(one->range, "B2:D9");
    const text_place *two = extracted_place(&x, &x.blocks[1]);
    assert_true(two->start_ms == 1500 && two->end_ms == 2750 && !two->sheet);
    assert_null(extracted_place(&x, &x.blocks[2]));
    extracted_deinit(&x);
    /* Formats of text have no places. */
    assert_ok(read_with(&x, "hello", 5, NULL, NULL, &err), &err);
    assert_null(extracted_place(&x, &x.blocks[0]));
    assert_int_equal(x.n_places, 0);
    extracted_deinit(&x);
}

static void errors_of_a_format_come_out(void **state) {
    (void)state;
    extracted x;
    fo_err err = {0};
    assert_int_equal(read_with(&x, pages, sizeof pages - 3, NULL, NULL, &err), FO_EINVAL);
    assert_non_null(strstr(err.msg, "in the middle of a block at byte 24"));
    assert_null(x.text);
    /* A name makes no file of pages, and a declared type that is wrong is said. */
    assert_ok(read_with(&x, "hello", 5, NULL, "notes.pages", &err), &err);
    assert_string_equal(x.format, "text");
    extracted_deinit(&x);
    assert_int_equal(read_with(&x, "hello", 5, "application/x-pages", "a.b", &err), FO_EINVAL);
    assert_string_equal(err.msg, "a.b is declared as a file of pages (application/x-pages), and "
                                 "does not begin like one");
    /* The limit and the budget hold for formats of any kind. */
    extract_request rq = {.bytes = pages,
                          .n = sizeof pages - 1,
                          .max_text_bytes = 8,
                          .formats = rows,
                          .n_formats = 2};
    assert_int_equal(extract_text(&x, &rq, &err), FO_ELIMIT);
    doc_budget budget = {.max_bytes = 64};
    doc_budget_begin(&budget);
    rq.max_text_bytes = LIMIT;
    rq.budget = &budget;
    assert_int_equal(extract_text(&x, &rq, &err), FO_ENOMEM);
    assert_int_equal(budget.used, 0);
    assert_true(budget.wanted > 64);
}

/* ---- what is known and not read ------------------------------------------------------------------ */

static void what_is_not_read_is_refused_by_name(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
        const char *what;
    } cases[] = {
#define CASE(bytes, what) {bytes, sizeof(bytes) - 1, what}
        CASE("%!PS-Adobe-3.0\n%text enough to look like text", "a PostScript document"),
        CASE("PK\3\4 readme.txt", "a ZIP archive"),
        CASE("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1 W\0o\0r\0d\0D\0o\0c\0u\0m\0e\0n\0t\0",
             "an old Word document (.doc)"),
        CASE("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1 E\0n\0c\0r\0y\0p\0t\0e\0d\0P\0a\0c\0k\0a\0g\0e\0",
             "an Office file under a password"),
        CASE("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1 something else", "an old Office file"),
        CASE("GIF89a\1\0\1\0", "a GIF image"),
        CASE("BM\0\0\1\0\0\0\0\0\0\0\0\0\x28\0", "a BMP image"),
        CASE("<?xml version='1.0'?>\n<!-- a drawing -->\n<svg width='1'><text>x</text></svg>",
             "an SVG image"),
        CASE("\xFD"
             "7zXZ\0\0",
             "xz data"),
        CASE("Rar!\x1A\7\0", "a RAR archive"),
        CASE("SQLite format 3\0", "an SQLite database"),
        CASE("\x7F"
             "ELF\2\1\1",
             "a program (ELF)"),
        CASE("!<arch>\ndebian-binary   ", "an ar archive"),
#undef CASE
    };
    /* Whatever it is called, and however it is declared. */
    static const char *const names[] = {"x/notes.txt", "page.html", "a.md", "strange.xyz", NULL};
    static const char *const types[] = {NULL, "text/plain", "application/octet-stream", "text/html",
                                        "text/markdown"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t k = 0; k < 5; k++) {
            extracted x;
            fo_err err = {0};
            char expected[256];
            extract_request rq = {.bytes = cases[i].bytes,
                                  .n = cases[i].n,
                                  .content_type = types[k],
                                  .file_name = names[k],
                                  .max_text_bytes = LIMIT};
            int rc = extract_text(&x, &rq, &err);
            const char *slash = names[k] ? strrchr(names[k], '/') : NULL;
            snprintf(expected, sizeof expected, "%s is %s, which Forage does not read yet",
                     slash      ? slash + 1
                     : names[k] ? names[k]
                                : "the document",
                     cases[i].what);
            if (rc != FO_EUNSUPPORTED) fail_msg("%s as %s: %d", cases[i].what, names[k], rc);
            assert_string_equal(err.msg, expected);
            assert_null(x.text);
        }
    /* A long name is cut between characters. */
    extracted x;
    fo_err err = {0};
    char longest[400] = "a";
    for (int i = 0; i < 150; i++) strcat(longest, "\xC3\xA9");
    extract_request named = {
        .bytes = "%!PS-Ado", .n = 8, .file_name = longest, .max_text_bytes = LIMIT};
    assert_int_equal(extract_text(&x, &named, &err), FO_EUNSUPPORTED);
    assert_true(fo_utf8_valid(err.msg, strlen(err.msg), NULL));
    assert_non_null(strstr(err.msg, "\xC3\xA9 is a PostScript document"));
    /* The declared type is believed where the bytes say nothing. */
    extract_request rq = {.bytes = "x",
                          .n = 1,
                          .content_type = "image/gif",
                          .file_name = "b.gif",
                          .max_text_bytes = LIMIT};
    assert_int_equal(extract_text(&x, &rq, &err), FO_EUNSUPPORTED);
    assert_string_equal(err.msg, "b.gif is declared as a GIF image (image/gif), which Forage does "
                                 "not read yet");
    rq.content_type = "image/png";
    assert_int_equal(extract_text(&x, &rq, &err), FO_EUNSUPPORTED);
    assert_non_null(strstr(err.msg, "b.gif is a PNG image and holds no text; with --ocr auto"));
    rq.content_type = "application/x-unheard-of";
    assert_int_equal(extract_text(&x, &rq, &err), FO_EUNSUPPORTED);
    assert_non_null(strstr(err.msg, "application/x-unheard-of"));
    assert_non_null(strstr(err.msg, "rst, asciidoc, org, latex, html, json, yaml, xml"));
}

static void bytes_at_random_are_no_text(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    unsigned char noise[4096];
    for (int round = 0; round < 300; round++) {
        size_t n = 512 + test_random(&seed) % (sizeof noise - 512);
        noise[0] = 'A'; /* no magic number of anything */
        for (size_t i = 1; i < n; i++) noise[i] = (unsigned char)test_random(&seed);
        extracted x;
        fo_err err = {0};
        extract_request rq = {.bytes = noise, .n = n, .max_text_bytes = LIMIT};
        assert_int_equal(extract_text(&x, &rq, &err), FO_EUNSUPPORTED);
        assert_string_equal(err.msg, "the document is binary data, which Forage does not read yet");
    }
}

static void text_stays_text(void **state) {
    (void)state;
    static const struct {
        const char *bytes, *name;
        bool is_text;
    } cases[] = {
        {"just words", "strange.xyz", false},
        {"From: the warden\nTo: all\nSubject: boats\n\nBring them in.\n", "memo.txt", false},
        {"From here to there is a long way.\nIt is.\n", "way.txt", false},
        {"From 0123456789abcdef0123456789abcdef01234567 Mon Sep 17 00:00:00 2001\nFrom: A\n"
         "Date: x\nSubject: [PATCH] y\n\n---\n",
         "y.patch", false},
        {"Message-ID: <1@x>\nFrom: a\nSubject: stored as text\n\nbody\n", NULL, true},
        {"GIFts, BMX and PKs; BZh and RIFF are words too", "a.txt", false},
        {"{\\rt is how a line begins}", NULL, false},
        {"PDF files begin with %PDF-1.4 as a rule", NULL, false},
        {"<p>an <svg> in a page</p>", "a.html", false},
        {"a plain text that somebody called so", "report.pdf", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        extracted x;
        fo_err err = {0};
        extract_request rq = {.bytes = cases[i].bytes,
                              .n = strlen(cases[i].bytes),
                              .file_name = cases[i].name,
                              .is_text = cases[i].is_text,
                              .max_text_bytes = LIMIT};
        assert_ok(extract_text(&x, &rq, &err), &err);
        assert_true(x.len > 0);
        extracted_deinit(&x);
    }
    /* A message called .eml needs to show less of itself; it is read in a process of its own. */
    const char *mail = "From: a\nTo: b\nSubject: c\n\nhello\n";
    extracted x;
    fo_err err = {0};
    extract_request rq = {
        .bytes = mail, .n = strlen(mail), .file_name = "c.eml", .max_text_bytes = LIMIT};
    assert_int_equal(extract_text(&x, &rq, &err), FO_EUNSUPPORTED);
    assert_non_null(
        strstr(err.msg, "c.eml (a mail message): such documents are read in a process"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_binary_format_is_a_row_and_a_function),
        cmocka_unit_test(places_of_sheets_and_recordings_are_carried),
        cmocka_unit_test(errors_of_a_format_come_out),
        cmocka_unit_test(what_is_not_read_is_refused_by_name),
        cmocka_unit_test(bytes_at_random_are_no_text),
        cmocka_unit_test(text_stays_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
