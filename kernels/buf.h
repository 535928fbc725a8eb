/* buf.h - a growable byte string, and checked size arithmetic.
 *
 *     fo_buf b = {0};
 *     fo_buf_str(&b, "SELECT ");
 *     fo_buf_printf(&b, "%d", n);
 *     if (b.failed) ...            // out of memory, sticky: check once at the end
 *     fo_buf_free(&b);
 */
#ifndef FORAGE_KERNELS_BUF_H
#define FORAGE_KERNELS_BUF_H

#include <stdbool.h>
#include <stddef.h>

typedef struct fo_buf {
    char *data; /* NUL-terminated once anything was appended; NULL before */
    size_t len; /* bytes, without the NUL */
    size_t cap;
    bool failed; /* an allocation failed; appends do nothing from then on */
} fo_buf;

bool fo_buf_reserve(fo_buf *b, size_t extra); /* room for `extra` more bytes and a NUL */
void fo_buf_add(fo_buf *b, const void *p, size_t n);
void fo_buf_char(fo_buf *b, char c);
void fo_buf_str(fo_buf *b, const char *s);
void fo_buf_printf(fo_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void fo_buf_clear(fo_buf *b);                      /* empty, memory kept */
void fo_buf_free(fo_buf *b);                       /* memory freed, zeroed */
char *fo_buf_take(fo_buf *b, size_t *len_or_null); /* caller frees; NULL if it failed */

/* *out = a * b (or a + b); false where that does not fit: sizes from outside go through here. */
static inline bool fo_mul_size(size_t a, size_t b, size_t *out) {
    return !__builtin_mul_overflow(a, b, out);
}
static inline bool fo_add_size(size_t a, size_t b, size_t *out) {
    return !__builtin_add_overflow(a, b, out);
}

#endif
