/* table_row_test.c - cells of rows with bars and of columns; which lines stand below each other. */
#include "retrieval/units/table_row.h"

#include "data/extract/text_columns.h"

#include <string.h>

#include "tests/test.h"

/* The cells of a row, with a slash behind each. */
static void expect(const char *row, const char *want) {
    char got[256];
    size_t n = 0, bytes;
    const char *cell;
    for (size_t at = 0; table_row_cell(row, strlen(row), &at, &cell, &bytes);)
        n += (size_t)snprintf(got + n, sizeof got - n, "%.*s/", (int)bytes, cell);
    got[n] = 0;
    assert_string_equal(got, want);
}

static void a_row_falls_into_cells(void **state) {
    (void)state;
    expect("a | b", "a/b/");
    expect("| a | | c |", "a//c/");
    expect("a  b c\t d", "a/b c/d/");
    expect("E1    no water.  Open the tap.", "E1/no water.  Open the tap./");
    expect("            Gym     Pool ", "/Gym/Pool/");
    expect("one", "one/");
    expect("", "");
    expect(" ", "");
}

static bool is_below(const char *a, const char *b) {
    return text_columns_are_below(a, strlen(a), b, strlen(b));
}

static void columns_stand_below_each_other(void **state) {
    (void)state;
    assert_true(is_below("Monday   9-12", "Tuesday  closed"));
    assert_true(is_below("canoes      3", "boats      12"));            /* their ends */
    assert_true(is_below("caf\xC3\xA9     2 euro", "tea      3 euro")); /* by characters */
    assert_true(
        is_below("الماء لا يسخن   صيانة", "الماء لا يُصرَّف   مصفاة")); /* signs of vowels take none */
    assert_true(is_below("a\tb", "a longer one\tb"));
    assert_false(is_below("Monday   9-12", "Tuesday       closed"));
    assert_false(is_below("Monday   9-12", "Tuesday  9-12  closed"));
    assert_false(is_below("one cell", "another cell"));
    assert_false(is_below("a | b", "c | d"));
    assert_false(is_below("", ""));
}

static bool names_others(const char *a, const char *b) {
    return text_columns_name_others(a, strlen(a), b, strlen(b));
}

static void the_first_column_may_have_no_name(void **state) {
    (void)state;
    assert_true(
        names_others("          low season   high season", "Tent           18            24"));
    assert_true(names_others("         Gym    Pool", "Sunday   8-18   9-17"));
    assert_false(
        names_others("Day      Gym    Pool", "Sunday   8-18   9-17")); /* none is missing */
    assert_false(
        names_others("     Gym              Pool", "Sunday   8-18   9-17"));    /* not above */
    assert_false(names_others("         8-18   9-17", "Sunday   8-18   9-17")); /* values */
}

static bool names(const char *a, const char *b) {
    return table_row_names_columns(a, strlen(a), b, strlen(b));
}

static void names_of_columns_are_told_from_values(void **state) {
    (void)state;
    assert_true(names("Program  Time  Use", "Eco      50    pots"));
    assert_true(
        names("Age         Weight     At most in 24 hours", "4 to 6 y    16 kg      3 doses"));
    assert_false(names("Eco      50    pots", "Quick    20    pans"));
    assert_false(names("Kite     red    size B2", "Kite     blue   size B3"));
    assert_true(
        names("Karte         Erwachsene  Kinder 6-14", "Einzelfahrt   2,60 EUR    1,30 EUR"));
    assert_true(names("Stop     Run 1  Run 2", "Klinik   -      8:51"));
    assert_false(names("Mill     Gate 1  6:52", "Bridge   Gate 2  6:55"));
    assert_false(names("Mill     Gate 1  Bay 2", "Bridge   Gate 2  6:55"));
    assert_false(names("Zone 1   Adults  Under 6", "Zone 2   2.60    1.30"));
    assert_false(names("Ann  Oslo  cook", "Bo   Rome  guide")); /* nothing tells */
    assert_false(names("day  Oslo  Use", "Mon  5     pots"));
    assert_false(names("Monday  closed", "Tuesday  9 to 12"));
}

