/* amx_model_test.c - the model of AMX that the kernels are proven against, itself against plain
 * sums and against the list of what the processor refuses. */
#include "tests/test.h"

#include "tests/kernels/amx_model.h"

static uint64_t seed;

static const tile_config full = {
    .palette = 1,
    .row_bytes = {64, 64, 64, 64, 64, 64, 64, 64},
    .rows = {16, 16, 16, 16, 16, 16, 16, 16},
};

static void fill(void *to, size_t n) {
    for (size_t i = 0; i < n; i++) ((uint8_t *)to)[i] = (uint8_t)test_random(&seed);
}

static void a_product_of_bytes_is_the_plain_sum(void **state) {
    (void)state;
    for (int round = 0; round < 64; round++) {
        int m = 1 + (int)(test_random(&seed) % 16), n = 1 + (int)(test_random(&seed) % 16),
            k = 1 + (int)(test_random(&seed) % 16);
        tile_config c = {.palette = 1};
        c.rows[0] = c.rows[1] = (uint8_t)m, c.rows[2] = (uint8_t)k;
        c.row_bytes[0] = c.row_bytes[2] = (uint16_t)(4 * n), c.row_bytes[1] = (uint16_t)(4 * k);
        int8_t a[16][64], b[16][64];
        int32_t start[16][16], sum[16][16];
        fill(a, sizeof a), fill(b, sizeof b), fill(start, sizeof start);
        if (round % 4 == 0) memset(a, -128, sizeof a), memset(b, -128, sizeof b);
        for (int kind = 0; kind < 4; kind++) {
            amx_forget();
            tile_configure(&c);
            tile_load(0, start, 64);
            tile_load(1, a, 64);
            tile_load(2, b, 64);
            const bool sa = kind & 1, sb = kind & 2;
            amx_dot_i8("TDPB", 0, 1, 2, sa, sb);
            memcpy(sum, start, sizeof sum);
            tile_store(0, sum, 64);
            assert_string_equal(amx.fault, "");
            for (int i = 0; i < 16; i++)
                for (int j = 0; j < 16; j++) {
                    int64_t want = start[i][j];
                    for (int d = 0; i < m && j < n && d < 4 * k; d++) {
                        int x = a[i][d], y = b[d / 4][4 * j + d % 4];
                        want += (int64_t)(sa ? x : x & 255) * (sb ? y : y & 255);
                    }
                    assert_int_equal(sum[i][j], (int32_t)(uint32_t)(uint64_t)want);
                }
        }
    }
}

static uint16_t to_bf16(float f) { /* toward zero: what the tests use is exact or does not mind */
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return (uint16_t)(bits >> 16);
}

static void a_product_of_bf16_is_near_the_plain_sum_and_exact_for_integers(void **state) {
    (void)state;
    for (int round = 0; round < 32; round++) {
        uint16_t a[16][32], b[16][32];
        float x[16][32], y[32][16], sum[16][16];
        for (int i = 0; i < 16; i++)
            for (int d = 0; d < 32; d++) {
                float u = (float)(2 * test_uniform(&seed) - 1);
                x[i][d] = round % 2 ? nearbyintf(u * 100) : u;
                u = (float)(2 * test_uniform(&seed) - 1);
                y[d][i] = round % 2 ? nearbyintf(u * 100) : u;
                a[i][d] = to_bf16(x[i][d]);
                b[d / 2][2 * i + d % 2] = to_bf16(y[d][i]);
            }
        amx_forget();
        tile_configure(&full);
        tile_load(1, a, 64);
        tile_load(2, b, 64);
        tile_dot_bf16(0, 1, 2);
        tile_store(0, sum, 64);
        assert_string_equal(amx.fault, "");
        for (int i = 0; i < 16; i++)
            for (int j = 0; j < 16; j++) {
                double want = 0, size = 0;
                for (int d = 0; d < 32; d++) {
                    want += (double)x[i][d] * (double)y[d][j];
                    size += fabs((double)x[i][d] * (double)y[d][j]);
                }
                double off = fabs((double)sum[i][j] - want);
                assert_true(round % 2 ? off == 0 : off <= 0.02 * size);
            }
    }
}

/* One row, one output, one pair. */
static float one_pair(uint32_t start, uint16_t a0, uint16_t a1, uint16_t b0, uint16_t b1) {
    uint16_t a[2] = {a0, a1}, b[2] = {b0, b1};
    tile_config c = {.palette = 1, .rows = {1, 1, 1}, .row_bytes = {4, 4, 4}};
    float sum;
    amx_forget();
    tile_configure(&c);
    tile_load(0, &start, 4);
    tile_load(1, a, 4);
    tile_load(2, b, 4);
    tile_dot_bf16(0, 1, 2);
    tile_store(0, &sum, 4);
    assert_string_equal(amx.fault, "");
    return sum;
}

static void bf16_takes_and_makes_no_denormals_and_keeps_infinities(void **state) {
    (void)state;
    const uint16_t one = 0x3f80, tiny = 0x0001, small = 0x2000, less = 0x1f80, inf = 0x7f80,
                   big = 0x7f00;
    assert_true(one_pair(0, one, one, one, one) == 2.0f);
    assert_true(one_pair(0, tiny, 0, one, 0) == 0); /* read as zero */
    assert_true(one_pair(1, 0, 0, 0, 0) == 0);      /* a denormal start as well */
    assert_true(one_pair(0, small, 0, small, 0) == 0x1p-126f);
    assert_true(one_pair(0, small, 0, less, 0) == 0); /* 2^-127: made zero */
    assert_true(isinf(one_pair(0, big, 0, big, 0)));  /* beyond the largest float */
    assert_true(isinf(one_pair(0, inf, 0, one, 0)));
    assert_true(isnan(one_pair(0, inf, 0, 0, 0)));
    assert_true(isnan(one_pair(0, inf, inf, one, 0xbf80)));
    /* 1 + 2^-24 is a tie: to even; the start is added last, to the sum of the pair. */
    assert_true(one_pair(0x3f800000, 0x3380, 0, one, 0) == 1.0f);
    assert_true(one_pair(0x3f800000, 0x3380, 0x3380, one, one) > 1.0f);
}

