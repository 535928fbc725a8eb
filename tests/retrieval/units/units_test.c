/* units_test.c - what of a text stands alone: sentences, options with their descriptions, rows with
 * their headers, procedures; any bytes at all give units that lie in the text. */
#include <stdlib.h>

#include "kernels/buf.h"
#include "tests/retrieval/units/units_fixture.h"

static void an_option_stays_with_its_description(void **state) {
    (void)state;
    const char *text = "OPTIONS\n\n-c, --count\nSuppress normal output; print a count instead.\n"
                       "-n, --quiet, --silent\n\nsuppress automatic printing of pattern space\n\n"
                       "-i[SUFFIX], --in-place[=SUFFIX]\n\nedit files in place (makes backup)\n\n"
                       "-S, --search PATTERN...\nSearch for packages that own files.\n\n"
                       "NOTES\n\nIt is fast.";
    read_units(text);
    expect(text, "-S, --search PATTERN...\nSearch for packages that own files.",
           TEXT_UNIT_DEFINITION, "OPTIONS");
    expect(text, "-c, --count\nSuppress normal output; print a count instead.",
           TEXT_UNIT_DEFINITION, "OPTIONS");
    expect(text, "-n, --quiet, --silent\n\nsuppress automatic printing of pattern space",
           TEXT_UNIT_DEFINITION, "OPTIONS");
    expect(text, "-i[SUFFIX], --in-place[=SUFFIX]\n\nedit files in place (makes backup)",
           TEXT_UNIT_DEFINITION, "OPTIONS");
    expect(text, "It is fast.", TEXT_UNIT_SENTENCE, "NOTES");
}

/* "You need Go 1.21:" without what follows says half of it, and a command is no term of the next heading. */
static void an_example_hangs_on_what_leads_in(void **state) {
    (void)state;
    const char *text = "Installing\n\nThere are binaries. From source you need Go 1.21:\n\n"
                       "go install example.org/tide@latest\ntide --version\n\nUsage\n\n"
                       "tide --days 3\n\nLimits\n\nRead this:\n\nThe wind matters.\n";
    read_units(text);
    expect(text, "go install example.org/tide@latest\ntide --version", TEXT_UNIT_ITEM,
           "From source you need Go 1.21:");
    bool lines = false;
    for (size_t i = 0; i < units.n; i++) lines |= units.v[i].lines;
    assert_true(lines);
    expect(text, "There are binaries.", TEXT_UNIT_SENTENCE, "Installing");
    expect(text, "Usage", TEXT_UNIT_HEADING, "");
    expect(text, "tide --days 3", TEXT_UNIT_SENTENCE, "Usage");
    expect(text, "Read this:", TEXT_UNIT_SENTENCE, "Limits");
    expect(text, "The wind matters.", TEXT_UNIT_SENTENCE, "Limits");
}

static void one_word_is_no_answer_by_itself(void **state) {
    (void)state;
    const char *text = "Is there a minimum?\n\nNo. Below 20 euros we charge 2.50 euros. Yes!\n";
    read_units(text);
    expect(text, "No. Below 20 euros we charge 2.50 euros.", TEXT_UNIT_SENTENCE,
           "Is there a minimum?");
    expect(text, "Yes!", TEXT_UNIT_SENTENCE, "Is there a minimum?"); /* nothing comes behind it */
}

/* A passage may begin in the middle of a line: its first words are no term, no heading, no item. */
static void the_rest_of_a_line_is_no_line(void **state) {
    (void)state;
    fo_err err = {0};
    static const struct {
        const char *before, *text, *unit;
    } cases[] = {
        {"Teal leaks, and so it is kept for the count. ",
         "Grebe\nTeal is the only one on the lake.", "Grebe\nTeal is the only one on the lake."},
        {"The count of nests is made by the warden from the punt ", "Grebe\n\nWaders hang there.",
         "Grebe"},
        {"The water is low when the gauge at the weir shows less than ",
         "1. Then the weir is shut.", "1. Then the weir is shut."},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char all[256];
        int before = snprintf(all, sizeof all, "%s", cases[i].before);
        strcpy(all + before, cases[i].text);
        const char *text = all + before;
        assert_ok(text_units_read(&units, text, strlen(text), (size_t)before, &err), &err);
        expect(text, cases[i].unit, TEXT_UNIT_SENTENCE, "");
    }
}

static void wrapped_lines_are_no_items_and_no_terms(void **state) {
    (void)state;
    const char *text =
        "In the winter of that year the level of the lake fell to\n12. Then it rose.\n"
        "When it rains\nthe boats stay in the house, and nobody goes out on the lake.";
    read_units(text);
    expect(text, "In the winter of that year the level of the lake fell to\n12.",
           TEXT_UNIT_SENTENCE, "");
    expect(text, "When it rains\nthe boats stay in the house, and nobody goes out on the lake.",
           TEXT_UNIT_SENTENCE, "");
}

static void numbered_sections_are_no_list(void **state) {
    (void)state;
    const char *text =
        "Minutes of 14 March\n\n1. Water\nThe pump leaks. Hadrian Pumps mends it in April.\n\n"
        "2. Fees\nThe fee stays at 85 euros a plot.\nIt is due on 1 May.\n\nTo start the pump:\n\n"
        "1. Fill the bucket\n2. Pull the lever and wait until it hums.\n\n"
        "1. Open the valve of the upper\ntank, which is red.\n";
    read_units(text);
    expect(text, "1. Water", TEXT_UNIT_HEADING, "");
    expect(text, "The pump leaks.", TEXT_UNIT_SENTENCE, "1. Water");
    expect(text, "Hadrian Pumps mends it in April.", TEXT_UNIT_SENTENCE, "1. Water");
    expect(text, "It is due on 1 May.", TEXT_UNIT_SENTENCE, "2. Fees");
    expect(text, "1. Fill the bucket", TEXT_UNIT_ITEM, "To start the pump:");
    expect(text, "1. Open the valve of the upper\ntank, which is red.", TEXT_UNIT_ITEM,
           "To start the pump:");
}

