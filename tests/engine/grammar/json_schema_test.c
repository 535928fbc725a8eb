/* Schemas, what can be written under them and what cannot; walks that take any byte that is allowed
 * and always end in a value; schemas that are refused, by name and place. */
#include "tests/test.h"

#include <time.h>

#include <cjson/cJSON.h>

#include "engine/grammar/json_reader.h"
#include "engine/grammar/json_schema.h"
#include "engine/grammar/pattern.h"
#include "kernels/buf.h"

static json_schema *compile(const char *text) {
    fo_err err = {0};
    json_schema *s = NULL;
    cJSON *root = cJSON_Parse(text);
    if (!root) fail_msg("no JSON: %s", text);
    if (json_schema_compile(&s, root, &err)) fail_msg("%s: %s", text, err.msg);
    cJSON_Delete(root);
    return s;
}

static bool holds(const json_schema *s, const char *text) {
    json_reader *r = malloc(sizeof *r);
    json_reader_start(r, s);
    bool ok = json_read(r, text, strlen(text)) && json_complete(r);
    free(r);
    return ok;
}

/* yes and no: values, one a line. */
static const struct {
    const char *schema, *yes, *no;
} cases[] = {
    {"{\"type\":\"object\"}",
     "{}\n {\"a\":[1,{\"b\":null}]}\n{\"a\":-0.5e+10,\"b\":\"\\u00e4\\n\"}",
     "[]\n1\n{\"a\":01}\n{\"a\":1,}\n{\"a\" 1}\n{} \n{\"\\ud800\":1}\n{\"\xff\":1}\n{\"\xc3\":1}"},
    {"true", "1\n\"a\"\nnull\n[true,false]\n-0\n1e5", "nul\n+1\n.5\n1.\n'a'\n[1"},
    {"{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"},\"b\":{\"type\":\"string\"}"
     "},"
     "\"required\":[\"a\"],\"additionalProperties\":false}",
     "{\"a\":1}\n{\"a\":-7,\"b\":\"\"}\n{ \"a\" : 0 }",
     "{}\n{\"b\":\"\"}\n{\"a\":1.5}\n{\"a\":1,\"c\":1}\n{\"a\":1,\"a\":2}\n{\"a\":\"1\"}"},
    {"{\"properties\":{\"a\":{\"type\":\"integer\"},\"ab\":{\"type\":\"string\"}},\"type\":"
     "\"object\","
     "\"additionalProperties\":{\"type\":\"null\"}}",
     "{\"a\":1,\"ab\":\"\",\"abc\":null}\n{\"b\":null}\n{\"ab\":\"\"}",
     "{\"a\":null}\n{\"abc\":1}\n{\"c\":null,\"a\":1}\n{\"\\u0061\":null}"},
    {"{\"properties\":{\"a\\\"b\":{\"const\":1}},\"type\":\"object\"}", "{\"a\\\"b\":1}\n{\"a\":2}",
     "{\"a\\\"b\":2}\n{\"a\\n\":1}"},
    /* Names that begin as a declared one does, and are cut or go on within a character. */
    {"{\"properties\":{\"\xc3\xa9\":{\"const\":1},\"\xe5\x90\x8d\":{\"const\":1},"
     "\"\xf0\x9f\x98\x80z\":{\"const\":1}},\"type\":\"object\"}",
     "{\"\xc3\xa9\":1}\n{\"\xc3\xa8\":2}\n{\"\xe5\xb9\xb4\":2}\n{\"\xe5\x90\x8d\":1,"
     "\"\xe5\x90\x8c\":2}\n"
     "{\"\xf0\x9f\x98\x81\":2}\n{\"\xf0\x9f\x98\x80\":2}\n{\"\xc3\xa9\xc3\xa9\":2,\"b\":3}",
     "{\"\xc3\":1}\n{\"\xe5\x90\":1}\n{\"\xe5\":1}\n{\"\xf0\x9f\x98\":1}\n{\"\xc3\xc3\xa9\":1}\n"
     "{\"\xe5z\":1}\n{\"\xf0\x9f\xc3\xa9\":1}\n{\"\xc3\xa9\":2}"},
    {"{\"properties\":{\"a\":false},\"type\":\"object\"}", "{\"b\":1}\n{}", "{\"a\":1}"},
    {"{\"type\":\"object\",\"minProperties\":2,\"maxProperties\":3,\"additionalProperties\":true}",
     "{\"a\":1,\"b\":2}\n{\"a\":1,\"b\":2,\"c\":3}",
     "{}\n{\"a\":1}\n{\"a\":1,\"b\":2,\"c\":3,\"d\":4}\n{\"a\":1,\"a\":1}\n"
     "{\"a\":1,\"\\u0061\":1}"},
    {"{\"type\":\"object\",\"minProperties\":3,\"properties\":{\"a\":{},\"b\":{}}}",
     "{\"a\":1,\"b\":2,\"c\":3}\n{\"b\":1,\"c\":2,\"d\":3}\n{\"x\":1,\"y\":2,\"z\":3,\"z\":4}",
     "{\"a\":1,\"c\":2,\"c\":3}\n{\"x\":1,\"y\":2,\"x\":3}\n{\"b\":1,\"a\":2,\"c\":3}"},
    {"{\"type\":\"object\",\"required\":[\"x\"]}", "{\"x\":[]}\n{\"x\":1,\"y\":2}",
     "{}\n{\"y\":2}"},
    {"{\"enum\":[1,10,\"a\",\"ab\",null,{\"x\":[1]}]}", "1\n10\n\"a\"\n\"ab\"\nnull\n{\"x\":[1]}",
     "100\n\"b\"\n\"abc\"\n{\"x\":[2]}\ntrue\n[]"},
    {"{\"enum\":[1,5,9,\"x\"],\"type\":\"integer\",\"minimum\":5}", "5\n9", "1\n\"x\"\n7"},
    {"{\"allOf\":[{\"enum\":[{\"a\":1,\"b\":[2]},3,\"x\",4]},{\"enum\":[\"x\",{\"b\":[2],\"a\":1},"
     "4.0]}]}",
     "{\"a\":1,\"b\":[2]}\n\"x\"\n4", "3\n{\"a\":1}\n\"y\""},
    {"{\"const\":4,\"enum\":[3,4]}", "4", "3"},
    /* A literal's keys come in any order, its numbers are written in any way. */
    {"{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"},\"b\":{\"minimum\":1}},"
     "\"enum\":[{\"b\":1,\"a\":2},{\"b\":0,\"a\":2},{\"b\":1,\"a\":0.5},{\"c\":[{\"b\":1,\"a\":2}]}"
     "]}",
     "{\"b\":1,\"a\":2}\n{\"c\":[{\"b\":1,\"a\":2}]}", "{\"b\":0,\"a\":2}\n{\"b\":1,\"a\":0.5}"},
    {"{\"type\":\"integer\",\"enum\":[100000000000000000000,-1e30,1.5]}",
     "100000000000000000000\n-1000000000000000019884624838656", "1.5\n1e+20"},
    {"{\"enum\":[9007199254740991,{\"a\":[-9007199254740991]}]}",
     "9007199254740991\n{\"a\":[-9007199254740991]}",
     "9007199254740990\n{\"a\":[-9007199254740990]}\n{\"a\":[-9.00719925474099e+15]}"},
    {"{\"const\":9007199254740991,\"enum\":[9007199254740990,9007199254740991,9007199254740992]}",
     "9007199254740991", "9007199254740990\n9007199254740992"},
    {"{\"enum\":[0.30000000000000004,{\"a\":[1.1000000000000001,5e-324]},-0.0,1e300]}",
     "0.30000000000000004\n{\"a\":[1.1,4.94065645841247e-324]}\n0\n1e+300",
     "0.3\n0.300000000000000\n-0\n1"},
    {"{\"const\":0.30000000000000004,\"enum\":[0.3,0.30000000000000004]}", "0.30000000000000004",
     "0.3"},
    {"{\"type\":\"integer\",\"minimum\":9007199254740991,\"maximum\":576460752303423488}",
     "9007199254740991\n9007199254740993\n576460752303423488",
     "9007199254740990\n576460752303423489\n576460752303423490"},
    {"{\"enum\":[{\"a\":1},{\"a\":5}],\"properties\":{\"a\":{\"enum\":[1,5],\"minimum\":3}}}",
     "{\"a\":5}", "{\"a\":1}"},
    {"{\"minimum\":2,\"anyOf\":[{\"enum\":[1,2,5],\"minimum\":3},{\"enum\":[1,2,\"a\",\"bb\"],"
     "\"minLength\":2}]}",
     "5\n2\n\"bb\"", "1\n\"a\""},
    {"{\"const\":{\"a\":\"b\"}}", "{\"a\":\"b\"}", "{}\n{\"a\":\"c\"}"},
    {"{\"type\":\"integer\",\"minimum\":3,\"maximum\":17}", "3\n9\n10\n17",
     "2\n18\n0\n-5\n1\n170\n3.5\n3e0\n03"},
    {"{\"type\":\"integer\",\"exclusiveMinimum\":-12,\"maximum\":-3}", "-11\n-3",
     "-12\n-2\n3\n-1\n0"},
    {"{\"type\":\"number\",\"exclusiveMinimum\":0,\"maximum\":2.5}",
     "0.1\n2.5\n2.50\n1\n2\n0.000001", "0\n0.0\n2.51\n3\n-1\n1e0"},
    {"{\"type\":\"number\",\"multipleOf\":0.25,\"minimum\":0.1,\"maximum\":1}",
     "0.25\n0.5\n0.75\n1", "0.1\n0\n0.3\n1.25"},
    {"{\"type\":\"integer\",\"multipleOf\":7}", "0\n7\n-14\n700", "1\n8\n-13"},
    {"{\"type\":\"string\",\"minLength\":2,\"maxLength\":3}",
     "\"ab\"\n\"\xc3\xa4\xe2\x82\xac\xc3\xa4\"\n\"a\\n\"", "\"a\"\n\"abcd\"\n\"\""},
    {"{\"type\":\"string\",\"pattern\":\"^[a-z]{2,4}-\\\\d+$\"}", "\"ab-1\"\n\"abcd-007\"",
     "\"a-1\"\n\"ab-\"\n\"ab-1x\"\n\"AB-1\""},
    {"{\"type\":\"string\",\"pattern\":\"b+\",\"maxLength\":3}", "\"b\"\n\"abb\"\n\"xxb\"",
     "\"a\"\n\"xxxb\"\n\"\""},
    {"{\"type\":\"string\",\"pattern\":\"^(\\\\\\\\|\\\"|\\\\n)+$\"}", "\"\\\\\\\"\\n\"",
     "\"a\"\n\"\\t\"\n\"\\u000a\""},
    {"{\"type\":\"string\",\"format\":\"date\"}",
     "\"2026-11-23\"\n\"2024-02-29\"\n\"2000-02-29\"\n\"1900-02-28\"\n\"2023-02-28\"",
     "\"2026-13-01\"\n\"2026-04-31\"\n\"today\"\n\"2023-02-29\"\n\"1900-02-29\"\n\"2024-02-30\""},
    {"{\"type\":\"string\",\"pattern\":\"$^\"}", "\"\"", "\"a\"\n\"ab\""},
    {"{\"type\":\"array\",\"items\":{\"type\":\"integer\"},\"minItems\":1,\"maxItems\":2}",
     "[1]\n[1,2]", "[]\n[1,2,3]\n[\"a\"]\n[1,]"},
    {"{\"type\":\"array\",\"prefixItems\":[{\"type\":\"string\"},{\"type\":\"integer\"}],\"items\":"
     "false}",
     "[]\n[\"a\"]\n[\"a\",1]", "[1]\n[\"a\",1,2]"},
    {"{\"type\":[\"integer\",\"null\"]}", "1\nnull", "\"a\"\n1.5\ntrue"},
    {"{\"anyOf\":[{\"type\":\"object\",\"properties\":{\"k\":{\"const\":\"a\"},\"v\":{\"type\":"
     "\"integer\"}},"
     "\"required\":[\"k\",\"v\"]},{\"type\":\"object\",\"properties\":{\"k\":{\"const\":\"b\"}},"
     "\"required\":"
     "[\"k\"],\"additionalProperties\":false},{\"type\":\"string\"}]}",
     "{\"k\":\"a\",\"v\":1}\n{\"k\":\"b\"}\n\"s\"",
     "{\"k\":\"a\"}\n{\"k\":\"b\",\"v\":1}\n{\"k\":\"c\"}\n1"},
    {"{\"oneOf\":[{\"type\":\"integer\",\"maximum\":3},{\"type\":\"integer\",\"minimum\":5},{"
     "\"const\":\"x\"}]}",
     "3\n5\n\"x\"", "4\n\"y\""},
    {"{\"allOf\":[{\"properties\":{\"a\":{\"minimum\":2}},\"required\":[\"a\"]},{\"type\":"
     "\"object\","
     "\"properties\":{\"a\":{\"type\":\"integer\",\"maximum\":4},\"b\":{\"type\":\"null\"}}}]}",
     "{\"a\":2}\n{\"a\":4,\"b\":null}", "{\"a\":1}\n{\"a\":5}\n{}\n{\"a\":2.5}\n[]"},
    {"{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"}},\"required\":[\"a\"],"
     "\"anyOf\":"
     "[{\"properties\":{\"b\":{\"const\":1}},\"required\":[\"b\"]},{\"properties\":{\"c\":{"
     "\"const\":2}},"
     "\"required\":[\"c\"]}]}",
     "{\"a\":7,\"b\":1}\n{\"a\":7,\"c\":2}", "{\"a\":7}\n{\"a\":7,\"b\":2}"},
    {"{\"$defs\":{\"list\":{\"type\":\"object\",\"properties\":{\"v\":{\"type\":\"integer\"},"
     "\"next\":"
     "{\"anyOf\":[{\"$ref\":\"#/$defs/list\"},{\"type\":\"null\"}]}},\"required\":[\"v\",\"next\"],"
     "\"additionalProperties\":false}},\"$ref\":\"#/$defs/list\"}",
     "{\"v\":1,\"next\":{\"v\":2,\"next\":null}}", "{\"v\":1}\nnull\n{\"v\":1,\"next\":{\"v\":2}}"},
    /* One schema by two ways, and one that refers to itself in a value. */
    {"{\"$defs\":{\"a\":{\"$ref\":\"#/$defs/c\"},\"b\":{\"$ref\":\"#/$defs/"
     "c\"},\"c\":{\"type\":[\"integer\","
     "\"array\"],\"items\":{\"anyOf\":[{\"$ref\":\"#/$defs/b\"},{\"type\":\"null\"}]}}},"
     "\"allOf\":[{\"$ref\":\"#/$defs/a\"},{\"$ref\":\"#/$defs/b\"}],\"anyOf\":[{\"$ref\":\"#/$defs/"
     "c\"}]}",
     "1\n[]\n[1,[null,2]]", "\"a\"\n[\"a\"]\nnull"},
};
enum { N_CASES = sizeof cases / sizeof *cases };

