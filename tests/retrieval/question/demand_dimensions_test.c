/* demand_dimensions.c: of what an amount is that is asked for. */
#include "tests/test.h"

#include <string.h>

#include "retrieval/question/demand_dimensions.h"

enum { DIMENSION_CASES = 8 }; /* at most; the first without a text ends them */

typedef struct said_dimension {
    const char *text;
    bool in;
} said_dimension;

static void expect_dimension(const char *q, enum demand_dimension d, const said_dimension *cases) {
    assert_int_equal(demand_dimension_of(q, strlen(q)), d);
    for (size_t i = 0; i < DIMENSION_CASES && cases[i].text; i++)
        if (demand_dimension_in(d, cases[i].text, strlen(cases[i].text)) != cases[i].in)
            fail_msg("%s", cases[i].text);
}

static void a_way_or_a_price_is_no_age(void **state) {
    (void)state;
    static const said_dimension cases[DIMENSION_CASES] = {
        {"Its deepest peat measures 6.4 metres.", false},
        {"The peat costs 12 euros and weighs 3 kg.", false},
        {"The deepest peat is 10,700 years old.", true},
        {"The hut was built in 1904.", true},
        {"From 16 on.", true},
        {"Wednesday 18:00, Loft", false},
        {"The hut is 8 m wide; it is older than the church.", true},
        {"You may ride from a height of 1.40 m.", true},
    };
    expect_dimension("How old is the deepest peat?", DIMENSION_AGE, cases);
}

/* "140 m west of the house" is where something stands. */
static void a_way_to_somewhere_is_no_height(void **state) {
    (void)state;
    static const said_dimension cases[DIMENSION_CASES] = {
        {"The mast stands on the knoll 140 m west of the laboratory.", false},
        {"The mast, 140 m west of the laboratory, reaches 12 m.", true},
        {"Mast: 38 m", true},
        {"It rises 10 m above the lake.", true},
    };
    expect_dimension("How tall is the mast?", DIMENSION_HEIGHT, cases);
}

/* A way and a time, or a unit of both, is a speed; who names a way or where to asks for a time. */
static void a_speed_is_a_way_within_a_time(void **state) {
    (void)state;
    static const said_dimension cases[DIMENSION_CASES] = {
        {"It runs at 6:30 min/km.", true},    {"It covers 10 km in 45 minutes.", true},
        {"It moves 12 m a year.", true},      {"It makes 22 kn.", true},
        {"It runs for four minutes.", false}, {"It runs 60 m.", false},
    };
    expect_dimension("How fast does the group run?", DIMENSION_SPEED, cases);
    static const char *const times[] = {"How fast do I have to swim for the badge?",
                                        "How fast must I run the 3,000 m?",
                                        "How fast does the train go to the airport?"};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        if (demand_dimension_of(times[i], strlen(times[i])) != DIMENSION_ANY)
            fail_msg("%s", times[i]);
}

/* "How fast is it?": of a ship, or of a delivery. */
static void how_fast_something_is_is_a_speed_or_a_time(void **state) {
    (void)state;
    static const said_dimension cases[DIMENSION_CASES] = {
        {"The ferry carries 148 passengers and 22 cars.", false},
        {"She makes 14 knots.", true},
        {"It takes two days.", true},
        {"It prints 30 pages a minute.", true},
        {"Orders go out the same day.", true},
    };
    expect_dimension("How fast is the ferry?", DIMENSION_PACE, cases);
}

static void what_food_has_in_it_is_named(void **state) {
    (void)state;
    static const said_dimension calories[DIMENSION_CASES] = {
        {"For 4, makes about 16", false},
        {"Energy per bar: 182", true},
        {"A dumpling has 210 kcal.", true},
        {"An omelette of 3 \xC3\x97 60 g", false},
    };
    expect_dimension("How many calories has a plum dumpling?", DIMENSION_ENERGY, calories);
    static const said_dimension fat[DIMENSION_CASES] = {
        {"Flavour: Honey; Energy per bar: 176 kcal; Sugar: 12.3 g; Protein: 3.5 g", false},
        {"Fat in dry matter 55%", true},
    };
    expect_dimension("how much fat is in the honey bar", DIMENSION_FAT, fat);
    static const char alone[] = "How much does the fat one cost?";
    assert_int_equal(demand_dimension_of(alone, strlen(alone)), DIMENSION_ANY);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_way_or_a_price_is_no_age),
        cmocka_unit_test(a_way_to_somewhere_is_no_height),
        cmocka_unit_test(a_speed_is_a_way_within_a_time),
        cmocka_unit_test(how_fast_something_is_is_a_speed_or_a_time),
        cmocka_unit_test(what_food_has_in_it_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
