/* Whose default it is, the name above tells. */
#include "tests/test.h"

#include "retrieval/answer/extractive.h"
#include "tests/retrieval/text/lexicon_fixture.h"

static char *ask(const char *text, const char *question, double min_support) {
    extractive_answer a;
    fo_err err = {0};
    const passage p = {.text = text, .len = strlen(text), .title = "Settings of Quercus"};
    const extractive_input in = {.question = question,
                                 .passages = &p,
                                 .n_passages = 1,
                                 .lx = &lx,
                                 .min_support = min_support};
    assert_ok(extractive_answer_make(&a, &in, &err), &err);
    for (size_t i = 0; i < a.n_citations; i++)
        if (!a.citations[i].verified) fail_msg("%s: %s", question, a.text);
    char *out = strdup(a.text);
    extractive_answer_deinit(&a);
    return out;
}

static void a_passage_may_go_on_with_a_setting(void **state) {
    (void)state;
    extractive_answer a;
    fo_err err = {0};
    static const char text[] = "More papers need more room.\n\nDefaults to 30 days.\n\n"
                               "QUERCUS_RETRIES=<num>\n\nTries.\n\nDefaults to 3.\n";
    const passage p = {.text = text, .len = strlen(text), .heading = "QUERCUS_TRASH_DAYS=<num>"};
    const extractive_input in = {.question = "What is the default of QUERCUS_TRASH_DAYS?",
                                 .passages = &p,
                                 .n_passages = 1,
                                 .lx = &lx};
    assert_ok(extractive_answer_make(&a, &in, &err), &err);
    assert_string_equal(a.text, "QUERCUS_TRASH_DAYS=<num>: Defaults to 30 days. [1]");
    assert_true(a.citations[0].verified);
    extractive_answer_deinit(&a);
}

static void is(const char *text, const char *question, const char *expected) {
    char *answer = ask(text, question, 0);
    if (strcmp(answer, expected) != 0) fail_msg("%s: %s", question, answer);
    free(answer);
}

static void lacks(const char *text, const char *question, const char *other) {
    char *answer = ask(text, question, 0);
    if (strstr(answer, other)) fail_msg("%s: %s", question, answer);
    free(answer);
}

static void a_default_is_said_with_what_it_is_of(void **state) {
    (void)state;
    static const char text[] =
        "ReaderIdle Directive\n\nDescription: How long a reader may rest\nSyntax: ReaderIdle num\n"
        "Default: ReaderIdle 5\nContext: all files\n\n"
        "The number of seconds the reader will wait for another card before it rests.\n\n"
        "CardColour Directive\n\nDefault: CardColour 7\n\nThe colour of a card.\n";
    static const char asked[] =
        "What is the default number of seconds the reader waits for another card?";
    char *answer = ask(text, asked, 0);
    if (!strstr(answer, "Default: ReaderIdle 5") || !strstr(answer, "another card") ||
        strstr(answer, "CardColour"))
        fail_msg("%s", answer);
    free(answer);
    lacks(text, "How many seconds does the reader wait for another card before it rests?",
          "Default:");
}

static void what_states_no_default_is_none(void **state) {
    (void)state;
    static const char text[] =
        "--rest-time <seconds>\nMost seconds that you allow the reader to rest before it reads on. "
        "Since version 7.32.0 it may be a fraction.\n\n--card-size <size>\nUse it for a card.\n";
    lacks(text, "What is the reader's default for --rest-time, in seconds?", "7.32");
    lacks(text, "How large is a card if I don't give --card-size?", "Use it");
    char *answer = ask(text, "How do I set how long the reader may rest with --rest-time?", 0);
    if (!strstr(answer, "7.32")) fail_msg("%s", answer);
    free(answer);
}

static void a_row_may_name_an_option_with_its_value(void **state) {
    (void)state;
    static const char text[] =
        "The same options for all:\n\nflag | default\n"
        "--read-width X | 2 | while others write, a step takes so long. Smaller: more even; "
        "larger: sooner; 0: at once\n"
        "--page-ram BYTES | a quarter of free memory | refused when it does not fit\n"
        "--page-disk BYTES | 2G for serve, else 0 | of pages kept on disk, --page-ram beside\n";
    is(text, "What is the default of --page-ram?",
       "flag: --page-ram BYTES; default: a quarter of free memory; refused when it does not fit "
       "[1]");
    is(text, "What is --read-width by default?",
       "flag: --read-width X; default: 2; while others write, a step takes so long. Smaller: more "
       "even; larger: sooner; 0: at once [1]");
}

