/* Chunks, as search reads them: a few by id, or all of a collection in order. */
#include "data/sqlite/sqlite_internal.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/buf.h"
#include "kernels/utf8.h"

enum { BEFORE_BYTES = 512 };

static int read_span(sqlite_conn *c, sqlite3_blob **blob, int64_t document, int64_t start,
                     int64_t end, char **out, fo_err *err) {
    if (start < 0 || end < start || end - start > STORE_MAX_TEXT)
        return fo_fail(err, FO_ECORRUPT, "document %lld has a chunk with a broken span",
                       (long long)document);
    char *text = malloc((size_t)(end - start) + 1);
    if (!text) return fo_no_memory(err);
    int rc = sqlite_read_text(c, blob, document, (size_t)start, (size_t)end, text, err);
    if (rc) {
        free(text);
        return rc;
    }
    text[end - start] = 0;
    *out = text;
    return FO_OK;
}

/* The chunk's own text, with what stands before it. */
static int read_chunk_text(sqlite_conn *c, sqlite3_blob **blob, store_chunk *out, fo_err *err) {
    size_t before = out->start < BEFORE_BYTES ? out->start : BEFORE_BYTES, cut = 0;
    char *text;
    if (out->end < out->start) before = 0; /* a broken span, which read_span names */
    int rc = read_span(c, blob, out->document, (int64_t)(out->start - before), (int64_t)out->end,
                       &text, err);
    if (rc) return rc;
    while (cut < before && !fo_utf8_boundary(text[cut])) cut++;
    memmove(text, text + cut, before - cut + out->end - out->start + 1);
    out->n_before = before - cut;
    out->text = text + out->n_before;
    out->text_len = out->end - out->start;
    return FO_OK;
}

static int get_chunk(sqlite_store *s, sqlite_conn *c, sqlite3_blob **blob, int64_t id,
                     store_chunk *out, fo_err *err) {
    sqlite3_stmt *st;
    int rc = sqlite_query(c, &st, err,
                          "SELECT c.document, c.ordinal, c.start, c.stop, c.start_cp, c.stop_cp, "
                          "c.heading_start, c.heading_stop, d.name, d.title, d.uri, d.metadata, "
                          "c.n_tokens, c.digest, c.place FROM chunks c JOIN documents d ON d.id = "
                          "c.document WHERE c.id = ?",
                          "i", id);
    if (rc) return rc;
    rc = sqlite_step(c, st, err);
    if (rc != 1) return rc;
    bool oom = false;
    *out = (store_chunk){
        .id = id,
        .document = sqlite3_column_int64(st, 0),
        .ordinal = (size_t)sqlite3_column_int64(st, 1),
        .start = (size_t)sqlite3_column_int64(st, 2),
        .end = (size_t)sqlite3_column_int64(st, 3),
        .start_cp = (size_t)sqlite3_column_int64(st, 4),
        .end_cp = (size_t)sqlite3_column_int64(st, 5),
        .document_id = sqlite_column(st, 8, &oom),
        .title = sqlite_column(st, 9, &oom),
        .uri = sqlite_column(st, 10, &oom),
        .metadata = sqlite_column(st, 11, &oom),
        .place = sqlite3_column_bytes(st, 14) ? sqlite_column(st, 14, &oom) : NULL,
    };
    int64_t heading_start = sqlite3_column_int64(st, 6), heading_end = sqlite3_column_int64(st, 7);
    int64_t n_tokens = sqlite3_column_int64(st, 12);
    unsigned char want[32] = {0}, got[32];
    bool known = sqlite3_column_bytes(st, 13) == 32;
    if (known) memcpy(want, sqlite3_column_blob(st, 13), 32);
    sqlite3_reset(st);
    if (oom) return fo_no_memory(err);
    rc = read_chunk_text(c, blob, out, err);
    size_t heading_len = 0;
    if (!rc) {
        if (heading_end > heading_start) heading_len = (size_t)(heading_end - heading_start);
        if (heading_len)
            rc = read_span(c, blob, out->document, heading_start, heading_end, &out->heading, err);
    }
    if (!rc) {
        sqlite_digest_chunk(&(sqlite_digest_span){.document_id = out->document_id,
                                                  .place = out->place,
                                                  .title = out->title,
                                                  .uri = out->uri,
                                                  .metadata = out->metadata,
                                                  .ordinal = (int64_t)out->ordinal,
                                                  .start_cp = (int64_t)out->start_cp,
                                                  .end_cp = (int64_t)out->end_cp,
                                                  .n_tokens = n_tokens,
                                                  .heading = out->heading,
                                                  .heading_len = heading_len,
                                                  .text = out->text,
                                                  .text_len = out->text_len},
                            got);
        if (!known || memcmp(want, got, sizeof want) != 0) rc = FO_ECORRUPT;
    }
    if (rc == FO_ECORRUPT) rc = sqlite_refuse_damaged(s, out->document, out->document_id, err);
    return rc;
}

