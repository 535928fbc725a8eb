/* Office files put together here: what the samples of other programs do not have. Notes, headers that say
 * that they are, formats of numbers, order of slides and chapters; and files made to do harm: bombs of
 * entities and of zeros, passwords, parts that are missing. */
#include "tests/data/extract/office_here.h"

#include "kernels/buf.h"
#include "kernels/utf8.h"

static void workbooks_show_dates_shares_and_shared_strings(void **state) {
    (void)state;
    expect(
        (part[]){
            {"xl/workbook.xml",
             "<workbook xmlns:r='r'><sheets><sheet name='Plan' r:id='r1'/><sheet name='Empty' "
             "r:id='r2'/></sheets></workbook>"},
            {"xl/_rels/workbook.xml.rels", RELS(REL("r1", "worksheet", "worksheets/a.xml")
                                                    REL("r2", "worksheet", "/xl/worksheets/b.xml")
                                                        REL("r3", "sharedStrings", "strings.xml")
                                                            REL("r4", "styles", "styles.xml"))},
            {"xl/strings.xml", "<sst><si><t>Task</t></si><si><r><t>Due "
                               "</t></r><r><t>on</t></r><rPh><t>x</t></rPh></si>"
                               "<si><t>Done</t></si></sst>"},
            {"xl/styles.xml",
             "<styleSheet><numFmts><numFmt numFmtId='170' formatCode='[$-407]d\\. mmm yyyy'/>"
             "<numFmt numFmtId='171' formatCode='\"day\" 0'/></numFmts><cellStyleXfs><xf "
             "numFmtId='9'/></cellStyleXfs><cellXfs><xf numFmtId='0'/><xf numFmtId='170'/><xf "
             "numFmtId='10'/><xf numFmtId='171'/><xf numFmtId='20'/></cellXfs></styleSheet>"},
            {"xl/worksheets/a.xml",
             "<worksheet><sheetData><row r='1'><c r='B1' t='s'><v>0</v></c><c r='C1' t='s'><v>1</v>"
             "</c><c r='D1' t='s'><v>2</v></c></row>"
             "<row r='2'><c r='B2' t='inlineStr'><is><t>Weir</t></is></c><c r='C2' "
             "s='1'><v>45292</v>"
             "</c><c r='D2' s='2'><v>0.425</v></c></row>"
             "<row r='3'><c r='B3' t='b'><v>1</v></c><c r='C3' s='4'><v>0.5625</v></c><c r='D3' "
             "s='3'>"
             "<v>0.30000000000000004</v></c></row>"
             "<row r='9'><c r='A9' t='str'><v>alone</v></c><c r='XYZ9' t='s'><v>99</v></c></row>"
             "</sheetData></worksheet>"},
            {"xl/worksheets/b.xml", "<worksheet><sheetData/></worksheet>"},
            {0}},
        "Plan\n\nTask | Due on | Done\n\nTask: Weir; Due on: 2024-01-01; Done: 42.5%\n\n"
        "Task: yes; Due on: 13:30; Done: day 0.3\n\nalone");
}

/* "m" is a month where no hours or seconds stand beside it. */
static void months_are_shown_by_their_names(void **state) {
    (void)state;
    expect(
        (part[]){
            {"xl/workbook.xml",
             "<workbook xmlns:r='r'><sheets><sheet name='Plan' r:id='r1'/></sheets></workbook>"},
            {"xl/_rels/workbook.xml.rels",
             RELS(REL("r1", "worksheet", "worksheets/a.xml") REL("r4", "styles", "styles.xml"))},
            {"xl/styles.xml",
             "<styleSheet><numFmts><numFmt numFmtId='170' formatCode='mmm'/><numFmt numFmtId='171' "
             "formatCode='[$-409]mmmm;@'/><numFmt numFmtId='172' formatCode='mmmm yyyy'/><numFmt "
             "numFmtId='173' formatCode='0.0 \"m\"'/><numFmt numFmtId='174' formatCode='0.0 "
             "m'/><numFmt numFmtId='175' formatCode='mm:ss'/></numFmts><cellXfs><xf numFmtId='0'/>"
             "<xf numFmtId='170'/><xf numFmtId='171'/><xf numFmtId='172'/><xf numFmtId='173'/><xf "
             "numFmtId='174'/><xf numFmtId='175'/></cellXfs></styleSheet>"},
            {"xl/worksheets/a.xml",
             "<worksheet><sheetData><row r='1'><c r='A1' t='str'><v>Cost</v></c><c r='B1' "
             "s='1'><v>45292</v></c><c r='C1' s='2'><v>45323</v></c></row><row r='2'><c r='A2' "
             "t='str'><v>Rent</v></c><c r='B2'><v>100</v></c><c r='C2'><v>200</v></c></row><row "
             "r='3'><c r='A3' s='3'><v>45292</v></c><c r='B3' s='4'><v>2.5</v></c><c r='C3' "
             "s='5'><v>3.5</v></c><c r='D3' s='6'><v>0.5</v></c></row></sheetData></worksheet>"},
            {0}},
        "Plan\n\nCost | January | February\n\nCost: Rent; January: 100; February: 200\n\n"
        "Cost: 2024-01-01; January: 2.5 m; February: 3.5; 12:00");
}

