#include "kernels/map_guard.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct guarded {
    _Atomic uintptr_t begin, end; /* begin 0: free. end is written before begin */
    _Atomic size_t failed; /* the byte behind the last page that could not be read; 0: none */
} guarded;

static guarded table[FO_MAP_GUARDS];
static atomic_size_t used; /* places ever taken: the handler looks no further */
static pthread_mutex_t mu =
    PTHREAD_MUTEX_INITIALIZER; /* of who takes and gives places, and the handler */
static uintptr_t page;
static struct sigaction before;

static guarded *holder_of(uintptr_t at) {
    const size_t n = atomic_load(&used);
    for (size_t i = 0; i < n; i++) {
        const uintptr_t begin = atomic_load(&table[i].begin);
        if (begin && at >= begin && at < atomic_load(&table[i].end)) return &table[i];
    }
    return NULL;
}

/* To whoever was asked before: a handler, else what the system does. One that was sent (si_code is not
 * above 0) does not come again by itself, as one of a read does that is tried again. */
static void hand_on(int number, siginfo_t *info, void *context) {
    const bool sent = info->si_code <= 0;
    if (before.sa_flags & SA_SIGINFO && before.sa_sigaction) {
        before.sa_sigaction(number, info, context);
        return;
    }
    if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
        before.sa_handler(number);
        return;
    }
    if (sent && before.sa_handler == SIG_IGN) return;
    signal(number, SIG_DFL); /* the read is tried again, and ends the process */
    if (sent) raise(number);
}

/* Runs in the thread that read: nothing but atomic loads and a system call. */
static void on_bus_error(int number, siginfo_t *info, void *context) {
    const int saved = errno;
    const uintptr_t at = (uintptr_t)info->si_addr / page * page;
    guarded *g = info->si_code > 0 ? holder_of((uintptr_t)info->si_addr) : NULL;
    if (g && mmap((void *)at, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
                 MAP_FAILED) {
        atomic_store(&g->failed, at - atomic_load(&g->begin) + 1);
        errno = saved;
        return;
    }
    hand_on(number, info, context);
}

/* Where nobody else's handler has come in its place since. Under mu. SA_ONSTACK: threads of other
 * languages (Go's) have small stacks and another for signals. */
static void install(void) {
    struct sigaction now,
        act = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK};
    if (!page) page = (uintptr_t)sysconf(_SC_PAGESIZE); /* once: the handler reads it without mu */
    if (sigaction(SIGBUS, NULL, &now) ||
        ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_bus_error))
        return;
    before = now;
    sigaction(SIGBUS, &act, NULL);
}

bool fo_map_guard_begin(fo_map_guard *g, const fo_map *m) {
    *g = (fo_map_guard){0};
    if (!m->size) return false;
    pthread_mutex_lock(&mu);
    install();
    const size_t n = atomic_load(&used);
    size_t i = 0;
    while (i < n && atomic_load(&table[i].begin)) i++;
    if (i < FO_MAP_GUARDS) {
        const uintptr_t begin = (uintptr_t)m->data;
        atomic_store(&table[i].failed, 0);
        atomic_store(&table[i].end, begin + m->size);
        atomic_store(&table[i].begin, begin);
        if (i == n) atomic_store(&used, n + 1);
        g->place = i + 1;
    }
    pthread_mutex_unlock(&mu);
    return g->place != 0;
}

void fo_map_guard_end(fo_map_guard *g) {
    if (!g->place) return;
    pthread_mutex_lock(&mu);
    atomic_store(&table[g->place - 1].begin, 0);
    pthread_mutex_unlock(&mu);
    g->place = 0;
}

bool fo_map_guard_failed(const fo_map_guard *g, size_t *at) {
    const size_t failed = g->place ? atomic_load(&table[g->place - 1].failed) : 0;
    if (failed && at) *at = failed - 1;
    return failed != 0;
}

int fo_guarded_file_open(fo_guarded_file *out, const char *path, fo_err *err) {
    *out = (fo_guarded_file){.path = strdup(path)};
    int rc = out->path ? fo_map_open(&out->map, path, err) : fo_no_memory(err);
    if (rc) {
        fo_guarded_file_close(out);
        return rc;
    }
    fo_map_guard_begin(&out->guard, &out->map);
    return FO_OK;
}

void fo_guarded_file_close(fo_guarded_file *f) {
    fo_map_guard_end(&f->guard);
    fo_map_close(&f->map);
    free(f->path);
    f->path = NULL;
}

bool fo_guarded_file_failed(const fo_guarded_file *f, size_t *at) {
    return fo_map_guard_failed(&f->guard, at);
}

int fo_guarded_file_check(const fo_guarded_file *f, fo_err *err) {
    size_t at;
    return fo_guarded_file_failed(f, &at)
               ? fo_fail(err, FO_EIO,
                         "%s: byte %zu cannot be read any more, it was cut off or its disk fails: "
                         "see that the file is whole, and start again",
                         f->path, at)
               : FO_OK;
}
