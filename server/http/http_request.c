/* What a handler sees of its request, and the replies it can give. */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>

#include "kernels/clock.h"
#include "kernels/cond.h"
#include "kernels/hex.h"
#include "kernels/utf8.h"
#include "server/http/http_internal.h"
#include "server/base/hidden_paths.h"
#include "server/base/json.h"

/* Of an event stream, unsent: as much as a long answer has, so that its handler need not wait for a
 * client that reads slowly; less where all requests hold half of what they may. */
#define STREAM_BUFFER_BYTES     (4u << 20)
#define STREAM_BUFFER_MIN_BYTES (256u << 10)
/* Whole replies below this are not counted: those of 1,024 connections have 256 MiB at most. */
#define WHOLE_REPLY_BYTES (256u << 10)

int64_t http_now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* ---- life ----------------------------------------------------------------------------------- */

http_request *http_request_create(http_server *s) {
    http_request *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    r->server = s;
    r->refs = 1;
    r->fd = -1;
    r->began_us = http_now_us();
    r->patience_ms = r->sent_patience_ms = s->opt.body_timeout_ms;
    pthread_mutex_init(&r->mu, NULL);
    fo_cond_init(&r->change);
    return r;
}

static void free_pairs(http_pair *p, size_t n) {
    for (size_t i = 0; i < n; i++) {
        free(p[i].name);
        free(p[i].value);
    }
}

void http_request_unref(http_request *r) {
    if (!r || atomic_fetch_sub(&r->refs, 1) != 1) return;
    atomic_fetch_sub(&r->server->buffered, r->accounted + r->held + r->reply_held + r->whole_held);
    atomic_fetch_sub(&r->server->replies, r->whole_held);
    if (r->free_state) r->free_state(r->state);
    if (r->free_caller) r->free_caller(r->caller);
    free(r->method);
    free(r->path);
    free_pairs(r->headers, r->n_headers);
    free(r->headers);
    free_pairs(r->args, r->n_args);
    free(r->args);
    free_pairs(r->params, r->n_params);
    free_pairs(r->reply_headers, r->n_reply_headers);
    free(r->reply_headers);
    free(r->content_type);
    free(r->failure);
    fo_buf_free(&r->body);
    fo_buf_free(&r->reply);
    spool_free(r->reply_spool);
    pthread_cond_destroy(&r->change);
    pthread_mutex_destroy(&r->mu);
    free(r);
}

void http_request_resume(http_request *r) {
    if (!r->suspended) return;
    r->suspended = false;
    MHD_resume_connection(r->connection);
}

void http_request_finish(http_request *r) {
    if (!http_replied(r))
        http_error(r, 500, "internal", NULL, "the request ended without an answer");
    if (r->free_state) r->free_state(r->state); /* here, not on the HTTP thread: it may be large */
    http_set_state(r, NULL, NULL);
    http_hold(r, 0);
    pthread_mutex_lock(&r->mu);
    r->finished = true;
    r->stream_ended = true;
    http_body_drop(r);
    http_request_resume(r);
    pthread_mutex_unlock(&r->mu);
}

/* ---- reading -------------------------------------------------------------------------------- */

const char *http_id(const http_request *r) {
    return r->id;
}
const char *http_body_type(const http_request *r) {
    return r->body_type;
}
const char *http_spool_dir(const http_request *r) {
    return r->server->spool_dir;
}
atomic_bool *http_cancel(http_request *r) {
    return &r->cancel;
}
double http_queue_ms(const http_request *r) {
    return r->queue_ms;
}

void http_set_caller(http_request *r, void *caller, void (*free_caller)(void *)) {
    if (r->free_caller) r->free_caller(r->caller);
    r->caller = caller;
    r->free_caller = free_caller;
}
void *http_caller(const http_request *r) {
    return r->caller;
}
void http_find_peer(http_request *r) {
    struct sockaddr_storage at;
    socklen_t len = sizeof at;
    if (r->fd < 0 || getpeername(r->fd, (struct sockaddr *)&at, &len) != 0) return;
    if (at.ss_family == AF_INET6) {
        memcpy(r->peer, &((struct sockaddr_in6 *)&at)->sin6_addr, 16);
    } else if (at.ss_family == AF_INET) {
        r->peer[10] = r->peer[11] = 0xff;
        memcpy(r->peer + 12, &((struct sockaddr_in *)&at)->sin_addr, 4);
    }
}

