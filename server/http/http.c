/* The daemon: connections in, requests to lanes, replies out. See http.h for the states.
 *
 * Who may touch a connection: the HTTP thread; and, while it is suspended, whoever holds the
 * request's mu and resumes it. libmicrohttpd never completes a suspended connection, so a request
 * that a handler still works on keeps its connection. */
#include "server/http/http.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kernels/clock.h"
#include "kernels/cond.h"
#include "kernels/utf8.h"
#include "kernels/words.h"
#include "server/http/http_internal.h"
#include "server/base/log.h"

#define HEADER_MEMORY_BYTES (64u << 10) /* libmicrohttpd's own buffer for a connection */
#define HEADER_MAX_BYTES    (24u << 10) /* ours by default, refused with a reply that says so */
#define STREAM_WINDOW_BYTES (256u << 10)
#define EARLY_REPLY_BYTES   (1u << 20) /* a refused body larger than this is not waited for */
#define LAST_ACCEPTED_MS                                                                           \
    200 /* of a socket that others go on with: until its last request is read */
#define RESERVE_CONNECTIONS 64 /* above the limit: for those that are told of it, and for probes */

/* ---- beginning ------------------------------------------------------------------------------ */

static bool id_usable(const char *s) {
    size_t n = strlen(s);
    if (n == 0 || n > 64) return false;
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)s[i]) && !strchr("-_.:/+=", s[i])) return false;
    return true;
}

typedef struct collect {
    http_pair *pairs;
    size_t n, bytes;
    bool failed, plain; /* plain: headers; else query arguments, to be decoded */
} collect;

static enum MHD_Result collect_pair(void *ctx, enum MHD_ValueKind kind, const char *name,
                                    const char *value) {
    (void)kind;
    collect *c = ctx;
    c->bytes += strlen(name) + (value ? strlen(value) : 0) + 4;
    http_pair *p = realloc(c->pairs, (c->n + 1) * sizeof *p);
    if (!p) return c->failed = true, MHD_NO;
    c->pairs = p;
    p[c->n] = (http_pair){strdup(name), strdup(value ? value : "")};
    if (!p[c->n].name || !p[c->n].value ||
        (!c->plain && (!http_url_decode(p[c->n].name) || !http_url_decode(p[c->n].value))))
        c->failed = true;
    c->n++;
    return c->n < 128 ? MHD_YES : MHD_NO;
}

static void body_type_of(http_request *r) {
    const char *h = http_header(r, "Content-Type");
    if (!h) return;
    while (*h == ' ') h++;
    size_t n = 0;
    for (; h[n] && h[n] != ';' && h[n] != ' ' && n + 1 < sizeof r->body_type; n++)
        r->body_type[n] = (char)tolower((unsigned char)h[n]);
}

/* Find the route; a reply is set where there is none. HEAD is answered as GET. */
static void find_route(http_request *r) {
    http_server *s = r->server;
    const char *method = strcmp(r->method, "HEAD") ? r->method : "GET";
    char allow[128] = "";
    for (size_t i = 0; i < s->opt.n_routes; i++) {
        const http_route *route = &s->opt.routes[i];
        const char *starts[4];
        size_t lengths[4], n;
        if (!http_pattern_match(route->pattern, r->path, starts, lengths, &n)) continue;
        if (strcmp(route->method, method)) {
            size_t used = strlen(allow);
            snprintf(allow + used, sizeof allow - used, "%s%s", used ? ", " : "", route->method);
            continue;
        }
        r->route = route;
        const char *p = route->pattern;
        for (size_t k = 0; k < n; k++) {
            p = strchr(p, '{') + 1;
            size_t len = strcspn(p, "}");
            r->params[k] = (http_pair){strndup(p, len), strndup(starts[k], lengths[k])};
            r->n_params++;
            if (!r->params[k].name || !r->params[k].value) {
                http_error(r, 500, "internal", NULL, "out of memory");
                return;
            }
        }
        return;
    }
    if (!*allow) {
        http_error(r, 404, "not_found", NULL, "no such route: %.200s", r->path);
        return;
    }
    http_set_header(r, "Allow", allow);
    if (!strcmp(r->method, "OPTIONS"))
        http_reply(r, 204, NULL, "", 0);
    else
        http_error(r, 405, "method_not_allowed", NULL, "%.200s takes %s, not %.20s", r->path, allow,
                   r->method);
}

