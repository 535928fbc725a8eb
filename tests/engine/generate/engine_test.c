/* engine_test.c - requests through the running engine, on a small random model written here (and on
 * stories260K where the shared folder is): the same tokens in any company, KV computed once, every
 * way to end, nothing leaked. */
#include "tests/test.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <pthread.h>

#include "kernels/clock.h"
#include "kernels/file.h"
#include "tests/engine/generate/engine_fixture.h"

/* ---- the same tokens in any company -------------------------------------------------------- */

enum { PROMPTS = 12, ANSWER = 24 };
static int32_t prompts[PROMPTS][220];
static size_t prompt_lengths[PROMPTS];
static result wanted[PROMPTS];

/* Prompts of these lengths, or of all lengths; the second half shares beginnings with the first. */
static void make_prompts(const size_t *lengths) {
    for (int i = 0; i < PROMPTS; i++) {
        size_t n = lengths ? lengths[i] : i == 0 ? 1 : 1 + test_random(&seed) % 220;
        prompt_lengths[i] = n;
        random_tokens(prompts[i], n);
        if (i < PROMPTS / 2) continue;
        size_t common = prompt_lengths[i - PROMPTS / 2];
        if (common > n) common = n;
        memcpy(prompts[i], prompts[i - PROMPTS / 2], common * sizeof **prompts);
    }
}

/* The oracle: model.h in a loop, everything computed afresh for every token. */
static void plain_greedy(bool exact) {
    model *m;
    model_context *c;
    kv_pages *kv;
    kv_layout l;
    assert_ok(model_open(&m, path, &(model_options){.fast = !exact}, &err), &err);
    assert_ok(model_context_create(&c, m, &(model_limits){256, 1}, &err), &err);
    assert_ok(model_kv_layout(m, 256, KV_BF16, &l, &err), &err);
    assert_ok(kv_pages_create(&kv, &l, 1, &err), &err);
    for (int i = 0; i < PROMPTS; i++) {
        int32_t tokens[256], table[1] = {0};
        static float logits[V];
        int n = (int)prompt_lengths[i];
        memcpy(tokens, prompts[i], (size_t)n * sizeof *tokens);
        wanted[i].n = ANSWER;
        for (int k = 0; k < ANSWER; k++) {
            model_sequence s = {
                .tokens = tokens, .n_tokens = n, .pages = table, .n_pages = 1, .n_logits = 1};
            assert_ok(model_forward(c, kv, &s, 1, logits, &err), &err);
            int best = 0;
            for (int v = 1; v < V; v++)
                if (logits[v] > logits[best]) best = v;
            wanted[i].tokens[k] = tokens[n++] = best;
        }
    }
    model_context_free(c);
    kv_pages_free(kv);
    model_close(m);
}

static void one_after_the_other(engine *e, const char *what) {
    for (int i = 0; i < PROMPTS; i++) {
        generation_request r = request(prompts[i], prompt_lengths[i], ANSWER);
        result got;
        run(e, &r, &got);
        assert_string_equal(got.ev.finish_reason, "length");
        same_tokens(&wanted[i], &got, what);
    }
}

static void all_at_once(engine *e, const char *what) {
    generation *g[PROMPTS];
    for (int i = 0; i < PROMPTS; i++) {
        generation_request r = request(prompts[i], prompt_lengths[i], ANSWER);
        r.priority = i; /* who comes later may take the pages of who came before */
        g[i] = submit(e, &r);
    }
    for (int i = 0; i < PROMPTS; i++) {
        result got;
        finish(g[i], &got);
        same_tokens(&wanted[i], &got, what);
    }
}

