/* scheduler.c - continuous batching with chunked prefill.
 *
 *             scheduler_add            admit                      last token chosen
 *     FREE ------------------> WAITING -----> RUNNING (prefill ... decode) -----> FREE
 *       ^                        ^               |   scheduler_remove              |
 *       |                        +---------------+                                 |
 *       |                          preempt: pages are needed by one more urgent    |
 *       +--------------------------------------------------------------------------+
 *
 * 1. A task is WAITING (in the heap, without KV) or RUNNING (in running[], with KV), never both.
 * 2. running[] is in order of urgency when a step is planned: smallest key first.
 * 3. A key is a time: when the task came, less what its priority and a near deadline are worth,
 *    plus what it has left to do. All of these are bounded and newcomers' keys grow with the clock,
 *    so every task is the first some day: none starves.
 * 4. A step has at most max_batch_tokens tokens and a task at most one part in it; decode rows (one
 *    token each, and guesses) come first, so that a long prompt never stops those who already
 * write, and beside them at most beside_rows rows read prompts, so that it does not slow them much.
 * 5. A task whose prefix another one is computing now waits for its pages (leader) instead of
 *    computing them twice. Leaders came into work earlier, so there is no circle; a leader takes
 *    the place in the step of the most urgent task that waits for it.
 * 6. Preempted tasks keep their tokens; their pages stay findable, so that coming back is cheap. To
 *    meet them again counts as no use by another where its KV is to be dropped at the end.
 * 7. Only a task of lower priority is preempted to make a place for one that waits.
 * 8. Background tasks compute in steps that nobody else has a part in, one at a time, and nobody
 *    but such a one waits for them as its leader; so 3 does not hold for them. A step of theirs may
 *    give way in the middle: its task then keeps its place, its pages and what is computed.
 * 9. A task with a chunk task may change its stream of tokens after a commit: it then counts as
 *    having come into work at that moment, so nobody follows what it no longer computes.
 * 10. A canvas (task.pass_rows) has its next pass whole in a step or not at all; it takes its pages when
 *    it is admitted. Preempted, it needs a pass over all of it to go on, which fits into a step alone.
 *    The most urgent task always fits into a step, so 3 holds.
 * 11. A canvas that has dropped KV and needs all its pages again (needs_canvas) gives those up that it
 *    has and waits for all of them, the most urgent first and before anybody is admitted: who waits
 *    holds nothing, so there is no circle. It takes them from canvases of lower priority.
 * 12. A sequence with sparse attention decides at points of its tokens what it keeps: a part of a step
 *    ends there at the latest, and no other is planned until what is dropped is dropped. */
#include "engine/generate/scheduler.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum {
    PRIORITY_MS = 1000,      /* one step of priority is worth so much waiting */
    URGENT_MS = 500,         /* so long before its deadline a task is urgent, */
    URGENT_WORTH_MS = 60000, /* which is worth so much waiting */
    MS_PER_TOKEN_LEFT = 1,   /* short ones first, among those that came together */
};

static const int64_t BACKGROUND_MS = INT64_C(1) << 50;

int scheduler_init(scheduler *s, const scheduler_options *opt, kv_cache *kv, fo_err *err) {
    *s = (scheduler){.opt = *opt, .kv = kv, .paused = {.task = -1}};
    s->tasks = calloc((size_t)opt->max_tasks, sizeof *s->tasks);
    s->running = calloc((size_t)opt->max_sequences + 1, sizeof *s->running);
    s->parts = calloc((size_t)opt->max_sequences, sizeof *s->parts);
    if (!s->tasks || !s->running || !s->parts ||
        indexed_heap_init(&s->waiting, opt->max_tasks) != FO_OK ||
        indexed_heap_init(&s->free_tasks, opt->max_tasks) != FO_OK) {
        scheduler_deinit(s);
        return fo_no_memory(err);
    }
    for (int i = 0; i < opt->max_tasks; i++) indexed_heap_push(&s->free_tasks, i, (heap_key){0});
    return FO_OK;
}

void scheduler_deinit(scheduler *s) {
    assert(s->n_running == 0);
    free(s->tasks);
    free(s->running);
    free(s->parts);
    indexed_heap_deinit(&s->waiting);
    indexed_heap_deinit(&s->free_tasks);
    *s = (scheduler){0};
}

