/* fit_questions.h - `forage fit --questions`: a collection's dense weight and the support below which it refuses, fitted
 * to questions that the language model writes over its documents (retrieval/service/own_questions.h).
 *
 * Half of the questions choose, the other half, of other documents, says whether that was an improvement: what is not
 * better on them is not kept. A question that the collection cannot answer is one whose document is left out. */
#ifndef FORAGE_SERVER_FIT_QUESTIONS_H
#define FORAGE_SERVER_FIT_QUESTIONS_H

#include "kernels/buf.h"
#include "retrieval/service/service.h"

typedef struct fit_questions_options {
    const char *collection;
    const char *
        out; /* questions as JSON Lines, and out + ".qrels": for `forage eval`; NULL: not written */
    size_t count; /* passages to ask about */
    uint64_t seed;
    bool dry_run; /* store nothing */
    bool json;    /* progress as JSON */
} fit_questions_options;

/* Writes the report, a JSON object, into *report. */
int fit_questions_run(service *s, const fit_questions_options *o, fo_buf *report, fo_err *err);

/* The threshold that tells supports of answered questions from those of unanswerable ones best: the mean of the shares
 * kept and refused; of equally good ones the nearest to `usual`. At most .95 and at least .05. */
double fit_threshold(const double *answered, size_t n_answered, const double *others,
                     size_t n_others, double usual);

#endif
