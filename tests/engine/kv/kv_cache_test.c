/* The KV cache: names of blocks, sharing between sequences, reuse to the token, eviction, ten
 * thousand random operations against its invariants (kv_check.h), with and without a disk below. */
#include "tests/test.h"

#include "engine/kv/kv_cache.h"
#include "engine/kv/prefix_hash.h"

enum { P = 16, LAYERS = 2, HEADS = 2, DIM = 32 };
static const unsigned char model_name[32] = {1, 2, 3};
static const unsigned char tenant_a[32] = {'a'}, tenant_b[32] = {'b'};

static kv_cache *make_with(int n_pages, double threshold, kv_store *store) {
    fo_err err = {0};
    kv_cache_options o = {.n_pages = n_pages, .defrag_threshold = threshold, .store = store};
    o.layout = (kv_layout){.n_layers = LAYERS,
                           .n_kv_heads = HEADS,
                           .k_dim = DIM,
                           .v_dim = DIM,
                           .page_tokens = P,
                           .type = KV_F32};
    assert_ok(kv_layout_init(&o.layout, &err), &err);
    kv_cache *c;
    assert_ok(kv_cache_create(&c, &o, model_name, &err), &err);
    return c;
}

static kv_cache *make(int n_pages, double threshold) {
    return make_with(n_pages, threshold, NULL);
}

static kv_store *make_store(const char *dir, uint64_t disk_bytes) {
    fo_err err = {0};
    kv_layout l = {.n_layers = LAYERS,
                   .n_kv_heads = HEADS,
                   .k_dim = DIM,
                   .v_dim = DIM,
                   .page_tokens = P,
                   .type = KV_F32};
    assert_ok(kv_layout_init(&l, &err), &err);
    kv_store *s;
    assert_ok(kv_store_open(&s, &(kv_store_options){.dir = dir, .disk_bytes = disk_bytes},
                            model_name, &l, &err),
              &err);
    return s;
}

/* What a model would write at a position: a number that depends on all tokens up to it. */
static float kv_value(const int32_t *tokens, int position) {
    uint64_t h = 17;
    for (int i = 0; i <= position; i++) h = h * 1000003u + (uint64_t)tokens[i];
    return (float)(h % 1000003u);
}

/* Compute tokens [have, n) of a sequence, as a forward pass does: reserve, write, commit. */
static int compute(kv_cache *c, kv_seq *s, const int32_t *tokens, int n) {
    fo_err err = {0};
    int have = kv_seq_tokens(s), n_pages;
    int rc = kv_seq_reserve(s, n - have, &err);
    if (rc) return rc;
    const int32_t *pages = kv_seq_pages(s, &n_pages);
    for (int p = have; p < n; p++) {
        float k[DIM], v[DIM];
        for (int d = 0; d < DIM; d++) k[d] = v[d] = kv_value(tokens, p);
        for (int l = 0; l < LAYERS; l++)
            for (int h = 0; h < HEADS; h++)
                kv_pages_store(kv_cache_pages(c), pages[p / P], p % P, l, h, k, v);
    }
    kv_seq_commit(s, tokens + have, n - have);
    return FO_OK;
}

static void assert_content(const kv_seq *s, const int32_t *tokens) {
    fo_err err = {0};
    for (int p = 0; p < kv_seq_tokens(s); p++) {
        float k[DIM], v[DIM];
        assert_ok(kv_seq_read(s, p, p % LAYERS, p % HEADS, k, v, &err), &err);
        if (k[0] != kv_value(tokens, p) || v[DIM - 1] != kv_value(tokens, p))
            fail_msg("position %d holds another token's KV", p);
    }
}

static void hash_names_chain_model_and_tenant(void **state) {
    (void)state;
    int32_t t[P] = {5, 6, 7};
    prefix_hash a, b;
    prefix_hash_block(&a, model_name, NULL, tenant_a, t, P);
    prefix_hash_block(&b, model_name, NULL, tenant_a, t, P);
    assert_memory_equal(&a, &b, sizeof a);
    prefix_hash_block(&b, model_name, NULL, tenant_b, t, P);
    assert_memory_not_equal(&a, &b, sizeof a);
    prefix_hash_block(&b, tenant_b, NULL, tenant_a, t, P);
    assert_memory_not_equal(&a, &b, sizeof a);
    prefix_hash_block(&b, model_name, &a, tenant_a, t, P);
    assert_memory_not_equal(&a, &b, sizeof a);
}

