/* demand_when.c: who asks when something happens, and what may say it. */
#include "tests/test.h"

#include <string.h>

#include "retrieval/question/demand_when.h"

static bool asked(const char *q) {
    return demand_when_asked(q, strlen(q));
}

static bool in(const char *text) {
    return demand_when_in(text, strlen(text));
}

static void an_event_has_a_time_and_a_rule_a_case(void **state) {
    (void)state;
    assert_true(asked("When does Uncle Fergus arrive?"));
    assert_true(asked("And when did she marry?"));
    assert_true(asked("When will the mast be repaired?"));
    assert_true(asked("When is the practical test?"));
    assert_false(asked("When should I rebase?"));
    assert_false(asked("When is the cache emptied?"));
    assert_false(asked("When is a deposit kept?"));
    assert_false(asked("Where does it start?"));
}

static void a_time_is_said_by_a_number_a_word_or_an_order(void **state) {
    (void)state;
    assert_true(in("We meet at eight."));
    assert_true(in("It opens on the 14th."));
    assert_true(in("It is held after the harvest."));
    assert_true(in("It comes up with the tide."));
    assert_true(in("Mondays"));
    assert_true(in("A date for this will be agreed."));
    assert_false(in("Uncle Fergus is flying in from Halifax."));
    assert_false(in("She married Ann; two daughters."));
    assert_false(in("Practical test, our fee: 190 EUR"));
    assert_false(in("It costs \u00A35 and weighs 3 kg."));
}

static void a_heading_says_it_by_a_date_alone(void **state) {
    (void)state;
    const char *dated = "2026-08-12, the cliff", *asks = "Did they say which day?";
    assert_true(demand_when_named(dated, strlen(dated)));
    assert_false(demand_when_named(asks, strlen(asks)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_event_has_a_time_and_a_rule_a_case),
        cmocka_unit_test(a_time_is_said_by_a_number_a_word_or_an_order),
        cmocka_unit_test(a_heading_says_it_by_a_date_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
