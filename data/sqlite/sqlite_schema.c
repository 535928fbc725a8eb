/* The schema and its history: user_version n means that steps 1..n have run. */
#include <stdio.h>

#include "data/sqlite/sqlite_internal.h"
#include "kernels/page_sums.h"

static const char schema_1[] = {
#include "data/sqlite/schema.sql.inc"
    , 0};

/* How long the stages of queries took: counts of geometric buckets (store_latency.c). */
static const char schema_2[] = "CREATE TABLE latency_rollups ("
                               "tenant TEXT NOT NULL,"
                               "step_s INTEGER NOT NULL," /* 60, 3600 or 86400 */
                               "t_s INTEGER NOT NULL,"
                               "stage TEXT NOT NULL,"
                               "bucket INTEGER NOT NULL,"
                               "n INTEGER NOT NULL,"
                               "sum_ms REAL NOT NULL,"
                               "PRIMARY KEY (tenant, step_s, t_s, stage, bucket)"
                               ") STRICT, WITHOUT ROWID;";

/* Digests of what is stored (sqlite_digest.c), and what the home's files are held against. */
static const char schema_3[] =
    "ALTER TABLE documents ADD COLUMN text_sha256 BLOB NOT NULL DEFAULT x'';"
    "ALTER TABLE documents ADD COLUMN digest BLOB NOT NULL DEFAULT x'';"
    "ALTER TABLE chunks ADD COLUMN digest BLOB NOT NULL DEFAULT x'';"
    "ALTER TABLE embeddings ADD COLUMN crc INTEGER NOT NULL DEFAULT -1;"
    "ALTER TABLE embeddings_next ADD COLUMN crc INTEGER NOT NULL DEFAULT -1;"
    "CREATE TABLE home ("
    "id INTEGER PRIMARY KEY CHECK (id = 1),"
    "store BLOB NOT NULL,"        /* 16 random bytes: this store and no other */
    "commits INTEGER NOT NULL,"   /* transactions that changed anything, see ledger.h */
    "page_sums INTEGER NOT NULL)" /* 1: every page carries a checksum (kernels/page_sums.h) */
    " STRICT;"
    "INSERT INTO home VALUES (1, randomblob(16), 0, 0);";

/* Pages, sheets and slides of documents that have such (data/chunk/chunk_places.h); '': none. */
static const char schema_4[] = "ALTER TABLE chunks ADD COLUMN place TEXT NOT NULL DEFAULT ''";

/* Folders that documents are kept in step with, and what was known of their files when they were taken in. */
static const char schema_5[] = "CREATE TABLE sources ("
                               "id INTEGER PRIMARY KEY AUTOINCREMENT,"
                               "tenant TEXT NOT NULL,"
                               "name TEXT NOT NULL,"
                               "collection TEXT NOT NULL,"
                               "path TEXT NOT NULL,"
                               "max_tokens INTEGER NOT NULL,"
                               "overlap INTEGER NOT NULL,"
                               "started_ms INTEGER NOT NULL,"
                               "finished_ms INTEGER NOT NULL,"
                               "error TEXT,"
                               "report TEXT,"
                               "UNIQUE (tenant, name)"
                               ") STRICT;"
                               "CREATE TABLE source_files ("
                               "source INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,"
                               "path TEXT NOT NULL,"
                               "size INTEGER NOT NULL,"
                               "mtime_ns INTEGER NOT NULL,"
                               "ctime_ns INTEGER NOT NULL,"
                               "inode INTEGER NOT NULL,"
                               "sha256 BLOB NOT NULL,"
                               "content_sha256 BLOB NOT NULL," /* x'': no document was made of it */
                               "error TEXT,"
                               "PRIMARY KEY (source, path)"
                               ") STRICT, WITHOUT ROWID;";

/* By which readers a source's files were read. */
static const char schema_6[] = "ALTER TABLE sources ADD COLUMN reading TEXT";

/* What people asked and want to see again, and what they thought of the answers (sqlite_conversations.c). */
static const char schema_7[] =
    "CREATE TABLE conversations ("
    "id TEXT NOT NULL PRIMARY KEY,"
    "tenant TEXT NOT NULL,"
    "owner TEXT NOT NULL," /* '': nobody in particular */
    "collection TEXT NOT NULL,"
    "title TEXT NOT NULL,"
    "shared INTEGER NOT NULL,"
    "created_ms INTEGER NOT NULL,"
    "updated_ms INTEGER NOT NULL,"
    "n_turns INTEGER NOT NULL,"
    "bytes INTEGER NOT NULL" /* of its turns */
    ") STRICT;"
    "CREATE INDEX conversations_by_owner ON conversations (tenant, owner, updated_ms);"
    "CREATE TABLE conversation_turns ("
    "conversation TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,"
    "ordinal INTEGER NOT NULL,"
    "collection TEXT NOT NULL,"
    "question TEXT NOT NULL,"
    "answer TEXT NOT NULL,"
    "reply TEXT NOT NULL," /* JSON */
    "created_ms INTEGER NOT NULL,"
    "PRIMARY KEY (conversation, ordinal)"
    ") STRICT;"
    "CREATE TABLE feedback ("
    "id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "tenant TEXT NOT NULL,"
    "owner TEXT NOT NULL,"
    "collection TEXT NOT NULL,"
    "query TEXT NOT NULL,"
    "rating INTEGER NOT NULL,"
    "documents TEXT NOT NULL," /* JSON */
    "comment TEXT,"
    "t_ms INTEGER NOT NULL,"
    "UNIQUE (tenant, owner, collection, query)"
    ") STRICT;";

/* Below which support an answer is withheld, where that was fitted to the collection. */
static const char schema_8[] =
    "ALTER TABLE collections ADD COLUMN min_support REAL NOT NULL DEFAULT -1";

