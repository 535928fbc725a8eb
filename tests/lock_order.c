/* lock_order.c - asserts that mutexes have an order: two that are taken in both orders may wait for each other for
 * ever, whether or not it happens in this run.
 *
 * Linked into every program of a build with SAN or LOCKS=1 (the Makefile), and into the stress; the linker's --wrap brings
 * calls here. Mutexes made at one place of the code are one class; a static one is a class of its own. Each mutex that is
 * taken, or taken again behind a wait, while another is held makes a row of the order; the first row that closes
 * a circle ends the program with the places of both. docs/locks.md has the order. */
#include "tests/lock_order.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LOCK_CLASSES = 256, LOCK_TABLE = 1 << 16, LOCK_DEPTH = 32 };

typedef struct lock_known { /* a mutex that lives */
    struct lock_known *next;
    const void *mutex;
    int class;
} lock_known;
static lock_known *lock_table[LOCK_TABLE];   /* guarded by lock_guard */
static const void *lock_where[LOCK_CLASSES]; /* the place of a class */
static bool lock_edges[LOCK_CLASSES][LOCK_CLASSES];
static int lock_n_classes;
static volatile int lock_guard; /* a spin lock: no mutex of ours below */
static _Thread_local struct {
    const void *mutex;
    int class;
} lock_held[LOCK_DEPTH];
static _Thread_local int lock_n_held;

static void lock_enter(void) {
    while (__atomic_exchange_n(&lock_guard, 1, __ATOMIC_ACQUIRE)) sched_yield();
}
static void lock_leave(void) {
    __atomic_store_n(&lock_guard, 0, __ATOMIC_RELEASE);
}

static int lock_class_at(const void *where) {
    int c = 0;
    while (c < lock_n_classes && lock_where[c] != where) c++;
    if (c == LOCK_CLASSES) abort();
    if (c == lock_n_classes) lock_where[lock_n_classes++] = where;
    return c;
}

static lock_known **lock_find(const void *m) {
    lock_known **p = &lock_table[((uintptr_t)m >> 3) * 0x9E3779B97F4A7C15u >> 48];
    while (*p && (*p)->mutex != m) p = &(*p)->next;
    return p;
}

/* Of a mutex; where: its place, NULL where it was not seen made. */
static int lock_class_of(const void *m, const void *where) {
    lock_known **p = lock_find(m);
    if (!*p && !(*p = calloc(1, sizeof **p))) abort();
    if (!(*p)->mutex || where) {
        (*p)->mutex = m;
        (*p)->class = lock_class_at(where ? where : m);
    }
    return (*p)->class;
}

static bool lock_reaches(int from, int to, bool *seen) {
    if (from == to) return true;
    seen[from] = true;
    for (int c = 0; c < lock_n_classes; c++)
        if (lock_edges[from][c] && !seen[c] && lock_reaches(c, to, seen)) return true;
    return false;
}

/* "file.c:line", by addr2line where that can be run, else the program's name and an offset. */
static void lock_name(int c, char out[200]) {
    char command[600];
    Dl_info in = {0};
    snprintf(out, 200, "%p", lock_where[c]);
    if (!dladdr(lock_where[c], &in) || !in.dli_fname) return;
    /* Where it was made is the call before the address that it returns to. */
    unsigned long offset = (unsigned long)((uintptr_t)lock_where[c] - 1 - (uintptr_t)in.dli_fbase);
    snprintf(out, 200, "%.150s+%#lx", in.dli_fname, offset);
    snprintf(command, sizeof command, "addr2line -s -e '%.400s' %#lx 2>/dev/null", in.dli_fname,
             offset);
    FILE *f = popen(command, "r");
    char line[200];
    if (f && fgets(line, sizeof line, f) && line[0] != '?') {
        line[strcspn(line, " \n")] = 0;
        snprintf(out, 200, "%s", line);
    }
    if (f) pclose(f);
}

static void lock_circle(int held, int class) {
    char first[200], second[200];
    fprintf(stderr, "lock order: %p is taken while %p is held, and elsewhere the other way round\n",
            lock_where[class], lock_where[held]);
    lock_leave(); /* popen may take a mutex */
    lock_name(class, first);
    lock_name(held, second);
    fprintf(stderr, "lock order: the mutex made at %s under that of %s\n", first, second);
    abort();
}

