/* POST /ingest: JSON, NDJSON, a form with files, or one raw document.
 *
 * The route runs in steps, one for each piece of the body that has come (server/http/http.h), so that
 * who sends slowly holds no worker. NDJSON and forms are taken apart as they come; all else is
 * gathered in a spool until it is whole: JSON, which says only inside whether it is a job, raw
 * documents, what an Idempotency-Key covers, what becomes a job (wait=false). A batch is held in
 * memory and no more, and what became of the documents goes to a spool as well. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/extract/extract.h"
#include "kernels/words.h"
#include "retrieval/service/activity.h"
#include "server/base/json.h"
#include "server/base/log.h"
#include "server/routes/ingest_call.h"
#include "server/routes/ingest_job.h"
#include "server/routes/ingest_key.h"
#include "server/routes/ingest_reply.h"

#define READ_BYTES      (64u << 10)
#define SPOOL_MAX_BYTES ((uint64_t)16 << 30)
#define DISK_LOOK_BYTES (1u << 20) /* of a spool, between two looks at the room on the disk */

static bool type_known(const char *type) {
    static const char packed[] = "application/octet-stream application/gzip application/x-gzip";
    const extract_format *f = extract_format_of_type(type);
    return fo_words_have(packed, type, strlen(type)) || (f && (f->extract || f->archive));
}

