/* Calls out of text in pieces of every length; tools in messages for templates that know none. */
#include "tests/test.h"

#include "engine/grammar/json_reader.h"
#include "server/base/json.h"
#include "server/completions/tool_calls.h"
#include "server/completions/tool_prompt.h"

static void read_in_pieces(tool_calls *t, const char *text, size_t piece) {
    size_t len = strlen(text);
    *t = (tool_calls){0};
    for (size_t at = 0; at < len; at += piece)
        tool_calls_add(t, text + at, len - at < piece ? len - at : piece);
    tool_calls_end(t);
    assert_false(t->failed);
}

static void calls_are_found_wherever_the_text_is_cut(void **state) {
    (void)state;
    static const char text[] =
        "I look. <tool_\n\n" TOOL_OPEN
        "{\"name\": \"f\", \"arguments\": {\"a\": \"}\\\"{\", \"b\": [1, {}]}}" TOOL_CLOSE
        "\n" TOOL_OPEN "{\"name\":\"g.h\",\"arguments\":{}}" TOOL_CLOSE;
    for (size_t piece = 1; piece < sizeof text; piece++) {
        tool_calls t;
        read_in_pieces(&t, text, piece);
        assert_string_equal(t.text.data, "I look. <tool_");
        assert_int_equal(t.n_calls, 2);
        assert_string_equal(t.calls[0].name, "f");
        assert_string_equal(t.calls[0].arguments.data, "{\"a\": \"}\\\"{\", \"b\": [1, {}]}");
        assert_string_equal(t.calls[1].name, "g.h");
        assert_string_equal(t.calls[1].arguments.data, "{}");
        assert_string_not_equal(t.calls[0].id, t.calls[1].id);
        tool_calls_deinit(&t);
    }
}

static void what_is_no_call_stays_text(void **state) {
    (void)state;
    tool_calls t;
    read_in_pieces(&t, "A <tool_call> is not\n<tool_call>", 3);
    assert_string_equal(t.text.data, "A <tool_call> is not\n<tool_call>");
    assert_int_equal(t.n_calls, 0);
    tool_calls_deinit(&t);
    read_in_pieces(&t, TOOL_OPEN "{\"name\": \"f\", \"arguments\": {\"a\": [1", 5); /* cut off */
    tool_calls_end(&t); /* told twice: as once */
    assert_int_equal(t.n_calls, 1);
    assert_string_equal(t.calls[0].arguments.data, "{\"a\": [1");
    tool_calls_deinit(&t);
    read_in_pieces(&t, TOOL_OPEN "{\"name\": \"f", 5); /* before its arguments */
    tool_calls_end(&t);
    assert_int_equal(t.n_calls, 0);
    tool_calls_deinit(&t);
    read_in_pieces(
        &t, TOOL_OPEN "{\"name\": \"f\", \"arguments\": {}}" TOOL_CLOSE TOOL_OPEN "{\"name", 5);
    tool_calls_end(&t); /* the one before stays */
    assert_int_equal(t.n_calls, 1);
    tool_calls_deinit(&t);
}