static void an_example_is_no_default(void **state) {
    (void)state;
    static const char text[] = "Syntax: pause-time <number>\n\nDefault: 60\n\n"
                               "Minutes between two loads.\n\n"
                               "Example: pause-time 120\n";
    char *answer = ask(text, "What is the default pause-time of the reader?", 0);
    if (strstr(answer, "120") || !strstr(answer, "Default: 60")) fail_msg("%s", answer);
    free(answer);
}

static const char settings[] =
    "Database\n\n"
    "QUERCUS_DB_ENGINE=<engine>\n\nWhich database is used. Large houses set QUERCUS_DB_ENGINE to "
    "postgresql.\n\nDefaults to `sqlite`.\n\n"
    "QUERCUS_DB_HOST=<host>\n\nThe host of the database.\n\n"
    "QUERCUS_DB_PORT=<port>\n\nThe port of the database, see QUERCUS_DB_HOST.\n\n"
    "Defaults to 5432\n\n"
    "QUERCUS_DEFAULT_GROUPS=<list>\n\nGroups that new users are added to, as for "
    "QUERCUS_DB_HOST.\n\nDefaults to None\n\n"
    "QUERCUS_TRASH_DAYS=<num>\n\nHow long a deleted paper is kept. Longer times need more "
    "room.\n\nAllowed are 1 to 90. Defaults to 30 days.\n\n";

static void a_default_is_of_the_setting_it_stands_below(void **state) {
    (void)state;
    is(settings, "What is the default of QUERCUS_DB_ENGINE?",
       "QUERCUS_DB_ENGINE: Defaults to `sqlite`. [1]");
    is(settings, "What is the default value of the setting QUERCUS_DB_PORT?",
       "QUERCUS_DB_PORT: Defaults to 5432 [1]");
    is(settings, "What's QUERCUS_TRASH_DAYS if I don't set it?",
       "QUERCUS_TRASH_DAYS: Defaults to 30 days. [1]");
    is(settings, "What is the default of QUERCUS_DEFAULT_GROUPS?",
       "QUERCUS_DEFAULT_GROUPS: Defaults to None [1]");
    is(settings, "What are the defaults of QUERCUS_DB_PORT and QUERCUS_DB_ENGINE?",
       "QUERCUS_DB_PORT: Defaults to 5432 [1] QUERCUS_DB_ENGINE: Defaults to `sqlite`. [2]");
}

static void the_default_of_another_setting_is_no_answer(void **state) {
    (void)state;
    lacks(settings, "What is the default of QUERCUS_DB_HOST?", "Defaults");
    lacks(settings, "How do I change the default of QUERCUS_DB_PORT?", "sqlite");
    lacks(settings, "What is the default of QUERCUS_DB_PORT on a Mac?", "sqlite");
    lacks(settings, "What is QUERCUS_DEFAULT_GROUPS?", "sqlite");
}

static const char options[] =
    "Options\n\n"
    "-nat\n\nAsk the router for a port.\n\n"
    "-nat-lease=<duration>\n\nLength of the lease in minutes (default 60).\n\n"
    "-nat-renewal=<duration>\n\nHow often it is renewed (default 30).\n\n"
    "Words\n\n"
    "-L, --length <length>: Sets how long it is. [Default: 16]\n"
    "-l, --lower: Uses small letters. [Default: Enabled]\n"
    "-s, --special: Uses signs. More of them are safer. [Default: Disabled]\n";

static void a_default_is_of_the_option_it_stands_behind(void **state) {
    (void)state;
    static const char lease[] =
        "-nat-lease=<duration>: Length of the lease in minutes (default 60). [1]";
    is(options, "What is the default of -nat-lease in Quercus?", lease);
    is(options, "What is the default of nat-lease?", lease);
    is(options, "What is the default of -nat-renewal?",
       "-nat-renewal=<duration>: How often it is renewed (default 30). [1]");
    is(options, "What is the default of --lower?",
       "-l, --lower: Uses small letters. [Default: Enabled] [1]");
    is(options, "What is the default of -s?",
       "-s, --special: Uses signs. More of them are safer. [Default: Disabled] [1]");
    lacks(options, "What is the default of -nat?", "60");
}

