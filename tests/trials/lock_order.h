/* lock_order.h - every mutex that is taken while another is held, by the places where they are made: two
 * that are taken in both orders may wait for each other for ever, whether or not it happens in this run.
 *
 * The linker's --wrap brings calls here (the Makefile). Mutexes made at one place are one class; a static
 * one is a class of its own. lock_order_report prints the order that was seen and counts circles. */
#ifndef FORAGE_TESTS_TRIALS_LOCK_ORDER_H
#define FORAGE_TESTS_TRIALS_LOCK_ORDER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOCK_CLASSES = 256, LOCK_TABLE = 1 << 16, LOCK_DEPTH = 32 };

typedef struct lock_known { /* a mutex that lives */
    struct lock_known *next;
    const void *mutex;
    int class;
} lock_known;
static lock_known *lock_table[LOCK_TABLE];   /* guarded by lock_guard */
static const void *lock_where[LOCK_CLASSES]; /* the place of a class */
static bool lock_edges[LOCK_CLASSES][LOCK_CLASSES];
static int lock_n_classes, lock_circles;
static volatile int lock_guard; /* a spin lock: no mutex of ours below */
static _Thread_local struct {
    const void *mutex;
    int class;
} lock_held[LOCK_DEPTH];
static _Thread_local int lock_n_held;

static void lock_enter(void) {
    while (__atomic_exchange_n(&lock_guard, 1, __ATOMIC_ACQUIRE)) {
    }
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

/* The function and line of a place, by addr2line; the program is not stripped. */
static void lock_name(int c, char out[200]) {
    extern const char __executable_start __attribute__((visibility("hidden")));
    char command[200];
    snprintf(out, 200, "%p", lock_where[c]);
    snprintf(command, sizeof command, "addr2line -s -e /proc/%d/exe %#lx 2>/dev/null",
             (int)getpid(),
             (unsigned long)((uintptr_t)lock_where[c] - (uintptr_t)&__executable_start));
    FILE *f = popen(command, "r");
    if (f && fgets(out, 200, f)) out[strcspn(out, "\n")] = 0;
    if (f) pclose(f);
}

static void lock_take(const void *m, bool blocks) {
    bool seen[LOCK_CLASSES] = {0};
    lock_enter();
    int class = lock_class_of(m, NULL);
    for (int i = 0; blocks && i < lock_n_held; i++) {
        int held = lock_held[i].class;
        if (lock_edges[held][class]) continue;
        lock_edges[held][class] = true;
        memset(seen, 0, sizeof seen);
        if (held == class || lock_reaches(class, held, seen)) lock_circles++;
    }
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

/* Print who was taken under whom; the number of circles. */
static int lock_order_report(void) {
    for (int a = 0; a < lock_n_classes; a++)
        for (int b = 0; b < lock_n_classes; b++) {
            char first[200], second[200];
            bool seen[LOCK_CLASSES] = {0};
            if (!lock_edges[a][b]) continue;
            lock_name(a, first);
            lock_name(b, second);
            printf("# lock of %s, then of %s%s\n", first, second,
                   lock_reaches(b, a, seen) ? "   AND BACK" : "");
        }
    return lock_circles;
}

#endif
