/* What is asked for, of another one of its kind: refused where the text has the others alone, and answered where it has the asked one
 * (which_one.c, unit_demands.c, table_names.c). */
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#include "retrieval/answer/candidates.h"
#include "tests/retrieval/text/lexicon_fixture.h"

static extractive_answer ask(const char *asked, const char *text) {
    const passage p = {.text = text, .len = strlen(text), .title = "", .sparse = 9, .dense = 0.9f};
    extractive_answer a;
    fo_err err = {0};
    assert_ok(extractive_answer_make(&a,
                                     &(extractive_input){.question = asked,
                                                         .passages = &p,
                                                         .n_passages = 1,
                                                         .lx = &lx,
                                                         .max_sentences = 1,
                                                         .min_support = 0},
                                     &err),
              &err);
    return a;
}

/* Refused over the one text, and answered with these words over the other. */
static void expect(const char *asked, const char *refused, const char *answered,
                   const char *words) {
    extractive_answer no = ask(asked, refused);
    if (!no.abstain) fail_msg("%s: %s", asked, no.text);
    extractive_answer yes = ask(asked, answered);
    if (yes.abstain || !strstr(yes.text, words)) fail_msg("%s: %s", asked, yes.text);
    extractive_answer_deinit(&no);
    extractive_answer_deinit(&yes);
}

static void the_fourth_year_is_not_the_second(void **state) {
    (void)state;
    expect("What is the pay in the fourth year?",
           "| | Pay |\n|---|---|\n| First year | 1,050 |\n| Second year | 1,180 |\n",
           "| | Pay |\n|---|---|\n| Third year | 1,050 |\n| Fourth year | 1,180 |\n", "1,180");
    expect("What is the pay in year four?",
           "- First year: pay of 1,050\n- Second year: pay of 1,180\n",
           "- Third year: pay of 1,050\n- Fourth year: pay of 1,180\n", "1,180");
    expect("What is the pay in the fourth year?", "Pay: see the office.",
           "First year to fifth year: pay of 1,050\n", "1,050");
}

static void what_adults_pay_is_not_what_seniors_do(void **state) {
    (void)state;
    expect("How much do seniors pay?", "Adults pay 9.50, students pay 6.00.",
           "Adults pay 9.50, pensioners pay 6.00.", "6.00");
    expect("What does the ferry cost for seniors?",
           "Ferry\n\n| Fare | Single cost |\n|---|---|\n| Adult | 4.80 |\n| Child | 2.40 |\n",
           "Ferry\n\n| Fare | Single cost |\n|---|---|\n| Adult | 4.80 |\n| Senior | 3.10 |\n",
           "3.10");
}

/* Does the table itself pick out one of its rows? */
static bool picks_a_row(const char *asked, const char *text) {
    const passage p = {.text = text, .len = strlen(text), .title = "", .sparse = 9, .dense = 0.9f};
    candidate_set set = {0};
    fo_err err = {0};
    bool picks = false;
    assert_ok(candidate_set_read(&set,
                                 &(extractive_input){
                                     .question = asked, .passages = &p, .n_passages = 1, .lx = &lx},
                                 &err),
              &err);
    for (size_t i = 0; i < set.n; i++)
        picks |= set.c[i].unit.kind == TEXT_UNIT_ROW && set.c[i].f[CAND_BY_TABLE] > 0;
    candidate_set_deinit(&set);
    return picks;
}

/* Is the first sentence of another thing than the one asked about? */
static bool is_of_another_thing(const char *asked, const char *text) {
    const passage p = {.text = text, .len = strlen(text), .title = "", .sparse = 9, .dense = 0.9f};
    candidate_set set = {0};
    fo_err err = {0};
    assert_ok(candidate_set_read(&set,
                                 &(extractive_input){
                                     .question = asked, .passages = &p, .n_passages = 1, .lx = &lx},
                                 &err),
              &err);
    const bool is = set.n && set.c[0].f[CAND_OTHER_THING] > 0;
    candidate_set_deinit(&set);
    return is;
}

