/* JSON in and out: what RFC 8259 has and nothing else, refusals with their place, fields by name,
 * numbers and strings that read back as written. */
#include "tests/test.h"

#include <math.h>

#include "kernels/utf8.h"
#include "server/base/json.h"

static void refuses(const char *text, size_t len, const char *in_message) {
    fo_err err = {0};
    cJSON *root = NULL;
    int rc = json_parse(text, len, &root, &err);
    int shown = len < 200 ? (int)len : 200;
    if (!rc) fail_msg("taken: %.*s", shown, text);
    if (!strstr(err.msg, in_message)) fail_msg("%.*s: %s", shown, text, err.msg);
}

static void takes_what_rfc_8259_has(void **state) {
    (void)state;
    const char *good[] = {"{}",
                          "[]",
                          " [1, -0, 0.5, 1e9, -1.25E-3, 12345678901234567890]\n",
                          "\"\\u00e9\\uD83D\\ude00\\n\\/\"",
                          "null",
                          "true",
                          "{\"a\":{\"b\":[{}]}}",
                          "\"\xE2\x82\xAC\x7F\"",
                          "0"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        fo_err err = {0};
        cJSON *root = NULL;
        assert_ok(json_parse(good[i], strlen(good[i]), &root, &err), &err);
        cJSON_Delete(root);
    }
}

