/* denoiser_test.c - engine/diffusion against the plain reference implementation (reference.h): token
 * for token for every remasking rule, schedule, guidance, temperature, way of keeping KV; on small
 * models written here and, where the shared folder is, on those with golden logits. And what the
 * passes rely on: rows in part, by blocks, logits of some rows, some at a time. */
#include "tests/test.h"

#include <time.h>

#include "engine/diffusion/denoiser.h"
#include "tests/engine/diffusion/reference.h"
#include "tests/engine/tiny_model.h"

enum { V = TINY_VOCAB, BLOCK = 16, TINY = 4 };

static uint64_t seed;
static fo_err err;
static fo_pool *pool;
static char *folder;
static char
    tiny[5][512]; /* llada, dream, both block-causal, llada without blocks of the same weights */

static int open_folder(void **state) {
    (void)state;
    folder = test_folder();
    pool = fo_pool_create(2);
    const uint64_t same = 77;
    for (int i = 0; i < TINY; i++) {
        const bool dream = i == 1 || i == 3;
        tiny_shape s = tiny_llama;
        s.arch = dream ? "dream" : "llada";
        s.type = QUANT_F32;
        uint64_t weights = same;
        snprintf(tiny[i], sizeof tiny[i], "%s/%d.gguf", folder, i);
        tiny_model_write_blocks(tiny[i], &s, i == 2 || i == 3 ? BLOCK : 0, &weights);
    }
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    fo_pool_free(pool);
    test_remove(folder);
    return 0;
}

/* The models there are: NULL at the end. */
static const char *model_path(int i) {
    static char golden[2][4096];
    static const char *const names[] = {"golden/models/llada-f32.gguf",
                                        "golden/models/dream-f32.gguf"};
    if (i < TINY) return tiny[i];
    const char *path = i < TINY + 2 ? test_shared(names[i - TINY]) : NULL;
    return path ? strcpy(golden[i - TINY], path) : NULL;
}

static int random_below(int n) {
    return (int)(test_random(&seed) % (uint64_t)n);
}

static void random_prompt(int32_t *t, int n, int n_vocab) {
    for (int i = 0; i < n; i++) t[i] = 3 + random_below(n_vocab - 3);
}

/* Canvas number i of a pass, which is ahead: rows go to pages of its own. */
static void lay_out_ahead(const reference_network *r, const denoise_canvas *x, int i, int to,
                          int32_t *table, model_sequence *s) {
    enum { OWN = REFERENCE_SPARE / DENOISER_AHEAD, N = REFERENCE_MOST / REFERENCE_PAGE };
    const int first = x->from / REFERENCE_PAGE;
    assert_int_equal(x->from % REFERENCE_PAGE, 0);
    assert_true((to + REFERENCE_PAGE - 1) / REFERENCE_PAGE - first <= OWN);
    memcpy(table, r->table[0], sizeof r->table[0]);
    for (int k = 0; k < OWN && first + k < N; k++) table[first + k] = 2 * N + (i - 1) * OWN + k;
    s->pages = table;
}

/* The denoiser's way: rows that a pass wants, logits that it asks for, a few at a time. Returns how
 * many passes there were. */
