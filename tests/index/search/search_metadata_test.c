/* Metadata that are too much for one segment: they make several, each within the bound, by every way into files, and
 * filters answer as in one. */
#include "tests/test.h"

#include <cJSON.h>

#include "index/search/search_bulk.h"
#include "index/search/search_index_internal.h"
#include "kernels/buf.h"

enum { DIM = 4, CHUNKS = 300, MOST = 4096 };

static search_index *open_index(const char *dir, uint32_t dim, uint64_t most) {
    search_index *ix;
    fo_err err = {0};
    search_index_options o = {.dim = dim,
                              .fingerprint = dim ? "feed" : "",
                              .tenant = "default",
                              .seed = 7,
                              .merge_bytes_per_s = -1,
                              .segment_metadata = most};
    assert_ok(search_index_open(&ix, dir, &o, NULL, &err), &err);
    return ix;
}

/* Each has a string of its own, and one below a name that stands in its column again. */
static char *metadata_of(int chunk) {
    fo_buf b = {0};
    fo_buf_printf(&b, "{\"s\":\"only chunk %d of all of them has this\",\"a\":{\"n\":[%d,-1]}}",
                  chunk, chunk);
    return fo_buf_take(&b, NULL);
}

/* Into the bulk build, or (NULL) staged. */
static void add(search_index *ix, search_bulk *b, int chunk) {
    fo_err err = {0};
    const float v[DIM] = {chunk % 2 ? .6f : .8f, chunk % 2 ? .8f : .6f};
    char *json = metadata_of(chunk);
    search_chunk_in c = {.chunk = chunk,
                         .document = chunk,
                         .text = "a word",
                         .text_len = 6,
                         .metadata = json,
                         .vector = v};
    assert_ok(b ? search_bulk_add(b, &c, &err) : search_index_add(ix, &c, &err), &err);
    free(json);
}

static size_t n_matching(search_index *ix, const char *text) {
    fo_err err = {0};
    search_filter *f;
    search_hit hits[CHUNKS];
    size_t n;
    cJSON *json = cJSON_Parse(text);
    assert_ok(search_filter_parse(&f, json, &err), &err);
    cJSON_Delete(json);
    search_snapshot *s = search_index_acquire(ix);
    assert_ok(search_sparse(s, "word", CHUNKS, f, hits, &n, &err), &err);
    search_index_release(s);
    search_filter_free(f);
    return n;
}

/* Chunks from..CHUNKS are all there; the segments and their number keep to the bound. Returns how many there are. */
static size_t check(search_index *ix, int from) {
    char text[200];
    for (int i = 1; i <= CHUNKS; i += 13) {
        const size_t want = i >= from;
        snprintf(text, sizeof text,
                 "{\"type\":\"eq\",\"key\":\"s\",\"value\":\"only chunk %d of all of them has "
                 "this\"}",
                 i);
        assert_int_equal(n_matching(ix, text), want);
        snprintf(text, sizeof text, "{\"type\":\"eq\",\"key\":\"a.n\",\"value\":%d}", i);
        assert_int_equal(n_matching(ix, text), want);
    }
    assert_int_equal(n_matching(ix, "{\"type\":\"eq\",\"key\":\"a.n\",\"value\":-1}"),
                     CHUNKS - from + 1);
    search_snapshot *s = search_index_acquire(ix);
    assert_int_equal(search_snapshot_count(s), CHUNKS - from + 1);
    const size_t n = s->n_segments;
    for (size_t i = 0; i < n; i++)
        assert_true(search_segment_metadata(&s->segments[i]) <= ix->segment_metadata);
    search_index_release(s);
    return n;
}

static void close_index(search_index *ix) {
    fo_err err = {0};
    assert_ok(search_index_close(ix, true, &err), &err);
}

/* `at_once` chunks for each publish. */
static void fill(search_index *ix, int at_once) {
    fo_err err = {0};
    for (int i = 1; i <= CHUNKS; i++) {
        add(ix, NULL, i);
        if (i % at_once == 0 || i == CHUNKS) assert_ok(search_index_publish(ix, i, &err), &err);
    }
}

