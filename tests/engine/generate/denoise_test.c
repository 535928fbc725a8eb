/* denoise_test.c - diffusion models through the running engine: what the plain reference writes, in
 * any company; ends, stop strings and text that is final; what is refused, and that nothing leaks. */
#include "tests/test.h"

#include "tests/engine/diffusion/reference.h"
#include "tests/engine/generate/engine_fixture.h"

enum { BLOCK = 16, MODELS = 4, REQUESTS = 10 };
static char models[MODELS][512]; /* llada, dream, and both by blocks */

static int open_models(void **state) {
    (void)state;
    folder = test_folder();
    for (int i = 0; i < MODELS; i++) {
        tiny_shape s = tiny_llama;
        s.arch = i % 2 ? "dream" : "llada";
        snprintf(models[i], sizeof models[i], "%s/%d.gguf", folder, i);
        tiny_model_write_blocks(models[i], &s, i < 2 ? 0 : BLOCK, &seed);
    }
    return 0;
}

static int below(int n) {
    return (int)(test_random(&seed) % (uint64_t)n);
}

typedef struct asked {
    int32_t prompt[120], wanted[64];
    int n_prompt, n_answer, passes;
    diffusion_params p;
    generation_request r;
} asked;

static void make_request(asked *a, reference_network *ref) {
    a->n_prompt = 1 + below(120);
    a->n_answer = 1 + below(40);
    random_tokens(a->prompt, (size_t)a->n_prompt);
    a->p = diffusion_params_default();
    a->p.remasking = below(DIFFUSION_REMASKINGS + 1) - 1;
    a->p.kv = below(DIFFUSION_KVS + 1) - 1;
    a->p.refresh = below(4) - 1;
    if (!ref->d.attention_block) a->p.block_length = below(30) - 1;
    if (below(3) == 0) a->p.steps = a->n_answer;
    if (a->p.remasking == DIFFUSION_CONFIDENCE && below(2)) a->p.threshold = .05f;
    if (below(3) == 0) a->p.guidance = .7f;
    if (ref->d.attention_block && below(2)) {
        a->p.verify = 1;
        a->p.kv = DIFFUSION_KV_PREFIX;
        a->p.guidance = 0;
        a->p.threshold = .002f + .1f * (float)test_uniform(&seed);
    }
    a->r = request(a->prompt, (size_t)a->n_prompt, (size_t)a->n_answer);
    a->r.diffusion = &a->p;
    if (below(2)) {
        a->r.sampling.temperature = .7f;
        a->r.sampling.seed = test_random(&seed);
    }
    diffusion_params p = a->p;
    p.temperature = a->r.sampling.temperature;
    p.seed = a->r.sampling.seed;
    if (diffusion_params_resolve(&p, &ref->d, a->n_answer, &err)) { /* too few steps */
        a->p.steps = p.steps = -1;
        assert_ok(diffusion_params_resolve(&p, &ref->d, a->n_answer, &err), &err);
    }
    if (p.verify) p.threshold = 0; /* so it is written, if in fewer passes */
    a->passes = reference_write(ref, &p, a->prompt, a->n_prompt, a->n_answer, a->wanted);
}

static void writes_what_the_reference_writes_in_any_company(void **state) {
    (void)state;
    static const struct {
        int batch, page, threads, sequences;
    } shapes[] = {{0, 16, 1, 8}, {320, 32, 2, 8}, {400, 16, 3, 3}, {0, 64, 2, 1}};
    static asked a[REQUESTS];
    for (int m = 0; m < MODELS; m++)
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
            const bool exact = i % 2 == 0;
            reference_network ref;
            network_open(&ref, models[m], !exact, NULL);
            engine *e = open_engine((engine_options){.model = models[m],
                                                     .exact = exact,
                                                     .max_batch_tokens = shapes[i].batch,
                                                     .kv_page_tokens = shapes[i].page,
                                                     .n_threads = shapes[i].threads,
                                                     .max_sequences = shapes[i].sequences});
            assert_true(engine_denoises(e));
            generation *g[REQUESTS];
            for (int k = 0; k < REQUESTS; k++) make_request(&a[k], &ref);
            for (int k = 0; k < REQUESTS; k++) {
                a[k].r.priority = k; /* who comes later is the more urgent */
                g[k] = submit(e, &a[k].r);
            }
            for (int k = 0; k < REQUESTS; k++) {
                result got;
                finish(g[k], &got);
                assert_int_equal(got.ev.error, FO_OK);
                assert_string_equal(got.ev.finish_reason, "length");
                assert_int_equal(got.n, a[k].n_answer);
                assert_memory_equal(got.tokens, a[k].wanted, got.n * sizeof *got.tokens);
                if (a[k].p.verify == 1)
                    assert_true(got.ev.passes <= a[k].passes);
                else
                    assert_int_equal(got.ev.passes, a[k].passes);
                assert_int_equal(got.ev.cached_tokens, 0);
            }
            close_engine(e);
            network_close(&ref);
        }
}

