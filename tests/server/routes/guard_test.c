/* guard_test.c - who may ask: the names that a service answers to, the pages that may use it, what
 * they may send, and how often a copy of all documents may be asked for. */
#include "tests/test.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "kernels/buf.h"
#include "tests/server/routes/http_fixture.h"

/* A request with just these headers, on a connection of its own; the status. */
static int say(fixture *f, const char *request, const char *headers, const char *body,
               fo_buf *reply) {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)http_port(f->app->http))};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    struct timeval t = {60, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t);
    fo_buf b = {0};
    fo_buf_printf(&b, "%s HTTP/1.1\r\nConnection: close\r\n%s", request, headers);
    if (body) fo_buf_printf(&b, "Content-Length: %zu\r\n", strlen(body));
    fo_buf_printf(&b, "\r\n%s", body ? body : "");
    assert_int_equal(send(fd, b.data, b.len, MSG_NOSIGNAL), b.len);
    fo_buf_clear(&b);
    char some[4096];
    for (ssize_t k; (k = recv(fd, some, sizeof some, 0)) > 0;) fo_buf_add(&b, some, (size_t)k);
    fo_buf_char(&b, 0);
    close(fd);
    assert_memory_equal(b.data, "HTTP/1.1 ", 9);
    int status = atoi(b.data + 9);
    if (reply)
        *reply = b;
    else
        fo_buf_free(&b);
    return status;
}

static void expect(fixture *f, const char *request, const char *headers, const char *body,
                   int status) {
    fo_buf got = {0};
    int s = say(f, request, headers, body, &got);
    if (s != status) fail_msg("%s\n%s-> %d, not %d: %s", request, headers, s, status, got.data);
    fo_buf_free(&got);
}

#define HOME "Host: localhost\r\n"

static double n_documents(fixture *f) {
    cJSON *r = ask(f, "/stats", NULL, 200);
    double n = number(r, "documents");
    cJSON_Delete(r);
    return n;
}

/* A path that fits a route's pattern. */
static const char *path_of(const http_route *route, char out[128]) {
    const char *open = strchr(route->pattern, '{');
    snprintf(out, 128, "%.*s%s", open ? (int)(open - route->pattern) : 100, route->pattern,
             open ? "kept" : "");
    return out;
}

static void every_route_refuses_foreign_names_and_pages(void **state) {
    fixture *f = *state;
    double before = n_documents(f);
    for (size_t i = 0; i < app_n_routes; i++) {
        const http_route *route = &app_routes[i];
        char path[128], request[200];
        snprintf(request, sizeof request, "%s %s", route->method, path_of(route, path));
        const char *body = route->body == HTTP_BODY_NONE ? NULL : "{}";
        const char *type = body ? "Content-Type: application/json\r\n" : "";
        char headers[300];
        snprintf(headers, sizeof headers, "Host: evil.example:%d\r\n%s", http_port(f->app->http),
                 type);
        expect(f, request, headers, body, 421);
        snprintf(headers, sizeof headers, HOME "%sOrigin: http://evil.example\r\n", type);
        expect(f, request, headers, body, 403);
        snprintf(headers, sizeof headers, HOME "%sSec-Fetch-Site: cross-site\r\n", type);
        expect(f, request, headers, body, 403);
    }
    expect(f, "GET /no/such/route", "Host: evil.example\r\n", NULL, 421);
    expect(f, "OPTIONS /ingest", HOME "Origin: https://evil.example\r\n", NULL, 403);
    assert_true(n_documents(f) == before);
    cJSON_Delete(ask(f, "/documents/kept", NULL, 200));
}

static void names_of_its_own_are_answered(void **state) {
    fixture *f = *state;
    static const struct {
        const char *host;
        int status;
    } hosts[] = {
        {"localhost", 200},
        {"LocalHost:8080", 200},
        {"localhost.", 200},
        {"forage.localhost:1", 200},
        {"127.0.0.1:9", 200},
        {"127.8.8.8", 200},
        {"[::1]:8080", 200},
        {"friend.example:8443", 200}, /* allow_hosts */
        {"FRIEND.example", 200},
        {"10.1.2.3", 200},
        {"[fd00:0:0::7]", 200},
        {"evil.example", 421},
        {"localhost.evil.example", 421},
        {"evillocalhost", 421},
        {"127.0.0.1.evil.example", 421},
        {"friend.example.evil.example", 421},
        {"10.1.2.4", 421},
        {"0.0.0.0", 421},
        {"[::ffff:10.1.2.4]", 421},
        {"[::2]", 421},
        {"2130706433", 421}, /* 127.0.0.1 to some resolvers */
        {"a b", 400},
        {"localhost@evil.example", 400},
        {"localhost:80:80", 400},
        {"[::1", 400},
        {"localhost/", 400},
        {"localhost:x", 400},
        {"", 400},
    };
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        char headers[200];
        snprintf(headers, sizeof headers, "Host: %s\r\n", hosts[i].host);
        expect(f, "GET /collections", headers, NULL, hosts[i].status);
    }
    expect(f, "GET /collections", HOME "Host: evil.example\r\n", NULL, 400);
    expect(f, "GET /collections", HOME "Authorization: Bearer a\r\nAuthorization: Bearer b\r\n",
           NULL, 400);
}

