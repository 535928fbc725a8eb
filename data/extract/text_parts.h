/* text_parts.h - a text too large for one document goes in by parts, `big.log/part-000001` and so on: each a document of
 * its own, so that no more than a part is held, what has gone in stays, and a text that grows at its end changes its last
 * part alone.
 *
 *     if (n_bytes > TEXT_WHOLE_BYTES && extract_in_parts(head, n_head, NULL, "big.log")) {
 *         text_cutter c = {.part = on_part, .ctx = ctx};
 *         while (... bytes come ...) rc = text_cutter_feed(&c, p, n, &err);   // calls on_part as parts are whole
 *         rc = text_cutter_end(&c, rc, &err);
 *     }
 *
 * A part ends at an empty line, else at the end of a line, a word or a character, in this order. Where it ends depends
 * on what lies before it alone. One thread at a time. */
#ifndef FORAGE_DATA_TEXT_PARTS_H
#define FORAGE_DATA_TEXT_PARTS_H

#include <stdatomic.h>
#include <stdint.h>
#include "kernels/buf.h"
#include "kernels/error.h"

enum {
    TEXT_WHOLE_BYTES = 16 << 20, /* a text of up to so many is one document */
    TEXT_PART_BYTES = 512 << 10, /* at most; a call's batch holds two and more, for two threads */
};

typedef struct text_part {
    size_t number; /* from 1 */
    uint64_t at;   /* where it begins, bytes of the whole */
    const char *bytes;
    size_t n;
} text_part; /* until the callback returns */

/* Not FO_OK ends the text with that. */
typedef int text_part_fn(void *ctx, const text_part *part, fo_err *err);

typedef struct text_cutter {
    text_part_fn *part;
    void *ctx;
    /* text_parts.c's */
    fo_buf held;
    size_t n_parts;
    uint64_t at;
} text_cutter;

/* The next bytes, any number of them. */
int text_cutter_feed(text_cutter *c, const void *p, size_t n, fo_err *err);
/* The last part, where rc is FO_OK; what is held is freed. Returns rc, or what became of that part. */
int text_cutter_end(text_cutter *c, int rc, fo_err *err);
/* All that a file holds from where it stands, and the end. cancel: NULL, or ends it with FO_ECANCELLED. */
int text_cutter_read(text_cutter *c, int fd, const atomic_bool *cancel, fo_err *err);

/* "big.log" and 7: "big.log/part-000007", appended. */
void text_part_name(fo_buf *out, const char *whole, size_t number);

#endif
