/* The texts that forage fit draws from documents. */
#include "tests/test.h"

#include "kernels/buf.h"
#include "data/extract/extract_host.h"
#include "kernels/file.h"
#include "server/cli/fit_texts.h"

static void put(const char *dir, const char *name, const char *text) {
    char path[4096];
    fo_err err = {0};
    fo_file_writer *w;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    assert_ok(fo_file_create(&w, path, &err), &err);
    assert_ok(fo_file_write(w, text, strlen(text), &err), &err);
    assert_ok(fo_file_commit(w, &err), &err);
}

static int collect(void *arg, const char *text, size_t len, fo_err *err) {
    (void)err;
    fo_buf_char(arg, '<');
    fo_buf_add(arg, text, len);
    fo_buf_char(arg, '>');
    return FO_OK;
}

static int stop(void *arg, const char *text, size_t len, fo_err *err) {
    (void)arg;
    (void)text;
    (void)len;
    return fo_fail(err, FO_ECANCELLED, "enough");
}

static void whole_documents_come_behind_their_titles(void **state) {
    (void)state;
    char *dir = test_folder(), path[4096];
    put(dir, "c.jsonl",
        "{\"title\":\"Birds\",\"text\":\"Herons wade.\"}\n\n{\"text\":\"No title here.\"}\n");
    snprintf(path, sizeof path, "%s/c.jsonl", dir);
    fo_buf b = {0};
    fo_err err = {0};
    assert_ok(fit_texts_walk(path, 0, collect, NULL, &b, &err), &err);
    assert_string_equal(b.data, "<Birds Herons wade.><No title here.>");
    fo_buf_free(&b);
    assert_int_equal(fit_texts_walk(path, 0, stop, NULL, NULL, &err), FO_ECANCELLED);
    put(dir, "bad.jsonl", "{\"title\":\"x\"}\n");
    snprintf(path, sizeof path, "%s/bad.jsonl", dir);
    assert_int_equal(fit_texts_walk(path, 0, collect, NULL, &b, &err), FO_EINVAL);
    assert_non_null(strstr(err.msg, "line 1"));
    /* A file of no address 0: it opens, and cannot be read. */
    assert_int_equal(fit_texts_walk("/proc/self/mem", 0, collect, NULL, &b, &err), FO_EIO);
    assert_non_null(strstr(err.msg, "cannot read"));
    test_remove(dir);
}

static void stretches_are_paragraphs_or_sentences_of_a_folder(void **state) {
    (void)state;
    char *dir = test_folder(), sub[4200];
    fo_err err = {0};
    snprintf(sub, sizeof sub, "%s/deep", dir);
    assert_ok(fo_make_dirs(sub, &err), &err);
    fo_buf book = {0}, b[2] = {{0}, {0}};
    fo_buf_str(&book, "# Herons\n\nA short paragraph about herons wading in water.\n\n");
    for (int i = 0; i < 10; i++)
        fo_buf_printf(&book, "Sentence number %d tells of the grey heron at the lake. ", i);
    put(sub, "birds.md", book.data);
    put(dir, "picture.bin", "\x01\x02\x03");
    for (int k = 0; k < 2; k++) assert_ok(fit_texts_walk(dir, 8, collect, NULL, &b[k], &err), &err);
    assert_string_equal(b[0].data, b[1].data); /* the draw is the same every time */
    int n = 0, sentences = 0;
    for (char *p = b[0].data; (p = strchr(p, '<')); p++, n++) {
        char *end = strchr(p, '>');
        assert_true(end - p < 100); /* never the long paragraph whole */
        *end = 0;
        sentences += strstr(p, "Sentence number") != NULL;
        assert_true(strstr(p, "Sentence number") || strstr(p, "A short paragraph"));
        *end = '>';
    }
    assert_int_equal(n, 8);
    assert_true(sentences >= 7); /* the short paragraph is given once at most */
    if (!strstr(b[0].data, "<Herons Sentence")) fail_msg("no title in %s", b[0].data);
    fo_buf_free(&book);
    for (int k = 0; k < 2; k++) fo_buf_free(&b[k]);
    test_remove(dir);
}

static void note_left_out(void *arg, const char *name, const char *why) {
    const char *base = strrchr(name, '/');
    fo_buf_printf(arg, "(%s: %s)", base ? base + 1 : name, why);
}

/* Formats that are read by a process of their own are read here too, and what cannot be read is named. */
static void formats_that_are_read_apart_are_read(void **state) {
    (void)state;
    char *dir = test_folder(), sub[4200];
    fo_err err = {0};
    snprintf(sub, sizeof sub, "%s/birds", dir);
    assert_ok(fo_make_dirs(sub, &err), &err);
    put(sub, "a.rst",
        "Herons\n======\n\nThe grey heron wades along the edge of the lake at dawn.\n");
    put(sub, "b.docx", "PK\003\004 This is no Word file.");
    put(sub, "c.txt", "The barn owl hunts mice at night.");
    fo_buf b = {0};
    assert_ok(fit_texts_walk(dir, 0, collect, note_left_out, &b, &err), &err);
    if (!strstr(b.data, "<Herons Herons") || !strstr(b.data, "wades along") ||
        !strstr(b.data, "(b.docx: ") || !strstr(b.data, "<The barn owl"))
        fail_msg("%s", b.data);
    fo_buf_free(&b);
    put(dir, "c.jsonl", "{\"text\":\"%PDF-1.4 broken\",\"content_type\":\"application/pdf\"}\n");
    snprintf(sub, sizeof sub, "%s/c.jsonl", dir);
    assert_ok(fit_texts_walk(sub, 0, collect, note_left_out, &b, &err), &err);
    assert_non_null(strstr(b.data, "(c.jsonl: "));
    fo_buf_free(&b);
    test_remove(dir);
}

int main(int argc, char **argv) {
    if (extract_is_worker(argc, argv)) return extract_worker_main(NULL, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_documents_come_behind_their_titles),
        cmocka_unit_test(stretches_are_paragraphs_or_sentences_of_a_folder),
        cmocka_unit_test(formats_that_are_read_apart_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
