/* short_clauses_test.c - of several values of one kind the short answer is the one that is asked for: by the column of a row
 * (short_cells.c, table_columns.c), by the clause of a sentence (short_clauses.c), and by what was asked now before what was
 * asked before (asked_words.c). */
#include "tests/test.h"

#include <string.h>

#include "retrieval/written/span_reading.h"
#include "tests/retrieval/text/lexicon_fixture.h"

static reader *reads;

static int open_all(void **state) {
    fo_err err = {0};
    assert_ok(reader_open(&reads, NULL, &(reader_options){.cache_bytes = 1 << 20}, &err), &err);
    return open_lexicon(state);
}

static int close_all(void **state) {
    reader_close(reads);
    return close_lexicon(state);
}

typedef struct asked {
    const char *question, *own, *want;
} asked;

/* White space made single, as an answer has it. */
static void say(char *out, const char *s, size_t n) {
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        const bool blank = s[i] == ' ' || s[i] == '\n';
        if (!blank)
            out[at++] = s[i];
        else if (at && out[at - 1] != ' ')
            out[at++] = ' ';
    }
    out[at] = 0;
}

/* The unit that begins with `unit` and ends with the line, or with the text where whole. */
static void points_at(const char *text, const char *unit, bool whole, const asked *a, size_t n) {
    size_t from, to;
    fo_err err = {0};
    char answer[1000];
    const passage p = {.text = text, .len = strlen(text), .title = ""};
    const size_t start = (size_t)(strstr(text, unit) - text),
                 end = whole ? p.len : start + strcspn(text + start, "\n");
    say(answer, text + start, end - start);
    for (size_t i = 0; i < n; i++) {
        const span_reading_input in = {.reader = reads,
                                       .lx = &lx,
                                       .question = a[i].question,
                                       .own = a[i].own,
                                       .passage = &p,
                                       .start = start,
                                       .end = end,
                                       .answer = answer,
                                       .n_answer = strlen(answer)};
        assert_ok(span_reading_short(&from, &to, &in, &err), &err);
        if (to - from != strlen(a[i].want) || memcmp(answer + from, a[i].want, to - from) != 0)
            fail_msg("%s '%.*s', not '%s'", a[i].question, (int)(to - from), answer + from,
                     a[i].want);
    }
}

#define ROW(text, unit, ...)                                                                       \
    points_at(text, unit, false, (const asked[]){__VA_ARGS__},                                     \
              sizeof(const asked[]){__VA_ARGS__} / sizeof(asked))
#define SAID(text, ...)                                                                            \
    points_at(text, text, true, (const asked[]){__VA_ARGS__},                                      \
              sizeof(const asked[]){__VA_ARGS__} / sizeof(asked))

