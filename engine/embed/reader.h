/* reader.h - reads passages with a question in mind: how near each token of the question comes to
 * the tokens of a passage, a sentence, or any other part of it.
 *
 *     reader *r;
 *     reader_open(&r, NULL, &(reader_options){.cache_bytes = 64 << 20}, &err);
 *     const char *texts[] = {question, title, passage};
 *     reader_text *t[3];
 *     reader_encode(r, texts, lens, 3, NULL, t, &err);       // one pass over all that is new
 *     reader_part sentence[] = {reader_part_of(t[2], 120, 184, 1),      // bytes of the passage
 *                               reader_part_of(t[1], 0, lens[1], .9f)}; // its title, at a discount
 *     reader_unit unit = {sentence, 2};                       // all that compete, in practice
 *     float best[READER_MAX_TOKENS], idf[READER_MAX_TOKENS];
 *     reader_align(t[0], &unit, 1, best, &err);              // [1][tokens of the question]
 *     reader_idf(t[0], &unit, 1, idf);
 *     float score = reader_score(best, idf, reader_text_tokens(t[0]));
 *
 * A text's tokens have the vectors of an encoder's last layer, brought to unit length, special
 * tokens left out; question and passage are encoded apart, so that a passage's vectors serve every
 * question. They are kept in 8 bits. A text's vectors depend on its bytes and the model alone.
 *
 * Source: late interaction as in Khattab & Zaharia, ColBERT (2020), with the vectors of an encoder
 * that was not trained for it; measured by tests/bench/reader_sentences.c. */
#ifndef FORAGE_ENGINE_EMBED_READER_H
#define FORAGE_ENGINE_EMBED_READER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "kernels/error.h"
#include "kernels/pool.h"

enum {
    READER_MAX_TOKENS = 256, /* of a text; what goes on behind them is not read */
    READER_MAX_TEXTS = 1024, /* of a call; a text takes 400 bytes a token, so 100 KB at most */
};

typedef struct reader reader;           /* any number of threads may use it at once */
typedef struct reader_text reader_text; /* immutable; counted, so that it may outlive the cache */

typedef struct reader_options {
    fo_pool *pool;      /* shared, outlives the reader; NULL: a pool of its own, a thread a core */
    size_t cache_bytes; /* of token vectors kept by content, least recently used go; 0: none */
    bool exact;         /* F32 arithmetic, and vectors that are not rounded: the oracle, slow */
    struct model
        *weights; /* those of an encoder that is open already (embedder_model), which outlives the
                              reader; path is its name then; NULL: they are read */
} reader_options;

/* Open `path`: NULL or "" for the model inside the binary, else a GGUF file of an encoder with a
 * WordPiece or a unigram vocabulary. On error *out is untouched. FO_EIO, FO_ECORRUPT,
 * FO_EUNSUPPORTED, FO_ENOMEM. */
int reader_open(reader **out, const char *path, const reader_options *options, fo_err *err);
void reader_close(reader *r); /* NULL is fine; no call may be running; texts may live on */

/* The same reader with a cache of its own: what was read through `of`, or through one of another space, is
 * not found, so that nobody tells by the time it takes what others read. It takes a few bytes, shares
 * the budget, and ends before `of`. NULL: no memory. */
reader *reader_apart(reader *of, const unsigned char space[32]);

int reader_intact(const reader *r, fo_err *err); /* as embedder_intact */
/* Has it learnt many languages? An encoder with a unigram vocabulary has (XLM-RoBERTa, multilingual e5). */
bool reader_has_languages(const reader *r);

/* Token vectors of n_texts texts, texts[i] being lens[i] bytes, any bytes: what is not UTF-8 is
 * taken as nothing. What the cache holds is taken from there; the rest is computed in one batch and
 * kept. *cancelled (NULL: never) is looked at between steps of some tens of milliseconds.
 * out[i] is the caller's, one reader_text_release each; on error there are none.
 * FO_ELIMIT (more than READER_MAX_TEXTS, or a text over 1 GiB), FO_ECANCELLED, FO_ENOMEM. */
int reader_encode(reader *r, const char *const *texts, const size_t *lens, size_t n_texts,
                  const atomic_bool *cancelled, reader_text **out, fo_err *err);
void reader_text_release(reader_text *t); /* NULL is fine */
void reader_texts_release(reader_text **texts, size_t n);

/* --- what a text is --- */
typedef struct reader_span {
    uint32_t begin, end; /* bytes of the text, half-open */
} reader_span;

size_t reader_text_tokens(const reader_text *t); /* at most READER_MAX_TOKENS */
/* The bytes that were read: the text's length, or less where it has more tokens than are read. */
size_t reader_text_bytes(const reader_text *t);
/* Where token i < reader_text_tokens stands. Spans ascend; a word may be several tokens. */
reader_span reader_text_span(const reader_text *t, size_t i);

/* --- alignment --- */
/* Tokens [begin, end) of a text; their cosines count times weight. */
typedef struct reader_part {
    const reader_text *text;
    uint32_t begin, end;
    float weight;
} reader_part;

/* The tokens that begin in bytes [begin, end) of the text. */
reader_part reader_part_of(const reader_text *t, size_t begin, size_t end, float weight);

/* What is scored as one thing: a sentence, an option with its description, a passage; with it,
 * under smaller weights, its title, heading or lead-in. */
typedef struct reader_unit {
    const reader_part *parts;
    size_t n_parts;
} reader_unit;

/* best[n_units][tokens of the question]: the largest weight * cosine of each token of the question
 * with a token of the unit's parts; 0 where a unit has no token. Units may share tokens: the
 * products of a question with a text are computed once a call. FO_EINVAL (tokens that a text has
 * not, texts of different models), FO_ENOMEM. */
int reader_align(const reader_text *question, const reader_unit *units, size_t n_units, float *best,
                 fo_err *err);

/* weights[tokens of the question]: how rare each is among these units, > 0; ln(1 + (n - df + .5) /
 * (df + .5)), where df of the n units hold it in any of their parts. To choose among the sentences
 * of some passages, count among those sentences: what stands in all of them tells nothing. */
void reader_idf(const reader_text *question, const reader_unit *among, size_t n, float *weights);

/* The mean of best[n] by weights[n]; 0 where their sum is. */
float reader_score(const float *best, const float *weights, size_t n);

/* --- the cache --- */
typedef struct reader_stats {
    uint64_t hits, misses, evictions; /* texts asked for and found, or not; texts that had to go */
    size_t texts, bytes;              /* kept now */
} reader_stats;

void reader_get_stats(reader *r, reader_stats *out);

#endif
