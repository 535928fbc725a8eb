/* count_min_sketch.h - how often a key was seen, in memory that does not grow with the keys.
 *
 *     count_min *s;
 *     count_min_create(&s, 1e-4, 1e-3, seed, &err);
 *     uint32_t n = count_min_add(s, hash, 1);
 *     count_min_age(s, 1);                         // everything counts half from now on
 *
 * An estimate is never below the true count (halved, rounded down, as often as the sketch was
 * aged), and above it by more than epsilon * count_min_total with a probability of at most delta
 * for each key asked. width = e / epsilon, rounded up to a power of two; depth = ln(1 / delta).
 * Updates are conservative: only the counters that hold the smallest value rise, which keeps the
 * bound and shrinks the error on skewed streams. Counters saturate at 2^32 - 1.
 * Source: Cormode & Muthukrishnan 2005; conservative update: Estan & Varghese 2002.
 * Threads: one at a time. */
#ifndef FORAGE_RETRIEVAL_COUNT_MIN_SKETCH_H
#define FORAGE_RETRIEVAL_COUNT_MIN_SKETCH_H

#include <stddef.h>
#include <stdint.h>
#include "kernels/buf.h"
#include "kernels/error.h"

typedef struct count_min count_min;

/* 1e-7 <= epsilon < 1, 1e-7 <= delta < 1. FO_EINVAL, FO_ENOMEM. */
int count_min_create(count_min **out, double epsilon, double delta, uint64_t seed, fo_err *err);
void count_min_free(count_min *s); /* NULL is fine */

/* key: a 64-bit hash of the thing counted. Returns the new estimate. */
uint32_t count_min_add(count_min *s, uint64_t key, uint32_t n);
uint32_t count_min_estimate(const count_min *s, uint64_t key);
/* Halve every counter and the total `halvings` times. */
void count_min_age(count_min *s, unsigned halvings);
uint64_t count_min_total(const count_min *s); /* of all added, aged like the counters */
size_t count_min_width(const count_min *s);
size_t count_min_depth(const count_min *s);

/* Append as bytes: magic, version, geometry, seed, total, counters, CRC-32. */
void count_min_write(const count_min *s, fo_buf *b);
/* *used: bytes read. FO_ECORRUPT names the offset, FO_EMISMATCH a version this program cannot
 * read. */
int count_min_read(count_min **out, const void *data, size_t n, size_t *used, fo_err *err);

#endif
