/* thread_answers_test.c - what came of it is told of a thread, not what it was about. With the reader inside the binary. */
#include "tests/retrieval/answer/reader_fixture.h"

static const char thread[] =
    "Export of large maps from Tarn fails with \"broken pipe\"\n\nann, 6 May 2025:\n"
    "Since I updated from 2.3.1 to 2.4.0, the export of large maps fails in Tarn with a broken "
    "pipe. "
    "Client: Tarn 2.4.0\nfor Linux.\n\nmort (maintainer), 14 May 2025:\n"
    "I can reproduce it. A counter overflows.\n\n"
    "Workaround until there is a release: set tiles.single = true on the\nserver. It is slower.\n\n"
    "tove (maintainer), 27 May 2025:\n2.4.2 is out with the fix. Both sides must be updated.\n";

static void what_came_of_it_leads(void **state) {
    (void)state;
    int failed = 0;
    failed +=
        !answer_says("What's the workaround for the broken pipe on export of large maps in Tarn?",
                     thread, "set tiles.single = true", "Since I updated");
    failed += !answer_says("Which Tarn release contains the fix for the export of large maps?",
                           thread, "2.4.2 is out with the fix", "Client");
    failed += !answer_says("Since which update does the export of large maps fail in Tarn?", thread,
                           "Since I updated", "tiles.single");
    assert_int_equal(failed, 0);
}

/* Of several with one label each is of another thing. */
static void one_of_several_labels_does_not_lead(void **state) {
    (void)state;
    static const char notes[] =
        "Known problems\n\nThe printer jams on thick paper. Workaround: use the rear tray.\n\n"
        "The scanner is slow on large pages. Workaround: lower the resolution.\n";
    assert_true(answer_says("What is the workaround for the scanner that is slow on large pages?",
                            notes, "lower the resolution", "rear tray"));
}

/* Who asks something of the solution, the cause or the workaround is told that, not what it is. */
static void a_label_leads_only_where_it_is_asked_for(void **state) {
    (void)state;
    static const char cleaner[] =
        "# Cleaning the kettle\n\nSolution: 30 g of citric acid in one litre of water.\n\nFill the "
        "kettle with the solution. The solution has to work for 20 minutes. The solution can be "
        "kept "
        "for three months.\n";
    static const char eyes[] =
        "# First aid for eyes\n\nCause: dust, soap or lime.\n\nRinse the eye "
        "for ten minutes. See a doctor if the cause is lime.\n";
    static const char outage[] =
        "# Outage of 3 June\n\nRoot cause: a disk that was full.\n\nMarta Ruiz found the cause at "
        "11:20. The workaround cost 40 hours of work. The workaround was in place until 11:40.\n";
    int failed = 0;
    failed += !answer_says("How long can the solution be kept?", cleaner, "three months", "citric");
    failed += !answer_says("What is the solution for the kettle?", cleaner, "citric", "three");
    failed += !answer_says("What do I do if the cause is lime?", eyes, "See a doctor", "soap");
    failed += !answer_says("How much work did the workaround cost?", outage, "40 hours", "11:40");
    failed += !answer_says("What was the root cause of the outage?", outage, "a disk", "11:40");
    assert_int_equal(failed, 0);
}

/* A release of another fix, a version that the question names, and a release of something else are not what is asked for. */
static void the_release_is_of_the_fix_that_is_asked_for(void **state) {
    (void)state;
    static const char news[] =
        "# What is new\n\nVersion 2.5.0 brings maps in 3D and repairs the export of large "
        "maps.\n\nThe "
        "printing of legends was fixed in 2.4.2. Legends may now have two columns.\n";
    static const char bank[] =
        "# Opening an account\n\nThe fixed deposit runs for one year. Which release form is needed "
        "depends on the sum: form B up to 1,000 euros.\n\nOur app 3.2.1 fixed the sign-in of joint "
        "accounts.\n";
    int failed = 0;
    failed += !answer_says("What is fixed in version 2.5.0?", news, "repairs the export", "2.4.2");
    failed += !answer_says("Which version fixes the export of large maps?", news,
                           "repairs the export", "2.4.2");
    failed += !answer_says("Which version fixes the printing of legends?", news, "2.4.2", "3D");
    failed +=
        !answer_says("What release form do I need for a fixed deposit?", bank, "form B", "3.2.1");
    assert_int_equal(failed, 0);
}

