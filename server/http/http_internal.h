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
    http_request *first, *last; /* by lane_next */
    int cap, count, running;
    pthread_cond_t wake;
    pthread_t *threads;
    int n_threads;
    bool stop;
} http_lane_queue;

typedef struct http_tls http_tls;

/* A connection, from accept to close. Guarded by server->mu. */
typedef struct http_connection {
    struct http_connection *prev, *next;
    int fd;
    int64_t since_ms;        /* of the state */
    int64_t linger_until_ms; /* 0, or it was answered before the end of a body and ends then */
    http_request *request;   /* that is being read or answered; NULL: idle */
    bool above;              /* of max_connections: there was no idle one to make room */
    bool killed;
} http_connection;

struct http_server {
    /* immutable after start */
    struct MHD_Daemon *daemon;
    http_options opt;
    char address[128];
    char *spool_dir;
    http_tls *tls; /* NULL: plain */
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
    int n_connections, n_killed, in_flight; /* killed ones count among the connections */
    uint64_t n_evicted;
    bool stop_watcher;
    /* atomic */
    atomic_bool draining;
    atomic_size_t buffered; /* bytes of all bodies and replies held */
    atomic_size_t replies;  /* of them those of whole replies that wait for their clients */
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
    size_t held; /* owned: the handler. As accounted, by http_hold */
    /* owned: the handler; once it has returned, whoever lets the request go */
    void *state;
    void (*free_state)(void *);
    /* immutable once the handler runs; freed with the request */
    unsigned char peer[16]; /* as http_peer */
    void *caller;
    void (*free_caller)(void *);
    /* guarded by server->mu */
    http_request *prev, *next, *lane_next;
    /* owned: watcher */
    double waited_ms, patience_ms;    /* for the body: so far, and left before it is too slow */
    uint64_t bytes_paid;              /* of body_bytes, for patience */
    double sent_ms, sent_patience_ms; /* the same for a reply that its client takes */
    uint64_t sent_paid;               /* of stream_at */
    /* guarded by mu */
    pthread_mutex_t mu;
    pthread_cond_t change;
    fo_buf body;
    uint64_t body_bytes; /* received so far */
    size_t body_at;      /* STREAM: bytes of body already read */
    size_t accounted;    /* bytes of server->buffered that are this body's */
    bool body_done;
    bool started; /* handed to its lane at least once */
    bool queued;  /* on its lane, or its handler runs */
    bool later;   /* STREAM: the handler has read all there is, and more comes */
    bool late;    /* the body's end was not waited for: answered past libmicrohttpd */
    bool queued_reply;
    bool told; /* `done` heard of it; of the HTTP thread */
    bool suspended;
    bool ready;    /* a reply is there */
    bool finished; /* the handler has returned */
    bool gone;     /* the connection is no more */
    int status;
    char
        *failure; /* what a reply of 500 or 507 says, for the log; never changes once it is there */
    char *content_type;
    fo_buf reply;
    spool *reply_spool;
    http_pair *reply_headers;
    size_t n_reply_headers;
    bool streaming, stream_ended;
    bool stalled;      /* its client took too little for too long */
    size_t reply_held; /* bytes of server->buffered that are this reply's */
    double blocked_ms; /* that its handler waited for the client, in all */
    size_t whole_held; /* the same, of a reply that is whole; 0 of a small one */
    size_t stream_at;  /* bytes of reply already sent */
    int64_t last_write_ms;
    int64_t deadline_ms; /* 0: none; then it is cancelled */
    bool timed_out;
    double queue_ms;
    trace_span trace;
    int64_t put_us; /* when it came to its lane */
    /* atomic */
    atomic_bool cancel;
    atomic_int refs;
};

int64_t http_now_us(void);
void http_find_peer(http_request *r); /* at its beginning: later the socket may be gone */
/* http_peer as text; out has room for INET6_ADDRSTRLEN. */
void http_peer_name(const http_request *r, char *out);
http_request *http_request_create(http_server *s);
void http_request_unref(http_request *r);
/* Let the HTTP thread go on with r (r->mu held). */
void http_request_resume(http_request *r);
/* The reply that was held whole has been sent (r->mu held). */
void http_request_drop_reply(http_request *r);
/* The handler has returned: make sure there is a reply, let it go. */
void http_request_finish(http_request *r);

/* Bind and listen, or take opt.listen_fd: fills port, address, listen_host and listen_fd. */
int http_listen(http_server *s, const char *listen_at, fo_err *err);

/* May this caller ask here? Looks at Host, Origin and Sec-Fetch-*; false after an error reply. */
bool http_guard(http_request *r);

/* ---- TLS (http_tls.c) ------------------------------------------------------------------------ */

int http_tls_open(http_tls **out, const char *cert, const char *key, fo_err *err);
int http_tls_reload(http_tls *t, fo_err *err);
void http_tls_close(http_tls *t); /* the daemon has ended; NULL is fine */
/* Of MHD_OPTION_HTTPS_CERT_CALLBACK, and of MHD_OPTION_HTTPS_PRIORITIES. */
extern const void *const http_tls_callback;
extern const char http_tls_priorities[];

int http_lanes_start(http_server *s, fo_err *err);
/* False where the queue is full or stopping. Takes a reference on success. */
bool http_lanes_put(http_server *s, http_request *r);
/* The same, server->mu held; again: it has been on the lane before. */
bool http_lanes_put_locked(http_server *s, http_request *r, bool again);
void http_lanes_stop(http_server *s);

/* ---- bodies (http_body.c) ------------------------------------------------------------------- */

size_t http_body_limit(const http_request *r);
/* `*held` becomes `bytes`, as part of what all requests together hold; false where that is too much. */
bool http_account(http_request *r, size_t *held, size_t bytes);
/* Nobody reads what has come of the body any more: its memory is free for others, however long the
 * reply takes (r->mu held). */
void http_body_drop(http_request *r);
/* Bytes of the body; *size: those that were not taken. On the HTTP thread. */
enum MHD_Result http_body_add(http_request *r, const char *data, size_t *size);
/* Put the handler of a streamed body on its lane where there is work for it; any thread, no lock
 * held. _locked: server->mu held. */
void http_body_wake(http_request *r);
void http_body_wake_locked(http_request *r);
/* The handler has returned: true where it waits for more of the body. */
bool http_body_park(http_request *r);
/* Answer before the body has ended, and close when the client has had time to read that: a body that comes too
 * slowly 408, one that is refused with the reply that stands (where none does: 413). False where it is too late
 * or too early for that, and under TLS. _late: server->mu held; _refuse: on the HTTP thread, no lock held. */
bool http_body_late(http_request *r, const char *why);
bool http_body_refuse(http_request *r);

/* ---- the watcher (http_watch.c) ------------------------------------------------------------- */

void *http_watch(void *server);
/* More connections than max_connections, those that are about to end left out? server->mu held. */
bool http_above_limit(const http_server *s);
/* End the connection that has been idle longest, `idle_ms` at least, but not `spare`; false where
 * there is none. server->mu held. */
bool http_evict_idle(http_server *s, const http_connection *spare, int64_t idle_ms);

#endif