static void slides_are_in_order_and_have_notes(void **state) {
    (void)state;
    const part parts[] = {
        {"ppt/presentation.xml", "<p xmlns:r='r'><sldIdLst><sldId id='256' r:id='r2'/><sldId "
                                 "id='257' r:id='r1'/></sldIdLst></p>"},
        {"ppt/_rels/presentation.xml.rels",
         RELS(REL("r1", "slide", "slides/slide1.xml") REL("r2", "slide", "slides/slide2.xml"))},
        {"ppt/slides/slide1.xml",
         "<s><sp><nvPr><ph type='sldNum'/></nvPr><p><r><t>2</t></r></p></sp><sp><p><r><t>Last"
         "</t></r></p></sp></s>"},
        {"ppt/slides/slide2.xml",
         "<s><sp><nvPr><ph type='ctrTitle'/></nvPr><p><r><t>First</t></r></p></sp></s>"},
        {"ppt/slides/_rels/slide2.xml.rels", RELS(REL("r1", "notesSlide", "../notes/n.xml"))},
        {"ppt/notes/n.xml", "<n><sp><p><r><t>Speak slowly.</t></r></p></sp></n>"},
        {0}};
    extracted x;
    fo_err err;
    assert_ok(read_parts(&x, parts, &err), &err);
    assert_string_equal(x.text, "First\n\nNotes\n\nSpeak slowly.\n\nLast");
    assert_string_equal(x.title, "First");
    assert_int_equal(extracted_place(&x, &x.blocks[2])->slide, 1);
    assert_int_equal(extracted_place(&x, &x.blocks[3])->slide, 2);
    extracted_deinit(&x);
}

/* What stands in the place for a slide's points is a list, and so is what says that it has bullets. */
static void points_of_slides_are_lists(void **state) {
    (void)state;
    const part parts[] = {
        {"ppt/presentation.xml",
         "<p xmlns:r='r'><sldIdLst><sldId id='256' r:id='r1'/></sldIdLst></p>"},
        {"ppt/_rels/presentation.xml.rels", RELS(REL("r1", "slide", "slides/slide1.xml"))},
        {"ppt/slides/slide1.xml",
         "<s><sp><nvPr><ph type='title'/></nvPr><p><r><t>What it costs</t></r></p></sp>"
         "<sp><nvPr><ph idx='1'/></nvPr><p><r><t>Inverter: 6,500 euros</t></r></p><p><pPr><buNone/>"
         "</pPr><r><t>The town pays.</t></r></p><p><r><t>Scaffold: 3,200 euros</t></r></p></sp>"
         "<sp><p><r><t>A box.</t></r></p><p><pPr><buChar char='-'/></pPr><r><t>its "
         "point</t></r></p>"
         "</sp></s>"},
        {0}};
    expect(parts, "What it costs\n\n\xE2\x80\xA2 Inverter: 6,500 euros\n\nThe town pays.\n\n"
                  "\xE2\x80\xA2 Scaffold: 3,200 euros\n\nA box.\n\n\xE2\x80\xA2 its point");
    const part open[] = {
        ODF_TYPE("presentation"),
        {"content.xml", "<d><page><frame class='title'><p>What it costs</p></frame><frame "
                        "class='outline'><list><list-item><p>Inverter: 6,500 euros</p></list-item>"
                        "</list></frame></page></d>"},
        {0}};
    expect(open, "What it costs\n\n\xE2\x80\xA2 Inverter: 6,500 euros");
}

