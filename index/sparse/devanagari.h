/* devanagari.h - spellings of one word in Hindi: with the dot below of loan words or without, as in "ज़मीन", but for the two letters
 * that are others with it; a nasal vowel by either sign; figures of its own. */
#ifndef FORAGE_INDEX_DEVANAGARI_H
#define FORAGE_INDEX_DEVANAGARI_H

#include <stdint.h>

enum { DEVANAGARI_ZERO = 0x966, DEVANAGARI_NINE = 0x96F };

/* A point of decomposed text as it is folded behind the one `before` (0: none); 0: it is left out. */
static inline int32_t devanagari_fold(int32_t cp, int32_t before) {
    enum { CANDRABINDU = 0x901, ANUSVARA = 0x902, DDA = 0x921, DDHA = 0x922, NUKTA = 0x93C };
    if (cp == NUKTA) return before == DDA || before == DDHA ? cp : 0;
    if (cp == CANDRABINDU) return ANUSVARA;
    return cp >= DEVANAGARI_ZERO && cp <= DEVANAGARI_NINE ? cp - DEVANAGARI_ZERO + '0' : cp;
}

#endif
