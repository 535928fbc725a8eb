/* /health, /ready, /stats and /admin/log-level. */
#include <stdio.h>
#include <stdlib.h>

#include "kernels/cpu.h"
#include "retrieval/collections/catalog.h"
#include "server/routes/app.h"
#include "server/routes/cache_sums.h"
#include "server/base/json.h"
#include "server/base/log.h"
#include "server/local/engine_figures.h"

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

/* Models whose file was lost under the service, as far as what was read of it tells. */
typedef struct lost_models {
    size_t n;
    const char *model[SERVICE_MODELS];
    fo_err why[SERVICE_MODELS];
} lost_models;

/* The log has each once, with the folders of its file: whoever asks every second is not to fill it. */
static void find_lost_models(app *a, lost_models *out) {
    out->n = 0;
    for (unsigned m = 0; m < SERVICE_MODELS; m++) {
        fo_err why = {0};
        if (!service_model_intact(a->service, m, &why)) continue;
        if (!(atomic_fetch_or(&a->lost_told, 1u << m) & 1u << m))
            log_event(LOG_LEVEL_ERROR, NULL, "not_ready", LOG_STR("model", service_model_names[m]),
                      LOG_STR("why", why.msg));
        char told[HTTP_MESSAGE];
        fo_fail(&out->why[out->n], why.code, "the %s: %s", service_model_names[m],
                http_message_of(&why, told));
        out->model[out->n++] = service_model_names[m];
    }
}

/* 503 with the reasons: as errors are, and a list beside for who wants all of them. */
static void reply_not_ready(http_request *r, const service *s, const lost_models *lost,
                            const store_collection *foreign, size_t n, size_t n_all,
                            const char *why) {
    http_set_header(r, "Retry-After", "30"); /* somebody has to do something first */
    fo_buf b = {0};
    const size_t n_lost = lost ? lost->n : 0;
    http_error_json(&b, 503, "not_ready",
                    n_lost ? "model"
                    : n    ? "collection"
                           : NULL,
                    why, http_id(r));
    if (b.len) b.len--; /* into the same object */
    json_out o = {&b, true};
    json_out_string(&o, "status", "not_ready");
    json_out_string(&o, "version", FORAGE_VERSION);
    json_out_open(&o, "reasons", '[');
    for (size_t i = 0; i < n_lost; i++) {
        json_out_open(&o, NULL, '{');
        json_out_string(&o, "code", "model_lost");
        json_out_string(&o, "model", lost->model[i]);
        json_out_string(&o, "message", lost->why[i].msg);
        json_out_close(&o, '}');
    }
    for (size_t i = 0; i < n; i++) {
        fo_err reason = {0};
        service_foreign_sentence(s, foreign[i].name, &reason);
        json_out_open(&o, NULL, '{');
        json_out_string(&o, "code", "foreign_vectors");
        json_out_string(&o, "tenant", foreign[i].tenant);
        json_out_string(&o, "collection", foreign[i].name);
        json_out_string(&o, "message", reason.msg);
        json_out_close(&o, '}');
    }
    json_out_close(&o, ']');
    n_all += n_lost;
    json_out_int(&o, "n_reasons", (int64_t)(n_all ? n_all : 1));
    json_out_close(&o, '}');
    http_reply_json(r, 503, &b);
}

/* The service is opened, its embedder and indexes with it, before the listener is. What may be wrong by
 * then is that the vectors of a collection are of another embedder: every question by default would
 * fail. ?collection= asks about one alone. And the file of a model may be lost while it is in use: what
 * needs it fails until the service is started again, in every collection. */
void route_ready(http_request *r, void *ctx) {
    enum { REASONS = 8 };
    app *a = ctx;
    fo_err err = {0};
    const char *name = http_arg(r, "collection");
    store_collection *foreign = NULL, one = {0};
    size_t n = 0, n_all = 0;
    char told_why[HTTP_MESSAGE];
    bool told = app_may(a, r, ACCESS_READ); /* names are told to whom may read them anyway */
    if (name && !told) {
        http_set_header(r, "WWW-Authenticate", "Bearer realm=\"forage\"");
        http_error(r, 401, "no_key", "Authorization",
                   "?collection= asks for a key with the scope read");
        return;
    }
    if (name) {
        if (!app_collection_arg(r)) return;
        if (catalog_get_collection(service_catalog(a->service), app_tenant(r), name, &one, &err)) {
            http_error_from(r, &err);
            return;
        }
        store_collection_deinit(&one);
    }
    int rc = service_foreign_collections(a->service, name ? app_tenant(r) : NULL, name, REASONS,
                                         &foreign, &n, &n_all, &err);
    if (!rc && n) service_foreign_sentence(a->service, foreign[0].name, &err);
    bool owner = a->keys == NULL || app_may(a, r, ACCESS_METRICS) || name;
    lost_models lost;
    find_lost_models(a, &lost);
    const char *why = lost.n ? lost.why[0].msg : rc ? http_message_of(&err, told_why) : err.msg;
    if (rc || n || lost.n)
        reply_not_ready(r, a->service, owner ? &lost : NULL, foreign, owner ? n : 0,
                        owner ? n_all : 0,
                        owner    ? why
                        : lost.n ? "the file of a model was lost while it was in use"
                                 : "not every collection can be asked");
    else
        reply_status(r, 200, "ready");
    for (size_t i = 0; i < n; i++) store_collection_deinit(&foreign[i]);
    free(foreign);
}