static void check_args(http_request *r) {
    const char *known = r->route->args;
    if (known && !strcmp(known, "*")) return;
    for (size_t i = 0; i < r->n_args; i++) {
        const char *name = r->args[i].name;
        if (!known || !fo_words_have(known, name, strlen(name))) {
            http_error(r, 400, "bad_field", name, "unknown query argument '%.100s'", name);
            return;
        }
        for (size_t k = 0; k < i; k++)
            if (!strcmp(r->args[k].name, name)) {
                http_error(r, 400, "bad_field", name, "query argument '%.100s' stands there twice",
                           name);
                return;
            }
    }
}

/* Is a body of this type taken here? A body without a type is only where nothing is written: a page
 * may send one to any server without asking it first. */
static bool type_taken(http_request *r, int64_t content_length) {
    const http_route *route = r->route;
    bool without = route->body == HTTP_BODY_NONE; /* such a route takes no notice of a body */
    bool writes = without ? strcmp(route->method, "GET") != 0 : route->lane == HTTP_LANE_INGEST;
    const char *types = without ? "application/json" : route->types;
    if (!types || (without && (!writes || content_length == 0))) return true;
    const char *type = r->body_type;
    if (*type ? fo_words_have(types, type, strlen(type)) : !writes || content_length == 0)
        return true;
    http_set_header(r, "Accept", types);
    http_error(r, 415, "unsupported_media_type", NULL, "%.100s is not taken here; send %s",
               *r->body_type ? r->body_type : "a body without content type", types);
    return false;
}

/* Everything that can be refused before the body arrives; -1: the length is not known. */
static void check_request(http_request *r, int64_t content_length) {
    http_server *s = r->server;
    if (!http_guard(r)) return;
    if (s->draining) {
        http_error(r, 503, "shutting_down", NULL, "the server is shutting down");
        return;
    }
    find_route(r);
    if (http_replied(r)) return;
    if (s->opt.admit && !s->opt.admit(s->opt.app, r, r->route)) return;
    check_args(r);
    if (http_replied(r) || !type_taken(r, content_length)) return;
    if (r->route->body == HTTP_BODY_NONE) {
        if (content_length > (int64_t)EARLY_REPLY_BYTES)
            http_error(r, 413, "too_large", NULL, "%s %s takes no body", r->method, r->path);
        return;
    }
    if (r->route->body == HTTP_BODY_BUFFER && content_length > 0 &&
        (uint64_t)content_length > http_body_limit(r))
        http_error(r, 413, "too_large", NULL, "the body has %lld bytes, at most %zu are taken",
                   (long long)content_length, http_body_limit(r));
}

static http_connection *connection_of(struct MHD_Connection *c) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

/* Who stands between us and the client must see the same end of this request as we do: what can be
 * read in two ways is refused, and nothing behind it is read (RFC 9112, 6.1 and 6.3). */
static bool framing_is_plain(const http_request *r) {
    int lengths = 0, codings = 0;
    for (size_t i = 0; i < r->n_headers; i++) {
        const http_pair *h = &r->headers[i];
        if (!strcasecmp(h->name, "Content-Length")) lengths++;
        if (!strcasecmp(h->name, "Transfer-Encoding") &&
            (codings++ || strcasecmp(h->value, "chunked")))
            return false;
        if (!*h->name || strpbrk(h->name, " \t")) return false;
    }
    return lengths + codings <= 1;
}

