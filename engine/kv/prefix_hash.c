/* EVP_DigestInit_ex takes fresh memory for every digest (OpenSSL 3.0), and blocks fill up in decode
 * steps, which allocate nothing: hence the older interface to the same SHA-256. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "engine/kv/prefix_hash.h"

#include <stdlib.h>
#include <string.h>
#include <openssl/sha.h>

struct prefix_hasher {
    SHA256_CTX ctx;
    unsigned char fingerprint[32];
};

int prefix_hasher_create(prefix_hasher **out, const unsigned char fingerprint[32], fo_err *err) {
    prefix_hasher *h = calloc(1, sizeof *h);
    if (!h) return fo_no_memory(err);
    memcpy(h->fingerprint, fingerprint, 32);
    *out = h;
    return FO_OK;
}

void prefix_hasher_free(prefix_hasher *h) {
    free(h);
}

int prefix_hash_block(prefix_hasher *h, const prefix_hash *parent, const unsigned char salt[32],
                      const int32_t *tokens, size_t n, prefix_hash *out, fo_err *err) {
    static const unsigned char root[32];
    if (!SHA256_Init(&h->ctx) || !SHA256_Update(&h->ctx, parent ? parent->bytes : root, 32) ||
        !SHA256_Update(&h->ctx, h->fingerprint, 32) || !SHA256_Update(&h->ctx, salt, 32) ||
        !SHA256_Update(&h->ctx, tokens, n * sizeof *tokens) || !SHA256_Final(out->bytes, &h->ctx))
        return fo_fail(err, FO_ENOMEM, "SHA-256 failed");
    return FO_OK;
}
