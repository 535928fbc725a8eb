/* man_printed_test.c - manual pages as man prints them into a file: what stands in which column becomes headings, options and
 * paragraphs. */
#include "tests/data/extract/extract_fixture.h"

static const char page[] =
    "TIDE(1)\t\t\t User Commands\t\t\t   TIDE(1)\n"
    "\n"
    "NAME\n"
    "       tide - show when the water is high\n"
    "\n"
    "SYNOPSIS\n"
    "       tide [OPTION...] PORT\n"
    "       tide --list\n"
    "\n"
    "DESCRIPTION\n"
    "       tide  prints  the  times  of high water for a port, of to-\n"
    "       day and of the days that follow, as they were  calcu\xE2\x80\x90\n"
    "       lated by the harbour office, in the time of that same port\n"
    "       unless told otherwise.\n"
    "\n"
    "OPTIONS\n"
    "   General\n"
    "       -d N, --days=N\n"
    "              Print N days.  The office calculates the next  400\n"
    "              days; more are refused.\n"
    "\n"
    "              Without this option seven days are printed.\n"
    "\n"
    "       -l     List the ports and end.\n"
    "       --utc  Print the times in UTC, whichever the zone of the port\n"
    "              may be.\n"
    "       --help Print what there is to say of the options.\n"
    "\n"
    "       -q\n"
    "       --quiet\n"
    "              Say nothing of ports without a gauge.\n"
    "\n"
    "       Those are the things that are read from the files:\n"
    "\n"
    "       \xE2\x80\xA2      the gauges\n"
    "       \xE2\x80\xA2      the ports\n"
    "\n"
    "       1.     the first\n"
    "       2.     the second\n"
    "\n"
    "EXIT STATUS\n"
    "       0      all went well\n"
    "       1      there is no such port, or none that the office knows of\n"
    "              at all\n"
    "\n"
    "EXAMPLES\n"
    "       Days and ports of a file:\n"
    "\n"
    "           tide --days 3 \\\n"
    "             Husum\n"
    "\n"
    "           PORT     GAUGE      SINCE\n"
    "           Husum    hus        1901\n"
    "           List     lis        1934\n"
    "\n"
    "tide 2.1\t\t\t   2026-03-01\t\t\t\t      TIDE(1)\n";

static void a_printed_page_has_the_text_of_its_source(void **state) {
    (void)state;
    extracted x = read_string(page, NULL, "tide.txt");
    assert_string_equal(x.title, "tide - show when the water is high");
    assert_string_equal(
        x.text,
        "NAME\n\ntide - show when the water is high\n\n"
        "SYNOPSIS\n\ntide [OPTION...] PORT\ntide --list\n\n"
        "DESCRIPTION\n\ntide prints the times of high water for a port, of to-day and of the days "
        "that follow, as "
        "they were calculated by the harbour office, in the time of that same port unless told "
        "otherwise.\n\n"
        "OPTIONS\n\nGeneral\n\n"
        "-d N, --days=N\nPrint N days. The office calculates the next 400 days; more are refused.\n"
        "Without this option seven days are printed.\n"
        "-l\nList the ports and end.\n"
        "--utc\nPrint the times in UTC, whichever the zone of the port may be.\n"
        "--help\nPrint what there is to say of the options.\n"
        "-q\n--quiet\nSay nothing of ports without a gauge.\n\n"
        "Those are the things that are read from the files:\n\n- the gauges\n- the ports\n1. the "
        "first\n2. the second\n\n"
        "EXIT STATUS\n\n0\nall went well\n"
        "1\nthere is no such port, or none that the office knows of at all\n\n"
        "EXAMPLES\n\nDays and ports of a file:\n\n"
        "tide --days 3 \\\n  Husum\n\n"
        "PORT     GAUGE      SINCE\nHusum    hus        1901\nList     lis        1934");
    size_t headings[3] = {0};
    for (size_t i = 0; i < x.n_blocks; i++)
        if (x.blocks[i].kind == TEXT_HEADING) headings[x.blocks[i].level]++;
    assert_int_equal(headings[1], 6);
    assert_int_equal(headings[2], 1);
    extracted_deinit(&x);
}

/* What begins otherwise is plain text, which stays as it is. */
static void another_text_stays_as_it_is(void **state) {
    (void)state;
    static const char *const texts[] = {
        "TIDE(1) is a program.\n\nNAME\n       tide - show when the water is high\n",
        "TIDE(1)    User Commands    EBB(1)\n\nNAME\n       tide - show when the water is high\n",
        "TIDE(1)    User Commands    TIDE(1)\n\nNAME\ntide - show when the water is high\n",
        "TIDE(1)    User Commands    TIDE(1)\n\n       NAME\n       tide\n",
        "TIDE(1)    User Commands    TIDE(1)",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        extracted x = read_string(texts[i], NULL, "tide.txt");
        assert_string_equal(x.text, texts[i]);
        extracted_deinit(&x);
    }
}

/* Whatever stands behind the head of a page, blocks lie in the text in order (read_as sees to it). */
static void any_lines_are_read(void **state) {
    (void)state;
    static const char *const parts[] = {
        "-",  "-a",   "  ",      "\t", "\n",           "\n",           "\xE2\x80\x90", "o",
        "1.", "word", "       ", ":",  "\xE2\x80\xA2", "A(1)    A(1)", "x  y"};
    unsigned r = 7;
    for (int round = 0; round < 3000; round++) {
        char text[512] = "A(1)    B    A(1)\nN\n   a\n";
        size_t n = strlen(text);
        for (int k = 0; k < 30; k++) {
            r = r * 1103515245u + 12345u;
            const char *part = parts[(r >> 16) % (sizeof parts / sizeof *parts)];
            memcpy(text + n, part, strlen(part) + 1);
            n += strlen(part);
        }
        extracted x = read_string(text, NULL, "a.txt");
        extracted_deinit(&x);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_printed_page_has_the_text_of_its_source),
        cmocka_unit_test(another_text_stays_as_it_is),
        cmocka_unit_test(any_lines_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
