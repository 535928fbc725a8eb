#include "index/sparse/postings.h"

#include <string.h>
#include "index/format/varint.h"
#include "kernels/bitpack.h"

enum { FORM_VARINT = 0xFF, MAX_BITS = 24, HEADER = 4 };

static unsigned bit_length(uint32_t v) {
    return v ? 32 - (unsigned)__builtin_clz(v) : 0;
}

/* The width that makes packed values and their exceptions smallest. */
static unsigned choose_bits(const uint32_t *v, size_t *size) {
    unsigned count[33] = {0};
    for (size_t i = 0; i < POSTINGS_BLOCK; i++) count[bit_length(v[i])]++;
    unsigned best = MAX_BITS;
    size_t best_size = SIZE_MAX;
    for (unsigned b = 0; b <= MAX_BITS; b++) {
        size_t total = bitpack_bytes(b);
        for (unsigned l = b + 1; l <= 32; l++) total += count[l] * (1 + (l - b + 6) / 7);
        if (total < best_size) {
            best_size = total;
            best = b;
        }
    }
    *size = best_size;
    return best;
}

static size_t put_exceptions(const uint32_t *v, unsigned bits, uint8_t *out, uint8_t *count) {
    size_t n = 0, k = 0;
    for (size_t i = 0; i < POSTINGS_BLOCK; i++) {
        uint32_t high = v[i] >> bits;
        if (!high) continue;
        out[n++] = (uint8_t)i;
        n += varint_put(out + n, high);
        k++;
    }
    *count = (uint8_t)k;
    return n;
}

static size_t encode_varint(const uint32_t *gaps, const uint32_t *less, size_t n, uint8_t *out) {
    size_t size = 0;
    out[size++] = FORM_VARINT;
    for (size_t i = 0; i < n; i++) {
        size += varint_put(out + size, (uint64_t)gaps[i] << 1 | (less[i] > 0));
        if (less[i]) size += varint_put(out + size, less[i] - 1);
    }
    return size;
}

size_t postings_encode(const uint32_t *docs, const uint32_t *tfs, size_t n, uint32_t base,
                       uint8_t *out) {
    uint32_t gaps[POSTINGS_BLOCK], less[POSTINGS_BLOCK];
    for (size_t i = 0; i < n; i++) {
        gaps[i] = docs[i] - base;
        less[i] = tfs[i] - 1;
        base = docs[i] + 1;
    }
    if (n < POSTINGS_BLOCK) return encode_varint(gaps, less, n, out);
    size_t gap_size, tf_size, varint_bytes = 1;
    unsigned gap_bits = choose_bits(gaps, &gap_size), tf_bits = choose_bits(less, &tf_size);
    for (size_t i = 0; i < n; i++) {
        varint_bytes += varint_size((uint64_t)gaps[i] << 1);
        if (less[i]) varint_bytes += varint_size(less[i] - 1);
    }
    if (varint_bytes < HEADER + gap_size + tf_size) return encode_varint(gaps, less, n, out);
    out[0] = (uint8_t)gap_bits;
    out[1] = (uint8_t)tf_bits;
    size_t size = HEADER;
    bitpack_pack(gaps, gap_bits, out + size);
    size += bitpack_bytes(gap_bits);
    bitpack_pack(less, tf_bits, out + size);
    size += bitpack_bytes(tf_bits);
    size += put_exceptions(gaps, gap_bits, out + size, &out[2]);
    return size + put_exceptions(less, tf_bits, out + size, &out[3]);
}

/* v may be NULL: the exceptions are only walked over. */
static const uint8_t *patch(const uint8_t *p, const uint8_t *end, unsigned count, unsigned bits,
                            uint32_t *v) {
    for (unsigned i = 0; i < count; i++) {
        uint32_t high;
        if (p >= end) return NULL;
        uint8_t place = *p++;
        p = varint_get32(p, end, &high);
        if (!p || place >= POSTINGS_BLOCK || high >> (MAX_BITS - bits)) return NULL;
        if (v) v[place] |= high << bits;
    }
    return p;
}

static bool decode_varint(const uint8_t *p, const uint8_t *end, size_t n, uint32_t base,
                          uint32_t limit, uint32_t *docs, uint32_t *tfs) {
    uint64_t doc = base;
    for (size_t i = 0; i < n; i++) {
        uint64_t v;
        p = varint_get(p, end, &v);
        if (!p || v >> 1 >= limit) return false;
        doc += v >> 1;
        if (doc >= limit) return false;
        docs[i] = (uint32_t)doc++;
        tfs[i] = 1;
        if (v & 1) {
            p = varint_get(p, end, &v);
            if (!p || v >= POSTINGS_MAX_DOCS) return false;
            tfs[i] = (uint32_t)v + 2;
        }
    }
    return true;
}

bool postings_decode_docs(const uint8_t *p, size_t size, size_t n, uint32_t base, uint32_t last,
                          uint32_t *docs, uint32_t *tfs, bool *has_tfs) {
    const uint8_t *end = p + size;
    if (size < 1 || n < 1 || n > POSTINGS_BLOCK || base > last || last >= POSTINGS_MAX_DOCS)
        return false;
    *has_tfs = p[0] == FORM_VARINT;
    if (*has_tfs)
        return decode_varint(p + 1, end, n, base, last + 1, docs, tfs) && docs[n - 1] == last;
    if (n != POSTINGS_BLOCK || size < HEADER || p[0] > MAX_BITS || p[1] > MAX_BITS) return false;
    size_t packed = HEADER + bitpack_bytes(p[0]) + bitpack_bytes(p[1]);
    if (size < packed) return false;
    bitpack_unpack(p + HEADER, p[0], docs);
    if (p[2] && !patch(p + packed, end, p[2], p[0], docs)) return false;
    /* 128 gaps of 24 bits and a base of 24 cannot wrap: ending at `last` proves them all <= it. */
    bitpack_prefix_sum(docs, base);
    return docs[POSTINGS_BLOCK - 1] == last;
}

bool postings_decode_tfs(const uint8_t *p, size_t size, uint32_t *tfs) {
    const uint8_t *end = p + size;
    const uint8_t *packed = p + HEADER + bitpack_bytes(p[0]);
    bitpack_unpack(packed, p[1], tfs);
    if (p[3]) {
        const uint8_t *q = patch(packed + bitpack_bytes(p[1]), end, p[2], p[0], NULL);
        if (!q || !patch(q, end, p[3], p[1], tfs)) return false;
    }
    for (size_t i = 0; i < POSTINGS_BLOCK; i++) tfs[i]++;
    return true;
}

bool postings_decode_short(const uint8_t *p, size_t size, size_t n, uint32_t base, uint32_t limit,
                           uint32_t *docs, uint32_t *tfs) {
    return size >= 1 && n <= POSTINGS_BLOCK && p[0] == FORM_VARINT &&
           decode_varint(p + 1, p + size, n, base, limit, docs, tfs);
}
