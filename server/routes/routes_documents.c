/* GET /documents, /documents/{id}, /collections, /jobs/{id} and what changes them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "retrieval/service/activity.h"
#include "retrieval/collections/catalog.h"
#include "server/routes/app.h"
#include "server/routes/documents_json.h"
#include "server/routes/query_json.h"
#include "server/base/json.h"
#include "server/base/log.h"

/* The condition of ?filter=, and of what who asks may see; *out NULL where there is neither. */
typedef struct conditions {
    search_filter *asked, *both;
} conditions;

static void conditions_deinit(conditions *c) {
    search_filter_free(c->both);
    search_filter_free(c->asked);
}

/* false after an error reply. */
static bool filter_arg(http_request *r, conditions *out) {
    const char *text = http_arg(r, "filter");
    fo_err err = {0};
    cJSON *json = NULL;
    *out = (conditions){0};
    if (text && json_parse(text, strlen(text), &json, &err))
        snprintf(err.field, sizeof err.field, "filter"), fo_fail_prefix(&err, "filter");
    else if (text)
        query_json_filter(&out->asked, json, &err);
    cJSON_Delete(json);
    if (!err.code) search_filter_both(&out->both, out->asked, app_sees(r), &err);
    if (err.code) http_error_from(r, &err);
    return !err.code;
}

/* The one that a source fills. NULL after an error reply; caller frees. To whom may not use it there is no such
 * source, in the same words, so that nothing is told of a collection by way of what fills it. */
static char *filled_by(http_request *r, app *a, const char *source) {
    fo_err err = {0};
    char *of = NULL;
    int rc =
        catalog_source_collection(service_catalog(a->service), app_tenant(r), source, &of, &err);
    if (!rc && app_may_use(r, of)) return of;
    if (!rc || rc == FO_ENOTFOUND)
        fo_fail_field(&err, FO_ENOTFOUND, "source", "there is no source '%s'", source);
    http_error_from(r, &err);
    free(of);
    return NULL;
}

/* ?source= without ?collection=: the one that the source fills. NULL after an error reply; caller frees. */
static char *collection_of(http_request *r, app *a, const char *source) {
    fo_err err = {0};
    char *of = NULL;
    if (source && !service_name_valid(source)) {
        http_error(r, 400, "bad_field", "source",
                   "source must be 1 to 64 of A-Z a-z 0-9 _ - . and not begin with a dot");
        return NULL;
    }
    if (source && !http_arg(r, "collection")) return filled_by(r, a, source);
    const char *named = app_collection_arg(r);
    if (named && !(of = strdup(named))) {
        fo_no_memory(&err);
        http_error_from(r, &err);
    }
    return of;
}

/* ?q=; false after an error reply. */
static bool text_arg(http_request *r, const char **out) {
    *out = http_arg(r, "q");
    if (*out && !**out) *out = NULL;
    if (!*out || strlen(*out) <= 400) return true;
    http_error(r, 400, "bad_field", "q", "q must have at most 400 bytes");
    return false;
}

/* ?order=, a name with a minus before it where it descends; false after an error reply. */
static bool order_arg(http_request *r, catalog_search *q) {
    static const char *const names[] = {"id", "title", "updated", "size"};
    const char *s = http_arg(r, "order");
    if (!s) return true;
    q->descending = *s == '-';
    for (int i = 0; i < 4; i++)
        if (!strcmp(s + q->descending, names[i])) {
            q->order = (enum catalog_order)i;
            return true;
        }
    http_error(r, 400, "bad_field", "order",
               "order must be id, title, updated or size, with - before it where the largest comes "
               "first");
    return false;
}

