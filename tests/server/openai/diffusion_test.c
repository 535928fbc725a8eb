/* diffusion_test.c - a diffusion model behind the routes: /query and OpenAI's, the field `diffusion`,
 * figures in the reply, errors that name what is wrong. The model has random weights. */
#include "engine/tools/random_model.h"
#include "tests/server/routes/http_fixture.h"

#define HERON                                                                                      \
    "{\"documents\":[{\"id\":\"heron\",\"text\":\"The grey heron stands one metre tall.\"}]}"

static int setup(void **state) {
    char *dir = test_folder(), path[4096];
    snprintf(path, sizeof path, "%s/toy.gguf", dir);
    fo_err err = {0};
    random_model_options o = {.shape = "tiny", .type = QUANTIZE_Q8_0, .seed = 3, .diffusion = true};
    assert_ok(random_model_write(path, &o, &err), &err);
    fixture *f = fixture_open(dir, strdup(path), (engine_options){.kv_ram = 128 << 20});
    cJSON_Delete(ask(f, "/ingest", HERON, 200));
    *state = f;
    return 0;
}

static int teardown(void **state) {
    fixture_close(*state);
    return 0;
}

static cJSON *chat(fixture *f, const char *more, long want) {
    char body[1024];
    snprintf(body, sizeof body,
             "{\"messages\":[{\"role\":\"user\",\"content\":\"How tall?\"}],\"max_tokens\":24%s%s}",
             *more ? "," : "", more);
    return ask(f, "/v1/chat/completions", body, want);
}

static void a_chat_has_the_figures_of_its_steps(void **state) {
    cJSON *r =
        chat(*state, "\"temperature\":0,\"diffusion\":{\"steps\":6,\"block_length\":8}", 200);
    assert_string_equal(text(r, "choices.0.finish_reason"), "length");
    assert_true(number(r, "usage.completion_tokens") == 24);
    assert_true(number(r, "diffusion.steps") == 6);
    assert_true(number(r, "diffusion.tokens_per_step") == 4);
    assert_null(at(r, "diffusion.note"));
    cJSON *own = chat(*state, "\"temperature\":0", 200);
    assert_true(number(own, "diffusion.steps") == 24);
    cJSON *kept = chat(*state, "\"temperature\":0,\"diffusion\":{\"kv\":\"dual\"}", 200);
    assert_non_null(strstr(text(kept, "diffusion.note"), "approximate"));
    cJSON_Delete(r), cJSON_Delete(own), cJSON_Delete(kept);
}

static void a_seed_names_one_text(void **state) {
    static const char *const more[] = {"\"seed\":5,\"diffusion\":{\"remasking\":\"random\"}",
                                       "\"seed\":6,\"diffusion\":{\"remasking\":\"random\"}"};
    cJSON *a = chat(*state, more[0], 200), *b = chat(*state, more[0], 200),
          *c = chat(*state, more[1], 200);
    assert_string_equal(text(a, "choices.0.message.content"), text(b, "choices.0.message.content"));
    assert_string_not_equal(text(a, "choices.0.message.content"),
                            text(c, "choices.0.message.content"));
    cJSON_Delete(a), cJSON_Delete(b), cJSON_Delete(c);
}