static int write_answer(reference_network *r, const diffusion_params *p, const int32_t *prompt,
                        int n_prompt, int n_answer, int32_t *answer, long *rows, long *n_logits) {
    denoiser *d;
    assert_ok(denoiser_create(&d, p, &r->d, r->info->n_vocab, prompt, n_prompt, n_answer, &err),
              &err);
    const denoise_pass *pass;
    int final = 0, left = n_answer;
    *rows = *n_logits = 0;
    if (p->verify) denoiser_look_ahead(d, random_below(1 + DENOISER_AHEAD), REFERENCE_PAGE);
    while ((pass = denoiser_plan(d)) != NULL) {
        const int canvases = p->guidance > 0 ? 2 : 1;
        const int n_seqs = canvases == 2 ? 2 : pass->n_canvases;
        model_sequence s[1 + DENOISER_AHEAD];
        int32_t tables[DENOISER_AHEAD][REFERENCE_MOST / REFERENCE_PAGE];
        int n_rows = 0;
        for (int i = 0; i < n_seqs; i++) {
            const denoise_canvas *x = &pass->canvases[canvases == 2 ? 0 : i];
            s[i] = (model_sequence){.tokens = x->tokens,
                                    .n_tokens = pass->to - x->from,
                                    .start = x->from,
                                    .pages = r->table[0],
                                    .n_pages = REFERENCE_MOST / REFERENCE_PAGE,
                                    .n_keys = pass->n_keys,
                                    .logit_rows = x->asked,
                                    .n_logits = x->n_asked};
            n_rows += s[i].n_tokens;
            if (i && canvases == 1) lay_out_ahead(r, x, i, pass->to, tables[i - 1], &s[i]);
        }
        if (canvases == 2) {
            s[1].tokens = denoiser_tokens(d, true) + pass->from;
            s[1].pages = r->table[1];
        }
        assert_int_equal(n_rows, denoiser_rows(d));
        assert_ok(model_forward_states(r->c, r->kv, s, n_seqs, &err), &err);
        const int n = pass->n_asked, group = 1 + random_below(5);
        for (int k = 0; k < n; k += group) {
            const int some = n - k < group ? n - k : group;
            model_forward_logits(r->c, k, some, r->logits[0]);
            if (canvases == 2) model_forward_logits(r->c, n + k, some, r->logits[1]);
            for (int j = 0; j < some; j++) {
                const size_t at = (size_t)j * (size_t)r->info->n_vocab;
                denoiser_take(d, k + j, r->logits[0] + at,
                              canvases == 2 ? r->logits[1] + at : NULL);
            }
        }
        *rows += pass->to - pass->from;
        *n_logits += n;
        const int taken = denoiser_commit(d);
        assert_true(taken > 0 && taken <= left);
        left -= taken;
        assert_true(denoiser_final(d) >= final); /* what is final stays */
        if (final)
            assert_memory_equal(answer, denoiser_tokens(d, false) + n_prompt,
                                (size_t) final * sizeof *answer);
        final = denoiser_final(d);
        memcpy(answer, denoiser_tokens(d, false) + n_prompt, (size_t)n_answer * sizeof *answer);
    }
    assert_int_equal(left, 0);
    assert_int_equal(final, n_answer);
    int passes = denoiser_passes(d);
    denoiser_free(d);
    return passes;
}

typedef struct tried {
    long rows, logits;
    int passes, steps; /* steps: the reference's */
} tried;

static tried compare(reference_network *r, diffusion_params p, const int32_t *prompt, int n_prompt,
                     int n_answer, const char *what) {
    int32_t wanted[REFERENCE_MOST], got[REFERENCE_MOST];
    tried t = {0};
    assert_ok(diffusion_params_resolve(&p, &r->d, n_answer, &err), &err);
    diffusion_params plain = p;
    if (p.verify) plain.threshold = 0;
    t.steps = reference_write(r, &plain, prompt, n_prompt, n_answer, wanted);
    t.passes = write_answer(r, &p, prompt, n_prompt, n_answer, got, &t.rows, &t.logits);
    for (int i = 0; i < n_answer; i++)
        if (wanted[i] != got[i])
            fail_msg(
                "%s: token %d of %d is %d, %d in the reference (%s, %d steps, blocks of %d, eps "
                "%g, temperature %g, guidance %g, threshold %g, kv %s, refresh %d)",
                what, i, n_answer, got[i], wanted[i], diffusion_remasking_name(p.remasking),
                p.steps, p.block_length, (double)p.eps, (double)p.temperature, (double)p.guidance,
                (double)p.threshold, diffusion_kv_name(p.kv), p.refresh);
    if (p.verify)
        assert_true(t.passes <= t.steps);
    else
        assert_int_equal(t.passes, t.steps);
    return t;
}

