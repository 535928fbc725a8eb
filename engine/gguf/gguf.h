/* gguf.h - reading and writing GGUF files (versions 2 and 3, little-endian).
 *
 *     gguf *g;
 *     if (gguf_open(&g, "model.gguf", &err)) ...
 *     uint64_t n_layers;
 *     if (gguf_get_u64(g, "llama.block_count", &n_layers, &err)) ...
 *     const gguf_tensor *t = gguf_find_tensor(g, "token_embd.weight");   // NULL if absent
 *     gguf_close(g);
 *
 * A file is mapped, never copied: every pointer handed out points into the mapping (or into
 * tables beside it) and is valid until gguf_close. The file is hostile: every count, length,
 * offset, type, alignment and product is checked when it is opened, and the error names the byte
 * offset. Afterwards a gguf is immutable: any thread may read it.
 *
 * Strings of the file carry a length and NO terminating NUL (gguf_str).
 * Source: the GGUF specification (gguf.md of ggml). */
#ifndef FORAGE_ENGINE_GGUF_H
#define FORAGE_ENGINE_GGUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "kernels/error.h"
#include "kernels/quant.h"

typedef struct gguf gguf;

typedef struct gguf_str {
    const char *ptr; /* not NUL-terminated; may hold any byte */
    size_t len;
} gguf_str;

typedef enum gguf_kind { /* the values are those that stand in the file */
                         GGUF_U8 = 0,
                         GGUF_I8 = 1,
                         GGUF_U16 = 2,
                         GGUF_I16 = 3,
                         GGUF_U32 = 4,
                         GGUF_I32 = 5,
                         GGUF_F32 = 6,
                         GGUF_BOOL = 7,
                         GGUF_STRING = 8,
                         GGUF_ARRAY = 9,
                         GGUF_U64 = 10,
                         GGUF_I64 = 11,
                         GGUF_F64 = 12,
                         GGUF_KIND_END = 13,
} gguf_kind;

typedef struct gguf_kv {
    gguf_str key;
    gguf_kind kind;       /* GGUF_ARRAY for arrays */
    gguf_kind elem;       /* kind of the elements; = kind for scalars */
    size_t n;             /* elements; 1 for scalars */
    const void *values;   /* numbers packed and unaligned; use the getters. NULL for strings */
    const gguf_str *strs; /* strings (n of them), else NULL */
    const void *raw;      /* the value's bytes in the file, kind not included */
    size_t raw_bytes;
} gguf_kv;

typedef struct gguf_tensor {
    gguf_str name;
    quant_type type;
    uint32_t n_dims;   /* 1 to 4 */
    uint64_t dims[4];  /* dims[0] is the length of a row, 1 beyond n_dims; none is 0 */
    uint64_t n_values; /* product of dims, at most INT64_MAX */
    uint64_t n_rows;   /* n_values / dims[0] */
    size_t row_bytes;  /* rows follow each other without padding */
    size_t size_bytes; /* row_bytes * n_rows */
    const void *data;  /* aligned in memory as general.alignment says (at least 1) */
} gguf_tensor;

/* Map and check a file. On error *out is untouched. FO_ENOTFOUND, FO_EIO, FO_ECORRUPT (with the
 * byte offset), FO_EUNSUPPORTED (version, byte order, a tensor type that Forage does not know),
 * FO_ENOMEM. */
int gguf_open(gguf **out, const char *path, fo_err *err);

/* The same over bytes in memory, which the caller keeps until gguf_close. */
int gguf_open_memory(gguf **out, const void *data, size_t size, fo_err *err);

/* A file of which some tensors are others: `base` with these n in place of those of their names, which base must have. It shares
 * all else with base, and ends before it; the data of the tensors, from malloc, are its own from then on, and freed with it.
 * It has no bytes as a whole (gguf_file_bytes 0). FO_EINVAL (a name that base has not), FO_ENOMEM. */
int gguf_overlay(gguf **out, const gguf *base, const gguf_tensor *with, size_t n, fo_err *err);

void gguf_close(gguf *g); /* NULL is fine; every pointer from g dies */

/* Was all that was read of a mapped file until now given by the disk (kernels/map_guard.h)? Where it was
 * not, zeroes stand in its place, and what was made of them is void: FO_EIO, with the file's name, now and
 * until it is opened anew. Any thread. */
int gguf_intact(const gguf *g, fo_err *err);

uint32_t gguf_version(const gguf *g);
size_t gguf_alignment(const gguf *g);
size_t gguf_file_bytes(const gguf *g);
const void *gguf_bytes(const gguf *g); /* gguf_file_bytes of them: the whole file */

/* --- metadata --- */
size_t gguf_n_kv(const gguf *g);
const gguf_kv *gguf_kv_at(const gguf *g, size_t i);       /* in file order */
const gguf_kv *gguf_find(const gguf *g, const char *key); /* NULL if absent; O(log n) */
static inline bool gguf_has(const gguf *g, const char *key) {
    return gguf_find(g, key) != NULL;
}

