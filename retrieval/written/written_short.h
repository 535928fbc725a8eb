/* written_short.h - a few written words held against the best unit, where no words of it tell whether they answer: the cell
 * of a row, and a bare yes or no.
 *
 * "11.00 euros" is borne out by "ticket: adult; low season: 8.50; high season: 11.00" and could be either column's to what
 * reads sentences; "No" stands in no document. What is let through is said with the document's own words. English. */
#ifndef FORAGE_RETRIEVAL_WRITTEN_SHORT_H
#define FORAGE_RETRIEVAL_WRITTEN_SHORT_H

#include <stdbool.h>
#include <stddef.h>

#include "index/sparse/analyze.h"
#include "kernels/buf.h"
#include "kernels/error.h"

enum written_verdict {
    WRITTEN_OTHERWISE, /* neither a cell nor a bare yes or no is in question: others are to judge */
    WRITTEN_BESIDE,    /* one is, and it does not answer, or that cannot be told */
    WRITTEN_HOLDS,     /* *said is what to say */
};

typedef struct written_short_input {
    analyzer *analyzer;
    const char *question;
    const char *answer; /* one sentence of the model's, without labels */
    size_t n_answer;
    const char *lead; /* the best unit as it is said: extractive_answer.lead */
} written_short_input;

/* The answer is the value of one cell of the row that the lead is, and of that column which the question asks for: by
 * words of its name, or by the kind of amount that it demands. A number alone is said with its column's name. FO_ENOMEM. */
int written_cell(enum written_verdict *verdict, fo_buf *said, const written_short_input *in,
                 fo_err *err);

/* A bare yes where the lead denies and limits nothing, a bare no where it denies, once; said before the lead. Where question
 * and lead name figures or days, which of them is more or later decides, and is not told here. */
enum written_verdict written_yes_or_no(fo_buf *said, const written_short_input *in);

#endif
