/* POST /query and grounded chat with a language model, over HTTP; the model says what a test wants
 * (chain_model.h). */
#include "tests/server/routes/http_fixture.h"
#include "tests/retrieval/chain_model.h"

static const char QUESTION[] = "{\"query\":\"How tall is the grey heron?\"%s}";

static fixture *open_with(const char *answer, engine_options e) {
    char *dir = test_folder(), path[4096];
    snprintf(path, sizeof path, "%s/chain.gguf", dir);
    chain_model_write(path, answer);
    fixture *f = fixture_open(dir, strdup(path), e);
    cJSON_Delete(ask(f, "/ingest",
                     "{\"documents\":[{\"id\":\"heron\",\"text\":\"The grey heron stands one metre "
                     "tall. It eats fish and frogs.\"},"
                     "{\"id\":\"owl\",\"text\":\"The barn owl hunts mice at night.\"}]}",
                     200));
    return f;
}

static int setup(void **state) {
    *state = open_with("The grey heron is|stands one metre tall. It eats fish.",
                       (engine_options){.kv_ram = 16 << 20});
    return 0;
}

static int teardown(void **state) {
    fixture_close(*state);
    return 0;
}

static cJSON *query(fixture *f, const char *more, long want) {
    char body[1024];
    snprintf(body, sizeof body, QUESTION, more);
    return ask(f, "/query", body, want);
}

static void an_answer_is_written_and_every_figure_is_there(void **state) {
    fixture *f = *state;
    cJSON *r = query(f, ",\"cache\":\"bypass\"", 200);
    assert_string_equal(text(r, "answer_source"), "generated");
    assert_string_equal(text(r, "status"), "answered");
    assert_string_equal(text(r, "finish_reason"), "stop");
    assert_string_equal(text(r, "model"), "chain");
    assert_true(cJSON_IsNull(at(r, "stop_sequence")));
    assert_non_null(strstr(text(r, "answer"), "one metre tall. [1] It eats fish. [2]"));
    assert_int_equal(cJSON_GetArraySize(at(r, "citations")), 2);
    assert_true(cJSON_IsTrue(at(r, "citations.0.verified")));
    assert_string_equal(text(r, "citations.0.source.document_id"), "heron");
    assert_string_equal(text(r, "prompt.contexts.0"), "heron#0");
    assert_true(number(r, "prompt.dropped") == 1); /* a small model reads one */
    assert_true(number(r, "usage.completion_tokens") == 10);
    assert_true(number(r, "usage.total_tokens") == number(r, "usage.prompt_tokens") + 10);
    assert_true(number(r, "timings_ms.prefill") > 0);
    cJSON_Delete(r);
    r = query(f, ",\"cache\":\"bypass\"", 200); /* its prompt was read a moment ago */
    double prefix = number(r, "cache.kv.prefix_tokens");
    assert_true(prefix > 0);
    assert_true(prefix == number(r, "usage.prompt_tokens_details.cached_tokens"));
    cJSON_Delete(r);
    r = query(f, ",\"cache\":\"bypass\",\"kv_reuse\":\"off\",\"keep_kv\":false", 200);
    assert_true(number(r, "cache.kv.prefix_tokens") == 0);
    cJSON_Delete(r);
}

