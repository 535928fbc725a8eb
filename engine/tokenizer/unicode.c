#include "engine/tokenizer/unicode.h"

#include <stdbool.h>
#include <utf8proc.h>

#define C UNICODE_CONTROL
#define W (UNICODE_CONTROL | UNICODE_SPACE)
#define P UNICODE_PUNCT
#define S UNICODE_SYMBOL
#define N UNICODE_NUMBER
#define U (UNICODE_LETTER | UNICODE_UPPER)
#define L (UNICODE_LETTER | UNICODE_LOWER)
const uint16_t unicode_ascii[128] = {C, C, C, C, C, C, C, C, C, W, W,
                                     W, W, W, C, C, C, C, C, C, C, C,
                                     C, C, C, C, C, C, C, C, C, C, UNICODE_SPACE,
                                     P, P, P, S, P, P, P, P, P, P, S,
                                     P, P, P, P, /* SP to / */
                                     N, N, N, N, N, N, N, N, N, N, P,
                                     P, S, S, S, P, /* 0 to ? */
                                     P, U, U, U, U, U, U, U, U, U, U,
                                     U, U, U, U, U, U, U, U, U, U, U,
                                     U, U, U, U, U, P, P, P, S, P, S,
                                     L, L, L, L, L, L, L, L, L, L, L,
                                     L, L, L, L, L, L, L, L, L, L, L,
                                     L, L, L, L, P, S, P, S, C};
#undef C
#undef W
#undef P
#undef S
#undef N
#undef U
#undef L

static bool is_white_space(int32_t cp) { /* PropList.txt, White_Space, above ASCII */
    return cp == 0x85 || cp == 0xA0 || cp == 0x1680 || (cp >= 0x2000 && cp <= 0x200A) ||
           cp == 0x2028 || cp == 0x2029 || cp == 0x202F || cp == 0x205F || cp == 0x3000;
}

unsigned unicode_flags_other(int32_t cp) {
    if (cp < 0 || cp > 0x10FFFF) return 0;
    unsigned space = is_white_space(cp) ? UNICODE_SPACE : 0;
    switch (utf8proc_category(cp)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LT:
        return UNICODE_LETTER | UNICODE_UPPER;
    case UTF8PROC_CATEGORY_LL:
        return UNICODE_LETTER | UNICODE_LOWER;
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
        return UNICODE_LETTER;
    case UTF8PROC_CATEGORY_MN:
        return UNICODE_MARK | UNICODE_NONSPACING;
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
        return UNICODE_MARK;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
        return UNICODE_NUMBER;
    case UTF8PROC_CATEGORY_PC:
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PO:
        return UNICODE_PUNCT;
    case UTF8PROC_CATEGORY_SM:
    case UTF8PROC_CATEGORY_SC:
    case UTF8PROC_CATEGORY_SK:
    case UTF8PROC_CATEGORY_SO:
        return UNICODE_SYMBOL;
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
        return space;
    case UTF8PROC_CATEGORY_CN:
        return 0;
    default:
        return UNICODE_CONTROL | space; /* Cc, Cf, Cs, Co */
    }
}
