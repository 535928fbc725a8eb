/* cgroup.h - what the control groups of this process leave it of processors and memory.
 *
 * Linux's versions 1 and 2, and both side by side; the process's group and every group above it, as
 * far as they are mounted here: a container often sees its own as the root of all.
 * Source: the kernel's admin-guide/cgroup-v1 and cgroup-v2.
 *
 * root: "" for the real ones; a folder with proc/self/cgroup and sys/fs/cgroup for tests. */
#ifndef FORAGE_KERNELS_CGROUP_H
#define FORAGE_KERNELS_CGROUP_H

#include <stdint.h>

/* Processors' worth of time that the smallest quota allows, rounded up; 0: there is no quota. */
int fo_cgroup_cpus(const char *root);

/* Bytes that may still be taken before the nearest limit; files that are only cached count as free.
 * UINT64_MAX: there is no limit. */
uint64_t fo_cgroup_memory(const char *root);

#endif
