/* gguf.c - the checked GGUF reader.
 *
 * One pass with a cursor that never moves past the end; tables are allocated only after their
 * count was held against the bytes that are left, so that memory stays within a few times the
 * file's size whatever a header claims. Names are found by binary search in sorted indexes: no
 * hash that a hostile file could degrade. */
#include "engine/gguf/gguf.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "kernels/buf.h"
#include "kernels/file.h"
#include "kernels/map_guard.h"

enum { MAX_NAME = 65535, MAX_ALIGNMENT = 1 << 20 };

struct gguf {
    /* immutable after open */
    fo_guarded_file file; /* none: of memory */
    const gguf *under;    /* of an overlay; NULL: it is none */
    const unsigned char *base;
    size_t size;
    uint32_t version;
    size_t alignment;
    size_t n_kv, n_tensors;
    gguf_kv *kv;
    gguf_tensor *tensors;
    const gguf_kv **kv_sorted;
    const gguf_tensor **tensors_sorted;
};

static const struct {
    const char *name;
    uint8_t bytes;
} kinds[GGUF_KIND_END] = {
    [GGUF_U8] = {"u8", 1},       [GGUF_I8] = {"i8", 1},     [GGUF_U16] = {"u16", 2},
    [GGUF_I16] = {"i16", 2},     [GGUF_U32] = {"u32", 4},   [GGUF_I32] = {"i32", 4},
    [GGUF_F32] = {"f32", 4},     [GGUF_BOOL] = {"bool", 1}, [GGUF_STRING] = {"string", 0},
    [GGUF_ARRAY] = {"array", 0}, [GGUF_U64] = {"u64", 8},   [GGUF_I64] = {"i64", 8},
    [GGUF_F64] = {"f64", 8},
};

const char *gguf_kind_name(gguf_kind kind) {
    return (unsigned)kind < GGUF_KIND_END ? kinds[kind].name : "unknown";
}

/* --- the cursor --- */
typedef struct cursor {
    const unsigned char *base;
    size_t size, at;
    fo_err *err;
} cursor;

static int need(cursor *c, size_t n, const char *what) {
    if (c->size - c->at >= n) return FO_OK;
    return fo_fail(c->err, FO_ECORRUPT, "%s at byte %zu needs %zu bytes, but the file ends at %zu",
                   what, c->at, n, c->size);
}

static int read_u32(cursor *c, uint32_t *v, const char *what) {
    int rc = need(c, 4, what);
    if (rc) return rc;
    memcpy(v, c->base + c->at, 4);
    c->at += 4;
    return FO_OK;
}

static int read_u64(cursor *c, uint64_t *v, const char *what) {
    int rc = need(c, 8, what);
    if (rc) return rc;
    memcpy(v, c->base + c->at, 8);
    c->at += 8;
    return FO_OK;
}

static int read_str(cursor *c, gguf_str *s, size_t max, const char *what) {
    size_t start = c->at;
    uint64_t n;
    int rc = read_u64(c, &n, what);
    if (rc) return rc;
    if (n > c->size - c->at)
        return fo_fail(c->err, FO_ECORRUPT,
                       "%s at byte %zu claims %" PRIu64 " bytes, but the file ends at %zu", what,
                       start, n, c->size);
    if (n > max)
        return fo_fail(c->err, FO_ECORRUPT, "%s at byte %zu is %" PRIu64 " bytes long, over %zu",
                       what, start, n, max);
    s->ptr = (const char *)c->base + c->at;
    s->len = (size_t)n;
    c->at += (size_t)n;
    return FO_OK;
}

static int check_bools(cursor *c, const unsigned char *p, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (p[i] > 1)
            return fo_fail(c->err, FO_ECORRUPT, "bool at byte %zu is %u, neither 0 nor 1",
                           (size_t)(p - c->base) + i, p[i]);
    return FO_OK;
}

static int read_strs(cursor *c, gguf_kv *kv) {
    if (kv->n > (c->size - c->at) / 8)
        return fo_fail(c->err, FO_ECORRUPT,
                       "array at byte %zu claims %zu strings, more than the file can hold", c->at,
                       kv->n);
    gguf_str *strs = malloc((kv->n ? kv->n : 1) * sizeof *strs);
    if (!strs) return fo_fail(c->err, FO_ENOMEM, "out of memory for %zu strings", kv->n);
    kv->strs = strs; /* freed by gguf_close, also on error */
    for (size_t i = 0; i < kv->n; i++) {
        int rc = read_str(c, &strs[i], SIZE_MAX, "string");
        if (rc) return rc;
    }
    return FO_OK;
}

