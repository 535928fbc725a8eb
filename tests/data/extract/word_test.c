/* Word documents put together here: headings by styles, deleted text, cells that are merged, notes, and the numbers that
 * Word counts; and what of those is made to do harm. */
#include "tests/data/extract/office_here.h"

#include <time.h>

#include "kernels/buf.h"

static void word_documents(void **state) {
    (void)state;
    expect(
        (part[]){
            {"word/styles.xml",
             "<w:styles xmlns:w='w'><w:style w:styleId='berschrift2'><w:name w:val='heading 2'/>"
             "</w:style><w:style w:styleId='Mine'><w:basedOn w:val='berschrift2'/></w:style>"
             "<w:style w:styleId='Verzeichnis1'><w:name w:val='toc 1'/></w:style></w:styles>"},
            {"word/document.xml", W
             "<w:p><w:pPr><w:pStyle w:val='Verzeichnis1'/></w:pPr><w:r><w:t>Care "
             "7</w:t></w:r></w:p>"
             "<w:p><w:pPr><w:pStyle w:val='Mine'/></w:pPr><w:r><w:t>Care</w:t></w:r></w:p>"
             "<w:p><w:r><w:t>Water </w:t></w:r><w:del><w:r><w:delText>never</w:delText><w:t>x</w:t>"
             "</w:r></w:del><w:ins><w:r><w:t>daily</w:t></w:r></w:ins><w:r><w:t> &amp; well.</w:t>"
             "</w:r></w:p>"
             "<mc:AlternateContent><mc:Choice>" P("Shape") "</mc:Choice><mc:Fallback>" P(
                 "Shape") "</mc:Fallback></mc:AlternateContent>"
                          "<w:tbl><w:tr><w:trPr><w:tblHeader/></w:trPr>" CELL("Plant") CELL(
                              "Days") "</w:tr><w:tr>" CELL("Fern")
                              CELL("three") "</w:tr><w:tr>" CELL("Moss") "<w:tc>" P(
                                  "one") "<w:tbl><w:tr>" CELL("or two") "</w:tr></w:tbl></w:tc></"
                                                                        "w:tr></w:tbl>" W_END},
            {"word/footnotes.xml",
             "<w:footnotes xmlns:w='w'><w:footnote w:type='separator'>" P(
                 "x") "</w:footnote>"
                      "<w:footnote w:id='1'>" P("Not in winter.") "</w:footnote></w:footnotes>"},
            {0}},
        "Care\n\nWater daily & well.\n\nShape\n\nPlant | Days\n\nPlant: Fern; Days: three\n\n"
        "Plant: Moss; Days: one or two\n\nNot in winter.");
}

/* A row may begin further right than the first column does. */
static void cells_behind_a_gap_stand_below_their_names(void **state) {
    (void)state;
    expect((part[]){{"word/document.xml",
                     W "<w:tbl><w:tr>" CELL("Item") CELL("Price")
                         CELL("Stock") "</w:tr><w:tr>" CELL("Apple") CELL("5")
                             CELL("70") "</w:tr><w:tr><w:trPr><w:gridBefore "
                                        "w:val='1'/></w:trPr>" CELL("6")
                                            CELL("80") "</w:tr><w:tr><w:trPr><w:gridBefore "
                                                       "w:val='99999'/></w:trPr>" CELL("Pear")
                                                           CELL("7") "</w:tr></w:tbl>" W_END},
                    {0}},
           "Item | Price | Stock\n\nItem: Apple; Price: 5; Stock: 70\n\nPrice: 6; Stock: 80\n\n"
           "Item: Pear; Price: 7");
}

#define RUN(text) "<w:r><w:t>" text "</w:t></w:r>"
#define RAISED(text)                                                                               \
    "<w:r><w:rPr><w:vertAlign w:val='superscript'/></w:rPr><w:t>" text "</w:t></w:r>"

#define SPAN(props, text) "<w:tc><w:tcPr>" props "</w:tcPr>" P(text) "</w:tc>"
#define WIDE(n)           "<w:gridSpan w:val='" n "'/>"
#define TALL              "<w:vMerge w:val='restart'/>"
#define ON                "<w:tc><w:tcPr><w:vMerge/></w:tcPr><w:p/></w:tc>"
#define ROW(cells)        "<w:tr>" cells "</w:tr>"
#define NAMES(cells)      "<w:tr><w:trPr><w:tblHeader/></w:trPr>" cells "</w:tr>"
#define TABLE(rows)       "<w:tbl>" rows "</w:tbl>"

