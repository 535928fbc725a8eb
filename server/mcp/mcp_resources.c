/* Documents as resources, and what documents are called. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/hex.h"
#include "retrieval/collections/catalog.h"
#include "server/http/http.h"
#include "server/mcp/mcp_internal.h"

#define SCHEME "forage://"

enum {
    PAGE = 100,                    /* resources of one reply */
    RESOURCE_MAX_BYTES = 16 << 20, /* of a document's text in one reply */
    LIST_TTL_MS = 10000,
};

/* ---- names ---------------------------------------------------------------------------------------- */

bool mcp_may_use(const mcp_host *h, const char *collection) {
    return !h->key || access_key_may_use(h->key, collection);
}

int mcp_collections(const mcp_host *h, store_collection **out, size_t *n, fo_err *err) {
    size_t all = 0;
    int rc = catalog_list_collections(service_catalog(h->service), h->tenant, out, &all, err);
    *n = 0;
    for (size_t i = 0; !rc && i < all; i++) {
        if (mcp_may_use(h, (*out)[i].name))
            (*out)[(*n)++] = (*out)[i];
        else
            store_collection_deinit(&(*out)[i]);
    }
    return rc;
}

void mcp_write_document_id(fo_buf *out, const char *collection, const char *document) {
    fo_buf_str(out, collection);
    fo_buf_char(out, '/');
    fo_buf_str(out, document);
}

static void add_escaped(fo_buf *b, const char *s) {
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    for (; *s; s++) {
        if (strchr(plain, *s))
            fo_buf_char(b, *s);
        else
            fo_buf_printf(b, "%%%02X", (unsigned char)*s);
    }
}

void mcp_write_resource_uri(fo_buf *out, const char *collection, const char *document) {
    fo_buf_str(out, SCHEME);
    add_escaped(out, collection);
    fo_buf_char(out, '/');
    add_escaped(out, document);
}

/* Percent-decoding in place; false on a bad escape or %00. */
static bool unescape(char *s) {
    char *to = s;
    for (; *s; s++, to++) {
        *to = *s;
        if (*s != '%') continue;
        int high = fo_hex_digit(s[1]), low = high < 0 ? -1 : fo_hex_digit(s[2]);
        if (low < 0 || high + low == 0) return false;
        *to = (char)(high << 4 | low);
        s += 2;
    }
    *to = 0;
    return true;
}

/* Either of both, split. *collection is within `room` bytes; caller frees *document. FO_EINVAL. */
static int read_document_id(const char *id, char *collection, size_t room, char **document,
                            fo_err *err) {
    size_t scheme = strncmp(id, SCHEME, sizeof SCHEME - 1) ? 0 : sizeof SCHEME - 1;
    const char *slash = strchr(id + scheme, '/');
    size_t n = slash ? (size_t)(slash - id) - scheme : room;
    *document = NULL;
    if (n >= room || !slash[1])
        return fo_fail(
            err, FO_EINVAL,
            "'%.100s' names no document: that is COLLECTION/DOCUMENT, as search gives it", id);
    memcpy(collection, id + scheme, n);
    collection[n] = 0;
    char *name = strdup(slash + 1);
    if (!name) return fo_no_memory(err);
    if (scheme && (!unescape(name) || !unescape(collection))) {
        free(name);
        return fo_fail(err, FO_EINVAL, "'%.100s' has a bad percent escape", id);
    }
    *document = name;
    return FO_OK;
}

/* FO_ENOTFOUND also where who asks may not see it. Caller deinits *out. */
static int get_document(const mcp_host *h, const char *collection, const char *document,
                        store_document *out, fo_err *err) {
    /* A collection of somebody else's is as one that is not there. */
    if (!service_name_valid(collection) || !mcp_may_use(h, collection))
        return fo_fail(err, FO_ENOTFOUND, "there is no collection '%.64s'", collection);
    return catalog_get_document(service_catalog(h->service), h->tenant, collection, document,
                                h->sees, true, out, err);
}

