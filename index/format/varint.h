/* varint.h - integers of 7 bits a byte, lowest first, top bit set on all but the last (LEB128);
 * zigzag for signed ones. Decoding never reads past `end`. */
#ifndef FORAGE_INDEX_VARINT_H
#define FORAGE_INDEX_VARINT_H

#include <stddef.h>
#include <stdint.h>

enum { VARINT_MAX_BYTES = 10 };

/* Bytes written to out[VARINT_MAX_BYTES]. */
static inline size_t varint_put(uint8_t *out, uint64_t v) {
    size_t n = 0;
    while (v >= 0x80) {
        out[n++] = (uint8_t)(v | 0x80);
        v >>= 7;
    }
    out[n++] = (uint8_t)v;
    return n;
}

static inline size_t varint_size(uint64_t v) {
    return v ? (size_t)(70 - __builtin_clzll(v)) / 7 : 1;
}

/* The byte behind the integer, or NULL: it does not end before `end`, or needs over 64 bits. */
const uint8_t *varint_get_slow(const uint8_t *p, const uint8_t *end, uint64_t *v);

static inline const uint8_t *varint_get(const uint8_t *p, const uint8_t *end, uint64_t *v) {
    if (p < end && *p < 0x80) {
        *v = *p;
        return p + 1;
    }
    return varint_get_slow(p, end, v);
}

/* The same for 32 bits: larger values are NULL too. */
static inline const uint8_t *varint_get32(const uint8_t *p, const uint8_t *end, uint32_t *v) {
    uint64_t x;
    p = varint_get(p, end, &x);
    if (!p || x > UINT32_MAX) return NULL;
    *v = (uint32_t)x;
    return p;
}

/* Small magnitudes of either sign to small unsigned ones: 0 -1 1 -2 2 ... to 0 1 2 3 4 ... */
static inline uint64_t zigzag_encode(int64_t v) {
    return ((uint64_t)v << 1) ^ (uint64_t)(v >> 63);
}
static inline int64_t zigzag_decode(uint64_t v) {
    return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

#endif
