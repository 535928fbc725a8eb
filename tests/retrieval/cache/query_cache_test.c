/* The cache of answers and contexts: its budget, the age of entries, admission, and hits on a Zipf
 * stream beside ideal LFU and LRU. */
#include "tests/test.h"

#include <math.h>

#include "retrieval/cache/query_cache.h"

/* ---- values that count how many are alive ---------------------------------------------------- */

typedef struct thing {
    cache_value head;
    int name;
} thing;
static int alive;

static void destroy(cache_value *v) {
    alive--;
    free(v);
}

static thing *make(int name) {
    thing *t = calloc(1, sizeof *t);
    assert_non_null(t);
    cache_value_init(&t->head, destroy);
    t->name = name;
    alive++;
    return t;
}

static void key_of(uint64_t n, unsigned char key[QUERY_KEY_BYTES]) {
    uint64_t state = n; /* as evenly spread as SHA-256 would be */
    for (int i = 0; i < 4; i++) {
        uint64_t v = test_random(&state);
        memcpy(key + 8 * i, &v, 8);
    }
}

static query_cache *cache_of(size_t budget, int64_t ttl_ms) {
    fo_err err = {0};
    query_cache *c;
    assert_ok(query_cache_create(&c, &(query_cache_options){budget, ttl_ms}, &err), &err);
    return c;
}

static void put(query_cache *c, uint64_t n, size_t bytes, int64_t now) {
    unsigned char key[QUERY_KEY_BYTES];
    key_of(n, key);
    thing *t = make((int)n);
    query_cache_put(c, key, &t->head, bytes, now);
    cache_value_drop(&t->head);
}

static bool has(query_cache *c, uint64_t n, int64_t now) {
    unsigned char key[QUERY_KEY_BYTES];
    key_of(n, key);
    thing *t = (thing *)query_cache_get(c, key, now);
    if (!t) return false;
    assert_int_equal(t->name, (int)n);
    cache_value_drop(&t->head);
    return true;
}

static void gives_back_what_was_put_and_frees_what_it_drops(void **state) {
    (void)state;
    query_cache *c = cache_of(1 << 20, 0);
    for (int i = 0; i < 1000; i++) put(c, (uint64_t)i, 100, 0);
    for (int i = 0; i < 1000; i++) assert_true(has(c, (uint64_t)i, 0));
    put(c, 5, 100, 0);
    assert_true(has(c, 5, 0));
    assert_int_equal(alive, 1000);
    unsigned char key[QUERY_KEY_BYTES];
    key_of(7, key);
    thing *held = (thing *)query_cache_get(c, key, 0);
    query_cache_free(c);
    assert_int_equal(alive, 1);
    assert_int_equal(held->name, 7);
    cache_value_drop(&held->head);
    assert_int_equal(alive, 0);
}

static void stays_within_its_budget_whatever_the_sizes(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    query_cache *c = cache_of(100000, 0);
    for (int i = 0; i < 20000; i++) {
        uint64_t n = test_random(&seed) % 500;
        if (!has(c, n, 0)) put(c, n, test_random(&seed) % 12000, 0);
        query_cache_stats st;
        query_cache_get_stats(c, &st);
        assert_true(st.bytes <= 100000);
        assert_int_equal((int)st.entries, alive);
    }
    query_cache_free(c);
    assert_int_equal(alive, 0);
}

static void an_entry_older_than_its_time_is_gone(void **state) {
    (void)state;
    query_cache *c = cache_of(1 << 20, 1000);
    put(c, 1, 10, 5000);
    assert_true(has(c, 1, 5999));
    assert_false(has(c, 1, 6000));
    assert_int_equal(alive, 0);
    query_cache_free(c);
}

static void one_off_questions_do_not_push_out_a_hot_one(void **state) {
    (void)state;
    query_cache *c = cache_of(100 * 1000, 0);
    put(c, 1, 500, 0);
    for (uint64_t i = 1000; i < 51000; i++) {
        if (i % 50 == 0) assert_true(has(c, 1, 0));
        if (!has(c, i, 0)) put(c, i, 500, 0);
    }
    query_cache_free(c);
}

/* ---- against an ideal cache on real questions -------------------------------------------------
 */

typedef struct lru_entry {
    int64_t used;
    bool in;
} lru_entry;

