/* raw_http.h - a small application over the HTTP server, and a raw client that says byte by byte what it wants and reads
 * what comes:
 *
 *     http_server *s = start((http_options){.max_body_bytes = 1000});
 *     expect(s, "GET /none" H "\r\n", 404, "", "not_found");
 *     http_stop(s, 1000, NULL); */
#ifndef FORAGE_TESTS_RAW_HTTP_H
#define FORAGE_TESTS_RAW_HTTP_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>

#include "server/base/log.h"
#include "server/http/http.h"
#include "tests/test.h"

/* ---- a small application ------------------------------------------------------------------ */

static atomic_int release_slow, slow_running, slow_cancelled, sse_cancelled, observed,
    observed_status;

static inline void on_health(http_request *r, void *app) {
    (void)app;
    http_reply(r, 200, "application/json", "{\"status\":\"ok\"}", 15);
}

static inline void on_echo(http_request *r, void *app) {
    (void)app;
    size_t n;
    const char *body = http_body(r, &n);
    http_reply(r, 200, "text/plain", body, n);
}

static inline void on_item(http_request *r, void *app) {
    (void)app;
    const char *id = http_param(r, "id");
    http_reply(r, 200, "text/plain", id, strlen(id));
}

static inline void on_nice(http_request *r, void *app) {
    (void)app;
    char text[16];
    int n = snprintf(text, sizeof text, "%d", getpriority(PRIO_PROCESS, 0));
    http_reply(r, 200, "text/plain", text, (size_t)n);
}

static inline void on_slow(http_request *r, void *app) {
    (void)app;
    atomic_fetch_add(&slow_running, 1);
    while (!release_slow && !*http_cancel(r)) usleep(2000);
    if (*http_cancel(r)) atomic_fetch_add(&slow_cancelled, 1);
    atomic_fetch_sub(&slow_running, 1);
    http_reply(r, 200, "text/plain", "slow", 4);
}

typedef struct stream_sum {
    uint64_t total, sum;
} stream_sum;

static inline void on_stream(http_request *r, void *app) {
    (void)app;
    char buf[10000];
    fo_err err = {0};
    stream_sum *at = http_state(r);
    if (!at) {
        at = calloc(1, sizeof *at);
        http_set_state(r, at, free);
    }
    for (;;) {
        ssize_t n = http_body_read(r, buf, sizeof buf, &err);
        if (n == HTTP_BODY_LATER) return;
        if (n < 0) {
            http_error_from(r, &err);
            return;
        }
        if (n == 0) break;
        for (ssize_t i = 0; i < n; i++) at->sum = at->sum * 31 + (unsigned char)buf[i];
        at->total += (uint64_t)n;
    }
    char text[64];
    int k = snprintf(text, sizeof text, "%llu %llu", (unsigned long long)at->total,
                     (unsigned long long)at->sum);
    http_reply(r, 200, "text/plain", text, (size_t)k);
}

static inline void on_early(http_request *r, void *app) { /* answers without reading its body */
    (void)app;
    http_error(r, 422, "unusable", "line", "line 1 is not what it should be");
}

static inline void on_sse(http_request *r, void *app) {
    (void)app;
    http_stream_begin(r, 200, "text/event-stream");
    int count = http_arg(r, "n") ? atoi(http_arg(r, "n")) : 3;
    bool big = http_arg(r, "big") != NULL;
    char block[32768];
    memset(block, 'x', sizeof block);
    for (int i = 0; i < count; i++) {
        char text[64];
        int k = snprintf(text, sizeof text, "event: token\ndata: %d\n\n", i);
        int rc =
            big ? http_stream_write(r, block, sizeof block) : http_stream_write(r, text, (size_t)k);
        if (rc) {
            atomic_fetch_add(&sse_cancelled, 1);
            return;
        }
        if (http_arg(r, "pause")) usleep((useconds_t)atoi(http_arg(r, "pause")) * 1000);
    }
}

static inline void on_big(http_request *r, void *app) {
    (void)app;
    fo_buf b = {0};
    size_t n = (size_t)atoi(http_arg(r, "n"));
    fo_buf_reserve(&b, n);
    memset(b.data, '7', b.len = n);
    http_reply_json(r, 200, &b);
}

static inline void on_nothing(http_request *r, void *app) {
    (void)r, (void)app;
}

static inline void observe(void *app, const http_summary *s) {
    (void)app;
    observed_status = s->status;
    atomic_fetch_add(&observed, 1);
}