static void options_that_share_a_description_are_one(void **state) {
    (void)state;
    const char *text = "-0\n--null\nInput items end in a null character.\n-a\nAll of them.";
    read_units(text);
    expect(text, "-0\n--null\nInput items end in a null character.", TEXT_UNIT_DEFINITION, "");
    expect(text, "-a\nAll of them.", TEXT_UNIT_DEFINITION, "");
}

static void an_example_stays_with_what_it_does(void **state) {
    (void)state;
    const char *text = "EXAMPLES\n\nkill -9 -1\nKill all processes you can kill.\nkill --list 11\n"
                       "Translate number 11 into a signal name.\n";
    read_units(text);
    expect(text, "kill -9 -1\nKill all processes you can kill.", TEXT_UNIT_DEFINITION, "EXAMPLES");
    expect(text, "kill --list 11\nTranslate number 11 into a signal name.", TEXT_UNIT_DEFINITION,
           "EXAMPLES");
}

static void later_sentences_of_a_long_description_know_their_option(void **state) {
    (void)state;
    char text[1200];
    snprintf(
        text, sizeof text,
        "-m NUM, --max-count=NUM\nStop reading a file after NUM matching lines. %0400d is a long "
        "number. If NUM is zero, grep stops right away without reading input.",
        7);
    read_units(text);
    expect(text, "-m NUM, --max-count=NUM\nStop reading a file after NUM matching lines.",
           TEXT_UNIT_DEFINITION, "");
    expect(text, "If NUM is zero, grep stops right away without reading input.", TEXT_UNIT_SENTENCE,
           "-m NUM, --max-count=NUM");
}

static void a_row_hangs_on_its_header(void **state) {
    (void)state;
    const char *text =
        "Error codes\n\ncode | meaning\nE1 | pressure too low\nE2 | sensor broken\n\n"
        "Call the service.";
    read_units(text);
    expect(text, "code | meaning", TEXT_UNIT_HEADER, "Error codes");
    expect(text, "E1 | pressure too low", TEXT_UNIT_ROW, "code | meaning");
    expect(text, "E2 | sensor broken", TEXT_UNIT_ROW, "code | meaning");
    expect(text, "Call the service.", TEXT_UNIT_SENTENCE, "Error codes");
    /* A passage may begin within a table, and a table may have no header: its first row names no columns. */
    fo_err err = {0};
    const char *all = "E1 | pressure too low\nE2 | sensor broken\nE3 | ice on the evaporator\n";
    text = strstr(all, "E2");
    assert_ok(text_units_read(&units, text, strlen(text), (size_t)(text - all), &err), &err);
    expect(text, "E2 | sensor broken", TEXT_UNIT_ROW, "");
    expect(text, "E3 | ice on the evaporator", TEXT_UNIT_ROW, "");
    text = "Codes\n\n421 | a foreign host\n507 | the disk is full";
    read_units(text);
    expect(text, "507 | the disk is full", TEXT_UNIT_ROW, "");
    text = "Search in them with gzip -cd foo.gz | grep pattern, which is slow.";
    read_units(text);
    expect(text, text, TEXT_UNIT_SENTENCE, ""); /* a bar in prose is no table */
}

static void options_in_a_table_are_rows(void **state) {
    (void)state;
    const char *text = "option | default | what it does\n--port N | 8080 | where it listens\n"
                       "--quiet | off | says nothing";
    read_units(text);
    expect(text, "--port N | 8080 | where it listens", TEXT_UNIT_ROW,
           "option | default | what it does");
    expect(text, "--quiet | off | says nothing", TEXT_UNIT_ROW, "option | default | what it does");
    text = "-v | --verbose\nSay what is done.\n\n--color {always | never}\nColour the words.";
    read_units(text);
    expect(text, "-v | --verbose\nSay what is done.", TEXT_UNIT_DEFINITION, "");
    expect(text, "--color {always | never}\nColour the words.", TEXT_UNIT_DEFINITION, "");
}

static void a_procedure_is_whole_with_what_leads_in(void **state) {
    (void)state;
    const char *text = "The filter is cleaned twice a year. To clean the filter:\n\n"
                       "1. Switch off the breaker.\n2. Close both\n   valves.\n\nIt takes an hour.";
    read_units(text);
    expect(text, "The filter is cleaned twice a year.", TEXT_UNIT_SENTENCE, "");
    expect(text, "To clean the filter:\n\n1. Switch off the breaker.\n2. Close both\n   valves.",
           TEXT_UNIT_STEPS, "");
    expect(text, "1. Switch off the breaker.", TEXT_UNIT_ITEM, "To clean the filter:");
    expect(text, "2. Close both\n   valves.", TEXT_UNIT_ITEM, "To clean the filter:");
    expect(text, "It takes an hour.", TEXT_UNIT_SENTENCE, "");
}