static void tools_become_words_where_a_template_knows_none(void **state) {
    (void)state;
    cJSON *tools = cJSON_Parse("[{\"type\":\"function\",\"function\":{\"name\":\"f\"}}]");
    cJSON *messages = cJSON_Parse(
        "[{\"role\":\"system\",\"content\":\"Be brief.\"},{\"role\":\"user\",\"content\":\"q\"},"
        "{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"function\":{\"name\":\"f\","
        "\"arguments\":{\"a\":1}}}]},{\"role\":\"tool\",\"content\":\"one\"},"
        "{\"role\":\"tool\",\"content\":\"two\"}]");
    cJSON *m = tool_prompt_messages(messages, tools);
    assert_int_equal(cJSON_GetArraySize(m), 4);
    const char *system = cJSON_GetArrayItem(m, 0)->child->next->valuestring;
    assert_int_equal(strncmp(system, "Be brief.\n\n", 11), 0);
    assert_non_null(strstr(system, "{\"type\":\"function\",\"function\":{\"name\":\"f\"}}"));
    assert_string_equal(cJSON_GetArrayItem(m, 2)->child->next->valuestring,
                        TOOL_OPEN "{\"name\": \"f\", \"arguments\": {\"a\":1}}" TOOL_CLOSE);
    assert_string_equal(cJSON_GetArrayItem(m, 3)->child->valuestring, "user");
    assert_string_equal(cJSON_GetArrayItem(m, 3)->child->next->valuestring,
                        "<tool_response>\none\n</tool_response>\n"
                        "<tool_response>\ntwo\n</tool_response>");
    cJSON_Delete(m);
    m = tool_prompt_messages(messages, NULL);
    assert_string_equal(cJSON_GetArrayItem(m, 0)->child->next->valuestring, "Be brief.");
    cJSON_Delete(m);
    cJSON_Delete(messages);
    cJSON_Delete(tools);
    static const char native[] = "{% if tools %}<tool_call>{{ call.arguments }}{% endif %}";
    assert_true(tool_prompt_native(native, sizeof native - 1));
    assert_false(tool_prompt_native("{{ messages }}", 14));
    assert_false(tool_prompt_native(NULL, 0));
}

static void large_numbers_keep_their_digits_in_the_prompt(void **state) {
    (void)state;
    static const char text[] =
        "{\"tools\":[{\"function\":{\"name\":\"f\",\"parameters\":{\"maximum\":8111111111111111}}}]"
        ","
        "\"messages\":[{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"function\":"
        "{\"name\":\"f\",\"arguments\":{\"id\":1234567890123456789,\"b\":1111111111111111168}}}]}]"
        "}";
    cJSON *root = NULL;
    fo_err err = {0};
    assert_ok(json_parse(text, sizeof text - 1, &root, &err), &err);
    cJSON *m = tool_prompt_messages(cJSON_GetObjectItem(root, "messages"),
                                    cJSON_GetObjectItem(root, "tools"));
    assert_non_null(strstr(cJSON_GetArrayItem(m, 0)->child->next->valuestring,
                           "{\"maximum\":8111111111111111}"));
    assert_string_equal(cJSON_GetArrayItem(m, 1)->child->next->valuestring,
                        TOOL_OPEN "{\"name\": \"f\", \"arguments\": {\"id\":1234567890123456789,"
                                  "\"b\":1111111111111111168}}" TOOL_CLOSE);
    cJSON_Delete(m);
    cJSON_Delete(root);
}

static int rule_of(const char *tools, const char *only, answer_rule *rule, json_schema **s,
                   fo_err *err) {
    cJSON *list = cJSON_Parse(tools);
    openai_call c = {.tools = {.list = list, .only = only, .required = only != NULL}};
    *err = (fo_err){0};
    int rc = tool_prompt_rule(&c, rule, s, err);
    cJSON_Delete(list);
    return rc;
}

static void parameters_bind_the_arguments(void **state) {
    (void)state;
    answer_rule rule;
    json_schema *s;
    fo_err err;
    static const char two[] =
        "[{\"type\":\"function\",\"function\":{\"name\":\"f\"}},{\"type\":\"function\","
        "\"function\":"
        "{\"name\":\"g\",\"parameters\":{\"type\":\"object\",\"properties\":{\"a\":{\"$ref\":"
        "\"#/$defs/n\"}},\"$defs\":{\"n\":{\"type\":\"integer\"}}}}}]";
    assert_int_equal(rule_of(two, NULL, &rule, &s, &err), FO_OK);
    assert_true(rule.schema && rule.open && !rule.required && rule.repeats);
    json_schema_free(s);
    assert_int_equal(rule_of(two, "g", &rule, &s, &err), FO_OK);
    assert_true(rule.required);
    json_schema_free(s);
    /* What is not supported binds nothing, unless it is asked for strictly. */
    static const char loose[] = "[{\"function\":{\"name\":\"f\",\"parameters\":{\"not\":{}}}}]";
    assert_int_equal(rule_of(loose, NULL, &rule, &s, &err), FO_OK);
    json_schema_free(s);
    static const char strict[] =
        "[{\"function\":{\"name\":\"f\",\"strict\":true,\"parameters\":{\"not\":{}}}}]";
    assert_int_equal(rule_of(strict, NULL, &rule, &s, &err), FO_EUNSUPPORTED);
    assert_string_equal(err.field, "tools[0].function.parameters");
    assert_non_null(strstr(err.msg, "#/not"));
    static const char wrong[] = "[{\"function\":{\"name\":\"f\",\"parameters\":{\"type\":\"x\"}}}]";
    assert_int_equal(rule_of(wrong, NULL, &rule, &s, &err), FO_EINVAL);
}

