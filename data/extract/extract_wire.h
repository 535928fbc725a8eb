/* extract_wire.h - what goes between a service and the workers that read documents for it: plain
 * structs, for both ends are the same program on the same machine. */
#ifndef FORAGE_DATA_EXTRACT_WIRE_H
#define FORAGE_DATA_EXTRACT_WIRE_H

#include "data/extract/builder.h"

enum {
    WIRE_MAGIC = 0x46784A31,
    WIRE_CONTROL_FD = 3, /* the server's end of the socket that jobs come through */
    WIRE_FDS = 3, /* with each job: the document, where the answer goes, where its end goes */
    WIRE_NAME_BYTES = 256,
    WIRE_IDLE_MS = 10000, /* a worker that waits for longer between two documents ends */
};

/* One document to read. */
typedef struct wire_job {
    uint32_t magic;
    uint32_t row;         /* of the registry, counted with rows of tests before it */
    uint64_t n;           /* bytes of the document */
    uint64_t max_text;    /* bytes of text */
    uint64_t max_kept;    /* bytes that the budget allows; 0: no bound */
    uint64_t max_address; /* bytes of address space */
    double cpu_ms, cpu_ms_per_mib;
    double program_cpu_ms; /* of a program that helps */
    double wall_ms;
    bool is_text;
    uint8_t ocr; /* enum extract_ocr */
    char language[EXTRACT_OCR_LANGUAGE_BYTES];
    char charset[32];
    char file_name[WIRE_NAME_BYTES];
    bool unpack; /* an archive: its members are wanted, no text */
    uint64_t unpack_members, unpack_bytes, unpack_member;
    uint32_t draw; /* the page that is wanted as an image, no text; 0: none */
    /* No document yet: the worker is kept (extract_lease.h). The files are memory of n bytes and a socket, through which jobs
     * come, of documents that lie in that memory, and answers go. */
    bool lease;
} wire_job;

/* A job and the n_fds <= WIRE_FDS files that go with it, through a socket of packets. */
bool wire_send_job(int socket, const wire_job *job, const int *fds, size_t n_fds);
/* Waits for one. False: the other end is gone, or what came is no job; then no file is left open. */
bool wire_receive_job(int socket, wire_job *job, int *fds, size_t n_fds);
/* The next one of a lease, through its socket, a stream. False: there is none, or it is no job for n bytes of memory. */
bool wire_next_job(int socket, wire_job *job, size_t n);

/* What comes out of an archive: pieces of a member, the member's end with its name and why it is not read, the end. */
enum wire_part_kind { WIRE_PIECE, WIRE_MEMBER, WIRE_UNPACKED };
typedef struct wire_part {
    uint32_t magic, kind;
    uint32_t n; /* bytes that follow: of the piece, of the name */
    uint32_t n_why, outcome;
} wire_part;

typedef struct wire_unpacked { /* behind the last part */
    int32_t rc;
    fo_err err;
} wire_unpacked;

/* Before the answer, while it is made: pages that were read since the last of these. */
enum { WIRE_PAGES = 0x46785032 };
typedef struct wire_pages {
    uint32_t magic, n;
} wire_pages;

/* The head of an answer. Behind it: the text, the title, blocks, places, names of places. */
typedef struct wire_head {
    uint32_t magic;
    int32_t rc;      /* of the extractor */
    int32_t failure; /* of the builder */
    int32_t budget_failure;
    uint64_t wanted; /* where memory was refused */
    uint64_t n_replaced;
    uint64_t text, title, names; /* bytes */
    uint64_t n_blocks, n_places;
    fo_err err;
} wire_head;

/* A place as it travels: names are offsets into the blob of names, from 1; 0: none. */
typedef struct wire_place {
    uint32_t page, slide, line;
    float box[4];
    double start_ms, end_ms;
    uint32_t sheet, range;
} wire_place;

/* How a worker ended, from the server: its exit status, or what ended it. */
enum wire_end_kind { WIRE_EXITED, WIRE_SIGNALLED, WIRE_LATE, WIRE_NOT_STARTED };
typedef struct wire_end {
    uint32_t kind;
    int32_t value; /* exit status, signal or errno */
} wire_end;

/* b's results, written to fd; false where nobody reads them any more. Ends b's open block. */
bool wire_write_answer(int fd, builder *b, int rc, const fo_err *err);

#endif
