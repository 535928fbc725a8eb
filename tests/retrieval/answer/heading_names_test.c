/* heading_names_test.c - units below the heading of another thing than the question names. */
#include "retrieval/answer/heading_names.h"

#include "tests/retrieval/text/lexicon_fixture.h"
#include "tests/test.h"

/* What the unit that begins with `sentence` has for CAND_OTHER_THING. */
static double other_thing(const char *asked, const char *text, const char *title,
                          const char *sentence) {
    fo_err err = {0};
    candidate_set set = {0};
    const passage p = {.text = text, .len = strlen(text), .title = title, .document = "a"};
    const extractive_input in = {.question = asked, .passages = &p, .n_passages = 1, .lx = &lx};
    assert_ok(candidate_set_read(&set, &in, &err), &err);
    double found = -1;
    for (size_t i = 0; i < set.n; i++) {
        const candidate *c = &set.c[i];
        if (strncmp(text + c->start, sentence, strlen(sentence)) == 0)
            found = c->f[CAND_OTHER_THING];
    }
    candidate_set_deinit(&set);
    if (found < 0) fail_msg("no unit '%s'", sentence);
    return found;
}

static const char *const tents =
    "TENT CARD: DOME 'LUCHS'\nSleeps two and weighs 2 kg. No pegging out needed. Dries fast.\n\n"
    "TENT CARD: TUNNEL 'FASAN'\nSleeps four. The sides are pegged out every evening. Heavy.\n\n"
    "ADVICE FROM THE COUNTER\n\nWet tents are hung up. Pegging out is done into the wind.\n";

static void what_is_below_the_heading_of_another_is_of_another(void **state) {
    (void)state;
    const char *q = "do I have to peg out the Fasan?";
    assert_float_equal(other_thing(q, tents, "Camping", "No pegging"), CAND_RIVAL, 0);
    assert_float_equal(other_thing(q, tents, "Camping", "Dries fast"), 1, 0);
    assert_float_equal(other_thing(q, tents, "Camping", "The sides"), 0, 0);
    assert_float_equal(other_thing(q, tents, "Camping", "Pegging out is"), 0, 0);
    assert_float_equal(other_thing(q, tents, "Fasan and Luchs", "No pegging"), 0, 0);
    assert_float_equal(
        other_thing("do I have to peg out the tents?", tents, "Camping", "No pegging"), 0, 0);
    assert_float_equal(
        other_thing("must Fasan and Luchs be pegged out?", tents, "Camping", "No pegging"), 0, 0);
}

/* An article before both is part of what they are called. */
static void names_with_an_article_are_alike(void **state) {
    (void)state;
    static const char *const tour = "## The Lantern Hours - Glasgow\n\nSupport to be announced.\n\n"
                                    "## The Lantern Hours - Newcastle\n\nSupport: Mira Dahl.\n";
    const char *q = "Who supports The Lantern Hours in Glasgow?";
    assert_float_equal(other_thing(q, tour, "Tour", "Support: Mira"), CAND_RIVAL, 0);
    assert_float_equal(other_thing(q, tour, "Tour", "Support to"), 0, 0);
}

static void names_alone_are_told_apart_where_both_speak_of_it(void **state) {
    (void)state;
    static const char *const boats =
        "# Boats\n\n## Luchs\n\nThe deposit is 50 euros. She has two oars.\n\n## Fasan\n\n"
        "A deposit of 80 euros is paid at the hut.\n\n## Insurance\n\nEvery deposit is insured.\n";
    const char *q = "What is the deposit for Fasan?";
    assert_float_equal(other_thing(q, boats, "Hire", "The deposit is"), 1, 0);
    assert_float_equal(other_thing(q, boats, "Hire", "A deposit"), 0, 0);
    assert_float_equal(other_thing("How many oars has Fasan?", boats, "Hire", "She has"), 0, 0);
}

static void a_section_about_all_is_of_no_other(void **state) {
    (void)state;
    static const char *const rooms =
        "## Room Kestrel\n\nIt seats 20 people.\n\n## Room rules\n\nCoffee costs 2 euros.\n\n"
        "## Room Heron\n\nIt seats 12 people.\n";
    const char *q = "How many people does the Kestrel seat?";
    assert_float_equal(other_thing(q, rooms, "House", "Coffee"), 0, 0);
    assert_float_equal(other_thing(q, rooms, "House", "It seats 20"), 0, 0);
    assert_float_equal(other_thing(q, rooms, "House", "It seats 12"), CAND_RIVAL, 0);
}

static void a_section_about_the_kind_is_of_no_other(void **state) {
    (void)state;
    static const char *const bikes =
        "## Cargo Bike\n\nThe Cargo Bike carries two children. It costs 30 euros.\n\n"
        "## City Bike\n\nThe City Bike has seven gears. It costs 12 euros.\n\n"
        "## Returning a Bike\n\nWhatever you hired goes back to the yard by 6 pm.\n\n"
        "## Damaged Bikes\n\nA flat tyre is mended for nothing. Call 555 0142.\n";
    const char *q = "Who do I call when the tyre of the City Bike is flat?";
    assert_float_equal(other_thing(q, bikes, "Hire", "A flat tyre"), 0, 0);
    assert_float_equal(other_thing(q, bikes, "Hire", "Call 555"), 0, 0);
    q = "By what time does the Cargo Bike go back?";
    assert_float_equal(other_thing(q, bikes, "Hire", "Whatever you hired"), 0, 0);
    q = "What does the City Bike cost?";
    assert_float_equal(other_thing(q, bikes, "Hire", "It costs 30"), CAND_RIVAL, 0);
    assert_float_equal(other_thing(q, bikes, "Hire", "It costs 12"), 0, 0);
}

static void what_only_another_section_says_is_no_rival(void **state) {
    (void)state;
    static const char *const town =
        "## Parking Permits\n\nResidents get one at the hall.\n\n## Parking Enforcement\n\n"
        "A car without it on the windscreen is fined.\n";
    const char *q = "Is a permit shown on the windscreen?";
    assert_float_equal(other_thing(q, town, "Town", "A car"), 0, 0);
    static const char *const rooms = "## Kestrel Room\n\nIt seats 20 people.\n\n## Heron Room\n\n"
                                     "A piano stands there.\n";
    q = "Is there a piano in the Kestrel Room?";
    assert_float_equal(other_thing(q, rooms, "House", "A piano"), 1, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_below_the_heading_of_another_is_of_another),
        cmocka_unit_test(names_with_an_article_are_alike),
        cmocka_unit_test(names_alone_are_told_apart_where_both_speak_of_it),
        cmocka_unit_test(a_section_about_all_is_of_no_other),
        cmocka_unit_test(a_section_about_the_kind_is_of_no_other),
        cmocka_unit_test(what_only_another_section_says_is_no_rival),
    };
    return cmocka_run_group_tests(tests, open_lexicon, close_lexicon);
}
