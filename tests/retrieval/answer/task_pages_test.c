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

static passage page(const char *title, const char *text) {
    return (passage){
        .document = title, .text = text, .len = strlen(text), .title = title, .sparse = 3};
}

static extractive_answer answered(const passage *p, const float *titled, size_t n,
                                  embedder *encoder, double least, const char *asked_for) {
    fo_err err = {0};
    extractive_answer a;
    const extractive_input in = {.question = asked_for,
                                 .passages = p,
                                 .n_passages = n,
                                 .titled = titled,
                                 .encoder = encoder,
                                 .lx = &lx,
                                 .min_support = least,
                                 .reader = model};
    assert_ok(extractive_answer_make(&a, &in, &err), &err);
    return a;
}

/* How sure it is, of an answer that has `has`; NULL: of any. */
static double asked(const char *question, float berth_near, float pass_near, const char *has) {
    static const double any = 0.001;
    const passage p[N] = {[BERTH] = page(berth_title, berth), [PASS] = page(pass_title, pass)};
    const float titled[N] = {[BERTH] = berth_near, [PASS] = pass_near};
    extractive_answer a = answered(p, titled, N, NULL, any, question);
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

/* The only page's answer, "" where it is refused. */
static const char *said_by(extractive_answer *a, const passage *p, float near, embedder *encoder,
                           const char *asked_for) {
    *a = answered(p, &near, 1, encoder, 0, asked_for);
    return a->abstain ? "" : a->text;
}

static void so_does_a_section_whose_heading_means_it(void **state) {
    (void)state;
    static const char text[] =
        "Harbour book\n\n## Renewing a visitor's card\n\n1. Open the book and choose People.\n"
        "2. Press the round arrow in the corner.\n\n## Lending a boat to somebody you know\n\n"
        "1. Open the book and choose Places.\n2. Press the plus sign in the corner.\n";
    const passage p = page("Harbour book", text);
    fo_err err = {0};
    extractive_answer a;
    embedder *encoder;
    assert_ok(embedder_open(&encoder, EMBEDDER_ENCODER, &err), &err);
    static const char question[] = "How do I hand my boat to a friend?";
    assert_string_equal(said_by(&a, &p, 0.2f, NULL, question), "");
    extractive_answer_deinit(&a);
    const char *said = said_by(&a, &p, 0.2f, encoder, question);
    if (!strstr(said, "plus sign") || strstr(said, "round arrow")) fail_msg("%s", said);
    extractive_answer_deinit(&a);
    embedder_close(encoder);
}

static void a_page_for_the_opposite_does_not(void **state) {
    (void)state;
    assert_non_null(task_title_opposes("Blocking a member", "How do I unblock a member?"));
    assert_null(task_title_opposes("Block or unblock a member", "How do I unblock a member?"));
    assert_null(task_title_opposes("Blocking a member", "How do I block a member?"));
    static const char text[] = "Blocking a member\n\n1. Open the book and choose People.\n"
                               "2. Press the red sign beside the name.\n";
    const passage p = page("Blocking a member", text);
    extractive_answer a;
    if (!strstr(said_by(&a, &p, 0.7f, NULL, "How do I block a member?"), "red sign"))
        fail_msg("%s", a.text);
    extractive_answer_deinit(&a);
    said_by(&a, &p, NAN, NULL, "How do I unblock a member?");
    const double without = a.support;
    extractive_answer_deinit(&a);
    said_by(&a, &p, 0.7f, NULL, "How do I unblock a member?");
    const double with = a.support;
    extractive_answer_deinit(&a);
    said_by(&a, &p, 0.7f, NULL, "How do I block a member?");
    if (with > without || a.support <= with) fail_msg("%.2f %.2f %.2f", without, with, a.support);
    extractive_answer_deinit(&a);
}

/* A step, or what the page is for, is said with the whole procedure. */
static void the_procedure_is_said_whole(void **state) {
    (void)state;
    static const char text[] =
        "Assign a mooring\n\nA boat that stays for the night is given a place to lie.\n\n"
        "1. Open the harbour book and choose Places.\n2. Press the plus sign in the corner.\n"
        "3. Choose the boat that is to lie there.\n4. Press Save.\n";
    const passage p = page(berth_title, text);
    static const char *const questions[] = {"How do I give a boat a place to lie for the night?",
                                            "Can I choose the boat that is to lie there?",
                                            "I want to give my boat a place to lie"};
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        extractive_answer a;
        const char *said = said_by(&a, &p, 0.7f, NULL, questions[i]);
        if (!strstr(said, "1. Open") || !strstr(said, "4. Press Save"))
            fail_msg("%s: %s", questions[i], said);
        extractive_answer_deinit(&a);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks_are_told_from_things),
        cmocka_unit_test(the_page_with_the_nearest_title_tells_how),
        cmocka_unit_test(facts_are_not_told_by_titles),
        cmocka_unit_test(so_does_a_section_whose_heading_means_it),
        cmocka_unit_test(a_page_for_the_opposite_does_not),
        cmocka_unit_test(the_procedure_is_said_whole),
    };
    return cmocka_run_group_tests(tests, open_reader, close_reader);
}
