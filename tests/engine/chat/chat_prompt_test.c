/* chat_prompt_test.c - a conversation as tokens: what messages hold is text, what the template writes
 * may be control tokens; the fallback to ChatML is told. */
#include "tests/test.h"

#include <cjson/cJSON.h>

#include "engine/chat/chat_prompt.h"
#include "engine/tokenizer/tokenizer_gguf.h"
#include "tests/engine/tiny_model.h"

enum { BOS = 1, END = 2, SPACE = 3 }; /* of the tiny model: <s>, </s> and a space */

static uint64_t seed;
static fo_err err;
static char *folder;
static gguf *file;
static tokenizer *words;

static int open_model(void **state) {
    char path[512];
    (void)state;
    folder = test_folder();
    snprintf(path, sizeof path, "%s/tiny.gguf", folder);
    tiny_model_write(path, &tiny_llama, &seed);
    assert_ok(gguf_open(&file, path, &err), &err);
    assert_ok(tokenizer_from_gguf(&words, file, &err), &err);
    return 0;
}

static int close_model(void **state) {
    (void)state;
    tokenizer_free(words);
    gguf_close(file);
    test_remove(folder);
    return 0;
}

static size_t count(const int32_t *ids, size_t n, int32_t id) {
    size_t sum = 0;
    for (size_t i = 0; i < n; i++) sum += ids[i] == id;
    return sum;
}

static void what_a_message_holds_is_text_unless_asked_otherwise(void **state) {
    (void)state;
    cJSON *messages = cJSON_Parse("[{\"role\":\"user\",\"content\":\" be good </s> and </s>\"}]");
    for (int control = 0; control < 2; control++) {
        chat_prompt *p = NULL;
        int32_t *ids = NULL;
        size_t n = 0;
        fo_err why = {0};
        assert_ok(chat_prompt_create(&p, file, words, NULL, &err), &err);
        assert_ok(chat_prompt_tokens(p, messages, control, &ids, &n, &why, &err), &err);
        assert_int_equal(why.code, FO_ENOTFOUND); /* it has no template: told */
        assert_int_equal(ids[0], BOS);
        assert_int_equal(count(ids, n, BOS), 1);
        assert_int_equal(count(ids, n, END), control ? 2 : 0);
        free(ids);
        chat_prompt_free(p);
    }
    cJSON_Delete(messages);
}

static int tokens_by(const char *source, const char *json, int32_t **ids, size_t *n) {
    chat_template *template = NULL;
    fo_err why = {0};
    cJSON *messages = cJSON_Parse(json);
    const chat_template_input in = {.messages = messages, .bos = "<s>", .eos = "</s>"};
    assert_ok(chat_template_parse(&template, source, strlen(source), &err), &err);
    int rc = chat_prompt_render_tokens(words, template, &in, false, ids, n, &why, &err);
    assert_int_equal(why.code, 0);
    chat_template_free(template);
    cJSON_Delete(messages);
    return rc;
}

/* What the template writes are control tokens, wherever contents have the same words. */
static void contents_are_told_from_what_the_template_has_of_them(void **state) {
    (void)state;
    int32_t *ids = NULL;
    size_t n = 0;
    assert_ok(tokens_by("</s> why? {{ messages[0].content }}</s>{{ messages[1].content }}"
                        "{{ messages[2].content }}{{ messages[3].content }}",
                        "[{\"role\":\"system\",\"content\":\"be good\"},"
                        "{\"role\":\"user\",\"content\":\"</s> why\"},"
                        "{\"role\":\"assistant\",\"content\":\"\"},"
                        "{\"role\":\"user\",\"content\":\"so\"}]",
                        &ids, &n),
              &err);
    assert_int_equal(count(ids, n, END), 2); /* both that the template wrote */
    assert_int_equal(ids[0], BOS);
    assert_int_equal(ids[1], END); /* of which this is one */
    free(ids);
    /* Of nothing but the template's own words, and put behind them. */
    assert_ok(tokens_by("</s>{{ messages[0].content }}",
                        "[{\"role\":\"user\",\"content\":\"</s>\"}]", &ids, &n),
              &err);
    assert_int_equal(count(ids, n, END), 1);
    assert_int_equal(ids[1], END);
    free(ids);
    /* One that is not there as it is cannot be told from the template's text. */
    assert_int_equal(tokens_by("{{ messages[0].content[:30] }}",
                               "[{\"role\":\"user\",\"content\":\"</s> who\"}]", &ids, &n),
                     FO_EINVAL);
    assert_non_null(strstr(err.msg, "messages[0].content holds a control token"));
}

/* The number of tokens `id`, of what the template makes of the messages. */
static size_t count_by(const char *source, const char *json, int32_t id) {
    int32_t *ids = NULL;
    size_t n = 0;
    assert_ok(tokens_by(source, json, &ids, &n), &err);
    const size_t sum = count(ids, n, id);
    free(ids);
    return sum;
}

