/* chunk_test.c - chunks' KV moved and partly computed again, through the engine (below it:
 * chunk_kv_test.c): against computing all of it, on a small random model. With all rows computed
 * again the result is exact, which is the oracle of these tests. */
#include "tests/test.h"

#include "engine/generate/chunk_lead.h"
#include "tests/engine/generate/engine_fixture.h"

static char window_path[512];

enum { ANSWER = 12, CHUNKS = 6 };

static int32_t prefix[30], chunks[CHUNKS][70];
static size_t chunk_lengths[CHUNKS];

static void make_texts(void) {
    random_tokens(prefix, 30);
    for (int i = 0; i < CHUNKS; i++) {
        chunk_lengths[i] = 40 + test_random(&seed) % 30;
        random_tokens(chunks[i], chunk_lengths[i]);
    }
}

/* order: which chunks, "120"; n_tail 0: to warm */
static void make_ask(ask *a, const char *order, const int32_t *tail, size_t n_tail) {
    ask_begin(a, n_tail ? ANSWER : 0, KV_REUSE_CHUNK);
    a->r.prefill_only = n_tail == 0;
    ask_add(a, prefix, 30, PIECE_PREFIX);
    for (; *order; order++)
        ask_add(a, chunks[*order - '0'], chunk_lengths[*order - '0'], PIECE_CHUNK);
    if (n_tail) ask_add(a, tail, n_tail, PIECE_TAIL);
}

/* What computing all of it gives. */
static void run_plain(engine *e, const ask *a, result *out) {
    generation_request r = a->r;
    r.kv_reuse = KV_REUSE_OFF;
    run(e, &r, out);
    assert_int_equal(out->ev.cached_tokens, 0);
}

static void known_chunks_are_met_in_any_order_and_company(void **state) {
    (void)state;
    make_texts();
    engine *e = open_engine((engine_options){0});
    int32_t tail[9];
    random_tokens(tail, 9);
    ask a;
    result want, got;
    make_ask(&a, "012345", NULL, 0);
    run(e, &a.r, &got); /* to warm */
    assert_string_equal(got.ev.finish_reason, "stop");
    static const char *const orders[] = {"10", "210", "0123", "543", "13", "2"};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        make_ask(&a, orders[i], tail, 9);
        run_plain(e, &a, &want);
        run(e, &a.r, &got);
        same_tokens(&got, &want, orders[i]);
        size_t placed = 0;
        for (const char *o = orders[i]; *o; o++) placed += chunk_lengths[*o - '0'];
        /* "0123" is how the prompt that warmed began: attached as it is. */
        if (got.ev.chunk_tokens) {
            size_t attached = got.ev.prefix_tokens - 30;
            assert_int_equal(got.ev.chunk_tokens, placed - attached);
            assert_int_equal(got.ev.recomputed_tokens, got.ev.chunk_tokens);
            assert_string_equal(got.ev.kv_note, "");
        } else {
            assert_int_equal(got.ev.recomputed_tokens, 0);
            assert_true(strlen(got.ev.kv_note) > 0);
        }
        assert_int_equal(got.ev.cached_tokens,
                         got.ev.prefix_tokens + got.ev.chunk_tokens - got.ev.recomputed_tokens);
    }
    engine_stats st;
    engine_get_stats(e, &st);
    assert_true(st.chunk_hits > 0 && st.chunk_lookups >= st.chunk_hits);
    close_engine(e);
}

/* What a warming request finds for a chunk alone, lead included, is not all of its prompt's. */
static void warming_counts_no_more_than_the_prefix_as_cached(void **state) {
    (void)state;
    make_texts();
    engine *e = open_engine((engine_options){0});
    ask a;
    result got;
    make_ask(&a, "01", NULL, 0);
    run(e, &a.r, &got);
    make_ask(&a, "23", NULL, 0);
    run(e, &a.r, &got);
    assert_true(got.ev.cached_tokens > 0 && got.ev.cached_tokens <= 30);
    assert_true(got.ev.prefix_tokens <= 30);
    close_engine(e);
}

/* With a budget the answer may be another, but what it leaves behind is nothing that an exact
 * request could meet. */
