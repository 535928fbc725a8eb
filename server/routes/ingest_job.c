#include "server/routes/ingest_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/json.h"
#include "server/base/log.h"

/* ---- where its documents go ------------------------------------------------------------------ */

static int name_collection(ingest_call *c, const char *name, fo_err *err) {
    char *copy = strdup(name);
    if (!copy) return fo_no_memory(err);
    free(c->collection);
    c->collection = copy;
    return FO_OK;
}

/* The spool is read once more for it: cheap beside what follows, and JSON bodies are bounded. What is wrong with one is
 * told by who works on it. */
static int look_into_json(ingest_call *c, bool *wanted, fo_err *err) {
    fo_buf body = {0};
    cJSON *root = NULL;
    int rc = FO_OK;
    if (ingest_call_read(c, c->app->max_document_bytes, &body, NULL) == FO_OK &&
        json_parse(body.data, body.len, &root, NULL) == FO_OK) {
        const cJSON *collection = cJSON_GetObjectItemCaseSensitive(root, "collection");
        *wanted |= cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(root, "wait"));
        if (*wanted && cJSON_IsString(collection))
            rc = name_collection(c, collection->valuestring, err);
    }
    cJSON_Delete(root);
    fo_buf_free(&body);
    return rc;
}

/* The fields before the first file of a form: only there may its collection stand. */
typedef struct form_look {
    bool here; /* in the field */
    bool found, over;
    fo_buf name;
} form_look;

static int look_begin(void *ctx, const multipart_part *part, fo_err *err) {
    form_look *l = ctx;
    if (part->file_name) {
        l->over = true;
        return fo_fail(err, FO_ECANCELLED, "a file");
    }
    l->here = !strcmp(part->name, "collection");
    if (l->here) fo_buf_clear(&l->name), l->found = true;
    return FO_OK;
}

static int look_data(void *ctx, const char *data, size_t n, fo_err *err) {
    enum { LONGEST = 256 }; /* more is no name, whatever follows */
    form_look *l = ctx;
    if (!l->here) return FO_OK;
    if (l->name.len < LONGEST) fo_buf_add(&l->name, data, n < LONGEST ? n : LONGEST);
    return l->name.failed ? fo_no_memory(err) : FO_OK;
}

static int look_end(void *ctx, fo_err *err) {
    form_look *l = ctx;
    l->here = false;
    (void)err;
    return FO_OK;
}

static int look_into_form(ingest_call *c, fo_err *err) {
    enum { PIECE = 16 << 10 };
    form_look look = {0};
    multipart_sink sink = {&look, look_begin, look_data, look_end};
    multipart *m = NULL;
    fo_err why = {0}; /* what is wrong with the form is told by who works on it */
    char *buf = malloc(PIECE);
    int rc = buf ? multipart_create(&m, c->content_type, &sink, &why) : fo_no_memory(&why);
    for (uint64_t at = 0; !rc && !look.over;) {
        ssize_t n = spool_read(c->body, at, buf, PIECE, &why);
        rc = n < 0 ? (int)n : n == 0 ? FO_ECANCELLED : multipart_feed(m, buf, (size_t)n, &why);
        at += n > 0 ? (uint64_t)n : 0;
    }
    rc = rc == FO_ENOMEM || rc == FO_EIO ? rc : FO_OK;
    if (rc) *err = why;
    fo_buf_add(&look.name, "", 1);
    if (!rc && look.name.failed) rc = fo_no_memory(err);
    if (!rc && look.found) rc = name_collection(c, look.name.data, err);
    multipart_free(m);
    fo_buf_free(&look.name);
    free(buf);
    return rc;
}

int ingest_job_wanted(ingest_call *c, bool *wanted, fo_err *err) {
    *wanted = !c->wait;
    if (c->format == FORMAT_JSON) return look_into_json(c, wanted, err);
    return *wanted && c->format == FORMAT_FORM ? look_into_form(c, err) : FO_OK;
}

/* ---- the job --------------------------------------------------------------------------------- */

/* What GET /jobs/{id} tells of it when it is over. */
static void write_result(const ingest_call *c, const ingest_totals *t, double total_ms,
                         fo_buf *result) {
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
    ingest_write_timings(result, &t->report, total_ms);
    json_out_close(&o, '}');
}

static int run_job(void *ctx, job *j, fo_buf *result, fo_err *err) {
    ingest_call *c = ctx;
    c->job = j;
    c->cancel = job_cancel_flag(j);
    int64_t began = log_now_ms();
    int rc = ingest_call_spooled(c, err);
    const ingest_totals zero = {0};
    const ingest_totals *t = c->batch ? ingest_batch_totals(c->batch) : &zero;
    job_progress(j, (int64_t)t->n_all, (int64_t)t->n_all, (int64_t)t->n[INGEST_FAILED]);
    write_result(c, t, (double)(log_now_ms() - began), result);
    return rc;
}

int ingest_job_start(ingest_call *c, http_request *r, fo_buf *reply, fo_err *err) {
    http_set_state(r, NULL, NULL);
    spool_free(c->results);
    c->results = NULL;
    char collection[65];
    snprintf(collection, sizeof collection, "%s", c->collection);
    int64_t id;
    int rc = ingest_call_check_collection(c, err);
    if (!rc)
        rc = jobs_add(c->app->jobs, app_tenant(r), "ingest", collection, c->timeout_ms, run_job,
                      ingest_call_free, c, &id, err);
    if (rc) {
        ingest_call_free(c);
        return rc;
    }
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
