/* question_test.c - version numbers of a question, for which another version is no answer. */
#include "tests/test.h"

#include <string.h>

#include "retrieval/answer/question.h"
#include "tests/retrieval/answer/lexicon_fixture.h"

static bool versions_in(const char *asked, const char *text, const char *title) {
    question q = {0};
    fo_err err = {0};
    assert_ok(question_read(&q, &lx, asked, strlen(asked), &err), &err);
    bool all = question_versions_in(&q, text, text ? strlen(text) : 0, title);
    question_deinit(&q);
    return all;
}

static void another_version_is_told_apart(void **state) {
    (void)state;
    static const struct {
        const char *question, *text, *title;
        bool in;
    } cases[] = {
        {"When is version 4.4 released?", "Version 4.2 is out.", "Releases", false},
        {"When is version 4.4 released?", "Version 4.4 comes in May.", "Releases", true},
        {"When is version 4.4 released?", "It comes in May.", "Release 4.4", true},
        {"When is version 4.4 released?", "Version 14.4 comes in May.", NULL, false},
        {"When is version 4.4 released?", "Version 4.4.1 comes in May.", NULL, false},
        {"When is version 4.4 released?", "In May comes 4.4.", NULL, true},
        {"Is 10.2.1 newer than 9.8?", "10.2.1 replaces 9.8", NULL, true},
        {"Is 10.2.1 newer than 9.8?", "10.2.1 replaces 9.7", NULL, false},
        {"How many of the 42 boats leak?", "None.", NULL, true}, /* a plain number is none */
        {"Who wrote it in 1861.", "", "", true},
        {"What is 4.4?", NULL, NULL, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (versions_in(cases[i].question, cases[i].text, cases[i].title) != cases[i].in)
            fail_msg("%s in %s", cases[i].question, cases[i].text);
}

static void many_versions_are_bounded(void **state) {
    (void)state;
    char asked[400] = "";
    for (int i = 0; i < 40; i++) sprintf(asked + strlen(asked), "1.%d ", i);
    assert_true(versions_in(asked, asked, NULL));
    assert_false(versions_in(asked, "1.1 1.2", NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_version_is_told_apart),
        cmocka_unit_test(many_versions_are_bounded),
    };
    return cmocka_run_group_tests(tests, open_lexicon, close_lexicon);
}
