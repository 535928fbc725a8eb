/* Rich Text, small cases: what is raised, deleted, hidden or said in a footnote, and the numbers of items. Whole files are in
 * formats_test.c, paragraphs, characters and tables in office_test.c. */
#include "tests/data/extract/formats_here.h"

#include "kernels/buf.h"

#define RTF(text) "{\\rtf1\\ansi\\ansicpg1252\\pard " text "}"

static void raised_figures_stand_apart(void **state) {
    (void)state;
    read_one(RTF("It holds 10{\\super 6} cells, 10\\super\\u8722?3\\nosupersub  of them red, "
                 "2{\\up6 {\\b 8}9}, on the 1{\\super st} of 10{\\sub 2}.\\par{\\super 4}5\\par"),
             "rtf",
             "It holds 10^6 cells, 10^\xE2\x88\x92"
             "3 of them red, 2^89, on the 1st of 102.\n\n45");
}

static void what_is_deleted_or_hidden_is_no_text(void **state) {
    (void)state;
    read_one(RTF("The fee is {\\deleted 100}{\\revised 200} euros{\\v hidden}, \\v not\\v0  paid"
                 "{\\deleted{\\footnote\\pard\\plain Old.}}.{\\xe {\\v fee}}{\\xe fee\\:paid}"
                 "{\\tc The fee}{\\tcn The fee}\\par"),
             "rtf", "The fee is 200 euros, paid.");
    /* A cell ends where its end is deleted, and one that is empty has its column. */
    read_one(RTF("\\intbl Day\\cell Crew\\cell Pier\\cell\\row\\intbl 1 May\\cell{\\deleted "
                 "Ann\\cell} 3\\cell\\row\\pard"),
             "rtf", "Day | Crew | Pier\n\nDay: 1 May; Pier: 3");
}

static void footnotes_stand_in_their_sentence(void **state) {
    (void)state;
    read_one(RTF("\\outlinelevel0 Title{\\footnote\\pard\\plain\\ls1\\outlinelevel3 Of 2024.\\par}"
                 "\\par\\pard The ferry{\\super\\chftn{\\*\\footnote\\pard\\plain{\\super\\chftn} "
                 "See the\\par timetable.\\par}} leaves at 8{\\footnote }.\\par"),
             "rtf", "Title (Of 2024.)\n\nThe ferry (See the timetable.) leaves at 8.");
    extracted x;
    fo_err err = {0};
    const char *item = RTF("\\ls1 Rope{\\footnote\\pard Of hemp.}\\par");
    extract_request rq = {.bytes = item,
                          .n = strlen(item),
                          .max_text_bytes = LIMIT,
                          .formats = here,
                          .n_formats = n_here};
    assert_ok(extract_text(&x, &rq, &err), &err);
    assert_string_equal(x.text, "Rope (Of hemp.)");
    assert_int_equal(x.blocks[0].kind, TEXT_LIST_ITEM);
    extracted_deinit(&x);
    read_one(RTF("\\intbl Day\\cell Crew\\cell\\row\\intbl Monday{\\footnote\\pard\\intbl Not "
                 "in\\par May.\\par}\\cell 3\\cell\\row\\pard End\\par"),
             "rtf", "Day | Crew\nMonday (Not in May.) | 3\n\nEnd");
    /* In what is passed over there is none. */
    read_one(RTF("{\\header{\\footnote\\pard A.\\par}}B\\par{\\v C{\\footnote\\plain D\\par}}E"),
             "rtf", "B\n\nE");
}

static void items_have_their_numbers(void **state) {
    (void)state;
    read_one(
        RTF("{\\listtext\\pard\\plain 1.\\tab}\\pard\\ls1 Open the valve.\\par"
            "{\\listtext\\pard\\plain 2.\\tab}\\pard\\ls1 Wait.\\par"
            "{\\pntext\\f0 (b)\\tab}\\pard Close it.\\par"
            "{\\listtext\\pard\\f3\\'b7\\tab}\\pard\\ls2 Rope\\par"
            "{\\listtext\\pard\\f4 o\\tab}\\pard\\ls2 Sail\\par"
            "{\\listtext\\pard 3.\\tab}\\par{\\listtext 1.2\\tab}\\pard\\outlinelevel1 Pier"
            "\\par\\pard{\\listtext\\pard 1.\\tab}\\pard\\intbl\\ls1 Ann\\par{\\listtext\\pard "
            "2.\\tab}Ben\\cell 3\\cell\\row\\pard End\\par"),
        "rtf",
        "1. Open the valve.\n2. Wait.\n(b) Close it.\nRope\nSail\n\n1.2 Pier\n\n1. Ann 2. Ben "
        "| 3\n\nEnd");
}

/* Groups may stand 511 deep within each other; what stands deeper is not read, and that is said. */
static void what_is_too_deep_is_told(void **state) {
    (void)state;
    static const struct {
        int deep;
        const char *text;
    } cases[] = {
        {500, "Open it. Wait. Close it."},
        {600,
         "Open it. Close it.\n\n(Groups of this text are too deep within each other; what stands "
         "in them was not read.)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fo_buf rtf = {0};
        fo_buf_str(&rtf, "{\\rtf1\\ansi Open it. ");
        for (int k = 0; k < cases[i].deep; k++) fo_buf_str(&rtf, "{\\b ");
        fo_buf_str(&rtf, "Wait. ");
        for (int k = 0; k < cases[i].deep; k++) fo_buf_str(&rtf, "}");
        fo_buf_str(&rtf, "Close it.\\par{\\*\\x ");
        for (int k = 0; k < 600; k++) fo_buf_str(&rtf, "{x");
        read_one(rtf.data, "rtf",
                 cases[i].text); /* of what is passed over anyway nothing is said */
        fo_buf_free(&rtf);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(raised_figures_stand_apart),
        cmocka_unit_test(what_is_deleted_or_hidden_is_no_text),
        cmocka_unit_test(footnotes_stand_in_their_sentence),
        cmocka_unit_test(items_have_their_numbers),
        cmocka_unit_test(what_is_too_deep_is_told),
    };
    return cmocka_run_group_tests(tests, formats_here, NULL);
}
