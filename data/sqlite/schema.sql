-- Schema version 1. Later versions are steps of their own in sqlite_schema.c; this text never
-- changes once released. Every table says whose it is (tenant).

CREATE TABLE collections (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant      TEXT NOT NULL,
    name        TEXT NOT NULL,
    language    TEXT NOT NULL,
    embedder    TEXT NOT NULL DEFAULT '', -- fingerprint; '' while no chunk is there
    dim         INTEGER NOT NULL DEFAULT 0,
    alpha       REAL NOT NULL DEFAULT -1,
    epoch       INTEGER NOT NULL DEFAULT 0,
    n_documents INTEGER NOT NULL DEFAULT 0,
    n_chunks    INTEGER NOT NULL DEFAULT 0,
    created_ms  INTEGER NOT NULL,
    UNIQUE (tenant, name)
) STRICT;

CREATE TABLE documents (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant         TEXT NOT NULL,
    collection     INTEGER NOT NULL REFERENCES collections (id) ON DELETE CASCADE,
    name           TEXT NOT NULL, -- the user's document id
    content_sha256 BLOB NOT NULL,
    text_bytes     INTEGER NOT NULL,
    n_chunks       INTEGER NOT NULL,
    created_ms     INTEGER NOT NULL,
    updated_ms     INTEGER NOT NULL,
    title          TEXT,
    uri            TEXT,
    content_type   TEXT,
    metadata       TEXT,
    UNIQUE (collection, name)
) STRICT;

-- A document's text once, cut every 65,536 bytes: a chunk in the middle of a long document is
-- read from one or two rows, where a single long value would be walked from its first page.
-- The key is computed, documents.id * 65536 + piece, so no second index is needed; the trigger
-- stands in for the foreign key that a computed key cannot have.
CREATE TABLE texts (
    id     INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    bytes  BLOB NOT NULL
) STRICT;

CREATE TRIGGER documents_delete_texts AFTER DELETE ON documents BEGIN
    DELETE FROM texts WHERE id BETWEEN old.id * 65536 AND old.id * 65536 + 65535;
END;

CREATE TABLE chunks (
    id            INTEGER PRIMARY KEY AUTOINCREMENT, -- never used twice; one document's are in a row
    tenant        TEXT NOT NULL,
    collection    INTEGER NOT NULL REFERENCES collections (id) ON DELETE CASCADE,
    document      INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    ordinal       INTEGER NOT NULL,
    start         INTEGER NOT NULL, -- bytes of the document's text
    stop          INTEGER NOT NULL,
    start_cp      INTEGER NOT NULL, -- the same in code points
    stop_cp       INTEGER NOT NULL,
    heading_start INTEGER NOT NULL,
    heading_stop  INTEGER NOT NULL,
    n_tokens      INTEGER NOT NULL,
    UNIQUE (document, ordinal)
) STRICT;

CREATE INDEX chunks_of_collection ON chunks (collection); -- and id, the rowid, after it

CREATE TABLE embeddings (
    chunk  INTEGER PRIMARY KEY REFERENCES chunks (id) ON DELETE CASCADE,
    tenant TEXT NOT NULL,
    vector BLOB NOT NULL -- float32, little-endian
) STRICT;

-- Vectors of another embedder, gathered beside those in use until all of a collection are there.
CREATE TABLE embeddings_next (
    chunk    INTEGER PRIMARY KEY REFERENCES chunks (id) ON DELETE CASCADE,
    tenant   TEXT NOT NULL,
    embedder TEXT NOT NULL, -- fingerprint
    vector   BLOB NOT NULL
) STRICT;

CREATE TABLE jobs (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant     TEXT NOT NULL,
    kind       TEXT NOT NULL,
    state      TEXT NOT NULL
               CHECK (state IN ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
    n_total    INTEGER NOT NULL DEFAULT -1,
    n_done     INTEGER NOT NULL DEFAULT 0,
    n_failed   INTEGER NOT NULL DEFAULT 0,
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    collection TEXT,
    error      TEXT,
    result     TEXT
) STRICT;

CREATE INDEX jobs_unfinished ON jobs (state) WHERE state IN ('queued', 'running');

CREATE TABLE idempotency (
    tenant      TEXT NOT NULL,
    route       TEXT NOT NULL,
    key         TEXT NOT NULL,
    body_sha256 BLOB NOT NULL,
    created_ms  INTEGER NOT NULL,
    status      INTEGER, -- NULL while the first request runs
    response    TEXT,
    PRIMARY KEY (tenant, route, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX idempotency_by_age ON idempotency (created_ms);

CREATE TABLE query_log (
    id            INTEGER PRIMARY KEY,
    t_ms          INTEGER NOT NULL,
    tenant        TEXT NOT NULL,
    collection    TEXT,
    query         TEXT, -- NULL where queries are not logged
    status        TEXT,
    answer_source TEXT,
    total_ms      REAL NOT NULL,
    n_contexts    INTEGER NOT NULL,
    cache_hit     INTEGER NOT NULL
) STRICT;

CREATE INDEX query_log_by_time ON query_log (t_ms);

-- What the caches did, by minute, hour and day; written in the transaction that logs the queries.
CREATE TABLE cache_rollups (
    tenant       TEXT NOT NULL,
    step_s       INTEGER NOT NULL, -- 60, 3600 or 86400
    t_s          INTEGER NOT NULL, -- begin of the step, since 1970
    layer        TEXT NOT NULL,
    lookups      INTEGER NOT NULL,
    hits         INTEGER NOT NULL,
    saved_ms     REAL NOT NULL,
    saved_tokens INTEGER NOT NULL,
    PRIMARY KEY (tenant, step_s, t_s, layer)
) STRICT, WITHOUT ROWID;
