/* span_reading.h - which words answer: of what was written, and of what is quoted.
 *
 * "15 minutes" is borne out by "Vehicles must be there 40 minutes before departure, people on foot 15 minutes", and is
 * no answer to "How early must cars be there?". The reader says which words of the support answer
 * (engine/embed/reader_spans.h): what was written must stand among them, or at a place that answers nearly as well. Where
 * the support is not the unit that answers best, that one's best words are held against it too.
 * Limit and figures: docs/measurements/answers.md. */
#ifndef FORAGE_RETRIEVAL_SPAN_READING_H
#define FORAGE_RETRIEVAL_SPAN_READING_H

#include <stdbool.h>
#include "engine/embed/reader.h"
#include "retrieval/text/passage.h"
#include "retrieval/text/support.h"

typedef struct span_reading_input {
    reader *reader; /* NULL, or one that cannot tell: everything holds */
    const lexicon *lx;
    const char *question;
    const char *
        own; /* of a question made whole from the turns before, what was asked now; NULL: all of it */
    const passage *passage;
    size_t start, end; /* bytes of the passage: the support */
    size_t quote_start,
        quote_end; /* of a short answer: the sentences that the unit is quoted with; equal: it alone */
    const passage *lead; /* that of the best unit; NULL: not known */
    size_t lead_start, lead_end;
    const char *answer; /* what was written, or quoted */
    size_t n_answer;
} span_reading_input;

/* *holds: the answer stands where the reader sees one, or cannot be found in its support. Only English is told. FO_ENOMEM. */
int span_reading_holds(bool *holds, const span_reading_input *in, fo_err *err);

/* The words of bytes [start, end) of the passage that answer, as bytes [*from, *to) of in->answer, which says that stretch
 * with other white space; equal where there are none, the reader is not sure, or one of several values may be meant as well as
 * another (short_cells.h, short_clauses.h). Only English is told. FO_ENOMEM, FO_ELIMIT. */
int span_reading_short(size_t *from, size_t *to, const span_reading_input *in, fo_err *err);

#endif
