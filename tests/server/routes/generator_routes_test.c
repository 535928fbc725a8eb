/* generator_routes_test.c - the routes over a generator that is not the engine of this process: answers
 * from documents go through it; what only the engine has is refused, or left out. */
#include "tests/retrieval/scripted_generator.h"
#include "tests/server/routes/http_fixture.h"

static script p;

static int setup(void **state) {
    p = (script){.says = "The grey heron is one metre tall. It eats fish."};
    fixture *f = fixture_open_generator(test_folder(), scripted_generator(&p), (http_options){0});
    cJSON_Delete(ask(f, "/ingest",
                     "{\"documents\":[{\"id\":\"heron\",\"text\":\"The grey heron stands one metre "
                     "tall. It eats fish and frogs.\"},"
                     "{\"id\":\"owl\",\"text\":\"The barn owl hunts mice at night.\"}]}",
                     200));
    *state = f;
    return 0;
}

static int teardown(void **state) {
    fixture_close(*state);
    return 0;
}

static const char WRITTEN[] = "The grey heron is one metre tall. [1] It eats fish. [2]";

static cJSON *query(fixture *f, const char *more, long want) {
    char body[512];
    snprintf(body, sizeof body,
             "{\"query\":\"How tall is the grey heron?\",\"cache\":\"bypass\"%s}", more);
    return ask(f, "/query", body, want);
}

static cJSON *chat(fixture *f, const char *more, long want) {
    char body[512];
    snprintf(
        body, sizeof body,
        "{\"model\":\"forage/default\",\"messages\":[{\"role\":\"user\",\"content\":\"How tall is "
        "the grey heron?\"}]%s}",
        more);
    return ask(f, "/v1/chat/completions", body, want);
}

static void query_is_answered_by_it(void **state) {
    fixture *f = *state;
    cJSON *r = query(f, ",\"seed\":9,\"kv_reuse\":\"chunk\"", 200);
    assert_string_equal(text(r, "answer"), WRITTEN);
    assert_string_equal(text(r, "answer_source"), "generated");
    assert_string_equal(text(r, "model"), "scripted");
    assert_true(cJSON_IsTrue(at(r, "citations.1.verified")));
    assert_string_equal(text(r, "prompt.contexts.0"), "heron#0");
    assert_true(number(r, "usage.completion_tokens") == 10);
    double prompt = number(r, "usage.prompt_tokens");
    assert_true(prompt > 20);
    assert_true(number(r, "timings_ms.prefill") == 1);
    assert_int_equal(p.last.seed, 9);
    assert_int_equal(p.last.reuse, REUSE_CHUNK);
    cJSON_Delete(r);
    r = query(f, "", 200); /* it has read that before */
    assert_true(number(r, "cache.kv.prefix_tokens") == prompt);
    assert_true(number(r, "usage.prompt_tokens_details.cached_tokens") == prompt);
    cJSON_Delete(r);
    p.refuses = FO_EBUSY;
    r = query(f, "", 429);
    p.refuses = 0;
    assert_string_equal(text(r, "error.message"), "the script refuses");
    cJSON_Delete(r);
}

static void sentences_of_query_stream_as_they_are_written(void **state) {
    fixture *f = *state;
    fo_buf b = {0};
    assert_int_equal(send_body(f, "/query",
                               "{\"query\":\"How tall is the grey heron?\",\"stream\":true,"
                               "\"cache\":\"bypass\"}",
                               &b, false),
                     200);
    static const char *const order[] = {"event: contexts", "event: token", "one metre tall",
                                        "event: citation", "event: token", "It eats fish.",
                                        "event: citation", "event: done"};
    const char *next = b.data;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        next = strstr(next, order[i]);
        if (!next) fail_msg("'%s' is not where it should be in: %s", order[i], b.data);
        next += strlen(order[i]);
    }
    fo_buf_free(&b);
    send_body(f, "/query", "{\"query\":\"How tall is the grey heron?\",\"stream\":true}", NULL,
              true);
}

static void grounded_chat_is_answered_by_it(void **state) {
    fixture *f = *state;
    static const char chat[] =
        "{\"model\":\"forage/default\",\"seed\":%d,\"messages\":[{\"role\":\"user\","
        "\"content\":\"How tall is the grey heron?\"}]%s}";
    char body[512];
    snprintf(body, sizeof body, chat, 1, "");
    cJSON *r = ask(f, "/v1/chat/completions", body, 200);
    assert_string_equal(text(r, "choices.0.message.content"), WRITTEN);
    assert_string_equal(text(r, "model"), "forage/default");
    assert_true(number(r, "usage.completion_tokens") == 10);
    cJSON_Delete(r);
    snprintf(body, sizeof body, chat, 2, ",\"stream\":true");
    fo_buf b = {0};
    assert_int_equal(send_body(f, "/v1/chat/completions", body, &b, false), 200);
    assert_non_null(strstr(b.data, "one metre tall. [1]"));
    assert_non_null(strstr(b.data, "data: [DONE]"));
    fo_buf_free(&b);
}