static void any_bytes_give_units_within_the_text(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    static const char *const bits[] = {
        "\n",       "\n\n",   "-a ",           "--all",    " | ",
        "1. ",      "- ",     "word ",         ". ",       ":",
        "[09:12] ", "#",      "\xFF",          "\xC3\x9C", "?",
        "  ",       "\n  - ", "\xE2\x80\x93 ", "2. ",      "[1/2/26, 9:12] B: "};
    for (int round = 0; round < 3000; round++) {
        char text[600];
        size_t n = 0;
        while (n < 580 && test_random(&seed) % 200) {
            const char *b = bits[test_random(&seed) % (sizeof bits / sizeof *bits)];
            memcpy(text + n, b, strlen(b));
            n += strlen(b);
        }
        fo_err err = {0};
        assert_ok(text_units_read(&units, text, n, 0, &err), &err);
        for (size_t i = 0; i < units.n; i++) {
            const text_unit *u = &units.v[i];
            assert_true(u->start < u->end && u->end <= n);
            assert_true(u->head_start <= u->head_end && u->head_end <= n);
            assert_true(u->outer_start <= u->outer_end && u->outer_end <= n);
            assert_true(u->body >= u->start && u->body < u->end);
            assert_null(memchr(" \t\r\n", text[u->start], 4));
        }
    }
}

/* Pages of frequent questions: the question heads what answers it, whether blank lines are between them or not; "A:" is no word
 * of the answer. A question within a paragraph, or wrapped text before one, heads nothing. */
static void a_question_asked_heads_its_answer(void **state) {
    (void)state;
    const char *text =
        "How are the nets dried?\n\nOn the racks.\n\n"
        "Q: Who mends them?\nA: Two men from the village mend them in winter.\n"
        "Q: And the floats?\nA: They are bought.\n\n"
        "Nobody knew where the boat had gone, and in the end the whole village asked itself who\n"
        "had seen it?\nIt lay on the sand.";
    read_units(text);
    expect(text, "How are the nets dried?", TEXT_UNIT_HEADING, "");
    expect(text, "On the racks.", TEXT_UNIT_SENTENCE, "How are the nets dried?");
    expect(text, "Q: Who mends them?", TEXT_UNIT_HEADING, "");
    expect(text, "Two men from the village mend them in winter.", TEXT_UNIT_SENTENCE,
           "Q: Who mends them?");
    expect(text, "They are bought.", TEXT_UNIT_SENTENCE, "Q: And the floats?");
    expect(text, "It lay on the sand.", TEXT_UNIT_SENTENCE, "Q: And the floats?");
}

/* "Is it free? For three people.": where several paragraphs do so it is a page of frequent questions. */
static void a_paragraph_may_ask_and_answer(void **state) {
    (void)state;
    const char *page = "Is it free? Yes, for up to three people. Others pay.\n\n"
                       "Where is my data? On servers in Falkenried.\n\nIt is read by nobody.\n";
    read_units(page);
    expect(page, "Is it free?", TEXT_UNIT_HEADING, "");
    expect(page, "Yes, for up to three people.", TEXT_UNIT_SENTENCE, "Is it free?");
    expect(page, "Others pay.", TEXT_UNIT_SENTENCE, "Is it free?");
    expect(page, "On servers in Falkenried.", TEXT_UNIT_SENTENCE, "Where is my data?");
    const char *prose = "What did they find? A boat.\n\nIt lay on the sand. Who had left it?\n";
    read_units(prose);
    expect(prose, "What did they find?", TEXT_UNIT_SENTENCE, "");
    expect(prose, "A boat.", TEXT_UNIT_SENTENCE, "");
}

static void columns_of_plain_text_are_a_table(void **state) {
    (void)state;
    const char *text = "PROGRAMS\n"
                       "Program    Temperature   Time      Use\n"
                       "Eco        50            3 h 15    normally dirty dishes\n"
                       "Rinse      cold          14 min    dishes that wait\n"
                       "\n"
                       "Half load goes with all.\n";
    read_units(text);
    expect(text, "PROGRAMS", TEXT_UNIT_HEADING, "");
    expect(text, "Program    Temperature   Time      Use", TEXT_UNIT_HEADER, "PROGRAMS");
    expect(text, "Rinse      cold          14 min    dishes that wait", TEXT_UNIT_ROW,
           "Program    Temperature   Time      Use");
    expect(text, "Half load goes with all.", TEXT_UNIT_SENTENCE, "PROGRAMS");
    /* The first column has no name. */
    text = "Opening hours\n-------------\n"
           "            Gym                Pool               Sauna\n"
           "Mon-Fri     6 am - 10 pm       6.30 am - 9 pm     noon - 9 pm\n"
           "Saturday    7 am - 8 pm        8 am - 6 pm        10 am - 6 pm\n"
           "Sunday      8 am - 6 pm        9 am - 5 pm        closed\n";
    read_units(text);
    expect(text, "Sunday      8 am - 6 pm        9 am - 5 pm        closed", TEXT_UNIT_ROW,
           "            Gym                Pool               Sauna");
    /* Rows without names of columns; figures below each other at their ends; a rule below the names. */
    const char *hours = "Monday     closed\nTuesday    9 to 12\nWednesday  9 to 5\n";
    read_units(hours);
    expect(hours, "Monday     closed", TEXT_UNIT_ROW, "");
    const char *ruled = "item     left\n-------  ----\ncanoes      3\nboats      12\n";
    read_units(ruled);
    expect(ruled, "canoes      3", TEXT_UNIT_ROW, "item     left");
    /* The text begins behind the indent of the first row. */
    const char *indented = "FEES\n\n     Group        Half day    Full day    Lunch\n"
                           "     Hedgehogs    EUR 210     EUR 340     EUR 62\n"
                           "     Badgers      EUR 150     EUR 245     EUR 68\n";
    fo_err err = {0};
    assert_ok(text_units_read(&units, indented + 11, strlen(indented + 11), 11, &err), &err);
    expect(indented + 11, "Badgers      EUR 150     EUR 245     EUR 68", TEXT_UNIT_ROW,
           "Group        Half day    Full day    Lunch");
    const char *tabs = "Town\tInhabitants\tSince\nA\t100\t1900\nLonger name\t20,000\t1912\n";
    read_units(tabs);
    expect(tabs, "Longer name\t20,000\t1912", TEXT_UNIT_ROW, "Town\tInhabitants\tSince");
}

