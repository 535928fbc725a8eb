/* extractive_text.h - the units that were chosen become an answer: in which order they are said, with what they hang on, how
 * rows, options, lists and headings look, and which citation each stretch has. */
#ifndef FORAGE_RETRIEVAL_EXTRACTIVE_TEXT_H
#define FORAGE_RETRIEVAL_EXTRACTIVE_TEXT_H

#include "kernels/buf.h"
#include "retrieval/answer/candidates.h"
#include "retrieval/answer/extractive.h"

enum { EXTRACTIVE_MOST_SENTENCES = 64 };

/* A unit that points back at the sentence before it (antecedents.h), or is an exception to a rule, is said behind that one, and a
 * reason that stands beside what was asked for with "why" is said with it. The best one's sentence before it stands in the place of
 * the last one where there are `most` of chosen[n] already. How many there are now; of together max_chars bytes. */
size_t extractive_text_antecedent(const candidate_set *set, const extractive_input *in, size_t most,
                                  size_t max_chars, candidate *chosen, size_t n);

/* Is a the name that b's paragraph begins with, and what b hangs on (unit_names.h)? */
bool extractive_text_heads(const candidate *a, const candidate *b);

/* Sorts c[n], of which the first is the best, n <= EXTRACTIVE_MOST_SENTENCES: that one first, unless a sentence before it leads
 * into it or answers about as well. */
void extractive_text_order(const candidate_set *set, candidate *c, size_t n);

/* Appends a unit up to byte `end` of its passage as it is said. */
void extractive_text_unit(fo_buf *b, const passage *p, const candidate *c, uint32_t end);

/* Text and checked citations of *out from c[n], in their order. FO_ENOMEM. */
int extractive_text_assemble(extractive_answer *out, const candidate_set *set,
                             const extractive_input *in, const candidate *c, size_t n, fo_err *err);

#endif
