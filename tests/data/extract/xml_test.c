/* XML that is read as a document: where its words part, and its tables. */
#include "tests/data/extract/formats_here.h"

#include <time.h>

#include "kernels/buf.h"

#define ARTICLE(inside) "<?xml version='1.0'?>\n<article>" inside "</article>"

static int read_as_xml(const char *bytes, size_t n, fo_err *err) {
    extracted x;
    extract_request rq = {.bytes = bytes,
                          .n = n,
                          .content_type = "application/xml",
                          .max_text_bytes = LIMIT,
                          .formats = here,
                          .n_formats = n_here};
    int rc = extract_text(&x, &rq, err);
    if (!rc) extracted_deinit(&x);
    return rc;
}

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

/* No DTD is at hand: what HTML knows is filled in, and no other reference is lost, nor one behind it. */
static void references_stay(void **state) {
    (void)state;
    static const struct {
        const char *xml, *text;
    } cases[] = {
        {ARTICLE("<para>Ahornstra&szlig;e 12, caf&eacute;</para>"), "Ahornstra\xC3\x9F"
                                                                    "e 12, caf\xC3\xA9"},
        {ARTICLE("<para>the &product; of &lt;b&gt; &amp;amp;</para>"),
         "the &product; of <b> &amp;"},
        {ARTICLE("<para role='caf&eacute; &product; &lt;'>a &lt; b &szlig;</para>"),
         "a < b \xC3\x9F"},
        {"<?xml version='1.0'?>\n<!DOCTYPE article [<!ENTITY own '&szlig; own'>]>\n"
         "<article><para>&own; &lt; &own;</para></article>",
         "&own; < &own;"},
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

/* What an error leaves of it would be taken for the whole: it is refused, as JSON and YAML are. */
static void what_is_no_xml_is_refused_with_its_line(void **state) {
    (void)state;
    static const struct {
        const char *xml, *why;
    } cases[] = {
        {"<?xml version='1.0'?>\n<a><b>one</b>\n<c>two</a>", "it is no XML at line 3: Opening and "
                                                             "ending tag mismatch"},
        {"<?xml version='1.0'?>\n<a><p>one</p>", "it is no XML at line 2: "},
        {ARTICLE("<para>one</para><!-- a -- b --><para>two</para>"),
         "it is no XML at line 2: Double hyphen within comment"},
        {"<?xml version='1.0'?>\n", "it is no XML at line 2: Start tag expected"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fo_err err = {0};
        if (read_as_xml(cases[i].xml, strlen(cases[i].xml), &err) != FO_EINVAL ||
            !strstr(err.msg, cases[i].why))
            fail_msg("%s: %s", cases[i].xml, err.msg);
    }
    /* What nobody defines is no such error: a name without its namespace, an entity of a page; nor a number as an id, nor an
     * empty line before the whole. */
    static const char *const loose[] = {
        ARTICLE("<x:b>one&nbsp;two</x:b><para y:c='d'>three</para>"),
        ARTICLE("<para xml:id='23'>one</para>"),
        "\n" ARTICLE("<para>one</para>"),
    };
    for (size_t i = 0; i < sizeof loose / sizeof *loose; i++) {
        fo_err err = {0};
        assert_ok(read_as_xml(loose[i], strlen(loose[i]), &err), &err);
    }
}

/* libxml2 hands each error on with a copy of the comment that it stands in. */
static void errors_within_a_comment_take_no_square(void **state) {
    (void)state;
    fo_buf b = {0};
    fo_err err = {0};
    fo_buf_str(&b, "<?xml version='1.0'?>\n<a><!-- ");
    for (int i = 0; i < 1 << 16; i++) fo_buf_str(&b, "--x");
    fo_buf_str(&b, " --></a>");
    const clock_t began = clock();
    assert_int_equal(read_as_xml(b.data, b.len, &err), FO_EINVAL);
    const double ms = (double)(clock() - began) * 1e3 / CLOCKS_PER_SEC;
    if (ms > 2000) fail_msg("%.0f ms for %zu bytes", ms, b.len);
    fo_buf_free(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_within_a_paragraph_stand_apart),
        cmocka_unit_test(references_stay),
        cmocka_unit_test(raised_numbers_stand_apart),
        cmocka_unit_test(rows_of_a_table_are_whole),
        cmocka_unit_test(what_is_no_xml_is_refused_with_its_line),
        cmocka_unit_test(errors_within_a_comment_take_no_square),
    };
    return cmocka_run_group_tests(tests, formats_here, NULL);
}