static void running_sequences_share_full_blocks(void **state) {
    (void)state;
    fo_err err = {0};
    kv_cache *c = make(16, 0);
    int32_t t[100];
    for (int i = 0; i < 100; i++) t[i] = i * 7 + 1;
    kv_seq *a, *b, *other;
    int n;
    assert_ok(kv_seq_create(&a, c, tenant_a, KV_REUSE_EXACT, &err), &err);
    assert_ok(compute(c, a, t, 50), &err);
    assert_ok(kv_seq_create(&b, c, tenant_a, KV_REUSE_EXACT, &err), &err);
    assert_int_equal(kv_cache_probe(c, tenant_a, t, 100), 48);
    assert_ok(kv_seq_attach(b, t, 100, &n, &err), &err);
    assert_int_equal(n, 48); /* three full blocks of a, which still runs */
    kv_cache_stats st;
    kv_cache_get_stats(c, &st);
    assert_int_equal(st.n_shared, 3);
    assert_int_equal(st.n_used, 4);
    assert_int_equal(st.hit_tokens, 48);
    /* Another tenant finds nothing, and a private sequence neither finds nor is found. */
    assert_ok(kv_seq_create(&other, c, tenant_b, KV_REUSE_EXACT, &err), &err);
    assert_int_equal(kv_cache_probe(c, tenant_b, t, 100), 0);
    assert_ok(kv_seq_attach(other, t, 100, &n, &err), &err);
    assert_int_equal(n, 0);
    kv_seq_free(other, true);
    assert_ok(kv_seq_create(&other, c, tenant_a, KV_REUSE_OFF, &err), &err);
    assert_ok(kv_seq_attach(other, t, 100, &n, &err), &err);
    assert_int_equal(n, 0);
    kv_seq_free(other, true);
    assert_ok(compute(c, b, t, 100), &err);
    assert_content(a, t);
    assert_content(b, t);
    kv_seq_free(a, true);
    kv_seq_free(b, true);
    kv_cache_get_stats(c, &st);
    assert_int_equal(st.n_used, 0);
    assert_int_equal(st.n_cached, 6); /* 100 tokens: six full blocks stay findable */
    assert_ok(kv_cache_check(c, &err), &err);
    kv_cache_free(c);
}

static void a_whole_prompt_again_recomputes_one_token(void **state) {
    (void)state;
    fo_err err = {0};
    kv_cache *c = make(16, 0);
    int32_t t[64];
    for (int i = 0; i < 64; i++) t[i] = i + 1;
    kv_seq *a, *b;
    int n;
    assert_ok(kv_seq_create(&a, c, tenant_a, KV_REUSE_EXACT, &err), &err);
    assert_ok(compute(c, a, t, 64), &err);
    assert_ok(kv_seq_create(&b, c, tenant_a, KV_REUSE_EXACT, &err), &err);
    assert_ok(kv_seq_attach(b, t, 64, &n, &err), &err);
    assert_int_equal(n, 63); /* three shared blocks and a copy of fifteen tokens of the fourth */
    assert_ok(compute(c, b, t, 64), &err);
    kv_cache_stats st;
    kv_cache_get_stats(c, &st);
    assert_int_equal(st.deduplicated, 1);
    assert_int_equal(st.n_shared, 4);
    assert_content(b, t);
    /* Two questions that part inside a block: what agrees is used. */
    int32_t u[64];
    memcpy(u, t, sizeof u);
    u[40] = 999;
    kv_seq_free(b, true);
    assert_ok(kv_seq_create(&b, c, tenant_a, KV_REUSE_EXACT, &err), &err);
    assert_ok(kv_seq_attach(b, u, 64, &n, &err), &err);
    assert_int_equal(n, 40);
    assert_ok(compute(c, b, u, 64), &err);
    assert_content(b, u);
    assert_content(a, t);
    kv_seq_free(a, true);
    kv_seq_free(b, false);
    assert_ok(kv_cache_check(c, &err), &err);
    kv_cache_free(c);
}

