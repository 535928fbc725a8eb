/* mcp.h - the Model Context Protocol: what assistants and editors speak to their tools, over POST /mcp
 * (route_mcp.c) and over standard input and output (server/cli/cli_mcp.c).
 *
 * A message is one JSON-RPC 2.0 request or notification, a reply one response; nothing is remembered
 * between two of them. Both eras of the protocol are answered, told apart by the message itself:
 *
 *     modern  2026-07-28: each request says its version and what its client can do (params._meta);
 *             server/discover tells what is here
 *     legacy  2024-11-05 to 2025-11-25: initialize comes first; no session is made of it
 *
 * Methods are rows of a table in mcp.c, tools rows of one in mcp_tools.c (search, fetch, ask,
 * list_collections, ingest); documents are resources (mcp_resources.c), named
 * forage://COLLECTION/DOCUMENT with the document's id percent-encoded.
 *
 * Source: modelcontextprotocol.io, specification of 2026-07-28 and of 2025-11-25. */
#ifndef FORAGE_SERVER_MCP_H
#define FORAGE_SERVER_MCP_H

#include <stdatomic.h>
#include <stdbool.h>

#include "kernels/buf.h"
#include "retrieval/service/service.h"
#include "server/access/keys.h"

#define MCP_VERSION        "2026-07-28"
#define MCP_LEGACY_VERSION "2025-11-25"

enum { MCP_MESSAGE_MAX = 16 << 20, MCP_ID_MAX = 1024 }; /* bytes; an id that is a string */

struct ingest_totals; /* server/routes/ingest_batch.h */

/* Who asks, and of what. */
typedef struct mcp_host {
    service *service;
    const char *tenant;
    const search_filter *sees; /* documents that who asks may see; NULL: all of the tenant's */
    const access_key *key;     /* which collections they may use; NULL: all of the tenant's */
    bool may_ingest;           /* else there is no tool of that name */
    bool reranks;              /* the service's cross-encoder puts what is found in order */
    const char *spool_dir;     /* where archives that come in are unpacked to; NULL: /tmp */
    atomic_bool *cancel;       /* NULL, or ends the work */
    double waited_ms;          /* for a worker: of the time that a question may take */
    /* NULL, or called with each question that was answered: query_account.h. */
    void (*asked)(void *ctx, const query_request *q, const query_result *result);
    /* NULL, or called with each that failed: what it cost until then. */
    void (*failed)(void *ctx, const query_result *result);
    /* NULL, or called with what became of the documents of a call, also of one that ended early. */
    void (*ingested)(void *ctx, const struct ingest_totals *totals);
    void *ctx;
} mcp_host;

/* What HTTP says of a message beside it, NULL where it does not; it has to agree with the message. */
typedef struct mcp_headers {
    const char *version, *method, *name; /* MCP-Protocol-Version, Mcp-Method, Mcp-Name */
} mcp_headers;

/* Answer a message of any bytes into *reply, which is appended to; nothing where it wants no reply (a
 * notification). h NULL: it did not come over HTTP. Any thread. Returns the status that HTTP has
 * for it: 200, 202 (no reply), 400, 404. */
int mcp_answer(const mcp_host *host, const mcp_headers *h, const char *message, size_t len,
               fo_buf *reply);

/* Are these two the id of the same request? Of a number each digit counts. NULL, or what is no id: no. */
bool mcp_same_id(const struct cJSON *a, const struct cJSON *b);

/* The reply to a request of this id that could not be passed on; appended to *reply. */
void mcp_write_failure(fo_buf *reply, const struct cJSON *id, const char *why);

#endif
