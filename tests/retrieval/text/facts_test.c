/* What is compared of a sentence: numbers however they are written, with their units; words with
 * their marks; any bytes. */
#include "tests/test.h"

#include <time.h>

#include "retrieval/text/facts.h"

static void expect_numbers(const char *text, size_t n, const double *want) {
    fact_numbers f = {0};
    fo_err err = {0};
    assert_ok(fact_numbers_read(&f, text, strlen(text), &err), &err);
    if (f.n != n) fail_msg("'%s': %zu numbers, not %zu", text, f.n, n);
    for (size_t i = 0; i < n; i++)
        if (f.v[i].value != want[i])
            fail_msg("'%s': number %zu is %g, not %g", text, i, f.v[i].value, want[i]);
    fact_numbers_deinit(&f);
}
#define NUMBERS(text, ...)                                                                         \
    do {                                                                                           \
        const double want_[] = {__VA_ARGS__};                                                      \
        expect_numbers(text, sizeof want_ / sizeof *want_, want_);                                 \
    } while (0)

static void numbers_are_equal_however_they_are_written(void **state) {
    (void)state;
    NUMBERS("1,000 and 1000 and one thousand and 1\xC2\xA0"
            "000",
            1000, 1000, 1000, 1000);
    NUMBERS("3.5 million; 3,500,000; three million five hundred thousand", 3.5e6, 3.5e6, 3.5e6);
    NUMBERS("twenty-five, two hundred and five, ninety nine", 25, 205, 99);
    NUMBERS("the 3rd, third and twenty-first in the 1990s", 3, 3, 21, 1990);
    NUMBERS("a dozen, two dozen", 12, 24);
    NUMBERS("from 1914-1918, on 7 June 1950", 1914, 1918, 7, 1950);
    NUMBERS("3,5 kg", 3.5);
    NUMBERS("10GB of 12 GB", 10, 12);
    NUMBERS("$5bn", 5e9);
}

static void digits_inside_names_are_no_numbers(void **state) {
    (void)state;
    expect_numbers("The A4 and H2O, version 1.2.3, v1.2.4, 12B, utf8 and x86_64", 0, NULL);
    expect_numbers("", 0, NULL);
    expect_numbers("millions of people, hundreds more", 0, NULL);
}