/* Its own, or one that it computes for a chunk. */
static int longest_stream(const task *t) {
    int other = t->chunk ? chunk_task_longest(t->chunk) : 0;
    return other > t->cap_tokens ? other : t->cap_tokens;
}

/* The order of two tasks must not turn round while one computes something else than its prompt:
 * short of pages, each would throw the other out for ever. */
static heap_key urgency(const task *t) {
    int n_tokens = t->chunk ? chunk_task_tokens(t->chunk, t->n_tokens) : t->n_tokens;
    int64_t left = t->cap_tokens - n_tokens;
    if (!t->admitted) left += n_tokens;
    int64_t due = (int64_t)t->arrived_ms - (int64_t)t->priority * PRIORITY_MS;
    if (t->urgent) due -= URGENT_WORTH_MS;
    if (t->background) due += BACKGROUND_MS; /* behind all others */
    return (heap_key){due + left * MS_PER_TOKEN_LEFT, (int64_t)t->serial, 0};
}

static bool sooner(const scheduler *s, int a, int b) {
    heap_key x = urgency(&s->tasks[a]), y = urgency(&s->tasks[b]);
    return x.first != y.first ? x.first < y.first : x.second < y.second;
}

int scheduler_new(scheduler *s) {
    int i = indexed_heap_pop(&s->free_tasks);
    if (i >= 0) s->tasks[i] = (task){.leader = -1};
    return i;
}

void scheduler_add(scheduler *s, int i) {
    task *t = &s->tasks[i];
    t->serial = ++s->next_serial;
    t->state = TASK_WAITING;
    indexed_heap_push(&s->waiting, i, urgency(t));
}

static void leave_running(scheduler *s, int i) {
    int at = 0;
    if (s->paused.task == i) s->paused.task = -1;
    while (s->running[at] != i) at++;
    memmove(&s->running[at], &s->running[at + 1],
            (size_t)(s->n_running - at - 1) * sizeof *s->running);
    s->n_running--;
}

static void leave_chunk(task *t) {
    if (!t->chunk) return;
    chunk_stream stream = {t->tokens, t->n_tokens};
    chunk_task_leave(t->chunk, &stream);
    t->tokens = stream.tokens;
    t->n_tokens = stream.n_tokens;
}

enum { MOST_SEQS = 3 };

/* Those that a task has. How many. */
static int seqs_of(const task *t, kv_seq **out) {
    kv_seq *const all[MOST_SEQS] = {t->kv, t->guide_kv, t->ahead_kv};
    int n = 0;
    for (int i = 0; i < MOST_SEQS; i++)
        if (all[i]) out[n++] = all[i];
    return n;
}

int scheduler_pages(const task *t) {
    kv_seq *seqs[MOST_SEQS];
    int sum = 0;
    for (int i = seqs_of(t, seqs); i-- > 0;) {
        int n;
        kv_seq_pages(seqs[i], &n);
        sum += n;
    }
    return sum;
}

void scheduler_note_pages(task *t) {
    kv_seq *seqs[MOST_SEQS];
    const int now = scheduler_pages(t);
    for (int i = seqs_of(t, seqs); i-- > 0;) {
        int n;
        kv_seq_pages(seqs[i], &n);
        const int most = now - n + kv_seq_most_pages(seqs[i]);
        if (most > t->most_pages) t->most_pages = most;
    }
}

/* What a canvas holds beside its own pages. */
static void free_canvas(task *t) {
    kv_seq_free(t->guide_kv, false);
    kv_seq_free(t->ahead_kv, false);
    t->guide_kv = t->ahead_kv = NULL;
}

/* Preempted, it left its blocks findable, for itself, and so does one that computes chunks aside with what stands
 * before them. */
static void forget_own(scheduler *s, task *t) {
    if (!t->drop_kv || t->reuse == KV_REUSE_OFF) return;
    kv_cache_forget(s->kv, t->salt, t->tokens,
                    t->n_before < t->n_tokens ? t->n_before : t->n_tokens);
    if (t->chunk) chunk_task_forget(t->chunk, t->salt);
}

