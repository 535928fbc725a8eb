/* forage bench http: requests over kept-alive connections, as many at once as asked for; or at a rate, whether
 * the service keeps up or not: then the time of each counts from when it was due. */
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels/file.h"
#include "kernels/order.h"
#include "server/cli/cli.h"
#include "server/base/json.h"
#include "server/base/printable.h"
#include "server/cli/progress.h"

#define BODY_MAX_BYTES ((size_t)256 << 20)

static struct {
    const char *url, *body, *lines, *type, *key;
    int64_t requests, concurrency, warmup;
    double rate;
    bool json;
} o = {.type = "application/json", .requests = 1000, .concurrency = 8};

static const cli_option options[] = {
    {"url", CLI_STRING, &o.url, "URL", "route included: http://127.0.0.1:8080/query",
     .required = true},
    {"requests", CLI_INT, &o.requests, "N", "in all (default 1000)", .min = 1, .max = 1e9},
    {"concurrency", CLI_INT, &o.concurrency, "C", "connections at once (default 8)", .min = 1,
     .max = 4096},
    {"body", CLI_STRING, &o.body, "FILE", "sent by POST; without it the requests are GET",
     .flag_only = true},
    {"bodies", CLI_STRING, &o.lines, "FILE", "a body a line, sent in turn", .flag_only = true},
    {"content-type", CLI_STRING, &o.type, "TYPE", "of the body (default application/json)"},
    {"rate", CLI_DOUBLE, &o.rate, "R",
     "requests a second, whether answers come or not, with --concurrency as the most at once "
     "(default: each connection sends when it was answered)",
     .min = 0, .max = 1e6},
    {"warmup", CLI_INT, &o.warmup, "N", "requests before the clock starts (default 0)", .min = 0,
     .max = 1e9},
    {"api-key", CLI_STRING, &o.key, "KEY", "sent as a bearer token"},
    CLI_PROGRESS_OPTION,
    {"json", CLI_BOOL, &o.json, NULL, "one JSON object on stdout"},
    {0}};

typedef struct load {
    char *text; /* of the body file */
    const char **bodies;
    size_t *lengths, n_bodies;
    CURLM *multi;
    CURL **handles;
    double *began; /* a handle each */
    size_t *idle;  /* handles that have nothing to do */
    size_t n_idle;
    double *ms; /* each request that was answered, with a status below 400 */
    size_t n_ms, sent, done, total, errors, refused;
    double from_ms;
    struct curl_slist *headers;
    char first_error[256];
} load;

static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1000 + (double)t.tv_nsec * 1e-6;
}

static size_t ignore(char *data, size_t size, size_t n, void *ctx) {
    (void)data, (void)ctx;
    return size * n;
}

static int read_bodies(load *l, fo_err *err) {
    const char *file = o.lines ? o.lines : o.body;
    if (!file) return FO_OK;
    size_t size;
    int rc = fo_file_read(file, BODY_MAX_BYTES, &l->text, &size, err);
    if (rc) return rc;
    size_t cap = 1;
    for (size_t i = 0; o.lines && i < size; i++) cap += l->text[i] == '\n';
    l->bodies = calloc(cap, sizeof *l->bodies);
    l->lengths = calloc(cap, sizeof *l->lengths);
    if (!l->bodies || !l->lengths) return fo_no_memory(err);
    for (size_t at = 0; at < size || !l->n_bodies;) {
        const char *end = o.lines ? memchr(l->text + at, '\n', size - at) : NULL;
        size_t n = end ? (size_t)(end - l->text) - at : size - at;
        if (n || !o.lines) {
            l->bodies[l->n_bodies] = l->text + at;
            l->lengths[l->n_bodies++] = n;
        }
        at += n + 1;
        if (at >= size) break;
    }
    return l->n_bodies ? FO_OK : fo_fail(err, FO_EINVAL, "%s holds no body", file);
}

