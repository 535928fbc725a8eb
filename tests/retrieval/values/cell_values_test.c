/* cell_values_test.c - what figures in cells come to. */
#include "retrieval/values/cell_values.h"

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
        {"23 kgs", CELL_WEIGHT, 23000, 23000},
        {"120 kr", CELL_MONEY, 120, 120},
        {"\xE2\x82\xB9"
         "1,250",
         CELL_MONEY, 1250, 1250},
        {"8\xE2\x80\x93"
         "9 y",
         CELL_SPAN, 8 * 365.25 * 86400, 9 * 365.25 * 86400},
        {"9:30", CELL_CLOCK, 570, 570},
        {"8.30 Uhr", CELL_CLOCK, 510, 510},
        {"8.30 o'clock", CELL_CLOCK, 510, 510},
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

#define DAY(y, m, d) ((y) * (double)CELL_YEAR + ((m)-1) * 31 + (d))
#define EUR          "\xE2\x82\xAC"
#define EN_DASH      "\xE2\x80\x93"
#define DEG          "\xC2\xB0"

static void all_of_a_cell_is_read(void **state) {
    (void)state;
    static const struct {
        const char *cell;
        enum cell_unit unit;
        double low, high;
    } cases[] = {
        {"11:45 am", CELL_CLOCK, 705, 705},
        {"6:30 p.m.", CELL_CLOCK, 1110, 1110},
        {"6.30pm", CELL_CLOCK, 1110, 1110},
        {"12 am", CELL_CLOCK, 0, 0},
        {"12:15 pm", CELL_CLOCK, 735, 735},
        {"noon", CELL_CLOCK, 720, 720},
        {"9-11 am", CELL_CLOCK, 540, 660},
        {"11-1 pm", CELL_CLOCK, 660, 780},
        {"9 am " EN_DASH " 5 pm", CELL_CLOCK, 540, 1020},
        {"9 am to midnight", CELL_CLOCK, 540, 1440},
        {"10 pm - 2 am", CELL_CLOCK, 1320, 1560},
        {"1 h 50 min", CELL_SPAN, 6600, 6600},
        {"1h50m", CELL_SPAN, 6600, 6600},
        {"2 hours and 5 minutes", CELL_SPAN, 7500, 7500},
        {"1 h 30 min - 2 h", CELL_SPAN, 5400, 7200},
        {"5 ft 11 in", CELL_LENGTH, 71 * .0254, 71 * .0254},
        {"2 kg 500 g", CELL_WEIGHT, 2500, 2500},
        {"500 m to 2 km", CELL_LENGTH, 500, 2000},
        {"2 km\xC2\xB2", CELL_LENGTH, 2e6, 2e6},
        {"25/12/2025", CELL_DATE, DAY(2025, 12, 25), DAY(2025, 12, 25)},
        {"12-25-2025", CELL_DATE, DAY(2025, 12, 25), DAY(2025, 12, 25)},
        {"03.12.2025", CELL_DATE, DAY(2025, 12, 3), DAY(2025, 12, 3)},
        {"17. M\xC3\xA4rz 2025", CELL_DATE, DAY(2025, 3, 17), DAY(2025, 3, 17)},
        {"17 de marzo de 2025", CELL_DATE, DAY(2025, 3, 17), DAY(2025, 3, 17)},
        {"11/2025", CELL_DATE, DAY(2025, 11, 1), DAY(2025, 11, 1)},
        {"8th of June, 2025", CELL_DATE, DAY(2025, 6, 8), DAY(2025, 6, 8)},
        {"8-10 June 2025", CELL_DATE, DAY(2025, 6, 8), DAY(2025, 6, 10)},
        {"30 June - 3 July 2025", CELL_DATE, DAY(2025, 6, 30), DAY(2025, 7, 3)},
        {"12 June 2025, 12:00", CELL_DATE, DAY(2025, 6, 12) + .5, DAY(2025, 6, 12) + .5},
        {EUR "1.2 million", CELL_MONEY, 1.2e6, 1.2e6},
        {EUR "1.2-1.5 million", CELL_MONEY, 1.2e6, 1.5e6},
        {EUR "850,000", CELL_MONEY, 850000, 850000},
        {EUR "12 " EN_DASH " " EUR "14", CELL_MONEY, 12, 14},
        {EUR "1.5k", CELL_MONEY, 1500, 1500},
        {"1.4 million", CELL_PLAIN, 1.4e6, 1.4e6},
        {"40 cents", CELL_MONEY, .4, .4},
        {"2 euros 40 cents", CELL_MONEY, 2.4, 2.4},
        {"1.250 " EUR, CELL_MONEY, 1250, 1250},
        {"0.125 " EUR, CELL_MONEY, .125, .125},
        {"2.125 kg", CELL_WEIGHT, 2125, 2125},
        {EN_DASH "18 " DEG "C", CELL_DEGREES, -18, -18},
        {"\xE2\x88\x92 18 " DEG "C", CELL_DEGREES, -18, -18},
        {"minus 18 " DEG "C", CELL_DEGREES, -18, -18},
        {"-18 to -12 " DEG "C", CELL_DEGREES, -18, -12},
        {"2024/25", CELL_PLAIN, 2024, 2024},
        {"3,400 (2020)", CELL_PLAIN, 3400, 3400},
        {"100 Mbit/s", CELL_OTHER, 100, 100},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cell_value v;
        if (!cell_value_read(cases[i].cell, strlen(cases[i].cell), &v) || v.unit != cases[i].unit ||
            fabs(v.low - cases[i].low) > 1e-6 || fabs(v.high - cases[i].high) > 1e-6)
            fail_msg("%s: unit %d, %g to %g", cases[i].cell, (int)v.unit, v.low, v.high);
    }
}