void scheduler_remove(scheduler *s, int i) {
    task *t = &s->tasks[i];
    if (t->state == TASK_WAITING) indexed_heap_remove(&s->waiting, i);
    if (t->state == TASK_RUNNING) {
        leave_running(s, i);
        leave_chunk(t);
    }
    kv_seq_free(t->kv, !t->drop_kv);
    forget_own(s, t);
    free_canvas(t);
    t->kv = NULL;
    t->state = TASK_FREE;
    indexed_heap_push(&s->free_tasks, i, (heap_key){0});
}

static void preempt(scheduler *s, int i) {
    task *t = &s->tasks[i];
    scheduler_note_pages(t);
    if (t->sparse) kv_sparse_reset(t->sparse);
    if (t->guide_sparse) kv_sparse_reset(t->guide_sparse);
    if (kv_seq_tokens(t->kv) > t->n_before) t->n_before = kv_seq_tokens(t->kv);
    leave_running(s, i);
    leave_chunk(t);
    kv_seq_free(t->kv, true);
    free_canvas(t);
    t->kv = NULL;
    if (t->pass_rows) {
        t->pass_rows = t->cap_tokens * (1 + t->guided);
        t->needs_canvas = false;
        t->restarts = true;
    }
    t->leader = -1;
    t->n_draft = 0;
    t->state = TASK_WAITING;
    t->n_preempted++;
    indexed_heap_push(&s->waiting, i, urgency(t));
    s->stats.preemptions++;
}

static int to_compute(const task *t) {
    return t->n_tokens - kv_seq_tokens(t->kv) + (t->chunk ? chunk_task_again(t->chunk) : 0);
}

/* What it computes now may be attached by others, and taken from them. */
static bool shares(const task *t) {
    return t->reuse != KV_REUSE_OFF && !t->pass_rows &&
           (!t->chunk || chunk_task_is_exact(t->chunk));
}

/* ---- leaders ----------------------------------------------------------------------------- */

static int common_prefix(const task *a, const task *b) {
    int n = a->n_tokens < b->n_tokens ? a->n_tokens : b->n_tokens, k = 0;
    while (k < n && a->tokens[k] == b->tokens[k]) k++;
    return k;
}

/* So many of t's tokens others may attach, and t from others. */
static int shareable(const task *t) {
    const int most = t->sparse ? kv_sparse_shareable(t->sparse) : INT_MAX;
    return most < t->n_tokens ? most : t->n_tokens;
}

static int attach(const task *t, kv_seq *kv, int *n_attached, fo_err *err) {
    const int most = shareable(t); /* the last token is never attached */
    return kv_seq_attach(kv, t->tokens, most < t->n_tokens ? most + 1 : most, n_attached, err);
}

/* The running task that is about to fill blocks which t needs too. */
static void find_leader(scheduler *s, int i) {
    task *t = &s->tasks[i];
    int P = kv_cache_page_tokens(s->kv), have = kv_seq_tokens(t->kv);
    t->leader = -1;
    if (!shares(t)) return;
    int best = have / P * P + P; /* at least one more block, or waiting is not worth it */
    for (int k = 0; k < s->n_running; k++) {
        const task *a = &s->tasks[s->running[k]];
        if (a == t || !shares(a) || a->admission >= t->admission || to_compute(a) < 2 ||
            (a->background && !t->background) || memcmp(a->salt, t->salt, 32) != 0)
            continue;
        int common = common_prefix(a, t);
        if (common > t->n_tokens - 1) common = t->n_tokens - 1;
        if (common > shareable(t)) common = shareable(t);
        if (common > shareable(a)) common = shareable(a);
        common -= common % P;
        if (common < best || kv_seq_tokens(a->kv) >= common) continue;
        best = common;
        t->leader = s->running[k];
        t->leader_admission = a->admission;
        t->leader_common = common;
    }
}

/* True while a leader still works on what both need. Takes over what it finished, or left behind,
 * and looks for another that is further now. */
