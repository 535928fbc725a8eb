/* nDCG, MRR, recall, success, exact match and F1 against figures computed by hand. */
#include "tests/test.h"

#include <math.h>

#include "retrieval/rank/measures.h"

static void near(double a, double b) {
    if (fabs(a - b) > 1e-9) fail_msg("%.12f instead of %.12f", a, b);
}

static void ranks_are_measured_as_computed_by_hand(void **state) {
    (void)state;
    /* ranks 1..5 hold relevances 0 3 0 1 2; judged relevant: 3 2 1 1 */
    const int gains[] = {0, 3, 0, 1, 2}, ideal[] = {1, 2, 3, 1};
    double dcg = 3 / log2(3) + 1 / log2(5) + 2 / log2(6);
    double best = 3 + 2 / log2(3) + 1 / log2(4) + 1 / log2(5);
    near(measure_ndcg(gains, 5, ideal, 4, 10), dcg / best);
    near(measure_ndcg(gains, 5, ideal, 4, 2), (3 / log2(3)) / (3 + 2 / log2(3)));
    near(measure_mrr(gains, 5, 10), .5);
    near(measure_mrr(gains, 5, 1), 0);
    near(measure_recall(gains, 5, 4, 10), .75);
    near(measure_recall(gains, 5, 4, 2), .25);
    near(measure_success(gains, 5, 1), 0);
    near(measure_success(gains, 5, 5), 1);
    near(measure_ndcg(gains, 5, NULL, 0, 10), 0);
    near(measure_ndcg(NULL, 0, ideal, 4, 10), 0);
    near(measure_recall(NULL, 0, 0, 10), 0);
    const int perfect[] = {3, 2, 1, 1};
    near(measure_ndcg(perfect, 4, ideal, 4, 10), 1);
    const int negative[] = {-1, 1}; /* a judged spam document gains nothing */
    const int one[] = {1};
    near(measure_ndcg(negative, 2, one, 1, 10), 1 / log2(3));
}

static void check_normal(const char *in, const char *want) {
    char *got = measure_normalise(in);
    assert_string_equal(got, want);
    free(got);
}

static void answers_are_normalised_as_squad_does(void **state) {
    (void)state;
    check_normal("The  U.S. Army,\nan army!", "us army army");
    check_normal("a an the", "");
    check_normal("", "");
    check_normal("Theatre-goers", "theatregoers");
    check_normal("\xC3\x89t\xC3\xA9\xC2\xA0"
                 "1998",
                 "\xC3\xA9t\xC3\xA9 1998");
    check_normal("bad \xFF byte", "bad byte");
}

static void answers_are_compared_as_computed_by_hand(void **state) {
    (void)state;
    const char *gold[] = {"the Norman conquest", "1066"};
    near(measure_exact("Norman Conquest.", gold, 2), 1);
    near(measure_exact("Norman Conquest of England", gold, 2), 0);
    /* 2 of 4 words against 2: precision .5, recall 1 */
    near(measure_f1("Norman Conquest of England", gold, 2), 2 * .5 * 1 / 1.5);
    near(measure_f1("nothing here", gold, 2), 0);
    near(measure_f1("1066 1066", gold, 2), 2 * .5 * 1 / 1.5); /* a word counts once for each */
    assert_true(measure_contains("It was the Norman conquest in 1066.", gold, 2));
    assert_true(measure_contains("in 1066", gold, 2));
    assert_false(measure_contains("in 10661", gold, 2));
    assert_false(measure_contains("", gold, 2));
    const char *chinese[] = {
        "\u5317\u6CF5"}; /* in the midst of a sentence without spaces, and of quotes */
    assert_true(measure_contains("\u300C\u5317\u6CF5\u300D\u6BCF\u56DB\u5929\u4FDD\u517B\u3002",
                                 chinese, 1));
    assert_false(measure_contains("\u5357\u6CF5\u6BCF\u56DB\u5929\u4FDD\u517B\u3002", chinese, 1));
    near(measure_f1("\u6CF5\u3002", chinese, 1), 2 * 1 * .5 / 1.5);
    const char *spanish[] = {"el norte"};
    assert_true(measure_contains("\u00BFD\u00F3nde? \u00ABEl norte\u00BB", spanish, 1));
    const char *empty[] = {"the"};
    assert_false(measure_contains("anything", empty, 1));
    near(measure_f1("", empty, 1), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_are_measured_as_computed_by_hand),
        cmocka_unit_test(answers_are_normalised_as_squad_does),
        cmocka_unit_test(answers_are_compared_as_computed_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
