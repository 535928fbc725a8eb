/* Everything that can be wrong with a store, looked for and named. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "data/sqlite/sqlite_internal.h"
#include "kernels/order.h"
#include "kernels/page_sums.h"
#include "kernels/utf8.h"

enum { MAX_ROWS = 200 /* that one check names */ };

typedef struct check {
    sqlite_conn *c;
    store_finding_fn *fn;
    void *ctx;
    store_check_counts counts;
    const char *tenant, *collection; /* at hand, NULL: none */
    fo_err *err;
} check;

static void found(check *k, enum store_fault fault, int64_t rowid, const char *document,
                  const char *fmt, ...) {
    char what[600];
    va_list ap;
    va_start(ap, fmt);
    fo_utf8_vprint(what, sizeof what, fmt, ap);
    va_end(ap);
    k->counts.n_findings++;
    k->fn(k->ctx, &(store_finding){fault, k->tenant, k->collection, document, rowid, what});
}

/* A statement failed: damage is a finding, anything else the end. */
static int failed(check *k, int rc, const fo_err *why, const char *what) {
    if (rc == FO_ECORRUPT) {
        found(k, STORE_FAULT_STRUCTURE, 0, NULL, "%s: %s", what, why->msg);
        return FO_OK;
    }
    if (k->err) *k->err = *why;
    return rc;
}

/* ---- SQLite's checks and our invariants --------------------------------------------------- */

/* A name that could lead out of a folder: an index lies in one that is called by its tenant and its collection, and a
 * database may come from a stranger's backup. */
#define NO_NAME(column)                                                                            \
    "(" column " = '' OR " column " GLOB '.*' OR " column " GLOB '*[^A-Za-z0-9_.-]*')"

/* Of all that runs by itself Forage has this alone, by schema.sql. Another would act on whatever is written. */
#define OWN_TRIGGER                                                                                \
    "CREATE TRIGGER documents_delete_texts AFTER DELETE ON documents BEGIN\n"                      \
    "    DELETE FROM texts WHERE id BETWEEN old.id * 65536 AND old.id * 65536 + 65535;\nEND"

/* Every query here must give no row; a row names what is wrong. */
static const char *const invariants[] = {
    "SELECT type || ' ' || name || ': no Forage made it' FROM sqlite_schema WHERE "
    "type IN ('trigger', 'view') AND sql IS NOT '" OWN_TRIGGER "'",
    "SELECT 'collection ' || id || ': its name, or that of its tenant, is none' FROM collections "
    "WHERE " NO_NAME("name") " OR " NO_NAME("tenant"),
    "SELECT 'collection ' || id || ': its document count is off' FROM collections c WHERE "
    "n_documents <> (SELECT count(*) FROM documents WHERE collection = c.id)",
    "SELECT 'collection ' || id || ': its chunk count is off' FROM collections c WHERE "
    "n_chunks <> (SELECT count(*) FROM chunks WHERE collection = c.id)",
    "SELECT 'collection ' || id || ': it has chunks and no embedder' FROM collections WHERE "
    "n_chunks > 0 AND embedder = ''",
    "SELECT 'document ' || id || ': its chunk count is off' FROM documents d WHERE "
    "n_chunks <> (SELECT count(*) FROM chunks WHERE document = d.id)",
    "SELECT 'document ' || id || ': its chunks are not in a row' FROM documents d WHERE "
    "n_chunks > 0 AND (SELECT max(id) - min(id) + 1 <> d.n_chunks OR max(ordinal) + 1 <> "
    "d.n_chunks FROM chunks WHERE document = d.id)",
    "SELECT 'document ' || id || ': its text has the wrong length' FROM documents d WHERE "
    "text_bytes <> (SELECT coalesce(sum(length(bytes)), 0) FROM texts WHERE id BETWEEN "
    "d.id * 65536 AND d.id * 65536 + 65535)",
    "SELECT 'text ' || id || ': its document is gone' FROM texts t WHERE NOT EXISTS "
    "(SELECT 1 FROM documents WHERE id = t.id / 65536)",
    "SELECT 'chunk ' || c.id || ': its span leaves the text' FROM chunks c JOIN documents d ON "
    "d.id = c.document WHERE start > stop OR start < 0 OR stop > d.text_bytes OR "
    "heading_start > heading_stop OR heading_start < 0 OR heading_stop > d.text_bytes",
    "SELECT 'chunk ' || c.id || ': it belongs to two collections' FROM chunks c JOIN documents d "
    "ON d.id = c.document WHERE d.collection <> c.collection",
    "SELECT 'chunk ' || c.id || ': its vector is missing or has the wrong length' FROM chunks c "
    "JOIN collections k ON k.id = c.collection LEFT JOIN embeddings e ON e.chunk = c.id "
    "WHERE e.vector IS NULL OR length(e.vector) <> 4 * k.dim",
    "SELECT 'the table home has no row' WHERE NOT EXISTS (SELECT 1 FROM home)",
};