static bool wait_for_leader(scheduler *s, int i, fo_err *err) {
    task *t = &s->tasks[i];
    while (t->leader >= 0) {
        const task *a = &s->tasks[t->leader];
        bool alive = a->state == TASK_RUNNING && a->admission == t->leader_admission;
        if (alive && kv_seq_tokens(a->kv) < t->leader_common) {
            s->stats.waited_for_leader++;
            return true;
        }
        /* Back to a block's end: what was copied of the next block comes with the whole of it. */
        int have = kv_seq_tokens(t->kv), n = 0, cut = have % kv_cache_page_tokens(s->kv);
        kv_seq_truncate(t->kv, have - cut);
        if (attach(t, t->kv, &n, err) != FO_OK) {
            t->leader = -1; /* it computes what it could not attach */
            break;
        }
        if (t->n_preempted == 0 && (!t->chunk || chunk_task_in_prompt(t->chunk)))
            t->n_attached = kv_seq_tokens(t->kv);
        find_leader(s, i);
    }
    return false;
}

/* ---- planning ---------------------------------------------------------------------------- */

static int pages_for(const scheduler *s, int n_tokens) {
    int P = kv_cache_page_tokens(s->kv);
    return (n_tokens + P - 1) / P;
}

static void make_urgent(scheduler *s, double now_ms) {
    for (int i = 0; i < s->opt.max_tasks; i++) {
        task *t = &s->tasks[i];
        if (t->state == TASK_FREE || t->urgent || t->deadline_ms <= 0 ||
            now_ms < t->deadline_ms - URGENT_MS)
            continue;
        t->urgent = true;
        if (t->state == TASK_WAITING) indexed_heap_change(&s->waiting, i, urgency(t));
    }
}

static void sort_running(scheduler *s) { /* nearly sorted: insertion */
    for (int i = 1; i < s->n_running; i++) {
        int x = s->running[i], k = i;
        for (; k && sooner(s, x, s->running[k - 1]); k--) s->running[k] = s->running[k - 1];
        s->running[k] = x;
    }
}

/* Pages that a task needs for what it holds, or is about to. */
static int wanted(const scheduler *s, const task *t) {
    int n = t->chunk && t->prefill_only ? longest_stream(t) : t->n_tokens;
    if (t->pass_rows)
        return pages_for(s, t->cap_tokens) * (1 + t->guided) + pages_for(s, t->ahead_tokens);
    return pages_for(s, n + 1 + (t->kv ? kv_seq_shift(t->kv) : 0));
}

/* Pages that the tasks in work have yet to take for what they hold now. */
static int promised(const scheduler *s) {
    int sum = 0;
    for (int k = 0; k < s->n_running; k++) {
        const task *t = &s->tasks[s->running[k]];
        int held, need = wanted(s, t);
        if (t->pass_rows) { /* has all of them, or waits for all */
            if (t->needs_canvas) sum += need;
            continue;
        }
        kv_seq_pages(t->kv, &held);
        if (need > held) sum += need - held;
    }
    return sum;
}

/* Has b to give its place up for a? */
static bool outranks(const task *a, const task *b) {
    return a->background != b->background ? b->background : b->priority < a->priority;
}

static bool in_step(const scheduler *s, int i) {
    for (int k = 0; k < s->n_parts; k++)
        if (s->parts[k].task == i) return true;
    return false;
}

/* Make room for task i at the cost of the least urgent running one of lower rank: a place,
 * of which background tasks have none, or pages. */
static bool displace(scheduler *s, int i, bool place) {
    int victim = -1;
    for (int k = 0; k < s->n_running; k++) {
        int v = s->running[k];
        if (!in_step(s, v) && outranks(&s->tasks[i], &s->tasks[v]) && sooner(s, i, v) &&
            (!place || !s->tasks[v].background) && (victim < 0 || sooner(s, victim, v)))
            victim = v;
    }
    if (victim < 0) return false;
    preempt(s, victim);
    return true;
}

static int n_background(const scheduler *s) { /* in work: 0 or 1 */
    int n = 0;
    for (int k = 0; k < s->n_running; k++) n += s->tasks[s->running[k]].background;
    return n;
}

