/* unit_lists_test.c - items that stand in items, steps with more than one paragraph, and what marks an item. Lists as such are
 * tested in units_test.c. */
#include "tests/retrieval/units/units_fixture.h"

static bool is_nested(const char *text, const char *unit) {
    for (size_t i = 0; i < units.n; i++)
        if (is(text, units.v[i].start, units.v[i].end, unit) && units.v[i].nested) return true;
    return false;
}

static void an_item_in_an_item_hangs_on_that_one(void **state) {
    (void)state;
    const char *text = "# Boat hire\n\n- Kayak\n  - half day: 20 euros\n- Canoe\n"
                       "  - half day: 30 euros\n    - with a guide: 60 euros\n"
                       "  - full day: 50 euros\n- Vests cost nothing.\n\t- in all sizes\n- Oars\n";
    read_units(text);
    expect(text, "- Canoe", TEXT_UNIT_ITEM, "# Boat hire");
    expect(text, "- Kayak\n  - half day: 20 euros", TEXT_UNIT_STEPS, "# Boat hire");
    expect(text, "- half day: 20 euros", TEXT_UNIT_ITEM, "- Kayak");
    expect(text, "- full day: 50 euros", TEXT_UNIT_ITEM, "- Canoe");
    expect(text, "- with a guide: 60 euros", TEXT_UNIT_ITEM, "- half day: 30 euros");
    expect(text, "- Vests cost nothing.", TEXT_UNIT_ITEM, "# Boat hire");
    expect(text, "- in all sizes", TEXT_UNIT_ITEM, "- Vests cost nothing.");
    expect(text, "- Oars", TEXT_UNIT_ITEM, "# Boat hire");
    assert_true(is_nested(text, "- full day: 50 euros") && !is_nested(text, "- Oars"));
    /* A passage may begin in an item; one column more is a slip of the pen. */
    const char *cut = "  - half day: 30 euros\n  - full day: 50 euros\n- Oars\n - Sails\n";
    read_units(cut);
    expect(cut, "- full day: 50 euros", TEXT_UNIT_ITEM, "");
    expect(cut, "- Sails", TEXT_UNIT_ITEM, "");
    fo_err err = {0};
    const char *tail = strchr(cut, '-'); /* its indent stands before the text */
    assert_ok(text_units_read(&units, tail, strlen(tail), 2, &err), &err);
    expect(tail, "- full day: 50 euros", TEXT_UNIT_ITEM, "");
}

/* "Do not take it if" is no heading of what comes later, and what has no colon leads in all the same. */
static void an_open_sentence_leads_in_the_items_below(void **state) {
    (void)state;
    const char *text =
        "BEFORE YOU TAKE IT\n\nDo not take Dolprex if\n - you weigh less than 40 kg;\n"
        " - you are ill.\n\nKeep it. Ask a doctor or pharmacist first if you\n"
        " - are over 65;\n - take blood thinners.\n\nIt contains lactose.\n";
    read_units(text);
    expect(text, "- you weigh less than 40 kg;", TEXT_UNIT_ITEM, "Do not take Dolprex if");
    expect(text, "- are over 65;", TEXT_UNIT_ITEM, "Ask a doctor or pharmacist first if you");
    expect(text, "Keep it.", TEXT_UNIT_SENTENCE, "BEFORE YOU TAKE IT");
    expect(text, "It contains lactose.", TEXT_UNIT_SENTENCE, "BEFORE YOU TAKE IT");
    text = "Tell us when you\n\n- move;\n- marry.\n\nWhat we need\n\n- your name\n- your address\n";
    read_units(text);
    expect(text, "- marry.", TEXT_UNIT_ITEM, "Tell us when you");
    expect(text, "- your name", TEXT_UNIT_ITEM, "What we need");
    text = "The boats are old.\n- Oars cost 2 euros.\n- Sails cost 9 euros.\n";
    read_units(text);
    expect(text, "- Oars cost 2 euros.", TEXT_UNIT_ITEM, "");
}

/* What stands between a step and the next one is of that step; behind the last one the list ends. */
static void a_step_may_have_further_paragraphs(void **state) {
    (void)state;
    static const char filter[] =
        "To change the filter:\n\n1. Turn off the power.\n"
        "Wait five minutes until the fan stands still and the light is off, "
        "or the filter may be hot.\n\n2. Open the lid.\n\n"
        "   Note the arrow.\n\n3. Pull the filter out.\n\nIt takes an hour.";
    read_units(filter);
    const size_t whole = strlen(filter) - strlen("\n\nIt takes an hour.");
    char steps[sizeof filter];
    snprintf(steps, sizeof steps, "%.*s", (int)whole, filter);
    expect(filter, steps, TEXT_UNIT_STEPS, "");
    expect(filter, "2. Open the lid.\n\n   Note the arrow.", TEXT_UNIT_ITEM,
           "To change the filter:");
    expect(filter, "3. Pull the filter out.", TEXT_UNIT_ITEM, "To change the filter:");
    expect(filter, "It takes an hour.", TEXT_UNIT_SENTENCE, "");
    static const char build[] =
        "How to install it:\n\n1. Fetch the source.\n2. Build the program:\n\n"
        "make all\nmake install\n\n3. Start it.\n";
    read_units(build);
    expect(build, "2. Build the program:\n\nmake all\nmake install", TEXT_UNIT_ITEM,
           "How to install it:");
    size_t lines = 0;
    for (size_t i = 0; i < units.n; i++) lines += units.v[i].lines;
    assert_int_equal(lines, 2); /* that step, and the whole */
    /* the next number belongs to another list, and sections stay sections */
    static const char apart[] = "1. Fetch it.\n2. Build it.\n\nRemoval\n\n3. Stop it.\n\n"
                                "Oars\n\n1. Wash them.\n\nWe have ten.\n\n1. Dry them.\n";
    read_units(apart);
    expect(apart, "1. Fetch it.\n2. Build it.", TEXT_UNIT_STEPS, "");
    expect(apart, "3. Stop it.", TEXT_UNIT_ITEM, "Removal");
    expect(apart, "We have ten.", TEXT_UNIT_SENTENCE, "Oars");
}

