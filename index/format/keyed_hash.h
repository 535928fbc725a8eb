/* keyed_hash.h - the hash of tables in memory whose keys come from documents and questions.
 *
 * Its key is random and of this process alone, so that nobody can write words that meet in one slot
 * and make a table as slow as a list, as they could with term_hash, which the segment format lays
 * down. It decides places in memory only: nothing that is written or returned depends on it.
 *
 * Source: Aumasson & Bernstein 2012 (SipHash), with one round a word and three at the end. */
#ifndef FORAGE_INDEX_KEYED_HASH_H
#define FORAGE_INDEX_KEYED_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

extern uint64_t keyed_hash_key[2]; /* set before main, constant from then on */

static inline uint64_t keyed_hash_turn(uint64_t x, unsigned bits) {
    return x << bits | x >> (64 - bits);
}

static inline void keyed_hash_round(uint64_t v[4]) {
    v[0] += v[1], v[2] += v[3];
    v[1] = keyed_hash_turn(v[1], 13) ^ v[0];
    v[3] = keyed_hash_turn(v[3], 16) ^ v[2];
    v[0] = keyed_hash_turn(v[0], 32);
    v[2] += v[1], v[0] += v[3];
    v[1] = keyed_hash_turn(v[1], 17) ^ v[2];
    v[3] = keyed_hash_turn(v[3], 21) ^ v[0];
    v[2] = keyed_hash_turn(v[2], 32);
}

static inline uint64_t keyed_hash(const char *s, size_t n) {
    const uint64_t *key = keyed_hash_key;
    uint64_t v[4] = {key[0] ^ 0x736F6D6570736575u, key[1] ^ 0x646F72616E646F6Du,
                     key[0] ^ 0x6C7967656E657261u, key[1] ^ 0x7465646279746573u};
    uint64_t word, last = (uint64_t)n << 56, rest = 0;
    for (; n >= 8; s += 8, n -= 8) {
        memcpy(&word, s, 8);
        v[3] ^= word;
        keyed_hash_round(v);
        v[0] ^= word;
    }
    if (n) memcpy(&rest, s, n);
    last |= rest;
    v[3] ^= last;
    keyed_hash_round(v);
    v[0] ^= last;
    v[2] ^= 0xFF;
    for (int i = 0; i < 3; i++) keyed_hash_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

#endif