static void open_documents(void **state) {
    (void)state;
    expect(
        (part[]){
            ODF_TYPE("text"),
            {"content.xml",
             "<d><tracked-changes><p>gone</p></tracked-changes><h outline-level='2'>Boats</h>"
             "<p>Two<s c='2'/>boats<note><note-citation>1</note-citation><note-body><p>One leaks."
             "</p></note-body></note>.</p><list><list-item><p>oars</p></list-item></list>"
             "<table name='T'><table-header-rows><table-row><table-cell><p>Boat</p></table-cell>"
             "<table-cell><p>Seats</p></table-cell></table-row></table-header-rows><table-row>"
             "<table-cell><p>Heron</p></table-cell><table-cell><p>4</p></table-cell></table-row>"
             "</table></d>"},
            {0}},
        "Boats\n\nTwo boats (One leaks.).\n\n\xE2\x80\xA2 oars\n\nBoat | Seats\n\nBoat: Heron; "
        "Seats: 4");
    /* A million empty cells and rows cost nothing. */
    const part sheet[] = {
        ODF_TYPE("spreadsheet"),
        {"content.xml",
         "<d><table name='S'><table-row number-rows-repeated='1048000'><table-cell "
         "number-columns-repeated='16384'/></table-row><table-row><table-cell "
         "number-columns-repeated='2'/><table-cell number-columns-repeated='16000'><p>end</p>"
         "</table-cell></table-row></table></d>"},
        {0}};
    extracted x;
    fo_err err;
    assert_ok(read_parts(&x, sheet, &err), &err);
    assert_string_equal(x.text, "S\n\nend");
    assert_string_equal(extracted_place(&x, &x.blocks[1])->range, "C1048001");
    extracted_deinit(&x);
    refuse((part[]){ODF_TYPE("text"),
                    {"META-INF/manifest.xml", "<m><file-entry><encryption-data/></file-entry></m>"},
                    {"content.xml", "\x01garbage"},
                    {0}},
           FO_EUNSUPPORTED, "it is encrypted and asks for a password");
}

/* A power, and the number of a note, are no part of the number before them. */
static void raised_numbers_of_open_documents_stand_apart(void **state) {
    (void)state;
#define S(style, text) "<span style-name='" style "'>" text "</span>"
    expect(
        (part[]){
            ODF_TYPE("text"),
            {"content.xml",
             "<d><automatic-styles><style name='T1'><text-properties text-position='super "
             "58%'/></style><style name='T2'><text-properties text-position='33% 58%'/>"
             "</style><style name='T3'><text-properties text-position='sub 58%'/></style>"
             "<style name='T4'><text-properties text-position='-33% 58%'/></style><style "
             "name='T'><text-properties/></style></automatic-styles>"
             "<p>10" S("T1", "6") " cells, 10" S("T2", S("T", "-3")) ", 5" S("T3", "2") ", 5" S(
                 "T4",
                 "2") ", 5" S("T", "2") ", 1" S("T1",
                                                "st") ", 45" S("T1",
                                                               "<a>3"
                                                               "</a>") " in 2" S("T1",
                                                                                 "") "020</p></d>"},
            {0}},
        "10^6 cells, 10^-3, 52, 52, 52, 1st, 45 3 in 2020");
}

static void raised_numbers_of_slides_and_sheets_stand_apart(void **state) {
    (void)state;
#define RUN(props, text)  "<r><rPr" props "</rPr><t>" text "</t></r>"
#define RAISED(text)      RUN(" baseline='30000'>", text)
#define UP(text)          RUN("><vertAlign val='superscript'/>", text)
#define STRING(runs)      "<si>" runs "</si>"
#define SHARED(at, which) "<c r='" at "' t='s'><v>" which "</v></c>"
    expect(
        (part[]){{"ppt/presentation.xml",
                  "<p xmlns:r='r'><sldIdLst><sldId id='256' r:id='r1'/></sldIdLst></p>"},
                 {"ppt/_rels/presentation.xml.rels", RELS(REL("r1", "slide", "slides/slide1.xml"))},
                 {"ppt/slides/slide1.xml",
                  "<s><sp><p><r><t>10</t></r>" RAISED("6") "<r><t> cells, 10</t></r>" RAISED("-")
                      RAISED("3") RUN(" baseline='-25000'>", "2") "<r><t>, 1</t></r>" RAISED("st") "<r><t>, 45</t></r>" RUN(
                          " baseline='30000'><hlinkClick/>",
                          "3") "<r><t> m</t></r>" RAISED("2") "</p><p>" RAISED("1") "<r><t>2</"
                                                                                    "t></r></"
                                                                                    "p></sp></"
                                                                                    "s>"},
                 {0}},
        "10^6 cells, 10^-32, 1st, 45 3 m2\n\n12");
    expect(
        (part[]){{"xl/workbook.xml",
                  "<workbook xmlns:r='r'><sheets><sheet name='S' r:id='r1'/></sheets></workbook>"},
                 {"xl/_rels/workbook.xml.rels",
                  RELS(REL("r1", "worksheet", "a.xml") REL("r2", "sharedStrings", "s.xml"))},
                 {"xl/s.xml", "<sst>" STRING("<r><t>2 &#215; 10</t></r>" UP("6") RUN(">", " cells"))
                                  STRING("<t>of 7</t>") STRING(UP("2") RUN(">", "0")) "</sst>"},
                 {"xl/a.xml",
                  "<worksheet><sheetData><row r='1'>" SHARED("A1", "0") SHARED("B1", "1")
                      SHARED("C1", "2") "<c r='D1' t='inlineStr'><is><r><t>5</t></r>" UP(
                          "-3") "</is></c>"
                                "<c r='E1'><v>4</v></c></row></sheetData></worksheet>"},
                 {0}},
        "S\n\n2 \xC3\x97 10^6 cells | of 7 | 20 | 5^-3 | 4");
}

