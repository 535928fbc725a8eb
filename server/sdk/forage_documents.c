/* Documents of libforage: in, in step with a folder, looked at, out. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/extract/text_parts.h"
#include "kernels/clock.h"
#include "kernels/file.h"
#include "kernels/paths.h"
#include "kernels/utf8.h"
#include "retrieval/collections/catalog.h"
#include "retrieval/collections/document_acl.h"
#include "retrieval/sync/folder_sync.h"
#include "server/access/keys.h"
#include "server/routes/documents_json.h"
#include "server/routes/ingest_batch.h"
#include "server/routes/query_json.h"
#include "server/sdk/forage_internal.h"

enum {
    ID_MAX = 512,
    TITLE_MAX = 4096,
    URI_MAX = 8192,
    TYPE_MAX = 256,
    METADATA_MAX = 1 << 20,
    TEXT_MAX_PAGE = 1000, /* documents of a page */
};
static const size_t file_max = (size_t)1 << 30;         /* of one that is read whole */
static const int64_t sync_file_max = (int64_t)64 << 20; /* of a folder, as for the command */

static const char *read_collection(json_in *in) {
    const char *name = json_in_string(in, "collection", "default", 1, 64);
    if (!json_in_failed(in) && !service_name_valid(name))
        fo_fail_field(in->err, FO_EINVAL, "collection",
                      "collection must be 1 to 64 of A-Z a-z 0-9 _ - . and not begin with a dot");
    return name;
}

/* options.chunking: as ingest_options have it. */
static void read_chunking(json_in *in, size_t *max_tokens, size_t *overlap) {
    json_in chunking;
    json_in_child(&chunking, in, "chunking");
    *max_tokens = (size_t)json_in_int(&chunking, "max_tokens", 0, 16, 8192);
    int64_t n = json_in_int(&chunking, "overlap", -1, 0, 4095);
    json_in_end(&chunking);
    *overlap = n < 0 ? SIZE_MAX : (size_t)n;
    size_t tokens = *max_tokens ? *max_tokens : 256;
    if (!json_in_failed(in) && n >= 0 && (size_t)n * 2 >= tokens)
        fo_fail_field(in->err, FO_EINVAL, "chunking.overlap",
                      "chunking.overlap must be less than half of max_tokens (%zu)", tokens);
}

/* ---- in ------------------------------------------------------------------------------------------ */

typedef struct ingest_run {
    forage_call call;
    ingest_batch *batch;
} ingest_run;

static void on_progress(void *ctx, const ingest_totals *t) {
    ingest_run *run = ctx;
    fo_buf b = {0};
    fo_buf_printf(&b, "{\"done\":%zu}", t->n_all);
    forage_call_tell(&run->call, "progress", &b);
}

static int check_text(const char *s, const char *field, size_t i, size_t max, fo_err *err) {
    char where[64];
    snprintf(where, sizeof where, "documents[%zu].%s", i, field);
    if (!s) return FO_OK;
    size_t n = strlen(s), bad;
    if (n > max)
        return fo_fail_field(err, FO_ELIMIT, where, "%s has %zu bytes, at most %zu are taken",
                             where, n, max);
    if (!fo_utf8_valid(s, n, &bad))
        return fo_fail_field(err, FO_EINVAL, where, "%s is not UTF-8 at byte %zu", where, bad);
    return FO_OK;
}

static int check_json(const char *s, const char *field, size_t i, bool object, fo_err *err) {
    char where[64];
    snprintf(where, sizeof where, "documents[%zu].%s", i, field);
    cJSON *root = NULL;
    int rc = check_text(s, field, i, METADATA_MAX, err);
    if (rc || !s) return rc;
    rc = json_parse(s, strlen(s), &root, err);
    if (rc) {
        fo_fail_prefix(err, "%s", where);
        snprintf(err->field, sizeof err->field, "%s", where);
    } else if (object ? !cJSON_IsObject(root) : !cJSON_IsArray(root)) {
        rc = fo_fail_field(err, FO_EINVAL, where, "%s must be a JSON %s", where,
                           object ? "object" : "array of groups");
    } else if (object) {
        rc = json_refuse_rounded(root, where, err);
    }
    char *joined = NULL;
    if (!rc && !object && (rc = document_acl_join(&joined, NULL, s, err)))
        snprintf(err->field, sizeof err->field, "%s", where);
    free(joined);
    cJSON_Delete(root);
    return rc;
}

