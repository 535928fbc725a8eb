/* denoise_step.c - a step of a diffusion model: one pass over the canvases of some requests. */
#include "engine/generate/engine_internal.h"
#include <assert.h>
#include <string.h>

#include "kernels/alloc_guard.h"
#include "kernels/clock.h"

/* Passes behind which a canvas drops what its heads do not keep. */
static int delay_of(const kv_sparse *k) {
    const int delay = kv_sparse_get_params(k)->delay;
    return delay > 0 ? delay : 1;
}

/* Where what a canvas keeps lies, and what the pass is to watch. */
static void lay_out_sparse(kv_sparse *k, const kv_seq *kv, const denoise_pass *p,
                           model_sequence *s) {
    const int slots = kv_sparse_slots(k);
    s->slot_shift = kv_seq_shift(kv);
    if (slots) s->n_keys = slots - s->slot_shift; /* of both sides; nothing is beyond them */
    if (p->phase + 1 == delay_of(k))
        kv_sparse_watch_canvas(k, s->n_keys + s->slot_shift, p->work_from, p->work_to, s);
}

static model_sequence sequence_of(const denoise_pass *p, const denoise_canvas *x) {
    return (model_sequence){.tokens = x->tokens,
                            .n_tokens = p->to - x->from,
                            .start = x->from,
                            .n_keys = p->n_keys,
                            .logit_rows = x->asked,
                            .n_logits = x->n_asked};
}

/* The block table of the pass's canvas number i, which is ahead: the canvas's own before its rows. */
static void lay_out_ahead(const engine *e, const task *t, const denoise_canvas *x, int i,
                          model_sequence *s) {
    const generation *g = t->owner;
    int n_pages, n_own;
    const int32_t *pages = kv_seq_pages(t->kv, &n_pages);
    const int32_t *own = kv_seq_pages(t->ahead_kv, &n_own) + (i - 1) * g->ahead_pages;
    const int P = kv_cache_page_tokens(e->kv), shared = x->from / P;
    const int end = (s->n_keys + P - 1) / P;
    int32_t *table = g->ahead_tables + (i - 1) * ((t->cap_tokens + P - 1) / P);
    assert(x->from % P == 0 && end - shared <= g->ahead_pages);
    memcpy(table, pages, (size_t)shared * sizeof *table);
    memcpy(table + shared, own, (size_t)(end - shared) * sizeof *table);
    s->pages = table;
    s->n_pages = end;
}

/* The sequences of a part's canvases from e->seqs[at] on. Returns how many. */
static int lay_out(engine *e, const task *t, const denoise_pass *p, int at) {
    const generation *g = t->owner;
    model_sequence *s = &e->seqs[at];
    for (int i = 0; i < p->n_canvases; i++) {
        s[i] = sequence_of(p, &p->canvases[i]);
        if (i) lay_out_ahead(e, t, &p->canvases[i], i, &s[i]);
    }
    s->pages = kv_seq_pages(t->kv, &s->n_pages);
    if (t->sparse) lay_out_sparse(t->sparse, t->kv, p, s);
    if (!t->guided) return p->n_canvases;
    s[1] = sequence_of(p, &p->canvases[0]);
    s[1].tokens = denoiser_tokens(g->canvas, true) + p->from;
    s[1].pages = kv_seq_pages(t->guide_kv, &s[1].n_pages);
    if (t->guide_sparse) lay_out_sparse(t->guide_sparse, t->guide_kv, p, &s[1]);
    return 2;
}

typedef struct take_job {
    denoiser *d;
    int first;             /* asked row of logits[0] */
    float *with, *without; /* [n][n_vocab]; without: NULL where there is no guidance */
    size_t n_vocab;
} take_job;

static void take_some(void *arg, size_t begin, size_t end, int thread) {
    (void)thread;
    const take_job *j = arg;
    for (size_t i = begin; i < end; i++)
        denoiser_take(j->d, j->first + (int)i, j->with + i * j->n_vocab,
                      j->without ? j->without + i * j->n_vocab : NULL);
}

/* The logits of a part, whose rows in the step begin at `row`: as many at a time as there is room
 * for. */
static void take_logits(engine *e, const task *t, const denoise_pass *p, int row) {
    generation *g = t->owner;
    const size_t n_vocab = (size_t)model_get_info(e->model)->n_vocab;
    const int room = t->guided ? e->logit_rows / 2 : e->logit_rows;
    for (int k = 0; k < p->n_asked; k += room) {
        const int n = p->n_asked - k < room ? p->n_asked - k : room;
        take_job job = {g->canvas, k, e->logits, NULL, n_vocab};
        model_forward_logits(e->ctx, row + k, n, job.with);
        if (t->guided) {
            job.without = e->logits + (size_t)room * n_vocab;
            model_forward_logits(e->ctx, row + p->n_asked + k, n, job.without);
        }
        fo_pool_run(e->pool, (size_t)n, 1, take_some, &job);
    }
}

