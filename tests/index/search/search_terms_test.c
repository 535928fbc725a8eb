/* search_terms_test.c - terms that are looked for beside a query's words, and the terms that an index has. */
#include "tests/index/search/index_fixture.h"

#include <math.h>

#include "index/sparse/language.h"

static void add_text(search_index *ix, int64_t chunk, const char *text) {
    fo_err err = {0};
    const search_chunk_in c = {
        .chunk = chunk, .document = chunk, .title = "", .text = text, .text_len = strlen(text)};
    assert_ok(search_index_add(ix, &c, &err), &err);
}

static search_index *open_filled(const char *dir) {
    search_index *ix = open_default_index(dir);
    fo_err err = {0};
    add_text(ix, 1, "harbour lantern kettle");
    add_text(ix, 2, "harbour the meadow orchard");
    add_text(ix, 3, "lantern meadow pepper");
    assert_ok(search_index_publish(ix, 1, &err), &err);
    return ix;
}

static size_t find(search_snapshot *s, const char *query, const search_term *beside, size_t n,
                   search_hit hits[9]) {
    fo_err err = {0};
    size_t found;
    assert_ok(search_sparse_beside(s, query, beside, n, 9, NULL, hits, &found, &err), &err);
    return found;
}

static void a_term_beside_the_query_scores_its_weight(void **state) {
    (void)state;
    char *dir = test_folder();
    search_index *ix = open_filled(dir);
    search_snapshot *s = search_index_acquire(ix);
    search_hit alone[9], beside[9];
    assert_int_equal(find(s, "kettl", NULL, 0, alone), 1);
    const search_term half = {"kettl", 5, .5}, own = {"kettl", 5, 8};
    assert_int_equal(find(s, "absent", &half, 1, beside), 1);
    assert_int_equal(beside[0].chunk, 1);
    assert_true(fabs((double)beside[0].score - .5 * (double)alone[0].score) < 1e-5);
    /* one of the query's own changes nothing, nor does one that no chunk has */
    const search_term more[] = {own, {"nowher", 6, 3}};
    assert_int_equal(find(s, "kettle", more, 2, beside), 1);
    assert_true(beside[0].score == alone[0].score);
    /* where it is found, words that say nothing are not looked for */
    assert_int_equal(find(s, "the absent", &half, 1, beside), 1);
    search_index_release(s);
    fo_err err = {0};
    assert_ok(search_index_close(ix, false, &err), &err);
    test_remove(dir);
}

static void count(void *ctx, const char *term, size_t len) {
    (void)term;
    (void)len;
    ++*(size_t *)ctx;
}

static void every_term_is_told_or_none(void **state) {
    (void)state;
    char *dir = test_folder();
    search_index *ix = open_filled(dir);
    search_snapshot *s = search_index_acquire(ix);
    size_t n = 0;
    search_each_term(s, 7, count, &n);
    assert_int_equal(n, 7);
    search_each_term(s, 6, count, &n);
    assert_int_equal(n, 7);
    assert_true(search_has_term(s, "meadow", 6));
    assert_false(search_has_term(s, "meado", 5));
    search_index_release(s);
    fo_err err = {0};
    assert_ok(search_index_close(ix, false, &err), &err);
    test_remove(dir);
}

static void the_language_of_a_query_is_told_where_chunks_are_in_it(void **state) {
    (void)state;
    static const char german[] = "Wer darf im Hof ein Rad abstellen?";
    char *dir = test_folder();
    search_index *ix = open_filled(dir);
    fo_err err = {0};
    search_snapshot *before = search_index_acquire(ix);
    assert_int_equal(search_query_language(before, german), -1);
    add_text(
        ix, 4,
        "Das Rad ist im Hof abzustellen, und die Tür ist immer zu schließen, wenn es Nacht wird.");
    assert_ok(search_index_publish(ix, 2, &err), &err);
    search_snapshot *after = search_index_acquire(ix);
    assert_string_equal(language_name(search_query_language(after, german)), "german");
    assert_int_equal(search_query_language(after, "Where is the lantern?"), -1);
    search_index_release(before);
    search_index_release(after);
    assert_ok(search_index_close(ix, false, &err), &err);
    test_remove(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_term_beside_the_query_scores_its_weight),
        cmocka_unit_test(every_term_is_told_or_none),
        cmocka_unit_test(the_language_of_a_query_is_told_where_chunks_are_in_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
