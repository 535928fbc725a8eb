/* openai_fields_test.c - every field of OpenAI's chat completions (those that its Python client 3.54 knows) and
 * every one of our own, asked of the model alone and of documents: honoured, or refused by name with
 * 400, as the table in docs/openai.md says. What a field does is in openai_test.c and
 * grounded_text_test.c; that one which is honoured is read at all shows in a bad value of it being
 * refused by name. */
#include "kernels/utf8.h"
#include "tests/retrieval/chain_model.h"
#include "tests/server/routes/http_fixture.h"

static int setup(void **state) {
    char *dir = test_folder(), path[4096];
    snprintf(path, sizeof path, "%s/chain.gguf", dir);
    chain_model_write(path, "The grey heron stands one metre tall.");
    fixture *f = fixture_open(dir, strdup(path), (engine_options){.kv_ram = 64 << 20});
    cJSON_Delete(ask(f, "/ingest",
                     "{\"documents\":[{\"id\":\"heron\",\"text\":\"The grey heron stands one metre "
                     "tall.\"}]}",
                     200));
    *state = f;
    return 0;
}

static int teardown(void **state) {
    fixture_close(*state);
    return 0;
}

#define F "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\"}}]"
#define J "\"response_format\":{\"type\":\"json_object\"}"

enum outcome { YES, NO }; /* honoured (or asks for nothing), refused */