static void each_line(const json_schema *s, const char *schema, const char *lines, bool wanted) {
    for (const char *at = lines; *at;) {
        char value[256];
        size_t n = strcspn(at, "\n");
        snprintf(value, sizeof value, "%.*s", (int)n, at);
        if (holds(s, value) != wanted)
            fail_msg("%s %s %s", schema, wanted ? "refuses" : "takes", value);
        at += n + (at[n] != 0);
    }
}

static void values_are_taken_or_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < N_CASES; i++) {
        json_schema *s = compile(cases[i].schema);
        each_line(s, cases[i].schema, cases[i].yes, true);
        each_line(s, cases[i].schema, cases[i].no, false);
        json_schema_free(s);
    }
}

/* Take any byte that is allowed, and closing ones after a while. */
static void walk(const json_schema *s, const char *schema, uint64_t *rng) {
    static const char likely[] = "{}[]\"\"\",:0123456789.eE+-\\untrfalsb/dx abx";
    json_reader *r = malloc(sizeof *r), *next = malloc(sizeof *next);
    fo_buf text = {0};
    json_reader_start(r, s);
    while (!json_closed(r) && !(json_complete(r) && test_random(rng) % 3 == 0)) {
        size_t n_likely = sizeof likely - 1, from = test_random(rng) % 256;
        bool taken = false;
        for (size_t k = 0; k < 512 && !taken; k++) {
            char c = k < 256 ? likely[test_random(rng) % n_likely] : (char)((from + k) % 256);
            if (text.len > 300 && k < 60) c = "\"}]0e"[k % 5];
            json_reader_copy(next, r, JSON_MAX_WAYS);
            if (!json_read(next, &c, 1)) continue;
            json_reader_copy(r, next, JSON_MAX_WAYS);
            fo_buf_char(&text, c);
            taken = true;
        }
        if (!taken && json_complete(r)) break;
        if (!taken) fail_msg("%s: stuck behind %s", schema, text.data);
        if (text.len > 100000) fail_msg("%s: no end", schema);
    }
    cJSON *j = cJSON_ParseWithLength(text.data, text.len);
    if (!j) fail_msg("%s: no JSON: %s", schema, text.data);
    cJSON_Delete(j);
    fo_buf_free(&text);
    free(r);
    free(next);
}