int sqlite_get_chunks(store *base, const int64_t *ids, size_t n, store_chunk *out, fo_err *err) {
    sqlite_store *s = sqlite_of(base);
    memset(out, 0, n * sizeof *out);
    sqlite_conn *c;
    int rc = sqlite_reader(s, true, &c, err);
    if (rc) return rc;
    sqlite3_blob *blob = NULL;
    for (size_t i = 0; !rc && i < n; i++) rc = get_chunk(s, c, &blob, ids[i], &out[i], err);
    sqlite3_blob_close(blob);
    sqlite_reader_release(s, c);
    if (rc)
        for (size_t i = 0; i < n; i++) store_chunk_deinit(&out[i]);
    return rc;
}

int sqlite_get_text(store *base, int64_t document, size_t start, size_t end, char *out,
                    fo_err *err) {
    sqlite_store *s = sqlite_of(base);
    sqlite_conn *c;
    int rc = sqlite_reader(s, false, &c, err);
    if (rc) return rc;
    sqlite3_blob *blob = NULL;
    rc = sqlite_read_text(c, &blob, document, start, end, out, err);
    sqlite3_blob_close(blob);
    sqlite_reader_release(s, c);
    return rc;
}

/* The epoch as this connection's snapshot sees it; opens the snapshot where it is the first read.
 */
static int read_epoch(sqlite_conn *c, int64_t collection, int64_t *epoch, fo_err *err) {
    sqlite3_stmt *st;
    int rc =
        sqlite_query(c, &st, err, "SELECT epoch FROM collections WHERE id = ?", "i", collection);
    if (rc) return rc;
    rc = sqlite_step(c, st, err);
    if (rc == 0)
        return fo_fail(err, FO_ENOTFOUND, "collection %lld does not exist", (long long)collection);
    if (rc < 0) return rc;
    if (epoch) *epoch = sqlite3_column_int64(st, 0);
    sqlite3_reset(st);
    return FO_OK;
}

static const char *column_or_empty(sqlite3_stmt *st, int i) {
    const char *s = (const char *)sqlite3_column_text(st, i);
    return s ? s : "";
}

/* Vectors lie in the row at any address; the reader of a float array expects an aligned one. */
static int align_vector(sqlite3_stmt *st, int i, float **vector, size_t *cap, uint32_t *dim,
                        fo_err *err) {
    *dim = 0;
    if (sqlite3_column_type(st, i) != SQLITE_BLOB) return FO_OK;
    const void *p = sqlite3_column_blob(st, i);
    size_t n = (size_t)sqlite3_column_bytes(st, i);
    if (n > *cap) {
        free(*vector);
        *vector = malloc(n);
        *cap = *vector ? n : 0;
        if (!*vector) return fo_no_memory(err);
    }
    if (n) memcpy(*vector, p, n);
    *dim = (uint32_t)(n / sizeof(float));
    return FO_OK;
}