static void writes_what_a_plain_loop_writes_in_any_company(void **state) {
    (void)state;
    make_prompts(NULL);
    static const struct {
        int batch, page, threads, sequences;
    } shapes[] = {{512, 16, 1, 8}, {1, 16, 1, 4},  {2, 32, 2, 8},  {3, 16, 2, 3},
                  {7, 48, 1, 8},   {16, 16, 3, 8}, {64, 64, 2, 8}, {33, 16, 1, 12}};
    for (int exact = 0; exact < 2; exact++) {
        plain_greedy(exact);
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
            if (exact && i % 3) continue;
            char what[80];
            snprintf(what, sizeof what, "batch %d, page %d, threads %d, sequences %d",
                     shapes[i].batch, shapes[i].page, shapes[i].threads, shapes[i].sequences);
            engine *e = open_engine((engine_options){.exact = exact,
                                                     .max_batch_tokens = shapes[i].batch,
                                                     .kv_page_tokens = shapes[i].page,
                                                     .n_threads = shapes[i].threads,
                                                     .max_sequences = shapes[i].sequences});
            all_at_once(e, what);
            all_at_once(e, what); /* everything known by now */
            engine_stats st;
            engine_get_stats(e, &st);
            assert_true(st.kv.hit_tokens > 500);
            close_engine(e);
            if (i) continue;
            e = open_engine((engine_options){.exact = exact});
            one_after_the_other(e, "alone");
            close_engine(e);
        }
    }
}

static void writes_the_same_when_pages_run_out(void **state) {
    (void)state;
    /* Long ones of low priority first: whatever the seed, those behind them need their pages. */
    static const size_t lengths[PROMPTS] = {220, 200, 1, 150, 90, 64, 200, 170, 16, 220, 33, 128};
    make_prompts(lengths);
    plain_greedy(false);
    /* 17 pages of 16 tokens: one prompt of 220 and its answer, and little else. */
    engine *e = open_engine((engine_options){.kv_ram = 17 * 8192, .max_batch_tokens = 32});
    engine_stats st;
    engine_get_stats(e, &st);
    assert_true(st.kv.n_pages >= 16 && st.kv.n_pages < 24);
    /* On a busy machine one may end before the next is handed in. */
    for (int i = 0; i < 50 && (i < 3 || st.preemptions == 0); i++) {
        all_at_once(e, "few pages");
        engine_get_stats(e, &st);
    }
    assert_true(st.preemptions > 0);
    assert_true(st.kv.evictions > 0);
    close_engine(e);
}

static void a_seed_gives_one_text_in_any_batch(void **state) {
    (void)state;
    make_prompts(NULL);
    engine *e = open_engine((engine_options){0});
    result alone, other, got;
    generation_request r = request(prompts[3], prompt_lengths[3], ANSWER);
    r.sampling.temperature = 1;
    r.sampling.top_p = .95f;
    r.sampling.seed = 42;
    run(e, &r, &alone);
    r.sampling.seed = 43;
    run(e, &r, &other);
    assert_true(memcmp(alone.tokens, other.tokens, sizeof alone.tokens) != 0);
    generation *g[8];
    for (int i = 0; i < 8; i++) {
        generation_request q = request(prompts[i], prompt_lengths[i], ANSWER);
        q.sampling = r.sampling;
        q.sampling.seed = i == 3 ? 42 : (uint64_t)i;
        g[i] = submit(e, &q);
    }
    for (int i = 0; i < 8; i++) {
        finish(g[i], &got);
        if (i == 3) same_tokens(&alone, &got, "seed 42 in a batch of 8");
    }
    close_engine(e);
}

/* ---- KV is computed once ------------------------------------------------------------------- */

static void users_at_the_same_time_share_one_prefill(void **state) {
    (void)state;
    engine *e = open_engine((engine_options){.max_batch_tokens = 32});
    int32_t p[4][330];
    random_tokens(p[0], 330);
    generation *g[4];
    for (int i = 0; i < 4; i++) {
        memcpy(p[i], p[0], 320 * sizeof **p);
        if (i) random_tokens(p[i] + 320, 10);
        generation_request r = request(p[i], 330, 8);
        g[i] = submit(e, &r);
    }
    size_t cached = 0;
    for (int i = 0; i < 4; i++) {
        result got;
        finish(g[i], &got);
        cached += got.ev.cached_tokens;
    }
    assert_int_equal(cached, 3 * 320);
    engine_stats st;
    engine_get_stats(e, &st);
    assert_int_equal(st.prefill_tokens, 320 + 4 * 10);
    assert_int_equal(st.decode_tokens, 4 * 8);
    close_engine(e);
}