/* `asks` asks for something, with what else it takes; `bad` is no value of the field. */
static const struct row {
    const char *field, *asks, *bad;
    enum outcome plain, grounded;
    const char *param; /* of the refusal; NULL: the field */
} rows[] = {
    {"messages", NULL, "\"messages\":7", YES, YES, NULL},
    {"model", NULL, "\"model\":7", YES, YES, NULL},
    {"audio", "\"audio\":{\"voice\":\"ash\",\"format\":\"wav\"}", NULL, NO, NO, NULL},
    {"frequency_penalty", "\"frequency_penalty\":0.5", "\"frequency_penalty\":3", YES, YES, NULL},
    {"function_call", "\"function_call\":{\"name\":\"f\"}", NULL, NO, NO, NULL},
    {"functions", "\"functions\":[{\"name\":\"f\"}]", NULL, NO, NO, NULL},
    {"logit_bias", "\"logit_bias\":{\"5\":1}", "\"logit_bias\":[1]", YES, NO, NULL},
    {"logprobs", "\"logprobs\":true", "\"logprobs\":2", YES, NO, NULL},
    {"max_completion_tokens", "\"max_completion_tokens\":9", "\"max_completion_tokens\":0", YES,
     YES, NULL},
    {"max_tokens", "\"max_tokens\":9", "\"max_tokens\":0", YES, YES, NULL},
    {"metadata", "\"metadata\":{\"a\":\"b\"}", "\"metadata\":{\"a\":1}", YES, YES, NULL},
    {"modalities", "\"modalities\":[\"text\",\"audio\"]", NULL, NO, NO, NULL},
    {"moderation", "\"moderation\":{\"model\":\"m\"}", NULL, NO, NO, NULL},
    {"n", "\"n\":2", "\"n\":0", YES, YES, NULL},
    {"parallel_tool_calls", F ",\"parallel_tool_calls\":false", "\"parallel_tool_calls\":1", YES,
     YES, NULL},
    {"prediction", "\"prediction\":{\"type\":\"content\",\"content\":\"b\"}", NULL, NO, NO, NULL},
    {"presence_penalty", "\"presence_penalty\":0.5", "\"presence_penalty\":\"a\"", YES, YES, NULL},
    {"prompt_cache_key", "\"prompt_cache_key\":\"p\"", "\"prompt_cache_key\":1", YES, YES, NULL},
    {"prompt_cache_options", "\"prompt_cache_options\":{\"mode\":\"explicit\"}", NULL, NO, NO,
     NULL},
    {"prompt_cache_retention", "\"prompt_cache_retention\":\"24h\"", NULL, NO, NO, NULL},
    {"reasoning_effort", "\"reasoning_effort\":\"high\"", NULL, NO, NO, NULL},
    {"response_format", J, "\"response_format\":{\"type\":\"xml\"}", YES, YES, NULL},
    {"safety_identifier", "\"safety_identifier\":\"s\"", "\"safety_identifier\":1", YES, YES, NULL},
    {"seed", "\"seed\":7,\"temperature\":1", "\"seed\":1.5", YES, YES, NULL},
    {"service_tier", "\"service_tier\":\"flex\"", NULL, NO, NO, NULL},
    {"stop", "\"stop\":[\"metre\"]", "\"stop\":7", YES, YES, NULL},
    {"store", "\"store\":true", NULL, NO, NO, NULL},
    {"stream", "\"stream\":true", "\"stream\":1", YES, YES, NULL},
    {"stream_options", "\"stream\":true,\"stream_options\":{\"include_usage\":true}",
     "\"stream_options\":{\"include_usage\":1}", YES, YES, NULL},
    {"temperature", "\"temperature\":0.7", "\"temperature\":9", YES, YES, NULL},
    {"tool_choice", F ",\"tool_choice\":\"auto\"", "\"tool_choice\":\"maybe\"", YES, YES, NULL},
    {"tools", F, "\"tools\":{}", YES, YES, NULL},
    {"top_logprobs", "\"logprobs\":true,\"top_logprobs\":2", "\"top_logprobs\":99", YES, NO,
     "logprobs"},
    {"top_p", "\"top_p\":0.5", "\"top_p\":2", YES, YES, NULL},
    {"user", "\"user\":\"u\"", "\"user\":1", YES, YES, NULL},
    {"verbosity", "\"verbosity\":\"low\"", NULL, NO, NO, NULL},
    {"web_search_options", "\"web_search_options\":{}", NULL, NO, NO, NULL},
    /* ours */
    {"top_k", "\"top_k\":5", "\"top_k\":-1", YES, YES, NULL},
    {"min_p", "\"min_p\":0.1", "\"min_p\":2", YES, YES, NULL},
    {"repetition_penalty", "\"repetition_penalty\":1.1", "\"repetition_penalty\":0", YES, YES,
     NULL},
    {"priority", "\"priority\":5", "\"priority\":1000", YES, YES, NULL},
    {"stop_token_ids", "\"stop_token_ids\":[2]", "\"stop_token_ids\":2", YES, NO, NULL},
    {"lookup", "\"lookup\":false", "\"lookup\":1", YES, YES, NULL},
    {"sparse", "\"sparse\":{\"retention\":0.5}", "\"sparse\":{\"retention\":0}", YES, YES, NULL},
    {"diffusion", "\"diffusion\":{\"steps\":8}", "\"diffusion\":{\"steps\":0}", NO, NO, NULL},
    {"kv_reuse", "\"kv_reuse\":\"off\"", "\"kv_reuse\":\"some\"", YES, YES, NULL},
};
enum { N_ROWS = sizeof rows / sizeof *rows };

static long chat(fixture *f, bool grounded, const char *more, fo_buf *out) {
    char body[1024], named[64] = "";
    bool names = more && strstr(more, "\"model\"");
    bool says = more && strstr(more, "\"messages\"");
    bool bounded = more && (strstr(more, "_tokens\":") != NULL);
    if (grounded && !names) snprintf(named, sizeof named, "\"model\":\"forage/default\",");
    snprintf(
        body, sizeof body, "{%s%s%s%s%s}", named,
        says ? "" : "\"messages\":[{\"role\":\"user\",\"content\":\"How tall is the heron?\"}]",
        bounded || says ? "" : ",\"max_tokens\":40", more && !says ? "," : "", more ? more : "");
    return send_body(f, "/v1/chat/completions", body, out, false);
}

