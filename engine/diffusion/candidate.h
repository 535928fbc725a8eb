/* candidate.h - what one masked position would become: a token out of its logits, and how sure of it
 * the remasking rule is. The token is the one with the largest logit + temperature * noise, the noise
 * drawn for every token from Gumbel's distribution: a draw from the tempered softmax. */
#ifndef FORAGE_ENGINE_CANDIDATE_H
#define FORAGE_ENGINE_CANDIDATE_H

#include "engine/diffusion/diffusion.h"

typedef struct candidate_rule {
    int remasking; /* random and origin: score is 0, the order is drawn elsewhere */
    int32_t n_vocab, mask;
    float temperature, guidance;
    float top_p;   /* 1: all */
    int top_k;     /* 0: all */
    bool tempered; /* scores are of softmax(logits / temperature) */
    bool weighs;   /* the probability is wanted, too */
    uint64_t seed;
} candidate_rule;

typedef struct candidate {
    int32_t token;
    double score;       /* higher is sooner */
    double probability; /* of the token, in the distribution that scores are of; else 0 */
} candidate;

/* logits[n_vocab] is changed. without: those of the canvas without its prompt, NULL where there is no
 * guidance. The mask token is never chosen; a row without any finite value gives token 0 (or 1 where
 * 0 is the mask) with a score of 0. Any thread. */
candidate candidate_take(const candidate_rule *r, float *logits, const float *without,
                         uint64_t step, int position);

#endif
