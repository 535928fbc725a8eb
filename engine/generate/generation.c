/* generation.c - requests: what they take before their first step, how they are waited for. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/generate/engine_internal.h"
#include "engine/generate/engine_request.h"
#include "engine/generate/read_ahead.h"
#include "kernels/cond.h"
#include "kernels/clock.h"

enum { TEXT_BYTES_A_TOKEN = 16 }; /* of text that nobody has read yet, reserved in advance */

void generation_destroy(generation *g) {
    if (g->warm) generation_destroy(g->warm);
    chunk_task_free(g->chunk);
    denoiser_free(g->canvas);
    free(g->ahead_tables);
    kv_sparse_free(g->sparse);
    kv_sparse_free(g->guide_sparse);
    kv_store_stage_free(g->e->store, g->stage);
    for (size_t i = 0; g->stop && g->stop[i]; i++) free(g->stop[i]);
    free(g->stop);
    free(g->bias);
    free(g->tokens);
    free(g->out);
    free(g->top);
    fo_buf_free(&g->text);
    fo_buf_free(&g->piece);
    prompt_lookup_deinit(&g->lookup);
    stop_match_deinit(&g->stops);
    answer_filter_free(g->filter);
    pthread_mutex_destroy(&g->mu);
    pthread_cond_destroy(&g->news);
    free(g);
}

static int generation_make(generation **out, engine *e, const generation_request *r, fo_err *err);

/* How the prompt is put together from chunks, if it can be; else g's event says why not. */
static int make_chunk_task(generation *g, const generation_request *r, fo_err *err) {
    engine *e = g->e;
    chunk_task_options o = {.prompt = r->prompt, .n_prompt = (int)r->n_prompt};
    bool tail = r->n_pieces && r->pieces[r->n_pieces - 1].kind == PIECE_TAIL;
    if (r->n_pieces < 2u + tail) {
        g->ev.kv_note = "the prompt has no chunks";
        return FO_OK;
    }
    if (model_get_info(e->model)->sliding_window) {
        g->ev.kv_note = "the model's attention has a sliding window: chunks' KV cannot be moved";
        return FO_OK;
    }
    o.n_prefix = (int)r->pieces[0].n;
    o.n_chunks = (int)(r->n_pieces - 1 - tail);
    kv_chunk_range *chunks = malloc((size_t)o.n_chunks * sizeof *chunks);
    if (!chunks) return fo_no_memory(err);
    for (int i = 0; i < o.n_chunks; i++)
        chunks[i] = (kv_chunk_range){(int)r->pieces[i + 1].start, (int)r->pieces[i + 1].n};
    o.chunks = chunks;
    memcpy(o.salt, r->salt, 32);
    o.share = r->kv_chunk_budget == 0 ? e->kv_chunk_budget : r->kv_chunk_budget;
    o.expected_uses = r->expected_uses;
    o.warm = r->prefill_only;
    o.keep_blocks = r->prefill_only && !r->drop_kv;
    o.drops = r->drop_kv;
    int rc = chunk_task_create(&g->chunk, &e->world, &o, err);
    free(chunks);
    if (rc || r->prefill_only || r->drop_kv) return rc;
    generation_request w = {.prompt = r->prompt,
                            .n_prompt = r->n_prompt,
                            .pieces = r->pieces,
                            .n_pieces = r->n_pieces,
                            .kv_reuse = KV_REUSE_CHUNK,
                            .sampling = sampler_params_default(),
                            .n_logprobs = -1,
                            .expected_uses = r->expected_uses,
                            .prefill_only = true,
                            .drop_kv = true};
    memcpy(w.salt, r->salt, 32);
    rc = generation_make(&g->warm, e, &w, err);
    if (rc) return rc;
    g->warm->internal = true;
    chunk_task_keep_lead(g->warm->chunk);
    return FO_OK;
}

