/* Text with marks, small cases of each format: AsciiDoc, Org and reStructuredText. Their tables stand as their authors see
 * them, whatever goes over rows and columns; whole files are in formats_test.c. */
#include "tests/data/extract/formats_here.h"

#include "kernels/buf.h"

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

static void raised_figures_of_restructured_text_stand_apart(void **state) {
    (void)state;
    read_named("a.rst",
               "It holds 10\\ :sup:`6` cells, 10\\ `-3`:sup: of them red, 2\\ "
               ":superscript:`8`, on the 1\\ :sup:`st` of H\\ :sub:`2`\\ O, 5\\ :math:`7`.\n",
               "rst", "It holds 10^6 cells, 10^-3 of them red, 2^8, on the 1st of H2O, 57.");
}

/* What stands behind blanks is in the column below which it stands. */
static void rows_between_rules_go_on_in_their_columns(void **state) {
    (void)state;
    static const char *const margins[] = {"", "  "};
    for (int i = 0; i < 2; i++) {
        fo_buf text = {0};
        const char *const lines[] = {"=====  ===========  =====",      "Name   Words        Day",
                                     "=====  ===========  =====",      "A      text one     Monday",
                                     "       continues    or Tuesday", "B      b",
                                     "=====  ===========  ====="};
        if (i) fo_buf_str(&text, "As follows\n\n");
        for (size_t k = 0; k < sizeof lines / sizeof *lines; k++)
            fo_buf_printf(&text, "%s%s\n", margins[i], lines[k]);
        fo_buf want = {0};
        fo_buf_printf(&want,
                      "%sName | Words | Day\n\n"
                      "Name: A; Words: text one continues; Day: Monday or Tuesday\n\n"
                      "Name: B; Words: b",
                      i ? "As follows\n\n" : "");
        read_named("a.rst", text.data, "rst", want.data);
        fo_buf_free(&text);
        fo_buf_free(&want);
    }
}

static void cells_between_rules_go_over_the_columns_of_the_dashes_below_them(void **state) {
    (void)state;
    read_named(
        "a.rst",
        "=====  =====  ======\n   Inputs     Output\n------------  ------\n  A      B    A or B\n"
        "=====  =====  ======\nFalse  False  False\nTrue   False  True\n=====  =====  ======\n",
        "rst",
        "Inputs A | Inputs B | Output A or B\n\n"
        "Inputs A: False; Inputs B: False; Output A or B: False\n\n"
        "Inputs A: True; Inputs B: False; Output A or B: True");
    /* Names with figures, of two lines; a cell among the values that goes over two columns, in a table that is indented. */
    read_named("a.rst",
               "As follows:\n\n  ====  ====  ====  ====\n  Room  Hire in     Seats\n        "
               "\xC3\xA4 2024\n"
               "  ----  ----------  ----\n  \\     Hour  Day   in all\n  ====  ====  ====  ====\n  "
               "Hall  30    140 "
               "  180\n  Shed  closed for  20\n        a while\n  ----  ----------  ----\n  Barn  "
               "20    90    60\n"
               "  ====  ====  ====  ====\n\nAfter.\n",
               "rst",
               "As follows:\n\nRoom | Hire in \xC3\xA4 2024 Hour | Hire in \xC3\xA4 2024 Day | "
               "Seats in all\n\n"
               "Room: Hall; Hire in \xC3\xA4 2024 Hour: 30; Hire in \xC3\xA4 2024 Day: 140; Seats "
               "in all: 180\n\n"
               "Room: Shed; Hire in \xC3\xA4 2024 Hour: closed for a while; Hire in \xC3\xA4 2024 "
               "Day: closed "
               "for a while; Seats in all: 20\n\n"
               "Room: Barn; Hire in \xC3\xA4 2024 Hour: 20; Hire in \xC3\xA4 2024 Day: 90; Seats "
               "in all: 60\n\n"
               "After.");
    /* No header; the last rule has dashes of its own; a row without a first cell. */
    read_named("a.rst",
               "====  ====  ===\nBolt  4     7\n..    5     8\nNut   none\n====  =========\n",
               "rst", "Bolt | 4 | 7\n5 | 8\nNut | none | none");
}

static void a_list_in_a_cell_begins_no_cell(void **state) {
    (void)state;
    read_named("a.rst",
               ".. list-table::\n   :header-rows: 1\n\n   * - Task\n     - Steps\n     - Days\n"
               "   * - Clean\n     - Take:\n\n       - soap\n       - water\n\n       * - twice\n"
               "     - 3\n   *  -  Dry\n      -  - hang\n         - wait\n      -\n",
               "rst",
               "Task | Steps | Days\n\nTask: Clean; Steps: Take: - soap - water * - twice; Days: 3"
               "\n\nTask: Dry; Steps: - hang - wait");
}

