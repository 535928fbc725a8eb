/* POST /feedback: was an answer good? GET /analytics/feedback: what was said, also as judged queries. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/hex.h"
#include "kernels/sha256.h"
#include "retrieval/service/conversations.h"
#include "server/base/json.h"
#include "server/base/log.h"
#include "server/routes/analytics_args.h"
#include "server/routes/app.h"

enum { QUERY_MAX = 64 * 1024, DOCUMENTS_MAX = 64, DOCUMENT_ID_MAX = 1024, COMMENT_MAX = 4000 };

static const char *const rating_names[] = {"down", "none", "up", NULL};

/* Ids, each a string; *out is JSON without white space, caller frees. */
static int read_documents(json_in *in, char **out, fo_err *err) {
    const cJSON *list = json_in_array(in, "documents", DOCUMENTS_MAX), *id;
    if (json_in_failed(in)) return err->code;
    cJSON_ArrayForEach(id, list) {
        bool good = cJSON_IsString(id) && *id->valuestring;
        if (!good || strlen(id->valuestring) > DOCUMENT_ID_MAX)
            return fo_fail_field(err, FO_EINVAL, "documents", "documents must be ids of documents");
    }
    *out = list ? cJSON_PrintUnformatted(list) : strdup("[]");
    return *out ? FO_OK : fo_no_memory(err);
}

void route_feedback(http_request *r, void *ctx) {
    app *a = ctx;
    fo_err err = {0};
    json_in in;
    cJSON *root = app_read_object(r, &in, &err);
    if (!root) return;
    store_feedback f = {.t_ms = log_now_ms()};
    f.query = (char *)json_in_string(&in, "query", NULL, 1, QUERY_MAX);
    f.collection = (char *)json_in_string(&in, "collection", "default", 1, 64);
    f.comment = (char *)json_in_string(&in, "comment", NULL, 1, COMMENT_MAX);
    int rating = json_in_enum(&in, "rating", -1, rating_names);
    int rc = read_documents(&in, &f.documents, &err);
    if (!rc) rc = json_in_end(&in);
    f.rating = rating - 1;
    if (!rc && !f.query) rc = fo_fail_field(&err, FO_EINVAL, "query", "query is missing");
    if (!rc && rating < 0)
        rc = fo_fail_field(&err, FO_EINVAL, "rating", "rating must be up, down or none");
    if (!rc && (!service_name_valid(f.collection) || !app_may_use(r, f.collection)))
        rc = app_no_collection(f.collection, &err);
    if (!rc)
        rc = service_put_feedback(a->service, (conversation_owner){app_tenant(r), app_owner(r)}, &f,
                                  &err);
    free(f.documents);
    cJSON_Delete(root);
    if (rc) {
        http_error_from(r, &err);
        return;
    }
    fo_buf b = {0};
    json_out o = {&b, false};
    json_out_open(&o, NULL, '{');
    json_out_string(&o, "rating", rating_names[rating]);
    json_out_close(&o, '}');
    http_reply_json(r, 200, &b);
}

/* ---- what was said --------------------------------------------------------------------------- */

static void write_list(fo_buf *b, const store_feedback *list, size_t n) {
    json_out o = {b, false};
    int64_t up = 0, down = 0;
    for (size_t i = 0; i < n; i++) *(list[i].rating > 0 ? &up : &down) += 1;
    json_out_open(&o, NULL, '{');
    json_out_int(&o, "up", up);
    json_out_int(&o, "down", down);
    json_out_open(&o, "data", '[');
    for (size_t i = 0; i < n; i++) {
        const store_feedback *f = &list[i];
        char t[32];
        log_time(t, f->t_ms);
        json_out_open(&o, NULL, '{');
        json_out_string(&o, "query", f->query);
        json_out_string(&o, "collection", f->collection);
        json_out_string(&o, "rating", rating_names[f->rating + 1]);
        json_out_raw(&o, "documents", f->documents);
        json_out_string(&o, "comment", f->comment);
        json_out_string(&o, "by", f->owner);
        json_out_string(&o, "at", t);
        json_out_close(&o, '}');
    }
    json_out_close(&o, ']');
    json_out_close(&o, '}');
}

