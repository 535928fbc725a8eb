/* The index of a collection as a whole: what is published is found, what was removed is not, what
 * was sealed comes back. */
#include "tests/index/search/unique_chunks_fixture.h"

#include <cJSON.h>
#include <dirent.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "index/dense/hnsw.h"
#include "index/filter/filter.h"
#include "index/format/pace.h"
#include "index/sparse/inverted.h"
#include "kernels/heap.h"
#include "tests/niceness.h"

static void what_is_published_is_found_and_what_is_staged_is_not(void **state) {
    (void)state;
    char *dir = test_folder();
    search_index *ix = open_index(dir, 1000, 0);
    fo_err err = {0};
    assert_int_equal(search_index_epoch(ix), -1);
    search_snapshot *empty = search_index_acquire(ix);
    assert_false(sparse_finds(empty, 1));
    assert_false(dense_finds(empty, 1));
    add(ix, 1);
    add(ix, 2);
    search_snapshot *before = search_index_acquire(ix);
    assert_int_equal(search_snapshot_count(before), 0);
    publish(ix, 5);
    assert_false(sparse_finds(before, 1)); /* a snapshot never changes */
    search_snapshot *after = search_index_acquire(ix);
    assert_int_equal(search_snapshot_epoch(after), 5);
    assert_int_equal(search_snapshot_count(after), 2);
    assert_true(sparse_finds(after, 1) && dense_finds(after, 2));
    assert_int_equal(search_index_remove(ix, 1, NULL), FO_OK);
    assert_int_equal(search_index_remove(ix, 99, NULL), FO_OK);
    add(ix, 3);
    search_index_discard(ix);
    add(ix, 4);
    assert_int_equal(search_index_remove(ix, 4, NULL), FO_OK);
    assert_int_equal(search_index_remove(ix, 2, NULL), FO_OK);
    add(ix, 2); /* replaced within one publish */
    publish(ix, 6);
    search_snapshot *last = search_index_acquire(ix);
    assert_int_equal(search_snapshot_count(last), 2);
    assert_true(sparse_finds(last, 1) && sparse_finds(last, 2) && dense_finds(last, 2));
    assert_false(sparse_finds(last, 3));
    assert_false(sparse_finds(last, 4));
    search_hit hits[9];
    size_t n;
    assert_ok(search_sparse(last, "unique2", 9, NULL, hits, &n, &err), &err);
    assert_int_equal(n, 1);
    assert_true(sparse_finds(after, 1) && sparse_finds(after, 2));
    assert_true(search_idf(last, "uniqu", 5) > search_idf(last, "common", 6));
    search_index_release(empty);
    search_index_release(before);
    search_index_release(after);
    search_index_release(last);
    assert_ok(search_index_close(ix, false, &err), &err);
    test_remove(dir);
}

static void a_query_of_stop_words_alone_still_finds(void **state) {
    (void)state;
    char *dir = test_folder();
    search_index *ix = open_index(dir, 1000, 0);
    fo_err err = {0};
    add(ix, 1);
    publish(ix, 1);
    search_snapshot *s = search_index_acquire(ix);
    search_hit hit;
    size_t n;
    assert_ok(search_sparse(s, "of the", 1, NULL, &hit, &n, &err), &err);
    assert_int_equal(n, 1);
    assert_ok(search_sparse(s, "the nonexistent", 1, NULL, &hit, &n, &err), &err);
    assert_int_equal(n, 1);
    assert_ok(search_sparse(s, "", 1, NULL, &hit, &n, &err), &err);
    assert_int_equal(n, 0);
    assert_int_equal(search_sparse(s, "x", 0, NULL, &hit, &n, &err), FO_EINVAL);
    search_index_release(s);
    assert_ok(search_index_close(ix, false, &err), &err);
    test_remove(dir);
}

