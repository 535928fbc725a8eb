/* A mapped file of which the disk does not give a page: here one that was cut off behind its reader's back. */
#include "tests/test.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include "kernels/map_guard.h"

enum { PAGES = 6 };

static char *dir, path[4096];
static size_t page;

static int make_file(void **state) {
    (void)state;
    page = (size_t)sysconf(_SC_PAGESIZE);
    dir = test_folder();
    snprintf(path, sizeof path, "%s/file", dir);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    for (size_t i = 0; i < PAGES * page; i++) fputc(7, f);
    assert_int_equal(fclose(f), 0);
    return 0;
}

static int remove_file(void **state) {
    (void)state;
    test_remove(dir);
    return 0;
}

static fo_map map(void) {
    fo_map m;
    fo_err err = {0};
    assert_ok(fo_map_open(&m, path, &err), &err);
    assert_int_equal(m.size, PAGES * page);
    return m;
}

static void what_cannot_be_read_is_zeroes_and_noted(void **state) {
    (void)state;
    fo_map m = map(), other = map();
    fo_map_guard g, beside;
    size_t at = 0;
    assert_true(fo_map_guard_begin(&beside, &other));
    assert_true(fo_map_guard_begin(&g, &m));
    assert_int_equal(truncate(path, (off_t)(2 * page)), 0);
    assert_int_equal(m.data[2 * page - 1], 7);
    assert_false(fo_map_guard_failed(&g, &at));
    assert_int_equal(m.data[3 * page + 5], 0);
    assert_true(fo_map_guard_failed(&g, &at));
    assert_int_equal(at, 3 * page);
    assert_int_equal(m.data[PAGES * page - 1], 0);
    assert_true(fo_map_guard_failed(&g, NULL));
    assert_false(fo_map_guard_failed(&beside, NULL));
    assert_int_equal(m.data[0], 7);
    fo_map_guard_end(&g);
    assert_false(fo_map_guard_failed(&g, NULL));
    fo_map_close(&m);
    fo_map_guard_end(&beside);
    fo_map_close(&other);
}

static void elsewhere_it_ends_the_process_as_ever(void **state) {
    (void)state;
    fo_map m = map();
    assert_int_equal(truncate(path, 1), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        fo_map_guard g;
        signal(SIGBUS, SIG_DFL);
        fo_map_guard_begin(&g, &m);
        fo_map_guard_end(&g);
        _exit(*(volatile const unsigned char *)(m.data + page));
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
    fo_map_close(&m);
}

/* Guards come and go while others read what is not there. */
static void *come_and_go(void *arg) {
    for (int i = 0; i < 2000; i++) {
        fo_map_guard g;
        fo_map_guard_begin(&g, arg);
        fo_map_guard_end(&g);
    }
    return NULL;
}

static void guards_come_and_go_beside_readers(void **state) {
    (void)state;
    fo_map m = map(), other = map();
    fo_map_guard g;
    pthread_t t;
    assert_true(fo_map_guard_begin(&g, &m));
    assert_int_equal(truncate(path, (off_t)page), 0);
    assert_int_equal(pthread_create(&t, NULL, come_and_go, &other), 0);
    for (size_t i = 1; i < PAGES; i++) assert_int_equal(m.data[i * page], 0);
    assert_int_equal(pthread_join(t, NULL), 0);
    assert_true(fo_map_guard_failed(&g, NULL));
    fo_map_guard_end(&g);
    fo_map_close(&m);
    fo_map_close(&other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_cannot_be_read_is_zeroes_and_noted, make_file,
                                        remove_file),
        cmocka_unit_test_setup_teardown(elsewhere_it_ends_the_process_as_ever, make_file,
                                        remove_file),
        cmocka_unit_test_setup_teardown(guards_come_and_go_beside_readers, make_file, remove_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
