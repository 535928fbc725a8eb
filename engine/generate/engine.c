/* engine.c - the engine as it is opened, looked at and closed. */
#include <stdlib.h>

#include "engine/generate/chunk_lead.h"
#include "engine/generate/engine_file.h"
#include "engine/generate/engine_internal.h"
#include "kernels/clock.h"
#include "kernels/cond.h"

enum { SAVE_ALL_MS = 10000 /* the end waits no longer for pages and chunks to be written */ };

static const double CHUNK_BUDGET = .15; /* docs/measurements/kv.md: as measured */
static const double READ_STRETCH = 2;

static int open_kv(engine *e, const engine_options *opt, const engine_memory_plan *plan,
                   fo_err *err) {
    const model_info *info = model_get_info(e->model);
    kv_cache_options ko = {.n_pages = plan->n_pages, .defrag_threshold = opt->defrag_threshold};
    if (ko.defrag_threshold <= 0) ko.defrag_threshold = .5;
    int rc = model_kv_layout(e->model, plan->page_tokens, opt->kv_type, &ko.layout, err);
    kv_store_options so = {.dir = opt->kv_dir,
                           .ram_bytes = plan->store,
                           .disk_bytes = opt->kv_disk,
                           .queue_bytes = opt->kv_queue,
                           .notices = opt->notices};
    if (!rc) rc = kv_store_open(&e->store, &so, info->fingerprint, &ko.layout, err);
    if (opt->kv_dir && opt->kv_disk) ko.store = e->store; /* in RAM the pages do as well */
    if (!rc) rc = kv_cache_create(&e->kv, &ko, info->fingerprint, err);
    e->kv_tokens = (size_t)plan->n_pages * (size_t)plan->page_tokens;
    e->world =
        (chunk_world){.model = e->model, .cache = e->kv, .layout = ko.layout, .store = e->store};
    e->world.n_lead = chunk_lead_tokens(e->tokenizer, info->n_vocab, e->world.lead);
    e->world.capacity =
        e->kv_tokens < (size_t)info->n_context ? (int)e->kv_tokens : info->n_context;
    return rc;
}

int engine_open(engine **out, const engine_options *opt, fo_err *err) {
    engine *e = calloc(1, sizeof *e);
    if (!e) return fo_no_memory(err);
    pthread_mutex_init(&e->mu, NULL);
    fo_cond_init(&e->wake);
    e->batch_wait_us = opt->batch_wait_us;
    e->row_cost = opt->row_cost;
    e->read_stretch = opt->read_stretch == 0  ? READ_STRETCH
                      : opt->read_stretch > 0 ? opt->read_stretch
                                              : 0;
    e->kv_chunk_budget = opt->kv_chunk_budget == 0 ? CHUNK_BUDGET : opt->kv_chunk_budget;
    engine_file checked;
    int rc = engine_file_check(&checked, opt, err);
    if (rc) goto fail;
    e->tokenizer = checked.tokenizer;
    e->max_batch_tokens = checked.max_batch_tokens;
    e->max_sequences = checked.max_sequences;
    e->max_drafts = checked.max_drafts;
    e->logit_rows = checked.logit_rows;
    e->denoises = checked.denoises;
    e->diffusion = checked.diffusion;
    e->sparse = checked.sparse;
    e->pool = fo_pool_create_bound(opt->n_threads, NULL);
    if (!e->pool) {
        rc = fo_no_memory(err);
        goto fail;
    }
    model_options mo = {.pool = e->pool,
                        .fast = !opt->exact,
                        .progress = opt->progress,
                        .progress_arg = opt->progress_arg};
    rc = model_open(&e->model, opt->model, &mo, err);
    if (rc) goto fail;
    const model_info *info = model_get_info(e->model);
    rc = open_kv(e, opt, &checked.memory, err);
    if (!rc) rc = admission_create(&e->admission, opt->max_qps, opt->max_tps, err);
    model_limits limits = {e->max_batch_tokens, e->logit_rows};
    if (!rc) rc = model_context_create(&e->ctx, e->model, &limits, err);
    limits = (model_limits){SCHEDULER_BACKGROUND_TOKENS, 1};
    if (!rc) rc = model_context_create(&e->background_ctx, e->model, &limits, err);
    if (!rc) rc = sampler_create(&e->sampler, info->n_vocab, err);
    scheduler_options so = {e->max_batch_tokens, e->max_sequences,
                            (opt->max_waiting > 0 ? opt->max_waiting : 1024) + e->max_sequences};
    if (!rc) rc = scheduler_init(&e->sched, &so, e->kv, err);
    if (rc) goto fail;
    e->logits = malloc((size_t)e->logit_rows * (size_t)info->n_vocab * sizeof *e->logits);
    const size_t most_seqs =
        e->denoises ? 1 + DENOISER_AHEAD : 1; /* of a task; two with guidance */
    e->seqs = calloc((size_t)e->max_sequences * most_seqs, sizeof *e->seqs);
    e->rows = calloc(2 * (size_t)e->max_batch_tokens, sizeof *e->rows);
    if (!e->logits || !e->seqs || !e->rows) {
        rc = fo_no_memory(err);
        goto fail;
    }
    if (pthread_create(&e->thread, NULL, engine_thread, e) != 0) {
        rc = fo_fail_errno(err, "cannot start the engine's thread");
        goto fail;
    }
    e->has_thread = true;
    *out = e;
    return FO_OK;
fail:
    engine_close(e);
    return rc;
}