/* Before the next pass p: drop of a canvas what no row of it sees, or, where p computes everything
 * anew, all. */
static int drop_kv(const engine *e, task *t, const denoise_pass *p, fo_err *err) {
    if (p->whole) {
        t->needs_canvas = kv_seq_shift(t->kv) != 0;
        if (!t->needs_canvas) return FO_OK;
        kv_sparse_reset(t->sparse);
        if (t->guided) kv_sparse_reset(t->guide_sparse);
        return FO_OK;
    }
    if (p->phase != delay_of(t->sparse)) return FO_OK;
    const int to = e->diffusion.attention_block ? t->cap_tokens : p->to;
    const int n_slots = t->cap_tokens + kv_seq_shift(t->kv);
    int rc = kv_sparse_decide_canvas(t->sparse, t->kv, p->from, to, n_slots, err);
    scheduler_note_pages(t);
    if (rc || !t->guided) return rc;
    rc = kv_sparse_decide_canvas(t->guide_sparse, t->guide_kv, p->from, to, n_slots, err);
    scheduler_note_pages(t);
    return rc;
}

/* The pass is done: unmask, and write what has become final. engine.mu is held. */
static void take_pass(engine *e, int task_number, const denoise_pass *p) {
    task *t = &e->sched.tasks[task_number];
    generation *g = t->owner;
    e->stats.denoise_passes++;
    e->stats.denoise_rows += (uint64_t)t->pass_rows;
    e->stats.denoise_logit_rows += (uint64_t)p->n_asked * (1u + t->guided);
    denoiser_commit(g->canvas);
    const int have = kv_seq_tokens(t->kv), exact = denoiser_exact(g->canvas);
    if (t->attaches && exact > have) {
        const int32_t *tokens = denoiser_tokens(g->canvas, false) + have;
        kv_seq_commit(t->kv, tokens, exact - have);
        memcpy(t->tokens + have, tokens, (size_t)(exact - have) * sizeof *tokens);
        /* Attaching leaves the last one out. A sparse canvas begins anew. */
        if (exact >= t->n_prompt && !t->sparse) t->n_final = exact + 1;
    }
    t->pass_rows = denoiser_rows(g->canvas);
    pthread_mutex_lock(&g->mu);
    g->ev.passes = denoiser_passes(g->canvas);
    pthread_mutex_unlock(&g->mu);
    const int final = denoiser_final(g->canvas);
    const int32_t *answer = denoiser_tokens(g->canvas, false) + g->n_prompt;
    while ((int)g->n_out < final)
        if (!engine_take_token(e, task_number, answer[g->n_out], NULL)) return;
    fo_err err = {0};
    const denoise_pass *next = t->sparse ? denoiser_plan(g->canvas) : NULL;
    if (next && drop_kv(e, t, next, &err) != FO_OK) engine_finish(e, g, "error", err.code, err.msg);
}

/* A canvas that has been admitted, for the first time or again, and has computed nothing since. */
static void begin_canvas(task *t) {
    denoiser *d = ((generation *)t->owner)->canvas;
    if (t->restarts) denoiser_restart(d, t->sparse != NULL);
    if (t->attaches && (t->restarts || denoiser_passes(d) == 0))
        denoiser_attach(d, kv_seq_tokens(t->kv));
    t->restarts = false;
    t->pass_rows = denoiser_rows(d);
}

void engine_denoise_step(engine *e) {
    scheduler *s = &e->sched;
    const int n_parts = s->n_parts;
    int n_seqs = 0, row = 0;
    for (int k = 0; k < n_parts; k++) {
        task *t = &s->tasks[s->parts[k].task];
        begin_canvas(t);
        n_seqs += lay_out(e, t, denoiser_plan(((generation *)t->owner)->canvas), n_seqs);
    }
    pthread_mutex_unlock(&e->mu);
    fo_err err = {0};
    const double t0 = fo_now_ms();
    fo_alloc_forbid();
    const int rc = model_forward_states(e->ctx, kv_cache_pages(e->kv), e->seqs, n_seqs, &err);
    for (int k = 0; k < n_parts && !rc; k++) {
        const task *t = &s->tasks[s->parts[k].task];
        const denoise_pass *p = denoiser_plan(((generation *)t->owner)->canvas);
        take_logits(e, t, p, row);
        row += p->n_asked * (1 + t->guided);
    }
    fo_alloc_allow();
    pthread_mutex_lock(&e->mu);
    e->stats.busy_ms += fo_now_ms() - t0;
    e->stats.steps++;
    for (int k = 0; k < n_parts; k++) {
        const int i = s->parts[k].task;
        generation *g = s->tasks[i].owner;
        if (rc)
            engine_finish(e, g, "error", rc, err.msg);
        else
            take_pass(e, i, denoiser_plan(g->canvas));
    }
}