static void what_only_the_engine_has_is_refused_or_left_out(void **state) {
    fixture *f = *state;
    cJSON *r = ask(f, "/v1/completions", "{\"prompt\":\"The heron\"}", 404);
    assert_string_equal(text(r, "error.code"), "model_not_found");
    cJSON_Delete(r);
    r = ask(f, "/v1/chat/completions",
            "{\"model\":\"scripted\",\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}", 404);
    assert_string_equal(text(r, "error.param"), "model");
    cJSON_Delete(r);
    r = ask(f, "/v1/tokenize", "{\"text\":\"The heron\"}", 200); /* the embedder's */
    assert_true(number(r, "count") > 0);
    cJSON_Delete(r);
    r = ask(f, "/stats", NULL, 200);
    assert_string_equal(text(r, "generator.name"), "scripted");
    assert_null(at(r, "generator.kv"));
    cJSON_Delete(r);
    r = ask(f, "/analytics/kv", NULL, 200);
    assert_true(number(r, "pages") == 0);
    cJSON_Delete(r);
    fo_buf b = {0};
    assert_int_equal(send_body(f, "/metrics", NULL, &b, false), 200);
    assert_non_null(strstr(b.data, "generator=\"scripted\""));
    assert_null(strstr(b.data, "forage_generation_"));
    assert_null(strstr(b.data, "forage_kv_pages"));
    fo_buf_free(&b);
}

typedef struct asking {
    fixture *f;
    long want;
    const char *more;
    bool chat; /* on /v1, else of /query */
    cJSON *reply;
} asking;

static void *ask_aside(void *arg) {
    asking *a = arg;
    a->reply = (a->chat ? chat : query)(a->f, a->more, a->want);
    return NULL;
}

/* The first choice takes what there is of it: the next ones do not have as much again. */
static void choices_share_the_time_of_their_call(void **state) {
    (void)state;
    p = (script){.says = "The grey heron is one metre tall. It eats fish.", .waits_after = 3};
    fixture *f = fixture_open_generator(test_folder(), scripted_generator(&p), (http_options){0});
    cJSON_Delete(ask(f, "/ingest",
                     "{\"documents\":[{\"id\":\"heron\",\"text\":\"The grey heron stands one metre "
                     "tall. It eats fish and frogs.\"}]}",
                     200));
    /* How long it takes to get to the generator is the machine's: twice as much is asked for until it was reached. */
    for (int most_ms = 500; p.n_started == 0 && most_ms <= 64000; most_ms *= 2) {
        char more[64];
        snprintf(more, sizeof more, ",\"n\":8,\"timeout_ms\":%d", most_ms);
        cJSON *r = chat(f, more, 408);
        assert_string_equal(text(r, "error.param"), "timeout_ms");
        cJSON_Delete(r);
    }
    /* The script writes until it is cancelled, at the end of what time it was given: with as much again all eight would
     * have begun. A second may have a millisecond left. */
    assert_in_range(p.n_started, 1, 2);
    fixture_close(f);
}

/* One worker, which writes an answer until it is told to go on; the questions behind it wait longer than they may. */
static void what_waited_too_long_for_others_is_not_begun(void **state) {
    (void)state;
    p = (script){.says = "The grey heron is one metre tall. It eats fish.", .waits_after = 3};
    fixture *f = fixture_open_generator(test_folder(), scripted_generator(&p),
                                        (http_options){.n_workers = {[HTTP_LANE_QUERY] = 1}});
    cJSON_Delete(ask(f, "/ingest",
                     "{\"documents\":[{\"id\":\"heron\",\"text\":\"The grey heron stands one metre "
                     "tall. It eats fish and frogs.\"}]}",
                     200));
    asking first = {.f = f, .want = 200, .more = ""};
    asking second = {.f = f, .want = 408, .more = ",\"timeout_ms\":100"}, third = second;
    third.chat = true;
    pthread_t threads[3];
    http_load load = {0};
    assert_int_equal(pthread_create(&threads[0], NULL, ask_aside, &first), 0);
    for (bool writes = false; !writes; usleep(2000)) {
        pthread_mutex_lock(&p.mu);
        writes = p.n_started > 0;
        pthread_mutex_unlock(&p.mu);
    }
    assert_int_equal(pthread_create(&threads[1], NULL, ask_aside, &second), 0);
    assert_int_equal(pthread_create(&threads[2], NULL, ask_aside, &third), 0);
    while (load.queued[HTTP_LANE_QUERY] < 2) http_get_load(f->app->http, &load);
    usleep(150000);
    atomic_store(&p.go, true);
    pthread_join(threads[0], NULL);
    for (int i = 0; i < 2; i++) {
        asking *late = i ? &third : &second;
        pthread_join(threads[1 + i], NULL);
        assert_string_equal(text(late->reply, "error.param"), "timeout_ms");
        assert_non_null(strstr(text(late->reply, "error.message"), "waited"));
        cJSON_Delete(late->reply);
    }
    assert_int_equal(p.n_started, 1);
    cJSON_Delete(first.reply);
    fixture_close(f);
}

