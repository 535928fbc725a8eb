#include "kernels/amx_check.h"

#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>

/* Two blocks of rows, the second half filled, and some rows more; a pair of panels and one alone;
 * a whole batch of groups and a part of one. */
enum { ROWS = 53, PANELS = 3, GROUPS = 4, K = GROUPS * MM_GROUP, N = PANELS * MM_PANEL };

typedef struct operands {
    _Alignas(64) unsigned char panels[PANELS][MM_PANEL * K + 2 * GROUPS * MM_PANEL * 2];
    int8_t q[ROWS][K];
    float scale[ROWS][GROUPS], wsum[ROWS][GROUPS];
    int32_t sum[ROWS][GROUPS];
    float want[ROWS][N], got[ROWS][N];
} operands;

static operands data; /* the caller lets one thread in */

static uint32_t next(uint32_t *state) { /* Numerical Recipes' generator: any bits will do */
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void make_rows(operands *d, uint32_t *random) {
    for (int r = 0; r < ROWS; r++)
        for (int g = 0; g < GROUPS; g++) {
            d->sum[r][g] = 0;
            for (int i = 0; i < MM_GROUP; i++) {
                int v = (int)(next(random) % 255) - 127;
                d->q[r][g * MM_GROUP + i] = (int8_t)v;
                d->sum[r][g] += v;
            }
            d->scale[r][g] = (float)(next(random) % 1000) * 1e-4f;
            d->wsum[r][g] = d->scale[r][g] * (float)d->sum[r][g];
        }
}

static mm_weights make_weights(operands *d, mm_kind kind, uint32_t *random) {
    const size_t codes = kind == MM_W8 ? MM_PANEL * K : MM_PANEL * K / 2;
    for (int p = 0; p < PANELS; p++) {
        for (size_t i = 0; i < codes; i++) d->panels[p][i] = (unsigned char)next(random);
        for (int i = 0; i < 2 * GROUPS * MM_PANEL; i++) { /* f16, .002 to .03 */
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
                         .q_stride = K,
                         .g_stride = GROUPS};
    memset(d->got, 0xff, sizeof d->got);
    t->run[kind](&w, &in, 0, ROWS, 0, PANELS, d->got[0], N);
    reference->run[kind](&w, &in, 0, ROWS, 0, PANELS, d->want[0], N);
    return memcmp(d->got, d->want, sizeof d->got) == 0;
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

const char *amx_check(const mm_kernels *t, const mm_kernels *reference) {
    uint32_t random = 1;
    const char *wrong = NULL;
    make_rows(&data, &random);
    struct sigaction act = {.sa_handler = on_signal};
    sigemptyset(&act.sa_mask);
    for (int i = 0; i < N_CAUGHT; i++) sigaction(caught[i], &act, &previous[i]);
    checking = 1;
    const int signal = sigsetjmp(back, 1);
    if (signal)
        wrong = signal == SIGILL ? "the processor refuses their instructions"
                                 : "the system gives them no memory for tiles";
    else
        for (mm_kind kind = MM_W8; kind <= MM_W4M && !wrong; kind++)
            if (!same(&data, t, reference, kind, &random))
                wrong = "their results differ from those of the other kernels";
    checking = 0;
    for (int i = 0; i < N_CAUGHT; i++) sigaction(caught[i], &previous[i], NULL);
    return wrong;
}