static void a_second_user_attaches_while_the_first_still_writes(void **state) {
    (void)state;
    engine *e = open_engine((engine_options){0});
    int32_t p[300];
    random_tokens(p, 300);
    generation_request r = request(p, 300, 200), q = request(p, 300, 4);
    generation *first = submit(e, &r);
    generation_event ev;
    generation_next(first, -1, &ev, NULL); /* it writes now */
    int32_t other[300];
    memcpy(other, p, sizeof p);
    random_tokens(other + 290, 10);
    q.prompt = other;
    result got;
    run(e, &q, &got);
    assert_true(got.ev.cached_tokens >= 288);
    engine_stats st;
    engine_get_stats(e, &st);
    assert_true(st.prefill_tokens <= 300 + 12);
    finish(first, &got);
    assert_int_equal(got.n, 200);
    close_engine(e);
}

static void a_prefilled_context_is_met_again(void **state) {
    (void)state;
    engine *e = open_engine((engine_options){0});
    int32_t p[200];
    random_tokens(p, 200);
    generation_request r = request(p, 190, 0);
    r.prefill_only = true;
    result got;
    assert_int_equal(engine_probe(e, r.salt, p, 200), 0);
    run(e, &r, &got);
    assert_int_equal(got.n, 0);
    assert_string_equal(got.ev.finish_reason, "stop");
    assert_int_equal(got.ev.error, 0);
    assert_true(engine_probe(e, r.salt, p, 200) >= 176);
    r = request(p, 200, 4);
    run(e, &r, &got);
    assert_true(got.ev.cached_tokens >= 176);
    close_engine(e);
}

static void kv_is_kept_to_its_tenant_and_dropped_when_asked(void **state) {
    (void)state;
    engine *e = open_engine((engine_options){0});
    int32_t p[200];
    random_tokens(p, 200);
    generation_request r = request(p, 200, 4);
    result got;
    engine_stats st;
    r.drop_kv = true;
    r.expected_uses = 3; /* asked for or not */
    run(e, &r, &got);
    engine_get_stats(e, &st);
    assert_int_equal(st.kv.n_cached, 0);
    r.drop_kv = false;
    r.kv_reuse = KV_REUSE_OFF;
    run(e, &r, &got);
    run(e, &r, &got);
    assert_int_equal(got.ev.cached_tokens, 0);
    engine_get_stats(e, &st);
    assert_int_equal(st.kv.n_cached, 0);
    r.kv_reuse = KV_REUSE_EXACT;
    run(e, &r, &got);
    assert_int_equal(got.ev.cached_tokens, 0);
    r.salt[5] = 1; /* somebody else */
    assert_int_equal(engine_probe(e, r.salt, p, 200), 0);
    run(e, &r, &got);
    assert_int_equal(got.ev.cached_tokens, 0);
    run(e, &r, &got);
    assert_true(got.ev.cached_tokens >= 192);
    close_engine(e);
}

/* ---- ends ---------------------------------------------------------------------------------- */

static void a_request_can_be_cancelled_at_any_step(void **state) {
    (void)state;
    engine *e = open_engine((engine_options){.max_batch_tokens = 16, .max_sequences = 3});
    int n_cancelled = 0;
    for (int round = 0; round < 60; round++) {
        generation *g[5];
        int32_t p[5][200];
        for (int i = 0; i < 5; i++) {
            random_tokens(p[i], 200);
            generation_request r = request(p[i], 1 + test_random(&seed) % 200, 30);
            g[i] = submit(e, &r);
        }
        usleep((useconds_t)(test_random(&seed) % 3000));
        for (int i = 0; i < 5; i++) {
            result got;
            if (i % 2) {
                generation_free(g[i]); /* the shortest way */
                continue;
            }
            generation_cancel(g[i]);
            finish(g[i], &got);
            if (got.ev.error == FO_ECANCELLED) {
                assert_string_equal(got.ev.finish_reason, "cancelled");
                n_cancelled++;
            } else
                assert_string_equal(got.ev.finish_reason, "length");
        }
        assert_ok(engine_check(e, &err), &err);
    }
    assert_true(n_cancelled > 10);
    close_engine(e);
}

