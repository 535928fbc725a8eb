/* http.h - libmicrohttpd with a bounded worker pool behind it.
 *
 * One thread (epoll) reads and writes all connections and never blocks: a request that needs work
 * is put on a lane (a bounded queue with threads of its own) and its connection is suspended until
 * the reply is there. HTTP_LANE_INLINE handlers run on that one thread and must be quick: that is
 * why /health answers while every worker is busy. A full queue is 503 with Retry-After.
 *
 * A route is one row: method, pattern, handler, what becomes of the body, lane. In a pattern
 * `{name}` is one segment, and a `{name}` at the end takes the rest of the path, slashes included.
 *
 * States of a request, and the function behind each step (in http.c; of streamed bodies:
 * http_body.c):
 *
 *     headers --on_request--> body --on_request--> queued --worker--> running --finish--> replying
 *        |  refuse                | too large                    |  http_stream_begin        |
 *        +----------> replying <--+                              +--> streaming --> ended --> gone
 *
 * Bodies are received without a worker. BUFFER collects up to a limit before the handler runs. STREAM
 * runs the handler in steps: each time a piece of the body is there, and once at its end.
 *
 * What is no HTTP at all (request line, header lines or chunks that cannot be read, no Host under
 * 1.1, a Content-Length that is no number, more than HEADER_MEMORY_BYTES of headers) never comes
 * here: libmicrohttpd 0.9 answers it by itself, in HTML, has no hook for it, and closes the
 * connection. Everything else that is wrong gets the error body of http_error.
 *
 * Who may ask: a page in a browser of this machine must not, whatever name it found for it.
 * http_guard.c refuses a Host that is not ours (421) and an Origin that is not (403), on every
 * route.
 *
 * Limits that guard the server: bytes of headers and bodies, connections in all and from one
 * address, a deadline for complete headers, a least rate and a longest time for bodies (slow clients
 * get 408), bytes of all bodies together. Where there are more connections than allowed, the one
 * that has been idle longest ends; where none is idle, only INLINE routes answer (503 else). A client
 * that goes away sets the request's cancel flag. */
#ifndef FORAGE_SERVER_HTTP_H
#define FORAGE_SERVER_HTTP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "kernels/buf.h"
#include "kernels/error.h"
#include "kernels/spool.h"
#include "server/http/trace.h"

typedef struct http_server http_server;
typedef struct http_request http_request;

enum http_body_kind { HTTP_BODY_NONE, HTTP_BODY_BUFFER, HTTP_BODY_STREAM };
enum http_lane { HTTP_LANE_INLINE, HTTP_LANE_QUERY, HTTP_LANE_INGEST, HTTP_N_LANES };

typedef void http_handler(http_request *r, void *app);

typedef struct http_route {
    const char *method, *pattern;
    http_handler *handler;
    int scope; /* what a caller needs: `admit` knows the meaning; 0: it was forgotten */
    enum http_body_kind body;
    enum http_lane lane;
    const char *types; /* accepted content types, blank-separated; NULL: any, or no body */
    const char *args;  /* query arguments it knows, blank-separated; NULL: none; "*": any */
    size_t max_body;   /* bytes; 0: the server's */
} http_route;

/* What there is to tell about an answered request: for metrics and the access log. */
typedef struct http_summary {
    const char *request_id, *method, *path;
    const http_route *route; /* NULL where none matched */
    int status;
    double total_ms, queue_ms;
    uint64_t body_bytes, reply_bytes;
    const char *failure; /* NULL, or what a reply of 500 or 507 said */
    const void *caller;  /* as http_caller */
    const char *peer;    /* address of the client, "" where it is not known */
    const trace_span *trace;
    int64_t began_us, ended_us; /* monotonic */
} http_summary;

