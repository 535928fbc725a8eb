#include "engine/tokenizer/charsmap.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A unit of the double array: the distance to its children, the byte that leads to it, whether a
 * key ends at it; or, as a leaf, the key's value. */
static bool has_leaf(uint32_t unit) {
    return unit >> 8 & 1;
}
static uint32_t label_of(uint32_t unit) { /* a leaf has its top bit set: no byte equals it */
    return unit & (1u << 31 | 0xFF);
}
static uint32_t offset_of(uint32_t unit) {
    return unit >> 10 << ((unit & 1u << 9) >> 6);
}

int charsmap_init(charsmap *m, const void *blob, size_t n, fo_err *err) {
    *m = (charsmap){0};
    uint32_t trie_bytes = 0;
    if (n >= 4) memcpy(&trie_bytes, blob, 4); /* little-endian, as all of GGUF */
    if (n < 4 || trie_bytes > n - 4 || trie_bytes % 4 || trie_bytes < 4)
        return fo_fail(err, FO_ECORRUPT,
                       "precompiled_charsmap: a trie of %u bytes does not fit in %zu", trie_bytes,
                       n);
    const char *texts = (const char *)blob + 4 + trie_bytes;
    size_t n_texts = n - 4 - trie_bytes;
    if (n_texts && texts[n_texts - 1] != 0)
        return fo_fail(err, FO_ECORRUPT, "precompiled_charsmap: the last text has no end");
    m->units = malloc(trie_bytes);
    m->texts = malloc(n_texts + 1);
    if (!m->units || !m->texts) {
        charsmap_deinit(m);
        return fo_fail(err, FO_ENOMEM, "tokenizer: out of memory");
    }
    memcpy(m->units, (const char *)blob + 4, trie_bytes);
    memcpy(m->texts, texts, n_texts);
    m->texts[n_texts] = 0;
    m->n_units = trie_bytes / 4;
    m->n_texts = n_texts + 1;
    return FO_OK;
}

void charsmap_deinit(charsmap *m) {
    free(m->units);
    free(m->texts);
    *m = (charsmap){0};
}

size_t charsmap_match(const charsmap *m, const char *s, size_t n, const char **text, size_t *len) {
    if (!m->n_units) return 0;
    size_t best = 0;
    uint32_t at = offset_of(m->units[0]);
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        at ^= c;
        if (c == 0 || at >= m->n_units || label_of(m->units[at]) != c) break;
        uint32_t unit = m->units[at];
        at ^= offset_of(unit);
        if (!has_leaf(unit)) continue;
        if (at >= m->n_units) break;
        uint32_t value = m->units[at] & ~(1u << 31);
        if (value >= m->n_texts) continue;
        *text = m->texts + value;
        *len = strlen(*text);
        best = i + 1;
    }
    return best;
}
