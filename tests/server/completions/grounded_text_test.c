/* grounded_text_test.c - /v1/chat/completions and /v1/responses on forage/COLLECTION where the model writes
 * by a rule: JSON whose values are held against the documents, calls of the client's functions, words
 * beside what those gave. The model (chain_model.h) writes what the rule leaves it. */
#include <math.h>
#include "server/completions/grounded_text.h"
#include "server/completions/json_values.h"
#include "tests/retrieval/chain_model.h"
#include "tests/server/routes/http_fixture.h"

static const char documents[] =
    "{\"documents\":[{\"id\":\"heron\",\"title\":\"Herons\",\"text\":\"The grey heron stands one "
    "metre tall. It lays 4 eggs.\"}]}";

static fixture *open_with(const char *says, engine_options e) {
    char *dir = test_folder(), path[4096];
    snprintf(path, sizeof path, "%s/chain.gguf", dir);
    chain_model_write(path, says);
    e.kv_ram = 64 << 20;
    fixture *f = fixture_open(dir, strdup(path), e);
    cJSON_Delete(ask(f, "/ingest", documents, 200));
    return f;
}

static fixture *open_saying(const char *says) {
    return open_with(says, (engine_options){0});
}

static int setup(void **state) {
    *state = open_saying("The grey heron stands one metre tall.");
    return 0;
}

static int teardown(void **state) {
    fixture_close(*state);
    return 0;
}

#define TALL "{\"role\":\"user\",\"content\":\"How tall is the grey heron?\"}"

static cJSON *chat(fixture *f, const char *messages, const char *more, long want) {
    char body[4096];
    snprintf(body, sizeof body,
             "{\"model\":\"forage/default\",\"max_tokens\":600,\"messages\":[%s]%s}", messages,
             more);
    return ask(f, "/v1/chat/completions", body, want);
}

/* What the model would not write by itself: a height that the document has, a colour that it has not. */
#define PROPERTIES                                                                                 \
    "{\"type\":\"object\",\"properties\":{\"height\":{\"type\":\"string\",\"pattern\":\"^one "     \
    "metre$\"},\"colour\":{\"type\":\"string\",\"pattern\":\"^purple$\"},\"eggs\":{\"type\":"      \
    "\"integer\",\"minimum\":4,\"maximum\":4},\"tall\":{\"type\":\"boolean\"},\"kind\":{\"enum\":" \
    "["                                                                                            \
    "\"crane\"]}},\"required\":[\"height\",\"colour\",\"eggs\",\"tall\",\"kind\"],"                \
    "\"additionalProperties\":false}"
#define SCHEMA                                                                                     \
    ",\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"bird\","           \
    "\"schema\":" PROPERTIES "}}"

static void check_citations(const cJSON *choice) {
    assert_int_equal(cJSON_GetArraySize(at(choice, "citations")), 2);
    assert_string_equal(text(choice, "citations.0.path"), "/height");
    assert_string_equal(text(choice, "citations.0.quote"), "The grey heron stands one metre tall.");
    assert_true(cJSON_IsTrue(at(choice, "citations.0.verified")));
    assert_string_equal(text(choice, "citations.0.source.document_id"), "heron");
    assert_string_equal(text(choice, "citations.1.path"), "/eggs");
    assert_string_equal(text(choice, "citations.1.quote"), "It lays 4 eggs.");
    assert_string_equal(text(choice, "checked.unit"), "values");
    assert_true(number(choice, "checked.verified") == 2);
    assert_int_equal(cJSON_GetArraySize(at(choice, "checked.unverified")), 1);
    assert_string_equal(text(choice, "checked.unverified.0"), "/colour");
    assert_int_equal(cJSON_GetArraySize(at(choice, "checked.unchecked")), 2);
    assert_string_equal(text(choice, "checked.unchecked.0"), "/tall");
    assert_string_equal(text(choice, "checked.unchecked.1"), "/kind");
}