/* What its heads keep, where that is not everything. guided: of two canvases. */
static int make_sparse(generation *g, const generation_request *r, const sparse_params *p,
                       bool guided, fo_err *err) {
    kv_layout layout = g->e->world.layout;
    const int n = (int)(r->n_prompt + r->max_tokens);
    g->ev.retention = p->retention;
    if (p->retention >= 1) return FO_OK;
    g->ev.kv_note = "approximate: every head keeps a share of its KV (sparse.retention)";
    int rc = kv_sparse_create(&g->sparse, p, &layout, (int)r->n_prompt, n, err);
    if (!rc && guided)
        rc = kv_sparse_create(&g->guide_sparse, p, &layout, (int)r->n_prompt, n, err);
    return rc;
}

/* With verify: as many canvases beside as a step and the pages have room for. */
static int make_ahead(generation *g, const diffusion_params *p, const generation_request *r,
                      fo_err *err) {
    const engine *e = g->e;
    const int P = kv_cache_page_tokens(e->kv), block = p->block_length;
    const int pages = (int)(r->n_prompt + r->max_tokens + (size_t)P - 1) / P;
    if (!p->verify) return FO_OK;
    g->ahead_pages = block % P || e->diffusion.shift ? (block + 2 * P - 1) / P : block / P;
    const int rows = e->max_batch_tokens / (block + P) - 1;
    const int room = ((int)(e->kv_tokens / (size_t)P) - pages) / g->ahead_pages;
    g->n_ahead = rows < room ? rows : room;
    if (g->n_ahead > DENOISER_AHEAD) g->n_ahead = DENOISER_AHEAD;
    if (g->n_ahead < 1) return g->n_ahead = 0, FO_OK;
    g->ahead_tables = malloc((size_t)g->n_ahead * (size_t)pages * sizeof *g->ahead_tables);
    if (!g->ahead_tables) return fo_no_memory(err);
    denoiser_look_ahead(g->canvas, g->n_ahead, P);
    return FO_OK;
}

/* The canvas that the answer is written on. */
static int make_canvas(generation *g, const generation_request *r, sparse_params *sparse,
                       fo_err *err) {
    engine *e = g->e;
    diffusion_params p = r->diffusion ? *r->diffusion : diffusion_params_default();
    if (sparse->retention < 1 && p.kv < 0 && !e->diffusion.attention_block)
        p.kv = DIFFUSION_KV_DUAL;
    p.temperature = r->sampling.temperature;
    p.seed = r->sampling.seed;
    if (r->sampling.top_p < 1) p.top_p = r->sampling.top_p;
    if (r->sampling.top_k > 0) p.top_k = r->sampling.top_k;
    int rc = diffusion_params_resolve(&p, &e->diffusion, (int)r->max_tokens, err);
    const size_t page_tokens = (size_t)kv_cache_page_tokens(e->kv);
    if (!rc)
        rc = engine_check_canvas(r, &p, e->max_batch_tokens, e->kv_tokens / page_tokens,
                                 page_tokens, err);
    if (!rc)
        rc = denoiser_create(&g->canvas, &p, &e->diffusion, model_get_info(e->model)->n_vocab,
                             r->prompt, (int)r->n_prompt, (int)r->max_tokens, err);
    if (!rc) rc = make_ahead(g, &p, r, err);
    const bool drops = sparse->retention < 1 && p.kv != DIFFUSION_KV_OFF;
    if (!rc && sparse->retention < 1 && !drops && r->sparse)
        rc = fo_fail_field(err, FO_EINVAL, "sparse.retention",
                           "sparse.retention drops kept KV, and with diffusion.kv off none is");
    if (!rc && drops && p.verify)
        rc = fo_fail_field(err, FO_EINVAL, "diffusion.verify",
                           "diffusion.verify is exact, and sparse.retention below 1 is not");
    if (rc) return rc;
    g->ev.kv_note = diffusion_kv_note(&p, &e->diffusion);
    if (!g->ev.kv_note[0] && r->kv_reuse == KV_REUSE_CHUNK)
        g->ev.kv_note = "a diffusion model's KV of a context depends on the whole prompt";
    if (!drops) sparse->retention = 1;
    return make_sparse(g, r, sparse, p.guidance > 0, err);
}

