#include "server/http/trace_sender.h"

#include <curl/curl.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kernels/clock.h"

#define MESSAGE_MAX_BYTES (8u << 20) /* 256 requests of 13 spans have a tenth of it */

enum { LAST_MS = 1000, SEND_S = 10, TRIES = 4 };

/* ---- the service's side ---------------------------------------------------------------------- */

static bool put_all(int fd, const char *data, size_t n, const atomic_bool *stop) {
    double until = 0;
    while (n) {
        ssize_t k = send(fd, data, n, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (k > 0) {
            data += k;
            n -= (size_t)k;
            continue;
        }
        if (k < 0 && errno != EAGAIN && errno != EINTR) return false;
        if (*stop && until == 0) until = fo_now_ms() + LAST_MS;
        if (until > 0 && fo_now_ms() >= until) return false;
        poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, 100);
    }
    return true;
}

bool trace_sender_put(int fd, const fo_buf *json, uint32_t n_spans, const atomic_bool *stop) {
    uint32_t head[2] = {(uint32_t)json->len, n_spans};
    if (!json->len || json->len > MESSAGE_MAX_BYTES) return false;
    return put_all(fd, (const char *)head, sizeof head, stop) &&
           put_all(fd, json->data, json->len, stop);
}

/* ---- the sender ------------------------------------------------------------------------------ */

static bool read_all(int fd, void *to, size_t n) {
    char *at = to;
    while (n) {
        ssize_t k = read(fd, at, n);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) return false;
        at += k;
        n -= (size_t)k;
    }
    return true;
}

static size_t drop(char *data, size_t size, size_t n, void *ctx) {
    (void)data, (void)ctx;
    return size * n;
}

/* "http://host:4318" and "http://host:4318/" have no path. */
static char *address_of(const char *url) {
    const char *host = strstr(url, "://") + 3, *slash = strchr(host, '/');
    bool bare = !slash || !slash[1];
    size_t n = bare && slash ? (size_t)(slash - url) : strlen(url);
    char *out = malloc(n + sizeof "/v1/traces");
    if (out)
        snprintf(out, n + sizeof "/v1/traces", "%.*s%s", (int)n, url, bare ? "/v1/traces" : "");
    return out;
}

/* 0: taken; 1: worth another try; 2: not. */
static int send_once(CURL *c, const char *body, size_t n) {
    curl_easy_setopt(c, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(c, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)n);
    if (curl_easy_perform(c) != CURLE_OK) return 1;
    long status = 0;
    curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &status);
    if (status >= 200 && status < 300) return 0;
    return status == 429 || (status >= 502 && status <= 504) ? 1 : 2;
}

/* Wait, unless the service ends meanwhile: nobody is to wait for a collector that is gone. */
static bool service_lives(int fd, int ms) {
    struct pollfd p = {.fd = fd, .events = POLLRDHUP};
    return poll(&p, 1, ms) == 0 || !(p.revents & (POLLRDHUP | POLLHUP | POLLERR));
}

int trace_sender_main(int fd, const tracer_options *opt, trace_counts *counts) {
    signal(SIGPIPE, SIG_IGN);
    char *url = address_of(opt->url);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    CURL *c = curl_easy_init();
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
    headers = curl_slist_append(headers, "Expect:");
    for (size_t i = 0; i < opt->n_headers; i++)
        headers = curl_slist_append(headers, opt->headers[i]);
    if (!c || !url || !headers) return 1;
    curl_easy_setopt(c, CURLOPT_URL, url);
    curl_easy_setopt(c, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(c, CURLOPT_USERAGENT, "forage/" FORAGE_VERSION);
    curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, drop);
    curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(c, CURLOPT_TIMEOUT, (long)SEND_S);
    curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT, 5L);
    uint32_t head[2];
    while (read_all(fd, head, sizeof head)) {
        char *body = head[0] <= MESSAGE_MAX_BYTES ? malloc(head[0]) : NULL;
        if (!body || !read_all(fd, body, head[0])) return 1;
        int rc = 1;
        for (int i = 0; i < TRIES && rc == 1; i++)
            if (i == 0 || service_lives(fd, 500 << i))
                rc = send_once(c, body, head[0]);
            else
                break;
        atomic_fetch_add(rc ? &counts->failed : &counts->sent, head[1]);
        free(body);
    }
    return 0;
}