/* Vectors of titles (sqlite_titles.c). */
static const char schema_9[] =
    "CREATE TABLE title_vectors ("
    "document INTEGER PRIMARY KEY REFERENCES documents (id) ON DELETE CASCADE,"
    "tenant TEXT NOT NULL,"
    "embedder TEXT NOT NULL," /* fingerprint */
    "vector BLOB NOT NULL,"   /* float32, little-endian */
    "crc INTEGER NOT NULL"
    ") STRICT;";

static const struct {
    const char *sql;
    int (*then)(sqlite_conn *c, fo_err *err);
} steps[] = {{schema_1, NULL}, {schema_2, NULL}, {schema_3, sqlite_fill_digests},
             {schema_4, NULL}, {schema_5, NULL}, {schema_6, NULL},
             {schema_7, NULL}, {schema_8, NULL}, {schema_9, NULL}};
enum { SCHEMA_VERSION = sizeof steps / sizeof *steps };

enum { APPLICATION_ID = 0x466F5261 }; /* "FoRa" in the database header */

static int read_number(sqlite_conn *c, const char *sql, int64_t *out, fo_err *err) {
    sqlite3_stmt *st;
    int rc = sqlite_query(c, &st, err, sql, "");
    if (rc) return rc;
    rc = sqlite_step(c, st, err);
    if (rc == 1) *out = sqlite3_column_int64(st, 0);
    sqlite3_reset(st);
    return rc < 0 ? rc : FO_OK;
}

static int run_steps(sqlite_conn *c, int64_t from, fo_err *err) {
    for (int64_t v = from; v < SCHEMA_VERSION; v++) {
        if (sqlite3_exec(c->db, steps[v].sql, NULL, NULL, NULL) != SQLITE_OK)
            return sqlite_fail(c->db, err, "could not bring the database up to date");
        int rc = steps[v].then ? steps[v].then(c, err) : FO_OK;
        if (rc) return rc;
    }
    char stamp[96];
    snprintf(stamp, sizeof stamp, "PRAGMA user_version = %d; PRAGMA application_id = %d",
             SCHEMA_VERSION, APPLICATION_ID);
    if (sqlite3_exec(c->db, stamp, NULL, NULL, NULL) != SQLITE_OK)
        return sqlite_fail(c->db, err, "could not bring the database up to date");
    return sqlite_run(c, err, "UPDATE home SET page_sums = ?", "i",
                      (int64_t)fo_page_sums_on(c->db));
}

int sqlite_is_empty(const char *path, bool *empty, fo_err *err) {
    sqlite_store as = {.path = (char *)path,
                       .vfs = fo_page_sums_vfs(NULL),
                       .read_only = true,
                       .busy_timeout_ms = 1};
    sqlite_conn *c = NULL;
    int64_t n = 1;
    int rc = as.vfs ? sqlite_conn_open(&c, &as, false, err) : fo_no_memory(err);
    if (!rc) rc = read_number(c, "SELECT count(*) FROM sqlite_schema", &n, err);
    sqlite_conn_close(c);
    *empty = n == 0;
    return rc;
}

int sqlite_migrate(const sqlite_store *s, sqlite_conn *c, fo_err *err) {
    const bool read_only = s->read_only;
    if (!read_only && sqlite3_exec(c->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK)
        return sqlite_fail(c->db, err, "could not open the database for writing");
    int64_t version = 0, application = 0, n_tables = 0;
    int rc = read_number(c, "PRAGMA user_version", &version, err);
    if (!rc) rc = read_number(c, "PRAGMA application_id", &application, err);
    if (!rc) rc = read_number(c, "SELECT count(*) FROM sqlite_schema", &n_tables, err);
    bool empty = version == 0 && n_tables == 0;
    if (!rc && !empty && application != APPLICATION_ID)
        rc = fo_fail(err, FO_EMISMATCH, "this SQLite database was not made by Forage");
    if (!rc && version > SCHEMA_VERSION)
        rc = fo_fail(err, FO_EMISMATCH,
                     "the database has schema version %lld, this program knows up to %d: "
                     "use the newer program that wrote it",
                     (long long)version, SCHEMA_VERSION);
    int64_t sums = 0;
    if (!rc && version >= 3) rc = read_number(c, "SELECT page_sums FROM home", &sums, err);
    if (!rc && sums && !fo_page_sums_on(c->db))
        rc = fo_fail(err, FO_ECORRUPT,
                     "the database's header is damaged: it denies that pages carry checksums");
    if (read_only) {
        if (!rc && empty) rc = fo_fail(err, FO_ENOTFOUND, "the database is empty");
        if (!rc && version < SCHEMA_VERSION)
            rc = fo_fail(err, FO_EMISMATCH,
                         "the database has the older schema version %lld: 'forage serve' or "
                         "'forage ingest' on it once brings it to version %d",
                         (long long)version, SCHEMA_VERSION);
        return rc;
    }
    if (!rc && version < SCHEMA_VERSION) rc = run_steps(c, version, err);
    if (!rc && sqlite3_exec(c->db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
        rc = sqlite_fail(c->db, err, "could not bring the database up to date");
    if (rc && !sqlite3_get_autocommit(c->db)) sqlite3_exec(c->db, "ROLLBACK", NULL, NULL, NULL);
    if (!rc && !empty && version < SCHEMA_VERSION)
        fo_notice(&s->notices, "schema_migrated",
                  "%s was brought from schema version %lld to %d: a program that does not know "
                  "version %d no longer opens it",
                  s->path, (long long)version, SCHEMA_VERSION, SCHEMA_VERSION);
    return rc;
}
