/* bits.h - bitmaps of 64-bit words: bit i is bit i % 64 of words[i / 64]. */
#ifndef FORAGE_KERNELS_BITS_H
#define FORAGE_KERNELS_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline size_t fo_bits_words(size_t n_bits) { /* that so many bits take */
    return n_bits / 64 + (n_bits % 64 != 0);
}

static inline bool fo_bits_get(const uint64_t *words, size_t i) {
    return words[i / 64] >> (i % 64) & 1;
}

static inline void fo_bits_set(uint64_t *words, size_t i) {
    words[i / 64] |= (uint64_t)1 << (i % 64);
}

static inline void fo_bits_clear(uint64_t *words, size_t i) {
    words[i / 64] &= ~((uint64_t)1 << (i % 64));
}

#endif
