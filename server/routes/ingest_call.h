/* ingest_call.h - the documents of one POST /ingest: how they are to be stored, and its body taken apart.
 *
 * NDJSON and forms are taken apart as they come (feed, feed, ..., end): a batch is held, a line or a
 * file that has not ended, and no more. JSON and a raw document are of one piece, and an
 * Idempotency-Key covers the whole body: those come from a spool, as does all that a job does.
 * One thread at a time. */
#ifndef FORAGE_SERVER_INGEST_CALL_H
#define FORAGE_SERVER_INGEST_CALL_H

#include "server/http/multipart.h"
#include "server/routes/app.h"
#include "server/routes/ingest_batch.h"

enum ingest_format { FORMAT_JSON, FORMAT_NDJSON, FORMAT_FORM, FORMAT_RAW };

/* A part of a form, while it comes. */
typedef struct ingest_form {
    multipart *parser;
    fo_buf data;
    char field[64];
    char *file_name, *type;
    bool is_file, file_seen;
    bool
        parted; /* the file at hand is a text that goes in by parts, and what came of it is fed already */
    char *metadata; /* for the files that follow */
} ingest_form;

typedef struct ingest_call {
    app *app;
    enum ingest_format format;
    /* how the documents are to be stored; owned */
    char *content_type;  /* the whole header */
    access_grant *grant; /* whose call it is, also once it is a job; NULL: nobody's in particular */
    char *tenant, *collection, *language;
    char *acl;              /* JSON array: of every document that has none of its own; NULL: none */
    char *id, *title, *uri; /* of a raw body, or of the next file of a form */
    size_t max_tokens, overlap;
    int ocr; /* enum ingest_ocr */
    char *ocr_language;
    bool wait;
    int64_t timeout_ms; /* 0: any */
    /* the body */
    spool *body; /* the whole of it; NULL: it is fed */
    bool
        parted; /* of a raw body: its beginning says that it may go in by parts, so that no size is too large */
    fo_buf line; /* NDJSON: what has no end yet */
    size_t n_lines;
    ingest_form form;
    /* what became of it */
    ingest_batch *batch;
    spool *results; /* NULL in a job */
    atomic_bool *cancel;
    job *job; /* NULL in a request */
    bool counted;
    fo_buf errors; /* job: the first failures */
    size_t n_errors;
    fo_err raw_error; /* how a raw document failed, to be answered with a status of its own */
    int64_t began_ms; /* 0, or when work on it began */
} ingest_call;

void ingest_call_free(void *call); /* NULL is fine */

/* The next bytes of NDJSON or of a form; then, once, the end: what is held back, and the last batch. */
int ingest_call_feed(ingest_call *c, const char *data, size_t n, fo_err *err);
int ingest_call_end(ingest_call *c, fo_err *err);
/* All that c->body holds, of any format. */
int ingest_call_spooled(ingest_call *c, fo_err *err);
/* May documents be stored in c->collection? FO_EINVAL: that is no name; FO_EDENIED: not by this key. */
int ingest_call_check_collection(const ingest_call *c, fo_err *err);
/* Bytes of memory that it holds between two pieces of a body. */
size_t ingest_call_held(const ingest_call *c);
/* Is this the beginning of a raw text that may go in by parts? */
bool ingest_call_in_parts(const ingest_call *c, const void *head, size_t n);
/* The whole of c->body, at most max bytes; caller frees. */
int ingest_call_read(const ingest_call *c, size_t max, fo_buf *out, fo_err *err);

/* "a,b" as the JSON array that a document's acl is; "" is the empty one. *out is freed before. */
int ingest_acl_read(char **out, const char *names, fo_err *err);

/* "off", "auto", "force": enum ingest_ocr; 0 for another word. */
int ingest_ocr_named(const char *word);

#endif
