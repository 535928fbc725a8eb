/* The graph against an exhaustive scan in double precision. */
#include "tests/index/dense/hnsw_fixture.h"

#include <pthread.h>
#include <stdatomic.h>

#include "kernels/cpu.h"

static void finds_what_an_exhaustive_scan_finds(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    for (hnsw_metric m = HNSW_COSINE; m <= HNSW_L2; m++) {
        world w = make_world(seed, scaled(4000), 40, 50, m);
        hnsw *h = build(&w, NULL);
        fo_err err = {0};
        size_t lost;
        assert_ok(hnsw_verify(h, &lost, &err), &err);
        assert_true(lost <= w.n / 100);
        assert_recall(measure(h, &w, w.points, w.n, NULL, 128, false), 0.95, "walk");
        assert_recall(measure(h, &w, w.points, w.n, NULL, 0, true), 0.99, "exact");
        hnsw_free(h);
        free_world(&w);
    }
}

static void every_level_of_the_processor_finds_the_same(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    fo_cpu_level top = fo_cpu()->level;
    world w = make_world(seed, scaled(2000), 20, 70, HNSW_COSINE);
    hnsw_section first[HNSW_N_SECTIONS], now[HNSW_N_SECTIONS];
    hnsw *reference = build(&w, NULL);
    hnsw_sections(reference, first);
    for (int l = (int)top; l >= FO_CPU_GENERIC; l--) {
        fo_cpu_cap((fo_cpu_level)l);
        hnsw *h = build(&w, NULL);
        hnsw_sections(h, now);
        for (int i = 0; i < HNSW_N_SECTIONS; i++) {
            assert_int_equal(first[i].size, now[i].size);
            if (now[i].size) assert_memory_equal(first[i].data, now[i].data, now[i].size);
        }
        assert_recall(measure(h, &w, w.points, w.n, NULL, 128, false), 0.95, "walk");
        hnsw_free(h);
    }
    fo_cpu_cap(top);
    hnsw_free(reference);
    free_world(&w);
}

/* One vector, by this thread. */
static void insert(hnsw *h, const float *vector) {
    fo_err err = {0};
    assert_ok(hnsw_build(h, vector, 1, NULL, NULL, NULL, &err), &err);
}

static void same_seed_and_one_thread_give_the_same_bytes(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    fo_err err = {0};
    world w = make_world(seed, scaled(1500), 1, 33, HNSW_IP);
    hnsw *built = build(&w, NULL), *inserted, *other;
    hnsw_params p = {.dim = w.dim, .metric = w.metric, .capacity = 5000, .ef_construction = 100};
    assert_ok(hnsw_create(&inserted, &p, &err), &err);
    p.seed = 1;
    assert_ok(hnsw_create(&other, &p, &err), &err);
    for (size_t i = 0; i < w.n; i++) {
        insert(inserted, w.points + i * w.dim);
        insert(other, w.points + i * w.dim);
    }
    hnsw_section a[HNSW_N_SECTIONS], b[HNSW_N_SECTIONS], c[HNSW_N_SECTIONS];
    hnsw_sections(built, a);
    hnsw_sections(inserted, b);
    hnsw_sections(other, c);
    bool differs = false;
    size_t bytes = 0;
    for (int i = 0; i < HNSW_N_SECTIONS; i++) {
        assert_int_equal(a[i].size, b[i].size);
        if (a[i].size) assert_memory_equal(a[i].data, b[i].data, a[i].size);
        differs |=
            a[i].size != c[i].size || (a[i].size && memcmp(a[i].data, c[i].data, a[i].size) != 0);
        if (i) bytes += a[i].size;
    }
    assert_true(differs);
    assert_int_equal(bytes, hnsw_memory(built));
    hnsw_free(built);
    hnsw_free(inserted);
    hnsw_free(other);
    free_world(&w);
}