static void every_walk_ends_in_a_value(void **state) {
    (void)state;
    uint64_t rng = test_seed();
    for (size_t i = 0; i < N_CASES; i++) {
        json_schema *s = compile(cases[i].schema);
        for (int k = 0; k < 40; k++) walk(s, cases[i].schema, &rng);
        json_schema_free(s);
    }
}

static void what_cannot_be_honoured_is_refused_by_name_and_place(void **state) {
    (void)state;
    static const struct {
        const char *schema;
        int code;
        const char *says;
    } bad[] = {
        {"{\"properties\":{\"a\":{\"not\":{}}}}", FO_EUNSUPPORTED, "#/properties/a/not"},
        {"{\"patternProperties\":{}}", FO_EUNSUPPORTED, "#/patternProperties"},
        {"{\"items\":{\"uniqueItems\":true}}", FO_EUNSUPPORTED, "#/items/uniqueItems"},
        {"{\"foo\":1}", FO_EUNSUPPORTED, "#/foo"},
        {"{\"type\":\"text\"}", FO_EINVAL, "#/type"},
        {"{\"anyOf\":[{\"type\":\"string\"},{\"format\":\"regex\",\"type\":\"string\"}]}",
         FO_EUNSUPPORTED, "#/anyOf/1/format"},
        {"{\"type\":\"string\",\"pattern\":\"(?=a)\"}", FO_EUNSUPPORTED, "#/pattern: look-around"},
        {"{\"type\":\"string\",\"pattern\":\"a\\\\ude00\"}", FO_EINVAL,
         "#/pattern: half a surrogate pair"},
        {"{\"type\":\"string\",\"pattern\":\"[a\"}", FO_EINVAL, "#/pattern"},
        {"{\"type\":\"string\",\"pattern\":\"^(a{99}){99}$\"}", FO_ELIMIT, "#/pattern"},
        {"{\"$ref\":\"#/$defs/a\"}", FO_EINVAL, "#/$ref"},
        {"{\"$ref\":\"http://a/b\"}", FO_EUNSUPPORTED, "#/$ref"},
        {"{\"$ref\":\"#\"}", FO_EINVAL, "#: this schema refers to itself"},
        {"{\"allOf\":[{\"type\":\"string\"},{\"$ref\":\"#\"}]}", FO_EINVAL,
         "#: this schema refers to itself"},
        {"{\"$defs\":{\"a\":{\"anyOf\":[{\"$ref\":\"#/$defs/a\"},{\"type\":\"string\"}]}},\"$ref\":"
         "\"#/$defs/a\"}",
         FO_EINVAL, "#/$defs/a: this schema refers to itself"},
        {"{\"$defs\":{\"a\":{\"oneOf\":[{\"type\":\"string\"},{\"$ref\":\"#/$defs/"
         "b\"}]},\"b\":{\"$ref\":"
         "\"#/$defs/a\"}},\"properties\":{\"x\":{\"$ref\":\"#/$defs/b\"}}}",
         FO_EINVAL, "#/$defs/b: this schema refers to itself"},
        /* Both are there already when the way back is found. */
        {"{\"$defs\":{\"a\":{\"anyOf\":[{\"$ref\":\"#/$defs/b\"}]},\"b\":{\"$ref\":\"#/$defs/a\"}},"
         "\"allOf\":[{\"$ref\":\"#/$defs/a\"},{\"$ref\":\"#/$defs/b\"}]}",
         FO_EINVAL, ": this schema refers to itself"},
        {"{\"oneOf\":[{\"type\":\"string\"},{\"maxLength\":3,\"type\":\"string\"}]}",
         FO_EUNSUPPORTED, "#/oneOf"},
        {"{\"oneOf\":[{\"type\":\"integer\"},{\"type\":\"number\"}]}", FO_EUNSUPPORTED, "#/oneOf"},
        {"{\"oneOf\":[{\"const\":{\"b\":1,\"a\":2}},{\"type\":\"object\",\"properties\":{\"a\":{},"
         "\"b\":{}}}]}",
         FO_EUNSUPPORTED, "#/oneOf"},
        {"{\"oneOf\":[{\"const\":{\"b\":1,\"a\":2}},{\"const\":{\"a\":2,\"b\":1}}]}",
         FO_EUNSUPPORTED, "#/oneOf"},
        {"{\"oneOf\":[{\"const\":1e20},{\"type\":\"integer\"}]}", FO_EUNSUPPORTED, "#/oneOf"},
        {"{\"type\":\"object\",\"minProperties\":18,\"properties\":{\"a\":{}}}", FO_EUNSUPPORTED,
         "#/minProperties"},
        {"{\"type\":\"integer\",\"minimum\":0.1,\"maximum\":0.9}", FO_EINVAL, "no value"},
        {"{\"type\":\"object\",\"properties\":{\"a\":{\"$ref\":\"#\"}},\"required\":[\"a\"]}",
         FO_EINVAL, "no value"},
        {"{\"type\":\"number\",\"minimum\":1e30}", FO_EUNSUPPORTED, "#/minimum"},
        {"{\"type\":\"string\",\"minLength\":-1}", FO_EINVAL, "#/minLength"},
        {"{\"enum\":[]}", FO_EINVAL, "#/enum"},
        {"{\"items\":[{}]}", FO_EUNSUPPORTED, "#/items"},
        {"7", FO_EINVAL, "#"},
        {"false", FO_EINVAL, "no value"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        fo_err err = {0};
        json_schema *s = NULL;
        cJSON *root = cJSON_Parse(bad[i].schema);
        int rc = json_schema_compile(&s, root, &err);
        if (rc != bad[i].code || !strstr(err.msg, bad[i].says))
            fail_msg("%s: %d %s", bad[i].schema, rc, err.msg);
        cJSON_Delete(root);
    }
}

/* As the server's parser leaves it: a number that no double holds has its digits beside it. */
static void keep_digits(cJSON *tree, const char *digits) {
    cJSON *item;
    if (cJSON_IsNumber(tree) && tree->valuedouble == strtod(digits, NULL)) {
        tree->valuestring = cJSON_malloc(strlen(digits) + 1);
        strcpy(tree->valuestring, digits);
    }
    cJSON_ArrayForEach(item, tree) keep_digits(item, digits);
}

static void numbers_that_no_double_holds_are_refused_where_they_stand(void **state) {
    (void)state;
    static const char digits[] = "9007199254740993";
    static const struct {
        const char *schema, *says;
    } list[] = {
        {"{\"const\":9007199254740993}", "#/const: "},
        {"{\"enum\":[1,{\"a\":[9007199254740993]}]}", "#/enum/1/a/0: "},
        {"{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\",\"minimum\":"
         "9007199254740993}}}",
         "#/properties/a/minimum: "},
        {"{\"type\":\"integer\",\"exclusiveMaximum\":9007199254740993}", "#/exclusiveMaximum: "},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        fo_err err = {0};
        json_schema *s = NULL;
        cJSON *root = cJSON_Parse(list[i].schema);
        keep_digits(root, digits);
        assert_int_equal(json_schema_compile(&s, root, &err), FO_EUNSUPPORTED);
        if (!strstr(err.msg, list[i].says) || !strstr(err.msg, digits))
            fail_msg("%s: %s", list[i].schema, err.msg);
        cJSON_Delete(root);
    }
}

/* 2^20 alternatives, a thousand nested ones, 61 that look alike: refused, not computed. */
static void size_is_bounded(void **state) {
    (void)state;
    fo_buf b = {0};
    fo_buf_str(&b, "{\"allOf\":[");
    for (int i = 0; i < 7; i++)
        fo_buf_printf(&b, "%s{\"anyOf\":[{\"minimum\":%d},{\"maxLength\":%d},{\"minItems\":%d}]}",
                      i ? "," : "", i, i, i);
    fo_buf_str(&b, "]}");
    fo_err err = {0};
    json_schema *s = NULL;
    cJSON *root = cJSON_Parse(b.data);
    assert_int_equal(json_schema_compile(&s, root, &err), FO_ELIMIT);
    cJSON_Delete(root);
    fo_buf_clear(&b);
    for (int i = 0; i < 200; i++) fo_buf_str(&b, "{\"allOf\":[");
    fo_buf_str(&b, "true");
    for (int i = 0; i < 200; i++) fo_buf_str(&b, "]}");
    root = cJSON_Parse(b.data);
    assert_int_equal(json_schema_compile(&s, root, &err), FO_ELIMIT);
    cJSON_Delete(root);
    fo_buf_clear(&b);
    fo_buf_str(&b, "{\"anyOf\":[");
    for (int i = 0; i < 61; i++) fo_buf_printf(&b, "%s{\"const\":%d}", i ? "," : "", i);
    fo_buf_str(&b, "]}");
    root = cJSON_Parse(b.data);
    assert_int_equal(json_schema_compile(&s, root, &err), FO_ELIMIT);
    cJSON_Delete(root);
    fo_buf_free(&b);
}

static void add_list(fo_buf *b, const char *open, size_t n, const char *item, const char *shut) {
    fo_buf_str(b, open);
    for (size_t i = 0; i < n; i++) {
        if (i) fo_buf_char(b, ',');
        for (const char *c = item; *c; c++)
            if (*c == '@')
                fo_buf_printf(b, "%zu", i);
            else
                fo_buf_char(b, *c);
    }
    fo_buf_str(b, shut);
}

/* Schemas whose parts would have to be held against each other one by one: answered soon, taken or refused. */
static void large_schemas_take_no_minutes(void **state) {
    (void)state;
    struct {
        const char *what;
        fo_buf b;
        bool taken;
    } all[13] = {{"two large constants", {0}, true},
                 {"a large enum", {0}, true},
                 {"two enums", {0}, true},
                 {"oneOf of two enums", {0}, true},
                 {"many references", {0}, false},
                 {"a name required often", {0}, false},
                 {"many that say nothing", {0}, false},
                 {"a large value in many places", {0}, false},
                 {"many large patterns", {0}, false},
                 {"a large pattern in many places", {0}, true},
                 {"values read with many properties", {0}, true},
                 {"names that differ at their ends", {0}, true},
                 {"values read in many ways", {0}, false}};
    fo_buf_str(&all[0].b, "{\"allOf\":[");
    add_list(&all[0].b, "{\"const\":{", 400000, "\"k@\":1", "}},");
    add_list(&all[0].b, "{\"const\":{", 400000, "\"k@\":1", "}}]}");
    add_list(&all[1].b, "{\"enum\":[", 32000, "\"v@\"", "]}");
    add_list(&all[2].b, "{\"allOf\":[{\"enum\":[", 30000, "\"v@\"", "]},");
    add_list(&all[2].b, "{\"enum\":[", 30000, "\"v1@\"", "]}]}");
    add_list(&all[3].b, "{\"oneOf\":[{\"enum\":[", 16000, "\"v@\"", "]},");
    add_list(&all[3].b, "{\"enum\":[", 16000, "\"w@\"", "]}]}");
    add_list(&all[4].b, "{\"type\":\"object\",\"properties\":{", 1000,
             "\"p@\":{\"allOf\":[{\"$ref\":\"#/$defs/d199@\"},{\"$ref\":\"#/$defs/d198@\"}]}",
             "},");
    add_list(&all[4].b, "\"$defs\":{", 300000, "\"d@\":{\"type\":\"integer\"}", "}}");
    add_list(&all[5].b, "{\"type\":\"object\",\"properties\":{", 1000, "\"p@\":true", "},");
    add_list(&all[5].b, "\"required\":[", 1000000, "\"p999\"", "]}");
    fo_buf_str(&all[6].b, "{\"allOf\":[");
    for (int i = 0; i < 5; i++)
        add_list(&all[6].b, "{\"anyOf\":[", 9,
                 "{\"allOf\":[{\"$ref\":\"#/$defs/t\"},{\"minimum\":@}]}", "]},");
    add_list(&all[6].b, "true],\"$defs\":{\"t\":{\"allOf\":[", 300000, "true", "]}}}");
    add_list(&all[7].b, "{\"type\":\"object\",\"properties\":{", 1000,
             "\"p@\":{\"$ref\":\"#/$defs/v\",\"minLength\":@}", "},\"$defs\":{\"v\":{\"enum\":[\"");
    add_list(&all[7].b, "", 200000, "a large value", "\"]}}}");
    add_list(&all[8].b, "{\"type\":\"object\",\"properties\":{", 60,
             "\"p@\":{\"type\":\"string\",\"pattern\":\"^(x?){1000}@$\"}", "}}");
    add_list(&all[9].b, "{\"type\":\"object\",\"properties\":{", 1000,
             "\"p@\":{\"type\":\"string\",\"pattern\":\"^(x?){1000}$\"}", "}}");
    static const char close[] = "\"z\":true},\"required\":[\"z\"],\"maxProperties\":1,"
                                "\"additionalProperties\":false}";
    add_list(&all[10].b, "{\"enum\":[", 30000, "{\"z\":@}", "],\"properties\":{");
    add_list(&all[10].b, "", 999, "\"z@\":true", ",");
    fo_buf_str(&all[10].b, close);
    char value[1100], property[1100];
    snprintf(value, sizeof value, "{\"%01000d@\":0}", 0);
    snprintf(property, sizeof property, "\"%01000d@\":true", 0);
    add_list(&all[11].b, "{\"enum\":[", 1000, value, "],\"properties\":{");
    add_list(&all[11].b, "", 1000, property, "}");
    fo_buf_printf(&all[11].b, ",\"required\":[\"%01000d999\"],\"maxProperties\":1}", 0);
    snprintf(value, sizeof value, "[\"%0200d\",@]", 0);
    add_list(&all[12].b, "{\"enum\":[", 5000, value, "],\"anyOf\":[");
    add_list(&all[12].b, "", 60, "{\"type\":\"array\",\"maxItems\":@0}", "]}");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        fo_err err = {0};
        json_schema *s = NULL;
        cJSON *root = cJSON_Parse(all[i].b.data);
        assert_non_null(root);
        const clock_t began = clock();
        int rc = json_schema_compile(&s, root, &err);
        const double took = (double)(clock() - began) / CLOCKS_PER_SEC;
        print_message("# %s: %zu bytes, %.2f s, %s\n", all[i].what, all[i].b.len, took,
                      rc ? err.msg : "taken");
        if (rc != (all[i].taken ? FO_OK : FO_ELIMIT))
            fail_msg("%s: %d %s", all[i].what, rc, err.msg);
        if (took > 20) fail_msg("%s took %.1f s", all[i].what, took);
        json_schema_free(s);
        cJSON_Delete(root);
        fo_buf_free(&all[i].b);
    }
}

