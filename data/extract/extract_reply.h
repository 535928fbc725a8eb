/* extract_reply.h - what comes back from a worker, checked field by field before it is believed: the worker may have been
 * taken over by the document that it read. extract_host.c's.
 *
 *     extract_reply r = {.fd = answer, .deadline = fo_now_ms() + 60000, .budget = b->budget};
 *     if (extract_reply_answer(&r, b, &rc, &err)) return rc;    // b has it all, or rc says what is wrong with the document
 *     ... r.failure, or r.ended, or it contradicts itself ...
 *
 * Nothing that it says takes more memory or computing time than the builder's bounds allow. One thread. */
#ifndef FORAGE_DATA_EXTRACT_REPLY_H
#define FORAGE_DATA_EXTRACT_REPLY_H

#include "data/extract/archive.h"
#include "data/extract/extract_wire.h"

enum { EXTRACT_REPLY_PIECE = 1 << 20 }; /* bytes, at most: of a part, and of the pipe */

typedef struct extract_reply {
    int fd;
    double deadline;      /* by fo_now_ms */
    doc_budget *budget;   /* who waits may leave; NULL: nobody does */
    atomic_size_t *pages; /* NULL, or counts those that the worker says it has read */
    size_t n_pages;       /* that were added to it */
    int failure;          /* FO_OK, FO_ECANCELLED, FO_ETIMEOUT (the server hangs) */
    bool ended;           /* nothing more comes */
    /* extract_reply.c's: what came and was not asked for yet; what is left of it behind an answer is no one's */
    size_t at, n;
    char held[16 << 10];
} extract_reply;

/* Exactly n bytes; false: r says why. */
bool extract_reply_bytes(extract_reply *r, void *out, size_t n);
/* An answer of wire_write_answer into b, which is empty. True: it is whole; *rc is the extractor's word (err its sentence),
 * b->failure the builder's. False: r says why, or the answer contradicts itself; then b is to be freed. */
bool extract_reply_answer(extract_reply *r, builder *b, int *rc, fo_err *err);
/* One part of what comes out of an archive or program; piece has EXTRACT_REPLY_PIECE bytes; left is what may still come. *rc:
 * the sink's word, or the worker's where *over. False: r says why, or it contradicts itself. */
bool extract_reply_part(extract_reply *r, archive_bounds *left, const archive_sink *sink,
                        char *piece, bool *over, int *rc, fo_err *err);

#endif