static void a_graph_that_grew_is_the_same_as_one_with_room_from_the_start(void **state) {
    (void)state;
    fo_err err = {0};
    world w = make_world(test_seed(), scaled(1500), 1, 33, HNSW_L2);
    hnsw_params p = {.dim = w.dim, .metric = w.metric, .capacity = 100, .ef_construction = 100};
    hnsw *roomy, *grown, *larger;
    assert_ok(hnsw_create(&grown, &p, &err), &err);
    p.capacity = 2000;
    assert_ok(hnsw_create(&roomy, &p, &err), &err);
    for (uint32_t i = 0; i < w.n; i++) {
        insert(roomy, w.points + i * w.dim);
        if (i == hnsw_capacity(grown)) {
            assert_int_equal(hnsw_build(grown, w.points, 1, NULL, NULL, NULL, &err), FO_ELIMIT);
            assert_int_equal(hnsw_grow(&larger, grown, i - 1, &err), FO_EINVAL);
            assert_ok(hnsw_grow(&larger, grown, 2 * i, &err), &err);
            hnsw_free(grown);
            grown = larger;
        }
        insert(grown, w.points + i * w.dim);
    }
    hnsw_section a[HNSW_N_SECTIONS], b[HNSW_N_SECTIONS];
    hnsw_sections(roomy, a);
    hnsw_sections(grown, b);
    for (int i = 0; i < HNSW_N_SECTIONS; i++) {
        assert_int_equal(a[i].size, b[i].size);
        assert_memory_equal(a[i].data, b[i].data, a[i].size);
    }
    assert_ok(hnsw_verify(grown, NULL, &err), &err);
    hnsw_free(roomy);
    hnsw_free(grown);
    free_world(&w);
}

static void a_parallel_build_is_as_good(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    world w = make_world(seed, scaled(4000), 40, 50, HNSW_COSINE);
    fo_pool *pool = fo_pool_create(4);
    hnsw *h = build(&w, pool);
    fo_err err = {0};
    size_t lost;
    assert_ok(hnsw_verify(h, &lost, &err), &err);
    assert_ok(hnsw_repair(h, NULL, pool, &err), &err);
    assert_ok(hnsw_verify(h, NULL, &err), &err);
    assert_recall(measure(h, &w, w.points, w.n, NULL, 128, false), 0.95, "parallel");
    hnsw_free(h);
    fo_pool_free(pool);
    free_world(&w);
}

/* A bitmap with about `share` of n bits; by the first coordinate when `correlated`. */
static uint64_t *make_filter(const world *w, double share, bool correlated, uint64_t *r) {
    uint64_t *map = calloc(w->n / 64 + 1, sizeof *map);
    for (size_t i = 0; i < w->n; i++) {
        bool in = correlated ? w->points[i * w->dim] > 2.8 - 6 * share : test_uniform(r) < share;
        if (in) map[i / 64] |= 1ull << i % 64;
    }
    return map;
}

static void respects_filters_of_every_size(void **state) {
    (void)state;
    uint64_t r = test_seed();
    const double shares[] = {1, 0.9, 0.5, 0.3, 0.1, 0.03, 0.01, 0.001, 0};
    world w = make_world(r, scaled(12000), 25, 32, HNSW_COSINE);
    fo_pool *pool = fo_pool_create(2);
    hnsw *h = build(&w, pool);
    for (int correlated = 0; correlated < 2; correlated++) {
        for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
            uint64_t *map = make_filter(&w, shares[i], correlated, &r);
            char what[64];
            snprintf(what, sizeof what, "share %g%s", shares[i], correlated ? ", correlated" : "");
            assert_recall(measure(h, &w, w.points, w.n, map, 100, false), 0.95, what);
            free(map);
        }
    }
    hnsw_free(h);
    fo_pool_free(pool);
    free_world(&w);
}

static void a_walk_that_meets_too_few_turns_into_a_scan(void **state) {
    (void)state;
    uint64_t r = test_seed();
    world w = make_world(r, scaled(6000), 10, 16, HNSW_L2);
    for (size_t i = 0; i < w.n * w.dim; i++) w.points[i] += i / w.dim % 4 ? 0 : 1000;
    hnsw *h = build(&w, NULL);
    uint64_t *map = calloc(w.n / 64 + 1, sizeof *map); /* only the far quarter is allowed */
    for (size_t i = 0; i < w.n; i += 4) map[i / 64] |= 1ull << i % 64;
    assert_recall(measure(h, &w, w.points, w.n, map, 20, false), 0.0, "far");
    free(map);
    hnsw_free(h);
    free_world(&w);
}

static void only_visible_points_are_returned(void **state) {
    (void)state;
    uint64_t r = test_seed();
    world w = make_world(r, scaled(5000), 20, 24, HNSW_COSINE);
    hnsw *h = build(&w, NULL);
    for (size_t visible = 0; visible <= w.n; visible += w.n / 4)
        assert_recall(measure(h, &w, w.points, visible, NULL, 100, false), 0.95, "visible");
    hnsw_free(h);
    free_world(&w);
}

