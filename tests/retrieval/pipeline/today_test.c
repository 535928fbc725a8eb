/* today_test.c - an answer about today is of the asker's day, and is not given again on another. */
#include "tests/test.h"

#include "retrieval/question/relative_days.h"
#include "retrieval/service/service.h"
#include "tests/retrieval/service/home_fixture.h"

static const char rota[] = "# Who is on duty\n\n| Day | Name | Post |\n|---|---|---|\n"
                           "| Monday | Ida Berg | desk |\n| Tuesday | Lena Ott | desk |\n"
                           "| Wednesday | Ravi Shah | desk |\n| Thursday | Tom Wren | desk |\n"
                           "| Friday | Olu Ade | desk |\n| Saturday | Pia Roth | desk |\n";

static void ask(service *s, const char *iso, enum cache_mode cache, const char *want,
                enum cache_outcome outcome) {
    fo_err err = {0};
    query_request q = {.tenant = "default",
                       .collection = "default",
                       .query = "Who is on duty at the desk today?",
                       .generate = true,
                       .cache = cache,
                       .search = {.alpha = -1}};
    query_result r;
    assert_true(calendar_day_read(iso, &q.today));
    assert_ok(service_query(s, &q, NULL, &r, &err), &err);
    if (!strstr(r.answer, want)) fail_msg("%s, not %s: %s", iso, want, r.answer);
    assert_int_equal(r.cache.answer, outcome);
    query_result_deinit(&r);
}

static void an_answer_is_of_its_day(void **state) {
    (void)state;
    char *home = test_folder();
    service *s = open_home(home);
    put(s, "default", "rota.md", rota, sizeof rota - 1, 256);
    ask(s, "2026-11-23", CACHE_DEFAULT, "Ida Berg", CACHE_MISS);
    ask(s, "2026-11-23", CACHE_DEFAULT, "Ida Berg", CACHE_HIT);
    ask(s, "2026-11-28", CACHE_DEFAULT, "Pia Roth", CACHE_MISS);
    ask(s, "2026-11-26", CACHE_BYPASS, "Tom Wren", CACHE_BYPASSED);
    service_close(s);
    test_remove(home);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(an_answer_is_of_its_day)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