static void what_is_not_exact_is_never_attached(void **state) {
    (void)state;
    make_texts();
    engine *e = open_engine((engine_options){0});
    int32_t tail[9];
    random_tokens(tail, 9);
    ask a;
    result want, got;
    make_ask(&a, "0123", NULL, 0);
    run(e, &a.r, &got);
    static const double budgets[] = {-1, .15, .5};
    for (int i = 0; i < 3; i++) {
        make_ask(&a, i == 0 ? "3210" : i == 1 ? "1032" : "2301", tail, 9);
        a.r.kv_chunk_budget = budgets[i];
        run(e, &a.r, &got);
        assert_true(got.ev.chunk_tokens > 0);
        assert_int_equal(got.ev.recomputed_tokens,
                         i ? (size_t)lround(budgets[i] * (double)got.ev.chunk_tokens) : 0);
        result again;
        run(e, &a.r, &again); /* the same KV, the same choice */
        same_tokens(&again, &got, "the same again");
        run_plain(e, &a, &want);
        generation_request r = a.r;
        r.kv_reuse = KV_REUSE_EXACT;
        run(e, &r, &got);
        same_tokens(&got, &want, "exact after chunks");
        assert_true(got.ev.cached_tokens <= 30); /* the prefix, and not a chunk */
    }
    close_engine(e);
}

static size_t n_cached(engine *e) {
    engine_stats st;
    engine_get_stats(e, &st);
    return (size_t)st.kv.n_cached;
}

/* Prefix and lead stand before each chunk that is computed aside; no block of them stays, neither where all was computed nor
 * where the request was called off on the way. What others may find stays. */
static void what_is_to_be_dropped_leaves_no_block(void **state) {
    (void)state;
    make_texts();
    int32_t tail[9];
    random_tokens(tail, 9);
    ask a;
    result got;
    for (int cancelled = 0; cancelled < 8; cancelled++) { /* the later ones after a while */
        engine *e = open_engine((engine_options){0});
        make_ask(&a, "12", NULL, 0);
        a.r.drop_kv = true;
        run(e, &a.r, &got);
        assert_int_equal(n_cached(e), 0);
        make_ask(&a, "021345", tail, 9);
        a.r.drop_kv = true;
        if (cancelled) {
            generation *g = NULL;
            assert_ok(engine_submit(e, &a.r, &g, NULL, &err), &err);
            usleep((useconds_t)(700 * (cancelled - 1)));
            generation_cancel(g);
            finish(g, &got);
        } else {
            run(e, &a.r, &got);
            assert_true(got.ev.chunk_tokens > 0);
        }
        assert_int_equal(n_cached(e), 0);
        make_ask(&a, "021", tail, 9);
        run(e, &a.r, &got);
        a.r.drop_kv = true;
        run(e, &a.r, &got);
        a.r.kv_reuse = KV_REUSE_EXACT;
        run(e, &a.r, &got);
        assert_true(got.ev.cached_tokens >= 16); /* what was kept before still is */
        close_engine(e);
    }
}

static void tenants_share_no_chunk(void **state) {
    (void)state;
    make_texts();
    engine *e = open_engine((engine_options){0});
    int32_t tail[9];
    random_tokens(tail, 9);
    ask a;
    result got;
    engine_stats before, after;
    make_ask(&a, "012", NULL, 0);
    a.r.salt[5] = 1;
    run(e, &a.r, &got);
    make_ask(&a, "210", tail, 9);
    a.r.salt[5] = 2;
    a.r.drop_kv = true; /* and nothing of it is computed in the background */
    engine_get_stats(e, &before);
    run(e, &a.r, &got);
    engine_get_stats(e, &after);
    a.r.drop_kv = false;
    assert_int_equal(got.ev.cached_tokens, 0);
    assert_int_equal(got.ev.chunk_tokens, 0);
    assert_int_equal(after.chunk_hits, before.chunk_hits);
    assert_int_equal(after.kv.hit_tokens, before.kv.hit_tokens);
    a.r.salt[5] = 1;
    run(e, &a.r, &got);
    assert_true(got.ev.chunk_tokens > 0);
    close_engine(e);
}