static void mapped_bytes_answer_as_the_graph_did(void **state) {
    (void)state;
    uint64_t r = test_seed();
    fo_err err = {0};
    for (hnsw_metric m = HNSW_COSINE; m <= HNSW_L2; m++) {
        world w = make_world(r, scaled(3000), 20, 40, m);
        hnsw *h = build(&w, NULL), *mapped;
        hnsw_section sec[HNSW_N_SECTIONS];
        hnsw_sections(h, sec);
        assert_ok(hnsw_map(&mapped, sec, &err), &err);
        assert_ok(hnsw_verify(mapped, &(size_t){0}, &err), &err);
        assert_int_equal(hnsw_count(mapped), w.n);
        assert_int_equal(hnsw_memory(mapped), hnsw_memory(h));
        hnsw_scratch *s = hnsw_scratch_create();
        for (size_t i = 0; i < w.n_q; i++) {
            hnsw_query q = {
                .vector = w.queries + i * w.dim, .k = K, .visible = UINT32_MAX, .walk = true};
            hnsw_hit a[K], b[K];
            size_t na, nb;
            assert_ok(hnsw_search(h, &q, s, a, &na, &err), &err);
            assert_ok(hnsw_search(mapped, &q, s, b, &nb, &err), &err);
            assert_int_equal(na, nb);
            assert_memory_equal(a, b, na * sizeof *a);
        }
        assert_int_equal(hnsw_build(mapped, w.points, 1, NULL, NULL, NULL, &err), FO_EUNSUPPORTED);
        sec[1].data = (const char *)sec[1].data + 4;
        hnsw *none;
        assert_int_equal(hnsw_map(&none, sec, &err), FO_EINVAL);
        hnsw_scratch_free(s);
        hnsw_free(mapped);
        hnsw_free(h);
        free_world(&w);
    }
}

static void copy_sections(const hnsw_section *from, hnsw_section *to) {
    for (int i = 0; i < HNSW_N_SECTIONS; i++) {
        void *p = aligned_alloc(64, (from[i].size + 64) / 64 * 64);
        if (from[i].size) memcpy(p, from[i].data, from[i].size);
        to[i] = (hnsw_section){p, from[i].size};
    }
}

/* A search begins there. */
static void an_entry_that_is_no_point_is_refused(void **state) {
    (void)state;
    fo_err err = {0};
    world w = make_world(test_seed(), 60, 1, 20, HNSW_L2);
    hnsw *h = build(&w, NULL), *none;
    hnsw_section sec[HNSW_N_SECTIONS];
    hnsw_sections(h, sec);
    enum { HEAD = 0, ENTRY = 36 }; /* the section, and where in it the point stands */
    unsigned char head[64];
    assert_int_equal(sec[HEAD].size, sizeof head);
    memcpy(head, sec[HEAD].data, sizeof head);
    sec[HEAD].data = head;
    const uint32_t wrong[] = {60, 61, UINT32_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        memcpy(head + ENTRY, &wrong[i], sizeof *wrong);
        assert_int_equal(hnsw_map(&none, sec, &err), FO_ECORRUPT);
        assert_non_null(strstr(err.msg, "of 60 points"));
    }
    hnsw_free(h);
    free_world(&w);
}

static void refuses_sections_of_the_wrong_size(void **state) {
    (void)state;
    fo_err err = {0};
    world w = make_world(test_seed(), 500, 1, 20, HNSW_L2);
    hnsw *h = build(&w, NULL), *none;
    hnsw_section sec[HNSW_N_SECTIONS];
    for (int i = 0; i < HNSW_N_SECTIONS; i++) {
        hnsw_sections(h, sec);
        sec[i].size -= sec[i].size ? 1 : 0;
        assert_int_equal(hnsw_map(&none, sec, &err), FO_ECORRUPT);
        sec[i].size = 0;
        assert_int_equal(hnsw_map(&none, sec, &err), FO_ECORRUPT);
    }
    hnsw_free(h);
    free_world(&w);
}

