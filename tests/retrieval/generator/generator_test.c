/* generator_test.c - a question's way with a generator that is not the engine (no model, no tokens):
 * answers, streaming, cancellation, refusals, failures on the way, hot questions, reading ahead. */
#include "tests/test.h"

#include "retrieval/written/generated_answer.h"
#include "retrieval/service/service.h"
#include "tests/retrieval/scripted_generator.h"

static const char HERON[] = "The grey heron stands one metre tall. It eats fish and frogs.";
static const char HOW_TALL[] = "How tall is the grey heron?";
static const char SAYS[] = "The grey heron is one metre tall. It eats fish.";
static const char WRITTEN[] = "The grey heron is one metre tall. [1] It eats fish. [2]";

static fo_err err;
static char *home;
static service *s;
static script p;

static void put_for(const char *tenant, const char *id, const char *text) {
    ingest_options into = {.tenant = tenant, .collection = "notes", .overlap = SIZE_MAX};
    ingest_document d = {.id = id, .bytes = text, .n_bytes = strlen(text)};
    ingest_result r;
    assert_ok(service_ingest(s, &into, &d, 1, &r, NULL, &err), &err);
    ingest_result_deinit(&r);
}

static void put(const char *id, const char *text) {
    put_for("default", id, text);
}

/* A home with the heron and the owl, and the generator that p describes. */
static void open_home(const service_options *more) {
    service_options opt = more ? *more : (service_options){.primes_per_s = -1};
    home = test_folder();
    opt.home = home;
    opt.n_threads = 2;
    opt.generator = scripted_generator(&p);
    assert_ok(service_open(&s, &opt, &err), &err);
    put("heron", HERON);
    put("owl", "The barn owl hunts mice at night.");
}

static void open_saying(const char *says) {
    p = (script){.says = says};
    open_home(NULL);
}

static void close_home(void) {
    service_close(s);
    test_remove(home);
}

static query_request request(const char *text) {
    return (query_request){.tenant = "default",
                           .collection = "notes",
                           .query = text,
                           .top_k = 3,
                           .generate = true,
                           .strict = true,
                           .search = {.alpha = -1}};
}

static query_result ask(query_request q) {
    query_result r;
    assert_ok(service_query(s, &q, NULL, &r, &err), &err);
    return r;
}

/* ---- answers ------------------------------------------------------------------------------- */

static void what_it_writes_is_checked_cited_and_accounted_for(void **state) {
    (void)state;
    open_saying(SAYS);
    query_result r = ask(request(HOW_TALL));
    assert_int_equal(r.source, ANSWER_GENERATED);
    assert_string_equal(r.answer, WRITTEN);
    assert_string_equal(r.model, "scripted");
    assert_string_equal(r.finish_reason, "stop");
    assert_int_equal(r.n_citations, 2);
    assert_true(r.citations[0].verified && r.citations[1].verified);
    assert_string_equal(r.citations[1].quote, "It eats fish and frogs.");
    assert_int_equal(r.usage.completion_tokens, 10);
    assert_int_equal(r.usage.prompt_tokens, script_words(script_prompt(&p), SCRIPT_PROMPT_BYTES));
    assert_int_equal(r.usage.cached_tokens, 0);
    assert_true(r.ms.prefill == 1);
    assert_int_equal(r.prompt.n_contexts, 1); /* a small model reads one */
    assert_int_equal(r.prompt.n_contexts + r.prompt.n_dropped, r.n_contexts);
    assert_string_equal(r.contexts[r.prompt.contexts[0]].chunk.document_id, "heron");
    assert_non_null(strstr(script_prompt(&p), HERON));
    assert_null(strstr(script_prompt(&p), "barn owl"));
    query_result_deinit(&r);
    r = ask(request(HOW_TALL)); /* kept: nobody is asked */
    assert_int_equal(r.cache.answer, CACHE_HIT);
    assert_string_equal(r.answer, WRITTEN);
    assert_int_equal(p.n_started, 1);
    query_result_deinit(&r);
    close_home();
}

