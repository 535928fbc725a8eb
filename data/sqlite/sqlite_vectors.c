/* Changing the embedder of a collection: vectors gathered in embeddings_next, adopted at once. */
#include <stdlib.h>

#include "data/sqlite/sqlite_internal.h"

int sqlite_chunks_to_embed(store *base, int64_t collection, const char *embedder, int64_t after,
                           size_t limit, int64_t **ids, size_t *n, fo_err *err) {
    sqlite_store *s = sqlite_of(base);
    *n = 0;
    *ids = calloc(limit ? limit : 1, sizeof **ids);
    if (!*ids) return fo_no_memory(err);
    sqlite_conn *c;
    int rc = sqlite_reader(s, false, &c, err);
    if (!rc) {
        sqlite3_stmt *st;
        rc = sqlite_query(c, &st, err,
                          "SELECT c.id FROM chunks c LEFT JOIN embeddings_next e "
                          "ON e.chunk = c.id AND e.embedder = ?2 "
                          "WHERE c.collection = ?1 AND c.id > ?3 AND e.chunk IS NULL "
                          "ORDER BY c.id LIMIT ?4",
                          "isii", collection, embedder, after, (int64_t)limit);
        while (!rc && (rc = sqlite_step(c, st, err)) == 1) {
            (*ids)[(*n)++] = sqlite3_column_int64(st, 0);
            rc = FO_OK;
            if (*n == limit) {
                sqlite3_reset(st);
                break;
            }
        }
        sqlite_reader_release(s, c);
    }
    if (rc) {
        free(*ids);
        *ids = NULL;
    }
    return rc;
}

int sqlite_gather_vectors(store_txn *base, const char *tenant, const char *embedder,
                          const int64_t *ids, const float *vectors, size_t n, uint32_t dim,
                          fo_err *err) {
    sqlite_txn *t = sqlite_txn_of(base);
    int rc = FO_OK;
    for (size_t i = 0; !rc && i < n; i++)
        rc = sqlite_run(
            t->c, err,
            "INSERT OR REPLACE INTO embeddings_next (chunk, tenant, embedder, vector, "
            "crc) SELECT ?1, ?2, ?3, ?4, ?5 "
            "WHERE EXISTS (SELECT 1 FROM chunks WHERE id = ?1)",
            "issbi", ids[i], tenant, embedder, vectors + i * dim, (size_t)dim * sizeof(float),
            (int64_t)sqlite_vector_crc(ids[i], vectors + i * dim, (size_t)dim * sizeof(float)));
    return sqlite_txn_failed(t, rc, err);
}

static int missing_vectors(sqlite_conn *c, int64_t collection, const char *embedder, int64_t *n,
                           fo_err *err) {
    sqlite3_stmt *st;
    int rc = sqlite_query(c, &st, err,
                          "SELECT count(*) FROM chunks c LEFT JOIN embeddings_next e "
                          "ON e.chunk = c.id AND e.embedder = ?2 "
                          "WHERE c.collection = ?1 AND e.chunk IS NULL",
                          "is", collection, embedder);
    if (rc) return rc;
    rc = sqlite_step(c, st, err);
    if (rc != 1) return rc < 0 ? rc : fo_fail(err, FO_ECORRUPT, "a count gave no row");
    *n = sqlite3_column_int64(st, 0);
    sqlite3_reset(st);
    return FO_OK;
}

int sqlite_adopt_vectors(store_txn *base, int64_t collection, const char *embedder, uint32_t dim,
                         fo_err *err) {
    sqlite_txn *t = sqlite_txn_of(base);
    sqlite_conn *c = t->c;
    int64_t missing = 0;
    int rc = missing_vectors(c, collection, embedder, &missing, err);
    if (!rc && missing)
        return fo_fail(err, FO_ECONFLICT, "%lld chunks have no vector of the new embedder yet",
                       (long long)missing);
    if (!rc)
        rc = sqlite_run(c, err,
                        "UPDATE embeddings SET (vector, crc) = (SELECT n.vector, n.crc "
                        "FROM embeddings_next n WHERE n.chunk = embeddings.chunk) "
                        "WHERE chunk IN (SELECT id FROM chunks WHERE collection = ?)",
                        "i", collection);
    if (!rc)
        rc = sqlite_run(c, err,
                        "DELETE FROM embeddings_next "
                        "WHERE chunk IN (SELECT id FROM chunks WHERE collection = ?)",
                        "i", collection);
    if (!rc)
        rc = sqlite_run(
            c, err,
            "UPDATE collections SET embedder = ?2, dim = ?3, alpha = -1, min_support = -1 "
            "WHERE id = ?1 AND n_chunks > 0",
            "isi", collection, embedder, (int64_t)dim);
    if (!rc) rc = sqlite_touch(t, collection, 0, 0, err);
    return sqlite_txn_failed(t, rc, err);
}
