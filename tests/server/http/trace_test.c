/* trace_test.c - spans of requests: whose child they are, what of their stages is told, the JSON that a collector gets, in
 * which portions, and what becomes of it where the collector is busy, refuses or says nothing. The collector is a thread of
 * the test's own. */
#include "server/http/trace.h"
#include "tests/test.h"

#include <arpa/inet.h>
#include <cjson/cJSON.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "kernels/clock.h"
#include "kernels/error.h"

enum { MAX_REQUESTS = 64, BATCH = 256, RING = 2048 };

/* ---- a clock that is set ---------------------------------------------------------------------- */

static atomic_int ahead_s; /* that the clock of the wall goes before the machine's */

/* In the place of the C library's, for this program. */
int clock_gettime(clockid_t id, struct timespec *t) {
    int rc = (int)syscall(SYS_clock_gettime, id, t);
    if (!rc && id == CLOCK_REALTIME) t->tv_sec += ahead_s;
    return rc;
}

/* ---- a collector ------------------------------------------------------------------------------ */

typedef struct collector {
    int listener;
    char url[64];
    const int *statuses; /* of the first requests; 200 behind them */
    int n_statuses;
    pthread_t thread;
    atomic_bool stop;
    atomic_int n;
    char *heads[MAX_REQUESTS], *bodies[MAX_REQUESTS]; /* [n] */
} collector;

