/* engine.c - the engine as it is opened, looked at and closed. */
#include <stdlib.h>

#include "engine/generate/chunk_lead.h"
#include "engine/generate/engine_internal.h"
#include "engine/generate/engine_memory.h"
#include "engine/tokenizer/tokenizer_gguf.h"

enum {
    SAVE_ALL_MS = 10000, /* the end waits no longer for what is cached to be written */
    DRAFT_ROWS = 16      /* rows of a step that are guesses, all sequences together */
};

static const double CHUNK_BUDGET = .15; /* docs/kv-reuse.md: as measured */

int engine_open(engine **out, const engine_options *opt, fo_err *err) {
    engine *e = calloc(1, sizeof *e);
    if (!e) return fo_fail(err, FO_ENOMEM, "out of memory");
    pthread_mutex_init(&e->mu, NULL);
    pthread_cond_init(&e->wake, NULL);
    e->batch_wait_us = opt->batch_wait_us;
    e->max_batch_tokens = opt->max_batch_tokens > 0 ? opt->max_batch_tokens : 512;
    e->max_sequences = opt->max_sequences > 0 ? opt->max_sequences : 16;
    if (e->max_sequences > e->max_batch_tokens) e->max_sequences = e->max_batch_tokens;
    e->max_drafts = e->max_batch_tokens - e->max_sequences;
    if (e->max_drafts > DRAFT_ROWS) e->max_drafts = DRAFT_ROWS;
    if (opt->no_lookup) e->max_drafts = 0;
    e->row_cost = opt->row_cost;
    e->kv_chunk_budget = opt->kv_chunk_budget == 0 ? CHUNK_BUDGET : opt->kv_chunk_budget;
    const int logit_rows = e->max_sequences + e->max_drafts;
    engine_memory_plan plan = {0};
    int rc = engine_memory_check(&plan, opt, e->max_batch_tokens, logit_rows, err);
    if (rc != FO_OK) goto fail;
    e->pool = fo_pool_create_bound(opt->n_threads, NULL);
    if (!e->pool) {
        rc = fo_fail(err, FO_ENOMEM, "out of memory");
        goto fail;
    }
    model_options mo = {.pool = e->pool,
                        .fast = !opt->exact,
                        .progress = opt->progress,
                        .progress_arg = opt->progress_arg};
    rc = model_open(&e->model, opt->model, &mo, err);
    if (rc != FO_OK) goto fail;
    const model_info *info = model_get_info(e->model);
    if (info->encoder) {
        rc = fo_fail(err, FO_EUNSUPPORTED, "%s is an encoder: it embeds, it does not write",
                     opt->model);
        goto fail;
    }
    if (!info->causal) {
        rc = fo_fail(err, FO_EUNSUPPORTED,
                     "%s (%s) sees in both directions: it cannot write token by token", opt->model,
                     info->arch);
        goto fail;
    }
    e->kv_tokens = (size_t)plan.n_pages * (size_t)plan.page_tokens;
    rc = tokenizer_from_gguf(&e->tokenizer, model_gguf(e->model), err);
    if (rc == FO_OK) {
        kv_cache_options ko = {.n_pages = plan.n_pages, .defrag_threshold = opt->defrag_threshold};
        if (ko.defrag_threshold <= 0) ko.defrag_threshold = .5;
        rc = model_kv_layout(e->model, plan.page_tokens, opt->kv_type, &ko.layout, err);
        kv_store_options so = {
            .dir = opt->kv_dir, .ram_bytes = plan.store, .disk_bytes = opt->kv_disk};
        if (rc == FO_OK) rc = kv_store_open(&e->store, &so, info->fingerprint, &ko.layout, err);
        if (opt->kv_dir && opt->kv_disk) ko.store = e->store; /* in RAM the pages do as well */
        if (rc == FO_OK) rc = kv_cache_create(&e->kv, &ko, info->fingerprint, err);
        e->world = (chunk_world){
            .model = e->model, .cache = e->kv, .layout = ko.layout, .store = e->store};
        e->world.n_lead = chunk_lead_tokens(e->tokenizer, info->n_vocab, e->world.lead);
        e->world.capacity =
            e->kv_tokens < (size_t)info->n_context ? (int)e->kv_tokens : info->n_context;
    }
    if (rc == FO_OK) rc = admission_create(&e->admission, opt->max_qps, opt->max_tps, err);
    model_limits limits = {e->max_batch_tokens, logit_rows};
    if (rc == FO_OK) rc = model_context_create(&e->ctx, e->model, &limits, err);
    limits = (model_limits){SCHEDULER_BACKGROUND_TOKENS, 1};
    if (rc == FO_OK) rc = model_context_create(&e->background_ctx, e->model, &limits, err);
    if (rc == FO_OK) rc = sampler_create(&e->sampler, info->n_vocab, err);
    scheduler_options so = {e->max_batch_tokens, e->max_sequences,
                            (opt->max_waiting > 0 ? opt->max_waiting : 1024) + e->max_sequences};
    if (rc == FO_OK) rc = scheduler_init(&e->sched, &so, e->kv, err);
    if (rc != FO_OK) goto fail;
    e->logits = malloc((size_t)logit_rows * (size_t)info->n_vocab * sizeof *e->logits);
    e->seqs = calloc((size_t)e->max_sequences, sizeof *e->seqs);
    e->rows = calloc(2 * (size_t)e->max_batch_tokens, sizeof *e->rows);
    if (!e->logits || !e->seqs || !e->rows) {
        rc = fo_fail(err, FO_ENOMEM, "out of memory");
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
    if (e->has_thread) kv_cache_save_all(e->kv, SAVE_ALL_MS);
    model_context_free(e->ctx);
    model_context_free(e->background_ctx);
    sampler_free(e->sampler);
    kv_cache_free(e->kv);
    kv_store_close(e->store);
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
const gguf *engine_gguf(const engine *e) {
    return model_gguf(e->model);
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