static http_request *begin(http_server *s, struct MHD_Connection *c, const char *url,
                           const char *method, int64_t *content_length) {
    http_request *r = http_request_create(s);
    if (!r) return NULL;
    r->connection = c;
    r->socket = connection_of(c);
    if (r->socket) r->fd = r->socket->fd;
    http_find_peer(r);
    r->method = strdup(method);
    r->path = strdup(url);
    collect headers = {.plain = true}, args = {0};
    MHD_get_connection_values(c, MHD_HEADER_KIND, collect_pair, &headers);
    MHD_get_connection_values(c, MHD_GET_ARGUMENT_KIND, collect_pair, &args);
    r->headers = headers.pairs, r->n_headers = headers.n;
    r->args = args.pairs, r->n_args = args.n;
    if (!r->method || !r->path) {
        http_request_unref(r);
        return NULL;
    }
    const char *id = http_header(r, "X-Request-Id");
    if (id && id_usable(id))
        snprintf(r->id, sizeof r->id, "%s", id);
    else
        snprintf(r->id, sizeof r->id, "r_%016llx",
                 (unsigned long long)(atomic_fetch_add(&s->next_id, 1) * 0x9E3779B97F4A7C15u));
    tracer_begin(s->opt.tracer, http_header(r, "traceparent"), &r->trace);
    body_type_of(r);
    const char *length = http_header(r, "Content-Length");
    *content_length = length                                ? strtoll(length, NULL, 10)
                      : http_header(r, "Transfer-Encoding") ? -1
                                                            : 0;
    pthread_mutex_lock(&s->mu);
    r->next = s->flights;
    if (r->next) r->next->prev = r;
    s->flights = r;
    s->in_flight++;
    bool above = r->socket && r->socket->above && http_above_limit(s);
    if (r->socket) {
        r->socket->above = above;
        r->socket->request = r;
    }
    pthread_mutex_unlock(&s->mu);

    if (!framing_is_plain(r)) {
        *content_length = INT64_MAX; /* answered now, not when a body of some length has come */
        http_set_header(r, "Connection", "close");
        http_error(r, 400, "bad_request", NULL,
                   "the headers leave open where the body ends: give one Content-Length, or "
                   "Transfer-Encoding: chunked");
    } else if (!http_url_decode(r->path) || args.failed)
        http_error(r, 400, "bad_request", NULL, "the path or query is not percent-encoded UTF-8");
    else if (headers.failed || headers.n >= 128 || headers.bytes > s->opt.max_header_bytes)
        http_error(r, 431, "headers_too_large", NULL, "at most 127 headers of %zu bytes together",
                   s->opt.max_header_bytes);
    else if (args.n >= 128)
        http_error(r, 400, "bad_request", NULL, "too many query arguments");
    else
        check_request(r, *content_length);
    if (above && !http_replied(r) && r->route->lane != HTTP_LANE_INLINE) {
        *content_length = INT64_MAX;
        http_set_header(r, "Connection", "close");
        http_error(r, 503, "too_many_connections", NULL,
                   "all %d connections are in use (--max-connections); try again",
                   s->opt.max_connections);
    }
    return r;
}

/* ---- replies -------------------------------------------------------------------------------- */

static ssize_t read_stream(void *cls, uint64_t pos, char *buf, size_t max) {
    (void)pos;
    http_request *r = cls;
    ssize_t n = 0;
    pthread_mutex_lock(&r->mu);
    size_t left = r->reply.len - r->stream_at;
    if (r->stalled) {
        n = MHD_CONTENT_READER_END_WITH_ERROR;
    } else if (left) {
        n = (ssize_t)(left < max ? left : max);
        memcpy(buf, r->reply.data + r->stream_at, (size_t)n);
        r->stream_at += (size_t)n;
        if (r->stream_at > STREAM_WINDOW_BYTES / 2) {
            memmove(r->reply.data, r->reply.data + r->stream_at, r->reply.len - r->stream_at);
            r->reply.len -= r->stream_at;
            r->stream_at = 0;
        }
        r->reply_bytes += (uint64_t)n;
        pthread_cond_broadcast(&r->change);
    } else if (r->stream_ended) {
        n = MHD_CONTENT_READER_END_OF_STREAM;
    } else {
        r->suspended = true;
        MHD_suspend_connection(r->connection);
    }
    pthread_mutex_unlock(&r->mu);
    return n;
}

/* Of a large reply: what was taken is noted, for the watcher, and the memory goes with the last piece. */
static ssize_t read_whole(void *cls, uint64_t pos, char *buf, size_t max) {
    http_request *r = cls;
    pthread_mutex_lock(&r->mu);
    size_t left = pos < r->reply.len ? r->reply.len - (size_t)pos : 0;
    ssize_t n = left ? (ssize_t)(left < max ? left : max) : MHD_CONTENT_READER_END_OF_STREAM;
    if (left) memcpy(buf, r->reply.data + pos, (size_t)n);
    if (left) r->stream_at = (size_t)pos + (size_t)n;
    if (r->stream_at == r->reply.len) http_request_drop_reply(r);
    pthread_mutex_unlock(&r->mu);
    return n;
}

