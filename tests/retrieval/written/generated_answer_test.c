/* What a model writes and what is let through of it, with models that say one thing (chain_model.h)
 * before documents that say it, or do not. */
#include "tests/test.h"

#include <stdatomic.h>

#include "kernels/utf8.h"
#include "retrieval/local/local_generator.h"
#include "retrieval/service/service.h"
#include "tests/retrieval/chain_model.h"

static const char HERON[] = "The grey heron stands one metre tall. It eats fish and frogs.";
static const char HOW_TALL[] = "How tall is the grey heron?";

typedef struct world {
    char *folder;
    service *service;
} world;

/* wait_us: how long the engine lets its first request wait for company. */
static world open_world_waiting(const char *answer, const char *document, int wait_us) {
    world w = {.folder = test_folder()};
    char path[4096];
    fo_err err = {0};
    snprintf(path, sizeof path, "%s/chain.gguf", w.folder);
    if (answer) chain_model_write(path, answer);
    engine_options e = {
        .model = answer ? path : NULL, .kv_ram = 16 << 20, .batch_wait_us = wait_us};
    service_options opt = {
        .home = w.folder, .generator = local_generator(&e), .n_threads = 2, .primes_per_s = -1};
    assert_ok(service_open(&w.service, &opt, &err), &err);
    ingest_options into = {.tenant = "default", .collection = "notes", .overlap = SIZE_MAX};
    ingest_document docs[] = {
        {.id = "heron", .bytes = document, .n_bytes = strlen(document)},
        {.id = "owl", .bytes = "The barn owl hunts mice at night.", .n_bytes = 33}};
    ingest_result r[2];
    assert_ok(service_ingest(w.service, &into, docs, 2, r, NULL, &err), &err);
    for (int i = 0; i < 2; i++) ingest_result_deinit(&r[i]);
    return w;
}

static world open_world(const char *answer, const char *document) {
    return open_world_waiting(answer, document, 0);
}

static void close_world(world *w) {
    service_close(w->service);
    test_remove(w->folder);
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

static query_result ask(world *w, query_request q) {
    fo_err err = {0};
    query_result r;
    assert_ok(service_query(w->service, &q, NULL, &r, &err), &err);
    return r;
}

static void an_answer_that_the_documents_say_is_given_with_its_citation(void **state) {
    (void)state;
    world w = open_world("The grey heron is one metre tall.", HERON);
    query_result r = ask(&w, request(HOW_TALL));
    assert_int_equal(r.source, ANSWER_GENERATED);
    assert_string_equal(r.answer, "The grey heron is one metre tall. [1]");
    assert_string_equal(r.finish_reason, "stop");
    assert_string_equal(r.model, "chain");
    assert_int_equal(r.n_citations, 1);
    assert_true(r.citations[0].verified);
    assert_string_equal(r.citations[0].quote, "The grey heron stands one metre tall.");
    assert_int_equal(r.citations[0].answer_start, 0);
    assert_int_equal(r.citations[0].answer_end, strlen("The grey heron is one metre tall."));
    assert_string_equal(r.contexts[r.citations[0].context].chunk.document_id, "heron");
    assert_int_equal(r.prompt.n_contexts + r.prompt.n_dropped, r.n_contexts);
    assert_int_equal(r.prompt.contexts[0], r.citations[0].context);
    assert_int_equal(r.usage.completion_tokens, 7);
    assert_true(r.usage.prompt_tokens > 50);
    query_result_deinit(&r);
    close_world(&w);
}

static void an_answer_that_they_do_not_say_gives_way_to_the_extractive(void **state) {
    (void)state;
    static const char *const wrong[] = {
        "The grey heron is nine metres tall.", /* another number */
        "The grey heron is not one metre tall.",
        "The barn owl hunts mice at night.", /* true, and beside the question */
        "It eats fish and frogs.",           /* of the right document */
        "The grey heron stands.",            /* without what is asked for */
        "Bananas!",
    };
    world plain = open_world(NULL, HERON);
    query_result want = ask(&plain, request(HOW_TALL));
    assert_int_equal(want.source, ANSWER_EXTRACTIVE);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        world w = open_world(wrong[i], HERON);
        query_result r = ask(&w, request(HOW_TALL));
        if (r.source != ANSWER_EXTRACTIVE) fail_msg("'%s' was let through", wrong[i]);
        assert_string_equal(r.answer, want.answer);
        assert_int_equal(r.n_citations, want.n_citations);
        assert_string_equal(r.finish_reason, "stop");
        assert_null(r.model);
        assert_true(r.usage.completion_tokens > 0); /* it was asked, all the same */
        query_result_deinit(&r);
        close_world(&w);
    }
    query_result_deinit(&want);
    close_world(&plain);
}

