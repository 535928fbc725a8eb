/* The ground that all rooms stand on: growing buffers, UTF-8 there and back, files that appear
 * whole or not at all. */
#include "tests/test.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "kernels/buf.h"
#include "kernels/file.h"
#include "kernels/utf8.h"

static ssize_t readable = -1; /* bytes until a read fails; < 0: none does */

/* Stands before the C library's. */
ssize_t read(int fd, void *p, size_t n) {
    if (readable == 0) {
        errno = EIO;
        return -1;
    }
    if (readable > 0 && n > (size_t)readable) n = (size_t)readable;
    ssize_t got = syscall(SYS_read, fd, p, n);
    if (readable > 0 && got > 0) readable -= got;
    return got;
}

static void buf_grows_and_is_terminated(void **state) {
    (void)state;
    fo_buf b = {0};
    for (int i = 0; i < 1000; i++) fo_buf_printf(&b, "%d,", i);
    assert_false(b.failed);
    assert_int_equal(b.data[b.len], 0);
    assert_memory_equal(b.data, "0,1,2,", 6);
    assert_string_equal(b.data + b.len - 4, "999,");
    assert_false(fo_buf_reserve(&b, SIZE_MAX));
    assert_true(b.failed);
    fo_buf_free(&b);
}

static void utf8_decodes_what_it_encodes(void **state) {
    (void)state;
    for (int32_t cp = 0; cp < 0x110000; cp += cp < 0x3000 ? 1 : 37) {
        if (cp >= 0xD800 && cp < 0xE000) continue;
        char s[4];
        int32_t back;
        size_t n = fo_utf8_encode(cp, s);
        assert_int_equal(fo_utf8_decode(s, n, &back), n);
        assert_int_equal(back, cp);
        for (size_t k = 1; k < n; k++) { /* truncated: ill-formed, whole rest replaced once */
            assert_int_equal(fo_utf8_decode(s, k, &back), k);
            assert_int_equal(back, -1);
        }
    }
}

static void utf8_refuses_overlong_and_surrogates(void **state) {
    (void)state;
    const char *bad[] = {"\xC0\x80",         "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x80\x80\x80",
                         "\xF4\x90\x80\x80", "\xFF",         "\x80"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int32_t cp;
        assert_int_equal(fo_utf8_decode(bad[i], strlen(bad[i]), &cp), 1);
        assert_int_equal(cp, -1);
        assert_false(fo_utf8_valid(bad[i], strlen(bad[i]), NULL));
    }
    assert_int_equal(fo_utf8_count("a\xC3\xA9\xE2\x82\xAC", 6), 3);
    assert_int_equal(fo_utf8_offset("a\xC3\xA9\xE2\x82\xAC", 6, 2), 3);
    assert_int_equal(fo_utf8_digit('7'), 7);
    assert_int_equal(fo_utf8_digit(0xFF19), 9);
    assert_int_equal(fo_utf8_digit(0x660), 0);
    assert_int_equal(fo_utf8_digit('a'), -1);
    assert_int_equal(fo_utf8_digit(-1), -1);
    assert_int_equal(fo_utf8_offset("a\xC3\xA9", 3, 9), 3);
}

/* Names of the user's, of characters of two and three bytes, in sentences that are too short for them. */
static void a_sentence_cuts_names_between_characters(void **state) {
    (void)state;
    char name[600];
    fo_err err = {0};
    for (size_t shift = 0; shift < 3; shift++) {
        memset(name, 'a', shift);
        for (size_t i = shift; i + 3 < sizeof name; i += 3) memcpy(name + i, "\xE2\x82\xAC", 4);
        fo_fail_field(&err, FO_EINVAL, name, "'%.100s' is no name, nor is '%.100s'", name, name);
        assert_true(fo_utf8_valid(err.msg, strlen(err.msg), NULL));
        assert_true(fo_utf8_valid(err.field, strlen(err.field), NULL));
        assert_in_range(strlen(err.field), sizeof err.field - 3, sizeof err.field - 1);
        assert_non_null(strstr(err.msg, "\xE2\x82\xAC' is no name, nor is '"));
        assert_int_equal(err.msg[strlen(err.msg) - 1], '\'');
        fo_fail(&err, FO_EINVAL, "no such file: %s", name);
        assert_true(fo_utf8_valid(err.msg, strlen(err.msg), NULL));
        assert_in_range(strlen(err.msg), sizeof err.msg - 3, sizeof err.msg - 1);
        fo_fail_prefix(&err, "%.*s", 50, name);
        assert_true(fo_utf8_valid(err.msg, strlen(err.msg), NULL));
    }
    /* what was none before stays as it is */
    fo_fail(&err, FO_EINVAL, "100%% of '%.100s' and '%s'", "caf\xE9.txt", "caf\xE9.txt");
    assert_string_equal(err.msg, "100% of 'caf\xE9.txt' and 'caf\xE9.txt'");
}

/* However long the path is: what the system said is the part that helps. */
static void the_system_s_reason_is_never_cut_off(void **state) {
    (void)state;
    char path[600];
    const size_t n_reason = strlen(strerror(EACCES));
    fo_err err = {0};
    for (size_t shift = 0; shift < 3; shift++) {
        memset(path, '/', shift);
        for (size_t i = shift; i + 3 < sizeof path; i += 3) memcpy(path + i, "\xE2\x82\xAC", 4);
        for (size_t n = shift; n < strlen(path); n += 3) {
            errno = EACCES;
            assert_int_equal(fo_fail_errno(&err, "cannot open %.*s", (int)n, path), FO_EIO);
            const size_t len = strlen(err.msg);
            assert_true(fo_utf8_valid(err.msg, len, NULL));
            assert_memory_equal(err.msg, "cannot open ", 12);
            assert_string_equal(err.msg + len - n_reason, strerror(EACCES));
            assert_memory_equal(err.msg + len - n_reason - 2, ": ", 2);
            const size_t whole = 12 + n + 2 + n_reason;
            if (whole < sizeof err.msg)
                assert_int_equal(len, whole);
            else
                assert_in_range(len, sizeof err.msg - 3, sizeof err.msg - 1);
        }
    }
}

