/* app.h - the running service as its routes see it: what stands behind every handler, and the one
 * table of routes. */
#ifndef FORAGE_SERVER_APP_H
#define FORAGE_SERVER_APP_H

#include <pthread.h>

#include "retrieval/service/service.h"
#include "server/access/audit_refusals.h"
#include "server/access/key_ring.h"
#include "server/access/rate_limits.h"
#include "server/base/json.h"
#include "server/routes/gauges.h"
#include "server/http/http.h"
#include "server/routes/jobs.h"
#include "server/routes/metrics.h"
#include "server/routes/query_log.h"
#include "server/routes/source_runner.h"

#define APP_SNAPSHOTS_KEPT     8
#define APP_SNAPSHOTS_PER_HOUR 12

enum log_queries { LOG_QUERIES_FULL, LOG_QUERIES_HASH, LOG_QUERIES_OFF };

/* Another name that the OpenAI-compatible routes know a model by. */
typedef struct model_alias {
    const char *name, *model;
} model_alias;

typedef struct app {
    service *service; /* owned by whoever made the app */
    jobs *jobs;
    metrics *metrics;
    key_ring *keys; /* NULL: none are asked for; the app's once it is set, before app_serve */
    /* NULL: none; the app's, as keys. Tiers are its own. */
    rate_limits *limits;
    const rate_tier *default_tier,
        *address_tier; /* of keys without one, of each address; NULL: none */
    query_log *query_log;
    source_runner *sources;  /* NULL: none; the app's once it is set, started by app_serve */
    sync_limit source_limit; /* of removals */
    gauges *gauges;
    http_server *http; /* set by app_serve */
    tracer *tracer;    /* NULL: none; the app's once it is set, run by app_serve */
    int64_t started_ms;
    bool audits;             /* what cannot be taken back is written to HOME/audit.log */
    audit_refusals refusals; /* owned: the HTTP thread, until it has stopped */
    char *spool_dir;         /* home/tmp; read-only: a folder of its own in /tmp */
    http_route *routes;      /* app_routes; read-only: those that write refuse */
    bool read_only;
    bool disk_full; /* why it is */
    size_t max_document_bytes;
    uint64_t min_free_memory; /* below: what has a body is refused; 0: never */
    atomic_llong memory_looked_ms;
    atomic_bool memory_low;
    uint64_t min_free_bytes; /* of the disk: bodies that wait there are refused below */
    int snapshots_kept, snapshots_per_hour; /* of POST /admin/snapshot */
    pthread_mutex_t snapshot_mu;            /* held while one is made */
    double snapshots_left;                  /* that may be made at once; guarded by snapshot_mu */
    int64_t snapshots_left_ms;              /* when that was so; guarded by snapshot_mu */
    const model_alias *aliases; /* [n_aliases], the caller's; checked by model_aliases_check */
    size_t n_aliases;
    atomic_uint lost_told; /* a bit for each enum service_model whose loss the log names already */
    bool allow_token_ids;  /* /v1/embeddings takes ids of the embedder's vocabulary */
    enum log_queries log_queries; /* what the store's query log keeps of a question */
} app;

/* read_only: as the service was opened; nothing is written into the home.
 * 0 fields of opt get their defaults; routes, app, observe, done and spool_dir are set here. */
int app_create(app **out, service *s, bool read_only, fo_err *err);
int app_serve(app *a, http_options *opt, fo_err *err);
/* Stops sources, HTTP (see http_stop), then the jobs; frees a. The service stays open. */
void app_stop(app *a, int timeout_ms, const atomic_bool *hurry);

extern const http_route app_routes[];
extern const size_t app_n_routes;