/* Params of all kinds; block lengths that a block-causal model has no choice of are its own. */
static diffusion_params random_params(const diffusion_model *m, int n_answer) {
    diffusion_params p = diffusion_params_default();
    if (!m->attention_block) p.block_length = random_below(2) ? 0 : 1 + random_below(n_answer);
    p.steps = random_below(3) ? n_answer / 2 + 2 + random_below(n_answer) : -1;
    const int blocks = p.block_length > 0 ? n_answer / p.block_length + 2 : 5;
    if (p.steps >= 0 && p.steps < blocks) p.steps = blocks;
    p.eps = random_below(2) ? 0 : .001f;
    if (random_below(3) == 0) p.temperature = .2f + (float)test_uniform(&seed);
    if (random_below(4) == 0) p.guidance = .5f + (float)test_uniform(&seed);
    if (m->dream && random_below(3) == 0) p.top_p = (float)test_uniform(&seed);
    if (m->dream && random_below(3) == 0) p.top_k = 1 + random_below(40);
    p.seed = test_random(&seed);
    return p;
}

static void writes_what_the_reference_writes(void **state) {
    (void)state;
    const char *path;
    for (int i = 0; (path = model_path(i)) != NULL; i++)
        for (int fast = 0; fast < 2; fast++) {
            reference_network r;
            network_open(&r, path, fast, pool);
            for (int rule = 0; rule < DIFFUSION_REMASKINGS; rule++)
                for (size_t round = 0; round < test_rounds(16); round++) {
                    int32_t prompt[64];
                    const int n_prompt = 1 + random_below(60), n_answer = 1 + random_below(48);
                    random_prompt(prompt, n_prompt, r.info->n_vocab);
                    diffusion_params p = random_params(&r.d, n_answer);
                    p.remasking = rule;
                    p.kv = DIFFUSION_KV_OFF;
                    compare(&r, p, prompt, n_prompt, n_answer, path);
                }
            network_close(&r);
        }
}

static void keeps_kv_as_the_papers_do(void **state) {
    (void)state;
    const char *path;
    for (int i = 0; (path = model_path(i)) != NULL; i++) {
        reference_network r;
        network_open(&r, path, i % 2, pool);
        for (int kv = DIFFUSION_KV_PROMPT; kv < DIFFUSION_KVS; kv++)
            for (size_t round = 0; round < test_rounds(24); round++) {
                int32_t prompt[64];
                const int n_prompt = 1 + random_below(60), n_answer = 1 + random_below(48);
                random_prompt(prompt, n_prompt, r.info->n_vocab);
                diffusion_params p = random_params(&r.d, n_answer);
                p.remasking = random_below(DIFFUSION_REMASKINGS);
                p.kv = kv;
                p.refresh = random_below(2) ? 0 : 1 + random_below(4);
                compare(&r, p, prompt, n_prompt, n_answer, path);
            }
        network_close(&r);
    }
}

static void unmasks_all_that_it_is_sure_of(void **state) {
    (void)state;
    for (int i = 0; i < TINY; i++) {
        reference_network r;
        network_open(&r, tiny[i], false, pool);
        int fewer = 0;
        for (size_t round = 0; round < test_rounds(16); round++) {
            int32_t prompt[40];
            random_prompt(prompt, 40, V);
            diffusion_params p = diffusion_params_default();
            p.remasking = DIFFUSION_CONFIDENCE;
            p.threshold = .02f + .3f * (float)test_uniform(&seed);
            if (round % 3 == 1) p.kv = DIFFUSION_KV_DUAL;
            if (round % 4 == 1) p.eps = 0;
            fewer += compare(&r, p, prompt, 40, 40, tiny[i]).passes < 40;
        }
        assert_true(fewer > 0);
        network_close(&r);
    }
}

