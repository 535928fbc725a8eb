/* unit_columns_test.c - tables whose columns stand below each other in plain text: which of them are rows, and what names
 * their columns, where something is amiss with the first line, the last cell or the width of a character. */
#include "tests/retrieval/units/units_fixture.h"

static void the_first_line_of_a_passage_has_its_indent_before_it(void **state) {
    (void)state;
    fo_err err = {0};
    const char *whole = "2. FEES\n\n     Group        Half day    Full day    Lunch\n"
                        "     Otters       EUR 210     EUR 340     EUR 62\n"
                        "     Badgers      EUR 150     EUR 245     EUR 68\n\nThe fee is due.\n";
    const char *text = strstr(whole, "Group");
    assert_ok(text_units_read(&units, text, strlen(text), (size_t)(text - whole), &err), &err);
    expect(text, "Badgers      EUR 150     EUR 245     EUR 68", TEXT_UNIT_ROW,
           "Group        Half day    Full day    Lunch");
}

static void clauses_behind_their_numbers_are_no_rows(void **state) {
    (void)state;
    const char *text = "1.1  Otters: children from 1 to 3 years, 7:30 to 15:00.\n"
                       "1.2  Badgers: children from 3 years to school, 7:30 to 16:30.\n"
                       "1.3  On Fridays both groups close at 14:00.\n"
                       "1.4  Early care is open to parents who work and show a\n     letter.\n";
    read_units(text);
    expect(text, "1.3  On Fridays both groups close at 14:00.", TEXT_UNIT_SENTENCE, "");
    expect(text, "1.4  Early care is open to parents who work and show a\n     letter.",
           TEXT_UNIT_SENTENCE, "");
    text = "1.1   1 May 2024\n1.2   3 June 2024\n1.3   4 July 2025\n"; /* versions and their days */
    read_units(text);
    expect(text, "1.2   3 June 2024", TEXT_UNIT_ROW, "");
}

static void names_above_the_middle_of_their_values_name_them(void **state) {
    (void)state;
    const char *text = "Period              Price a night   Shortest stay\n"
                       "1 April - 14 June        95 euros        3 nights\n"
                       "15 June - 31 August     150 euros        7 nights\n"
                       "Christmas               130 euros        4 nights\n";
    read_units(text);
    expect(text, "15 June - 31 August     150 euros        7 nights", TEXT_UNIT_ROW,
           "Period              Price a night   Shortest stay");
}

static void a_remark_behind_a_row_is_a_cell_of_it(void **state) {
    (void)state;
    const char *text = "Trip    Quay    Island    Lodge\n"
                       "No 1    6:40    7:05      -\n"
                       "No 3    8:10    8:35      9:00   (Sat)\n"
                       "No 5    9:50    9:55      -\n";
    read_units(text);
    expect(text, "No 3    8:10    8:35      9:00   (Sat)", TEXT_UNIT_ROW,
           "Trip    Quay    Island    Lodge");
    expect(text, "No 5    9:50    9:55      -", TEXT_UNIT_ROW, "Trip    Quay    Island    Lodge");
}

static void a_wide_character_takes_two_places(void **state) {
    (void)state;
    /* Fares: adults, children of 1.2 to 1.5 metres, bicycles; single and return. */
    const char *text = "票价（元）          单程      往返\n"
                       "成人                 28        50\n"
                       "儿童（1.2-1.5米）    14        25\n"
                       "自行车               6         12\n";
    read_units(text);
    expect(text, "儿童（1.2-1.5米）    14        25", TEXT_UNIT_ROW,
           "票价（元）          单程      往返");
    expect(text, "自行车               6         12", TEXT_UNIT_ROW,
           "票价（元）          单程      往返");
}

/* The last row alone at the top of a passage, of which no sentence ends with a letter: no term of the paragraph below. */
static void a_row_that_a_passage_begins_with_stays_one(void **state) {
    (void)state;
    fo_err err = {0};
    const char *whole = "Rifiuto | Giorno\nVetro | sabato\nSecco | lunedì\n\n"
                        "I contenitori si espongono la sera prima.\n";
    const char *text = strstr(whole, "Secco");
    assert_ok(text_units_read(&units, text, strlen(text), (size_t)(text - whole), &err), &err);
    expect(text, "Secco | lunedì", TEXT_UNIT_ROW, "");
    expect(text, "I contenitori si espongono la sera prima.", TEXT_UNIT_SENTENCE, "");
    text = "Secco | lunedì\n\nI contenitori si espongono la sera prima.\n";
    read_units(text);
    expect(text, "Secco | lunedì", TEXT_UNIT_ROW, "");
}

static void a_name_of_a_column_may_have_a_figure_behind_words(void **state) {
    (void)state;
    const char *text = "3. DOSE\n\n                      single dose    most in 24 hours\n"
                       " Adults               1 tablet       3 tablets\n"
                       " Children             half a tablet  one and a half tablets\n"
                       " People over 70       half a tablet  2 tablets\n";
    read_units(text);
    expect(text, "People over 70       half a tablet  2 tablets", TEXT_UNIT_ROW,
           "                      single dose    most in 24 hours");
    text = "Waters:\n\n            2 boats    3 huts\n Lake 1     4 boats    1 hut\n"
           " Lake 2     5 boats    9 huts\n Lake 3     6 boats    8 huts\n";
    read_units(text); /* values name nothing */
    expect(text, "Lake 2     5 boats    9 huts", TEXT_UNIT_ROW, "");
}

