/* exact_names_test.c - versions, options and codes of a question, for which another is no answer. */
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

#include "retrieval/text/exact_names.h"

static bool versions_in(const char *asked, const char *text, const char *title) {
    exact_names x;
    exact_names_read(&x, asked, strlen(asked));
    return exact_names_versions_in(&x, text, text ? strlen(text) : 0, title);
}

static void a_bound_speaks_of_versions_it_does_not_name(void **state) {
    (void)state;
    static const char *const bounds[] = {"Direct upgrades from 1.4 or older are not supported.",
                                         "Python 3.10+",
                                         "From 11.x first install 12.0.",
                                         "Go 1.21 is the oldest supported.",
                                         "Gate 3.1 and later",
                                         "At least 3.0.",
                                         "published up to 2.3 under other terms",
                                         "If it goes below 0.8, open the tap."};
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
        if (!exact_names_version_bound_in(bounds[i], strlen(bounds[i])))
            fail_msg("no bound: %s", bounds[i]);
    static const char *const others[] = {"Version 4.2 is out.",
                                         "4.2 brought tabs; later came themes.",
                                         "Install 3.0.",
                                         "",
                                         "Section 3.2. Older people pay less.",
                                         "On 3 or later days."};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (exact_names_version_bound_in(others[i], strlen(others[i])))
            fail_msg("a bound: %s", others[i]);
}