/* With verify a threshold changes no text, whatever is guessed, and saves passes. */
static void what_is_verified_is_written_step_by_step(void **state) {
    (void)state;
    const char *path;
    for (int i = 0; (path = model_path(i)) != NULL; i++) {
        reference_network r;
        network_open(&r, path, i % 2, pool);
        long passes = 0, steps = 0;
        for (int rule = 0; rule < DIFFUSION_REMASKINGS && r.d.attention_block; rule++)
            for (size_t round = 0; round < test_rounds(24); round++) {
                int32_t prompt[64];
                const int n_prompt = 1 + random_below(60), n_answer = 1 + random_below(48);
                random_prompt(prompt, n_prompt, r.info->n_vocab);
                diffusion_params p = random_params(&r.d, n_answer);
                p.remasking = rule;
                p.verify = 1;
                p.guidance = 0;
                p.threshold = .002f + .1f * (float)test_uniform(&seed);
                tried t = compare(&r, p, prompt, n_prompt, n_answer, path);
                passes += t.passes;
                steps += t.steps;
            }
        if (steps) print_message("# %ld passes for %ld steps\n", passes, steps);
        assert_true(passes < steps || !r.d.attention_block);
        network_close(&r);
    }
}

/* Where a token says nothing about the others every guess comes true: 1 step, then 8 a pass. */
static void takes_few_passes_where_it_is_sure(void **state) {
    (void)state;
    int32_t prompt[32];
    tiny_shape s = tiny_llama;
    s.arch = "llada";
    s.type = QUANT_F32;
    s.alone = true;
    char path[600];
    snprintf(path, sizeof path, "%s/alone.gguf", folder);
    tiny_model_write_blocks(path, &s, BLOCK, &seed);
    reference_network r;
    network_open(&r, path, false, pool);
    random_prompt(prompt, 32, V);
    for (int rule = 0; rule < DIFFUSION_REMASKINGS; rule++) {
        diffusion_params p = diffusion_params_default();
        p.remasking = rule;
        p.verify = 1;
        p.threshold = .001f;
        int fewest = 1 << 20;
        for (int round = 0; round < 40; round++) { /* with any number ahead */
            const tried t = compare(&r, p, prompt, 32, 32, path);
            if (t.passes < fewest) fewest = t.passes;
        }
        /* Of origin a step unmasks as many as its draws say. */
        if (rule == DIFFUSION_ORIGIN)
            assert_true(fewest < 12);
        else
            assert_int_equal(fewest, 2 * (1 + 2));
    }
    network_close(&r);
}

/* One pass over a canvas less than all of it is the point of keeping KV, logits of fewer rows that of
 * knowing what may be unmasked. */
static void computes_what_is_needed_alone(void **state) {
    (void)state;
    reference_network r;
    int32_t prompt[100];
    network_open(&r, tiny[0], false, pool);
    random_prompt(prompt, 100, V);
    diffusion_params p = diffusion_params_default();
    p.block_length = 8;
    p.remasking = DIFFUSION_RANDOM;
    tried t = compare(&r, p, prompt, 100, 32, "off");
    assert_int_equal(t.rows, 32 * 132);
    assert_int_equal(t.logits, 32); /* the order is known before */
    p.remasking = DIFFUSION_CONFIDENCE;
    p.kv = DIFFUSION_KV_DUAL;
    t = compare(&r, p, prompt, 100, 32, "dual");
    assert_int_equal(t.rows, 4 * (132 + 7 * 8));
    assert_int_equal(t.logits, 4 * 36); /* 8 + 7 + ... + 1 a block */
    p.kv = DIFFUSION_KV_PREFIX;
    assert_int_equal(compare(&r, p, prompt, 100, 32, "prefix").rows,
                     4 * 132 + 7 * (32 + 24 + 16 + 8));
    p.kv = DIFFUSION_KV_PROMPT;
    assert_int_equal(compare(&r, p, prompt, 100, 32, "prompt").rows, 132 + 31 * 32);
    p.refresh = 4;
    assert_int_equal(compare(&r, p, prompt, 100, 32, "refresh").rows, 8 * 132 + 24 * 32);
    network_close(&r);
    /* Block-causal: the prompt once; a block's first pass takes the one before it along. */
    network_open(&r, tiny[2], false, pool);
    p = diffusion_params_default();
    t = compare(&r, p, prompt, 100, 44, "block-causal");
    assert_int_equal(t.rows, 112 + 11 * 16 + (16 + 16) + 15 * 16 + (16 + 16) + 15 * 16);
    network_close(&r);
}

