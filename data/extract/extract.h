/* extract.h - bytes of a known or guessed format become clean UTF-8 text with structure marks.
 *
 * A format is one row of the registry in extract.c: media types, file endings, a sniffing
 * function, an extractor. The extracted text is what is stored, searched and cited: every span
 * that Forage reports counts code points of it. Stored text is never normalised (NFC is applied
 * to copies where matching needs it), only decoded: invalid bytes become U+FFFD and are counted. */
#ifndef FORAGE_DATA_EXTRACT_H
#define FORAGE_DATA_EXTRACT_H

#include <stddef.h>
#include <stdint.h>
#include "kernels/error.h"

/* What a stretch of the text is, so that chunks can respect it. */
enum text_block_kind {
    TEXT_PARAGRAPH,
    TEXT_HEADING, /* level 1-6 */
    TEXT_CODE,    /* a fence or <pre>: not split inside if it fits */
    TEXT_LIST_ITEM,
    TEXT_TABLE_ROW,
};

typedef struct text_block {
    size_t start, end; /* bytes of text, half-open; blocks are in order and do not overlap */
    uint8_t kind;      /* enum text_block_kind */
    uint8_t level;     /* of a heading */
} text_block;

typedef struct extracted {
    char *text; /* UTF-8, NUL-terminated, no NUL inside */
    size_t len;
    char *title; /* the document's own title, NULL if it has none */
    text_block *blocks;
    size_t n_blocks;
    size_t n_replaced;    /* ill-formed parts replaced by U+FFFD */
    const char *format;   /* name of the registry's row, static */
    const char *encoding; /* "utf-8", "utf-16le", "windows-1252", ...; static */
} extracted;

/* Extract from bytes. content_type may be NULL or carry parameters ("text/html; charset=x");
 * file_name may be NULL: both only help to choose the format, sniffing decides the rest.
 * gzip is unpacked first (nesting 2, max_text_bytes guards against bombs). Caller calls
 * extracted_deinit. FO_EUNSUPPORTED names the type it cannot read; FO_ELIMIT past the limit. */
int extract_text(extracted *out, const void *bytes, size_t n, const char *content_type,
                 const char *file_name, size_t max_text_bytes, fo_err *err);
void extracted_deinit(extracted *x);

/* Registry rows in order, for `forage help ingest`, 415 messages and folder walks: returns NULL
 * past the end. endings: space-separated, without dots. */
typedef struct extract_format {
    const char *name, *media_types, *endings;
} extract_format;
const extract_format *extract_format_at(size_t i);
/* True when the registry reads files of this name (its ending, .gz peeled off). */
int extract_knows_file(const char *file_name);

#endif