static void a_deadline_ends_what_is_late(void **state) {
    (void)state;
    engine *e = open_engine((engine_options){.max_batch_tokens = 1, .max_sequences = 1});
    int32_t p[300];
    random_tokens(p, 300);
    generation_request r = request(p, 300, 200);
    r.deadline_ms = 1;
    result got, waiting;
    generation *g = submit(e, &r), *second = submit(e, &r);
    finish(g, &got);
    finish(second, &waiting);
    assert_string_equal(got.ev.finish_reason, "timeout");
    assert_int_equal(got.ev.error, FO_ETIMEOUT);
    assert_string_equal(waiting.ev.finish_reason, "timeout");
    close_engine(e);
}

static void stop_strings_end_the_text_before_them(void **state) {
    (void)state;
    engine *e = open_engine((engine_options){0});
    int32_t p[5];
    random_tokens(p, 5);
    generation_request r = request(p, 5, 60);
    r.sampling.temperature = 1.5f; /* a text that does not repeat itself */
    r.sampling.seed = 9;
    result whole, got;
    run(e, &r, &whole);
    size_t len = strlen(whole.text);
    assert_true(len > 40);
    int met = 0;
    for (size_t at = 1; at + 5 < len; at += 7) {
        char stop[6] = {0};
        memcpy(stop, whole.text + at, 1 + at % 5);
        if ((stop[0] & 0xC0) == 0x80) continue;
        const char *stops[] = {"\x01never", stop};
        r.stop = stops;
        r.n_stop = 2;
        run(e, &r, &got);
        const char *first = strstr(whole.text, stop);
        assert_non_null(first);
        assert_string_equal(got.ev.finish_reason, "stop_sequence");
        assert_int_equal(got.ev.stop_index, 1);
        assert_int_equal(strlen(got.text), first - whole.text);
        assert_memory_equal(got.text, whole.text, strlen(got.text));
        met++;
    }
    assert_true(met > 4);
    close_engine(e);
}

static void the_end_token_ends_the_text_unless_ignored(void **state) {
    (void)state;
    engine *e = open_engine((engine_options){0});
    int32_t p[5];
    random_tokens(p, 5);
    sampler_bias bias = {2, 1000};
    generation_request r = request(p, 5, 10);
    r.sampling.bias = &bias;
    r.sampling.n_bias = 1;
    r.ignore_end = false;
    result got;
    run(e, &r, &got);
    assert_string_equal(got.ev.finish_reason, "stop");
    assert_int_equal(got.n, 0);
    assert_int_equal(got.ev.error, 0);
    r.ignore_end = true;
    run(e, &r, &got);
    assert_string_equal(got.ev.finish_reason, "length");
    assert_int_equal(got.n, 10);
    close_engine(e);
}

static void logprobs_are_those_of_the_logits(void **state) {
    (void)state;
    engine *e = open_engine((engine_options){0});
    int32_t p[20];
    random_tokens(p, 20);
    generation_request r = request(p, 20, 10);
    r.n_logprobs = GENERATION_LOGPROBS;
    generation *g = submit(e, &r);
    generation_event ev;
    do generation_next(g, -1, &ev, NULL);
    while (!ev.done);
    size_t n;
    const generation_token *t = generation_tokens(g, &n);
    assert_int_equal(n, 10);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(t[i].n_top, GENERATION_LOGPROBS);
        assert_int_equal(t[i].top[0].token, t[i].token); /* greedy */
        assert_true(t[i].top[0].logprob == t[i].logprob);
        double sum = 0;
        for (int k = 0; k < t[i].n_top; k++) {
            sum += exp((double)t[i].top[k].logprob);
            if (k) assert_true(t[i].top[k].logprob <= t[i].top[k - 1].logprob);
        }
        assert_true(sum > 0 && sum < 1.0001);
    }
    generation_free(g);
    close_engine(e);
}

