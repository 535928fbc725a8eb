#include "kernels/bitpack.h"

#include <string.h>

/* GCC's vectors: SSE2 on any x86-64, four scalar lanes elsewhere. */
typedef uint32_t lanes __attribute__((vector_size(16)));

static inline lanes load(const void *p) {
    lanes v;
    memcpy(&v, p, sizeof v);
    return v;
}

void bitpack_pack(const uint32_t *in, unsigned bits, uint8_t *out) {
    if (bits == 0) return;
    uint32_t keep = bits == 32 ? UINT32_MAX : (1u << bits) - 1;
    lanes word = {0};
    unsigned filled = 0;
    for (int row = 0; row < 32; row++) {
        lanes v = load(in + 4 * row) & keep;
        word |= v << filled;
        filled += bits;
        if (filled >= 32) {
            memcpy(out, &word, sizeof word);
            out += sizeof word;
            filled -= 32;
            word = filled ? v >> (bits - filled) : (lanes){0};
        }
    }
}

/* `bits` is a constant at every call below, so that the loop unrolls into shifts and masks. */
static inline __attribute__((always_inline)) void unpack(const uint8_t *in, const unsigned bits,
                                                         uint32_t *out) {
    const uint32_t keep = bits == 32 ? UINT32_MAX : (1u << bits) - 1;
    lanes word = load(in);
    unsigned used = 0;
#pragma GCC unroll 32
    for (int row = 0; row < 32; row++) {
        lanes v = word >> used;
        used += bits;
        if (used >= 32) {
            used -= 32;
            if (row < 31) {
                in += sizeof word;
                word = load(in);
            }
            if (used) v |= word << (bits - used);
        }
        v &= keep;
        memcpy(out + 4 * row, &v, sizeof v);
    }
}

void bitpack_unpack(const uint8_t *in, unsigned bits, uint32_t *out) {
    switch (bits) {
#define CASE(b)                                                                                    \
    case b:                                                                                        \
        unpack(in, b, out);                                                                        \
        return;
#define CASE8(b)                                                                                   \
    CASE(b) CASE(b + 1) CASE(b + 2) CASE(b + 3) CASE(b + 4) CASE(b + 5) CASE(b + 6) CASE(b + 7)
        CASE8(1) CASE8(9) CASE8(17) CASE8(25) default : memset(out, 0, BITPACK_BLOCK * sizeof *out);
    }
}

/* Sums within a row do not wait for the rows before it: the chain is one addition a row. */
void bitpack_prefix_sum(uint32_t *v, uint32_t base) {
    const lanes zero = {0};
    lanes before = zero + base + (lanes){0, 1, 2, 3};
    for (int row = 0; row < 32; row++) {
        lanes x = load(v + 4 * row);
        x += __builtin_shufflevector(x, zero, 4, 0, 1, 2);
        x += __builtin_shufflevector(x, zero, 4, 4, 0, 1);
        lanes total = __builtin_shufflevector(x, x, 3, 3, 3, 3) + 4;
        x += before;
        memcpy(v + 4 * row, &x, sizeof x);
        before += total;
    }
}