/* With a filter on a tag, both searches give all living chunks that have it and no others. */
static void check_filtered(search_snapshot *s, const bool *alive, int64_t n_ids, int tag) {
    char text[64], name[16] = "all";
    if (tag >= 0) snprintf(name, sizeof name, "t%d", tag);
    snprintf(text, sizeof text, "{\"type\":\"eq\",\"key\":\"tag\",\"value\":\"%s\"}", name);
    fo_err err = {0};
    cJSON *json = cJSON_Parse(text);
    search_filter *f;
    assert_ok(search_filter_parse(&f, json, &err), &err);
    cJSON_Delete(json);
    search_hit *hits = malloc((size_t)n_ids * sizeof *hits);
    float v[DIM];
    vector_of(1, v);
    for (int dense = 0; dense < 2; dense++) {
        size_t n, want = 0;
        assert_ok(dense ? search_dense(s, v, (size_t)n_ids, 0, f, hits, &n, &err)
                        : search_sparse(s, "common", (size_t)n_ids, f, hits, &n, &err),
                  &err);
        for (int64_t id = 1; id < n_ids; id++) want += alive[id] && (tag < 0 || id % 7 == tag);
        assert_int_equal(n, want);
        for (size_t i = 0; i < n; i++) {
            assert_true(hits[i].chunk > 0 && hits[i].chunk < n_ids && alive[hits[i].chunk]);
            assert_true(tag < 0 || hits[i].chunk % 7 == tag);
        }
    }
    free(hits);
    search_filter_free(f);
}

/* Within some documents, and with a tag besides: all living chunks of those and no others. */
static void check_within(search_snapshot *s, const bool *alive, int64_t n_ids, bool tagged) {
    const int64_t documents[] = {n_ids / 2 - 1, 1, n_ids / 4, 64 + 1, 256 + 1, INT64_MAX};
    enum { N = sizeof documents / sizeof *documents };
    fo_err err = {0};
    cJSON *json = cJSON_Parse("{\"type\":\"eq\",\"key\":\"tag\",\"value\":\"t3\"}");
    search_filter *tag, *f;
    assert_ok(search_filter_parse(&tag, json, &err), &err);
    assert_ok(search_filter_within(&f, documents, N, tagged ? tag : NULL, &err), &err);
    cJSON_Delete(json);
    search_hit *hits = malloc((size_t)n_ids * sizeof *hits);
    float v[DIM];
    vector_of(1, v);
    for (int dense = 0; dense < 2; dense++) {
        size_t n, want = 0;
        assert_ok(dense ? search_dense(s, v, (size_t)n_ids, 0, f, hits, &n, &err)
                        : search_sparse(s, "common", (size_t)n_ids, f, hits, &n, &err),
                  &err);
        for (int64_t id = 1; id < n_ids; id++) {
            bool in = false;
            for (size_t i = 0; i < N; i++) in |= id / 2 == documents[i];
            want += in && alive[id] && (!tagged || id % 7 == 3);
        }
        assert_int_equal(n, want);
        for (size_t i = 0; i < n; i++) {
            bool in = false;
            for (size_t j = 0; j < N; j++) in |= hits[i].document == documents[j];
            assert_true(in && alive[hits[i].chunk] && (!tagged || hits[i].chunk % 7 == 3));
        }
    }
    bool left[N];
    assert_ok(search_documents_left(s, tagged ? tag : NULL, documents, N, left, &err), &err);
    for (size_t i = 0; i < N; i++) {
        bool want = false;
        for (int64_t id = 1; id < n_ids; id++)
            want |= id / 2 == documents[i] && alive[id] && (!tagged || id % 7 == 3);
        assert_int_equal(left[i], want);
    }
    free(hits);
    search_filter_free(f);
    search_filter_free(tag);
}

static void check_alive(search_index *ix, const bool *alive, int64_t n_ids) {
    search_snapshot *s = search_index_acquire(ix);
    size_t count = 0;
    for (int64_t id = 1; id < n_ids; id++) {
        assert_int_equal(sparse_finds(s, id), alive[id]);
        if (alive[id]) assert_true(dense_finds(s, id));
        count += alive[id];
    }
    assert_int_equal(search_snapshot_count(s), count);
    check_filtered(s, alive, n_ids, -1);
    check_filtered(s, alive, n_ids, 3);
    check_within(s, alive, n_ids, false);
    check_within(s, alive, n_ids, true);
    check_filtered(s, alive, n_ids, 3); /* what is kept of a filter is not another's */
    search_index_release(s);
}