static void arguments_are_objects_whatever_the_schema_says(void **state) {
    (void)state;
    static const struct {
        const char *parameters, *yes, *no;
    } rows[] = {
        {"{}", "{}", "null"},
        {"{}", "{\"a\": [1]}", "[]"},
        {"true", "{\"a\": 1}", "7"},
        {"{\"properties\":{\"a\":{\"type\":\"integer\"}}}", "{\"a\": 1}", "\"a\""},
        {"{\"properties\":{\"a\":{\"type\":\"integer\"}}}", "{}", "{\"a\": \"b\"}"},
        {"{\"type\":[\"object\",\"null\"]}", "{}", "null"},
        {"{\"anyOf\":[{\"type\":\"object\"},{\"type\":\"array\"}]}", "{}", "[]"},
        {"{\"$ref\":\"#/$defs/n\",\"$defs\":{\"n\":{\"type\":[\"object\",\"null\"],\"properties\":"
         "{\"n\":{\"$ref\":\"#/$defs/n\"}}}}}",
         "{\"n\": null}", "null"},
        {"{\"type\":[\"object\",\"null\"],\"properties\":{\"n\":{\"$ref\":\"#\"}},"
         "\"required\":[\"n\"]}",
         "{\"n\": {\"n\": null}}", "{}"},
    };
    json_reader *r = malloc(sizeof *r);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fo_buf tools = {0}, call = {0};
        answer_rule rule;
        json_schema *s = NULL;
        fo_err err;
        fo_buf_printf(&tools,
                      "[{\"function\":{\"name\":\"e\"}},{\"function\":{\"name\":\"f\","
                      "\"parameters\":%s}}]",
                      rows[i].parameters);
        assert_int_equal(rule_of(tools.data, NULL, &rule, &s, &err), FO_OK);
        for (int good = 0; good < 2; good++) {
            fo_buf_clear(&call);
            fo_buf_printf(&call, "{\"name\": \"f\", \"arguments\": %s}",
                          good ? rows[i].yes : rows[i].no);
            json_reader_start(r, s);
            if ((json_read(r, call.data, call.len) && json_closed(r)) != good)
                fail_msg("%s: %s", rows[i].parameters, call.data);
        }
        json_schema_free(s);
        fo_buf_free(&tools);
        fo_buf_free(&call);
    }
    free(r);
    answer_rule rule;
    json_schema *s;
    fo_err err;
    static const char none[] =
        "[{\"function\":{\"name\":\"f\",\"parameters\":{\"type\":\"array\"}}}]";
    assert_int_equal(rule_of(none, NULL, &rule, &s, &err), FO_EINVAL);
    assert_string_equal(err.field, "tools[0].function.parameters");
    assert_non_null(strstr(err.msg, "no object satisfies"));
}

/* As many tools as a request may have: each name with its number behind it, in the parameters their number for %d. */
static fo_buf sixty_tools(const char *name, const char *parameters) {
    const char *number = strstr(parameters, "%d");
    fo_buf b = {0};
    fo_buf_char(&b, '[');
    for (int i = 0; i < 60; i++) {
        fo_buf_printf(&b, "%s{\"function\":{\"name\":\"%s%d\",\"parameters\":{\"type\":\"object\",",
                      i ? "," : "", name, i);
        if (number)
            fo_buf_printf(&b, "%.*s%d%s", (int)(number - parameters), parameters, i, number + 2);
        else
            fo_buf_str(&b, parameters);
        fo_buf_str(&b, "}}}");
    }
    fo_buf_char(&b, ']');
    return b;
}