/* Markers in a text that name something else than 1 .. max. */
static int bad_markers(const char *s, int max) {
    int bad = 0;
    for (; *s; s++)
        if (*s == '[' && s[1] >= '0' && s[1] <= '9') {
            long n = strtol(s + 1, NULL, 10);
            bad += n < 1 || n > max;
        }
    return bad;
}

static void markers_name_only_what_was_given(void **state) {
    (void)state;
    engine *e = open_engine((engine_options){0});
    int32_t p[5];
    random_tokens(p, 5);
    sampler_bias bias[13];
    const char *liked = "[]0123456789";
    for (int i = 0; liked[i]; i++)
        bias[i] = (sampler_bias){tokenizer_find(engine_tokenizer(e), &liked[i], 1), 9};
    int free_bad = 0, bad = 0, markers = 0;
    for (uint64_t s = 0; s < 10; s++) {
        generation_request r = request(p, 5, 100);
        r.sampling.temperature = 1.5f;
        r.sampling.seed = s;
        r.sampling.bias = bias;
        r.sampling.n_bias = strlen(liked);
        result got;
        run(e, &r, &got);
        free_bad += bad_markers(got.text, 12);
        r.max_marker = 12;
        run(e, &r, &got);
        bad += bad_markers(got.text, 12);
        for (const char *c = got.text; *c; c++) markers += *c == '[' && c[1] >= '1' && c[1] <= '9';
    }
    assert_true(free_bad > 10); /* the model would have */
    assert_int_equal(bad, 0);
    assert_true(markers > 10);
    close_engine(e);
}

/* ---- what is refused ----------------------------------------------------------------------- */

static void refused(engine *e, const generation_request *r, int code, const char *sentence) {
    generation *g = NULL;
    fo_err why = {0};
    assert_int_equal(engine_submit(e, r, &g, NULL, &why), code);
    assert_null(g);
    if (!strstr(why.msg, sentence)) fail_msg("'%s' does not say '%s'", why.msg, sentence);
}

static void says_why_a_request_cannot_be_served(void **state) {
    (void)state;
    engine *e = open_engine((engine_options){.kv_ram = 17 * 8192});
    int32_t p[600] = {0};
    generation_request r = request(p, 0, 5);
    refused(e, &r, FO_EINVAL, "the prompt is empty");
    r = request(p, 600, 5);
    refused(e, &r, FO_ELIMIT, "prompt (600 tokens) and answer (5) do not fit the model's window");
    r = request(p, 10, 503);
    refused(e, &r, FO_ELIMIT, "window of 512");
    r = request(p, 400, 100);
    refused(e, &r, FO_ELIMIT, "raise --kv-ram");
    r = request(p, 10, SIZE_MAX);
    refused(e, &r, FO_ELIMIT, "window");
    r = request(p, 10, 0);
    refused(e, &r, FO_EINVAL, "max_tokens must be at least 1");
    int32_t bad[2] = {5, V};
    r = request(bad, 2, 5);
    refused(e, &r, FO_EINVAL, "token 1 of the prompt is 200");
    r = request(p, 10, 5);
    r.priority = 101;
    refused(e, &r, FO_EINVAL, "priority must be between");
    r = request(p, 10, 5);
    r.n_logprobs = 21;
    refused(e, &r, FO_EINVAL, "at most 20 logprobs");
    r = request(p, 10, 5);
    r.sampling.temperature = -1;
    refused(e, &r, FO_EINVAL, "temperature");
    r = request(p, 10, 5);
    r.stop = (const char *const[]){""};
    r.n_stop = 1;
    refused(e, &r, FO_EINVAL, "empty string");
    char longer[1026] = {0};
    memset(longer, 'x', sizeof longer - 1);
    r.stop = (const char *const[]){longer};
    refused(e, &r, FO_EINVAL, "more than 1024 bytes");
    r = request(p, 10, 5);
    r.max_marker = 10000;
    refused(e, &r, FO_EINVAL, "max_marker");
    close_engine(e);
}

