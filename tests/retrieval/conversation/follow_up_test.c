/* follow_up_test.c - half questions put into the whole ones before them. */
#include "tests/test.h"

#include "retrieval/conversation/follow_up.h"

static void expect(const char *before, const char *turn, const char *want) {
    fo_buf b = {0};
    bool made = follow_up_make(&b, before, turn);
    if (made != (want != NULL) || (want && strcmp(b.data, want) != 0))
        fail_msg("%s / %s: '%s', not '%s'", before, turn, made ? b.data : "-", want ? want : "-");
    fo_buf_free(&b);
}

static void the_same_noun_takes_its_place(void **state) {
    (void)state;
    expect("How often is the north pump serviced?", "And the south pump?",
           "How often is the south pump serviced?");
    expect("How often is the \"north\" pump serviced?", "and south pumps?",
           "How often is the south pumps serviced?");
    expect("What does a north pump cost?", "and south pumps?", "What does south pumps cost?");
    expect("Who repairs north pumps", "What about the south pumps?",
           "Who repairs the south pumps?");
    expect("What does an adult pay in the low season?", "and in the high season?",
           "What does an adult pay in the high season?");
    expect("Who services the north pump?", "And the pump?", NULL); /* nothing new is said */
    expect("Who services the north pump?", "And the tank?", "Who services the tank?");
    expect("When is the oil of the big old red north pump changed?", "And the south pump?",
           "When is the oil of the south pump changed?");
    expect("When is the oil of the north pump changed?", "And the pump of the mill?",
           "When is the oil of the pump of the mill changed?");
}

