/* chunk_test.c - chunks' KV moved and partly computed again: against computing all of it, on a
 * small random model. With all rows computed again the result is exact, which is the oracle of
 * every test that goes through the engine. */
#include "tests/test.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/chunk_lead.h"
#include "engine/kv_chunk.h"
#include "tests/engine/engine_fixture.h"

static char window_path[512];

enum { ANSWER = 12, CHUNKS = 6, MOST = ASK_TOKENS, TABLE = 16 };
static const tiny_shape shape = {.arch = "llama",
                                 .type = QUANT_Q8_0,
                                 .d = 64,
                                 .layers = 3,
                                 .heads = 4,
                                 .kv_heads = 2,
                                 .head_dim = 32,
                                 .ff = 96,
                                 .vocab = V};

/* ---- under the engine ----------------------------------------------------------------------- */

typedef struct bed {
    fo_pool *pool;
    model *m;
    model_context *c;
    kv_pages *kv;
    kv_layout l;
} bed;

static void bed_open(bed *b, kv_type type, int page_tokens, int threads) {
    *b = (bed){.pool = fo_pool_create(threads)};
    assert_ok(model_open(&b->m, path, &(model_options){.fast = true, .pool = b->pool}, &err), &err);
    assert_ok(model_context_create(&b->c, b->m, &(model_limits){MOST, 1}, &err), &err);
    assert_ok(model_kv_layout(b->m, page_tokens, type, &b->l, &err), &err);
    assert_ok(kv_pages_create(&b->kv, &b->l, 3 * TABLE, &err), &err);
}

static void bed_close(bed *b) {
    kv_pages_free(b->kv);
    model_context_free(b->c);
    model_close(b->m);
    fo_pool_free(b->pool);
}

static void compute(bed *b, const int32_t *table, const int32_t *tokens, int start, int n,
                    const int32_t *positions, uint64_t *attention, int n_attention, float *logits) {
    model_sequence s = {.tokens = tokens,
                        .n_tokens = n,
                        .start = start,
                        .positions = positions,
                        .pages = table,
                        .n_pages = TABLE,
                        .n_logits = logits != NULL,
                        .attention = attention,
                        .n_attention = n_attention,
                        .attention_layers = {0, shape.layers}};
    assert_ok(model_forward(b->c, b->kv, &s, 1, logits, &err), &err);
}

static void make_tables(int32_t table[3][TABLE]) {
    for (int t = 0; t < 3; t++)
        for (int i = 0; i < TABLE; i++) table[t][i] = i * 3 + t;
}

/* Keys of a position as floats. */
static void read_key(const bed *b, const int32_t *table, int p, int layer, int head, float *k,
                     float *v) {
    kv_pages_load(b->kv, table[p / b->l.page_tokens], p % b->l.page_tokens, layer, head, k, v);
}

static void bytes_come_back_as_they_went_at_any_alignment(void **state) {
    (void)state;
    static const kv_type types[] = {KV_BF16, KV_F32, KV_Q8_0};
    for (int i = 0; i < 3; i++) {
        bed b;
        bed_open(&b, types[i], 16, 1);
        int32_t table[3][TABLE], tokens[100];
        make_tables(table);
        random_tokens(tokens, 100);
        compute(&b, table[0], tokens, 0, 100, NULL, NULL, 0, NULL);
        size_t each = kv_layout_token_bytes(&b.l);
        unsigned char *bytes = malloc(100 * each), *again = malloc(100 * each);
        kv_chunk_take(b.kv, table[0], 7, 61, bytes);
        assert_ok(kv_chunk_place(b.m, b.kv, table[1], 7, 61, bytes, 7, &err), &err);
        kv_chunk_take(b.kv, table[1], 7, 61, again);
        assert_memory_equal(bytes, again, 61 * each); /* not moved: not a bit is another */
        float k[32], v[32], k2[32], v2[32];
        for (int p = 7; p < 68; p++) {
            read_key(&b, table[0], p, 1, 1, k, v);
            read_key(&b, table[1], p, 1, 1, k2, v2);
            assert_memory_equal(k, k2, sizeof k);
            assert_memory_equal(v, v2, sizeof v);
        }
        free(bytes), free(again);
        bed_close(&b);
    }
}

/* A key of the first layer depends on its token and its position alone: turned from elsewhere it
 * must be what computing it there gives, up to rounding. The value does not turn. */
