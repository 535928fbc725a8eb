/* home.h - a home folder before its store is opened: is the store there, who may read it.
 *
 *   forage.db, -wal, -shm   the store; ledger: what was acknowledged (data/store/ledger.h)
 *   index/  kv/  hot/       derived: made anew where they are gone or damaged
 *   backups/                copies of the store with their checksums
 *   tmp/  lock              of the process that works on it
 *   forage.conf             the user's
 *   lost-TIME/              what --force-empty and repairs put aside, for whoever wants to look */
#ifndef FORAGE_RETRIEVAL_SERVICE_HOME_H
#define FORAGE_RETRIEVAL_SERVICE_HOME_H

#include "kernels/error.h"
#include "kernels/notice.h"

/* FO_ENOTFOUND where no store lies in that folder, whole or damaged. */
int home_must_exist(const char *home, fo_err *err);

/* FO_ECORRUPT, with what to do: the store is gone or empty, though the folder holds what only a
 * store can have left there. */
int home_check_store(const char *home, fo_err *err);

/* Move these (names below the home, NULL ends them; absent is fine) to HOME/lost-TIME. */
int home_put_aside(const char *home, const char *const *names, fo_err *err);

/* Copy a file there. */
int home_copy_aside(const char *home, const char *name, fo_err *err);

/* Everything that is Forage's in it for its owner alone: files 0600, folders 0700. Tells how many
 * were open to others (modes_tightened), and what could not be changed (modes_open). */
void home_tighten(const char *home, const fo_notices *tell);

#endif
