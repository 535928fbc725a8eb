/* reader_impl.h - what the reader*.c files share; nobody else includes it. */
#ifndef FORAGE_ENGINE_EMBED_READER_IMPL_H
#define FORAGE_ENGINE_EMBED_READER_IMPL_H

#include <pthread.h>

#include "engine/embed/reader.h"
#include "engine/model/encoder.h"
#include "engine/tokenizer/tokenizer.h"

typedef struct reader_cache reader_cache;

/* What reads question and passage together, opened when it is first asked for (reader_pair.h). */
typedef struct pair_encoder pair_encoder;
typedef struct pair_family pair_family;
enum pair_kind { PAIR_CROSS, PAIR_SPANS, PAIR_KINDS };
typedef struct pair_slot {
    pthread_mutex_t mu; /* guards the pointer and what it points at */
    pair_encoder *opened;
} pair_slot;

struct reader {
    /* immutable after open */
    reader *of; /* reader_apart: everything but space is that one's; else NULL */
    unsigned char space[32];
    model *weights;
    tokenizer *tokens;
    fo_pool *pool, *own_pool;
    reader_cache *cache;         /* NULL: none */
    bool exact, builtin, shares; /* shares: the weights are another's */
    size_t dim, max_tokens;
    int32_t first, last; /* [CLS] and [SEP] */
    size_t step_tokens;
    float *centre;             /* [dim], taken off every vector of unit length; NULL: none */
    const pair_family *family; /* what makes pair encoders of these weights; NULL: nothing does */
    pair_slot *pairs;          /* [PAIR_KINDS] */
    pthread_mutex_t mu;
    /* guarded by mu */
    encoder *run;
    float *rows; /* [step_tokens][dim] */
};

/* One block of memory:
 *
 *     | reader_text | ids [n + 2] | spans [n] | scale [n] | pad | codes [n][len] | vectors | */
struct reader_text {
    atomic_uint refs;
    /* immutable once encoded */
    uint32_t n_tokens;
    uint32_t dim, len; /* of a vector; of a row of codes, a multiple of ALIGN_WIDTH */
    size_t read;       /* bytes of the text */
    size_t bytes;      /* of this block */
    int32_t *ids;      /* between the encoder's two ends, which are no tokens of the text */
    tokenizer_span *spans;
    float *scale;   /* unit vector = scale * codes */
    int8_t *codes;  /* 64-aligned */
    float *vectors; /* exact readers: [n][dim], unit length; else NULL */
};

/* Uninitialised but for sizes and ends; refs 1. NULL when out of memory. */
reader_text *reader_text_create(size_t n_tokens, size_t dim, bool vectors);
static inline reader_text *reader_text_retain(reader_text *t) {
    atomic_fetch_add_explicit(&t->refs, 1, memory_order_relaxed);
    return t;
}
/* Row i from a vector of any length, less `centre` (NULL: nothing) once it has unit length, which vector is then brought to in
 * its place; one without direction becomes zero. */
void reader_text_set(reader_text *t, size_t i, float *vector, const float *centre);

/* r->centre, where the vectors of the model lie close together. r is open but for it. FO_ENOMEM. */
int reader_centre_find(reader *r, fo_err *err);

/* --- kept texts, by SHA-256 of their bytes; every function from any thread --- */
typedef struct reader_key {
    unsigned char sha256[32];
} reader_key;

reader_cache *reader_cache_create(size_t max_bytes); /* NULL when out of memory */
void reader_cache_free(reader_cache *c);             /* NULL is fine */
/* The text, retained, or NULL. */
reader_text *reader_cache_find(reader_cache *c, const reader_key *key);
/* Keep it (retained) and drop what is over the budget, least recently used first. A text that is
 * there already, or is larger than the whole budget, is not kept. */
void reader_cache_add(reader_cache *c, const reader_key *key, reader_text *t);
void reader_cache_stats(reader_cache *c, reader_stats *out);

void pair_encoder_free(pair_encoder *p); /* NULL is fine */

#endif
