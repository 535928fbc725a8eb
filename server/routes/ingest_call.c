#include "server/routes/ingest_call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "data/extract/text_parts.h"
#include "server/base/json.h"
#include "server/base/request_limits.h"

#define READ_BYTES      (64u << 10)
#define LINE_MAX_BYTES  (64u << 20)
#define FIELD_MAX_BYTES (64u << 10)
#define JOB_ERRORS_MAX  100

/* What became of the documents, for /metrics; once. */
static void count_documents(ingest_call *c) {
    if (c->batch && !c->counted) metrics_ingest(c->app->metrics, ingest_batch_totals(c->batch)->n);
    c->counted = c->counted || c->batch;
}

void ingest_call_free(void *call) {
    ingest_call *c = call;
    if (!c) return;
    count_documents(c);
    access_grant_drop(c->grant);
    free(c->acl);
    free(c->content_type);
    free(c->tenant);
    free(c->collection);
    free(c->language);
    free(c->ocr_language);
    free(c->id);
    free(c->title);
    free(c->uri);
    spool_free(c->body);
    spool_free(c->results);
    fo_buf_free(&c->line);
    multipart_free(c->form.parser);
    fo_buf_free(&c->form.data);
    free(c->form.file_name);
    free(c->form.type);
    free(c->form.metadata);
    ingest_batch_free(c->batch);
    fo_buf_free(&c->errors);
    free(c);
}

size_t ingest_call_held(const ingest_call *c) {
    return c->line.cap + c->form.data.cap + (c->batch ? ingest_batch_held(c->batch) : 0) +
           (c->body ? spool_memory(c->body) : 0) + (c->results ? spool_memory(c->results) : 0);
}

int ingest_call_read(const ingest_call *c, size_t max, fo_buf *out, fo_err *err) {
    if (spool_size(c->body) > max)
        return fo_fail(err, FO_ELIMIT,
                       "the body is larger than the %zu bytes of --max-body; application/x-ndjson "
                       "and plain text may be of any length",
                       max);
    if (!fo_buf_reserve(out, (size_t)spool_size(c->body) + 1)) return fo_no_memory(err);
    for (;;) {
        ssize_t n = spool_read(c->body, out->len, out->data + out->len,
                               (size_t)spool_size(c->body) - out->len, err);
        if (n < 0) return (int)n;
        if (n == 0) break;
        out->len += (size_t)n;
    }
    out->data[out->len] = 0;
    return FO_OK;
}