/* A model that is asked to be short is: what is left out was not asked for. */
static void a_right_answer_may_be_short(void **state) {
    (void)state;
    static const char *const right[] = {"One metre.", "1 meter.", "It is one metre tall.",
                                        "The height of the grey heron is one metre."};
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        world w = open_world(right[i], HERON);
        query_result r = ask(&w, request(HOW_TALL));
        if (r.source != ANSWER_GENERATED) fail_msg("'%s' was thrown away", right[i]);
        assert_string_equal(r.citations[0].quote, "The grey heron stands one metre tall.");
        query_result_deinit(&r);
        close_world(&w);
    }
}

/* What is asked, what the model says of the document, what is given, and the sentence that it is given with. */
static void a_phrase_is_held_against_what_answers(void **state) {
    (void)state;
    static const struct {
        const char *document, *question, *says, *gives, *quote;
    } cases[] = {
        /* the name stands in two sentences, the shorter of which is beside the question */
        {"Ilse Vane wrote to Moor. In 1931 the harbour light of Skarn was built by Ilse Vane and "
         "four masons.",
         "Who built the harbour light of Skarn?", "Ilse Vane", "Ilse Vane [1]",
         "In 1931 the harbour light of Skarn was built by Ilse Vane and four masons."},
        /* as the document writes it */
        {"The harbour light of Skarn was lit on 8 July 1931 for the first time.",
         "When was the harbour light of Skarn first lit?", "July 8, 1931.", "8 July 1931. [1]",
         "The harbour light of Skarn was lit on 8 July 1931 for the first time."},
        {"The harbour light of Skarn was lit on 8 July 1931 for the first time.",
         "When was the harbour light of Skarn first lit?",
         "The harbour light of Skarn was lit on 8.7.1931.",
         "The harbour light of Skarn was lit on 8.7.1931. [1]",
         "The harbour light of Skarn was lit on 8 July 1931 for the first time."},
        /* an amount without a number, beside numbers that were not asked for */
        {"The 5 lights of the coast of Skarn stand many kilometres apart from each other, on 20 mm "
         "plates.",
         "How far apart do the lights of the coast of Skarn stand?", "Many kilometres",
         "Many kilometres [1]",
         "The 5 lights of the coast of Skarn stand many kilometres apart from each other, on 20 mm "
         "plates."},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        world w = open_world(cases[i].says, cases[i].document);
        query_result r = ask(&w, request(cases[i].question));
        if (r.source != ANSWER_GENERATED) fail_msg("'%s' was thrown away", cases[i].says);
        assert_string_equal(r.answer, cases[i].gives);
        assert_string_equal(r.citations[0].quote, cases[i].quote);
        query_result_deinit(&r);
        close_world(&w);
    }
}

static void a_list_is_shown_as_the_document_has_it(void **state) {
    (void)state;
    world w = open_world("1. Open both valves.",
                         "To start the pump:\n\n1. Open both valves.\n2. Press the green button.\n"
                         "3. Wait for the lamp.\n");
    query_result r = ask(&w, request("How do I start the pump?"));
    assert_int_equal(r.source, ANSWER_EXTRACTIVE);
    assert_non_null(strstr(r.answer, "Wait for the lamp."));
    query_result_deinit(&r);
    close_world(&w);
}

