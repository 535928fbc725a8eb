/* home_backup.h - a copy of a home's store, and a home made from one.
 *
 * The store is the truth: a backup is one file, and what is derived from it is built again. */
#ifndef FORAGE_RETRIEVAL_HOME_BACKUP_H
#define FORAGE_RETRIEVAL_HOME_BACKUP_H

#include <stdbool.h>
#include "kernels/error.h"

/* Copy the store of a home, also while a server runs on it: as of one moment, and synced. file is
 * the old one or a whole new one. FO_ENOTFOUND: there is no home. */
int home_backup(const char *home, const char *file, fo_err *err);

/* The store of this home is that of the file from here on. Nobody may work on the home (FO_EBUSY);
 * one that holds a store already keeps it (FO_ECONFLICT) unless `replace`. The copy is looked
 * through first: FO_ECORRUPT, and nothing was changed. Indexes are built at the next service_open. */
int home_restore(const char *home, const char *file, bool replace, fo_err *err);

#endif
