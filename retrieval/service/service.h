/* service.h - Forage without its HTTP: a home folder opened, documents in, answers out.
 *
 *     service *s;
 *     service_open(&s, &(service_options){.home = "home"}, &err);
 *     service_ingest(s, &opt, docs, n, results, &report, &err);
 *     service_query(s, &request, NULL, &result, &err);
 *     query_result_deinit(&result);
 *     service_close(s);
 *
 * A home holds forage.db (the store, the truth) and index/TENANT/COLLECTION/ (derived files).
 * Every function may be called from any thread; a slow ingest never holds up a query.
 * Strings handed in are UTF-8 and stay the caller's; results own what they point to. */
#ifndef FORAGE_RETRIEVAL_SERVICE_H
#define FORAGE_RETRIEVAL_SERVICE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "data/store/store_records.h"
#include "engine/embed/embedder.h"
#include "index/search/search_bulk.h"
#include "index/search/search_index.h"
#include "kernels/error.h"
#include "kernels/histogram.h"
#include "kernels/memory_budget.h"
#include "kernels/notice.h"
#include "retrieval/generator/generator.h"
#include "retrieval/rank/fusion.h"
#include "retrieval/cache/query_cache.h"
#include "retrieval/rank/rerank.h"

typedef struct service service;

/* When the KV of chunks is computed that nobody has asked for yet. */
enum kv_warm_mode {
    KV_WARM_OFF,
    KV_WARM_INGEST, /* of what comes in, as soon as the model has nothing else to do */
    KV_WARM_IDLE,   /* of everything, once nobody has asked for five seconds */
};

/* Collections of the built-in table get vectors of the built-in encoder while no documents come in: refine.h. */
typedef struct service_refine {
    bool on;
    int64_t idle_ms; /* how long none came in before it begins; 0: 30 s */
    fo_notices
        notices; /* refine_begins, refined, refine_failed; from its thread, until service_close returns */
} service_refine;

typedef struct service_refine_stats {
    bool at_work;
    uint64_t collections, chunks; /* exchanged; embedded, since the start */
} service_refine_stats;

typedef struct service_options {
    const char *home; /* made if absent, mode 0700; locked against a second writer */
    /* Of new collections; NULL: the table built into the binary, EMBEDDER_ENCODER: the encoder there. Collections
     * of either are served where it is one of these two and has no prefixes. */
    const char *embed_model;
    const char *query_prefix, *passage_prefix; /* of an encoder; NULL: what its file says */
    const char *rerank_model;                  /* a cross-encoder for search.rerank; NULL: none */
    const char *reader; /* reads the passages of every answer: NULL or "builtin": the one inside the
                            binary; "none": words alone; else a GGUF file of an encoder */
    size_t reader_cache_bytes; /* of token vectors that it keeps; 0: 64 MiB */
    /* The language model, such as local_generator() gives; {0}: answers are extractive. */
    generator_source generator;
    int n_threads; /* < 1: fo_core_count() for models, else fo_cpu_count() */
    /* What keeps documents; NULL: SQLite's (data/store/store_backend.h). */
    const struct store_backend *store;
    bool read_only;            /* no lock, no writes: several processes may serve one home */
    bool full_disk;            /* read_only, but alone: what is left where the disk is full */
    bool force_empty;          /* begin anew where the home has lost its store */
    bool accept_loss;          /* go on where acknowledged commits are gone */
    bool offline;              /* documents go to the store alone until service_catch_up */
    uint64_t build_memory;     /* for indexes built from the store, roughly; 0: 1 GiB */
    uint64_t min_free_bytes;   /* ingest is refused (FO_ENOSPC) below this; 0: 64 MiB */
    int64_t cache_bytes;       /* of answers and contexts kept; 0: 64 MiB; < 0: no caches */
    int64_t cache_ttl_ms;      /* 0: kept until evicted */
    double primes_per_s;       /* hot questions asked again after a change; 0: 4; < 0: none */
    double semantic_threshold; /* an answer serves questions in other words whose cosine is no less
                                  and that agree by semantic_hits.h; 0: off */
    enum kv_warm_mode warm;    /* with a language model */
    service_refine refine;
    bool hide_queries;         /* never write the text of questions down */
    int64_t merge_bytes_per_s; /* that background merges may write; 0: 64 MiB; < 0: any number */
    size_t seal_chunks; /* that an index gathers in memory before they become a file; 0: 16,384 */
    uint64_t segment_metadata; /* that a segment of an index may have (search_index.h); 0: 1 GiB */
    /* Collections whose indexes may be open at once; 0: 256. Others are opened when they are asked
     * for, in the place of the one that nobody asked for longest; those in use are never closed. */
    size_t max_open_collections;
    /* Bytes that documents on their way in take, all calls together: what they unpack to, their text,
     * chunks and vectors; 0: 256 MiB. */
    uint64_t ingest_memory;
    /* Bytes of PDFs that are kept, so that their pages can be shown (page_images.h); 0: 1 GiB; < 0: none. */
    int64_t original_bytes;
    /* This program, to be started again for reading PDF, Office and the like in processes of their own
     * (data/extract/extract_host.h; main has to know that role): "/proc/self/exe". NULL: such
     * documents are refused. */
    const char *worker_program;
    /* Letters in images, where a call says nothing: INGEST_OCR_DEFAULT is off. The language is
     * tesseract's name, "eng+deu"; NULL: "eng". FO_EUNSUPPORTED where they cannot be recognised here. */
    int ocr; /* enum ingest_ocr */
    const char *ocr_language;
    /* A file of an index was found damaged while it was in use; its chunks were indexed again from
     * the store, or not (rebuilt false, and why says so). From a thread of the service. */
    void (*index_damaged)(void *ctx, const char *tenant, const char *collection, const char *why,
                          bool rebuilt);
    void *index_damaged_ctx;
    /* What was found out of order and gone on from: the kinds of store_options and
     * search_index_options, index_refilled, index_caught_up, index_ahead, index_missing,
     * index_stuck, index_goes_on, chunk_left_out, metadata_left_out, hot_damaged, hot_missing, kv_damaged,
     * store_lost, modes_tightened, modes_open, document_damaged. From any thread, until service_close
     * returns. */
    fo_notices notices;
} service_options;

