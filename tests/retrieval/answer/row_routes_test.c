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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_go_the_way_that_is_asked_for),
        cmocka_unit_test(a_row_that_denies_is_another_one),
        cmocka_unit_test(a_row_says_whether_it_has_what_a_column_is_called),
    };
    return cmocka_run_group_tests(tests, open_lexicon, close_lexicon);
}