static void what_something_is_called_is_no_explanation(void **state) {
    (void)state;
    static const char asked[] = "What is a login shell?";
    assert_true(is_of_another_thing(asked, "This is a login shell for accounts of strangers."));
    assert_false(is_of_another_thing(asked, "A login shell is one that reads the profile."));
    assert_false(is_of_another_thing(asked, "This login shell is the one that reads the profile."));
    assert_false(is_of_another_thing("Who may use it?", "This is for strangers who may use it."));
}

/* Who and when are answered by the row in which one cell says what is named, and another stands below what is asked for. */
static void a_cell_is_found_by_its_row_and_its_column(void **state) {
    (void)state;
    static const char times[] = "| Day | Time | Group | Weapon | Coach |\n|---|---|---|---|---|\n"
                                "| Monday | 17:00-18:15 | Children 7-10 | Foil | Jory |\n"
                                "| Monday | 18:30-20:30 | Adults, beginners | Foil | Isolde |\n"
                                "| Wednesday | 19:00-21:30 | Competition | Epee, sabre | %s |\n"
                                "| Friday | 18:45-20:45 | Open fencing | all | - |\n";
    static const struct {
        const char *question, *coach;
        bool picked;
    } cases[] = {
        {"who coaches sabre", "Anatoly", true},
        {"who coaches sabre", "-", false},
        {"who coaches sabre", "12 months", false},
        {"Who coaches quarterstaff?", "Anatoly", false},
        {"Who coaches on Monday?", "Anatoly", true},
        {"When does Anatoly coach?", "Anatoly", false},
        {"Which coach teaches sabre?", "Anatoly", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024];
        snprintf(text, sizeof text, times, cases[i].coach);
        if (picks_a_row(cases[i].question, text) != cases[i].picked)
            fail_msg("%s %s", cases[i].question, cases[i].coach);
    }
    assert_false(picks_a_row("Who do I call about a project grant?",
                             "| | Micro grant | Project grant |\n|---|---|---|\n"
                             "| Project must be finished within | 6 months | 12 months |\n"));
}

static void a_sibling_of_a_model_is_another_one(void **state) {
    (void)state;
    static const char sizes[] = " The Petrel 3 flies 31 minutes, the Petrel 3 Pro 43.";
    char of_other[200], of_it[200];
    snprintf(of_other, sizeof of_other, "The Petrel 3 weighs 249 g with its battery.\n\n%s", sizes);
    snprintf(of_it, sizeof of_it, "The Petrel 3 Pro weighs 341 g with its battery.\n\n%s", sizes);
    expect("How much does the Petrel 3 Pro weigh?", of_other, of_it, "341");
}

static void what_is_done_otherwise_or_named_without_anybody_tells_nobody(void **state) {
    (void)state;
    expect("Who built the old telescope?",
           "The old telescope was given to us by the widow of Dr Alban Pryce in 1938.",
           "The old telescope was built by Carrow in 1938.", "Carrow");
    expect("Who is the president?",
           "The president, the secretary and the treasurer are elected for three years.",
           "The president is Ilse Maurer, elected for three years.", "Maurer");
    expect("Who is the president of the society?",
           "The president of the society may be elected once again.",
           "The president of the society is Ilse Maurer.", "Maurer");
}

static void a_quorum_is_not_how_many_there_are(void **state) {
    (void)state;
    expect("How many members does the society have?",
           "A quorum of the society is one fifth of the members, and at least nine.",
           "The society has 61 members.", "61");
    extractive_answer valid = ask("How many members have to be there for a valid meeting?",
                                  "Four members make a quorum at a meeting.");
    assert_false(valid.abstain);
    extractive_answer_deinit(&valid);
}

/* A label "When:" and the figures of a date are no hour. */
static void a_date_is_no_hour(void **state) {
    (void)state;
    expect("What time does the birthday party start?",
           "The birthday party starts, when: 2026-10-03",
           "The birthday party starts, when: 2026-10-03 18:30", "18:30");
    expect("What time does the party start?", "The party starts on 03/10/2026.",
           "The party starts on 03/10/2026 at 6 pm.", "6 pm");
}

