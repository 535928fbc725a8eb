/* engine.c - one thread that turns requests into tokens.
 *
 * Lock order: engine.mu -> generation.mu. The engine's thread holds mu while it plans and takes
 * news in, never during a forward pass. */
#include "engine/engine.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/admission.h"
#include "engine/engine_memory.h"
#include "engine/engine_request.h"
#include "engine/json_grammar.h"
#include "engine/markers.h"
#include "engine/prompt_lookup.h"
#include "engine/read_ahead.h"
#include "engine/scheduler.h"
#include "engine/stop_match.h"
#include "engine/tokenizer_gguf.h"
#include "kernels/alloc_guard.h"
#include "kernels/clock.h"

enum {
    MAINTAIN_STEPS = 256,   /* a busy engine looks so often whether its pages are scattered */
    SAVE_BLOCKS = 8,        /* blocks an idle engine gives to the KV store before it looks up */
    SAVE_ALL_MS = 10000,    /* the end waits no longer for what is cached to be written */
    MOST_WARMING = 32,      /* requests whose chunks wait to be computed for the next time */
    DRAFT_ROWS = 16,        /* rows of a step that are guesses, all sequences together */
    TEXT_BYTES_A_TOKEN = 16 /* of text that nobody has read yet, reserved before the first step */
};

static const double CHUNK_BUDGET = .15; /* docs/kv-reuse.md: as measured */

struct generation {
    engine *e;
    /* immutable after submit */
    sampler_params sampling;
    sampler_bias *bias;
    char **stop;
    bool ignore_end;
    int n_logprobs;
    size_t max_tokens;
    double submitted_ms;
    int32_t *tokens; /* prompt and answer: the task's array */
    size_t n_prompt;

    int task; /* guarded by engine.mu; -1 once finished */
    atomic_bool cancel;

    /* owned: engine's thread while running */
    detokenizer detok;
    stop_match stops;
    marker_filter markers;
    bool json;
    json_filter grammar;
    prompt_lookup lookup; /* without memory where the request wants none */
    fo_buf piece;
    double last_token_ms;
    chunk_task *chunk;     /* NULL: none */
    kv_store_stage *stage; /* read from disk for it, until it has attached; NULL: nothing */
    /* What makes its chunks known for the next time, ready to be added once it is done; NULL: none.
     * Such a one is the engine's own and frees itself. */
    generation *warm;
    bool internal;
    unsigned char salt[32];

    pthread_mutex_t mu;
    pthread_cond_t news;
    /* guarded by mu */
    generation_token *out; /* [max_tokens] */
    sampler_logprob *top;  /* [max_tokens][n_logprobs] */
    size_t n_out, n_seen;
    fo_buf text; /* not yet read */
    generation_event ev;
};

struct engine {
    /* immutable after open */
    fo_pool *pool;
    model *model;
    tokenizer *tokenizer;
    kv_cache *kv;
    kv_store *store;
    double kv_chunk_budget;
    admission *admission;
    int batch_wait_us, max_batch_tokens, max_sequences;
    int max_drafts;   /* guesses of a step; 0: none are made */
    double row_cost;  /* 0: by cost */
    size_t kv_tokens; /* the KV cache holds so many */

    pthread_t thread;
    bool has_thread;
    pthread_mutex_t mu;
    pthread_cond_t wake;
    /* guarded by mu */
    scheduler sched;
    bool stop;
    engine_stats stats;
    chunk_world world;
    int n_warming; /* tasks of the engine's own */

    fo_histogram first_token, inter_token; /* atomic */
    atomic_bool give_way; /* who computes in the background looks here between two layers */

    /* owned: engine's thread */
    model_context *ctx;
    model_context *background_ctx; /* of a step that may have given way in the middle */
    sampler *sampler;
    float *logits; /* [max_sequences + max_drafts][n_vocab] */
    step_cost cost;
    model_sequence *seqs; /* [max_sequences] */
    int32_t *rows;        /* [2 max_batch_tokens]: tokens and positions of rows computed again */
};

/* ---- the end of a generation -------------------------------------------------------------- */

static void generation_destroy(generation *g) {
    if (g->warm) generation_destroy(g->warm);
    chunk_task_free(g->chunk);
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
    pthread_mutex_destroy(&g->mu);
    pthread_cond_destroy(&g->news);
    free(g);
}

