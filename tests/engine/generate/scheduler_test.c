/* scheduler_test.c - the policy alone, without a model: random requests against a real KV cache,
 * every invariant after every plan; who gets what, and that nobody starves. */
#include "tests/test.h"

#include "engine/generate/scheduler.h"

static uint64_t seed;
static fo_err err;
static const unsigned char fingerprint[32] = {7};

enum { MAX_TASKS = 40, CAP = 400 };

static int32_t arrays[MAX_TASKS][CAP];

typedef struct rig {
    kv_cache *kv;
    scheduler s;
    double now;
} rig;

static void rig_open(rig *r, int n_pages, int page_tokens, int batch, int sequences) {
    *r = (rig){.now = 1000};
    kv_cache_options o = {.layout = {.n_layers = 1,
                                     .n_kv_heads = 1,
                                     .k_dim = 8,
                                     .v_dim = 8,
                                     .page_tokens = page_tokens,
                                     .type = KV_F32},
                          .n_pages = n_pages};
    assert_ok(kv_layout_init(&o.layout, &err), &err);
    assert_ok(kv_cache_create(&r->kv, &o, fingerprint, &err), &err);
    assert_ok(scheduler_init(&r->s, &(scheduler_options){batch, sequences, MAX_TASKS}, r->kv, &err),
              &err);
}

static void rig_close(rig *r) {
    kv_cache_stats st;
    kv_cache_get_stats(r->kv, &st);
    assert_int_equal(st.n_used, 0);
    assert_int_equal(st.n_sequences, 0);
    scheduler_deinit(&r->s);
    kv_cache_free(r->kv);
}

/* A task whose prompt is `common` tokens of text number `text` and then its own. -1: no room. */
static int add(rig *r, int text, int common, int n_prompt, int n_answer, int priority,
               double deadline) {
    static int32_t own = 1000000;
    int i = scheduler_new(&r->s);
    if (i < 0) return -1;
    task *t = &r->s.tasks[i];
    t->tokens = arrays[i];
    for (int k = 0; k < n_prompt; k++)
        t->tokens[k] = k < common ? text * 1000 + k : own++ % 1000000 + 1000000;
    t->n_tokens = t->n_prompt = n_prompt;
    t->cap_tokens = n_prompt + n_answer;
    assert_true(t->cap_tokens <= CAP);
    t->priority = priority;
    t->arrived_ms = r->now;
    t->deadline_ms = deadline;
    t->prefill_only = n_answer == 0;
    scheduler_add(&r->s, i);
    return i;
}

/* Plan, check and carry out one step. Returns the tokens computed; finished[] counts ends. */
static int step(rig *r, bool *finished) {
    int failed, sum = 0;
    assert_ok(scheduler_plan(&r->s, r->now, &failed, &err), &err);
    assert_int_equal(failed, -1);
    assert_ok(scheduler_check(&r->s, &err), &err);
    if (r->s.n_parts) assert_ok(scheduler_commit(&r->s, &err), &err);
    for (int k = 0; k < r->s.n_parts; k++) {
        step_part p = r->s.parts[k];
        task *t = &r->s.tasks[p.task];
        sum += p.n;
        if (!p.wants_logits) continue;
        if (t->n_tokens + 1 >= t->cap_tokens || t->prefill_only) {
            scheduler_remove(&r->s, p.task);
            if (finished) finished[p.task] = true;
        } else {
            t->tokens[t->n_tokens] = (t->tokens[t->n_tokens - 1] * 31 + 7) & 0xfffff;
            t->n_tokens++;
        }
    }
    r->s.n_parts = 0;
    assert_ok(scheduler_check(&r->s, &err), &err);
    r->now += 5;
    return sum;
}

