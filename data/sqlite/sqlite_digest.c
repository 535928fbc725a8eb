/* Digests of what is stored, by which text changed behind the store's back is found.
 *
 * A document's row carries the SHA-256 of its text and one over everything else that is said of it;
 * a chunk's row one over all that is served of the chunk. A vector has a CRC-32 over its chunk's id
 * and its bytes. They are made as rows are written and checked as rows are read; sqlite_verify.c
 * checks all of them. Fields are hashed with their lengths, so that none can pass for another. */
#include "data/sqlite/sqlite_internal.h"
#include "kernels/sha256.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static void add_number(fo_sha256 *c, int64_t v) {
    fo_sha256_add(c, &v, sizeof v);
}

static void add_bytes(fo_sha256 *c, const void *p, size_t n) {
    add_number(c, (int64_t)n);
    fo_sha256_add(c, p, n);
}

static void add_string(fo_sha256 *c, const char *s) {
    if (s)
        add_bytes(c, s, strlen(s));
    else
        add_number(c, -1);
}

void sqlite_digest_text(const char *text, size_t len, unsigned char out[32]) {
    fo_sha256_of(out, text, len);
}

void sqlite_digest_document(const sqlite_digest_fields *d, unsigned char out[32]) {
    fo_sha256 c;
    fo_sha256_begin(&c);
    add_string(&c, "document");
    add_number(&c, d->collection);
    add_string(&c, d->id);
    add_string(&c, d->title);
    add_string(&c, d->uri);
    add_string(&c, d->content_type);
    add_string(&c, d->metadata);
    add_bytes(&c, d->content_sha256, 32);
    add_bytes(&c, d->text_sha256, 32);
    add_number(&c, d->text_bytes);
    add_number(&c, d->n_chunks);
    add_number(&c, d->created_ms);
    add_number(&c, d->updated_ms);
    fo_sha256_end(&c, out);
}

void sqlite_digest_chunk(const sqlite_digest_span *k, unsigned char out[32]) {
    fo_sha256 c;
    fo_sha256_begin(&c);
    add_string(&c, "chunk");
    add_string(&c, k->document_id);
    add_string(&c, k->title);
    add_string(&c, k->uri);
    add_string(&c, k->metadata);
    add_number(&c, k->ordinal);
    add_number(&c, k->start_cp);
    add_number(&c, k->end_cp);
    add_number(&c, k->n_tokens);
    add_bytes(&c, k->heading, k->heading_len);
    add_bytes(&c, k->text, k->text_len);
    if (k->place && *k->place) add_string(&c, k->place); /* older rows have none */
    fo_sha256_end(&c, out);
}

uint32_t sqlite_vector_crc(int64_t chunk, const void *vector, size_t n) {
    uint32_t crc = (uint32_t)crc32_z(0, (const void *)&chunk, sizeof chunk);
    return (uint32_t)crc32_z(crc, vector, n);
}

bool sqlite_digest_same(sqlite3_stmt *st, int column, const unsigned char want[32]) {
    const void *p = sqlite3_column_blob(st, column);
    return p && sqlite3_column_bytes(st, column) == 32 && memcmp(p, want, 32) == 0;
}

/* STORE_DIGEST_COLUMNS, from column `at` on. Pointers are the statement's; text_sha256 is left NULL. */
static void read_row(sqlite3_stmt *st, int at, unsigned char content_sha256[32],
                     sqlite_digest_fields *out) {
    memset(content_sha256, 0, 32);
    if (sqlite3_column_bytes(st, at + 6) == 32)
        memcpy(content_sha256, sqlite3_column_blob(st, at + 6), 32);
    *out = (sqlite_digest_fields){.collection = sqlite3_column_int64(st, at),
                                  .id = (const char *)sqlite3_column_text(st, at + 1),
                                  .title = (const char *)sqlite3_column_text(st, at + 2),
                                  .uri = (const char *)sqlite3_column_text(st, at + 3),
                                  .content_type = (const char *)sqlite3_column_text(st, at + 4),
                                  .metadata = (const char *)sqlite3_column_text(st, at + 5),
                                  .content_sha256 = content_sha256,
                                  .text_bytes = sqlite3_column_int64(st, at + 7),
                                  .n_chunks = sqlite3_column_int64(st, at + 8),
                                  .created_ms = sqlite3_column_int64(st, at + 9),
                                  .updated_ms = sqlite3_column_int64(st, at + 10)};
}

