/* A flood of TLS connections that say nothing, begin a handshake and stop, or send it byte by byte: who speaks is
 * answered meanwhile, one address has its number of connections, and each silent one ends with the time
 * that headers have. */
#include "tests/test.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include "kernels/clock.h"
#include "server/base/log.h"
#include "server/http/http.h"

enum { MOST = 30, FLOOD = 80, HEADER_MS = 1500, AN_ADDRESS = 5 };

/* The beginning of a handshake: a record of 512 bytes of which 20 come. */
static const unsigned char hello[] = {0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3,
                                      3,    1, 2, 3, 4, 5, 6, 7, 8,    9};

static char *dir, cert[300], key[300];

static void on_item(http_request *r, void *app) {
    (void)app;
    http_reply(r, 200, "text/plain", "here", 4);
}
static const http_route routes[] = {
    {"GET", "/item", on_item, 1, HTTP_BODY_NONE, HTTP_LANE_QUERY, NULL, NULL, 0},
};

static http_server *start(int per_address) {
    http_server *s;
    fo_err err = {0};
    http_options o = {.listen = "127.0.0.1:0",
                      .routes = routes,
                      .n_routes = 1,
                      .max_connections = MOST,
                      .max_per_address = per_address,
                      .header_timeout_ms = HEADER_MS,
                      .tls_cert = cert,
                      .tls_key = key};
    assert_ok(http_start(&s, &o, &err), &err);
    return s;
}

static int dial(const http_server *s) {
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)http_port(s)),
                             .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0 && connect(fd, (struct sockaddr *)&at, sizeof at) == 0);
    return fd;
}

/* Has the server ended it, within ms? What it said before (an alert) is passed over. */
static bool ended(int fd, double ms) {
    double until = fo_now_ms() + ms;
    char bytes[256];
    for (;;) {
        double left = until - fo_now_ms();
        struct pollfd p = {fd, POLLIN, 0};
        if (poll(&p, 1, left > 0 ? (int)left + 1 : 0) != 1) return false;
        if (recv(fd, bytes, sizeof bytes, 0) <= 0) return true;
    }
}

static size_t drop(char *data, size_t size, size_t n, void *ctx) {
    (void)data, (void)ctx;
    return size * n;
}

/* A client that speaks: its status, 0 where it was not let in. */
static long ask(const http_server *s) {
    char url[80];
    long status = 0;
    CURL *c = curl_easy_init();
    snprintf(url, sizeof url, "https://127.0.0.1:%d/item", http_port(s));
    curl_easy_setopt(c, CURLOPT_URL, url);
    curl_easy_setopt(c, CURLOPT_CAINFO, cert);
    curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, 20000L);
    curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, drop);
    if (curl_easy_perform(c) == CURLE_OK) curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_cleanup(c);
    return status;
}

static void who_speaks_is_answered_in_a_flood(void **state) {
    (void)state;
    http_server *s = start(0);
    int fds[FLOOD];
    for (int i = 0; i < FLOOD; i++) {
        fds[i] = dial(s);
        if (i % 2) assert_true(send(fds[i], hello, sizeof hello, MSG_NOSIGNAL) > 0 || i >= MOST);
    }
    assert_int_equal(ask(s), 200);
    http_load load = {.connections =
                          FLOOD}; /* those that were told to end are counted until they have */
    for (int i = 0; i < 1000 && load.connections > MOST; i++, usleep(10000))
        http_get_load(s, &load);
    assert_true(load.connections <= MOST);
    assert_true(load.evicted > 0);
    for (int i = 0; i < FLOOD; i++) {
        if (!ended(fds[i], 20000)) fail_msg("connection %d of a flood stays", i);
        close(fds[i]);
    }
    assert_int_equal(ask(s), 200);
    http_stop(s, 1000, NULL);
}

/* A byte now and then is no sign of life. */
static void a_handshake_byte_by_byte_ends(void **state) {
    (void)state;
    http_server *s = start(0);
    int fd = dial(s);
    double began = fo_now_ms();
    bool over = false;
    for (size_t i = 0; i < 200 && !over; i++) {
        over = send(fd, i < sizeof hello ? &hello[i] : (const unsigned char *)"x", 1,
                    MSG_NOSIGNAL) != 1 ||
               ended(fd, 100);
    }
    assert_true(over);
    assert_true(fo_now_ms() - began >= HEADER_MS - 100);
    close(fd);
    http_stop(s, 1000, NULL);
}

static void an_address_has_its_number(void **state) {
    (void)state;
    http_server *s = start(AN_ADDRESS);
    int fds[AN_ADDRESS + 3];
    for (int i = 0; i < AN_ADDRESS + 3; i++) {
        fds[i] = dial(s);
        assert_true(i < AN_ADDRESS || ended(fds[i], 20000));
    }
    assert_int_equal(ask(s), 0); /* of the same address */
    for (int i = 0; i < AN_ADDRESS; i++) assert_true(ended(fds[i], 20000));
    for (int i = 0; i < AN_ADDRESS + 3; i++) close(fds[i]);
    long status = 0;
    for (int tries = 0; tries < 100 && status != 200; tries++) {
        status = ask(s);
        if (status != 200) usleep(50000);
    }
    assert_int_equal(status, 200);
    http_stop(s, 1000, NULL);
}

static int make_certificate(void **state) {
    (void)state;
    char command[1000];
    log_open(LOG_LEVEL_OFF, false);
    dir = test_folder();
    snprintf(cert, sizeof cert, "%s/crt", dir);
    snprintf(key, sizeof key, "%s/key", dir);
    snprintf(command, sizeof command,
             "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
             "-subj /CN=one -addext subjectAltName=IP:127.0.0.1 -keyout %s -out %s 2>/dev/null",
             key, cert);
    return system(command);
}

static int remove_certificate(void **state) {
    (void)state;
    test_remove(dir);
    return 0;
}

int main(void) {
    curl_global_init(CURL_GLOBAL_DEFAULT);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_speaks_is_answered_in_a_flood),
        cmocka_unit_test(a_handshake_byte_by_byte_ends),
        cmocka_unit_test(an_address_has_its_number),
    };
    return cmocka_run_group_tests(tests, make_certificate, remove_certificate);
}
