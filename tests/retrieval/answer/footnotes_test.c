/* footnotes_test.c - a row or an item is said with the note that it has a sign of. */
#include "retrieval/answer/footnotes.h"

#include "tests/retrieval/text/lexicon_fixture.h"
#include "tests/test.h"

/* The answer, to be freed. */
static char *answer(const char *asked, const char *text) {
    const passage p = {.text = text, .len = strlen(text), .title = "", .sparse = 9, .dense = 0.9f};
    extractive_answer a;
    fo_err err = {0};
    assert_ok(extractive_answer_make(&a,
                                     &(extractive_input){.question = asked,
                                                         .passages = &p,
                                                         .n_passages = 1,
                                                         .lx = &lx,
                                                         .max_sentences = 3,
                                                         .min_support = 0},
                                     &err),
              &err);
    char *said = strdup(a.text);
    extractive_answer_deinit(&a);
    return said;
}

static void expect(const char *asked, const char *text, const char *words, bool there) {
    char *said = answer(asked, text);
    if ((strstr(said, words) != NULL) != there) fail_msg("%s: %s", asked, said);
    free(said);
}

static void a_row_is_said_with_its_note(void **state) {
    (void)state;
    static const char times[] = "Month | Last car up | Last car down\nAugust | 17.30 | 18.00\n"
                                "September | 16.30 | 17.00*\n\n"
                                "* On Fridays 21.00, for guests.\n\nDogs are welcome.\n";
    expect("When does the last car go down in September?", times, "On Fridays 21.00", true);
    expect("When does the last car go down in August?", times, "On Fridays 21.00", false);
}

static void raised_digits_are_met_however_they_were_left(void **state) {
    (void)state;
    static const char glass[] = "- Mount: 9 euros\n- Matt glass: add 30 %1\n\n"
                                "Framing takes ten days.\n\n1 Not above size A2.\n";
    expect("What is added for matt glass?", glass, "Not above size A2", true);
    expect("What does a mount cost?", glass, "Not above size A2", false);
    static const char caret[] = "- Mount: 9 euros\n- Matt glass: 30^2 euros\n\n"
                                "Framing takes ten days.\n\n2 Not above size A2.\n";
    expect("What does matt glass cost?", caret, "Not above size A2", true);
}

static void bullets_and_emphasis_are_no_signs(void **state) {
    (void)state;
    static const char list[] = "Fee | Euros\nCall | 30*\nVisit | 40\n\n"
                               "* Studs are fitted on Mondays.\n* Pads are fitted on Fridays.\n";
    expect("What is the fee for a call?", list, "fitted", false);
    static const char bold[] = "Fee | Euros\n**Call** | 30\nVisit | 40\n\n* Cash or transfer.\n";
    expect("What is the fee for a call?", bold, "Cash", false);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_is_said_with_its_note),
        cmocka_unit_test(raised_digits_are_met_however_they_were_left),
        cmocka_unit_test(bullets_and_emphasis_are_no_signs),
    };
    return cmocka_run_group_tests(tests, open_lexicon, close_lexicon);
}
