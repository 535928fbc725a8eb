/* Which version, and when: what the heading above a change says. */
#include "tests/test.h"

#include "retrieval/answer/extractive.h"
#include "tests/retrieval/answer/lexicon_fixture.h"

static char *ask(const char *text, const char *question) {
    extractive_answer a;
    fo_err err = {0};
    const passage p = {.text = text, .len = strlen(text), .title = "Release notes"};
    const extractive_input in = {.question = question,
                                 .passages = &p,
                                 .n_passages = 1,
                                 .lx = &lx,
                                 .max_sentences = 1,
                                 .min_support = -1};
    assert_ok(extractive_answer_make(&a, &in, &err), &err);
    for (size_t i = 0; i < a.n_citations; i++) assert_true(a.citations[i].verified);
    char *out = strdup(a.text);
    extractive_answer_deinit(&a);
    return out;
}

static void begins(const char *text, const char *question, const char *with) {
    char *answer = ask(text, question);
    if (strncmp(answer, with, strlen(with)) != 0) fail_msg("%s: %s", question, answer);
    free(answer);
}

static const char notes[] =
    "Release notes\n\n4.2.1 (12 February 2026)\n\nFixed\n\n- Restores of files with a colon "
    "failed.\n"
    "- The report mail showed the wrong size.\n\n4.2.0 (20 January 2026)\n\nKnown problems\n\n"
    "- The agent asks for access after each update since May 2024.\n\nHow to get help\n\n"
    "- Write to the list of users.\n";

static void a_change_is_said_below_its_version(void **state) {
    (void)state;
    begins(notes, "Which version fixed restores of files with a colon?",
           "4.2.1 (12 February 2026): Restores of files with a colon failed.");
    begins(notes, "When was the wrong size in the report mail fixed?",
           "4.2.1 (12 February 2026): The report mail showed the wrong size.");
    /* asked for neither */
    begins(notes, "What was wrong with restores of files with a colon?",
           "- Restores of files with a colon failed.");
    /* it says a time itself; a heading of something else parts it from the version */
    begins(notes, "Since when does the agent ask for access after each update?",
           "- The agent asks for access");
    begins(notes, "When may I write to the list of users?", "- Write to the list of users.");
}

static void a_day_heads_what_happened_on_it(void **state) {
    (void)state;
    static const char diary[] = "Sunday 21 June\n\nThe car goes back to Bergen.\n\nMonday 22 "
                                "June\n\nThe flight leaves late.\n";
    begins(diary, "When does the car go back to Bergen?",
           "Sunday 21 June: The car goes back to Bergen.");
    begins(diary, "Where does the car go back to?", "The car goes back to Bergen.");
}

static void a_row_is_of_the_day_above_its_table(void **state) {
    (void)state;
    static const char programme[] =
        "Programme\n\nThursday, 14 May\n\nTime: 9:30; Hall: Great; Speaker: Eklund; Title: "
        "Keynote on rivers\n\nTime: 20:00; Hall: Boat house; Speaker: none; Title: Dinner\n\n"
        "Friday, 15 May\n\nTime: 9:00; Hall: Small; Speaker: Tao; Title: Keynote on water\n\n"
        "Time: 11:00; Hall: Small; Speaker: Marsh; Title: Talk on mills\n";
    begins(programme, "Who gives the keynote on Friday?",
           "Friday, 15 May: Time: 9:00; Hall: Small");
    begins(programme, "Who gives the keynote on Thursday?",
           "Thursday, 14 May: Time: 9:30; Hall: Great");
    begins(programme, "Where is the dinner and when does it begin?",
           "Thursday, 14 May: Time: 20:00; Hall: Boat house");
    begins(programme, "In which hall is the dinner?", "Time: 20:00; Hall: Boat house");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_change_is_said_below_its_version),
        cmocka_unit_test(a_day_heads_what_happened_on_it),
        cmocka_unit_test(a_row_is_of_the_day_above_its_table),
    };
    return cmocka_run_group_tests(tests, open_lexicon, close_lexicon);
}
