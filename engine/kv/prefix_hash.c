#include "engine/kv/prefix_hash.h"

#include "kernels/sha256.h"

void prefix_hash_block(prefix_hash *out, const unsigned char fingerprint[32],
                       const prefix_hash *parent, const unsigned char salt[32],
                       const int32_t *tokens, size_t n) {
    static const unsigned char root[32];
    fo_sha256 h;
    fo_sha256_begin(&h);
    fo_sha256_add(&h, parent ? parent->bytes : root, 32);
    fo_sha256_add(&h, fingerprint, 32);
    fo_sha256_add(&h, salt, 32);
    fo_sha256_add(&h, tokens, n * sizeof *tokens);
    fo_sha256_end(&h, out->bytes);
}
