/* What a number means as an exit status, its entry tells. */
#include "tests/test.h"

#include "retrieval/answer/extractive.h"
#include "tests/retrieval/text/lexicon_fixture.h"

/* Is the answer this? */
static void is(const char *title, const char *text, const char *question, const char *expected) {
    extractive_answer a;
    fo_err err = {0};
    const passage p = {.text = text, .len = strlen(text), .title = title};
    const extractive_input in = {.question = question, .passages = &p, .n_passages = 1, .lx = &lx};
    assert_ok(extractive_answer_make(&a, &in, &err), &err);
    if (strcmp(a.text, expected) != 0) fail_msg("%s: %s", question, a.text);
    for (size_t i = 0; i < a.n_citations; i++) assert_true(a.citations[i].verified);
    extractive_answer_deinit(&a);
}

static const char title[] = "tollget - fetch files from a toll";

static void an_entry_begins_with_the_number(void **state) {
    (void)state;
    static const char items[] =
        "Files that the daemon leaves out are skipped with an error message (exit code 23).\n\n"
        "EXIT VALUES\n\n- 0 - Success\n- 2 - Wrong protocol\n- 23 - Partial transfer\n"
        "- 30 - Timeout\n";
    is(title, items, "exit code 23 tollget meaning", "- 23 - Partial transfer [1]");
    is(title, items, "What does exit status 2 of tollget mean?", "- 2 - Wrong protocol [1]");
    is(title, items, "tollget returned 30, what happened?", "- 30 - Timeout [1]");
    static const char terms[] = "DESCRIPTION\n\nIt reads 8 files at most.\n\n"
                                "The exit status is the sum of these:\n\n0\nNo errors\n\n1\nErrors "
                                "corrected\n\n8\nOperational error\n";
    is(title, terms, "tollget exit code 1", "1 Errors corrected [1]");
    is(title, terms, "what does error 8 of tollget mean", "8 Operational error [1]");
}

static void a_sentence_says_when_it_is_so(void **state) {
    (void)state;
    static const char text[] = "EXIT STATUS\n\nNormally it is 0 if a toll is paid, 1 if it is "
                               "free, and 2 if nobody answers.\n";
    is(title, text, "tollget exit code 1",
       "Normally it is 0 if a toll is paid, 1 if it is free, and 2 if nobody answers. [1]");
}

static void other_numbers_are_left_alone(void **state) {
    (void)state;
    static const char text[] = "EXIT VALUES\n\n- 2 - Wrong protocol\n- 3-byte files are lost\n\n"
                               "OPTIONS\n\nLengths:\n\n- 23 - Long\n";
    extractive_answer a;
    fo_err err = {0};
    static const char *const asked[] = {
        "How do I exit with code 2 from tollget?", /* to be done, not met */
        "exit code 4 of tollget",                  /* has no entry */
        "exit code 23 of tollget",                 /* below another heading */
        "exit code 3 of tollget",                  /* so many bytes */
        "exit code 2 of fetchmail",                /* another command */
        "Is exit code 2 or 3 of tollget worse?",
    };
    const passage p = {.text = text, .len = strlen(text), .title = title};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        const extractive_input in = {
            .question = asked[i], .passages = &p, .n_passages = 1, .lx = &lx};
        assert_ok(extractive_answer_make(&a, &in, &err), &err);
        if (a.support >= 0.9) fail_msg("%s: %s", asked[i], a.text);
        extractive_answer_deinit(&a);
    }
    /* no page of a command, though it says the same */
    const passage notes = {.text = text, .len = strlen(text), .title = "Notes"};
    const extractive_input in = {
        .question = "exit code 2 of tollget", .passages = &notes, .n_passages = 1, .lx = &lx};
    assert_ok(extractive_answer_make(&a, &in, &err), &err);
    assert_true(a.support < 0.9);
    extractive_answer_deinit(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_entry_begins_with_the_number),
        cmocka_unit_test(a_sentence_says_when_it_is_so),
        cmocka_unit_test(other_numbers_are_left_alone),
    };
    return cmocka_run_group_tests(tests, open_lexicon, close_lexicon);
}
