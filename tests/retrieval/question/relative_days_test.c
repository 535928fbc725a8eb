/* relative_days_test.c - which day "today" is, and where it is left as it stands. */
#include "retrieval/question/relative_days.h"

#include <string.h>

#include "tests/test.h"

static calendar_day day(const char *iso) {
    calendar_day d = -1;
    if (!calendar_day_read(iso, &d)) fail_msg("%s", iso);
    return d;
}

static void days_are_read(void **state) {
    (void)state;
    assert_int_equal(day("1970-01-01"), 0);
    assert_int_equal(day("1972-02-29"), 789);
    assert_int_equal(day("2000-03-01"), 11017);
    assert_int_equal(day("2026-11-28"), 20785);
    static const char *const none[] = {
        "",           "today",      "2026-11-31", "2026-13-01",  "2026-00-10",
        "2025-02-29", "1969-12-31", "2026-11-2",  "2026-11-280", "2026/11/28"};
    calendar_day d;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (calendar_day_read(none[i], &d)) fail_msg("%s", none[i]);
    assert_true(calendar_day_now() > day("2026-01-01"));
}

/* What becomes of a question over one passage; NULL: it is left. */
static void expect(const char *asked, const char *text, const char *want) {
    fo_buf b = {0};
    const passage p = {.text = text, .len = strlen(text)};
    const bool changed =
        relative_days_resolve(&b, asked, day("2026-11-28"), &p, 1); /* a Saturday */
    if (changed != (want != NULL) || (want && strcmp(b.data, want)))
        fail_msg("%s: %s", asked, changed ? b.data : "as it was");
    if (!changed) assert_int_equal(b.len, 0);
    fo_buf_free(&b);
}

static void where_a_plan_goes_by_days_the_day_is_named(void **state) {
    (void)state;
    static const char week[] = "Monday: Ida\nTuesday: Ravi\nSaturday: Pia\n";
    static const char dates[] = "27 November: Ida\n28 November: Ravi\nNov 29: Pia\n";
    expect("Who is on duty today?", week, "Who is on duty on Saturday?");
    expect("who works tomorrow", week, "who works on Sunday");
    expect("Who was here yesterday?", week, "Who was here on Friday?");
    expect("What is today's menu?", week, "What is Saturday's menu?");
    expect("Who is on call for tonight?", week, "Who is on call for Saturday evening?");
    expect("Today or tomorrow?", week, "on Saturday or on Sunday?");
    expect("Who is on duty today?", dates, "Who is on duty on 28 November?");
    expect("Who is on duty tomorrow?", dates, "Who is on duty on 29 November?");
}

static void elsewhere_it_is_left(void **state) {
    (void)state;
    expect("What is the castle used for today?", "Today it is a museum. It burnt in 1712.", NULL);
    expect("What is the castle used for today?",
           "It was taken on 3 May 1712, sold on 8 June 1801 and burnt on 9 July 1899.", NULL);
    expect("What is it used for today?", "The fair is on Saturday.", NULL); /* one day is no plan */
    expect("Who is on duty on Monday?", "Monday: Ida\nTuesday: Ravi\n", NULL);
    expect("", "Monday: Ida\nTuesday: Ravi\n", NULL);
    assert_true(relative_days_in("Is it open TODAY?"));
    assert_false(relative_days_in("Is it open on Sunday?"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(days_are_read),
        cmocka_unit_test(where_a_plan_goes_by_days_the_day_is_named),
        cmocka_unit_test(elsewhere_it_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
