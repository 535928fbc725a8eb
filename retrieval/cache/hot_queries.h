/* hot_queries.h - the questions asked most of late: a count-min sketch over all of them and the
 * best few by name.
 *
 * Counts fade: all of them are halved every half-life. One of these stands for one tenant; it is
 * saved with the home and restored, text and all (or without text, where questions shall not be
 * kept). Any thread. */
#ifndef FORAGE_RETRIEVAL_HOT_QUERIES_H
#define FORAGE_RETRIEVAL_HOT_QUERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "kernels/error.h"

typedef struct hot_queries hot_queries;

typedef struct hot_options {
    size_t capacity;       /* questions kept by name; 0: 256 */
    double epsilon, delta; /* of the sketch; 0: 1e-4 and 1e-3 (7 x 32,768 counters, 896 KiB) */
    int64_t half_life_ms;  /* 0: one hour */
    bool hide_text;        /* keep hashes alone */
} hot_options;

enum { HOT_RECIPE_MAX = 128 };

typedef struct hot_query {
    uint64_t hash;
    uint32_t estimate;
    char *collection, *query; /* query NULL where text is hidden, or was until it is asked again */
    int64_t last_ms;          /* since 1970 */
    int64_t primed_epoch;     /* what hot_queries_set_primed was told last; 0 at first */
    size_t n_recipe;          /* how it was asked: the caller's bytes */
    unsigned char recipe[HOT_RECIPE_MAX];
} hot_query;
void hot_query_list_free(hot_query *list, size_t n);

int hot_queries_create(hot_queries **out, const hot_options *opt, fo_err *err);
void hot_queries_free(hot_queries *h); /* NULL is fine */

/* Count one question, by the hash of what makes it the same question. recipe NULL: the one it has
 * stays. Returns the estimate. */
uint32_t hot_queries_add(hot_queries *h, uint64_t hash, const char *collection, const char *query,
                         const void *recipe, size_t n_recipe, int64_t now_ms);
/* As it has faded by now, also where nobody has asked for anything since. */
uint32_t hot_queries_estimate(hot_queries *h, uint64_t hash, int64_t now_ms);
void hot_queries_set_primed(hot_queries *h, uint64_t hash, int64_t epoch);
/* No longer keep it by name; its count stays, and the next time it is asked it may join again. */
void hot_queries_forget(hot_queries *h, uint64_t hash);
/* The hottest first, at most `limit`; the caller frees with hot_query_list_free. */
int hot_queries_list(hot_queries *h, size_t limit, hot_query **out, size_t *n, fo_err *err);

/* The file: magic, version, sketch, questions, CRC-32; written temp -> fsync -> rename. */
int hot_queries_save(hot_queries *h, const char *path, fo_err *err);
/* Into a fresh h. FO_EIO where there is none, FO_ECORRUPT with the offset; h stays as it was. */
int hot_queries_load(hot_queries *h, const char *path, fo_err *err);

#endif