/* fine: what a row says where nothing is wrong; NULL: any row is wrong. */
static int expect_no_row(check *k, const char *sql, const char *what, const char *fine) {
    sqlite3_stmt *st;
    fo_err why = {0};
    int rc = sqlite_query(k->c, &st, &why, sql, ""), n = 0;
    while (!rc && (rc = sqlite_step(k->c, st, &why)) == 1) {
        rc = FO_OK;
        const char *got = (const char *)sqlite3_column_text(st, 0);
        if (fine && got && strcmp(got, fine) == 0) continue;
        if (n++ < MAX_ROWS) found(k, STORE_FAULT_STRUCTURE, 0, NULL, "%s%s", what, got ? got : "?");
    }
    if (n > MAX_ROWS)
        found(k, STORE_FAULT_STRUCTURE, 0, NULL, "and %d more of the kind", n - MAX_ROWS);
    return rc < 0 ? failed(k, rc, &why, "a check could not be made") : FO_OK;
}

static int check_structure(check *k) {
    int rc = expect_no_row(k, "PRAGMA integrity_check(200)", "", "ok");
    if (!rc) rc = expect_no_row(k, "PRAGMA foreign_key_check", "dangling row in ", NULL);
    for (size_t i = 0; !rc && i < sizeof invariants / sizeof *invariants; i++)
        rc = expect_no_row(k, invariants[i], "", NULL);
    return rc;
}

/* ---- digests ------------------------------------------------------------------------------ */

/* The chunks of one document against its text. *bad: the first that is not as it was stored. */
static int check_chunks(check *k, const sqlite_digest_fields *d, int64_t rowid, const char *text,
                        int64_t *bad, fo_err *why) {
    *bad = -1;
    sqlite3_stmt *st;
    int rc = sqlite_query(k->c, &st, why,
                          "SELECT ordinal, start, stop, start_cp, stop_cp, heading_start, "
                          "heading_stop, n_tokens, digest, place FROM chunks WHERE document = ? "
                          "ORDER BY ordinal",
                          "i", rowid);
    while (!rc && (rc = sqlite_step(k->c, st, why)) == 1) {
        int64_t v[8];
        for (int i = 0; i < 8; i++) v[i] = sqlite3_column_int64(st, i);
        rc = FO_OK;
        k->counts.n_chunks++;
        bool inside = v[1] >= 0 && v[1] <= v[2] && v[2] <= d->text_bytes && v[5] >= 0 &&
                      v[5] <= v[6] && v[6] <= d->text_bytes;
        unsigned char digest[32];
        if (inside)
            sqlite_digest_chunk(
                &(sqlite_digest_span){.document_id = d->id,
                                      .title = d->title,
                                      .uri = d->uri,
                                      .metadata = d->metadata,
                                      .ordinal = v[0],
                                      .start_cp = v[3],
                                      .end_cp = v[4],
                                      .n_tokens = v[7],
                                      .heading = text + v[5],
                                      .heading_len = (size_t)(v[6] - v[5]),
                                      .place = (const char *)sqlite3_column_text(st, 9),
                                      .text = text + v[1],
                                      .text_len = (size_t)(v[2] - v[1])},
                digest);
        if ((!inside || !sqlite_digest_same(st, 8, digest)) && *bad < 0) *bad = v[0];
    }
    return rc;
}

