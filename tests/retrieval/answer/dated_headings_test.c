/* Which version, and when: what the heading above a change says. */
#include "tests/test.h"

#include "retrieval/answer/extractive.h"
#include "retrieval/answer/version_dates.h"
#include "tests/retrieval/text/lexicon_fixture.h"

static char *ask_of(const passage *p, const char *asked, double min_support) {
    extractive_answer a;
    fo_err err = {0};
    const extractive_input in = {.question = asked,
                                 .passages = p,
                                 .n_passages = 1,
                                 .lx = &lx,
                                 .max_sentences = 1,
                                 .min_support = min_support};
    assert_ok(extractive_answer_make(&a, &in, &err), &err);
    for (size_t i = 0; i < a.n_citations; i++) assert_true(a.citations[i].verified);
    char *out = strdup(a.text);
    extractive_answer_deinit(&a);
    return out;
}

static char *ask_with(const char *text, const char *asked, double min_support) {
    const passage p = {.text = text, .len = strlen(text), .title = "Release notes"};
    return ask_of(&p, asked, min_support);
}

static char *ask(const char *text, const char *asked) {
    return ask_with(text, asked, -1);
}

static void begins(const char *text, const char *asked, const char *with) {
    char *answer = ask(text, asked);
    if (strncmp(answer, with, strlen(with)) != 0) fail_msg("%s: %s", asked, answer);
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

static void a_change_below_a_lead_in_is_of_the_version_above(void **state) {
    (void)state;
    static const char led[] =
        "Release notes\n\n0.28.0 (28 November 2024)\n\nThe following changes are included:\n\n- "
        "The "
        "proxies argument was removed.\n- The app argument was removed.\n\n0.27.2 (27 August "
        "2024)\n\n- A type was reintroduced.\n";
    begins(led, "In which Quercus release was the proxies argument removed?",
           "0.28.0 (28 November 2024): The following changes are included:");
    /* the passage goes on with the section of a version */
    const char *goes_on = strstr(led, "The following");
    const passage p = {.text = goes_on,
                       .len = strlen(goes_on),
                       .title = "Release notes",
                       .heading = "0.28.0 (28 November 2024)"};
    char *answer = ask_of(&p, "Which version removed the proxies argument?", -1);
    if (strncmp(answer, "0.28.0 (28 November 2024): ", 27) != 0) fail_msg("%s", answer);
    free(answer);
    answer = ask_of(&p, "In which version was a type reintroduced?", -1);
    if (strncmp(answer, "0.27.2 (27 August 2024): A type", 31) != 0) fail_msg("%s", answer);
    free(answer);
}

static void a_heading_may_name_the_program_before_its_version(void **state) {
    (void)state;
    static const char news[] = "Quillpool changelog\n\nQuillpool 1.18.x\n\n2022-12-12  -  "
                               "Quillpool 1.18.0\n\n- Fixes\n  - A crash "
                               "was mended.\n\nQuillpool 1.17.x\n\n2022-03-23  -  Quillpool "
                               "1.17.0\n\n- Features\n  - Remove the "
                               "automatic reload of users. The list of users is now read on reload "
                               "only.\n\nNew features in "
                               "Quillpool 1.16.2\n\n- Lists of hosts were added.\n\nBuilt with "
                               "Ferrum 2.0.1\n\n- The parser was "
                               "rewritten.\n";
    begins(news, "In which Quillpool version did the automatic reload of users stop?",
           "2022-03-23 - Quillpool 1.17.0: ");
    begins(news, "Which version of Quillpool added lists of hosts?",
           "New features in Quillpool 1.16.2: ");
    /* the item's first sentence is short, and heads the others */
    begins("Quillpool 1.17.x\n\n2022-03-23  -  Quillpool 1.17.0  -  \"A line\"\n\n- Features\n  - "
           "Increase maximum password "
           "length again.  Apparently, the last increase wasn't enough for long enough.\n  - "
           "Remove automatic auth_file "
           "reload.  The auth_file is now reread only on configuration file reload, no longer "
           "automatically as soon as it is "
           "changed.\n  - The Windows build now includes a version-information resource file.\n",
           "In which quillpool version is auth_file reread only on configuration file reload, no "
           "longer automatically?",
           "2022-03-23 - Quillpool 1.17.0 - \"A line\": The auth_file is now");
    /* the version of something else */
    begins(news, "In which Quillpool version was the parser rewritten?", "- The parser");
    const char *goes_on = strstr(news, "- Features");
    const passage p = {.text = goes_on,
                       .len = strlen(goes_on),
                       .title = "Quillpool changelog",
                       .heading = "Quillpool 1.17.x"};
    char *answer = ask_of(&p, "Which version stopped the automatic reload of users?", -1);
    if (strncmp(answer, "Quillpool 1.17.x: ", 18) != 0) fail_msg("%s", answer);
    free(answer);
}

static const char changelog[] =
    "Release notes\n\n4.1.0 (8 September 2025)\n\nAdded\n\n- Windows agent leaves beta\n- Quiet "
    "hours\n\nRemoved\n\n- FTP as a target.\n\n4.0.0 (5 May 2025)\n\n- Web console\n- Linux "
    "agent\n\nHow to get help\n\n- Write to the list of users.\n";

static void what_changed_in_a_version_stands_below_it(void **state) {
    (void)state;
    static const struct {
        const char *question, *answer;
    } cases[] = {
        {"What changed in 4.1.0?",
         "Added:\n- Windows agent leaves beta\n- Quiet hours [1]\nRemoved:\n"
         "- FTP as a target. [2]"},
        {"What is new in version 4.1?", "Added:\n- Windows agent leaves beta\n- Quiet hours [1]\n"
                                        "Removed:\n- FTP as a target. [2]"},
        {"What was removed in 4.1.0?", "Removed:\n- FTP as a target. [1]"},
        {"What was added in 4.1.0?", "Added:\n- Windows agent leaves beta\n- Quiet hours [1]"},
        {"What is new in release 4.0.0?", "4.0.0 (5 May 2025):\n- Web console\n- Linux agent [1]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *answer = ask_with(changelog, cases[i].question, 0);
        if (strcmp(answer, cases[i].answer) != 0) fail_msg("%s: %s", cases[i].question, answer);
        free(answer);
    }
    static const char *const others[] = {"What changed in 4.3.0?", "What is new in Quercus 4.1.0?",
                                         "What was deprecated in 4.1.0?",
                                         "Which agent is new in 4.1.0 for quiet hours?"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char *answer = ask_with(changelog, others[i], 0);
        if (strstr(answer, ":\n-")) fail_msg("%s: %s", others[i], answer);
        free(answer);
    }
    char *kinds = ask(notes, "What is new in 4.2.0?"); /* a heading of another thing ends it */
    if (strstr(kinds, "list of users") || !strstr(kinds, "Known problems:\n- The agent asks"))
        fail_msg("%s", kinds);
    free(kinds);
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

static void when_a_version_came_out_stands_in_its_heading(void **state) {
    (void)state;
    static const char *const asked[] = {"When did 4.0.0 come out?", "When was 4.0 released?",
                                        "What is the release date of version 4.0.0?",
                                        "when was version 4.0.0 published", "date of 4.0.0"};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        char *answer = ask_with(changelog, asked[i], 0);
        if (strcmp(answer, "4.0.0 (5 May 2025) [1]") != 0) fail_msg("%s: %s", asked[i], answer);
        free(answer);
    }
    static const char *const others[] = {"When did Quercus 4.0.0 come out?",
                                         "When did 4.7.0 come out?", "Was 4.0.0 released?",
                                         "When was the console of 4.0.0 released?"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char *answer = ask_with(changelog, others[i], 0);
        if (!strcmp(answer, "4.0.0 (5 May 2025) [1]")) fail_msg("%s: %s", others[i], answer);
        free(answer);
    }
}

/* "Supported until", "end of life" and a candidate for the release are other days, and a sentence says it better. */
static void a_heading_with_another_day_is_no_release(void **state) {
    (void)state;
    static const char *const headings[] = {"4.0.0 (supported until 5 May 2027)",
                                           "4.0.0 (end of life 5 May 2027)",
                                           "4.0.0 (draft, 5 May 2027)", "4.0.0-rc.1 (5 May 2027)"};
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++) {
        char text[200];
        snprintf(text, sizeof text, "Release notes\n\n%s\n\n- Web console\n", headings[i]);
        char *answer = ask_with(text, "When was 4.0.0 released?", 0);
        if (strstr(answer, "2027) [1]")) fail_msg("%s: %s", headings[i], answer);
        free(answer);
    }
    static const char told[] = "Release notes\n\n4.0.0 (5 May 2025)\n\n- Web console\n\n"
                               "Dates\n\nVersion 4.0.0 came out on 3 March 2025.\n";
    char *answer = ask_with(told, "When did 4.0.0 come out?", 0);
    if (!strstr(answer, "3 March 2025")) fail_msg("%s", answer);
    free(answer);
    answer = ask_with("Release notes\n\nVersion 4.0.0 - released on 5 May 2025\n\n- Console\n",
                      "When did 4.0.0 come out?", 0);
    if (strncmp(answer, "Version 4.0.0 - released", 24) != 0) fail_msg("%s", answer);
    free(answer);
}

/* Of two things with that version the one that the question names, and none where it names none. */
static void a_version_of_two_things_is_of_the_heading_above(void **state) {
    (void)state;
    static const char two[] =
        "Release notes\n\nMerl\n\n4.0.0 (2023-09-30)\n\nFixed\n\n- Restores with a colon.\n\n"
        "Quill\n\n4.0.0 (2024-02-11)\n\n- Web console.";
    char *answer = ask_with(two, "When was Merl 4.0.0 released?", 0);
    if (!strstr(answer, "2023-09-30")) fail_msg("%s", answer);
    free(answer);
    answer = ask_with(two, "When was Quill 4.0.0 released?", 0);
    if (!strstr(answer, "2024-02-11") || strstr(answer, "2023")) fail_msg("%s", answer);
    free(answer);
    /* as a passage is called that begins in that section */
    const passage merl = {.text = two, .len = strlen(two), .title = "Release notes Merl"};
    answer = ask_of(&merl, "When was Merl 4.0.0 released?", 0);
    if (!strstr(answer, "2023-09-30") || strstr(answer, "2024")) fail_msg("%s", answer);
    free(answer);
    const passage p = {.text = two, .len = strlen(two), .title = "Release notes"};
    const extractive_input in = {
        .question = "When was 4.0.0 released?", .passages = &p, .n_passages = 1, .lx = &lx};
    candidate_set set = {0};
    candidate chosen;
    fo_err err = {0};
    assert_ok(candidate_set_read(&set, &in, &err), &err);
    assert_int_equal(version_dates_take(&set, &chosen), 0);
    candidate_set_deinit(&set);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_change_is_said_below_its_version),
        cmocka_unit_test(a_change_below_a_lead_in_is_of_the_version_above),
        cmocka_unit_test(a_heading_may_name_the_program_before_its_version),
        cmocka_unit_test(when_a_version_came_out_stands_in_its_heading),
        cmocka_unit_test(a_heading_with_another_day_is_no_release),
        cmocka_unit_test(a_version_of_two_things_is_of_the_heading_above),
        cmocka_unit_test(what_changed_in_a_version_stands_below_it),
        cmocka_unit_test(a_day_heads_what_happened_on_it),
        cmocka_unit_test(a_row_is_of_the_day_above_its_table),
    };
    return cmocka_run_group_tests(tests, open_lexicon, close_lexicon);
}