static void refuses_models_that_cannot_write_or_fit(void **state) {
    (void)state;
    engine *e = NULL;
    fo_err why = {0};
    assert_true(engine_open(&e, &(engine_options){.model = "/nonexistent.gguf"}, &why) != FO_OK);
    assert_int_equal(
        engine_open(&e, &(engine_options){.model = path, .kv_ram = (uint64_t)1 << 50}, &why),
        FO_ENOMEM);
    assert_non_null(strstr(why.msg, "MiB of KV cache"));
    assert_int_equal(engine_open(&e, &(engine_options){.model = path, .kv_ram = 100}, &why),
                     FO_EINVAL);
    assert_non_null(strstr(why.msg, "--kv-ram"));
    assert_int_equal(engine_open(&e, &(engine_options){.model = path, .kv_page_tokens = 17}, &why),
                     FO_EINVAL);
    char other[600];
    snprintf(other, sizeof other, "%s/bert.gguf", folder);
    tiny_shape bert = {.arch = "bert",
                       .type = QUANT_F32,
                       .d = 64,
                       .layers = 1,
                       .heads = 4,
                       .kv_heads = 4,
                       .head_dim = 16,
                       .ff = 96,
                       .vocab = V};
    tiny_model_write(other, &bert, &seed);
    assert_int_equal(engine_open(&e, &(engine_options){.model = other}, &why), FO_EUNSUPPORTED);
    assert_non_null(strstr(why.msg, "it embeds, it does not write"));
    assert_null(e);
}

static void admission_says_when_to_come_again(void **state) {
    (void)state;
    engine *e = open_engine((engine_options){.max_qps = 2});
    int32_t p[4] = {5, 6, 7, 8};
    generation_request r = request(p, 4, 3);
    generation *g;
    int64_t wait = 0;
    fo_err why = {0};
    int rc = FO_OK; /* a busy machine may take more than the second between two of them */
    for (int i = 0; i < 50 && !rc; i++) {
        rc = engine_submit(e, &r, &g, &wait, &why);
        if (!rc) generation_free(g);
        assert_true(!rc || i >= 2);
    }
    assert_int_equal(rc, FO_EBUSY);
    assert_true(wait > 0 && wait <= 1000);
    assert_non_null(strstr(why.msg, "2 queries a second"));
    engine_stats st;
    engine_get_stats(e, &st);
    assert_int_equal(st.refused, 1);
    close_engine(e);
    e = open_engine((engine_options){.max_sequences = 1, .max_waiting = 2, .max_batch_tokens = 1});
    generation *many[8];
    int32_t longer[200];
    random_tokens(longer, 200);
    r = request(longer, 200, 100);
    int n = 0, busy = 0;
    for (int i = 0; i < 8; i++) {
        rc = engine_submit(e, &r, &many[n], &wait, &why);
        if (!rc)
            n++;
        else {
            assert_int_equal(rc, FO_EBUSY);
            assert_int_equal(wait, 1000);
            busy++;
        }
    }
    assert_int_equal(n, 3); /* one in work, two waiting */
    assert_int_equal(busy, 5);
    for (int i = 0; i < n; i++) generation_free(many[i]);
    close_engine(e);
}

static void what_works_in_the_background_takes_nothing_of_the_quota(void **state) {
    (void)state;
    engine *e = open_engine((engine_options){.max_qps = 2});
    int32_t p[16];
    for (int i = 0; i < 10; i++) {
        random_tokens(p, 16);
        generation_request r = request(p, 16, 1);
        r.background = r.prefill_only = true;
        generation *g = NULL;
        fo_err why = {0};
        assert_ok(engine_submit(e, &r, &g, NULL, &why), &why);
        generation_free(g);
    }
    generation_request r = request(p, 16, 3);
    result got;
    run(e, &r, &got);
    assert_int_equal(got.ev.error, FO_OK);
    assert_int_equal(got.n, 3);
    close_engine(e);
}

