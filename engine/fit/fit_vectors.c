#include "engine/fit/fit_vectors.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "kernels/buf.h"
#include "kernels/map_guard.h"
#include "kernels/paths.h"

struct fit_vectors {
    fo_guarded_file rows, scales; /* scales: none, of float32 */
    size_t dim, n;
    bool bytes;
};

static int open_scales(fit_vectors *v, const char *path, fo_err *err) {
    fo_buf name = {0};
    fo_buf_add(&name, path, strlen(path) - 3); /* without ".i8" */
    fo_buf_str(&name, ".scale.f32");
    int rc = name.failed ? fo_no_memory(err) : fo_guarded_file_open(&v->scales, name.data, err);
    if (!rc && v->scales.map.size != v->n * sizeof(float))
        rc = fo_fail(err, FO_EINVAL, "%s has %zu bytes for %zu rows of %s", name.data,
                     v->scales.map.size, v->n, path);
    fo_buf_free(&name);
    return rc;
}

int fit_vectors_open(fit_vectors **out, const char *path, size_t dim, fo_err *err) {
    bool bytes = fo_ends_with(path, ".i8");
    if (!bytes && !fo_ends_with(path, ".f32"))
        return fo_fail(err, FO_EINVAL, "%s: a file of vectors ends in .f32 or .i8", path);
    fit_vectors *v = calloc(1, sizeof *v);
    if (!v) return fo_no_memory(err);
    v->dim = dim;
    v->bytes = bytes;
    size_t row = dim * (bytes ? 1 : sizeof(float));
    int rc = fo_guarded_file_open(&v->rows, path, err);
    if (!rc && (v->rows.map.size == 0 || v->rows.map.size % row))
        rc = fo_fail(err, FO_EINVAL, "%s has %zu bytes, no multiple of a row of %zu", path,
                     v->rows.map.size, row);
    if (!rc) {
        v->n = v->rows.map.size / row;
        if (bytes) rc = open_scales(v, path, err);
    }
    if (rc) {
        fit_vectors_close(v);
        return rc;
    }
    *out = v;
    return FO_OK;
}

void fit_vectors_close(fit_vectors *v) {
    if (!v) return;
    fo_guarded_file_close(&v->rows);
    fo_guarded_file_close(&v->scales);
    free(v);
}

int fit_vectors_intact(const fit_vectors *v, fo_err *err) {
    const int rc = fo_guarded_file_check(&v->rows, err);
    return rc ? rc : fo_guarded_file_check(&v->scales, err);
}

size_t fit_vectors_count(const fit_vectors *v) {
    return v->n;
}

void fit_vectors_row(const fit_vectors *v, size_t i, float *out) {
    if (!v->bytes) {
        memcpy(out, v->rows.map.data + i * v->dim * sizeof(float), v->dim * sizeof(float));
        return;
    }
    const int8_t *row = (const int8_t *)v->rows.map.data + i * v->dim;
    float scale;
    memcpy(&scale, v->scales.map.data + i * sizeof scale, sizeof scale);
    for (size_t k = 0; k < v->dim; k++) out[k] = (float)row[k] * scale;
}
