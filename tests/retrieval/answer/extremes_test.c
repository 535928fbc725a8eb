/* extremes_test.c - which row of a table is the most or the least, and where nothing tells. */
#include "retrieval/answer/extremes.h"

#include <string.h>

#include "retrieval/units/table_row.h"
#include "tests/retrieval/text/lexicon_fixture.h"
#include "tests/test.h"

static size_t documents = 1; /* beside the text another one may have been found */

/* The first cells of the rows that are marked, with a slash behind each. */
static void marked(const char *text, const char *asked, bool whole, char *out, size_t size) {
    fo_err err = {0};
    candidate_set set = {0};
    const passage p[2] = {
        {.text = text, .len = strlen(text), .title = "", .whole_tables = whole},
        {.text = "Keys hang in the hall.", .len = 22, .title = "Keys", .whole_tables = whole}};
    const extractive_input in = {
        .question = asked, .passages = p, .n_passages = documents, .lx = &lx};
    size_t n = 0;
    assert_ok(candidate_set_read(&set, &in, &err), &err);
    out[0] = 0;
    for (size_t i = 0; i < set.n; i++) {
        table_pair first;
        const candidate *c = &set.c[i];
        if (c->f[CAND_BY_TABLE] == 0) continue;
        assert_int_equal(c->unit.kind, TEXT_UNIT_ROW);
        assert_true(table_row_first(text + c->start, c->end - c->start, c->unit.record, &first));
        n += (size_t)snprintf(out + n, size - n, "%.*s/", (int)first.n_value, first.value);
    }
    candidate_set_deinit(&set);
}

static void expect(const char *text, const char *asked, const char *want) {
    char got[256];
    marked(text, asked, true, got, sizeof got);
    if (strcmp(got, want)) fail_msg("%s: %s", asked, got);
}

static const char boats[] = "The boats of the lake.\n\n"
                            "Boat: Eider; Length: 5.2 m; Weight: 180 kg; Seats: 4; Hire a day: 35 "
                            "EUR; Deposit: 200 EUR; Built: 1998\n"
                            "Boat: Grebe; Length: 410 cm; Weight: 90 kg; Seats: 2; Hire a day: 28 "
                            "EUR; Deposit: 300 EUR; Built: 2011\n"
                            "Boat: Heron; Length: 6.8 m; Weight: 1.1 t; Seats: 8; Hire a day: 120 "
                            "EUR; Deposit: 100 EUR; Built: 1971\n"
                            "Boat: Teal; Length: 3.9 m; Weight: 70 kg; Seats: 2; Hire a day: 28 "
                            "EUR; Deposit: 300 EUR; Built: -\n\n"
                            "Ask at the jetty.\n";

static const char dryers[] =
    "Six dryers compared.\n\n"
    "Model: Aera; Price (crowns): 289; Litres per day: 11.8; Noise (dB): 44; Tank (l): 4.5; "
    "Guarantee (years): 2; Weight: 12 kg\n"
    "Model: Hydra; Price (crowns): 449; Litres per day: 17.4; Noise (dB): 51; Tank (l): 6.0; "
    "Guarantee (years): 5; Weight: 21 kg\n"
    "Model: Pavia; Price (crowns): 59; Litres per day: 0.4; Noise (dB): 33; Tank (l): 0.7; "
    "Guarantee (years): 1; Weight: 2 kg\n\n"
    "Prices of May.\n";

