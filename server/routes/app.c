#include "server/routes/app.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels/file.h"
#include "kernels/hex.h"
#include "server/base/log.h"

#define JSON_TYPE "application/json"
#define MIB       ((size_t)1 << 20)

/* Every row says who may ask: one of enum access_scope, without its prefix. A row that leaves it out has an
 * argument too few. */
#define ROUTE(method, pattern, handler, scope, body, lane, types, args, max_body)                  \
    {                                                                                              \
        method, pattern, handler, ACCESS_##scope, HTTP_BODY_##body, HTTP_LANE_##lane, types, args, \
            max_body                                                                               \
    }

/* clang-format off */
const http_route app_routes[] = {
    ROUTE("POST", "/ingest", route_ingest, INGEST, STREAM, INGEST, NULL, "collection wait id title uri language max_tokens overlap ocr ocr_language acl timeout_ms", 0),
    ROUTE("POST", "/query", route_query, READ, BUFFER, QUERY, JSON_TYPE, NULL, 4 * MIB),
    ROUTE("POST", "/search", route_search, READ, BUFFER, QUERY, JSON_TYPE, NULL, 4 * MIB),
    ROUTE("POST", "/v1/chat/completions", route_chat_completions, READ, BUFFER, QUERY, JSON_TYPE, NULL, 16 * MIB),
    ROUTE("POST", "/v1/responses", route_responses, READ, BUFFER, QUERY, JSON_TYPE, NULL, 16 * MIB),
    ROUTE("POST", "/v1/completions", route_completions, READ, BUFFER, QUERY, JSON_TYPE, NULL, 16 * MIB),
    ROUTE("POST", "/v1/embeddings", route_embeddings, READ, BUFFER, QUERY, JSON_TYPE, NULL, 16 * MIB),
    ROUTE("POST", "/v1/rerank", route_rerank, READ, BUFFER, QUERY, JSON_TYPE, NULL, 16 * MIB),
    ROUTE("POST", "/v1/tokenize", route_tokenize, READ, BUFFER, QUERY, JSON_TYPE, NULL, 16 * MIB),
    ROUTE("GET", "/v1/models", route_models, READ, NONE, QUERY, NULL, NULL, 0),
    ROUTE("GET", "/v1/models/{model}", route_model, READ, NONE, QUERY, NULL, NULL, 0),
    ROUTE("POST", "/mcp", route_mcp, READ, BUFFER, QUERY, JSON_TYPE, NULL, 16 * MIB),
    ROUTE("GET", "/documents", route_documents, READ, NONE, QUERY, NULL, "collection limit after filter source q order timeout_ms", 0),
    ROUTE("DELETE", "/documents", route_documents_delete, INGEST, NONE, INGEST, NULL, "collection filter source q dry_run timeout_ms", 0),
    ROUTE("GET", "/documents/{id}", route_document, READ, NONE, QUERY, NULL, "collection text", 0),
    ROUTE("DELETE", "/documents/{id}", route_document_delete, INGEST, NONE, INGEST, NULL, "collection", 0),
    ROUTE("GET", "/pages/{id}", route_document_page, READ, NONE, QUERY, NULL, "collection page", 0),
    ROUTE("GET", "/collections", route_collections, READ, NONE, QUERY, NULL, NULL, 0),
    ROUTE("PUT", "/collections/{name}", route_collection_put, INGEST, BUFFER, INGEST, JSON_TYPE, NULL, MIB),
    ROUTE("DELETE", "/collections/{name}", route_collection_delete, ADMIN, NONE, INGEST, NULL, "timeout_ms", 0),
    ROUTE("GET", "/sources", route_sources, OPERATE, NONE, QUERY, NULL, NULL, 0),
    ROUTE("GET", "/sources/{name}", route_source, OPERATE, NONE, QUERY, NULL, NULL, 0),
    ROUTE("DELETE", "/sources/{name}", route_source_delete, OPERATE, NONE, INGEST, NULL, "dry_run keep_documents timeout_ms", 0),
    ROUTE("POST", "/sources/{name}/sync", route_source_sync, OPERATE, NONE, INGEST, NULL, "dry_run max_deletes relocate wait timeout_ms", 0),
    ROUTE("GET", "/jobs/{id}", route_job, INGEST, NONE, QUERY, NULL, NULL, 0),
    ROUTE("DELETE", "/jobs/{id}", route_job_cancel, INGEST, NONE, QUERY, NULL, NULL, 0),
    ROUTE("GET", "/conversations", route_conversations, READ, NONE, QUERY, NULL, "q limit after timeout_ms", 0),
    ROUTE("POST", "/conversations", route_conversation_create, READ, BUFFER, INGEST, JSON_TYPE, "timeout_ms", MIB),
    ROUTE("GET", "/conversations/{id}", route_conversation, READ, NONE, QUERY, NULL, "timeout_ms", 0),
    ROUTE("PATCH", "/conversations/{id}", route_conversation_change, READ, BUFFER, INGEST, JSON_TYPE, "timeout_ms", MIB),
    ROUTE("DELETE", "/conversations/{id}", route_conversation_delete, READ, NONE, INGEST, NULL, "timeout_ms", 0),
    ROUTE("PUT", "/conversations/{id}/turns/{turn}", route_turn_put, READ, BUFFER, INGEST, JSON_TYPE, "timeout_ms turns", MIB),
    ROUTE("GET", "/suggestions", route_suggestions, READ, NONE, QUERY, NULL, "collection limit", 0),
    ROUTE("POST", "/feedback", route_feedback, READ, BUFFER, INGEST, JSON_TYPE, NULL, MIB),
    ROUTE("GET", "/session", route_session, READ, NONE, QUERY, NULL, NULL, 0),
    ROUTE("GET", "/keys", route_keys, OPERATE, NONE, QUERY, NULL, NULL, 0),
    ROUTE("POST", "/keys", route_key_create, OPERATE, BUFFER, INGEST, JSON_TYPE, NULL, MIB),
    ROUTE("DELETE", "/keys/{id}", route_key_revoke, OPERATE, NONE, INGEST, NULL, NULL, 0),
    ROUTE("GET", "/health", route_health, OPEN, NONE, INLINE, NULL, NULL, 0),
    ROUTE("GET", "/ready", route_ready, OPEN, NONE, INLINE, NULL, "collection", 0),
    ROUTE("GET", "/stats", route_stats, METRICS, NONE, QUERY, NULL, NULL, 0),
    ROUTE("GET", "/metrics", route_metrics, METRICS, NONE, INLINE, NULL, NULL, 0),
    ROUTE("GET", "/analytics/cache", route_analytics_cache, READ, NONE, QUERY, NULL, "window step", 0),
    ROUTE("GET", "/analytics/queries", route_analytics_queries, ADMIN, NONE, QUERY, NULL, "window order limit", 0),
    ROUTE("GET", "/analytics/feedback", route_analytics_feedback, ADMIN, NONE, QUERY, NULL, "window collection limit format", 0),
    ROUTE("GET", "/analytics/latency", route_analytics_latency, READ, NONE, QUERY, NULL, "window step", 0),
    ROUTE("GET", "/analytics/memory", route_analytics_memory, METRICS, NONE, QUERY, NULL, "window step", 0),
    ROUTE("GET", "/analytics/kv", route_analytics_kv, METRICS, NONE, QUERY, NULL, NULL, 0),
    ROUTE("GET", "/openapi.json", route_openapi, OPEN, NONE, INLINE, NULL, NULL, 0),
    ROUTE("POST", "/admin/snapshot", route_snapshot, OPERATE, NONE, INGEST, NULL, "timeout_ms", 0),
    ROUTE("GET", "/admin/log-level", route_log_level, OPERATE, NONE, QUERY, NULL, NULL, 0),
    ROUTE("POST", "/admin/log-level", route_log_level_set, OPERATE, BUFFER, QUERY, JSON_TYPE, NULL, MIB),
    ROUTE("GET", "/", route_page, OPEN, NONE, INLINE, NULL, "*", 0),
    ROUTE("GET", "/assets/{name}", route_asset, OPEN, NONE, INLINE, NULL, "*", 0),
};
/* clang-format on */
const size_t app_n_routes = sizeof app_routes / sizeof *app_routes;

