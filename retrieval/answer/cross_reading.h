/* cross_reading.h - the second, closer look: the passages whose units were ranked best are read together
 * with the question (engine/embed/reader_cross.h).
 *
 * What compares vectors ranks everything and costs little; what reads both together judges a few.
 * The ranking weights and support are fitted on both: docs/measurements/answers.md. */
#ifndef FORAGE_RETRIEVAL_CROSS_READING_H
#define FORAGE_RETRIEVAL_CROSS_READING_H

#include "retrieval/answer/candidates.h"

/* Fill c[].cross and set->crossed for the four passages whose candidates stand first in set->c. Where the
 * reader has no cross-encoder, or the best passage is not in English, nothing is read. Error codes as
 * reader_cross. */
int cross_reading(candidate_set *set, const extractive_input *in, fo_err *err);

#endif
