/* unit_code_test.c - what is typed into a shell or a file is an example of the text around it: no term of the paragraph below, and no
 * heading. */
#include "retrieval/units/unit_code.h"

#include "tests/retrieval/units/units_fixture.h"

static bool typed(const char *line) {
    return unit_code_is_typed(line, strlen(line));
}

static void what_is_typed_is_told_from_names_and_usage(void **state) {
    (void)state;
    assert_true(typed("$ dnf install restic"));
    assert_true(typed("</Directory>"));
    assert_true(typed("<Directory \"/srv/www\">"));
    assert_true(typed("RewriteRule \"^/mirror/(.+)$\" \"$1\" [PT]"));
    assert_true(typed("/usr/local/bin/upsc ups@localhost"));
    assert_true(typed("SSLVerifierFile /etc/passwd.srpv"));
    assert_true(typed("(( i = 1 ))"));
    assert_false(typed("<repository>"));
    assert_false(typed("drop [-q|--quiet] [<stash>]"));
    assert_false(typed("The --bwlimit option"));
    assert_false(typed("/etc/skel/"));
    assert_false(typed("What \"quiet hours\" means"));
    assert_false(typed("MaxKeepAliveRequests Directive"));
    assert_false(typed("Installing to /usr/local"));
    assert_false(typed("A path follows, as in \"log_dest file /var/log/tide.log\"."));
}

/* "lsof -Di" led in by "To ignore the cache, use:" is no term of the next thing that one may want to do. */
static void a_command_belongs_to_what_leads_it_in(void **state) {
    (void)state;
    const char *text = "EXAMPLES\n\nTo list all open files on a device, use:\n\n"
                       "lsof /dev/hd4\n\nTo ignore the cache of devices, use:\n\n"
                       "lsof -D i\n\nTo see all of it, run\n\n$ lsof --all\n\n"
                       "$ lsof --all --more\n\nThis takes a while.\n";
    read_units(text);
    expect(text, "lsof /dev/hd4", TEXT_UNIT_ITEM, "To list all open files on a device, use:");
    expect(text, "lsof -D i", TEXT_UNIT_ITEM, "To ignore the cache of devices, use:");
    expect(text, "$ lsof --all\n\n$ lsof --all --more", TEXT_UNIT_ITEM, "To see all of it, run");
    expect(text, "This takes a while.", TEXT_UNIT_SENTENCE, "EXAMPLES");
}

static void a_command_is_no_term_and_no_heading_of_what_is_below(void **state) {
    (void)state;
    const char *text =
        "Fedora\n\n$ dnf install tide\n\nIf you used another source before, remove that one.\n\n"
        "Rewriting\n\nRewriteRule \"^/a/(.+)$\" \"$1\" [PT]\n\nThis flag exists for old servers.\n";
    read_units(text);
    expect(text, "$ dnf install tide", TEXT_UNIT_SENTENCE, "Fedora");
    expect(text, "If you used another source before, remove that one.", TEXT_UNIT_SENTENCE,
           "Fedora");
    expect(text, "This flag exists for old servers.", TEXT_UNIT_SENTENCE, "Rewriting");
}

static void terms_keep_what_is_said_of_them(void **state) {
    (void)state;
    const char *text = "FILES\n\n/etc/skel/\n\nDirectory with files for new homes.\n\n"
                       "set-time [TIME]\n\nSet the clock to the time that is given.\n\n"
                       "dmode=\n\nIf it is set, folders have this mode.\n\n"
                       "DELETE /labels/{id}\n\nTakes a label away again.\n\n"
                       "EXIT STATUS\n\n4\n\ninternal bug of mount\n";
    read_units(text);
    expect(text, "/etc/skel/\n\nDirectory with files for new homes.", TEXT_UNIT_DEFINITION,
           "FILES");
    expect(text, "set-time [TIME]\n\nSet the clock to the time that is given.",
           TEXT_UNIT_DEFINITION, "FILES");
    expect(text, "dmode=\n\nIf it is set, folders have this mode.", TEXT_UNIT_DEFINITION, "FILES");
    expect(text, "DELETE /labels/{id}\n\nTakes a label away again.", TEXT_UNIT_DEFINITION, "FILES");
    expect(text, "4\n\ninternal bug of mount", TEXT_UNIT_DEFINITION, "EXIT STATUS");
}