static void pages_of_its_own_are_served(void **state) {
    fixture *f = *state;
    static const struct {
        const char *origin;
        int status;
    } origins[] = {
        {"http://127.0.0.1:8080", 200},
        {"http://localhost:3000", 200},
        {"https://friend.example", 200},
        {"https://[::1]:8443", 200},
        {"https://evil.example", 403},
        {"https://friend.example.evil.example", 403},
        {"http://localhost@evil.example", 403},
        {"null", 403}, /* a file, a page in a sandbox */
        {"", 403},
        {"http://", 403},
        {"file://localhost", 403},
        {"http://localhost, http://evil.example", 403},
    };
    for (size_t i = 0; i < sizeof origins / sizeof *origins; i++) {
        char headers[300];
        snprintf(headers, sizeof headers,
                 HOME "Content-Type: application/json\r\nSec-Fetch-Site: cross-site\r\n"
                      "Origin: %s\r\n",
                 origins[i].origin);
        expect(f, "POST /search", headers, "{\"query\":\"x\"}", origins[i].status);
    }
    expect(f, "GET /stats", HOME "Origin: http://localhost\r\nOrigin: http://evil.example\r\n",
           NULL, 403);
    /* Without Origin: programs, links that a person follows, and our own page's parts. */
    expect(f, "GET /", HOME, NULL, 200);
    expect(f, "GET /",
           HOME "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n"
                "Sec-Fetch-Dest: document\r\n",
           NULL, 200);
    expect(f, "GET /",
           HOME "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n"
                "Sec-Fetch-Dest: iframe\r\n",
           NULL, 403);
    expect(f, "GET /",
           HOME "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n"
                "Sec-Fetch-Dest: document\r\n",
           NULL, 403); /* no link that somebody followed */
    expect(f, "GET /documents", HOME "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n",
           NULL, 403);
    expect(f, "GET /assets/app.js", HOME "Sec-Fetch-Site: same-origin\r\n", NULL, 200);
    expect(f, "GET /", HOME "Sec-Fetch-Site: none\r\n", NULL, 200);
}

/* What a page may send to any server without asking it first: text, forms, a body of no type. */
static void a_page_writes_nothing(void **state) {
    fixture *f = *state;
    double before = n_documents(f);
    static const char *const types[] = {"Content-Type: text/plain\r\n",
                                        "Content-Type: text/plain; charset=utf-8\r\n",
                                        "Content-Type: application/x-www-form-urlencoded\r\n", "",
                                        "Content-Type: multipart/form-data; boundary=b\r\n"};
    static const char *const bodies[] = {
        "Overwritten.", "Overwritten.", "text=Overwritten", "Overwritten.",
        "--b\r\nContent-Disposition: form-data; name=\"id\"\r\n\r\nkept\r\n--b\r\n"
        "Content-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\nOverwritten.\r\n"
        "--b--\r\n"};
    static const char *const pages[] = {
        "Origin: http://evil.example\r\nSec-Fetch-Site: cross-site\r\n",
        "Origin: http://evil.example\r\n", "Origin: null\r\n",
        "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n"};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (size_t p = 0; p < sizeof pages / sizeof *pages; p++) {
            char headers[400];
            snprintf(headers, sizeof headers, HOME "%s%s", types[t], pages[p]);
            expect(f, t == 4 ? "POST /ingest" : "POST /ingest?id=kept", headers, bodies[t], 403);
        }
    cJSON *r = ask(f, "/documents/kept?text=true", NULL, 200);
    assert_string_equal(text(r, "text"), "What stays.");
    cJSON_Delete(r);
    /* The same from a program is a legal way to store a document. */
    expect(f, "POST /ingest?id=raw", HOME "Content-Type: text/plain\r\n", "Raw text.", 200);
    assert_true(n_documents(f) == before + 1);
}

