/* topology.h - which of this process's processors share a core, and which a node of memory.
 *
 * A core may show itself as two processors (SMT). They share its arithmetic, so what multiplies all
 * the time wants one thread a core. A node (NUMA) is memory and the processors next to it; what
 * lies on another is read more slowly. Source: the kernel's ABI/stable/sysfs-devices-node and
 * ABI/stable/sysfs-devices-system-cpu.
 *
 * root: "" for the real machine; a folder with sys/devices/system/{cpu,node} for tests. Files that
 * are missing or make no sense are no error: then each processor is a core, and all are one node.
 */
#ifndef FORAGE_KERNELS_TOPOLOGY_H
#define FORAGE_KERNELS_TOPOLOGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FO_CPUS = 8192, FO_NODES = 64 }; /* Linux's most for x86; what is kept of nodes */

/* A set of processors by Linux's numbers; the layout of the kernel's masks. */
typedef struct fo_cpus {
    uint64_t bits[FO_CPUS / 64];
} fo_cpus;

static inline void fo_cpus_add(fo_cpus *s, int cpu) {
    s->bits[cpu / 64] |= 1ull << cpu % 64;
}
static inline bool fo_cpus_has(const fo_cpus *s, int cpu) {
    return s->bits[cpu / 64] >> cpu % 64 & 1;
}
int fo_cpus_count(const fo_cpus *s);

/* "0-3,8,10-11", as Linux writes it, n bytes. Numbers beyond FO_CPUS are left out; false, and the
 * set untouched, when the text is no such list. */
bool fo_cpus_parse(fo_cpus *out, const char *text, size_t n);

/* Where the calling thread may run. false, and nothing changed, when the system refuses. */
bool fo_cpus_get_affinity(fo_cpus *out);
bool fo_cpus_set_affinity(const fo_cpus *s);

typedef struct fo_topology {
    int n_cpus, n_cores;  /* that are allowed; a core counts when one of its processors is */
    int n_nodes;          /* with a processor that is allowed; at least 1 */
    int number[FO_NODES]; /* Linux's, ascending */
    int n_cores_of[FO_NODES];
    fo_cpus cpus[FO_NODES]; /* allowed ones alone */
} fo_topology;

/* allowed: NULL for the calling thread's affinity. */
void fo_topology_read(fo_topology *t, const char *root, const fo_cpus *allowed);

/* All as one node: the same processors and cores. */
void fo_topology_flatten(fo_topology *t);

/* The node (an index into t's arrays) for thread 0 .. n_threads - 1: neighbours lie together, and
 * each node gets threads in proportion to its cores. */
int fo_topology_node(const fo_topology *t, int thread, int n_threads);

#endif
