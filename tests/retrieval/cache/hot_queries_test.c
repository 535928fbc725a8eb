/* Counting questions: the sketch's bound on Zipf streams, ageing, saturation, sums, its bytes; the
 * list of the most asked, in order, over time, forgotten questions and its file. */
#include "tests/test.h"

#include <math.h>

#include "kernels/file.h"
#include "retrieval/cache/count_min_sketch.h"
#include "retrieval/cache/hot_queries.h"

static uint64_t name_of(size_t i) {
    uint64_t s = i;
    return test_random(&s);
}

/* A Zipf stream over n names into exact[n] and the sketch. */
static void feed(count_min *s, uint64_t *exact, size_t n, size_t length, double skew,
                 uint64_t *seed) {
    double *cdf = malloc(n * sizeof *cdf), sum = 0;
    for (size_t i = 0; i < n; i++) cdf[i] = sum += pow((double)(i + 1), -skew);
    for (size_t k = 0; k < length; k++) {
        double u = test_uniform(seed) * sum;
        size_t lo = 0, hi = n - 1;
        while (lo < hi) {
            size_t mid = (lo + hi) / 2;
            if (cdf[mid] < u)
                lo = mid + 1;
            else
                hi = mid;
        }
        exact[lo]++;
        count_min_add(s, name_of(lo), 1);
    }
    free(cdf);
}

static void estimates_keep_their_bound_on_zipf_streams(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    enum { N = 20000, LENGTH = 200000 };
    static const double skews[] = {0, 0.7, 1.0, 1.3};
    const double epsilon = 1e-3, delta = 1e-2;
    fo_err err = {0};
    for (size_t k = 0; k < 4; k++) {
        count_min *s;
        assert_ok(count_min_create(&s, epsilon, delta, 7 + k, &err), &err);
        assert_true((double)count_min_width(s) >= exp(1) / epsilon);
        assert_true((double)count_min_depth(s) >= log(1 / delta));
        uint64_t *exact = calloc(N, sizeof *exact);
        feed(s, exact, N, LENGTH, skews[k], &seed);
        assert_int_equal(count_min_total(s), LENGTH);
        size_t beyond = 0;
        double worst = 0;
        for (size_t i = 0; i < N; i++) {
            uint64_t e = count_min_estimate(s, name_of(i));
            assert_true(e >= exact[i]);
            if ((double)(e - exact[i]) > worst) worst = (double)(e - exact[i]);
            beyond += (double)(e - exact[i]) > epsilon * LENGTH;
        }
        fprintf(stderr, "# Zipf(%.1f): %zu of %d names beyond epsilon N = %.0f, worst error %.0f\n",
                skews[k], beyond, N, epsilon * LENGTH, worst);
        assert_true((double)beyond <= delta * N);
        free(exact);
        count_min_free(s);
    }
}

static void ageing_halves_and_never_falls_below_the_halved_truth(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    enum { N = 3000 };
    fo_err err = {0};
    count_min *s;
    assert_ok(count_min_create(&s, 1e-3, 1e-2, 1, &err), &err);
    uint64_t *exact = calloc(N, sizeof *exact);
    for (int round = 0; round < 5; round++) {
        feed(s, exact, N, 30000, 1.0, &seed);
        count_min_age(s, 1);
        for (size_t i = 0; i < N; i++) {
            exact[i] /= 2;
            assert_true(count_min_estimate(s, name_of(i)) >= exact[i]);
        }
        assert_true(count_min_total(s) <= 30000);
    }
    count_min_age(s, 40);
    assert_int_equal(count_min_estimate(s, name_of(0)), 0);
    assert_int_equal(count_min_total(s), 0);
    free(exact);
    count_min_free(s);
}

static void counters_saturate_where_they_end(void **state) {
    (void)state;
    fo_err err = {0};
    count_min *s;
    assert_ok(count_min_create(&s, 0.1, 0.1, 1, &err), &err);
    assert_int_equal(count_min_add(s, 1, UINT32_MAX - 1), UINT32_MAX - 1);
    assert_int_equal(count_min_add(s, 1, 5), UINT32_MAX);
    assert_int_equal(count_min_add(s, 1, 5), UINT32_MAX);
    count_min_free(s);
    assert_int_equal(count_min_create(&s, 0, 0.1, 1, &err), FO_EINVAL);
    assert_int_equal(count_min_create(&s, 0.1, NAN, 1, &err), FO_EINVAL);
}