/* All memory that decoding will need is taken here. */
static int generation_make(generation **out, engine *e, const generation_request *r, fo_err *err) {
    generation *g = calloc(1, sizeof *g);
    if (!g) return fo_no_memory(err);
    pthread_mutex_init(&g->mu, NULL);
    fo_cond_init(&g->news);
    g->e = e;
    g->task = -1;
    g->ev = (generation_event){.stop_index = -1,
                               .stop_token = -1,
                               .finish_reason = "",
                               .kv_note = "",
                               .prompt_tokens = r->n_prompt};
    g->sampling = r->sampling;
    g->ignore_end = r->ignore_end;
    g->n_logprobs = r->n_logprobs;
    g->max_tokens = r->max_tokens;
    g->n_prompt = r->n_prompt;
    memcpy(g->salt, r->salt, 32);
    g->tokens = malloc((r->n_prompt + r->max_tokens) * sizeof *g->tokens);
    g->out = malloc((r->max_tokens + 1) * sizeof *g->out);
    if (r->n_logprobs > 0)
        g->top = malloc((r->max_tokens + 1) * (size_t)r->n_logprobs * sizeof *g->top);
    g->bias = malloc((r->sampling.n_bias + 1) * sizeof *g->bias);
    g->stop = calloc(r->n_stop + 1, sizeof *g->stop);
    bool ok = g->tokens && g->out && g->bias && g->stop && (g->top || r->n_logprobs < 1);
    for (size_t i = 0; ok && i < r->n_stop; i++) ok = (g->stop[i] = strdup(r->stop[i])) != NULL;
    ok = ok && fo_buf_reserve(&g->text, TEXT_BYTES_A_TOKEN * r->max_tokens + 256) &&
         fo_buf_reserve(&g->piece, 256);
    int rc = ok ? stop_match_init(&g->stops, (const char *const *)g->stop, r->n_stop, err)
                : fo_no_memory(err);
    if (!rc && r->n_stop && !fo_buf_reserve(&g->stops.held, 4096)) rc = fo_no_memory(err);
    sparse_params sparse = r->sparse ? *r->sparse : sparse_params_default();
    if (!rc) rc = sparse_params_resolve(&sparse, &e->sparse, err);
    if (!rc) rc = engine_check_sparse(&sparse, r, model_get_info(e->model), err);
    if (!rc && e->denoises)
        rc = make_canvas(g, r, &sparse, err);
    else if (!rc)
        rc = make_sparse(g, r, &sparse, false, err);
    if (!rc && !e->denoises && !g->sparse && r->kv_reuse == KV_REUSE_CHUNK)
        rc = make_chunk_task(g, r, err);
    if (!rc && e->max_drafts && !r->no_lookup && !g->sparse && r->max_tokens > 2)
        rc = prompt_lookup_init(&g->lookup, (int)(r->n_prompt + r->max_tokens), err);
    if (!rc) rc = answer_filter_create(&g->filter, &r->rule, e->tokenizer, err);
    if (rc) {
        generation_destroy(g);
        return rc;
    }
    g->n_stop_tokens = r->n_stop_tokens;
    if (r->n_stop_tokens)
        memcpy(g->stop_tokens, r->stop_tokens, r->n_stop_tokens * sizeof *g->stop_tokens);
    memcpy(g->tokens, r->prompt, r->n_prompt * sizeof *g->tokens);
    if (r->sampling.n_bias) memcpy(g->bias, r->sampling.bias, r->sampling.n_bias * sizeof *g->bias);
    g->sampling.bias = g->bias;
    /* Where JSON stands between markers, these may be control tokens. */
    detokenizer_init(&g->detok, e->tokenizer, r->rule.open != NULL, true);
    g->markers = (marker_filter){e->tokenizer, marker_start(), r->max_marker};
    *out = g;
    return FO_OK;
}

