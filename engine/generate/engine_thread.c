/* engine_thread.c - one thread that turns requests into tokens. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "engine/generate/engine_internal.h"
#include "kernels/alloc_guard.h"
#include "kernels/clock.h"
#include "kernels/cond.h"
#include "kernels/utf8.h"

enum {
    MAINTAIN_STEPS = 256, /* a busy engine looks so often whether its pages are scattered */
    SAVE_BLOCKS = 8,      /* blocks an idle engine gives to the KV store before it looks up */
    SAVE_AGAIN_MS = 50,   /* it waits so long for the store's disk */
    MOST_WARMING = 32,    /* requests whose chunks wait to be computed for the next time */
};

/* ---- begin and end ------------------------------------------------------------------------ */

void engine_add_task(engine *e, generation *g, const generation_request *r, int i) {
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
    t->sparse = g->sparse;
    t->guide_sparse = g->guide_sparse;
    if (g->canvas) {
        t->n_tokens = t->cap_tokens;
        t->guided = denoiser_tokens(g->canvas, true) != NULL;
        t->attaches = r->kv_reuse != KV_REUSE_OFF && e->diffusion.attention_block && !t->guided &&
                      kv_cache_page_tokens(e->kv) % e->diffusion.attention_block == 0;
        t->reuse = t->attaches ? KV_REUSE_EXACT : KV_REUSE_OFF;
        t->n_final = t->n_prompt;
        t->ahead_tokens = g->n_ahead * g->ahead_pages * kv_cache_page_tokens(e->kv);
        t->pass_rows = denoiser_rows(g->canvas);
    }
    g->task = i;
    scheduler_add(&e->sched, i);
}

static void start_warming(engine *e, generation *g);

/* What it holds of KV, and held at most. */
static void note_kv(const engine *e, task *t, generation_event *ev) {
    scheduler_note_pages(t);
    ev->kv_peak_tokens = (size_t)(t->most_pages * kv_cache_page_tokens(e->kv));
    ev->kv_end_tokens = (size_t)(scheduler_pages(t) * kv_cache_page_tokens(e->kv));
}