static int read_values(cursor *c, gguf_kv *kv) {
    if (kv->elem == GGUF_STRING) return read_strs(c, kv);
    size_t bytes;
    if (!fo_mul_size(kv->n, kinds[kv->elem].bytes, &bytes) || bytes > c->size - c->at)
        return fo_fail(c->err, FO_ECORRUPT,
                       "value at byte %zu claims %zu x %s, but the file ends at %zu", c->at, kv->n,
                       kinds[kv->elem].name, c->size);
    kv->values = c->base + c->at;
    c->at += bytes;
    return kv->elem == GGUF_BOOL ? check_bools(c, kv->values, kv->n) : FO_OK;
}

static int read_kind(cursor *c, gguf_kind *kind, const char *what) {
    size_t start = c->at;
    uint32_t v;
    int rc = read_u32(c, &v, what);
    if (rc) return rc;
    if (v >= GGUF_KIND_END)
        return fo_fail(c->err, FO_ECORRUPT, "%s at byte %zu is %u, which is none", what, start, v);
    *kind = (gguf_kind)v;
    return FO_OK;
}

static int read_kv(cursor *c, gguf_kv *kv) {
    size_t start = c->at;
    int rc = read_str(c, &kv->key, MAX_NAME, "metadata key");
    if (rc) return rc;
    if (!kv->key.len) return fo_fail(c->err, FO_ECORRUPT, "empty metadata key at byte %zu", start);
    if ((rc = read_kind(c, &kv->kind, "metadata type"))) return rc;
    kv->elem = kv->kind;
    kv->n = 1;
    kv->raw = c->base + c->at;
    size_t raw_at = c->at;
    if (kv->kind == GGUF_ARRAY) {
        if ((rc = read_kind(c, &kv->elem, "array type"))) return rc;
        if (kv->elem == GGUF_ARRAY)
            return fo_fail(c->err, FO_EUNSUPPORTED,
                           "array of arrays at byte %zu: Forage reads flat arrays", raw_at);
        uint64_t n;
        if ((rc = read_u64(c, &n, "array length"))) return rc;
        if (n > c->size)
            return fo_fail(c->err, FO_ECORRUPT,
                           "array at byte %zu claims %" PRIu64 " elements, more than the file",
                           raw_at, n);
        kv->n = (size_t)n;
    }
    if ((rc = read_values(c, kv))) return rc;
    kv->raw_bytes = c->at - raw_at;
    return FO_OK;
}

static int read_tensor(cursor *c, gguf_tensor *t, uint64_t *offset) {
    size_t start = c->at;
    int rc = read_str(c, &t->name, MAX_NAME, "tensor name");
    if (rc) return rc;
    if (!t->name.len) return fo_fail(c->err, FO_ECORRUPT, "empty tensor name at byte %zu", start);
    int name_len = t->name.len > 100 ? 100 : (int)t->name.len;
    size_t dims_at = c->at;
    if ((rc = read_u32(c, &t->n_dims, "tensor dimensions"))) return rc;
    if (t->n_dims < 1 || t->n_dims > 4)
        return fo_fail(c->err, FO_ECORRUPT, "tensor '%.*s' at byte %zu has %u dimensions, not 1-4",
                       name_len, t->name.ptr, dims_at, t->n_dims);
    for (int i = 0; i < 4; i++) t->dims[i] = 1;
    int64_t n = 1;
    for (uint32_t i = 0; i < t->n_dims; i++) {
        size_t at = c->at;
        if ((rc = read_u64(c, &t->dims[i], "tensor dimension"))) return rc;
        if (t->dims[i] == 0 || t->dims[i] > INT64_MAX ||
            __builtin_mul_overflow(n, (int64_t)t->dims[i], &n))
            return fo_fail(c->err, FO_ECORRUPT,
                           "dimension %u of tensor '%.*s' at byte %zu is %" PRIu64
                           ", which is zero or overflows",
                           i, name_len, t->name.ptr, at, t->dims[i]);
    }
    t->n_values = (uint64_t)n;
    t->n_rows = t->n_values / t->dims[0];
    size_t type_at = c->at;
    uint32_t type;
    if ((rc = read_u32(c, &type, "tensor type"))) return rc;
    const quant_traits *traits = quant_type_traits(type);
    if (!traits)
        return fo_fail(c->err, FO_EUNSUPPORTED,
                       "tensor '%.*s' at byte %zu has type %u, which Forage cannot read", name_len,
                       t->name.ptr, type_at, type);
    t->type = (quant_type)type;
    if (t->dims[0] % traits->block_size)
        return fo_fail(c->err, FO_ECORRUPT,
                       "tensor '%.*s' at byte %zu has rows of %" PRIu64
                       ", no multiple of the %u values in a block of %s",
                       name_len, t->name.ptr, dims_at, t->dims[0], traits->block_size,
                       traits->name);
    if (!quant_row_bytes(t->type, t->dims[0], &t->row_bytes) ||
        !fo_mul_size(t->row_bytes, (size_t)t->n_rows, &t->size_bytes))
        return fo_fail(c->err, FO_ECORRUPT, "size of tensor '%.*s' at byte %zu overflows", name_len,
                       t->name.ptr, dims_at);
    return read_u64(c, offset, "tensor offset");
}

