#include "retrieval/collections/catalog.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "index/filter/metadata.h"
#include "kernels/bits.h"
#include "retrieval/collections/document_acl.h"
#include "retrieval/home/home.h"
#include "retrieval/home/home_store.h"
#include "retrieval/collections/service_internal.h"

catalog *service_catalog(service *s) {
    return &s->catalog;
}

int catalog_open(catalog **out, const char *home, fo_err *err) {
    int rc = home_must_exist(home, err);
    if (rc) return rc;
    catalog *c = calloc(1, sizeof *c);
    if (!c) return fo_no_memory(err);
    rc = store_open(&c->store, home_backend(), home,
                    &(store_options){.read_only = true, .no_ledger = true}, err);
    if (rc) {
        free(c);
        return rc;
    }
    *out = c;
    return FO_OK;
}

void catalog_close(catalog *c) {
    if (!c) return;
    store_close(c->store);
    free(c);
}

int catalog_get_collection(catalog *c, const char *tenant, const char *name, store_collection *out,
                           fo_err *err) {
    return store_get_collection(c->store, tenant, name, out, err);
}

int catalog_list_collections(catalog *c, const char *tenant, store_collection **out, size_t *n,
                             fo_err *err) {
    return store_list_collections(c->store, tenant, out, n, err);
}

static int find_collection(catalog *c, const char *tenant, const char *name, int64_t *id,
                           fo_err *err) {
    store_collection row = {0};
    int rc = store_get_collection(c->store, tenant, name, &row, err);
    *id = row.id;
    store_collection_deinit(&row);
    return rc;
}

/* A document that the caller does not see is as one that is not there. */
static int get_seen(catalog *c, int64_t of, const char *id, const search_filter *sees,
                    bool with_text, store_document *out, fo_err *err) {
    bool seen = true;
    store_document d = {0};
    int rc = store_get_document(c->store, of, id, with_text, &d, err);
    if (!rc) rc = document_acl_sees(sees, d.metadata, &seen, err);
    if (!rc && !seen)
        rc = fo_fail_field(err, FO_ENOTFOUND, "id", "document '%s' does not exist", id);
    if (rc)
        store_document_deinit(&d);
    else
        *out = d;
    return rc;
}

int catalog_get_document(catalog *c, const char *tenant, const char *in, const char *id,
                         const search_filter *sees, bool with_text, store_document *out,
                         fo_err *err) {
    int64_t of;
    int rc = find_collection(c, tenant, in, &of, err);
    return !rc ? get_seen(c, of, id, sees, with_text, out, err) : rc;
}

int catalog_list_documents(catalog *c, const char *tenant, const char *in, const char *after,
                           size_t limit, store_document **out, size_t *n, bool *has_more,
                           fo_err *err) {
    int64_t of;
    int rc = find_collection(c, tenant, in, &of, err);
    if (!rc) rc = store_list_documents(c->store, of, after, limit, out, n, has_more, err);
    return rc;
}

/* ---- by condition and source --------------------------------------------------------------- */

enum { PAGE = 512 };

bool catalog_is_of_source(const store_document *d, const char *source) {
    size_t n = strlen(source);
    if (strncmp(d->id, source, n) != 0 || d->id[n] != '/' || !d->metadata) return false;
    cJSON *m = cJSON_Parse(d->metadata);
    const char *says = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(m, "source"));
    bool same = says && !strcmp(says, source);
    cJSON_Delete(m);
    return same;
}

int catalog_source_collection(catalog *c, const char *tenant, const char *source, char **out,
                              fo_err *err) {
    store_source s = {0};
    int rc = store_get_source(c->store, tenant, source, &s, err);
    if (!rc) *out = s.collection, s.collection = NULL;
    store_source_deinit(&s);
    return rc;
}

/* Which of a page match. */
static int match_page(const catalog_search *q, const store_document *docs, size_t n,
                      uint64_t *match, fo_err *err) {
    const char *json[PAGE];
    uint64_t refused[PAGE / 64] = {0};
    memset(match, 0xff, PAGE / 8);
    for (size_t i = 0; i < n; i++) json[i] = docs[i].metadata;
    int rc =
        q->filter ? metadata_match_json(json, (uint32_t)n, q->filter, match, refused, err) : FO_OK;
    for (size_t i = 0; i < n && !rc; i++)
        if (docs[i].damaged || fo_bits_get(refused, i) ||
            (q->source && !catalog_is_of_source(&docs[i], q->source)) ||
            (q->text && !catalog_is_named(&docs[i], q->text)))
            fo_bits_clear(match, i);
    return rc;
}

bool catalog_is_named(const store_document *d, const char *text) {
    return strcasestr(d->id, text) || (d->title && strcasestr(d->title, text)) ||
           (d->uri && strcasestr(d->uri, text));
}

