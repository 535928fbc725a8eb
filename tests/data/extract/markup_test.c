/* Text with marks, small cases of each format: AsciiDoc, Org and reStructuredText. Their tables stand as their authors see
 * them, whatever goes over rows and columns; whole files are in formats_test.c. */
#include "tests/data/extract/formats_here.h"

#define ADOC_TABLE(rows) "|===\n" rows "|===\n"

static void figures_before_a_bar_are_the_text_of_a_cell(void **state) {
    (void)state;
    read_named("a.adoc", ADOC_TABLE("| Part| Stock| Price\n\n| Bolt| 12| 34\n| Size 3.5| 4| 5\n"),
               "asciidoc",
               "Part | Stock | Price\n\nPart: Bolt; Stock: 12; Price: 34\n\n"
               "Part: Size 3.5; Stock: 4; Price: 5");
    /* What says how a cell looks is none, and a sign without a number says nothing. */
    read_named("a.adoc", ADOC_TABLE("|Part |Stock |Price\n\n|C++| 7 ^.>s|8\n|B+ a|9 >|10\n"),
               "asciidoc",
               "Part | Stock | Price\n\nPart: C++; Stock: 7; Price: 8\n\nPart: B+; Stock: 9; "
               "Price: 10");
}

static void cells_of_asciidoc_go_over_rows_and_columns(void **state) {
    (void)state;
    read_named("a.adoc",
               ADOC_TABLE("|Kind |Name |Price\n\n.2+|Fruit |Apple |3\n|Pear |4\n|Nut |Hazel |5\n"),
               "asciidoc",
               "Kind | Name | Price\n\nKind: Fruit; Name: Apple; Price: 3\n\n"
               "Kind: Fruit; Name: Pear; Price: 4\n\nKind: Nut; Name: Hazel; Price: 5");
    read_named("a.adoc", ADOC_TABLE("|Day |Early |Late\n\n|Monday 2+|closed\n2*|same |b\n"),
               "asciidoc",
               "Day | Early | Late\n\nDay: Monday; Early: closed; Late: closed\n\n"
               "Day: same; Early: same; Late: b");
    /* The last column goes on; then a row that is covered whole. */
    read_named("a.adoc",
               "[cols=\"1,1,1\",options=\"header\"]\n" ADOC_TABLE(
                   "|Day |Crew |Pier\n|Monday |Ann .2+|A\n|Tuesday |Ben\n"
                   ".2+|Friday .2+|Cy .2+|B\n|Sunday |Di |C\n"),
               "asciidoc",
               "Day | Crew | Pier\n\nDay: Monday; Crew: Ann; Pier: A\n\nDay: Tuesday; Crew: Ben; "
               "Pier: A\n\nDay: Friday; Crew: Cy; Pier: B\n\nDay: Sunday; Crew: Di; Pier: C");
}

static void raised_figures_of_asciidoc_stand_apart(void **state) {
    (void)state;
    read_named("a.adoc", "It holds 10^6^ cells, *10*^^-3^^ of them red, on the 1^st^ of CO~2~.\n",
               "asciidoc", "It holds 10^6 cells, 10^-3 of them red, on the 1st of CO2.");
}

static void a_comment_of_org_is_written_in_capitals(void **state) {
    (void)state;
    read_named("a.org",
               "* Comment period\nIt ends on 5 May.\n* COMMENT Draft\nNobody reads this.\n"
               "* COMMENTARY\nSome do.\n* COMMENT\nGone.\n",
               "org", "Comment period\n\nIt ends on 5 May.\n\nCOMMENTARY\n\nSome do.");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_before_a_bar_are_the_text_of_a_cell),
        cmocka_unit_test(cells_of_asciidoc_go_over_rows_and_columns),
        cmocka_unit_test(raised_figures_of_asciidoc_stand_apart),
        cmocka_unit_test(a_comment_of_org_is_written_in_capitals),
    };
    return cmocka_run_group_tests(tests, formats_here, NULL);
}
