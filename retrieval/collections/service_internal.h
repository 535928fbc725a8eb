/* service_internal.h - the state of a service and what works on its collections, for the rooms of retrieval/ that do: this one,
 * pipeline, service and sync.
 *
 * Lock order: admin_mu -> write lock -> mu. The write lock is held through a whole commit;
 * mu only for a look-up. Queries take mu alone, and briefly. */
#ifndef FORAGE_RETRIEVAL_SERVICE_INTERNAL_H
#define FORAGE_RETRIEVAL_SERVICE_INTERNAL_H

#include <pthread.h>
#include "index/search/search_workers.h"
#include "index/sparse/analyze.h"
#include "kernels/memory_budget.h"
#include "kernels/pool.h"
#include "engine/embed/reader.h"
#include "retrieval/generator/prompt.h"
#include "retrieval/collections/catalog.h"
#include "data/store/store_backend.h"
#include "retrieval/rank/rerank.h"

enum collection_state { COLLECTION_OPENING, COLLECTION_OPEN, COLLECTION_CLOSING };

/* A collection whose index is open, or about to be. */
typedef struct collection {
    /* immutable */
    service *service;
    char *tenant, *name;
    /* guarded by service.mu */
    struct collection *next; /* in the table of those that are open */
    enum collection_state state;
    int refs;      /* one is the table's, while it is open */
    uint64_t used; /* when it was asked for last: the highest was asked for most recently */
    struct collection
        *successor;              /* what a rebuild put in its place: kept open until this is gone */
    int n_predecessors;          /* that have this as their successor */
    analyzer *idle_analyzers[8]; /* making one costs more than a search */
    int n_idle_analyzers;
    bool half_exchanged;          /* the store has other vectors than index: see rebuild.c */
    bool remove_files;            /* deleted or replaced: files go with the last reference */
    struct title_vectors *titles; /* title_vectors.h; NULL: none, or not read */
    bool titles_read;
    uint64_t titles_changes;    /* times that others were stored, or went, since it is open */
    search_index_stats counted; /* what need not be counted of it: at the opening, or since */
    /* immutable while it is open */
    int64_t id;
    char *language, *dir;
    search_index *index;
    int edition;          /* 0 or 1: which folder, see collections.c */
    uint32_t dim;         /* of its vectors */
    embedder *embedder;   /* that made them, the service's; NULL where foreign_vectors */
    bool foreign_vectors; /* embedded by a model that the service has not: sparse search only */
    _Atomic double alpha; /* tuned dense weight; < 0: the embedder's */
    _Atomic double min_support; /* tuned; < 0: the default */
} collection;

/* Guarded by service.mu. */
enum { OPEN_BUCKETS = 1024 };
typedef struct open_collections {
    collection *buckets[OPEN_BUCKETS]; /* by tenant and name */
    size_t n, most;                    /* entries; and how many there may be where some are idle */
    uint64_t clock;
    search_index_stats closed; /* counters of those that are closed again */
    pthread_cond_t changed;    /* one was opened or closed */
} open_collections;

struct catalog {
    store *store;
};

typedef struct write_op write_op;         /* writer.c */
typedef struct query_memory query_memory; /* query_memory.c */

struct service {
    int ocr;            /* enum ingest_ocr, never DEFAULT; immutable, as its language */
    char *ocr_language; /* NULL: "eng" */
    /* immutable after open */
    char *home;
    const store_backend *backend;
    store *store;
    struct catalog catalog;  /* of that store */
    embedder *embedder;      /* of new collections */
    bool builtins;           /* that is one of the binary's, so collections of either are served */
    bool embedder_asked_for; /* named by whoever opened the service */
    embedder_options embed_how; /* how one that is opened later runs */
    pthread_mutex_t embedders_mu;
    embedder *
        other_builtin; /* guarded by embedders_mu until it is there: opened when a collection needs it */
    reranker *reranker;             /* NULL: none loaded */
    generator *generator;           /* NULL: none loaded */
    const prompt_template *prompts; /* with it */
    bool reads;                     /* answers are made with a reader */
    bool reads_english;             /* by the built-in reader; immutable */
    bool reads_others;              /* other languages: by the embedder's weights; immutable */
    size_t reader_bytes;            /* of the cache of each */
    pthread_mutex_t reader_mu;
    /* Guarded by reader_mu until they are there; the built-in one and that of other languages come when asked for. */
    reader *reader, *other_reader;
    /* The first three give way to others (kernels/priority.h); queries never wait for them. */
    fo_pool *pool;         /* prepares documents */
    fo_pool *index_pool;   /* builds graphs */
    fo_pool *merge_pool;   /* merges them: that takes long, and nothing published waits for it */
    fo_pool *passage_pool; /* steps of the embedder over passages, from within `pool` */
    fo_pool *model_pool; /* steps of the embedder over questions, the reranker's and the reader's */
    struct kv_warm *warm;          /* NULL: off */
    struct refine *refine;         /* NULL: off */
    query_memory *memory;          /* what queries leave for the next */
    search_workers *index_workers; /* seal, merge and check; NULL: read-only */
    int lock_fd;
    bool read_only;
    bool offline; /* indexes lag behind the store until service_catch_up */
    uint64_t min_free_bytes, build_memory;
    /* What documents on their way in take, all calls together; an eighth of it is for slices of no
     * more than small_bytes, so that they need not wait for large ones to be done. */
    memory_budget *ingest_memory, *small_memory;
    struct extract_host *extract_host; /* NULL: none */
    struct page_images *page_images;
    size_t document_bytes, small_bytes; /* that one document may take; that is small */
    int64_t merge_bytes_per_s;
    size_t seal_chunks;
    uint64_t segment_metadata;
    void (*index_damaged)(void *ctx, const char *tenant, const char *collection, const char *why,
                          bool rebuilt); /* NULL: nobody wants to know */
    void *index_damaged_ctx;
    fo_notices notices;
    /* Times that a damaged file was dropped from an index. Keys of what queries leave hold it, so that
     * nothing is served that the damage may have had a part in. */
    atomic_uint_fast64_t n_index_drops;

