/* A home folder opened and closed, and what is asked about it as a whole. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/extract/extract.h"
#include "data/extract/extract_host.h"
#include "engine/model/model_memory.h"
#include "kernels/file.h"
#include "retrieval/home/home.h"
#include "retrieval/home/home_store.h"
#include "retrieval/collections/kv_warm.h"
#include "retrieval/collections/page_images.h"
#include "retrieval/pipeline/query_memory.h"
#include "retrieval/pipeline/readers.h"
#include "retrieval/collections/refine.h"
#include "retrieval/service/service.h"
#include "retrieval/service/service_store.h"

enum { MAX_OPEN = 256 };

/* One writer per home: SQLite would allow more, the index files would not. */
static int take_lock(service *s, fo_err *err) {
    char path[4096];
    if (snprintf(path, sizeof path, "%s/lock", s->home) >= (int)sizeof path)
        return fo_fail(err, FO_ELIMIT, "the home folder's name is too long");
    s->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (s->lock_fd < 0 && errno == EROFS)
        return fo_fail(
            err, FO_EIO,
            "cannot open %s: nothing can be written there; --read-only serves such a home", path);
    if (s->lock_fd < 0 && errno == ENOTDIR) return home_fail_file(s->home, err);
    if (s->lock_fd < 0 && errno == EACCES) return home_fail_others(s->home, err);
    if (s->lock_fd < 0) return fo_fail_errno(err, "cannot open %s", path);
    if (flock(s->lock_fd, LOCK_EX | LOCK_NB) == 0) return FO_OK;
    if (errno != EWOULDBLOCK) return fo_fail_errno(err, "cannot lock %s", path);
    return fo_fail(err, FO_EBUSY,
                   "home folder %s is in use by another forage process; stop it, or talk to it "
                   "with --url",
                   s->home);
}

/* A home that has lost its store opens empty only where that is wanted. */
static int look_for_store(service *s, bool force_empty, fo_err *err) {
    fo_err why = {0};
    int rc = home_check_store(s->backend, s->home, &why);
    if (!rc) return FO_OK;
    if (rc != FO_ECORRUPT || !force_empty) {
        if (err) *err = why;
        return rc;
    }
    const char *rest[32] = {"index", "hot", "originals"};
    for (size_t i = 0, n = 3; s->backend->files[i] && n + 1 < sizeof rest / sizeof *rest; i++)
        rest[n++] = s->backend->files[i];
    fo_notice(&s->notices, "store_lost", "%s", why.msg);
    return home_put_aside(s->home, rest, err);
}

/* One process writes a home: those that read keep nothing in it. */
static int open_generator(service *s, const service_options *opt, uint64_t beside, fo_err *err) {
    generator_place at = {.home = s->read_only ? NULL : s->home,
                          .n_threads = opt->n_threads,
                          .reserved_bytes = beside,
                          .notices = opt->notices};
    int rc = opt->generator.open(&s->generator, opt->generator.options, &at, err);
    if (!rc) s->prompts = prompt_template_for(generator_get_info(s->generator)->n_parameters);
    return rc;
}

static const size_t DEFAULT_READER_CACHE = (size_t)64 << 20;

/* What stands beside the language model: the other models, and the caches of answers. Refused here
 * where that alone cannot fit; a generator adds its own. */
static int plan_memory(const service_options *opt, uint64_t *beside, fo_err *err) {
    uint64_t encoder = 0, cross = 0, caches = (uint64_t)query_memory_budget(opt->cache_bytes);
    int rc = model_memory_of_encoder(&encoder, opt->embed_model, err);
    if (!rc) rc = model_memory_of_encoder(&cross, opt->rerank_model, err);
    if (rc) return rc;
    *beside = encoder + cross + caches;
    uint64_t available = model_memory_available();
    if (available && *beside > available)
        return fo_fail(err, FO_ENOMEM,
                       "the embedder needs %llu MiB, the reranker %llu MiB and the caches of "
                       "answers %llu MiB; %llu MiB are available",
                       (unsigned long long)(encoder >> 20), (unsigned long long)(cross >> 20),
                       (unsigned long long)(caches >> 20), (unsigned long long)(available >> 20));
    return FO_OK;
}

const char *const service_model_names[] = {"language model", "embedder", "reranker", "reader",
                                           NULL};

