/* kv_chunk.h - the KV of a chunk of text, computed once and met again anywhere.
 *
 * A chunk is computed behind prefix and lead alone (chunk_lead.h), so that its KV depends on these
 * and the chunk and on nothing else, and is named by that content. To be used in a prompt its keys
 * are shifted to their new positions and its values are taken as they are. What it then lacks is
 * that its tokens never saw the chunks before it: a share of them is computed again in the prompt's
 * context, those that the question attends to most.
 *
 *     kv_chunk_key(key, fingerprint, &layout, salt, prefix, n_prefix, chunk, n);
 *     kv_chunk_take(pages, table, n_prefix, n, bytes);                  // prefix: lead included
 *     ...
 *     kv_chunk_place(m, pages, table, at, n, bytes, n_prefix, &err);    // in another prompt
 *     model_forward(question, .attention = mass)                        // over the stale cache
 *     kv_chunk_weigh(mass, ranges, n_ranges);
 *     n = kv_chunk_select(mass, ranges, n_ranges, .15, rows);           // these, again
 *     model_forward(rows and question, .positions = ...)
 *
 * Sources: position-free chunks: TurboRAG (Lu et al. 2024), EPIC (Hu et al. 2024); computing a
 * share again: CacheBlend (Yao et al. 2025). The choice by the question's attention is ours,
 * measured in docs/measurements/kv.md. Threads: as the pages. */
#ifndef FORAGE_ENGINE_KV_CHUNK_H
#define FORAGE_ENGINE_KV_CHUNK_H

#include "engine/model/kv_pages.h"
#include "engine/model/model.h"

/* The name of a chunk's KV: SHA-256 over model, KV layout, tenant, what it was computed behind (the
 * prefix and the lead) and chunk. */
void kv_chunk_key(unsigned char out[32], const unsigned char fingerprint[32],
                  const kv_layout *layout, const unsigned char salt[32], const int32_t *prefix,
                  size_t n_prefix, const int32_t *chunk, size_t n);

/* Positions [start, start + n) of a block table as bytes (n * kv_layout_token_bytes). */
void kv_chunk_take(const kv_pages *kv, const int32_t *table, int start, int n, void *out);

/* Write such bytes at [start, start + n), the keys shifted from where they were computed
 * (computed_at, of the first). The pages must be the caller's alone. */
int kv_chunk_place(const model *m, kv_pages *kv, const int32_t *table, int start, int n,
                   const void *bytes, int computed_at, fo_err *err);

/* The layers whose attention chooses, of n_layers: [out[0], out[1]): from the middle to four
 * fifths. What the early ones attend to says less, and the last ones need not be computed for it
 * (docs/measurements/kv.md). */
void kv_chunk_layers(int n_layers, int out[2]);

typedef struct kv_chunk_range {
    int start, n;
} kv_chunk_range;

/* From the attention that positions are paid to what computing them again is worth. Computed alone,
 * a chunk's token k saw the k tokens before it and nothing of the chunks in front: the fewer it
 * saw, the more it lacks. So attention / (48 + k), as measured (docs/measurements/kv.md). */
void kv_chunk_weigh(uint64_t *attention, const kv_chunk_range *ranges, int n_ranges);

/* Of the positions in the ranges (ascending, apart) the share that attention[position] is largest
 * for, rounded to the nearest number; of equals the first. rows (room for all) becomes their
 * positions, ascending. Returns how many. Reorders nothing else and allocates nothing. */
int kv_chunk_select(const uint64_t *attention, const kv_chunk_range *ranges, int n_ranges,
                    double share, int32_t *rows);

#endif
