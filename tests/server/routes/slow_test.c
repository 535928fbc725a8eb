/* slow_test.c - a hundred clients that send documents a few bytes at a time, in every format, beside
 * others that delete and search. What that costs the others is printed; what is asserted is that none
 * of them waits for a slow one. */
#include "tests/test.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <time.h>

#include "kernels/buf.h"
#include "tests/server/routes/http_fixture.h"

enum { N_SLOW = 100, N_CALLS = 250, PIECE_BYTES = 130, PIECE_MS = 100 }; /* 1.3 kB a second each */

#define BOUND_MS 5000.0

static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1000 + (double)t.tv_nsec * 1e-6;
}

static int dial(fixture *f) {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)http_port(f->app->http))};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    struct timeval t = {60, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t);
    return fd;
}

static const struct {
    const char *type, *begin, *more, *end; /* of a body: `more` again and again */
} kinds[] = {
    {"application/x-ndjson", "", "{\"text\":\"A slow line of a slow client, one of very many.\"}\n",
     ""},
    {"application/json", "{\"documents\":[{\"text\":\"", "a slow word and another one ", "\"}]}"},
    {"text/plain", "", "a slow word and another one ", ""},
    {"multipart/form-data; boundary=b",
     "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"slow.txt\"\r\n\r\n",
     "a slow word and another one ", "\r\n--b--\r\n"},
};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

static bool chunk(int fd, const char *data, size_t n) {
    fo_buf b = {0};
    fo_buf_printf(&b, "%zx\r\n", n);
    fo_buf_add(&b, data, n);
    fo_buf_str(&b, "\r\n");
    ssize_t k = send(fd, b.data, b.len, MSG_NOSIGNAL);
    bool sent = k == (ssize_t)b.len;
    fo_buf_free(&b);
    return sent;
}

typedef struct drip {
    int fds[N_SLOW];
    atomic_bool stop;
    atomic_int rounds, n_cut;
} drip;

static void begin_body(int fd, int i, const char *more_headers) {
    fo_buf b = {0};
    fo_buf_printf(
        &b,
        "POST /ingest?collection=slow HTTP/1.1\r\nHost: localhost\r\nContent-Type: %s\r\n%s"
        "Transfer-Encoding: chunked\r\n\r\n",
        kinds[i % N_KINDS].type, more_headers);
    assert_int_equal(send(fd, b.data, b.len, MSG_NOSIGNAL), b.len);
    fo_buf_free(&b);
    if (*kinds[i % N_KINDS].begin)
        chunk(fd, kinds[i % N_KINDS].begin, strlen(kinds[i % N_KINDS].begin));
}

