/* Text with marks, small cases of each format: AsciiDoc, Org and reStructuredText. Their tables stand as their authors see
 * them, whatever goes over rows and columns; whole files are in formats_test.c. */
#include "tests/data/extract/formats_here.h"

static void a_comment_of_org_is_written_in_capitals(void **state) {
    (void)state;
    read_named("a.org",
               "* Comment period\nIt ends on 5 May.\n* COMMENT Draft\nNobody reads this.\n"
               "* COMMENTARY\nSome do.\n* COMMENT\nGone.\n",
               "org", "Comment period\n\nIt ends on 5 May.\n\nCOMMENTARY\n\nSome do.");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_comment_of_org_is_written_in_capitals),
    };
    return cmocka_run_group_tests(tests, formats_here, NULL);
}
