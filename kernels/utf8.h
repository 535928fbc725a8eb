/* utf8.h - UTF-8 by hand: decoding, counting, offsets. Source: RFC 3629, Unicode 15 table 3-7. */
#ifndef FORAGE_KERNELS_UTF8_H
#define FORAGE_KERNELS_UTF8_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Decode the code point at s[0..n). Returns the bytes it takes (1-4), 0 when n is 0. Bytes that
 * are not UTF-8 (overlong, surrogate, truncated, > U+10FFFF) give *cp = -1 and the length of the
 * maximal ill-formed part, so that replacing each by U+FFFD follows the Unicode recommendation. */
size_t fo_utf8_decode(const char *s, size_t n, int32_t *cp);

/* Encode cp (a valid scalar value) into out[4]; returns the bytes written. */
size_t fo_utf8_encode(int32_t cp, char out[4]);

/* True when all of s[0..n) is UTF-8; else *bad (may be NULL) is the first bad byte's offset. */
bool fo_utf8_valid(const char *s, size_t n, size_t *bad);

/* Code points in s[0..n), which must be valid. */
size_t fo_utf8_count(const char *s, size_t n);

/* Byte offset of code point number `index` in valid s[0..n); n when there are fewer. */
size_t fo_utf8_offset(const char *s, size_t n, size_t index);

/* ASCII's white space: blanks, tabs, the ends of lines and pages. */
static inline bool fo_is_blank(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* ASCII's digits and letters, whatever the locale. */
static inline bool fo_is_digit(char c) {
    return c >= '0' && c <= '9';
}
static inline bool fo_is_upper(char c) {
    return c >= 'A' && c <= 'Z';
}
static inline bool fo_is_letter(char c) {
    return fo_is_upper(c) || (c >= 'a' && c <= 'z');
}
/* Of a word in any script: beyond ASCII every byte is. */
static inline bool fo_is_of_word(char c) {
    return fo_is_letter(c) || fo_is_digit(c) || (unsigned char)c >= 0x80;
}

/* The value of a decimal digit of any script that has its own (full-width, Arabic, Indic, Thai ...), ASCII's too; -1: it is
 * none. */
int fo_utf8_digit(int32_t cp);

/* Is it of a script that parts no words by blanks, a Chinese character, a Japanese letter or a mark of theirs? Where a line breaks
 * between two of these, no blank is meant. */
bool fo_utf8_is_unspaced(int32_t cp);

static inline bool fo_has_digit(const char *s, size_t n) {
    while (n && !fo_is_digit(s[n - 1])) n--;
    return n > 0;
}

static inline bool fo_only_blanks(const char *s, size_t n) {
    while (n && fo_is_blank(s[n - 1])) n--;
    return n == 0;
}

/* Bytes of a no-break, thin or narrow no-break space at s[0..n); 0: none is there. */
static inline size_t fo_utf8_wide_blank(const char *s, size_t n) {
    if (n >= 2 && memcmp(s, "\xC2\xA0", 2) == 0) return 2;
    bool thin = n >= 3 && (memcmp(s, "\xE2\x80\x89", 3) == 0 || memcmp(s, "\xE2\x80\xAF", 3) == 0);
    return thin ? 3 : 0;
}

/* True when a code point may begin at this byte: it is no continuation byte. */
static inline bool fo_utf8_boundary(char c) {
    return ((unsigned char)c & 0xC0) != 0x80;
}

/* Bytes of s[0..n), which is UTF-8, cut between characters where they are more than `most`. */
static inline size_t fo_utf8_cut(const char *s, size_t n, size_t most) {
    if (n <= most) return n;
    while (most && !fo_utf8_boundary(s[most])) most--;
    return most;
}

/* snprintf for sentences that hold names of the user's: what "%.100s" or the end of out[size] cuts is cut between
 * characters. Bytes that were no UTF-8 before stay as they are. size > 0. */
void fo_utf8_print(char *out, size_t size, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void fo_utf8_vprint(char *out, size_t size, const char *fmt, va_list ap)
    __attribute__((format(printf, 3, 0)));

#endif
