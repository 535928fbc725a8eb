/* Number formats: halves to floats and back, rounding to nearest even, rows packed and unpacked,
 * extreme rows, names and numbers of the types. */
#include "tests/test.h"

#include <math.h>
#include "kernels/quant.h"

static uint32_t bits(float f) {
    uint32_t u;
    memcpy(&u, &f, 4);
    return u;
}

static float from_bits(uint32_t u) {
    float f;
    memcpy(&f, &u, 4);
    return f;
}

static void every_half_survives_the_way_to_float_and_back(void **state) {
    (void)state;
    for (uint32_t h = 0; h < 65536; h++) {
        float f = quant_f16_to_f32((uint16_t)h);
        bool nan = (h & 0x7C00) == 0x7C00 && (h & 0x3FF);
        assert_int_equal(isnan(f) != 0, nan);
        assert_int_equal(quant_f32_to_f16(f), nan ? h | 0x200 : h);
        float b = quant_bf16_to_f32((uint16_t)h);
        bool bnan = (h & 0x7F80) == 0x7F80 && (h & 0x7F);
        assert_int_equal(quant_f32_to_bf16(b), bnan ? h | 0x40 : h);
    }
}

/* The oracle: the two neighbours of x in the target format, compared in double. */
static uint16_t round_slowly(float x, float (*widen)(uint16_t), uint16_t inf, double beyond) {
    uint16_t sign = signbit(x) ? 0x8000 : 0;
    double a = fabs((double)x);
    uint16_t lo = 0, hi = inf;
    while (hi - lo > 1) { /* lo is the largest finite value <= a */
        uint16_t mid = (uint16_t)((lo + hi) / 2);
        if ((double)widen(mid) <= a)
            lo = mid;
        else
            hi = mid;
    }
    double below = (double)widen(lo);
    double above = lo + 1 == inf ? beyond : (double)widen((uint16_t)(lo + 1));
    if (isinf(x)) return sign | inf;
    double gap_low = a - below, gap_high = above - a;
    if (gap_low < gap_high || (gap_low == gap_high && lo % 2 == 0)) return sign | lo;
    return (uint16_t)(sign | (lo + 1));
}

static void narrowing_rounds_to_nearest_even(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    for (int i = 0; i < 300000; i++) {
        uint32_t u = (uint32_t)test_random(&seed);
        if (i % 3 == 0) u &= 0xFFFFF000;                                        /* ties */
        if (i % 5 == 0) u = (u & 0x807FFFFF) | ((uint32_t)(95 + i % 55) << 23); /* f16's range */
        float x = from_bits(u);
        if (isnan(x)) {
            assert_true(isnan(quant_f16_to_f32(quant_f32_to_f16(x))));
            assert_true(isnan(quant_bf16_to_f32(quant_f32_to_bf16(x))));
            continue;
        }
        assert_int_equal(quant_f32_to_f16(x), round_slowly(x, quant_f16_to_f32, 0x7C00, 0x1p16));
        assert_int_equal(quant_f32_to_bf16(x), round_slowly(x, quant_bf16_to_f32, 0x7F80, 0x1p128));
    }
    assert_int_equal(quant_f32_to_f16(65519.996f), 0x7BFF);
    assert_int_equal(quant_f32_to_f16(65520.0f), 0x7C00);
    assert_int_equal(bits(quant_f16_to_f32(0x8001)), bits(-0x1p-24f));
}

static float gaussian(uint64_t *seed) {
    double s = 0;
    for (int i = 0; i < 12; i++) s += test_uniform(seed);
    return (float)(s - 6);
}

/* Largest accepted relative RMS error on gaussian rows, a tenth above what was measured. */
static const struct {
    quant_type type;
    double worst;
} packed[] = {
    {QUANT_F32, 0},      {QUANT_F16, 3e-4},  {QUANT_BF16, 2e-3},  {QUANT_Q8_0, .0058},
    {QUANT_Q6_K, .0195}, {QUANT_Q5_K, .037}, {QUANT_Q5_1, .0425}, {QUANT_Q5_0, .047},
    {QUANT_Q4_K, .077},  {QUANT_Q4_1, .088}, {QUANT_Q4_0, .095},  {QUANT_IQ4_NL, .0795},
};

static void packed_rows_come_back_close(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    enum { N = 2560 };
    static float x[N], y[N];
    static unsigned char row[N * 4 + 1];
    for (size_t k = 0; k < sizeof packed / sizeof *packed; k++) {
        double error = 0, power = 0;
        for (int trial = 0; trial < 10; trial++) {
            for (int i = 0; i < N; i++) x[i] = 0.05f * gaussian(&seed);
            quant_pack_row(packed[k].type, x, row + 1, N); /* rows need no alignment */
            quant_unpack_row(packed[k].type, row + 1, y, N);
            for (int i = 0; i < N; i++) {
                error += (double)(y[i] - x[i]) * (double)(y[i] - x[i]);
                power += (double)x[i] * (double)x[i];
            }
        }
        double relative = sqrt(error / power);
        if (!(relative <= packed[k].worst))
            fail_msg("%s: relative error %.5f over %.5f", quant_type_traits(packed[k].type)->name,
                     relative, packed[k].worst);
    }
}

static void extreme_rows_pack_without_nonsense(void **state) {
    (void)state;
    static float x[256], y[256];
    static unsigned char row[1024];
    const float odd[] = {0,        -0.0f,     1,   -1,    1e-30f, 65504, -65504,
                         INFINITY, -INFINITY, NAN, 1e-8f, 1e-41f, 3e38f, -3e38f};
    uint64_t seed = test_seed();
    for (size_t k = 0; k < sizeof packed / sizeof *packed; k++) {
        if (packed[k].type == QUANT_F32 || packed[k].type == QUANT_F16 ||
            packed[k].type == QUANT_BF16)
            continue;
        for (int trial = 0; trial < 700; trial++) {
            int pool = trial % 14 + 1;
            for (int i = 0; i < 256; i++) x[i] = odd[test_random(&seed) % (uint64_t)pool];
            quant_pack_row(packed[k].type, x, row, 256);
            quant_unpack_row(packed[k].type, row, y, 256);
            for (int i = 0; i < 256; i++) assert_true(isfinite(y[i]));
        }
        memset(x, 0, sizeof x);
        quant_pack_row(packed[k].type, x, row, 256);
        quant_unpack_row(packed[k].type, row, y, 256);
        for (int i = 0; i < 256; i++) assert_true(y[i] == 0);
    }
}

static void knows_its_types_by_name_and_number(void **state) {
    (void)state;
    quant_type t;
    assert_true(quant_type_from_name("q4_k", &t));
    assert_int_equal(t, QUANT_Q4_K);
    assert_false(quant_type_from_name("q9_9", &t));
    assert_null(quant_type_traits(31));
    assert_null(quant_type_traits(4));
    assert_null(quant_type_traits(UINT32_MAX));
    size_t bytes;
    assert_true(quant_row_bytes(QUANT_Q6_K, 512, &bytes));
    assert_int_equal(bytes, 420);
    assert_false(quant_row_bytes(QUANT_Q6_K, 128, &bytes));
    assert_false(quant_row_bytes(QUANT_F32, UINT64_MAX / 2, &bytes));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_half_survives_the_way_to_float_and_back),
        cmocka_unit_test(narrowing_rounds_to_nearest_even),
        cmocka_unit_test(packed_rows_come_back_close),
        cmocka_unit_test(extreme_rows_pack_without_nonsense),
        cmocka_unit_test(knows_its_types_by_name_and_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