static ssize_t read_spool(void *cls, uint64_t pos, char *buf, size_t max) {
    http_request *r = cls;
    ssize_t n = spool_read(r->reply_spool, pos, buf, max, NULL);
    pthread_mutex_lock(&r->mu);
    if (n > 0) r->stream_at = (size_t)pos + (size_t)n;
    pthread_mutex_unlock(&r->mu);
    return n > 0    ? n
           : n == 0 ? MHD_CONTENT_READER_END_OF_STREAM
                    : MHD_CONTENT_READER_END_WITH_ERROR;
}

static void release(void *cls) {
    http_request_unref(cls);
}

/* What there is to tell about a request by now; `peer` is INET6_ADDRSTRLEN bytes for the name in it. */
static http_summary summary_of(http_request *r, int status, char *peer) {
    http_peer_name(r, peer);
    int64_t now_us = http_now_us();
    return (http_summary){.request_id = r->id,
                          .caller = r->caller,
                          .peer = peer,
                          .method = r->method,
                          .path = r->path,
                          .route = r->route,
                          .status = status,
                          .failure = r->failure,
                          .trace = &r->trace,
                          .began_us = r->began_us,
                          .ended_us = now_us,
                          .total_ms = (double)(now_us - r->began_us) / 1000,
                          .body_bytes = r->body_bytes,
                          .reply_bytes = r->reply_bytes};
}

/* On the HTTP thread, once: what is done is written down before its caller hears of it. */
static void tell_done(http_request *r, int status) {
    if (r->told || !r->server->opt.done) return;
    r->told = true;
    char peer[INET6_ADDRSTRLEN];
    http_summary sum = summary_of(r, status, peer);
    r->server->opt.done(r->server->opt.app, &sum);
}

/* r->ready; on the HTTP thread. */
static enum MHD_Result queue_reply(http_request *r) {
    struct MHD_Response *response = NULL;
    pthread_mutex_lock(&r->mu);
    if (r->streaming) {
        atomic_fetch_add(&r->refs, 1);
        response =
            MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 16 << 10, read_stream, r, release);
        if (!response) atomic_fetch_sub(&r->refs, 1);
    } else if (r->reply_spool) {
        atomic_fetch_add(&r->refs, 1);
        r->reply_bytes = spool_size(r->reply_spool);
        response =
            MHD_create_response_from_callback(r->reply_bytes, 64 << 10, read_spool, r, release);
        if (!response) atomic_fetch_sub(&r->refs, 1);
    } else if (r->whole_held) {
        atomic_fetch_add(&r->refs, 1);
        r->reply_bytes = r->reply.len;
        response =
            MHD_create_response_from_callback(r->reply_bytes, 64 << 10, read_whole, r, release);
        if (!response) atomic_fetch_sub(&r->refs, 1);
    } else {
        r->reply_bytes = r->reply.len;
        size_t n = r->reply.len;
        char *data = r->reply.data;
        r->reply = (fo_buf){0};
        response = n ? MHD_create_response_from_buffer(n, data, MHD_RESPMEM_MUST_FREE)
                     : MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
        if (!response || !n) free(data);
    }
    if (!response) {
        pthread_mutex_unlock(&r->mu);
        return MHD_NO;
    }
    if (r->content_type) MHD_add_response_header(response, "Content-Type", r->content_type);
    MHD_add_response_header(response, "X-Request-Id", r->id);
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    if (r->trace.on) {
        char parent[TRACE_PARENT_BYTES];
        trace_parent(&r->trace, parent);
        MHD_add_response_header(response, "traceresponse", parent);
    }
    for (size_t i = 0; i < r->n_reply_headers; i++)
        MHD_add_response_header(response, r->reply_headers[i].name, r->reply_headers[i].value);
    if (r->server->draining) MHD_add_response_header(response, "Connection", "close");
    r->queued_reply = true;
    int status = r->status;
    bool streaming = r->streaming; /* what is done is known at its end */
    pthread_mutex_unlock(&r->mu);
    if (!streaming) tell_done(r, status);
    enum MHD_Result rc = MHD_queue_response(r->connection, (unsigned)status, response);
    MHD_destroy_response(response);
    return rc;
}

/* ---- the callbacks -------------------------------------------------------------------------- */

