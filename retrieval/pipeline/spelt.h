/* spelt.h - the question of a run with its misspelt words mended (spelling.h), by the words of the collection and of the embedder's
 * vocabulary. */
#ifndef FORAGE_RETRIEVAL_SPELT_H
#define FORAGE_RETRIEVAL_SPELT_H

#include "retrieval/pipeline/query_run.h"

/* Sets r->spelt to r->asked so mended, and r->asked and r->sought to it; leaves all three where nothing is misspelt. The snapshot
 * is there, and the filter of what the asker sees: no word is taken from other documents. FO_ENOMEM and the searches' errors. */
int spelt_mend(run *r, analyzer *words);

#endif
