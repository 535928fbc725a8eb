/* extract_host.h - documents of the formats that hostile bytes could turn against their reader are
 * read by processes of their own: one for each document, or for one after the other of those that came together.
 *
 *     int main(int argc, char **argv) {
 *         if (extract_is_worker(argc, argv)) return extract_worker_main(NULL, 0);
 *         ...
 *     extract_host *host;
 *     extract_host_create(&host, &(extract_host_options){.program = "/proc/self/exe"}, &err);
 *     extract_request rq = {..., .host = host};
 *
 *   service            server of workers              worker
 *   extract_text  ---> extract_worker_main, fork ---> limits, filters, the format's extractor
 *         ^            (no threads, no secrets)         |            \
 *         |   ends the worker at its deadline           |             a program such as pdftotext
 *         +---------- text, blocks, places -------------+
 *
 * The server is this program, started anew with a word that says so: it has one thread, none of the
 * service's memory, files, connections or environment, and forks. A worker is bound
 * in time, memory and files, and where the kernel can (seccomp, Landlock) it opens, connects to and
 * writes nothing but its answer, which is checked before it is believed. What goes wrong in it costs
 * that document, with a sentence that says how; the next one gets a fresh process. A worker may have
 * read others before, as long as all went well, where the format allows it (extract_format.company):
 * a fork costs more than reading most of them. */
#ifndef FORAGE_DATA_EXTRACT_HOST_H
#define FORAGE_DATA_EXTRACT_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "kernels/error.h"

struct extract_format;

typedef struct extract_host extract_host; /* any thread may use it */

typedef struct extract_host_options {
    const char *program; /* that is run as the server of workers: this one, "/proc/self/exe" */
    /* What one document may cost; 0: as below. */
    double wall_ms, wall_ms_per_mib; /* 60 s and 60 s for each MiB: busy machines are slow */
    double cpu_ms, cpu_ms_per_mib;   /* of the program that helps to read it: 20 s and 10 s */
    double ocr_wall_ms;              /* more, where letters are recognised: 600 s */
    size_t memory_bytes;             /* of address space, worker and program each: 1 GiB */
} extract_host_options;

/* Nothing is started before the first document. FO_ENOMEM. */
int extract_host_create(extract_host **out, const extract_host_options *opt, fo_err *err);
/* Ends the server. Nobody may be using it. NULL is fine. */
void extract_host_free(extract_host *h);
/* No more documents of this call come (extract_request.call): the workers that waited for them end. h may be NULL. */
void extract_host_end_call(extract_host *h, uint64_t call);
/* Process id of the server of workers, 0 while there is none: for tests. */
int extract_host_pid(extract_host *h);

/* Was this program started to be the server of workers? Then main does nothing but return
 * extract_worker_main. Rows before those of the registry are for tests; NULL and 0: none. */
bool extract_is_worker(int argc, char **argv);
int extract_worker_main(const struct extract_format *formats, size_t n_formats);

#endif