static void check(fixture *f, const struct row *r, bool grounded, const char *more,
                  enum outcome want) {
    fo_buf b = {0};
    long status = chat(f, grounded, more, &b);
    const char *param = r->param && more == r->asks ? r->param : r->field;
    if (status != (want == YES ? 200 : 400))
        fail_msg("%s (%s): %ld: %s", r->field, grounded ? "grounded" : "plain", status, b.data);
    if (want == NO) {
        cJSON *j = cJSON_ParseWithLength(b.data, b.len);
        if (strncmp(text(j, "error.param"), param, strlen(param)) != 0 ||
            !strstr(text(j, "error.message"), param))
            fail_msg("%s is refused as %s: %s", r->field, text(j, "error.param"), b.data);
        cJSON_Delete(j);
    }
    fo_buf_free(&b);
}

static void every_field_is_honoured_or_refused_by_name(void **state) {
    for (size_t i = 0; i < N_ROWS; i++)
        for (int grounded = 0; grounded < 2; grounded++) {
            const struct row *r = &rows[i];
            check(*state, r, grounded, r->asks, grounded ? r->grounded : r->plain);
            if (r->bad) check(*state, r, grounded, r->bad, NO);
        }
}

/* What documents refuse in sentences they honour where the model writes by a rule. */
static void what_sentences_have_not_json_has(void **state) {
    static const char *const more[] = {J ",\"logprobs\":true,\"top_logprobs\":2",
                                       J ",\"stop_token_ids\":[2]", J ",\"logit_bias\":{\"5\":1}",
                                       F ",\"tool_choice\":\"required\",\"logprobs\":true"};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        fo_buf b = {0};
        long status = chat(*state, true, more[i], &b);
        if (status != 200) fail_msg("%s: %ld: %s", more[i], status, b.data);
        if (strstr(more[i], "logprobs")) assert_non_null(strstr(b.data, "\"top_logprobs\":["));
        fo_buf_free(&b);
    }
}

