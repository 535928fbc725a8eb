/* What is counted in letters by the question and in figures by the documents, and sizes in words and in capitals (size_words.c). */
#include "tests/test.h"

#include "retrieval/question/number_words.h"
#include "retrieval/question/size_words.h"

static void figures_are_asked_for_where_they_are_written(void **state) {
    (void)state;
    static const struct {
        const char *question, *text, *want; /* NULL: as it is */
    } cases[] = {
        {"How much is a six-day ski set?", "Ski set | 6 days | 120",
         "How much is a 6 day ski set?"},
        {"Six days, how much?", "6 days: 120", "6 days, how much?"},
        {"What do two nights and three meals cost?", "2 nights 80, 3 meals 30",
         "What do 2 nights and 3 meals cost?"},
        {"What do two nights and three meals cost?", "2 nights 80, three meals 30",
         "What do 2 nights and three meals cost?"},
        {"How much is a six-day ski set?", "Ski set | 16 days | 120", NULL},
        {"How much is a six-day ski set?", "Ski set, 6 persons; six days", NULL},
        {"Who is one of the six?", "6 of them", NULL},
        {"How much is a ski set?", "6 days", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const passage p = {.text = cases[i].text, .len = strlen(cases[i].text)};
        fo_buf b = {0};
        const bool made = number_words_as_written(&b, cases[i].question, &p, 1);
        assert_int_equal(made, cases[i].want != NULL);
        if (made) assert_string_equal(b.data, cases[i].want);
        fo_buf_free(&b);
    }
}

static void sizes_are_asked_for_as_they_are_written(void **state) {
    (void)state;
    static const char boxes[] = "Size | Per year\nS | 48 EUR\nM | 85 EUR\nL | 140 EUR\n",
                      records[] = "Size: S; Price: 4\nSize: M; Price: 5\nSize: L; Price: 6";
    static const struct {
        const char *question, *text, *want; /* NULL: as it is */
    } cases[] = {
        {"What does a medium box cost?", boxes, "What does a size M box cost?"},
        {"Is a large one dear?", records, "Is a size L one dear?"},
        {"What does a box of size medium cost?", boxes, NULL},
        {"What does a box cost?", boxes, NULL},
        {"What does a medium box cost?", "Size | Per year\nS | 48\nL | 140", NULL},
        {"What does a medium box cost?", "Name | Per year\nS | 48\nM | 85\nL | 140", NULL},
        {"What does a medium box cost?", "Medium boxes cost 85.", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const passage p = {.text = cases[i].text, .len = strlen(cases[i].text)};
        fo_buf b = {0};
        const bool made = size_words_as_written(&b, cases[i].question, &p, 1);
        if (made != (cases[i].want != NULL)) fail_msg("%s", cases[i].question);
        if (made) assert_string_equal(b.data, cases[i].want);
        fo_buf_free(&b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_are_asked_for_where_they_are_written),
        cmocka_unit_test(sizes_are_asked_for_as_they_are_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
