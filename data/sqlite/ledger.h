/* ledger.h - what was acknowledged, kept outside the database and its log: the file by which lost
 * commits are found.
 *
 * SQLite's log proves each commit by a checksum over all that stands before it. A bit that flips in
 * it makes the rest look as if it had never been written: commits that were acknowledged are gone,
 * and nothing says so. The ledger does. It numbers commits, as the database does (table home), and
 * says for each which collections it changed, to which epoch and counts.
 *
 *   header | record | record | ... | zeroes          256 bytes each, CRC-32 at the end of each
 *
 *   state   the collections as of the commit at which the file was made, acknowledged
 *   intent  commit N is about to be made: written before it, synced beside it
 *   done    commit N has been made: written behind it, synced with the next intent, or soon
 *
 * An intent for N + 1 says that N was made, too. So the database stands at the last commit that is
 * done, or at the intent behind it; anything less was lost. The file is made anew whenever a store
 * is opened and when it has grown long. Syncing overwrites zeroes that lie on disk already, on a
 * thread of its own while the database syncs its log: a commit waits for the slower of the two. */
#ifndef FORAGE_DATA_STORE_LEDGER_H
#define FORAGE_DATA_STORE_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "kernels/error.h"

typedef struct ledger_state { /* of a collection after a commit */
    int64_t collection, epoch, n_documents, n_chunks;
    bool deleted;
    char tenant[65], name[65];
} ledger_state;

/* ---- reading ----------------------------------------------------------------------------- */

typedef struct ledger_entry {
    ledger_state now, before; /* with and without the last commit */
    bool is_new;              /* the last commit made it */
} ledger_entry;

typedef struct ledger_view {
    unsigned char store[16]; /* whose commits these are */
    int64_t last;            /* the last commit that was begun */
    bool done;               /* and made, as far as the ledger knows */
    ledger_entry *entries;   /* by collection */
    size_t n;
} ledger_view;

/* FO_ENOTFOUND: there is none. FO_ECORRUPT names the byte. */
int ledger_read(const char *path, ledger_view *out, fo_err *err);
void ledger_view_deinit(ledger_view *v);
/* The collection as of commit number `commit`, which is v->last or the one before; NULL: it was not
 * there. */
const ledger_state *ledger_at(const ledger_view *v, int64_t collection, int64_t commit);

/* ---- writing: one thread at a time ------------------------------------------------------- */

typedef struct ledger ledger;

/* A fresh file in the place of what is there: these are all the collections as of `commit`. After an
 * error *out is NULL, and what was there is there still; or the fresh file is there but its folder could
 * not be synced: then *out is the fresh ledger, and the one before is nobody's. */
int ledger_create(ledger **out, const char *path, const unsigned char store[16], int64_t commit,
                  const ledger_state *states, size_t n, fo_err *err);
void ledger_close(ledger *l); /* NULL is fine */

/* Before commit number `commit`. Syncing has begun when it returns. */
int ledger_begin(ledger *l, int64_t commit, const ledger_state *states, size_t n, fo_err *err);
/* After it: waits for the sync that ledger_begin began. made: the commit was made. */
int ledger_end(ledger *l, int64_t commit, bool made, fo_err *err);
/* It has grown long: time to make it anew. */
bool ledger_is_long(const ledger *l);

#endif