int service_model_intact(const service *s, enum service_model which, fo_err *err) {
    switch (which) {
    case SERVICE_GENERATOR:
        return s->generator ? generator_intact(s->generator, err) : FO_OK;
    case SERVICE_EMBEDDER:
        return embedder_intact(s->embedder, err);
    case SERVICE_RERANKER:
        return s->reranker ? reranker_intact(s->reranker, err) : FO_OK;
    case SERVICE_READER: /* the built-in one has no file and is opened later, the other one is the embedder */
        return s->reads && !s->reads_english ? reader_intact(s->reader, err) : FO_OK;
    default:
        return FO_OK;
    }
}

static int open_models(service *s, const service_options *opt, fo_err *err) {
    if (!(s->model_pool = fo_pool_create_bound(opt->n_threads, NULL)) ||
        !(s->passage_pool = fo_pool_create_background(opt->n_threads, true)))
        return fo_fail(err, FO_ENOMEM, "out of memory for threads");
    embedder_options e = {.pool = s->model_pool,
                          .passage_pool = s->passage_pool,
                          .query_prefix = opt->query_prefix,
                          .passage_prefix = opt->passage_prefix};
    uint64_t beside = 0;
    int rc = plan_memory(opt, &beside, err);
    /* First, while the others are not yet in what is available. */
    if (!rc && opt->generator.open) rc = open_generator(s, opt, beside, err);
    s->embed_how = e;
    s->embedder_asked_for = opt->embed_model && opt->embed_model[0];
    s->builtins = (!s->embedder_asked_for || !strcmp(opt->embed_model, EMBEDDER_TABLE) ||
                   !strcmp(opt->embed_model, EMBEDDER_ENCODER)) &&
                  !opt->query_prefix && !opt->passage_prefix;
    if (!rc) rc = embedder_open_with(&s->embedder, opt->embed_model, &e, err);
    if (!rc && opt->rerank_model)
        rc = reranker_open(&s->reranker, opt->rerank_model, s->model_pool, err);
    const char *read_by = opt->reader ? opt->reader : "builtin";
    s->reads = strcmp(read_by, "none") != 0;
    s->reads_english = strcmp(read_by, "builtin") == 0;
    s->reads_others = !rc && s->reads_english && embedder_has_languages(s->embedder);
    s->reader_bytes = opt->reader_cache_bytes ? opt->reader_cache_bytes : DEFAULT_READER_CACHE;
    /* The built-in one waits for the first question: not every open home is asked one. */
    if (!rc && s->reads && strcmp(read_by, "builtin") != 0)
        rc = service_open_reader(s, read_by, err);
    return rc;
}

static int open_ingest_memory(service *s, const service_options *opt, fo_err *err) {
    size_t all = opt->ingest_memory ? (size_t)opt->ingest_memory : (size_t)256 << 20;
    size_t small = all / 8;
    s->document_bytes = all - small;
    s->small_bytes = small / 4;
    int rc = memory_budget_create(&s->small_memory, small, err);
    if (!rc) rc = memory_budget_create(&s->ingest_memory, s->document_bytes, err);
    return rc;
}

/* What service_close can end already: plain options, locks, nothing that fails. NULL: no memory. */
static service *create(const service_options *opt) {
    service *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->lock_fd = -1;
    s->backend = opt->store ? opt->store : home_backend();
    s->read_only = opt->read_only || opt->full_disk;
    s->offline = opt->offline && !s->read_only;
    s->build_memory = opt->build_memory;
    s->merge_bytes_per_s = opt->merge_bytes_per_s;
    s->seal_chunks = opt->seal_chunks;
    s->segment_metadata = opt->segment_metadata;
    s->index_damaged = opt->index_damaged;
    s->index_damaged_ctx = opt->index_damaged_ctx;
    s->notices = opt->notices;
    s->min_free_bytes = opt->min_free_bytes ? opt->min_free_bytes : 64u << 20;
    s->queue_tail = &s->queue;
    pthread_mutex_init(&s->admin_mu, NULL);
    pthread_mutex_init(&s->reader_mu, NULL);
    pthread_mutex_init(&s->embedders_mu, NULL);
    pthread_mutex_init(&s->mu, NULL);
    pthread_cond_init(&s->idle, NULL);
    pthread_cond_init(&s->open.changed, NULL);
    s->open.most = opt->max_open_collections ? opt->max_open_collections : MAX_OPEN;
    pthread_mutex_init(&s->write_mu, NULL);
    pthread_cond_init(&s->write_free, NULL);
    return s;
}

