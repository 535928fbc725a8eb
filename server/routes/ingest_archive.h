/* ingest_archive.h - an archive on its way in becomes the documents in it: `pack.zip/notes/a.md`, each with its own
 * outcome. For ingest_batch.c alone. */
#ifndef FORAGE_SERVER_INGEST_ARCHIVE_H
#define FORAGE_SERVER_INGEST_ARCHIVE_H

#include "retrieval/service/service.h"

struct ingest_batch;

typedef struct archive_door { /* of the batch that the members go to */
    service *service;
    const char *spool_dir;
    const atomic_bool *cancel;
    /* A member to be read, whose id may be too long for one; one that failed; one that is left out (".png",
     * "hidden"). */
    int (*add)(struct ingest_batch *b, const ingest_document *doc, fo_err *err);
    int (*failed)(struct ingest_batch *b, const char *id, const char *file, const fo_err *why,
                  fo_err *err);
    int (*skipped)(struct ingest_batch *b, const char *id, const char *kind, fo_err *err);
    struct ingest_batch *batch;
} archive_door;

/* doc is an archive (archive_is). An error return means that nothing more can be stored. */
int ingest_archive_add(const archive_door *door, const ingest_document *doc, fo_err *err);

#endif