/* Hand the request to its lane, or answer it here. */
static void start(http_request *r) {
    pthread_mutex_lock(&r->mu);
    r->started = r->queued = true;
    r->put_us = http_now_us();
    pthread_mutex_unlock(&r->mu);
    if (r->route->lane == HTTP_LANE_INLINE) {
        r->route->handler(r, r->server->opt.app);
        http_request_finish(r);
    } else if (!http_lanes_put(r->server, r)) {
        http_error(r, 503, "overloaded", NULL, "too many requests wait already; try again");
        http_request_finish(r);
    }
}

/* A reply stands before the body has come. A small one is read and dropped first, and one of unknown length as far
 * as http_body_add goes: a client that is still sending would otherwise meet a reset instead of the reply. One
 * that waits for 100 is told. */
static enum MHD_Result refuse_body(http_request *r, int64_t length) {
    bool waits = http_header(r, "Expect") || length == INT64_MAX;
    if (!waits && length <= (int64_t)EARLY_REPLY_BYTES) return MHD_YES;
    return !waits && http_body_refuse(r) ? MHD_YES : queue_reply(r);
}

static enum MHD_Result on_request(void *cls, struct MHD_Connection *c, const char *url,
                                  const char *method, const char *version, const char *data,
                                  size_t *size, void **state) {
    (void)version;
    http_server *s = cls;
    http_request *r = *state;
    if (!r) {
        int64_t length = 0;
        r = begin(s, c, url, method, &length);
        if (!r) return MHD_NO;
        *state = r;
        return http_replied(r) ? refuse_body(r, length) : MHD_YES;
    }
    if (*size) return http_body_add(r, data, size);

    pthread_mutex_lock(&r->mu);
    bool late = r->late, ready = r->ready, started = r->started;
    if (!late) r->body_done = true;
    pthread_mutex_unlock(&r->mu);
    if (late) return MHD_NO; /* it has its reply */
    if (!ready && r->route->body == HTTP_BODY_STREAM)
        http_body_wake(r);
    else if (!ready && !started)
        start(r);
    enum MHD_Result rc = MHD_YES;
    pthread_mutex_lock(&r->mu);
    ready = r->ready;
    if (!ready) {
        r->suspended = true;
        MHD_suspend_connection(c);
    }
    pthread_mutex_unlock(&r->mu);
    if (ready) rc = queue_reply(r);
    return rc;
}

static void on_completed(void *cls, struct MHD_Connection *c, void **state,
                         enum MHD_RequestTerminationCode why) {
    (void)c;
    http_server *s = cls;
    http_request *r = *state;
    *state = NULL;
    if (!r) return;
    pthread_mutex_lock(&s->mu);
    if (r->prev)
        r->prev->next = r->next;
    else
        s->flights = r->next;
    if (r->next) r->next->prev = r->prev;
    s->in_flight--;
    if (r->socket) {
        r->socket->request = NULL;
        r->socket->since_ms = http_now_us() / 1000;
    }
    if (s->in_flight == 0) pthread_cond_broadcast(&s->idle);
    pthread_mutex_unlock(&s->mu);

    pthread_mutex_lock(&r->mu);
    bool gone = why != MHD_REQUEST_TERMINATED_COMPLETED_OK || !r->queued_reply;
    r->gone = true;
    if (gone) r->cancel = true;
    pthread_cond_broadcast(&r->change);
    int status = r->queued_reply ? r->status : 499; /* nginx's number for a client that left */
    int did = r->ready ? r->status : 499; /* what was done for one that left all the same */
    double queue_ms = r->started && r->queue_ms > 0 ? r->queue_ms : 0;
    pthread_mutex_unlock(&r->mu);
    http_body_wake(r); /* a handler that waits for more learns that there is none */
    tell_done(r, did);
    if (s->opt.observe) {
        char peer[INET6_ADDRSTRLEN];
        http_summary sum = summary_of(r, status, peer);
        sum.queue_ms = queue_ms;
        s->opt.observe(s->opt.app, &sum);
    }
    http_request_unref(r);
}

