/* Bounds that a text states for amounts, and which row, item or sentence an amount falls within. */
#include "tests/test.h"

#include <math.h>

#include "kernels/buf.h"
#include "retrieval/answer/tiers.h"
#include "retrieval/values/value_bounds.h"
#include "tests/retrieval/text/lexicon_fixture.h"

static void bounds_hold_amounts_of_their_kind(void **state) {
    (void)state;
    enum { OTHER, OUT, IN };
    static const struct {
        const char *asked, *text;
        int fit;
    } cases[] = {
        {"What does a 7 kg parcel cost?", "up to 10 kg", IN},
        {"What does a 7 kg parcel cost?", "up to 5 kg", OUT},
        {"What does a 700 g parcel cost?", "Weight up to 2 kg", IN},
        {"What does a 7 kg parcel cost?", "up to 10 km", OTHER},
        {"What does a 7 kg parcel cost?", "10 kg", OTHER},
        {"May we cancel four days before arrival?", "Up to 7 days before arrival: free", OUT},
        {"May we cancel 8 days before arrival?", "Up to 7 days before arrival: free", IN},
        {"May we cancel a week before?", "until seven days before the course", IN},
        {"May we cancel four days before arrival?", "6 to 2 days before arrival: half", IN},
        {"May we cancel one day before arrival?", "less than 2 days before arrival", IN},
        {"May we cancel two days before arrival?", "less than 2 days before arrival", OUT},
        {"May we cancel four days before arrival?", "stays of up to 7 days", OTHER},
        {"What do I pay for my 9-year-old?",
         "Children (4\xE2\x80\x93"
         "12)",
         IN},
        {"What do I pay for my 3 year old?", "Children (4-12)", OUT},
        {"My son is 6, does he pay?", "Children under 6 are free", OUT},
        {"I am aged 65, what is the fare?", "Seniors 65+ pay half", IN},
        {"What does a ticket cost for someone 17 years old?", "18 and over", OUT},
        {"What does a ticket cost for someone 18 years old?", "from 18 years", IN},
        {"Which rebate has who ships 300 parcels a month?", "from 200 parcels a month: 14%", IN},
        {"Which rebate has who ships 1,300 parcels a month?", "from 1,000 parcels a month", IN},
        {"Which rebate has who ships 300 parcels a month?", "from 200 pallets a month: 14%", OTHER},
        {"I'm 70, what do I pay?", "to 64", OUT},
        {"I'm 70, what do I pay?", "Age: 65 to 74", IN},
        {"What does an 8 month old baby pay?", "6 to 11 months", IN},
        {"What does an 8 month old baby pay?", "from 8 months", IN},
        {"What does an 8 month old baby pay?", "1 to 3 years", OUT},
        {"What does an 8 month old baby pay?", "Children under 2 are free", IN},
        {"What does an 18-month-old pay?", "1 to 3 years", IN},
        {"What does a five year old pay?", "4 to 6 years", IN},
        {"What does a ten-year-old pay?", "Children 4-15", IN},
        {"What does a ten-year-old pay?", "4 to 6 years", OUT},
        {"What does a one-year-old pay?", "under 12s", IN},
        {"What does a thirteen-year-old pay?", "under-12s pay half", OUT},
        {"What does a sixty-five year old pay?", "over 65", OUT},
        {"What does a sixty-five year old pay?", "65+", IN},
        {"What does a sixty-six year old pay?", "Over-65s pay half", IN},
        {"What does a thirty year old pay?", "16-64", IN},
        {"What does someone aged 70 pay?", "65 and up", IN},
        {"What does someone aged 70 pay?", "65 plus", IN},
        {"What does a child of nine pay?", "4 to 12", IN},
        {"What does a child of nine pay?", "up to 45 minutes", OTHER},
        {"What does a child of 9 pay?", "4 to 6", OUT},
        {"Is 5 s fast?", "under 12s", IN},
        {"Is there a locker for a bag 30 cm wide?", "Width up to: 35 cm", IN},
        {"Is there a locker for a bag 30 cm wide?", "Length up to: 35 cm", OTHER},
        {"Is there a locker for a bag 30 cm in width?", "up to 20 cm wide", OUT},
        {"Is there a locker for a bag of 30 cm?", "Length up to: 35 cm", IN},
        {"How much for 20 people?", "next to 30 people", OTHER},
        {"How much for 20 people?", "more than 20 people", OUT},
        {"How much for 20 people?", "between 10 and 20 people", IN},
        {"How much for 20 people?", "open from 9:00 to 20:00", OTHER},
        {"How much for 20 people?", "from 12 May to 20 June, 2020 to 2024", OTHER},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        value_bound amounts[VALUE_BOUNDS_MAX], bounds[VALUE_BOUNDS_MAX];
        const size_t n = value_amounts_in(cases[i].asked, strlen(cases[i].asked), amounts);
        const size_t m = value_bounds_in(cases[i].text, strlen(cases[i].text), bounds);
        int fit = OTHER;
        if (n != 1) fail_msg("%zu amounts in %s", n, cases[i].asked);
        for (size_t k = 0; k < m; k++)
            if (value_bound_is_for(&bounds[k], amounts))
                fit = value_bound_holds(&bounds[k], amounts) ? IN : OUT;
        if (fit != cases[i].fit)
            fail_msg("%s | %s: %d (%zu bounds)", cases[i].asked, cases[i].text, fit, m);
    }
}

