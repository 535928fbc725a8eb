#include "server/mcp/mcp.h"

#include <limits.h>
#include <math.h>
#include <openssl/evp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/mcp/mcp_internal.h"
#include "kernels/utf8.h"

#define META "io.modelcontextprotocol/"

/* Newest first: what initialize falls back to is the first of them. */
static const char *const legacy_versions[] = {MCP_LEGACY_VERSION, "2025-06-18", "2025-03-26",
                                              "2024-11-05"};
enum { N_LEGACY = sizeof legacy_versions / sizeof *legacy_versions };

static const char INSTRUCTIONS[] =
    "Documents that were put into Forage, to be searched and asked. 'ask' gives a short answer "
    "whose "
    "every sentence is cited and checked against its source, or says that the documents do not "
    "hold "
    "it; 'search' finds passages, 'fetch' gives a whole document by the id that search returned.";

void mcp_fail(mcp_call *c, int code, const char *fmt, ...) {
    if (c->code) return; /* the first one says it */
    va_list args;
    va_start(args, fmt);
    fo_utf8_vprint(c->message, sizeof c->message, fmt, args);
    va_end(args);
    c->code = code;
}

static const char *string_of(const cJSON *object, const char *name) {
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
}

const char *mcp_param(const mcp_call *c, const char *name) {
    return string_of(c->params, name);
}

void mcp_write_cache_hint(const mcp_call *c, json_out *o, int ttl_ms) {
    if (!c->modern) return;
    json_out_int(o, "ttlMs", ttl_ms);
    json_out_string(o, "cacheScope", "private"); /* another key may see other documents */
}

static void write_server(json_out *o, const char *key) {
    json_out_open(o, key, '{');
    json_out_string(o, "name", "forage");
    json_out_string(o, "title", "Forage");
    json_out_string(o, "version", FORAGE_VERSION);
    json_out_close(o, '}');
}

static void write_capabilities(json_out *o) {
    json_out_open(o, "capabilities", '{');
    json_out_raw(o, "tools", "{}");
    json_out_raw(o, "resources", "{}");
    json_out_close(o, '}');
}

/* ---- methods ------------------------------------------------------------------------------------ */

static void discover(mcp_call *c, json_out *o) {
    json_out_open(o, "supportedVersions", '[');
    json_out_string(o, NULL, MCP_VERSION);
    json_out_close(o, ']');
    write_capabilities(o);
    json_out_string(o, "instructions", INSTRUCTIONS);
    mcp_write_cache_hint(c, o, 3600000);
}

static void initialize(mcp_call *c, json_out *o) {
    const char *wanted = mcp_param(c, "protocolVersion"), *version = legacy_versions[0];
    if (!wanted) {
        mcp_fail(c, MCP_INVALID_PARAMS, "params.protocolVersion is missing");
        return;
    }
    for (size_t i = 0; i < N_LEGACY; i++)
        if (!strcmp(wanted, legacy_versions[i])) version = legacy_versions[i];
    json_out_string(o, "protocolVersion", version);
    write_capabilities(o);
    write_server(o, "serverInfo");
    json_out_string(o, "instructions", INSTRUCTIONS);
}

static void ping(mcp_call *c, json_out *o) {
    (void)c;
    (void)o;
}

static const struct {
    const char *name;
    mcp_method *run;
    bool modern, legacy;
    const char *named_by; /* what the header Mcp-Name repeats; NULL: it has none */
} methods[] = {
    {"server/discover", discover, true, false, NULL},
    {"initialize", initialize, false, true, NULL},
    {"ping", ping, false, true, NULL},
    {"tools/list", mcp_tools_list, true, true, NULL},
    {"tools/call", mcp_tools_call, true, true, "name"},
    {"resources/list", mcp_resources_list, true, true, NULL},
    {"resources/templates/list", mcp_resource_templates_list, true, true, NULL},
    {"resources/read", mcp_resources_read, true, true, "uri"},
};
enum { N_METHODS = sizeof methods / sizeof *methods };

/* ---- what is said beside the message ---------------------------------------------------------- */

/* Is the header's value the string? One of other than plain ASCII comes as "=?base64?...?=". */
static bool header_says(const char *header, const char *s) {
    static const char open[] = "=?base64?", shut[] = "?=";
    enum { OPEN = sizeof open - 1, SHUT = sizeof shut - 1 };
    size_t n = strlen(header), len = strlen(s);
    if (n < OPEN + SHUT || strncmp(header, open, OPEN) || strcmp(header + n - SHUT, shut))
        return strcmp(header, s) == 0;
    const char *code = header + OPEN;
    size_t n_code = n - OPEN - SHUT, padding = 0;
    unsigned char *plain = n_code <= INT_MAX ? malloc(n_code + 1) : NULL;
    if (!plain) return false;
    while (padding < 2 && padding < n_code && code[n_code - 1 - padding] == '=') padding++;
    int got = EVP_DecodeBlock(plain, (const unsigned char *)code, (int)n_code);
    bool same = got >= (int)padding && (size_t)got - padding == len && memcmp(plain, s, len) == 0;
    free(plain);
    return same;
}