void http_peer(const http_request *r, unsigned char out[16]) {
    memcpy(out, r->peer, 16);
}

void http_peer_name(const http_request *r, char *out) {
    static const unsigned char none[16];
    unsigned char at[16];
    http_peer(r, at);
    bool v4 = !memcmp(at, none, 10) && at[10] == 0xff && at[11] == 0xff;
    out[0] = 0;
    if (memcmp(at, none, 16) != 0)
        inet_ntop(v4 ? AF_INET : AF_INET6, v4 ? at + 12 : at, out, INET6_ADDRSTRLEN);
}

static const char *find(const http_pair *p, size_t n, const char *name, bool any_case) {
    for (size_t i = 0; i < n; i++)
        if (any_case ? !strcasecmp(p[i].name, name) : !strcmp(p[i].name, name)) return p[i].value;
    return NULL;
}

const char *http_param(const http_request *r, const char *name) {
    return find(r->params, r->n_params, name, false);
}
const char *http_arg(const http_request *r, const char *name) {
    return find(r->args, r->n_args, name, false);
}
const char *http_header(const http_request *r, const char *name) {
    return find(r->headers, r->n_headers, name, true);
}

bool http_arg_int(http_request *r, const char *name, int64_t def, int64_t min, int64_t max,
                  int64_t *out) {
    const char *s = http_arg(r, name);
    *out = def;
    if (!s) return true;
    char *end;
    errno = 0;
    long long v = strtoll(s, &end, 10);
    if (end == s || *end || errno || isspace((unsigned char)*s)) {
        http_error(r, 400, "bad_field", name, "%s must be a whole number", name);
        return false;
    }
    if (v < min || v > max) {
        http_error(r, 400, "bad_field", name, "%s must be between %lld and %lld", name,
                   (long long)min, (long long)max);
        return false;
    }
    *out = v;
    return true;
}

bool http_arg_bool(http_request *r, const char *name, bool def, bool *out) {
    const char *s = http_arg(r, name);
    *out = def;
    if (!s) return true;
    if (!strcmp(s, "true") || !strcmp(s, "1")) return *out = true, true;
    if (!strcmp(s, "false") || !strcmp(s, "0")) return *out = false, true;
    http_error(r, 400, "bad_field", name, "%s must be true or false", name);
    return false;
}

const char *http_body(const http_request *r, size_t *len) {
    *len = r->body.len;
    return r->body.data ? r->body.data : "";
}

/* ---- replying ------------------------------------------------------------------------------- */

bool http_is_traced(const http_request *r) {
    pthread_mutex_lock((pthread_mutex_t *)&r->mu);
    bool is = r->trace.n_stages > 0;
    pthread_mutex_unlock((pthread_mutex_t *)&r->mu);
    return is;
}

void http_trace_stages(http_request *r, double total_ms, const trace_stage *stages, size_t n,
                       const char *rest) {
    pthread_mutex_lock(&r->mu);
    if (!r->gone) trace_stages(&r->trace, http_now_us(), total_ms, stages, n, rest);
    pthread_mutex_unlock(&r->mu);
}

bool http_replied(const http_request *r) {
    pthread_mutex_lock((pthread_mutex_t *)&r->mu);
    bool ready = r->ready;
    pthread_mutex_unlock((pthread_mutex_t *)&r->mu);
    return ready;
}

/* r->mu held. */
static void add_header(http_request *r, const char *name, const char *value) {
    http_pair *p = realloc(r->reply_headers, (r->n_reply_headers + 1) * sizeof *p);
    if (!p) return;
    r->reply_headers = p;
    p[r->n_reply_headers] = (http_pair){strdup(name), strdup(value)};
    if (p[r->n_reply_headers].name && p[r->n_reply_headers].value)
        r->n_reply_headers++;
    else
        free_pairs(p + r->n_reply_headers, 1);
}

void http_set_header(http_request *r, const char *name, const char *value) {
    pthread_mutex_lock(&r->mu);
    if (!r->ready) add_header(r, name, value);
    pthread_mutex_unlock(&r->mu);
}

/* r->mu held. */
static bool begin_reply(http_request *r, int status, const char *content_type) {
    if (r->ready) return false;
    r->ready = true;
    r->status = status;
    r->content_type = content_type ? strdup(content_type) : NULL;
    return true;
}

