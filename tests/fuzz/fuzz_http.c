/* The service as it is served: requests for every route, over a socket, with bodies, arguments and headers of any
 * bytes. An input is a string of requests, divided by the byte 255:
 *
 *     route (one byte; the last number: all that follows is sent as it is) | kind of the body and how it is
 *     sent (one byte) | arguments up to a line end | body
 *
 * Promises: each request is answered, with a status that the manual knows and never with 500; an error is an object
 * with a code and a sentence; and behind it all the service still says that it is alive. Every 256 inputs
 * it begins anew in an empty home. */
#include <arpa/inet.h>
#include <cjson/cJSON.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kernels/buf.h"
#include "kernels/file.h"
#include "server/base/log.h"
#include "server/routes/app.h"
#include "tests/fuzz/fuzz.h"

enum { REQUESTS_MOST = 6, INPUTS_A_HOME = 256, PATIENCE_MS = 60000, REPLY_MOST = 8 << 20 };

/* While threads work, what they hold looks lost at times: leaks are looked for where the corpus is replayed, at the
 * end (tests/run.sh says so). */
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "detect_leaks=0";
}

static char folder[128], home[160];
static service *srv;
static app *routes;
static int n_inputs;

static void stop(void) {
    if (!srv) return;
    app_stop(routes, 1000, NULL);
    service_close(srv);
    srv = NULL;
    fo_remove_tree(home, NULL);
}

static void remove_all(void) {
    stop();
    fo_remove_tree(folder, NULL);
}

static void start(void) {
    fo_err err = {0};
    if (!folder[0]) {
        const char *below = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
        snprintf(folder, sizeof folder, "%s/forage-http-XXXXXX", below);
        FUZZ_CHECK(mkdtemp(folder));
        atexit(remove_all);
        snprintf(home, sizeof home, "%s/home", folder);
        log_open(LOG_LEVEL_OFF, false);
        signal(SIGPIPE, SIG_IGN);
    }
    service_options opt = {.home = home, .n_threads = 1};
    http_options h = {.listen = "127.0.0.1:0",
                      .n_workers = {0, 1, 1},
                      .header_timeout_ms = 3000,
                      .body_timeout_ms = 2000};
    bool good = service_open(&srv, &opt, &err) == FO_OK &&
                app_create(&routes, srv, false, &err) == FO_OK &&
                app_serve(routes, &h, &err) == FO_OK;
    if (!good) fprintf(stderr, "%s\n", err.msg);
    FUZZ_CHECK(good);
}

/* ---- one request ---------------------------------------------------------------------------- */

static int call(void) {
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)http_port(routes->http)),
                             .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    FUZZ_CHECK(fd >= 0 && connect(fd, (struct sockaddr *)&at, sizeof at) == 0);
    return fd;
}

/* Until the server closes; what it does not take any more is dropped. A client that shuts its side down has gone,
 * for the server: so do those alone whose request may never end. */
static void talk(int fd, const char *out, size_t n, bool leaves, fo_buf *in) {
    size_t sent = 0;
    while (sent < n) {
        ssize_t k = send(fd, out + sent, n - sent, MSG_NOSIGNAL);
        if (k <= 0) break;
        sent += (size_t)k;
    }
    if (leaves) shutdown(fd, SHUT_WR);
    for (char piece[4096];;) {
        struct pollfd p = {fd, POLLIN, 0};
        int ready = poll(&p, 1, PATIENCE_MS);
        if (ready < 0 && errno == EINTR) continue; /* the fuzzer's alarm */
        FUZZ_CHECK(ready == 1);                    /* it hangs */
        ssize_t k = recv(fd, piece, sizeof piece, 0);
        if (k <= 0) break;
        fo_buf_add(in, piece, (size_t)k);
        FUZZ_CHECK(in->len < REPLY_MOST);
    }
    close(fd);
}

/* What lies behind the headers of a reply, chunks put together. */
static char *body_of(const fo_buf *in) {
    const char *head_end = strstr(in->data, "\r\n\r\n");
    if (!head_end) return NULL;
    const char *at = head_end + 4, *all_end = in->data + in->len;
    bool chunked = memmem(in->data, (size_t)(head_end - in->data), "chunked", 7) != NULL;
    fo_buf b = {0};
    if (!chunked) fo_buf_add(&b, at, (size_t)(all_end - at));
    while (chunked && at < all_end) {
        char *digits_end;
        size_t n = strtoul(at, &digits_end, 16);
        at = digits_end + 2;
        if (n == 0 || at > all_end || n > (size_t)(all_end - at)) break;
        fo_buf_add(&b, at, n);
        at += n + 2;
    }
    return fo_buf_take(&b, NULL);
}

