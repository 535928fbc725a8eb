/* file_sync_test.c - what makes a file durable: its bytes are synced before its name is given, and
 * the folder after. The calls are watched on their way to the kernel. */
#include "tests/test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "kernels/file.h"

static char calls[64]; /* f: a file was synced, d: a folder, r: a file got its name */
static size_t n_calls;
static int fail_file_sync;

static void note(char c) {
    if (n_calls + 1 < sizeof calls) calls[n_calls++] = c;
    calls[n_calls] = 0;
}

/* These stand before the C library's. */
int fsync(int fd) {
    struct stat st;
    assert_int_equal(fstat(fd, &st), 0);
    note(S_ISDIR(st.st_mode) ? 'd' : 'f');
    if (fail_file_sync && !S_ISDIR(st.st_mode)) {
        errno = EIO;
        return -1;
    }
    return (int)syscall(SYS_fsync, fd);
}

int rename(const char *from, const char *to) {
    note('r');
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

static int write_file(const char *path, const char *text, fo_err *err) {
    fo_file_writer *w;
    int rc = fo_file_create(&w, path, err);
    if (!rc) rc = fo_file_write(w, text, strlen(text), err);
    n_calls = 0;
    return !rc ? fo_file_commit(w, err) : rc;
}

static void bytes_are_safe_before_the_name_and_the_name_before_the_answer(void **state) {
    (void)state;
    char *dir = test_folder(), path[4096], *data;
    size_t n;
    fo_err err = {0};
    snprintf(path, sizeof path, "%s/file", dir);
    assert_ok(write_file(path, "first", &err), &err);
    assert_string_equal(calls, "frd");
    assert_ok(write_file(path, "second", &err), &err); /* over an old one, too */
    assert_string_equal(calls, "frd");
    assert_ok(fo_file_read(path, 100, &data, &n, &err), &err);
    assert_string_equal(data, "second");
    free(data);
    test_remove(dir);
}

static void what_could_not_be_synced_gets_no_name(void **state) {
    (void)state;
    char *dir = test_folder(), path[4096], *data;
    size_t n;
    fo_err err = {0};
    snprintf(path, sizeof path, "%s/file", dir);
    assert_ok(write_file(path, "first", &err), &err);
    fail_file_sync = 1;
    assert_int_equal(write_file(path, "second", &err), FO_EIO);
    fail_file_sync = 0;
    assert_string_equal(calls, "f");
    assert_non_null(strstr(err.msg, "cannot sync"));
    assert_ok(fo_file_read(path, 100, &data, &n, &err), &err);
    assert_string_equal(data, "first");
    free(data);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(dir), 0); /* and nothing was left beside it */
    free(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_safe_before_the_name_and_the_name_before_the_answer),
        cmocka_unit_test(what_could_not_be_synced_gets_no_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