/* ---- in another order than that of ids ------------------------------------------------------- */

/* The best of what was looked at so far: the first `most` in order that come after `after`. */
typedef struct ordered_page {
    const catalog_search *q;
    const store_document *after; /* NULL: from the first */
    store_document *list;        /* [most], sorted */
    size_t n, most;
} ordered_page;

static const char *shown_name(const store_document *d) {
    return d->title && *d->title ? d->title : d->uri && *d->uri ? d->uri : d->id;
}

static int compare(const catalog_search *q, const store_document *a, const store_document *b) {
    int c = 0;
    if (q->order == CATALOG_BY_TITLE) c = strcasecmp(shown_name(a), shown_name(b));
    if (q->order == CATALOG_BY_UPDATED)
        c = (a->updated_ms > b->updated_ms) - (a->updated_ms < b->updated_ms);
    if (q->order == CATALOG_BY_SIZE)
        c = (a->text_bytes > b->text_bytes) - (a->text_bytes < b->text_bytes);
    if (!c) c = strcmp(a->id, b->id);
    return q->descending ? -c : c;
}

/* Takes d, or leaves it where it is not among the first. */
static void ordered_page_add(ordered_page *p, store_document *d) {
    if (p->after && compare(p->q, d, p->after) <= 0) return;
    size_t at = p->n;
    while (at && compare(p->q, d, &p->list[at - 1]) < 0) at--;
    if (at == p->most) return;
    if (p->n == p->most) store_document_deinit(&p->list[--p->n]);
    memmove(&p->list[at + 1], &p->list[at], (p->n - at) * sizeof *d);
    p->list[at] = *d;
    p->n++;
    *d = (store_document){0};
}

/* One more than wanted tells that there are more. */
static int find_all(catalog *c, int64_t of, const catalog_search *q, ordered_page *found,
                    fo_err *err) {
    fo_buf prefix = {0};
    bool by_id = q->order == CATALOG_BY_ID && !q->descending;
    if (q->source) fo_buf_printf(&prefix, "%s/", q->source);
    if (prefix.failed) return fo_no_memory(err);
    const char *from = by_id ? q->after : NULL;
    if (prefix.len && (!from || strcmp(from, prefix.data) < 0)) from = prefix.data;
    char *after = strdup(from ? from : "");
    int rc = after ? FO_OK : fo_no_memory(err);
    for (bool more = true; !rc && more && !(by_id && found->n == found->most);) {
        store_document *docs = NULL;
        size_t k = 0;
        uint64_t match[PAGE / 64];
        if (q->cancel && atomic_load(q->cancel)) rc = fo_fail(err, FO_ECANCELLED, "cancelled");
        if (!rc) rc = store_list_documents(c->store, of, after, PAGE, &docs, &k, &more, err);
        if (!rc) rc = match_page(q, docs, k, match, err);
        if (!rc && k) {
            free(after);
            after = strdup(docs[k - 1].id);
            if (!after) rc = fo_no_memory(err);
            if (after && prefix.len && strncmp(after, prefix.data, prefix.len) > 0) more = false;
        }
        for (size_t i = 0; i < k; i++) {
            if (!rc && fo_bits_get(match, i)) ordered_page_add(found, &docs[i]);
            store_document_deinit(&docs[i]);
        }
        free(docs);
        more = more && k;
    }
    free(after);
    fo_buf_free(&prefix);
    return rc;
}

int catalog_find_documents(catalog *c, const char *tenant, const char *in, const catalog_search *q,
                           store_document **out, size_t *n, bool *has_more, fo_err *err) {
    bool by_id = q->order == CATALOG_BY_ID && !q->descending;
    if (!q->filter && !q->source && !q->text && by_id)
        return catalog_list_documents(c, tenant, in, q->after, q->limit, out, n, has_more, err);
    int64_t of;
    int rc = find_collection(c, tenant, in, &of, err);
    if (rc) return rc;
    store_document from = {0};
    ordered_page p = {.q = q, .most = q->limit + 1};
    *n = 0;
    if (q->after && !by_id) {
        rc = get_seen(c, of, q->after, q->sees, false, &from, err);
        if (rc == FO_ENOTFOUND && err) snprintf(err->field, sizeof err->field, "after");
        p.after = &from;
    }
    if (!rc) p.list = calloc(p.most, sizeof *p.list);
    if (!rc) rc = p.list ? find_all(c, of, q, &p, err) : fo_no_memory(err);
    store_document_deinit(&from);
    *has_more = !rc && p.n > q->limit;
    if (*has_more) store_document_deinit(&p.list[--p.n]);
    if (!rc) {
        *out = p.list;
        *n = p.n;
        return FO_OK;
    }
    for (size_t i = 0; i < p.n; i++) store_document_deinit(&p.list[i]);
    free(p.list);
    return rc;
}
