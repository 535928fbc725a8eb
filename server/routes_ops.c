/* /health, /ready, /stats, /metrics, /openapi.json, /admin/snapshot and the web page. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "kernels/cpu.h"
#include "kernels/file.h"
#include "server/app.h"
#include "server/json.h"
#include "server/log.h"

static const unsigned char openapi_json[] = {
#include "server/openapi.json.inc"
};
static const unsigned char page_html[] = {
#include "server/web/index.html.inc"
};
static const unsigned char page_js[] = {
#include "server/web/app.js.inc"
};
static const unsigned char dashboard_js[] = {
#include "server/web/dashboard.js.inc"
};
static const unsigned char page_css[] = {
#include "server/web/style.css.inc"
};

static void reply_status(http_request *r, int status, const char *word) {
    fo_buf b = {0};
    json_out o = {&b, false};
    json_out_open(&o, NULL, '{');
    json_out_string(&o, "status", word);
    json_out_string(&o, "version", FORAGE_VERSION);
    json_out_close(&o, '}');
    http_reply_json(r, status, &b);
}

void route_health(http_request *r, void *ctx) {
    (void)ctx;
    reply_status(r, 200, "ok");
}

/* The service is opened, its embedder and indexes with it, before the listener is. */
void route_ready(http_request *r, void *ctx) {
    (void)ctx;
    reply_status(r, 200, "ready");
}

void route_stats(http_request *r, void *ctx) {
    app *a = ctx;
    service_stats s = {0};
    fo_err err = {0};
    if (service_get_stats(a->service, &s, &err)) {
        http_error_from(r, &err);
        return;
    }
    http_load load;
    http_get_load(a->http, &load);
    embedder *e = service_embedder(a->service);
    fo_buf b = {0};
    json_out o = {&b, false};
    json_out_open(&o, NULL, '{');
    json_out_string(&o, "version", FORAGE_VERSION);
    json_out_int(&o, "uptime_s", (log_now_ms() - a->started_ms) / 1000);
    json_out_int(&o, "collections", (int64_t)s.n_collections);
    json_out_int(&o, "documents", (int64_t)s.n_documents);
    json_out_int(&o, "chunks", (int64_t)s.n_chunks);
    json_out_int(&o, "segments", (int64_t)s.n_segments);
    json_out_int(&o, "index_file_bytes", (int64_t)s.index_file_bytes);
    json_out_int(&o, "index_memory_bytes", (int64_t)s.index_memory_bytes);
    json_out_int(&o, "database_bytes", (int64_t)s.database_bytes);
    json_out_int(&o, "free_disk_bytes", store_free_disk_bytes(service_store(a->service)));
    json_out_int(&o, "queries", (int64_t)s.n_queries);
    json_out_int(&o, "ingested", (int64_t)s.n_ingested);
    json_out_open(&o, "embedder", '{');
    json_out_string(&o, "name", embedder_name(e));
    json_out_int(&o, "dim", (int64_t)embedder_dim(e));
    json_out_string(&o, "fingerprint", embedder_fingerprint(e));
    json_out_close(&o, '}');
    json_out_null(&o, "generator");
    json_out_open(&o, "http", '{');
    json_out_int(&o, "connections", load.connections);
    json_out_int(&o, "in_flight", load.in_flight);
    json_out_int(&o, "queued", load.queued[HTTP_LANE_QUERY] + load.queued[HTTP_LANE_INGEST]);
    json_out_int(&o, "running", load.running[HTTP_LANE_QUERY] + load.running[HTTP_LANE_INGEST]);
    json_out_int(&o, "rejected", (int64_t)load.rejected);
    json_out_close(&o, '}');
    json_out_open(&o, "cpu", '{');
    json_out_string(&o, "name", fo_cpu()->name);
    json_out_string(&o, "isa", fo_cpu_level_name(fo_cpu()->level));
    json_out_int(&o, "threads", fo_cpu_count());
    json_out_close(&o, '}');
    json_out_close(&o, '}');
    http_reply_json(r, 200, &b);
}