/* A schema beyond the bounds is no prompt that is too long. */
static void what_is_beyond_a_bound_is_named(void **state) {
    static const struct {
        const char *path, *begin, *end, *param;
    } cases[] = {
        {"/v1/chat/completions",
         "{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}],\"response_format\":{\"type\":"
         "\"json_schema\",\"json_schema\":{\"schema\":",
         "}}}", "response_format.json_schema.schema"},
        {"/v1/chat/completions",
         "{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}],\"tools\":[{\"function\":{"
         "\"name\":\"f\",\"parameters\":",
         "}}]}", "tools[0].function.parameters"},
        {"/v1/responses",
         "{\"input\":\"x\",\"text\":{\"format\":{\"type\":\"json_schema\",\"name\":\"s\","
         "\"schema\":",
         "}}}", "text.format.schema"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fo_buf b = {0};
        fo_buf_printf(&b, "%s{\"type\":\"object\",\"properties\":{\"p0\":{}", cases[i].begin);
        for (int k = 1; k < 1025; k++) fo_buf_printf(&b, ",\"p%d\":{}", k);
        fo_buf_printf(&b, "}}%s", cases[i].end);
        cJSON *r = ask(*state, cases[i].path, b.data, 400);
        assert_string_equal(text(r, "error.param"), cases[i].param);
        assert_string_equal(text(r, "error.code"), "bad_field");
        cJSON_Delete(r);
        fo_buf_free(&b);
    }
    fo_buf b = {0}; /* one that is */
    fo_buf_str(&b, "{\"messages\":[{\"role\":\"user\",\"content\":\"");
    for (int k = 0; k < CHAIN_CONTEXT; k++) fo_buf_char(&b, 'x');
    fo_buf_str(&b, "\"}]}");
    cJSON *r = ask(*state, "/v1/chat/completions", b.data, 400);
    assert_string_equal(text(r, "error.code"), "context_length_exceeded");
    assert_string_equal(text(r, "error.param"), "messages");
    cJSON_Delete(r);
    fo_buf_free(&b);
}

/* As the service gave it: who goes on after a refusal sends it back. */
static void a_refusal_is_what_the_assistant_said(void **state) {
    static const char *const chats[] = {
        "{\"role\":\"assistant\",\"content\":null,\"refusal\":\"No.\"}",
        "{\"role\":\"assistant\",\"content\":[{\"type\":\"refusal\",\"refusal\":\"No.\"}]}",
        "{\"role\":\"assistant\",\"content\":\"No.\"}",
    };
    static const char *const models[] = {"", "\"model\":\"forage/default\","};
    const char asked[] = "{\"role\":\"user\",\"content\":\"How tall is the heron?\"}";
    char body[1024];
    for (size_t m = 0; m < 2; m++) {
        double read = 0;
        for (size_t i = 3; i-- > 0;) {
            snprintf(body, sizeof body, "{%s\"messages\":[%s,%s,%s],\"max_tokens\":40}", models[m],
                     asked, chats[i], asked);
            cJSON *r = ask(*state, "/v1/chat/completions", body, 200);
            if (i == 2) read = number(r, "usage.prompt_tokens");
            assert_true(number(r, "usage.prompt_tokens") ==
                        read); /* the same prompt as that text */
            cJSON_Delete(r);
        }
        snprintf(body, sizeof body,
                 "{%s\"input\":[%s,{\"type\":\"message\",\"id\":\"msg_1\",\"status\":"
                 "\"completed\",\"role\":\"assistant\",\"content\":[{\"type\":\"refusal\","
                 "\"refusal\":\"No.\"}]},%s],\"max_output_tokens\":40}",
                 models[m], asked, asked);
        cJSON *r = ask(*state, "/v1/responses", body, 200);
        assert_true(number(r, "usage.input_tokens") == read);
        cJSON_Delete(r);
    }
    static const char *const wrong[] = {
        "{\"role\":\"user\",\"content\":null,\"refusal\":\"No.\"}",
        "{\"role\":\"assistant\",\"content\":\"Yes.\",\"refusal\":\"No.\"}",
        "{\"role\":\"assistant\",\"content\":null,\"refusal\":7}"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        snprintf(body, sizeof body, "{\"messages\":[%s,%s]}", wrong[i], asked);
        cJSON *r = ask(*state, "/v1/chat/completions", body, 400);
        assert_string_equal(text(r, "error.param"), "messages[0].refusal");
        cJSON_Delete(r);
    }
}

static void a_prompt_in_tokens_is_echoed_as_its_text(void **state) {
    cJSON *t = ask(*state, "/v1/tokenize", "{\"text\":\"The grey\"}", 200);
    char *ids = cJSON_PrintUnformatted(at(t, "tokens")), body[1024];
    static const char form[] =
        "{\"prompt\":%s%s%s,\"echo\":%s,\"max_tokens\":3,\"temperature\":0%s}";
    for (int listed = 0; listed < 2; listed++) {
        const char *open = listed ? "[" : "", *close = listed ? "]" : "";
        snprintf(body, sizeof body, form, open, ids, close, "false", "");
        cJSON *bare = ask(*state, "/v1/completions", body, 200);
        snprintf(body, sizeof body, form, open, ids, close, "true", "");
        cJSON *echo = ask(*state, "/v1/completions", body, 200);
        char want[256];
        snprintf(want, sizeof want, "The grey%s", text(bare, "choices.0.text"));
        assert_string_equal(text(echo, "choices.0.text"), want);
        cJSON_Delete(bare);
        cJSON_Delete(echo);
    }
    snprintf(body, sizeof body, form, "", ids, "", "true", ",\"stream\":true");
    fo_buf b = {0};
    assert_int_equal(send_body(*state, "/v1/completions", body, &b, false), 200);
    assert_non_null(strstr(b.data, "\"text\":\"The grey\""));
    fo_buf_free(&b);
    cJSON *r = ask(*state, "/v1/completions", "{\"prompt\":[99999],\"echo\":true}", 400);
    assert_string_equal(text(r, "error.param"), "prompt");
    cJSON_Delete(r);
    free(ids);
    cJSON_Delete(t);
}

/* Of one choice, or a chunk of it: each token begins where those before it end. */
static void check_offsets(const cJSON *logprobs, size_t *chars) {
    const cJSON *token;
    int i = 0;
    assert_int_equal(cJSON_GetArraySize(at(logprobs, "text_offset")),
                     cJSON_GetArraySize(at(logprobs, "tokens")));
    cJSON_ArrayForEach(token, at(logprobs, "tokens")) {
        assert_int_equal(cJSON_GetArrayItem(at(logprobs, "text_offset"), i++)->valueint, *chars);
        *chars += fo_utf8_count(token->valuestring, strlen(token->valuestring));
    }
}

/* The text of the answer's tokens, one after the other: of logprobs.content, or of a completion's tokens. */
static void add_tokens(fo_buf *to, const cJSON *logprobs) {
    const cJSON *token;
    cJSON_ArrayForEach(token, at(logprobs, "content")) fo_buf_str(to, text(token, "token"));
    cJSON_ArrayForEach(token, at(logprobs, "tokens")) fo_buf_str(to, token->valuestring);
}

/* Whole, and in a stream, where what may be the beginning of a stop string is held back with its tokens. */
static void tokens_of_a_stop_string_are_in_no_logprobs(void **state) {
    static const char *const paths[] = {"/v1/completions", "/v1/chat/completions"};
    static const char *const asks[] = {
        "\"prompt\":\"The grey heron\\n\",\"logprobs\":1",
        "\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],\"logprobs\":true"};
    static const char *const stops[] = {"metre", "one metre", "metre tall", "nowhere", " tall."};
    for (size_t i = 0; i < 2 * sizeof stops / sizeof *stops; i++) {
        char body[256];
        fo_buf told = {0}, said = {0}, b = {0};
        snprintf(body, sizeof body, "{%s,\"temperature\":0,\"max_tokens\":40,\"stop\":[\"%s\"]}",
                 asks[i % 2], stops[i / 2]);
        cJSON *r = ask(*state, paths[i % 2], body, 200);
        const char *whole = text(r, i % 2 ? "choices.0.message.content" : "choices.0.text");
        add_tokens(&told, at(r, "choices.0.logprobs"));
        assert_true(told.len > 5);
        assert_in_range(strlen(whole) - told.len, 0, 1); /* the blank of " metre" is left */
        assert_memory_equal(told.data, whole, told.len);
        fo_buf_clear(&told);
        snprintf(body + strlen(body) - 1, 20, ",\"stream\":true}");
        assert_int_equal(send_body(*state, paths[i % 2], body, &b, false), 200);
        for (char *save, *line = strtok_r(b.data, "\n", &save); line;
             line = strtok_r(NULL, "\n", &save)) {
            cJSON *j = strncmp(line, "data: {", 7) ? NULL : cJSON_Parse(line + 6);
            const char *more =
                cJSON_GetStringValue(at(j, i % 2 ? "choices.0.delta.content" : "choices.0.text"));
            if (more) fo_buf_str(&said, more);
            add_tokens(&told, at(j, "choices.0.logprobs"));
            assert_true(told.len <= said.len);
            cJSON_Delete(j);
        }
        assert_string_equal(said.data, whole);
        assert_in_range(strlen(whole) - told.len, 0, 1);
        assert_memory_equal(told.data, whole, told.len);
        cJSON_Delete(r);
        fo_buf_free(&told);
        fo_buf_free(&said);
        fo_buf_free(&b);
    }
}

/* "5" alone is the token 5: what strtol would take, too, is refused. */
static void a_key_of_logit_bias_is_an_id_and_nothing_beside_it(void **state) {
    static const char *const keys[] = {" 1", "+1",  "-1",  "01",        "1 ",
                                       "",   "1.0", "1e0", "9999999999"};
    char body[256];
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        snprintf(body, sizeof body,
                 "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],\"logit_bias\":{\"%s\":1}}",
                 keys[i]);
        cJSON *r = ask(*state, "/v1/chat/completions", body, 400);
        assert_string_equal(text(r, "error.param"), "logit_bias");
        cJSON_Delete(r);
    }
    cJSON_Delete(ask(*state, "/v1/chat/completions",
                     "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],\"max_tokens\":2,"
                     "\"logit_bias\":{\"0\":1,\"10\":1}}",
                     200));
}