static void a_folder_without_a_name_is_refused(void **state) {
    (void)state;
    fo_err err = {0};
    assert_int_equal(fo_make_dirs("", &err), FO_EINVAL);
    assert_string_equal(err.msg, "a folder's name is empty");
}

static void file_appears_whole_or_not_at_all(void **state) {
    (void)state;
    char *dir = test_folder();
    char path[4096];
    snprintf(path, sizeof path, "%s/a/b/file", dir);
    fo_err err = {0};
    char sub[4096];
    snprintf(sub, sizeof sub, "%s/a/b", dir);
    assert_ok(fo_make_dirs(sub, &err), &err);
    fo_file_writer *w;
    assert_ok(fo_file_create(&w, path, &err), &err);
    assert_ok(fo_file_write(w, "xxxx", 4, &err), &err);
    assert_int_not_equal(access(path, F_OK), 0);
    static char big[200000];
    memset(big, 'y', sizeof big);
    assert_ok(fo_file_write(w, big, sizeof big, &err), &err);
    assert_ok(fo_file_pad(w, 64, &err), &err);
    assert_int_equal(fo_file_offset(w) % 64, 0);
    assert_ok(fo_file_patch(w, 0, "HEAD", 4, &err), &err);
    assert_ok(fo_file_commit(w, &err), &err);
    fo_map m;
    assert_ok(fo_map_open(&m, path, &err), &err);
    assert_memory_equal(m.data, "HEADyyyy", 8);
    assert_int_equal(m.size % 64, 0);
    fo_map_close(&m);
    assert_ok(fo_file_create(&w, path, &err), &err);
    fo_file_abort(w);
    assert_int_equal(access(path, F_OK), 0); /* an aborted rewrite leaves the old file */
    assert_int_equal(fo_map_open(&m, sub, &err), FO_EINVAL);
    assert_ok(fo_remove_tree(dir, &err), &err);
    assert_ok(fo_remove_tree(dir, &err), &err);
    free(dir);
}

/* Whoever opens a pipe to read waits for one who writes. */
static void a_pipe_in_the_place_of_a_file_is_refused_at_once(void **state) {
    (void)state;
    char *dir = test_folder(), path[4096], to[4096];
    fo_err err = {0};
    fo_map m;
    snprintf(path, sizeof path, "%s/model.gguf", dir);
    snprintf(to, sizeof to, "%s/to", dir);
    assert_int_equal(mkfifo(path, 0600), 0);
    alarm(20); /* ends the test where it would wait for ever */
    assert_int_equal(fo_map_open(&m, path, &err), FO_EINVAL);
    assert_non_null(strstr(err.msg, "is not a regular file"));
    assert_int_equal(fo_file_copy(path, to, &err), FO_EINVAL);
    alarm(0);
    assert_int_not_equal(access(to, F_OK), 0);
    assert_ok(fo_remove_tree(dir, &err), &err);
    free(dir);
}

static void a_copy_is_whole_or_not_at_all(void **state) {
    (void)state;
    char *dir = test_folder(), from[4096], to[4096], *data;
    static char big[200000];
    size_t n;
    fo_err err = {0};
    snprintf(from, sizeof from, "%s/from", dir);
    snprintf(to, sizeof to, "%s/to", dir);
    for (size_t i = 0; i < sizeof big; i++) big[i] = (char)(i % 251);
    assert_ok(fo_file_put(from, big, sizeof big, &err), &err);
    readable = 100000; /* the disk does not give the rest */
    int rc = fo_file_copy(from, to, &err);
    readable = -1;
    assert_int_equal(rc, FO_EIO);
    assert_int_not_equal(access(to, F_OK), 0);
    assert_ok(fo_file_copy(from, to, &err), &err);
    assert_ok(fo_file_read(to, 1 << 20, &data, &n, &err), &err);
    assert_int_equal(n, sizeof big);
    assert_memory_equal(data, big, n);
    free(data);
    assert_ok(fo_file_put(from, "", 0, &err), &err);
    assert_ok(fo_file_copy(from, to, &err), &err);
    assert_ok(fo_file_read(to, 1 << 20, &data, &n, &err), &err);
    assert_int_equal(n, 0);
    free(data);
    assert_int_equal(fo_file_copy(dir, to, &err), FO_EINVAL);
    test_remove(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buf_grows_and_is_terminated),
        cmocka_unit_test(utf8_decodes_what_it_encodes),
        cmocka_unit_test(utf8_refuses_overlong_and_surrogates),
        cmocka_unit_test(a_sentence_cuts_names_between_characters),
        cmocka_unit_test(the_system_s_reason_is_never_cut_off),
        cmocka_unit_test(a_folder_without_a_name_is_refused),
        cmocka_unit_test(file_appears_whole_or_not_at_all),
        cmocka_unit_test(a_pipe_in_the_place_of_a_file_is_refused_at_once),
        cmocka_unit_test(a_copy_is_whole_or_not_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