static void values_of_a_csv_table_are_parted_as_it_says(void **state) {
    (void)state;
    read_named("a.rst",
               ".. csv-table::\n   :header: Name; \"Price; net\"\n   :delim: ;\n\n"
               "   Tea, green; 3,50\n   \"a;b\";4\n",
               "rst",
               "Name | Price; net\n\nName: Tea, green; Price; net: 3,50\n\n"
               "Name: a;b; Price; net: 4");
    read_named("a.rst",
               ".. csv-table::\n   :header: Name, Price, Day\n   :delim: tab\n\n"
               "   Tea\t3,50\tMay\n   \t4\tJune\n",
               "rst",
               "Name | Price | Day\n\nName: Tea; Price: 3,50; Day: May\n\n"
               "Price: 4; Day: June");
    read_named("a.rst",
               ".. csv-table::\n   :delim: space\n   :header-rows: 1\n\n   Name Price\n"
               "   \"Green tea\" 3,50\n",
               "rst", "Name | Price\n\nName: Green tea; Price: 3,50");
}

static void cells_of_a_grid_go_over_rows_and_columns(void **state) {
    (void)state;
    read_named("a.rst",
               "+-------+-------+-------+\n| Kind  | Name  | Price |\n+=======+=======+=======+\n"
               "| Fruit | Apple | 3     |\n| of    +-------+-------+\n| all   | Pear  | 4     |\n"
               "+ sorts +-------+-------+\n| here  | Plum  | 5     |\n+-------+-------+-------+\n"
               "| Nut   | none          |\n+-------+---------------+\n",
               "rst",
               "Kind | Name | Price\n\nKind: Fruit of all sorts here; Name: Apple; Price: 3\n\n"
               "Kind: Fruit of all sorts here; Name: Pear; Price: 4\n\n"
               "Kind: Fruit of all sorts here; Name: Plum; Price: 5\n\n"
               "Kind: Nut; Name: none; Price: none");
    /* Over rows and columns at once; in the middle; names in two rows. */
    read_named("a.rst",
               "+------+-------------+------+\n| Room | Hire        | Seat |\n"
               "|      +------+------+      |\n|      | Hour | Day  |      |\n"
               "+======+======+======+======+\n| Hall | 30   | 140  | 180  |\n"
               "+------+------+------+------+\n| Shed | closed      | 20   |\n"
               "+------+ for a while +------+\n| Barn |             | 60   |\n"
               "+------+-------------+------+\n",
               "rst",
               "Room | Hire Hour | Hire Day | Seat\n\n"
               "Room: Hall; Hire Hour: 30; Hire Day: 140; Seat: 180\n\n"
               "Room: Shed; Hire Hour: closed for a while; Hire Day: closed for a while; Seat: 20"
               "\n\nRoom: Barn; Hire Hour: closed for a while; Hire Day: closed for a while; "
               "Seat: 60");
    /* A rule of dashes within a cell ends none. */
    read_named("a.rst",
               "+------+------+\n| A    | B    |\n+======+======+\n| ---- | \xC3\xA4 -- |\n"
               "| 1    | 2    |\n+------+------+\n",
               "rst", "A | B\n\nA: ---- 1; B: \xC3\xA4 -- 2");
}

static void a_comment_of_org_is_written_in_capitals(void **state) {
    (void)state;
    read_named("a.org",
               "* Comment period\nIt ends on 5 May.\n* COMMENT Draft\nNobody reads this.\n"
               "* COMMENTARY\nSome do.\n* COMMENT\nGone.\n",
               "org", "Comment period\n\nIt ends on 5 May.\n\nCOMMENTARY\n\nSome do.");
}

static void notes_without_a_number_of_their_own_leave_no_mark(void **state) {
    (void)state;
    read_named("a.rst",
               "Upgrades are mandatory [#]_. Ask us [#more-1]_ or [1]_\n\nList [#] of all.\n\n"
               ".. [#] Not with a package.\n.. [#more-1] By mail.\n.. [1] By post.\n",
               "rst",
               "Upgrades are mandatory. Ask us or [1]\n\nList [#] of all.\n\n"
               "Not with a package.\n\nBy mail.\n\n[1] By post.");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_before_a_bar_are_the_text_of_a_cell),
        cmocka_unit_test(notes_without_a_number_of_their_own_leave_no_mark),
        cmocka_unit_test(cells_of_asciidoc_go_over_rows_and_columns),
        cmocka_unit_test(raised_figures_of_asciidoc_stand_apart),
        cmocka_unit_test(raised_figures_of_restructured_text_stand_apart),
        cmocka_unit_test(rows_between_rules_go_on_in_their_columns),
        cmocka_unit_test(cells_between_rules_go_over_the_columns_of_the_dashes_below_them),
        cmocka_unit_test(a_list_in_a_cell_begins_no_cell),
        cmocka_unit_test(values_of_a_csv_table_are_parted_as_it_says),
        cmocka_unit_test(cells_of_a_grid_go_over_rows_and_columns),
        cmocka_unit_test(a_comment_of_org_is_written_in_capitals),
    };
    return cmocka_run_group_tests(tests, formats_here, NULL);
}
