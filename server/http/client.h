/* client.h - the commands' side of HTTP, for --url: a thin layer over libcurl. */
#ifndef FORAGE_SERVER_CLIENT_H
#define FORAGE_SERVER_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include "kernels/buf.h"
#include "kernels/error.h"

typedef struct client client;

/* url: "http://127.0.0.1:8080"; key is sent as a bearer token. NULL: that of FORAGE_KEY, if any. */
int client_open(client **out, const char *url, const char *key, fo_err *err);
void client_close(client *c);

/* Lines "Name: value" that later requests carry too; NULL ends them, and they stay the caller's. NULL: none. */
void client_set_headers(client *c, const char *const *lines);
/* Each later request ends with an error after so many milliseconds; 0, as at the beginning: whenever its reply is there. */
void client_set_timeout(client *c, long ms);

/* Body of a request that is produced while it is sent: how many bytes, 0 at the end, < 0 fails. */
typedef ssize_t client_source(void *ctx, char *buf, size_t n, fo_err *err);
/* The next byte that is produced is the first one again. False: what was read is gone. */
typedef bool client_rewind(void *ctx);

/* path begins with '/'. A status outside 200 to 299 is an error: its message and param are the
 * server's, and *reply is what it sent. So is a redirect, which is not followed: the message names the
 * address that it points to. FO_EIO where the server cannot be
 * reached: the message says what can be done. What a tier's requests a second refuse waits for its turn, up to a minute, and is
 * sent again; what is produced while it is sent only where `again` can begin anew (NULL: it cannot). */
int client_post(client *c, const char *path, const char *content_type, const void *body, size_t n,
                fo_buf *reply, fo_err *err);
int client_post_stream(client *c, const char *path, const char *content_type, client_source *source,
                       client_rewind *again, void *ctx, fo_buf *reply, fo_err *err);
/* What one `data:` line of a stream of events holds, n > 0 bytes and a NUL. event: the last name that was
 * told, cut at 15 bytes; "" before the first. */
typedef void client_hearer(void *ctx, const char *event, const char *data, size_t n);
/* Hands the events of a reply of status 200 to `hear` while they come. stop: looked at meanwhile, true ends the
 * transfer; NULL: none. FO_ECANCELLED where it did, FO_ELIMIT where an event has more than 16 MiB. */
int client_post_events(client *c, const char *path, const void *body, size_t n, client_hearer *hear,
                       void *ctx, const volatile bool *stop, fo_err *err);
int client_get(client *c, const char *path, fo_buf *reply, fo_err *err);
int client_delete(client *c, const char *path, fo_buf *reply, fo_err *err);
/* Percent-encode for a path or query; appended to b. */
void client_escape(fo_buf *b, const char *s);
/* One more part of the query of the address in b: "?name=value", or "&name=value" where it has one. */
void client_query_part(fo_buf *b, const char *name, const char *value);

#endif
