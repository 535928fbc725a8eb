/* attention_amx_test.c - attention_amx.c against the definition in double and the AVX-512 kernel:
 * its source compiled against a model of the AMX instructions, and its machine code, on the
 * processor or, where that has no AMX, through traps (amx_trap.h). The rest of the kernel is
 * AVX-512, which must be there. */
#include "tests/test.h"

#include <math.h>

#include "kernels/attention.h"
#include "kernels/cpu.h"

#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c,bmi,bmi2,popcnt,avx512f,avx512bw,avx512dq,avx512vl")
#include "tests/kernels/amx_model.h"
#include "tests/kernels/amx_trap.h"
#define attention_amx attention_amx_modelled
#include "kernels/attention_amx.c"
#undef attention_amx
#pragma GCC pop_options

static uint64_t seed;

enum { KEYS = 112, DIM = 288, ROWS = ATTENTION_ROWS };

typedef struct problem {
    int dim, stride, n, lo[ROWS], hi[ROWS];
    float cap;
    bool bf16;
    float keys[KEYS * DIM], values[KEYS * DIM], q[ROWS * DIM];
} problem;

static void fill_floats(float *x, int n, float size, bool bf16) {
    for (int i = 0; i < n; i++) {
        x[i] = size * (float)(2 * test_uniform(&seed) - 1);
        uint32_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        if (bf16) bits &= 0xffff0000u;
        memcpy(&x[i], &bits, sizeof bits);
    }
}

static void make(problem *p, int dim, int n, bool bf16) {
    p->dim = dim, p->stride = (dim + 15) / 16 * 16, p->n = n, p->bf16 = bf16;
    p->cap = 0;
    fill_floats(p->keys, KEYS * dim, 2, bf16);
    fill_floats(p->values, KEYS * p->stride, 1, bf16);
    fill_floats(p->q, n * dim, dim < 64 ? 1.0f : 0.5f, false);
    const bool from_zero = test_random(&seed) % 2;
    for (int r = 0; r < n; r++) {
        p->hi[r] = 1 + (int)(test_random(&seed) % KEYS);
        p->lo[r] = from_zero ? 0 : (int)(test_random(&seed) % (uint64_t)p->hi[r]);
    }
}

/* Up to where ATTENTION_SPAN divides the position, or to the last key. */
static int blocks_of_span(int at, int end) {
    int stop = (at / ATTENTION_SPAN + 1) * ATTENTION_SPAN;
    return ((end < stop ? end : stop) - at + 15) / 16;
}

/* Rows [first, first + rows) through a table: o[rows][stride], and the weights of all keys. */
static void attend(const problem *p, const attention_kernels *a, int first, int rows, float *o,
                   float (*w)[KEYS]) {
    static float tile_q[ROWS * DIM], p16[ROWS][16];
    attention_tile t = {.n_rows = rows,
                        .k_dim = p->dim,
                        .v_dim = p->dim,
                        .v_stride = p->stride,
                        .soft_cap = p->cap,
                        .bf16 = p->bf16,
                        .q = tile_q,
                        .o = o};
    for (int i = 0; i < ROWS * DIM; i++) tile_q[i] = NAN; /* what lies there is not looked at */
    memcpy(tile_q, p->q + first * p->dim, (size_t)(rows * p->dim) * sizeof(float));
    int begin = KEYS, end = 0, lo[ROWS], hi[ROWS];
    for (int r = first; r < first + rows; r++) {
        begin = p->lo[r] < begin ? p->lo[r] : begin;
        end = p->hi[r] > end ? p->hi[r] : end;
    }
    static float values[KEYS * DIM]; /* behind the last key that a row sees: no numbers */
    for (int i = 0; i < KEYS * p->stride; i++) values[i] = i < end * p->stride ? p->values[i] : NAN;
    a->begin(&t);
    for (int at = begin / 16 * 16, next; at < end; at = next) {
        const int blocks = blocks_of_span(at, end);
        next = at + blocks * 16;
        for (int r = 0; r < rows; r++) {
            lo[r] = p->lo[first + r] > at ? p->lo[first + r] - at : 0;
            hi[r] = (p->hi[first + r] < next ? p->hi[first + r] : next) - at;
        }
        a->span(&t, blocks, p->keys + at * p->dim, values + at * p->stride, lo, hi);
    }
    a->end(&t);
    for (int at = 0; w && at < KEYS; at += 16) {
        for (int r = 0; r < rows; r++) lo[r] = p->lo[first + r] - at, hi[r] = p->hi[first + r] - at;
        a->weights(&t, p->keys + at * p->dim, lo, hi, p16);
        for (int r = 0; r < rows; r++) memcpy(&w[r][at], p16[r], sizeof p16[r]);
    }
}

/* One row in double: the result and the weights. */
static void define(const problem *p, int r, double *o, double *w) {
    double top = -1e300, sum = 0;
    for (int j = 0; j < KEYS; j++) {
        w[j] = 0;
        for (int d = 0; d < p->dim; d++)
            w[j] +=
                (double)p->q[r * p->dim + d] * (double)p->keys[(j / 16 * p->dim + d) * 16 + j % 16];
        if (p->cap > 0) w[j] = (double)p->cap * tanh(w[j] / (double)p->cap);
        if (j >= p->lo[r] && j < p->hi[r] && w[j] > top) top = w[j];
    }
    for (int j = 0; j < KEYS; j++) {
        w[j] = j >= p->lo[r] && j < p->hi[r] ? exp(w[j] - top) : 0;
        sum += w[j];
    }
    for (int d = 0; d < p->dim; d++) o[d] = 0;
    for (int j = 0; j < KEYS; j++) {
        w[j] /= sum;
        for (int d = 0; d < p->dim; d++) o[d] += w[j] * (double)p->values[j * p->stride + d];
    }
}

