/* readers.h - the readers of a service: that of English and that of other languages, opened when a question needs them. */
#ifndef FORAGE_RETRIEVAL_READERS_H
#define FORAGE_RETRIEVAL_READERS_H

#include "retrieval/collections/service_internal.h"

/* The one that path names (NULL: the built-in one), as s->reader: before the first question. */
int service_open_reader(service *s, const char *path, fo_err *err);

/* The reader of answers, *out NULL where the service has none; owned by s. others: of passages in another language than
 * English, where s->reads_others. */
int service_take_reader(service *s, bool others, reader **out, fo_err *err);

#endif
