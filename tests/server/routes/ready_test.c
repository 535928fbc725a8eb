/* /ready of a home whose vectors another embedder made. */
#include "tests/other_embedder.h"
#include "tests/server/routes/http_fixture.h"

static void ingest(service *s, const char *collection, const char *id) {
    fo_err err = {0};
    ingest_options into = {.tenant = "default", .collection = collection, .overlap = SIZE_MAX};
    ingest_document d = {.id = id, .bytes = "granite", .n_bytes = 7};
    ingest_result r;
    assert_ok(service_ingest(s, &into, &d, 1, &r, NULL, &err), &err);
    assert_int_equal(r.status, INGEST_CREATED);
    ingest_result_deinit(&r);
}

static void what_would_fail_does_not_look_ready(void **state) {
    (void)state;
    fo_err err = {0};
    char *dir = test_folder();
    service *s;
    assert_ok(service_open(&s, &(service_options){.home = dir, .n_threads = 2}, &err), &err);
    char name[16];
    for (int i = 0; i < 10; i++) { /* more than are named */
        snprintf(name, sizeof name, "old%d", i);
        ingest(s, name, "one");
    }
    service_close(s);

    char *other = other_embedder(dir);
    log_open(LOG_LEVEL_OFF, false);
    fixture f = {.dir = dir};
    assert_ok(service_open(&f.service,
                           &(service_options){.home = dir, .embed_model = other, .n_threads = 2},
                           &err),
              &err);
    ingest(f.service, "new", "one");
    assert_ok(app_create(&f.app, f.service, false, &err), &err);
    http_options h = {.listen = "127.0.0.1:0"};
    assert_ok(app_serve(f.app, &h, &err), &err);

    cJSON *r = ask(&f, "/ready", NULL, 503);
    assert_string_equal(text(r, "status"), "not_ready");
    assert_string_equal(text(r, "error.code"), "not_ready");
    assert_string_equal(text(r, "error.param"), "collection");
    assert_non_null(strstr(text(r, "error.message"), "old0"));
    assert_non_null(strstr(text(r, "error.message"), "index rebuild"));
    assert_int_equal(cJSON_GetArraySize(at(r, "reasons")), 8);
    assert_int_equal(number(r, "n_reasons"), 10);
    assert_string_equal(text(r, "reasons.7.collection"), "old7");
    assert_string_equal(text(r, "reasons.7.code"), "foreign_vectors");
    cJSON_Delete(r);
    cJSON_Delete(ask(&f, "/query", "{\"query\":\"granite\",\"collection\":\"old0\"}", 409));

    cJSON_Delete(ask(&f, "/ready?collection=old9", NULL, 503));
    r = ask(&f, "/ready?collection=new", NULL, 200);
    assert_string_equal(text(r, "status"), "ready");
    cJSON_Delete(r);
    cJSON_Delete(ask(&f, "/query", "{\"query\":\"granite\",\"collection\":\"new\"}", 200));
    cJSON_Delete(ask(&f, "/ready?collection=none", NULL, 404));
    cJSON_Delete(ask(&f, "/ready?collection=.no", NULL, 400));
    cJSON_Delete(ask(&f, "/health", NULL, 200)); /* it lives */

    assert_ok(service_rebuild(f.service, NULL, NULL, NULL, NULL, &err), &err);
    cJSON_Delete(ask(&f, "/ready", NULL, 200));
    cJSON_Delete(ask(&f, "/query", "{\"query\":\"granite\",\"collection\":\"old0\"}", 200));
    app_stop(f.app, 5000, NULL);
    service_close(f.service);
    free(other);
    test_remove(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_would_fail_does_not_look_ready),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