/* FO_ECORRUPT: the store is damaged, has lost what was acknowledged, or is gone, and nothing was
 * touched; the sentence says what to do. */
int service_open(service **out, const service_options *opt, fo_err *err);
/* Refuses new work, waits for what runs, seals the indexes, checkpoints. NULL is fine. */
void service_close(service *s);

embedder *service_embedder(service *s); /* of new collections; owned by s */
/* What made vectors with this fingerprint, owned by s; NULL: the service has no such embedder. FO_ENOMEM: it may have
 * one. */
int service_embedder_of(service *s, const char *fingerprint, embedder **out, fo_err *err);
/* What made a collection's; that of new collections where there is none such, or no collection. */
embedder *service_embedder_for(service *s, const char *tenant, const char *collection);
generator *service_generator(service *s);  /* NULL: no language model; owned by s */
reranker *service_reranker(service *s);    /* NULL: no cross-encoder; owned by s */
bool service_has_reader(const service *s); /* search.rerank may be the reader */
const char *service_home(const service *s);
int service_model_threads(const service *s); /* that a model's products are shared among */

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

/* ---- questions --------------------------------------------------------------------------- */

/* The names of each enum's values, in their order; NULL ends them (fo_names_find, json_in_enum). */
extern const char *const search_mode_names[], *const cache_mode_names[];
extern const char *const context_order_names[], *const rerank_names[];
extern const char *const query_status_names[], *const answer_source_names[];
extern const char *const cache_outcome_names[], *const rewrite_names[];

enum search_mode { SEARCH_HYBRID, SEARCH_DENSE, SEARCH_SPARSE };
enum cache_mode { CACHE_DEFAULT, CACHE_BYPASS, CACHE_REFRESH };
/* Order of the contexts in a prompt: by score, or so that the longest prefix is cached already. */
enum context_order { ORDER_SCORE, ORDER_CACHE };
/* Who answers where a language model is loaded: the model where its answer holds, else extraction;
 * the other two are there to be measured. */
enum answer_by { ANSWER_BY_SERVICE, ANSWER_BY_EXTRACTION, ANSWER_BY_MODEL };

/* Who makes a turn of a conversation whole, to be searched for and answered: for an answer the model
 * where one of its size is good at it, else words of the turns before. */
enum rewrite_by { REWRITE_AUTO, REWRITE_WORDS, REWRITE_MODEL, REWRITE_OFF };

/* What puts the best of the fused list in order: nothing more, the cross-encoder of rerank_model, or
 * the reader. Contexts of an answer are always read, where the service has a reader. */
enum rerank_kind { RERANK_NONE, RERANK_MODEL, RERANK_READER };

typedef struct search_params {
    enum search_mode mode;
    enum fusion_kind fusion;
    double alpha; /* dense weight; < 0: the collection's, else the embedder's default */
    int rrf_k;    /* 0: 60 */
    size_t ef;    /* 0: default */
    enum rerank_kind rerank;
    double score_threshold; /* of the fused score; 0: none, not even below 0 (a cosine) */
} search_params;

typedef struct query_message {
    const char *role, *content;
} query_message;