/* Records leave out what is empty: the column stands in others of the table. */
static void a_record_without_the_cell_says_nothing_of_it(void **state) {
    (void)state;
    static const char without[] =
        "Film: The Lantern; Hall: Town Hall; Introduced by: Ida Crane\n\n"
        "Film: Goose Summer; Hall: Town Hall\n\n"
        "Film: Nine Bridges; Hall: Corn Exchange; Introduced by: Rui Matos\n";
    static const char with[] = "Film: The Lantern; Hall: Town Hall; Introduced by: Ida Crane\n\n"
                               "Film: Goose Summer; Hall: Town Hall; Introduced by: Olu Shaw\n";
    expect("Who introduces Goose Summer?", without, with, "Olu Shaw");
    expect("What tone does GB7 use?",
           "Callsign: GB7; Output MHz: 439.5; Keeper: Lea\n\n"
           "Callsign: GB3; Output MHz: 145.6; Tone Hz: 77.0; Keeper: Ned\n",
           "Callsign: GB7; Output MHz: 439.5; Tone Hz: 88.5; Keeper: Lea\n\n"
           "Callsign: GB3; Output MHz: 145.6; Tone Hz: 77.0; Keeper: Ned\n",
           "88.5");
}

/* The date that a mail begins with says when it was sent. */
static void a_mail_is_not_what_it_is_about(void **state) {
    (void)state;
    expect("When is the class reunion?",
           "Class reunion\n\nFrom: Hettie\nTo: The class reunion\nDate: Sun, 12 Jul 2026\n",
           "Class reunion\n\nFrom: Hettie\nTo: The class\nDate: Sun, 12 Jul 2026\n\n"
           "The class reunion is on 26 September.\n",
           "26 September");
    expect("Where is the class reunion?",
           "Class reunion\n\nFrom: Hettie\nTo: The class reunion at York\nDate: Sun, 12 Jul 2026\n",
           "Class reunion\n\nFrom: Hettie\nTo: The class\nDate: Sun, 12 Jul 2026\n\n"
           "The class reunion is in the Granary at York.\n",
           "Granary");
    expect("When is the class reunion?", "On Fri, 10 Jul 2026, the class reunion wrote:\n\n",
           "On Fri, 10 Jul 2026 is the class reunion.\n", "10 Jul");
    extractive_answer sent = ask("When was the mail about the class reunion sent?",
                                 "Class reunion\n\nFrom: Hettie\nTo: The class reunion\n"
                                 "Date: Sun, 12 Jul 2026\n");
    if (sent.abstain || !strstr(sent.text, "12 Jul")) fail_msg("%s", sent.text);
    extractive_answer_deinit(&sent);
}

/* The number of a model may stand behind a hyphen. */
static void a_model_is_not_its_sibling(void **state) {
    (void)state;
    expect("How heavy is the HX5-10?",
           "| Data | HX5-3 | HX5-8 |\n|---|---|---|\n| Weight (kg) | 19 | 28 |\n",
           "| Data | HX5-3 | HX5-10 |\n|---|---|---|\n| Weight (kg) | 19 | 31 |\n", "31");
    expect("How heavy is the HX5-10?", "The HX5-8 weighs 28 kg.",
           "The HX5-8 to HX5-12 weigh 28 kg.", "28");
}

static void what_keeps_in_the_fridge_keeps_otherwise_frozen(void **state) {
    (void)state;
    expect("How long does jam keep in the freezer?", "Jam keeps for six weeks in the fridge.",
           "Jam keeps for six months frozen.", "six months");
}

/* A sum in a line above, which is taken for a heading, is not what the sentence below is about. */
static void the_price_above_is_of_another_thing(void **state) {
    (void)state;
    expect("How much is it to hire a bicycle?",
           "Double room, per night EUR 148\n\nBicycles can be hired at the harbour.\n",
           "Double room, per night EUR 148\n\nIt is EUR 9 to hire a bicycle at the harbour.\n",
           "EUR 9");
}