static void what_follows_a_supported_sentence_without_support_is_cut_off(void **state) {
    (void)state;
    world w = open_world("The grey heron is one metre tall. It drinks wine!", HERON);
    query_request q = request(HOW_TALL);
    query_result r = ask(&w, q);
    assert_string_equal(r.answer, "The grey heron is one metre tall. [1]");
    query_result_deinit(&r);
    q.strict = false;
    r = ask(&w, q);
    assert_string_equal(r.answer, "The grey heron is one metre tall. [1] It drinks wine!");
    assert_int_equal(r.n_citations, 1);
    query_result_deinit(&r);
    close_world(&w);
}

static void markers_that_a_model_writes_are_taken_out(void **state) {
    (void)state;
    static const char *const said[] = {
        "The grey [2] heron [[p0a1b2]7] is [1, 3] one metre tall. [4]",
        "The grey heron [p0a1b2,pffff0] is one metre tall. [p12345; p67890]",
        "The grey heron [^2] is one metre [[[1]1]1] tall.",
    };
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        world w = open_world(said[i], HERON);
        query_result r = ask(&w, request(HOW_TALL));
        assert_int_equal(r.source, ANSWER_GENERATED);
        assert_string_equal(r.answer, "The grey heron is one metre tall. [1]");
        query_result_deinit(&r);
        close_world(&w);
    }
}

/* What is answered where the model says this of the document; "" for `stop`: none is given. */
typedef struct told {
    const char *document, *question, *says, *stop, *gives;
    enum answer_source source;
} told;

static void is_told(const told *c) {
    world w = open_world(c->says, c->document);
    query_request q = request(c->question);
    q.stop = &c->stop;
    q.n_stop = c->stop[0] != 0;
    query_result r = ask(&w, q);
    if (r.source != c->source || strcmp(r.answer, c->gives) != 0)
        fail_msg("'%s' with the stop string '%s' gave '%s' (%d)", c->says, c->stop, r.answer,
                 r.source);
    for (size_t i = 0; i < r.n_citations; i++) /* markers are not counted in */
        assert_true(r.citations[i].answer_end <= fo_utf8_count(r.answer, strlen(r.answer)) - 4);
    query_result_deinit(&r);
    close_world(&w);
}

static const char CHICKENS[] = "May I keep chickens?", BUILT[] = "Who built the light of Skarn?",
                  LIGHT[] = "The light of Skarn was built by Ilse Vane [2] and Otto Moor.",
                  LIT[] = "The light of Skarn was lit on 8 July 1931 for the first time.",
                  TICKETS[] = "| ticket | low season | high season |\n|---|---|---|\n"
                              "| adult | 8.50 | 11.00 |\n| child | 4.00 | 6.00 |\n";