/* A field that changes contexts or answer belongs into query_keys.c. */
typedef struct query_request {
    const char *tenant, *collection;
    const char *query;             /* the question; required unless messages end with the user's */
    const query_message *messages; /* earlier turns, oldest first; NULL: none */
    size_t n_messages;
    size_t top_k; /* 1 .. 1000; 0: 8 */
    const search_filter *filter;
    const search_filter *sees; /* what the asker sees of the collection; NULL: everything */
    const char
        *without; /* id of a document that no context is from; NULL: none. With CACHE_BYPASS only */
    search_params search;
    bool generate;             /* false: contexts only (POST /search) */
    bool strict;               /* grounding: strict abstains where support is weak */
    size_t max_tokens;         /* of the answer; 0: 256 */
    size_t max_sentences;      /* of the answer; 0: 3 */
    double temperature, top_p; /* top_p 0: 1 */
    uint64_t seed;
    int sampling_top_k;                         /* of a written answer's tokens; 0: all */
    double min_p;                               /* 0: all */
    double presence_penalty, frequency_penalty; /* -2 .. 2 */
    double repetition_penalty;                  /* .01 .. 10; 0: 1, which is none */
    const char *const *stop;                    /* strings that end an answer: stop_match_check */
    size_t n_stop;
    int priority; /* of a written answer: -100 .. 100, higher is sooner */
    enum context_order order;
    enum generator_reuse kv_reuse;
    bool prefill_only; /* compute and keep the KV of the prompt, write nothing */
    bool drop_kv;      /* free its pages at the end instead of keeping them findable */
    generator_diffusion diffusion;
    generator_sparse sparse;
    bool no_lookup;    /* guess nothing ahead from the prompt; the answer is the same */
    bool short_answer; /* say which words of an extractive answer are the answer */
    enum answer_by answer_by;
    enum rewrite_by rewrite;
    enum cache_mode cache;
    long today;     /* the asker's day, in days since 1 January 1970; 0: of this machine's clock */
    int timeout_ms; /* 0: 60,000 */
    atomic_bool *cancel;
    bool background; /* the service's own (priming): counted nowhere */
} query_request;

typedef struct query_citation {
    int index;                       /* the n of the marker [n], 1-based */
    size_t answer_start, answer_end; /* code points of answer: what the marker supports */
    char *quote;
    bool verified;
    size_t context;                  /* into contexts[] */
    size_t source_start, source_end; /* code points of the stored document text */
} query_citation;

typedef struct query_context {
    store_chunk chunk;
    double score;                 /* fused */
    double dense, sparse, rerank; /* NAN where that list does not hold it */
    double answers;               /* by the reader: how likely it answers, 0..1; NAN: not read */
} query_context;

enum query_status { QUERY_ANSWERED, QUERY_ABSTAINED, QUERY_NO_CONTEXT };
enum answer_source { ANSWER_NONE, ANSWER_EXTRACTIVE, ANSWER_GENERATED };

enum cache_outcome { CACHE_BYPASSED, CACHE_HIT, CACHE_MISS };

/* Whatever of this an answer owns is copied by cached_results.c. */
typedef struct query_result {
    char *answer; /* "" when there is none */
    enum query_status status;
    enum answer_source source;
    const char *finish_reason; /* static: "stop", "abstain", ... */
    const char *refusal;       /* static: what to say where there is no answer, in the question's
                                  language; "" where there is one */
    const char *model;         /* that wrote the answer, the service's; NULL: none */
    char *stop_sequence;       /* that ended a written answer; NULL: none */
    char *rewritten;         /* what was searched for instead of the question; NULL: that itself */
    bool rewritten_by_model; /* ... or by words of the turns before it */
    double support;          /* calibrated support of the best answer, 0..1 */
    double agreement; /* of what the model wrote with the extractive answer: generated_answer.h */
    struct {          /* what the model was given to read; n_contexts 0: no prompt */
        size_t *contexts; /* [n_contexts], into contexts[], in the order of the prompt */
        size_t n_contexts, n_dropped, n_turns_dropped; /* dropped: for want of room */
        bool cut;                                      /* the only context lost its end */
    } prompt;
    query_citation *citations;
    size_t n_citations;
    struct {               /* the few words of answer that answer; equal: none, or not asked for */
        size_t start, end; /* code points of answer */
    } short_answer;
    query_context *contexts;
    size_t n_contexts;
    size_t n_collapsed; /* near-duplicates left out */
    int64_t epoch;
    generator_usage usage; /* of the answer; where service_query failed, until then */
    size_t
        rewriting_tokens; /* that the model took for `rewritten`, also where it came to nothing */
    struct {
        enum cache_outcome answer, retrieval;
        uint32_t hot_estimate; /* how often this was asked of late, by the sketch */
        double similarity;     /* of the question that was answered, where it was another; else 0 */
        double saved_ms;       /* by a hit, over what it cost at first */
        size_t saved_tokens;
    } cache;
    struct {
        double queue, embed, dense, sparse, fuse, rerank, prefill, first_token, decode, total;
        double first_visible; /* words of an answer, a draft's too; without a sink the total */
    } ms;
    int64_t retry_after_ms; /* where service_query gave FO_EBUSY */
} query_result;
void query_result_deinit(query_result *r);

