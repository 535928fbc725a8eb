#include "server/routes/ingest_reply.h"

#include <stdlib.h>

#include "server/base/json.h"

#define READ_BYTES       (64u << 10)
#define STORED_MAX_BYTES (64u << 20)

static int copy_spool(spool *to, spool *from, fo_err *err) {
    char *buf = malloc(READ_BYTES);
    int rc = buf ? FO_OK : fo_no_memory(err);
    for (uint64_t at = 0; !rc && at < spool_size(from);) {
        ssize_t n = spool_read(from, at, buf, READ_BYTES, err);
        if (n <= 0) {
            rc = n < 0 ? (int)n : fo_fail(err, FO_EIO, "the results end too early");
            break;
        }
        at += (uint64_t)n;
        rc = spool_write(to, buf, (size_t)n, err);
    }
    free(buf);
    return rc;
}

int ingest_reply_write(const ingest_call *c, double total_ms, spool **out, fo_err *err) {
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
    if (!rc) rc = copy_spool(s, c->results, err);
    fo_buf_clear(&b);
    fo_buf_str(&b, "],\"timings_ms\":");
    ingest_write_timings(&b, &t->report, total_ms);
    fo_buf_char(&b, '}');
    if (!rc) rc = b.failed ? fo_no_memory(err) : spool_write(s, b.data, b.len, err);
    fo_buf_free(&b);
    if (rc) {
        spool_free(s);
        return rc;
    }
    *out = s;
    return FO_OK;
}

char *ingest_reply_text(spool *s) {
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
