/* Cells of sheets, slides and open documents that stand for several: merged ones, which are said in each row and column of
 * theirs, and repeated ones; and lists of them that are made to do harm. Those of Word: word_test.c. */
#include "tests/data/extract/office_here.h"

#include "kernels/buf.h"

/* A value in all weeks of a year is that of each. */
static void repeated_values_of_sheets_stand_in_their_columns(void **state) {
    (void)state;
    const part sheet[] = {
        ODF_TYPE("spreadsheet"),
        {"content.xml",
         "<d><table name='S'><table-row><table-cell><p>Hours</p></table-cell><table-cell "
         "number-columns-repeated='20'><p>8</p></table-cell><table-cell><p>9</p></table-cell>"
         "</table-row></table></d>"},
        {0}};
    fo_buf text = {0};
    fo_buf_str(&text, "S\n\nHours");
    for (int i = 0; i < 20; i++) fo_buf_str(&text, " | 8");
    fo_buf_str(&text, " | 9");
    expect(sheet, text.data);
    fo_buf_free(&text);
    /* A small file that repeats without end is read still. */
    fo_buf many = {0};
    fo_buf_str(&many, "<d><table name='S'>");
    for (int i = 0; i < 5000; i++)
        fo_buf_str(&many, "<table-row><table-cell number-columns-repeated='1024'><p>seven"
                          "</p></table-cell></table-row>");
    fo_buf_str(&many, "</table></d>");
    extracted x;
    fo_err err;
    assert_ok(
        read_parts(&x, (part[]){ODF_TYPE("spreadsheet"), {"content.xml", many.data}, {0}}, &err),
        &err);
    extracted_deinit(&x);
    fo_buf_free(&many);
}

/* Of sheets too: what is merged is said in each row, and of names in each column. */
static void merged_cells_of_sheets_stand_in_all_their_columns(void **state) {
    (void)state;
#define T(at, text) "<c r='" at "' t='str'><v>" text "</v></c>"
#define R(n, cells) "<row r='" n "'>" cells "</row>"
#define M(ref)      "<mergeCell ref='" ref "'/>"
    const part book[] = {
        {"xl/workbook.xml",
         "<workbook xmlns:r='r'><sheets><sheet name='S' r:id='r1'/></sheets></workbook>"},
        {"xl/_rels/workbook.xml.rels", RELS(REL("r1", "worksheet", "a.xml"))},
        {"xl/a.xml",
         "<worksheet><sheetData>" R("1", T("A1", "Prices of mergeCells"))
             R("3", T("A3", "Room") T("B3", "Hire") "<c r='C3'/>" T("D3", "Seats"))
                 R("4", T("B4", "Hour") T("C4", "Day")) R("5", T("A5", "Hall") T("B5", "30")
                                                                   T("C5", "140") T("D5", "180"))
                     R("6", T("B6", "25") "<c r='C6'/><c r='D6'/>") R("8", T("A8", "Upper floor"))
                         R("9", T("A9", "Attic") T("B9", "12") T("C9", "40")
                                    T("D9", "9")) "</sheetData><mergeCells count='7'>" M("A1:D1")
                             M("A5:A6") M("A3:A4") M("B3:C3") M("D3:D4") M("B6:C6") M("D5:D7")
                                 M("A8:D8") M("A5:A4") M("XYZ1:B2") "</mergeCells></worksheet>"},
        {0}};
    extracted x;
    fo_err err;
    assert_ok(read_parts(&x, book, &err), &err);
    assert_string_equal(x.text,
                        "S\n\nPrices of mergeCells\n\nRoom | Hire Hour | Hire Day | Seats\n\n"
                        "Room: Hall; Hire Hour: 30; Hire Day: 140; Seats: 180\n\n"
                        "Room: Hall; Hire Hour: 25; Hire Day: 25; Seats: 180\n\nUpper floor\n\n"
                        "Room: Attic; Hire Hour: 12; Hire Day: 40; Seats: 9");
    assert_string_equal(extracted_place(&x, &x.blocks[2])->range, "A3:D4");
    assert_string_equal(extracted_place(&x, &x.blocks[4])->range, "A6:D6");
    extracted_deinit(&x);
    /* Remarks above a table, which are as wide: its names are below them. */
    expect(
        (part[]){
            book[0],
            book[1],
            {"xl/a.xml",
             "<worksheet><sheetData>" R("1", T("A1", "Please") T("B1", "keep")) R(
                 "2", T("A2", "Name") T("B2", "Hour") T("C2", "Day"))
                 R("3", T("A3", "Hall") T("B3", "30") T("C3", "140")) "</sheetData><mergeCells>" M(
                     "B1:C1") "</mergeCells></worksheet>"},
            {0}},
        "S\n\nPlease | keep | keep\nName | Hour | Day\n\nName: Hall; Hour: 30; Day: 140");
}

