/* Metadata that no index takes: it fails its document alone, and a home that holds such documents opens. */
#include "tests/test.h"

#include <cJSON.h>

#include "engine/embed/embedder.h"
#include "index/search/search_index.h"
#include "kernels/file.h"
#include "retrieval/service/service_store.h"
#include "retrieval/service/service.h"

#define DEEP_REST "\"a\":{\"b\":{\"c\":{\"d\":{\"e\":{\"f\":{\"g\":{\"h\":{\"i\":1}}}}}}}}}"
#define DEEP      "{" DEEP_REST

static const ingest_options into = {
    .tenant = "default", .collection = "notes", .overlap = SIZE_MAX};

typedef struct heard {
    int n;
    char text[1024];
} heard;

static void hear(void *ctx, const char *kind, const char *text) {
    heard *h = ctx;
    if (strcmp(kind, "metadata_left_out") != 0) return;
    h->n++;
    snprintf(h->text, sizeof h->text, "%s", text);
}

static uint64_t segment_metadata; /* of homes that are opened */

static service *open_home(const char *home, bool offline, heard *h) {
    fo_err err = {0};
    service *s = NULL;
    service_options opt = {.home = home,
                           .n_threads = 2,
                           .offline = offline,
                           .cache_bytes = -1,
                           .segment_metadata = segment_metadata,
                           .notices = {h ? hear : NULL, h}};
    assert_ok(service_open(&s, &opt, &err), &err);
    return s;
}

/* 1,025 values. */
static char *make_many(void) {
    fo_buf b = {0};
    fo_buf_str(&b, "{\"n\":[0");
    for (int i = 1; i <= 1024; i++) fo_buf_printf(&b, ",%d", i);
    fo_buf_str(&b, "]}");
    return fo_buf_take(&b, NULL);
}

static void one_fails_alone(bool offline) {
    char *home = test_folder(), *many = make_many();
    service *s = open_home(home, offline, NULL);
    const struct {
        const char *metadata, *acl, *says;
    } cases[] = {
        {"{\"year\":2024}", NULL, NULL},
        {DEEP, NULL, "nested deeper than 8"},
        {many, NULL, "more than 1024 values"},
        {"{\x01}", "[\"staff\"]", "must be a JSON object"},
        {NULL, NULL, NULL},
    };
    enum { N = sizeof cases / sizeof *cases };
    ingest_document docs[N];
    ingest_result r[N];
    fo_err err = {0};
    for (size_t i = 0; i < N; i++)
        docs[i] = (ingest_document){.id = (const char *[]){"a", "b", "c", "d", "e"}[i],
                                    .metadata = cases[i].metadata,
                                    .acl = cases[i].acl,
                                    .bytes = "Herons eat fish.",
                                    .n_bytes = 16};
    assert_ok(service_ingest(s, &into, docs, N, r, NULL, &err), &err);
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(r[i].status, cases[i].says ? INGEST_FAILED : INGEST_CREATED);
        if (cases[i].says) {
            assert_non_null(strstr(r[i].error.msg, cases[i].says));
            assert_string_equal(r[i].error.field, "metadata");
        }
        ingest_result_deinit(&r[i]);
    }
    service_close(s);
    free(many);
    assert_ok(fo_remove_tree(home, &err), &err);
    free(home);
}

static void metadata_of_one_document_fails_that_document_alone(void **state) {
    (void)state;
    one_fails_alone(false);
    one_fails_alone(true);
}

/* As a version put it there that did not look at metadata. */
static void put_unjudged(service *s, const char *id, const char *text, const char *metadata) {
    fo_err err = {0};
    store *st = service_store(s);
    store_collection row;
    store_txn *t;
    embedder *e = service_embedder(s);
    size_t n = strlen(text);
    float *vector = calloc(embedder_dim(e), sizeof *vector);
    assert_non_null(vector);
    vector[0] = 1;
    assert_ok(store_get_collection(st, "default", "notes", &row, &err), &err);
    store_chunk_in chunk = {.end = n, .end_cp = n, .n_tokens = 4, .vector = vector};
    store_document_in in = {.collection = row.id,
                            .id = id,
                            .metadata = metadata,
                            .text = text,
                            .text_len = n,
                            .embedder = embedder_fingerprint(e),
                            .dim = (uint32_t)embedder_dim(e)};
    store_put_result put = {0};
    memcpy(in.content_sha256, id, strlen(id));
    assert_ok(store_begin(st, &t, &err), &err);
    assert_ok(store_put_document(t, &in, &chunk, 1, &put, &err), &err);
    assert_ok(store_commit(t, &err), &err);
    store_collection_deinit(&row);
    free(vector);
}

/* Ids of what is found by those of a group, in a string by their order. */
static void expect_found(service *s, const char *group, const char *ids) {
    fo_err err = {0};
    search_filter *sees;
    assert_ok(search_filter_sees(&sees, &group, 1, &err), &err);
    query_request q = {.tenant = "default",
                       .collection = "notes",
                       .query = "herons",
                       .top_k = 8,
                       .sees = sees,
                       .search = {.mode = SEARCH_SPARSE, .alpha = -1}};
    query_result r;
    char got[16] = "";
    size_t n = 0;
    assert_ok(service_query(s, &q, NULL, &r, &err), &err);
    for (const char *id = "abcdefgh"; *id; id++)
        for (size_t i = 0; i < r.n_contexts && n + 1 < sizeof got; i++)
            if (*r.contexts[i].chunk.document_id == *id) got[n++] = *id;
    assert_string_equal(got, ids);
    query_result_deinit(&r);
    search_filter_free(sees);
}