static void formulas_and_diagrams_of_slides_are_read(void **state) {
    (void)state;
#define POINT(text) "<pt><prSet/><t>\n <bodyPr/>\n <p><r><t>" text "</t></r></p></t></pt>"
    expect((part[]){{"ppt/presentation.xml",
                     "<p xmlns:r='r'><sldIdLst><sldId id='256' r:id='r1'/></sldIdLst></p>"},
                    {"ppt/_rels/presentation.xml.rels", RELS(REL("r1", "slide", "slides/a.xml"))},
                    {"ppt/slides/a.xml",
                     "<s xmlns:r='r'><sp><nvPr><ph type='title'/></nvPr><p><r><t>Doses</t></r></p>"
                     "</sp><graphicFrame><graphic><relIds r:dm='r2' r:lo='r4'/><relIds r:dm='r3'/>"
                     "<relIds r:dm='r9'/></graphic></graphicFrame><sp><p><r><t>Take "
                     "</t></r><f><num><r><t>1</t></r></num><den><r><t>2</t></r></den></f><r><t> "
                     "tablet.</t></r></p></sp></s>"},
                    {"ppt/slides/_rels/a.xml.rels",
                     RELS(REL("r2", "diagramData", "../diagrams/data1.xml")
                              REL("r3", "diagramData", "../diagrams/data2.xml")
                                  REL("r4", "diagramLayout", "../diagrams/data2.xml")
                                      REL("r5", "notesSlide", "../n.xml"))},
                    {"ppt/diagrams/data1.xml", "<m><ptLst>" POINT("Weigh the child") POINT("")
                                                   POINT("Give the dose") "</ptLst></m>"},
                    {"ppt/diagrams/data2.xml", "<m><ptLst>" POINT("Wait") "</ptLst></m>"},
                    {"ppt/n.xml", "<n><sp><p><r><t>Slowly.</t></r></p></sp></n>"},
                    {0}},
           "Doses\n\nTake 1/2 tablet.\n\n\xE2\x80\xA2 Weigh the child\n\xE2\x80\xA2 Give the "
           "dose\n\xE2\x80\xA2 Wait\n\nNotes\n\nSlowly.");
}

static void characters_that_strings_name_are_said(void **state) {
    (void)state;
    expect(
        (part[]){{"xl/workbook.xml",
                  "<workbook xmlns:r='r'><sheets><sheet name='S' r:id='r1'/></sheets></workbook>"},
                 {"xl/_rels/workbook.xml.rels",
                  RELS(REL("r1", "worksheet", "a.xml") REL("r2", "sharedStrings", "s.xml"))},
                 {"xl/s.xml", "<sst>" STRING("<t>one_x000D_\ntwo_x</t><t>0009_x</t>")
                                  STRING("<t>a_x005F_x000D_b_x00zz_ _x0041</t>")
                                      STRING("<t>_xD83D__xDE00_ _xD83D_ c_x0001_d</t>") "</sst>"},
                 {"xl/a.xml",
                  "<worksheet><sheetData><row r='1'>" SHARED("A1", "0") SHARED("B1", "1")
                      SHARED("C1", "2") "<c r='D1' t='inlineStr'><is><t>e_x00E9_</t></is></c>"
                                        "<c r='E1' t='str'><v>f_x000A_g</v></c><c r='F1'><v>4</v>"
                                        "</c></row></sheetData></worksheet>"},
                 {0}},
        "S\n\none two x | a_x000D_b_x00zz_ _x0041 | \xF0\x9F\x98\x80 _xD83D_ cd | e\xC3\xA9 | "
        "f g | 4");
}

