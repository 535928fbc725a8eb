/* huge.h - memory that is read from end to end again and again, in huge pages where the system has
 * them.
 *
 *     fo_huge *h = fo_huge_create();
 *     void *p = fo_huge_take(h, bytes);   // 64-byte aligned, lives as long as h
 *     fo_huge_free(h);
 *
 * Neighbours share pages: many matrices of some MiB take as many huge pages as their bytes need.
 * With pages of 4 KiB a walk of the page table (twice as deep under a hypervisor) stands before
 * every 64 cache lines. */
#ifndef FORAGE_KERNELS_HUGE_H
#define FORAGE_KERNELS_HUGE_H

#include <stddef.h>

typedef struct fo_huge fo_huge; /* one thread at a time takes */

fo_huge *fo_huge_create(void); /* NULL when out of memory */
void fo_huge_free(fo_huge *h); /* NULL is fine */

/* Zeroes; what is never touched takes no memory. NULL when out of memory. */
void *fo_huge_take(fo_huge *h, size_t bytes);

/* Bytes that are for a node of memory, by Linux's number, and whose neighbours may be for others:
 * huge pages at both ends become small ones, of which each goes to the node that touches it first.
 * Where the system lets us, and nobody set a policy for the process, pages also come from that node
 * whoever touches them, and are not moved to who touches them later (automatic NUMA balancing
 * would, for a thread that packs or takes another's work). Before any of it was touched. */
void fo_huge_place(void *at, size_t bytes, int node);

#endif