static void what_the_documents_do_not_say_is_not_let_through(void **state) {
    (void)state;
    static const char *const wrong[] = {"The grey heron is nine metres tall.", "Bananas!", ""};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        open_saying(wrong[i]);
        query_result r = ask(request(HOW_TALL));
        if (r.source != ANSWER_EXTRACTIVE) fail_msg("'%s' was let through", wrong[i]);
        assert_string_equal(r.answer, "The grey heron stands one metre tall. [1]");
        assert_null(r.model);
        query_result_deinit(&r);
        close_home();
    }
}

/* Sentences of scripts with stops of their own, told apart while they are written. */
static void sentences_end_in_any_script(void **state) {
    (void)state;
    static const char *const stops[] = {"\u3002", "\uFF01", "\uFF1F", "\u0964", "\u061F", "\u06D4"};
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
        char says[300], first[100], both[200];
        const char *x = stops[i];
        snprintf(first, sizeof first, "The grey heron is one metre tall%s", x);
        snprintf(both, sizeof both, "%s [1] It eats fish%s [2]", first, x);
        snprintf(says, sizeof says, "%s It eats fish%s It nests in trees and goes on", first, x);
        open_saying(says);
        query_request q = request(HOW_TALL);
        q.max_sentences = 2;
        query_result r = ask(q);
        assert_string_equal(r.answer, both);
        assert_int_equal(p.n_cancelled, 1); /* once the third begins */
        assert_in_range(r.usage.completion_tokens, 11, 12);
        query_result_deinit(&r);
        q.max_tokens = 7; /* right behind the first */
        r = ask(q);
        snprintf(both, sizeof both, "%s [1]", first);
        assert_string_equal(r.answer, both);
        assert_string_equal(r.finish_reason, "length");
        query_result_deinit(&r);
        close_home();
    }
}

/* "v1.2" and the end of a line end no sentence. */
static void a_sentence_without_an_end_is_given_up(void **state) {
    (void)state;
    static char says[20000];
    static const char *const begins[] = {"It is v1.2 of it", "It is\nthe one", "It is"};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        strcpy(says, begins[i]);
        while (strlen(says) + 20 < sizeof says) strcat(says, " and so on and on");
        open_saying(says);
        query_request q = request(HOW_TALL);
        q.max_tokens = 3000;
        query_result r = ask(q);
        assert_int_equal(r.source, ANSWER_EXTRACTIVE);
        assert_int_equal(p.n_cancelled, 1);
        assert_in_range(r.usage.completion_tokens, 1000, 1400); /* 4,096 bytes */
        query_result_deinit(&r);
        close_home();
    }
}

static void a_prompt_holds_instructions_contexts_turns_and_question(void **state) {
    (void)state;
    p = (script){.says = SAYS, .n_parameters = 7000000000};
    open_home(NULL);
    const query_message turns[] = {{"system", "Speak like a pirate."},
                                   {"user", "Which birds fish?"},
                                   {"assistant", "Herons do."}};
    query_request q = request(HOW_TALL);
    q.messages = turns;
    q.n_messages = 3;
    query_result r = ask(q);
    assert_int_equal(r.prompt.n_contexts, r.n_contexts); /* a large one reads more */
    /* labels stand before the contexts, and what a system message says is left out */
    static const char *const order[] = {"system: You answer questions",
                                        "Passages:",
                                        "[p",
                                        HERON,
                                        "user: Which birds fish?",
                                        "assistant: Herons do.",
                                        "user: Question: How tall is the grey heron?",
                                        "assistant: "};
    const char *at = script_prompt(&p);
    assert_null(strstr(at, "pirate"));
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        const char *next = strstr(at, order[i]);
        if (!next) fail_msg("'%s' is not where it should be in: %s", order[i], script_prompt(&p));
        at = next + strlen(order[i]);
    }
    query_result_deinit(&r);
    close_home();
}

