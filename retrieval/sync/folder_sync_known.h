/* folder_sync_known.h - what a run of folder_sync.h knows before it looks into the folder: the source's
 * files as the run before left them, held against the documents that the collection has; and what goes of these. */
#ifndef FORAGE_RETRIEVAL_FOLDER_SYNC_KNOWN_H
#define FORAGE_RETRIEVAL_FOLDER_SYNC_KNOWN_H

#include "data/files/sync_plan.h"
#include "retrieval/collections/service_internal.h"

typedef struct known_files {
    bool other_settings; /* set before the load: documents were cut otherwise, all are made anew */
    sync_known *files;   /* in byte order of their paths */
    size_t n;
    store_source_file *rows; /* own their strings, [n_rows] */
    size_t n_rows;
    char **orphans; /* paths of documents of the source of whose files nothing is known */
    size_t n_orphans;
} known_files;

/* source.id 0: nothing is known yet but orphans. A file whose document is not there any more is not `stored`, whatever its
 * row says. To be deinited whatever is returned. */
int known_files_load(known_files *k, service *s, const store_source *source, fo_err *err);
void known_files_deinit(known_files *k);

/* Deletes these documents together, each looked at once more: what somebody put by hand under such an id meanwhile is not
 * deleted. One that is gone already is no matter, nor is the collection. went[i], of n: it was there and is deleted. */
int known_documents_delete(service *s, const store_source *of, char *const *ids, size_t n,
                           bool *went, fo_err *err);

#endif