/* ---- the passes' ground ------------------------------------------------------------------- */

static void rows_in_part_give_the_bits_of_the_whole(void **state) {
    (void)state;
    for (int i = 0; i < TINY; i++) {
        reference_network r;
        int32_t x[100];
        network_open(&r, tiny[i], i % 2, pool);
        random_prompt(x, 100, V);
        network_pass(&r, 0, x, 0, 100, 100);
        const size_t n = 100 * (size_t)V * sizeof(float);
        float *whole = malloc(n);
        memcpy(whole, r.logits[0], n);
        for (int round = 0; round < 20; round++) {
            const int from = random_below(100), to = from + 1 + random_below(100 - from);
            memset(r.logits[0] + from * V, 0, (size_t)(to - from) * V * sizeof(float));
            network_pass(&r, 0, x, from, to, 100);
            assert_memory_equal(whole, r.logits[0], n);
        }
        free(whole);
        network_close(&r);
    }
}

/* A block-causal pass is the bidirectional network over one block after the other, of the same
 * weights: each sees what came before it and itself. */
static void blocks_see_what_is_before_their_end(void **state) {
    (void)state;
    for (int dream = 0; dream < 2; dream++) {
        reference_network by_blocks, both;
        int32_t x[75];
        random_prompt(x, 75, V);
        network_open(&by_blocks, tiny[2 + dream], false, pool);
        network_open(&both, tiny[dream], false, pool);
        network_pass(&by_blocks, 0, x, 0, 75, 75);
        for (int at = 0; at < 75; at += BLOCK) {
            const int end = at + BLOCK < 75 ? at + BLOCK : 75;
            network_pass(&both, 0, x, at, end, end);
        }
        assert_memory_equal(both.logits[0], by_blocks.logits[0], 75 * V * sizeof(float));
        network_pass(&both, 0, x, 0, 75, 75);
        assert_memory_not_equal(both.logits[0], by_blocks.logits[0], 75 * V * sizeof(float));
        network_close(&by_blocks);
        network_close(&both);
    }
}

static void a_step_refuses_rows_that_cannot_be(void **state) {
    (void)state;
    reference_network r;
    network_open(&r, tiny[0], false, NULL);
    int32_t x[20] = {5};
    float logits[2 * V];
    model_sequence s = {.tokens = x, .n_tokens = 20, .pages = r.table[0], .n_pages = 2};
    s.n_keys = 19; /* below the last row */
    assert_int_equal(model_forward(r.c, r.kv, &s, 1, logits, &err), FO_EINVAL);
    s.n_keys = 33; /* beyond the pages */
    assert_int_equal(model_forward(r.c, r.kv, &s, 1, logits, &err), FO_EINVAL);
    s.n_keys = 32;
    assert_ok(model_forward(r.c, r.kv, &s, 1, logits, &err), &err);
    s.n_keys = -1;
    assert_int_equal(model_forward(r.c, r.kv, &s, 1, logits, &err), FO_EINVAL);
    s.n_keys = 0;
    s.n_logits = 2;
    const int32_t bad[][2] = {{3, 3}, {4, 3}, {-1, 2}, {0, 20}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        s.logit_rows = bad[i];
        assert_int_equal(model_forward(r.c, r.kv, &s, 1, logits, &err), FO_EINVAL);
    }
    s.logit_rows = (const int32_t[]){0, 19};
    assert_ok(model_forward(r.c, r.kv, &s, 1, logits, &err), &err);
    network_close(&r);
}

/* ---- choices ------------------------------------------------------------------------------ */

