/* matmul_test.c - every matrix kernel against plain sums in double, every ISA level against the
 * generic one bit for bit where sums are integer, and row invariance of the float kernel. */
#include "tests/test.h"

#include <math.h>

#include "kernels/matmul.h"
#include "kernels/pool.h"
#include "tests/kernels/matmul_problem.h"

static const char *const levels[] = {"generic", "avx2", "avxvnni", "avx512", "amx"};
enum { N_LEVELS = 5 };

static const quant_type types[] = {QUANT_F32,  QUANT_F16,  QUANT_Q8_0,   QUANT_Q4_0,  QUANT_Q4_1,
                                   QUANT_Q4_K, QUANT_Q6_K, QUANT_BF16,   QUANT_Q5_0,  QUANT_Q5_1,
                                   QUANT_Q5_K, QUANT_Q3_K, QUANT_IQ4_NL, QUANT_IQ4_XS};
enum { N_TYPES = sizeof types / sizeof *types };

static int next_k(quant_type type) {
    int block = (int)quant_type_traits(type)->block_size;
    int k = 1 + (int)(test_random(&seed) % (type == QUANT_F32 ? 200 : MAX_K));
    k = (k + block - 1) / block * block;
    return k > MAX_K ? MAX_K / block * block : k;
}

static void every_kernel_gives_the_sums(void **state) {
    (void)state;
    static problem p;
    static float first[MAX_M * STRIDE], out[MAX_M * STRIDE];
    for (int round = 0; round < 20 * N_TYPES; round++) {
        quant_type type = types[round % N_TYPES];
        bool fast = round / N_TYPES % 2;
        make(&p, type, fast, 1 + (int)(test_random(&seed) % MAX_M),
             1 + (int)(test_random(&seed) % MAX_N), next_k(type),
             (round % 3 ? EXTREME : 0) | (round % 4 ? round % 4 == 1 ? TILES : WIDE : 0));
        for (int l = 0; l < N_LEVELS; l++) {
            const mm_kernels *t = mm_get_named(levels[l]);
            if (!t) continue;
            float *to = l ? out : first;
            memset(to, 0x7f, sizeof first);
            t->run[p.w.kind](&p.w, &p.in, 0, p.m, 0, p.w.n_panels, to, STRIDE);
            double e = error_of(&p, to);
            if (!(e < 2e-5)) fail_msg("%s, kind %d: error %g", levels[l], (int)p.w.kind, e);
            if (p.w.kind == MM_F32) continue;
            for (int i = 0; i < p.m; i++)
                assert_memory_equal(to + i * STRIDE, first + i * STRIDE,
                                    (size_t)p.n * sizeof(float));
        }
        mm_weights_deinit(&p.w);
    }
}

static void a_row_does_not_depend_on_its_company(void **state) {
    (void)state;
    static problem p;
    static float all[MAX_M * STRIDE], part[MAX_M * STRIDE];
    for (int round = 0; round < 6 * N_TYPES; round++) {
        quant_type type = types[round % N_TYPES];
        make(&p, type, round / N_TYPES % 2, MAX_M, MAX_N, next_k(type),
             round % 4 ? round % 4 == 1 ? TILES : WIDE : 0);
        for (int l = 0; l < N_LEVELS; l++) {
            const mm_kernels *t = mm_get_named(levels[l]);
            if (!t) continue;
            t->run[p.w.kind](&p.w, &p.in, 0, p.m, 0, p.w.n_panels, all, STRIDE);
            for (int size = 1; size <= 16; size++) {
                int row = (int)(test_random(&seed) % (uint64_t)(MAX_M - size));
                int panel = (int)(test_random(&seed) % (uint64_t)p.w.n_panels);
                t->run[p.w.kind](&p.w, &p.in, row, row + size, panel, panel + 1, part, STRIDE);
                for (int i = row; i < row + size; i++)
                    assert_memory_equal(part + i * STRIDE + panel * MM_PANEL,
                                        all + i * STRIDE + panel * MM_PANEL,
                                        MM_PANEL * sizeof(float));
            }
        }
        mm_weights_deinit(&p.w);
    }
}

/* Rows and channels beyond what a kernel takes at a time: as one call, row by row, as a second
 * term. */
