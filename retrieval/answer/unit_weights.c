#include "retrieval/answer/unit_weights.h"

/* The fitted rows have no questions and no fragments in their text, and no options in their questions:
 * those weights are set by hand. */
static const double weights_words[CAND_FEATURES] = {
    [CAND_COVER] = 11.62,       [CAND_NEIGHBOURS] = 6.36, [CAND_PAIRS] = 1.74,
    [CAND_TYPE] = 1.57,         [CAND_TYPE_NEAR] = 1.46,  [CAND_FIRST] = 0.44,
    [CAND_MISSING_RARE] = 2.44, [CAND_SPARSE] = 5.12,     [CAND_QUESTION] = -6,
    [CAND_FRAGMENT] = -3,       [CAND_STEPS] = 3,         [CAND_STEP] = -2,
    [CAND_ENTRY] = 2,           [CAND_LENGTH] = -1,       [CAND_OPTION] = 8,
    [CAND_MISSING_CODE] = -14,
};
static const double weights_dense[CAND_FEATURES] = {
    [CAND_COVER] = 11.52,       [CAND_NEIGHBOURS] = 7.30, [CAND_PAIRS] = 1.51,
    [CAND_TYPE] = 1.89,         [CAND_TYPE_NEAR] = 0.28,  [CAND_FIRST] = 0.35,
    [CAND_MISSING_RARE] = 2.76, [CAND_SPARSE] = 3.21,     [CAND_DENSE_PASSAGE] = 0.58,
    [CAND_DENSE] = 0.52,        [CAND_QUESTION] = -6,     [CAND_FRAGMENT] = -3,
    [CAND_STEPS] = 3,           [CAND_STEP] = -2,         [CAND_ENTRY] = 2,
    [CAND_LENGTH] = -1,         [CAND_OPTION] = 8,        [CAND_MISSING_CODE] = -14,
};

/* What a reader's language does not change. */
#define OF_EVERY_READER                                                                            \
    [CAND_ENTRY] = 3.39, [CAND_SUMMARY] = 3.39, [CAND_QUESTION] = -6, [CAND_FRAGMENT] = -3,        \
    [CAND_STEPS] = 3, [CAND_STEP] = -2, [CAND_MISSING_NAME] = -2, [CAND_MISSING_CODE] = -14,       \
    [CAND_OPTION] = 8

static const double weights_reader[CAND_FEATURES] = {
    OF_EVERY_READER,          [CAND_COVER] = 4.49,       [CAND_NEIGHBOURS] = 4.27,
    [CAND_PAIRS] = 1.17,      [CAND_TYPE_NEAR] = 1.18,   [CAND_SPARSE] = 0.41,
    [CAND_ALIGN] = 19.55,     [CAND_ALIGN_LEAST] = 3.25, [CAND_ALIGN_PASSAGE] = 2.55,
    [CAND_ALIGN_BACK] = 6.72,
};

/* The built-in reader in a language that it has not learnt: fitted in the same way on 1,200 questions over paragraphs in French,
 * Italian and Spanish and 275 over files in five languages, each language held against the fit of the others
 * (docs/measurements/quality.md). */
static const double weights_strange[CAND_FEATURES] = {
    OF_EVERY_READER,           [CAND_COVER] = 5.8,
    [CAND_NEIGHBOURS] = 5.1,   [CAND_PAIRS] = 0.3,
    [CAND_TYPE] = 1,           [CAND_TYPE_NEAR] = 1.5,
    [CAND_SPARSE] = 2,         [CAND_ALIGN] = 11,
    [CAND_ALIGN_LEAST] = 2.25, [CAND_ALIGN_PASSAGE] = 3.4,
    [CAND_ALIGN_BACK] = 3.5,   [CAND_DENSE_PASSAGE] = 0.17,
};

const double *unit_weights_of(const candidate_set *set, bool strange) {
    if (set->read) return strange ? weights_strange : weights_reader;
    return set->dense ? weights_dense : weights_words;
}