static int open_handles(load *l, fo_err *err) {
    size_t n = (size_t)o.concurrency;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    l->multi = curl_multi_init();
    l->handles = calloc(n, sizeof *l->handles);
    l->began = calloc(n, sizeof *l->began);
    l->idle = calloc(n, sizeof *l->idle);
    l->ms = calloc((size_t)o.requests, sizeof *l->ms);
    if (!l->multi || !l->handles || !l->began || !l->idle || !l->ms) return fo_no_memory(err);
    char line[512];
    if (l->n_bodies) {
        snprintf(line, sizeof line, "Content-Type: %s", o.type);
        l->headers = curl_slist_append(l->headers, line);
    }
    l->headers = curl_slist_append(l->headers, "Expect:");
    if (o.key) {
        snprintf(line, sizeof line, "Authorization: Bearer %s", o.key);
        l->headers = curl_slist_append(l->headers, line);
    }
    curl_multi_setopt(l->multi, CURLMOPT_MAXCONNECTS, (long)n);
    for (size_t i = 0; i < n; i++) {
        CURL *h = l->handles[i] = curl_easy_init();
        if (!h) return fo_no_memory(err);
        curl_easy_setopt(h, CURLOPT_URL, o.url);
        curl_easy_setopt(h, CURLOPT_HTTPHEADER, l->headers);
        curl_easy_setopt(h, CURLOPT_WRITEFUNCTION, ignore);
        curl_easy_setopt(h, CURLOPT_PRIVATE, (void *)i);
        curl_easy_setopt(h, CURLOPT_TCP_NODELAY, 1L);
        curl_easy_setopt(h, CURLOPT_NOSIGNAL, 1L);
    }
    return FO_OK;
}

/* When the next request is to go out. */
static double due_ms(const load *l) {
    return o.rate > 0 ? l->from_ms + (double)l->sent * 1000 / o.rate : 0;
}

static void send_next(load *l) {
    size_t i = l->idle[--l->n_idle];
    double due = due_ms(l);
    CURL *h = l->handles[i];
    if (l->n_bodies) {
        size_t k = l->sent % l->n_bodies;
        curl_easy_setopt(h, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)l->lengths[k]);
        curl_easy_setopt(h, CURLOPT_POSTFIELDS, l->bodies[k]);
    }
    l->sent++;
    l->began[i] = due > 0 ? due : now_ms();
    curl_multi_add_handle(l->multi, h);
}

static void take_answer(load *l, CURLMsg *m) {
    CURL *h = m->easy_handle;
    CURLcode result = m->data.result;
    void *private = NULL;
    long status = 0;
    curl_easy_getinfo(h, CURLINFO_PRIVATE, &private);
    curl_easy_getinfo(h, CURLINFO_RESPONSE_CODE, &status);
    size_t i = (size_t) private;
    if (result == CURLE_OK && status < 400) l->ms[l->n_ms++] = now_ms() - l->began[i];
    if (result != CURLE_OK || status >= 400) {
        if (!l->errors++)
            snprintf(l->first_error, sizeof l->first_error, "%s (status %ld)",
                     curl_easy_strerror(result), status);
        l->refused += result == CURLE_OK && (status == 429 || status == 503);
    }
    curl_multi_remove_handle(l->multi, h);
    l->idle[l->n_idle++] = i;
    l->done++;
}

/* Send `total` requests and wait for all of them. */
static int run_load(load *l, size_t total, progress *p, fo_err *err) {
    l->total = total;
    l->sent = l->done = l->n_ms = l->errors = l->refused = l->n_idle = 0;
    for (size_t i = 0; i < (size_t)o.concurrency; i++) l->idle[l->n_idle++] = i;
    l->from_ms = now_ms();
    while (l->done < total) {
        int running, left;
        while (l->n_idle && l->sent < total && now_ms() >= due_ms(l)) send_next(l);
        CURLMcode rc = curl_multi_perform(l->multi, &running);
        for (CURLMsg *m; (m = curl_multi_info_read(l->multi, &left));) {
            if (m->msg != CURLMSG_DONE) continue;
            take_answer(l, m);
            progress_add(p, 1);
        }
        bool sends = l->n_idle && l->sent < total;
        double wait_ms = sends ? due_ms(l) - now_ms() : 1000;
        if (l->done < total && rc == CURLM_OK && wait_ms > 0)
            rc = curl_multi_poll(l->multi, NULL, 0, wait_ms < 1000 ? (int)wait_ms + 1 : 1000, NULL);
        if (rc != CURLM_OK) return fo_fail(err, FO_EIO, "%s", curl_multi_strerror(rc));
    }
    return FO_OK;
}