static void what_a_text_hides_or_strikes_out_is_left_out(void **state) {
    (void)state;
    expect(
        (part[]){
            ODF_TYPE("text"),
            {"content.xml",
             "<d><style name='T1'><text-properties display='none'/></style>"
             "<style name='T2'><text-properties text-line-through-style='solid'/></style>"
             "<style name='T3'><text-properties text-line-through-style='none' display='true'/>"
             "</style><style name='P1'><text-properties display='none'/></style>"
             "<p>It costs <span style-name='T1'>draft 7</span><span style-name='T2'>8 "
             "<span>old</span></span><span style-name='T3'>9</span> euros.</p>"
             "<p style-name='P1'>Nobody sees it.</p><h style-name='P1'>Nor this</h>"
             "<section name='A' display='none'><p>Within.</p><list><list-item><p>x</p>"
             "</list-item></list></section>"
             "<section name='B' display='condition' is-hidden='true'><p>Hidden.</p></section>"
             "<section name='C' display='condition'><p>Shown.</p></section>"
             "<p><hidden-text is-hidden='true' string-value='z'>z</hidden-text>End.</p></d>"},
            {0}},
        "It costs 9 euros.\n\nShown.\n\nEnd.");
}

/* A frame stands within a paragraph, or a heading, and has paragraphs of its own. */
static void text_behind_a_frame_is_text(void **state) {
    (void)state;
    expect(
        (part[]){ODF_TYPE("text"),
                 {"content.xml",
                  "<d><p>Before it <frame><text-box><p>Figure 1<frame><text-box><p>inner</p>"
                  "</text-box></frame> caption</p></text-box></frame> the deadline is 14 "
                  "March.</p><h outline-level='1'>How<frame><text-box><p>box</p></text-box>"
                  "</frame>ever</h><p>Last.</p></d>"},
                 {0}},
        "Before it\n\nFigure 1\n\ninner\n\ncaption\n\nthe deadline is 14 March.\n\nHow\n\nbox\n\n"
        "ever\n\nLast.");
}

/* PowerPoint tells shapes as they are drawn, and a title may be drawn last. */
static void a_title_stands_above_its_slide(void **state) {
    (void)state;
    expect(
        (part[]){{"ppt/presentation.xml",
                  "<p xmlns:r='r'><sldIdLst><sldId id='256' r:id='r1'/></sldIdLst></p>"},
                 {"ppt/_rels/presentation.xml.rels", RELS(REL("r1", "slide", "s.xml"))},
                 {"ppt/s.xml",
                  "<s><sp><p><r><t>Care</t></r><br/><f><num><t>1</t></num><den><t>2</t></den></f>"
                  "</p></sp><sp><nvPr><ph type='title'/></nvPr><p><r><t>North</t></r><br/><r><t>"
                  "pump</t></r></p></sp><tbl><tr>" A_CELL("", "a")
                      A_CELL("", "b") "</tr></tbl></s>"},
                 {0}},
        "North pump\n\nCare 1/2\n\na | b");
}

#define CONTAINER                                                                                  \
    { "META-INF/container.xml", "<c><rootfiles><rootfile full-path='OPS/p.opf'/></rootfiles></c>" }
#define PACKAGE                                                                                    \
    {                                                                                              \
        "OPS/p.opf",                                                                               \
            "<p xmlns:dc='dc'><metadata><dc:title>The Fen</dc:title></metadata><manifest>"         \
            "<item id='b' href='two.xhtml' media-type='application/xhtml+xml'/><item id='a' "      \
            "href='the%20one.xhtml' media-type='application/xhtml+xml'/><item id='c' "             \
            "href='x.css' media-type='text/css'/></manifest><spine><itemref idref='a'/>"           \
            "<itemref idref='c'/><itemref idref='b'/><itemref idref='none'/></spine></p>"          \
    }

static void books_are_read_along_their_spine(void **state) {
    (void)state;
    const part one =
                   {"OPS/the one.xhtml",
                    "<!DOCTYPE html><html><body><h1>One</h1><p>Mist&nbsp;rises.</p></body></html>"},
               two = {"OPS/two.xhtml", "<html><body><p>It sinks.</p></body></html>"};
    expect((part[]){CONTAINER, PACKAGE, two, one, {0}}, "One\n\nMist\xC2\xA0rises.\n\nIt sinks.");
    refuse(
        (part[]){CONTAINER,
                 PACKAGE,
                 two,
                 one,
                 {"META-INF/encryption.xml", "<e><CipherReference URI='OPS/the%20one.xhtml'/></e>"},
                 {0}},
        FO_EUNSUPPORTED, "under protection");
    refuse((part[]){CONTAINER, PACKAGE, {0}}, FO_EINVAL, "it has no chapters");
    refuse((part[]){CONTAINER, {0}}, FO_ENOTFOUND, "it has no part OPS/p.opf");
}