/* Of who said it about what, which is one row: the store's own number counts what all tenants say, and goes
 * with the next word about the same. */
static void name_of(char out[18], const store_feedback *f) {
    unsigned char sum[32];
    fo_sha256 h;
    fo_sha256_begin(&h);
    const char *const parts[] = {f->owner, f->collection, f->query};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        fo_sha256_add(&h, parts[i], strlen(parts[i]) + 1);
    fo_sha256_end(&h, sum);
    out[0] = 'f';
    fo_hex_write(out + 1, sum, 8);
}

/* Lines of `forage eval --queries`. */
static void write_queries(fo_buf *b, const store_feedback *list, size_t n) {
    for (size_t i = 0; i < n; i++) {
        json_out o = {b, false};
        char id[18];
        name_of(id, &list[i]);
        json_out_open(&o, NULL, '{');
        json_out_string(&o, "id", id);
        json_out_string(&o, "text", list[i].query);
        json_out_close(&o, '}');
        fo_buf_char(b, '\n');
    }
}

/* Lines of `forage eval --qrels`: a document that an answer cites was right with it, or wrong. An id with a
 * tab or a line break in it has no line. */
static void write_qrels(fo_buf *b, const store_feedback *list, size_t n) {
    for (size_t i = 0; i < n; i++) {
        char name[18];
        name_of(name, &list[i]);
        cJSON *ids = cJSON_Parse(list[i].documents);
        const cJSON *id;
        cJSON_ArrayForEach(id, ids) if (cJSON_IsString(id) && !strpbrk(id->valuestring, "\t\r\n"))
            fo_buf_printf(b, "%s\t%s\t%d\n", name, id->valuestring, list[i].rating > 0);
        cJSON_Delete(ids);
    }
}

void route_analytics_feedback(http_request *r, void *ctx) {
    app *a = ctx;
    static const struct {
        const char *name, *type;
        void (*write)(fo_buf *b, const store_feedback *list, size_t n);
    } formats[] = {{"json", "application/json", write_list},
                   {"queries", "application/x-ndjson", write_queries},
                   {"qrels", "text/tab-separated-values; charset=utf-8", write_qrels}};
    const char *format = http_arg(r, "format"), *collection = http_arg(r, "collection");
    size_t as = 0;
    while (format && as < 3 && strcmp(format, formats[as].name)) as++;
    if (as == 3) {
        http_error(r, 400, "bad_field", "format", "format must be json, queries or qrels");
        return;
    }
    int64_t window, limit;
    if (!analytics_span(r, "window", 90 * 86400, &window)) return;
    if (!http_arg_int(r, "limit", 1000, 1, STORE_FEEDBACK_MAX, &limit)) return;
    if (collection && !app_check_collection(r, collection)) return;
    if (collection && strchr(collection, ',')) { /* none is called so: a list is of more than one */
        fo_err none = {0};
        app_no_collection(collection, &none);
        http_error_from(r, &none);
        return;
    }
    store_feedback *list;
    size_t n;
    fo_err err = {0};
    char *own; /* only of what the key may use */
    int rc = app_collections(r, &own, &err);
    if (!rc)
        rc = service_list_feedback(a->service, (conversation_owner){app_tenant(r), NULL},
                                   collection ? collection : own, log_now_ms() - window * 1000,
                                   (size_t)limit, &list, &n, &err);
    free(own);
    if (rc) {
        http_error_from(r, &err);
        return;
    }
    fo_buf b = {0};
    formats[as].write(&b, list, n);
    for (size_t i = 0; i < n; i++) store_feedback_deinit(&list[i]);
    free(list);
    if (b.failed)
        http_error(r, 500, "internal", NULL, "out of memory");
    else
        http_reply(r, 200, formats[as].type, b.data, b.len);
    fo_buf_free(&b);
}
