/* sha256.h - SHA-256 that takes no memory and cannot fail.
 *
 *     fo_sha256 h;
 *     fo_sha256_begin(&h);
 *     fo_sha256_add(&h, p, n);     // as often as there is more
 *     fo_sha256_end(&h, out);
 *
 * A value: a copy of one that is under way goes on by itself. */
#ifndef FORAGE_KERNELS_SHA256_H
#define FORAGE_KERNELS_SHA256_H

#include <stddef.h>
#include <stdint.h>

typedef struct fo_sha256 {
    uint64_t state[14]; /* the library's */
} fo_sha256;

void fo_sha256_begin(fo_sha256 *h);
void fo_sha256_add(fo_sha256 *h, const void *p, size_t n); /* p may be NULL where n is 0 */
void fo_sha256_end(fo_sha256 *h, unsigned char out[32]);   /* h may be begun again */

/* Of these bytes alone. */
void fo_sha256_of(unsigned char out[32], const void *p, size_t n);

#endif