/* Pages for both canvases of a task that is one. FO_ENOMEM. */
static int take_canvas(scheduler *s, task *t, kv_seq *kv, int *n_attached, fo_err *err) {
    int rc = FO_OK;
    if (t->attaches) {
        /* Of a prompt up to its last token, of an answer as far as it is final. */
        rc = kv_seq_attach(kv, t->tokens, t->n_final, n_attached, err);
        *n_attached -= *n_attached % kv_cache_page_tokens(s->kv);
        if (!rc) kv_seq_truncate(kv, *n_attached);
        if (!rc && t->sparse) rc = kv_seq_own(kv, err);
    }
    if (!rc) rc = kv_seq_reserve(kv, t->cap_tokens - *n_attached, err);
    if (!rc && t->ahead_tokens) {
        rc = kv_seq_create(&t->ahead_kv, s->kv, t->salt, KV_REUSE_OFF, err);
        if (!rc) rc = kv_seq_prepare(t->ahead_kv, t->ahead_tokens, err);
        if (!rc) rc = kv_seq_reserve(t->ahead_kv, t->ahead_tokens, err);
    }
    if (rc || !t->guided) return rc;
    rc = kv_seq_create(&t->guide_kv, s->kv, t->salt, t->reuse, err);
    if (!rc) rc = kv_seq_prepare(t->guide_kv, t->cap_tokens, err);
    if (!rc) rc = kv_seq_reserve(t->guide_kv, t->cap_tokens, err);
    return rc;
}

/* Nobody holds pages while he waits for more. */
static void release_canvases(scheduler *s) {
    for (int k = 0; k < s->n_running; k++) {
        task *t = &s->tasks[s->running[k]];
        if (!t->needs_canvas) continue;
        kv_seq_truncate(t->kv, 0);
        if (t->guided) kv_seq_truncate(t->guide_kv, 0);
    }
}

/* All pages again for a canvas that needs them. False: it has to wait for them. */
static bool take_canvas_again(scheduler *s, int i) {
    fo_err ignored = {0};
    task *t = &s->tasks[i];
    if (!t->needs_canvas) return true;
    while (wanted(s, t) > kv_cache_available(s->kv))
        if (!displace(s, i, false)) return false;
    if (kv_seq_reserve(t->kv, t->cap_tokens, &ignored) != FO_OK ||
        (t->guided && kv_seq_reserve(t->guide_kv, t->cap_tokens, &ignored) != FO_OK))
        return false;
    t->needs_canvas = false;
    return true;
}

/* Take waiting tasks into work while there are places and pages for their tokens. Of background
 * tasks one, beside the places: the next sees when its turn comes what was computed before it. */
static int admit(scheduler *s, double now_ms, int *failed, fo_err *err) {
    for (;;) {
        int i = indexed_heap_top(&s->waiting);
        if (i < 0) break;
        task *t = &s->tasks[i];
        const int background = n_background(s);
        if (t->background && background) break; /* all behind it are such, too */
        const bool full = !t->background && s->n_running - background == s->opt.max_sequences;
        /* Pages it can share count as needed: the estimate errs on the side of waiting. With
         * nobody running everything is available, so waiting cannot last for ever. */
        if (full || (s->n_running && wanted(s, t) + promised(s) > kv_cache_available(s->kv))) {
            if (displace(s, i, full)) continue;
            break;
        }
        kv_seq *kv = NULL;
        int n = 0;
        int rc = kv_seq_create(&kv, s->kv, t->salt, t->reuse, err);
        if (!rc) rc = kv_seq_prepare(kv, longest_stream(t), err);
        if (!rc && !t->drop_kv) kv_seq_expect(kv, t->expected_uses);
        if (!rc && t->drop_kv) kv_seq_return(kv, t->n_before);
        /* One that warms computes chunks alone: the prompt's blocks are not used once more. */
        if (!rc && t->pass_rows)
            rc = take_canvas(s, t, kv, &n, err);
        else if (!rc && !(t->chunk && t->prefill_only))
            rc = attach(t, kv, &n, err);
        if (!rc && t->chunk) {
            chunk_stream stream = {t->tokens, t->n_tokens};
            rc = chunk_task_admit(t->chunk, kv, &stream, &n, err);
            if (rc) chunk_task_leave(t->chunk, &stream);
            t->tokens = stream.tokens;
            t->n_tokens = stream.n_tokens;
        }
        if (rc) {
            kv_seq_free(kv, true);
            free_canvas(t);
            *failed = i;
            return rc;
        }
        indexed_heap_pop(&s->waiting);
        t->kv = kv;
        t->state = TASK_RUNNING;
        if (!t->admitted) {
            t->n_attached = n;
            t->started_ms = now_ms;
        }
        t->admitted = true;
        t->admission = ++s->next_admission;
        s->running[s->n_running++] = i;
        find_leader(s, i);
    }
    sort_running(s);
    return FO_OK;
}

