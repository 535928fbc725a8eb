/* arabic_ranges_test.c - what a question in Arabic names by a number, and ranges of texts that hold it. */
#include "retrieval/question/arabic_ranges.h"

#include "tests/test.h"

static enum arabic_range of(const char *question, const char *text) {
    const arabic_numbered x = arabic_numbered_in(question, strlen(question));
    return arabic_range_in(&x, text, strlen(text));
}

static void an_ordinal_or_figures_fall_within_a_range(void **state) {
    (void)state;
    static const char upper[] = "شقة في الدور ٤ إلى ٩           ٤٢٠ جنيهًا",
                      lower[] = "شقة في الدور ١ إلى ٣           ٣٥٠ جنيهًا";
    static const char *const asked[] = {"كم اشتراك شقة في الدور السادس؟",
                                        "كم اشتراك شقة في الدور 6؟", "شقة في الدور ٤"};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        assert_int_equal(of(asked[i], upper), RANGE_HOLDS);
        assert_int_equal(of(asked[i], lower), RANGE_OTHER);
    }
    assert_int_equal(of("في الصف الثاني عشر", "الصفّ 10-12 في الطابق الأول"), RANGE_HOLDS);
    assert_int_equal(of("في الصف الثاني", "الصف 10-12 في الطابق الأول"), RANGE_OTHER);
}

static void other_numbers_are_none_of_it(void **state) {
    (void)state;
    assert_int_equal(of("كم اشتراك شقة في الدور السادس؟", "من السبت إلى الأربعاء"), RANGE_NOT_SAID);
    assert_int_equal(of("كم اشتراك شقة في الدور السادس؟", "الدور الأرضي"), RANGE_NOT_SAID);
    assert_int_equal(of("متى الاجتماع في كانون الثاني؟", "كانون 1 إلى 3"), RANGE_NOT_SAID);
    assert_int_equal(of("ماذا يفتح الباب؟", "الدور ٤ إلى ٩"), RANGE_NOT_SAID);
    assert_int_equal(of("", "الدور ٤ إلى"), RANGE_NOT_SAID);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_ordinal_or_figures_fall_within_a_range),
        cmocka_unit_test(other_numbers_are_none_of_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
