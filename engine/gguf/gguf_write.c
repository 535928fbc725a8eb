/* gguf_write.c - GGUF files written in one pass: the header grows in memory, tensor data streams.
 *
 *   put_* ... -> put_tensor ... -> write_data ... -> commit
 *   The first write_data (or commit) puts the header out; from then on puts fail. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "engine/gguf/gguf.h"
#include "kernels/buf.h"
#include "kernels/file.h"

enum { ALIGNMENT = 32 };

typedef struct slot {
    size_t bytes; /* of the tensor's data, padding not included */
} slot;

struct gguf_writer {
    fo_file_writer *file;
    fo_buf kv, infos;
    uint64_t n_kv, n_tensors;
    slot *slots;
    size_t cap_slots;
    uint64_t data_bytes; /* offset of the next tensor in the data part */
    size_t current;      /* tensor being written */
    size_t written;      /* bytes of it that are out */
    bool header_done;
    fo_err first; /* the first failure, kept */
};

int gguf_writer_create(gguf_writer **out, const char *path, fo_err *err) {
    gguf_writer *w = calloc(1, sizeof *w);
    if (!w) return fo_no_memory(err);
    int rc = fo_file_create_shared(&w->file, path, err);
    if (rc) {
        free(w);
        return rc;
    }
    *out = w;
    return FO_OK;
}

static void add_u32(fo_buf *b, uint32_t v) {
    fo_buf_add(b, &v, 4);
}

static void add_u64(fo_buf *b, uint64_t v) {
    fo_buf_add(b, &v, 8);
}

static void add_str(fo_buf *b, gguf_str s) {
    add_u64(b, s.len);
    fo_buf_add(b, s.ptr, s.len);
}

static bool begin_kv(gguf_writer *w, gguf_str key, gguf_kind kind) {
    assert(!w->header_done);
    if (w->first.code) return false;
    add_str(&w->kv, key);
    add_u32(&w->kv, (uint32_t)kind);
    w->n_kv++;
    return true;
}

static gguf_str from_c(const char *s) {
    return (gguf_str){s, strlen(s)};
}

static void put_scalar(gguf_writer *w, const char *key, gguf_kind kind, const void *v, size_t n) {
    if (begin_kv(w, from_c(key), kind)) fo_buf_add(&w->kv, v, n);
}

void gguf_put_u32(gguf_writer *w, const char *key, uint32_t v) {
    put_scalar(w, key, GGUF_U32, &v, sizeof v);
}

void gguf_put_u64(gguf_writer *w, const char *key, uint64_t v) {
    put_scalar(w, key, GGUF_U64, &v, sizeof v);
}

void gguf_put_f32(gguf_writer *w, const char *key, float v) {
    put_scalar(w, key, GGUF_F32, &v, sizeof v);
}

void gguf_put_bool(gguf_writer *w, const char *key, bool v) {
    uint8_t byte = v;
    put_scalar(w, key, GGUF_BOOL, &byte, 1);
}

void gguf_put_str_n(gguf_writer *w, const char *key, gguf_str v) {
    if (begin_kv(w, from_c(key), GGUF_STRING)) add_str(&w->kv, v);
}

void gguf_put_str(gguf_writer *w, const char *key, const char *v) {
    gguf_put_str_n(w, key, from_c(v));
}

static bool begin_array(gguf_writer *w, const char *key, gguf_kind elem, size_t n) {
    if (!begin_kv(w, from_c(key), GGUF_ARRAY)) return false;
    add_u32(&w->kv, (uint32_t)elem);
    add_u64(&w->kv, n);
    return true;
}

void gguf_put_bytes(gguf_writer *w, const char *key, const void *v, size_t n) {
    if (begin_array(w, key, GGUF_U8, n)) fo_buf_add(&w->kv, v, n);
}

void gguf_put_strs(gguf_writer *w, const char *key, const gguf_str *v, size_t n) {
    if (!begin_array(w, key, GGUF_STRING, n)) return;
    for (size_t i = 0; i < n; i++) add_str(&w->kv, v[i]);
}

void gguf_put_i32s(gguf_writer *w, const char *key, const int32_t *v, size_t n) {
    if (begin_array(w, key, GGUF_I32, n)) fo_buf_add(&w->kv, v, n * sizeof *v);
}