/* Listens; the thread comes later, since tracer_start forks. */
static void open_collector(collector *c) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    *c = (collector){.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    assert_int_equal(bind(c->listener, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(c->listener, 16), 0);
    getsockname(c->listener, (struct sockaddr *)&at, &len);
    snprintf(c->url, sizeof c->url, "http://127.0.0.1:%d", ntohs(at.sin_port));
}

static void take_one(collector *c, int fd) {
    size_t size = 1 << 20, n = 0, head = 0, length = 0;
    char *data = malloc(size + 1);
    for (ssize_t k; n < size && (k = read(fd, data + n, size - n)) > 0;) {
        n += (size_t)k;
        data[n] = 0;
        char *end = strstr(data, "\r\n\r\n");
        if (!end) continue;
        head = (size_t)(end - data) + 4;
        const char *is = strstr(data, "Content-Length: ");
        length = is ? strtoul(is + 16, NULL, 10) : 0;
        if (n >= head + length) break;
    }
    int i = c->n, status = i < c->n_statuses ? c->statuses[i] : 200;
    if (head && n == head + length && i < MAX_REQUESTS) {
        c->bodies[i] = strdup(data + head);
        data[head] = 0;
        c->heads[i] = data;
        c->n = i + 1;
        dprintf(fd, "HTTP/1.1 %d X\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}", status);
    } else {
        free(data);
    }
    close(fd);
}

static void *collect(void *arg) {
    collector *c = arg;
    while (!c->stop) {
        if (poll(&(struct pollfd){.fd = c->listener, .events = POLLIN}, 1, 50) <= 0) continue;
        int fd = accept(c->listener, NULL, NULL);
        if (fd >= 0) take_one(c, fd);
    }
    return NULL;
}

static void close_collector(collector *c) {
    c->stop = true;
    if (c->thread) pthread_join(c->thread, NULL);
    close(c->listener);
    for (int i = 0; i < c->n; i++) {
        free(c->heads[i]);
        free(c->bodies[i]);
    }
}

/* A tracer that sends to it. silent: the collector accepts nothing. */
static tracer *start(collector *c, bool silent, const char *const *headers, size_t n_headers) {
    fo_err err = {0};
    tracer *t;
    tracer_options o = {
        .url = c->url, .headers = headers, .n_headers = n_headers, .sample = 1, .confined = true};
    assert_int_equal(tracer_start(&t, &o, &err), FO_OK);
    if (!silent) assert_int_equal(pthread_create(&c->thread, NULL, collect, c), 0);
    assert_int_equal(tracer_run(t, &err), FO_OK);
    return t;
}

static void record(tracer *t, const char *traceparent, int status, int n_stages) {
    static const trace_stage stages[] = {{"embed", 1}, {"dense", 2}, {"sparse", 3}};
    trace_span s;
    tracer_begin(t, traceparent, &s);
    int64_t now = (int64_t)(fo_now_ms() * 1000);
    trace_stages(&s, now, 10, stages, (size_t)n_stages, NULL);
    tracer_record(t, &s,
                  &(trace_request){.method = "POST",
                                   .route = "/query",
                                   .request_id = "r_1",
                                   .status = status,
                                   .began_us = now - 12000,
                                   .ended_us = now});
}

/* Until as many spans were told of, in whichever way; a minute at most. */
static tracer_stats await(const tracer *t, uint64_t n) {
    tracer_stats s;
    for (int i = 0; i < 1200; i++) {
        tracer_get_stats(t, &s);
        if (s.sent + s.dropped + s.failed >= n) break;
        usleep(50000);
    }
    return s;
}

static const cJSON *spans_of(const cJSON *root) {
    const cJSON *resource = cJSON_GetArrayItem(cJSON_GetObjectItem(root, "resourceSpans"), 0);
    const cJSON *scope = cJSON_GetArrayItem(cJSON_GetObjectItem(resource, "scopeSpans"), 0);
    return cJSON_GetObjectItem(scope, "spans");
}

static const char *text(const cJSON *o, const char *name) {
    const char *s = cJSON_GetStringValue(cJSON_GetObjectItem(o, name));
    return s ? s : "";
}

/* ---- a request -------------------------------------------------------------------------------- */

#define TRACE "0af7651916cd43dd8448eb211c80319c"
#define ASKER "b7ad6b7169203331"

static void a_traceparent_is_taken_up_with_its_word_on_sampling(void **state) {
    (void)state;
    collector c;
    open_collector(&c);
    tracer *t = start(&c, true, NULL, 0);
    trace_span s;
    char out[TRACE_PARENT_BYTES];
    tracer_begin(t, "00-" TRACE "-" ASKER "-01", &s);
    assert_true(s.on && s.has_parent && s.sampled);
    assert_int_equal(s.parent_id[0], 0xb7);
    trace_parent(&s, out);
    assert_int_equal(strlen(out), 55);
    assert_memory_equal(out, "00-" TRACE "-", 36);
    assert_memory_not_equal(out + 36, ASKER, 16); /* a span of its own */
    assert_string_equal(out + 52, "-01");
    tracer_begin(t, "00-" TRACE "-" ASKER "-00", &s);
    assert_true(s.has_parent && !s.sampled);
    tracer_begin(t, "42-" TRACE "-" ASKER "-01-more", &s); /* of a version to come */
    assert_true(s.has_parent && s.sampled);
    static const char *const bad[] = {NULL,
                                      "",
                                      "00-" TRACE "-" ASKER,
                                      "ff-" TRACE "-" ASKER "-01",
                                      "00-" TRACE "-" ASKER "-01-more",
                                      "00-00000000000000000000000000000000-" ASKER "-01",
                                      "00-" TRACE "-0000000000000000-01",
                                      "00-0AF7651916CD43DD8448EB211C80319C-" ASKER "-01",
                                      "00-" TRACE "_" ASKER "-01",
                                      "00-" TRACE "-" ASKER "-0x"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tracer_begin(t, bad[i], &s);
        assert_true(s.on && !s.has_parent && s.sampled);
        trace_parent(&s, out);
        assert_memory_not_equal(out + 3, TRACE, 32);
    }
    tracer_begin(NULL, "00-" TRACE "-" ASKER "-01", &s);
    assert_false(s.on || s.sampled);
    tracer_record(NULL, &s, &(trace_request){.method = "GET"}); /* nobody to tell */
    tracer_stop(t);
    close_collector(&c);
}

static void a_share_of_the_requests_is_traced(void **state) {
    (void)state;
    collector c;
    open_collector(&c);
    fo_err err = {0};
    tracer *t;
    assert_int_equal(tracer_start(&t, &(tracer_options){.url = c.url, .sample = 0.25}, &err),
                     FO_OK);
    int n = 0;
    for (int i = 0; i < 4000; i++) {
        trace_span s;
        tracer_begin(t, NULL, &s);
        n += s.sampled;
    }
    assert_in_range(n, 850, 1150); /* five standard deviations */
    tracer_stop(t);
    close_collector(&c);
}

static void stages_fill_the_work_and_no_more(void **state) {
    (void)state;
    trace_span s = {.sampled = true};
    const trace_stage some[] = {{"a", 2}, {"none", 0}, {"b", 3}};
    trace_stages(&s, 1000000, 10, some, 3, "rest");
    assert_int_equal(s.n_stages, 3); /* without the one that did not run */
    assert_string_equal(s.stages[2].name, "rest");
    assert_true(s.stages[2].ms > 4.99 && s.stages[2].ms < 5.01);
    assert_int_equal(s.work_ended_us - s.work_began_us, 10000);
    s = (trace_span){.sampled = true}; /* two threads took 12 ms within 6 */
    const trace_stage both[] = {{"a", 4}, {"b", 8}};
    trace_stages(&s, 1000000, 6, both, 2, "rest");
    assert_int_equal(s.n_stages, 2);
    assert_true(s.stages[0].ms > 1.99 && s.stages[0].ms < 2.01 && s.stages[1].ms > 3.99 &&
                s.stages[1].ms < 4.01);
    s = (trace_span){.sampled = true};
    trace_stage many[40];
    char names[40][4];
    for (int i = 0; i < 40; i++) {
        snprintf(names[i], sizeof names[i], "x%d", i);
        many[i] = (trace_stage){names[i], 1};
    }
    trace_stages(&s, 1000000, 100, many, 40, "rest");
    assert_int_equal(s.n_stages, TRACE_MAX_STAGES);
    s = (trace_span){0};
    trace_stages(&s, 1000000, 10, some, 3, "rest");
    assert_int_equal(s.n_stages, 0);
}

/* As choices of an answer are written one after the other. */
static void work_that_goes_on_keeps_its_begin(void **state) {
    (void)state;
    trace_span s = {.sampled = true};
    const trace_stage first[] = {{"queue", 5}, {"embed", 10}, {"decode", 20}},
                      second[] = {{"embed", 1}, {"decode", 30}};
    trace_stages(&s, 1000000, 40, first, 3, "rest");
    for (int i = 1; i < 10; i++) trace_stages(&s, 1000000 + i * 40000, 40, second, 2, "rest");
    assert_int_equal(s.work_began_us, 960000);
    assert_int_equal(s.work_ended_us, 1360000);
    static const char *const names[] = {"queue", "embed", "decode", "rest"};
    static const double ms[] = {5, 10 + 9 * 1, 20 + 9 * 30, 5 + 9 * 9};
    assert_int_equal(s.n_stages, 4);
    for (int i = 0; i < 4; i++) {
        assert_string_equal(s.stages[i].name, names[i]);
        assert_float_equal(s.stages[i].ms, ms[i], 0.01);
    }
    const trace_stage both[] = {{"embed", 300}, {"decode", 300}}; /* 600 ms within 205 */
    double sum = 0;
    trace_stages(&s, 1565000, 205, both, 2, "rest");
    for (int i = 0; i < 4; i++) sum += s.stages[i].ms;
    assert_float_equal(sum, 605, 0.1); /* since the begin */
}

/* ---- what is sent ----------------------------------------------------------------------------- */

static void a_collector_gets_otlp(void **state) {
    (void)state;
    collector c;
    open_collector(&c);
    const char *const headers[] = {"Authorization: Bearer abc"};
    tracer *t = start(&c, false, headers, 1);
    record(t, "00-" TRACE "-" ASKER "-01", 200, 3);
    record(t, NULL, 500, 0);
    record(t, "00-" TRACE "-" ASKER "-00", 200, 3); /* not wanted */
    tracer_stats s = await(t, 5);
    assert_int_equal(s.sent, 5);
    tracer_stop(t);
    assert_int_equal(c.n, 1);
    assert_non_null(strstr(c.heads[0], "POST /v1/traces HTTP/1.1\r\n"));
    assert_non_null(strstr(c.heads[0], "Content-Type: application/json\r\n"));
    assert_non_null(strstr(c.heads[0], "Authorization: Bearer abc\r\n"));
    cJSON *root = cJSON_Parse(c.bodies[0]);
    assert_non_null(
        strstr(c.bodies[0], "{\"key\":\"service.name\",\"value\":{\"stringValue\":\"forage\"}}"));
    const cJSON *spans = spans_of(root), *first = cJSON_GetArrayItem(spans, 0);
    assert_int_equal(cJSON_GetArraySize(spans), 5);
    assert_string_equal(text(first, "traceId"), TRACE);
    assert_string_equal(text(first, "parentSpanId"), ASKER);
    assert_string_equal(text(first, "name"), "POST /query");
    assert_int_equal((int)cJSON_GetNumberValue(cJSON_GetObjectItem(first, "kind")), 2);
    long long begin = atoll(text(first, "startTimeUnixNano")),
              end = atoll(text(first, "endTimeUnixNano"));
    assert_int_equal(end - begin, 12000000);
    long long off = end / 1000000 - fo_unix_ms();
    assert_true(off > -120000 && off < 1000);
    long long at = end - 10000000; /* the work of 10 ms is the last of it */
    static const char *const names[] = {"embed", "dense", "sparse"};
    for (int i = 0; i < 3; i++) { /* one behind the other, within their request */
        const cJSON *stage = cJSON_GetArrayItem(spans, i + 1);
        assert_string_equal(text(stage, "name"), names[i]);
        assert_string_equal(text(stage, "parentSpanId"), text(first, "spanId"));
        assert_string_equal(text(stage, "traceId"), TRACE);
        assert_int_equal(strlen(text(stage, "spanId")), 16);
        assert_int_equal(atoll(text(stage, "startTimeUnixNano")) - at, 0);
        at = atoll(text(stage, "endTimeUnixNano"));
        assert_true(at <= end);
    }
    const cJSON *second = cJSON_GetArrayItem(spans, 4);
    assert_string_equal(text(second, "parentSpanId"), "");
    assert_int_equal((int)cJSON_GetNumberValue(
                         cJSON_GetObjectItem(cJSON_GetObjectItem(second, "status"), "code")),
                     2);
    assert_null(cJSON_GetObjectItem(cJSON_GetObjectItem(first, "status"), "code"));
    assert_non_null(strstr(
        c.bodies[0], "{\"key\":\"http.response.status_code\",\"value\":{\"intValue\":\"500\"}}"));
    cJSON_Delete(root);
    close_collector(&c);
}

static long long ended_ms(const char *body) {
    cJSON *root = cJSON_Parse(body);
    long long ns = atoll(text(cJSON_GetArrayItem(spans_of(root), 0), "endTimeUnixNano"));
    cJSON_Delete(root);
    return ns / 1000000;
}

static void spans_are_of_the_time_of_a_clock_that_was_set(void **state) {
    (void)state;
    static const int steps_s[] = {0, 36000, -36000};
    collector c;
    open_collector(&c);
    tracer *t = start(&c, false, NULL, 0);
    for (int i = 0; i < 3; i++) {
        ahead_s = steps_s[i];
        record(t, NULL, 200, 0);
        assert_int_equal(await(t, (uint64_t)i + 1).sent, i + 1);
        assert_int_equal(c.n, i + 1);
        long long off = ended_ms(c.bodies[i]) - fo_unix_ms();
        if (off < -120000 || off > 1000) fail_msg("by %d s: %lld ms off", steps_s[i], off);
    }
    ahead_s = 0;
    tracer_stop(t);
    close_collector(&c);
}

static void many_requests_go_in_batches(void **state) {
    (void)state;
    enum { N = 1000 };
    collector c;
    open_collector(&c);
    tracer *t = start(&c, false, NULL, 0);
    for (int i = 0; i < N; i++) record(t, NULL, 200, 1);
    tracer_stats s = await(t, 2 * N);
    assert_int_equal(s.sent, 2 * N);
    assert_int_equal(s.dropped + s.failed, 0);
    tracer_stop(t);
    int n = 0;
    assert_true(c.n >= N / BATCH);
    for (int i = 0; i < c.n; i++) {
        cJSON *root = cJSON_Parse(c.bodies[i]);
        int k = cJSON_GetArraySize(spans_of(root));
        assert_in_range(k, 1, 2 * BATCH);
        n += k;
        cJSON_Delete(root);
    }
    assert_int_equal(n, 2 * N);
    close_collector(&c);
}

static void what_has_gathered_is_sent_at_the_end(void **state) {
    (void)state;
    collector c;
    open_collector(&c);
    tracer *t = start(&c, false, NULL, 0);
    record(t, NULL, 200, 2);
    tracer_stop(t); /* within the second in which nothing is sent */
    assert_int_equal(c.n, 1);
    close_collector(&c);
}

/* ---- collectors that fail ----------------------------------------------------------------------- */

static void a_busy_collector_is_asked_again(void **state) {
    (void)state;
    static const int busy[] = {503, 429};
    collector c;
    open_collector(&c);
    c.statuses = busy;
    c.n_statuses = 2;
    tracer *t = start(&c, false, NULL, 0);
    record(t, NULL, 200, 1);
    tracer_stats s = await(t, 2);
    assert_int_equal(s.sent, 2);
    assert_int_equal(s.failed + s.dropped, 0);
    assert_int_equal(c.n, 3);
    assert_string_equal(c.bodies[0],
                        c.bodies[1]); /* the same spans: the collector knows them by their ids */
    assert_string_equal(c.bodies[0], c.bodies[2]);
    tracer_stop(t);
    close_collector(&c);
}

static void what_it_refuses_is_not_sent_again(void **state) {
    (void)state;
    static const int no[] = {400, 200, 500};
    collector c;
    open_collector(&c);
    c.statuses = no;
    c.n_statuses = 3;
    tracer *t = start(&c, false, NULL, 0);
    for (int i = 0; i < 3; i++) {
        record(t, NULL, 200, 0);
        await(t, (uint64_t)i + 1);
    }
    tracer_stats s;
    tracer_get_stats(t, &s);
    assert_int_equal(s.failed, 2);
    assert_int_equal(s.sent, 1);
    assert_int_equal(c.n, 3);
    tracer_stop(t);
    close_collector(&c);
}

static void nobody_waits_for_one_that_says_nothing(void **state) {
    (void)state;
    enum { N = 20000 };
    collector c;
    open_collector(&c);
    tracer *t = start(&c, true, NULL, 0);
    double begin = fo_now_ms();
    for (int i = 0; i < N; i++) record(t, NULL, 200, 3);
    assert_true(fo_now_ms() - begin < 5000);
    tracer_stats s;
    tracer_get_stats(t, &s);
    assert_int_equal(s.sent, 0);
    assert_true(s.dropped > 0 && s.dropped % 4 == 0);
    assert_true(s.dropped >=
                4ull * (N - RING -
                        40 * BATCH)); /* what fits into the ring and the pair of sockets is kept */
    begin = fo_now_ms();
    tracer_stop(t);
    assert_true(fo_now_ms() - begin < 8000);
    close_collector(&c);
}

static void nor_for_one_that_is_not_there(void **state) {
    (void)state;
    collector c;
    open_collector(&c);
    close(c.listener);
    tracer *t = start(&c, true, NULL, 0);
    record(t, NULL, 200, 0);
    double begin = fo_now_ms();
    tracer_stop(t);
    assert_true(fo_now_ms() - begin < 8000);
}

static void refuses_what_is_no_address_and_no_header(void **state) {
    (void)state;
    tracer *t = NULL;
    fo_err err = {0};
    const char *const bad[] = {"no colon"}, *const split[] = {"A: b\r\nC: d"};
    assert_int_equal(
        tracer_start(&t, &(tracer_options){.url = "localhost:4318", .sample = 1}, &err), FO_EINVAL);
    assert_int_equal(tracer_start(&t, &(tracer_options){.url = "http://x", .sample = 0}, &err),
                     FO_EINVAL);
    assert_int_equal(
        tracer_start(
            &t, &(tracer_options){.url = "http://x", .sample = 1, .headers = bad, .n_headers = 1},
            &err),
        FO_EINVAL);
    assert_int_equal(
        tracer_start(
            &t, &(tracer_options){.url = "http://x", .sample = 1, .headers = split, .n_headers = 1},
            &err),
        FO_EINVAL);
    assert_null(t);
}

/* ---- the process that sends --------------------------------------------------------------------- */

/* The value of a line of /proc/PID/status, -1: there is none. */
static long status_of(int pid, const char *name) {
    char path[64], line[256];
    long value = -1;
    snprintf(path, sizeof path, "/proc/%d/status", pid);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, name, strlen(name)) && line[strlen(name)] == ':')
            value = atol(line + strlen(name) + 1);
    if (f) fclose(f);
    return value;
}