/* ---- handlers, one file a subject ---------------------------------------------------------- */
http_handler route_ingest;                                               /* routes_ingest.c */
http_handler route_query, route_search;                                  /* routes_query.c */
http_handler route_chat_completions, route_completions, route_responses; /* completions.c */
http_handler route_embeddings, route_rerank;                             /* openai_models.c */
http_handler route_tokenize;                                             /* tokenize.c */
http_handler route_models, route_model;
http_handler route_mcp;                                            /* mcp/route_mcp.c */
http_handler route_documents, route_document, route_document_page; /* routes_documents.c */
http_handler route_document_delete, route_documents_delete;
http_handler route_collections, route_collection_put, route_collection_delete;
http_handler route_job, route_job_cancel;
http_handler route_sources, route_source, route_source_sync; /* routes_sources.c */
http_handler route_source_delete;
http_handler route_conversations, route_conversation; /* routes_conversations.c */
http_handler route_conversation_create, route_conversation_change, route_conversation_delete;
http_handler route_turn_put, route_suggestions;
http_handler route_feedback, route_analytics_feedback;                      /* routes_feedback.c */
http_handler route_session, route_keys, route_key_create, route_key_revoke; /* routes_keys.c */
http_handler route_health, route_ready, route_stats, route_log_level,
    route_log_level_set;                                     /* routes_ops.c */
http_handler route_snapshot;                                 /* routes_snapshot.c */
http_handler route_metrics;                                  /* routes_metrics.c */
http_handler route_analytics_cache, route_analytics_queries; /* routes_analytics.c */
http_handler route_analytics_latency, route_analytics_memory,
    route_analytics_kv;                              /* routes_load.c */
http_handler route_openapi, route_page, route_asset; /* routes_page.c */

/* ---- who asks (app_access.c) --------------------------------------------------------------- */

/* Before anything of a request is looked at: its key, and whether that may do this. */
bool app_admit(void *app, http_request *r, const http_route *route);
/* Whose request it is; NULL: nobody's in particular. */
access_grant *app_grant(const http_request *r);
/* Tokens that a request took of a model, once it is known. */
void app_charge(const http_request *r, size_t tokens);
/* The tenant of a request: "default" where no keys are asked for. r NULL: nobody's in particular. */
const char *app_tenant(const http_request *r);
/* In whose name a request keeps conversations and rates answers: the name of its key, so that a key may
 * be replaced by another of that name; "" where no keys are asked for. */
const char *app_owner(const http_request *r);
/* Documents that who asks may see; NULL: all of the tenant's. Valid as long as the request. */
const search_filter *app_sees(const http_request *r);
/* May who asks use what needs this scope, this collection? */
bool app_may(app *a, const http_request *r, int scope);
bool app_may_use(const http_request *r, const char *collection);
/* Those that who asks may use, with commas between them; NULL: all. Caller frees *out. */
int app_collections(const http_request *r, char **out, fo_err *err);
/* The same; false after a reply that is that of a collection which is not there. */
bool app_check_collection(http_request *r, const char *collection);
/* Write down what a request did that cannot be taken back, or tried to; of the app, as http_options.done. Of those that
 * app_admit refused a few a minute of each key have a line, the others one together: once their minute is over, with the
 * next request of anybody. */
void app_audit(void *ctx, const http_summary *s);
/* That line now, whether their minute is over or not; once HTTP has stopped. */
void app_audit_rest(app *a);
const char *app_key_id(const http_summary *s); /* NULL: it came without a key */
/* FO_ENOTFOUND, as if it were not there. */
int app_no_collection(const char *collection, fo_err *err);
/* FO_EDENIED: a key that may write, but not there. g NULL: no keys are asked for. */
int app_may_write(const access_grant *g, const char *collection, fo_err *err);
/* ?collection= or "default"; NULL after an error reply. */
const char *app_collection_arg(http_request *r);
/* ?timeout_ms=: that the whole request may take, from now on: it is cancelled then, and answered as 408. false after an
 * error reply. */
bool app_timeout_arg(http_request *r);
/* Memory that the process holds now; 0 where the system does not say. */
uint64_t app_resident_bytes(void);
/* "q_" or another prefix and 16 hex digits. */
void app_make_id(char out[32], const char *prefix);

/* The body, which must be a JSON object, opened as *in; the caller frees what is returned when it has read its
 * fields. NULL after an error reply. */
cJSON *app_read_object(http_request *r, json_in *in, fo_err *err);

/* {NAME: VALUE, DONE: true}, or the reply of `err` where `rc` is an error. */
void app_reply_done(http_request *r, int rc, const fo_err *err, const char *name, const char *value,
                    const char *done);

#endif
