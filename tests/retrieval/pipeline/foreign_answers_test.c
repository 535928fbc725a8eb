/* foreign_answers_test.c - small firms' and clubs' pages in other languages than English, asked as a service is: hours of the day that
 * is asked about, verbs whose parts stand apart, and the holder of an office, who is no other one. */
#include "tests/retrieval/service/home_fixture.h"

static const char *const documents[] = {
    "# Gärtnerei Lindner\n\nInhaberin: Karla Lindner.\n\nÖffnungszeiten: Mo-Fr 8-18 Uhr, Sa 9-13 "
    "Uhr.\n\nDie Gärtnerei liefert ab "
    "40 Euro frei Haus. Der Rosenkurs fängt im Mai um halb acht an. Wer mitmachen will, meldet "
    "sich an der Kasse.\n",
    "# Pharmacie du Port\n\nHoraires : lun-ven 9h-19h, sam 9h-13h.\n\nLa pharmacie livre le soir "
    "dans la ville. Les médicaments "
    "périmés sont repris au comptoir.\n",
    "# Amicale du port\n\nLa présidente de l'amicale du port s'appelle Odile Garnier. L'amicale se "
    "réunit le premier jeudi du mois "
    "au café de la jetée, et tout le monde y est le bienvenu.\n",
    "# Librería El Faro\n\nHorario: lun-vie 10:00-20:00, sáb 10:00-14:00.\n\nLa librería encarga "
    "libros en dos días y los envía por "
    "correo. No se cambian los libros que se han escrito.\n",
    "# Biblioteca di Borgo Alto\n\nOrario: lun-ven 8.30-12.30, sab 8.30-12.\n\nLa biblioteca "
    "presta i libri per un mese. La quota si "
    "paga alla cassa, e il bibliotecario fa la tessera in cinque minuti.\n",
    "# Papelaria Central\n\nHorário: seg-sex 9h-19h, sáb 9h-13h.\n\nA papelaria faz fotocópias e "
    "encadernações. O presidente da "
    "associação de comerciantes é Nuno Prata.\n",
};

static char *home;
static service *s;

/* The answer says this; NULL: it is refused. */
static void expect(const char *question, const char *words) {
    fo_err err = {0};
    query_result r = {0};
    const query_request q = {.tenant = "default",
                             .collection = "default",
                             .query = question,
                             .generate = true,
                             .strict = true,
                             .cache = CACHE_BYPASS,
                             .search = {.alpha = -1}};
    assert_ok(service_query(s, &q, NULL, &r, &err), &err);
    const bool refused = r.status == QUERY_ABSTAINED;
    if (words ? refused || !strstr(r.answer, words) : !refused)
        fail_msg("%s: '%s'", question, r.answer);
    query_result_deinit(&r);
}

static void hours_answer_on_which_days_it_is_open(void **state) {
    (void)state;
    expect("Hat die Gärtnerei samstags offen?", "Sa 9-13");
    expect("La pharmacie est-elle ouverte le samedi ?", "sam 9h-13h");
    expect("¿Abre la librería los miércoles?", "lun-vie");
    expect("La biblioteca è aperta il sabato?", "sab 8.30-12");
    expect("A papelaria abre ao sábado?", "sáb 9h-13h");
}

static void hours_tell_when_it_closes(void **state) {
    (void)state;
    expect("¿A qué hora cierra la librería los sábados?", "10:00-14:00");
    expect("A che ora chiude la biblioteca il martedì?", "8.30-12.30");
}

static void parts_of_a_verb_that_stand_apart_are_one_verb(void **state) {
    (void)state;
    expect("Um wie viel Uhr beginnt der Rosenkurs?", "halb acht");
}

static void an_office_is_held_by_who_is_said_to_hold_it(void **state) {
    (void)state;
    expect("Qui est la présidente de l'amicale du port ?", "Garnier");
    expect("Qui est le trésorier de l'amicale du port ?", NULL);
    expect("Qui est la vice-présidente de l'amicale du port ?", NULL);
    expect("Quem é o presidente da associação de comerciantes?", "Prata");
    expect("Quem é o tesoureiro da associação de comerciantes?", NULL);
}

static int set_up(void **state) {
    (void)state;
    home = test_folder();
    s = open_home(home);
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++) {
        char id[8];
        snprintf(id, sizeof id, "d%zu", i);
        put(s, "default", id, documents[i], strlen(documents[i]), 200);
    }
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    service_close(s);
    test_remove(home);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hours_answer_on_which_days_it_is_open),
        cmocka_unit_test(hours_tell_when_it_closes),
        cmocka_unit_test(parts_of_a_verb_that_stand_apart_are_one_verb),
        cmocka_unit_test(an_office_is_held_by_who_is_said_to_hold_it),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
