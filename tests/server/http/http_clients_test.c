/* The HTTP server and its clients: those that read or send slowly, are many, say nothing or are rude; what memory they hold,
 * and how the server stops while they are there. */
#include "tests/test.h"

#include <poll.h>
#include <pthread.h>

#include "tests/server/http/raw_http.h"

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

/* What a refused body is answered with, though it is far larger than what is passed over: before its end, to a client that
 * stops when it hears something, as well as to one that sends on. */
static void a_refused_body_is_answered_however_long_it_is(void **state) {
    (void)state;
    enum { PIECE = 1 << 20, PIECES = 100 };
    static const struct {
        const char *head, *why;
        int status;
        bool deaf;
    } rows[] = {
        {"POST /none" H "Transfer-Encoding: chunked\r\n\r\n", "no such route", 404, false},
        {"POST /none" H "Transfer-Encoding: chunked\r\n\r\n", "no such route", 404, true},
        {"POST /none" H "Content-Length: 104857600\r\n\r\n", "no such route", 404, true},
        {"POST /early" H "Content-Length: 104857600\r\n\r\n", "line 1 is not", 422, false},
        {"POST /early" H "Content-Length: 104857600\r\n\r\n", "line 1 is not", 422, true},
        {"POST /echo" H "Content-Length: 104857600\r\n\r\n", "104857600", 413, true},
        {"POST /echo" H "Transfer-Encoding: chunked\r\n\r\n", "too_large", 413, true},
        {"GET /health" H "Transfer-Encoding: chunked\r\n\r\n", "too_large", 413, true},
    };
    http_server *s = start((http_options){.max_body_bytes = PIECE});
    char *piece = malloc(PIECE + 20);
    memset(piece, 'a', PIECE + 20);
    memcpy(piece, "100000\r\n", 8);
    memcpy(piece + 8 + PIECE, "\r\n", 2);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const bool chunked = strstr(rows[i].head, "chunked") != NULL;
        const int seen = observed;
        int fd = dial(s);
        assert_true(say(fd, rows[i].head));
        struct pollfd p = {fd, POLLIN, 0};
        for (int k = 0; k < PIECES && (rows[i].deaf || poll(&p, 1, 0) == 0); k++)
            if (!put(fd, chunked ? piece : piece + 8, chunked ? PIECE + 10 : PIECE)) break;
        reply r = hear(fd);
        if (r.status != rows[i].status || !strstr(r.body, rows[i].why))
            fail_msg("%s-> %d: %s", rows[i].head, r.status, r.body ? r.body : "");
        free(r.body);
        close(fd);
        wait_until(&observed, seen + 1);
        assert_int_equal(observed_status, rows[i].status);
    }
    free(piece);
    expect(s, "GET /health" H "\r\n", 200, "", "ok");
    http_stop(s, 1000, NULL);
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

