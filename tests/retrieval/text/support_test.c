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

/* In a language that the reader has not learnt, two units at which words of a question meet: one reads alike besides, in the other
 * they stand side by side. */
static support_features strange_alike(void) {
    return (support_features){.cover_near = 0.5,
                              .lead = 0.9,
                              .bm25 = 0.3,
                              .align = 0.5,
                              .back = 0.32,
                              .dense = NAN,
                              .cross = NAN,
                              .strange = true};
}
static support_features strange_beside(void) {
    support_features f = strange_alike();
    f.bm25 = 0.4;
    f.pairs = 0.5;
    f.align = 0.33;
    return f;
}

static void words_that_meet_say_more_than_letters_that_are_alike(void **state) {
    (void)state;
    support_features alike = strange_alike(), beside = strange_beside();
    alike.ahead = 0.1;
    beside.type_near = 0.3;
    beside.ahead = 1;
    const double of_alike = support_probability(&alike), of_beside = support_probability(&beside);
    assert_true(of_beside > support_threshold);
    alike.strange = beside.strange = false; /* as in English */
    assert_true(support_probability(&alike) > support_threshold);
    assert_true(of_alike < support_probability(&alike));
    assert_true(support_probability(&beside) < support_threshold);
}

static double with(support_features f, double type_near, double ahead) {
    f.type_near = type_near;
    f.ahead = ahead;
    return support_probability(&f);
}

static void what_is_asked_for_and_a_lead_speak_for_an_answer(void **state) {
    (void)state;
    support_features of[] = {strange_beside(), strange_beside()};
    of[1].strange = false;
    of[1].languages = true;
    for (size_t i = 0; i < 2; i++) {
        assert_true(with(of[i], 0, 2) > with(of[i], 0, 0.5));
        assert_true(with(of[i], 0, INFINITY) == with(of[i], 0, 4));
        of[i].missing_code = 1;
        assert_true(with(of[i], 1, 4) < 0.01);
    }
    assert_true(with(strange_beside(), 0.5, 0.5) > with(strange_beside(), 0, 0.5));
}

/* What is of a rival, or says a question for a reason again, is read as an answer as a rule: how well is no reason to say it. */
static void a_rival_is_not_said_for_reading_well(void **state) {
    (void)state;
    support_features f = {.cover = 0.7,
                          .cover_near = 0.7,
                          .lead = 0.9,
                          .dense = 0.3,
                          .align = 0.6,
                          .back = 0.5,
                          .cross = 6};
    f.other_thing = 1;
    assert_true(support_probability(&f) > support_threshold);
    f.other_thing = 2;
    assert_true(support_probability(&f) > support_threshold); /* an option may be marked so */
    f.rival = true;
    assert_true(support_probability(&f) < support_threshold);
    f.rival = false;
    f.other_thing = 0;
    f.restated = 1;
    assert_true(support_probability(&f) < support_threshold);
}

static void what_says_no_word_of_the_question_has_to_read_well(void **state) {
    (void)state;
    support_features f = {.lead = 0.9, .dense = 0.3, .align = 0.36, .back = 0.3, .cross = 1.3};
    assert_true(support_probability(&f) < support_threshold);
    f.cross = 3;
    assert_true(support_probability(&f) > support_threshold);
    f.cross = 1.3;
    f.cover_near = 0.01; /* a word beside it, and nearly none of the question */
    assert_true(support_probability(&f) > support_threshold);
}

/* Where the question is in another language than the text, no words meet: the vectors alone have to come near. A name that is written
 * in another way in a text of another language speaks less against it than a lost one in English. */
static void a_reader_of_many_languages_is_on_a_scale_of_its_own(void **state) {
    (void)state;
    support_features f = {.languages = true,
                          .across = true,
                          .ahead = 1,
                          .align = 0.44,
                          .back = 0.28,
                          .lead = 0.5,
                          .dense = NAN,
                          .cross = NAN};
    assert_true(support_probability(&f) < support_threshold);
    f.align = 0.5;
    assert_true(support_probability(&f) > support_threshold);
    f.across = false;
    assert_true(support_probability(&f) < support_threshold); /* here words should meet, too */
    f.cover_near = 0.9;
    assert_true(support_probability(&f) > support_threshold);
    const double met = support_probability(&f);
    f.lost_name = 1;
    const double lost = support_probability(&f);
    assert_float_equal(log(met / (1 - met)) - log(lost / (1 - lost)), 0.8, 1e-9);
}

/* What the cross-encoder of many languages says decides there, beside words that meet; between languages beside vectors that come near.
 * It is less sure than the English one: "read as no answer" is a doubt, and no end. */
static void what_is_read_together_in_other_languages_decides(void **state) {
    (void)state;
    support_features f = {.languages = true,
                          .cover_near = 0.6,
                          .ahead = 1,
                          .align = 0.5,
                          .back = 0.4,
                          .lead = 0.5,
                          .dense = NAN,
                          .cross = -1};
    assert_true(support_probability(&f) > support_threshold * 0.75 &&
                support_probability(&f) < support_threshold * 1.25);
    f.cross = 1;
    assert_true(support_probability(&f) > 0.6);
    f.rival = true; /* how well it reads is no reason to say what is of another */
    const double of_a_rival = support_probability(&f);
    f.cross = 3;
    assert_float_equal(support_probability(&f), of_a_rival, 1e-12);
    f.rival = false;
    f.cross = -4;
    assert_true(support_probability(&f) < 0.2);
    f.missing_code = 1;
    f.cross = 3;
    assert_true(support_probability(&f) < support_threshold);
    f = (support_features){.languages = true,
                           .across = true,
                           .ahead = 1,
                           .align = 0.4,
                           .back = 0.3,
                           .dense = NAN,
                           .cross = -3};
    assert_true(support_probability(&f) < support_threshold / 2);
    f.cross = 1;
    assert_true(support_probability(&f) > support_threshold); /* though no word meets */
    f.align = 0.2;
    assert_true(support_probability(&f) < support_threshold);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_in_which_nothing_is_of_the_thing_is_no_answer),
        cmocka_unit_test(what_a_question_in_english_lacks_is_weighed_elsewhere),
        cmocka_unit_test(where_words_meet_sooner_more_is_asked),
        cmocka_unit_test(words_that_meet_say_more_than_letters_that_are_alike),
        cmocka_unit_test(what_is_asked_for_and_a_lead_speak_for_an_answer),
        cmocka_unit_test(a_reader_of_many_languages_is_on_a_scale_of_its_own),
        cmocka_unit_test(what_is_read_together_in_other_languages_decides),
        cmocka_unit_test(a_rival_is_not_said_for_reading_well),
        cmocka_unit_test(what_says_no_word_of_the_question_has_to_read_well),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