static void a_question_quoted_heads_its_answer(void **state) {
    (void)state;
    const char *text = "The bus leaves at nine.\n"
                       "\n"
                       "On Monday Jonas wrote:\n"
                       "> Can we bring guests?\n"
                       "Sorry, not this time, the hotel is full.\n"
                       "> Is there lunch?\n"
                       "> And dinner?\n"
                       "Both.\n";
    read_units(text);
    expect(text, "Sorry, not this time, the hotel is full.", TEXT_UNIT_SENTENCE,
           "> Can we bring guests?");
    expect(text, "Both.", TEXT_UNIT_SENTENCE, "> And dinner?");
    const char *line =
        "On Monday Jonas wrote:\n\n"
        "> The trio would play for 450 euros from half past eight until eleven. Shall "
        "I book them?\nYes, please.\n";
    read_units(line);
    expect(line, "> The trio would play for 450 euros from half past eight until eleven.",
           TEXT_UNIT_SENTENCE, "");
    expect(line, "Yes, please.", TEXT_UNIT_SENTENCE, "Shall I book them?");
}

/* What a slide or a form holds has no stops and no marks. */
static void many_short_lines_in_a_row_are_points(void **state) {
    (void)state;
    const char *text =
        "What it costs\n\nInverter: 6,500 euros\n\nScaffold: 3,200 euros\n\nThe town pays "
        "two thirds\n\nTimetable\n\nIt begins in July.\n";
    read_units(text);
    expect(text, "What it costs", TEXT_UNIT_HEADING, "");
    expect(text, "Inverter: 6,500 euros", TEXT_UNIT_ITEM, "What it costs");
    expect(text, "The town pays two thirds", TEXT_UNIT_ITEM, "What it costs");
    expect(text, "Timetable", TEXT_UNIT_HEADING, "");
    expect(text, "It begins in July.", TEXT_UNIT_SENTENCE, "Timetable");
    const char *headings = "The kiln\n\nBefore use\n\nPlace\n\nPut it on a stone floor.\n";
    read_units(headings);
    expect(headings, "Before use", TEXT_UNIT_HEADING, "");
    expect(headings, "Place", TEXT_UNIT_HEADING, "");
}

/* As tables of values, sheets and pages become text (data/extract/table_rows.h). */
static void records_are_rows_of_a_table(void **state) {
    (void)state;
    const char *text = "Members\n"
                       "\n"
                       "Name | Instrument | Phone\n"
                       "\n"
                       "Name: Amira Holt; Instrument: violin; Phone: 555-0101\n"
                       "\n"
                       "Name: Dmitri Sayer; Instrument: cello\n"
                       "\n"
                       "Name: Farid Noor; Instrument: horn; Phone: 555-0106";
    read_units(text);
    expect(text, "Members", TEXT_UNIT_HEADING, "");
    expect(text, "Name | Instrument | Phone", TEXT_UNIT_HEADER, "Members");
    expect(text, "Name: Amira Holt; Instrument: violin; Phone: 555-0101", TEXT_UNIT_ROW, "");
    expect(text, "Name: Dmitri Sayer; Instrument: cello", TEXT_UNIT_ROW, "");
    expect(text, "Name: Farid Noor; Instrument: horn; Phone: 555-0106", TEXT_UNIT_ROW, "");
    for (size_t i = 0; i < units.n; i++)
        assert_true(units.v[i].record == (units.v[i].kind == TEXT_UNIT_ROW));
    /* The only one of its table in a text: those before it tell. */
    const char *whole = "Name: Amira Holt; Phone: 1\n\nName: Dmitri Sayer; Phone: 2\n";
    const size_t before = strlen("Name: Amira Holt; Phone: 1\n\n");
    fo_err err = {0};
    assert_ok(text_units_read(&units, whole + before, strlen(whole) - before, before, &err), &err);
    assert_int_equal(units.n, 1);
    assert_true(units.v[0].kind == TEXT_UNIT_ROW && units.v[0].record);
    /* One alone is a line like any other. */
    const char *alone =
        "Opening hours: Monday to Friday; Closed: holidays. The rest is in the yard.";
    read_units(alone);
    for (size_t i = 0; i < units.n; i++) assert_false(units.v[i].record);
}

/* A typewriter puts two blanks behind a sentence, a justified line has them anywhere. */
static void wide_gaps_in_prose_are_no_columns(void **state) {
    (void)state;
    const char *typed = "The boat left at nine.  It was cold.\n"
                        "The mate saw the land.  He was glad.\n"
                        "The dog saw the gulls.  It was loud.\n";
    read_units(typed);
    expect(typed, "He was glad.", TEXT_UNIT_SENTENCE, "");
    const char *justified = "The program  reads all of the  files in the\n"
                            "folder  that is named and writes  what  it\n"
                            "finds to  the  standard output, line  by\n"
                            "line.\n";
    read_units(justified);
    assert_int_equal(units.n, 1);
}

