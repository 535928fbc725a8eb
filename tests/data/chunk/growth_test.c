/* Documents that are made to be slow. Every extractor and the chunker take time in proportion to
 * the document, or to a bounded multiple: for each family of inputs, four times the length may not
 * take much more than four times as long. Whatever is slow all the same, known or not, ends with its
 * budget: of computing time, of memory, or at once when nobody waits any more. */
#include "tests/test.h"

#include <pthread.h>
#include <time.h>
#include <zlib.h>

#include "data/chunk/chunk.h"
#include "kernels/buf.h"

enum { LIMIT = 64 << 20, SHORT_BYTES = 64 << 10, LONG_BYTES = 4 * SHORT_BYTES };

typedef struct family {
    const char *type;
    const char *head, *unit, *second, *tail; /* %d in a unit: its number */
} family;

static const family families[] = {
    {"text/html", "<p ", "a%d ", "", ">"},      /* attributes of one tag */
    {"text/html", "<p ", "a%d='x' ", "", ">"},  /* the same with values */
    {"text/html", "<p ", "a%d=\"x\"", "", ">"}, /* and without blanks */
    {"text/html", "", "<p a%d", "", ">"},       /* and of one that never ends */
    {"text/html", "<html><body><body ", "a%d ", "", ">"},
    {"text/html", "", "<b>", "</i>", ""}, /* open elements, closed by none */
    {"text/html", "", "<font>", "</p>", ""},
    {"text/html", "", "<table>", "</tr>", ""},
    {"text/html", "", "<ul><li>", "", ""},
    {"text/html", "<pre><tr>", " ", "<td>", ""}, /* a block of blanks, asked again and again */
    {"text/html", "<script>", "a<b ", "</s", ""},
    {"text/html", "<p>", "&a", "<!-- ", ""},
    {"text/markdown", "<p ", "a%d ", "", ">"},
    {"text/markdown", "", "<div>\n\n", "", ""},
    {"text/markdown", "", "http://a.b ", "", ""}, /* addresses without brackets */
    {"text/markdown", "", "![http://a.b?>", "", ""},
    {"text/markdown", "", "[a%d]b\n", "", ""}, /* brackets in the lines of one paragraph */
    {"text/markdown", "", "[", "](x)", ""},
    {"text/markdown", "", "*a **b", "c* ", ""},
    {"text/markdown", "", "> ", "- ", "x"},
    {"text/markdown", "", "a|", "-|", "\n"},
    {"text/troff", ".TH A 1\n", ".if n ", "", "x"}, /* conditions of one line */
    {"text/troff", ".TH A 1\n.", "if n \\{.", "", "x"},
    {"text/troff", ".TH A 1\n.nf\n", "\n", ".br\n", "x"},
    {"text/troff", ".Dd x\n.Sh NAME\n.Nm ", "a", "\n.Nm\n", "x"},
    {"text/troff", ".TH A 1\n.TS\nl.\n", " ", "\t", "\n.TE\n"},
    {"text/plain", "", "-", "\n-a", "x"}, /* a rule, then options */
    {"text/plain", "", "a\n", "", ""},    /* lines of one letter */
    {"text/plain", "", "a. ", "", ""},
    {"text/plain", "", "the boats are in the lake.\n", "", ""}, /* one sentence to the end */
    {"text/plain", "", "A. (", "", ""},
    {"text/plain", "a", "\xCC\x81", "", ""}, /* one letter, many accents */
    {"text/plain", "", "\xF0\x9F\x91\xA8\xE2\x80\x8D", "", ""},
    {"text/plain", "", " | ", "- a\n", ""},
    {"application/json", "[", "1, ", "\n", "2]"},
    {"application/json", "[", "[],\n", "{},", "1]"},
    {"application/json", "[", "{\"a%d\":{\"b\":\"c\"}},", "", "1]"},
    {"application/json", "{", "\"a%d\":{\"b\":1},", "", "\"z\":1}"},
    {"application/yaml", "", "- a%d\n", "", ""},
    {"application/yaml", "", "k%d:\n  a: 1\n", "# r\n", ""},
    {"application/yaml", "a: [", "&a%d x, *a1, ", "", "z]"},
    {"application/xml", "<a>", "<b c='%d'/>", "<d>e</d>", "</a>"},
    {"application/xml", "<a>", "x", "&lt;", "</a>"},
    {"application/xml", "<a>", "<p>x<b>y</b></p>", "", "</a>"},
    {"text/x-rst", "", "*a `b ", "|c ", ""},
    {"text/x-rst", "", "a%d\n===\n", "", ""},
    {"text/x-rst", "", ".. a::\n", "   :b: c\n", ""},
    {"text/x-rst", "+---+---+\n", "| a | b |\n", "+---+---+\n", ""},
    {"text/x-rst", "", "a::\n\n ", " b\n", ""},
    {"text/asciidoc", "", "*a _b `c #d ", "{e} <<f ", ""},
    {"text/asciidoc", "|===\n", "|a ", "|b\n", "|===\n"},
    {"text/asciidoc", "", "http://a[b ", "image:c", ""},
    {"text/asciidoc", "", ":a%d: b\n", "----\n", ""},
    {"text/org", "", "*a* /b [[c ", "[[d][e ", ""},
    {"text/org", "", "| a |\n", ":a:\n", ""},
    {"text/org", "", "* a\n", "#+begin_src\n", ""},
    {"text/vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\n", "a <b ", "&amp {\\x", ""},
    {"text/vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\n", "{\\a", "",
     ""}, /* overrides that never end */
    {"text/vtt", "WEBVTT\n\n", "00:01.000 --> 00:02.000\nA.\n\n", "b\n", ""},
    {"text/calendar", "BEGIN:VCALENDAR\n", "BEGIN:VEVENT\nSUMMARY:a\n", "END:VEVENT\n", ""},
    {"text/calendar", "BEGIN:VCARD\nNOTE:a", "b\n c", "\\n", ""},
    {"a.tex", "", "\\footnote{a ", "$b ", ""},
    {"a.tex", "", "\\begin{tabular}{l}a&b\\\\", "\\item[", ""},
    {"a.c", "", "a(", "{", ""},
    {"a.c", "", "int a%d(void) { return '}'; }\n", "/*", ""},
    {"a.c", "", "<", ">(", "{"},
    {"a.js", "", "/a{", "`b}", ""},
    {"a.pl", "", "${", "", ""}, /* braces of one line, closed by none */
    {"a.sh", "", "${", "ab}", ""},
    {"a.pl", "", "a(){}", "", ""},
    {"a.py", "", "def a%d():\n", "  '''", ""},
    {"a.sql", "", "create table ", "begin ';", ""},
    {"a.rb", "", "class A\n", "#\n", ""},
    {"text/plain; charset=shift_jis", "", "\xFF", "", ""},
    {"text/plain; charset=iso-2022-jp", "", "\x1B$B0!\x1B(B", "", ""},
};
enum { N_FAMILIES = sizeof families / sizeof *families };

