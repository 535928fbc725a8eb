/* A mapped file of which the disk does not give a page: here one that was cut off behind its reader's back. */
#include "tests/test.h"

#include <pthread.h>
#include <setjmp.h>
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

static sigjmp_buf back;
static volatile sig_atomic_t reached;

static void of_the_program(int number) {
    reached = number;
    siglongjmp(back, 1);
}

static void of_the_program_with_info(int number, siginfo_t *info, void *context) {
    (void)context;
    reached = info->si_addr ? number : -1;
    siglongjmp(back, 1);
}

/* Is a read of m that fails, with no guard of it any more, told to the handler that was there? */
static void assert_handed_on(const fo_map *m, const struct sigaction *act) {
    struct sigaction was, now;
    fo_map_guard g;
    reached = 0;
    assert_int_equal(sigaction(SIGBUS, act, &was), 0);
    assert_true(fo_map_guard_begin(&g, m));
    assert_int_equal(sigaction(SIGBUS, NULL, &now), 0);
    assert_true(now.sa_flags & SA_ONSTACK); /* threads whose stack is small have one for signals */
    fo_map_guard_end(&g);
    if (!sigsetjmp(back, 1)) (void)*(volatile const unsigned char *)(m->data + page);
    assert_int_equal(reached, SIGBUS);
    assert_int_equal(sigaction(SIGBUS, &was, NULL), 0);
}

static void what_is_not_ours_reaches_the_handler_that_was_there(void **state) {
    (void)state;
    fo_map m = map();
    assert_int_equal(truncate(path, 1), 0);
    assert_handed_on(&m, &(struct sigaction){.sa_handler = of_the_program});
    assert_handed_on(
        &m, &(struct sigaction){.sa_sigaction = of_the_program_with_info, .sa_flags = SA_SIGINFO});
    fo_map_close(&m);
}

/* The status of a process that sends itself SIGBUS beside a guard. */
static int status_of_sent(const fo_map *m, void (*was)(int)) {
    int status;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        fo_map_guard g;
        signal(SIGBUS, was);
        fo_map_guard_begin(&g, m);
        for (int i = 0; i < 2; i++) raise(SIGBUS);
        _exit(3);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static void one_that_was_sent_is_ignored_or_ends_the_process_as_before(void **state) {
    (void)state;
    fo_map m = map();
    const int ignored = status_of_sent(&m, SIG_IGN), ended = status_of_sent(&m, SIG_DFL);
    assert_true(WIFEXITED(ignored) && WEXITSTATUS(ignored) == 3);
    assert_true(WIFSIGNALED(ended) && WTERMSIG(ended) == SIGBUS);
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

/* A file under one guard for as long as it is open, where it was moved to as well. */
static void an_open_file_is_guarded_and_named_until_it_is_closed(void **state) {
    (void)state;
    fo_err err = {0};
    fo_guarded_file f, moved, none = {0};
    size_t at = 0;
    assert_ok(fo_guarded_file_check(&none, &err), &err);
    fo_guarded_file_close(&none);
    assert_ok(fo_guarded_file_open(&f, path, &err), &err);
    assert_int_equal(f.map.size, PAGES * page);
    assert_ok(fo_guarded_file_check(&f, &err), &err);
    moved = f;
    assert_int_equal(truncate(path, (off_t)page), 0);
    assert_int_equal(moved.map.data[2 * page], 0);
    assert_true(fo_guarded_file_failed(&moved, &at));
    assert_int_equal(at, 2 * page);
    assert_int_equal(fo_guarded_file_check(&moved, &err), FO_EIO);
    assert_non_null(strstr(err.msg, path));
    fo_guarded_file_close(&moved);
    assert_ok(fo_guarded_file_check(&moved, &err), &err);
    assert_null(moved.map.data);
    fo_guarded_file_close(&moved);
    assert_int_equal(fo_guarded_file_open(&f, dir, &err), FO_EINVAL);
    assert_null(f.path);
    fo_guarded_file_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_cannot_be_read_is_zeroes_and_noted, make_file,
                                        remove_file),
        cmocka_unit_test_setup_teardown(elsewhere_it_ends_the_process_as_ever, make_file,
                                        remove_file),
        cmocka_unit_test_setup_teardown(what_is_not_ours_reaches_the_handler_that_was_there,
                                        make_file, remove_file),
        cmocka_unit_test_setup_teardown(one_that_was_sent_is_ignored_or_ends_the_process_as_before,
                                        make_file, remove_file),
        cmocka_unit_test_setup_teardown(guards_come_and_go_beside_readers, make_file, remove_file),
        cmocka_unit_test_setup_teardown(an_open_file_is_guarded_and_named_until_it_is_closed,
                                        make_file, remove_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