void route_documents(http_request *r, void *ctx) {
    app *a = ctx;
    int64_t limit;
    catalog_search q = {
        .source = http_arg(r, "source"), .after = http_arg(r, "after"), .cancel = http_cancel(r)};
    conditions where = {0};
    char *collection = NULL;
    if (!app_timeout_arg(r) || !http_arg_int(r, "limit", 100, 1, 1000, &limit) ||
        !text_arg(r, &q.text) || !order_arg(r, &q) || !filter_arg(r, &where) ||
        !(collection = collection_of(r, a, q.source))) {
        conditions_deinit(&where);
        return;
    }
    q.filter = where.both;
    q.sees = app_sees(r);
    q.limit = (size_t)limit;
    store_document *docs = NULL;
    size_t n = 0;
    bool more = false;
    fo_err err = {0};
    int rc = catalog_find_documents(service_catalog(a->service), app_tenant(r), collection, &q,
                                    &docs, &n, &more, &err);
    free(collection);
    conditions_deinit(&where);
    if (rc) {
        http_error_from(r, &err);
        return;
    }
    fo_buf b = {0};
    json_out o = {&b, false};
    json_out_open(&o, NULL, '{');
    documents_json_page(&o, docs, n, more);
    json_out_close(&o, '}');
    for (size_t i = 0; i < n; i++) store_document_deinit(&docs[i]);
    free(docs);
    http_reply_json(r, 200, &b);
}

void route_documents_delete(http_request *r, void *ctx) {
    app *a = ctx;
    bool dry_run;
    const char *source = http_arg(r, "source"), *text;
    conditions where = {0};
    char *collection = NULL;
    if (!http_arg_bool(r, "dry_run", false, &dry_run) || !text_arg(r, &text) || !app_timeout_arg(r))
        return;
    if (!filter_arg(r, &where)) {
        conditions_deinit(&where);
        return;
    }
    /* Everything is deleted with its collection, or by {"type":"and","filters":[]}. */
    if (!where.asked && !source && !text)
        http_error(r, 400, "bad_field", "filter",
                   "filter is missing: a condition on metadata, as in a query; or source, or q");
    else
        collection = collection_of(r, a, source);
    if (!collection) {
        conditions_deinit(&where);
        return;
    }
    documents_ids ids = {0};
    delete_request q = {.tenant = app_tenant(r),
                        .collection = collection,
                        .filter = where.both,
                        .source = source,
                        .text = text,
                        .dry_run = dry_run,
                        .cancel = http_cancel(r),
                        .each = documents_ids_add,
                        .ctx = &ids};
    delete_report done;
    fo_err err = {0};
    int rc = service_delete_documents(a->service, &q, &done, &err);
    conditions_deinit(&where);
    if (rc == FO_ECANCELLED && http_timed_out(r)) {
        http_error(r, 408, "timeout", "timeout_ms",
                   "it was not done within timeout_ms; %zu documents were deleted", done.deleted);
    } else if (rc) {
        http_error_from(r, &err);
    } else {
        fo_buf b = {0};
        json_out o = {&b, false};
        json_out_open(&o, NULL, '{');
        json_out_string(&o, "collection", collection);
        documents_json_deletion(&o, &done, dry_run);
        documents_ids_write(&o, &ids);
        json_out_close(&o, '}');
        http_reply_json(r, 200, &b);
    }
    free(collection);
    documents_ids_deinit(&ids);
}

void route_document(http_request *r, void *ctx) {
    app *a = ctx;
    bool with_text;
    const char *collection;
    if (!http_arg_bool(r, "text", true, &with_text) || !(collection = app_collection_arg(r)))
        return;
    store_document d = {0};
    fo_err err = {0};
    int rc = catalog_get_document(service_catalog(a->service), app_tenant(r), collection,
                                  http_param(r, "id"), app_sees(r), with_text, &d, &err);
    if (rc) {
        http_error_from(r, &err);
        return;
    }
    fo_buf b = {0};
    json_out o = {&b, false};
    documents_json_document(&o, &d);
    store_document_deinit(&d);
    http_reply_json(r, 200, &b);
}

