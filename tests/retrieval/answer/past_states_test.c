/* past_states_test.c - what is over is not given for what holds: states of the past, superseded sections, those of other numbers,
 * reports that are corrected, counts that have gone up. With the reader inside the binary. */
#include "tests/retrieval/answer/reader_fixture.h"

static const char notes[] =
    "Note 12: Where the keys are\n\nStatus: accepted, supersedes Note 5\n\nContext\n\n"
    "Keys of the boat house were kept in the kitchen drawer (Note 5). Then three of them were "
    "lost.\n\nDecision\n\nWe keep keys in the steel safe. The lending time of a key is 2 hours at "
    "most.\n\nOptions\n\nIda preferred the wooden cupboard for the sake of its looks. The "
    "committee "
    "decided against it because of the damp.\n\n"
    "Note 5: Where the keys are (superseded)\n\nDecision\n\nWe keep keys in the kitchen drawer. "
    "The "
    "lending time of a key is 6 hours at most.\n\nConsequences\n\n- The wooden cupboard was "
    "rejected "
    "at the time, because nobody had a lock for it.\n";

static void what_holds_now_is_said_and_not_what_was(void **state) {
    (void)state;
    static const char firm[] = "The director responsible, Harald Moen, had to go in 1995; under "
                               "his successor, Yva Cast, 340 "
                               "jobs were cut. She stayed until 2011. Since then the pump works "
                               "have been led by Dr Omar Lind, "
                               "who came from research.";
    static const struct {
        const char *question, *text, *said, *never;
    } cases[] = {
        {"Where are the keys of the boat house kept now?", notes, "steel safe", "drawer"},
        {"Where are the keys of the boat house at present?", notes, "steel safe", "drawer"},
        {"Where were the keys of the boat house kept before?", notes, "drawer", "steel safe"},
        {"Who runs the pump works at present?", firm, "Omar Lind", "Yva Cast"},
        {"Who runs the pump works these days?", firm, "Omar Lind", "Yva Cast"},
        /* a number binds, and what is superseded is not said beside what holds */
        {"What is the lending time of a key according to Note 12?", notes, "2 hours", "6 hours"},
        {"What is the lending time of a key according to Note 5?", notes, "6 hours", "2 hours"},
        {"Why was the wooden cupboard not chosen?", notes, "because of the damp",
         "nobody had a lock"},
    };
    int failed = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        failed += !answer_says(cases[i].question, cases[i].text, cases[i].said, cases[i].never);
    assert_int_equal(failed, 0);
}

static void what_was_said_wrongly_is_said_with_what_is_right(void **state) {
    (void)state;
    static const char paper[] =
        "The bridge\n\nNobody was hurt when the bridge fell. The police are not looking for the "
        "driver.\n\nCorrection\n\nIn our report we wrote that the police were not looking for the "
        "driver. "
        "In fact a search began on 16 May. We also gave the engineer of the bridge as Rolf Holm. "
        "Mr Holm "
        "retired in spring; the engineer is Birte Sand.";
    static const char talk[] = "The club expected that the pier would open in June. In fact it "
                               "opened in August. Boats are "
                               "painted in spring.";
    static const char counts[] =
        "14 May 2024\n\nAt least 43 people have fallen ill after the fair in the park.\n\n"
        "18 May 2024\n\nThe cause was the eggs. The number of people who fell ill has gone up to "
        "61; "
        "eleven were treated in hospital.";
    static const struct {
        const char *question, *text, *said, *never;
    } cases[] = {
        {"Are the police looking for the driver?", paper, "for the driver. In fact a search began",
         "Nobody"},
        {"Who is the engineer of the bridge?", paper, "the engineer is Birte Sand", "Nobody"},
        {"When did the club expect the pier to open?", talk, "June. In fact it opened in August",
         "painted"},
        {"How many people fell ill in total after the fair?", counts, "gone up to 61", "43"},
    };
    int failed = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        failed += !answer_says(cases[i].question, cases[i].text, cases[i].said, cases[i].never);
    assert_int_equal(failed, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_holds_now_is_said_and_not_what_was),
        cmocka_unit_test(what_was_said_wrongly_is_said_with_what_is_right),
    };
    return cmocka_run_group_tests(tests, open_reader, close_reader);
}
