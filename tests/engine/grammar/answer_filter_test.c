/* The filter over a vocabulary of its own: JSON from the first byte, or between markers with text
 * before; where the end may come; tokens that print nothing. */
#include "tests/test.h"

#include <cjson/cJSON.h>

#include "engine/grammar/answer_filter.h"

/* Control tokens are 0 (unknown), 1 (the end), 2 and 3 (markers), 4 (another one). */
static const char *const pieces[] = {
    "<unk>", "</s>", "<call>", "</call>", "<other>", "{",    "}", "\"",     "a",   "\":",  "1",
    "2",     "\n",   " ",      "x",       "<",       "call", ">", "{\"a\"", ":1}", "\xc3", "\xa4"};
enum { N = sizeof pieces / sizeof *pieces };

static tokenizer *vocabulary(void) {
    tokenizer_string strings[N];
    int32_t types[N];
    for (int i = 0; i < N; i++) {
        strings[i] = (tokenizer_string){pieces[i], strlen(pieces[i])};
        types[i] = i == 0 ? 2 : i < 5 ? 3 : 1;
    }
    tokenizer_spec spec = tokenizer_spec_default(TOKENIZER_SPM);
    spec.tokens = strings;
    spec.n_tokens = N;
    spec.types = types;
    spec.unk = 0;
    spec.eos = 1;
    tokenizer *t = NULL;
    fo_err err = {0};
    assert_ok(tokenizer_create(&t, &spec, &err), &err);
    return t;
}

static json_schema *schema_of(const char *text) {
    cJSON *root = cJSON_Parse(text);
    json_schema *s = NULL;
    fo_err err = {0};
    assert_ok(json_schema_compile(&s, root, &err), &err);
    cJSON_Delete(root);
    return s;
}

static int32_t token(const tokenizer *t, const char *piece) {
    int32_t id = tokenizer_find(t, piece, strlen(piece));
    if (id < 0) fail_msg("no token %s", piece);
    return id;
}

/* Take pieces with "|" between them, each of which must be allowed. */
static void take(answer_filter *f, const tokenizer *t, const char *list) {
    char copy[256];
    snprintf(copy, sizeof copy, "%s", list);
    for (char *save, *p = strtok_r(copy, "|", &save); p; p = strtok_r(NULL, "|", &save)) {
        if (!answer_filter_allows(f, token(t, p))) fail_msg("%s: %s is not allowed", list, p);
        assert_true(answer_filter_take(f, token(t, p)));
    }
}

static bool allows(answer_filter *f, const tokenizer *t, const char *piece) {
    return answer_filter_allows(f, token(t, piece));
}

#define SCHEMA                                                                                     \
    "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"}},\"required\":[\"a\"],"     \
    "\"additionalProperties\":false}"

static void json_alone_ends_where_it_is_closed(void **state) {
    (void)state;
    tokenizer *t = vocabulary();
    json_schema *s = schema_of(SCHEMA);
    answer_filter *f = NULL;
    fo_err err = {0};
    assert_ok(answer_filter_create(&f, &(answer_rule){.schema = s}, t, &err), &err);
    assert_false(allows(f, t, "x"));
    assert_false(allows(f, t, "</s>"));
    assert_false(allows(f, t, "<other>")); /* prints nothing, and could go on for ever */
    assert_false(allows(f, t, "<call>"));
    assert_true(allows(f, t, "{\"a\""));
    take(f, t, "{|\"|a|\":|1");
    assert_false(allows(f, t, "</s>"));
    assert_true(allows(f, t, "2"));
    take(f, t, "2| |}");
    assert_true(answer_filter_done(f));
    assert_false(answer_filter_take(f, token(t, "x")));
    assert_false(allows(f, t, "x"));
    answer_filter_free(f);
    json_schema_free(s);
    /* A number may go on, so the end is the model's to say. */
    s = schema_of("{\"type\":\"integer\"}");
    assert_ok(answer_filter_create(&f, &(answer_rule){.schema = s}, t, &err), &err);
    take(f, t, "1");
    assert_false(answer_filter_done(f));
    assert_true(allows(f, t, "2") && allows(f, t, "</s>"));
    assert_false(allows(f, t, "a"));
    answer_filter_free(f);
    json_schema_free(s);
    tokenizer_free(t);
}

