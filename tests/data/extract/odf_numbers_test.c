/* odf_numbers.c, through files of OpenDocument: the numbers of lists and headings, which stand nowhere in their text. A whole file
 * with a table of contents that says them is in formats_test.c. */
#include "tests/data/extract/office_here.h"

#include "kernels/buf.h"

#define NUMBER(level, more) "<list-level-style-number level='" level "' " more "/>"
#define BULLETS(level)      "<list-level-style-bullet level='" level "' bullet-char='x'/>"
#define STYLE(name, levels) "<list-style name='" name "'>" levels "</list-style>"
#define LIST(with, items)   "<list " with ">" items "</list>"
#define ITEM(text)          "<list-item><p>" text "</p></list-item>"

static void expect_text(const char *styles, const char *body, const char *text) {
    fo_buf whole = {0};
    fo_buf_printf(&whole, "<d><automatic-styles>%s</automatic-styles>%s</d>", styles, body);
    expect((part[]){ODF_TYPE("text"), {"content.xml", whole.data}, {0}}, text);
    fo_buf_free(&whole);
}

static void items_have_the_numbers_of_their_lists(void **state) {
    (void)state;
    static const char styles[] = STYLE(
        "L1",
        NUMBER("1", "num-format='1' num-suffix='.'") NUMBER("2", "num-format='a' num-suffix=') '")
            NUMBER("3", "num-format='i' num-prefix='(' num-suffix=')' display-levels='3'"))
        STYLE("L2", NUMBER("1", "num-format='1' num-prefix='Step ' num-suffix=':' start-value='4'")
                        BULLETS("2") NUMBER("3", "num-format=''"));
    expect_text(
        styles,
        LIST(
            "style-name='L1'",
            ITEM("Report.") "<list-item><p>Wait<span>.</span></p><p>Long.</p>" LIST(
                "",
                ITEM("Sit.") "<list-item><p/></list-item>" ITEM("Stand.") LIST(
                    "",
                    ITEM(
                        "Straight."))) "</list-item><list-header><p>Then:</p></list-header>"
                                       "<list-item><p>Go.</p>" LIST(
                                           "",
                                           ITEM(
                                               "Home.")) "</list-item>") "<p>Between.</p>" LIST("st"
                                                                                                "yl"
                                                                                                "e-"
                                                                                                "na"
                                                                                                "me"
                                                                                                "='"
                                                                                                "L1"
                                                                                                "' "
                                                                                                "co"
                                                                                                "nt"
                                                                                                "in"
                                                                                                "ue"
                                                                                                "-n"
                                                                                                "um"
                                                                                                "be"
                                                                                                "ri"
                                                                                                "ng"
                                                                                                "='"
                                                                                                "tr"
                                                                                                "ue"
                                                                                                "'",
                                                                                                ITEM(
                                                                                                    "On."))
            LIST("style-name='L1'",
                 ITEM("Anew.") "<list-item start-value='9'><p>Nine.</p></list-item>" ITEM("Ten."))
                LIST("style-name='L2'",
                     ITEM("Cut.") "<list-item><p>Glue.</p>" LIST(
                         "", ITEM("thin") "<list-item>" LIST(
                                 "", ITEM("none")) "</list-item>") "</list-item>")
                    LIST("style-name='L1' continue-list='l1'",
                         "<list-item>" LIST("", ITEM("Below ten.")) "</list-item>")
                        LIST("style-name='L9'", ITEM("Of no style.")) LIST("", ITEM("Of none.")),
        "1. Report.\n2. Wait.\nLong.\na) Sit.\nc) Stand.\n(2.c.i) Straight.\nThen:\n3. Go.\na) "
        "Home.\n\n"
        "Between.\n\n4. On.\n1. Anew.\n9. Nine.\n10. Ten.\nStep 4: Cut.\nStep 5: Glue.\n"
        "\xE2\x80\xA2 thin\nnone\na) Below ten.\n\xE2\x80\xA2 Of no style.\n\xE2\x80\xA2 Of none.");
    /* A list within another one, with a style of its own, shows the numbers of both, and begins anew each time. */
    expect_text(STYLE("A", NUMBER("1", "num-format='1'"))
                    STYLE("B", NUMBER("1", "num-format='1'")
                                   NUMBER("2", "num-format='1' display-levels='2'")),
                LIST("style-name='A'",
                     ITEM("a") "<list-item><p>b</p>" LIST(
                         "style-name='B'",
                         ITEM("c") ITEM("d")) "</list-item>"
                                              "<list-item><p>e</p>" LIST("style-name='B'",
                                                                         ITEM("f")) "</list-item>"),
                "1 a\n2 b\n2.1 c\n2.2 d\n3 e\n3.1 f");
    /* In a cell; a paragraph in a frame has none of its number. */
    expect_text(styles,
                "<table name='T'><table-row><table-cell>" LIST(
                    "style-name='L1'",
                    ITEM("Key")
                        ITEM("Lock")) "</table-cell><table-cell><p>5"
                                      "</p></table-cell></table-row></table>" LIST(
                                          "style-name='L1'",
                                          "<list-item><p><frame><text-box><p>Box</p></text-box>"
                                          "</frame>Door</p></list-item>"),
                "1. Key 2. Lock | 5\n\nBox\n1. Door");
}

