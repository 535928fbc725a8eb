/* engine_disk_test.c - KV on disk under the running engine: the same tokens over evictions and
 * restarts, nothing from another model or tenant. A small random model, pages for a few requests
 * alone, so that most of what is reused comes back from the store. */
#include "tests/test.h"

#include "tests/engine/generate/engine_fixture.h"

static char other_path[512];

enum { ANSWER = 6, TEXTS = 20, LONGEST = 200 };
static int32_t texts[TEXTS][LONGEST];

static engine *open_with(const char *file, const char *dir, uint64_t ram) {
    return open_engine((engine_options){
        .model = file, .kv_ram = ram, .kv_dir = dir, .kv_disk = 16 << 20, .no_lookup = true});
}

static generation *send(engine *e, const int32_t *prompt, size_t n, enum kv_reuse reuse,
                        unsigned char tenant) {
    generation_request r = request(prompt, n, ANSWER);
    r.kv_reuse = reuse;
    r.salt[0] = tenant;
    return submit(e, &r);
}

static result receive(generation *g) {
    result r;
    finish(g, &r);
    assert_int_equal(r.n, ANSWER);
    assert_string_equal(r.ev.finish_reason, "length");
    return r;
}

static result answer(engine *e, const int32_t *prompt, size_t n, unsigned char tenant) {
    return receive(send(e, prompt, n, KV_REUSE_EXACT, tenant));
}

/* A prompt: a text's beginning, of any length, and sometimes its own end. */
static size_t make_prompt(int32_t *to) {
    uint64_t which = test_random(&seed) % TEXTS;
    if (which > 3 && test_random(&seed) % 2) which %= 4; /* some are asked for often */
    size_t n = 40 + test_random(&seed) % (LONGEST - 60), own = test_random(&seed) % 20;
    memcpy(to, texts[which], n * sizeof *to);
    for (size_t i = n - own; i < n; i++) to[i] = 3 + (int32_t)(test_random(&seed) % (V - 3));
    return n;
}

static void a_thousand_requests_write_the_same_with_reuse_and_without(void **state) {
    (void)state;
    char *dir = test_folder();
    /* Pages for about three requests: the rest of what is reused has been on disk. */
    engine *e = open_with(path, dir, 600 << 10), *plain = open_with(path, NULL, 4 << 20);
    static int32_t prompts[5][LONGEST];
    size_t lengths[5], n_requests = 0, reused = 0, from_disk = 0;
    while (n_requests < 1000) {
        int n = 1 + (int)(test_random(&seed) % 5);
        generation *with[5], *without[5];
        for (int i = 0; i < n; i++) {
            lengths[i] = make_prompt(prompts[i]);
            without[i] = send(plain, prompts[i], lengths[i], KV_REUSE_OFF, 0);
            with[i] = send(e, prompts[i], lengths[i], KV_REUSE_EXACT,
                           (unsigned char)(test_random(&seed) % 8 == 0));
        }
        for (int i = 0; i < n; i++, n_requests++) {
            result a = receive(with[i]), b = receive(without[i]);
            same_tokens(&a, &b, "with reuse");
            reused += a.ev.cached_tokens;
            from_disk += a.ev.disk_tokens;
            assert_int_equal(b.ev.cached_tokens, 0);
            assert_true(a.ev.disk_tokens <= a.ev.prefix_tokens);
            assert_true(!a.ev.disk_tokens || a.ev.disk_asked);
        }
        if (n_requests % 97 < 5) assert_ok(engine_check(e, &err), &err);
        engine_stats st;
        engine_get_stats(e, &st);
        assert_true(st.store.disk.bytes <= 16 << 20);
        if (n_requests > 400 && n_requests < 405 + 5) { /* and over a restart */
            engine_close(e);
            e = open_with(path, dir, 600 << 10);
        }
    }
    print_message("# %zu tokens reused, %zu of them from disk\n", reused, from_disk);
    assert_true(reused > 10000 && from_disk > 1000);
    engine_stats st;
    engine_get_stats(e, &st);
    assert_int_equal(st.store.corrupt, 0);
    engine_close(e);
    engine_close(plain);
    test_remove(dir);
}