static double percentile(const load *l, double share) {
    size_t i = (size_t)(share * (double)l->n_ms);
    return l->n_ms ? l->ms[i < l->n_ms ? i : l->n_ms - 1] : 0;
}

static void close_load(load *l) {
    for (size_t i = 0; l->handles && i < (size_t)o.concurrency; i++)
        if (l->handles[i]) curl_easy_cleanup(l->handles[i]);
    if (l->multi) curl_multi_cleanup(l->multi);
    curl_slist_free_all(l->headers);
    free(l->handles);
    free(l->began);
    free(l->idle);
    free(l->ms);
    free(l->bodies);
    free(l->lengths);
    free(l->text);
}

static int run(int argc, char **argv) {
    (void)argc, (void)argv;
    if (o.warmup > o.requests) return cli_wrong_usage("--warmup must not exceed --requests");
    fo_err err = {0};
    load l = {0};
    int rc = read_bodies(&l, &err);
    if (!rc) rc = open_handles(&l, &err);
    if (!rc && o.warmup) rc = run_load(&l, (size_t)o.warmup, NULL, &err);
    double took = 0;
    if (!rc) {
        progress *p = progress_begin("bench http", "requests", (uint64_t)o.requests, o.json);
        double began = now_ms();
        rc = run_load(&l, (size_t)o.requests, p, &err);
        took = now_ms() - began;
        progress_end(p);
    }
    if (rc) {
        close_load(&l);
        return cli_fail(&err);
    }
    qsort(l.ms, l.n_ms, sizeof *l.ms, fo_order_doubles);
    double rate = took > 0 ? (double)l.done * 1000 / took : 0, sum = 0;
    for (size_t i = 0; i < l.n_ms; i++) sum += l.ms[i];
    if (o.json) {
        fo_buf b = {0};
        json_out out = {&b, false};
        json_out_open(&out, NULL, '{');
        json_out_number(&out, "requests_per_s", rate);
        json_out_number(&out, "p50_ms", percentile(&l, .5));
        json_out_number(&out, "p99_ms", percentile(&l, .99));
        json_out_int(&out, "errors", (int64_t)l.errors);
        json_out_int(&out, "refused", (int64_t)l.refused);
        json_out_int(&out, "requests", (int64_t)l.done);
        json_out_int(&out, "concurrency", o.concurrency);
        json_out_number(&out, "mean_ms", l.n_ms ? sum / (double)l.n_ms : 0);
        json_out_number(&out, "max_ms", percentile(&l, 1));
        json_out_string(&out, "first_error", l.errors ? l.first_error : NULL);
        json_out_close(&out, '}');
        cli_print_json(&b);
        fo_buf_free(&b);
    } else {
        printable_say(stdout, "%.0f requests/s, p50 %.2f ms, p99 %.2f ms, %zu errors of %zu%s%s",
                      rate, percentile(&l, .5), percentile(&l, .99), l.errors, l.done,
                      l.errors ? ": " : "", l.errors ? l.first_error : "");
    }
    bool all_failed = l.errors == l.done;
    close_load(&l);
    return all_failed ? 1 : 0;
}

const cli_command cli_command_bench_http = {"bench http",
                                            "requests a second and latencies of a running service",
                                            "forage bench http --url http://127.0.0.1:8080/query "
                                            "--requests N --concurrency C --body F [--json]",
                                            NULL,
                                            options,
                                            0,
                                            0,
                                            run};