/* One value. FO_ENOTFOUND when the key is absent (*out untouched, so it may hold a default),
 * FO_ECORRUPT when it is of another kind or out of range. Any integer kind serves u64 and i64
 * where the value fits; any number serves f64. */
int gguf_get_u64(const gguf *g, const char *key, uint64_t *out, fo_err *err);
int gguf_get_i64(const gguf *g, const char *key, int64_t *out, fo_err *err);
int gguf_get_f64(const gguf *g, const char *key, double *out, fo_err *err);
int gguf_get_bool(const gguf *g, const char *key, bool *out, fo_err *err);
int gguf_get_str(const gguf *g, const char *key, gguf_str *out, fo_err *err);

/* The same for a key that a file may lack: absent is FO_OK with *out empty. */
int gguf_get_optional_str(const gguf *g, const char *key, gguf_str *out, fo_err *err);

/* Arrays. Of strings: (*out)[0..*n). Of bytes (u8 or i8): out->ptr[0..out->len). Of numbers, or of
 * integers alone: the kv, whose elements the two readers give. Errors as above. */
int gguf_get_strs(const gguf *g, const char *key, const gguf_str **out, size_t *n, fo_err *err);
int gguf_get_bytes(const gguf *g, const char *key, gguf_str *out, fo_err *err);
int gguf_get_numbers(const gguf *g, const char *key, const gguf_kv **out, fo_err *err);
int gguf_get_integers(const gguf *g, const char *key, const gguf_kv **out, fo_err *err);
double gguf_number_at(const gguf_kv *kv, size_t i);   /* i < kv->n; any numeric or bool kind */
int64_t gguf_integer_at(const gguf_kv *kv, size_t i); /* the same; floats truncated, saturated */

bool gguf_str_equal(gguf_str a, const char *b);
const char *gguf_kind_name(gguf_kind kind); /* "u32"; static */

/* --- tensors --- */
size_t gguf_n_tensors(const gguf *g);
const gguf_tensor *gguf_tensor_at(const gguf *g, size_t i);           /* in file order */
const gguf_tensor *gguf_find_tensor(const gguf *g, const char *name); /* NULL if absent */

/* The tensor of that name, which must have these dimensions (dims[1] = 1 for a vector ...).
 * FO_ENOTFOUND or FO_ECORRUPT with a sentence that names tensor and shapes. */
int gguf_need_tensor(const gguf *g, const char *name, uint64_t d0, uint64_t d1,
                     const gguf_tensor **out, fo_err *err);

/* Hints about data in a mapped file, n bytes of it: they are read next; they were read, and
 * are no more for long. What is forgotten takes no memory until it is touched again, and is then as
 * before. Nothing happens to a gguf over memory of the caller's. Any thread. */
void gguf_want(const gguf *g, const void *data, size_t n);
void gguf_forget(const gguf *g, const void *data, size_t n);

/* --- writing: metadata, then the list of tensors, then their data in that order ---
 *
 *     gguf_writer *w;
 *     gguf_writer_create(&w, "out.gguf", &err);
 *     gguf_put_str(w, "general.architecture", "bert");
 *     gguf_put_tensor(w, "token_embd.weight", QUANT_F16, 2, (uint64_t[]){384, 30522});
 *     gguf_write_data(w, rows, n_bytes, &err);      // any pieces; padding is the writer's
 *     gguf_writer_commit(w, &err);                  // the file appears now, whole
 *
 * The put functions keep the first failure; write_data and commit report it. One thread. */
typedef struct gguf_writer gguf_writer;

int gguf_writer_create(gguf_writer **out, const char *path, fo_err *err);
void gguf_put_u32(gguf_writer *w, const char *key, uint32_t v);
void gguf_put_u64(gguf_writer *w, const char *key, uint64_t v);
void gguf_put_f32(gguf_writer *w, const char *key, float v);
void gguf_put_bool(gguf_writer *w, const char *key, bool v);
void gguf_put_str(gguf_writer *w, const char *key, const char *v);
void gguf_put_str_n(gguf_writer *w, const char *key, gguf_str v);
void gguf_put_bytes(gguf_writer *w, const char *key, const void *v, size_t n); /* array of u8 */
void gguf_put_strs(gguf_writer *w, const char *key, const gguf_str *v, size_t n);
void gguf_put_i32s(gguf_writer *w, const char *key, const int32_t *v, size_t n);
void gguf_put_f32s(gguf_writer *w, const char *key, const float *v, size_t n);
void gguf_put_kv(gguf_writer *w, const gguf_kv *kv); /* copied from another file */
void gguf_put_tensor(gguf_writer *w, const char *name, quant_type type, uint32_t n_dims,
                     const uint64_t *dims);
int gguf_write_data(gguf_writer *w, const void *data, size_t n, fo_err *err);
int gguf_writer_commit(gguf_writer *w, fo_err *err); /* frees w whatever happens */
void gguf_writer_abort(gguf_writer *w);              /* nothing appears; NULL is fine */

#endif
