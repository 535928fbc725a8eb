/* POST /ingest: JSON, NDJSON, a form with files, or one raw document.
 *
 * A body is read through an ingest_source: straight from the connection where it can be, from a
 * spool where the whole of it must be known first (an Idempotency-Key, which covers its hash) or
 * where the connection will not wait (wait=false, a job). NDJSON and forms are never held in
 * memory: a batch is, and what became of the documents goes to a spool as well. */
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/extract/extract.h"
#include "server/routes/app.h"
#include "server/routes/ingest_batch.h"
#include "server/base/json.h"
#include "server/base/log.h"
#include "server/http/multipart.h"

#define READ_BYTES       (64u << 10)
#define LINE_MAX_BYTES   (64u << 20)
#define SPOOL_MAX_BYTES  ((uint64_t)16 << 30)
#define DOCUMENTS_MAX    100000
#define STORED_MAX_BYTES (64u << 20)
#define FIELD_MAX_BYTES  (64u << 10)
#define JOB_ERRORS_MAX   100

enum body_format { FORMAT_JSON, FORMAT_NDJSON, FORMAT_FORM, FORMAT_RAW };

/* Everything that says how the documents are to be stored; owns its strings. */
typedef struct ingest_call {
    app *app;
    enum body_format format;
    char *content_type; /* the whole header */
    char *collection, *language;
    char *id, *title, *uri; /* of a raw body */
    size_t max_tokens, overlap;
    bool wait;
    spool *body;     /* NULL: from the connection */
    http_request *r; /* NULL in a job */
    job *job;        /* NULL in a request */
    ingest_batch *batch;
    spool *results; /* NULL in a job */
    atomic_bool *cancel;
    uint64_t body_at;
    /* job: the first failures */
    fo_buf errors;
    size_t n_errors;
    /* how a raw document failed, to be answered with a status of its own */
    fo_err raw_error;
} ingest_call;

static void call_free(void *p) {
    ingest_call *c = p;
    if (!c) return;
    free(c->content_type);
    free(c->collection);
    free(c->language);
    free(c->id);
    free(c->title);
    free(c->uri);
    spool_free(c->body);
    spool_free(c->results);
    ingest_batch_free(c->batch);
    fo_buf_free(&c->errors);
    free(c);
}

static ssize_t read_body(ingest_call *c, void *buf, size_t n, fo_err *err) {
    if (!c->body) return http_body_read(c->r, buf, n, err);
    if (*c->cancel) return fo_fail(err, FO_ECANCELLED, "cancelled");
    ssize_t got = spool_read(c->body, c->body_at, buf, n, err);
    if (got > 0) c->body_at += (uint64_t)got;
    return got;
}

/* The whole body, at most max bytes. */
static int read_all(ingest_call *c, size_t max, fo_buf *out, fo_err *err) {
    for (;;) {
        if (!fo_buf_reserve(out, READ_BYTES)) return fo_fail(err, FO_ENOMEM, "out of memory");
        ssize_t n = read_body(c, out->data + out->len, READ_BYTES, err);
        if (n < 0) return (int)n;
        if (n == 0) return FO_OK;
        out->len += (size_t)n;
        out->data[out->len] = 0;
        if (out->len > max)
            return fo_fail(err, FO_ELIMIT,
                           "the body is larger than %zu bytes; send "
                           "application/x-ndjson, which may be of any length",
                           max);
    }
}

/* ---- progress and failures ------------------------------------------------------------------ */

static void on_progress(void *ctx, const ingest_totals *t) {
    ingest_call *c = ctx;
    if (c->job) job_progress(c->job, -1, (int64_t)t->n_all, (int64_t)t->n[INGEST_FAILED]);
}

