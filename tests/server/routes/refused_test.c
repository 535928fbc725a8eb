/* refused_test.c - requests without a key, with one that may not, with one that asks too much: what is refused costs as
 * much as what is not, and does not push others out of the audit log. */
#include "tests/server/routes/key_fixture.h"

/* ---- strangers ------------------------------------------------------------------------------ */

static char *audit_log(fixture *f) {
    fo_buf path = {0}, all = {0};
    fo_buf_printf(&path, "%s/audit.log", f->dir);
    fo_buf_str(&all, "");
    FILE *log = fopen(path.data, "r");
    char some[4096];
    for (size_t n; log && (n = fread(some, 1, sizeof some, log)) > 0;) fo_buf_add(&all, some, n);
    if (log) fclose(log);
    fo_buf_free(&path);
    return fo_buf_take(&all, NULL);
}

/* What strangers send must not push out what those with a key did. */
static void strangers_leave_nothing_in_the_audit_log(void **state) {
    (void)state;
    fixture *f = open_plain();
    expect_as(f, NULL, "DELETE", "/collections/nobodys", NULL,
              404); /* no keys yet: it is anybody's */
    expect_as(f, NULL, "POST", "/keys", "{\"name\":\"first\",\"scopes\":[\"admin\"]}", 201);
    caller admin = make(f, 1u << ACCESS_ADMIN, NULL, NULL, NULL);
    caller reader = make(f, 1u << ACCESS_READ, NULL, NULL, NULL);
    expect_as(f, NULL, "DELETE", "/collections/strangers", NULL, 401);
    expect_as(f, "fk_0", "DELETE", "/collections/strangers", NULL, 401);
    expect_as(f, NULL, "DELETE", "/documents?filter=strangers", NULL, 401);
    expect_as(f, reader.text, "DELETE", "/collections/readers", NULL, 403);
    char path[401] =
        "/collections/"; /* 13 bytes, so that one of the letters stands across the 200th */
    while (strlen(path) < 395) strcat(path, "\xC3\xA9");
    cJSON_Delete(ask_as(f, admin.text, "DELETE", path, NULL, 400));
    char *log = audit_log(f), line[300];
    assert_non_null(strstr(log, "/collections/nobodys"));
    assert_non_null(strstr(log, "POST /keys"));
    assert_null(strstr(log, "strangers"));
    assert_null(strstr(log, "401"));
    assert_non_null(strstr(log, "/collections/readers"));
    snprintf(line, sizeof line, "\"what\":\"%.199s\"", path);
    assert_non_null(strstr(log, line));
    free(log);
    fixture_close(f);
}

/* What an address may ask holds for those too who have no key. */
static void strangers_are_slowed_by_their_address(void **state) {
    (void)state;
    fixture *f = open_plain();
    rate_tier tier;
    fo_err err = {0};
    assert_ok(rate_tier_read(&tier, "few: requests=0.001, burst=3", &err), &err);
    assert_ok(rate_limits_create(&f->app->limits, &tier, 1, &err), &err);
    f->app->address_tier = rate_limits_tier(f->app->limits, "few");
    make(f, 1u << ACCESS_ADMIN, NULL, NULL, NULL);
    for (int i = 0; i < 3; i++) expect_as(f, "fk_0", "DELETE", "/collections/x", NULL, 401);
    for (int i = 0; i < 3; i++) expect_as(f, "fk_0", "DELETE", "/collections/x", NULL, 429);
    expect_as(f, NULL, "GET", "/health", NULL, 200); /* what is open to all is not counted */
    char *log = audit_log(f);
    assert_null(strstr(log, "/collections/x"));
    free(log);
    fixture_close(f);
}

/* ---- keys without the scope -------------------------------------------------------------------- */

static void use_tier(fixture *f, const char *text) {
    rate_tier tier;
    fo_err err = {0};
    assert_ok(rate_tier_read(&tier, text, &err), &err);
    assert_ok(rate_limits_create(&f->app->limits, &tier, 1, &err), &err);
    f->app->default_tier = rate_limits_tier(f->app->limits, tier.name);
}