static void expect_word(const char *body, const char *text) {
    fo_buf whole = {0};
    fo_buf_printf(&whole, "%s%s%s", W, body, W_END);
    expect((part[]){{"word/document.xml", whole.data}, {0}}, text);
    fo_buf_free(&whole);
}

/* What goes over rows or columns is said in each of them, and two rows of names are one. */
static void merged_cells_stand_in_all_their_columns(void **state) {
    (void)state;
    expect_word(TABLE(ROW(SPAN(TALL, "Ward") SPAN(WIDE("2"), "Visiting times")
                              SPAN(TALL, "Visitors")) ROW(ON CELL("Weekdays") CELL("Weekends") ON)
                          ROW(CELL("7 shared") CELL("3 pm - 7 pm") CELL("2 pm - 6 pm") CELL("two"))
                              ROW(CELL("7 single") SPAN(WIDE("2"), "10 am - 8 pm") CELL("three"))),
                "Ward | Visiting times Weekdays | Visiting times Weekends | Visitors\n\n"
                "Ward: 7 shared; Visiting times Weekdays: 3 pm - 7 pm; Visiting times Weekends: "
                "2 pm - 6 pm; Visitors: two\n\n"
                "Ward: 7 single; Visiting times Weekdays: 10 am - 8 pm; Visiting times Weekends: "
                "10 am - 8 pm; Visitors: three");
    expect_word(TABLE(ROW(CELL("Group") CELL("Glove") CELL("Change after"))
                          ROW(SPAN(TALL, "Acids") CELL("Nitrile") CELL("2 hours"))
                              ROW(ON CELL("Butyl") CELL("30 minutes"))
                                  ROW(CELL("Bases") CELL("Latex") CELL("1 hour"))),
                "Group | Glove | Change after\n\nGroup: Acids; Glove: Nitrile; Change after: 2 "
                "hours\n\nGroup: Acids; Glove: Butyl; Change after: 30 minutes\n\nGroup: Bases; "
                "Glove: Latex; Change after: 1 hour");
    /* Rows of names that say so; a title above them, and a heading of a group. */
    expect_word(TABLE(ROW(SPAN(WIDE("3"), "Rents")) NAMES(CELL("Flat") CELL("Rent") CELL("Deposit"))
                          NAMES(CELL("") CELL("a month") CELL("once"))
                              ROW(SPAN(WIDE("3"), "Upper floor"))
                                  ROW(CELL("Studio") CELL("640") CELL("960"))),
                "Rents\n\nFlat | Rent a month | Deposit once\n\nUpper floor\n\n"
                "Flat: Studio; Rent a month: 640; Deposit once: 960");
    /* One row of names, with a wide one: what is below it are things. */
    expect_word(
        TABLE(ROW(CELL("") SPAN(WIDE("2"), "Open")) ROW(CELL("Pool") CELL("3 pm") CELL("7 pm"))),
        "Open | Open\n\nPool; Open: 3 pm; Open: 7 pm");
}

/* A power, and the number of a note, are no part of the number before them. */
static void raised_numbers_stand_apart(void **state) {
    (void)state;
    expect_word("<w:p>" RUN("10") RAISED("6") RUN(" cells, 10") RAISED("-") RAISED("1") RAISED("2")
                    RUN(", m") RAISED("2") RUN(", 1") RAISED("st")
                        RUN(", 45") "<w:hyperlink>" RAISED("3") "</w:hyperlink>" RUN(" in 2")
                            RUN("0") "</w:p>",
                "10^6 cells, 10^-12, m2, 1st, 45 3 in 20");
    /* What the mark of the paragraph is, and what a run was, raises nothing; an exponent is raised. */
    expect_word("<w:p><w:pPr><w:rPr><w:vertAlign w:val='superscript'/></w:rPr></w:pPr>" RUN("1")
                    RUN("2") "<w:r><w:rPr><w:rPrChange><w:rPr><w:vertAlign w:val='superscript'/>"
                             "</w:rPr></w:rPrChange></w:rPr><w:t>3</w:t></w:r><w:r><w:rPr>"
                             "<w:vertAlign w:val='subscript'/></w:rPr><w:t>4</w:t></w:r></w:p>",
                "1234");
    expect_word("<w:p><m:sSup><m:e><m:r><m:t>10</m:t></m:r></m:e><m:sup><m:r><m:t>6</m:t></m:r>"
                "</m:sup></m:sSup>" RUN("0") "</w:p>",
                "10^60");
}