static void blocks_of_rows_and_channels_do_not_change_a_bit(void **state) {
    (void)state;
    enum { M = 261, N = 48, K = 2304, G = K / 32 };
    static float x[K], all[M * N], one[M * N], base[M * N];
    static int8_t q[M * K];
    static float scale[M * G], wsum[M * G], scratch[K];
    static int32_t sum[M * G], halves[M * G * 2], compensation[M * G * 4];
    mm_input in = {.q = q,
                   .scale = scale,
                   .wsum = wsum,
                   .sum = sum,
                   .halves = halves,
                   .compensation = compensation,
                   .q_stride = K,
                   .g_stride = G};
    for (int t = 0; t < N_INTEGER; t++) {
        mm_weights w;
        mm_kind kind = wide_if_last(t) == WIDE    ? MM_W8W
                       : wide_if_last(t) == TILES ? MM_W8T
                                                  : mm_kind_for(integer[t], true);
        for (int i = 0; i < M && (t == 0 || wide_if_last(t)); i++) {
            for (int j = 0; j < K; j++) x[j] = sample(i % 2 ? EXTREME : 0);
            const vec_codes to = {.q = q + i * K,
                                  .scale = scale + i * G,
                                  .sum = sum + i * G,
                                  .halves = halves + i * G * 2,
                                  .wsum = wsum + i * G,
                                  .compensation = compensation + i * G * 4,
                                  .wide = mm_is_wide(kind)};
            vec_generic.quantize(&to, x, K, K);
        }
        assert_ok(mm_weights_init(&w, kind, N, K, NULL, &err), &err);
        size_t row_bytes;
        assert_true(quant_row_bytes(integer[t], K, &row_bytes));
        unsigned char *rows = malloc(N * row_bytes);
        for (int i = 0; i < N; i++) {
            for (int j = 0; j < K; j++) x[j] = sample(0);
            make_row(integer[t], x, rows + (size_t)i * row_bytes, K);
        }
        mm_weights_pack(&w, 0, w.n_panels, integer[t], rows, row_bytes, NULL, scratch);
        free(rows);
        for (int l = 0; l < N_LEVELS; l++) {
            const mm_kernels *k = mm_get_named(levels[l]);
            if (!k) continue;
            for (int add = 0; add < 2; add++) {
                in.add = add;
                for (int i = 0; i < M * N; i++) all[i] = one[i] = (float)i;
                k->run[kind](&w, &in, 0, M, 0, w.n_panels, all, N);
                for (int i = 0; i < M; i++) k->run[kind](&w, &in, i, i + 1, 0, w.n_panels, one, N);
                assert_memory_equal(all, one, sizeof all);
                if (!l && !add) memcpy(base, all, sizeof base);
                if (!add) assert_memory_equal(all, base, sizeof base);
            }
        }
        mm_weights_deinit(&w);
    }
}

/* Octets of activations as large as vec_kernels.quantize allows, and of weights (MM_NORM) that make
 * the largest sums with them. */
enum { N_OCTETS = 6 };
static const int8_t large_x[N_OCTETS][8] = {
    {58, 58, 58, 58, 58, 58, 57, 57}, {127, 1, 103, 0, 0, 0, 0, 0},
    {64, 64, 64, 64, 64, 64, 40, 26}, {-116, 115, 0, 0, 0, 0, 0, 0},
    {-1, 127, 0, 0, 0, 0, 0, 103},    {58, -58, 58, -58, 58, -58, 58, -57}};
static const int8_t large_w[N_OCTETS][8] = {
    {70, 70, 70, 70, 70, 70, 71, 71}, {127, 1, 127, 0, 85, 0, 0, 0},
    {77, 77, 77, 77, 77, 77, 49, 31}, {-127, 127, 0, 0, 85, 0, 0, 0},
    {-1, 127, 0, 0, 85, 0, 0, 127},   {70, -70, 70, -70, 70, -70, 71, -71}};

/* Where channel c stands in its octet: 0 1 4 5 8 9 12 13 or 2 3 6 7 10 11 14 15 of 16. */
static int in_octet(int c) {
    return c % 16 / 4 * 2 + c % 2;
}

/* Codes of weights at the ends of what they may be. */
static void fill_weights(problem *p, int round) {
    unsigned char at_end = round / N_INTEGER % 2 ? 0xff : 0;
    for (int panel = 0; panel < p->w.n_panels; panel++) {
        unsigned char *to = p->w.data + (size_t)panel * p->w.panel_bytes;
        for (size_t i = 0; i < p->w.scale_offset; i++) {
            to[i] = at_end;
            if (!mm_is_wide(p->w.kind)) continue;
            const int lane = (int)(i % 64 / 4), c = (int)(i / 64 * 4 + i % 4);
            const int w = large_w[(c / 16 + lane) % N_OCTETS][in_octet(c)];
            to[i] = (unsigned char)((at_end ? w : -w) + (p->w.kind == MM_W8T ? 0 : 128));
        }
    }
}

