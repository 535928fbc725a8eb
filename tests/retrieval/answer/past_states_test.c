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

typedef struct said_case {
    const char *question, *text, *said, *never;
} said_case;

static void all_say(const said_case *cases, size_t n) {
    int failed = 0;
    for (size_t i = 0; i < n; i++)
        failed += !answer_says(cases[i].question, cases[i].text, cases[i].said, cases[i].never);
    assert_int_equal(failed, 0);
}

/* What stands below another number and names the one that is asked about is of that one; so is what comes after it. */
static void what_names_the_number_is_of_no_other(void **state) {
    (void)state;
    static const char rules[] = "# Rules of the boat house\n\n## Rule 4: Guests\n\nGuests pay 3 "
                                "euros a day. The fee is due "
                                "on arrival.\n\n## Rule 9: The board\n\nRule 4 may be changed by "
                                "the board alone. All other "
                                "rules need the meeting of members.\n";
    static const char lamp[] =
        "# Setting up the lamp\n\n## Step 1: Stand\n\nPut the stand on a table.\n\n## Step 2: Cable"
        "\n\nPush the cable through the hole. Pull it tight.\n\n## Step 3: Bulb\n\nScrew the bulb "
        "in "
        "when step 2 is done. The lamp flickers for two minutes after that.\n";
    static const char lines[] = "# Buses\n\n## Line 4\n\nLine 4 runs from the station to the "
                                "hospital. At Market Square you "
                                "can change to line 12.\n\n## Line 12\n\nLine 12 runs from Market "
                                "Square to the zoo twice an "
                                "hour.\n";
    static const double least = 0.4;
    assert_true(
        answer_surely_says("Who can change rule 4?", rules, "the board alone", "euros", least));
    assert_true(
        answer_surely_says("What do guests pay under rule 4?", rules, "3 euros", "meeting", least));
    assert_true(answer_surely_says("What do I have to do after step 2?", lamp, "Screw the bulb in",
                                   "stand", least));
    assert_true(answer_surely_says("How long does the lamp flicker after step 2?", lamp,
                                   "two minutes", "stand", least));
    assert_true(answer_surely_says("Where can I change to line 12?", lines, "At Market Square",
                                   "zoo", least));
}

/* How another thing is, or by another verb, does not say how that one is now. */
static void another_thing_in_the_present_says_nothing_of_it(void **state) {
    (void)state;
    static const char books[] = "# Archive\n\nSeed books were kept in the mill until they were "
                                "brought to the tower in 1998. "
                                "Paintings are kept in the school. Readers keep silent.\n";
    static const char choir[] =
        "# The choir\n\nThe choir was led by Ada Moen until she fell ill in 2020, and her deputy "
        "Ole "
        "Falk took over from her.\n\nThe back stairs lead to the room of the choir. The kitchen is "
        "led by Rosa Lund.\n";
    static const char tower[] =
        "# The tower\n\nThe tower was owned by the Lords of Lorn for 300 years. In 1990 the town "
        "bought it.\n\nThe meadow around the tower is owned by a farmer. The tower was used for "
        "drying hops.\n";
    static const said_case cases[] = {
        {"Where are the seed books kept today?", books, "to the tower in 1998", "Paintings"},
        {"Who leads the choir now?", choir, "Ole Falk", "stairs"},
        {"Who owns the tower today?", tower, "Lords of Lorn", "meadow"},
    };
    all_say(cases, sizeof cases / sizeof *cases);
}

/* The words in a sentence or before a noun say of no section that it is over, nor does a list of what each status means. */
static void a_word_alone_makes_no_section_superseded(void **state) {
    (void)state;
    static const char cash[] = "# Cash machines\n\n## Limits on cash withdrawn abroad\n\nAbroad "
                               "each payout costs 4 euros. At "
                               "most 400 euros can be had a day.\n\n## Limits at home\n\nAt home "
                               "payouts are free. At most "
                               "900 euros can be had a day at our own machines.\n";
    static const char permits[] =
        "# Permits of the harbour\n\n- Status: withdrawn. The holder has given the permit back.\n- "
        "Status: valid. The permit can be used.\n\nA permit costs 30 euros and is valid for a "
        "year. It "
        "has to be carried on board.\n\n## Fishing\n\nFishing from the pier costs 8 euros a day.\n";
    static const char inns[] = "# Inspections\n\n## Inn Mora\n\nStatus: licence withdrawn in 2021 "
                               "and given back in 2022.\n\n"
                               "The inn has 60 seats. The kitchen was inspected on 4 May.\n\n## "
                               "Hotel Lake\n\nThe hotel has "
                               "90 seats. The kitchen was inspected on 7 June.\n";
    static const said_case cases[] = {
        {"How much cash can I get a day abroad?", cash, "400 euros", "900"},
        {"How much does a permit cost?", permits, "30 euros", "8 euros"},
        {"When was the kitchen of the inn inspected?", inns, "4 May", "90 seats"},
    };
    all_say(cases, sizeof cases / sizeof *cases);
}

/* Who may have been wrong and who is told of an error report none, and what they are told of something else sets nothing right. */
static void only_own_words_are_set_right(void **state) {
    (void)state;
    static const char shop[] = "# Phone shop\n\nIf we named a wrong price, tell us within a week. "
                               "Repairs take three days.\n\nWe are told of an error in a bill by "
                               "letter. Calls are free.\n";
    static const char feast[] =
        "# The feast\n\nWe expected 200 guests at the feast. In fact the oven "
        "is from 1950.\n";
    static const char pay[] = "# Your pay\n\n## Corrections\n\nReport an error in your payslip to "
                              "the pay office within 30 "
                              "days. The error is put right with the next pay.\n\n## "
                              "Contact\n\nErrors can also be reported "
                              "by e-mail to pay@lorn.example, with your staff number.\n";
    static const said_case cases[] = {
        {"Until when do I tell the shop of a wrong price?", shop, "within a week", "Repairs"},
        {"How do I tell you of an error in my bill?", shop, "by letter", "Calls"},
        {"How many guests did you expect at the feast?", feast, "200 guests", "oven"},
        {"Where do I report an error in my pay?", pay, "by e-mail", "put right"},
    };
    all_say(cases, sizeof cases / sizeof *cases);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_holds_now_is_said_and_not_what_was),
        cmocka_unit_test(what_was_said_wrongly_is_said_with_what_is_right),
        cmocka_unit_test(what_names_the_number_is_of_no_other),
        cmocka_unit_test(another_thing_in_the_present_says_nothing_of_it),
        cmocka_unit_test(a_word_alone_makes_no_section_superseded),
        cmocka_unit_test(only_own_words_are_set_right),
    };
    return cmocka_run_group_tests(tests, open_reader, close_reader);
}