static void random_work_keeps_the_invariants_and_ends(void **state) {
    (void)state;
    uint64_t preemptions = 0, waited = 0;
    for (int round = 0; round < 24; round++) {
        rig r;
        int page = 16 << test_random(&seed) % 2;
        int pages = CAP / page + 1 + (int)(test_random(&seed) % 40);
        rig_open(&r, pages, page, 1 + (int)(test_random(&seed) % 100),
                 1 + (int)(test_random(&seed) % 8));
        int n_added = 0;
        for (int at = 0; at < 300; at++) {
            if (test_random(&seed) % 3 == 0) {
                int n = 1 + (int)(test_random(&seed) % 200);
                int i =
                    add(&r, at / 20, (int)(test_random(&seed) % 200), n,
                        (int)(test_random(&seed) % 60), (int)(test_random(&seed) % 5) - 2,
                        test_random(&seed) % 4 ? 0 : r.now + (double)(test_random(&seed) % 900));
                n_added += i >= 0;
                if (i >= 0) {
                    r.s.tasks[i].reuse = test_random(&seed) % 8 ? KV_REUSE_EXACT : KV_REUSE_OFF;
                    r.s.tasks[i].drop_kv = test_random(&seed) % 8 == 0;
                    r.s.tasks[i].salt[0] = test_random(&seed) % 8 == 0;
                }
            }
            if (test_random(&seed) % 20 == 0) { /* cancel any */
                int i = (int)(test_random(&seed) % MAX_TASKS);
                if (r.s.tasks[i].state != TASK_FREE) scheduler_remove(&r.s, i);
            }
            r.s.beside_rows = at % 3 ? 1 + (int)(test_random(&seed) % 40) : 0;
            step(&r, NULL);
        }
        int steps = 0;
        while (r.s.n_running || r.s.waiting.n) {
            assert_true(step(&r, NULL) > 0); /* work is never stuck */
            assert_true(++steps < 60000);
        }
        assert_true(n_added > 20);
        preemptions += r.s.stats.preemptions;
        waited += r.s.stats.waited_for_leader;
        rig_close(&r);
    }
    print_message("# %llu preemptions, %llu waits for a leader\n", (unsigned long long)preemptions,
                  (unsigned long long)waited);
    assert_true(preemptions > 50); /* the rounds did get to the hard parts */
    assert_true(waited > 0);
}

static void nobody_starves_under_a_stream_of_more_urgent_ones(void **state) {
    (void)state;
    for (int kind = 0; kind < 2; kind++) { /* high priority, near deadlines */
        rig r;
        rig_open(&r, 64, 16, 32, 2);
        bool finished[MAX_TASKS] = {0};
        int slow = add(&r, 0, 0, 100, 50, 0, 0);
        double began = r.now, bound = kind ? 62000 : 12000;
        while (!finished[slow] && r.now - began < bound + 5000) {
            while (r.s.waiting.n < 4) /* always more of them than places */
                assert_true(add(&r, 0, 0, 20, 3, kind ? 0 : 10, kind ? r.now + 100 : 0) >= 0);
            step(&r, finished);
            if (!finished[slow] && r.now - began < bound / 2)
                assert_true(r.s.tasks[slow].state != TASK_FREE);
        }
        assert_true(finished[slow]);
        assert_true(r.now - began > bound / 2); /* the others were preferred, and not for ever */
        assert_true(r.now - began < bound);
        for (int i = 0; i < MAX_TASKS; i++)
            if (r.s.tasks[i].state != TASK_FREE) scheduler_remove(&r.s, i);
        rig_close(&r);
    }
}

static void decode_goes_on_beside_a_long_prompt(void **state) {
    (void)state;
    rig r;
    rig_open(&r, 64, 16, 16, 4);
    int writer = add(&r, 0, 0, 5, 40, 0, 0);
    step(&r, NULL);
    int reader = add(&r, 1, 0, 300, 5, 0, 0);
    for (int i = 0; i < 12; i++) {
        int before = r.s.tasks[writer].n_tokens;
        step(&r, NULL);
        assert_int_equal(r.s.tasks[writer].n_tokens, before + 1);
    }
    assert_int_equal(kv_seq_tokens(r.s.tasks[reader].kv), 12 * 15);
    scheduler_remove(&r.s, writer);
    scheduler_remove(&r.s, reader);
    rig_close(&r);
}