    pthread_mutex_t admin_mu; /* one creation or deletion of a collection at a time */

    pthread_mutex_t mu;
    pthread_cond_t idle;   /* n_running became 0 */
    open_collections open; /* guarded by mu */
    size_t n_running;      /* guarded by mu: calls inside the service */
    /* guarded by mu: documents on their way in have vectors of their collection's embedder, so that one is
     * exchanged (`exchanging`, rebuild.c) only while there are none; `idle` says when either ends */
    size_t n_ingesting;
    bool exchanging;
    double ingested_ms; /* guarded by mu: when the last call with documents ended; 0: none yet */
    bool closing;       /* guarded by mu */

    pthread_mutex_t write_mu;
    pthread_cond_t write_free;     /* a group was committed, or the write lock is free */
    write_op *queue, **queue_tail; /* guarded by write_mu */
    bool writing;                  /* guarded by write_mu: somebody has the write lock */

    /* atomic: relaxed counters */
    atomic_uint_fast64_t n_queries, n_ingested, n_calls; /* n_calls: of service_ingest */
};

/* ---- service_calls.c --------------------------------------------------------------------- */

/* Every public call stands between these: closing waits for them. FO_EBUSY once closing. */
int service_enter(service *s, fo_err *err);
void service_leave(service *s);

/* ---- open_collections.c ------------------------------------------------------------------ */

/* Opens it where it is not open yet, which may take a while: until the index holds what the store
 * does. FO_ENOTFOUND; FO_EINVAL (the names); what opening fails with. */
int collection_acquire(service *s, const char *tenant, const char *name, collection **out,
                       fo_err *err);
void collection_release(service *s, collection *c);
int collections_open_first(service *s, fo_err *err); /* at the start: the largest */
void collections_close_all(service *s);
void collection_count_last(collection *c); /* its index is about to be closed */
/* The epoch that questions to it see, without opening it; -1: there is no such collection. */
int64_t collection_epoch(service *s, const char *tenant, const char *name);
/* As collection_acquire, but what is not open (index NULL) stays closed, and nobody can open it
 * until collection_let_go. `deleted`: it is gone from the store, and its files go too. */
int collection_hold_closed(service *s, const char *tenant, const char *name, collection **out,
                           fo_err *err);
void collection_let_go(service *s, collection *c, bool deleted);
/* fresh takes c's place; the files of c go with its last reader. The caller has c. */
void collection_replace(service *s, collection *c, collection *fresh);
/* Until those are gone whose place c took: their folder is the one that the next to take c's place will
 * have, and it goes with them. The caller has c and no lock that somebody who has one of them may wait for. */
/* The open one of this name, with a reference for the caller; NULL: it is not open. service.mu is held. */
collection *collection_if_open(service *s, const char *tenant, const char *name);
void collection_wait_alone(service *s, collection *c);
/* An analyzer of c's language, for one thread until it is given back. */
int collection_take_analyzer(service *s, collection *c, analyzer **out, fo_err *err);
void collection_give_analyzer(service *s, collection *c, analyzer *a); /* NULL is fine */

/* ---- collections.c ----------------------------------------------------------------------- */

int collection_check_names(const char *tenant, const char *name, fo_err *err);
/* A name without an index yet; with one reference. NULL: no memory. */
collection *collection_create(service *s, const char *tenant, const char *name, fo_err *err);
/* Its index, brought up to the store: row is what the store says now, and nobody writes to it. anew: it is begun here, so
 * that there is no file of it yet is no damage. */