static void a_sketch_comes_back_from_its_bytes_and_a_damaged_one_is_refused(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    fo_err err = {0};
    count_min *s, *back;
    assert_ok(count_min_create(&s, 0.01, 0.01, 3, &err), &err);
    for (uint64_t i = 0; i < 1000; i++) count_min_add(s, name_of(i % 77), 1);
    fo_buf b = {0};
    count_min_write(s, &b);
    size_t used = 0;
    assert_ok(count_min_read(&back, b.data, b.len, &used, &err), &err);
    assert_int_equal(used, b.len);
    assert_int_equal(count_min_total(back), 1000);
    for (uint64_t i = 0; i < 100; i++)
        assert_int_equal(count_min_estimate(back, name_of(i)), count_min_estimate(s, name_of(i)));
    count_min_free(back);
    for (int i = 0; i < 500; i++) {
        size_t at = test_random(&seed) % b.len;
        b.data[at] ^= (char)(1 << (i % 8));
        assert_true(count_min_read(&back, b.data, b.len, &used, &err) != FO_OK);
        b.data[at] ^= (char)(1 << (i % 8));
        size_t n = test_random(&seed) % b.len;
        assert_int_equal(count_min_read(&back, b.data, n, &used, &err), FO_ECORRUPT);
    }
    fo_buf_free(&b);
    count_min_free(s);
}

/* ---- the list of hot questions ------------------------------------------------------------------
 */

static hot_queries *list_of(const hot_options *opt) {
    fo_err err = {0};
    hot_queries *h;
    assert_ok(hot_queries_create(&h, opt, &err), &err);
    return h;
}

static void add(hot_queries *h, size_t i, int64_t now) {
    char text[32];
    snprintf(text, sizeof text, "question %zu", i);
    hot_queries_add(h, name_of(i), "notes", text, &i, sizeof i, now);
}

static void the_list_holds_the_most_asked_in_order(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    enum { N = 5000 };
    hot_queries *h = list_of(&(hot_options){.capacity = 50});
    uint64_t exact[N] = {0};
    for (int k = 0; k < 100000; k++) {
        size_t i = (size_t)(pow(N, test_uniform(&seed))) - 1; /* log-uniform: about Zipf(1) */
        exact[i]++;
        add(h, i, 1000);
    }
    hot_query *list;
    size_t n;
    fo_err err = {0};
    assert_ok(hot_queries_list(h, 20, &list, &n, &err), &err);
    assert_int_equal(n, 20);
    for (size_t i = 0; i < n; i++) {
        size_t name = 0;
        memcpy(&name, list[i].recipe, sizeof name);
        assert_true(name < 24); /* neighbours in rank may differ by chance */
        assert_true(list[i].estimate >= exact[name]);
        assert_true((double)list[i].estimate <= (double)exact[name] + 1e-4 * 100000);
        if (i) assert_true(list[i].estimate <= list[i - 1].estimate);
    }
    hot_query_list_free(list, n);
    hot_queries_free(h);
}

static void counts_fade_with_time(void **state) {
    (void)state;
    hot_queries *h = list_of(&(hot_options){.half_life_ms = 1000});
    for (int i = 0; i < 8; i++) add(h, 1, 5000);
    add(h, 2, 6500);
    assert_int_equal(hot_queries_estimate(h, name_of(1), 6500), 4);
    add(h, 2, 9000);
    assert_int_equal(hot_queries_estimate(h, name_of(1), 9000), 0);
    hot_queries_free(h);
}

static void counts_fade_while_nobody_asks(void **state) {
    (void)state;
    hot_queries *h = list_of(&(hot_options){.half_life_ms = 1000});
    for (int i = 0; i < 8; i++) add(h, 1, 5000);
    assert_int_equal(hot_queries_estimate(h, name_of(1), 4000), 8); /* a clock that was set back */
    assert_int_equal(hot_queries_estimate(h, name_of(1), 5999), 8);
    assert_int_equal(hot_queries_estimate(h, name_of(1), 6500), 4);
    assert_int_equal(hot_queries_estimate(h, name_of(1), 9000), 0);
    assert_int_equal(hot_queries_estimate(h, name_of(1), INT64_MAX), 0);
    add(h, 2, 6500); /* who only looked has changed nothing */
    assert_int_equal(hot_queries_estimate(h, name_of(1), 6500), 4);
    hot_queries_free(h);
}

static void a_question_that_is_forgotten_leaves_the_others_in_order(void **state) {
    (void)state;
    fo_err err = {0};
    hot_queries *h = list_of(&(hot_options){.capacity = 20});
    for (size_t i = 0; i < 20; i++)
        for (size_t k = 0; k <= i; k++) add(h, i, 1000);
    for (size_t i = 0; i < 20; i += 3) hot_queries_forget(h, name_of(i));
    hot_queries_forget(h, 12345); /* unknown */
    add(h, 18, 1000);             /* asked once more: it joins again, with its count */
    hot_query *list;
    size_t n;
    assert_ok(hot_queries_list(h, 50, &list, &n, &err), &err);
    assert_int_equal(n, 14);
    assert_string_equal(list[0].query, "question 18");
    assert_int_equal(list[1].estimate, 20);
    for (size_t i = 0; i < n; i++) {
        size_t name = 0;
        memcpy(&name, list[i].recipe, sizeof name);
        assert_true(name == 18 || name % 3 != 0);
        if (i) assert_true(list[i].estimate <= list[i - 1].estimate);
    }
    hot_query_list_free(list, n);
    hot_queries_free(h);
}