static void lines_that_begin_with_what_they_speak_of_are_items(void **state) {
    (void)state;
    const char *text = "FAULTS\n"
                       "E1: no water. Open the tap.\n"
                       "E2: water does not drain. Clean the filter, check that the\n"
                       "hose is not bent.\n"
                       "E3: heating fault.\n"
                       "\n"
                       "The rule is plain: no water, no wash.\n";
    read_units(text);
    expect(text, "E2: water does not drain. Clean the filter, check that the\nhose is not bent.",
           TEXT_UNIT_ITEM, "FAULTS");
    expect(text, "E1: no water. Open the tap.", TEXT_UNIT_ITEM, "FAULTS");
    expect(text, "The rule is plain: no water, no wash.", TEXT_UNIT_SENTENCE, "FAULTS");
    const char *numbers =
        "Call us\n\nClaims: 0345 1\nChanges of plan: 0345 2\nComplaints: Mrs Vroom\n";
    read_units(numbers);
    expect(numbers, "Claims: 0345 1", TEXT_UNIT_ITEM, "Call us");
    expect(numbers, "Changes of plan: 0345 2", TEXT_UNIT_ITEM, "Call us");
    expect(numbers, "Complaints: Mrs Vroom", TEXT_UNIT_ITEM, "Call us");
    const char *asked = "Q: Is it free?\nA: For children it is.\n";
    read_units(asked);
    expect(asked, "For children it is.", TEXT_UNIT_SENTENCE, "Q: Is it free?");
}

static void an_item_that_is_a_paragraph_is_its_sentences(void **state) {
    (void)state;
    const char *text =
        "1. Accounts. Income was 6,420 pounds, expenses were 5,980. The reserve stands at 3,150. "
        "The "
        "auditors had no objection; the board was discharged with two abstentions.\n\n"
        "2. Bonfires are allowed from October on. Not on Sundays.\n";
    read_units(text);
    expect(text, "1. Accounts.", TEXT_UNIT_HEADING, "");
    expect(text, "The reserve stands at 3,150.", TEXT_UNIT_SENTENCE, "1. Accounts.");
    expect(text, "2. Bonfires are allowed from October on. Not on Sundays.", TEXT_UNIT_ITEM, "");
    for (size_t i = 0; i < units.n; i++) assert_int_not_equal(units.v[i].kind, TEXT_UNIT_STEPS);
}

static void a_numbered_line_between_blank_ones_is_a_heading(void **state) {
    (void)state;
    const char *text =
        "1. Term\n\nThe tenancy runs for a year.\n\n2. Use\n\n- One cat is allowed.\n"
        "- Dogs are not.\n";
    read_units(text);
    expect(text, "1. Term", TEXT_UNIT_HEADING, "");
    expect(text, "The tenancy runs for a year.", TEXT_UNIT_SENTENCE, "1. Term");
    expect(text, "- Dogs are not.", TEXT_UNIT_ITEM, "2. Use");
    const char *list = "Buy these:\n\n1. Milk\n\n2. Eggs\n\n3. Flour\n\nThen go home.\n";
    read_units(list);
    expect(list, "2. Eggs", TEXT_UNIT_ITEM, "Buy these:");
    expect(list, "3. Flour", TEXT_UNIT_ITEM, "Buy these:");
}

static void a_line_in_capitals_heads_the_text_below(void **state) {
    (void)state;
    const char *text =
        "BEFORE FIRST USE\nFill the salt container with 1.5 kg of salt. Then run it empty "
        "once.\n";
    read_units(text);
    expect(text, "Then run it empty once.", TEXT_UNIT_SENTENCE, "BEFORE FIRST USE");
}

static void a_few_words_head_the_text_right_below(void **state) {
    (void)state;
    const char *text = "Child lock\nHold the key for three seconds. The display shows LOC.\n\n"
                       "Setting the clock\n1. Press the clock key.\n2. Turn the dial.\n\n"
                       "Cleaning\nNever use steel wool. The door comes off. Then lift it.\n\n"
                       "Weir\nA wall across a river. It holds the water back.\n\n"
                       "Milk\nEggs\nFlour and sugar\n\n"
                       "Mill Lane 5\n4021 Lower Ferry\n";
    read_units(text);
    expect(text, "The display shows LOC.", TEXT_UNIT_SENTENCE, "Child lock");
    expect(text, "2. Turn the dial.", TEXT_UNIT_ITEM, "Setting the clock");
    expect(text, "The door comes off.", TEXT_UNIT_SENTENCE, "Cleaning");
    /* a term and what it means stay together; a list or an address has no heading */
    expect(text, "Weir\nA wall across a river. It holds the water back.", TEXT_UNIT_DEFINITION,
           "Setting the clock");
    for (size_t i = 0; i < units.n; i++)
        if (units.v[i].kind == TEXT_UNIT_HEADING &&
            (memcmp(text + units.v[i].start, "Mil", 3) == 0))
            fail_msg("a heading: %.12s", text + units.v[i].start);
}

static void a_setting_stays_with_its_comment(void **state) {
    (void)state;
    const char *text = "# Settings of the gateway.\n\n[network]\n# seconds before it is closed\n"
                       "idle_timeout = 45\nport = 9631\n\n[log]\nlevel=info\n";
    read_units(text);
    expect(text, "# Settings of the gateway.", TEXT_UNIT_SENTENCE, "");
    expect(text, "# seconds before it is closed\nidle_timeout = 45", TEXT_UNIT_ITEM, "[network]");
    expect(text, "port = 9631", TEXT_UNIT_ITEM, "[network]");
    expect(text, "level=info", TEXT_UNIT_ITEM, "[log]");
    const char *prose =
        "# Settings\n\nIn the file stands port = 9631, which is what it listens on. "
        "Nothing else is needed.\nport = 9631\nlevel = info\nThis is all.\nAnd more.\n"
        "mode = fast\n";
    read_units(prose);
    expect(prose, "# Settings", TEXT_UNIT_HEADING, "");
}

