/* exact_judge_test.c - verdicts of forage eval --judge exact, and what is refused of its fields. */
#include "server/cli/exact_judge.h"

#include "tests/test.h"

static exact_judge *judge_of(const char *question) {
    fo_err err = {0};
    exact_judge *j = NULL;
    cJSON *q = cJSON_Parse(question);
    assert_non_null(q);
    assert_ok(exact_judge_create(&j, q, &err), &err);
    cJSON_Delete(q);
    return j;
}

static void verdict(const char *question, const char *answer, enum exact_verdict want) {
    exact_judge *j = judge_of(question);
    assert_non_null(j);
    assert_int_equal(exact_judge_answer(j, answer), want);
    exact_judge_free(j);
}

static void any_way_is_right_and_a_list_needs_all_its_parts(void **state) {
    (void)state;
    const char *ways = "{\"accept\":[\"-c, --count\",\"--COUNT\"]}";
    verdict(ways, "Use --count for it.", EXACT_RIGHT);
    verdict(ways, "-c, --count: print a count", EXACT_RIGHT);
    verdict(ways, "Use -c.", EXACT_WRONG);
    verdict(ways, NULL, EXACT_REFUSED);
    const char *parts = "{\"accept\":[[\"open both valves\",\"1[.]5 bar\"],\"see page 9\"]}";
    verdict(parts, "Open both valves. Fill to 1.5 bar.", EXACT_RIGHT);
    verdict(parts, "Open both valves. Fill to 125 bar.", EXACT_PARTIAL);
    verdict(parts, "See page 9.", EXACT_RIGHT);
    verdict(parts, "Call somebody.", EXACT_WRONG);
}

static void what_is_rejected_makes_an_answer_wrong(void **state) {
    (void)state;
    const char *boats = "{\"accept\":[[\"Eider\",\"Teal\"]],\"reject\":[\"Grebe\",\"Sw[ao]n\"]}";
    verdict(boats, "Eider and Teal", EXACT_RIGHT);
    verdict(boats, "Eider, Teal and Swan", EXACT_WRONG);
    verdict(boats, "Eider", EXACT_PARTIAL);
    verdict(boats, "Heron", EXACT_WRONG);
    verdict(boats, NULL, EXACT_REFUSED);
}

static void what_is_to_be_refused_is_right_only_when_refused(void **state) {
    (void)state;
    verdict("{\"refuse\":true}", NULL, EXACT_RIGHT);
    verdict("{\"refuse\":true}", "Goethe", EXACT_WRONG);
    assert_null(judge_of("{\"text\":\"no opinion\"}"));
    assert_null(judge_of("{\"refuse\":false}"));
}

static void malformed_fields_are_named(void **state) {
    (void)state;
    static const char *const bad[][2] = {{"{\"accept\":\"x\"}", "accept"},
                                         {"{\"accept\":[]}", "accept"},
                                         {"{\"accept\":[3]}", "accept"},
                                         {"{\"accept\":[\"(\"]}", "accept"},
                                         {"{\"accept\":[[\"\"]]}", "accept"},
                                         {"{\"accept\":[[]],\"reject\":[\"x\"]}", "accept"},
                                         {"{\"accept\":[\"x\"],\"reject\":\"y\"}", "reject"},
                                         {"{\"accept\":[\"x\"],\"reject\":[\"(\"]}", "reject"},
                                         {"{\"refuse\":true,\"reject\":[\"y\"]}", "reject"},
                                         {"{\"refuse\":1}", "refuse"},
                                         {"{\"accept\":[\"x\"],\"refuse\":true}", "refuse"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        fo_err err = {0};
        exact_judge *j = NULL;
        cJSON *q = cJSON_Parse(bad[i][0]);
        assert_int_equal(exact_judge_create(&j, q, &err), FO_EINVAL);
        assert_string_equal(err.field, bad[i][1]);
        assert_null(j);
        cJSON_Delete(q);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_way_is_right_and_a_list_needs_all_its_parts),
        cmocka_unit_test(what_is_rejected_makes_an_answer_wrong),
        cmocka_unit_test(what_is_to_be_refused_is_right_only_when_refused),
        cmocka_unit_test(malformed_fields_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