static void every_option_reaches_it(void **state) {
    (void)state;
    static const char *const stop[] = {"never", " It eats"};
    open_saying(SAYS);
    query_request q = request(HOW_TALL);
    q.max_tokens = 77;
    q.temperature = 1.5;
    q.top_p = .5;
    q.sampling_top_k = 9;
    q.min_p = .1;
    q.presence_penalty = 1;
    q.frequency_penalty = -1;
    q.repetition_penalty = 2;
    q.seed = 12345;
    q.stop = stop;
    q.n_stop = 2;
    q.priority = 7;
    q.timeout_ms = 30000;
    q.kv_reuse = REUSE_CHUNK;
    q.drop_kv = q.no_lookup = true;
    query_result r = ask(q);
    const generator_options *o = &p.last;
    assert_int_equal(o->max_tokens, 77);
    assert_true(o->temperature == 1.5 && o->top_p == .5 && o->top_k == 9 && o->min_p == .1);
    assert_true(o->presence_penalty == 1 && o->frequency_penalty == -1);
    assert_true(o->repetition_penalty == 2);
    assert_int_equal(o->seed, 12345);
    assert_int_equal(o->n_stop, 2);
    assert_int_equal(o->priority, 7);
    assert_true(o->deadline_ms > 1000 && o->deadline_ms <= 30000);
    assert_int_equal(o->reuse, REUSE_CHUNK);
    assert_true(o->drop_kv && o->no_lookup && !o->prefill_only && !o->background);
    assert_true(o->expected_uses == 1);
    assert_string_equal(r.answer, "The grey heron is one metre tall. [1]");
    assert_string_equal(r.finish_reason, "stop_sequence");
    assert_string_equal(r.stop_sequence, " It eats");
    query_result_deinit(&r);
    q = request(HOW_TALL);
    q.max_tokens = 8; /* breaks the second sentence off */
    r = ask(q);
    assert_string_equal(r.finish_reason, "length");
    assert_int_equal(r.usage.completion_tokens, 8);
    query_result_deinit(&r);
    close_home();
}

static void a_prompt_read_ahead_is_met_by_the_question(void **state) {
    (void)state;
    open_saying(SAYS);
    query_request q = request(HOW_TALL);
    q.cache = CACHE_BYPASS;
    q.prefill_only = true;
    query_result r = ask(q);
    assert_string_equal(r.answer, "");
    assert_int_equal(r.source, ANSWER_NONE);
    assert_int_equal(r.usage.completion_tokens, 0);
    size_t all = r.usage.prompt_tokens;
    query_result_deinit(&r);
    q.prefill_only = false;
    r = ask(q);
    assert_int_equal(r.usage.prefix_tokens, all);
    assert_int_equal(r.usage.cached_tokens, all);
    assert_int_equal(r.usage.prompt_tokens, all);
    query_result_deinit(&r);
    close_home();
}

/* ---- streaming and its end ----------------------------------------------------------------- */

typedef struct reader_of {
    fo_buf text;
    int n_pieces, n_citations;
    int leaves_after; /* so many pieces; 0: never */
} reader_of;

/* The first sentence is there while the generator waits before the second: it lets it go on. */
static int on_token(void *ctx, const char *text, size_t len) {
    reader_of *r = ctx;
    fo_buf_add(&r->text, text, len);
    r->n_pieces++;
    atomic_store(&p.go, true);
    return r->n_pieces == r->leaves_after;
}

static int on_citation(void *ctx, const query_result *partial, const query_citation *c) {
    reader_of *r = ctx;
    assert_true(c->verified && c->index == ++r->n_citations);
    assert_int_equal(partial->n_citations, r->n_citations);
    return 0;
}