/* Few pages: canvases wait for each other's, and of the same priority none is thrown out. */
static void waits_for_pages(void **state) {
    (void)state;
    static asked a[REQUESTS];
    reference_network ref;
    network_open(&ref, models[0], true, NULL);
    engine *e = open_engine((engine_options){.model = models[0], .kv_ram = 21 * 8192});
    generation *g[REQUESTS];
    for (int k = 0; k < REQUESTS; k++) make_request(&a[k], &ref);
    for (int k = 0; k < REQUESTS; k++) g[k] = submit(e, &a[k].r);
    for (int k = 0; k < REQUESTS; k++) {
        result got;
        finish(g[k], &got);
        assert_int_equal(got.ev.error, FO_OK);
        assert_memory_equal(got.tokens, a[k].wanted, (size_t)a[k].n_answer * sizeof *got.tokens);
    }
    engine_stats st;
    engine_get_stats(e, &st);
    assert_int_equal(st.preemptions, 0);
    assert_true(st.denoise_passes > 0 && st.denoise_rows >= st.denoise_logit_rows);
    close_engine(e);
    network_close(&ref);
}

/* Canvases are thrown out for more urgent ones, for their pages or their places, in the middle, and write what they
 * would have written, in as many steps. */
static void gives_way_to_the_more_urgent(void **state) {
    (void)state;
    static asked a[REQUESTS];
    uint64_t preemptions = 0;
    for (int m = 0; m < MODELS; m++)
        for (int places = 0; places < 2; places++) {
            reference_network ref;
            network_open(&ref, models[m], true, NULL);
            engine *e = open_engine((engine_options){.model = models[m],
                                                     .kv_ram = places ? 0 : 23 * 8192,
                                                     .kv_page_tokens = places ? 32 : 16,
                                                     .max_sequences = places ? 2 : 8});
            generation *g[REQUESTS];
            engine_stats st;
            for (int k = 0; k < REQUESTS; k++) do {
                    make_request(&a[k], &ref);
                } while (a[k].n_prompt < 60 || a[k].passes < 16);
            for (int k = 0; k < REQUESTS; k++) {
                a[k].r.priority = k / (REQUESTS / 2);
                g[k] = submit(e, &a[k].r);
                if (k != REQUESTS / 2 - 1) continue;
                do { /* so that something is lost */
                    engine_get_stats(e, &st);
                    usleep(50);
                } while (st.denoise_passes < 8);
            }
            for (int k = 0; k < REQUESTS; k++) {
                result got;
                finish(g[k], &got);
                if (got.ev.error) fail_msg("%s", got.ev.message);
                assert_int_equal(got.n, a[k].n_answer);
                for (size_t i = 0; i < got.n; i++)
                    if (got.tokens[i] != a[k].wanted[i])
                        fail_msg(
                            "model %d, request %d (kv %d, refresh %d): token %zu is %d, not %d", m,
                            k, a[k].p.kv, a[k].p.refresh, i, got.tokens[i], a[k].wanted[i]);
                assert_true(got.ev.passes <= a[k].passes);
                if (a[k].p.verify != 1) assert_int_equal(got.ev.passes, a[k].passes);
                assert_ok(engine_check(e, &err), &err);
            }
            engine_get_stats(e, &st);
            preemptions += st.preemptions; /* unless a wave was done before the next came */
            close_engine(e);
            network_close(&ref);
        }
    assert_true(preemptions > 0);
}

