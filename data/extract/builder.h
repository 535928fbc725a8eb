/* builder.h - what extractors write to: text in blocks, with the white space between them.
 *
 *     builder_begin(&b, TEXT_HEADING, 2);
 *     builder_add(&b, "Care", 4);
 *     builder_end(&b);
 *
 * Blocks are parted by a blank line, rows of a table and items of a list by a line break. A block
 * that stays empty leaves nothing. Failures (memory, limit) are sticky: check b->failure. */
#ifndef FORAGE_DATA_BUILDER_H
#define FORAGE_DATA_BUILDER_H

#include "data/extract/extract.h"
#include "kernels/buf.h"

typedef struct builder {
    fo_buf text;
    fo_buf title; /* first title seen wins */
    text_block *blocks;
    size_t n_blocks, cap_blocks;
    size_t max_bytes;
    size_t n_replaced;
    size_t start; /* of the open block's text */
    int failure;  /* FO_OK, FO_ENOMEM or FO_ELIMIT */
    uint8_t kind, level;
    bool open;
} builder;

void builder_begin(builder *b, uint8_t kind, uint8_t level); /* ends the open block first */
void builder_end(builder *b);                                /* without an open block: nothing */
/* Clean UTF-8, kept as it is. */
void builder_add(builder *b, const char *s, size_t n);
void builder_str(builder *b, const char *s);
/* Runs of white space become one space; none at the start of a block or line. */
void builder_add_flowing(builder *b, const char *s, size_t n);
/* One code point from a character reference; what may not stand in text is dropped. */
void builder_add_cp(builder *b, int32_t cp);
/* The text of the open block so far is empty or white space. */
bool builder_block_empty(const builder *b);
void builder_set_title(builder *b, const char *s, size_t n); /* trimmed; empty ones are ignored */
/* Take the text as it is (instead of begin/add/end) and mark stretches of it. */
void builder_mark(builder *b, size_t start, size_t end, uint8_t kind, uint8_t level);
void builder_free(builder *b);

#endif
