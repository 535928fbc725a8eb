/* source_runner.h - the sources of a service: folders that it keeps its documents in step with, by itself.
 *
 *     source_runner_create(&r, &opt, &err);      // no thread yet
 *     source_runner_start(r, &err);              // a thread a source: a run, then it watches
 *     source_runner_request(r, "notes", ...);    // and now
 *     source_runner_interrupt(r);                // what runs ends, waiting requests too
 *     source_runner_free(r);
 *
 * One run at a time, of all sources. Only folders that the operator named are read: no request can name one. */
#ifndef FORAGE_SERVER_SOURCE_RUNNER_H
#define FORAGE_SERVER_SOURCE_RUNNER_H

#include "retrieval/sync/folder_sync.h"

enum { SOURCES_MAX = 64 };

typedef struct source_spec {
    const char *collection; /* NULL: that of its last run, or default */
    const char *name, *path;
} source_spec;

/* "NAME=PATH" or "COLLECTION:NAME=PATH", the path from the root; text is changed and pointed into.
 * FO_EINVAL says what is wrong. */
int source_spec_read(source_spec *out, char *text, fo_err *err);

typedef struct source_runner source_runner;

typedef struct source_runner_options {
    service *service;
    const char *tenant;
    const source_spec *specs; /* [n], the caller's; names differ */
    size_t n;
    sync_limit limit;
    int64_t max_file_bytes;
    int interval_s; /* all files are looked at so often, whatever a watch says */
} source_runner_options;

int source_runner_create(source_runner **out, const source_runner_options *opt, fo_err *err);
int source_runner_start(source_runner *r, fo_err *err);
void source_runner_interrupt(source_runner *r); /* NULL is fine */
void source_runner_free(source_runner *r);      /* NULL is fine */

/* What a source does now. */
typedef struct source_state {
    source_spec spec;
    bool running, waiting; /* asked for, or its turn has not come */
    bool watched;          /* every folder is; else it goes by the interval */
    char trouble
        [512]; /* why the last run failed as a whole, or it is not watched; "": all is well */
    bool away; /* the last run failed as a whole */
    struct source_sums {
        uint64_t runs, away; /* of them: failed as a whole */
        uint64_t created, updated, moved, removed, failed, withheld;
        size_t unchanged, skipped, failing; /* in the last run */
        int64_t finished_ms;                /* of the last one that went through; 0: none */
        double seconds;                     /* of all */
    } sums;                                 /* since the process began */
} source_state;
/* false: no such source is configured. */
bool source_runner_get(source_runner *r, const char *name, source_state *out);
size_t source_runner_count(const source_runner *r);
const char *source_runner_name(const source_runner *r, size_t i);

typedef struct source_request {
    const sync_limit *limit; /* for this run; NULL: the usual one */
    bool relocate;
    bool wait;                 /* until it is over */
    const atomic_bool *cancel; /* ends the wait (FO_ECANCELLED), and */
    bool ends_run;             /* the run as well, unless others asked for it too */
} source_request;
/* Run it as soon as may be. FO_ENOTFOUND (field "source"): it is not configured. With wait: what the run
 * failed with. */
int source_runner_request(source_runner *r, const char *name, const source_request *q, fo_err *err);
/* What a run would do, found out at once by the caller's thread. q: step, ctx and cancel count, and limit. */
int source_runner_try(source_runner *r, const char *name, const folder_sync_request *q,
                      folder_sync_report *out, fo_err *err);

#endif