/* A model is asked about each of its tokens: what one byte costs must not grow with what there is to choose from. */
static void a_byte_costs_as_much_with_many_names_and_values(void **state) {
    (void)state;
    enum { DECLARED = 1000, MOST = 64 * 256 }; /* turns of a way, for all bytes together */
    struct {
        fo_buf b;
        const char *begin;
    } all[3] = {{.begin = "{\"p"}, {.begin = "{\"p1"}, {.begin = "\"v1"}};
    add_list(&all[0].b, "{\"type\":\"object\",\"minProperties\":900,\"properties\":{", DECLARED,
             "\"p@\":true", "},\"additionalProperties\":false}");
    add_list(&all[1].b, "{\"anyOf\":[{\"type\":\"object\",\"properties\":{", DECLARED,
             "\"p@\":true", "}},");
    add_list(&all[1].b,
             "{\"type\":\"object\",\"required\":[\"p999\"],\"maxProperties\":1,\"properties\":{",
             DECLARED, "\"p@\":true", "}}]}");
    add_list(&all[2].b, "{\"enum\":[", 30000, "\"v@\"", "]}");
    json_reader *r = malloc(sizeof *r), *next = malloc(sizeof *next);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        json_schema *s = compile(all[i].b.data);
        size_t turns = 0;
        json_reader_start(r, s);
        assert_true(json_read(r, all[i].begin, strlen(all[i].begin)));
        for (int c = 0; c < 256; c++) {
            json_reader_copy(next, r, JSON_MAX_WAYS);
            json_read(next, &(char){(char)c}, 1);
            turns += next->turns - r->turns;
        }
        print_message("# %s: %zu turns\n", all[i].begin, turns);
        assert_in_range(turns, 1, (size_t)r->n * MOST);
        json_schema_free(s);
        fo_buf_free(&all[i].b);
    }
    free(r);
    free(next);
}

