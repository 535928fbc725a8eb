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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_came_of_it_leads),
        cmocka_unit_test(one_of_several_labels_does_not_lead),
    };
    return cmocka_run_group_tests(tests, open_reader, close_reader);
}
