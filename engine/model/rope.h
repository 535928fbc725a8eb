/* rope.h - rotary position embedding: the frequencies of a model, and the angles of a position.
 * Source: Su et al. 2021; frequency factors as Llama 3 and the long-context Phi-3 publish them;
 * YaRN: Peng et al. 2023. */
#ifndef FORAGE_ENGINE_ROPE_H
#define FORAGE_ENGINE_ROPE_H

#include <stdbool.h>

typedef struct rope_table {
    int n_pairs;       /* channel pairs that are rotated; 0: no rotary embedding */
    bool adjacent;     /* pairs (2i, 2i+1), as Llama's; else (i, i + n_pairs) */
    float magnitude;   /* cosine and sine are multiplied by this (long-context models); else 1 */
    double *frequency; /* [n_pairs] radians per position; owned */
} rope_table;

/* Frequencies base^(-2i/n_rot) / (scale * factors[i]); factors may be NULL. False: no memory. */
bool rope_init(rope_table *t, int n_rot, double base, double scale, const float *factors,
               bool adjacent, float magnitude);
/* YaRN's factors[n_rot / 2] for a context stretched `scale` times over the `original` one: pairs
 * that make more than beta_fast revolutions within it keep their frequency, those below beta_slow are
 * stretched, the rest lie between. False where the numbers make no sense. */
bool rope_yarn_factors(float *factors, int n_rot, double base, double scale, int original,
                       double beta_fast, double beta_slow);
void rope_deinit(rope_table *t);

/* Cosines and sines [n_pairs] of a position (or a distance, when it is negative or a delta). */
void rope_angles(const rope_table *t, int position, float *cosines, float *sines);

#endif