static void on_failed(void *ctx, const char *id, const fo_err *why) {
    ingest_call *c = ctx;
    if (c->format == FORMAT_RAW) c->raw_error = *why;
    if (!c->job || c->n_errors >= JOB_ERRORS_MAX) return;
    json_out o = {&c->errors, c->n_errors > 0};
    c->n_errors++;
    json_out_open(&o, NULL, '{');
    json_out_string(&o, "id", id);
    const char *code;
    http_status_of(why, &code);
    json_out_string(&o, "code", code);
    json_out_string(&o, "message", why->msg);
    json_out_string(&o, "param", why->field[0] ? why->field : NULL);
    json_out_close(&o, '}');
}

static int open_batch(ingest_call *c, fo_err *err) {
    if (c->batch) return FO_OK;
    if (!service_name_valid(c->collection))
        return fo_fail_field(err, FO_EINVAL, "collection",
                             "collection must be 1 to 64 of A-Z a-z 0-9 _ - . and not begin with a "
                             "dot");
    size_t tokens = c->max_tokens ? c->max_tokens : 256;
    if (c->overlap != SIZE_MAX && c->overlap >= tokens / 2)
        return fo_fail_field(err, FO_EINVAL, "chunking.overlap",
                             "chunking.overlap must be less than half of max_tokens (%zu)", tokens);
    ingest_batch_options opt = {
        .service = c->app->service,
        .ingest = {.tenant = "default",
                   .collection = c->collection,
                   .language = c->language,
                   .max_tokens = c->max_tokens,
                   .overlap = c->overlap,
                   .cancel = c->cancel},
        .results = c->results,
        .progress = on_progress,
        .failed = on_failed,
        .ctx = c,
    };
    if (c->r) opt.ingest.tenant = app_tenant(c->r);
    return ingest_batch_create(&c->batch, &opt, err);
}

/* ---- the four formats ----------------------------------------------------------------------- */

static int set_string(char **to, const char *s, fo_err *err) {
    char *copy = strdup(s);
    if (!copy) return fo_fail(err, FO_ENOMEM, "out of memory");
    free(*to);
    *to = copy;
    return FO_OK;
}

static int read_json(ingest_call *c, const cJSON *root, fo_err *err) {
    json_in in, chunking;
    fo_err why = {0};
    json_in_object(&in, root, "", &why);
    if (!in.object && !why.code)
        fo_fail(&why, FO_EINVAL, "the body must be an object with documents");
    const char *collection = json_in_string(&in, "collection", NULL, 1, 64);
    const char *language = json_in_string(&in, "language", NULL, 1, 32);
    json_in_bool(&in, "wait", true); /* decided before, by wants_job */
    json_in_child(&chunking, &in, "chunking");
    int64_t max_tokens = json_in_int(&chunking, "max_tokens", 0, 16, 8192);
    int64_t overlap = json_in_int(&chunking, "overlap", -1, 0, 4095);
    json_in_end(&chunking);
    const cJSON *documents = json_in_array(&in, "documents", DOCUMENTS_MAX);
    json_in_end(&in);
    if (!why.code && !documents)
        fo_fail_field(&why, FO_EINVAL, "documents", "documents is missing");
    if (why.code) {
        *err = why;
        return why.code;
    }
    if (max_tokens) c->max_tokens = (size_t)max_tokens;
    if (overlap >= 0) c->overlap = (size_t)overlap;
    int rc = FO_OK;
    if (collection) rc = set_string(&c->collection, collection, err);
    if (!rc && language) rc = set_string(&c->language, language, err);
    if (!rc) rc = open_batch(c, err);
    size_t i = 0;
    for (const cJSON *d = documents->child; d && !rc; d = d->next) {
        char label[32];
        snprintf(label, sizeof label, "documents[%zu]", i++);
        rc = ingest_batch_add_object(c->batch, d, label, err);
    }
    return rc;
}

static int ingest_json(ingest_call *c, fo_err *err) {
    fo_buf body = {0};
    cJSON *root = NULL;
    int rc = read_all(c, c->app->max_document_bytes, &body, err);
    if (!rc) rc = json_parse(body.data ? body.data : "", body.len, &root, err);
    fo_buf_free(&body);
    if (!rc) rc = read_json(c, root, err);
    cJSON_Delete(root);
    return rc;
}

