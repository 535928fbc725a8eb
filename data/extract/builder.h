/* builder.h - what extractors write to: text in blocks, with the white space between them.
 *
 *     builder_begin(&b, TEXT_HEADING, 2);
 *     builder_add(&b, "Care", 4);
 *     builder_end(&b);
 *
 * Blocks are parted by a blank line, rows of a table and items of a list by a line break. A block
 * that stays empty leaves nothing. Failures (memory, limit, budget) are sticky: from then on
 * nothing is added; check b->failure where much work would be done for nothing. */
#ifndef FORAGE_DATA_BUILDER_H
#define FORAGE_DATA_BUILDER_H

#include "data/extract/extract.h"
#include "kernels/buf.h"

struct place_name;

typedef struct builder {
    /* set before the first use */
    size_t max_bytes;             /* of text */
    doc_budget *budget;           /* NULL: none */
    void (*page_read)(void *ctx); /* NULL, or called when a page is behind it, for who waits */
    void *page_ctx;
    /* results */
    fo_buf text;
    fo_buf title;        /* first title seen wins */
    uint8_t title_level; /* of the heading that it is; 0: none is */
    size_t n_ahead;      /* blocks that stand before the text's beginning: of front matter */
    fo_buf fields;       /* what the document says of itself, as extracted has it; len 0: nothing */
    text_block *blocks;
    size_t n_blocks, cap_blocks;
    text_place *places;
    size_t n_places, cap_places;
    struct place_name *place_names;
    const char *encoding; /* of a format of text; static */
    size_t n_replaced;
    int failure; /* FO_OK, FO_ENOMEM, FO_ELIMIT (max_bytes), or the budget's */
    /* the open block */
    size_t start; /* of its text */
    uint32_t place, block_place;
    uint8_t kind, level;
    bool open;
    bool inked; /* it has more than white space */
    /* ... where it is a row that is told by its cells */
    uint32_t cells, lead, bars; /* begun; empty ones before the first text; since the last text */
    bool parted;                /* two of them have text */
} builder;

void builder_begin(builder *b, uint8_t kind, uint8_t level); /* ends the open block first */
/* The same, for a block that goes on with what the last one begins (a paragraph over two pages, each
 * with a place of its own): `joint` stands between the two. */
void builder_go_on_with(builder *b, uint8_t kind, uint8_t level, const char *joint);
/* So much more of the last block, where none is open. */
void builder_extend(builder *b, const char *s);
void builder_end(builder *b); /* without an open block: nothing */
/* A page was read, by a format that has them. */
static inline void builder_page_read(const builder *b) {
    if (b->page_read) b->page_read(b->page_ctx);
}
/* Blocks begun from now on stand here; strings are copied. NULL: nowhere in particular. */
void builder_set_place(builder *b, const text_place *p);
/* Clean UTF-8, kept as it is. */
void builder_add(builder *b, const char *s, size_t n);
void builder_str(builder *b, const char *s);
/* The next cell of the open row begins. Those with text are parted by " | ", with nothing between two bars for an empty one;
 * those behind the last text are not written. Where the first ones are empty and two others are not, the row begins with
 * bars, "| | Red | Blue", so that each stands in its column. */
void builder_cell(builder *b);
/* Runs of white space become one space; none at the start of a block or line. */
void builder_add_flowing(builder *b, const char *s, size_t n);
/* One code point from a character reference; what may not stand in text is dropped. */
void builder_add_cp(builder *b, int32_t cp);
/* The text of the open block so far is empty or white space. */
bool builder_block_empty(const builder *b);
enum { BUILDER_TITLE_BYTES = 1000 };
/* Trimmed, and cut between characters where it is longer than that; empty ones are ignored. */
void builder_set_title(builder *b, const char *s, size_t n);
/* May a heading that begins where the open block does, or behind the last one, be the document's title? It may where it stands
 * before the text, or behind a line or two that are no sentences: badges, a date, a breadcrumb, of a language the others. */
bool builder_may_title(const builder *b, uint8_t level);
/* The words of such a heading are the title where it may be and there is none yet, or only that of a deeper heading. */
void builder_title_heading(builder *b, uint8_t level, const char *s, size_t n);
/* Take the text as it is (instead of begin/add/end) and mark stretches of it. `text` is emptied; it
 * was counted by the budget already. Only while b has no text. */
void builder_adopt(builder *b, fo_buf *text);
void builder_mark(builder *b, size_t start, size_t end, uint8_t kind, uint8_t level);
/* The last block is code that defines what is called by these bytes of it, at most 255. */
void builder_name(builder *b, size_t at, size_t n);
/* Drop text and blocks since there were so many of them (places stay). */
void builder_rewind(builder *b, size_t n_blocks, size_t n_text);
/* `bytes` of input were gone through: false where work is to end; b->failure says why. */
bool builder_go_on(builder *b, size_t bytes);
void builder_free(builder *b);
void builder_free_names(struct place_name *names);

#endif