/* One family over both layers of the query caches. */
static void write_layers(fo_buf *b, const char *name, const char *type, const char *help,
                         double answer, double retrieval) {
    fo_buf_printf(b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
    fo_buf_printf(b, "%s{layer=\"answer\"} %.17g\n", name, answer);
    fo_buf_printf(b, "%s{layer=\"retrieval\"} %.17g\n", name, retrieval);
}

static void write_cache_metrics(app *a, fo_buf *b) {
    service_cache_stats st;
    service_get_cache_stats(a->service, &st);
    const query_cache_stats *x = &st.answer, *y = &st.retrieval;
    write_layers(b, "forage_cache_lookups_total", "counter", "Queries that asked the cache.",
                 (double)x->lookups, (double)y->lookups);
    write_layers(b, "forage_cache_hits_total", "counter", "Queries that the cache served.",
                 (double)x->hits, (double)y->hits);
    write_layers(b, "forage_cache_saved_seconds_total", "counter",
                 "Time that hits were spared, by what they cost at first.", x->saved_ms / 1000,
                 y->saved_ms / 1000);
    write_layers(b, "forage_cache_saved_tokens_total", "counter", "Tokens that hits were spared.",
                 (double)x->saved_tokens, (double)y->saved_tokens);
    write_layers(b, "forage_cache_evictions_total", "counter", "Entries pushed out.",
                 (double)x->evictions, (double)y->evictions);
    write_layers(b, "forage_cache_rejections_total", "counter",
                 "Entries not admitted because others are asked for more.", (double)x->rejected,
                 (double)y->rejected);
    write_layers(b, "forage_cache_entries", "gauge", "Entries kept.", (double)x->entries,
                 (double)y->entries);
    write_layers(b, "forage_cache_bytes", "gauge", "Bytes kept.", (double)x->bytes,
                 (double)y->bytes);
    write_layers(b, "forage_cache_budget_bytes", "gauge", "Bytes that may be kept.",
                 (double)x->budget_bytes, (double)y->budget_bytes);
    metrics_write_value(b, "forage_cache_coalesced_total", "counter",
                        "Queries that waited for a concurrent, identical one.",
                        (double)st.coalesced);
    metrics_write_value(b, "forage_cache_revalidated_total", "counter",
                        "Answers served after a change because their contexts were the same.",
                        (double)st.revalidated);
    metrics_write_value(b, "forage_cache_primed_total", "counter",
                        "Hot questions answered again in the background.", (double)st.primed);
    fo_buf_printf(b,
                  "# HELP forage_build_info Version and instruction set, always 1.\n"
                  "# TYPE forage_build_info gauge\n"
                  "forage_build_info{version=\"%s\",isa=\"%s\"} 1\n",
                  FORAGE_VERSION, fo_cpu_level_name(fo_cpu()->level));
}

void route_metrics(http_request *r, void *ctx) {
    app *a = ctx;
    fo_buf b = {0};
    metrics_write(a->metrics, &b);
    http_load load;
    http_get_load(a->http, &load);
    metrics_write_value(&b, "forage_http_connections", "gauge", "Open connections.",
                        load.connections);
    metrics_write_value(&b, "forage_http_in_flight", "gauge", "Requests being answered.",
                        load.in_flight);
    metrics_write_value(&b, "forage_http_queued", "gauge", "Requests waiting for a worker.",
                        load.queued[HTTP_LANE_QUERY] + load.queued[HTTP_LANE_INGEST]);
    metrics_write_value(&b, "forage_http_rejected_total", "counter",
                        "Requests refused because a queue was full.", (double)load.rejected);
    metrics_write_value(&b, "forage_query_log_dropped_total", "counter",
                        "Rows of the query log that could not be kept.",
                        (double)query_log_dropped(a->query_log));
    write_cache_metrics(a, &b);
    metrics_write_value(&b, "forage_uptime_seconds", "gauge", "Since the start.",
                        (double)(log_now_ms() - a->started_ms) / 1000);
    http_reply(r, 200, "text/plain; version=0.0.4; charset=utf-8", b.data, b.len);
    fo_buf_free(&b);
}

void route_snapshot(http_request *r, void *ctx) {
    app *a = ctx;
    fo_err err = {0};
    char path[4096], name[80];
    time_t now = time(NULL);
    struct tm tm;
    gmtime_r(&now, &tm);
    char stamp[32], id[32];
    strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%SZ", &tm);
    app_make_id(id, "");
    snprintf(name, sizeof name, "forage-%s-%.4s.db", stamp, id); /* two in one second differ */
    int n = snprintf(path, sizeof path, "%s/backups", service_home(a->service));
    if (n < 0 || (size_t)n + strlen(name) + 2 > sizeof path) {
        http_error(r, 500, "internal", NULL, "the path of the home folder is too long");
        return;
    }
    int rc = fo_make_dirs(path, &err);
    snprintf(path + n, sizeof path - (size_t)n, "/%s", name);
    if (!rc) rc = store_backup(service_store(a->service), path, &err);
    struct stat st = {0};
    if (rc || stat(path, &st) != 0) {
        if (!rc) fo_fail_errno(&err, "cannot find %s", path);
        http_error_from(r, &err);
        return;
    }
    fo_buf b = {0};
    json_out o = {&b, false};
    json_out_open(&o, NULL, '{');
    json_out_string(&o, "snapshot", name);
    json_out_string(&o, "path", path);
    json_out_int(&o, "bytes", (int64_t)st.st_size);
    json_out_close(&o, '}');
    http_reply_json(r, 200, &b);
}

void route_openapi(http_request *r, void *ctx) {
    (void)ctx;
    http_reply(r, 200, "application/json", openapi_json, sizeof openapi_json);
}

static void secure(http_request *r) {
    http_set_header(
        r, "Content-Security-Policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'");
    http_set_header(r, "Referrer-Policy", "no-referrer");
    http_set_header(r, "Cache-Control", "no-cache");
}

void route_page(http_request *r, void *ctx) {
    (void)ctx;
    secure(r);
    http_reply(r, 200, "text/html; charset=utf-8", page_html, sizeof page_html);
}

void route_asset(http_request *r, void *ctx) {
    (void)ctx;
    const char *name = http_param(r, "name");
    secure(r);
    if (!strcmp(name, "app.js"))
        http_reply(r, 200, "text/javascript; charset=utf-8", page_js, sizeof page_js);
    else if (!strcmp(name, "dashboard.js"))
        http_reply(r, 200, "text/javascript; charset=utf-8", dashboard_js, sizeof dashboard_js);
    else if (!strcmp(name, "style.css"))
        http_reply(r, 200, "text/css; charset=utf-8", page_css, sizeof page_css);
    else
        http_error(r, 404, "not_found", NULL, "no such asset");
}