static void a_home_that_holds_too_much_metadata_opens_and_keeps_its_groups(void **state) {
    (void)state;
    fo_err err = {0};
    char *home = test_folder(), *many = make_many(), index[4096];
    service *s = open_home(home, true, NULL);
    ingest_document d = {
        .id = "a", .bytes = "Herons eat fish.", .n_bytes = 16, .metadata = "{\"year\":2024}"};
    ingest_result r;
    assert_ok(service_ingest(s, &into, &d, 1, &r, NULL, &err), &err);
    ingest_result_deinit(&r);
    put_unjudged(s, "b", "Herons nest in trees.", DEEP);
    put_unjudged(s, "c", "Herons wade in rivers.", many);
    put_unjudged(s, "d", "Herons of the staff fly.", "{\"$acl\":[\"staff\"]," DEEP_REST);
    put_unjudged(s, "e", "Herons of the board sleep.", "{\"$acl\":[\"board\"]," DEEP_REST);
    put_unjudged(s, "f", "Herons of nobody wait.", "{\"$acl\":[},\"n\":1");
    service_close(s);
    snprintf(index, sizeof index, "%s/index", home);
    for (int bulk = 1; bulk >= 0; bulk--) {
        heard h = {0};
        assert_ok(fo_remove_tree(index, &err), &err);
        if (bulk) {
            s = open_home(home, true, &h);
            assert_ok(service_catch_up(s, "default", "notes", NULL, NULL, NULL, &err), &err);
            service_close(s);
            assert_int_equal(h.n, 1);
        }
        s = open_home(home, false, &h);
        expect_found(s, "staff", "abcd");
        expect_found(s, "board", "abce");
        assert_int_equal(h.n, 1);
        assert_non_null(strstr(h.text, "5 documents"));
        assert_non_null(strstr(h.text, "'b': metadata is nested deeper than 8"));
        service_close(s);
    }
    free(many);
    assert_ok(fo_remove_tree(home, &err), &err);
    free(home);
}

/* What document i alone has, found by it. */
static void expect_each(service *s, int n) {
    fo_err err = {0};
    for (int i = 0; i < n; i += 7) {
        char text[120], id[16];
        search_filter *f;
        query_result r;
        snprintf(text, sizeof text,
                 "{\"type\":\"eq\",\"key\":\"s\",\"value\":\"only document %d has this\"}", i);
        snprintf(id, sizeof id, "d%d", i);
        cJSON *json = cJSON_Parse(text);
        assert_ok(search_filter_parse(&f, json, &err), &err);
        cJSON_Delete(json);
        query_request q = {.tenant = "default",
                           .collection = "notes",
                           .query = "herons",
                           .top_k = 8,
                           .filter = f,
                           .search = {.mode = SEARCH_SPARSE, .alpha = -1}};
        assert_ok(service_query(s, &q, NULL, &r, &err), &err);
        assert_int_equal(r.n_contexts, 1);
        assert_string_equal(r.contexts[0].chunk.document_id, id);
        query_result_deinit(&r);
        search_filter_free(f);
    }
}

/* Metadata of all documents are several times what one segment may have. */
static void metadata_beyond_a_segment_s_bound_make_several(void **state) {
    (void)state;
    enum { N = 100 };
    fo_err err = {0};
    char *home = test_folder(), index[4096], metadata[N][64], ids[N][16], dir[4200], prints[80];
    ingest_document docs[N];
    ingest_result r[N];
    for (int i = 0; i < N; i++) {
        snprintf(metadata[i], sizeof metadata[i], "{\"s\":\"only document %d has this\"}", i);
        snprintf(ids[i], sizeof ids[i], "d%d", i);
        docs[i] = (ingest_document){
            .id = ids[i], .metadata = metadata[i], .bytes = "Herons eat fish.", .n_bytes = 16};
    }
    segment_metadata = 1024;
    service *s = open_home(home, false, NULL);
    assert_ok(service_ingest(s, &into, docs, N, r, NULL, &err), &err);
    for (int i = 0; i < N; i++) {
        assert_int_equal(r[i].status, INGEST_CREATED);
        ingest_result_deinit(&r[i]);
    }
    expect_each(s, N);
    snprintf(prints, sizeof prints, "%s", embedder_fingerprint(service_embedder(s)));
    search_index_options opt = {.language = "english",
                                .dim = (uint32_t)embedder_dim(service_embedder(s)),
                                .fingerprint = prints,
                                .tenant = "default",
                                .read_only = true};
    service_close(s);
    snprintf(index, sizeof index, "%s/index", home);
    snprintf(dir, sizeof dir, "%s/default/notes-1.0", index);
    for (int run = 0; run < 3; run++) { /* as it lies, then from the store: staged, and in bulk */
        if (run) assert_ok(fo_remove_tree(index, &err), &err);
        if (run == 2) {
            s = open_home(home, true, NULL);
            assert_ok(service_catch_up(s, "default", "notes", NULL, NULL, NULL, &err), &err);
            service_close(s);
        }
        s = open_home(home, false, NULL);
        expect_each(s, N);
        service_close(s);
        search_index *ix;
        search_index_stats t;
        assert_ok(search_index_open(&ix, dir, &opt, NULL, &err), &err);
        search_index_get_stats(ix, &t);
        assert_true(t.n_segments > 2);
        assert_int_equal(t.n_chunks, N);
        assert_ok(search_index_close(ix, false, &err), &err);
    }
    segment_metadata = 0;
    assert_ok(fo_remove_tree(home, &err), &err);
    free(home);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metadata_of_one_document_fails_that_document_alone),
        cmocka_unit_test(metadata_beyond_a_segment_s_bound_make_several),
        cmocka_unit_test(a_home_that_holds_too_much_metadata_opens_and_keeps_its_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