static void refuse_type(http_request *r, const char *type) {
    enum { ROOM = 300 }; /* of a message, for the list */
    fo_buf list = {0};
    const extract_format *f;
    bool more = false;
    for (size_t i = 0; (f = extract_format_at(i)); i++) {
        int n = (int)strcspn(f->media_types, " ");
        if (!(f->extract || f->archive) || f->recognised_only || !n) continue;
        if (list.len + (size_t)n > ROOM)
            more = true;
        else
            fo_buf_printf(&list, ", %.*s", n, f->media_types);
    }
    if (more) fo_buf_str(&list, " and others");
    if ((f = extract_format_of_type(type)))
        http_error(r, 415, "unsupported_media_type", NULL,
                   "the body is declared as %s (%.100s), which Forage does not read yet; it reads "
                   "%s",
                   f->what, type, list.data ? list.data + 2 : "");
    else
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

static void set_string(char **to, const char *s, fo_err *err) {
    if (!s || err->code) return;
    *to = strdup(s);
    if (!*to) fo_no_memory(err);
}

/* Must the whole body be there before anything can be done with it? */
static bool is_spooled(const ingest_call *c, const http_request *r) {
    return c->format == FORMAT_JSON || c->format == FORMAT_RAW || !c->wait ||
           http_header(r, "Idempotency-Key");
}

static ingest_call *call_create(http_request *r, app *a) {
    ingest_call *c = calloc(1, sizeof *c);
    int64_t max_tokens, overlap, timeout_ms;
    bool ok = c != NULL;
    fo_err err = {0};
    if (!ok) fo_no_memory(&err);
    if (ok) {
        c->app = a;
        c->cancel = http_cancel(r);
        c->grant = access_grant_keep(app_grant(r));
        ok = choose_format(r, c);
    }
    const char *collection =
        ok && http_arg(r, "collection") ? http_arg(r, "collection") : "default";
    ok = ok && http_arg_bool(r, "wait", true, &c->wait) &&
         http_arg_int(r, "max_tokens", 0, 16, 8192, &max_tokens) &&
         http_arg_int(r, "overlap", -1, 0, 4095, &overlap) &&
         http_arg_int(r, "timeout_ms", 0, 1, 3600000, &timeout_ms);
    const char *type = http_header(r, "Content-Type"), *ocr = ok ? http_arg(r, "ocr") : NULL;
    if (ocr && !(c->ocr = ingest_ocr_named(ocr)))
        fo_fail_field(&err, FO_EINVAL, "ocr", "ocr must be off, auto or force");
    if (ok) set_string(&c->ocr_language, http_arg(r, "ocr_language"), &err);
    if (ok) {
        c->timeout_ms = timeout_ms;
        if (timeout_ms) http_set_timeout(r, timeout_ms);
        c->max_tokens = (size_t)max_tokens;
        c->overlap = overlap < 0 ? SIZE_MAX : (size_t)overlap;
        if (type && strcmp(http_body_type(r), "application/octet-stream") != 0)
            set_string(&c->content_type, type, &err);
        set_string(&c->tenant, app_tenant(r), &err);
        set_string(&c->collection, collection, &err);
        set_string(&c->language, http_arg(r, "language"), &err);
        set_string(&c->id, http_arg(r, "id"), &err);
        set_string(&c->title, http_arg(r, "title"), &err);
        set_string(&c->uri, http_arg(r, "uri"), &err);
        if (http_arg(r, "acl") && !err.code) ingest_acl_read(&c->acl, http_arg(r, "acl"), &err);
    }
    if (ok && !err.code) spool_create(&c->results, a->spool_dir, &err);
    if (ok && !err.code && is_spooled(c, r)) spool_create(&c->body, http_spool_dir(r), &err);
    if (c && ok && !err.code) return c;
    if (!http_replied(r)) http_error_from(r, &err);
    ingest_call_free(c);
    return NULL;
}

/* What came of a body that must be whole. */
static int spool_piece(ingest_call *c, const char *data, size_t n, fo_err *err) {
    uint64_t size = spool_size(c->body);
    if (!size) c->parted = ingest_call_in_parts(c, data, n);
    bool small = c->format == FORMAT_JSON || (c->format == FORMAT_RAW && !c->parted);
    uint64_t max = small ? c->app->max_document_bytes : SPOOL_MAX_BYTES;
    if (size + n > max)
        return fo_fail(err, FO_ELIMIT,
                       small ? "the body is larger than the %llu bytes of --max-body; "
                               "application/x-ndjson and plain text may be of any length"
                             : "the body is larger than %llu bytes",
                       (unsigned long long)max);
    if (size / DISK_LOOK_BYTES != (size + n) / DISK_LOOK_BYTES) {
        int64_t room = service_free_disk_bytes(c->app->service);
        if (room >= 0 && (uint64_t)room < c->app->min_free_bytes + DISK_LOOK_BYTES)
            return fo_fail(err, FO_ENOSPC,
                           "the disk has no room for a body of this size: %lld bytes are free",
                           (long long)room);
    }
    return spool_write(c->body, data, n, err);
}

/* Work on what has come: FO_OK at the end of the body, HTTP_BODY_LATER where more comes. */
static int take_body(ingest_call *c, http_request *r, fo_err *err) {
    char *buf = malloc(READ_BYTES);
    int rc = buf ? FO_OK : fo_no_memory(err);
    while (!rc) {
        ssize_t n = http_body_read(r, buf, READ_BYTES, err);
        if (n < 0) rc = (int)n;
        if (n <= 0) break;
        if (!c->began_ms) c->began_ms = log_now_ms();
        rc = c->body ? spool_piece(c, buf, (size_t)n, err)
                     : ingest_call_feed(c, buf, (size_t)n, err);
    }
    free(buf);
    return rc;
}

/* Pieces of a streamed body were worked on while it came: the stages are of all of them. */
static void trace(const ingest_call *c, http_request *r) {
    const ingest_report *p = &ingest_batch_totals(c->batch)->report;
    const trace_stage stages[] = {{"extract", p->extract_ms},
                                  {"chunk", p->chunk_ms},
                                  {"embed", p->embed_ms},
                                  {"index", p->index_ms},
                                  {"commit", p->commit_ms}};
    http_trace_stages(r, (double)(log_now_ms() - c->began_ms), stages,
                      sizeof stages / sizeof *stages, NULL);
}

/* The body is there: do the work while the client waits. Returns the status replied; *kept: the reply's text when
 * want_text. */
static int ingest_now(ingest_call *c, http_request *r, bool want_text, char **kept) {
    fo_err err = {0};
    if (c->body || !c->began_ms) c->began_ms = log_now_ms();
    spool *reply = NULL;
    int rc = c->body ? ingest_call_spooled(c, &err) : ingest_call_end(c, &err);
    /* The one document of a raw body; of an archive each member has its own. */
    if (!rc && c->raw_error.code && ingest_batch_totals(c->batch)->n_all == 1) {
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
    if (!rc) trace(c, r);
    if (!rc) rc = ingest_reply_write(c, (double)(log_now_ms() - c->began_ms), &reply, &err);
    if (rc) {
        http_error_from(r, &err);
        return 500;
    }
    if (want_text) *kept = ingest_reply_text(reply);
    http_reply_spool(r, 200, "application/json", reply);
    return 200;
}

/* The body is there, whole or taken apart already. */
static void answer(ingest_call *c, http_request *r) {
    app *a = c->app;
    char route[64]; /* a name that one key gave to a call is none of another's */
    snprintf(route, sizeof route, "/ingest%s%s", c->grant ? " " : "",
             c->grant ? c->grant->key->id : "");
    repeatable_call call = {app_tenant(r), route, http_header(r, "Idempotency-Key"), {0}};
    bool keyed = call.key != NULL;
    fo_err err = {0};
    bool as_job;
    if (ingest_job_wanted(c, &as_job, &err)) {
        http_error_from(r, &err);
        return;
    }
    if (keyed && !ingest_key_claim(&call, c, r)) return;
    if (as_job) {
        fo_buf reply = {0};
        int rc = ingest_job_start(c, r, &reply, &err);
        if (keyed) ingest_key_finish(&call, a, r, 202, rc ? NULL : reply.data);
        if (rc)
            http_error_from(r, &err);
        else
            http_reply_json(r, 202, &reply);
        fo_buf_free(&reply);
        return;
    }
    char *kept = NULL;
    int status = ingest_now(c, r, keyed, &kept);
    if (keyed) ingest_key_finish(&call, a, r, status, kept);
    free(kept);
}

void route_ingest(http_request *r, void *ctx) {
    ingest_call *c = http_state(r);
    if (!c) {
        c = call_create(r, ctx);
        if (!c) return;
        http_set_state(r, c, ingest_call_free);
    }
    fo_err err = {0};
    int rc = take_body(c, r, &err);
    if (rc == HTTP_BODY_LATER)
        http_hold(r, ingest_call_held(c));
    else if (rc)
        http_error_from(r, &err);
    else
        answer(c, r);
}
