/* Homes of many collections: what a process holds of them in threads and addresses, that those that
 * nobody uses are closed and come back as they were, beside writers, readers and deletions. */
#include "tests/test.h"

#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/clock.h"
#include "retrieval/collections/service_internal.h"
#include "retrieval/service/service.h"

static service *open_home(const char *home, size_t max_open, bool read_only) {
    fo_err err = {0};
    service *s = NULL;
    service_options opt = {.home = home,
                           .n_threads = 2,
                           .cache_bytes = -1,
                           .primes_per_s = -1,
                           .read_only = read_only,
                           .max_open_collections = max_open};
    assert_ok(service_open(&s, &opt, &err), &err);
    return s;
}

static void name_of(int i, char name[32]) {
    snprintf(name, 32, "c%05d", i);
}

static int put(service *s, int i, int document, fo_err *err) {
    char name[32], id[32], text[160];
    name_of(i, name);
    snprintf(id, sizeof id, "d%d", document);
    snprintf(text, sizeof text, "Collection number%d has the document word%d, and pump%d in it.", i,
             document, 1000 * i + document);
    ingest_options into = {.tenant = "default", .collection = name, .overlap = SIZE_MAX};
    ingest_document d = {.id = id, .bytes = text, .n_bytes = strlen(text)};
    ingest_result r = {0};
    int rc = service_ingest(s, &into, &d, 1, &r, NULL, err);
    if (!rc && r.status == INGEST_FAILED) {
        *err = r.error;
        rc = r.error.code;
    }
    ingest_result_deinit(&r);
    return rc;
}

/* 1: the document is the best hit of a question that only it answers; 0: it is not there. */
static int finds(service *s, int i, int document, fo_err *err) {
    char name[32], text[64], id[32];
    name_of(i, name);
    snprintf(text, sizeof text, "pump%d", 1000 * i + document);
    snprintf(id, sizeof id, "d%d", document);
    query_request q = {.tenant = "default",
                       .collection = name,
                       .query = text,
                       .top_k = 1,
                       .search = {.mode = SEARCH_SPARSE, .alpha = -1}};
    query_result r = {0};
    int rc = service_query(s, &q, NULL, &r, err);
    int found = !rc ? r.n_contexts == 1 && !strcmp(r.contexts[0].chunk.document_id, id) : rc;
    if (!rc) query_result_deinit(&r);
    return found;
}

static void must_find(service *s, int i, int document) {
    fo_err err = {0};
    int found = finds(s, i, document, &err);
    if (found != 1) fail_msg("document %d of collection %d: %d %s", document, i, found, err.msg);
}

