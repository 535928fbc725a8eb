/* cell_values_test.c - what figures in cells come to. */
#include "retrieval/answer/cell_values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

static void figures_are_read_with_their_units(void **state) {
    (void)state;
    static const struct {
        const char *cell;
        enum cell_unit unit;
        double low, high;
    } cases[] = {
        {"42", CELL_PLAIN, 42, 42},
        {"1,402,500", CELL_PLAIN, 1402500, 1402500},
        {"2 400", CELL_PLAIN, 2400, 2400},
        {"1'200", CELL_PLAIN, 1200, 1200},
        {"6.40", CELL_MONEY, 6.4, 6.4}, /* two decimals look like a price */
        {"\xE2\x82\xAC"
         "2,599",
         CELL_MONEY, 2599, 2599},
        {"from 12 EUR", CELL_MONEY, 12, 12},
        {"free", CELL_MONEY, 0, 0},
        {"45 min", CELL_SPAN, 2700, 2700},
        {"2 weeks", CELL_SPAN, 14 * 86400, 14 * 86400},
        {"2.1 km", CELL_LENGTH, 2100, 2100},
        {"12-14 kg", CELL_WEIGHT, 12000, 14000},
        {"8\xE2\x80\x93"
         "9 y",
         CELL_SPAN, 8 * 365.25 * 86400, 9 * 365.25 * 86400},
        {"9:30", CELL_CLOCK, 570, 570},
        {"9:30 to 17:00", CELL_CLOCK, 570, 1020},
        {"-5 \xC2\xB0"
         "C",
         CELL_DEGREES, -5, -5},
        {"11 May 1901, Lemberg", CELL_DATE, 1901 * 372 + 4 * 31 + 11, 1901 * 372 + 4 * 31 + 11},
        {"Jan 2027", CELL_DATE, 2027 * 372 + 1, 2027 * 372 + 1},
        {"2026-06-08", CELL_DATE, 2026 * 372 + 5 * 31 + 8, 2026 * 372 + 5 * 31 + 8},
        {"120 m\xC2\xB2", CELL_LENGTH, 120, 120},
        {"1997", CELL_PLAIN, 1997, 1997},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cell_value v;
        if (!cell_value_read(cases[i].cell, strlen(cases[i].cell), &v) || v.unit != cases[i].unit ||
            fabs(v.low - cases[i].low) > 1e-6 || fabs(v.high - cases[i].high) > 1e-6)
            fail_msg("%s: unit %d, %g to %g", cases[i].cell, (int)v.unit, v.low, v.high);
    }
}

static void what_is_no_figure_is_not_read(void **state) {
    (void)state;
    static const char *const cells[] = {
        "", "blue", "A4", "K-211", "10.0.0.1", "see below", "home-made", "the first of the three"};
    cell_value v;
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
        if (cell_value_read(cells[i], strlen(cells[i]), &v)) fail_msg("%s: %g", cells[i], v.low);
    assert_true(cell_is_empty("-", 1));
    assert_true(cell_is_empty("n/a", 3));
    assert_true(cell_is_empty("\xE2\x80\x93", 3));
    assert_false(cell_is_empty("0", 1));
}

static void years_may_be_years(void **state) {
    (void)state;
    cell_value v;
    assert_true(cell_value_read("1571, Bari", 10, &v) && v.year);
    assert_true(cell_value_read("1997", 4, &v) && v.year);
    assert_true(cell_value_read("1,997", 5, &v) && !v.year);
    assert_true(cell_value_read("1997 kg", 7, &v) && !v.year);
}

/* Cells of signs that figures are made of, in memory that ends with them. */
static void any_bytes_are_taken(void **state) {
    (void)state;
    static const char signs[] = "0123456789.,:'- /|\xE2\x82\xAC\x93mkghMayto";
    uint64_t seed = test_seed();
    for (int i = 0; i < 20000; i++) {
        const size_t n = test_random(&seed) % 24;
        char *cell = malloc(n + !n);
        assert_non_null(cell);
        for (size_t k = 0; k < n; k++) cell[k] = signs[test_random(&seed) % (sizeof signs - 1)];
        cell_value v;
        if (cell_value_read(cell, n, &v)) assert_true(isfinite(v.low) && v.low <= v.high);
        cell_is_empty(cell, n);
        free(cell);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_are_read_with_their_units),
        cmocka_unit_test(what_is_no_figure_is_not_read),
        cmocka_unit_test(years_may_be_years),
        cmocka_unit_test(any_bytes_are_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
