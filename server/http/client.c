#include "server/http/client.h"

#include <cjson/cJSON.h>
#include <ctype.h>
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels/clock.h"

#define REPLY_MAX_BYTES ((size_t)1 << 30)
#define EVENT_MAX_BYTES ((size_t)16 << 20) /* of a line of a stream of events */

struct client {
    CURL *curl;
    char *base;
    char *auth;                 /* header, NULL: none */
    const char *const *headers; /* more of them, NULL ends them; NULL: none */
    long timeout_ms;            /* 0: none */
};

static size_t take(char *data, size_t size, size_t n, void *ctx) {
    fo_buf *b = ctx;
    if (b->len + size * n > REPLY_MAX_BYTES) return 0;
    fo_buf_add(b, data, size * n);
    return b->failed ? 0 : size * n;
}

typedef struct feed {
    client_source *source;
    client_rewind *again; /* NULL: none */
    void *ctx;
    fo_err err;
} feed;

static size_t give(char *buf, size_t size, size_t n, void *ctx) {
    feed *f = ctx;
    ssize_t got = f->source(f->ctx, buf, size * n, &f->err);
    return got < 0 ? CURL_READFUNC_ABORT : (size_t)got;
}

/* A reply that is handed on as it comes; errors are gathered whole. */
typedef struct live {
    CURL *curl;
    client_hearer *hear;
    void *ctx;
    const volatile bool *stop;
    fo_buf *rest, line;
    char event[16];
    bool ended, too_long; /* too_long: a line of it */
} live;

/* The part of a line that has come is kept until its end comes. False: no memory, or it is too long. */
static bool hear_lines(live *l, const char *data, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (data[i] != '\n') {
            l->too_long = l->line.len == EVENT_MAX_BYTES;
            if (l->too_long) return false;
            fo_buf_char(&l->line, data[i]);
            continue;
        }
        size_t len = l->line.len;
        const char *s = len ? l->line.data : "";
        if (len > 7 && !strncmp(s, "event: ", 7))
            snprintf(l->event, sizeof l->event, "%.15s", s + 7);
        else if (len > 6 && !strncmp(s, "data: ", 6))
            l->hear(l->ctx, l->event, s + 6, len - 6);
        fo_buf_clear(&l->line);
    }
    return !l->line.failed;
}

static size_t hand(char *data, size_t size, size_t n, void *ctx) {
    live *l = ctx;
    long status = 0;
    curl_easy_getinfo(l->curl, CURLINFO_RESPONSE_CODE, &status);
    if (status != 200) return take(data, size, n, l->rest);
    l->ended = l->ended || !hear_lines(l, data, size * n);
    return l->ended ? 0 : size * n;
}

static int look_up(void *ctx, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d) {
    (void)a, (void)b, (void)c, (void)d;
    live *l = ctx;
    l->ended = l->ended || (l->stop && *l->stop);
    return l->ended;
}

int client_open(client **out, const char *url, const char *key, fo_err *err) {
    if (strncmp(url, "http://", 7) && strncmp(url, "https://", 8))
        return strstr(url, "://") || !*url
                   ? fo_fail_field(err, FO_EINVAL, "url",
                                   "'%s' is not a http:// or https:// address", url)
                   : fo_fail_field(err, FO_EINVAL, "url",
                                   "'%s' is not a http:// or https:// address; did you mean "
                                   "http://%s?",
                                   url, url);
    client *c = calloc(1, sizeof *c);
    if (!c) return fo_no_memory(err);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    c->curl = curl_easy_init();
    c->base = strdup(url);
    if (!key) key = getenv("FORAGE_KEY");
    if (key && *key) {
        size_t n = strlen(key) + 32;
        c->auth = malloc(n);
        if (c->auth) snprintf(c->auth, n, "Authorization: Bearer %s", key);
    }
    if (!c->curl || !c->base || (key && *key && !c->auth)) {
        client_close(c);
        return fo_no_memory(err);
    }
    size_t n = strlen(c->base);
    while (n && c->base[n - 1] == '/') c->base[--n] = 0;
    *out = c;
    return FO_OK;
}

void client_close(client *c) {
    if (!c) return;
    if (c->curl) curl_easy_cleanup(c->curl);
    free(c->base);
    free(c->auth);
    free(c);
}

void client_set_timeout(client *c, long ms) {
    c->timeout_ms = ms;
}

void client_set_headers(client *c, const char *const *lines) {
    c->headers = lines;
}

void client_escape(fo_buf *b, const char *s) {
    for (; *s; s++) {
        unsigned char ch = (unsigned char)*s;
        if (isalnum(ch) || strchr("-._~", ch))
            fo_buf_char(b, *s);
        else
            fo_buf_printf(b, "%%%02X", ch);
    }
}

