/* matmul_amx_test.c - matmul_amx.c against the generic kernel bit for bit: its source compiled
 * against a model of the AMX instructions, and its machine code, on the processor or, where that
 * has no AMX, through traps (amx_trap.h). The rest of the kernel is AVX-512, which must be there.
 */
#include "tests/test.h"

#include <math.h>

#include "kernels/cpu.h"
#include "kernels/matmul.h"

#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c,bmi,bmi2,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")
#include "tests/kernels/amx_model.h"
#include "tests/kernels/amx_trap.h"
#define mm_amx mm_amx_modelled
#include "kernels/matmul_amx.c"
#undef mm_amx
#pragma GCC pop_options

static uint64_t seed;
static fo_err err;

typedef struct problem {
    mm_weights w;
    int m;
    int8_t *q; /* memory to the byte, for the address sanitizer */
    float *scale, *wsum;
    int32_t *sum, *halves;
    mm_input in;
} problem;

typedef enum fill { RANDOM, EXTREME, LARGEST, SMALLEST } fill;

static int upto(int n) { /* 1 .. n */
    return 1 + (int)(test_random(&seed) % (uint64_t)n);
}

static uint16_t some_scale(fill how) { /* f16, finite */
    const uint16_t ends[] = {0x0000, 0x8000, 0x0001, 0x83ff, 0x7bff, 0xfbff, 0x3c00, 0x0400};
    if (how == EXTREME && test_random(&seed) % 2) return ends[test_random(&seed) % 8];
    return (uint16_t)(0x2000 + test_random(&seed) % 0x1000);
}

/* k, the K kinds' a multiple of what they take. */
static void make(problem *p, mm_kind kind, int m, int n, int k, fill how) {
    if (mm_has_units(kind)) k = (k + MM_SUPER - 1) / MM_SUPER * MM_SUPER;
    assert_ok(mm_weights_init(&p->w, kind, n, k, NULL, &err), &err);
    const mm_weights *w = &p->w;
    const size_t groups = (size_t)w->k_padded / 32, rows = (size_t)m;
    const size_t bytes = mm_has_units(kind) ? mm_units(kind, groups) : 0; /* scales in units */
    const size_t scales = (w->panel_bytes - w->scale_offset - bytes) / sizeof(uint16_t);
    const unsigned char flip = kind == MM_W8T ? 0x80 : 0; /* its bytes are signed */
    for (int panel = 0; panel < w->n_panels; panel++) {
        unsigned char *data = w->data + (size_t)panel * w->panel_bytes;
        for (size_t i = 0; i < w->scale_offset; i++)
            data[i] = how == LARGEST    ? 0xff ^ flip
                      : how == SMALLEST ? flip
                                        : (unsigned char)test_random(&seed);
        data += w->scale_offset;
        for (size_t i = 0; i < bytes; i++) data[i] = (unsigned char)test_random(&seed);
        uint16_t *f16 = (uint16_t *)(void *)(data + bytes);
        for (size_t i = 0; i < scales; i++) f16[i] = some_scale(how);
    }
    p->m = m;
    const size_t stride = (size_t)w->k_padded + (test_random(&seed) % 3) * 32;
    const size_t g_stride = stride / 32;
    p->q = malloc((rows - 1) * stride + (size_t)w->k_padded);
    p->scale = malloc(rows * g_stride * sizeof *p->scale);
    p->wsum = malloc(rows * g_stride * sizeof *p->wsum);
    p->sum = malloc(rows * g_stride * sizeof *p->sum);
    p->halves = malloc(2 * rows * g_stride * sizeof *p->halves);
    for (size_t r = 0; r < rows; r++)
        for (size_t g = 0; g < groups; g++) {
            int8_t *q = p->q + r * stride + g * 32;
            const size_t at = r * g_stride + g;
            int32_t sum = 0, *halves = p->halves + 2 * at;
            halves[0] = halves[1] = 0;
            for (int i = 0; i < 32; i++) {
                int v = (int)(test_random(&seed) % 255) - 127;
                if (how == EXTREME) v = v % 2 ? 127 : -127;
                if (how == LARGEST || how == SMALLEST) v = r % 2 ? 127 : -127;
                q[i] = (int8_t)v;
                sum += v;
                halves[i / 16] -= 32 * v;
            }
            p->sum[at] = sum;
            p->scale[at] = (float)test_uniform(&seed) * (how == EXTREME ? 1e6f : 0.1f);
            if (mm_is_wide(kind)) p->scale[at] = p->scale[at - g % 4];
            p->wsum[at] = p->scale[at] * (float)sum;
        }
    p->in = (mm_input){.q = p->q,
                       .scale = p->scale,
                       .wsum = p->wsum,
                       .sum = p->sum,
                       .halves = p->halves,
                       .q_stride = stride,
                       .g_stride = g_stride};
}