static void add_task(engine *e, generation *g, const generation_request *r, int i) {
    task *t = &e->sched.tasks[i];
    t->tokens = g->tokens;
    t->n_tokens = t->n_prompt = (int)g->n_prompt;
    t->cap_tokens = (int)(g->n_prompt + g->max_tokens);
    t->priority = r->priority;
    t->arrived_ms = g->submitted_ms;
    t->deadline_ms = r->deadline_ms > 0 ? g->submitted_ms + (double)r->deadline_ms : 0;
    memcpy(t->salt, g->salt, 32);
    t->reuse = r->kv_reuse;
    t->chunk = g->chunk;
    t->background = r->background;
    t->prefill_only = r->prefill_only;
    t->drop_kv = r->drop_kv;
    t->expected_uses = r->expected_uses;
    t->owner = g;
    g->task = i;
    scheduler_add(&e->sched, i);
}

static void start_warming(engine *e, generation *g);

static void finish(engine *e, generation *g, const char *reason, int error, const char *message) {
    task *t = &e->sched.tasks[g->task];
    double now = fo_now_ms();
    pthread_mutex_lock(&g->mu);
    if (detokenizer_end(&g->detok, &g->piece, NULL) == FO_OK && g->piece.len)
        stop_match_push(&g->stops, g->piece.data, g->piece.len, &g->text);
    fo_buf_clear(&g->piece);
    stop_match_end(&g->stops, &g->text);
    generation_event *ev = &g->ev;
    ev->done = true;
    ev->error = error;
    snprintf(ev->message, sizeof ev->message, "%s", message ? message : "");
    ev->stop_index = g->stops.found;
    ev->finish_reason = reason;
    ev->prefix_tokens = (size_t)t->n_attached;
    if (t->kv) {
        int asked, restored;
        kv_seq_restored(t->kv, &asked, &restored);
        ev->disk_asked = ev->disk_asked || asked > 0;
        ev->disk_tokens += (size_t)restored;
    }
    chunk_task_outcome moved = {.note = ""};
    if (g->chunk && t->admitted) moved = chunk_task_result(g->chunk);
    ev->chunk_tokens = (size_t)moved.n_placed;
    ev->recomputed_tokens = (size_t)moved.n_again;
    ev->disk_tokens += (size_t)moved.n_from_disk;
    if (moved.note[0]) ev->kv_note = moved.note;
    ev->cached_tokens = ev->prefix_tokens + ev->chunk_tokens - ev->recomputed_tokens;
    ev->queue_ms = (t->admitted ? t->started_ms : now) - g->submitted_ms;
    ev->decode_ms = ev->first_token_ms > 0 ? now - g->submitted_ms - ev->first_token_ms : 0;
    if (ev->first_token_ms == 0 && t->admitted) ev->prefill_ms = now - t->started_ms;
    pthread_cond_broadcast(&g->news);
    pthread_mutex_unlock(&g->mu);
    /* Counted on admission, not computed: what the cache had, and the rest of the answer. */
    if (!g->internal)
        admission_refund(e->admission, now, g->submitted_ms,
                         (int64_t)(g->max_tokens - g->n_out) + (int64_t)ev->cached_tokens);
    scheduler_remove(&e->sched, g->task);
    g->task = -1;
    if (g->internal) {
        e->n_warming--;
        generation_destroy(g);
        return;
    }
    e->stats.finished++;
    if (error == FO_ECANCELLED) e->stats.cancelled++;
    e->stats.chunk_requests += moved.moved;
    e->stats.chunk_tokens += (uint64_t)moved.n_placed;
    e->stats.recomputed_tokens += (uint64_t)moved.n_again;
    if (error == FO_OK && moved.n_unknown && g->warm) start_warming(e, g);
}

/* Give up the warming that was left longest ago, but not what is in work. False: there is none. */
static bool drop_warming(engine *e) {
    generation *oldest = NULL;
    uint64_t serial = UINT64_MAX;
    for (int i = 0; i < e->sched.opt.max_tasks && e->n_warming; i++) {
        const task *t = &e->sched.tasks[i];
        generation *g = t->owner;
        if (t->state != TASK_WAITING || !g->internal || t->serial > serial) continue;
        oldest = g;
        serial = t->serial;
    }
    if (oldest) finish(e, oldest, "cancelled", FO_ECANCELLED, "cancelled");
    return oldest != NULL;
}