static const char proxy[] =
    "# Harbour proxy\n\n"
    "## `listen_port`\n\nThe port on which the server listens. It is 8443 unless set otherwise.\n\n"
    "## `idle_limit`\n\nHow many idle connections are kept. If you leave it out, 16 are kept.\n\n"
    "## `cache_dir`\n\nWhere files are cached. Without it, /var/cache/hp is used.\n\n"
    "## `worker_count`\n\nNumber of workers. Out of the box there are 4 of them.\n\n"
    "## `read_timeout`\n\nHow long the proxy waits for a client.\n\n"
    "| Type | Default | Since |\n|---|---|---|\n| seconds | 45 | 2.1 |\n";

static void says(const char *text, const char *question, const char *part) {
    char *answer = ask(text, question, 0);
    if (!strstr(answer, part)) fail_msg("%s: %s", question, answer);
    free(answer);
}

static void a_default_may_be_said_in_other_words(void **state) {
    (void)state;
    says(proxy, "What is the default listen_port?", "8443");
    says(proxy, "What is the default of idle_limit?", "16");
    says(proxy, "What is the default cache_dir?", "/var/cache/hp");
    says(proxy, "What is the default worker_count?", "4 of them");
    says(proxy, "What is the default of read_timeout?", "45");
}

static const char mailer[] =
    "# Quay mailer\n\n"
    "| Setting | Default | Meaning |\n|---|---|---|\n"
    "| smtp_port | 587 | port of the mail server |\n"
    "| retry_count | 5 | tries before it gives up |\n\n"
    "## `smtp_port`\n\nThe port of the mail server. Ports below 1024 need root.\n\n"
    "## `log_level`\n\nHow much is logged. If the port is busy, this is logged too. Defaults to "
    "`info`.\n\n"
    "## `retry_count`\n\nHow often a mail is tried again. By default, the mailer waits ten minutes "
    "between tries.\n";

static const char relay[] =
    "# Relay server\n\n"
    "## `log_level`\n\nHow much is written to the log. Values: debug, info, warn.\n\n"
    "If the port is busy, this is logged too.\n\nDefaults to `info`.\n\n"
    "## `max_conn`\n\nHow many clients may connect. The default is 100.\n";

static void what_is_so_by_default_is_not_the_settings_own(void **state) {
    (void)state;
    says(mailer, "What is the default of retry_count?", "5");
    lacks(mailer, "What is the default of retry_count?", "ten minutes");
    says(mailer, "What is the default smtp_port?", "587");
    says(mailer, "What is the default log_level?", "info");
    lacks(relay, "Which port is the default if log_level is debug?", "Defaults to");
}

/* "If set, ..." names nothing, nor does "Default: 10". */
static void which_setting_it_is_the_line_above_says(void **state) {
    (void)state;
    static const char text[] = "The clerk reads his cards from a drawer in the desk of the hall.\n"
                               "drawer\n\nType: number\nDefault: 10\n\nHow many cards it holds.\n"
                               "name_on_top\n\nType: boolean\nDefault: no\n\n"
                               "If set, the reader's name is put above the text of his card.\n";
    char *answer =
        ask(text, "Which variable puts the reader's name above the text of his card?", 0);
    if (!strstr(answer, "name_on_top: If set, the reader's name")) fail_msg("%s", answer);
    free(answer);
    answer = ask(text, "What is the default number of cards the drawer holds?", 0);
    if (!strstr(answer, "drawer: Default: 10")) fail_msg("%s", answer);
    free(answer);
    extractive_answer a; /* a page of the manual, where an option has the command before it */
    fo_err err = {0};
    const passage p = {
        .text = text, .len = strlen(text), .title = "cardrc - settings of the clerk"};
    const extractive_input in = {
        .question = "Which variable puts the reader's name above the text of his card?",
        .passages = &p,
        .n_passages = 1,
        .lx = &lx};
    assert_ok(extractive_answer_make(&a, &in, &err), &err);
    if (!strstr(a.text, "name_on_top: If set, the reader's name")) fail_msg("%s", a.text);
    extractive_answer_deinit(&a);
}