static int add_line(ingest_call *c, const char *line, size_t len, size_t number, fo_err *err) {
    while (len && (line[len - 1] == '\r' || line[len - 1] == ' ')) len--;
    if (len && number == 1 && len >= 3 && !memcmp(line, "\xEF\xBB\xBF", 3)) line += 3, len -= 3;
    if (!len) return FO_OK;
    char label[32];
    snprintf(label, sizeof label, "line %zu", number);
    return ingest_batch_add_json(c->batch, line, len, label, err);
}

static int ingest_ndjson(ingest_call *c, fo_err *err) {
    int rc = open_batch(c, err);
    fo_buf held = {0};
    size_t number = 0;
    while (!rc) {
        if (!fo_buf_reserve(&held, READ_BYTES)) {
            rc = fo_fail(err, FO_ENOMEM, "out of memory");
            break;
        }
        ssize_t n = read_body(c, held.data + held.len, READ_BYTES, err);
        if (n < 0) rc = (int)n;
        if (n <= 0) break;
        size_t scan = held.len, from = 0;
        held.len += (size_t)n;
        while (!rc) {
            char *end = memchr(held.data + scan, '\n', held.len - scan);
            if (!end) break;
            size_t at = (size_t)(end - held.data);
            rc = add_line(c, held.data + from, at - from, ++number, err);
            from = scan = at + 1;
        }
        memmove(held.data, held.data + from, held.len - from);
        held.len -= from;
        if (!rc && held.len > LINE_MAX_BYTES)
            rc = fo_fail(err, FO_ELIMIT, "line %zu is longer than %u bytes", number + 1,
                         LINE_MAX_BYTES);
    }
    if (!rc && held.len) rc = add_line(c, held.data, held.len, ++number, err);
    fo_buf_free(&held);
    return rc;
}

typedef struct form_state {
    ingest_call *c;
    fo_buf data;
    char field[64];
    char *file_name, *type;
    bool is_file, file_seen;
    char *metadata; /* for the files that follow */
} form_state;

static int form_begin(void *ctx, const multipart_part *part, fo_err *err) {
    form_state *f = ctx;
    fo_buf_clear(&f->data);
    free(f->file_name);
    free(f->type);
    f->file_name = f->type = NULL;
    f->is_file = part->file_name != NULL;
    if (strlen(part->name) >= sizeof f->field)
        return fo_fail(err, FO_EINVAL, "the name of a form field is too long");
    strcpy(f->field, part->name);
    if (part->file_name && *part->file_name && !(f->file_name = strdup(part->file_name)))
        return fo_fail(err, FO_ENOMEM, "out of memory");
    if (part->type && !(f->type = strdup(part->type)))
        return fo_fail(err, FO_ENOMEM, "out of memory");
    return FO_OK;
}

static int form_data(void *ctx, const char *data, size_t n, fo_err *err) {
    form_state *f = ctx;
    size_t max = f->is_file ? f->c->app->max_document_bytes : FIELD_MAX_BYTES;
    if (n > max - f->data.len)
        return fo_fail_field(err, FO_ELIMIT, f->field, "'%.200s' is larger than %zu bytes",
                             f->file_name ? f->file_name : f->field, max);
    fo_buf_add(&f->data, data, n);
    return f->data.failed ? fo_fail(err, FO_ENOMEM, "out of memory") : FO_OK;
}

static int form_number(form_state *f, size_t min, size_t max, size_t *out, fo_err *err) {
    char *end;
    unsigned long long v = strtoull(f->data.data, &end, 10);
    if (end == f->data.data || *end || v < min || v > max)
        return fo_fail_field(err, FO_EINVAL, f->field, "%s must be a number between %zu and %zu",
                             f->field, min, max);
    *out = (size_t)v;
    return FO_OK;
}