/* What one tool may have compiled is what all of them may, and where it is not enough, none is called. */
static void the_schemas_of_all_tools_share_what_one_may_take(void **state) {
    (void)state;
    answer_rule rule;
    json_schema *s = NULL;
    fo_err err;
    fo_buf b = sixty_tools("f", "\"properties\":{\"a\":{\"pattern\":\"^(x?){1000}%d$\"}}");
    assert_int_equal(rule_of(b.data, "f7", &rule, &s, &err), FO_OK);
    json_schema_free(s);
    assert_int_equal(rule_of(b.data, NULL, &rule, &s, &err), FO_ELIMIT);
    assert_int_equal(strncmp(err.field, "tools[", 6), 0);
    assert_non_null(strstr(err.field, "].function.parameters"));
    assert_non_null(strstr(err.msg, "too large"));
    fo_buf_free(&b);
    /* Beyond the bounds it is refused, not taken for any object. */
    static const char wide[] = "[{\"function\":{\"name\":\"f\",\"parameters\":{\"type\":\"object\","
                               "\"properties\":{\"a\":{\"pattern\":\"^(a{99}){99}$\"}}}}}]";
    assert_int_equal(rule_of(wide, NULL, &rule, &s, &err), FO_ELIMIT);
    assert_string_equal(err.field, "tools[0].function.parameters");
}

/* Names that are alike at first, and as many as a request may have. */
static void each_of_sixty_tools_can_be_called(void **state) {
    (void)state;
    answer_rule rule;
    json_schema *s = NULL;
    fo_err err;
    fo_buf b =
        sixty_tools("find_", "\"properties\":{\"a\":{\"type\":\"integer\"}},\"required\":[\"a\"]");
    assert_int_equal(rule_of(b.data, NULL, &rule, &s, &err), FO_OK);
    json_reader *r = malloc(sizeof *r);
    for (int i = 0; i < 60; i++) {
        fo_buf_clear(&b);
        fo_buf_printf(&b, "{\"name\": \"find_%d\", \"arguments\": {\"a\": 1}}", i);
        json_reader_start(r, s);
        if (!json_read(r, b.data, b.len) || !json_closed(r)) fail_msg("refuses %s", b.data);
    }
    free(r);
    fo_buf_free(&b);
    json_schema_free(s);
}

/* The request's parser keeps the digits that a double has no room for. */
static void a_number_that_no_double_holds_is_refused_in_strict_parameters(void **state) {
    (void)state;
    static const char text[] =
        "[{\"function\":{\"name\":\"f\",\"strict\":true,\"parameters\":{\"type\":\"object\","
        "\"properties\":{\"a\":{\"enum\":[1,9007199254740993]}}}}}]";
    cJSON *tools = NULL;
    openai_call c = {0};
    answer_rule rule;
    json_schema *s = NULL;
    fo_err err = {0};
    assert_ok(json_parse(text, sizeof text - 1, &tools, &err), &err);
    c.tools.list = tools;
    assert_int_equal(tool_prompt_rule(&c, &rule, &s, &err), FO_EUNSUPPORTED);
    assert_string_equal(err.field, "tools[0].function.parameters");
    assert_non_null(strstr(err.msg, "#/properties/a/enum/1: 9007199254740993"));
    cJSON_Delete(tools);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_are_found_wherever_the_text_is_cut),
        cmocka_unit_test(what_is_no_call_stays_text),
        cmocka_unit_test(tools_become_words_where_a_template_knows_none),
        cmocka_unit_test(large_numbers_keep_their_digits_in_the_prompt),
        cmocka_unit_test(parameters_bind_the_arguments),
        cmocka_unit_test(arguments_are_objects_whatever_the_schema_says),
        cmocka_unit_test(the_schemas_of_all_tools_share_what_one_may_take),
        cmocka_unit_test(each_of_sixty_tools_can_be_called),
        cmocka_unit_test(a_number_that_no_double_holds_is_refused_in_strict_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