/* What takes documents in: how letters in images are read, threads, memory, worker processes, pictures of pages. */
static int open_preparation(service *s, const service_options *opt, fo_err *err) {
    int rc = FO_OK;
    s->ocr = opt->ocr ? opt->ocr : INGEST_OCR_OFF;
    if (s->ocr != INGEST_OCR_OFF || opt->ocr_language)
        rc = extract_ocr_check(opt->ocr_language, err);
    if (rc) return rc;
    if (opt->ocr_language && !(s->ocr_language = strdup(opt->ocr_language)))
        return fo_no_memory(err);
    s->home = strdup(opt->home);
    s->pool = fo_pool_create_background(opt->n_threads, false);
    s->index_pool = fo_pool_create_background(opt->n_threads, false);
    s->merge_pool = fo_pool_create_background(opt->n_threads, false);
    if (!s->home || !s->pool || !s->index_pool || !s->merge_pool) return fo_no_memory(err);
    rc = open_ingest_memory(s, opt, err);
    if (!rc && opt->worker_program) /* of a read-only home too: what a dry run would find */
        rc = extract_host_create(&s->extract_host,
                                 &(extract_host_options){.program = opt->worker_program}, err);
    if (!rc)
        rc = page_images_create(&s->page_images, s->home,
                                opt->original_bytes < 0 ? 0
                                : opt->original_bytes   ? (uint64_t)opt->original_bytes
                                                        : (uint64_t)1 << 30,
                                err);
    return rc;
}

/* The folder, for this process alone where it is written. */
static int open_home(service *s, const service_options *opt, fo_err *err) {
    if (s->read_only) {
        int rc = opt->store ? FO_OK : home_must_exist(s->home, err);
        if (!rc && opt->full_disk) rc = take_lock(s, err);
        return rc;
    }
    int rc = fo_make_dirs(s->home, err);
    if (!rc) rc = take_lock(s, err);
    if (!rc) rc = look_for_store(s, opt->force_empty, err);
    if (!rc) home_tighten(s->backend, s->home, &s->notices);
    return rc;
}

/* The store, and the indexes of its collections. */
static int open_data(service *s, const service_options *opt, fo_err *err) {
    store_options sopt = {
        .read_only = s->read_only, .accept_loss = opt->accept_loss, .notices = opt->notices};
    int rc = store_open(&s->store, s->backend, s->home, &sopt, err);
    s->catalog.store = s->store;
    if (!rc && !s->read_only) rc = store_fail_running_jobs(s->store, err);
    if (!rc && !s->read_only) service_forget_lost_originals(s);
    if (!rc && !s->read_only) rc = search_workers_create(&s->index_workers, 0, err);
    if (!rc && !s->offline) rc = collections_open_first(s, err);
    return rc;
}

/* What goes on by itself: questions made ahead, KV and vectors while nobody asks. */
static int start_background(service *s, const service_options *opt, fo_err *err) {
    int rc = query_memory_create(&s->memory, s,
                                 &(query_memory_options){
                                     .cache_bytes = opt->cache_bytes,
                                     .cache_ttl_ms = opt->cache_ttl_ms,
                                     .primes_per_s = opt->primes_per_s,
                                     .semantic_threshold = opt->semantic_threshold,
                                     .hide_queries = opt->hide_queries,
                                 },
                                 err);
    if (!rc) rc = query_memory_start(s->memory, err);
    generator_kept kept;
    if (!rc && s->generator && !s->read_only && opt->warm != KV_WARM_OFF &&
        generator_get_kept(s->generator, &kept))
        rc = kv_warm_start(&s->warm, s, opt->warm, err);
    if (!rc && opt->refine.on && s->builtins && !s->read_only && !s->offline)
        rc = refine_start(&s->refine, s, &opt->refine, err);
    return rc;
}

int service_open(service **out, const service_options *opt, fo_err *err) {
    if (!opt->home || !opt->home[0])
        return fo_fail_field(err, FO_EINVAL, "home", "a home folder is needed");
    service *s = create(opt);
    if (!s) return fo_no_memory(err);
    int rc = open_preparation(s, opt, err);
    if (!rc) rc = open_home(s, opt, err);
    if (!rc) rc = open_models(s, opt, err);
    if (!rc) rc = open_data(s, opt, err);
    if (!rc) rc = start_background(s, opt, err);
    if (rc) {
        service_close(s);
        return rc;
    }
    *out = s;
    return FO_OK;
}