/* The id of a collection's first document that came from there; *id NULL: of none. */
static int find_in_collection(const mcp_host *h, const char *collection, const char *uri, char **id,
                              fo_err *err) {
    char *after = NULL;
    int rc = FO_OK;
    for (bool more = true; !rc && !*id && more;) {
        const catalog_search q = {.filter = h->sees,
                                  .text = uri,
                                  .after = after,
                                  .sees = h->sees,
                                  .limit = PAGE,
                                  .cancel = h->cancel};
        store_document *docs = NULL;
        size_t n = 0;
        rc = catalog_find_documents(service_catalog(h->service), h->tenant, collection, &q, &docs,
                                    &n, &more, err);
        for (size_t i = 0; !rc && !*id && i < n; i++) /* the text is in it: is it all of it? */
            if (docs[i].uri && !strcmp(docs[i].uri, uri) && !(*id = strdup(docs[i].id)))
                rc = fo_no_memory(err);
        free(after);
        after = !rc && more && n ? strdup(docs[n - 1].id) : NULL;
        if (!rc && more && !after) rc = fo_no_memory(err);
        for (size_t i = 0; i < n; i++) store_document_deinit(&docs[i]);
        free(docs);
    }
    free(after);
    return rc == FO_ENOTFOUND ? FO_OK : rc; /* the collection was deleted meanwhile */
}

/* By the address that it came from, in the collections that who asks may use. */
static int get_by_uri(const mcp_host *h, const char *uri, char *collection, size_t room,
                      store_document *out, fo_err *err) {
    store_collection *all = NULL;
    size_t n = 0;
    char *id = NULL;
    int rc = mcp_collections(h, &all, &n, err);
    for (size_t i = 0; i < n; i++) {
        if (!rc && !id) {
            snprintf(collection, room, "%s", all[i].name);
            rc = find_in_collection(h, collection, uri, &id, err);
        }
        store_collection_deinit(&all[i]);
    }
    free(all);
    if (!rc && !id)
        rc = fo_fail_field(err, FO_ENOTFOUND, "id", "no document here came from '%.200s'", uri);
    if (!rc) rc = get_document(h, collection, id, out, err);
    free(id);
    return rc;
}

int mcp_find_document(const mcp_host *h, const char *id, char *collection, size_t room,
                      store_document *out, fo_err *err) {
    char *name = NULL;
    int rc = read_document_id(id, collection, room, &name, err);
    if (!rc) rc = get_document(h, collection, name, out, err);
    free(name);
    bool none = rc == FO_EINVAL || rc == FO_ENOTFOUND;
    return none && mcp_is_address(id) ? get_by_uri(h, id, collection, room, out, err) : rc;
}

bool mcp_is_address(const char *uri) {
    return strstr(uri, "://") && strncmp(uri, SCHEME, sizeof SCHEME - 1) != 0;
}

/* ---- lists ---------------------------------------------------------------------------------------- */

static void write_resource(json_out *o, const char *collection, const store_document *d) {
    fo_buf uri = {0};
    mcp_write_resource_uri(&uri, collection, d->id);
    json_out_open(o, NULL, '{');
    json_out_string(o, "uri", uri.data);
    json_out_string(o, "name", d->id);
    if (d->title && *d->title) json_out_string(o, "title", d->title);
    json_out_string(o, "mimeType", "text/plain"); /* its text, whatever it was made of */
    json_out_int(o, "size", (int64_t)d->text_bytes);
    json_out_close(o, '}');
    fo_buf_free(&uri);
}

/* Where the next page goes on: behind this document of this collection; "" is behind the last. */
typedef struct cursor {
    char collection[72];
    char *after; /* NULL: from its first document */
} cursor;

/* A cursor is the name of the last document that was given, in hexadecimal digits. */
static bool read_cursor(const char *text, cursor *out) {
    size_t n = text ? strlen(text) : 0;
    *out = (cursor){0};
    if (n == 0) return !text;
    char *id = n % 2 == 0 ? malloc(n / 2 + 1) : NULL;
    if (!id) return false;
    bool ok = fo_hex_read((unsigned char *)id, n / 2, text);
    id[n / 2] = 0;
    ok = ok && strlen(id) == n / 2 &&
         !read_document_id(id, out->collection, sizeof out->collection, &out->after, NULL);
    free(id);
    return ok;
}

static void write_cursor(json_out *o, const char *collection, const char *document) {
    fo_buf id = {0}, text = {0};
    mcp_write_document_id(&id, collection, document);
    if (fo_buf_reserve(&text, 2 * id.len)) {
        fo_hex_write(text.data, (const unsigned char *)id.data, id.len);
        json_out_string(o, "nextCursor", text.data);
    }
    fo_buf_free(&id);
    fo_buf_free(&text);
}

