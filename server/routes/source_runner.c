/* A thread a source sleeps in folder_watch_wait. Lock order: run_mu (held through a run) -> mu (briefly). */
#include "server/routes/source_runner.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/files/folder_watch.h"
#include "kernels/clock.h"
#include "kernels/cond.h"
#include "kernels/priority.h"
#include "kernels/utf8.h"
#include "server/base/log.h"

enum { AWAY_S = 30, POLL_MS = 200 };

typedef struct asked_run { /* what a request wants of the run that will serve it */
    struct asked_run *next;
    uint64_t number;
    bool relocate, has_limit;
    sync_limit limit;
} asked_run;

typedef struct source {
    source_runner *owner;
    source_spec spec;
    folder_watch *watch;
    pthread_t thread;
    bool started;
    atomic_bool cancel; /* ends the run under way; set under mu */
    /* guarded by mu */
    uint64_t asked, begun,
        done; /* runs, counted: a request is served by one that begins after it */
    uint64_t
        n_served; /* that wait for the run under way: requests, and the start for the first one */
    bool running;
    asked_run *waiting; /* in their order: what the next run serves */
    fo_err failed;      /* of the last run as a whole */
    char trouble[200];
    struct source_sums sums;
} source;

struct source_runner {
    source_runner_options opt;
    source *sources;
    size_t n;
    atomic_bool stop;
    pthread_mutex_t run_mu;
    pthread_mutex_t mu;
    pthread_cond_t over; /* a run is, or stop */
};

int source_spec_read(source_spec *out, char *text, fo_err *err) {
    char *equals = strchr(text, '='), *colon = strchr(text, ':');
    if (!equals || !equals[1])
        return fo_fail_field(err, FO_EINVAL, "source",
                             "NAME=PATH is wanted, or COLLECTION:NAME=PATH, not '%.200s'", text);
    *equals = 0;
    *out = (source_spec){.name = text, .path = equals + 1};
    if (colon && colon < equals) {
        *colon = 0;
        *out = (source_spec){text, colon + 1, equals + 1};
    }
    if (!service_name_valid(out->name) || (out->collection && !service_name_valid(out->collection)))
        return fo_fail_field(
            err, FO_EINVAL, "source",
            "names of sources and collections are 1 to 64 of A-Z a-z 0-9 _ - . and "
            "do not begin with a dot: not '%.100s'",
            service_name_valid(out->name) ? out->collection : out->name);
    if (*out->path != '/')
        return fo_fail_field(err, FO_EINVAL, "source",
                             "the path of '%s' must begin with /: '%.200s'", out->name, out->path);
    return FO_OK;
}

int source_runner_create(source_runner **out, const source_runner_options *opt, fo_err *err) {
    if (opt->n > SOURCES_MAX)
        return fo_fail_field(err, FO_EINVAL, "source", "there may be %d sources", SOURCES_MAX);
    for (size_t i = 0; i < opt->n; i++)
        for (size_t k = 0; k < i; k++)
            if (!strcmp(opt->specs[i].name, opt->specs[k].name))
                return fo_fail_field(err, FO_EINVAL, "source", "the source '%s' is there twice",
                                     opt->specs[i].name);
    source_runner *r = calloc(1, sizeof *r);
    if (!r) return fo_no_memory(err);
    r->opt = *opt;
    pthread_mutex_init(&r->run_mu, NULL);
    pthread_mutex_init(&r->mu, NULL);
    fo_cond_init(&r->over);
    r->sources = calloc(opt->n + 1, sizeof *r->sources);
    int rc = r->sources ? FO_OK : fo_no_memory(err);
    for (; r->n < opt->n && !rc; r->n++) {
        source *s = &r->sources[r->n];
        *s = (source){.owner = r, .spec = opt->specs[r->n], .asked = 1};
        rc = folder_watch_create(&s->watch, s->spec.path, err);
    }
    if (rc)
        source_runner_free(r);
    else
        *out = r;
    return rc;
}

/* ---- a source's thread ------------------------------------------------------------------- */

static void on_entering(void *ctx, const char *path) {
    source *s = ctx;
    folder_watch_enter(s->watch, path);
}

static void on_failed(void *ctx, const char *path, const fo_err *why) {
    const source *s = ctx;
    log_event(LOG_LEVEL_WARN, NULL, "sync_failed", LOG_STR("source", s->spec.name),
              LOG_STR("file", path), LOG_STR("why", why->msg));
}

static void log_run(const source *s, const folder_sync_report *r, int rc, const fo_err *err) {
    bool quiet =
        !rc && folder_sync_is_whole(r) && !r->created && !r->updated && !r->moved && !r->removed;
    log_event(quiet                            ? LOG_LEVEL_DEBUG
              : rc || !folder_sync_is_whole(r) ? LOG_LEVEL_WARN
                                               : LOG_LEVEL_INFO,
              NULL, "sync", LOG_STR("source", s->spec.name), LOG_INT("created", r->created),
              LOG_INT("updated", r->updated), LOG_INT("moved", r->moved),
              LOG_INT("unchanged", r->unchanged), LOG_INT("removed", r->removed),
              LOG_INT("skipped", r->skipped.n), LOG_INT("failed", r->failed),
              LOG_NUM("seconds", r->seconds),
              LOG_STR("refused", r->refused.code ? r->refused.msg : NULL),
              LOG_STR("error", rc ? err->msg : NULL));
}