static char *make(const family *f, size_t n, size_t *len) {
    char *s = malloc(n + 4096);
    assert_non_null(s);
    size_t at = (size_t)sprintf(s, "%s", f->head);
    const char *units[] = {f->unit, f->second};
    for (size_t k = 0; k < 2; k++) {
        size_t stop = k || !*f->second ? n : n / 2;
        for (int i = 0; *units[k] && at < stop; i++) {
            const char *number = strstr(units[k], "%d");
            if (number)
                at += (size_t)sprintf(s + at, "%.*s%d%s", (int)(number - units[k]), units[k], i,
                                      number + 2);
            else
                at += (size_t)sprintf(s + at, "%s", units[k]);
        }
    }
    *len = at + (size_t)sprintf(s + at, "%s", f->tail);
    return s;
}

static double thread_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int read_and_chunk(const char *s, size_t n, const char *type, doc_budget *budget,
                          fo_err *err) {
    enum { MAX_ROWS = 48 };
    extract_format here[MAX_ROWS]; /* what is read apart, to be read here */
    size_t n_here = 0;
    const extract_format *f;
    for (size_t i = 0; (f = extract_format_at(i)) && n_here < MAX_ROWS; i++) {
        if (!f->apart || f->program) continue;
        here[n_here] = *f;
        here[n_here++].apart = false;
    }
    bool is_type = strchr(type, '/') != NULL;
    extract_request rq = {.bytes = s,
                          .n = n,
                          .content_type = is_type ? type : NULL,
                          .file_name = is_type ? NULL : type,
                          .max_text_bytes = LIMIT,
                          .budget = budget,
                          .formats = here,
                          .n_formats = n_here};
    extracted x;
    int rc = extract_text(&x, &rq, err);
    if (rc) return rc;
    chunk *chunks;
    size_t n_chunks;
    chunk_options opt = {.max_tokens = 256, .overlap = 32, .budget = budget};
    rc = chunk_text(&chunks, &n_chunks, &x, &opt, err);
    free(chunks);
    extracted_deinit(&x);
    return rc;
}