static void a_prompt_beside_written_tokens_is_read_in_short_pieces(void **state) {
    (void)state;
    rig r;
    rig_open(&r, 64, 16, 100, 4);
    r.s.beside_rows = 8;
    int reader = add(&r, 1, 0, 300, 5, 0, 0);
    assert_int_equal(step(&r, NULL), 100); /* nobody writes */
    int writer = add(&r, 0, 0, 5, 40, 1, 0);
    step(&r, NULL); /* its prompt, and as much as there is room for of the other */
    assert_int_equal(kv_seq_tokens(r.s.tasks[reader].kv), 195);
    int others[2];
    for (int i = 0; i < 2; i++) others[i] = add(&r, 2 + i, 0, 100, 5, 0, 0);
    for (int i = 0; i < 6; i++) assert_int_equal(step(&r, NULL), 1 + 8); /* all of them together */
    r.s.beside_rows = 0;
    assert_int_equal(step(&r, NULL), 100);
    scheduler_remove(&r.s, writer);
    scheduler_remove(&r.s, reader);
    for (int i = 0; i < 2; i++)
        if (r.s.tasks[others[i]].state != TASK_FREE) scheduler_remove(&r.s, others[i]);
    rig_close(&r);
}

static void higher_priority_takes_the_place_of_lower(void **state) {
    (void)state;
    rig r;
    rig_open(&r, 64, 16, 64, 1);
    int low = add(&r, 0, 0, 100, 50, -5, 0);
    for (int i = 0; i < 4; i++) step(&r, NULL);
    assert_int_equal(r.s.tasks[low].state, TASK_RUNNING);
    int written = r.s.tasks[low].n_tokens;
    int high = add(&r, 1, 0, 20, 4, 0, 0);
    step(&r, NULL);
    assert_int_equal(r.s.tasks[high].state, TASK_RUNNING);
    assert_int_equal(r.s.tasks[low].state, TASK_WAITING);
    bool finished[MAX_TASKS] = {0};
    while (!finished[high]) step(&r, finished);
    step(&r, finished);
    assert_int_equal(r.s.tasks[low].state, TASK_RUNNING);
    assert_true(r.s.tasks[low].n_tokens >= written); /* it lost no token */
    while (!finished[low]) step(&r, finished);
    rig_close(&r);
}

/* What is to be dropped at the end is, though it was preempted before; also where it never came back. */
static void a_preempted_task_leaves_nothing_that_is_to_be_dropped(void **state) {
    (void)state;
    for (int comes_back = 0; comes_back < 2; comes_back++) {
        rig r;
        kv_cache_stats st;
        rig_open(&r, 64, 16, 64, 1);
        int low = add(&r, 0, 0, 100, 20, -5, 0);
        r.s.tasks[low].drop_kv = true;
        for (int i = 0; i < 4; i++) step(&r, NULL);
        int high = add(&r, 1, 0, 20, 4, 0, 0);
        r.s.tasks[high].drop_kv = true;
        bool finished[MAX_TASKS] = {0};
        step(&r, finished);
        assert_int_equal(r.s.tasks[low].state, TASK_WAITING);
        kv_cache_get_stats(r.kv, &st);
        assert_true(st.n_cached >= 6); /* coming back is cheap */
        int sum = 0;
        if (!comes_back) scheduler_remove(&r.s, low);
        while (!finished[high]) step(&r, finished);
        while (comes_back && !finished[low]) sum += step(&r, finished);
        assert_true(sum < 100);
        kv_cache_get_stats(r.kv, &st);
        assert_int_equal(st.n_cached, 0);
        rig_close(&r);
    }
}

static void the_second_waits_for_the_prefix_that_the_first_computes(void **state) {
    (void)state;
    rig r;
    rig_open(&r, 64, 16, 32, 4);
    bool finished[MAX_TASKS] = {0};
    int a = add(&r, 0, 160, 165, 4, 0, 0), b = add(&r, 0, 160, 170, 4, 0, 0);
    int c = add(&r, 0, 160, 175, 4, 0, 0), sum = 0; /* short ones go first */
    while (!finished[a] || !finished[b] || !finished[c]) sum += step(&r, finished);
    assert_int_equal(r.s.tasks[a].n_attached, 0);
    assert_int_equal(r.s.tasks[b].n_attached, 160);
    assert_int_equal(r.s.tasks[c].n_attached, 160);
    assert_int_equal(sum, 165 + 10 + 15 + 3 * 3); /* the prefix once */
    rig_close(&r);
}