static void values_of_json_are_cited_or_said_to_be_unverified(void **state) {
    cJSON *r = chat(*state, TALL, SCHEMA ",\"n\":2,\"logprobs\":true,\"seed\":3", 200);
    const char *written = text(r, "choices.0.message.content");
    cJSON *j = cJSON_Parse(written);
    if (!j) fail_msg("no JSON: %s", written);
    assert_string_equal(text(j, "height"), "one metre");
    check_citations(at(r, "choices.0"));
    check_citations(at(r, "choices.1"));
    assert_string_equal(text(r, "status"), "answered");
    assert_string_equal(text(r, "answer_source"), "generated");
    assert_string_equal(text(r, "citations.0.path"), "/height");
    size_t start = (size_t)number(r, "choices.0.citations.0.answer_span.start");
    assert_int_equal(strncmp(written + start, "one metre\"", 10), 0);
    assert_true(cJSON_GetArraySize(at(r, "choices.0.logprobs.content")) > 3);
    assert_true(number(r, "usage.prompt_tokens") > 0 && number(r, "timings.retrieval_ms") > 0);
    cJSON_Delete(j);
    cJSON_Delete(r);
}

/* The sum of what a histogram of the metrics has seen of a stage, in ms; *n: how often. */
static double stage_ms(fixture *f, const char *stage, int *n) {
    static const char *const kinds[] = {"sum", "count"};
    double values[2] = {0};
    fo_buf b = {0};
    assert_int_equal(send_body(f, "/metrics", NULL, &b, false), 200);
    for (int i = 0; i < 2; i++) {
        char line[128];
        snprintf(line, sizeof line, "forage_query_stage_seconds_%s{stage=\"%s\"} ", kinds[i],
                 stage);
        const char *at_line = strstr(b.data, line);
        if (!at_line) fail_msg("no %s in %s", line, b.data);
        values[i] = atof(at_line + strlen(line));
    }
    fo_buf_free(&b);
    *n = (int)values[1];
    return values[0] * 1000;
}

/* The times of what the model wrote, not of the search alone. */
static void analytics_have_the_time_of_the_model(void **state) {
    (void)state;
    static const char *const stages[] = {"prefill", "decode"};
    fixture *f = open_saying("The grey heron stands one metre tall.");
    cJSON *r = chat(f, TALL, SCHEMA, 200);
    int n;
    for (int i = 0; i < 2; i++) {
        char name[64];
        snprintf(name, sizeof name, "timings.%s_ms", stages[i]);
        const double told = number(r, name), counted = stage_ms(f, stages[i], &n);
        assert_true(told > 0);
        assert_int_equal(n, 1);
        if (fabs(counted - told) > 0.01 + told / 100)
            fail_msg("%s: %g ms, not %g", stages[i], counted, told);
    }
    const double first = stage_ms(f, "first_token", &n);
    assert_int_equal(n, 1);
    const double total = stage_ms(f, "total", &n);
    assert_int_equal(n, 1);
    assert_true(first > number(r, "timings.prefill_ms") && first < total);
    assert_true(total > number(r, "timings.prefill_ms") + number(r, "timings.decode_ms"));
    assert_true(total <= number(r, "timings.total_ms") + 0.01);
    cJSON_Delete(r);
    r = chat(f, "{\"role\":\"user\",\"content\":\"Who was the first emperor of Brazil?\"}", SCHEMA,
             200);
    assert_true(stage_ms(f, "total", &n) > total);
    assert_int_equal(n, 2);
    stage_ms(f, "prefill", &n); /* it was not asked */
    assert_int_equal(n, 1);
    cJSON_Delete(r);
    fixture_close(f);
}

static void a_stream_tells_them_at_its_end(void **state) {
    fo_buf b = {0}, sum = {0};
    assert_int_equal(send_body(*state, "/v1/chat/completions",
                               "{\"model\":\"forage/default\",\"messages\":[" TALL
                               "],\"stream\":true" SCHEMA "}",
                               &b, false),
                     200);
    bool told = false;
    fo_buf_str(&sum, "");
    for (char *save, *line = strtok_r(b.data, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save)) {
        cJSON *j = strncmp(line, "data: {", 7) ? NULL : cJSON_Parse(line + 6);
        const char *part = cJSON_GetStringValue(at(j, "choices.0.delta.content"));
        fo_buf_str(&sum, part ? part : "");
        if (at(j, "citations")) check_citations(j), told = true;
        cJSON_Delete(j);
    }
    cJSON *j = cJSON_Parse(sum.data);
    assert_non_null(j);
    assert_true(told);
    cJSON_Delete(j);
    fo_buf_free(&b);
    fo_buf_free(&sum);
}

