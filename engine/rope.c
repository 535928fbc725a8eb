#include "engine/rope.h"

#include <math.h>
#include <stdlib.h>

bool rope_init(rope_table *t, int n_rot, double base, double scale, const float *factors,
               bool adjacent, float magnitude) {
    int n = n_rot / 2;
    double *f = calloc((size_t)(n > 0 ? n : 1), sizeof *f);
    if (!f) return false;
    for (int i = 0; i < n; i++)
        f[i] = pow(base, -2.0 * i / n_rot) / scale / (factors ? (double)factors[i] : 1.0);
    *t = (rope_table){.n_pairs = n, .adjacent = adjacent, .magnitude = magnitude, .frequency = f};
    return true;
}

void rope_deinit(rope_table *t) {
    free(t->frequency);
    *t = (rope_table){0};
}

void rope_angles(const rope_table *t, int position, float *cosines, float *sines) {
    for (int i = 0; i < t->n_pairs; i++) {
        double s, c;
        sincos((double)position * t->frequency[i], &s, &c);
        cosines[i] = (float)c * t->magnitude;
        sines[i] = (float)s * t->magnitude;
    }
}
