/* support_test.c - what by-hand rules of the support move, each beside the same features without it. */
#include "retrieval/text/support.h"

#include <math.h>

#include "tests/test.h"

/* Of texts in Arabic: the question's commoner half is met by a column's name. */
static support_features by_a_column(void) {
    return (support_features){.cover = 0.3,
                              .cover_near = 0.3,
                              .lead = 1,
                              .dense = NAN,
                              .align = NAN,
                              .cross = NAN,
                              .other_script = true};
}

static void a_row_in_which_nothing_is_of_the_thing_is_no_answer(void **state) {
    (void)state;
    support_features f = by_a_column();
    assert_true(support_probability(&f) > support_threshold);
    f.unmet = 0.7;
    const double any = support_probability(&f);
    f.amount = true;
    assert_true(support_probability(&f) < any);
    assert_true(support_probability(&f) < support_threshold);
}

static void what_a_question_in_english_lacks_is_weighed_elsewhere(void **state) {
    (void)state;
    support_features f = by_a_column();
    f.other_script = false;
    const double before = support_probability(&f);
    f.unmet = 0.7;
    f.amount = true;
    assert_true(support_probability(&f) == before);
}

/* Of Japanese and Arabic less is left unmet by chance, so that the same that is met says less. */
static void where_words_meet_sooner_more_is_asked(void **state) {
    (void)state;
    support_features f = by_a_column();
    const double before = support_probability(&f);
    f.met_sooner = true;
    const double after = support_probability(&f);
    assert_true(after < before);
    assert_float_equal(log(before / (1 - before)) - log(after / (1 - after)), 0.25, 1e-9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_in_which_nothing_is_of_the_thing_is_no_answer),
        cmocka_unit_test(what_a_question_in_english_lacks_is_weighed_elsewhere),
        cmocka_unit_test(where_words_meet_sooner_more_is_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
