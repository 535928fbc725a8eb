/* prefix_hash.h - the name of a block of KV: a chained SHA-256 over all that decides its bytes.
 *
 *     H_0 = SHA-256(0^32    | fingerprint | salt | tokens of block 0)
 *     H_i = SHA-256(H_{i-1} | fingerprint | salt | tokens of block i)
 *
 * fingerprint: of the model, its path and the KV storage type. salt: of the tenant, so that nobody
 * can find, or by timing detect, what another tenant had computed. Tokens as int32 little-endian.
 * SHA-256 by OpenSSL: equal names mean equal content, with no compare of the content. */
#ifndef FORAGE_ENGINE_PREFIX_HASH_H
#define FORAGE_ENGINE_PREFIX_HASH_H

#include <stddef.h>
#include <stdint.h>
typedef struct prefix_hash {
    unsigned char bytes[32];
} prefix_hash;

/* fingerprint: of the model and what else decides its KV. parent NULL: the first block. */
void prefix_hash_block(prefix_hash *out, const unsigned char fingerprint[32],
                       const prefix_hash *parent, const unsigned char salt[32],
                       const int32_t *tokens, size_t n);

#endif
