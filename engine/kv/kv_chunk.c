#include "engine/kv/kv_chunk.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "kernels/sha256.h"

void kv_chunk_key(unsigned char out[32], const unsigned char fingerprint[32],
                  const kv_layout *layout, const unsigned char salt[32], const int32_t *prefix,
                  size_t n_prefix, const int32_t *chunk, size_t n) {
    static const char version[] = "forage chunk kv 1";
    /* The prefix's length tells where it ends; the layout's page size does not matter. */
    int32_t head[2] = {(int32_t)layout->type, (int32_t)n_prefix};
    fo_sha256 h;
    fo_sha256_begin(&h);
    fo_sha256_add(&h, version, sizeof version);
    fo_sha256_add(&h, fingerprint, 32);
    fo_sha256_add(&h, salt, 32);
    fo_sha256_add(&h, head, sizeof head);
    fo_sha256_add(&h, prefix, n_prefix * sizeof *prefix);
    fo_sha256_add(&h, chunk, n * sizeof *chunk);
    fo_sha256_end(&h, out);
}

/* The part of [at, end) that lies in one page. */
static int in_page(int at, int end, int page_tokens) {
    int n = page_tokens - at % page_tokens;
    return n < end - at ? n : end - at;
}

void kv_chunk_take(const kv_pages *kv, const int32_t *table, int start, int n, void *out) {
    const kv_layout *l = kv_pages_layout(kv);
    unsigned char *to = out;
    for (int at = start, k; at < start + n; at += k) {
        k = in_page(at, start + n, l->page_tokens);
        kv_pages_export(kv, table[at / l->page_tokens], at % l->page_tokens, k, to);
        to += (size_t)k * kv_layout_token_bytes(l);
    }
}

int kv_chunk_place(const model *m, kv_pages *kv, const int32_t *table, int start, int n,
                   const void *bytes, int computed_at, fo_err *err) {
    const kv_layout *l = kv_pages_layout(kv);
    const unsigned char *from = bytes;
    for (int at = start, k; at < start + n; at += k) {
        int page = table[at / l->page_tokens], slot = at % l->page_tokens;
        k = in_page(at, start + n, l->page_tokens);
        kv_pages_import(kv, page, slot, k, from);
        int rc = model_shift_keys(m, kv, page, slot, k, start - computed_at, err);
        if (rc) return rc;
        from += (size_t)k * kv_layout_token_bytes(l);
    }
    return FO_OK;
}

void kv_chunk_layers(int n_layers, int out[2]) {
    out[0] = n_layers / 2;
    out[1] = (4 * n_layers + 4) / 5;
}

/* ---- selection --------------------------------------------------------------------------- */

enum { EARLY = 48, FINER = 8 };

void kv_chunk_weigh(uint64_t *attention, const kv_chunk_range *ranges, int n_ranges) {
    for (int r = 0; r < n_ranges; r++)
        for (int k = 0; k < ranges[r].n; k++) {
            uint64_t *a = &attention[ranges[r].start + k];
            *a = (*a >> (64 - FINER) ? UINT64_MAX : *a << FINER) / (uint64_t)(EARLY + k);
        }
}

/* Is position a to be taken before b? */
static bool before(const uint64_t *attention, int32_t a, int32_t b) {
    return attention[a] != attention[b] ? attention[a] > attention[b] : a < b;
}

/* A heap of the k best so far, the worst of them on top. */
static void sift_down(const uint64_t *attention, int32_t *heap, int k, int i) {
    for (;;) {
        int worst = i;
        for (int c = 2 * i + 1; c <= 2 * i + 2; c++)
            if (c < k && before(attention, heap[worst], heap[c])) worst = c;
        if (worst == i) return;
        int32_t x = heap[i];
        heap[i] = heap[worst];
        heap[worst] = x;
        i = worst;
    }
}

static bool among(const uint64_t *attention, int32_t position, int32_t cut) {
    return position == cut || before(attention, position, cut);
}

int kv_chunk_select(const uint64_t *attention, const kv_chunk_range *ranges, int n_ranges,
                    double share, int32_t *rows) {
    int all = 0, n = 0;
    for (int r = 0; r < n_ranges; r++) all += ranges[r].n;
    int k = (int)lround(share * all);
    if (k > all) k = all;
    if (k < 1) return 0;
    for (int r = 0; r < n_ranges; r++)
        for (int p = ranges[r].start; p < ranges[r].start + ranges[r].n; p++) {
            if (n < k) {
                rows[n++] = p;
                if (n == k)
                    for (int i = k / 2; i-- > 0;) sift_down(attention, rows, k, i);
            } else if (before(attention, p, rows[0])) {
                rows[0] = p;
                sift_down(attention, rows, k, 0);
            }
        }
    int32_t cut = rows[0];
    n = 0;
    for (int r = 0; r < n_ranges; r++)
        for (int p = ranges[r].start; p < ranges[r].start + ranges[r].n; p++)
            if (among(attention, p, cut)) rows[n++] = p;
    return n;
}