static void json_is_not_made_of_nothing(void **state) {
    static const char other[] =
        "{\"role\":\"user\",\"content\":\"Who was the first emperor of Brazil?\"}";
    cJSON *r = chat(*state, other, SCHEMA, 200);
    assert_true(cJSON_IsNull(at(r, "choices.0.message.content")));
    assert_non_null(strstr(text(r, "choices.0.message.refusal"), "do not answer"));
    assert_string_equal(text(r, "choices.0.finish_reason"), "stop");
    assert_true(number(r, "usage.completion_tokens") == 0);
    cJSON_Delete(r);
    r = ask(*state, "/v1/responses",
            "{\"model\":\"forage/default\",\"input\":\"Who was the first emperor of Brazil?\","
            "\"text\":{\"format\":{\"type\":\"json_object\"}}}",
            200);
    assert_string_equal(text(r, "output.0.content.0.type"), "refusal");
    assert_non_null(strstr(text(r, "output.0.content.0.refusal"), "do not answer"));
    cJSON_Delete(r);
    r = chat(*state, "{\"role\":\"user\",\"content\":\"Thanks!\"}", SCHEMA, 200);
    assert_true(cJSON_IsNull(at(r, "choices.0.message.content")));
    assert_string_equal(text(r, "choices.0.message.refusal"), "You are welcome.");
    assert_string_equal(text(r, "answer_source"), "none");
    cJSON_Delete(r);
}

static void a_stream_refuses_every_choice(void **state) {
    fo_buf b = {0};
    bool refused[4] = {false};
    assert_int_equal(send_body(*state, "/v1/chat/completions",
                               "{\"model\":\"forage/default\",\"messages\":[{\"role\":\"user\","
                               "\"content\":\"Who was the first emperor of Brazil?\"}],\"n\":3,"
                               "\"stream\":true" SCHEMA "}",
                               &b, false),
                     200);
    for (char *save, *line = strtok_r(b.data, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save)) {
        cJSON *j = strncmp(line, "data: {", 7) ? NULL : cJSON_Parse(line + 6);
        const int index = j ? (int)number(j, "choices.0.index") : 3;
        assert_true(index >= 0 && index <= 3);
        refused[index] = strstr(text(j, "choices.0.delta.refusal"), "do not answer") &&
                         !strcmp(text(j, "choices.0.finish_reason"), "stop");
        cJSON_Delete(j);
    }
    assert_true(refused[0] && refused[1] && refused[2]);
    fo_buf_free(&b);
}

static void responses_have_the_same(void **state) {
    cJSON *r = ask(
        *state, "/v1/responses",
        "{\"model\":\"forage/default\",\"input\":\"How tall is the grey heron?\","
        "\"text\":{\"format\":{\"type\":\"json_schema\",\"name\":\"bird\",\"schema\":" PROPERTIES
        "}}}",
        200);
    check_citations(r);
    assert_string_equal(text(r, "output.0.content.0.annotations.0.file_id"), "heron");
    cJSON_Delete(r);
}

#define TOOL                                                                                       \
    ",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"measure\",\"parameters\":{"       \
    "\"type\":"                                                                                    \
    "\"object\",\"properties\":{\"unit\":{\"enum\":[\"cm\"]}},\"required\":[\"unit\"],"            \
    "\"additionalProperties\":false}}}]"

static void a_call_that_must_be_made_is_made(void **state) {
    cJSON *r = chat(*state, TALL, TOOL ",\"tool_choice\":\"required\",\"logprobs\":true", 200);
    assert_string_equal(text(r, "choices.0.finish_reason"), "tool_calls");
    assert_string_equal(text(r, "choices.0.message.tool_calls.0.function.name"), "measure");
    cJSON *j = cJSON_Parse(text(r, "choices.0.message.tool_calls.0.function.arguments"));
    assert_string_equal(text(j, "unit"), "cm");
    assert_null(at(r, "choices.0.citations"));
    cJSON_Delete(j);
    cJSON_Delete(r);
}

