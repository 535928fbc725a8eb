/* What is counted in letters by the question and in figures by the documents, and sizes in words and in capitals (size_words.c). */
#include "tests/test.h"

#include "retrieval/question/month_words.h"
#include "retrieval/question/number_words.h"
#include "retrieval/question/office_words.h"
#include "retrieval/question/size_words.h"
#include "retrieval/question/span_words.h"

typedef bool as_written_fn(fo_buf *out, const char *question, const passage *passages, size_t n);

/* want: NULL where the question stays as it is. */
static void expect_written(as_written_fn *as_written, const char *question, const passage *passages,
                           size_t n, const char *want) {
    fo_buf b = {0};
    const bool made = as_written(&b, question, passages, n);
    if (made != (want != NULL)) fail_msg("%s", question);
    if (made) assert_string_equal(b.data, want);
    fo_buf_free(&b);
}

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
        expect_written(number_words_as_written, cases[i].question, &p, 1, cases[i].want);
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
        expect_written(size_words_as_written, cases[i].question, &p, 1, cases[i].want);
    }
}

static void spans_are_asked_for_in_the_unit_they_are_written_in(void **state) {
    (void)state;
    static const struct {
        const char *question, *text, *want; /* NULL: as it is */
    } cases[] = {
        {"What is a permit for seven days?", "Day permit | 14\nWeek permit | 48",
         "What is a permit for a week?"},
        {"What is a 7-day permit?", "Week permit | 48", "What is a week permit?"},
        {"What is a pass for a week?", "6 days | 200\n7 days | 240", "What is a pass for 7 days?"},
        {"What is it for a fortnight?", "one week | 30\ntwo weeks | 50",
         "What is it for two weeks?"},
        {"Is it valid for 12 months?", "Valid | one year", "Is it valid for a year?"},
        {"How many may I take in a day?", "At most in 24 hours | 3",
         "How many may I take in 24 hours?"},
        {"What is a permit for seven days?", "7 days 48, a week's notice", NULL},
        {"What is a permit for seven days?", "seven days 48, a week's notice", NULL},
        {"What is a permit for seven days?", "2 weeks", NULL},
        {"Can I cancel after the first two weeks?", "You can cancel in the first 14 days.", NULL},
        {"How many hours a week?", "7 days", NULL},
        {"What is a permit?", "Week permit | 48", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const passage p = {.text = cases[i].text, .len = strlen(cases[i].text)};
        expect_written(span_words_as_written, cases[i].question, &p, 1, cases[i].want);
    }
}

static void months_are_asked_for_by_their_names(void **state) {
    (void)state;
    static const char plan[] = "January | Sweep the chimney\nJune | Visit the plots\n";
    static const char data[] = "month: 2026-09; rain: 88\nmonth: 2026-10; rain: 142\n";
    static const struct {
        const char *question, *text, *want; /* NULL: as it is */
    } cases[] = {
        {"Who sweeps in the first month of the year?", plan, "Who sweeps in January?"},
        {"Who sweeps in the last month of the year?", plan, "Who sweeps in December?"},
        {"Is it shut in the third month of each calendar year?", plan, "Is it shut in March?"},
        {"Who sweeps in the first month of the lease?", plan, NULL},
        {"Who sweeps in the first month?", plan, NULL},
        {"Who sweeps in the first month of the year?", "You may come in January.", NULL},
        {"Who sweeps in the first month of the year?",
         "January, June. In the first month of the year it is swept.", NULL},
        {"How much rain fell in october?", data, "How much rain fell in 2026-10?"},
        {"How much rain fell in Sep 2026, and when?", data,
         "How much rain fell in 2026-09, and when?"},
        {"How much rain fell in October 2025?", data, NULL},
        {"How much rain fell on 3 October?", data, NULL},
        {"How much rain fell in May 5?", data, NULL},
        {"May it rain?", "2026-05 2026-06", NULL},
        {"How much rain fell in October?", "2026-10: 5\n2025-10: 7\n2026-09: 2", NULL},
        {"How much rain fell in October 2025?", "2026-10: 5\n2025-10: 7\n2026-09: 2",
         "How much rain fell in 2025-10?"},
        {"How much rain fell in October?", "2026-10: 5\n2026-09: 2\nOctober was wet.", NULL},
        {"How much rain fell in October?", "2026-10-03: 5\n2026-09-10: 2", NULL},
        {"How much rain fell in October?", "Version 2026-10 is out.", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const passage p = {.text = cases[i].text, .len = strlen(cases[i].text)};
        expect_written(month_words_as_written, cases[i].question, &p, 1, cases[i].want);
    }
}

static void everyday_words_are_asked_for_as_documents_have_them(void **state) {
    (void)state;
    static const struct {
        const char *question, *best, *next,
            *want; /* passages in their order; want: NULL: as it is */
    } cases[] = {
        {"May I cut down a tree?", "Large trees may be felled with leave.", "",
         "May I fell a tree?"},
        {"When do I need a sick note?", "Tell the employer.", "A doctor's certificate is due.",
         "When do I need a doctor's certificate?"},
        {"When do I need a doctor\u2019s note?", "A medical certificate is due.", "",
         "When do I need a medical certificate?"},
        {"What do I get on Christmas Day?", "On 25 and 26 December 150 per cent", "",
         "What do I get on 25 December?"},
        {"Can I send in my return over the internet?", "Online until May", "",
         "Can I send in my return online?"},
        {"Do I get my money back?", "We refund the fare.", "", "Do I get a refund?"},
        {"Can I get out of the contract?", "You may terminate it.", "",
         "Can I terminate the contract?"},
        {"How do I get rid of batteries?", "Dispose of them in the shop.", "",
         "How do I dispose of batteries?"},
        /* the document has the word itself, or has it before the other */
        {"When do I need a sick note?", "A sick note or a doctor's certificate", "", NULL},
        {"When do I need a sick note?", "Bring the sick note.", "A medical certificate", NULL},
        /* it has none of both, or the phrase speaks of something else */
        {"When do I need a sick note?", "Tell the employer.", "", NULL},
        {"How do I cut down the cost?", "Large trees may be felled.", "", NULL},
        {"How do I get out of the building?", "You may terminate the contract.", "", NULL},
        {"Where is the note?", "A doctor's certificate is due.", "", NULL},
        {"", "Online", "", NULL},
        /* phrases that say something else, too */
        {"How do I report a break-in?", "Burglary is covered.", "", "How do I report a burglary?"},
        {"Is there a break in the morning session?", "Burglary is covered.", "", NULL},
        {"When may I cut down a tree?", "Cutting trees is allowed.", "Trees may be felled.", NULL},
        {"When may I cut down a tree?", "A tree fell on the shed in the storm.", "", NULL},
        {"May I cut down a tree?", "Grass is cut in May. Large trees may be felled.", "",
         "May I fell a tree?"},
        {"When do classes resume?", "Send a curriculum vitae.", "", NULL},
        {"Where do I send my resume?", "Send a curriculum vitae.", "",
         "Where do I send curriculum vitae?"},
        {"What time does the GP start?", "The family doctor confirms it.", "", NULL},
        {"May I see the GP?", "The family doctor confirms it.", "", "May I see family doctor?"},
        {"Must I ask my gp?", "The family doctor confirms it.", "", "Must I ask family doctor?"},
        {"Must I ask my gp?", "GPs are asked first, then a family doctor.", "", NULL},
        {"Do the rooms have blackout curtains?", "In a power cut use a torch.", "", NULL},
        {"What helps in a blackout?", "In a power cut use a torch.", "",
         "What helps in a power cut?"},
        {"What time do we turn in at the camp?", "Forms must be submitted.", "", NULL},
        {"Do children walk hand in hand to the form?", "Forms must be submitted.", "", NULL},
        {"How many reports were sent in 2023?", "Forms must be submitted.", "", NULL},
        {"Where do I turn in the form?", "Forms must be submitted.", "",
         "Where do I submit the form?"},
        {"Where do I leave the stroller?", "Strollers stay in the hall, prams outside.", "", NULL},
        {"What is the COP of the pump?", "The police advises a lock.", "", NULL},
        {"When is the Hoover monument open?", "A vacuum cleaner", "", NULL},
        {"When is the rubbish collected?", "Please do not waste water.", "You may refuse.", NULL},
        {"When is the rubbish collected?", "The refuse is fetched on Monday.", "",
         "When is the refuse collected?"},
        {"How do I throw a jab?", "Every boxer must have a vaccination.", "", NULL},
        {"When will they bring back the night bus?", "A return ticket, returned goods", "", NULL},
        {"Why did he give up the plot of his novel?", "Terminate the lease.", "", NULL},
        {"How long is it worked out in the gym?", "The score is calculated.", "", NULL},
        {"Who vets applications of volunteers?", "A veterinary practice", "", NULL},
        {"How late can I check in?", "Nets are checked twice.",
         "Guests arrive between 15:00 and 19:00.", "How late can I arrive?"},
        {"Where do I check in luggage?", "Guests arrive at 15:00.", "", NULL},
        {"When must I check out?", "Check-out: 10:00. Guests leave by bus.", "", NULL},
        {"When must I check out?", "You leave the ward by 11.", "Late check-out costs 25 euros.",
         NULL},
        {"I smell smoke, what do I do?", "Nobody smokes.", "The fire of 2002",
         "there is a fire, what do I do?"},
        {"I smell smoke, what do I do?", "When you smell smoke, leave.", "The fire of 2002", NULL},
        {"Which file types can it read?", "Supported formats: PDF", "",
         "Which file formats can it read?"},
        {"How do I list hidden files with ls?", "ls lists files.",
         "-a: do not ignore entries starting with .",
         "How do I list entries starting with . with ls?"},
        {"Copy a folder with all that is in it", "-R: copy directories recursively", "",
         "Copy a directories recursively"},
        {"Is the folder with the keys locked?", "Copied recursively", "", NULL},
        {"Change the owner of everything below a folder", "-R: work recursively", "",
         "Change the owner of files and directories recursively"},
        {"List the files of a folder", "ls - list directory contents", "",
         "List the files of a directory"},
        {"List the files of a folder", "Folders are listed.", "list directory contents", NULL},
        {"The folder is blue", "the directory of members", "", NULL},
        {"how to unzip a .xz file", "-d, --decompress", "", "how to decompress a .xz file"},
        {"Unpack a tar archive", "-x: extract files from an archive", "--uncompress",
         "extract a tar archive"},
        {"Find files changed in the last day", "-mtime n: data was last modified", "",
         "Find files last modified n days ago"},
        {"Which rules were changed in the last year?", "Rules, last changed 2019", "", NULL},
        {"Find all files larger than 1 GB", "-size n: File uses n units of space, rounding up.", "",
         "Find all files of size n units of space"},
        {"Is a dog larger than 40 kg charged more?", "units of space", "", NULL},
        {"Run a command every 5 minutes", "execute a program periodically", "",
         "Run a command periodically"},
        {"What is the time zone?", "set the timezone", "", "What is the timezone?"},
        {"rsync, show me what it would do", "-n: perform a trial run with no changes", "",
         "rsync, dry run"},
        {"Remove it without asking me", "-f: never prompt", "", "Remove it never prompt"},
        {"Remove it without asking me", "Removes without asking. Never prompt.", "", NULL},
        {"What runs at boot?", "Services start at system startup.", "", "What runs at boot?"},
        {"Print the lines that don't hold a word", "Select non-matching lines.", "",
         "Print the non-matching lines a word"},
        {"Throttle the download", "--limit-rate: at most so many bytes a second", "",
         "limit the rate of the download"},
        {"Throttle the engine", "--limit-rate: at most so many bytes", "", NULL},
        {"free disk space", "report file system space usage", "", "report file system space usage"},
        {"sort by the second column", "-k: sort via a key", "", "sort via a key"},
        {"paint it by the second column", "-k: sort via a key", "", NULL},
        {"how can I see which ports are open", "-l: only listening sockets", "",
         "how can I see which listening sockets"},
        {"show a running program to visitors", "process with the process ID", "", NULL},
        {"trace a process that already runs", "Attach to the process with the process ID pid", "",
         "trace a attach to the process with the process ID"},
        {"show the logs of one service", "Show messages for the specified systemd unit", "",
         "show the messages of the journal for the specified unit"},
        {"show the logs of one service", "Logs of a service are kept.", "Journal entries", NULL},
        {"find files older than 30 days", "-mtime n: data was last modified n*24 hours ago", "",
         "find files last modified more than n*24 hours ago"},
        {"Is a tree older than 30 years felled?", "last modified in 2020", "", NULL},
        {"shuffle the lines of a file", "Write a random permutation of the input.", "",
         "random permutation the lines of a file"},
        {"see what make runs without running it", "-n, --dry-run", "",
         "see what make runs dry run"},
        {"the size without listing the subfolders", "-s: display only a total", "",
         "the size only a total"},
        {"the script runs only once at a time", "manage locks", "", "the script runs a lock"},
        {"copy a key to a server", "logins on a remote machine", "", "copy a key remote host"},
        {"Who brings food to the server?", "a remote machine", "", NULL},
        {"change the permissions of a file", "change file mode bits", "",
         "change the file mode bits"},
        /* what holds on other feasts is not asked about where one is named */
        {"Is the pool open on Christmas Day?", "Public holidays: 10:00 - 16:00",
         "Christmas: closed", NULL},
        {"Is the pool open on New Year's Day?", "Public holidays: 10:00", "Boxing Day: closed",
         NULL},
        {"Is it open on Christmas Day?", "Closed on 25 December", "The Christmas menu", NULL},
        {"Is it open at Christmas?", "On public holidays it is closed.", "", NULL},
        {"Is it open on Christmas Day?", "On public holidays it is closed.", "",
         "Is it open on a public holiday?"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const passage p[] = {{.text = cases[i].best, .len = strlen(cases[i].best)},
                             {.text = cases[i].next, .len = strlen(cases[i].next)}};
        expect_written(office_words_as_written, cases[i].question, p, 2, cases[i].want);
    }
}

static void what_documents_may_write_is_searched_for_too(void **state) {
    (void)state;
    static const struct {
        const char *question, *want;
    } cases[] = {
        {"show me what it would do", "show me what it would do dry run"},
        {"A symlink to all files in a folder and everything in it",
         "A symlink to all files in a folder and everything in it directories recursively "
         "directory symbolic link"},
        {"Throttle the engine", NULL}, /* no download */
        {"I need a sick note", NULL},  /* what stands for it the passages say */
        {"", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fo_buf b = {0};
        const bool more = office_words_to_search(&b, cases[i].question);
        assert_int_equal(more, cases[i].want != NULL);
        if (more) assert_string_equal(b.data, cases[i].want);
        assert_int_equal(b.len > 0, more);
        fo_buf_free(&b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_are_asked_for_where_they_are_written),
        cmocka_unit_test(sizes_are_asked_for_as_they_are_written),
        cmocka_unit_test(spans_are_asked_for_in_the_unit_they_are_written_in),
        cmocka_unit_test(months_are_asked_for_by_their_names),
        cmocka_unit_test(everyday_words_are_asked_for_as_documents_have_them),
        cmocka_unit_test(what_documents_may_write_is_searched_for_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