/* At a point where something is dropped: once it is, the task may go on. */
static bool decide(task *t, fo_err *err, int *rc) {
    *rc = FO_OK;
    if (!t->sparse || t->pass_rows || !kv_sparse_due(t->sparse, t->kv)) return true;
    *rc = kv_sparse_decide(t->sparse, t->kv, err);
    scheduler_note_pages(t);
    return *rc == FO_OK;
}

/* Reserve pages for n tokens of task i, at the cost of less urgent ones that have no part in this
 * step yet. FO_ENOMEM: it has to sit this step out. */
static int reserve(scheduler *s, int i, int n) {
    for (;;) {
        fo_err ignored = {0};
        int rc = kv_seq_reserve(s->tasks[i].kv, n, &ignored);
        if (rc != FO_ENOMEM) return rc;
        int victim = -1;
        for (int k = s->n_running; k-- > 0 && victim < 0;) {
            int v = s->running[k];
            if (v == i || sooner(s, v, i)) break;
            if (!in_step(s, v)) victim = v;
        }
        if (victim < 0) return rc;
        preempt(s, victim);
    }
}

/* n tokens and n_draft guesses. */
static void add_part(scheduler *s, int i, int n, int n_draft) {
    task *t = &s->tasks[i];
    int start = kv_seq_tokens(t->kv);
    scheduler_note_pages(t);
    s->parts[s->n_parts++] = (step_part){
        .task = i,
        .start = start,
        .n = n + n_draft,
        .n_draft = n_draft,
        .wants_logits = start + n == t->n_tokens && (!t->chunk || chunk_task_is_final(t->chunk))};
}

/* The next pass of canvas i. */
static void add_pass(scheduler *s, int i, int *room) {
    const int n = s->tasks[i].pass_rows;
    scheduler_note_pages(&s->tasks[i]);
    s->parts[s->n_parts++] = (step_part){.task = i, .n = n, .wants_logits = true};
    *room -= n;
}

/* Put chunks' KV in its place, where that is what comes next. FO_ENOMEM: not in this step. */
static int place_chunks(scheduler *s, int i, fo_err *err) {
    task *t = &s->tasks[i];
    int n = t->chunk ? chunk_task_places(t->chunk) : 0;
    if (n == 0) return FO_OK;
    if (reserve(s, i, n) != FO_OK) return kv_seq_reserve(t->kv, n, err); /* says why */
    chunk_stream stream = {t->tokens, t->n_tokens};
    int rc = chunk_task_place(t->chunk, t->kv, &stream, err);
    t->tokens = stream.tokens;
    t->n_tokens = stream.n_tokens;
    return rc;
}

/* A part of at most room rows for task i: rows of its chunk task first. FO_ENOMEM: it has to sit
 * this step out; another error: it cannot go on. */
static int add_prefill(scheduler *s, int i, int *room, fo_err *err) {
    task *t = &s->tasks[i];
    int rc;
    if (!decide(t, err, &rc)) return rc;
    rc = place_chunks(s, i, err);
    if (rc) return rc;
    int again = t->chunk ? chunk_task_again(t->chunk) : 0;
    int n_again = again < *room ? again : *room;
    int n = again == n_again ? t->n_tokens - kv_seq_tokens(t->kv) : 0;
    if (n > *room - n_again) n = *room - n_again;
    if (t->sparse) {
        const int have = kv_seq_tokens(t->kv), point = kv_sparse_point(t->sparse, have + 1);
        if (n > point - have) n = point - have;
    }
    if (reserve(s, i, n) != FO_OK) return kv_seq_reserve(t->kv, n, err); /* says why */
    add_part(s, i, n, 0);
    s->parts[s->n_parts - 1].n_again = n_again;
    *room -= n + n_again;
    return FO_OK;
}

