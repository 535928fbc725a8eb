/* The indexes of a home and its store: those of another embedder, what makes them anew while others write, files damaged in
 * use, and that it is told where they disagree. */
#include "tests/other_embedder.h"
#include "tests/retrieval/service/both_stores_fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

static void another_embedder_is_refused_until_the_home_is_rebuilt(void **state) {
    (void)state;
    fo_err err = {0};
    char *home = test_folder();
    service *s = open_home(home);
    fill(s, 0, 300); /* more than a batch */
    service_close(s);
    char *model = other_embedder(home);
    service_options opt = {.home = home, .store = backend, .embed_model = model, .n_threads = 2};
    assert_ok(service_open(&s, &opt, &err), &err);
    query_request q = question("marker37");
    query_result r;
    assert_int_equal(service_query(s, &q, NULL, &r, &err), FO_EMISMATCH);
    assert_non_null(strstr(err.msg, "index rebuild"));
    ingest_document d = {.id = "new", .bytes = "text", .n_bytes = 4};
    ingest_result ir;
    assert_ok(service_ingest(s, &into, &d, 1, &ir, NULL, &err), &err);
    assert_int_equal(ir.status, INGEST_FAILED);
    assert_int_equal(ir.error.code, FO_EMISMATCH);
    ingest_result_deinit(&ir);
    q.search.mode = SEARCH_SPARSE; /* words need no vectors */
    assert_ok(service_query(s, &q, NULL, &r, &err), &err);
    assert_string_equal(r.contexts[0].chunk.document_id, "doc37");
    query_result_deinit(&r);

    assert_ok(service_rebuild(s, NULL, NULL, NULL, NULL, &err), &err);
    q.search.mode = SEARCH_HYBRID;
    assert_ok(service_query(s, &q, NULL, &r, &err), &err);
    assert_string_equal(r.contexts[0].chunk.document_id, "doc37");
    query_result_deinit(&r);
    q.search.mode = SEARCH_DENSE;
    assert_ok(service_query(s, &q, NULL, &r, &err), &err);
    query_result_deinit(&r);
    fill(s, 300, 305);
    assert_string_equal(best(s, "marker303"), "doc303");
    expect_sound(s);
    service_close(s);
    assert_ok(service_open(&s, &opt, &err), &err); /* and it stays so */
    assert_string_equal(best(s, "marker37"), "doc37");
    assert_ok(service_rebuild(s, "default", "notes", NULL, NULL, &err), &err); /* files alone */
    assert_string_equal(best(s, "marker303"), "doc303");
    assert_int_equal(service_rebuild(s, "default", "absent", NULL, NULL, &err), FO_ENOTFOUND);
    service_close(s);
    s = NULL;
    free(model);
    forget(home);
}

/* Of one document nothing stays when it is replaced: its new vectors must not meet the old index. */
static void a_collection_of_another_embedder_takes_nothing_in_until_it_is_empty(void **state) {
    (void)state;
    fo_err err = {0};
    char *home = test_folder();
    service *s = open_home(home);
    ingest_document d = {.id = "one", .bytes = "granite", .n_bytes = 7};
    ingest_result ir;
    assert_ok(service_ingest(s, &into, &d, 1, &ir, NULL, &err), &err);
    ingest_result_deinit(&ir);
    store_collection *list;
    size_t n, n_all;
    assert_ok(service_foreign_collections(s, NULL, NULL, 8, &list, &n, &n_all, &err), &err);
    assert_int_equal(n + n_all, 0);
    free(list);
    service_close(s);
    char *model = other_embedder(home);
    service_options opt = {.home = home, .store = backend, .embed_model = model, .n_threads = 2};
    assert_ok(service_open(&s, &opt, &err), &err);
    assert_ok(service_foreign_collections(s, NULL, NULL, 8, &list, &n, &n_all, &err), &err);
    assert_int_equal(n, 1);
    assert_int_equal(n_all, 1);
    assert_string_equal(list[0].name, into.collection);
    store_collection_deinit(&list[0]);
    free(list);
    assert_ok(service_foreign_collections(s, NULL, "else", 8, &list, &n, &n_all, &err), &err);
    assert_int_equal(n_all, 0);
    free(list);

    ingest_document marble = {.id = "one", .bytes = "marble", .n_bytes = 6};
    assert_ok(service_ingest(s, &into, &marble, 1, &ir, NULL, &err), &err);
    assert_int_equal(ir.status, INGEST_FAILED);
    assert_int_equal(ir.error.code, FO_EMISMATCH);
    assert_non_null(strstr(ir.error.msg, "index rebuild"));
    ingest_result_deinit(&ir);
    assert_ok(service_ingest(s, &into, &d, 1, &ir, NULL, &err), &err);
    assert_int_equal(ir.status, INGEST_UNCHANGED); /* the old text stands */
    ingest_result_deinit(&ir);

    int64_t epoch;
    assert_ok(service_delete_document(s, into.tenant, into.collection, "one", NULL, &epoch, &err),
              &err);
    assert_ok(service_foreign_collections(s, NULL, NULL, 8, &list, &n, &n_all, &err), &err);
    assert_int_equal(n_all, 0);
    free(list);
    assert_ok(service_ingest(s, &into, &marble, 1, &ir, NULL, &err), &err);
    assert_int_equal(ir.status, INGEST_CREATED);
    ingest_result_deinit(&ir);
    query_request q = question("marble");
    query_result r;
    assert_ok(service_query(s, &q, NULL, &r, &err), &err);
    assert_string_equal(r.contexts[0].chunk.document_id, "one");
    query_result_deinit(&r);
    service_close(s);
    assert_ok(service_open(&s, &opt, &err), &err);
    assert_string_equal(best(s, "marble"), "one");
    service_close(s);
    free(model);
    forget(home);
}