static int form_field(form_state *f, fo_err *err) {
    ingest_call *c = f->c;
    fo_buf_add(&f->data, "", 0);
    if (!f->data.data) fo_buf_reserve(&f->data, 1), f->data.data[0] = 0;
    const char *value = f->data.data;
    if (memchr(value, 0, f->data.len))
        return fo_fail_field(err, FO_EINVAL, f->field, "'%s' holds a NUL", f->field);
    if (!strcmp(f->field, "metadata")) {
        cJSON *root;
        int rc = json_parse(value, f->data.len, &root, err);
        if (rc) return rc;
        bool object = cJSON_IsObject(root);
        cJSON_Delete(root);
        if (!object)
            return fo_fail_field(err, FO_EINVAL, "metadata", "metadata must be a JSON object");
        return set_string(&f->metadata, value, err);
    }
    if (!strcmp(f->field, "id")) return set_string(&c->id, value, err);
    if (!strcmp(f->field, "title")) return set_string(&c->title, value, err);
    if (!strcmp(f->field, "uri")) return set_string(&c->uri, value, err);
    bool of_all = !strcmp(f->field, "collection") || !strcmp(f->field, "language") ||
                  !strcmp(f->field, "max_tokens") || !strcmp(f->field, "overlap");
    if (!of_all)
        return fo_fail_field(
            err, FO_EINVAL, f->field,
            "unknown form field '%s': fields are collection, language, max_tokens, "
            "overlap, metadata, id, title, uri; documents are sent as files",
            f->field);
    if (f->file_seen)
        return fo_fail_field(err, FO_EINVAL, f->field, "'%s' must come before the files", f->field);
    if (!strcmp(f->field, "collection")) return set_string(&c->collection, value, err);
    if (!strcmp(f->field, "language")) return set_string(&c->language, value, err);
    if (!strcmp(f->field, "max_tokens")) return form_number(f, 16, 8192, &c->max_tokens, err);
    return form_number(f, 0, 4095, &c->overlap, err);
}

static int form_end(void *ctx, fo_err *err) {
    form_state *f = ctx;
    ingest_call *c = f->c;
    if (!f->is_file) return form_field(f, err);
    f->file_seen = true;
    int rc = open_batch(c, err);
    if (rc) return rc;
    /* Browsers and curl say octet-stream where they do not know: sniff then. */
    const char *type =
        f->type && strncasecmp(f->type, "application/octet-stream", 24) ? f->type : NULL;
    ingest_document d = {.id = c->id,
                         .title = c->title,
                         .uri = c->uri ? c->uri : f->file_name,
                         .content_type = type,
                         .file_name = f->file_name,
                         .metadata = f->metadata,
                         .bytes = f->data.data ? f->data.data : "",
                         .n_bytes = f->data.len};
    rc = ingest_batch_add(c->batch, &d, err);
    free(c->id);
    free(c->title);
    free(c->uri);
    c->id = c->title = c->uri = NULL;
    return rc;
}

static int ingest_form(ingest_call *c, fo_err *err) {
    form_state f = {.c = c};
    multipart *m = NULL;
    char *buf = malloc(READ_BYTES);
    multipart_sink sink = {&f, form_begin, form_data, form_end};
    int rc = buf ? multipart_create(&m, c->content_type, &sink, err)
                 : fo_fail(err, FO_ENOMEM, "out of memory");
    while (!rc) {
        ssize_t n = read_body(c, buf, READ_BYTES, err);
        if (n < 0) rc = (int)n;
        if (n <= 0) break;
        rc = multipart_feed(m, buf, (size_t)n, err);
    }
    if (!rc) rc = multipart_finish(m, err);
    if (!rc && !f.file_seen) rc = fo_fail_field(err, FO_EINVAL, "file", "the form holds no file");
    multipart_free(m);
    fo_buf_free(&f.data);
    free(f.file_name);
    free(f.type);
    free(f.metadata);
    free(buf);
    return rc;
}

