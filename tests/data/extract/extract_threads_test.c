/* The first pages of a process, read by several threads at once. A program of its own, with nothing
 * read before it forks: what a library sets up at its first use happens once a process. */
#include "tests/test.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "data/extract/extract.h"

enum { ROUNDS = 150, THREADS = 4 };

static pthread_barrier_t gate;

static void *read_page(void *failed) {
    static const char page[] =
        "<!doctype html><html><head><title>Toads</title></head><body>"
        "<h1>Toads</h1><p>The fence is 620&nbsp;metres long.</p></body></html>";
    pthread_barrier_wait(&gate);
    extracted x;
    fo_err err = {0};
    if (extract_text(&x,
                     &(extract_request){.bytes = page,
                                        .n = sizeof page - 1,
                                        .content_type = "text/html",
                                        .max_text_bytes = 1 << 20},
                     &err) != 0) {
        *(int *)failed = 1;
        return NULL;
    }
    *(int *)failed = strstr(x.text, "620") == NULL;
    extracted_deinit(&x);
    return NULL;
}

static int child(void) {
    pthread_t threads[THREADS];
    int failed[THREADS] = {0}, any = 0;
    alarm(20); /* a deadlock ends the child by a signal */
    pthread_barrier_init(&gate, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, read_page, &failed[i])) return 2;
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        any |= failed[i];
    }
    return any;
}

static void first_pages_of_a_process_may_meet(void **state) {
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) _exit(child());
        int status = -1;
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(first_pages_of_a_process_may_meet)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
