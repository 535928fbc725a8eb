/* topics_test.c - answers by where they stand: below the question that the page itself asks, behind the term that is to be
 * explained; and not below another question about the same words. */
#include "tests/test.h"

#include "retrieval/answer/candidates.h"
#include "retrieval/answer/extractive.h"
#include "retrieval/answer/topics.h"
#include "tests/retrieval/text/lexicon_fixture.h"

static const char *const pages[] = {
    "Frequent questions\n\n"
    "When is the weir opened?\n\nOn the first frost. Write the date in the book.\n\n"
    "Who opens the weir?\n\nThe warden, with the long key.\n\n"
    "Where is the long key?\n\nBehind the stove.\n\n"
    "How do I make coffee?\n\n1. Fill the jug.\n2. Press the red button.\n3. Wait for the tone.\n",
    "Words that we use\n\n"
    "word | means\n"
    "dyke | a bank of clay that keeps the water where it is\n"
    "sluice | 4 | 12\n",
    "Dykes\n\nSheep graze on the dyke. The dyke was made higher in 1954, and the dyke holds.\n\n"
    "A sluice is a gate for water in a bank. Sluices are painted green.",
    "Port | Purpose\n5000 | the inner way to all data, without a password\n"
    "8971 | the way in for everybody, with a password\n\nAnother program uses port 5000 too.",
};
enum { PAGES = sizeof pages / sizeof *pages };

static extractive_answer ask(const char *asked) {
    passage p[PAGES];
    for (size_t i = 0; i < PAGES; i++)
        p[i] = (passage){.text = pages[i],
                         .len = strlen(pages[i]),
                         .title = "",
                         .score = 1,
                         .dense = 0.5f,
                         .sparse = 3};
    extractive_answer a;
    fo_err err = {0};
    extractive_input in = {
        .question = asked, .passages = p, .n_passages = PAGES, .lx = &lx, .min_support = -1};
    assert_ok(extractive_answer_make(&a, &in, &err), &err);
    return a;
}

static void begins(const char *asked, const char *want) {
    extractive_answer a = ask(asked);
    if (strncmp(a.text, want, strlen(want)) != 0) fail_msg("%s: %s", asked, a.text);
    for (size_t i = 0; i < a.n_citations; i++) assert_true(a.citations[i].verified);
    extractive_answer_deinit(&a);
}

static void what_stands_below_the_question_answers_it(void **state) {
    (void)state;
    begins("When is the weir opened?", "On the first frost. Write the date in the book. [1]");
    begins("Who opens the weir?", "The warden, with the long key. [1]");
    begins("Where is the long key?", "Behind the stove. [1]");
    begins("How do I make coffee?",
           "1. Fill the jug.\n2. Press the red button.\n3. Wait for the tone. [1]");
}

static void a_term_is_explained_by_its_row_or_its_sentence(void **state) {
    (void)state;
    begins("What is a dyke?",
           "word: dyke; means: a bank of clay that keeps the water where it is [1]");
    begins("What does dyke mean?",
           "word: dyke; means: a bank of clay that keeps the water where it is [1]");
    begins("What is a sluice?",
           "A sluice is a gate for water in a bank."); /* numbers explain nothing */
    begins("What is port 5000 for?", "Port: 5000; Purpose: the inner way to all data");
    begins("What is port 8971?", "Port: 8971; Purpose: the way in for everybody");
}

static void passages_that_explain_a_term_lead(void **state) {
    (void)state;
    static const struct {
        const char *asked;
        bool may;
        double most[PAGES];
    } cases[] = {
        {"What is a dyke?", true, {0, 1, 0.6}}, /* a section of that name, less than a row */
        {"What does sluice mean?", true, {0, 0, 0.9}},
        {"Who opens the weir?", false, {1, 0, 0}},
        {"How high was the dyke made in 1954?", false, {0, 0, 0}},
    };
    fo_err err = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        question q = {0};
        assert_ok(question_read(&q, &lx, cases[i].asked, strlen(cases[i].asked), &err), &err);
        assert_int_equal(topics_may_lead(&q), cases[i].may);
        for (size_t k = 0; k < PAGES; k++) {
            const passage p = {.text = pages[k], .len = strlen(pages[k])};
            double most;
            assert_ok(topics_of_passage(&most, &q, &lx, &p, &err), &err);
            if (most < cases[i].most[k] - 1e-9 || most > cases[i].most[k] + 1e-9)
                fail_msg("%s, page %zu: %g", cases[i].asked, k, most);
        }
        question_deinit(&q);
    }
}