/* As many tools as may be given look alike up to their names: each can be called, and no other. */
static void each_of_sixty_alternatives_can_be_written(void **state) {
    (void)state;
    enum { MOST = 60 };
    fo_buf b = {0};
    fo_buf_str(&b, "{\"anyOf\":[");
    for (int i = 0; i < MOST; i++)
        fo_buf_printf(&b,
                      "%s{\"type\":\"object\",\"properties\":{\"name\":{\"const\":\"tool%d\"},"
                      "\"n\":{\"const\":%d}},\"required\":[\"name\",\"n\"],"
                      "\"additionalProperties\":false}",
                      i ? "," : "", i, i);
    fo_buf_str(&b, "]}");
    json_schema *s = compile(b.data);
    for (int i = 0; i < MOST; i++) {
        char text[80];
        snprintf(text, sizeof text, "{\"name\": \"tool%d\", \"n\": %d}", i, i);
        if (!holds(s, text)) fail_msg("%s is refused", text);
        snprintf(text, sizeof text, "{\"name\": \"tool%d\", \"n\": %d}", i, (i + 1) % MOST);
        if (holds(s, text)) fail_msg("%s is taken", text);
    }
    json_schema_free(s);
    fo_buf_free(&b);
}

/* As clients write a union of literals: without types, of one kind or of several. */
static void each_of_sixty_values_can_be_written(void **state) {
    (void)state;
    enum { MOST = 60 };
    static const char *const around[][2] = {
        {"\"v", "\""}, {"", ".5"}, {"[", ",null]"}, {"{\"a\":{\"b\":", "}}"}};
    for (int way = 0; way < 3; way++) { /* anyOf consts, oneOf consts, anyOf lists of one */
        fo_buf b = {0};
        fo_buf_printf(&b, "{\"%s\":[", way == 1 ? "oneOf" : "anyOf");
        for (int i = 0; i < MOST; i++) {
            char value[64];
            snprintf(value, sizeof value, "%s%d%s", around[i % 4][0], i, around[i % 4][1]);
            fo_buf_printf(&b, "%s{\"%s\":%s%s%s}", i ? "," : "", way == 2 ? "enum" : "const",
                          way == 2 ? "[" : "", value, way == 2 ? "]" : "");
        }
        fo_buf_str(&b, "]}");
        json_schema *s = compile(b.data);
        for (int i = 0; i < MOST; i++) {
            char value[64];
            snprintf(value, sizeof value, "%s%d%s", around[i % 4][0], i, around[i % 4][1]);
            if (!holds(s, value)) fail_msg("%s is refused", value);
            snprintf(value, sizeof value, "%s%d%s", around[(i + 1) % 4][0], i,
                     around[(i + 1) % 4][1]);
            if (holds(s, value)) fail_msg("%s is taken", value);
        }
        json_schema_free(s);
        fo_buf_free(&b);
    }
}

