/* Lists on the pages of a PDF, from what pdftotext says of their lines: items by their marks, and such whose bullets are drawn and
 * no letters; and what is no title: the name of a file, and what stands on its side. */
#include "tests/test.h"

#include "data/extract/extract_internal.h"
#include "kernels/buf.h"

typedef struct source {
    fo_buf xml;
    size_t at;
    bool open; /* a block is */
} source;

static ptrdiff_t read_source(void *ctx, char *buf, size_t n) {
    source *s = ctx;
    size_t left = s->xml.len - s->at;
    if (n > left) n = left;
    memcpy(buf, s->xml.data + s->at, n);
    s->at += n;
    return (ptrdiff_t)n;
}

static int end_source(void *ctx) {
    (void)ctx;
    return 0;
}

/* A line, each letter four points wide, to the block at hand. */
static void add_line(source *s, int x, int y, const char *text) {
    char box[96];
    snprintf(box, sizeof box, "xMin=\"%d\" yMin=\"%d\" xMax=\"%d\" yMax=\"%d\"", x, y,
             x + 4 * (int)strlen(text), y + 9);
    if (!s->open) fo_buf_printf(&s->xml, "<block %s>", box);
    s->open = true;
    fo_buf_printf(&s->xml, "<line %s>", box);
    for (size_t n; *text; text += n + (text[n] == ' '), x += 4 * (int)(n + 1)) {
        n = strcspn(text, " ");
        fo_buf_printf(&s->xml, "<word xMin=\"%d\" yMin=\"%d\" xMax=\"%d\" yMax=\"%d\">%.*s</word>",
                      x, y, x + 4 * (int)n, y + 9, (int)n, text);
    }
    fo_buf_str(&s->xml, "</line>");
}

static void end_block(source *s) {
    fo_buf_str(&s->xml, "</block>");
    s->open = false;
}

/* A block of one line. */
static void add_block(source *s, int x, int y, const char *text) {
    add_line(s, x, y, text);
    end_block(s);
}

static void begin(source *s, const char *title) {
    *s = (source){0};
    fo_buf_printf(&s->xml,
                  "<html><head><title>%s</title></head><body><doc><page width=\"600\" "
                  "height=\"800\">",
                  title);
}

/* The text, and the title behind a bar where there is one. */
static void check_file(source *s, const char *bytes, const char *expected) {
    builder b = {.max_bytes = 1 << 20};
    extract_stream from = {read_source, end_source, s};
    extract_input in = {
        .bytes = (const unsigned char *)bytes, .n = strlen(bytes), .program = &from};
    fo_err err = {0};
    fo_buf is = {0};
    fo_buf_str(&s->xml, "</page></doc></body></html>");
    assert_ok(extract_pdf(&b, &in, &err), &err);
    fo_buf_add(&is, b.text.data, b.text.len);
    if (b.title.len) fo_buf_printf(&is, "|%.*s", (int)b.title.len, b.title.data);
    assert_string_equal(is.data, expected);
    fo_buf_free(&is);
    fo_buf_free(&s->xml);
    builder_free(&b);
}

static void check(source *s, const char *expected) {
    check_file(s, "%PDF", expected);
}

static void numbered_lines_are_items(void **state) {
    (void)state;
    source s;
    begin(&s, "Pump");
    add_line(&s, 60, 100, "1. Rinse the sponges");
    add_line(&s, 72, 110, "under running water.");
    add_line(&s, 60, 120, "2. Put them in.");
    add_block(&s, 60, 130, "3. Close the clips.");
    add_line(&s, 60, 160, "Do this at least");
    add_line(&s, 60, 170, "12. Then it is said that");
    add_block(&s, 60, 180, "nothing more happens.");
    check(&s, "1. Rinse the sponges under running water.\n2. Put them in.\n3. Close the clips.\n\n"
              "Do this at least 12. Then it is said that nothing more happens.|Pump");
}

/* Steps that a paragraph runs through may begin lines by chance. */
static void numbers_within_lines_begin_none(void **state) {
    (void)state;
    source s;
    begin(&s, "Pump");
    add_line(&s, 60, 100, "1. Open the fuel tap.");
    add_line(&s, 60, 110, "2. Wait twelve seconds.");
    add_block(&s, 60, 120, "3. Turn to start. 4. Wait.");
    check(&s, "1. Open the fuel tap. 2. Wait twelve seconds. 3. Turn to start. 4. Wait.|Pump");
}

