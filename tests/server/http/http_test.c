/* The HTTP server by itself: errors, limits of bodies, headers and connections, paths, streaming
 * both ways, slow and rude clients, the lanes of workers, stopping. */
#include "tests/test.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>

#include "kernels/priority.h"
#include "server/http/http.h"
#include "server/base/log.h"

/* ---- a small application ------------------------------------------------------------------ */

static atomic_int release_slow, slow_running, slow_cancelled, sse_cancelled, observed;

static void on_health(http_request *r, void *app) {
    (void)app;
    http_reply(r, 200, "application/json", "{\"status\":\"ok\"}", 15);
}

static void on_echo(http_request *r, void *app) {
    (void)app;
    size_t n;
    const char *body = http_body(r, &n);
    http_reply(r, 200, "text/plain", body, n);
}

static void on_item(http_request *r, void *app) {
    (void)app;
    const char *id = http_param(r, "id");
    http_reply(r, 200, "text/plain", id, strlen(id));
}

static void on_nice(http_request *r, void *app) {
    (void)app;
    char text[16];
    int n = snprintf(text, sizeof text, "%d", getpriority(PRIO_PROCESS, 0));
    http_reply(r, 200, "text/plain", text, (size_t)n);
}

static void on_slow(http_request *r, void *app) {
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

static void on_stream(http_request *r, void *app) {
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

static void on_early(http_request *r, void *app) { /* answers without reading its body */
    (void)app;
    http_error(r, 422, "unusable", "line", "line 1 is not what it should be");
}

static void on_sse(http_request *r, void *app) {
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

static void on_big(http_request *r, void *app) {
    (void)app;
    fo_buf b = {0};
    size_t n = (size_t)atoi(http_arg(r, "n"));
    fo_buf_reserve(&b, n);
    memset(b.data, '7', b.len = n);
    http_reply_json(r, 200, &b);
}

static void on_nothing(http_request *r, void *app) {
    (void)r, (void)app;
}

static void observe(void *app, const http_summary *s) {
    (void)app, (void)s;
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

static http_server *start(http_options opt) {
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

static int dial(http_server *s) {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)http_port(s))};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
    struct timeval t = {20, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t);
    return fd;
}

static bool put(int fd, const char *data, size_t n) {
    for (size_t done = 0; done < n;) {
        ssize_t k = send(fd, data + done, n - done, MSG_NOSIGNAL);
        if (k <= 0) return false;
        done += (size_t)k;
    }
    return true;
}

static bool say(int fd, const char *text) {
    return put(fd, text, strlen(text));
}

/* One reply; status 0: the connection ended. Reads Content-Length and chunked bodies. */
typedef struct reply {
    int status;
    char head[8192];
    char *body; /* the caller frees it */
    size_t n;
} reply;

static bool get_bytes(int fd, char *to, size_t n) {
    for (size_t got = 0; got < n;) {
        ssize_t k = recv(fd, to + got, n - got, 0);
        if (k <= 0) return false;
        got += (size_t)k;
    }
    return true;
}

static reply hear(int fd) {
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

static reply ask(http_server *s, const char *request) {
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

static void expect(http_server *s, const char *request, int status, const char *in_head,
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

static void wait_until(atomic_int *v, int want) {
    for (int i = 0; i < 5000 && *v != want; i++) usleep(2000);
    assert_int_equal(*v, want);
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

#define H " HTTP/1.1\r\nHost: localhost\r\n"

/* ---- tests -------------------------------------------------------------------------------- */

static void answers_and_names_the_request(void **state) {
    (void)state;
    http_server *s = start((http_options){0});
    expect(s, "GET /health" H "X-Request-Id: mine-42\r\n\r\n", 200, "X-Request-Id: mine-42", "ok");
    expect(s, "GET /health" H "X-Request-Id: a b\"c\r\n\r\n", 200, "X-Request-Id: r_", "ok");
    int fd = dial(s);
    say(fd, "HEAD /health" H "Connection: close\r\n\r\n");
    char head[4096];
    ssize_t n, total = 0;
    while ((n = recv(fd, head + total, sizeof head - 1 - (size_t)total, 0)) > 0) total += n;
    head[total] = 0;
    assert_memory_equal(head, "HTTP/1.1 200", 12);
    assert_string_equal(head + total - 4, "\r\n\r\n"); /* no body */
    close(fd);
    http_stop(s, 1000, NULL);
}

static void errors_have_the_pinned_shape(void **state) {
    (void)state;
    http_server *s = start((http_options){.max_body_bytes = 1000});
    expect(s, "GET /none" H "\r\n", 404, "", "\"code\":\"not_found\"");
    expect(s, "POST /health" H "Content-Length: 3\r\n\r\nabc", 405, "Allow: GET\r\n", "GET");
    expect(s, "PUT /items/x" H "Content-Length: 0\r\n\r\n", 405, "Allow: GET, DELETE\r\n", "PUT");
    expect(s, "OPTIONS /items/x" H "\r\n", 204, "Allow: GET, DELETE\r\n", "");
    expect(s, "POST /echo?c=1" H "Content-Length: 0\r\n\r\n", 400, "", "\"param\":\"c\"");
    expect(s, "POST /echo?a=1&a=2" H "Content-Length: 0\r\n\r\n", 400, "", "twice");
    expect(s, "POST /echo?a=%zz" H "Content-Length: 0\r\n\r\n", 400, "", "percent");
    expect(s, "GET /items/%00" H "\r\n", 400, "", "bad_request");
    expect(s, "GET /items/%ff" H "\r\n", 400, "", "bad_request");
    expect(s, "POST /echo" H "Content-Type: image/png\r\nContent-Length: 1\r\n\r\nx", 415, "",
           "unsupported_media_type");
    expect(s, "POST /echo" H "Content-Length: 99999999\r\n\r\n", 413, "", "too_large");
    expect(s, "GET /nothing" H "\r\n", 500, "", "server_error");
    fo_buf b = {0}; /* a body that does not tell its length and is too long */
    fo_buf_str(&b, "POST /echo" H "Transfer-Encoding: chunked\r\n\r\n7d0\r\n");
    for (int i = 0; i < 2000; i++) fo_buf_char(&b, 'a');
    fo_buf_str(&b, "\r\n0\r\n\r\n");
    expect(s, b.data, 413, "", "too_large");
    fo_buf_free(&b);
    http_stop(s, 1000, NULL);
}

/* A body that waits holds memory; one more that would pass the limit of all is told to come again,
 * and what ends gives its share back. */
static void bodies_together_have_a_limit(void **state) {
    (void)state;
    enum { FIRST = 70000, SECOND = 90000 };
    http_server *s = start((http_options){.max_body_bytes = 100000, .max_buffered_bytes = 150000});
    fo_buf head = {0};
    char *body = malloc(SECOND);
    memset(body, 'a', SECOND);
    fo_buf_printf(&head, "POST /echo" H "Content-Length: %d\r\n\r\n", SECOND);
    int waiting = dial(s);
    assert_true(put(waiting, head.data, head.len) && put(waiting, body, FIRST));
    for (int i = 0; i < 50; i++) /* one thread serves all: by then it has taken what waits */
        expect(s, "GET /health" H "\r\n", 200, "", "ok");
    int fd = dial(s);
    assert_true(put(fd, head.data, head.len) && put(fd, body, SECOND));
    reply r = hear(fd);
    assert_status(r, 503);
    assert_non_null(strstr(r.body, "overloaded"));
    assert_non_null(strstr(r.head, "Retry-After"));
    free(r.body);
    close(fd);
    assert_true(put(waiting, body, SECOND - FIRST));
    r = hear(waiting);
    assert_status(r, 200);
    assert_int_equal(r.n, SECOND);
    free(r.body);
    close(waiting);
    for (int i = 0, tries = 0; i < 5; tries++) { /* nothing stays held for any of them */
        fd = dial(s);
        assert_true(put(fd, head.data, head.len) && put(fd, body, SECOND));
        r = hear(fd);
        /* A reply may be here before the thread that wrote it has let its request go. */
        if (r.status != 503 || tries > 1000) {
            assert_status(r, 200);
            i++;
        }
        free(r.body);
        close(fd);
        usleep(1000);
    }
    free(body);
    fo_buf_free(&head);
    http_stop(s, 1000, NULL);
}

static void headers_have_limits(void **state) {
    (void)state;
    http_server *s = start((http_options){0});
    fo_buf b = {0};
    fo_buf_str(&b, "GET /health" H "A: ");
    for (int i = 0; i < 30000; i++) fo_buf_char(&b, 'a');
    fo_buf_str(&b, "\r\n\r\n");
    expect(s, b.data, 431, "", "headers_too_large");
    fo_buf_clear(&b);
    fo_buf_str(&b, "GET /health" H);
    for (int i = 0; i < 300; i++) fo_buf_printf(&b, "A%d: b\r\n", i);
    fo_buf_str(&b, "\r\n");
    expect(s, b.data, 431, "", "headers_too_large");
    fo_buf_free(&b);
    http_stop(s, 1000, NULL);
}

static void paths_are_decoded_once(void **state) {
    (void)state;
    http_server *s = start((http_options){0});
    expect(s, "GET /items/a%2Fb%23c%25+%C3%A9/d" H "\r\n", 200, "", "a/b#c%+\xC3\xA9/d");
    http_stop(s, 1000, NULL);
}

static void requests_in_one_packet_are_answered_in_order(void **state) {
    (void)state;
    http_server *s = start((http_options){0});
    int fd = dial(s);
    fo_buf b = {0};
    for (int i = 0; i < 20; i++)
        fo_buf_printf(&b, "POST /echo" H "Content-Length: 7\r\n\r\nbody %02d", i);
    assert_true(put(fd, b.data, b.len));
    for (int i = 0; i < 20; i++) {
        char text[16];
        snprintf(text, sizeof text, "body %02d", i);
        reply r = hear(fd);
        assert_status(r, 200);
        assert_string_equal(r.body, text);
        free(r.body);
    }
    /* a refused body keeps the connection usable */
    say(fd, "POST /none" H "Content-Length: 3\r\n\r\nabcGET /health" H "\r\n");
    reply r = hear(fd);
    assert_status(r, 404);
    free(r.body);
    r = hear(fd);
    assert_status(r, 200);
    free(r.body);
    fo_buf_free(&b);
    close(fd);
    http_stop(s, 1000, NULL);
}

static void health_answers_while_every_worker_is_busy(void **state) {
    (void)state;
    http_server *s = start((http_options){.n_workers = {0, 2, 1}, .queue_length = {0, 3, 1}});
    int fds[5];
    for (int i = 0; i < 5; i++) {
        fds[i] = dial(s);
        say(fds[i], "GET /slow" H "\r\n");
        if (i < 2) wait_until(&slow_running, i + 1);
    }
    http_load load = {0};
    for (int i = 0; i < 1000 && load.queued[HTTP_LANE_QUERY] != 3; i++) {
        usleep(2000);
        http_get_load(s, &load);
    }
    assert_int_equal(load.queued[HTTP_LANE_QUERY], 3);
    for (int i = 0; i < 20; i++) {
        double began = seconds();
        expect(s, "GET /health" H "\r\n", 200, "", "ok");
        assert_true(seconds() - began < 2);
    }
    /* two run, three wait: the sixth is refused */
    expect(s, "GET /slow" H "\r\n", 503, "Retry-After: ", "overloaded");
    release_slow = 1;
    for (int i = 0; i < 5; i++) {
        reply r = hear(fds[i]);
        assert_status(r, 200);
        free(r.body);
        close(fds[i]);
    }
    http_stop(s, 1000, NULL);
}

static void what_writes_gives_way_to_what_asks(void **state) {
    (void)state;
    http_server *s = start((http_options){0});
    const int usual = getpriority(PRIO_PROCESS, 0);
    const int low = usual + FO_BACKGROUND_NICE < 19 ? usual + FO_BACKGROUND_NICE : 19;
    reply asks = ask(s, "GET /nice" H "\r\n");
    reply writes = ask(s, "POST /nice" H "Content-Length: 0\r\n\r\n");
    assert_int_equal(asks.status, 200);
    assert_int_equal(writes.status, 200);
    assert_int_equal(atoi(asks.body), usual);
    assert_int_equal(atoi(writes.body), low);
    free(asks.body);
    free(writes.body);
    http_stop(s, 1000, NULL);
}

static void a_client_that_leaves_cancels_its_request(void **state) {
    (void)state;
    http_server *s = start((http_options){0});
    int fd = dial(s);
    say(fd, "GET /slow" H "\r\n");
    wait_until(&slow_running, 1);
    close(fd);
    wait_until(&slow_cancelled, 1);
    fd = dial(s); /* and one that leaves in the middle of a stream */
    say(fd, "GET /sse?n=1000000&pause=1" H "\r\n");
    char some[200];
    assert_true(recv(fd, some, sizeof some, 0) > 0);
    close(fd);
    wait_until(&sse_cancelled, 1);
    fd = dial(s); /* and one that never reads */
    say(fd, "GET /sse?n=100000&big=1" H "\r\n");
    usleep(300000);
    close(fd);
    wait_until(&sse_cancelled, 2);
    http_stop(s, 1000, NULL);
}

static void a_body_of_any_length_streams_through(void **state) {
    (void)state;
    http_server *s = start((http_options){.max_body_bytes = 1000, .n_workers = {0, 1, 2}});
    enum { N = 8 << 20 };
    char *data = malloc(N);
    uint64_t seed = test_seed(), sum = 0;
    for (size_t i = 0; i < N; i++) {
        data[i] = (char)test_random(&seed);
        sum = sum * 31 + (unsigned char)data[i];
    }
    char want[64];
    snprintf(want, sizeof want, "%d %llu", N, (unsigned long long)sum);
    for (int chunked = 0; chunked < 2; chunked++) {
        int fd = dial(s);
        fo_buf b = {0};
        if (chunked) {
            say(fd, "POST /stream" H "Transfer-Encoding: chunked\r\n\r\n");
            for (size_t at = 0; at < N;) {
                size_t k = 1 + test_random(&seed) % 200000;
                if (k > N - at) k = N - at;
                fo_buf_clear(&b);
                fo_buf_printf(&b, "%zx\r\n", k);
                fo_buf_add(&b, data + at, k);
                fo_buf_str(&b, "\r\n");
                assert_true(put(fd, b.data, b.len));
                at += k;
            }
            say(fd, "0\r\n\r\n");
        } else {
            fo_buf_printf(&b, "POST /stream" H "Content-Length: %d\r\n\r\n", N);
            put(fd, b.data, b.len);
            assert_true(put(fd, data, N));
        }
        reply r = hear(fd);
        assert_status(r, 200);
        assert_string_equal(r.body, want);
        free(r.body);
        fo_buf_free(&b);
        close(fd);
    }
    int fd = dial(s); /* an answer that is there before the body has ended */
    say(fd, "POST /early" H "Content-Length: 1000000\r\n\r\n");
    usleep(50000);
    assert_true(put(fd, data, 1000000));
    reply r = hear(fd);
    assert_status(r, 422);
    free(r.body);
    close(fd);
    free(data);
    fd = dial(s); /* a client that goes away in the middle of its body */
    say(fd, "POST /stream" H "Content-Length: 1000000\r\n\r\nabc");
    usleep(50000);
    close(fd);
    http_stop(s, 3000, NULL);
}

static void events_stream_with_heartbeats(void **state) {
    (void)state;
    http_server *s = start((http_options){.heartbeat_ms = 100});
    reply r = ask(s, "GET /sse?n=3&pause=350" H "\r\n");
    assert_status(r, 200);
    assert_non_null(strstr(r.head, "text/event-stream"));
    assert_non_null(strstr(r.body, "event: token\ndata: 0\n\n"));
    assert_non_null(strstr(r.body, "event: token\ndata: 2\n\n"));
    assert_non_null(strstr(r.body, "\n\n: keep-alive\n\n"));
    free(r.body);
    r = ask(s, "GET /sse?n=200&big=1" H "\r\n");
    assert_status(r, 200);
    size_t x = 0;
    for (size_t i = 0; i < r.n; i++) x += r.body[i] == 'x';
    assert_int_equal(x, 200 * 32768);
    free(r.body);
    http_stop(s, 1000, NULL);
}

/* A client that reads nothing of a long answer leaves the worker that wrote it, or is given up. */
static void slow_readers_hold_no_worker(void **state) {
    (void)state;
    http_server *s = start((http_options){.n_workers = {0, 1, 1}, .body_timeout_ms = 700});
    int fds[3];
    for (int i = 0; i < 3; i++) { /* 3 MB each, more than the sockets hold */
        fds[i] = dial(s);
        say(fds[i], "GET /sse?n=90&big=1" H "\r\n");
    }
    double began = seconds();
    expect(s, "GET /nice" H "\r\n", 200, "", "");
    if (seconds() - began > 5) fail_msg("a request waited %.1f s for a reader", seconds() - began);
    reply whole = hear(fds[0]); /* and all of it comes when it is asked for */
    assert_status(whole, 200);
    assert_int_equal(whole.n, 90 * 32768);
    free(whole.body);
    int fd = dial(s);
    say(fd, "GET /sse?n=100000&big=1" H "\r\n"); /* 3 GB */
    wait_until(&sse_cancelled, 1);
    expect(s, "GET /nice" H "\r\n", 200, "", "");
    reply cut = hear(fd);
    assert_true(cut.status <= 0); /* without its end */
    free(cut.body);
    close(fd);
    for (int i = 0; i < 3; i++) close(fds[i]);
    http_stop(s, 1000, NULL);
}

/* Large answers that nobody takes have a part of the memory of all, so that one more is told to come again, and those who
 * take nothing of theirs are given up. */
static void large_replies_that_wait_have_a_limit(void **state) {
    (void)state;
    enum { N = 20 << 20 };
    http_server *s = start((http_options){
        .max_buffered_bytes = 80u << 20, .header_timeout_ms = 600000, .body_timeout_ms = 3000});
    int fd = dial(s), small = 4096;
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    say(fd, "GET /big?n=20971520" H "\r\n");
    reply r = {0};
    char head[12];
    assert_true(get_bytes(fd, head, sizeof head)); /* it is being sent */
    assert_memory_equal(head, "HTTP/1.1 200", 12);
    double began = seconds();
    r = ask(s, "GET /big?n=20971520" H "\r\n");
    assert_status(r, 503);
    assert_non_null(strstr(r.body, "overloaded"));
    assert_non_null(strstr(r.head, "Retry-After: 1\r\n"));
    assert_non_null(strstr(r.head, "Content-Type: application/json\r\n"));
    free(r.body);
    expect(s, "GET /big?n=1000" H "\r\n", 200, "", "777"); /* small ones are never refused */
    do { /* it is given up, and its share comes back */
        r = ask(s, "GET /big?n=20971520" H "\r\n");
        if (r.status == 200) assert_int_equal(r.n, N);
        free(r.body);
        usleep(20000);
    } while (r.status != 200 && seconds() - began < 60);
    assert_status(r, 200);
    close(fd);
    for (int i = 0, tries = 0; i < 3 && tries < 100; tries++) { /* nothing stays held */
        r = ask(s, "GET /big?n=20971520" H "\r\n");
        i += r.status == 200;
        free(r.body);
        if (i == 3) break;
        assert_true(tries < 99);
        usleep(5000);
    }
    http_stop(s, 1000, NULL);
}

/* POST /nice with n bytes is taken before long: what others hold leaves room for it. */
static void expect_room(http_server *s, size_t n) {
    char *body = malloc(n);
    memset(body, 'a', n);
    reply r = {0};
    for (int tries = 0; tries < 100 && r.status != 200; tries++) {
        char head[100];
        snprintf(head, sizeof head, "POST /nice" H "Content-Length: %zu\r\n\r\n", n);
        int fd = dial(s);
        assert_true(say(fd, head) && put(fd, body, n));
        r = hear(fd);
        free(r.body);
        r.body = NULL;
        close(fd);
        usleep(10000); /* a reply may be here before its thread has let the body go */
    }
    assert_status(r, 200);
    free(body);
}

/* Who takes an answer slowly, or is refused while sending, keeps the memory of no body. */
static void an_answered_body_holds_no_memory(void **state) {
    (void)state;
    enum { N = 20 << 20, ROOM = 40 << 20 }; /* as buffers: 32 MiB and 64 MiB */
    http_server *s = start((http_options){
        .max_body_bytes = 48u << 20, .max_buffered_bytes = 100u << 20, .body_timeout_ms = 60000});
    char *body = malloc(ROOM), head[12];
    memset(body, 'a', ROOM);
    int slow = dial(s), small = 4096;
    setsockopt(slow, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    assert_true(say(slow, "POST /echo" H "Content-Length: 20971520\r\n\r\n"));
    assert_true(put(slow, body, N));
    assert_true(get_bytes(slow, head, sizeof head)); /* it is being sent */
    assert_memory_equal(head, "HTTP/1.1 200", 12);
    expect_room(s, ROOM);
    close(slow);
    int large = dial(s); /* whose length is known too late, and of which more could come */
    assert_true(say(large, "POST /echo" H "Transfer-Encoding: chunked\r\n\r\n4000000\r\n"));
    assert_true(put(large, body, ROOM) && put(large, body, N / 2));
    expect_room(s, ROOM);
    close(large);
    free(body);
    http_stop(s, 1000, NULL);
}

static void slow_clients_are_cut_off(void **state) {
    (void)state;
    http_server *s = start((http_options){.header_timeout_ms = 400, .body_timeout_ms = 400});
    double began = seconds();
    int fd = dial(s), body = dial(s);
    say(body, "POST /echo" H "Content-Length: 100000\r\n\r\n");
    bool open_headers = true, open_body = true;
    const char *text = "GET /health HTTP/1.1\r\nX: ";
    for (int i = 0; i < 200 && (open_headers || open_body); i++) { /* a byte at a time */
        char c = i < (int)strlen(text) ? text[i] : 'x';
        open_headers = open_headers && put(fd, &c, 1);
        open_body = open_body && put(body, "x", 1);
        usleep(30000);
    }
    assert_false(open_headers);
    assert_false(open_body);
    assert_true(seconds() - began < 6);
    close(fd);
    close(body);
    expect(s, "GET /health" H "\r\n", 200, "", "ok");
    http_stop(s, 1000, NULL);
}

/* Both kinds of bodies, below the least rate and beyond the longest time: told why, then cut off. */
static void a_body_that_comes_too_slowly_is_answered(void **state) {
    (void)state;
    static const struct {
        const char *head, *piece, *why;
        int rate, total_ms;
    } slow[] = {
        {"POST /echo" H "Content-Length: 100000\r\n\r\n", "xx", "--body-rate", 200, 0},
        {"POST /stream" H "Content-Length: 100000\r\n\r\n", "xx", "--body-rate", 200, 0},
        {"POST /stream" H "Transfer-Encoding: chunked\r\n\r\n", "2\r\nxx\r\n", "--body-rate", 1000,
         0},
        {"POST /none" H "Transfer-Encoding: chunked\r\n\r\n", "2\r\nxx\r\n", "no such route", 1000,
         0},
        {"GET /health" H "Transfer-Encoding: chunked\r\n\r\n", "2\r\nxx\r\n", "--body-rate", 1000,
         0},
        {"POST /echo" H "Content-Length: 100000\r\n\r\n", "xx", "--body-timeout", -1, 700},
        {"POST /stream" H "Transfer-Encoding: chunked\r\n\r\n", "2\r\nxx\r\n", "--body-timeout", -1,
         700},
    };
    for (size_t i = 0; i < sizeof slow / sizeof *slow; i++) {
        http_server *s = start((http_options){.body_timeout_ms = 500,
                                              .body_bytes_per_s = slow[i].rate,
                                              .body_total_ms = slow[i].total_ms});
        double began = seconds();
        int fd = dial(s);
        say(fd, slow[i].head);
        struct pollfd p = {fd, POLLIN, 0};
        for (int k = 0; k < 300 && poll(&p, 1, 30) == 0; k++) say(fd, slow[i].piece);
        reply r = hear(fd);
        double took = seconds() - began;
        if (r.status != (i == 3 ? 404 : 408) || !strstr(r.body, slow[i].why) || took < .4 ||
            took > 8)
            fail_msg("%s%d after %.1f s: %s", slow[i].head, r.status, took, r.body);
        assert_non_null(strcasestr(r.head, "\r\nConnection: close"));
        assert_non_null(strcasestr(r.head, "\r\nX-Request-Id: r_"));
        free(r.body);
        char c;
        assert_true(recv(fd, &c, 1, 0) <= 0); /* and nothing after it */
        close(fd);
        expect(s, "GET /health" H "\r\n", 200, "", "ok");
        http_stop(s, 1000, NULL);
    }
}

/* At the least rate and above it nobody is cut off, however long it takes. */
static void a_body_that_comes_steadily_is_taken(void **state) {
    (void)state;
    http_server *s = start((http_options){.body_timeout_ms = 600, .body_bytes_per_s = 100});
    int fds[2];
    for (int i = 0; i < 2; i++) {
        fds[i] = dial(s);
        fo_buf b = {0};
        fo_buf_printf(&b, "POST %s" H "Content-Length: 900\r\n\r\n", i ? "/stream" : "/echo");
        put(fds[i], b.data, b.len);
        fo_buf_free(&b);
    }
    char piece[30];
    memset(piece, 'a', sizeof piece);
    for (int k = 0; k < 30; k++) { /* 300 bytes a second */
        usleep(100000);
        for (int i = 0; i < 2; i++) assert_true(put(fds[i], piece, sizeof piece));
    }
    for (int i = 0; i < 2; i++) {
        reply r = hear(fds[i]);
        assert_status(r, 200);
        free(r.body);
        close(fds[i]);
    }
    http_stop(s, 1000, NULL);
}

static void slow_bodies_hold_no_worker(void **state) {
    (void)state;
    http_server *s = start((http_options){.n_workers = {0, 1, 1}, .body_bytes_per_s = -1});
    int fds[40];
    for (int i = 0; i < 40; i++) {
        fds[i] = dial(s);
        say(fds[i], "POST /stream" H "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
    }
    /* Some have had a first step, so that their handlers are in the middle of a body. */
    char *piece = malloc(100000);
    memset(piece, 'b', 100000);
    for (int i = 0; i < 10; i++) {
        say(fds[i], "186a0\r\n");
        assert_true(put(fds[i], piece, 100000));
        say(fds[i], "\r\n");
    }
    free(piece);
    for (int i = 0; i < 20; i++) {
        double began = seconds();
        reply r = ask(s, "POST /nice" H "Content-Length: 0\r\n\r\n");
        assert_status(r, 200);
        free(r.body);
        if (seconds() - began > 5) fail_msg("%.1f s for a write", seconds() - began);
    }
    for (int i = 0; i < 40; i += 2) close(fds[i]); /* half of them go, the others end */
    for (int i = 1; i < 40; i += 2) {
        assert_true(say(fds[i], "1\r\nd\r\n0\r\n\r\n"));
        reply r = hear(fds[i]);
        assert_status(r, 200);
        assert_int_equal(atoi(r.body), i < 10 ? 100004 : 4);
        free(r.body);
        close(fds[i]);
    }
    http_stop(s, 3000, NULL);
}

/* The last bytes and the end in one segment: no event of its own tells of that end. */
static void an_end_that_comes_with_the_last_bytes_is_seen(void **state) {
    (void)state;
    static const char *const cut[] = {
        "POST /echo" H "Content-Length: 100\r\n\r\nabc",
        "POST /stream" H "Content-Length: 100\r\n\r\nabc",
        "POST /stream" H "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
        "POST /none" H "Content-Length: 100\r\n\r\nabc",
        "GET /health HTTP/1.1\r\nHost: local",
        "GET",
    };
    enum { EACH = 20, N = EACH * sizeof cut / sizeof *cut };
    http_server *s = start((http_options){.header_timeout_ms = 20000, .body_timeout_ms = 20000});
    int fds[N];
    double began = seconds();
    for (int i = 0; i < N; i++) {
        const char *text = cut[(size_t)i % (sizeof cut / sizeof *cut)];
        fds[i] = dial(s);
        assert_int_equal(send(fds[i], text, strlen(text), MSG_NOSIGNAL | MSG_MORE), strlen(text));
        shutdown(fds[i], SHUT_WR);
    }
    int waited = 0;
    for (int i = 0; i < N; i++) {
        char c[512];
        while (recv(fds[i], c, sizeof c, 0) > 0) {
        }
        waited += seconds() - began > 8;
        close(fds[i]);
    }
    print_message("# %d of %d connections waited for a timeout, %.1f s\n", waited, N,
                  seconds() - began);
    assert_int_equal(waited, 0);
    /* One that is whole is answered though its sender has ended: what it asked for is quick. */
    int fd = dial(s);
    const char *whole = "GET /health" H "\r\n";
    assert_int_equal(send(fd, whole, strlen(whole), MSG_NOSIGNAL | MSG_MORE), strlen(whole));
    shutdown(fd, SHUT_WR);
    reply r = hear(fd);
    assert_status(r, 200);
    free(r.body);
    close(fd);
    http_stop(s, 1000, NULL);
}

static void connections_are_capped(void **state) {
    (void)state;
    http_server *s = start((http_options){.max_connections = 4});
    int fds[12];
    for (int i = 0; i < 12; i++) fds[i] = dial(s);
    usleep(100000);
    http_load load;
    http_get_load(s, &load);
    assert_true(load.connections <= 4);
    for (int i = 0; i < 12; i++) close(fds[i]);
    usleep(100000);
    expect(s, "GET /health" H "\r\n", 200, "", "ok");
    http_stop(s, 1000, NULL);
}

/* Connections that say nothing, or begin a request and say no more, make room for those that ask. */
static void idle_connections_make_room(void **state) {
    (void)state;
    http_server *s = start((http_options){.max_connections = 100});
    int fds[1100];
    double worst = 0;
    for (int i = 0; i < 1100; i++) {
        fds[i] = dial(s);
        if (i % 3 == 0) say(fds[i], "GET /health HTTP/1.1\r\nHost: lo");
        if (i % 50 != 49) continue;
        double began = seconds();
        expect(s, "GET /health" H "\r\n", 200, "", "ok");
        expect(s, "POST /echo" H "Content-Length: 2\r\n\r\nhi", 200, "", "hi");
        if (seconds() - began > worst) worst = seconds() - began;
    }
    print_message("# with 1,100 idle connections the slowest probe took %.3f s\n", worst);
    assert_true(worst < 5);
    http_load load;
    http_get_load(s, &load);
    assert_true(load.evicted >= 900);
    for (int i = 0; i < 1100; i++) close(fds[i]);
    http_stop(s, 1000, NULL);
}

/* Where all are at work a reserve tells of it, and still answers probes. */
static void busy_connections_leave_a_reserve(void **state) {
    (void)state;
    http_server *s = start((http_options){.max_connections = 20, .n_workers = {0, 2, 1}});
    int fds[20], idle[60];
    for (int i = 0; i < 20; i++) {
        fds[i] = dial(s);
        say(fds[i], i % 2 ? "GET /slow" H "\r\n" : "POST /echo" H "Content-Length: 9\r\n\r\nabc");
    }
    wait_until(&slow_running, 2);
    http_load load = {0};
    for (int i = 0; i < 1000 && load.in_flight != 20; i++) {
        usleep(2000);
        http_get_load(s, &load);
    }
    assert_int_equal(load.in_flight, 20);
    for (int i = 0; i < 60; i++) idle[i] = dial(s); /* and some that say nothing */
    for (int i = 0; i < 30; i++) {
        expect(s, "GET /health" H "\r\n", 200, "", "ok");
        expect(s, "GET /nice" H "\r\n", 503, "Retry-After: ", "--max-connections");
        expect(s, "POST /echo" H "Transfer-Encoding: chunked\r\n\r\n", 503, "Connection: close",
               "20 connections");
    }
    release_slow = 1;
    for (int i = 0; i < 20; i++) {
        if (i % 2 == 0) say(fds[i], "defghi");
        reply r = hear(fds[i]);
        assert_status(r, 200);
        free(r.body);
        close(fds[i]);
    }
    for (int i = 0; i < 60; i++) close(idle[i]);
    for (int i = 0; i < 1000 && load.connections > 10; i++) {
        usleep(2000);
        http_get_load(s, &load);
    }
    expect(s, "GET /nice" H "\r\n", 200, "", "");
    http_stop(s, 1000, NULL);
}

static void *stop_slowly(void *s) {
    http_stop(s, 10000, NULL);
    return NULL;
}

static void stopping_waits_for_what_runs(void **state) {
    (void)state;
    http_server *s = start((http_options){0});
    int running = dial(s), kept = dial(s), port = http_port(s);
    say(kept, "GET /health" H "\r\n");
    reply r = hear(kept);
    assert_status(r, 200);
    free(r.body);
    say(running, "GET /slow" H "\r\n");
    wait_until(&slow_running, 1);
    pthread_t t;
    pthread_create(&t, NULL, stop_slowly, s);
    for (int i = 0; i < 1000 && !http_draining(s); i++) usleep(1000);
    usleep(50000);
    say(kept, "GET /health" H "\r\n"); /* on an open connection: told */
    r = hear(kept);
    assert_status(r, 503);
    free(r.body);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_not_equal(connect(fd, (struct sockaddr *)&at, sizeof at), 0); /* new: refused */
    close(fd);
    release_slow = 1;
    r = hear(running);
    assert_status(r, 200);
    assert_string_equal(r.body, "slow");
    free(r.body);
    pthread_join(t, NULL);
    close(running);
    close(kept);

    s = start((http_options){0}); /* and cancels what does not end in time */
    running = dial(s);
    say(running, "GET /slow" H "\r\n");
    wait_until(&slow_running, 1);
    http_stop(s, 100, NULL);
    assert_int_equal(slow_cancelled, 1);
    close(running);
}

/* What is still being sent when the service ends: answered if its end comes in time, else cut off. */
static void stopping_does_not_wait_for_bodies(void **state) {
    (void)state;
    http_server *s = start((http_options){0});
    int streamed = dial(s), whole = dial(s), never = dial(s);
    say(streamed, "POST /stream" H "Content-Length: 10\r\n\r\nhello");
    say(whole, "POST /echo" H "Content-Length: 10\r\n\r\nhello");
    say(never, "POST /stream" H "Content-Length: 10\r\n\r\nhello");
    http_load load = {0};
    for (int i = 0; i < 1000 && load.in_flight < 3; i++) {
        usleep(1000);
        http_get_load(s, &load);
    }
    assert_int_equal(load.in_flight, 3);
    double began = seconds();
    pthread_t t;
    pthread_create(&t, NULL, stop_slowly, s);
    for (int i = 0; i < 1000 && !http_draining(s); i++) usleep(1000);
    usleep(300000); /* by then what has not begun is cancelled, and no worker is left */
    say(streamed, "there");
    say(whole, "there");
    reply r = hear(streamed);
    assert_status(r, 503);
    assert_non_null(strstr(r.body, "shutting_down"));
    free(r.body);
    r = hear(whole);
    assert_status(r, 503);
    free(r.body);
    r = hear(never);
    assert_status(r, 0);
    free(r.body);
    pthread_join(t, NULL);
    if (seconds() - began > 8) fail_msg("it took %.1f s", seconds() - began);
    close(streamed);
    close(whole);
    close(never);
}

/* libmicrohttpd answers these before any callback of ours: no error body, but the right status. */
static void what_is_no_http_gets_its_status_from_the_library(void **state) {
    (void)state;
    static const struct {
        const char *request;
        int status;
    } rude[] = {
        {"GET /health\r\nHost: x\r\n\r\n", 400},
        {"GET /health HTTP/9.9\r\nHost: x\r\n\r\n", 505},
        {"GET /health HTTP/1.1\r\n\r\n", 400},
        {"GET /health" H "no colon\r\n\r\n", 400},
        {"POST /echo" H "Content-Length: abc\r\n\r\n", 400},
        {"POST /echo" H "Content-Length: 99999999999999999999999\r\n\r\n", 413},
        {"POST /echo" H "Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400},
    };
    http_server *s = start((http_options){0});
    for (size_t i = 0; i < sizeof rude / sizeof *rude; i++) {
        reply r = ask(s, rude[i].request);
        if (r.status != rude[i].status)
            fail_msg("%.60s\n-> %d, not %d", rude[i].request, r.status, rude[i].status);
        free(r.body);
    }
    expect(s, "GET /health" H "\r\n", 200, "", "ok");
    http_stop(s, 1000, NULL);
}

static void *hammer(void *arg) {
    http_server *s = arg;
    static const char *const requests[] = {
        "GET /health" H "\r\n",
        "POST /echo" H "Content-Length: 5\r\n\r\nhello",
        "GET /sse?n=50" H "\r\n",
        "POST /stream" H "Content-Length: 5\r\n\r\nhello",
        "POST /stream" H "Content-Length: 50\r\n\r\nhello",
        "POST /echo" H "Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        "GARBAGE\r\n\r\n",
    };
    static atomic_int number;
    uint64_t seed = (uint64_t)atomic_fetch_add(&number, 1);
    for (int i = 0; i < 60; i++) {
        int fd = dial(s);
        say(fd, requests[test_random(&seed) % (sizeof requests / sizeof *requests)]);
        if (test_random(&seed) % 3) { /* some do not wait for the answer */
            char some[64];
            struct pollfd p = {fd, POLLIN, 0};
            if (poll(&p, 1, 50) > 0) (void)!recv(fd, some, sizeof some, 0);
        }
        close(fd);
    }
    return NULL;
}

static void many_rude_clients_do_no_harm(void **state) {
    (void)state;
    http_server *s = start((http_options){.body_timeout_ms = 300});
    pthread_t t[4];
    for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, hammer, s);
    for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
    expect(s, "GET /health" H "\r\n", 200, "", "ok");
    http_stop(s, 3000, NULL);
    assert_true(observed > 0);
}

static void patterns_take_segments_and_rests(void **state) {
    (void)state;
    const char *at[4];
    size_t len[4], n;
    assert_true(http_pattern_match("/a/{x}/b", "/a/1/b", at, len, &n));
    assert_int_equal(n, 1);
    assert_int_equal(len[0], 1);
    assert_false(http_pattern_match("/a/{x}/b", "/a/1/2/b", at, len, &n));
    assert_false(http_pattern_match("/a/{x}", "/a/", at, len, &n));
    assert_true(http_pattern_match("/a/{x}", "/a/1/2", at, len, &n));
    assert_int_equal(len[0], 3);
    assert_false(http_pattern_match("/a", "/ab", at, len, &n));
    assert_false(http_pattern_match("/ab", "/a", at, len, &n));
    assert_true(http_pattern_match("/", "/", at, len, &n));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_and_names_the_request),
        cmocka_unit_test(errors_have_the_pinned_shape),
        cmocka_unit_test(bodies_together_have_a_limit),
        cmocka_unit_test(headers_have_limits),
        cmocka_unit_test(what_is_no_http_gets_its_status_from_the_library),
        cmocka_unit_test(paths_are_decoded_once),
        cmocka_unit_test(requests_in_one_packet_are_answered_in_order),
        cmocka_unit_test(health_answers_while_every_worker_is_busy),
        cmocka_unit_test(what_writes_gives_way_to_what_asks),
        cmocka_unit_test(a_client_that_leaves_cancels_its_request),
        cmocka_unit_test(a_body_of_any_length_streams_through),
        cmocka_unit_test(events_stream_with_heartbeats),
        cmocka_unit_test(slow_readers_hold_no_worker),
        cmocka_unit_test(large_replies_that_wait_have_a_limit),
        cmocka_unit_test(an_answered_body_holds_no_memory),
        cmocka_unit_test(slow_clients_are_cut_off),
        cmocka_unit_test(a_body_that_comes_too_slowly_is_answered),
        cmocka_unit_test(a_body_that_comes_steadily_is_taken),
        cmocka_unit_test(slow_bodies_hold_no_worker),
        cmocka_unit_test(an_end_that_comes_with_the_last_bytes_is_seen),
        cmocka_unit_test(connections_are_capped),
        cmocka_unit_test(idle_connections_make_room),
        cmocka_unit_test(busy_connections_leave_a_reserve),
        cmocka_unit_test(stopping_waits_for_what_runs),
        cmocka_unit_test(stopping_does_not_wait_for_bodies),
        cmocka_unit_test(many_rude_clients_do_no_harm),
        cmocka_unit_test(patterns_take_segments_and_rests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