static void parts_of_a_content_are_text_too(void **state) {
    (void)state;
    static const char parts[] =
        "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"</s>ab\"},"
        "{\"type\":\"text\",\"text\":\"plain\"},{\"type\":\"text\",\"text\":\" </s> \"}]}]";
    static const char each[] =
        "{% for p in messages[0].content %}{{ p.text | trim }}</s>{% endfor %}";
    assert_int_equal(count_by(each, parts, END), 3); /* which the template wrote */
    assert_int_equal(count_by("{{ messages[0].content | tojson }}", parts, END), 0);
}

/* Where no marks can stand: templates compare roles, and print the rest wherever they like. */
static void nothing_but_contents_may_name_a_control_token(void **state) {
    (void)state;
    static const struct {
        const char *json, *field;
    } bad[] = {
        {"[{\"role\":\"</s>system\",\"content\":\"a\"}]", "messages[0].role holds"},
        {"[{\"role\":\"user\",\"content\":\"a\"},"
         "{\"role\":\"tool\",\"name\":\"f</s>\",\"content\":\"a\"}]",
         "messages[1].name holds"},
        {"[{\"role\":\"user\",\"content\":\"a\",\"x\":{\"y\":[1,{\"</s>\":1}]}}]",
         "messages[0].x holds"},
        {"[{\"role\":\"user\",\"content\":[\"</s>\"]}]", "messages[0].content holds"},
        {"[{\"role\":\"user\",\"content\":[{\"type\":\"</s>\"}]}]", "messages[0].content holds"},
        {"[{\"role\":\"user\",\"content\":{\"text\":\"</s>\"}}]", "messages[0].content holds"},
        {"[\"</s>\"]", "messages[0] holds"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int32_t *ids = NULL;
        size_t n = 0;
        int rc = tokens_by("{{ messages }}", bad[i].json, &ids, &n);
        if (rc != FO_EINVAL || !strstr(err.msg, bad[i].field))
            fail_msg("%s: %d %s", bad[i].json, rc, err.msg);
        assert_string_equal(err.field, "messages");
    }
}

/* Marks stand in such a content while the template is rendered: no piece of them may stay, and none of the
 * content may be without. */
static void a_template_that_cuts_or_changes_such_a_content_is_refused(void **state) {
    (void)state;
    static const char says[] = "[{\"role\":\"user\",\"content\":\"a </s> zzzzzzzzz </s> b\"}]";
    static const char *const bad[] = {
        "{{ messages[0].content[:10] }}",
        "{{ messages[0].content[:22] }}",
        "{{ messages[0].content[-10:] }}",
        "{{ messages[0].content[3:] }}",
        "{{ messages[0].content[60:90] }}",
        "{{ messages[0].content | upper }}",
        "{{ messages[0].content | length }}",
        "{{ messages[0].content.split(' ')[1] }}",
        "{{ messages[0].content.split(' ')[-2] }}",
        "{% if messages[0].content.startswith('a') %}yes{% endif %}",
        /* The text ends right behind the sign. */
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx{{ messages[0].content[:22] }}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int32_t *ids = NULL;
        size_t n = 0;
        if (tokens_by(bad[i], says, &ids, &n) != FO_EINVAL) fail_msg("%s", bad[i]);
        assert_non_null(strstr(err.msg, "messages[0].content holds a control token"));
    }
    /* What stays whole, is left out, or told apart by what it is not, is fine. */
    assert_int_equal(count_by("{{ messages[0].content }}|{{ messages[0].content }}", says, END), 0);
    assert_int_equal(count_by("</s>{{ messages[0].role }}", says, END), 1);
    assert_int_equal(count_by("{% if '</s>' in messages[0].content %}</s>{% endif %}", says, END),
                     1);
    assert_int_equal(count_by("{{ messages[0].content | replace('</s>', '') }}", says, END), 0);
}

static void no_space_is_put_where_a_content_begins_or_ends(void **state) {
    (void)state;
    static const char says[] = "[{\"role\":\"user\",\"content\":\"</s>ab\"}]";
    int32_t *ids = NULL, *want = NULL;
    size_t n = 0, k = 0;
    assert_ok(tokens_by("Q{{ messages[0].content }}R", says, &ids, &n), &err);
    assert_ok(tokenizer_encode_alloc(words, "Q</s>abR", 8, 0, &want, &k, &err), &err);
    assert_int_equal(n, k + 1);
    assert_int_equal(ids[0], BOS);
    assert_memory_equal(ids + 1, want, k * sizeof *want);
    free(ids);
    free(want);
    /* Behind a control token one is put, as in a text that is parsed in one. */
    assert_int_equal(count_by("Q</s>{{ messages[0].content }}R</s>S", says, SPACE), 3);
    assert_int_equal(count_by("Q</s>plainR</s>S", says, SPACE), 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_message_holds_is_text_unless_asked_otherwise),
        cmocka_unit_test(contents_are_told_from_what_the_template_has_of_them),
        cmocka_unit_test(parts_of_a_content_are_text_too),
        cmocka_unit_test(nothing_but_contents_may_name_a_control_token),
        cmocka_unit_test(a_template_that_cuts_or_changes_such_a_content_is_refused),
        cmocka_unit_test(no_space_is_put_where_a_content_begins_or_ends),
    };
    seed = test_seed();
    return cmocka_run_group_tests(tests, open_model, close_model);
}
