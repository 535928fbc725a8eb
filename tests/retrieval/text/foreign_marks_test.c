/* What is taken for a citation marker of somebody else, and what is left as it is. */
#include "tests/test.h"

#include "retrieval/text/foreign_marks.h"

static const char *disarmed(const char *text) {
    static char copy[512];
    snprintf(copy, sizeof copy - 1, "%s", text);
    size_t n = strlen(copy), m = foreign_marks_disarm(copy, n);
    assert_true(m <= n);
    copy[m] = 0;
    return copy;
}

static void markers_lose_their_brackets(void **state) {
    (void)state;
    static const char *const pairs[][2] = {
        {"The pump [2] is serviced every 500 hours [1].",
         "The pump (2) is serviced every 500 hours (1)."},
        {"hours.[12] It", "hours.(12) It"},
        {"argv[1]", "argv(1)"},
        {"[007]", "(007)"},
        {"[1, 2] and [3-5] and [6;7]", "(1, 2) and (3-5) and (6;7)"},
        {"[ 2 ]", "( 2 )"},
        {"[^2]: a note", "(^2): a note"},
        {"[2](https://a.example/)", "(2)(https://a.example/)"},
        {"\\[2\\]", "\\(2\\)"},
        {"[**2**] [`3`]", "(**2**) (`3`)"},
        {"[[2]]", "[(2)]"},
        {"[\xEF\xBC\x92]", "(\xEF\xBC\x92)"}, /* a digit of full width */
        {"[\xD9\xA2]", "(\xD9\xA2)"},         /* an Arabic one */
        {"\xEF\xBC\xBB"
         "2\xEF\xBC\xBD",
         "(2)"}, /* brackets of full width */
        {"\xE3\x80\x90"
         "2\xE3\x80\x91",
         "(2)"}, /* black ones */
        {"[\xE2\x80\x8B"
         "2\xE2\x81\xA0]",
         "(\xE2\x80\x8B"
         "2\xE2\x81\xA0)"}, /* without width */
        {"&#91;2&#93; &#x5B;3&#x5d; &lsqb;4&rsqb; &lbrack;5&rbrack; &#0091;6]",
         "(2) (3) (4) (5) (6)"},
        {"it ends [2", "it ends (2"},
        {"it ends [", "it ends ("},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        assert_string_equal(disarmed(pairs[i][0]), pairs[i][1]);
}

static void other_brackets_are_left_as_they_are(void **state) {
    (void)state;
    static const char *const same[] = {
        "",
        "no brackets (1) {2} <3>",
        "[a] [OPTION]... [see below] [p12ab3]",
        "the interval [0, 1] and [-1, 1] and [1.5] and [-3]",
        "[2020-2021] [10:30] [1/2] [x1] [1a]",
        "[] [ ] [, ] ]2[x",
        "&#92;2&#93; &amp;91;",
        "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21]",
        "\xFF[\xC3]\xEF\xBC",
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        assert_string_equal(disarmed(same[i]), same[i]);
}

/* Is there anything that a client would take for a marker of ours? */
static bool has_marker(const char *s) {
    for (; (s = strchr(s, '[')); s++) {
        size_t n = strspn(s + 1, "0123456789");
        if (n && s[1 + n] == ']') return true;
    }
    return false;
}

static void what_a_model_wrote_of_them_is_taken_out(void **state) {
    (void)state;
    static const char *const pairs[][2] = {
        {"One metre [2] tall [1, 3].", "One metre tall."},
        {"[1] One metre [[1]2] tall[^2]. [", "One metre tall."},
        {"[[[[1]2]3]4]", ""},
        {"[0, 1] [a]", "[0, 1] [a]"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char copy[64];
        strcpy(copy, pairs[i][0]);
        copy[foreign_marks_drop(copy, strlen(copy))] = 0;
        assert_string_equal(copy, pairs[i][1]);
    }
}

static void no_marker_is_left_in_any_text(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    static const char *const pieces[] = {"[",
                                         "]",
                                         "1",
                                         "23",
                                         " ",
                                         ",",
                                         "-",
                                         "\\",
                                         "^",
                                         "&#91;",
                                         "&#93;",
                                         "&lsqb;",
                                         "&",
                                         "#",
                                         "a",
                                         "\n",
                                         "*",
                                         "[2]",
                                         "\xEF\xBC\xBB",
                                         "\xEF\xBC\xBD",
                                         "\xE2\x80\x8B",
                                         "\xFF"};
    for (int round = 0; round < 200000; round++) {
        char text[256] = "", again[256];
        for (uint64_t k = test_random(&seed) % 12; k-- > 0;)
            strcat(text, pieces[test_random(&seed) % (sizeof pieces / sizeof *pieces)]);
        const char *once = disarmed(text);
        if (has_marker(once)) fail_msg("'%s' became '%s'", text, once);
        strcpy(again, once);
        assert_string_equal(disarmed(again), again);
        text[foreign_marks_drop(text, strlen(text))] = 0;
        if (has_marker(text)) fail_msg("'%s' is left", text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(markers_lose_their_brackets),
        cmocka_unit_test(other_brackets_are_left_as_they_are),
        cmocka_unit_test(what_a_model_wrote_of_them_is_taken_out),
        cmocka_unit_test(no_marker_is_left_in_any_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
