/* Whose wishes a run of a source serves: those of requests that still wait for it, and of no others. The runs themselves are
 * this test's: folder_sync_run is wrapped (Makefile). */
#include "tests/test.h"

#include <pthread.h>

#include "server/base/log.h"
#include "server/routes/source_runner.h"

enum { MOST_RUNS = 64, USUAL = 7, RAISED = 99 };

typedef struct seen_run {
    char name[8];
    bool relocate, retry_failed;
    sync_limit limit;
} seen_run;

static struct {
    pthread_mutex_t mu;
    seen_run runs[MOST_RUNS];
    int n;
} seen = {.mu = PTHREAD_MUTEX_INITIALIZER};
static atomic_bool hold; /* runs of a do not end */

int __wrap_folder_sync_run(service *s, const folder_sync_request *q, folder_sync_report *out,
                           fo_err *err);
int __wrap_folder_sync_run(service *s, const folder_sync_request *q, folder_sync_report *out,
                           fo_err *err) {
    (void)s, (void)out;
    q->entering(q->ctx, ""); /* so that it is watched */
    pthread_mutex_lock(&seen.mu);
    assert_true(seen.n < MOST_RUNS);
    seen_run *r = &seen.runs[seen.n++];
    *r = (seen_run){.relocate = q->relocate, .retry_failed = q->retry_failed, .limit = q->limit};
    snprintf(r->name, sizeof r->name, "%s", q->name);
    pthread_mutex_unlock(&seen.mu);
    while (*q->name == 'a' && atomic_load(&hold) && !atomic_load(q->cancel)) usleep(1000);
    return atomic_load(q->cancel) ? fo_fail(err, FO_ECANCELLED, "cancelled") : FO_OK;
}

static int n_runs(void) {
    pthread_mutex_lock(&seen.mu);
    int n = seen.n;
    pthread_mutex_unlock(&seen.mu);
    return n;
}

static seen_run run_at(int i) {
    pthread_mutex_lock(&seen.mu);
    seen_run run = seen.runs[i];
    pthread_mutex_unlock(&seen.mu);
    return run;
}

/* Runs of a source, from number `first` of all on. */
static int count(const char *name, int first) {
    int n = 0;
    for (int i = first; i < n_runs(); i++) n += !strcmp(run_at(i).name, name);
    return n;
}

static void await_runs(const char *name, int first, int n) {
    for (int i = 0; i < 5000 && count(name, first) < n; i++) usleep(2000);
    assert_true(count(name, first) >= n);
}

static char *folders[2];
static source_runner *r;

static void open_runner(void) {
    static source_spec specs[2];
    seen.n = 0;
    for (int i = 0; i < 2; i++) {
        folders[i] = test_folder();
        specs[i] = (source_spec){.name = i ? "b" : "a", .path = folders[i]};
    }
    fo_err err = {0};
    const source_runner_options opt = {
        .tenant = "default", .specs = specs, .n = 2, .limit = {.n = USUAL}, .interval_s = 3600};
    assert_ok(source_runner_create(&r, &opt, &err), &err);
    assert_ok(source_runner_start(r, &err), &err);
}

static void close_runner(void) {
    atomic_store(&hold, false);
    source_runner_free(r);
    for (int i = 0; i < 2; i++) test_remove(folders[i]);
}

/* Until b has nothing to do any more. */
static void await_rest(void) {
    source_state now = {.waiting = true};
    for (int i = 0; i < 5000 && (now.waiting || now.running); i++) {
        usleep(2000);
        assert_true(source_runner_get(r, "b", &now));
    }
    assert_false(now.waiting || now.running);
}

static void one_that_was_withdrawn_leaves_nothing_to_the_next_run(void **state) {
    (void)state;
    fo_err err = {0};
    const sync_limit raised = {.n = RAISED};
    const atomic_bool gone = true;
    atomic_store(&hold, true);
    open_runner();
    await_runs("a", 0, 1); /* b waits behind it from now on */
    const source_request other = {0};
    const source_request withdrawn = {
        .limit = &raised, .relocate = true, .wait = true, .cancel = &gone, .ends_run = true};
    assert_ok(source_runner_request(r, "b", &other, &err), &err);
    assert_int_equal(source_runner_request(r, "b", &withdrawn, &err), FO_ECANCELLED);
    atomic_store(&hold, false);
    await_rest();
    assert_true(count("b", 0) >= 1);
    for (int i = 0; i < n_runs(); i++) {
        assert_int_equal(run_at(i).limit.n, USUAL);
        assert_false(run_at(i).relocate);
    }
    /* and one that waits for its run has what it asked for, for that run alone */
    const int first = n_runs();
    const source_request stays = {.limit = &raised, .relocate = true, .wait = true};
    assert_ok(source_runner_request(r, "b", &stays, &err), &err);
    assert_ok(source_runner_request(r, "b", &(source_request){.wait = true}, &err), &err);
    int n_raised = 0, n_moved = 0;
    for (int i = first; i < n_runs(); i++) {
        n_raised += run_at(i).limit.n == RAISED;
        n_moved += run_at(i).relocate;
    }
    assert_int_equal(n_raised, 1);
    assert_int_equal(n_moved, 1);
    close_runner();
}

static void one_that_joins_a_run_which_waits_has_failed_files_tried_again(void **state) {
    (void)state;
    fo_err err = {0};
    char path[4200];
    open_runner();
    await_runs("a", 0, 1);
    await_runs("b", 0, 1);
    await_rest();
    atomic_store(&hold, true);
    int first = n_runs();
    assert_ok(source_runner_request(r, "a", &(source_request){0}, &err), &err);
    await_runs("a", first, 1);
    first = n_runs();
    snprintf(path, sizeof path, "%s/new.md", folders[1]);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fclose(f);
    usleep(1500000); /* the watch's own run waits behind that of a */
    assert_ok(source_runner_request(r, "b", &(source_request){0}, &err), &err);
    atomic_store(&hold, false);
    await_rest();
    int n_tried = 0;
    for (int i = first; i < n_runs(); i++)
        n_tried += !strcmp(run_at(i).name, "b") && run_at(i).retry_failed;
    assert_int_equal(n_tried, 1);
    close_runner();
}

int main(void) {
    log_open(LOG_LEVEL_OFF, false);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_was_withdrawn_leaves_nothing_to_the_next_run),
        cmocka_unit_test(one_that_joins_a_run_which_waits_has_failed_files_tried_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
