#include "kernels/cgroup.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 4096 };

/* A group's folder; v2: of version 2. Visitors make *least smaller. */
typedef void visit_fn(const char *folder, bool v2, uint64_t *least);

static FILE *open_in(const char *folder, const char *name) {
    char path[2 * PATH_BYTES];
    int n = snprintf(path, sizeof path, "%s/%s", folder, name);
    return n > 0 && (size_t)n < sizeof path ? fopen(path, "re") : NULL;
}

/* The file's one number; false where there is none ("max" too), or a negative one. */
static bool read_number(const char *folder, const char *name, uint64_t *out) {
    FILE *f = open_in(folder, name);
    long long v;
    if (!f) return false;
    bool good = fscanf(f, "%lld", &v) == 1 && v >= 0;
    fclose(f);
    if (good) *out = (uint64_t)v;
    return good;
}

/* The sum of the lines "key number" of memory.stat for two keys. */
static uint64_t read_stat(const char *folder, const char *key, const char *other) {
    FILE *f = open_in(folder, "memory.stat");
    char name[64];
    unsigned long long v;
    uint64_t sum = 0;
    while (f && fscanf(f, "%63s %llu", name, &v) == 2)
        if (!strcmp(name, key) || !strcmp(name, other)) sum += v;
    if (f) fclose(f);
    return sum;
}

static void visit_cpu(const char *folder, bool v2, uint64_t *least) {
    uint64_t quota = 0, period = 0;
    if (v2) {
        FILE *f = open_in(folder, "cpu.max"); /* "quota period", or "max period" */
        long long q, p;
        if (f && fscanf(f, "%lld %lld", &q, &p) == 2 && q > 0 && p > 0)
            quota = (uint64_t)q, period = (uint64_t)p;
        if (f) fclose(f);
    } else if (!read_number(folder, "cpu.cfs_quota_us", &quota) || /* -1: none */
               !read_number(folder, "cpu.cfs_period_us", &period))
        return;
    if (!quota || !period) return;
    uint64_t n = (quota - 1) / period + 1;
    if (n < *least) *least = n;
}

static void visit_memory(const char *folder, bool v2, uint64_t *least) {
    uint64_t limit, used;
    if (!read_number(folder, v2 ? "memory.max" : "memory.limit_in_bytes", &limit) ||
        !read_number(folder, v2 ? "memory.current" : "memory.usage_in_bytes", &used))
        return;
    if (limit >= (uint64_t)LLONG_MAX / 2) return; /* version 1 says none in this way */
    uint64_t cached = v2 ? read_stat(folder, "active_file", "inactive_file")
                         : read_stat(folder, "total_active_file", "total_inactive_file");
    used = used > cached ? used - cached : 0;
    uint64_t left = limit > used ? limit - used : 0;
    if (left < *least) *least = left;
}

/* The group at `path` below the mount and all above it. */
static void visit_up(const char *root, const char *mount, const char *path, bool v2,
                     visit_fn *visit, uint64_t *least) {
    char folder[PATH_BYTES];
    int base =
        snprintf(folder, sizeof folder, "%s/sys/fs/cgroup%s%s", root, *mount ? "/" : "", mount);
    if (base < 0 || (size_t)base + strlen(path) >= sizeof folder) return;
    if (!strstr(path, "/..")) /* a group outside of what is mounted here: its root alone */
        strcpy(folder + base, path);
    for (;;) {
        size_t n = strlen(folder);
        while (n > (size_t)base && folder[n - 1] == '/') folder[--n] = 0;
        visit(folder, v2, least);
        if (n <= (size_t)base) return;
        *strrchr(folder, '/') = 0;
    }
}

/* Does the list "cpu,cpuacct" hold this name? */
static bool list_has(const char *list, const char *name) {
    const size_t n = strlen(name);
    for (const char *p = list; *p; p += strcspn(p, ","), p += *p == ',')
        if (!strncmp(p, name, n) && (p[n] == ',' || !p[n])) return true;
    return false;
}

/* The least over all groups of this process that say something about a controller. */
static uint64_t least_of(const char *root, const char *controller, visit_fn *visit) {
    char line[PATH_BYTES];
    uint64_t least = UINT64_MAX;
    FILE *f = open_in(root, "proc/self/cgroup"); /* "number:controllers:path" */
    while (f && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = 0;
        char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;
        if (!path || path[1] != '/') continue;
        *path++ = 0;
        *list++ = 0;
        if (!*list) {
            visit_up(root, "", path, true, visit, &least);
            visit_up(root, "unified", path, true, visit, &least); /* beside version 1 */
        } else if (list_has(list, controller)) {
            visit_up(root, list, path, false, visit, &least);
            if (strcmp(list, controller)) visit_up(root, controller, path, false, visit, &least);
        }
    }
    if (f) fclose(f);
    return least;
}

int fo_cgroup_cpus(const char *root) {
    uint64_t n = least_of(root, "cpu", visit_cpu);
    return n > INT_MAX ? 0 : (int)n;
}

uint64_t fo_cgroup_memory(const char *root) {
    return least_of(root, "memory", visit_memory);
}
