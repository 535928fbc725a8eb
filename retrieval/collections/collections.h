/* collections.h - the collections of a service: documents in and out, and their indexes looked at and made anew. Part of service.h,
 * which says how a service is had.
 *
 * Any thread; a slow ingest never holds up a query. Strings handed in are UTF-8 and stay the caller's; results own what they point to. */
#ifndef FORAGE_RETRIEVAL_COLLECTIONS_H
#define FORAGE_RETRIEVAL_COLLECTIONS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "data/store/store_records.h"
#include "engine/embed/embedder.h"
#include "index/search/search_bulk.h"
#include "index/search/search_index.h"
#include "kernels/error.h"
#include "kernels/notice.h"

typedef struct service service;

/* Names of tenants and collections: 1-64 of A-Z a-z 0-9 _ - . and not starting with a dot. */
bool service_name_valid(const char *name);

/* ---- documents in ------------------------------------------------------------------------ */

/* Are letters in images (scanned pages, PNG, JPEG, TIFF) recognised? By tesseract, where it is installed. */
enum ingest_ocr {
    INGEST_OCR_DEFAULT, /* as service_options has it */
    INGEST_OCR_OFF,
    INGEST_OCR_AUTO,  /* on pages without text, and in images */
    INGEST_OCR_FORCE, /* on every page, instead of the text that it holds */
};

typedef struct ingest_document {
    const char *id;           /* NULL: derived from the content hash */
    const char *title, *uri;  /* NULL: none (then the document's own title is used) */
    const char *content_type; /* NULL: sniffed */
    const char *file_name;    /* NULL: none; helps sniffing, and names it in refusals */
    bool is_text;             /* it came as text (a field of JSON): as in extract_request */
    const char *metadata;     /* JSON object text or NULL */
    const char *acl;          /* JSON array of groups that may see it; NULL: everybody may */
    const void *bytes;
    size_t n_bytes;
    uint32_t first_row,
        header_rows; /* of a part of a table: as text_part (data/extract/text_parts.h) has them; else 0 */
} ingest_document;

typedef struct ingest_options {
    const char *tenant, *collection; /* the collection is made if absent */
    const char *language;            /* for a new collection; NULL: "english" */
    size_t max_tokens, overlap;      /* 0: 256; SIZE_MAX: 32 */
    int ocr;                         /* enum ingest_ocr */
    const char *ocr_language;        /* NULL: as service_options has it */
    atomic_bool *cancel;             /* NULL, or stops within a document (FO_ECANCELLED) */
    struct ingest_counts *counts;    /* NULL, or how far the documents are, to watch */
    /* What the caller sees (NULL: everything): a document that is there and does not match it is not
     * written over (FO_EDENIED), also where it came while this one was made ready. Must outlive the call. */
    const search_filter *sees;
} ingest_options;

/* Documents past each stage; those that failed or are unchanged pass all that they skip. */
typedef struct ingest_counts {
    atomic_size_t extracted, chunked, embedded, stored;
    /* Within documents, so that a long one is seen to go on: pages read (of PDF; one that is read again with more memory
     * begins anew), passages embedded. */
    atomic_size_t pages, passages;
} ingest_counts;

enum ingest_status { INGEST_CREATED, INGEST_UPDATED, INGEST_UNCHANGED, INGEST_FAILED };

typedef struct ingest_result {
    enum ingest_status status;
    char *id;
    char content_sha256[65];
    size_t chunks;
    size_t n_replaced; /* ill-formed byte sequences replaced by U+FFFD */
    fo_err error;      /* where status is INGEST_FAILED */
} ingest_result;
void ingest_result_deinit(ingest_result *r);
const char *ingest_status_name(enum ingest_status s);
/* Of a document whose id is the name of a file: what is wrong with the id is said of the name. */
void ingest_error_of_file(fo_err *e);

typedef struct ingest_report {
    int64_t epoch; /* of the collection, with these documents in it */
    double extract_ms, chunk_ms, embed_ms, index_ms, commit_ms, total_ms;
} ingest_report;

