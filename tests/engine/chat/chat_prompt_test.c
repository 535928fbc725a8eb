/* chat_prompt_test.c - a conversation as tokens: what messages hold is text, what the template writes
 * may be control tokens; the fallback to ChatML is told. */
#include "tests/test.h"

#include <cjson/cJSON.h>

#include "engine/chat/chat_prompt.h"
#include "engine/tokenizer/tokenizer_gguf.h"
#include "tests/engine/tiny_model.h"

enum { BOS = 1, END = 2 }; /* of the tiny model: <s> and </s> */

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_message_holds_is_text_unless_asked_otherwise),
        cmocka_unit_test(contents_are_told_from_what_the_template_has_of_them),
    };
    seed = test_seed();
    return cmocka_run_group_tests(tests, open_model, close_model);
}
