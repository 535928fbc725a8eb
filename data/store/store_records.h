/* store_records.h - what a store keeps, as it is handed out: plain structs, whatever the store is made of.
 *
 * Who is given one owns what it points to, until the deinit; all strings are UTF-8. */
#ifndef FORAGE_DATA_STORE_RECORDS_H
#define FORAGE_DATA_STORE_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- collections, documents, chunks ------------------------------------------------------ */

typedef struct store_collection {
    int64_t id;
    char *tenant, *name;
    char *language; /* Snowball name ("english") or "none" */
    char *embedder; /* fingerprint of the embedder whose vectors it holds; "" while empty */
    uint32_t dim;
    double alpha;       /* tuned dense weight, < 0: the embedder's default */
    double min_support; /* tuned: below it an answer is withheld; < 0: the service's default */
    int64_t epoch, n_documents, n_chunks, created_ms;
} store_collection;
void store_collection_deinit(store_collection *c);

typedef struct store_document {
    int64_t rowid;                                    /* its number in the store */
    char *id, *title, *uri, *content_type, *metadata; /* NULL where there is none */
    char content_sha256[65];
    int64_t created_ms, updated_ms;
    size_t n_chunks, text_bytes;
    char *text;   /* only where asked for */
    bool damaged; /* of a list: its digest is another, so that nothing but id is given */
} store_document;
void store_document_deinit(store_document *d);

typedef struct store_chunk {
    int64_t id, document;                /* numbers in the store */
    size_t ordinal;                      /* 0-based within the document */
    size_t start, end, start_cp, end_cp; /* span in the document's text */
    char *text;                          /* text_len bytes and a NUL */
    size_t text_len;
    size_t n_before; /* bytes of the document that stand before text[0], in the same memory: a few
                        hundred, as they lie there (no digest covers them), to tell by where a line
                        or a sentence began. Freed with text */
    char *heading;   /* NULL: none */
    char *place;     /* as in store_chunk_in */
    char *document_id, *title, *uri, *metadata;
} store_chunk;
void store_chunk_deinit(store_chunk *c);

/* ---- folders that documents are kept in step with ---------------------------------------- */

typedef struct store_source {
    int64_t id; /* its number in the store */
    char *tenant, *name;
    char *collection, *path;
    int64_t max_tokens, overlap; /* how its documents are cut: others were not made by these */
    char *reading;               /* the same, by which readers they were read; NULL: nobody knows */
    int64_t started_ms, finished_ms; /* of its last run; 0: none, or it was not finished */
    char *error;                     /* why that failed as a whole; NULL: it did not */
    char *report;                    /* what came of it, JSON; NULL: nothing yet */
    int64_t n_documents;             /* that its files made; not set by the caller */
} store_source;
void store_source_deinit(store_source *s);

/* A file of a source as it was when it was taken in. */
typedef struct store_source_file {
    char *path; /* below the source's folder */
    int64_t size, mtime_ns, ctime_ns, inode;
    unsigned char sha256[32];         /* of its bytes */
    bool stored;                      /* a document was made of it */
    unsigned char content_sha256[32]; /* that document's; all 0 where none was made */
    char *error; /* why the file, as it is now, was not taken in; NULL: it was */
} store_source_file;
void store_source_file_deinit(store_source_file *f);

/* ---- jobs, calls that may be repeated ---------------------------------------------------- */

typedef struct store_job {
    int64_t id;
    char *tenant, *kind;               /* "ingest", "rebuild", ... */
    char *state;                       /* "queued|running|succeeded|failed|cancelled" */
    int64_t n_total, n_done, n_failed; /* documents; n_total < 0 while unknown */
    char *collection, *error, *result; /* NULL where there is none; result is JSON */
    int64_t created_ms, updated_ms;
} store_job;
void store_job_deinit(store_job *j);

/* What a key of idempotency stands for. */
enum store_idem { STORE_IDEM_NEW, STORE_IDEM_RUNNING, STORE_IDEM_DONE, STORE_IDEM_OTHER_BODY };

/* ---- conversations, and what people thought of answers ------------------------------------ */

/* What one owner may keep; more is refused (FO_ELIMIT), nothing is dropped silently. */
enum {
    STORE_CONVERSATIONS_MAX = 2000,
    STORE_TURNS_MAX = 200, /* of a conversation */
    STORE_TURN_BYTES_MAX = 512 * 1024,
    STORE_CONVERSATIONS_BYTES_MAX = 256 * 1024 * 1024,
    STORE_FEEDBACK_MAX = 10000,
};