void route_document_page(http_request *r, void *ctx) {
    app *a = ctx;
    int64_t page;
    const char *collection;
    if (!http_arg_int(r, "page", 1, 1, INT32_MAX, &page) || !(collection = app_collection_arg(r)))
        return;
    char *png = NULL;
    size_t n = 0;
    fo_err err = {0};
    if (service_draw_page(a->service, app_tenant(r), collection, http_param(r, "id"), app_sees(r),
                          (uint32_t)page, http_cancel(r), &png, &n, &err)) {
        http_error_from(r, &err);
        return;
    }
    http_set_header(r, "Cache-Control", "private, no-cache");
    http_set_header(r, "Content-Security-Policy", "default-src 'none'; sandbox");
    http_set_header(r, "X-Content-Type-Options", "nosniff");
    http_reply(r, 200, "image/png", png, n);
    free(png);
}

void route_document_delete(http_request *r, void *ctx) {
    app *a = ctx;
    const char *collection = app_collection_arg(r);
    if (!collection) return;
    int64_t epoch = 0;
    fo_err err = {0};
    if (service_delete_document(a->service, app_tenant(r), collection, http_param(r, "id"),
                                app_sees(r), &epoch, &err)) {
        http_error_from(r, &err);
        return;
    }
    fo_buf b = {0};
    json_out o = {&b, false};
    json_out_open(&o, NULL, '{');
    json_out_string(&o, "id", http_param(r, "id"));
    json_out_bool(&o, "deleted", true);
    json_out_int(&o, "epoch", epoch);
    json_out_close(&o, '}');
    http_reply_json(r, 200, &b);
}

/* ---- collections ---------------------------------------------------------------------------- */

void route_collections(http_request *r, void *ctx) {
    app *a = ctx;
    store_collection *list = NULL;
    size_t n = 0;
    fo_err err = {0};
    if (catalog_list_collections(service_catalog(a->service), app_tenant(r), &list, &n, &err)) {
        http_error_from(r, &err);
        return;
    }
    fo_buf b = {0};
    json_out o = {&b, false};
    json_out_open(&o, NULL, '{');
    json_out_open(&o, "data", '[');
    for (size_t i = 0; i < n; i++) {
        if (app_may_use(r, list[i].name)) documents_json_collection(&o, &list[i]);
        store_collection_deinit(&list[i]);
    }
    free(list);
    json_out_close(&o, ']');
    json_out_close(&o, '}');
    http_reply_json(r, 200, &b);
}

void route_collection_put(http_request *r, void *ctx) {
    app *a = ctx;
    const char *name = http_param(r, "name");
    if (!service_name_valid(name)) {
        http_error(r, 400, "bad_field", "name",
                   "a collection's name is 1 to 64 of A-Z a-z 0-9 _ - . and does not begin with a "
                   "dot");
        return;
    }
    size_t len;
    const char *body = http_body(r, &len);
    fo_err err = {0};
    cJSON *root = NULL;
    const char *language = NULL;
    if (app_may_write(app_grant(r), name, &err)) {
        http_error_from(r, &err);
        return;
    }
    if (len && json_parse(body, len, &root, &err) == FO_OK) {
        json_in in;
        json_in_object(&in, root, "", &err);
        language = json_in_string(&in, "language", NULL, 1, 32);
        json_in_end(&in);
    }
    catalog *held = service_catalog(a->service);
    store_collection c = {0};
    bool created = false;
    if (!err.code) {
        int rc = service_create_collection(a->service, app_tenant(r), name, language, &err);
        created = !rc;
        if (rc == FO_ECONFLICT) { /* there already: fine unless it speaks another language */
            err = (fo_err){0};
        }
        if (!err.code && catalog_get_collection(held, app_tenant(r), name, &c, &err) == FO_OK &&
            !created && language && strcmp(language, c.language))
            fo_fail_field(&err, FO_ECONFLICT, "language",
                          "the collection exists with language '%s'; delete it to change that",
                          c.language);
    }
    cJSON_Delete(root);
    if (err.code) {
        http_error_from(r, &err);
    } else {
        fo_buf b = {0};
        json_out o = {&b, false};
        documents_json_collection(&o, &c);
        http_reply_json(r, created ? 201 : 200, &b);
    }
    store_collection_deinit(&c);
}