/* A sentence goes on behind the example in it: neither half says anything alone. */
static void a_sentence_around_an_example_is_one(void **state) {
    (void)state;
    const char *text = "Paths\n\nOnly names are kept. If instead you used\n\n"
                       "sync -R /foo/bar.c far:/tmp/\n\nthen a file /tmp/foo/bar.c would be made. "
                       "It has its path.\n\nThen the command\n\ngit rebase --onto a~5 a~3 a\n\n"
                       "would remove two commits.\n";
    read_units(text);
    expect(text, "Only names are kept.", TEXT_UNIT_SENTENCE, "Paths");
    expect(text,
           "If instead you used\n\nsync -R /foo/bar.c far:/tmp/\n\n"
           "then a file /tmp/foo/bar.c would be made.",
           TEXT_UNIT_SENTENCE, "Paths");
    expect(text, "It has its path.", TEXT_UNIT_SENTENCE, "Paths");
    expect(text, "Then the command\n\ngit rebase --onto a~5 a~3 a\n\nwould remove two commits.",
           TEXT_UNIT_SENTENCE, "Paths");
}

static void an_aside_in_brackets_is_of_the_term_above(void **state) {
    (void)state;
    const char *text = "COMMANDS\n\nhas-session [-t target]\n\n(alias: has)\n\n"
                       "Report an error if the session does not exist.\n\n"
                       "(Note: this is slow.)\n\nThe others are quick.\n";
    read_units(text);
    expect(text,
           "has-session [-t target]\n\n(alias: has)\n\n"
           "Report an error if the session does not exist.",
           TEXT_UNIT_DEFINITION, "COMMANDS");
    expect(text, "The others are quick.", TEXT_UNIT_SENTENCE, "COMMANDS");
    char entry[1024];
    const char *first =
                   "-F | --flush\n(Keyword: flush)\nIt deletes messages that were read before.",
               *again = " This is said again and again, so that the entry is a long one.";
    size_t n = (size_t)snprintf(entry, sizeof entry, "OPTIONS\n\n%s", first);
    for (int i = 0; i < 10; i++) n += (size_t)snprintf(entry + n, sizeof entry - n, "%s", again);
    read_units(entry);
    expect(entry, first, TEXT_UNIT_DEFINITION, "OPTIONS");
}

static void short_words_before_what_is_said_of_an_option_are_said_with_it(void **state) {
    (void)state;
    char entry[1024];
    const char *again = " This is said again and again, so that the entry is a long one.";
    size_t n = (size_t)snprintf(
        entry, sizeof entry, "OPTIONS\n\n-s\nSilent mode. Nothing is printed while mail is read.");
    for (int i = 0; i < 10; i++) n += (size_t)snprintf(entry + n, sizeof entry - n, "%s", again);
    read_units(entry);
    expect(entry, "-s\nSilent mode. Nothing is printed while mail is read.", TEXT_UNIT_DEFINITION,
           "OPTIONS");
}

static void a_comment_of_settings_is_no_heading(void **state) {
    (void)state;
    const char *text = "Tuning\n\n# Retry failed queries after 60 seconds,\n"
                       "# not 600\nSSLStaplingError 60\n\nMore memory helps as well.\n\n"
                       "# Sizes\n\nThe cache is small.\n";
    read_units(text);
    expect(text, "More memory helps as well.", TEXT_UNIT_SENTENCE, "Tuning");
    expect(text, "The cache is small.", TEXT_UNIT_SENTENCE, "# Sizes");
}

static void what_stands_around_a_text_heads_nothing(void **state) {
    (void)state;
    const char *text = "Rewriting\n\nLanguages:  en | fr \xC2\xA0\n\nThis is about rules.\n\n"
                       "(see below)\n\nRules are read in order.\n";
    read_units(text);
    expect(text, "This is about rules.", TEXT_UNIT_SENTENCE, "Rewriting");
    expect(text, "Rules are read in order.", TEXT_UNIT_SENTENCE, "Rewriting");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(what_is_typed_is_told_from_names_and_usage, forget),
        cmocka_unit_test_teardown(a_command_belongs_to_what_leads_it_in, forget),
        cmocka_unit_test_teardown(a_command_is_no_term_and_no_heading_of_what_is_below, forget),
        cmocka_unit_test_teardown(terms_keep_what_is_said_of_them, forget),
        cmocka_unit_test_teardown(a_sentence_around_an_example_is_one, forget),
        cmocka_unit_test_teardown(an_aside_in_brackets_is_of_the_term_above, forget),
        cmocka_unit_test_teardown(short_words_before_what_is_said_of_an_option_are_said_with_it,
                                  forget),
        cmocka_unit_test_teardown(a_comment_of_settings_is_no_heading, forget),
        cmocka_unit_test_teardown(what_stands_around_a_text_heads_nothing, forget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
