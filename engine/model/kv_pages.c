#include "engine/model/kv_pages.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "kernels/buf.h"
#include "kernels/vec.h"

enum { Q8_GROUP = 32, MAX_PAGE_TOKENS = 1024 };

struct kv_pages {
    /* immutable after create */
    kv_layout layout;
    int n_pages;
    size_t bytes;
    const vec_kernels *vec;
    unsigned char *data; /* the caller orders readers and writers */
};

static const char *const type_names[] = {"bf16", "f32", "q8_0"};

int kv_type_from_name(const char *name, kv_type *out, fo_err *err) {
    for (int i = 0; i < 3; i++)
        if (!strcmp(name, type_names[i])) {
            *out = (kv_type)i;
            return FO_OK;
        }
    return fo_fail(err, FO_EINVAL, "KV type must be f32, bf16 or q8_0, not '%.20s'", name);
}

int kv_layout_init(kv_layout *l, fo_err *err) {
    if (l->page_tokens < KV_BLOCK || l->page_tokens % KV_BLOCK || l->page_tokens > MAX_PAGE_TOKENS)
        return fo_fail_field(err, FO_EINVAL, "kv_page_tokens",
                             "a KV page must hold a multiple of %d tokens up to %d, not %d",
                             KV_BLOCK, MAX_PAGE_TOKENS, l->page_tokens);
    if (l->n_layers < 1 || l->n_kv_heads < 1 || l->k_dim < 1 || l->v_dim < 1 ||
        l->n_layers > 65536 || l->n_kv_heads > 65536 || l->k_dim > 65536 || l->v_dim > 65536)
        return fo_fail(err, FO_EINVAL, "a KV layout of %d layers, %d heads, %d/%d channels",
                       l->n_layers, l->n_kv_heads, l->k_dim, l->v_dim);
    size_t k = (size_t)l->k_dim, v = (size_t)l->v_dim, p = (size_t)l->page_tokens;
    switch (l->type) {
    case KV_BF16:
    case KV_F32: {
        size_t width = l->type == KV_F32 ? sizeof(float) : sizeof(uint16_t);
        l->key_block_bytes = k * KV_BLOCK * width;
        l->value_row_bytes = v * width;
        l->value_scale_bytes = 0;
        break;
    }
    case KV_Q8_0:
        if (k % Q8_GROUP || v % Q8_GROUP)
            return fo_fail_field(err, FO_EINVAL, "kv_type",
                                 "KV of type q8_0 needs heads of a multiple of 32 channels, the "
                                 "model has %d and %d",
                                 l->k_dim, l->v_dim);
        l->key_block_bytes = k * KV_BLOCK + k / Q8_GROUP * KV_BLOCK * sizeof(float);
        l->value_row_bytes = v;
        l->value_scale_bytes = v / Q8_GROUP * sizeof(float);
        break;
    default:
        return fo_fail_field(err, FO_EINVAL, "kv_type", "unknown KV type %d", (int)l->type);
    }
    l->head_bytes =
        p / KV_BLOCK * l->key_block_bytes + p * (l->value_row_bytes + l->value_scale_bytes);
    if (!fo_mul_size(l->head_bytes, (size_t)l->n_kv_heads, &l->layer_bytes) ||
        !fo_mul_size(l->layer_bytes, (size_t)l->n_layers, &l->page_bytes))
        return fo_fail(err, FO_EINVAL, "a KV page would be too large to address");
    return FO_OK;
}

int kv_pages_create(kv_pages **out, const kv_layout *layout, int n_pages, fo_err *err) {
    kv_layout l = *layout;
    int rc = kv_layout_init(&l, err);
    if (rc) return rc;
    size_t bytes;
    if (n_pages < 1 || !fo_mul_size(l.page_bytes, (size_t)n_pages, &bytes))
        return fo_fail(err, FO_EINVAL, "%d KV pages are out of bounds", n_pages);
    kv_pages *kv = calloc(1, sizeof *kv);
    if (!kv) return fo_fail(err, FO_ENOMEM, "no memory for the KV pages");
    void *data = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED) {
        free(kv);
        return fo_fail(err, FO_ENOMEM, "no memory for %d KV pages of %zu bytes", n_pages,
                       l.page_bytes);
    }
    (void)madvise(data, bytes, MADV_HUGEPAGE); /* only a hint */
    *kv =
        (kv_pages){.layout = l, .n_pages = n_pages, .bytes = bytes, .vec = vec_get(), .data = data};
    *out = kv;
    return FO_OK;
}