static void a_number_knows_its_unit(void **state) {
    (void)state;
    static const struct {
        const char *a, *b;
        bool same;
    } cases[] = {
        {"5 %", "five per cent", true},
        {"5%", "5 percent", true},
        {"5 km", "5 kilometres", true},
        {"5 km", "5 miles", false},
        {"$5", "5 dollars", true},
        {"5 \xC2\xB0"
         "C",
         "5 \xC2\xB0"
         "F",
         false},
        {"10-year", "10 years", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fact_numbers f = {0};
        fo_err err = {0};
        assert_ok(fact_numbers_read(&f, cases[i].a, strlen(cases[i].a), &err), &err);
        assert_ok(fact_numbers_read(&f, cases[i].b, strlen(cases[i].b), &err), &err);
        assert_int_equal(f.n, 2);
        if (f.v[0].unit == UNIT_NONE || (f.v[0].unit == f.v[1].unit) != cases[i].same)
            fail_msg("%s / %s: units %d %d", cases[i].a, cases[i].b, f.v[0].unit, f.v[1].unit);
        fact_numbers_deinit(&f);
    }
}

static bool equal(const char *a, const char *b) {
    fact_numbers f = {0};
    fo_err err = {0};
    assert_ok(fact_numbers_read(&f, a, strlen(a), &err), &err);
    assert_int_equal(f.n, 1);
    assert_ok(fact_numbers_read(&f, b, strlen(b), &err), &err);
    assert_int_equal(f.n, 2);
    const bool same = fact_numbers_equal(&f.v[0], &f.v[1]);
    fact_numbers_deinit(&f);
    return same;
}

static void numbers_are_told_apart_by_all_that_they_say(void **state) {
    (void)state;
    static const struct {
        const char *a, *b;
        bool same;
    } cases[] = {
        {"9780306406157", "9780306406158", false},
        {"1,000,000,001", "1000000001", true},
        {"9007199254740993", "9007199254740992", false},
        {"9,007,199,254,740,993", "009007199254740993", true},
        {"3.5 billion", "3,500,000,000", true},
        {"3.5 billion", "3,500,000,001", false},
        {"0.1 million", "100,000", true},
        {"3.10", "3.1", false},
        {"It costs 6.40", "it is sold for 6.4", true},
        {"a price of 6.40", "| Price | 6.4 |", true},
        {"kostet 6,40", "costs 6.4", true},
        {"costs 6.40", "costs 6.41", false},
        {"version 6.40", "it costs 6.4", false},
        {"a release, which is 6.40", "a release, which is 6.4", false},
        {"it came with the 6.40 release", "it came with 6.4", false},
        {"Python needs at least 6.40", "Python needs at least 6.4", false},
        {"Python is 6.40", "Python is 6.4", false},
        {"it rains. 6.40 Pumps", "see 6.4", false},
        {"opens at 6.40 pm", "opens at 6.4 pm", false},
        {"1,200", "1200", true},
        {"1\xE2\x80\xAF"
         "200",
         "1,200", true},
        {"1\xC2\xA0"
         "200",
         "1200", true},
        {"1\xE2\x80\xAF"
         "200",
         "1,201", false},
        {"3.0", "3", true},
        {"3.50 EUR", "3.5 EUR", true},
        {"$3.50", "3.5", true},
        {"3.50 million", "3.5 million", true},
        {"18 \xC2\xB0"
         "C",
         "-18 \xC2\xB0"
         "C",
         false},
        {"(-18)",
         "\xE2\x88\x92"
         "18",
         true},
        {"minus 18",
         "\xE2\x80\x93"
         "18",
         true},
        {"-$5", "$5", false},
        {"HB-18", "18", true},
        {"8 am", "8 pm", false},
        {"8 a.m.", "8am", true},
        {"8 am", "8", true},
        {"8:30", "8", false},
        {"8:30", "8:30", true},
        {"8:30", "08:30", true},
        {"8:30", "9:30", false},
        {"8:30", "30", false},
        {"8:00", "8", true},
        {"8:00", "8 am", true},
        {"8:00 am", "8 am", true},
        {"8:00 am", "8:00", true},
        {"8:00 am", "8 pm", false},
        {"8:00 pm", "8:00", true},
        {"8:00", "20:00", false},
        {"8 pm", "20:00", true},
        {"17:30", "5:30 pm", true},
        {"17:30", "5:30pm", true},
        {"17:30h", "17:30", true},
        {"17:30", "5:30 am", false},
        {"17:30", "17:00", false},
        {"17:00", "17", true},
        {"17:00", "5 p.m.", true},
        {"17:00", "17.5", false},
        {"12:30 am", "0:30", true},
        {"12:30 pm", "0:30", false},
        {"24:00", "0:00", true},
        {"8:00", "8 kg", false},
        {"8:00", "480", false},
        {"8.30 am", "8:30 am", true},
        {"8.30am", "8:30", true},
        {"8.30 a.m.", "8.30 Uhr", true},
        {"8.30 Uhr", "8:30", true},
        {"8:30", "08.30 Uhr", true},
        {"8.30 o'clock", "8:30", true},
        {"17.30 Uhr", "5:30 pm", true},
        {"8.30 Uhr", "8.30", true},
        {"8.00 Uhr", "8 Uhr", true},
        {"8.30 am", "8:30 pm", false},
        {"8.30 Uhr", "8:40", false},
        {"8.30 Uhr", "20:30", false},
        {"8.30", "8:30", false},
        {"8.30 EUR", "8.30 Uhr", false},
        {"8.3", "8.30 Uhr", false},
        {"It costs 8.30", "it costs 8.3", true},
        {"2\xC2\xBD hours", "2 hours", false},
        {"2\xC2\xBD hours", "2.5 hours", true},
        {"2 \xC2\xBD hours", "2 1/2 hours", true},
        {"1-1/2 inches", "1\xC2\xBD inches", true},
        {"two and a half hours", "2.5 hours", true},
        {"one and a half hours", "1.5 hours", true},
        {"2 and a quarter hours", "2\xC2\xBC hours", true},
        {"2\xC2\xBD million", "2,500,000", true},
        {"1\xC2\xBD cups", "1 cup", false},
        {"1/2 cup", "2 cups", false},
        {"1/2 cup", "\xC2\xBD cup", true},
        {"1/2 cup", "0.5 cups", true},
        {"3/4 inch", "4 inches", false},
        {"3/4 inch", "\xC2\xBE inch", true},
        {"3/4 inch", "0.75 inches", true},
        {"2\xE2\x85\x93 cups", "2 1/3 cups", true},
        {"on 3/4 inch plywood", "\xC2\xBE inch", true},
        {"\xEF\xBC\x91\xEF\xBC\x93", "13", true},
        {"\xD9\xA1\xD9\xA2", "13", false},
        {"\xD9\xA1\xD9\xAB\xD9\xA2", "1.2", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (equal(cases[i].a, cases[i].b) != cases[i].same)
            fail_msg("%s, %s", cases[i].a, cases[i].b);
    NUMBERS("from 10-18 in 2024-03-12", 10, 18, 2024, 3, 12);
    NUMBERS("from 8:30-17:30 and 9:00\xE2\x80\x93"
            "10:15",
            510, 1050, 540, 615);
    NUMBERS("von 8.30-17.30 Uhr, 9.00 bis 10.15 Uhr, 7.30 to 8.30 pm", 510, 1050, 540, 615, 450,
            510);
    NUMBERS("8.30 hours, 8.75 am, 25.10 Uhr, 8.30 Uhren", 8.3, 8.75, 25.1, 8.3);
    NUMBERS("3:1, they won 21:19, a scale of 1:50", 3, 1, 21, 19, 1, 50);
    NUMBERS("after 1:23:45, at 25:10 and 8:75", 1, 23, 45, 25, 10, 8, 75);
    NUMBERS("24/7, 8/10 and 3/4/5, on 3/4, rooms 1/2", 24, 7, 8, 10, 3, 4, 5, 3, 4, 1, 2);
    NUMBERS("on 03/04/2024 and 1/2/2024", 3, 4, 2024, 1, 2, 2024);
    NUMBERS("1/2\xE2\x80\x93"
            "3/4 cup, 1\xC2\xBC, \xC2\xBD",
            0.5, 0.75, 1.25, 0.5);
    fact_numbers f = {0};
    fo_err err = {0};
    const char *text = "\xEF\xBC\x91\xEF\xBC\x93 kg"; /* spans are of the text itself */
    assert_ok(fact_numbers_read(&f, text, strlen(text), &err), &err);
    assert_true(f.n == 1 && f.v[0].start == 0 && f.v[0].end == 6 && f.v[0].unit != UNIT_NONE);
    fact_numbers_deinit(&f);
}

static void codes_are_equal_however_they_are_written(void **state) {
    (void)state;
    static const struct {
        const char *a, *b;
        bool same;
    } cases[] = {
        {"16.3.2024", "17.3.2024", false}, {"16.03.2024", "16.3.2024", true},
        {"10.0.0.5", "10.0.0.50", false},  {"1.2.4", "v1.2.4", true},
        {"1.02.4", "1.2.4", false},        {"2.0RC1", "2.0rc1", true},
        {"2.0rc1", "2.0rc2", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fact_numbers f = {0};
        fo_err err = {0};
        assert_ok(fact_numbers_read(&f, cases[i].a, strlen(cases[i].a), &err), &err);
        assert_ok(fact_numbers_read(&f, cases[i].b, strlen(cases[i].b), &err), &err);
        assert_true(f.n == 0 && f.n_codes == 2);
        if ((f.codes[0].id == f.codes[1].id) != cases[i].same)
            fail_msg("%s, %s", cases[i].a, cases[i].b);
        fact_numbers_deinit(&f);
    }
    assert_true(fact_digits_name("12B", 3) && fact_digits_name("40GbE", 5));
    assert_false(fact_digits_name("10GB", 4) || fact_digits_name("3rd", 3) ||
                 fact_digits_name("8am", 3) || fact_digits_name("1990s", 5));
}

static void dates_are_read_with_what_they_say(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int year, month, day;
        bool open;
    } cases[] = {
        {"2024-03-17", 2024, 3, 17, false},
        {"17.03.2024", 2024, 3, 17, false},
        {"17.03.24", 2024, 3, 17, false},
        {"17.03.70", 1970, 3, 17, false},
        {"17-Mar-2024", 2024, 3, 17, false},
        {"17-M\xC3\xA4rz-24", 2024, 3, 17, false},
        {"am 17.3.", 0, 3, 17, false},
        {"So., 17.03.", 0, 3, 17, false},
        {"03/17/2024", 2024, 3, 17, false},
        {"03/04/2024", 2024, 4, 3, true},
        {"on March 17th, 2024", 2024, 3, 17, false},
        {"Sept. 3", 0, 9, 3, false},
        {"1er ao\xC3\xBBt 2024", 2024, 8, 1, false},
        {"1\xC2\xBA de mar\xC3\xA7o de 2024", 2024, 3, 1, false},
        {"17. maaliskuuta 2024", 2024, 3, 17, false},
        {"17 maart 2024", 2024, 3, 17, false},
        {"2024\xE5\xB9\xB4"
         "3\xE6\x9C\x88"
         "17\xE6\x97\xA5",
         2024, 3, 17, false},
        {"\xEF\xBC\x91\xEF\xBC\x97 March", 0, 3, 17, false},
        {"5 May", 0, 5, 5, false},
    };
    static const char *const none[] = {"5 may come", "11/2025",   "1.17.3.2024",
                                       "32 March",   "March",     "17.13.2024",
                                       "v1.2.2024",  "March 10%", "in May. 3 came",
                                       "3.10.12",    "17.13.24",  "the mean was 17.3.",
                                       "17.3",       "am 17.3",   "do 3.1. Pumps, 3.2. Fans",
                                       "5-may come", "17-Mart"};
    fo_err err = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fact_numbers f = {0};
        assert_ok(fact_numbers_read(&f, cases[i].text, strlen(cases[i].text), &err), &err);
        const date_said d = f.n_dates == 1 ? f.dates[0].said : (date_said){0};
        if (d.year != cases[i].year || d.month != cases[i].month || d.day != cases[i].day ||
            (d.order == DATE_ORDER_OPEN) != cases[i].open ||
            f.dates[0].end != strlen(cases[i].text))
            fail_msg("%s: %zu dates, %d-%d-%d", cases[i].text, f.n_dates, d.year, d.month, d.day);
        fact_numbers_deinit(&f);
    }
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        fact_numbers f = {0};
        assert_ok(fact_numbers_read(&f, none[i], strlen(none[i]), &err), &err);
        if (f.n_dates) fail_msg("%s", none[i]);
        fact_numbers_deinit(&f);
    }
}

static void one_counts_only_where_it_counts(void **state) {
    (void)state;
    const char *text = "One of the towns has one church and no one else.";
    fact_numbers f = {0};
    fo_err err = {0};
    assert_ok(fact_numbers_read(&f, text, strlen(text), &err), &err);
    assert_int_equal(f.n, 3);
    assert_true(f.v[0].weak);
    assert_false(f.v[1].weak);
    assert_true(f.v[2].weak);
    fact_numbers_deinit(&f);
}

static void words_carry_their_marks(void **state) {
    (void)state;
    analyzer *a;
    fo_err err = {0};
    assert_ok(analyzer_create(&a, "english", &err), &err);
    fact_text t = {0};
    const char *text = "They didn't sail in March. But Captain Cook, who had two ships, did so "
                       "because of war.";
    assert_ok(fact_text_read(&t, a, text, strlen(text), &err), &err);
    assert_int_equal(t.n_sentences, 2);
    assert_int_equal(t.sentences[1].end, strlen(text));
    struct {
        const char *word;
        uint32_t flags;
    } want[] = {
        {"They", WORD_CAPITAL | WORD_INITIAL | WORD_STOP},
        {"didn't", WORD_NEGATION | WORD_STOP},
        {"March", WORD_CALENDAR | WORD_CAPITAL},
        {"But", WORD_CLAUSE | WORD_INITIAL},
        {"Cook", WORD_CAPITAL},
        {"who", WORD_CLAUSE | WORD_STOP},
        {"two", WORD_NUMERAL},
        {"because", WORD_REASON},
    };
    for (size_t k = 0; k < sizeof want / sizeof *want; k++) {
        size_t i = 0;
        while (i < t.n_words &&
               (t.words[i].end - t.words[i].start != strlen(want[k].word) ||
                memcmp(text + t.words[i].start, want[k].word, strlen(want[k].word)) != 0))
            i++;
        assert_true(i < t.n_words);
        if ((t.words[i].flags & want[k].flags) != want[k].flags)
            fail_msg("%s: flags %x lack some of %x", want[k].word, t.words[i].flags, want[k].flags);
    }
    fact_text_deinit(&t);
    analyzer_free(a);
}

static void capitals_alone_tell_no_names(void **state) {
    (void)state;
    fo_err err = {0};
    analyzer *a;
    fact_text t = {0};
    assert_ok(analyzer_create(&a, "english", &err), &err);
    static const char small[] = "Who is Ida Berg?",
                      capitals[] = "QUI EST LA TR\xC3\x89SORI\xC3\x88RE ?";
    assert_ok(fact_text_read(&t, a, small, strlen(small), &err), &err);
    assert_true(fact_is_named(&t, 2));
    assert_ok(fact_text_read(&t, a, capitals, strlen(capitals), &err), &err);
    for (size_t i = 0; i < t.n_words; i++) assert_false(fact_is_named(&t, i));
    fact_text_deinit(&t);
    analyzer_free(a);
}

/* Two nouns side by side are a name in German, but not how much of the second there is, or when. */
static void a_measure_and_what_it_measures_are_no_german_name(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t word;
        bool named;
    } cases[] = {
        {"Wann kommt Frau Brandt?", 3, true},
        {"Was kostet eine Maschine W\xC3\xA4sche?", 3, false},
        {"Was kostet eine Maschine W\xC3\xA4sche?", 4, false},
        {"Darf ich drei St\xC3\xBC\x63k Kuchen essen?", 4, false},
        {"Wie lange darf ich am Tag Klavier spielen?", 6, false},
        {"Wo wohnt der Mann von Eva Klavier?", 6, true},
    };
    fo_err err = {0};
    analyzer *a;
    fact_text t = {0};
    assert_ok(analyzer_create(&a, "german", &err), &err);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_ok(fact_text_read(&t, a, cases[i].text, strlen(cases[i].text), &err), &err);
        assert_true(cases[i].word < t.n_words);
        if (fact_is_named(&t, cases[i].word) != cases[i].named)
            fail_msg("%s: word %zu", cases[i].text, cases[i].word);
    }
    fact_text_deinit(&t);
    analyzer_free(a);
}

