/* model_rewrite_test.c - follow-ups made whole by a model: what is taken of what it writes, and what gives
 * way to words. The model is a script (scripted_generator.h). */
#include "index/sparse/analyze.h"
#include "retrieval/conversation/model_rewrite.h"
#include "retrieval/service/service.h"
#include "tests/retrieval/scripted_generator.h"

static const prompt_turn bridge[] = {{false, "When was the Harbour Bridge of Sydney opened?"},
                                     {true, "It was opened in 1932 by the premier Lang."}};

static bool holds(const char *question, const char *text) {
    fo_err err = {0};
    analyzer *words = NULL;
    bool out = false;
    assert_ok(analyzer_create(&words, "english", &err), &err);
    lexicon lx = {words, NULL, NULL};
    assert_ok(model_rewrite_holds(&out, &lx, bridge, 2, question, text, &err), &err);
    analyzer_free(words);
    return out;
}

static void what_was_said_may_be_asked(void **state) {
    (void)state;
    assert_true(holds("And who built it?", "Who built the Harbour Bridge of Sydney?"));
    assert_true(holds("Was he a communist?", "Was the premier Lang a communist?"));
    assert_true(holds("What about 1940?", "Was the Harbour Bridge opened in 1940?"));
}

static void what_nobody_said_may_not(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"And who built it?", "Who built the Golden Gate Bridge?"},     /* another name */
        {"And who built it?", "Who built the Harbour Bridge in 1950?"}, /* a number */
        {"What about 1940?", "When was the Harbour Bridge opened?"},    /* one is lost */
        {"And what about tunnels?", "Who opened the Harbour Bridge?"},  /* another question */
        {"And who built it?", "And who built it?"},                     /* nothing is won */
        {"And who built it?", "Who built it at that time?"},            /* it points back */
        {"Who built it?",
         "Which clever famous engineers built the bridge?"}}; /* words of its own */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (holds(cases[i][0], cases[i][1])) fail_msg("'%s' for '%s'", cases[i][1], cases[i][0]);
}

/* ---- a service ------------------------------------------------------------------------------ */

static script p;
static char *dir;

static int setup(void **state) {
    service *s;
    fo_err err = {0};
    dir = test_folder();
    p = (script){.says = "x"};
    assert_ok(service_open(&s,
                           &(service_options){
                               .home = dir, .generator = scripted_generator(&p), .n_threads = 2},
                           &err),
              &err);
    static const char *const texts[] = {
        "The Harbour Bridge of Sydney was opened in 1932. Dorman Long built the Harbour Bridge.",
        "The Tower Bridge of London was built by John Wolfe Barry."};
    for (int i = 0; i < 2; i++) {
        ingest_document d = {
            .id = i ? "tower" : "harbour", .bytes = texts[i], .n_bytes = strlen(texts[i])};
        ingest_result result;
        ingest_report report;
        ingest_options opt = {.tenant = "default", .collection = "default", .overlap = SIZE_MAX};
        assert_ok(service_ingest(s, &opt, &d, 1, &result, &report, &err), &err);
        ingest_result_deinit(&result);
    }
    *state = s;
    return 0;
}

static void ask(service *s, enum rewrite_by by, query_result *out) {
    static const query_message turns[] = {{"user", "When was the Harbour Bridge opened?"},
                                          {"assistant", "It was opened in 1932."}};
    query_request q = {.tenant = "default",
                       .collection = "default",
                       .query = "And who built it?",
                       .messages = turns,
                       .n_messages = 2,
                       .search = {.alpha = -1},
                       .rewrite = by,
                       .cache = CACHE_BYPASS};
    fo_err err = {0};
    assert_ok(service_query(s, &q, NULL, out, &err), &err);
}

static void the_models_question_is_searched_for(void **state) {
    query_result r;
    p.says = "Who built the Harbour Bridge?";
    ask(*state, REWRITE_MODEL, &r);
    assert_string_equal(r.rewritten, "Who built the Harbour Bridge?");
    assert_true(r.rewritten_by_model);
    assert_true(r.rewriting_tokens > 10); /* its prompt, and what it wrote */
    assert_int_equal(p.last.temperature, 0);
    assert_true(p.last.max_tokens <= 64);
    /* It was shown the turns before the request. */
    const char *shown = p.prompts[(p.n_prompts - 1) % SCRIPT_PROMPTS];
    assert_non_null(strstr(shown, "It was opened in 1932."));
    query_result_deinit(&r);
}

static void words_take_its_place_where_it_does_not_hold(void **state) {
    query_result r;
    p.says = "Who built the Golden Gate Bridge in 1937?";
    ask(*state, REWRITE_MODEL, &r);
    assert_false(r.rewritten_by_model);
    assert_true(r.rewriting_tokens > 10); /* for nothing, and yet */
    assert_non_null(strstr(r.rewritten, "And who built it? "));
    assert_non_null(strstr(r.rewritten, "Harbour"));
    query_result_deinit(&r);
    p.says = "Who built the Harbour Bridge?";
    p.refuses = FO_EBUSY; /* it has no time */
    ask(*state, REWRITE_MODEL, &r);
    p.refuses = 0;
    assert_false(r.rewritten_by_model);
    query_result_deinit(&r);
    int before = p.n_started;
    ask(*state, REWRITE_WORDS, &r); /* nobody asked it */
    assert_int_equal(p.n_started, before);
    assert_int_equal(r.rewriting_tokens, 0);
    assert_false(r.rewritten_by_model);
    query_result_deinit(&r);
    ask(*state, REWRITE_OFF, &r);
    assert_null(r.rewritten);
    query_result_deinit(&r);
}

static int teardown(void **state) {
    service_close(*state);
    test_remove(dir);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_said_may_be_asked),
        cmocka_unit_test(what_nobody_said_may_not),
        cmocka_unit_test(the_models_question_is_searched_for),
        cmocka_unit_test(words_take_its_place_where_it_does_not_hold),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