static void a_message_of_a_function_is_refused_as_functions_are(void **state) {
    cJSON *r = ask(*state, "/v1/chat/completions",
                   "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"},"
                   "{\"role\":\"function\",\"name\":\"f\",\"content\":\"3\"}]}",
                   400);
    assert_string_equal(text(r, "error.param"), "messages[1].role");
    assert_non_null(strstr(text(r, "error.message"), "role tool"));
    cJSON_Delete(r);
}

static void logprobs_of_a_completion_tell_where_its_tokens_begin(void **state) {
    static const char form[] =
        "{\"prompt\":\"The grey heron\\n\",\"max_tokens\":12,\"temperature\":0,"
        "\"logprobs\":2%s}";
    char body[256];
    size_t chars = 0, streamed = 0;
    snprintf(body, sizeof body, form, "");
    cJSON *r = ask(*state, "/v1/completions", body, 200);
    check_offsets(at(r, "choices.0.logprobs"), &chars);
    const char *said = text(r, "choices.0.text");
    assert_int_equal(chars, fo_utf8_count(said, strlen(said)));
    assert_true(chars > 0);
    cJSON_Delete(r);
    snprintf(body, sizeof body, form, ",\"stream\":true");
    fo_buf b = {0};
    assert_int_equal(send_body(*state, "/v1/completions", body, &b, false), 200);
    for (char *save, *line = strtok_r(b.data, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save)) {
        cJSON *j = strncmp(line, "data: {", 7) ? NULL : cJSON_Parse(line + 6);
        if (at(j, "choices.0.logprobs.tokens"))
            check_offsets(at(j, "choices.0.logprobs"), &streamed);
        cJSON_Delete(j);
    }
    assert_int_equal(streamed, chars);
    fo_buf_free(&b);
    /* The prompt's are not computed: never are they left out in silence. */
    snprintf(body, sizeof body, form, ",\"echo\":true");
    r = ask(*state, "/v1/completions", body, 400);
    assert_string_equal(text(r, "error.param"), "echo");
    assert_non_null(strstr(text(r, "error.message"), "prompt are not computed"));
    cJSON_Delete(r);
}