/* The first column of a table may have no name. */
static void a_row_below_an_empty_corner_is_no_header(void **state) {
    (void)state;
    static const struct {
        const char *rows, *text;
    } cases[] = {
        {R("1", T("B1", "Monday") T("C1", "Tuesday"))
             R("2", T("A2", "Ann") T("B2", "Early") T("C2", "Late"))
                 R("3", T("A3", "Bob") T("B3", "Late") T("C3", "Free")),
         "Monday | Tuesday\n\nAnn; Monday: Early; Tuesday: Late\n\nBob; Monday: Late; Tuesday: "
         "Free"},
        {R("1", T("B1", "Monday") T("C1", "Tuesday") T("D1", "Friday"))
             R("2", T("A2", "Ann") T("D2", "Late")) R("3", T("A3", "Bob") T("B3", "Late"))
                 R("4", T("A4", "Eve") T("B4", "3") T("C4", "4")),
         "Monday | Tuesday | Friday\n\nAnn; Friday: Late\n\nBob; Monday: Late\n\nEve; Monday: 3; "
         "Tuesday: 4"},
        /* One that has no name of its own; and a wider one names the columns still. */
        {R("1", T("B1", "Monday") T("C1", "Tuesday"))
             R("2", T("A2", "Ann") T("B2", "Early") T("C2", "Late"))
                 R("3", T("B3", "Late") T("C3", "Free"))
                     R("4", T("A4", "Hut") T("B4", "Beds") T("C4", "Cost") T("D4", "Phone"))
                         R("5", T("A5", "Alp") T("B5", "3")),
         "Monday | Tuesday\n\nAnn; Monday: Early; Tuesday: Late\n\nMonday: Late; Tuesday: Free\n"
         "Hut | Beds | Cost | Phone\n\nHut: Alp; Beds: 3"},
        /* Names in two rows, of which the first has gaps, and a remark, have no corner. */
        {R("1", T("B1", "Summer") T("D1", "Winter"))
             R("2", T("A2", "Hut") T("B2", "opens") T("C2", "closes") T("D2", "opens"))
                 R("3", T("A3", "Alp") T("B3", "3") T("C3", "5") T("D3", "7")),
         "Summer | Winter\nHut | opens | closes | opens\n\nHut: Alp; opens: 3; closes: 5; opens: "
         "7"},
        {R("1", T("C1", "By") T("D1", "Ann"))
             R("2", T("A2", "Hut") T("B2", "Beds") T("C2", "Cost") T("D2", "Phone"))
                 R("3", T("A3", "Alp") T("B3", "3") T("C3", "5") T("D3", "7")),
         "By | Ann\nHut | Beds | Cost | Phone\n\nHut: Alp; Beds: 3; Cost: 5; Phone: 7"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fo_buf sheet = {0}, text = {0};
        fo_buf_printf(&sheet, "<worksheet><sheetData>%s</sheetData></worksheet>", cases[i].rows);
        fo_buf_printf(&text, "S\n\n%s", cases[i].text);
        expect((part[]){{"xl/workbook.xml", "<workbook xmlns:r='r'><sheets><sheet name='S' "
                                            "r:id='r1'/></sheets></workbook>"},
                        {"xl/_rels/workbook.xml.rels", RELS(REL("r1", "worksheet", "a.xml"))},
                        {"xl/a.xml", sheet.data},
                        {0}},
               text.data);
        fo_buf_free(&sheet);
        fo_buf_free(&text);
    }
}

static void merged_cells_of_slides_stand_in_all_their_columns(void **state) {
    (void)state;
    expect(
        (part[]){{"ppt/presentation.xml",
                  "<p xmlns:r='r'><sldIdLst><sldId id='256' r:id='r1'/></sldIdLst></p>"},
                 {"ppt/_rels/presentation.xml.rels", RELS(REL("r1", "slide", "slides/slide1.xml"))},
                 {"ppt/slides/slide1.xml",
                  "<s><tbl><tr>" A_CELL(" rowSpan='2'", "Hall") A_CELL(" gridSpan='2'", "Talks")
                      A_CELL(" hMerge='1'", "") "</tr><tr>" A_CELL(" vMerge='1'", "") A_CELL(
                          "", "Morning") A_CELL("", "Evening") "</tr><tr>" A_CELL("", "Alder")
                          A_CELL("", "9:30") A_CELL("", "20:00") "</tr><tr>" A_CELL("", "Birch")
                              A_CELL(" gridSpan='2'", "closed")
                                  A_CELL(" hMerge='1'", "") "</tr></tbl></s>"},
                 {0}},
        "Hall | Talks Morning | Talks Evening\n\nHall: Alder; Talks Morning: 9:30; Talks Evening: "
        "20:00\n\nHall: Birch; Talks Morning: closed; Talks Evening: closed");
}

/* A list of merged cells without end, in which none is. */
static void lists_of_merged_cells_are_bounded(void **state) {
    (void)state;
    fo_buf sheet = {0};
    fo_buf_str(&sheet, "<worksheet><sheetData><row r='1'><c r='A1'><v>7</v></c></row></sheetData>"
                       "<mergeCells x='");
    for (int i = 0; i < 800000; i++) fo_buf_str(&sheet, "mergeCell ");
    fo_buf_str(&sheet, "'/></worksheet>");
    expect((part[]){{"xl/workbook.xml",
                     "<workbook xmlns:r='r'><sheets><sheet name='S' r:id='r1'/></sheets>"
                     "</workbook>"},
                    {"xl/_rels/workbook.xml.rels", RELS(REL("r1", "worksheet", "a.xml"))},
                    {"xl/a.xml", sheet.data},
                    {0}},
           "S\n\n7");
    fo_buf_free(&sheet);
}

#define C(text)        "<table-cell><p>" text "</p></table-cell>"
#define C2(says, text) "<table-cell " says "><p>" text "</p></table-cell>"
#define COVERED        "<covered-table-cell/>"
#define ODF_ROW(cells) "<table-row>" cells "</table-row>"

static void merged_cells_of_open_documents_stand_in_all_their_columns(void **state) {
    (void)state;
    static const char *const kinds[] = {"text", "spreadsheet"};
    for (int i = 0; i < 2; i++) {
        fo_buf type = {0}, text = {0};
        fo_buf_printf(&type, "application/vnd.oasis.opendocument.%s", kinds[i]);
        const part parts[] = {
            {"mimetype", type.data},
            {"content.xml",
             "<d><table name='T'>" ODF_ROW(
                 C2("number-rows-spanned='2'", "Room") C2("number-columns-spanned='2'", "Hire")
                     COVERED C2("number-rows-spanned='2'",
                                "Seats")) ODF_ROW(COVERED C("Hour") C("Day")
                                                      COVERED) ODF_ROW(C2("number-rows-spanned='2'",
                                                                          "Hall") C("30") C("140")
                                                                           C("180"))
                 ODF_ROW(COVERED C2(
                     "number-columns-spanned='3'",
                     "closed") "<covered-table-cell number-columns-repeated='2'/>") "</table></d>"},
            {0}};
        if (i) fo_buf_str(&text, "T\n\n");
        fo_buf_str(&text, "Room | Hire Hour | Hire Day | Seats\n\n"
                          "Room: Hall; Hire Hour: 30; Hire Day: 140; Seats: 180\n\n"
                          "Room: Hall; Hire Hour: closed; Hire Day: closed; Seats: closed");
        expect(parts, text.data);
        fo_buf_free(&type);
        fo_buf_free(&text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repeated_values_of_sheets_stand_in_their_columns),
        cmocka_unit_test(merged_cells_of_sheets_stand_in_all_their_columns),
        cmocka_unit_test(a_row_below_an_empty_corner_is_no_header),
        cmocka_unit_test(merged_cells_of_slides_stand_in_all_their_columns),
        cmocka_unit_test(lists_of_merged_cells_are_bounded),
        cmocka_unit_test(merged_cells_of_open_documents_stand_in_all_their_columns),
    };
    return cmocka_run_group_tests(tests, formats_here, NULL);
}