/* Columns: id, STORE_DIGEST_COLUMNS, text_sha256, digest. */
static int check_document(check *k, sqlite3_stmt *st) {
    unsigned char sha[32], text_sha[32], got[32];
    sqlite_digest_fields d;
    fo_err why = {0};
    int64_t rowid = sqlite3_column_int64(st, 0), bad = -1;
    bool fields = sqlite_digest_check_row(st, sha, text_sha, &d), words = true;
    k->counts.n_documents++;
    char *text = NULL;
    int rc = FO_OK;
    if (d.text_bytes < 0 || d.text_bytes > STORE_MAX_TEXT) {
        rc = fo_fail(&why, FO_ECORRUPT, "its length is impossible");
    } else if (!(text = malloc((size_t)d.text_bytes + 1))) {
        rc = fo_no_memory(&why);
    } else {
        sqlite3_blob *blob = NULL;
        rc = sqlite_read_text(k->c, &blob, rowid, 0, (size_t)d.text_bytes, text, &why);
        sqlite3_blob_close(blob);
    }
    if (!rc) {
        sqlite_digest_text(text, (size_t)d.text_bytes, got);
        words = memcmp(got, text_sha, sizeof got) == 0;
        rc = check_chunks(k, &d, rowid, text, &bad, &why);
    }
    free(text);
    if (rc == FO_ECORRUPT)
        found(k, STORE_FAULT_DOCUMENT, rowid, d.id, "%s", why.msg);
    else if (!rc && !fields)
        found(k, STORE_FAULT_DOCUMENT, rowid, d.id,
              "its title, address, metadata or another field is not what was ingested");
    else if (!rc && !words)
        found(k, STORE_FAULT_DOCUMENT, rowid, d.id, "its text is not what was ingested");
    else if (!rc && bad >= 0)
        found(k, STORE_FAULT_DOCUMENT, rowid, d.id, "chunk %lld is not what was ingested",
              (long long)bad);
    if (!rc || rc == FO_ECORRUPT) return FO_OK;
    if (k->err) *k->err = why;
    return rc;
}

static int check_vector(check *k, sqlite3_stmt *st) {
    int64_t chunk = sqlite3_column_int64(st, 0);
    uint32_t crc =
        sqlite_vector_crc(chunk, sqlite3_column_blob(st, 1), (size_t)sqlite3_column_bytes(st, 1));
    if (sqlite3_column_int64(st, 2) == (int64_t)crc) return FO_OK;
    found(k, STORE_FAULT_VECTOR, sqlite3_column_int64(st, 5),
          (const char *)sqlite3_column_text(st, 3), "the vector of its chunk %lld is damaged",
          (long long)sqlite3_column_int64(st, 4));
    return FO_OK;
}

static int check_title(check *k, sqlite3_stmt *st) {
    const int64_t document = sqlite3_column_int64(st, 0);
    const uint32_t crc = sqlite_vector_crc(document, sqlite3_column_blob(st, 1),
                                           (size_t)sqlite3_column_bytes(st, 1));
    if (sqlite3_column_int64(st, 2) == (int64_t)crc) return FO_OK;
    found(k, STORE_FAULT_VECTOR, document, (const char *)sqlite3_column_text(st, 3),
          "the vector of its title is damaged");
    return FO_OK;
}

typedef struct id_list {
    int64_t *ids;
    size_t n, cap;
} id_list;

/* What `sql` says of the collection, at the list's end. */
static int list_ids(sqlite_conn *c, const char *sql, int64_t collection, id_list *to, fo_err *err) {
    sqlite3_stmt *st;
    int rc = sqlite_query(c, &st, err, sql, "i", collection);
    while (!rc && (rc = sqlite_step(c, st, err)) == 1) {
        rc = FO_OK;
        if (to->n == to->cap) {
            size_t cap = to->cap ? 2 * to->cap : 1024;
            int64_t *grown = realloc(to->ids, cap * sizeof *grown);
            if (!grown) {
                sqlite3_reset(st);
                return fo_no_memory(err);
            }
            to->ids = grown;
            to->cap = cap;
        }
        to->ids[to->n++] = sqlite3_column_int64(st, 0);
    }
    return rc;
}