static void a_context_survives_a_restart(void **state) {
    (void)state;
    char *dir = test_folder();
    engine *e = open_with(path, dir, 2 << 20);
    result first = answer(e, texts[0], 150, 1);
    assert_int_equal(first.ev.cached_tokens, 0);
    engine_close(e);
    e = open_with(path, dir, 2 << 20);
    assert_int_equal(engine_probe(e, (unsigned char[32]){1}, texts[0], 150), 144);
    assert_int_equal(engine_probe(e, (unsigned char[32]){2}, texts[0], 150), 0);
    result stranger = answer(e, texts[0], 150, 2);
    assert_int_equal(stranger.ev.cached_tokens, 0);
    assert_int_equal(stranger.ev.disk_tokens, 0);
    same_tokens(&first, &stranger, "another tenant");
    result again = answer(e, texts[0], 150, 1);
    same_tokens(&first, &again, "after the restart");
    assert_int_equal(again.ev.cached_tokens, 144);
    assert_int_equal(again.ev.disk_tokens, 144);
    assert_true(again.ev.disk_asked);
    again = answer(e, texts[0], 150, 1); /* now it lies in pages */
    assert_true(again.ev.cached_tokens >= 144);
    assert_int_equal(again.ev.disk_tokens, 0);
    engine_close(e);
    /* Another model finds nothing here, and says what it would say without. */
    engine *other = open_with(other_path, dir, 2 << 20), *bare = open_with(other_path, NULL, 0);
    result a = answer(other, texts[0], 150, 1), b = answer(bare, texts[0], 150, 1);
    assert_int_equal(a.ev.cached_tokens, 0);
    same_tokens(&a, &b, "another model");
    engine_close(other);
    engine_close(bare);
    test_remove(dir);
}

/* What tenant b can see of its requests: whether, and how much, anything was reused. */
static void observe(engine *e, size_t *seen) {
    size_t k = 0;
    for (int i = 0; i < 6; i++) {
        seen[k++] = (size_t)engine_probe(e, (unsigned char[32]){2}, texts[i % 4], 120);
        result r = answer(e, texts[i % 4], 120, 2);
        seen[k++] = r.ev.cached_tokens;
        seen[k++] = r.ev.prefix_tokens;
        seen[k++] = r.ev.chunk_tokens;
        seen[k++] = r.ev.disk_tokens;
        seen[k++] = r.ev.disk_asked;
    }
}

/* The queue takes a block at a time; an idle engine comes back to it with the rest. */
static void an_idle_engine_writes_all_that_was_met(void **state) {
    (void)state;
    char *dir = test_folder();
    engine *e = open_engine((engine_options){.model = path,
                                             .kv_ram = 4 << 20,
                                             .kv_dir = dir,
                                             .kv_disk = 16 << 20,
                                             .kv_queue = 1,
                                             .no_lookup = true});
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 2; k++) answer(e, texts[i], LONGEST, 0);
    engine_stats st = {0};
    for (int k = 0; k < 1000 && st.kv.saved_blocks < 4 * (LONGEST / 16); k++) {
        usleep(20000);
        engine_get_stats(e, &st);
    }
    assert_true(st.kv.saved_blocks >= 4 * (LONGEST / 16));
    close_engine(e);
    test_remove(dir);
}

static void what_one_tenant_computed_is_invisible_to_another(void **state) {
    (void)state;
    enum { N = 36 };
    size_t alone[N], beside[N];
    for (int busy = 0; busy < 2; busy++) {
        char *dir = test_folder();
        engine *e = open_with(path, dir, 2 << 20);
        for (int k = 0; busy && k < 12; k++) answer(e, texts[k % 4], 120, 1); /* the very same */
        engine_stats before, after;
        if (busy) { /* in pages, and on disk */
            engine_close(e);
            e = open_with(path, dir, 2 << 20);
            for (int k = 0; k < 3; k++) answer(e, texts[k], 120, 1);
        }
        engine_get_stats(e, &before);
        observe(e, busy ? beside : alone);
        engine_get_stats(e, &after);
        /* Nor by the time it takes: as many tokens are computed. */
        static uint64_t computed;
        if (!busy) computed = after.prefill_tokens - before.prefill_tokens;
        assert_int_equal(after.prefill_tokens - before.prefill_tokens, computed);
        engine_close(e);
        test_remove(dir);
    }
    assert_memory_equal(alone, beside, sizeof alone);
}

static int setup(void **state) {
    open_folder(state);
    snprintf(other_path, sizeof other_path, "%s/other.gguf", folder);
    tiny_model_write(other_path, &tiny_llama, &seed);
    for (int i = 0; i < TEXTS; i++) random_tokens(texts[i], LONGEST);
    return 0;
}

int main(void) {
    seed = test_seed();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thousand_requests_write_the_same_with_reuse_and_without),
        cmocka_unit_test(a_context_survives_a_restart),
        cmocka_unit_test(an_idle_engine_writes_all_that_was_met),
        cmocka_unit_test(what_one_tenant_computed_is_invisible_to_another),
    };
    return cmocka_run_group_tests(tests, setup, remove_folder);
}