/* The folder without links, as the store knows it. */
static int real_path(const source_spec *spec, char out[PATH_MAX], fo_err *err) {
    if (realpath(spec->path, out)) return FO_OK;
    return fo_fail_errno(err, "cannot open the folder %.300s", spec->path);
}

static void add_sums(struct source_sums *to, const folder_sync_report *r, int rc) {
    to->runs++;
    to->away += rc != 0;
    to->created += r->created;
    to->updated += r->updated;
    to->moved += r->moved;
    to->removed += r->removed;
    to->failed += r->failed;
    to->withheld += r->withheld;
    to->seconds += r->seconds;
    if (rc) return;
    to->unchanged = r->unchanged;
    to->skipped = r->skipped.n;
    to->failing = r->failed;
    to->finished_ms = fo_unix_ms();
}

/* The next run is of these: what any of them wants, and the limit of the last that names one. mu held. */
static void take_waiting(source *s, folder_sync_request *q) {
    s->n_served = s->begun == 0;
    while (s->waiting) {
        asked_run *w = s->waiting;
        q->relocate = q->relocate || w->relocate;
        if (w->has_limit) q->limit = w->limit;
        s->n_served++;
        s->waiting = w->next;
        free(w);
    }
}

static void run_source(source *s) {
    source_runner *r = s->owner;
    char path[PATH_MAX];
    pthread_mutex_lock(&r->run_mu);
    pthread_mutex_lock(&r->mu);
    uint64_t serves = s->asked;
    folder_sync_request q = {.tenant = r->opt.tenant,
                             .name = s->spec.name,
                             .collection = s->spec.collection,
                             .path = path,
                             .overlap = SIZE_MAX,
                             .max_file_bytes = r->opt.max_file_bytes,
                             .limit = r->opt.limit,
                             .retry_failed = s->asked > s->done,
                             .cancel = &s->cancel,
                             .entering = on_entering,
                             .failed = on_failed,
                             .ctx = s};
    take_waiting(s, &q);
    s->begun = serves;
    s->running = true;
    atomic_store(&s->cancel, r->stop);
    pthread_mutex_unlock(&r->mu);
    fo_err err = {0};
    folder_sync_report report = {0};
    int rc = real_path(&s->spec, path, &err);
    if (!rc) rc = folder_sync_run(r->opt.service, &q, &report, &err);
    pthread_mutex_lock(&r->mu);
    bool news = !rc || s->failed.code != rc; /* one that is away is said once */
    s->failed = rc ? err : (fo_err){0};
    add_sums(&s->sums, &report, rc);
    snprintf(s->trouble, sizeof s->trouble, "%s", folder_watch_trouble(s->watch));
    s->running = false;
    s->done = serves;
    pthread_cond_broadcast(&r->over);
    pthread_mutex_unlock(&r->mu);
    if (news && !(rc && r->stop)) log_run(s, &report, rc, &err);
    folder_sync_report_deinit(&report);
    pthread_mutex_unlock(&r->run_mu);
}

static void *work(void *arg) {
    source *s = arg;
    source_runner *r = s->owner;
    fo_thread_background();
    bool said = false;
    while (!r->stop) {
        run_source(s);
        pthread_mutex_lock(&r->mu);
        bool away = s->failed.code != FO_OK, again = s->asked > s->done;
        pthread_mutex_unlock(&r->mu);
        if (*s->trouble && !said)
            log_event(LOG_LEVEL_WARN, NULL, "not_watched", LOG_STR("source", s->spec.name),
                      LOG_STR("why", s->trouble), LOG_INT("interval_s", r->opt.interval_s));
        said = said || *s->trouble;
        int wait_s = away && r->opt.interval_s > AWAY_S ? AWAY_S : r->opt.interval_s;
        enum folder_watch_event event;
        fo_err err = {0};
        if (again || r->stop) continue;
        if (folder_watch_wait(s->watch, wait_s * 1000, &event, &err)) {
            log_event(LOG_LEVEL_ERROR, NULL, "sync_ended", LOG_STR("source", s->spec.name),
                      LOG_STR("why", err.msg));
            break;
        }
    }
    return NULL;
}

int source_runner_start(source_runner *r, fo_err *err) {
    for (size_t i = 0; i < r->n; i++) {
        source *s = &r->sources[i];
        s->started = pthread_create(&s->thread, NULL, work, s) == 0;
        if (!s->started) return fo_fail(err, FO_ENOMEM, "cannot start a thread");
    }
    return FO_OK;
}

void source_runner_interrupt(source_runner *r) {
    if (!r) return;
    pthread_mutex_lock(&r->mu);
    r->stop = true;
    for (size_t i = 0; i < r->n; i++) atomic_store(&r->sources[i].cancel, true);
    pthread_cond_broadcast(&r->over);
    pthread_mutex_unlock(&r->mu);
    for (size_t i = 0; i < r->n; i++) folder_watch_wake(r->sources[i].watch);
}

