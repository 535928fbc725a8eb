/* POST /admin/snapshot: a backup of the home while it is served. Each takes as long as reading the store and
 * the indexes, so they are bounded in number and in rate: the newest ones are kept, and who asks too often
 * is told when to come again. */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "kernels/file.h"
#include "server/routes/app.h"
#include "server/base/json.h"
#include "server/base/log.h"

#define HOUR_MS 3600000.0
/* What this file makes and may therefore remove: forage-20261120T081500Z-1a2b.tar.zst (older versions:
 * ...db), and what is left of one where a process was killed. */
#define NAME_PATTERN "forage-########T######Z-****"
#define ENDING       ".tar.zst"

static bool is_made(const char *name, bool *finished) {
    const char *p = NAME_PATTERN;
    for (; *p && *name; p++, name++) {
        bool fits = *p == '#'   ? *name >= '0' && *name <= '9'
                    : *p == '*' ? strchr("0123456789abcdef", *name) != NULL
                                : *name == *p;
        if (!fits) return false;
    }
    *finished = !strcmp(name, ENDING) || !strcmp(name, ".db");
    return !*p && (*finished || !strncmp(name, ENDING ".tmp-", sizeof ENDING ".tmp-" - 1));
}

static int is_ours(const struct dirent *e) {
    bool finished;
    return is_made(e->d_name, &finished);
}

/* A snapshot may be made now, and counts; else false and the seconds to wait. snapshot_mu held. */
static bool may_make(app *a, int *wait_s) {
    double most = a->snapshots_per_hour, hours;
    int64_t now = log_now_ms();
    hours = a->snapshots_left_ms ? (double)(now - a->snapshots_left_ms) / HOUR_MS : 1;
    if (hours < 0) hours = 0; /* the clock was set back */
    a->snapshots_left = fmin(most, a->snapshots_left + hours * most);
    a->snapshots_left_ms = now;
    if (a->snapshots_left >= 1) return a->snapshots_left--, true;
    *wait_s = (int)ceil((1 - a->snapshots_left) / most * HOUR_MS / 1000);
    return false;
}

/* Remove all but the newest `keep`, and never `made`. Their names go to o. */
static int remove_old(const char *folder, const char *made, int keep, json_out *o, fo_err *err) {
    struct dirent **entries;
    int n = scandir(folder, &entries, is_ours, alphasort),
        rc = FO_OK; /* the name begins with the time */
    if (n < 0) return fo_fail_errno(err, "cannot read %s", folder);
    int n_finished = 0;
    for (int i = 0; i < n; i++) {
        bool finished;
        is_made(entries[i]->d_name, &finished);
        n_finished += finished;
    }
    for (int i = 0, surplus = n_finished - keep; i < n; i++) {
        bool finished;
        is_made(entries[i]->d_name, &finished);
        if (!finished || (surplus > 0 && strcmp(entries[i]->d_name, made) != 0)) {
            char path[4400];
            snprintf(path, sizeof path, "%s/%.255s", folder, entries[i]->d_name);
            surplus -= finished;
            if (unlink(path) != 0 && !rc) {
                rc = fo_fail_errno(err, "%s is made, but the older %s cannot be removed", made,
                                   path);
            } else if (finished) {
                json_out_string(o, NULL, entries[i]->d_name);
                char checksum[4420];
                snprintf(checksum, sizeof checksum, "%s.sha256", path);
                unlink(checksum); /* that of an older version */
                log_event(LOG_LEVEL_INFO, NULL, "snapshot_removed", LOG_STR("path", path));
            }
        }
        free(entries[i]);
    }
    free(entries);
    return rc;
}

/* snapshot_mu held. */
static int make(app *a, const atomic_bool *cancel, fo_buf *reply, fo_err *err) {
    char folder[4096], path[4400], name[80], id[32], stamp[32];
    time_t now = time(NULL);
    struct tm tm;
    gmtime_r(&now, &tm);
    strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%SZ", &tm);
    app_make_id(id, "");
    snprintf(name, sizeof name, "forage-%s-%.4s" ENDING, stamp, id); /* two in one second differ */
    int n = snprintf(folder, sizeof folder, "%s/backups", service_home(a->service));
    if (n < 0 || (size_t)n >= sizeof folder)
        return fo_fail(err, FO_EIO, "the path of the home folder is too long");
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int rc = fo_make_dirs(folder, err);
    if (!rc) rc = service_backup(a->service, path, cancel, err);
    struct stat st = {0};
    if (!rc && stat(path, &st) != 0) rc = fo_fail_errno(err, "cannot find %s", path);
    if (rc) return rc;
    json_out o = {reply, false};
    json_out_open(&o, NULL, '{');
    json_out_string(&o, "snapshot", name);
    json_out_string(&o, "path", path);
    json_out_int(&o, "bytes", (int64_t)st.st_size);
    json_out_open(&o, "removed", '[');
    rc = remove_old(folder, name, a->snapshots_kept, &o, err);
    json_out_close(&o, ']');
    json_out_close(&o, '}');
    return rc;
}

static void refuse(http_request *r, int wait_s, const char *why) {
    char seconds[16];
    snprintf(seconds, sizeof seconds, "%d", wait_s);
    http_set_header(r, "Retry-After", seconds);
    http_error(r, 429, "too_many_snapshots", NULL, "%s; try again in %d s", why, wait_s);
}

void route_snapshot(http_request *r, void *ctx) {
    app *a = ctx;
    fo_err err = {0};
    if (!app_timeout_arg(r)) return;
    if (pthread_mutex_trylock(&a->snapshot_mu) != 0) {
        refuse(r, 5, "another snapshot is being made");
        return;
    }
    int wait_s;
    if (!may_make(a, &wait_s)) {
        pthread_mutex_unlock(&a->snapshot_mu);
        char why[80];
        snprintf(why, sizeof why, "at most %d snapshots an hour are made (--snapshots-per-hour)",
                 a->snapshots_per_hour);
        refuse(r, wait_s, why);
        return;
    }
    fo_buf b = {0};
    int rc = make(a, http_cancel(r), &b, &err);
    pthread_mutex_unlock(&a->snapshot_mu);
    if (rc) {
        fo_buf_free(&b);
        http_error_from(r, &err);
        return;
    }
    http_reply_json(r, 200, &b);
}