void client_query_part(fo_buf *b, const char *name, const char *value) {
    fo_buf_printf(b, "%c%s=", b->len && memchr(b->data, '?', b->len) ? '&' : '?', name);
    client_escape(b, value);
}

/* Redirects are not followed: the key would go where it was not meant to. */
static int fail_redirect(long status, const char *to, fo_err *err) {
    return fo_fail(
        err, FO_EINVAL,
        "the server answered %ld and points to %.300s: --url must name the service itself", status,
        to);
}

/* The server's own sentence where it sent one. */
static int fail_status(long status, const fo_buf *reply, fo_err *err) {
    cJSON *root = reply->data ? cJSON_ParseWithLength(reply->data, reply->len) : NULL;
    const cJSON *e = cJSON_GetObjectItemCaseSensitive(root, "error");
    const char *message = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(e, "message"));
    const char *param = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(e, "param"));
    const char *kind = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(e, "code"));
    int code = kind && !strcmp(kind, "damaged") ? FO_ECORRUPT
               : status == 404                  ? FO_ENOTFOUND
               : status == 409                  ? FO_ECONFLICT
               : status == 503 || status == 429 ? FO_EBUSY
               : status >= 500                  ? FO_EIO
                                                : FO_EINVAL;
    fo_fail_field(err, code, param ? param : "", "the server answered %ld: %.400s", status,
                  message ? message : "without a message");
    cJSON_Delete(root);
    return code;
}

/* Where nobody answers, curl's words name no way on. */
static int fail_transfer(const client *c, CURLcode rc, bool connected, const char *why,
                         fo_err *err) {
    if (rc == CURLE_COULDNT_RESOLVE_HOST)
        return fo_fail(err, FO_EIO,
                       "cannot reach %.300s: no machine of this name is known; --url names another",
                       c->base);
    if (rc == CURLE_COULDNT_CONNECT || (rc == CURLE_OPERATION_TIMEDOUT && !connected))
        return fo_fail(err, FO_EIO,
                       "cannot reach %.300s: is a service running there? 'forage serve' starts "
                       "one, --url names another",
                       c->base);
    return fo_fail(err, FO_EIO, "%s: %s", c->base, *why ? why : curl_easy_strerror(rc));
}

/* What goes out to a path. */
typedef struct outgoing {
    const char *path, *type; /* of the body; NULL: there is none */
    const void *body;
    size_t n;
    feed *feed; /* NULL, or where the body comes from in its place */
    bool deletes;
} outgoing;

static void set_body(client *c, const outgoing *to) {
    if (!to->type) {
        curl_easy_setopt(c->curl, CURLOPT_HTTPGET, 1L);
        if (to->deletes) curl_easy_setopt(c->curl, CURLOPT_CUSTOMREQUEST, "DELETE");
        return;
    }
    curl_easy_setopt(c->curl, CURLOPT_POST, 1L);
    if (to->feed) {
        curl_easy_setopt(c->curl, CURLOPT_READFUNCTION, give);
        curl_easy_setopt(c->curl, CURLOPT_READDATA, to->feed);
    } else {
        curl_easy_setopt(c->curl, CURLOPT_POSTFIELDS, to->body);
        curl_easy_setopt(c->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)to->n);
    }
}