static void sentences_stream_while_it_writes(void **state) {
    (void)state;
    p = (script){.says = SAYS, .waits_after = 8}; /* the first word of the second */
    open_home(NULL);
    reader_of to = {0};
    query_sink sink = {.ctx = &to, .token = on_token, .citation = on_citation};
    query_request q = request(HOW_TALL);
    query_result r;
    assert_ok(service_query(s, &q, &sink, &r, &err), &err);
    assert_string_equal(to.text.data, WRITTEN);
    assert_int_equal(to.n_pieces, 2);
    assert_int_equal(to.n_citations, 2);
    assert_string_equal(r.answer, WRITTEN);
    fo_buf_free(&to.text);
    query_result_deinit(&r);
    close_home();
}

static void a_client_that_leaves_ends_it(void **state) {
    (void)state;
    open_saying(SAYS);
    reader_of to = {.leaves_after = 1};
    query_sink sink = {.ctx = &to, .token = on_token};
    query_request q = request(HOW_TALL);
    query_result r;
    assert_int_equal(service_query(s, &q, &sink, &r, &err), FO_ECANCELLED);
    assert_string_equal(to.text.data, "The grey heron is one metre tall. [1]");
    assert_true(r.usage.prompt_tokens > 0 && r.usage.completion_tokens >= 7); /* to be paid for */
    assert_null(r.answer);
    fo_buf_free(&to.text);
    assert_int_equal(p.n_freed, 1);
    close_home();
}

static int has_no_memory(void *ctx, const char *answer, const answer_citation *c, int index) {
    (void)answer, (void)c, (void)index;
    return fo_no_memory(ctx);
}

static void what_its_reader_fails_with_is_no_cancellation(void **state) {
    (void)state;
    p = (script){.says = SAYS};
    generator *g;
    generator_layout *l;
    prompt asked;
    lexicon lx = {0};
    generated_answer a;
    const passage heron = {.text = HERON, .len = strlen(HERON), .title = ""};
    const prompt_context context = {HERON, strlen(HERON), NULL};
    const prompt_input in = {.contexts = &context, .n_contexts = 1, .question = HOW_TALL};
    assert_ok(scripted_open(&g, &p, NULL, &err), &err);
    assert_ok(analyzer_create(&lx.analyzer, "english", &err), &err);
    assert_ok(prompt_make(&asked, prompt_template_for(0), &in, &err), &err);
    assert_ok(generator_lay_out(g, &asked.prompt, &l, &err), &err);
    generated_answer_input made = {.generator = g,
                                   .layout = l,
                                   .order = l->order,
                                   .passages = &heron,
                                   .contexts = &context,
                                   .lx = &lx,
                                   .question = HOW_TALL,
                                   .options = {.max_tokens = 50},
                                   .sink = {.ctx = &err, .citation = has_no_memory}};
    err = (fo_err){0};
    assert_int_equal(generated_answer_make(&a, &made, NULL, &err), FO_ENOMEM);
    assert_int_equal(err.code, FO_ENOMEM);
    err = (fo_err){0};
    generator_layout_free(l);
    prompt_deinit(&asked);
    analyzer_free(lx.analyzer);
    generator_close(g);
}

static void *cancel_soon(void *flag) {
    for (int i = 0; i < 5000; i++) { /* once it writes; bounded */
        pthread_mutex_lock(&p.mu);
        int n = p.n_started;
        pthread_mutex_unlock(&p.mu);
        if (n) break;
        usleep(1000);
    }
    atomic_store((atomic_bool *)flag, true);
    return NULL;
}

static void a_cancelled_question_does_not_wait_for_it(void **state) {
    (void)state;
    p = (script){.says = SAYS, .waits_after = 3}; /* for ever */
    open_home(NULL);
    atomic_bool cancel = false;
    pthread_t t;
    assert_int_equal(pthread_create(&t, NULL, cancel_soon, &cancel), 0);
    query_request q = request(HOW_TALL);
    q.cancel = &cancel;
    query_result r;
    assert_int_equal(service_query(s, &q, NULL, &r, &err), FO_ECANCELLED);
    pthread_join(t, NULL);
    assert_int_equal(p.n_freed, 1);
    close_home();
}