static void followers_choose_a_new_leader_when_theirs_goes(void **state) {
    (void)state;
    rig r;
    rig_open(&r, 64, 16, 32, 4);
    bool finished[MAX_TASKS] = {0};
    int a = add(&r, 0, 160, 165, 4, 0, 0), b = add(&r, 0, 160, 170, 4, 0, 0);
    int c = add(&r, 0, 160, 175, 4, 0, 0), sum = 0; /* short ones go first */
    for (int i = 0; i < 2; i++) sum += step(&r, finished);
    assert_int_equal(sum, 64);
    scheduler_remove(&r.s, a);
    while (!finished[b] || !finished[c]) sum += step(&r, finished);
    assert_int_equal(sum, 160 + 10 + 15 + 2 * 3);
    rig_close(&r);
}

static void an_urgent_follower_brings_its_leader_forward(void **state) {
    (void)state;
    rig r;
    rig_open(&r, 64, 16, 16, 3);
    bool finished[MAX_TASKS] = {0};
    int slow = add(&r, 0, 160, 170, 100, 0, 0);
    step(&r, finished);
    int other = add(&r, 1, 0, 300, 4, 3, 0), quick = add(&r, 0, 160, 170, 4, 9, 0);
    int steps = 0;
    while (!finished[quick]) {
        step(&r, finished);
        assert_true(++steps < 20);
    }
    assert_int_equal(r.s.tasks[quick].n_attached, 160);
    scheduler_remove(&r.s, slow);
    scheduler_remove(&r.s, other);
    rig_close(&r);
}

static int add_background(rig *r, int text, int common, int n_prompt) {
    int i = scheduler_new(&r->s);
    task *t = &r->s.tasks[i];
    t->tokens = arrays[i];
    for (int k = 0; k < n_prompt; k++) t->tokens[k] = k < common ? text * 1000 + k : 5000000 + k;
    t->n_tokens = t->n_prompt = t->cap_tokens = n_prompt;
    t->arrived_ms = r->now;
    t->prefill_only = t->background = true;
    scheduler_add(&r->s, i);
    return i;
}

static void plan(rig *r) {
    int failed;
    assert_ok(scheduler_plan(&r->s, r->now, &failed, &err), &err);
    assert_int_equal(failed, -1);
    assert_ok(scheduler_check(&r->s, &err), &err);
}

/* Whenever a request comes, nothing but what is being computed at that moment stands between it and
 * its first step, and that gives way: no step in between. What gave way comes back as it was. */
static void background_steps_give_way_and_lose_nothing(void **state) {
    (void)state;
    for (int round = 0; round < 40; round++) {
        rig r;
        rig_open(&r, 200, 16, 100, 3);
        const int b = add_background(&r, 1, 0, 300);
        int computed = 0, pauses = 0, fg = -1;
        while (r.s.tasks[b].state != TASK_FREE) {
            if (fg < 0) {
                plan(&r);
                assert_int_equal(r.s.n_parts, 1);
                const step_part was = r.s.parts[0];
                assert_int_equal(was.task, b);
                assert_int_equal(was.start, computed);
                assert_true(was.n > 0 && was.n <= SCHEDULER_BACKGROUND_TOKENS);
                if (test_random(&seed) % 2) { /* a request comes in the middle of the step */
                    fg = add(&r, 2, 0, 1 + (int)(test_random(&seed) % 250), 3, 0, 0);
                    scheduler_pause(&r.s);
                    pauses++;
                    plan(&r);
                    assert_int_equal(r.s.n_parts, 1);
                    assert_int_equal(r.s.parts[0].task, fg);
                    bool finished[MAX_TASKS] = {false};
                    while (!finished[fg]) {
                        step(&r, finished);
                        assert_int_equal(r.s.paused.task, b);
                        assert_int_equal(r.s.tasks[b].n_preempted, 0);
                    }
                    fg = -1;
                    plan(&r);
                    assert_int_equal(r.s.n_parts, 1);
                    assert_true(r.s.parts[0].begun);
                    assert_int_equal(r.s.parts[0].task, b);
                    assert_int_equal(r.s.parts[0].start, was.start);
                    assert_int_equal(r.s.parts[0].n, was.n);
                }
                computed += was.n;
                const bool last = r.s.parts[0].wants_logits;
                assert_ok(scheduler_commit(&r.s, &err), &err);
                r.s.n_parts = 0;
                if (last) scheduler_remove(&r.s, b);
            }
        }
        assert_int_equal(computed, 300);
        assert_true(pauses > 0 || round > 0);
        rig_close(&r);
    }
}

