/* support.h - what a word weighs, and how far the passages support an answer to the question.
 *
 * The lexicon is the view of the index that extractive answers and citation checks share: the
 * analysis that made the terms and their inverse document frequency. One thread at a time may use
 * one lexicon (its analyzer is not thread-safe). */
#ifndef FORAGE_RETRIEVAL_SUPPORT_H
#define FORAGE_RETRIEVAL_SUPPORT_H

#include <stdbool.h>
#include <stddef.h>
#include "index/sparse/analyze.h"

/* Inverse document frequency of an analysed term, > 0; largest for a term the index lacks. */
typedef float term_idf_fn(void *ctx, const char *term, size_t len);

typedef struct lexicon {
    analyzer *analyzer;
    term_idf_fn *idf; /* NULL: every term weighs the same */
    void *idf_ctx;
} lexicon;

/* What speaks for an answer: shares of the question's idf mass (stop words left out), ratios and
 * flags, never a score that depends on the collection's size. */
typedef struct support_features {
    double cover;         /* mass in the best sentence or its passage's title */
    double cover_near;    /* ... and, discounted, in the sentences around it */
    double bm25;          /* its passage's BM25 over what the question could reach */
    double lead;          /* how far the best passage is ahead of the average of the others */
    double missing_names; /* mass of names and numbers that sentence and title lack */
    double
        lost_name; /* 1: a name of the question stands nowhere in what was found of its document */
    double lost_kind;    /* 1: ... a kind that others are none of (subjects.h) */
    double missing_code; /* 1: a code of the question (E3) or an option is in neither */
    double option;       /* 1: it explains the option that the question names */
    double no_amount;    /* 0..2: how far an amount that is demanded is lacking: CAND_NO_AMOUNT */
    double summary; /* 1: the line that says what a command does, and it says all of the question */
    double no_place;      /* 1: the question asks where, and it says of nothing where it is */
    double restated;      /* 1: the question asks why, and it says that again, and no reason */
    double other_day;     /* 1: it speaks of other days than the question */
    double other_purpose; /* of a command for something else: CAND_OTHER_PURPOSE */
    double run_on;        /* how long it goes on without an end: CAND_RUN_ON */
    bool rival;           /* of a rival (CAND_RIVAL), and explains no option */
    double other_thing;   /* 1: it stands below a question about something else */
    double question;      /* 1: it asks something itself: a heading of an FAQ without its answer */
    double
        topic; /* how much it is what a section begins with whose heading is the question; 0: it is not */
    double by_table; /* 1: the table itself picks out the row: CAND_BY_TABLE */
    double best_idf; /* mass of the rarest covered word */
    double
        unmet; /* mass of rare words that nothing says, where the unit itself says no word, and only a heading or a
                        column's name does; else 0 */
    bool amount;      /* the question demands an amount */
    double type_near; /* how near words of the question it has what is asked for: CAND_TYPE_NEAR */
    double ahead;     /* how far the best unit's score is above that of the next; may be infinite */
    double pairs;     /* mass of the question's word pairs that stand side by side in it */
    double dense;     /* (best cosine - floor) / (1 - floor); NAN where unknown */
    double align;     /* by the reader: nearness of the best unit; NAN: not read */
    double back;      /* how near the best unit's own tokens come to the question */
    double
        task; /* log odds that a page whose title says what is to be done adds: task_pages_support */
    double cross; /* by the cross-encoder: log odds that the unit answers; NAN: nothing was read */
    double spoken_of;  /* 1: of the document that the turns before were answered from */
    bool other_script; /* than Latin, and read by words alone */
    bool
        met_sooner; /* Japanese without particles and endings, Arabic with plurals and roots: less of a question is left unmet by chance */
    bool strange; /* align and back are of a reader that has not learnt the language of the text */
    bool languages;   /* align and back are of a reader that has learnt many languages */
    bool across;      /* ... and the question is in another one than the text: no words meet */
    double follow_up; /* 1: asked in a conversation: words that were added from the turns before
                             need not stand in the answer */
} support_features;

/* Calibrated, 0..1: of questions with such features, how many are answered rightly. How and on what
 * it was fitted: docs/measurements/answers.md. */
double support_probability(const support_features *f);

/* Below this support an answer is refused under strict grounding. */
extern const double support_threshold;

#endif
