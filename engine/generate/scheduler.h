/* scheduler.h - which tokens go into the next step: the policy under engine.c, with no thread and
 * no lock of its own. The state machine and its invariants stand at the top of scheduler.c.
 * Threads: one (the engine's). */
#ifndef FORAGE_ENGINE_SCHEDULER_H
#define FORAGE_ENGINE_SCHEDULER_H

#include "engine/generate/chunk_task.h"
#include "engine/kv/indexed_heap.h"
#include "engine/kv/kv_cache.h"
#include "engine/kv/kv_sparse.h"
#include "engine/model/model.h"

/* The most rows of a background step. */
enum { SCHEDULER_BACKGROUND_TOKENS = 64 };

enum task_state { TASK_FREE, TASK_WAITING, TASK_RUNNING };

/* One request in the scheduler's hands. `tokens` is prompt and answer so far; the KV of the first
 * kv_seq_tokens(kv) of them is there. Prefill is having more than one to compute, decode is having
 * one: there is no other difference. */
typedef struct task {
    enum task_state state;
    /* set by the caller before scheduler_add */
    int32_t *tokens; /* [cap_tokens] */
    int n_tokens, cap_tokens;
    int n_prompt;
    int priority;
    double arrived_ms, deadline_ms; /* deadline 0: none */
    unsigned char salt[32];
    enum kv_reuse reuse;
    bool prefill_only, drop_kv;
    double expected_uses; /* of its KV by others */
    /* With KV_REUSE_CHUNK: how its prompt is put together; borrowed; NULL: it is not. While it is
     * in work, tokens and n_tokens are what it computes now, which may be another stream. */
    chunk_task *chunk;
    /* What its heads keep (of the second canvas: guide_sparse); borrowed; NULL: everything. Of a
     * canvas the caller decides and drops after its passes, and says so by needs_canvas. */
    kv_sparse *sparse, *guide_sparse;
    bool background; /* computes only in steps that nobody else has a part in, and gives way */
    void *owner;
    /* > 0: tokens is a canvas (engine/diffusion/denoiser.h), and its next pass has at most so many rows, those
     * of a second canvas for guidance included. Set before scheduler_add, and again after each pass.
     * Such a task takes the pages of its whole canvas, and ahead_tokens more, when it is admitted. It may
     * give pages back in between (sparse): with needs_canvas its next pass computes all rows, for which it
     * takes all pages again. n_tokens is cap_tokens. Its caller commits what KV is final, and nothing
     * is but with attaches: then it begins with full blocks that were committed, of the n_final tokens that will
     * not change. One that was preempted says so by restarts, and that its next pass has all rows: the
     * caller takes it back to where that is so. */
    int pass_rows;
    bool guided;       /* there is a second canvas */
    bool needs_canvas; /* nothing of its pages is of use any more */
    bool restarts;
    bool
        attaches; /* KV depends on what is before its block's end alone, and a page holds whole blocks */
    int n_final;
    int ahead_tokens; /* places for rows that count for one pass alone; a multiple of the page, may be 0 */
    /* Set before each scheduler_plan for a task that decodes, else 0: so many guesses at what
     * follows stand behind n_tokens (prompt_lookup.h), to be computed in the same part where there
     * is room. */
    int n_draft;
    /* the scheduler's */
    kv_seq *kv, *guide_kv, *ahead_kv; /* guide_kv: of the second canvas */
    int most_pages;                   /* that it has held at a time */
    int n_attached;                   /* tokens that came from the cache before it computed any */
    int n_preempted;
    int n_before;  /* tokens that it had when it was preempted last, or an earlier time if more */
    bool admitted; /* has run before */
    bool urgent;   /* its deadline is near */
    double started_ms;
    int leader; /* task that computes the same prefix now, -1: none */
    int leader_common;
    uint64_t serial;                      /* of arrival */
    uint64_t admission, leader_admission; /* of coming into work, the latest time */
} task;

typedef struct scheduler_options {
    int max_batch_tokens, max_sequences, max_tasks;
} scheduler_options;

/* A part of a step: the next pass of a canvas, or tokens [start, start + n) of a task, the last n_draft of them guesses; before
 * them n_again rows that its chunk task wants computed once more (n may be 0 then). */
typedef struct step_part {
    int task;
    int start, n, n_draft, n_again;
    bool wants_logits; /* reaches the end of the tokens: the next one is to be chosen */
    bool over;         /* committed, and its task computes another stream since */
    bool begun;        /* gave way to others in the middle (scheduler_pause): to be gone on with */
} step_part;

typedef struct scheduler_stats {
    uint64_t preemptions, waited_for_leader;
} scheduler_stats;

typedef struct scheduler {
    scheduler_options opt;
    kv_cache *kv;
    task *tasks;          /* [max_tasks] */
    indexed_heap waiting; /* by urgency */
    indexed_heap free_tasks;
    int *running; /* [max_sequences] in order of urgency */
    int n_running;
    step_part *parts; /* [max_sequences] of the planned step */
    int n_parts;
    /* Set before each scheduler_plan: of a step with decode rows, at most so many rows read prompts;
     * 0: as many as there is room for. */
    int beside_rows;
    step_part paused; /* a background step that gave way; of task -1: none */
    uint64_t next_serial, next_admission;
    scheduler_stats stats;
} scheduler;

int scheduler_init(scheduler *s, const scheduler_options *opt, kv_cache *kv, fo_err *err);
void scheduler_deinit(scheduler *s); /* tasks must be gone */

/* A free task to fill in, -1 when max_tasks are there. Given back by scheduler_add and _remove, or
 * by scheduler_remove at once. */
int scheduler_new(scheduler *s);
void scheduler_add(scheduler *s, int task); /* -> WAITING */
/* Take a task out, whatever its state: finished, cancelled, failed. Its KV is kept or dropped. */
void scheduler_remove(scheduler *s, int task);

/* Plan a step: parts[n_parts] with pages reserved. 0 parts: nothing to do now. *failed is a task
 * that can never run (its KV does not fit even alone), -1: none; remove it and plan again. */
int scheduler_plan(scheduler *s, double now_ms, int *failed, fo_err *err);
/* The planned step was computed: its tokens' KV is there. Guesses are left out: those that came
 * true are for the caller to commit, each before the next. */
int scheduler_commit(scheduler *s, fo_err *err);
/* Pages that a task holds now, its second canvas's and those ahead included. */
int scheduler_pages(const task *t);
/* Let its most_pages know what it held since this was done last. Of its sequences at most one may have
 * held more than it does now: it is done after each that packs. */
void scheduler_note_pages(task *t);

/* The planned step is a background one and gave way before its end: plan again. It comes back, with
 * the same tokens and `begun` set, as soon as nobody else has work, unless its task is gone then,
 * was preempted or has no use for it any more. */
void scheduler_pause(scheduler *s);

/* Check the invariants at the top of scheduler.c and those of its KV cache; the first violation is
 * the sentence. For tests. */
int scheduler_check(const scheduler *s, fo_err *err);

#endif