static void four_times_the_length_takes_no_more_than_its_share(void **state) {
    (void)state;
    for (size_t i = 0; i < N_FAMILIES; i++) {
        double ms[2] = {1e9, 1e9};
        for (int round = 0; round < 3; round++)
            for (int longer = 0; longer < 2; longer++) {
                size_t n;
                char *s = make(&families[i], longer ? LONG_BYTES : SHORT_BYTES, &n);
                fo_err err = {0};
                double began = thread_ms();
                assert_ok(read_and_chunk(s, n, families[i].type, NULL, &err), &err);
                double took = thread_ms() - began;
                if (took < ms[longer]) ms[longer] = took;
                free(s);
            }
        /* Sixteen would be the square; short times are all noise. */
        if (ms[1] > 20 && ms[1] > 9 * ms[0])
            fail_msg("%s '%s' '%s': %.1f ms for %d bytes, %.1f ms for %d", families[i].type,
                     families[i].unit, families[i].second, ms[0], SHORT_BYTES, ms[1], LONG_BYTES);
    }
}

/* Each budget is held to by all families; short ones may be done before anybody looks. */
static void every_document_ends_with_its_budget(void **state) {
    (void)state;
    static const atomic_bool gone = true;
    for (size_t i = 0; i < N_FAMILIES; i++) {
        size_t n;
        char *s = make(&families[i], 16 * LONG_BYTES, &n);
        fo_err err = {0};
        doc_budget left = {.cancel = &gone};
        doc_budget_begin(&left);
        double began = thread_ms();
        int rc = read_and_chunk(s, n, families[i].type, &left, &err);
        double took = thread_ms() - began;
        if (rc != FO_ECANCELLED || took > 300)
            fail_msg("'%s', nobody waits: code %d after %.0f ms", families[i].unit, rc, took);
        doc_budget quick = {.cpu_ms = 2};
        doc_budget_begin(&quick);
        began = thread_ms();
        rc = read_and_chunk(s, n, families[i].type, &quick, &err);
        took = thread_ms() - began;
        if ((rc != FO_ELIMIT && rc) || took > 150)
            fail_msg("'%s', 2 ms: code %d after %.0f ms", families[i].unit, rc, took);
        if (rc == FO_ELIMIT) assert_non_null(strstr(err.msg, "of computing"));
        doc_budget small = {.max_bytes = 64 << 10};
        doc_budget_begin(&small);
        rc = read_and_chunk(s, n, families[i].type, &small, &err);
        if (rc != FO_ENOMEM || small.most > small.max_bytes || small.wanted <= small.max_bytes)
            fail_msg("'%s', 64 KiB: code %d, %zu bytes at most", families[i].unit, rc, small.most);
        assert_int_equal(small.failure, FO_ENOMEM);
        free(s);
    }
}

/* A list in a list in a list, then blank lines, of a quote too: md4c goes through all that are open for each. */
static void blank_lines_in_nested_lists_take_no_square(void **state) {
    (void)state;
    static const char *const blanks[] = {"\n", ">\n"};
    for (int quoted = 0; quoted < 2; quoted++) {
        fo_buf b = {0};
        if (quoted) fo_buf_str(&b, "> ");
        for (int i = 0; i < 65536; i++) fo_buf_str(&b, "+ ");
        fo_buf_str(&b, "x\n");
        for (int i = 0; i < 262144; i++) fo_buf_str(&b, blanks[quoted]);
        fo_err err = {0};
        double began = thread_ms();
        assert_ok(read_and_chunk(b.data, b.len, "text/markdown", NULL, &err), &err);
        double took = thread_ms() - began;
        if (took > 2000) fail_msg("%d: %.0f ms for %zu bytes", quoted, took, b.len);
        fo_buf_free(&b);
    }
}