/* g has ended and had to compute chunks that nobody knew: let them be known. Without a pause
 * between requests such work only piles up: what is newest has the best chance to be of use. */
static void start_warming(engine *e, generation *g) {
    if (e->n_warming >= MOST_WARMING) drop_warming(e);
    int i = scheduler_new(&e->sched);
    if (i < 0) return;
    generation *w = g->warm;
    g->warm = NULL;
    w->submitted_ms = fo_now_ms();
    generation_request r = {.kv_reuse = KV_REUSE_CHUNK};
    r.background = r.prefill_only = r.drop_kv = true;
    e->n_warming++;
    add_task(e, w, &r, i);
}

/* ---- one token ---------------------------------------------------------------------------- */

/* What the request allows the model to write. */
static bool allows(void *ctx, int32_t token) {
    generation *g = ctx;
    return (g->markers.max <= 0 || marker_allows(&g->markers, token)) &&
           (!g->json || json_allows(&g->grammar, token));
}

/* The row of logits of a task chose its next token: note it, print it, see whether it is the last.
 * engine.mu is held. */
static void take_row(engine *e, int task_number, const float *logits) {
    task *t = &e->sched.tasks[task_number];
    generation *g = t->owner;
    bool constrained = g->markers.max > 0 || g->json;
    int32_t token = sampler_pick(e->sampler, &g->sampling, logits, t->tokens, (size_t)t->n_tokens,
                                 g->n_out, constrained ? allows : NULL, g);
    bool end = !g->ignore_end && tokenizer_is_end(e->tokenizer, token);
    bool stopped = false;
    double now = fo_now_ms();
    if (g->n_out == 0)
        fo_histogram_add(&e->first_token, now - g->submitted_ms);
    else
        fo_histogram_add(&e->inter_token, now - g->last_token_ms);
    g->last_token_ms = now;
    pthread_mutex_lock(&g->mu);
    if (g->n_out == 0) {
        g->ev.first_token_ms = now - g->submitted_ms;
        g->ev.prefill_ms = now - t->started_ms;
    }
    if (!end) {
        generation_token *out = &g->out[g->n_out];
        *out = (generation_token){.token = token};
        if (g->n_logprobs >= 0) {
            sampler_logprob *top = g->top ? g->top + g->n_out * (size_t)g->n_logprobs : NULL;
            out->n_top = (int)sampler_logprobs(e->sampler, logits, token, &out->logprob, top,
                                               (size_t)g->n_logprobs);
            out->top = top;
        }
        g->n_out++;
        g->ev.completion_tokens = g->n_out;
        if (g->markers.max > 0) marker_take(&g->markers, token);
        if (g->json) json_take(&g->grammar, token);
        fo_buf_clear(&g->piece);
        if (detokenizer_push(&g->detok, token, &g->piece, NULL) == FO_OK && g->piece.len)
            stopped = stop_match_push(&g->stops, g->piece.data, g->piece.len, &g->text);
        fo_buf_clear(&g->piece);
        pthread_cond_broadcast(&g->news);
    }
    pthread_mutex_unlock(&g->mu);
    e->stats.decode_tokens++;
    if (end || (g->json && json_done(&g->grammar))) {
        finish(e, g, "stop", FO_OK, NULL);
    } else if (stopped) {
        finish(e, g, "stop_sequence", FO_OK, NULL);
    } else if (g->n_out >= g->max_tokens) {
        finish(e, g, "length", FO_OK, NULL);
    } else {
        t->tokens[t->n_tokens++] = token;
    }
}

/* The rows of a part chose: the token that was due, and as long as a guess is what was chosen, the
 * one behind it. engine.mu is held. */
static void take_rows(engine *e, const step_part *p, const float *logits) {
    task *t = &e->sched.tasks[p->task];
    generation *g = t->owner;
    const size_t n_vocab = (size_t)model_get_info(e->model)->n_vocab;
    int kept = 0;
    e->stats.drafted_tokens += (uint64_t)p->n_draft;
    for (;;) {
        int32_t guess = kept < p->n_draft ? t->tokens[t->n_tokens] : -1;
        take_row(e, p->task, logits + (size_t)kept * n_vocab);
        if (g->task < 0) return;
        if (t->tokens[t->n_tokens - 1] != guess) break;
        fo_err err = {0};
        int rc = kv_seq_commit(t->kv, &guess, 1, &err);
        if (rc != FO_OK) {
            finish(e, g, "error", rc, err.msg);
            return;
        }
        kept++;
        e->stats.kept_tokens++;
    }
    if (p->n_draft == 0) return;
    kv_seq_truncate(t->kv, kv_seq_tokens(t->kv)); /* pages for guesses that did not come true */
    prompt_lookup_learn(&g->lookup, p->n_draft, kept);
}

