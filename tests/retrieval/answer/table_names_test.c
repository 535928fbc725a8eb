/* table_names_test.c - sentences about another row or column of a table than the question names. */
#include "retrieval/answer/table_names.h"

#include "tests/retrieval/text/lexicon_fixture.h"
#include "tests/test.h"

static const char *const plans = "Plan | Availability | Credit\nStarter | none | none\nBusiness | "
                                 "99.9 % | 10 %\nEnterprise | 99.95 % | 25 %\n";

/* Does the sentence, in a passage of its own beside the table, speak of another thing? */
static void expect(const char *asked, const char *table, const char *sentence, bool other) {
    fo_err err = {0};
    candidate_set set = {0};
    const passage p[] = {
        {.text = table, .len = strlen(table), .title = "Agreement", .document = "a"},
        {.text = sentence, .len = strlen(sentence), .title = "Agreement", .document = "a"},
    };
    const extractive_input in = {.question = asked, .passages = p, .n_passages = 2, .lx = &lx};
    assert_ok(candidate_set_read(&set, &in, &err), &err);
    size_t n = 0;
    for (size_t i = 0; i < set.n; i++) {
        if (set.c[i].passage != 1) continue;
        n++;
        if ((set.c[i].f[CAND_OTHER_THING] > 0) != other)
            fail_msg("%s: '%s' is%s of another thing", asked, sentence, other ? " not" : "");
    }
    assert_true(n > 0);
    candidate_set_deinit(&set);
}

static void a_sentence_about_another_row_is_no_answer(void **state) {
    (void)state;
    expect("What do you promise Business customers?", plans,
           "Enterprise customers are back within an hour.", true);
    expect("What do you promise Business customers?", plans,
           "Business and Enterprise customers are back within an hour.", false);
    expect("What do you promise Business customers?", plans, "All customers are back within a day.",
           false);
    expect("What do you promise customers?", plans, "Enterprise customers are back within an hour.",
           false); /* none was named */
    expect("Do Business and Enterprise customers differ?", plans,
           "Enterprise customers are back within an hour.", false); /* both were */
}

static void columns_are_told_apart_too(void **state) {
    (void)state;
    static const char *const rooms = "Room | Dorm | Cabin | Loft\nBeds | 8 | 2 | 4\n"
                                     "Linen | extra | free | free\n";
    expect("May dogs sleep in the loft?", rooms, "Dogs are not allowed in the dorm.", true);
    expect("May dogs sleep in the loft?", rooms, "Dogs are not allowed in the house.", false);
}

/* Who pays what says nothing of who may do what. */
static void a_table_of_sums_tells_sums_apart(void **state) {
    (void)state;
    static const char *const prices = "Who | Price\nAdults | 6 euros\nChildren | 3 euros\n";
    static const char *const rule = "Under eights must have adults with them in the water.";
    expect("Can children swim alone?", prices, rule, false);
    expect("How much do children pay?", prices, "Adults pay 5 euros on Fridays.", true);
}

static void what_things_have_is_no_name(void **state) {
    (void)state;
    static const char *const facts = "Place | harbour\nPrice | 5 euros\nSkipper | Ann Lee\n";
    expect("What is the price of the trip?", facts, "The place is told a day before.", false);
    static const char *const hours = "day | open\nMonday | 9-12\nTuesday | closed\n";
    expect("Who sits there on Monday?", hours, "Ann sits there on Tuesday.", false);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sentence_about_another_row_is_no_answer),
        cmocka_unit_test(columns_are_told_apart_too),
        cmocka_unit_test(a_table_of_sums_tells_sums_apart),
        cmocka_unit_test(what_things_have_is_no_name),
    };
    return cmocka_run_group_tests(tests, open_lexicon, close_lexicon);
}