/* --- sorted indexes --- */
static int compare_str(gguf_str a, gguf_str b) {
    if (a.len != b.len) return a.len < b.len ? -1 : 1;
    return memcmp(a.ptr, b.ptr, a.len);
}

static int by_key(const void *a, const void *b) {
    return compare_str((*(const gguf_kv *const *)a)->key, (*(const gguf_kv *const *)b)->key);
}

static int by_name(const void *a, const void *b) {
    return compare_str((*(const gguf_tensor *const *)a)->name,
                       (*(const gguf_tensor *const *)b)->name);
}

static int duplicate(const gguf *g, const char *what, gguf_str s, fo_err *err) {
    return fo_fail(err, FO_ECORRUPT, "%s '%.*s' at byte %zu stands in the file twice", what,
                   s.len > 100 ? 100 : (int)s.len, s.ptr,
                   (size_t)((const unsigned char *)s.ptr - g->base) - 8);
}

static int sort_kv(gguf *g, fo_err *err) {
    for (size_t i = 0; i < g->n_kv; i++) g->kv_sorted[i] = &g->kv[i];
    qsort(g->kv_sorted, g->n_kv, sizeof *g->kv_sorted, by_key);
    for (size_t i = 1; i < g->n_kv; i++)
        if (!compare_str(g->kv_sorted[i - 1]->key, g->kv_sorted[i]->key))
            return duplicate(g, "metadata key", g->kv_sorted[i]->key, err);
    return FO_OK;
}

static int sort_tensors(gguf *g, fo_err *err) {
    for (size_t i = 0; i < g->n_tensors; i++) g->tensors_sorted[i] = &g->tensors[i];
    qsort(g->tensors_sorted, g->n_tensors, sizeof *g->tensors_sorted, by_name);
    for (size_t i = 1; i < g->n_tensors; i++)
        if (!compare_str(g->tensors_sorted[i - 1]->name, g->tensors_sorted[i]->name))
            return duplicate(g, "tensor", g->tensors_sorted[i]->name, err);
    return FO_OK;
}

/* --- the whole file --- */
static int read_header(gguf *g, cursor *c) {
    if (c->size < 24 || memcmp(c->base, "GGUF", 4))
        return fo_fail(c->err, FO_ECORRUPT,
                       "not a GGUF file: byte 0 does not begin a header with the magic \"GGUF\"");
    c->at = 4;
    uint64_t n_tensors, n_kv;
    read_u32(c, &g->version, "version");
    if (g->version && !(g->version & 0xFFFF))
        return fo_fail(c->err, FO_EUNSUPPORTED,
                       "version at byte 4 is big-endian: convert the file to little-endian");
    if (g->version != 2 && g->version != 3)
        return fo_fail(c->err, FO_EUNSUPPORTED,
                       "version at byte 4 is %u; Forage reads GGUF versions 2 and 3", g->version);
    read_u64(c, &n_tensors, "tensor count");
    read_u64(c, &n_kv, "metadata count");
    /* The least a tensor takes is 33 bytes (a name of one letter, one dimension), a pair 14. */
    if (n_tensors > c->size / 33)
        return fo_fail(c->err, FO_ECORRUPT,
                       "byte 8 claims %" PRIu64 " tensors, more than the file can hold", n_tensors);
    if (n_kv > c->size / 14)
        return fo_fail(c->err, FO_ECORRUPT,
                       "byte 16 claims %" PRIu64 " metadata pairs, more than the file can hold",
                       n_kv);
    g->kv = calloc(n_kv + 1, sizeof *g->kv);
    g->kv_sorted = calloc(n_kv + 1, sizeof *g->kv_sorted);
    g->tensors = calloc(n_tensors + 1, sizeof *g->tensors);
    g->tensors_sorted = calloc(n_tensors + 1, sizeof *g->tensors_sorted);
    if (!g->kv || !g->kv_sorted || !g->tensors || !g->tensors_sorted)
        return fo_fail(c->err, FO_ENOMEM, "out of memory for the tables of a GGUF file");
    g->n_kv = (size_t)n_kv;
    g->n_tensors = (size_t)n_tensors;
    return FO_OK;
}

