/* Bytes 0-1: the length of a charsmap, which follows; then pieces, one a line; a zero byte; text.
 * Promises: a charsmap of any bytes is refused or walked inside its bounds, ids are in range, and
 * counting agrees with encoding. */
#include <string.h>

#include "engine/tokenizer/tokenizer.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 3) return 0;
    size_t n_map = (size_t)(data[0] | data[1] << 8), n = 1;
    const char *at = (const char *)data + 3, *all_end = (const char *)data + size;
    if (n_map > size - 3) n_map = size - 3;
    tokenizer_string s[64] = {{"<unk>", 5}};
    float scores[64] = {0};
    tokenizer_spec spec = tokenizer_spec_default(TOKENIZER_UNIGRAM);
    spec.charsmap = (tokenizer_string){at, n_map};
    spec.add_space_prefix = data[2] & 1;
    spec.remove_extra_whitespaces = data[2] & 2;
    spec.unk = data[2] & 4 ? 0 : -1;
    at += n_map;
    const char *zero = memchr(at, 0, (size_t)(all_end - at)), *end = zero ? zero : all_end;
    while (at < end && n < 64) {
        const char *nl = memchr(at, '\n', (size_t)(end - at));
        if (!nl) nl = end;
        s[n] = (tokenizer_string){at, (size_t)(nl - at)};
        scores[n] = -(float)(n * 7 % 13);
        n++;
        at = nl + (nl < end);
    }
    spec.tokens = s;
    spec.n_tokens = n;
    spec.scores = scores;
    tokenizer *t = NULL;
    fo_err err = {0};
    if (tokenizer_create(&t, &spec, &err)) {
        FUZZ_CHECK(!t && err.msg[0]);
        return 0;
    }
    const char *text = zero ? zero + 1 : "";
    size_t len = zero ? (size_t)(all_end - text) : 0, n_ids;
    int32_t *ids;
    FUZZ_CHECK(tokenizer_encode_alloc(t, text, len, 0, &ids, &n_ids, &err) == FO_OK);
    FUZZ_CHECK(tokenizer_count(t, text, len, 0) == (int64_t)n_ids);
    for (size_t i = 0; i < n_ids; i++) FUZZ_CHECK(ids[i] >= 0 && ids[i] < (int32_t)n);
    free(ids);
    tokenizer_free(t);
    return 0;
}