static void bullets_begin_items(void **state) {
    (void)state;
    source s;
    begin(&s, "Pump");
    add_line(&s, 60, 100, "Manuscripts should have:");
    add_line(&s, 60, 110, "\xE2\x80\xA2 paper of any size");
    add_line(&s, 68, 120, "that there is");
    add_block(&s, 60, 130, "\xE2\x80\xA2 two columns");
    check(&s, "Manuscripts should have:\n\n\xE2\x80\xA2 paper of any size that there is\n"
              "\xE2\x80\xA2 two columns|Pump");
}

/* Browsers draw round bullets. Lines that leave off long before the margin, farther in than what is above, are items. */
static void bullets_may_be_no_letters(void **state) {
    (void)state;
    static const char *const lines[] = {"vaccinations, worming and neutering", "breeding and birth",
                                        "illnesses that you knew of when you applied for it"};
    static const char prose[] =
        "We pay the vet's bills for illness and accident of your dog but for "
        "what follows below:";
    for (int is_code = 0; is_code < 2; is_code++) {
        source s;
        begin(&s, "Terms");
        add_block(&s, 40, 80, prose);
        for (int i = 0; i < 3; i++)
            add_line(&s, 60, 100 + 10 * i, is_code && i == 1 ? "{ print }" : lines[i]);
        end_block(&s);
        fo_buf is = {0};
        fo_buf_str(&is, prose);
        fo_buf_str(&is, "\n\n");
        for (int i = 0; i < 3; i++)
            fo_buf_printf(&is, "%s%s%s", is_code ? "" : "\xE2\x80\xA2 ",
                          is_code && i == 1 ? "{ print }" : lines[i],
                          i == 2    ? ""
                          : is_code ? " "
                                    : "\n");
        fo_buf_str(&is, "|Terms");
        check(&s, is.data);
        fo_buf_free(&is);
    }
}

/* An indented paragraph whose lines are as full as they can be is none, nor one below nothing. */
static void indented_paragraphs_are_no_lists(void **state) {
    (void)state;
    source s;
    begin(&s, "Terms");
    add_block(&s, 40, 80, "What he wrote to the board in that same year is still of interest:");
    add_line(&s, 60, 100, "The board has done what it could, and nobody should");
    add_line(&s, 60, 110, "say that the mill was lost because of it; the river did");
    add_block(&s, 60, 120, "that alone.");
    check(&s,
          "What he wrote to the board in that same year is still of interest:\n\n"
          "The board has done what it could, and nobody should say that the mill was lost because "
          "of it; the river did that alone.|Terms");
}

static void the_name_of_a_file_is_no_title(void **state) {
    (void)state;
    static const char *const names[] = {
        "letter.docx", "page_4.HTML", "Microsoft Word - a.doc", "Untitled",
        "10811.exe",   "apssamp.dvi", "Presentation1",          "Microsoft PowerPoint - b"};
    source s;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        begin(&s, names[i]);
        add_block(&s, 40, 80, "Dear all");
        check(&s, "Dear all");
    }
    begin(&s, "How to write .htm");
    add_block(&s, 40, 80, "Dear all");
    check(&s, "Dear all|How to write .htm");
}

/* A block of a single line in letters of a height of their own. */
static void add_sized(source *s, int x0, int y0, int x1, int y1, const char *text) {
    char box[96];
    snprintf(box, sizeof box, "xMin=\"%d\" yMin=\"%d\" xMax=\"%d\" yMax=\"%d\"", x0, y0, x1, y1);
    fo_buf_printf(&s->xml, "<block %s><line %s><word %s>%s</word></line></block>", box, box, box,
                  text);
}