static void says_so_where_nothing_may_be_written_any_more(void **state) {
    (void)state;
    cJSON *root = cJSON_Parse("{\"const\": true}");
    json_schema *schema = NULL;
    assert_ok(json_schema_compile(&schema, root, &err), &err);
    cJSON_Delete(root);
    engine *e = open_engine((engine_options){0});
    const sampler_bias ban = {tokenizer_find(engine_tokenizer(e), "t", 1),
                              -INFINITY}; /* all that begins `true` */
    assert_true(ban.token > 2);
    int32_t p[4] = {5, 6, 7, 8};
    generation_request r = request(p, 4, 20);
    r.ignore_end = false;
    r.rule.schema = schema;
    r.sampling.bias = &ban;
    r.sampling.n_bias = 1;
    for (int temperature = 0; temperature < 2; temperature++) {
        r.sampling.temperature = (float)temperature;
        result got;
        run(e, &r, &got);
        assert_int_equal(got.ev.error, FO_EUNSUPPORTED);
        assert_string_equal(got.ev.finish_reason, "error");
        assert_non_null(strstr(got.ev.message, "vocabulary cannot write"));
    }
    close_engine(e);
    json_schema_free(schema);
}

/* Weights that were damaged on their way, say: no text of the first token of the vocabulary, over and over. */
static void says_so_where_the_model_gives_no_numbers(void **state) {
    (void)state;
    char broken[600], *bytes;
    size_t size;
    gguf *g;
    snprintf(broken, sizeof broken, "%s/broken.gguf", folder);
    assert_ok(fo_file_read(path, 64 << 20, &bytes, &size, &err), &err);
    assert_ok(gguf_open_memory(&g, bytes, size, &err), &err);
    const gguf_tensor *t = gguf_find_tensor(g, "output_norm.weight");
    const float none = NAN;
    assert_int_equal(t->type, QUANT_F32);
    for (size_t i = 0; i < t->n_values; i++)
        memcpy(bytes + ((const char *)t->data - bytes) + i * sizeof none, &none, sizeof none);
    gguf_close(g);
    assert_ok(fo_file_put(broken, bytes, size, &err), &err);
    free(bytes);
    engine *e = open_engine((engine_options){.model = broken, .exact = true});
    int32_t p[4] = {5, 6, 7, 8};
    generation_request r = request(p, 4, 20);
    result got;
    run(e, &r, &got);
    assert_int_equal(got.ev.error, FO_EUNSUPPORTED);
    assert_string_equal(got.ev.finish_reason, "error");
    assert_non_null(strstr(got.ev.message, "gives no token"));
    assert_int_equal(got.n, 0);
    close_engine(e);
}

/* ---- many threads -------------------------------------------------------------------------- */

typedef struct client {
    engine *e;
    uint64_t seed;
    int n_done, n_cancelled, n_wrong;
} client;

static void *client_thread(void *v) {
    client *c = v;
    fo_err why;
    for (int k = 0; k < 6; k++) {
        int i = (int)(test_random(&c->seed) % PROMPTS);
        generation_request r = request(prompts[i], prompt_lengths[i], ANSWER);
        r.priority = (int)(test_random(&c->seed) % 3);
        r.drop_kv = test_random(&c->seed) % 8 == 0;
        r.kv_reuse = test_random(&c->seed) % 8 ? KV_REUSE_EXACT : KV_REUSE_OFF;
        generation *g;
        if (engine_submit(c->e, &r, &g, NULL, &why) != FO_OK) {
            c->n_wrong++;
            continue;
        }
        uint64_t what = test_random(&c->seed) % 4;
        if (what == 0) usleep((useconds_t)(test_random(&c->seed) % 5000));
        if (what <= 1) { /* give up, now or after some tokens */
            generation_event ev;
            if (what == 1) generation_next(g, 20, &ev, NULL);
            generation_free(g);
            c->n_cancelled++;
            continue;
        }
        generation_event ev;
        do {
            generation_next(g, what == 2 ? -1 : 5, &ev, NULL);
            engine_probe(c->e, r.salt, r.prompt, (int)r.n_prompt);
        } while (!ev.done);
        size_t n;
        const generation_token *t = generation_tokens(g, &n);
        c->n_wrong += ev.error != 0 || n != ANSWER;
        for (size_t j = 0; j < n; j++) c->n_wrong += t[j].token != wanted[i].tokens[j];
        c->n_done++;
        generation_free(g);
    }
    return NULL;
}

