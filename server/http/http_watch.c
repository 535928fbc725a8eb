/* The watcher: one thread that looks at all connections WATCH_MS apart, for what no event tells.
 *
 *   who went away while a handler works for it or its body is awaited;
 *   whose body comes too slowly, or whose headers do not come at all; who takes a large reply too slowly;
 *   which event streams have been silent for too long, and get a heartbeat;
 *   which idle connections have to make room. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/http/http_internal.h"

#define WATCH_MS 50
#define LOOK_MAX_MS                                                                                \
    200 /* what one look counts for at most: a machine that slept is no slow client */
#define EVICT_IDLE_MS 1000 /* a connection above the limit may take that long to ask */

/* s->mu held, as in all that follows. The HTTP thread sees the end and closes. */
static void cut(http_server *s, http_connection *h) {
    if (h->killed) return;
    h->killed = true;
    s->n_killed++;
    shutdown(h->fd, SHUT_RDWR);
}

bool http_above_limit(const http_server *s) {
    return s->n_connections - s->n_killed > s->opt.max_connections;
}

bool http_evict_idle(http_server *s, const http_connection *spare, int64_t idle_ms) {
    int64_t now_ms = http_now_us() / 1000;
    http_connection *oldest = NULL;
    for (http_connection *h = s->connections; h; h = h->next)
        if (h != spare && !h->request && !h->killed && h->fd >= 0 &&
            now_ms - h->since_ms >= idle_ms && (!oldest || h->since_ms < oldest->since_ms))
            oldest = h;
    if (oldest) {
        cut(s, oldest);
        s->n_evicted++;
    }
    return oldest != NULL;
}