void gguf_put_f32s(gguf_writer *w, const char *key, const float *v, size_t n) {
    if (begin_array(w, key, GGUF_F32, n)) fo_buf_add(&w->kv, v, n * sizeof *v);
}

void gguf_put_kv(gguf_writer *w, const gguf_kv *kv) {
    if (begin_kv(w, kv->key, kv->kind)) fo_buf_add(&w->kv, kv->raw, kv->raw_bytes);
}

void gguf_put_tensor(gguf_writer *w, const char *name, quant_type type, uint32_t n_dims,
                     const uint64_t *dims) {
    assert(!w->header_done && n_dims >= 1 && n_dims <= 4);
    if (w->first.code) return;
    size_t bytes;
    bool ok = quant_row_bytes(type, dims[0], &bytes);
    for (uint32_t i = 1; ok && i < n_dims; i++) ok = fo_mul_size(bytes, (size_t)dims[i], &bytes);
    if (!ok) {
        const quant_traits *t = quant_type_traits(type);
        fo_fail(&w->first, FO_EINVAL, "tensor '%s' with rows of %llu cannot be stored as %s", name,
                (unsigned long long)dims[0], t ? t->name : "an unknown type");
        return;
    }
    if (w->n_tensors == w->cap_slots) {
        size_t cap = w->cap_slots ? 2 * w->cap_slots : 64;
        slot *grown = realloc(w->slots, cap * sizeof *grown);
        if (!grown) {
            fo_no_memory(&w->first);
            return;
        }
        w->slots = grown;
        w->cap_slots = cap;
    }
    w->slots[w->n_tensors++] = (slot){bytes};
    add_str(&w->infos, from_c(name));
    add_u32(&w->infos, n_dims);
    for (uint32_t i = 0; i < n_dims; i++) add_u64(&w->infos, dims[i]);
    add_u32(&w->infos, (uint32_t)type);
    add_u64(&w->infos, w->data_bytes);
    w->data_bytes += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static int write_header(gguf_writer *w, fo_err *err) {
    if (w->header_done) return FO_OK;
    if (!w->first.code && (w->kv.failed || w->infos.failed))
        fo_fail(&w->first, FO_ENOMEM, "out of memory for the header of a GGUF file");
    if (w->first.code) {
        if (err) *err = w->first;
        return w->first.code;
    }
    w->header_done = true;
    uint32_t head[2] = {0x46554747u, 3}; /* "GGUF", version */
    uint64_t counts[2] = {w->n_tensors, w->n_kv};
    int rc = fo_file_write(w->file, head, sizeof head, err);
    if (!rc) rc = fo_file_write(w->file, counts, sizeof counts, err);
    if (!rc) rc = fo_file_write(w->file, w->kv.data, w->kv.len, err);
    if (!rc && w->infos.len) rc = fo_file_write(w->file, w->infos.data, w->infos.len, err);
    if (!rc) rc = fo_file_pad(w->file, ALIGNMENT, err);
    return rc;
}

int gguf_write_data(gguf_writer *w, const void *data, size_t n, fo_err *err) {
    int rc = write_header(w, err);
    const char *p = data;
    while (!rc && n) {
        if (w->current == w->n_tensors)
            return fo_fail(err, FO_EINVAL, "more data than the listed tensors hold");
        size_t left = w->slots[w->current].bytes - w->written, take = n < left ? n : left;
        rc = fo_file_write(w->file, p, take, err);
        p += take;
        n -= take;
        w->written += take;
        if (!rc && take == left) {
            rc = fo_file_pad(w->file, ALIGNMENT, err);
            w->current++;
            w->written = 0;
        }
    }
    return rc;
}

static void free_writer(gguf_writer *w) {
    fo_buf_free(&w->kv);
    fo_buf_free(&w->infos);
    free(w->slots);
    free(w);
}

int gguf_writer_commit(gguf_writer *w, fo_err *err) {
    int rc = write_header(w, err);
    if (!rc && w->current != w->n_tensors)
        rc = fo_fail(err, FO_EINVAL, "tensor %zu of %llu lacks %zu bytes of its data", w->current,
                     (unsigned long long)w->n_tensors, w->slots[w->current].bytes - w->written);
    if (rc)
        fo_file_abort(w->file);
    else
        rc = fo_file_commit(w->file, err);
    free_writer(w);
    return rc;
}

void gguf_writer_abort(gguf_writer *w) {
    if (!w) return;
    fo_file_abort(w->file);
    free_writer(w);
}