/* Called while the answer grows, from the thread that runs the query; NULL members are skipped.
 * A non-zero return cancels the query. */
typedef struct query_sink {
    void *ctx;
    int (*contexts)(void *ctx, const query_result *partial);
    int (*token)(void *ctx, const char *text, size_t len);
    int (*citation)(void *ctx, const query_result *partial, const query_citation *c);
    /* The answer in the documents' own words, while the model still reads: partial's answer and
     * citations. Tokens that come later take its place; they may be the same words. */
    int (*draft)(void *ctx, const query_result *partial);
} query_sink;

/* FO_EINVAL names the field; FO_ENOTFOUND when the collection does not exist; FO_EBUSY when the
 * language model refuses for load. A model that runs out of time, or into an error, is no failure:
 * the extractive answer is given. After an error *out holds nothing but what the model took, usage and
 * rewriting_tokens, and retry_after_ms. */
int service_query(service *s, const query_request *q, const query_sink *sink, query_result *out,
                  fo_err *err);

/* Under which KV is kept and found: nothing is shared between tenants, nor between those who see other
 * documents (sees as in query_request). */
void service_kv_salt(const char *tenant, const search_filter *sees, unsigned char out[32]);

/* ---- operations -------------------------------------------------------------------------- */

typedef struct service_stats {
    size_t n_collections, n_documents, n_chunks;
    /* of the collections that are open */
    size_t n_open_collections, n_segments;
    uint64_t index_file_bytes, index_memory_bytes;
    uint64_t database_bytes;
    uint64_t n_queries, n_ingested;
} service_stats;
int service_get_stats(service *s, service_stats *out, fo_err *err);
void service_get_refine_stats(service *s, service_refine_stats *out);
/* Collections (tenant and name NULL: all) whose vectors another embedder made than the one that is
 * loaded: their dense and hybrid queries, and new documents for them, are refused with FO_EMISMATCH.
 * At most `limit` of them by name (caller deinits each and frees *out), all of them counted. */
int service_foreign_collections(service *s, const char *tenant, const char *name, size_t limit,
                                store_collection **out, size_t *n, size_t *n_all, fo_err *err);
/* What is the matter with such a one and what to do: into *err, whose code it returns. */
int service_foreign_sentence(const service *s, const char *name, fo_err *err);
void service_get_ingest_memory(service *s, memory_budget_stats *out);
uint64_t service_database_bytes(const service *s); /* of the files; the database is not asked */
int64_t service_free_disk_bytes(service *s);       /* where its store lies; < 0: not known */
uint64_t service_n_refused(const service *s); /* reads refused because what is stored is damaged */
/* What the store took, since it was opened; valid until service_close. */
const fo_histogram *service_get_store_timing(const service *s, enum store_timing which);
/* The dense weight of a collection's hybrid queries, 0..1 (< 0: its embedder's again), and the support below
 * which an answer is withheld, 0..1 (< 0: the default again); NULL leaves either as it is. Queries see them
 * once the collection's index is opened anew. */
int service_set_tuning(service *s, const char *tenant, const char *name, const double *alpha,
                       const double *min_support, fo_err *err);
/* A copy of the home in a file (home_backup.h), as of one moment and synced. FO_ECANCELLED: *cancel (may be NULL) became
 * true; then nothing is left of it. */
int service_backup(service *s, const char *file, const atomic_bool *cancel, fo_err *err);

/* What the caches did since the start. */
typedef struct service_cache_stats {
    query_cache_stats answer, retrieval;
    uint64_t coalesced;   /* hits that waited for a concurrent, identical query */
    uint64_t revalidated; /* answer hits after the epoch moved: the same contexts were found */
    uint64_t primed;
    uint64_t semantic; /* answer hits of questions in other words */
} service_cache_stats;
void service_get_cache_stats(service *s, service_cache_stats *out);
typedef struct service_warm_stats {
    enum kv_warm_mode mode;
    uint64_t chunks, tokens;  /* gone through since the start */
    uint64_t computed_tokens; /* the others were known */
    uint64_t bytes, budget_bytes;
    bool waiting; /* there is more to do */
} service_warm_stats;
void service_get_warm_stats(service *s, service_warm_stats *out);

uint32_t service_hot_estimate(service *s, const char *tenant, const char *collection,
                              const char *query);

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