static void check_reply(const fo_buf *in, bool ours) {
    static const int known[] = {200, 201, 202, 204, 206, 304, 400, 401, 403, 404, 405, 408, 409,
                                411, 413, 414, 415, 417, 421, 422, 429, 431, 501, 503, 505, 507};
    int status = 0, minor;
    if (!in->len) { /* libmicrohttpd closes on some that is no HTTP */
        FUZZ_CHECK(!ours);
        return;
    }
    FUZZ_CHECK(sscanf(in->data, "HTTP/1.%d %d ", &minor, &status) == 2);
    bool good = false;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) good |= status == known[i];
    if (!good) fprintf(stderr, "%.2000s\n", in->data);
    FUZZ_CHECK(good);
    if (!ours || status < 400 || strstr(in->data, "text/html")) return;
    char *text = body_of(in);
    FUZZ_CHECK(text);
    cJSON *root = cJSON_Parse(text);
    const cJSON *error = cJSON_GetObjectItem(root, "error");
    const cJSON *why = cJSON_GetObjectItem(error, "message");
    bool told = cJSON_IsString(why) && why->valuestring[0];
    if (!told) fprintf(stderr, "%.2000s\n", in->data);
    FUZZ_CHECK(told);
    cJSON_Delete(root);
    free(text);
}

/* "/documents/{id}" with d1 for the name, and the arguments behind it. */
static void add_path(fo_buf *b, const http_route *r, const uint8_t *args, size_t n) {
    const char *brace = strchr(r->pattern, '{');
    fo_buf_printf(b, "%.*s%s", (int)(brace ? brace - r->pattern : (long)strlen(r->pattern)),
                  r->pattern, brace ? "d1" : "");
    if (brace && strchr(brace, '/')) fo_buf_str(b, strchr(brace, '/'));
    for (size_t i = 0; i < n; i++) {
        bool plain = args[i] > 0x20 && args[i] < 0x7f && args[i] != '#';
        if (plain)
            fo_buf_char(b, (char)args[i]);
        else
            fo_buf_printf(b, "%%%02x", args[i]);
        if (i == 0 && args[0] != '?' && args[0] != '/') b->data[b->len - 1] = '?';
    }
}

static void add_body(fo_buf *b, unsigned how, const uint8_t *body, size_t n) {
    static const char *const types[] = {"application/json",
                                        "application/x-ndjson",
                                        "multipart/form-data; boundary=b",
                                        "text/plain",
                                        "text/html",
                                        "application/octet-stream",
                                        "text/markdown",
                                        "application/zip"};
    fo_buf_printf(b, "Content-Type: %s\r\n", types[how % 8]);
    if (how & 16) fo_buf_str(b, "Accept: text/event-stream, text/csv\r\n");
    if (how & 32) fo_buf_str(b, "Idempotency-Key: k1\r\n");
    if (!(how & 8)) {
        fo_buf_printf(b, "Content-Length: %zu\r\n\r\n", n);
        fo_buf_add(b, body, n);
        return;
    }
    fo_buf_str(b, "Transfer-Encoding: chunked\r\n\r\n");
    for (size_t at = 0; at < n;) {
        size_t k = 1 + (body[at] * 7u + at) % 60;
        if (k > n - at) k = n - at;
        fo_buf_printf(b, "%zx\r\n", k);
        fo_buf_add(b, body + at, k);
        fo_buf_str(b, "\r\n");
        at += k;
    }
    fo_buf_str(b, "0\r\n\r\n");
}

static void request(const uint8_t *p, size_t n) {
    fo_buf out = {0}, in = {0};
    size_t which = p[0] % (app_n_routes + 1);
    bool ours = which < app_n_routes;
    if (ours && n >= 2) {
        const uint8_t *args = p + 2, *line = memchr(args, '\n', n - 2);
        size_t n_args = line ? (size_t)(line - args) : 0;
        const uint8_t *body = line ? line + 1 : args;
        size_t n_body = (size_t)(p + n - body);
        fo_buf_printf(&out, "%s ", app_routes[which].method);
        add_path(&out, &app_routes[which], args, n_args < 500 ? n_args : 500);
        fo_buf_str(&out, " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n");
        if (app_routes[which].body != HTTP_BODY_NONE)
            add_body(&out, p[1], body, n_body);
        else
            fo_buf_str(&out, "\r\n");
    } else {
        ours = false;
        fo_buf_add(&out, p + 1, n - 1);
    }
    FUZZ_CHECK(!out.failed);
    talk(call(), out.data ? out.data : "", out.len, !ours, &in);
    fo_buf_char(&in, 0);
    in.len--;
    check_reply(&in, ours);
    fo_buf_free(&out);
    fo_buf_free(&in);
}

static void check_alive(void) {
    static const char ask[] =
        "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    fo_buf in = {0};
    talk(call(), ask, sizeof ask - 1, false, &in);
    fo_buf_char(&in, 0);
    FUZZ_CHECK(strncmp(in.data, "HTTP/1.1 200", 12) == 0);
    fo_buf_free(&in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (n_inputs++ % INPUTS_A_HOME == 0) stop();
    if (!srv) start();
    for (int i = 0; i < REQUESTS_MOST && size; i++) {
        const uint8_t *end = memchr(data, 255, size);
        size_t n = end ? (size_t)(end - data) : size;
        if (n) request(data, n);
        if (!end) break;
        data = end + 1;
        size -= n + 1;
    }
    check_alive();
    return 0;
}