static void turned_keys_are_those_of_the_new_position(void **state) {
    (void)state;
    static const struct {
        kv_type type;
        double tolerance;
    } cases[] = {{KV_F32, 1e-4}, {KV_BF16, 2e-2}, {KV_Q8_0, 4e-2}};
    for (int i = 0; i < 3; i++) {
        bed b;
        bed_open(&b, cases[i].type, 16, 1);
        int32_t table[3][TABLE], tokens[150];
        make_tables(table);
        random_tokens(tokens, 150);
        enum { FROM = 21, N = 45, TO = 93 };
        memcpy(tokens + TO, tokens + FROM, N * sizeof *tokens);
        compute(&b, table[0], tokens, 0, 150, NULL, NULL, 0, NULL);
        unsigned char *bytes = malloc(N * kv_layout_token_bytes(&b.l));
        kv_chunk_take(b.kv, table[0], FROM, N, bytes);
        assert_ok(kv_chunk_place(b.m, b.kv, table[1], TO, N, bytes, FROM, &err), &err);
        double worst = 0, largest = 0;
        for (int p = TO; p < TO + N; p++)
            for (int h = 0; h < shape.kv_heads; h++) {
                float k[32], v[32], k2[32], v2[32];
                read_key(&b, table[0], p, 0, h, k, v);
                read_key(&b, table[1], p, 0, h, k2, v2);
                assert_memory_equal(v, v2, sizeof v);
                for (int d = 0; d < 32; d++) {
                    worst = fmax(worst, fabs((double)k[d] - (double)k2[d]));
                    largest = fmax(largest, fabs((double)k[d]));
                }
            }
        assert_true(worst <= cases[i].tolerance * largest);
        free(bytes);
        bed_close(&b);
    }
}

/* Prefix 20, chunks of 37 and 50, tail 11: the second chunk moved, all of it computed again. */
static void all_rows_again_give_the_exact_logits(void **state) {
    (void)state;
    enum { PREFIX = 20, A = 37, B = 50, TAIL = 11, N = PREFIX + A + B + TAIL };
    bed b;
    bed_open(&b, KV_BF16, 16, 2);
    int32_t table[3][TABLE], tokens[N], rows[B], again[B];
    static float full[V], stale[V], repaired[V];
    make_tables(table);
    random_tokens(tokens, N);
    compute(&b, table[0], tokens, 0, N, NULL, NULL, 0, full);
    compute(&b, table[1], tokens, 0, PREFIX, NULL, NULL, 0, NULL);
    compute(&b, table[1], tokens + PREFIX + A, PREFIX, B, NULL, NULL, 0, NULL);
    unsigned char *bytes = malloc(B * kv_layout_token_bytes(&b.l));
    kv_chunk_take(b.kv, table[1], PREFIX, B, bytes);
    compute(&b, table[2], tokens, 0, PREFIX + A, NULL, NULL, 0, NULL);
    assert_ok(kv_chunk_place(b.m, b.kv, table[2], PREFIX + A, B, bytes, PREFIX, &err), &err);
    static uint64_t mass[N];
    int tail = N - TAIL;
    compute(&b, table[2], tokens + tail, tail, TAIL, NULL, mass, tail, stale);
    assert_true(memcmp(stale, full, sizeof full) != 0);
    kv_chunk_range range = {PREFIX + A, B};
    assert_int_equal(kv_chunk_select(mass, &range, 1, 1, rows), B);
    for (int i = 0; i < B; i++) again[i] = tokens[rows[i]];
    for (int at = 0, n; at < B; at += n) { /* in parts, as a scheduler cuts them */
        n = B - at < 17 ? B - at : 17;
        compute(&b, table[2], again + at, 0, n, rows + at, NULL, 0, NULL);
    }
    compute(&b, table[2], tokens + tail, tail, TAIL, NULL, NULL, 0, repaired);
    assert_memory_equal(repaired, full, sizeof full);
    free(bytes);
    bed_close(&b);
}