void service_close(service *s) {
    if (!s) return;
    refine_stop(s->refine);
    kv_warm_stop(s->warm);
    query_memory_stop(s->memory);
    pthread_mutex_lock(&s->mu);
    s->closing = true;
    while (s->n_running) pthread_cond_wait(&s->idle, &s->mu);
    pthread_mutex_unlock(&s->mu);
    refine_free(s->refine);
    kv_warm_free(s->warm);
    query_memory_free(s->memory);
    collections_close_all(s);
    search_workers_free(s->index_workers);
    store_close(s->store);
    generator_close(s->generator);
    reranker_close(s->reranker);
    reader_close(s->reader);
    reader_close(s->other_reader); /* before the embedder, whose weights it runs */
    embedder_close(s->embedder);
    embedder_close(s->other_builtin);
    extract_host_free(s->extract_host);
    page_images_free(s->page_images);
    memory_budget_free(s->ingest_memory);
    memory_budget_free(s->small_memory);
    fo_pool_free(s->pool);
    fo_pool_free(s->index_pool);
    fo_pool_free(s->merge_pool);
    fo_pool_free(s->model_pool);
    fo_pool_free(s->passage_pool);
    if (s->lock_fd >= 0) close(s->lock_fd);
    pthread_mutex_destroy(&s->admin_mu);
    pthread_mutex_destroy(&s->reader_mu);
    pthread_mutex_destroy(&s->embedders_mu);
    pthread_mutex_destroy(&s->mu);
    pthread_cond_destroy(&s->idle);
    pthread_cond_destroy(&s->open.changed);
    pthread_mutex_destroy(&s->write_mu);
    pthread_cond_destroy(&s->write_free);
    free(s->ocr_language);
    free(s->home);
    free(s);
}

store *service_store(service *s) {
    return s->store;
}
int service_model_threads(const service *s) {
    return fo_pool_threads(s->model_pool);
}
embedder *service_embedder(service *s) {
    return s->embedder;
}
generator *service_generator(service *s) {
    return s->generator;
}
reranker *service_reranker(service *s) {
    return s->reranker;
}
void service_get_refine_stats(service *s, service_refine_stats *out) {
    refine_get_stats(s->refine, out);
}
bool service_has_reader(const service *s) {
    return s->reads;
}
const char *service_home(const service *s) {
    return s->home;
}

void service_get_ingest_memory(service *s, memory_budget_stats *out) {
    memory_budget_stats small;
    memory_budget_get_stats(s->ingest_memory, out);
    memory_budget_get_stats(s->small_memory, &small);
    out->bytes += small.bytes;
    out->used += small.used;
    out->most += small.most;
    out->n_waiting += small.n_waiting;
    out->n_waited += small.n_waited;
    out->n_refused += small.n_refused;
}

uint64_t service_database_bytes(const service *s) {
    return store_n_bytes(s->store);
}

int64_t service_free_disk_bytes(service *s) {
    return store_free_disk_bytes(s->store);
}

uint64_t service_n_refused(const service *s) {
    return store_n_refused(s->store);
}

const fo_histogram *service_get_store_timing(const service *s, enum store_timing which) {
    return store_get_timing(s->store, which);
}

int service_set_tuning(service *s, const char *tenant, const char *name, const double *alpha,
                       const double *min_support, fo_err *err) {
    store_collection row = {0};
    int rc = store_get_collection(s->store, tenant, name, &row, err);
    if (!rc)
        rc = store_set_tuning(s->store, row.id, alpha ? *alpha : row.alpha,
                              min_support ? *min_support : row.min_support, err);
    store_collection_deinit(&row);
    return rc;
}

int service_backup(service *s, const char *file, const atomic_bool *cancel, fo_err *err) {
    return home_backup_open(s->store, s->home, file, cancel, err);
}

int service_get_stats(service *s, service_stats *out, fo_err *err) {
    *out = (service_stats){0};
    store_collection *list = NULL;
    size_t n = 0;
    int rc = store_list_collections(s->store, NULL, &list, &n, err);
    if (rc) return rc;
    out->n_collections = n;
    for (size_t i = 0; i < n; i++) {
        out->n_documents += (size_t)list[i].n_documents;
        out->n_chunks += (size_t)list[i].n_chunks;
        store_collection_deinit(&list[i]);
    }
    free(list);
    out->database_bytes = service_database_bytes(s);
    out->n_queries = atomic_load_explicit(&s->n_queries, memory_order_relaxed);
    out->n_ingested = atomic_load_explicit(&s->n_ingested, memory_order_relaxed);
    search_index_stats indexes;
    rc = service_get_index_stats(s, &indexes, &out->n_open_collections, err);
    if (rc) return rc;
    out->n_segments = indexes.n_segments;
    out->index_file_bytes = indexes.bytes_files;
    out->index_memory_bytes = indexes.bytes_memory;
    return FO_OK;
}

void service_get_warm_stats(service *s, service_warm_stats *out) {
    kv_warm_get_stats(s->warm, out);
}