/* Activations at the ends of what they may be: +-127, and for weights of 8 bits what
 * vec_kernels.quantize allows neighbours and quads or octets. */
static void fill_with_largest(problem *p, int round) {
    static const int8_t quads[][4] = {{64, 64, 64, 63},   {127, 1, 127, 0},   {-127, 127, 0, 1},
                                      {127, 1, -126, -1}, {-64, -64, 127, 0}, {0, 127, 0, 127},
                                      {64, 64, -64, -63}, {-63, 127, 64, -1}};
    const int sign = round / (2 * N_INTEGER) ? -1 : 1;
    for (int i = 0; i < p->m * MAX_K; i++)
        if (mm_is_wide(p->w.kind)) /* a row meets each of a weight's octets */
            p->q[i] =
                (int8_t)(sign * large_x[(i % MAX_K / 16 + i / MAX_K) % N_OCTETS][in_octet(i)]);
        else if (mm_has_8_bits(p->w.kind))
            p->q[i] = (int8_t)(sign * quads[i / 16 % 8][i % 8 / 4 * 2 + i % 2]);
        else
            p->q[i] = (int8_t)(sign * 127);
    for (int r = 0; r < p->m; r++)
        for (int g = 0; g < (int)p->in.g_stride; g++) {
            size_t at = (size_t)r * p->in.g_stride + (size_t)g;
            const int8_t *q = p->q + r * MAX_K + g * 32;
            int32_t *halves = p->halves + at * 2;
            p->sum[at] = halves[0] = halves[1] = 0;
            for (int i = 0; i < 32; i++) p->sum[at] += q[i];
            for (int i = 0; i < 32; i++) halves[i / 16] -= 32 * q[i];
            p->wsum[at] = p->scale[at] * (float)p->sum[at];
            const bool wide = mm_is_wide(p->w.kind);
            for (int i = 0; i < (wide ? 2 : 4); i++) {
                int sum[2] = {0};
                for (int c = 0; c < (wide ? 16 : 8); c++) sum[c / 2 % 2] += *q++;
                p->compensation[at * 4 + (size_t)i] =
                    (int32_t)((uint32_t)(uint16_t)(-128 * sum[0]) | (uint32_t)(-128 * sum[1])
                                                                        << 16);
            }
        }
}

/* All codes at their ends: weights -128 .. 127 as a hostile file may hold them (wide kinds are
 * always rounded here), and activations.
 * The proof of matmul_avx2.c that no 16-bit sum saturates, tried out. */
static void the_largest_codes_do_not_saturate(void **state) {
    (void)state;
    static problem p;
    static float first[MAX_M * STRIDE], out[MAX_M * STRIDE];
    for (int round = 0; round < 4 * N_INTEGER; round++) {
        quant_type type = integer[round % N_INTEGER];
        /* wide kinds: few rows and many */
        make(&p, type, true, (round + round / N_INTEGER) % 2 ? 29 : 7, 32, 256,
             wide_if_last(round));
        fill_weights(&p, round);
        fill_with_largest(&p, round);
        for (int l = 0; l < N_LEVELS; l++) {
            const mm_kernels *t = mm_get_named(levels[l]);
            if (!t) continue;
            float *to = l ? out : first;
            t->run[p.w.kind](&p.w, &p.in, 0, p.m, 0, p.w.n_panels, to, STRIDE);
            assert_true(error_of(&p, to) < 1e-5);
            for (int i = 0; i < p.m; i++)
                assert_memory_equal(to + i * STRIDE, first + i * STRIDE, 32 * sizeof(float));
        }
        mm_weights_deinit(&p.w);
    }
}

static void the_second_term_is_added_to_the_first(void **state) {
    (void)state;
    static problem p;
    static float once[MAX_M * STRIDE], twice[MAX_M * STRIDE];
    make(&p, QUANT_Q8_0, true, 8, 48, 256, EXTREME);
    const mm_kernels *t = mm_get();
    t->run[MM_W8](&p.w, &p.in, 0, 8, 0, 3, once, STRIDE);
    memcpy(twice, once, sizeof once);
    p.in.add = true;
    t->run[MM_W8](&p.w, &p.in, 0, 8, 0, 3, twice, STRIDE);
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 48; j++) assert_true(twice[i * STRIDE + j] == 2 * once[i * STRIDE + j]);
    mm_weights_deinit(&p.w);
}

