/* What an ingest may cost: it ends within a document when nobody waits for it any more, and all that
 * come together take no more memory than one number allows. */
#include "tests/test.h"

#include <pthread.h>
#include <time.h>
#include <zlib.h>

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
        bool failed = !c.rc && c.result.status == INGEST_FAILED;
        if (c.rc || failed) {
            assert_int_equal(failed ? c.result.error.code : c.rc, FO_ECANCELLED);
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

static char *gzip(const char *in, size_t n, size_t *made) {
    z_stream z = {0};
    char *out = malloc(n / 2 + 4096);
    assert_non_null(out);
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (unsigned char *)in;
    z.avail_in = (uInt)n;
    z.next_out = (unsigned char *)out;
    z.avail_out = (uInt)(n / 2 + 4096);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    *made = n / 2 + 4096 - z.avail_out;
    deflateEnd(&z);
    return out;
}

/* Whatever a call does, all that it took is given back; how much was taken at most. */
static size_t most_memory(service *s) {
    memory_budget_stats st;
    service_get_ingest_memory(s, &st);
    assert_int_equal(st.used, 0);
    assert_int_equal(st.n_waiting, 0);
    assert_true(st.most <= st.bytes);
    return st.most;
}

static service *open_small(const char *home, uint64_t ingest_memory) {
    fo_err err = {0};
    service *s = NULL;
    service_options opt = {.home = home, .n_threads = 2, .ingest_memory = ingest_memory};
    assert_ok(service_open(&s, &opt, &err), &err);
    return s;
}

typedef struct caller {
    service *s;
    const char *bytes;
    size_t n, k;
    int rc;
    size_t created;
    fo_err err;
} caller;

/* Eight documents in a call, of which three are large once they are unpacked. */
static void *call_with_eight(void *arg) {
    caller *c = arg;
    ingest_options opt = {.tenant = "default", .collection = "notes", .overlap = SIZE_MAX};
    ingest_document d[8];
    char ids[8][32];
    for (size_t i = 0; i < 8; i++) {
        snprintf(ids[i], sizeof ids[i], "%zu-%zu", c->k, i);
        d[i] = (ingest_document){.id = ids[i], .bytes = "A small one.", .n_bytes = 12};
        if (i % 3 == 1) {
            d[i].bytes = c->bytes;
            d[i].n_bytes = c->n;
        }
    }
    ingest_result r[8];
    do /* a slow machine may be told to come again */
        c->rc = service_ingest(c->s, &opt, d, 8, r, NULL, &c->err);
    while (c->rc == FO_EBUSY);
    for (size_t i = 0; i < 8; i++) {
        c->created += !c->rc && r[i].status == INGEST_CREATED;
        if (r[i].status == INGEST_FAILED) c->err = r[i].error;
        ingest_result_deinit(&r[i]);
    }
    return NULL;
}

static void all_calls_share_one_memory(void **state) {
    (void)state;
    enum { CALLS = 6, BYTES = 700 << 10, MEMORY = 4 << 20 };
    char *home = test_folder();
    service *s = open_small(home, MEMORY);
    char *text = prose(BYTES);
    size_t n;
    char *packed = gzip(text, BYTES, &n);
    pthread_t threads[CALLS];
    caller calls[CALLS];
    for (size_t i = 0; i < CALLS; i++) {
        calls[i] = (caller){.s = s, .bytes = packed, .n = n, .k = i};
        assert_int_equal(pthread_create(&threads[i], NULL, call_with_eight, &calls[i]), 0);
    }
    for (size_t i = 0; i < CALLS; i++) pthread_join(threads[i], NULL);
    for (size_t i = 0; i < CALLS; i++) {
        if (calls[i].rc || calls[i].created != 8)
            fail_msg("call %zu: %d, %zu created, %s", i, calls[i].rc, calls[i].created,
                     calls[i].err.msg);
    }
    assert_true(most_memory(s) > BYTES);
    memory_budget_stats st;
    service_get_ingest_memory(s, &st);
    assert_true(st.n_waited > 0);
    service_close(s);
    free(packed);
    free(text);
    test_remove(home);
}

static void small_documents_need_not_wait_for_large_ones(void **state) {
    (void)state;
    enum { LARGE = 4, BYTES = 24 << 20 };
    char *home = test_folder();
    service *s = open_home(home);
    char *text = prose(BYTES);
    call calls[LARGE];
    pthread_t threads[LARGE];
    memory_budget_stats st;
    for (int i = 0; i < LARGE; i++) {
        calls[i] = (call){.s = s, .text = text, .n = BYTES};
        assert_int_equal(pthread_create(&threads[i], NULL, ingest, &calls[i]), 0);
    }
    do { /* three at work, for the fourth there is no room */
        usleep(1000);
        service_get_ingest_memory(s, &st);
        assert_false(calls[0].done);
    } while (!st.n_waiting);
    fo_err err = {0};
    ingest_options opt = {.tenant = "default", .collection = "notes", .overlap = SIZE_MAX};
    ingest_document d[2] = {{.id = "a", .bytes = "A small one.", .n_bytes = 12},
                            {.id = "b", .bytes = "Another.", .n_bytes = 8}};
    ingest_result r[2];
    assert_ok(service_ingest(s, &opt, d, 1, r, NULL, &err), &err);
    assert_int_equal(r[0].status, INGEST_CREATED);
    ingest_result_deinit(&r[0]);
    assert_ok(service_ingest(s, &opt, d, 2, r, NULL, &err), &err);
    assert_int_equal(r[1].status, INGEST_CREATED);
    for (int i = 0; i < 2; i++) ingest_result_deinit(&r[i]);
    for (int i = 0; i < LARGE; i++) assert_false(calls[i].done);
    for (int i = 0; i < LARGE; i++) calls[i].cancel = true;
    for (int i = 0; i < LARGE; i++) {
        pthread_join(threads[i], NULL);
        ingest_result_deinit(&calls[i].result);
    }
    most_memory(s);
    free(text);
    service_close(s);
    test_remove(home);
}

static enum ingest_status put(service *s, const ingest_document *d, size_t n, fo_err *why) {
    ingest_options opt = {
        .tenant = "default", .collection = "notes", .max_tokens = 16, .overlap = 0};
    ingest_result r[64];
    fo_err err = {0};
    ingest_counts counts = {0};
    opt.counts = &counts;
    assert_ok(service_ingest(s, &opt, d, n, r, NULL, &err), &err);
    assert_int_equal(counts.stored, n);
    assert_int_equal(counts.embedded, n); /* each counted once, however often it was begun */
    enum ingest_status last = r[n - 1].status;
    *why = r[n - 1].error;
    for (size_t i = 0; i < n; i++) ingest_result_deinit(&r[i]);
    return last;
}

/* What a document needs is guessed from its bytes; where the guess is too low it comes again, alone
 * at last, and the order of versions holds. */
static void a_document_that_needs_more_comes_again(void **state) {
    (void)state;
    fo_err why = {0};
    char *home = test_folder();
    service *s = open_small(home, 4 << 20);
    /* Chunks of 16 tokens: vectors weigh ten times the text. */
    char *text = prose(60 << 10);
    ingest_document d[16];
    for (size_t i = 0; i < 16; i++)
        d[i] = (ingest_document){.id = "one", .bytes = text, .n_bytes = (60 << 10) - i};
    assert_int_equal(put(s, d, 16, &why), INGEST_UPDATED);
    assert_true(most_memory(s) > 1 << 20);
    ingest_document again = d[15];
    assert_int_equal(put(s, &again, 1, &why), INGEST_UNCHANGED); /* the last version stands */
    /* More than there is in all is refused, as is what unpacks to more. */
    char *longer = prose(3 << 20);
    ingest_document large = {.id = "large", .bytes = longer, .n_bytes = 3 << 20};
    assert_int_equal(put(s, &large, 1, &why), INGEST_FAILED);
    assert_int_equal(why.code, FO_ELIMIT);
    large.n_bytes = 1 << 20;
    assert_int_equal(put(s, &large, 1, &why), INGEST_FAILED);
    assert_int_equal(why.code, FO_ELIMIT);
    assert_string_equal(why.msg, "the document needs more than the 3 MiB of memory that one may "
                                 "take: seven eighths of --ingest-memory");
    size_t n;
    char *packed = gzip(longer, 3 << 20, &n);
    large.bytes = packed;
    large.n_bytes = n;
    assert_int_equal(put(s, &large, 1, &why), INGEST_FAILED);
    assert_int_equal(why.code, FO_ELIMIT);
    assert_non_null(strstr(why.msg, "unpacks to more than 1835008 bytes"));
    most_memory(s);
    service_close(s);
    free(text);
    free(longer);
    free(packed);
    test_remove(home);
}

/* The index has each value once for each chunk. */
static void metadata_counts_for_each_chunk(void **state) {
    (void)state;
    enum { BYTES = 1400 << 10, MEMORY = 64 << 20 };
    char *home = test_folder(), *text = prose(BYTES);
    fo_buf many = {0};
    fo_buf_str(&many, "{\"n\":[0");
    for (int i = 1; i < 1024; i++) fo_buf_printf(&many, ",%d", i);
    fo_buf_str(&many, "]}");
    service *s = open_small(home, MEMORY);
    fo_err why;
    ingest_document d = {.id = "a", .bytes = text, .n_bytes = BYTES, .metadata = many.data};
    assert_int_equal(put(s, &d, 1, &why), INGEST_FAILED);
    assert_int_equal(why.code, FO_ELIMIT);
    assert_string_equal(why.field, "metadata");
    assert_non_null(strstr(why.msg, "metadata of 1024 values for each of "));
    most_memory(s);
    d.metadata = "{\"n\":[1,2,3]}";
    assert_int_equal(put(s, &d, 1, &why), INGEST_CREATED);
    d = (ingest_document){.id = "b", .bytes = text, .n_bytes = 4096, .metadata = many.data};
    assert_int_equal(put(s, &d, 1, &why), INGEST_CREATED);
    most_memory(s);
    service_close(s);
    fo_buf_free(&many);
    free(text);
    test_remove(home);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_left_is_worked_for_no_longer),
        cmocka_unit_test(all_calls_share_one_memory),
        cmocka_unit_test(small_documents_need_not_wait_for_large_ones),
        cmocka_unit_test(a_document_that_needs_more_comes_again),
        cmocka_unit_test(metadata_counts_for_each_chunk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
