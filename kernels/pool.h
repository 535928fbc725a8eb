/* pool.h - a fixed set of threads that run one loop together.
 *
 *     fo_pool *p = fo_pool_create(2);
 *     fo_pool_run(p, n_rows, 8, worker, &job);   // worker(&job, begin, end, thread)
 *     fo_pool_free(p);
 *
 * The caller's thread takes part as thread 0. One loop at a time per pool: calls from several
 * threads take turns. A pool of one thread runs the loop in the caller and makes no thread. */
#ifndef FORAGE_KERNELS_POOL_H
#define FORAGE_KERNELS_POOL_H

#include <stddef.h>

typedef struct fo_pool fo_pool;

/* Work on items [begin, end); `thread` is 0 .. fo_pool_threads - 1, for scratch memory. */
typedef void fo_pool_fn(void *arg, size_t begin, size_t end, int thread);

/* n_threads < 1: as many as fo_cpu_count() says. NULL when out of memory. */
fo_pool *fo_pool_create(int n_threads);
void fo_pool_free(fo_pool *p); /* NULL is fine; no loop may be running */
int fo_pool_threads(const fo_pool *p);

/* Run fn over [0, n) in pieces of at most `grain` items (at least 1) and wait until all are done.
 * Which thread takes which piece is not fixed: results must not depend on it. */
void fo_pool_run(fo_pool *p, size_t n, size_t grain, fo_pool_fn *fn, void *arg);

#endif
