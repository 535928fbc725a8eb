/* foreign_days_test.c - days of the week in texts and questions of other languages than English, and what a question that names
 * one demands. */
#include "retrieval/question/foreign_days.h"

#include "index/sparse/language.h"
#include "retrieval/question/demands.h"
#include "tests/test.h"

enum { MO = 1, TU = 2, WE = 4, TH = 8, FR = 16, SA = 32, SU = 64, WORKING = 31, ALL = 127 };

static void expect(const char *language, const char *text, unsigned days) {
    bool open;
    const unsigned got = foreign_days_in(language_number(language), text, strlen(text), &open);
    if (got != days) fail_msg("%s: '%s' names %02x, not %02x", language, text, got, days);
}

static void days_are_named_in_full(void **state) {
    (void)state;
    expect("german", "Die Chorprobe ist dienstags und am Donnerstag.", TU | TH);
    expect("german", "Am Mittwochnachmittag und Samstagabend ist zu.", WE | SA);
    expect("french", "Le marché a lieu le jeudi et le samedi.", TH | SA);
    expect("spanish", "Los SÁBADOS por la mañana", SA);
    expect("italian", "Il giovedì e la domenica", TH | SU);
    expect("portuguese", "à segunda-feira e ao sábado", MO | SA);
    expect("portuguese", "às segundas, quartas e sextas", MO | WE | FR);
    expect("russian", "по вторникам и в среду", TU | WE);
    expect("dutch", "op maandag", 0);
}

static void days_are_named_in_short_where_hours_say_so(void **state) {
    (void)state;
    expect("german", "Mo-Fr 9-18 Uhr, Sa 10-13 Uhr", WORKING | SA);
    expect("german", "Mo, Di, Do 8-12 Uhr", MO | TU | TH);
    expect("german", "Mo.–Do.: 7 bis 16 Uhr", MO | TU | WE | TH);
    expect("german", "So geht es nicht, und die 3 Kinder sagen so 4 Mal nein.", 0);
    expect("french", "mar-sam 6h30-19h30, dim 7h-13h", TU | WE | TH | FR | SA | SU);
    expect("french", "La mer est à 300 m.", 0);
    expect("spanish", "lun-vie 9:00-13:30, sáb 9:30-14:00", WORKING | SA);
    expect("spanish", "L-V: 8 a 15 h", WORKING);
    expect("spanish", "La casa tiene vista al mar y 3 camas.", 0);
    expect("italian", "lun-ven 8.30-12.30, sab 8.30-12", WORKING | SA);
    expect("portuguese", "seg-sex 8h30-19h, sáb 9h-13h", WORKING | SA);
    expect("russian", "пн-пт 10:00-19:00, сб 11:00-16:00", WORKING | SA);
}

static void a_range_has_the_days_between(void **state) {
    (void)state;
    expect("german", "von Dienstag bis Donnerstag", TU | WE | TH);
    expect("french", "du lundi au vendredi", WORKING);
    expect("french", "lundi à 9 heures", MO);
    expect("spanish", "de lunes a viernes", WORKING);
    expect("italian", "dal lunedì al venerdì", WORKING);
    expect("portuguese", "de segunda a sexta, das 9h às 12h", WORKING);
    expect("portuguese", "de segunda-feira a quinta-feira", MO | TU | WE | TH);
    expect("russian", "с понедельника по пятницу", WORKING);
}

static void words_for_several_days_are_those(void **state) {
    (void)state;
    expect("german", "werktags ab 7 Uhr", WORKING | SA);
    expect("german", "Täglich geöffnet", ALL);
    expect("french", "ouvert tous les jours", ALL);
    expect("french", "le week-end", SA | SU);
    expect("spanish", "los fines de semana", SA | SU);
    expect("italian", "ogni giorno", ALL);
    expect("portuguese", "nos dias úteis", WORKING);
    expect("russian", "по будням", WORKING);
}

static void an_ordinal_is_no_day(void **state) {
    (void)state;
    expect("portuguese", "Qual é a segunda parte do curso?", 0);
    expect("portuguese", "a quinta pessoa", 0);
}

static demands asked(const char *language, const char *question) {
    return demands_read(question, strlen(question), language_number(language));
}

static enum demand_day met(const demands *d, const char *text) {
    return demands_day_in(d, text, strlen(text));
}

static void a_question_that_names_a_day_demands_it(void **state) {
    (void)state;
    const demands when = asked("french", "À quelle heure ouvre la piscine le dimanche ?");
    assert_int_equal(when.days, SU);
    assert_int_equal(met(&when, "mar-sam 6h30-19h30, dim 7h-13h"), DAY_MET);
    assert_int_equal(met(&when, "Le lundi à 9 heures"), DAY_OTHER);
    assert_int_equal(met(&when, "à 9 heures"), DAY_NOT_SAID);
    assert_int_equal(met(&when, "à partir de jeudi"), DAY_NOT_SAID);
    /* what is open on other days answers whether it is open on this one */
    const demands whether = asked("german", "Habt ihr sonntags offen?");
    assert_true(whether.whether);
    assert_int_equal(met(&whether, "Mo-Fr 9-18 Uhr"), DAY_NOT_SAID);
    assert_int_equal(asked("spanish", "¿Cuánto cuesta al día?").days, 0);
    assert_int_equal(asked("german", "Was kostet es täglich?").days, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(days_are_named_in_full),
        cmocka_unit_test(days_are_named_in_short_where_hours_say_so),
        cmocka_unit_test(a_range_has_the_days_between),
        cmocka_unit_test(words_for_several_days_are_those),
        cmocka_unit_test(an_ordinal_is_no_day),
        cmocka_unit_test(a_question_that_names_a_day_demands_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
