#include "kernels/amx_check.h"

#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>

/* Two blocks of rows, the second half filled, and some rows more; a pair of panels and one alone;
 * whole batches of groups and a part of one, a super-block. */
enum { ROWS = 53, PANELS = 3, GROUPS = 8, K = GROUPS * MM_GROUP, N = PANELS * MM_PANEL };
/* Attention: two tiles of rows, the second half filled; two blocks of keys. */
enum { QUERIES = 24, DIM = 32, KEYS = 2 * ATTENTION_BLOCK };

typedef struct operands {
    _Alignas(64) unsigned char panels[PANELS][MM_PANEL * K + 2 * GROUPS * MM_PANEL * 2];
    int8_t q[ROWS][K];
    float scale[ROWS][GROUPS], wsum[ROWS][GROUPS];
    int32_t sum[ROWS][GROUPS], halves[ROWS][2 * GROUPS];
    float want[ROWS][N], got[ROWS][N];
} operands;

typedef struct attention_operands {
    float q[QUERIES][DIM], keys[KEYS / ATTENTION_BLOCK][DIM][ATTENTION_BLOCK], values[KEYS][DIM];
    float tile_q[ATTENTION_ROWS][DIM], want[ATTENTION_ROWS][DIM], got[ATTENTION_ROWS][DIM];
} attention_operands;

static attention_operands looked_at;
static operands data; /* the caller lets one thread in */

static uint32_t next(uint32_t *state) { /* Numerical Recipes' generator: any bits will do */
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void make_rows(operands *d, uint32_t *random) {
    for (int r = 0; r < ROWS; r++)
        for (int g = 0; g < GROUPS; g++) {
            int32_t *halves = d->halves[r] + 2 * g;
            d->sum[r][g] = halves[0] = halves[1] = 0;
            for (int i = 0; i < MM_GROUP; i++) {
                int v = (int)(next(random) % 255) - 127;
                d->q[r][g * MM_GROUP + i] = (int8_t)v;
                d->sum[r][g] += v;
                halves[i / 16] -= 32 * v;
            }
            d->scale[r][g] = (float)(next(random) % 1000) * 1e-4f;
            d->wsum[r][g] = d->scale[r][g] * (float)d->sum[r][g];
        }
}

static mm_weights make_weights(operands *d, mm_kind kind, uint32_t *random) {
    const size_t codes = GROUPS * mm_group_bytes(kind);
    for (int p = 0; p < PANELS; p++) {
        for (size_t i = 0; i < codes; i++) d->panels[p][i] = (unsigned char)next(random);
        for (int i = 0; i < 2 * GROUPS * MM_PANEL; i++) { /* f16, .002 to .03; any bytes */
            uint16_t f16 = (uint16_t)(0x1800 + next(random) % 0x1000);
            memcpy(&d->panels[p][codes + (size_t)i * 2], &f16, sizeof f16);
        }
    }
    return (mm_weights){.kind = kind,
                        .n = N,
                        .k = K,
                        .k_padded = K,
                        .n_panels = PANELS,
                        .panel_bytes = sizeof d->panels[0],
                        .scale_offset = codes,
                        .data = d->panels[0]};
}

static bool same(operands *d, const mm_kernels *t, const mm_kernels *reference, mm_kind kind,
                 uint32_t *random) {
    const mm_weights w = make_weights(d, kind, random);
    const mm_input in = {.q = d->q[0],
                         .scale = d->scale[0],
                         .wsum = d->wsum[0],
                         .sum = d->sum[0],
                         .halves = d->halves[0],
                         .q_stride = K,
                         .g_stride = GROUPS};
    memset(d->got, 0xff, sizeof d->got);
    t->run[kind](&w, &in, 0, ROWS, 0, PANELS, d->got[0], N);
    reference->run[kind](&w, &in, 0, ROWS, 0, PANELS, d->want[0], N);
    return memcmp(d->got, d->want, sizeof d->got) == 0;
}

static void attend(attention_operands *d, const attention_kernels *a, float (*o)[DIM]) {
    attention_tile t = {.n_rows = QUERIES,
                        .k_dim = DIM,
                        .v_dim = DIM,
                        .v_stride = DIM,
                        .bf16 = true,
                        .q = d->tile_q[0],
                        .o = o[0]};
    int lo[QUERIES] = {0}, hi[QUERIES];
    memcpy(d->tile_q, d->q, sizeof d->q);
    a->begin(&t);
    for (int r = 0; r < QUERIES; r++) hi[r] = 1 + r;
    a->span(&t, KEYS / ATTENTION_BLOCK, d->keys[0][0], d->values[0], lo, hi);
    a->end(&t);
}

/* A number of 8 bits in [-1, 1): bf16 as well. */
static float next_bf16(uint32_t *random) {
    return (float)((int)(next(random) % 256) - 128) / 128.0f;
}

static bool near(attention_operands *d, const attention_kernels *a,
                 const attention_kernels *reference, uint32_t *random) {
    for (int i = 0; i < QUERIES * DIM; i++)
        d->q[i / DIM][i % DIM] = (float)(next(random) % 4096) / 4096.0f - 0.5f;
    for (int i = 0; i < KEYS * DIM; i++) {
        d->keys[i / ATTENTION_BLOCK / DIM][i / ATTENTION_BLOCK % DIM][i % ATTENTION_BLOCK] =
            next_bf16(random);
        d->values[i / DIM][i % DIM] = next_bf16(random);
    }
    attend(d, a, d->got);
    attend(d, reference, d->want);
    for (int i = 0; i < QUERIES * DIM; i++)
        if (!(fabsf(d->got[i / DIM][i % DIM] - d->want[i / DIM][i % DIM]) <= 1e-4f)) return false;
    return true;
}

static const int caught[] = {SIGILL, SIGSEGV};
enum { N_CAUGHT = 2 };
static struct sigaction previous[N_CAUGHT];
static _Thread_local volatile sig_atomic_t checking;
static sigjmp_buf back;

static void on_signal(int signal) {
    if (checking) siglongjmp(back, signal);
    for (int i = 0; i < N_CAUGHT; i++) /* another thread's: it meets the fault again */
        if (caught[i] == signal) sigaction(signal, &previous[i], NULL);
}

static const char *compare(const amx_tables *t, const amx_tables *reference) {
    uint32_t random = 1;
    make_rows(&data, &random);
    for (mm_kind kind = MM_W8; kind < MM_KIND_END; kind++)
        if (!same(&data, t->mm, reference->mm, kind, &random))
            return "their products differ from those of the other kernels";
    if (!near(&looked_at, t->attention, reference->attention, &random))
        return "their attention differs from that of the other kernels";
    return NULL;
}

const char *amx_check(const amx_tables *t, const amx_tables *reference) {
    const char *wrong;
    struct sigaction act = {.sa_handler = on_signal};
    sigemptyset(&act.sa_mask);
    for (int i = 0; i < N_CAUGHT; i++) sigaction(caught[i], &act, &previous[i]);
    checking = 1;
    const int signal = sigsetjmp(back, 1);
    if (signal == SIGILL)
        wrong = "the processor refuses their instructions";
    else if (signal)
        wrong = "the system gives them no memory for tiles";
    else
        wrong = compare(t, reference);
    checking = 0;
    for (int i = 0; i < N_CAUGHT; i++) sigaction(caught[i], &previous[i], NULL);
    return wrong;
}
