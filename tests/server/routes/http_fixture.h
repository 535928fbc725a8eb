/* http_fixture.h - a service and its routes on a free port, and a client that asks it. */
#ifndef FORAGE_TESTS_HTTP_FIXTURE_H
#define FORAGE_TESTS_HTTP_FIXTURE_H

#include <cjson/cJSON.h>
#include <curl/curl.h>

#include "retrieval/local/local_generator.h"
#include "server/routes/app.h"
#include "server/base/log.h"
#include "tests/test.h"

typedef struct fixture {
    char *dir, *model;
    service *service;
    app *app;
} fixture;

/* dir: of test_folder, the fixture's from now on. g: {0} for no language model. */
static inline fixture *fixture_open_generator(char *dir, generator_source g, http_options h) {
    static bool quiet; /* once: the threads of another fixture may run by now */
    if (!quiet) log_open(LOG_LEVEL_OFF, false);
    quiet = true;
    fixture *f = calloc(1, sizeof *f);
    fo_err err = {0};
    f->dir = dir;
    service_options opt = {.home = dir, .generator = g, .n_threads = 2};
    assert_ok(service_open(&f->service, &opt, &err), &err);
    assert_ok(app_create(&f->app, f->service, false, &err), &err);
    assert_ok(key_ring_open(&f->app->keys, dir, false, &err), &err); /* off until one is made */
    f->app->audits = true;
    h.listen = "127.0.0.1:0";
    if (!h.body_timeout_ms) h.body_timeout_ms = 5000;
    assert_ok(app_serve(f->app, &h, &err), &err);
    return f;
}

/* file: a model that the fixture frees, or NULL. */
static inline fixture *fixture_open_with(char *dir, char *file, engine_options e, http_options h) {
    e.model = file;
    fixture *f = fixture_open_generator(dir, local_generator(&e), h);
    f->model = file;
    return f;
}

static inline fixture *fixture_open(char *dir, char *file, engine_options e) {
    return fixture_open_with(dir, file, e, (http_options){0});
}

static inline void fixture_close(fixture *f) {
    app_stop(f->app, 5000, NULL);
    service_close(f->service);
    test_remove(f->dir);
    free(f->model);
    free(f);
}

static inline size_t take(char *data, size_t size, size_t n, void *b) {
    fo_buf_add(b, data, size * n);
    return size * n;
}

/* A client that goes away after the first bytes. */
static inline size_t leave(char *data, size_t size, size_t n, void *b) {
    (void)data, (void)size, (void)n, (void)b;
    return 0;
}

static inline long send_method(fixture *f, const char *method, const char *path, const char *body,
                               fo_buf *out, bool abort) {
    CURL *c = curl_easy_init();
    char url[512];
    snprintf(url, sizeof url, "http://%s%s", http_address(f->app->http), path);
    struct curl_slist *h = curl_slist_append(NULL, "Content-Type: application/json");
    curl_easy_setopt(c, CURLOPT_URL, url);
    curl_easy_setopt(c, CURLOPT_CUSTOMREQUEST, method);
    curl_easy_setopt(c, CURLOPT_PATH_AS_IS, 1L);
    if (body) {
        curl_easy_setopt(c, CURLOPT_HTTPHEADER, h);
        curl_easy_setopt(c, CURLOPT_POSTFIELDS, body);
    }
    curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, abort ? leave : take);
    curl_easy_setopt(c, CURLOPT_WRITEDATA, out);
    CURLcode rc = curl_easy_perform(c);
    assert_int_equal(rc, abort ? CURLE_WRITE_ERROR : CURLE_OK);
    long status = 0;
    curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &status);
    curl_slist_free_all(h);
    curl_easy_cleanup(c);
    return status;
}

static inline long send_body(fixture *f, const char *path, const char *body, fo_buf *out,
                             bool abort) {
    return send_method(f, body ? "POST" : "GET", path, body, out, abort);
}

static inline cJSON *ask(fixture *f, const char *path, const char *body, long want) {
    fo_buf b = {0};
    long status = send_body(f, path, body, &b, false);
    if (status != want) fail_msg("%s: %ld instead of %ld: %s", path, status, want, b.data);
    cJSON *j = cJSON_ParseWithLength(b.data ? b.data : "", b.len);
    if (!j) fail_msg("%s: no JSON: %s", path, b.data ? b.data : "(nothing)");
    fo_buf_free(&b);
    return j;
}

static inline const cJSON *at(const cJSON *j, const char *path) { /* "choices.0.text" */
    char copy[128], *save = NULL;
    snprintf(copy, sizeof copy, "%s", path);
    for (char *k = strtok_r(copy, ".", &save); j && k; k = strtok_r(NULL, ".", &save))
        j = cJSON_IsArray(j) ? cJSON_GetArrayItem(j, atoi(k))
                             : cJSON_GetObjectItemCaseSensitive(j, k);
    return j;
}
static inline const char *text(const cJSON *j, const char *path) {
    const char *s = cJSON_GetStringValue(at(j, path));
    return s ? s : "(none)";
}
static inline double number(const cJSON *j, const char *path) {
    return cJSON_GetNumberValue(at(j, path));
}

#endif
