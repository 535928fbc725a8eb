#include "engine/model/model_memory.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "engine/model/model.h"
#include "kernels/cgroup.h"

/* Of the address space that the process may have (ulimit -v); UINT64_MAX: all that there is. */
static uint64_t addresses_left(void) {
    struct rlimit most;
    if (getrlimit(RLIMIT_AS, &most) != 0 || most.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
    unsigned long long pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    if (!f || fscanf(f, "%llu", &pages) != 1) pages = 0;
    if (f) fclose(f);
    uint64_t used = pages * (uint64_t)sysconf(_SC_PAGESIZE);
    return most.rlim_cur > used ? most.rlim_cur - used : 0;
}

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

uint64_t model_memory_available(void) {
    uint64_t available = 0;
    FILE *f = fopen("/proc/meminfo", "re");
    if (f) {
        char line[128];
        unsigned long long kib;
        while (fgets(line, sizeof line, f))
            if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1) available = kib << 10;
        fclose(f);
    }
    uint64_t left = least(fo_cgroup_memory(""), addresses_left());
    if (left == UINT64_MAX || (available && available < left)) return available;
    return left ? left : 1; /* 0 would say that nothing is known */
}

uint64_t model_memory_of_batch(const model_info *info, int batch_tokens) {
    return (uint64_t)batch_tokens * (uint64_t)info->d_model * 64;
}

int model_memory_of_encoder(uint64_t *out, const char *path, fo_err *err) {
    enum { BATCH = 2048 };
    model_info info;
    *out = 0;
    size_t n = path ? strlen(path) : 0;
    if (n < 5 || strcmp(path + n - 5, ".gguf")) return FO_OK;
    fo_err unknown = {0};
    int rc = model_probe(&info, path, true, &unknown);
    if (rc == FO_EUNSUPPORTED) return FO_OK; /* a table, or what opening it will refuse */
    if (rc) {
        if (err) *err = unknown;
        return rc;
    }
    *out = info.weight_bytes + model_memory_of_batch(&info, BATCH);
    return FO_OK;
}