/* "5 days" is met by a row of five days, and by a bound that holds it. */
static void an_amount_is_met_by_itself_too(void **state) {
    (void)state;
    static const char asked[] = "What does it cost to rent a bike for 5 days?";
    static const struct {
        const char *text;
        bool met;
    } cases[] = {
        {"5 days | 60 EUR | 120 EUR", true},
        {"3 days | 40 EUR", false},
        {"1 day 15, 3 days 40, 5 days 60", true},
        {"up to 7 days", true},
        {"over 3 days: by agreement", true},
        {"less than 5 days", false},
        {"5 people", false},
        {"", false},
    };
    value_bound amounts[VALUE_BOUNDS_MAX];
    assert_int_equal(value_amounts_in(asked, strlen(asked), amounts), 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (value_amount_is_met(cases[i].text, strlen(cases[i].text), amounts) != cases[i].met)
            fail_msg("%s", cases[i].text);
}

static void what_has_no_kind_of_its_own_is_no_amount(void **state) {
    (void)state;
    static const char *const none[] = {"Does a case of 50 x 30 cm fit?", "for forty-five",
                                       "a year"};
    value_bound amounts[VALUE_BOUNDS_MAX];
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (value_amounts_in(none[i], strlen(none[i]), amounts)) fail_msg("%s", none[i]);
}

static void the_closest_bound_is_the_one(void **state) {
    (void)state;
    static const char *const from_far[] = {"from 50",   "from 200",   "over 250", "up to 900",
                                           "up to 400", "200 to 350", "280-320"};
    value_bound last = {0};
    for (size_t i = 0; i < sizeof from_far / sizeof *from_far; i++) {
        value_bound b[VALUE_BOUNDS_MAX];
        assert_int_equal(value_bounds_in(from_far[i], strlen(from_far[i]), b), 1);
        if (i && (isfinite(b->low) || isfinite(last.high)) && i != 3) {
            assert_true(value_bound_is_closer(b, &last));
            assert_false(value_bound_is_closer(&last, b));
        }
        last = *b;
    }
}

static void read_set(candidate_set *set, const char *asked, const char *text) {
    fo_err err = {0};
    const passage p = {text,  strlen(text), "Tariff", .9f,  .8f,  9,
                       false, false,        0,        NULL, true, NULL};
    const extractive_input in = {.question = asked, .passages = &p, .n_passages = 1, .lx = &lx};
    *set = (candidate_set){0};
    assert_ok(candidate_set_read(set, &in, &err), &err);
}

/* The one unit that is not set apart has that text. */
static void assert_spared(const char *asked, const char *text, const char *spared) {
    candidate_set set;
    read_set(&set, asked, text);
    size_t n = 0;
    for (size_t i = 0; i < set.n; i++) {
        const candidate *c = &set.c[i];
        if (c->f[CAND_OTHER_THING] > 0) continue;
        n++;
        if (!memmem(text + c->start, c->end - c->start, spared, strlen(spared)))
            fail_msg("%s: %.*s", asked, (int)(c->end - c->start), text + c->start);
    }
    if (n != 1) fail_msg("%s: %zu spared", asked, n);
    candidate_set_deinit(&set);
}

/* The units that answer by their bounds, as "text of the unit that holds"; NULL: none does. */
static void assert_tier(const char *asked, const char *text, const char *holds, size_t n_apart) {
    candidate_set set;
    read_set(&set, asked, text);
    size_t apart = 0, held = 0;
    for (size_t i = 0; i < set.n; i++) {
        const candidate *c = &set.c[i];
        apart += c->f[CAND_OTHER_THING] > 0;
        if (!c->tier_holds) continue;
        held++;
        if (!holds || !memmem(text + c->start, c->end - c->start, holds, strlen(holds)))
            fail_msg("%s: %.*s", asked, (int)(c->end - c->start), text + c->start);
    }
    if (held != (holds != NULL) || apart != n_apart)
        fail_msg("%s: %zu, %zu apart", asked, held, apart);
    candidate_set_deinit(&set);
}

static void an_amount_falls_within_a_row_an_item_or_a_sentence(void **state) {
    (void)state;
    static const char rows[] =
        "Weight up to | Economy | Express\n2 kg | 4.20 | 11.50\n5 kg | 5.60 | 14.80\n"
        "10 kg | 7.90 | 19.60\n\nInsurance costs 2 a parcel.";
    assert_tier("What does a 7 kg parcel cost by express?", rows, "10 kg", 2);
    assert_tier("What does a 5 kg parcel cost by express?", rows, "5 kg", 2);
    assert_tier("What does a 40 kg parcel cost by express?", rows, NULL, 5);
    assert_tier("Do you take a 40 kg parcel?", rows, NULL, 0);
    assert_tier("What does a parcel cost by express?", rows, NULL, 0);
    static const char columns[] =
        "Days before departure | Flights | Cruises\nmore than 60 | 15% | 20%\n60 to 31 | 25% | "
        "35%\n"
        "30 to 15 | 45% | 60%\n14 to 7 | 65% | 75%\nless than 7 | 80% | 90%";
    assert_tier("What share is lost who cancels a cruise 20 days before departure?", columns,
                "30 to 15", 4);
    assert_tier("What share is lost who cancels a cruise 90 days before departure?", columns,
                "more than 60", 4);
    assert_tier("What share is lost who cancels a cruise 3 days before departure?", columns,
                "less than 7", 4);
    static const char items[] =
        "Calling off a stay:\n\n- Up to 7 days before arrival: free of charge.\n"
        "- 6 to 2 days before arrival: half of the first night.\n"
        "- Later, or without word: the first night.\n";
    assert_tier("What does it cost to call off four days before arrival?", items, "half", 1);
    assert_tier("What does it cost to call off nine days before arrival?", items, "free", 1);
    static const char headed[] =
        "Cancelling\n\n- Up to 7 days before arrival: free of charge.\n"
        "- 6 to 2 days before arrival: half of the first night.\n"
        "- Later than that, or if you do not come: the whole first night.\n\nBookings at "
        "the \"Saver\" rate cannot be cancelled.";
    assert_tier("What does it cost to cancel a hotel booking four days before arrival?", headed,
                "half", 1);
    static const char sentences[] =
        "Children under 6 travel free. Children from 6 to 15 pay half. Dogs pay half.";
    assert_tier("What does my 8-year-old pay?", sentences, "6 to 15", 1);
    assert_tier("What does my 3-year-old pay?", sentences, "under 6", 1);
}

static void an_amount_falls_within_a_row_that_is_called_so(void **state) {
    (void)state;
    static const char shots[] =
        "Vaccine | Who | How often\nTetanus | all | every 20 years up to 65, "
        "every 10 years after\nInfluenza | over 65, nurses | each year\n"
        "Shingles | over 65 | once";
    assert_tier("How often does a 70 year old need a tetanus vaccine?", shots, NULL, 2);
}

static void an_age_is_not_that_of_others(void **state) {
    (void)state;
    static const char leaflet[] =
        "Who | One dose | Most in 24 hours\nAdults | 1 tablet | 3 tablets\n"
        "Children 8 to 11 years | half a tablet | 1 tablet\n"
        "People over 70 | half a tablet | 2 tablets\n\n"
        "Leave six hours between doses. Children under 8 years must not "
        "take it.";
    assert_tier("How much does a 75 year old take in 24 hours?", leaflet, "over 70", 3);
    assert_tier("How much may somebody take who is 75?", leaflet, "over 70", 2);
}

/* All of them have to be held, and no amount undoes what another has set apart. */
static void two_amounts_fall_within_one_row(void **state) {
    (void)state;
    static const char lockers[] = "Locker | Length up to | Width up to | Price\n"
                                  "Small | 35 cm | 35 cm | 3 EUR\nMedium | 60 cm | 40 cm | 5 EUR\n"
                                  "Large | 120 cm | 60 cm | 8 EUR";
    assert_tier("Which locker do I need for a bag 50 cm long and 30 cm wide?", lockers, "Medium",
                2);
    assert_tier("Which locker do I need for a bag 30 cm wide and 50 cm long?", lockers, "Medium",
                2);
    assert_tier("Which locker do I need for a bag 30 cm wide and 90 cm long?", lockers, "Large", 2);
    assert_tier("What costs a locker for a bag 150 cm long and 30 cm wide?", lockers, NULL, 4);
    assert_tier("Which locker do I need for a bag of 50 cm and 30 cm?", lockers, NULL, 0);
    assert_tier("Which locker do I need for a bag of 50 x 30 cm?", lockers, NULL, 0);
    static const char in_name[] = "Locker | Length up to (cm) | Width up to (cm) | Price\n"
                                  "Small | 35 | 35 | 3\nMedium | 60 | 40 | 5\nLarge | 120 | 60 | 8";
    assert_tier("Which locker do I need for a bag 50 cm long and 30 cm wide?", in_name, "Medium",
                2);
    static const char courier[] = "Weight up to | Distance up to | Price\n5 kg | 100 km | 8 EUR\n"
                                  "5 kg | 500 km | 12 EUR\n10 kg | 100 km | 10 EUR\n"
                                  "10 kg | 500 km | 15 EUR";
    assert_tier("Which courier price applies to 4 kg and 120 km?", courier, "12 EUR", 3);
    assert_tier("Which courier price applies to 120 km and 4 kg?", courier, "12 EUR", 3);
    assert_tier("Which courier price applies to 7 kg and 90 km?", courier, "10 EUR", 3);
    assert_tier("Which courier price applies to 7 kg and 900 km?", courier, NULL, 0);
    assert_tier("What is the price of 7 kg over 900 km?", courier, NULL, 5);
}

static void what_speaks_of_the_amount_itself_is_not_set_apart(void **state) {
    (void)state;
    static const char bikes[] = "Rental | Price | Deposit\n1 day | 15 EUR | 50 EUR\n"
                                "3 days | 40 EUR | 80 EUR\n5 days | 60 EUR | 120 EUR\n\n"
                                "Late return | Fee\nup to 1 day | 10 EUR\nup to 2 days | 25 EUR";
    assert_tier("What does it cost to rent a bike for 5 days?", bikes, NULL, 6);
    assert_spared("What does it cost to rent a bike for 5 days?", bikes, "5 days");
    static const char parcels[] = "Weight up to | Price\n2 kg | 4.20 EUR\n10 kg | 7.90 EUR\n"
                                  "30 kg | 19.60 EUR\n\nA parcel over 30 kg goes by freight and "
                                  "costs 40.00 EUR. Insurance costs 2 EUR a parcel.";
    assert_tier("What does a parcel of 35 kg cost?", parcels, NULL, 5);
    assert_spared("What does a parcel of 35 kg cost?", parcels, "by freight");
}

/* The cell that is read has room for the unit of its column, or is not read. */
static void a_column_with_a_long_name_is_left_out(void **state) {
    (void)state;
    for (int n = 200; n <= 244; n += 44) {
        fo_buf text = {0};
        fo_buf_str(&text, "Days before departure");
        while (text.len < (size_t)n) fo_buf_char(&text, 'x');
        fo_buf_str(&text, " | Share\n30 to 15 | 40 %\n14 to 5 | 60 %\n4 to 1 | 80 %\n");
        fo_buf_char(&text, 0);
        assert_tier("What do we pay 10 days before departure?", text.data,
                    n == 200 ? "14 to 5" : NULL, n == 200 ? 2 : 0);
        fo_buf_free(&text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_hold_amounts_of_their_kind),
        cmocka_unit_test(an_amount_is_met_by_itself_too),
        cmocka_unit_test(what_has_no_kind_of_its_own_is_no_amount),
        cmocka_unit_test(the_closest_bound_is_the_one),
        cmocka_unit_test(an_amount_falls_within_a_row_an_item_or_a_sentence),
        cmocka_unit_test(an_amount_falls_within_a_row_that_is_called_so),
        cmocka_unit_test(an_age_is_not_that_of_others),
        cmocka_unit_test(two_amounts_fall_within_one_row),
        cmocka_unit_test(what_speaks_of_the_amount_itself_is_not_set_apart),
        cmocka_unit_test(a_column_with_a_long_name_is_left_out),
    };
    return cmocka_run_group_tests(tests, open_lexicon, close_lexicon);
}