static int ingest_raw(ingest_call *c, fo_err *err) {
    fo_buf body = {0};
    int rc = open_batch(c, err);
    if (!rc) rc = read_all(c, c->app->max_document_bytes, &body, err);
    if (!rc && !body.len) rc = fo_fail(err, FO_EINVAL, "the body is empty");
    if (!rc) {
        ingest_document d = {.id = c->id,
                             .title = c->title,
                             .uri = c->uri,
                             .content_type = c->content_type,
                             .bytes = body.data,
                             .n_bytes = body.len};
        rc = ingest_batch_add(c->batch, &d, err);
    }
    fo_buf_free(&body);
    return rc;
}

static int ingest_all(ingest_call *c, fo_err *err) {
    int rc = c->format == FORMAT_JSON     ? ingest_json(c, err)
             : c->format == FORMAT_NDJSON ? ingest_ndjson(c, err)
             : c->format == FORMAT_FORM   ? ingest_form(c, err)
                                          : ingest_raw(c, err);
    if (!rc && c->batch) rc = ingest_batch_flush(c->batch, err);
    if (c->batch) metrics_ingest(c->app->metrics, ingest_batch_totals(c->batch)->n);
    return rc;
}

/* ---- as a job ------------------------------------------------------------------------------- */

static int run_job(void *ctx, job *j, fo_buf *result, fo_err *err) {
    ingest_call *c = ctx;
    c->job = j;
    c->cancel = job_cancel_flag(j);
    int64_t began = log_now_ms();
    int rc = ingest_all(c, err);
    const ingest_totals zero = {0};
    const ingest_totals *t = c->batch ? ingest_batch_totals(c->batch) : &zero;
    job_progress(j, (int64_t)t->n_all, (int64_t)t->n_all, (int64_t)t->n[INGEST_FAILED]);
    json_out o = {result, false};
    json_out_open(&o, NULL, '{');
    json_out_string(&o, "collection", c->collection);
    json_out_int(&o, "epoch", t->report.epoch);
    for (int i = 0; i < 4; i++)
        json_out_int(&o, ingest_status_name((enum ingest_status)i), (int64_t)t->n[i]);
    json_out_int(&o, "chunks", (int64_t)t->n_chunks);
    fo_buf_str(result, ",\"errors\":[");
    if (c->errors.len) fo_buf_add(result, c->errors.data, c->errors.len);
    fo_buf_str(result, "],\"timings_ms\":");
    ingest_write_timings(result, &t->report, (double)(log_now_ms() - began));
    json_out_close(&o, '}');
    return rc;
}

static int start_job(ingest_call *c, http_request *r, fo_buf *reply, fo_err *err) {
    c->r = NULL;
    char collection[65];
    snprintf(collection, sizeof collection, "%s", c->collection);
    int64_t id;
    int rc = jobs_add(c->app->jobs, app_tenant(r), "ingest", collection, run_job, call_free, c, &id,
                      err);
    if (rc) return rc;
    json_out o = {reply, false};
    char name[32];
    snprintf(name, sizeof name, "job_%lld", (long long)id);
    json_out_open(&o, NULL, '{');
    json_out_string(&o, "job_id", name);
    json_out_string(&o, "status", "queued");
    json_out_string(&o, "collection", collection);
    json_out_close(&o, '}');
    return FO_OK;
}

/* ---- the request ---------------------------------------------------------------------------- */

static bool type_known(const char *type) {
    size_t len = strlen(type);
    if (!strcmp(type, "application/octet-stream")) return true;
    const extract_format *f;
    for (size_t i = 0; (f = extract_format_at(i)); i++)
        for (const char *p = f->media_types; p && *p;) {
            size_t n = strcspn(p, " ");
            if (n == len && !memcmp(p, type, n)) return true;
            p += n;
            while (*p == ' ') p++;
        }
    return false;
}

static void refuse_type(http_request *r, const char *type) {
    fo_buf list = {0};
    const extract_format *f;
    for (size_t i = 0; (f = extract_format_at(i)); i++)
        if (f->media_types && *f->media_types)
            fo_buf_printf(&list, ", %.*s", (int)strcspn(f->media_types, " "), f->media_types);
    http_error(r, 415, "unsupported_media_type", NULL,
               "%.100s is not taken; send application/json, application/x-ndjson, "
               "multipart/form-data%s",
               *type ? type : "a body without content type", list.data ? list.data : "");
    fo_buf_free(&list);
}

