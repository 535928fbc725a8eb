#include "server/http/trace.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kernels/buf.h"
#include "kernels/clock.h"
#include "kernels/cond.h"
#include "kernels/hex.h"
#include "server/base/json.h"
#include "server/base/log.h"
#include "server/base/serve_sandbox.h"
#include "server/http/trace_sender.h"

enum { RING = 2048, BATCH = 256, EVERY_MS = 1000, LAST_WORDS_MS = 2000, MAX_HEADERS = 16 };

/* A request that was answered. */
typedef struct record {
    trace_span span;
    char method[12], route[64], request_id[65];
    int status;
    int64_t began_us, ended_us;
} record;

struct tracer {
    /* immutable after tracer_run */
    double sample;
    pid_t sender;
    int fd;               /* to the sender */
    trace_counts *counts; /* shared with it */
    pthread_t thread;
    bool has_thread;
    /* guarded by mu */
    pthread_mutex_t mu;
    pthread_cond_t change;
    record *ring; /* [RING] */
    size_t first, n;
    /* atomic */
    atomic_bool stop;
    atomic_ullong dropped;
};

/* What the log was told of the collector, and the counts then. */
typedef struct trace_told {
    unsigned long long sent, failed;
    bool lost;
} trace_told;

/* ---- a request ------------------------------------------------------------------------------ */

static bool read_hex(const char *s, unsigned char *out, size_t n) {
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        int high = fo_hex_digit(s[2 * i]), low = high < 0 ? -1 : fo_hex_digit(s[2 * i + 1]);
        if (low < 0 || isupper((unsigned char)s[2 * i]) || isupper((unsigned char)s[2 * i + 1]))
            return false;
        out[i] = (unsigned char)(high * 16 + low);
        any = any || out[i];
    }
    return any;
}

/* W3C Trace Context, 3.2: of versions to come the first four fields are read as those of version 00. */
static bool read_parent(const char *s, trace_span *out) {
    size_t n = strlen(s);
    unsigned char version = 0, flags = 0;
    if (n < 55 || s[2] != '-' || s[35] != '-' || s[52] != '-') return false;
    bool v0 = !strncmp(s, "00", 2), f0 = !strncmp(s + 53, "00", 2);
    if ((!v0 && !read_hex(s, &version, 1)) || version == 0xff || (n > 55 && (v0 || s[55] != '-')))
        return false;
    if (!f0 && !read_hex(s + 53, &flags, 1)) return false;
    if (!read_hex(s + 3, out->trace_id, 16) || !read_hex(s + 36, out->parent_id, 8)) return false;
    out->has_parent = true;
    out->sampled = flags & 1;
    return true;
}

static void random_bytes(unsigned char *out, size_t n) {
    if (getrandom(out, n, GRND_NONBLOCK) == (ssize_t)n) return;
    uint64_t x = (uint64_t)(fo_now_ms() * 1e6) ^ (uintptr_t)out; /* at the boot alone */
    for (size_t i = 0; i < n; i++)
        out[i] = (unsigned char)((x = x * 6364136223846793005u + 1) >> 56);
}

void tracer_begin(const tracer *t, const char *traceparent, trace_span *out) {
    *out = (trace_span){.on = t != NULL};
    if (!t) return;
    random_bytes(out->span_id, sizeof out->span_id);
    if (traceparent && read_parent(traceparent, out)) return;
    random_bytes(out->trace_id, sizeof out->trace_id);
    out->has_parent = false;
    uint32_t draw;
    memcpy(&draw, out->trace_id + 12, sizeof draw);
    out->sampled = draw < t->sample * 4294967296.0;
}

void trace_parent(const trace_span *s, char out[TRACE_PARENT_BYTES]) {
    memcpy(out, "00-", 3);
    fo_hex_write(out + 3, s->trace_id, 16);
    out[35] = '-';
    fo_hex_write(out + 36, s->span_id, 8);
    memcpy(out + 52, s->sampled ? "-01" : "-00", 4);
}

/* To the stage of that name where there is one. Returns what was added. */
static double add_stage(trace_span *s, const char *name, double ms) {
    int i = 0;
    while (i < s->n_stages && strcmp(s->stages[i].name, name) != 0) i++;
    if (!(ms > 0) || i == TRACE_MAX_STAGES) return 0;
    if (i == s->n_stages) s->stages[s->n_stages++] = (trace_stage){name, 0};
    s->stages[i].ms += ms;
    return ms;
}

