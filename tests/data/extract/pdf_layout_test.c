/* Lines at the edges of pages, from what pdftotext says of them, put together here: heads, feet and page numbers are no text,
 * rows of tables are, though column names repeat as heads do and figures differ as page numbers do. And tables:
 * which lines are one, and where it ends. */
#include "tests/test.h"

#include "data/extract/pdf_layout.h"
#include "kernels/buf.h"

typedef struct source {
    fo_buf xml;
    size_t at;
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

static void begin_page(source *s) {
    fo_buf_str(&s->xml, s->xml.len ? "</page><page width=\"600\" height=\"800\">"
                                   : "<doc><page width=\"600\" height=\"800\">");
}

static void add_line(source *s, int x, int y, const char *text) {
    char box[96];
    snprintf(box, sizeof box, "xMin=\"%d\" yMin=\"%d\" xMax=\"%d\" yMax=\"%d\"", x, y, x + 40,
             y + 10);
    fo_buf_printf(&s->xml, "<block %s><line %s><word %s>%s</word></line></block>", box, box, box,
                  text);
}

/* The texts that are marked, parted by blanks, to out. */
static void marked(source *s, fo_buf *out) {
    builder b = {.max_bytes = 1 << 20};
    pdf_layout p;
    fo_buf_str(&s->xml, "</page></doc>");
    pdf_layout_read(&p, &b, &(extract_stream){read_source, end_source, s}, false);
    pdf_layout_mark_running(&p, &b);
    assert_int_equal(b.failure, FO_OK);
    fo_buf_str(out, "");
    for (size_t i = 0; i < p.n_lines; i++) {
        if (!p.lines[i].is_running) continue;
        if (out->len) fo_buf_char(out, ' ');
        fo_buf_add(out, p.text.data + p.lines[i].at, p.lines[i].n);
    }
    pdf_layout_free(&p, &b);
    builder_free(&b);
    fo_buf_free(&s->xml);
}

static void add_row(source *s, int y, const char *const *cells, size_t n) {
    for (size_t i = 0; i < n; i++) add_line(s, 50 + 120 * (int)i, y, cells[i]);
}

/* Three pages of a table of n columns below a head, above page numbers that begin with `first` (0: none). */
static void check_table(size_t n, int first, const char *expected) {
    static const char *const names[] = {"City", "People", "Schools", "Parks"}, *const towns[] = {
                                                                                   "Aachen",
                                                                                   "Berlin",
                                                                                   "Coburg"};
    source s = {0};
    fo_buf is = {0};
    for (int page = 0; page < 3; page++) {
        begin_page(&s);
        if (n > 3) add_row(&s, 60, names, n);
        for (int row = 0; row < 30; row++) {
            char a[16], b[16], c[16];
            snprintf(a, sizeof a, "%d", 1000 + 37 * (page * 30 + row));
            snprintf(b, sizeof b, "%d", 20 + 7 * (page * 30 + row));
            snprintf(c, sizeof c, "%d", 3 + 2 * (page * 30 + row));
            char town[32];
            snprintf(town, sizeof town, "%s%c", towns[page], (char)('a' + row % 26));
            add_row(&s, 80 + row * 22, (const char *[]){town, a, b, c}, n);
        }
        char number[16];
        snprintf(number, sizeof number, "%d", first + page);
        if (first) add_line(&s, 300, 770, number);
    }
    marked(&s, &is);
    assert_string_equal(is.data, expected);
    fo_buf_free(&is);
}

static void rows_at_the_edge_of_a_page_are_no_page_numbers(void **state) {
    (void)state;
    for (size_t n = 2; n <= 4; n++) {
        check_table(n, 0, "");
        check_table(n, 7, "7 8 9");
    }
}

/* Two columns of nothing but figures. */
static void figures_beside_figures_are_no_page_numbers(void **state) {
    (void)state;
    source s = {0};
    fo_buf is = {0};
    for (int page = 0; page < 2; page++) {
        begin_page(&s);
        for (int row = 0; row < 30; row++) {
            char a[16], b[16];
            snprintf(a, sizeof a, "%d", 1900 + 30 * page + row);
            snprintf(b, sizeof b, "%d", 5 + 3 * (30 * page + row));
            add_row(&s, 60 + row * 22, (const char *[]){a, b}, 2);
        }
    }
    marked(&s, &is);
    assert_string_equal(is.data, "");
    fo_buf_free(&is);
}

/* A number beside a head that changes from page to page is that of the page, where it counts them. */
static void page_numbers_beside_other_words_count_pages(void **state) {
    (void)state;
    static const char *const heads[] = {"Boats", "Oars", "Ropes"}, *const chapters[] = {"i", "ii",
                                                                                        "iii"};
    for (int roman = 0; roman < 2; roman++) {
        source s = {0};
        fo_buf is = {0};
        for (int page = 0; page < 3; page++) {
            char number[16];
            snprintf(number, sizeof number, "%d", 12 + page);
            begin_page(&s);
            add_line(&s, 50, 40, heads[page]);
            add_line(&s, 500, 40, roman ? chapters[page] : number);
            for (int row = 0; row < 20; row++) {
                char text[32];
                snprintf(text, sizeof text, "%s, line %c", heads[page], 'a' + row);
                add_line(&s, 50, 100 + row * 20, text);
            }
            add_line(&s, 50, 770, "The fen in winter");
        }
        marked(&s, &is);
        assert_string_equal(
            is.data, roman ? "i The fen in winter ii The fen in winter iii The fen in winter"
                           : "12 The fen in winter 13 The fen in winter 14 The fen in winter");
        fo_buf_free(&is);
    }
}

/* Pages of letters and bills begin and end alike, but for the amounts. */
static void amounts_in_words_are_no_running_heads(void **state) {
    (void)state;
    static const struct {
        const char *head[3], *foot[3], *marked;
    } cases[] = {
        {{"Rent of the flat: 500 pounds", "Rent of the flat: 700 pounds"},
         {"Total due: 120.00", "Total due: 340.00"},
         ""},
        {{"Report 2024", "Report 2024", "Report 2024"},
         {"Fen Trust - page 4 of 9", "Fen Trust - page 5 of 9", "Fen Trust - page 6 of 9"},
         "Report 2024 Fen Trust - page 4 of 9 Report 2024 Fen Trust - page 5 of 9 Report 2024 Fen "
         "Trust - page 6 of 9"},
        {{"Paid 30", "Paid 40", "Paid 30"},
         {"Boats 3-1", "Boats 3-2", "Boats 5-9"},
         "Boats 3-1 Boats 3-2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        source s = {0};
        fo_buf is = {0};
        for (int page = 0; page < 3 && cases[i].head[page]; page++) {
            begin_page(&s);
            add_line(&s, 50, 40, cases[i].head[page]);
            for (int row = 0; row < 20; row++) {
                char text[32];
                snprintf(text, sizeof text, "Page %c, line %c", 'a' + page, 'a' + row);
                add_line(&s, 50, 100 + row * 20, text);
            }
            add_line(&s, 50, 770, cases[i].foot[page]);
        }
        marked(&s, &is);
        assert_string_equal(is.data, cases[i].marked);
        fo_buf_free(&is);
    }
}

/* ---- tables ---------------------------------------------------------------------------------------- */

/* A line of words, each letter four points wide. */
static void add_words(source *s, int x, int y, const char *text) {
    char box[96];
    const int width = 4 * (int)strlen(text);
    snprintf(box, sizeof box, "xMin=\"%d\" yMin=\"%d\" xMax=\"%d\" yMax=\"%d\"", x, y, x + width,
             y + 9);
    fo_buf_printf(&s->xml, "<block %s><line %s>", box, box);
    for (size_t n; *text; text += n + (text[n] == ' '), x += 4 * (int)(n + 1)) {
        n = strcspn(text, " ");
        fo_buf_printf(&s->xml, "<word xMin=\"%d\" yMin=\"%d\" xMax=\"%d\" yMax=\"%d\">%.*s</word>",
                      x, y, x + 4 * (int)n, y + 9, (int)n, text);
    }
    fo_buf_str(&s->xml, "</line></block>");
}

/* The cells of all tables: "a|b" a row, a line each; "*" before one that is said to head its table. */
static void cells(source *s, fo_buf *out) {
    builder b = {.max_bytes = 1 << 20};
    pdf_layout p;
    fo_buf_str(&s->xml, "</page></doc>");
    pdf_layout_read(&p, &b, &(extract_stream){read_source, end_source, s}, false);
    pdf_layout_order_columns(&p, &b);
    assert_int_equal(b.failure, FO_OK);
    fo_buf_str(out, "");
    for (size_t i = 0; i < p.n_tables; i++) {
        const pdf_table *t = &p.tables[i];
        for (size_t k = 0; k < t->n_pieces; k++) {
            const pdf_piece *at = &p.pieces[t->piece + k];
            const bool begins = k == 0 || at->row != at[-1].row;
            fo_buf_str(out, !begins ? "|" : out->len ? "\n" : "");
            if (k == 0 && t->headed) fo_buf_char(out, '*');
            fo_buf_add(out, p.text.data + at->at, at->n);
        }
    }
    pdf_layout_free(&p, &b);
    builder_free(&b);
    fo_buf_free(&s->xml);
}

/* Lines to fill in stand above a table, over its columns, and a heading between both. */
static void a_table_below_a_form_has_its_own_columns(void **state) {
    (void)state;
    static const char *const fields[] = {"Name:", "Address:", "Telephone:", "Day:", "Kind:"};
    static const char *const rows[][6] = {{"Room", "Seats", "Hour", "Evening", "Day", "Floor"},
                                          {"Hall", "180", "$32", "$140", "$240", "ground"},
                                          {"Garden", "60", "$18", "$75", "$130", "ground"},
                                          {"Office", "16", "$11", "$40", "$70", "first"},
                                          {"Kitchen", "4", "$8", "$30", "$45", "ground"}};
    static const int x[] = {56, 170, 238, 317, 396, 482};
    source s = {0};
    fo_buf is = {0};
    begin_page(&s);
    for (int i = 0; i < 5; i++) {
        add_words(&s, 56, 100 + 16 * i, fields[i]);
        add_words(&s, 240, 100 + 16 * i, "________________________________________");
    }
    add_words(&s, 56, 184, "B. Rooms and charges");
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 6; k++) add_words(&s, x[k], 202 + 14 * i, rows[i][k]);
    cells(&s, &is);
    const char *table = strstr(is.data, "*Room");
    assert_string_equal(table ? table : is.data,
                        "*Room|Seats|Hour|Evening|Day|Floor\nHall|180|$32|$140|$240|ground\n"
                        "Garden|60|$18|$75|$130|ground\nOffice|16|$11|$40|$70|first\n"
                        "Kitchen|4|$8|$30|$45|ground");
    fo_buf_free(&is);
}

/* What costs it may take a line to say; a list of chapters with their pages is no table. */
static void amounts_beside_lines_are_a_table(void **state) {
    (void)state;
    static const char *const names[] = {"Gift wrapping, for each bottle",
                                        "Wooden box for one bottle", "Wooden box for three bottles",
                                        "Evening delivery (6 to 9 pm)",
                                        "Saturday delivery by parcel service"};
    for (int pages = 0; pages < 2; pages++) {
        source s = {0};
        fo_buf is = {0};
        begin_page(&s);
        if (!pages) add_words(&s, 84, 82, "Service");
        if (!pages) add_words(&s, 260, 82, "Price");
        for (int i = 0; i < 5; i++) {
            char amount[16];
            snprintf(amount, sizeof amount, pages ? "%d" : "EUR%d.50", 12 + i);
            add_words(&s, 84, 100 + 18 * i, names[i]);
            add_words(&s, 260, 100 + 18 * i, amount);
        }
        cells(&s, &is);
        static const char table[] = "*Service|Price\nGift wrapping, for each bottle|EUR12.50\n";
        if (pages)
            assert_string_equal(is.data, "");
        else if (strncmp(is.data, table, sizeof table - 1) != 0)
            fail_msg("%s", is.data);
        fo_buf_free(&is);
    }
}

/* A line of words at places of their own, each letter four points wide and twelve high. */
static void add_words_at(source *s, int y, const int *x, const char *text) {
    fo_buf words = {0};
    int x1 = *x;
    for (size_t i = 0, n; *text; text += n + (text[n] == ' '), i++) {
        n = strcspn(text, " ");
        x1 = x[i] + 4 * (int)n;
        fo_buf_printf(&words, "<word xMin=\"%d\" yMin=\"%d\" xMax=\"%d\" yMax=\"%d\">%.*s</word>",
                      x[i], y, x1, y + 12, (int)n, text);
    }
    char box[96];
    snprintf(box, sizeof box, "xMin=\"%d\" yMin=\"%d\" xMax=\"%d\" yMax=\"%d\"", *x, y, x1, y + 12);
    fo_buf_printf(&s->xml, "<block %s><line %s>%s</line></block>", box, box, words.data);
    fo_buf_free(&words);
}

/* Cells as wide as their column are hardly farther from the next one than words are from each other; and names of columns may
 * have figures, and nothing above the names of rows. */
static void cells_may_stand_close_to_each_other(void **state) {
    (void)state;
    source s = {0};
    fo_buf is = {0};
    begin_page(&s);
    add_words_at(&s, 100, (const int[]){135}, "46");
    add_words_at(&s, 100, (const int[]){190, 202}, "46 SP");
    add_words_at(&s, 116, (const int[]){56, 88, 113, 125}, "Cutting width 47 cm");
    add_words_at(&s, 116, (const int[]){174, 186}, "48 cm");
    add_words_at(&s, 132, (const int[]){56}, "Weight");
    add_words_at(&s, 132, (const int[]){113, 125}, "27 kg");
    add_words_at(&s, 132, (const int[]){174, 186}, "33 kg");
    add_words_at(&s, 148, (const int[]){56}, "Engine");
    add_words_at(&s, 148, (const int[]){113, 129, 145, 161, 174, 190, 206, 222},
                 "139 cc, 2.1 kW 166 cc, 2.7 kW");
    for (int i = 0; i < 4; i++) {
        add_words_at(&s, 164 + 16 * i, (const int[]){56}, i % 2 ? "Box" : "Tank");
        add_words_at(&s, 164 + 16 * i, (const int[]){113, 129}, "0.8 l");
        add_words_at(&s, 164 + 16 * i, (const int[]){174, 190}, "1.1 l");
    }
    cells(&s, &is);
    assert_string_equal(is.data, "*46|46 SP\nCutting width|47 cm|48 cm\nWeight|27 kg|33 kg\n"
                                 "Engine|139 cc, 2.1 kW|166 cc, 2.7 kW\n"
                                 "Tank|0.8 l|1.1 l\nBox|0.8 l|1.1 l\nTank|0.8 l|1.1 l\n"
                                 "Box|0.8 l|1.1 l");
    fo_buf_free(&is);
}

typedef struct placed {
    int x, y;
    const char *text;
} placed;

/* What the cells of a page with these lines are. */
static void check_cells(const placed *lines, size_t n, const char *expected) {
    source s = {0};
    fo_buf is = {0};
    begin_page(&s);
    for (size_t i = 0; i < n; i++) add_words(&s, lines[i].x, lines[i].y, lines[i].text);
    cells(&s, &is);
    assert_string_equal(is.data, expected);
    fo_buf_free(&is);
}

/* A cell of one line beside one of two stands between these, as in tables of web pages. Columns of text whose lines are no
 * neighbours of each other are none. */
static void cells_in_the_middle_of_their_row_are_of_it(void **state) {
    (void)state;
    static const placed lines[] = {
        {56, 100, "Fault"},          {150, 100, "Cause"},         {300, 100, "What to do"},
        {56, 118, "Pump does not"},  {56, 128, "start"},          {150, 123, "Impeller is blocked"},
        {300, 123, "Clean it"},      {56, 151, "Flow gets weak"}, {150, 146, "Sponge full,"},
        {150, 156, "hose bent"},     {300, 146, "Clean the"},     {300, 156, "sponge"},
        {56, 174, "Filter is loud"}, {150, 174, "Air"},           {300, 174, "Tilt it"},
        {56, 197, "Water runs"},     {150, 192, "Ring dry"},      {150, 202, "or dirty"},
        {300, 197, "Clean it"}};
    /* A cell's lines are parted by "|" here, as cells are. */
    check_cells(lines, sizeof lines / sizeof *lines,
                "Fault|Cause|What to do\n"
                "Pump does not|start|Impeller is blocked|Clean it\n"
                "Flow gets weak|Sponge full,|hose bent|Clean the|sponge\n"
                "Filter is loud|Air|Tilt it\n"
                "Water runs|Ring dry|or dirty|Clean it");
}

/* As browsers print tables: rows are hardly farther apart than the lines of a cell, and one line may stand beside the middle one of
 * three. */
static void rows_may_stand_nearly_as_close_as_lines(void **state) {
    (void)state;
    static const placed lines[] = {
        {56, 105, "Pump"},         {150, 105, "Place"},        {250, 100, "Service"},
        {250, 110, "interval"},    {350, 105, "Person"},       {56, 132, "North pump"},
        {150, 122, "Building"},    {150, 132, "behind the"},   {150, 142, "old mill"},
        {250, 132, "400 hours"},   {350, 132, "Marta"},        {56, 164, "South pump"},
        {150, 164, "Cellar"},      {250, 154, "650 hours or"}, {250, 164, "every second"},
        {250, 174, "spring"},      {350, 164, "Jonas"},        {56, 186, "Auxiliary"},
        {56, 196, "drainage"},     {56, 206, "pump"},          {150, 186, "Field four,"},
        {150, 196, "next to the"}, {150, 206, "gate"},         {250, 196, "90 days"},
        {350, 191, "Ilse van"},    {350, 201, "Meulen"},       {56, 218, "Fire pump"},
        {150, 218, "Yard"},        {250, 218, "30 days"},      {350, 218, "Tomas"}};
    check_cells(lines, sizeof lines / sizeof *lines,
                "Pump|Place|Service|interval|Person\n"
                "North pump|Building|behind the|old mill|400 hours|Marta\n"
                "South pump|Cellar|650 hours or|every second|spring|Jonas\n"
                "Auxiliary|drainage|pump|Field four,|next to the|gate|90 days|Ilse van|Meulen\n"
                "Fire pump|Yard|30 days|Tomas");
}

/* Where cells begin at the top of their row, a name may go on below itself, nearer than the next row. Names in small letters that
 * are all as far apart are each of a row. */
static void names_of_rows_may_have_more_lines(void **state) {
    (void)state;
    static const placed lines[] = {
        {56, 100, "Pump"},         {150, 100, "Place"},     {250, 100, "Interval"},
        {350, 100, "Person"},      {56, 112, "North pump"}, {150, 112, "Cellar"},
        {250, 112, "400 hours"},   {350, 112, "Marta"},     {56, 124, "Auxiliary"},
        {56, 134, "drainage"},     {56, 144, "pump"},       {150, 124, "Field four,"},
        {150, 134, "by the gate"}, {250, 124, "90 days"},   {350, 124, "Ilse"},
        {56, 156, "Fire pump"},    {150, 156, "Yard"},      {250, 156, "30 days"},
        {350, 156, "Tomas"}};
    check_cells(lines, sizeof lines / sizeof *lines,
                "Pump|Place|Interval|Person\n"
                "North pump|Cellar|400 hours|Marta\n"
                "Auxiliary|drainage|pump|Field four,|by the gate|90 days|Ilse\n"
                "Fire pump|Yard|30 days|Tomas");
    static const placed small[] = {
        {56, 100, "Word"},        {150, 100, "Does"},        {250, 100, "Often"},
        {56, 112, "list"},        {150, 112, "shows files"}, {250, 112, "daily"},
        {56, 124, "change"},      {150, 124, "goes there"},  {56, 136, "copy"},
        {150, 136, "makes two"},  {250, 136, "daily"},       {56, 148, "move"},
        {150, 148, "names anew"}, {250, 148, "weekly"}};
    check_cells(small, sizeof small / sizeof *small,
                "Word|Does|Often\nlist|shows files|daily\nchange|goes there\n"
                "copy|makes two|daily\nmove|names anew|weekly");
}

/* Three names close below each other, of which the middle one alone has figures, are three rows: they begin with capitals. */
static void names_above_and_below_a_row_are_not_of_it(void **state) {
    (void)state;
    static const placed lines[] = {{56, 100, "Account"}, {150, 100, "North"}, {250, 100, "South"},
                                   {56, 118, "Assets"},  {56, 128, "Cash"},   {150, 128, "51"},
                                   {250, 128, "72"},     {56, 138, "Debts"},  {56, 156, "Loan"},
                                   {150, 156, "83"},     {250, 156, "94"},    {56, 174, "Lease"},
                                   {150, 174, "12"},     {250, 174, "13"}};
    check_cells(lines, sizeof lines / sizeof *lines,
                "*Account|North|South\nAssets\nCash|51|72\nDebts\nLoan|83|94\nLease|12|13");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_at_the_edge_of_a_page_are_no_page_numbers),
        cmocka_unit_test(figures_beside_figures_are_no_page_numbers),
        cmocka_unit_test(page_numbers_beside_other_words_count_pages),
        cmocka_unit_test(amounts_in_words_are_no_running_heads),
        cmocka_unit_test(a_table_below_a_form_has_its_own_columns),
        cmocka_unit_test(amounts_beside_lines_are_a_table),
        cmocka_unit_test(cells_may_stand_close_to_each_other),
        cmocka_unit_test(cells_in_the_middle_of_their_row_are_of_it),
        cmocka_unit_test(rows_may_stand_nearly_as_close_as_lines),
        cmocka_unit_test(names_of_rows_may_have_more_lines),
        cmocka_unit_test(names_above_and_below_a_row_are_not_of_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
