/* chunk_kv_test.c - KV moved to another position and partly computed again, below the engine:
 * against computing all of it, on a small random model. */
#include "tests/test.h"

#include <math.h>
#include <stdlib.h>

#include "engine/kv/kv_chunk.h"
#include "tests/engine/generate/engine_fixture.h"

enum { MOST = ASK_TOKENS, TABLE = 16 };

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
                        .attention_layers = {0, deeper_llama.layers}};
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

/* A key of the first layer depends on its token and its position alone: shifted from elsewhere it
 * must be what computing it there gives, up to rounding. The value stays as it is. */
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
            for (int h = 0; h < deeper_llama.kv_heads; h++) {
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
        assert_true(fabs(sum - TAIL * deeper_llama.heads * deeper_llama.layers) < 1e-3);
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
    for (int layers = 1; layers <= deeper_llama.layers; layers++) {
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
        assert_true(fabs(sum - TAIL * deeper_llama.heads * layers) < 1e-3);
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
    both[1].layers = deeper_llama.layers + 1;
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
    kv_chunk_key(keys[0], print[0], &l, salt[0], t, 3, t + 3, 4);
    kv_chunk_key(keys[1], print[1], &l, salt[0], t, 3, t + 3, 4);
    kv_chunk_key(keys[2], print[0], &q8, salt[0], t, 3, t + 3, 4);
    kv_chunk_key(keys[3], print[0], &l, salt[1], t, 3, t + 3, 4);
    kv_chunk_key(keys[4], print[0], &l, salt[0], t, 2, t + 2, 5);
    kv_chunk_key(keys[5], print[0], &l, salt[0], t, 3, t + 3, 3);
    kv_chunk_key(keys[6], print[0], &l, salt[0], t, 3, t + 4, 4);
    for (int i = 0; i < 7; i++)
        for (int j = 0; j < i; j++) assert_memory_not_equal(keys[i], keys[j], 32);
}

static int open_model(void **state) {
    open_folder(state);
    tiny_model_write(path, &deeper_llama, &seed);
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
    };
    return cmocka_run_group_tests(tests, open_model, remove_folder);
}
