/* term_hash.h - the hash of a term's bytes. Part of the segment format: dictionaries hold it. Tables in
 * memory of words that come from outside have keyed_hash.h. */
#ifndef FORAGE_INDEX_TERM_HASH_H
#define FORAGE_INDEX_TERM_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t term_hash(const char *s, size_t n) {
    uint64_t h = 0x9E3779B97F4A7C15u ^ n;
    while (n >= 8) {
        uint64_t v;
        memcpy(&v, s, 8);
        h = (h ^ v) * 0xFF51AFD7ED558CCDu;
        h ^= h >> 32;
        s += 8, n -= 8;
    }
    uint64_t v = 0;
    memcpy(&v, s, n);
    h = (h ^ v) * 0xFF51AFD7ED558CCDu;
    return (uint32_t)(h >> 32);
}

#endif
