#include "engine/gguf/safetensors.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "kernels/buf.h"
#include "kernels/map_guard.h"

enum { MAX_HEADER = 100 << 20 }; /* the format's own limit */

struct safetensors {
    fo_guarded_file file;        /* none: of memory */
    cJSON *header;               /* owns the names */
    safetensors_tensor *tensors; /* sorted by name */
    size_t n;
};

static const struct {
    const char *name;
    uint32_t type, bytes;
} dtypes[] = {
    {"F64", QUANT_F64, 8},       {"F32", QUANT_F32, 4},      {"F16", QUANT_F16, 2},
    {"BF16", QUANT_BF16, 2},     {"I64", QUANT_I64, 8},      {"I32", QUANT_I32, 4},
    {"I16", QUANT_I16, 2},       {"I8", QUANT_I8, 1},        {"U8", QUANT_TYPE_END, 1},
    {"U16", QUANT_TYPE_END, 2},  {"U32", QUANT_TYPE_END, 4}, {"U64", QUANT_TYPE_END, 8},
    {"BOOL", QUANT_TYPE_END, 1},
};

/* A JSON number that is an integer from 0 to 2^53. */
static bool read_count(const cJSON *v, uint64_t *out) {
    if (!cJSON_IsNumber(v) || !(v->valuedouble >= 0) || v->valuedouble > 0x1p53) return false;
    *out = (uint64_t)v->valuedouble;
    return (double)*out == v->valuedouble;
}

static int read_shape(const cJSON *item, safetensors_tensor *t, fo_err *err) {
    const cJSON *shape = cJSON_GetObjectItemCaseSensitive(item, "shape"), *v;
    if (!cJSON_IsArray(shape) || cJSON_GetArraySize(shape) > SAFETENSORS_MAX_DIMS)
        return fo_fail(err, FO_ECORRUPT, "tensor '%.100s' has no shape of up to %d dimensions",
                       t->name, SAFETENSORS_MAX_DIMS);
    t->n_values = 1;
    cJSON_ArrayForEach(v, shape) {
        uint64_t d;
        if (!read_count(v, &d) || __builtin_mul_overflow(t->n_values, d, &t->n_values))
            return fo_fail(err, FO_ECORRUPT, "tensor '%.100s' has a shape that is no number",
                           t->name);
        t->dims[t->n_dims++] = d;
    }
    return FO_OK;
}

static int read_tensor(const cJSON *item, const unsigned char *base, uint64_t data_bytes,
                       safetensors_tensor *t, fo_err *err) {
    t->name = item->string;
    const cJSON *dtype = cJSON_GetObjectItemCaseSensitive(item, "dtype");
    const cJSON *range = cJSON_GetObjectItemCaseSensitive(item, "data_offsets");
    if (!cJSON_IsString(dtype) || strlen(dtype->valuestring) >= sizeof t->dtype)
        return fo_fail(err, FO_ECORRUPT, "tensor '%.100s' has no dtype", t->name);
    memcpy(t->dtype, dtype->valuestring, strlen(dtype->valuestring) + 1);
    int rc = read_shape(item, t, err);
    if (rc) return rc;
    uint64_t begin, end;
    if (!cJSON_IsArray(range) || cJSON_GetArraySize(range) != 2 ||
        !read_count(cJSON_GetArrayItem(range, 0), &begin) ||
        !read_count(cJSON_GetArrayItem(range, 1), &end) || begin > end || end > data_bytes)
        return fo_fail(err, FO_ECORRUPT,
                       "tensor '%.100s' has no data_offsets within the file's %" PRIu64
                       " bytes of data",
                       t->name, data_bytes);
    t->data = base + begin;
    t->size_bytes = (size_t)(end - begin);
    t->type = QUANT_TYPE_END;
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        if (strcmp(dtypes[i].name, t->dtype)) continue;
        uint64_t bytes;
        if (__builtin_mul_overflow(t->n_values, dtypes[i].bytes, &bytes) || bytes != end - begin)
            return fo_fail(err, FO_ECORRUPT,
                           "tensor '%.100s' has %" PRIu64 " values of %s in %zu bytes", t->name,
                           t->n_values, t->dtype, t->size_bytes);
        t->type = (quant_type)dtypes[i].type;
    }
    return FO_OK;
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const safetensors_tensor *)a)->name, ((const safetensors_tensor *)b)->name);
}

