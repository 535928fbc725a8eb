/* unit_demands.c, small_letters.c and acronyms.c by the answers that are made: what states none of what is asked for is refused in any
 * language, a title is no value, and neither capitals nor the s of a plural make a question another one. */
#include "tests/test.h"

#include <string.h>

#include "index/sparse/language.h"
#include "retrieval/answer/extractive.h"
#include "retrieval/answer/small_letters.h"
#include "tests/retrieval/answer/lexicon_fixture.h"

static extractive_answer ask_in(const char *language, const char *question, const char *text,
                                double least) {
    const lexicon own = {analyzer_in(lx.analyzer, language_number(language)), NULL, NULL};
    const passage p = {.text = text, .len = strlen(text), .title = "", .sparse = 9, .dense = 0.9f};
    extractive_answer a;
    fo_err err = {0};
    assert_ok(extractive_answer_make(&a,
                                     &(extractive_input){.question = question,
                                                         .passages = &p,
                                                         .n_passages = 1,
                                                         .lx = &own,
                                                         .max_sentences = 1,
                                                         .min_support = least},
                                     &err),
              &err);
    return a;
}

static void what_states_no_such_amount_is_refused_in_any_language(void **state) {
    (void)state;
    static const struct {
        const char *language, *question, *text, *answered;
    } cases[] = {
        {"german", "Was kostet eine Packung Dolorexan?",
         "Eine Packung Dolorexan enthält 20 Tabletten.", "Eine Packung Dolorexan kostet 7,50 €."},
        {"spanish", "¿Cuánto cuesta el gorro?", "El gorro es obligatorio para todos.",
         "El gorro cuesta 6 €."},
        {"spanish", "¿Cuántas camas hay en la casa?",
         "En la casa hay cama supletoria, 15 € por noche.", "En la casa hay cinco camas."},
        {"french", "Combien coûte un cours particulier ?",
         "Un cours particulier a lieu le mercredi.", "Un cours particulier coûte 30 €."},
        {"english", "How much does a pack of 20 Dolorexan tablets cost?",
         "A pack of Dolorexan holds 10, 20 or 50 tablets; 50 on prescription only.",
         "A pack of 20 Dolorexan tablets costs 7 euros."},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        extractive_answer no = ask_in(cases[i].language, cases[i].question, cases[i].text, 0);
        if (!no.abstain) fail_msg("%s: %s", cases[i].question, no.text);
        extractive_answer yes = ask_in(cases[i].language, cases[i].question, cases[i].answered, 0);
        if (yes.abstain) fail_msg("%s: %s", cases[i].question, cases[i].answered);
        extractive_answer_deinit(&no);
        extractive_answer_deinit(&yes);
    }
}

/* What a list states of others is not stated of the item that is asked about. */
static void another_item_of_the_list_has_the_value(void **state) {
    (void)state;
    static const char dates[] =
        "Dates of the autumn:\n\n- Harvest assembly: 3 October, 14:00\n"
        "- Parents' evening: 21 October, in the hall\n- Concert: 3 November, 18:30\n";
    extractive_answer no =
        ask_in("english", "What time does the parents' evening begin?", dates, 0);
    if (!no.abstain) fail_msg("%s", no.text);
    extractive_answer_deinit(&no);
    extractive_answer yes =
        ask_in("english", "What time does the harvest assembly begin?", dates, 0);
    if (yes.abstain || !strstr(yes.text, "14:00")) fail_msg("refused, or %s", yes.text);
    extractive_answer_deinit(&yes);
}

static void a_title_alone_is_no_value(void **state) {
    (void)state;
    static const char manual[] = "Geschirrspüler Brandolf GS 640\n"
                                 "==============================\n\n"
                                 "Verwenden Sie nie Speisesalz.\n";
    static const char title[] = "Geschirrspüler Brandolf GS 640\n"
                                "==============================\n";
    static const char guide[] =
        "Dishwasher Brandolf GS 640\n==========================\n\nNever use "
        "table salt.\n";
    static const struct {
        const char *language, *question, *text;
    } cases[] = {
        {"german", "Wie laut ist der Geschirrspüler?", manual},
        {"german", "Wie alt ist der Geschirrspüler?", manual},
        {"german", "Wer baut den Geschirrspüler Brandolf?", title},
        {"german", "Wo ist der Geschirrspüler Brandolf?", title},
        {"english", "Where is the dishwasher Brandolf?",
         "Dishwasher Brandolf GS 640\n==========\n"},
        {"english", "How old is the dishwasher?", guide},
        {"english", "How loud is the dishwasher?", guide},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        extractive_answer a = ask_in(cases[i].language, cases[i].question, cases[i].text, 0);
        if (!a.abstain) fail_msg("%s: %s", cases[i].question, a.text);
        extractive_answer_deinit(&a);
    }
    /* a title that says when */
    extractive_answer a = ask_in("english", "When was the summer meeting?",
                                 "Minutes of the summer meeting, 3 March 2026\n"
                                 "===========================================\n\nNobody spoke.\n",
                                 0);
    assert_false(a.abstain);
    extractive_answer_deinit(&a);
}

