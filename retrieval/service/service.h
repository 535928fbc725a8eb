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
 * Documents and collections are collections.h's, questions query.h's; both come with this.
 * Every function may be called from any thread; a slow ingest never holds up a query.
 * Strings handed in are UTF-8 and stay the caller's; results own what they point to. */
#ifndef FORAGE_RETRIEVAL_SERVICE_H
#define FORAGE_RETRIEVAL_SERVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "kernels/histogram.h"
#include "kernels/memory_budget.h"
#include "kernels/notice.h"
#include "retrieval/collections/collections.h"
#include "retrieval/generator/generator.h"
#include "retrieval/pipeline/query.h"
#include "retrieval/rank/rerank.h"

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

embedder *service_embedder(service *s);    /* of new collections; owned by s */
generator *service_generator(service *s);  /* NULL: no language model; owned by s */
reranker *service_reranker(service *s);    /* NULL: no cross-encoder; owned by s */
bool service_has_reader(const service *s); /* search.rerank may be the reader */
const char *service_home(const service *s);
int service_model_threads(const service *s); /* that a model's products are shared among */

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
void service_get_warm_stats(service *s, service_warm_stats *out);
/* What the service reads with; service_model_names has a word for each. */
enum service_model {
    SERVICE_GENERATOR,
    SERVICE_EMBEDDER,
    SERVICE_RERANKER,
    SERVICE_READER,
    SERVICE_MODELS
};
extern const char *const service_model_names[]; /* by service_model; NULL ends them */
/* Was all that was read of its file until now given by the disk? FO_EIO, with the file's name, where it was cut off or
 * its disk failed: then what needs it is refused until the next start. FO_OK too where there is none such. It waits for
 * nobody and reads nothing. */
int service_model_intact(const service *s, enum service_model which, fo_err *err);
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

#endif
