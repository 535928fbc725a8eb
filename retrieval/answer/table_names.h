/* table_names.h - names that a table tells apart: who asks about the plan "Business" is not answered by a sentence about
 * "Enterprise" that never says Business, where a table among what was found has both.
 *
 *     int rc = table_names_mark(set, &err);   // the candidates are there
 *
 * Ours, tested in tests/retrieval/answer/table_names_test.c. */
#ifndef FORAGE_RETRIEVAL_TABLE_NAMES_H
#define FORAGE_RETRIEVAL_TABLE_NAMES_H

#include "retrieval/answer/candidates.h"

/* CAND_OTHER_THING of the units, rows aside, that say the name of another row or column than the one that the question names, and
 * name that neither themselves nor by what they hang on or their passage's title, in the document of that table. Names are of three
 * words at most; those of what a thing has ("Price", "Opens") and of days count for nothing, nor do those of a table of sums where no
 * sum is asked for. FO_ENOMEM. */
int table_names_mark(candidate_set *set, fo_err *err);

#endif
