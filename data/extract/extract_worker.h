/* extract_worker.h - what one worker does, in a process that the server of workers (extract_server.c) forked. Nothing here
 * runs in a service's own process: see extract_host.h. */
#ifndef FORAGE_DATA_EXTRACT_WORKER_H
#define FORAGE_DATA_EXTRACT_WORKER_H

#include "data/extract/extract.h"
#include "data/extract/extract_wire.h"
#include "data/extract/sandbox.h"

typedef struct worker_setup {      /* the server's, before it forks; immutable */
    const extract_format *formats; /* rows of tests, before the registry's */
    size_t n_formats;
    sandbox *reader, *program;
    size_t address_bytes; /* that the server itself takes: part of every worker's */
} worker_setup;

const extract_format *worker_row(const worker_setup *s, size_t i); /* NULL past the end */
/* Its worker starts others before it gives up doing so: it cannot wait for its document in the sandbox. */
bool worker_needs_programs(const extract_format *f);
/* What a worker that reads this may take: computing time of the process, bytes of address space. */
double worker_cpu_ms(const wire_job *job);
size_t worker_address_bytes(const worker_setup *s, const wire_job *job);

/* Reads one document of a format that needs programs, or takes an archive apart. */
_Noreturn void worker_with_programs(const worker_setup *s, const wire_job *job, int document,
                                    int answer);
/* Gives up all it can, and only then is handed a document, through the socket `control`, with the end of a pipe for its
 * answer; or a lease (extract_lease.h): then it ends behind a document that did not go well, and where nothing more comes.
 * The server sets its limits of time and memory. */
_Noreturn void worker_in_waiting(const worker_setup *s, int control);

#endif