bool sqlite_digest_check_row(sqlite3_stmt *st, unsigned char content_sha256[32],
                             unsigned char text_sha256[32], sqlite_digest_fields *out) {
    unsigned char digest[32];
    read_row(st, 1, content_sha256, out);
    memset(text_sha256, 0, 32);
    if (sqlite3_column_bytes(st, 12) == 32) memcpy(text_sha256, sqlite3_column_blob(st, 12), 32);
    out->text_sha256 = text_sha256;
    sqlite_digest_document(out, digest);
    return sqlite_digest_same(st, 13, digest);
}

/* ---- what was found damaged -------------------------------------------------------------- */

int sqlite_refuse_damaged(sqlite_store *s, int64_t document, const char *id, fo_err *err) {
    atomic_fetch_add_explicit(&s->n_refused, 1, memory_order_relaxed);
    fo_err text = {0};
    fo_fail(&text, FO_ECORRUPT,
            "document '%.200s' is damaged: what is stored is not what was ingested; ingest it "
            "again or delete it ('forage index verify' names all that are)",
            id ? id : "?");
    if (!sqlite_known_damaged(s, document)) {
        pthread_mutex_lock(&s->damaged_mu);
        s->damaged[s->n_damaged++ % STORE_DAMAGED] = document;
        pthread_mutex_unlock(&s->damaged_mu);
        fo_notice(&s->notices, "document_damaged", "%s", text.msg);
    }
    if (err) *err = text;
    return FO_ECORRUPT;
}

bool sqlite_known_damaged(sqlite_store *s, int64_t document) {
    pthread_mutex_lock(&s->damaged_mu);
    bool known = false;
    for (size_t i = 0; i < s->n_damaged && i < STORE_DAMAGED; i++)
        known |= s->damaged[i] == document;
    pthread_mutex_unlock(&s->damaged_mu);
    return known;
}

void sqlite_forget_damaged(sqlite_store *s, int64_t document) {
    pthread_mutex_lock(&s->damaged_mu);
    for (size_t i = 0; i < s->n_damaged && i < STORE_DAMAGED; i++)
        if (s->damaged[i] == document) s->damaged[i] = 0;
    pthread_mutex_unlock(&s->damaged_mu);
}

uint64_t sqlite_n_refused(const store *base) {
    const sqlite_store *s = (const sqlite_store *)base;
    return atomic_load_explicit(&s->n_refused, memory_order_relaxed);
}

/* ---- rows that were written before there were digests ------------------------------------ */

static int fill_chunks(sqlite_conn *c, int64_t document, const char *text, size_t len,
                       sqlite_digest_span k, fo_err *err) {
    sqlite3_stmt *st;
    int rc = sqlite_query(c, &st, err,
                          "SELECT id, ordinal, start, stop, start_cp, stop_cp, heading_start, "
                          "heading_stop, n_tokens FROM chunks WHERE document = ?",
                          "i", document);
    while (!rc && (rc = sqlite_step(c, st, err)) == 1) {
        int64_t v[9];
        for (int i = 0; i < 9; i++) v[i] = sqlite3_column_int64(st, i);
        rc = FO_OK;
        if (v[2] < 0 || v[3] < v[2] || (uint64_t)v[3] > len || v[6] < 0 || v[7] < v[6] ||
            (uint64_t)v[7] > len)
            rc =
                fo_fail(err, FO_ECORRUPT, "chunk %lld leaves its document's text", (long long)v[0]);
        k.ordinal = v[1];
        k.start_cp = v[4];
        k.end_cp = v[5];
        k.n_tokens = v[8];
        unsigned char digest[32];
        if (!rc) {
            k.text = text + v[2];
            k.text_len = (size_t)(v[3] - v[2]);
            k.heading = text + v[6];
            k.heading_len = (size_t)(v[7] - v[6]);
            sqlite_digest_chunk(&k, digest);
            rc = sqlite_run(c, err, "UPDATE chunks SET digest = ? WHERE id = ?", "bi", digest,
                            sizeof digest, v[0]);
        }
        if (rc) {
            sqlite3_reset(st);
            break;
        }
    }
    return rc;
}