void http_request_drop_reply(http_request *r) {
    fo_buf_free(&r->reply);
    r->stream_at = 0;
    atomic_fetch_sub(&r->server->replies, r->whole_held);
    http_account(r, &r->whole_held, 0);
}

/* A whole reply waits in memory for its client, who may take it slowly: all that wait may have half of what bodies and
 * replies may hold together, so that those who read slowly keep nobody from sending. r->mu held. */
static void hold_reply(http_request *r) {
    http_server *s = r->server;
    size_t n = r->reply.cap;
    if (n < WHOLE_REPLY_BYTES) return;
    bool fits = http_account(r, &r->whole_held, n);
    if (atomic_fetch_add(&s->replies, n) + n <= s->opt.max_buffered_bytes / 2 && fits) return;
    http_request_drop_reply(r);
    free(r->content_type);
    r->content_type = strdup("application/json");
    r->status = 503;
    add_header(r, "Retry-After", "1");
    http_error_json(&r->reply, 503, "overloaded", NULL,
                    "too many large answers wait for their clients; try again", r->id);
}

void http_reply(http_request *r, int status, const char *content_type, const void *data, size_t n) {
    pthread_mutex_lock(&r->mu);
    if (begin_reply(r, status, content_type)) {
        fo_buf_add(&r->reply, data, n);
        hold_reply(r);
    }
    pthread_mutex_unlock(&r->mu);
}

void http_reply_json(http_request *r, int status, fo_buf *b) {
    if (b->failed) {
        fo_buf_free(b);
        http_error(r, 500, "internal", NULL, "out of memory");
        return;
    }
    pthread_mutex_lock(&r->mu);
    if (begin_reply(r, status, "application/json")) {
        r->reply = *b;
        *b = (fo_buf){0};
        hold_reply(r);
    }
    pthread_mutex_unlock(&r->mu);
    fo_buf_free(b);
}

void http_reply_spool(http_request *r, int status, const char *content_type, spool *s) {
    pthread_mutex_lock(&r->mu);
    if (begin_reply(r, status, content_type)) {
        r->reply_spool = s;
        s = NULL;
    }
    pthread_mutex_unlock(&r->mu);
    spool_free(s);
}

static const char *error_type(int status) {
    switch (status) {
    case 401:
        return "authentication_error";
    case 403:
        return "permission_error";
    case 429:
        return "rate_limit_error";
    default:
        return status >= 500 ? "server_error" : "invalid_request_error";
    }
}

/* Of the server's own: its log says why. */
static bool is_fault(int status) {
    return status >= 500 && status != 503;
}

void http_error_json(fo_buf *b, int status, const char *code, const char *param,
                     const char *message, const char *request_id) {
    char told[600];
    if (is_fault(status)) {
        fo_utf8_print(told, sizeof told, "%s", message);
        hide_paths(told);
        message = told;
    }
    json_out o = {b, false};
    json_out_open(&o, NULL, '{');
    json_out_open(&o, "error", '{');
    json_out_string(&o, "type", error_type(status));
    json_out_string(&o, "code", code);
    json_out_string(&o, "message", message);
    json_out_string(&o, "param", param && *param ? param : NULL);
    json_out_string(&o, "request_id", request_id);
    json_out_close(&o, '}');
    json_out_close(&o, '}');
}

void http_error(http_request *r, int status, const char *code, const char *param, const char *fmt,
                ...) {
    char message[600];
    va_list ap;
    va_start(ap, fmt);
    fo_utf8_vprint(message, sizeof message, fmt, ap);
    va_end(ap);
    fo_buf b = {0};
    http_error_json(&b, status, code, param, message, r->id);
    pthread_mutex_lock(&r->mu);
    bool retry = status == 503 || status == 429;
    for (size_t i = 0; i < r->n_reply_headers; i++)
        if (!strcasecmp(r->reply_headers[i].name, "Retry-After")) retry = false;
    pthread_mutex_unlock(&r->mu);
    if (retry) http_set_header(r, "Retry-After", "1");
    pthread_mutex_lock(&r->mu);
    if (begin_reply(r, status, "application/json")) {
        r->reply = b;
        b = (fo_buf){0};
        if (is_fault(status) && !r->failure) r->failure = strdup(message);
    }
    pthread_mutex_unlock(&r->mu);
    fo_buf_free(&b);
}

