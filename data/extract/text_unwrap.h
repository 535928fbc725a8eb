/* text_unwrap.h - text that is packed by gzip, in UTF-16, or both, as UTF-8 while it comes, whatever its size.
 *
 *     text_unwrap *u;
 *     text_unwrap_create(&u, true, TEXT_UTF16_BE, &err);
 *     while (... bytes come ...) rc = text_unwrap_feed(u, p, n, on_text, ctx, &err);
 *     rc = text_unwrap_end(u, on_text, ctx, &err);    // is it whole?
 *     text_unwrap_free(u);
 *
 * What is no character becomes U+FFFD; a byte order mark is left out. One thread. */
#ifndef FORAGE_DATA_TEXT_UNWRAP_H
#define FORAGE_DATA_TEXT_UNWRAP_H

#include <stdbool.h>
#include <stddef.h>
#include "kernels/error.h"

enum {
    TEXT_MAX_RATIO = 200
}; /* bytes that may come out for each that goes in: as of an archive (archive.h) */
enum text_wide { TEXT_NARROW, TEXT_UTF16_LE, TEXT_UTF16_BE };

typedef struct text_unwrap text_unwrap;

/* The next bytes of text, until it returns. Not FO_OK ends the feeding with that. */
typedef int text_unwrap_fn(void *ctx, const char *s, size_t n, fo_err *err);

int text_unwrap_create(text_unwrap **out, bool gzip, enum text_wide wide, fo_err *err);
void text_unwrap_free(text_unwrap *u); /* NULL is fine */
/* FO_EINVAL: the gzip data is damaged; FO_ELIMIT: more than 200 bytes come out for each that goes in, a bomb. */
int text_unwrap_feed(text_unwrap *u, const void *p, size_t n, text_unwrap_fn *to, void *ctx,
                     fo_err *err);
/* FO_EINVAL where the gzip data ends too early. */
int text_unwrap_end(text_unwrap *u, text_unwrap_fn *to, void *ctx, fo_err *err);

#endif
