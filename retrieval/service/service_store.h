/* service_store.h - the store of a service, for retrieval alone: what the server asks of it, it asks of catalog.h,
 * activity.h and conversations.h. */
#ifndef FORAGE_RETRIEVAL_SERVICE_STORE_H
#define FORAGE_RETRIEVAL_SERVICE_STORE_H

#include "data/store/store_backend.h"
#include "retrieval/service/service.h"

store *service_store(service *s); /* owned by s */

#endif
