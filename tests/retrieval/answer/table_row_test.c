/* table_row_test.c - cells of rows with bars and of columns; which lines stand below each other. */
#include "retrieval/answer/table_row.h"

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
    expect("  E1    no water.  Open the tap.", "E1/no water.  Open the tap./");
    expect("one", "one/");
    expect("", "");
    expect("   ", "");
}

static bool is_below(const char *a, const char *b) {
    return table_row_is_below(a, strlen(a), b, strlen(b));
}

static void columns_stand_below_each_other(void **state) {
    (void)state;
    assert_true(is_below("Monday   9-12", "Tuesday  closed"));
    assert_true(is_below("canoes      3", "boats      12"));            /* their ends */
    assert_true(is_below("caf\xC3\xA9     2 euro", "tea      3 euro")); /* by characters */
    assert_true(is_below("a\tb", "a longer one\tb"));
    assert_false(is_below("Monday   9-12", "Tuesday       closed"));
    assert_false(is_below("Monday   9-12", "Tuesday  9-12  closed"));
    assert_false(is_below("one cell", "another cell"));
    assert_false(is_below("a | b", "c | d"));
    assert_false(is_below("", ""));
}

static bool names(const char *a, const char *b) {
    return table_row_names_columns(a, strlen(a), b, strlen(b));
}

static void names_of_columns_are_told_from_values(void **state) {
    (void)state;
    assert_true(names("Program  Time  Use", "Eco      50    pots"));
    assert_false(names("Eco      50    pots", "Quick    20    pans"));
    assert_false(names("Ann  Oslo  cook", "Bo   Rome  guide")); /* nothing tells */
    assert_false(names("day  Oslo  Use", "Mon  5     pots"));
    assert_false(names("Monday  closed", "Tuesday  9 to 12"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_falls_into_cells),
        cmocka_unit_test(columns_stand_below_each_other),
        cmocka_unit_test(names_of_columns_are_told_from_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