static void what_the_superlative_is_said_of_tells_the_column(void **state) {
    (void)state;
    expect(dryers, "Which dryer has the longest guarantee?", "Hydra/");
    expect(dryers, "Which dryer has the longest warranty?", "Hydra/");
    expect(dryers, "Which dryer has the shortest guarantee?", "Pavia/");
    expect(dryers, "Which dryer has the biggest tank?", "Hydra/");
    expect(dryers, "Which dryer has the largest tank?", "Hydra/");
    expect(dryers, "Which dryer has the smallest tank?", "Pavia/");
    expect(dryers, "Which dryer is the quietest?", "Pavia/");
    expect(dryers, "Which is the loudest dryer?", "Hydra/");
    expect(dryers, "When is it quietest?", "");
    expect(dryers, "What is the quietest time?", "");
    expect("The time of trails.\n\nMowers.\n\nMower: M1; Noise: 92 dB\nMower: M2; Noise: 88 dB\n",
           "What is the quietest time?", "");
    expect("Boats.\n\nBoat: Ann; Sound system: 2 speakers\nBoat: Bo; Sound system: 4 speakers\n",
           "Which boat has the loudest sound system?", "");
    expect(dryers, "Which dryer is the cheapest?", "Pavia/");
    expect(dryers, "Which dryer has the longest cable?", "");
    expect(dryers, "Which dryer has the biggest filter?", "");
    expect("Hotel.\n\nGuest: Ann; Room: 101; Paid: yes\nGuest: Bo; Room: 205; Paid: no\n",
           "Which guest has the biggest room?", "");
}

static void the_row_that_compares_most_or_least_is_found(void **state) {
    (void)state;
    expect(boats, "Which boat is the longest?", "Heron/");
    expect(boats, "which boat is the shortest", "Teal/");
    expect(boats, "Which was the longest boat when they were first hired?", "Heron/");
    expect(boats, "Which is the heaviest boat?", "Heron/");
    expect(boats, "What's the oldest boat?", "Heron/");
    expect(boats, "Which boat is the newest?", "Grebe/");
    expect(boats, "Which boat has the most seats?", "Heron/");
    expect(boats, "Which boat has the highest deposit?", "Grebe/Teal/"); /* both */
}

static void where_nothing_tells_no_row_is_marked(void **state) {
    (void)state;
    expect(boats, "Which boat is the fastest?", "");
    expect(boats, "How long is the longest boat?", "");
    expect(boats, "What is the smallest boat for 3 people?", "");
    expect(boats, "Which boat has the most oars?", "");
    expect(boats, "Which boat is heaviest in Turku?", ""); /* a name that is not there */
    expect(boats, "Which boat has the most seats after the Heron?", "");
    expect(boats, "Which boats can I hire?", "");
    expect(boats, "What is the maximum weight?", ""); /* a limit, that nobody states */
    char got[256];                                    /* the table may go on elsewhere */
    marked(boats, "Which boat is the longest?", false, got, sizeof got);
    assert_string_equal(got, "");
}

static void among_documents_the_table_is_about_the_subject(void **state) {
    (void)state;
    expect(boats, "Which vessel is the heaviest?", "Heron/"); /* the one document that there is */
    documents = 2;
    expect(boats, "Which machine is the heaviest?", "");
    expect(boats, "Which boat is the heaviest?", "Heron/");
    expect(boats, "Which one is the heaviest?", "Heron/");
    documents = 1;
}

static void columns_have_to_agree(void **state) {
    (void)state;
    static const char rooms[] = "Room: Oak; Low season: 40 EUR; High season: 75 EUR\n"
                                "Room: Elm; Low season: 45 EUR; High season: 70 EUR\n"
                                "Room: Ash; Low season: 60 EUR; High season: 90 EUR\n";
    expect(rooms, "Which room is the cheapest?", ""); /* which season? */
    expect(rooms, "Which room is the cheapest in the low season?", "Oak/");
    expect(rooms, "Which room is the cheapest in the high season?", "Elm/");
    expect(rooms, "Which room is the most expensive?", "Ash/"); /* in both */
    static const char bare[] =
        "Prices are in crowns.\n\nRoom: Oak; Floor: 1; Summer: 2,250; Winter: 1,700\n"
        "Room: Elm; Floor: 2; Summer: 1,950; Winter: 1,800\n";
    expect(bare, "Which room is the cheapest in summer?", "Elm/");
    expect(bare, "Which room is the cheapest in winter?", "Oak/");
}

static void rows_that_lack_a_word_of_the_question_do_not_count(void **state) {
    (void)state;
    static const char rooms[] = "Room: Oak; Kind: single; Price: 60 EUR\n"
                                "Room: Elm; Kind: double; Price: 85 EUR\n"
                                "Room: Ash; Kind: double; Price: 95 EUR\n";
    expect(rooms, "Which is the cheapest double room?", "Elm/");
    expect(rooms, "Which is the cheapest room?", "Oak/");
}