/* Which of its values is meant, the quotes that a sentence begins with say. */
static void what_is_said_of_another_value_is_no_answer(void **state) {
    (void)state;
    static const char text[] =
        "CardStore=\n\nControls where cards are kept. One of \"pile\", \"drawer\" and \"auto\". If "
        "\"pile\", cards are kept in memory, below the /run/cards folder, which is made. If "
        "\"drawer\", cards are kept on disk, below /var/cards. \"auto\" is like \"drawer\" if the "
        "/var/cards folder exists, else like the other. Cards that are kept are not removed when "
        "this "
        "option is changed, and the clerk says so in his book. He has to be told of it again.\n";
    extractive_answer a;
    fo_err err = {0};
    const passage p = {.text = text, .len = strlen(text), .title = "Settings of Quercus"};
    const extractive_input in = {
        .question = "Below which folder are cards kept in memory when CardStore is auto?",
        .passages = &p,
        .n_passages = 1,
        .lx = &lx,
        .max_sentences = 2};
    assert_ok(extractive_answer_make(&a, &in, &err), &err);
    if (!strstr(a.text, "auto\" is like") || strstr(a.text, "/run/cards")) fail_msg("%s", a.text);
    extractive_answer_deinit(&a);
}

static void what_an_option_does_is_not_its_default(void **state) {
    (void)state;
    static const char option[] = "-P password\n\nPassword for the reader to run the clerk as.\n\n"
                                 "-U reader\n\nName of the reader to run the clerk as.\n";
    lacks(option, "What is the default password of the reader?", "Password for");
}

/* "Default: 15" is not that of what its entry never speaks of. */
static void a_default_of_another_thing_is_none(void **state) {
    (void)state;
    static const char entry[] = "drawer_size\n\nType: number\nDefault: 15\n\nHow many cards the "
                                "drawer of the clerk has.\nlamp\n\nType: boolean\nDefault: no\n\n"
                                "Whether it is lit.\n";
    lacks(entry, "What is the default number of undo levels in Quercus?", "15");
    char *answer = ask(entry, "What is the default number of cards in the drawer?", 0);
    if (!strstr(answer, "Default: 15")) fail_msg("%s", answer);
    free(answer);
}

/* Who asks how two things differ is told of both. */
static void two_rows_that_are_compared_are_said_both(void **state) {
    (void)state;
    static const char text[] = "What the clerk does when he is called by one of these names:\n\n"
                               "Name | Description\nread | Reads a card aloud to the hall.\n"
                               "drop | Removes cards from the drawer.\n"
                               "drain | Removes papers that lie on the desk.\n"
                               "lend | Lends a card to a reader.\n";
    char *answer =
        ask(text,
            "What is the difference between drop and a drain that removes papers on the desk?", 0);
    if (!strstr(answer, "from the drawer") || !strstr(answer, "on the desk") ||
        strstr(answer, "aloud"))
        fail_msg("%s", answer);
    free(answer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_rows_that_are_compared_are_said_both),
        cmocka_unit_test(what_is_said_of_another_value_is_no_answer),
        cmocka_unit_test(what_an_option_does_is_not_its_default),
        cmocka_unit_test(a_default_of_another_thing_is_none),
        cmocka_unit_test(which_setting_it_is_the_line_above_says),
        cmocka_unit_test(a_default_is_of_the_setting_it_stands_below),
        cmocka_unit_test(a_default_is_said_with_what_it_is_of),
        cmocka_unit_test(what_states_no_default_is_none),
        cmocka_unit_test(a_row_may_name_an_option_with_its_value),
        cmocka_unit_test(an_example_is_no_default),
        cmocka_unit_test(a_passage_may_go_on_with_a_setting),
        cmocka_unit_test(the_default_of_another_setting_is_no_answer),
        cmocka_unit_test(a_default_is_of_the_option_it_stands_behind),
        cmocka_unit_test(a_default_may_be_said_in_other_words),
        cmocka_unit_test(what_is_so_by_default_is_not_the_settings_own),
    };
    return cmocka_run_group_tests(tests, open_lexicon, close_lexicon);
}
