/* POST /mcp: the protocol's "streamable HTTP", one message a request, each answered by one JSON object.
 * A client that closes its connection ends the work. */
#include "server/access/key_ring.h"
#include "server/mcp/mcp.h"
#include "server/routes/app.h"
#include "server/routes/ingest_batch.h"
#include "server/routes/query_account.h"

typedef struct asker {
    app *app;
    http_request *r;
} asker;

static void asked(void *ctx, const query_request *q, const query_result *result) {
    const asker *who = ctx;
    query_account(who->app, who->r, q, result);
}

static void failed(void *ctx, const query_result *result) {
    const asker *who = ctx;
    query_account_failed(who->r, result);
}

static void ingested(void *ctx, const ingest_totals *totals) {
    const asker *who = ctx;
    metrics_ingest(who->app->metrics, totals->n);
}

void route_mcp(http_request *r, void *ctx) {
    app *a = ctx;
    size_t len;
    const char *body = http_body(r, &len);
    asker who = {a, r};
    const access_grant *g = app_grant(r);
    const mcp_host host = {.service = a->service,
                           .tenant = app_tenant(r),
                           .sees = app_sees(r),
                           .key = g ? g->key : NULL,
                           .may_ingest = !a->read_only && app_may(a, r, ACCESS_INGEST),
                           .reranks = service_reranker(a->service) != NULL,
                           .spool_dir = a->spool_dir,
                           .cancel = http_cancel(r),
                           .waited_ms = http_queue_ms(r),
                           .asked = asked,
                           .failed = failed,
                           .ingested = ingested,
                           .ctx = &who};
    const mcp_headers headers = {http_header(r, "MCP-Protocol-Version"),
                                 http_header(r, "Mcp-Method"), http_header(r, "Mcp-Name")};
    fo_buf reply = {0};
    int status = mcp_answer(&host, &headers, body, len, &reply);
    if (status == 202)
        http_reply(r, 202, NULL, NULL, 0);
    else
        http_reply_json(r, status, &reply);
    fo_buf_free(&reply);
}