#define M(text)            "<m:r><m:t>" text "</m:t></m:r>"
#define FRACTION(num, den) "<m:f><m:fPr/><m:num>" num "</m:num><m:den>" den "</m:den></m:f>"

/* Half a tablet is no twelve. */
static void fractions_and_roots_have_their_signs(void **state) {
    (void)state;
    expect_word("<w:p>" RUN("Take ") FRACTION(M("1"), M("2")) RUN(" tablet, or 1")
                    FRACTION(M("1"), M("2")) RUN(".") "</w:p>",
                "Take 1/2 tablet, or 1 1/2.");
    expect_word("<w:p>" FRACTION(M("a") M("+") M("b"), M("2") M("c")) RUN(", ")
                    FRACTION(FRACTION(M("1"), M("2")), M("x")) RUN(", ")
                        FRACTION(M("mg"), M("ml")) "</w:p>",
                "(a+b)/(2c), (1/2)/x, mg/ml");
    expect_word("<w:p><m:rad><m:radPr/><m:deg/><m:e>" M("2") "</m:e></m:rad>" RUN(
                    ", ") "<m:rad><m:deg>" M("3") "</m:deg><m:e>" M("x")
                    M("+1") "</m:e></m:rad></w:p>",
                "\xE2\x88\x9A"
                "2, 3\xE2\x88\x9A(x+1)");
    /* Deeper than anyone writes. */
    fo_buf deep = {0};
    fo_buf_str(&deep, W "<w:p>");
    for (int i = 0; i < 60; i++) fo_buf_str(&deep, "<m:f><m:num>");
    fo_buf_str(&deep, M("1"));
    for (int i = 0; i < 60; i++) fo_buf_str(&deep, "</m:num><m:den>" M("2") "</m:den></m:f>");
    fo_buf_str(&deep, "</w:p>" W_END);
    extracted x;
    fo_err err;
    assert_ok(read_parts(&x, (part[]){{"word/document.xml", deep.data}, {0}}, &err), &err);
    assert_non_null(strstr(x.text, ")/2)/2"));
    extracted_deinit(&x);
    fo_buf_free(&deep);
}

/* Hostile widths, and cells that go on from nowhere. */
static void merged_cells_are_bounded(void **state) {
    (void)state;
    fo_buf text = {0};
    for (int i = 0; i < 63; i++) fo_buf_str(&text, "All | ");
    fo_buf_str(&text, "behind\n\n1; All: 2");
    expect_word(TABLE(ROW(CELL("") SPAN(WIDE("1023"), "All") SPAN(WIDE("-4"), "behind")) ROW(ON ON)
                          ROW(SPAN(TALL, "1") SPAN(WIDE("99999"), "2"))),
                text.data);
    fo_buf_free(&text);
}

#define NOTE(id, text) "<w:footnote w:id='" id "'>" P(text) "</w:footnote>"
#define REF(id)        "<w:r><w:footnoteReference w:id='" id "'/></w:r>"

static void notes_stand_where_they_are_called(void **state) {
    (void)state;
    expect(
        (part[]){
            {"word/document.xml", W
             "<w:p><w:pPr><w:pStyle w:val='Heading1'/></w:pPr><w:r><w:t>Rules</w:t></w:r>" REF("4") "</w:p><w:p><w:r><w:t>Nobody works alone.</w:t></w:r>" REF(
                 "1") "<w:r><w:t xml:space='preserve'> Hair is tied back.</w:t></w:r>" REF("1")
                 REF("9") "<w:r><w:endnoteReference w:id='1'/></w:r></w:p>" TABLE(
                     ROW(CELL("Glove") CELL("Hours") CELL("Box"))
                         ROW(CELL("Thick") "<w:tc><w:p><w:r><w:t>2</w:t></w:r>" REF(
                             "2") "</w:p></w:tc>" CELL("7"))) P("End.") W_END},
            {"word/footnotes.xml",
             "<w:footnotes xmlns:w='w'><w:footnote w:type='separator' w:id='0'>" P(
                 "x") "</w:footnote>" NOTE("1", " Exception: paperwork.") NOTE("2", "dry hands")
                 NOTE("3", "Nobody asks for it.") NOTE("4", "of 2026")
                     NOTE("5", "") "</w:footnotes>"},
            {"word/endnotes.xml", "<w:endnotes xmlns:w='w'><w:endnote w:id='1'>" P("Not")
                                      P("for lunch.") "</w:endnote>"
                                                      "</w:endnotes>"},
            {0}},
        "Rules\n\n(of 2026)\n\nNobody works alone. (Exception: paperwork.) Hair is tied back. (Not "
        "for lunch.)\n\nGlove | Hours | Box\n\nGlove: Thick; Hours: 2 (dry hands); Box: 7\n\n"
        "End.\n\nNobody asks for it.");
    expect((part[]){ODF_TYPE("text"),
                    {"content.xml",
                     "<d><h outline-level='1'>Rules<note><note-body><p>of 2026</p></note-body>"
                     "</note></h><table><table-row><table-cell><p>Key<note><note-body><p>of "
                     "brass</p></note-body></note></p></table-cell></table-row></table></d>"},
                    {0}},
           "Rules\n\n(of 2026)\n\nKey (of brass)");
}