static void fields_of_generation_are_honoured(void **state) {
    fixture *f = *state;
    cJSON *r = query(f, ",\"max_tokens\":8", 200);
    assert_string_equal(text(r, "finish_reason"), "length");
    assert_int_equal(cJSON_GetArraySize(at(r, "citations")), 1);
    cJSON_Delete(r);
    r = query(f, ",\"stop\":\"It eats\"", 200);
    assert_string_equal(text(r, "finish_reason"), "stop_sequence");
    assert_string_equal(text(r, "stop_sequence"), "It eats");
    cJSON_Delete(r);
    r = query(f, ",\"stop\":[\"x\",\"It eats\"]", 200);
    assert_string_equal(text(r, "stop_sequence"), "It eats");
    cJSON_Delete(r);
    r = query(f, ",\"max_tokens\":2", 200);
    assert_string_equal(text(r, "answer_source"), "extractive");
    assert_string_equal(text(r, "model"), "forage-extractive");
    cJSON_Delete(r);
    r = query(f, ",\"prefill_only\":true", 200);
    assert_string_equal(text(r, "answer"), "");
    assert_string_equal(text(r, "answer_source"), "none");
    assert_true(number(r, "usage.prompt_tokens") > 0);
    assert_true(number(r, "timings_ms.prefill") > 0);
    assert_true(number(r, "timings_ms.decode") == 0); /* nothing was decoded */
    assert_true(number(r, "timings_ms.first_token") == 0);
    cJSON_Delete(r);
    bool seen[2] = {false, false};
    for (int seed = 0; seed < 24; seed++) {
        char more[80];
        snprintf(more, sizeof more, ",\"temperature\":1,\"order\":\"cache\",\"seed\":%d", seed);
        r = query(f, more, 200);
        seen[strstr(text(r, "answer"), "stands") != NULL] = true;
        cJSON_Delete(r);
    }
    assert_true(seen[0] && seen[1]);
    r = ask(f, "/query",
            "{\"messages\":[{\"role\":\"user\",\"content\":\"Tell me of the grey heron.\"},"
            "{\"role\":\"assistant\",\"content\":\"It is a bird.\"},"
            "{\"role\":\"user\",\"content\":\"How tall is the heron?\"}]}",
            200);
    assert_string_equal(text(r, "answer_source"), "generated");
    cJSON_Delete(r);
    r = ask(f, "/query", "{\"query\":\"Who won the chess championship of 1972?\"}", 200);
    assert_string_equal(text(r, "status"), "abstained");
    assert_string_equal(text(r, "answer_source"), "none");
    cJSON_Delete(r);
}

/* The model says the same sentence again and again, with "is" or "stands" in it by equal right; an
 * answer ends where it would repeat itself. How many of 12 seeds give both sentences? */
static int both(fixture *f, const char *more) {
    int n = 0;
    for (int seed = 0; seed < 12; seed++) {
        char body[256];
        snprintf(body, sizeof body, ",\"max_tokens\":14,\"seed\":%d%s", seed, more);
        cJSON *r = query(f, body, 200);
        if (strcmp(text(r, "answer_source"), "generated") != 0)
            fail_msg("%s: %s", body, text(r, "answer_source"));
        n += strstr(text(r, "answer"), " is ") && strstr(text(r, "answer"), " stands ");
        cJSON_Delete(r);
    }
    return n;
}

