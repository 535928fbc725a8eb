#include "kernels/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool fo_buf_reserve(fo_buf *b, size_t extra) {
    if (b->failed) return false;
    size_t need;
    if (!fo_add_size(b->len, extra, &need) || !fo_add_size(need, 1, &need)) goto fail;
    if (need <= b->cap) return true;
    size_t cap = b->cap < 64 ? 64 : b->cap;
    while (cap < need) {
        if (!fo_mul_size(cap, 2, &cap)) goto fail;
    }
    char *p = realloc(b->data, cap);
    if (!p) goto fail;
    b->data = p;
    b->cap = cap;
    return true;
fail:
    b->failed = true;
    return false;
}

void fo_buf_add(fo_buf *b, const void *p, size_t n) {
    if (!fo_buf_reserve(b, n)) return;
    if (n) memcpy(b->data + b->len, p, n);
    b->len += n;
    b->data[b->len] = 0;
}

void fo_buf_char(fo_buf *b, char c) {
    fo_buf_add(b, &c, 1);
}

void fo_buf_str(fo_buf *b, const char *s) {
    fo_buf_add(b, s, strlen(s));
}

void fo_buf_printf(fo_buf *b, const char *fmt, ...) {
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n < 0) {
        b->failed = true;
    } else if (fo_buf_reserve(b, (size_t)n)) {
        vsnprintf(b->data + b->len, (size_t)n + 1, fmt, again);
        b->len += (size_t)n;
    }
    va_end(again);
}

void fo_buf_clear(fo_buf *b) {
    b->len = 0;
    if (b->data) b->data[0] = 0;
}

void fo_buf_free(fo_buf *b) {
    free(b->data);
    *b = (fo_buf){0};
}

char *fo_buf_take(fo_buf *b, size_t *len) {
    if (b->failed || !fo_buf_reserve(b, 0)) {
        fo_buf_free(b);
        return NULL;
    }
    b->data[b->len] = 0;
    if (len) *len = b->len;
    char *p = b->data;
    *b = (fo_buf){0};
    return p;
}