#define LEVEL(n, form, text)                                                                       \
    "<w:lvl w:ilvl='" n "'><w:start w:val='1'/><w:numFmt w:val='" form                             \
    "'/><w:lvlText w:val='" text "'/></w:lvl>"
#define LIST(id, definition, more)                                                                 \
    "<w:num w:numId='" id "'><w:abstractNumId w:val='" definition "'/>" more "</w:num>"
#define IN(list, level) "<w:numPr><w:ilvl w:val='" level "'/><w:numId w:val='" list "'/></w:numPr>"
#define PP(props, text) "<w:p><w:pPr>" props "</w:pPr><w:r><w:t>" text "</w:t></w:r></w:p>"
#define STYLED(id)      "<w:pStyle w:val='" id "'/>"

/* Word counts, and its text has none of the numbers. */
static void paragraphs_of_word_have_their_numbers(void **state) {
    (void)state;
    const part
        styles =
            {"word/styles.xml",
             "<w:styles xmlns:w='w'><w:style w:styleId='Heading1'><w:name w:val='heading "
             "1'/><w:pPr>"
             "<w:numPr><w:numId w:val='4'/></w:numPr></w:pPr></w:style><w:style "
             "w:styleId='Heading2'>"
             "<w:name w:val='heading 2'/><w:pPr><w:numPr><w:numId w:val='4'/></w:numPr></w:pPr>"
             "</w:style><w:style w:styleId='Steps'><w:name w:val='List Number'/><w:pPr><w:numPr>"
             "<w:numId w:val='2'/></w:numPr></w:pPr></w:style><w:style w:styleId='Mine'><w:basedOn "
             "w:val='Steps'/></w:style></w:styles>"},
        numbers = {"word/numbering.xml",
                   "<w:numbering xmlns:w='w'><w:abstractNum w:abstractNumId='0'>" LEVEL(
                       "0", "decimal", "%1.") LEVEL("1", "lowerLetter", "%2)")
                       LEVEL("2", "lowerRoman",
                             "(%3)") "</w:abstractNum><w:abstractNum "
                                     "w:abstractNumId='1'>" LEVEL("0", "bullet", "x")
                                         LEVEL("1", "none",
                                               "") "</w:abstractNum><w:abstractNum "
                                                   "w:abstractNumId='2'><w:lvl w:ilvl='0'><w:start "
                                                   "w:val='2'/><w:numFmt w:val='upperRoman'/>"
                                                   "<w:lvlText w:val='%1.'/></w:lvl><w:lvl "
                                                   "w:ilvl='1'><w:start w:val='1'/><w:pStyle "
                                                   "w:val='Heading2'/><w:isLgl/><w:lvlText "
                                                   "w:val='%1.%2'/></w:lvl></w:abstractNum>" LIST(
                                                       "1", "0", "") LIST("2", "0",
                                                                          "<w:lvlOverride "
                                                                          "w:ilvl='0'>"
                                                                          "<w:startOverride "
                                                                          "w:val='7'/>"
                                                                          "</w:lvlOverride>")
                                                       LIST("3", "1", "") LIST("4", "2", "") LIST(
                                                           "5", "0", "") LIST("6", "900", "")
                                                           LIST("7", "99999", "") "</w:numbering>"};
    expect(
        (part[]){styles,
                 numbers,
                 {"word/document.xml",
                  W PP(STYLED("Heading1"), "Rules") PP(IN("1", "0"), "Report.") PP(
                      IN("1", "1"), "Write.") PP(IN("1", "1"), "Call.") PP(IN("1", "2"), "Twice.")
                      P("Between.") PP(IN("1", "0"), "") PP(IN("1", "0"), "Wait.")
                          PP(IN("1", "1"), "There.") PP(IN("5", "0"), "It goes on.")
                              PP(STYLED("Heading2"), "Pets") PP(STYLED("Heading2"), "Dogs") PP(
                                  STYLED("Heading1"), "Rent") PP(STYLED("Heading2"), "Late")
                                  PP(STYLED("Heading1") IN("0", "0"), "Annex") PP(
                                      STYLED("Steps"), "Seven.") PP(STYLED("Mine"), "Eight.")
                                      PP(IN("3", "0"), "A point.") PP(IN("3", "1"), "Nothing.") PP(
                                          IN("6", "0"), "Of no definition.") PP(IN("7", "77"),
                                                                                "Of none at all.")
                                          PP(IN("1", "12"), "Of no level.") TABLE(ROW("<w:tc>" PP(
                                              IN("2", "1"), "") "</w:tc>" CELL("key"))) W_END},
                 {0}},
        "II. Rules\n\n1. Report.\na) Write.\nb) Call.\n(i) Twice.\n\nBetween.\n\n3. Wait.\na) "
        "There.\n4. It goes on.\n\n2.1 Pets\n\n2.2 Dogs\n\nIII. Rent\n\n3.1 Late\n\nAnnex\n\n"
        "7. Seven.\n8. Eight.\n\xE2\x80\xA2 A point.\n\nNothing.\n\n\xE2\x80\xA2 Of no "
        "definition.\n\xE2\x80\xA2 Of none at all.\n\xE2\x80\xA2 Of no level.\n\na) | key");
}

