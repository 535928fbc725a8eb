/* home_store.h - the store of a home: for retrieval alone. Whoever serves a home asks home_backup.h, and catalog.h,
 * activity.h and service.h of retrieval/service, which say what is meant by a question whatever the store. */
#ifndef FORAGE_RETRIEVAL_HOME_STORE_H
#define FORAGE_RETRIEVAL_HOME_STORE_H

#include "data/store/store_backend.h"
#include "retrieval/home/home.h"

/* The kind of store that homes have. */
const store_backend *home_backend(void);

/* FO_ECORRUPT, with what to do: the store is gone or empty, though the folder holds what only a
 * store can have left there. */
int home_check_store(const store_backend *be, const char *home, fo_err *err);

/* Everything that is Forage's in it for its owner alone: files 0600, folders 0700. Tells how many
 * were open to others (modes_tightened), and what could not be changed (modes_open). */
void home_tighten(const store_backend *be, const char *home, const fo_notices *tell);

/* home_backup.h's copy, of a home whose store is open here. FO_ECANCELLED: *cancel (may be NULL) became true; then
 * nothing is left of it. */
int home_backup_open(store *s, const char *home, const char *file, const atomic_bool *cancel,
                     fo_err *err);

#endif