static void serves_64_threads_that_come_and_go(void **state) {
    (void)state;
    enum { N = 64 };
    make_prompts(NULL);
    plain_greedy(false);
    engine *e = open_engine((engine_options){
        .max_batch_tokens = 64, .n_threads = 2, .kv_ram = 60 * 8192, .batch_wait_us = 100});
    pthread_t threads[N];
    client clients[N];
    for (int i = 0; i < N; i++) {
        clients[i] = (client){.e = e, .seed = test_random(&seed)};
        assert_int_equal(pthread_create(&threads[i], NULL, client_thread, &clients[i]), 0);
    }
    int done = 0, cancelled = 0;
    for (int i = 0; i < N; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(clients[i].n_wrong, 0);
        done += clients[i].n_done;
        cancelled += clients[i].n_cancelled;
    }
    assert_int_equal(done + cancelled, N * 6);
    assert_true(done > 100 && cancelled > 100);
    close_engine(e);
}

/* ---- real models --------------------------------------------------------------------------- */

static void stories260k_tells_the_story_it_is_known_for(void **state) {
    (void)state;
    const char *file = test_shared("models/stories260K.gguf");
    if (!file) skip();
    char model_path[4096];
    snprintf(model_path, sizeof model_path, "%s", file);
    static const char begin[] = "Once upon a time";
    static const char rest[] =
        ", there was a little girl named Lily. She loved to play outside in the park. One day, she "
        "saw a big, red ball. She wanted to play with it, but it was too high.\nLily's mom said, "
        "\"Lily, let's go to the park";
    for (int exact = 0; exact < 2; exact++) {
        engine *e = open_engine((engine_options){.model = model_path, .exact = exact});
        int32_t p[32];
        int64_t n = tokenizer_encode(engine_tokenizer(e), begin, strlen(begin),
                                     TOKENIZER_ADD_SPECIAL, p, 32);
        assert_true(n > 0 && n <= 32);
        generation_request r = request(p, (size_t)n, 100);
        result got;
        run(e, &r, &got);
        /* Int8 rounding turns one close choice, after "high." */
        size_t n_same = exact ? strlen(rest) : (size_t)(strstr(rest, "\nLily's") - rest);
        if (strncmp(got.text, rest, n_same) != 0)
            fail_msg("%s: '%s'", exact ? "exact" : "fast", got.text);
        close_engine(e);
    }
}

int main(void) {
    seed = test_seed();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_what_a_plain_loop_writes_in_any_company),
        cmocka_unit_test(writes_the_same_when_pages_run_out),
        cmocka_unit_test(a_seed_gives_one_text_in_any_batch),
        cmocka_unit_test(users_at_the_same_time_share_one_prefill),
        cmocka_unit_test(a_second_user_attaches_while_the_first_still_writes),
        cmocka_unit_test(a_prefilled_context_is_met_again),
        cmocka_unit_test(kv_is_kept_to_its_tenant_and_dropped_when_asked),
        cmocka_unit_test(a_request_can_be_cancelled_at_any_step),
        cmocka_unit_test(a_deadline_ends_what_is_late),
        cmocka_unit_test(stop_strings_end_the_text_before_them),
        cmocka_unit_test(the_end_token_ends_the_text_unless_ignored),
        cmocka_unit_test(logprobs_are_those_of_the_logits),
        cmocka_unit_test(markers_name_only_what_was_given),
        cmocka_unit_test(says_why_a_request_cannot_be_served),
        cmocka_unit_test(refuses_models_that_cannot_write_or_fit),
        cmocka_unit_test(admission_says_when_to_come_again),
        cmocka_unit_test(what_works_in_the_background_takes_nothing_of_the_quota),
        cmocka_unit_test(says_so_where_nothing_may_be_written_any_more),
        cmocka_unit_test(says_so_where_the_model_gives_no_numbers),
        cmocka_unit_test(serves_64_threads_that_come_and_go),
        cmocka_unit_test(stories260k_tells_the_story_it_is_known_for),
    };
    return cmocka_run_group_tests(tests, open_folder, remove_folder);
}
