/* See extract_lease.h. */
#include "data/extract/extract_lease.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kernels/clock.h"

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

enum {
    MAX_READ = 64, /* documents that a worker reads one after the other */
    MAX_IDLE = 16,
};

void leases_init(lease_list *all) {
    pthread_mutex_init(&all->mu, NULL);
    all->idle = NULL;
}

void leases_deinit(lease_list *all) {
    while (all->idle) {
        lease *l = all->idle;
        all->idle = l->next;
        lease_close(l);
    }
    pthread_mutex_destroy(&all->mu);
}

/* ---- one ------------------------------------------------------------------------------------------- */

/* Memory that this process alone writes: what the worker is handed can be mapped for reading and no more. */
static int make_memory(char **memory, int *fd, fo_err *err) {
    *fd = memfd_create("documents", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (*fd < 0 || ftruncate(*fd, LEASE_BYTES) != 0)
        return fo_fail_errno(err, "cannot make memory for documents");
    void *map = mmap(NULL, LEASE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
    if (map == MAP_FAILED) return fo_fail_errno(err, "cannot map memory for documents");
    *memory = map;
    if (fcntl(*fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) !=
        0)
        return fo_fail(err, FO_EUNSUPPORTED, "this kernel seals no memory that is shared");
    return FO_OK;
}

int lease_open(lease **out, extract_host *h, uint64_t company, const wire_job *like, fo_err *err) {
    int fds[WIRE_FDS] = {-1, -1, -1}, channel[2] = {-1, -1}, ended[2] = {-1, -1};
    lease *l = calloc(1, sizeof *l);
    if (!l) return fo_no_memory(err);
    l->company = company;
    int rc = make_memory(&l->memory, &fds[0], err);
    if (!rc && (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel) != 0 ||
                pipe2(ended, O_CLOEXEC) != 0))
        rc = fo_fail_errno(err, "cannot make a socket for reading documents");
    l->channel = channel[0];
    l->ended = ended[0];
    fds[1] = channel[1];
    fds[2] = ended[1];
    wire_job job = *like;
    job.lease = true;
    job.n = LEASE_BYTES;
    if (!rc) rc = extract_host_send(h, &job, fds, &l->pid, err);
    /* The worker's copies alone stay: their end is seen as the end. */
    for (int i = 0; i < WIRE_FDS; i++)
        if (fds[i] >= 0) close(fds[i]);
    if (rc)
        lease_close(l);
    else
        *out = l;
    return rc;
}

bool lease_send(lease *l, const wire_job *job, const void *bytes) {
    if (job->n) memcpy(l->memory, bytes, job->n);
    /* Of the one before, nothing is left behind it. */
    if (l->filled > job->n) memset(l->memory + job->n, 0, l->filled - job->n);
    l->filled = job->n;
    for (size_t at = 0; at < sizeof *job;) {
        ssize_t n = send(l->channel, (const char *)job + at, sizeof *job - at, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        at += (size_t)n;
    }
    return true;
}

void lease_close(lease *l) {
    if (!l) return;
    if (l->channel >= 0) close(l->channel);
    if (l->ended >= 0) close(l->ended); /* the server ends a worker that still runs */
    if (l->memory) munmap(l->memory, LEASE_BYTES);
    free(l);
}

/* ---- those that are idle --------------------------------------------------------------------------- */

/* Under mu: *at leaves the list. */
static lease *take_out(lease **at) {
    lease *l = *at;
    *at = l->next;
    l->next = NULL;
    return l;
}

static void close_all(lease *list) {
    while (list) lease_close(take_out(&list));
}

/* Under mu: those of this company, and those whose workers have ended by themselves, go over to *gone. */
static void sort_out(lease_list *all, uint64_t company, lease **gone) {
    double now = fo_now_ms();
    for (lease **at = &all->idle; *at;) {
        if ((*at)->company != company && now - (*at)->since < WIRE_IDLE_MS) {
            at = &(*at)->next;
            continue;
        }
        lease *l = take_out(at);
        l->next = *gone;
        *gone = l;
    }
}

lease *lease_find(lease_list *all, uint64_t company) {
    lease *found = NULL;
    pthread_mutex_lock(&all->mu);
    for (lease **at = &all->idle; *at && !found;)
        if ((*at)->company == company)
            found = take_out(at);
        else
            at = &(*at)->next;
    pthread_mutex_unlock(&all->mu);
    return found;
}

void lease_keep(lease_list *all, lease *l) {
    lease *gone = NULL;
    size_t n = 0;
    if (++l->n_read >= MAX_READ) {
        lease_close(l);
        return;
    }
    pthread_mutex_lock(&all->mu);
    sort_out(all, 0, &gone);
    l->since = fo_now_ms();
    l->next = all->idle;
    all->idle = l;
    for (lease **at = &all->idle; *at; at = &(*at)->next)
        if (++n > MAX_IDLE) { /* the last of the list */
            lease *oldest = take_out(at);
            oldest->next = gone;
            gone = oldest;
            break;
        }
    pthread_mutex_unlock(&all->mu);
    close_all(gone);
}

void leases_end(lease_list *all, uint64_t company) {
    lease *gone = NULL;
    pthread_mutex_lock(&all->mu);
    sort_out(all, company, &gone);
    pthread_mutex_unlock(&all->mu);
    close_all(gone);
}