/* However steadily it is taken; and where no time is set, however long that lasts. */
static void a_reply_is_taken_within_its_time(void **state) {
    (void)state;
    http_server *s = start((http_options){.body_total_ms = 1000, .body_bytes_per_s = 1});
    char some[65536];
    int fd = dial(s);
    say(fd, "GET /big?n=60000000" H "\r\n");
    const double began = seconds();
    ssize_t k;
    while ((k = recv(fd, some, sizeof some, 0)) > 0 && seconds() - began < 8) usleep(20000);
    assert_true(k <= 0);
    close(fd);
    http_stop(s, 1000, NULL);

    s = start((http_options){.body_total_ms = -1});
    fd = dial(s);
    say(fd, "POST /echo" H "Content-Length: 6\r\n\r\nabc");
    usleep(300000);
    say(fd, "def");
    reply r = hear(fd);
    assert_status(r, 200);
    assert_string_equal(r.body, "abcdef");
    free(r.body);
    say(fd, "GET /big?n=60000000" H "\r\n");
    usleep(300000);
    r = hear(fd);
    assert_status(r, 200);
    assert_int_equal(r.n, 60000000);
    free(r.body);
    close(fd);
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

/* Has the other side ended it? */
static bool is_ended(int fd) {
    char c;
    return recv(fd, &c, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

/* Room for one is made by one, the one that has been idle for longest. */
static void the_longest_idle_makes_room(void **state) {
    (void)state;
    http_server *s = start((http_options){.max_connections = 3});
    int fds[4];
    for (int i = 0; i < 4; i++) {
        fds[i] = dial(s);
        for (int k = 0; k < 200; k++) { /* it is known before the next one comes */
            http_load load;
            http_get_load(s, &load);
            if (load.connections + (int)load.evicted > i) break;
            usleep(5000);
        }
        usleep(30000);
    }
    for (int i = 0; i < 400 && !is_ended(fds[0]); i++) usleep(5000);
    assert_true(is_ended(fds[0]));
    usleep(200000); /* some looks of the watcher */
    for (int i = 1; i < 4; i++) {
        say(fds[i], "GET /health" H "\r\n");
        reply r = hear(fds[i]);
        assert_status(r, 200);
        free(r.body);
    }
    http_load load;
    http_get_load(s, &load);
    assert_int_equal(load.evicted, 1);
    for (int i = 0; i < 4; i++) close(fds[i]);
    http_stop(s, 1000, NULL);
}

/* Where nobody makes room a connection above the limit still has a second to ask, and not for ever. */
static void one_above_the_limit_has_time_to_ask(void **state) {
    (void)state;
    http_server *s = start((http_options){.max_connections = 2});
    int busy[2];
    for (int i = 0; i < 2; i++) {
        busy[i] = dial(s);
        say(busy[i], "GET /slow" H "\r\n");
    }
    wait_until(&slow_running, 2);
    int fd = dial(s);
    usleep(400000);
    say(fd, "GET /health" H "\r\n");
    reply r = hear(fd);
    assert_status(r, 200);
    free(r.body);
    close(fd);
    fd = dial(s);
    for (int i = 0; i < 1000 && !is_ended(fd); i++) usleep(5000);
    assert_true(is_ended(fd));
    close(fd);
    release_slow = 1;
    for (int i = 0; i < 2; i++) {
        r = hear(busy[i]);
        assert_status(r, 200);
        free(r.body);
        close(busy[i]);
    }
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

/* Does the port still take connections? */
static bool takes_connections(int port) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    const bool taken = connect(fd, (struct sockaddr *)&at, sizeof at) == 0;
    close(fd);
    return taken;
}

/* Until a service that is told to stop takes no more connections. */
static void wait_until_stopping(int port) {
    for (int i = 0; i < 1000 && takes_connections(port); i++) usleep(1000);
    assert_false(takes_connections(port));
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
    wait_until_stopping(port);
    say(kept, "GET /health" H "\r\n"); /* on an open connection: told */
    r = hear(kept);
    assert_status(r, 503);
    free(r.body);
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
    int streamed = dial(s), whole = dial(s), never = dial(s), port = http_port(s);
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
    wait_until_stopping(port);
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slow_readers_hold_no_worker),
        cmocka_unit_test(large_replies_that_wait_have_a_limit),
        cmocka_unit_test(an_answered_body_holds_no_memory),
        cmocka_unit_test(slow_clients_are_cut_off),
        cmocka_unit_test(a_body_that_comes_too_slowly_is_answered),
        cmocka_unit_test(a_refused_body_is_answered_however_long_it_is),
        cmocka_unit_test(a_body_that_comes_steadily_is_taken),
        cmocka_unit_test(a_reply_is_taken_within_its_time),
        cmocka_unit_test(slow_bodies_hold_no_worker),
        cmocka_unit_test(an_end_that_comes_with_the_last_bytes_is_seen),
        cmocka_unit_test(connections_are_capped),
        cmocka_unit_test(idle_connections_make_room),
        cmocka_unit_test(the_longest_idle_makes_room),
        cmocka_unit_test(one_above_the_limit_has_time_to_ask),
        cmocka_unit_test(busy_connections_leave_a_reserve),
        cmocka_unit_test(stopping_waits_for_what_runs),
        cmocka_unit_test(stopping_does_not_wait_for_bodies),
        cmocka_unit_test(many_rude_clients_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