static void what_happens_without_a_time_does_not_say_when(void **state) {
    (void)state;
    expect("When does Uncle Fergus arrive?", "Uncle Fergus arrives from Halifax and stays with us.",
           "Uncle Fergus arrives at eight and stays with us.", "eight");
    expect("When will the mast be repaired?", "The mast is repaired by Dunn and two daughters.",
           "The mast is repaired after the harvest.", "harvest");
    extractive_answer in_which_case =
        ask("When should I clean the mast?", "Clean the mast to keep it dry.");
    if (in_which_case.abstain) fail_msg("what is to be done has a case, and no time");
    extractive_answer_deinit(&in_which_case);
}

/* What is empty at the end of a row is not written. */
static void a_row_that_ends_before_the_column_says_nothing_of_it(void **state) {
    (void)state;
    expect("How much does the Lyra 130P weigh?",
           "| Model | Aperture | Weight |\n|---|---|---|\n| Lyra 130P | 130 mm |\n"
           "| Lyra 150P | 150 mm | 12.8 kg |\n",
           "| Model | Aperture | Weight |\n|---|---|---|\n| Lyra 130P | 130 mm | 9 kg |\n"
           "| Lyra 150P | 150 mm | 12.8 kg |\n",
           "9 kg");
    expect("What is the time limit for the relay?",
           "| Race | Start | Time limit |\n|---|---|---|\n| Marathon | 9:00 | 6 hours |\n"
           "| Relay | 11:00 |\n",
           "| Race | Start | Time limit |\n|---|---|---|\n| Marathon | 9:00 | 6 hours |\n"
           "| Relay | 11:00 | 2 hours |\n",
           "2 hours");
}

/* The column of the price is asked for by the verb, and one of two words by its parts. */
static void a_record_without_a_price_does_not_say_what_it_costs(void **state) {
    (void)state;
    expect("What does the green Duster cost?",
           "model: Duster; colour: green; owners: 2; mileage: 35700\n"
           "model: Niro; colour: white; owners: 1; mileage: 18400; price_gbp: 17800\n",
           "model: Duster; colour: green; owners: 2; mileage: 35700; price_gbp: 9900\n"
           "model: Niro; colour: white; owners: 1; mileage: 18400; price_gbp: 17800\n",
           "9900");
    expect("What stitch length do I use for jersey?",
           "Fabric: Jersey; Needle: 75\nFabric: Denim; Needle: 100; Stitch length: 3.0 mm\n",
           "Fabric: Jersey; Needle: 75; Stitch length: 1.5 mm\n"
           "Fabric: Denim; Needle: 100; Stitch length: 3.0 mm\n",
           "1.5 mm");
    expect("How much did the lamps sell for?",
           "item: Lamps; estimate_eur: 150\nitem: Kettle; estimate_eur: 40; sell_eur: 55\n",
           "item: Lamps; estimate_eur: 150; sell_eur: 120\n"
           "item: Kettle; estimate_eur: 40; sell_eur: 55\n",
           "120");
}

/* In the place of the name, or of what it is of two kinds, stands another. */
static void another_name_in_the_same_place_is_another_thing(void **state) {
    (void)state;
    expect("How long does resetting the Attic take?",
           "Resetting the Workshop takes 12 minutes. The laser in the Attic is broken.",
           "Resetting the Attic takes 12 minutes. The laser in the Workshop is broken.", "12");
    expect("When is low tide?", "High tide is at 11:52.", "Low tide is at 11:52.", "11:52");
}

/* Of words before a noun that exclude each other, the other one is another thing, unless both are said. */
static void one_of_two_opposites_is_not_the_other(void **state) {
    (void)state;
    expect("Which boats may enter at low tide?", "Boats of up to 9 m may enter at high tide.",
           "Boats of up to 9 m may enter at high tide, and at low tide those of up to 6 m.", "6 m");
    expect("When does the early shift start?", "The late shift starts at 14:00.",
           "The late shift starts at 14:00, the early shift at 6:00.", "6:00");
    expect("How much does the small locker cost?", "The large locker costs 5 euros.",
           "The small locker costs 5 euros.", "5 euros");
    expect("What is the net weight of the crate?", "The gross weight of the crate is 12 kg.",
           "The gross weight of the crate is 12 kg, the net weight 10 kg.", "10 kg");
}

