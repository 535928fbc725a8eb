/* kv_pages.h - the memory of the KV cache: fixed-size pages and the layout attention reads.
 *
 * What it owns: one block of n_pages pages and the arithmetic of where a key or value lies. What it
 * refuses: which page is free, shared or hashed; that is kv_cache.h, which hands page numbers out.
 *
 * A page holds keys and values of P consecutive positions of one sequence, for all layers and KV
 * heads. P is a multiple of 16, because attention walks positions in blocks of 16 that start at
 * multiples of 16: a result never depends on the page size. Position p of a sequence lies in
 * block_table[p / P], slot p % P.
 *
 *     page  = layer 0 | layer 1 | ...
 *     layer = head 0 | head 1 | ...            (KV heads)
 *     head  = keys | values
 *     keys  = P/16 blocks of [k_dim][16]       transposed: 16 positions side by side per channel
 *     values= [P][v_dim]                       a row per position
 *
 * F32 and BF16 are stored as such (BF16 rounded to nearest even). Q8_0 stores int8 and an F32 scale
 * for each position and 32 channels: keys [k_dim][16] int8 then [k_dim/32][16] scales per block,
 * values [P][v_dim] int8 then [P][v_dim/32] scales.
 *
 * Keys are stored after RoPE. model_shift_keys() (model.h) moves them to another position.
 * Threads: pages that nobody writes may be read by any thread; the caller orders the rest. */
#ifndef FORAGE_ENGINE_KV_PAGES_H
#define FORAGE_ENGINE_KV_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "kernels/error.h"

enum { KV_BLOCK = 16 }; /* positions attention takes together; P is a multiple */

typedef enum kv_type { KV_BF16 = 0, KV_F32 = 1, KV_Q8_0 = 2 } kv_type;

typedef struct kv_layout {
    int n_layers, n_kv_heads;
    int k_dim, v_dim; /* channels of a head; multiples of 32 for KV_Q8_0 */
    int page_tokens;  /* P: a multiple of KV_BLOCK, at most 1024 */
    kv_type type;
    /* derived by kv_layout_init */
    size_t key_block_bytes;   /* a block of 16 keys of one head */
    size_t value_row_bytes;   /* a value of one head without its scales */
    size_t value_scale_bytes; /* its scales; 0 unless KV_Q8_0 */
    size_t head_bytes;        /* keys and values of one head of one layer */
    size_t layer_bytes;       /* n_kv_heads * head_bytes */
    size_t page_bytes;        /* n_layers * layer_bytes */
} kv_layout;

typedef struct kv_pages kv_pages;

/* "bf16", "f32", "q8_0". */
int kv_type_from_name(const char *name, kv_type *out, fo_err *err);

/* Check the first fields and derive the rest. FO_EINVAL with a sentence. model_kv_layout() in
 * model.h fills one for a model. */
int kv_layout_init(kv_layout *layout, fo_err *err);

/* n_pages pages of zeroes (the operating system gives memory as pages are first written).
 * FO_EINVAL, FO_ENOMEM. */
int kv_pages_create(kv_pages **out, const kv_layout *layout, int n_pages, fo_err *err);
void kv_pages_free(kv_pages *kv); /* NULL is fine */

const kv_layout *kv_pages_layout(const kv_pages *kv);
int kv_pages_count(const kv_pages *kv);

/* The bytes of a page (layout->page_bytes of them): what a disk tier writes and reads back, what a
 * deep copy copies. They mean the same in every process that has the same layout. */
void *kv_pages_data(kv_pages *kv, int page);
const void *kv_pages_data_const(const kv_pages *kv, int page);

/* Copy a whole page (copy-on-write, compaction). */
void kv_pages_copy(kv_pages *kv, int to, int from);

/* Positions outside of pages, as bytes: token by token, layer by layer, head by head, the key and
 * then the value as they are stored (with their scales). */
size_t kv_layout_token_bytes(const kv_layout *layout);
/* Slots [slot, slot + n) of a page to and from such bytes (n * token bytes). */
void kv_pages_export(const kv_pages *kv, int page, int slot, int n, void *to);
void kv_pages_import(kv_pages *kv, int page, int slot, int n, const void *from);

/* A block of KV_BLOCK slots of one head, keys and then values as they are stored: its bytes, and the
 * block that starts at `slot` (a multiple of KV_BLOCK) to and from them. */
size_t kv_layout_block_bytes(const kv_layout *layout);
void kv_pages_export_block(const kv_pages *kv, int page, int slot, int layer, int head, void *to);
void kv_pages_import_block(kv_pages *kv, int page, int slot, int layer, int head, const void *from);

/* Store one position of one head: k[k_dim], v[v_dim] floats (keys after RoPE). */
void kv_pages_store(kv_pages *kv, int page, int slot, int layer, int head, const float *k,
                    const float *v);

/* Read it back as floats. k or v may be NULL. */
void kv_pages_load(const kv_pages *kv, int page, int slot, int layer, int head, float *k, float *v);

/* Store the key alone (after it was shifted). */
void kv_pages_store_key(kv_pages *kv, int page, int slot, int layer, int head, const float *k);

/* Whether blocks lie in a page just as attention reads them: floats, values v_stride apart. */
bool kv_pages_viewable(const kv_pages *kv, int v_stride);
/* Where that is so, the block that starts at `slot` in place; the page's following ones lie behind
 * it. Valid until the pages are freed. */
void kv_pages_view(const kv_pages *kv, int page, int slot, int layer, int head, const float **keys,
                   const float **values);

/* Unpack the block of 16 positions that starts at `slot` (a multiple of 16) as floats:
 * keys[k_dim][16] and values[16][v_stride], of which v_dim are written. Attention's read. */
void kv_pages_unpack(const kv_pages *kv, int page, int slot, int layer, int head, float *keys,
                     float *values, int v_stride);

#endif
