/* unit_headings_test.c - which lines of plain text head what stands below them. */
#include "tests/retrieval/units/units_fixture.h"

static void a_heading_may_stand_between_drawn_lines(void **state) {
    (void)state;
    const char *text = "Minutes of the board\n\n=====\nMeeting of 3 May, 18:00\n=====\n"
                       "Present: all. The chair thanked them.\n\n"
                       "-----\n4 June\nThe boathouse opens again\n\nIt was wet inside.\n\n"
                       "-----\nPrinted by: Holt\n\nOn paper.\n";
    read_units(text);
    expect(text, "Present: all.", TEXT_UNIT_SENTENCE, "Meeting of 3 May, 18:00");
    expect(text, "It was wet inside.", TEXT_UNIT_SENTENCE, "4 June\nThe boathouse opens again");
    expect(text, "-----\nPrinted by: Holt", TEXT_UNIT_SENTENCE,
           "4 June\nThe boathouse opens again");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_heading_may_stand_between_drawn_lines),
    };
    return cmocka_run_group_tests(tests, NULL, forget);
}