/* Random adds, removals, publishes, discards, seals, compactions and reopenings beside a model. */
static void behaves_like_a_set_through_seals_merges_and_restarts(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    char *dir = test_folder();
    enum { IDS = 1200 };
    static bool alive[IDS], staged[IDS];
    search_index *ix = open_index(dir, 40, 0);
    fo_err err = {0};
    int64_t next = 1, epoch = 1;
    for (int step = 0; step < 260; step++) {
        unsigned what = (unsigned)(test_random(&seed) % 16);
        if (what < 9 && next + 20 < IDS) {
            size_t n = 1 + test_random(&seed) % (what == 8 ? 20 : 4);
            while (n-- > 0) {
                staged[next] = true;
                add(ix, next++);
            }
        } else if (what < 12) {
            for (int i = 0; i < 3; i++) {
                int64_t id = 1 + (int64_t)(test_random(&seed) % (uint64_t)next);
                if (id < IDS) staged[id] = false;
                assert_int_equal(search_index_remove(ix, id, NULL), FO_OK);
            }
        } else if (what == 12 && step % 4 == 0) {
            search_index_discard(ix);
            memcpy(staged, alive, sizeof alive);
        } else if (what == 13 && step % 3 == 0) {
            assert_ok(search_index_seal(ix, &err), &err);
        } else if (what == 14 && step % 5 == 0) {
            assert_ok(search_index_compact(ix, &err), &err);
            assert_ok(search_index_verify(ix, &err), &err);
        } else if (what == 15 && step % 2 == 0) {
            assert_ok(search_index_close(ix, true, &err), &err);
            ix = open_index(dir, 40, 0);
            memcpy(staged, alive, sizeof alive);
            int64_t *ids;
            size_t n, k = 0;
            assert_ok(search_index_ids(ix, &ids, &n, &err), &err);
            for (int64_t id = 1; id < IDS; id++) k += alive[id];
            assert_int_equal(n, k);
            for (size_t i = 0; i < n; i++)
                assert_true(alive[ids[i]] && (!i || ids[i - 1] < ids[i]));
            free(ids);
        }
        if (what < 12 && test_random(&seed) % 2) {
            publish(ix, epoch++);
            memcpy(alive, staged, sizeof alive);
        }
        if (step % 26 == 25) check_alive(ix, alive, next);
    }
    publish(ix, epoch++);
    memcpy(alive, staged, sizeof alive);
    check_alive(ix, alive, next);
    assert_ok(search_index_compact(ix, &err), &err);
    assert_ok(search_index_verify(ix, &err), &err);
    check_alive(ix, alive, next);
    search_index_stats st;
    search_index_get_stats(ix, &st);
    assert_true(st.n_segments <= 1 && st.n_deleted == 0);
    assert_true(st.bytes_written > 0 && st.bytes_ingested > 0);
    assert_ok(search_index_close(ix, true, &err), &err);
    test_remove(dir);
}

static void search_all(search_index *ix, search_hit *hits, size_t *n, const char *query) {
    fo_err err = {0};
    search_snapshot *s = search_index_acquire(ix);
    assert_ok(search_sparse(s, query, 50, NULL, hits, n, &err), &err);
    search_index_release(s);
}

static void answers_do_not_depend_on_how_the_documents_came(void **state) {
    (void)state;
    char *one = test_folder(), *many = test_folder();
    search_index *a = open_index(one, 10000, 0), *b = open_index(many, 30, 0);
    fo_err err = {0};
    for (int64_t id = 1; id <= 400; id++) add(a, id);
    publish(a, 1);
    for (int64_t id = 1; id <= 400; id++) {
        add(b, id);
        if (id % 3 == 0) publish(b, id);
    }
    publish(b, 401);
    const char *queries[] = {"shared3 odd", "even common", "the word of", "unique17 shared5 title"};
    for (int sealed = 0; sealed < 2; sealed++) {
        for (size_t q = 0; q < 4; q++) {
            search_hit x[50], y[50];
            size_t n, m;
            search_all(a, x, &n, queries[q]);
            search_all(b, y, &m, queries[q]);
            assert_int_equal(n, m);
            for (size_t i = 0; i < n; i++)
                assert_true(x[i].chunk == y[i].chunk && x[i].score == y[i].score);
        }
        assert_ok(search_index_seal(b, &err), &err);
    }
    assert_ok(search_index_close(a, false, &err), &err);
    assert_ok(search_index_close(b, false, &err), &err);
    test_remove(one);
    test_remove(many);
}