static void *dripping(void *arg) {
    drip *d = arg;
    while (!d->stop) {
        double began = now_ms();
        for (int i = 0; i < N_SLOW; i++) {
            fo_buf b = {0};
            while (b.len < PIECE_BYTES) fo_buf_str(&b, kinds[i % N_KINDS].more);
            if (!chunk(d->fds[i], b.data, b.len)) d->n_cut++;
            fo_buf_free(&b);
        }
        d->rounds++;
        double left = PIECE_MS - (now_ms() - began);
        if (left > 0) usleep((useconds_t)(left * 1000));
    }
    return NULL;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef struct times {
    double deletes[N_CALLS], searches[N_CALLS];
} times;

/* Documents of this name are there; each is deleted, and between two a search is asked. */
static void measure(fixture *f, const char *name, times *t) {
    for (int i = 0; i < N_CALLS; i++) {
        char path[64], body[128];
        fo_buf got = {0};
        snprintf(path, sizeof path, "/documents/%s%d", name, i);
        double began = now_ms();
        long status = send_method(f, "DELETE", path, NULL, &got, false);
        t->deletes[i] = now_ms() - began;
        assert_int_equal(status, 200);
        snprintf(body, sizeof body, "{\"query\":\"pump number %d\"}", i);
        began = now_ms();
        status = send_method(f, "POST", "/search", body, &got, false);
        t->searches[i] = now_ms() - began;
        assert_int_equal(status, 200);
        fo_buf_free(&got);
    }
    qsort(t->deletes, N_CALLS, sizeof *t->deletes, by_size);
    qsort(t->searches, N_CALLS, sizeof *t->searches, by_size);
}

static void add_documents(fixture *f, const char *name) {
    fo_buf b = {0};
    fo_buf_str(&b, "{\"documents\":[");
    for (int i = 0; i < N_CALLS; i++)
        fo_buf_printf(&b, "%s{\"id\":\"%s%d\",\"text\":\"The pump number %d is serviced in %d.\"}",
                      i ? "," : "", name, i, i, 1900 + i);
    fo_buf_str(&b, "]}");
    cJSON_Delete(ask(f, "/ingest", b.data, 200));
    fo_buf_free(&b);
}

static void print_times(const char *what, const double *idle, const double *slow) {
    const int p50 = N_CALLS / 2, p99 = N_CALLS * 99 / 100;
    print_message(
        "# %s: idle p50 %.2f ms, p99 %.2f ms; beside %d slow clients p50 %.2f ms, p99 %.2f "
        "ms (%.2f times)\n",
        what, idle[p50], idle[p99], N_SLOW, slow[p50], slow[p99], slow[p99] / idle[p99]);
    if (slow[N_CALLS - 1] > BOUND_MS) fail_msg("%s: one took %.0f ms", what, slow[N_CALLS - 1]);
}

static void slow_clients_hold_up_nobody(void **state) {
    fixture *f = *state;
    static times idle, slow;
    add_documents(f, "kept");
    add_documents(f, "before");
    add_documents(f, "beside");
    measure(f, "before", &idle);
    drip d = {.stop = false};
    for (int i = 0; i < N_SLOW; i++) {
        d.fds[i] = dial(f);
        begin_body(d.fds[i], i, i % 8 < 4 ? "" : "Idempotency-Key: slow\r\n");
    }
    pthread_t t;
    assert_int_equal(pthread_create(&t, NULL, dripping, &d), 0);
    while (d.rounds < 3) usleep(10000);
    measure(f, "beside", &slow);
    assert_int_equal(d.n_cut, 0); /* they were there all the time */
    d.stop = true;
    pthread_join(t, NULL);
    print_times("DELETE", idle.deletes, slow.deletes);
    print_times("/search", idle.searches, slow.searches);
    /* Their bodies end now: what they sent is there like any other. The same key with other bytes is
     * refused, as it would be from a quick client. */
    int n_stored = 0, n_refused = 0;
    for (int i = 0; i < N_SLOW; i++) {
        const char *end = kinds[i % N_KINDS].end;
        if (*end) chunk(d.fds[i], end, strlen(end));
        send(d.fds[i], "0\r\n\r\n", 5, MSG_NOSIGNAL);
        char head[16] = "";
        assert_true(recv(d.fds[i], head, 12, MSG_WAITALL) == 12);
        n_stored += !strcmp(head, "HTTP/1.1 200");
        n_refused += !strcmp(head, "HTTP/1.1 422") || !strcmp(head, "HTTP/1.1 409");
        close(d.fds[i]);
    }
    print_message("# of the slow ones %d were stored, %d had a key that was used\n", n_stored,
                  n_refused);
    assert_int_equal(n_stored + n_refused, N_SLOW);
    assert_true(n_stored > N_SLOW / 2);
    cJSON *r = ask(f, "/search", "{\"query\":\"slow word\",\"collection\":\"slow\"}", 200);
    assert_non_null(strstr(text(r, "contexts.0.text"), "slow"));
    cJSON_Delete(r);
}

/* With the limits that a server has, but a shorter patience: each is told, and nothing of it is left. */
static void slow_clients_are_told_and_leave_nothing(void **state) {
    (void)state;
    fixture *f = fixture_open_with(test_folder(), NULL, (engine_options){0},
                                   (http_options){.body_timeout_ms = 1000});
    int fds[2 * N_KINDS];
    for (int i = 0; i < 2 * N_KINDS; i++) {
        fds[i] = dial(f);
        begin_body(fds[i], i, "");
    }
    bool open = true;
    double began = now_ms();
    while (open && now_ms() - began < 20000) {
        open = false;
        for (int i = 0; i < 2 * N_KINDS; i++) {
            char c;
            if (recv(fds[i], &c, 1, MSG_PEEK | MSG_DONTWAIT) >= 0) continue;
            open = true;
            chunk(fds[i], kinds[i % N_KINDS].more, strlen(kinds[i % N_KINDS].more));
        }
        usleep(50000);
    }
    for (int i = 0; i < 2 * N_KINDS; i++) {
        fo_buf b = {0};
        char some[512];
        for (ssize_t k; (k = recv(fds[i], some, sizeof some, 0)) > 0;)
            fo_buf_add(&b, some, (size_t)k);
        fo_buf_char(&b, 0);
        if (strncmp(b.data, "HTTP/1.1 408", 12) || !strstr(b.data, "4096 bytes a second"))
            fail_msg("%s: %s", kinds[i % N_KINDS].type, b.data);
        fo_buf_free(&b);
        close(fds[i]);
    }
    cJSON *r = ask(f, "/stats", NULL, 200);
    assert_true(number(r, "documents") == 0);
    cJSON_Delete(r);
    fixture_close(f);
}

static int setup(void **state) {
    *state = fixture_open_with(test_folder(), NULL, (engine_options){0},
                               (http_options){.body_timeout_ms = 120000});
    return 0;
}

static int teardown(void **state) {
    fixture_close(*state);
    return 0;
}

int main(void) {
    curl_global_init(CURL_GLOBAL_ALL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slow_clients_hold_up_nobody),
        cmocka_unit_test(slow_clients_are_told_and_leave_nothing),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