static int only_child(void) {
    char path[64];
    int pid = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *f = fopen(path, "r");
    if (!f || fscanf(f, "%d", &pid) != 1) pid = 0;
    if (f) fclose(f);
    return pid;
}

static void the_process_that_sends_is_held(void **state) {
    (void)state;
    collector c;
    open_collector(&c);
    tracer *t = start(&c, false, NULL, 0);
    int pid = only_child();
    if (!pid) { /* a kernel without that list */
        tracer_stop(t);
        close_collector(&c);
        skip();
    }
    record(t, NULL, 200, 0);
    tracer_stats s = await(t, 1);
    assert_int_equal(s.sent, 1); /* and can do what it is for */
    assert_int_equal(status_of(pid, "NoNewPrivs"), 1);
    assert_int_equal(status_of(pid, "Seccomp"), 2);
    tracer_stop(t);
    assert_int_equal(status_of(pid, "NoNewPrivs"), -1); /* it ends with the tracer */
    close_collector(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_traceparent_is_taken_up_with_its_word_on_sampling),
        cmocka_unit_test(a_share_of_the_requests_is_traced),
        cmocka_unit_test(stages_fill_the_work_and_no_more),
        cmocka_unit_test(work_that_goes_on_keeps_its_begin),
        cmocka_unit_test(a_collector_gets_otlp),
        cmocka_unit_test(spans_are_of_the_time_of_a_clock_that_was_set),
        cmocka_unit_test(many_requests_go_in_batches),
        cmocka_unit_test(what_has_gathered_is_sent_at_the_end),
        cmocka_unit_test(a_busy_collector_is_asked_again),
        cmocka_unit_test(what_it_refuses_is_not_sent_again),
        cmocka_unit_test(nobody_waits_for_one_that_says_nothing),
        cmocka_unit_test(nor_for_one_that_is_not_there),
        cmocka_unit_test(refuses_what_is_no_address_and_no_header),
        cmocka_unit_test(the_process_that_sends_is_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