/* archive_unpack (data/extract/archive.h) where this service reads documents. */
struct archive_request;
struct archive_sink;
int service_unpack(service *s, const struct archive_request *rq, const struct archive_sink *sink,
                   fo_err *err);

/* When it returns FO_OK the documents that did not fail are durable and findable. One bad
 * document fails alone. Concurrent calls share commits, and options.ingest_memory: a call waits for
 * others to be done with theirs, and is FO_EBUSY after half a minute. results[n] is the caller's. */
int service_ingest(service *s, const ingest_options *opt, const ingest_document *docs, size_t n,
                   ingest_result *results, ingest_report *report, fo_err *err);

/* Page `page` (from 1) of a document that was made of a PDF, as PNG (page_images.h); sees as below. Caller frees *png.
 * FO_ENOTFOUND: no such document, or what it was made of is not kept, or has no such page; FO_EBUSY: later. */
int service_draw_page(service *s, const char *tenant, const char *collection, const char *id,
                      const search_filter *sees, uint32_t page, const atomic_bool *cancel,
                      char **png, size_t *n, fo_err *err);

/* sees: what the caller sees, NULL: everything; another document is FO_ENOTFOUND, as one that is not
 * there. FO_ECONFLICT: it was replaced meanwhile. */
int service_delete_document(service *s, const char *tenant, const char *collection, const char *id,
                            const search_filter *sees, int64_t *epoch, fo_err *err);
/* All that a filter on metadata matches, a commit every 512. */
typedef struct delete_request {
    const char *tenant, *collection;
    const search_filter *filter; /* NULL: all of the source */
    const char *source;          /* NULL, or only what came from this folder (folder_sync.h) */
    const char *text;            /* NULL, or only what has it in its name (catalog_is_named) */
    bool dry_run;                /* count, delete nothing: a read-only service does so too */
    atomic_bool *cancel;         /* NULL, or ends it between commits (FO_ECANCELLED) */
    /* NULL, or called with each document that is gone (dry_run: that would go), in order of id. */
    void (*each)(void *ctx, const store_document *d);
    void *ctx;
} delete_request;

typedef struct delete_report {
    size_t matched, deleted;
    size_t chunks;     /* of those that matched */
    size_t changed;    /* matched, but somebody replaced or deleted them meanwhile: left alone */
    size_t unreadable; /* no filter can judge them (damaged): left alone */
    int64_t epoch;     /* of the collection, without them */
} delete_report;

/* What was deleted before an error stays deleted; out says how many that were. */
int service_delete_documents(service *s, const delete_request *q, delete_report *out, fo_err *err);
int service_create_collection(service *s, const char *tenant, const char *collection,
                              const char *language, fo_err *err);
/* *cancel (NULL: none) ends it, FO_ECANCELLED, with all of it still there. */
int service_delete_collection(service *s, const char *tenant, const char *collection,
                              const atomic_bool *cancel, fo_err *err);

/* ---- embedders ---------------------------------------------------------------------------- */

/* What made vectors with this fingerprint, owned by s; NULL: the service has no such embedder. FO_ENOMEM: it may have
 * one. */
int service_embedder_of(service *s, const char *fingerprint, embedder **out, fo_err *err);
/* What made a collection's; that of new collections where there is none such, or no collection. */
embedder *service_embedder_for(service *s, const char *tenant, const char *collection);
/* Collections (tenant and name NULL: all) whose vectors another embedder made than the one that is
 * loaded: their dense and hybrid queries, and new documents for them, are refused with FO_EMISMATCH.
 * At most `limit` of them by name (caller deinits each and frees *out), all of them counted. */
int service_foreign_collections(service *s, const char *tenant, const char *name, size_t limit,
                                store_collection **out, size_t *n, size_t *n_all, fo_err *err);
/* What is the matter with such a one and what to do: into *err, whose code it returns. */
int service_foreign_sentence(const service *s, const char *name, fo_err *err);

/* ---- in the background ----------------------------------------------------------------------- */