static void a_cell_that_cannot_be_read_leaves_all_open(void **state) {
    (void)state;
    static const char inks[] =
        "Ink: red; Price: 4 EUR\nInk: blue; Price: 3 EUR\nInk: green; Price: home-made\n";
    static const char taxes[] =
        "Ink: red; Price: 4 EUR\nInk: blue; Price: 3 EUR\nInk: green; Price: -\n";
    expect(inks, "Which ink is the cheapest?", "");
    expect(taxes, "Which ink is the cheapest?", "blue/");
}

static void what_a_cell_says_beside_its_figure_counts(void **state) {
    (void)state;
    static const char trips[] =
        "Trip: Lake; Departure: 11:45 am; Duration: 1 h 50 min; Date: 03/12/2025\n"
        "Trip: Mill; Departure: 6:30 pm; Duration: 90 min; Date: 04/11/2025\n"
        "Trip: Weir; Departure: 9:15 am; Duration: 1 h; Date: 02/10/2025\n";
    expect(trips, "Which trip is the longest?", "Lake/");
    expect(trips, "Which trip has the latest departure?", "Mill/");
    expect(trips, "Which trip has the latest date?", ""); /* the day first, or the month? */
    static const char prices[] = "Boat: Eider; Price: 1.250 EUR\nBoat: Grebe; Price: 900 EUR\n"
                                 "Boat: Teal; Price: 1.1k EUR\n";
    expect(prices, "Which boat is the cheapest?", "Grebe/");
    expect(prices, "Which boat is the most expensive?", "Eider/");
    static const char hires[] =
        "Boat: Eider; Price: 12 EUR per hour\nBoat: Grebe; Price: 60 EUR per day\n";
    expect(hires, "Which boat is the cheapest?", "");
    static const char rounds[] = "Round: 1; Date: 03/12/2025\nRound: 2; Date: 25/11/2025\n";
    expect(rounds, "When is the last round?", "1/");
}

static void only_rows_that_have_what_is_asked_for_are_compared(void **state) {
    (void)state;
    static const char rooms[] = "| Room | Breakfast included | Balcony | Price per night |\n"
                                "|---|---|---|---|\n"
                                "| Attic | no | no | 40 EUR |\n"
                                "| Garden | yes | no | 65 EUR |\n"
                                "| Lake | yes | yes | 95 EUR |\n";
    expect(rooms, "Which is the cheapest room?", "Attic/");
    expect(rooms, "Which is the cheapest room with breakfast?", "Garden/");
    expect(rooms, "Which is the cheapest room with breakfast and a balcony?", "");
    expect(rooms, "What is the most expensive room without a balcony?", "Garden/");
    expect(rooms, "Is breakfast included in the cheapest room?", "Attic/");
    static const char flats[] =
        "Flat: A; Size: 80 m2; Garden: yes\nFlat: B; Size: 120 m2; Garden: no\n"
        "Flat: C; Size: 40 m2; Garden: yes\nFlat: D; Size: 60 m2; Garden: no\n";
    expect(flats, "Which is the largest flat with a garden?", "A/");
    expect(flats, "Which is the smallest flat without a garden?", "D/");
}

static void a_yes_or_a_no_picks_rows(void **state) {
    (void)state;
    static const char rooms[] = "Room: Oak; Beds: 2; Balcony: yes; Lift: no\n"
                                "Room: Elm; Beds: 1; Balcony: no; Lift: yes\n"
                                "Room: Ash; Beds: 3; Balcony: yes; Lift: yes\n";
    expect(rooms, "Which rooms have a balcony?", "Oak/Ash/");
    expect(rooms, "Which rooms have no balcony?", "Elm/");
    static const char canteens[] = "Canteen | Lunch | Evening\nMain | 11:15-14:30 | none\n"
                                   "North | 11:00-14:15 | 17:30-20:00\nLantern | 8:30-18:00 | none";
    expect(canteens, "Which canteen is open in the evening?", "North/");
    expect(canteens, "Which canteen is open for lunch?", "");
    expect(canteens, "What is the evening of the main canteen?", "");
    expect(canteens, "Which evening has the main canteen?", "");
    expect(rooms, "How many rooms have a lift?", "Elm/Ash/");
    expect(rooms, "Which rooms have a terrace?", "");
    expect(rooms, "Which rooms in Turku have a balcony?", "");
    expect(rooms, "Who has a balcony?", "");
}