/* A "}" or a line break is no end of a call or of JSON, nor is a token that spells one; of free text it is. */
static void stops_are_ends_of_free_text_alone(void **state) {
    static const char stops[] = ",\"stop\":[\"\\n\",\"}\",\"name\"],\"stop_token_ids\":[128,13]";
    char body[2048], more[1024];
    snprintf(more, sizeof more, TOOL ",\"tool_choice\":\"required\"%s", stops);
    for (int grounded = 0; grounded < 2; grounded++) {
        snprintf(body, sizeof body, "{\"messages\":[" TALL "],\"max_tokens\":600%s}", more);
        cJSON *r = grounded ? chat(*state, TALL, more, 200)
                            : ask(*state, "/v1/chat/completions", body, 200);
        assert_string_equal(text(r, "choices.0.finish_reason"), "tool_calls");
        cJSON *j = cJSON_Parse(text(r, "choices.0.message.tool_calls.0.function.arguments"));
        assert_string_equal(text(j, "unit"), "cm");
        cJSON_Delete(j);
        cJSON_Delete(r);
    }
    snprintf(more, sizeof more, SCHEMA "%s", stops);
    cJSON *r = chat(*state, TALL, more, 200),
          *j = cJSON_Parse(text(r, "choices.0.message.content"));
    assert_string_equal(text(r, "choices.0.finish_reason"), "stop");
    assert_string_equal(text(j, "kind"), "crane");
    cJSON_Delete(j);
    cJSON_Delete(r);
    r = ask(*state, "/v1/chat/completions",
            "{\"messages\":[" TALL "],\"max_tokens\":600,\"stop\":\"stands\"" TOOL "}", 200);
    assert_null(strstr(text(r, "choices.0.message.content"), "stands"));
    assert_string_equal(text(r, "choices.0.finish_reason"), "stop");
    cJSON_Delete(r);
}

static void without_a_call_the_documents_answer(void **state) {
    cJSON *r = chat(*state, TALL, TOOL, 200), *as_ever = chat(*state, TALL, "", 200);
    assert_string_equal(text(r, "choices.0.message.content"),
                        text(as_ever, "choices.0.message.content"));
    assert_non_null(strstr(text(r, "choices.0.message.content"), "one metre tall. [1]"));
    assert_string_equal(text(r, "choices.0.finish_reason"), "stop");
    assert_string_equal(text(r, "citations.0.source.document_id"), "heron");
    cJSON_Delete(r);
    cJSON_Delete(as_ever);
    fo_buf b = {0};
    send_body(*state, "/v1/chat/completions",
              "{\"model\":\"forage/default\",\"stream\":true,\"messages\":[" TALL "]" TOOL "}", &b,
              false);
    assert_non_null(strstr(b.data, "one metre tall. [1]"));
    fo_buf_free(&b);
}

static void a_call_that_may_be_made_is_told(void **state) {
    (void)state;
    fixture *f = open_saying("<tool_call>\n");
    cJSON *r = chat(f, TALL, TOOL, 200);
    assert_string_equal(text(r, "choices.0.message.tool_calls.0.function.name"), "measure");
    cJSON_Delete(r);
    fo_buf b = {0};
    send_body(f, "/v1/chat/completions",
              "{\"model\":\"forage/default\",\"stream\":true,\"messages\":[" TALL "]" TOOL "}", &b,
              false);
    assert_non_null(strstr(b.data, "\"name\":\"measure\""));
    assert_non_null(strstr(b.data, "\"finish_reason\":\"tool_calls\""));
    fo_buf_free(&b);
    fixture_close(f);
}

/* As models write it that were trained on another form: asked again, they write it in ours. */
static void a_call_in_another_form_is_a_call(void **state) {
    (void)state;
    fixture *f = open_saying("{\"name\": \"measure\", \"arguments\": {}}");
    static const char plain[] = "{\"messages\":[" TALL "],\"max_tokens\":300%s" TOOL "}";
    char body[1024];
    snprintf(body, sizeof body, plain, "");
    cJSON *r = ask(f, "/v1/chat/completions", body, 200), *g = chat(f, TALL, TOOL, 200);
    assert_string_equal(text(r, "choices.0.message.tool_calls.0.function.name"), "measure");
    assert_string_equal(text(g, "choices.0.message.tool_calls.0.function.name"), "measure");
    assert_string_equal(text(r, "choices.0.finish_reason"), "tool_calls");
    cJSON_Delete(r);
    cJSON_Delete(g);
    snprintf(body, sizeof body, plain, ",\"stream\":true");
    fo_buf b = {0};
    send_body(f, "/v1/chat/completions", body, &b, false);
    assert_non_null(strstr(b.data, "\"name\":\"measure\""));
    assert_null(strstr(b.data, "\"content\":\" {"));
    fo_buf_free(&b);
    fixture_close(f);
}

