/* Documents: put, delete, get, list. A document's text lies in pieces (see schema.sql). */
#include "data/sqlite/sqlite_internal.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/buf.h"
#include "kernels/clock.h"
#include "kernels/hex.h"

#define COLUMNS "id, " STORE_DIGEST_COLUMNS ", text_sha256, digest"

/* ---- writing ----------------------------------------------------------------------------- */

typedef struct document_row { /* what a put or delete needs of the row that is there */
    int64_t id;               /* 0: no such document */
    unsigned char sha256[32];
    int64_t n_chunks, created_ms;
    bool retitled; /* its title is not the one that was asked about, or its row does not say */
    bool doubtful; /* its digest is wrong: so may n_chunks be */
    bool damaged;  /* the row, by its digest, or of late found so: the same content replaces it */
} document_row;

/* The document's row, as this connection sees it: 1 with *st on it, for the caller to reset; 0: there is none. */
static int step_to_document(sqlite_conn *c, int64_t collection, const char *id, sqlite3_stmt **st,
                            fo_err *err) {
    *st = NULL;
    int rc = sqlite_query(c, st, err,
                          "SELECT " COLUMNS " FROM documents WHERE collection = ? AND name = ?",
                          "is", collection, id);
    return rc ? rc : sqlite_step(c, *st, err);
}

/* Without a title and with an empty one is the same. */
static bool is_same_title(const char *a, const char *b) {
    return strcmp(a ? a : "", b ? b : "") == 0;
}

/* title: what the document is to be called from now on, or NULL where nobody asks. */
static int find_document(sqlite_store *s, sqlite_conn *c, int64_t collection, const char *id,
                         const char *title, document_row *out, fo_err *err) {
    *out = (document_row){0};
    sqlite3_stmt *st;
    int rc = step_to_document(c, collection, id, &st, err);
    if (rc != 1) return rc;
    sqlite_digest_fields f;
    unsigned char text_sha256[32];
    out->id = sqlite3_column_int64(st, 0);
    out->doubtful = !sqlite_digest_check_row(st, out->sha256, text_sha256, &f);
    out->retitled = out->doubtful || !is_same_title(f.title, title);
    out->damaged = out->doubtful || sqlite_known_damaged(s, out->id);
    out->n_chunks = f.n_chunks;
    out->created_ms = f.created_ms;
    sqlite3_reset(st);
    return FO_OK;
}

/* All that the table has, whatever the row says: they are to go. The collection has counted as many as the
 * row said when it was written, which a doubtful one no longer tells. */
static int list_chunks_of(sqlite_conn *c, document_row *row, int64_t **ids, size_t *n,
                          fo_err *err) {
    *ids = NULL;
    *n = 0;
    size_t cap = 64, count = 0;
    int64_t *list = malloc(cap * sizeof *list);
    if (!list) return fo_no_memory(err);
    sqlite3_stmt *st;
    int rc = sqlite_query(c, &st, err, "SELECT id FROM chunks WHERE document = ? ORDER BY ordinal",
                          "i", row->id);
    while (!rc && (rc = sqlite_step(c, st, err)) == 1) {
        rc = FO_OK;
        int64_t *more = count < cap ? list : realloc(list, (cap *= 2) * sizeof *list);
        if (!more) {
            sqlite3_reset(st);
            rc = fo_no_memory(err);
            break;
        }
        list = more;
        list[count++] = sqlite3_column_int64(st, 0);
    }
    if (rc) {
        free(list);
        return rc;
    }
    if (row->doubtful) row->n_chunks = (int64_t)count;
    *ids = list;
    *n = count;
    return FO_OK;
}