static void amounts_line_for_line_are_items(void **state) {
    (void)state;
    const char *text = "1 kg floury potatoes\n150 g flour\n2 egg yolks\na little nutmeg\n\n"
                       "In 1958 it was begun.\n3 men died.\n\nBoil them.\n";
    read_units(text);
    expect(text, "150 g flour", TEXT_UNIT_ITEM, "");
    expect(text, "a little nutmeg", TEXT_UNIT_ITEM, "");
    expect(text, "3 men died.", TEXT_UNIT_SENTENCE, "");
}

static void a_short_list_below_its_heading_is_a_unit_too(void **state) {
    (void)state;
    const char *text = "## In the box\n\n- kettle\n- pouch\n\nAll of it.\n\n- one\n- two\n";
    read_units(text);
    expect(text, "- kettle\n- pouch", TEXT_UNIT_STEPS, "## In the box");
    for (size_t i = 0; i < units.n; i++)
        if (units.v[i].kind == TEXT_UNIT_STEPS &&
            is(text, units.v[i].start, units.v[i].end, "- one\n- two"))
            fail_msg("a list that nothing names");
}

static void what_a_mail_begins_with_is_one_unit(void **state) {
    (void)state;
    const char *text = "From: Ruth <ruth@mill.example>\nTo: Workshop\nDate: Mon, 06 Jul 2026\n\n"
                       "The tops come on Thursday.\n";
    read_units(text);
    expect(text, "From: Ruth <ruth@mill.example>\nTo: Workshop\nDate: Mon, 06 Jul 2026",
           TEXT_UNIT_ITEM, "");
    expect(text, "The tops come on Thursday.", TEXT_UNIT_SENTENCE, "");
}

/* A number to call, or a sum, heads nothing, though it stands alone above a text. */
static void a_value_behind_its_name_is_no_heading(void **state) {
    (void)state;
    const char *text =
        "Pia Hartley\n\nTelephone (mobile): +44 7700 900131\n\nShe is Wren's mother.\n\n"
        "Total: \u00A3163.00, no VAT\n\nThe hammers are worn.\n\n"
        "Minutes: 3 March\n\nNobody came.\n";
    read_units(text);
    expect(text, "She is Wren's mother.", TEXT_UNIT_SENTENCE, "Pia Hartley");
    expect(text, "The hammers are worn.", TEXT_UNIT_SENTENCE, "Pia Hartley");
    expect(text, "Nobody came.", TEXT_UNIT_SENTENCE, "Minutes: 3 March");
    /* of several each is a point of a list */
    const char *prices =
        "Prices\n\nSmall piece: \u00A380\n\nHalf day: \u00A3280\n\nTouch-up: free\n\n"
        "Ear lobe: \u00A335\n\nA deposit of \u00A350 is taken every time.\n";
    read_units(prices);
    expect(prices, "Half day: \u00A3280", TEXT_UNIT_ITEM, "Prices");
    expect(prices, "Touch-up: free", TEXT_UNIT_ITEM, "Prices");
    expect(prices, "Ear lobe: \u00A335", TEXT_UNIT_ITEM, "Prices");
}

static void lines_with_leaders_are_items(void **state) {
    (void)state;
    const char *text = "COFFEE\nEspresso ............... 2.40\nFlat white ............. 3.80\n\n"
                       "He waited .... and then he left.\n";
    read_units(text);
    expect(text, "Flat white ............. 3.80", TEXT_UNIT_ITEM, "COFFEE");
    expect(text, "He waited .... and then he left.", TEXT_UNIT_SENTENCE, "COFFEE");
    /* a long name leaves room for two dots */
    const char *fees =
        "FEES\nRegistration ......... 95 EUR\nMotorway, 45 minutes .. 72 EUR\nTheory "
        "............... 60 EUR\n";
    read_units(fees);
    expect(fees, "Motorway, 45 minutes .. 72 EUR", TEXT_UNIT_ITEM, "FEES");
    const char *dates = "6. Calendario\nConcierto ...... 25 de abril, 19.30 h, Teatro\n"
                        "Certamen ....... 13 de junio, en Villaseca,\n"
                        "                 junto al puente\n"
                        "Fiestas . . . . del 22 al 25 de agosto\nPuente Nuevo es el fin.\n\n"
                        "Abono mensual .......... 25,00 \u20AC\nPuente Nuevo es el fin.\n";
    read_units(dates);
    expect(dates, "Concierto ...... 25 de abril, 19.30 h, Teatro", TEXT_UNIT_ITEM, "6. Calendario");
    expect(dates, "Certamen ....... 13 de junio, en Villaseca,\n                 junto al puente",
           TEXT_UNIT_ITEM, "6. Calendario");
    expect(dates, "Fiestas . . . . del 22 al 25 de agosto", TEXT_UNIT_ITEM, "6. Calendario");
    expect(dates, "Abono mensual .......... 25,00 \u20AC", TEXT_UNIT_ITEM, "6. Calendario");
}

static void faults_with_a_dash_are_items(void **state) {
    (void)state;
    const char *text = "Faults\nE1 - the sensor is broken; call service\n"
                       "E4 \xE2\x80\x93 the door is not locked; close it\n"
                       "Nothing works - check the fuse\n";
    read_units(text);
    expect(text, "E4 \xE2\x80\x93 the door is not locked; close it", TEXT_UNIT_ITEM, "Faults");
    expect(text, "Nothing works - check the fuse", TEXT_UNIT_ITEM, "Faults");
}

