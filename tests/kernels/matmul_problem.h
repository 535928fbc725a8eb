/* matmul_problem.h - weights of any kind and rows for them, random and extreme, for the tests of
 * matmul, and how far a result is from plain sums in double. */
#ifndef FORAGE_TESTS_KERNELS_MATMUL_PROBLEM_H
#define FORAGE_TESTS_KERNELS_MATMUL_PROBLEM_H

#include "tests/test.h"

#include <math.h>

#include "kernels/matmul.h"
#include "kernels/vec.h"

static uint64_t seed;
static fo_err err;
enum { MAX_K = 640, MAX_N = 100, MAX_M = 52, STRIDE = 128 };

typedef struct problem {
    mm_weights w;
    int m, n, k;
    float x[MAX_M * MAX_K];
    int8_t q[MAX_M * MAX_K];
    float scale[MAX_M * MAX_K / 32], wsum[MAX_M * MAX_K / 32];
    int32_t sum[MAX_M * MAX_K / 32], halves[MAX_M * MAX_K / 16], compensation[MAX_M * MAX_K / 8];
    mm_input in;
} problem;

enum { EXTREME = 1, WIDE = 2, TILES = 4 /* MM_W8W, MM_W8T in place of MM_W8 */ };

static float sample(int flags) {
    float u = (float)(2 * test_uniform(&seed) - 1);
    if (!(flags & EXTREME)) return u;
    switch (test_random(&seed) % 4) {
    case 0:
        return 1.0f; /* the largest code, so that pairs come as close to saturation as can be */
    case 1:
        return -1.0f;
    case 2:
        return 0.0f;
    default:
        return u * 100.0f; /* outliers */
    }
}

/* A row of a type; of those that nothing packs, any bits with scales that are numbers. */
static void make_row(quant_type type, const float *x, unsigned char *row, int k) {
    const quant_traits *t = quant_type_traits(type);
    if (quant_can_pack(type)) {
        quant_pack_row(type, x, row, (size_t)k);
        return;
    }
    const size_t scale_at = type == QUANT_Q3_K ? 108 : 0;
    for (int i = 0; i < k / (int)t->block_size; i++, row += t->block_bytes) {
        for (size_t j = 0; j < t->block_bytes; j++) row[j] = (unsigned char)test_random(&seed);
        const uint16_t scale = quant_f32_to_f16((float)(test_uniform(&seed) - 0.5) * 0.1f);
        memcpy(row + scale_at, &scale, sizeof scale);
    }
}

static void make(problem *p, quant_type type, bool fast, int m, int n, int k, int flags) {
    p->m = m, p->n = n, p->k = k;
    mm_kind kind = mm_kind_for(type, fast);
    if (flags & (WIDE | TILES) && kind == MM_W8) kind = flags & WIDE ? MM_W8W : MM_W8T;
    assert_ok(mm_weights_init(&p->w, kind, n, k, NULL, &err), &err);
    size_t row_bytes;
    assert_true(quant_row_bytes(type, (uint64_t)k, &row_bytes));
    unsigned char *rows = malloc((size_t)n * row_bytes);
    float row[MAX_K], scratch[MAX_K];
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < k; j++) row[j] = sample(flags);
        make_row(type, row, rows + (size_t)i * row_bytes, k);
    }
    mm_weights_pack(&p->w, 0, p->w.n_panels, type, rows, row_bytes, NULL, scratch);
    for (int i = 0; i < n; i++) { /* repacking keeps or nearly keeps the tensor's values */
        quant_unpack_row(type, rows + (size_t)i * row_bytes, row, (size_t)k);
        if (mm_is_wide(kind)) vec_generic.rotate(row, row, k, p->w.k_padded);
        const int n_row = mm_is_wide(kind) ? p->w.k_padded : k;
        float top = 0;
        for (int j = 0; j < n_row; j++) top = fabsf(row[j]) > top ? fabsf(row[j]) : top;
        bool exact = !mm_is_wide(kind) && (kind != MM_W8 || type == QUANT_Q8_0);
        if (mm_is_wide(kind)) /* octets may be all of one size, and bound the scale then */
            top *= fmaxf(1.0f, 127.0f * sqrtf(8) / (MM_NORM - 1.5f));
        for (int j = 0; j < n_row; j++) {
            float d = fabsf(mm_weights_at(&p->w, i, j) - row[j]);
            if (exact)
                assert_true(d == 0);
            else
                assert_true(d <= top / 127.0f * 0.51f + 1e-6f);
        }
    }
    free(rows);
    int kp = p->w.kind == MM_F32 ? (k + 31) / 32 * 32 : p->w.k_padded, groups = kp / 32;
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < k; j++) p->x[i * MAX_K + j] = sample(flags);
        const vec_codes to = {.q = p->q + i * MAX_K,
                              .scale = p->scale + i * groups,
                              .sum = p->sum + i * groups,
                              .halves = p->halves + 2 * i * groups,
                              .wsum = p->wsum + i * groups,
                              .compensation =
                                  mm_has_8_bits(kind) ? p->compensation + 4 * i * groups : NULL,
                              .wide = mm_is_wide(kind)};
        vec_generic.quantize(&to, p->x + i * MAX_K, k, kp);
    }
    p->in = (mm_input){.x = p->x,
                       .x_stride = MAX_K,
                       .q = p->q,
                       .scale = p->scale,
                       .wsum = p->wsum,
                       .sum = p->sum,
                       .halves = p->halves,
                       .compensation = p->compensation,
                       .q_stride = MAX_K,
                       .g_stride = (size_t)groups};
}

/* The largest error over the largest sum of magnitudes. */
__attribute__((unused)) static double error_of(const problem *p, const float *out) {
    double worst = 0;
    for (int i = 0; i < p->m; i++)
        for (int j = 0; j < p->n; j++) {
            double sum = 0, size = 1e-30;
            for (int c = 0; c < p->k; c++) {
                double x =
                    p->w.kind == MM_F32
                        ? (double)p->x[i * MAX_K + c]
                        : (double)p->q[i * MAX_K + c] *
                              (double)p->scale[(size_t)i * p->in.g_stride + (size_t)(c / 32)];
                double t = x * (double)mm_weights_at(&p->w, j, c);
                sum += t;
                size += fabs(t);
            }
            double d = fabs(sum - (double)out[i * STRIDE + j]) / size;
            if (!(d <= worst)) worst = d;
        }
    return worst;
}

/* One for each integer kind. */
static const quant_type integer[] = {QUANT_Q8_0,   QUANT_Q4_0, QUANT_Q4_1, QUANT_Q5_0, QUANT_Q5_1,
                                     QUANT_Q4_K,   QUANT_Q5_K, QUANT_Q6_K, QUANT_Q3_K, QUANT_IQ4_NL,
                                     QUANT_IQ4_XS, QUANT_Q8_0, QUANT_Q8_0};
enum { N_INTEGER = sizeof integer / sizeof *integer };
static int wide_if_last(int i) { /* the last two of them are wide */
    i %= N_INTEGER;
    return i == N_INTEGER - 1 ? WIDE : i == N_INTEGER - 2 ? TILES : 0;
}

#endif
