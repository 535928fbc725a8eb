/* extractive.h - answers without a model: the best supporting sentences, cited, or an abstention.
 *
 *     extractive_answer a;
 *     extractive_answer_make(&a, &(extractive_input){.question = q, .passages = p, .n_passages = n,
 *                                                    .lx = &lx}, &err);
 *     if (!a.abstain) puts(a.text);          // "Whole sentence. [1] Another one. [2]"
 *     extractive_answer_deinit(&a);
 *
 * Sentences are copied from the passages as they stand, so every citation is exact; each is still
 * put through citation_check. They are whole: where one is longer than the answer may be, or the
 * passage does not hold all of it, an ellipsis stands where something is missing. Method and
 * figures: docs/answers.md. */
#ifndef FORAGE_RETRIEVAL_EXTRACTIVE_H
#define FORAGE_RETRIEVAL_EXTRACTIVE_H

#include "engine/embed/embedder.h"
#include "retrieval/claims/citations.h"
#include "retrieval/text/passage.h"
#include "retrieval/answer/reading.h"
#include "retrieval/text/support.h"

enum { EXTRACTIVE_PASSAGES = 32 }; /* those beyond are not looked at */

typedef struct extractive_input {
    const char *question; /* the words looked for; NUL-terminated UTF-8 */
    bool follow_up;       /* of a conversation, made whole from the turns before it */
    size_t
        n_asked; /* ... by words behind these bytes of the question, which say what is spoken of; 0: not so */
    const char *
        spoken_of; /* id of the document that the turns before were answered from; NULL: not known */
    const passage *passages; /* best first */
    size_t n_passages;
    uint32_t
        followed; /* bit i: more of the document of passage i is known to stand behind it (units.h) */
    const size_t *
        n_own; /* [n_passages]: bytes at the end of each title that are names of the question (own_names.h); NULL: none */
    const float *
        meant; /* [n_passages]: how likely, by its title beside those of others, a passage's document is the one for what is asked, 0 where that is not known; NULL: nowhere */
    const float *
        titled; /* [n_passages]: cosine of the question with the title of a passage's document, by the encoder, NAN where that is not known; NULL: nowhere */
    embedder *encoder; /* ... which compares headings with the question, too; NULL: none is */
    const lexicon *lx;
    size_t max_sentences; /* 0: 3 */
    size_t max_chars;     /* bytes of the answer without markers; 0: 1,200 */
    double min_support;   /* abstain below it; 0: support_threshold; < 0: only where nothing fits at
                             all */
    embedder *emb;        /* adds the likeness of sentences where it is a static table (an encoder
                             would take milliseconds a sentence: it is not used); NULL: none */
    reader *reader;       /* reads the passages; NULL: words alone */
    const atomic_bool *cancel; /* of the reading; NULL: never */
    double dense_floor; /* lowest cosine of the dense list of (up to) 100 hits that the passages
                             were taken from: what the best cosine is measured against. 0 or NAN:
                             unknown */
} extractive_input;

typedef struct answer_citation {
    size_t passage;                  /* into passages[] */
    size_t start, end;               /* bytes of that passage's text: the quote */
    size_t answer_start, answer_end; /* bytes of the answer that it supports, ellipses included,
                                        marker excluded */
    bool verified;
} answer_citation;

/* A unit of a passage and how far its score is behind the best one's: e^-behind of its odds. */
typedef struct extractive_rank {
    size_t passage, start, end; /* bytes of that passage's text */
    double behind;              /* 0 for the best */
} extractive_rank;

enum { EXTRACTIVE_RANKS = 32 };

typedef struct extractive_answer {
    char *
        lead; /* the best unit alone, as it stands in text: what a written answer is held against */
    extractive_rank ranked[EXTRACTIVE_RANKS]; /* the best units, best first */
    size_t n_ranked;
    char *text; /* NUL-terminated; "" when it abstains; marker [n] = citations[n-1] */
    answer_citation *citations; /* in the order of their markers */
    size_t n_citations;
    double support; /* calibrated, 0..1 */
    bool abstain;
    bool several;      /* rows that answer alike: no few words of one of them are the answer */
    bool of_cut_table; /* rows answer whose table may go on beyond its passage (passage.h) */
    support_features features; /* what the support was computed from */
} extractive_answer;

/* Fills *out, which the caller deinits. No passage, no sentence, an empty question: abstains.
 * FO_ENOMEM, or the embedder's error. */
int extractive_answer_make(extractive_answer *out, const extractive_input *in, fo_err *err);
void extractive_answer_deinit(extractive_answer *a);

/* For programs that fit weights (tests/bench/answer_features.c): told of every set of candidates that
 * was ranked, best first. Set before the first question; NULL in the service. */
struct candidate_set;
typedef void extractive_observer_fn(const struct candidate_set *set, const extractive_input *in,
                                    const support_features *f);
extern extractive_observer_fn *extractive_observer;

#endif