static void need_avx512(void) {
    if (fo_cpu()->level >= FO_CPU_AVX512) return;
    print_message("# no AVX-512 here\n");
    skip();
}

/* The model and the machine code; NULL at the end, and where the machine code cannot run. */
static const attention_kernels *table(int i) {
    if (i == 0) return &attention_amx_modelled;
    if (i > 1) return NULL;
    return amx_trap() ? &attention_amx : attention_get_level(FO_CPU_AMX);
}

static void no_fault(void) {
    if (amx.fault[0]) fail_msg("%s", amx.fault);
    assert_false(amx.configured); /* released */
}

static void follows_its_definition_whatever_the_tile(void **state) {
    (void)state;
    need_avx512();
    static problem p;
    static float o[ROWS * DIM], alone[ROWS * DIM], w[ROWS][KEYS];
    const int dims[] = {16, 32, 48, 64, 80, 128, 256};
    double worst = 0;
    for (int round = 0; round < 28; round++) {
        make(&p, dims[round % 7], 1 + round % ROWS, true);
        if (round % 5 == 0) p.cap = 5;
        for (int i = 0; table(i); i++) {
            amx_forget();
            attend(&p, table(i), 0, p.n, o, w);
            no_fault();
            if (i == 0 || fo_cpu()->level < FO_CPU_AMX) assert_true(amx.n_dot_bf16 > 0);
            for (int r = 0; r < p.n; r++) {
                double want[DIM], weight[KEYS];
                define(&p, r, want, weight);
                for (int d = 0; d < p.dim; d++)
                    worst = fmax(worst, fabs(want[d] - (double)o[r * p.stride + d]));
                for (int j = 0; j < KEYS; j++) {
                    assert_true(fabs(weight[j] - (double)w[r][j]) < 1e-4);
                    if (weight[j] == 0) assert_true(w[r][j] == 0);
                }
                attend(&p, table(i), r, 1, alone, NULL);
                assert_memory_equal(alone, o + r * p.stride, (size_t)p.dim * sizeof(float));
            }
            no_fault();
        }
    }
    print_message("# off by %.1e at most\n", worst);
    assert_true(worst < 5e-5);
}

static void what_tiles_do_not_fit_is_the_code_of_avx512(void **state) {
    (void)state;
    need_avx512();
    static problem p;
    static float o[ROWS * DIM], want[ROWS * DIM], w[ROWS][KEYS], weight[ROWS][KEYS];
    const int dims[] = {64, 24, 272};
    for (int i = 0; i < 3; i++) {
        make(&p, dims[i], 20, i > 0); /* not bf16; no multiple of 16; too wide */
        attend(&p, &attention_avx512, 0, p.n, want, weight);
        for (int j = 0; table(j); j++) {
            amx_forget();
            attend(&p, table(j), 0, p.n, o, w);
            no_fault();
            assert_int_equal(amx.n_config, 0);
            for (int r = 0; r < p.n; r++)
                assert_memory_equal(o + r * p.stride, want + r * p.stride,
                                    (size_t)p.dim * sizeof(float));
            assert_memory_equal(w, weight, (size_t)p.n * sizeof *w);
        }
    }
}

/* Scores of hundreds, as trained models have, and values of which some are denormal or huge. */
static void extreme_numbers_stay_near_and_finite(void **state) {
    (void)state;
    need_avx512();
    static problem p;
    static float o[ROWS * DIM];
    for (int round = 0; round < 12; round++) {
        make(&p, 64, 40, true);
        for (int i = 0; i < p.n * p.dim; i++) p.q[i] *= 30;
        for (int i = 0; i < KEYS * p.stride; i++)
            if (i % 7 == 0) p.values[i] = i % 2 ? 0x1p-130f : 0x1p100f;
        for (int i = 0; table(i); i++) {
            amx_forget();
            attend(&p, table(i), 0, p.n, o, NULL);
            no_fault();
            for (int r = 0; r < p.n; r++) {
                double want[DIM], weight[KEYS];
                define(&p, r, want, weight);
                for (int d = 0; d < p.dim; d++) {
                    double size = 0;
                    for (int j = 0; j < KEYS; j++)
                        size += weight[j] * fabs((double)p.values[j * p.stride + d]);
                    double off = fabs(want[d] - (double)o[r * p.stride + d]);
                    assert_true(off <= 5e-3 * size + 1e-30); /* a score of 500 has 2^-15 * 2 */
                }
            }
        }
    }
}

static void a_block_takes_as_many_products_as_documented(void **state) {
    (void)state;
    need_avx512();
    static problem p;
    static float o[ROWS * DIM];
    make(&p, 64, 48, true);
    for (int r = 0; r < 48; r++) p.lo[r] = 0, p.hi[r] = KEYS;
    amx_forget();
    attend(&p, &attention_amx_modelled, 0, 48, o, NULL);
    assert_int_equal(amx.n_dot_bf16, 24 * KEYS / 16);
    assert_int_equal(amx.n_config, 1);
    assert_int_equal(amx.n_release, 1);
}

int main(void) {
    seed = test_seed();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follows_its_definition_whatever_the_tile),
        cmocka_unit_test(what_tiles_do_not_fit_is_the_code_of_avx512),
        cmocka_unit_test(extreme_numbers_stay_near_and_finite),
        cmocka_unit_test(a_block_takes_as_many_products_as_documented),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