static void tokens_are_chosen_as_on_v1(void **state) {
    (void)state;
    fixture *f = open_with("The grey heron is|stands one metre tall. @",
                           (engine_options){.kv_ram = 16 << 20});
    static const struct {
        const char *more;
        int n[2]; /* between */
    } cases[] = {
        {"", {0, 0}},
        {",\"presence_penalty\":2", {12, 12}},
        {",\"presence_penalty\":-2", {0, 0}},
        {",\"frequency_penalty\":2", {12, 12}},
        {",\"frequency_penalty\":-0.1", {0, 0}},
        {",\"repetition_penalty\":1.5", {12, 12}},
        {",\"repetition_penalty\":0.5", {0, 0}},
        {",\"temperature\":1", {1, 11}},
        {",\"temperature\":1,\"sampling_top_k\":1", {0, 0}},
        {",\"temperature\":1,\"presence_penalty\":1", {1, 11}},
        {",\"temperature\":1,\"presence_penalty\":1,\"min_p\":0.9", {12, 12}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int n = both(f, cases[i].more);
        if (n < cases[i].n[0] || n > cases[i].n[1]) fail_msg("%s: %d of 12", cases[i].more, n);
    }
    fixture_close(f);
}

static void stop_strings_end_an_extractive_answer(void **state) {
    fixture *f = *state;
    static const struct {
        const char *stop, *answer, *met;
    } cases[] = {
        {"[\"zebra\"]", "The grey heron stands one metre tall. [1]", NULL},
        {"\" one metre\"", "The grey heron stands [1]", " one metre"},
        {"[\"tall\",\"stands\"]", "The grey heron [1]", "stands"},
        {"[\"The\"]", "", "The"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int stream = 0; stream < 2; stream++) {
            char more[200]; /* what the model gets to write is no sentence */
            snprintf(more, sizeof more,
                     ",\"max_tokens\":2,\"max_sentences\":1,\"stop\":%s,\"stream\":%s",
                     cases[i].stop, stream ? "true" : "false");
            char body[512];
            snprintf(body, sizeof body, QUESTION, more);
            fo_buf b = {0};
            assert_int_equal(send_body(f, "/query", body, &b, false), 200);
            fo_buf_add(&b, "", 1);
            const char *from = b.data, *done = strstr(b.data, "event: done\ndata: ");
            if (stream) from = done + strlen("event: done\ndata: ");
            cJSON *r = cJSON_Parse(from);
            assert_string_equal(text(r, "answer_source"), "extractive");
            assert_string_equal(text(r, "answer"), cases[i].answer);
            assert_int_equal(cJSON_GetArraySize(at(r, "citations")), cases[i].answer[0] != 0);
            assert_string_equal(text(r, "finish_reason"), cases[i].met ? "stop_sequence" : "stop");
            if (cases[i].met) assert_string_equal(text(r, "stop_sequence"), cases[i].met);
            if (cases[i].answer[0]) assert_true(cJSON_IsTrue(at(r, "citations.0.verified")));
            cJSON_Delete(r);
            fo_buf_free(&b);
        }
    }
}

static double guessed(fixture *f, const char *kind) {
    fo_buf b = {0};
    char name[96];
    assert_int_equal(send_body(f, "/metrics", NULL, &b, false), 200);
    fo_buf_add(&b, "", 1);
    snprintf(name, sizeof name, "forage_generation_guessed_tokens_total{kind=\"%s\"} ", kind);
    const char *line = strstr(b.data, name);
    assert_non_null(line);
    double value = strtod(line + strlen(name), NULL);
    fo_buf_free(&b);
    return value;
}

/* The model says the same again and again, so it is guessed; without look-up nothing is. */
static void lookup_false_guesses_nothing_and_says_the_same(void **state) {
    (void)state;
    fixture *f = open_with("The grey heron stands one metre tall @",
                           (engine_options){.kv_ram = 16 << 20, .row_cost = .01});
    char *first = NULL;
    for (int round = 0; round < 4; round++) {
        bool off = round % 2 == 0;
        double before = guessed(f, "drafted");
        char more[80];
        snprintf(more, sizeof more, ",\"cache\":\"bypass\",\"max_tokens\":60,\"lookup\":%s",
                 off ? "false" : "true");
        cJSON *r = query(f, more, 200);
        if (!first) first = strdup(text(r, "answer"));
        assert_string_equal(text(r, "answer"), first);
        cJSON_Delete(r);
        double now = guessed(f, "drafted");
        assert_true(off ? now == before : now > before);
    }
    assert_true(guessed(f, "kept") > 0 && guessed(f, "kept") <= guessed(f, "drafted"));
    free(first);
    fixture_close(f);
}

static void a_bad_field_is_named(void **state) {
    fixture *f = *state;
    static const struct {
        const char *more, *param;
    } cases[] = {
        {",\"max_tokens\":0", "max_tokens"},
        {",\"max_tokens\":1e9", "max_tokens"},
        {",\"max_sentences\":0", "max_sentences"},
        {",\"temperature\":3", "temperature"},
        {",\"top_p\":-1", "top_p"},
        {",\"seed\":-1", "seed"},
        {",\"sampling_top_k\":-1", "sampling_top_k"},
        {",\"sampling_top_k\":1.5", "sampling_top_k"},
        {",\"min_p\":2", "min_p"},
        {",\"presence_penalty\":3", "presence_penalty"},
        {",\"frequency_penalty\":\"2\"", "frequency_penalty"},
        {",\"repetition_penalty\":0", "repetition_penalty"},
        {",\"stop\":[1]", "stop"},
        {",\"stop\":[\"\"]", "stop"},
        {",\"stop\":{}", "stop"},
        {",\"stop\":[\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\",\"9\",\"a\",\"b\",\"c\",\"d\","
         "\"e\",\"f\",\"g\",\"h\"]",
         "stop"},
        {",\"priority\":101", "priority"},
        {",\"order\":\"random\"", "order"},
        {",\"kv_reuse\":\"some\"", "kv_reuse"},
        {",\"prefill_only\":\"yes\"", "prefill_only"},
        {",\"keep_kv\":1", "keep_kv"},
        {",\"lookup\":\"no\"", "lookup"},
        {",\"stream\":\"yes\"", "stream"},
        {",\"grounding\":\"firm\"", "grounding"},
        {",\"timeout_ms\":0", "timeout_ms"},
        {",\"temprature\":0", "temprature"},
        {",\"search\":{\"rerank\":true}", "search.rerank"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool unsupported = strstr(cases[i].more, "rerank") != NULL;
        cJSON *r = query(f, cases[i].more, unsupported ? 422 : 400);
        assert_string_equal(text(r, "error.param"), cases[i].param);
        cJSON_Delete(r);
    }
}

static void a_stop_string_of_more_than_1024_bytes_is_refused(void **state) {
    fixture *f = *state;
    static const char *const routes[][2] = {
        {"/query", "{\"query\":\"How tall is the grey heron?\",\"stop\":\"%s\"}"},
        {"/query", "{\"query\":\"How tall is the grey heron?\",\"stop\":[\"a\",\"%s\"]}"},
        {"/v1/completions", "{\"prompt\":\"a\",\"stop\":\"%s\"}"},
        {"/v1/chat/completions",
         "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],\"stop\":[\"a\",\"%s\"]}"}};
    char stop[1026], body[1200];
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++)
        for (int more = 0; more < 2; more++) {
            snprintf(stop, sizeof stop, "%0*d", 1024 + more, 0);
            int n = snprintf(body, sizeof body, "%.*s%s%s",
                             (int)(strstr(routes[i][1], "%s") - routes[i][1]), routes[i][1], stop,
                             strstr(routes[i][1], "%s") + 2);
            assert_in_range(n, 1024, sizeof body - 1);
            cJSON *r = ask(f, routes[i][0], body, more ? 400 : 200);
            if (more) assert_string_equal(text(r, "error.param"), "stop");
            if (more) assert_non_null(strstr(text(r, "error.message"), "1024 bytes"));
            cJSON_Delete(r);
        }
}

/* The events of a stream: "name name name", and the data of the last. */
static cJSON *events(fixture *f, const char *more, fo_buf *names, fo_buf *tokens) {
    char body[1024];
    fo_buf b = {0};
    snprintf(body, sizeof body, QUESTION, more);
    assert_int_equal(send_body(f, "/query", body, &b, false), 200);
    cJSON *last = NULL;
    char *save = NULL, name[32] = "";
    fo_buf_str(names, ""), fo_buf_str(tokens, "");
    for (char *line = strtok_r(b.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        if (!strncmp(line, "event: ", 7)) {
            snprintf(name, sizeof name, "%s", line + 7);
            fo_buf_printf(names, "%s ", name);
        } else if (!strncmp(line, "data: ", 6)) {
            cJSON_Delete(last);
            last = cJSON_Parse(line + 6);
            assert_non_null(last);
            if (!strcmp(name, "token")) fo_buf_str(tokens, text(last, "text"));
            if (!strcmp(name, "draft")) assert_non_null(strstr(text(last, "answer"), "[1]"));
        }
    }
    fo_buf_free(&b);
    return last;
}

static void a_stream_tells_contexts_sentences_citations_and_the_whole(void **state) {
    fixture *f = *state;
    fo_buf names = {0}, tokens = {0};
    cJSON *done = events(f, ",\"stream\":true,\"cache\":\"bypass\"", &names, &tokens);
    assert_string_equal(names.data, "contexts draft token citation token citation done ");
    assert_string_equal(tokens.data, text(done, "answer"));
    cJSON *whole = query(f, ",\"cache\":\"bypass\"", 200);
    assert_string_equal(text(done, "answer"), text(whole, "answer"));
    assert_true(cJSON_Compare(at(done, "citations"), at(whole, "citations"), true));
    assert_true(cJSON_Compare(at(done, "contexts"), at(whole, "contexts"), true));
    cJSON_Delete(done);
    cJSON_Delete(whole);
    fo_buf_free(&names), fo_buf_free(&tokens);
    done = events(f, ",\"stream\":true,\"max_tokens\":2", &names, &tokens);
    assert_string_equal(text(done, "answer_source"), "extractive");
    assert_string_equal(tokens.data, text(done, "answer"));
    cJSON_Delete(done);
    fo_buf_free(&names), fo_buf_free(&tokens);
}

static void wait_idle(fixture *f) {
    engine_stats st = {0};
    for (int i = 0; i < 1000; i++) {
        engine_get_stats(local_generator_engine(service_generator(f->service)), &st);
        if (st.n_running + st.n_waiting == 0) break;
        usleep(10000);
    }
    fo_err err = {0};
    assert_int_equal(st.n_running + st.n_waiting, 0);
    assert_ok(engine_check(local_generator_engine(service_generator(f->service)), &err), &err);
}

static void a_client_that_leaves_frees_its_slot(void **state) {
    fixture *f = *state;
    char body[1024];
    snprintf(body, sizeof body, QUESTION, ",\"stream\":true,\"cache\":\"bypass\"");
    for (int i = 0; i < 6; i++) send_body(f, "/query", body, NULL, true);
    wait_idle(f);
    cJSON *r = query(f, ",\"cache\":\"bypass\"", 200);
    assert_string_equal(text(r, "answer_source"), "generated");
    cJSON_Delete(r);
}

static void grounded_chat_takes_n_stop_and_max_tokens(void **state) {
    fixture *f = *state;
    static const char *const body =
        "{\"model\":\"forage/default\",\"messages\":[{\"role\":\"user\",\"content\":"
        "\"How tall is the grey heron?\"}]%s}";
    char b[512];
    snprintf(b, sizeof b, body, ",\"n\":3,\"seed\":7,\"temperature\":1");
    cJSON *r = ask(f, "/v1/chat/completions", b, 200), *again;
    assert_int_equal(cJSON_GetArraySize(at(r, "choices")), 3);
    assert_string_equal(text(r, "answer_source"), "generated");
    for (int i = 0; i < 3; i++) {
        char path[64];
        snprintf(path, sizeof path, "choices.%d.message.content", i);
        assert_non_null(strstr(text(r, path), "one metre tall. [1]"));
        snprintf(path, sizeof path, "choices.%d.citations", i);
        assert_int_equal(cJSON_GetArraySize(at(r, path)), 2);
    }
    assert_true(number(r, "usage.completion_tokens") == 30);
    again = ask(f, "/v1/chat/completions", b, 200);
    assert_true(cJSON_Compare(at(r, "choices"), at(again, "choices"), true));
    cJSON_Delete(r);
    cJSON_Delete(again);
    snprintf(b, sizeof b, body, ",\"stop\":[\"It eats\"]");
    r = ask(f, "/v1/chat/completions", b, 200);
    assert_int_equal(cJSON_GetArraySize(at(r, "citations")), 1);
    assert_string_equal(text(r, "choices.0.finish_reason"), "stop");
    cJSON_Delete(r);
    snprintf(b, sizeof b, body, ",\"max_tokens\":8");
    r = ask(f, "/v1/chat/completions", b, 200);
    assert_string_equal(text(r, "choices.0.finish_reason"), "length");
    cJSON_Delete(r);
    snprintf(b, sizeof b, body, ",\"n\":2,\"stream\":true");
    fo_buf out = {0};
    assert_int_equal(send_body(f, "/v1/chat/completions", b, &out, false), 200);
    assert_non_null(strstr(out.data, "\"index\":1"));
    assert_string_equal(out.data + out.len - 14, "data: [DONE]\n\n");
    fo_buf_free(&out);
}

/* The routes of OpenAI's shape honour what POST /query does, under its own names. */
static void v1_honours_sampling_and_kv_reuse(void **state) {
    fixture *f = *state;
    static const char *const paths[] = {"/v1/chat/completions", "/v1/completions"};
    static const char *const asked[] = {
        "\"model\":\"forage/default\",\"messages\":[{\"role\":\"user\",\"content\":\"How tall is "
        "the grey heron?\"}],\"seed\":99,\"priority\":-5",
        "\"model\":\"chain\",\"prompt\":\"A prompt of more than a page.\",\"max_tokens\":2"};
    for (int i = 0; i < 2; i++) {
        double cached[3];
        for (int k = 0; k < 3; k++) { /* the third would find what the second left behind */
            char body[400];
            snprintf(body, sizeof body, "{%s,\"kv_reuse\":\"%s\",\"top_k\":%d}", asked[i],
                     k == 2 ? "off" : "exact", 40 + k);
            cJSON *r = ask(f, paths[i], body, 200);
            cached[k] = number(r, "usage.prompt_tokens_details.cached_tokens");
            cJSON_Delete(r);
        }
        assert_true(cached[1] > 0);
        assert_true(cached[2] == 0);
    }
    cJSON *r = ask(f, "/v1/completions",
                   "{\"model\":\"chain\",\"prompt\":\"a\",\"kv_reuse\":\"chunk\"}", 400);
    assert_string_equal(text(r, "error.param"), "kv_reuse");
    cJSON_Delete(r);

    f = open_with("The grey heron is|stands one metre tall. @",
                  (engine_options){.kv_ram = 16 << 20});
    static const char *const more[] = {"\"presence_penalty\":2", "\"frequency_penalty\":2",
                                       "\"repetition_penalty\":1.5", "\"top_p\":1"};
    for (int i = 0; i < 4; i++) {
        char body[300];
        snprintf(body, sizeof body,
                 "{\"model\":\"forage/default\",\"max_tokens\":14,\"temperature\":0,\"messages\":[{"
                 "\"role\":\"user\",\"content\":\"How tall is the grey heron?\"}],%s}",
                 more[i]);
        r = ask(f, "/v1/chat/completions", body, 200);
        const char *said = text(r, "choices.0.message.content");
        if ((strstr(said, " is ") && strstr(said, " stands ")) != (i < 3))
            fail_msg("%s: %s", more[i], said);
        cJSON_Delete(r);
    }
    fixture_close(f);
}

static void too_much_at_once_is_refused_with_a_time_to_come_again(void **state) {
    (void)state;
    fixture *f = open_with("The grey heron is one metre tall.",
                           (engine_options){.kv_ram = 16 << 20, .max_tps = 10});
    bool refused = false;
    for (int i = 0; i < 40 && !refused;
         i++) { /* a window of a second: one fits, the next must not */
        fo_buf b = {0};
        char body[256];
        snprintf(body, sizeof body, QUESTION, ",\"cache\":\"bypass\",\"kv_reuse\":\"off\"");
        long status = send_body(f, "/query", body, &b, false);
        if (status == 429) {
            cJSON *r = cJSON_ParseWithLength(b.data, b.len);
            assert_string_equal(text(r, "error.code"), "rate_limit_exceeded");
            cJSON_Delete(r);
            refused = true;
        } else {
            assert_int_equal(status, 200);
        }
        fo_buf_free(&b);
    }
    assert_true(refused);
    fixture_close(f);
}

/* By the question's own clock, not while it waits for a worker. */
static void a_question_whose_time_is_over_names_the_field(void **state) {
    fo_buf body = {0}, b = {0};
    bool late = false;
    fo_buf_str(&body, "{\"cache\":\"bypass\",\"timeout_ms\":2,\"query\":\"How tall is the heron");
    for (int i = 0; i < 7000; i++) fo_buf_printf(&body, " word%d", i % 1000);
    fo_buf_str(&body, "?\"}");
    for (int i = 0; i < 100 && !late; i++) {
        fo_buf_clear(&b);
        if (send_body(*state, "/query", body.data, &b, false) == 200) continue;
        cJSON *r = cJSON_ParseWithLength(b.data, b.len);
        assert_string_equal(text(r, "error.param"), "timeout_ms");
        late = !strncmp(text(r, "error.message"), "no answer within", 16);
        cJSON_Delete(r);
    }
    assert_true(late);
    fo_buf_free(&body);
    fo_buf_free(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_is_written_and_every_figure_is_there),
        cmocka_unit_test(fields_of_generation_are_honoured),
        cmocka_unit_test(tokens_are_chosen_as_on_v1),
        cmocka_unit_test(stop_strings_end_an_extractive_answer),
        cmocka_unit_test(lookup_false_guesses_nothing_and_says_the_same),
        cmocka_unit_test(a_bad_field_is_named),
        cmocka_unit_test(a_stop_string_of_more_than_1024_bytes_is_refused),
        cmocka_unit_test(a_stream_tells_contexts_sentences_citations_and_the_whole),
        cmocka_unit_test(a_client_that_leaves_frees_its_slot),
        cmocka_unit_test(grounded_chat_takes_n_stop_and_max_tokens),
        cmocka_unit_test(v1_honours_sampling_and_kv_reuse),
        cmocka_unit_test(too_much_at_once_is_refused_with_a_time_to_come_again),
        cmocka_unit_test(a_question_whose_time_is_over_names_the_field),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
