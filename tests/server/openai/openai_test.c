/* The OpenAI-compatible routes, in-process on a fresh home. Those that write text need a small real
 * model of the shared folder; embeddings, rerank, tokenize, errors and grounded chat do not. */
#include "engine/embed/embedder_impl.h"
#include "server/openai/model_names.h"
#include "tests/server/routes/http_fixture.h"

#include <math.h>
#include <openssl/evp.h>

static model_alias aliases[] = {{"text-embedding-ada-002", NULL}, /* set to the embedder's name */
                                {"gpt-4o-mini", "forage/default"}};

static int setup(void **state) {
    const char *model_path = test_shared("models/stories260K.gguf");
    char *file = model_path ? strdup(model_path) : NULL;
    fixture *f = fixture_open(test_folder(), file, (engine_options){.kv_ram = 64 << 20});
    aliases[0].model = embedder_name(service_embedder(f->service));
    f->app->aliases = aliases;
    f->app->n_aliases = 2;
    fo_err err = {0};
    assert_ok(model_aliases_check(f->app, &err), &err);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    fixture_close(*state);
    return 0;
}

static void embeddings_are_the_same_as_floats_and_base64(void **state) {
    fixture *f = *state;
    cJSON *a =
        ask(f, "/v1/embeddings",
            "{\"model\":\"text-embedding-ada-002\",\"input\":[\"a red fox\",\"bread\"]}", 200);
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

static void token_arrays_embed_as_their_text_where_they_are_allowed(void **state) {
    fixture *f = *state;
    const char *name = embedder_name(service_embedder(f->service));
    char body[512];
    snprintf(body, sizeof body, "{\"model\":\"%s\",\"text\":\"a red fox\"}", name);
    cJSON *t = ask(f, "/v1/tokenize", body, 200);
    assert_true(number(t, "count") >= 3);
    char *ids = cJSON_PrintUnformatted(at(t, "tokens"));
    snprintf(body, sizeof body, "{\"input\":[%s]}", ids);
    cJSON *a = ask(f, "/v1/embeddings", body, 400);
    assert_string_equal(text(a, "error.param"), "input");
    assert_non_null(strstr(text(a, "error.message"), "--allow-token-ids"));
    assert_non_null(strstr(text(a, "error.message"), "check_embedding_ctx_length=False"));
    cJSON_Delete(a);
    f->app->allow_token_ids = true;
    a = ask(f, "/v1/embeddings", body, 200);
    cJSON *b = ask(f, "/v1/embeddings", "{\"input\":\"a red fox\"}", 200);
    assert_true(cJSON_Compare(at(a, "data.0.embedding"), at(b, "data.0.embedding"), true));
    cJSON_Delete(ask(f, "/v1/embeddings", "{\"input\":[[99999999]]}", 400));
    f->app->allow_token_ids = false;
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

static void a_text_that_would_be_cut_is_refused(void **state) {
    fixture *f = *state;
    embedder *e = service_embedder(f->service);
    static const char body[] =
        "{\"input\":[\"a fox\",\"a red fox eats bread and a red fox sleeps\"]}";
    const size_t unlimited = e->max_tokens;
    cJSON *whole = ask(f, "/v1/embeddings", body, 200);
    e->max_tokens = embedder_count_tokens(e, "a red fox", 9);
    cJSON *r = ask(f, "/v1/embeddings", body, 400);
    assert_string_equal(text(r, "error.param"), "input");
    assert_non_null(strstr(text(r, "error.message"), "input[1]"));
    cJSON *fits = ask(f, "/v1/embeddings", "{\"input\":\"a red fox\"}", 200);
    assert_int_equal(number(fits, "usage.prompt_tokens"), e->max_tokens);
    e->max_tokens = unlimited;
    cJSON_Delete(fits);
    cJSON_Delete(r);
    cJSON_Delete(whole);
}

/* An embedder that takes 20 ms a call. */
static const embedder_ops *quick;
static int embed_slowly(embedder *e, enum embed_kind kind, const char *const *texts,
                        const size_t *lens, size_t n, float *out, fo_err *err) {
    usleep(20000);
    return quick->embed(e, kind, texts, lens, n, out, err);
}

static void many_texts_end_with_timeout_ms(void **state) {
    fixture *f = *state;
    embedder *e = service_embedder(f->service);
    static const struct {
        const char *path, *begin;
    } routes[] = {{"/v1/embeddings", "{\"input\":[\"a\""},
                  {"/v1/rerank", "{\"query\":\"a\",\"documents\":[\"a\""}};
    static embedder_ops slow;
    quick = e->ops;
    slow = *quick;
    slow.embed = embed_slowly;
    e->ops = &slow;
    for (size_t i = 0; i < 2; i++) {
        fo_buf body = {0};
        fo_buf_str(&body, routes[i].begin);
        for (int k = 1; k < 1000; k++) fo_buf_str(&body, ",\"fox\""); /* 63 pieces: 1.3 s */
        fo_buf_str(&body, "],\"timeout_ms\":60}");
        fo_buf_char(&body, 0);
        cJSON *r = ask(f, routes[i].path, body.data, 408);
        assert_string_equal(text(r, "error.param"), "timeout_ms");
        cJSON_Delete(r);
        fo_buf_free(&body);
    }
    e->ops = quick;
    cJSON_Delete(ask(f, "/v1/embeddings", "{\"input\":\"a\",\"timeout_ms\":600000}", 200));
}

/* What was computed until then: the next one has to wait. What was refused before has cost none. */
static void what_ended_early_is_charged(void **state) {
    (void)state;
    static const char *const paths[][2] = {
        {"/v1/embeddings", "{\"input\":[\"a fox\""},
        {"/v1/rerank", "{\"query\":\"a\",\"documents\":[\"a fox\""}};
    for (size_t i = 0; i < 2; i++) {
        fixture *f = fixture_open(test_folder(), NULL, (engine_options){0});
        rate_tier tier;
        fo_err err = {0};
        assert_ok(rate_tier_read(&tier, "few: tokens=10", &err), &err);
        assert_ok(rate_limits_create(&f->app->limits, &tier, 1, &err), &err);
        f->app->address_tier = rate_limits_tier(f->app->limits, "few");
        embedder *e = service_embedder(f->service);
        embedder_ops slow = *(quick = e->ops);
        slow.embed = embed_slowly;
        e->ops = &slow;
        fo_buf body = {0};
        fo_buf_str(&body, paths[i][1]);
        for (int k = 1; k < 1000; k++) fo_buf_str(&body, ",\"a fox\"");
        cJSON_Delete(ask(f, "/search", "{\"query\":\"heron\",\"collection\":\"none\"}", 404));
        fo_buf_str(&body, "],\"timeout_ms\":1000}");
        cJSON_Delete(ask(f, paths[i][0], body.data, 408));
        cJSON *r = ask(f, "/search", "{\"query\":\"heron\"}", 429);
        assert_string_equal(text(r, "error.param"), "tokens");
        cJSON_Delete(r);
        fo_buf_free(&body);
        e->ops = quick;
        fixture_close(f);
    }
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
        {"/v1/embeddings", "{\"input\":\"a\",\"timeout_ms\":0}", "timeout_ms", 400},
        {"/v1/rerank", "{\"query\":\"a\",\"documents\":[\"b\"],\"timeout_ms\":600001}",
         "timeout_ms", 400},
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

/* A body of a chat or completion that asks for more than `more` is. */
static char *body_of(const char *path, const char *more) {
    static const struct {
        const char *path, *body;
    } bodies[] = {
        {"/v1/chat/completions", "\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]"},
        {"/v1/completions", "\"prompt\":\"a\""},
        {"/v1/embeddings", "\"input\":\"a\""},
        {"/v1/rerank", "\"query\":\"a\",\"documents\":[\"b\"]"},
        {"/v1/tokenize", "\"text\":\"a\""},
    };
    char *body = NULL;
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        if (!strcmp(bodies[i].path, path))
            assert_true(asprintf(&body, "{%s,%s}", bodies[i].body, more) > 0);
    assert_non_null(body);
    return body;
}

static void an_unknown_model_is_404_with_the_names_there_are(void **state) {
    fixture *f = *state;
    const char *its_name = embedder_name(service_embedder(f->service));
    cJSON_Delete(ask(f, "/ingest", "{\"documents\":[{\"id\":\"k\",\"text\":\"A kite.\"}]}", 200));
    static const struct {
        const char *path, *name;
        bool embeds; /* the embedder serves it */
    } cases[] = {
        {"/v1/chat/completions", "gpt-9", false},
        {"/v1/chat/completions", "forage/none", false},
        {"/v1/chat/completions", "text-embedding-ada-002", false},
        {"/v1/completions", "gpt-9", false},
        {"/v1/completions", "forage/default", false},
        {"/v1/embeddings", "gpt-9", true},
        {"/v1/embeddings", "forage/default", true},
        {"/v1/embeddings", "", true},
        {"/v1/rerank", "gpt-9", true},
        {"/v1/tokenize", "gpt-9", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char more[128];
        snprintf(more, sizeof more, "\"model\":\"%s\"", cases[i].name);
        char *body = body_of(cases[i].path, more);
        cJSON *r = ask(f, cases[i].path, body, 404);
        assert_string_equal(text(r, "error.param"), "model");
        assert_string_equal(text(r, "error.code"), "model_not_found");
        assert_non_null(strstr(text(r, "error.message"), cases[i].name));
        if (cases[i].embeds) assert_non_null(strstr(text(r, "error.message"), its_name));
        if (strstr(cases[i].path, "chat"))
            assert_non_null(strstr(text(r, "error.message"), "forage/default"));
        cJSON_Delete(r);
        free(body);
    }
    /* A name of its own, another one, and none. */
    char own[200];
    snprintf(own, sizeof own, "{\"input\":\"a\",\"model\":\"%s\"}", its_name);
    cJSON_Delete(ask(f, "/v1/embeddings", own, 200));
    cJSON_Delete(ask(f, "/v1/embeddings", "{\"input\":\"a\"}", 200));
    char *body = body_of("/v1/chat/completions", "\"model\":\"gpt-4o-mini\"");
    cJSON *r = ask(f, "/v1/chat/completions", body, 200);
    assert_string_equal(text(r, "model"), "forage/default");
    free(body);
    cJSON_Delete(r);
    r = ask(f, "/v1/models/gpt-4o-mini", NULL, 200);
    assert_string_equal(text(r, "alias_of"), "forage/default");
    assert_string_equal(text(r, "kind"), "grounded");
    cJSON_Delete(r);
}

/* Runs before any document is there. */
static void an_alias_waits_for_its_collection(void **state) {
    fixture *f = *state;
    char *body = body_of("/v1/chat/completions", "\"model\":\"gpt-4o-mini\"");
    cJSON *r = ask(f, "/v1/chat/completions", body, 404);
    assert_non_null(strstr(text(r, "error.message"), "stands for forage/default"));
    assert_null(strstr(text(r, "error.message"), "there are: gpt-4o-mini"));
    cJSON_Delete(r);
    cJSON_Delete(ask(f, "/v1/models/gpt-4o-mini", NULL, 404));
    cJSON_Delete(ask(f, "/ingest", "{\"documents\":[{\"id\":\"k\",\"text\":\"A kite.\"}]}", 200));
    cJSON_Delete(ask(f, "/v1/models/gpt-4o-mini", NULL, 200));
    cJSON_Delete(ask(f, "/v1/chat/completions", body, 200));
    free(body);
}

static void an_alias_of_nothing_is_refused_at_the_start(void **state) {
    fixture *f = *state;
    const char *its_name = aliases[0].model;
    const struct {
        model_alias list[2];
        size_t n;
    } cases[] = {{{{"a", "nothing"}}, 1},
                 {{{its_name, "forage/default"}}, 1},
                 {{{"forage/x", "forage/default"}}, 1},
                 {{{"a", its_name}, {"a", "forage/default"}}, 2},
                 {{{"a", its_name}, {"b", "a"}}, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        app wrong = *f->app;
        fo_err err = {0};
        wrong.aliases = cases[i].list;
        wrong.n_aliases = cases[i].n;
        assert_int_equal(model_aliases_check(&wrong, &err), FO_EINVAL);
        assert_string_equal(err.field, "model-alias");
    }
}

static void what_is_not_honoured_is_refused_by_name(void **state) {
    fixture *f = *state;
    static const char chat[] = "/v1/chat/completions", text_[] = "/v1/completions",
                      embed[] = "/v1/embeddings", rerank[] = "/v1/rerank",
                      tokens[] = "/v1/tokenize";
    static const struct {
        const char *path, *more, *param;
    } cases[] = {
        {chat, "\"foo\":1", "foo"},
        {chat, "\"foo\":null", "foo"},
        {chat, "\"stop_token_ids\":2", "stop_token_ids"},
        {chat, "\"stop_token_ids\":[1.5]", "stop_token_ids"},
        {chat, "\"priority\":\"high\"", "priority"},
        {chat, "\"priority\":1000", "priority"},
        {chat, "\"kv_reuse\":\"some\"", "kv_reuse"},
        {chat, "\"n\":0", "n"},
        {chat, "\"n\":1.5", "n"},
        {chat, "\"n\":\"2\"", "n"},
        {chat, "\"tools\":[{\"type\":\"function\"}]", "tools[0].function.name"},
        {chat, "\"tools\":[{\"type\":\"custom\",\"function\":{\"name\":\"f\"}}]", "tools[0].type"},
        {chat, "\"tools\":[{\"function\":{\"name\":\"f g\"}}]", "tools[0].function.name"},
        {chat, "\"tools\":[{\"function\":{\"name\":\"f\",\"foo\":1}}]", "tools[0].function.foo"},
        {chat, "\"tools\":[{\"function\":{\"name\":\"f\"}},{\"function\":{\"name\":\"f\"}}]",
         "tools"},
        {chat,
         "\"tools\":[{\"function\":{\"name\":\"f\"}}],\"tool_choice\":{\"function\":{\"name\":"
         "\"g\"}}",
         "tool_choice"},
        {chat,
         "\"tools\":[{\"function\":{\"name\":\"f\"}}],\"response_format\":{\"type\":\"json_"
         "object\"}",
         "response_format"},
        {chat, "\"tools\":\"all\"", "tools"},
        {chat, "\"functions\":[{}]", "functions"},
        {chat, "\"tool_choice\":\"required\"", "tool_choice"},
        {chat, "\"tool_choice\":{\"type\":\"function\"}", "tool_choice.function.name"},
        {chat, "\"function_call\":{\"name\":\"f\"}", "function_call"},
        {chat, "\"parallel_tool_calls\":1", "parallel_tool_calls"},
        {chat, "\"user\":7", "user"},
        {chat, "\"metadata\":{\"a\":1}", "metadata"},
        {chat, "\"store\":true", "store"},
        {chat, "\"service_tier\":\"flex\"", "service_tier"},
        {chat, "\"service_tier\":\"auto default\"", "service_tier"},
        {chat, "\"modalities\":[\"text\",\"audio\"]", "modalities"},
        {chat, "\"audio\":{\"voice\":\"ash\"}", "audio"},
        {chat, "\"prediction\":{\"type\":\"content\",\"content\":\"b\"}", "prediction"},
        {chat, "\"web_search_options\":{}", "web_search_options"},
        {chat, "\"reasoning_effort\":\"high\"", "reasoning_effort"},
        {chat, "\"stream_options\":{\"include_usage\":1}", "stream_options.include_usage"},
        {chat, "\"stream_options\":{\"every\":1}", "stream_options.every"},
        {chat, "\"response_format\":{\"type\":\"json_schema\"}",
         "response_format.json_schema.schema"},
        {chat, "\"response_format\":{\"type\":\"text\",\"json_schema\":{}}",
         "response_format.json_schema"},
        {chat, "\"response_format\":{\"kind\":\"text\"}", "response_format.kind"},
        {chat, "\"repetition_penalty\":-1", "repetition_penalty"},
        {chat, "\"best_of\":1", "best_of"},
        {chat, "\"prompt\":\"b\"", "prompt"},
        {text_, "\"foo\":1", "foo"},
        {text_, "\"messages\":[]", "messages"},
        {text_, "\"best_of\":3", "best_of"},
        {text_, "\"suffix\":\"b\"", "suffix"},
        {text_, "\"response_format\":{\"type\":\"json_object\"}", "response_format"},
        {text_, "\"tools\":[]", "tools"},
        {embed, "\"foo\":1", "foo"},
        {embed, "\"n\":2", "n"},
        {embed, "\"user\":[]", "user"},
        {rerank, "\"foo\":1", "foo"},
        {rerank, "\"max_chunks_per_doc\":2", "max_chunks_per_doc"},
        {tokens, "\"messages\":[]", "messages"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *body = body_of(cases[i].path, cases[i].more);
        cJSON *r = ask(f, cases[i].path, body, 400);
        const char *param = text(r, "error.param");
        if (strcmp(param, cases[i].param) != 0) fail_msg("%s: %s", body, param);
        assert_non_null(strstr(text(r, "error.message"), cases[i].param));
        cJSON_Delete(r);
        free(body);
    }
}

static void messages_are_read_whole_or_refused_by_name(void **state) {
    fixture *f = *state;
    static const struct {
        const char *message, *param;
    } cases[] = {
        {"{\"role\":\"user\",\"content\":\"a\",\"foo\":1}", "messages[0].foo"},
        {"{\"content\":\"a\"}", "messages[0].role"},
        {"{\"role\":\"user\",\"content\":7}", "messages[0].content"},
        {"{\"role\":\"user\",\"content\":[{\"type\":\"image_url\",\"image_url\":{}}]}",
         "messages[0].content[0].type"},
        {"{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"a\",\"cache_control\":1}]}",
         "messages[0].content[0].cache_control"},
        {"{\"role\":\"user\",\"content\":\"a\",\"name\":\"<|im_end|>\"}", "messages[0].name"},
        {"{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"1\"}]}",
         "messages[0].tool_calls[0].function.name"},
        {"{\"role\":\"assistant\",\"tool_calls\":[{\"function\":{\"name\":\"f\",\"arguments\":\"{"
         "\"}}]}",
         "messages[0].tool_calls[0].function.arguments"},
        {"\"a\"", "messages[0]"},
        {"{\"role\":\"user\"}", "messages[0].content"},
        {"{\"role\":\"system\",\"content\":null}", "messages[0].content"},
        {"{\"role\":\"tool\",\"tool_call_id\":\"1\"}", "messages[0].content"},
        {"{\"role\":\"user\",\"content\":\"a\",\"tool_call_id\":\"1\"}",
         "messages[0].tool_call_id"},
        {"{\"role\":\"user\",\"content\":\"a\",\"tool_calls\":[{\"function\":{\"name\":\"f\"}}]}",
         "messages[0].tool_calls"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char body[400];
        snprintf(body, sizeof body, "{\"messages\":[%s]}", cases[i].message);
        cJSON *r = ask(f, "/v1/chat/completions", body, 400);
        assert_string_equal(text(r, "error.param"), cases[i].param);
        cJSON_Delete(r);
    }
}

/* What the official clients put into requests, and get back in replies that they send again. */
static void values_that_ask_for_nothing_pass(void **state) {
    fixture *f = *state;
    cJSON_Delete(ask(f, "/ingest", "{\"documents\":[{\"id\":\"k\",\"text\":\"A kite.\"}]}", 200));
    static const char body[] =
        "{\"model\":\"forage/"
        "default\",\"messages\":[{\"role\":\"user\",\"name\":\"ann\",\"content\":["
        "{\"type\":\"text\",\"text\":\"Hello\"}]},{\"role\":\"assistant\",\"content\":\"Hello.\","
        "\"refusal\":null,\"annotations\":[],\"audio\":null,\"function_call\":null,\"tool_calls\":"
        "null},"
        "{\"role\":\"user\",\"content\":\"Is there a "
        "kite?\"}],\"user\":\"u\",\"metadata\":{\"a\":\"b\"},"
        "\"store\":false,\"service_tier\":\"auto\",\"tools\":[],\"functions\":[],\"tool_choice\":"
        "\"none\","
        "\"function_call\":\"auto\",\"parallel_tool_calls\":true,\"logit_bias\":{},\"n\":1,"
        "\"stream_options\":{\"include_usage\":true,\"include_obfuscation\":false},\"logprobs\":"
        "false,"
        "\"top_logprobs\":null,\"modalities\":[\"text\"],\"audio\":null,\"prediction\":null,"
        "\"reasoning_effort\":null,\"verbosity\":\"medium\",\"response_format\":{\"type\":\"text\"}"
        ","
        "\"safety_identifier\":\"s\",\"prompt_cache_key\":\"p\",\"web_search_options\":null,"
        "\"presence_penalty\":0,\"frequency_penalty\":0,\"seed\":null,\"stop\":null,"
        "\"max_tokens\":null,\"max_completion_tokens\":99,\"temperature\":1,\"top_p\":1}";
    cJSON_Delete(ask(f, "/v1/chat/completions", body, 200));
    cJSON_Delete(ask(
        f, "/v1/embeddings",
        "{\"input\":\"a\",\"user\":\"u\",\"dimensions\":null,\"encoding_format\":\"float\"}", 200));
    if (!f->model) return;
    cJSON_Delete(
        ask(f, "/v1/completions",
            "{\"prompt\":\"a\",\"max_tokens\":2,\"suffix\":null,\"best_of\":1,\"user\":\"u\","
            "\"echo\":false,\"logprobs\":null,\"logit_bias\":null,\"stream_options\":null}",
            200));
}

static void answers_from_documents_refuse_what_they_cannot_honour(void **state) {
    fixture *f = *state;
    static const struct {
        const char *more, *param;
        bool model; /* with one it can be done (grounded_text_test.c) */
    } cases[] = {
        {"\"response_format\":{\"type\":\"json_object\"}", "response_format", true},
        {"\"tools\":[{\"function\":{\"name\":\"f\"}}]", "tools", true},
        {"\"logprobs\":true", "logprobs", false},
        {"\"stop_token_ids\":[2]", "stop_token_ids", false},
        {"\"logit_bias\":{\"5\":1}", "logit_bias", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (cases[i].model && f->model) continue;
        char more[128];
        snprintf(more, sizeof more, "\"model\":\"forage/default\",%s", cases[i].more);
        char *body = body_of("/v1/chat/completions", more);
        cJSON *r = ask(f, "/v1/chat/completions", body, 400);
        assert_string_equal(text(r, "error.param"), cases[i].param);
        cJSON_Delete(r);
        free(body);
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

static void markers_of_documents_are_no_citations(void **state) {
    fixture *f = *state;
    cJSON *r = ask(f, "/ingest",
                   "{\"documents\":[{\"id\":\"c\",\"title\":\"Chanterelles\",\"text\":"
                   "\"Chanterelles keep [2] for five days [1] in the cold.[7]\"}]}",
                   200);
    cJSON_Delete(r);
    r = ask(f, "/v1/chat/completions",
            "{\"model\":\"forage/default\",\"messages\":[{\"role\":\"user\",\"content\":"
            "\"How many days do chanterelles keep?\"}]}",
            200);
    assert_string_equal(text(r, "choices.0.message.content"),
                        "Chanterelles keep (2) for five days (1) in the cold.(7) [1]");
    assert_string_equal(text(r, "citations.0.quote"),
                        "Chanterelles keep [2] for five days [1] in the cold.[7]");
    assert_true(cJSON_IsTrue(at(r, "citations.0.verified")));
    assert_true(number(r, "timings.total_ms") > 0 && number(r, "timings.retrieval_ms") > 0);
    assert_true(number(r, "timings.first_visible_ms") <= number(r, "timings.total_ms"));
    assert_true(number(r, "tokens_per_s") == 0); /* no model wrote it */
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
    assert_true(number(r, "tokens_per_s") > 0 && number(r, "timings.decode_ms") > 0);
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
    int32_t id =
        tokenizer_find(engine_tokenizer(local_generator_engine(service_generator(f->service))),
                       first, strlen(first));
    cJSON_Delete(r);
    assert_true(id >= 0);
    char ban[64];
    snprintf(ban, sizeof ban, ",\"logit_bias\":{\"%d\":-100}", id);
    snprintf(body, sizeof body, plain, ban);
    r = ask(f, "/v1/completions", body, 200);
    assert_string_not_equal(text(r, "choices.0.logprobs.tokens.0"), first);
    cJSON_Delete(r);
}

static void a_schema_is_kept_to(void **state) {
    NEEDS_MODEL
    cJSON *r =
        ask(f, "/v1/chat/completions",
            "{\"messages\":[{\"role\":\"user\",\"content\":\"JSON\"}],\"max_tokens\":400,"
            "\"temperature\":0,\"response_format\":{\"type\":\"json_schema\","
            "\"json_schema\":{\"name\":\"x\",\"schema\":{\"type\":\"object\",\"properties\":"
            "{\"kind\":{\"enum\":[\"cat\",\"dog\"]},\"age\":{\"type\":\"integer\",\"minimum\":1,"
            "\"maximum\":9}},\"required\":[\"kind\",\"age\"],\"additionalProperties\":false}}}}",
            200);
    cJSON *j = cJSON_Parse(text(r, "choices.0.message.content"));
    if (!j) fail_msg("no JSON: %s", text(r, "choices.0.message.content"));
    assert_true(!strcmp(text(j, "kind"), "cat") || !strcmp(text(j, "kind"), "dog"));
    assert_in_range(number(j, "age"), 1, 9);
    assert_string_equal(text(r, "choices.0.finish_reason"), "stop");
    cJSON_Delete(j);
    cJSON_Delete(r);
}

static void stop_token_ids_end_an_answer(void **state) {
    NEEDS_MODEL
    static const char plain[] = "{\"prompt\":\"Once\",\"max_tokens\":6,\"temperature\":0,"
                                "\"logprobs\":0%s}";
    char body[256], more[64];
    snprintf(body, sizeof body, plain, "");
    cJSON *r = ask(f, "/v1/completions", body, 200);
    const char *third = text(r, "choices.0.logprobs.tokens.2");
    int32_t id =
        tokenizer_find(engine_tokenizer(local_generator_engine(service_generator(f->service))),
                       third, strlen(third));
    snprintf(more, sizeof more, ",\"stop_token_ids\":[7,%d]", id);
    snprintf(body, sizeof body, plain, more);
    cJSON *s = ask(f, "/v1/completions", body, 200);
    int n = cJSON_GetArraySize(at(s, "choices.0.logprobs.tokens"));
    assert_true(n <= 2); /* it is no part of the text, and may have come before */
    assert_string_equal(text(s, "choices.0.finish_reason"), "stop");
    cJSON_Delete(r);
    cJSON_Delete(s);
}

/* Whether time is over is looked at 50 ms apart (http_watch.c): 64 answers of this model take longer than that. */
static void an_answer_ends_when_its_time_is_over(void **state) {
    NEEDS_MODEL
    cJSON *r = ask(f, "/v1/completions",
                   "{\"prompt\":[\"Once\",\"Then\",\"One\",\"There\"],\"max_tokens\":400,\"n\":16,"
                   "\"temperature\":1,\"timeout_ms\":1,"
                   "\"logit_bias\":{\"1\":-100,\"2\":-100}}",
                   408);
    assert_string_equal(text(r, "error.param"), "timeout_ms");
    assert_string_equal(text(r, "error.code"), "timeout");
    cJSON_Delete(r);
    r = ask(f, "/v1/responses",
            "{\"input\":\"Once\",\"max_output_tokens\":4,\"timeout_ms\":600000}", 200);
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
        engine_get_stats(local_generator_engine(service_generator(f->service)), &s);
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
        cmocka_unit_test(an_alias_waits_for_its_collection),
        cmocka_unit_test(embeddings_are_the_same_as_floats_and_base64),
        cmocka_unit_test(token_arrays_embed_as_their_text_where_they_are_allowed),
        cmocka_unit_test(rerank_puts_what_fits_first),
        cmocka_unit_test(a_text_that_would_be_cut_is_refused),
        cmocka_unit_test(many_texts_end_with_timeout_ms),
        cmocka_unit_test(what_ended_early_is_charged),
        cmocka_unit_test(errors_have_openais_shape),
        cmocka_unit_test(an_unknown_model_is_404_with_the_names_there_are),
        cmocka_unit_test(an_alias_of_nothing_is_refused_at_the_start),
        cmocka_unit_test(what_is_not_honoured_is_refused_by_name),
        cmocka_unit_test(messages_are_read_whole_or_refused_by_name),
        cmocka_unit_test(values_that_ask_for_nothing_pass),
        cmocka_unit_test(answers_from_documents_refuse_what_they_cannot_honour),
        cmocka_unit_test(grounded_chat_cites),
        cmocka_unit_test(markers_of_documents_are_no_citations),
        cmocka_unit_test(a_seed_gives_the_same_text_and_choices_differ),
        cmocka_unit_test(chunks_add_up_to_the_whole),
        cmocka_unit_test(json_object_is_json_and_bans_hold),
        cmocka_unit_test(a_schema_is_kept_to),
        cmocka_unit_test(stop_token_ids_end_an_answer),
        cmocka_unit_test(an_answer_ends_when_its_time_is_over),
        cmocka_unit_test(a_client_that_leaves_frees_its_slot),
        cmocka_unit_test(a_prompt_beyond_the_window_is_named),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
