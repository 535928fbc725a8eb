/* multipart.h - multipart/form-data taken apart while it arrives. Source: RFC 7578, RFC 2046 5.1.
 * Nothing but a boundary's length is ever held back; headers of a part are at most 8 KiB. */
#ifndef FORAGE_SERVER_MULTIPART_H
#define FORAGE_SERVER_MULTIPART_H

#include <stdbool.h>
#include <stddef.h>
#include "kernels/error.h"

typedef struct multipart multipart;

typedef struct multipart_part {
    const char *name;      /* of the form field */
    const char *file_name; /* NULL: a plain field */
    const char *type;      /* content type, NULL: none */
} multipart_part;

/* A non-zero return stops the parser and is returned by multipart_feed. */
typedef struct multipart_sink {
    void *ctx;
    int (*begin)(void *ctx, const multipart_part *part, fo_err *err);
    int (*data)(void *ctx, const char *data, size_t n, fo_err *err);
    int (*end)(void *ctx, fo_err *err);
} multipart_sink;

/* content_type is the whole header: its boundary parameter is needed. */
int multipart_create(multipart **out, const char *content_type, const multipart_sink *sink,
                     fo_err *err);
void multipart_free(multipart *m);
int multipart_feed(multipart *m, const char *data, size_t n, fo_err *err);
/* FO_EINVAL where the closing boundary never came. */
int multipart_finish(multipart *m, fo_err *err);

#endif