/* How the caller uses the struct: a mistake of the program, not of one document. */
static int check_use(const forage_document *d, size_t i, fo_err *err) {
    char where[64];
    snprintf(where, sizeof where, "documents[%zu]", i);
    int n_sources = !!d->text + !!d->bytes + !!d->path;
    if (n_sources != 1)
        return fo_fail_field(err, FO_EINVAL, where, "%s has %s of text, bytes and path", where,
                             n_sources ? "more than one" : "none");
    for (size_t k = 0; k < sizeof d->reserved / sizeof *d->reserved; k++)
        if (d->reserved[k])
            return fo_fail_field(err, FO_EINVAL, where, "%s.reserved[%zu] is not NULL", where, k);
    return FO_OK;
}

/* What it says. */
static int check_content(const forage_document *d, size_t i, fo_err *err) {
    char where[64];
    snprintf(where, sizeof where, "documents[%zu].id", i);
    if (d->id && !*d->id) return fo_fail_field(err, FO_EINVAL, where, "%s is empty", where);
    int rc = check_text(d->id, "id", i, ID_MAX, err);
    if (!rc) rc = check_text(d->title, "title", i, TITLE_MAX, err);
    if (!rc) rc = check_text(d->uri, "uri", i, URI_MAX, err);
    if (!rc) rc = check_text(d->type, "type", i, TYPE_MAX, err);
    if (!rc) rc = check_text(d->file_name, "file_name", i, PATH_MAX, err);
    if (!rc) rc = check_json(d->metadata, "metadata", i, true, err);
    return rc ? rc : check_json(d->acl, "acl", i, false, err);
}

/* A file that is open: by parts where its text is large, else in one piece. */
static int add_open_file(ingest_run *run, int fd, ingest_document *d, const char *path, fo_err *why,
                         fo_err *err) {
    struct stat st;
    char head[32 << 10], *data = NULL;
    if (fstat(fd, &st) != 0) return fo_fail_errno(why, "cannot read %s", path), FO_OK;
    if (!S_ISREG(st.st_mode)) return fo_fail(why, FO_EINVAL, "%s is no file", path), FO_OK;
    text_kind kind;
    ssize_t n =
        text_file_may_be_large(fd, (uint64_t)st.st_size) ? pread(fd, head, sizeof head, 0) : 0;
    d->bytes = head;
    d->n_bytes = n > 0 ? (size_t)n : 0;
    if (n > 0 && ingest_batch_in_parts(d, &kind)) {
        int rc = ingest_batch_begin_parts(run->batch, d, &kind, err);
        while (!rc && (n = read(fd, head, sizeof head)) > 0) {
            rc = forage_call_check(&run->call, err);
            if (!rc) rc = ingest_batch_feed_parts(run->batch, head, (size_t)n, err);
        }
        if (!rc && n < 0) rc = fo_fail_errno(err, "cannot read %s", path);
        return ingest_batch_end_parts(run->batch, rc, err);
    }
    size_t size;
    if (fo_file_read(path, file_max, &data, &size, why)) return FO_OK;
    d->bytes = data;
    d->n_bytes = size;
    int rc = ingest_batch_add(run->batch, d, err);
    free(data);
    return rc;
}