/* A sum over some groups is the sum over all with the other activations at zero. */
static void a_list_of_groups_leaves_the_others_out(void **state) {
    (void)state;
    static problem p;
    static float some[MAX_M * STRIDE], all[MAX_M * STRIDE];
    static const int list[4] = {1, 4, 5, 7};
    for (int round = 0; round < 2 * N_INTEGER; round++) {
        if (wide_if_last(round)) continue; /* take none */
        make(&p, integer[round % N_INTEGER], true, 9, 40, 256, round / N_INTEGER ? EXTREME : 0);
        for (int l = 0; l < N_LEVELS; l++) {
            const mm_kernels *t = mm_get_named(levels[l]);
            if (!t) continue;
            mm_input in = p.in;
            in.groups = list, in.n_groups = 4;
            t->run[p.w.kind](&p.w, &in, 0, 9, 0, p.w.n_panels, some, STRIDE);
            static problem zeroed;
            zeroed = p;
            for (int i = 0; i < 9; i++)
                for (int g = 0; g < 8; g++) {
                    if (g == list[0] || g == list[1] || g == list[2] || g == list[3]) continue;
                    size_t at = (size_t)i * p.in.g_stride + (size_t)g;
                    memset(zeroed.q + i * MAX_K + g * 32, 0, 32);
                    zeroed.scale[at] = zeroed.wsum[at] = 0;
                    zeroed.sum[at] = zeroed.halves[at * 2] = zeroed.halves[at * 2 + 1] = 0;
                }
            in = p.in;
            in.q = zeroed.q, in.scale = zeroed.scale, in.wsum = zeroed.wsum;
            in.sum = zeroed.sum, in.halves = zeroed.halves;
            t->run[p.w.kind](&p.w, &in, 0, 9, 0, p.w.n_panels, all, STRIDE);
            for (int i = 0; i < 9; i++)
                assert_memory_equal(some + i * STRIDE, all + i * STRIDE, 40 * sizeof(float));
        }
        mm_weights_deinit(&p.w);
    }
}

/* Rounded weights that are infinite or no number are zero; their neighbours are what they were, but
 * rotated, where all that share a scale with them are zero. */
static void weights_that_are_no_numbers_are_zero(void **state) {
    (void)state;
    enum { K = 256 };
    float rows[2][K], scratch[K];
    for (int wide = 0; wide < 2; wide++) {
        for (int j = 0; j < K; j++) rows[0][j] = rows[1][j] = 1.0f + 0.5f * sample(0);
        rows[0][3] = NAN, rows[0][7] = INFINITY, rows[0][8] = -INFINITY;
        mm_weights w;
        assert_ok(mm_weights_init(&w, wide ? MM_W8W : MM_W8, 2, K, NULL, &err), &err);
        mm_weights_pack(&w, 0, 1, QUANT_F32, rows, sizeof rows[0], NULL, scratch);
        for (int j = 0; j < K; j++) {
            const float odd = mm_weights_at(&w, 0, j), even = mm_weights_at(&w, 1, j);
            const bool gone = wide ? j < MM_WIDE : j == 3 || j == 7 || j == 8;
            if (gone)
                assert_true(odd == 0);
            else if (!wide)
                assert_true(fabsf(odd - rows[0][j]) <= 1.5f / 127.0f * 0.51f);
            else
                assert_true(odd == even);
        }
        mm_weights_deinit(&w);
    }
}

static void refuses_sizes_out_of_bounds(void **state) {
    (void)state;
    mm_weights w;
    assert_int_equal(mm_weights_init(&w, MM_W8, 0, 32, NULL, &err), FO_EINVAL);
    assert_int_equal(mm_weights_init(&w, MM_W8, 32, -1, NULL, &err), FO_EINVAL);
    assert_int_equal(mm_weights_init(&w, MM_K6, 32, 128, NULL, &err), FO_EINVAL);
    assert_int_equal(mm_weights_init(&w, MM_F32, INT32_MAX, 1 << 24, NULL, &err), FO_EINVAL);
}

int main(void) {
    seed = test_seed();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kernel_gives_the_sums),
        cmocka_unit_test(a_row_does_not_depend_on_its_company),
        cmocka_unit_test(blocks_of_rows_and_channels_do_not_change_a_bit),
        cmocka_unit_test(the_largest_codes_do_not_saturate),
        cmocka_unit_test(the_second_term_is_added_to_the_first),
        cmocka_unit_test(a_list_of_groups_leaves_the_others_out),
        cmocka_unit_test(weights_that_are_no_numbers_are_zero),
        cmocka_unit_test(refuses_sizes_out_of_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
