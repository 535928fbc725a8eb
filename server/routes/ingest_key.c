#include "server/routes/ingest_key.h"

#include <stdlib.h>
#include <string.h>

#include "server/base/log.h"
#include "kernels/sha256.h"

/* The same key must come with the same body, sent the same way. */
static int body_hash(ingest_call *c, http_request *r, unsigned char out[32], fo_err *err) {
    unsigned char body[32];
    int rc = FO_OK;
    fo_buf b = {0};
    spool_sha256(c->body, body);
    fo_buf_add(&b, body, sizeof body);
    static const char *const args[] = {"collection", "wait",         "id",      "title",
                                       "uri",        "max_tokens",   "overlap", "language",
                                       "ocr",        "ocr_language", "acl"};
    for (size_t i = 0; i < sizeof args / sizeof *args; i++) {
        const char *v = http_arg(r, args[i]);
        fo_buf_printf(&b, "%zu:%s;", v ? strlen(v) + 1 : 0, v ? v : "");
    }
    /* Of a raw body the character set, too, says what its bytes are. */
    fo_buf_str(&b,
               c->format == FORMAT_RAW && c->content_type ? c->content_type : http_body_type(r));
    if (b.failed)
        rc = fo_no_memory(err);
    else
        fo_sha256_of(out, b.data, b.len);
    fo_buf_free(&b);
    return rc;
}

bool ingest_key_claim(repeatable_call *call, ingest_call *c, http_request *r) {
    fo_err err = {0};
    enum store_idem state = STORE_IDEM_NEW;
    int status = 0;
    char *first = NULL;
    int rc = strlen(call->key) == 0 || strlen(call->key) > 255
                 ? fo_fail_field(&err, FO_EINVAL, "Idempotency-Key",
                                 "Idempotency-Key must have 1 to 255 characters")
                 : body_hash(c, r, call->body_sha256, &err);
    if (!rc) rc = service_claim_call(c->app->service, call, &state, &status, &first, &err);
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

void ingest_key_finish(const repeatable_call *call, app *a, http_request *r, int status,
                       const char *reply) {
    fo_err err = {0};
    int rc = reply ? service_finish_call(a->service, call, status, reply, &err)
                   : service_abandon_call(a->service, call, &err);
    if (rc) log_event(LOG_LEVEL_ERROR, http_id(r), "idempotency", LOG_STR("error", err.msg));
}