void route_collection_delete(http_request *r, void *ctx) {
    app *a = ctx;
    fo_err err = {0};
    const char *name = http_param(r, "name");
    if (!app_timeout_arg(r) || !app_check_collection(r, name)) return;
    int rc = service_delete_collection(a->service, app_tenant(r), name, http_cancel(r), &err);
    app_reply_done(r, rc, &err, "name", name, "deleted");
}

/* ---- jobs ----------------------------------------------------------------------------------- */

/* "job_12" -> 12 (the store draws them); -1 after a 404. */
static int64_t job_number(http_request *r) {
    const char *id = http_param(r, "id");
    if (!strncmp(id, "job_", 4) && id[4] >= '0' && id[4] <= '9') {
        char *end;
        errno = 0;
        long long v = strtoll(id + 4, &end, 10);
        if (!*end && !errno) return v;
    }
    http_error(r, 404, "not_found", "id", "there is no job '%.64s'", id);
    return -1;
}

static void reply_job(http_request *r, app *a, int64_t id, int status) {
    store_job j = {0};
    fo_err err = {0};
    if (service_get_job(a->service, app_tenant(r), id, &j, &err)) {
        http_error_from(r, &err);
        return;
    }
    if (j.collection && !app_may_use(r, j.collection)) {
        http_error(r, 404, "not_found", NULL, "job %lld does not exist", (long long)id);
        store_job_deinit(&j);
        return;
    }
    fo_buf b = {0};
    json_out o = {&b, false};
    json_out_open(&o, NULL, '{');
    json_out_string(&o, "job_id", http_param(r, "id"));
    json_out_string(&o, "kind", j.kind);
    json_out_string(&o, "status", j.state);
    json_out_string(&o, "collection", j.collection);
    json_out_open(&o, "progress", '{');
    if (j.n_total >= 0)
        json_out_int(&o, "total", j.n_total);
    else
        json_out_null(&o, "total");
    json_out_int(&o, "done", j.n_done);
    json_out_int(&o, "failed", j.n_failed);
    size_t pages, passages;
    if (jobs_look(a->jobs, app_tenant(r), id, &pages, &passages)) {
        json_out_int(&o, "pages", (int64_t)pages);
        json_out_int(&o, "passages", (int64_t)passages);
    }
    json_out_close(&o, '}');
    json_out_string(&o, "error", j.error);
    if (j.result && *j.result)
        json_out_raw(&o, "result", j.result);
    else
        json_out_null(&o, "result");
    documents_json_time(&o, "created_at", j.created_ms);
    documents_json_time(&o, "updated_at", j.updated_ms);
    json_out_close(&o, '}');
    store_job_deinit(&j);
    http_reply_json(r, status, &b);
}

void route_job(http_request *r, void *ctx) {
    int64_t id = job_number(r);
    if (id >= 0) reply_job(r, ctx, id, 200);
}

void route_job_cancel(http_request *r, void *ctx) {
    app *a = ctx;
    int64_t id = job_number(r);
    if (id < 0) return;
    fo_err err = {0};
    store_job of = {0};
    int rc = service_get_job(a->service, app_tenant(r), id, &of, &err);
    bool hidden = !rc && of.collection && !app_may_use(r, of.collection);
    store_job_deinit(&of);
    if (hidden) {
        reply_job(r, a, id, 404);
        return;
    }
    if (rc || jobs_cancel(a->jobs, app_tenant(r), id, &err)) {
        http_error_from(r, &err);
        return;
    }
    reply_job(r, a, id, 202);
}
