#include "index/format/varint.h"

const uint8_t *varint_get_slow(const uint8_t *p, const uint8_t *end, uint64_t *v) {
    uint64_t x = 0;
    for (unsigned shift = 0; shift < 64 && p < end; shift += 7) {
        uint8_t byte = *p++;
        if (shift == 63 && byte > 1) return NULL;
        x |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80) {
            *v = x;
            return p;
        }
    }
    return NULL;
}