static void a_cell_is_chosen_by_its_column(void **state) {
    (void)state;
    static const char bikes[] =
        "Hire\n\n"
        "Bicycle: City bike; Day: £16; Weekend: £28; Week: £65; Deposit: £50\n"
        "Bicycle: E-bike; Day: £36; Weekend: £64; Week: £150; Deposit: £200\n";
    ROW(bikes, "Bicycle: E-bike", {"What does an e-bike cost for a week?", NULL, "£150"},
        {"What does an e-bike cost for the weekend?", NULL, "£64"},
        {"What does an e-bike cost a day?", NULL, "£36"},
        {"How much is the deposit for an e-bike?", NULL, "£200"},
        {"What does an e-bike cost for the weekend? e bike cost week", "and for the weekend?",
         "£64"},
        {"What does an e-bike cost?", NULL, ""});
    static const char tickets[] =
        "Tickets\n\nTicket: Adult; Museum: €9.00; Museum and furnace show: €14.00\n"
        "Ticket: Student (with card); Museum: €6.00; Museum and furnace show: €10.50\n";
    ROW(tickets, "Ticket: Student",
        {"how much is entry for a student with the furnace show?", NULL, "€10.50"},
        {"How much is entry to the museum for a student?", NULL, "€6.00"});
    static const char hours[] =
        "Day: Saturday; Summer (April–October): 10:00–18:00; Winter (November–March): 10:00–17:00\n"
        "Day: Sunday; Summer (April–October): 11:00–17:00; Winter (November–March): 12:00–16:00\n";
    ROW(hours, "Day: Sunday",
        {"When is the glass museum open on a Sunday in winter?", NULL, "12:00–16:00"},
        {"When is the glass museum open on a Sunday in the summer?", NULL, "11:00–17:00"},
        {"When is the glass museum open on a Sunday?", NULL, ""});
    static const char rooms[] =
        "Room: Main Hall; Parishioners, per hour: £18; Others, per hour: £26; Whole day "
        "(9:00–23:00), "
        "all hirers: £230\n"
        "Room: Garden Room; Parishioners, per hour: £11; Others, per hour: £15; Whole day "
        "(9:00–23:00), all hirers: £130\n";
    ROW(rooms, "Room: Garden",
        {"What does the garden room cost per hour if we're not from the parish?", NULL, "£15"},
        {"What does the garden room cost per hour for parishioners?", NULL, "£11"},
        {"What does the garden room cost for the whole day?", NULL, "£130"});
    static const char classes[] =
        "Class: Sourdough; Teacher: Agnes Thorpe; Day and time: Sunday 9.30; Length: 6 hours; "
        "Price: "
        "£115; Places: 8\nClass: Fresh pasta; Teacher: Livia Monti; Day and time: Wednesday 18.30; "
        "Length: 3 hours; Price: £72; Places: 12\n";
    ROW(classes, "Class: Sourdough",
        {"what does it cost? teaches sourdough class", "what does it cost?", "£115"},
        {"when is it? teaches sourdough class", "when is it?", "Sunday 9.30"},
        {"Who teaches the sourdough class?", NULL, "Agnes Thorpe"});
    static const char bonus[] = "Years without claim: 4; Discount: 55%; After one claim: 32%\n"
                                "Years without claim: 8; Discount: 65%; After one claim: 45%\n";
    ROW(bonus, "Years without claim: 4",
        {"What is the discount after one claim with 4 years without claim?", NULL, "32%"},
        {"What is the discount with 4 years without claim?", NULL, "55%"});
    static const char safe[] =
        "Item: Cash; Limit per claim: EUR 1,500; Condition: EUR 20,000 if kept in a locked safe\n"
        "Item: Bicycles; Limit per claim: EUR 2,000; Condition: only with clause 6\n";
    ROW(safe, "Item: Cash",
        {"How much is paid for stolen cash if it was not in a safe?", NULL, "EUR 1,500"},
        {"How much is paid for stolen cash if it wasn't in a safe?", NULL, "EUR 1,500"},
        {"How much is paid for stolen cash without a safe?", NULL, "EUR 1,500"},
        {"How much is paid for stolen cash kept in a locked safe?", NULL,
         "EUR 20,000 if kept in a locked safe"});
    static const char beds[] = "Bed: Dormitory, 4 beds; Members: £23; Non-members: £26\n"
                               "Bed: Dormitory, 6 beds; Members: £21; Non-members: £24\n";
    ROW(beds, "Bed: Dormitory, 6", {"How much is a bed in the dormitory for members?", NULL, "£21"},
        {"How much is a bed in the dormitory? I'm not a member", NULL, "£24"},
        {"How much is a bed in the dormitory?", NULL, ""});
}

static void columns_by_layout_are_known_by_their_head(void **state) {
    (void)state;
    static const char boats[] =
        "PRICES\n\n"
        "                       1 hour     half day    full day    deposit\n"
        "Rowing boat            12.00      30.00       48.00       20.00\n"
        "Small motor boat       32.00      85.00      140.00      100.00\n"
        "Pedal boat             16.00       --          --         10.00\n\n"
        "All prices are in pounds.\n";
    ROW(boats, "Small motor", {"How much is the small motor boat for a day?", NULL, "140.00"},
        {"How much is the small motor boat all day?", NULL, "140.00"},
        {"How much is the small motor boat for half a day?", NULL, "85.00"},
        {"How much is the small motor boat for one hour?", NULL, "32.00"},
        {"How much is the small motor boat for two hours?", NULL, ""},
        {"How much is the deposit for the small motor boat?", NULL, "100.00"});
    static const char pitches[] = "Prices per night\n----------------\n"
                                  "                                   low season    high season\n"
                                  "Tent pitch, up to 2 people              18            24\n"
                                  "  electricity hook-up                    5             5\n";
    ROW(pitches, "Tent pitch", {"What is the price of a tent pitch in high season?", NULL, "24"},
        {"What is the price of a tent pitch in the low season?", NULL, "18"});
    static const char events[] = "Events 2025\n\n"
                                 "  Seed swap                Sunday 2 March, 11 am, in the hut\n"
                                 "  Pumpkin weighing         Sunday 5 October, 3 pm\n";
    ROW(events, "Pumpkin", {"When is the pumpkin weighing?", NULL, "Sunday 5 October, 3 pm"});
}