/* The answer ends where its first end token stands, whatever came true behind it meanwhile. */
static void ends_at_the_first_end_token(void **state) {
    (void)state;
    reference_network ref;
    network_open(&ref, models[0], true, NULL);
    engine *e = open_engine((engine_options){.model = models[0]});
    int ended = 0, saved = 0;
    for (int round = 0; round < 60 && (!ended || !saved); round++) {
        static asked a;
        result got;
        make_request(&a, &ref);
        /* Any token may be asked to end it: here one that the reference writes in the middle. */
        const int32_t stop = a.wanted[a.n_answer / 2];
        a.r.stop_tokens = &stop;
        a.r.n_stop_tokens = 1;
        run(e, &a.r, &got);
        int n = 0;
        while (a.wanted[n] != stop) n++;
        assert_string_equal(got.ev.finish_reason, "stop");
        assert_int_equal(got.ev.stop_token, stop);
        assert_int_equal(got.n, n);
        assert_memory_equal(got.tokens, a.wanted, got.n * sizeof *got.tokens);
        assert_true(got.ev.passes <= a.passes);
        ended++;
        saved += got.ev.passes < a.passes;
    }
    assert_true(saved > 0);
    close_engine(e);
    network_close(&ref);
}

/* Text comes when it is final, in pieces that make up the whole; a stop string ends it and is no part
 * of it. */
static void text_is_final_and_stops(void **state) {
    (void)state;
    engine *e = open_engine((engine_options){.model = models[0]});
    int32_t prompt[20];
    random_tokens(prompt, 20);
    diffusion_params p = diffusion_params_default();
    p.block_length = 4;
    generation_request r = request(prompt, 20, 48);
    r.diffusion = &p;
    result whole, cut;
    run(e, &r, &whole);
    const size_t n = strlen(whole.text);
    assert_true(n > 20);
    fo_buf text = {0};
    generation_event ev;
    generation *g = submit(e, &r);
    int pieces = 0;
    size_t before = 0;
    do {
        generation_next(g, -1, &ev, &text);
        pieces += text.len > before;
        before = text.len;
        assert_true(text.len <= n && memcmp(text.data, whole.text, text.len) == 0);
    } while (!ev.done);
    assert_int_equal(text.len, n);
    assert_true(pieces > 1);
    generation_free(g);
    fo_buf_free(&text);
    char stop[4] = {0};
    memcpy(stop, whole.text + n / 2, 3);
    const char *stops[] = {stop};
    r.stop = stops;
    r.n_stop = 1;
    run(e, &r, &cut);
    assert_string_equal(cut.ev.finish_reason, "stop_sequence");
    assert_null(strstr(cut.text, stop));
    assert_memory_equal(cut.text, whole.text, strlen(cut.text));
    assert_true(cut.ev.passes < whole.ev.passes);
    close_engine(e);
}

static void says_what_is_approximate(void **state) {
    (void)state;
    for (int m = 0; m < MODELS; m++) {
        engine *e = open_engine((engine_options){.model = models[m]});
        int32_t prompt[9];
        random_tokens(prompt, 9);
        diffusion_params p = diffusion_params_default();
        generation_request r = request(prompt, 9, 8);
        result got;
        run(e, &r, &got);
        assert_string_equal(got.ev.kv_note, "");
        r.diffusion = &p;
        p.kv = DIFFUSION_KV_DUAL;
        run(e, &r, &got);
        assert_true((m < 2) == (strstr(got.ev.kv_note, "approximate") != NULL));
        close_engine(e);
    }
}

/* Of a block-causal model full pages of a prompt are found by later requests, and an answer by the next
 * turn; the text is that of computing all afresh. Of others nothing is found. */
static void prompts_by_blocks_are_computed_once(void **state) {
    (void)state;
    for (int m = 0; m < MODELS; m++)
        for (int page = 16; page <= 48; page += 16) {
            reference_network ref;
            int32_t prompt[160];
            size_t cached[4];
            network_open(&ref, models[m], true, NULL);
            engine *e = open_engine((engine_options){.model = models[m], .kv_page_tokens = page});
            random_tokens(prompt, 160);
            for (int turn = 0; turn < 4; turn++) {
                int32_t wanted[20];
                result got;
                const int n = turn == 3   ? 122
                              : turn == 0 ? 100
                                          : 110; /* at last with all of the answer */
                generation_request r = request(prompt, (size_t)n, 20);
                if (turn == 2) r.kv_reuse = KV_REUSE_OFF;
                diffusion_params p = diffusion_params_default();
                assert_ok(diffusion_params_resolve(&p, &ref.d, 20, &err), &err);
                reference_write(&ref, &p, prompt, n, 20, wanted);
                run(e, &r, &got);
                assert_int_equal(got.n, 20);
                assert_memory_equal(got.tokens, wanted, sizeof wanted);
                cached[turn] = got.ev.cached_tokens;
                if (turn == 0) memcpy(prompt + 100, got.tokens, sizeof wanted);
                assert_ok(engine_check(e, &err), &err);
            }
            assert_int_equal(cached[0], 0);
            assert_int_equal(cached[2], 0);
            /* What of an answer was final when its last pass began counts: the last block was not. With
             * shifted logits the row before that is computed again, so its page is found only where the
             * second turn wrote the same in it. */
            const int first = 112 / page * page, shifted = 111 / page * page;
            if (m < 2)
                assert_true(cached[1] == 0 && cached[3] == 0);
            else
                assert_true((int)cached[1] == 109 / page * page &&
                            ((int)cached[3] == first || (m == 3 && (int)cached[3] == shifted)));
            close_engine(e);
            network_close(&ref);
        }
}

