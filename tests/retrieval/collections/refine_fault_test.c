/* refine_fault_test.c - memory that runs out while a collection gets better vectors: whatever allocation fails, it answers
 * as before, documents come in, and it gets them in the end. */
#include "tests/test.h"

#include "retrieval/collections/catalog.h"
#include "retrieval/collections/service_internal.h"
#include "retrieval/service/service.h"

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
char *__real_strdup(const char *s);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
char *__wrap_strdup(const char *s);

/* Allocations of this thread until one fails; 0: none does. */
static _Thread_local long until_failure;
static _Thread_local long counted;

static bool fails(void) {
    counted++;
    return until_failure && --until_failure == 0;
}
void *__wrap_malloc(size_t n) {
    return fails() ? NULL : __real_malloc(n);
}
void *__wrap_calloc(size_t n, size_t size) {
    return fails() ? NULL : __real_calloc(n, size);
}
void *__wrap_realloc(void *p, size_t n) {
    return fails() ? NULL : __real_realloc(p, n);
}
char *__wrap_strdup(const char *s) {
    return fails() ? NULL : __real_strdup(s);
}

static int put(service *s, const char *id, const char *text, fo_err *err) {
    ingest_options into = {.tenant = "default", .collection = "default", .overlap = SIZE_MAX};
    ingest_document d = {.id = id, .bytes = text, .n_bytes = strlen(text)};
    ingest_result r = {0};
    int rc = service_ingest(s, &into, &d, 1, &r, NULL, err);
    if (rc) return rc;
    if (r.status == INGEST_FAILED) {
        rc = r.error.code;
        *err = r.error;
    }
    ingest_result_deinit(&r);
    return rc;
}

/* Does the dense side alone find this document first? */
static bool is_nearest(service *s, const char *question, const char *id) {
    fo_err err = {0};
    query_result r = {0};
    query_request q = {.tenant = "default",
                       .collection = "default",
                       .query = question,
                       .cache = CACHE_BYPASS,
                       .search = {.mode = SEARCH_DENSE, .alpha = -1}};
    assert_ok(service_query(s, &q, NULL, &r, &err), &err);
    const bool is = r.n_contexts && !strcmp(r.contexts[0].chunk.document_id, id);
    query_result_deinit(&r);
    return is;
}

static bool has_encoder(service *s) {
    fo_err err = {0};
    char encoder[65];
    store_collection row = {0};
    embedder_encoder_fingerprint(encoder);
    assert_ok(catalog_get_collection(service_catalog(s), "default", "default", &row, &err), &err);
    const bool has = !strcmp(row.embedder, encoder);
    store_collection_deinit(&row);
    return has;
}

static bool goes_on(void *ctx, size_t done) {
    (void)ctx, (void)done;
    return true;
}

/* Once, its n-th allocation failing (0: none). *half: the store has new vectors, the index that answers has not. */
static int reembed(service *s, embedder *to, long n, bool *half, fo_err *err) {
    collection *c = NULL;
    fo_err why = {0};
    assert_ok(collection_acquire(s, "default", "default", &c, &why), &why);
    counted = 0;
    until_failure = n;
    int rc = collection_reembed(s, c, to, goes_on, NULL, err);
    until_failure = 0;
    *half = c->half_exchanged;
    collection_release(s, c);
    return rc;
}

static void whatever_fails_it_answers_and_gets_them(void **state) {
    (void)state;
    char *home = test_folder();
    service *s;
    fo_err err = {0};
    assert_ok(service_open(
                  &s,
                  &(service_options){.home = home, .n_threads = 1, .embed_model = EMBEDDER_TABLE},
                  &err),
              &err);
    assert_ok(put(s, "cats", "Felines take a nap in the hay shed at noon.", &err), &err);
    assert_ok(put(s, "tractor", "The tractor is greased on Fridays.", &err), &err);
    embedder *encoder;
    bool half;
    assert_ok(service_take_encoder(s, &encoder, &err), &err);
    assert_ok(reembed(s, encoder, 0, &half, &err), &err); /* what is made once is there */
    assert_ok(service_rebuild(s, "default", "default", NULL, NULL, &err), &err);
    assert_false(has_encoder(s));
    assert_ok(reembed(s, encoder, 0, &half, &err), &err);
    const long all = counted;
    assert_ok(service_rebuild(s, "default", "default", NULL, NULL, &err), &err);
    size_t n_failed = 0, n_half = 0;
    char name[] = "default";
    const store_collection row = {.tenant = name, .name = name};
    for (long n = 1; n <= all; n++) {
        if (reembed(s, encoder, n, &half, &err)) n_failed++;
        assert_int_equal(half, collection_is_half_exchanged(s, &row));
        assert_true(is_nearest(s, "tractor greased", "tractor"));
        assert_ok(
            put(s, "late", n % 2 ? "Sheep are shorn in May." : "Wool is cut in spring.", &err),
            &err);
        assert_true(is_nearest(s, n % 2 ? "sheep shorn" : "wool cut", "late"));
        if (half) { /* the document made it whole */
            n_half++;
            assert_true(has_encoder(s) && is_nearest(s, "Where do cats sleep?", "cats"));
        }
        assert_ok(reembed(s, encoder, 0, &half, &err), &err);
        assert_true(!half && has_encoder(s) && is_nearest(s, "Where do cats sleep?", "cats"));
        search_id_report ids;
        assert_ok(service_compare_ids(s, "default", "default", &ids, &err), &err);
        assert_int_equal(ids.n_missing + ids.n_extra, 0);
        assert_ok(service_rebuild(s, "default", "default", NULL, NULL, &err), &err);
        assert_false(has_encoder(s));
    }
    fprintf(stderr,
            "# %ld allocations, %zu failures came out, %zu after the vectors were adopted\n", all,
            n_failed, n_half);
    assert_true(n_failed > 0 && n_half > 0);
    service_close(s);
    test_remove(home);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whatever_fails_it_answers_and_gets_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
