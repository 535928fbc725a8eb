/* Stop strings in a stream of text: found however it is cut, and nothing of one comes out. */
#include "tests/test.h"

#include "kernels/stop_match.h"

static void stop_strings_are_found_however_the_text_is_cut(void **state) {
    (void)state;
    fo_err err = {0};
    uint64_t seed = test_seed();
    const char *stops[] = {"</s>", "\n\nQ:", "aab"};
    const char *texts[][3] = {{"hello</s>more", "hello", "0"},
                              {"x<</s>", "x<", "0"},
                              {"aaaab tail", "aa", "2"},
                              {"end\n\n\nQ:?", "end\n", "1"},
                              {"no stop </ here\n\n", "no stop </ here\n\n", "-1"}};
    for (size_t i = 0; i < 5; i++) {
        for (int round = 0; round < 50; round++) {
            stop_match m;
            fo_buf out = {0};
            assert_ok(stop_match_init(&m, stops, 3, &err), &err);
            size_t n = strlen(texts[i][0]);
            int met = 0;
            for (size_t at = 0; at < n && !met;) {
                size_t k = 1 + test_random(&seed) % 4;
                if (k > n - at) k = n - at;
                met = stop_match_push(&m, texts[i][0] + at, k, &out);
                at += k;
                /* What came out is always a prefix of what may come out. */
                assert_true(out.len <= strlen(texts[i][1]));
            }
            stop_match_end(&m, &out);
            fo_buf_str(&out, "");
            assert_string_equal(out.data, texts[i][1]);
            assert_int_equal(m.found, atoi(texts[i][2]));
            stop_match_deinit(&m);
            fo_buf_free(&out);
        }
    }
    /* Held for a long one that does not come, the text ends with a short one in it. */
    const char *nested[] = {"abcd", "bc"};
    stop_match m;
    fo_buf out = {0};
    assert_ok(stop_match_init(&m, nested, 2, &err), &err);
    assert_int_equal(stop_match_push(&m, "x abc", 5, &out), 0);
    assert_int_equal(stop_match_end(&m, &out), 1);
    assert_string_equal(out.data, "x a");
    assert_int_equal(m.found, 1);
    stop_match_deinit(&m);
    fo_buf_free(&out);
    const char *empty[] = {""};
    assert_int_equal(stop_match_init(&m, empty, 1, &err), FO_EINVAL);
}

static void text_behind_the_end_of_the_search_is_none(void **state) {
    (void)state;
    const char *const stops[] = {"}", "ab"};
    stop_match m;
    fo_buf out = {0};
    fo_err err = {0};
    assert_ok(stop_match_init(&m, stops, 2, &err), &err);
    assert_int_equal(stop_match_push(&m, "x a", 3, &out), 0);
    assert_int_equal(stop_match_cease(&m, &out), 0);
    assert_int_equal(stop_match_push(&m, "b {}", 4, &out), 0);
    assert_int_equal(stop_match_cease(&m, &out), 0);
    assert_int_equal(stop_match_end(&m, &out), 0);
    assert_string_equal(out.data, "x ab {}");
    stop_match_deinit(&m);
    fo_buf_free(&out);
}

static void a_stop_string_may_have_1024_bytes(void **state) {
    (void)state;
    static char longest[STOP_MATCH_BYTES + 2];
    const char *const stops[] = {"b", longest};
    stop_match m;
    fo_buf out = {0};
    fo_err err = {0};
    memset(longest, 'a', STOP_MATCH_BYTES);
    assert_ok(stop_match_init(&m, stops, 2, &err), &err);
    assert_int_equal(stop_match_push(&m, longest, STOP_MATCH_BYTES, &out), 1);
    assert_int_equal(m.found, 1);
    assert_int_equal(out.len, 0);
    stop_match_deinit(&m);
    fo_buf_free(&out);
    longest[STOP_MATCH_BYTES] = 'a';
    assert_int_equal(stop_match_init(&m, stops, 2, &err), FO_EINVAL);
    assert_string_equal(err.field, "stop");
    assert_non_null(strstr(err.msg, "1024 bytes"));
    stop_match_deinit(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stop_strings_are_found_however_the_text_is_cut),
        cmocka_unit_test(text_behind_the_end_of_the_search_is_none),
        cmocka_unit_test(a_stop_string_may_have_1024_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
