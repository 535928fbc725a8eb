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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_line_of_a_passage_has_its_indent_before_it),
        cmocka_unit_test(clauses_behind_their_numbers_are_no_rows),
        cmocka_unit_test(names_above_the_middle_of_their_values_name_them),
        cmocka_unit_test(a_name_of_a_column_may_have_a_figure_behind_words),
        cmocka_unit_test(a_remark_behind_a_row_is_a_cell_of_it),
        cmocka_unit_test(a_wide_character_takes_two_places),
        cmocka_unit_test(a_row_that_a_passage_begins_with_stays_one),
    };
    return cmocka_run_group_tests(tests, NULL, forget);
}