static int add_file(ingest_run *run, ingest_document *d, const char *path, fo_err *err) {
    fo_err why = {0};
    if (!d->id && strlen(path) <= ID_MAX) d->id = path;
    if (!d->uri && strlen(path) <= URI_MAX) d->uri = path;
    d->file_name = fo_base_name(path);
    /* A pipe without a writer is not waited for: it is no file. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc = FO_OK;
    if (fd < 0)
        fo_fail_errno(&why, "cannot open %s", path);
    else
        rc = add_open_file(run, fd, d, path, &why, err);
    if (fd >= 0) close(fd);
    return !rc && why.code ? ingest_batch_add_failed(run->batch, d->id ? d->id : path, &why, err)
                           : rc;
}

/* Named as it would have been; where that name is what is wrong, by none. */
static int add_wrong(ingest_run *run, const forage_document *d, const fo_err *why, fo_err *err) {
    const char *id = d->id ? d->id : d->path;
    bool named = id && *id && strlen(id) <= ID_MAX && fo_utf8_valid(id, strlen(id), NULL);
    return ingest_batch_add_failed(run->batch, named ? id : NULL, why, err);
}

static int add_one(ingest_run *run, const forage_document *d, size_t i, fo_err *err) {
    fo_err why = {0};
    int rc = check_content(d, i, &why);
    if (rc == FO_ENOMEM) return fo_no_memory(err);
    if (rc) return add_wrong(run, d, &why, err);
    ingest_document in = {.id = d->id,
                          .title = d->title,
                          .uri = d->uri,
                          .content_type = d->type,
                          .file_name = d->file_name,
                          .metadata = d->metadata,
                          .acl = d->acl,
                          .bytes = d->bytes,
                          .n_bytes = d->n_bytes};
    if (d->path) return add_file(run, &in, d->path, err);
    if (d->text) {
        in.bytes = d->text;
        in.n_bytes = strlen(d->text);
        in.is_text = true;
        if (!d->type) in.content_type = "text/plain; charset=utf-8";
    }
    return ingest_batch_add(run->batch, &in, err);
}

static int write_results(ingest_run *run, spool *results, const char *collection, double began_ms,
                         forage_reply **out, fo_err *err) {
    const ingest_totals *t = ingest_batch_totals(run->batch);
    fo_buf b = {0};
    json_out o = {&b, false};
    json_out_open(&o, NULL, '{');
    json_out_string(&o, "collection", collection);
    json_out_int(&o, "epoch", t->report.epoch);
    fo_buf_str(&b, ",\"results\":[");
    size_t n = (size_t)spool_size(results);
    int rc = fo_buf_reserve(&b, n) ? FO_OK : fo_no_memory(err);
    for (size_t done = 0; !rc && done < n;) {
        ssize_t got = spool_read(results, done, b.data + b.len, n - done, err);
        if (got <= 0) {
            rc = got < 0 ? (int)got : fo_fail(err, FO_EIO, "the results end too early");
            break;
        }
        b.len += (size_t)got;
        done += (size_t)got;
    }
    fo_buf_str(&b, "],\"timings_ms\":");
    ingest_write_timings(&b, &t->report, fo_now_ms() - began_ms);
    fo_buf_char(&b, '}');
    if (!rc) return forage_reply_make(out, &b, err);
    fo_buf_free(&b);
    return rc;
}

static int ingest(forage *f, const forage_document *documents, size_t n, json_in *in,
                  const forage_listener *listener, forage_reply **out, fo_err *err) {
    static const char *const ocr[] = {"off", "auto", "force", NULL};
    const double began_ms = fo_now_ms();
    ingest_run run = {0};
    spool *results = NULL;
    forage_call_begin(&run.call, listener);
    ingest_batch_options opt = {
        .service = f->service,
        .ingest = {.tenant = ACCESS_OWNER,
                   .collection = read_collection(in),
                   .language = json_in_string(in, "language", NULL, 1, 32),
                   .ocr_language = json_in_string(in, "ocr_language", NULL, 1, 64),
                   .cancel = &run.call.ended},
        .spool_dir = service_home(f->service),
        .progress = on_progress,
        .ctx = &run};
    read_chunking(in, &opt.ingest.max_tokens, &opt.ingest.overlap);
    int when = json_in_enum(in, "ocr", -1, ocr);
    opt.ingest.ocr = when < 0 ? INGEST_OCR_DEFAULT : INGEST_OCR_OFF + when;
    int rc = json_in_end(in);
    if (!rc && !documents && n)
        rc = fo_fail_field(err, FO_EINVAL, "documents", "documents is NULL");
    for (size_t i = 0; !rc && i < n; i++) rc = check_use(&documents[i], i, err);
    if (!rc) rc = spool_create(&results, opt.spool_dir, err);
    opt.results = results;
    if (!rc) rc = ingest_batch_create(&run.batch, &opt, err);
    for (size_t i = 0; !rc && i < n; i++) {
        rc = forage_call_check(&run.call, err);
        if (!rc) rc = add_one(&run, &documents[i], i, err);
    }
    if (!rc) rc = forage_call_check(&run.call, err);
    if (!rc) rc = ingest_batch_flush(run.batch, err);
    if (!rc) rc = write_results(&run, results, opt.ingest.collection, began_ms, out, err);
    ingest_batch_free(run.batch);
    spool_free(results);
    forage_call_end(&run.call);
    return rc;
}

int forage_ingest(forage *f, const forage_document *documents, size_t n, const char *options,
                  const forage_listener *listener, forage_reply **out, forage_error *error) {
    fo_err err = {0};
    json_in in;
    cJSON *root = NULL;
    int rc = forage_check(f, out, &err);
    if (!rc) rc = forage_options(&in, &root, options, &err);
    if (!rc && f->read_only) rc = fo_fail(&err, FO_EUNSUPPORTED, "the home was opened read-only");
    if (!rc) rc = ingest(f, documents, n, &in, listener, out, &err);
    cJSON_Delete(root);
    return forage_hand_out(rc, &err, error);
}

/* ---- in step with a folder ---------------------------------------------------------------------- */

static void on_synced(void *ctx, size_t done, size_t total) {
    fo_buf b = {0};
    fo_buf_printf(&b, "{\"done\":%zu,\"total\":%zu}", done, total);
    forage_call_tell(ctx, "progress", &b);
}

static int read_sync(json_in *in, folder_sync_request *q) {
    q->limit = SYNC_LIMIT_DEFAULT;
    q->collection = json_in_string(in, "collection", NULL, 1, 64);
    q->dry_run = json_in_bool(in, "dry_run", false);
    q->relocate = json_in_bool(in, "relocate", false);
    const char *most = json_in_string(in, "max_deletes", NULL, 1, 32);
    if (most && !sync_limit_read(&q->limit, most))
        fo_fail_field(in->err, FO_EINVAL, "max_deletes",
                      "max_deletes must be a number of documents, or a share such as \"30%%\"");
    q->language = json_in_string(in, "language", NULL, 1, 32);
    q->max_file_bytes = json_in_int(in, "max_file", sync_file_max, 0, (int64_t)1 << 53);
    read_chunking(in, &q->max_tokens, &q->overlap);
    return json_in_end(in);
}

int forage_sync(forage *f, const char *name, const char *path, const char *options,
                const forage_listener *listener, forage_reply **out, forage_error *error) {
    fo_err err = {0};
    json_in in;
    cJSON *root = NULL;
    folder_sync_request q = {.tenant = ACCESS_OWNER, .name = name, .retry_failed = true};
    folder_sync_report report = {0};
    forage_call call;
    char folder[PATH_MAX];
    forage_call_begin(&call, listener);
    int rc = forage_check(f, out, &err);
    if (!rc && (!name || !service_name_valid(name)))
        rc = fo_fail_field(&err, FO_EINVAL, "name",
                           "name must be 1 to 64 of A-Z a-z 0-9 _ - . and not begin with a dot");
    if (!rc && !path) rc = fo_fail_field(&err, FO_EINVAL, "path", "path is NULL");
    if (!rc && !realpath(path, folder)) rc = fo_fail_errno(&err, "cannot find %s", path);
    if (!rc) rc = forage_options(&in, &root, options, &err);
    if (!rc) rc = read_sync(&in, &q);
    q.path = folder;
    q.cancel = &call.ended;
    q.progress = on_synced;
    q.ctx = &call;
    if (!rc) rc = folder_sync_run(f->service, &q, &report, &err);
    if (!rc) {
        fo_buf b = {0};
        b.data = folder_sync_report_json(&report);
        b.len = b.data ? strlen(b.data) : 0;
        b.failed = !b.data;
        rc = forage_reply_make(out, &b, &err);
    }
    folder_sync_report_deinit(&report);
    forage_call_end(&call);
    cJSON_Delete(root);
    return forage_hand_out(rc, &err, error);
}

/* ---- looked at ------------------------------------------------------------------------------------ */

int forage_get(forage *f, const char *id, const char *options, forage_reply **out,
               forage_error *error) {
    fo_err err = {0};
    json_in in;
    cJSON *root = NULL;
    store_document d = {0};
    int rc = forage_check(f, out, &err);
    if (!rc && !id) rc = fo_fail_field(&err, FO_EINVAL, "id", "id is NULL");
    if (!rc) rc = forage_options(&in, &root, options, &err);
    if (!rc) {
        const char *collection = read_collection(&in);
        bool text = json_in_bool(&in, "text", true);
        rc = json_in_end(&in);
        if (!rc)
            rc = catalog_get_document(service_catalog(f->service), ACCESS_OWNER, collection, id,
                                      NULL, text, &d, &err);
    }
    if (!rc) {
        fo_buf b = {0};
        json_out o = {&b, false};
        documents_json_document(&o, &d);
        rc = forage_reply_make(out, &b, &err);
    }
    store_document_deinit(&d);
    cJSON_Delete(root);
    return forage_hand_out(rc, &err, error);
}

/* options.filter; *out is the caller's, NULL where there is none. */
static int read_filter(json_in *in, search_filter **out, fo_err *err) {
    const cJSON *filter = json_in_any(in, "filter");
    return filter && !json_in_failed(in) ? query_json_filter(out, filter, err) : FO_OK;
}

static int write_page(const store_document *docs, size_t n, bool more, forage_reply **out,
                      fo_err *err) {
    fo_buf b = {0};
    json_out o = {&b, false};
    json_out_open(&o, NULL, '{');
    documents_json_page(&o, docs, n, more);
    json_out_close(&o, '}');
    return forage_reply_make(out, &b, err);
}

int forage_list(forage *f, const char *options, forage_reply **out, forage_error *error) {
    fo_err err = {0};
    json_in in;
    cJSON *root = NULL;
    search_filter *filter = NULL;
    store_document *docs = NULL;
    size_t n = 0;
    bool more = false;
    int rc = forage_check(f, out, &err);
    if (!rc) rc = forage_options(&in, &root, options, &err);
    if (!rc) {
        const char *collection = read_collection(&in);
        catalog_search q = {.after = json_in_string(&in, "after", NULL, 1, ID_MAX),
                            .text = json_in_string(&in, "q", NULL, 1, 400),
                            .limit = (size_t)json_in_int(&in, "limit", 100, 1, TEXT_MAX_PAGE)};
        rc = read_filter(&in, &filter, &err);
        q.filter = filter;
        if (!rc) rc = json_in_end(&in);
        if (!rc)
            rc = catalog_find_documents(service_catalog(f->service), ACCESS_OWNER, collection, &q,
                                        &docs, &n, &more, &err);
    }
    if (!rc) rc = write_page(docs, n, more, out, &err);
    for (size_t i = 0; i < n; i++) store_document_deinit(&docs[i]);
    free(docs);
    search_filter_free(filter);
    cJSON_Delete(root);
    return forage_hand_out(rc, &err, error);
}

int forage_collections(forage *f, forage_reply **out, forage_error *error) {
    fo_err err = {0};
    store_collection *list = NULL;
    size_t n = 0;
    int rc = forage_check(f, out, &err);
    if (!rc)
        rc = catalog_list_collections(service_catalog(f->service), ACCESS_OWNER, &list, &n, &err);
    if (!rc) {
        fo_buf b = {0};
        json_out o = {&b, false};
        json_out_open(&o, NULL, '{');
        json_out_open(&o, "data", '[');
        for (size_t i = 0; i < n; i++) documents_json_collection(&o, &list[i]);
        json_out_close(&o, ']');
        json_out_close(&o, '}');
        rc = forage_reply_make(out, &b, &err);
    }
    for (size_t i = 0; i < n; i++) store_collection_deinit(&list[i]);
    free(list);
    return forage_hand_out(rc, &err, error);
}

/* ---- out ------------------------------------------------------------------------------------------ */

static int delete_one(forage *f, const char *collection, const char *id, json_out *o, fo_err *err) {
    int64_t epoch = 0;
    int rc = service_delete_document(f->service, ACCESS_OWNER, collection, id, NULL, &epoch, err);
    json_out_string(o, "id", id);
    json_out_bool(o, "deleted", true);
    json_out_int(o, "epoch", epoch);
    return rc;
}

static int delete_matching(forage *f, const delete_request *asked, json_out *o, fo_err *err) {
    documents_ids ids = {0};
    delete_report done = {0};
    delete_request q = *asked;
    q.each = documents_ids_add;
    q.ctx = &ids;
    int rc = service_delete_documents(f->service, &q, &done, err);
    json_out_string(o, "collection", q.collection);
    documents_json_deletion(o, &done, q.dry_run);
    documents_ids_write(o, &ids);
    documents_ids_deinit(&ids);
    return rc;
}

int forage_delete(forage *f, const char *id, const char *options, forage_reply **out,
                  forage_error *error) {
    fo_err err = {0};
    json_in in;
    cJSON *root = NULL;
    search_filter *filter = NULL;
    fo_buf b = {0};
    json_out o = {&b, false};
    json_out_open(&o, NULL, '{');
    int rc = forage_check(f, out, &err);
    if (!rc) rc = forage_options(&in, &root, options, &err);
    if (!rc) {
        delete_request q = {.tenant = ACCESS_OWNER, .collection = read_collection(&in)};
        if (!id) {
            rc = read_filter(&in, &filter, &err);
            q.filter = filter;
            q.text = json_in_string(&in, "q", NULL, 1, 400);
            q.dry_run = json_in_bool(&in, "dry_run", false);
        }
        if (!rc) rc = json_in_end(&in);
        /* Everything is deleted with its collection, or by {"type":"and","filters":[]}. */
        if (!rc && !id && !filter && !q.text)
            rc = fo_fail_field(&err, FO_EINVAL, "filter", "an id, a filter or q is needed");
        if (!rc)
            rc = id ? delete_one(f, q.collection, id, &o, &err) : delete_matching(f, &q, &o, &err);
    }
    json_out_close(&o, '}');
    if (!rc) rc = forage_reply_make(out, &b, &err);
    fo_buf_free(&b);
    search_filter_free(filter);
    cJSON_Delete(root);
    return forage_hand_out(rc, &err, error);
}

int forage_delete_collection(forage *f, const char *name, forage_error *error) {
    fo_err err = {0};
    int rc = forage_check(f, f, &err);
    if (!rc && !name) rc = fo_fail_field(&err, FO_EINVAL, "name", "name is NULL");
    if (!rc) rc = service_delete_collection(f->service, ACCESS_OWNER, name, NULL, &err);
    return forage_hand_out(rc, &err, error);
}