static float dot_of(int64_t chunk, const float *v) {
    float x[DIM], sum = 0;
    vector_of(chunk, x);
    for (int i = 0; i < DIM; i++) sum += x[i] * v[i];
    return sum;
}

enum { WALK_K = 52, WALK_QUERIES = 30 };

/* Points weighed by WALK_QUERIES searches of this width, and hits that no K others beat. */
static uint64_t walk_all(search_index *ix, int64_t n, size_t ef, size_t *good) {
    search_index_stats before, after;
    search_snapshot *s = search_index_acquire(ix);
    fo_err err = {0};
    search_index_get_stats(ix, &before);
    for (int64_t q = 0; q < WALK_QUERIES; q++) {
        float v[DIM];
        search_hit hits[WALK_K];
        size_t n_hits, better[WALK_K] = {0};
        vector_of(n + q, v);
        assert_ok(search_dense(s, v, WALK_K, ef, NULL, hits, &n_hits, &err), &err);
        assert_int_equal(n_hits, WALK_K);
        for (size_t i = 0; i < n_hits; i++) {
            assert_true(hits[i].chunk % 10 != 0);
            assert_true(fabsf(hits[i].score - dot_of(hits[i].chunk, v)) < 1e-3f);
            if (i) assert_true(hits[i].score <= hits[i - 1].score);
        }
        for (int64_t c = 0; c < n; c++) {
            if (c % 10 == 0) continue;
            float d = dot_of(c, v);
            for (size_t i = n_hits; i-- && d > hits[i].score + 1e-4f;) better[i]++;
        }
        for (size_t i = 0; i < n_hits && good; i++) *good += better[i] < WALK_K;
    }
    search_index_get_stats(ix, &after);
    search_index_release(s);
    return after.n_dense_scored - before.n_dense_scored;
}

/* Three sealed segments and the open one, each large enough to be walked, a tenth of all dead. */
static void segments_find_together_what_a_scan_finds(void **state) {
    (void)state;
    enum { EACH = 5600, SEGMENTS = 4, N = EACH * SEGMENTS };
    char *dir = test_folder();
    search_index *ix = open_index(dir, 100000, 0);
    fo_err err = {0};
    for (int64_t i = 0; i < N; i++) {
        add(ix, i);
        if (i % EACH != EACH - 1) continue;
        publish(ix, i + 1);
        if (i < N - 1) assert_ok(search_index_seal(ix, &err), &err);
    }
    for (int64_t i = 0; i < N; i += 10) assert_int_equal(search_index_remove(ix, i, NULL), FO_OK);
    publish(ix, N + 1);
    search_index_stats stats;
    search_index_get_stats(ix, &stats);
    assert_int_equal(stats.n_segments, SEGMENTS);
    size_t found = 0;
    uint64_t work = walk_all(ix, N, 0, &found);
    if (found < WALK_QUERIES * WALK_K * 98 / 100)
        fail_msg("%zu of %d hits are among the best %d", found, WALK_QUERIES * WALK_K, WALK_K);
    /* A graph of all points would be walked with 2 K; each of four with K and a quarter of K. */
    assert_int_equal(work, walk_all(ix, N, WALK_K + WALK_K / SEGMENTS, NULL));
    assert_true(work < walk_all(ix, N, 2 * WALK_K, NULL) * 9 / 10);
    assert_ok(search_index_compact(ix, &err), &err);
    search_index_get_stats(ix, &stats);
    assert_true(stats.n_segments == 1 && stats.n_deleted == 0);
    found = 0;
    work = walk_all(ix, N, 0, &found);
    if (found < WALK_QUERIES * WALK_K * 98 / 100)
        fail_msg("%zu of %d hits of one graph are", found, WALK_QUERIES * WALK_K);
    assert_int_equal(work, walk_all(ix, N, 2 * WALK_K, NULL));
    assert_ok(search_index_close(ix, false, &err), &err);
    test_remove(dir);
}

static void merges_give_way_to_questions(void **state) {
    (void)state;
    char *dir = test_folder();
    fo_err err;
    search_index *ix = open_index(dir, 100, 0);
    await_threads_that_give_way(2); /* one merges, one seals beside it */
    assert_ok(search_index_close(ix, true, &err), &err);
    await_threads_that_give_way(0);
    test_remove(dir);
}