static int read_alignment(gguf *g, fo_err *err) {
    uint64_t a = 32;
    int rc = gguf_get_u64(g, "general.alignment", &a, err);
    if (rc && rc != FO_ENOTFOUND) return rc;
    if (a == 0 || a > MAX_ALIGNMENT || (a & (a - 1))) {
        const gguf_kv *kv = gguf_find(g, "general.alignment");
        return fo_fail(err, FO_ECORRUPT,
                       "general.alignment at byte %zu is %" PRIu64 ", no power of two up to %d",
                       (size_t)((const unsigned char *)kv->raw - g->base), a, MAX_ALIGNMENT);
    }
    g->alignment = (size_t)a;
    return FO_OK;
}

static int place_tensors(gguf *g, const uint64_t *offsets, size_t header_bytes, fo_err *err) {
    size_t begin = (header_bytes + g->alignment - 1) & ~(g->alignment - 1);
    for (size_t i = 0; i < g->n_tensors; i++) {
        gguf_tensor *t = &g->tensors[i];
        int name_len = t->name.len > 100 ? 100 : (int)t->name.len;
        if (offsets[i] % g->alignment)
            return fo_fail(err, FO_ECORRUPT,
                           "tensor '%.*s' has offset %" PRIu64 ", no multiple of the alignment %zu",
                           name_len, t->name.ptr, offsets[i], g->alignment);
        size_t end;
        if (begin > g->size || offsets[i] > g->size - begin ||
            !fo_add_size(begin + (size_t)offsets[i], t->size_bytes, &end) || end > g->size)
            return fo_fail(err, FO_ECORRUPT,
                           "tensor '%.*s' (%zu bytes at data offset %" PRIu64
                           ", file byte %zu + that) reaches past the file's end at %zu: truncated?",
                           name_len, t->name.ptr, t->size_bytes, offsets[i], begin, g->size);
        t->data = g->base + begin + offsets[i];
    }
    return FO_OK;
}

static int parse(gguf *g, fo_err *err) {
    cursor c = {.base = g->base, .size = g->size, .err = err};
    uint64_t *offsets = NULL;
    int rc = read_header(g, &c);
    for (size_t i = 0; !rc && i < g->n_kv; i++) rc = read_kv(&c, &g->kv[i]);
    if (!rc) rc = sort_kv(g, err);
    if (!rc) rc = read_alignment(g, err);
    if (rc) return rc;
    if (!(offsets = calloc(g->n_tensors + 1, sizeof *offsets)))
        return fo_fail(err, FO_ENOMEM, "out of memory for %zu tensors", g->n_tensors);
    for (size_t i = 0; !rc && i < g->n_tensors; i++)
        rc = read_tensor(&c, &g->tensors[i], &offsets[i]);
    if (!rc) rc = sort_tensors(g, err);
    if (!rc) rc = place_tensors(g, offsets, c.at, err);
    free(offsets);
    return rc;
}

int gguf_open_memory(gguf **out, const void *data, size_t size, fo_err *err) {
    gguf *g = calloc(1, sizeof *g);
    if (!g) return fo_no_memory(err);
    fo_err local = {0};
    g->base = data;
    g->size = size;
    int rc = parse(g, err ? err : &local);
    if (rc) {
        gguf_close(g);
        return rc;
    }
    if (err) *err = (fo_err){0}; /* an absent optional key left a sentence */
    *out = g;
    return FO_OK;
}