/* A question and its answer as they are to be seen again. */
typedef struct store_turn {
    char *collection, *question, *answer;
    char *reply; /* a JSON object: what belongs to the answer, citations above all */
    int rating;  /* what its owner thought of it: 1, -1, 0; not set by the caller */
    int64_t created_ms;
} store_turn;

typedef struct store_conversation {
    char *id; /* nobody guesses it: who has it and may see the tenant's shared ones, sees it */
    char *tenant, *owner; /* owner "": nobody in particular */
    char *collection;     /* of its last turn, or what it was begun with */
    char *title;
    bool shared; /* others of the tenant may read it, who have its id */
    int64_t created_ms, updated_ms;
    size_t n_turns;
    store_turn *turns; /* [n_turns] where they were asked for, else NULL */
} store_conversation;
void store_turn_deinit(store_turn *t);
void store_conversation_deinit(store_conversation *c);

/* Was this answer of this owner's question good? The last word of each owner counts. */
typedef struct store_feedback {
    char *tenant, *owner, *collection, *query;
    int rating;      /* 1 or -1; put with 0: taken back */
    char *documents; /* a JSON array of the ids that the answer cites */
    char *comment;   /* NULL: none */
    int64_t id, t_ms;
} store_feedback;
void store_feedback_deinit(store_feedback *f);

/* ---- what was asked ---------------------------------------------------------------------- */

/* What may have spared a query its work; the names are those of the API. */
enum store_cache_layer {
    STORE_LAYER_ANSWER,
    STORE_LAYER_RETRIEVAL,
    STORE_LAYER_KV_PREFIX, /* pages attached by the hash of their tokens */
    STORE_LAYER_KV_CHUNK,  /* a chunk's keys and values, moved to another place */
    STORE_LAYER_KV_DISK,   /* read back from disk */
    STORE_N_LAYERS
};
const char *store_cache_layer_name(enum store_cache_layer layer);

/* Where a query's time goes; the names are those of timings_ms. */
enum store_stage {
    STORE_STAGE_QUEUE,
    STORE_STAGE_EMBED,
    STORE_STAGE_DENSE,
    STORE_STAGE_SPARSE,
    STORE_STAGE_FUSE,
    STORE_STAGE_RERANK,
    STORE_STAGE_PREFILL,
    STORE_STAGE_FIRST_TOKEN,
    STORE_STAGE_DECODE,
    STORE_STAGE_TOTAL,
    STORE_N_STAGES
};
const char *store_stage_name(enum store_stage stage);

typedef struct store_layer_use {
    int lookups, hits;
    double saved_ms;
    int64_t saved_tokens;
} store_layer_use;

typedef struct store_query_log {
    int64_t t_ms;
    const char *tenant, *collection, *query, *status, *answer_source; /* query NULL: not logged */
    double total_ms;
    int n_contexts;
    bool cache_hit;
    store_layer_use layers[STORE_N_LAYERS]; /* a row of the rollups where lookups > 0 */
    double stage_ms[STORE_N_STAGES];        /* counted where > 0 */
} store_query_log;

/* Of one cache layer in one step of a series. */
typedef struct store_rollup {
    int64_t t_s; /* begin of the step */
    enum store_cache_layer layer;
    int64_t lookups, hits, saved_tokens;
    double saved_ms;
} store_rollup;

typedef struct store_latency {
    int64_t t_s; /* begin of the step */
    enum store_stage stage;
    int64_t count;
    double mean_ms, p50_ms, p95_ms, p99_ms; /* quantiles within 9 %: of buckets, 4 an octave */
} store_latency;

/* Most asked, slowest by mean, most often without an answer first. */
enum store_query_order { STORE_QUERIES_HOT, STORE_QUERIES_SLOW, STORE_QUERIES_UNANSWERED };
typedef struct store_query_row {
    char *query, *collection; /* query NULL where text was not logged */
    int64_t count, hits, unanswered, last_ms;
    double mean_ms, max_ms;
} store_query_row;
void store_query_rows_free(store_query_row *rows, size_t n);

/* ---- timings of the store itself --------------------------------------------------------- */

enum store_timing {
    STORE_TIMING_WAIT,   /* a writer's wait for the write lock */
    STORE_TIMING_WRITE,  /* a transaction's statements */
    STORE_TIMING_COMMIT, /* until it is durable */
    STORE_TIMING_READ,   /* a reader's connection in use */
    STORE_N_TIMINGS
};
const char *store_timing_name(enum store_timing which);

#endif