static bool choose_format(http_request *r, ingest_call *c) {
    const char *t = http_body_type(r);
    if (!strcmp(t, "application/json"))
        c->format = FORMAT_JSON;
    else if (!strcmp(t, "application/x-ndjson") || !strcmp(t, "application/jsonl") ||
             !strcmp(t, "application/ndjson"))
        c->format = FORMAT_NDJSON;
    else if (!strcmp(t, "multipart/form-data"))
        c->format = FORMAT_FORM;
    else if (type_known(t))
        c->format = FORMAT_RAW;
    else
        return refuse_type(r, t), false;
    const char *of_raw[] = {"id", "title", "uri"};
    for (size_t i = 0; i < 3 && c->format != FORMAT_RAW; i++)
        if (http_arg(r, of_raw[i])) {
            http_error(r, 400, "bad_field", of_raw[i],
                       "?%s= goes with a raw body; here every document has its own", of_raw[i]);
            return false;
        }
    return true;
}

static ingest_call *call_create(http_request *r, app *a) {
    ingest_call *c = calloc(1, sizeof *c);
    int64_t max_tokens, overlap;
    bool ok = c != NULL;
    if (ok) {
        c->app = a;
        c->r = r;
        c->cancel = http_cancel(r);
        ok = choose_format(r, c);
    }
    const char *collection = ok ? app_collection_arg(r) : NULL;
    ok = ok && collection && http_arg_bool(r, "wait", true, &c->wait) &&
         http_arg_int(r, "max_tokens", 0, 16, 8192, &max_tokens) &&
         http_arg_int(r, "overlap", -1, 0, 4095, &overlap);
    fo_err err = {0};
    const char *type = http_header(r, "Content-Type");
    if (ok) {
        c->max_tokens = (size_t)max_tokens;
        c->overlap = overlap < 0 ? SIZE_MAX : (size_t)overlap;
        if (type && strcmp(http_body_type(r), "application/octet-stream"))
            set_string(&c->content_type, type, &err);
        set_string(&c->collection, collection, &err);
        const char *v;
        if ((v = http_arg(r, "language"))) set_string(&c->language, v, &err);
        if ((v = http_arg(r, "id"))) set_string(&c->id, v, &err);
        if ((v = http_arg(r, "title"))) set_string(&c->title, v, &err);
        if ((v = http_arg(r, "uri"))) set_string(&c->uri, v, &err);
    }
    if (c && ok && !err.code) return c;
    if (!http_replied(r)) http_error(r, 500, "internal", NULL, "out of memory");
    call_free(c);
    return NULL;
}

static int spool_body(ingest_call *c, http_request *r, fo_err *err) {
    spool *s = NULL;
    char *buf = malloc(READ_BYTES);
    int rc =
        buf ? spool_create(&s, http_spool_dir(r), err) : fo_fail(err, FO_ENOMEM, "out of memory");
    bool small = c->format == FORMAT_JSON || c->format == FORMAT_RAW;
    uint64_t max = small ? c->app->max_document_bytes : SPOOL_MAX_BYTES;
    while (!rc) {
        ssize_t n = http_body_read(r, buf, READ_BYTES, err);
        if (n < 0) rc = (int)n;
        if (n <= 0) break;
        rc = spool_write(s, buf, (size_t)n, err);
        if (!rc && spool_size(s) > max)
            rc = fo_fail(err, FO_ELIMIT, "the body is larger than %llu bytes",
                         (unsigned long long)max);
    }
    free(buf);
    if (rc) {
        spool_free(s);
        return rc;
    }
    c->body = s;
    c->body_at = 0;
    return FO_OK;
}

/* A JSON body says itself whether it waits. The spool is read once more for it: cheap beside what
 * follows, and only JSON bodies (bounded) come here. */
