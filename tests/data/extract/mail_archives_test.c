/* Archives attached to mail are taken apart, in a worker: texts, archives and messages within them, a PDF with its pages; what
 * is not read is named, bombs and damage cost the attachment and not the mail. */
#include "tests/test.h"

#include <zip.h>

#include "data/extract/extract.h"
#include "data/extract/extract_host.h"
#include "kernels/buf.h"
#include "kernels/file.h"
#include "kernels/utf8.h"

static extract_host *host;

typedef struct file {
    const char *name;
    const void *bytes;
    size_t n;
} file;

static char *zipped(const file *list, size_t n_files, size_t *n) {
    zip_error_t why;
    zip_error_init(&why);
    zip_source_t *to = zip_source_buffer_create(NULL, 0, 0, &why);
    zip_t *z = zip_open_from_source(to, ZIP_TRUNCATE, &why);
    assert_non_null(z);
    zip_source_keep(to);
    for (size_t i = 0; i < n_files; i++)
        assert_true(zip_file_add(z, list[i].name, zip_source_buffer(z, list[i].bytes, list[i].n, 0),
                                 0) >= 0);
    assert_int_equal(zip_close(z), 0);
    zip_stat_t st;
    assert_int_equal(zip_source_stat(to, &st), 0);
    char *bytes = malloc(st.size + 1);
    assert_non_null(bytes);
    assert_int_equal(zip_source_open(to), 0);
    assert_int_equal(zip_source_read(to, bytes, st.size), (zip_int64_t)st.size);
    zip_source_close(to);
    zip_source_free(to);
    *n = st.size;
    return bytes;
}

static void add_base64(fo_buf *out, const void *bytes, size_t n) {
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *p = bytes;
    for (size_t i = 0; i < n; i += 3) {
        unsigned v = (unsigned)p[i] << 16 | (i + 1 < n ? (unsigned)p[i + 1] << 8 : 0) |
                     (i + 2 < n ? p[i + 2] : 0);
        for (int k = 0; k < 4; k++)
            fo_buf_char(out, i + (size_t)k > n ? '=' : letters[v >> (18 - 6 * k) & 63]);
        if (i / 3 % 19 == 18) fo_buf_str(out, "\r\n");
    }
    fo_buf_str(out, "\r\n");
}

/* A mail with this attached; what was read of it. */
static int read_mail(extracted *x, const char *name, const void *bytes, size_t n, fo_err *err) {
    fo_buf mail = {0};
    fo_buf_printf(
        &mail,
        "Received: by x\r\nMIME-Version: 1.0\r\nFrom: Ada <ada@example.org>\r\nTo: crew\r\n"
        "Subject: The plans\r\nContent-Type: multipart/mixed; boundary=b1\r\n\r\n--b1\r\n"
        "Content-Type: text/plain\r\n\r\nSee below.\r\n--b1\r\n"
        "Content-Type: application/zip; name=\"%s\"\r\n"
        "Content-Transfer-Encoding: base64\r\nContent-Disposition: attachment\r\n\r\n",
        name);
    add_base64(&mail, bytes, n);
    fo_buf_str(&mail, "--b1--\r\n");
    assert_false(mail.failed);
    doc_budget budget = {.cpu_ms = 20000, .max_bytes = 128 << 20};
    doc_budget_begin(&budget);
    *err = (fo_err){0};
    extract_request rq = {.bytes = mail.data,
                          .n = mail.len,
                          .file_name = "plans.eml",
                          .max_text_bytes = 8 << 20,
                          .budget = &budget,
                          .host = host};
    int rc = extract_text(x, &rq, err);
    fo_buf_free(&mail);
    return rc;
}

static void assert_says(const extracted *x, const char *text) {
    if (!strstr(x->text, text)) fail_msg("'%s' is not in: %.2000s", text, x->text);
}

static void files_in_an_archive_are_read(void **state) {
    (void)state;
    fo_err err = {0};
    size_t n_inner, n_outer, n_pdf;
    char *pdf;
    assert_ok(fo_file_read("tests/data/formats/slides.pdf", 8 << 20, &pdf, &n_pdf, &err), &err);
    static const char plan[] = "# The plan\n\nThe ferry leaves at eight.\n",
                      deep[] = "Bring ropes.";
    static const char mail[] =
        "Received: by y\r\nFrom: b\r\nTo: a\r\nSubject: Within\r\n\r\nAt noon.\r\n";
    static const char table[] = "boat,berth\nHeron,7\nOtter,9\n";
    char *inner = zipped(&(file){"deep/ropes.txt", deep, sizeof deep - 1}, 1, &n_inner);
    const file list[] = {{"notes/plan.md", plan, sizeof plan - 1},
                         {"inner.zip", inner, n_inner},
                         {"letter.eml", mail, sizeof mail - 1},
                         {"berths.csv", table, sizeof table - 1},
                         {"slides.pdf", pdf, n_pdf},
                         {"photo.png", "\x89PNG\r\n\x1a\n", 8},
                         {".hidden/key.txt", "secret", 6}};
    char *outer = zipped(list, sizeof list / sizeof *list, &n_outer);
    extracted x;
    assert_ok(read_mail(&x, "plans.zip", outer, n_outer, &err), &err);
    assert_string_equal(x.title, "The plans");
    assert_says(&x, "See below.");
    assert_says(&x, "Attachment: plans.zip (an archive)");
    assert_says(&x, "Attachment: plans.zip/notes/plan.md");
    assert_says(&x, "The ferry leaves at eight.");
    assert_says(&x, "Attachment: plans.zip/inner.zip/deep/ropes.txt");
    assert_says(&x, "Bring ropes.");
    assert_says(&x, "At noon.");
    assert_says(&x, "boat: Otter; berth: 9");
    assert_says(&x, "Attachment: plans.zip/photo.png (.png, not read)");
    assert_says(&x, "Attachment: plans.zip/.hidden/key.txt (hidden, not read)");
    assert_null(strstr(x.text, "secret"));
    bool paged = false; /* the PDF's places are its own */
    for (size_t i = 0; i < x.n_blocks; i++) {
        const text_place *p = extracted_place(&x, &x.blocks[i]);
        paged |= p && p->page == 2;
    }
    assert_true(paged);
    extracted_deinit(&x);
    free(inner);
    free(outer);
    free(pdf);
}

