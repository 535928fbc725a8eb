/* output_form.c: a report as a table for people and as Markdown. */
#include <string.h>

#include "server/cli/output_form.h"
#include "tests/test.h"

/* What a report becomes; kept until the next call. */
static const char *as(enum output_form form, const char *json) {
    static fo_buf b;
    cJSON *root = cJSON_Parse(json);
    assert_non_null(root);
    fo_buf_clear(&b);
    output_write(&b, form, root);
    cJSON_Delete(root);
    assert_false(b.failed);
    return b.data;
}

static void names_and_figures_stand_line_by_line(void **state) {
    (void)state;
    assert_string_equal(as(OUTPUT_TABLE,
                           "{\"mode\":\"hybrid\",\"queries\":1,\"failed\":0,\"recall\":0.53333,"
                           "\"p99\":1234.56,\"hit_ratio\":0.5,\"alpha\":null,\"runs\":true}"),
                        "mode                 hybrid\n"
                        "queries              1\n"
                        "failed               0\n"
                        "recall               0.5333\n"
                        "p99                  1234.6\n"
                        "hit_ratio            50.0 %\n"
                        "alpha                -\n"
                        "runs                 yes\n");
}

static void what_is_within_stands_further_in(void **state) {
    (void)state;
    assert_string_equal(as(OUTPUT_TABLE, "{\"ms\":{\"mean\":2},\"none\":{},\"ids\":[\"a\",7],"
                                         "\"a_name_of_more_than_20_characters\":1}"),
                        "ms\n"
                        "  mean                 2\n"
                        "none                              -\n"
                        "ids                               a, 7\n"
                        "a_name_of_more_than_20_characters 1\n");
}

static void columns_are_as_wide_as_their_characters(void **state) {
    (void)state;
    assert_string_equal(as(OUTPUT_TABLE, "{\"rows\":[{\"n\":7,\"name\":\"Öre\",\"why\":\"x\"},"
                                         "{\"n\":123,\"name\":\"heron\",\"more\":null}]}"),
                        "rows\n"
                        "    n  name   why  more\n"
                        "    7  Öre    x\n"
                        "  123  heron          -\n");
}

static void markdown_has_a_table_of_values_and_one_for_each_array(void **state) {
    (void)state;
    assert_string_equal(as(OUTPUT_MARKDOWN,
                           "{\"created\":2,\"failures\":[{\"file\":\"a\",\"reason\":\"b\"}],"
                           "\"kinds\":{\".bin\":1,\"parts\":[{\"n\":1}]}}"),
                        "| name | value |\n"
                        "| --- | --- |\n"
                        "| created | 2 |\n"
                        "| kinds .bin | 1 |\n"
                        "\n**failures**\n\n"
                        "| file | reason |\n"
                        "| --- | --- |\n"
                        "| a | b |\n"
                        "\n**kinds parts**\n\n"
                        "| n |\n"
                        "| --- |\n"
                        "| 1 |\n");
    assert_string_equal(as(OUTPUT_MARKDOWN, "{\"data\":[{\"n\":1}]}"), "| n |\n| --- |\n| 1 |\n");
    assert_string_equal(as(OUTPUT_MARKDOWN, "[{\"n\":1}]"), "| n |\n| --- |\n| 1 |\n");
    assert_string_equal(as(OUTPUT_MARKDOWN, "{\"data\":[]}"),
                        "| name | value |\n| --- | --- |\n| data | - |\n");
}

/* A bar behind a backslash, too, markup, and line ends. */
static void what_others_wrote_stays_in_its_cell(void **state) {
    (void)state;
    assert_string_equal(as(OUTPUT_MARKDOWN, "[{\"a|b\":\"x|y\\\\|z <b>`\\n\\u001b\"}]"),
                        "| a\\|b |\n"
                        "| --- |\n"
                        "| x\\|y\\\\\\|z \\<b>\\`\\\\n\\\\u{1b} |\n");
    assert_string_equal(as(OUTPUT_TABLE, "{\"t\":\"x\\n\\u001b[2J\"}"),
                        "t                    x\\n\\u{1b}[2J\n");
}

static void output_goes_before_json(void **state) {
    (void)state;
    assert_int_equal(output_asked(), OUTPUT_TABLE);
    output_choice.json = true;
    assert_int_equal(output_asked(), OUTPUT_JSON);
    output_choice.form = "md";
    assert_int_equal(output_asked(), OUTPUT_MARKDOWN);
    output_choice = (struct output_choice){.form = "json"};
    assert_true(output_is_json());
    output_choice = (struct output_choice){0};
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_figures_stand_line_by_line),
        cmocka_unit_test(what_is_within_stands_further_in),
        cmocka_unit_test(columns_are_as_wide_as_their_characters),
        cmocka_unit_test(markdown_has_a_table_of_values_and_one_for_each_array),
        cmocka_unit_test(what_others_wrote_stays_in_its_cell),
        cmocka_unit_test(output_goes_before_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
