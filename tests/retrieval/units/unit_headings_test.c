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

static void each_sentence_below_a_label_answers_by_itself(void **state) {
    (void)state;
    const char *text =
        "Savings\n\nSavings book: 0.60 % a year. Up to 2,000 euros may be drawn in a "
        "month. It ends with the holder.\n\nBoxes\n\nWhen: 21 December\n\n"
        "CARE\nClean the filter each day. Run a drum cleaning now and then.\n"
        "Descale twice a year where the water is hard.\n";
    read_units(text);
    expect(text, "Savings book: 0.60 % a year.", TEXT_UNIT_SENTENCE, "Savings");
    expect(text, "Up to 2,000 euros may be drawn in a month.", TEXT_UNIT_SENTENCE, "Savings");
    expect(text, "When: 21 December", TEXT_UNIT_ITEM, "Boxes");
    expect(text, "CARE\nClean the filter each day.", TEXT_UNIT_DEFINITION, "Boxes");
    expect(text, "Descale twice a year where the water is hard.", TEXT_UNIT_SENTENCE, "CARE");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_heading_may_stand_between_drawn_lines),
        cmocka_unit_test(each_sentence_below_a_label_answers_by_itself),
    };
    return cmocka_run_group_tests(tests, NULL, forget);
}