static void eviction_takes_the_oldest_and_the_end_of_a_chain_first(void **state) {
    (void)state;
    fo_err err = {0};
    kv_cache *c = make(6, 0);
    int32_t t[48], u[48];
    for (int i = 0; i < 48; i++) t[i] = i, u[i] = i + 1000;
    kv_seq *a, *b;
    assert_ok(kv_seq_create(&a, c, tenant_a, KV_REUSE_EXACT, &err), &err);
    assert_ok(compute(c, a, t, 48), &err);
    kv_seq_free(a, true);
    assert_ok(kv_seq_create(&b, c, tenant_a, KV_REUSE_EXACT, &err), &err);
    assert_ok(compute(c, b, u, 48), &err);
    kv_seq_free(b, true);
    assert_int_equal(kv_cache_available(c), 6);
    int32_t w[16] = {77};
    assert_ok(kv_seq_create(&a, c, tenant_a, KV_REUSE_EXACT, &err), &err);
    assert_ok(compute(c, a, w, 16), &err); /* takes the last block of t */
    int32_t more[49];
    memcpy(more, t, sizeof t);
    more[48] = 1;
    assert_int_equal(kv_cache_probe(c, tenant_a, more, 49), 32);
    memcpy(more, u, sizeof u);
    assert_int_equal(kv_cache_probe(c, tenant_a, more, 49), 48);
    assert_ok(kv_seq_create(&b, c, tenant_a, KV_REUSE_EXACT, &err), &err);
    assert_int_equal(kv_seq_reserve(b, 6 * P, &err), FO_ENOMEM); /* a holds one of six */
    assert_int_equal(kv_seq_tokens(b), 0);
    assert_ok(kv_cache_check(c, &err), &err);
    assert_ok(kv_seq_reserve(b, 5 * P, &err), &err);
    kv_seq_free(a, true);
    kv_seq_free(b, true);
    assert_ok(kv_cache_check(c, &err), &err);
    kv_cache_free(c);
}

/* ---- ten thousand random operations, every invariant and every content after each ---------- */

enum { MAX_SEQ = 12, MAX_LEN = 120 };
typedef struct shadow {
    kv_seq *s;
    int32_t tokens[MAX_LEN];
    const unsigned char *tenant;
} shadow;

static void random_operations(kv_store *store) {
    uint64_t seed = test_seed();
    fo_err err = {0};
    kv_cache *c = make_with(48, .3, store);
    shadow seqs[MAX_SEQ] = {0};
    unsigned long n_full = 0;
    for (int op = 0; op < 10000; op++) {
        shadow *x = &seqs[test_random(&seed) % MAX_SEQ];
        unsigned what = (unsigned)(test_random(&seed) % 6);
        if (!x->s) { /* a new sequence: often with the tokens of another */
            x->tenant = test_random(&seed) % 4 ? tenant_a : tenant_b;
            shadow *like = &seqs[test_random(&seed) % MAX_SEQ];
            for (int i = 0; i < MAX_LEN; i++) {
                int32_t fresh = (int32_t)(test_random(&seed) % 3);
                x->tokens[i] = like != x && test_random(&seed) % 60 ? like->tokens[i] : fresh;
            }
            if (store && test_random(&seed) % 2) { /* or with those of one long gone */
                int32_t which = (int32_t)(test_random(&seed) % 24);
                for (int i = 0; i < MAX_LEN; i++) x->tokens[i] = 100 + which * 131 + i;
            }
            enum kv_reuse reuse = test_random(&seed) % 8 ? KV_REUSE_EXACT : KV_REUSE_OFF;
            int n;
            assert_ok(kv_seq_create(&x->s, c, x->tenant, reuse, &err), &err);
            int len = 1 + (int)(test_random(&seed) % MAX_LEN);
            int expected = kv_cache_probe(c, x->tenant, x->tokens, len);
            assert_ok(kv_seq_attach(x->s, x->tokens, len, &n, &err), &err);
            if (store) /* what it has needs pages, and may be evicted at any time */
                assert_true(n <= expected);
            else if (reuse == KV_REUSE_EXACT && kv_cache_available(c) > 1)
                assert_int_equal(n, expected);
        } else if (what <= 2) { /* go on */
            int have = kv_seq_tokens(x->s), room = MAX_LEN - have;
            if (room > 0 &&
                compute(c, x->s, x->tokens,
                        have + 1 + (int)(test_random(&seed) % (uint64_t)room)) == FO_ENOMEM)
                n_full++;
        } else if (what == 3) { /* back, then another way */
            int keep = (int)(test_random(&seed) % (uint64_t)(kv_seq_tokens(x->s) + 1));
            kv_seq_truncate(x->s, keep);
            for (int i = keep; i < MAX_LEN; i++)
                if (test_random(&seed) % 4 == 0) x->tokens[i] = (int32_t)(test_random(&seed) % 3);
        } else if (what == 4) {
            kv_seq_free(x->s, test_random(&seed) % 5 != 0);
            x->s = NULL;
        } else if (test_random(&seed) % 4 == 0) {
            if (test_random(&seed) % 2)
                kv_cache_compact(c);
            else
                kv_cache_maintain(c);
        }
        if (store && op % 20 == 0) kv_cache_save(c, 4);
        if (kv_cache_check(c, &err) != FO_OK) fail_msg("operation %d: %s", op, err.msg);
        for (int i = 0; i < MAX_SEQ; i++)
            if (seqs[i].s && (&seqs[i] == x || op % 50 == 0))
                assert_content(seqs[i].s, seqs[i].tokens);
    }
    kv_cache_stats st;
    kv_cache_get_stats(c, &st);
    print_message(
        "# hits %lu of %lu tokens, %lu copies, %lu evictions, %lu deduplicated, %lu moved, "
        "%lu refusals\n",
        (unsigned long)st.hit_tokens, (unsigned long)st.lookup_tokens, (unsigned long)st.copies,
        (unsigned long)st.evictions, (unsigned long)st.deduplicated, (unsigned long)st.moved,
        n_full);
    /* The run must have met everything, or it proves nothing. */
    assert_true(st.hit_blocks > 100 && st.partial_hits > 50 && st.evictions > 100);
    assert_true(st.deduplicated > 50 && st.moved > 50 && n_full > 20);
    for (int i = 0; i < MAX_SEQ; i++) kv_seq_free(seqs[i].s, true);
    kv_cache_get_stats(c, &st);
    assert_int_equal(st.n_used, 0);
    assert_int_equal(st.n_sequences, 0);
    assert_ok(kv_cache_check(c, &err), &err);
    if (store) {
        print_message("# %lu blocks saved, %lu restored\n", (unsigned long)st.saved_blocks,
                      (unsigned long)st.restored_blocks);
        assert_true(st.saved_blocks > 100 && st.restored_blocks > 100);
        assert_ok(kv_store_check(store, &err), &err);
    }
    kv_cache_free(c);
}