static void drop(problem *p) {
    mm_weights_deinit(&p->w);
    free(p->q);
    free(p->scale);
    free(p->wsum);
    free(p->sum);
    free(p->halves);
}

/* Rows and panels of the problem by a table, into a buffer whose bytes were all `before`. */
static float *result(const problem *p, const mm_kernels *t, int row0, int row1, int panel0,
                     int panel1, int before) {
    const size_t stride = (size_t)p->w.n_panels * MM_PANEL + 5;
    const size_t bytes = (size_t)p->m * stride * sizeof(float);
    float *out = malloc(bytes);
    memset(out, before, bytes);
    t->run[p->w.kind](&p->w, &p->in, row0, row1, panel0, panel1, out, stride);
    return out;
}

static void need_avx512(void) {
    if (fo_cpu()->level >= FO_CPU_AVX512) return;
    print_message("# no AVX-512 here\n");
    skip();
}

/* The machine code; NULL where it cannot run. */
static const mm_kernels *shipped(void) {
    return amx_trap() ? &mm_amx : mm_get_named("amx");
}

/* The model and the machine code. */
static void same_as_generic(const problem *p, int row0, int row1, int panel0, int panel1) {
    const size_t stride = (size_t)p->w.n_panels * MM_PANEL + 5;
    const size_t bytes = (size_t)p->m * stride * sizeof(float);
    const int before = p->in.add ? 0x3f : 0x7f;
    float *want = result(p, &mm_generic, row0, row1, panel0, panel1, before);
    const mm_kernels *tables[] = {&mm_amx_modelled, shipped()};
    for (int i = 0; i < 2 && tables[i]; i++) {
        amx_forget();
        float *got = result(p, tables[i], row0, row1, panel0, panel1, before);
        if (amx.fault[0]) fail_msg("%s", amx.fault);
        assert_false(amx.configured); /* released */
        assert_int_equal(amx.n_config, amx.n_release);
        if (i == 0 || fo_cpu()->level < FO_CPU_AMX)
            assert_true((amx.n_config > 0) == (row1 - row0 >= AMX_ROWS));
        if (memcmp(got, want, bytes) != 0) {
            size_t at = 0;
            while (!memcmp(&got[at], &want[at], sizeof *got)) at++;
            fail_msg(
                "%s: kind %d, rows %d-%d, panels %d-%d, k %d: row %zu column %zu is %g, not %g",
                i ? "machine code" : "model", (int)p->w.kind, row0, row1, panel0, panel1, p->w.k,
                at / stride, at % stride, (double)got[at], (double)want[at]);
        }
        free(got);
    }
    free(want);
}

static const mm_kind kinds[] = {MM_W8, MM_W4, MM_W4M, MM_W5, MM_W5M, MM_K4,
                                MM_K5, MM_K6, MM_K3,  MM_L4, MM_L4K, MM_W8T};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

static void gives_the_bits_of_the_generic_kernel(void **state) {
    (void)state;
    need_avx512();
    for (int round = 0; round < 24 * N_KINDS; round++) {
        problem p;
        make(&p, kinds[round % N_KINDS], 20 + upto(80), upto(80), upto(round % 5 ? 300 : 700),
             (fill)(round / N_KINDS % 4));
        same_as_generic(&p, 0, p.m, 0, p.w.n_panels);
        int row0 = upto(10) - 1, panel0 = upto(p.w.n_panels) - 1; /* and a part of it */
        same_as_generic(&p, row0, p.m, panel0, p.w.n_panels);
        p.in.add = true;
        same_as_generic(&p, 0, p.m - row0, 0, panel0 + 1);
        drop(&p);
    }
}

/* More rows than a chunk has, more channels than a chunk has, and exactly as many. */
static void chunks_of_rows_and_channels_join(void **state) {
    (void)state;
    need_avx512();
    const int sizes[][2] = {
        {ROWS, 96},        {ROWS + 1, 64},         {ROWS + 33, 160},      {2 * ROWS + 47, 32},
        {33, 32 * GROUPS}, {40, 32 * GROUPS + 32}, {64, 64 * GROUPS + 96}};
    const size_t n_sizes = sizeof sizes / sizeof *sizes;
    for (size_t i = 0; i < 2 * n_sizes; i++) {
        problem p;
        make(&p, kinds[(i + i / n_sizes) % N_KINDS], sizes[i % n_sizes][0], 48,
             sizes[i % n_sizes][1], i % 2 ? EXTREME : RANDOM);
        same_as_generic(&p, 0, p.m, 0, p.w.n_panels);
        drop(&p);
    }
    for (size_t i = 0; i < n_sizes; i++) { /* and of W8T, whose chunks of channels are shorter */
        problem p;
        make(&p, MM_W8T, sizes[i][0], 48, 128 * WIDE_SCALES + 64 * ((int)i - 3), RANDOM);
        same_as_generic(&p, 0, p.m, 0, p.w.n_panels);
        drop(&p);
    }
    for (int more = 0; more < 2; more++) { /* halves of groups: twice as many */
        problem p;
        make(&p, more ? MM_K3 : MM_K6, 47 + 16 * more, 48, 16 * GROUPS + 256 * more, RANDOM);
        same_as_generic(&p, 0, p.m, 0, p.w.n_panels);
        drop(&p);
    }
    problem p; /* rows of which few fit the cache: many chunks */
    make(&p, MM_W4, 200, 16, 24000, RANDOM);
    assert_int_equal(chunk_rows(200, 24000), 64);
    same_as_generic(&p, 0, p.m, 0, 1);
    drop(&p);
}

