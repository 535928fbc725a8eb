/* home_store.h - the store of a home: for retrieval alone. Whoever serves a home asks catalog.h,
 * activity.h, home_backup.h and service.h, which say what is meant by a question whatever the store. */
#ifndef FORAGE_RETRIEVAL_HOME_STORE_H
#define FORAGE_RETRIEVAL_HOME_STORE_H

#include "data/store/store.h"
#include "retrieval/service/service.h"

/* As store_open, of the store that lies in this home. */
int home_open_store(store **out, const char *home, const store_options *opt, fo_err *err);

store *service_store(service *s); /* owned by s */

#endif