static void expect_pair(const char *row, size_t *at, const char *name, const char *value) {
    table_pair p;
    assert_true(table_row_pair(row, strlen(row), at, &p));
    assert_int_equal(p.n_name, strlen(name));
    assert_memory_equal(p.name, name, p.n_name);
    assert_int_equal(p.n_value, strlen(value));
    assert_memory_equal(p.value, value, p.n_value);
}

static void a_record_falls_into_pairs(void **state) {
    (void)state;
    table_pair p;
    const char *row = "Part: pump; Warranty: 3 years; seals 1 year; Page: see http://a.b/c; 4";
    size_t at = 0;
    expect_pair(row, &at, "Part", "pump");
    expect_pair(row, &at, "Warranty", "3 years; seals 1 year");
    expect_pair(row, &at, "Page", "see http://a.b/c; 4");
    assert_false(table_row_pair(row, strlen(row), &at, &p));
    const char *nameless =
        "Revenue; Q1: 41; Q2: 52"; /* nothing stands in the corner of the table */
    at = 0;
    expect_pair(nameless, &at, "", "Revenue");
    expect_pair(nameless, &at, "Q1", "41");
    assert_true(table_row_first(nameless, strlen(nameless), true, &p));
    assert_memory_equal(p.value, "Revenue", p.n_value);
    const char *whole = "Room: Garden Room; Whole day (9:00-23:00), all hirers: 130; Till: 9:30";
    at = 0;
    expect_pair(whole, &at, "Room", "Garden Room");
    expect_pair(whole, &at, "Whole day (9:00-23:00), all hirers", "130");
    expect_pair(whole, &at, "Till", "9:30");
    const char *none[] = {
        "",
        "a",
        "a: b",
        "He came; he saw",
        "Note: this ends; ",
        "a: ; b: c",
        "--step N | 512 | smaller: less; larger: more",
    };
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (table_row_is_record(none[i], strlen(none[i]))) fail_msg("a record: %s", none[i]);
}

static bool is_alike(const char *a, const char *b) {
    return table_row_is_alike(a, strlen(a), b, strlen(b));
}

static void records_of_a_table_have_the_same_names(void **state) {
    (void)state;
    assert_true(is_alike("Room | Floor | Seats", "Room: Eider; Floor: 2"));
    assert_true(is_alike(" | Q1 | Q2", "Revenue; Q1: 41; Q2: 52"));
    assert_true(is_alike("Room: Dunlin; Floor: 2; Seats: 6", "Room: Eider; Floor: 2"));
    assert_true(is_alike("Room: Dunlin; Floor: 2; Seats: 6", "Floor: 2; Seats: 40"));
    assert_false(is_alike("Room: Dunlin; Floor: 2; Seats: 6", "Desk: 4; Floor: 2; Seats: 40"));
    assert_false(is_alike("Room: Dunlin; Floor: 2", "Room: Eider; Chairs: 2; Lamp: 4; Door: 5"));
    assert_false(is_alike("Desk | Lamp", "Room: Eider; Floor: 2"));
    assert_false(is_alike("Room of Eider", "Room: Eider; Floor: 2"));
    assert_false(is_alike("Room | Floor", "no record"));
}

static void years_that_go_one_way_name_columns(void **state) {
    (void)state;
    static const char *const names[] = {"Item | 2023 | 2024", "| | 2024 | 2023 | 2022 |",
                                        "Ticket   1998    1999"},
                             *const values[] = {"Item | 2023",        "Item | 2023 | 2023",
                                                "Rent | 1350 | 1400", "1 | 2023 | 2024",
                                                "Item | 2023 | rest", "Item | 2021 | 2023 | 2022"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_true(table_row_names_years(names[i], strlen(names[i])));
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        assert_false(table_row_names_years(values[i], strlen(values[i])));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_falls_into_cells),
        cmocka_unit_test(columns_stand_below_each_other),
        cmocka_unit_test(the_first_column_may_have_no_name),
        cmocka_unit_test(names_of_columns_are_told_from_values),
        cmocka_unit_test(a_record_falls_into_pairs),
        cmocka_unit_test(records_of_a_table_have_the_same_names),
        cmocka_unit_test(years_that_go_one_way_name_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