static void fields_out_of_range_are_named(void **state) {
    (void)state;
    const diffusion_model llada = {.mask = 1}, blocks = {.mask = 1, .attention_block = 16};
    static const struct {
        const char *field;
        diffusion_params p;
        bool blocks;
    } bad[] = {{"diffusion.steps", {.steps = 3, .block_length = 8}, false},
               {"diffusion.steps", {.steps = 1 << 30}, false},
               {"diffusion.block_length", {.block_length = 1 << 30}, false},
               {"diffusion.block_length", {.block_length = 32}, true},
               {"diffusion.remasking", {.remasking = 9}, false},
               {"diffusion.eps", {.eps = 1}, false},
               {"diffusion.guidance", {.guidance = 1e9f}, false},
               {"diffusion.threshold", {.threshold = 1.5f}, false},
               {"diffusion.threshold", {.threshold = .5f, .remasking = DIFFUSION_MARGIN}, false},
               {"diffusion.kv", {.kv = 4}, false},
               {"diffusion.verify", {.verify = 1, .threshold = .9f, .kv = 2}, false},
               {"diffusion.verify",
                {.verify = 1, .threshold = .9f, .kv = 2, .guidance = 1, .block_length = 16},
                true},
               {"diffusion.verify", {.verify = 1, .threshold = .9f, .block_length = 16}, true},
               {"diffusion.verify", {.verify = 1, .kv = 2, .block_length = 16}, true},
               {"diffusion.refresh", {.refresh = 1 << 30}, false},
               {"temperature", {.temperature = -1}, false},
               {"temperature", {.temperature = NAN}, false}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        diffusion_params p = bad[i].p;
        assert_int_equal(diffusion_params_resolve(&p, bad[i].blocks ? &blocks : &llada, 64, &err),
                         FO_EINVAL);
        assert_string_equal(err.field, bad[i].field);
    }
    int x;
    assert_int_equal(diffusion_remasking_from_name("luck", &x, &err), FO_EINVAL);
    assert_string_equal(err.field, "diffusion.remasking");
    assert_int_equal(diffusion_kv_from_name("some", &x, &err), FO_EINVAL);
    assert_string_equal(err.field, "diffusion.kv");
    for (int i = 0; i < DIFFUSION_REMASKINGS; i++) {
        assert_ok(diffusion_remasking_from_name(diffusion_remasking_name(i), &x, &err), &err);
        assert_int_equal(x, i);
    }
    for (int i = 0; i < DIFFUSION_KVS; i++) {
        assert_ok(diffusion_kv_from_name(diffusion_kv_name(i), &x, &err), &err);
        assert_int_equal(x, i);
    }
}

/* The engine plans while others wait for it: neither a million steps, of which most unmask nothing, nor a step that
 * unmasks tens of thousands of places may take it seconds. */
static void long_schedules_are_planned_at_once(void **state) {
    (void)state;
    enum { PLACES = 60000, ROUNDS = 3 };
    static const int remaskings[] = {DIFFUSION_ENTROPY, DIFFUSION_RANDOM, DIFFUSION_ORIGIN};
    const int32_t prompt[] = {5};
    const diffusion_model m = {.mask = 2};
    float logits[V];
    for (size_t i = 0; i < sizeof remaskings / sizeof *remaskings; i++) {
        denoiser *d;
        diffusion_params p = {.steps = 1 << 20,
                              .remasking = remaskings[i],
                              .eps = remaskings[i] == DIFFUSION_ENTROPY ? .001f : 0,
                              .seed = 7};
        assert_ok(denoiser_create(&d, &p, &m, V, prompt, 1, PLACES, &err), &err);
        const clock_t began = clock();
        int unmasked = 0;
        for (int round = 0; round < ROUNDS; round++) {
            const denoise_pass *pass = denoiser_plan(d);
            for (int k = 0; k < pass->n_asked; k++) {
                for (int t = 0; t < V; t++) logits[t] = (float)((t * 7 + k) % 31);
                denoiser_take(d, k, logits, NULL);
            }
            unmasked += denoiser_commit(d);
        }
        const double s = (double)(clock() - began) / CLOCKS_PER_SEC;
        print_message("# %s: %d places of %d in %d passes, %.2f s\n",
                      diffusion_remasking_name(remaskings[i]), unmasked, PLACES, ROUNDS, s);
        assert_true(unmasked >= ROUNDS);
        if (s > 15) fail_msg("%.1f s for %d passes", s, ROUNDS);
        denoiser_free(d);
    }
    denoiser *d;
    diffusion_params one = {.steps = 1, .remasking = DIFFUSION_CONFIDENCE};
    assert_ok(denoiser_create(&d, &one, &m, V, prompt, 1, PLACES, &err), &err);
    denoiser_plan(d);
    for (int k = 0; k < PLACES; k++) {
        for (int t = 0; t < V; t++) logits[t] = (float)((t * 5 + k) % 29);
        denoiser_take(d, k, logits, NULL);
    }
    const clock_t began = clock();
    assert_int_equal(denoiser_commit(d), PLACES);
    const double s = (double)(clock() - began) / CLOCKS_PER_SEC;
    if (s > 1) fail_msg("%d places at once took %.2f s", PLACES, s);
    assert_null(denoiser_plan(d));
    denoiser_free(d);
}