int sqlite_each_chunk(store *base, int64_t collection, int64_t after, store_index_fn *fn, void *ctx,
                      int64_t *epoch, fo_err *err) {
    sqlite_store *s = sqlite_of(base);
    sqlite_conn *c;
    int rc = sqlite_reader(s, true, &c, err);
    if (rc) return rc;
    sqlite3_blob *blob = NULL;
    sqlite3_stmt *st = NULL;
    fo_buf text = {0};
    float *vector = NULL;
    size_t cap_vector = 0;
    rc = read_epoch(c, collection, epoch, err);
    if (!rc)
        rc =
            sqlite_query(c, &st, err,
                         "SELECT c.id, c.document, c.start, c.stop, d.title, d.metadata, e.vector, "
                         "e.crc FROM chunks c JOIN documents d ON d.id = c.document "
                         "LEFT JOIN embeddings e ON e.chunk = c.id "
                         "WHERE c.collection = ? AND c.id > ? ORDER BY c.id",
                         "ii", collection, after);
    while (!rc && (rc = sqlite_step(c, st, err)) == 1) {
        int64_t start = sqlite3_column_int64(st, 2), end = sqlite3_column_int64(st, 3);
        store_index_row row = {
            .chunk = sqlite3_column_int64(st, 0),
            .document = sqlite3_column_int64(st, 1),
            .title = column_or_empty(st, 4),
            .metadata = column_or_empty(st, 5),
        };
        rc = FO_OK;
        fo_buf_clear(&text);
        bool span = start >= 0 && end >= start && end - start <= STORE_MAX_TEXT;
        if (!fo_buf_reserve(&text, span ? (size_t)(end - start) : 1))
            rc = fo_no_memory(err);
        else if (span)
            rc = sqlite_read_text(c, &blob, row.document, (size_t)start, (size_t)end, text.data,
                                  err);
        row.damaged = !span || rc == FO_ECORRUPT;
        if (rc == FO_ECORRUPT) rc = FO_OK;
        if (!rc) rc = align_vector(st, 6, &vector, &cap_vector, &row.dim, err);
        if (!rc) {
            row.text_len = row.damaged ? 0 : (size_t)(end - start);
            text.data[row.text_len] = 0;
            row.text = text.data;
            row.vector = row.dim ? vector : NULL;
            row.damaged |= row.dim && sqlite_vector_crc(row.chunk, vector, 4 * (size_t)row.dim) !=
                                          (uint64_t)sqlite3_column_int64(st, 7);
            rc = fn(ctx, &row);
        }
        if (rc) break;
    }
    if (st) sqlite3_reset(st);
    sqlite3_blob_close(blob);
    sqlite_reader_release(s, c);
    fo_buf_free(&text);
    free(vector);
    return rc;
}

static bool grow_ids(int64_t **list, size_t cap) {
    int64_t *grown = realloc(*list, cap * sizeof *grown);
    if (grown) *list = grown;
    return grown != NULL;
}

int sqlite_chunk_ids(store *base, int64_t collection, int64_t **ids, int64_t **documents, size_t *n,
                     int64_t *epoch, fo_err *err) {
    sqlite_store *s = sqlite_of(base);
    *ids = NULL;
    if (documents) *documents = NULL;
    *n = 0;
    sqlite_conn *c;
    int rc = sqlite_reader(s, true, &c, err);
    if (rc) return rc;
    int64_t *list = NULL, *of = NULL;
    size_t count = 0, cap = 0;
    sqlite3_stmt *st;
    rc = read_epoch(c, collection, epoch, err);
    if (!rc)
        rc = sqlite_query(c, &st, err,
                          "SELECT id, document FROM chunks WHERE collection = ? ORDER BY id", "i",
                          collection);
    while (!rc && (rc = sqlite_step(c, st, err)) == 1) {
        rc = FO_OK;
        if (count == cap) {
            cap = cap ? cap * 2 : 1024;
            if (!grow_ids(&list, cap) || (documents && !grow_ids(&of, cap))) {
                sqlite3_reset(st);
                rc = fo_no_memory(err);
                break;
            }
        }
        if (documents) of[count] = sqlite3_column_int64(st, 1);
        list[count++] = sqlite3_column_int64(st, 0);
    }
    sqlite_reader_release(s, c);
    if (rc) {
        free(list);
        free(of);
        return rc;
    }
    *ids = list;
    if (documents) *documents = of;
    *n = count;
    return FO_OK;
}