static void hostile_bytes_never_reach_outside(void **state) {
    (void)state;
    uint64_t r = test_seed();
    fo_err err = {0};
    world w = make_world(r, scaled(2000), 5, 20, HNSW_L2);
    hnsw *h = build(&w, NULL);
    hnsw_section clean[HNSW_N_SECTIONS], sec[HNSW_N_SECTIONS];
    hnsw_sections(h, clean);
    hnsw_scratch *s = hnsw_scratch_create();
    size_t n_mapped = 0, n_noticed = 0;
    for (int round = 0; round < 300; round++) {
        copy_sections(clean, sec);
        int at = (int)(test_random(&r) % HNSW_N_SECTIONS);
        unsigned char *bytes = (unsigned char *)sec[at].data;
        size_t n_bytes = sec[at].size, flips = 1 + test_random(&r) % (at ? 2000 : 3);
        for (size_t i = 0; i < flips && n_bytes; i++)
            bytes[test_random(&r) % n_bytes] = (unsigned char)test_random(&r);
        hnsw *m;
        if (hnsw_map(&m, sec, &err) == FO_OK) {
            n_mapped++;
            size_t lost;
            n_noticed += hnsw_verify(m, &lost, &err) != FO_OK;
            for (size_t i = 0; i < w.n_q; i++) {
                hnsw_query q = {
                    .vector = w.queries, .k = K, .ef = 200, .visible = UINT32_MAX, .walk = true};
                hnsw_hit hits[K];
                size_t n;
                if (hnsw_dim(m) != w.dim) break;
                assert_ok(hnsw_search(m, &q, s, hits, &n, &err), &err);
                for (size_t j = 0; j < n; j++) assert_true(hits[j].id < hnsw_count(m));
            }
            hnsw_merge_input in = {.graph = m};
            hnsw *merged;
            if (round % 10 == 0 && hnsw_merge(&merged, &in, 1, NULL, NULL, NULL, NULL, &err) == 0)
                hnsw_free(merged);
            hnsw_free(m);
        }
        for (int i = 0; i < HNSW_N_SECTIONS; i++) free((void *)sec[i].data);
    }
    assert_true(n_mapped > 100 && n_noticed > 30);
    hnsw_scratch_free(s);
    hnsw_free(h);
    free_world(&w);
}

typedef struct reader {
    const hnsw *h;
    const world *w;
    atomic_bool *stop;
    size_t n_searches;
    bool wrong;
    uint64_t seed;
} reader;

static void *search_on(void *arg) {
    reader *t = arg;
    hnsw_scratch *s = hnsw_scratch_create();
    while (!atomic_load(t->stop)) {
        uint32_t visible = hnsw_count(t->h);
        hnsw_query q = {.vector = t->w->queries + test_random(&t->seed) % t->w->n_q * t->w->dim,
                        .k = K,
                        .ef = 50,
                        .visible = visible,
                        .walk = true};
        hnsw_hit hits[K];
        size_t n;
        fo_err err = {0};
        if (hnsw_search(t->h, &q, s, hits, &n, &err) != FO_OK) t->wrong = true;
        if (n != (visible < K ? visible : K)) t->wrong = true;
        for (size_t i = 0; i < n; i++) t->wrong |= hits[i].id >= visible;
        t->n_searches++;
    }
    hnsw_scratch_free(s);
    return NULL;
}

static void searches_run_beside_inserts(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    fo_err err = {0};
    world w = make_world(seed, scaled(3000), 50, 24, HNSW_COSINE);
    hnsw *h;
    hnsw_params p = {.dim = w.dim, .capacity = (uint32_t)w.n, .M = 8, .ef_construction = 60};
    assert_ok(hnsw_create(&h, &p, &err), &err);
    atomic_bool stop = false;
    reader readers[2];
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        readers[i] = (reader){h, &w, &stop, 0, false, seed + (uint64_t)i};
        pthread_create(&threads[i], NULL, search_on, &readers[i]);
    }
    for (size_t i = 0; i < w.n; i++) insert(h, w.points + i * w.dim);
    uint64_t *alive = malloc((w.n / 64 + 1) * sizeof *alive);
    memset(alive, 0x77, (w.n / 64 + 1) * sizeof *alive);
    assert_ok(hnsw_repair(h, alive, NULL, &err), &err);
    atomic_store(&stop, true);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        assert_false(readers[i].wrong);
        assert_true(readers[i].n_searches > 0);
    }
    assert_int_equal(hnsw_build(h, w.points, 1, NULL, NULL, NULL, &err), FO_ELIMIT);
    assert_recall(measure(h, &w, w.points, w.n, alive, 128, false), 0.93, "after inserts");
    free(alive);
    hnsw_free(h);
    free_world(&w);
}

