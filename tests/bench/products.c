/* products.c - what a product of each kind of weights costs one thread, without a model.
 *
 *     build/tests/bench/products [MS]     milliseconds for each figure (default 60)
 *
 * One JSON object a line: kind, rows, billions of products a second, and how many GB of weights a
 * second that takes. The weights (256 outputs of 1,536 channels) stay in the second cache, so that
 * memory limits nothing: with few rows gb_per_s must lie well above what a thread can read. Times
 * are the thread's own, the least of many runs, so that a busy machine disturbs little.
 * FORAGE_CPU caps the level. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels/cpu.h"
#include "kernels/matmul.h"
#include "kernels/vec.h"

/* Rows are an odd number of cache lines apart, as the engine lays them. */
enum { OUTPUTS = 256, CHANNELS = 1536, MOST_ROWS = 512, STRIDE = CHANNELS + 64 };
enum { GROUPS = STRIDE / MM_GROUP };

static const struct {
    const char *name;
    quant_type type;
    mm_kind kind;
} kinds[] = {
    {"w8", QUANT_Q8_0, MM_W8},   {"w8w", QUANT_Q8_0, MM_W8W}, {"w4", QUANT_Q4_0, MM_W4},
    {"w4m", QUANT_Q4_1, MM_W4M}, {"w5", QUANT_Q5_0, MM_W5},   {"w5m", QUANT_Q5_1, MM_W5M},
    {"k4", QUANT_Q4_K, MM_K4},   {"k5", QUANT_Q5_K, MM_K5},   {"k6", QUANT_Q6_K, MM_K6},
    {"k3", QUANT_Q3_K, MM_K3},   {"l4", QUANT_IQ4_NL, MM_L4}, {"l4k", QUANT_IQ4_XS, MM_L4K}};
static const int rows_of[] = {1, 2, 4, 8, 16, 64, 512};

static float x[MOST_ROWS * STRIDE], out[MOST_ROWS * OUTPUTS];
static float scale[MOST_ROWS * GROUPS], wsum[MOST_ROWS * GROUPS];
static int8_t q[MOST_ROWS * STRIDE];
static int32_t sum[MOST_ROWS * GROUPS], halves[2 * MOST_ROWS * GROUPS];
static int32_t compensation[4 * MOST_ROWS * GROUPS];

static double thread_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t random_state = 1;

static uint64_t next_random(void) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return random_state >> 33;
}

/* Any bits, with scales that are numbers of a usual size. */
static unsigned char *make_rows(quant_type type, size_t row_bytes) {
    const quant_traits *t = quant_type_traits(type);
    unsigned char *rows = malloc(OUTPUTS * row_bytes);
    const uint16_t one = quant_f32_to_f16(1e-3f);
    const size_t at = type == QUANT_Q3_K ? 108 : type == QUANT_Q6_K ? 208 : 0;
    for (size_t i = 0; rows && i < OUTPUTS * row_bytes; i++) rows[i] = (unsigned char)next_random();
    for (size_t b = 0; rows && b < OUTPUTS * row_bytes; b += t->block_bytes)
        memcpy(rows + b + at, &one, sizeof one);
    return rows;
}

static void round_rows(bool wide, bool int16_sums) {
    for (int r = 0; r < MOST_ROWS; r++) {
        const size_t g = (size_t)r * GROUPS;
        const vec_codes to = {.q = q + (size_t)r * STRIDE,
                              .scale = scale + g,
                              .sum = sum + g,
                              .halves = halves + 2 * g,
                              .wsum = wsum + g,
                              .compensation = int16_sums ? compensation + 4 * g : NULL,
                              .wide = wide};
        vec_get()->quantize(&to, x + (size_t)r * STRIDE, CHANNELS, CHANNELS);
    }
}

static double best_time(const mm_weights *w, const mm_input *in, int rows, double budget) {
    double best = 1e9, spent = 0;
    while (spent < budget) {
        const double start = thread_seconds();
        mm_get()->run[w->kind](w, in, 0, rows, 0, w->n_panels, out, OUTPUTS);
        const double took = thread_seconds() - start;
        if (took < best) best = took;
        spent += took;
    }
    return best;
}

int main(int argc, char **argv) {
    const double budget = (argc > 1 ? atof(argv[1]) : 60) / 1e3;
    static float scratch[CHANNELS];
    for (size_t i = 0; i < sizeof x / sizeof *x; i++) x[i] = (float)next_random() * 0x1p-30f - 1;
    const mm_input in = {.x = x,
                         .x_stride = STRIDE,
                         .q = q,
                         .scale = scale,
                         .wsum = wsum,
                         .sum = sum,
                         .halves = halves,
                         .compensation = compensation,
                         .q_stride = STRIDE,
                         .g_stride = GROUPS};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t row_bytes = 0;
        mm_weights w = {0};
        unsigned char *rows = NULL;
        const char *only = argc > 2 ? argv[2] : kinds[i].name;
        if (strcmp(only, kinds[i].name)) continue;
        if (!quant_row_bytes(kinds[i].type, CHANNELS, &row_bytes) ||
            mm_weights_init(&w, kinds[i].kind, OUTPUTS, CHANNELS, NULL, NULL) != FO_OK ||
            !(rows = make_rows(kinds[i].type, row_bytes))) {
            fprintf(stderr, "no memory\n");
            return 1;
        }
        mm_weights_pack(&w, 0, w.n_panels, kinds[i].type, rows, row_bytes, NULL, scratch);
        round_rows(mm_is_wide(w.kind), mm_get()->int16_sums && mm_has_8_bits(w.kind));
        for (size_t r = 0; r < sizeof rows_of / sizeof *rows_of; r++) {
            const double took = best_time(&w, &in, rows_of[r], budget);
            printf("{\"kind\":\"%s\",\"rows\":%d,\"gmac_per_s\":%.2f,\"gb_per_s\":%.1f,"
                   "\"isa\":\"%s\"}\n",
                   kinds[i].name, rows_of[r], 1e-9 * rows_of[r] * OUTPUTS * CHANNELS / took,
                   1e-9 * (double)w.panel_bytes * w.n_panels / took,
                   fo_cpu_level_name(fo_cpu()->level));
        }
        mm_weights_deinit(&w);
        free(rows);
    }
    return 0;
}