static const http_route routes[] = {
    {"GET", "/health", on_health, 1, HTTP_BODY_NONE, HTTP_LANE_INLINE, NULL, NULL, 0},
    {"POST", "/echo", on_echo, 1, HTTP_BODY_BUFFER, HTTP_LANE_QUERY, "text/plain application/json",
     "a b", 0},
    {"GET", "/items/{id}", on_item, 1, HTTP_BODY_NONE, HTTP_LANE_QUERY, NULL, NULL, 0},
    {"DELETE", "/items/{id}", on_item, 1, HTTP_BODY_NONE, HTTP_LANE_QUERY, NULL, NULL, 0},
    {"GET", "/nice", on_nice, 1, HTTP_BODY_NONE, HTTP_LANE_QUERY, NULL, NULL, 0},
    {"POST", "/nice", on_nice, 1, HTTP_BODY_BUFFER, HTTP_LANE_INGEST, NULL, NULL, 0},
    {"GET", "/slow", on_slow, 1, HTTP_BODY_NONE, HTTP_LANE_QUERY, NULL, NULL, 0},
    {"POST", "/stream", on_stream, 1, HTTP_BODY_STREAM, HTTP_LANE_INGEST, NULL, NULL, 0},
    {"POST", "/early", on_early, 1, HTTP_BODY_STREAM, HTTP_LANE_INGEST, NULL, NULL, 0},
    {"GET", "/sse", on_sse, 1, HTTP_BODY_NONE, HTTP_LANE_QUERY, NULL, "n big pause", 0},
    {"GET", "/big", on_big, 1, HTTP_BODY_NONE, HTTP_LANE_QUERY, NULL, "n", 0},
    {"GET", "/nothing", on_nothing, 1, HTTP_BODY_NONE, HTTP_LANE_QUERY, NULL, NULL, 0},
};

static inline http_server *start(http_options opt) {
    log_open(LOG_LEVEL_OFF, false);
    opt.listen = "127.0.0.1:0";
    opt.routes = routes;
    opt.n_routes = sizeof routes / sizeof *routes;
    opt.observe = observe;
    release_slow = slow_running = slow_cancelled = sse_cancelled = 0;
    http_server *s;
    fo_err err = {0};
    assert_ok(http_start(&s, &opt, &err), &err);
    assert_true(http_port(s) > 0);
    return s;
}

/* ---- a raw client ------------------------------------------------------------------------- */

static inline int dial(http_server *s) {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)http_port(s))};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
    struct timeval t = {20, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t);
    return fd;
}

static inline bool put(int fd, const char *data, size_t n) {
    for (size_t done = 0; done < n;) {
        ssize_t k = send(fd, data + done, n - done, MSG_NOSIGNAL);
        if (k <= 0) return false;
        done += (size_t)k;
    }
    return true;
}

static inline bool say(int fd, const char *text) {
    return put(fd, text, strlen(text));
}

/* One reply; status 0: the connection ended. Reads Content-Length and chunked bodies. */
typedef struct reply {
    int status;
    char head[8192];
    char *body; /* the caller frees it */
    size_t n;
} reply;

static inline bool get_bytes(int fd, char *to, size_t n) {
    for (size_t got = 0; got < n;) {
        ssize_t k = recv(fd, to + got, n - got, 0);
        if (k <= 0) return false;
        got += (size_t)k;
    }
    return true;
}

static inline reply hear(int fd) {
    reply r = {0};
    size_t n = 0;
    while (n + 1 < sizeof r.head) {
        if (!get_bytes(fd, &r.head[n], 1)) return r;
        n++;
        if (n >= 4 && !memcmp(r.head + n - 4, "\r\n\r\n", 4)) break;
    }
    r.head[n] = 0;
    r.status = atoi(r.head + 9);
    if (r.status == 100) return hear(fd);
    char *length = strcasestr(r.head, "\r\nContent-Length:");
    if (length) {
        r.n = (size_t)atoll(length + 17);
        r.body = calloc(1, r.n + 1);
        if (!get_bytes(fd, r.body, r.n)) r.status = -r.status;
        return r;
    }
    r.body = calloc(1, 1);
    while (strcasestr(r.head, "\r\nTransfer-Encoding: chunked")) {
        char line[32] = "";
        for (size_t i = 0; i < 31 && get_bytes(fd, &line[i], 1); i++)
            if (line[i] == '\n') break;
        size_t size = strtoul(line, NULL, 16);
        r.body = realloc(r.body, r.n + size + 3);
        bool whole = get_bytes(fd, r.body + r.n, size + 2);
        r.n += size;
        r.body[r.n] = 0;
        if (!whole) r.status = -r.status;
        if (!size || !whole) break;
    }
    return r;
}

static inline reply ask(http_server *s, const char *request) {
    int fd = dial(s);
    assert_true(say(fd, request));
    reply r = hear(fd);
    close(fd);
    return r;
}

#define assert_status(r, code)                                                                     \
    do {                                                                                           \
        if ((r).status != (code))                                                                  \
            fail_msg("status %d instead of %d: %s", (r).status, code, (r).body ? (r).body : "");   \
    } while (0)

static inline void expect(http_server *s, const char *request, int status, const char *in_head,
                          const char *in_body) {
    reply r = ask(s, request);
    if (r.status != status || !strstr(r.head, in_head) || !strstr(r.body ? r.body : "", in_body))
        fail_msg("%.60s\n-> %s%s", request, r.head, r.body ? r.body : "");
    if (status >= 400) {
        assert_memory_equal(r.body, "{\"error\":{\"type\":\"", 18);
        assert_non_null(strstr(r.body, "\"code\":\""));
        assert_non_null(strstr(r.body, "\"message\":\""));
        assert_non_null(strstr(r.body, "\"param\":"));
        assert_non_null(strstr(r.body, "\"request_id\":\"r_"));
    }
    free(r.body);
}

static inline void wait_until(atomic_int *v, int want) {
    for (int i = 0; i < 5000 && *v != want; i++) usleep(2000);
    assert_int_equal(*v, want);
}

static inline double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

#define H " HTTP/1.1\r\nHost: localhost\r\n"

#endif
