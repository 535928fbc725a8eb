/* demands_test.c - what a question demands beyond its words: an amount of a kind, a day, a place. */
#include "tests/test.h"

#include <string.h>

#include "retrieval/question/demand_days.h"
#include "retrieval/question/demand_counts.h"
#include "retrieval/question/demands.h"

static demands asked(const char *question) {
    return demands_read(question, strlen(question), -1);
}

static void the_kind_of_amount_is_told(void **state) {
    (void)state;
    static const struct {
        const char *question;
        enum demand_amount amount;
    } cases[] = {
        {"What does a ticket cost?", AMOUNT_EXPENSE},
        {"What is the price of a bicycle?", AMOUNT_MONEY},
        {"How expensive is it?", AMOUNT_MONEY},
        {"What do children pay?", AMOUNT_MONEY},
        {"What do I owe if I cancel too late?", AMOUNT_MONEY},
        {"How much is the yearly rent?", AMOUNT_MONEY},
        {"how much are they", AMOUNT_MONEY},
        {"How much is it?", AMOUNT_MONEY},
        {"How heavy is the outdoor unit?", AMOUNT_WEIGHT},
        {"How loud is the dishwasher?", AMOUNT_LOUDNESS},
        {"How much does the trailer weigh?", AMOUNT_WEIGHT},
        {"What is the weight of the boat?", AMOUNT_WEIGHT},
        {"How warm is the pool?", AMOUNT_TEMPERATURE},
        {"At what temperature does it freeze?", AMOUNT_TEMPERATURE},
        {"How many boats are there?", AMOUNT_ANY},
        {"How far is it to the quay?", AMOUNT_ANY},
        {"How long does the starter keep?", AMOUNT_LONG},
        {"What is the deposit?", AMOUNT_MONEY},
        {"What's the deposit?", AMOUNT_MONEY},
        {"How big can a file get?", AMOUNT_ANY},
        {"From what size is it a large parcel?", AMOUNT_ANY},
        {"From what percentage of full is it charged?", AMOUNT_ANY},
        {"How big a dog may ride the bus?", AMOUNT_NONE},
        {"What port does the server listen on?", AMOUNT_ANY},
        {"default port of the server", AMOUNT_ANY},
        {"What is its standard port?", AMOUNT_ANY},
        {"the port is closed by default", AMOUNT_NONE},
        {"Which ports do I need to open for it?", AMOUNT_ANY},
        {"Which ports have to be forwarded?", AMOUNT_ANY},
        {"What is the maximum number of columns in a table?", AMOUNT_ANY},
        {"What's the largest number of seats?", AMOUNT_ANY},
        {"How often is the boiler serviced?", AMOUNT_OFTEN},
        {"how often does it look for mail?", AMOUNT_OFTEN},
        {"What's the most I get for a stolen coat?", AMOUNT_ANY},
        {"How much of the cost do we pay?", AMOUNT_ANY}, /* a share, too */
        {"What is the tax rate for an income of 30,000?", AMOUNT_SHARE},
        {"Which interest rate do I get?", AMOUNT_SHARE},
        {"What is the student rate?", AMOUNT_NONE},
        {"What is the birth rate?", AMOUNT_NONE}, /* "11 per 1,000", "nine out of ten" */
        {"How high do I hang it where children play?", AMOUNT_NONE}, /* "at eye level" */
        {"How warm must it be when I wash wool?", AMOUNT_NONE},
        {"How old is the peat where it is 6.4 m thick?", AMOUNT_ANY},
        /* a way, a person, a time, a reason, no question at all */
        {"How do I pay the fee?", AMOUNT_NONE},
        {"How can the price be changed?", AMOUNT_NONE},
        {"Who pays for the demo?", AMOUNT_NONE},
        {"When is the rent due?", AMOUNT_NONE},
        {"Why is the price so high?", AMOUNT_NONE},
        {"price list", AMOUNT_NONE},
        {"What name did the illness have for the loss of weight?", AMOUNT_NONE},
        {"What were the charges against him?", AMOUNT_NONE},
        {"What size is the shirt?", AMOUNT_NONE},
        {"What port does the ferry leave from?", AMOUNT_NONE},
        {"Which ports are open in winter?", AMOUNT_NONE},
        {"What is the number on the door?", AMOUNT_NONE},
        {"What's the most popular room?", AMOUNT_NONE},
        {"What is the temperature called at which it melts?", AMOUNT_NONE},
        {"Where is the temperature shown?", AMOUNT_NONE},
        {"", AMOUNT_NONE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        demands d = asked(cases[i].question);
        if (d.amount != cases[i].amount)
            fail_msg("%s: %d, not %d", cases[i].question, d.amount, cases[i].amount);
    }
}

static void how_often_is_said_by_a_number_or_a_word(void **state) {
    (void)state;
    static const struct {
        const char *text;
        enum amount_stated said;
    } cases[] = {
        {"The boiler is serviced every two years.", AMOUNT_STATED},
        {"Serviced annually", AMOUNT_STATED},
        {"Rinse the filter after use.", AMOUNT_STATED},
        {"On Mondays the bins are emptied.", AMOUNT_STATED},
        {"reload-time 60", AMOUNT_STATED},
        {"Clean it when the red lamp shines.", AMOUNT_PERHAPS},
        {"The boiler is serviced by a fitter.", AMOUNT_NOT_STATED},
        {"When checks are on, this says how often (in seconds) counts are taken.",
         AMOUNT_NOT_STATED},
        {"Reloads all feeds, for who wants to reload without always having it run.",
         AMOUNT_NOT_STATED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *s = cases[i].text;
        if (demand_amount_in(AMOUNT_OFTEN, s, strlen(s)) != cases[i].said) fail_msg("%s", s);
    }
}

static void an_amount_of_another_kind_is_none(void **state) {
    (void)state;
    static const struct {
        const char *question, *text;
        bool in;
    } cases[] = {
        {"What is the price?", "It is 40 cm wide.", false},
        {"What is the price?", "It is \xE2\x82\xAC 40.", true},
        {"What is the price?", "Children go free.", true},
        {"What is the price?", "A along the bank, 2.1 km, 1.4 million.", true},
        {"What is the price?", "The bank of millions is 2.1 km off.", false},
        {"What is the price?", "It is free of charge.", true},
        {"What is the price?", "40 cm of free space", false},
        {"What is the price?", "Year ago: 1.8520; last week: 2.8540", true},
        {"What is the price?", "until it shows 1.5 bar", false},
        {"What is the price?", "as of 24.02.2017", false},
        {"What is the price?", "twelve crowns a day", true},
        {"What does it cost?", "A late return costs 25 florins for each month begun.", true},
        {"What is the price?", "$5", true},
        {"What is the price?", "120 kr", true},
        {"What is the price?", "kr 120 kg", true},
        {"What is the price?", "the old kr sign", false},
        {"What is the price?", "40 PLN", true},
        {"What is the price?", "40 z\xC5\x82 on board", true},
        {"What is the price?", "900 K\xC4\x8D on board", true},
        {"What is the price?", "3 000 HUF on board", true},
        {"What is the price?", "CAD 25 on board", true},
        {"What is the price?", "25 mm, drawn with CAD", false},
        {"What is the price?", "\xE2\x82\xB9 450 on board", true},
        {"What is the price?", "25 \xE2\x84\xA2 signs", false},
        {"How much sick pay do I get?", "It is the statutory amount only.", true},
        {"How much sick pay do I get?", "Sick days are unpaid.", true},
        {"How much sick pay do I get?", "Wages are paid in full for six weeks.", true},
        {"How much sick leave do I get?", "The statutory minimum.", true},
        {"How much do children pay?", "Children pay half.", true},
        {"How much do children pay?", "It is a third of the fare.", true},
        {"How much do classes pay?", "Fees by agreement.", true},
        {"How much do classes pay?", "They wait half an hour for the full bus.", false},
        {"How much do classes pay?", "The statutory term is over, in full swing.", false},
        {"What does it cost?", "It takes 5 seconds.", true}, /* a cost may be time */
        {"What does it cost?", "Hold the key for 5 seconds.", false},
        {"What does it cost?",
         "Below minus 20 \xC2\xB0"
         "C it stops.",
         false},
        {"What does it cost?", "It takes 12 % more.", true},
        {"What is the tax rate?", "At most 4,000 florins for each child.", false},
        {"What is the tax rate?", "It is 22 per cent.", true},
        {"What is the tax rate?", "It is a percentage of what was sold.", true},
        {"What is the tax rate?", "It is 22 %.", true},
        {"What is the interest rate?", "It is two points above that of the bank.", true},
        {"What is the VAT rate?", "Food is zero-rated for VAT.", true},
        {"What is the tax rate?", "The tourist tax rate is 2 euros a night.", true},
        {"How many are there?", "(30) hymn books are in the cupboard.", true},
        {"How many are there?", "(2) It does not apply to dogs of the police.", false},
        {"How many are there?", "2. There are dogs.", false},
        {"How many are there?", "(2) There are 3 dogs.", true},
        {"How heavy is it?", "It needs 40 cm on every side.", false},
        {"How heavy is it?", "It weighs 85 kg.", true},
        {"How heavy is it?", "It weighs 85\xC2\xA0kg.", true}, /* a no-break space */
        {"How heavy is it?", "two tonnes", true},
        {"How heavy is it?", "up to 23 kgs", true},
        {"How heavy is it?", "a ton of work", false},
        {"How warm is it?", "The pool opens at 10.", false},
        {"How warm is it?",
         "25 \xC2\xB0"
         "C",
         true},
        {"How many are there?", "There are boats.", false},
        {"How many are there?", "There are three boats.", true},
        {"How long does it keep?", "Take 30 g away and keep them in the fridge.", false},
        {"How long does it keep?", "It keeps for two weeks.", true},
        {"How long does it keep?", "until Easter", true},
        {"How long does it keep?", "It keeps until 6 December.", true},
        {"How long does it run?", "It runs on 6 December.", false},
        {"How long is Winter Guests?", "Audio description: Winter Guests on 6 December.", false},
        {"How long does it run?", "It runs all winter.", true},
        {"How long does it take?", "Duration: 29 min", true},
        {"How long was the war?", "It was fought from 1914 to 1918.", true},
        {"How long was the war?", "It broke out in 1914.", false},
        {"How long is the office open?", "9:00 to 12:00", true},
        {"How long is it?", "4 m", true},
        {"How long is it?", "m for metres", true},
        {"How long is it?", "Channel 4", false},
        {"Where is it?", "", true}, /* nothing demanded, nothing lacks */
        {"How many are there?", "", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        demands d = asked(cases[i].question);
        if ((demand_amount_in(d.amount, cases[i].text, strlen(cases[i].text)) == AMOUNT_STATED) !=
            cases[i].in)
            fail_msg("%s: %s", cases[i].question, cases[i].text);
    }
    assert_true(demand_amount_column_in(AMOUNT_SHARE, "Percentage", 10));
    assert_false(demand_amount_column_in(AMOUNT_SHARE, "Bottles", 7));
}

static void another_day_is_told_apart(void **state) {
    (void)state;
    static const struct {
        const char *question, *text;
        enum demand_day day;
    } cases[] = {
        {"When is it open on Sunday?", "Sunday: closed", DAY_MET},
        {"When is it open on Sunday?", "It is closed on Sundays.", DAY_MET},
        {"When is it open on Sunday?", "Monday to Friday, 10 to 18", DAY_OTHER},
        {"When is it open on Wednesday?", "Monday to Friday, 10 to 18", DAY_MET},
        {"When is it open on Wednesday?",
         "Mon\xE2\x80\x93"
         "Fri: 10 to 18",
         DAY_MET},
        {"When is it open on Wednesday?", "Mon-Fri", DAY_MET},
        {"When is it open on Wednesday?", "Monday and Friday", DAY_OTHER},
        {"When is it open on Sunday?", "Friday to Monday", DAY_MET}, /* over the week's end */
        {"When is it open on Tuesday?", "Friday to Monday", DAY_OTHER},
        {"When is it open on Sunday?", "daily from 8", DAY_MET},
        {"When is it open on Sunday?", "every day but Monday", DAY_MET},
        {"When is it open on Sunday?", "on weekdays", DAY_OTHER},
        {"When is it open at the weekend?", "Saturday: 10 to 14", DAY_MET},
        {"When is it open on Sunday?", "The cat sat in the sun.", DAY_NOT_SAID},
        {"When is it open on Sunday?", "from 10 to 18", DAY_NOT_SAID},
        /* a column of its own at a line's beginning */
        {"When is it open on Sunday?", "Sun      closed", DAY_MET},
        {"When is it open on Sunday?", "Sun\tclosed", DAY_MET},
        {"When is it open on Sunday?", "Sat      10:00-14:00\nSun\nclosed", DAY_MET},
        {"When is it open on Monday?", "Sun      closed", DAY_OTHER},
        {"When is it open on Sunday?", "Sun and rain, in the  Sun  too", DAY_NOT_SAID},
        {"When is it open on Sunday?",
         "Sat, Sun | 9:30\xE2\x80\x93"
         "12:00",
         DAY_MET},
        {"Can I come on Sunday?", "Only on Saturdays.", DAY_NOT_SAID}, /* that is an answer */
        {"She was ill, can she come on Sunday?", "Only on Saturdays.", DAY_NOT_SAID},
        {"Can I come on Sunday?", "Sundays from 9", DAY_MET},
        {"When is it open?", "Sunday: closed", DAY_NOT_SAID}, /* no day is demanded */
        {"When is it open daily?", "Monday to Friday", DAY_NOT_SAID},
        {"When is it open on Tuesday?", "Monday from 9, all other days from 10", DAY_MET},
        {"When is it open on Wednesday?", "between Monday and Friday", DAY_MET},
        {"When is it open on Sunday?", "between Monday and Friday", DAY_OTHER},
        {"When is it open on Sunday?", "Quiet hours run from Friday evening until Monday morning",
         DAY_MET},
        {"When is it open on Wednesday?",
         "Quiet hours run from Friday evening until Monday morning", DAY_OTHER},
        {"When is it open on Wednesday?", "from Monday 8:00 to Friday 17:00", DAY_MET},
        {"When is it open on Saturday?", "from Monday 8:00 to Friday 17:00", DAY_OTHER},
        {"When is it open on Wednesday?", "Monday 8:00 to 17:00, Friday 8:00 to 12:00", DAY_OTHER},
        {"When is it open on Wednesday?", "Mon 8-17 Fri 8-12", DAY_OTHER},
        {"When is it open on Wednesday?", "between Monday and Tuesday and on Friday", DAY_OTHER},
        {"When is it open on Saturday?", "From Thursday on it is open until nine", DAY_NOT_SAID},
        {"When is it open on Saturday?", "Closed until Thursday", DAY_NOT_SAID},
        {"When is it open on Saturday?", "Thursdays onwards", DAY_NOT_SAID},
        {"When is it open on Saturday?", "open from 10:00 Thursday", DAY_OTHER},
        {"When is it open on Saturday?", "open until 18:00 on Thursday", DAY_OTHER},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        demands d = asked(cases[i].question);
        enum demand_day got = demands_day_in(&d, cases[i].text, strlen(cases[i].text));
        if (got != cases[i].day)
            fail_msg("%s in '%s': %d, not %d", cases[i].question, cases[i].text, got, cases[i].day);
    }
}

static void another_month_is_told_apart(void **state) {
    (void)state;
    static const struct {
        const char *question, *text;
        enum demand_day month;
    } cases[] = {
        {"When is the meeting in December?", "Next meeting: 11 November", DAY_OTHER},
        {"When is the meeting in December?", "It is on 4 December.", DAY_MET},
        {"When is the meeting in december?", "It is at noon.", DAY_NOT_SAID},
        {"What is allowed in January?", "from 1 November to 31 March", DAY_MET},
        {"What is allowed in January?", "from 1 November until the end of March", DAY_MET},
        {"What is allowed in May?", "from 1 November to 31 March", DAY_OTHER},
        {"What is allowed in July?", "April\xE2\x80\x93September", DAY_MET},
        {"What is allowed in July?", "In April it may rain, and in September", DAY_OTHER},
        {"What is allowed in July?", "You may march on.", DAY_NOT_SAID},
        {"What is allowed in July?", "in June, July and August until 8.30 pm", DAY_MET},
        {"What is allowed in May?", "in April, May or June", DAY_MET},
        {"What is allowed in June?", "July and August: until nine", DAY_OTHER},
        {"What is allowed in June?", "April/May/June", DAY_MET},
        {"When must I be back in November?", "18:30 from April to May, 17:00 in the other months",
         DAY_MET},
        {"When must I be back in November?", "18:30 in May, for the rest of the year 17:00",
         DAY_MET},
        {"When must I be back in November?", "18:30 in May, for the rest of us 17:00", DAY_OTHER},
        {"When is it open in July?", "from the first Sunday in April to the last Sunday in October",
         DAY_MET},
        {"When is it open in March?",
         "from the first Sunday in April to the last Sunday in October", DAY_OTHER},
        {"When is it open in July?", "between April and October", DAY_MET},
        {"When is it open in July?", "between 1 April and 31 October", DAY_MET},
        {"When is it open in March?", "between December and April", DAY_MET},
        {"When is it open in July?", "between December and April", DAY_OTHER},
        {"When is it open in July?", "from April 1, 2024 to March 31, 2025", DAY_MET},
        {"When is it open in July?", "From 1 May the pool is open until 20:00", DAY_NOT_SAID},
        {"When is it open in August?", "from June on", DAY_NOT_SAID},
        {"When is it open in August?", "June onwards", DAY_NOT_SAID},
        {"When is it open in August?", "closed until 12 May", DAY_NOT_SAID},
        {"When is it open in August?", "closed from 9 to 12 May", DAY_OTHER},
        {"When is it open in August?", "from 9 in May", DAY_OTHER},
        {"When is it open in August?", "until 8.30 pm in May, until nine in June", DAY_OTHER},
        {"When is it open in November?", "in the winter term, from October to Christmas", DAY_MET},
        {"When is it open in July?", "in the winter term, from October to Christmas", DAY_OTHER},
        {"When is it open in July?", "from May to New Year", DAY_MET},
        {"When is it open in July?", "from Easter to October", DAY_NOT_SAID},
        {"When is it open in July?", "from October to Easter", DAY_NOT_SAID},
        {"When is it open in July?", "between Easter and October", DAY_NOT_SAID},
        {"When is it open in July?", "in October and at Easter", DAY_OTHER},
        {"Is it allowed in July?", "Only in May.", DAY_NOT_SAID},
        {"What may I do?", "Only in May.", DAY_NOT_SAID},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        demands d = asked(cases[i].question);
        enum demand_day got = demands_month_in(&d, cases[i].text, strlen(cases[i].text));
        if (got != cases[i].month)
            fail_msg("%s in '%s': %d, not %d", cases[i].question, cases[i].text, got,
                     cases[i].month);
    }
}

/* Prices are seldom said with what they are in. */
static void a_price_may_be_a_number_alone(void **state) {
    (void)state;
    static const struct {
        const char *text;
        enum amount_stated stated;
    } cases[] = {
        {"Fee 32 a year, couples 48", AMOUNT_STATED},
        {"Padaria Zulmira, Rua do Forno 8, Covas", AMOUNT_NOT_STATED},
        {"Adults 12, Children 5.", AMOUNT_STATED},
        {"Dogs 5, prams free, bicycles only to halfway (7).", AMOUNT_STATED},
        {"Visitors pay 7, children 3, members nothing.", AMOUNT_STATED},
        {"Late return: 5 for each quarter of an hour.", AMOUNT_PERHAPS},
        {"Whose engine does not start is towed, 60.", AMOUNT_PERHAPS},
        {"Free from 15.", AMOUNT_STATED},
        {"| Under 12 | with an adult | free |", AMOUNT_STATED},
        {"Free keys may make 100 requests.", AMOUNT_NOT_STATED},
        {"Open from 9 to 13, room 4.", AMOUNT_NOT_STATED},
        {"9. Opening hours are 9:00\xE2\x80\x93"
         "13:30.",
         AMOUNT_NOT_STATED},
        {"It was built in 1904.", AMOUNT_NOT_STATED},
        {"One of them pays.", AMOUNT_NOT_STATED},
        {"A pack holds 10, 20 or 50 tablets; 50 on prescription only.", AMOUNT_NOT_STATED},
        {"Dogs 5, prams 3, bicycles 12.", AMOUNT_PERHAPS},
        {":5", AMOUNT_PERHAPS},
        {"Holm audits us for 2024 and 2025 in place of Berg.", AMOUNT_NOT_STATED},
        {"The fee had risen by a third.", AMOUNT_NOT_STATED},
        {"The fee is a third.", AMOUNT_STATED},
        {"A ticket for 2500 in cash.", AMOUNT_STATED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        enum amount_stated got =
            demand_amount_in(AMOUNT_MONEY, cases[i].text, strlen(cases[i].text));
        if (got != cases[i].stated)
            fail_msg("'%s': %d, not %d", cases[i].text, got, cases[i].stated);
    }
}

/* Every cut of a text with signs of several bytes, so that none is read beyond the end. */
static void any_bytes_are_taken(void **state) {
    (void)state;
    const char text[] =
        "Mon\xE2\x80\x93 Fri\xC2\xA0\xE2\x82\xAC 5\xE2\x80\xAF\xC2\xB0 1.2,\xFF\xE2";
    for (size_t n = 0; n < sizeof text; n++) {
        char *exact = test_malloc(n + 1);
        memcpy(exact, text, n);
        demands d = demands_read(exact, n, -1);
        d.amount = AMOUNT_WEIGHT;
        d.days = 1;
        d.place = true;
        demand_amount_in(d.amount, exact, n);
        demands_day_in(&d, exact, n);
        demand_amount_column_in(d.amount, exact, n);
        demands_place_in(&d, exact, n);
        d.reason = true;
        demands_reason_in(&d, exact, n);
        for (int k = DETAIL_NONE; k <= DETAIL_LETTERS; k++)
            demand_detail_in((enum demand_detail)k, exact, n);
        demand_year_in(2022, exact, n);
        demand_date_in(exact, n);
        test_free(exact);
    }
}

/* "Weight: 62" is one; that 3 are in stock is none. */
static void a_column_may_say_of_what_kind_its_numbers_are(void **state) {
    (void)state;
    const demands heavy = asked("How heavy is the seat?"), hot = asked("How hot does it get?"),
                  many = asked("How many seats are left?");
    assert_true(demand_amount_column_in(heavy.amount, "Part: seat; Weight: 62", 22));
    assert_true(demand_amount_column_in(heavy.amount, "Bird | kg", 9));
    assert_false(demand_amount_column_in(heavy.amount, "Part: seat; In stock: 3", 23));
    assert_true(demand_amount_column_in(hot.amount, "Highest temperature | 900", 25));
    assert_false(demand_amount_column_in(hot.amount, "Part: seat; In stock: 3", 23));
    assert_true(demand_amount_column_in(many.amount, "Part: seat; In stock: 3", 23));
}

static void a_place_is_demanded_by_where_alone(void **state) {
    (void)state;
    const demands d = asked("Where are the models stored?");
    assert_true(d.place);
    assert_true(asked("where do I park?").place);
    assert_false(asked("Who knows where the key is?").place);
    static const char *const with[] = {"In the home folder.",
                                       "models/ holds them",
                                       "It lies behind the hut",
                                       "The keeper of Holm has them",
                                       "see ~ for more",
                                       "Not here.",
                                       "in the old hall on the second Sunday of May"};
    static const char *const without[] = {
        "Adding a model architecture, a file format, a store, a generator",
        "Models are large.",
        "",
        "Models, stored twice",
        "Four times a year: in March, June and on the second Sunday of Advent",
        "in 1998, at night"};
    for (size_t i = 0; i < sizeof with / sizeof *with; i++)
        assert_true(demands_place_in(&d, with[i], strlen(with[i])));
    for (size_t i = 0; i < sizeof without / sizeof *without; i++)
        assert_false(demands_place_in(&d, without[i], strlen(without[i])));
    const demands none = asked("What are the models?");
    assert_true(demands_place_in(&none, "Models are large.", 17));
}

static void a_reason_is_demanded_by_why(void **state) {
    (void)state;
    const demands d = asked("Why is desk 4 wet?");
    assert_true(d.reason);
    assert_true(asked("and why do they close?").reason);
    assert_true(asked("how come it is shut").reason);
    assert_false(asked("How do I come in?").reason);
    assert_false(asked("Who knows why?").reason);
    static const struct {
        const char *text;
        enum reason_given given;
    } cases[] = {{"The floor was cleaned, so keep out", REASON_GIVEN},
                 {"The roof broke after the storm", REASON_GIVEN},
                 {"It leaks.", REASON_PERHAPS},
                 {"Wet ones carry disease, which kills", REASON_PERHAPS},
                 {"Desk 4 stays shut.", REASON_NONE},
                 {"Not allowed in any row: weapons, live poultry.", REASON_NONE},
                 {"", REASON_NONE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(demands_reason_in(&d, cases[i].text, strlen(cases[i].text)),
                         cases[i].given);
    const demands none = asked("Is desk 4 wet?");
    assert_int_equal(demands_reason_in(&none, "Desk 4 stays shut.", 18), REASON_GIVEN);
}

static void another_office_is_told_apart(void **state) {
    (void)state;
    const demands d = asked("Who is the vice chair?");
    static const char *const with[] = {"Vice chair: P. Ngo", "The deputy chair is P. Ngo."};
    static const char *const without[] = {"Chair: R. Malik (again).", "",
                                          "Assistant to the chair: Bo"};
    for (size_t i = 0; i < sizeof with / sizeof *with; i++)
        assert_true(demands_rank_in(&d, with[i], strlen(with[i])));
    for (size_t i = 0; i < sizeof without / sizeof *without; i++)
        assert_false(demands_rank_in(&d, without[i], strlen(without[i])));
    const demands chair = asked("Who is the chair?"), what = asked("What does an assistant do?");
    assert_true(demands_rank_in(&chair, "Chair: R. Malik", 15));
    assert_true(demands_rank_in(&what, "She helps.", 10));
}

static void what_is_counted_is_found(void **state) {
    (void)state;
    static const struct {
        const char *question, *counted;
    } cases[] = {
        {"How many cranes were counted in spring?", "cranes"},
        {"how many winning teams are there?", "teams"},
        {"In 1990, how many cars did the town have?", "cars"},
        {"How many people are there?", NULL}, /* said as "inhabitants" as often */
        {"How many people fit in?", NULL},
        {"How many of the boats leak?", NULL},
        {"How many big old wooden boats leak?", NULL}, /* where the verb is cannot be told */
        {"How many boats", "boats"},
        {"What are cranes?", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const demands d = asked(cases[i].question);
        const char *at = cases[i].counted ? strstr(cases[i].question, cases[i].counted) : NULL;
        if (d.counted != (at ? (size_t)(at - cases[i].question) : 0))
            fail_msg("%s", cases[i].question);
    }
}

static void a_year_is_within_the_bounds_that_hold_it(void **state) {
    (void)state;
    static const struct {
        uint16_t year;
        const char *text;
        bool within;
    } cases[] = {
        {2010, "for dogs born before 1 July 2011", true},
        {2010, "for dogs born before 2011", true},
        {2022, "since 3 March 2019", true},
        {2022, "after 2019 and until 2024", true},
        {2011, "for dogs born before 1 July 2011", false}, /* it may be either */
        {2012, "for dogs born before 1 July 2011", false},
        {2022, "after 2019 and until 2021", false},
        {2010, "on 1 July 2011", false},
        {2010, "by 1 July 2011", false}, /* a day that something is due */
        {0, "before 2011", false},
        {2010, "", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (demand_year_is_bounded(cases[i].year, cases[i].text, strlen(cases[i].text)) !=
            cases[i].within)
            fail_msg("%u, %s", cases[i].year, cases[i].text);
}

static void another_year_is_told_apart(void **state) {
    (void)state;
    static const struct {
        const char *question;
        uint16_t year;
        const char *text;
        enum demand_year said;
    } cases[] = {
        {"What did a single cost in 2022?", 2022, "Fares of 2025: single 1.90", YEAR_OTHER},
        {"What did a single cost in 2022?", 2022, "Fares of 2022: single 1.80", YEAR_MET},
        {"What did a single cost in 2022?", 2022, "A single costs 1.90.", YEAR_NOT_SAID},
        {"Who won the season 2022/23?", 2022, "Table of 2024/25", YEAR_OTHER},
        {"What does the room cost in summer 2023?", 2023, "valid from 2021 to 2024", YEAR_NOT_SAID},
        {"Who was mayor in 2015?", 2015, "since 2012 Ida Berg", YEAR_NOT_SAID},
        {"Is a tattoo enough for a dog born in 2010?", 2010, "for dogs born before 1 July 2011",
         YEAR_NOT_SAID},
        {"Who was mayor in 2015?", 2015, "2012-2018 Ida Berg, 2019-2024 Pia Roth", YEAR_NOT_SAID},
        {"What happened in the 1840s?", 0, "in 1847", YEAR_NOT_SAID},
        {"Which release suits my 2015 tablet?", 0, "from 2017", YEAR_NOT_SAID},
        {"How far is it in 2000 steps?", 2000, "", YEAR_NOT_SAID},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint16_t year = asked(cases[i].question).year;
        const char *text = cases[i].text;
        if (year != cases[i].year || demand_year_in(year, text, strlen(text)) != cases[i].said)
            fail_msg("%s: %u, %s", cases[i].question, year, text);
    }
}

static void one_date_is_one_date(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int month, day;
    } cases[] = {
        {"Who is on call on Monday 17 March?", 3, 17},
        {"what happens on march 17th", 3, 17},
        {"on the 17th of March", 3, 17},
        {"2025-03-17", 3, 17},
        {"on 17.3.2025", 3, 17},
        {"on 17/03/2025", 3, 17},
        {"on 03/04/2025", 0, 0},
        {"am 17. M\xC3\xA4rz 2025", 3, 17},
        {"by 17.3.2025", 0, 0},
        {"17 March 2025 till May", 0, 0},
        {"17 March or 17 March", 0, 0},
        {"17 March, 18 March", 0, 0},
        {"from 17 March on", 0, 0},
        {"3 to 9 March", 0, 0},
        {"by 9 March", 0, 0},
        {"March 3-9", 0, 0},
        {"Sat 9 May", 5, 9},
        {"May I bring 9?", 0, 0},
        {"in March 2025", 0, 0},
        {"32 March", 0, 0},
        {"Room 17", 0, 0},
        {"2025-13-17", 0, 0},
        {"", 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint16_t date = demand_date_in(cases[i].text, strlen(cases[i].text));
        if (date != 32 * cases[i].month + cases[i].day) fail_msg("%s: %u", cases[i].text, date);
    }
    assert_int_equal(asked("Is it open on 17 March?").date,
                     0); /* what closes before says so, too */
    assert_int_equal(asked("Who is there on 17 March?").date, 3 * 32 + 17);
}

static void first_and_last_are_of_a_turn(void **state) {
    (void)state;
    static const struct {
        const char *question;
        int turn; /* -1: the first; 1: the last; 0: neither */
    } cases[] = {
        {"When does the last bus leave?", 1},
        {"what time is the first train to Rydal", -1},
        {"first tram sunday", -1},
        {"Which boat starts last?", 1},
        {"When is our first match?", -1},
        {"How long does the battery last?", 0},
        {"What is her last name?", 0},
        {"When was it last cleaned?", 0},
        {"When did you last go to the last bus?", 1},
        {"When is the last day to pay?", 0},
        {"Where is the first aid box?", 0},
        {"What do I do first?", 0},
        {"Is the last lesson free?", 0},
        {"first", 0},
        {"", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool last = false;
        const char *q = cases[i].question;
        size_t behind;
        const bool turn = demands_turn_in(q, strlen(q), &last, &behind);
        if ((turn ? last ? 1 : -1 : 0) != cases[i].turn) fail_msg("%s", q);
    }
}

static void a_detail_is_demanded_to_the_letter(void **state) {
    (void)state;
    static const struct {
        const char *question;
        enum demand_detail detail;
        const char *has, *lacks;
    } cases[] = {
        {"What is the e-mail address of the club?", DETAIL_MAIL, "Write to club@lake.example.",
         "Phone of the club: 86 55 01 20"},
        {"what's her email", DETAIL_MAIL, "club@lake.example", "Joyce Pell works on Tuesdays"},
        {"What is the address of Gull Lodge?", DETAIL_ADDRESS, "Gull Lodge, 14 Mill Bank, Orrin",
         "Best wishes, Ada Pell\nYear 6 lead\nOffice: 01632 960411 (8:00 to 16:00)"},
        {"What is Ada's address?", DETAIL_ADDRESS, "Ada lives in Orrin.",
         "From: Ada Pell <ada@gull.example>\nTo: Bo <bo@gull.example>"},
        {"What is the address of the helpdesk?", DETAIL_ADDRESS, "Write to help@gull.example.", ""},
        {"What is the address of the server?", DETAIL_ADDRESS, "It listens on 10.0.0.1.",
         "It has two disks."},
        {"What is the address of the server?", DETAIL_ADDRESS, "It runs on localhost.",
         "It has two disks."},
        {"What is the address of the mail server?", DETAIL_ADDRESS, "mail.gull.example",
         "It has two disks."},
        {"What is the address the server listens on by default?", DETAIL_NONE, "", ""},
        {"What is the IP address of the printer?", DETAIL_NONE, "", ""},
        {"What's your email address?", DETAIL_MAIL, "club@lake.example",
         "We read mail on Mondays."},
        {"What is Solveig Krane's phone number?", DETAIL_PHONE, "Solveig Krane, 86 55 01 20",
         "Bookings: Solveig Krane. She has 2 boats."},
        {"What is Rohan Pillai's extension?", DETAIL_PHONE, "Rohan Pillai, ext. 4410",
         "Your dietitian: Rohan Pillai (9 to 12)."},
        {"What time does the parents' evening begin?", DETAIL_CLOCK, "It begins in the evening.",
         "Parents' evening: 21 and 22 October; book with the teacher"},
        {"What time is the school lunch?", DETAIL_CLOCK, "at lunch on 21 October",
         "School lunch: soup"},
        {"What is the website of the town?", DETAIL_WEB, "See www.town.example.",
         "The town has a web page."},
        {"What is the web address?", DETAIL_WEB, "town.example/help", "Help is there. Ask."},
        {"At what time does the farewell drink begin?", DETAIL_CLOCK, "A farewell drink, 17:30.",
         "A farewell drink is held on the 29th, in the yard."},
        {"what time does it close", DETAIL_CLOCK, "It closes at 9.", "It closes on 1 May."},
        {"By what hour must we be in?", DETAIL_CLOCK, "Be in before midnight.", "Be in, please."},
        {"What time of day do the painters start?", DETAIL_CLOCK, "The painters start at 8.",
         "It will be painted in the week of 7 April."},
        {"What colour are the flowers?", DETAIL_COLOUR, "Its flowers are pale yellow.",
         "flowers: June; light: sun"},
        {"When was Ida Berg born?", DETAIL_BIRTH, "Ida Berg (1845-1919), painter of ships.",
         "Since 2019 the mayor has been Ida Berg."},
        {"Where was she born?", DETAIL_BIRTH, "She is a native of Turku.", "She lives in Turku."},
        {"In what year did Jonas Vik die?", DETAIL_DEATH, "He drowned in 1911.",
         "Jonas Vik opened the mill in 1874."},
        {"diff return value when both are the same", DETAIL_EXIT,
         "Exit status is 0 if inputs match.", "-s: report when two files are the same"},
        {"When does the mill close in the evening?", DETAIL_CLOCK, "The mill closes at 18:00.",
         "The mill has been open since 1999, on Sundays from April to October."},
        {"When does the mill close?", DETAIL_NONE, "", ""},
        {"What is the default password of the router?", DETAIL_PASSWORD, "The password is sun.",
         "The default username is admin."},
        {"What is the password policy?", DETAIL_NONE, "", ""},
        {"What exit code does it give on errors?", DETAIL_EXIT, "It returns 100 on error.",
         "Errors are written to stderr."},
        {"What time of year does it flower?", DETAIL_NONE, "", ""},
        {"Which file lists the valid shells?", DETAIL_FILE, "/etc/shells: the valid login shells",
         "VALID SHELLS chsh lists the shells."},
        {"In what files are the keys kept?", DETAIL_FILE, "Keys are kept in known.keys.",
         "The keys are kept on disk."},
        {"Which configuration file is read first?", DETAIL_FILE, "The file tollrc is read first.",
         "The first file is read as it is. It is."},
        {"Which file says who wrote it?", DETAIL_FILE, "The Makefile says it.", "It says so."},
        {"Which file systems are mounted?", DETAIL_NONE, "", ""},
        {"What file format does it write?", DETAIL_NONE, "", ""},
        {"Which file defines where short names are looked for?", DETAIL_FILE,
         "They are read from registries.conf.", "Looked for are registry1.com and/or another."},
        {"What file has the names of hosts?", DETAIL_FILE, "See ~/.hosts for them.",
         "Names of hosts are looked up."},
        {"Which file keeps its settings?", DETAIL_FILE, "Edit your cardrc.", "Edit it."},
        {"Which file is read first?", DETAIL_FILE, "GNUmakefile is read first.",
         "It is read first."},
        {"Which file systems does it know?", DETAIL_NONE, "", ""},
        {"Under which file names does make look for it?", DETAIL_NONE, "", ""},
        /* of a file; a zone; what is done with one; something else at an address */
        {"What is the extension of the file?", DETAIL_NONE, "", ""},
        {"What time zone is used?", DETAIL_NONE, "", ""},
        {"What happens if my phone number changes?", DETAIL_NONE, "", ""},
        {"Where is the website described?", DETAIL_NONE, "", ""},
        {"What port is the web page on?", DETAIL_NONE, "", ""},
        {"", DETAIL_NONE, "", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const enum demand_detail d = asked(cases[i].question).detail;
        const char *has = cases[i].has, *lacks = cases[i].lacks;
        if (d != cases[i].detail) fail_msg("%s: %d", cases[i].question, (int)d);
        if (!demand_detail_in(d, has, strlen(has))) fail_msg("%s: %s", cases[i].question, has);
        if (d && demand_detail_in(d, lacks, strlen(lacks)))
            fail_msg("%s: %s", cases[i].question, lacks);
    }
}

static void a_number_of_something_else_counts_nothing(void **state) {
    (void)state;
    static const struct {
        const char *question, *text;
        bool in;
    } cases[] = {
        {"How many clients can it serve?", "It tells how many QoS 1 & 2 messages it takes.", false},
        {"How many clients can it serve?", "HTTP 2 serves 40.", true},
        {"How many copies are kept?", "Either of a single copy or of the whole.", false},
        {"How many rooms are there?", "Room 5 is wet.", false},
        {"How many rooms are there?", "ROOMS 5", true},
        {"How many people may sit in a room?", "In room 5, 40 people can sit.", true},
        {"How many beds has the room?", "Room 5, 2 beds, has a balcony.", true},
        {"How many ports has it?", "USB 3, 4 ports", true},
        {"How many rooms are there?", "Room 5, 6 and 7 are wet.", false},
        {"How many entrances are there?", "There is a single entrance.", true},
        {"How many children are in the group?", "1.2 Owls: children from 3 years, 7:30 to 16:00.",
         false},
        {"How many children are in the group?", "Owls EUR 150 EUR 245", false},
        {"How many children are in the group?", "Owls: 14, from 3 years", true},
        {"How many people fit in?", "A family of 2 adults", true},
        {"How many students passed?", "81 % passed", true},
        {"How many dogs may one person keep?", "(2) It does not apply to dogs of the police.",
         false},
        {"How many dogs may one person keep?", "(2) A person may keep three dogs.", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *q = cases[i].question, *text = cases[i].text;
        if (demand_count_in(text, strlen(text), q, strlen(q)) != cases[i].in)
            fail_msg("%s: %s", q, text);
    }
    assert_true(demand_counts_people("How many young children go?", 27));
    assert_false(demand_counts_people("How many rooms do children need?", 32));
}

static void a_size_may_be_said_without_a_number(void **state) {
    (void)state;
    static const struct {
        const char *question, *text;
        bool asked, said;
    } cases[] = {
        {"How big is the garden?", "The garden is the size of a football pitch.", true, true},
        {"How large may a bag be?", "It must be small.", true, true},
        {"How large may a bag be?", "It fits below the seat.", true, true},
        {"How big is the big hall?", "The big hall is heated.", true, false},
        {"How many sizes are there?", "Shirts of each size", false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *q = cases[i].question, *text = cases[i].text;
        if (demand_size_of(q, strlen(q)) != cases[i].asked) fail_msg("%s", q);
        if (demand_size_in(text, strlen(text), q, strlen(q)) != cases[i].said) fail_msg("%s", text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_kind_of_amount_is_told),
        cmocka_unit_test(how_often_is_said_by_a_number_or_a_word),
        cmocka_unit_test(an_amount_of_another_kind_is_none),
        cmocka_unit_test(a_column_may_say_of_what_kind_its_numbers_are),
        cmocka_unit_test(what_is_counted_is_found),
        cmocka_unit_test(another_year_is_told_apart),
        cmocka_unit_test(a_year_is_within_the_bounds_that_hold_it),
        cmocka_unit_test(one_date_is_one_date),
        cmocka_unit_test(first_and_last_are_of_a_turn),
        cmocka_unit_test(a_detail_is_demanded_to_the_letter),
        cmocka_unit_test(a_size_may_be_said_without_a_number),
        cmocka_unit_test(a_place_is_demanded_by_where_alone),
        cmocka_unit_test(a_reason_is_demanded_by_why),
        cmocka_unit_test(another_office_is_told_apart),
        cmocka_unit_test(another_day_is_told_apart),
        cmocka_unit_test(another_month_is_told_apart),
        cmocka_unit_test(a_price_may_be_a_number_alone),
        cmocka_unit_test(a_number_of_something_else_counts_nothing),
        cmocka_unit_test(any_bytes_are_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
