/* Vectors of documents' titles. */
#include <stdlib.h>

#include "data/sqlite/sqlite_internal.h"
#include "kernels/buf.h"

int sqlite_titles_to_embed(store *base, int64_t collection, const char *embedder, int64_t after,
                           size_t limit, store_title **out, size_t *n, fo_err *err) {
    sqlite_store *s = sqlite_of(base);
    *n = 0;
    *out = calloc(limit ? limit : 1, sizeof **out);
    if (!*out) return fo_no_memory(err);
    sqlite_conn *c;
    sqlite3_stmt *st = NULL;
    int rc = sqlite_reader(s, true, &c, err);
    if (!rc) {
        rc = sqlite_query(c, &st, err,
                          "SELECT d.id, d.title FROM documents d "
                          "LEFT JOIN title_vectors v ON v.document = d.id AND v.embedder = ?2 "
                          "WHERE d.collection = ?1 AND d.id > ?3 AND d.title <> '' "
                          "AND v.document IS NULL ORDER BY d.id LIMIT ?4",
                          "isii", collection, embedder, after, (int64_t)limit);
        while (!rc && *n < limit && (rc = sqlite_step(c, st, err)) == 1) {
            bool oom = false;
            (*out)[*n] = (store_title){sqlite3_column_int64(st, 0), sqlite_column(st, 1, &oom)};
            rc = oom ? fo_no_memory(err) : FO_OK;
            *n += !oom;
        }
        if (st) sqlite3_reset(st);
        sqlite_reader_release(s, c);
    }
    if (!rc) return FO_OK;
    while (*n) free((*out)[--*n].text);
    free(*out);
    *out = NULL;
    return rc;
}

int sqlite_put_title_vectors(store_txn *base, const char *tenant, const char *embedder,
                             const store_title *titles, const float *vectors, size_t n,
                             uint32_t dim, fo_err *err) {
    sqlite_txn *t = sqlite_txn_of(base);
    const size_t bytes = (size_t)dim * sizeof *vectors;
    int rc = FO_OK;
    for (size_t i = 0; !rc && i < n; i++) {
        const float *v = vectors + i * dim;
        rc = sqlite_run(t->c, err,
                        "INSERT OR REPLACE INTO title_vectors (document, tenant, embedder, vector, "
                        "crc) SELECT ?1, ?2, ?3, ?4, ?5 "
                        "WHERE EXISTS (SELECT 1 FROM documents WHERE id = ?1 AND title = ?6)",
                        "issbis", titles[i].document, tenant, embedder, v, bytes,
                        (int64_t)sqlite_vector_crc(titles[i].document, v, bytes), titles[i].text);
    }
    return sqlite_txn_failed(t, rc, err);
}

int sqlite_each_title_vector(store *base, int64_t collection, const char *embedder,
                             store_title_vector_fn *fn, void *ctx, fo_err *err) {
    sqlite_store *s = sqlite_of(base);
    sqlite_conn *c;
    int rc = sqlite_reader(s, true, &c, err);
    if (rc) return rc;
    sqlite3_stmt *st = NULL;
    fo_buf vector = {0}; /* aligned, as a row is not */
    rc = sqlite_query(c, &st, err,
                      "SELECT v.document, v.vector, v.crc FROM title_vectors v "
                      "JOIN documents d ON d.id = v.document "
                      "WHERE d.collection = ?1 AND v.embedder = ?2 ORDER BY v.document",
                      "is", collection, embedder);
    while (!rc && (rc = sqlite_step(c, st, err)) == 1) {
        rc = FO_OK;
        const int64_t document = sqlite3_column_int64(st, 0);
        const void *row = sqlite3_column_blob(st, 1);
        const size_t bytes = (size_t)sqlite3_column_bytes(st, 1);
        if (!row ||
            sqlite_vector_crc(document, row, bytes) != (uint64_t)sqlite3_column_int64(st, 2))
            continue;
        fo_buf_clear(&vector);
        fo_buf_add(&vector, row, bytes);
        rc = vector.failed ? fo_no_memory(err)
                           : fn(ctx, document, (const float *)(const void *)vector.data,
                                (uint32_t)(bytes / sizeof(float)));
    }
    if (st) sqlite3_reset(st);
    sqlite_reader_release(s, c);
    fo_buf_free(&vector);
    return rc;
}