static void published(uint32_t dim, int at_once, uint64_t most, bool several) {
    char *dir = test_folder();
    fo_err err = {0};
    search_index *ix = open_index(dir, dim, most);
    fill(ix, at_once);
    assert_int_equal(check(ix, 1) > 1, several);
    close_index(ix);
    ix = open_index(dir, dim, most);
    assert_int_equal(search_index_epoch(ix), CHUNKS);
    assert_int_equal(check(ix, 1) > 1, several);
    /* Of less than a half that is left, fewer are made; none is too large. */
    const int from = CHUNKS * 2 / 3;
    for (int i = 1; i < from; i++) assert_int_equal(search_index_remove(ix, i, &err), FO_OK);
    assert_ok(search_index_publish(ix, CHUNKS + 1, &err), &err);
    const size_t before = check(ix, from);
    assert_ok(search_index_compact(ix, &err), &err);
    const size_t after = check(ix, from);
    assert_true(after <= before);
    assert_int_equal(after > 1, several);
    search_index_stats t;
    search_index_get_stats(ix, &t);
    assert_int_equal(t.n_deleted, 0);
    close_index(ix);
    ix = open_index(dir, dim, most);
    assert_int_equal(search_index_epoch(ix), CHUNKS + 1);
    assert_int_equal(check(ix, from), after);
    close_index(ix);
    test_remove(dir);
}

static void what_is_published_makes_segments_within_the_bound(void **state) {
    (void)state;
    for (uint32_t dim = 0; dim <= DIM; dim += DIM) {
        published(dim, CHUNKS, MOST, true);
        published(dim, 7, MOST, true);
        published(dim, 7, 0, false);
    }
}

static void a_chunk_beyond_the_bound_goes_in_alone(void **state) {
    (void)state;
    char *dir = test_folder();
    fo_err err = {0};
    search_index *ix = open_index(dir, DIM, 1);
    search_snapshot *s;
    for (int i = 1; i <= 5; i++) add(ix, NULL, i);
    assert_true(search_index_is_full(ix));
    assert_ok(search_index_publish(ix, 1, &err), &err);
    assert_false(search_index_is_full(ix));
    assert_ok(search_index_compact(ix, &err), &err);
    assert_int_equal(n_matching(ix, "{\"type\":\"eq\",\"key\":\"a.n\",\"value\":-1}"), 5);
    s = search_index_acquire(ix);
    assert_int_equal(s->n_segments, 5);
    search_index_release(s);
    close_index(ix);
    test_remove(dir);
}

/* A copy of a segment has room for one part more, not for two. */
static void each_part_of_a_publish_has_a_segment_of_its_own(void **state) {
    (void)state;
    char *dir = test_folder();
    fo_err err = {0};
    search_index *ix = open_index(dir, DIM, MOST);
    for (int i = 1; ix->stage.n_parts < 3; i++) add(ix, NULL, i);
    assert_ok(search_index_publish(ix, 1, &err), &err);
    search_snapshot *s = search_index_acquire(ix);
    assert_int_equal(s->n_segments, 3);
    for (size_t i = 0; i < 3; i++) assert_true(search_segment_metadata(&s->segments[i]) <= MOST);
    search_index_release(s);
    close_index(ix);
    test_remove(dir);
}

