/* What is asked for, of another one of its kind: refused where the text has the others alone, and answered where it has the asked one
 * (which_one.c, unit_demands.c, table_names.c). */
#include "tests/test.h"

#include <string.h>

#include "retrieval/answer/extractive.h"
#include "tests/retrieval/text/lexicon_fixture.h"

static extractive_answer ask(const char *question, const char *text) {
    const passage p = {.text = text, .len = strlen(text), .title = "", .sparse = 9, .dense = 0.9f};
    extractive_answer a;
    fo_err err = {0};
    assert_ok(extractive_answer_make(&a,
                                     &(extractive_input){.question = question,
                                                         .passages = &p,
                                                         .n_passages = 1,
                                                         .lx = &lx,
                                                         .max_sentences = 1,
                                                         .min_support = 0},
                                     &err),
              &err);
    return a;
}

/* Refused over the one text, and answered with these words over the other. */
static void expect(const char *question, const char *refused, const char *answered,
                   const char *words) {
    extractive_answer no = ask(question, refused);
    if (!no.abstain) fail_msg("%s: %s", question, no.text);
    extractive_answer yes = ask(question, answered);
    if (yes.abstain || !strstr(yes.text, words)) fail_msg("%s: %s", question, yes.text);
    extractive_answer_deinit(&no);
    extractive_answer_deinit(&yes);
}

static void the_fourth_year_is_not_the_second(void **state) {
    (void)state;
    expect("What is the pay in the fourth year?",
           "| | Pay |\n|---|---|\n| First year | 1,050 |\n| Second year | 1,180 |\n",
           "| | Pay |\n|---|---|\n| Third year | 1,050 |\n| Fourth year | 1,180 |\n", "1,180");
    expect("What is the pay in year four?",
           "- First year: pay of 1,050\n- Second year: pay of 1,180\n",
           "- Third year: pay of 1,050\n- Fourth year: pay of 1,180\n", "1,180");
    expect("What is the pay in the fourth year?", "Pay: see the office.",
           "First year to fifth year: pay of 1,050\n", "1,050");
}

static void what_adults_pay_is_not_what_seniors_do(void **state) {
    (void)state;
    expect("How much do seniors pay?", "Adults pay 9.50, students pay 6.00.",
           "Adults pay 9.50, pensioners pay 6.00.", "6.00");
    expect("What does the ferry cost for seniors?",
           "Ferry\n\n| Fare | Single cost |\n|---|---|\n| Adult | 4.80 |\n| Child | 2.40 |\n",
           "Ferry\n\n| Fare | Single cost |\n|---|---|\n| Adult | 4.80 |\n| Senior | 3.10 |\n",
           "3.10");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fourth_year_is_not_the_second),
        cmocka_unit_test(what_adults_pay_is_not_what_seniors_do),
    };
    return cmocka_run_group_tests(tests, open_lexicon, close_lexicon);
}