void kv_pages_free(kv_pages *kv) {
    if (!kv) return;
    munmap(kv->data, kv->bytes);
    free(kv);
}

const kv_layout *kv_pages_layout(const kv_pages *kv) {
    return &kv->layout;
}

int kv_pages_count(const kv_pages *kv) {
    return kv->n_pages;
}

void *kv_pages_data(kv_pages *kv, int page) {
    assert(page >= 0 && page < kv->n_pages);
    return kv->data + (size_t)page * kv->layout.page_bytes;
}

const void *kv_pages_data_const(const kv_pages *kv, int page) {
    assert(page >= 0 && page < kv->n_pages);
    return kv->data + (size_t)page * kv->layout.page_bytes;
}

void kv_pages_copy(kv_pages *kv, int to, int from) {
    memcpy(kv_pages_data(kv, to), kv_pages_data_const(kv, from), kv->layout.page_bytes);
}

/* --- where things lie --- */
static unsigned char *head_at(const kv_pages *kv, int page, int layer, int head) {
    const kv_layout *l = &kv->layout;
    return kv->data + (size_t)page * l->page_bytes + (size_t)layer * l->layer_bytes +
           (size_t)head * l->head_bytes;
}

static unsigned char *keys_at(const kv_layout *l, unsigned char *head, int slot) {
    return head + (size_t)(slot / KV_BLOCK) * l->key_block_bytes;
}

static unsigned char *values_at(const kv_layout *l, unsigned char *head) {
    return head + (size_t)(l->page_tokens / KV_BLOCK) * l->key_block_bytes;
}

static unsigned char *value_at(const kv_layout *l, unsigned char *head, int slot) {
    return values_at(l, head) + (size_t)slot * l->value_row_bytes;
}

static float *value_scales_at(const kv_layout *l, unsigned char *head, int slot) {
    return (float *)(void *)(values_at(l, head) + (size_t)l->page_tokens * l->value_row_bytes +
                             (size_t)slot * l->value_scale_bytes);
}

static float *key_scales_at(const kv_layout *l, unsigned char *block) {
    return (float *)(void *)(block + (size_t)l->k_dim * KV_BLOCK);
}

static size_t key_width(const kv_layout *l) {
    return l->type == KV_F32 ? sizeof(float) : l->type == KV_BF16 ? sizeof(uint16_t) : 1;
}

static size_t key_groups(const kv_layout *l) {
    return l->type == KV_Q8_0 ? (size_t)l->k_dim / Q8_GROUP : 0;
}

size_t kv_layout_token_bytes(const kv_layout *l) {
    return (size_t)l->n_layers * (size_t)l->n_kv_heads *
           ((size_t)l->k_dim * key_width(l) + key_groups(l) * sizeof(float) + l->value_row_bytes +
            l->value_scale_bytes);
}

/* One lane of a key block to or from bytes that lie side by side. */
static void lane_copy(unsigned char *block, size_t lane, unsigned char *row, size_t n, size_t width,
                      bool out) {
    for (size_t d = 0; d < n; d++) {
        unsigned char *in_block = block + (d * KV_BLOCK + lane) * width;
        memcpy(out ? row + d * width : in_block, out ? in_block : row + d * width, width);
    }
}

/* Both directions, so that they cannot disagree about the format. */
static void move_slots(const kv_pages *kv, int page, int slot, int n, unsigned char *row,
                       bool out) {
    const kv_layout *l = &kv->layout;
    assert(slot >= 0 && n >= 0 && slot + n <= l->page_tokens);
    const size_t k_bytes = (size_t)l->k_dim * key_width(l);
    for (int i = slot; i < slot + n; i++)
        for (int layer = 0; layer < l->n_layers; layer++)
            for (int h = 0; h < l->n_kv_heads; h++) {
                unsigned char *head = head_at(kv, page, layer, h), *block = keys_at(l, head, i);
                size_t lane = (size_t)(i % KV_BLOCK);
                lane_copy(block, lane, row, (size_t)l->k_dim, key_width(l), out);
                row += k_bytes;
                lane_copy((unsigned char *)key_scales_at(l, block), lane, row, key_groups(l),
                          sizeof(float), out);
                row += key_groups(l) * sizeof(float);
                unsigned char *parts[2] = {value_at(l, head, i),
                                           (unsigned char *)value_scales_at(l, head, i)};
                size_t bytes[2] = {l->value_row_bytes, l->value_scale_bytes};
                for (int p = 0; p < 2; p++) {
                    memcpy(out ? row : parts[p], out ? parts[p] : row, bytes[p]);
                    row += bytes[p];
                }
            }
}

