/* test.h - what every test file includes first: cmocka, the fixed seed, temp folders, shared data.
 *
 * Tests' names are sentences: static void rejects_a_truncated_block(void **state).
 * The seed is fixed and printed; SEED=123 in the environment overrides it. Larger checks need the
 * folder of golden data (FORAGE_SHARED, or ../shared beside the checkout): where it is absent they
 * call skip(), and the run's last line counts them. */
#ifndef FORAGE_TESTS_TEST_H
#define FORAGE_TESTS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "kernels/error.h"

/* splitmix64: state in the caller, so that tests do not share a sequence. */
static inline uint64_t test_random(uint64_t *state) {
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static inline double test_uniform(uint64_t *state) { /* [0, 1) */
    return (double)(test_random(state) >> 11) * 0x1p-53;
}

static inline uint64_t test_seed(void) {
    const char *s = getenv("SEED");
    uint64_t seed = s ? strtoull(s, NULL, 0) : 20261121u;
    fprintf(stderr, "# SEED=%llu\n", (unsigned long long)seed);
    return seed;
}

/* How many rounds of n: all of them where TEST_LONG is set (make test TEST_LONG=1), else a quarter. */
static inline size_t test_rounds(size_t n) {
    return getenv("TEST_LONG") ? n : (n + 3) / 4;
}

/* The path of `name` in the shared folder, or NULL when the folder is absent. Static buffer. */
static inline const char *test_shared(const char *name) {
    static char path[4096];
    const char *root = getenv("FORAGE_SHARED");
    snprintf(path, sizeof path, "%s/%s", root && *root ? root : "../shared", name);
    return access(path, R_OK) == 0 ? path : NULL;
}

/* A fresh folder below TMPDIR; test_remove removes it and frees the name. */
static inline char *test_folder(void) {
    const char *t = getenv("TMPDIR");
    char path[4096];
    snprintf(path, sizeof path, "%s/forage-test-XXXXXX", t && *t ? t : "/tmp");
    assert_non_null(mkdtemp(path));
    return strdup(path);
}

static inline void test_remove(char *folder) {
    char command[4200];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    assert_int_equal(system(command), 0);
    free(folder);
}

#define assert_ok(call, err)                                                                       \
    do {                                                                                           \
        int rc_ = (call);                                                                          \
        if (rc_ != FO_OK) fail_msg("%s: %s: %s", #call, fo_code_name(rc_), (err)->msg);            \
    } while (0)

#endif
