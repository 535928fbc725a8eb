/* Bodies as they arrive, without a worker that waits for them.
 *
 * A buffered body is gathered here and its handler runs once. A streamed one is gathered up to a
 * window; when STEP_BYTES are there, or the end is, the handler is put on its lane and runs a step:
 * it reads what has come (http_body_read), keeps what it made of it (http_set_state), and returns.
 *
 *     gathering --STEP_BYTES, end--> queued --worker--> running --read all, more comes--> gathering
 *         ^                            ^                   |                                 |
 *         +-- window full: suspended --+                   +--> a reply --> finished <-------+
 *                                                                 client gone, late, cancelled
 *
 * So a client that sends slowly holds a connection and a window, and never a worker.
 *
 * A reply that stands before the end of its body waits until 64 MiB more are read and dropped; then it is sent,
 * the client has two seconds to read it, and the connection ends. Where it stands before a body that says it is
 * large, it is sent at once. Under TLS, where nothing can be sent before the end of a body once that has begun,
 * the connection ends without it. */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "server/http/http_internal.h"

#define STEP_BYTES      (64u << 10)
#define WINDOW_BYTES    (256u << 10)
#define DRAIN_MAX_BYTES (64u << 20) /* of a refused body, before it is answered without its end */
#define LINGER_MS       2000        /* for a client to read why it was cut off */

size_t http_body_limit(const http_request *r) {
    return r->route && r->route->max_body ? r->route->max_body : r->server->opt.max_body_bytes;
}

/* ---- memory ---------------------------------------------------------------------------------- */

bool http_account(http_request *r, size_t *held, size_t bytes) {
    http_server *s = r->server;
    size_t before = *held;
    *held = bytes;
    if (bytes <= before) {
        atomic_fetch_sub(&s->buffered, before - bytes);
        return true;
    }
    return atomic_fetch_add(&s->buffered, bytes - before) + (bytes - before) <=
           s->opt.max_buffered_bytes;
}

void http_body_drop(http_request *r) {
    fo_buf_free(&r->body);
    r->body_at = 0;
    http_account(r, &r->accounted, 0);
}

static void refuse_memory(http_request *r) {
    pthread_mutex_lock(&r->mu);
    http_body_drop(r);
    pthread_mutex_unlock(&r->mu);
    http_error(r, 503, "overloaded", NULL, "too many large bodies at once; try again");
}

bool http_hold(http_request *r, size_t bytes) {
    if (http_account(r, &r->held, bytes)) return true;
    http_error(r, 503, "overloaded", NULL, "too many large bodies at once; try again");
    return false;
}

/* ---- arriving -------------------------------------------------------------------------------- */

/* A piece that nobody wants: the reply that stands follows the body, or is sent past it where that does not end. */
static enum MHD_Result pass_over(http_request *r, size_t n) {
    r->drained += n;
    if (r->drained <= DRAIN_MAX_BYTES) return MHD_YES;
    pthread_mutex_lock(&r->mu);
    bool answered = r->late;
    pthread_mutex_unlock(&r->mu);
    return answered || http_body_refuse(r) ? MHD_YES : MHD_NO;
}

enum MHD_Result http_body_add(http_request *r, const char *data, size_t *size) {
    size_t n = *size, room = n;
    pthread_mutex_lock(&r->mu);
    if (r->ready || r->finished || r->route->body == HTTP_BODY_NONE) {
        r->body_bytes += n;
        pthread_mutex_unlock(&r->mu);
        *size = 0;
        return pass_over(r, n);
    }
    bool streamed = r->route->body == HTTP_BODY_STREAM;
    if (streamed) {
        size_t held = r->body.len - r->body_at;
        room = held < WINDOW_BYTES ? WINDOW_BYTES - held : 0;
        if (r->body_at) memmove(r->body.data, r->body.data + r->body_at, held);
        r->body.len = held; /* what was read makes room */
        r->body_at = 0;
    } else if (r->body.len + n > http_body_limit(r)) {
        r->body_bytes += n;
        http_body_drop(r);
        pthread_mutex_unlock(&r->mu);
        *size = 0;
        http_error(r, 413, "too_large", NULL, "the body is larger than %zu bytes",
                   http_body_limit(r));
        return MHD_YES;
    }
    if (room > n) room = n;
    fo_buf_add(&r->body, data, room);
    r->body_bytes += room;
    *size = n - room;
    bool fits = http_account(r, &r->accounted, r->body.cap) && !r->body.failed;
    if (fits && *size) { /* the window is full: http_body_read lets it go on */
        r->suspended = true;
        MHD_suspend_connection(r->connection);
    }
    pthread_mutex_unlock(&r->mu);
    if (!fits) {
        *size = 0;
        refuse_memory(r);
    }
    if (streamed) http_body_wake(r);
    return MHD_YES;
}

/* Is there something for the handler of a streamed body to do? r->mu held. */
static bool has_work(const http_request *r) {
    if (r->queued || r->finished || !r->route || r->route->body != HTTP_BODY_STREAM) return false;
    /* What was refused before it began needs no handler. */
    if (r->ready || r->gone || (r->cancel && r->started)) return r->started;
    return r->body_done || r->body.len - r->body_at >= STEP_BYTES;
}