static void nesting_is_bounded_where_a_value_still_fits(void **state) {
    (void)state;
    json_schema *s = compile("{\"type\":\"object\"}");
    json_reader *r = malloc(sizeof *r);
    json_reader_start(r, s);
    assert_true(json_read(r, "{\"a\":", 5));
    for (int i = 1; i < 62; i++) assert_true(json_read(r, "[", 1));
    json_reader *deeper = malloc(sizeof *deeper);
    json_reader_copy(deeper, r, JSON_MAX_WAYS);
    assert_false(json_read(deeper, "[", 1));
    assert_true(json_read(r, "1", 1));
    json_schema_free(s);
    /* A chain that needs three levels for each link is not begun where they are not left. */
    s = compile(
        "{\"type\":\"array\",\"maxItems\":1,\"items\":{\"type\":\"object\",\"properties\":{\"a\":"
        "{\"$ref\":\"#\"}},\"required\":[\"a\"],\"additionalProperties\":false}}");
    json_reader_start(r, s);
    int links = 0;
    while (json_reader_copy(deeper, r, JSON_MAX_WAYS), json_read(deeper, "[{\"a\":", 6)) {
        json_reader_copy(r, deeper, JSON_MAX_WAYS);
        links++;
    }
    assert_int_equal(links, 30);
    assert_true(json_read(r, "[]", 2));
    for (int i = 0; i < links; i++) assert_true(json_read(r, "}]", 2));
    assert_true(json_complete(r));
    json_schema_free(s);
    free(r);
    free(deeper);
}