/* What is held comes before this class. */
static void lock_note(const void *m, int class) {
    bool seen[LOCK_CLASSES];
    for (int i = 0; i < lock_n_held; i++) {
        int held = lock_held[i].class;
        if (lock_held[i].mutex == m || lock_edges[held][class]) continue;
        memset(seen, 0, sizeof seen);
        if (lock_reaches(class, held, seen)) lock_circle(held, class);
        lock_edges[held][class] = true;
    }
}

static void lock_take(const void *m, bool blocks) {
    lock_enter();
    int class = lock_class_of(m, NULL);
    if (blocks) lock_note(m, class);
    lock_leave();
    if (lock_n_held == LOCK_DEPTH) abort();
    lock_held[lock_n_held].mutex = m;
    lock_held[lock_n_held++].class = class;
}

static void lock_give(const void *m) {
    for (int i = lock_n_held; i-- > 0;)
        if (lock_held[i].mutex == m) {
            memmove(&lock_held[i], &lock_held[i + 1],
                    (size_t)(lock_n_held - i - 1) * sizeof *lock_held);
            lock_n_held--;
            return;
        }
}

/* A wait lets m go and takes it again: what was taken after it comes before it then. */
static void lock_wait(const void *m) {
    lock_enter();
    lock_note(m, lock_class_of(m, NULL));
    lock_leave();
}

int __real_pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *a);
int __wrap_pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *a);
int __wrap_pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *a) {
    lock_enter();
    lock_class_of(m, __builtin_return_address(0));
    lock_leave();
    return __real_pthread_mutex_init(m, a);
}
int __real_pthread_mutex_destroy(pthread_mutex_t *m);
int __wrap_pthread_mutex_destroy(pthread_mutex_t *m);
int __wrap_pthread_mutex_destroy(pthread_mutex_t *m) {
    lock_enter();
    lock_known **p = lock_find(m), *gone = *p;
    if (gone) *p = gone->next;
    lock_leave();
    free(gone);
    return __real_pthread_mutex_destroy(m);
}
int __real_pthread_mutex_lock(pthread_mutex_t *m);
int __wrap_pthread_mutex_lock(pthread_mutex_t *m);
int __wrap_pthread_mutex_lock(pthread_mutex_t *m) {
    lock_take(m, true);
    return __real_pthread_mutex_lock(m);
}
int __real_pthread_mutex_trylock(pthread_mutex_t *m);
int __wrap_pthread_mutex_trylock(pthread_mutex_t *m);
int __wrap_pthread_mutex_trylock(pthread_mutex_t *m) {
    int rc = __real_pthread_mutex_trylock(m);
    if (!rc) lock_take(m, false);
    return rc;
}
int __real_pthread_mutex_unlock(pthread_mutex_t *m);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *m);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *m) {
    lock_give(m);
    return __real_pthread_mutex_unlock(m);
}
int __real_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m);
int __wrap_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m);
int __wrap_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m) {
    lock_wait(m);
    return __real_pthread_cond_wait(c, m);
}
int __real_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *t);
int __wrap_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *t);
int __wrap_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *t) {
    lock_wait(m);
    return __real_pthread_cond_timedwait(c, m, t);
}

void lock_order_report(void) {
    for (int a = 0; a < lock_n_classes; a++)
        for (int b = 0; b < lock_n_classes; b++) {
            char first[200], second[200];
            if (!lock_edges[a][b]) continue;
            lock_name(a, first);
            lock_name(b, second);
            printf("# lock of %s, then of %s\n", first, second);
        }
}

/* FORAGE_LOCK_ORDER names a file: each program adds the order that it saw. */
__attribute__((destructor)) static void lock_order_write(void) {
    const char *path = getenv("FORAGE_LOCK_ORDER");
    FILE *f = path ? fopen(path, "a") : NULL;
    for (int a = 0; f && a < lock_n_classes; a++)
        for (int b = 0; b < lock_n_classes; b++) {
            char first[200], second[200];
            if (!lock_edges[a][b]) continue;
            lock_name(a, first);
            lock_name(b, second);
            fprintf(f, "%s %s\n", first, second);
        }
    if (f) fclose(f);
}