void http_body_wake_locked(http_request *r) {
    pthread_mutex_lock(&r->mu);
    bool work = has_work(r), again = r->started;
    if (work) {
        r->queued = r->started = true;
        if (!again) r->put_us = http_now_us();
    }
    pthread_mutex_unlock(&r->mu);
    bool stopping = !again && r->cancel; /* nothing else cancels what has not begun */
    if (!work || (!stopping && http_lanes_put_locked(r->server, r, again))) return;
    if (stopping)
        http_error(r, 503, "shutting_down", NULL, "the server is shutting down");
    else
        http_error(r, 503, "overloaded", NULL, "too many requests wait already; try again");
    http_request_finish(r);
}

void http_body_wake(http_request *r) {
    pthread_mutex_lock(&r->mu);
    bool work = has_work(r);
    pthread_mutex_unlock(&r->mu);
    if (!work) return;
    pthread_mutex_lock(&r->server->mu);
    http_body_wake_locked(r);
    pthread_mutex_unlock(&r->server->mu);
}

bool http_body_park(http_request *r) {
    pthread_mutex_lock(&r->mu);
    bool parked = r->later && !r->ready;
    r->later = false;
    if (parked) r->queued = false;
    pthread_mutex_unlock(&r->mu);
    if (parked) http_body_wake(r); /* more may have come meanwhile */
    return parked;
}

/* ---- reading --------------------------------------------------------------------------------- */

ssize_t http_body_read(http_request *r, void *buf, size_t n, fo_err *err) {
    ssize_t result;
    pthread_mutex_lock(&r->mu);
    size_t left = r->body.len - r->body_at;
    if (r->late) {
        result = fo_fail(err, FO_ETIMEOUT, "the body did not arrive in time");
    } else if (r->gone || r->cancel) {
        result = fo_fail(err, FO_ECANCELLED, "the client went away before the body ended");
    } else if (r->ready) {
        result = fo_fail(err, FO_ECANCELLED, "the request is answered already");
    } else if (left) {
        if (n > left) n = left;
        memcpy(buf, r->body.data + r->body_at, n);
        r->body_at += n;
        if (r->body_at == r->body.len) {
            fo_buf_clear(&r->body);
            r->body_at = 0;
            if (!r->body_done) http_request_resume(r);
        }
        result = (ssize_t)n;
    } else if (r->body_done) {
        result = 0;
    } else {
        r->later = true;
        result = HTTP_BODY_LATER;
    }
    pthread_mutex_unlock(&r->mu);
    return result;
}

void *http_state(const http_request *r) {
    return r->state;
}

void http_set_state(http_request *r, void *state, void (*free_state)(void *)) {
    r->state = state;
    r->free_state = free_state;
}

/* ---- bodies whose end is not waited for ------------------------------------------------------ */

/* libmicrohttpd takes a reply only before the body or when the whole of it is there, which here is what will
 * not be: so the reply that stands is written past it. It never wrote anything for this request itself
 * (queued_reply says so), and will not (late). */
static void write_past(http_request *r) {
    fo_buf b = {0};
    pthread_mutex_lock(&r->mu);
    fo_buf_printf(&b,
                  "HTTP/1.1 %d %s\r\nConnection: close\r\nX-Request-Id: %s\r\n"
                  "X-Content-Type-Options: nosniff\r\n",
                  r->status, MHD_get_reason_phrase_for((unsigned)r->status), r->id);
    if (r->trace.on) {
        char parent[TRACE_PARENT_BYTES];
        trace_parent(&r->trace, parent);
        fo_buf_printf(&b, "traceresponse: %s\r\n", parent);
    }
    if (r->content_type) fo_buf_printf(&b, "Content-Type: %s\r\n", r->content_type);
    for (size_t i = 0; i < r->n_reply_headers; i++)
        if (strcasecmp(r->reply_headers[i].name, "Connection") != 0)
            fo_buf_printf(&b, "%s: %s\r\n", r->reply_headers[i].name, r->reply_headers[i].value);
    fo_buf_printf(&b, "Content-Length: %zu\r\n\r\n", r->reply.len);
    if (strcmp(r->method, "HEAD") != 0) fo_buf_add(&b, r->reply.data, r->reply.len);
    r->queued_reply = true;
    r->reply_bytes = r->reply.len;
    pthread_mutex_unlock(&r->mu);
    if (!b.failed) (void)!send(r->fd, b.data, b.len, MSG_DONTWAIT | MSG_NOSIGNAL);
    shutdown(r->fd,
             SHUT_WR); /* what still comes is read and dropped: a reset would lose the reply */
    fo_buf_free(&b);
}

/* Answer now, with this unless a reply stands already, and close once the client has had time to read it.
 * server->mu held. */
static bool answer_past(http_request *r, int status, const char *code, const char *why) {
    /* Nothing can be said past the library under TLS; without its socket nobody would close it. */
    if (r->server->tls || !r->socket) return false;
    pthread_mutex_lock(&r->mu);
    bool late = !r->body_done && !r->queued_reply && !r->late && !r->streaming && !r->reply_spool;
    if (late) r->late = true;
    pthread_mutex_unlock(&r->mu);
    if (!late) return false;
    http_error(r, status, code, NULL, "%s", why);
    write_past(r);
    r->socket->linger_until_ms = http_now_us() / 1000 + LINGER_MS;
    http_body_wake_locked(r);
    return true;
}

bool http_body_late(http_request *r, const char *why) {
    return answer_past(r, 408, "timeout", why);
}

bool http_body_refuse(http_request *r) {
    pthread_mutex_lock(&r->server->mu);
    bool answered = answer_past(r, 413, "too_large", "the body is larger than what is passed over");
    pthread_mutex_unlock(&r->server->mu);
    return answered;
}