/* All that came is read and nothing more will come. */
static bool at_end(int fd) {
    char c;
    return recv(fd, &c, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

/* The client has shut its side down. */
static void look_at_end(http_connection *h) {
    http_request *r = h->request;
    bool waits = false, works = false;
    if (r) {
        pthread_mutex_lock(&r->mu);
        waits = r->suspended && (r->body_done || r->streaming);
        works = r->suspended || r->body_done;
        if (waits && !r->cancel) {
            r->cancel = true;
            pthread_cond_broadcast(&r->change);
        }
        pthread_mutex_unlock(&r->mu);
    }
    /* libmicrohttpd waits for an edge of epoll after a read that was short. Where the end came with
     * the last bytes there is none: shutting our reading side down makes one. */
    if (!works && at_end(h->fd)) shutdown(h->fd, SHUT_RD);
}

/* A heartbeat, where the stream has been silent. r->mu held. */
static void keep_alive(http_server *s, http_request *r, int64_t now_ms) {
    if (!r->suspended || !r->streaming || r->stream_ended ||
        now_ms - r->last_write_ms < s->opt.heartbeat_ms)
        return;
    if (r->stream_at == r->reply.len) {
        fo_buf_clear(&r->reply);
        r->stream_at = 0;
    }
    fo_buf_str(&r->reply, ": keep-alive\n\n");
    r->last_write_ms = now_ms;
    http_request_resume(r);
}

/* What has taken the time that it may. r->mu held. */
static void end_late(http_request *r, int64_t now_ms) {
    if (!r->deadline_ms || now_ms < r->deadline_ms || r->finished || r->cancel) return;
    r->timed_out = true;
    r->cancel = true;
    pthread_cond_broadcast(&r->change);
}

/* Time that passed while the client had to send counts; each byte buys some. */
static void look_at_body(http_server *s, http_connection *h, double passed_ms) {
    http_request *r = h->request;
    const http_options *o = &s->opt;
    pthread_mutex_lock(&r->mu);
    bool receiving = !r->body_done && !r->suspended && !r->gone && !r->late;
    uint64_t got = r->body_bytes - r->bytes_paid;
    r->bytes_paid = r->body_bytes;
    pthread_mutex_unlock(&r->mu);
    if (!receiving) return;
    double bought = o->body_bytes_per_s > 0 ? (double)got * 1000 / o->body_bytes_per_s
                    : got                   ? o->body_timeout_ms
                                            : 0;
    r->patience_ms += bought;
    if (r->patience_ms > o->body_timeout_ms) r->patience_ms = o->body_timeout_ms;
    r->patience_ms -= passed_ms;
    r->waited_ms += passed_ms;
    char why[200];
    if (o->body_total_ms > 0 && r->waited_ms > o->body_total_ms)
        snprintf(why, sizeof why, "the body did not arrive within %d s of waiting (--body-timeout)",
                 o->body_total_ms / 1000);
    else if (r->patience_ms < 0 && o->body_bytes_per_s <= 0)
        snprintf(why, sizeof why, "nothing came of the body for %d s", o->body_timeout_ms / 1000);
    else if (r->patience_ms < 0)
        snprintf(why, sizeof why,
                 "the body comes too slowly: at least %d bytes a second over %d s (--body-rate)",
                 o->body_bytes_per_s, o->body_timeout_ms / 1000);
    else
        return;
    if (!http_body_late(r, why)) cut(s, h);
}

/* The same for a whole reply that its client takes: a byte now and then would hold it for ever. */
static void look_at_reply(http_server *s, http_connection *h, double passed_ms) {
    http_request *r = h->request;
    const http_options *o = &s->opt;
    pthread_mutex_lock(&r->mu);
    bool sending = r->queued_reply && (r->whole_held || r->reply_spool);
    uint64_t sent = r->stream_at;
    pthread_mutex_unlock(&r->mu);
    if (!sending) return;
    uint64_t took = sent - r->sent_paid;
    r->sent_paid = sent;
    r->sent_patience_ms += o->body_bytes_per_s > 0 ? (double)took * 1000 / o->body_bytes_per_s
                           : took                  ? o->body_timeout_ms
                                                   : 0;
    if (r->sent_patience_ms > o->body_timeout_ms) r->sent_patience_ms = o->body_timeout_ms;
    r->sent_patience_ms -= passed_ms;
    r->sent_ms += passed_ms;
    if (r->sent_patience_ms < 0 || (o->body_total_ms > 0 && r->sent_ms > o->body_total_ms))
        cut(s, h);
}

static void look_at(http_server *s, http_connection *h, short events, int64_t now_ms,
                    double passed_ms) {
    if (h->linger_until_ms) {
        if (now_ms > h->linger_until_ms || at_end(h->fd)) cut(s, h);
        return;
    }
    if (events & (POLLRDHUP | POLLHUP | POLLERR)) look_at_end(h);
    if (h->request) {
        pthread_mutex_lock(&h->request->mu);
        keep_alive(s, h->request, now_ms);
        end_late(h->request, now_ms);
        pthread_mutex_unlock(&h->request->mu);
        look_at_body(s, h, passed_ms);
        look_at_reply(s, h, passed_ms);
    } else if (now_ms - h->since_ms > s->opt.header_timeout_ms) {
        cut(s, h);
    }
}

/* One poll for all: `fds` has room for them. The connections stay while s->mu is held. */
static void look(http_server *s, struct pollfd *fds, double passed_ms) {
    nfds_t n = 0;
    for (http_connection *h = s->connections; h; h = h->next)
        fds[n++] = (struct pollfd){h->killed ? -1 : h->fd, POLLRDHUP, 0};
    if (poll(fds, n, 0) < 0) return;
    int64_t now_ms = http_now_us() / 1000;
    n = 0;
    for (http_connection *h = s->connections; h; h = h->next, n++)
        if (!h->killed && h->fd >= 0) look_at(s, h, fds[n].revents, now_ms, passed_ms);
    if (http_above_limit(s)) http_evict_idle(s, NULL, EVICT_IDLE_MS);
}

void *http_watch(void *arg) {
    http_server *s = arg;
    struct pollfd *fds = NULL;
    size_t room = 0;
    int64_t last_us = http_now_us();
    pthread_mutex_lock(&s->mu);
    while (!s->stop_watcher) {
        if ((size_t)s->n_connections > room) {
            size_t wanted = (size_t)s->n_connections * 2;
            struct pollfd *more = realloc(fds, wanted * sizeof *more);
            if (more) fds = more, room = wanted;
        }
        int64_t now_us = http_now_us();
        double passed_ms = (double)(now_us - last_us) / 1000;
        last_us = now_us;
        if ((size_t)s->n_connections <= room) /* else no memory: at the next look */
            look(s, fds, passed_ms < LOOK_MAX_MS ? passed_ms : LOOK_MAX_MS);
        pthread_mutex_unlock(&s->mu);
        usleep(WATCH_MS * 1000);
        pthread_mutex_lock(&s->mu);
    }
    pthread_mutex_unlock(&s->mu);
    free(fds);
    return NULL;
}
