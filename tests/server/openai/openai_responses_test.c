/* openai_responses_test.c - /v1/responses: its items and events, what it says of itself, and the names in its
 * errors. The model (chain_model.h) writes what a rule leaves it. */
#include "tests/retrieval/chain_model.h"
#include "tests/server/routes/http_fixture.h"

static int setup(void **state) {
    char *dir = test_folder(), path[4096];
    snprintf(path, sizeof path, "%s/chain.gguf", dir);
    chain_model_write(path, "The red kite is kept in the boathouse.");
    *state = fixture_open(dir, strdup(path), (engine_options){.kv_ram = 64 << 20});
    return 0;
}

static int teardown(void **state) {
    fixture_close(*state);
    return 0;
}

/* What a chat takes, false, passes here too; what would have an effect is refused by name. */
static void stream_options_are_those_of_a_chat(void **state) {
    static const char form[] =
        "{\"input\":\"Hello\",\"max_output_tokens\":2,\"stream_options\":{%s}}";
    static const struct {
        const char *options, *param;
    } cases[] = {{"", NULL},
                 {"\"include_obfuscation\":false", NULL},
                 {"\"include_obfuscation\":true", "stream_options.include_obfuscation"},
                 {"\"include_obfuscation\":1", "stream_options.include_obfuscation"},
                 {"\"include_usage\":true", "stream_options.include_usage"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char body[256];
        snprintf(body, sizeof body, form, cases[i].options);
        cJSON *r = ask(*state, "/v1/responses", body, cases[i].param ? 400 : 200);
        if (cases[i].param) assert_string_equal(text(r, "error.param"), cases[i].param);
        cJSON_Delete(r);
    }
}

static void answers_come_in_another_shape(void **state) {
    fixture *f = *state;
    cJSON_Delete(ask(f, "/ingest",
                     "{\"documents\":[{\"id\":\"kite\",\"title\":\"Kites\",\"text\":"
                     "\"The red kite is kept in the boathouse.\"}]}",
                     200));
    static const char body[] =
        "{\"model\":\"forage/default\",\"instructions\":\"Be brief.\",\"input\":"
        "[{\"role\":\"user\",\"content\":\"Hello\"},{\"type\":\"message\",\"role\":"
        "\"assistant\",\"id\":\"msg_1\",\"status\":\"completed\",\"phase\":null,"
        "\"content\":[{\"type\":\"output_text\",\"text\":\"Hello.\",\"annotations\":"
        "[]}]},{\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":"
        "\"Where is the red kite kept?\"}]}]%s}";
    char asked[1024];
    snprintf(asked, sizeof asked, body, "");
    cJSON *r = ask(f, "/v1/responses", asked, 200);
    assert_string_equal(text(r, "object"), "response");
    assert_string_equal(text(r, "status"), "completed");
    assert_int_equal(strncmp(text(r, "id"), "resp_", 5), 0);
    assert_non_null(strstr(text(r, "output.0.content.0.text"), "boathouse"));
    assert_string_equal(text(r, "output.0.content.0.annotations.0.file_id"), "kite");
    assert_true(cJSON_IsTrue(at(r, "citations.0.verified")));
    snprintf(asked, sizeof asked, body, ",\"stream\":true");
    fo_buf b = {0}, sum = {0};
    send_body(f, "/v1/responses", asked, &b, false);
    static const char *const order[] = {"response.created",           "response.in_progress",
                                        "response.output_item.added", "response.content_part.added",
                                        "response.output_text.delta", "response.output_text.done",
                                        "response.content_part.done", "response.output_item.done",
                                        "response.completed"};
    size_t n = 0, n_events = 0;
    for (char *save, *line = strtok_r(b.data, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save)) {
        cJSON *j = strncmp(line, "data: {", 7) ? NULL : cJSON_Parse(line + 6);
        if (!j) continue;
        assert_int_equal(number(j, "sequence_number"), n_events++);
        const char *type = text(j, "type");
        if (n && !strcmp(type, order[n - 1])) n--; /* more of the same */
        if (n == 9 || strcmp(type, order[n]) != 0) fail_msg("%s, not %s", type, order[n]);
        n++;
        if (n == 5) fo_buf_str(&sum, text(j, "delta"));
        if (n == 5 || n == 6)
            assert_true(cJSON_IsArray(at(j, "logprobs"))); /* clients go through it */
        if (n == 9) assert_string_equal(text(j, "response.output.0.content.0.text"), sum.data);
        cJSON_Delete(j);
    }
    assert_int_equal(n, 9);
    assert_string_equal(sum.data, text(r, "output.0.content.0.text"));
    cJSON_Delete(r);
    fo_buf_free(&b);
    fo_buf_free(&sum);
}

static void what_cannot_be_honoured_is_refused_by_name(void **state) {
    fixture *f = *state;
    static const struct {
        const char *body, *param;
    } cases[] = {
        {"{}", "input"},
        {"{\"input\":7}", "input"},
        {"{\"input\":[{\"role\":\"user\"}]}", "input[0].content"},
        {"{\"input\":[{\"role\":\"user\",\"content\":[{\"type\":\"input_image\"}]}]}",
         "input[0].content[0].type"},
        {"{\"input\":[{\"type\":\"reasoning\"}]}", "input[0].type"},
        {"{\"input\":[{\"role\":\"user\",\"content\":\"a\",\"foo\":1}]}", "input[0].foo"},
        {"{\"input\":\"a\",\"foo\":1}", "foo"},
        {"{\"input\":\"a\",\"messages\":[]}", "messages"},
        {"{\"input\":\"a\",\"n\":1}", "n"},
        {"{\"input\":\"a\",\"previous_response_id\":\"resp_1\"}", "previous_response_id"},
        {"{\"input\":\"a\",\"store\":true}", "store"},
        {"{\"input\":\"a\",\"background\":true}", "background"},
        {"{\"input\":\"a\",\"reasoning\":{\"effort\":\"low\"}}", "reasoning"},
        {"{\"input\":\"a\",\"include\":[\"a\"]}", "include"},
        {"{\"input\":\"a\",\"include\":\"reasoning.encrypted_content\"}", "include"},
        {"{\"input\":\"a\",\"include\":true}", "include"},
        {"{\"model\":\"forage/default\",\"input\":\" \"}", "input"},
        {"{\"input\":\"a\",\"truncation\":\"auto\"}", "truncation"},
        {"{\"input\":\"a\",\"max_output_tokens\":0}", "max_output_tokens"},
        {"{\"input\":\"a\",\"text\":{\"format\":{\"type\":\"xml\"}}}", "text.format.type"},
        {"{\"input\":\"a\",\"text\":{\"format\":{\"type\":\"json_schema\"}}}",
         "text.format.schema"},
        {"{\"input\":\"a\",\"text\":{\"format\":{\"type\":\"json_schema\",\"schema\":{\"const\":"
         "9007199254740993}}}}",
         "text.format.schema"},
        {"{\"input\":\"a\",\"tools\":[{\"type\":\"web_search\"}]}", "tools[0].type"},
        {"{\"input\":\"a\",\"tools\":[{\"type\":\"function\",\"name\":\"a b\"}]}", "tools[0].name"},
        {"{\"model\":\"forage/"
         "default\",\"input\":\"a\",\"text\":{\"format\":{\"type\":\"xml\"}}}",
         "text.format.type"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cJSON *r = ask(f, "/v1/responses", cases[i].body, 400);
        if (strcmp(text(r, "error.param"), cases[i].param) != 0)
            fail_msg("%s: %s", cases[i].body, text(r, "error.param"));
        cJSON_Delete(r);
    }
    cJSON *r = ask(f, "/v1/responses", "{\"model\":\"gpt-9\",\"input\":\"a\"}", 404);
    assert_string_equal(text(r, "error.code"), "model_not_found");
    cJSON_Delete(r);
}

#define TOOL                                                                                       \
    "{\"type\":\"function\",\"name\":\"measure\",\"parameters\":{\"type\":\"object\","             \
    "\"properties\":{\"cm\":{\"const\":0.30000000000000004}},\"required\":[\"cm\"],"               \
    "\"additionalProperties\":false},\"strict\":true}"

/* A member of the reply that is the same as this JSON. */
static void expect(const cJSON *r, const char *key, const char *want) {
    cJSON *v = cJSON_Parse(want);
    const cJSON *got = cJSON_GetObjectItemCaseSensitive(r, key);
    char *said = cJSON_PrintUnformatted(got);
    if (!cJSON_Compare(got, v, true)) fail_msg("%s is %s instead of %s", key, said, want);
    cJSON_free(said);
    cJSON_Delete(v);
}

static void a_response_says_what_it_was_asked_for(void **state) {
    static const char given[] =
        "{\"input\":\"How long?\",\"instructions\":\"Be brief.\",\"max_output_tokens\":200,"
        "\"temperature\":0.5,\"tools\":[" TOOL "],\"tool_choice\":{\"type\":\"function\","
        "\"name\":\"measure\"},\"metadata\":{\"a\":\"b\"}}";
    cJSON *r = ask(*state, "/v1/responses", given, 200), *asked = cJSON_Parse(given);
    static const char *const same[] = {"instructions", "max_output_tokens", "temperature",
                                       "tools",        "tool_choice",       "metadata"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        char *want = cJSON_PrintUnformatted(cJSON_GetObjectItemCaseSensitive(asked, same[i]));
        expect(r, same[i], want);
        cJSON_free(want);
    }
    assert_true(number(r, "tools.0.parameters.properties.cm.const") == .1 + .2);
    expect(r, "text", "{\"format\":{\"type\":\"text\"}}");
    assert_string_equal(text(r, "output.0.name"), "measure");
    cJSON_Delete(asked);
    cJSON_Delete(r);
}

static void a_response_says_what_holds_by_itself(void **state) {
    static const char *const bodies[] = {
        "{\"input\":\"Hello\",\"max_output_tokens\":4}",
        "{\"input\":\"Hello\",\"model\":\"forage/default\",\"instructions\":null,\"tools\":null,"
        "\"text\":{\"format\":{\"type\":\"json_object\"}}}"};
    for (int i = 0; i < 2; i++) {
        cJSON *r = ask(*state, "/v1/responses", bodies[i], 200);
        expect(r, "instructions", "null");
        expect(r, "tools", "[]");
        expect(r, "tool_choice", "\"auto\"");
        expect(r, "top_p", "1");
        expect(r, "temperature", i ? "0" : "1");
        expect(r, "max_output_tokens", i ? "null" : "4");
        expect(r, "text",
               i ? "{\"format\":{\"type\":\"json_object\"}}" : "{\"format\":{\"type\":\"text\"}}");
        cJSON_Delete(r);
    }
}

#define CALL(id, name, arguments)                                                                  \
    "{\"type\":\"function_call\",\"call_id\":\"" id "\",\"name\":\"" name                          \
    "\",\"arguments\":\"" arguments "\"}"
#define USER "{\"role\":\"user\",\"content\":\"a\"}"

/* Instructions are a message of the chat, and calls in a row are one. */
static void errors_name_the_item_that_was_sent(void **state) {
    static const struct {
        const char *body, *param, *begins;
    } cases[] = {
        {"{\"instructions\":\"x\",\"input\":[" CALL("c", "f", "{bad") "]}", "input[0].arguments",
         "input[0].arguments must hold JSON"},
        {"{\"input\":[" USER "," CALL("c", "f", "{}") "," CALL("d", "f", "[") "]}",
         "input[2].arguments", "input[2].arguments must hold JSON"},
        {"{\"input\":[" CALL("c", "f", "{}") "," CALL("d", "f", "{}") "," USER "," CALL(
             "e", "f", "{}") "," CALL("f", "a b", "{}") "]}",
         "input[4].name", "input[4].name must be made of"},
        {"{\"instructions\":\"x\",\"input\":[" CALL("c", "f", "{}") "," CALL("</s>", "f",
                                                                             "{}") "," USER "]}",
         "input", "input[1] holds a control token"},
        {"{\"instructions\":\"x\",\"input\":[" CALL("c", "f", "{}") "," CALL(
             "d", "f",
             "{}") ",{\"type\":\"function_call_output\",\"call_id\":\"</s>\",\"output\":\"1\"}]}",
         "input", "input[2].call_id holds a control token"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cJSON *r = ask(*state, "/v1/responses", cases[i].body, 400);
        assert_string_equal(text(r, "error.param"), cases[i].param);
        if (strncmp(text(r, "error.message"), cases[i].begins, strlen(cases[i].begins)) != 0)
            fail_msg("%s: %s", cases[i].body, text(r, "error.message"));
        cJSON_Delete(r);
    }
}

int main(void) {
    curl_global_init(CURL_GLOBAL_DEFAULT);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stream_options_are_those_of_a_chat),
        cmocka_unit_test(answers_come_in_another_shape),
        cmocka_unit_test(what_cannot_be_honoured_is_refused_by_name),
        cmocka_unit_test(a_response_says_what_it_was_asked_for),
        cmocka_unit_test(a_response_says_what_holds_by_itself),
        cmocka_unit_test(errors_name_the_item_that_was_sent),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
