/* sibling_things.h - what is said of another thing of its kind: "Resetting the Workshop takes 12 minutes" where the Attic is asked
 * about, "High tide at 11:52" where low tide is, and "Hosting costs £15" where the document names the paid tier elsewhere, without a
 * price. Part of candidates.h. English. */
#ifndef FORAGE_RETRIEVAL_SIBLING_THINGS_H
#define FORAGE_RETRIEVAL_SIBLING_THINGS_H

#include "retrieval/answer/candidates.h"

/* Sets CAND_OTHER_THING of such units, whose demands are measured. */
void sibling_things_mark(candidate_set *set);

#endif