static void bombs_end(void **state) {
    (void)state;
    refuse(
        (part[]){
            {"word/document.xml",
             "<!DOCTYPE x [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;'>]>" W P(
                 "&b;") W_END},
            {0}},
        FO_EINVAL, "declares a document type");
    refuse((part[]){{"word/document.xml", W "<w:p><w:t>unclosed"}, {0}}, FO_EINVAL,
           "its part word/document.xml is no XML at line 1");
    /* 300 MiB of blanks, in 300 KB. */
    size_t n = (size_t)300 << 20;
    char *long_text = malloc(n + 64);
    assert_non_null(long_text);
    memset(long_text, ' ', n);
    memcpy(long_text, "<w:document>", 12);
    long_text[n] = 0;
    refuse((part[]){{"word/document.xml", long_text}, {0}}, FO_ELIMIT,
           "it unpacks to more than 256 MiB");
    memcpy(long_text, "<w:p><w:t>", 10);
    refuse((part[]){{"word/document.xml", long_text}, {0}}, FO_ELIMIT,
           "the document's text is longer");
    free(long_text);
    /* Elements within elements. */
    fo_buf deep = {0};
    for (int i = 0; i < 100000; i++) fo_buf_str(&deep, "<w:p>");
    refuse((part[]){{"word/document.xml", deep.data}, {0}}, FO_EINVAL, "is no XML");
    fo_buf_free(&deep);
}

static void rich_text(void **state) {
    (void)state;
    static const char rtf[] =
        "{\\rtf1\\ansi\\ansicpg1250\\uc1{\\fonttbl{\\f0 Times;}}{\\info{\\title Ferry "
        "plan}{\\author X}}"
        "{\\*\\generator Y}{\\pard\\outlinelevel1 Times\\par}{\\pict\\bin4 }}{}"
        "}\n\\pard The \\b ferry\\b0  leaves at \\'9eight\\'9e, \\u8364?2\\u-10179?\\u-8704? "
        "\\{a\\}.\\par\n"
        "\\trowd\\intbl Day\\cell Hour\\cell Pier\\cell\\row\\intbl Monday\\cell 8\\cell "
        "A\\cell\\row\\pard end"
        "{\\header top}\\par}";
    extracted x;
    fo_err err = {0};
    extract_request rq = {.bytes = rtf,
                          .n = sizeof rtf - 1,
                          .max_text_bytes = LIMIT,
                          .formats = here,
                          .n_formats = n_here};
    assert_ok(extract_text(&x, &rq, &err), &err);
    assert_string_equal(x.format, "rtf");
    assert_string_equal(x.title, "Ferry plan");
    assert_string_equal(
        x.text, "Times\n\nThe ferry leaves at \xC5\xBEight\xC5\xBE, \xE2\x82\xAC"
                "2\xF0\x9F\x98\x80 {a}.\n\nDay | Hour | Pier\n\nDay: Monday; Hour: 8; Pier: A"
                "\n\nend");
    assert_int_equal(x.blocks[0].kind, TEXT_HEADING);
    extracted_deinit(&x);
}

/* Two bytes of Chinese may be one character of UTF-8: a font's character set is believed. */
static void characters_of_rich_text_are_of_its_fonts(void **state) {
    (void)state;
    read_one("{\\rtf1\\ansi\\ansicpg1252{\\fonttbl{\\f0\\fcharset134 SimSun;}}\\pard\\f0 "
             "\\'c5\\'ae\\par Next\\par}",
             "rtf", "\xE5\xA5\xB3\n\nNext");
    read_one("{\\rtf1\\ansi\\ansicpg1251\\pard \\'c2\\'b3\\par}", "rtf", "\xD0\x92\xD1\x96");
    read_one("{\\rtf1\\mac\\pard caf\\'8e\\par}", "rtf", "caf\xC3\xA9");
    read_one(
        "{\\rtf1\\ansi{\\fonttbl{\\f0\\fcharset0 A;}{\\f1\\fcharset77 B;}{\\f2\\fcharset222 C;}}"
        "\\pard {\\f1 caf\\'8e} {\\f2 \\'a1}\\par}",
        "rtf", "caf\xC3\xA9 \xE0\xB8\x81");
    read_one("{\\rtf1\\ansi\\ansicpg932\\pard \\'87\\'8a\\par}", "rtf", "\xE3\x88\xB1");
}

/* A table within a cell, with what programs say to readers that know none. */
static void cells_within_a_cell_stand_apart(void **state) {
    (void)state;
    read_one(
        "{\\rtf1\\ansi\\pard\\intbl Day\\cell Crew\\cell Pier\\cell\\row\\pard\\intbl "
        "Monday\\cell\\pard\\intbl\\itap2 Alpha\\nestcell Beta\\nestcell"
        "{\\*\\nesttableprops\\trowd\\cellx1\\nestrow}{\\nonesttables\\par}\\pard\\intbl\\itap2 "
        "Gamma\\nestcell Delta\\nestcell{\\*\\nesttableprops\\trowd\\cellx1\\nestrow}"
        "{\\nonesttables\\par}\\pard\\intbl\\itap1\\cell A\\cell\\row\\pard After\\par}",
        "rtf", "Day | Crew | Pier\n\nDay: Monday; Crew: Alpha Beta; Gamma Delta; Pier: A\n\nAfter");
}