static void a_pace_keeps_to_its_rate_after_a_burst(void **state) {
    (void)state;
    pace p = pace_of(1000); /* a byte a millisecond */
    double now = 5000;
    assert_true(pace_take(&p, 250, now) == 0); /* a quarter of a second is free */
    assert_true(pace_take(&p, 100, now) == 100);
    assert_true(pace_take(&p, 100, now) == 200);
    now += 200;
    assert_true(pace_take(&p, 50, now) == 50);
    double bytes = 0, begin = now += 50;
    for (int i = 0; i < 1000; i++) { /* whoever waits as told writes at the rate */
        size_t n = (size_t)(i * 37 % 91 + 1);
        now += pace_take(&p, n, now);
        bytes += (double)n;
    }
    assert_true(bytes / (now - begin) <= 1.001 && bytes / (now - begin) > 0.99);
    now += 3600e3;
    assert_true(pace_take(&p, 251, now) == 1); /* a pause earns no more than that */
    pace any = pace_of(0);
    assert_true(pace_take(&any, SIZE_MAX / 2, now) == 0);
}

static bool has_unfinished_file(const char *dir) {
    DIR *d = opendir(dir);
    bool found = false;
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) found |= strstr(e->d_name, ".seg.tmp-") != NULL;
    closedir(d);
    return found;
}

static void closing_ends_a_merge_under_way(void **state) {
    (void)state;
    char *dir = test_folder();
    fo_err err = {0};
    search_index *ix;
    search_index_options o = options(8);
    o.merge_bytes_per_s = 1; /* the merge would take hours */
    assert_ok(search_index_open(&ix, dir, &o, NULL, &err), &err);
    for (int64_t id = 1; id <= 32; id++) {
        add(ix, id);
        if (id % 8 == 0) publish(ix, id);
        if (id % 8 == 0 && id < 32) assert_ok(search_index_seal(ix, &err), &err);
    }
    bool merging = false;
    for (int i = 0; i < 6000 && !merging; i++) {
        search_index_stats st;
        search_index_get_stats(ix, &st);
        merging = st.n_segments == 4 && has_unfinished_file(dir);
        if (!merging) usleep(10000);
    }
    assert_true(merging);
    assert_ok(search_index_close(ix, true, &err), &err);
    assert_false(has_unfinished_file(dir));
    o.read_only = true; /* merges nothing */
    assert_ok(search_index_open(&ix, dir, &o, NULL, &err), &err);
    search_index_stats st;
    search_index_get_stats(ix, &st);
    assert_int_equal(st.n_segments, 4);
    assert_int_equal(search_index_epoch(ix), 32);
    assert_true(st.bytes_ingested > 0 && st.bytes_written > st.bytes_ingested);
    search_snapshot *s = search_index_acquire(ix);
    for (int64_t id = 1; id <= 32; id++) assert_true(sparse_finds(s, id) && dense_finds(s, id));
    search_index_release(s);
    assert_ok(search_index_close(ix, false, &err), &err);
    test_remove(dir);
}

static void an_index_is_compared_with_what_it_should_hold(void **state) {
    (void)state;
    char *dir = test_folder();
    search_index *ix = open_index(dir, 8, 0);
    fo_err err = {0};
    int64_t chunks[32], documents[32];
    for (int i = 0; i < 32; i++) {
        chunks[i] = i + 1;
        documents[i] = chunks[i] / 2;
    }
    search_id_report r;
    for (int64_t id = 1; id <= 20; id++) {
        add(ix, id);
        if (id % 5 == 0) publish(ix, id); /* several segments, the last in memory */
    }
    assert_ok(search_index_compare(ix, chunks, documents, 20, &r, &err), &err);
    assert_true(r.first == -1);
    assert_int_equal(search_index_compare(ix, chunks, documents, 22, &r, &err), FO_ECORRUPT);
    assert_true(r.n_missing == 2 && r.first == 21);
    assert_int_equal(search_index_compare(ix, chunks + 2, documents + 2, 18, &r, &err),
                     FO_ECORRUPT);
    assert_true(r.n_extra == 2 && r.first == 1);
    documents[6]++;
    assert_int_equal(search_index_compare(ix, chunks, documents, 20, &r, &err), FO_ECORRUPT);
    assert_true(r.n_moved == 1 && r.first == 7);
    documents[6]--;
    assert_int_equal(search_index_remove(ix, 12, NULL), FO_OK);
    publish(ix, 21);
    assert_int_equal(search_index_compare(ix, chunks, documents, 20, &r, &err), FO_ECORRUPT);
    assert_true(r.n_tombstoned == 1 && r.n_missing == 0 && r.first == 12);
    assert_ok(search_index_compact(ix, &err), &err);
    assert_int_equal(search_index_compare(ix, chunks, documents, 20, &r, &err), FO_ECORRUPT);
    assert_true(r.n_tombstoned == 0 && r.n_missing == 1 && r.first == 12);
    add(ix, 3);
    publish(ix, 22);
    assert_int_equal(search_index_compare(ix, chunks, documents, 11, &r, &err), FO_ECORRUPT);
    assert_true(r.n_doubled == 1 && r.n_extra == 8 && r.first == 3);
    assert_ok(search_index_close(ix, true, &err), &err);
    test_remove(dir);
}