static int n_threads(void) {
    int n = 0;
    DIR *d = opendir("/proc/self/task");
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

enum { MANY = 300 };

static void three_hundred_collections_take_no_thread_each(void **state) {
    (void)state;
    char *home = test_folder();
    fo_err err = {0};
    service *s = open_home(home, 0, false);
    int before = n_threads();
    for (int i = 0; i < MANY; i++)
        if (put(s, i, 0, &err) != FO_OK) fail_msg("collection %d: %s", i, err.msg);
    for (int i = 0; i < MANY; i++) must_find(s, i, 0);
    if (n_threads() > before + 2)
        fail_msg("%d threads, %d with no collection", n_threads(), before);
    service_close(s);
    s = open_home(home, 0, false);
    if (n_threads() > before + 2) fail_msg("%d threads after a start", n_threads());
    for (int i = 0; i < MANY; i++) must_find(s, i, 0);
    if (n_threads() > before + 2) fail_msg("%d threads after a start and use", n_threads());
    service_close(s);
    test_remove(home);
}

/* In a process of its own: the limit is for good. Its last words come back by the pipe. */
static void within_4_gb(int out, const char *home) {
    struct rlimit four = {(rlim_t)4 << 30, (rlim_t)4 << 30};
    fo_err err = {0};
    service *s = NULL;
    service_options opt = {.home = home, .n_threads = 2};
    if (setrlimit(RLIMIT_AS, &four) != 0) dprintf(out, "setrlimit");
    for (int round = 0; round < 2; round++) {
        if (service_open(&s, &opt, &err) != FO_OK) {
            dprintf(out, "start %d: %s", round, err.msg);
            return;
        }
        for (int i = 0; i < MANY; i++) {
            if (round == 0 && put(s, i, 0, &err) != FO_OK) {
                dprintf(out, "collection %d: %s", i, err.msg);
                return;
            }
            if (finds(s, i, 0, &err) != 1) {
                dprintf(out, "collection %d is not found: %s", i, err.msg);
                return;
            }
        }
        service_close(s);
    }
    dprintf(out, "fine");
}

static void three_hundred_collections_fit_4_gb_of_addresses(void **state) {
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* they set aside address space of their own */
#endif
    char *home = test_folder(), said[1024] = "";
    int fd[2];
    assert_int_equal(pipe(fd), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        within_4_gb(fd[1], home);
        _exit(0);
    }
    close(fd[1]);
    size_t n = 0;
    for (ssize_t k; (k = read(fd[0], said + n, sizeof said - 1 - n)) > 0;) n += (size_t)k;
    close(fd[0]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_string_equal(said, "fine");
    test_remove(home);
}

static size_t n_open(service *s) {
    fo_err err = {0};
    service_stats st;
    assert_ok(service_get_stats(s, &st, &err), &err);
    return st.n_open_collections;
}

static void no_more_than_the_budget_are_open_and_all_answer(void **state) {
    (void)state;
    enum { N = 25, BUDGET = 4 };
    char *home = test_folder();
    fo_err err = {0};
    service *s = open_home(home, BUDGET, false);
    for (int document = 0; document < 3; document++) {
        for (int i = 0; i < N; i++) {
            assert_ok(put(s, i, document, &err), &err);
            assert_true(n_open(s) <= BUDGET);
        }
    }
    for (int i = N; i-- > 0;)
        for (int document = 0; document < 3; document++) must_find(s, i, document);
    assert_true(n_open(s) == BUDGET);
    service_close(s);
    for (int round = 0; round < 2; round++) { /* a reader, then a writer again */
        s = open_home(home, BUDGET, round == 0);
        for (int i = 0; i < N; i++)
            for (int document = 0; document < 3; document++) must_find(s, i, document);
        assert_true(n_open(s) == BUDGET);
        service_close(s);
    }
    test_remove(home);
}

static void a_name_that_no_collection_has_closes_none(void **state) {
    (void)state;
    enum { BUDGET = 2 };
    fo_err err = {0};
    char *home = test_folder();
    service *s = open_home(home, BUDGET, false);
    for (int i = 0; i < BUDGET; i++) assert_ok(put(s, i, 0, &err), &err);
    assert_int_equal(n_open(s), BUDGET);
    assert_int_equal(finds(s, 99, 0, &err), FO_ENOTFOUND);
    assert_int_equal(n_open(s), BUDGET);
    service_close(s);
    test_remove(home);
}

static void a_collection_that_is_not_open_is_deleted_whole(void **state) {
    (void)state;
    enum { N = 12, BUDGET = 2 };
    char *home = test_folder(), name[32], path[4096];
    fo_err err = {0};
    service *s = open_home(home, BUDGET, false);
    for (int i = 0; i < N; i++) assert_ok(put(s, i, 0, &err), &err);
    for (int i = 0; i < N; i += 2) {
        name_of(i, name);
        assert_ok(service_delete_collection(s, "default", name, NULL, &err), &err);
        assert_int_equal(service_delete_collection(s, "default", name, NULL, &err), FO_ENOTFOUND);
        assert_int_equal(finds(s, i, 0, &err), FO_ENOTFOUND);
        assert_string_equal(err.field, "collection");
    }
    snprintf(path, sizeof path, "%s/index/default", home);
    int left = 0;
    DIR *d = opendir(path);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) left += e->d_name[0] != '.';
    closedir(d);
    assert_int_equal(left, N / 2);
    for (int i = 0; i < N; i++) {
        if (i % 2 == 0) assert_ok(put(s, i, 7, &err), &err); /* a new one of the name */
        if (i % 2 == 0) assert_int_equal(finds(s, i, 0, &err), 0);
        must_find(s, i, i % 2 ? 0 : 7);
    }
    service_close(s);
    test_remove(home);
}

static int renew(service *s, collection *c, fo_err *err) {
    pthread_mutex_lock(&s->admin_mu);
    writer_take(s);
    int rc = collection_renew(s, c, err);
    writer_yield(s);
    pthread_mutex_unlock(&s->admin_mu);
    return rc;
}

/* Two who had it open want it anew; meanwhile it may be closed for want of room, and come back. */
static void a_collection_is_put_in_place_of_itself_once(void **state) {
    (void)state;
    char *home = test_folder(), name[32];
    fo_err err = {0};
    service *s = open_home(home, 1, false);
    assert_ok(put(s, 0, 0, &err), &err);
    assert_ok(put(s, 1, 0, &err), &err);
    name_of(0, name);
    collection *one = NULL, *two = NULL, *fresh = NULL;
    assert_ok(collection_acquire(s, "default", name, &one, &err), &err);
    assert_ok(collection_acquire(s, "default", name, &two, &err), &err);
    assert_ptr_equal(one, two);
    assert_ok(renew(s, one, &err), &err);
    assert_ok(collection_acquire(s, "default", name, &fresh, &err), &err);
    assert_ptr_not_equal(fresh, one);
    collection_release(s, fresh);
    assert_ok(renew(s, two, &err), &err);
    assert_ok(collection_acquire(s, "default", name, &two, &err), &err);
    assert_ptr_equal(fresh, two); /* still the first one that was made */
    collection_release(s, two);
    must_find(s, 1, 0); /* crowds it out, but for the old one's sake it stays */
    assert_ok(put(s, 0, 1, &err), &err);
    collection_release(s, one);
    collection_release(s, one);
    must_find(s, 1, 0);
    for (int document = 0; document < 2; document++) must_find(s, 0, document);
    service_close(s);
    s = open_home(home, 1, false);
    for (int document = 0; document < 2; document++) must_find(s, 0, document);
    service_close(s);
    test_remove(home);
}

typedef struct crowd {
    service *s;
    int first, n, step;
    _Atomic int *written; /* [n] documents that are there for good */
    char said[256];
} crowd;

static void *write_around(void *arg) {
    crowd *c = arg;
    fo_err err = {0};
    for (int document = 0; document < 6; document++) {
        for (int i = c->first; i < c->n; i += c->step) {
            if (put(c->s, i, document, &err) != FO_OK)
                return snprintf(c->said, sizeof c->said, "%d: %.200s", i, err.msg), c;
            atomic_store(&c->written[i], document + 1);
        }
    }
    return NULL;
}

static void *read_around(void *arg) {
    crowd *c = arg;
    fo_err err = {0};
    uint64_t seed = (uint64_t)c->first + 1;
    for (int k = 0; k < 400; k++) {
        int i = (int)(test_random(&seed) % (uint64_t)c->n), written = atomic_load(&c->written[i]);
        if (!written) continue;
        int document = (int)(test_random(&seed) % (uint64_t)written);
        int found = finds(c->s, i, document, &err);
        if (found != 1)
            return snprintf(c->said, sizeof c->said, "document %d of %d: %d %.150s", document, i,
                            found, err.msg),
                   c;
    }
    return NULL;
}

static void collections_are_opened_and_closed_beside_writers_and_readers(void **state) {
    (void)state;
    enum { N = 12, WRITERS = 3, READERS = 3 };
    char *home = test_folder();
    static _Atomic int written[N];
    for (int i = 0; i < N; i++) atomic_store(&written[i], 0);
    service *s = open_home(home, 2, false); /* fewer than there are threads */
    crowd c[WRITERS + READERS];
    pthread_t t[WRITERS + READERS];
    for (int i = 0; i < WRITERS + READERS; i++) {
        c[i] = (crowd){.s = s, .first = i % WRITERS, .n = N, .step = WRITERS, .written = written};
        void *(*fn)(void *) = i < WRITERS ? write_around : read_around;
        assert_int_equal(pthread_create(&t[i], NULL, fn, &c[i]), 0);
    }
    for (int i = 0; i < WRITERS + READERS; i++) {
        void *failed;
        pthread_join(t[i], &failed);
        if (failed) fail_msg("%s", c[i].said);
    }
    assert_true(n_open(s) <= 2);
    for (int i = 0; i < N; i++)
        for (int document = 0; document < 6; document++) must_find(s, i, document);
    service_close(s);
    test_remove(home);
}

static int count(void *ctx, const char *tenant, const char *name, search_index *ix, fo_err *err) {
    (void)tenant, (void)name;
    ++*(int *)ctx;
    return search_index_verify(ix, err);
}

static void counters_of_indexes_never_go_back(void **state) {
    (void)state;
    enum { N = 8, BUDGET = 2 };
    char *home = test_folder();
    fo_err err = {0};
    service *s = open_home(home, BUDGET, false);
    search_index_stats before = {0}, now;
    for (int document = 0; document < 3; document++) {
        for (int i = 0; i < N; i++) {
            assert_ok(put(s, i, document, &err), &err);
            assert_ok(service_get_index_stats(s, &now, NULL, &err), &err);
            assert_true(now.bytes_ingested > before.bytes_ingested);
            assert_true(now.bytes_written >= before.bytes_written);
            before = now;
        }
    }
    assert_true(now.bytes_written > 0); /* by closing, which seals */
    assert_true(now.n_chunks >= BUDGET && now.n_chunks <= 3 * BUDGET);
    service_close(s);
    s = open_home(home, BUDGET, false);
    assert_ok(service_get_index_stats(s, &now, NULL, &err), &err);
    assert_true(now.bytes_ingested == 0);
    service_close(s);
    test_remove(home);
}

static void all_are_looked_at_without_being_open_at_once(void **state) {
    (void)state;
    enum { N = 10, BUDGET = 3 };
    char *home = test_folder();
    fo_err err = {0};
    service *s = open_home(home, BUDGET, false);
    for (int i = 0; i < N; i++) assert_ok(put(s, i, 0, &err), &err);
    int n = 0;
    assert_ok(service_each_index(s, NULL, NULL, count, &n, &err), &err);
    assert_int_equal(n, N);
    assert_int_equal(n_open(s), BUDGET);
    assert_int_equal(service_each_index(s, "default", "none", count, &n, &err), FO_ENOTFOUND);
    service_close(s);
    test_remove(home);
}

/* `many_collections_test N FOLDER`: what a home of N collections costs, instead of testing. */
static int measure(int n, const char *home) {
    fo_err err = {0};
    service *s = NULL;
    char line[256];
    for (int round = 0; round < 2; round++) {
        service_options opt = {.home = home};
        double begin = fo_now_ms();
        if (service_open(&s, &opt, &err) != FO_OK) return fprintf(stderr, "%s\n", err.msg), 1;
        printf("start: %.0f ms, %d threads\n", fo_now_ms() - begin, n_threads());
        begin = fo_now_ms();
        double worst = 0;
        for (int i = 0; i < n; i++) {
            double at = fo_now_ms();
            if (round == 0 && put(s, i, 0, &err)) return fprintf(stderr, "%s\n", err.msg), 1;
            if (round == 1 && finds(s, i, 0, &err) != 1) return fprintf(stderr, "not found\n"), 1;
            if (fo_now_ms() - at > worst) worst = fo_now_ms() - at;
        }
        printf("%s each of %d: %.2f ms on average, %.0f ms the longest\n",
               round ? "a question to" : "a document into", n, (fo_now_ms() - begin) / n, worst);
        FILE *f = fopen("/proc/self/status", "r");
        while (f && fgets(line, sizeof line, f))
            if (!strncmp(line, "VmSize", 6) || !strncmp(line, "VmHWM", 5) ||
                !strncmp(line, "VmRSS", 5) || !strncmp(line, "Threads", 7))
                fputs(line, stdout);
        if (f) fclose(f);
        begin = fo_now_ms();
        service_close(s);
        printf("stop: %.0f ms\n", fo_now_ms() - begin);
    }
    return 0;
}

int main(int argc, char **argv) {
    if (argc == 3) return measure(atoi(argv[1]), argv[2]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_hundred_collections_fit_4_gb_of_addresses),
        cmocka_unit_test(three_hundred_collections_take_no_thread_each),
        cmocka_unit_test(no_more_than_the_budget_are_open_and_all_answer),
        cmocka_unit_test(a_name_that_no_collection_has_closes_none),
        cmocka_unit_test(a_collection_that_is_not_open_is_deleted_whole),
        cmocka_unit_test(a_collection_is_put_in_place_of_itself_once),
        cmocka_unit_test(collections_are_opened_and_closed_beside_writers_and_readers),
        cmocka_unit_test(counters_of_indexes_never_go_back),
        cmocka_unit_test(all_are_looked_at_without_being_open_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