static void another_version_is_told_apart(void **state) {
    (void)state;
    static const struct {
        const char *question, *text, *title;
        bool in;
    } cases[] = {
        {"When is version 4.4 released?", "Version 4.2 is out.", "Releases", false},
        {"When is version 4.4 released?", "Version 4.4 comes in May.", "Releases", true},
        {"When is version 4.4 released?", "It comes in May.", "Release 4.4", true},
        {"When is version 4.4 released?", "Version 14.4 comes in May.", NULL, false},
        {"When is version 4.4 released?", "Version 4.4.1 comes in May.", NULL, false},
        {"When is version 4.4 released?", "In May comes 4.4.", NULL, true},
        {"When is version 4.4 released?", "4.4.0 came in May.", NULL, true},
        /* amounts are no versions */
        {"My van is 2.20 high. Does it fit?", "Height 2.05 m.", NULL, true},
        {"The dome is 1.5 mm thick, may I?", "Not below 2 mm.", NULL, true},
        {"It shows 0.9, what now?", "Below 1.0 top it up.", NULL, true},
        {"We took 33.3% off, may we?", "Not more than a third.", NULL, true},
        {"How do I go to 2.9?", "Install 3.0.", NULL, false},
        {"Is 10.2.1 newer than 9.8?", "10.2.1 replaces 9.8", NULL, true},
        {"Is 10.2.1 newer than 9.8?", "10.2.1 replaces 9.7", NULL, false},
        {"How many of the 42 boats leak?", "None.", NULL, true}, /* a plain number is none */
        {"Who wrote it in 1861.", "", "", true},
        {"What is 4.4?", NULL, NULL, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (versions_in(cases[i].question, cases[i].text, cases[i].title) != cases[i].in)
            fail_msg("%s in %s", cases[i].question, cases[i].text);
}

static void many_versions_are_bounded(void **state) {
    (void)state;
    char asked[400] = "";
    for (int i = 0; i < 40; i++) sprintf(asked + strlen(asked), "1.%d ", i);
    assert_true(versions_in(asked, asked, NULL));
    assert_false(versions_in(asked, "1.1 1.2", NULL));
}

/* How many options the question names, and how many of them the text. */
static void expect_options(const char *asked, size_t named, const char *text, size_t met) {
    exact_names x;
    exact_names_read(&x, asked, strlen(asked));
    if (x.n_options != named) fail_msg("%s: %zu options, not %zu", asked, x.n_options, named);
    size_t got = exact_names_options_in(&x, text, strlen(text));
    if (got != met) fail_msg("%s in '%s': %zu, not %zu", asked, text, got, met);
}

static void an_option_is_met_to_the_letter(void **state) {
    (void)state;
    const char *asked = "What does the -z option of tar do?";
    expect_options(asked, 1, "-z, --gzip\nFilter through gzip.", 1);
    expect_options(asked, 1, "-Z, --compress", 0);
    expect_options(asked, 1, "tar -xzf file", 0);
    expect_options(asked, 1, "a-z", 0);
    expect_options(asked, 1, "(see -z)", 1);
    expect_options("What is --max-depth?", 1, "-d, --max-depth=N", 1);
    expect_options("What is --max-depth?", 1, "--max-depth-first", 0);
    expect_options("What is --max?", 1, "--max-depth=N", 0);
    expect_options("find -name or -iname?", 2, "-iname pattern, like -name", 2);
    expect_options("find -name or -iname?", 2, "-iname pattern", 1);
    expect_options("Is it colder than -5 - or not?", 0, "-5", 0);
    expect_options("well-known up-z, a - b, --", 0, "", 0);
    expect_options("-", 0, "-", 0);
}

static void a_code_is_met_in_text_or_title(void **state) {
    (void)state;
    static const struct {
        const char *asked, *text, *title;
        bool lacking;
    } cases[] = {
        {"What does E3 mean?", "E3 | ice", NULL, false},
        {"What does E3 mean?", "e3: ice", "", false},
        {"What does E3 mean?", "E4 | ice", "Codes", true},
        {"What does E3 mean?", "E31 and HE3", "Codes", true},
        {"What does E3 mean?", "It means ice.", "Code E3", false},
        {"Where may Grebe7 go, and Grebe8?", "Grebe8 may.", NULL, false}, /* either helps */
        {"What does -q of E3 do?", "E3 -q", NULL, false},
        {"What does -q of E3 do?", "E3", NULL, true},
        {"How long is v3 supported?", "Version 3 gets repairs.", NULL, false},
        {"How long is v3 supported?", "Version 30, of 3 parts", NULL, true},
        {"How heavy are 100MB on the 2nd day?", "", NULL, false}, /* amounts */
        {"What is it?", "", NULL, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        exact_names x;
        exact_names_read(&x, cases[i].asked, strlen(cases[i].asked));
        if (exact_names_lacking(&x, cases[i].text, strlen(cases[i].text), cases[i].title) !=
            cases[i].lacking)
            fail_msg("%s in %s", cases[i].asked, cases[i].text);
    }
}

static void many_options_are_bounded(void **state) {
    (void)state;
    char asked[400] = "";
    for (int i = 0; i < 40; i++) sprintf(asked + strlen(asked), "-x%d ", i);
    expect_options(asked, EXACT_NAMES_MAX, asked, EXACT_NAMES_MAX);
}

static void a_command_is_named_as_a_word_of_its_own(void **state) {
    (void)state;
    static const struct {
        const char *question, *title;
        bool said;
    } cases[] = {
        {"How do I make ls show sizes?", "ls - list directory contents", true},
        {"Which tools are there?", "ls - list directory contents", false},
        {"How do I generate an ssh key?", "ssh-keygen - authentication key utility", false},
        {"How does gunzip work?", "gzip, gunzip, zcat - compress files", true},
        {"How does zip work?", "gzip, gunzip, zcat - compress files", false},
        {"What does exa do", "exa \xE2\x80\x94 a modern ls", true},
        {"What is a list?", "A list - and more", false}, /* no command's title */
        {"What is a list?", "", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *q = cases[i].question;
        if (exact_names_command_said(q, strlen(q), cases[i].title) != cases[i].said)
            fail_msg("%s: %s", q, cases[i].title);
    }
}

static void an_option_is_asked_about_with_its_command(void **state) {
    (void)state;
    static const struct {
        const char *question, *name; /* NULL: none */
    } cases[] = {
        {"What does set -e do?", "set"},       {"the meaning of tail --follow", "tail"},
        {"What does the option -e do?", NULL}, {"What does -e do?", NULL},
        {"How do I use -e with sed?", NULL},   {"Is a - b the same?", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *name = NULL, *q = cases[i].question;
        const size_t n = exact_names_used_with_option(q, strlen(q), &name);
        assert_int_equal(n, cases[i].name ? strlen(cases[i].name) : 0);
        if (n) assert_memory_equal(name, cases[i].name, n);
    }
    assert_true(exact_names_command_is("gzip, gunzip - compress files", "gunzip", 6));
    assert_true(exact_names_command_is("git-commit - record changes", "commit", 6));
    assert_false(exact_names_command_is("adduser.local - hooks of adduser", "adduser", 7));
    assert_false(exact_names_command_is("unzip - list files", "zip", 3));
    assert_false(exact_names_command_is("A page about set", "set", 3));
}

static void a_command_is_the_means_behind_few_words(void **state) {
    (void)state;
    static const struct {
        const char *question, *title;
        bool asked;
    } cases[] = {
        {"How do I show hidden files with ls?", "ls - list directory contents", true},
        {"How can I make curl follow redirects?", "curl - transfer a URL", true},
        {"What does chmod 755 do?", "chmod - change file mode bits", true},
        {"Using  gunzip, how do I keep the input?", "gzip, gunzip, zcat - compress files", true},
        {"How do I sort numbers?", "sort - sort lines of text files", false},
        {"Sort a file, or make sort do it", "sort - sort lines of text files", true},
        {"How do I check the type of a file?", "file - determine file type", false},
        {"How do I list files with lsof?", "ls - list directory contents", false},
        {"du without other disks", "du - estimate file space usage", true},
        {"cut: all but the third field", "cut - remove sections", true},
        {"exit status of cmp", "cmp - compare two files", true},
        {"a list of all files in time", "time - run programs", false},
        {"find what is large", "find - search for files", false},
        {"What does an exit status of 1 mean for ls?", "ls - list directory contents", true},
        {"Which of the ls options sorts by size?", "ls - list directory contents", true},
        {"What is curl's default for --connect-timeout?", "curl - transfer a URL", true},
        {"What is curl\xE2\x80\x99s default?", "curl - transfer a URL", true},
        {"How do I curl up?", "curl - transfer a URL", false},
        {"What is time's arrow?", "time - run programs", false},
        {"ls", "ls - list directory contents", false},
        {"with", "ls - list directory contents", false},
        {"How do I stop git from asking?", "git - the stupid content tracker", true},
        {"How do I stop time from running?", "time - run programs", false},
        {"Can xz show how far it is?", "xz - compress files", true},
        {"git: squeeze commits", "git-rebase - reapply commits", false},
        {"difference between tail -f and tail -F", "tail - output the last part", true},
        {"What is the exit status of timeout if the time is up?", "timeout - run with a limit",
         true},
        {"What is the return value of tail?", "tail - output the last part", true},
        {"Where is the tail of the list?", "tail - output the last part", false},
        {"What is the status of timeout?", "timeout - run with a limit", false},
        {"What is stored in /etc/shadow?", "shadow - shadowed password file", true},
        {"Who may write ~/.ssh/known_hosts?", "known_hosts - keys of hosts", true},
        {"Who wrote grep?", "grep - print lines that match", true},
        {"What is below /etc/shadow/old?", "shadow - shadowed password file", false},
        {"What is at https://toll.example/shadow?", "shadow - shadowed password file", false},
        {"Is the door in shadow/light?", "light - switch a lamp", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *q = cases[i].question;
        if (exact_names_command_asked(q, strlen(q), cases[i].title) != cases[i].asked)
            fail_msg("%s: %s", q, cases[i].title);
    }
}

static void a_family_of_commands_goes_by_its_first_part(void **state) {
    (void)state;
    static const struct {
        const char *question, *title;
        bool asked;
    } cases[] = {
        {"git: squeeze commits", "git-rebase - reapply commits", true},
        {"What does an exit status of 1 mean for ls?", "ls - list directory contents", true},
        {"Can apt keep a package as it is?", "apt-mark - settings of packages", true},
        {"squeeze commits", "git-rebase - reapply commits", false},
        {"How do I list files with ls?", "lsof - list open files", false},
        {"with rebase", "git-rebase - reapply commits", false},
        {"How do I list files with ls?", "ls - list directory contents", true},
        {"How much is the train from Paris to Lyon?", "Paris - city guide", false},
        {"How much is the train from Paris to Lyon?", "Lyon - city guide", false},
        {"Can Anna work at home?", "Anna - notes", false},
        {"Lyon: walks", "Lyon - city guide", false},
        {"Is there a discount for rent?", "rent - rules", false},
        {"Whom do I call if after lunch nobody comes?", "after-school - club", false},
        {"Compare two files with Rscript", "Rscript - run R", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *q = cases[i].question;
        if (exact_names_family_asked(q, strlen(q), cases[i].title) != cases[i].asked)
            fail_msg("%s: %s", q, cases[i].title);
    }
    static const char git[] = "git - the stupid content tracker", ls[] = "ls - list a folder";
    assert_true(exact_names_are_family(git, "git-rebase - reapply commits"));
    assert_true(exact_names_are_family(git, "gitignore - files that are not tracked"));
    assert_false(exact_names_are_family(git, "tig - text-mode interface for git"));
    assert_false(exact_names_are_family(ls, "lsof - list open files"));
    assert_false(exact_names_are_family(git, "gitignore"));
    assert_false(exact_names_are_family("Paris - city guide", "Parish - news"));
    assert_false(exact_names_are_family("Paris - city guide", "Paris-Lyon - fares"));
    assert_true(exact_names_are_settings("sshd - a daemon", "sshd_config - settings of it"));
    assert_true(exact_names_are_settings("unbound - a resolver", "unbound.conf - its settings"));
    assert_true(exact_names_are_settings("mutt - reads mail", "muttrc - its settings"));
    assert_false(
        exact_names_are_settings("rsync - a copier", "rsyncd.conf - its daemon's settings"));
    assert_true(exact_names_are_settings("poold - a pool", "poold.ini - its settings"));
    assert_true(exact_names_lie_together("dnsmasq - a resolver", "doc/dnsmasq-base/FAQ"));
    assert_true(
        exact_names_lie_together("dnsmasq - a resolver", "/usr/share/doc/dnsmasq/a/b.html"));
    assert_false(exact_names_lie_together("dnsmasq - a resolver", "doc/dnsmasquerade/FAQ"));
    assert_false(exact_names_lie_together("dnsmasq - a resolver", "doc/dnsmasq"));
    assert_false(exact_names_lie_together("ls - list a folder", "doc/ls/FAQ"));
    assert_false(exact_names_are_settings("tar - an archiver", "sshd_config - of another"));
    assert_false(exact_names_are_settings(git, "git-config - reads and sets options"));
    assert_false(exact_names_are_settings(git, git));
}

static void what_is_to_be_done_is_called_as_a_command_is(void **state) {
    (void)state;
    static const struct {
        const char *question, *title;
        bool begins;
    } cases[] = {
        {"sort by the second column", "sort - sort lines of text files", true},
        {"How do I find broken links?", "find - search for files", true},
        {"Unzip it", "zip, unzip - pack and unpack", true},
        {"sort by the second column", "tsort - perform topological sort", false},
        {"print what find finds", "find - search for files", false},
        {"find the museum", "Find - a guide of museums", false},
        {"sort", "Sorting things", false},
        {"", "sort - sort lines of text files", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (exact_names_task_begins(cases[i].question, strlen(cases[i].question), cases[i].title) !=
            cases[i].begins)
            fail_msg("%s: %s", cases[i].question, cases[i].title);
}

static void another_number_of_the_same_is_told_apart(void **state) {
    (void)state;
    static const struct {
        const char *question, *text;
        bool other;
    } cases[] = {
        {"Who cleans in week 40?", "Week: 31; Opens: Ada", true},
        {"Who cleans in week 40?", "In week 31 Ada cleans.", true},
        {"Who cleans in week 40?", "Week: 40; Opens: Ada", false},
        {"Who cleans in week 40?", "In week 31 and 40 Ada cleans.", false},
        {"Who cleans in week 40?", "Ada cleans all year.", false},
        {"Who cleans in week 40?", "From week 31.", true},
        {"What costs 40 euros?", "It costs 50 euros.", false}, /* an amount */
        {"What happened on May 4?", "On May 5 it rained.", false},
        {"How big is room 7?", "Room 71 is big.", true},
        {"Is level 3.5 high?", "Level 4 is high.", false},
        {"How many jackets of size XXL are there?", "Size: XL; Jackets: 3", true},
        {"How many jackets of size XL are there?", "Size: XL; Jackets: 3", false},
        {"How many jackets of size XL are there?", "Sizes are XL and L.", false},
        {"Who may enter zone B?", "Zone A is open to all.", true},
        {"Who may enter zone B?", "Zone Bravo is open to all.", false},
        {"How much data has Breeze M?", "Breeze S has 3 GB of data.", true},
        {"How much data has Breeze M?", "Breeze S and M have data.", false},
        {"Is Vitamin D in it?", "It has much vitamin C.", true},
        {"May Anna I know?", "Anna B knows.", false},
        {"What did Mary A. Smith say?", "Mary B left.", false},
        {"Does it support PDF?", "They support OCR.", false}, /* what is supported has no names */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        exact_names x;
        exact_names_read(&x, cases[i].question, strlen(cases[i].question));
        if (exact_names_other_number(&x, cases[i].text, strlen(cases[i].text)) != cases[i].other)
            fail_msg("%s: %s", cases[i].question, cases[i].text);
    }
    exact_names x;
    exact_names_read(&x, "Who cleans in week 40?", 22);
    assert_int_equal(x.n_numbered, 1);
    assert_true(exact_names_other_value(&x, "Week", 4, "31", 2));
    assert_false(exact_names_other_value(&x, "Week", 4, "40", 2));
    assert_false(exact_names_other_value(&x, "Week", 4, "31-40", 5));
    assert_false(exact_names_other_value(&x, "Day", 3, "31", 2));
    exact_names_read(&x, "Who wears size XL?", 18);
    assert_true(exact_names_other_value(&x, "Size", 4, "XXL", 3));
    assert_false(exact_names_other_value(&x, "Size", 4, "XL", 2));
    assert_false(exact_names_other_value(&x, "Size", 4, "any", 3));
    exact_names_read(&x, "Who came on Monday 3, in size M?", 32);
    assert_int_equal(x.n_numbered, 2);
    assert_true(exact_names_other_letter(&x, "size L", 6));
    assert_false(exact_names_other_letter(&x, "Monday 4", 8));
    for (size_t n = 0; n < 22; n++) exact_names_read(&x, "Who cleans in week 40?" + 22 - n, n);
}

static size_t numbered_in(const char *question) {
    exact_names x;
    exact_names_read(&x, question, strlen(question));
    return x.n_numbered;
}

static void an_amount_names_nothing(void **state) {
    (void)state;
    static const char *const amounts[] = {"Can I borrow 10 books?",
                                          "May I bring 3 guests?",
                                          "Do I need 3 photos for the permit?",
                                          "Can my car carry 7 people?",
                                          "Can I stay 21 nights?",
                                          "Is it enough to arrive 10 minutes before departure?",
                                          "Can we park 3 cars here?",
                                          "Does the hall seat 300 people?",
                                          "Can I buy a pass for a trip with 2 dogs?",
                                          "Can I get a discount 10% off?",
                                          "Is a tip 5 \xE2\x82\xAC?",
                                          "Is there a special 10-day pass?",
                                          "Can I borrow 10?",
                                          "Can 2 adults share it?"};
    for (size_t i = 0; i < sizeof amounts / sizeof *amounts; i++)
        if (numbered_in(amounts[i])) fail_msg("a name: %s", amounts[i]);
    static const char *const names[] = {
        "Who cleans in week 40?",         "Is room 12 on the first floor?",
        "Who may enter zone 3?",          "How much are zone 3 tickets?",
        "When does bus 12 leave?",        "Is gate 4 open?",
        "Who knows when ferry 3 leaves?", "Which class 2 licences are there?"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (numbered_in(names[i]) != 1) fail_msg("no name: %s", names[i]);
}

static void a_range_holds_what_lies_within_it(void **state) {
    (void)state;
    static const struct {
        const char *question, *text;
        bool other;
    } cases[] = {
        {"What do I pay at age 12?", "Children from age 6 to 15 pay 4 euros.", false},
        {"What do I pay at age 16?", "Children from age 6 to 15 pay 4 euros.", true},
        {"What do I pay at age 5?", "Children from age 6 to 15 pay 4 euros.", true},
        {"Is it open in week 15?", "It is closed from week 10 to week 20.", false},
        {"Is it open in week 25?", "It is closed from week 10 to week 20.", true},
        {"Is it open in week 52?", "It is closed from week 50 until week 2.", false},
        {"Who cleans room 14?", "Room 10 to room 19: Ada", false},
        {"Who cleans room 14?", "Room 10-19: Ada", false},
        {"Who cleans room 14?", "Room 10 \xE2\x80\x93 19: Ada", false},
        {"Who cleans room 24?", "Room 10 to room 19: Ada", true},
        {"Who cleans room 24?", "Room 10 to room 19: Ada, room 20 to room 29: Ben", false},
        {"Who may enter level 6?", "Level 5 and above is for staff.", false},
        {"Who may enter level 6?", "Level 5 or more is for staff.", false},
        {"Who may enter level 4?", "Level 5 and above is for staff.", true},
        {"Who may enter level 4?", "Level 5 and below is for guests.", false},
        {"Who may enter level 6?", "Level 5 or less is for guests.", true},
        {"Who may enter level 6?", "Level 5 and the hall above it", true},
        {"Who may enter level 6?", "between level 3 and level 7", false},
        {"Who may enter level 6?", "level 3 and level 7", true},
        {"Who may enter zone C?", "Zone A to zone D is open.", false},
        {"Who may enter zone E?", "Zone A to zone D is open.", true},
        {"Who may enter level 6?", "Level 5 to", true},
        {"Who may enter level 6?", "Level 5 and", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        exact_names x;
        exact_names_read(&x, cases[i].question, strlen(cases[i].question));
        if (exact_names_other_number(&x, cases[i].text, strlen(cases[i].text)) != cases[i].other)
            fail_msg("%s: %s", cases[i].question, cases[i].text);
    }
}

/* What stands in front of it is no part of a title. */
static void a_title_may_begin_with_a_blank(void **state) {
    (void)state;
    static const char titles[] = ", cmp - compare two files";
    assert_int_equal(exact_names_of_command(titles + 1), 0);
    assert_int_equal(exact_names_of_command(titles + 2), 3);
    assert_int_equal(exact_names_of_command("gzip, gunzip - compress"), 12);
    char *alone = strdup(titles + 1);
    assert_non_null(alone);
    assert_int_equal(exact_names_of_command(alone), 0);
    free(alone);
}

/* A paragraph that is about year 5 from its beginning on; what costs 6 euros is no year. */
static void a_paragraph_says_whose_its_sentences_are(void **state) {
    (void)state;
    static const struct {
        const char *before, *sentence;
        bool other;
    } cases[] = {
        {"Trip of Year 5. It costs 6 euros. ", "Ms Lind is in charge.", true},
        {"Trip of Year 6. It costs 5 euros. ", "Ms Lind is in charge.", false},
        {"Year 5 goes to the castle, Year 6 to the sea. ", "Ms Lind is in charge.", false},
        {"Years are long. ", "Ms Lind is in charge.", false},
        {"Trip of Year 5. ", "Ms Lind takes the 6 as well.", false},
        {"Year 5 to Year 8 go to the sea. ", "Ms Lind is in charge.", false},
    };
    static const char question[] = "Who is in charge of the Year 6 trip?";
    exact_names x;
    exact_names_read(&x, question, strlen(question));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200];
        const size_t before = strlen(cases[i].before);
        const int n = snprintf(text, sizeof text, "%s%s", cases[i].before, cases[i].sentence);
        if (exact_names_other_number_before(&x, text, (size_t)n, before) != cases[i].other)
            fail_msg("%s", text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_paragraph_says_whose_its_sentences_are),
        cmocka_unit_test(another_version_is_told_apart),
        cmocka_unit_test(a_bound_speaks_of_versions_it_does_not_name),
        cmocka_unit_test(many_versions_are_bounded),
        cmocka_unit_test(an_option_is_met_to_the_letter),
        cmocka_unit_test(a_code_is_met_in_text_or_title),
        cmocka_unit_test(many_options_are_bounded),
        cmocka_unit_test(a_command_is_named_as_a_word_of_its_own),
        cmocka_unit_test(a_command_is_the_means_behind_few_words),
        cmocka_unit_test(an_option_is_asked_about_with_its_command),
        cmocka_unit_test(a_title_may_begin_with_a_blank),
        cmocka_unit_test(a_family_of_commands_goes_by_its_first_part),
        cmocka_unit_test(what_is_to_be_done_is_called_as_a_command_is),
        cmocka_unit_test(another_number_of_the_same_is_told_apart),
        cmocka_unit_test(an_amount_names_nothing),
        cmocka_unit_test(a_range_holds_what_lies_within_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