static void what_stands_on_its_side_is_no_title(void **state) {
    (void)state;
    source s;
    begin(&s, "");
    add_sized(&s, 20, 200, 40, 560, "arXiv:2611.01234v1"); /* a stamp in the margin */
    add_sized(&s, 60, 60, 300, 76, "Weirs*");
    add_line(&s, 60, 100,
             "A weir of oak lasts for a hundred years where it is always under water, and");
    add_block(&s, 60, 110, "a tenth of that where the water rises and falls.");
    add_sized(&s, 80, 300, 90, 360, "|X|/dB"); /* the name of an axis */
    check(&s,
          "arXiv:2611.01234v1\n\nWeirs*\n\n"
          "A weir of oak lasts for a hundred years where it is always under water, and a tenth of "
          "that where the water rises and falls.\n\n|X|/dB|Weirs*");
    begin(&s, "");
    add_sized(&s, 60, 60, 120, 76, "The weirs &#8727;");
    add_block(&s, 60, 100, "A weir of oak lasts for a hundred years.");
    check(&s, "The weirs \xE2\x88\x97\n\nA weir of oak lasts for a hundred years.|The weirs");
}

static void a_title_stands_before_the_text(void **state) {
    (void)state;
    source s;
    begin(&s, "");
    add_sized(&s, 60, 60, 300, 72, "Templates"); /* hardly larger, and the first of all */
    add_sized(&s, 60, 90, 300, 104, "Doe,");     /* letters with marks above them are higher */
    for (int i = 0; i < 10; i++)
        add_line(&s, 60, 120 + 10 * i,
                 "A weir of oak lasts for a hundred years where it is always under water,");
    end_block(&s);
    add_sized(&s, 60, 400, 300, 460, "X=Y");
    builder b = {.max_bytes = 1 << 20};
    extract_stream from = {read_source, end_source, &s};
    extract_input in = {.bytes = (const unsigned char *)"%PDF", .n = 4, .program = &from};
    fo_err err = {0};
    fo_buf_str(&s.xml, "</page></doc></body></html>");
    assert_ok(extract_pdf(&b, &in, &err), &err);
    assert_int_equal(b.title.len, 9);
    assert_memory_equal(b.title.data, "Templates", 9);
    fo_buf_free(&s.xml);
    builder_free(&b);
}

static void a_title_goes_on_in_the_block_below(void **state) {
    (void)state;
    source s;
    begin(&s, "");
    add_sized(&s, 60, 60, 300, 80, "Weirs");
    add_sized(&s, 60, 78, 300, 98, "Mills");
    add_sized(&s, 60, 130, 300, 150, "Doe");
    add_block(&s, 60, 200, "A weir of oak lasts for a hundred years.");
    check(&s, "Weirs\n\nMills\n\nDoe\n\nA weir of oak lasts for a hundred years.|Weirs Mills");
}

/* Letters that are hardly larger, or only bold, which nobody tells: the middle of the page does, above the authors. */
static void a_title_in_the_middle_is_one(void **state) {
    (void)state;
    for (int higher = 0; higher < 2; higher++) {
        source s;
        begin(&s, "");
        add_sized(&s, 250, 60, 350, higher ? 71 : 70, "Survey of weirs:");
        add_sized(&s, 240, 73, 360, higher ? 84 : 83, "a second look*");
        end_block(&s);
        add_sized(&s, 270, 110, 330, 120, "Ann Doe");
        for (int i = 0; i < 10; i++)
            add_line(
                &s, 60, 150 + 12 * i,
                "A weir of oak lasts for a hundred years where it is always under water, and in "
                "air for ten years alone, sun or rain.");
        end_block(&s);
        builder b = {.max_bytes = 1 << 20};
        extract_stream from = {read_source, end_source, &s};
        extract_input in = {.bytes = (const unsigned char *)"%PDF", .n = 4, .program = &from};
        fo_err err = {0};
        fo_buf_str(&s.xml, "</page></doc></body></html>");
        assert_ok(extract_pdf(&b, &in, &err), &err);
        fo_buf_char(&b.title, 0);
        assert_string_equal(b.title.data, "Survey of weirs: a second look*");
        fo_buf_free(&s.xml);
        builder_free(&b);
    }
}