/* The schema of a response reaches the compiler with the digits that were sent. */
static void responses_keep_the_digits_of_numbers(void **state) {
    static const char form[] = "{\"input\":\"q\",\"temperature\":0,\"max_output_tokens\":60,"
                               "\"text\":{\"format\":{\"type\":"
                               "\"json_schema\",\"name\":\"x\",\"schema\":{\"enum\":[%s]}}}}";
    char body[512];
    snprintf(body, sizeof body, form, "8111111111111111");
    cJSON *r = ask(*state, "/v1/responses", body, 200);
    assert_non_null(strstr(text(r, "output.0.content.0.text"), "8111111111111111"));
    cJSON_Delete(r);
    snprintf(body, sizeof body, form, "9007199254740993");
    r = ask(*state, "/v1/responses", body, 400);
    assert_string_equal(text(r, "error.param"), "text.format.schema");
    assert_non_null(strstr(text(r, "error.message"), "9007199254740993"));
    cJSON_Delete(r);
}

/* The manual's table: a row a field, in two columns what this file says. */
static void the_manual_says_the_same(void **state) {
    (void)state;
    FILE *f = fopen("docs/openai.md", "r");
    assert_non_null(f);
    char line[1024];
    bool seen[N_ROWS] = {false};
    while (fgets(line, sizeof line, f)) {
        char *save, *field = strtok_r(line, "|", &save), *plain = strtok_r(NULL, "|", &save);
        char *grounded = strtok_r(NULL, "|", &save);
        if (line[0] != '|' || !grounded) continue;
        for (size_t i = 0; i < N_ROWS; i++) {
            char name[64];
            snprintf(name, sizeof name, "`%s`", rows[i].field);
            if (!strstr(field, name)) continue;
            if (strstr(plain, "yes") == NULL && strstr(plain, "no") == NULL) continue;
            seen[i] = true;
            if ((strstr(plain, "yes") != NULL) != (rows[i].plain == YES) ||
                (strstr(grounded, "yes") != NULL) != (rows[i].grounded == YES))
                fail_msg("docs/openai.md says something else of %s", rows[i].field);
        }
    }
    fclose(f);
    for (size_t i = 0; i < N_ROWS; i++)
        if (!seen[i]) fail_msg("docs/openai.md has no row for %s", rows[i].field);
}