static void shapes_that_the_processor_refuses_are_faults(void **state) {
    (void)state;
    static const struct {
        tile_config c;
        const char *why;
    } bad[] = {
        {{.palette = 2}, "palette"},
        {{.palette = 1, .reserved = {[13] = 1}}, "reserved"},
        {{.palette = 1, .start_row = 16}, "start row"},
        {{.palette = 1, .rows = {17}, .row_bytes = {64}}, "17 rows"},
        {{.palette = 1, .rows = {16}, .row_bytes = {65}}, "65 bytes"},
        {{.palette = 1, .rows = {16}}, "one size of two"},
        {{.palette = 1, .row_bytes = {64}}, "one size of two"},
        {{.palette = 1, .rows = {[8] = 1}, .row_bytes = {[8] = 4}}, "does not exist"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        amx_forget();
        tile_configure(&bad[i].c);
        assert_non_null(strstr(amx.fault, bad[i].why));
        assert_false(amx.configured);
    }
}

static void products_of_tiles_that_do_not_fit_are_faults(void **state) {
    (void)state;
    static const struct {
        uint8_t rows[3];
        uint16_t row_bytes[3];
        int c, a, b;
        const char *why;
    } bad[] = {
        {{16, 16, 16}, {64, 64, 64}, 0, 0, 2, "not three"},
        {{16, 16, 16}, {64, 64, 64}, 0, 1, 1, "not three"},
        {{16, 16, 16}, {64, 64, 64}, 0, 1, 3, "not configured"},
        {{16, 16, 16}, {64, 64, 64}, 0, 1, 8, "no tile"},
        {{16, 15, 16}, {64, 64, 64}, 0, 1, 2, "rows of sums"},
        {{16, 16, 16}, {60, 64, 64}, 0, 1, 2, "have 60 bytes"},
        {{16, 16, 8}, {64, 64, 64}, 0, 1, 2, "16 deep"},
        {{16, 16, 16}, {64, 62, 64}, 0, 1, 2, "rows of 64, 62"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        for (int bf16 = 0; bf16 < 2; bf16++) {
            tile_config c = {.palette = 1};
            memcpy(c.rows, bad[i].rows, sizeof bad[i].rows);
            memcpy(c.row_bytes, bad[i].row_bytes, sizeof bad[i].row_bytes);
            amx_forget();
            tile_configure(&c);
            assert_string_equal(amx.fault, "");
            (bf16 ? tile_dot_bf16 : tile_dot_i8)(bad[i].c, bad[i].a, bad[i].b);
            assert_non_null(strstr(amx.fault, bad[i].why));
        }
    }
}

static void tiles_need_a_configuration_and_are_empty_after_one(void **state) {
    (void)state;
    uint8_t data[16][64], back[16][64];
    fill(data, sizeof data);
    amx_forget();
    tile_zero(0);
    assert_non_null(strstr(amx.fault, "not configured"));
    amx_forget();
    tile_configure(&full);
    tile_load(3, data, 64);
    tile_configure(&full);
    tile_store(3, back, 64);
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 64; j++) assert_int_equal(back[i][j], 0);
    tile_release();
    assert_string_equal(amx.fault, "");
    tile_load(3, data, 64);
    assert_non_null(strstr(amx.fault, "TILELOADD #UD"));
    amx_forget();
    tile_configure(&full);
    tile_configure(&(tile_config){.palette = 0});
    assert_false(amx.configured);
}

static void rows_and_strides_name_the_bytes_that_are_touched(void **state) {
    (void)state;
    tile_config c = {.palette = 1, .rows = {3}, .row_bytes = {20}};
    uint8_t *from = malloc(2 * 100 + 20), to[3][64]; /* to the byte, for the address sanitizer */
    fill(from, 2 * 100 + 20);
    memset(to, 7, sizeof to);
    amx_forget();
    tile_configure(&c);
    tile_load(0, from, 100);
    tile_store(0, to, 64);
    for (int r = 0; r < 3; r++)
        for (int i = 0; i < 64; i++) assert_int_equal(to[r][i], i < 20 ? from[r * 100 + i] : 7);
    tile_load(0, from + 200, -100); /* strides are signed */
    tile_store(0, to, 64);
    for (int r = 0; r < 3; r++) assert_memory_equal(to[r], from + (2 - r) * 100, 20);
    assert_string_equal(amx.fault, "");
    free(from);
}

int main(void) {
    seed = test_seed();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_product_of_bytes_is_the_plain_sum),
        cmocka_unit_test(a_product_of_bf16_is_near_the_plain_sum_and_exact_for_integers),
        cmocka_unit_test(bf16_takes_and_makes_no_denormals_and_keeps_infinities),
        cmocka_unit_test(shapes_that_the_processor_refuses_are_faults),
        cmocka_unit_test(products_of_tiles_that_do_not_fit_are_faults),
        cmocka_unit_test(tiles_need_a_configuration_and_are_empty_after_one),
        cmocka_unit_test(rows_and_strides_name_the_bytes_that_are_touched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