/* A per cent sign of an address begins no remark. */
static void addresses_of_latex_are_whole(void **state) {
    (void)state;
    read_named(
        "a.tex",
        "\\begin{document}\nThe form is at \\url{https://x.org/a%20b_~c.pdf} and is due on 5 "
        "May.\n\nIn \\path{/a%b} or \\nolinkurl{c%d}. % gone\n\\end{document}\n",
        "latex",
        "The form is at https://x.org/a%20b_~c.pdf and is due on 5 May.\n\nIn /a%b or c%d.");
}

static void notebooks(void **state) {
    (void)state;
    read_one("{\"cells\":[{\"cell_type\":\"markdown\",\"source\":[\"# Levels\\n\",\"\\n\",\"Read "
             "*daily*.\"]},"
             "{\"cell_type\":\"code\",\"source\":\"mean(levels)\",\"outputs\":[{\"text\":["
             "\"342\\n\"]},{\"data\":{"
             "\"image/png\":\"iVBO\",\"text/plain\":\"<Figure>\"}}]},{\"cell_type\":\"raw\"}, "
             "7],\"nbformat\":4}",
             "notebook", "Levels\n\nRead daily.\n\nmean(levels)\n\n342\n\n<Figure>");
    read_one(
        "{\"cells\":[{\"cell_type\":\"markdown\",\"source\":\"---\\nlevel: high\\n---\\nrest\"}],"
        "\"nbformat\":4}",
        "notebook", "level: high\n\nrest"); /* no cell has front matter */
    extracted x;
    fo_err err = {0};
    const char *torn = "{\"nbformat\":4,\"cells\":[{]";
    extract_request rq = {.bytes = torn,
                          .n = strlen(torn),
                          .max_text_bytes = LIMIT,
                          .formats = here,
                          .n_formats = n_here};
    assert_int_equal(extract_text(&x, &rq, &err), FO_EINVAL);
    assert_non_null(strstr(err.msg, "it is no JSON at byte 2"));
}

/* Is all of it there, as text? */
static void says(const fo_buf *bytes, const char *name, const char *const *phrases) {
    extracted x;
    fo_err err = {0};
    extract_request rq = {.bytes = bytes->data,
                          .n = bytes->len,
                          .file_name = name,
                          .max_text_bytes = LIMIT,
                          .formats = here,
                          .n_formats = n_here};
    assert_false(bytes->failed);
    assert_ok(extract_text(&x, &rq, &err), &err);
    assert_true(fo_utf8_valid(x.text, x.len, NULL));
    for (; *phrases; phrases++)
        if (!strstr(x.text, *phrases)) fail_msg("%s: '%s' is not in it", name, *phrases);
    extracted_deinit(&x);
}

static void add_euros(fo_buf *out, size_t n, const char *end) {
    while (n--) fo_buf_str(out, "\xE2\x82\xAC");
    fo_buf_str(out, end);
}