/* What the chunks of a stream say, one after the other. */
static void add_said(fo_buf *said, char *stream) {
    for (char *save, *line = strtok_r(stream, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save)) {
        cJSON *j = strncmp(line, "data: {", 7) ? NULL : cJSON_Parse(line + 6);
        const char *part = cJSON_GetStringValue(at(j, "choices.0.delta.content"));
        fo_buf_str(said, part ? part : "");
        cJSON_Delete(j);
    }
}

/* Words that may still turn into a call are held back, and come out behind those before them. */
static void what_is_no_call_is_told_in_its_order(void **state) {
    (void)state;
    static const char *const says[] = {"```\n int x; y; z;", "Hello\n world and all"};
    static const char plain[] = "{\"messages\":[" TALL "],\"max_tokens\":300%s" TOOL "}";
    for (size_t i = 0; i < 2; i++) {
        fixture *f = open_saying(says[i]);
        char body[1024], want[64];
        snprintf(want, sizeof want, " %s", says[i]);
        for (int k = 0; k < 8; k++) { /* how much comes at once is left to chance */
            snprintf(body, sizeof body, plain, "");
            cJSON *r = ask(f, "/v1/chat/completions", body, 200);
            assert_string_equal(text(r, "choices.0.message.content"), want);
            cJSON_Delete(r);
            snprintf(body, sizeof body, plain, ",\"stream\":true");
            fo_buf b = {0}, said = {0};
            send_body(f, "/v1/chat/completions", body, &b, false);
            add_said(&said, b.data);
            assert_string_equal(said.data, want);
            fo_buf_free(&b);
            fo_buf_free(&said);
        }
        fixture_close(f);
    }
}

static void what_a_tool_gave_is_answered_with_checks_beside(void **state) {
    static const char turns[] =
        TALL ",{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"1\",\"type\":\"function\","
             "\"function\":{\"name\":\"measure\",\"arguments\":\"{\\\"unit\\\":\\\"cm\\\"}\"}}]},"
             "{\"role\":\"tool\",\"tool_call_id\":\"1\",\"content\":\"100\"}";
    cJSON *r = chat(*state, turns, "", 200);
    assert_string_equal(text(r, "choices.0.message.content"),
                        " The grey heron stands one metre tall.");
    assert_string_equal(text(r, "choices.0.checked.unit"), "sentences");
    assert_true(number(r, "choices.0.checked.verified") == 1);
    assert_string_equal(text(r, "citations.0.source.document_id"), "heron");
    assert_null(at(r, "citations.0.path"));
    cJSON_Delete(r);
}

/* So many sentences of two words, looked at without a context: none is borne out. */
static cJSON *check_sentences(fixture *f, size_t n) {
    openai_call call = {0};
    grounded_text g = {.call = &call, .app = f->app};
    fo_buf written = {0}, citations = {0}, checked = {0};
    fo_err err = {0};
    for (size_t i = 0; i < n; i++) fo_buf_str(&written, "Herons wade. ");
    assert_ok(grounded_text_check(&g, written.data, written.len, &citations, &checked, &err), &err);
    cJSON *r = cJSON_ParseWithLength(checked.data, checked.len);
    fo_buf_free(&written);
    fo_buf_free(&citations);
    fo_buf_free(&checked);
    return r;
}

static void more_sentences_than_are_looked_at_are_told(void **state) {
    cJSON *all = check_sentences(*state, GROUNDED_MAX_SENTENCES);
    cJSON *more = check_sentences(*state, GROUNDED_MAX_SENTENCES + 1);
    assert_int_equal(cJSON_GetArraySize(at(all, "unverified")), GROUNDED_MAX_SENTENCES);
    assert_null(at(all, "more"));
    assert_int_equal(cJSON_GetArraySize(at(more, "unverified")), GROUNDED_MAX_SENTENCES);
    assert_true(cJSON_IsTrue(at(more, "more")));
    cJSON_Delete(all);
    cJSON_Delete(more);
}

/* An address may have one token a minute: of what it overdrew, it is told how long that takes. */
static void begin_limits(fixture *f) {
    fo_err err = {0};
    rate_tier t;
    assert_ok(rate_tier_read(&t, "all: tokens=1", &err), &err);
    assert_ok(rate_limits_create(&f->app->limits, &t, 1, &err), &err);
    f->app->address_tier = rate_limits_tier(f->app->limits, "all");
}