/* Guesses of task i that may be computed beside its next token: they displace nobody. */
static int reserve_draft(scheduler *s, int i, int room) {
    fo_err ignored = {0};
    int n = s->tasks[i].n_draft < room ? s->tasks[i].n_draft : room;
    if (n < 1 || kv_seq_reserve(s->tasks[i].kv, 1 + n, &ignored) != FO_OK) return 0;
    return n;
}

/* With another stream a task is like one that came into work just now. */
static void take_stream(scheduler *s, int i, const chunk_stream *stream, bool changed) {
    task *t = &s->tasks[i];
    t->tokens = stream->tokens;
    t->n_tokens = stream->n_tokens;
    if (!changed) return;
    t->admission = ++s->next_admission;
    find_leader(s, i);
}

/* What a background task computes next: with the part of it that gave way, as long as that is of
 * use. True: there is such a part. */
static bool resume(scheduler *s, int i, fo_err *err, int *rc) {
    task *t = &s->tasks[i];
    bool changed = false;
    *rc = FO_OK;
    if (t->chunk) {
        chunk_stream stream = {t->tokens, t->n_tokens};
        *rc = chunk_task_refresh(t->chunk, t->kv, &stream, &changed, err);
        take_stream(s, i, &stream, changed);
    }
    if (s->paused.task != i) return false;
    s->parts[0] = s->paused;
    s->paused.task = -1;
    s->n_parts = !*rc && !changed;
    return s->n_parts;
}

int scheduler_plan(scheduler *s, double now_ms, int *failed, fo_err *err) {
    *failed = -1;
    s->n_parts = 0;
    make_urgent(s, now_ms);
    release_canvases(s);
    int rc = admit(s, now_ms, failed, err);
    if (rc) return rc;
    int room = s->opt.max_batch_tokens;
    bool waits = false; /* a canvas for pages */
    /* Decode rows. Preemption shortens running[] while we walk, so look at positions afresh. */
    for (int k = 0; k < s->n_running && room > 0; k++) {
        int i = s->running[k];
        if (to_compute(&s->tasks[i]) != 1 || s->tasks[i].background || s->tasks[i].pass_rows)
            continue;
        if (!decide(&s->tasks[i], err, &rc)) continue;
        int n_draft = reserve_draft(s, i, room - (s->n_running - k));
        if (n_draft == 0 && reserve(s, i, 1) != FO_OK) continue;
        add_part(s, i, 1, n_draft);
        room -= 1 + n_draft;
    }
    if (s->n_parts && s->beside_rows && room > s->beside_rows) room = s->beside_rows;
    for (int k = 0; k < s->n_running && room > 0; k++) {
        int i = s->running[k];
        if (s->tasks[i].background) {
            if (s->n_parts || resume(s, i, err, &rc)) break;
            if (rc) {
                *failed = i;
                return rc;
            }
            if (room > SCHEDULER_BACKGROUND_TOKENS) room = SCHEDULER_BACKGROUND_TOKENS;
        }
        if (s->tasks[i].pass_rows) {
            task *t = &s->tasks[i];
            if (t->pass_rows <= room && !(waits && t->needs_canvas) && take_canvas_again(s, i))
                add_pass(s, i, &room);
            waits |= t->needs_canvas;
            continue;
        }
        while (!in_step(s, i) && wait_for_leader(s, i, err)) i = s->tasks[i].leader;
        if (in_step(s, i)) continue;
        rc = add_prefill(s, i, &room, err);
        if (rc && rc != FO_ENOMEM) {
            *failed = i;
            return rc;
        }
    }
    if (s->n_parts == 0 && s->n_running) {
        /* Pages are short and everybody waits for somebody. The most urgent one gets all. */
        int first = s->running[0]; /* no canvas: the first of those has a part */
        while (s->n_running > 1) preempt(s, s->running[s->n_running - 1]);
        s->tasks[first].leader = -1;
        rc = add_prefill(s, first, &room, err);
        if (rc) {
            *failed = first;
            return rc;
        }
    }
    return FO_OK;
}

static int commit_chunk(scheduler *s, step_part *p, fo_err *err) {
    task *t = &s->tasks[p->task];
    chunk_stream stream = {t->tokens, t->n_tokens};
    int rc = chunk_task_commit(t->chunk, t->kv, p->n_again, &stream, &p->over, err);
    take_stream(s, p->task, &stream, p->over);
    return rc;
}