static int leave_once_it_writes(void *ctx, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d) {
    (void)ctx, (void)a, (void)b, (void)c, (void)d;
    pthread_mutex_lock(&p.mu);
    int writes = p.n_started;
    pthread_mutex_unlock(&p.mu);
    return writes;
}

/* A client that goes away while the answer is written. */
static void leave_in_between(fixture *f, const char *path, const char *body) {
    char url[256];
    CURL *c = curl_easy_init();
    struct curl_slist *h = curl_slist_append(NULL, "Content-Type: application/json");
    snprintf(url, sizeof url, "http://%s%s", http_address(f->app->http), path);
    curl_easy_setopt(c, CURLOPT_URL, url);
    curl_easy_setopt(c, CURLOPT_HTTPHEADER, h);
    curl_easy_setopt(c, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, leave_once_it_writes);
    fo_buf b = {0};
    curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(c, CURLOPT_WRITEDATA, &b);
    assert_int_equal(curl_easy_perform(c), CURLE_ABORTED_BY_CALLBACK);
    fo_buf_free(&b);
    curl_slist_free_all(h);
    curl_easy_cleanup(c);
}

/* What was computed until then is charged: the next one has to wait. */
static void who_leaves_before_the_end_is_charged(void **state) {
    (void)state;
    static const char *const doors[][2] = {
        {"/query", "{\"query\":\"How tall is the grey heron?\",\"cache\":\"bypass\"}"},
        {"/query", "{\"query\":\"How tall is the grey heron?\",\"cache\":\"bypass\",\"stream\":"
                   "true}"},
        {"/v1/chat/completions", "{\"model\":\"forage/default\",\"messages\":[{\"role\":\"user\","
                                 "\"content\":\"How tall is the grey heron?\"}]}"},
        {"/mcp", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
                 "\"ask\",\"arguments\":{\"question\":\"How tall is the grey heron?\"}}}"},
    };
    for (size_t i = 0; i < sizeof doors / sizeof *doors; i++) {
        p = (script){.says = "The grey heron is one metre tall. It eats fish.", .waits_after = 3};
        fixture *f =
            fixture_open_generator(test_folder(), scripted_generator(&p), (http_options){0});
        cJSON_Delete(ask(f, "/ingest",
                         "{\"documents\":[{\"id\":\"heron\",\"text\":\"The grey heron stands one "
                         "metre tall. It eats fish and frogs.\"}]}",
                         200));
        rate_tier tier;
        fo_err err = {0};
        assert_ok(rate_tier_read(&tier, "few: tokens=10", &err), &err);
        assert_ok(rate_limits_create(&f->app->limits, &tier, 1, &err), &err);
        f->app->address_tier = rate_limits_tier(f->app->limits, "few");
        cJSON_Delete(ask(f, "/search", "{\"query\":\"heron\"}", 200));
        leave_in_between(f, doors[i][0], doors[i][1]);
        assert_int_equal(p.n_started, 1);
        long status = 200;
        for (int k = 0; k < 200 && status == 200; k++) { /* once the server saw it go */
            fo_buf b = {0};
            usleep(20000);
            status = send_body(f, "/search", "{\"query\":\"heron\"}", &b, false);
            fo_buf_free(&b);
        }
        if (status != 429) fail_msg("%s: %ld", doors[i][0], status);
        fixture_close(f);
    }
}

int main(void) {
    curl_global_init(CURL_GLOBAL_DEFAULT);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(query_is_answered_by_it),
        cmocka_unit_test(sentences_of_query_stream_as_they_are_written),
        cmocka_unit_test(grounded_chat_is_answered_by_it),
        cmocka_unit_test(what_only_the_engine_has_is_refused_or_left_out),
        cmocka_unit_test(choices_share_the_time_of_their_call),
        cmocka_unit_test(what_waited_too_long_for_others_is_not_begun),
        cmocka_unit_test(who_leaves_before_the_end_is_charged),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