/* Tokens charged since the last call, which are paid back. */
static int charged(fixture *f) {
    static const unsigned char loopback[16] = {[10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1};
    rate_limits *l = f->app->limits;
    rate_ticket t, look;
    rate_refusal no;
    usleep(100000); /* what is done behind the reply */
    assert_true(rate_limits_admit(l, loopback, 16, f->app->address_tier, false, &t, &no));
    int n = 0;
    if (rate_limits_admit(l, loopback, 16, f->app->address_tier, true, &look, &no)) {
        rate_limits_done(l, &look);
    } else {
        assert_int_equal(no.limit, RATE_TOKENS);
        n = (int)lround(no.retry_s / 60); /* until there is one: what lacks of 0, and that */
        rate_limits_charge(l, &t, -n);
    }
    rate_limits_done(l, &t);
    return n;
}

static void what_was_taken_is_charged_once(void **state) {
    (void)state;
    static const char *const more[] = {SCHEMA, SCHEMA, TOOL ",\"tool_choice\":\"required\"", TOOL};
    fixture *f = open_saying("The grey heron stands one metre tall.");
    begin_limits(f);
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        cJSON *r = chat(f, TALL, more[i], 200);
        assert_int_equal(charged(f), (int)number(r, "usage.total_tokens"));
        cJSON_Delete(r);
    }
    fixture_close(f);
}

static void what_was_refused_is_not_charged(void **state) {
    (void)state;
    static const char plain[] = "{\"messages\":[" TALL "],\"max_tokens\":4}";
    fixture *f =
        open_with("The grey heron stands one metre tall.", (engine_options){.max_qps = .1});
    begin_limits(f);
    long status = 200;
    for (int i = 0; i < 50 && status == 200; i++) { /* one a second is let in */
        fo_buf b = {0};
        status = send_body(f, "/v1/chat/completions", plain, &b, false);
        cJSON *r = cJSON_ParseWithLength(b.data, b.len);
        assert_int_equal(charged(f), status == 200 ? (int)number(r, "usage.total_tokens") : 0);
        cJSON_Delete(r);
        fo_buf_free(&b);
    }
    assert_int_not_equal(status, 200);
    fixture_close(f);
}