void engine_finish(engine *e, generation *g, const char *reason, int error, const char *message) {
    task *t = &e->sched.tasks[g->task];
    double now = fo_now_ms();
    pthread_mutex_lock(&g->mu);
    if (detokenizer_end(&g->detok, &g->piece, NULL) == FO_OK && g->piece.len)
        stop_match_push(&g->stops, g->piece.data, g->piece.len, &g->text);
    fo_buf_clear(&g->piece);
    if (stop_match_end(&g->stops, &g->text) && error == FO_OK) reason = "stop_sequence";
    generation_event *ev = &g->ev;
    ev->done = true;
    ev->error = error;
    fo_utf8_print(ev->message, sizeof ev->message, "%s", message ? message : "");
    ev->stop_index = g->stops.found;
    ev->finish_reason = reason;
    ev->prefix_tokens = (size_t)t->n_attached;
    if (t->kv) {
        int asked, restored;
        kv_seq_restored(t->kv, &asked, &restored);
        ev->disk_asked = ev->disk_asked || asked > 0;
        ev->disk_tokens += (size_t)restored;
        note_kv(e, t, ev);
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
    if (!t->background)
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

bool engine_drop_warming(engine *e) {
    generation *oldest = NULL;
    uint64_t serial = UINT64_MAX;
    for (int i = 0; i < e->sched.opt.max_tasks && e->n_warming; i++) {
        const task *t = &e->sched.tasks[i];
        generation *g = t->owner;
        if (t->state != TASK_WAITING || !g->internal || t->serial > serial) continue;
        oldest = g;
        serial = t->serial;
    }
    if (oldest) engine_finish(e, oldest, "cancelled", FO_ECANCELLED, "cancelled");
    return oldest != NULL;
}

/* g has ended and had to compute chunks that nobody knew: let them be known. Without a pause
 * between requests such work only piles up: what is newest has the best chance to be of use. */
static void start_warming(engine *e, generation *g) {
    if (e->n_warming >= MOST_WARMING) engine_drop_warming(e);
    int i = scheduler_new(&e->sched);
    if (i < 0) return;
    generation *w = g->warm;
    g->warm = NULL;
    w->submitted_ms = fo_now_ms();
    generation_request r = {.kv_reuse = KV_REUSE_CHUNK};
    r.background = r.prefill_only = r.drop_kv = true;
    e->n_warming++;
    engine_add_task(e, w, &r, i);
}

/* ---- one token ---------------------------------------------------------------------------- */

/* What the request allows the model to write. */
static bool allows(void *ctx, int32_t token) {
    generation *g = ctx;
    return (g->markers.max <= 0 || marker_allows(&g->markers, token)) &&
           (!g->filter || answer_filter_allows(g->filter, token));
}

static void cannot_write(engine *e, generation *g) {
    engine_finish(e, g, "error", FO_EUNSUPPORTED,
                  g->filter ? "the model's vocabulary cannot write what the schema asks for"
                            : "the model gives no token that may be written");
}

/* A call or JSON that a stop string or token cut would be no value any more: such ends are those of free text. */
static bool is_bound(const generation *g) {
    return g->filter && answer_filter_binds(g->filter);
}

/* The text of a token that was taken. True: a stop string ends the answer. */
static bool add_text(generation *g, int32_t token) {
    fo_buf_clear(&g->piece);
    bool stopped = is_bound(g) && stop_match_cease(&g->stops, &g->text);
    if (detokenizer_push(&g->detok, token, &g->piece, NULL) == FO_OK && g->piece.len)
        stopped = stop_match_push(&g->stops, g->piece.data, g->piece.len, &g->text) || stopped;
    /* Part of a character is out with the next byte that comes. */
    g->out[g->n_out - 1].text_end = g->n_pushed + (g->piece.len ? g->piece.len : 1);
    g->n_pushed += g->piece.len;
    fo_buf_clear(&g->piece);
    return stopped;
}

bool engine_take_token(engine *e, int task_number, int32_t token, const float *logits) {
    task *t = &e->sched.tasks[task_number];
    generation *g = t->owner;
    bool end = !g->ignore_end && tokenizer_is_end(e->tokenizer, token);
    bool stopped = false;
    for (size_t i = 0; i < g->n_stop_tokens && !end && !is_bound(g); i++)
        if (g->stop_tokens[i] == token) end = true, g->ev.stop_token = token;
    if (!end && g->filter && !answer_filter_take(g->filter, token)) {
        cannot_write(e, g);
        return false;
    }
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
        if (g->n_logprobs >= 0 && logits) {
            sampler_logprob *top = g->top ? g->top + g->n_out * (size_t)g->n_logprobs : NULL;
            out->n_top = (int)sampler_logprobs(e->sampler, logits, token, &out->logprob, top,
                                               (size_t)g->n_logprobs);
            out->top = top;
        }
        g->n_out++;
        g->ev.completion_tokens = g->n_out;
        if (g->markers.max > 0) marker_take(&g->markers, token);
        stopped = add_text(g, token);
        pthread_cond_broadcast(&g->news);
    }
    pthread_mutex_unlock(&g->mu);
    e->stats.decode_tokens++;
    if (end || (g->filter && answer_filter_done(g->filter))) {
        engine_finish(e, g, "stop", FO_OK, NULL);
    } else if (stopped) {
        engine_finish(e, g, "stop_sequence", FO_OK, NULL);
    } else if (g->n_out >= g->max_tokens) {
        engine_finish(e, g, "length", FO_OK, NULL);
    } else {
        return true;
    }
    return false;
}

/* The row of logits of a task chose its next token. engine.mu is held. */
static void take_row(engine *e, int task_number, const float *logits) {
    task *t = &e->sched.tasks[task_number];
    generation *g = t->owner;
    bool constrained = g->markers.max > 0 || g->filter;
    int32_t token = sampler_pick(e->sampler, &g->sampling, logits, t->tokens, (size_t)t->n_tokens,
                                 g->n_out, constrained ? allows : NULL, g);
    if (token < 0)
        cannot_write(e, g);
    else if (engine_take_token(e, task_number, token, logits))
        t->tokens[t->n_tokens++] = token;
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
        kv_seq_commit(t->kv, &guess, 1);
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
            engine_finish(e, g, "cancelled", FO_ECANCELLED, "cancelled");
        else if (t->deadline_ms > 0 && now > t->deadline_ms)
            engine_finish(e, g, "timeout", FO_ETIMEOUT, "the deadline passed");
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
    int n_rows = 0, n_written = 0;
    for (int k = 0; k < n_parts; k++) {
        const step_part *p = &s->parts[k];
        task *t = &s->tasks[p->task];
        generation *g = t->owner;
        kv_store_stage_free(e->store, g->stage); /* it has attached what was read ahead */
        g->stage = NULL;
        bool logits = p->wants_logits && !t->prefill_only;
        if (is_decode(p, t))
            n_written += p->n;
        else
            decode = false;
        e->seqs[k] = (model_sequence){.tokens = t->tokens + p->start,
                                      .n_tokens = p->n,
                                      .start = p->start,
                                      .n_logits = logits ? 1 + p->n_draft : 0};
        if (t->chunk) chunk_task_sequence(t->chunk, p->n_again, e->rows + 2 * n_rows, &e->seqs[k]);
        if (t->sparse) {
            e->seqs[k].slot_shift = kv_seq_shift(t->kv);
            kv_sparse_watch(t->sparse, t->kv, p->start, p->n, &e->seqs[k]);
        }
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
    bool ended = rc || model_forward_go(ctx, kv, e->seqs, n_parts, e->logits,
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
    if (decode && !rc) step_cost_add(&e->cost, n_rows, spent);
    if (!background && !rc) step_pace_add(&e->pace, n_written, n_rows - n_written, spent);
    if (!rc) rc = scheduler_commit(s, &err);
    size_t row = 0, n_vocab = (size_t)model_get_info(e->model)->n_vocab;
    for (int k = 0; k < n_parts; k++) {
        const step_part p = s->parts[k];
        generation *g = s->tasks[p.task].owner;
        if (rc) {
            engine_finish(e, g, "error", rc, err.msg);
            continue;
        }
        if (!is_decode(&p, &s->tasks[p.task]))
            e->stats.prefill_tokens += (uint64_t)(p.n + p.n_again);
        if (e->seqs[k].n_logits) {
            take_rows(e, &p, e->logits + row * n_vocab);
            row += (size_t)e->seqs[k].n_logits;
        } else if (p.wants_logits) {
            engine_finish(e, g, "stop", FO_OK, NULL); /* prefill_only: the KV is there */
        }
    }
    if (decode) fo_alloc_allow();
}

void *engine_thread(void *v) {
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
            /* What the KV store's full queue did not take is offered again. */
            const bool rest = kv_cache_unsaved(e->kv) > 0;
            const double until = rest ? fo_now_ms() + SAVE_AGAIN_MS : INFINITY;
            if (fo_cond_wait_until(&e->wake, &e->mu, until) == ETIMEDOUT) continue;
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
        if (e->read_stretch > 0 && !e->denoises) {
            step_pace_rest(&e->pace, e->read_stretch);
            e->sched.beside_rows = step_pace_rows(&e->pace, e->read_stretch, e->max_batch_tokens);
        }
        atomic_store(&e->give_way, false); /* whoever came is seen now */
        scheduler_plan(&e->sched, fo_now_ms(), &failed, &err);
        if (failed >= 0) {
            engine_finish(e, e->sched.tasks[failed].owner, "error", err.code, err.msg);
            continue;
        }
        if (e->sched.n_parts) (e->denoises ? engine_denoise_step : step)(e);
        if (e->stats.steps % MAINTAIN_STEPS == 0) kv_cache_maintain(e->kv);
    }
    pthread_mutex_unlock(&e->mu);
    return NULL;
}
