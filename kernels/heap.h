/* heap.h - what the C library's malloc keeps of memory that the program gave back.
 *
 *     fo_heap_bound();                          // first thing in main of a service
 *     fo_heap_stats st = fo_heap_get_stats();
 *
 * By itself glibc makes eight arenas a processor and gives each freed page back late: threads that come and go between
 * arenas leave free pages in all of them, and the resident memory of a busy service creeps up for hours. */
#ifndef FORAGE_KERNELS_HEAP_H
#define FORAGE_KERNELS_HEAP_H

#include <stddef.h>

/* An arena a processor (at least four), each of which keeps at most 1 MiB free at its end; blocks of 1 MiB and
 * more are mapped, and gone when freed. Of the whole process, before it has threads: for programs, not for libraries. */
void fo_heap_bound(void);

typedef struct fo_heap_stats {
    size_t used_bytes;   /* of blocks in the arenas; a thread's own few freed ones count too */
    size_t free_bytes;   /* in the arenas, for the next blocks */
    size_t mapped_bytes; /* of blocks mapped by themselves */
} fo_heap_stats;

/* Any thread; takes each arena's lock for some microseconds. All zero where the C library does not tell. */
fo_heap_stats fo_heap_get_stats(void);

#endif
