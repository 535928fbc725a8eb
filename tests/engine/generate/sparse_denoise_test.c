/* sparse_denoise_test.c - sparse attention of diffusion models through the running engine: the same
 * text as passes over plain_network.h give, in which each head drops what it does not keep; in any
 * company, with few pages; pages go back and come again. The schedule is the denoiser's, which
 * denoiser_test.c holds against its own reference. */
#include "tests/test.h"

#include "engine/diffusion/denoiser.h"
#include "tests/engine/generate/engine_fixture.h"
#include "tests/engine/plain_network.h"

enum {
    BLOCK = 16,
    MODELS = 4,
    REQUESTS = 6,
    MOST = 192,
    PAGE_BYTES = 16384 /* of 16 F32 tokens */
};
static char models[MODELS][512]; /* llada, dream, and both by blocks */
static plain_network *nets[MODELS][2];

static int open_models(void **state) {
    (void)state;
    folder = test_folder();
    for (int i = 0; i < MODELS; i++) {
        tiny_shape s = tiny_llama;
        s.type = QUANT_F32;
        s.arch = i % 2 ? "dream" : "llada";
        snprintf(models[i], sizeof models[i], "%s/%d.gguf", folder, i);
        tiny_model_write_blocks(models[i], &s, i < 2 ? 0 : BLOCK, &seed);
        for (int c = 0; c < 2; c++) nets[i][c] = plain_open(models[i], &s, i < 2 ? 0 : BLOCK);
    }
    return 0;
}

static int close_models(void **state) {
    for (int i = 0; i < MODELS; i++)
        for (int c = 0; c < 2; c++) plain_close(nets[i][c]);
    return remove_folder(state);
}

static int below(int n) {
    return (int)(test_random(&seed) % (uint64_t)n);
}

typedef struct asked {
    int32_t prompt[MOST], wanted[MOST];
    int n_prompt, n_answer, n_drops;
    diffusion_params p;
    sparse_params sparse;
    generation_request r;
} asked;

/* Pass by pass over a network in which heads have dropped what they do not keep. */
static void write_plainly(asked *a, int m, const diffusion_params *p, const diffusion_model *d) {
    static double logits[2][MOST][V];
    static float rows[2][V];
    static const sparse_params own = {1, 0, 16, 16, 64, 256};
    sparse_params sparse = a->sparse;
    assert_ok(sparse_params_resolve(&sparse, &own, &err), &err);
    const int delay = sparse.delay > 0 ? sparse.delay : 1, n = a->n_prompt + a->n_answer;
    const int canvases = p->guidance > 0 ? 2 : 1;
    denoiser *w;
    assert_ok(denoiser_create(&w, p, d, V, a->prompt, a->n_prompt, a->n_answer, &err), &err);
    for (int c = 0; c < 2; c++) plain_reset(nets[m][c]);
    a->n_drops = 0;
    for (const denoise_pass *s; (s = denoiser_plan(w)) != NULL;) {
        for (int c = 0; c < canvases; c++) {
            plain_network *net = nets[m][c];
            if (s->whole) plain_reset(net);
            const bool watch = s->phase + 1 == delay;
            net->watch_from = watch ? s->work_from : 0;
            net->watch_to = watch ? s->work_to : 0;
            plain_rows(net, denoiser_tokens(w, c == 1), s->from, s->to, s->n_keys, logits[c][0]);
        }
        for (int k = 0; k < s->n_asked; k++) {
            for (int c = 0; c < canvases; c++)
                for (int v = 0; v < V; v++)
                    rows[c][v] = (float)logits[c][s->canvases[0].asked[k]][v];
            denoiser_take(w, k, rows[0], canvases == 2 ? rows[1] : NULL);
        }
        denoiser_commit(w);
        s = denoiser_plan(w);
        if (!s || s->whole || s->phase != delay) continue;
        a->n_drops++;
        for (int c = 0; c < canvases; c++)
            plain_drop(nets[m][c], &sparse, s->from, d->attention_block ? n : s->to, n);
    }
    memcpy(a->wanted, denoiser_tokens(w, false) + a->n_prompt,
           (size_t)a->n_answer * sizeof *a->wanted);
    denoiser_free(w);
}

static void make_request(asked *a, int m) {
    const diffusion_model d = {.mask = V - 1,
                               .shift = m % 2,
                               .attention_block = m < 2 ? 0 : BLOCK,
                               .dream = m % 2,
                               .own = diffusion_params_default()};
    a->n_prompt = 40 + below(50);
    a->n_answer = 14 + below(16);
    random_tokens(a->prompt, (size_t)a->n_prompt);
    for (int i = 0; i < a->n_prompt; i++)
        if (a->prompt[i] == V - 1) a->prompt[i] = 3;
    a->p = diffusion_params_default();
    a->p.kv = m < 2 ? below(DIFFUSION_KVS - 1) + 1 : -1;
    a->p.refresh = below(3) ? -1 : 2 + below(5);
    if (m < 2) a->p.block_length = 6 + below(12);
    a->p.remasking = below(3);
    a->p.steps = a->n_answer;
    if (below(4) == 0) a->p.guidance = .7f;
    a->sparse = sparse_params_default();
    a->sparse.retention = .1f * (float)(1 + below(7));
    a->sparse.delay = below(4);
    a->sparse.block = below(3) ? -1 : 32;
    a->r = request(a->prompt, (size_t)a->n_prompt, (size_t)a->n_answer);
    a->r.diffusion = &a->p;
    a->r.sparse = &a->sparse;
    diffusion_params p = a->p;
    assert_ok(diffusion_params_resolve(&p, &d, a->n_answer, &err), &err);
    write_plainly(a, m, &p, &d);
}

