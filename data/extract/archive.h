/* archive.h - archives (ZIP, tar, 7-Zip, each also packed as a whole) hold files, of which each becomes a document of
 * its own. They are taken apart in a worker (extract_host.h), by libarchive, within bounds.
 *
 *     static int on_bytes(void *ctx, const void *p, size_t n, fo_err *err);         // of the member at hand
 *     static int on_member(void *ctx, const archive_member *m, fo_err *err);        // it has ended
 *     archive_sink sink = {on_bytes, on_member, ctx};
 *     if (archive_is(bytes, n)) rc = archive_unpack(host, &rq, &sink, &err);
 *
 * Names are names: nothing is ever written where they point to. */
#ifndef FORAGE_DATA_ARCHIVE_H
#define FORAGE_DATA_ARCHIVE_H

#include "data/extract/extract.h"

enum {
    ARCHIVE_MAX_MEMBERS = 20000,
    ARCHIVE_MAX_NESTING = 3, /* archives within archives */
    ARCHIVE_MAX_RATIO = 200, /* bytes that come out of one that goes in, past the first 16 MiB */
    ARCHIVE_MAX_NAME = 1024, /* bytes */
};

/* What is allowed; archive_unpack takes what it used from it, so that archives within archives share it. */
typedef struct archive_bounds {
    size_t n_members;
    uint64_t bytes;  /* of all members that are read */
    uint64_t member; /* of one */
} archive_bounds;

enum archive_outcome {
    MEMBER_READ,    /* its bytes have come */
    MEMBER_SKIPPED, /* not of a kind that is read, hidden, a link: none came */
    MEMBER_FAILED,  /* some may have come; why says what is wrong */
};

typedef struct archive_member { /* good until the callback returns */
    const char *name;           /* clean UTF-8 */
    enum archive_outcome outcome;
    const char
        *why; /* of the skipped its kind (".png", "hidden", "link"), of the failed a sentence */
} archive_member;

typedef struct archive_sink {
    int (*bytes)(void *ctx, const void *p, size_t n, fo_err *err);
    int (*member)(void *ctx, const archive_member *m, fo_err *err);
    void *ctx;
} archive_sink;

typedef struct archive_request {
    const void *bytes;
    size_t n;
    const char *file_name; /* NULL: none */
    archive_bounds *bounds;
    const atomic_bool *cancel; /* NULL: none */
} archive_request;

/* By its bytes, gzip looked into. What is made of a ZIP archive (DOCX, EPUB ...) is none. */
bool archive_is(const void *bytes, size_t n);
/* By its name. */
bool archive_knows_file(const char *file_name);

/* Members in their order. Errors name what is wrong with the archive; what came before stands: FO_EINVAL (damaged),
 * FO_ELIMIT (too many, too much), FO_EUNSUPPORTED (h is NULL), FO_ECANCELLED, and what the sink says. */
int archive_unpack(struct extract_host *h, const archive_request *rq, const archive_sink *sink,
                   fo_err *err);

/* ---- the worker's side ------------------------------------------------------------------------- */

/* The same in this process: for workers, and tests. */
int archive_walk(const archive_request *rq, const archive_sink *sink, fo_err *err);

#endif
