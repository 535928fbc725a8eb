/* Tables of values: what parts their fields, quotes, names of columns, and where rows end. */
#include "tests/data/extract/formats_here.h"

#include "data/extract/csv_rows.h"
#include "kernels/buf.h"
#include "kernels/utf8.h"

static void tables_of_values(void **state) {
    (void)state;
    static const struct {
        const char *name, *bytes, *text, *range;
    } cases[] = {
        {"a.csv", "Well,Level,Note\r\nW5,342,\"dry, \"\"never\"\"\nsince\"\r\n\r\nW6,,none\r\n",
         "Well | Level | Note\n\nWell: W5; Level: 342; Note: dry, \"never\" since\n\nWell: W6; "
         "Note: none",
         "A4:C4"},
        {"b.tsv", "name\tcity\nAnn\tBergen, NO\n", "name | city\n\nname: Ann; city: Bergen, NO",
         "A2:B2"},
        {"c.csv", "1;2,5\n3;4,5\n", "1 | 2,5\n3 | 4,5", "A2:B2"},
        {"d.csv", "\"unclosed\nline", "\"unclosed\nline", "A2"},
        {"e.csv",
         "code,item,price\nP1,Rye loaf,4\nP2,,\n\"The prices are valid from 1 February to the "
         "end.\"\n",
         "code | item | price\n\ncode: P1; item: Rye loaf; price: 4\n\ncode: P2\n\n"
         "The prices are valid from 1 February to the end.",
         "A4"},
        {"f.csv", "Product,2021,2022\nTea,5,7\nMilk,,1999\n",
         "Product | 2021 | 2022\n\nProduct: Tea; 2021: 5; 2022: 7\n\nProduct: Milk; 2022: 1999",
         "A3:C3"},
        {"g.csv", "Sold\n,Unit,2022,2021,Total\nTea,t,5,7,12\n",
         "Sold\nUnit | 2022 | 2021 | Total\n\nTea; Unit: t; 2022: 5; 2021: 7; Total: 12", "A3:E3"},
        {"h.csv", "Founded,1998,2001\nClosed,2010,2015\n",
         "Founded | 1998 | 2001\nClosed | 2010 | 2015", "A2:C2"},
        {"i.csv", "Ann,1998,2001,Bergen\nBen,2003,7,Oslo\n",
         "Ann | 1998 | 2001 | Bergen\nBen | 2003 | 7 | Oslo", "A2:D2"},
        {"j.csv", "Rent,1350,1400\nFood,300,310\n", "Rent | 1350 | 1400\nFood | 300 | 310",
         "A2:C2"},
        {"form.csv", "Tenant:,Ann Lund\nRent:,1350\nNote:,none\n",
         "Tenant: Ann Lund\nRent: 1350\nNote: none", "A3:B3"},
        {"k.csv", "Price list, May 2024\nName;City;Price\nAnn;Bath;5\nBob;York;7\n",
         "Price list, May 2024\nName | City | Price\n\nName: Ann; City: Bath; Price: 5\n\n"
         "Name: Bob; City: York; Price: 7",
         "A4:C4"},
        {"q.csv", "sep=;\r\nName;Price\r\nTea, green;2,50\r\nMilk, cold, fresh;1,20\r\n",
         "Name | Price\n\nName: Tea, green; Price: 2,50\n\nName: Milk, cold, fresh; Price: 1,20",
         "A4:B4"},
        {"r.csv", "\"sep=|\"\nName|Note\nAnn|a,b\nBob|c,d\n",
         "Name | Note\n\nName: Ann; Note: a,b\n\nName: Bob; Note: c,d", "A4:B4"},
        {"s.csv", "sep=xy,b\n1,2\n", "sep=xy | b\n\nsep=xy: 1; b: 2", "A2:B2"},
        {"l.csv", "0,5;1,5;2,5\n3,5;4,5;5,5\n", "0,5 | 1,5 | 2,5\n3,5 | 4,5 | 5,5", "A2:C2"},
        {"m.csv", "Name,Note\nAnn,a; b; c; d\nBob,\"x; y; z\"\n",
         "Name | Note\n\nName: Ann; Note: a; b; c; d\n\nName: Bob; Note: x; y; z", "A3:B3"},
        {"n.csv", "1\tBergen, NO\n2\tOslo, NO\n", "1 | Bergen, NO\n2 | Oslo, NO", "A2:B2"},
        {"o.csv", "Name, Town, Beds\nAnn, \"Bath, Avon\", 5\nBob,  \"York\" , 7\n",
         "Name | Town | Beds\n\nName: Ann; Town: Bath, Avon; Beds: 5\n\nName: Bob; Town: York; "
         "Beds: 7",
         "A3:C3"},
        {"p.csv", "Name,Note\nAnn, \"so\" she said\nBob, \"three\nlines\"\n",
         "Name | Note\n\nName: Ann; Note: \"so\" she said\n\nName: Bob; Note: three lines",
         "A3:B3"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        extracted x;
        fo_err err = {0};
        extract_request rq = {.bytes = cases[i].bytes,
                              .n = strlen(cases[i].bytes),
                              .file_name = cases[i].name,
                              .max_text_bytes = LIMIT};
        assert_ok(extract_text(&x, &rq, &err), &err);
        assert_string_equal(x.format, "csv");
        assert_string_equal(x.text, cases[i].text);
        const text_place *p = extracted_place(&x, &x.blocks[x.n_blocks - 1]);
        assert_string_equal(p->range, cases[i].range);
        extracted_deinit(&x);
    }
}

static void rows_below_a_stray_quote_are_rows(void **state) {
    (void)state;
    enum { ROWS = 10000 };
    for (int quoted = 0; quoted < 2; quoted++) {
        fo_buf csv = {0};
        fo_buf_str(&csv, "Number,Size,Remark\n");
        for (int i = 2; i <= ROWS; i++)
            fo_buf_printf(&csv, "%d,%s,%s\n", i, i == 5 ? "\"3 inches" : "small",
                          quoted ? "\"so, \"\"so\"\"\"" : "dry");
        extracted x;
        fo_err err = {0};
        extract_request rq = {
            .bytes = csv.data, .n = csv.len, .file_name = "a.csv", .max_text_bytes = LIMIT};
        assert_ok(extract_text(&x, &rq, &err), &err);
        assert_int_equal(x.n_blocks, ROWS);
        for (size_t i = 1; i < x.n_blocks; i++) {
            char row[64], range[48];
            const text_block *b = &x.blocks[i];
            int n = snprintf(row, sizeof row, "Number: %zu; Size: %s; Remark: %s", i + 1,
                             i + 1 == 5 ? "\"3 inches" : "small", quoted ? "so, \"so\"" : "dry");
            snprintf(range, sizeof range, "A%zu:C%zu", i + 1, i + 1);
            assert_int_equal(b->end - b->start, n);
            assert_memory_equal(x.text + b->start, row, (size_t)n);
            assert_string_equal(extracted_place(&x, b)->range, range);
        }
        extracted_deinit(&x);
        fo_buf_free(&csv);
    }
}

/* A row ends where its last field does, also where that is quoted behind blanks. */
static void rows_end_behind_their_quotes(void **state) {
    (void)state;
    static const char rows[] = "Ann, \"Bath\nAvon\", 5\nBob, \"York\n";
    uint64_t n_rows;
    assert_int_equal(csv_rows_end(rows, sizeof rows - 1, ',', true, &n_rows), 20);
    assert_int_equal(n_rows, 1);
    assert_int_equal(csv_separator(rows, sizeof rows - 1), ',');
}

/* A thousand names of so many bytes, above twenty rows. */
static void read_wide(size_t bytes, extracted *x) {
    enum { COLUMNS = 1000, ROWS = 20 };
    fo_buf csv = {0};
    for (size_t c = 0; c < COLUMNS; c++) {
        const size_t end = csv.len + bytes;
        fo_buf_printf(&csv, "n%03zu", c);
        while (csv.len < end) fo_buf_str(&csv, csv.len + 3 <= end ? " \xC3\xA9" : "x");
        fo_buf_char(&csv, c + 1 < COLUMNS ? ',' : '\n');
    }
    for (size_t r = 0; r < ROWS; r++)
        for (size_t c = 0; c < COLUMNS; c++)
            fo_buf_printf(&csv, "%zu%c", r * COLUMNS + c, c + 1 < COLUMNS ? ',' : '\n');
    fo_err err = {0};
    extract_request rq = {
        .bytes = csv.data, .n = csv.len, .file_name = "wide.csv", .max_text_bytes = LIMIT};
    assert_ok(extract_text(x, &rq, &err), &err);
    fo_buf_free(&csv);
}

/* Long names of many columns are said whole once, not in each row. */
static void long_names_are_said_once(void **state) {
    (void)state;
    extracted x;
    read_wide(24, &x);
    assert_non_null(
        strstr(x.text, "; n999 \xC3\xA9 \xC3\xA9 \xC3\xA9 \xC3\xA9 \xC3\xA9 \xC3\xA9xx: 19999"));
    extracted_deinit(&x);
    read_wide(200, &x);
    assert_true(x.len < 1000 * 200 + 20 * (40 << 10) + (8 << 10));
    assert_true(fo_utf8_valid(x.text, x.len, NULL));
    const char *first = strstr(x.text, "\n\n");
    assert_non_null(first);
    assert_true(first - x.text > 1000 * 200); /* the names, whole */
    assert_non_null(strstr(first, "; n999 \xC3\xA9 \xC3\xA9 \xC3\xA9"));
    assert_non_null(strstr(first, ": 19999"));
    extracted_deinit(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_of_values),
        cmocka_unit_test(rows_below_a_stray_quote_are_rows),
        cmocka_unit_test(rows_end_behind_their_quotes),
        cmocka_unit_test(long_names_are_said_once),
    };
    return cmocka_run_group_tests(tests, formats_here, NULL);
}