static void letters_and_starts_are_bounded(void **state) {
    (void)state;
    expect_text(
        STYLE("L1", NUMBER("1", "num-format='a' start-value='28'")) STYLE(
            "L2", NUMBER("1", "num-format='A' num-letter-sync='true' start-value='28'"))
            STYLE("L3", NUMBER("1", "num-format='a' start-value='999999999999' display-levels='99'")
                            NUMBER("11", "num-format='1'") NUMBER("0", "num-format='1'"))
                STYLE("L4", NUMBER("1", "num-format='I' start-value='-3'")),
        LIST("style-name='L1'", ITEM("x")) LIST("style-name='L2'", ITEM("x"))
            LIST("style-name='L3'", ITEM("x")) LIST("style-name='L4'", ITEM("x")),
        "ab x\nBB x\nbdwgn x\n0 x");
    fo_buf body = {0};
    for (int i = 0; i < 40; i++) fo_buf_str(&body, "<list style-name='L1'><list-item>");
    fo_buf_str(&body, "<p>deep</p>");
    for (int i = 0; i < 40; i++) fo_buf_str(&body, "</list-item></list>");
    expect_text(STYLE("L1", NUMBER("1", "num-format='1'")), body.data, "\xE2\x80\xA2 deep");
    fo_buf_free(&body);
}

static void headings_have_the_numbers_of_their_levels(void **state) {
    (void)state;
    static const char styles
        [] = "<d><outline-style name='Outline'><outline-level-style level='1' num-format='1'/>"
             "<outline-level-style level='2' num-format='1' display-levels='2' num-suffix='.'/>"
             "<outline-level-style level='3' num-format=''/></outline-style></d>",
  body[] =
        "<d><automatic-styles><style name='P1' list-style-name=''/></automatic-styles>"
        "<h outline-level='1'>Rules</h><h outline-level='2'>Pets</h><h outline-level='3'>Cats</h>"
        "<h outline-level='1' style-name='P1'>Foreword</h><h outline-level='2'>Boats</h>"
        "<h outline-level='1' is-list-header='true'>Part</h><h outline-level='1'>Rent</h>"
        "<h outline-level='2' restart-numbering='true' start-value='5'>Late</h><h>Deep</h></d>";
    const part parts[] = {ODF_TYPE("text"), {"styles.xml", styles}, {"content.xml", body}, {0}};
    extracted x;
    fo_err err;
    assert_ok(read_parts(&x, parts, &err), &err);
    assert_string_equal(x.text, "1 Rules\n\n1.1. Pets\n\nCats\n\nForeword\n\n1.2. "
                                "Boats\n\nPart\n\n2 Rent\n\n2.5. Late\n\n3 Deep");
    assert_string_equal(x.title, "Rules");
    extracted_deinit(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_have_the_numbers_of_their_lists),
        cmocka_unit_test(letters_and_starts_are_bounded),
        cmocka_unit_test(headings_have_the_numbers_of_their_levels),
    };
    return cmocka_run_group_tests(tests, formats_here, NULL);
}