static void what_was_new_is_known_the_next_time(void **state) {
    (void)state;
    make_texts();
    engine *e = open_engine((engine_options){0});
    int32_t tail[9];
    random_tokens(tail, 9);
    ask a;
    result want, got;
    make_ask(&a, "345", tail, 9);
    run_plain(e, &a, &want);
    run(e, &a.r, &got);
    same_tokens(&got, &want, "new chunks");
    assert_int_equal(got.ev.chunk_tokens, 0);
    wait_idle(e);
    make_ask(&a, "543", tail, 9);
    a.r.kv_chunk_budget = .2;
    run(e, &a.r, &got);
    size_t all = (size_t)(chunk_lengths[3] + chunk_lengths[4] + chunk_lengths[5]);
    assert_true(got.ev.chunk_tokens == all ||
                got.ev.chunk_tokens + got.ev.prefix_tokens == all + 30); /* "5" was attached */
    /* One new among known ones, first and last. */
    make_ask(&a, "2345", tail, 9);
    run_plain(e, &a, &want);
    run(e, &a.r, &got);
    same_tokens(&got, &want, "a new one first");
    make_ask(&a, "3451", tail, 9);
    run_plain(e, &a, &want);
    run(e, &a.r, &got);
    same_tokens(&got, &want, "a new one last");
    close_engine(e);
}

/* A chunk behind its lead is longer than the prompt that it is computed for, and ends as it began:
 * no guess may be made at what follows it. (Steps of three rows: in every third round the last one
 * is a single row, as when somebody writes.) */
static void nothing_is_guessed_behind_a_chunk(void **state) {
    (void)state;
    engine_options o = {.max_batch_tokens = 3, .max_sequences = 1, .row_cost = .01};
    for (int i = 0; i < 6; i++) {
        engine *e = open_engine(o);
        int32_t tail[9];
        ask a;
        result want, got;
        make_texts();
        random_tokens(tail, 9);
        chunk_lengths[0] = 40;
        chunk_lengths[1] = 52 + (size_t)i;
        memcpy(chunks[1] + chunk_lengths[1] - 12, chunks[1], 12 * sizeof **chunks);
        make_ask(&a, "0", NULL, 0);
        run(e, &a.r, &got);
        make_ask(&a, "10", tail, 9); /* one that is known, one to be computed alone */
        run_plain(e, &a, &want);
        make_ask(&a, "01", tail, 9);
        run_plain(e, &a, &want);
        run(e, &a.r, &got);
        same_tokens(&got, &want, "a chunk that ends as it began");
        close_engine(e);
    }
}

/* Requests come all the time: chunks' KV that gave way to them again and again is, bit for bit,
 * what an engine computes that was left alone. */
static void chunks_computed_between_requests_are_the_same(void **state) {
    (void)state;
    engine *quiet = open_engine((engine_options){.n_threads = 2});
    engine *busy = open_engine((engine_options){.n_threads = 2});
    engine_stats st = {0};
    for (int round = 0; round < 8 || (st.gave_way < 8 && round < 2000); round++) {
        ask a;
        result want, got, small;
        int32_t few[9];
        make_texts();
        random_tokens(few, 9);
        make_ask(&a, "0123", NULL, 0);
        a.r.background = a.r.drop_kv = true;
        run(quiet, &a.r, &want);
        generation *g = submit(busy, &a.r);
        generation_event ev;
        do {
            generation_request r = request(few, 1 + test_random(&seed) % 9, 2);
            r.kv_reuse = KV_REUSE_OFF;
            run(busy, &r, &small);
            assert_int_equal(small.ev.error, 0);
            generation_next(g, 0, &ev, NULL);
        } while (!ev.done);
        assert_int_equal(ev.error, 0);
        generation_free(g);
        make_ask(&a, "3021", few, 9);
        a.r.kv_chunk_budget = -1; /* nothing again: the answer is made of the chunks as they are */
        a.r.n_logprobs = 0;
        run(quiet, &a.r, &want);
        run(busy, &a.r, &got);
        assert_true(got.ev.chunk_tokens > 0);
        assert_int_equal(got.ev.chunk_tokens, want.ev.chunk_tokens);
        same_tokens(&got, &want, "chunks that gave way");
        assert_memory_equal(got.logprobs, want.logprobs, got.n * sizeof *got.logprobs);
        engine_get_stats(busy, &st);
    }
    assert_true(st.gave_way > 0);
    engine_get_stats(quiet, &st);
    assert_int_equal(st.gave_way, 0);
    close_engine(quiet);
    close_engine(busy);
}