static void ten_thousand_random_operations_keep_every_invariant(void **state) {
    (void)state;
    random_operations(NULL);
}

static void they_do_with_a_disk_below(void **state) {
    (void)state;
    char *dir = test_folder();
    kv_store *store = make_store(dir, 4 << 20);
    random_operations(store);
    kv_store_close(store);
    test_remove(dir);
}

/* A sequence over t[n], computed where nothing is found; how many tokens were found. */
static int ask(kv_cache *c, const unsigned char *tenant, const int32_t *t, int n) {
    fo_err err = {0};
    kv_seq *s;
    int found;
    assert_ok(kv_seq_create(&s, c, tenant, KV_REUSE_EXACT, &err), &err);
    assert_ok(kv_seq_attach(s, t, n, &found, &err), &err);
    assert_content(s, t); /* bit for bit what computing gives */
    assert_ok(compute(c, s, t, n), &err);
    assert_content(s, t);
    kv_seq_free(s, true);
    assert_ok(kv_cache_check(c, &err), &err);
    return found;
}

static void what_was_used_twice_survives_eviction_and_restart(void **state) {
    (void)state;
    fo_err err = {0};
    char *dir = test_folder();
    kv_store *store = make_store(dir, 8 << 20);
    kv_cache *c = make_with(8, 0, store);
    int32_t hot[65], once[65];
    for (int i = 0; i < 65; i++) hot[i] = i, once[i] = 5000 + i;
    assert_int_equal(ask(c, tenant_a, hot, 65), 0);
    assert_int_equal(ask(c, tenant_a, hot, 65), 64);
    assert_int_equal(ask(c, tenant_a, once, 65), 0);
    for (int k = 0; k < 8; k++) { /* others take all pages */
        int32_t other[81];
        for (int i = 0; i < 81; i++) other[i] = 10000 * (k + 1) + i;
        ask(c, tenant_a, other, 81);
    }
    kv_cache_stats st;
    kv_cache_get_stats(c, &st);
    assert_int_equal(st.saved_blocks, 4); /* hot alone was worth it */
    assert_int_equal(kv_cache_probe(c, tenant_a, hot, 65), 64);
    assert_int_equal(kv_cache_probe(c, tenant_b, hot, 65), 0);
    assert_int_equal(ask(c, tenant_a, hot, 65), 64);
    kv_cache_get_stats(c, &st);
    assert_int_equal(st.restored_blocks, 4);
    /* Once more, after it was forgotten: from now on it is known to come back. */
    assert_int_equal(ask(c, tenant_a, once, 65), 0);
    assert_true(kv_cache_save(c, 100) >= 4);
    kv_cache_free(c);
    kv_store_close(store);

    store = make_store(dir, 8 << 20);
    c = make_with(8, 0, store);
    assert_int_equal(ask(c, tenant_b, hot, 65), 0);
    assert_int_equal(ask(c, tenant_a, hot, 65), 64);
    assert_int_equal(ask(c, tenant_a, once, 65), 64);
    int32_t last[49];
    for (int i = 0; i < 49; i++) last[i] = 90000 + i;
    ask(c, tenant_a, last, 49); /* used once, but there at the end */
    assert_true(kv_cache_save_all(c, 1e9) >= 3);
    kv_cache_free(c);
    kv_store_close(store);

    store = make_store(dir, 8 << 20);
    c = make_with(8, 0, store);
    assert_int_equal(ask(c, tenant_a, last, 49), 48);
    kv_store_stats ss;
    kv_store_get_stats(store, &ss);
    assert_int_equal(ss.corrupt, 0);
    assert_ok(kv_store_check(store, &err), &err);
    kv_cache_free(c);
    kv_store_close(store);
    test_remove(dir);
}

