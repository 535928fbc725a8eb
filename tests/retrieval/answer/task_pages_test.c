/* How something is done is told by the page whose title means that, though its steps hardly name it. */
#include <math.h>

#include "retrieval/text/task_titles.h"
#include "tests/retrieval/answer/reader_fixture.h"

static void tasks_are_told_from_things(void **state) {
    (void)state;
    static const char *const tasks[] = {
        "Add a printer",           "Adding a printer",    "How to add a printer",
        "How do I add a printer?", "Set up your account", "Setting up an account",
        "Record the meeting",      "Turning it off",      "Report a lost bicycle",
        "Moving to another house", "Building a boat"};
    static const char *const things[] = {"",
                                         "Add",
                                         "Printers",
                                         "Report of 2024",
                                         "Water supply",
                                         "Record companies",
                                         "Printing",
                                         "Spring festival",
                                         "Building regulations 1998",
                                         "How boats float",
                                         "The adding of printers",
                                         "Minutes of 3 May"};
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++)
        if (!task_title_names_one(tasks[i])) fail_msg("no task: %s", tasks[i]);
    for (size_t i = 0; i < sizeof things / sizeof *things; i++)
        if (task_title_names_one(things[i])) fail_msg("a task: %s", things[i]);
}

enum { BERTH, PASS, N };

static const char berth_title[] = "Assign a mooring", pass_title[] = "Renew a visitor's card";
static const char berth[] =
    "Assign a mooring\n\n1. Open the harbour book and choose Places.\n"
    "2. Press the plus sign in the corner.\n3. Choose a name and press Save.\n";
static const char pass[] =
    "Renew a visitor's card\n\n1. Open the harbour book and choose People.\n"
    "2. Press the round arrow in the corner.\n3. Choose a name and press Save.\n";

static extractive_answer ask(const char *question, float berth_near, float pass_near) {
    const passage p[N] = {[BERTH] = {.document = "berth.html",
                                     .text = berth,
                                     .len = sizeof berth - 1,
                                     .title = berth_title,
                                     .sparse = 3},
                          [PASS] = {.document = "pass.html",
                                    .text = pass,
                                    .len = sizeof pass - 1,
                                    .title = pass_title,
                                    .sparse = 3}};
    const float titled[N] = {[BERTH] = berth_near, [PASS] = pass_near};
    fo_err err = {0};
    extractive_answer a;
    const extractive_input in = {.question = question,
                                 .passages = p,
                                 .n_passages = N,
                                 .titled = titled,
                                 .lx = &lx,
                                 .min_support = 0.001,
                                 .reader = model};
    assert_ok(extractive_answer_make(&a, &in, &err), &err);
    return a;
}

/* How sure it is, of an answer that has `has`; NULL: of any. */
static double asked(const char *question, float berth_near, float pass_near, const char *has) {
    extractive_answer a = ask(question, berth_near, pass_near);
    const double support = a.support;
    if (has && (!a.text || !strstr(a.text, has))) fail_msg("%s: %s", question, a.text);
    extractive_answer_deinit(&a);
    return support;
}

static void the_page_with_the_nearest_title_tells_how(void **state) {
    (void)state;
    static const char question[] = "How do I give a boat somewhere to lie?";
    assert_true(asked(question, NAN, NAN, NULL) < support_threshold);
    assert_true(asked(question, 0.7f, 0.3f, "plus sign") >= support_threshold);
    assert_true(asked("How do I sort the herrings?", 0.7f, 0.3f, "plus sign") >= 0);
    assert_true(asked("How do I sort the herrings?", 0.3f, 0.7f, "round arrow") >= 0);
    assert_true(asked(question, 0.3f, 0.25f, NULL) < support_threshold); /* near by chance */
    assert_true(asked("Can I give a boat somewhere to lie?", 0.7f, 0.3f, "plus sign") >=
                support_threshold);
}

static void facts_are_not_told_by_titles(void **state) {
    (void)state;
    assert_true(asked("How much does it cost to give a boat somewhere to lie?", 0.7f, 0.3f, NULL) <
                support_threshold);
    assert_true(asked("Who gives a boat somewhere to lie?", 0.7f, 0.3f, NULL) < support_threshold);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks_are_told_from_things),
        cmocka_unit_test(the_page_with_the_nearest_title_tells_how),
        cmocka_unit_test(facts_are_not_told_by_titles),
    };
    return cmocka_run_group_tests(tests, open_reader, close_reader);
}
