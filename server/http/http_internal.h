/* http_internal.h - what the files http*.c share; nobody else includes it. */
#ifndef FORAGE_SERVER_HTTP_INTERNAL_H
#define FORAGE_SERVER_HTTP_INTERNAL_H

#include <microhttpd.h>
#include <pthread.h>
#include "server/http/http.h"

typedef struct http_pair {
    char *name, *value;
} http_pair;

typedef struct http_lane_queue {
    http_request **ring;
    int cap, head, count, running;
    pthread_cond_t wake;
    pthread_t *threads;
    int n_threads;
    bool stop;
} http_lane_queue;

/* A connection, from accept to close. Guarded by server->mu. */
typedef struct http_connection {
    struct http_connection *prev, *next;
    int fd;
    int64_t since_ms; /* of the state */
    bool busy;        /* a request is being read or answered */
    bool killed;
} http_connection;

struct http_server {
    /* immutable after start */
    struct MHD_Daemon *daemon;
    http_options opt;
    char address[128];
    char *spool_dir;
    int port, listen_fd;
    char listen_host[128]; /* the name or address of opt.listen in small letters; "": all addresses
                            */
    pthread_t watcher;
    /* guarded by mu (taken before a request's mu, never after) */
    pthread_mutex_t mu;
    pthread_cond_t idle; /* in_flight fell to 0, or stop */
    http_lane_queue lanes[HTTP_N_LANES];
    http_request *flights; /* requests between begin and completed */
    http_connection *connections;
    int n_connections, in_flight;
    bool stop_watcher;
    /* atomic */
    atomic_bool draining;
    atomic_size_t buffered; /* bytes of all bodies held */
    atomic_ullong rejected, next_id;
};

struct http_request {
    /* immutable once the handler runs */
    http_server *server;
    http_connection *socket;
    const http_route *route;
    char id[65];
    char *method, *path;
    http_pair *headers, *args;
    size_t n_headers, n_args;
    http_pair params[4];
    size_t n_params;
    char body_type[128];
    int64_t began_us;
    int fd;
    /* owned: HTTP thread */
    struct MHD_Connection *connection;
    uint64_t drained, reply_bytes;
    size_t accounted; /* bytes of server->buffered that are this body's */
    bool started;     /* handed to a lane */
    bool queued_reply;
    /* guarded by server->mu */
    http_request *prev, *next;
    double waited_ms; /* for the body */
    /* guarded by mu */
    pthread_mutex_t mu;
    pthread_cond_t change;
    fo_buf body;
    uint64_t body_bytes; /* received so far */
    size_t body_at;      /* STREAM: bytes of body already read */
    bool body_done;
    bool suspended;
    bool ready;    /* a reply is there */
    bool finished; /* the handler has returned */
    bool gone;     /* the connection is no more */
    int status;
    char *content_type;
    fo_buf reply;
    spool *reply_spool;
    http_pair *reply_headers;
    size_t n_reply_headers;
    bool streaming, stream_ended;
    size_t stream_at; /* bytes of reply already sent */
    int64_t last_write_ms;
    double queue_ms;
    /* atomic */
    atomic_bool cancel;
    atomic_int refs;
};

int64_t http_now_us(void);
http_request *http_request_create(http_server *s);
void http_request_unref(http_request *r);
/* Let the HTTP thread go on with r (r->mu held). */
void http_request_resume(http_request *r);
/* The handler has returned: make sure there is a reply, let it go. */
void http_request_finish(http_request *r);

/* Bind and listen: fills port, address, listen_host and listen_fd. */
int http_listen(http_server *s, const char *listen_at, fo_err *err);

/* May this caller ask here? Looks at Host, Origin and Sec-Fetch-*; false after an error reply. */
bool http_guard(http_request *r);

int http_lanes_start(http_server *s, fo_err *err);
/* False where the queue is full or stopping. Takes a reference on success. */
bool http_lanes_put(http_server *s, http_request *r);
void http_lanes_stop(http_server *s);

#endif