static void defaults_are_the_models_own(void **state) {
    (void)state;
    diffusion_params p = diffusion_params_default();
    const diffusion_model llada = {.own = p};
    assert_ok(diffusion_params_resolve(&p, &llada, 100, &err), &err);
    assert_int_equal(p.steps, 100);
    assert_int_equal(p.block_length, 32);
    assert_int_equal(p.remasking, DIFFUSION_CONFIDENCE);
    assert_true(p.eps == 0 && p.threshold == 0 && p.guidance == 0);
    assert_int_equal(p.kv, DIFFUSION_KV_OFF);
    assert_string_equal(diffusion_kv_note(&p, &llada), "");
    p.kv = DIFFUSION_KV_DUAL;
    assert_non_null(strstr(diffusion_kv_note(&p, &llada), "approximate"));
    p = diffusion_params_default();
    const diffusion_model dream = {.dream = true, .shift = true, .own = llada.own};
    assert_ok(diffusion_params_resolve(&p, &dream, 100, &err), &err);
    assert_int_equal(p.block_length, 0);
    assert_int_equal(p.remasking, DIFFUSION_ENTROPY);
    assert_true(p.eps > .0009f && p.eps < .0011f);
    p = diffusion_params_default();
    const diffusion_model blocks = {.attention_block = 16, .own = llada.own};
    assert_ok(diffusion_params_resolve(&p, &blocks, 2, &err), &err);
    assert_int_equal(p.block_length, 16);
    assert_int_equal(p.kv, DIFFUSION_KV_PREFIX);
    assert_string_equal(diffusion_kv_note(&p, &blocks), "");
    assert_true(p.threshold == 0 && p.verify == 0);
    p = diffusion_params_default();
    p.verify = 1;
    p.remasking = DIFFUSION_MARGIN;
    assert_ok(diffusion_params_resolve(&p, &blocks, 2, &err), &err);
    assert_true(p.threshold > .899f && p.threshold < .901f);
}

int main(void) {
    seed = test_seed();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_what_the_reference_writes),
        cmocka_unit_test(keeps_kv_as_the_papers_do),
        cmocka_unit_test(unmasks_all_that_it_is_sure_of),
        cmocka_unit_test(what_is_verified_is_written_step_by_step),
        cmocka_unit_test(takes_few_passes_where_it_is_sure),
        cmocka_unit_test(computes_what_is_needed_alone),
        cmocka_unit_test(rows_in_part_give_the_bits_of_the_whole),
        cmocka_unit_test(blocks_see_what_is_before_their_end),
        cmocka_unit_test(a_step_refuses_rows_that_cannot_be),
        cmocka_unit_test(fields_out_of_range_are_named),
        cmocka_unit_test(long_schedules_are_planned_at_once),
        cmocka_unit_test(defaults_are_the_models_own),
    };
    return cmocka_run_group_tests(tests, open_folder, remove_folder);
}
