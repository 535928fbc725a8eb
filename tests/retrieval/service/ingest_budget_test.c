/* What an ingest may cost: it ends within a document when nobody waits for it any more. */
#include "tests/test.h"

#include <pthread.h>
#include <time.h>

#include "kernels/buf.h"
#include "kernels/clock.h"
#include "retrieval/service/service.h"

static service *open_home(const char *home) {
    fo_err err = {0};
    service *s = NULL;
    service_options opt = {.home = home, .n_threads = 2};
    assert_ok(service_open(&s, &opt, &err), &err);
    return s;
}

/* Prose, roughly: sentences of words of several lengths. */
static char *prose(size_t n) {
    static const char *const words[] = {"the",    "boats",    "are",   "drawn", "up",
                                        "before", "snow",     "falls", "on",    "water",
                                        "levels", "measured", "at",    "every", "sluice"};
    uint64_t seed = 7;
    char *s = malloc(n + 32);
    size_t at = 0;
    while (s && at < n)
        at += (size_t)sprintf(s + at, "%s%s", words[test_random(&seed) % 15],
                              test_random(&seed) % 11 ? " " : ".\n");
    if (s) s[n] = 0;
    return s;
}

static double process_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

typedef struct call {
    service *s;
    const char *text;
    size_t n;
    atomic_bool cancel, done;
    int rc;
    ingest_result result;
    fo_err err;
} call;

static void *ingest(void *arg) {
    call *c = arg;
    ingest_options opt = {
        .tenant = "default", .collection = "notes", .overlap = SIZE_MAX, .cancel = &c->cancel};
    ingest_document d = {.id = "long", .bytes = c->text, .n_bytes = c->n};
    c->rc = service_ingest(c->s, &opt, &d, 1, &c->result, NULL, &c->err);
    c->done = true;
    return NULL;
}

static void who_left_is_worked_for_no_longer(void **state) {
    (void)state;
    char *home = test_folder();
    service *s = open_home(home);
    enum { BYTES = 24 << 20 };
    char *text = prose(BYTES);
    assert_non_null(text);
    /* Cancelled after more and more work: in extraction, in chunking, in embedding. */
    int cancelled = 0;
    for (int i = 0; i < 5; i++) {
        call c = {.s = s, .text = text, .n = BYTES};
        pthread_t thread;
        double began = process_ms();
        assert_int_equal(pthread_create(&thread, NULL, ingest, &c), 0);
        while (!c.done && process_ms() - began < 200 + 700.0 * i) usleep(2000);
        double at = process_ms();
        c.cancel = true;
        pthread_join(thread, NULL);
        double took = process_ms() - at;
        assert_int_equal(c.rc, FO_OK);
        if (c.result.status == INGEST_FAILED) {
            assert_int_equal(c.result.error.code, FO_ECANCELLED);
            cancelled++;
            if (took > 500) fail_msg("round %d: %.0f ms of computing after the end", i, took);
        }
        ingest_result_deinit(&c.result);
    }
    assert_true(cancelled >= 2);
    free(text);
    service_close(s);
    test_remove(home);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_left_is_worked_for_no_longer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