/* A level that was passed over has begun: what comes next on it is the second. */
static void levels_of_word_that_are_left_out_count(void **state) {
    (void)state;
    expect((part[]){{"word/numbering.xml",
                     "<w:numbering xmlns:w='w'><w:abstractNum w:abstractNumId='0'>" LEVEL(
                         "0", "decimal", "%1.") LEVEL("1", "decimal", "%1.%2")
                         LEVEL("2", "decimal",
                               "%1.%2.%3") "</w:abstractNum>" LIST("1", "0", "") "</w:numbering>"},
                    {"word/document.xml",
                     W PP(IN("1", "1"), "a") PP(IN("1", "1"), "b") PP(IN("1", "0"), "c")
                         PP(IN("1", "2"), "d") PP(IN("1", "1"), "e") PP(IN("1", "0"), "f") W_END},
                    {0}},
           "1.1 a\n1.2 b\n2. c\n2.1.1 d\n2.2 e\n3. f");
}

/* A list says where it starts and how its levels look, where it is not as its definition is; what goes on counting does. */
static void lists_of_word_start_and_look_as_they_say(void **state) {
    (void)state;
#define OVER(level, what) "<w:lvlOverride w:ilvl='" level "'>" what "</w:lvlOverride>"
#define STARTS(n)         "<w:startOverride w:val='" n "'/>"
    expect(
        (part[]){
            {"word/numbering.xml",
             "<w:numbering xmlns:w='w'><w:abstractNum w:abstractNumId='0'>" LEVEL("0", "decimal",
                                                                                  "%1.")
                 LEVEL("1", "decimal",
                       "%1.%2") "</w:abstractNum><w:abstractNum "
                                "w:abstractNumId='1'>" LEVEL(
                                    "0", "decimal", "%1.") "</w:abstractNum>" LIST("1", "0", "")
                                    LIST("2", "0", OVER("0", STARTS("7")) OVER("1", STARTS("3")))
                                        LIST("3", "0",
                                             OVER("0", LEVEL("0", "upperLetter", "%1)"))
                                                 OVER("1", LEVEL("1", "lowerRoman", "%1-%2")))
                                            LIST("4", "1",
                                                 OVER("0", "<w:lvl w:ilvl='0'><w:start "
                                                           "w:val='5'/><w:numFmt "
                                                           "w:val='decimal'/><w:lvlText "
                                                           "w:val='(%1)'/></w:lvl>"))
                                                LIST("5", "1",
                                                     OVER("0", STARTS("9")
                                                                   LEVEL("0", "bullet", "x")))
                                                    LIST("6", "1", "") "</w:numbering>"},
            {"word/document.xml",
             W PP(IN("1", "0"), "a") PP(IN("2", "0"), "b") PP(IN("2", "1"), "c")
                 PP(IN("2", "1"), "d") PP(IN("1", "0"), "e") PP(IN("3", "0"), "f")
                     PP(IN("3", "1"), "g") PP(IN("4", "0"), "h") PP(IN("4", "0"), "i")
                         PP(IN("6", "0"), "j") PP(IN("5", "0"), "k") PP(IN("4", "0"), "l") W_END},
            {0}},
        "1. a\n7. b\n7.3 c\n7.4 d\n8. e\nI) f\nI-i g\n(5) h\n(6) i\n7. j\n\xE2\x80\xA2 k\n(10) l");
}