void http_set_timeout(http_request *r, int64_t ms) {
    pthread_mutex_lock(&r->mu);
    r->deadline_ms = http_now_us() / 1000 + ms;
    pthread_mutex_unlock(&r->mu);
}

bool http_timed_out(http_request *r) {
    pthread_mutex_lock(&r->mu);
    bool late = r->timed_out;
    pthread_mutex_unlock(&r->mu);
    return late;
}

void http_error_from(http_request *r, const fo_err *err) {
    if (err->code == FO_ECANCELLED && http_timed_out(r)) {
        http_error(r, 408, "timeout", "timeout_ms", "it was not done within timeout_ms");
        return;
    }
    const char *code;
    int status = http_status_of(err, &code);
    http_error(r, status, code, err->field, "%s", err->msg[0] ? err->msg : fo_code_name(err->code));
}

/* ---- streams -------------------------------------------------------------------------------- */

void http_stream_begin(http_request *r, int status, const char *content_type) {
    http_set_header(r, "Cache-Control", "no-store");
    http_set_header(r, "X-Accel-Buffering", "no"); /* proxies pass events on at once */
    pthread_mutex_lock(&r->mu);
    if (begin_reply(r, status, content_type)) {
        r->streaming = true;
        r->last_write_ms = http_now_us() / 1000;
        http_request_resume(r);
    }
    pthread_mutex_unlock(&r->mu);
}

/* Is there room for more of the stream? r->mu held. */
static bool has_room(const http_request *r) {
    size_t unsent = r->reply.len - r->stream_at;
    const http_server *s = r->server;
    return unsent <= STREAM_BUFFER_MIN_BYTES ||
           (unsent <= STREAM_BUFFER_BYTES && s->buffered <= s->opt.max_buffered_bytes / 2);
}

/* Until there is room, the client has gone, or it has been waited for long enough. r->mu held. */
static void await_room(http_request *r) {
    int64_t began_us = http_now_us();
    double left_ms = r->server->opt.body_timeout_ms - r->blocked_ms;
    double until = fo_now_ms() + left_ms;
    while (!has_room(r) && !r->gone && !r->cancel && !r->stalled)
        r->stalled = fo_cond_wait_until(&r->change, &r->mu, until) == ETIMEDOUT;
    r->blocked_ms += (double)(http_now_us() - began_us) / 1000;
    if (r->stalled) r->cancel = true;
}

int http_stream_write(http_request *r, const void *data, size_t n) {
    pthread_mutex_lock(&r->mu);
    if (!has_room(r)) await_room(r);
    /* Whose time is over still reads, and is to be told. */
    bool gone = r->gone || r->stalled || (r->cancel && !r->timed_out) || !r->streaming;
    if (!gone) {
        if (r->stream_at == r->reply.len) {
            fo_buf_clear(&r->reply);
            r->stream_at = 0;
        }
        fo_buf_add(&r->reply, data, n);
        http_account(r, &r->reply_held, r->reply.cap);
        r->last_write_ms = http_now_us() / 1000;
        if (r->reply.failed) gone = true;
        http_request_resume(r);
    }
    pthread_mutex_unlock(&r->mu);
    return gone ? FO_ECANCELLED : FO_OK;
}

/* ---- paths ---------------------------------------------------------------------------------- */

bool http_url_decode(char *s) {
    char *to = s;
    for (const char *p = s; *p; p++) {
        if (*p != '%') {
            *to++ = *p;
            continue;
        }
        int high = fo_hex_digit(p[1]);
        int low = high < 0 ? -1 : fo_hex_digit(p[2]);
        if (low < 0 || (high == 0 && low == 0)) return false;
        *to++ = (char)(high * 16 + low);
        p += 2;
    }
    *to = 0;
    return fo_utf8_valid(s, (size_t)(to - s), NULL);
}

bool http_pattern_match(const char *pattern, const char *path, const char *starts[4],
                        size_t lengths[4], size_t *n) {
    *n = 0;
    while (*pattern) {
        if (*pattern != '{') {
            if (*pattern++ != *path++) return false;
            continue;
        }
        pattern = strchr(pattern, '}') + 1;
        size_t len = *pattern ? strcspn(path, "/") : strlen(path);
        if (!len || *n == 4) return false;
        starts[*n] = path;
        lengths[(*n)++] = len;
        path += len;
    }
    return !*path;
}
