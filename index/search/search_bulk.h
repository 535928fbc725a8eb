/* search_bulk.h - many chunks straight into sealed files of a search index, with bounded memory.
 *
 *     search_bulk *b;
 *     search_bulk_begin(&b, ix, &(search_bulk_options){.memory_bytes = 1 << 30}, &err);
 *     search_bulk_add(b, &chunk, &err);                  // copied; order of chunk ids is best
 *     search_bulk_finish(b, epoch, &err);                // on disk, visible, b is gone
 *
 * Chunks are gathered into batches; all threads of the index's pool analyse a batch and then link
 * its points into one graph. What would exceed the memory, or the metadata that one segment may
 * have, is sealed as a file of its own (the background merges take it from there), so a build that
 * dies loses one file's work at most: the manifest keeps the epoch it had until search_bulk_finish,
 * and whoever opens the index compares its ids with the store's.
 *
 * Threads: one writer at a time, as with search_index_add, and nothing staged there. Readers see
 * each file as it is sealed. */
#ifndef FORAGE_INDEX_SEARCH_BULK_H
#define FORAGE_INDEX_SEARCH_BULK_H

#include <stdatomic.h>
#include "index/search/search_index.h"

typedef struct search_bulk search_bulk;

enum search_bulk_stage { SEARCH_BULK_POSTINGS, SEARCH_BULK_GRAPH, SEARCH_BULK_COMMIT };

/* Chunks (SEARCH_BULK_COMMIT: bytes written) done since the beginning; from any thread. */
typedef void search_bulk_progress_fn(void *ctx, enum search_bulk_stage stage, uint64_t done);

typedef struct search_bulk_options {
    uint64_t memory_bytes; /* of the working memory, roughly; 0: 1 GiB, at least 1 MiB */
    search_bulk_progress_fn *progress; /* NULL: none */
    void *ctx;
    /* NULL, or ends it: the next call that has a batch to work on seals what there is and fails
     * (FO_ECANCELLED). At least one batch is done in any case, so that to try again is to get on. */
    const atomic_bool *cancel;
} search_bulk_options;

/* FO_EUNSUPPORTED: the index is read-only. */
int search_bulk_begin(search_bulk **out, search_index *ix, const search_bulk_options *opt,
                      fo_err *err);
int search_bulk_add(search_bulk *b, const search_chunk_in *c, fo_err *err);
/* Seals what is left; the manifest then covers `epoch`. Frees b whatever happens. */
int search_bulk_finish(search_bulk *b, int64_t epoch, fo_err *err);
void search_bulk_abort(search_bulk *b); /* files sealed so far stay; NULL is fine */

#endif
