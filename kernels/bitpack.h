/* bitpack.h - 128 integers of b bits each, in four interleaved lanes, so that one 128-bit
 * instruction serves four of them. Layout: value i is number i / 4 of lane i % 4; a lane is a
 * string of 32 b bits cut into b words; word w of lane l is word 4 w + l of the block. The layout
 * of SIMD-BP128 (Lemire & Boytsov 2015); every x86-64 has the instructions. */
#ifndef FORAGE_KERNELS_BITPACK_H
#define FORAGE_KERNELS_BITPACK_H

#include <stddef.h>
#include <stdint.h>

enum { BITPACK_BLOCK = 128 };

static inline size_t bitpack_bytes(unsigned bits) {
    return (size_t)bits * 16;
}

/* in[128] (higher bits than `bits` are dropped) to out[16 * bits] bytes; no alignment needed. */
void bitpack_pack(const uint32_t *in, unsigned bits, uint8_t *out);
/* in[16 * bits] bytes to out[128]; bits at most 32. */
void bitpack_unpack(const uint8_t *in, unsigned bits, uint32_t *out);

/* Gaps to numbers, in place over v[128]: v[0] += base, v[i] += v[i - 1] + 1 (modulo 2^32). */
void bitpack_prefix_sum(uint32_t *v, uint32_t base);

#endif