static void every_yes_or_no_that_is_asked_for_counts(void **state) {
    (void)state;
    static const char huts[] = "Hut: Birk; Water: yes; Stove: no; Dogs: yes\n"
                               "Hut: Fell; Water: no; Stove: yes; Dogs: on request\n"
                               "Hut: Lake; Water: yes; Stove: yes; Dogs: yes\n"
                               "Hut: Moor; Water: no; Stove: no; Dogs: no\n";
    expect(huts, "Which huts have water and a stove?", "Lake/");
    expect(huts, "Which huts have water or a stove?", "Birk/Fell/Lake/");
    expect(huts, "Which huts have a stove but no water?", "Fell/");
    expect(huts, "Which huts have no water but a stove?", "Fell/");
    expect(huts, "Which huts have no water or stove?", "Moor/");
    expect(huts, "Which huts have no water and no stove?", "Moor/");
    expect(huts, "Which huts have no water and a stove?", ""); /* or neither? */
    expect(huts, "Which huts have a stove and take dogs?", "Lake/");
    expect(huts, "Which huts is water not available in?", "Fell/Moor/");
    expect(huts, "Which huts have water but not in winter?", "Birk/Lake/");
}

/* The first cells of the rows that are of another thing than what is asked for. */
static void expect_apart(const char *text, const char *asked, const char *want) {
    char got[256] = "";
    fo_err err = {0};
    candidate_set set = {0};
    const passage p = {.text = text, .len = strlen(text), .title = "", .whole_tables = true};
    const extractive_input in = {.question = asked, .passages = &p, .n_passages = 1, .lx = &lx};
    size_t n = 0;
    assert_ok(candidate_set_read(&set, &in, &err), &err);
    for (size_t i = 0; i < set.n; i++) {
        table_pair first;
        const candidate *c = &set.c[i];
        if (c->unit.kind != TEXT_UNIT_ROW || c->f[CAND_OTHER_THING] == 0) continue;
        assert_true(table_row_first(text + c->start, c->end - c->start, c->unit.record, &first));
        n += (size_t)snprintf(got + n, sizeof got - n, "%.*s/", (int)first.n_value, first.value);
    }
    candidate_set_deinit(&set);
    if (strcmp(got, want)) fail_msg("%s: %s", asked, got);
}

static void a_row_that_the_question_leaves_out_is_another_thing(void **state) {
    (void)state;
    static const char limits[] = "| Expense | Limit |\n|---|---|\n"
                                 "| Hotel, London | 175 EUR |\n"
                                 "| Hotel, elsewhere | 120 EUR a night |\n"
                                 "| Hotel, not in London or Oslo | 90 EUR |\n";
    expect_apart(limits, "What is the limit for a hotel outside London?", "Hotel, London/");
    expect_apart(limits, "What is the limit for a hotel that is not in London?", "Hotel, London/");
    expect_apart(limits, "Where is the tap outside London?", "Hotel, elsewhere/"); /* beside it */
    expect_apart(limits, "What is the limit outside of London?", "Hotel, London/");
    expect_apart(limits, "What can I eat outside with London people?", "Hotel, elsewhere/");
    static const char rooms[] = "Room: Oak; Price: 60 EUR; Balcony: yes\n"
                                "Room: Elm; Price: 85 EUR; Balcony: yes\n"
                                "Room: Ash; Price: 95 EUR; Balcony: yes\n"
                                "Room: Yew; Price: 70 EUR; Balcony: no\n";
    expect(rooms, "Which rooms other than Oak have a balcony?", "Elm/Ash/");
    expect(rooms, "Which is the cheapest room outside Oak?", "Yew/");
    expect_apart(rooms, "What does a room cost except Ash on Sundays?", "Ash/");
}