static void a_value_is_chosen_by_its_clause(void **state) {
    (void)state;
    SAID("In June, July and August we open at 9 and the last boat goes out at 6 pm.",
         {"when is the last boat in august", NULL, "6 pm"},
         {"When do you open in August?", NULL, "9"});
    SAID(
        "In April, May, September and October we open at 10 and the last boat goes out at 4.30 pm.",
        {"when is the last boat in september?", NULL, "4.30 pm"},
        {"when is the last boat in september?", "and in september?", "4.30 pm"});
    SAID("Public tours start in the foyer on Saturdays at 11:00 (in English) and 13:00 (in Welsh).",
         {"and english? tours welsh", "and english?", "11:00"},
         {"When is the tour in Welsh?", NULL, "13:00"},
         {"When is the tour in English?", NULL, "11:00"});
    SAID("Puncture: £12 front wheel, £15 rear wheel, inner tube included.",
         {"how much is the front on the back wheel?", "and the front?", "£12"},
         {"How much is a puncture of the rear wheel?", NULL, "£15"},
         {"How much is a puncture?", NULL, ""});
    SAID("A full plot is £64 a year, a half plot £36 and a raised bed £15.",
         {"What's the yearly rent for a half plot?", NULL, "£36"},
         {"and a full one? yearly rent half plot", "and a full one?", "£64 a year"},
         {"How much is a raised bed?", NULL, "£15"});
    SAID("An appointment that is missed or called off later costs £30 with a dentist and £20 with "
         "the "
         "hygienist.",
         {"how much do you charge if I miss my appointment with the hygienist?", NULL, "£20"});
    SAID("Open Tuesday to Friday 9–18, Saturday 9–14.",
         {"Until what time is the bike workshop open on Saturday?", NULL, "9–14"},
         {"Until what time is the bike workshop open on Wednesday?", NULL, "9–18"});
    SAID("Private tours for groups of up to 20 cost €75, on weekends €90, and are arranged with Dr "
         "Bly.",
         {"How much is a private tour on a weekend?", NULL, "€90"});
    SAID("Music must stop at 22:30, on Fridays and Saturdays at 23:00.",
         {"until when can we play music?", NULL, "22:30"},
         {"until when can we play music on a friday?", NULL, "23:00"});
    SAID("School visits are arranged with Tom Adeyemi (schools@harrowglass.example); pupils pay "
         "€2.50 "
         "and teachers nothing.",
         {"What does it cost for the kids of a school class at the museum?", NULL, "€2.50"});
    SAID("- Puncture: £12 front wheel, £15 rear wheel, inner tube included. Hub gears or e-bike: "
         "£22.",
         {"how much is a puncture repair on the back wheel", NULL, ""},
         {"how much is the front on the back wheel?", "and the front?", "£12"});
    SAID("The city's official elevation, as measured at the airport, is 19 ft above sea level. The "
         "highest point in Boston is Bellevue Hill at 330 feet, and the lowest point is at sea "
         "level.",
         {"How many feet above sea level is the City of Boston?", NULL, "19 ft"});
    SAID("The kitchen costs £15 for members and £25 for others.",
         {"How much is the kitchen for non-members?", NULL, "£25"},
         {"How much is the kitchen? I'm not a member.", NULL, "£25"},
         {"How much is the kitchen for others?", NULL, "£25"},
         {"How much is the kitchen for members?", NULL, "£15"});
    SAID("Members pay £15 and non-members £25.", {"What do non-members pay?", NULL, "£25"},
         {"What do members pay?", NULL, "£15"});
    SAID("The kitchen costs £15 for members and £25 on Sundays.",
         {"How much is the kitchen for non-members?", NULL, ""},
         {"How much is the kitchen on Sundays?", NULL, "£25"});
    SAID("Tickets for the concert are £22 and £18.",
         {"How much are the tickets for the concert?", NULL, "£22 and £18"});
}

