/* people_kinds.c: whom a price is for. */
#include "tests/test.h"

#include <string.h>

#include "retrieval/text/people_kinds.h"

static bool are_others(const char *question, const char *text) {
    return people_kinds_are_others(people_kinds_in(question, strlen(question)), text, strlen(text));
}

static void what_others_pay_is_another_price(void **state) {
    (void)state;
    static const char seniors[] = "What do seniors pay?", students[] = "the fee for students?";
    assert_true(are_others(seniors, "Adults pay 9.50, students 6.00, and children under 14 4.00."));
    assert_true(are_others(seniors, "Fare: Child 5-15; Single: 2.40"));
    assert_true(are_others(students, "Pensioners 7, adults 9"));
    assert_true(are_others("How much is a baby?", "Adults 9, pensioners 7"));
}

static void what_may_be_for_them_is_not(void **state) {
    (void)state;
    static const char seniors[] = "What do seniors pay?", children[] = "What do kids pay?";
    assert_false(are_others(seniors, "Adults 9, pensioners 7"));
    assert_false(are_others(seniors, "Adults 9, from 65 on 7"));
    assert_false(are_others(seniors, "Adults 9, 60+ 7"));
    assert_false(are_others(seniors, "Adults 9, reduced 7"));
    assert_false(are_others(seniors, "Children are free, everyone else pays 9."));
    assert_false(are_others(seniors, "Entry 9.50"));
    assert_false(are_others(children, "Adults 9, under 16 5"));
    assert_false(are_others(children, "Adults 9, pupils 5"));
    assert_false(are_others("What do students at school pay?", "Members 6, pupils 2"));
    assert_false(are_others("What does it cost?", "Adults 9"));
    assert_false(are_others("", ""));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_others_pay_is_another_price),
        cmocka_unit_test(what_may_be_for_them_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