static void small_and_degenerate_sets_are_exact(void **state) {
    (void)state;
    fo_err err = {0};
    world w = make_world(test_seed(), 300, 10, 7, HNSW_L2);
    hnsw *h;
    hnsw_params p = {.dim = w.dim, .metric = HNSW_L2, .capacity = 3000};
    assert_ok(hnsw_create(&h, &p, &err), &err);
    assert_recall(measure(h, &w, w.points, 0, NULL, 0, false), 1, "empty");
    for (size_t i = 0; i < w.n; i++) {
        insert(h, w.points + i * w.dim);
        if (i < 15) assert_recall(measure(h, &w, w.points, i + 1, NULL, 0, false), 0.98, "few");
    }
    hnsw_free(h);
    /* Two thousand times the same two points: k are found all the same. */
    assert_ok(hnsw_create(&h, &p, &err), &err);
    for (size_t i = 0; i < 2000; i++) insert(h, w.points + i % 2 * w.dim);
    assert_ok(hnsw_repair(h, NULL, NULL, &err), &err);
    assert_ok(hnsw_verify(h, NULL, &err), &err);
    hnsw_scratch *s = hnsw_scratch_create();
    hnsw_query q = {.vector = w.points, .k = 500, .visible = 2000};
    hnsw_hit hits[500];
    size_t n;
    assert_ok(hnsw_search(h, &q, s, hits, &n, &err), &err);
    assert_int_equal(n, 500);
    assert_true(hits[499].score > -1e-3);
    hnsw_scratch_free(s);
    hnsw_free(h);
    free_world(&w);
}