/* *pause_s: after how many seconds the service wants it again; 0: it said nothing of that. */
static int perform_once(client *c, const outgoing *to_send, fo_buf *reply, live *l,
                        curl_off_t *pause_s, fo_err *err) {
    const feed *f = to_send->feed;
    fo_buf url = {0};
    fo_buf_str(&url, c->base);
    fo_buf_str(&url, to_send->path);
    set_body(c, to_send);
    struct curl_slist *headers = NULL;
    char type[256];
    if (to_send->type) {
        snprintf(type, sizeof type, "Content-Type: %s", to_send->type);
        headers = curl_slist_append(headers, type);
    }
    headers = curl_slist_append(headers, "Expect:");
    if (c->auth) headers = curl_slist_append(headers, c->auth);
    for (size_t i = 0; c->headers && c->headers[i]; i++)
        headers = curl_slist_append(headers, c->headers[i]);
    char why[CURL_ERROR_SIZE] = "";
    if (!url.failed) curl_easy_setopt(c->curl, CURLOPT_URL, url.data);
    curl_easy_setopt(c->curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(c->curl, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(c->curl, CURLOPT_WRITEDATA, reply);
    if (l) {
        curl_easy_setopt(c->curl, CURLOPT_WRITEFUNCTION, hand);
        curl_easy_setopt(c->curl, CURLOPT_WRITEDATA, l);
        curl_easy_setopt(c->curl, CURLOPT_XFERINFOFUNCTION, look_up);
        curl_easy_setopt(c->curl, CURLOPT_XFERINFODATA, l);
        curl_easy_setopt(c->curl, CURLOPT_NOPROGRESS, 0L);
    }
    curl_easy_setopt(c->curl, CURLOPT_ERRORBUFFER, why);
    curl_easy_setopt(c->curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(c->curl, CURLOPT_CONNECTTIMEOUT, 10L);
    curl_easy_setopt(c->curl, CURLOPT_TIMEOUT_MS, c->timeout_ms);
    CURLcode rc = curl_easy_perform(c->curl);
    long status = 0;
    curl_off_t connected = 0; /* microseconds until it was; 0: it never was */
    char *to = NULL;
    fo_err moved = {0};
    curl_easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(c->curl, CURLINFO_REDIRECT_URL, &to);
    curl_easy_getinfo(c->curl, CURLINFO_CONNECT_TIME_T, &connected);
    *pause_s = 0;
    if (status == 429) curl_easy_getinfo(c->curl, CURLINFO_RETRY_AFTER, pause_s);
    if (status >= 300 && status < 400 && to) fail_redirect(status, to, &moved);
    curl_slist_free_all(headers);
    fo_buf_free(&url);
    curl_easy_reset(c->curl);
    if (f && f->err.code) {
        if (err) *err = f->err;
        return f->err.code;
    }
    if (l && l->too_long)
        return fo_fail(err, FO_ELIMIT, "the service sends an event of more than %zu MiB",
                       EVENT_MAX_BYTES >> 20);
    if (l && l->ended) return fo_fail(err, FO_ECANCELLED, "the transfer was ended");
    if (rc != CURLE_OK) return fail_transfer(c, rc, connected > 0, why, err);
    if (moved.code) {
        if (err) *err = moved;
        return moved.code;
    }
    return status < 200 || status > 299 ? fail_status(status, reply, err) : FO_OK;
}

/* False: it was called off meanwhile. */
static bool wait_for_turn(curl_off_t seconds, const live *l) {
    const double until = fo_now_ms() + 1000 * (double)seconds;
    while (fo_now_ms() < until) {
        if (l && l->stop && *l->stop) return false;
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    }
    return true;
}

static bool goes_again(const feed *f) {
    return !f || (f->again && f->again(f->ctx));
}

/* A tier lets in so many requests a second. What came too soon has done nothing, and goes out again when it may, where its body
 * is still there or can be had once more. */
static int perform(client *c, const outgoing *to, fo_buf *reply, live *l, fo_err *err) {
    enum { LONGEST_PAUSE_S = 5, PATIENCE_MS = 60000 };
    const double until = fo_now_ms() + PATIENCE_MS;
    for (const size_t before = reply->len;; reply->len = before) {
        fo_err why = {0};
        curl_off_t pause_s = 0;
        int rc = perform_once(c, to, reply, l, &pause_s, &why);
        const bool again = pause_s > 0 && pause_s <= LONGEST_PAUSE_S &&
                           !strcmp(why.field, "requests") && fo_now_ms() < until &&
                           goes_again(to->feed);
        if (again && !wait_for_turn(pause_s, l))
            return fo_fail(err, FO_ECANCELLED, "the transfer was ended");
        if (again) continue;
        if (rc && err) *err = why;
        return rc;
    }
}

int client_post(client *c, const char *path, const char *content_type, const void *body, size_t n,
                fo_buf *reply, fo_err *err) {
    return perform(c, &(outgoing){.path = path, .type = content_type, .body = body, .n = n}, reply,
                   NULL, err);
}

int client_post_stream(client *c, const char *path, const char *content_type, client_source *source,
                       client_rewind *again, void *ctx, fo_buf *reply, fo_err *err) {
    feed f = {source, again, ctx, {0}};
    return perform(c, &(outgoing){.path = path, .type = content_type, .feed = &f}, reply, NULL,
                   err);
}

int client_post_events(client *c, const char *path, const void *body, size_t n, client_hearer *hear,
                       void *ctx, const volatile bool *stop, fo_err *err) {
    fo_buf rest = {0};
    live l = {.curl = c->curl, .hear = hear, .ctx = ctx, .stop = stop, .rest = &rest};
    int rc = perform(c, &(outgoing){.path = path, .type = "application/json", .body = body, .n = n},
                     &rest, &l, err);
    fo_buf_free(&rest);
    fo_buf_free(&l.line);
    return rc;
}

int client_get(client *c, const char *path, fo_buf *reply, fo_err *err) {
    return perform(c, &(outgoing){.path = path}, reply, NULL, err);
}

int client_delete(client *c, const char *path, fo_buf *reply, fo_err *err) {
    return perform(c, &(outgoing){.path = path, .deletes = true}, reply, NULL, err);
}