void kv_pages_export(const kv_pages *kv, int page, int slot, int n, void *to) {
    move_slots(kv, page, slot, n, to, true);
}

void kv_pages_import(kv_pages *kv, int page, int slot, int n, const void *from) {
    move_slots(kv, page, slot, n, (unsigned char *)(uintptr_t)from, false);
}

size_t kv_layout_block_bytes(const kv_layout *l) {
    return l->key_block_bytes + KV_BLOCK * (l->value_row_bytes + l->value_scale_bytes);
}

static void move_block(const kv_pages *kv, int page, int slot, int layer, int head,
                       unsigned char *row, bool out) {
    const kv_layout *l = &kv->layout;
    assert(slot >= 0 && slot % KV_BLOCK == 0 && slot < l->page_tokens);
    unsigned char *h = head_at(kv, page, layer, head);
    unsigned char *parts[3] = {keys_at(l, h, slot), value_at(l, h, slot),
                               (unsigned char *)value_scales_at(l, h, slot)};
    const size_t bytes[3] = {l->key_block_bytes, KV_BLOCK * l->value_row_bytes,
                             KV_BLOCK * l->value_scale_bytes};
    for (int i = 0; i < 3; row += bytes[i++])
        memcpy(out ? row : parts[i], out ? parts[i] : row, bytes[i]);
}

void kv_pages_export_block(const kv_pages *kv, int page, int slot, int layer, int head, void *to) {
    move_block(kv, page, slot, layer, head, to, true);
}

void kv_pages_import_block(kv_pages *kv, int page, int slot, int layer, int head,
                           const void *from) {
    move_block(kv, page, slot, layer, head, (unsigned char *)(uintptr_t)from, false);
}

/* int8 codes of 32 floats, nearest even; returns the scale. */
static float round_q8(const float *x, int8_t *q) {
    float top = 0;
    for (int i = 0; i < Q8_GROUP; i++)
        if (fabsf(x[i]) > top) top = fabsf(x[i]);
    if (!(top <= 3.0e38f)) top = 3.0e38f;
    float inv = top > 1.0e-36f ? 127.0f / top : 0.0f;
    for (int i = 0; i < Q8_GROUP; i++) {
        float v = nearbyintf(x[i] * inv);
        q[i] = (int8_t)(v > 127.0f ? 127.0f : v >= -127.0f ? v : v < -127.0f ? -127.0f : 0.0f);
    }
    return top / 127.0f;
}

void kv_pages_store_key(kv_pages *kv, int page, int slot, int layer, int head, const float *k) {
    const kv_layout *l = &kv->layout;
    unsigned char *block = keys_at(l, head_at(kv, page, layer, head), slot);
    size_t lane = (size_t)(slot % KV_BLOCK);
    if (l->type == KV_F32) {
        float *to = (float *)(void *)block;
        for (size_t d = 0; d < (size_t)l->k_dim; d++) to[d * KV_BLOCK + lane] = k[d];
    } else if (l->type == KV_BF16) {
        uint16_t *to = (uint16_t *)(void *)block, t[64];
        for (int d0 = 0; d0 < l->k_dim; d0 += 64) {
            int n = l->k_dim - d0 < 64 ? l->k_dim - d0 : 64;
            kv->vec->to_bf16(t, k + d0, n);
            for (int d = 0; d < n; d++) to[(size_t)(d0 + d) * KV_BLOCK + lane] = t[d];
        }
    } else {
        int8_t q[Q8_GROUP], *to = (int8_t *)block;
        for (int d0 = 0; d0 < l->k_dim; d0 += Q8_GROUP) {
            key_scales_at(l, block)[(size_t)(d0 / Q8_GROUP) * KV_BLOCK + lane] =
                round_q8(k + d0, q);
            for (int d = 0; d < Q8_GROUP; d++) to[(size_t)(d0 + d) * KV_BLOCK + lane] = q[d];
        }
    }
}

