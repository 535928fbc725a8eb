/* whole_passages.h - the first and the last sentence of a passage, and the tables that it cuts, completed out of its document.
 *
 * A sentence longer than a chunk may be is cut between words (data/chunk/chunk.h), so a chunk may
 * begin or end in the middle of one. An answer shows whole sentences: where it would quote such an
 * edge, the chunks before and behind are read, and the passage grows up to the sentence's end. What
 * cannot be had (a sentence beyond all bounds, a document that changed meanwhile) is said: the
 * passage's open_start and open_end make an ellipsis of it. */
#ifndef FORAGE_RETRIEVAL_WHOLE_PASSAGES_H
#define FORAGE_RETRIEVAL_WHOLE_PASSAGES_H

#include "retrieval/answer/extractive.h"
#include "data/store/store.h"
#include "retrieval/pipeline/query.h"

/* A passage as it is answered from: the chunk's own text, or what it has grown to. */
typedef struct whole_passage {
    char *text;      /* NULL: the chunk's */
    char *memory;    /* that text stands in, behind what is before it; owned */
    size_t start_cp; /* where it begins, in code points of the document's text */
    bool looked;     /* both edges are known to be whole, or marked as open */
} whole_passage;

/* Where more of a document is read from, and for how long. */
typedef struct whole_source {
    store *store;
    /* Asked before each chunk of a table: what it returns, if not FO_OK, ends it. NULL: never. */
    int (*alive)(void *ctx, fo_err *err);
    void *ctx;
    bool read; /* set once a chunk beside a passage was looked for: not only the passages decide */
} whole_source;

/* Look at the edges of passages[n], which are those of contexts[n]: of those that x quotes at an
 * edge, or of all. *changed: some passage is another than before, and points into whole[n] now.
 * FO_ENOMEM, FO_EIO. */
int whole_passages_complete(whole_source *s, const query_context *contexts, size_t n,
                            passage *passages, whole_passage *whole, const extractive_answer *x,
                            bool all, bool *changed, fo_err *err);
/* Of each passage that ends with a line in capitals, whether more of its document follows (extractive_input.followed): the line
 * heads that, or is the end of a notice. FO_ENOMEM, FO_EIO. */
int whole_passages_followed(whole_source *s, const query_context *contexts, size_t n,
                            const passage *passages, uint32_t *followed, fo_err *err);
/* Passages that begin or end with a row of a table grow to all of that table, and those whose tables are whole are marked
 * (passage.h): for questions that only all rows together answer. Those that x quotes, or all where x is NULL; a passage that
 * another one has grown over says nothing any more. A table beyond 32 KiB or 256 chunks stays cut. *changed as above.
 * FO_ENOMEM, FO_EIO, and what s->alive says. */
int whole_passages_tables(whole_source *s, const query_context *contexts, size_t n,
                          passage *passages, whole_passage *whole, const extractive_answer *x,
                          bool *changed, fo_err *err);
/* The same, up to 8 KiB, of passages that begin within a table between bars, behind its header: their rows say nothing of which column is
 * which. FO_ENOMEM, FO_EIO, and what s->alive says. */
int whole_passages_headers(whole_source *s, const query_context *contexts, size_t n,
                           passage *passages, whole_passage *whole, fo_err *err);
void whole_passages_free(whole_passage *whole, size_t n); /* NULL is fine */

#endif