/* Collections of the built-in table get vectors of the built-in encoder while no documents come in: refine.h. */
typedef struct service_refine {
    bool on;
    int64_t idle_ms; /* how long none came in before it begins; 0: 30 s */
    fo_notices
        notices; /* refine_begins, refined, refine_failed; from its thread, until service_close returns */
} service_refine;

/* Has the collection vectors of the built-in table, and would get those of the encoder if the service refined it? *n_chunks: how many it
 * has. Any thread. */
bool service_is_refinable(service *s, const char *tenant, const char *name, size_t *n_chunks);

/* The titles of a collection that have no vector of the encoder yet get one (title_vectors.h), some hundreds a second, as long
 * as goes_on(ctx) says yes. *n: how many did. Others than serve call it once they are done with documents: there, the
 * background does it. FO_ECANCELLED where goes_on said no, FO_EUNSUPPORTED without the built-in encoder. */
int service_embed_titles(service *s, const char *tenant, const char *name,
                         bool (*goes_on)(void *ctx), void *ctx, size_t *n, fo_err *err);

typedef struct service_refine_stats {
    bool at_work;
    uint64_t collections, chunks; /* exchanged; embedded, since the start */
    uint64_t titles;              /* embedded */
} service_refine_stats;

/* When the KV of chunks is computed that nobody has asked for yet. */
enum kv_warm_mode {
    KV_WARM_OFF,
    KV_WARM_INGEST, /* of what comes in, as soon as the model has nothing else to do */
    KV_WARM_IDLE,   /* of everything, once nobody has asked for five seconds */
};

typedef struct service_warm_stats {
    enum kv_warm_mode mode;
    uint64_t chunks, tokens;  /* gone through since the start */
    uint64_t computed_tokens; /* the others were known */
    uint64_t bytes, budget_bytes;
    bool waiting; /* there is more to do */
} service_warm_stats;

/* Under which KV is kept and found: nothing is shared between tenants, nor between those who see other
 * documents (sees as in query_request). */
void service_kv_salt(const char *tenant, const search_filter *sees, unsigned char out[32]);

/* ---- indexes ------------------------------------------------------------------------------- */

/* The index of one collection, to look at or to work on (verify, compact, stats): calls fn with
 * it; tenant and collection NULL: all of them, one after the other. It is opened for that. */
typedef int service_index_fn(void *ctx, const char *tenant, const char *collection,
                             search_index *ix, fo_err *err);
int service_each_index(service *s, const char *tenant, const char *collection, service_index_fn *fn,
                       void *ctx, fo_err *err);
/* Of all together that are open (*n_open of them; may be NULL); what is counted (bytes_written,
 * bytes_ingested, bytes_checked, n_damaged, n_failures, n_dense_scored) by all since the service was opened. */
int service_get_index_stats(service *s, search_index_stats *out, size_t *n_open, fo_err *err);

/* Do both indexes of a collection hold the store's chunks, all of them and no others, each under
 * its document? FO_ECORRUPT says what is wrong; FO_EBUSY: the store changed since the indexes were
 * opened (another process writes). */
int service_compare_ids(service *s, const char *tenant, const char *collection,
                        search_id_report *out, fo_err *err);

/* After ingest with options.offline: bring the collection's index up to the store, in bounded
 * memory; then its documents are findable. Killed before or in it, the next service_open or the
 * next call goes on from the files that were sealed. progress may be NULL; `total` is in the unit
 * of the stage (0: unknown). cancel (may be NULL) ends it between batches (FO_ECANCELLED), and what was
 * built stays. Nobody may write to the home meanwhile. */
typedef void service_build_progress(void *ctx, enum search_bulk_stage stage, uint64_t done,
                                    uint64_t total);
int service_catch_up(service *s, const char *tenant, const char *collection,
                     service_build_progress *progress, void *ctx, const atomic_bool *cancel,
                     fo_err *err);

/* Embed every chunk anew with this service's embedder and build fresh indexes. */
int service_rebuild(service *s, const char *tenant, const char *collection,
                    void (*progress)(void *ctx, size_t done, size_t total), void *ctx, fo_err *err);

#endif