/* What people write is as it was: each item an item, however many blank lines part them. */
static void nested_lists_with_blank_lines_stay_lists(void **state) {
    (void)state;
    fo_buf b = {0};
    for (int i = 0; i < 50000; i++)
        fo_buf_printf(&b, "- item %d\n\n  1. part\n\n     - > detail\n\n\n", i);
    fo_err err = {0};
    extracted x;
    extract_request rq = {
        .bytes = b.data, .n = b.len, .content_type = "text/markdown", .max_text_bytes = LIMIT};
    assert_ok(extract_text(&x, &rq, &err), &err);
    assert_int_equal(x.n_blocks, 150000);
    for (size_t i = 0; i < x.n_blocks; i++) assert_int_equal(x.blocks[i].kind, TEXT_LIST_ITEM);
    extracted_deinit(&x);
    fo_buf_free(&b);
}

static size_t gzip(const void *in, size_t n, unsigned char *out, size_t cap) {
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (unsigned char *)in;
    z.avail_in = (uInt)n;
    z.next_out = out;
    z.avail_out = (uInt)cap;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    size_t made = cap - z.avail_out;
    deflateEnd(&z);
    return made;
}

static void unpacking_stays_within_the_budget(void **state) {
    (void)state;
    const size_t n = 32 << 20;
    char *letters = malloc(n);
    unsigned char *packed = malloc(1 << 20);
    assert_true(letters && packed);
    for (size_t i = 0; i < n; i++) letters[i] = i % 7 ? 'a' : ' ';
    size_t k = gzip(letters, n, packed, 1 << 20);
    fo_err err = {0};
    doc_budget budget = {.max_bytes = 8 << 20};
    doc_budget_begin(&budget);
    assert_int_equal(read_and_chunk((char *)packed, k, "text/plain", &budget, &err), FO_ENOMEM);
    assert_string_equal(err.msg, "reading the document needs more than 8 MiB of memory");
    assert_true(budget.most <= 8 << 20);
    /* With enough it is read, and never more than twice its text is held beside the chunks. */
    budget = (doc_budget){.max_bytes = 3 * n};
    doc_budget_begin(&budget);
    assert_ok(read_and_chunk((char *)packed, k, "text/plain", &budget, &err), &err);
    assert_true(budget.most < n * 5 / 2);
    free(letters);
    free(packed);
}

/* ---- a counter for which joined text costs much more than its parts ------------------------------ */

typedef struct counter {
    size_t bytes; /* that were counted */
} counter;

static size_t count_blanks_too(void *ctx, const char *text, size_t len) {
    counter *c = ctx;
    c->bytes += len;
    size_t n = 0;
    for (size_t i = 0; i < len; i++) n += text[i] == ' ' || text[i] == 'a';
    return n;
}

static void wide_gaps_are_not_counted_again_and_again(void **state) {
    (void)state;
    /* Lines of one letter with 200 blanks between them: 256 of them look as if they fitted. */
    fo_buf b = {0};
    for (int i = 0; i < 5000; i++) fo_buf_printf(&b, "a\n%200s\n", "");
    text_block block = {.start = 0, .end = b.len, .kind = TEXT_CODE};
    extracted x = {.text = b.data, .len = b.len, .blocks = &block, .n_blocks = 1};
    counter c = {0};
    chunk_options opt = {.max_tokens = 256, .overlap = 32, .count = count_blanks_too, &c, NULL};
    chunk *chunks;
    size_t n;
    fo_err err = {0};
    assert_ok(chunk_text(&chunks, &n, &x, &opt, &err), &err);
    assert_true(n > 2000);
    for (size_t i = 0; i < n; i++) assert_true(chunks[i].n_tokens <= 256);
    if (c.bytes > 600 * b.len) fail_msg("%zu bytes counted of %zu", c.bytes, b.len);
    print_message("counted %zu times\n", c.bytes / b.len);
    free(chunks);
    fo_buf_free(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(four_times_the_length_takes_no_more_than_its_share),
        cmocka_unit_test(every_document_ends_with_its_budget),
        cmocka_unit_test(blank_lines_in_nested_lists_take_no_square),
        cmocka_unit_test(nested_lists_with_blank_lines_stay_lists),
        cmocka_unit_test(unpacking_stays_within_the_budget),
        cmocka_unit_test(wide_gaps_are_not_counted_again_and_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
