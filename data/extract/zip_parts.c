/* See zip_parts.h. */
#include "data/extract/zip_parts.h"

#include <stdlib.h>
#include <string.h>
#include <zip.h>

enum {
    PIECE = 64 << 10,
    MOST_UNPACKED = 256 << 20, /* bytes, of all parts that are read */
    GRANTED_SHARE = 8,         /* time is given for one in so many bytes that come out */
};

struct zip_parts {
    builder *b;
    zip_t *zip;
    size_t unpacked;
    zip_int64_t
        last; /* the part that was read last: read again, it counts once; a third time is one more */
    size_t last_unpacked;
    char piece[PIECE];
};

int zip_parts_open(zip_parts **out, builder *b, const void *bytes, size_t n, fo_err *err) {
    zip_parts *z = calloc(1, sizeof *z);
    if (!z) return fo_no_memory(err);
    z->b = b;
    z->last = -1;
    zip_error_t why;
    zip_error_init(&why);
    zip_source_t *source = zip_source_buffer_create(bytes, n, 0, &why);
    z->zip = source ? zip_open_from_source(source, ZIP_RDONLY, &why) : NULL;
    int rc = FO_OK;
    if (!z->zip) {
        rc = fo_fail(err, FO_EINVAL, "its archive is damaged: %s", zip_error_strerror(&why));
        zip_source_free(source);
        free(z);
    } else {
        *out = z;
    }
    zip_error_fini(&why);
    return rc;
}

void zip_parts_close(zip_parts *z) {
    if (!z) return;
    zip_discard(z->zip);
    free(z);
}

bool zip_parts_has(zip_parts *z, const char *name) {
    return zip_name_locate(z->zip, name, 0) >= 0;
}

static int damaged(zip_file_t *f, const char *name, fo_err *err) {
    return fo_fail(err, FO_EINVAL, "its part %.100s is damaged: %s", name,
                   zip_error_strerror(zip_file_get_error(f)));
}

static int open_part(zip_parts *z, const char *name, zip_file_t **out, fo_err *err) {
    zip_int64_t at = zip_name_locate(z->zip, name, 0);
    if (at < 0) return fo_fail(err, FO_ENOTFOUND, "it has no part %.100s", name);
    zip_stat_t st;
    if (zip_stat_index(z->zip, (zip_uint64_t)at, 0, &st) == 0 &&
        st.valid & ZIP_STAT_ENCRYPTION_METHOD && st.encryption_method != ZIP_EM_NONE)
        return fo_fail(err, FO_EUNSUPPORTED, "it is encrypted and asks for a password");
    const bool again = at == z->last;
    if (again) z->unpacked -= z->last_unpacked;
    z->last = again ? -1 : at;
    z->last_unpacked = 0;
    *out = zip_fopen_index(z->zip, (zip_uint64_t)at, 0);
    return *out ? FO_OK
                : fo_fail(err, FO_EINVAL, "its part %.100s is damaged: %s", name,
                          zip_strerror(z->zip));
}

int zip_parts_each_piece(zip_parts *z, const char *name, zip_piece_fn *fn, void *ctx, fo_err *err) {
    zip_file_t *f = NULL;
    int rc = open_part(z, name, &f, err);
    if (rc) return rc;
    for (;;) {
        zip_int64_t n = zip_fread(f, z->piece, PIECE);
        if (n < 0) rc = damaged(f, name, err);
        if (n <= 0) break;
        z->unpacked += (size_t)n;
        z->last_unpacked += (size_t)n;
        if (z->unpacked > MOST_UNPACKED) {
            rc = fo_fail(err, FO_ELIMIT, "it unpacks to more than %d MiB", MOST_UNPACKED >> 20);
            break;
        }
        doc_budget_grant(z->b->budget, (size_t)n / GRANTED_SHARE);
        if (!builder_go_on(z->b, (size_t)n) || !fn(ctx, z->piece, (size_t)n)) break;
    }
    zip_fclose(f);
    return rc;
}

typedef struct gather {
    fo_buf *out;
    size_t most;
    bool over;
} gather;

static bool add_piece(void *ctx, const char *piece, size_t n) {
    gather *g = ctx;
    g->over = n > g->most - g->out->len;
    if (!g->over) fo_buf_add(g->out, piece, n);
    return !g->over && !g->out->failed;
}

int zip_parts_read(zip_parts *z, const char *name, size_t most, fo_buf *out, fo_err *err) {
    gather g = {out, most, false};
    int rc = zip_parts_each_piece(z, name, add_piece, &g, err);
    if (!rc && g.over)
        rc = fo_fail(err, FO_ELIMIT, "its part %.100s is longer than %zu MiB", name, most >> 20);
    if (!rc && out->failed) rc = fo_no_memory(err);
    if (!rc && !out->data) fo_buf_str(out, "");
    return rc;
}

void zip_parts_resolve(fo_buf *out, const char *base, const char *target) {
    fo_buf_clear(out);
    if (*target == '/') {
        fo_buf_str(out, target + 1);
        return;
    }
    const char *slash = strrchr(base, '/');
    if (slash) fo_buf_add(out, base, (size_t)(slash - base));
    while (*target) {
        size_t n = strcspn(target, "/");
        bool up = n == 2 && memcmp(target, "..", 2) == 0, same = n == 1 && *target == '.';
        if (up) {
            while (out->len && out->data[--out->len] != '/') {
            }
            if (out->data) out->data[out->len] = 0;
        } else if (n && !same) {
            if (out->len) fo_buf_char(out, '/');
            fo_buf_add(out, target, n);
        }
        target += n + (target[n] == '/');
    }
    if (!out->data) fo_buf_str(out, "");
}
