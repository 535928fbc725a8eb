/* The OpenAI-compatible routes, in-process on a fresh home. Those that write text need a small real
 * model of the shared folder; embeddings, rerank, tokenize, errors and grounded chat do not. */
#include "tests/server/routes/http_fixture.h"

#include <math.h>
#include <openssl/evp.h>

static int setup(void **state) {
    const char *model_path = test_shared("models/stories260K.gguf");
    char *file = model_path ? strdup(model_path) : NULL;
    *state = fixture_open(test_folder(), file, (engine_options){.kv_ram = 64 << 20});
    return 0;
}

static int teardown(void **state) {
    fixture_close(*state);
    return 0;
}

static void embeddings_are_the_same_as_floats_and_base64(void **state) {
    fixture *f = *state;
    cJSON *a =
        ask(f, "/v1/embeddings", "{\"model\":\"x\",\"input\":[\"a red fox\",\"bread\"]}", 200);
    cJSON *b = ask(f, "/v1/embeddings",
                   "{\"input\":\"a red fox\",\"encoding_format\":\"base64\",\"user\":\"u\"}", 200);
    size_t dim = embedder_dim(service_embedder(f->service));
    assert_int_equal(cJSON_GetArraySize(at(a, "data")), 2);
    assert_int_equal(cJSON_GetArraySize(at(a, "data.0.embedding")), dim);
    const char *coded = text(b, "data.0.embedding");
    float *v = malloc(strlen(coded));
    assert_true(EVP_DecodeBlock((unsigned char *)v, (const unsigned char *)coded,
                                (int)strlen(coded)) >= (int)(dim * sizeof *v));
    double norm = 0;
    for (size_t i = 0; i < dim; i++) {
        double x = cJSON_GetArrayItem(at(a, "data.0.embedding"), (int)i)->valuedouble;
        assert_true((float)x == v[i]);
        norm += x * x;
    }
    assert_true(fabs(norm - 1) < 1e-5);
    assert_true(number(a, "usage.prompt_tokens") > 0);
    free(v);
    cJSON_Delete(a);
    cJSON_Delete(b);
}

static void token_arrays_embed_as_their_text(void **state) {
    fixture *f = *state;
    const char *name = embedder_name(service_embedder(f->service));
    char body[512];
    snprintf(body, sizeof body, "{\"model\":\"%s\",\"text\":\"a red fox\"}", name);
    cJSON *t = ask(f, "/v1/tokenize", body, 200);
    assert_true(number(t, "count") >= 3);
    char *ids = cJSON_PrintUnformatted(at(t, "tokens"));
    snprintf(body, sizeof body, "{\"input\":[%s]}", ids);
    cJSON *a = ask(f, "/v1/embeddings", body, 200);
    cJSON *b = ask(f, "/v1/embeddings", "{\"input\":\"a red fox\"}", 200);
    assert_true(cJSON_Compare(at(a, "data.0.embedding"), at(b, "data.0.embedding"), true));
    free(ids);
    cJSON_Delete(t);
    cJSON_Delete(a);
    cJSON_Delete(b);
}

static void rerank_puts_what_fits_first(void **state) {
    fixture *f = *state;
    cJSON *r = ask(f, "/v1/rerank",
                   "{\"query\":\"how to bake bread\",\"documents\":[\"The moon orbits the earth.\","
                   "{\"text\":\"Bake the bread for an hour.\"},\"Tax law\"],\"top_n\":2,"
                   "\"return_documents\":true}",
                   200);
    assert_int_equal(cJSON_GetArraySize(at(r, "results")), 2);
    assert_true(number(r, "results.0.index") == 1);
    assert_true(number(r, "results.0.relevance_score") > number(r, "results.1.relevance_score"));
    assert_string_equal(text(r, "results.0.document.text"), "Bake the bread for an hour.");
    assert_string_equal(text(r, "scored_by"), "embedding_cosine");
    cJSON_Delete(r);
}

