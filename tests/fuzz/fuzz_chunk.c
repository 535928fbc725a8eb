/* Any valid UTF-8 with any blocks: chunks are in order, cover every visible byte, are cut between
 * code points and keep the limit. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "data/chunk/chunk.h"
#include "kernels/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A counter as awkward as real ones: words cost a token for every four bytes begun. */
static size_t count(void *ctx, const char *text, size_t len) {
    (void)ctx;
    size_t n = 0, run = 0;
    for (size_t i = 0; i < len; i++) {
        run = text[i] == ' ' || text[i] == '\n' ? 0 : run + 1;
        n += run % 4 == 1;
    }
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 4) return 0;
    chunk_options opt = {.max_tokens = 16 + data[0] % 64, .count = data[1] & 1 ? count : NULL};
    opt.overlap = data[2] % (opt.max_tokens / 2);
    size_t n_blocks = data[3] % 8, head = 4 + 3 * n_blocks;
    if (size < head) return 0;
    text_block blocks[8];
    extracted x = {.len = size - head};
    x.text = malloc(x.len + 1);
    if (!x.text) return 0;
    memcpy(x.text, data + head, x.len);
    x.text[x.len] = 0;
    for (size_t at = 0; at < x.len;) {
        int32_t cp;
        size_t n = fo_utf8_decode(x.text + at, x.len - at, &cp);
        if (cp <= 0) memset(x.text + at, '?', n);
        at += n;
    }
    size_t at = 0;
    for (size_t i = 0; i < n_blocks; i++) {
        const uint8_t *p = data + 4 + 3 * i;
        size_t start = at + p[0] % 32, end = start + 1 + p[1];
        while (start < x.len && !fo_utf8_boundary(x.text[start])) start++;
        while (end < x.len && !fo_utf8_boundary(x.text[end])) end++;
        if (start >= end || end > x.len) break;
        blocks[x.n_blocks++] = (text_block){start, end, .kind = p[2] % 5, .level = 1};
        at = end;
    }
    x.blocks = blocks;
    chunk *chunks;
    size_t n;
    if (chunk_text(&chunks, &n, &x, &opt, NULL) != FO_OK) abort();
    size_t covered = 0, last = 0;
    for (size_t i = 0; i < n; i++) {
        const chunk *c = &chunks[i];
        if (c->start >= c->end || c->end > x.len || (i && c->start <= last)) abort();
        if (!fo_utf8_boundary(x.text[c->start]) ||
            (c->end < x.len && !fo_utf8_boundary(x.text[c->end])))
            abort();
        for (size_t k = covered; k < c->start; k++)
            if (x.text[k] > ' ' && x.text[k] < 0x7F) abort();
        if (c->end <= covered) abort();
        covered = c->end;
        last = c->start;
        if (c->start_cp != fo_utf8_count(x.text, c->start)) abort();
        if (c->n_tokens > opt.max_tokens) abort();
    }
    for (size_t k = covered; k < x.len; k++)
        if (x.text[k] > ' ' && x.text[k] < 0x7F) abort();
    free(chunks);
    free(x.text);
    return 0;
}