static const char *methods[sizeof app_routes / sizeof *app_routes];
static const char *patterns[sizeof app_routes / sizeof *app_routes];

static void observe(void *ctx, const http_summary *s) {
    app *a = ctx;
    size_t route = s->route ? (size_t)(s->route - a->routes) : app_n_routes;
    metrics_request(a->metrics, route, s->status, s->total_ms);
    bool probe = s->route && s->route->lane == HTTP_LANE_INLINE && s->status < 400;
    char trace[33] = "";
    if (s->trace->sampled && !probe) { /* probes come every few seconds and tell nothing */
        fo_hex_write(trace, s->trace->trace_id, sizeof s->trace->trace_id);
        tracer_record(a->tracer, s->trace,
                      &(trace_request){.method = s->method,
                                       .route = s->route ? s->route->pattern : NULL,
                                       .request_id = s->request_id,
                                       .status = s->status,
                                       .began_us = s->began_us,
                                       .ended_us = s->ended_us});
    }
    log_event(probe              ? LOG_LEVEL_DEBUG
              : s->status >= 500 ? LOG_LEVEL_WARN
                                 : LOG_LEVEL_INFO,
              s->request_id, "request", LOG_STR("method", s->method), LOG_STR("path", s->path),
              LOG_STR("key", app_key_id(s)), LOG_INT("status", s->status),
              LOG_NUM("ms", s->total_ms), LOG_NUM("queue_ms", s->queue_ms),
              LOG_INT("bytes_in", s->body_bytes), LOG_INT("bytes_out", s->reply_bytes),
              LOG_STR("trace_id", *trace ? trace : NULL), LOG_STR("error", s->failure));
}

