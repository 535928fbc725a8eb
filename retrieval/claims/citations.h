/* citations.h - does a quote stand where it is said to stand, and does it support the sentence?
 *
 *     support_check c;
 *     citation_check(&c, &lx, &(citation_claim){.sentence = s, .sentence_len = n, ...}, &err);
 *     if (!c.verified) log(c.reason);
 *
 * `verified` means: stored[start..end) is the quote byte for byte, AND every number (facts.h says which are equal), name and
 * negation of the sentence agrees with the quote, AND the share of the sentence's idf mass that
 * the quote covers is at least 0.6. A sentence that is the quote itself, white
 * space aside, is supported by it. Measured on true answers with one fact swapped:
 * docs/answers.md. */
#ifndef FORAGE_RETRIEVAL_CITATIONS_H
#define FORAGE_RETRIEVAL_CITATIONS_H

#include "engine/embed/reader.h"
#include "retrieval/text/support.h"

typedef struct citation_claim {
    const char *sentence; /* of the answer, markers such as [1] may stand in it: they are ignored */
    size_t sentence_len;
    const char *quote;
    size_t quote_len;
    const char *stored; /* the text the quote is said to come from (passage or whole document) */
    size_t stored_len;
    size_t start, end; /* bytes of stored: where the quote is said to stand */
    const char *title; /* of the source; names in it count as said. NULL or "": none */
} citation_claim;

typedef struct support_check {
    bool verified;
    double coverage;    /* share of the sentence's idf mass found in quote or title, 0..1 */
    const char *reason; /* static: "" when verified, else the first of "span", "number", "name",
                           "negation", "coverage", "word", "empty" that failed */
} support_check;

/* FO_ENOMEM only; a claim that does not hold is a result, not an error. */
int citation_check(support_check *out, const lexicon *lx, const citation_claim *claim, fo_err *err);

typedef struct citation_search {
    const char *sentence; /* markers in it are ignored */
    size_t sentence_len;
    const char *passage;
    size_t passage_len;
    const char *title; /* NULL or "": none */
    const char *asked; /* the question: its words need not stand in the support. NULL: none */
    reader *reader;    /* reads what the words leave open (claim_reading.h); NULL: words alone */
    /* Does this span, bytes of passage, answer what was asked? One that does is preferred to others that carry the
     * sentence as well: "1890" stands in many places. NULL: not known. */
    bool (*answers)(const void *ctx, size_t start, size_t end);
    const void *answers_ctx;
} citation_search;

/* The span of the passage that best supports the sentence: one sentence of it, or up to three
 * neighbours where one alone does not carry it. start/end are bytes of passage (empty span where
 * nothing fits); out is the check of that span. For generated sentences, which name a passage but
 * no span. With a reader, words that the span does not have must be borne out by what it says
 * (reason "word"), and less of the sentence need be said in its words. */
int citation_find(size_t *start, size_t *end, support_check *out, const lexicon *lx,
                  const citation_search *in, fo_err *err);

#endif