int gguf_open(gguf **out, const char *path, fo_err *err) {
    fo_guarded_file file;
    int rc = fo_guarded_file_open(&file, path, err);
    if (rc) return rc;
    gguf *g = NULL;
    rc = gguf_open_memory(&g, file.map.data, file.map.size, err);
    if (rc && err) fo_fail_prefix(err, "%s", path);
    /* What was read of bytes that the disk did not give says nothing, an error no more than a success. */
    const int lost = fo_guarded_file_check(&file, err);
    if (rc || lost) {
        gguf_close(g);
        fo_guarded_file_close(&file);
        return lost ? lost : rc;
    }
    g->file = file;
    *out = g;
    return FO_OK;
}

/* Binary search wants each name once: a tensor takes its place among the others where they stand. */
static int place_over(gguf *g, const gguf_tensor *with, fo_err *err) {
    const gguf_tensor **hit =
        bsearch(&with, g->tensors_sorted, g->n_tensors, sizeof *g->tensors_sorted, by_name);
    if (!hit)
        return fo_fail(err, FO_EINVAL, "an overlay of a tensor '%.*s' that the file has not",
                       with->name.len > 100 ? 100 : (int)with->name.len, with->name.ptr);
    g->tensors[*hit - g->tensors] = *with;
    return FO_OK;
}

int gguf_overlay(gguf **out, const gguf *base, const gguf_tensor *with, size_t n, fo_err *err) {
    gguf *g = calloc(1, sizeof *g);
    if (!g) return fo_no_memory(err);
    g->under = base;
    g->version = base->version;
    g->alignment = base->alignment;
    g->n_kv = base->n_kv;
    g->kv = base->kv;
    g->kv_sorted = base->kv_sorted;
    g->n_tensors = base->n_tensors;
    g->tensors = calloc(g->n_tensors + 1, sizeof *g->tensors);
    g->tensors_sorted = calloc(g->n_tensors + 1, sizeof *g->tensors_sorted);
    int rc = g->tensors && g->tensors_sorted ? FO_OK : fo_no_memory(err);
    for (size_t i = 0; !rc && i < g->n_tensors; i++) {
        g->tensors[i] = base->tensors[i];
        g->tensors_sorted[i] = &g->tensors[base->tensors_sorted[i] - base->tensors];
    }
    for (size_t i = 0; !rc && i < n; i++) rc = place_over(g, &with[i], err);
    if (rc) {
        free(g->tensors);
        free(g->tensors_sorted);
        free(g);
        return rc;
    }
    *out = g;
    return FO_OK;
}

static void close_overlay(gguf *g) {
    for (size_t i = 0; i < g->n_tensors; i++)
        if (g->tensors[i].data != g->under->tensors[i].data) free((void *)g->tensors[i].data);
    free(g->tensors);
    free(g->tensors_sorted);
    free(g);
}

int gguf_intact(const gguf *g, fo_err *err) {
    if (g->under) return gguf_intact(g->under, err);
    return fo_guarded_file_check(&g->file, err);
}

void gguf_close(gguf *g) {
    if (!g) return;
    if (g->under) {
        close_overlay(g);
        return;
    }
    for (size_t i = 0; i < g->n_kv; i++) free((void *)g->kv[i].strs);
    free(g->kv);
    free(g->kv_sorted);
    free(g->tensors);
    free(g->tensors_sorted);
    fo_guarded_file_close(&g->file);
    free(g);
}

void gguf_want(const gguf *g, const void *data, size_t n) {
    if (g->file.path) fo_map_want(data, n);
}

void gguf_forget(const gguf *g, const void *data, size_t n) {
    if (g && g->file.path) fo_map_forget(data, n);
}

uint32_t gguf_version(const gguf *g) {
    return g->version;
}
size_t gguf_alignment(const gguf *g) {
    return g->alignment;
}
size_t gguf_file_bytes(const gguf *g) {
    return g->size;
}
const void *gguf_bytes(const gguf *g) {
    return g->base;
}
size_t gguf_n_kv(const gguf *g) {
    return g->n_kv;
}
const gguf_kv *gguf_kv_at(const gguf *g, size_t i) {
    return &g->kv[i];
}
size_t gguf_n_tensors(const gguf *g) {
    return g->n_tensors;
}
const gguf_tensor *gguf_tensor_at(const gguf *g, size_t i) {
    return &g->tensors[i];
}

const gguf_kv *gguf_find(const gguf *g, const char *key) {
    const gguf_kv want = {.key = {key, strlen(key)}}, *p = &want;
    const gguf_kv **hit = bsearch(&p, g->kv_sorted, g->n_kv, sizeof *g->kv_sorted, by_key);
    return hit ? *hit : NULL;
}

