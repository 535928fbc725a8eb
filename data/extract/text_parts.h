/* text_parts.h - a text too large for one document goes in by parts, `big.log/part-000001` and so on: each a document of
 * its own, so that no more than a part is held, what has gone in stays, and a text that grows at its end changes its last
 * part alone.
 *
 *     if (n_bytes > TEXT_WHOLE_BYTES && extract_in_parts(head, n_head, NULL, "big.log", &kind)) {
 *         text_cutter c = {.kind = kind, .part = on_part, .ctx = ctx};
 *         while (... bytes come ...) rc = text_cutter_feed(&c, p, n, &err);   // calls on_part as parts are whole
 *         rc = text_cutter_end(&c, rc, &err);
 *         ... c.bad.code: the text is damaged, as c.bad says; the parts before that are whole ...
 *     }
 *
 * A part ends at an empty line, else at the end of a line, a word or a character, in this order; of a table of values, at the
 * end of a row, and each part but the first has the row that names the columns before its own. None is cut at a line's end
 * before a line of three hyphens, which at its top would begin front matter. Where it ends depends on what
 * lies before it alone. Text in UTF-16 and text packed by gzip come out as UTF-8, unpacked. One thread at a time. */
#ifndef FORAGE_DATA_TEXT_PARTS_H
#define FORAGE_DATA_TEXT_PARTS_H

#include <stdbool.h>
#include <stdint.h>
#include "kernels/buf.h"
#include "kernels/error.h"

struct text_unwrap;

enum {
    TEXT_WHOLE_BYTES = 16 << 20, /* a text of up to so many is one document */
    TEXT_PART_BYTES = 512 << 10, /* at most; a call's batch holds two and more, for two threads */
};

typedef struct text_kind { /* how the bytes are to be taken: extract_in_parts says it */
    bool gzip, table;
    uint8_t wide; /* enum text_wide: text_unwrap.h */
} text_kind;

typedef struct text_part {
    size_t number; /* from 1 */
    uint64_t at;   /* where it begins, bytes of the whole, unpacked */
    const char *bytes;
    size_t n;
    size_t n_repeated; /* of its bytes, the first: rows that stand at the table's beginning too */
    uint32_t header_rows; /* how many rows these are */
    uint32_t
        first_row; /* which row of the table the first one behind them is, from 1; 0: it is no table, or its first part */
} text_part;       /* until the callback returns */

/* Not FO_OK ends the text with that. */
typedef int text_part_fn(void *ctx, const text_part *part, fo_err *err);

typedef struct text_cutter {
    text_kind kind;
    text_part_fn *part;
    void *ctx;
    /* results */
    fo_err bad; /* code 0: nothing is wrong with it */
    size_t n_parts;
    /* text_parts.c's */
    fo_buf held, header, joined; /* joined: header and rows of the part at hand */
    uint64_t at;
    struct text_unwrap *unwrap;
    char separator;              /* of a table; 0: not known yet */
    uint64_t row, n_header_rows; /* row: that held begins with */
} text_cutter;

/* May a file of this size, of which the first and the last bytes are these, hold a text that goes in by parts? n_tail: 4, or
 * 0: they are not at hand. */
bool text_may_be_large(uint64_t size, const void *head, size_t n_head, const void *tail,
                       size_t n_tail);
/* The same, of a file that is open for reading. */
bool text_file_may_be_large(int fd, uint64_t size);

/* The next bytes, any number of them. FO_OK also where the text is damaged. */
int text_cutter_feed(text_cutter *c, const void *p, size_t n, fo_err *err);
/* The last part, where rc is FO_OK; what is held is freed. Returns rc, or what became of that part. */
int text_cutter_end(text_cutter *c, int rc, fo_err *err);
/* "big.log" and 7: "big.log/part-000007", appended. */
void text_part_name(fo_buf *out, const char *whole, size_t number);

#endif
