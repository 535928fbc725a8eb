/* ingest_batch.h - documents gathered into batches on their way to service_ingest, and what became
 * of them. Used by POST /ingest, by jobs and by the command line.
 *
 *     ingest_batch *b;
 *     ingest_batch_create(&b, &(ingest_batch_options){.service = s, .ingest = {...}}, &err);
 *     ingest_batch_add_json(b, line, len, "line 1", &err);      // a document a line
 *     ingest_batch_add(b, &doc, &err);                          // or bytes; copied
 *     ingest_batch_flush(b, &err);
 *     ingest_batch_totals(b)->n[INGEST_CREATED] ...
 *
 * Memory is bounded by one batch, or one document. A document that cannot be read counts as failed and the rest
 * goes on; an error return means that nothing more can be stored (disk full, cancelled). */
#ifndef FORAGE_SERVER_INGEST_BATCH_H
#define FORAGE_SERVER_INGEST_BATCH_H

#include <cjson/cJSON.h>
#include "data/extract/text_parts.h"
#include "kernels/buf.h"
#include "retrieval/service/service.h"
#include "kernels/spool.h"

typedef struct ingest_batch ingest_batch;

typedef struct ingest_totals {
    size_t n[4]; /* by enum ingest_status */
    size_t n_all, n_chunks;
    size_t n_textless;    /* of those created and updated: they hold no text, nothing finds them */
    size_t n_outdated;    /* parts of an earlier version of a text, or the whole of one: deleted */
    ingest_report report; /* milliseconds summed, epoch of the last batch */
} ingest_totals;

typedef struct ingest_batch_options {
    service *service;
    ingest_options ingest;
    const char *acl; /* of documents that bring none: as in ingest_document; must outlive b */
    size_t max_docs, max_bytes; /* 0: 64 documents, 1 MiB of bytes, names and metadata */
    const char *spool_dir;      /* where archives are unpacked to; NULL: /tmp. It must outlive b */
    spool *results;             /* NULL, or gets a JSON object a document, comma-separated */
    /* NULL, or called after every batch. */
    void (*progress)(void *ctx, const ingest_totals *t);
    void (*failed)(void *ctx, const char *id, const fo_err *why);
    void (*textless)(void *ctx, const char *id); /* NULL, or called for each such document */
    /* NULL, or called for each member of an archive that is left out: ".png", "hidden", "link". */
    void (*skipped)(void *ctx, const char *id, const char *kind);
    void *ctx;
} ingest_batch_options;

/* Strings of options.ingest must outlive b. */
int ingest_batch_create(ingest_batch **out, const ingest_batch_options *opt, fo_err *err);
void ingest_batch_free(ingest_batch *b); /* unflushed documents are dropped; NULL is fine */

/* Bytes, names and metadata are copied. An archive is taken apart: each of its members is a document; and so is each part
 * of a text of more than TEXT_WHOLE_BYTES (data/extract/text_parts.h). What an earlier version of a document with an id left,
 * parts that it has no more or the whole where it has parts now, is deleted behind it, also where that was there already. */
int ingest_batch_add(ingest_batch *b, const ingest_document *doc, fo_err *err);
/* The same of a text that comes in pieces: doc->bytes, n_bytes are its beginning, and where this says true, it goes in by
 * parts, whatever its size: feed all of it (the beginning, too), then end. One at a time; doc is copied. One without an id fails
 * where a text of its name went in by parts before, and one whose id leaves no room for that of a part (unless it is the address,
 * too: the path of a file; such parts get ids of their content). */
bool ingest_batch_in_parts(const ingest_document *doc, text_kind *kind);
int ingest_batch_begin_parts(ingest_batch *b, const ingest_document *doc, const text_kind *kind,
                             fo_err *err);
int ingest_batch_feed_parts(ingest_batch *b, const void *p, size_t n, fo_err *err);
int ingest_batch_end_parts(ingest_batch *b, int rc, fo_err *err); /* as text_cutter_end */
/* {"id","text","title","uri","content_type","metadata"}; label ("documents[3]", "line 7") names it
 * in errors. */
int ingest_batch_add_object(ingest_batch *b, const cJSON *doc, const char *label, fo_err *err);
int ingest_batch_add_json(ingest_batch *b, const char *text, size_t len, const char *label,
                          fo_err *err);
/* One that could not even be read, and why: its failure keeps its place among the results. */
int ingest_batch_add_failed(ingest_batch *b, const char *id, const fo_err *why, fo_err *err);
int ingest_batch_flush(ingest_batch *b, fo_err *err);
const ingest_totals *ingest_batch_totals(const ingest_batch *b);
/* Of the documents that wait: bytes, names and metadata. */
size_t ingest_batch_held(const ingest_batch *b);
/* "timings_ms":{...} as the API has it. */
void ingest_write_timings(fo_buf *b, const ingest_report *r, double total_ms);

#endif