int engine_submit(engine *e, const generation_request *r, generation **out, int64_t *retry_after_ms,
                  fo_err *err) {
    int64_t wait = 0;
    generation *g = NULL;
    if (retry_after_ms) *retry_after_ms = 0;
    int rc = engine_check_request(r, model_get_info(e->model), e->kv_tokens, err);
    if (!rc) rc = engine_check_diffusion(r, e->denoises, e->diffusion.dream, err);
    if (!rc) rc = generation_make(&g, e, r, err);
    if (rc) return rc;
    g->submitted_ms = fo_now_ms();
    pthread_mutex_lock(&e->mu);
    int i = e->stop ? -1 : scheduler_new(&e->sched);
    if (i < 0 && !e->stop && engine_drop_warming(e)) i = scheduler_new(&e->sched);
    if (i < 0) {
        wait = 1000;
        rc = fo_fail(err, FO_EBUSY, "too many requests wait for the model");
    } else if (
        !r->background) { /* that takes nothing from those who ask: it works when nobody does */
        rc = admission_ask(e->admission, g->submitted_ms, (int64_t)(r->n_prompt + r->max_tokens),
                           &wait, err);
        if (rc) scheduler_remove(&e->sched, i);
    }
    if (rc) {
        e->stats.refused++;
        pthread_mutex_unlock(&e->mu);
        generation_destroy(g);
        if (retry_after_ms) *retry_after_ms = wait;
        return rc;
    }
    pthread_mutex_unlock(&e->mu);
    if (!g->canvas) g->stage = read_ahead(e->kv, e->store, &e->mu, r, g->chunk);
    pthread_mutex_lock(&e->mu);
    engine_add_task(e, g, r, i);
    if (!r->background) atomic_store(&e->give_way, true);
    pthread_cond_signal(&e->wake);
    pthread_mutex_unlock(&e->mu);
    *out = g;
    return FO_OK;
}

int generation_next(generation *g, int timeout_ms, generation_event *ev, fo_buf *text) {
    double until = timeout_ms < 0 ? INFINITY : fo_now_ms() + timeout_ms;
    pthread_mutex_lock(&g->mu);
    while (!g->ev.done && g->n_out == g->n_seen && timeout_ms != 0)
        if (fo_cond_wait_until(&g->news, &g->mu, until) == ETIMEDOUT) break;
    int news = g->ev.done || g->n_out > g->n_seen;
    *ev = g->ev;
    ev->n_new = g->n_out - g->n_seen;
    g->n_seen = g->n_out;
    ev->text_bytes = g->n_given += g->text.len;
    if (text && g->text.len) fo_buf_add(text, g->text.data, g->text.len);
    fo_buf_clear(&g->text);
    pthread_mutex_unlock(&g->mu);
    return news;
}

const generation_token *generation_tokens(generation *g, size_t *n) {
    pthread_mutex_lock(&g->mu);
    *n = g->n_seen;
    pthread_mutex_unlock(&g->mu);
    return g->out;
}

void generation_cancel(generation *g) {
    atomic_store(&g->cancel, true);
    pthread_mutex_lock(&g->e->mu);
    atomic_store(&g->e->give_way, true);
    pthread_cond_signal(&g->e->wake);
    pthread_mutex_unlock(&g->e->mu);
}

void generation_free(generation *g) {
    if (!g) return;
    generation_cancel(g);
    pthread_mutex_lock(&g->mu);
    while (!g->ev.done) pthread_cond_wait(&g->news, &g->mu);
    pthread_mutex_unlock(&g->mu);
    /* finish() holds engine.mu until it no longer needs g. */
    pthread_mutex_lock(&g->e->mu);
    assert(g->task < 0);
    pthread_mutex_unlock(&g->e->mu);
    generation_destroy(g);
}