/* What stands below "Reasons" gives those of what its title and the headings above name, and not of other sections. */
static void a_cause_is_of_what_its_title_names(void **state) {
    (void)state;
    static const char text[] =
        "# New library\n\nThe library moves in June. It is closed on Monday. "
        "Cards cost 5 euros.\n\n## Reasons\n\nThe old house was too small "
        "and damp.\n\n## Costs\n\nThe move costs 40,000 euros.\n";
    static const struct {
        const char *asked;
        bool below;
    } cases[] = {{"Why does the library move?", true},
                 {"What is the reason for the new library?", true},
                 {"Why is the library closed on Monday?", false},
                 {"Why do cards cost 5 euros?", false}};
    const passage p = {
        .text = text, .len = strlen(text), .title = "", .score = 1, .dense = 0.5f, .sparse = 3};
    fo_err err = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        candidate_set set = {0};
        const extractive_input in = {
            .question = cases[i].asked, .passages = &p, .n_passages = 1, .lx = &lx};
        double most = 0;
        assert_ok(candidate_set_read(&set, &in, &err), &err);
        for (size_t k = 0; k < set.n; k++)
            if (set.c[k].f[CAND_TOPIC] > most) most = set.c[k].f[CAND_TOPIC];
        if ((most > 0) != cases[i].below) fail_msg("%s: %g", cases[i].asked, most);
        candidate_set_deinit(&set);
    }
}

/* A page that is called by the term says what it is where its description begins, whoever else has the word. */
static void a_page_called_by_the_term_explains_it(void **state) {
    (void)state;
    static const char text[] = "NAME\n\nlevee - a bank of earth\n\nDESCRIPTION\n\nEach canal has "
                               "a levee that keeps water out.\n\nA levee is dear.\n";
    static const struct {
        const char *asked, *title;
        double most;
    } cases[] = {
        {"what is a levee", "levee - a bank of earth", 1},
        {"What is a levee bank?", "levee - a bank of earth", 1},
        {"What is a levee gate?", "levee - a bank of earth", 0},
        {"What is a levee?", "gate - opens a levee", 0.9}, /* "A levee is dear." */
        {"What is a levee?", "Levee - a guide", 0.9},
        {"How long is a levee?", "levee - a bank of earth", 0},
    };
    fo_err err = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        candidate_set set = {0};
        const passage p = {.text = text, .len = strlen(text), .title = cases[i].title, .score = 1};
        const extractive_input in = {
            .question = cases[i].asked, .passages = &p, .n_passages = 1, .lx = &lx};
        double most = 0;
        assert_ok(candidate_set_read(&set, &in, &err), &err);
        for (size_t k = 0; k < set.n; k++)
            if (set.c[k].f[CAND_TOPIC] > most) most = set.c[k].f[CAND_TOPIC];
        if (most < cases[i].most - 1e-9 || most > cases[i].most + 1e-9)
            fail_msg("%s, %s: %g", cases[i].asked, cases[i].title, most);
        candidate_set_deinit(&set);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_stands_below_the_question_answers_it),
        cmocka_unit_test(a_term_is_explained_by_its_row_or_its_sentence),
        cmocka_unit_test(passages_that_explain_a_term_lead),
        cmocka_unit_test(a_cause_is_of_what_its_title_names),
        cmocka_unit_test(a_page_called_by_the_term_explains_it),
    };
    return cmocka_run_group_tests(tests, open_lexicon, close_lexicon);
}