static void what_writes_takes_only_its_own_types(void **state) {
    fixture *f = *state;
    static const struct {
        const char *request, *type, *body;
        int status;
    } asked[] = {
        {"PUT /collections/typed", "Content-Type: text/plain\r\n", "{}", 415},
        {"PUT /collections/typed", "", "{}", 415},
        {"PUT /collections/typed", "Content-Type: application/json; charset=utf-8\r\n", "{}", 201},
        {"DELETE /collections/typed", "Content-Type: text/plain\r\n", "x", 415},
        {"DELETE /collections/typed", "", "x", 415},
        {"POST /ingest", "Content-Type: image/png\r\n", "x", 415},
        {"POST /ingest", "", "x", 415},
        {"POST /admin/snapshot", "Content-Type: text/plain\r\n", "{}", 415},
        {"POST /admin/snapshot", "Content-Type: application/x-www-form-urlencoded\r\n", "a=b", 415},
        {"POST /admin/snapshot", "Content-Type: application/x-www-form-urlencoded\r\n", "", 200},
        {"POST /admin/snapshot", "Content-Type: application/json\r\n", "{}", 200},
        {"DELETE /jobs/job_9", "Content-Type: text/plain\r\n", "x", 415},
        {"DELETE /jobs/job_9", "", NULL, 404},
        {"DELETE /collections/typed", "", NULL, 200},
    };
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        char headers[300];
        snprintf(headers, sizeof headers, HOME "%s", asked[i].type);
        expect(f, asked[i].request, headers, asked[i].body, asked[i].status);
    }
}

/* How many names in backups/ end in `end`. */
static int n_backups(fixture *f, const char *end) {
    char path[4200];
    snprintf(path, sizeof path, "%s/backups", f->dir);
    DIR *d = opendir(path);
    assert_non_null(d);
    int n = 0;
    for (struct dirent *e; (e = readdir(d));) {
        size_t len = strlen(e->d_name), tail = strlen(end);
        n += strstr(e->d_name, "Z-") && len >= tail && strcmp(e->d_name + len - tail, end) == 0;
    }
    closedir(d);
    return n;
}

static void snapshots_are_bounded_in_number_and_rate(void **state) {
    fixture *f = *state;
    f->app->snapshots_kept = 3;
    f->app->snapshots_per_hour = 6;
    f->app->snapshots_left = 6;
    char mine[4200], path[4200];
    snprintf(mine, sizeof mine, "%s/backups", f->dir);
    mkdir(mine, 0700);
    snprintf(mine, sizeof mine, "%s/backups/forage-before-moving.db", f->dir);
    FILE *own = fopen(mine, "w"); /* a copy that a person made stays */
    assert_non_null(own);
    fclose(own);
    static const char *const older[] = {"forage-20260101T000000Z-0a1b.db",
                                        "forage-20260101T000000Z-0a1b.db.sha256",
                                        "forage-20260102T000000Z-0a1b.tar.zst.tmp-abcdef"};
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/backups/%s", f->dir, older[i]);
        assert_non_null(own = fopen(path, "w"));
        fclose(own);
    }
    int made = 0, refused = 0;
    for (int i = 0; i < 20; i++) {
        fo_buf got = {0};
        int status = say(f, "POST /admin/snapshot", HOME, NULL, &got);
        if (status == 200) {
            made++;
            const char *p = strstr(got.data, "\"path\":\"") + 8;
            snprintf(path, sizeof path, "%.*s", (int)strcspn(p, "\""), p);
            assert_int_equal(access(path, R_OK), 0); /* the new one is never the one to go */
        } else {
            refused++;
            assert_int_equal(status, 429);
            const char *retry = strcasestr(got.data, "\r\nRetry-After: ");
            assert_non_null(retry);
            int s = atoi(retry + 15);
            if (s < 500 || s > 600) fail_msg("Retry-After: %d", s); /* one every ten minutes */
            assert_non_null(strstr(got.data, "--snapshots-per-hour"));
        }
        fo_buf_free(&got);
    }
    print_message("# %d made, %d refused, %d kept\n", made, refused, n_backups(f, ".tar.zst"));
    assert_int_equal(made, 6);
    assert_int_equal(refused, 14);
    assert_int_equal(n_backups(f, ".tar.zst"), 3);
    assert_int_equal(n_backups(f, ""),
                     3); /* and what an older version and a killed one left is gone */
    assert_int_equal(access(path, R_OK), 0);
    assert_int_equal(access(mine, R_OK), 0);
    /* Ten minutes later there is one more. */
    f->app->snapshots_left_ms -= 600000;
    assert_int_equal(say(f, "POST /admin/snapshot", HOME, NULL, NULL), 200);
    assert_int_equal(say(f, "POST /admin/snapshot", HOME, NULL, NULL), 429);
}

#define PAGE  "Origin: https://app.example.org\r\n"
#define WANTS "Access-Control-Request-Headers: "

