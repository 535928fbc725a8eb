/* strange_support_test.c - support where the reader has not learnt the language. */
#include "retrieval/text/strange_support.h"

#include <math.h>

#include "tests/test.h"

static double of(const support_features *f, double type_near, double ahead) {
    return strange_support(support_probability(f), f, type_near, ahead);
}

/* Two units at which words of a question meet: one reads alike besides, in the other they stand side by side. */
static const support_features alike = {.cover_near = 0.5,
                                       .lead = 0.9,
                                       .bm25 = 0.3,
                                       .align = 0.5,
                                       .back = 0.32,
                                       .dense = NAN,
                                       .cross = NAN},
                              beside = {.cover_near = 0.5,
                                        .lead = 0.9,
                                        .bm25 = 0.4,
                                        .pairs = 0.5,
                                        .align = 0.33,
                                        .back = 0.32,
                                        .dense = NAN,
                                        .cross = NAN};

static void words_that_meet_say_more_than_letters_that_are_alike(void **state) {
    (void)state;
    assert_true(support_probability(&alike) > support_threshold);
    assert_true(support_probability(&beside) < support_threshold);
    assert_true(of(&alike, 0, 0.1) < support_probability(&alike));
    assert_true(of(&beside, 0.3, 1) > support_threshold);
}

static void what_is_asked_for_and_a_lead_speak_for_an_answer(void **state) {
    (void)state;
    const double plain = of(&beside, 0, 0.5);
    assert_true(of(&beside, 0.5, 0.5) > plain);
    assert_true(of(&beside, 0, 2) > plain);
    assert_true(of(&beside, 0, INFINITY) == of(&beside, 0, 4));
}

static void what_is_no_answer_stays_none(void **state) {
    (void)state;
    support_features f = beside;
    f.missing_code = 1;
    assert_true(of(&f, 1, 4) < 0.01);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_that_meet_say_more_than_letters_that_are_alike),
        cmocka_unit_test(what_is_asked_for_and_a_lead_speak_for_an_answer),
        cmocka_unit_test(what_is_no_answer_stays_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
