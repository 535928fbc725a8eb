/* units.c: options with what is said of them beside them, as a program prints them; signs and words that are no part of the text. */
#include "retrieval/units/unit_lines.h"
#include "tests/retrieval/units/units_fixture.h"

static const char usage[] = "usage: mowbot [-i <file>] [-h]\n"
                            "    -e, --export-map                export the map to stdout\n"
                            "    -i, --import-map=<file>         import a map\n"
                            "    -x, --execute=<command>...      execute list of commands\n"
                            "    -h, --help                      this help\n\n"
                            "This means that mowbot can't start without a map. Draw one first.\n";

static void each_option_is_said_with_what_stands_beside_it(void **state) {
    (void)state;
    read_units(usage);
    expect(usage, "-e, --export-map                export the map to stdout", TEXT_UNIT_DEFINITION,
           "");
    expect(usage, "-x, --execute=<command>...      execute list of commands", TEXT_UNIT_DEFINITION,
           "");
    expect(usage, "-h, --help                      this help", TEXT_UNIT_DEFINITION, "");
    expect(usage, "This means that mowbot can't start without a map.", TEXT_UNIT_SENTENCE, "");
    for (size_t i = 0; i < units.n; i++)
        if (usage[units.v[i].start] == '-')
            assert_int_equal(strncmp(usage + units.v[i].body - 3, "   ", 3), 0);
}

/* The last one of a text is no heading; one may end as a sentence does. */
static void an_option_may_end_the_text_or_a_sentence(void **state) {
    (void)state;
    static const char text[] = "-f     Flush the queue: attempt to deliver all queued mail.\n"
                               "-v     Say more.";
    read_units(text);
    expect(text, "-f     Flush the queue: attempt to deliver all queued mail.",
           TEXT_UNIT_DEFINITION, "");
    expect(text, "-v     Say more.", TEXT_UNIT_DEFINITION, "");
}

static void lines_below_go_on_where_they_are_indented(void **state) {
    (void)state;
    static const char text[] = "  -b, --blades=N    sets how many blades turn, of\n"
                               "                    which two are needed\n"
                               "  -q                says nothing\n\n"
                               "                    Errors are said all the same.\n\n"
                               "Blades wear out within a year.\n";
    read_units(text);
    expect(text,
           "-b, --blades=N    sets how many blades turn, of\n"
           "                    which two are needed",
           TEXT_UNIT_DEFINITION, "");
    expect(text, "Errors are said all the same.", TEXT_UNIT_SENTENCE, "-q");
    expect(text, "Blades wear out within a year.", TEXT_UNIT_SENTENCE, "");
}

/* Text that is set to a width has gaps anywhere. */
static void a_gap_behind_words_ends_no_option(void **state) {
    (void)state;
    static const char tag[] = "-t tag Specifies  the  logging  tag";
    static const char none[] = "-x, --execute <command>";
    static const char two[] = "-a  --all  names all";
    assert_int_equal(unit_option_said(tag, strlen(tag)), 0);
    assert_int_equal(unit_option_said(none, strlen(none)), 0);
    assert_int_equal(unit_option_said(two, strlen(two)), 11);
}

/* A link to the heading, as documentation on the web has it, is no part of it. */
static void the_sign_behind_a_heading_is_left_out(void **state) {
    (void)state;
    static const char text[] = "Can two mowers share a shed?\xC2\xB6\n\n"
                               "Yes, this is possible, but they need two docks.\n\n"
                               "Can it swim?\xC2\xB6\n\nNo.\n";
    read_units(text);
    expect(text, "Can two mowers share a shed?", TEXT_UNIT_HEADING, "");
    expect(text, "Yes, this is possible, but they need two docks.", TEXT_UNIT_SENTENCE,
           "Can two mowers share a shed?");
}

/* "to" between what to change and what it becomes explains nothing. */
static void a_word_between_two_examples_is_no_term(void **state) {
    (void)state;
    static const char text[] = "Change the file of settings:\n\n<door open=\"false\">\n\n"
                               "to\n\n<door open=\"true\">\n\nThen the door is open to all.\n";
    read_units(text);
    for (size_t i = 0; i < units.n; i++)
        assert_int_not_equal(units.v[i].kind, TEXT_UNIT_DEFINITION);
}

/* A passage may end with the names of an option: what it does stands in the next one. At the end of a document they are a list. */
static void an_option_of_which_nothing_is_said_here_is_no_answer(void **state) {
    (void)state;
    fo_err err = {0};
    static const char text[] = "The mower stops at the fence.\n\n-n pattern\n--lawn=pattern";
    assert_ok(text_units_read_part(&units, text, strlen(text), 0, true, &err), &err);
    expect(text, "-n pattern\n--lawn=pattern", TEXT_UNIT_HEADING, "");
    read_units(text);
    expect(text, "-n pattern\n--lawn=pattern", TEXT_UNIT_DEFINITION, "");
}

/* What a setting is called in the environment, and of which kind it is, may make its line long. */
static void a_name_with_an_aside_is_a_term_however_long(void **state) {
    (void)state;
    static const char text[] =
        "Settings\n\nremow (MOWBOT_REMOW or MOWBOT_NOREMOW, see Boolean values above)\n"
        "If true, the robot mows what it has mown already. New grass is always mown, and so are "
        "edges.\n\n"
        "The blades (which are sharp, as you know from the first part of this page)\n"
        "turn on both sides of the robot. They stop when it is lifted by anybody, and when it is "
        "wet.\n";
    read_units(text);
    expect(text,
           "remow (MOWBOT_REMOW or MOWBOT_NOREMOW, see Boolean values above)\n"
           "If true, the robot mows what it has mown already. New grass is always mown, and so are "
           "edges.",
           TEXT_UNIT_DEFINITION, "Settings");
    expect(text,
           "The blades (which are sharp, as you know from the first part of this page)\n"
           "turn on both sides of the robot.",
           TEXT_UNIT_SENTENCE, "Settings");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_option_of_which_nothing_is_said_here_is_no_answer),
        cmocka_unit_test(a_name_with_an_aside_is_a_term_however_long),
        cmocka_unit_test(each_option_is_said_with_what_stands_beside_it),
        cmocka_unit_test(an_option_may_end_the_text_or_a_sentence),
        cmocka_unit_test(lines_below_go_on_where_they_are_indented),
        cmocka_unit_test(a_gap_behind_words_ends_no_option),
        cmocka_unit_test(the_sign_behind_a_heading_is_left_out),
        cmocka_unit_test(a_word_between_two_examples_is_no_term),
    };
    return cmocka_run_group_tests(tests, NULL, forget);
}
