/* mcp_internal.h - a request on its way, between the files of this folder. */
#ifndef FORAGE_SERVER_MCP_INTERNAL_H
#define FORAGE_SERVER_MCP_INTERNAL_H

#include "server/base/json.h"
#include "server/mcp/mcp.h"

/* JSON-RPC's and the protocol's codes of errors. */
enum mcp_error {
    MCP_PARSE_ERROR = -32700,
    MCP_INVALID_REQUEST = -32600,
    MCP_METHOD_NOT_FOUND = -32601,
    MCP_INVALID_PARAMS = -32602,
    MCP_INTERNAL_ERROR = -32603,
    MCP_HEADER_MISMATCH = -32020,
    MCP_UNSUPPORTED_VERSION = -32022,
};

typedef struct mcp_call {
    const mcp_host *host;
    const cJSON *params; /* an object, or NULL */
    bool modern;
    /* An error of the protocol, once `code` is not 0. */
    int code;
    char message[512];
    const char *requested; /* of MCP_UNSUPPORTED_VERSION: the version that was asked for */
} mcp_call;

/* The call ends in an error of the protocol. */
void mcp_fail(mcp_call *c, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* A string of the params, or NULL. */
const char *mcp_param(const mcp_call *c, const char *name);
/* How long a client may keep a reply; every list, document and discovery says it. */
void mcp_write_cache_hint(const mcp_call *c, json_out *o, int ttl_ms);

/* Write the members of a method's result into the open object, or mcp_fail. */
typedef void mcp_method(mcp_call *c, json_out *o);
mcp_method mcp_tools_list, mcp_tools_call;
mcp_method mcp_resources_list, mcp_resource_templates_list, mcp_resources_read;

/* ---- documents by name (mcp_resources.c) ------------------------------------------------------ */

/* May who asks use it? */
bool mcp_may_use(const mcp_host *h, const char *collection);
/* Collections of the tenant that who asks may use, by name; caller deinits each and frees *out. */
int mcp_collections(const mcp_host *h, store_collection **out, size_t *n, fo_err *err);

/* "COLLECTION/DOCUMENT": what search gives and fetch takes. Appended to *out. */
void mcp_write_document_id(fo_buf *out, const char *collection, const char *document);
/* "forage://COLLECTION/DOCUMENT", percent-encoded: a resource. */
void mcp_write_resource_uri(fo_buf *out, const char *collection, const char *document);
/* Is a document's uri one that a result has as its url? A path is none: of which machine, nobody knows. */
bool mcp_is_address(const char *uri);
/* A document by the id or the url of a result. By an address all documents that who asks may see are looked at,
 * and the first that came from there is given. *collection is within `room` bytes. Caller deinits *out. FO_EINVAL,
 * FO_ENOTFOUND. */
int mcp_find_document(const mcp_host *h, const char *id, char *collection, size_t room,
                      store_document *out, fo_err *err);

#endif