void engine_close(engine *e) {
    if (!e) return;
    if (e->has_thread) {
        pthread_mutex_lock(&e->mu);
        e->stop = true;
        atomic_store(&e->give_way, true);
        pthread_cond_broadcast(&e->wake);
        pthread_mutex_unlock(&e->mu);
        pthread_join(e->thread, NULL);
    }
    scheduler_deinit(&e->sched);
    const double until = fo_now_ms() + SAVE_ALL_MS;
    if (e->has_thread) kv_cache_save_all(e->kv, SAVE_ALL_MS);
    model_context_free(e->ctx);
    model_context_free(e->background_ctx);
    sampler_free(e->sampler);
    kv_cache_free(e->kv);
    kv_store_close_by(e->store, until);
    admission_free(e->admission);
    tokenizer_free(e->tokenizer);
    model_close(e->model);
    fo_pool_free(e->pool);
    free(e->logits);
    free(e->seqs);
    free(e->rows);
    pthread_mutex_destroy(&e->mu);
    pthread_cond_destroy(&e->wake);
    free(e);
}

const model_info *engine_model(const engine *e) {
    return model_get_info(e->model);
}
const tokenizer *engine_tokenizer(const engine *e) {
    return e->tokenizer;
}
int engine_intact(const engine *e, fo_err *err) {
    return gguf_intact(model_gguf(e->model), err);
}
const gguf *engine_gguf(const engine *e) {
    return model_gguf(e->model);
}
bool engine_denoises(const engine *e) {
    return e->denoises;
}

int engine_probe(engine *e, const unsigned char salt[32], const int32_t *prompt, int n) {
    pthread_mutex_lock(&e->mu);
    int found = kv_cache_probe(e->kv, salt, prompt, n);
    pthread_mutex_unlock(&e->mu);
    return found;
}

void engine_get_stats(engine *e, engine_stats *out) {
    pthread_mutex_lock(&e->mu);
    *out = e->stats;
    kv_cache_get_stats(e->kv, &out->kv);
    kv_store_get_stats(e->store, &out->store);
    out->preemptions = e->sched.stats.preemptions;
    out->n_waiting = e->sched.waiting.n;
    out->n_running = e->sched.n_running;
    out->chunk_lookups = e->world.lookups;
    out->chunk_hits = e->world.hits;
    pthread_mutex_unlock(&e->mu);
}

void engine_forget_peak(engine *e) {
    pthread_mutex_lock(&e->mu);
    kv_cache_forget_most(e->kv);
    pthread_mutex_unlock(&e->mu);
}

engine_latencies engine_get_latencies(const engine *e) {
    return (engine_latencies){&e->first_token, &e->inter_token};
}

int engine_kv_map(engine *e, unsigned char *states, int max) {
    pthread_mutex_lock(&e->mu);
    int n = kv_cache_map(e->kv, states, max);
    pthread_mutex_unlock(&e->mu);
    return n;
}

int engine_check(engine *e, fo_err *err) {
    pthread_mutex_lock(&e->mu);
    int rc = scheduler_check(&e->sched, err);
    pthread_mutex_unlock(&e->mu);
    return rc;
}
