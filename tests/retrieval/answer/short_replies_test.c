/* short_replies_test.c - "Yes" and "No" are said with the question that they reply to, where it is not the one that was asked. */
#include "retrieval/answer/short_replies.h"

#include "tests/retrieval/text/lexicon_fixture.h"
#include "tests/test.h"

/* Of the unit that begins with `words`. */
static bool needs(const char *asked, const char *text, const char *words) {
    fo_err err = {0};
    candidate_set set = {0};
    const passage p = {.text = text, .len = strlen(text)};
    const extractive_input in = {.question = asked, .passages = &p, .n_passages = 1, .lx = &lx};
    int found = -1;
    assert_ok(candidate_set_read(&set, &in, &err), &err);
    for (size_t i = 0; i < set.n && found < 0; i++)
        if (!strncmp(text + set.c[i].unit.start, words, strlen(words)))
            found = short_reply_needs_its_question(&set.passages[0], &set.c[i].unit);
    candidate_set_deinit(&set);
    assert_true(found >= 0);
    return found;
}

static void a_reply_to_another_question_is_told(void **state) {
    (void)state;
    static const char text[] =
        "### Does the mill need a GPU?\n\nNo. The mill runs on any processor, and takes what it "
        "has, "
        "AVX2 or AMX.\n\n### Is the yard open on Sundays?\n\nOn Sundays the yard is shut.\n";
    assert_true(needs("Can I run the mill without AVX2?", text, "No. The mill"));
    assert_false(needs("Does the mill need a GPU?", text, "No. The mill"));
    assert_false(needs("When is the yard shut?", text, "On Sundays"));
    assert_true(
        needs("Darf der Hund in den Garten?",
              "## Dürfen Katzen in den Garten?\n\nJa, aber nur an der Leine, wie ein Hund.\n",
              "Ja, aber"));
    /* below no question */
    assert_false(needs("Can I run the mill without AVX2?",
                       "### GPU\n\nNo, the mill runs on any processor, AVX2 or AMX.\n", "No, the"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reply_to_another_question_is_told),
    };
    return cmocka_run_group_tests(tests, open_lexicon, close_lexicon);
}