/* The service's description: what it says that documents refuse, they refuse in sentences at least. */
static void the_description_says_the_same(void **state) {
    for (int k = 0; k < 2; k++) {
        cJSON *d = ask(*state, "/openapi.json", NULL, 200);
        const cJSON *body = cJSON_GetObjectItem(
            cJSON_GetObjectItem(at(d, "paths"), k ? "/v1/responses" : "/v1/chat/completions"),
            "post");
        const cJSON *media =
            cJSON_GetObjectItem(at(body, "requestBody.content"), "application/json");
        const cJSON *fields = at(media, "schema.properties");
        assert_non_null(fields);
        for (size_t i = 0; i < N_ROWS; i++) {
            const cJSON *field = cJSON_GetObjectItem(fields, rows[i].field);
            const char *says = text(field, "description");
            const bool refuses = strstr(says, "efused for answers from documents") ||
                                 strstr(says, "Not for answers from documents");
            if (refuses && rows[i].grounded == YES)
                fail_msg("/openapi.json says something else of %s", rows[i].field);
            if (refuses) assert_non_null(strstr(says, "in sentences"));
        }
        cJSON_Delete(d);
    }
}

/* From documents the temperature is 0 unless it is given: then no seed makes a difference. */
static void a_temperature_of_null_is_not_given(void **state) {
    static const char format[] =
        "{\"model\":\"forage/default\",\"messages\":[{\"role\":\"user\",\"content\":\"How tall is "
        "the grey "
        "heron?\"}],\"max_tokens\":40,\"temperature\":%s,\"top_p\":null,\"n\":null,\"stream\":null,"
        "\"seed\":%d,\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"strict\":"
        "null,"
        "\"schema\":{\"type\":\"string\",\"pattern\":\"^[a-z]{16}$\"}}}}";
    cJSON *r[4];
    for (int i = 0; i < 4; i++) {
        char body[768];
        snprintf(body, sizeof body, format, i < 3 ? "null" : "1", i + 1);
        r[i] = ask(*state, "/v1/chat/completions", body, 200);
        assert_true(number(r[i], "usage.completion_tokens") > 0);
        const bool same = !strcmp(text(r[i], "choices.0.message.content"),
                                  text(r[0], "choices.0.message.content"));
        assert_int_equal(same, i < 3);
    }
    for (int i = 0; i < 4; i++) cJSON_Delete(r[i]);
}

/* A prompt is counted once for all choices, and what was kept of it cannot be more than all of it. */
static void what_is_kept_of_a_prompt_is_no_more_than_the_prompt(void **state) {
    static const char *const bodies[] = {
        "{\"messages\":[{\"role\":\"user\",\"content\":\"How tall is the grey heron?\"}],"
        "\"max_tokens\":4,\"n\":6}",
        "{\"prompt\":[\"The grey heron stands tall and tall\",\"The grey heron sits on its nest\"],"
        "\"max_tokens\":4,\"n\":6}"};
    for (size_t i = 0; i < 4; i++) { /* again, when all of it is there */
        cJSON *r =
            ask(*state, i % 2 ? "/v1/completions" : "/v1/chat/completions", bodies[i % 2], 200);
        const double kept = number(r, "usage.prompt_tokens_details.cached_tokens");
        if (i >= 2) assert_true(kept > 0);
        assert_true(kept <= number(r, "usage.prompt_tokens"));
        cJSON_Delete(r);
    }
}

static void two_bounds_of_one_answer_are_refused(void **state) {
    fo_buf b = {0};
    assert_int_equal(chat(*state, false, "\"max_tokens\":9,\"max_completion_tokens\":9", &b), 200);
    fo_buf_clear(&b);
    assert_int_equal(chat(*state, false, "\"max_tokens\":9,\"max_completion_tokens\":3", &b), 400);
    assert_non_null(strstr(b.data, "\"param\":\"max_tokens\""));
    fo_buf_free(&b);
}