static void errors_have_openais_shape(void **state) {
    fixture *f = *state;
    static const struct {
        const char *path, *body, *param;
        long status;
    } cases[] = {
        {"/v1/embeddings", "{\"input\":\"a\",\"dimensions\":7}", "dimensions", 400},
        {"/v1/embeddings", "{\"input\":[]}", "input", 400},
        {"/v1/embeddings", "{\"input\":\"\"}", "input", 400},
        {"/v1/embeddings", "{\"input\":[[99999999]]}", "input", 400},
        {"/v1/rerank", "{\"query\":\"a\",\"documents\":[1]}", "documents", 400},
        {"/v1/rerank", "{\"documents\":[\"a\"]}", "query", 400},
        {"/v1/tokenize", "{}", "text", 400},
        {"/v1/chat/completions", "{\"messages\":[]}", "messages", 400},
        {"/v1/chat/completions", "{\"messages\":[{\"role\":\"x\",\"content\":\"a\"}]}",
         "messages[0].role", 400},
        {"/v1/chat/completions",
         "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],\"temperature\":3}", "temperature",
         400},
        {"/v1/chat/completions",
         "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],\"top_logprobs\":3}",
         "top_logprobs", 400},
        {"/v1/chat/completions",
         "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],\"logit_bias\":{\"x\":1}}",
         "logit_bias", 400},
        {"/v1/models/none", NULL, "model", 404},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cJSON *r = ask(f, cases[i].path, cases[i].body, cases[i].status);
        assert_string_equal(text(r, "error.param"), cases[i].param);
        assert_true(strlen(text(r, "error.message")) > 10);
        assert_true(cJSON_IsString(at(r, "error.type")) && cJSON_IsString(at(r, "error.code")));
        cJSON_Delete(r);
    }
}

static void grounded_chat_cites(void **state) {
    fixture *f = *state;
    cJSON *r = ask(f, "/ingest",
                   "{\"documents\":[{\"id\":\"m\",\"title\":\"Morels\",\"text\":\"Morels must be "
                   "cooked for at "
                   "least ten minutes before they are eaten. They grow in spring.\"}]}",
                   200);
    cJSON_Delete(r);
    static const char *const body =
        "{\"model\":\"forage/default\",\"stream\":%s,\"messages\":[{\"role\":\"user\",\"content\":"
        "\"How long must morels be cooked?\"}]}";
    char whole[512], stream[512];
    snprintf(whole, sizeof whole, body, "false");
    snprintf(stream, sizeof stream, body, "true");
    r = ask(f, "/v1/chat/completions", whole, 200);
    assert_non_null(strstr(text(r, "choices.0.message.content"), "ten minutes"));
    assert_string_equal(text(r, "citations.0.source.document_id"), "m");
    cJSON_Delete(r);
    fo_buf b = {0};
    assert_int_equal(send_body(f, "/v1/chat/completions", stream, &b, false), 200);
    assert_non_null(strstr(b.data, "ten minutes"));
    assert_non_null(strstr(b.data, "\"citations\":[{"));
    assert_string_equal(b.data + b.len - 14, "data: [DONE]\n\n");
    fo_buf_free(&b);
    r = ask(f, "/v1/models", NULL, 200);
    char *all = cJSON_PrintUnformatted(r);
    assert_non_null(strstr(all, "\"forage/default\""));
    free(all);
    cJSON_Delete(r);
    r = ask(f, "/v1/models/forage/default", NULL, 200);
    assert_string_equal(text(r, "object"), "model");
    cJSON_Delete(r);
}

#define NEEDS_MODEL                                                                                \
    fixture *f = *state;                                                                           \
    if (!f->model) skip();

static void a_seed_gives_the_same_text_and_choices_differ(void **state) {
    NEEDS_MODEL
    static const char body[] = "{\"prompt\":\"Once upon a time\",\"max_tokens\":24,\"seed\":5,"
                               "\"n\":2,\"temperature\":1.2,\"logprobs\":2}";
    cJSON *a = ask(f, "/v1/completions", body, 200), *b = ask(f, "/v1/completions", body, 200);
    assert_string_equal(text(a, "choices.0.text"), text(b, "choices.0.text"));
    assert_string_not_equal(text(a, "choices.0.text"), text(a, "choices.1.text"));
    assert_true(number(a, "usage.completion_tokens") > 0);
    assert_int_equal(cJSON_GetArraySize(at(a, "choices.0.logprobs.top_logprobs.0")), 2);
    cJSON_Delete(a);
    cJSON_Delete(b);
}

