#include "engine/model/rope.h"

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

/* The pair whose wavelength makes so many revolutions within the original context. */
static double pair_of_revolutions(double revolutions, int n_rot, double base, int original) {
    return n_rot * log(original / (revolutions * 2 * M_PI)) / (2 * log(base));
}

bool rope_yarn_factors(float *factors, int n_rot, double base, double scale, int original,
                       double beta_fast, double beta_slow) {
    if (!(base > 1) || !(scale >= 1) || original < 1 || !(beta_slow > 0) ||
        !(beta_fast > beta_slow))
        return false;
    double low = floor(pair_of_revolutions(beta_fast, n_rot, base, original));
    double high = ceil(pair_of_revolutions(beta_slow, n_rot, base, original));
    if (low < 0) low = 0;
    if (high > n_rot - 1) high = n_rot - 1;
    for (int i = 0; i < n_rot / 2; i++) {
        double slow = (i - low) / fmax(0.001, high - low);
        slow = fmin(1, fmax(0, slow));
        factors[i] = (float)(1 / ((1 - slow) + slow / scale));
    }
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
