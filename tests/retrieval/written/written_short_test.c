/* written_short_test.c - a written cell of a row is let through where its column is asked for, a bare yes or no where the
 * unit says as much. */
#include "tests/test.h"

#include "retrieval/written/written_short.h"
#include "tests/retrieval/text/lexicon_fixture.h"

static const char
    FERRY[] = "ticket: adult on foot; low season: 8.50; high season: 11.00",
    BICYCLE[] = "ticket: bicycle; low season: 3.00; high season: 3.00",
    PAD[] = "Part number: HB-1042; Part: brake pad; Fits: cargo bike; Price in euros: 14.50; In "
            "stock: 0; Delivery: two weeks";

static written_short_input input(const char *question, const char *answer, const char *lead) {
    return (written_short_input){.analyzer = lx.analyzer,
                                 .question = question,
                                 .answer = answer,
                                 .n_answer = strlen(answer),
                                 .lead = lead};
}

static void a_cell_is_of_the_column_that_is_asked_for(void **state) {
    (void)state;
    static const struct {
        const char *question, *answer, *lead;
        enum written_verdict verdict;
        const char *said;
    } cases[] = {
        {"What does an adult on foot pay in the high season?", "11.00 euros", FERRY, WRITTEN_HOLDS,
         "high season: 11.00"},
        {"What does an adult on foot pay in the high season?", "8.50 euros", FERRY, WRITTEN_BESIDE,
         ""},
        {"What does an adult on foot pay?", "8.50 euros", FERRY, WRITTEN_BESIDE, ""}, /* or 11.00 */
        {"What does a bicycle cost?", "3.00 euros", BICYCLE, WRITTEN_HOLDS, "low season: 3.00"},
        {"How much is a brake pad for the cargo bike?", "14.50", PAD, WRITTEN_HOLDS,
         "Price in euros: 14.50"},
        {"How much is a brake pad for the cargo bike?", "0", PAD, WRITTEN_BESIDE, ""},
        {"How long is the delivery of a brake pad?", "Two weeks", PAD, WRITTEN_HOLDS, "two weeks"},
        {"How long do I wait for a brake pad for the cargo bike?", "Two weeks.", PAD, WRITTEN_HOLDS,
         "two weeks"},
        {"Which part number has the brake pad for the cargo bike?", "HB-1042", PAD, WRITTEN_HOLDS,
         "HB-1042"},
        {"Who cooks on Wednesday?", "Students", "day: Wednesday; who cooks: students",
         WRITTEN_HOLDS, "students"},
        {"Who cooks on Wednesday?", "The botanist", "day: Wednesday; who cooks: students",
         WRITTEN_OTHERWISE, ""},
        {"What is wrong at E1?", "Pressure too low",
         "code: E1; meaning: pressure too low; do: fill", WRITTEN_OTHERWISE,
         ""}, /* nothing says which column */
        {"How tall is it?", "5 m", "It is 5 m tall.", WRITTEN_OTHERWISE, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const written_short_input in = input(cases[i].question, cases[i].answer, cases[i].lead);
        enum written_verdict verdict;
        fo_buf said = {0};
        fo_err err = {0};
        assert_ok(written_cell(&verdict, &said, &in, &err), &err);
        fo_buf_add(&said, "", 0);
        if (verdict != cases[i].verdict || strcmp(said.data ? said.data : "", cases[i].said) != 0)
            fail_msg("%s %s: %d '%s'", cases[i].question, cases[i].answer, verdict,
                     said.data ? said.data : "");
        fo_buf_free(&said);
    }
}

static void a_bare_yes_or_no_is_what_the_unit_says(void **state) {
    (void)state;
    static const struct {
        const char *question, *answer, *lead;
        enum written_verdict verdict;
    } cases[] = {
        {"May I keep chickens?", "No.", "Chickens are not permitted.", WRITTEN_HOLDS},
        {"May I keep chickens?", "Yes", "Chickens are not permitted.", WRITTEN_BESIDE},
        {"May I keep bees?", "Yes", "Bees are welcome.", WRITTEN_HOLDS},
        {"May I keep bees?", "No", "Bees are welcome.", WRITTEN_BESIDE},
        {"Can I park there?", "No", "You can't park there.", WRITTEN_HOLDS},
        {"Can I park there?", "No", "Nobody can't park there.", WRITTEN_BESIDE}, /* twice denied */
        {"May guests cook mushrooms?", "Yes", "Mushrooms may be cooked only after a look.",
         WRITTEN_BESIDE},
        {"Is the library open on Mondays?", "No", "day: Monday; open: closed", WRITTEN_HOLDS},
        {"Is the library open on Sundays?", "No", "day: Monday; open: closed", WRITTEN_BESIDE},
        {"Is it in stock?", "Yes", "Part: brake pad; In stock: 0", WRITTEN_BESIDE},
        {"Is it in stock?", "No", "Part: brake pad; In stock: 0", WRITTEN_HOLDS},
        {"May it run at minus 25 degrees?", "No", "Do not run it below minus 20 degrees.",
         WRITTEN_BESIDE}, /* a comparison */
        {"How many bees are there?", "No", "There are no bees.", WRITTEN_BESIDE},
        {"May I keep chickens?", "No, chickens are not permitted.", "Chickens are not permitted.",
         WRITTEN_OTHERWISE},
        {"May I keep chickens?", "Chickens", "Chickens are not permitted.", WRITTEN_OTHERWISE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const written_short_input in = input(cases[i].question, cases[i].answer, cases[i].lead);
        fo_buf said = {0};
        const enum written_verdict verdict = written_yes_or_no(&said, &in);
        if (verdict != cases[i].verdict)
            fail_msg("%s %s: %d", cases[i].question, cases[i].answer, verdict);
        if (verdict == WRITTEN_HOLDS && !strstr(said.data, cases[i].lead))
            fail_msg("%s", said.data);
        fo_buf_free(&said);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cell_is_of_the_column_that_is_asked_for),
        cmocka_unit_test(a_bare_yes_or_no_is_what_the_unit_says),
    };
    return cmocka_run_group_tests(tests, open_lexicon, close_lexicon);
}
