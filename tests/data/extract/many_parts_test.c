/* Office files and books of many parts: none is left out without a word, what names them is read once, and a part that is named over and
 * over counts as often. */
#include "tests/data/extract/office_here.h"

#include "kernels/buf.h"

static void add_many(fo_buf *b, const char *before, const char *between, const char *behind,
                     size_t n) {
    for (size_t i = 0; i < n; i++) fo_buf_printf(b, "%s%zu%s%zu%s", before, i, between, i, behind);
}

static size_t count(const char *text, const char *word) {
    size_t n = 0;
    for (; (text = strstr(text, word)); text += strlen(word)) n++;
    return n;
}

/* The 1,025th sheet and those behind it were not there, and relations, read anew for each, were more than an archive may unpack to. */
static void every_sheet_is_read(void **state) {
    (void)state;
    enum { SHEETS = 2500 };
    fo_buf book = {0}, rels = {0};
    fo_buf_str(&book, "<workbook xmlns:r='r'><sheets>");
    add_many(&book, "<sheet name='S", "' r:id='r", "'/>", SHEETS);
    fo_buf_str(&book, "</sheets></workbook>");
    fo_buf_str(&rels, "<Relationships>");
    for (int i = 0; i < SHEETS; i++)
        fo_buf_printf(&rels,
                      "<Relationship Id='r%d' Type='http://schemas.example/worksheet' "
                      "Target='a.xml' Q='%0100d'/>",
                      i, i);
    fo_buf_str(&rels, "</Relationships>");
    extracted x;
    fo_err err;
    assert_ok(read_parts(&x,
                         (part[]){{"xl/workbook.xml", book.data},
                                  {"xl/_rels/workbook.xml.rels", rels.data},
                                  {"xl/a.xml", "<worksheet><sheetData><row><c><v>7</v></c></row>"
                                               "</sheetData></worksheet>"},
                                  {0}},
                         &err),
              &err);
    assert_int_equal(count(x.text, "\n7"), SHEETS);
    assert_non_null(strstr(x.text, "S2499\n\n7"));
    extracted_deinit(&x);
    fo_buf_free(&book);
    fo_buf_free(&rels);
}

static void every_slide_is_read(void **state) {
    (void)state;
    enum { SLIDES = 10050 };
    fo_buf show = {0}, rels = {0};
    fo_buf_str(&show, "<p:presentation xmlns:p='p' xmlns:r='r'><p:sldIdLst>");
    add_many(&show, "<p:sldId id='", "' r:id='s", "'/>", SLIDES);
    fo_buf_str(&show, "</p:sldIdLst></p:presentation>");
    fo_buf_str(&rels, "<Relationships>");
    add_many(&rels, "<Relationship Id='s", "' Type='x/slide' Target='slides/a.xml' Q='", "'/>",
             SLIDES);
    fo_buf_str(&rels, "</Relationships>");
    extracted x;
    fo_err err;
    assert_ok(read_parts(&x,
                         (part[]){{"ppt/presentation.xml", show.data},
                                  {"ppt/_rels/presentation.xml.rels", rels.data},
                                  {"ppt/slides/a.xml",
                                   "<p:sld xmlns:p='p' xmlns:a='a'><p:sp><p:txBody><a:p><a:r><a:t>"
                                   "Oars</a:t></a:r></a:p></p:txBody></p:sp></p:sld>"},
                                  {0}},
                         &err),
              &err);
    assert_int_equal(count(x.text, "Oars"), SLIDES);
    assert_int_equal(extracted_place(&x, &x.blocks[x.n_blocks - 1])->slide, SLIDES);
    extracted_deinit(&x);
    fo_buf_free(&show);
    fo_buf_free(&rels);
}

#define CONTAINER                                                                                  \
    { "META-INF/container.xml", "<c><rootfiles><rootfile full-path='p.opf'/></rootfiles></c>" }

static void every_chapter_is_read(void **state) {
    (void)state;
    enum { CHAPTERS = 20100 };
    fo_buf package = {0};
    fo_buf_str(&package, "<package><manifest>");
    add_many(&package, "<item id='c", "' href='a.xhtml' media-type='application/xhtml+xml' q='",
             "'/>", CHAPTERS);
    fo_buf_str(&package, "</manifest><spine>");
    add_many(&package, "<itemref idref='c", "' q='", "'/>", CHAPTERS);
    fo_buf_str(&package, "</spine></package>");
    extracted x;
    fo_err err;
    assert_ok(read_parts(&x,
                         (part[]){CONTAINER,
                                  {"p.opf", package.data},
                                  {"a.xhtml", "<html><body><p>Oars</p></body></html>"},
                                  {0}},
                         &err),
              &err);
    assert_int_equal(count(x.text, "Oars"), CHAPTERS);
    extracted_deinit(&x);
    fo_buf_free(&package);
}

/* A chapter that was read last counted once, however often it was read: a book of 40 kB unpacked without end. */
static void a_part_that_is_named_often_counts_as_often(void **state) {
    (void)state;
    fo_buf page = {0}, package = {0};
    fo_buf_str(&page, "<html><body><p>Oars</p>");
    while (page.len < 7 << 19) fo_buf_str(&page, "                                ");
    fo_buf_str(&page, "</body></html>");
    fo_buf_str(&package, "<package><manifest><item id='c' href='a.xhtml' "
                         "media-type='application/xhtml+xml'/></manifest><spine>");
    add_many(&package, "<itemref idref='c' n='", "' q='", "'/>", 150);
    fo_buf_str(&package, "</spine></package>");
    refuse((part[]){CONTAINER, {"p.opf", package.data}, {"a.xhtml", page.data}, {0}}, FO_ELIMIT,
           "it unpacks to more than 256 MiB");
    fo_buf_free(&page);
    fo_buf_free(&package);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_sheet_is_read),
        cmocka_unit_test(every_slide_is_read),
        cmocka_unit_test(every_chapter_is_read),
        cmocka_unit_test(a_part_that_is_named_often_counts_as_often),
    };
    return cmocka_run_group_tests(tests, formats_here, NULL);
}