/* ---- the thread --------------------------------------------------------------------------- */

static void drop_cancelled(engine *e) {
    double now = fo_now_ms();
    for (int i = 0; i < e->sched.opt.max_tasks; i++) {
        task *t = &e->sched.tasks[i];
        if (t->state == TASK_FREE) continue;
        generation *g = t->owner;
        if (e->stop || atomic_load(&g->cancel))
            finish(e, g, "cancelled", FO_ECANCELLED, "cancelled");
        else if (t->deadline_ms > 0 && now > t->deadline_ms)
            finish(e, g, "timeout", FO_ETIMEOUT, "the deadline passed");
    }
}

/* Its stream is prompt and answer: not a chunk's, which may be longer than the prompt. */
static bool in_answer(const task *t) {
    return !t->background && (!t->chunk || chunk_task_is_final(t->chunk));
}

static bool is_decode(const step_part *p, const task *t) {
    return p->n - p->n_draft == 1 && p->start >= t->n_prompt && in_answer(t);
}

/* Guesses behind the tokens of those who write. engine.mu is held. */
static void draft_tokens(engine *e) {
    scheduler *s = &e->sched;
    int n_writing = 0, left = e->max_drafts;
    for (int k = 0; k < s->n_running; k++) {
        const task *t = &s->tasks[s->running[k]];
        n_writing += t->n_tokens > t->n_prompt && in_answer(t);
    }
    double row_cost = e->row_cost > 0 ? e->row_cost : step_cost_row(&e->cost, n_writing);
    for (int k = 0; k < s->n_running; k++) {
        task *t = &s->tasks[s->running[k]];
        generation *g = t->owner;
        t->n_draft = 0;
        if (!g->lookup.head || t->n_tokens <= t->n_prompt || !in_answer(t) ||
            t->n_tokens - kv_seq_tokens(t->kv) != 1)
            continue;
        int most = (e->max_drafts + n_writing - 1) / n_writing;
        if (most > left) most = left;
        if (most > t->cap_tokens - t->n_tokens - 1) most = t->cap_tokens - t->n_tokens - 1;
        t->n_draft = prompt_lookup_draft(&g->lookup, t->tokens, t->n_tokens, most, n_writing,
                                         row_cost, t->tokens + t->n_tokens);
        left -= t->n_draft;
    }
}

static bool idle(const engine *e) {
    return e->sched.n_running == 0 && e->sched.waiting.n == 0;
}

/* Run the planned step. mu is held on entry and on return, not during the forward pass. A forward
 * pass allocates nothing, nor does anything else in a step of decode rows alone. */