static void every_number_of_rows_gives_the_same_rows(void **state) {
    (void)state;
    need_avx512();
    for (int wide = 0; wide < 2; wide++) {
        problem p;
        make(&p, wide ? MM_W8T : MM_W8, 70, 48, 224, RANDOM);
        for (int rows = 1; rows <= 70; rows++) same_as_generic(&p, 70 - rows, 70, 0, 3);
        drop(&p);
    }
}

static void sums_over_a_list_of_groups(void **state) {
    (void)state;
    need_avx512();
    for (int round = 0; round < 6 * N_KINDS; round++) {
        problem p;
        make(&p, kinds[round % N_KINDS], 31 + upto(40), upto(60), 32 * (4 + upto(100)), RANDOM);
        const int groups = p.w.k_padded / 32;
        int list[128], n = 0;
        for (int g = 0; g < groups; g++)
            if (test_random(&seed) % 2 == 0) list[n++] = g;
        if (round == 0) n = 0;
        if (!mm_is_wide(p.w.kind)) p.in.groups = list, p.in.n_groups = n;
        p.in.add = round % 2;
        same_as_generic(&p, 0, p.m, 0, p.w.n_panels);
        drop(&p);
    }
}

/* A hostile file's scales: infinite, or no number. What is a number stays the same. */
static void scales_that_are_no_numbers_do_no_harm(void **state) {
    (void)state;
    need_avx512();
    problem p;
    make(&p, MM_W4M, 48, 32, 160, RANDOM);
    uint16_t *f16 = (uint16_t *)(void *)(p.w.data + p.w.scale_offset);
    f16[3] = 0x7c00, f16[20] = 0xfc00, f16[40] = 0x7e00;
    const size_t stride = 2 * MM_PANEL + 5;
    float *want = result(&p, &mm_generic, 0, 48, 0, 2, 0), *got;
    amx_forget();
    got = result(&p, &mm_amx_modelled, 0, 48, 0, 2, 0);
    for (size_t i = 0; i < 48 * stride; i++)
        assert_true(isnan(want[i]) ? isnan(got[i]) : !memcmp(&got[i], &want[i], sizeof *got));
    free(want);
    free(got);
    drop(&p);
}

/* What docs/measurements/amx.md counts: of each instruction, for 2 x 2 tiles and 32 channels. */
static void a_block_takes_as_many_instructions_as_documented(void **state) {
    (void)state;
    need_avx512();
    problem p;
    make(&p, MM_W8, 128, 64, 320, RANDOM);
    amx_forget();
    free(result(&p, &mm_amx_modelled, 0, 128, 0, 4, 0));
    const long blocks = 128 / 32 * 64 / 32 * 320 / 32;
    assert_int_equal(amx.n_dot_i8, 4 * blocks);
    assert_int_equal(amx.n_load, 4 * blocks);
    assert_int_equal(amx.n_store, 4 * blocks);
    assert_int_equal(amx.n_zero, 4 * blocks);
    assert_int_equal(amx.n_config, 1);
    drop(&p);
    make(&p, MM_W8T, 128, 64, 640, RANDOM); /* twice the depth, a fourth of the scales */
    amx_forget();
    free(result(&p, &mm_amx_modelled, 0, 128, 0, 4, 0));
    const long wide = 128 / 32 * 64 / 32 * 640 / 128;
    assert_int_equal(amx.n_dot_i8, 8 * wide);
    assert_int_equal(amx.n_load, 8 * wide);
    assert_int_equal(amx.n_store, 4 * wide);
    assert_int_equal(amx.n_zero, 4 * wide);
    drop(&p);
}

int main(void) {
    seed = test_seed();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_the_bits_of_the_generic_kernel),
        cmocka_unit_test(chunks_of_rows_and_channels_join),
        cmocka_unit_test(every_number_of_rows_gives_the_same_rows),
        cmocka_unit_test(sums_over_a_list_of_groups),
        cmocka_unit_test(scales_that_are_no_numbers_do_no_harm),
        cmocka_unit_test(a_block_takes_as_many_instructions_as_documented),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