/* Rows of a kind that a collection has. */
typedef struct row_kind {
    const char *what;               /* the finding where some cannot be read */
    const char *indexed, *in_table; /* their ids, by an index alone and without any */
    const char *row;                /* of an id */
    int (*fn)(check *k, sqlite3_stmt *st);
} row_kind;

/* In order, each once. They stand in an index, which tells of rows that cannot be read, too; and where it
 * is damaged itself, in the table. */
static int find_ids(check *k, const row_kind *kind, int64_t collection, id_list *to) {
    fo_err why = {0};
    int rc = list_ids(k->c, kind->indexed, collection, to, &why);
    if (rc) rc = failed(k, rc, &why, kind->what);
    if (!rc && why.code) {
        fo_err also = {0};
        rc = list_ids(k->c, kind->in_table, collection, to, &also);
        if (rc) rc = failed(k, rc, &also, kind->what);
    }
    if (to->n) qsort(to->ids, to->n, sizeof *to->ids, fo_order_int64);
    size_t n = 0;
    for (size_t i = 0; i < to->n; i++)
        if (!n || to->ids[n - 1] != to->ids[i]) to->ids[n++] = to->ids[i];
    to->n = n;
    return rc;
}

/* A page that cannot be read ends the snapshot that was being read: the next row gets one of its own. */
static int hold_snapshot(check *k, fo_err *err) {
    return sqlite3_get_autocommit(k->c->db) ? sqlite_run(k->c, err, "BEGIN", "") : FO_OK;
}

/* fn for every row that can be read: each is asked for by its id, so that none stands in another's way. */
static int check_rows(check *k, const row_kind *kind, int64_t collection) {
    id_list list = {0};
    int rc = find_ids(k, kind, collection, &list);
    bool told = false;
    for (size_t i = 0; i < list.n && !rc; i++) {
        sqlite3_stmt *st;
        fo_err why = {0};
        int step = hold_snapshot(k, &why);
        if (!step) step = sqlite_query(k->c, &st, &why, kind->row, "i", list.ids[i]);
        if (!step && (step = sqlite_step(k->c, st, &why)) == 1) {
            rc = kind->fn(k, st);
            sqlite3_reset(st);
        }
        if (step >= 0 || (step == FO_ECORRUPT && told)) continue;
        rc = failed(k, step, &why, kind->what);
        told = true;
    }
    free(list.ids);
    return rc;
}

static int check_collection(check *k, int64_t id) {
    static const row_kind documents = {
        .what = "documents cannot be read",
        .indexed = "SELECT id FROM documents WHERE collection = ?",
        .in_table = "SELECT id FROM documents NOT INDEXED WHERE collection = ?",
        .row = "SELECT id, " STORE_DIGEST_COLUMNS ", text_sha256, digest FROM documents "
               "WHERE id = ?",
        .fn = check_document};
    static const row_kind vectors = {
        .what = "vectors cannot be read",
        .indexed = "SELECT id FROM chunks WHERE collection = ?",
        .in_table = "SELECT id FROM chunks NOT INDEXED WHERE collection = ?",
        .row = "SELECT e.chunk, e.vector, e.crc, d.name, c.ordinal, d.id FROM chunks c "
               "JOIN embeddings e ON e.chunk = c.id JOIN documents d ON d.id = c.document "
               "WHERE c.id = ?",
        .fn = check_vector};
    static const row_kind titles = {
        .what = "vectors of titles cannot be read",
        .indexed = "SELECT id FROM documents WHERE collection = ?",
        .in_table = "SELECT id FROM documents NOT INDEXED WHERE collection = ?",
        .row = "SELECT v.document, v.vector, v.crc, d.name FROM title_vectors v "
               "JOIN documents d ON d.id = v.document WHERE v.document = ?",
        .fn = check_title};
    int rc = check_rows(k, &documents, id);
    if (!rc) rc = check_rows(k, &vectors, id);
    return rc ? rc : check_rows(k, &titles, id);
}