static void refuses_vectors_and_metadata_that_make_no_sense(void **state) {
    (void)state;
    char *dir = test_folder();
    search_index *ix = open_index(dir, 1000, 0);
    fo_err err = {0};
    float zero[DIM] = {0}, v[DIM];
    vector_of(1, v);
    search_chunk_in c = {.chunk = 1, .text = "x", .text_len = 1};
    assert_int_equal(search_index_add(ix, &c, &err), FO_EINVAL);
    assert_string_equal(err.field, "vector");
    float broken[DIM];
    memcpy(broken, v, sizeof v);
    broken[3] = NAN;
    c.vector = broken;
    assert_int_equal(search_index_add(ix, &c, &err), FO_EINVAL);
    assert_string_equal(err.field, "vector");
    broken[3] =
        2e15f; /* a graph takes none that large: said now, not by every publish from here on */
    assert_int_equal(search_index_add(ix, &c, &err), FO_EINVAL);
    assert_string_equal(err.field, "vector");
    c.vector = v;
    c.metadata = "[1]";
    assert_int_equal(search_index_add(ix, &c, &err), FO_EINVAL);
    assert_string_equal(err.field, "metadata");
    c.metadata = NULL;
    assert_ok(search_index_add(ix, &c, &err), &err);
    c.chunk = 2; /* a text without one known piece: no direction, but words */
    c.vector = zero;
    c.text = "unheardof";
    c.text_len = 9;
    assert_ok(search_index_add(ix, &c, &err), &err);
    publish(ix, 1);
    search_snapshot *s = search_index_acquire(ix);
    assert_int_equal(search_snapshot_count(s), 2);
    search_hit hit[2];
    size_t n;
    assert_ok(search_sparse(s, "unheardof", 2, NULL, hit, &n, &err), &err);
    assert_int_equal(n, 1);
    assert_int_equal(hit[0].chunk, 2);
    assert_ok(search_dense(s, v, 2, 0, NULL, hit, &n, &err), &err);
    assert_int_equal(hit[0].chunk, 1);
    search_index_release(s);
    assert_ok(search_index_close(ix, false, &err), &err);
    test_remove(dir);
}

/* Of so many a dense search keeps no twice as many candidates by itself: it would refuse its own choice. */
static void the_best_of_as_many_as_are_allowed_are_found(void **state) {
    (void)state;
    char *dir = test_folder();
    search_index *ix = open_index(dir, 1000, 0);
    search_hit *hits = malloc(HNSW_MAX_K * sizeof *hits);
    float v[DIM];
    fo_err err = {0};
    size_t n;
    assert_non_null(hits);
    add(ix, 1);
    add(ix, 2);
    publish(ix, 1);
    vector_of(2, v);
    search_snapshot *s = search_index_acquire(ix);
    assert_ok(search_dense(s, v, HNSW_MAX_K, 0, NULL, hits, &n, &err), &err);
    assert_int_equal(n, 2);
    assert_int_equal(hits[0].chunk, 2);
    assert_ok(search_sparse(s, "common", INVERTED_MAX_K, NULL, hits, &n, &err), &err);
    assert_int_equal(n, 2);
    assert_int_equal(search_dense(s, v, HNSW_MAX_K + 1, 0, NULL, hits, &n, &err), FO_EINVAL);
    assert_string_equal(err.field, "top_k");
    search_index_release(s);
    free(hits);
    assert_ok(search_index_close(ix, false, &err), &err);
    test_remove(dir);
}