/* The collection's tenant; refuses vectors of another embedder than those that stay. */
static int check_collection(sqlite_txn *t, const store_document_in *doc, size_t n_chunks,
                            int64_t n_going, char **tenant, fo_err *err) {
    sqlite3_stmt *st;
    int rc = sqlite_query(t->c, &st, err,
                          "SELECT tenant, name, embedder, dim, n_chunks FROM collections "
                          "WHERE id = ?",
                          "i", doc->collection);
    if (rc) return rc;
    rc = sqlite_step(t->c, st, err);
    if (rc == 0)
        return fo_fail_field(err, FO_ENOTFOUND, "collection", "the collection does not exist");
    if (rc < 0) return rc;
    rc = FO_OK;
    const char *has = (const char *)sqlite3_column_text(st, 2);
    int64_t dim = sqlite3_column_int64(st, 3), n_staying = sqlite3_column_int64(st, 4) - n_going;
    if (n_chunks && n_staying > 0 && (strcmp(has, doc->embedder) != 0 || dim != doc->dim))
        rc = fo_fail(err, FO_EMISMATCH,
                     "collection '%s' holds vectors of another embedder (%.12s..., %lld "
                     "dimensions), this one is %.12s... with %u: start with the first embedder "
                     "again, or ingest into a new collection",
                     (const char *)sqlite3_column_text(st, 1), has, (long long)dim, doc->embedder,
                     doc->dim);
    bool oom = false;
    if (!rc) *tenant = sqlite_column(st, 0, &oom);
    sqlite3_reset(st);
    return oom ? fo_no_memory(err) : rc;
}

static int insert_text(sqlite_conn *c, const char *tenant, int64_t document, const char *text,
                       size_t len, fo_err *err) {
    int rc = FO_OK;
    for (size_t at = 0; !rc && at < len; at += TEXT_PIECE_BYTES) {
        size_t n = len - at < TEXT_PIECE_BYTES ? len - at : TEXT_PIECE_BYTES;
        int64_t id = document * TEXT_MAX_PIECES + (int64_t)(at / TEXT_PIECE_BYTES);
        rc = sqlite_run(c, err, "INSERT INTO texts (id, tenant, bytes) VALUES (?, ?, ?)", "isb", id,
                        tenant, text + at, n);
    }
    return rc;
}

static int insert_chunks(sqlite_conn *c, const char *tenant, const store_document_in *doc,
                         int64_t document, const store_chunk_in *chunks, size_t n, int64_t *first,
                         fo_err *err) {
    for (size_t i = 0; i < n; i++) {
        const store_chunk_in *k = &chunks[i];
        unsigned char digest[32];
        sqlite_digest_chunk(&(sqlite_digest_span){.document_id = doc->id,
                                                  .title = doc->title,
                                                  .uri = doc->uri,
                                                  .metadata = doc->metadata,
                                                  .ordinal = (int64_t)i,
                                                  .start_cp = (int64_t)k->start_cp,
                                                  .end_cp = (int64_t)k->end_cp,
                                                  .n_tokens = k->n_tokens,
                                                  .heading = doc->text + k->heading_start,
                                                  .heading_len = k->heading_end - k->heading_start,
                                                  .place = k->place,
                                                  .text = doc->text + k->start,
                                                  .text_len = k->end - k->start},
                            digest);
        int rc = sqlite_run(
            c, err,
            "INSERT INTO chunks (tenant, collection, document, ordinal, start, stop, start_cp, "
            "stop_cp, heading_start, heading_stop, n_tokens, digest, place) "
            "VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)",
            "siiiiiiiiiibs", tenant, doc->collection, document, (int64_t)i, (int64_t)k->start,
            (int64_t)k->end, (int64_t)k->start_cp, (int64_t)k->end_cp, (int64_t)k->heading_start,
            (int64_t)k->heading_end, (int64_t)k->n_tokens, digest, sizeof digest,
            k->place ? k->place : "");
        if (rc) return rc;
        int64_t id = sqlite3_last_insert_rowid(c->db);
        if (i == 0) *first = id;
        if (id != *first + (int64_t)i)
            return fo_fail(err, FO_ECORRUPT, "chunk ids do not follow each other");
        size_t n_bytes = (size_t)doc->dim * sizeof(float);
        rc = sqlite_run(c, err,
                        "INSERT INTO embeddings (chunk, tenant, vector, crc) VALUES (?, ?, ?, ?)",
                        "isbi", id, tenant, k->vector, n_bytes,
                        (int64_t)sqlite_vector_crc(id, k->vector, n_bytes));
        if (rc) return rc;
    }
    return FO_OK;
}

