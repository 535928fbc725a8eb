#include "server/cli/ingest_sender.h"

#include <stdlib.h>
#include <string.h>

#include "server/base/json.h"
#include "server/cli/file_form.h"
#include "server/cli/json_lines.h"

struct ingest_sender {
    ingest_sender_options opt; /* path: owned */
    fo_buf form, lines;
    json_lines_sent sent; /* where each of lines came from */
    size_t n_waiting;
    ingest_totals totals;
};

int ingest_sender_create(ingest_sender **out, const ingest_sender_options *opt, fo_err *err) {
    int rc = file_form_draw(err);
    if (rc) return rc;
    ingest_sender *s = calloc(1, sizeof *s);
    if (!s) return fo_no_memory(err);
    s->opt = *opt;
    s->opt.path = strdup(opt->path);
    if (!s->opt.path) {
        free(s);
        return fo_no_memory(err);
    }
    *out = s;
    return FO_OK;
}

void ingest_sender_free(ingest_sender *s) {
    if (!s) return;
    fo_buf_free(&s->form);
    fo_buf_free(&s->lines);
    json_lines_sent_deinit(&s->sent);
    free((char *)s->opt.path);
    free(s);
}

const ingest_totals *ingest_sender_totals(const ingest_sender *s) {
    return &s->totals;
}

/* ---- what a reply says ---------------------------------------------------------------------- */

static const char *string_of(const cJSON *object, const char *name) {
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
}

static void count_timings(ingest_report *sum, const cJSON *timings) {
    const struct {
        const char *name;
        double *to;
    } rows[] = {{"extract", &sum->extract_ms},
                {"chunk", &sum->chunk_ms},
                {"embed", &sum->embed_ms},
                {"index", &sum->index_ms},
                {"commit", &sum->commit_ms}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const cJSON *v = cJSON_GetObjectItemCaseSensitive(timings, rows[i].name);
        if (cJSON_IsNumber(v)) *rows[i].to += v->valuedouble;
    }
}

static void tell_failure(ingest_sender *s, const char *id, const cJSON *error) {
    fo_err why = {0};
    const char *message = string_of(error, "message"), *param = string_of(error, "param");
    fo_fail_field(&why, FO_EINVAL, param && !strcmp(param, "id") ? "id" : "", "%.400s",
                  message ? message : "failed");
    if (param && !strncmp(param, "line ", 5)) json_lines_sent_name(&s->sent, &why);
    s->opt.failed(s->opt.ctx, id, &why);
}

/* A status that is not known counts as failed. */
static enum ingest_status status_named(const char *name) {
    int found = INGEST_FAILED;
    for (int i = 0; i < 4; i++)
        if (name && !strcmp(name, ingest_status_name((enum ingest_status)i))) found = i;
    return (enum ingest_status)found;
}

/* What became of one document. */
static void count_result(ingest_sender *s, const cJSON *result) {
    const char *id = string_of(result, "id"), *status = string_of(result, "status");
    if (status && !strcmp(status, "skipped")) {
        const char *kind = string_of(result, "kind");
        s->opt.skipped(s->opt.ctx, id, kind ? kind : "other");
        return;
    }
    const enum ingest_status is = status_named(status);
    s->totals.n[is]++;
    s->totals.n_all++;
    const cJSON *chunks = cJSON_GetObjectItemCaseSensitive(result, "chunks");
    if (cJSON_IsNumber(chunks)) s->totals.n_chunks += (size_t)chunks->valuedouble;
    const bool stored = is == INGEST_CREATED || is == INGEST_UPDATED;
    if (stored && cJSON_IsNumber(chunks) && chunks->valuedouble == 0) {
        s->totals.n_textless++;
        s->opt.textless(s->opt.ctx, id);
    }
    if (is == INGEST_FAILED) tell_failure(s, id, cJSON_GetObjectItemCaseSensitive(result, "error"));
}

static int count_reply(ingest_sender *s, const fo_buf *reply, fo_err *err) {
    cJSON *root;
    int rc = json_parse(reply->data ? reply->data : "", reply->len, &root, err);
    if (rc) return fo_fail_prefix(err, "the server's reply");
    const cJSON *results = cJSON_GetObjectItemCaseSensitive(root, "results"), *r;
    cJSON_ArrayForEach(r, results) {
        count_result(s, r);
    }
    count_timings(&s->totals.report, cJSON_GetObjectItemCaseSensitive(root, "timings_ms"));
    cJSON_Delete(root);
    s->opt.progress(s->opt.ctx, &s->totals);
    return FO_OK;
}

/* ---- what is sent --------------------------------------------------------------------------- */

/* Sends a body and empties it. */
static int send_body(ingest_sender *s, fo_buf *body, const char *type, fo_err *err) {
    fo_buf reply = {0};
    int rc = body->failed ? fo_no_memory(err)
                          : client_post(s->opt.client, s->opt.path, type, body->data, body->len,
                                        &reply, err);
    if (rc && body == &s->lines) json_lines_sent_name(&s->sent, err);
    if (!rc) rc = count_reply(s, &reply, err);
    fo_buf_free(&reply);
    fo_buf_clear(body);
    return rc;
}

int ingest_sender_flush(ingest_sender *s, fo_err *err) {
    int rc = FO_OK;
    if (s->form.len) {
        file_form_end(&s->form);
        rc = send_body(s, &s->form, file_form_type(), err);
    }
    if (!rc && s->lines.len) rc = send_body(s, &s->lines, "application/x-ndjson", err);
    s->n_waiting = s->sent.n = 0;
    return rc;
}

static int one_more(ingest_sender *s, fo_err *err) {
    s->n_waiting++;
    if (s->n_waiting < s->opt.max_docs && s->form.len + s->lines.len < s->opt.max_bytes)
        return FO_OK;
    return ingest_sender_flush(s, err);
}

int ingest_sender_add_file(ingest_sender *s, const char *id, const char *uri, const char *name,
                           const void *data, size_t n, fo_err *err) {
    file_form_begin(&s->form, id, uri, name);
    fo_buf_add(&s->form, data, n);
    file_form_next(&s->form);
    return one_more(s, err);
}

int ingest_sender_add_line(ingest_sender *s, const char *line, size_t n, const char *label,
                           fo_err *err) {
    fo_buf_add(&s->lines, line, n);
    fo_buf_char(&s->lines, '\n');
    int rc = json_lines_sent_add(&s->sent, label, err);
    return rc ? rc : one_more(s, err);
}

int ingest_sender_stream_file(ingest_sender *s, int fd, const char *id, const char *uri,
                              const char *name, fo_err *err) {
    file_form_stream f = {.fd = fd};
    fo_buf reply = {0};
    int rc = ingest_sender_flush(s, err);
    file_form_begin(&f.begins, id, uri, name);
    if (!rc && f.begins.failed) rc = fo_no_memory(err);
    if (!rc)
        rc = client_post_stream(s->opt.client, s->opt.path, file_form_type(), file_form_read,
                                file_form_rewind, &f, &reply, err);
    if (!rc) rc = count_reply(s, &reply, err);
    fo_buf_free(&f.begins);
    fo_buf_free(&reply);
    return rc;
}