static void what_repeats_itself_is_cancelled(void **state) {
    (void)state;
    open_saying(
        "The grey heron is one metre tall. The grey heron is one metre tall. It eats fish.");
    query_result r = ask(request(HOW_TALL));
    assert_string_equal(r.answer, "The grey heron is one metre tall. [1]");
    assert_string_equal(r.finish_reason, "stop");
    assert_int_equal(p.n_cancelled, 1);
    assert_true(r.usage.completion_tokens < 17);
    query_result_deinit(&r);
    close_home();
}

/* ---- refusals and failures ----------------------------------------------------------------- */

static void a_refusal_for_load_says_when_to_come_again(void **state) {
    (void)state;
    open_saying(SAYS);
    p.refuses = FO_EBUSY;
    query_request q = request(HOW_TALL);
    query_result r;
    assert_int_equal(service_query(s, &q, NULL, &r, &err), FO_EBUSY);
    assert_string_equal(err.msg, "the script refuses");
    assert_int_equal(r.retry_after_ms, 1500);
    p.refuses = FO_ELIMIT; /* too long for it: the documents answer */
    r = ask(q);
    assert_int_equal(r.source, ANSWER_EXTRACTIVE);
    query_result_deinit(&r);
    close_home();
}

static void a_window_that_is_too_small_leaves_the_answer_to_the_documents(void **state) {
    (void)state;
    p = (script){.says = SAYS, .window = 260}; /* 256 are the answer's */
    open_home(NULL);
    query_request q = request(HOW_TALL);
    query_result r = ask(q);
    assert_int_equal(r.source, ANSWER_EXTRACTIVE);
    assert_int_equal(p.n_layouts, 1);
    assert_int_equal(p.n_started, 0);
    query_result_deinit(&r);
    q.prefill_only = true;
    assert_int_equal(service_query(s, &q, NULL, &r, &err), FO_ELIMIT);
    assert_string_equal(err.field, "query");
    assert_string_equal(err.msg, "the question takes 18 tokens with its instructions, 4 are free "
                                 "beside an answer of 256");
    close_home();
}

/* What a client allows beyond what an answer takes is not taken from what is read. */
static void much_room_for_an_answer_leaves_the_documents_in(void **state) {
    (void)state;
    enum { WINDOW = 1200 };
    static const size_t allowed[] = {299, 1000, WINDOW, 1 << 24};
    p = (script){.says = SAYS, .window = WINDOW};
    open_home(NULL);
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) {
        query_request q = request(HOW_TALL);
        q.max_tokens = allowed[i];
        query_result r = ask(q);
        assert_int_equal(r.source, ANSWER_GENERATED);
        assert_string_equal(r.answer, WRITTEN);
        assert_false(r.prompt.cut);
        const size_t left = WINDOW - r.usage.prompt_tokens;
        assert_int_equal(p.last.max_tokens, allowed[i] < left ? allowed[i] : left);
        query_result_deinit(&r);
    }
    close_home();
}

static void a_failure_on_the_way_takes_nothing_back(void **state) {
    (void)state;
    p = (script){.says = SAYS, .fails_after = 3};
    open_home(NULL);
    query_request q = request(HOW_TALL);
    q.cache = CACHE_BYPASS;
    query_result r = ask(q);
    assert_int_equal(r.source, ANSWER_EXTRACTIVE);
    query_result_deinit(&r);
    p.fails_after = 9; /* in the second sentence */
    r = ask(q);
    assert_int_equal(r.source, ANSWER_GENERATED);
    assert_string_equal(r.answer, "The grey heron is one metre tall. [1]");
    assert_string_equal(r.finish_reason, "error");
    query_result_deinit(&r);
    close_home();
}