static int clear_document(sqlite_conn *c, int64_t document, fo_err *err) {
    int rc = sqlite_run(c, err, "DELETE FROM chunks WHERE document = ?", "i", document);
    if (!rc) rc = sqlite_run(c, err, "DELETE FROM title_vectors WHERE document = ?", "i", document);
    if (rc) return rc;
    return sqlite_run(c, err,
                      "DELETE FROM texts WHERE id BETWEEN ?1 * 65536 AND ?1 * 65536 + 65535", "i",
                      document);
}

static int write_document(sqlite_txn *t, const store_document_in *doc, const char *tenant,
                          const document_row *old, const store_chunk_in *chunks, size_t n,
                          store_put_result *out, fo_err *err) {
    sqlite_conn *c = t->c;
    int64_t now = fo_unix_ms();
    unsigned char text_sha256[32], digest[32];
    sqlite_digest_text(doc->text, doc->text_len, text_sha256);
    sqlite_digest_document(&(sqlite_digest_fields){.collection = doc->collection,
                                                   .id = doc->id,
                                                   .title = doc->title,
                                                   .uri = doc->uri,
                                                   .content_type = doc->content_type,
                                                   .metadata = doc->metadata,
                                                   .content_sha256 = doc->content_sha256,
                                                   .text_sha256 = text_sha256,
                                                   .text_bytes = (int64_t)doc->text_len,
                                                   .n_chunks = (int64_t)n,
                                                   .created_ms = old->id ? old->created_ms : now,
                                                   .updated_ms = now},
                           digest);
    int rc;
    if (old->id) {
        out->document = old->id;
        rc = clear_document(c, old->id, err);
        if (!rc)
            rc =
                sqlite_run(c, err,
                           "UPDATE documents SET content_sha256 = ?, text_bytes = ?, n_chunks = ?, "
                           "updated_ms = ?, title = ?, uri = ?, content_type = ?, metadata = ?, "
                           "text_sha256 = ?, digest = ? WHERE id = ?",
                           "biiissssbbi", doc->content_sha256, (size_t)32, (int64_t)doc->text_len,
                           (int64_t)n, now, doc->title, doc->uri, doc->content_type, doc->metadata,
                           text_sha256, sizeof text_sha256, digest, sizeof digest, old->id);
    } else {
        rc = sqlite_run(c, err,
                        "INSERT INTO documents (tenant, collection, name, content_sha256, "
                        "text_bytes, n_chunks, created_ms, updated_ms, title, uri, content_type, "
                        "metadata, text_sha256, digest) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                        "sisbiiiissssbb", tenant, doc->collection, doc->id, doc->content_sha256,
                        (size_t)32, (int64_t)doc->text_len, (int64_t)n, now, now, doc->title,
                        doc->uri, doc->content_type, doc->metadata, text_sha256, sizeof text_sha256,
                        digest, sizeof digest);
        out->document = sqlite3_last_insert_rowid(c->db);
    }
    if (!rc) rc = insert_text(c, tenant, out->document, doc->text, doc->text_len, err);
    if (!rc) rc = insert_chunks(c, tenant, doc, out->document, chunks, n, &out->first_chunk, err);
    if (!rc)
        rc = sqlite_touch(t, doc->collection, old->id ? 0 : 1, (int64_t)n - old->n_chunks, err);
    if (!rc && n)
        rc = sqlite_run(c, err, "UPDATE collections SET embedder = ?, dim = ? WHERE id = ?", "sii",
                        doc->embedder, (int64_t)doc->dim, doc->collection);
    return rc;
}