/* What is largest on the page that slides begin with is no larger than the text of those behind it. */
static void slides_have_the_title_of_the_first_page(void **state) {
    (void)state;
    for (int as_large = 0; as_large < 2; as_large++) {
        source s;
        begin(&s, "");
        add_sized(&s, 200, 200, 440, 223, "Weirs of the valley");
        add_sized(&s, 250, 260, 390, as_large ? 283 : 279, "Ann Doe");
        for (int i = 0; i < 3; i++) {
            fo_buf_str(&s.xml, "</page><page width=\"600\" height=\"800\">");
            add_sized(&s, 60, 100, 540, 124,
                      i == 0   ? "Oak lasts for a hundred years where it is under water."
                      : i == 1 ? "In air it lasts for ten years."
                               : "Larch is cheaper.");
        }
        check(&s,
              as_large
                  ? "Weirs of the valley\n\nAnn Doe\n\nOak lasts for a hundred years where it is "
                    "under water.\n\nIn air it lasts for ten years.\n\nLarch is cheaper."
                  : "Weirs of the valley\n\nAnn Doe\n\nOak lasts for a hundred years where it is "
                    "under water.\n\nIn air it lasts for ten years.\n\nLarch is cheaper."
                    "|Weirs of the valley");
    }
}

/* Of a manual page: its name and what it is for. */
static void a_manual_page_has_its_name(void **state) {
    (void)state;
    source s;
    begin(&s, "");
    add_block(&s, 60, 60, "NAME");
    add_block(&s, 90, 80, "weir \xE2\x88\x92 look after weirs");
    add_block(&s, 60, 100, "SYNOPSIS");
    add_block(&s, 90, 120, "weir [-v] file");
    check(&s, "NAME\n\nweir \xE2\x88\x92 look after weirs\n\nSYNOPSIS\n\nweir [-v] file|"
              "weir \xE2\x88\x92 look after weirs");
    begin(&s, "");
    add_block(&s, 60, 60, "NAME");
    add_block(&s, 90, 80, "Ann Doe");
    check(&s, "NAME\n\nAnn Doe"); /* of a form */
}

/* Forty labels of the same words, each with its number: their lines run, and yet are all that there is. */
static void copies_of_a_page(source *s, bool with_words) {
    char number[16];
    begin(s, "");
    for (int i = 1; i <= 40; i++) {
        if (i > 1) fo_buf_str(&s->xml, "</page><page width=\"600\" height=\"800\">");
        if (with_words) add_block(s, 72, 60, "Boats leave at noon.");
        snprintf(number, sizeof number, "%d", i);
        add_block(s, 300, 780, number);
    }
}

static void what_all_pages_say_is_said_once(void **state) {
    (void)state;
    source s;
    copies_of_a_page(&s, true);
    check(&s, "Boats leave at noon.");
    copies_of_a_page(&s, false); /* page numbers alone are no text */
    check(&s, "");
    copies_of_a_page(&s, true);
    add_block(&s, 72, 400, "In winter they leave at ten.");
    check(&s, "In winter they leave at ten.");
}

/* A scan with a stamp on each page has no text before its letters are recognised. */
static void stamps_on_images_are_no_text(void **state) {
    (void)state;
    static const char *const files[] = {"%PDF <</Type/XObject/Subtype/Image/Width 9>>",
                                        "%PDF << /Type /XObject /Subtype /Image /Width 9 >>"};
    source s;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        copies_of_a_page(&s, true);
        check_file(&s, files[i], "");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbered_lines_are_items),
        cmocka_unit_test(numbers_within_lines_begin_none),
        cmocka_unit_test(bullets_begin_items),
        cmocka_unit_test(bullets_may_be_no_letters),
        cmocka_unit_test(indented_paragraphs_are_no_lists),
        cmocka_unit_test(the_name_of_a_file_is_no_title),
        cmocka_unit_test(what_stands_on_its_side_is_no_title),
        cmocka_unit_test(a_title_stands_before_the_text),
        cmocka_unit_test(a_title_goes_on_in_the_block_below),
        cmocka_unit_test(a_title_in_the_middle_is_one),
        cmocka_unit_test(slides_have_the_title_of_the_first_page),
        cmocka_unit_test(a_manual_page_has_its_name),
        cmocka_unit_test(what_all_pages_say_is_said_once),
        cmocka_unit_test(stamps_on_images_are_no_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
