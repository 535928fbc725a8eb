/* XML that is read as a document: where its words part, and its tables. */
#include "tests/data/extract/formats_here.h"

#define ARTICLE(inside) "<?xml version='1.0'?>\n<article>" inside "</article>"

static void blocks_within_a_paragraph_stand_apart(void **state) {
    (void)state;
    static const struct {
        const char *xml, *text;
    } cases[] = {
        {ARTICLE("<para>Steps:<itemizedlist><listitem><para>Open</para></listitem><listitem>"
                 "<para>Close</para></listitem></itemizedlist></para>"),
         "Steps: Open Close"},
        {ARTICLE("<para>cells<footnote><para>A note.</para></footnote> per line</para>"),
         "cells A note. per line"},
        {ARTICLE("<para>See above<footnote><para>A note</para></footnote>, or below</para>"),
         "See above A note, or below"},
        {ARTICLE("<para>Use<sbr/>it <emphasis>un</emphasis>til noon</para>"), "Use it until noon"},
        {ARTICLE("<para>Choose <menuchoice><guimenu>File</guimenu><guimenuitem>Save</guimenuitem>"
                 "</menuchoice>.</para>"),
         "Choose File Save."},
        {ARTICLE("<para>a lock<indexterm><primary>doors</primary></indexterm> opens</para>"),
         "a lock opens"},
        {ARTICLE("<programlisting>a<co/>b\n  c</programlisting><para>End</para>"),
         "ab\n  c\n\nEnd"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        read_one(cases[i].xml, "xml", cases[i].text);
}

static void raised_numbers_stand_apart(void **state) {
    (void)state;
    read_one(
        ARTICLE("<para>10<superscript>6</superscript> cells, the 1<superscript>st</superscript> "
                "of 45<xref linkend='n3'><superscript>3</superscript></xref></para>"),
        "xml", "10^6 cells, the 1st of 45 3");
}

#define ROW(a, b, c) "<row><entry>" a "</entry><entry>" b "</entry><entry>" c "</entry></row>"

static void rows_of_a_table_are_whole(void **state) {
    (void)state;
    read_one(ARTICLE("<para>Times</para><table><title>Boats</title><tgroup cols='3'>"
                     "<thead>" ROW("Day", "Hour", "Pier") "</thead><tbody>" ROW(
                         "Monday", "8",
                         "<para>A</para><para>or B</para>") "\n" ROW("Friday", "9",
                                                                     "C") "</tbody></tgroup></"
                                                                          "table><para>End</para>"),
             "xml",
             "Times\n\nBoats\n\nDay | Hour | Pier\n\nDay: Monday; Hour: 8; Pier: A or B\n\n"
             "Day: Friday; Hour: 9; Pier: C\n\nEnd");
    /* Cells over rows and columns, as DocBook and as pages say it. */
    read_one(
        ARTICLE("<para>Times</para><informaltable><tgroup cols='3'><colspec colname='a'/>"
                "<colspec colname='b'/><colspec colname='c'/><thead>" ROW(
                    "Day", "Hour",
                    "Pier") "</thead><tbody><row><entry morerows='1'>Monday</entry><entry>8</entry>"
                            "<entry>A</entry></row><row><entry namest='b' "
                            "nameend='c'>none</entry></row>"
                            "</tbody></tgroup></informaltable>"),
        "xml",
        "Times\n\nDay | Hour | Pier\n\nDay: Monday; Hour: 8; Pier: A\n\n"
        "Day: Monday; Hour: none; Pier: none");
    read_one(ARTICLE("<p>Times</p><table><tr><th>Day</th><th>Hour</th></tr><tr><td>Monday</td>"
                     "<td>8</td></tr></table>"),
             "xml", "Times\n\nDay | Hour\n\nDay: Monday; Hour: 8");
    /* Rows of data are none of a table. */
    read_one("<?xml version='1.0'?>\n<rows><row><entry>a</entry><n>1</n></row></rows>", "xml",
             "entry: a; n: 1");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_within_a_paragraph_stand_apart),
        cmocka_unit_test(raised_numbers_stand_apart),
        cmocka_unit_test(rows_of_a_table_are_whole),
    };
    return cmocka_run_group_tests(tests, formats_here, NULL);
}