/* A request does not wait for what somebody computes in the background, though it needs the same:
 * with others at work that would never come. */
static void nobody_follows_a_background_task(void **state) {
    (void)state;
    rig r;
    bool finished[MAX_TASKS] = {false};
    rig_open(&r, 200, 16, 100, 3);
    add_background(&r, 1, 300, 300);
    step(&r, NULL);
    int writes = add(&r, 2, 0, 10, 200, 0, 0);
    int asks = add(&r, 1, 290, 300, 3, 0, 0);
    for (int i = 0; i < 8; i++) step(&r, finished);
    assert_true(finished[asks] && !finished[writes]);
    while (step(&r, finished)) continue;
    rig_close(&r);
}

/* However long one has waited, it takes no place and stands before nobody; when it gets its turn,
 * one after the other. Pages it does give up. */
static void background_tasks_stand_behind_all_others(void **state) {
    (void)state;
    rig r;
    bool finished[MAX_TASKS] = {false};
    rig_open(&r, 60, 16, 100, 2);
    int b[3];
    for (int i = 0; i < 3; i++) b[i] = add_background(&r, 3 + i, 300, 300);
    step(&r, NULL);
    assert_int_equal(r.s.n_running, 1);
    r.now += 1e9; /* no priority makes up for so much waiting */
    int first = add(&r, 1, 0, 50, 20, -100, 0), second = add(&r, 2, 0, 50, 20, -100, 0);
    step(&r, finished);
    assert_int_equal(r.s.n_running, 3); /* both places are theirs */
    for (int k = 0; k < r.s.n_parts; k++)
        assert_true(r.s.parts[k].task == first || r.s.parts[k].task == second);
    while (!finished[first] || !finished[second]) step(&r, finished);
    assert_int_equal(r.s.tasks[b[0]].n_preempted, 0);
    int large[2];
    memset(finished, 0, sizeof finished);
    for (int i = 0; i < 2; i++) large[i] = add(&r, 7 + i, 0, 390, 5, 0, 0); /* 50 pages of 60 */
    while (!finished[large[0]] || !finished[large[1]]) step(&r, finished);
    assert_true(r.s.tasks[b[0]].n_preempted > 0);
    for (int i = 0; i < 3; i++) {
        while (!finished[b[i]]) {
            step(&r, finished);
            assert_true(r.s.n_running <= 1);
        }
    }
    rig_close(&r);
}

int main(void) {
    seed = test_seed();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_work_keeps_the_invariants_and_ends),
        cmocka_unit_test(nobody_starves_under_a_stream_of_more_urgent_ones),
        cmocka_unit_test(decode_goes_on_beside_a_long_prompt),
        cmocka_unit_test(a_prompt_beside_written_tokens_is_read_in_short_pieces),
        cmocka_unit_test(higher_priority_takes_the_place_of_lower),
        cmocka_unit_test(a_preempted_task_leaves_nothing_that_is_to_be_dropped),
        cmocka_unit_test(the_second_waits_for_the_prefix_that_the_first_computes),
        cmocka_unit_test(followers_choose_a_new_leader_when_theirs_goes),
        cmocka_unit_test(an_urgent_follower_brings_its_leader_forward),
        cmocka_unit_test(background_steps_give_way_and_lose_nothing),
        cmocka_unit_test(nobody_follows_a_background_task),
        cmocka_unit_test(background_tasks_stand_behind_all_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