typedef struct http_options {
    const char *listen; /* "127.0.0.1:8080", "[::1]:0", ":8080"; NULL: 127.0.0.1:8080 */
    const http_route *routes;
    size_t n_routes;
    void *app;                                         /* goes to every handler */
    void (*observe)(void *app, const http_summary *s); /* NULL, or called on the HTTP thread */
    /* NULL, or called on the HTTP thread, once for every request: before its reply goes out, or at its end where
     * it streams or its client left. What this writes down is there when the caller hears "done". */
    void (*done)(void *app, const http_summary *s);
    /* NULL, or called on the HTTP thread once the route is known, before the body: may this caller
     * ask? Sets the caller (http_set_caller); false after an error reply. It must be quick. */
    bool (*admit)(void *app, http_request *r, const http_route *route);
    int n_workers[HTTP_N_LANES];          /* 0: 4; INLINE is not used */
    int queue_length[HTTP_N_LANES];       /* 0: 128 */
    size_t max_body_bytes;                /* of a buffered body; 0: 64 MiB */
    size_t max_buffered_bytes;            /* of all bodies together; 0: 512 MiB */
    int max_connections, max_per_address; /* 0: 1,024 and no limit */
    size_t max_header_bytes;              /* of a request, in all; 0: 24 KiB */
    int header_timeout_ms;                /* 0: 30,000; also for idle keep-alive */
    int body_timeout_ms;   /* of a body, without a byte or below its least rate; 0: 30,000 */
    int body_bytes_per_s;  /* least rate of a body; 0: 4,096; -1: any */
    int body_total_ms;     /* longest wait for a body, in all; 0: an hour; -1: any */
    int heartbeat_ms;      /* of event streams; 0: 15,000 */
    const char *spool_dir; /* NULL: /tmp */
    /* Names that it answers to beside loopback's and its own address: see http_guard.c. */
    const char *const *allow_hosts;
    size_t n_allow_hosts;
    /* Origins, as browsers write them, whose pages may use it too (CORS). */
    const char *const *allow_origins;
    size_t n_allow_origins;
    /* PEM files: TLS 1.2 and 1.3 instead of plain connections; NULL: none. One such server a process. */
    const char *tls_cert, *tls_key;
    /* A socket that listens already (http_listen_inherited), which others may hold too; 0: none, and `listen` says. */
    int listen_fd;
    tracer *tracer; /* NULL: none; the caller's */
} http_options;

#define HTTP_BODY_BYTES_PER_S 4096
#define HTTP_BODY_TOTAL_S     3600

#define HTTP_PORT_DEFAULT   "8080"
#define HTTP_LISTEN_DEFAULT "127.0.0.1:" HTTP_PORT_DEFAULT

/* Would a server that listens there be reached from this machine alone? FO_EINVAL where `listen` is
 * no address. */
int http_listen_is_loopback(const char *listen, bool *out, fo_err *err);
/* "http://HOST:PORT" at which this machine asks such a server: that of the loopback where it listens on every address,
 * which is no name that it answers to. FO_EINVAL as above, or where `out`, of n bytes, is too small. */
int http_listen_url(const char *listen, char *out, size_t n, fo_err *err);
/* The socket that whoever started this process listens on for it (LISTEN_PID, LISTEN_FDS as systemd.socket(5) has
 * them); 0: there is none. Those variables are taken out of the environment. *loopback as above. FO_EINVAL: there are
 * several, or it is none of TCP. */
int http_listen_inherited(int *fd, bool *loopback, fo_err *err);
/* A name or an address as Host has it, without a port: "forage.example.org", "10.0.0.7", "[::1]".
 */
bool http_host_valid(const char *s);
/* "https://app.example.org", "http://localhost:3000": what may stand in allow_origins. */
bool http_origin_valid(const char *s);
/* Read the certificate and its key again, for connections to come; on an error those of before stay.
 * Connections that are open go on. */
int http_reload_tls(http_server *s, fo_err *err);

int http_start(http_server **out, const http_options *opt, fo_err *err);
int http_port(const http_server *s);
const char *http_address(const http_server *s); /* "127.0.0.1:41235" */
/* Stop accepting, answer 503 to what comes on open connections, wait for what runs; after
 * timeout_ms cancel it and wait 5 s more. `hurry` (may be NULL) set to true skips the first wait.
 * Frees s. */
void http_stop(http_server *s, int timeout_ms, const atomic_bool *hurry);

typedef struct http_load {
    int in_flight, connections, queued[HTTP_N_LANES], running[HTTP_N_LANES];
    uint64_t rejected; /* 503 because a queue was full */
    uint64_t evicted;  /* idle connections that made room for others */
} http_load;
void http_get_load(http_server *s, http_load *out);

/* ---- inside a handler --------------------------------------------------------------------- */

const char *http_id(const http_request *r);
const char *http_param(const http_request *r, const char *name);  /* of the pattern */
const char *http_arg(const http_request *r, const char *name);    /* ?name=; NULL: absent */
const char *http_header(const http_request *r, const char *name); /* any case; NULL: absent */
const char *http_spool_dir(const http_request *r);
/* ?name= as a whole number; absent: def. An error reply is set and false returned otherwise. */
bool http_arg_int(http_request *r, const char *name, int64_t def, int64_t min, int64_t max,
                  int64_t *out);