static int fill_document(sqlite_conn *c, int64_t rowid, const sqlite_digest_fields *from,
                         fo_err *err) {
    sqlite_digest_fields d = *from;
    if (d.text_bytes < 0) return fo_fail(err, FO_ECORRUPT, "document '%s' has no length", d.id);
    char *text = malloc((size_t)d.text_bytes + 1);
    if (!text) return fo_no_memory(err);
    sqlite3_blob *blob = NULL;
    int rc = sqlite_read_text(c, &blob, rowid, 0, (size_t)d.text_bytes, text, err);
    sqlite3_blob_close(blob);
    unsigned char text_sha[32], digest[32];
    if (!rc) {
        sqlite_digest_text(text, (size_t)d.text_bytes, text_sha);
        d.text_sha256 = text_sha;
        sqlite_digest_document(&d, digest);
        rc = sqlite_run(c, err, "UPDATE documents SET text_sha256 = ?, digest = ? WHERE id = ?",
                        "bbi", text_sha, sizeof text_sha, digest, sizeof digest, rowid);
    }
    sqlite_digest_span k = {
        .document_id = d.id, .title = d.title, .uri = d.uri, .metadata = d.metadata};
    if (!rc) rc = fill_chunks(c, rowid, text, (size_t)d.text_bytes, k, err);
    free(text);
    return rc;
}

static int fill_vectors(sqlite_conn *c, const char *select, const char *update, fo_err *err) {
    sqlite3_stmt *st;
    int rc = sqlite_query(c, &st, err, select, "");
    while (!rc && (rc = sqlite_step(c, st, err)) == 1) {
        int64_t chunk = sqlite3_column_int64(st, 0);
        uint32_t crc = sqlite_vector_crc(chunk, sqlite3_column_blob(st, 1),
                                         (size_t)sqlite3_column_bytes(st, 1));
        rc = sqlite_run(c, err, update, "ii", (int64_t)crc, chunk);
        if (rc) sqlite3_reset(st);
    }
    return rc;
}

int sqlite_fill_digests(sqlite_conn *c, fo_err *err) {
    sqlite3_stmt *st;
    int rc = sqlite_query(c, &st, err,
                          "SELECT id, " STORE_DIGEST_COLUMNS " FROM documents ORDER BY id", "");
    while (!rc && (rc = sqlite_step(c, st, err)) == 1) {
        sqlite_digest_fields d;
        unsigned char sha[32] = {0};
        read_row(st, 1, sha, &d);
        rc = fill_document(c, sqlite3_column_int64(st, 0), &d, err);
        if (rc == FO_ECORRUPT) rc = FO_OK; /* without a digest it is refused when it is read */
        if (rc) sqlite3_reset(st);
    }
    if (!rc)
        rc = fill_vectors(c, "SELECT chunk, vector FROM embeddings",
                          "UPDATE embeddings SET crc = ? WHERE chunk = ?", err);
    if (!rc)
        rc = fill_vectors(c, "SELECT chunk, vector FROM embeddings_next",
                          "UPDATE embeddings_next SET crc = ? WHERE chunk = ?", err);
    return rc;
}