static void a_table_of_pairs_has_no_header(void **state) {
    (void)state;
    const char *text = "Capacity | 0.5 l\nWeight | 480 g\nColours | sand, coral\n\n"
                       "Bird | Seen\nCrane | 12\n";
    read_units(text);
    expect(text, "Weight | 480 g", TEXT_UNIT_ROW, "");
    expect(text, "Crane | 12", TEXT_UNIT_ROW, "Bird | Seen");
}

static void names_above_a_rule_begin_a_table(void **state) {
    (void)state;
    const char *text = "| Dish | Small |\n|------|-------|\n| Soup | 4 |\n| Stew | 6 |\n"
                       "| Day | Opens | Closes |\n|---|---|---|\n| Friday | 10 | 22 |\n";
    read_units(text);
    expect(text, "| Stew | 6 |", TEXT_UNIT_ROW, "| Dish | Small |");
    expect(text, "| Day | Opens | Closes |", TEXT_UNIT_HEADER, "");
    expect(text, "| Friday | 10 | 22 |", TEXT_UNIT_ROW, "| Day | Opens | Closes |");
    /* rules between rows, or between groups of them */
    const char *groups = "| Day | Cook |\n|-----|------|\n| Mon | Ana |\n| Tue | Ben |\n"
                         "|-----|------|\n| Sat | Cid |\n";
    read_units(groups);
    expect(groups, "| Sat | Cid |", TEXT_UNIT_ROW, "| Day | Cook |");
    const char *each = "| Day | Cook |\n|====|====|\n| Mon | Ana |\n|----|----|\n| Tue | Ben |\n"
                       "|----|----|\n| Sat | Cid |\n|----|----|\n";
    read_units(each);
    expect(each, "| Tue | Ben |", TEXT_UNIT_ROW, "| Day | Cook |");
    expect(each, "| Sat | Cid |", TEXT_UNIT_ROW, "| Day | Cook |");
}

static void years_may_name_columns(void **state) {
    (void)state;
    const char *text = "Item | 2023 | 2024\nRent | 1200 | 1350\n\n"
                       "| | 2025 | 2024 |\n|---|---|---|\n| Hall | 950 | 800 |\n\n"
                       "Ticket        2024    2025\nSingle        2.10    2.40\n"
                       "Return        4.00    4.60\n";
    read_units(text);
    expect(text, "Rent | 1200 | 1350", TEXT_UNIT_ROW, "Item | 2023 | 2024");
    expect(text, "| Hall | 950 | 800 |", TEXT_UNIT_ROW, "| | 2025 | 2024 |");
    expect(text, "Return        4.00    4.60", TEXT_UNIT_ROW, "Ticket        2024    2025");
    const char *values = "Founded | 1998 | 2001\nClosed | 2010 | 2015\n\n"
                         "Rent | 1990 | 2010 | 2005\nWater | 310 | 290 | 300\n\n"
                         "Built | 1998\nRooms | 12\n\n1 | 2023 | 2024\n2 | 800 | 950\n";
    read_units(values);
    expect(values, "Closed | 2010 | 2015", TEXT_UNIT_ROW, "");
    expect(values, "Water | 310 | 290 | 300", TEXT_UNIT_ROW, "");
    expect(values, "Rooms | 12", TEXT_UNIT_ROW, "");
    expect(values, "2 | 800 | 950", TEXT_UNIT_ROW, "");
}

static void names_of_columns_may_have_figures(void **state) {
    (void)state;
    const char *text = "Fahrpreise\n\n"
                       "Karte                    Erwachsene    Kinder 6-14 Jahre\n"
                       "Einzelfahrt              2,60 EUR      1,30 EUR\n"
                       "Kurzstrecke (3 Halte)    1,70 EUR      0,90 EUR\n"
                       "Tageskarte               5,80 EUR      3,00 EUR\n";
    read_units(text);
    expect(text, "Tageskarte               5,80 EUR      3,00 EUR", TEXT_UNIT_ROW,
           "Karte                    Erwachsene    Kinder 6-14 Jahre");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_line_of_a_passage_has_its_indent_before_it),
        cmocka_unit_test(clauses_behind_their_numbers_are_no_rows),
        cmocka_unit_test(names_above_the_middle_of_their_values_name_them),
        cmocka_unit_test(a_name_of_a_column_may_have_a_figure_behind_words),
        cmocka_unit_test(a_remark_behind_a_row_is_a_cell_of_it),
        cmocka_unit_test(a_wide_character_takes_two_places),
        cmocka_unit_test(a_row_that_a_passage_begins_with_stays_one),
        cmocka_unit_test(a_table_of_pairs_has_no_header),
        cmocka_unit_test(names_above_a_rule_begin_a_table),
        cmocka_unit_test(years_may_name_columns),
        cmocka_unit_test(names_of_columns_may_have_figures),
    };
    return cmocka_run_group_tests(tests, NULL, forget);
}
