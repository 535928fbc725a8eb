/* reader_spans.h - which words of a text answer a question.
 *
 *     reader_ends ends;
 *     if (reader_has_spans(r) && !reader_spans(r, "How early must cars be there?", title, text, len, &ends, &err)) {
 *         reader_answer a = reader_ends_best(&ends, 0, (uint32_t)len);      // bytes of the text: "40 minutes"
 *         ...
 *     }
 *
 * "Vehicles must be there 40 minutes before departure, people on foot 15 minutes" holds two times, and one of them
 * answers. Question and text are read together (reader_cross.h), and of each token it is said how well the answer
 * would begin and end with it; a span's score is the sum of both, a natural logarithm of odds: 0 to 3 apart is
 * little. Trained by data/models/reader; what it brings: docs/measurements/answers.md. */
#ifndef FORAGE_ENGINE_EMBED_READER_SPANS_H
#define FORAGE_ENGINE_EMBED_READER_SPANS_H

#include "engine/embed/reader.h"

enum {
    READER_SPANS_TOKENS = 224, /* of a text; what stands behind them is not read */
    READER_SPANS_LONGEST = 30, /* tokens of an answer */
};

typedef struct reader_ends {
    size_t n;                            /* tokens that were read */
    reader_span at[READER_SPANS_TOKENS]; /* their bytes of the text; they ascend */
    float begin[READER_SPANS_TOKENS], end[READER_SPANS_TOKENS];
    float none; /* score of "it is not in this text" */
} reader_ends;

typedef struct reader_answer {
    uint32_t begin, end; /* bytes of the text; equal: there is none */
    float score;         /* -INFINITY: there is none */
} reader_answer;

/* Only the model inside the binary has it. */
bool reader_has_spans(const reader *r);

/* Any thread; calls run one after the other. The first prepares the model, some 100 ms. title NULL: none.
 * FO_EUNSUPPORTED (reader_has_spans is false), FO_ENOMEM. */
int reader_spans(reader *r, const char *question, const char *title, const char *text, size_t len,
                 reader_ends *out, fo_err *err);

/* The best span of whole tokens that lie, in part at least, in bytes [from, to). */
reader_answer reader_ends_best(const reader_ends *e, uint32_t from, uint32_t to);

#endif