static void on_connection(void *cls, struct MHD_Connection *c, void **context,
                          enum MHD_ConnectionNotificationCode code) {
    http_server *s = cls;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        http_connection *h = calloc(1, sizeof *h);
        *context = h;
        if (!h) return;
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
        h->fd = info ? info->connect_fd : -1;
        h->since_ms = http_now_us() / 1000;
        pthread_mutex_lock(&s->mu);
        h->next = s->connections;
        if (h->next) h->next->prev = h;
        s->connections = h;
        s->n_connections++;
        while (http_above_limit(s) && http_evict_idle(s, h, 0)) {
        }
        h->above = http_above_limit(s);
        pthread_mutex_unlock(&s->mu);
        return;
    }
    http_connection *h = *context;
    if (!h) return;
    pthread_mutex_lock(&s->mu);
    if (h->prev)
        h->prev->next = h->next;
    else
        s->connections = h->next;
    if (h->next) h->next->prev = h->prev;
    s->n_connections--;
    if (h->killed) s->n_killed--;
    pthread_mutex_unlock(&s->mu);
    free(h);
    *context = NULL;
}

/* Paths and arguments are decoded by us, so that %2F, %00 and bad UTF-8 are seen for what they
 * are. */
static size_t keep_escapes(void *cls, struct MHD_Connection *c, char *s) {
    (void)cls, (void)c;
    return strlen(s);
}

__attribute__((format(printf, 2, 0))) static void on_log(void *cls, const char *fmt, va_list ap) {
    (void)cls;
    char line[512];
    vsnprintf(line, sizeof line, fmt, ap);
    size_t n = strlen(line);
    while (n && isspace((unsigned char)line[n - 1])) line[--n] = 0;
    log_event(LOG_LEVEL_DEBUG, NULL, "http", LOG_STR("message", line));
}

/* ---- start and stop ------------------------------------------------------------------------- */

static void free_server(http_server *s) {
    http_tls_close(s->tls);
    pthread_cond_destroy(&s->idle);
    pthread_mutex_destroy(&s->mu);
    free(s->spool_dir);
    free(s);
}

int http_start(http_server **out, const http_options *opt, fo_err *err) {
    http_server *s = calloc(1, sizeof *s);
    if (!s) return fo_no_memory(err);
    s->opt = *opt;
    s->listen_fd = -1;
    http_options *o = &s->opt;
    if (!o->max_body_bytes) o->max_body_bytes = 64u << 20;
    if (!o->max_buffered_bytes) o->max_buffered_bytes = 512u << 20;
    if (!o->max_connections) o->max_connections = 1024;
    if (!o->max_header_bytes) o->max_header_bytes = HEADER_MAX_BYTES;
    if (!o->header_timeout_ms) o->header_timeout_ms = 30000;
    if (!o->body_timeout_ms) o->body_timeout_ms = 30000;
    if (!o->body_bytes_per_s) o->body_bytes_per_s = HTTP_BODY_BYTES_PER_S;
    if (!o->body_total_ms) o->body_total_ms = HTTP_BODY_TOTAL_S * 1000;
    if (!o->heartbeat_ms) o->heartbeat_ms = 15000;
    s->spool_dir = strdup(o->spool_dir ? o->spool_dir : "/tmp");
    uint64_t salt = 0;
    if (getrandom(&salt, sizeof salt, 0) < 0) salt = (uint64_t)http_now_us();
    s->next_id = salt;
    pthread_mutex_init(&s->mu, NULL);
    fo_cond_init(&s->idle);

    int rc = o->tls_cert ? http_tls_open(&s->tls, o->tls_cert, o->tls_key, err) : FO_OK;
    if (!rc) rc = http_listen(s, o->listen ? o->listen : HTTP_LISTEN_DEFAULT, err);
    if (!rc) rc = http_lanes_start(s, err);
    if (!rc && pthread_create(&s->watcher, NULL, http_watch, s) != 0)
        rc = fo_fail(err, FO_ENOMEM, "cannot start a thread");
    if (!rc) {
        struct MHD_OptionItem tls[] = {
            {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)http_tls_priorities},
            {MHD_OPTION_HTTPS_CERT_CALLBACK, 0, (void *)http_tls_callback},
            {MHD_OPTION_END, 0, NULL}};
        if (!s->tls) tls[0] = tls[2];
        s->daemon = MHD_start_daemon(
            MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG |
                (s->tls ? MHD_USE_TLS : 0),
            0, NULL, NULL, on_request, s, MHD_OPTION_EXTERNAL_LOGGER, on_log, NULL,
            MHD_OPTION_LISTEN_SOCKET, s->listen_fd, MHD_OPTION_CONNECTION_LIMIT,
            (unsigned)o->max_connections + RESERVE_CONNECTIONS, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
            (unsigned)o->max_per_address, MHD_OPTION_CONNECTION_TIMEOUT,
            (unsigned)(o->header_timeout_ms / 1000 + 1), MHD_OPTION_CONNECTION_MEMORY_LIMIT,
            (size_t)HEADER_MEMORY_BYTES, MHD_OPTION_NOTIFY_COMPLETED, on_completed, s,
            MHD_OPTION_NOTIFY_CONNECTION, on_connection, s, MHD_OPTION_UNESCAPE_CALLBACK,
            keep_escapes, NULL, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_ARRAY, tls,
            MHD_OPTION_END);
        if (s->daemon) {
            *out = s;
            return FO_OK;
        }
        rc = fo_fail(err, FO_EIO, "libmicrohttpd did not start");
        pthread_mutex_lock(&s->mu);
        s->stop_watcher = true;
        pthread_mutex_unlock(&s->mu);
        pthread_join(s->watcher, NULL);
    }
    http_lanes_stop(s);
    if (s->listen_fd >= 0) close(s->listen_fd);
    free_server(s);
    return rc;
}

