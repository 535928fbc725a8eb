/* contents_lists_test.c - entries of a list of contents, which stand again above what answers them. */
#include "retrieval/answer/contents_lists.h"

#include "tests/retrieval/text/lexicon_fixture.h"
#include "tests/test.h"

/* CAND_QUESTION of the unit of that kind that begins with `words`, the first one of both passages. */
static double marked(const char *contents, const char *body, const char *document, int kind,
                     const char *words) {
    fo_err err = {0};
    candidate_set set = {0};
    const passage p[] = {{.text = contents, .len = strlen(contents), .document = "faq"},
                         {.text = body, .len = strlen(body), .document = document}};
    const extractive_input in = {
        .question = "Why are inserts so slow?", .passages = p, .n_passages = 2, .lx = &lx};
    assert_ok(candidate_set_read(&set, &in, &err), &err);
    double found = -1;
    for (size_t i = 0; i < set.n && found < 0; i++) {
        const candidate *c = &set.c[i];
        if ((kind < 0 || c->unit.kind == kind) &&
            !strncmp(p[c->passage].text + c->unit.start, words, strlen(words)))
            found = c->f[CAND_QUESTION];
    }
    candidate_set_deinit(&set);
    if (found < 0) fail_msg("no unit '%s'", words);
    return found;
}

static const char contents[] = "17. I get some warnings when I compile. Is that bad?\n"
                               "18. Matching of letters does not work.\n"
                               "19. Inserting is really slow - I can do few rows per second\n"
                               "20. I deleted rows by accident\n";
static const char body[] = "Letters are compared as bytes there.\n\n"
                           "(19) Inserting is really slow - I can do few rows per second\n\n"
                           "Each row waits for the disk. Put many of them in a transaction.\n";

static void an_entry_that_is_a_heading_too_is_no_answer(void **state) {
    (void)state;
    const double yes = 1, no = 0;
    assert_float_equal(marked(contents, body, "faq", -1, "19. Inserting"), yes, 0);
    assert_float_equal(marked(contents, body, "faq", TEXT_UNIT_ITEM, "18. Matching"), no, 0);
    assert_float_equal(marked(contents, body, "faq", -1, "Each row waits"), no, 0);
    /* ... of another document */
    assert_float_equal(marked(contents, body, "other", TEXT_UNIT_ITEM, "19. Inserting"), no, 0);
}

static void a_list_of_questions_is_none_as_a_whole(void **state) {
    (void)state;
    static const char steps[] = "1. Stop the server and its jobs\n2. Collect rows into one insert\n"
                                "3. Start the server and look at it\n",
                      more[] = "Some servers are slow.\n\n2. Collect rows into one insert\n\n"
                               "That saves a wait for each row.\n";
    assert_float_equal(marked(contents, body, "faq", TEXT_UNIT_STEPS, "17. I get"), 1, 0);
    assert_float_equal(marked(steps, more, "faq", TEXT_UNIT_STEPS, "1. Stop"), 0, 0);
    assert_float_equal(marked(steps, more, "faq", TEXT_UNIT_ITEM, "2. Collect"), 1, 0);
}

static void names_in_a_list_stay_an_answer(void **state) {
    (void)state;
    static const char plans[] =
        "There are these ways of inserting:\n\n- Single rows\n- Whole batches\n"
        "- Files\n",
                      more[] = "They differ in speed.\n\nWhole batches\n\nMany rows at once.\n";
    assert_float_equal(marked(plans, more, "faq", TEXT_UNIT_ITEM, "- Whole batches"), 0, 0);
}

/* The contents of a manual by chapters: a heading found of one entry tells what the list is, wherever it was found. */
static void a_list_of_chapters_is_no_answer(void **state) {
    (void)state;
    static const char chapters[] = "- Inserting many rows\n  - Why inserting may be slow at first\n"
                                   "  - Inserts without waiting for the disk\n- Deleting rows\n",
                      more[] = "Why inserting may be slow at first\n\nEach row waits.\n";
    const double yes = 1, no = 0;
    assert_float_equal(marked(chapters, more, "faq", TEXT_UNIT_ITEM, "- Inserts without"), yes, 0);
    assert_float_equal(marked(chapters, more, "other", TEXT_UNIT_ITEM, "- Inserts without"), yes,
                       0);
    assert_float_equal(
        marked(chapters, "Rows wait.\n", "other", TEXT_UNIT_ITEM, "- Inserts without"), no, 0);
    /* a line leads in what is to be known, and an entry says something of what it names */
    static const char led[] = "Inserts are slow for these reasons:\n\n- Why inserting may be slow "
                              "at first\n- Inserts wait for the disk\n",
                      said[] = "- Why inserting may be slow at first\n- Inserts: each waits\n";
    assert_float_equal(marked(led, more, "other", TEXT_UNIT_ITEM, "- Inserts wait"), no, 0);
    assert_float_equal(marked(said, more, "other", TEXT_UNIT_ITEM, "- Inserts: each"), no, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_entry_that_is_a_heading_too_is_no_answer),
        cmocka_unit_test(a_list_of_questions_is_none_as_a_whole),
        cmocka_unit_test(names_in_a_list_stay_an_answer),
        cmocka_unit_test(a_list_of_chapters_is_no_answer),
    };
    return cmocka_run_group_tests(tests, open_lexicon, close_lexicon);
}
