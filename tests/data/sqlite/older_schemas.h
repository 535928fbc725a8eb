/* older_schemas.h - databases as earlier programs wrote them: made from what this one writes, by scripts that take
 * back what each version added. */
#ifndef FORAGE_TESTS_OLDER_SCHEMAS_H
#define FORAGE_TESTS_OLDER_SCHEMAS_H

#include <sqlite3.h>

#include "kernels/page_sums.h"
#include "tests/test.h"

enum { SCHEMA_NOW = 9 };

/* schema_back[v]: from version v to v - 1. */
static const char *const schema_back[SCHEMA_NOW + 1] = {
    [2] = "DROP TABLE latency_rollups",
    [3] = "DROP TABLE home; ALTER TABLE documents DROP COLUMN text_sha256;"
          "ALTER TABLE documents DROP COLUMN digest; ALTER TABLE chunks DROP COLUMN digest;"
          "ALTER TABLE embeddings DROP COLUMN crc; ALTER TABLE embeddings_next DROP COLUMN crc",
    [4] = "ALTER TABLE chunks DROP COLUMN place",
    [5] = "DROP TABLE source_files; DROP TABLE sources",
    [6] = "ALTER TABLE sources DROP COLUMN reading",
    [7] = "DROP TABLE conversation_turns; DROP TABLE conversations; DROP TABLE feedback",
    [8] = "ALTER TABLE collections DROP COLUMN min_support",
    [9] = "DROP TABLE title_vectors",
};

static inline void schema_run(sqlite3 *db, const char *sql) {
    char *why = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK) fail_msg("%s: %s", sql, why);
}

/* With sums of its pages, as the program writes it; vfs NULL: without, as before version 3. */
static inline sqlite3 *schema_open(const char *path, const char *vfs) {
    sqlite3 *db;
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, vfs),
                     SQLITE_OK);
    return db;
}

static inline void schema_go_back(const char *path, int version, const char *vfs) {
    sqlite3 *db = schema_open(path, vfs);
    char stamp[80];
    for (int v = SCHEMA_NOW; v > version; v--) schema_run(db, schema_back[v]);
    snprintf(stamp, sizeof stamp, "PRAGMA user_version = %d", version);
    schema_run(db, stamp);
    sqlite3_close(db);
}

#endif
