/* A file of an index that is found damaged while the service runs: what happens where its chunks cannot
 * be had from the store, and what is kept of answers from before. */
#include "tests/test.h"

#include <pthread.h>
#include <stdatomic.h>

#include "data/sqlite/sqlite_store.h"
#include "data/store/store_backend.h"
#include "retrieval/service/service.h"

/* ---- a store that tells when an index is filled from it, and can refuse -------------------- */

static store_ops ops;
static int (*each_chunk)(store *s, int64_t collection, int64_t after, store_index_fn *fn, void *ctx,
                         int64_t *epoch, fo_err *err);
static atomic_bool refuses;
static void (*_Atomic in_gap)(void); /* NULL: nobody wants to know */

static int each_chunk_told(store *s, int64_t collection, int64_t after, store_index_fn *fn,
                           void *ctx, int64_t *epoch, fo_err *err) {
    void (*tell)(void) = in_gap;
    if (tell) tell();
    int rc = each_chunk(s, collection, after, fn, ctx, epoch, err);
    return !rc && refuses ? fo_fail(err, FO_EIO, "the disk does not answer") : rc;
}

static int open_told(store **out, const char *home, const store_options *opt, fo_err *err) {
    int rc = sqlite_store_backend.open(out, home, opt, err);
    if (rc) return rc;
    ops = *(*out)->ops;
    each_chunk = ops.each_chunk;
    ops.each_chunk = each_chunk_told;
    (*out)->ops = &ops;
    return FO_OK;
}

/* ---- the service ------------------------------------------------------------------------- */

static struct {
    pthread_mutex_t mu;
    pthread_cond_t told;
    int n_rebuilt, n_failed;
} seen = {.mu = PTHREAD_MUTEX_INITIALIZER, .told = PTHREAD_COND_INITIALIZER};

static void see_damage(void *ctx, const char *tenant, const char *collection, const char *why,
                       bool rebuilt) {
    (void)ctx, (void)tenant, (void)collection, (void)why;
    pthread_mutex_lock(&seen.mu);
    seen.n_rebuilt += rebuilt;
    seen.n_failed += !rebuilt;
    pthread_cond_signal(&seen.told);
    pthread_mutex_unlock(&seen.mu);
}

static store_backend backend;
static size_t seal_chunks; /* of homes that are opened */

static service *open_home(const char *home) {
    fo_err err = {0};
    service *s = NULL;
    backend = sqlite_store_backend;
    backend.open = open_told;
    service_options opt = {.home = home,
                           .store = &backend,
                           .n_threads = 2,
                           .primes_per_s = -1,
                           .seal_chunks = seal_chunks,
                           .index_damaged = see_damage};
    assert_ok(service_open(&s, &opt, &err), &err);
    return s;
}

static void put(service *s, const char *id, const char *text) {
    fo_err err = {0};
    ingest_options into = {.tenant = "default", .collection = "notes", .overlap = SIZE_MAX};
    ingest_document d = {.id = id, .bytes = text, .n_bytes = strlen(text)};
    ingest_result r;
    assert_ok(service_ingest(s, &into, &d, 1, &r, NULL, &err), &err);
    assert_int_equal(r.status, INGEST_CREATED);
    ingest_result_deinit(&r);
}

static service *open_with_two(const char *home) {
    const size_t later = seal_chunks;
    seal_chunks = 0; /* both in one file */
    service *s = open_home(home);
    put(s, "heron", "The grey heron stands one metre tall. It eats fish.");
    put(s, "owl", "The barn owl hunts mice at night and nests in barns.");
    service_close(s); /* sealed */
    seal_chunks = later;
    return open_home(home);
}

static atomic_int n_without_epoch, n_incomplete; /* answers */

/* Is the document the best context? *hit: of those that were kept. */
static bool finds(service *s, const char *text, const char *id, bool *hit) {
    fo_err err = {0};
    query_request q = {.tenant = "default",
                       .collection = "notes",
                       .query = text,
                       .top_k = 5,
                       .search = {.alpha = -1}};
    query_result r;
    assert_ok(service_query(s, &q, NULL, &r, &err), &err);
    bool found = r.n_contexts && strcmp(r.contexts[0].chunk.document_id, id) == 0;
    *hit = r.cache.retrieval == CACHE_HIT;
    if (r.epoch < 0) n_without_epoch++;
    n_incomplete += r.index_incomplete;
    query_result_deinit(&r);
    return found;
}