static bool wants_job(ingest_call *c) {
    if (!c->wait) return true;
    if (c->format != FORMAT_JSON) return false;
    fo_buf body = {0};
    cJSON *root = NULL;
    bool wanted = false;
    if (read_all(c, c->app->max_document_bytes, &body, NULL) == FO_OK &&
        json_parse(body.data ? body.data : "", body.len, &root, NULL) == FO_OK)
        wanted = cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(root, "wait"));
    cJSON_Delete(root);
    fo_buf_free(&body);
    c->body_at = 0;
    return wanted;
}

/* The same key must come with the same body, sent the same way. */
static int body_hash(ingest_call *c, http_request *r, unsigned char out[32], fo_err *err) {
    unsigned char body[32];
    int rc = spool_sha256(c->body, body, err);
    if (rc) return rc;
    fo_buf b = {0};
    fo_buf_add(&b, body, sizeof body);
    static const char *const args[] = {"collection", "wait",       "id",      "title",
                                       "uri",        "max_tokens", "overlap", "language"};
    for (size_t i = 0; i < sizeof args / sizeof *args; i++) {
        const char *v = http_arg(r, args[i]);
        fo_buf_printf(&b, "%zu:%s;", v ? strlen(v) + 1 : 0, v ? v : "");
    }
    fo_buf_str(&b, http_body_type(r));
    unsigned n = 32;
    if (b.failed || EVP_Digest(b.data, b.len, out, &n, EVP_sha256(), NULL) != 1)
        rc = fo_fail(err, FO_ENOMEM, "SHA-256 failed");
    fo_buf_free(&b);
    return rc;
}

/* True: the key is ours and the work is to be done; else a reply stands. */
static bool claim(ingest_call *c, http_request *r, const char *key) {
    fo_err err = {0};
    unsigned char sha[32];
    enum store_idem state = STORE_IDEM_NEW;
    int status = 0;
    char *first = NULL;
    int rc = strlen(key) == 0 || strlen(key) > 255
                 ? fo_fail_field(&err, FO_EINVAL, "Idempotency-Key",
                                 "Idempotency-Key must have 1 to 255 characters")
                 : body_hash(c, r, sha, &err);
    if (!rc)
        rc = store_idem_claim(service_store(c->app->service), app_tenant(r), "/ingest", key, sha,
                              &state, &status, &first, &err);
    if (rc) {
        http_error_from(r, &err);
        return false;
    }
    switch (state) {
    case STORE_IDEM_NEW:
        return true;
    case STORE_IDEM_RUNNING:
        http_set_header(r, "Retry-After", "1");
        http_error(r, 409, "idempotency_running", "Idempotency-Key",
                   "a request with this Idempotency-Key is still running");
        break;
    case STORE_IDEM_OTHER_BODY:
        http_error(r, 422, "idempotency_mismatch", "Idempotency-Key",
                   "this Idempotency-Key came with another body before");
        break;
    case STORE_IDEM_DONE:
        http_set_header(r, "Idempotent-Replayed", "true");
        http_reply(r, status, "application/json", first ? first : "", first ? strlen(first) : 0);
        break;
    }
    free(first);
    return false;
}

static void finish_claim(app *a, http_request *r, const char *key, int status, const char *reply) {
    fo_err err = {0};
    store *s = service_store(a->service);
    int rc = reply ? store_idem_finish(s, app_tenant(r), "/ingest", key, status, reply, &err)
                   : store_idem_abandon(s, app_tenant(r), "/ingest", key, &err);
    if (rc) log_event(LOG_LEVEL_ERROR, http_id(r), "idempotency", LOG_STR("error", err.msg));
}

