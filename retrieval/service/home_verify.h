/* home_verify.h - is everything in a home as it was left? And what can be mended, mended.
 *
 * Looked at are the files as they lie (database, log, ledger, index, kept KV, hot questions,
 * backups: checksums, what is gone, what is too much), then what they say: SQLite's own check, the
 * digest of every document, chunk and vector, counts and epochs against the ledger, both indexes
 * against the store. Nothing is changed, a damaged log above all.
 *
 * A home that a server works on is looked at as far as that goes: its database through SQLite, its
 * indexes; not the files that change all the time. */
#ifndef FORAGE_RETRIEVAL_SERVICE_HOME_VERIFY_H
#define FORAGE_RETRIEVAL_SERVICE_HOME_VERIFY_H

#include "retrieval/service/service.h"

typedef struct home_finding { /* strings live until the callback returns; NULL: none */
    const char *file;         /* below the home */
    const char *tenant, *collection, *document;
    const char *what;
    bool of_store; /* it is the store that is meant, not what is derived from it */
    bool fault;    /* false: worth a line, and in order (left by a crash, put aside before) */
} home_finding;

typedef struct home_listener {
    void (*found)(void *ctx, const home_finding *f);
    void (*repaired)(void *ctx, const char *what); /* a sentence; NULL: nobody listens */
    /* n_faults: of its index, and of its documents and vectors in the store */
    void (*checked)(void *ctx, const char *tenant, const char *collection, size_t n_faults);
    void *ctx;
} home_listener;

typedef struct home_report {
    size_t n_faults, n_store_faults, n_documents, n_chunks;
    bool in_use;     /* by another process: not everything was looked at */
    bool repairable; /* home_repair can do something about it */
} home_report;

/* collection NULL: all of them. FO_ENOTFOUND: there is no such home or collection. */
int home_verify(const char *home, const char *collection, const home_listener *to, home_report *out,
                fo_err *err);

/* home_verify, and then mend what it finds: indexes are built anew from the store, damaged segments of kept
 * KV and counts of questions dropped, the index of kept KV begun anew (the next start fills it from the
 * segments), the ledger begun anew, what nobody needs put aside; a loss of commits is accepted, the log
 * that had them put aside; documents that cannot be mended are marked, so that the same content ingested
 * again replaces them. opt opens the home afterwards (home, embedder, threads). Nobody may work on the
 * home. What is left is for another home_verify to say. */
int home_repair(const service_options *opt, const home_listener *to, home_report *out, fo_err *err);

#endif