static void pages_used_often_are_evicted_last(void **state) {
    (void)state;
    fo_err err = {0};
    kv_cache *c = make(12, 0);
    int32_t hot[33], expected[33];
    for (int i = 0; i < 33; i++) hot[i] = i, expected[i] = 700 + i;
    for (int k = 0; k < 5; k++) ask(c, tenant_a, hot, 33);
    kv_seq *s;
    assert_ok(kv_seq_create(&s, c, tenant_a, KV_REUSE_EXACT, &err), &err);
    kv_seq_expect(s, 4); /* a sketch says so */
    assert_ok(compute(c, s, expected, 33), &err);
    kv_seq_free(s, true);
    for (int k = 0; k < 4; k++) { /* newer, and asked once */
        int32_t other[65];
        for (int i = 0; i < 65; i++) other[i] = 10000 * (k + 1) + i;
        ask(c, tenant_a, other, 65);
    }
    assert_int_equal(kv_cache_probe(c, tenant_a, hot, 33), 32);
    assert_int_equal(kv_cache_probe(c, tenant_a, expected, 33), 32);
    for (int k = 0; k < 100; k++) { /* but what is never asked again ages */
        int32_t other[65];
        for (int i = 0; i < 65; i++) other[i] = 1000000 + 10000 * k + i;
        ask(c, tenant_a, other, 65);
    }
    assert_int_equal(kv_cache_probe(c, tenant_a, hot, 33), 0);
    kv_cache_free(c);
}

static void the_checker_sees_a_broken_cache(void **state) {
    (void)state;
    /* A write into a shared page is what copy-on-write prevents: reserve must never hand it out. */
    fo_err err = {0};
    kv_cache *c = make(8, 0);
    int32_t t[33] = {1, 2, 3};
    kv_seq *a, *b;
    int na, nb;
    assert_ok(kv_seq_create(&a, c, tenant_a, KV_REUSE_EXACT, &err), &err);
    assert_ok(compute(c, a, t, 32), &err);
    assert_ok(kv_seq_create(&b, c, tenant_a, KV_REUSE_EXACT, &err), &err);
    assert_ok(kv_seq_attach(b, t, 33, &nb, &err), &err);
    assert_int_equal(nb, 32);
    kv_seq_truncate(b, 20);
    assert_int_equal(kv_seq_pages(b, &nb)[1], kv_seq_pages(a, &na)[1]);
    assert_ok(kv_seq_reserve(b, 1, &err), &err);
    const int32_t *pa = kv_seq_pages(a, &na), *pb = kv_seq_pages(b, &nb);
    assert_int_equal(pa[0], pb[0]);
    assert_int_not_equal(pa[1], pb[1]);
    /* A forged table entry is found. */
    int32_t saved = pb[1];
    ((int32_t *)pb)[1] = pa[1];
    assert_int_equal(kv_cache_check(c, &err), FO_ECORRUPT);
    ((int32_t *)pb)[1] = saved;
    assert_ok(kv_cache_check(c, &err), &err);
    kv_seq_free(a, true);
    kv_seq_free(b, true);
    kv_cache_free(c);
}