/* More than 64 KiB of characters of three bytes, and names longer than those that rows have. */
static void long_values_are_whole(void **state) {
    (void)state;
    fo_buf shared = {0}, cells = {0}, content = {0}, csv = {0}, xml = {0};
    fo_buf_str(&shared, "<sst><si><t>x");
    add_euros(&shared, 30000, "end of shared</t></si></sst>");
    fo_buf_str(&cells, "<worksheet><sheetData><row r='1'><c r='A1' t='s'><v>0</v></c><c r='B1' "
                       "t='inlineStr'><is><t>x");
    add_euros(&cells, 30000, "end of inline</t></is></c><c r='C1'><v>x");
    add_euros(&cells, 40, "end of value</v></c></row></sheetData></worksheet>");
    const part book[] = {
        {"xl/workbook.xml",
         "<workbook xmlns:r='r'><sheets><sheet name='S' r:id='r1'/></sheets></workbook>"},
        {"xl/_rels/workbook.xml.rels",
         RELS(REL("r1", "worksheet", "a.xml") REL("r2", "sharedStrings", "s.xml"))},
        {"xl/s.xml", shared.data},
        {"xl/a.xml", cells.data},
        {0}};
    fo_buf bytes = {0};
    bytes.data = make(book, &bytes.len);
    says(&bytes, "a.xlsx",
         (const char *[]){"end of shared", "end of inline", "end of value", NULL});
    free(bytes.data);

    fo_buf_str(&content, "<d><table name='S'><table-row><table-cell>");
    for (int i = 0; i < 3; i++) {
        fo_buf_printf(&content, "<p>%d ", i);
        add_euros(&content, 15000, " euros</p>");
    }
    fo_buf_str(&content, "</table-cell></table-row></table></d>");
    const part sheet[] = {ODF_TYPE("spreadsheet"), {"content.xml", content.data}, {0}};
    bytes.data = make(sheet, &bytes.len);
    says(&bytes, "a.ods", (const char *[]){"0 \xE2", "1 \xE2", "2 \xE2", NULL});
    free(bytes.data);

    fo_buf_str(&csv, "name,\"x");
    add_euros(&csv, 30000, "end\",other\nx");
    add_euros(&csv, 30000, "ends, next\n");
    says(&csv, "a.csv", (const char *[]){"end | other", "ends; x\xE2", ": next", NULL});

    fo_buf_str(&xml, "<list><row><n");
    for (int i = 0; i < 40; i++) fo_buf_str(&xml, "\xC3\xA9");
    fo_buf_str(&xml, " k='seven'/></row><row><n k='8'/></row></list>");
    says(&xml, "a.xml", (const char *[]){"\xC3\xA9 k: seven", NULL});
    fo_buf_free(&shared);
    fo_buf_free(&cells);
    fo_buf_free(&content);
    fo_buf_free(&csv);
    fo_buf_free(&xml);
}

static void columns_that_are_left_out_are_told(void **state) {
    (void)state;
    fo_buf wide = {0};
    for (int row = 0; row < 2; row++)
        for (int i = 1; i <= 1100; i++)
            fo_buf_printf(&wide, "%s%d%c", row ? "v" : "n", i, i == 1100 ? '\n' : ',');
    says(&wide, "a.csv",
         (const char *[]){"v1024",
                          "(Rows of this table have more than 1,024 cells; those behind them are "
                          "left out.)",
                          NULL});
    extracted x;
    fo_err err = {0};
    extract_request rq = {
        .bytes = wide.data, .n = wide.len, .file_name = "a.csv", .max_text_bytes = LIMIT};
    assert_ok(extract_text(&x, &rq, &err), &err);
    const char *told = strstr(x.text, "(Rows of this");
    assert_true(told && !strstr(told + 1, "(Rows of this")); /* once */
    extracted_deinit(&x);
    fo_buf_free(&wide);
}

static void aliases_mean_what_was_named_last(void **state) {
    (void)state;
    fo_buf yaml = {0};
    fo_buf_str(&yaml, "a: &v old\nb: *v\nc: &v ");
    for (int i = 0; i < 60; i++) fo_buf_str(&yaml, "more ");
    fo_buf_str(&yaml, "\nd: *v\ne: &w one\nf: &w [x, y]\ng: *w\nh: &v new\ni: *v\n");
    says(&yaml, "a.yaml", (const char *[]){"b: old", "d: v", "g: w", "i: new", NULL});
    fo_buf_free(&yaml);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(workbooks_show_dates_shares_and_shared_strings),
        cmocka_unit_test(months_are_shown_by_their_names),
        cmocka_unit_test(slides_are_in_order_and_have_notes),
        cmocka_unit_test(a_title_stands_above_its_slide),
        cmocka_unit_test(points_of_slides_are_lists),
        cmocka_unit_test(open_documents),
        cmocka_unit_test(raised_numbers_of_open_documents_stand_apart),
        cmocka_unit_test(raised_numbers_of_slides_and_sheets_stand_apart),
        cmocka_unit_test(formulas_and_diagrams_of_slides_are_read),
        cmocka_unit_test(characters_that_strings_name_are_said),
        cmocka_unit_test(what_a_text_hides_or_strikes_out_is_left_out),
        cmocka_unit_test(text_behind_a_frame_is_text),
        cmocka_unit_test(books_are_read_along_their_spine),
        cmocka_unit_test(rich_text),
        cmocka_unit_test(characters_of_rich_text_are_of_its_fonts),
        cmocka_unit_test(cells_within_a_cell_stand_apart),
        cmocka_unit_test(addresses_of_latex_are_whole),
        cmocka_unit_test(notebooks),
        cmocka_unit_test(long_values_are_whole),
        cmocka_unit_test(columns_that_are_left_out_are_told),
        cmocka_unit_test(aliases_mean_what_was_named_last),
        cmocka_unit_test(bombs_end),
    };
    return cmocka_run_group_tests(tests, formats_here, NULL);
}