static void refuses_bad_vectors_and_parameters(void **state) {
    (void)state;
    fo_err err = {0};
    hnsw *h;
    hnsw_params bad[] = {{.dim = 0, .capacity = 1},
                         {.dim = HNSW_MAX_DIM + 1, .capacity = 1},
                         {.dim = 4, .capacity = 0},
                         {.dim = 4, .capacity = 1, .M = 1},
                         {.dim = 4, .capacity = 1, .M = HNSW_MAX_M + 1},
                         {.dim = 4, .capacity = 1, .metric = (hnsw_metric)7}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(hnsw_create(&h, &bad[i], &err), FO_EINVAL);
    hnsw_params p = {.dim = 3, .capacity = 8};
    assert_ok(hnsw_create(&h, &p, &err), &err);
    float zero[3] = {0}, nan[3] = {1, NAN, 0}, inf[3] = {INFINITY, 0, 0};
    assert_int_equal(hnsw_build(h, zero, 1, NULL, NULL, NULL, &err), FO_EINVAL);
    assert_int_equal(hnsw_build(h, nan, 1, NULL, NULL, NULL, &err), FO_EINVAL);
    assert_non_null(strstr(err.msg, "value 1 "));
    assert_int_equal(hnsw_build(h, inf, 1, NULL, NULL, NULL, &err), FO_EINVAL);
    float two[6] = {1, 0, 0, 0, NAN, 0};
    assert_int_equal(hnsw_build(h, two, 2, NULL, NULL, NULL, &err), FO_EINVAL);
    assert_non_null(strstr(err.msg, "vector 1: value 1 "));
    assert_int_equal(hnsw_count(h), 0);
    assert_ok(hnsw_build(h, two, 1, NULL, NULL, NULL, &err), &err);
    hnsw_scratch *s = hnsw_scratch_create();
    hnsw_hit hits[4];
    size_t n;
    hnsw_query q = {.vector = zero, .k = 4, .visible = 1};
    assert_int_equal(hnsw_search(h, &q, s, hits, &n, &err), FO_EINVAL);
    q.vector = two;
    q.k = 0;
    assert_int_equal(hnsw_search(h, &q, s, hits, &n, &err), FO_EINVAL);
    q.k = 4;
    assert_ok(hnsw_search(h, &q, s, hits, &n, &err), &err);
    assert_int_equal(n, 1);
    assert_true(fabsf(hits[0].score - 1) < 1e-6f);
    hnsw_scratch_free(s);
    hnsw_free(h);
}

static float *read_vecs(const char *name, uint32_t *dim, size_t *n) {
    const char *path = test_shared(name);
    FILE *f = path ? fopen(path, "rb") : NULL;
    if (!f) return NULL;
    int32_t d;
    if (fread(&d, 4, 1, f) != 1) d = 0;
    fseek(f, 0, SEEK_END);
    *n = (size_t)ftell(f) / (4 + 4 * (size_t)d);
    *dim = (uint32_t)d;
    float *x = malloc(*n * (size_t)d * sizeof *x);
    rewind(f);
    for (size_t i = 0; i < *n; i++) {
        assert_int_equal(fread(&d, 4, 1, f), 1);
        assert_int_equal(fread(x + i * *dim, 4, *dim, f), *dim);
    }
    fclose(f);
    return x;
}

static void finds_the_neighbours_of_siftsmall(void **state) {
    (void)state;
    world w = {.metric = HNSW_L2};
    if (!test_shared("eval/siftsmall/siftsmall_base.fvecs")) skip();
    w.points = read_vecs("eval/siftsmall/siftsmall_base.fvecs", &w.dim, &w.n);
    w.queries = read_vecs("eval/siftsmall/siftsmall_query.fvecs", &w.dim, &w.n_q);
    fo_pool *pool = fo_pool_create(2);
    hnsw *h = build(&w, pool);
    assert_recall(measure(h, &w, w.points, w.n, NULL, 100, false), 0.98, "siftsmall");
    hnsw_free(h);
    fo_pool_free(pool);
    free_world(&w);
}

/* A collection of a few thousand notes that are nearly alike and some that are about something else: each of those is what is
 * nearest to its own words, wherever a walk among the others would have ended. */
static void few_that_differ_from_thousands_are_found(void **state) {
    (void)state;
    enum { DIM = 64, ALIKE = 4000, ODD = 12, DEPTH = 100 };
    uint64_t r = test_seed();
    world w = make_world(r, ALIKE + ODD, 1, DIM, HNSW_COSINE);
    for (size_t i = 0; i < ALIKE + ODD; i++)
        for (uint32_t j = 0; j < DIM; j++) /* the odd ones first: no link of theirs is the newest */
            w.points[i * DIM + j] = (float)normal(&r) * (i < ODD ? 1 : .1f) + (i < ODD ? 0
                                                                               : j % 3 ? 1.f
                                                                                       : -1.f);
    hnsw *h = build(&w, NULL);
    hnsw_scratch *s = hnsw_scratch_create();
    for (uint32_t i = 0; i < ODD; i++) {
        hnsw_query q = {.vector = w.points + i * DIM, .k = DEPTH, .visible = UINT32_MAX};
        hnsw_hit hits[DEPTH];
        size_t n;
        fo_err err = {0};
        assert_ok(hnsw_search(h, &q, s, hits, &n, &err), &err);
        assert_int_equal(hits[0].id, i);
        hnsw_search_stats st;
        hnsw_get_search_stats(s, &st);
        assert_true(st.scanned);
    }
    hnsw_scratch_free(s);
    hnsw_free(h);
    free_world(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_that_differ_from_thousands_are_found),
        cmocka_unit_test(finds_what_an_exhaustive_scan_finds),
        cmocka_unit_test(every_level_of_the_processor_finds_the_same),
        cmocka_unit_test(same_seed_and_one_thread_give_the_same_bytes),
        cmocka_unit_test(a_graph_that_grew_is_the_same_as_one_with_room_from_the_start),
        cmocka_unit_test(a_parallel_build_is_as_good),
        cmocka_unit_test(respects_filters_of_every_size),
        cmocka_unit_test(a_walk_that_meets_too_few_turns_into_a_scan),
        cmocka_unit_test(only_visible_points_are_returned),
        cmocka_unit_test(mapped_bytes_answer_as_the_graph_did),
        cmocka_unit_test(an_entry_that_is_no_point_is_refused),
        cmocka_unit_test(refuses_sections_of_the_wrong_size),
        cmocka_unit_test(hostile_bytes_never_reach_outside),
        cmocka_unit_test(searches_run_beside_inserts),
        cmocka_unit_test(small_and_degenerate_sets_are_exact),
        cmocka_unit_test(refuses_bad_vectors_and_parameters),
        cmocka_unit_test(finds_the_neighbours_of_siftsmall),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
