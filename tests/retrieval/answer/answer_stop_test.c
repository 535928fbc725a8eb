/* Stop strings: where an answer of the documents' own sentences ends before one, and which citations are left. */
#include "tests/test.h"

#include "retrieval/answer/answer_stop.h"
#include "retrieval/answer/extractive.h"
#include "tests/retrieval/text/lexicon_fixture.h"

static void a_stop_string_ends_what_is_said(void **state) {
    (void)state;
    static const char two[] = "Herons eat fish and frogs. They stand still for hours. Owls hunt "
                              "mice at night.";
    static const struct {
        const char *stop[2], *text;
        int which;
        size_t n_citations;
    } cases[] = {
        {{"[", "[1]"}, NULL, -1, 0}, /* markers are ours: nothing is said there */
        {{"frogs. They", "x"}, "Herons eat fish and [1]", 0, 1},
        {{"x", "stand still"}, "Herons eat fish and frogs. They [1]", 1, 1},
        {{"still for h", "for"}, "Herons eat fish and frogs. They stand [1]", 0, 1},
        {{"Herons", "fish"}, "", 0, 0},
    };
    const passage p = {two, strlen(two), "", 1, 0.9f, 9, false, false, 0, NULL, false, NULL};
    fo_err err = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        extractive_input in = {.question = "What do herons eat and how do they stand still?",
                               .passages = &p,
                               .n_passages = 1,
                               .lx = &lx,
                               .max_sentences = 2,
                               .min_support = -1};
        extractive_answer a;
        int which;
        assert_ok(extractive_answer_make(&a, &in, &err), &err);
        assert_string_equal(a.text, "Herons eat fish and frogs. They stand still for hours. [1]");
        assert_ok(answer_stop_apply(&a, &in, cases[i].stop, 2, &which, &err), &err);
        assert_int_equal(which, cases[i].which);
        if (cases[i].text) {
            assert_string_equal(a.text, cases[i].text);
            assert_int_equal(a.n_citations, cases[i].n_citations);
            for (size_t k = 0; k < a.n_citations; k++)
                assert_int_equal(a.citations[k].answer_end + 4, strlen(a.text));
        } else {
            assert_non_null(strstr(a.text, "[1]"));
        }
        extractive_answer_deinit(&a);
    }
}

/* Two quotes have a marker between them; a stop string may reach over it. */
static void a_stop_string_reaches_over_a_marker(void **state) {
    (void)state;
    static const passage p[] = {
        {"Herons eat fish.", 16, "", 1, 0.9f, 9, false, false, 0, NULL, false, NULL},
        {"Herons eat frogs, too.", 22, "", 0.9f, 0.9f, 8, false, false, 0, NULL, false, NULL}};
    static const char *const stops[] = {"fish. Herons", ", too"};
    static const char *const texts[] = {"Herons eat [1]",
                                        "Herons eat fish. [1] Herons eat frogs [2]"};
    fo_err err = {0};
    for (size_t i = 0; i < 2; i++) {
        extractive_input in = {.question = "What do herons eat?",
                               .passages = p,
                               .n_passages = 2,
                               .lx = &lx,
                               .max_sentences = 2,
                               .min_support = -1};
        extractive_answer a;
        int which;
        assert_ok(extractive_answer_make(&a, &in, &err), &err);
        assert_string_equal(a.text, "Herons eat fish. [1] Herons eat frogs, too. [2]");
        assert_ok(answer_stop_apply(&a, &in, &stops[i], 1, &which, &err), &err);
        assert_int_equal(which, 0);
        assert_string_equal(a.text, texts[i]);
        assert_int_equal(a.n_citations, i + 1);
        for (size_t k = 0; k < a.n_citations; k++) assert_true(a.citations[k].verified);
        extractive_answer_deinit(&a);
    }
}

/* Rows have a line each: that is what stands between them, for a stop string and in what is kept. */
static void a_stop_string_meets_the_ends_of_lines(void **state) {
    (void)state;
    static const char table[] = "| boat | licence |\n|---|---|\n| sloop | yes |\n"
                                "| canoe | no |\n| cutter | yes |\n";
    static const struct {
        const char *stop, *text;
        size_t n_citations;
    } cases[] = {
        {"\n", "boat: sloop; licence: yes [1]", 1},
        {" boat", NULL, 0}, /* no blank stands there */
        {"cutter; licence", "boat: sloop; licence: yes [1]\nboat: [2]", 2},
    };
    const passage p = {table, strlen(table), "", 1, 0.9f, 9, false, false, 0, NULL, false, NULL};
    const extractive_input in = {.question = "Which boats need a licence?",
                                 .passages = &p,
                                 .n_passages = 1,
                                 .lx = &lx,
                                 .min_support = -1};
    static const char whole[] = "boat: sloop; licence: yes [1]\nboat: cutter; licence: yes [2]";
    fo_err err = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        extractive_answer a;
        int which;
        assert_ok(extractive_answer_make(&a, &in, &err), &err);
        assert_string_equal(a.text, whole);
        assert_ok(answer_stop_apply(&a, &in, &cases[i].stop, 1, &which, &err), &err);
        assert_int_equal(which, cases[i].text ? 0 : -1);
        assert_string_equal(a.text, cases[i].text ? cases[i].text : whole);
        if (cases[i].text) assert_int_equal(a.n_citations, cases[i].n_citations);
        extractive_answer_deinit(&a);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stop_string_ends_what_is_said),
        cmocka_unit_test(a_stop_string_reaches_over_a_marker),
        cmocka_unit_test(a_stop_string_meets_the_ends_of_lines),
    };
    return cmocka_run_group_tests(tests, open_lexicon, close_lexicon);
}