/* ... but where it says how many of what is counted, or measures. */
static void a_title_that_counts_or_measures_is_a_value(void **state) {
    (void)state;
    static const struct {
        const char *question, *text, *number;
    } cases[] = {
        {"How many people does the village hall seat?",
         "The village hall seats 120 people\n"
         "It was built after the flood by the people of the village.",
         "120"},
        {"How many guests may stay in the barn?",
         "## Up to 30 guests may stay in the barn\n\nBring your own towels.", "30"},
        {"How wide is the gate of the yard?",
         "The gate of the yard is 3 m wide\n\nIt is closed at night.", "3 m"},
        {"How many people does the sauna hold?",
         "The sauna holds 8 people\n\nBring two towels to the sauna.", "8"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        extractive_answer a = ask_in("english", cases[i].question, cases[i].text, 0);
        if (a.abstain || !strstr(a.text, cases[i].number)) fail_msg("%s", cases[i].question);
        extractive_answer_deinit(&a);
    }
}

static void a_question_in_capitals_is_read_as_in_small_letters(void **state) {
    (void)state;
    static const char club[] = "- Présidente : Solène Kervadec\n- Trésorière : Mathilde Aubrac\n";
    extractive_answer small = ask_in("french", "Qui est la trésorière du club ?", club, -1),
                      capitals = ask_in("french", "QUI EST LA TRÉSORIÈRE DU CLUB ?", club, -1);
    assert_string_equal(small.text, capitals.text);
    assert_true(small.support == capitals.support && small.support > 0);
    extractive_answer_deinit(&small);
    extractive_answer_deinit(&capitals);
    static const struct {
        const char *question, *read; /* NULL: as it stands */
    } cases[] = {
        {"WER IST KASSENWART?", "wer ist kassenwart?"},
        {"TRÉSORIÈRE", "trésorière"},
        {"WHAT DOES E04 MEAN WITH -Z AND --ALL?", "what does E04 mean with -Z and --ALL?"},
        {"Who is it?", NULL},
        {"E04", NULL},
        {"DVD", NULL},
        {"谁?", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fo_buf out = {0};
        assert_int_equal(small_letters_question(&out, cases[i].question), cases[i].read != NULL);
        if (cases[i].read) assert_string_equal(out.data, cases[i].read);
        assert_true(cases[i].read || out.len == 0);
        fo_buf_free(&out);
    }
}

static void the_plural_of_an_acronym_is_the_same_word(void **state) {
    (void)state;
    static const char table[] =
        "| Medium | Leihfrist |\n|---|---|\n| Bücher | 4 Wochen |\n| DVDs | 1 "
        "Woche |\n| CD | 2 Wochen |\n";
    static const struct {
        const char *question, *answer;
    } cases[] = {
        {"Leihfrist DVD", "Medium: DVDs; Leihfrist: 1 Woche [1]"},
        {"Leihfrist DVDs", "Medium: DVDs; Leihfrist: 1 Woche [1]"},
        {"leihfrist dvd", "Medium: DVDs; Leihfrist: 1 Woche [1]"},
        {"Leihfrist CDs", "Medium: CD; Leihfrist: 2 Wochen [1]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        extractive_answer a = ask_in("german", cases[i].question, table, -1);
        assert_string_equal(a.text, cases[i].answer);
        assert_true(a.support > .8);
        extractive_answer_deinit(&a);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_states_no_such_amount_is_refused_in_any_language),
        cmocka_unit_test(another_item_of_the_list_has_the_value),
        cmocka_unit_test(a_title_alone_is_no_value),
        cmocka_unit_test(a_title_that_counts_or_measures_is_a_value),
        cmocka_unit_test(a_question_in_capitals_is_read_as_in_small_letters),
        cmocka_unit_test(the_plural_of_an_acronym_is_the_same_word),
    };
    return cmocka_run_group_tests(tests, open_lexicon, close_lexicon);
}
