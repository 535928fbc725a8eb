/* crafted_terms.h - words that term_hash puts in one place, as somebody writes them who knows it. */
#ifndef FORAGE_TESTS_CRAFTED_TERMS_H
#define FORAGE_TESTS_CRAFTED_TERMS_H

#include <string.h>
#include <time.h>

#include "index/format/term_hash.h"
#include "tests/test.h"

enum { CRAFTED_BYTES = 8 };

/* Eight bytes whose hash is `hash`; of each number others. term_hash backwards. */
static inline void crafted_term(uint32_t hash, uint32_t number, char out[CRAFTED_BYTES + 1]) {
    const uint64_t factor = 0xFF51AFD7ED558CCDu;
    uint64_t inverse = factor;
    for (int i = 0; i < 6; i++) inverse *= 2 - factor * inverse;
    uint64_t h = ((uint64_t)hash << 32 | number) * inverse;
    h ^= h >> 32;
    uint64_t v = (h * inverse) ^ 0x9E3779B97F4A7C15u ^ CRAFTED_BYTES;
    memcpy(out, &v, CRAFTED_BYTES);
    out[CRAFTED_BYTES] = 0;
    assert_int_equal(term_hash(out, CRAFTED_BYTES), hash);
}

static inline double processor_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