static size_t count_of(const char *all, const char *what) {
    size_t n = 0;
    for (const char *at = all; (at = strstr(at, what)); at += strlen(what)) n++;
    return n;
}

static void what_lacks_the_scope_counts_among_the_requests(void **state) {
    (void)state;
    fixture *f = open_plain();
    caller reader = make(f, 1u << ACCESS_READ, NULL, NULL, NULL);
    use_tier(f, "few: requests=0.001, burst=3");
    for (int i = 0; i < 3; i++) expect_as(f, reader.text, "DELETE", "/collections/x", NULL, 403);
    for (int i = 0; i < 3; i++) expect_as(f, reader.text, "DELETE", "/collections/x", NULL, 429);
    expect_as(f, reader.text, "GET", "/collections", NULL, 429); /* there are none left */
    fixture_close(f);
}

/* Refused in either way: five have a line, and there is one of how many have none. */
static void a_key_that_may_not_does_not_fill_the_audit_log(void **state) {
    (void)state;
    enum { N = 40 };
    fixture *f = open_plain();
    caller admin = make(f, 1u << ACCESS_ADMIN, NULL, NULL, NULL);
    caller reader = make(f, 1u << ACCESS_READ, NULL, NULL, NULL);
    expect_as(f, admin.text, "DELETE", "/collections/admins", NULL, 404);
    use_tier(f, "few: requests=0.001, burst=30");
    for (int i = 0; i < N; i++) {
        fo_buf b = {0};
        long status = send_as(f, reader.text, "DELETE", "/collections/readers", NULL, &b, NULL);
        assert_int_equal(status, i < 30 ? 403 : 429);
        fo_buf_free(&b);
    }
    char *log = audit_log(f), id[64];
    assert_int_equal(count_of(log, "/collections/readers"), AUDIT_REFUSALS_A_MINUTE);
    assert_null(strstr(log, "left_out")); /* not before the minute is over */
    free(log);
    expect_as(f, admin.text, "DELETE", "/collections/admins", NULL, 404);
    app_stop(f->app, 5000, NULL);
    f->app = NULL;
    log = audit_log(f);
    assert_int_equal(count_of(log, "/collections/readers"), AUDIT_REFUSALS_A_MINUTE);
    assert_int_equal(count_of(log, "/collections/admins"), 2);
    assert_int_equal(count_of(log, "\"left_out\":35}"), 1);
    snprintf(id, sizeof id, "\"who\":\"k_%.16s\"", reader.text + 3);
    assert_int_equal(count_of(log, id), AUDIT_REFUSALS_A_MINUTE + 1);
    free(log);
    fixture_close(f);
}

/* ... nor does anybody where no keys are asked for and nothing limits them: here for want of memory. */
static void without_keys_what_is_refused_does_not_fill_the_audit_log(void **state) {
    (void)state;
    enum { N = 12 };
    fixture *f = open_plain();
    f->app->min_free_memory = UINT64_MAX;
    for (int i = 0; i < N; i++) expect_as(f, NULL, "POST", "/keys", "{}", 503);
    char *log = audit_log(f);
    assert_int_equal(count_of(log, "POST /keys"), AUDIT_REFUSALS_A_MINUTE);
    free(log);
    fixture_close(f);
}

int main(void) {
    curl_global_init(CURL_GLOBAL_ALL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strangers_leave_nothing_in_the_audit_log),
        cmocka_unit_test(strangers_are_slowed_by_their_address),
        cmocka_unit_test(what_lacks_the_scope_counts_among_the_requests),
        cmocka_unit_test(a_key_that_may_not_does_not_fill_the_audit_log),
        cmocka_unit_test(without_keys_what_is_refused_does_not_fill_the_audit_log),
    };
    return cmocka_run_group_tests_name("refused", tests, NULL, NULL);
}
