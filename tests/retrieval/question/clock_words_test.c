/* clock_words_test.c - times of the day in words, of six languages. */
#include "retrieval/question/clock_words.h"

#include "index/sparse/language.h"
#include "retrieval/question/foreign_amounts.h"
#include "tests/test.h"

static const struct {
    const char *language, *text;
    bool time;
} cases[] = {
    {"german", "Der Kurs fängt um halb acht an.", true},
    {"german", "Um Viertel nach sechs ist Schluss.", true},
    {"german", "Die Tür bleibt bis Mitternacht offen.", true},
    {"german", "Um zwölf Uhr wird gegessen.", true},
    {"german", "Der Saal ist um zwei Meter länger.", false},
    {"german", "Der Kurs hat zwölf Plätze.", false},
    {"french", "La porte ferme à minuit.", true},
    {"french", "Le repas est servi à midi et demi.", true},
    {"french", "Le cours commence à dix-neuf heures.", true},
    {"french", "Le gîte accueille huit personnes.", false},
    {"spanish", "Se come a la una y media.", true},
    {"spanish", "Abre a las nueve menos cuarto.", true},
    {"spanish", "Se cierra a medianoche.", true},
    {"spanish", "Caben cuatro personas.", false},
    {"italian", "Si cena alle sette e mezza.", true},
    {"italian", "Il pullman parte alle otto meno un quarto.", true},
    {"italian", "Si mangia a mezzogiorno.", true},
    {"italian", "Ci sono sei camere.", false},
    {"portuguese", "O ensaio começa às nove e meia.", true},
    {"portuguese", "O almoço é ao meio-dia.", true},
    {"portuguese", "Termina à meia-noite.", true},
    {"portuguese", "Tem seis quartos.", false},
    {"russian", "Собираемся в семь вечера.", true},
    {"russian", "Урок в половине седьмого.", true},
    {"russian", "Выезд до полудня.", true},
    {"russian", "В доме пять комнат.", false},
};

static void a_time_of_the_day_is_said_in_words(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *s = cases[i].text;
        const int language = language_number(cases[i].language);
        if (clock_words_in(language, s, strlen(s)) != cases[i].time)
            fail_msg("%s: '%s'", cases[i].language, s);
        /* who asks at what time is answered so */
        if (foreign_detail_in(language, DETAIL_CLOCK, s, strlen(s)) != cases[i].time)
            fail_msg("%s, as a demand: '%s'", cases[i].language, s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_time_of_the_day_is_said_in_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
