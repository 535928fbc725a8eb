/* What formats of numbers make of numbers: currencies and units beside them, postcodes, dates; what cannot be told is left
 * out. And a sheet that has such. */
#include "tests/data/extract/office_here.h"

#include "data/extract/number_format.h"

static void shows(const char *code, const char *number, const char *text) {
    number_format f;
    char out[NUMBER_SHOWN];
    number_format_read(&f, code);
    assert_true(number_format_show(&f, number, false, out));
    if (strcmp(out, text) != 0) fail_msg("%s of %s: %s", code, number, out);
}

static void what_stands_beside_a_number_is_shown(void **state) {
    (void)state;
    shows("#,##0.00\\ \"\u20AC\"", "1234.5", "1234.50 \u20AC");
    shows("[$\u20AC-2]\\ #,##0.00", "1234.567", "\u20AC 1234.567");
    shows("\"$\"#,##0.00_);[Red]\\(\"$\"#,##0.00\\)", "-3", "-$3.00");
    shows("_-* #,##0\\ [$CHF-807]_-;-* #,##0\\ [$CHF-807]_-", "50", "50 CHF");
    shows("\u00A3#,##0", "50", "\u00A350");
    shows("0.0\" kg\"", "7", "7.0 kg");
    shows("0\u00B0", "90", "90\u00B0");
    shows("\"Q\"0", "3", "Q3");
    shows("General\" pcs\"", "12", "12 pcs");
    shows("[Blue]+0;-0", "5", "+5");
    shows("[Blue]+0;-0", "-5", "-5");
    shows("0.00", "7", "7");
}

static void what_cannot_be_told_is_left_out(void **state) {
    (void)state;
    static const char *const codes[] = {"General",
                                        "0,\"k\"",
                                        "0.0,,\"M\"",
                                        "0,.0\"k\"",
                                        "[>999]0\" many\";0",
                                        "(000) 000-0000",
                                        "# ?/?",
                                        "0.00E+00",
                                        "@",
                                        "\"text\"",
                                        "0\"000\"",
                                        "0\" unclosed",
                                        "0[$",
                                        "\\",
                                        "_",
                                        "0\\",
                                        "",
                                        ";;;",
                                        "0\" one that is longer than what there is room for\"",
                                        "#,##0",
                                        "x0",
                                        "[$]0"};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) shows(codes[i], "1234.5", "1234.5");
}

static void numbers_have_all_their_digits(void **state) {
    (void)state;
    shows("00000", "1067", "01067");
    shows("00000", "-7", "-00007");
    shows("00000", "7.5", "7.5");
    shows("\"A-\"000", "7", "A-007");
    shows("000000000000000000000", "7", "7"); /* more than there are */
    shows("General", "1234567890123456", "1234567890123456");
    shows("General", "1.2345678901234501E+15", "1234567890123450");
    shows("General", "1.0000000000000001E-5", "0.00001");
    shows("General", "-2.5E-7", "-0.00000025");
    shows("General", "1E+300", "1e+300");
    shows("0\" kg\"", "1E-300", "1e-300");
    shows("0.1%", "0.125", "12.5%");
    number_format f = {0};
    char out[NUMBER_SHOWN];
    assert_int_equal(number_format_show(&f, "twelve", false, out), 0);
    assert_int_equal(number_format_show(&f, "", false, out), 0);
    assert_int_equal(number_format_show(&f, "inf", false, out), 0);
}

static void dates_and_times_are_shown(void **state) {
    (void)state;
    shows("yyyy\\-mm\\-dd", "45414", "2024-05-02");
    shows("d. mmm yyyy\\ hh:mm", "45414.75", "2024-05-02 18:00");
    shows("[h]:mm", "1.5", "36:00");
    shows("mmmm", "45414", "May");
    assert_int_equal(number_format_builtin(14), NUMBER_DATE);
    assert_int_equal(number_format_builtin(4), NUMBER_PLAIN);
}

#define FORMAT(id, code) "<numFmt numFmtId='" id "' formatCode='" code "'/>"

/* "CHF 5" is a number though a letter begins it: the row above it names the columns. */
static void a_sheet_says_currencies(void **state) {
    (void)state;
    expect(
        (part[]){
            {"_rels/.rels", RELS(REL("r", "officeDocument", "xl/workbook.xml"))},
            {"xl/_rels/workbook.xml.rels",
             RELS(REL("a", "worksheet", "s.xml") REL("b", "styles", "styles.xml"))},
            {"xl/workbook.xml",
             "<workbook xmlns:r='r'><sheets><sheet name='Prices' r:id='a'/></sheets></workbook>"},
            {"xl/styles.xml",
             "<styleSheet><numFmts>" FORMAT("164", "[$CHF]\\ 0.00")
                 FORMAT("165", "00000") "</numFmts><cellXfs><xf numFmtId='0'/><xf numFmtId='164'/>"
                                        "<xf numFmtId='165'/></cellXfs></styleSheet>"},
            {"xl/s.xml",
             "<worksheet><sheetData><row><c t='str'><v>Item</v></c><c "
             "t='str'><v>Price</v></c></row>"
             "<row><c t='str'><v>Tea</v></c><c s='1'><v>5</v></c></row><row><c t='str'><v>Post</v>"
             "</c><c s='2'><v>1067</v></c></row></sheetData></worksheet>"},
            {0}},
        "Prices\n\nItem | Price\n\nItem: Tea; Price: CHF 5.00\n\nItem: Post; Price: 01067");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_stands_beside_a_number_is_shown),
        cmocka_unit_test(what_cannot_be_told_is_left_out),
        cmocka_unit_test(numbers_have_all_their_digits),
        cmocka_unit_test(dates_and_times_are_shown),
        cmocka_unit_test(a_sheet_says_currencies),
    };
    return cmocka_run_group_tests(tests, formats_here, NULL);
}
