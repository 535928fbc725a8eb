/* inverted.h - BM25 over block-compressed postings.
 *
 *     inverted_builder *b;  inverted_builder_create(&b, &err);
 *     inverted_builder_word(b, "stem", 4);  ...  inverted_builder_end_document(b, &err);
 *     inverted_build(b, &bm25, writer, &err);            // sections of a segment (segment.h)
 *     inverted inv;  inverted_open(&inv, segment, &err); // a view on them
 *
 * A list of fewer than 128 postings is one varint block; a longer one is cut into blocks of 128
 * (postings.h) behind a table of their last documents, ends and bounds. A bound is the largest
 * tf / (tf + k1 (1 - b + b length / average)) of the block in 255ths, rounded up, for the average
 * length at the time of writing; search corrects it for the average of the day. Frequencies and
 * lengths are exact, and so is the score that search returns.
 *
 * Source: Robertson & Zaragoza 2009 (BM25); Turtle & Flood 1995 (MaxScore); Ding & Suel 2011
 * (block maxima). */
#ifndef FORAGE_INDEX_INVERTED_H
#define FORAGE_INDEX_INVERTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "index/format/segment.h"
#include "kernels/error.h"

typedef struct bm25_params {
    double k1, b;
} bm25_params;

/* Writing ------------------------------------------------------------------------------------- */

typedef struct inverted_builder inverted_builder; /* one thread */

int inverted_builder_create(inverted_builder **out, fo_err *err);
void inverted_builder_free(inverted_builder *b);
/* One more occurrence of a term (1 .. 255 bytes) in the document at hand; out of memory is
 * remembered and reported at its end. */
void inverted_builder_word(inverted_builder *b, const char *term, size_t len);
/* Documents get the numbers 0, 1, 2, ... FO_ELIMIT beyond 2^24. */
int inverted_builder_end_document(inverted_builder *b, fo_err *err);

/* Append the sections of the index to w. The builder is spent: free it. */
int inverted_build(inverted_builder *b, const bm25_params *p, segment_writer *w, fo_err *err);

/* Reading ------------------------------------------------------------------------------------- */

typedef struct inverted {
    uint32_t n_docs, n_terms;
    uint64_t n_postings, sum_length;
    double bound_k1, bound_b, bound_average; /* what the block bounds were computed for */
    /* views into the segment */
    const uint32_t *lengths;
    const uint8_t *norms;
    const uint8_t *postings, *dict, *blocks;
    const uint32_t *hash;
    size_t postings_size, dict_size, n_blocks, hash_mask;
} inverted;

/* Immutable; valid as long as the segment; nothing to close. FO_ECORRUPT. */
int inverted_open(inverted *out, const segment *s, fo_err *err);

typedef struct inverted_list {
    uint32_t n;          /* postings = document frequency */
    uint8_t bound;       /* of the whole list, in 255ths */
    const uint8_t *data; /* checked to lie inside the section */
    size_t size;
} inverted_list;

/* False: not in the index (or its entry is corrupt). */
bool inverted_find(const inverted *inv, const char *term, size_t len, inverted_list *out);

/* Is there a term from `from` on and before `to`, by their bytes? */
bool inverted_has_between(const inverted *inv, const char *from, const char *to);

/* The terms in ascending order of their bytes. */
typedef struct inverted_terms {
    const inverted *inv;
    uint32_t next; /* ordinal of the next term */
    size_t at;     /* in the dictionary */
    uint64_t postings_at;
    char term[256];
    size_t len;
    inverted_list list;
} inverted_terms;
void inverted_terms_begin(inverted_terms *it, const inverted *inv);
/* 1: it->term and it->list are set; 0: the end; FO_ECORRUPT. */
int inverted_terms_next(inverted_terms *it, fo_err *err);

/* Decode a whole list into docs[list->n], tfs[list->n] (room for a multiple of 128 each). */
int inverted_decode(const inverted *inv, const inverted_list *list, uint32_t *docs, uint32_t *tfs,
                    fo_err *err);

/* Every list decodes, ascends, agrees with the lengths and norms, and stays below its bounds. */
int inverted_verify(const inverted *inv, fo_err *err);

typedef struct inverted_merge_input {
    const inverted *inv;
    const uint32_t *map; /* new number of each document, ascending; UINT32_MAX: dropped */
} inverted_merge_input;

/* Write one index of n_docs documents. Inputs in order of their new numbers. */
int inverted_merge(const inverted_merge_input *in, size_t n_in, uint32_t n_docs,
                   const bm25_params *p, segment_writer *w, fo_err *err);

/* Searching ----------------------------------------------------------------------------------- */

typedef struct inverted_hot inverted_hot; /* inverted_hot.h */

typedef struct inverted_part { /* one index of the collection */
    const inverted *inv;
    inverted_hot *hot;       /* of inv; NULL: none */
    const uint64_t *allowed; /* bit allowed_base + document; NULL: all */
    size_t allowed_base;
    const int64_t *ids; /* of each document: returned, and the order among equals */
} inverted_part;

typedef struct inverted_query_term {
    const char *term;
    size_t len;
    double weight; /* occurrences in the query */
} inverted_query_term;

typedef struct inverted_hit {
    int64_t id;
    float score;
    uint32_t part, doc;
} inverted_hit;

typedef struct inverted_scratch inverted_scratch; /* working memory of one search at a time */
inverted_scratch *inverted_scratch_create(void);  /* NULL: out of memory */
void inverted_scratch_free(inverted_scratch *s);
/* Between searches: give back what a query of very many terms needed, some 37 MB for 1,024 of them. */
void inverted_scratch_trim(inverted_scratch *s);

enum { INVERTED_MAX_QUERY_TERMS = 1024, INVERTED_MAX_K = 65536 };

/* Best k by exact BM25 over all parts, best first, ties by smaller id: hits[k]. The statistics (N,
 * document frequencies, average length) are those of all documents of all parts. Terms must
 * differ. */
int inverted_search(const inverted_part *parts, size_t n_parts, const bm25_params *p,
                    const inverted_query_term *terms, size_t n_terms, size_t k, inverted_scratch *s,
                    inverted_hit *hits, size_t *n, fo_err *err);

/* ln(1 + (N - df + 0.5) / (df + 0.5)) */
double bm25_idf(uint64_t n_docs, uint64_t df);
/* One term's part of the score: the sum over the terms, in their order, in double, then rounded to
 * float, is the score. */
double bm25_term_score(const bm25_params *p, double idf_times_weight, uint32_t tf, uint32_t length,
                       double average);

/* Lengths in a byte, rounded down (exact below 96). */
uint8_t bm25_norm_encode(uint32_t length);
uint32_t bm25_norm_decode(uint8_t norm);

#endif