/* Between the savepoint and its release: on failure the document is as it was before. */
static int guarded(sqlite_txn *t, int rc, fo_err *err) {
    if (rc && !sqlite3_get_autocommit(t->c->db) &&
        (sqlite_run(t->c, NULL, "ROLLBACK TO document", "") != FO_OK ||
         sqlite_run(t->c, NULL, "RELEASE document", "") != FO_OK))
        sqlite_run(t->c, NULL, "ROLLBACK", "");
    else if (!rc)
        rc = sqlite_run(t->c, err, "RELEASE document", "");
    return sqlite_txn_failed(t, rc, err);
}

static int check_spans(const store_document_in *doc, const store_chunk_in *chunks, size_t n,
                       fo_err *err) {
    if (doc->text_len > (size_t)TEXT_PIECE_BYTES * TEXT_MAX_PIECES)
        return fo_fail(err, FO_ELIMIT, "the document's text is longer than 4 GiB");
    for (size_t i = 0; i < n; i++) {
        const store_chunk_in *k = &chunks[i];
        if (k->start > k->end || k->end > doc->text_len || k->heading_start > k->heading_end ||
            k->heading_end > doc->text_len || !k->vector)
            return fo_fail(err, FO_EINVAL, "chunk %zu has no vector or leaves the text", i);
    }
    return FO_OK;
}

int sqlite_put_document(store_txn *base, const store_document_in *doc, const store_chunk_in *chunks,
                        size_t n_chunks, store_put_result *out, fo_err *err) {
    sqlite_txn *t = sqlite_txn_of(base);
    *out = (store_put_result){0};
    int rc = sqlite_txn_usable(t, err);
    if (!rc) rc = check_spans(doc, chunks, n_chunks, err);
    if (rc) return rc;
    document_row old;
    rc = find_document(t->s, t->c, doc->collection, doc->id, doc->title, &old, err);
    if (rc) return sqlite_txn_failed(t, rc, err);
    if (old.id && memcmp(old.sha256, doc->content_sha256, 32) == 0 && !old.damaged) {
        out->status = STORE_UNCHANGED;
        out->document = old.id;
        return FO_OK;
    }
    out->status = old.id ? STORE_UPDATED : STORE_CREATED;
    out->retitled = old.retitled;
    char *tenant = NULL;
    if (old.id) rc = list_chunks_of(t->c, &old, &out->removed, &out->n_removed, err);
    if (!rc) rc = check_collection(t, doc, n_chunks, old.n_chunks, &tenant, err);
    size_t n_touched = t->n_touched;
    if (!rc) rc = sqlite_run(t->c, err, "SAVEPOINT document", "");
    if (!rc)
        rc = guarded(t, write_document(t, doc, tenant, &old, chunks, n_chunks, out, err), err);
    else
        sqlite_txn_failed(t, rc, err);
    free(tenant);
    if (!rc && old.id) sqlite_forget_damaged(t->s, old.id);
    if (rc) {
        t->n_touched = n_touched;
        free(out->removed);
        *out = (store_put_result){0};
    }
    return rc;
}

int sqlite_delete_document(store_txn *base, int64_t collection, const char *id,
                           const unsigned char *sha256, int64_t **removed, size_t *n_removed,
                           fo_err *err) {
    sqlite_txn *t = sqlite_txn_of(base);
    *removed = NULL;
    *n_removed = 0;
    int rc = sqlite_txn_usable(t, err);
    if (rc) return rc;
    document_row old;
    rc = find_document(t->s, t->c, collection, id, NULL, &old, err);
    if (rc) return sqlite_txn_failed(t, rc, err);
    if (!old.id) return fo_fail_field(err, FO_ENOTFOUND, "id", "document '%s' does not exist", id);
    if (sha256 && memcmp(old.sha256, sha256, 32) != 0)
        return fo_fail_field(err, FO_ECONFLICT, "id", "document '%s' has changed meanwhile", id);
    rc = list_chunks_of(t->c, &old, removed, n_removed, err);
    size_t n_touched = t->n_touched;
    if (!rc) rc = sqlite_run(t->c, err, "SAVEPOINT document", "");
    if (rc) {
        sqlite_txn_failed(t, rc, err);
    } else {
        rc = sqlite_run(t->c, err, "DELETE FROM documents WHERE id = ?", "i", old.id);
        if (!rc) rc = sqlite_touch(t, collection, -1, -old.n_chunks, err);
        rc = guarded(t, rc, err);
    }
    if (rc) {
        t->n_touched = n_touched;
        free(*removed);
        *removed = NULL;
        *n_removed = 0;
    }
    return rc;
}