/* What dies in between has not all of a publish in its files, and these do not say so. */
static void files_of_half_a_publish_cover_no_epoch(void **state) {
    (void)state;
    enum { FULL = 20 }; /* a segment of so many is written */
    char *dir = test_folder();
    fo_err err = {0};
    search_index *ix = open_index(dir, 0, MOST);
    ix->seal_chunks = FULL;
    add(ix, NULL, 1);
    assert_ok(search_index_publish(ix, 5, &err), &err);
    assert_ok(search_index_seal(ix, &err), &err);
    assert_int_equal(search_index_epoch(ix), 5);
    size_t last = 1;
    while (ix->stage.n_parts < 3) add(ix, NULL, (int)++last); /* the third part has one chunk */
    assert_true(ix->stage.parts[1].begin > FULL);
    assert_ok(search_index_publish(ix, 6, &err), &err);
    pthread_mutex_lock(&ix->sealing); /* as the worker does: the last segment stays open */
    assert_ok(search_seal_frozen(ix, &err), &err);
    pthread_mutex_unlock(&ix->sealing);
    search_snapshot *s = search_index_acquire(ix);
    assert_int_equal(s->n_segments, 4); /* each part has its own */
    assert_int_equal(search_snapshot_count(s), last);
    search_index_release(s);
    assert_int_equal(search_index_epoch(ix), 5);
    assert_ok(search_index_close(ix, false, &err), &err);
    ix = open_index(dir, 0, MOST);
    int64_t *ids;
    size_t n;
    assert_int_equal(search_index_epoch(ix), 5);
    assert_ok(search_index_ids(ix, &ids, &n, &err), &err);
    assert_int_equal(n, last - 1);
    free(ids);
    close_index(ix);
    test_remove(dir);
}

/* All of them small: four of a size become one until there is a quarter of the bound in it. */
static void merges_keep_to_the_bound(void **state) {
    (void)state;
    char *dir = test_folder();
    fo_err err = {0};
    search_index *ix = open_index(dir, DIM, MOST);
    bool did = true;
    uint64_t damaged;
    for (int i = 1; i <= CHUNKS; i++) {
        add(ix, NULL, i);
        if (i % 5 && i < CHUNKS) continue;
        assert_ok(search_index_publish(ix, i, &err), &err);
        assert_ok(search_index_seal(ix, &err), &err);
    }
    while (did) assert_ok(search_merge_once(ix, &did, &damaged, &err), &err);
    const size_t n = check(ix, 1);
    assert_true(n > 1 && n < CHUNKS / 5);
    close_index(ix);
    test_remove(dir);
}

static void a_bulk_build_keeps_to_the_bound(void **state) {
    (void)state;
    char *dir = test_folder();
    fo_err err = {0};
    search_index *ix = open_index(dir, DIM, MOST);
    search_bulk *b;
    assert_ok(search_bulk_begin(&b, ix, &(search_bulk_options){0}, &err), &err);
    for (int i = 1; i <= CHUNKS; i++) add(ix, b, i);
    assert_ok(search_bulk_finish(b, CHUNKS, &err), &err);
    assert_true(check(ix, 1) > 1);
    close_index(ix);
    ix = open_index(dir, DIM, MOST);
    assert_int_equal(search_index_epoch(ix), CHUNKS);
    assert_true(check(ix, 1) > 1);
    close_index(ix);
    test_remove(dir);
}

static void weight_is_never_more_than_is_reckoned(void **state) {
    (void)state;
    static const char *const cases[] = {
        "",
        "{}",
        "{\"a\":1}",
        "{\"a\":[]}",
        "{\"a\":{},\"b\":null}",
        "{\"a\":[1,2,3,\"x,y\"]}",
        "{\"a\":{\"b\":{\"c\":[1,{\"d\":2}]}}}",
        "{\"a long name above many\":{\"b\":1,\"c\":2,\"d\":3,\"e\":4,\"f\":\"\\u00e9\"}}"};
    fo_err err = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        metadata_builder *b;
        assert_ok(metadata_builder_create(&b, &err), &err);
        assert_ok(metadata_builder_add(b, 0, cases[i], &err), &err);
        assert_true(metadata_builder_weight(b) <= metadata_most_weight(cases[i]));
        metadata_builder_free(b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_published_makes_segments_within_the_bound),
        cmocka_unit_test(a_chunk_beyond_the_bound_goes_in_alone),
        cmocka_unit_test(each_part_of_a_publish_has_a_segment_of_its_own),
        cmocka_unit_test(files_of_half_a_publish_cover_no_epoch),
        cmocka_unit_test(merges_keep_to_the_bound),
        cmocka_unit_test(a_bulk_build_keeps_to_the_bound),
        cmocka_unit_test(weight_is_never_more_than_is_reckoned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