static void how_many_is_not_answered_by_the_yes_of_other_things(void **state) {
    (void)state;
    static const char plans[] = "| Plan | Starter | Office | Campus |\n|---|---|---|---|\n"
                                "| Agents | 3 | 25 | unlimited |\n"
                                "| Login with SAML | no | yes | yes |\n"
                                "| API | yes | yes | yes |\n"
                                "| Seats | 5 | 50 | 500 |\n";
    expect(plans, "How many agents does the Office plan have?", "");
    expect(plans, "How many agents are in Office?", "");
    expect(plans, "How many users does Office have?", "");
    expect(plans, "How many printers are in Office?", "");
    static const char huts[] = "Hut: Birk; Beds: 12; Stove: yes\nHut: Fell; Beds: 8; Stove: no\n"
                               "Hut: Lake; Beds: 30; Stove: yes\n";
    expect(huts, "How many huts have a stove?", "Birk/Lake/");
    expect(huts, "How many huts do not have a stove?", "Fell/");
    expect(huts, "How many have a stove?", "Birk/Lake/");
    expect(huts, "How many beds does the hut with a stove have?", "Birk/Lake/");
}

static void what_is_first_and_last_in_turn(void **state) {
    (void)state;
    static const char buses[] = "Line 4, buses of the valley.\n\n"
                                "Trip | Days | Market | Mill\n"
                                "101 | Mon-Fri | 06:10 | 06:31\n"
                                "103 | daily | 07:40 | 08:01\n"
                                "105 | Mon-Sat | 17:05 | 17:26\n"
                                "107 | Mon-Fri | 19:30 | 19:51\n"
                                "109 | Fri-Sat | 22:45 | -\n";
    expect(buses, "When does the last bus leave?", ""); /* from the market or from the mill? */
    expect(buses, "When does the last bus leave the Market?", "109/");
    expect(buses, "last bus from Market on Monday", "107/");
    expect(buses, "When does the last bus leave the Market on a Sunday?", ""); /* there is one */
    expect(buses, "what time is the first bus to the Mill on Saturday?", "103/");
    expect(buses, "What time is the first bus at the Mill?", "101/");
    expect(buses, "When does the first bus of line 4 leave the Market?", "101/");
    expect(buses, "When does the first bus after 7 leave the Market?", "");
    expect(buses, "When does the last bus leave the Market on weekdays?",
           "107/"); /* on all of them */
    expect(buses, "When was the bus last cleaned?", "");
    expect(buses, "When was the last time a bus was late?", "");
    expect(buses, "When does the last tram leave the Market?", "");
    static const char crews[] = "Boat: Kestrel; Cox: A. Lally; Start: 10:15\n"
                                "Boat: Plover; Cox: H. Tanabe; Start: 09:30\n"
                                "Boat: Curlew; Cox: N. Geoghegan; Start: 15:10\n";
    expect(crews, "Which boat starts first?", "Plover/");
    expect(crews, "Which boat starts last?", "Curlew/");
    static const char season[] = "Round: 1; Date: 12 October\nRound: 2; Date: 9 November\n"
                                 "Round: 3; Date: 15 February\n";
    expect(season, "When is the last round?", ""); /* February is not before October here */
    static const char spring[] = "Round: 1; Date: 2 March\nRound: 2; Date: 9 April\n"
                                 "Round: 3; Date: 15 June\n";
    expect(spring, "When is the last round?", "3/");
}

static void times_behind_midnight_are_of_the_next_day(void **state) {
    (void)state;
    static const char night[] = "Bus: N1; Leaves: 21:30\nBus: N2; Leaves: 22:30\n"
                                "Bus: N3; Leaves: 23:30\nBus: N4; Leaves: 0:30\n";
    expect(night, "When does the last bus leave?", "N4/");
    expect(night, "When does the first bus leave?", "N1/");
    expect(night, "Which bus leaves latest?", ""); /* of the evening, or of the day? */
    static const char all_day[] = "Bus: A; Leaves: 0:15\nBus: B; Leaves: 1:15\n"
                                  "Bus: C; Leaves: 6:15\nBus: D; Leaves: 23:15\n";
    expect(all_day, "When does the last bus leave?", "");
    static const char bars[] = "Bar: Anchor; Closes: 23:00\nBar: Boat; Closes: 1:00\n"
                               "Bar: Crane; Closes: 22:30\nBar: Dock; Closes: 23:30\n";
    expect(bars, "Which bar closes last?", "");
    static const char weekend[] =
        "Bus: A; Days: Fri; Leaves: 21:00\nBus: B; Days: Fri; Leaves: 23:00\n"
        "Bus: C; Days: Sat; Leaves: 20:00\nBus: D; Days: Sat; Leaves: 22:00\n"
        "Bus: E; Days: Sat; Leaves: 23:00\nBus: F; Days: Sat; Leaves: 0:40\n";
    expect(weekend, "When does the last bus leave on Saturday?", "F/"); /* of that day's alone */
    expect(weekend, "When does the last bus leave on Friday?", "B/");
    static const char noon[] = "Bus: A; Leaves: 9:30\nBus: B; Leaves: 10:30\n"
                               "Bus: C; Leaves: 12:30\nBus: D; Leaves: 1:30\n";
    expect(noon, "When does the first bus leave?", "");
}

