/* chunk.h - text with structure becomes chunks of a bounded number of tokens.
 *
 * Chunks end at the strongest boundary that fits: heading, block, sentence, word, and only then
 * between code points (never inside one, nor inside a grapheme's combining marks). Consecutive
 * chunks share `overlap` tokens, taken as whole sentences where possible. The token counter is
 * passed in: this room knows no models. */
#ifndef FORAGE_DATA_CHUNK_H
#define FORAGE_DATA_CHUNK_H

#include "data/extract/extract.h"

/* Tokens of text[0..len) by the embedder's tokenizer, without special tokens. Thread-safe. */
typedef size_t chunk_count_fn(void *ctx, const char *text, size_t len);

typedef struct chunk_options {
    size_t
        max_tokens; /* 16 .. 8192; 256 by default. A chunk has no more than 64 bytes for each either */
    size_t overlap;        /* < max_tokens / 2; 32 by default */
    chunk_count_fn *count; /* NULL: words */
    void *count_ctx;
    doc_budget *budget; /* NULL: no bound; afterwards it counts the chunks as well */
} chunk_options;

#define CHUNK_HEADING_MAX 512

typedef struct chunk {
    size_t start, end;       /* bytes of the text, half-open, trimmed of white space */
    size_t start_cp, end_cp; /* the same span in code points */
    size_t n_tokens;
    /* Bytes of the nearest heading above, the first CHUNK_HEADING_MAX of a longer one, empty if none; of code the name
     * of what is defined. */
    size_t heading_start, heading_end;
} chunk;

/* Chunks of x in order; *out is malloc'd, the caller frees it. Text without a word gives none.
 * FO_EINVAL names the option, FO_ENOMEM, and what doc_budget_fail says. */
int chunk_text(chunk **out, size_t *n_out, const extracted *x, const chunk_options *opt,
               fo_err *err);

/* Sentence boundaries, shared by chunking, extractive answers and citation checks: the end (byte
 * offset, half-open) of the sentence that begins at `start`. Knows abbreviations, initials,
 * decimals, quotes after the stop, CJK stops; a block end or blank line always ends one, another
 * line break as line_break.h says, for which the lines before `start` are looked at too. */
size_t sentence_end(const char *text, size_t len, size_t start);

/* Does text[0..len) end with a full stop, of any script? Quotes, brackets and emphasis may stand behind it. */
bool sentence_is_whole(const char *text, size_t len);

#endif
