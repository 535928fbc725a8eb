/* key_fixture.h - keys of the service of http_fixture.h, and a client that asks with them. */
#ifndef FORAGE_TESTS_KEY_FIXTURE_H
#define FORAGE_TESTS_KEY_FIXTURE_H

#include <strings.h>

#include "tests/server/routes/http_fixture.h"

typedef struct caller {
    char text[80];
} caller;

static inline caller key_of(fixture *f, const key_spec *spec) {
    fo_err err = {0};
    access_secret s;
    caller c;
    assert_ok(keys_create(f->dir, spec, &s, &err), &err);
    snprintf(c.text, sizeof c.text, "%s", s.text);
    for (int i = 0; i < 200; i++) { /* the server looks a few times a second */
        access_grant *g = key_ring_admit(f->app->keys, c.text);
        access_grant_drop(g);
        if (g) return c;
        usleep(20000);
    }
    fail_msg("the server does not see a new key");
    return c;
}

static inline caller make(fixture *f, unsigned scopes, const char *tenant, const char *collection,
                          const char *group) {
    key_spec spec = {.name = "test",
                     .scopes = scopes,
                     .tenant = tenant,
                     .collections = &collection,
                     .n_collections = collection != NULL,
                     .groups = &group,
                     .n_groups = group != NULL};
    return key_of(f, &spec);
}

static inline size_t keep_header(char *line, size_t size, size_t n, void *b) {
    fo_buf_add(b, line, size * n);
    return size * n;
}

/* key NULL: none; headers may be NULL. */
static inline long send_as(fixture *f, const char *key, const char *method, const char *path,
                           const char *body, fo_buf *reply, fo_buf *headers) {
    CURL *c = curl_easy_init();
    char url[512], auth[128];
    fo_buf own = {0}, heads = {0};
    snprintf(url, sizeof url, "http://%s%s", http_address(f->app->http), path);
    struct curl_slist *h = curl_slist_append(NULL, "Content-Type: application/json");
    snprintf(auth, sizeof auth, "Authorization: Bearer %s", key ? key : "");
    if (key) h = curl_slist_append(h, auth);
    curl_easy_setopt(c, CURLOPT_URL, url);
    curl_easy_setopt(c, CURLOPT_CUSTOMREQUEST, method);
    curl_easy_setopt(c, CURLOPT_HTTPHEADER, h);
    if (body) curl_easy_setopt(c, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(c, CURLOPT_WRITEDATA, reply ? reply : &own);
    curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, keep_header);
    curl_easy_setopt(c, CURLOPT_HEADERDATA, headers ? headers : &heads);
    assert_int_equal(curl_easy_perform(c), CURLE_OK);
    long status = 0;
    curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &status);
    curl_slist_free_all(h);
    curl_easy_cleanup(c);
    fo_buf_free(&own);
    fo_buf_free(&heads);
    return status;
}

static inline cJSON *ask_as(fixture *f, const char *key, const char *method, const char *path,
                            const char *body, long want) {
    fo_buf b = {0};
    long status = send_as(f, key, method, path, body, &b, NULL);
    if (status != want) fail_msg("%s %s: %ld, not %ld: %s", method, path, status, want, b.data);
    cJSON *j = cJSON_ParseWithLength(b.data ? b.data : "", b.len);
    if (!j) fail_msg("%s: no JSON: %s", path, b.data);
    fo_buf_free(&b);
    return j;
}

static inline void expect_as(fixture *f, const char *key, const char *method, const char *path,
                             const char *body, long want) {
    cJSON_Delete(ask_as(f, key, method, path, body, want));
}

static inline fixture *open_plain(void) {
    return fixture_open(test_folder(), NULL, (engine_options){0});
}

#endif
