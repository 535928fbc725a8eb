/* What is said beside the best sentence so that it is not half of the answer. */
#include "tests/test.h"

#include "retrieval/answer/extractive.h"
#include "tests/retrieval/answer/lexicon_fixture.h"

static void answers(const char *text, const char *question, const char *want) {
    extractive_answer a;
    fo_err err = {0};
    const passage p = {.text = text, .len = strlen(text), .title = "Rules"};
    const extractive_input in = {.question = question,
                                 .passages = &p,
                                 .n_passages = 1,
                                 .lx = &lx,
                                 .max_sentences = 2,
                                 .min_support = -1};
    assert_ok(extractive_answer_make(&a, &in, &err), &err);
    if (strncmp(a.text, want, strlen(want)) != 0) fail_msg("%s: %s", question, a.text);
    extractive_answer_deinit(&a);
}

static void an_exception_stands_behind_its_rule(void **state) {
    (void)state;
    static const char rules[] = "Guests pay in advance. Alcohol and parking fines are not paid. "
                                "First class by rail is fine if "
                                "it was cheaper. Keep the receipt.";
    answers(
        rules, "May I go first class by rail?",
        "Alcohol and parking fines are not paid. First class by rail is fine if it was cheaper. "
        "[1]");
    static const char flat[] = "Please leave the flat by 10 am. In August we make no exceptions to "
                               "that. The pool closes at nine.";
    answers(flat, "Are there exceptions in August?",
            "Please leave the flat by 10 am. In August we make no exceptions to that. [1]");
    /* a rule alone is whole */
    answers("The kitchen is shared. Dogs are allowed on a lead. Cats stay at home.",
            "Are dogs allowed?", "Dogs are allowed on a lead.");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_exception_stands_behind_its_rule),
    };
    return cmocka_run_group_tests(tests, open_lexicon, close_lexicon);
}