/* A heading is one with a box in it, too. */
static void a_box_takes_nothing_from_its_paragraph(void **state) {
    (void)state;
#define BOX(text)     "<w:r><wps:txbx><w:txbxContent>" text "</w:txbxContent></wps:txbx></w:r>"
#define HEADING(text) "<w:p><w:pPr><w:pStyle w:val='Heading1'/></w:pPr>" text "</w:p>"
#define ITEM(text)                                                                                 \
    "<w:p><w:pPr><w:numPr><w:ilvl w:val='0'/><w:numId w:val='1'/></w:numPr></w:pPr>" text "</w:p>"
    const char *const body = HEADING(BOX(P("Box") "<w:p/>") RUN("Chapter One"))
        HEADING(RUN("Chapter ") BOX(HEADING(BOX(P("inner")) RUN("Two"))) RUN("Three")) P("Text.");
    fo_buf whole = {0};
    fo_buf_printf(&whole, "%s%s%s", W, body, W_END);
    const part parts[] = {{"word/document.xml", whole.data}, {0}};
    extracted x;
    fo_err err;
    assert_ok(read_parts(&x, parts, &err), &err);
    assert_string_equal(x.text, "Box\n\nChapter One\n\nChapter\n\ninner\n\nTwo\n\nThree\n\nText.");
    static const uint8_t levels[] = {0, 1, 1, 0, 1, 1, 0};
    assert_int_equal(x.n_blocks, sizeof levels);
    for (size_t i = 0; i < x.n_blocks; i++) {
        assert_int_equal(x.blocks[i].kind, levels[i] ? TEXT_HEADING : TEXT_PARAGRAPH);
        assert_int_equal(x.blocks[i].level, levels[i]);
    }
    extracted_deinit(&x);
    fo_buf_clear(&whole);
    /* Of an item too, which is counted once; and boxes in boxes without end. */
    expect((part[]){{"word/numbering.xml",
                     "<w:numbering xmlns:w='w'><w:abstractNum w:abstractNumId='0'>" LEVEL(
                         "0", "decimal", "%1.") "</w:abstractNum>" LIST("1", "0",
                                                                        "") "</w:numbering>"},
                    {"word/document.xml", W ITEM(BOX(P("Box")) RUN("a")) ITEM(RUN("b") BOX(
                                              ITEM(RUN("c"))) RUN("d")) ITEM(RUN("e")) W_END},
                    {0}},
           "Box\n\n1. a\n2. b\n3. c\n\nd\n\n4. e");
    for (int i = 0; i < 40; i++) fo_buf_str(&whole, "<w:p><w:r><w:txbxContent>");
    fo_buf_str(&whole, P("deep"));
    for (int i = 0; i < 40; i++)
        fo_buf_str(&whole, "</w:txbxContent>"
                           "<w:t>x</w:t></w:r></w:p>");
    fo_buf deep = {0};
    fo_buf_str(&deep, "deep");
    for (int i = 0; i < 40; i++) fo_buf_str(&deep, "\n\nx");
    expect_word(whole.data, deep.data);
    fo_buf_free(&deep);
    fo_buf_free(&whole);
}

