/* hex.h - bytes as lower-case hexadecimal digits, and back. */
#ifndef FORAGE_KERNELS_HEX_H
#define FORAGE_KERNELS_HEX_H

#include <stdbool.h>
#include <stddef.h>

/* 2 * n digits and a NUL into out. */
static inline void fo_hex_write(char *out, const unsigned char *bytes, size_t n) {
    for (size_t i = 0; i < n; i++) {
        out[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
        out[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
    }
    out[2 * n] = 0;
}

/* 0 .. 15, of either case; -1: no such digit. */
static inline int fo_hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* bytes[n] from exactly 2 * n digits that end with s; false (and bytes of no worth) for anything else. */
static inline bool fo_hex_read(unsigned char *bytes, size_t n, const char *s) {
    for (size_t i = 0; i < n; i++) {
        int high = fo_hex_digit(s[2 * i]), low = high < 0 ? -1 : fo_hex_digit(s[2 * i + 1]);
        if (low < 0) return false;
        bytes[i] = (unsigned char)(high << 4 | low);
    }
    return s[2 * n] == 0;
}

#endif