/* An engine that is never idle does not get to what its requests leave to be computed: the oldest
 * of that is given up, and no request is refused for it. */
static void what_piles_up_in_the_background_is_given_up(void **state) {
    (void)state;
    make_texts();
    for (int i = 0; i < 2; i++) {
        engine *e = open_engine((engine_options){.max_sequences = 2, .max_waiting = i ? 4 : 0});
        int32_t tail[9];
        random_tokens(tail, 9);
        generation_request r = request(tail, 9, 300);
        generation *writes = submit(e, &r);
        for (int k = 0; k < 40; k++) {
            ask a;
            result got;
            generation_event ev;
            engine_stats st;
            make_ask(&a, "01", tail, 9);
            a.r.salt[7] = (unsigned char)(k + 1);
            run(e, &a.r, &got);
            assert_int_equal(got.ev.error, 0);
            engine_get_stats(e, &st);
            assert_true(st.n_waiting + st.n_running <= (i ? 6 : 1 + 32 + 1));
            generation_next(writes, 0, &ev, NULL);
            if (!ev.done) continue;
            generation_free(writes); /* another one before the engine gets through */
            writes = submit(e, &r);
        }
        generation_free(writes);
        close_engine(e);
    }
}

/* The first chunk is too long to have the lead before it in a sequence of this engine, the second
 * is not, and must not notice what was computed before it. */
static void a_chunk_has_the_lead_or_nothing_before_it(void **state) {
    (void)state;
    make_texts();
    chunk_lengths[0] = 69, chunk_lengths[1] = 40;
    const size_t token_bytes = 2 * sizeof(uint16_t) * 32 * 2 * 3;
    engine_options o = {.kv_ram = 208 * token_bytes, .kv_store_ram = 1 << 20};
    engine *both = open_engine(o), *second = open_engine(o);
    int32_t lead[CHUNK_LEAD_TOKENS], tail[9];
    int n_lead = chunk_lead_tokens(engine_tokenizer(both), V, lead);
    assert_int_equal(chunk_lead_of(n_lead, 30, 69, 208), 0);
    assert_int_equal(chunk_lead_of(n_lead, 30, 40, 208), n_lead);
    for (int i = 0; i < 5; i++) {
        ask a;
        result want, got;
        make_ask(&a, "01", NULL, 0);
        a.r.salt[1] = (unsigned char)i;
        run(both, &a.r, &got);
        make_ask(&a, "1", NULL, 0);
        a.r.salt[1] = (unsigned char)i;
        run(second, &a.r, &got);
        random_tokens(tail, 9);
        make_ask(&a, "21", tail, 9);
        a.r.salt[1] = (unsigned char)i;
        a.r.kv_chunk_budget = -1;
        run(both, &a.r, &got);
        run(second, &a.r, &want);
        assert_int_equal(got.ev.chunk_tokens, 40);
        same_tokens(&got, &want, "behind the lead");
    }
    close_engine(both);
    close_engine(second);
}

static void the_lead_is_cut_and_left_out_where_it_does_not_fit(void **state) {
    (void)state;
    engine *e = open_engine((engine_options){0});
    int32_t lead[CHUNK_LEAD_TOKENS], again[CHUNK_LEAD_TOKENS];
    int n = chunk_lead_tokens(engine_tokenizer(e), V, lead);
    assert_true(n > 16 && n <= CHUNK_LEAD_TOKENS);
    for (int i = 0; i < n; i++) assert_true(lead[i] >= 0 && lead[i] < V);
    assert_int_equal(chunk_lead_tokens(engine_tokenizer(e), V, again), n);
    assert_memory_equal(lead, again, (size_t)n * sizeof *lead);
    assert_int_equal(chunk_lead_tokens(engine_tokenizer(e), 1, lead), 0); /* another vocabulary */
    assert_int_equal(chunk_lead_of(n, 10, 20, n + 30), n);
    assert_int_equal(chunk_lead_of(n, 10, 20, n + 29), 0);
    assert_int_equal(chunk_lead_of(n, INT32_MAX, INT32_MAX, INT32_MAX), 0);
    close_engine(e);
}