static void write_cache(json_out *o, const char *name, const query_cache_stats *c) {
    json_out_open(o, name, '{');
    json_out_int(o, "lookups", (int64_t)c->lookups);
    json_out_int(o, "hits", (int64_t)c->hits);
    json_out_number(o, "saved_ms", c->saved_ms);
    json_out_int(o, "saved_tokens", (int64_t)c->saved_tokens);
    json_out_int(o, "entries", (int64_t)c->entries);
    json_out_int(o, "bytes", (int64_t)c->bytes);
    json_out_int(o, "budget_bytes", (int64_t)c->budget_bytes);
    json_out_int(o, "evictions", (int64_t)c->evictions);
    json_out_close(o, '}');
}

static void write_caches(json_out *o, service *s) {
    service_cache_stats st;
    service_get_cache_stats(s, &st);
    json_out_open(o, "cache", '{');
    write_cache(o, "answer", &st.answer);
    write_cache(o, "retrieval", &st.retrieval);
    json_out_int(o, "coalesced", (int64_t)st.coalesced);
    json_out_int(o, "revalidated", (int64_t)st.revalidated);
    json_out_int(o, "semantic", (int64_t)st.semantic);
    json_out_int(o, "primed", (int64_t)st.primed);
    json_out_close(o, '}');
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
    json_out_int(&o, "open_collections", (int64_t)s.n_open_collections);
    json_out_int(&o, "segments", (int64_t)s.n_segments);
    json_out_int(&o, "index_file_bytes", (int64_t)s.index_file_bytes);
    json_out_int(&o, "index_memory_bytes", (int64_t)s.index_memory_bytes);
    json_out_int(&o, "database_bytes", (int64_t)s.database_bytes);
    json_out_int(&o, "free_disk_bytes", service_free_disk_bytes(a->service));
    json_out_int(&o, "queries", (int64_t)s.n_queries);
    json_out_int(&o, "ingested", (int64_t)s.n_ingested);
    json_out_open(&o, "embedder", '{');
    json_out_string(&o, "name", embedder_name(e));
    json_out_int(&o, "dim", (int64_t)embedder_dim(e));
    json_out_string(&o, "fingerprint", embedder_fingerprint(e));
    json_out_close(&o, '}');
    engine_figures_json(&o, service_generator(a->service));
    write_caches(&o, a->service);
    if (cache_sums_write(&o, a->service, app_tenant(r), &err)) {
        fo_buf_free(&b);
        http_error_from(r, &err);
        return;
    }
    json_out_int(&o, "resident_bytes", (int64_t)app_resident_bytes());
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
    json_out_int(&o, "threads", service_model_threads(a->service));
    json_out_int(&o, "cpus", fo_cpu_topology()->n_cpus);
    json_out_int(&o, "cores", fo_cpu_topology()->n_cores);
    json_out_int(&o, "nodes", fo_cpu_topology()->n_nodes);
    json_out_close(&o, '}');
    json_out_close(&o, '}');
    http_reply_json(r, 200, &b);
}

/* ---- the log's level --------------------------------------------------------------------------- */

static void reply_level(http_request *r, enum log_level level) {
    fo_buf b = {0};
    json_out o = {&b, false};
    json_out_open(&o, NULL, '{');
    json_out_string(&o, "level", log_level_names[level]);
    json_out_close(&o, '}');
    http_reply_json(r, 200, &b);
}

void route_log_level(http_request *r, void *ctx) {
    (void)ctx;
    reply_level(r, log_get_level());
}

/* Until SIGHUP or the end: what holds at the start is said in forage.conf. A server that only reads takes it too. */
void route_log_level_set(http_request *r, void *ctx) {
    (void)ctx;
    fo_err err = {0};
    json_in in;
    cJSON *root = app_read_object(r, &in, &err);
    if (!root) return;
    int level = json_in_enum(&in, "level", -1, log_level_names);
    int rc = json_in_end(&in);
    cJSON_Delete(root);
    if (!rc && level < 0) rc = fo_fail_field(&err, FO_EINVAL, "level", "level is needed");
    if (rc) {
        http_error_from(r, &err);
        return;
    }
    log_change_level((enum log_level)level, "log_level_set", http_id(r));
    reply_level(r, (enum log_level)level);
}