/* One writer, readers that check what they see, merges in the background. */
typedef struct race {
    search_index *ix;
    atomic_bool stop;
    atomic_llong published; /* ids 1 .. published are in; multiples of 5 are removed again */
} race;

static void *read_race(void *arg) {
    race *r = arg;
    uint64_t seed = (uint64_t)(uintptr_t)&seed;
    fo_err err = {0};
    while (!atomic_load(&r->stop)) {
        long long sure = atomic_load(&r->published);
        search_snapshot *s = search_index_acquire(r->ix);
        if (sure > 0) {
            int64_t id = 1 + (int64_t)(test_random(&seed) % (uint64_t)sure);
            if (id % 5) {
                assert_true(sparse_finds(s, id));
                assert_true(dense_finds(s, id));
            }
            search_hit hits[20];
            size_t n;
            assert_ok(search_sparse(s, "shared3 odd", 20, NULL, hits, &n, &err), &err);
            for (size_t i = 1; i < n; i++) assert_true(hits[i - 1].score >= hits[i].score);
        }
        search_index_release(s);
    }
    return NULL;
}

static void readers_writer_and_merges_run_side_by_side(void **state) {
    (void)state;
    char *dir = test_folder();
    race r = {.ix = open_index(dir, 25, 0)};
    pthread_t readers[3];
    for (int i = 0; i < 3; i++) pthread_create(&readers[i], NULL, read_race, &r);
    int64_t epoch = 1;
    for (int64_t id = 1; id <= 600; id++) {
        add(r.ix, id);
        if (id % 5 == 1 && id > 1) assert_int_equal(search_index_remove(r.ix, id - 1, NULL), FO_OK);
        if (id % 4 == 0) {
            publish(r.ix, epoch++);
            atomic_store(&r.published, id - 1);
        }
    }
    atomic_store(&r.stop, true);
    for (int i = 0; i < 3; i++) pthread_join(readers[i], NULL);
    fo_err err = {0};
    assert_ok(search_index_compact(r.ix, &err), &err);
    assert_ok(search_index_verify(r.ix, &err), &err);
    search_snapshot *s = search_index_acquire(r.ix);
    assert_int_equal(search_snapshot_count(s), 600 - 119);
    search_index_release(s);
    assert_ok(search_index_close(r.ix, true, &err), &err);
    test_remove(dir);
}

static void *take_and_give_back(void *arg) {
    race *r = arg;
    while (!atomic_load(&r->stop)) search_index_release(search_index_acquire(r->ix));
    return NULL;
}

/* A reader that takes and gives back a snapshot while a writer puts another in its place: one of them frees it, not both.
 * Where both do, malloc's lists are wrong, and sooner or later somebody falls over them. */
static void a_snapshot_is_freed_once(void **state) {
    (void)state;
    char *dir = test_folder();
    race r = {.ix = open_index(dir, 0, 0)};
    fo_err err = {0};
    pthread_t readers[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, take_and_give_back, &r), 0);
    for (int64_t id = 1; id <= 20000; id++) {
        assert_int_equal(search_index_remove(r.ix, id, NULL),
                         FO_OK); /* nothing there: a snapshot all the same */
        publish(r.ix, id);
    }
    atomic_store(&r.stop, true);
    for (int i = 0; i < 4; i++) pthread_join(readers[i], NULL);
    assert_ok(search_index_close(r.ix, true, &err), &err);
    test_remove(dir);
}

static int64_t first_hit(search_index *ix, const char *query, size_t *n) {
    search_snapshot *s = search_index_acquire(ix);
    search_hit hits[8];
    fo_err err = {0};
    assert_ok(search_sparse(s, query, 8, NULL, hits, n, &err), &err);
    search_index_release(s);
    return *n ? hits[0].chunk : -1;
}

static void add_text(search_index *ix, int64_t chunk, const char *text) {
    float v[DIM];
    fo_err err = {0};
    vector_of(chunk, v);
    search_chunk_in c = {
        .chunk = chunk, .document = chunk, .text = text, .text_len = strlen(text), .vector = v};
    assert_ok(search_index_add(ix, &c, &err), &err);
}

