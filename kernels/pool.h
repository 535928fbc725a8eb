/* pool.h - a fixed set of threads that run one loop together.
 *
 *     fo_pool *p = fo_pool_create(2);
 *     fo_pool_run(p, n_rows, 8, worker, &job);   // worker(&job, begin, end, thread)
 *     fo_pool_free(p);
 *
 * The caller's thread takes part as thread 0. One loop at a time per pool: calls from several
 * threads take turns. A pool of one thread runs the loop in the caller and makes no thread.
 *
 * Each thread has a share of a loop's items, the same at every loop over as many items; who has
 * done its own takes pieces of others'. In a bound pool on a machine of several nodes each thread
 * stays on the processors of one node, so that what it reads again and again can lie there. Its
 * thread 0 is whoever calls, and is bound only if the caller says so (fo_pool_enter). */
#ifndef FORAGE_KERNELS_POOL_H
#define FORAGE_KERNELS_POOL_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/topology.h"

typedef struct fo_pool fo_pool;

/* Work on items [begin, end); `thread` is 0 .. fo_pool_threads - 1, for scratch memory. */
typedef void fo_pool_fn(void *arg, size_t begin, size_t end, int thread);

/* n_threads < 1: as many as fo_cpu_count() says. NULL when out of memory. */
fo_pool *fo_pool_create(int n_threads);

/* For products: n_threads < 1 is as many as fo_core_count() says; bound where t (NULL: this
 * machine's; else it outlives the pool) has several nodes. Where the system refuses to bind,
 * threads run anywhere. */
fo_pool *fo_pool_create_bound(int n_threads, const fo_topology *t);

/* As fo_pool_create, or fo_pool_create_bound for this machine, of threads that give way to others
 * (priority.h). Thread 0 is whoever calls, here too: one that gives way itself. */
fo_pool *fo_pool_create_background(int n_threads, bool bound);

void fo_pool_free(fo_pool *p); /* NULL is fine; no loop may be running */
int fo_pool_threads(const fo_pool *p);

/* The node of a thread, as an index into the topology; 0 for all in a pool that is not bound. */
int fo_pool_node(const fo_pool *p, int thread);
int fo_pool_node_number(const fo_pool *p, int thread); /* Linux's number of it */
bool fo_pool_is_bound(const fo_pool *p);               /* its threads are on several nodes */

/* Bind the calling thread as thread 0 of a bound pool, until fo_pool_leave or for good. Two system
 * calls: for a thread's life or a long work, not for a loop. Nothing where the pool is not bound.
 */
typedef struct fo_pool_visit {
    bool bound;
    fo_cpus before;
} fo_pool_visit;
void fo_pool_enter(const fo_pool *p, fo_pool_visit *v);
void fo_pool_leave(const fo_pool_visit *v);

/* Run fn over [0, n) in pieces of at most `grain` items (at least 1) and wait until all are done.
 * Which thread takes which piece is not fixed: results must not depend on it. */
void fo_pool_run(fo_pool *p, size_t n, size_t grain, fo_pool_fn *fn, void *arg);

/* The share of [0, n) that fo_pool_run gives a thread at first, whatever the grain. */
void fo_pool_share(const fo_pool *p, size_t n, int thread, size_t *begin, size_t *end);

/* fn(arg, t, t + 1, t) once in every thread t. */
void fo_pool_each(fo_pool *p, fo_pool_fn *fn, void *arg);

#endif