static void attention_adds_up_to_one_and_to_the_same_in_any_cut(void **state) {
    (void)state;
    enum { N = 90, TAIL = 13, START = N - TAIL };
    static uint64_t first[N], mass[N];
    for (int round = 0; round < 3; round++) {
        bed b;
        bed_open(&b, KV_BF16, round == 1 ? 64 : 16, round == 2 ? 2 : 1);
        int32_t table[3][TABLE], tokens[N];
        uint64_t kept = seed;
        seed = 42; /* the same tokens every round */
        make_tables(table);
        random_tokens(tokens, N);
        seed = kept;
        memset(mass, 0, sizeof mass);
        compute(&b, table[0], tokens, 0, START, NULL, NULL, 0, NULL);
        for (int at = START, n; at < N; at += n) {
            n = round ? 1 + at % 4 : TAIL;
            if (n > N - at) n = N - at;
            compute(&b, table[0], tokens + at, at, n, NULL, mass, N, NULL);
        }
        double sum = 0;
        for (int i = 0; i < N; i++) sum += (double)mass[i] * 0x1p-32;
        assert_true(fabs(sum - TAIL * shape.heads * shape.layers) < 1e-3);
        if (round == 0)
            memcpy(first, mass, sizeof mass);
        else
            assert_memory_equal(first, mass, sizeof mass);
        bed_close(&b);
    }
}

static void attention_alone_needs_no_later_layers(void **state) {
    (void)state;
    enum { N = 60, TAIL = 9, START = N - TAIL };
    bed b;
    bed_open(&b, KV_BF16, 16, 1);
    int32_t table[3][TABLE], tokens[N];
    make_tables(table);
    random_tokens(tokens, N);
    compute(&b, table[0], tokens, 0, START, NULL, NULL, 0, NULL);
    for (int layers = 1; layers <= shape.layers; layers++) {
        uint64_t mass[2][N] = {0};
        for (int early = 0; early < 2; early++) {
            model_sequence s = {.tokens = tokens + START,
                                .n_tokens = TAIL,
                                .start = START,
                                .pages = table[0],
                                .n_pages = TABLE,
                                .attention = mass[early],
                                .n_attention = N,
                                .attention_layers = {0, layers},
                                .layers = early ? layers : 0};
            assert_ok(model_forward(b.c, b.kv, &s, 1, NULL, &err), &err);
        }
        assert_memory_equal(mass[0], mass[1], sizeof *mass);
        double sum = 0;
        for (int i = 0; i < N; i++) sum += (double)mass[1][i] * 0x1p-32;
        assert_true(fabs(sum - TAIL * shape.heads * layers) < 1e-3);
    }
    /* Beside one that wants logits all layers are computed, and its logits are the same. */
    float alone[V], beside[V];
    uint64_t mass[N] = {0};
    model_sequence both[2] = {
        {.tokens = tokens, .n_tokens = 20, .pages = table[1], .n_pages = TABLE, .n_logits = 1},
        {.tokens = tokens + START,
         .n_tokens = TAIL,
         .start = START,
         .pages = table[0],
         .n_pages = TABLE,
         .attention = mass,
         .n_attention = N,
         .attention_layers = {0, 1},
         .layers = 1}};
    assert_ok(model_forward(b.c, b.kv, both, 1, alone, &err), &err);
    assert_ok(model_forward(b.c, b.kv, both, 2, beside, &err), &err);
    assert_memory_equal(alone, beside, sizeof alone);
    both[1].n_logits = 1;
    assert_int_equal(model_forward(b.c, b.kv, both, 2, beside, &err), FO_EINVAL);
    both[1].n_logits = 0;
    both[1].layers = shape.layers + 1;
    assert_int_equal(model_forward(b.c, b.kv, both, 2, beside, &err), FO_EINVAL);
    bed_close(&b);
}

static void early_tokens_of_a_chunk_weigh_more(void **state) {
    (void)state;
    enum { N = 300, A = 5, B = 120 };
    uint64_t mass[N], was[N];
    kv_chunk_range r[2] = {{A, 100}, {B, 170}};
    for (int i = 0; i < N; i++) was[i] = mass[i] = (uint64_t)1 << 40;
    mass[A + 7] = was[A + 7] = UINT64_MAX; /* more than there is */
    mass[B + 3] = was[B + 3] = 0;
    kv_chunk_weigh(mass, r, 2);
    for (int i = 0; i < N; i++) {
        int k = i >= B ? i - B : i - A;
        if (i < A || (i >= A + 100 && i < B) || i >= B + 170)
            assert_true(mass[i] == was[i]); /* outside */
        else if (was[i] == (uint64_t)1 << 40)
            assert_true(mass[i] == (((uint64_t)1 << 48) / (uint64_t)(48 + k)));
    }
    assert_true(mass[A + 7] == UINT64_MAX / 55);
    assert_int_equal(mass[B + 3], 0);
    assert_true(mass[A] == mass[B] && mass[A] > mass[A + 1]);
}

