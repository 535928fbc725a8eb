/* GET /sources, /sources/{name}; POST /sources/{name}/sync; DELETE /sources/{name}. */
#include <stdlib.h>
#include <string.h>

#include "server/base/json.h"
#include "server/base/log.h"
#include "server/routes/app.h"

enum { STEPS = 1000 }; /* that a dry run names */

static void write_time(json_out *o, const char *key, int64_t ms) {
    char t[32];
    if (ms) log_time(t, ms);
    json_out_string(o, key, ms ? t : NULL);
}

/* Known to the store (s), configured (now), or both; NULL: it is not. */
static void write_source(json_out *o, const store_source *s, const source_state *now) {
    static const store_source none;
    static const source_state rests;
    const store_source *known = s ? s : &none;
    const source_state *is = now ? now : &rests;
    const char *error = is->away ? is->trouble : known->error;
    const char *collection = s ? s->collection : is->spec.collection;
    json_out_open(o, NULL, '{');
    json_out_string(o, "name", s ? s->name : is->spec.name);
    json_out_string(o, "path", s ? s->path : is->spec.path);
    json_out_string(o, "collection", collection ? collection : "default");
    json_out_bool(o, "configured", now != NULL);
    json_out_bool(o, "watched", is->watched);
    json_out_string(o, "state",
                    is->running   ? "running"
                    : is->waiting ? "waiting"
                    : error       ? "failed"
                                  : "idle");
    json_out_int(o, "documents", known->n_documents);
    write_time(o, "started_at", known->started_ms);
    write_time(o, "finished_at", known->finished_ms);
    json_out_string(o, "error", error);
    json_out_string(o, "note", !is->away && *is->trouble ? is->trouble : NULL);
    if (known->report)
        json_out_raw(o, "report", known->report);
    else
        json_out_null(o, "report");
    json_out_close(o, '}');
}

void route_sources(http_request *r, void *ctx) {
    app *a = ctx;
    store_source *list = NULL;
    size_t n = 0;
    fo_err err = {0};
    if (folder_sync_list(a->service, app_tenant(r), &list, &n, &err)) {
        http_error_from(r, &err);
        return;
    }
    fo_buf b = {0};
    json_out o = {&b, false};
    source_state now;
    json_out_open(&o, NULL, '{');
    json_out_open(&o, "data", '[');
    for (size_t i = 0; i < n; i++)
        write_source(&o, &list[i], source_runner_get(a->sources, list[i].name, &now) ? &now : NULL);
    for (size_t i = 0; i < source_runner_count(a->sources); i++) { /* not one run yet */
        const char *name = source_runner_name(a->sources, i);
        bool known = false;
        for (size_t k = 0; k < n; k++) known = known || !strcmp(list[k].name, name);
        if (!known && source_runner_get(a->sources, name, &now)) write_source(&o, NULL, &now);
    }
    json_out_close(&o, ']');
    json_out_close(&o, '}');
    for (size_t i = 0; i < n; i++) store_source_deinit(&list[i]);
    free(list);
    http_reply_json(r, 200, &b);
}

static void reply_source(http_request *r, app *a, int status) {
    const char *name = http_param(r, "name");
    store_source s = {0};
    source_state now;
    fo_err err = {0};
    bool configured = source_runner_get(a->sources, name, &now);
    int rc = folder_sync_get(a->service, app_tenant(r), name, &s, &err);
    if (rc && !(rc == FO_ENOTFOUND && configured)) {
        http_error_from(r, &err);
        return;
    }
    fo_buf b = {0};
    json_out o = {&b, false};
    write_source(&o, rc ? NULL : &s, configured ? &now : NULL);
    store_source_deinit(&s);
    http_reply_json(r, status, &b);
}

void route_source(http_request *r, void *ctx) {
    reply_source(r, ctx, 200);
}

/* ---- runs -------------------------------------------------------------------------------- */

typedef struct steps {
    json_out *o;
    size_t n;
} steps;