static void between_markers_text_may_come_before(void **state) {
    (void)state;
    tokenizer *t = vocabulary();
    json_schema *s = schema_of(SCHEMA);
    answer_filter *f = NULL;
    fo_err err = {0};
    answer_rule rule = {.schema = s, .open = "<call>\n", .close = "\n</call>"};
    assert_ok(answer_filter_create(&f, &rule, t, &err), &err);
    assert_true(allows(f, t, "x") && allows(f, t, "</s>") && allows(f, t, "<other>"));
    take(f, t, "x|<|<|call|>|x|<call>");
    assert_true(allows(f, t, "x")); /* text still: a newline makes it a call */
    take(f, t, "\n");
    assert_false(allows(f, t, "x") || allows(f, t, "</s>"));
    take(f, t, "{\"a\"|:1}|\n");
    assert_false(allows(f, t, "</s>"));
    take(f, t, "</call>");
    assert_true(answer_filter_done(f));
    answer_filter_free(f);
    rule.repeats = rule.required = true;
    assert_ok(answer_filter_create(&f, &rule, t, &err), &err);
    assert_false(allows(f, t, "x") || allows(f, t, "</s>"));
    take(f, t, "<|call|>|\n|{\"a\"|:1}|\n|</call>");
    assert_false(answer_filter_done(f));
    assert_true(allows(f, t, "</s>"));
    assert_false(allows(f, t, "x"));
    take(f, t, "\n|<call>|\n|{");
    assert_false(allows(f, t, "</s>"));
    answer_filter_free(f);
    json_schema_free(s);
    tokenizer_free(t);
}

/* Sixty ways at once, thirty levels down, in a vocabulary of 40,000 tokens of which few go on: all that is asked for one
 * place is bounded, and what the first way can write is found. */
static void a_place_takes_a_bounded_number_of_looks(void **state) {
    (void)state;
    enum { LETTERS = 26, LONG = LETTERS * LETTERS * LETTERS, BIG = 256 + 2 * LONG, DEEP = 30 };
    static char words[BIG][8];
    static tokenizer_string strings[BIG];
    static int32_t types[BIG];
    for (int i = 0; i < BIG; i++) {
        const int k = (i - 256) % LONG;
        if (i < 256)
            words[i][0] = (char)i;
        else
            snprintf(words[i], sizeof words[i], "%c%c%c%s", 'a' + k / 676, 'a' + k / 26 % 26,
                     'a' + k % 26, i < 256 + LONG ? "" : "s");
        strings[i] = (tokenizer_string){words[i], i < 256 ? 1 : strlen(words[i])};
        types[i] = i < 2 ? 3 : 1;
    }
    tokenizer_spec spec = tokenizer_spec_default(TOKENIZER_SPM);
    spec.tokens = strings;
    spec.n_tokens = BIG;
    spec.types = types;
    spec.unk = 0;
    spec.eos = 1;
    tokenizer *t = NULL;
    fo_err err = {0};
    assert_ok(tokenizer_create(&t, &spec, &err), &err);
    fo_buf b = {0};
    for (int i = 0; i < DEEP; i++) fo_buf_str(&b, "{\"type\":\"array\",\"items\":");
    fo_buf_str(&b, "{\"anyOf\":[");
    for (int i = 0; i < 59; i++)
        fo_buf_printf(&b, "%s{\"type\":\"string\",\"pattern\":\"^[a-z]{2}[0-9]{%d}$\"}",
                      i ? "," : "", i + 1);
    fo_buf_str(&b, ",{\"type\":\"string\",\"pattern\":\"^!$\"}]}");
    for (int i = 0; i < DEEP; i++) fo_buf_str(&b, "}");
    json_schema *s = schema_of(b.data);
    answer_filter *f = NULL;
    assert_ok(answer_filter_create(&f, &(answer_rule){.schema = s}, t, &err), &err);
    for (int i = 0; i < DEEP; i++) assert_true(answer_filter_take(f, token(t, "[")));
    assert_true(answer_filter_take(f, token(t, "\"")));
    assert_true(allows(f, t, "!")); /* the last of the ways leads there */
    size_t allowed = 0;
    for (int32_t i = BIG - 1; i >= 0; i--) allowed += answer_filter_allows(f, i);
    assert_int_equal(allowed, LETTERS); /* and is not followed once so much was asked here */
    assert_true(!allows(f, t, "!") && allows(f, t, "a"));
    assert_true(answer_filter_take(f, token(t, "a")) && answer_filter_take(f, token(t, "b")));
    assert_true(allows(f, t, "7") && !allows(f, t, "c"));
    answer_filter_free(f);
    json_schema_free(s);
    tokenizer_free(t);
    fo_buf_free(&b);
}

static void no_rule_is_no_filter(void **state) {
    (void)state;
    answer_filter *f = NULL;
    fo_err err = {0};
    assert_ok(answer_filter_create(&f, &(answer_rule){0}, NULL, &err), &err);
    assert_null(f);
    answer_filter_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_alone_ends_where_it_is_closed),
        cmocka_unit_test(between_markers_text_may_come_before),
        cmocka_unit_test(a_place_takes_a_bounded_number_of_looks),
        cmocka_unit_test(no_rule_is_no_filter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
