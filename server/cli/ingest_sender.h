/* ingest_sender.h - documents on their way to a running service: files and lines are gathered and go out as POST /ingest, and what
 * its replies say of them is counted. What server/routes/ingest_batch.h is where they go into a home.
 *
 *     ingest_sender *s;
 *     ingest_sender_create(&s, &(ingest_sender_options){.client = c, .path = "/ingest?wait=true", ...}, &err);
 *     ingest_sender_add_file(s, "notes/a.md", "notes/a.md", "a.md", data, n, &err);    // copied
 *     ingest_sender_add_line(s, line, n, "notes.jsonl:4711", &err);                    // a document a line
 *     ingest_sender_flush(s, &err);
 *     ingest_sender_totals(s)->n[INGEST_CREATED] ...
 *     ingest_sender_free(s);
 *
 * Memory is bounded by one batch, or one document. A document that the service refuses counts as failed and the rest goes on; an
 * error return means that a request failed. One thread. */
#ifndef FORAGE_SERVER_INGEST_SENDER_H
#define FORAGE_SERVER_INGEST_SENDER_H

#include "server/http/client.h"
#include "server/routes/ingest_batch.h"

typedef struct ingest_sender ingest_sender;

typedef struct ingest_sender_options {
    client *client;   /* must outlive the sender */
    const char *path; /* the route with its query, "/ingest?wait=true&collection=c"; copied */
    size_t max_docs, max_bytes; /* that wait at most */
    /* Called while a reply is read; id is NULL where the service names none. */
    void (*progress)(void *ctx, const ingest_totals *t); /* once a reply */
    void (*failed)(void *ctx, const char *id, const fo_err *why);
    void (*textless)(void *ctx, const char *id);
    void (*skipped)(void *ctx, const char *id, const char *kind);
    void *ctx;
} ingest_sender_options;

/* FO_ENOMEM; FO_EIO: no random bytes for the boundary of its forms. */
int ingest_sender_create(ingest_sender **out, const ingest_sender_options *opt, fo_err *err);
void ingest_sender_free(ingest_sender *s); /* what has not been sent is dropped; NULL is fine */

/* id NULL: it has none. name is the file's, without its folders. */
int ingest_sender_add_file(ingest_sender *s, const char *id, const char *uri, const char *name,
                           const void *data, size_t n, fo_err *err);
/* label says where the line came from: what the service says of it is said of that. */
int ingest_sender_add_line(ingest_sender *s, const char *line, size_t n, const char *label,
                           fo_err *err);
/* The file that fd is at the beginning of, read while it is sent, behind all that waits. fd stays open. */
int ingest_sender_stream_file(ingest_sender *s, int fd, const char *id, const char *uri,
                              const char *name, fo_err *err);
int ingest_sender_flush(ingest_sender *s, fo_err *err);
/* As the replies have told so far; n_outdated they do not tell. */
const ingest_totals *ingest_sender_totals(const ingest_sender *s);

#endif