static void what_a_failure_cut_short_is_not_kept(void **state) {
    (void)state;
    static const struct {
        int fails_after;
        enum answer_by by;
        enum answer_source source;
    } cases[] = {{3, ANSWER_BY_SERVICE, ANSWER_EXTRACTIVE},
                 {9, ANSWER_BY_SERVICE, ANSWER_GENERATED}, /* one sentence of two */
                 {3, ANSWER_BY_MODEL, ANSWER_GENERATED}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        p = (script){.says = SAYS, .fails_after = cases[i].fails_after};
        open_home(NULL);
        query_request q = request(HOW_TALL);
        q.answer_by = cases[i].by;
        query_result r = ask(q);
        assert_int_equal(r.source, cases[i].source);
        query_result_deinit(&r);
        p.fails_after = 0;
        r = ask(q);
        assert_int_equal(r.cache.answer, CACHE_MISS);
        assert_int_equal(r.source, ANSWER_GENERATED);
        assert_non_null(strstr(r.answer, "eats fish"));
        query_result_deinit(&r);
        r = ask(q);
        assert_int_equal(r.cache.answer, CACHE_HIT);
        query_result_deinit(&r);
        close_home();
    }
}

static void time_that_runs_out_leaves_the_answer_to_the_documents(void **state) {
    (void)state;
    p = (script){.says = SAYS, .waits_after = 3};
    open_home(NULL);
    query_request q = request(HOW_TALL);
    q.timeout_ms = 2000;
    query_result r = ask(q);
    assert_int_equal(r.source, ANSWER_EXTRACTIVE);
    assert_string_equal(r.finish_reason, "timeout");
    query_result_deinit(&r);
    close_home();
}

static void while_it_is_away_documents_answer_and_nothing_of_that_is_kept(void **state) {
    (void)state;
    open_saying(SAYS);
    atomic_store(&p.away, true);
    query_result r = ask(request(HOW_TALL));
    assert_int_equal(r.source, ANSWER_EXTRACTIVE);
    assert_string_equal(r.finish_reason, "stop");
    query_result_deinit(&r);
    query_request q = request(HOW_TALL);
    q.prefill_only = true;
    assert_int_equal(service_query(s, &q, NULL, &r, &err), FO_EBUSY);
    assert_int_equal(p.n_layouts, 0);
    atomic_store(&p.away, false);
    r = ask(request(HOW_TALL));
    assert_int_equal(r.cache.answer, CACHE_MISS);
    assert_string_equal(r.answer, WRITTEN);
    query_result_deinit(&r);
    close_home();
}

/* ---- in the background --------------------------------------------------------------------- */

static void hot_questions_are_asked_of_it_again_after_a_change(void **state) {
    (void)state;
    p = (script){.says = SAYS};
    open_home(&(service_options){.primes_per_s = 200});
    for (int i = 0; i < 3; i++) {
        query_result r = ask(request(HOW_TALL));
        query_result_deinit(&r);
    }
    service_cache_stats st = {0};
    put("heron", "The grey heron stands one metre tall. It eats fish, and it nests in trees.");
    for (int i = 0; i < 500 && !st.primed; i++) { /* the thread looks four times a second */
        usleep(20000);
        service_get_cache_stats(s, &st);
    }
    assert_true(st.primed >= 1);
    pthread_mutex_lock(&p.mu);
    assert_int_equal(p.n_started, 2);
    assert_int_equal(p.last.priority, -100);
    assert_non_null(strstr(script_prompt(&p), "nests in trees"));
    pthread_mutex_unlock(&p.mu);
    query_result r = ask(request(HOW_TALL));
    assert_int_equal(r.cache.answer, CACHE_HIT);
    assert_int_equal(r.source, ANSWER_GENERATED);
    assert_string_equal(r.citations[1].quote, "It eats fish, and it nests in trees.");
    assert_int_equal(p.n_started, 2);
    query_result_deinit(&r);
    close_home();
}