static bool is_legacy(const char *version) {
    for (size_t i = 0; i < N_LEGACY; i++)
        if (!strcmp(version, legacy_versions[i])) return true;
    return false;
}

/* Does the request say what one of 2026-07-28 has to say? */
static void check_modern(mcp_call *c, const mcp_headers *h, const cJSON *meta, const char *method,
                         const char *named_by) {
    const char *version = string_of(meta, META "protocolVersion");
    if (h && !h->version)
        mcp_fail(c, MCP_HEADER_MISMATCH, "the header MCP-Protocol-Version is missing");
    else if (h && !version && strcmp(h->version, MCP_VERSION) && !is_legacy(h->version)) {
        c->requested =
            h->version; /* one that nobody here knows: what it wants in a message is not known either */
        mcp_fail(c, MCP_UNSUPPORTED_VERSION, "protocol version '%.40s' is not supported",
                 h->version);
    } else if (!version)
        mcp_fail(c, MCP_INVALID_PARAMS, "params._meta has no string " META "protocolVersion");
    else if (h && strcmp(h->version, version))
        mcp_fail(c, MCP_HEADER_MISMATCH,
                 "the header MCP-Protocol-Version is '%.40s', the message says '%.40s'", h->version,
                 version);
    else if (strcmp(version, MCP_VERSION)) {
        c->requested = version;
        mcp_fail(c, MCP_UNSUPPORTED_VERSION, "protocol version '%.40s' is not supported", version);
    } else if (!cJSON_IsObject(cJSON_GetObjectItemCaseSensitive(meta, META "clientCapabilities")))
        mcp_fail(c, MCP_INVALID_PARAMS, "params._meta has no object " META "clientCapabilities");
    if (!h || c->code) return;
    const char *name = named_by ? mcp_param(c, named_by) : NULL;
    if (!h->method)
        mcp_fail(c, MCP_HEADER_MISMATCH, "the header Mcp-Method is missing");
    else if (strcmp(h->method, method))
        mcp_fail(c, MCP_HEADER_MISMATCH, "the header Mcp-Method is '%.60s', the method '%.60s'",
                 h->method, method);
    else if (name && !h->name)
        mcp_fail(c, MCP_HEADER_MISMATCH, "the header Mcp-Name is missing");
    else if (name && !header_says(h->name, name))
        mcp_fail(c, MCP_HEADER_MISMATCH, "the header Mcp-Name is '%.100s', params.%s '%.100s'",
                 h->name, named_by, name);
}

/* ---- messages ------------------------------------------------------------------------------------ */

/* Numbers of 64 bits, with a sign or without one, go back with each of their digits. NULL: it is an id. */
static const char *no_id(const cJSON *id) {
    if (cJSON_IsString(id))
        return strlen(id->valuestring) <= MCP_ID_MAX ? NULL : "id is longer than 1,024 bytes";
    if (!cJSON_IsNumber(id) || id->valuedouble != floor(id->valuedouble))
        return "id must be a string or a whole number";
    return fabs(id->valuedouble) <= 0x1p64 ? NULL : "id is a number of more than 64 bits";
}

/* The digits of a number that is an id. */
static void id_digits(const cJSON *id, char digits[72]) {
    if (id->valuestring) /* of one that no double holds */
        snprintf(digits, 72, "%s", id->valuestring);
    else
        snprintf(digits, 72, "%.0f", id->valuedouble);
}

static void write_id(json_out *o, const cJSON *id) {
    char digits[72];
    if (no_id(id)) {
        json_out_null(o, "id");
    } else if (cJSON_IsString(id)) {
        json_out_string(o, "id", id->valuestring);
    } else {
        id_digits(id, digits);
        json_out_raw(o, "id", digits);
    }
}

bool mcp_same_id(const cJSON *a, const cJSON *b) {
    char x[72], y[72];
    if (!a || !b || no_id(a) || no_id(b) || cJSON_IsString(a) != cJSON_IsString(b)) return false;
    if (cJSON_IsString(a)) return !strcmp(a->valuestring, b->valuestring);
    id_digits(a, x);
    id_digits(b, y);
    return !strcmp(x, y);
}

/* An error always has an id: null where none could be read of the message, as JSON-RPC 2.0 demands. */
static void write_error(fo_buf *reply, const cJSON *id, const mcp_call *c) {
    json_out o = {reply, false};
    json_out_open(&o, NULL, '{');
    json_out_string(&o, "jsonrpc", "2.0");
    write_id(&o, id);
    json_out_open(&o, "error", '{');
    json_out_int(&o, "code", c->code);
    json_out_string(&o, "message", c->message);
    if (c->requested) {
        json_out_open(&o, "data", '{');
        json_out_open(&o, "supported", '[');
        json_out_string(&o, NULL, MCP_VERSION);
        json_out_close(&o, ']');
        json_out_string(&o, "requested", c->requested);
        json_out_close(&o, '}');
    }
    json_out_close(&o, '}');
    json_out_close(&o, '}');
}