/* A chunk's words are stemmed in its own language, a question's in the one it is asked in; what is asked
 * in the index's own language finds what it found without the others. */
static void chunks_of_several_languages_lie_side_by_side(void **state) {
    (void)state;
    char *dir = test_folder();
    fo_err err = {0};
    size_t n;
    for (int round = 0; round < 2; round++) { /* and the same out of the sealed file */
        search_index *ix = open_index(dir, 1000, 0);
        if (!round) {
            add_text(
                ix, 1,
                "The houses of the town are as old as those of the country, and that is good.");
            add_text(
                ix, 2,
                "Die Häuser in der Stadt sind nicht so alt wie die auf dem Land, und das ist gut.");
            add_text(
                ix, 3,
                "Les maisons de la ville ne sont pas aussi vieilles que celles de la campagne.");
            add_text(ix, 4, "城市里的房子没有乡下的房子那么古老。");
            publish(ix, 1);
        }
        assert_int_equal(first_hit(ix, "Wie alt ist das Haus?", &n), 2);
        assert_int_equal(n, 1); /* "die" and "so" are no words to search by in German */
        assert_int_equal(first_hit(ix, "Où est la maison?", &n), 3);
        assert_int_equal(first_hit(ix, "How old is the house?", &n), 1);
        assert_int_equal(n, 1);
        assert_int_equal(first_hit(ix, "Haus", &n), 2); /* one word: in all common languages */
        assert_int_equal(first_hit(ix, "房子", &n), 4);
        assert_ok(search_index_verify(ix, &err), &err);
        assert_ok(search_index_close(ix, true, &err), &err);
    }
    free(dir);
}

static size_t heap_bytes(void) {
    fo_heap_stats st = fo_heap_get_stats();
    return st.used_bytes + st.mapped_bytes;
}

/* The next question is a short one: what a very long one needed does not wait for another. */
static void a_question_of_a_thousand_words_leaves_no_memory_behind(void **state) {
    (void)state;
    enum { WORDS = 1000 };
    char *dir = test_folder(), query[WORDS * 16];
    search_index *ix = open_index(dir, 4 * WORDS, 0);
    search_hit hits[4];
    size_t n, len = 0;
    fo_err err = {0};
    for (int64_t chunk = 0; chunk < WORDS; chunk++) {
        add(ix, chunk);
        len += (size_t)snprintf(query + len, sizeof query - len, "unique%lld ", (long long)chunk);
    }
    publish(ix, 1);
    search_snapshot *s = search_index_acquire(ix);
    assert_true(sparse_finds(s, 7)); /* makes what is kept in any case */
    size_t before = heap_bytes();
    assert_ok(search_sparse(s, query, 4, NULL, hits, &n, &err), &err);
    assert_int_equal(n, 4);
    size_t after = heap_bytes();
    if (after > before + (4 << 20)) fail_msg("%zu KiB more", (after - before) >> 10);
    assert_true(sparse_finds(s, 7));
    assert_ok(search_sparse(s, query, 4, NULL, hits, &n, &err), &err);
    assert_int_equal(n, 4);
    search_index_release(s);
    assert_ok(search_index_close(ix, false, &err), &err);
    test_remove(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_published_is_found_and_what_is_staged_is_not),
        cmocka_unit_test(a_query_of_stop_words_alone_still_finds),
        cmocka_unit_test(behaves_like_a_set_through_seals_merges_and_restarts),
        cmocka_unit_test(answers_do_not_depend_on_how_the_documents_came),
        cmocka_unit_test(segments_find_together_what_a_scan_finds),
        cmocka_unit_test(merges_give_way_to_questions),
        cmocka_unit_test(a_pace_keeps_to_its_rate_after_a_burst),
        cmocka_unit_test(closing_ends_a_merge_under_way),
        cmocka_unit_test(an_index_is_compared_with_what_it_should_hold),
        cmocka_unit_test(refuses_vectors_and_metadata_that_make_no_sense),
        cmocka_unit_test(the_best_of_as_many_as_are_allowed_are_found),
        cmocka_unit_test(chunks_of_several_languages_lie_side_by_side),
        cmocka_unit_test(readers_writer_and_merges_run_side_by_side),
        cmocka_unit_test(a_snapshot_is_freed_once),
        cmocka_unit_test(a_question_of_a_thousand_words_leaves_no_memory_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