static int parse(safetensors *s, const unsigned char *data, size_t size, fo_err *err) {
    uint64_t n;
    if (size < 10)
        return fo_fail(err, FO_ECORRUPT, "%zu bytes are too few for a safetensors file", size);
    memcpy(&n, data, 8);
    if (n > MAX_HEADER || n > size - 8)
        return fo_fail(err, FO_ECORRUPT,
                       "byte 0 claims a header of %" PRIu64 " bytes in a file of %zu", n, size);
    s->header = cJSON_ParseWithLength((const char *)data + 8, (size_t)n);
    if (!cJSON_IsObject(s->header))
        return fo_fail(err, FO_ECORRUPT, "the header at byte 8 is no JSON object");
    size_t count = (size_t)cJSON_GetArraySize(s->header);
    if (!(s->tensors = calloc(count + 1, sizeof *s->tensors)))
        return fo_fail(err, FO_ENOMEM, "out of memory for %zu tensors", count);
    const cJSON *item;
    cJSON_ArrayForEach(item, s->header) {
        if (!strcmp(item->string, "__metadata__")) continue;
        int rc = read_tensor(item, data + 8 + n, size - 8 - n, &s->tensors[s->n], err);
        if (rc) return rc;
        s->n++;
    }
    qsort(s->tensors, s->n, sizeof *s->tensors, by_name);
    for (size_t i = 1; i < s->n; i++)
        if (!by_name(&s->tensors[i - 1], &s->tensors[i]))
            return fo_fail(err, FO_ECORRUPT, "tensor '%.100s' stands in the file twice",
                           s->tensors[i].name);
    return FO_OK;
}

int safetensors_open_memory(safetensors **out, const void *data, size_t size, fo_err *err) {
    safetensors *s = calloc(1, sizeof *s);
    if (!s) return fo_no_memory(err);
    int rc = parse(s, data, size, err);
    if (rc) {
        safetensors_close(s);
        return rc;
    }
    *out = s;
    return FO_OK;
}

int safetensors_open(safetensors **out, const char *path, fo_err *err) {
    fo_guarded_file file;
    int rc = fo_guarded_file_open(&file, path, err);
    if (rc) return rc;
    safetensors *s = NULL;
    rc = safetensors_open_memory(&s, file.map.data, file.map.size, err);
    if (rc && err) fo_fail_prefix(err, "%s", path);
    /* What was read of bytes that the disk did not give says nothing, an error no more than a success. */
    const int lost = fo_guarded_file_check(&file, err);
    if (rc || lost) {
        safetensors_close(s);
        fo_guarded_file_close(&file);
        return lost ? lost : rc;
    }
    s->file = file;
    *out = s;
    return FO_OK;
}

int safetensors_intact(const safetensors *s, fo_err *err) {
    return fo_guarded_file_check(&s->file, err);
}

void safetensors_close(safetensors *s) {
    if (!s) return;
    cJSON_Delete(s->header);
    free(s->tensors);
    fo_guarded_file_close(&s->file);
    free(s);
}

size_t safetensors_count(const safetensors *s) {
    return s->n;
}

const safetensors_tensor *safetensors_at(const safetensors *s, size_t i) {
    return &s->tensors[i];
}

const safetensors_tensor *safetensors_find(const safetensors *s, const char *name) {
    const safetensors_tensor want = {.name = name};
    return bsearch(&want, s->tensors, s->n, sizeof *s->tensors, by_name);
}