static void what_opens_or_closes_tells_the_end_of_a_range(void **state) {
    (void)state;
    static const char bars[] = "Bar: Anchor; Opening hours: 16:00-23:00\n"
                               "Bar: Boat; Opening hours: 18:00-22:00\n"
                               "Bar: Crane; Opening hours: 15:00-22:30\n";
    expect(bars, "Which bar opens last?", "Boat/");
    expect(bars, "Which bar opens first?", "Crane/");
    expect(bars, "Which bar closes first?", "Boat/");
    expect(bars, "Which bar closes last?", "Anchor/");
    expect(bars, "Which bar opens earliest?", ""); /* the column of hours is none of when */
    static const char courses[] = "Course: Rope; Date: 1 March - 20 June\n"
                                  "Course: Ice; Date: 5 March - 10 April\n";
    expect(courses, "Which course has the latest date?", ""); /* begins or ends? */
    expect(courses, "Which course has the latest date to start?", "Ice/");
}

static void a_column_is_of_the_quality_and_not_of_what_has_it(void **state) {
    (void)state;
    static const char members[] = "Name: Ada; Born: 1950; Member since: 2004\n"
                                  "Name: Bo; Born: 1971; Member since: 1990\n"
                                  "Name: Cy; Born: 1988; Member since: 2011\n";
    expect(members, "Who is the oldest member?", "Ada/");
    expect(members, "Who is the youngest of the members?", "Cy/");
    static const char hotels[] = "Hotel: Alba; Price: 80 EUR; Room service: 9 EUR\n"
                                 "Hotel: Brisa; Price: 95 EUR; Room service: 4 EUR\n";
    expect(hotels, "Which hotel has the cheapest room?", "Alba/");
    static const char nights[] = "Hotel: Alba; Rooms: 12; Price: 80 EUR; Suite: 90 EUR\n"
                                 "Hotel: Brisa; Rooms: 7; Price: 95 EUR; Suite: 85 EUR\n";
    expect(nights, "Which hotel has the cheapest rooms?", "Alba/");
    expect(nights, "Which hotel has the cheapest suite?", "Brisa/");
}

static void most_of_something_is_of_its_own_column(void **state) {
    (void)state;
    static const char rooms[] = "Room: 101; Beds: 2; Nights booked: 40\n"
                                "Room: 102; Beds: 3; Nights booked: 90\n"
                                "Room: 103; Beds: 1; Nights booked: 70\n";
    expect(rooms, "Which is the most popular room?", "");
    expect(rooms, "Which is the least popular room?", "");
    expect(rooms, "Which room has the most beds?", "102/");
    expect(rooms, "Which is the highest room?", "");
    static const char months[] = "Month: May; Rain (mm): 30; Sunshine (hours): 210\n"
                                 "Month: June; Rain (mm): 12; Sunshine (hours): 260\n"
                                 "Month: October; Rain (mm): 90; Sunshine (hours): 120\n";
    expect(months, "What time of year has the most rain?", "October/");
    static const char courses[] = "Course: Rope; Places: 20; Booked: 9\n"
                                  "Course: Ice; Places: 12; Booked: 11\n";
    expect(courses, "Which course have most people booked?", "Ice/");
    expect(courses, "Which course has places for the most people?", "Rope/");
    expect(courses, "Which course takes the most people?", "Rope/");
    static const char prices[] = "Tour: Mill; Price: 20 EUR; Guests: 9\n"
                                 "Tour: Weir; Price: 12 EUR; Guests: 15\n";
    expect(prices, "Which tour costs the most per person?", "Mill/");
    expect(prices, "Which tour costs us the least?", "Weir/");
}

