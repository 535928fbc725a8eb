/* home_backup.h - a home in one file, and a home made from one.
 *
 * The file (data/files/backup_file.h) holds the store as of one moment and the index files as of that
 * moment or one before it; a home made from it brings its indexes up to the store as it is opened, so that
 * it answers as the first one did. Keys, the audit log, settings and what is computed (kv/, hot/) are not
 * in it. */
#ifndef FORAGE_RETRIEVAL_HOME_BACKUP_H
#define FORAGE_RETRIEVAL_HOME_BACKUP_H

#include <stdbool.h>
#include "kernels/error.h"

/* Copy a home, also while a server runs on it. file is the old one or a whole new one, synced.
 * FO_ENOTFOUND: there is no home. Needs room for the store beside the file while it works. */
int home_backup(const char *home, const char *file, fo_err *err);

/* The home is that of the file from here on: one of home_backup, or a bare copy of a store. Nobody may work
 * on the home (FO_EBUSY); one that holds a store already keeps it (FO_ECONFLICT) unless `replace`, and then loses its
 * copies of PDFs (page_images.h) with it. The copy
 * is looked through first: FO_ECORRUPT, and nothing was changed, nor a folder made. Killed anywhere, the home is the old one
 * or the new one; the next service_open brings its indexes up to its store. */
int home_restore(const char *home, const char *file, bool replace, fo_err *err);

#endif