bool http_arg_bool(http_request *r, const char *name, bool def, bool *out);
/* Media type of the body in lower case without parameters; "" if none was sent. */
const char *http_body_type(const http_request *r);
/* BUFFER: NUL-terminated, valid until the handler returns. */
const char *http_body(const http_request *r, size_t *len);
/* STREAM: up to n bytes; 0 at the end; HTTP_BODY_LATER where more comes that is not there yet:
 * return then, without a reply, and be called again. FO_ETIMEOUT, FO_ECANCELLED. */
#define HTTP_BODY_LATER (-1000)
ssize_t http_body_read(http_request *r, void *buf, size_t n, fo_err *err);
/* What a handler keeps from step to step; NULL at its first. Freed when the request ends, unless it
 * was set to NULL. Steps of a request never run side by side, but on any thread of the lane. */
void *http_state(const http_request *r);
void http_set_state(http_request *r, void *state, void (*free_state)(void *));
/* That state holds `bytes` of memory now (not: more). Counts among the bytes of all bodies; false,
 * after an error reply, where they are too many. */
bool http_hold(http_request *r, size_t bytes);
/* Who asks, as `admit` found it; freed with the request, which is once its reply was sent. */
void http_set_caller(http_request *r, void *caller, void (*free_caller)(void *));
void *http_caller(const http_request *r); /* NULL: nobody in particular */
/* Was anything of this request's work told of yet? */
bool http_is_traced(const http_request *r);
/* What the work that ends now, of total_ms, consisted of (trace_stages). */
void http_trace_stages(http_request *r, double total_ms, const trace_stage *stages, size_t n,
                       const char *rest);
/* The address of who asks, in binary; of IPv4: mapped into IPv6. All zeros: not known. */
void http_peer(const http_request *r, unsigned char out[16]);
/* From now on it may take so long: then its cancel flag is set, and an error of being cancelled is
 * answered as 408 (param timeout_ms). The watcher looks every 50 ms. */
void http_set_timeout(http_request *r, int64_t ms);
bool http_timed_out(http_request *r); /* by that */
/* True once the client has gone, the server wants to stop, or its time is over. */
atomic_bool *http_cancel(http_request *r);
double http_queue_ms(const http_request *r);

/* Exactly one reply: http_reply*, http_error* or a stream. A second one is ignored. */
void http_set_header(http_request *r, const char *name, const char *value);
void http_reply(http_request *r, int status, const char *content_type, const void *data, size_t n);
/* Takes b's memory (b is empty afterwards); application/json. */
void http_reply_json(http_request *r, int status, fo_buf *b);
void http_reply_spool(http_request *r, int status, const char *content_type,
                      spool *s); /* takes s */
/* The body every error has. param NULL: null. */
void http_error(http_request *r, int status, const char *code, const char *param, const char *fmt,
                ...) __attribute__((format(printf, 5, 6)));
/* From an error of the rooms below: code -> status, field -> param. */
void http_error_from(http_request *r, const fo_err *err);
/* The error object alone, for event streams: {"error":{...}}. */
void http_error_json(fo_buf *b, int status, const char *code, const char *param,
                     const char *message, const char *request_id);
int http_status_of(const fo_err *err, const char **code);
/* What a client is told of it: its sentence, of a fault of the server's (500, 507) without the folders of the files
 * that it names (hidden_paths.h); these the log has. What is written by the functions above is that already. */
enum { HTTP_MESSAGE = sizeof((fo_err *)0)->msg };
const char *http_message_of(const fo_err *err, char room[HTTP_MESSAGE]);

/* A reply of unknown length. write holds 4 MiB for a client that is slow, then blocks, body_timeout_ms
 * in all; FO_ECANCELLED once the client has gone or was too slow. One whose time is over may be told so: write waits no
 * longer for room then. Comment lines keep an event stream alive while nothing is written. */
void http_stream_begin(http_request *r, int status, const char *content_type);
int http_stream_write(http_request *r, const void *data, size_t n);
bool http_replied(const http_request *r);

/* ---- pieces with tests of their own ------------------------------------------------------- */

/* Percent-decoding in place ('+' stays); false on a bad escape, NUL or invalid UTF-8. */
bool http_url_decode(char *s);
/* Does `path` fit? Values of up to 4 params go to values[] as (start, length) of path. */
bool http_pattern_match(const char *pattern, const char *path, const char *starts[4],
                        size_t lengths[4], size_t *n);

#endif
