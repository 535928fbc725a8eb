/* OpenSSL's newer interface takes memory for every digest (3.0), so that each of its calls may fail, and a decode step,
 * which allocates nothing, cannot use it: hence the older one to the same code. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "kernels/sha256.h"

#include <openssl/sha.h>
#include <string.h>

_Static_assert(sizeof(SHA256_CTX) <= sizeof(fo_sha256), "a context fits");
_Static_assert(_Alignof(SHA256_CTX) <= _Alignof(fo_sha256), "and lies right");

/* None of these fails: they compute within the context. */
void fo_sha256_begin(fo_sha256 *h) {
    SHA256_Init((SHA256_CTX *)(void *)h->state);
}

void fo_sha256_add(fo_sha256 *h, const void *p, size_t n) {
    if (n) SHA256_Update((SHA256_CTX *)(void *)h->state, p, n);
}

void fo_sha256_end(fo_sha256 *h, unsigned char out[32]) {
    SHA256_Final(out, (SHA256_CTX *)(void *)h->state);
}

void fo_sha256_of(unsigned char out[32], const void *p, size_t n) {
    fo_sha256 h;
    fo_sha256_begin(&h);
    fo_sha256_add(&h, p, n);
    fo_sha256_end(&h, out);
}