void source_runner_free(source_runner *r) {
    if (!r) return;
    source_runner_interrupt(r);
    for (size_t i = 0; i < r->n; i++) {
        if (r->sources[i].started) pthread_join(r->sources[i].thread, NULL);
        folder_watch_free(r->sources[i].watch);
        for (asked_run *w; (w = r->sources[i].waiting);) {
            r->sources[i].waiting = w->next;
            free(w);
        }
    }
    pthread_cond_destroy(&r->over);
    pthread_mutex_destroy(&r->mu);
    pthread_mutex_destroy(&r->run_mu);
    free(r->sources);
    free(r);
}

/* ---- from outside ------------------------------------------------------------------------ */

static source *find(source_runner *r, const char *name) {
    for (size_t i = 0; r && i < r->n; i++)
        if (!strcmp(r->sources[i].spec.name, name)) return &r->sources[i];
    return NULL;
}

static int not_configured(const char *name, fo_err *err) {
    return fo_fail_field(err, FO_ENOTFOUND, "source",
                         "no source '%.64s' is configured: --source %.64s=/PATH, or a line in "
                         "forage.conf, does that",
                         name, name);
}

size_t source_runner_count(const source_runner *r) {
    return r ? r->n : 0;
}

const char *source_runner_name(const source_runner *r, size_t i) {
    return r->sources[i].spec.name;
}

bool source_runner_get(source_runner *r, const char *name, source_state *out) {
    source *s = find(r, name);
    if (!s) return false;
    pthread_mutex_lock(&r->mu);
    *out = (source_state){.spec = s->spec,
                          .running = s->running,
                          .waiting = !s->running && s->asked > s->done,
                          .watched = s->done && !*s->trouble,
                          .away = s->failed.code != FO_OK,
                          .sums = s->sums};
    fo_utf8_print(out->trouble, sizeof out->trouble, "%s", out->away ? s->failed.msg : s->trouble);
    pthread_mutex_unlock(&r->mu);
    return true;
}

/* Numbered, behind those that wait already; NULL: there was no memory. mu held. */
static asked_run *add_waiting(source *s, const source_request *q) {
    asked_run *w = calloc(1, sizeof *w), **at = &s->waiting;
    if (!w) return NULL;
    *w = (asked_run){.number = ++s->asked, .relocate = q->relocate, .has_limit = q->limit != NULL};
    if (q->limit) w->limit = *q->limit;
    while (*at) at = &(*at)->next;
    return *at = w;
}

/* It is as if the request had never come: what it wanted goes with it. mu held. */
static void withdraw(source *s, uint64_t mine) {
    asked_run **at = &s->waiting;
    while (*at && (*at)->number != mine) at = &(*at)->next;
    asked_run *w = *at;
    if (!w) return;
    *at = w->next;
    free(w);
    s->asked = s->begun ? s->begun : 1; /* 1: the start's */
    for (w = s->waiting; w; w = w->next) s->asked = w->number;
}

/* The run of a request that nobody waits for any more ends, or does not begin, unless others asked for it too. mu
 * held. */
static void give_up(source *s, uint64_t mine) {
    if (s->begun < mine)
        withdraw(s, mine);
    else if (s->running && s->done < mine && --s->n_served == 0)
        atomic_store(&s->cancel, true);
}

int source_runner_request(source_runner *r, const char *name, const source_request *q,
                          fo_err *err) {
    source *s = find(r, name);
    if (!s) return not_configured(name, err);
    pthread_mutex_lock(&r->mu);
    const asked_run *w = add_waiting(s, q);
    int rc = w ? FO_OK : fo_no_memory(err);
    uint64_t mine = w ? w->number : 0;
    folder_watch_wake(s->watch);
    while (q->wait && s->done < mine && !rc) {
        if (r->stop || (q->cancel && atomic_load(q->cancel)))
            rc = fo_fail(err, FO_ECANCELLED, "cancelled");
        else
            fo_cond_wait_until(&r->over, &r->mu, fo_now_ms() + POLL_MS);
    }
    if (rc && mine && q->ends_run) give_up(s, mine);
    if (q->wait && !rc && s->failed.code) {
        if (err) *err = s->failed;
        rc = s->failed.code;
    }
    pthread_mutex_unlock(&r->mu);
    return rc;
}

int source_runner_try(source_runner *r, const char *name, const folder_sync_request *q,
                      folder_sync_report *out, fo_err *err) {
    *out = (folder_sync_report){0};
    source *s = find(r, name);
    if (!s) return not_configured(name, err);
    char path[PATH_MAX];
    int rc = real_path(&s->spec, path, err);
    if (rc) return rc;
    folder_sync_request with = *q;
    with.tenant = r->opt.tenant;
    with.name = s->spec.name;
    with.collection = s->spec.collection;
    with.path = path;
    with.overlap = SIZE_MAX;
    with.max_file_bytes = r->opt.max_file_bytes;
    with.retry_failed = with.dry_run = true;
    return folder_sync_run(r->opt.service, &with, out, err);
}