static void bombs_and_damage_cost_the_attachment(void **state) {
    (void)state;
    fo_err err = {0};
    size_t n, n_zeros = 60 << 20;
    char *zeros = calloc(1, n_zeros);
    assert_non_null(zeros);
    memset(zeros, 'a', n_zeros);
    char *bomb = zipped(&(file){"a.txt", zeros, n_zeros}, 1, &n);
    extracted x;
    assert_ok(read_mail(&x, "bomb.zip", bomb, n, &err), &err);
    assert_says(&x, "See below.");
    assert_says(&x, "This attachment could not be read: more than 200 bytes come out");
    assert_true(x.len < 10000);
    extracted_deinit(&x);
    free(bomb);
    free(zeros);

    static const char text[] = "The ferry leaves at eight.";
    char *whole = zipped(&(file){"a.txt", text, sizeof text - 1}, 1, &n);
    assert_ok(read_mail(&x, "torn.zip", whole, n - 20, &err), &err);
    assert_says(&x, "See below.");
    assert_says(&x, "This attachment could not be read: it is damaged");
    extracted_deinit(&x);
    free(whole);

    /* Archives within archives end. */
    char *box = zipped(&(file){"a.txt", text, sizeof text - 1}, 1, &n);
    for (int i = 0; i < 40; i++) {
        char *next = zipped(&(file){"b.zip", box, n}, 1, &n);
        free(box);
        box = next;
    }
    assert_ok(read_mail(&x, "nested.zip", box, n, &err), &err);
    assert_says(&x, "See below.");
    assert_null(strstr(x.text, text));
    extracted_deinit(&x);
    free(box);
}

static void many_members_are_bounded(void **state) {
    (void)state;
    enum { MANY = 1500 };
    static char names[MANY][16];
    static file list[MANY];
    fo_err err = {0};
    size_t n;
    for (int i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof names[i], "%04d.txt", i);
        list[i] = (file){names[i], names[i], 4};
    }
    char *box = zipped(list, MANY, &n);
    extracted x;
    assert_ok(read_mail(&x, "many.zip", box, n, &err), &err);
    assert_says(&x, "many.zip/0999.txt");
    assert_null(strstr(x.text, "many.zip/1000.txt"));
    assert_says(&x, "This attachment could not be read: it holds more than");
    extracted_deinit(&x);
    free(box);
}

/* A sentence may cut a name anywhere, a text may not. */
static void what_names_are_cut_in_is_text(void **state) {
    (void)state;
    enum { MANY = 1001 };
    static char names[MANY][256];
    static file list[MANY];
    fo_err err = {0};
    size_t n;
    for (int i = 0; i < MANY; i++) {
        size_t at = (size_t)snprintf(names[i], sizeof names[i], "%04d", i);
        for (int k = 0; k < 110; k++) at += (size_t)sprintf(names[i] + at, "\xC3\xA9");
        snprintf(names[i] + at, sizeof names[i] - at, ".txt");
        list[i] = (file){names[i], "text", 4};
    }
    for (size_t shift = 0; shift < 2; shift++) { /* bytes before the cut: even, odd */
        char *box = zipped(list, MANY, &n);
        extracted x;
        assert_ok(read_mail(&x, shift ? "a.zip" : "ab.zip", box, n, &err), &err);
        assert_says(&x, "This attachment could not be read: it holds more than");
        assert_true(fo_utf8_valid(x.text, x.len, NULL));
        extracted_deinit(&x);
        free(box);
        for (int i = 0; i < MANY; i++) {
            memmove(names[i] + 1, names[i], strlen(names[i]) + 1);
            names[i][0] = '_';
        }
    }
}

static int set_up(void **state) {
    (void)state;
    return extract_host_create(&host, &(extract_host_options){.program = "/proc/self/exe"}, NULL);
}

static int tear_down(void **state) {
    (void)state;
    extract_host_free(host);
    return 0;
}

/* What is not read in an archive within an archive, and so on, is said. */
static void archives_too_deep_are_told(void **state) {
    (void)state;
    static const char text[] = "Bring ropes.";
    fo_err err = {0};
    size_t n;
    char *inner = zipped(&(file){"ropes.txt", text, sizeof text - 1}, 1, &n);
    for (int i = 0; i < 20; i++) {
        char *outer = zipped(&(file){"a.zip", inner, n}, 1, &n);
        free(inner);
        inner = outer;
    }
    extracted x;
    assert_ok(read_mail(&x, "plans.zip", inner, n, &err), &err);
    assert_null(strstr(x.text, text));
    assert_says(&x, "(More parts of this message are too many or too deep within each other; they "
                    "were not read.)");
    extracted_deinit(&x);
    free(inner);
}

int main(int argc, char **argv) {
    if (extract_is_worker(argc, argv)) return extract_worker_main(NULL, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_in_an_archive_are_read),
        cmocka_unit_test(bombs_and_damage_cost_the_attachment),
        cmocka_unit_test(many_members_are_bounded),
        cmocka_unit_test(archives_too_deep_are_told),
        cmocka_unit_test(what_names_are_cut_in_is_text),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
