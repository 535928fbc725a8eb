/* forage_internal.h - what the files of libforage share (forage.h).
 *
 * A public function is a shell: it checks its handles, calls, and hands the error out as a value. Options are
 * read and replies written by what serves HTTP, so that there is one meaning of each name. */
#ifndef FORAGE_SERVER_FORAGE_INTERNAL_H
#define FORAGE_SERVER_FORAGE_INTERNAL_H

#include <stdatomic.h>

#include "kernels/buf.h"
#include "retrieval/service/service.h"
#include "server/base/json.h"
#include "server/sdk/forage.h"

struct forage {
    /* immutable after open */
    service *service;
    forage_listener listener; /* of notices */
    bool read_only;
};

/* The error of a call as its caller sees it; returns rc. */
int forage_hand_out(int rc, const fo_err *err, forage_error *error);
/* FO_EINVAL where one of the two is NULL. */
int forage_check(const void *f, const void *out, fo_err *err);

/* A call that somebody may listen to and end. */
typedef struct forage_call {
    const forage_listener *listener; /* NULL: nobody */
    atomic_bool ended; /* by what event returned, or by the stop: what the service looks at */
    struct forage_call *next; /* that the same stop ends; guarded by it */
} forage_call;
void forage_call_begin(forage_call *c, const forage_listener *listener);
void forage_call_end(forage_call *c); /* before c's memory goes */
/* Tell of an event whose data is the JSON in *data, which is emptied. Not 0: the call is to end. */
int forage_call_tell(forage_call *c, const char *event, fo_buf *data);
/* FO_ECANCELLED where it was ended. */
int forage_call_check(const forage_call *c, fo_err *err);

/* Options as an object to read from: *root is the caller's to delete. */
int forage_options(json_in *in, cJSON **root, const char *options, fo_err *err);
enum { FORAGE_OPTIONS_MAX = 64 << 20 }; /* bytes */

/* Takes what b holds. FO_ENOMEM. */
int forage_reply_make(forage_reply **out, fo_buf *b, fo_err *err);

#endif