int http_reload_tls(http_server *s, fo_err *err) {
    return s->tls ? http_tls_reload(s->tls, err)
                  : fo_fail(err, FO_EUNSUPPORTED, "this server does not speak TLS");
}

int http_port(const http_server *s) {
    return s->port;
}
const char *http_address(const http_server *s) {
    return s->address;
}

void http_get_load(http_server *s, http_load *out) {
    pthread_mutex_lock(&s->mu);
    *out = (http_load){.in_flight = s->in_flight,
                       .connections = s->n_connections,
                       .rejected = atomic_load(&s->rejected),
                       .evicted = s->n_evicted};
    for (int i = 0; i < HTTP_N_LANES; i++) {
        out->queued[i] = s->lanes[i].count;
        out->running[i] = s->lanes[i].running;
    }
    pthread_mutex_unlock(&s->mu);
}

/* Requests that have no reply yet; s->mu held. */
static int unanswered(http_server *s) {
    int n = 0;
    for (http_request *r = s->flights; r; r = r->next) {
        pthread_mutex_lock(&r->mu);
        n += r->started && !r->finished;
        pthread_mutex_unlock(&r->mu);
    }
    return n;
}

static void wait_answered(http_server *s, int timeout_ms, const atomic_bool *hurry) {
    int64_t until = http_now_us() / 1000 + timeout_ms;
    for (;;) {
        pthread_mutex_lock(&s->mu);
        int n = unanswered(s);
        pthread_mutex_unlock(&s->mu);
        if (n == 0 || http_now_us() / 1000 >= until || (hurry && *hurry)) return;
        usleep(10000);
    }
}

void http_stop(http_server *s, int timeout_ms, const atomic_bool *hurry) {
    if (!s) return;
    int fd = MHD_quiesce_daemon(s->daemon);
    /* Who was let in a moment ago is answered yet: those that come now wait for the next process. */
    if (s->opt.listen_fd) usleep(LAST_ACCEPTED_MS * 1000);
    s->draining = true;
    /* New connections are refused, not left to wait; but where another process comes after this one they wait for it. */
    if (!s->opt.listen_fd) shutdown(s->listen_fd, SHUT_RDWR);
    wait_answered(s, timeout_ms, hurry);
    pthread_mutex_lock(&s->mu);
    for (http_request *r = s->flights; r; r = r->next) {
        pthread_mutex_lock(&r->mu);
        r->cancel = r->cancel || !r->finished;
        pthread_cond_broadcast(&r->change);
        pthread_mutex_unlock(&r->mu);
        http_body_wake_locked(r);
    }
    pthread_mutex_unlock(&s->mu);
    wait_answered(s, 5000, NULL);
    http_lanes_stop(s);
    /* What is answered gets a moment to be sent. */
    pthread_mutex_lock(&s->mu);
    double until = fo_now_ms() + 2000;
    while (s->in_flight && fo_cond_wait_until(&s->idle, &s->mu, until) == 0) {
    }
    s->stop_watcher = true;
    pthread_mutex_unlock(&s->mu);
    pthread_join(s->watcher, NULL);
    MHD_stop_daemon(s->daemon);
    if (fd == MHD_INVALID_SOCKET || fd == s->listen_fd) fd = s->listen_fd;
    close(fd);
    free_server(s);
}