/* The index files of the home's only collection, opened behind the service's back. */
static search_index *open_files(const char *home, const search_index_options *opt) {
    char dir[4096];
    fo_err err = {0};
    search_index *ix;
    snprintf(dir, sizeof dir, "%s/index/default/notes-1.0", home);
    assert_ok(search_index_open(&ix, dir, opt, NULL, &err), &err);
    return ix;
}

static void it_is_told_where_store_and_indexes_disagree(void **state) {
    (void)state;
    char *home = test_folder(), fingerprint[80];
    fo_err err = {0};
    search_id_report r;
    service *s = open_home(home);
    put(s, "heron", "The grey heron stands one metre tall. It eats fish.", NULL);
    put(s, "owl", "The barn owl hunts mice at night and nests in barns.", NULL);
    put(s, "finch", "The finch cracks seeds with its beak.", NULL);
    assert_ok(service_compare_ids(s, "default", "notes", &r, &err), &err);
    snprintf(fingerprint, sizeof fingerprint, "%s", embedder_fingerprint(service_embedder(s)));
    search_index_options opt = {.language = "english",
                                .dim = (uint32_t)embedder_dim(service_embedder(s)),
                                .fingerprint = fingerprint,
                                .tenant = "default"};
    service_close(s);
    for (int damage = 0; damage < 3; damage++) { /* marked as deleted, then gone, then too many */
        search_index *ix = open_files(home, &opt);
        int64_t epoch = search_index_epoch(ix), *ids;
        size_t n;
        assert_ok(search_index_ids(ix, &ids, &n, &err), &err);
        float *zeroes = calloc(opt.dim, sizeof *zeroes);
        search_chunk_in extra = {
            .chunk = 900, .document = 9, .text = "stork", .text_len = 5, .vector = zeroes};
        if (damage == 0) assert_int_equal(search_index_remove(ix, ids[0], NULL), FO_OK);
        if (damage == 2) assert_ok(search_index_add(ix, &extra, &err), &err);
        assert_ok(search_index_publish(ix, epoch, &err), &err);
        if (damage == 1) assert_ok(search_index_compact(ix, &err), &err);
        assert_ok(search_index_close(ix, true, &err), &err);
        free(zeroes);
        free(ids);
        s = open_home(home);
        assert_int_equal(service_compare_ids(s, "default", "notes", &r, &err), FO_ECORRUPT);
        assert_int_equal(r.n_tombstoned, damage == 0);
        assert_int_equal(r.n_missing, damage > 0);
        assert_int_equal(r.n_extra, damage == 2);
        service_close(s);
    }
    forget(home);
}

typedef struct damage_seen {
    pthread_mutex_t mu;
    pthread_cond_t told;
    int n_rebuilt, n_failed;
} damage_seen;

static void see_damage(void *ctx, const char *tenant, const char *collection, const char *why,
                       bool rebuilt) {
    damage_seen *d = ctx;
    assert_string_equal(tenant, "default");
    assert_string_equal(collection, "notes");
    assert_non_null(strstr(why, "checksum"));
    pthread_mutex_lock(&d->mu);
    d->n_rebuilt += rebuilt;
    d->n_failed += !rebuilt;
    pthread_cond_signal(&d->told);
    pthread_mutex_unlock(&d->mu);
}

static int check_files(void *ctx, const char *tenant, const char *collection, search_index *ix,
                       fo_err *err) {
    (void)ctx, (void)tenant, (void)collection, (void)err;
    search_index_check_files(ix);
    return FO_OK;
}