void trace_stages(trace_span *s, int64_t now_us, double total_ms, const trace_stage *stages,
                  size_t n, const char *rest) {
    if (!s->sampled) return;
    if (!s->n_stages) s->work_began_us = now_us - (int64_t)(total_ms * 1000);
    s->work_ended_us = now_us;
    double sum = 0, all = 0;
    for (size_t i = 0; i < n; i++) sum += add_stage(s, stages[i].name, stages[i].ms);
    if (rest) add_stage(s, rest, total_ms - sum);
    /* Threads side by side may have worked for longer than it took. */
    const double window_ms = (double)(s->work_ended_us - s->work_began_us) / 1000;
    for (int i = 0; i < s->n_stages; i++) all += s->stages[i].ms;
    for (int i = 0; all > window_ms && i < s->n_stages; i++) s->stages[i].ms *= window_ms / all;
}

void tracer_record(tracer *t, const trace_span *s, const trace_request *r) {
    if (!t || !s->sampled) return;
    record e = {.span = *s, .status = r->status, .began_us = r->began_us, .ended_us = r->ended_us};
    snprintf(e.method, sizeof e.method, "%s", r->method);
    snprintf(e.route, sizeof e.route, "%s", r->route ? r->route : "");
    snprintf(e.request_id, sizeof e.request_id, "%s", r->request_id);
    pthread_mutex_lock(&t->mu);
    bool full = t->n == RING;
    if (!full) t->ring[(t->first + t->n++) % RING] = e;
    if (t->n == BATCH) pthread_cond_signal(&t->change);
    pthread_mutex_unlock(&t->mu);
    if (full) atomic_fetch_add(&t->dropped, 1 + (unsigned long long)s->n_stages);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void write_attribute(json_out *o, const char *key, const char *text, int64_t number) {
    json_out_open(o, NULL, '{');
    json_out_string(o, "key", key);
    json_out_open(o, "value", '{');
    if (text) {
        json_out_string(o, "stringValue", text);
    } else { /* of 64 bits: a string, as JSON of protocol buffers has them */
        char digits[24];
        snprintf(digits, sizeof digits, "%lld", (long long)number);
        json_out_string(o, "intValue", digits);
    }
    json_out_close(o, '}');
    json_out_close(o, '}');
}

static void write_id(json_out *o, const char *key, const unsigned char *id, size_t n) {
    char hex[33];
    fo_hex_write(hex, id, n);
    hex[2 * n] = 0;
    json_out_string(o, key, hex);
}

static void write_head(json_out *o, const record *e, const unsigned char *id,
                       const unsigned char *parent, const char *name, int kind) {
    json_out_open(o, NULL, '{');
    write_id(o, "traceId", e->span.trace_id, 16);
    write_id(o, "spanId", id, 8);
    if (parent) write_id(o, "parentSpanId", parent, 8);
    json_out_string(o, "name", name);
    json_out_int(o, "kind", kind);
}

static void write_times(json_out *o, int64_t epoch_us, int64_t began_us, int64_t ended_us) {
    char text[32];
    snprintf(text, sizeof text, "%lld000", (long long)(epoch_us + began_us));
    json_out_string(o, "startTimeUnixNano", text);
    snprintf(text, sizeof text, "%lld000", (long long)(epoch_us + ended_us));
    json_out_string(o, "endTimeUnixNano", text);
}

/* Returns the spans that it wrote; epoch_us: of the monotonic clock, since 1970. */
static uint32_t write_record(json_out *o, int64_t epoch_us, const record *e) {
    const trace_span *s = &e->span;
    char name[80];
    snprintf(name, sizeof name, "%s%s%s", e->method, *e->route ? " " : "", e->route);
    write_head(o, e, s->span_id, s->has_parent ? s->parent_id : NULL, name, 2);
    write_times(o, epoch_us, e->began_us, e->ended_us);
    json_out_open(o, "attributes", '[');
    write_attribute(o, "http.request.method", e->method, 0);
    if (*e->route) write_attribute(o, "http.route", e->route, 0);
    write_attribute(o, "http.response.status_code", NULL, e->status);
    write_attribute(o, "forage.request_id", e->request_id, 0);
    json_out_close(o, ']');
    json_out_open(o, "status", '{');
    if (e->status >= 500 || e->status == 499) json_out_int(o, "code", 2);
    json_out_close(o, '}');
    json_out_close(o, '}');
    /* Of documents the time is known in whole milliseconds. */
    double at = fmax((double)s->work_began_us, (double)e->began_us);
    for (int i = 0; i < s->n_stages; i++) {
        unsigned char id[8];
        random_bytes(id, sizeof id);
        write_head(o, e, id, s->span_id, s->stages[i].name, 1);
        double end = fmin(at + s->stages[i].ms * 1000, (double)s->work_ended_us);
        write_times(o, epoch_us, (int64_t)at, (int64_t)end);
        json_out_close(o, '}');
        at = end;
    }
    return 1 + (uint32_t)s->n_stages;
}

static uint32_t write_batch(fo_buf *b, const record *records, size_t n) {
    /* Anew for each: the clock of the wall is set, and the other stands still while the machine sleeps. */
    const int64_t epoch_us = (fo_unix_ms() - (int64_t)fo_now_ms()) * 1000;
    json_out o = {b, false};
    json_out_open(&o, NULL, '{');
    json_out_open(&o, "resourceSpans", '[');
    json_out_open(&o, NULL, '{');
    json_out_open(&o, "resource", '{');
    json_out_open(&o, "attributes", '[');
    write_attribute(&o, "service.name", "forage", 0);
    write_attribute(&o, "service.version", FORAGE_VERSION, 0);
    write_attribute(&o, "process.pid", NULL, getpid());
    json_out_close(&o, ']');
    json_out_close(&o, '}');
    json_out_open(&o, "scopeSpans", '[');
    json_out_open(&o, NULL, '{');
    json_out_open(&o, "scope", '{');
    json_out_string(&o, "name", "forage");
    json_out_close(&o, '}');
    json_out_open(&o, "spans", '[');
    uint32_t n_spans = 0;
    for (size_t i = 0; i < n; i++) n_spans += write_record(&o, epoch_us, &records[i]);
    json_out_close(&o, ']');
    json_out_close(&o, '}');
    json_out_close(&o, ']');
    json_out_close(&o, '}');
    json_out_close(&o, ']');
    json_out_close(&o, '}');
    return n_spans;
}

/* ---- the thread ------------------------------------------------------------------------------ */

/* Once, until the collector takes spans again: `metrics` counts them, but nobody looks there for what never came. */
static void tell_of_collector(const tracer *t, trace_told *told) {
    const unsigned long long sent = atomic_load(&t->counts->sent);
    const unsigned long long failed = atomic_load(&t->counts->failed);
    if (failed > told->failed && !told->lost) {
        told->lost = true;
        log_event(LOG_LEVEL_WARN, NULL, "traces_lost", LOG_INT("spans", (long long)failed),
                  LOG_STR("error", "the collector of --otlp-endpoint does not take them"));
    } else if (failed == told->failed && sent > told->sent && told->lost) {
        told->lost = false;
        log_event(LOG_LEVEL_INFO, NULL, "traces_sent_again", LOG_INT("lost", (long long)failed));
    }
    told->sent = sent;
    told->failed = failed;
}

static void *hand_over(void *arg) {
    tracer *t = arg;
    record *batch = malloc(BATCH * sizeof *batch);
    trace_told told = {0};
    pthread_mutex_lock(&t->mu);
    for (bool stop = false; batch && !stop;) {
        double until = fo_now_ms() + EVERY_MS;
        while (!t->stop && t->n < BATCH && fo_cond_wait_until(&t->change, &t->mu, until) == 0) {
        }
        size_t n = t->n < BATCH ? t->n : BATCH;
        for (size_t i = 0; i < n; i++) batch[i] = t->ring[(t->first + i) % RING];
        t->first = (t->first + n) % RING;
        t->n -= n;
        stop = t->stop && t->n == 0;
        pthread_mutex_unlock(&t->mu);
        tell_of_collector(t, &told);
        if (!n) {
            pthread_mutex_lock(&t->mu);
            continue;
        }
        fo_buf b = {0};
        uint32_t n_spans = write_batch(&b, batch, n);
        bool gone = b.failed || !trace_sender_put(t->fd, &b, n_spans, &t->stop);
        if (gone) atomic_fetch_add(&t->dropped, n_spans);
        fo_buf_free(&b);
        pthread_mutex_lock(&t->mu);
        stop = stop || (gone && t->stop);
    }
    pthread_mutex_unlock(&t->mu);
    free(batch);
    return NULL;
}

/* ---- start and stop -------------------------------------------------------------------------- */

static int check(const tracer_options *opt, fo_err *err) {
    if (strncmp(opt->url, "http://", 7) && strncmp(opt->url, "https://", 8))
        return fo_fail_field(err, FO_EINVAL, "otlp-endpoint",
                             "'%.200s' is not a http:// or https:// address", opt->url);
    if (!(opt->sample > 0 && opt->sample <= 1))
        return fo_fail_field(err, FO_EINVAL, "trace-sample", "must be above 0 and at most 1");
    if (opt->n_headers > MAX_HEADERS)
        return fo_fail_field(err, FO_EINVAL, "otlp-header", "at most %d headers", MAX_HEADERS);
    for (size_t i = 0; i < opt->n_headers; i++) {
        const char *colon = strchr(opt->headers[i], ':');
        if (!colon || colon == opt->headers[i] || strpbrk(opt->headers[i], "\r\n"))
            return fo_fail_field(err, FO_EINVAL, "otlp-header",
                                 "a header is written as in 'Authorization: Bearer TOKEN'");
    }
    return FO_OK;
}

int tracer_start(tracer **out, const tracer_options *opt, fo_err *err) {
    int rc = check(opt, err), ends[2];
    if (rc) return rc;
    tracer *t = calloc(1, sizeof *t);
    if (!t) return fo_no_memory(err);
    t->fd = -1;
    t->sample = opt->sample;
    pthread_mutex_init(&t->mu, NULL);
    fo_cond_init(&t->change);
    t->ring = malloc(RING * sizeof *t->ring);
    t->counts =
        mmap(NULL, sizeof *t->counts, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (t->counts == MAP_FAILED) t->counts = NULL;
    if (!t->ring || !t->counts) {
        tracer_stop(t);
        return fo_no_memory(err);
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        tracer_stop(t);
        return fo_fail_errno(err, "cannot make a pair of sockets");
    }
    t->fd = ends[0];
    t->sender = fork();
    if (t->sender == 0) {
        /* Nothing of the service stays open here, its listening socket least of all. */
        if (ends[1] > 3) close_range(3, (unsigned)ends[1] - 1, 0);
        close_range((unsigned)ends[1] + 1, ~0u, 0);
        prctl(PR_SET_NAME, "forage-traces", 0, 0, 0);
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        if (opt->confined) serve_sandbox_sender(); /* as far as the kernel can */
        _exit(trace_sender_main(ends[1], opt, t->counts));
    }
    close(ends[1]);
    if (t->sender < 0) {
        rc = fo_fail_errno(err, "cannot start a process");
        tracer_stop(t);
        return rc;
    }
    *out = t;
    return FO_OK;
}

int tracer_run(tracer *t, fo_err *err) {
    t->has_thread = pthread_create(&t->thread, NULL, hand_over, t) == 0;
    return t->has_thread ? FO_OK : fo_fail(err, FO_ENOMEM, "cannot start a thread");
}

void tracer_stop(tracer *t) {
    if (!t) return;
    pthread_mutex_lock(&t->mu);
    t->stop = true;
    pthread_cond_signal(&t->change);
    pthread_mutex_unlock(&t->mu);
    if (t->has_thread) pthread_join(t->thread, NULL);
    if (t->fd >= 0) close(t->fd); /* its end: it sends what it has */
    for (int waited = 0; t->sender > 0 && waitpid(t->sender, NULL, WNOHANG) == 0; waited += 20) {
        if (waited >= LAST_WORDS_MS) kill(t->sender, SIGKILL);
        usleep(20000);
    }
    if (t->counts) munmap(t->counts, sizeof *t->counts);
    free(t->ring);
    pthread_cond_destroy(&t->change);
    pthread_mutex_destroy(&t->mu);
    free(t);
}

void tracer_get_stats(const tracer *t, tracer_stats *out) {
    *out = (tracer_stats){.sent = atomic_load(&t->counts->sent),
                          .failed = atomic_load(&t->counts->failed),
                          .dropped = atomic_load(&t->dropped)};
}