static void a_sliding_window_is_served_exactly_and_says_so(void **state) {
    (void)state;
    make_texts();
    engine *e = open_engine((engine_options){.model = window_path});
    int32_t tail[9];
    random_tokens(tail, 9);
    ask a;
    result want, got;
    make_ask(&a, "12", tail, 9);
    run_plain(e, &a, &want);
    for (int i = 0; i < 2; i++) {
        run(e, &a.r, &got);
        same_tokens(&got, &want, "window");
        assert_int_equal(got.ev.chunk_tokens, 0);
        assert_non_null(strstr(got.ev.kv_note, "sliding window"));
    }
    close_engine(e);
}

static void pieces_that_do_not_fit_the_prompt_are_refused(void **state) {
    (void)state;
    make_texts();
    engine *e = open_engine((engine_options){0});
    int32_t tail[9];
    random_tokens(tail, 9);
    for (int i = 0; i < 7; i++) {
        ask a;
        generation *g;
        make_ask(&a, "12", tail, 9);
        if (i == 0) a.pieces[1].n++;
        if (i == 1) a.pieces[2].start--;
        if (i == 2) a.pieces[3].n = SIZE_MAX;
        if (i == 3) a.pieces[0].kind = PIECE_CHUNK;
        if (i == 4) a.pieces[2].kind = PIECE_TAIL;
        if (i == 5) a.r.n_pieces--;
        if (i == 6) a.r.kv_chunk_budget = 1.5;
        assert_int_equal(engine_submit(e, &a.r, &g, NULL, &err), FO_EINVAL);
        assert_string_equal(err.field, i == 6 ? "kv_chunk_budget" : "pieces");
    }
    close_engine(e);
}

/* ---- many at once --------------------------------------------------------------------------- */

enum { MIX = 40 };
static const char *const mixed_orders[] = {"012", "120", "21", "3", "4510", "345", "012345", "52"};

/* Everything at once, of all modes and two tenants, pages short enough for preemption. */
static void run_mix(engine *e, int rounds, engine *plain) {
    for (int round = 0; round < rounds; round++) {
        static ask asks[MIX];
        static result want[MIX];
        generation *g[MIX];
        int n = 1 + (int)(test_random(&seed) % MIX);
        for (int i = 0; i < n; i++) {
            int32_t tail[20];
            int n_tail = 1 + (int)(test_random(&seed) % 19);
            random_tokens(tail, n_tail);
            bool warm = test_random(&seed) % 10 == 0;
            make_ask(&asks[i], mixed_orders[test_random(&seed) % 8], tail, warm ? 0 : n_tail);
            asks[i].r.salt[0] = test_random(&seed) % 4 == 0;
            asks[i].r.priority = (int)(test_random(&seed) % 3);
            if (test_random(&seed) % 3 == 0) asks[i].r.kv_reuse = KV_REUSE_EXACT;
            if (test_random(&seed) % 9 == 0) asks[i].r.kv_reuse = KV_REUSE_OFF;
            asks[i].r.drop_kv = test_random(&seed) % 9 == 0;
            run_plain(plain, &asks[i], &want[i]);
        }
        for (int i = 0; i < n; i++)
            assert_ok(engine_submit(e, &asks[i].r, &g[i], NULL, &err), &err);
        assert_ok(engine_check(e, &err), &err);
        for (int i = 0; i < n; i++) {
            result got;
            if (test_random(&seed) % 12 == 0) {
                generation_free(g[i]); /* cancelled, wherever it stands */
                continue;
            }
            finish(g[i], &got);
            same_tokens(&got, &want[i], "in the mix");
        }
        assert_ok(engine_check(e, &err), &err);
    }
}