static void a_cell_that_says_more_than_one_thing_is_not_read(void **state) {
    (void)state;
    static const char *const cells[] = {"24/7",
                                        "3/4",
                                        "12 EUR, 10 EUR members",
                                        EUR "12 (members " EUR "10)",
                                        "9:30, 17:00",
                                        "3 x 4 m",
                                        "1 1/2 h",
                                        "1\xC2\xBD h",
                                        "midnight",
                                        "12 midnight",
                                        "10 am - 5",
                                        "9 am - late",
                                        "2025 June",
                                        "5 ft to 3 kg",
                                        "9 to 5",
                                        "12 kg for 2 people",
                                        "03/12/25",
                                        "- 18 " DEG "C",
                                        "32/13/2025"};
    cell_value v;
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
        if (cell_value_read(cells[i], strlen(cells[i]), &v)) fail_msg("%s: %g", cells[i], v.low);
}

static void cells_of_different_kinds_are_not_compared(void **state) {
    (void)state;
    static const struct {
        const char *a, *b;
        bool compare;
    } cases[] = {
        {"45 min", "2 h", true},
        {"8:30 pm", "11 am", true},
        {"8:30 pm", "noon", true},
        {"8:30 pm", "9:15", false},
        {"12 EUR per day", "60 EUR a week", false},
        {"12 EUR/night", "14 EUR per night", true},
        {"120 m2", "3 m", false},
        {"68 " DEG "F", "21 " DEG "C", false},
        {"900 kbit/s", "2 Mbit/s", false},
        {"90 km/h", "60 mph", false},
        {"8 June", "9 June 2025", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cell_value a, b;
        assert_true(cell_value_read(cases[i].a, strlen(cases[i].a), &a));
        assert_true(cell_value_read(cases[i].b, strlen(cases[i].b), &b));
        if (cell_values_compare(&a, &b) != cases[i].compare)
            fail_msg("%s, %s", cases[i].a, cases[i].b);
    }
}

static void open_dates_are_settled_by_their_column(void **state) {
    (void)state;
    static const struct {
        const char *cells[3];
        bool settled;
        double first;
    } cases[] = {
        {{"03/12/2025", "25/11/2025", "01/02/2026"}, true, DAY(2025, 12, 3)},
        {{"03/12/2025", "11/25/2025", "01/02/2026"}, true, DAY(2025, 3, 12)},
        {{"03/12/2025", "05/11/2025", "01/02/2026"}, false, 0},
        {{"03/12/2025", "25/11/2025", "01/22/2026"}, false, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cell_value v[3];
        const bool has[3] = {true, true, true};
        for (size_t k = 0; k < 3; k++)
            assert_true(cell_value_read(cases[i].cells[k], strlen(cases[i].cells[k]), &v[k]));
        assert_int_equal(v[0].order, DATE_ORDER_OPEN);
        assert_int_equal(cell_dates_settle(v, has, 3), cases[i].settled);
        if (cases[i].settled) assert_true(v[0].low == cases[i].first && v[0].high == v[0].low);
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
        cmocka_unit_test(all_of_a_cell_is_read),
        cmocka_unit_test(a_cell_that_says_more_than_one_thing_is_not_read),
        cmocka_unit_test(cells_of_different_kinds_are_not_compared),
        cmocka_unit_test(open_dates_are_settled_by_their_column),
        cmocka_unit_test(what_is_no_figure_is_not_read),
        cmocka_unit_test(years_may_be_years),
        cmocka_unit_test(any_bytes_are_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