/* A listed page may send the headers that it asks for, if they are headers. */
static void a_page_that_is_listed_asks_for_its_headers(void **state) {
    fixture *f = *state;
    static const char mcp[] = "authorization,content-type,mcp-method,mcp-name,mcp-protocol-version",
                      usual[] = "Authorization, Content-Type, Idempotency-Key, X-Request-Id";
    char long_one[4000];
    memset(long_one, 'x', sizeof long_one - 1);
    long_one[sizeof long_one - 1] = 0;
    const struct {
        const char *asked, *allowed; /* NULL: it asks for none */
    } rows[] = {{mcp, mcp},
                {"x-stainless-lang, x-stainless-os, traceparent",
                 "x-stainless-lang, x-stainless-os, traceparent"},
                {NULL, usual},
                {"a:b", usual},
                {"a\"b", usual},
                {"a\xc3\xa9", usual},
                {long_one, usual}};
    fo_buf headers = {0}, got = {0}, line = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fo_buf_clear(&headers);
        fo_buf_str(&headers, HOME PAGE);
        if (rows[i].asked) fo_buf_printf(&headers, WANTS "%s\r\n", rows[i].asked);
        assert_int_equal(say(f, "OPTIONS /mcp", headers.data, NULL, &got), 204);
        fo_buf_clear(&line);
        fo_buf_printf(&line, "\r\nAccess-Control-Allow-Headers: %s\r\n", rows[i].allowed);
        if (!strstr(got.data, line.data)) fail_msg("%zu: no%sin %s", i, line.data, got.data);
        assert_non_null(strstr(got.data, "\r\nVary: Origin, Access-Control-Request-Headers\r\n"));
        fo_buf_free(&got);
    }
    assert_int_equal(say(f, "GET /collections", HOME PAGE WANTS "x-any\r\n", NULL, &got), 200);
    assert_null(strstr(got.data, "Access-Control-Allow-Headers"));
    assert_non_null(strstr(got.data, "\r\nVary: Origin\r\n"));
    assert_non_null(strstr(got.data, "traceresponse"));
    fo_buf_free(&got);
    assert_int_equal(
        say(f, "OPTIONS /mcp", HOME "Origin: http://localhost:1\r\n" WANTS "x-any\r\n", NULL, &got),
        204);
    assert_null(strstr(got.data, "Access-Control"));
    fo_buf_free(&got);
    fo_buf_free(&headers);
    fo_buf_free(&line);
}

static void listen_addresses_are_told_apart(void **state) {
    (void)state;
    static const struct {
        const char *listen;
        bool loopback;
    } places[] = {{"127.0.0.1:8080", true}, {"127.1.2.3:0", true},   {"[::1]:8080", true},
                  {"8080", true},           {"0.0.0.0:8080", false}, {":8080", false},
                  {"[::]:8080", false},     {"10.0.0.1:80", false}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        fo_err err = {0};
        bool loopback;
        assert_ok(http_listen_is_loopback(places[i].listen, &loopback, &err), &err);
        if (loopback != places[i].loopback) fail_msg("%s", places[i].listen);
    }
    fo_err err = {0};
    bool loopback;
    assert_int_equal(http_listen_is_loopback("no such host:80", &loopback, &err), FO_EINVAL);
    assert_true(http_host_valid("a.example") && http_host_valid("[::1]") &&
                http_host_valid("10.0.0.1"));
    assert_false(http_host_valid("a.example:80") || http_host_valid("http://a") ||
                 http_host_valid("") || http_host_valid("*") || http_host_valid("[::1]:80"));
}

static int setup(void **state) {
    static const char *const allowed[] = {"friend.example", "10.1.2.3", "[fd00::7]"},
                             *const origins[] = {"https://app.example.org"};
    fixture *f = fixture_open_with(test_folder(), NULL, (engine_options){0},
                                   (http_options){.allow_hosts = allowed,
                                                  .n_allow_hosts = 3,
                                                  .allow_origins = origins,
                                                  .n_allow_origins = 1});
    cJSON_Delete(
        ask(f, "/ingest", "{\"documents\":[{\"id\":\"kept\",\"text\":\"What stays.\"}]}", 200));
    *state = f;
    return 0;
}

static int teardown(void **state) {
    fixture_close(*state);
    return 0;
}

int main(void) {
    curl_global_init(CURL_GLOBAL_ALL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_route_refuses_foreign_names_and_pages),
        cmocka_unit_test(names_of_its_own_are_answered),
        cmocka_unit_test(pages_of_its_own_are_served),
        cmocka_unit_test(a_page_writes_nothing),
        cmocka_unit_test(what_writes_takes_only_its_own_types),
        cmocka_unit_test(snapshots_are_bounded_in_number_and_rate),
        cmocka_unit_test(a_page_that_is_listed_asks_for_its_headers),
        cmocka_unit_test(listen_addresses_are_told_apart),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