static void the_clause_that_speaks_of_it_is_read(void **state) {
    (void)state;
    SAID("The mower must be back the same day; strimmers may be kept until Sunday evening.",
         {"until when can I keep it? lends mower", "until when can I keep it?", "same day"},
         {"and the strimmer? lends mower until keep", "and the strimmer?",
          "strimmers may be kept until Sunday evening"});
    SAID("Prams may be taken everywhere but up the lens tower. There is a lift to the first and "
         "second floors; the tower has 84 steps and no lift.",
         {"can i get up the lens tower with a pram", NULL, ""});
    SAID("After a white filling, as soon as the numbness is gone. After a silver one, wait for two "
         "hours and chew on the other side for a day.",
         {"what about a silver one? eat tooth after white filling", "what about a silver one?",
          "wait for two hours"});
    SAID("The refrigerator is kept at 5 degrees Celsius; the freezer at minus 18.",
         {"How cold is the freezer kept?", NULL, "minus 18"});
}

static void words_of_the_question_are_no_answer(void **state) {
    (void)state;
    SAID("The small motor boat may be steered from 18 years on; no licence is needed.",
         {"do I need a licence for the small motor boat?", NULL, "no licence"});
    SAID("In high wind (force 5 and more) the small boats stay in; there is a red flag on the "
         "boathouse then.",
         {"why is there a red flag?", NULL, ""});
    SAID("In February the furnace is relined and there are no shows.",
         {"is it on in february?", NULL, ""});
    SAID("-s, --symbolic: make symbolic links instead of hard links",
         {"make a symbolic link", NULL, ""});
    /* nor are parts of a name */
    SAID(
        "forage delete notes/old.md --home home deletes a document, forage collections delete NAME "
        "--home home a collection; on the page both are under Documents.",
        {"How do I delete a document?", NULL, ""});
}

/* What is asked now stands behind all that the reader reads: its value may be told, and nothing else. */
static void what_stands_behind_the_window_is_not_read(void **state) {
    (void)state;
    static char text[6000] = "The red pump costs £5 an hour. ";
    while (strlen(text) < 4000) strcat(text, "It has been oiled by the men of the yard. ");
    strcat(text, "The blue crane costs £90 an hour. ");
    size_t from, to;
    fo_err err = {0};
    static const char *const questions[] = {
        "How much is the blue crane?", "Who oils the blue crane?", "How much is the red pump?"};
    const passage p = {.text = text, .len = strlen(text), .title = ""};
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        const span_reading_input in = {.reader = reads,
                                       .lx = &lx,
                                       .question = questions[i],
                                       .passage = &p,
                                       .end = p.len,
                                       .answer = text,
                                       .n_answer = p.len};
        assert_ok(span_reading_short(&from, &to, &in, &err), &err);
        assert_true(from <= to && to <= p.len && to - from <= 120);
    }
}

static void any_bytes_are_taken(void **state) {
    (void)state;
    enum { TRIALS = 60, BYTES = 400 };
    static const char some[] = "£€ 0123456789:.;,()-| \nabcdAt until to and per a";
    char text[BYTES + 1], question[64];
    uint64_t seed = test_seed();
    for (int trial = 0; trial < TRIALS; trial++) {
        size_t from, to, n = 0;
        fo_err err = {0};
        strcpy(text, "When is it £5, ");
        for (n = strlen(text); n < BYTES; n++)
            text[n] = some[5 + test_random(&seed) % (sizeof some - 6)];
        text[n] = 0;
        memcpy(question, text, 60);
        question[60] = 0;
        const passage p = {.text = text, .len = n, .title = ""};
        const span_reading_input in = {.reader = reads,
                                       .lx = &lx,
                                       .question = question,
                                       .own = question + 20,
                                       .passage = &p,
                                       .start = 15,
                                       .end = 200,
                                       .quote_start = 15,
                                       .quote_end = n,
                                       .answer = text,
                                       .n_answer = n};
        assert_ok(span_reading_short(&from, &to, &in, &err), &err);
        assert_true(from <= to && to <= n);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cell_is_chosen_by_its_column),
        cmocka_unit_test(columns_by_layout_are_known_by_their_head),
        cmocka_unit_test(a_value_is_chosen_by_its_clause),
        cmocka_unit_test(the_clause_that_speaks_of_it_is_read),
        cmocka_unit_test(words_of_the_question_are_no_answer),
        cmocka_unit_test(what_stands_behind_the_window_is_not_read),
        cmocka_unit_test(any_bytes_are_taken),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