/* Letters go on with aa, Roman numerals end at 3,999, and a mark has no end of numbers. */
static void numbers_of_word_are_bounded(void **state) {
    (void)state;
    fo_buf part_of_numbers = {0}, body = {0}, text = {0};
    fo_buf_str(&part_of_numbers, "<w:numbering xmlns:w='w'>");
    static const char *const starts[][3] = {
        {"lowerLetter", "28", "bb."},         {"upperLetter", "999999999999", "1000000."},
        {"lowerRoman", "3999", "mmmcmxcix."}, {"upperRoman", "4000", "4000."},
        {"decimalZero", "7", "07."},          {"ordinalText", "-9", "0."},
        {"lowerRoman", "3888", ""},
    };
    for (int i = 0; i < 7; i++) {
        const bool last = i == 6;
        fo_buf_printf(&part_of_numbers,
                      "<w:abstractNum w:abstractNumId='%d'><w:lvl w:ilvl='0'><w:start w:val='%s'/>"
                      "<w:numFmt w:val='%s'/><w:lvlText w:val='%s'/></w:lvl></w:abstractNum><w:num "
                      "w:numId='%d'><w:abstractNumId w:val='%d'/></w:num>",
                      i, starts[i][1], starts[i][0],
                      last ? "%1%1%1%1%1%1%1%1%1%1%1%1%1%1%1%1%1%1%1%1%1" : "%1.", i + 1, i);
        fo_buf_printf(&body,
                      "<w:p><w:pPr><w:numPr><w:numId w:val='%d'/></w:numPr></w:pPr><w:r><w:t>x"
                      "</w:t></w:r></w:p>",
                      i + 1);
        fo_buf_printf(&text, "%s%s%s", i ? "\n" : "", starts[i][2], last ? "" : " x");
    }
    for (int i = 0; i < 19; i++) fo_buf_str(&text, "mmmdccclxxxviii");
    fo_buf_str(&text, "% x");
    fo_buf_str(&part_of_numbers, "</w:numbering>");
    fo_buf document = {0};
    fo_buf_printf(&document, "%s%s%s", W, body.data, W_END);
    expect((part[]){{"word/numbering.xml", part_of_numbers.data},
                    {"word/document.xml", document.data},
                    {0}},
           text.data);
    fo_buf_free(&part_of_numbers);
    fo_buf_free(&body);
    fo_buf_free(&text);
    fo_buf_free(&document);
}

/* What is shown to nobody is no text; nor is how words are read aloud, which stands before them. */
static void hidden_runs_and_readings_are_left_out(void **state) {
    (void)state;
    expect_word(
        "<w:p><w:pPr><w:rPr><w:vanish/></w:rPr></w:pPr>" RUN(
            "It costs ") "<w:r><w:rPr><w:vanish/></w:rPr><w:t>draft: "
                         "9</w:t><w:tab/><w:t>or</w:t></w:r>"
                         "<w:r><w:rPr><w:vanish w:val='0'/></w:rPr><w:t>12 euros.</w:t></w:r></w:p>"
                         "<w:p><w:r><w:ruby><w:rt>" RUN("\u3068\u3046") "</w:rt><w:rubyBase>" RUN(
                             "\u6771\u4EAC") "</w:rubyBase></w:ruby></w:r>" RUN("\u306F") "</w:p>",
        "It costs 12 euros.\n\n\u6771\u4EAC\u306F");
}

/* What a lawyer strikes out holds no more. */
static void struck_runs_are_left_out(void **state) {
    (void)state;
    expect_word(
        "<w:p>" RUN(
            "The term is ") "<w:r><w:rPr><w:strike/></w:rPr><w:t>30</w:t></w:r>"
                            "<w:r><w:rPr><w:dstrike w:val='true'/></w:rPr><w:t>45</w:t></w:r>"
                            "<w:r><w:rPr><w:vanish/><w:strike "
                            "w:val='0'/></w:rPr><w:t>50</w:t></w:r>"
                            "<w:r><w:rPr><w:strike w:val='0'/></w:rPr><w:t>60 "
                            "days.</w:t></w:r></w:p>",
        "The term is 60 days.");
}

#define SIGN(font, code) "<w:p><w:r><w:sym w:font='" font "' w:char='" code "'/></w:r></w:p>"

/* A tick may be all that a cell holds. */
static void signs_that_a_font_shows_are_characters(void **state) {
    (void)state;
    expect_word(
        TABLE(ROW(CELL("Feature") CELL("Basic") CELL("Pro")) ROW(CELL("Export") "<w:tc>" SIGN(
            "Wingdings", "F0FB") "</w:tc><w:tc>" SIGN("Wingdings 2", "F050") "</w:tc>"))
            SIGN("Symbol", "F061") SIGN("symbol", "B3") SIGN("Symbol", "F032") SIGN("Arial", "2264")
                SIGN("Wingdings 3", "F0FC") SIGN("Arial", "F0FC") SIGN("Arial", "D800")
                    SIGN("Symbol", "-1") SIGN("Symbol", "x") P("end"),
        "Feature | Basic | Pro\n\nFeature: Export; Basic: \u2717; Pro: "
        "\u2713\n\n\u03B1\n\n\u2265\n\n"
        "2\n\n\u2264\n\nend");
}

#define FORM_BOX(states)                                                                           \
    "<w:p><w:r><w:fldChar><w:ffData><w:checkBox>" states                                           \
    "</w:checkBox></w:ffData></w:fldChar></w:r>" RUN("By post") "</w:p>"