static int compare_positions(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static void the_most_attended_positions_are_chosen(void **state) {
    (void)state;
    for (int round = 0; round < 300; round++) {
        uint64_t mass[200];
        for (int i = 0; i < 200; i++) mass[i] = test_random(&seed) % (round % 3 ? 1000000 : 4);
        kv_chunk_range r[3] = {{(int)(test_random(&seed) % 10), 0}};
        int32_t all[200], rows[200];
        int n = 0;
        for (int k = 0; k < 3; k++) {
            if (k) r[k].start = r[k - 1].start + r[k - 1].n + (int)(test_random(&seed) % 5);
            r[k].n = (int)(test_random(&seed) % 60);
            for (int i = 0; i < r[k].n; i++) all[n++] = r[k].start + i;
        }
        double share = (double)(test_random(&seed) % 101) / 100;
        int k = (int)lround(share * n);
        for (int i = 0; i < n; i++) /* selection sort by mass, then position */
            for (int j = i + 1; j < n; j++)
                if (mass[all[j]] > mass[all[i]] ||
                    (mass[all[j]] == mass[all[i]] && all[j] < all[i])) {
                    int32_t x = all[i];
                    all[i] = all[j];
                    all[j] = x;
                }
        qsort(all, (size_t)k, sizeof *all, compare_positions);
        assert_int_equal(kv_chunk_select(mass, r, 3, share, rows), k);
        assert_memory_equal(rows, all, (size_t)k * sizeof *rows);
    }
}

static void a_chunk_is_named_by_all_that_decides_its_kv(void **state) {
    (void)state;
    int32_t t[8] = {5, 6, 7, 8, 9, 10, 11, 12};
    kv_layout l = {.type = KV_BF16}, q8 = {.type = KV_Q8_0};
    unsigned char print[2][32] = {{1}, {2}}, salt[2][32] = {{1}, {2}}, keys[7][32];
    assert_ok(kv_chunk_key(keys[0], print[0], &l, salt[0], t, 3, t + 3, 4, &err), &err);
    assert_ok(kv_chunk_key(keys[1], print[1], &l, salt[0], t, 3, t + 3, 4, &err), &err);
    assert_ok(kv_chunk_key(keys[2], print[0], &q8, salt[0], t, 3, t + 3, 4, &err), &err);
    assert_ok(kv_chunk_key(keys[3], print[0], &l, salt[1], t, 3, t + 3, 4, &err), &err);
    assert_ok(kv_chunk_key(keys[4], print[0], &l, salt[0], t, 2, t + 2, 5, &err), &err);
    assert_ok(kv_chunk_key(keys[5], print[0], &l, salt[0], t, 3, t + 3, 3, &err), &err);
    assert_ok(kv_chunk_key(keys[6], print[0], &l, salt[0], t, 3, t + 4, 4, &err), &err);
    for (int i = 0; i < 7; i++)
        for (int j = 0; j < i; j++) assert_memory_not_equal(keys[i], keys[j], 32);
}

/* ---- through the engine --------------------------------------------------------------------- */

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
    tiny_model_write(path, &shape, &seed);
    snprintf(window_path, sizeof window_path, "%s/window.gguf", folder);
    tiny_shape window = shape;
    window.arch = "gemma3";
    window.window = 32;
    tiny_model_write(window_path, &window, &seed);
    return 0;
}

int main(void) {
    seed = test_seed();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_come_back_as_they_went_at_any_alignment),
        cmocka_unit_test(turned_keys_are_those_of_the_new_position),
        cmocka_unit_test(all_rows_again_give_the_exact_logits),
        cmocka_unit_test(attention_adds_up_to_one_and_to_the_same_in_any_cut),
        cmocka_unit_test(attention_alone_needs_no_later_layers),
        cmocka_unit_test(early_tokens_of_a_chunk_weigh_more),
        cmocka_unit_test(the_most_attended_positions_are_chosen),
        cmocka_unit_test(a_chunk_is_named_by_all_that_decides_its_kv),
        cmocka_unit_test(known_chunks_are_met_in_any_order_and_company),
        cmocka_unit_test(what_is_not_exact_is_never_attached),
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