/* Long enough to be worth it. */
static const char LONG[] =
    "The kingfisher is a small bird with a blue back and an orange breast that lives by slow "
    "rivers and dives from a perch into the water for small fish. It digs its nest into steep "
    "banks of sand, as deep as an arm is long, and lays six or seven eggs there in April.";

static void chunks_are_read_ahead_for_their_tenant_where_it_keeps_them(void **state) {
    (void)state;
    service_options warm = {.primes_per_s = -1, .warm = KV_WARM_INGEST, .cache_bytes = -1};
    p = (script){.says = "The kingfisher digs its nest into steep banks of sand.",
                 .keeps = true,
                 .budget_bytes = 1 << 20};
    open_home(&warm);
    put("kingfisher", LONG);
    put_for("other", "heron", HERON); /* too short */
    service_warm_stats st = {0};
    for (int i = 0; i < 500 && !st.chunks; i++) {
        usleep(20000);
        service_get_warm_stats(s, &st);
    }
    assert_int_equal(st.chunks, 1);
    assert_int_equal(st.bytes, 16 * st.tokens);
    assert_int_equal(st.budget_bytes, (1 << 20) * 3 / 4);
    assert_true(p.last.background && p.last.prefill_only && p.last.reuse == REUSE_CHUNK);
    query_request q = request("Where does the kingfisher dig its nest?");
    query_result r = ask(q);
    assert_string_equal(r.contexts[r.prompt.contexts[0]].chunk.document_id, "kingfisher");
    /* all but the question */
    assert_true(r.usage.prefix_tokens > 50 && r.usage.prefix_tokens < r.usage.prompt_tokens);
    query_result_deinit(&r);
    put_for("other", "kingfisher", "The kingfisher digs its nest into sand.");
    q.tenant = "other";
    r = ask(q);
    assert_int_equal(r.usage.prefix_tokens, 0); /* the same instructions, another salt */
    query_result_deinit(&r);
    close_home();

    p.keeps = false;
    open_home(&warm);
    service_get_warm_stats(s, &st);
    assert_int_equal(st.mode, KV_WARM_OFF);
    close_home();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_it_writes_is_checked_cited_and_accounted_for),
        cmocka_unit_test(what_the_documents_do_not_say_is_not_let_through),
        cmocka_unit_test(sentences_end_in_any_script),
        cmocka_unit_test(a_sentence_without_an_end_is_given_up),
        cmocka_unit_test(a_prompt_holds_instructions_contexts_turns_and_question),
        cmocka_unit_test(every_option_reaches_it),
        cmocka_unit_test(a_prompt_read_ahead_is_met_by_the_question),
        cmocka_unit_test(sentences_stream_while_it_writes),
        cmocka_unit_test(a_client_that_leaves_ends_it),
        cmocka_unit_test(what_its_reader_fails_with_is_no_cancellation),
        cmocka_unit_test(a_cancelled_question_does_not_wait_for_it),
        cmocka_unit_test(what_repeats_itself_is_cancelled),
        cmocka_unit_test(a_refusal_for_load_says_when_to_come_again),
        cmocka_unit_test(a_window_that_is_too_small_leaves_the_answer_to_the_documents),
        cmocka_unit_test(much_room_for_an_answer_leaves_the_documents_in),
        cmocka_unit_test(a_failure_on_the_way_takes_nothing_back),
        cmocka_unit_test(what_a_failure_cut_short_is_not_kept),
        cmocka_unit_test(time_that_runs_out_leaves_the_answer_to_the_documents),
        cmocka_unit_test(while_it_is_away_documents_answer_and_nothing_of_that_is_kept),
        cmocka_unit_test(hot_questions_are_asked_of_it_again_after_a_change),
        cmocka_unit_test(chunks_are_read_ahead_for_their_tenant_where_it_keeps_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
