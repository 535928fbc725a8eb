/* hnsw_verify.c - every invariant of a graph, for tests, `index verify` and mapped files. */
#include <math.h>
#include <stdlib.h>

#include "index/dense/hnsw_link.h"

static int check_list(const hnsw *h, uint32_t id, uint32_t level, fo_err *err) {
    const uint32_t *slots = hnsw_links(h, id, level);
    uint32_t n = hnsw_count(h), max = level ? h->M : h->m0, i = 0;
    for (; i < max && slots[i] != HNSW_NONE; i++) {
        if (slots[i] >= n || slots[i] == id)
            return fo_fail(err, FO_ECORRUPT, "dense graph: point %u level %u links to %u of %u", id,
                           level, slots[i], n);
        if (level && hnsw_level(h, slots[i]) < level)
            return fo_fail(err, FO_ECORRUPT,
                           "dense graph: point %u level %u links to %u, which is lower", id, level,
                           slots[i]);
        for (uint32_t j = 0; j < i; j++)
            if (slots[j] == slots[i])
                return fo_fail(err, FO_ECORRUPT, "dense graph: point %u level %u links twice to %u",
                               id, level, slots[i]);
    }
    for (; i < max; i++)
        if (slots[i] != HNSW_NONE)
            return fo_fail(err, FO_ECORRUPT, "dense graph: point %u level %u has a gap", id, level);
    return FO_OK;
}

static int check_point(const hnsw *h, uint32_t id, fo_err *err) {
    uint32_t level;
    if (h->upper_at[id] && !hnsw_upper_block(h, id, &level))
        return fo_fail(err, FO_ECORRUPT, "dense graph: point %u has its levels outside the section",
                       id);
    level = hnsw_level(h, id);
    if (!(h->scales[id] >= 0) || !isfinite(h->scales[id]) || (h->bias && !isfinite(h->bias[id])))
        return fo_fail(err, FO_ECORRUPT, "dense graph: point %u has a bad scale", id);
    for (uint32_t l = 0; l <= level; l++) {
        int rc = check_list(h, id, l, err);
        if (rc) return rc;
    }
    return FO_OK;
}

int hnsw_verify(const hnsw *h, size_t *n_unreachable, fo_err *err) {
    uint32_t n = hnsw_count(h), entry = atomic_load(&h->entry);
    if (n_unreachable) *n_unreachable = 0;
    if (n == 0) return FO_OK;
    if (entry >= n) return fo_fail(err, FO_ECORRUPT, "dense graph: entry %u of %u", entry, n);
    for (uint32_t id = 0; id < n; id++) {
        int rc = check_point(h, id, err);
        if (rc) return rc;
    }
    uint64_t *seen = calloc(n / 64 + 1, sizeof *seen);
    uint32_t *stack = malloc(n * sizeof *stack);
    int rc = FO_OK;
    if (!seen || !stack) {
        rc = fo_fail(err, FO_ENOMEM, "out of memory for checking a dense graph");
    } else {
        size_t found = hnsw_flood(h, entry, seen, stack);
        if (n_unreachable)
            *n_unreachable = n - found;
        else if (found < n)
            rc = fo_fail(err, FO_ECORRUPT, "dense graph: %zu of %u points cannot be reached",
                         n - found, n);
    }
    free(seen);
    free(stack);
    return rc;
}