static void on_step(void *ctx, enum sync_kind kind, const char *path, const char *from) {
    steps *s = ctx;
    const char *what = kind == SYNC_MOVED      ? "move"
                       : kind == SYNC_REMOVED  ? "remove"
                       : kind == SYNC_WITHHELD ? "withhold"
                       : kind != SYNC_PUT      ? NULL
                       : from                  ? "update"
                                               : "create";
    if (!what || s->n++ >= STEPS) return;
    json_out_open(s->o, NULL, '{');
    json_out_string(s->o, "action", what);
    json_out_string(s->o, "file", path);
    if (kind == SYNC_MOVED) json_out_string(s->o, "from", from);
    json_out_close(s->o, '}');
}

static void try_source(http_request *r, app *a, const sync_limit *limit, bool relocate) {
    fo_buf b = {0};
    json_out o = {&b, false};
    steps told = {&o, 0};
    folder_sync_request q = {.limit = *limit,
                             .relocate = relocate,
                             .cancel = http_cancel(r),
                             .step = on_step,
                             .ctx = &told};
    folder_sync_report report;
    fo_err err = {0};
    json_out_open(&o, NULL, '{');
    json_out_string(&o, "name", http_param(r, "name"));
    json_out_open(&o, "steps", '[');
    int rc = source_runner_try(a->sources, http_param(r, "name"), &q, &report, &err);
    json_out_close(&o, ']');
    char *text = rc ? NULL : folder_sync_report_json(&report);
    if (!rc && !text) rc = fo_no_memory(&err);
    if (text) json_out_raw(&o, "report", text);
    json_out_close(&o, '}');
    free(text);
    folder_sync_report_deinit(&report);
    if (rc) {
        fo_buf_free(&b);
        http_error_from(r, &err);
    } else {
        http_reply_json(r, 200, &b);
    }
}

void route_source_sync(http_request *r, void *ctx) {
    app *a = ctx;
    bool dry_run, wait, relocate;
    const char *text = http_arg(r, "max_deletes");
    sync_limit limit = a->source_limit;
    if (!http_arg_bool(r, "dry_run", false, &dry_run) || !http_arg_bool(r, "wait", true, &wait) ||
        !http_arg_bool(r, "relocate", false, &relocate) || !app_timeout_arg(r))
        return;
    if (text && !sync_limit_read(&limit, text)) {
        http_error(r, 400, "bad_field", "max_deletes",
                   "max_deletes must be a number of documents, or a share such as 30%%");
        return;
    }
    if (dry_run) {
        try_source(r, a, &limit, relocate);
        return;
    }
    fo_err err = {0};
    source_request q = {.limit = text ? &limit : NULL,
                        .relocate = relocate,
                        .wait = wait,
                        .cancel = http_cancel(r),
                        .ends_run = http_arg(r, "timeout_ms") != NULL};
    if (source_runner_request(a->sources, http_param(r, "name"), &q, &err))
        http_error_from(r, &err);
    else
        reply_source(r, a, wait ? 200 : 202);
}

void route_source_delete(http_request *r, void *ctx) {
    app *a = ctx;
    const char *name = http_param(r, "name");
    bool dry_run, keep;
    if (!http_arg_bool(r, "dry_run", false, &dry_run) ||
        !http_arg_bool(r, "keep_documents", false, &keep) || !app_timeout_arg(r))
        return;
    source_state now;
    if (source_runner_get(a->sources, name, &now)) {
        http_error(r, 409, "conflict", "name",
                   "the source '%.64s' is configured: take it out of forage.conf (or --source) and "
                   "start the service again first",
                   name);
        return;
    }
    size_t n;
    fo_err err = {0};
    int rc = folder_sync_forget(a->service, app_tenant(r), name, keep, dry_run, http_cancel(r), &n,
                                &err);
    if (rc == FO_ECANCELLED && http_timed_out(r)) {
        http_error(r, 408, "timeout", "timeout_ms",
                   "it was not done within timeout_ms; %zu documents were deleted, the source is "
                   "still there",
                   dry_run ? 0 : n);
        return;
    }
    if (rc) {
        http_error_from(r, &err);
        return;
    }
    fo_buf b = {0};
    json_out o = {&b, false};
    json_out_open(&o, NULL, '{');
    json_out_string(&o, "name", name);
    json_out_bool(&o, "dry_run", dry_run);
    json_out_bool(&o, "deleted", !dry_run);
    json_out_int(&o, "documents", (int64_t)n);
    json_out_close(&o, '}');
    http_reply_json(r, 200, &b);
}