/* A thing that is named without a price does not cost what is said before it of another. */
static void what_is_named_elsewhere_without_a_price_has_none(void **state) {
    (void)state;
    expect("How much will the paid tier cost?",
           "Hosting costs £15 a month. We might add a paid tier next year.",
           "We might add a paid tier next year. It costs £15 a month.", "£15");
}

static void a_wedding_is_no_birth_and_a_sum_no_time(void **state) {
    (void)state;
    expect("When did William Trevarren marry?", "William Trevarren, eldest son, born 1867.",
           "William Trevarren, eldest son, took Ann Pascoe as his wife in 1891.", "1891");
    expect("When is the practical test?", "Practical test, our fee is 190 EUR.",
           "Practical test, on the 14th, our fee is 190 EUR.", "14th");
}

static void a_number_of_another_kind_is_another_one(void **state) {
    (void)state;
    expect("What is the architect's mobile number?",
           "Architect\n\nTelephone (work): 01632 960745\n",
           "Architect\n\nTelephone (cell) number: 01632 960745\n", "960745");
}

static void what_a_label_says_is_nobody(void **state) {
    (void)state;
    expect("Who supports The Lantern Hours in Glasgow?",
           "The Lantern Hours - Glasgow\n\nWhere: The Foundry supports, Glasgow\n",
           "The Lantern Hours - Glasgow\n\nAlso: Mira Dahl supports, Glasgow\n", "Mira Dahl");
}

/* A row that is called by the one word that is asked about has what others of its table have not. */
static void what_another_part_has_is_of_that_part(void **state) {
    (void)state;
    fo_err err = {0};
    candidate_set set = {0};
    const char *text = "| Part | Remark |\n|---|---|\n| Inverter | serial number VH5 |\n"
                       "| Battery | 10 kWh |\n";
    const passage p = {.text = text, .len = strlen(text), .title = "Report", .document = "a"};
    assert_ok(candidate_set_read(
                  &set,
                  &(extractive_input){.question = "What is the serial number of the battery?",
                                      .passages = &p,
                                      .n_passages = 1,
                                      .lx = &lx},
                  &err),
              &err);
    size_t rows = 0;
    for (size_t i = 0; i < set.n; i++) {
        const candidate *c = &set.c[i];
        if (c->unit.kind != TEXT_UNIT_ROW) continue;
        rows++;
        const bool inverter = memmem(text + c->start, c->end - c->start, "Inverter", 8) != NULL;
        assert_true((c->f[CAND_OTHER_THING] >= CAND_RIVAL) == inverter);
    }
    assert_int_equal(rows, 2);
    candidate_set_deinit(&set);
}

/* What no column is called, and nothing else in the document says, a row has not. */
static void a_row_has_nothing_that_no_column_names(void **state) {
    (void)state;
    expect("What is the focal length of the Corvus 90?",
           "| Model | Aperture | Price |\n|---|---|---|\n| Corvus 70 | 70 mm | 119 |\n"
           "| Corvus 90 | 90 mm | 189 |\n",
           "| Model | Aperture | Focal length |\n|---|---|---|\n| Corvus 70 | 70 mm | 700 mm |\n"
           "| Corvus 90 | 90 mm | 910 mm |\n",
           "910 mm");
}

/* "What percentage of trips" says of what a share is asked for, and names no column. */
static void a_share_of_something_is_no_column(void **state) {
    (void)state;
    static const char *const asked[] = {"What percentage of trips did the Corvus 90 lose?",
                                        "What share of trips did the Corvus 90 lose?"};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        extractive_answer a = ask(asked[i], "| Model | Trips lost |\n|---|---|\n"
                                            "| Corvus 80 | 4 % |\n| Corvus 90 | 6 % |\n");
        if (a.abstain || !strstr(a.text, "6 %")) fail_msg("%s: %s", asked[i], a.text);
        extractive_answer_deinit(&a);
    }
}

