/* topics.h - units that answer by where they stand: below a heading that is what the question is about, below the
 * same question asked by whoever wrote the page, behind the term that is to be explained.
 *
 *     double topic[p->units.n];
 *     topics_of_words(&set.q, p, topic);   // while the candidates are gathered
 *     topics_of_reading(&set, &in, &err);  // once the reader has measured them
 *
 * Such a unit need not say a word of the question. Values are 0 to 1 and become CAND_TOPIC: 1 for the first unit
 * below the heading, a little less for each that follows. */
#ifndef FORAGE_RETRIEVAL_TOPICS_H
#define FORAGE_RETRIEVAL_TOPICS_H

#include "retrieval/answer/candidates.h"

/* topic[p->units.n], all written: by the question's words alone. */
void topics_of_words(const question *q, const candidate_passage *p, double *topic);

/* "What is an inode?" of the page "inode - file inode information": is the term, or a part of it, its name, and does its line say all
 * of it? What its description begins with explains it. */
bool topics_name_page(const question *q, const char *title);
/* A term of few words is to be explained: then the passages that explain it come before those that use it. */
bool topics_may_lead(const question *q);
/* The most that a unit of the passage comes to. FO_ENOMEM, FO_ELIMIT. */
int topics_of_passage(double *most, const question *q, const lexicon *lx, const passage *from,
                      fo_err *err);

/* Raises CAND_TOPIC of what stands below a question that the reader finds to be the same in other words, about the same
 * things. Needs CAND_ALIGN and CAND_ALIGN_BACK of all candidates and the reader that told them. FO_ECANCELLED, FO_ENOMEM. */
int topics_of_reading(candidate_set *set, const extractive_input *in, fo_err *err);

#endif