int collection_open_index(collection *c, const store_collection *row, int edition, bool anew,
                          fo_err *err);
void collection_close_index(collection *c); /* seals it, or removes its files; NULL index is fine */
void collection_free(collection *c);        /* its index is closed; NULL is fine */
int collection_edition(service *s, const store_collection *row); /* whose folder is there */
int collection_ensure(service *s, const char *tenant, const char *name, const char *language,
                      collection **out, fo_err *err);
/* Build a fresh index of c's collection from the store and put it in c's place, where it is not
 * replaced or deleted already. The caller has admin_mu, the write lock and c. */
int collection_renew(service *s, collection *c, fo_err *err);

/* ---- embedders.c ------------------------------------------------------------------------- */

/* The built-in encoder where the service may use it beside the table; owned by s. FO_EUNSUPPORTED: it may not. */
int service_take_encoder(service *s, embedder **out, fo_err *err);
/* Documents are about to be embedded for a collection, or were: not while an embedder is exchanged. */
void service_ingest_begin(service *s);
void service_ingest_end(service *s);

/* ---- rebuild.c --------------------------------------------------------------------------- */

/* Embed a collection with `to` while it is asked, a few chunks at a time; then exchange its vectors and its index.
 * Before each piece goes_on(ctx, chunks embedded so far) is asked: it may wait, and ends the work (FO_ECANCELLED) where it
 * returns false. FO_EBUSY: documents were coming in, nothing was exchanged. What is embedded stays for the next call. */
int collection_reembed(service *s, collection *c, embedder *to,
                       bool (*goes_on)(void *ctx, size_t done), void *ctx, fo_err *err);

/* The store has other vectors than those that the open collection of this row answers with. */
bool collection_is_half_exchanged(service *s, const store_collection *row);
/* Before documents come in: where that is so, the index is made anew. The caller has no lock. */
int collection_finish_exchange(service *s, const char *tenant, const char *name, fo_err *err);

/* ---- foreign_vectors.c ------------------------------------------------------------------- */

/* FO_EMISMATCH with a sentence where another embedder made c's vectors. */
int collection_refuse_foreign(const service *s, const collection *c, fo_err *err);
/* After a deletion: where none of those vectors is left, c's place is taken by an index for the
 * embedder that is loaded. The caller has no lock. */
void collection_forget_foreign(service *s, collection *c);

/* ---- ingest.c ---------------------------------------------------------------------------- */

/* A passage is embedded as it is indexed: title, space, text. vectors[n][dim]. */
typedef struct titled_text {
    const char *title; /* NULL or "": none */
    const char *text;
    size_t len;
} titled_text;
int embed_passages(embedder *e, const titled_text *in, size_t n, float *vectors, fo_err *err);

/* ---- page_images.c ----------------------------------------------------------------------- */

/* A PDF is kept after the commit of its document, and another call may delete or replace that in between: the copy
 * goes where it is not of the version that is stored by now. Asked after a copy was kept, and after a deletion. */
void service_settle_original(service *s, int64_t collection_id, const char *id);
/* At a start, before anybody writes: copies of collections that are no more, of which a process left them that ended in
 * between. */
void service_forget_lost_originals(service *s);

/* ---- writer.c ---------------------------------------------------------------------------- */

/* A document ready to be stored; pointers are the caller's until writer_submit returns. */
typedef struct write_document {
    store_document_in in;
    store_chunk_in *chunks;
    size_t n_chunks;
    const search_filter *sees; /* as ingest_options has it */
    ingest_result *result;
    bool damaged;     /* set: what is stored of it could not be read */
    int64_t retitled; /* set: the document, where it was there by another title; else 0 */
} write_document;

/* Store, commit, index and publish: durable and findable when it returns FO_OK. Calls that come
 * together share one transaction. *cancel (NULL: none) is looked at until the commit:
 * FO_ECANCELLED. *epoch is the collection's, with these documents in it. */
int writer_submit(service *s, collection *c, write_document *docs, size_t n,
                  const atomic_bool *cancel, double *index_ms, double *commit_ms, int64_t *epoch,
                  fo_err *err);

typedef struct write_deletion {
    const char *id;
    const unsigned char *sha256; /* NULL, or the hash of the content that is to go: no other does */
    /* set: FO_OK, FO_ENOTFOUND, FO_ECONFLICT (other content), FO_ECORRUPT (what is stored cannot be read) */
    int rc;
} write_deletion;

/* All in one transaction. A document that is not there, or damaged, does not hold up the others: its rc says so,
 * and *err (then with the last such sentence) is set though FO_OK is returned. */
int writer_delete(service *s, collection *c, write_deletion *list, size_t n, int64_t *epoch,
                  fo_err *err);

/* The write lock without a transaction: nobody else writes until writer_yield. */
void writer_take(service *s);
void writer_yield(service *s);

#endif
