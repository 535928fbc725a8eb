/* safetensors.h - reading safetensors files: a JSON header of names, types and byte ranges, then
 * raw little-endian tensors.
 *
 * The file is mapped and hostile: header length, JSON, every shape and byte range are checked when
 * it is opened, errors name the tensor or the byte offset. Pointers live until safetensors_close.
 * Immutable after open; any thread may read.
 * Source: the safetensors format description (Hugging Face). */
#ifndef FORAGE_ENGINE_SAFETENSORS_H
#define FORAGE_ENGINE_SAFETENSORS_H

#include <stddef.h>
#include <stdint.h>
#include "kernels/error.h"
#include "kernels/quant.h"

typedef struct safetensors safetensors;

enum { SAFETENSORS_MAX_DIMS = 8 };

typedef struct safetensors_tensor {
    const char *name;                    /* NUL-terminated */
    char dtype[12];                      /* as the file says: "F32", "BF16", "I8", "U8", ... */
    quant_type type;                     /* QUANT_TYPE_END where Forage has no such number format */
    uint32_t n_dims;                     /* 0 for a scalar */
    uint64_t dims[SAFETENSORS_MAX_DIMS]; /* row-major: the last one is contiguous */
    uint64_t n_values;
    const void *data; /* NOT aligned: read it by quant_unpack_row or memcpy */
    size_t size_bytes;
} safetensors_tensor;

/* FO_ENOTFOUND, FO_EIO, FO_ECORRUPT, FO_ENOMEM. On error *out is untouched. */
int safetensors_open(safetensors **out, const char *path, fo_err *err);
/* The same over bytes that the caller keeps until close. */
int safetensors_open_memory(safetensors **out, const void *data, size_t size, fo_err *err);
void safetensors_close(safetensors *s);                    /* NULL is fine */
int safetensors_intact(const safetensors *s, fo_err *err); /* as gguf_intact */

size_t safetensors_count(const safetensors *s);
const safetensors_tensor *safetensors_at(const safetensors *s, size_t i);
const safetensors_tensor *safetensors_find(const safetensors *s, const char *name); /* or NULL */

#endif