static void store_value(kv_pages *kv, int page, int slot, int layer, int head, const float *v) {
    const kv_layout *l = &kv->layout;
    unsigned char *h = head_at(kv, page, layer, head), *to = value_at(l, h, slot);
    if (l->type == KV_F32)
        memcpy(to, v, l->value_row_bytes);
    else if (l->type == KV_BF16)
        kv->vec->to_bf16((uint16_t *)(void *)to, v, l->v_dim);
    else
        for (int g = 0; g < l->v_dim / Q8_GROUP; g++)
            value_scales_at(l, h, slot)[g] =
                round_q8(v + g * Q8_GROUP, (int8_t *)to + g * Q8_GROUP);
}

void kv_pages_store(kv_pages *kv, int page, int slot, int layer, int head, const float *k,
                    const float *v) {
    kv_pages_store_key(kv, page, slot, layer, head, k);
    store_value(kv, page, slot, layer, head, v);
}

static void load_value(const kv_pages *kv, unsigned char *h, int slot, float *v) {
    const kv_layout *l = &kv->layout;
    const unsigned char *from = value_at(l, h, slot);
    if (l->type == KV_F32)
        memcpy(v, from, l->value_row_bytes);
    else if (l->type == KV_BF16)
        kv->vec->from_bf16(v, (const uint16_t *)(const void *)from, l->v_dim);
    else
        for (int g = 0; g < l->v_dim / Q8_GROUP; g++)
            kv->vec->from_i8(v + g * Q8_GROUP, (const int8_t *)from + g * Q8_GROUP,
                             value_scales_at(l, h, slot)[g], Q8_GROUP);
}

void kv_pages_load(const kv_pages *kv, int page, int slot, int layer, int head, float *k,
                   float *v) {
    const kv_layout *l = &kv->layout;
    unsigned char *h = head_at(kv, page, layer, head), *block = keys_at(l, h, slot);
    size_t lane = (size_t)(slot % KV_BLOCK);
    for (size_t d = 0; k && d < (size_t)l->k_dim; d++) {
        size_t at = d * KV_BLOCK + lane;
        if (l->type == KV_F32)
            k[d] = ((const float *)(const void *)block)[at];
        else if (l->type == KV_BF16)
            kv->vec->from_bf16(&k[d], (const uint16_t *)(const void *)block + at, 1);
        else
            k[d] = (float)((const int8_t *)block)[at] *
                   key_scales_at(l, block)[d / Q8_GROUP * KV_BLOCK + lane];
    }
    if (v) load_value(kv, h, slot, v);
}

bool kv_pages_viewable(const kv_pages *kv, int v_stride) {
    return kv->layout.type == KV_F32 && kv->layout.v_dim == v_stride;
}

void kv_pages_view(const kv_pages *kv, int page, int slot, int layer, int head, const float **keys,
                   const float **values) {
    const kv_layout *l = &kv->layout;
    unsigned char *h = head_at(kv, page, layer, head);
    *keys = (const float *)(void *)keys_at(l, h, slot);
    *values = (const float *)(void *)value_at(l, h, slot);
}

void kv_pages_unpack(const kv_pages *kv, int page, int slot, int layer, int head, float *keys,
                     float *values, int v_stride) {
    const kv_layout *l = &kv->layout;
    unsigned char *h = head_at(kv, page, layer, head), *block = keys_at(l, h, slot);
    int n = l->k_dim * KV_BLOCK;
    if (l->type == KV_F32)
        memcpy(keys, block, l->key_block_bytes);
    else if (l->type == KV_BF16)
        kv->vec->from_bf16(keys, (const uint16_t *)(const void *)block, n);
    else
        for (int d = 0; d < l->k_dim; d++) {
            const float *scale = key_scales_at(l, block) + d / Q8_GROUP * KV_BLOCK;
            for (int j = 0; j < KV_BLOCK; j++)
                keys[d * KV_BLOCK + j] =
                    (float)((const int8_t *)block)[d * KV_BLOCK + j] * scale[j];
        }
    for (int j = 0; j < KV_BLOCK; j++)
        load_value(kv, h, slot + j, values + (size_t)j * (size_t)v_stride);
}