/* Arrays of lines grow by doubling: with 64 lines the last one stands at the end of its array. */
/* What alone is said of an event heads nothing: neither what the event is about nor the name of the next one. */
static void a_field_alone_below_its_heading_is_an_item(void **state) {
    (void)state;
    const char *text =
        "Winter holidays\n\nWhen: 2026-12-21 to 2027-01-03\n\nSchool closed. Care is booked by "
        "30 November.\n\nTraining day\n\nWhen: 2026-11-13\n\nCarnival\n\nWhen: 2027-02-08\n\n"
        "Open day\n\nWhen: 2027-01-23 09:00 to 13:00\nWhere: Entrance hall\n";
    read_units(text);
    expect(text, "When: 2026-12-21 to 2027-01-03", TEXT_UNIT_ITEM, "Winter holidays");
    expect(text, "School closed.", TEXT_UNIT_SENTENCE, "Winter holidays");
    expect(text, "Training day", TEXT_UNIT_HEADING, "");
    expect(text, "When: 2026-11-13", TEXT_UNIT_ITEM, "Training day");
    expect(text, "When: 2027-02-08", TEXT_UNIT_ITEM, "Carnival");
    expect(text, "When: 2027-01-23 09:00 to 13:00", TEXT_UNIT_ITEM, "Open day");
    const char *book = "The mill\n\nChapter 2: 1990 to 2000\n\nThe wheel was mended.\n\n"
                       "Background: the weir\n\nIt was built of oak.\n";
    read_units(book);
    expect(book, "The wheel was mended.", TEXT_UNIT_SENTENCE, "Chapter 2: 1990 to 2000");
    expect(book, "It was built of oak.", TEXT_UNIT_SENTENCE, "Background: the weir");
}

/* As forms and contracts have them, also right below a table; choices and steps are items or lines as before. */
static void what_is_underlined_is_a_heading(void **state) {
    (void)state;
    static const char text[] =
        "Guide\n=====\n\nPASSWORDS\n---------\nPasswords have 14 characters. They stay.\n\n"
        "2. Printing\n~~~~~~~~~~~\nPrint on both sides.\n";
    read_units(text);
    expect(text, "Guide", TEXT_UNIT_HEADING, "");
    expect(text, "PASSWORDS", TEXT_UNIT_HEADING, "");
    expect(text, "Passwords have 14 characters.", TEXT_UNIT_SENTENCE, "PASSWORDS");
    expect(text, "Print on both sides.", TEXT_UNIT_SENTENCE, "2. Printing");
    /* names of columns, and a rule between two texts */
    static const char table[] =
        "Day    Opens   Closes\n---------------------\nMon    9       18\nTue    10      19\n";
    read_units(table);
    expect(table, "Mon    9       18", TEXT_UNIT_ROW, "Day    Opens   Closes");
    static const char rule[] = "It ends here.\n\n-----\n\nIt goes on.\n";
    read_units(rule);
    expect(rule, "It goes on.", TEXT_UNIT_SENTENCE, "");
}

static void a_letter_and_a_few_words_head_a_section(void **state) {
    (void)state;
    const char *form = "Bookings: | Alan Petrie\nBank: | Hall Trust, 00-11-22\nE. For office use\n"
                       "Received on: | ____ [ ]\n\nIV. Payment\nThe whole is due on 1 June.\n\n"
                       "B) Personal data\nYou write your name here.\n";
    read_units(form);
    expect(form, "E. For office use", TEXT_UNIT_HEADING, "");
    expect(form, "The whole is due on 1 June.", TEXT_UNIT_SENTENCE, "IV. Payment");
    expect(form, "You write your name here.", TEXT_UNIT_SENTENCE, "B) Personal data");
    const char *steps =
        "To open it:\n\na) Turn the knob.\nb) Pull\n\nWhich one?\n\nA. The red one\n"
        "B. The blue one\n\nIt was built by\nE. Gorse\nin 1990.\n";
    read_units(steps);
    expect(steps, "a) Turn the knob.", TEXT_UNIT_ITEM, "To open it:");
    for (size_t i = 0; i < units.n; i++)
        if (units.v[i].kind == TEXT_UNIT_HEADING && strchr("ABE", steps[units.v[i].start]))
            fail_msg("'%.*s'", (int)(units.v[i].end - units.v[i].start), steps + units.v[i].start);
}

static void a_text_may_end_with_a_colon(void **state) {
    (void)state;
    for (size_t n = 60; n < 70; n++) {
        fo_buf b = {0};
        fo_err err = {0};
        for (size_t i = 2; i < n; i++) fo_buf_str(&b, "The ferry leaves at noon.\n");
        fo_buf_str(&b, "\nIt calls at:");
        assert_false(b.failed);
        char *text = malloc(b.len); /* to the byte */
        assert_non_null(text);
        memcpy(text, b.data, b.len);
        assert_ok(text_units_read(&units, text, b.len, 0, &err), &err);
        const text_unit *last = &units.v[units.n - 1];
        assert_true(is(text, last->start, last->end, "It calls at:"));
        assert_int_equal(last->kind, TEXT_UNIT_SENTENCE);
        fo_buf_free(&b);
        free(text);
        text_units_deinit(&units);
    }
}

static void a_name_heads_the_paragraph_it_begins(void **state) {
    (void)state;
    const char *text =
        "# The plays\n\nWinter Guests by Lotte Brandt. Directed by Hugh Sorley. 1 hour "
        "50 minutes.\n\nNine Buttons, for children. Directed by Beate Falke. 60 "
        "minutes.\n\n## Tickets\n\nBox Office in the foyer. Open on Mondays. Closed in "
        "May.\n\nWe take cards. Ushers sell them too. Ask them.\n";
    read_units(text);
    expect(text, "Winter Guests by Lotte Brandt.", TEXT_UNIT_SENTENCE, "# The plays");
    expect(text, "1 hour 50 minutes.", TEXT_UNIT_SENTENCE, "Winter Guests by Lotte Brandt.");
    expect(text, "60 minutes.", TEXT_UNIT_SENTENCE, "Nine Buttons, for children.");
    for (size_t i = 0; i < units.n; i++) {
        const text_unit *u = &units.v[i];
        if (is(text, u->start, u->end, "60 minutes."))
            assert_true(is(text, u->outer_start, u->outer_end, "# The plays"));
    }
    /* one alone may be any sentence */
    expect(text, "Open on Mondays.", TEXT_UNIT_SENTENCE, "## Tickets");
    expect(text, "Ask them.", TEXT_UNIT_SENTENCE, "## Tickets");
    const char *german = "# Haus\n\nDie Küche schließt um neun. Sie ist klein. Bitte spülen.\n\n"
                         "Der Garten, am Fluss, öffnet um acht. Er ist groß. Bitte gießen.\n";
    read_units(german);
    expect(german, "Bitte spülen.", TEXT_UNIT_SENTENCE, "# Haus");
}