void mcp_write_failure(fo_buf *reply, const cJSON *id, const char *why) {
    mcp_call c = {0};
    mcp_fail(&c, MCP_INTERNAL_ERROR, "%s", why);
    write_error(reply, id, &c);
}

/* Clients of 2026-07-28 tell by the status what went wrong; older ones expect every reply with 200. */
static int status_of(const mcp_call *c) {
    if (!c->code) return 200;
    if (c->code == MCP_PARSE_ERROR || c->code == MCP_INVALID_REQUEST) return 400;
    if (c->code == MCP_HEADER_MISMATCH || c->code == MCP_UNSUPPORTED_VERSION) return 400;
    if (!c->modern) return 200;
    return c->code == MCP_METHOD_NOT_FOUND ? 404 : c->code == MCP_INVALID_PARAMS ? 400 : 200;
}

static void run(mcp_call *c, const mcp_headers *h, const cJSON *id, const char *method,
                fo_buf *reply) {
    const cJSON *meta = cJSON_GetObjectItemCaseSensitive(c->params, "_meta");
    const cJSON *said = cJSON_GetObjectItemCaseSensitive(meta, META "protocolVersion");
    size_t at = 0;
    while (at < N_METHODS && strcmp(methods[at].name, method)) at++;
    bool opens = at < N_METHODS && !methods[at].modern && methods[at].legacy;
    /* initialize alone tells its version by itself. */
    c->modern = said || (h && h->version && !is_legacy(h->version) && !opens) ||
                (at < N_METHODS && !methods[at].legacy);
    if (c->modern) check_modern(c, h, meta, method, at < N_METHODS ? methods[at].named_by : NULL);
    if (at == N_METHODS || !(c->modern ? methods[at].modern : methods[at].legacy))
        mcp_fail(c, MCP_METHOD_NOT_FOUND, "there is no method '%.100s'", method);
    if (c->code) return;
    json_out o = {reply, false};
    json_out_open(&o, NULL, '{');
    json_out_string(&o, "jsonrpc", "2.0");
    write_id(&o, id);
    json_out_open(&o, "result", '{');
    if (c->modern) {
        json_out_string(&o, "resultType", "complete");
        json_out_open(&o, "_meta", '{');
        write_server(&o, META "serverInfo");
        json_out_close(&o, '}');
    }
    methods[at].run(c, &o);
    json_out_close(&o, '}');
    json_out_close(&o, '}');
}

/* A message that is no request: 0 where it is one. */
static int look_at(mcp_call *c, const cJSON *root, const cJSON *id, const char *method) {
    const char *version = string_of(root, "jsonrpc");
    const cJSON *params = cJSON_GetObjectItemCaseSensitive(root, "params");
    if (cJSON_IsArray(root))
        mcp_fail(c, MCP_INVALID_REQUEST, "batches are not taken: send one message at a time");
    else if (!cJSON_IsObject(root) || !version || strcmp(version, "2.0"))
        mcp_fail(c, MCP_INVALID_REQUEST, "this is no message of JSON-RPC 2.0");
    else if (!method && !id)
        mcp_fail(c, MCP_INVALID_REQUEST, "the message has neither a method nor an id");
    else if (!method && (cJSON_GetObjectItemCaseSensitive(root, "result") ||
                         cJSON_GetObjectItemCaseSensitive(root, "error")))
        return 202; /* a reply to something that was never asked */
    else if (!method)
        mcp_fail(c, MCP_INVALID_REQUEST, "the message has no method");
    else if (id && no_id(id))
        mcp_fail(c, MCP_INVALID_REQUEST, "%s", no_id(id));
    else if (params && !cJSON_IsObject(params))
        mcp_fail(c, MCP_INVALID_PARAMS, "params must be an object");
    return c->code ? status_of(c) : id ? 0 : 202;
}

int mcp_answer(const mcp_host *host, const mcp_headers *h, const char *message, size_t len,
               fo_buf *reply) {
    mcp_call c = {.host = host};
    cJSON *root = NULL;
    fo_err err = {0};
    size_t start = reply->len;
    if (len > MCP_MESSAGE_MAX)
        mcp_fail(&c, MCP_INVALID_REQUEST, "the message is longer than %d bytes", MCP_MESSAGE_MAX);
    else if (json_parse(message, len, &root, &err))
        mcp_fail(&c, MCP_PARSE_ERROR, "%s", err.msg);
    const cJSON *id = cJSON_GetObjectItemCaseSensitive(root, "id");
    const char *method = string_of(root, "method");
    int status = c.code ? status_of(&c) : look_at(&c, root, id, method);
    if (!status) {
        c.params = cJSON_GetObjectItemCaseSensitive(root, "params");
        run(&c, h, id, method, reply);
        status = status_of(&c);
    }
    if (c.code) { /* whatever was written of a result is none */
        if (reply->data) reply->data[reply->len = start] = 0;
        write_error(reply, id, &c);
    }
    cJSON_Delete(root);
    return status;
}