const gguf_tensor *gguf_find_tensor(const gguf *g, const char *name) {
    const gguf_tensor want = {.name = {name, strlen(name)}}, *p = &want;
    const gguf_tensor **hit =
        bsearch(&p, g->tensors_sorted, g->n_tensors, sizeof *g->tensors_sorted, by_name);
    return hit ? *hit : NULL;
}

int gguf_need_tensor(const gguf *g, const char *name, uint64_t d0, uint64_t d1,
                     const gguf_tensor **out, fo_err *err) {
    const gguf_tensor *t = gguf_find_tensor(g, name);
    if (!t) return fo_fail(err, FO_ENOTFOUND, "the file has no tensor '%s'", name);
    if (t->dims[0] != d0 || t->dims[1] != d1 || t->dims[2] != 1 || t->dims[3] != 1)
        return fo_fail(err, FO_ECORRUPT,
                       "tensor '%s' is %" PRIu64 " x %" PRIu64 " x %" PRIu64 " x %" PRIu64
                       ", not %" PRIu64 " x %" PRIu64,
                       name, t->dims[0], t->dims[1], t->dims[2], t->dims[3], d0, d1);
    *out = t;
    return FO_OK;
}

/* --- values --- */
#define LOAD(type)                                                                                 \
    type v;                                                                                        \
    memcpy(&v, (const char *)kv->values + i * sizeof v, sizeof v)

double gguf_number_at(const gguf_kv *kv, size_t i) {
    switch (kv->elem) {
    case GGUF_F32: {
        LOAD(float);
        return v;
    }
    case GGUF_F64: {
        LOAD(double);
        return v;
    }
    case GGUF_U64: {
        LOAD(uint64_t);
        return (double)v;
    }
    default:
        return (double)gguf_integer_at(kv, i);
    }
}

static int64_t saturate(double v) {
    if (!(v > -0x1p63)) return v != v ? 0 : INT64_MIN;
    return v >= 0x1p63 ? INT64_MAX : (int64_t)v;
}

int64_t gguf_integer_at(const gguf_kv *kv, size_t i) {
    switch (kv->elem) {
    case GGUF_U8:
    case GGUF_BOOL: {
        LOAD(uint8_t);
        return v;
    }
    case GGUF_I8: {
        LOAD(int8_t);
        return v;
    }
    case GGUF_U16: {
        LOAD(uint16_t);
        return v;
    }
    case GGUF_I16: {
        LOAD(int16_t);
        return v;
    }
    case GGUF_U32: {
        LOAD(uint32_t);
        return v;
    }
    case GGUF_I32: {
        LOAD(int32_t);
        return v;
    }
    case GGUF_U64: {
        LOAD(uint64_t);
        return v > INT64_MAX ? INT64_MAX : (int64_t)v;
    }
    case GGUF_I64: {
        LOAD(int64_t);
        return v;
    }
    case GGUF_F32: {
        LOAD(float);
        return saturate((double)v);
    }
    case GGUF_F64: {
        LOAD(double);
        return saturate(v);
    }
    default:
        return 0;
    }
}

static bool is_integer(gguf_kind k) {
    return k != GGUF_F32 && k != GGUF_F64 && k != GGUF_BOOL && k != GGUF_STRING && k != GGUF_ARRAY;
}

static int find_kv(const gguf *g, const char *key, const gguf_kv **out, fo_err *err) {
    *out = gguf_find(g, key);
    return *out ? FO_OK : fo_fail(err, FO_ENOTFOUND, "the file has no metadata '%s'", key);
}

static int wrong_kind(const gguf *g, const gguf_kv *kv, const char *want, fo_err *err) {
    return fo_fail(err, FO_ECORRUPT, "metadata '%.*s' at byte %zu is %s%s, not %s",
                   kv->key.len > 100 ? 100 : (int)kv->key.len, kv->key.ptr,
                   (size_t)((const unsigned char *)kv->raw - g->base),
                   kv->kind == GGUF_ARRAY ? "an array of " : "", gguf_kind_name(kv->elem), want);
}

