/* fake_root.h - a folder in place of the machine's root, with files as Linux shows them. */
#ifndef FORAGE_TESTS_FAKE_ROOT_H
#define FORAGE_TESTS_FAKE_ROOT_H

#include "tests/test.h"

#include <sys/stat.h>

static char *root;

/* Write a file, "sys/fs/cgroup/cpu.max" say, and the folders above it. */
static inline void put(const char *name, const char *text) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", root, name);
    for (char *p = path + strlen(root) + 1; (p = strchr(p, '/')); p++) {
        *p = 0;
        mkdir(path, 0700);
        *p = '/';
    }
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* Setup and teardown of a test. */
static inline int begin(void **state) {
    (void)state;
    root = test_folder();
    return 0;
}

static inline int end(void **state) {
    (void)state;
    test_remove(root);
    return 0;
}

#endif
