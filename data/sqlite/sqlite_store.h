/* sqlite_store.h - the store that homes have: a SQLite database, forage.db, its log, and a ledger of
 * its commits.
 *
 * WAL, synchronous=FULL, foreign keys on, schema version in user_version (schema.sql and the
 * migrations in sqlite_schema.c). Ids are SQLite's rowids. Every page and every row carries a checksum
 * or a digest (kernels/page_sums.h, sqlite_digest.c); the ledger (ledger.h) knows which commits were
 * acknowledged. Readers get a connection of their own from a pool. */
#ifndef FORAGE_DATA_SQLITE_STORE_H
#define FORAGE_DATA_SQLITE_STORE_H

#include "data/store/store.h"

extern const store_backend sqlite_store_backend;

/* ---- for tests: a database by its path ---------------------------------------------------- */

typedef struct sqlite_options {
    store_options store;
    int busy_timeout_ms; /* 0: 10,000 */
    const char *vfs;     /* SQLite VFS name for fault tests; NULL: the default */
    const char *ledger;  /* path of the ledger of its commits; NULL: none is kept */
} sqlite_options;

/* Open or make the database; runs migrations in one transaction. opt NULL: all 0. */
int sqlite_store_open(store **out, const char *path, const sqlite_options *opt, fo_err *err);
int sqlite_checkpoint(store *s, fo_err *err); /* the log into the database */
/* The checksums of the pages of a database that nobody has open, and of its log. */
int sqlite_check_files(const char *path, store_finding_fn *fn, void *ctx, fo_err *err);

#endif
