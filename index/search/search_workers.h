/* search_workers.h - a few threads that seal, merge and check the files of any number of indexes.
 *
 *     search_workers *w;
 *     search_workers_create(&w, 0, &err);
 *     search_index_open(&ix, dir, &(search_index_options){.workers = w}, NULL, &err);  // and others
 *     ...
 *     search_index_close(ix, true, &err);                // of each; then
 *     search_workers_free(w);
 *
 * Indexes are served one after the other, and each is worked on by one thread at a time, but for seals: those go on
 * beside a merge of the same index. Merges take long: they leave two threads free (of fewer than three: all but one;
 * with a single thread seals wait). Of those one at most checks, so that one is there to seal memory segments that
 * are full. All give way to other threads (kernels/priority.h). */
#ifndef FORAGE_INDEX_SEARCH_WORKERS_H
#define FORAGE_INDEX_SEARCH_WORKERS_H

#include "kernels/error.h"

typedef struct search_workers search_workers;

enum { SEARCH_WORKERS = 4 }; /* threads, unless said otherwise */

/* n_threads < 1: SEARCH_WORKERS; 1: nothing is sealed while it merges. FO_ENOMEM, FO_EIO (no thread can be started). */
int search_workers_create(search_workers **out, int n_threads, fo_err *err);
void search_workers_free(search_workers *w); /* NULL is fine; no index uses them any more */

#endif