/* Whether a text has small letters is found out once, not for each of its words. */
static void a_long_text_of_capitals_takes_time_by_its_length(void **state) {
    (void)state;
    enum { WORDS = 15700, MOST_SECONDS = 2 };
    static char text[4 * WORDS];
    for (size_t i = 0; i < WORDS; i++) memcpy(text + 4 * i, "ABC ", 4);
    fo_err err = {0};
    analyzer *a;
    fact_text t = {0};
    assert_ok(analyzer_create(&a, "english", &err), &err);
    const clock_t from = clock();
    assert_ok(fact_text_read(&t, a, text, sizeof text, &err), &err);
    assert_int_equal(t.n_words, WORDS);
    for (size_t i = 0; i < t.n_words; i++) assert_false(fact_is_named(&t, i));
    assert_true(clock() - from < MOST_SECONDS * CLOCKS_PER_SEC);
    fact_text_deinit(&t);
    analyzer_free(a);
}

/* Any bytes at all: spans stay inside the text and sentences in order. */
static void any_bytes_are_read(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    analyzer *a;
    fo_err err = {0};
    assert_ok(analyzer_create(&a, "english", &err), &err);
    fact_text t = {0};
    static const char *const bits[] = {"1,000",
                                       " ",
                                       ".",
                                       "\n\n",
                                       "not ",
                                       "\xE2\x80\x93",
                                       "one",
                                       "-",
                                       "hundred ",
                                       "$",
                                       "%",
                                       "\xFF",
                                       "Ab",
                                       "\xC3",
                                       "[1]",
                                       "v1.2",
                                       "\xEF\xBC\x91",
                                       "am",
                                       "and ",
                                       "9.9.",
                                       "\xE6\xBC\xA2",
                                       "8:30",
                                       "1/2",
                                       "\xC2\xBD",
                                       "\xE2\x85\x93",
                                       " and a half",
                                       "17",
                                       " March ",
                                       "2024",
                                       "/03/2024",
                                       "de",
                                       "\xE5\xB9\xB4"};
    for (int round = 0; round < 3000; round++) {
        char text[256];
        size_t n = 0;
        while (n < 200 && test_random(&seed) % 40) {
            const char *b = bits[test_random(&seed) % (sizeof bits / sizeof *bits)];
            memcpy(text + n, b, strlen(b));
            n += strlen(b);
            if (test_random(&seed) % 4 == 0) text[n++] = (char)test_random(&seed);
        }
        char *exact = malloc(n + 1); /* so that the sanitizer sees a read past the end */
        memcpy(exact, text, n);
        char *tight = realloc(exact, n ? n : 1);
        assert_ok(fact_text_read(&t, a, tight, n, &err), &err);
        for (size_t i = 0; i < t.n_words; i++) assert_true(t.words[i].end <= n);
        for (size_t i = 0; i < t.n_sentences; i++) {
            assert_true(t.sentences[i].start < t.sentences[i].end && t.sentences[i].end <= n);
            assert_true(i == 0 || t.sentences[i].w0 == t.sentences[i - 1].w1);
        }
        fact_numbers f = {0};
        assert_ok(fact_numbers_read(&f, tight, n, &err), &err);
        for (size_t i = 0; i < f.n; i++) assert_true(f.v[i].start < f.v[i].end && f.v[i].end <= n);
        for (size_t i = 0; i < f.n_codes; i++)
            assert_true(f.codes[i].start < f.codes[i].end && f.codes[i].end <= n);
        for (size_t i = 0; i < f.n_dates; i++)
            assert_true(f.dates[i].start < f.dates[i].end && f.dates[i].end <= n);
        fact_numbers_deinit(&f);
        free(tight);
    }
    fact_text_deinit(&t);
    analyzer_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_equal_however_they_are_written),
        cmocka_unit_test(digits_inside_names_are_no_numbers),
        cmocka_unit_test(a_number_knows_its_unit),
        cmocka_unit_test(numbers_are_told_apart_by_all_that_they_say),
        cmocka_unit_test(codes_are_equal_however_they_are_written),
        cmocka_unit_test(dates_are_read_with_what_they_say),
        cmocka_unit_test(one_counts_only_where_it_counts),
        cmocka_unit_test(words_carry_their_marks),
        cmocka_unit_test(capitals_alone_tell_no_names),
        cmocka_unit_test(a_measure_and_what_it_measures_are_no_german_name),
        cmocka_unit_test(a_long_text_of_capitals_takes_time_by_its_length),
        cmocka_unit_test(any_bytes_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