static void every_mode_writes_the_same_in_any_company(void **state) {
    (void)state;
    make_texts();
    engine *plain = open_engine((engine_options){0});
    static const engine_options kinds[] = {
        {.kv_ram = 8 << 20, .n_threads = 2},
        {.kv_ram = 8 << 20, .max_batch_tokens = 23, .max_sequences = 3}, /* cut everywhere */
        {.kv_ram = 500 << 10},                                           /* pages are short */
        {.kv_ram = 500 << 10, .kv_store_ram = 40 << 10, .kv_page_tokens = 32},
    };
    uint64_t preemptions = 0, moved = 0;
    for (int i = 0; i < 4; i++) {
        engine *e = open_engine(kinds[i]);
        run_mix(e, 4, plain);
        wait_idle(e);
        engine_stats st;
        engine_get_stats(e, &st);
        preemptions += st.preemptions;
        moved += st.chunk_requests;
        close_engine(e);
    }
    close_engine(plain);
    assert_true(preemptions > 0);
    assert_true(moved > 0);
}

/* Exact reuse against none, request by request: mixes of shared prefixes, lengths, priorities. */
static void exact_reuse_writes_what_no_reuse_writes(void **state) {
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    enum { ROUNDS = 100 };
#else
    enum { ROUNDS = 1000 };
#endif
    make_texts();
    engine *plain = open_engine((engine_options){0}),
           *e = open_engine((engine_options){.kv_ram = 1 << 20});
    size_t reused = 0;
    for (int round = 0; round < ROUNDS; round++) {
        ask a[4];
        generation *g[4];
        result want, got;
        int n = 1 + (int)(test_random(&seed) % 4);
        for (int i = 0; i < n; i++) {
            int32_t tail[20];
            int n_tail = 1 + (int)(test_random(&seed) % 19);
            random_tokens(tail, n_tail);
            make_ask(&a[i], mixed_orders[test_random(&seed) % 8], tail, n_tail);
            a[i].r.kv_reuse = KV_REUSE_EXACT;
            a[i].r.max_tokens = 3;
            assert_ok(engine_submit(e, &a[i].r, &g[i], NULL, &err), &err);
        }
        for (int i = 0; i < n; i++) {
            run_plain(plain, &a[i], &want);
            finish(g[i], &got);
            same_tokens(&got, &want, "exact");
            reused += got.ev.cached_tokens;
        }
    }
    assert_true(reused > 100 * ROUNDS / 2);
    close_engine(e);
    close_engine(plain);
}

static int open_models(void **state) {
    open_folder(state);
    tiny_model_write(path, &deeper_llama, &seed);
    snprintf(window_path, sizeof window_path, "%s/window.gguf", folder);
    tiny_shape window = deeper_llama;
    window.arch = "gemma3";
    window.window = 32;
    tiny_model_write(window_path, &window, &seed);
    return 0;
}

int main(void) {
    seed = test_seed();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_chunks_are_met_in_any_order_and_company),
        cmocka_unit_test(warming_counts_no_more_than_the_prefix_as_cached),
        cmocka_unit_test(what_is_not_exact_is_never_attached),
        cmocka_unit_test(what_is_to_be_dropped_leaves_no_block),
        cmocka_unit_test(tenants_share_no_chunk),
        cmocka_unit_test(what_was_new_is_known_the_next_time),
        cmocka_unit_test(nothing_is_guessed_behind_a_chunk),
        cmocka_unit_test(chunks_computed_between_requests_are_the_same),
        cmocka_unit_test(what_piles_up_in_the_background_is_given_up),
        cmocka_unit_test(a_chunk_has_the_lead_or_nothing_before_it),
        cmocka_unit_test(the_lead_is_cut_and_left_out_where_it_does_not_fit),
        cmocka_unit_test(a_sliding_window_is_served_exactly_and_says_so),
        cmocka_unit_test(pieces_that_do_not_fit_the_prompt_are_refused),
        cmocka_unit_test(every_mode_writes_the_same_in_any_company),
        cmocka_unit_test(exact_reuse_writes_what_no_reuse_writes),
    };
    return cmocka_run_group_tests(tests, open_models, remove_folder);
}
