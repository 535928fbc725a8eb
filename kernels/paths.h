/* paths.h - names of files: what they are called without their folders, and what they end in. */
#ifndef FORAGE_KERNELS_PATHS_H
#define FORAGE_KERNELS_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Within path: behind its last slash. */
static inline const char *fo_base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Whatever stands before, also nothing. */
static inline bool fo_ends_with(const char *s, const char *end) {
    const size_t n = strlen(s), k = strlen(end);
    return n >= k && memcmp(s + n - k, end, k) == 0;
}

#endif