static void a_marker_of_a_document_is_none_in_an_answer(void **state) {
    (void)state;
    static const told cases[] = {
        {LIGHT, BUILT, "Ilse Vane and Otto Moor.", "", "Ilse Vane (2) and Otto Moor. [1]",
         ANSWER_GENERATED},
        {"Chickens are not permitted.[2]", CHICKENS, "No.", "",
         "No. Chickens are not permitted.(2) [1]", ANSWER_GENERATED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) is_told(&cases[i]);
}

/* The model's words were looked through for them, those that a document has in their place were not. */
static void a_stop_string_does_not_come_in_with_a_documents_words(void **state) {
    (void)state;
    static const told cases[] = {
        {LIGHT, BUILT, "Ilse Vane and Otto Moor.", "(", "Ilse Vane and Otto Moor. [1]",
         ANSWER_GENERATED},
        {LIT, "When was the light of Skarn first lit?", "July 8, 1931.", "8 July",
         "July 8, 1931. [1]", ANSWER_GENERATED},
        {TICKETS, "What does an adult pay in the high season?", "11.00 euros", "",
         "high season: 11.00 [1]", ANSWER_GENERATED},
        {TICKETS, "What does an adult pay in the high season?", "11.00 euros",
         "season:", "11.00 euros [1]", ANSWER_GENERATED},
        {"Chickens are not permitted.", CHICKENS, "No.", " permitted", "Chickens are not [1]",
         ANSWER_EXTRACTIVE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) is_told(&cases[i]);
}

/* Brackets of a document's own that are no labels and no numbers of sources. */
static void words_in_brackets_stay(void **state) {
    (void)state;
    static const told cases[] = {
        {"Call x[i] to read one value of the vector.", "How do I read one value of the vector?",
         "Call x[i] to read one value of the vector.", "",
         "Call x[i] to read one value of the vector. [1]", ANSWER_GENERATED},
        {"The archive is listed by tar -t [FILE].", "How is the archive listed?",
         "The archive is listed by tar -t [FILE].", "",
         "The archive is listed by tar -t [FILE]. [1]", ANSWER_GENERATED},
        {"The weight of an edge lies in [0,1].", "Where does the weight of an edge lie?",
         "The weight of an edge lies in [0,1].", "", "The weight of an edge lies in [0,1]. [1]",
         ANSWER_GENERATED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) is_told(&cases[i]);
}

static void a_loop_ends_and_a_text_without_an_end_is_given_up(void **state) {
    (void)state;
    world w = open_world("The grey heron is one metre tall. @", HERON);
    query_request q = request(HOW_TALL);
    q.max_tokens = 200;
    query_result r = ask(&w, q);
    assert_string_equal(r.answer, "The grey heron is one metre tall. [1]");
    assert_string_equal(r.finish_reason, "stop");
    query_result_deinit(&r);
    close_world(&w);
    w = open_world("and so @", HERON);
    r = ask(&w, q);
    assert_int_equal(r.source, ANSWER_EXTRACTIVE);
    query_result_deinit(&r);
    close_world(&w);
}

static void max_tokens_and_stop_strings_end_the_writing(void **state) {
    (void)state;
    world w = open_world("The grey heron is one metre tall. It eats fish.", HERON);
    query_request q = request(HOW_TALL);
    query_result r = ask(&w, q);
    assert_string_equal(r.answer, "The grey heron is one metre tall. [1] It eats fish. [2]");
    query_result_deinit(&r);

    q.max_tokens = 9; /* breaks the second sentence off */
    r = ask(&w, q);
    assert_string_equal(r.answer, "The grey heron is one metre tall. [1]");
    assert_string_equal(r.finish_reason, "length");
    assert_int_equal(r.usage.completion_tokens, 9);
    query_result_deinit(&r);

    q.max_tokens = 3; /* breaks the first off: nothing is left of it */
    r = ask(&w, q);
    assert_int_equal(r.source, ANSWER_EXTRACTIVE);
    assert_string_equal(r.finish_reason, "stop");
    query_result_deinit(&r);

    static const char *const stop[] = {"never", " It eats"};
    q = request(HOW_TALL);
    q.stop = stop;
    q.n_stop = 2;
    r = ask(&w, q);
    assert_string_equal(r.answer, "The grey heron is one metre tall. [1]");
    assert_string_equal(r.finish_reason, "stop_sequence");
    assert_string_equal(r.stop_sequence, " It eats");
    query_result_deinit(&r);
    r = ask(&w, q); /* from memory: what it owns is its own */
    assert_int_equal(r.cache.answer, CACHE_HIT);
    assert_string_equal(r.stop_sequence, " It eats");
    assert_int_equal(r.prompt.n_contexts, 1);
    query_result_deinit(&r);
    q.max_sentences = 1;
    q.n_stop = 0;
    r = ask(&w, q);
    assert_string_equal(r.answer, "The grey heron is one metre tall. [1]");
    query_result_deinit(&r);
    close_world(&w);
}

static void a_seed_chooses_and_every_field_that_counts_has_its_own_answer(void **state) {
    (void)state;
    world w = open_world("The grey heron is|stands one metre tall.", HERON);
    query_request q = request(HOW_TALL);
    q.temperature = 1;
    bool seen[2] = {false, false};
    char first[200] = "";
    for (uint64_t seed = 1; seed <= 24; seed++) {
        q.seed = seed;
        query_result r = ask(&w, q);
        assert_int_equal(r.cache.answer, CACHE_MISS); /* another seed, another key */
        assert_int_equal(r.source, ANSWER_GENERATED);
        seen[strstr(r.answer, "stands") != NULL] = true;
        if (seed == 1) snprintf(first, sizeof first, "%s", r.answer);
        query_result_deinit(&r);
    }
    assert_true(seen[0] && seen[1]);
    q.seed = 1;
    q.cache = CACHE_BYPASS;
    query_result r = ask(&w, q);
    assert_string_equal(r.answer, first);
    query_result_deinit(&r);
    q.cache = CACHE_DEFAULT;
    static const char *const stop[] = {"zebra"}, *const stop_2[] = {"gnu"};
    enum { OTHERS = 15 };
    query_request others[OTHERS];
    for (int i = 0; i < OTHERS; i++) others[i] = q;
    others[0].temperature = 0.5;
    others[1].top_p = 0.5;
    others[2].stop = stop, others[2].n_stop = 1;
    others[3].order = ORDER_CACHE;
    others[4].kv_reuse = REUSE_OFF;
    others[5].answer_by = ANSWER_BY_EXTRACTION;
    others[6].answer_by = ANSWER_BY_MODEL;
    others[7].max_tokens = 100;
    others[8].strict = false;
    others[9].stop = stop_2, others[9].n_stop = 1;
    others[10].sampling_top_k = 3;
    others[11].min_p = 0.1;
    others[12].presence_penalty = 0.1;
    others[13].frequency_penalty = 0.1;
    others[14].repetition_penalty = 1.1;
    for (int i = 0; i < OTHERS; i++) {
        r = ask(&w, others[i]);
        if (r.cache.answer != CACHE_MISS) fail_msg("case %d was answered from another's", i);
        query_result_deinit(&r);
    }
    close_world(&w);
}

typedef struct heard {
    char text[2000];
    size_t n_texts, n_citations;
    bool cited_before_text, stop;
    atomic_bool *cancel;
} heard;

static int hear_contexts(void *ctx, const query_result *r) {
    (void)r;
    heard *h = ctx;
    if (h->cancel) atomic_store(h->cancel, true);
    return 0;
}
static int hear_token(void *ctx, const char *text, size_t len) {
    heard *h = ctx;
    strncat(h->text, text, len);
    h->n_texts++;
    return h->stop;
}
static int hear_citation(void *ctx, const query_result *r, const query_citation *c) {
    heard *h = ctx;
    h->n_citations++;
    assert_true(c->verified);
    assert_int_equal(c->index, h->n_citations);
    assert_true(r->n_citations >= h->n_citations);
    if (h->n_texts < h->n_citations) h->cited_before_text = true;
    return 0;
}

static void sentences_stream_as_they_are_verified(void **state) {
    (void)state;
    world w = open_world("The grey heron is one metre tall. It eats fish.", HERON);
    fo_err err = {0};
    heard h = {0};
    query_sink sink = {&h, hear_contexts, hear_token, hear_citation, NULL};
    query_request q = request(HOW_TALL);
    query_result r;
    assert_ok(service_query(w.service, &q, &sink, &r, &err), &err);
    assert_string_equal(h.text, r.answer);
    assert_int_equal(h.n_texts, 2);
    assert_int_equal(h.n_citations, 2);
    assert_false(h.cited_before_text);
    assert_true(r.ms.first_token > 0 && r.ms.first_token <= r.ms.total);
    query_result_deinit(&r);
    heard again = {0};
    sink.ctx = &again;
    assert_ok(service_query(w.service, &q, &sink, &r, &err), &err);
    assert_int_equal(r.cache.answer, CACHE_HIT);
    assert_string_equal(again.text, h.text);
    assert_int_equal(again.n_citations, 2);
    query_result_deinit(&r);
    close_world(&w);
}

static void a_reader_that_goes_away_stops_the_writing(void **state) {
    (void)state;
    world w = open_world("The grey heron is one metre tall. It eats fish.", HERON);
    fo_err err = {0};
    heard h = {.stop = true};
    query_sink sink = {&h, NULL, hear_token, NULL, NULL};
    query_request q = request(HOW_TALL);
    query_result r;
    assert_int_equal(service_query(w.service, &q, &sink, &r, &err), FO_ECANCELLED);
    assert_int_equal(h.n_texts, 1);
    atomic_bool cancel = false;
    h = (heard){.cancel = &cancel};
    sink = (query_sink){&h, hear_contexts, hear_token, NULL, NULL};
    q.cancel = &cancel;
    assert_int_equal(service_query(w.service, &q, &sink, &r, &err), FO_ECANCELLED);
    assert_int_equal(h.n_texts, 0);
    engine_stats st;
    for (int i = 0; i < 500; i++) { /* the last step may still run */
        engine_get_stats(local_generator_engine(service_generator(w.service)), &st);
        if (st.n_running == 0 && st.n_waiting == 0) break;
        usleep(10000);
    }
    assert_int_equal(st.n_running + st.n_waiting, 0);
    assert_ok(engine_check(local_generator_engine(service_generator(w.service)), &err), &err);
    q.cancel = NULL;
    r = ask(&w, q); /* nothing of the broken ones was kept */
    assert_int_equal(r.cache.answer, CACHE_MISS);
    assert_int_equal(r.n_citations, 2);
    query_result_deinit(&r);
    close_world(&w);
}

static void a_prompt_read_ahead_is_attached_when_the_question_comes(void **state) {
    (void)state;
    world w = open_world("The grey heron is one metre tall.", HERON);
    query_request q = request(HOW_TALL);
    q.prefill_only = true;
    query_result r = ask(&w, q);
    assert_string_equal(r.answer, "");
    assert_int_equal(r.source, ANSWER_NONE);
    assert_int_equal(r.usage.completion_tokens, 0);
    size_t prompt = r.usage.prompt_tokens;
    assert_true(prompt > 0);
    query_result_deinit(&r);
    q.prefill_only = false;
    r = ask(&w, q);
    assert_int_equal(r.cache.answer, CACHE_MISS);
    assert_int_equal(r.usage.prompt_tokens, prompt);
    assert_true(r.usage.cached_tokens >= prompt / 2);
    query_result_deinit(&r);
    q.cache = CACHE_BYPASS;
    q.kv_reuse = REUSE_OFF;
    r = ask(&w, q);
    assert_int_equal(r.usage.cached_tokens, 0);
    assert_int_equal(r.source, ANSWER_GENERATED);
    query_result_deinit(&r);
    close_world(&w);
    w = open_world(NULL, HERON);
    q.prefill_only = true;
    fo_err err = {0};
    assert_int_equal(service_query(w.service, &q, NULL, &r, &err), FO_EUNSUPPORTED);
    assert_string_equal(err.field, "prefill_only");
    close_world(&w);
}

static void a_question_that_nothing_answers_is_refused_without_asking_the_model(void **state) {
    (void)state;
    world w = open_world("The grey heron is one metre tall.", HERON);
    query_result r = ask(&w, request("Who won the chess championship of 1972?"));
    assert_int_equal(r.status, QUERY_ABSTAINED);
    assert_int_equal(r.source, ANSWER_NONE);
    assert_string_equal(r.answer, "");
    assert_string_equal(r.finish_reason, "abstain");
    engine_stats st;
    engine_get_stats(local_generator_engine(service_generator(w.service)), &st);
    assert_int_equal(st.finished, 0);
    query_result_deinit(&r);
    close_world(&w);
}

static void the_extractive_answer_stands_where_time_or_room_run_out(void **state) {
    (void)state;
    world w = open_world("The grey heron is one metre tall.", HERON);
    query_request q = request(HOW_TALL);
    q.max_tokens = 4 * CHAIN_CONTEXT; /* more than the window: what the prompt leaves of it */
    query_result r = ask(&w, q);
    assert_int_equal(r.source, ANSWER_GENERATED);
    query_result_deinit(&r);
    static char lengthy[4 * CHAIN_CONTEXT]; /* no window holds that beside an answer */
    while (strlen(lengthy) + sizeof HOW_TALL + 1 < sizeof lengthy)
        strcat(strcat(lengthy, HOW_TALL), " ");
    q = request(lengthy);
    r = ask(&w, q);
    assert_int_equal(r.source, ANSWER_EXTRACTIVE);
    assert_non_null(strstr(r.answer, "one metre"));
    query_result_deinit(&r);
    close_world(&w);

    w = open_world_waiting("The grey heron is one metre tall.", HERON, 400000);
    q = request(HOW_TALL);
    q.timeout_ms = 200; /* over before the model begins, on a machine of any speed */
    for (int i = 0; i < 2; i++) {
        fo_err err = {0};
        int rc = service_query(w.service, &q, NULL, &r, &err);
        if (rc == FO_ETIMEOUT) continue; /* a busy machine: not even the search was in time */
        assert_ok(rc, &err);
        assert_int_equal(r.source, ANSWER_EXTRACTIVE);
        assert_string_equal(r.finish_reason, "timeout");
        assert_int_not_equal(r.cache.answer, CACHE_HIT); /* cut short: not kept */
        query_result_deinit(&r);
    }
    close_world(&w);
}

static void what_cannot_fit_is_refused_with_a_sentence_before_anything_is_loaded(void **state) {
    (void)state;
    char *folder = test_folder(), path[4096];
    snprintf(path, sizeof path, "%s/chain.gguf", folder);
    chain_model_write(path, "Yes.");
    service *s = NULL;
    fo_err err = {0};
    service_options opt = {.home = folder, .cache_bytes = (int64_t)1 << 50};
    assert_int_equal(service_open(&s, &opt, &err), FO_ENOMEM);
    assert_non_null(strstr(err.msg, "the caches of answers 1073741824 MiB"));
    engine_options e = {.model = path, .kv_ram = (uint64_t)1 << 50};
    opt = (service_options){.home = folder, .generator = local_generator(&e)};
    assert_int_equal(service_open(&s, &opt, &err), FO_ENOMEM);
    assert_non_null(strstr(err.msg, "beside 64 MiB for other models and caches"));
    assert_null(s);
    test_remove(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_that_the_documents_say_is_given_with_its_citation),
        cmocka_unit_test(an_answer_that_they_do_not_say_gives_way_to_the_extractive),
        cmocka_unit_test(a_right_answer_may_be_short),
        cmocka_unit_test(a_phrase_is_held_against_what_answers),
        cmocka_unit_test(a_list_is_shown_as_the_document_has_it),
        cmocka_unit_test(what_follows_a_supported_sentence_without_support_is_cut_off),
        cmocka_unit_test(markers_that_a_model_writes_are_taken_out),
        cmocka_unit_test(a_marker_of_a_document_is_none_in_an_answer),
        cmocka_unit_test(a_stop_string_does_not_come_in_with_a_documents_words),
        cmocka_unit_test(words_in_brackets_stay),
        cmocka_unit_test(a_loop_ends_and_a_text_without_an_end_is_given_up),
        cmocka_unit_test(max_tokens_and_stop_strings_end_the_writing),
        cmocka_unit_test(a_seed_chooses_and_every_field_that_counts_has_its_own_answer),
        cmocka_unit_test(sentences_stream_as_they_are_verified),
        cmocka_unit_test(a_reader_that_goes_away_stops_the_writing),
        cmocka_unit_test(a_prompt_read_ahead_is_attached_when_the_question_comes),
        cmocka_unit_test(a_question_that_nothing_answers_is_refused_without_asking_the_model),
        cmocka_unit_test(what_cannot_fit_is_refused_with_a_sentence_before_anything_is_loaded),
        cmocka_unit_test(the_extractive_answer_stands_where_time_or_room_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