int sqlite_check(store *base, store_finding_fn *fn, void *ctx, store_check_counts *out,
                 fo_err *err) {
    sqlite_store *s = sqlite_of(base);
    store_collection *list = NULL;
    size_t n = 0;
    check k = {.fn = fn, .ctx = ctx, .err = err};
    int rc = sqlite_reader(s, true, &k.c, err);
    if (rc) return rc;
    if (!fo_page_sums_on(k.c->db))
        k.counts.wants_rewrite =
            "an older version made it: its pages carry no checksums until --repair writes them";
    rc = check_structure(&k);
    fo_err why = {0};
    if (!rc) {
        int got = sqlite_list_collections(base, NULL, &list, &n, &why);
        if (got != FO_OK) rc = failed(&k, got, &why, "collections cannot be read");
    }
    for (size_t i = 0; i < n; i++) {
        k.tenant = list[i].tenant;
        k.collection = list[i].name;
        if (!rc) rc = check_collection(&k, list[i].id);
        store_collection_deinit(&list[i]);
    }
    free(list);
    sqlite_reader_release(s, k.c);
    if (out) *out = k.counts;
    return rc;
}

/* ---- mending ------------------------------------------------------------------------------ */

/* A row that was as it should be still is: where a vector alone is damaged, the document can be read. */
static int unset_content_hash(sqlite_conn *c, int64_t document, fo_err *err) {
    static const unsigned char none[32] = {0};
    unsigned char sha[32], text_sha[32], digest[32];
    sqlite_digest_fields d;
    sqlite3_stmt *st;
    int rc = sqlite_query(c, &st, err,
                          "SELECT id, " STORE_DIGEST_COLUMNS
                          ", text_sha256, digest FROM documents WHERE id = ?",
                          "i", document);
    if (!rc) rc = sqlite_step(c, st, err);
    if (rc != 1) return rc;
    bool right = sqlite_digest_check_row(st, sha, text_sha, &d);
    d.content_sha256 = none;
    sqlite_digest_document(&d, digest);
    sqlite3_reset(st);
    if (!right)
        return sqlite_run(c, err, "UPDATE documents SET content_sha256 = zeroblob(32) WHERE id = ?",
                          "i", document);
    return sqlite_run(c, err, "UPDATE documents SET content_sha256 = ?, digest = ? WHERE id = ?",
                      "bbi", none, sizeof none, digest, sizeof digest, document);
}

int sqlite_mark_damaged(store *base, int64_t document, fo_err *err) {
    sqlite_store *s = sqlite_of(base);
    sqlite_txn *t;
    int rc = sqlite_txn_begin(s, &t, err);
    if (rc) return rc;
    rc = unset_content_hash(t->c, document, err);
    if (!rc) return sqlite_txn_commit(t, err);
    sqlite_txn_rollback(t);
    return rc;
}

int sqlite_rewrite(store *base, fo_err *err) {
    sqlite_store *s = sqlite_of(base);
    sqlite_txn *t;
    int rc = sqlite_txn_begin(s, &t, err); /* for the lock: VACUUM stands outside of transactions */
    if (rc) return rc;
    rc = sqlite_run(t->c, err, "ROLLBACK", "");
    if (!rc) rc = sqlite_run(t->c, err, "VACUUM", "");
    if (!rc) rc = sqlite_run(t->c, err, "BEGIN IMMEDIATE", "");
    if (!rc)
        rc = sqlite_run(t->c, err, "UPDATE home SET page_sums = ?", "i",
                        (int64_t)fo_page_sums_on(t->c->db));
    if (!rc) return sqlite_txn_commit(t, err);
    sqlite_txn_rollback(t);
    return rc;
}

int sqlite_adopt(store *base, fo_err *err) {
    sqlite_store *s = sqlite_of(base);
    sqlite_txn *t;
    int rc = sqlite_txn_begin(s, &t, err);
    if (rc) return rc;
    t->s->commits = -1; /* this very commit is number 0 */
    rc = sqlite_run(t->c, err, "UPDATE home SET store = randomblob(16)", "");
    if (!rc) return sqlite_txn_commit(t, err);
    sqlite_txn_rollback(t);
    return rc;
}