static void patterns_match_what_they_say(void **state) {
    (void)state;
    static const struct {
        const char *pattern, *yes, *no;
    } list[] = {
        {"^a*b?$", "\na\nb\naaab", "ba\nabb\nc"},
        {"a", "a\nxay", "\nx"},
        {"^a|b$", "ax\nxb\na", "xa\nx"},
        {"^(ab|cd){2}$", "abab\nabcd", "ab\nababab"},
        {"^[^a-c]$", "d\n\xc3\xa4\n\xf0\x9f\x98\x80", "a\nb\ndd\n"},
        {"^\\w+\\s\\D$", "ab_9 x", "ab9x\nab 1"},
        {"^.$", "x\n\xe2\x82\xac", "xx"},
        {"^[\\u00e4-\\u00f6]$", "\xc3\xa4\n\xc3\xb6", "a\n\xc3\xa3\n\xc3\xb7"},
        {"^[\\ud83d\\ude00-\\ud83d\\ude02]$", "\xf0\x9f\x98\x80\n\xf0\x9f\x98\x82",
         "a\n\xf0\x9f\x98\x83"},
        {"^\\\xc3\xa9+$", "\xc3\xa9\n\xc3\xa9\xc3\xa9", "e\n\xc3"},
        {"^x{2,}y{0,2}$", "xx\nxxxyy", "x\nxxyyy"},
        {"^(a|b)*?c$", "c\nabc", "ab"},
        {"^\\x41\\.\\/$", "A./", "AB/"},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        pattern *p = NULL;
        size_t work = 0;
        fo_err err = {0};
        assert_ok(pattern_compile(&p, list[i].pattern, 0, SIZE_MAX, &work, &err), &err);
        assert_true(work > 0);
        for (int yes = 0; yes < 2; yes++)
            for (const char *at = yes ? list[i].yes : list[i].no;;) {
                size_t n = strcspn(at, "\n");
                uint16_t s = pattern_start(p);
                for (size_t k = 0; k < n && s != PATTERN_DEAD; k++)
                    s = pattern_step(p, s, (unsigned char)at[k]);
                bool matches = s != PATTERN_DEAD && pattern_accepts(p, s);
                if (matches != yes)
                    fail_msg("%s %s %.*s", list[i].pattern, yes ? "refuses" : "takes", (int)n, at);
                if (!at[n]) break;
                at += n + 1;
            }
        pattern_free(p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_taken_or_refused),
        cmocka_unit_test(every_walk_ends_in_a_value),
        cmocka_unit_test(what_cannot_be_honoured_is_refused_by_name_and_place),
        cmocka_unit_test(numbers_that_no_double_holds_are_refused_where_they_stand),
        cmocka_unit_test(large_schemas_take_no_minutes),
        cmocka_unit_test(size_is_bounded),
        cmocka_unit_test(a_byte_costs_as_much_with_many_names_and_values),
        cmocka_unit_test(each_of_sixty_alternatives_can_be_written),
        cmocka_unit_test(each_of_sixty_values_can_be_written),
        cmocka_unit_test(nesting_is_bounded_where_a_value_still_fits),
        cmocka_unit_test(patterns_match_what_they_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