static void refuses_what_it_does_not_do(void **state) {
    (void)state;
    engine *e = open_engine((engine_options){.model = models[0], .max_batch_tokens = 100});
    int32_t prompt[90];
    random_tokens(prompt, 90);
    const sampler_bias bias = {5, 1};
    for (int i = 0; i < 10; i++) {
        generation_request r = request(prompt, 8, 8);
        diffusion_params p = diffusion_params_default();
        r.diffusion = &p;
        const char *field = "";
        if (i == 0) r.n_logprobs = 0, field = "logprobs";
        if (i == 1) r.sampling.top_p = .9f, field = "top_p";
        if (i == 2) r.sampling.top_k = 4, field = "top_k";
        if (i == 3) r.sampling.presence = 1, field = "presence_penalty";
        if (i == 4) r.sampling.bias = &bias, r.sampling.n_bias = 1, field = "logit_bias";
        if (i == 5) r.prefill_only = true, field = "prefill_only";
        if (i == 6) p.steps = 1 << 24, field = "diffusion.steps";
        if (i == 7) r.prompt = prompt, r.n_prompt = 90, r.max_tokens = 11, field = "max_tokens";
        if (i == 8) r.n_prompt = 43, p.guidance = 1, field = "max_tokens";
        if (i == 9) r.sampling.repetition = 1.1f, field = "repetition_penalty";
        generation *g;
        assert_true(engine_submit(e, &r, &g, NULL, &err) != FO_OK);
        assert_string_equal(err.field, field);
    }
    generation_request r = request(prompt, 90, 10);
    result got;
    run(e, &r, &got);
    assert_int_equal(got.n, 10);
    close_engine(e);

    snprintf(path, sizeof path, "%s/llama.gguf", folder);
    tiny_model_write(path, &tiny_llama, &seed);
    e = open_engine((engine_options){.model = path});
    diffusion_params p = diffusion_params_default();
    r = request(prompt, 8, 8);
    r.diffusion = &p;
    generation *g;
    assert_false(engine_denoises(e));
    assert_int_equal(engine_submit(e, &r, &g, NULL, &err), FO_EINVAL);
    assert_string_equal(err.field, "diffusion");
    close_engine(e);
}

static void is_cancelled_between_passes(void **state) {
    (void)state;
    engine *e = open_engine((engine_options){.model = models[1], .n_threads = 2});
    int32_t prompt[300];
    random_tokens(prompt, 300);
    for (int round = 0; round < 8; round++) {
        generation_request r = request(prompt, 300, 200);
        if (round % 2) r.deadline_ms = 5;
        generation *g = submit(e, &r);
        usleep((useconds_t)below(20000));
        if (round % 2 == 0) generation_cancel(g);
        result got;
        finish(g, &got);
        assert_string_equal(got.ev.finish_reason, round % 2 ? "timeout" : "cancelled");
    }
    close_engine(e);
}

int main(void) {
    seed = test_seed();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_what_the_reference_writes_in_any_company),
        cmocka_unit_test(waits_for_pages),
        cmocka_unit_test(gives_way_to_the_more_urgent),
        cmocka_unit_test(ends_at_the_first_end_token),
        cmocka_unit_test(text_is_final_and_stops),
        cmocka_unit_test(says_what_is_approximate),
        cmocka_unit_test(prompts_by_blocks_are_computed_once),
        cmocka_unit_test(refuses_what_it_does_not_do),
        cmocka_unit_test(is_cancelled_between_passes),
    };
    return cmocka_run_group_tests(tests, open_models, remove_folder);
}