static void boxes_of_forms_say_whether_they_are_ticked(void **state) {
    (void)state;
    expect_word(FORM_BOX("<w:default w:val='0'/><w:checked/>")
                    FORM_BOX("<w:default w:val='1'/><w:checked w:val='0'/>")
                        FORM_BOX("<w:default w:val='1'/>"),
                "[x] By post\n\n[ ] By post\n\n[x] By post");
}

/* Lines that were ended by hand, and no page; in a cell and a heading they are blanks, as is an end of a line in the file. */
static void lines_within_a_paragraph_stay(void **state) {
    (void)state;
    expect_word(
        "<w:p>" RUN(
            "Hours") "<w:r><w:br/><w:t>Monday 9\nto 12</w:t><w:br w:type='page'/>"
                     "<w:t>only</w:t><w:cr/><w:t>Tuesday 10</w:t><w:br/></w:r></w:p>"
                     "<w:p><w:pPr><w:outlineLvl w:val='0'/></w:pPr><w:r><w:t>Two</w:t><w:br/>"
                     "<w:t>lines</w:t></w:r></w:p><w:p><w:r><w:br/><w:br/><w:t>a</w:t><w:ptab/>"
                     "<w:t>b</w:t></w:r></w:p>" TABLE(ROW("<w:tc><w:p><w:r><w:t>c</w:t><w:br/>"
                                                          "<w:t>d</w:t></w:r></w:p></w:tc>")),
        "Hours\nMonday 9 to 12 only\nTuesday 10\n\nTwo lines\n\na b\n\nc d");
}

/* Notes and styles in the order that costs most: each is found without going through those before it. */
static void many_notes_and_styles_take_no_longer_each(void **state) {
    (void)state;
    enum { MANY = 60000, STYLES = 4000 };
    fo_buf body = {0}, notes = {0}, styles = {0};
    fo_buf_printf(&body, "%s", W);
    fo_buf_str(&notes, "<w:footnotes xmlns:w='w'>");
    fo_buf_str(&styles, "<w:styles xmlns:w='w'>");
    for (int i = 0; i < MANY; i++) {
        fo_buf_printf(&body,
                      "<w:p><w:pPr><w:pStyle w:val='aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaax'/>"
                      "</w:pPr><w:r><w:t>a</w:t><w:footnoteReference w:id='%d'/></w:r></w:p>",
                      MANY - i);
        fo_buf_printf(&notes, "<w:footnote w:id='%d'>" P("n") "</w:footnote>", i + 1);
    }
    for (int i = 0; i < STYLES; i++)
        fo_buf_printf(&styles, "<w:style w:styleId='aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa%d'/>",
                      i);
    fo_buf_str(&body, W_END);
    fo_buf_str(&notes, "</w:footnotes>");
    fo_buf_str(&styles, "</w:styles>");
    struct timespec begin, end;
    extracted x;
    fo_err err;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    assert_ok(read_parts(&x,
                         (part[]){{"word/styles.xml", styles.data},
                                  {"word/footnotes.xml", notes.data},
                                  {"word/document.xml", body.data},
                                  {0}},
                         &err),
              &err);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    assert_true(end.tv_sec - begin.tv_sec < 6);
    assert_memory_equal(x.text, "a (n)\n\na (n)", 12);
    extracted_deinit(&x);
    fo_buf_free(&body);
    fo_buf_free(&notes);
    fo_buf_free(&styles);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(word_documents),
        cmocka_unit_test(cells_behind_a_gap_stand_below_their_names),
        cmocka_unit_test(merged_cells_stand_in_all_their_columns),
        cmocka_unit_test(fractions_and_roots_have_their_signs),
        cmocka_unit_test(merged_cells_are_bounded),
        cmocka_unit_test(notes_stand_where_they_are_called),
        cmocka_unit_test(paragraphs_of_word_have_their_numbers),
        cmocka_unit_test(levels_of_word_that_are_left_out_count),
        cmocka_unit_test(lists_of_word_start_and_look_as_they_say),
        cmocka_unit_test(numbers_of_word_are_bounded),
        cmocka_unit_test(raised_numbers_stand_apart),
        cmocka_unit_test(a_box_takes_nothing_from_its_paragraph),
        cmocka_unit_test(hidden_runs_and_readings_are_left_out),
        cmocka_unit_test(struck_runs_are_left_out),
        cmocka_unit_test(signs_that_a_font_shows_are_characters),
        cmocka_unit_test(boxes_of_forms_say_whether_they_are_ticked),
        cmocka_unit_test(lines_within_a_paragraph_stay),
        cmocka_unit_test(many_notes_and_styles_take_no_longer_each),
    };
    return cmocka_run_group_tests(tests, formats_here, NULL);
}