/* ---- reading ----------------------------------------------------------------------------- */

int sqlite_document_unchanged(store *base, int64_t collection, const char *id,
                              const unsigned char sha256[32], bool *unchanged, size_t *n_chunks,
                              fo_err *err) {
    sqlite_store *s = sqlite_of(base);
    sqlite_conn *c;
    int rc = sqlite_reader(s, false, &c, err);
    if (rc) return rc;
    document_row row;
    rc = find_document(s, c, collection, id, NULL, &row, err);
    sqlite_reader_release(s, c);
    if (rc) return rc;
    *unchanged = row.id && memcmp(row.sha256, sha256, 32) == 0 && !row.damaged &&
                 !atomic_load(&s->unsure); /* then a commit has to say so */
    if (n_chunks) *n_chunks = *unchanged ? (size_t)row.n_chunks : 0;
    return FO_OK;
}

/* A row whose digest is another is damaged: of that nothing but its id is given out. */
static int read_row(sqlite3_stmt *st, store_document *out, unsigned char text_sha256[32],
                    fo_err *err) {
    bool oom = false;
    unsigned char sha[32];
    sqlite_digest_fields f;
    bool good = sqlite_digest_check_row(st, sha, text_sha256, &f);
    *out = (store_document){
        .rowid = sqlite3_column_int64(st, 0),
        .id = sqlite_column(st, 2, &oom),
        .damaged = !good,
    };
    if (!out->damaged) {
        out->title = sqlite_column(st, 3, &oom);
        out->uri = sqlite_column(st, 4, &oom);
        out->content_type = sqlite_column(st, 5, &oom);
        out->metadata = sqlite_column(st, 6, &oom);
        out->created_ms = f.created_ms;
        out->updated_ms = f.updated_ms;
        out->n_chunks = (size_t)f.n_chunks;
        out->text_bytes = (size_t)f.text_bytes;
        fo_hex_write(out->content_sha256, sha, 32);
    }
    if (!oom) return FO_OK;
    store_document_deinit(out);
    return fo_no_memory(err);
}

int sqlite_read_text(sqlite_conn *c, sqlite3_blob **blob, int64_t document, size_t start,
                     size_t end, char *out, fo_err *err) {
    while (start < end) {
        size_t piece = start / TEXT_PIECE_BYTES, offset = start % TEXT_PIECE_BYTES;
        size_t n = TEXT_PIECE_BYTES - offset;
        if (n > end - start) n = end - start;
        int64_t id = document * TEXT_MAX_PIECES + (int64_t)piece;
        int rc = *blob ? sqlite3_blob_reopen(*blob, id)
                       : sqlite3_blob_open(c->db, "main", "texts", "bytes", id, 0, blob);
        if (rc == SQLITE_OK) rc = sqlite3_blob_read(*blob, out, (int)n, (int)offset);
        if (rc != SQLITE_OK) {
            int failed = rc == SQLITE_ERROR /* no such row, or a row too short */
                             ? fo_fail(err, FO_ECORRUPT, "document %lld has lost text at byte %zu",
                                       (long long)document, start)
                             : sqlite_fail(c->db, err, "could not read the database");
            /* A handle that failed opens no other row either: the next text gets one of its own. */
            sqlite3_blob_close(*blob);
            *blob = NULL;
            return failed;
        }
        out += n;
        start += n;
    }
    return FO_OK;
}

