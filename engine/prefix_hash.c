#include "engine/prefix_hash.h"

#include <stdlib.h>
#include <string.h>
#include <openssl/evp.h>

struct prefix_hasher {
    EVP_MD_CTX *ctx;
    EVP_MD *sha256; /* fetched once: a look-up by name costs more than the hash of a block */
    unsigned char fingerprint[32];
};

int prefix_hasher_create(prefix_hasher **out, const unsigned char fingerprint[32], fo_err *err) {
    prefix_hasher *h = calloc(1, sizeof *h);
    if (!h) return fo_fail(err, FO_ENOMEM, "out of memory");
    memcpy(h->fingerprint, fingerprint, 32);
    h->ctx = EVP_MD_CTX_new();
    h->sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
    if (!h->ctx || !h->sha256) {
        prefix_hasher_free(h);
        return fo_fail(err, FO_ENOMEM, "OpenSSL offers no SHA-256");
    }
    *out = h;
    return FO_OK;
}

void prefix_hasher_free(prefix_hasher *h) {
    if (!h) return;
    EVP_MD_CTX_free(h->ctx);
    EVP_MD_free(h->sha256);
    free(h);
}

int prefix_hash_block(prefix_hasher *h, const prefix_hash *parent, const unsigned char salt[32],
                      const int32_t *tokens, size_t n, prefix_hash *out, fo_err *err) {
    static const unsigned char root[32];
    if (!EVP_DigestInit_ex(h->ctx, h->sha256, NULL) ||
        !EVP_DigestUpdate(h->ctx, parent ? parent->bytes : root, 32) ||
        !EVP_DigestUpdate(h->ctx, h->fingerprint, 32) || !EVP_DigestUpdate(h->ctx, salt, 32) ||
        !EVP_DigestUpdate(h->ctx, tokens, n * sizeof *tokens) ||
        !EVP_DigestFinal_ex(h->ctx, out->bytes, NULL))
        return fo_fail(err, FO_ENOMEM, "SHA-256 failed");
    return FO_OK;
}