/* The reply around the results that stand in c->results already. */
static int write_reply(ingest_call *c, double total_ms, spool **out, fo_err *err) {
    const ingest_totals *t = ingest_batch_totals(c->batch);
    spool *s;
    int rc = spool_create(&s, c->app->spool_dir, err);
    if (rc) return rc;
    fo_buf b = {0};
    json_out o = {&b, false};
    json_out_open(&o, NULL, '{');
    json_out_string(&o, "collection", c->collection);
    json_out_int(&o, "epoch", t->report.epoch);
    fo_buf_str(&b, ",\"results\":[");
    rc = spool_write(s, b.data, b.len, err);
    char *buf = malloc(READ_BYTES);
    for (uint64_t at = 0; !rc && buf && at < spool_size(c->results);) {
        ssize_t n = spool_read(c->results, at, buf, READ_BYTES, err);
        if (n <= 0) {
            rc = n < 0 ? (int)n : FO_EIO;
            break;
        }
        at += (uint64_t)n;
        rc = spool_write(s, buf, (size_t)n, err);
    }
    free(buf);
    fo_buf_clear(&b);
    fo_buf_str(&b, "],\"timings_ms\":");
    ingest_write_timings(&b, &t->report, total_ms);
    fo_buf_char(&b, '}');
    if (!rc)
        rc = b.failed || !buf ? fo_fail(err, FO_ENOMEM, "out of memory")
                              : spool_write(s, b.data, b.len, err);
    fo_buf_free(&b);
    if (rc) {
        spool_free(s);
        return rc;
    }
    *out = s;
    return FO_OK;
}

/* The text of a spool where it is short enough to be kept; caller frees. */
static char *spool_text(spool *s) {
    uint64_t size = spool_size(s);
    if (size > STORED_MAX_BYTES) return NULL;
    char *text = malloc((size_t)size + 1);
    for (uint64_t at = 0; text && at < size;) {
        ssize_t n = spool_read(s, at, text + at, (size_t)(size - at), NULL);
        if (n <= 0) return free(text), NULL;
        at += (uint64_t)n;
    }
    if (text) text[size] = 0;
    return text;
}

/* Do the work while the client waits. Returns the status replied; *kept: the reply's text when
 * want_text. */
static int ingest_now(ingest_call *c, http_request *r, bool want_text, char **kept) {
    fo_err err = {0};
    int64_t began = log_now_ms();
    spool *reply = NULL;
    int rc = spool_create(&c->results, c->app->spool_dir, &err);
    if (!rc) rc = ingest_all(c, &err);
    if (!rc && c->raw_error.code) { /* the one document of a raw body */
        err = c->raw_error;
        rc = err.code;
        if (rc == FO_EUNSUPPORTED) {
            http_error(r, 415, "unsupported_media_type", NULL, "%s", err.msg);
            return 415;
        }
        if (rc == FO_EINVAL) {
            http_error(r, 422, "unusable", err.field, "%s", err.msg);
            return 422;
        }
    }
    if (!rc) rc = write_reply(c, (double)(log_now_ms() - began), &reply, &err);
    if (rc) {
        http_error_from(r, &err);
        return 500;
    }
    if (want_text) *kept = spool_text(reply);
    http_reply_spool(r, 200, "application/json", reply);
    return 200;
}

void route_ingest(http_request *r, void *ctx) {
    app *a = ctx;
    ingest_call *c = call_create(r, a);
    if (!c) return;
    const char *key = http_header(r, "Idempotency-Key");
    fo_err err = {0};
    if (key || !c->wait || c->format == FORMAT_JSON) {
        int rc = spool_body(c, r, &err);
        if (rc) {
            http_error_from(r, &err);
            call_free(c);
            return;
        }
    }
    bool as_job = wants_job(c);
    if (key && !claim(c, r, key)) {
        call_free(c);
        return;
    }
    if (as_job) {
        fo_buf reply = {0};
        int rc = start_job(c, r, &reply, &err);
        if (key) finish_claim(a, r, key, 202, rc ? NULL : reply.data);
        if (rc) {
            http_error_from(r, &err);
            call_free(c);
        } else {
            http_reply_json(r, 202, &reply);
        }
        fo_buf_free(&reply);
        return;
    }
    char *kept = NULL;
    int status = ingest_now(c, r, key != NULL, &kept);
    if (key) finish_claim(a, r, key, status, kept);
    free(kept);
    call_free(c);
}