static void what_cannot_be_done_is_refused_by_name(void **state) {
    static const struct {
        const char *more, *param;
    } cases[] = {
        {",\"logprobs\":true", "logprobs"},
        {TOOL ",\"logprobs\":true", "logprobs"},
        {",\"stop_token_ids\":[2]", "stop_token_ids"},
        {TOOL ",\"logit_bias\":{\"5\":1}", "logit_bias"},
        {TOOL ",\"n\":2", "n"},
        {SCHEMA ",\"kv_reuse\":\"chunk\"", "kv_reuse"},
        {TOOL SCHEMA, "response_format"},
        {",\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"schema\":{\"not\":{}}}"
         "}",
         "response_format.json_schema.schema"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cJSON *r = chat(*state, TALL, cases[i].more, 400);
        assert_string_equal(text(r, "error.param"), cases[i].param);
        cJSON_Delete(r);
    }
    cJSON *r = ask(*state, "/v1/chat/completions",
                   "{\"model\":\"forage/none\",\"messages\":[" TALL "]" SCHEMA "}", 404);
    assert_string_equal(text(r, "error.code"), "model_not_found");
    cJSON_Delete(r);
}

/* Before the first message of cJSON's list stands the last: who goes back from it goes for ever. */
static void messages_without_a_question_are_refused(void **state) {
    cJSON *r = chat(*state, "{\"role\":\"tool\",\"content\":\"x\"}", "", 400);
    assert_string_equal(text(r, "error.param"), "messages");
    cJSON_Delete(r);
    r = chat(*state,
             "{\"role\":\"system\",\"content\":\"a\"},{\"role\":\"assistant\",\"content\":"
             "\"b\"},{\"role\":\"tool\",\"content\":\"x\"}",
             "", 400);
    assert_string_equal(text(r, "error.param"), "messages");
    cJSON_Delete(r);
    r = ask(*state, "/v1/responses",
            "{\"model\":\"forage/default\",\"input\":[{\"type\":\"function_call_output\","
            "\"call_id\":\"1\",\"output\":\"x\"}]}",
            400);
    assert_string_equal(text(r, "error.param"), "input");
    cJSON_Delete(r);
}

/* Of search and of what a model writes together; from documents it is never without an end. */
static void a_call_has_one_time(void **state) {
    (void)state;
    openai_call *c = calloc(1, sizeof *c);
    fo_err err = {0};
    int left = -1;
    assert_ok(openai_call_begin(c, 5, &err), &err); /* the model alone: any */
    assert_ok(openai_call_time_left(c, &left, &err), &err);
    assert_int_equal(left, 0);
    c->collection = "default";
    assert_ok(openai_call_begin(c, 50000, &err), &err);
    assert_ok(openai_call_time_left(c, &left, &err), &err);
    assert_int_equal(c->timeout_ms, 60000);
    assert_true(left > 0 && left <= 10000);
    c->timeout_ms = 40;
    assert_ok(openai_call_begin(c, 10, &err), &err);
    usleep(31000);
    assert_int_equal(openai_call_time_left(c, &left, &err), FO_ETIMEOUT);
    assert_string_equal(err.field, "timeout_ms");
    assert_non_null(strstr(err.msg, "timeout_ms = 40"));
    assert_int_equal(openai_call_begin(c, 40, &err), FO_ETIMEOUT);
    free(c);
}

static void values_of_json_are_found_with_their_places(void **state) {
    (void)state;
    static const char whole[] =
        " {\"a\": [1, \"x\\n\\u00e9\", {\"b/c~d\": true}], \"e\": null, \"f\": -2.5e3} ";
    static const char *const paths[] = {"/a/0", "/a/1", "/a/2/b~1c~0d", "/e", "/f"};
    json_values v;
    fo_err err = {0};
    assert_ok(json_values_read(&v, whole, sizeof whole - 1, &err), &err);
    assert_int_equal(v.n, 5);
    for (size_t i = 0; i < 5; i++) assert_string_equal(v.list[i].path, paths[i]);
    assert_string_equal(v.list[1].text, "x\n\xc3\xa9");
    assert_int_equal(v.list[2].kind, JSON_VALUE_WORD);
    assert_int_equal(v.list[4].kind, JSON_VALUE_NUMBER);
    assert_string_equal(v.list[4].text, "-2.5e3");
    json_values_deinit(&v);
    /* Cut off anywhere: what is whole, and nothing that is not. */
    for (size_t n = 0; n < sizeof whole - 1; n++) {
        char *part = malloc(n + 1); /* so that reading beyond it is seen */
        memcpy(part, whole, n);
        part = realloc(part, n + !n);
        assert_ok(json_values_read(&v, part, n, &err), &err);
        for (size_t i = 0; i < v.n; i++) {
            assert_string_equal(v.list[i].path, paths[i]);
            if (i == 4) assert_string_equal(v.list[i].text, "-2.5e3");
        }
        json_values_deinit(&v);
        free(part);
    }
}

int main(void) {
    curl_global_init(CURL_GLOBAL_DEFAULT);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_json_are_cited_or_said_to_be_unverified),
        cmocka_unit_test(analytics_have_the_time_of_the_model),
        cmocka_unit_test(a_stream_tells_them_at_its_end),
        cmocka_unit_test(json_is_not_made_of_nothing),
        cmocka_unit_test(a_stream_refuses_every_choice),
        cmocka_unit_test(responses_have_the_same),
        cmocka_unit_test(a_call_that_must_be_made_is_made),
        cmocka_unit_test(stops_are_ends_of_free_text_alone),
        cmocka_unit_test(without_a_call_the_documents_answer),
        cmocka_unit_test(a_call_that_may_be_made_is_told),
        cmocka_unit_test(a_call_in_another_form_is_a_call),
        cmocka_unit_test(what_is_no_call_is_told_in_its_order),
        cmocka_unit_test(what_a_tool_gave_is_answered_with_checks_beside),
        cmocka_unit_test(more_sentences_than_are_looked_at_are_told),
        cmocka_unit_test(what_was_taken_is_charged_once),
        cmocka_unit_test(what_was_refused_is_not_charged),
        cmocka_unit_test(what_cannot_be_done_is_refused_by_name),
        cmocka_unit_test(messages_without_a_question_are_refused),
        cmocka_unit_test(a_call_has_one_time),
        cmocka_unit_test(values_of_json_are_found_with_their_places),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