static void refuses_the_rest_and_tells_where(void **state) {
    (void)state;
    const struct {
        const char *text, *message;
    } rows[] = {
        {"", "byte 0"},
        {"  ", "byte 2"},
        {"{\"a\":1,}", "byte 7"},
        {"[1 2]", "byte 3"},
        {"[1,]", "byte 3"},
        {"[01]", "byte 2"},
        {"[1, 1e309]", "byte 4: a number too large"},
        {"[-1e999]", "byte 1: a number too large"},
        {"[1234567890123456789012345678901234567890123456789012345678901234]",
         "byte 1: a number of more than 63"},
        {"[1.]", "byte 3"},
        {"[+1]", "byte 1"},
        {"[.5]", "byte 1"},
        {"[1e]", "byte 3"},
        {"[-]", "byte 2"},
        {"NaN", "byte 0"},
        {"nul", "byte 0"},
        {"{\"a\" 1}", "byte 5"},
        {"{a:1}", "byte 1"},
        {"{'a':1}", "byte 1"},
        {"\"abc", "byte 4"},
        {"\"a\nb\"", "byte 2"},
        {"\"\\x\"", "byte 1"},
        {"\"\\u12g4\"", "byte 1"},
        {"\"\\u0000\"", "byte 1"},
        {"\"\\ud800\"", "byte 1"},
        {"\"\\ud800\\u0041\"", "byte 1"},
        {"\"\\udc00\"", "byte 1"},
        {"\"\xFF\"", "byte 1"},
        {"\"\xC0\x80\"", "byte 1"},
        {"{} x", "byte 3"},
        {"[1}", "byte 2"},
        {"{\"a\":1,\"a\":2}", "twice"},
        {"[{\"b\":{\"k\":1,\"c\":1,\"k\":1}}]", "twice"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        refuses(rows[i].text, strlen(rows[i].text), rows[i].message);
    refuses("\0[]", 3, "byte 0");
    refuses("[\"a\0b\"]", 7, "byte 3");
    fo_buf deep = {0};
    for (int i = 0; i < JSON_MAX_DEPTH + 1; i++) fo_buf_char(&deep, '[');
    refuses(deep.data, deep.len, "too deep");
    fo_buf_free(&deep);
}

/* A tree takes many times the bytes of its text where that is all small values. */
static void values_have_a_limit(void **state) {
    (void)state;
    const char *const kinds[] = {"0,", "[],", "\"\","};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        fo_buf b = {0};
        fo_err err = {0};
        fo_buf_char(&b, '[');
        for (int i = 1; i < JSON_MOST_VALUES; i++) fo_buf_str(&b, kinds[k]);
        b.data[b.len - 1] = ']'; /* in place of the last comma; the array counts too */
        assert_ok(json_validate(b.data, b.len, &err), &err);
        b.data[b.len - 1] = ',';
        fo_buf_str(&b, "0]");
        refuses(b.data, b.len, "more than 4000000 values");
        assert_int_equal(json_validate(b.data, b.len, &err), FO_ELIMIT);
        fo_buf_free(&b);
    }
}

/* Every truncation and every changed byte of a valid text either parses or is refused; what our
 * scanner takes, cJSON takes. */
static void damaged_text_never_crashes(void **state) {
    (void)state;
    const char *text = "{\"query\":\"caf\xC3\xA9 \\u00e9\",\"n\":[1,2.5e3,-7],\"o\":{\"t\":true,"
                       "\"x\":null},\"s\":\"\\ud83d\\ude00\"}";
    size_t n = strlen(text);
    char *copy = malloc(n);
    uint64_t seed = test_seed();
    for (int i = 0; i < 20000; i++) {
        memcpy(copy, text, n);
        size_t len = 1 + test_random(&seed) % n;
        for (uint64_t k = test_random(&seed) % 4; k > 0; k--)
            copy[test_random(&seed) % n] = (char)test_random(&seed);
        char *exact = malloc(len); /* so that ASan sees a read past the end */
        memcpy(exact, copy, len);
        fo_err err = {0};
        cJSON *root = NULL;
        int rc = json_parse(exact, len, &root, &err);
        if (rc == FO_ENOMEM)
            fail_msg("cJSON refuses what the scanner takes: %.*s", (int)len, exact);
        if (rc) assert_true(err.msg[0] != 0);
        cJSON_Delete(root);
        free(exact);
    }
    free(copy);
}

/* A name of which there is not room for all is cut between characters, wherever the cut falls. */
static void a_long_name_is_told_in_whole_characters(void **state) {
    (void)state;
    for (size_t n_before = 50; n_before < 66; n_before++) {
        char text[200];
        cJSON *root;
        fo_err err = {0};
        json_in in;
        size_t bad;
        snprintf(text, sizeof text, "{\"%.*s\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\":1}",
                 (int)n_before,
                 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
        assert_ok(json_parse(text, strlen(text), &root, &err), &err);
        json_in_object(&in, root, "", &err);
        assert_int_equal(json_in_end(&in), FO_EINVAL);
        if (!fo_utf8_valid(err.msg, strlen(err.msg), &bad)) fail_msg("%zu: %s", n_before, err.msg);
        assert_true(fo_utf8_valid(err.field, strlen(err.field), &bad));
        assert_true(strlen(err.field) >= (n_before < 63 ? n_before : 63));
        cJSON_Delete(root);
    }
}

static void fields_are_checked_by_name(void **state) {
    (void)state;
    static const char *const modes[] = {"a", "b", NULL};
    const struct {
        const char *text, *field, *message;
    } rows[] = {
        {"{\"k\":0}", "k", "between 1 and 10"},
        {"{\"k\":1.5}", "k", "whole number"},
        {"{\"k\":\"1\"}", "k", "not a string"},
        {"{\"s\":\"\"}", "s", "empty"},
        {"{\"s\":\"toolong\"}", "s", "at most 5"},
        {"{\"s\":1}", "s", "not a number"},
        {"{\"b\":1}", "b", "true or false"},
        {"{\"m\":\"c\"}", "m", "one of a, b"},
        {"{\"c\":{\"x\":2}}", "c.x", "between 0 and 1"},
        {"{\"c\":{\"y\":2}}", "c.y", "unknown field 'c.y'"},
        {"{\"c\":[]}", "c", "must be an object, not an array"},
        {"{\"z\":1}", "z", "unknown field 'z'"},
        {"{\"K\":1}", "K", "unknown field 'K'"},
        {"{\"l\":[1,2,3]}", "l", "at most 2"},
        {"{\"k\":1e308}", "k", "whole number"},
        {"[]", "", "must be an object"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cJSON *root;
        fo_err err = {0};
        assert_ok(json_parse(rows[i].text, strlen(rows[i].text), &root, &err), &err);
        json_in in, c;
        json_in_object(&in, root, "", &err);
        json_in_int(&in, "k", 3, 1, 10);
        json_in_string(&in, "s", "d", 1, 5);
        json_in_bool(&in, "b", true);
        json_in_enum(&in, "m", 1, modes);
        json_in_array(&in, "l", 2);
        json_in_child(&c, &in, "c");
        json_in_number(&c, "x", .5, 0, 1);
        json_in_end(&c);
        if (json_in_end(&in) == FO_OK) fail_msg("taken: %s", rows[i].text);
        assert_string_equal(err.field, rows[i].field);
        if (!strstr(err.msg, rows[i].message)) fail_msg("%s: %s", rows[i].text, err.msg);
        cJSON_Delete(root);
    }
    cJSON *root;
    fo_err err = {0};
    const char *text = "{\"k\":10,\"s\":null,\"m\":\"a\",\"c\":{\"x\":1}}";
    assert_ok(json_parse(text, strlen(text), &root, &err), &err);
    json_in in, c;
    json_in_object(&in, root, "", &err);
    assert_int_equal(json_in_int(&in, "k", 3, 1, 10), 10);
    assert_string_equal(json_in_string(&in, "s", "d", 1, 5), "d");
    assert_int_equal(json_in_enum(&in, "m", 1, modes), 0);
    assert_true(json_in_bool(&in, "b", true));
    json_in_child(&c, &in, "c");
    assert_true(json_in_number(&c, "x", .5, 0, 1) == 1);
    assert_ok(json_in_end(&c), &err);
    assert_ok(json_in_end(&in), &err);
    cJSON_Delete(root);
}

static void numbers_read_back_as_written(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    for (int i = 0; i < 100000; i++) {
        uint64_t bits = test_random(&seed);
        double v;
        memcpy(&v, &bits, sizeof v);
        fo_buf b = {0};
        json_write_number(&b, v);
        fo_err err = {0};
        assert_ok(json_validate(b.data, b.len, &err), &err);
        if (isfinite(v))
            assert_true(strtod(b.data, NULL) == v);
        else
            assert_string_equal(b.data, "null");
        fo_buf_free(&b);
    }
    fo_buf b = {0};
    json_write_number(&b, .1);
    assert_string_equal(b.data, "0.1");
    fo_buf_free(&b);
}

static void a_tree_is_written_as_it_was_read(void **state) {
    (void)state;
    static const char *const same[] = {
        "{\"a\":5000000000000001,\"b\":[9007199254740991,-0.30000000000000004,1e-07,{}],\"c\":{}}",
        "[9007199254740993,\"1\",12345678901234567890,-9223372036854775807,{\"n 7\":[\"\\\"8\\\\\"]"
        ",\"x\":123456789012345678901}]",
        "[1111111111111111168,-9007199254740994,1000000000000000,1e+20]",
        "[true,false,null,\"a\\n\\\"b\\\"\",0,-1,[[]]]", "9007199254740993"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        fo_err err = {0};
        cJSON *root = NULL;
        assert_ok(json_parse(same[i], strlen(same[i]), &root, &err), &err);
        char *text = json_tree_text(root);
        assert_string_equal(text, same[i]);
        free(text);
        cJSON_Delete(root);
    }
}

static void whole_numbers_that_no_double_holds_are_named(void **state) {
    (void)state;
    static const struct {
        const char *text, *field; /* NULL: it is taken */
    } rows[] = {
        {"{\"a\":9007199254740992,\"b\":18014398509481984,\"c\":1e300,\"d\":100000000000000000000,"
         "\"e\":0.12345678901234567890}",
         NULL},
        {"{\"a\":\"9007199254740993\",\"9007199254740993\":1}", NULL},
        {"{\"a\":1,\"b\":{\"c\":[1,9007199254740993]}}", "m.b.c[1]"},
        {"{\"id\":1234567890123456789}", "m.id"},
        {"{\"id\":-9007199254740993}", "m.id"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fo_err err = {0};
        cJSON *root = NULL;
        assert_ok(json_parse(rows[i].text, strlen(rows[i].text), &root, &err), &err);
        int rc = json_refuse_rounded(root, "m", &err);
        assert_int_equal(rc, rows[i].field ? FO_EINVAL : FO_OK);
        assert_string_equal(err.field, rows[i].field ? rows[i].field : "");
        cJSON_Delete(root);
    }
}

static void strings_are_always_valid(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    for (int i = 0; i < 20000; i++) {
        char text[24];
        size_t n = test_random(&seed) % sizeof text;
        for (size_t k = 0; k < n; k++) text[k] = (char)(1 + test_random(&seed) % 255);
        fo_buf b = {0};
        json_write_string(&b, text, n);
        fo_err err = {0};
        assert_ok(json_validate(b.data, b.len, &err), &err);
        fo_buf_free(&b);
    }
    fo_buf b = {0};
    json_write_string(&b, "a\"\\\n\x01\xFFz", 7);
    assert_string_equal(b.data, "\"a\\\"\\\\\\n\\u0001\xEF\xBF\xBDz\"");
    fo_buf_free(&b);
}

static void the_writer_keeps_commas(void **state) {
    (void)state;
    fo_buf b = {0};
    json_out o = {&b, false};
    json_out_open(&o, NULL, '{');
    json_out_int(&o, "a", -1);
    json_out_open(&o, "b", '[');
    json_out_open(&o, NULL, '{');
    json_out_close(&o, '}');
    json_out_bool(&o, NULL, true);
    json_out_close(&o, ']');
    json_out_string(&o, "c", NULL);
    json_out_number(&o, "d", NAN);
    json_out_close(&o, '}');
    assert_string_equal(b.data, "{\"a\":-1,\"b\":[{},true],\"c\":null,\"d\":null}");
    fo_buf_free(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_what_rfc_8259_has),
        cmocka_unit_test(refuses_the_rest_and_tells_where),
        cmocka_unit_test(values_have_a_limit),
        cmocka_unit_test(damaged_text_never_crashes),
        cmocka_unit_test(fields_are_checked_by_name),
        cmocka_unit_test(a_long_name_is_told_in_whole_characters),
        cmocka_unit_test(numbers_read_back_as_written),
        cmocka_unit_test(a_tree_is_written_as_it_was_read),
        cmocka_unit_test(whole_numbers_that_no_double_holds_are_named),
        cmocka_unit_test(strings_are_always_valid),
        cmocka_unit_test(the_writer_keeps_commas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
