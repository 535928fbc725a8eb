-- Schema version 1. Later versions are steps of their own in sqlite_schema.c; this text never
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