/* What ends a stream of one thousand values and more, or NULL: it began too late, or was through before its time was over. */
static cJSON *end_by_time(fixture *f, const char *path, const char *asks, int timeout_ms) {
    char body[400];
    cJSON *last = NULL;
    fo_buf b = {0};
    snprintf(body, sizeof body, "{%s,\"stream\":true,\"timeout_ms\":%d}", asks, timeout_ms);
    send_body(f, path, body, &b, false);
    for (char *save, *line = strtok_r(b.data, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save)) {
        if (strncmp(line, "data: ", 6) != 0) continue;
        cJSON *next = cJSON_Parse(line + 6); /* NULL: [DONE] */
        if (last && at(next, "sequence_number"))
            assert_true(number(next, "sequence_number") == number(last, "sequence_number") + 1);
        cJSON_Delete(last);
        last = next;
    }
    fo_buf_free(&b);
    if (at(last, "error.code")) return last;
    cJSON_Delete(last);
    return NULL;
}

#define MANY "\"schema\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"minItems\":1000}"

/* Nobody takes the beginning of an answer for all of it. */
static void a_stream_whose_time_is_over_says_so(void **state) {
    static const struct {
        const char *path, *asks;
    } cases[] = {
        {"/v1/responses", "\"input\":\"How tall?\",\"max_output_tokens\":9000,\"text\":{\"format\":"
                          "{\"type\":\"json_schema\",\"name\":\"x\"," MANY "}}"},
        {"/v1/chat/completions",
         "\"messages\":[{\"role\":\"user\",\"content\":\"How tall?\"}],\"max_tokens\":9000,"
         "\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{" MANY "}}"},
        {"/v1/completions", "\"prompt\":\"The heron\",\"max_tokens\":9000,\"n\":16,"
                            "\"temperature\":2,\"logit_bias\":{\"2\":-100}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cJSON *end = NULL;
        for (int ms = 20; !end && ms < 5000; ms *= 2)
            end = end_by_time(*state, cases[i].path, cases[i].asks, ms);
        if (!end) fail_msg("%s: no stream ends with an error", cases[i].path);
        assert_string_equal(text(end, "error.code"), "timeout");
        assert_string_equal(text(end, "error.param"), "timeout_ms");
        if (i == 0) { /* an event of its own kind, where clients look for that */
            assert_string_equal(text(end, "type"), "error");
            assert_string_equal(text(end, "code"), "timeout");
            assert_string_equal(text(end, "param"), "timeout_ms");
            assert_string_equal(text(end, "message"), text(end, "error.message"));
        }
        cJSON_Delete(end);
    }
}

int main(void) {
    curl_global_init(CURL_GLOBAL_DEFAULT);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_is_honoured_or_refused_by_name),
        cmocka_unit_test(what_sentences_have_not_json_has),
        cmocka_unit_test(what_is_beyond_a_bound_is_named),
        cmocka_unit_test(a_refusal_is_what_the_assistant_said),
        cmocka_unit_test(a_prompt_in_tokens_is_echoed_as_its_text),
        cmocka_unit_test(tokens_of_a_stop_string_are_in_no_logprobs),
        cmocka_unit_test(a_key_of_logit_bias_is_an_id_and_nothing_beside_it),
        cmocka_unit_test(a_message_of_a_function_is_refused_as_functions_are),
        cmocka_unit_test(logprobs_of_a_completion_tell_where_its_tokens_begin),
        cmocka_unit_test(responses_keep_the_digits_of_numbers),
        cmocka_unit_test(the_manual_says_the_same),
        cmocka_unit_test(the_description_says_the_same),
        cmocka_unit_test(a_temperature_of_null_is_not_given),
        cmocka_unit_test(what_is_kept_of_a_prompt_is_no_more_than_the_prompt),
        cmocka_unit_test(two_bounds_of_one_answer_are_refused),
        cmocka_unit_test(a_stream_whose_time_is_over_says_so),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