/* A page of one collection's documents; *left is what may still be written. */
static int list_collection(const mcp_call *c, json_out *o, const char *name, const char *after,
                           size_t *left, fo_buf *last, fo_err *err) {
    const mcp_host *h = c->host;
    const catalog_search q = {
        .filter = h->sees, .after = after, .sees = h->sees, .limit = *left, .cancel = h->cancel};
    store_document *docs = NULL;
    size_t n = 0;
    bool more = false;
    int rc = catalog_find_documents(service_catalog(h->service), h->tenant, name, &q, &docs, &n,
                                    &more, err);
    for (size_t i = 0; i < n; i++) {
        write_resource(o, name, &docs[i]);
        fo_buf_clear(last);
        fo_buf_str(last, docs[i].id);
        store_document_deinit(&docs[i]);
    }
    free(docs);
    *left -= n;
    return rc;
}

void mcp_resources_list(mcp_call *c, json_out *o) {
    cursor at;
    store_collection *all = NULL;
    size_t n = 0, left = PAGE, i = 0, last_of = 0;
    fo_err err = {0};
    fo_buf last = {0};
    if (!read_cursor(mcp_param(c, "cursor"), &at)) {
        mcp_fail(c, MCP_INVALID_PARAMS, "params.cursor is none of those that were given out");
        free(at.after);
        return;
    }
    int rc = mcp_collections(c->host, &all, &n, &err);
    while (i < n && strcmp(all[i].name, at.collection) < 0) i++;
    json_out_open(o, "resources", '[');
    for (; !rc && i < n && left; i++) {
        bool first = at.after && !strcmp(all[i].name, at.collection);
        size_t before = left;
        rc = list_collection(c, o, all[i].name, first ? at.after : NULL, &left, &last, &err);
        if (rc == FO_ENOTFOUND) rc = FO_OK; /* it was deleted meanwhile */
        if (left < before) last_of = i;
    }
    json_out_close(o, ']');
    if (!left && last.data) write_cursor(o, all[last_of].name, last.data);
    mcp_write_cache_hint(c, o, LIST_TTL_MS);
    char told[HTTP_MESSAGE];
    if (rc || last.failed)
        mcp_fail(c, MCP_INTERNAL_ERROR, "%s", rc ? http_message_of(&err, told) : "out of memory");
    for (size_t k = 0; k < n; k++) store_collection_deinit(&all[k]);
    free(all);
    free(at.after);
    fo_buf_free(&last);
}

void mcp_resource_templates_list(mcp_call *c, json_out *o) {
    json_out_open(o, "resourceTemplates", '[');
    json_out_open(o, NULL, '{');
    json_out_string(o, "uriTemplate", SCHEME "{collection}/{+document}");
    json_out_string(o, "name", "document");
    json_out_string(o, "title", "A document's text");
    json_out_string(o, "description",
                    "The text of a document, as it was taken in; its id percent-encoded.");
    json_out_string(o, "mimeType", "text/plain");
    json_out_close(o, '}');
    json_out_close(o, ']');
    mcp_write_cache_hint(c, o, 3600000);
}

void mcp_resources_read(mcp_call *c, json_out *o) {
    const char *uri = mcp_param(c, "uri");
    char collection[72];
    char *name = NULL;
    store_document d = {0};
    fo_err err = {0};
    if (!uri || strncmp(uri, SCHEME, sizeof SCHEME - 1)) {
        mcp_fail(c, MCP_INVALID_PARAMS, "params.uri must be " SCHEME "COLLECTION/DOCUMENT");
        return;
    }
    int rc = read_document_id(uri, collection, sizeof collection, &name, &err);
    if (!rc) rc = get_document(c->host, collection, name, &d, &err);
    if (!rc && d.text_bytes > RESOURCE_MAX_BYTES)
        rc = fo_fail(&err, FO_EINVAL,
                     "the document has %zu bytes, more than the %d of a resource: read it by the "
                     "tool 'fetch', piece by piece",
                     d.text_bytes, RESOURCE_MAX_BYTES);
    if (rc) {
        char told[HTTP_MESSAGE];
        mcp_fail(c, rc == FO_ENOTFOUND || rc == FO_EINVAL ? MCP_INVALID_PARAMS : MCP_INTERNAL_ERROR,
                 "%s", http_message_of(&err, told));
    } else {
        json_out_open(o, "contents", '[');
        json_out_open(o, NULL, '{');
        json_out_string(o, "uri", uri);
        json_out_string(o, "mimeType", "text/plain");
        json_out_string(o, "text", d.text ? d.text : "");
        json_out_close(o, '}');
        json_out_close(o, ']');
        mcp_write_cache_hint(c, o, LIST_TTL_MS);
    }
    store_document_deinit(&d);
    free(name);
}