int gguf_get_u64(const gguf *g, const char *key, uint64_t *out, fo_err *err) {
    const gguf_kv *kv;
    int rc = find_kv(g, key, &kv, err);
    if (rc) return rc;
    if (!is_integer(kv->kind)) return wrong_kind(g, kv, "an integer", err);
    int64_t v = gguf_integer_at(kv, 0);
    if (kv->kind == GGUF_U64) {
        memcpy(out, kv->values, 8);
        return FO_OK;
    }
    if (v < 0) return wrong_kind(g, kv, "a number from 0 up", err);
    *out = (uint64_t)v;
    return FO_OK;
}

int gguf_get_i64(const gguf *g, const char *key, int64_t *out, fo_err *err) {
    const gguf_kv *kv;
    int rc = find_kv(g, key, &kv, err);
    if (rc) return rc;
    if (!is_integer(kv->kind)) return wrong_kind(g, kv, "an integer", err);
    if (kv->kind == GGUF_U64 && gguf_number_at(kv, 0) >= 0x1p63)
        return wrong_kind(g, kv, "an integer below 2^63", err);
    *out = gguf_integer_at(kv, 0);
    return FO_OK;
}

int gguf_get_f64(const gguf *g, const char *key, double *out, fo_err *err) {
    const gguf_kv *kv;
    int rc = find_kv(g, key, &kv, err);
    if (rc) return rc;
    if (!is_integer(kv->kind) && kv->kind != GGUF_F32 && kv->kind != GGUF_F64)
        return wrong_kind(g, kv, "a number", err);
    *out = gguf_number_at(kv, 0);
    return FO_OK;
}

int gguf_get_bool(const gguf *g, const char *key, bool *out, fo_err *err) {
    const gguf_kv *kv;
    int rc = find_kv(g, key, &kv, err);
    if (rc) return rc;
    if (kv->kind != GGUF_BOOL) return wrong_kind(g, kv, "a bool", err);
    *out = gguf_integer_at(kv, 0) != 0;
    return FO_OK;
}

int gguf_get_str(const gguf *g, const char *key, gguf_str *out, fo_err *err) {
    const gguf_kv *kv;
    int rc = find_kv(g, key, &kv, err);
    if (rc) return rc;
    if (kv->kind != GGUF_STRING) return wrong_kind(g, kv, "a string", err);
    *out = kv->strs[0];
    return FO_OK;
}

int gguf_get_optional_str(const gguf *g, const char *key, gguf_str *out, fo_err *err) {
    *out = (gguf_str){"", 0};
    return gguf_has(g, key) ? gguf_get_str(g, key, out, err) : FO_OK;
}

int gguf_get_strs(const gguf *g, const char *key, const gguf_str **out, size_t *n, fo_err *err) {
    const gguf_kv *kv;
    int rc = find_kv(g, key, &kv, err);
    if (rc) return rc;
    if (kv->kind != GGUF_ARRAY || kv->elem != GGUF_STRING)
        return wrong_kind(g, kv, "an array of strings", err);
    *out = kv->strs;
    *n = kv->n;
    return FO_OK;
}

int gguf_get_numbers(const gguf *g, const char *key, const gguf_kv **out, fo_err *err) {
    const gguf_kv *kv;
    int rc = find_kv(g, key, &kv, err);
    if (rc) return rc;
    if (kv->kind != GGUF_ARRAY || kv->elem == GGUF_STRING || kv->elem == GGUF_BOOL)
        return wrong_kind(g, kv, "an array of numbers", err);
    *out = kv;
    return FO_OK;
}

int gguf_get_integers(const gguf *g, const char *key, const gguf_kv **out, fo_err *err) {
    const gguf_kv *kv;
    int rc = find_kv(g, key, &kv, err);
    if (rc) return rc;
    if (kv->kind != GGUF_ARRAY || !is_integer(kv->elem))
        return wrong_kind(g, kv, "an array of integers", err);
    *out = kv;
    return FO_OK;
}

int gguf_get_bytes(const gguf *g, const char *key, gguf_str *out, fo_err *err) {
    const gguf_kv *kv;
    int rc = find_kv(g, key, &kv, err);
    if (rc) return rc;
    if (kv->kind != GGUF_ARRAY || (kv->elem != GGUF_U8 && kv->elem != GGUF_I8))
        return wrong_kind(g, kv, "an array of bytes", err);
    *out = (gguf_str){kv->values, kv->n};
    return FO_OK;
}

bool gguf_str_equal(gguf_str a, const char *b) {
    return a.len == strlen(b) && !memcmp(a.ptr, b, a.len);
}