/* Each head keeps other blocks; what others share or may find is not touched. */
static void packs_blocks_head_by_head(void **state) {
    (void)state;
    enum { N = 64, KEPT = 2 };
    static const int32_t sources[LAYERS * HEADS][KEPT] = {{0, 3}, {1, 3}, {2, 3}, {0, 1}};
    fo_err err = {0};
    kv_cache *c = make(5, 0);
    int32_t t[100];
    for (int i = 0; i < 100; i++) t[i] = i * 3 + 2;
    kv_seq *a, *b;
    int n, n_pages;
    void *room = malloc(kv_seq_pack_bytes(kv_pages_layout(kv_cache_pages(c)), KEPT));
    assert_ok(kv_seq_create(&a, c, tenant_a, KV_REUSE_EXACT, &err), &err);
    assert_ok(kv_seq_create(&b, c, tenant_a, KV_REUSE_EXACT, &err), &err);
    assert_ok(compute(c, a, t, N), &err);
    assert_ok(kv_seq_attach(b, t, N + 1, &n, &err), &err);
    assert_int_equal(n, N);
    /* All pages but one are held by two: there is nothing to write to, and nothing changes. */
    assert_int_equal(kv_seq_pack(a, sources[0], KEPT, -32, room, &err), FO_ENOMEM);
    assert_int_equal(kv_seq_shift(a), 0);
    assert_content(a, t);
    assert_ok(kv_cache_check(c, &err), &err);
    assert_int_equal(kv_cache_available(c), 1);
    kv_seq_free(b, true);
    assert_ok(kv_seq_pack(a, sources[0], KEPT, -32, room, &err), &err);
    assert_ok(kv_cache_check(c, &err), &err);
    assert_int_equal(kv_seq_tokens(a), N);
    const int32_t *pages = kv_seq_pages(a, &n_pages);
    assert_int_equal(n_pages, KEPT);
    assert_int_equal(kv_cache_available(c), 3);
    for (int h = 0; h < LAYERS * HEADS; h++)
        for (int slot = 0; slot < KEPT * P; slot++) {
            float k[DIM], v[DIM];
            kv_pages_load(kv_cache_pages(c), pages[slot / P], slot % P, h / HEADS, h % HEADS, k, v);
            const float want = kv_value(t, sources[h][slot / P] * P + slot % P);
            assert_true(k[0] == want && v[DIM - 1] == want);
        }
    /* What it had is found as before, as far as its pages were not written; what it is now, not. */
    assert_int_equal(kv_cache_probe(c, tenant_a, t, 100), 48);
    assert_ok(kv_seq_reserve(a, 20, &err), &err);
    kv_seq_pages(a, &n_pages);
    assert_int_equal(n_pages, KEPT + 2);
    kv_seq_commit(a, t + N, 20);
    assert_int_equal(kv_seq_tokens(a), N + 20);
    assert_ok(kv_cache_check(c, &err), &err);
    kv_seq_truncate(a, 0);
    assert_int_equal(kv_seq_shift(a), 0);
    assert_int_equal(kv_cache_available(c), 5);
    assert_int_equal(kv_cache_probe(c, tenant_a, t, 100), 16); /* two were evicted since */
    /* Pages that are all its own: copies of those that others find. */
    assert_ok(kv_seq_attach(a, t, 100, &n, &err), &err);
    assert_int_equal(n, 16);
    assert_ok(kv_seq_own(a, &err), &err);
    assert_content(a, t);
    assert_ok(kv_cache_check(c, &err), &err);
    assert_int_equal(kv_cache_probe(c, tenant_a, t, 100), 16);
    kv_seq_free(a, true);
    kv_cache_free(c);
    free(room);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hash_names_chain_model_and_tenant),
        cmocka_unit_test(running_sequences_share_full_blocks),
        cmocka_unit_test(a_whole_prompt_again_recomputes_one_token),
        cmocka_unit_test(eviction_takes_the_oldest_and_the_end_of_a_chain_first),
        cmocka_unit_test(ten_thousand_random_operations_keep_every_invariant),
        cmocka_unit_test(they_do_with_a_disk_below),
        cmocka_unit_test(what_was_used_twice_survives_eviction_and_restart),
        cmocka_unit_test(pages_used_often_are_evicted_last),
        cmocka_unit_test(the_checker_sees_a_broken_cache),
        cmocka_unit_test(packs_blocks_head_by_head),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
