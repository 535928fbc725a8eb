/* home.h - a home folder before its store is opened: is the store there, who may read it.
 *
 *   forage.db, -wal, -shm   the store; ledger: what was acknowledged (data/sqlite/)
 *   index/  kv/  hot/       derived: made anew where they are gone or damaged
 *   backups/                copies of the home (.tar.zst), or of the store alone (.db and .db.sha256)
 *   tmp/  lock              of the process that works on it
 *   forage.conf             the user's
 *   lost-TIME/              what --force-empty and repairs put aside, for whoever wants to look */
#ifndef FORAGE_RETRIEVAL_HOME_H
#define FORAGE_RETRIEVAL_HOME_H

#include <stdbool.h>
#include "kernels/error.h"

/* FO_ENOTFOUND where no store lies in that folder, whole or damaged; FO_ECORRUPT where there was one: its index, ledger or
 * backups are left; FO_EINVAL where it is a file. */
int home_must_exist(const char *home, fo_err *err);
/* FO_EINVAL: it is a file, and no folder. */
int home_fail_file(const char *home, fo_err *err);
/* FO_EIO: it is another user's, who lets nobody else in. */
int home_fail_others(const char *home, fo_err *err);

/* Move these (names below the home, NULL ends them; absent is fine) to HOME/lost-TIME. */
int home_put_aside(const char *home, const char *const *names, fo_err *err);

/* Is that, by its name, a copy in backups/? */
bool home_is_backup(const char *name);

/* Copy a file there. */
int home_copy_aside(const char *home, const char *name, fo_err *err);

#endif