/* Contents of the chunks put together; the stream must end in [DONE] and tell the usage. */
static void chunks_add_up_to_the_whole(void **state) {
    NEEDS_MODEL
    static const char *const format =
        "{\"messages\":[{\"role\":\"user\",\"content\":\"Tell a story\"}],\"max_tokens\":24,"
        "\"temperature\":0,\"stream\":%s,\"stream_options\":{\"include_usage\":true}}";
    char body[512];
    snprintf(body, sizeof body, format, "false");
    cJSON *whole = ask(f, "/v1/chat/completions", body, 200);
    snprintf(body, sizeof body, format, "true");
    fo_buf b = {0}, sum = {0};
    assert_int_equal(send_body(f, "/v1/chat/completions", body, &b, false), 200);
    fo_buf_str(&sum, "");
    bool done = false, usage = false, finished = false;
    char *save = NULL;
    for (char *line = strtok_r(b.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        if (strncmp(line, "data: ", 6)) continue;
        assert_false(done);
        if (!strcmp(line + 6, "[DONE]")) {
            done = true;
            continue;
        }
        cJSON *j = cJSON_Parse(line + 6);
        assert_string_equal(text(j, "object"), "chat.completion.chunk");
        const char *part = cJSON_GetStringValue(at(j, "choices.0.delta.content"));
        fo_buf_str(&sum, part ? part : "");
        finished = finished || cJSON_IsString(at(j, "choices.0.finish_reason"));
        usage = usage ||
                (cJSON_GetArraySize(at(j, "choices")) == 0 &&
                 number(j, "usage.completion_tokens") == number(whole, "usage.completion_tokens"));
        cJSON_Delete(j);
    }
    assert_true(done && usage && finished);
    assert_string_equal(sum.data, text(whole, "choices.0.message.content"));
    fo_buf_free(&b);
    fo_buf_free(&sum);
    cJSON_Delete(whole);
}

static void json_object_is_json_and_bans_hold(void **state) {
    NEEDS_MODEL
    cJSON *r = ask(f, "/v1/chat/completions",
                   "{\"messages\":[{\"role\":\"user\",\"content\":\"JSON\"}],\"max_tokens\":200,"
                   "\"temperature\":1,\"seed\":3,\"response_format\":{\"type\":\"json_object\"}}",
                   200);
    const char *s = text(r, "choices.0.message.content");
    s += strspn(s, " \n\t");
    assert_int_equal(s[0], '{');
    if (!strcmp(text(r, "choices.0.finish_reason"), "stop")) {
        cJSON *j = cJSON_Parse(s);
        if (!j) fail_msg("no JSON: %s", s);
        cJSON_Delete(j);
    }
    cJSON_Delete(r);
    static const char plain[] = "{\"prompt\":\"Once\",\"max_tokens\":1,\"temperature\":0,"
                                "\"logprobs\":0%s}";
    char body[256];
    snprintf(body, sizeof body, plain, "");
    r = ask(f, "/v1/completions", body, 200);
    char first[64];
    snprintf(first, sizeof first, "%s", text(r, "choices.0.logprobs.tokens.0"));
    int32_t id = tokenizer_find(engine_tokenizer(service_engine(f->service)), first, strlen(first));
    cJSON_Delete(r);
    assert_true(id >= 0);
    char ban[64];
    snprintf(ban, sizeof ban, ",\"logit_bias\":{\"%d\":-100}", id);
    snprintf(body, sizeof body, plain, ban);
    r = ask(f, "/v1/completions", body, 200);
    assert_string_not_equal(text(r, "choices.0.logprobs.tokens.0"), first);
    cJSON_Delete(r);
}

static void a_client_that_leaves_frees_its_slot(void **state) {
    NEEDS_MODEL
    for (int i = 0; i < 6; i++)
        send_body(f, "/v1/completions",
                  "{\"prompt\":\"Once upon a time\",\"max_tokens\":400,\"stream\":true,"
                  "\"logit_bias\":{\"2\":-100}}",
                  NULL, true);
    engine_stats s;
    for (int i = 0; i < 300; i++) {
        engine_get_stats(service_engine(f->service), &s);
        if (!s.n_running && !s.n_waiting) break;
        usleep(20000);
    }
    assert_int_equal(s.n_running + s.n_waiting, 0);
}

static void a_prompt_beyond_the_window_is_named(void **state) {
    NEEDS_MODEL
    fo_buf b = {0};
    fo_buf_str(&b, "{\"prompt\":\"");
    for (int i = 0; i < 2000; i++) fo_buf_str(&b, "once upon a time ");
    fo_buf_str(&b, "\"}");
    cJSON *r = ask(f, "/v1/completions", b.data, 400);
    assert_string_equal(text(r, "error.code"), "context_length_exceeded");
    cJSON_Delete(r);
    fo_buf_free(&b);
}

int main(void) {
    curl_global_init(CURL_GLOBAL_ALL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(embeddings_are_the_same_as_floats_and_base64),
        cmocka_unit_test(token_arrays_embed_as_their_text),
        cmocka_unit_test(rerank_puts_what_fits_first),
        cmocka_unit_test(errors_have_openais_shape),
        cmocka_unit_test(grounded_chat_cites),
        cmocka_unit_test(a_seed_gives_the_same_text_and_choices_differ),
        cmocka_unit_test(chunks_add_up_to_the_whole),
        cmocka_unit_test(json_object_is_json_and_bans_hold),
        cmocka_unit_test(a_client_that_leaves_frees_its_slot),
        cmocka_unit_test(a_prompt_beyond_the_window_is_named),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