/* Zipf(1.0) over n names by inverse transform. */
static size_t draw(const double *cdf, size_t n, double u) {
    size_t lo = 0, hi = n - 1;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (cdf[mid] < u)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Distinct questions of the shared mix, or as many made-up ones. */
static size_t n_questions(void) {
    static const char *const files[] = {"eval/query_mix/topics.dpr.nq.test.txt",
                                        "eval/query_mix/topics.mq.1-10000.txt",
                                        "eval/query_mix/topics.msmarco-passage.dev-subset.txt"};
    size_t n = 0;
    for (int i = 0; i < 3; i++) {
        const char *path = test_shared(files[i]);
        FILE *f = path ? fopen(path, "r") : NULL;
        for (int ch; f && (ch = fgetc(f)) != EOF;) n += ch == '\n';
        if (f) fclose(f);
    }
    return n ? n : 20590;
}

static void comes_within_two_points_of_ideal_and_beats_lru_on_a_zipf_stream(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    size_t n = n_questions(), capacity = n / 100, requests = 100000;
    double *cdf = malloc(n * sizeof *cdf), sum = 0;
    lru_entry *lru = calloc(n, sizeof *lru);
    size_t *count = calloc(n, sizeof *count);
    uint32_t *stream = malloc(requests * sizeof *stream);
    for (size_t i = 0; i < n; i++) cdf[i] = sum += 1.0 / (double)(i + 1);
    for (size_t i = 0; i < n; i++) cdf[i] /= sum;
    for (size_t i = 0; i < requests; i++) {
        stream[i] = (uint32_t)draw(cdf, n, test_uniform(&seed));
        count[stream[i]]++;
    }
    /* The oracle keeps, from the first request on, the names that the whole stream asks most. */
    size_t *sorted = malloc(n * sizeof *sorted), ideal = 0, hits = 0, lru_hits = 0, held = 0;
    memcpy(sorted, count, n * sizeof *sorted);
    for (size_t k = 0; k < capacity; k++) { /* selection: capacity is small */
        size_t best = k;
        for (size_t i = k + 1; i < n; i++)
            if (sorted[i] > sorted[best]) best = i;
        size_t v = sorted[best];
        sorted[best] = sorted[k];
        sorted[k] = v;
        ideal += v;
    }
    /* Entries of one size; the budget holds `capacity` of them, overhead included. */
    query_cache_stats st;
    query_cache *c = cache_of(1 << 20, 0);
    put(c, 0, 0, 0);
    query_cache_get_stats(c, &st);
    const size_t overhead = st.bytes;
    assert_true(overhead > 0);
    query_cache_free(c);
    c = cache_of(capacity * 10000, 0);
    for (size_t i = 0; i < requests; i++) {
        uint32_t q = stream[i];
        if (has(c, q, 0)) {
            hits++;
        } else {
            put(c, q, 10000 - overhead, 0);
            query_cache_get_stats(c, &st);
            assert_true(st.entries <= capacity);
        }
        if (lru[q].in) {
            lru_hits++;
        } else {
            if (held == capacity) {
                size_t oldest = SIZE_MAX;
                for (size_t k = 0; k < n; k++)
                    if (lru[k].in && (oldest == SIZE_MAX || lru[k].used < lru[oldest].used))
                        oldest = k;
                lru[oldest].in = false;
                held--;
            }
            lru[q].in = true;
            held++;
        }
        lru[q].used = (int64_t)i;
    }
    double r = (double)requests, mine = 100 * (double)hits / r, best = 100 * (double)ideal / r,
           plain = 100 * (double)lru_hits / r;
    fprintf(stderr,
            "# %zu questions, %zu kept: W-TinyLFU %.2f %%, ideal LFU %.2f %%, LRU %.2f %%\n", n,
            capacity, mine, best, plain);
    assert_true(mine > best - 2);
    assert_true(mine > plain + 3);
    query_cache_free(c);
    free(cdf), free(lru), free(count), free(stream), free(sorted);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_back_what_was_put_and_frees_what_it_drops),
        cmocka_unit_test(stays_within_its_budget_whatever_the_sizes),
        cmocka_unit_test(an_entry_older_than_its_time_is_gone),
        cmocka_unit_test(one_off_questions_do_not_push_out_a_hot_one),
        cmocka_unit_test(comes_within_two_points_of_ideal_and_beats_lru_on_a_zipf_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