int ingest_ocr_named(const char *word) {
    static const char *const words[] = {"off", "auto", "force"};
    for (int i = 0; i < 3; i++)
        if (!strcmp(word, words[i])) return INGEST_OCR_OFF + i;
    return 0;
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

int ingest_call_check_collection(const ingest_call *c, fo_err *err) {
    if (!service_name_valid(c->collection))
        return fo_fail_field(err, FO_EINVAL, "collection",
                             "collection must be 1 to 64 of A-Z a-z 0-9 _ - . and not begin with a "
                             "dot");
    return app_may_write(c->grant, c->collection, err);
}

static int open_batch(ingest_call *c, fo_err *err) {
    if (c->batch) return FO_OK;
    int rc = ingest_call_check_collection(c, err);
    if (rc) return rc;
    size_t tokens = c->max_tokens ? c->max_tokens : 256;
    if (c->overlap != SIZE_MAX && c->overlap >= tokens / 2)
        return fo_fail_field(err, FO_EINVAL, "chunking.overlap",
                             "chunking.overlap must be less than half of max_tokens (%zu)", tokens);
    ingest_batch_options opt = {
        .service = c->app->service,
        .ingest = {.tenant = c->tenant,
                   .collection = c->collection,
                   .language = c->language,
                   .max_tokens = c->max_tokens,
                   .overlap = c->overlap,
                   .ocr = c->ocr,
                   .ocr_language = c->ocr_language,
                   .cancel = c->cancel,
                   .counts = c->job ? job_counts(c->job) : NULL,
                   .sees = c->grant ? c->grant->key->sees : NULL},
        .acl = c->acl,
        .spool_dir = c->app->spool_dir,
        .results = c->results,
        .progress = on_progress,
        .failed = on_failed,
        .ctx = c,
    };
    return ingest_batch_create(&c->batch, &opt, err);
}

/* ---- the four formats ----------------------------------------------------------------------- */

static int set_string(char **to, const char *s, fo_err *err) {
    char *copy = strdup(s);
    if (!copy) return fo_no_memory(err);
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
    json_in_bool(&in, "wait", true); /* decided before the body was read for its documents */
    json_in_child(&chunking, &in, "chunking");
    int64_t max_tokens = json_in_int(&chunking, "max_tokens", 0, 16, 8192);
    int64_t overlap = json_in_int(&chunking, "overlap", -1, 0, 4095);
    json_in_end(&chunking);
    const cJSON *documents = json_in_array(&in, "documents", request_limits_now()->batch);
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

static int take_json(ingest_call *c, fo_err *err) {
    fo_buf body = {0};
    cJSON *root = NULL;
    int rc = ingest_call_read(c, c->app->max_document_bytes, &body, err);
    if (!rc) rc = json_parse(body.data, body.len, &root, err);
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

static int feed_lines(ingest_call *c, const char *data, size_t n, fo_err *err) {
    fo_buf *held = &c->line;
    size_t scan = held->len, from = 0;
    int rc = FO_OK;
    fo_buf_add(held, data, n);
    if (held->failed) return fo_no_memory(err);
    while (!rc) {
        char *end = memchr(held->data + scan, '\n', held->len - scan);
        if (!end) break;
        size_t at = (size_t)(end - held->data);
        rc = add_line(c, held->data + from, at - from, ++c->n_lines, err);
        from = scan = at + 1;
    }
    memmove(held->data, held->data + from, held->len - from);
    held->len -= from;
    if (!rc && held->len > LINE_MAX_BYTES)
        rc = fo_fail(err, FO_ELIMIT, "line %zu is longer than %u bytes", c->n_lines + 1,
                     LINE_MAX_BYTES);
    return rc;
}

/* The last line needs no end. */
static int end_lines(ingest_call *c, fo_err *err) {
    if (!c->line.len) return FO_OK;
    return add_line(c, c->line.data, c->line.len, ++c->n_lines, err);
}

static int form_begin(void *ctx, const multipart_part *part, fo_err *err) {
    ingest_call *c = ctx;
    ingest_form *f = &c->form;
    fo_buf_clear(&f->data);
    free(f->file_name);
    free(f->type);
    f->file_name = f->type = NULL;
    f->is_file = part->file_name != NULL;
    if (strlen(part->name) >= sizeof f->field)
        return fo_fail(err, FO_EINVAL, "the name of a form field is too long");
    strcpy(f->field, part->name);
    if (part->file_name && *part->file_name && !(f->file_name = strdup(part->file_name)))
        return fo_no_memory(err);
    if (part->type && !(f->type = strdup(part->type))) return fo_no_memory(err);
    f->parted = false;
    return FO_OK;
}

static ingest_document form_document(const ingest_call *c) {
    const ingest_form *f = &c->form;
    /* Browsers and curl say octet-stream where they do not know: sniff then. */
    const char *type =
        f->type && strncasecmp(f->type, "application/octet-stream", 24) ? f->type : NULL;
    return (ingest_document){.id = c->id,
                             .title = c->title,
                             .uri = c->uri ? c->uri : f->file_name,
                             .content_type = type,
                             .file_name = f->file_name,
                             .metadata = f->metadata,
                             .bytes = f->data.data ? f->data.data : "",
                             .n_bytes = f->data.len};
}

/* A text of more bytes goes in by parts: it is never too large for --max-body. */
static size_t whole_bytes(const ingest_call *c) {
    size_t max = c->app->max_document_bytes;
    return max < TEXT_WHOLE_BYTES ? max : TEXT_WHOLE_BYTES;
}

/* The file at hand is larger than what is held of one: a text goes on by parts. */
static int part_form(ingest_call *c, fo_err *err) {
    ingest_document d = form_document(c);
    text_kind kind;
    if (!ingest_batch_in_parts(&d, &kind)) return FO_OK;
    int rc = open_batch(c, err);
    if (!rc) rc = ingest_batch_begin_parts(c->batch, &d, &kind, err);
    if (!rc) rc = ingest_batch_feed_parts(c->batch, d.bytes, d.n_bytes, err);
    fo_buf_free(&c->form.data);
    c->form.parted = true;
    return rc;
}

static int form_data(void *ctx, const char *data, size_t n, fo_err *err) {
    ingest_call *c = ctx;
    ingest_form *f = &c->form;
    size_t before = f->data.len, max = f->is_file ? c->app->max_document_bytes : FIELD_MAX_BYTES;
    size_t whole = whole_bytes(c);
    if (f->is_file && !f->parted && before <= whole && before + n > whole) {
        int rc = part_form(c, err);
        if (rc) return rc;
    }
    if (f->parted) return ingest_batch_feed_parts(c->batch, data, n, err);
    if (n > max - f->data.len)
        return fo_fail_field(err, FO_ELIMIT, f->field,
                             f->is_file ? "'%.200s' is larger than the %zu bytes of --max-body"
                                        : "'%.200s' is larger than %zu bytes",
                             f->file_name ? f->file_name : f->field, max);
    fo_buf_add(&f->data, data, n);
    return f->data.failed ? fo_no_memory(err) : FO_OK;
}

int ingest_acl_read(char **out, const char *names, fo_err *err) {
    fo_buf b = {0};
    json_out o = {&b, false};
    json_out_open(&o, NULL, '[');
    for (const char *s = names; *s;) {
        size_t n = strcspn(s, ",");
        json_out_bytes(&o, NULL, s, n);
        s += n + (s[n] == ',');
    }
    json_out_close(&o, ']');
    free(*out);
    *out = fo_buf_take(&b, NULL);
    return *out ? FO_OK : fo_no_memory(err);
}

static int form_number(ingest_form *f, size_t min, size_t max, size_t *out, fo_err *err) {
    char *end;
    unsigned long long v = strtoull(f->data.data, &end, 10);
    if (end == f->data.data || *end || v < min || v > max)
        return fo_fail_field(err, FO_EINVAL, f->field, "%s must be a number between %zu and %zu",
                             f->field, min, max);
    *out = (size_t)v;
    return FO_OK;
}

static int form_field(ingest_call *c, fo_err *err) {
    ingest_form *f = &c->form;
    fo_buf_add(&f->data, "", 0);
    if (!f->data.data) fo_buf_reserve(&f->data, 1), f->data.data[0] = 0;
    const char *value = f->data.data;
    if (memchr(value, 0, f->data.len))
        return fo_fail_field(err, FO_EINVAL, f->field, "'%s' holds a NUL", f->field);
    if (!strcmp(f->field, "metadata")) {
        cJSON *root;
        int rc = json_parse(value, f->data.len, &root, err);
        if (rc) return rc;
        rc = cJSON_IsObject(root)
                 ? json_refuse_rounded(root, "metadata", err)
                 : fo_fail_field(err, FO_EINVAL, "metadata", "metadata must be a JSON object");
        cJSON_Delete(root);
        if (rc) return rc;
        return set_string(&f->metadata, value, err);
    }
    if (!strcmp(f->field, "id")) return set_string(&c->id, value, err);
    if (!strcmp(f->field, "title")) return set_string(&c->title, value, err);
    if (!strcmp(f->field, "uri")) return set_string(&c->uri, value, err);
    bool of_all = !strcmp(f->field, "collection") || !strcmp(f->field, "language") ||
                  !strcmp(f->field, "max_tokens") || !strcmp(f->field, "overlap") ||
                  !strcmp(f->field, "ocr") || !strcmp(f->field, "ocr_language") ||
                  !strcmp(f->field, "acl");
    if (!of_all)
        return fo_fail_field(
            err, FO_EINVAL, f->field,
            "unknown form field '%s': fields are collection, language, max_tokens, "
            "overlap, ocr, ocr_language, acl, metadata, id, title, uri; documents are sent as "
            "files",
            f->field);
    if (f->file_seen)
        return fo_fail_field(err, FO_EINVAL, f->field, "'%s' must come before the files", f->field);
    if (!strcmp(f->field, "collection")) return set_string(&c->collection, value, err);
    if (!strcmp(f->field, "language")) return set_string(&c->language, value, err);
    if (!strcmp(f->field, "acl")) return ingest_acl_read(&c->acl, value, err);
    if (!strcmp(f->field, "ocr_language")) return set_string(&c->ocr_language, value, err);
    if (!strcmp(f->field, "ocr"))
        return (c->ocr = ingest_ocr_named(value))
                   ? FO_OK
                   : fo_fail_field(err, FO_EINVAL, "ocr", "ocr must be off, auto or force");
    if (!strcmp(f->field, "max_tokens")) return form_number(f, 16, 8192, &c->max_tokens, err);
    return form_number(f, 0, 4095, &c->overlap, err);
}

static int form_end(void *ctx, fo_err *err) {
    ingest_call *c = ctx;
    ingest_form *f = &c->form;
    if (!f->is_file) return form_field(c, err);
    f->file_seen = true;
    int rc = open_batch(c, err);
    if (rc) return rc;
    ingest_document d = form_document(c);
    fo_err empty = {0};
    fo_fail(&empty, FO_EINVAL, "it is empty");
    rc = !f->parted && !d.n_bytes
             ? ingest_batch_add_failed(c->batch, d.id ? d.id : d.file_name, &empty, err)
         : f->parted ? ingest_batch_end_parts(c->batch, FO_OK, err)
                     : ingest_batch_add(c->batch, &d, err);
    f->parted = false;
    free(c->id);
    free(c->title);
    free(c->uri);
    c->id = c->title = c->uri = NULL;
    return rc;
}

static int feed_form(ingest_call *c, const char *data, size_t n, fo_err *err) {
    multipart_sink sink = {c, form_begin, form_data, form_end};
    if (!c->form.parser) {
        int rc = multipart_create(&c->form.parser, c->content_type, &sink, err);
        if (rc) return rc;
    }
    return multipart_feed(c->form.parser, data, n, err);
}

static int end_form(ingest_call *c, fo_err *err) {
    int rc = feed_form(c, "", 0, err);
    if (!rc) rc = multipart_finish(c->form.parser, err);
    if (!rc && !c->form.file_seen)
        rc = fo_fail_field(err, FO_EINVAL, "file", "the form holds no file");
    return rc;
}

static ingest_document raw_document(const ingest_call *c) {
    return (ingest_document){
        .id = c->id, .title = c->title, .uri = c->uri, .content_type = c->content_type};
}

bool ingest_call_in_parts(const ingest_call *c, const void *head, size_t n) {
    ingest_document d = raw_document(c);
    text_kind kind;
    d.bytes = head;
    d.n_bytes = n;
    return c->format == FORMAT_RAW && ingest_batch_in_parts(&d, &kind);
}

typedef int feed_fn(ingest_call *c, const char *data, size_t n, fo_err *err);

/* What lies in the spool, piece by piece; buf: READ_BYTES of room. */
static int feed_spooled(ingest_call *c, char *buf, feed_fn *feed, fo_err *err) {
    int rc = FO_OK;
    for (uint64_t at = 0; !rc;) {
        if (*c->cancel) return fo_fail(err, FO_ECANCELLED, "cancelled");
        const ssize_t n = spool_read(c->body, at, buf, READ_BYTES, err);
        if (n < 0) return (int)n;
        if (n == 0) return FO_OK;
        at += (uint64_t)n;
        rc = feed(c, buf, (size_t)n, err);
    }
    return rc;
}

static int feed_part(ingest_call *c, const char *data, size_t n, fo_err *err) {
    return ingest_batch_feed_parts(c->batch, data, n, err);
}

/* From the spool, so that no more than a part is held. */
static int take_parted(ingest_call *c, fo_err *err) {
    ingest_document d = raw_document(c);
    text_kind kind = {0};
    char *buf = malloc(READ_BYTES);
    int rc = buf ? FO_OK : fo_no_memory(err);
    ssize_t head = rc ? 0 : spool_read(c->body, 0, buf, READ_BYTES, err);
    if (head < 0) rc = (int)head;
    d.bytes = buf;
    d.n_bytes = rc ? 0 : (size_t)head;
    if (!rc) ingest_batch_in_parts(&d, &kind); /* as it was when the first of it came */
    d.bytes = NULL;
    d.n_bytes = 0;
    if (!rc) rc = ingest_batch_begin_parts(c->batch, &d, &kind, err);
    if (!rc) rc = feed_spooled(c, buf, feed_part, err);
    free(buf);
    return ingest_batch_end_parts(c->batch, rc, err);
}

static int take_raw(ingest_call *c, fo_err *err) {
    fo_buf body = {0};
    int rc = open_batch(c, err);
    if (!rc && c->parted && spool_size(c->body) > whole_bytes(c)) return take_parted(c, err);
    if (!rc) rc = ingest_call_read(c, c->app->max_document_bytes, &body, err);
    if (!rc && !body.len) rc = fo_fail(err, FO_EINVAL, "the body is empty");
    if (!rc) {
        ingest_document d = raw_document(c);
        d.bytes = body.data;
        d.n_bytes = body.len;
        rc = ingest_batch_add(c->batch, &d, err);
    }
    fo_buf_free(&body);
    return rc;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

static int flush(ingest_call *c, int rc, fo_err *err) {
    if (!rc && c->batch) rc = ingest_batch_flush(c->batch, err);
    count_documents(c);
    return rc;
}

int ingest_call_feed(ingest_call *c, const char *data, size_t n, fo_err *err) {
    if (c->format == FORMAT_FORM) return feed_form(c, data, n, err);
    int rc = open_batch(c, err);
    return rc ? rc : feed_lines(c, data, n, err);
}

int ingest_call_end(ingest_call *c, fo_err *err) {
    int rc = c->format == FORMAT_FORM ? end_form(c, err) : open_batch(c, err);
    if (!rc && c->format == FORMAT_NDJSON) rc = end_lines(c, err);
    return flush(c, rc, err);
}

int ingest_call_spooled(ingest_call *c, fo_err *err) {
    if (c->format == FORMAT_JSON) return flush(c, take_json(c, err), err);
    if (c->format == FORMAT_RAW) return flush(c, take_raw(c, err), err);
    char *buf = malloc(READ_BYTES);
    int rc = buf ? FO_OK : fo_no_memory(err);
    if (!rc) rc = feed_spooled(c, buf, ingest_call_feed, err);
    free(buf);
    return rc ? flush(c, rc, err) : ingest_call_end(c, err);
}
