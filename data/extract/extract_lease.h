/* extract_lease.h - a worker that is kept for several documents, one after the other: those of one company
 * (extract_format.company). extract_host.c's.
 *
 *     lease *l = lease_find(&leases, company);                    // one that has read before, or
 *     if (!l) rc = lease_open(&l, host, company, &job, &err);     // a fresh one
 *     if (lease_send(l, &job, bytes)) ... the answer comes through l->channel ...
 *     lease_keep(&leases, l);      // all went well; else lease_close(l): its worker ends
 *
 * What a document costs beside being read is a copy into memory that both hold, a message and an answer: a process, pipes
 * and files of its own would cost .3 to 1 ms. Lock order: lease_list.mu is taken under no other and holds none. */
#ifndef FORAGE_DATA_EXTRACT_LEASE_H
#define FORAGE_DATA_EXTRACT_LEASE_H

#include <pthread.h>
#include "data/extract/extract_host.h"
#include "data/extract/extract_wire.h"

enum {
    LEASE_BYTES = 512 << 10
}; /* a larger document has a worker of its own: a process is little beside it */

typedef struct lease { /* owned by the thread that found or opened it, until it is kept or closed */
    struct lease *next;
    uint64_t company;
    int channel; /* jobs out, answers in */
    int ended;   /* how its worker ended, from the server of workers */
    int pid;     /* of that server */
    size_t n_read;
    /* extract_lease.c's */
    char *memory; /* [LEASE_BYTES] that the worker can read */
    size_t filled;
    double since; /* when it was kept */
} lease;

typedef struct lease_list {
    pthread_mutex_t mu;
    lease *idle; /* guarded by mu: the last that was kept is the first */
} lease_list;

void leases_init(lease_list *all);
void leases_deinit(lease_list *all); /* closes those that are idle */

/* One of this company that is idle; NULL: none is. Its worker may have ended meanwhile. */
lease *lease_find(lease_list *all, uint64_t company);
/* A fresh worker; like: a job of its documents, for its bounds. FO_EUNSUPPORTED where the kernel has no such memory
 * (before 5.1). */
int lease_open(lease **out, extract_host *h, uint64_t company, const wire_job *like, fo_err *err);
/* A document of at most LEASE_BYTES goes out. False: the worker is gone. */
bool lease_send(lease *l, const wire_job *job, const void *bytes);
/* For the next one; it is closed where it has read enough, and of many the one that was kept first. */
void lease_keep(lease_list *all, lease *l);
void lease_close(lease *l); /* NULL is fine */
/* The company is complete: nobody more comes. */
void leases_end(lease_list *all, uint64_t company);

/* extract_host.c's: a job with WIRE_FDS files to the server of workers, which is started where none runs; *pid: its. */
int extract_host_send(extract_host *h, const wire_job *job, const int fds[WIRE_FDS], int *pid,
                      fo_err *err);

#endif
