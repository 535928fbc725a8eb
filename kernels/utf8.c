#include "kernels/utf8.h"

#include <stdio.h>
#include <stdlib.h>

size_t fo_utf8_decode(const char *str, size_t n, int32_t *cp) {
    const unsigned char *s = (const unsigned char *)str;
    *cp = -1;
    if (n == 0) return 0;
    unsigned c = s[0];
    if (c < 0x80) {
        *cp = (int32_t)c;
        return 1;
    }
    if (c < 0xC2 || c > 0xF4) return 1;
    size_t len = c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
    /* The second byte's range is narrower after E0 (overlong), ED (surrogates), F0 and F4. */
    unsigned lo = c == 0xE0 ? 0xA0 : c == 0xF0 ? 0x90 : 0x80;
    unsigned hi = c == 0xED ? 0x9F : c == 0xF4 ? 0x8F : 0xBF;
    int32_t v = (int32_t)(c & (0x7Fu >> len));
    for (size_t i = 1; i < len; i++) {
        if (i >= n || s[i] < lo || s[i] > hi) return i;
        v = (v << 6) | (int32_t)(s[i] & 0x3F);
        lo = 0x80;
        hi = 0xBF;
    }
    *cp = v;
    return len;
}

size_t fo_utf8_encode(int32_t cp, char out[4]) {
    uint32_t c = (uint32_t)cp;
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xC0 | (c >> 6));
        out[1] = (char)(0x80 | (c & 0x3F));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xE0 | (c >> 12));
        out[1] = (char)(0x80 | ((c >> 6) & 0x3F));
        out[2] = (char)(0x80 | (c & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | (c >> 18));
    out[1] = (char)(0x80 | ((c >> 12) & 0x3F));
    out[2] = (char)(0x80 | ((c >> 6) & 0x3F));
    out[3] = (char)(0x80 | (c & 0x3F));
    return 4;
}

bool fo_utf8_valid(const char *s, size_t n, size_t *bad) {
    for (size_t i = 0; i < n;) {
        int32_t cp;
        size_t len = fo_utf8_decode(s + i, n - i, &cp);
        if (cp < 0) {
            if (bad) *bad = i;
            return false;
        }
        i += len;
    }
    return true;
}

size_t fo_utf8_count(const char *s, size_t n) {
    size_t count = 0;
    for (size_t i = 0; i < n; i++) count += fo_utf8_boundary(s[i]);
    return count;
}

size_t fo_utf8_offset(const char *s, size_t n, size_t index) {
    for (size_t i = 0; i < n; i++) {
        if (!fo_utf8_boundary(s[i])) continue;
        if (index-- == 0) return i;
    }
    return n;
}

bool fo_utf8_is_unspaced(int32_t cp) {
    return (cp >= 0x2E80 && cp < 0x3100) || (cp >= 0x31F0 && cp < 0xA000) ||
           (cp >= 0xF900 && cp < 0xFB00) || (cp >= 0xFF01 && cp < 0xFFA0) ||
           (cp >= 0x20000 && cp < 0x32000);
}

int fo_utf8_digit(int32_t cp) {
    static const int32_t zeros[] = {'0',   0x660, 0x6F0,  0x7C0,  0x966,  0x9E6, 0xA66,
                                    0xAE6, 0xB66, 0xBE6,  0xC66,  0xCE6,  0xD66, 0xE50,
                                    0xED0, 0xF20, 0x1040, 0x17E0, 0x1810, 0xFF10};
    for (size_t i = 0; i < sizeof zeros / sizeof *zeros; i++)
        if (cp >= zeros[i] && cp < zeros[i] + 10) return (int)(cp - zeros[i]);
    return -1;
}

/* The least bytes that "%.100s" and the like of fmt may have cut a text to; most: there is none. */
static size_t least_precision(const char *fmt, size_t most) {
    for (const char *s = fmt; (s = strchr(s, '%')) != NULL;) {
        s++;
        s += *s == '%'; /* "%%" */
        s += strspn(s, "-+ #0123456789");
        if (*s != '.') continue;
        char *end;
        const size_t n = s[1] == '*' ? 0 : (size_t)strtoul(s + 1, &end, 10);
        if (s[1] == '*') end = (char *)s + 2;
        if (*end == 's' && n < most) most = n;
        s = end;
    }
    return most;
}

void fo_utf8_vprint(char *out, size_t size, const char *fmt, va_list ap) {
    const int wanted = vsnprintf(out, size, fmt, ap);
    const bool over = wanted >= 0 && (size_t)wanted >= size;
    const size_t n = strlen(out), least = least_precision(fmt, over ? size - 1 : SIZE_MAX);
    size_t kept = 0;
    for (size_t i = 0, used; i < n && least < size; i += used) {
        int32_t cp;
        used = fo_utf8_decode(out + i, n - i, &cp);
        const unsigned char first = (unsigned char)out[i];
        const bool begins = first >= 0xC2 && first <= 0xF4; /* a character, and not all of it */
        if (cp < 0 && begins && i + used >= least) continue;
        memmove(out + kept, out + i, used);
        kept += used;
    }
    if (least < size) out[kept] = 0;
}

void fo_utf8_print(char *out, size_t size, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    fo_utf8_vprint(out, size, fmt, ap);
    va_end(ap);
}