static int check_files(void *ctx, const char *tenant, const char *collection, search_index *ix,
                       fo_err *err) {
    (void)ctx, (void)tenant, (void)collection, (void)err;
    search_index_check_files(ix);
    return FO_OK;
}

/* Flip a byte of the first segment and wait until that was found and told of. */
static void damage_segment(service *s, const char *home) {
    char path[4096];
    fo_err err = {0};
    struct timespec limit;
    snprintf(path, sizeof path, "%s/index/default/notes-1.0/%016x.seg", home, 1);
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    assert_int_equal(fseek(f, 1024, SEEK_SET), 0);
    int c = fgetc(f);
    assert_int_equal(fseek(f, 1024, SEEK_SET), 0);
    assert_true(fputc(c ^ 1, f) != EOF && fclose(f) == 0);
    seen.n_rebuilt = seen.n_failed = 0;
    assert_ok(service_each_index(s, NULL, NULL, check_files, NULL, &err), &err);
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += 120;
    pthread_mutex_lock(&seen.mu);
    while (seen.n_rebuilt + seen.n_failed == 0 &&
           pthread_cond_timedwait(&seen.told, &seen.mu, &limit) == 0) {
    }
    pthread_mutex_unlock(&seen.mu);
}

static void a_repair_that_failed_is_made_up_for_at_the_next_start(void **state) {
    (void)state;
    char *home = test_folder();
    fo_err err = {0};
    bool hit;
    search_id_report r;
    service *s = open_with_two(home);
    refuses = true;
    damage_segment(s, home);
    assert_int_equal(seen.n_failed, 1);
    refuses = false;
    put(s, "finch", "The finch cracks seeds with its beak.");
    assert_true(finds(s, "Who cracks seeds?", "finch", &hit));
    service_close(s); /* sealed, beside what is missing */
    s = open_home(home);
    assert_ok(service_compare_ids(s, "default", "notes", &r, &err), &err);
    assert_true(finds(s, "What does the heron eat?", "heron", &hit));
    service_close(s);
    test_remove(home);
}

static service *asked;
static atomic_int n_asked, n_found, n_hits;

static void ask_in_gap(void) {
    for (int i = 0; i < 2; i++) {
        bool hit;
        n_found += finds(asked, "Who hunts mice at night?", "owl", &hit);
        n_hits += hit;
        n_asked++;
    }
}

/* Before and while a file is gone the epoch is the same as after it came again. */
static void nothing_kept_from_before_a_repair_or_in_it_is_served_after_it(void **state) {
    (void)state;
    char *home = test_folder();
    bool hit;
    service *s = asked = open_with_two(home);
    for (int i = 0; i < 2; i++) assert_true(finds(s, "What does the heron eat?", "heron", &hit));
    assert_true(hit);
    n_asked = n_found = n_hits = 0;
    assert_int_equal(n_incomplete, 0);
    in_gap = ask_in_gap;
    damage_segment(s, home);
    in_gap = NULL;
    assert_int_equal(seen.n_rebuilt, 1);
    assert_int_equal(n_asked, 2);
    assert_int_equal(n_found + n_hits, 0);
    assert_int_equal(n_incomplete, 2); /* and each of them says so */
    assert_int_equal(n_without_epoch, 0);
    assert_true(finds(s, "What does the heron eat?", "heron", &hit));
    assert_false(hit);
    for (int i = 0; i < 2; i++) assert_true(finds(s, "Who hunts mice at night?", "owl", &hit));
    assert_true(hit);
    assert_int_equal(n_incomplete, 2);
    n_incomplete = 0;
    service_close(s);
    test_remove(home);
}

/* More than an index gathers in memory: straight into files. */
static void a_large_file_comes_again_under_the_same_epoch(void **state) {
    seal_chunks = 1;
    nothing_kept_from_before_a_repair_or_in_it_is_served_after_it(state);
    seal_chunks = 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_kept_from_before_a_repair_or_in_it_is_served_after_it),
        cmocka_unit_test(a_large_file_comes_again_under_the_same_epoch),
        cmocka_unit_test(a_repair_that_failed_is_made_up_for_at_the_next_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
