/* unicode.h - character classes for tokenisers: one lookup, a set of bits. ASCII by table, the
 * rest from utf8proc's properties (Unicode general categories). */
#ifndef FORAGE_ENGINE_UNICODE_H
#define FORAGE_ENGINE_UNICODE_H

#include <stdint.h>

enum {
    UNICODE_LETTER = 1,      /* \p{L} */
    UNICODE_NUMBER = 2,      /* \p{N} */
    UNICODE_PUNCT = 4,       /* \p{P} */
    UNICODE_SYMBOL = 8,      /* \p{S} */
    UNICODE_MARK = 16,       /* \p{M} */
    UNICODE_SPACE = 32,      /* \s: the property White_Space */
    UNICODE_UPPER = 64,      /* \p{Lu} or \p{Lt} */
    UNICODE_LOWER = 128,     /* \p{Ll} */
    UNICODE_CONTROL = 256,   /* control, format, private use; not what is unassigned */
    UNICODE_NONSPACING = 512 /* \p{Mn} */
};

extern const uint16_t unicode_ascii[128];

/* Any code point; what is out of range (-1: not UTF-8) has no bits. */
unsigned unicode_flags_other(int32_t cp);

static inline unsigned unicode_flags(int32_t cp) {
    return (uint32_t)cp < 128 ? unicode_ascii[cp] : unicode_flags_other(cp);
}

#endif
