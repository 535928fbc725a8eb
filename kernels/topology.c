#include "kernels/topology.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A list of FO_CPUS single numbers has fewer bytes. x86 has two processors a core, and had four. */
enum { LIST_BYTES = 1 << 16, PATH_BYTES = 4096, MOST_SIBLINGS = 8 };

int fo_cpus_count(const fo_cpus *s) {
    int n = 0;
    for (int i = 0; i < FO_CPUS / 64; i++) n += __builtin_popcountll(s->bits[i]);
    return n;
}

static bool parse_number(const char **p, const char *end, long *out) {
    long v = 0;
    const char *from = *p;
    for (; *p < end && **p >= '0' && **p <= '9'; (*p)++)
        if (v < FO_CPUS) v = 10 * v + (**p - '0'); /* it need not grow any more */
    *out = v;
    return *p > from;
}

bool fo_cpus_parse(fo_cpus *out, const char *text, size_t n) {
    fo_cpus s = {{0}};
    const char *p = text, *end = text + n;
    while (end > p && (end[-1] == '\n' || end[-1] == ' ')) end--;
    while (p < end) { /* an empty list is one */
        long first, last;
        if (!parse_number(&p, end, &first)) return false;
        last = first;
        if (p < end && *p == '-' && (p++, !parse_number(&p, end, &last))) return false;
        if (last < first) return false;
        for (long i = first; i <= last && i < FO_CPUS; i++) fo_cpus_add(&s, (int)i);
        if (p < end && (*p++ != ',' || p == end)) return false;
    }
    *out = s;
    return true;
}

bool fo_cpus_get_affinity(fo_cpus *out) {
    fo_cpus s = {{0}};
    if (sched_getaffinity(0, sizeof s, (cpu_set_t *)&s) != 0) return false;
    *out = s;
    return true;
}

bool fo_cpus_set_affinity(const fo_cpus *s) {
    return sched_setaffinity(0, sizeof *s, (const cpu_set_t *)s) == 0;
}

/* The list in a file below root/sys/devices/system; false where there is none. */
static bool read_list(const char *root, const char *name, int number, const char *file,
                      fo_cpus *out) {
    char path[PATH_BYTES];
    int n = number < 0
                ? snprintf(path, sizeof path, "%s/sys/devices/system/%s/%s", root, name, file)
                : snprintf(path, sizeof path, "%s/sys/devices/system/%s%d/%s", root, name, number,
                           file);
    if (n < 0 || (size_t)n >= sizeof path) return false;
    FILE *f = fopen(path, "re");
    char *text = f ? malloc(LIST_BYTES) : NULL;
    size_t len = text ? fread(text, 1, LIST_BYTES, f) : 0;
    bool good = text && !ferror(f) && len < LIST_BYTES && fo_cpus_parse(out, text, len);
    free(text);
    if (f) fclose(f);
    return good;
}

/* The processors of `allowed` in cpu's core, itself among them. */
static void find_siblings(const char *root, int cpu, const fo_cpus *allowed, fo_cpus *out) {
    fo_cpus s;
    bool good = read_list(root, "cpu/cpu", cpu, "topology/core_cpus_list", &s) ||
                read_list(root, "cpu/cpu", cpu, "topology/thread_siblings_list", &s); /* of old */
    *out = (fo_cpus){{0}};
    if (good && fo_cpus_has(&s, cpu) && fo_cpus_count(&s) <= MOST_SIBLINGS)
        for (int i = 0; i < FO_CPUS / 64; i++) out->bits[i] = s.bits[i] & allowed->bits[i];
    fo_cpus_add(out, cpu);
}

/* Move what a node has of `left` to the topology, if it has any. */
static void add_node(fo_topology *t, int number, const fo_cpus *cpus, fo_cpus *left) {
    fo_cpus *mine = &t->cpus[t->n_nodes];
    *mine = (fo_cpus){{0}};
    bool any = false;
    for (int i = 0; i < FO_CPUS / 64; i++) {
        mine->bits[i] = cpus->bits[i] & left->bits[i];
        left->bits[i] &= ~mine->bits[i];
        any = any || mine->bits[i];
    }
    if (any) t->number[t->n_nodes++] = number;
}

static void find_nodes(fo_topology *t, const char *root, const fo_cpus *allowed) {
    fo_cpus online, cpus, left = *allowed; /* a set of nodes has the form of one of processors */
    if (read_list(root, "node", -1, "online", &online))
        for (int i = 0; i < FO_CPUS && t->n_nodes < FO_NODES; i++)
            if (fo_cpus_has(&online, i) && read_list(root, "node/node", i, "cpulist", &cpus))
                add_node(t, i, &cpus, &left);
    if (!t->n_nodes) add_node(t, 0, allowed, &left);
    if (!t->n_nodes) t->number[t->n_nodes++] = 0;
    for (int i = 0; i < FO_CPUS / 64; i++) t->cpus[0].bits[i] |= left.bits[i]; /* of no node */
}

void fo_topology_read(fo_topology *t, const char *root, const fo_cpus *allowed) {
    *t = (fo_topology){0};
    fo_cpus own = {{0}};
    if (!allowed && !fo_cpus_get_affinity(&own)) fo_cpus_add(&own, 0);
    if (!allowed) allowed = &own;
    t->n_cpus = fo_cpus_count(allowed);
    find_nodes(t, root, allowed);
    fo_cpus seen = {{0}}, core;
    for (int n = 0; n < t->n_nodes; n++)
        for (int cpu = 0; cpu < FO_CPUS; cpu++) {
            if (!fo_cpus_has(&t->cpus[n], cpu) || fo_cpus_has(&seen, cpu)) continue;
            find_siblings(root, cpu, allowed, &core);
            for (int i = 0; i < FO_CPUS / 64; i++) seen.bits[i] |= core.bits[i];
            t->n_cores_of[n]++;
            t->n_cores++;
        }
}

void fo_topology_flatten(fo_topology *t) {
    for (int n = 1; n < t->n_nodes; n++)
        for (int i = 0; i < FO_CPUS / 64; i++) t->cpus[0].bits[i] |= t->cpus[n].bits[i];
    t->n_cores_of[0] = t->n_cores;
    t->n_nodes = 1;
}

int fo_topology_node(const fo_topology *t, int thread, int n_threads) {
    /* The middle of the thread's share of all cores. */
    const int64_t at = (2 * (int64_t)thread + 1) * t->n_cores / (2 * (int64_t)n_threads);
    int64_t end = 0;
    for (int n = 0; n < t->n_nodes - 1; n++)
        if (at < (end += t->n_cores_of[n])) return n;
    return t->n_nodes - 1;
}
