/* The HTTP server by itself: errors, limits of bodies and headers, paths, streaming both ways, the lanes of workers. What
 * clients that are slow, many or rude do to it: http_clients_test.c. */
#include "tests/test.h"

#include "kernels/priority.h"
#include "server/http/client.h"
#include "tests/server/http/raw_http.h"

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

static size_t count(const char *text, const char *what) {
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, what)); at++) n++;
    return n;
}

/* They are sent when nothing else is, not with what comes next; and as far apart as was asked for. */
static void heartbeats_come_by_themselves(void **state) {
    (void)state;
    http_server *s = start((http_options){.heartbeat_ms = 500});
    char text[4000] = "";
    size_t n = 0;
    int fd = dial(s);
    bool came = false;
    say(fd, "GET /sse?n=2&pause=1400" H "\r\n");
    while (n + 1 < sizeof text && !strstr(text, "\r\n0\r\n\r\n")) {
        ssize_t k = recv(fd, text + n, sizeof text - 1 - n, 0);
        assert_true(k > 0);
        text[n += (size_t)k] = 0;
        came = came || (strstr(text, ": keep-alive") && !strstr(text, "data: 1"));
    }
    close(fd);
    assert_true(came);
    assert_in_range(count(text, ": keep-alive"), 2, 6); /* of 2.8 s */
    http_stop(s, 1000, NULL);
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

static void point_elsewhere(http_request *r, void *app) {
    (void)app;
    http_set_header(r, "Location", "https://elsewhere.example/health");
    http_reply(r, 301, "text/html", "<p>Moved", 8);
}

static void not_modified(http_request *r, void *app) {
    (void)app;
    http_reply(r, 304, "text/plain", "", 0);
}

enum { ENDLESS = 20 << 20 };

/* One line of 20 MiB, or one of 1 MiB that ends. */
static void tell_without_end(http_request *r, void *app) {
    (void)app;
    const bool ends = !strcmp(http_param(r, "how"), "ends");
    const size_t n = ends ? 1 << 20 : ENDLESS;
    char *line = malloc(n);
    assert_non_null(line);
    memset(line, 'a', n);
    memcpy(line, "data: ", 6);
    line[n - 1] = ends ? '\n' : 'a';
    http_reply(r, 200, "text/event-stream", line, n);
    free(line);
}

static void count_bytes(void *ctx, const char *event, const char *data, size_t n) {
    (void)event, (void)data;
    *(size_t *)ctx += n;
}

static void an_event_without_end_is_not_kept(void **state) {
    (void)state;
    static const http_route tells[] = {
        {.method = "POST", .pattern = "/tell/{how}", .handler = tell_without_end}};
    log_open(LOG_LEVEL_OFF, false);
    http_server *s;
    client *c;
    char url[64];
    size_t heard = 0;
    fo_err err = {0};
    const http_options o = {.listen = "127.0.0.1:0", .routes = tells, .n_routes = 1};
    assert_ok(http_start(&s, &o, &err), &err);
    snprintf(url, sizeof url, "http://%s", http_address(s));
    assert_ok(client_open(&c, url, NULL, &err), &err);
    assert_ok(client_post_events(c, "/tell/ends", "{}", 2, count_bytes, &heard, NULL, &err), &err);
    assert_int_equal(heard, (1 << 20) - 7);
    assert_int_equal(client_post_events(c, "/tell/on", "{}", 2, count_bytes, &heard, NULL, &err),
                     FO_ELIMIT);
    assert_non_null(strstr(err.msg, "16 MiB"));
    assert_int_equal(heard, (1 << 20) - 7);
    client_close(c);
    http_stop(s, 1000, NULL);
}

static void the_client_takes_no_redirect_for_success(void **state) {
    (void)state;
    static const http_route moved[] = {
        {.method = "GET", .pattern = "/health", .handler = point_elsewhere},
        {.method = "GET", .pattern = "/same", .handler = not_modified}};
    log_open(LOG_LEVEL_OFF, false);
    http_server *s;
    client *c;
    char url[64];
    fo_buf b = {0};
    fo_err err = {0};
    const http_options o = {.listen = "127.0.0.1:0", .routes = moved, .n_routes = 2};
    assert_ok(http_start(&s, &o, &err), &err);
    snprintf(url, sizeof url, "http://%s", http_address(s));
    assert_ok(client_open(&c, url, NULL, &err), &err);
    assert_int_equal(client_get(c, "/health", &b, &err), FO_EINVAL);
    assert_non_null(strstr(err.msg, "301"));
    assert_non_null(strstr(err.msg, "https://elsewhere.example/health"));
    assert_int_equal(client_get(c, "/same", &b, &err), FO_EINVAL);
    assert_non_null(strstr(err.msg, "304"));
    fo_buf_free(&b);
    client_close(c);
    http_stop(s, 1000, NULL);
}

/* Two requests come too soon; what the next one brings is given back. */
static void let_in_the_third(http_request *r, void *app) {
    (void)app;
    static int n_refused;
    if (n_refused++ >= 2) {
        on_echo(r, NULL);
        return;
    }
    http_set_header(r, "Retry-After", "1");
    http_error(r, 429, "rate_limit_exceeded", "requests", "try again in 1 s");
}

typedef struct count_down {
    int left;
    bool can_begin_anew;
} count_down;

static ssize_t count_on(void *ctx, char *buf, size_t n, fo_err *err) {
    (void)err;
    count_down *c = ctx;
    if (!n || !c->left) return 0;
    *buf = (char)('0' + c->left--);
    return 1;
}

static bool count_anew(void *ctx) {
    count_down *c = ctx;
    c->left = 5;
    return c->can_begin_anew;
}

static void what_is_made_while_it_is_sent_waits_its_turn(void **state) {
    (void)state;
    static const http_route route[] = {{.method = "POST",
                                        .pattern = "/turn",
                                        .handler = let_in_the_third,
                                        .body = HTTP_BODY_BUFFER}};
    log_open(LOG_LEVEL_OFF, false);
    http_server *s;
    client *c;
    char url[64];
    fo_buf b = {0};
    fo_err err = {0};
    count_down from = {5, false};
    const http_options o = {.listen = "127.0.0.1:0", .routes = route, .n_routes = 1};
    assert_ok(http_start(&s, &o, &err), &err);
    snprintf(url, sizeof url, "http://%s", http_address(s));
    assert_ok(client_open(&c, url, NULL, &err), &err);
    assert_int_equal(
        client_post_stream(c, "/turn", "text/plain", count_on, count_anew, &from, &b, &err),
        FO_EBUSY); /* what was read of it is gone */
    fo_buf_clear(&b);
    from = (count_down){5, true};
    assert_ok(client_post_stream(c, "/turn", "text/plain", count_on, count_anew, &from, &b, &err),
              &err);
    assert_string_equal(b.data, "54321");
    fo_buf_free(&b);
    client_close(c);
    http_stop(s, 1000, NULL);
}

static void nobody_there_is_told_with_a_way_on(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"http://127.0.0.1:1/",
         "cannot reach http://127.0.0.1:1: is a service running there? 'forage "
         "serve' starts one, --url names another"},
        {"http://nobody.invalid", "cannot reach http://nobody.invalid: no machine of this name"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        client *c;
        fo_buf b = {0};
        fo_err err = {0};
        assert_ok(client_open(&c, rows[i][0], NULL, &err), &err);
        assert_int_equal(client_get(c, "/health", &b, &err), FO_EIO);
        assert_non_null(strstr(err.msg, rows[i][1]));
        client_close(c);
        fo_buf_free(&b);
    }
}

static void a_place_to_listen_is_asked_at_an_address(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"0.0.0.0:81", "http://127.0.0.1:81"}, {":81", "http://127.0.0.1:81"},
        {"81", "http://127.0.0.1:81"},         {"[::]:81", "http://[::1]:81"},
        {"[::1]:81", "http://[::1]:81"},       {"127.0.0.1:81", "http://127.0.0.1:81"},
        {"localhost", "http://localhost:8080"}};
    char url[300];
    fo_err err = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_ok(http_listen_url(rows[i][0], url, sizeof url, &err), &err);
        assert_string_equal(url, rows[i][1]);
    }
    assert_int_equal(http_listen_url("127.0.0.1:81", url, 8, &err), FO_EINVAL);
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
        cmocka_unit_test(heartbeats_come_by_themselves),
        cmocka_unit_test(patterns_take_segments_and_rests),
        cmocka_unit_test(an_event_without_end_is_not_kept),
        cmocka_unit_test(the_client_takes_no_redirect_for_success),
        cmocka_unit_test(what_is_made_while_it_is_sent_waits_its_turn),
        cmocka_unit_test(nobody_there_is_told_with_a_way_on),
        cmocka_unit_test(a_place_to_listen_is_asked_at_an_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