static void writes_what_plain_passes_write(void **state) {
    (void)state;
    static asked a[REQUESTS];
    uint64_t preemptions = 0;
    for (int m = 0; m < MODELS; m++) {
        int drops = 0;
        for (int k = 0; k < REQUESTS; k++) {
            make_request(&a[k], m);
            drops += a[k].n_drops;
        }
        assert_true(drops > REQUESTS / 2);
        for (int shape = 0; shape < 3; shape++) {
            engine *e = open_engine((engine_options){.model = models[m],
                                                     .exact = true,
                                                     .kv_type = KV_F32,
                                                     .kv_page_tokens = shape == 1 ? 48 : 16,
                                                     .kv_ram = shape == 2 ? 17 * PAGE_BYTES : 0,
                                                     .n_threads = 1 + shape % 2,
                                                     .max_sequences = 4});
            generation *g[REQUESTS];
            for (int k = 0; k < REQUESTS; k++) {
                a[k].r.priority = shape == 2 ? k : 0; /* takes the pages of those before it */
                g[k] = submit(e, &a[k].r);
                if (shape == 2) usleep(500);
            }
            assert_ok(engine_check(e, &err), &err);
            for (int k = 0; k < REQUESTS; k++) {
                result got;
                finish(g[k], &got);
                if (got.ev.error) fail_msg("%s", got.ev.message);
                assert_int_equal(got.n, a[k].n_answer);
                for (size_t i = 0; i < got.n; i++)
                    if (got.tokens[i] != a[k].wanted[i])
                        fail_msg("model %d, request %d (kv %d, delay %d, retention %g): token %zu "
                                 "is %d, not %d",
                                 m, k, a[k].p.kv, a[k].sparse.delay, (double)a[k].sparse.retention,
                                 i, got.tokens[i], a[k].wanted[i]);
                assert_non_null(strstr(got.ev.kv_note, "approximate"));
                assert_ok(engine_check(e, &err), &err);
            }
            engine_stats st;
            engine_get_stats(e, &st);
            preemptions += st.preemptions;
            close_engine(e);
        }
    }
    assert_true(preemptions > 0);
}

/* Retention 1 is no other way of computing; 0 < retention < 1 holds its share of the pages. */
static void memory_goes_with_retention(void **state) {
    (void)state;
    for (int m = 0; m < MODELS; m++) {
        engine *e = open_engine((engine_options){.model = models[m], .max_batch_tokens = 1024});
        int32_t prompt[400];
        random_tokens(prompt, 400);
        diffusion_params p = diffusion_params_default();
        sparse_params sparse = sparse_params_default();
        generation_request r = request(prompt, 400, 32);
        p.kv = m < 2 ? DIFFUSION_KV_PROMPT : -1;
        p.block_length = m < 2 ? 32 : -1;
        r.diffusion = &p;
        result dense, all, quarter;
        engine_stats st;
        run(e, &r, &dense);
        r.sparse = &sparse;
        sparse.retention = 1;
        run(e, &r, &all);
        same_tokens(&all, &dense, "retention 1");
        assert_int_equal(all.ev.kv_end_tokens, 432);
        sparse.retention = .25f;
        run(e, &r, &quarter);
        assert_int_equal(quarter.ev.kv_peak_tokens, 432);
        assert_true(quarter.ev.kv_end_tokens <= 432 / 4 + 32 + 32);
        assert_string_equal(quarter.ev.finish_reason, "length");
        for (int guided = 0; guided < 2; guided++) { /* what it says is what the cache had in use */
            p.guidance = guided ? .5f : 0;
            engine_forget_peak(e);
            run(e, &r, &quarter);
            engine_get_stats(e, &st);
            assert_int_equal(quarter.ev.kv_peak_tokens, st.kv.most_used * 16);
            assert_true((int)quarter.ev.kv_end_tokens < st.kv.most_used * 16 / 2);
        }
        close_engine(e);
    }
}

/* What is not kept cannot be dropped; a prompt that others left is copied, and stays findable. */
static void says_what_it_cannot(void **state) {
    (void)state;
    engine *e = open_engine((engine_options){.model = models[0]});
    int32_t prompt[200];
    random_tokens(prompt, 200);
    diffusion_params p = diffusion_params_default();
    sparse_params sparse = sparse_params_default();
    generation_request r = request(prompt, 20, 8);
    generation *g;
    p.kv = DIFFUSION_KV_OFF;
    r.diffusion = &p;
    r.sparse = &sparse;
    sparse.retention = .5f;
    assert_int_equal(engine_submit(e, &r, &g, NULL, &err), FO_EINVAL);
    assert_string_equal(err.field, "sparse.retention");
    close_engine(e);

    e = open_engine((engine_options){.model = models[2]});
    result dense, first, second;
    r = request(prompt, 200, 40);
    r.sparse = &sparse;
    run(e, &r, &first);
    assert_int_equal(first.ev.cached_tokens, 0);
    r.sparse = NULL;
    run(e, &r, &dense);
    assert_int_equal(dense.ev.cached_tokens, 0); /* nobody finds what keeps a share */
    r.sparse = &sparse;
    run(e, &r, &second);
    assert_int_equal(second.ev.cached_tokens, 192);
    same_tokens(&second, &first, "with the prompt's pages");
    assert_int_equal(engine_probe(e, r.salt, prompt, 200), 199); /* all but the last token */
    close_engine(e);
}

int main(void) {
    seed = test_seed();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_what_plain_passes_write),
        cmocka_unit_test(memory_goes_with_retention),
        cmocka_unit_test(says_what_it_cannot),
    };
    return cmocka_run_group_tests(tests, open_models, close_models);
}