/* A label in another section is of that section's thing, unless it, its heading or the title says that it is of this one. */
static void a_label_of_another_section_does_not_lead(void **state) {
    (void)state;
    static const char bikes[] =
        "# Bike guide\n\n## Squeaking brakes\n\nBrakes squeak when the pads are dirty.\n\n"
        "## Chain jumps\n\nCause: worn sprockets.\n";
    static const char report[] =
        "# Outage of the ticket shop\n\n## What happened\n\nThe ticket shop was down for two "
        "hours, an outage in the evening.\n\n## Analysis\n\nRoot cause: a disk that was full.\n";
    static const char sections[] =
        "# Guide\n\n## Leaking tap\n\nThe tap in the kitchen is leaking, drop by drop.\n\n"
        "## Cause\n\nCause: a washer that is worn.\n";
    int failed = 0;
    failed += !answer_says("What is the cause of squeaking brakes?", bikes, "dirty", "sprockets");
    failed += !answer_says("What is the root cause of the outage of the ticket shop?", report,
                           "a disk that was full", "two hours");
    failed += !answer_says("What is the cause of the leaking tap?", sections, "washer", "drop");
    assert_int_equal(failed, 0);
}

/* ... nor is it said behind what leads. */
static void a_label_of_another_section_is_not_said_either(void **state) {
    (void)state;
    static const char bikes[] =
        "Bike guide\n\nSqueaking brakes\n\nBrakes squeak when the pads are dirty.\n\n"
        "Chain jumps\n\nCause: worn sprockets.";
    const passage p = {.text = bikes, .len = strlen(bikes), .title = "Bike guide", .sparse = 1};
    extractive_answer a = ask_passages("What is the cause of squeaking brakes?", &p, 1);
    if (!strstr(a.text, "dirty") || strstr(a.text, "sprockets")) fail_msg("%s", a.text);
    extractive_answer_deinit(&a);
}

/* "The fix for the legends" is none for the export. */
static void a_fix_for_another_thing_does_not_lead(void **state) {
    (void)state;
    static const char other[] =
        "Export of large maps fails\n\nann, 6 May 2025:\nThe export of large maps fails with a "
        "broken pipe, and there is no release yet.\n\nmort, 14 May 2025:\nIn 2.4.2 you will find "
        "the fix for crooked legends.\n";
    static const char same[] =
        "Export of large maps fails\n\nann, 6 May 2025:\nThe export of large maps fails with a "
        "broken pipe, and there is no release yet.\n\nmort, 14 May 2025:\nIn 2.4.2 you will find "
        "the fix for the broken pipe.\n";
    static const char asked[] =
        "Which release contains the fix for the broken pipe on export of large maps?";
    int failed = 0;
    failed += !answer_says(asked, other, "broken pipe", "2.4.2");
    failed += !answer_says(asked, same, "2.4.2", "ann");
    assert_int_equal(failed, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_came_of_it_leads),
        cmocka_unit_test(one_of_several_labels_does_not_lead),
        cmocka_unit_test(a_label_leads_only_where_it_is_asked_for),
        cmocka_unit_test(the_release_is_of_the_fix_that_is_asked_for),
        cmocka_unit_test(a_label_of_another_section_does_not_lead),
        cmocka_unit_test(a_label_of_another_section_is_not_said_either),
        cmocka_unit_test(a_fix_for_another_thing_does_not_lead),
    };
    return cmocka_run_group_tests(tests, open_reader, close_reader);
}