/* What a stream sends is the whole, and its last chunk has the figures. */
static void a_stream_sends_what_is_final(void **state) {
    static const char body[] =
        "{\"messages\":[{\"role\":\"user\",\"content\":\"How tall?\"}],\"max_tokens\":24,"
        "\"temperature\":0,\"diffusion\":{\"block_length\":4},\"stream\":true,"
        "\"stream_options\":{\"include_usage\":true}}";
    cJSON *whole = chat(*state, "\"temperature\":0,\"diffusion\":{\"block_length\":4}", 200);
    fo_buf b = {0}, all = {0};
    assert_int_equal(send_body(*state, "/v1/chat/completions", body, &b, false), 200);
    int pieces = 0;
    double steps = 0;
    char *save = NULL;
    for (char *line = strtok_r(b.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        cJSON *j = strncmp(line, "data: {", 7) == 0 ? cJSON_Parse(line + 6) : NULL;
        const char *piece = cJSON_GetStringValue(at(j, "choices.0.delta.content"));
        if (piece && *piece) fo_buf_str(&all, piece), pieces++;
        if (at(j, "diffusion")) steps = number(j, "diffusion.steps");
        cJSON_Delete(j);
    }
    assert_string_equal(all.data, text(whole, "choices.0.message.content"));
    assert_true(pieces > 1);
    assert_true(steps == 24);
    fo_buf_free(&b);
    fo_buf_free(&all);
    cJSON_Delete(whole);
}

static void completions_and_responses_take_it(void **state) {
    cJSON *r = ask(
        *state, "/v1/completions",
        "{\"prompt\":\"The heron\",\"max_tokens\":16,\"n\":2,\"diffusion\":{\"steps\":4}}", 200);
    assert_true(number(r, "diffusion.steps") == 8); /* of both */
    assert_non_null(at(r, "choices.1.text"));
    cJSON_Delete(r);
    r = ask(*state, "/v1/responses",
            "{\"input\":\"The heron\",\"max_output_tokens\":16,\"diffusion\":{\"steps\":4}}", 200);
    assert_true(number(r, "diffusion.steps") == 4);
    cJSON_Delete(r);
}

static void cfg_scale_is_guidance(void **state) {
    static const char plain[] = "\"temperature\":1,\"seed\":3,\"diffusion\":{\"steps\":8}";
    static const char scaled[] =
        "\"temperature\":1,\"seed\":3,\"diffusion\":{\"steps\":8,\"%s\":3}";
    char guidance[128], scale[128];
    snprintf(guidance, sizeof guidance, scaled, "guidance");
    snprintf(scale, sizeof scale, scaled, "cfg_scale");
    cJSON *a = chat(*state, guidance, 200), *b = chat(*state, scale, 200),
          *none = chat(*state, plain, 200);
    assert_string_equal(text(a, "choices.0.message.content"), text(b, "choices.0.message.content"));
    assert_string_not_equal(text(none, "choices.0.message.content"),
                            text(b, "choices.0.message.content"));
    cJSON_Delete(a);
    cJSON_Delete(b);
    cJSON_Delete(none);
}

static void errors_name_the_field(void **state) {
    static const char *const rows[][2] = {
        {"\"diffusion\":{\"steps\":0}", "diffusion.steps"},
        {"\"diffusion\":{\"steps\":2,\"block_length\":4}", "diffusion.steps"},
        {"\"diffusion\":{\"remasking\":\"luck\"}", "diffusion.remasking"},
        {"\"diffusion\":{\"kv\":true}", "diffusion.kv"},
        {"\"diffusion\":{\"eps\":1}", "diffusion.eps"},
        {"\"diffusion\":{\"threshold\":0.5,\"remasking\":\"margin\"}", "diffusion.threshold"},
        {"\"diffusion\":{\"verify\":1}", "diffusion.verify"},
        {"\"diffusion\":{\"verify\":true}", "diffusion.verify"}, /* its attention has no blocks */
        {"\"diffusion\":{\"guidance\":-1}", "diffusion.guidance"},
        {"\"diffusion\":{\"cfg_scale\":101}", "diffusion.cfg_scale"},
        {"\"diffusion\":{\"guidance\":1,\"cfg_scale\":1}", "diffusion.cfg_scale"},
        {"\"diffusion\":{\"refresh\":1.5}", "diffusion.refresh"},
        {"\"diffusion\":{\"step\":4}", "diffusion.step"},
        {"\"diffusion\":7", "diffusion"},
        {"\"sparse\":{\"retention\":0}", "sparse.retention"},
        {"\"sparse\":{\"retention\":0.5,\"block\":24}", "sparse.block"},
        {"\"sparse\":{\"share\":0.5}", "sparse.share"},
        {"\"sparse\":{\"retention\":0.5},\"diffusion\":{\"kv\":\"off\"}", "sparse.retention"},
        {"\"top_p\":0.5", "top_p"},
        {"\"logprobs\":true", "logprobs"},
        {"\"logit_bias\":{\"5\":1}", "logit_bias"},
        {"\"response_format\":{\"type\":\"json_object\"}", "response_format"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cJSON *r = chat(*state, rows[i][0], 400);
        assert_string_equal(text(r, "error.param"), rows[i][1]);
        cJSON_Delete(r);
    }
}

static void a_question_says_what_is_approximate(void **state) {
    cJSON *r = ask(*state, "/query",
                   "{\"query\":\"How tall is the heron?\",\"max_tokens\":16,"
                   "\"grounding\":\"loose\",\"diffusion\":{\"steps\":4,\"kv\":\"prompt\"}}",
                   200);
    assert_true(number(r, "diffusion.steps") == 4);
    assert_non_null(strstr(text(r, "cache.kv.note"), "approximate"));
    cJSON_Delete(r);
    r = ask(*state, "/query",
            "{\"query\":\"How tall is the "
            "heron?\",\"diffusion\":{\"steps\":-1}}",
            400);
    assert_string_equal(text(r, "error.param"), "diffusion.steps");
    cJSON_Delete(r);
}

static void a_share_of_the_kv_is_said(void **state) {
    static const char body[] =
        "{\"query\":\"How tall is the heron?\",\"max_tokens\":32,\"grounding\":\"loose\","
        "\"sparse\":{\"retention\":0.25},\"diffusion\":{\"steps\":16,\"kv\":\"prompt\","
        "\"block_length\":8}}";
    cJSON *r = ask(*state, "/query", body, 200);
    assert_true(number(r, "sparse.retention") == .25);
    assert_true(number(r, "sparse.kv_tokens") < number(r, "sparse.kv_peak_tokens"));
    assert_non_null(strstr(text(r, "cache.kv.note"), "sparse.retention"));
    cJSON_Delete(r);
    r = chat(*state, "\"sparse\":{\"retention\":1}", 200);
    assert_null(at(r, "sparse"));
    cJSON_Delete(r);
}

static void metrics_count_passes(void **state) {
    static const char passes[] = "\nforage_generation_denoise_passes_total ";
    fo_buf before = {0}, after = {0};
    assert_int_equal(send_body(*state, "/metrics", NULL, &before, false), 200);
    cJSON_Delete(chat(*state, "\"diffusion\":{\"steps\":6,\"block_length\":8}", 200));
    assert_int_equal(send_body(*state, "/metrics", NULL, &after, false), 200);
    const char *a = strstr(before.data, passes), *b = strstr(after.data, passes);
    assert_true(a && b && atof(b + sizeof passes - 1) >= atof(a + sizeof passes - 1) + 1);
    assert_non_null(strstr(after.data, "forage_generation_denoise_rows_total{kind=\"logits\"}"));
    fo_buf_free(&before);
    fo_buf_free(&after);
}

int main(void) {
    curl_global_init(CURL_GLOBAL_DEFAULT);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chat_has_the_figures_of_its_steps),
        cmocka_unit_test(a_seed_names_one_text),
        cmocka_unit_test(a_stream_sends_what_is_final),
        cmocka_unit_test(completions_and_responses_take_it),
        cmocka_unit_test(cfg_scale_is_guidance),
        cmocka_unit_test(errors_name_the_field),
        cmocka_unit_test(a_question_says_what_is_approximate),
        cmocka_unit_test(a_share_of_the_kv_is_said),
        cmocka_unit_test(metrics_count_passes),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