static void the_list_survives_in_its_file_and_a_damaged_file_is_refused(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    fo_err err = {0};
    char *folder = test_folder(), path[4200];
    snprintf(path, sizeof path, "%s/default.hot", folder);
    hot_options opt = {.capacity = 8, .epsilon = 0.01, .delta = 0.1};
    hot_queries *h = list_of(&opt), *back = list_of(&opt), *hidden = list_of(&opt);
    for (size_t i = 0; i < 20; i++)
        for (size_t k = 0; k <= i; k++) add(h, i, 1000);
    assert_ok(hot_queries_save(h, path, &err), &err);
    assert_ok(hot_queries_load(back, path, &err), &err);
    hot_query *a, *b;
    size_t n, m;
    assert_ok(hot_queries_list(h, 100, &a, &n, &err), &err);
    assert_ok(hot_queries_list(back, 100, &b, &m, &err), &err);
    assert_int_equal(n, 8);
    assert_int_equal(m, 8);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(a[i].hash, b[i].hash);
        assert_int_equal(a[i].estimate, b[i].estimate);
        assert_string_equal(a[i].query, b[i].query);
        assert_memory_equal(a[i].recipe, b[i].recipe, sizeof(size_t));
    }
    hot_query_list_free(a, n);
    hot_query_list_free(b, m);

    char *bytes;
    size_t size;
    assert_ok(fo_file_read(path, 1 << 24, &bytes, &size, &err), &err);
    for (int i = 0; i < 60; i++) {
        size_t at = test_random(&seed) % size, cut = i % 2 ? size : test_random(&seed) % size;
        if (cut == size) bytes[at] ^= 0x20;
        FILE *f = fopen(path, "wb");
        assert_int_equal(fwrite(bytes, 1, cut, f), cut);
        fclose(f);
        if (cut == size) bytes[at] ^= 0x20;
        assert_int_equal(hot_queries_load(hidden, path, &err), FO_ECORRUPT);
    }
    assert_int_equal(hot_queries_estimate(hidden, name_of(19), 1000), 0);
    free(bytes);
    hot_queries_free(h), hot_queries_free(back), hot_queries_free(hidden);
    test_remove(folder);
}

/* A run hid the text; the next one does not. */
static void a_question_that_was_hidden_gets_its_text_when_it_is_asked_again(void **state) {
    (void)state;
    fo_err err = {0};
    char *folder = test_folder(), path[4200];
    snprintf(path, sizeof path, "%s/default.hot", folder);
    hot_queries *hidden = list_of(&(hot_options){.hide_text = true}), *told = list_of(NULL);
    add(hidden, 1, 1000);
    add(hidden, 2, 1000);
    add(hidden, 1, 1000);
    assert_ok(hot_queries_save(hidden, path, &err), &err);
    assert_ok(hot_queries_load(told, path, &err), &err);
    assert_ok(hot_queries_load(hidden, path, &err), &err);
    add(told, 1, 1000);
    add(hidden, 1, 1000);
    hot_query *list;
    size_t n;
    assert_ok(hot_queries_list(told, 10, &list, &n, &err), &err);
    assert_int_equal(n, 2);
    assert_non_null(list[0].query);
    assert_string_equal(list[0].query, "question 1");
    assert_int_equal(list[0].estimate, 3);
    assert_null(list[1].query);
    hot_query_list_free(list, n);
    assert_ok(hot_queries_list(hidden, 10, &list, &n, &err), &err);
    assert_null(list[0].query);
    hot_query_list_free(list, n);
    hot_queries_free(hidden), hot_queries_free(told);
    test_remove(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(estimates_keep_their_bound_on_zipf_streams),
        cmocka_unit_test(ageing_halves_and_never_falls_below_the_halved_truth),
        cmocka_unit_test(counters_saturate_where_they_end),
        cmocka_unit_test(a_sketch_comes_back_from_its_bytes_and_a_damaged_one_is_refused),
        cmocka_unit_test(the_list_holds_the_most_asked_in_order),
        cmocka_unit_test(counts_fade_with_time),
        cmocka_unit_test(counts_fade_while_nobody_asks),
        cmocka_unit_test(a_question_that_is_forgotten_leaves_the_others_in_order),
        cmocka_unit_test(a_question_that_was_hidden_gets_its_text_when_it_is_asked_again),
        cmocka_unit_test(the_list_survives_in_its_file_and_a_damaged_file_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
