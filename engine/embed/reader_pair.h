/* reader_pair.h - encoders that read a question and a text together, out of the reader's weights and changes to them;
 * for reader_cross.c and reader_spans.c, nobody else includes it.
 *
 * What is read is [CLS] question [SEP] title [SEP] text [SEP], all of one segment, as it was trained. */
#ifndef FORAGE_ENGINE_EMBED_READER_PAIR_H
#define FORAGE_ENGINE_EMBED_READER_PAIR_H

#include "engine/embed/reader_impl.h"

enum {
    PAIR_QUESTION_TOKENS = 48,
    PAIR_TITLE_TOKENS = 32,
    PAIR_HEAD = 3 + PAIR_QUESTION_TOKENS + PAIR_TITLE_TOKENS, /* all that stands before the text */
};

struct pair_encoder {
    model *weights; /* the reader's with changed matrices; the others are shared */
    encoder *run;
    size_t dim;
    float
        *rows[2]; /* [dim] each: the head, which a token's vector of unit length is held against */
    float bias;
};

/* Which changes inside the binary these weights can have, told by what is in the file: those that were made for
 * another encoder of the same shape make nonsense of it. r is open but for it. FO_ECORRUPT, FO_ENOMEM. */
int pair_family_find(reader *r, fo_err *err);
bool pair_can(const reader *r, enum pair_kind kind);

/* The encoder, made at the first call, some 100 ms; only where pair_can. With r->pairs[kind].mu held; r is no reader_apart. */
int pair_need(reader *r, enum pair_kind kind, pair_encoder **out, fo_err *err);
/* [CLS] question [SEP] title [SEP], each cut to what is read of it; title NULL: none. ids: [PAIR_HEAD]. */
int pair_head(const reader *r, const char *question, const char *title, int32_t *ids, size_t *n,
              fo_err *err);
/* The first `most` tokens of a text. */
int pair_tokens(const reader *r, const char *text, size_t len, size_t most, int32_t *ids,
                tokenizer_span *spans, size_t *n, fo_err *err);
/* A token's vector [dim], brought to unit length, times both rows. */
void pair_products(const pair_encoder *p, const float *vector, float *first, float *second);

#endif
