/* ordinal_words.c: "year two" of a question and "Second year" of a table are one. */
#include "tests/test.h"

#include <string.h>

#include "retrieval/question/ordinal_words.h"

static void expect(const char *question, const char *text, const char *as) {
    const passage p = {.text = text, .len = strlen(text)};
    fo_buf out = {0};
    const bool put = ordinal_words_as_written(&out, question, &p, 1);
    if (put != (as != NULL)) fail_msg("%s: %s", question, put ? out.data : "as it was");
    if (as) assert_string_equal(out.data, as);
    fo_buf_free(&out);
}

static void a_place_is_put_as_the_passages_write_it(void **state) {
    (void)state;
    expect("what does she earn in year two", "Second year: 1,180",
           "what does she earn in the second year");
    expect("When is ballet, year 2?", "Ballet, second year | Tuesday",
           "When is ballet, the second year?");
    expect("the pay in the 3rd year?", "Third year | 1,340", "the pay in the third year?");
    expect("What is learnt in the third year?", "Year 3: clocks", "What is learnt in the year 3?");
    expect("What is learnt in the first year?", "Year one: sums",
           "What is learnt in the year one?");
    expect("pay in year two", "First year: 900", "pay in the second year");
    expect("Who lives on level 2?", "2nd level: Odell", "Who lives on the 2nd level?");
}

static void what_stands_there_as_it_is_asked_stays(void **state) {
    (void)state;
    expect("pay in year two", "Year two is the second year of three.", NULL);
    expect("pay in year two", "Year one: 900. First year of four.", NULL);
    expect("What is due in two years?", "Second year: 1,180", NULL);
    expect("What happened in the year 2024?", "Second year: 1,180", NULL);
    expect("Is price two reduced?", "Second price: 12", NULL);
    expect("", "Second year", NULL);
    expect("year", "Second year", NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_place_is_put_as_the_passages_write_it),
        cmocka_unit_test(what_stands_there_as_it_is_asked_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
