/* Which setting it is, what the one that is named does, and what else is demanded of programs. */
#include "tests/test.h"

#include "retrieval/answer/asked_settings.h"
#include "retrieval/answer/extractive.h"
#include "tests/retrieval/text/lexicon_fixture.h"

static extractive_answer ask(const char *text, const char *asked, double least) {
    extractive_answer a;
    fo_err err = {0};
    const passage p = {
        .text = text, .len = strlen(text), .title = "Quillpool", .sparse = 9, .dense = 0.9f};
    const extractive_input in = {.question = asked,
                                 .passages = &p,
                                 .n_passages = 1,
                                 .lx = &lx,
                                 .max_sentences = 1,
                                 .min_support = least};
    assert_ok(extractive_answer_make(&a, &in, &err), &err);
    return a;
}

static void what_is_asked_is_told(void **state) {
    (void)state;
    static const struct {
        const char *question, *named;
        bool which;
    } cases[] = {
        {"Which Quillpool setting stops it?", "", true},
        {"What command line option stops it?", "", true},
        {"What does Quillpool's database option do?", "database", false},
        {"What is the option for?", "", false},
        {"Is there a colour setting?", "colour", false},
        {"What does the noatime mount option do?", "noatime", false},
        {"What is the mount option for?", "mount", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *q = cases[i].question;
        const word_token named = asked_settings_named(q, strlen(q));
        if (asked_settings_which(q, strlen(q)) != cases[i].which) fail_msg("%s", q);
        if (cases[i].named[0] && !word_token_is(&named, cases[i].named)) fail_msg("%s", q);
    }
}

static void the_entry_that_is_called_so_is_told(void **state) {
    (void)state;
    extractive_answer a = ask("noatime\n    Do not update times on this filesystem.\n\nrelatime\n  "
                              "  Update them seldom.\n\n"
                              "Since 2.6 the mount option is the default, unless the noatime "
                              "option was given: what it does.\n",
                              "What does the noatime mount option do?", 0);
    if (!strstr(a.text, "Do not update")) fail_msg("%s", a.text);
    extractive_answer_deinit(&a);
}

static void what_names_no_setting_does_not_say_which(void **state) {
    (void)state;
    static const char asked[] = "Which Quillpool setting keeps cards while I am away?";
    extractive_answer a = ask("While I am away the mode of the cards falls back.\n", asked, 0);
    if (!a.abstain) fail_msg("%s", a.text);
    extractive_answer_deinit(&a);
    a = ask("idle_threshold keeps the cards while you are away.\n", asked, 0);
    assert_false(a.abstain);
    extractive_answer_deinit(&a);
    /* nor does an item of a list of changes, nor what stands in quotes */
    a = ask("Changed\n\n- While I am away the mode of the cards falls back.\n- Cards are kept.\n",
            asked, 0);
    if (!a.abstain) fail_msg("%s", a.text);
    extractive_answer_deinit(&a);
    a = ask("While I am away the cards are \"away\" too.\n", asked, 0);
    if (!a.abstain) fail_msg("%s", a.text);
    extractive_answer_deinit(&a);
}

static void the_entry_that_is_called_so_is_meant(void **state) {
    (void)state;
    static const char text[] = "zonesdir: <directory>\nThe database and the pidfile are looked for "
                               "here. Set the option to \"\", the "
                               "empty string, to disable it.\n\ndatabase: <filename>\nBy default a "
                               "file is used. If set to \"\" "
                               "then there is none.\n";
    extractive_answer a =
        ask(text, "What happens if the database option is set to an empty string?", -1);
    if (strncmp(a.text, "database: <filename>", 20) != 0) fail_msg("%s", a.text);
    extractive_answer_deinit(&a);
}

static void a_source_file_is_no_way_to_do_it(void **state) {
    (void)state;
    static const char text[] = "src/sighandler.c\nHandles signals by showing a window, in which a "
                               "program may be restarted every "
                               "time.\n\nIf you need a command to run as well, use exec_always.\n";
    extractive_answer a = ask(text, "How do I restart a program every time by signals?", -1);
    if (strncmp(a.text, "src/", 4) == 0) fail_msg("%s", a.text);
    extractive_answer_deinit(&a);
}

static void letters_and_limits_of_programs_are_demanded(void **state) {
    (void)state;
    static const struct {
        const char *question, *refused, *answered;
    } cases[] = {
        {"What does MD stand for in Linux?",
         "In Linux the acronym RAID stands for a redundant array of disks.",
         "In Linux MD stands for multiple device."},
        {"What is the largest request body that tolld takes?",
         "tolld takes the request body as it is.",
         "The request body that tolld takes is 100 MB at most."},
        {"Which TCP port does tolld use?", "Clients of tolld use a TCP socket.",
         "For TCP tolld uses port 6600."},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        extractive_answer no = ask(cases[i].refused, cases[i].question, 0);
        if (!no.abstain) fail_msg("%s: %s", cases[i].question, no.text);
        extractive_answer yes = ask(cases[i].answered, cases[i].question, 0);
        if (yes.abstain) fail_msg("%s: %s", cases[i].question, cases[i].answered);
        extractive_answer_deinit(&no);
        extractive_answer_deinit(&yes);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_asked_is_told),
        cmocka_unit_test(the_entry_that_is_called_so_is_told),
        cmocka_unit_test(what_names_no_setting_does_not_say_which),
        cmocka_unit_test(the_entry_that_is_called_so_is_meant),
        cmocka_unit_test(a_source_file_is_no_way_to_do_it),
        cmocka_unit_test(letters_and_limits_of_programs_are_demanded),
    };
    return cmocka_run_group_tests(tests, open_lexicon, close_lexicon);
}