static void refuse_write(http_request *r, void *ctx) {
    const app *a = ctx;
    if (a->disk_full) {
        http_error(r, 507, "disk_low", NULL,
                   "the disk of the home folder was full when this server started, so that it only "
                   "answers: make room and start it again");
        return;
    }
    http_error(r, 403, "read_only", NULL,
               "this server was started with --read-only: send writes to the one that was not");
}

static int make_routes(app *a, fo_err *err) {
    a->routes = malloc(sizeof app_routes);
    if (!a->routes) return fo_no_memory(err);
    memcpy(a->routes, app_routes, sizeof app_routes);
    for (size_t i = 0; i < app_n_routes && a->read_only; i++) {
        if (a->routes[i].lane != HTTP_LANE_INGEST) continue; /* all that writes is in that lane */
        a->routes[i].handler = refuse_write;
        a->routes[i].types = NULL;
        a->routes[i].args = "*";
    }
    return FO_OK;
}

/* The home's own is swept: no other process uses it. One that is a link to another disk stays that, with all in it: files
 * of a spool have no name (kernels/spool.h), so what is there may be somebody else's. */
static int make_own_spool_dir(const char *path, fo_err *err) {
    struct stat st;
    bool linked = lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
    int rc = linked ? FO_OK : fo_remove_tree(path, err); /* what a crash left */
    if (!rc) rc = fo_make_dirs(path, err);
    if (!rc && linked && access(path, W_OK | X_OK) != 0)
        rc = fo_fail_errno(err, "cannot write to %s", path);
    return rc;
}

/* Where bodies and long replies wait. */
static int make_spool_dir(app *a, fo_err *err) {
    if (a->read_only) {
        char path[] = "/tmp/forage-read-XXXXXX";
        if (!mkdtemp(path)) return fo_fail_errno(err, "cannot make a folder in /tmp");
        a->spool_dir = strdup(path);
        if (a->spool_dir) return FO_OK;
        rmdir(path);
        return fo_no_memory(err);
    }
    const char *home = service_home(a->service);
    size_t n = strlen(home) + 8;
    a->spool_dir = malloc(n);
    if (!a->spool_dir) return fo_no_memory(err);
    snprintf(a->spool_dir, n, "%s/tmp", home);
    return make_own_spool_dir(a->spool_dir, err);
}