int scheduler_commit(scheduler *s, fo_err *err) {
    for (int k = 0; k < s->n_parts; k++) {
        step_part *p = &s->parts[k];
        task *t = &s->tasks[p->task];
        if (t->pass_rows) continue;
        kv_seq_commit(t->kv, t->tokens + p->start, p->n - p->n_draft);
        int rc = t->chunk ? commit_chunk(s, p, err) : FO_OK;
        if (rc) return rc;
    }
    return FO_OK;
}

void scheduler_pause(scheduler *s) {
    assert(s->n_parts == 1 && s->tasks[s->parts[0].task].background);
    s->paused = s->parts[0];
    s->paused.begun = true;
    s->n_parts = 0;
}

int scheduler_check(const scheduler *s, fo_err *err) {
    int n_running = 0, n_waiting = 0, n_free = 0;
    for (int i = 0; i < s->opt.max_tasks; i++) {
        const task *t = &s->tasks[i];
        bool waits = indexed_heap_has(&s->waiting, i), runs = false;
        for (int k = 0; k < s->n_running; k++) runs |= s->running[k] == i;
        n_waiting += waits;
        n_running += runs;
        n_free += indexed_heap_has(&s->free_tasks, i);
        if (waits != (t->state == TASK_WAITING) || runs != (t->state == TASK_RUNNING) ||
            runs != (t->kv != NULL))
            return fo_fail(err, FO_ECORRUPT, "invariant 1: task %d is in state %d, %s, %s, %s", i,
                           (int)t->state, waits ? "in the heap" : "not in the heap",
                           runs ? "running" : "not running", t->kv ? "with KV" : "without KV");
        if (runs && (to_compute(t) < 1 || t->n_tokens > longest_stream(t)))
            return fo_fail(err, FO_ECORRUPT, "task %d has %d tokens of %d to compute, room for %d",
                           i, to_compute(t), t->n_tokens, longest_stream(t));
    }
    if (n_running != s->n_running || n_waiting != s->waiting.n || n_free != s->free_tasks.n)
        return fo_fail(err, FO_ECORRUPT, "invariant 1: a task stands twice in a queue");
    const step_part *w = &s->paused;
    if (n_background(s) > 1 || n_running - n_background(s) > s->opt.max_sequences ||
        (w->task >= 0 &&
         (s->tasks[w->task].state != TASK_RUNNING || !s->tasks[w->task].background || !w->begun ||
          w->start != kv_seq_tokens(s->tasks[w->task].kv) ||
          w->start + w->n > s->tasks[w->task].n_tokens)))
        return fo_fail(err, FO_ECORRUPT,
                       "invariant 8: %d tasks run, %d in the background, and %d "
                       "has given way",
                       n_running, n_background(s), w->task);
    int sum = 0;
    for (int k = 0; k < s->n_parts; k++) {
        const step_part *p = &s->parts[k];
        const task *t = &s->tasks[p->task];
        if (t->background && s->n_parts > 1)
            return fo_fail(err, FO_ECORRUPT, "invariant 8: task %d shares a step", p->task);
        sum += p->n + p->n_again;
        int pages = 0;
        if (t->state != TASK_RUNNING || p->over || t->pass_rows) continue; /* finished since */
        kv_seq_pages(t->kv, &pages);
        int due = p->n - p->n_draft; /* what guesses took may have been given back since */
        if (due + p->n_again < 1 || due < 0 || p->n_draft < 0 || p->start + due > t->n_tokens ||
            pages * kv_cache_page_tokens(s->kv) < p->start + due + kv_seq_shift(t->kv))
            return fo_fail(err, FO_ECORRUPT, "part %d: tokens %d to %d of %d, %d pages", k,
                           p->start, p->start + p->n, t->n_tokens, pages);
        for (int j = 0; j < k; j++)
            if (s->parts[j].task == p->task)
                return fo_fail(err, FO_ECORRUPT, "invariant 4: task %d twice in a step", p->task);
    }
    if (sum > s->opt.max_batch_tokens)
        return fo_fail(err, FO_ECORRUPT, "invariant 4: a step of %d tokens, %d are allowed", sum,
                       s->opt.max_batch_tokens);
    return kv_cache_check(s->kv, err);
}