/* No two words tell: what the question is about is exchanged. */
static void what_a_question_is_about_is_exchanged(void **state) {
    (void)state;
    static const struct {
        const char *before, *turn, *want;
    } cases[] = {
        {"What does the scaffolding cost?", "And the windows?", "What does the windows cost?"},
        {"Are cats allowed in the flat?", "And pianos?", "Are pianos allowed in the flat?"},
        {"What does heating cost?", "And electricity?", "What does electricity cost?"},
        {"How many jackets of size L are there?", "And scarves?",
         "How many scarves of size L are there?"},
        {"Who has borrowed the tuba?", "And the tenor horn?", "Who has borrowed the tenor horn?"},
        {"When could the roofers begin?", "And the painters?", "When could the painters begin?"},
        {"What is the entry fee of the regatta?", "And the first prize?",
         "What is the first prize of the regatta?"},
        {"Where does year 6 go on the school trip?", "And year 9?",
         "Where does year 9 go on the school trip?"},
        {"What does a school lunch cost?", "And breakfast?", "What does a breakfast cost?"},
        {"How high is the London plane?", "And the oak?", "How high is the oak?"},
        {"How much rye flour goes into the dough?", "And sugar?",
         "How much sugar goes into the dough?"},
        {"When was the rowan planted?", "and the ginkgo?", "When was the ginkgo planted?"},
        {"What does the bookbinding workshop cost?", "And the calligraphy one?",
         "What does the calligraphy workshop cost?"},
        {"How long is the boardwalk?", "And the northern one?",
         "How long is the northern boardwalk?"},
        {"What is the yearly fee for the Gold credit card?", "And the Blue one?",
         "What is the yearly fee for the Blue credit card?"},
        {"How much is neutering a male cat?", "And a female?",
         "How much is neutering a female cat?"},
        {"How much is neutering the male cat?", "And female?",
         "How much is neutering the female cat?"},
        {"How long can I keep books from the library?", "And DVDs?",
         "How long can I keep DVDs from the library?"},
        {"How do I run the server on another port?", "Кто выдаёт ключи?", NULL},
        {"What is the monthly rent?", "And heating?", NULL}, /* nothing would be left of it */
        {"Who drives us from the mill to the church?", "And the choir?", NULL}, /* which of them? */
        {"Do I need a key?", "And one?", NULL},
        {"How much does a dog cost?", "And cats?", NULL}, /* "a cats" */
        {"How much rain?", "And snow?", "How much snow?"},
        {"How many jackets of the team are there?", "And the club?", NULL}, /* no number of it */
        {"Do cats need the key?", "And the lock?", "Do cats need the lock?"},
        {"How much does a dog cost?", "And a cat?", "How much does a cat cost?"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect(cases[i].before, cases[i].turn, cases[i].want);
}

static void one_of_a_kind_takes_the_place_of_another(void **state) {
    (void)state;
    expect("What does error E3 mean?", "And E5?", "What does error E5 mean?");
    expect("What does error E3 mean?", "E5?", "What does error E5 mean?");
    expect("What does error E3 mean?", "And F5?", "What does error F5 mean?");
    expect("When is the library open on Tuesday?", "and Sunday?",
           "When is the library open on Sunday?");
    expect("How much rain fell in March?", "And in May?", "How much rain fell in May?");
    expect("How much rain fell in March?", "And May?", "How much rain fell in May?");
    expect("How much rain fell in March?", "May I?", NULL);
    expect("What was earned in 2019?", "or in 2021?", "What was earned in 2021?");
    expect("What is kept in room b3?", "And b5x?", NULL); /* no code like it */
    expect("How much does ticket 6 cost in year 7?", "And year 9?",
           "How much does ticket 6 cost in year 9?");
    expect("Is it open from Monday to Friday?", "And Sunday?", NULL); /* for which of them? */
    expect("How many people live in Paris?", "And Rome?", "How many people live in Rome?");
    expect("How long is the Nile?", "And the Rio Grande?", "How long is the Rio Grande?");
    expect("How far is it from Holm to Skarv?", "And Lund?", NULL);
}

static void what_begins_with_a_preposition_is_put_where_it_belongs(void **state) {
    (void)state;
    expect("How many items may be borrowed with a full card?", "And with a day card?",
           "How many items may be borrowed with a day card?");
    expect("How long is the guarantee on the compressor?", "And on the other parts?",
           "How long is the guarantee on the other parts?");
    expect("How much does a trip from Lund to Malmo cost in winter?", "And to Ystad?",
           "How much does a trip from Lund to Ystad cost in winter?");
    expect("What do we pay as members in summer?", "And for members of a club?",
           "What do we pay as members in summer for members of a club?");
    expect("What does a ticket cost?", "And for children?",
           "What does a ticket cost for children?");
    expect("When do you open on Tuesday?", "What about on Sundays, please?",
           "When do you open on Sundays, please?");
    expect("Who may use the (blue) boat?", "the red boat?", "Who may use the red boat?");
    expect("Who may use \"the blue boat\"?", "and \"the red boat\"?", "Who may use the red boat?");
    expect("When do you open?", "And at night in winter?", "When do you open at night in winter?");
}

static void people_take_the_place_of_people(void **state) {
    (void)state;
    expect("What does a day card cost for adults?", "And children?",
           "What does a day card cost for children?");
    expect("What does a day card cost for adults?", "And for children?",
           "What does a day card cost for children?");
    expect("How much is the ticket for adults?", "And pensioners?",
           "How much is the ticket for pensioners?");
    expect("What does an adult pay on Sunday?", "And children?",
           "What does children pay on Sunday?");
    expect("What does an adult pay on Sunday?", "And a child?", "What does a child pay on Sunday?");
    expect("What is the price of a ticket for an adult on Sunday?", "And a child of ten?",
           "What is the price of a ticket for a child of ten on Sunday?");
    expect("What do adults pay on Sunday?", "And a child?", "What do a child pay on Sunday?");
}

static void verbs_are_no_names(void **state) {
    (void)state;
    expect("When does the pool open on Saturday?", "And close?",
           "When does the pool close on Saturday?");
    expect("When does the course start?", "And end?", "When does the course end?");
    expect("How do I turn the heating on?", "And off?", "How do I turn the heating off?");
    expect("When does the pool open on Saturday?", "And off?", NULL);
    expect("When does the pool open on Saturday?", "And start?", NULL);
    expect("When does the ferry leave?", "And back?", NULL);
    expect("When do the boats go into the water?", "And out of the water?",
           "When do the out of the water go into the water?"); /* searched for with all its words */
    expect("What does the ferry from Lund to Malmo cost?", "And to Kiel?",
           "What does the ferry from Lund to Kiel cost?");
    expect("How long does the bus to the old mill take?", "And to the church?",
           "How long does the bus to the church take?");
    expect("What is the way to the church stop?", "And to the mill?",
           "What is the way to the mill?");
}

static void other_turns_are_left_alone(void **state) {
    (void)state;
    static const char *const turns[] = {"And who built it?",
                                        "And then?",
                                        "And after that?",

                                        "How often?",
                                        "Thanks",
                                        "and",
                                        "And how do I sort?",
                                        "south pump",
                                        "?",
                                        "",
                                        "And in",
                                        "What about it?",
                                        "And what if it rains?"};
    for (size_t i = 0; i < sizeof turns / sizeof *turns; i++)
        expect("How often is the north pump serviced in winter?", turns[i], NULL);
    static const char *const befores[] = {"",
                                          "?",
                                          "the north pump",
                                          "Thanks for all of it.",
                                          "I saw the north pump. What is the tank for?",
                                          "the north pump\nWho made it?"};
    for (size_t i = 0; i < sizeof befores / sizeof *befores; i++)
        expect(befores[i], "And the south pump?", NULL);
    char flood[4096];
    for (size_t i = 0; i < sizeof flood; i++) flood[i] = i % 3 ? 'a' : ' ';
    flood[sizeof flood - 2] = '?';
    flood[sizeof flood - 1] = 0;
    expect(flood, "And the south pump?", NULL);
    expect("Who services the north pump?", flood, NULL);
}

static void a_contraction_begins_a_question(void **state) {
    (void)state;
    expect("Can I borrow a towel?", "where's the café?", NULL);
    expect("Can I borrow a towel?", "And what\xE2\x80\x99s for lunch?", NULL);
    expect("Can I borrow a towel?", "And she's ten?", NULL);
    expect("Can I borrow a towel?", "And the hotel's robe?", "Can I borrow the hotel's robe?");
}

static void what_is_said_aside_is_no_part_of_the_thing(void **state) {
    (void)state;
    expect("What does an e-bike cost for a week?", "and just for the weekend?",
           "What does an e-bike cost for the weekend?");
    expect("When is it open on Sunday?", "and maybe on Monday?", "When is it open on Monday?");
}

static void a_correction_takes_the_place_of_what_was_wrong(void **state) {
    (void)state;
    expect("How much is a canoe for two hours?", "no i meant the kayak",
           "How much is the kayak for two hours?");
    expect("How much is a canoe for two hours?", "No, the kayak.",
           "How much is the kayak for two hours?");
    expect("How much is a canoe for two hours?", "no problem", NULL);
    expect("How much is a canoe for two hours?", "No, thanks", NULL);
    assert_true(follow_up_corrects("no, the big one") && follow_up_corrects("I meant Rome"));
    assert_false(follow_up_corrects("no") || follow_up_corrects("and the big one?"));
}

static void one_of_two_sides_takes_the_place_of_the_other(void **state) {
    (void)state;
    expect("How much is a puncture repair on the back wheel?", "and the front?",
           "How much is a puncture repair on the front wheel?");
    expect("What's the price of a crown on a back tooth?", "and a front one?",
           "What's the price of a crown on a front tooth?");
    expect("What does the small motor boat cost?", "and for the big one?",
           "What does the big motor boat cost?");
    expect("What does the motor boat cost?", "and for the big one?", NULL);
    expect("Can I eat after a white filling?", "what about a silver one?",
           "Can I eat after a silver filling?");
}

static void clauses_that_hold_no_longer_are_left_out(void **state) {
    (void)state;
    expect("how much for a bed in the dorm, i'm not a member?", "and with a membership?",
           "how much for a bed in the dorm with a membership?");
    expect("how much for a bed in the dorm, i'm a student?", "and with breakfast?",
           "how much for a bed in the dorm, i'm a student with breakfast?");
    expect("the engine stopped, who do I call?", "and for reservations?",
           "who do I call for reservations?");
    expect("my tooth hurts, can you see me today?", "and on Sunday?",
           "my tooth hurts, can you see me today on Sunday?");
    expect("Can I eat after having a tooth out?", "and after a white filling?",
           "Can I eat after a white filling?");
    expect("What's the price for a tent in the high season at Greendale?", "and a caravan?",
           "What's the price for a caravan in the high season at Greendale?");
}

static void a_sentence_of_one_word_asks_alone(void **state) {
    (void)state;
    assert_true(follow_up_asks_alone("can I smoke?") && follow_up_asks_alone("How do I book?") &&
                follow_up_asks_alone("where's the caf\xC3\xA9?"));
    assert_false(follow_up_asks_alone("why not?") || follow_up_asks_alone("how much deposit?") ||
                 follow_up_asks_alone("children?") || follow_up_asks_alone("when is it?"));
}

static void it_is_told_whether_a_turn_goes_on(void **state) {
    (void)state;
    assert_true(follow_up_goes_on(" And who?"));
    assert_true(follow_up_goes_on("what about Rome"));
    assert_false(follow_up_goes_on("Andes"));
    assert_false(follow_up_goes_on(""));
}

/* Marks within and around words: an apostrophe as printers set it, a hyphen, quotes; and May as a verb. */
static void marks_and_small_words_are_read_as_meant(void **state) {
    (void)state;
    assert_true(follow_up_asks_alone("and where\xE2\x80\x99s the boat house?"));
    assert_false(follow_up_asks_alone("and the boat house there?"));
    expect("Where is the manual kept?", "And the how-to-book?", "Where is the how-to-book kept?");
    expect("Where is the \"north pump\" kept?", "And the south pump?",
           "Where is the south pump kept?");
    assert_false(follow_up_is_whole("May I come?")); /* no month, and nothing that it is about */
    assert_false(follow_up_adds_a_circumstance("and before?"));
    assert_true(follow_up_adds_a_circumstance("and before noon?"));
}

/* Names and codes wherever they stand: first, behind an article or not, by their number alone. */
static void names_and_codes_are_exchanged_where_they_stand(void **state) {
    (void)state;
    expect("E3 means what?", "And E5?", "E5 means what?");
    expect("How much does ticket 6 cost in year 7?", "And year group?",
           "How much does year group cost in year 7?");
    expect("Where does year 6 go on the school trip?", "And 9?",
           "Where does year 9 go on the school trip?");
    expect("How far is it to the Rhine from here?", "And to the Nile?",
           "How far is it to the Nile from here?");
    expect("How many people live in Paris?", "And the Hague?",
           "How many people live in the Hague?");
    expect("Is the old Gold card better than the Silver card?", "And the Blue one?",
           "Is the old Gold card better than the Blue card?");
    expect("How long is the boardwalk?", "And northern one?",
           "How long is the northern boardwalk?");
}

/* Words that look like verbs and are things, and the other way round. */
static void what_looks_like_a_verb_is_told_from_it(void **state) {
    (void)state;
    expect("Who repairs the bed?", "And the roof?", "Who repairs the roof?");
    expect("When is the boat used?", "And the car?", "When is the car used?");
    expect("Can I learn to run?", "And to swim?", "Can I learn to swim?");
    expect("Can I swim after using a sauna?", "And after breakfast?",
           "Can I swim after breakfast?");
    expect("Do you go to church the whole winter?", "And to school?",
           "Do you go to school the whole winter?");
    expect("Does the bus to church leave?", "And to school?", "Does the bus to school leave?");
    expect("What is parking?", "And camping?", NULL); /* nothing would be left of it */
}

static void what_stands_around_half_a_question_is_no_part_of_it(void **state) {
    (void)state;
    expect("What does the ferry cost?", "the bus?  ", "What does the bus cost?");
    expect("When do the boats go into the water?", "And from under the bridge?", NULL);
    expect("how much for a bed, i'm a guest?", "and with a guesthouse card?",
           "how much for a bed with a guesthouse card?");
    expect("Where is the volt meter kept?", "And the \u03A9 meter?",
           "Where is the \u03A9 meter kept?");
    expect("Where is the volt meter kept?", "And \u03A9?",
           NULL); /* more of another script than of ours */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_noun_takes_its_place),
        cmocka_unit_test(what_a_question_is_about_is_exchanged),
        cmocka_unit_test(one_of_a_kind_takes_the_place_of_another),
        cmocka_unit_test(what_begins_with_a_preposition_is_put_where_it_belongs),
        cmocka_unit_test(people_take_the_place_of_people),
        cmocka_unit_test(verbs_are_no_names),
        cmocka_unit_test(other_turns_are_left_alone),
        cmocka_unit_test(a_contraction_begins_a_question),
        cmocka_unit_test(what_is_said_aside_is_no_part_of_the_thing),
        cmocka_unit_test(a_correction_takes_the_place_of_what_was_wrong),
        cmocka_unit_test(one_of_two_sides_takes_the_place_of_the_other),
        cmocka_unit_test(clauses_that_hold_no_longer_are_left_out),
        cmocka_unit_test(a_sentence_of_one_word_asks_alone),
        cmocka_unit_test(it_is_told_whether_a_turn_goes_on),
        cmocka_unit_test(marks_and_small_words_are_read_as_meant),
        cmocka_unit_test(names_and_codes_are_exchanged_where_they_stand),
        cmocka_unit_test(what_looks_like_a_verb_is_told_from_it),
        cmocka_unit_test(what_stands_around_half_a_question_is_no_part_of_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
