/* Rows of tables: which first row of years names the columns of those below it. */
#include "tests/test.h"

#include "data/extract/table_rows.h"

/* Rows are parted by "/", cells by "|"; a blank cell is none. */
static void check(const char *rows, const char *expected) {
    builder b = {.max_bytes = 1 << 20};
    table_rows *t = calloc(1, sizeof *t);
    assert_non_null(t);
    table_rows_begin(t, &b, true);
    uint32_t column = 0;
    for (const char *s = rows;; s++) {
        const size_t n = strcspn(s, "|/");
        table_rows_cell(t, column++, s, n);
        s += n;
        if (*s == '|') continue;
        table_rows_end_row(t, NULL, false);
        column = 0;
        if (!*s) break;
    }
    assert_int_equal(b.failure, FO_OK);
    if (b.text.len != strlen(expected) || memcmp(b.text.data, expected, b.text.len) != 0)
        fail_msg("%s\n%.*s", rows, (int)b.text.len, b.text.data);
    table_rows_free(t);
    free(t);
    builder_free(&b);
}

static void years_above_figures_name_columns(void **state) {
    (void)state;
    check("Group|2024|2025/Adults|41|44/Total|74|79",
          "Group | 2024 | 2025\n\nGroup: Adults; 2024: 41; 2025: 44\n\nGroup: Total; 2024: 74; "
          "2025: 79");
    check("|2025|2024/Adults|41|44", "2025 | 2024\n\nAdults; 2025: 41; 2024: 44");
    check("Members/Group|2024|2025|Remark/Adults|41|44|up",
          "Members\nGroup | 2024 | 2025 | Remark\n\nGroup: Adults; 2024: 41; 2025: 44; Remark: up");
}

static void years_that_are_values_name_none(void **state) {
    (void)state;
    check("Founded|1998|2001/Closed|2010|2015", "Founded | 1998 | 2001\nClosed | 2010 | 2015");
    check("Height|5|7/Built|1998|2001/Width|3|4",
          "Height | 5 | 7\nBuilt | 1998 | 2001\nWidth | 3 | 4");
    check("Group|2024|2025|7/Adults|41|44|3", "Group | 2024 | 2025 | 7\nAdults | 41 | 44 | 3");
    check("Group|2024/Adults|41", "Group | 2024\nAdults | 41");
    check("2024|2025/41|44", "2024 | 2025\n41 | 44");
    check("Name|From|To/Mill|1998|2001/Weir|5|7",
          "Name | From | To\n\nName: Mill; From: 1998; To: 2001\n\nName: Weir; From: 5; To: 7");
}

/* An empty row ends the table: the next one has years of its own. */
static void each_table_has_its_own_years(void **state) {
    (void)state;
    check("Group|2024|2025/Adults|41|44//Tea|2022|2023/Black|5|7",
          "Group | 2024 | 2025\n\nGroup: Adults; 2024: 41; 2025: 44\n\nTea | 2022 | 2023\n\n"
          "Tea: Black; 2022: 5; 2023: 7");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(years_above_figures_name_columns),
        cmocka_unit_test(years_that_are_values_name_none),
        cmocka_unit_test(each_table_has_its_own_years),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