/* Flip a byte in the middle of the only segment. */
static void damage_segment(const char *home) {
    char path[4096];
    snprintf(path, sizeof path, "%s/index/default/notes-1.0/%016x.seg", home, 1);
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    assert_int_equal(fseek(f, 1024, SEEK_SET), 0);
    int c = fgetc(f);
    assert_int_equal(fseek(f, 1024, SEEK_SET), 0);
    assert_true(fputc(c ^ 1, f) != EOF && fclose(f) == 0);
}

static void a_file_damaged_in_use_is_made_anew_from_the_store(void **state) {
    (void)state;
    char *home = test_folder();
    fo_err err = {0};
    damage_seen seen = {.mu = PTHREAD_MUTEX_INITIALIZER, .told = PTHREAD_COND_INITIALIZER};
    service *s = open_home(home);
    put(s, "heron", "The grey heron stands one metre tall. It eats fish.", NULL);
    put(s, "owl", "The barn owl hunts mice at night and nests in barns.", NULL);
    service_close(s); /* sealed */
    service_options opt = {.home = home,
                           .store = backend,
                           .n_threads = 2,
                           .cache_bytes = -1,
                           .index_damaged = see_damage,
                           .index_damaged_ctx = &seen};
    assert_ok(service_open(&s, &opt, &err), &err);
    put(s, "finch", "The finch cracks seeds with its beak.", NULL); /* not sealed */
    damage_segment(home);
    assert_ok(service_each_index(s, NULL, NULL, check_files, NULL, &err), &err);
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += 120;
    pthread_mutex_lock(&seen.mu);
    while (seen.n_rebuilt + seen.n_failed == 0 &&
           pthread_cond_timedwait(&seen.told, &seen.mu, &limit) == 0) {
    }
    assert_int_equal(seen.n_rebuilt, 1);
    pthread_mutex_unlock(&seen.mu);
    search_id_report r;
    for (int round = 0; round < 2; round++) {
        assert_ok(service_compare_ids(s, "default", "notes", &r, &err), &err);
        assert_string_equal(best(s, "What does the heron eat?"), "heron");
        assert_string_equal(best(s, "Who hunts mice at night?"), "owl");
        assert_string_equal(best(s, "Who cracks seeds?"), "finch");
        service_close(s);
        assert_ok(service_open(&s, &opt, &err), &err);
    }
    service_close(s);
    assert_int_equal(seen.n_rebuilt, 1);
    assert_int_equal(seen.n_failed, 0);
    forget(home);
}

typedef struct pen { /* of a thread that writes */
    service *s;
    int me;
    atomic_bool *over;
} pen;

static void *write_on(void *arg) {
    const pen *p = arg;
    char id[32], text[80];
    for (int i = 0; !*p->over; i++) {
        snprintf(id, sizeof id, "p%d-%d", p->me, i % 40);
        snprintf(text, sizeof text, "Page %d of writer %d says %d.", i % 40, p->me, i);
        ingest_document d = {.id = id, .bytes = text, .n_bytes = strlen(text)};
        ingest_result r;
        fo_err err = {0};
        if (service_ingest(p->s, &into, &d, 1, &r, NULL, &err) == FO_OK) ingest_result_deinit(&r);
    }
    return NULL;
}

/* Who has taken the collection and waits for the write lock while its index is exchanged. */
static void what_is_written_beside_a_rebuild_is_in_the_new_index(void **state) {
    (void)state;
    fo_err err = {0};
    char *home = test_folder();
    service *s = open_home(home);
    atomic_bool over = false;
    pen pens[3];
    pthread_t threads[3];
    put(s, "first", "The first page.", NULL);
    for (int i = 0; i < 3; i++) {
        pens[i] = (pen){s, i, &over};
        assert_int_equal(pthread_create(&threads[i], NULL, write_on, &pens[i]), 0);
    }
    for (int i = 0; i < 25; i++)
        assert_ok(service_rebuild(s, "default", "notes", NULL, NULL, &err), &err);
    over = true;
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    search_id_report report;
    assert_ok(service_compare_ids(s, "default", "notes", &report, &err), &err);
    service_close(s);
    forget(home);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_embedder_is_refused_until_the_home_is_rebuilt),
        cmocka_unit_test(a_collection_of_another_embedder_takes_nothing_in_until_it_is_empty),
        cmocka_unit_test(what_is_written_beside_a_rebuild_is_in_the_new_index),
        cmocka_unit_test(a_file_damaged_in_use_is_made_anew_from_the_store),
        cmocka_unit_test(it_is_told_where_store_and_indexes_disagree),
    };
    int failed = cmocka_run_group_tests_name("indexes", tests, NULL, NULL);
    backend = &memory_store_backend;
    return failed + cmocka_run_group_tests_name("indexes over another store", tests, NULL, NULL);
}