static void what_word_and_mails_set_are_bullets_too(void **state) {
    (void)state;
    static const char text[] =
        "What guests bring\n\n\xE2\x80\x93 towels and sheets\n\xE2\x80\x93 slippers\n\n"
        "\xE2\x96\xAA The key hangs in the shed.\n\n\xE2\x97\xA6 oars\n\n\xE2\x80\xA3 sails\n\n"
        "\xC2\xB7 vests\n\n\xE2\x97\x8B ropes\n\n\xE2\x96\xA0 maps\n";
    read_units(text);
    static const char *const items[] = {"\xE2\x80\x93 towels and sheets",
                                        "\xE2\x80\x93 slippers",
                                        "\xE2\x96\xAA The key hangs in the shed.",
                                        "\xE2\x97\xA6 oars",
                                        "\xE2\x80\xA3 sails",
                                        "\xC2\xB7 vests",
                                        "\xE2\x97\x8B ropes",
                                        "\xE2\x96\xA0 maps"};
    for (size_t i = 0; i < sizeof items / sizeof *items; i++)
        expect(text, items[i], TEXT_UNIT_ITEM, "What guests bring");
    /* A dash alone is a thought put in, and so are two in wrapped lines. */
    static const char dashes[] =
        "The older of the two boats lies at the upper jetty\n\xE2\x80\x93 it leaks, by the way "
        "\xE2\x80\x93 and is not for hire.\n\n"
        "The wardens of the lake come on each Monday of the year\n\xE2\x80\x93 two of them, as the "
        "law "
        "has it \xE2\x80\x93 to count the nests, the\nboats that lie at the jetties and all that "
        "swims"
        "\n\xE2\x80\x94 or rests \xE2\x80\x94 on the lake.\n";
    read_units(dashes);
    for (size_t i = 0; i < units.n; i++) assert_int_equal(units.v[i].kind, TEXT_UNIT_SENTENCE);
    assert_int_equal(units.n, 2);
}

static void a_sentence_below_an_entry_is_no_part_of_it(void **state) {
    (void)state;
    const char *text = "Contacts\nPorter:     Rosa Holt\nChair:      Iris Carr\n"
                       "The key of the terrace is with the porter.\n";
    read_units(text);
    expect(text, "Chair:      Iris Carr", TEXT_UNIT_ITEM, "Contacts");
    expect(text, "The key of the terrace is with the porter.", TEXT_UNIT_SENTENCE, "Contacts");
    text = "Contacts\nPorter: Rosa Holt\nChair: Iris Carr\nand her deputy Tom Reed.\n";
    read_units(text);
    expect(text, "Chair: Iris Carr\nand her deputy Tom Reed.", TEXT_UNIT_ITEM, "Contacts");
}

static void letters_and_roman_numbers_are_marks(void **state) {
    (void)state;
    const char *text = "Guests bring\n\nii) oars,\niii) sails,\nb) vests, and\nXIV) maps.\n";
    static const char *const items[] = {"ii) oars,", "iii) sails,", "b) vests, and", "XIV) maps."};
    read_units(text);
    for (size_t i = 0; i < sizeof items / sizeof *items; i++)
        expect(text, items[i], TEXT_UNIT_ITEM, "Guests bring");
}

/* Entries without bullets: what does not fit on the line of one is indented on the next line. */
static void entries_may_have_a_hanging_indent(void **state) {
    (void)state;
    const char *text = "TURN TO\n"
                       "  Mrs. Norma Tully, social services: help at home, aids, rehabilitation\n"
                       "      after your stay. Room B 112, weekdays 9 to 12.\n"
                       "  Mr. Declan Roe, patients' advocate: complaints and praise. Room B 114,\n"
                       "      Wednesdays 14 to 16.\n"
                       "  Rev. Anne Sotherby: chaplaincy. The chapel is always open.\n\nThe end.";
    read_units(text);
    expect(text,
           "Mr. Declan Roe, patients' advocate: complaints and praise. Room B 114,\n"
           "      Wednesdays 14 to 16.",
           TEXT_UNIT_ITEM, "TURN TO");
    expect(text, "Rev. Anne Sotherby: chaplaincy. The chapel is always open.", TEXT_UNIT_ITEM,
           "TURN TO");
    /* a paragraph, of which a line happens to begin with a capital, and one whose lines end on purpose */
    text = "The boats lie at the pier of the old harbour until the end of the season in\n"
           "October. Then they are brought to the hall, where they stay dry in winter.\n\n"
           "Dear Ann,\n    thank you for the boats.\nYours, Bo";
    read_units(text);
    for (size_t i = 0; i < units.n; i++) assert_int_not_equal(units.v[i].kind, TEXT_UNIT_ITEM);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_item_in_an_item_hangs_on_that_one),
        cmocka_unit_test(an_open_sentence_leads_in_the_items_below),
        cmocka_unit_test(a_step_may_have_further_paragraphs),
        cmocka_unit_test(what_word_and_mails_set_are_bullets_too),
        cmocka_unit_test(a_sentence_below_an_entry_is_no_part_of_it),
        cmocka_unit_test(entries_may_have_a_hanging_indent),
        cmocka_unit_test(letters_and_roman_numbers_are_marks),
    };
    return cmocka_run_group_tests(tests, NULL, forget);
}