static void the_next_after_the_most_is_not_the_most(void **state) {
    (void)state;
    expect(boats, "Which is the next longest boat?", "");
    expect(boats, "Which boat is the longest next summer?", "Heron/");
}

static void a_row_may_compare_by_itself(void **state) {
    (void)state;
    static const char plans[] = "Plans | Solo | Team | House\n"
                                "Monthly fee | 29 EUR | 119 EUR | 480 EUR\n"
                                "Users | 1 | 8 | 40\n"
                                "Support | mail | mail, telephone | at your place\n";
    expect(plans, "Which plan is the cheapest?", "Monthly fee/");
    expect(plans, "Which plan has the most users?", "Users/");
    expect(plans, "Which plan is the heaviest?", "");
}

/* A row of sums is the most of every column, and none of the things. */
static void a_row_of_sums_is_not_compared(void **state) {
    (void)state;
    static const char costs[] = "Costs of the mare.\n\n"
                                "Month: January; Feed price: 48 EUR; Vet price: 30 EUR\n"
                                "Month: February; Feed price: 52 EUR; Vet price: 186 EUR\n"
                                "Month: March; Feed price: 45 EUR; Vet price: 74 EUR\n"
                                "Month: Total; Feed price: 145 EUR; Vet price: 290 EUR\n";
    expect(costs, "What was the most expensive month for the vet?", "February/");
    expect(costs, "In which month was feed the cheapest?", "March/");
    fo_err err = {0};
    candidate_set set = {0};
    const passage p = {.text = costs, .len = strlen(costs), .title = "", .whole_tables = true};
    const extractive_input in = {.question = "What was the most expensive month for the vet?",
                                 .passages = &p,
                                 .n_passages = 1,
                                 .lx = &lx};
    assert_ok(candidate_set_read(&set, &in, &err), &err);
    for (size_t i = 0; i < set.n; i++)
        if (!strncmp(costs + set.c[i].unit.start, "Month: Total", 12))
            assert_float_equal(set.c[i].f[CAND_OTHER_THING], CAND_RIVAL, 0);
    candidate_set_deinit(&set);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_of_sums_is_not_compared),
        cmocka_unit_test(what_the_superlative_is_said_of_tells_the_column),
        cmocka_unit_test(the_row_that_compares_most_or_least_is_found),
        cmocka_unit_test(where_nothing_tells_no_row_is_marked),
        cmocka_unit_test(among_documents_the_table_is_about_the_subject),
        cmocka_unit_test(columns_have_to_agree),
        cmocka_unit_test(rows_that_lack_a_word_of_the_question_do_not_count),
        cmocka_unit_test(a_cell_that_cannot_be_read_leaves_all_open),
        cmocka_unit_test(what_a_cell_says_beside_its_figure_counts),
        cmocka_unit_test(only_rows_that_have_what_is_asked_for_are_compared),
        cmocka_unit_test(a_yes_or_a_no_picks_rows),
        cmocka_unit_test(every_yes_or_no_that_is_asked_for_counts),
        cmocka_unit_test(a_row_that_the_question_leaves_out_is_another_thing),
        cmocka_unit_test(how_many_is_not_answered_by_the_yes_of_other_things),
        cmocka_unit_test(what_is_first_and_last_in_turn),
        cmocka_unit_test(times_behind_midnight_are_of_the_next_day),
        cmocka_unit_test(what_opens_or_closes_tells_the_end_of_a_range),
        cmocka_unit_test(a_column_is_of_the_quality_and_not_of_what_has_it),
        cmocka_unit_test(most_of_something_is_of_its_own_column),
        cmocka_unit_test(the_next_after_the_most_is_not_the_most),
        cmocka_unit_test(a_row_may_compare_by_itself),
    };
    return cmocka_run_group_tests(tests, open_lexicon, close_lexicon);
}