/* In a chat names have no capitals. */
static void how_far_another_place_is_does_not_tell(void **state) {
    (void)state;
    static const char far[] = "03/09/2026, 17:02 - Kit: Rowan Street and Mill Quay are free\n"
                              "03/09/2026, 17:10 - Sana: how far is mill quay from the station?\n"
                              "03/09/2026, 17:11 - Kit: 12 min walk\n";
    extractive_answer other = ask("How far is Rowan Street from the station?", far),
                      asked = ask("How far is Mill Quay from the station?", far);
    if (!other.abstain) fail_msg("%s", other.text);
    if (asked.abstain || !strstr(asked.text, "12 min")) fail_msg("%s", asked.text);
    extractive_answer_deinit(&other);
    extractive_answer_deinit(&asked);
}

static void the_last_of_them_need_not_be_dead(void **state) {
    (void)state;
    expect("When did William Reith die?",
           "| Name | From | To | Remark |\n|---|---|---|---|\n| Ada Thole | 1913 | 1919 | widow |\n"
           "| William Reith | 1952 | 1987 | last keeper |\n",
           "| Name | From | To | Remark |\n|---|---|---|---|\n| Ada Thole | 1913 | 1919 | widow |\n"
           "| William Reith | 1952 | 1987 | died in 1987 |\n",
           "died in 1987");
}

/* Of a contact card the name above says who it is. */
static void a_role_is_said_with_whose_it_is(void **state) {
    (void)state;
    extractive_answer a =
        ask("Who is the safety diver?",
            "Owen Strand\n\nTitle: Safety diver\nTelephone (mobile): +44 7700 900177\n");
    if (a.abstain || !strstr(a.text, "Owen Strand")) fail_msg("%s", a.text);
    extractive_answer_deinit(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fourth_year_is_not_the_second),
        cmocka_unit_test(what_something_is_called_is_no_explanation),
        cmocka_unit_test(what_adults_pay_is_not_what_seniors_do),
        cmocka_unit_test(a_cell_is_found_by_its_row_and_its_column),
        cmocka_unit_test(a_sibling_of_a_model_is_another_one),
        cmocka_unit_test(what_is_done_otherwise_or_named_without_anybody_tells_nobody),
        cmocka_unit_test(a_quorum_is_not_how_many_there_are),
        cmocka_unit_test(a_date_is_no_hour),
        cmocka_unit_test(a_record_without_the_cell_says_nothing_of_it),
        cmocka_unit_test(a_mail_is_not_what_it_is_about),
        cmocka_unit_test(a_model_is_not_its_sibling),
        cmocka_unit_test(what_keeps_in_the_fridge_keeps_otherwise_frozen),
        cmocka_unit_test(the_price_above_is_of_another_thing),
        cmocka_unit_test(what_happens_without_a_time_does_not_say_when),
        cmocka_unit_test(a_row_that_ends_before_the_column_says_nothing_of_it),
        cmocka_unit_test(a_record_without_a_price_does_not_say_what_it_costs),
        cmocka_unit_test(another_name_in_the_same_place_is_another_thing),
        cmocka_unit_test(one_of_two_opposites_is_not_the_other),
        cmocka_unit_test(what_is_named_elsewhere_without_a_price_has_none),
        cmocka_unit_test(a_wedding_is_no_birth_and_a_sum_no_time),
        cmocka_unit_test(a_number_of_another_kind_is_another_one),
        cmocka_unit_test(what_a_label_says_is_nobody),
        cmocka_unit_test(what_another_part_has_is_of_that_part),
        cmocka_unit_test(a_row_has_nothing_that_no_column_names),
        cmocka_unit_test(a_share_of_something_is_no_column),
        cmocka_unit_test(how_far_another_place_is_does_not_tell),
        cmocka_unit_test(the_last_of_them_need_not_be_dead),
        cmocka_unit_test(a_role_is_said_with_whose_it_is),
    };
    return cmocka_run_group_tests(tests, open_lexicon, close_lexicon);
}
