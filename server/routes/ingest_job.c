#include "server/routes/ingest_job.h"

#include <stdio.h>

#include "server/base/json.h"
#include "server/base/log.h"

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
    int rc = jobs_add(c->app->jobs, app_tenant(r), "ingest", collection, c->timeout_ms, run_job,
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