/* The row of a document, as this connection sees it. */
static int read_document(sqlite_store *s, sqlite_conn *c, int64_t collection, const char *id,
                         store_document *out, unsigned char text_sha256[32], fo_err *err) {
    sqlite3_stmt *st;
    int rc = step_to_document(c, collection, id, &st, err);
    if (rc == 0)
        rc = fo_fail_field(err, FO_ENOTFOUND, "id", "document '%s' does not exist", id);
    else if (rc == 1)
        rc = read_row(st, out, text_sha256, err);
    sqlite3_reset(st);
    if (!rc && out->damaged) {
        rc = sqlite_refuse_damaged(s, out->rowid, out->id, err);
        store_document_deinit(out);
    }
    return rc;
}

int sqlite_txn_get_document(store_txn *base, int64_t collection, const char *id,
                            store_document *out, fo_err *err) {
    sqlite_txn *t = sqlite_txn_of(base);
    unsigned char text_sha256[32];
    int rc = sqlite_txn_usable(t, err);
    if (rc) return rc;
    return sqlite_txn_failed(t, read_document(t->s, t->c, collection, id, out, text_sha256, err),
                             err);
}

int sqlite_get_document(store *base, int64_t collection, const char *id, bool with_text,
                        store_document *out, fo_err *err) {
    sqlite_store *s = sqlite_of(base);
    sqlite_conn *c;
    int rc = sqlite_reader(s, with_text, &c, err);
    if (rc) return rc;
    unsigned char want[32], got[32];
    rc = read_document(s, c, collection, id, out, want, err);
    if (!rc && with_text) {
        sqlite3_blob *blob = NULL;
        out->text = malloc(out->text_bytes + 1);
        if (out->text) {
            rc = sqlite_read_text(c, &blob, out->rowid, 0, out->text_bytes, out->text, err);
            out->text[out->text_bytes] = 0;
            if (!rc) sqlite_digest_text(out->text, out->text_bytes, got);
            if (rc == FO_ECORRUPT || (!rc && memcmp(got, want, sizeof want) != 0))
                rc = sqlite_refuse_damaged(s, out->rowid, out->id, err);
        } else {
            rc = fo_no_memory(err);
        }
        sqlite3_blob_close(blob);
        if (rc) store_document_deinit(out);
    }
    sqlite_reader_release(s, c);
    return rc;
}

int sqlite_list_documents(store *base, int64_t collection, const char *after, size_t limit,
                          store_document **out, size_t *n, bool *has_more, fo_err *err) {
    sqlite_store *s = sqlite_of(base);
    *out = NULL;
    *n = 0;
    *has_more = false;
    if (limit < 1 || limit > 100000)
        return fo_fail_field(err, FO_EINVAL, "limit", "limit must be between 1 and 100000");
    store_document *list = calloc(limit, sizeof *list);
    if (!list) return fo_no_memory(err);
    sqlite_conn *c;
    int rc = sqlite_reader(s, false, &c, err);
    if (rc) {
        free(list);
        return rc;
    }
    size_t count = 0;
    unsigned char text_sha256[32];
    sqlite3_stmt *st;
    rc = sqlite_query(c, &st, err,
                      "SELECT " COLUMNS " FROM documents WHERE collection = ? AND name > ? "
                      "ORDER BY name LIMIT ?",
                      "isi", collection, after ? after : "", (int64_t)limit + 1);
    while (!rc && (rc = sqlite_step(c, st, err)) == 1) {
        *has_more = count == limit;
        rc = *has_more ? FO_OK : read_row(st, &list[count], text_sha256, err);
        if (*has_more || rc) {
            sqlite3_reset(st);
            break;
        }
        count++;
    }
    sqlite_reader_release(s, c);
    if (rc < 0) {
        for (size_t i = 0; i < count; i++) store_document_deinit(&list[i]);
        free(list);
        return rc;
    }
    *out = list;
    *n = count;
    return FO_OK;
}