int app_create(app **out, service *s, bool read_only, fo_err *err) {
    app *a = calloc(1, sizeof *a);
    if (!a) return fo_no_memory(err);
    a->service = s;
    a->read_only = read_only;
    a->started_ms = log_now_ms();
    a->max_document_bytes = 64 * MIB;
    a->min_free_bytes = 64 * MIB;
    a->source_limit = SYNC_LIMIT_DEFAULT;
    a->snapshots_kept = APP_SNAPSHOTS_KEPT;
    a->snapshots_per_hour = APP_SNAPSHOTS_PER_HOUR;
    pthread_mutex_init(&a->snapshot_mu, NULL);
    for (size_t i = 0; i < app_n_routes; i++) {
        methods[i] = app_routes[i].method;
        patterns[i] = app_routes[i].pattern;
    }
    a->metrics = metrics_create(methods, patterns, app_n_routes);
    int rc = a->metrics ? make_routes(a, err) : fo_no_memory(err);
    if (!rc) rc = make_spool_dir(a, err);
    if (!rc && !read_only) rc = query_log_create(&a->query_log, s, err);
    if (!rc) rc = gauges_create(&a->gauges, s, err);
    if (!rc) rc = jobs_create(&a->jobs, s, 64, err);
    if (rc) {
        app_stop(a, 0, NULL);
        return rc;
    }
    *out = a;
    return FO_OK;
}

int app_serve(app *a, http_options *opt, fo_err *err) {
    for (size_t i = 0; i < app_n_routes; i++)
        if (a->routes[i].scope <= ACCESS_UNDECLARED || a->routes[i].scope >= ACCESS_N_SCOPES)
            return fo_fail(err, FO_EINVAL, "%s %s declares no scope", a->routes[i].method,
                           a->routes[i].pattern);
    opt->routes = a->routes;
    opt->n_routes = app_n_routes;
    opt->app = a;
    opt->observe = observe;
    opt->done = app_audit;
    opt->admit = app_admit;
    opt->spool_dir = a->spool_dir;
    opt->tracer = a->tracer;
    int rc = a->tracer ? tracer_run(a->tracer, err) : FO_OK;
    if (!rc) rc = http_start(&a->http, opt, err);
    if (!rc && a->sources) rc = source_runner_start(a->sources, err);
    return rc;
}

void app_stop(app *a, int timeout_ms, const atomic_bool *hurry) {
    if (!a) return;
    source_runner_interrupt(a->sources); /* requests may wait for a run */
    http_stop(a->http, timeout_ms, hurry);
    app_audit_rest(a);
    source_runner_free(a->sources);
    tracer_stop(a->tracer);
    jobs_stop(a->jobs);
    key_ring_close(a->keys);
    rate_limits_free(a->limits);
    query_log_free(a->query_log);
    gauges_free(a->gauges);
    metrics_free(a->metrics);
    if (a->read_only && a->spool_dir) fo_remove_tree(a->spool_dir, NULL);
    free(a->spool_dir);
    free(a->routes);
    pthread_mutex_destroy(&a->snapshot_mu);
    free(a);
}

bool app_timeout_arg(http_request *r) {
    int64_t ms;
    if (!http_arg_int(r, "timeout_ms", 0, 1, 3600000, &ms)) return false;
    if (ms) http_set_timeout(r, ms);
    return true;
}

uint64_t app_resident_bytes(void) {
    unsigned long long size, resident;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f) return 0;
    if (fscanf(f, "%llu %llu", &size, &resident) != 2) resident = 0;
    fclose(f);
    return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

cJSON *app_read_object(http_request *r, json_in *in, fo_err *err) {
    size_t len;
    const char *body = http_body(r, &len);
    cJSON *root = NULL;
    if (json_parse(body, len, &root, err)) {
        http_error_from(r, err);
        return NULL;
    }
    json_in_object(in, root, "", err);
    return root;
}

void app_reply_done(http_request *r, int rc, const fo_err *err, const char *name, const char *value,
                    const char *done) {
    if (rc) {
        http_error_from(r, err);
        return;
    }
    fo_buf b = {0};
    json_out o = {&b, false};
    json_out_open(&o, NULL, '{');
    json_out_string(&o, name, value);
    json_out_bool(&o, done, true);
    json_out_close(&o, '}');
    http_reply_json(r, 200, &b);
}