static void step(engine *e) {
    scheduler *s = &e->sched;
    int n_parts = s->n_parts;
    const bool background = s->tasks[s->parts[0].task].background;
    model_context *ctx = background ? e->background_ctx : e->ctx;
    bool decode = true;
    int n_rows = 0;
    for (int k = 0; k < n_parts; k++) {
        const step_part *p = &s->parts[k];
        task *t = &s->tasks[p->task];
        generation *g = t->owner;
        kv_store_stage_free(e->store, g->stage); /* it has attached what was read ahead */
        g->stage = NULL;
        bool logits = p->wants_logits && !t->prefill_only;
        decode = decode && is_decode(p, t);
        e->seqs[k] = (model_sequence){.tokens = t->tokens + p->start,
                                      .n_tokens = p->n,
                                      .start = p->start,
                                      .n_logits = logits ? 1 + p->n_draft : 0};
        if (t->chunk) chunk_task_sequence(t->chunk, p->n_again, e->rows + 2 * n_rows, &e->seqs[k]);
        n_rows += p->n + p->n_again;
        e->seqs[k].pages = kv_seq_pages(t->kv, &e->seqs[k].n_pages);
    }
    if (decode) fo_alloc_forbid();
    pthread_mutex_unlock(&e->mu);
    fo_err err = {0};
    double t0 = fo_now_ms();
    fo_alloc_forbid();
    kv_pages *kv = kv_cache_pages(e->kv);
    int rc = s->parts[0].begun ? FO_OK : model_forward_begin(ctx, kv, e->seqs, n_parts, &err);
    bool ended = rc != FO_OK || model_forward_go(ctx, kv, e->seqs, n_parts, e->logits,
                                                 background ? &e->give_way : NULL);
    fo_alloc_allow();
    double spent = fo_now_ms() - t0;
    pthread_mutex_lock(&e->mu);
    e->stats.busy_ms += spent;
    if (!ended) {
        scheduler_pause(s);
        e->stats.gave_way++;
        return;
    }
    e->stats.steps++;
    e->stats.background_steps += background;
    if (decode && rc == FO_OK) step_cost_add(&e->cost, n_rows, spent);
    if (rc == FO_OK) rc = scheduler_commit(s, &err);
    size_t row = 0, n_vocab = (size_t)model_get_info(e->model)->n_vocab;
    for (int k = 0; k < n_parts; k++) {
        const step_part p = s->parts[k];
        generation *g = s->tasks[p.task].owner;
        if (rc != FO_OK) {
            finish(e, g, "error", rc, err.msg);
            continue;
        }
        if (!is_decode(&p, &s->tasks[p.task]))
            e->stats.prefill_tokens += (uint64_t)(p.n + p.n_again);
        if (e->seqs[k].n_logits) {
            take_rows(e, &p, e->logits + row * n_vocab);
            row += (size_t)e->seqs[k].n_logits;
        } else if (p.wants_logits) {
            finish(e, g, "stop", FO_OK, NULL); /* prefill_only: the KV is there */
        }
    }
    if (decode) fo_alloc_allow();
}

static void *engine_thread(void *v) {
    engine *e = v;
    fo_pool_visit for_life;
    fo_pool_enter(e->pool, &for_life);
    pthread_mutex_lock(&e->mu);
    for (;;) {
        drop_cancelled(e);
        if (e->stop) break;
        if (idle(e)) {
            if (kv_cache_save(e->kv, SAVE_BLOCKS) > 0) { /* then see who came meanwhile */
                pthread_mutex_unlock(&e->mu);
                pthread_mutex_lock(&e->mu);
                continue;
            }
            kv_cache_maintain(e->kv);
            pthread_cond_wait(&e->wake, &e->mu);
            if (e->batch_wait_us > 0 && !e->stop) { /* let company arrive */
                pthread_mutex_unlock(&e->mu);
                struct timespec w = {e->batch_wait_us / 1000000,
                                     (e->batch_wait_us % 1000000) * 1000L};
                nanosleep(&w, NULL);
                pthread_mutex_lock(&e->mu);
            }
            continue;
        }
        int failed = -1;
        fo_err err = {0};
        if (e->max_drafts) draft_tokens(e);
        atomic_store(&e->give_way, false); /* whoever came is seen now */
        scheduler_plan(&e->sched, fo_now_ms(), &failed, &err);
        if (failed >= 0) {
            finish(e, e->sched.tasks[failed].owner, "error", err.code, err.msg);
            continue;
        }
        if (e->sched.n_parts) step(e);
        if (e->stats.steps % MAINTAIN_STEPS == 0) kv_cache_maintain(e->kv);
    }
    pthread_mutex_unlock(&e->mu);
    return NULL;
}

/* ---- open and close ----------------------------------------------------------------------- */

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

/* ---- requests ----------------------------------------------------------------------------- */

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
    if (!chunks) return fo_fail(err, FO_ENOMEM, "out of memory");
    for (int i = 0; i < o.n_chunks; i++)
        chunks[i] = (kv_chunk_range){(int)r->pieces[i + 1].start, (int)r->pieces[i + 1].n};
    o.chunks = chunks;
    memcpy(o.salt, r->salt, 32);
    o.share = r->kv_chunk_budget == 0 ? e->kv_chunk_budget : r->kv_chunk_budget;
    o.expected_uses = r->expected_uses;
    o.warm = r->prefill_only;
    o.keep_blocks = r->prefill_only && !r->drop_kv;
    int rc = chunk_task_create(&g->chunk, &e->world, &o, err);
    free(chunks);
    if (rc != FO_OK || r->prefill_only || r->drop_kv) return rc;
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
    if (rc == FO_OK) g->warm->internal = true;
    return rc;
}

