/* folder_sync.h - a folder and a collection's documents kept in step: a source.
 *
 *     folder_sync_request q = {.tenant = "default", .collection = "default", .name = "notes",
 *                              .path = "/home/me/notes", .limit = SYNC_LIMIT_DEFAULT};
 *     folder_sync_report r;
 *     folder_sync_run(s, &q, &r, &err);
 *     folder_sync_report_deinit(&r);
 *
 * A source has a name space of its own: its documents are NAME/PATH, carry {"source": "NAME"} as metadata,
 * and no others are ever deleted, not under such an id either. What is known of its files lies in the store
 * (sources, source_files). A run walks the folder (data/files/folder_walk.h), plans (sync_plan.h), and then
 * does what is planned in batches: a batch's documents are committed before the store notes its files, so
 * that a run that is killed leaves nothing that the next one would not find. A document that somebody
 * deleted or replaced by hand is put back. */
#ifndef FORAGE_RETRIEVAL_FOLDER_SYNC_H
#define FORAGE_RETRIEVAL_FOLDER_SYNC_H

#include "data/files/sync_plan.h"
#include "retrieval/collections/collections.h"

typedef struct folder_sync_request {
    const char *tenant, *name;  /* name: as service_name_valid */
    const char *collection;     /* NULL: that of the run before, or "default" */
    const char *path;           /* from the root, without links */
    bool relocate;              /* the source may have been another folder until now */
    const char *language;       /* for a new collection; NULL: "english" */
    size_t max_tokens, overlap; /* as in ingest_options */
    int64_t max_file_bytes;     /* larger files are left out; 0: any size */
    sync_limit limit;           /* of removals */
    bool retry_failed;          /* files that failed and have not changed since, too */
    bool dry_run;        /* say what would be done, write nothing: also a read-only service */
    atomic_bool *cancel; /* NULL, or ends it between batches (FO_ECANCELLED) */
    /* NULL, or called as it goes; paths are below the folder ("" is the folder). `step` is told of all that
     * is not unchanged: from is the old path of a file that moved, else NULL. */
    void (*step)(void *ctx, enum sync_kind kind, const char *path, const char *from);
    void (*failed)(void *ctx, const char *path, const fo_err *why);
    void (*left_out)(void *ctx, const char *path, const char *kind, int64_t size);
    void (*textless)(void *ctx, const char *path);
    void (*entering)(void *ctx, const char *path);
    void (*progress)(void *ctx, size_t done, size_t all);
    void *ctx;
    struct ingest_counts *counts; /* NULL, or how far it is within documents, to watch */
} folder_sync_request;

enum { FOLDER_SYNC_FAILURES = 1000 }; /* that a report names */

typedef struct folder_sync_failure {
    char *path, *why;
} folder_sync_failure;

typedef struct folder_sync_report {
    bool dry_run;
    size_t created, updated, moved, unchanged, removed;
    size_t failed;   /* files and folders that could not be read or taken in */
    size_t withheld; /* that would have been removed, but too many would; `refused` says so */
    size_t
        kept; /* that nobody could look for: their folder could not be read; or whose file has moved
                    and fails where it is now */
    size_t textless; /* of those created and updated */
    size_t chunks;   /* of those */
    skip_counts skipped;
    fo_err refused;                /* code 0: no removal was refused */
    folder_sync_failure *failures; /* the first ones */
    size_t n_failures;
    double seconds;
    char *collection; /* NULL where it failed before that was known */
} folder_sync_report;
void folder_sync_report_deinit(folder_sync_report *r);
/* Did all go well that was to be done? */
bool folder_sync_is_whole(const folder_sync_report *r);
/* As JSON: the counts, "skipped_by_kind", "failures". Caller frees; NULL: no memory. */
char *folder_sync_report_json(const folder_sync_report *r);

/* *r is to be deinited whatever is returned. An error: the run as a whole could not go on, and what was
 * done before stays done. FO_ENOTFOUND, FO_EIO, FO_EINVAL: the folder is not there, cannot be read or is
 * none, and nothing was done but to note that of a source that is of this folder; FO_ECONFLICT: the source
 * is of another folder or collection. */
int folder_sync_run(service *s, const folder_sync_request *q, folder_sync_report *r, fo_err *err);

/* Sources, by name; caller deinits each and frees *out. */
int folder_sync_list(service *s, const char *tenant, store_source **out, size_t *n, fo_err *err);
/* FO_ENOTFOUND (field "source"). Caller deinits *out. */
int folder_sync_get(service *s, const char *tenant, const char *name, store_source *out,
                    fo_err *err);

/* A source goes, with its documents unless they are to stay. *n counts those that go (dry_run: would). *cancel (NULL:
 * none) ends it between two commits, with the source still there, and *n says how many went (FO_ECANCELLED). */
int folder_sync_forget(service *s, const char *tenant, const char *name, bool keep_documents,
                       bool dry_run, const atomic_bool *cancel, size_t *n, fo_err *err);

#endif