/* What follows an option that has what is said of it on its line is none of it. */
static void an_option_on_one_line_takes_nothing_of_the_next(void **state) {
    (void)state;
    const char *text = "-W, --words <count>: Sets the number of words. [Default: 7]\n\n"
                       "-w, --word-list <path>: Sets the path of the list.\n\n"
                       "-R, --recursive: Lists all of them\n\n-0\n\nEnds them.";
    read_units(text);
    expect(text, "-W, --words <count>: Sets the number of words. [Default: 7]",
           TEXT_UNIT_DEFINITION, "");
    expect(text, "-w, --word-list <path>: Sets the path of the list.", TEXT_UNIT_SENTENCE, "");
    expect(text, "-R, --recursive: Lists all of them", TEXT_UNIT_DEFINITION, "");
    expect(text, "-0\n\nEnds them.", TEXT_UNIT_DEFINITION, "");
    text = "-W, --words <count>: Sets the number of words. [Default: 7]\n"
           "-w, --word-list <path>: Sets the path of the list.";
    read_units(text);
    expect(text, "-W, --words <count>: Sets the number of words. [Default: 7]",
           TEXT_UNIT_DEFINITION, "");
}

static size_t label(const char *s, size_t most_words) {
    return text_label(s, strlen(s), most_words);
}

static void a_label_is_a_few_words_before_a_colon(void **state) {
    (void)state;
    assert_int_equal(label("Needles and blades: yellow box", 5), strlen("Needles and blades"));
    assert_int_equal(label("Amber lamp, flashing: Misfire", 5), strlen("Amber lamp, flashing"));
    assert_int_equal(label("From 11:40 on: lunch", 5), strlen("From 11:40 on"));
    assert_int_equal(label("What is brought for all of us: cake", 5), 0);
    assert_int_equal(label("It rains. Tomorrow: sun", 5), 0);
    assert_int_equal(label("Departure 11:40", 5), 0);
    assert_int_equal(label("Bring:", 5), 0); /* it leads in what stands below */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_label_is_a_few_words_before_a_colon),
        cmocka_unit_test(a_name_heads_the_paragraph_it_begins),
        cmocka_unit_test(an_option_on_one_line_takes_nothing_of_the_next),
        cmocka_unit_test(an_option_stays_with_its_description),
        cmocka_unit_test(an_example_hangs_on_what_leads_in),
        cmocka_unit_test(one_word_is_no_answer_by_itself),
        cmocka_unit_test(the_rest_of_a_line_is_no_line),
        cmocka_unit_test(wrapped_lines_are_no_items_and_no_terms),
        cmocka_unit_test(numbered_sections_are_no_list),
        cmocka_unit_test(options_that_share_a_description_are_one),
        cmocka_unit_test(an_example_stays_with_what_it_does),
        cmocka_unit_test(later_sentences_of_a_long_description_know_their_option),
        cmocka_unit_test(a_row_hangs_on_its_header),
        cmocka_unit_test(options_in_a_table_are_rows),
        cmocka_unit_test(a_procedure_is_whole_with_what_leads_in),
        cmocka_unit_test(a_question_asked_heads_its_answer),
        cmocka_unit_test(a_paragraph_may_ask_and_answer),
        cmocka_unit_test(columns_of_plain_text_are_a_table),
        cmocka_unit_test(a_question_quoted_heads_its_answer),
        cmocka_unit_test(many_short_lines_in_a_row_are_points),
        cmocka_unit_test(records_are_rows_of_a_table),
        cmocka_unit_test(wide_gaps_in_prose_are_no_columns),
        cmocka_unit_test(lines_that_begin_with_what_they_speak_of_are_items),
        cmocka_unit_test(an_item_that_is_a_paragraph_is_its_sentences),
        cmocka_unit_test(a_numbered_line_between_blank_ones_is_a_heading),
        cmocka_unit_test(a_line_in_capitals_heads_the_text_below),
        cmocka_unit_test(a_few_words_head_the_text_right_below),
        cmocka_unit_test(a_setting_stays_with_its_comment),
        cmocka_unit_test(amounts_line_for_line_are_items),
        cmocka_unit_test(a_short_list_below_its_heading_is_a_unit_too),
        cmocka_unit_test(what_a_mail_begins_with_is_one_unit),
        cmocka_unit_test(lines_with_leaders_are_items),
        cmocka_unit_test(a_value_behind_its_name_is_no_heading),
        cmocka_unit_test(faults_with_a_dash_are_items),
        cmocka_unit_test(a_field_alone_below_its_heading_is_an_item),
        cmocka_unit_test(what_is_underlined_is_a_heading),
        cmocka_unit_test(a_letter_and_a_few_words_head_a_section),
        cmocka_unit_test(a_text_may_end_with_a_colon),
        cmocka_unit_test(any_bytes_give_units_within_the_text),
    };
    return cmocka_run_group_tests(tests, NULL, forget);
}
