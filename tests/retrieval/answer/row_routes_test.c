/* row_routes.c, row_opposites.c and row_keys.c: the way back, the opposite and other plans are not what was asked about. */
#include "retrieval/answer/row_routes.h"

#include "retrieval/answer/row_keys.h"
#include "retrieval/answer/row_opposites.h"
#include "tests/retrieval/text/lexicon_fixture.h"
#include "tests/test.h"

/* Of each row: '+' picked, '-' set apart as a rival, '.' neither. */
static void expect(const char *asked, const char *table, const char *rows) {
    fo_err err = {0};
    candidate_set set = {0};
    char got[32] = "";
    size_t n = 0;
    const passage p = {.text = table, .len = strlen(table), .title = "Table", .document = "a"};
    const extractive_input in = {.question = asked, .passages = &p, .n_passages = 1, .lx = &lx};
    assert_ok(candidate_set_read(&set, &in, &err), &err);
    for (size_t i = 0; i < set.n && n + 1 < sizeof got; i++) {
        const candidate *c = &set.c[i];
        if (c->unit.kind != TEXT_UNIT_ROW) continue;
        got[n++] = c->f[CAND_BY_TABLE] > 0 ? '+' : c->f[CAND_OTHER_THING] >= CAND_RIVAL ? '-' : '.';
    }
    got[n] = 0;
    candidate_set_deinit(&set);
    if (strcmp(got, rows)) fail_msg("%s: %s, not %s", asked, got, rows);
}

static void rows_go_the_way_that_is_asked_for(void **state) {
    (void)state;
    static const char flights[] = "Flight | From | To | Departs | Arrives | Seats\n"
                                  "NB 1 | Leeds | Oslo | 10:25 | 13:35 | 14A\n"
                                  "NB 2 | Oslo | Bergen | 15:40 | 17:10 | 9C\n"
                                  "NB 3 | Bergen | Oslo | 09:05 | 10:35 | 11A\n"
                                  "NB 4 | Oslo | Leeds | 12:50 | 14:10 | 21A\n";
    expect("Which seats do we have on the flight from Bergen to Oslo?", flights, "--+-");
    expect("Which seats do we have on the flight to Oslo from Bergen?", flights, "--+-");
    expect("What time do we land in Oslo?", flights, "+-+-");
    expect("What time does the flight leave Oslo for Leeds?", flights, "---+");
    expect("When do we arrive at Bergen?", flights, "-+--");
    expect("Which seats do we have to Rome?", flights, "....");
    expect("Who is the pilot from Bergen to Oslo?", flights, "--.-"); /* no column of pilots */
    static const char prices[] = "Place | Price\nOslo | 20 EUR\nBergen | 30 EUR\n";
    expect("What does a trip from Oslo to Bergen cost?", prices, "..");
    static const char hours[] = "Day | From | To\nMonday | 8 | 12\nTuesday | 8 | 12\n"
                                "Friday | 14 | 18\n";
    expect("Is the surgery open on Tuesday from 8 to 12?", hours, "...");
    expect("Is the surgery open from Monday to Friday?", hours, "...");
    static const char courses[] = "Course | From | To | Room\nYoga | 9:00 | 11:00 | Blue\n"
                                  "Judo | 14:00 | 16:00 | Green\n";
    expect("In which room is yoga from 9:00 to 11:00?", courses, "..");
}

static void a_row_that_denies_is_another_one(void **state) {
    (void)state;
    static const char houses[] = "House | Saved\nOld, not insulated | 11 %\nOld, insulated | 6 %\n"
                                 "Built after 2000 | 2 %\n";
    expect("How much is saved in an old insulated house?", houses, "-..");
    expect("How much is saved in an old house that is not insulated?", houses, ".-.");
    expect("How much is saved in an old house that isn't insulated?", houses, ".-.");
    expect("How much is saved in an old uninsulated house?", houses, ".-.");
    expect("How much is saved in an old house without insulation?", houses, ".-.");
    expect("How much is saved in an old house?", houses, "...");
    expect("Do insulated houses save more than houses not insulated?", houses, "...");
    static const char fees[] = "Who | Fee\nMembers | 5 EUR\nNon-members | 9 EUR\n";
    expect("What fee do members pay?", fees, ".-");
    expect("What fee do non-members pay?", fees, "-.");
    expect("Why don't members pay?", fees, ".-");
    static const char books[] = "Case | Fee\nLate return | 0.50 EUR\nReturn in time | 0 EUR\n"
                                "Lost book | 20 EUR\n";
    expect("What is the fee if I do not return a book on time?", books, "...");
    expect("What is the fee if I did not return a book?", books, "...");
    static const char limits[] = "Night | Limit\nIn London | 160\nNot in London | 120\n";
    expect("What is the limit of a night outside London?", limits, "-.");
    static const char alone[] = "Who | Fee\nGuests | 5 EUR\nNon-members | 9 EUR\n";
    expect("What fee do members pay?", alone, ".."); /* none says it without the denial */
}

static void a_row_says_whether_it_has_what_a_column_is_called(void **state) {
    (void)state;
    static const char plans[] = "Membership | Pool and sauna | Guests\nFlex | no | none\n"
                                "Classic | pool only | 1 a month\nPremium | both | 4 a month\n";
    expect("Does the premium membership include the sauna?", plans, "..+");
    expect("Does the flex membership include the sauna?", plans, "+..");
    expect("Does the premium membership include the garage?", plans, "...");
    expect("What does the premium membership cost?", plans, "...");
}

static void a_key_is_found_by_what_stands_beside_it(void **state) {
    (void)state;
    static const char named[] = "Exit code | Meaning\n10 | Repository does not exist\n"
                                "11 | Failed to lock repository (since 0.17.0)\n"
                                "12 | Wrong password (since 0.17.1)\n";
    expect("Which exit code is given for a wrong password?", named, "..+");
    expect("What exit code is returned if it failed to lock the repository?", named, ".+.");
    expect("Which exit code is given for a wrong user?", named, "...");
    expect("Where do I change a wrong password?", named, "...");
    expect("What do I do about a wrong password?", named, "...");
    static const char headed[] = "# Exit codes\n\n| 0 | Command was successful |\n"
                                 "| 11 | Failed to lock repository |\n| 12 | Wrong password |\n";
    expect("What exit code is given for a wrong password?", headed, "..+");
    expect("What colour is given for a wrong password?", headed, "...");
    static const char prose[] =
        "Exit codes\n\nThe commands return an exit code.\n\n0 | Command was successful\n"
        "2 | Error of the runtime\n12 | Wrong password (since restic 0.17.1)\n";
    expect("what exit code does restic give for a wrong password?", prose, "..+");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_go_the_way_that_is_asked_for),
        cmocka_unit_test(a_row_that_denies_is_another_one),
        cmocka_unit_test(a_row_says_whether_it_has_what_a_column_is_called),
        cmocka_unit_test(a_key_is_found_by_what_stands_beside_it),
    };
    return cmocka_run_group_tests(tests, open_lexicon, close_lexicon);
}
