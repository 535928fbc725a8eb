/* foreign_demands.c, foreign_amounts.c and demand_words.c through demands.h: what a question in another language than English
 * demands, and which texts of that language state it. */
#include "tests/test.h"

#include <string.h>

#include "index/sparse/language.h"
#include "retrieval/answer/demands.h"
#include "retrieval/answer/foreign_amounts.h"

static demands asked(const char *language, const char *question) {
    const int number = language_number(language);
    assert_true(number >= 0);
    return demands_read(question, strlen(question), number);
}

static void an_amount_is_demanded_in_the_words_of_its_language(void **state) {
    (void)state;
    static const struct {
        const char *language, *question;
        enum demand_amount amount;
    } cases[] = {
        {"german", "Was kostet ein Waschgang?", AMOUNT_MONEY},
        {"german", "WAS KOSTET EIN WASCHGANG?", AMOUNT_MONEY},
        {"german", "Wie teuer ist die Biotonne?", AMOUNT_MONEY},
        {"german", "Wie viel zahlt ein Student?", AMOUNT_MONEY},
        {"german", "Was muss ich blechen, wenn ich zu spät komme?", AMOUNT_MONEY},
        {"german", "Wie hoch ist der Jahresbeitrag für Kinder?", AMOUNT_MONEY},
        {"german", "Wie hoch ist die Kurtaxe?", AMOUNT_MONEY},
        {"german", "Welche Gebühr fällt an?", AMOUNT_MONEY},
        {"german", "Wie hoch ist der Turm?", AMOUNT_ANY},
        {"german", "Wie laut ist der Bus?", AMOUNT_LOUDNESS},
        {"german", "Wie schwer ist das Rad?", AMOUNT_WEIGHT},
        {"german", "Wie breit ist das Modell?", AMOUNT_LENGTH},
        {"german", "Wie lange ist die Garantie?", AMOUNT_LONG},
        {"german", "Wie viele Betten hat die Wohnung?", AMOUNT_COUNT},
        {"german", "Wie viele Tage bekomme ich frei?", AMOUNT_ANY},
        {"german", "Wieviel Wasser braucht es?", AMOUNT_ANY},
        {"french", "Combien coûtent les jetons ?", AMOUNT_MONEY},
        {"french", "combien coutent les jetons", AMOUNT_MONEY},
        {"french", "Quel est le prix du jeton ?", AMOUNT_MONEY},
        {"french", "Quelle caution faut-il laisser ?", AMOUNT_MONEY},
        {"french", "À combien s'élèvent les charges ?", AMOUNT_MONEY},
        {"french", "Combien de temps dure la traversée ?", AMOUNT_LONG},
        {"french", "Combien d'enfants y a-t-il ?", AMOUNT_COUNT},
        {"french", "Combien de jours de congé ?", AMOUNT_ANY},
        {"spanish", "¿Cuánto cuesta el gorro?", AMOUNT_MONEY},
        {"spanish", "¿CUÁNTO CUESTA EL GORRO?", AMOUNT_MONEY},
        {"spanish", "cuanto vale un mando", AMOUNT_MONEY},
        {"spanish", "¿Cuánto es la tasa al año?", AMOUNT_MONEY},
        {"spanish", "¿Qué precio tiene?", AMOUNT_MONEY},
        {"spanish", "¿Cuánto ruido hace?", AMOUNT_LOUDNESS},
        {"spanish", "¿Cuánto pesa?", AMOUNT_WEIGHT},
        {"spanish", "¿Cuántas camas hay?", AMOUNT_COUNT},
        {"spanish", "¿Cuántos metros tiene la piscina?", AMOUNT_LENGTH},
        {"italian", "Quanto costa il biglietto?", AMOUNT_MONEY},
        {"italian", "Quanti letti ci sono?", AMOUNT_COUNT},
        {"portuguese", "Quanto custa o bilhete?", AMOUNT_MONEY},
        {"portuguese", "Quantos quartos há?", AMOUNT_COUNT},
        /* yes or no, what it means, how it is done, how often */
        {"german", "Muss man beim Tennis etwas zahlen?", AMOUNT_NONE},
        {"german", "Was passiert, wenn ich nicht bezahle?", AMOUNT_NONE},
        {"german", "Wie oft kann ich verlängern?", AMOUNT_NONE},
        {"french", "Tous les combien faut-il nettoyer le filtre ?", AMOUNT_NONE},
        {"spanish", "¿Cada cuánto hay que limpiar el filtro?", AMOUNT_NONE},
        {"spanish", "¿Qué significa el código E2?", AMOUNT_NONE},
        /* the words of one language in another */
        {"french", "Was kostet das?", AMOUNT_NONE},
        {"german", "cuánto cuesta", AMOUNT_NONE},
        /* an English question about German texts */
        {"german", "How much does a pack of 20 tablets cost?", AMOUNT_EXPENSE},
        {"german", "", AMOUNT_NONE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const demands d = asked(cases[i].language, cases[i].question);
        if (d.amount != cases[i].amount)
            fail_msg("%s: %d, not %d", cases[i].question, (int)d.amount, (int)cases[i].amount);
    }
}

static void a_text_states_an_amount_of_the_kind_or_none(void **state) {
    (void)state;
    static const struct {
        const char *language;
        enum demand_amount amount;
        const char *text;
        enum amount_stated stated;
    } cases[] = {
        {"german", AMOUNT_MONEY, "Ein Waschgang kostet 1,80 EUR.", AMOUNT_STATED},
        {"german", AMOUNT_MONEY, "Die Gebühr beträgt 12 €.", AMOUNT_STATED},
        {"german", AMOUNT_MONEY, "Ersatzausweis | 4,00", AMOUNT_STATED},
        {"german", AMOUNT_MONEY, "Kinder bis 15 Jahre zahlen nichts.", AMOUNT_STATED},
        {"german", AMOUNT_MONEY, "Danach werden 50 % fällig.", AMOUNT_STATED},
        {"german", AMOUNT_MONEY, "Der Ausweis kostet 7 pro Jahr.", AMOUNT_STATED},
        {"german", AMOUNT_MONEY, "Jugendliche | keine", AMOUNT_STATED},
        {"german", AMOUNT_MONEY,
         "Eine Packung enthält 10, 20 oder 50 Tabletten; 50 nur auf Rezept.", AMOUNT_NOT_STATED},
        {"german", AMOUNT_MONEY, "Die Kurtaxe ist nicht im Preis enthalten.", AMOUNT_NOT_STATED},
        {"german", AMOUNT_MONEY, "Eco | 0,83 kWh", AMOUNT_NOT_STATED},
        {"german", AMOUNT_LOUDNESS, "Samstags fährt der Bus um 9:15 Uhr.", AMOUNT_NOT_STATED},
        {"german", AMOUNT_LOUDNESS, "Geräusch: 44 dB(A)", AMOUNT_STATED},
        {"german", AMOUNT_WEIGHT, "etwa 1,2 kg Salz", AMOUNT_STATED},
        {"german", AMOUNT_WEIGHT, "Platz 4 um 9 Uhr", AMOUNT_NOT_STATED},
        {"german", AMOUNT_LENGTH, "60 cm", AMOUNT_STATED},
        {"german", AMOUNT_LENGTH, "60 EUR", AMOUNT_NOT_STATED},
        {"german", AMOUNT_LONG, "auf die Pumpe 5 Jahre", AMOUNT_STATED},
        {"german", AMOUNT_LONG, "auf die Pumpe", AMOUNT_NOT_STATED},
        {"german", AMOUNT_COUNT, "Die Wohnung hat vier Betten.", AMOUNT_STATED},
        {"german", AMOUNT_COUNT, "Stellplatz 6 im Hof, ab 16 Uhr.", AMOUNT_NOT_STATED},
        {"german", AMOUNT_COUNT, "Am 14. März 2025 um 9:30 Uhr.", AMOUNT_NOT_STATED},
        {"german", AMOUNT_COUNT, "Ein Bett kostet 12 € je Nacht.", AMOUNT_NOT_STATED},
        {"french", AMOUNT_MONEY, "Jeton de lavage: 2,50 euros", AMOUNT_STATED},
        {"french", AMOUNT_MONEY, "Les cours ont lieu le mercredi.", AMOUNT_NOT_STATED},
        {"french", AMOUNT_MONEY, "12-18, rue du Puits-Carré, 49300 Vauclaire", AMOUNT_NOT_STATED},
        {"french", AMOUNT_MONEY, "L'entrée est gratuite.", AMOUNT_STATED},
        {"french", AMOUNT_COUNT, "Le groupe compte au plus huit enfants.", AMOUNT_STATED},
        {"spanish", AMOUNT_MONEY, "tiene un 10 % de rebaja en la tasa de basuras",
         AMOUNT_NOT_STATED},
        {"spanish", AMOUNT_MONEY, "el segundo hermano paga un 20 % menos", AMOUNT_STATED},
        {"spanish", AMOUNT_MONEY, "El gorro es obligatorio para todos.", AMOUNT_NOT_STATED},
        {"spanish", AMOUNT_MONEY, "Cuesta 38 €.", AMOUNT_STATED},
        {"spanish", AMOUNT_MONEY, "Se entrega gratis en la oficina.", AMOUNT_PERHAPS},
        {"spanish", AMOUNT_COUNT, "la cama supletoria, 15 € por noche", AMOUNT_NOT_STATED},
        {"spanish", AMOUNT_COUNT, "## 4. Normas de uso", AMOUNT_NOT_STATED},
        {"spanish", AMOUNT_ANY, "## 4. Normas de uso", AMOUNT_NOT_STATED},
        {"italian", AMOUNT_MONEY, "Il biglietto costa 3 euro.", AMOUNT_STATED},
        {"portuguese", AMOUNT_MONEY, "O bilhete custa R$ 3.", AMOUNT_STATED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const enum amount_stated got =
            foreign_amount_in(language_number(cases[i].language), cases[i].amount, cases[i].text,
                              strlen(cases[i].text));
        if (got != cases[i].stated)
            fail_msg("%s: %d, not %d", cases[i].text, (int)got, (int)cases[i].stated);
    }
}

static void a_time_an_address_and_a_person_are_demanded(void **state) {
    (void)state;
    static const struct {
        const char *language, *question;
        enum demand_detail detail;
        const char *has, *lacks;
    } cases[] = {
        {"german", "Bis wann muss ich kündigen?", DETAIL_WHEN, "spätestens 30. September",
         "schriftlich beim Vorstand"},
        {"german", "Um wie viel Uhr beginnt es?", DETAIL_CLOCK, "jeweils um 9:30 Uhr",
         "im Gemeindehaus"},
        {"german", "Wie lautet die Telefonnummer?", DETAIL_PHONE, "Tel. 04121 55 01 73",
         "am Telefon"},
        {"german", "Wie ist die Nummer von Herrn Wulff?", DETAIL_PHONE, "0170 55 61 220",
         "Herr Wulff aus dem Erdgeschoss"},
        {"german", "Welche Nummer hat der Strandkorb?", DETAIL_NONE, "", ""},
        {"german", "Wie lautet die E-Mail-Adresse des Kassenwarts?", DETAIL_MAIL,
         "kasse@tc.example", "per E-Mail"},
        {"french", "Quelle est l'adresse e-mail du club ?", DETAIL_MAIL, "a@b.example", "par mail"},
        {"french", "Quel est le numéro de téléphone du gardien ?", DETAIL_PHONE, "02 41 00 57 12",
         "chez le gardien"},
        {"italian", "A che ora apre?", DETAIL_CLOCK, "alle 9.30", "in piazza"},
        {"german", "Wer leitet den Chor?", DETAIL_PERSON, "Leitung: Jonas Imhof",
         "Der Chor probt montags."},
        {"french", "Jusqu'à quand peut-on annuler ?", DETAIL_WHEN, "le jeudi à midi", "par écrit"},
        {"french", "À quelle heure commence la garderie ?", DETAIL_CLOCK, "7 h 30", "à la porte"},
        {"french", "quel numéro appeler en cas de panne", DETAIL_PHONE, "02 41 00 57 12",
         "le syndic"},
        {"spanish", "¿Cuándo es el concierto?", DETAIL_WHEN, "el 25 de abril", "en el teatro"},
        {"spanish", "CUANDO ES EL CONCIERTO", DETAIL_WHEN, "el sábado", "en el teatro"},
        {"spanish", "¿Cuál es el teléfono de la biblioteca?", DETAIL_PHONE, "900 010 417",
         "por teléfono o en la web"},
        {"spanish", "¿Cuál es el correo de la oficina?", DETAIL_MAIL, "info@x.example",
         "por correo"},
        {"spanish", "¿Quién dirige la banda?", DETAIL_PERSON, "la dirige Sonia Belda",
         "Los alumnos no pagan cuota (33 € al mes)."},
        {"italian", "Quando apre il museo?", DETAIL_WHEN, "dal lunedì", "in piazza"},
        {"portuguese", "Quando abre o museu?", DETAIL_WHEN, "às 9 horas", "na praça"},
        {"portuguese", "Quando ocorre a renovação?", DETAIL_WHEN, "ocorre, semestralmente,",
         "na UFMS"},
        {"portuguese", "Quando se lançam as notas?", DETAIL_WHEN, "após a liberação do plano",
         "no sistema"},
        {"german", "Wann wird das Filter gereinigt?", DETAIL_WHEN, "vierteljährlich", "im Hof"},
        {"french", "Quand contrôle-t-on les freins ?", DETAIL_WHEN, "chaque printemps",
         "au garage"},
        /* "when" and "who" that join clauses; "wen" without an office */
        {"spanish", "se me apaga cuando llueve, ¿por qué?", DETAIL_NONE, "", ""},
        {"french", "où sont les fusibles quand le four saute", DETAIL_NONE, "", ""},
        {"german", "Wen rufe ich nachts an?", DETAIL_NONE, "", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const demands d = asked(cases[i].language, cases[i].question);
        if (d.detail != cases[i].detail) fail_msg("%s: %d", cases[i].question, (int)d.detail);
        if (!demands_detail_in(&d, cases[i].has, strlen(cases[i].has)))
            fail_msg("%s: %s", cases[i].question, cases[i].has);
        if (d.detail != DETAIL_NONE &&
            demands_detail_in(&d, cases[i].lacks, strlen(cases[i].lacks)))
            fail_msg("%s: %s", cases[i].question, cases[i].lacks);
    }
}

static void what_is_counted_is_found(void **state) {
    (void)state;
    static const struct {
        const char *language, *question, *counted;
    } cases[] = {
        {"german", "Wie viele Mannschaften hat der Club?", "Mannschaften"},
        {"german", "Und wie viele freie Plätze gibt es?", "Plätze"},
        {"french", "Combien de livres numériques y a-t-il ?", "livres"},
        {"spanish", "¿Cuántas camas hay?", "camas"},
        {"spanish", "¿Cuántas personas caben?", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const demands d = asked(cases[i].language, cases[i].question);
        const char *at = cases[i].counted ? strstr(cases[i].question, cases[i].counted) : NULL;
        assert_int_equal(d.counted, at ? (size_t)(at - cases[i].question) : 0);
    }
}

/* "Die" and "war" are no English words there, and "may" is no month of a French text. */
static void english_words_are_not_read_in_other_languages(void **state) {
    (void)state;
    const demands d = asked("german", "Was hat im August am Sonntag offen?");
    assert_int_equal(d.months, 0);
    assert_int_equal(d.days, 0);
    assert_false(d.whether || d.place || d.reason || d.which);
    const demands russian = asked("russian", "Сколько стоит билет?"); /* no lists */
    assert_int_equal(russian.amount, AMOUNT_NONE);
}

static void any_bytes_are_taken(void **state) {
    (void)state;
    static const char *const languages[] = {"german", "french", "spanish", "italian", "portuguese"};
    char bytes[64];
    unsigned seed = 7;
    for (size_t round = 0; round < 20000; round++) {
        const size_t n = round % sizeof bytes;
        for (size_t i = 0; i < n; i++) {
            static const char signs[] = "wie viel 12,-\xC3\xA9 \xE2\x82\xAC|:.%\n\xF0\x9F\xFF'";
            seed = seed * 1103515245u + 12345u;
            bytes[i] = signs[(seed >> 16) % (sizeof signs - 1)];
        }
        char *tight = malloc(n + 1);
        memcpy(tight, bytes, n);
        const int language = language_number(languages[round % 5]);
        const demands d = demands_read(tight, n, language);
        (void)demands_amount_in(&d, (enum demand_amount)(round % (AMOUNT_COUNT + 1)), tight, n);
        for (int k = DETAIL_NONE; k <= DETAIL_EXIT; k++)
            (void)foreign_detail_in(language, (enum demand_detail)k, tight, n);
        free(tight);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_amount_is_demanded_in_the_words_of_its_language),
        cmocka_unit_test(a_text_states_an_amount_of_the_kind_or_none),
        cmocka_unit_test(a_time_an_address_and_a_person_are_demanded),
        cmocka_unit_test(what_is_counted_is_found),
        cmocka_unit_test(english_words_are_not_read_in_other_languages),
        cmocka_unit_test(any_bytes_are_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