/* All memory that decoding will need is taken here. */
static int generation_make(generation **out, engine *e, const generation_request *r, fo_err *err) {
    generation *g = calloc(1, sizeof *g);
    if (!g) return fo_fail(err, FO_ENOMEM, "out of memory");
    pthread_mutex_init(&g->mu, NULL);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&g->news, &attr);
    pthread_condattr_destroy(&attr);
    g->e = e;
    g->task = -1;
    g->ev = (generation_event){
        .stop_index = -1, .finish_reason = "", .kv_note = "", .prompt_tokens = r->n_prompt};
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
                : fo_fail(err, FO_ENOMEM, "out of memory");
    if (rc == FO_OK && r->n_stop && !fo_buf_reserve(&g->stops.held, 4096))
        rc = fo_fail(err, FO_ENOMEM, "out of memory");
    if (rc == FO_OK && r->kv_reuse == KV_REUSE_CHUNK) rc = make_chunk_task(g, r, err);
    if (rc == FO_OK && e->max_drafts && !r->no_lookup && r->max_tokens > 2)
        rc = prompt_lookup_init(&g->lookup, (int)(r->n_prompt + r->max_tokens), err);
    if (rc != FO_OK) {
        generation_destroy(g);
        return rc;
    }
    memcpy(g->tokens, r->prompt, r->n_prompt * sizeof *g->tokens);
    if (r->sampling.n_bias) memcpy(g->bias, r->sampling.bias, r->sampling.n_bias * sizeof *g->bias);
    g->sampling.bias = g->bias;
    detokenizer_init(&g->detok, e->tokenizer, false, true);
    g->markers = (marker_filter){e->tokenizer, marker_start(), r->max_marker};
    g->json = r->json;
    g->grammar = json_filter_start(e->tokenizer);
    *out = g;
    return FO_OK;
}

int engine_submit(engine *e, const generation_request *r, generation **out, int64_t *retry_after_ms,
                  fo_err *err) {
    int64_t wait = 0;
    generation *g = NULL;
    if (retry_after_ms) *retry_after_ms = 0;
    int rc = engine_check_request(r, model_get_info(e->model), e->kv_tokens, err);
    if (rc == FO_OK) rc = generation_make(&g, e, r, err);
    if (rc != FO_OK) return rc;
    g->submitted_ms = fo_now_ms();
    pthread_mutex_lock(&e->mu);
    int i = e->stop ? -1 : scheduler_new(&e->sched);
    if (i < 0 && !e->stop && drop_warming(e)) i = scheduler_new(&e->sched);
    if (i < 0) {
        wait = 1000;
        rc = fo_fail(err, FO_EBUSY, "too many requests wait for the model");
    } else {
        rc = admission_ask(e->admission, g->submitted_ms, (int64_t)(r->n_prompt + r->max_tokens),
                           &wait, err);
        if (rc != FO_OK) scheduler_remove(&e->sched, i);
    }
    if (rc != FO_OK) {
        e->stats.refused++;
        pthread_mutex_unlock(&e->mu);
        generation_destroy(g);
        if (retry_after_ms) *retry_after_ms = wait;
        return rc;
    }
    pthread_mutex_unlock(&e->mu);
    g->stage = read_ahead(e->kv, e->store, &e->mu, r, g->chunk);
    pthread_mutex_lock(&e->mu);
    add_task(e, g, r, i);
    if (!r->background) atomic_store(&e->give_way, true);
    pthread_cond_signal(&e->wake);
    pthread_mutex_unlock(&e->mu);
    *out = g;
    return FO_OK;
}

int generation_next(generation *g, int timeout_ms, generation_event *ev, fo_buf *text) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    if (timeout_ms > 0) {
        until.tv_sec += timeout_ms / 1000;
        until.tv_nsec += (timeout_ms % 1000) * 1000000L;
        if (until.tv_nsec >= 1000000000L) until.tv_sec++, until.tv_nsec -= 1000000000L;
    }
    pthread_mutex_lock(&g->mu);
    while (!g->ev.done && g->n_out == g->n_seen && timeout_ms != 0) {
        if (timeout_ms < 0)
            pthread_cond_wait(&g->news, &g->mu);
        else if (pthread_cond_timedwait(&g->news, &g->mu, &until) == ETIMEDOUT)
            break;
    }
    int news = g->ev.done || g->n_out > g->n_seen;
    *ev = g->ev;
    ev->n_new = g->n_out - g->n_seen;
    g->n_seen = g->n_out;
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
